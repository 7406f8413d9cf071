/* test_find_passage.c: what meets between two frames and in neither: by formula, by the definition written out plainly, and by
 * looking at many times of the step. */
#include "support_find.h"

/* ---------------------------------------------------------------- a step */

typedef struct Step {
  pnMesh *mesh[2];
  pnPose *pose[2];
  pnTree *tree[2];
  pnSweep *sweep[2];
  uint32_t count; /* bodies: 1 or 2 */
  float *ends[2][2];
  pnImpactList *impacts;
  pnPairList *pairs[2]; /* before and after */
  pnPassageList *passages;
} Step;

static Step makeStep(pnMesh *a, pnMesh *b) {
  Step s = {.mesh = {a, b}, .count = b ? 2 : 1};
  testExpectOk(pnCreateImpactList(&s.impacts));
  testExpectOk(pnCreatePassageList(&s.passages));
  for (int i = 0; i < 2; ++i) testExpectOk(pnCreatePairList(&s.pairs[i]));
  for (uint32_t i = 0; i < s.count; ++i) {
    size_t bytes = 3 * (size_t)pnMesh_GetVertexCount(s.mesh[i]) * sizeof(float);
    for (int end = 0; end < 2; ++end) {
      s.ends[i][end] = malloc(bytes);
      assert_non_null(s.ends[i][end]);
      memcpy(s.ends[i][end], pnMesh_GetVertices(s.mesh[i]), bytes);
    }
    pnPoseDef poseDef = pnDefaultPoseDef();
    poseDef.mesh = s.mesh[i];
    testExpectOk(pnCreatePose(&poseDef, &s.pose[i]));
    pnTreeDef treeDef = pnDefaultTreeDef();
    treeDef.pose = s.pose[i];
    testExpectOk(pnCreateTree(&treeDef, &s.tree[i]));
    testExpectOk(pnCreateSweep(s.mesh[i], &s.sweep[i]));
  }
  return s;
}

static void freeStep(Step *s) {
  for (uint32_t i = 0; i < s->count; ++i) {
    pnDestroySweep(s->sweep[i]);
    pnDestroyTree(s->tree[i]);
    pnDestroyPose(s->pose[i]);
    pnDestroyMesh(s->mesh[i]);
    free(s->ends[i][0]), free(s->ends[i][1]);
  }
  for (int i = 0; i < 2; ++i) pnDestroyPairList(s->pairs[i]);
  pnDestroyImpactList(s->impacts);
  pnDestroyPassageList(s->passages);
  assert_int_equal(pnGetByteCount(), 0);
}

/* What meets at time t. */
static void collideAt(Step *s, double t, pnPairList *out) {
  for (uint32_t i = 0; i < s->count; ++i) {
    uint32_t n = pnMesh_GetVertexCount(s->mesh[i]);
    float *v = malloc(3 * n * sizeof(float));
    assert_non_null(v);
    for (uint32_t k = 0; k < 3 * n; ++k) {
      double p = s->ends[i][0][k], q = s->ends[i][1][k];
      v[k] = t == 1 ? s->ends[i][1][k] : (float)(p + t * (q - p));
    }
    testExpectOk(pnPose_SetVertices(s->pose[i], v, n));
    free(v);
  }
  if (s->count == 2) testExpectOk(pnCollideTrees(s->tree[0], s->tree[1], NULL, out, NULL));
  else testExpectOk(pnCollideSelf(s->tree[0], NULL, out, NULL));
}

static const pnPassage *findPassages(Step *s, size_t *outCount) {
  collideAt(s, 0, s->pairs[0]);
  for (uint32_t i = 0; i < s->count; ++i) testExpectOk(pnSweep_SetBegin(s->sweep[i], s->pose[i]));
  collideAt(s, 1, s->pairs[1]);
  for (uint32_t i = 0; i < s->count; ++i) testExpectOk(pnSweep_SetEnd(s->sweep[i], s->pose[i]));
  testExpectOk(pnCollideSwept(s->sweep[0], s->sweep[1], NULL, s->impacts, NULL));
  pnPassageDef def = {.a = s->sweep[0],
                      .b = s->sweep[1],
                      .impacts = pnImpactList_GetImpacts(s->impacts),
                      .impactCount = pnImpactList_GetCount(s->impacts),
                      .before = pnPairList_GetPairs(s->pairs[0]),
                      .beforeCount = pnPairList_GetCount(s->pairs[0]),
                      .after = pnPairList_GetPairs(s->pairs[1]),
                      .afterCount = pnPairList_GetCount(s->pairs[1])};
  testExpectOk(pnFindPassages(&def, s->passages));
  return pnPassageList_GetPassages(s->passages, outCount);
}

