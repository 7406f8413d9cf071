/* test_morph_calm.c: the proof that patches of a morphing mesh cannot meet themselves (collide/calm.h). Bounds hold for
 * points at random on triangles of every kind of pair; trees that use them find the same pairs as trees that do not, up to
 * weights far beyond what can be proved; and while weights are small a self query touches nothing. */
#include "support_morph.h"

#include "collide/calm.h"
#include "face.h"
#include "tree/update.h"

/* ---------------------------------------------------------------- bounds of two triangles */

static void randomPoint(TestRandom *random, double v[3][3], double out[3], double weights[3]) {
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    /* corners and edges too */
    weights[i] = testBelow(random, 4) == 0 ? 0 : (double)testFloat(random, 0, 1);
    sum += weights[i];
  }
  if (sum == 0) weights[0] = sum = 1;
  for (int i = 0; i < 3; ++i) weights[i] /= sum;
  for (int k = 0; k < 3; ++k) out[k] = weights[0] * v[0][k] + weights[1] * v[1][k] + weights[2] * v[2][k];
}

/* Two triangles that share `shared` corners, from slivers to well shaped ones. */
static void randomTriangles(TestRandom *random, uint32_t shared, float p[6][3]) {
  float thin = testBelow(random, 3) == 0 ? 0.05f : 1;
  for (int i = 0; i < 6; ++i)
    for (int k = 0; k < 3; ++k) p[i][k] = testFloat(random, -1, 1) * (k == 2 ? thin : 1);
  for (uint32_t i = 0; i < shared; ++i) memcpy(p[3 + i], p[i], sizeof p[i]);
}

static void boundsHold(void **state) {
  (void)state;
  TestRandom random = testRandom(1);
  const uint8_t order[3] = {0, 1, 2};
  uint32_t proved = 0, tight = 0;
  for (int round = 0; round < 6000; ++round) {
    uint32_t shared = (uint32_t)round % 3;
    float p[6][3];
    randomTriangles(&random, shared, p);
    pnCalmTriangle s, t;
    pnCalmMeeting meeting;
    pn_calmTriangle(p[0], p[1], p[2], &s);
    pn_calmTriangle(p[3], p[4], p[5], &t);
    pn_calmMeeting(&s, &t, shared, order, order, &meeting);
    pnTriangle x, y;
    memcpy(x.v, p[0], sizeof x.v);
    memcpy(y.v, p[3], sizeof y.v);
    pnSharedCorners corners = {.count = (uint8_t)shared};
    memcpy(corners.a, order, 3);
    memcpy(corners.b, order, 3);
    if (pnTrianglesMeetBeyond(&x, &y, corners) || !(meeting.noise < INFINITY)) continue;
    /* deltas at random, smooth ones (a linear map and a little), or noise of length one */
    double deltas[6][3], map[3][3];
    int kind = (int)testBelow(&random, 3);
    for (int i = 0; i < 9; ++i) map[i / 3][i % 3] = (double)testFloat(&random, -1, 1);
    for (int i = 0; i < 6; ++i) {
      double length = 0;
      for (int k = 0; k < 3; ++k) {
        deltas[i][k] = (double)testFloat(&random, -1, 1) * (kind == 1 ? 0.05 : 1);
        for (int j = 0; j < 3 && kind == 1; ++j) deltas[i][k] += map[k][j] * (double)p[i][j];
        length += deltas[i][k] * deltas[i][k];
      }
      for (int k = 0; k < 3 && kind == 2; ++k) deltas[i][k] /= sqrt(length);
    }
    for (uint32_t i = 0; i < shared; ++i) memcpy(deltas[3 + i], deltas[i], sizeof deltas[i]);
    pnStretch bound = pn_calmStretch(&s, &t, &meeting, deltas, 0);
    ++proved;
    double down = 0, up = 0;
    for (int sample = 0; sample < 300; ++sample) {
      double a[3], b[3], wa[3], wb[3], between = 0, toward = 0, moved = 0;
      randomPoint(&random, s.v, a, wa);
      randomPoint(&random, t.v, b, wb);
      for (int k = 0; k < 3; ++k) {
        double g = wa[0] * deltas[0][k] + wa[1] * deltas[1][k] + wa[2] * deltas[2][k];
        double h = wb[0] * deltas[3][k] + wb[1] * deltas[4][k] + wb[2] * deltas[5][k];
        between += (a[k] - b[k]) * (a[k] - b[k]);
        toward += (g - h) * (a[k] - b[k]);
        moved += (g - h) * (g - h);
      }
      if (between < 1e-12) continue;
      down = fmax(down, -toward / between);
      up = fmax(up, toward / between);
      if (kind == 2) assert_true(sqrt(moved / between) <= meeting.noise * (1 + 1e-9));
    }
    assert_true(down <= bound.down * (1 + 1e-6) + 1e-9);
    assert_true(up <= bound.up * (1 + 1e-6) + 1e-9);
    tight += kind == 1 && bound.down < 2 * down + 0.2;
  }
  print_message("%u pairs of triangles, %u bounds within twice the samples\n", proved, tight);
  assert_true(proved > 3000 && tight > 300);
}

