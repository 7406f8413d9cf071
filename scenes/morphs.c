/* morphs.c: s3 and e4, two bodies that morph over three reference shapes each and pass through each other.
 *
 * After the experiment of [Larsson03]: vertices are convex combinations of references, plus a translation.
 * The float formula is part of the scene, because a body that is given weights must arrive at the same bits as one that
 * is given vertices. */
#include "scene.h"

#include <stdlib.h>

#define FRAME_COUNT 400
#define REFERENCE_COUNT 3

typedef struct Motion {
  float *references[2][REFERENCE_COUNT];
} Motion;

/* A point of reference r in direction d: a bumpy sphere, a flattened ellipsoid, a dumb-bell. */
static pnSceneVec referencePoint(uint32_t reference, const pnSceneBumps *bumps, pnSceneVec d) {
  pnSceneVec p = pn_vecScale(d, pn_sceneRadius(bumps, d, 0.0));
  if (reference == 1) return pn_vec(p.x * 1.5, p.y * 0.7, p.z * 0.9);
  if (reference == 2) {
    double waist = 0.55 + 0.45 * d.z * d.z;
    return pn_vec(p.x * waist, p.y * waist, p.z * 1.35);
  }
  return p;
}

static void destroyMorphs(void *memory) {
  Motion *motion = memory;
  for (uint32_t i = 0; i < 2 * REFERENCE_COUNT; ++i) free(motion->references[i / REFERENCE_COUNT][i % REFERENCE_COUNT]);
  free(motion);
}

static pnResult createMorphs(pnScene *scene) {
  pnResult result = pn_makeSceneSphere(scene);
  if (result != PN_OK) return result;
  Motion *motion = calloc(1, sizeof(Motion));
  if (motion == NULL) return PN_ERROR_MEMORY;
  scene->motion = motion;
  for (uint32_t i = 0; i < 2 * REFERENCE_COUNT; ++i) {
    uint32_t body = i / REFERENCE_COUNT, reference = i % REFERENCE_COUNT;
    pnSceneBumps bumps = pn_makeSceneBumps(50 + 10 * body + reference, 0.02, 3.0, 22.0, 6);
    float *vertices = malloc(sizeof(float) * 3 * scene->vertexCount);
    if (vertices == NULL) return PN_ERROR_MEMORY;
    motion->references[body][reference] = vertices;
    for (uint32_t v = 0; v < scene->vertexCount; ++v)
      pn_storeSceneVertex(vertices + 3 * (size_t)v, referencePoint(reference, &bumps, scene->points[v]));
  }
  scene->bodyCount = 2;
  scene->referenceCount = REFERENCE_COUNT;
  pn_setSceneFrames(scene, FRAME_COUNT, 1);
  return PN_OK;
}

/* The bodies pass each other a little off the line of their centres; u in [0, 1] is the time. */
static pnMatrix passing(double u, uint32_t body) {
  double side = body == 1 ? 1.0 : -1.0;
  pnMatrix m = pnMatrix_Identity();
  m.m[0][3] = (float)(side * (1.9 - 3.8 * u));
  m.m[1][3] = (float)(side * 0.25);
  m.m[2][3] = (float)(side * 0.1);
  return m;
}

static double timeOf(const pnScene *scene, uint32_t frame) {
  return frame * scene->frameStep / (FRAME_COUNT - 1.0);
}

/* All three references at once. */
static void weightsMorphs(const pnScene *scene, uint32_t frame, uint32_t body, float *outWeights,
                          pnMatrix *outTransform) {
  /* three cosines a third of a turn apart, scaled to sum to 1; the last weight takes up the rounding */
  double u = timeOf(scene, frame);
  double phase = u * 9.0 + body * 1.3;
  double c0 = 1.0 + cos(phase), c1 = 1.0 + cos(phase + 2.0944), c2 = 1.0 + cos(phase + 4.18879);
  double sum = c0 + c1 + c2;
  outWeights[0] = (float)(c0 / sum);
  outWeights[1] = (float)(c1 / sum);
  float rest = 1.0f - outWeights[0] - outWeights[1];
  outWeights[2] = rest > 0.0f ? rest : 0.0f;
  *outTransform = passing(u, body);
}

/* From the first to the second to the third: never more than two. */
static void weightsPassing(const pnScene *scene, uint32_t frame, uint32_t body, float *outWeights,
                           pnMatrix *outTransform) {
  double u = timeOf(scene, frame);
  uint32_t from = u < 0.5 ? 0 : 1;
  outWeights[0] = outWeights[1] = outWeights[2] = 0.0f;
  outWeights[from + 1] = (float)(2.0 * u - from);
  outWeights[from] = 1.0f - outWeights[from + 1];
  *outTransform = passing(u, body);
}

static const float *referenceOf(const pnScene *scene, uint32_t body, uint32_t reference) {
  return ((const Motion *)scene->motion)->references[body][reference];
}

const pnSceneKind pn_sceneMorphs = {
    .name = "s3",
    .text = "two bodies morph over three references and pass through each other",
    .usualSize = 20480,
    .create = createMorphs,
    .frame = pn_frameOfReferences,
    .weights = weightsMorphs,
    .reference = referenceOf,
    .destroy = destroyMorphs,
};

const pnSceneKind pn_scenePassing = {
    .name = "e4",
    .text = "the same two bodies, two references at a time, as in the paper on morphing",
    .usualSize = 20480,
    .create = createMorphs,
    .frame = pn_frameOfReferences,
    .weights = weightsPassing,
    .reference = referenceOf,
    .destroy = destroyMorphs,
};