static void shift(float *v, uint32_t vertices, float x, float y, float z) {
  for (uint32_t i = 0; i < vertices; ++i) v[3 * i] += x, v[3 * i + 1] += y, v[3 * i + 2] += z;
}

/* ---------------------------------------------------------------- by formula */

/* A ball falls from z0 to z1 through a sheet at z = 0. */
static void aBulletIsAPassage(void **state) {
  (void)state;
  static const struct {
    float from, to;
    size_t passages;
  } cases[] = {
      {5, -3, 1},         /* through */
      {5, 0.05f, 0},      /* stays in it: the frame after shows it */
      {0.02f, -3, 0},     /* was in it */
      {0.05f, -0.05f, 0}, /* is in it all the way */
      {5, 0.2f, 0},       /* does not get there */
  };
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
    pnMesh *sheet, *ball;
    testExpectOk(pnMakeGrid(4, 4, 20, 20, &sheet));
    testExpectOk(pnMakeIcosphere(2, 0.1f, &ball));
    Step s = makeStep(ball, sheet);
    uint32_t n = pnMesh_GetVertexCount(ball);
    shift(s.ends[0][0], n, 0.113f, 0.27f, cases[c].from), shift(s.ends[0][1], n, 0.113f, 0.27f, cases[c].to);
    size_t count, pairCount;
    const pnPassage *p = findPassages(&s, &count);
    assert_int_equal(count, cases[c].passages);
    if (count == 1) {
      /* from the lowest vertex to the highest: the features of the ball are its vertices and edges */
      double low = (5 - 0.1) / 8, high = (5 + 0.1) / 8;
      assert_true(fabs(p->first - low) < 1e-4 && fabs(p->last - high) < 1e-3 && p->first < p->last);
      assert_true(fabs(p->middle - 5.0 / 8) < 2e-3);
      assert_int_equal(p->impactCount, pnImpactList_GetCount(s.impacts));
      /* nothing is shown: its pairs are all that meet on the way */
      pnSweptDef triangles = {.what = PN_SWEPT_TRIANGLES};
      testExpectOk(pnCollideSwept(s.sweep[0], s.sweep[1], &triangles, s.impacts, NULL));
      const pnPair *pairs = pnPassageList_GetPairs(s.passages, &pairCount);
      assert_int_equal(pairCount, pnImpactList_GetCount(s.impacts));
      assert_int_equal(p->pairCount, pairCount);
      for (size_t i = 0; i < pairCount; ++i) {
        const pnFeatureImpact *f = &pnImpactList_GetImpacts(s.impacts)[i];
        assert_true(f->a == pairs[i].a && f->b == pairs[i].b);
      }
    }
    freeStep(&s);
  }
}

/* A ball passes while another, of the same body, stays in the sheet: one passage, of the first ball only. */
static void twoBallsAreTwoThings(void **state) {
  (void)state;
  pnMesh *sheet, *ball;
  testExpectOk(pnMakeGrid(4, 4, 20, 20, &sheet));
  testExpectOk(pnMakeIcosphere(2, 0.1f, &ball));
  uint32_t n = pnMesh_GetVertexCount(ball), m = pnMesh_GetTriangleCount(ball);
  float *v = malloc(6 * n * sizeof *v);
  uint32_t *t = malloc(6 * m * sizeof *t);
  assert_true(v && t);
  for (uint32_t i = 0; i < 6 * n; ++i)
    v[i] = pnMesh_GetVertices(ball)[i % (3 * n)] + (i >= 3 * n && i % 3 == 0 ? 1 : 0);
  for (uint32_t i = 0; i < 6 * m; ++i) t[i] = pnMesh_GetTriangles(ball)[i % (3 * m)] + (i >= 3 * m ? n : 0);
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = v, def.vertexCount = 2 * n, def.triangles = t, def.triangleCount = 2 * m;
  pnMesh *two;
  testExpectOk(pnCreateMesh(&def, &two));
  Step s = makeStep(two, sheet);
  shift(s.ends[0][0], n, 0.113f, 0.27f, 1), shift(s.ends[0][1], n, 0.113f, 0.27f, -1);
  shift(s.ends[0][0] + 3 * n, n, 0, 0.27f, 0.01f), shift(s.ends[0][1] + 3 * n, n, 0, 0.27f, -0.02f);
  size_t count, pairCount;
  const pnPassage *p = findPassages(&s, &count);
  assert_int_equal(count, 1);
  const pnPair *pairs = pnPassageList_GetPairs(s.passages, &pairCount);
  for (size_t i = 0; i < pairCount; ++i) assert_true(pairs[i].a < m);
  assert_true(fabs(0.5 * (p->first + p->last) - 0.5) < 1e-3);
  pnDestroyMesh(ball);
  freeStep(&s);
  free(v), free(t);
}