/* The same for two groups with a gap. */
static void farBoundsHold(void **state) {
  (void)state;
  TestRandom random = testRandom(2);
  for (int round = 0; round < 500; ++round) {
    pnCalmTriangle triangles[6];
    const pnCalmTriangle *list[6];
    double deltas[18][3];
    for (int i = 0; i < 6; ++i) {
      float p[3][3];
      for (int k = 0; k < 9; ++k) p[k / 3][k % 3] = testFloat(&random, 0, 1) + (k % 3 == 0 && i >= 3 ? 1.2f : 0);
      pn_calmTriangle(p[0], p[1], p[2], &triangles[i]);
      list[i] = &triangles[i];
    }
    for (int i = 0; i < 54; ++i) deltas[i / 3][i % 3] = (double)testFloat(&random, -1, 1);
    pnStretch bound = pn_calmStretchFar(list, 3, 6, deltas, 0.2, 0);
    for (int sample = 0; sample < 500; ++sample) {
      int i = (int)testBelow(&random, 3), j = 3 + (int)testBelow(&random, 3);
      double a[3], b[3], wa[3], wb[3], between = 0, toward = 0;
      randomPoint(&random, triangles[i].v, a, wa);
      randomPoint(&random, triangles[j].v, b, wb);
      for (int k = 0; k < 3; ++k) {
        double g = 0, h = 0;
        for (int c = 0; c < 3; ++c) {
          g += wa[c] * deltas[3 * i + c][k];
          h += wb[c] * deltas[3 * j + c][k];
        }
        between += (a[k] - b[k]) * (a[k] - b[k]);
        toward += (g - h) * (a[k] - b[k]);
      }
      assert_true(-toward <= bound.down * between * (1 + 1e-6) && toward <= bound.up * between * (1 + 1e-6));
    }
  }
}

/* ---------------------------------------------------------------- whole bodies */

typedef struct Sheet {
  pnMesh *mesh;
  pnMorph *morph;
  pnPose *pose;
  pnTree *plain, *calm;
  pnPairList *list[2];
} Sheet;

/* What a body is made of, with a tree that has calm pairs and one that has none. */
static Sheet makeSheet(pnMesh *mesh, const pnMorphTarget *targets, uint32_t count, const float *restWeights,
                       uint32_t leafSize) {
  Sheet s = {.mesh = mesh};
  pnMorphDef def = {mesh, PN_MORPH_DELTAS, targets, count, restWeights};
  testExpectOk(pnCreateMorph(&def, &s.morph));
  pnPoseDef poseDef = {mesh, s.morph, NULL};
  testExpectOk(pnCreatePose(&poseDef, &s.pose));
  pnTreeDef treeDef = pnDefaultTreeDef();
  pnTreeLab treeLab = {0};
  treeDef.lab = &treeLab;
  treeDef.pose = s.pose;
  treeLab.leafSize = leafSize;
  testExpectOk(pnCreateTree(&treeDef, &s.plain));
  treeDef.calm = true;
  /* some with branches of different heights, in which leaves stand beside inner nodes */
  treeLab.build = leafSize % 3 == 1 ? PN_BUILD_SHAPE_CENTRE : leafSize % 3 == 2 ? PN_BUILD_LINK : PN_BUILD_DEFAULT;
  treeLab.arity = leafSize % 2 ? 2 : 8;
  testExpectOk(pnCreateTree(&treeDef, &s.calm));
  for (int i = 0; i < 2; ++i) testExpectOk(pnCreatePairList(&s.list[i]));
  return s;
}

