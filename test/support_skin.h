/* support_skin.h: skinned bodies for tests, made at random: an arm, a sphere with weights of all kinds, either mode, with
 * or without morph targets below. */
#ifndef PN_TEST_SUPPORT_SKIN_H
#define PN_TEST_SUPPORT_SKIN_H

#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pinch/world.h"

typedef enum SkinKind {
  SKIN_RIGID,    /* one joint a vertex, weight 1 */
  SKIN_SMOOTH,   /* two or three joints along an axis */
  SKIN_WILD,     /* eight joints anywhere, weights of all sizes */
  SKIN_WEIGHTED, /* one joint a vertex, along a skeleton, weights 0 to 1 */
  SKIN_CLOSE,    /* two to four joints whose weights change little from vertex to vertex */
  SKIN_KIND_COUNT
} SkinKind;

typedef struct SkinBody {
  SkinKind kind;
  pnMesh *mesh;
  pnMorph *morph;
  pnSkin *skin;
  pnPose *pose;
  uint32_t jointCount;
  pnMatrix joints[16];
  float weights[3];
} SkinBody;

/* Joints and weights of one vertex at x in -1 ... 1. */
static inline void skinVertex(TestRandom *random, SkinKind kind, uint32_t joints, float x, uint16_t *index,
                              float *weight) {
  float at = (x * 0.5f + 0.5f) * (float)(joints - 1);
  at = fmaxf(0, fminf(at, (float)(joints - 1)));
  uint32_t near = (uint32_t)at, next = near + 1 < joints ? near + 1 : near;
  memset(index, 0, 8 * sizeof *index);
  memset(weight, 0, 8 * sizeof *weight);
  index[0] = (uint16_t)near;
  weight[0] = 1;
  if (kind == SKIN_SMOOTH) {
    index[1] = (uint16_t)next;
    weight[1] = at - (float)near;
    weight[0] = 1 - weight[1];
    index[2] = (uint16_t)(near > 0 ? near - 1 : 0);
    weight[2] = testBelow(random, 3) == 0 ? 0.1f : 0;
  } else if (kind == SKIN_WILD) {
    for (int i = 0; i < 8; ++i) {
      static const float sizes[4] = {0, 1, 1e-3f, 1e-30f};
      index[i] = (uint16_t)testBelow(random, joints);
      weight[i] = sizes[testBelow(random, 4)] * testFloat(random, 0.01f, 1);
    }
    weight[7] = 1;
  } else if (kind == SKIN_CLOSE) {
    uint32_t count = x < 0 ? 2 : 4;
    for (uint32_t i = 0; i < count; ++i) {
      index[i] = (uint16_t)i;
      weight[i] = 1.0f / (float)count + (i % 2 ? 0.02f : -0.02f) * testFloat(random, 0, 1);
    }
    /* the main joint of the four, which some do not follow */
    if (count == 4) weight[0] = testBelow(random, 8) == 0 ? 0 : 0.4f;
  } else if (kind == SKIN_WEIGHTED) {
    static const float ends[3] = {0, 1, 0.5f};
    weight[0] = testBelow(random, 2) ? ends[testBelow(random, 3)] : testFloat(random, 0, 1);
  }
}

static inline void skinMorph(SkinBody *body, TestRandom *random, bool references, float scale) {
  uint32_t n = pnMesh_GetVertexCount(body->mesh);
  const float *rest = pnMesh_GetVertices(body->mesh);
  pnMorphTarget targets[3] = {{0}};
  float *values = malloc(sizeof(float) * 9 * n);
  assert_non_null(values);
  for (uint32_t t = 0; t < 3; ++t) {
    targets[t] = (pnMorphTarget){.count = n, .values = values + 3 * (size_t)n * t};
    for (uint32_t i = 0; i < 3 * n; ++i)
      values[3 * (size_t)n * t + i] = (references ? rest[i] : 0) + testFloat(random, -0.2f, 0.2f) * scale;
  }
  pnMorphDef def = pnDefaultMorphDef();
  def.mesh = body->mesh;
  def.mode = references ? PN_MORPH_REFERENCES : PN_MORPH_DELTAS;
  def.targets = targets;
  def.targetCount = 3;
  testExpectOk(pnCreateMorph(&def, &body->morph));
  free(values);
}