/* ---------------------------------------------------------------- by the definition */

static bool hasCorner(const pnMesh *mesh, uint32_t t, uint32_t v) {
  const uint32_t *c = pnMesh_GetTriangles(mesh) + 3 * t;
  return c[0] == v || c[1] == v || c[2] == v;
}

/* Is triangle t one of those that side `side` of an impact is of? */
static bool isOf(const Step *s, const pnFeatureImpact *f, int side, uint32_t t) {
  int body = s->count == 2 ? side : 0;
  uint32_t feature = side ? f->b : f->a;
  bool vertex = f->kind == (side ? PN_FACE_WITH_VERTEX : PN_VERTEX_WITH_FACE);
  if (f->kind == PN_EDGE_WITH_EDGE) {
    const uint32_t *e = pnSweep_GetEdges(s->sweep[body]) + 2 * feature;
    return hasCorner(s->mesh[body], t, e[0]) && hasCorner(s->mesh[body], t, e[1]);
  }
  return vertex ? hasCorner(s->mesh[body], t, feature) : t == feature;
}

/* Is (a, b) a pair of the impact, in either order for one body? */
static bool isPairOf(const Step *s, const pnFeatureImpact *f, uint32_t a, uint32_t b) {
  if (isOf(s, f, 0, a) && isOf(s, f, 1, b)) return true;
  return s->count == 1 && isOf(s, f, 0, b) && isOf(s, f, 1, a);
}

/* Pieces by plain search: numbers[i * triangles + j] of every pair; -1: nothing meets there on the way. */
static int *findPieces(const Step *s, uint32_t na, uint32_t nb, int *outCount) {
  const pnFeatureImpact *impacts = pnImpactList_GetImpacts(s->impacts);
  size_t impactCount = pnImpactList_GetCount(s->impacts);
  int *numbers = malloc(na * nb * sizeof(int)), *of = malloc((impactCount + 1) * sizeof(int));
  assert_true(numbers && of);
  for (uint32_t i = 0; i < na * nb; ++i) numbers[i] = -1;
  for (size_t i = 0; i < impactCount; ++i) of[i] = -1;
  *outCount = 0;
  for (size_t first = 0; first < impactCount; ++first) {
    if (of[first] >= 0) continue;
    of[first] = (*outCount)++;
    for (bool grown = true; grown;) {
      grown = false;
      for (size_t i = 0; i < impactCount; ++i) {
        bool touches = of[i] == of[first];
        for (uint32_t p = 0; p < na * nb && !touches; ++p)
          touches = of[i] < 0 && numbers[p] == of[first] && isPairOf(s, &impacts[i], p / nb, p % nb);
        if (!touches) continue;
        for (uint32_t p = 0; p < na * nb; ++p) {
          if (numbers[p] == of[first] || !isPairOf(s, &impacts[i], p / nb, p % nb)) continue;
          numbers[p] = of[first];
          grown = true;
        }
        grown |= of[i] != of[first];
        of[i] = of[first];
      }
    }
  }
  free(of);
  return numbers;
}