static void freeSheet(Sheet *s) {
  for (int i = 0; i < 2; ++i) pnDestroyPairList(s->list[i]);
  pnDestroyTree(s->plain);
  pnDestroyTree(s->calm);
  pnDestroyPose(s->pose);
  pnDestroyMorph(s->morph);
  pnDestroyMesh(s->mesh);
}

/* Both trees answer the same, with and without neighbours; returns how many pairs, and what the calm one cost. */
static size_t compare(Sheet *s, const pnTasks *tasks, pnCost *outCost) {
  size_t pairs = 0;
  for (uint32_t ring = 0; ring < 2; ++ring) {
    pnQueryDef query = pnDefaultQueryDef();
    query.filter.ring = ring;
    query.tasks = tasks ? *tasks : (pnTasks){0};
    testExpectOk(pnCollideSelf(s->plain, &query, s->list[0], NULL));
    testExpectOk(pnCollideSelf(s->calm, &query, s->list[1], ring == 0 ? outCost : NULL));
    size_t count = pnPairList_GetCount(s->list[0]);
    assert_int_equal(count, pnPairList_GetCount(s->list[1]));
    if (count > 0)
      assert_memory_equal(pnPairList_GetPairs(s->list[0]), pnPairList_GetPairs(s->list[1]), count * sizeof(pnPair));
    query.first = true;
    testExpectOk(pnCollideSelf(s->calm, &query, s->list[1], NULL));
    assert_int_equal(pnPairList_GetCount(s->list[1]), count > 0);
    pairs += count;
  }
  return pairs;
}

/* Smooth targets on a grid or a sphere: bumps along directions at random. */
static uint32_t makeBumps(const pnMesh *mesh, TestRandom *random, float size, pnMorphTarget *targets, float *values) {
  enum { BUMPS = 8 };
  uint32_t n = pnMesh_GetVertexCount(mesh);
  const float *rest = pnMesh_GetVertices(mesh);
  for (uint32_t i = 0; i < BUMPS; ++i) {
    float *at = values + 3 * (size_t)n * i, middle[3], move[3];
    memcpy(middle, rest + 3 * (size_t)testBelow(random, n), sizeof middle);
    for (int k = 0; k < 3; ++k) move[k] = testFloat(random, -0.4f, 0.4f) * size;
    for (uint32_t v = 0; v < n; ++v)
      for (int k = 0; k < 3; ++k)
        at[3 * v + (uint32_t)k] = morphBump(rest + 3 * (size_t)v, middle, 0.7f * size) * move[k];
    targets[i] = (pnMorphTarget){.count = n, .values = at};
  }
  return BUMPS;
}

