/* test_morph.c: morph targets and weights. A vertex has the bits of its definition by every way of asking, targets
 * stay as sparse as they are, wrong definitions and weights are refused with words and change nothing, memory that
 * runs out is a result. */
#include "support_morph.h"

#include <float.h>

#include "mesh/pose.h"

/* ---------------------------------------------------------------- the definition, one rounded step at a time */

typedef struct Case {
  pnMesh *mesh;
  pnMorph *morph;
  pnPose *pose;
  uint32_t n, targets;
  float *values; /* dense: 3 * n a target */
} Case;

static pnMesh *makeCloud(TestRandom *random, uint32_t n, float reach) {
  float *vertices = malloc(3 * n * sizeof(float));
  for (uint32_t i = 0; i < 3 * n; ++i) vertices[i] = testFloat(random, -reach, reach);
  vertices[1] = -0.0f;
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices;
  def.vertexCount = n;
  def.name = "cloud";
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  free(vertices);
  return mesh;
}

/* Dense or sparse values at random; half of the deltas of a sparse target are left out, some listed ones are zero. */
static Case makeCase(pnMorphMode mode, bool sparse, uint64_t seed) {
  enum { N = 300, TARGETS = 9 };
  TestRandom random = testRandom(seed);
  Case c = {.n = N, .targets = TARGETS, .mesh = makeCloud(&random, N, 10)};
  c.values = calloc(3 * N * TARGETS, sizeof(float));
  pnMorphTarget targets[TARGETS] = {{0}};
  uint32_t *lists = malloc(N * TARGETS * sizeof(uint32_t));
  float *listed = malloc(3 * N * TARGETS * sizeof(float));
  for (uint32_t i = 0; i < TARGETS; ++i) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < N; ++k) {
      uint32_t v = sparse ? (k * 7 + i) % N : k; /* any order */
      if (sparse && testBelow(&random, 2) == 0) continue;
      float *value = c.values + 3 * (i * N + v);
      for (int j = 0; j < 3; ++j) value[j] = testBelow(&random, 9) == 0 ? 0 : testFloat(&random, -3, 3);
      if (mode == PN_MORPH_DELTAS && testBelow(&random, 5) == 0) memset(value, 0, 3 * sizeof(float));
      lists[i * N + count] = v;
      memcpy(listed + 3 * (i * N + count++), value, 3 * sizeof(float));
    }
    targets[i] = (pnMorphTarget){.name = i == 2 ? "smile" : NULL,
                                 .count = count,
                                 .vertices = sparse ? lists + i * N : NULL,
                                 .values = listed + 3 * i * N};
  }
  pnMorphDef def = pnDefaultMorphDef();
  def.mesh = c.mesh;
  def.mode = mode;
  def.targets = targets;
  def.targetCount = TARGETS;
  testExpectOk(pnCreateMorph(&def, &c.morph));
  pnPoseDef poseDef = {c.mesh, c.morph, NULL};
  testExpectOk(pnCreatePose(&poseDef, &c.pose));
  free(lists);
  free(listed);
  return c;
}

static void freeCase(Case *c) {
  pnDestroyPose(c->pose);
  pnDestroyMorph(c->morph);
  pnDestroyMesh(c->mesh);
  free(c->values);
  assert_int_equal(pnGetByteCount(), 0);
}

static float defineOne(const Case *c, const float *weights, uint32_t v, int k) {
  bool deltas = pnMorph_GetMode(c->morph) == PN_MORPH_DELTAS, first = !deltas;
  volatile float sum = deltas ? pnMesh_GetVertices(c->mesh)[3 * v + (uint32_t)k] : 0;
  for (uint32_t i = 0; i < c->targets; ++i) {
    const float *value = c->values + 3 * (i * c->n + v);
    bool listed = !deltas || value[0] != 0 || value[1] != 0 || value[2] != 0;
    if (weights[i] == 0 || !listed) continue;
    volatile float product = weights[i] * value[k];
    sum = first ? product : sum + product;
    first = false;
  }
  return sum;
}