/* Random bodies that fly and are crumpled: passages are the pieces without a pair of a frame. */
static void passagesAreWhatTheDefinitionSays(void **state) {
  (void)state;
  TestRandom random = testRandom(41);
  int passages = 0, shown = 0;
  for (int round = 0; round < 60; ++round) {
    pnMesh *a, *b = NULL;
    bool self = round % 3 == 0;
    if (self) testExpectOk(pnMakeGrid(2, 2, 4, 4, &a));
    else testExpectOk(pnMakeIcosphere(0, 0.4f, &a)), testExpectOk(pnMakeGrid(2, 2, 3, 3, &b));
    Step s = makeStep(a, b);
    for (uint32_t i = 0; i < s.count; ++i)
      for (int end = 0; end < 2; ++end) {
        uint32_t n = pnMesh_GetVertexCount(s.mesh[i]);
        float crumple = self ? 0.35f : 0.2f;
        for (uint32_t k = 0; k < 3 * n; ++k) s.ends[i][end][k] += testFloat(&random, -crumple, crumple);
        if (i == 0 && !self) shift(s.ends[0][end], n, 0.1f, 0.05f, testFloat(&random, 0.1f, 1.6f) * (end ? -1 : 1));
      }
    size_t count, pairCount;
    const pnPassage *found = findPassages(&s, &count);
    const pnPair *pairs = pnPassageList_GetPairs(s.passages, &pairCount);
    uint32_t na = pnMesh_GetTriangleCount(a), nb = b ? pnMesh_GetTriangleCount(b) : na;
    int pieceCount, *numbers = findPieces(&s, na, nb, &pieceCount);
    bool *isShown = calloc((size_t)pieceCount + 1, sizeof(bool));
    assert_non_null(isShown);
    for (int end = 0; end < 2; ++end)
      for (size_t i = 0; i < pnPairList_GetCount(s.pairs[end]); ++i) {
        pnPair p = pnPairList_GetPairs(s.pairs[end])[i];
        if (numbers[p.a * nb + p.b] >= 0) isShown[numbers[p.a * nb + p.b]] = true;
      }
    /* every pair of a passage is of one piece that is not shown, and all pairs of such a piece are in it */
    size_t wanted = 0;
    for (int i = 0; i < pieceCount; ++i) wanted += !isShown[i], shown += isShown[i];
    assert_int_equal(count, wanted);
    passages += (int)count;
    for (size_t i = 0; i < count; ++i) {
      pnPair first = pairs[found[i].firstPair];
      int piece = numbers[first.a * nb + first.b];
      size_t size = 0;
      assert_true(piece >= 0 && !isShown[piece] && found[i].impactCount > 0);
      for (uint32_t p = 0; p < na * nb; ++p) size += numbers[p] == piece && (!self || p / nb < p % nb);
      assert_int_equal(size, found[i].pairCount);
      for (size_t k = 0; k < found[i].pairCount; ++k) {
        pnPair p = pairs[found[i].firstPair + k];
        assert_int_equal(numbers[p.a * nb + p.b], piece);
      }
      assert_true(found[i].first >= 0 && found[i].first <= found[i].last && found[i].last <= 1);
    }
    free(numbers), free(isShown);
    freeStep(&s);
  }
  if (passages < 20 || shown < 20) fail_msg("%d passages, %d shown", passages, shown);
}

/* ---------------------------------------------------------------- by looking */

/* In the middle something of the passage meets, and what meets at any time is of a passage or a piece that
 * is shown: nothing is overlooked. */
static void theMiddleShowsIt(void **state) {
  (void)state;
  TestRandom random = testRandom(7);
  int asked = 0, met = 0;
  for (int round = 0; round < 40; ++round) {
    pnMesh *a, *b;
    testExpectOk(pnMakeIcosphere(1, 0.3f, &a)), testExpectOk(pnMakeGrid(3, 3, 8, 8, &b));
    Step s = makeStep(a, b);
    uint32_t n = pnMesh_GetVertexCount(a);
    for (int end = 0; end < 2; ++end) {
      float sign = end ? -1.0f : 1.0f;
      shift(s.ends[0][end], n, testFloat(&random, -1, 1), testFloat(&random, -1, 1),
            sign * testFloat(&random, 0.5f, 3));
    }
    size_t count, pairCount;
    const pnPassage *p = findPassages(&s, &count);
    const pnPair *pairs = pnPassageList_GetPairs(s.passages, &pairCount);
    assert_int_equal(count, 1);
    pnPairList *now = s.pairs[0];
    for (int k = 0; k <= 20; ++k) {
      collideAt(&s, k == 10 ? p->middle : p->first + 0.05 * k * (p->last - p->first), now);
      asked += k == 10, met += k == 10 && pnPairList_GetCount(now) > 0;
      for (size_t i = 0; i < pnPairList_GetCount(now); ++i) {
        pnPair q = pnPairList_GetPairs(now)[i];
        bool known = false;
        for (size_t j = 0; j < pairCount && !known; ++j) known = pairs[j].a == q.a && pairs[j].b == q.b;
        /* where vertices are rounded to floats, two triangles that only just miss each other may touch: never here */
        assert_true(known);
      }
    }
    freeStep(&s);
  }
  assert_int_equal(met, asked);
}