static void sameAnswers(void **state) {
  (void)state;
  pnPool *pool;
  testExpectOk(pnCreatePool(3, &pool));
  pnTasks tasks = pnPool_GetTasks(pool);
  size_t pairs = 0;
  uint64_t calmFrames = 0, someFrames = 0;
  for (int shape = 0; shape < 6; ++shape) {
    pnMesh *mesh;
    testExpectOk(shape % 2 ? pnMakeIcosphere(2, 1, &mesh) : pnMakeGrid(2, 2, 16, 12, &mesh));
    TestRandom random = testRandom(100 + (uint64_t)shape);
    pnMorphTarget targets[8];
    float *values = malloc(3 * 8 * pnMesh_GetVertexCount(mesh) * sizeof(float)), weights[8];
    uint32_t count = makeBumps(mesh, &random, 1, targets, values);
    for (uint32_t i = 0; i < count; ++i) weights[i] = testFloat(&random, -0.2f, 0.2f);
    Sheet s = makeSheet(mesh, targets, count, shape >= 4 ? weights : NULL, 1 + (uint32_t)shape);
    for (int round = 0; round < 60; round += testIsShort() ? 3 : 1) {
      float size = 0.05f * (float)(round % 20) * (float)(1 + round / 20);
      for (uint32_t i = 0; i < count; ++i) weights[i] = testFloat(&random, -size, size);
      testExpectOk(pnPose_SetWeights(s.pose, weights, count));
      pnMatrix turn = testRotation(&random, 3);
      testExpectOk(pnPose_SetTransform(s.pose, &turn));
      pnCost cost;
      pairs += compare(&s, round % 2 ? &tasks : NULL, &cost);
      uint64_t all = 0;
      for (uint32_t leaf = 0; leaf < s.calm->shape->leafCount; ++leaf)
        all += s.calm->shape->leafVertexFirst[leaf + 1] - s.calm->shape->leafVertexFirst[leaf];
      calmFrames += cost.verticesFetched == 0;
      someFrames += cost.verticesFetched > 0 && cost.verticesFetched < all;
    }
    free(values);
    freeSheet(&s);
  }
  print_message("%zu pairs; %llu frames without a vertex, %llu with some\n", pairs, (unsigned long long)calmFrames,
                (unsigned long long)someFrames);
  assert_true(pairs > testRounds(500) && calmFrames > testRounds(40) && someFrames > testRounds(40));
  pnDestroyPool(pool);
  assert_int_equal(pnGetByteCount(), 0);
}

/* A box of 192 triangles at the magnitude of 2^exponent, with four targets: smooth ones, noise, one of any magnitude. */
static Sheet makeBox(int exponent, TestRandom *random, uint32_t leafSize, float *values) {
  pnMesh *unit, *mesh;
  testExpectOk(pnMakeBox((pnVec3){1, 1, 1}, 4, &unit));
  uint32_t n = pnMesh_GetVertexCount(unit);
  pnMeshDef def = {values, n, pnMesh_GetTriangles(unit), pnMesh_GetTriangleCount(unit), NULL, true, "box", PN_COOKIE};
  for (uint32_t i = 0; i < 3 * n; ++i)
    values[i] = ldexpf(pnMesh_GetVertices(unit)[i] + 0.1f * testFloat(random, -1, 1), exponent);
  testExpectOk(pnCreateMesh(&def, &mesh));
  pnDestroyMesh(unit);
  pnMorphTarget targets[4];
  for (uint32_t t = 0; t < 4; ++t) {
    float *at = values + 3 * (size_t)n * t, turn[3] = {testFloat(random, -1, 1), testFloat(random, -1, 1), 0};
    for (uint32_t i = 0; i < 3 * n; ++i) {
      float p = pnMesh_GetVertices(mesh)[i], q = pnMesh_GetVertices(mesh)[i - i % 3 + (i + 1) % 3];
      float noise = ldexpf(testFloat(random, -1, 1), exponent);
      at[i] = t == 0   ? turn[0] * p + turn[1] * q
              : t == 1 ? 0.05f * noise
              : t == 2 ? noise
                       : ldexpf(noise, -(int)i % 40);
    }
    targets[t] = (pnMorphTarget){.count = n, .values = at};
  }
  return makeSheet(mesh, targets, 4, NULL, leafSize);
}

/* Once in five thousand random worlds, near 2^37, a morphing body with calm patches missed a pair. Weights that hardly move it, and
 * weights that fold it through itself, at every magnitude. */
