/* table.c: a cloth is laid upon a table, as simulations do it: what would sink in is put exactly onto it.
 *
 * Table and cloth are one sheet of cells of all shapes, the cloth turned. More and more of it lies in the plane of the table, where every triangle meets
 * a dozen others and no two coordinates have anything in common: answers are signs of numbers that are zero in three of four cases, and of
 * floats that end where they like. The rest hangs in folds above. */
#include "scene.h"

#define FRAME_COUNT 20
#define UNEVEN 0.6 /* of a cell, that a corner may be moved by */
#define TURN_OF_CLOTH 0.7

static pnResult createTable(pnScene *scene) {
  pnResult result = pn_makeSceneSheet(scene, PN_DIAGONALS_FALL);
  if (result != PN_OK) return result;
  double cell = UNEVEN / sqrt(scene->triangleCount / 2.0);
  uint64_t state = 1;
  for (uint32_t i = 0; i < scene->vertexCount; ++i) {
    double x = pn_sceneRandom(&state) - 0.5, y = pn_sceneRandom(&state) - 0.5;
    scene->points[i] = pn_vecAdd(scene->points[i], pn_vec(cell * x - 0.5, cell * y - 0.5, 0.0));
  }
  scene->bodyCount = 2;
  pn_setSceneFrames(scene, FRAME_COUNT, 1);
  return PN_OK;
}

static void frameTable(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  double time = (double)frame * scene->frameStep;
  pnSceneTurn turn = pn_makeSceneTurn(body ? TURN_OF_CLOTH : 0.0, 0.0);
  for (uint32_t i = 0; i < scene->vertexCount; ++i) {
    pnSceneVec p = pn_sceneTurn(&turn, scene->points[i]);
    double height = 0.1 * sin(7.0 * p.x + 0.1 * time) * sin(5.0 * p.y) + 0.1 - 0.01 * time;
    p.z = body ? fmax(height, 0.0) : 0.0;
    pn_storeSceneVertex(outVertices + 3 * (size_t)i, p);
  }
}

const pnSceneKind pn_sceneTable = {
    .name = "table",
    .text = "a cloth is laid upon a table, triangle by triangle in its plane",
    .usualSize = 20000,
    .create = createTable,
    .frame = frameTable,
    .isStill = pn_isFirstStill,
};
