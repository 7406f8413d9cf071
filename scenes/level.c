/* level.c: a large level with one fine hall in it, and five figures in the hall.
 *
 * The level is one mesh that stands still: a ground of two kilometres in cells of about nine metres, and over its middle a floor of twenty metres in tiles
 * of about nine centimetres. Its size counts the triangles of both, four for each of g x g cells. What meets is small against the
 * whole: a level two kilometres wide in 2^14 steps has steps of an eighth of a metre. */
#include "scene.h"

#define FRAME_COUNT 40
#define FIGURES 5
#define FIGURE_TRIANGLES 20480

#define GROUND 2000.0
#define FLOOR 20.0

static double groundAt(double x, double y) {
  return -3.0 + 2.0 * sin(0.01 * x) * cos(0.013 * y);
}
static double floorAt(double x, double y) {
  return 0.05 * sin(3.0 * x) * cos(2.0 * y);
}

static pnResult createLevel(pnScene *scene) {
  uint32_t size = scene->triangleCount, g;
  scene->triangleCount = FIGURE_TRIANGLES;
  pnResult result = pn_makeSceneSphere(scene);
  if (result == PN_OK) result = pn_makeSceneFloors(scene, size, 2, &g);
  if (result != PN_OK) return result;
  for (uint32_t i = 0; i < scene->vertexCount; ++i) {
    bool isFloor = i >= scene->vertexCount / 2;
    double side = isFloor ? FLOOR : GROUND;
    double x = side * (scene->points[i].x / g - 0.5), y = side * (scene->points[i].y / g - 0.5);
    scene->points[i] = pn_vec(x, y, isFloor ? floorAt(x, y) : groundAt(x, y));
  }
  scene->bodyCount = FIGURES + 1;
  pn_setSceneFrames(scene, FRAME_COUNT, 1);
  return PN_OK;
}

/* Figures are as tall as people and walk side by side, breathing; their feet are in the floor. */
static void frameLevel(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  pnSceneMesh mesh = pn_sceneMeshOf(scene, body);
  double time = (double)frame * scene->frameStep;
  pnSceneVec at = pn_vec(2.5 * body - 6.0 + 0.05 * time, 1.7 * body - 4.0, 0.85);
  for (uint32_t i = 0; i < mesh.vertexCount; ++i) {
    pnSceneVec p = mesh.points[i];
    double wide = 0.3 * (1.0 + 0.1 * sin(9.0 * p.x + 0.1 * time));
    if (body > 0) p = pn_vecAdd(at, pn_vec(wide * p.x, wide * p.y, 3.0 * wide * p.z));
    pn_storeSceneVertex(outVertices + 3 * (size_t)i, p);
  }
}

const pnSceneKind pn_sceneLevel = {
    .name = "level",
    .text = "a level two kilometres wide, five figures in its one fine hall",
    .usualSize = 200704,
    .create = createLevel,
    .frame = frameLevel,
    .meshOf = pn_meshBesideFirst,
    .isStill = pn_isFirstStill,
};