static void everyMagnitude(void **state) {
  (void)state;
  TestRandom random = testRandom(37);
  static float values[4 * 3 * 200];
  const char *wanted = getenv("PINCH_ROUNDS"); /* of 66 magnitudes each */
  size_t pairs = 0, frames = 0, calm = 0;
  for (int round = 0; round < (wanted ? atoi(wanted) : testIsShort() ? 1 : 2); ++round)
    for (int exponent = -146; exponent <= 114; exponent += 4) {
      Sheet s = makeBox(exponent, &random, 1 + testBelow(&random, 4), values);
      for (int k = 0; k < 8; ++k) {
        float weights[4], size = k % 2 ? 0.02f : 1;
        for (int t = 0; t < 4; ++t) weights[t] = testFloat(&random, -size, size) * (testBelow(&random, 8) ? 1 : 4);
        if (pnPose_SetWeights(s.pose, weights, 4) != PN_OK) continue;
        pnCost cost;
        pairs += compare(&s, NULL, &cost);
        ++frames, calm += cost.verticesFetched == 0;
      }
      freeSheet(&s);
    }
  print_message("%zu frames, %zu of them calm, %zu pairs\n", frames, calm, pairs);
  assert_true(frames > testRounds(900) && pairs > testRounds(10000) && calm > testRounds(50));
  assert_int_equal(pnGetByteCount(), 0);
}

/* A box of 192 triangles whose vertices are all over the place near 2^37, many of them at one place at rest and so welded, with four
 * targets that take them apart at the rest weights. */
static Sheet makeWelded(TestRandom *random, uint32_t leafSize, float *values) {
  pnMesh *unit, *mesh;
  testExpectOk(pnMakeBox((pnVec3){1, 1, 1}, 4, &unit));
  uint32_t n = pnMesh_GetVertexCount(unit), few = 2 + testBelow(random, n);
  float rest[4];
  pnMeshDef def = {values,   n,        pnMesh_GetTriangles(unit), pnMesh_GetTriangleCount(unit), NULL, true,
                   "welded", PN_COOKIE};
  for (uint32_t i = 0; i < 3 * n; ++i) values[i] = testBelow(random, 3) ? testFloat(random, -1e11f, 1e11f) : -1e11f;
  for (uint32_t v = few; v < n; ++v)
    memcpy(values + 3 * v, values + 3 * (size_t)testBelow(random, few), 3 * sizeof(float));
  testExpectOk(pnCreateMesh(&def, &mesh));
  pnDestroyMesh(unit);
  pnMorphTarget targets[4];
  for (uint32_t t = 0; t < 4; ++t) {
    float *at = values + 3 * (size_t)n * t;
    for (uint32_t i = 0; i < 3 * n; ++i) at[i] = testBelow(random, 4) ? testFloat(random, -1e11f, 1e11f) : 0;
    targets[t] = (pnMorphTarget){.count = n, .values = at};
    rest[t] = testFloat(random, -1, 1);
  }
  return makeSheet(mesh, targets, 4, rest, leafSize);
}

/* The body that missed a pair, as near as can be said: welded leaves that rest weights took apart are no pair of near ones, and were
 * left out by the traversal as neighbours. Against brute force. */
static void weldedAndApart(void **state) {
  (void)state;
  TestRandom random = testRandom(3);
  static float values[4 * 3 * 200];
  size_t pairs = 0;
  for (int round = 0; round < (int)testRounds(40); ++round) {
    Sheet s = makeWelded(&random, 1 + (uint32_t)round % 4, values);
    pnPairList *truth;
    testExpectOk(pnCreatePairList(&truth));
    for (int k = 0; k < 3; ++k) {
      float weights[4];
      for (int t = 0; t < 4; ++t) weights[t] = k == 0 ? 0 : testFloat(&random, -1, 1);
      testExpectOk(pnPose_SetWeights(s.pose, weights, 4));
      pairs += compare(&s, NULL, NULL);
      testExpectOk(pnCollideBrute(s.pose, s.pose, NULL, truth));
      testExpectOk(pnCollideSelf(s.calm, NULL, s.list[0], NULL));
      assert_int_equal(pnPairList_GetCount(s.list[0]), pnPairList_GetCount(truth));
    }
    pnDestroyPairList(truth);
    freeSheet(&s);
  }
  print_message("%zu pairs\n", pairs);
  assert_true(pairs > 10000);
}

