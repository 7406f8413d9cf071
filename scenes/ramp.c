/* ramp.c: ten balls on a ramp, a box of twelve triangles that lies aslant.
 *
 * What a game has most of: a few large flat triangles, and bodies of many small ones that stand on them. In the boxes of a ramp's triangles
 * is all of a body, of which hardly anything touches. */
#include "scene.h"

#define FRAME_COUNT 40
#define BALLS 10
#define LENGTH 100.0
/* a ball's centre is so far above the ramp, and moves up and down by so much */
#define ABOVE 0.99
#define BREATH 0.02

static pnResult createRamp(pnScene *scene) {
  pnResult result = pn_makeSceneSphere(scene);
  if (result != PN_OK) return result;
  pn_setSceneMeshAside(scene);
  result = pn_makeSceneBox(scene, 0.5);
  scene->bodyCount = 1 + BALLS;
  pn_setSceneFrames(scene, FRAME_COUNT, 1);
  return result;
}

static void frameRamp(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  pnSceneMesh mesh = pn_sceneMeshOf(scene, body);
  double time = 0.02 * frame * scene->frameStep;
  pnSceneTurn slope = pn_makeSceneTurn(0.5, 0.4), roll = pn_makeSceneTurn(time * body, 0.7 * body);
  pnSceneVec centre = pn_vec(3.0 * body - 15.0 + time, 2.0 * sin(body), ABOVE + BREATH * sin(body + 5.0 * time));
  for (uint32_t i = 0; i < mesh.vertexCount; ++i) {
    pnSceneVec p = mesh.points[i];
    if (body == 0) {
      p = pn_vec(LENGTH * p.x, LENGTH * p.y, p.z - 0.5);
    } else {
      double radius = 1.0 + 0.02 * sin(9.0 * p.x + time) * sin(8.0 * p.y);
      p = pn_vecAdd(pn_sceneTurn(&roll, pn_vecScale(p, radius)), centre);
    }
    pn_storeSceneVertex(outVertices + 3 * (size_t)i, pn_sceneTurn(&slope, p));
  }
}

const pnSceneKind pn_sceneRamp = {
    .name = "ramp",
    .text = "ten balls on a ramp of twelve triangles",
    .usualSize = 20480,
    .create = createRamp,
    .frame = frameRamp,
    .meshOf = pn_meshBesideFirst,
    .isStill = pn_isFirstStill,
};