/* ---------------------------------------------------------------- memory */

static pnResult useMemory(void *context) {
  (void)context;
  pnMesh *ball = NULL;
  pnSweep *a = NULL, *b = NULL;
  pnImpactList *impacts = NULL;
  pnPassageList *passages = NULL;
  pnResult result = pnMakeIcosphere(1, 0.5f, &ball);
  if (!result) result = pnCreateSweep(ball, &a);
  if (!result) result = pnCreateSweep(ball, &b);
  if (!result) result = pnCreateImpactList(&impacts);
  if (!result) result = pnCreatePassageList(&passages);
  double from[3 * 42], to[3 * 42];
  for (uint32_t i = 0; i < 3 * 42 && !result; ++i) {
    double x = pnMesh_GetVertices(ball)[i];
    from[i] = i % 3 ? x : x + 2, to[i] = i % 3 ? x : x - 2;
  }
  if (!result) result = pnSweep_SetStep(a, from, to, 42);
  if (!result) result = pnCollideSwept(a, b, NULL, impacts, NULL);
  pnPassageDef def = {.a = a, .b = b};
  if (!result) def.impacts = pnImpactList_GetImpacts(impacts), def.impactCount = pnImpactList_GetCount(impacts);
  if (!result) result = pnFindPassages(&def, passages);
  size_t count;
  if (!result) pnPassageList_GetPassages(passages, &count), assert_int_equal(count, 1);
  pnDestroyPassageList(passages);
  pnDestroyImpactList(impacts);
  pnDestroySweep(a), pnDestroySweep(b);
  pnDestroyMesh(ball);
  return result;
}

static void memoryMayFail(void **state) {
  (void)state;
  assert_true(testEveryAllocationFailure(useMemory, NULL, false, true) > 20);
  assert_true(testEveryAllocationFailure(useMemory, NULL, true, true) > 20);
}

/* Sweeps of soups have no neighbours: refused on either side, and nothing is left of the step before. */
static void soupsAreRefused(void **state) {
  (void)state;
  pnMesh *ball;
  pnSoup *soup;
  pnSweep *sweeps[2];
  pnPassageList *passages;
  testExpectOk(pnMakeIcosphere(1, 0.5f, &ball));
  testExpectOk(pnCreateSoup(NULL, &soup));
  testExpectOk(pnCreateSweep(ball, &sweeps[0]));
  testExpectOk(pnCreateSoupSweep(soup, &sweeps[1]));
  testExpectOk(pnCreatePassageList(&passages));
  pnFeatureImpact impact = {0};
  for (int side = 0; side < 3; ++side) {
    pnPassageDef def = {
        .a = sweeps[side > 0], .b = side == 2 ? NULL : sweeps[side == 0], .impacts = &impact, .impactCount = 1};
    size_t count = 1;
    assert_int_equal(pnFindPassages(&def, passages), PN_ERROR_KIND);
    assert_non_null(strstr(pnGetMessage(), "soup"));
    pnPassageList_GetPassages(passages, &count);
    assert_int_equal(count, 0);
  }
  pnDestroyPassageList(passages);
  pnDestroySweep(sweeps[0]), pnDestroySweep(sweeps[1]);
  pnDestroySoup(soup);
  pnDestroyMesh(ball);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(aBulletIsAPassage),
      cmocka_unit_test(twoBallsAreTwoThings),
      cmocka_unit_test(passagesAreWhatTheDefinitionSays),
      cmocka_unit_test(theMiddleShowsIt),
      cmocka_unit_test(memoryMayFail),
      cmocka_unit_test(soupsAreRefused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