/* Just below and just above the weight at which a fold closes. */
static void onTheEdge(void **state) {
  (void)state;
  /* a sheet of which one half is folded over onto the other by one target: at weight 1 they touch */
  pnMesh *mesh;
  testExpectOk(pnMakeGrid(2, 1, 16, 8, &mesh));
  uint32_t n = pnMesh_GetVertexCount(mesh);
  const float *rest = pnMesh_GetVertices(mesh);
  float *values = calloc(3 * n, sizeof(float));
  for (uint32_t v = 0; v < n; ++v)
    if (rest[3 * v] > 0) values[3 * v] = -2 * rest[3 * v];
  pnMorphTarget target = {.name = "fold", .count = n, .values = values};
  Sheet s = makeSheet(mesh, &target, 1, NULL, 4);
  /* at half the weight the right half is a line, and beyond it lies on the left half, flat */
  const float weights[] = {0.1f, 0.4f, 0.49f, 0.4999999f, 0.5f, 0.50000006f, 0.51f, 0.75f, 1.0f, -0.4f, -3.0f};
  for (size_t i = 0; i < sizeof weights / sizeof weights[0]; ++i) {
    testExpectOk(pnPose_SetWeights(s.pose, &weights[i], 1));
    pnCost cost;
    size_t pairs = compare(&s, NULL, &cost);
    if (fabsf(weights[i] - 0.5f) > 1e-3f) assert_int_equal(pairs > 0, weights[i] > 0.5f);
    if (weights[i] == 0.1f) assert_int_equal(cost.verticesFetched, 0);
  }
  free(values);
  freeSheet(&s);
}

/* Two sheets above each other, and targets that carry one of them as a whole, among others that hardly do anything: between
 * neighbours nothing changes, and only what is known of patches far from each other can tell that they meet. */
static void farPatchesMeet(void **state) {
  (void)state;
  enum { SIDE = 14, N = (SIDE + 1) * (SIDE + 1), TARGETS = 7 };
  static float vertices[3 * 2 * N], values[TARGETS][3 * 2 * N];
  static uint32_t triangles[2 * 6 * SIDE * SIDE];
  for (uint32_t i = 0; i < 2 * N; ++i) {
    float x = 0.1f * (float)(i % N % (SIDE + 1)), y = 0.1f * (float)(i % N / (SIDE + 1));
    const float at[3] = {x, y, i < N ? 0 : 1 + 0.2f * x}; /* a little aslant, so that they do not pass at once */
    memcpy(vertices + 3 * i, at, sizeof at);
  }
  for (uint32_t c = 0; c < 2 * SIDE * SIDE; ++c) {
    uint32_t cell = c % (SIDE * SIDE), a = (c / (SIDE * SIDE)) * N + cell / SIDE * (SIDE + 1) + cell % SIDE;
    memcpy(triangles + 6 * c, (uint32_t[6]){a, a + 1, a + SIDE + 2, a, a + SIDE + 2, a + SIDE + 1}, 24);
  }
  TestRandom random = testRandom(17);
  size_t pairs = 0;
  for (int down = 0; down < TARGETS; ++down) {
    pnMorphTarget targets[TARGETS] = {{0}};
    for (int t = 0; t < TARGETS; ++t) {
      for (uint32_t i = 0; i < 6 * N; ++i)
        values[t][i] = t == down || i % 3 < 2 ? 0 : testFloat(&random, -1e-3f, 1e-3f);
      for (uint32_t i = N; i < 2 * N && t == down; ++i) values[t][3 * i + 2] = -1.3f;
      targets[t] = (pnMorphTarget){.count = 2 * N, .values = values[t]};
    }
    pnMeshDef def = {vertices, 2 * N, triangles, 4 * SIDE * SIDE, NULL, true, "sheets", PN_COOKIE};
    pnMesh *mesh;
    testExpectOk(pnCreateMesh(&def, &mesh));
    Sheet s = makeSheet(mesh, targets, TARGETS, NULL, 4);
    for (int k = 0; k <= 20; ++k) {
      float weights[TARGETS];
      for (int t = 0; t < TARGETS; ++t) weights[t] = t == down ? 0.05f * (float)k : testFloat(&random, -1, 1);
      testExpectOk(pnPose_SetWeights(s.pose, weights, TARGETS));
      pnCost cost;
      pairs += compare(&s, NULL, &cost);
      if (k == 0) assert_int_equal(cost.verticesFetched, 0);
    }
    freeSheet(&s);
  }
  assert_true(pairs > 1000);
}