static void define(const Case *c, const float *weights, const pnMatrix *m, float *out) {
  for (uint32_t v = 0; v < c->n; ++v) {
    float p[3];
    for (int k = 0; k < 3; ++k) p[k] = defineOne(c, weights, v, k);
    for (int k = 0; k < 3; ++k) {
      volatile float a = p[k];
      if (m) {
        volatile float x = m->m[k][0] * p[0], y = m->m[k][1] * p[1], z = m->m[k][2] * p[2];
        a = x + y;
        a = a + z;
        a = a + m->m[k][3];
      }
      out[3 * v + (uint32_t)k] = a;
    }
  }
}

/* Every way of asking gives these bits, and writes nothing else. */
static void expectVertices(const Case *c, const float *expected) {
  static float out[4 * 300 + 8];
  for (uint32_t v = 0; v < c->n; ++v) {
    pnVec3 p = pnPose_GetVertex(c->pose, v);
    assert_memory_equal(&p, expected + 3 * v, sizeof p);
  }
  pnPose_GetVertices(c->pose, out);
  assert_memory_equal(out, expected, 3 * c->n * sizeof(float));
  TestRandom random = testRandom(4);
  for (uint32_t stride = 3; stride <= 4; ++stride)
    for (uint32_t length = 0; length < c->n; length = 2 * length + 1) {
      uint32_t list[300];
      for (uint32_t i = 0; i < length; ++i) list[i] = testBelow(&random, c->n);
      for (uint32_t i = 0; i < 4 * 300 + 8; ++i) out[i] = 77;
      pn_poseFetch(c->pose, list, length, out, stride);
      for (uint32_t i = 0; i < length; ++i) {
        const float zero = 0;
        assert_memory_equal(out + i * stride, expected + 3 * list[i], 3 * sizeof(float));
        if (stride == 4) assert_memory_equal(out + 4 * i + 3, &zero, sizeof zero);
      }
      assert_true(out[length * stride] == 77);
    }
}

static void bitsByDefinition(void **state) {
  (void)state;
  for (int kind = 0; kind < 3; ++kind) {
    Case c = makeCase(kind == 0 ? PN_MORPH_REFERENCES : PN_MORPH_DELTAS, kind == 2, 5 + (uint64_t)kind);
    TestRandom random = testRandom(9);
    float expected[900], weights[9];
    for (int round = 0; round < 40; ++round) {
      float sum = 0;
      for (uint32_t i = 0; i < 9; ++i) {
        weights[i] = testBelow(&random, 3) == 0 ? 0 : testFloat(&random, kind == 0 ? 0 : -2, 2);
        sum += weights[i];
      }
      if (round == 0) memset(weights, 0, sizeof weights);
      if (kind == 0 && round == 0) weights[5] = 1;
      if (kind == 0 && round > 0)
        for (uint32_t i = 0; i < 9; ++i) weights[i] = sum > 0 ? weights[i] / sum : i == 3;
      testExpectOk(pnPose_SetWeights(c.pose, weights, 9));
      assert_memory_equal(pnPose_GetWeights(c.pose), weights, sizeof weights);
      pnMatrix turn = testRotation(&random, 5), identity = pnMatrix_Identity();
      testExpectOk(pnPose_SetTransform(c.pose, round % 2 ? &turn : &identity));
      define(&c, weights, round % 2 ? &turn : NULL, expected);
      expectVertices(&c, expected);
    }
    freeCase(&c);
  }
}

