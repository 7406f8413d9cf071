/* morphs.c: s3, two bodies that morph over three reference shapes each and pass through each other.
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
  if (reference == 1) {
    return pn_vec(p.x * 1.5, p.y * 0.7, p.z * 0.9);
  }
  if (reference == 2) {
    double waist = 0.55 + 0.45 * d.z * d.z;
    return pn_vec(p.x * waist, p.y * waist, p.z * 1.35);
  }
  return p;
}

static void destroyMorphs(void *memory) {
  Motion *motion = memory;
  for (uint32_t i = 0; i < 2 * REFERENCE_COUNT; ++i) {
    free(motion->references[i / REFERENCE_COUNT][i % REFERENCE_COUNT]);
  }
  free(motion);
}

static pnResult createMorphs(pnScene *scene) {
  pnResult result = pn_makeSceneSphere(scene);
  if (result != PN_OK) {
    return result;
  }
  Motion *motion = calloc(1, sizeof(Motion));
  if (motion == NULL) {
    return PN_ERROR_MEMORY;
  }
  scene->motion = motion;
  for (uint32_t i = 0; i < 2 * REFERENCE_COUNT; ++i) {
    uint32_t body = i / REFERENCE_COUNT, reference = i % REFERENCE_COUNT;
    pnSceneBumps bumps = pn_makeSceneBumps(50 + 10 * body + reference, 0.02, 3.0, 22.0, 6);
    float *vertices = malloc(sizeof(float) * 3 * scene->vertexCount);
    if (vertices == NULL) {
      return PN_ERROR_MEMORY;
    }
    motion->references[body][reference] = vertices;
    for (uint32_t v = 0; v < scene->vertexCount; ++v) {
      pn_storeSceneVertex(vertices + 3 * (size_t)v, referencePoint(reference, &bumps, scene->points[v]));
    }
  }
  scene->bodyCount = 2;
  scene->referenceCount = REFERENCE_COUNT;
  scene->frameStep = scene->frameStep == 0 ? 1 : scene->frameStep;
  scene->frameCount = (FRAME_COUNT + scene->frameStep - 1) / scene->frameStep;
  return PN_OK;
}

static void weightsMorphs(const pnScene *scene, uint32_t frame, uint32_t body, float *outWeights,
                          float outTranslation[3]) {
  /* three cosines a third of a turn apart, scaled to sum to 1; the last weight takes up the rounding */
  double u = frame * scene->frameStep / (FRAME_COUNT - 1.0);
  double phase = u * 9.0 + body * 1.3;
  double c0 = 1.0 + cos(phase), c1 = 1.0 + cos(phase + 2.0944), c2 = 1.0 + cos(phase + 4.18879);
  double sum = c0 + c1 + c2;
  outWeights[0] = (float)(c0 / sum);
  outWeights[1] = (float)(c1 / sum);
  float rest = 1.0f - outWeights[0] - outWeights[1];
  outWeights[2] = rest > 0.0f ? rest : 0.0f;
  /* the bodies pass each other a little off the line of their centres */
  double side = body == 1 ? 1.0 : -1.0;
  outTranslation[0] = (float)(side * (1.9 - 3.8 * u));
  outTranslation[1] = (float)(side * 0.25);
  outTranslation[2] = (float)(side * 0.1);
}

static void frameMorphs(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  const Motion *motion = scene->motion;
  float w[REFERENCE_COUNT], translation[3];
  weightsMorphs(scene, frame, body, w, translation);
  const float *r0 = motion->references[body][0], *r1 = motion->references[body][1], *r2 = motion->references[body][2];
  for (size_t i = 0; i < 3 * (size_t)scene->vertexCount; ++i) {
    outVertices[i] = w[0] * r0[i] + w[1] * r1[i] + w[2] * r2[i] + translation[i % 3];
  }
}

const float *pnScene_GetReference(const pnScene *scene, uint32_t body, uint32_t reference) {
  if (scene->kind != &pn_sceneMorphs || body >= 2 || reference >= REFERENCE_COUNT) {
    return NULL;
  }
  return ((const Motion *)scene->motion)->references[body][reference];
}

const pnSceneKind pn_sceneMorphs = {
    .name = "s3",
    .text = "two bodies morph over three references and pass through each other",
    .usualSize = 20480,
    .create = createMorphs,
    .frame = frameMorphs,
    .weights = weightsMorphs,
    .destroy = destroyMorphs,
};
