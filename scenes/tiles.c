/* tiles.c: boxes that stand exactly on a floor of tiles, and on each other.
 *
 * The floor is one mesh that stands still, its size counts its triangles, two for each of g x g tiles of a metre. A hundred boxes are pushed over
 * it, and on each stands another that is pushed across. Every coordinate is a multiple of 1/16, exact in float: bottoms lie in the plane of what
 * they stand on, edges of walls end in it, and hardly two corners are in one place. */
#include "scene.h"

#define FRAME_COUNT 40
#define COLUMNS 100
#define STEP (1.0 / 16.0)

static pnResult createTiles(pnScene *scene) {
  uint32_t size = scene->triangleCount, g;
  pnResult result = pn_makeSceneBox(scene, 0.5);
  if (result == PN_OK) result = pn_makeSceneFloors(scene, size, 1, &g);
  scene->bodyCount = 2 * COLUMNS + 1;
  pn_setSceneFrames(scene, FRAME_COUNT, 1);
  return result;
}

/* A size in eighths of a metre, other for every box: from `least`, up to 15 more. */
static double eighths(uint32_t box, uint32_t which, uint32_t least) {
  return 0.125 * (least + (box * 7 + which * 5) % 16);
}

static void frameTiles(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  pnSceneMesh mesh = pn_sceneMeshOf(scene, body);
  uint32_t column = (body - 1) / 2, floorSide = (uint32_t)(sqrt(scene->triangleCount / 2.0) + 0.5);
  bool upper = body > 0 && (body - 1) % 2 == 1;
  double pushed = STEP * (double)frame * scene->frameStep, apart = floor(floorSide / 10.0);
  pnSceneVec side = pn_vec(eighths(body, 0, 24), eighths(body, 1, 16), eighths(body, 2, 8));
  pnSceneVec least = pn_vec(apart * (column % 10) + pushed, apart * (column / 10) + (upper ? pushed : 0.0),
                            upper ? eighths(body - 1, 2, 8) : 0.0);
  for (uint32_t i = 0; i < mesh.vertexCount; ++i) {
    pnSceneVec p = mesh.points[i];
    if (body > 0) p = pn_vecAdd(least, pn_vec((p.x + 0.5) * side.x, (p.y + 0.5) * side.y, (p.z + 0.5) * side.z));
    pn_storeSceneVertex(outVertices + 3 * (size_t)i, p);
  }
}

const pnSceneKind pn_sceneTiles = {
    .name = "tiles",
    .text = "boxes that stand exactly on a floor of tiles, and on each other",
    .usualSize = 80000,
    .create = createTiles,
    .frame = frameTiles,
    .meshOf = pn_meshBesideFirst,
    .isStill = pn_isFirstStill,
};