/* A reference alone at weight 1 has its own bits, -0 too; deltas at rest have the rest bits. */
static void restBits(void **state) {
  (void)state;
  Case c = makeCase(PN_MORPH_DELTAS, false, 1);
  expectVertices(&c, pnMesh_GetVertices(c.mesh));
  freeCase(&c);
  c = makeCase(PN_MORPH_REFERENCES, false, 2);
  expectVertices(&c, c.values); /* the first */
  float weights[9] = {0};
  weights[7] = 1;
  testExpectOk(pnPose_SetWeights(c.pose, weights, 9));
  expectVertices(&c, c.values + 3 * 7 * c.n);
  uint64_t frame = pnPose_GetFrame(c.pose);
  pnPose_Reset(c.pose);
  assert_int_equal(pnPose_GetFrame(c.pose), frame + 1);
  assert_true(pnPose_GetWeights(c.pose)[0] == 1 && pnPose_GetWeights(c.pose)[7] == 0);
  expectVertices(&c, c.values);
  freeCase(&c);
}

/* ---------------------------------------------------------------- memory */

static void sparseStaysSparse(void **state) {
  (void)state;
  TestRandom random = testRandom(3);
  pnMesh *mesh = makeCloud(&random, 10000, 1);
  /* 52 targets of 100 vertices, then the same stored densely: the zeros are not kept */
  uint32_t *list = malloc(100 * sizeof(uint32_t));
  float *values = malloc(300 * sizeof(float)), *dense = calloc(30000, sizeof(float));
  for (uint32_t i = 0; i < 100; ++i) {
    list[i] = 50 * i;
    for (int k = 0; k < 3; ++k) dense[150 * i + (uint32_t)k] = values[3 * i + (uint32_t)k] = testFloat(&random, 1, 2);
  }
  pnMorphTarget targets[52];
  size_t bytes[2];
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 52; ++i)
      targets[i] = round ? (pnMorphTarget){.count = 10000, .values = dense}
                         : (pnMorphTarget){.count = 100, .vertices = list, .values = values};
    pnMorphDef def = pnDefaultMorphDef();
    def.mesh = mesh;
    def.targets = targets;
    def.targetCount = 52;
    size_t before = pnGetByteCount();
    pnMorph *morph;
    testExpectOk(pnCreateMorph(&def, &morph));
    bytes[round] = pnMorph_GetByteCount(morph);
    assert_int_equal(pnGetByteCount() - before, bytes[round]);
    pnDestroyMorph(morph);
  }
  assert_int_equal(bytes[0], bytes[1]);
  assert_true(bytes[0] < 16 * 52 * 100 + 4 * 10001 + 4096);
  free(list);
  free(values);
  free(dense);
  pnDestroyMesh(mesh);
  assert_int_equal(pnGetByteCount(), 0);
}

static pnResult createAll(void *context) {
  (void)context;
  pnMesh *mesh = NULL;
  pnMorph *morph = NULL;
  pnPose *pose = NULL;
  pnResult result = pnMakeIcosphere(0, 1, &mesh);
  for (int mode = 0; result == PN_OK && mode < 2; ++mode) {
    pnMorphTarget targets[2] = {{"a", 12, NULL, pnMesh_GetVertices(mesh)}, {NULL, 12, NULL, pnMesh_GetVertices(mesh)}};
    pnMorphDef def = {mesh, (pnMorphMode)mode, targets, 2, NULL};
    result = pnCreateMorph(&def, &morph);
    if (result == PN_OK) {
      pnPoseDef poseDef = {mesh, morph, NULL};
      result = pnCreatePose(&poseDef, &pose);
    }
    pnDestroyPose(pose);
    pnDestroyMorph(morph);
    pose = NULL;
    morph = NULL;
  }
  pnDestroyMesh(mesh);
  return result;
}

static void allocationFailure(void **state) {
  (void)state;
  assert_true(testEveryAllocationFailure(createAll, NULL, false, false) > 10);
  assert_true(testEveryAllocationFailure(createAll, NULL, true, false) > 10);
}

/* ---------------------------------------------------------------- wrong definitions */

static void wrongDefinitions(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(0, 1, &mesh));
  const float *rest = pnMesh_GetVertices(mesh);
  float bad[36];
  memcpy(bad, rest, sizeof bad);
  bad[3 * 4 + 1] = NAN;
  const uint32_t twice[3] = {5, 2, 5}, far[2] = {1, 12};
  const float weights[2] = {0.5f, 0.6f}, nan[2] = {NAN, 0};
  const pnMorphTarget good = {"good", 12, NULL, rest};
  pnMorph *morph = (pnMorph *)&bad;
