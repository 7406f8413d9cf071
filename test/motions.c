/* motions.c: the table of motions, and rows for those of the library. */
#include "motions.h"

/* ---------------------------------------------------------------- free and rigid */

static void makeFree(TestMoving *m, uint32_t level, float scale, uint64_t seed) {
  (void)seed;
  testExpectOk(pnMakeIcosphere(level, scale, &m->own));
  pnPoseDef def = pnDefaultPoseDef();
  def.mesh = m->mesh = m->own;
  testExpectOk(pnCreatePose(&def, &m->pose));
}

static void freeFree(TestMoving *m) {
  pnDestroyPose(m->pose);
  pnDestroyMesh(m->own);
}

static void moveFree(TestMoving *m, TestRandom *random, float scale) {
  uint32_t n = 3 * pnMesh_GetVertexCount(m->mesh);
  float *v = malloc(n * sizeof *v), stretch[3];
  assert_non_null(v);
  for (int k = 0; k < 3; ++k) stretch[k] = testFloat(random, 0.6f, 1.4f);
  for (uint32_t i = 0; i < n; ++i)
    v[i] = pnMesh_GetVertices(m->mesh)[i] * stretch[i % 3] + testFloat(random, -0.25f, 0.25f) * scale;
  testExpectOk(pnPose_SetVertices(m->pose, v, n / 3));
  free(v);
}

/* By its transform alone: moves that every motion may make besides are the tests' own. */
static void moveRigid(TestMoving *m, TestRandom *random, float scale) {
  pnMatrix t = testRotation(random, 0.1f * scale);
  testExpectOk(pnPose_SetTransform(m->pose, &t));
}

static const TestMotion s_free = {"free", makeFree, moveFree, freeFree};
static const TestMotion s_rigid = {"rigid", makeFree, moveRigid, freeFree};

/* ---------------------------------------------------------------- morph targets */

static void makeMorph(TestMoving *m, MorphKind kind, uint32_t level, float scale, uint64_t seed) {
  m->morph = morphMake(kind, level, scale, seed);
  m->mesh = m->morph.mesh;
  m->pose = m->morph.pose;
}

static void makeReferences(TestMoving *m, uint32_t level, float scale, uint64_t seed) {
  makeMorph(m, MORPH_REFERENCES, level, scale, seed);
}

static void makeDeltas(TestMoving *m, uint32_t level, float scale, uint64_t seed) {
  makeMorph(m, MORPH_SPARSE, level, scale, seed);
}

static void moveMorph(TestMoving *m, TestRandom *random, float scale) {
  (void)scale;
  morphPose(&m->morph, random);
}

static void freeMorph(TestMoving *m) {
  morphFree(&m->morph);
}

static const TestMotion s_references = {"morph references", makeReferences, moveMorph, freeMorph};
static const TestMotion s_deltas = {"morph deltas", makeDeltas, moveMorph, freeMorph};

/* ---------------------------------------------------------------- skins */

static void makeSkin(TestMoving *m, SkinKind kind, int morphs, uint32_t level, float scale, uint64_t seed) {
  m->skin = skinMake(kind, level, scale, morphs, seed);
  m->mesh = m->skin.mesh;
  m->pose = m->skin.pose;
}

static void makeLinear(TestMoving *m, uint32_t level, float scale, uint64_t seed) {
  makeSkin(m, SKIN_SMOOTH, 0, level, scale, seed);
}

static void makeWeighted(TestMoving *m, uint32_t level, float scale, uint64_t seed) {
  makeSkin(m, SKIN_WEIGHTED, 0, level, scale, seed);
}

static void makeBoth(TestMoving *m, uint32_t level, float scale, uint64_t seed) {
  makeSkin(m, SKIN_SMOOTH, 1, level, scale, seed);
}

static void moveSkin(TestMoving *m, TestRandom *random, float scale) {
  skinPose(&m->skin, random, 0, scale);
}

static void freeSkin(TestMoving *m) {
  skinFree(&m->skin);
}

static const TestMotion s_linear = {"skin", makeLinear, moveSkin, freeSkin};
static const TestMotion s_weighted = {"weighted skin", makeWeighted, moveSkin, freeSkin};
static const TestMotion s_both = {"skin over morph deltas", makeBoth, moveSkin, freeSkin};

/* ---------------------------------------------------------------- the table */

const TestMotion *const testMotions[TEST_MOTION_COUNT] = {&s_free,   &s_rigid,    &s_references, &s_deltas,
                                                          &s_linear, &s_weighted, &s_both,       &testTwist};
