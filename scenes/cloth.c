/* cloth.c: s4, a sheet that rolls up and ripples through itself, and s4-twice, the same with two sides.
 *
 * The sheet is rolled into a spiral r = r0 + A theta whose number of turns grows with time, while ripples grow
 * beyond the gap between the layers: first no contact at all, in the end thousands of crossings between neighbouring
 * layers. At the usual 92 450 triangles: 0 to 5 879 pairs that share no vertex.
 *
 * Renderers that draw one side of a triangle want a sheet twice over the same vertices, once each way round: every triangle lies on another one,
 * and four meet at an edge. */
#include "scene.h"

#include <stdlib.h>

#define FRAME_COUNT 60
#define TURN 6.2831853

/* the gap between two layers of the spiral, and the length of the sheet before rolling sets in */
#define GAP 0.09
#define LENGTH 10.0

static pnResult createCloth(pnScene *scene) {
  pnResult result = pn_makeSceneSheet(scene, PN_DIAGONALS_BOARD);
  scene->self = true;
  scene->bodyCount = 1;
  pn_setSceneFrames(scene, FRAME_COUNT, 1);
  return result;
}

static pnResult createTwice(pnScene *scene) {
  uint32_t size = scene->triangleCount, half = size / 2;
  if (size % 2 != 0) return PN_ERROR_ARGUMENT;
  scene->triangleCount = half;
  pnResult result = createCloth(scene);
  if (result != PN_OK) return result;
  uint32_t *triangles = realloc(scene->triangles, sizeof(uint32_t) * 3 * (size_t)size);
  if (!triangles) return PN_ERROR_MEMORY;
  scene->triangles = triangles;
  scene->triangleCount = size;
  for (uint32_t t = 0; t < half; ++t)
    for (uint32_t k = 0; k < 3; ++k) triangles[3 * (half + t) + k] = triangles[3 * t + 2 - k];
  return PN_OK;
}

static void frameCloth(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  (void)body;
  double u = frame * scene->frameStep / (FRAME_COUNT - 1.0);
  double turns = 1.0 + 5.0 * u, ripple = 0.004 + 0.030 * u;

  /* the spiral r0 + A theta over theta in [0, end], its start radius such that the sheet keeps about its length */
  double end = TURN * turns;
  double start = fmax(0.15, LENGTH / end - GAP * turns / 2.0);
  double A = GAP / TURN;
  double length = start * end + A * end * end / 2.0;

  for (uint32_t i = 0; i < scene->vertexCount; ++i) {
    /* the angle at which the arc has length s: start theta + A theta^2 / 2 = s */
    double s = scene->points[i].x * length, y = scene->points[i].y * 6.0;
    double theta = (-start + sqrt(start * start + 2.0 * A * s)) / A;
    /* three ripples across each other */
    double waves =
        sin(7.0 * y + 3.1 * s + u * 9.0) + 0.8 * sin(17.0 * s - 4.3 * y + u * 5.0) + 0.4 * sin(31.0 * y + 23.0 * s);
    double radius = start + A * theta + ripple * waves;
    pnSceneVec p = pn_vec(radius * cos(theta), y + 0.02 * sin(9.0 * s + u * 3.0), radius * sin(theta));
    pn_storeSceneVertex(outVertices + 3 * (size_t)i, p);
  }
}

const pnSceneKind pn_sceneCloth = {
    .name = "s4",
    .text = "a sheet of cloth rolls up and ripples through itself",
    .usualSize = 92450,
    .create = createCloth,
    .frame = frameCloth,
};

const pnSceneKind pn_sceneClothTwice = {
    .name = "s4-twice",
    .text = "the cloth in a mesh with two sides, which has every triangle twice",
    .usualSize = 40000,
    .create = createTwice,
    .frame = frameCloth,
};