#define EXPECT(result, words, mode, target, rests)                 \
  do {                                                             \
    pnMorphTarget targets[2] = {good, target};                     \
    pnMorphDef def = {mesh, mode, targets, 2, rests};              \
    testExpectFailure(pnCreateMorph(&def, &morph), result, words); \
    assert_null(morph);                                            \
  } while (0)
  EXPECT(PN_ERROR_COUNT, "target 1 'x'|11|12", PN_MORPH_DELTAS, ((pnMorphTarget){"x", 11, NULL, rest}), NULL);
  EXPECT(PN_ERROR_COUNT, "target 1|0|12", PN_MORPH_REFERENCES, ((pnMorphTarget){NULL, 0, NULL, rest}), NULL);
  EXPECT(PN_ERROR_ARGUMENT, "target 1|reference", PN_MORPH_REFERENCES, ((pnMorphTarget){NULL, 2, far, rest}), NULL);
  EXPECT(PN_ERROR_INDEX, "target 1|vertex 12 of 12", PN_MORPH_DELTAS, ((pnMorphTarget){NULL, 2, far, rest}), NULL);
  EXPECT(PN_ERROR_INDEX, "target 1|vertex 5 twice", PN_MORPH_DELTAS, ((pnMorphTarget){NULL, 3, twice, rest}), NULL);
  EXPECT(PN_ERROR_NUMBER, "target 1|y of vertex 4", PN_MORPH_DELTAS, ((pnMorphTarget){NULL, 12, NULL, bad}), NULL);
  EXPECT(PN_ERROR_ARGUMENT, "target 1|no values", PN_MORPH_DELTAS, ((pnMorphTarget){NULL, 12, NULL, NULL}), NULL);
  EXPECT(PN_ERROR_ARGUMENT, "rest weights|sum to 1.1", PN_MORPH_REFERENCES, good, weights);
  EXPECT(PN_ERROR_NUMBER, "rest weights|target 0 'good'", PN_MORPH_DELTAS, good, nan);
  EXPECT(PN_ERROR_ARGUMENT, "mode 7", (pnMorphMode)7, good, NULL);
#undef EXPECT
  pnMorphDef def = {mesh, PN_MORPH_DELTAS, &good, 0, NULL};
  testExpectFailure(pnCreateMorph(&def, &morph), PN_ERROR_COUNT, "0 targets");
  def.targetCount = 65537;
  testExpectFailure(pnCreateMorph(&def, &morph), PN_ERROR_COUNT, "65537 targets|65536");
  def = (pnMorphDef){0};
  testExpectFailure(pnCreateMorph(&def, &morph), PN_ERROR_ARGUMENT, "no mesh");
  /* an empty target is allowed, and a morph belongs to its mesh */
  pnMorphTarget empty = {"nothing", 0, NULL, NULL};
  def = (pnMorphDef){mesh, PN_MORPH_DELTAS, &empty, 1, NULL};
  testExpectOk(pnCreateMorph(&def, &morph));
  assert_string_equal(pnMorph_GetTargetName(morph, 0), "nothing");
  assert_ptr_equal(pnMorph_GetMesh(morph), mesh);
  assert_int_equal(pnMorph_GetTargetCount(morph), 1);
  pnMesh *other;
  testExpectOk(pnMakeIcosphere(0, 2, &other));
  pnPoseDef poseDef = {other, morph, NULL};
  pnPose *pose = (pnPose *)&bad;
  testExpectFailure(pnCreatePose(&poseDef, &pose), PN_ERROR_ARGUMENT, "icosphere|morph");
  assert_null(pose);
  pnDestroyMorph(morph);
  pnDestroyMorph(NULL);
  pnDestroyMesh(other);
  pnDestroyMesh(mesh);
}

