/* tangle.c: a hundred strands in one tangle, of one mesh that is like the first of them.
 *
 * Boxes of long curved bodies say nothing: every strand's box meets every other's. And bodies of one mesh share what a tree has to know of
 * it, which is divided as it is at rest; here no other strand lies as the first one does, so that their trees fit badly from the beginning. */
#include "scene.h"

#include <stdlib.h>

#define STRANDS 100
#define AROUND 8
#define FRAME_COUNT 40
#define THICK 0.012
#define TURN 6.2831853

/* How the curve of a strand winds. */
typedef struct Strand {
  double pitch[3], phase[2];
} Strand;

static pnResult createTangle(pnScene *scene) {
  uint32_t rings = scene->triangleCount / (2 * AROUND);
  if (rings == 0 || rings * 2 * AROUND != scene->triangleCount) return PN_ERROR_ARGUMENT;
  scene->vertexCount = AROUND * (rings + 1);
  pnResult result = pn_allocateSceneMesh(scene);
  Strand *strands = scene->motion = result == PN_OK ? malloc(STRANDS * sizeof *strands) : NULL;
  if (strands == NULL) return PN_ERROR_MEMORY;
  uint32_t *t = scene->triangles;
  for (uint32_t i = 0; i < rings; ++i) {
    for (uint32_t j = 0; j < AROUND; ++j, t += 6) {
      uint32_t a = i * AROUND + j, b = i * AROUND + (j + 1) % AROUND;
      t[0] = a, t[1] = b, t[2] = a + AROUND;
      t[3] = b, t[4] = b + AROUND, t[5] = a + AROUND;
    }
  }
  for (uint32_t i = 0; i < scene->vertexCount; ++i) {
    double angle = TURN * (i % AROUND) / AROUND;
    scene->points[i] = pn_vec(6.0 * (i / AROUND) / rings, THICK * cos(angle), THICK * sin(angle));
  }
  uint64_t state = 4711;
  for (uint32_t i = 0; i < 20; ++i) pn_sceneRandom(&state);
  for (uint32_t k = 0; k < STRANDS; ++k) {
    for (int d = 0; d < 3; ++d) strands[k].pitch[d] = (d < 2 ? 1.0 : 0.7) + pn_sceneRandom(&state);
    for (int d = 0; d < 2; ++d) strands[k].phase[d] = TURN * pn_sceneRandom(&state);
  }
  scene->bodyCount = STRANDS;
  pn_setSceneFrames(scene, FRAME_COUNT, 1);
  return PN_OK;
}

/* The middle of a strand at length s, and its rings beside that; all sway. */
static void frameTangle(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  const Strand *strand = (const Strand *)scene->motion + body;
  double time = 0.02 * frame * scene->frameStep, a = strand->phase[0], b = strand->phase[1];
  for (uint32_t i = 0; i < scene->vertexCount; ++i) {
    double s = scene->points[i].x;
    pnSceneVec middle = pn_vec(sin(s * strand->pitch[0] + a + time) + 0.5 * sin(2.3 * s + b),
                               cos(s * strand->pitch[1] + b - time) + 0.5 * cos(1.9 * s + a),
                               sin(s * strand->pitch[2] + a + b + 0.7 * time) + 0.5 * sin(2.1 * s + 2.0 * b));
    pnSceneVec ring = pn_vec(scene->points[i].y, scene->points[i].z, 0.5 * scene->points[i].y);
    pn_storeSceneVertex(outVertices + 3 * (size_t)i, pn_vecAdd(middle, ring));
  }
}

const pnSceneKind pn_sceneTangle = {
    .name = "tangle",
    .text = "a hundred strands of one mesh in one tangle",
    .usualSize = 800,
    .create = createTangle,
    .frame = frameTangle,
};