/* The face of the laboratory: 52 targets, lips and lids that press into each other now and then. */
static void talkingFace(void **state) {
  (void)state;
  if (testIsShort())
    skip(); /* what is worked out for so many patches takes most of a minute there, and a smaller body shows the same of memory */
  pnFace *face;
  testExpectOk(pnCreateFace(&face));
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = face->vertices;
  def.vertexCount = face->vertexCount;
  def.triangles = face->triangles;
  def.triangleCount = face->triangleCount;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  Sheet s = makeSheet(mesh, face->targets, PN_FACE_TARGETS, NULL, 8);
  pnPool *pool;
  testExpectOk(pnCreatePool(4, &pool));
  pnTasks tasks = pnPool_GetTasks(pool);
  size_t pairs = 0;
  uint64_t vertices = 0;
  for (uint32_t frame = 0; frame < face->frameCount; frame += 5) {
    float weights[PN_FACE_TARGETS];
    pnFace_Weights(face, frame, weights);
    testExpectOk(pnPose_SetWeights(s.pose, weights, PN_FACE_TARGETS));
    pnCost cost;
    pairs += compare(&s, frame % 2 ? &tasks : NULL, &cost);
    vertices += cost.verticesFetched;
  }
  /* a face at rest touches nothing */
  pnPose_Reset(s.pose);
  pnCost cost;
  assert_int_equal(compare(&s, NULL, &cost), 0);
  assert_int_equal(cost.verticesFetched, 0);
  assert_true(pairs > 20 && vertices < 40ull * face->vertexCount / 2);
  pnDestroyPool(pool);
  freeSheet(&s);
  pnDestroyFace(face);
  assert_int_equal(pnGetByteCount(), 0);
}

/* Rest shapes that meet themselves, seams with two sides that move apart, triangles without area. */
static void neverCalm(void **state) {
  (void)state;
  /* two squares that cross, a seam (vertices 8, 9 over 0, 1), and a triangle that is a line */
  const float vertices[] = {0,     0,    0,    1,     0,    0,    1,    1,    0,    0,    1, 0, 0.5f, 0.2f,
                            -0.5f, 0.5f, 0.8f, -0.5f, 0.5f, 0.8f, 0.5f, 0.5f, 0.2f, 0.5f, 0, 0, 0,    1,
                            0,     0,    0.5f, -1,    0,    3,    0,    0,    4,    0,    0, 5, 0,    0};
  const uint32_t triangles[] = {0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7, 8, 10, 9, 11, 12, 13};
  pnMeshDef def = {vertices, 14, triangles, 6, NULL, true, "odd", PN_COOKIE};
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  /* one side of the seam turns up */
  const uint32_t list[2] = {8, 9};
  const float up[6] = {0, 0.5f, 0.2f, 0, 0.5f, 0.2f};
  pnMorphTarget targets[2] = {{"seam", 2, list, up}, {"nothing", 0, NULL, NULL}};
  Sheet s = makeSheet(mesh, targets, 2, NULL, 1);
  size_t pairs = 0;
  for (int i = -4; i <= 8; ++i) {
    const float weights[2] = {0.25f * (float)i, 1};
    testExpectOk(pnPose_SetWeights(s.pose, weights, 2));
    pairs += compare(&s, NULL, NULL);
    pnPairList *truth;
    testExpectOk(pnCreatePairList(&truth));
    testExpectOk(pnCollideBrute(s.pose, s.pose, NULL, truth));
    testExpectOk(pnCollideSelf(s.calm, NULL, s.list[0], NULL));
    assert_int_equal(pnPairList_GetCount(s.list[0]), pnPairList_GetCount(truth));
    pnDestroyPairList(truth);
  }
  assert_true(pairs > 13 * 4);
  freeSheet(&s);
}