/* ---------------------------------------------------------------- wrong weights */

/* Refused with words; weights, frame and vertices are as before. */
static void expectRefused(Case *c, const float *weights, uint32_t count, pnResult result, const char *words) {
  float before[9], vertices[900], after[900];
  memcpy(before, pnPose_GetWeights(c->pose), sizeof before);
  pnPose_GetVertices(c->pose, vertices);
  uint64_t frame = pnPose_GetFrame(c->pose);
  testExpectFailure(pnPose_SetWeights(c->pose, weights, count), result, words);
  assert_memory_equal(pnPose_GetWeights(c->pose), before, sizeof before);
  assert_int_equal(pnPose_GetFrame(c->pose), frame);
  pnPose_GetVertices(c->pose, after);
  assert_memory_equal(vertices, after, sizeof after);
}

static void wrongWeights(void **state) {
  (void)state;
  Case c = makeCase(PN_MORPH_REFERENCES, false, 2);
  float w[9] = {0.25f, 0.25f, 0.5f};
  testExpectOk(pnPose_SetWeights(c.pose, w, 9));
  expectRefused(&c, w, 8, PN_ERROR_COUNT, "cloud|8 weights|9 targets");
  w[2] = NAN;
  expectRefused(&c, w, 9, PN_ERROR_NUMBER, "cloud|target 2 'smile'");
  w[2] = INFINITY;
  expectRefused(&c, w, 9, PN_ERROR_NUMBER, "target 2 'smile'");
  w[2] = 0.6f;
  expectRefused(&c, w, 9, PN_ERROR_ARGUMENT, "cloud|sum to 1.1");
  w[2] = 0.7f, w[4] = -0.2f;
  expectRefused(&c, w, 9, PN_ERROR_ARGUMENT, "cloud|target 4|-0.2|negative");
  w[2] = 0.50009f, w[4] = 0; /* within the tolerance */
  testExpectOk(pnPose_SetWeights(c.pose, w, 9));
  w[2] = 0.5002f;
  expectRefused(&c, w, 9, PN_ERROR_ARGUMENT, "sum");
  testExpectFailure(pnPose_SetVertices(c.pose, c.values, c.n), PN_ERROR_KIND, "morph targets");
  freeCase(&c);

  c = makeCase(PN_MORPH_DELTAS, true, 3);
  float d[9] = {-7, 1e6f, 0, 3};
  testExpectOk(pnPose_SetWeights(c.pose, d, 9));
  d[2] = 1e38f; /* 3e38 times a quarter is too far */
  expectRefused(&c, d, 9, PN_ERROR_NUMBER, "cloud|range of float|target 2 'smile'");
  d[2] = 2e37f; /* fits, but not with a transform that goes as far */
  pnMatrix far = pnMatrix_Identity();
  far.m[0][3] = 3.0e38f;
  testExpectOk(pnPose_SetTransform(c.pose, &far));
  expectRefused(&c, d, 9, PN_ERROR_NUMBER, "cloud|transform");
  pnPose_Reset(c.pose);
  testExpectOk(pnPose_SetWeights(c.pose, d, 9));
  testExpectFailure(pnPose_SetTransform(c.pose, &far), PN_ERROR_NUMBER, "transform");
  freeCase(&c);

  TestRandom random = testRandom(1);
  pnMesh *mesh = makeCloud(&random, 5, 1);
  pnPoseDef def = {mesh, NULL, NULL};
  pnPose *pose;
  testExpectOk(pnCreatePose(&def, &pose));
  testExpectFailure(pnPose_SetWeights(pose, d, 9), PN_ERROR_KIND, "cloud|no morph targets");
  assert_null(pnPose_GetWeights(pose));
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bitsByDefinition),  cmocka_unit_test(restBits),         cmocka_unit_test(sparseStaysSparse),
      cmocka_unit_test(allocationFailure), cmocka_unit_test(wrongDefinitions), cmocka_unit_test(wrongWeights),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
