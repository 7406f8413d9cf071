/* support_morph.h: morphing bodies for tests, made at random: references or deltas, dense or sparse. */
#ifndef PN_TEST_SUPPORT_MORPH_H
#define PN_TEST_SUPPORT_MORPH_H

#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pinch/world.h"

typedef enum MorphKind {
  MORPH_REFERENCES, /* three shapes of one topology */
  MORPH_TWO,        /* the same, and only two at a time have a weight */
  MORPH_DELTAS,     /* dense deltas, any weights */
  MORPH_SPARSE,     /* many targets that move a patch each */
  MORPH_KIND_COUNT
} MorphKind;

typedef struct MorphBody {
  pnMesh *mesh;
  pnMorph *morph;
  pnPose *pose;
  uint32_t targetCount;
  MorphKind kind;
  float weights[32];
} MorphBody;

#define MORPH_SPARSE_TARGETS 20u

/* A bump on a sphere of size 1 about `middle`, at point p: 1 there, 0 from `width` on. */
static inline float morphBump(const float *p, const float *middle, float width) {
  float d = 0;
  for (int k = 0; k < 3; ++k) d += (p[k] - middle[k]) * (p[k] - middle[k]);
  return d < width * width ? 1 - d / (width * width) : 0;
}

/* What target i does to vertex p. */
static inline void morphMove(TestRandom *random, MorphKind kind, const float middle[3], const float stretch[3],
                             const float *p, float scale, float *out) {
  bool reference = kind == MORPH_REFERENCES || kind == MORPH_TWO;
  float bump = morphBump(p, middle, kind == MORPH_SPARSE ? scale * 0.6f : scale * 1.5f);
  for (int k = 0; k < 3; ++k) {
    float noise = testFloat(random, -0.02f, 0.02f) * scale;
    if (reference) out[k] = p[k] * stretch[k] + noise + bump * middle[k] * 0.5f;
    else if (kind == MORPH_DELTAS) out[k] = p[k] * (stretch[k] - 1) + noise + bump * middle[k] * 0.3f;
    else out[k] = bump > 0 ? bump * (middle[k] * 0.4f + (stretch[k] - 1) * scale) + noise : 0;
  }
}

/* A sphere of 20 * 4^level triangles and of size `scale`, with targets. */
static inline MorphBody morphMake(MorphKind kind, uint32_t level, float scale, uint64_t seed) {
  MorphBody body = {.kind = kind};
  TestRandom random = testRandom(seed);
  testExpectOk(pnMakeIcosphere(level, scale, &body.mesh));
  uint32_t n = pnMesh_GetVertexCount(body.mesh);
  const float *rest = pnMesh_GetVertices(body.mesh);
  body.targetCount = kind == MORPH_SPARSE ? MORPH_SPARSE_TARGETS : 3;
  pnMorphTarget targets[MORPH_SPARSE_TARGETS] = {{0}};
  float *values = malloc(sizeof(float) * 3 * n * body.targetCount);
  uint32_t *lists = malloc(sizeof(uint32_t) * n * body.targetCount);
  assert_true(values && lists);
  for (uint32_t i = 0; i < body.targetCount; ++i) {
    float middle[3], stretch[3], *at = values + 3 * (size_t)n * i;
    uint32_t *list = lists + (size_t)n * i, count = 0;
    const float *seat = rest + 3 * (size_t)testBelow(&random, n);
    for (int k = 0; k < 3; ++k) {
      middle[k] = seat[k];
      stretch[k] = testFloat(&random, 0.6f, 1.5f);
    }
    for (uint32_t v = 0; v < n; ++v) {
      float move[3];
      morphMove(&random, kind, middle, stretch, rest + 3 * (size_t)v, scale, move);
      bool listed = kind != MORPH_SPARSE || move[0] != 0 || move[1] != 0 || move[2] != 0;
      if (listed) {
        memcpy(at + 3 * (size_t)count, move, sizeof move);
        list[count++] = v;
      }
    }
    targets[i] = (pnMorphTarget){.count = count, .vertices = kind == MORPH_SPARSE ? list : NULL, .values = at};
  }
  pnMorphDef def = pnDefaultMorphDef();
  def.mesh = body.mesh;
  def.mode = kind == MORPH_REFERENCES || kind == MORPH_TWO ? PN_MORPH_REFERENCES : PN_MORPH_DELTAS;
  def.targets = targets;
  def.targetCount = body.targetCount;
  testExpectOk(pnCreateMorph(&def, &body.morph));
  free(values);
  free(lists);
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = body.mesh;
  poseDef.morph = body.morph;
  testExpectOk(pnCreatePose(&poseDef, &body.pose));
  return body;
}

static inline void morphFree(MorphBody *body) {
  pnDestroyPose(body->pose);
  pnDestroyMorph(body->morph);
  pnDestroyMesh(body->mesh);
}

/* Weights such as a body of this kind takes: convex ones; two of three; any, negative too, some of them 0. */
static inline void morphRandomWeights(MorphBody *body, TestRandom *random) {
  float *w = body->weights;
  memset(w, 0, sizeof body->weights);
  if (body->kind == MORPH_REFERENCES) {
    float a = testFloat(random, 0, 1), b = testFloat(random, 0, 1 - a);
    w[0] = a, w[1] = b, w[2] = fmaxf(0, 1 - a - b);
  } else if (body->kind == MORPH_TWO) {
    uint32_t i = testBelow(random, 3), j = (i + 1 + testBelow(random, 2)) % 3;
    w[i] = testFloat(random, 0, 1), w[j] = 1 - w[i];
  } else {
    for (uint32_t i = 0; i < body->targetCount; ++i)
      w[i] = testBelow(random, 3) == 0 ? 0 : testFloat(random, -0.6f, 1.3f);
  }
}

static inline void morphPose(MorphBody *body, TestRandom *random) {
  morphRandomWeights(body, random);
  testExpectOk(pnPose_SetWeights(body->pose, body->weights, body->targetCount));
}

/* A tree over a pose, other settings as given. */
static inline pnTree *morphTree(const pnPose *pose, const pnTreeDef *settings) {
  pnTreeDef def = *settings;
  def.pose = pose;
  pnTree *tree;
  testExpectOk(pnCreateTree(&def, &tree));
  return tree;
}

static inline void morphExpectPairs(const pnPairList *found, const pnPairList *truth) {
  assert_int_equal(pnPairList_GetCount(found), pnPairList_GetCount(truth));
  if (pnPairList_GetCount(truth) > 0) {
    assert_memory_equal(pnPairList_GetPairs(found), pnPairList_GetPairs(truth),
                        pnPairList_GetCount(truth) * sizeof(pnPair));
  }
}

#endif
