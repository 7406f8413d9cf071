/* layers.c: surfaces that run beside each other, closer than their triangles are long.
 *
 * pages are the sheets of a book, bodies of their own, which bend together; ripples grow until neighbours cross. roll is one sheet
 * that is wound ever tighter around itself and never meets. Everywhere something is near, and next to nothing touches: a box says nothing about
 * a piece that runs aslant between two others. Garments in layers, folded cloth and what is packed look so. */
#include "scene.h"

#define PAGES 30
#define PAGE_GAP 0.003
#define PAGE_FRAMES 20
#define ROLL_GAP 0.008
#define ROLL_START 0.15
#define ROLL_FRAMES 20
#define TURN 6.2831853

static pnResult createPages(pnScene *scene) {
  pnResult result = pn_makeSceneSheet(scene, PN_DIAGONALS_FALL);
  scene->bodyCount = PAGES;
  pn_setSceneFrames(scene, PAGE_FRAMES, 1);
  return result;
}

/* All bend around one line, each a gap farther from it. */
static void framePages(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  double u = frame * scene->frameStep / (PAGE_FRAMES - 1.0), bend = 0.5 + 2.5 * u, ripple = 0.7 * PAGE_GAP * u;
  for (uint32_t i = 0; i < scene->vertexCount; ++i) {
    double x = scene->points[i].x, y = scene->points[i].y, angle = bend * x;
    double radius = 1.0 / bend + PAGE_GAP * body + ripple * sin(40.0 * x + 2.1 * body) * sin(31.0 * y + body);
    pn_storeSceneVertex(outVertices + 3 * (size_t)i, pn_vec(radius * sin(angle), y, radius * cos(angle)));
  }
}

static pnResult createRoll(pnScene *scene) {
  pnResult result = pn_makeSceneSheet(scene, PN_DIAGONALS_FALL);
  scene->self = true;
  scene->bodyCount = 1;
  pn_setSceneFrames(scene, ROLL_FRAMES, 1);
  return result;
}

/* The spiral r = start + A theta, of ever more turns. */
static void frameRoll(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  (void)body;
  double u = frame * scene->frameStep / (ROLL_FRAMES - 1.0), end = TURN * (6.0 + 2.0 * u), A = ROLL_GAP / TURN;
  double length = ROLL_START * end + A * end * end / 2.0;
  for (uint32_t i = 0; i < scene->vertexCount; ++i) {
    double s = scene->points[i].x * length, y = scene->points[i].y;
    double angle = (-ROLL_START + sqrt(ROLL_START * ROLL_START + 2.0 * A * s)) / A, radius = ROLL_START + A * angle;
    pnSceneVec p =
        pn_vec(radius * cos(angle), 1.5 * y + 0.01 * sin(8.0 * scene->points[i].x + 3.0 * u), radius * sin(angle));
    pn_storeSceneVertex(outVertices + 3 * (size_t)i, p);
  }
}

const pnSceneKind pn_scenePages = {
    .name = "pages",
    .text = "the pages of a book bend together",
    .usualSize = 3200,
    .create = createPages,
    .frame = framePages,
};

const pnSceneKind pn_sceneRoll = {
    .name = "roll",
    .text = "a sheet is rolled up tightly",
    .usualSize = 20000,
    .create = createRoll,
    .frame = frameRoll,
};