/* A hundred bodies whose vertices are all over the place: nothing is proved, nothing is missed. */
static void wildBodies(void **state) {
  (void)state;
  TestRandom random = testRandom(9);
  for (int round = 0; round < 100; ++round) {
    float vertices[3 * 20], values[3][3 * 20], weights[3];
    uint32_t triangles[3 * 24];
    float reach = round % 3 == 0 ? 1e4f : 1;
    for (int i = 0; i < 60; ++i) {
      vertices[i] = testFloat(&random, -reach, reach);
      for (int t = 0; t < 3; ++t) values[t][i] = testFloat(&random, -reach, reach) * (t == 0 ? 0.01f : 1);
    }
    for (int i = 0; i < 72; ++i) triangles[i] = testBelow(&random, 20);
    pnMeshDef def = {vertices, 20, triangles, 24, NULL, true, "wild", PN_COOKIE};
    pnMesh *mesh;
    testExpectOk(pnCreateMesh(&def, &mesh));
    pnMorphTarget targets[3] = {{NULL, 20, NULL, values[0]}, {NULL, 20, NULL, values[1]}, {NULL, 20, NULL, values[2]}};
    Sheet s = makeSheet(mesh, targets, 3, NULL, 1 + (uint32_t)round % 4);
    for (int k = 0; k < 5; ++k) {
      for (int t = 0; t < 3; ++t) weights[t] = testFloat(&random, -1, 1) * (k == 0 ? 0.001f : 1);
      testExpectOk(pnPose_SetWeights(s.pose, weights, 3));
      compare(&s, NULL, NULL);
    }
    freeSheet(&s);
  }
}

/* ---------------------------------------------------------------- memory */

static pnResult selfQuery(void *context) {
  (void)context;
  pnMesh *mesh = NULL;
  pnMorph *morph = NULL;
  pnPose *pose = NULL;
  pnTree *tree = NULL;
  pnResult result = pnMakeIcosphere(0, 1, &mesh);
  if (result == PN_OK) {
    pnMorphTarget target = {NULL, 12, NULL, pnMesh_GetVertices(mesh)};
    pnMorphDef def = {mesh, PN_MORPH_DELTAS, &target, 1, NULL};
    result = pnCreateMorph(&def, &morph);
  }
  if (result == PN_OK) {
    pnPoseDef def = {mesh, morph, NULL};
    result = pnCreatePose(&def, &pose);
  }
  if (result == PN_OK) {
    pnTreeDef def = pnDefaultTreeDef();
    pnTreeLab lab = {0};
    def.lab = &lab;
    def.pose = pose;
    lab.leafSize = 2;
    def.calm = true;
    result = pnCreateTree(&def, &tree);
  }
  if (result == PN_OK) {
    size_t before = pnTree_GetByteCount(tree);
    result = pnCollideSelf(tree, NULL, NULL, NULL);
    if (result == PN_OK) assert_true(pnTree_GetByteCount(tree) > before);
  }
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  pnDestroyMorph(morph);
  pnDestroyMesh(mesh);
  return result;
}

static void allocationFailure(void **state) {
  (void)state;
  assert_true(testEveryAllocationFailure(selfQuery, NULL, false, true) > 50);
  assert_true(testEveryAllocationFailure(selfQuery, NULL, true, false) > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boundsHold),     cmocka_unit_test(farBoundsHold),     cmocka_unit_test(sameAnswers),
      cmocka_unit_test(everyMagnitude), cmocka_unit_test(weldedAndApart),    cmocka_unit_test(onTheEdge),
      cmocka_unit_test(farPatchesMeet), cmocka_unit_test(talkingFace),       cmocka_unit_test(neverCalm),
      cmocka_unit_test(wildBodies),     cmocka_unit_test(allocationFailure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