/* morphs: 0 none, 1 deltas, 2 references. */
static inline SkinBody skinMake(SkinKind kind, uint32_t level, float scale, int morphs, uint64_t seed) {
  SkinBody body = {.kind = kind, .jointCount = kind == SKIN_WILD ? 12 : 5};
  TestRandom random = testRandom(seed);
  testExpectOk(pnMakeIcosphere(level, scale, &body.mesh));
  uint32_t n = pnMesh_GetVertexCount(body.mesh);
  const float *rest = pnMesh_GetVertices(body.mesh);
  uint16_t *indices = malloc(sizeof(uint16_t) * 8 * n);
  float *weights = malloc(sizeof(float) * 8 * n);
  assert_true(indices && weights);
  bool weighted = kind == SKIN_WEIGHTED;
  uint32_t per = weighted ? 1 : 8, parents[16];
  pnVec3 pivots[16];
  for (uint32_t v = 0; v < n; ++v) {
    uint16_t index[8];
    float weight[8];
    skinVertex(&random, kind, body.jointCount, rest[3 * v] / scale, index, weight);
    memcpy(indices + (size_t)per * v, index, per * sizeof *index);
    memcpy(weights + (size_t)per * v, weight, per * sizeof *weight);
  }
  for (uint32_t j = 0; j < body.jointCount; ++j) {
    parents[j] = j == 0 ? PN_NONE : j - 1;
    pivots[j] = (pnVec3){scale * (-1 + 2 * (float)j / (float)body.jointCount), 0, 0.1f * scale};
  }
  if (morphs) skinMorph(&body, &random, morphs == 2, scale);
  pnSkinDef def = pnDefaultSkinDef();
  def.mesh = body.mesh;
  def.mode = weighted ? PN_SKIN_WEIGHTED : PN_SKIN_LINEAR;
  def.jointCount = body.jointCount;
  def.influenceCount = per;
  def.jointIndices = indices;
  def.jointWeights = weights;
  def.parents = parents;
  def.pivots = pivots;
  testExpectOk(pnCreateSkin(&def, &body.skin));
  free(indices);
  free(weights);
  pnPoseDef poseDef = {body.mesh, body.morph, body.skin};
  testExpectOk(pnCreatePose(&poseDef, &body.pose));
  return body;
}

static inline void skinFree(SkinBody *body) {
  pnDestroyPose(body->pose);
  pnDestroySkin(body->skin);
  pnDestroyMorph(body->morph);
  pnDestroyMesh(body->mesh);
}

/* Joints such as a body of this kind takes. `wild` 0: small rotations; 1: any; 2: scale, shear, mirror, collapse too. */
static inline void skinRandomJoints(SkinBody *body, TestRandom *random, int wild, float reach) {
  for (uint32_t j = 0; j < body->jointCount; ++j) {
    pnMatrix m = testRotation(random, reach);
    if (wild == 0) {
      /* a rotation about z by a small angle */
      float a = testFloat(random, -0.3f, 0.3f), c = 1 / sqrtf(1 + a * a), s = a * c;
      m = pnMatrix_Identity();
      m.m[0][0] = m.m[1][1] = c;
      m.m[0][1] = -s;
      m.m[1][0] = s;
      m.m[2][3] = testFloat(random, -0.05f, 0.05f) * reach;
    } else if (wild == 2 && body->kind != SKIN_WEIGHTED) {
      static const float scales[5] = {1, -1, 0, 3, 0.01f};
      for (int k = 0; k < 3; ++k) {
        float s = scales[testBelow(random, 5)], shear = testFloat(random, -1, 1);
        for (int row = 0; row < 3; ++row) m.m[row][k] = m.m[row][k] * s + shear * m.m[row][(k + 1) % 3];
      }
    }
    body->joints[j] = m;
  }
}

static inline void skinPose(SkinBody *body, TestRandom *random, int wild, float reach) {
  skinRandomJoints(body, random, wild, reach);
  testExpectOk(pnPose_SetJoints(body->pose, body->joints, body->jointCount));
  if (!body->morph) return;
  float a = testFloat(random, 0, 1), b = testFloat(random, 0, 1 - a);
  float convex[3] = {a, b, fmaxf(0, 1 - a - b)}, any[3] = {testFloat(random, -1, 1), 0, testFloat(random, 0, 2)};
  testExpectOk(pnPose_SetWeights(body->pose, pnMorph_GetMode(body->morph) == PN_MORPH_REFERENCES ? convex : any, 3));
}

#endif
