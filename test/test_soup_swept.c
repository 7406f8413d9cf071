/* test_soup_swept.c: soups on their way: primitives matched by id, of all kinds, that come, go, are replaced and cut. Held
 * against every feature with every other, asked one by one. */
#include "support.h"

#include "pinch/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- a soup and what was before */

enum { MOST = 64 };

/* A primitive at the begin of the step. */
typedef struct Was {
  pnPrimitiveId id;
  uint32_t corners;
  float x[9];
} Was;

typedef struct Before {
  Was places[MOST];
  uint32_t count;
} Before;

static Before remember(const pnSoup *soup) {
  Before b = {.count = pnSoup_GetPlaceCount(soup)};
  assert_true(b.count <= MOST);
  for (uint32_t p = 0; p < b.count; ++p) {
    b.places[p].id = pnSoup_GetId(soup, p);
    b.places[p].corners = pnSoup_GetCorners(soup, b.places[p].id, b.places[p].x);
  }
  return b;
}

/* Where the corners of a place are at both ends, and how many count; 0: it is not there. */
static uint32_t wayOf(const Before *before, const pnSoup *soup, uint32_t p, float from[9], float to[9]) {
  pnPrimitiveId id = pnSoup_GetId(soup, p);
  uint32_t corners = pnSoup_GetCorners(soup, id, to);
  if (corners == 0) return 0;
  const Was *was = p < before->count ? &before->places[p] : NULL;
  bool goes = was && was->corners > 0 && was->id.index1 == id.index1 && was->id.generation == id.generation;
  memcpy(from, goes ? was->x : to, 9 * sizeof(float));
  return goes && was->corners > corners ? was->corners : corners;
}

static pnMoving motionOf(const float *const from[4], const float *const to[4]) {
  pnMoving m;
  for (int i = 0; i < 12; ++i) m.from[i / 3][i % 3] = from[i / 3][i % 3], m.to[i / 3][i % 3] = to[i / 3][i % 3];
  return m;
}

/* ---------------------------------------------------------------- every feature with every other */

typedef struct Expected {
  pnFeatureImpact list[20000];
  size_t count;
} Expected;

static int compareImpacts(const void *p, const void *q) {
  const pnFeatureImpact *a = p, *b = q;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  return a->b < b->b ? -1 : a->b > b->b;
}

static void add(Expected *e, pnFeatureKind kind, uint32_t a, uint32_t b, pnImpactSpan span) {
  if (!span.meets) return;
  assert_true(e->count < sizeof e->list / sizeof e->list[0]);
  e->list[e->count++] = (pnFeatureImpact){kind, a, b, span.lo, span.hi};
}

/* The number of the edge between two vertices. */
static uint32_t edgeNumber(const pnSweep *sweep, uint32_t i, uint32_t j) {
  const uint32_t *edges = pnSweep_GetEdges(sweep);
  for (uint32_t e = 0; e < pnSweep_GetEdgeCount(sweep); ++e)
    if (edges[2 * e] == i && edges[2 * e + 1] == j) return e;
  fail_msg("no edge %u %u", i, j);
  return 0;
}

/* Vertices of place p with the face at q. */
static void askVertices(Expected *e, uint32_t p, uint32_t n, const float *from, const float *to, uint32_t q,
                        const float *faceFrom, const float *faceTo) {
  for (uint32_t k = 0; k < n; ++k) {
    const float *a[4] = {from + 3 * k, faceFrom, faceFrom + 3, faceFrom + 6},
                *b[4] = {to + 3 * k, faceTo, faceTo + 3, faceTo + 6};
    pnMoving m = motionOf(a, b);
    add(e, PN_VERTEX_WITH_FACE, 3 * p + k, q, pnImpactVertexFace(&m));
  }
}

static uint32_t edgeCountOf(uint32_t corners) {
  return corners == 3 ? 3 : corners == 2 ? 1 : 0;
}

static void askEdges(Expected *e, const pnSweep *sweep, uint32_t p, uint32_t np, const float *pf, const float *pt,
                     uint32_t q, uint32_t nq, const float *qf, const float *qt) {
  static const uint32_t ends[3][2] = {{0, 1}, {1, 2}, {0, 2}};
  for (uint32_t i = 0; i < edgeCountOf(np); ++i)
    for (uint32_t j = 0; j < edgeCountOf(nq); ++j) {
      const uint32_t *u = ends[i], *w = ends[j];
      const float *a[4] = {pf + 3 * u[0], pf + 3 * u[1], qf + 3 * w[0], qf + 3 * w[1]},
                  *b[4] = {pt + 3 * u[0], pt + 3 * u[1], qt + 3 * w[0], qt + 3 * w[1]};
      pnMoving m = motionOf(a, b);
      add(e, PN_EDGE_WITH_EDGE, edgeNumber(sweep, 3 * p + u[0], 3 * p + u[1]),
          edgeNumber(sweep, 3 * q + w[0], 3 * q + w[1]), pnImpactEdgeEdge(&m));
    }
}

/* The soup with itself. */
static void bruteForce(const Before *before, const pnSoup *soup, const pnSweep *sweep, Expected *e) {
  e->count = 0;
  uint32_t count = pnSoup_GetPlaceCount(soup);
  for (uint32_t p = 0; p < count; ++p)
    for (uint32_t q = p + 1; q < count; ++q) {
      float pf[9], pt[9], qf[9], qt[9];
      uint32_t np = wayOf(before, soup, p, pf, pt), nq = wayOf(before, soup, q, qf, qt);
      if (np == 0 || nq == 0) continue;
      askVertices(e, p, np, pf, pt, q, qf, qt);
      askVertices(e, q, nq, qf, qt, p, pf, pt);
      askEdges(e, sweep, p, np, pf, pt, q, nq, qf, qt);
    }
  qsort(e->list, e->count, sizeof e->list[0], compareImpacts);
}

static void expectSame(const pnImpactList *list, const Expected *e) {
  assert_int_equal(pnImpactList_GetCount(list), e->count);
  for (size_t i = 0; i < e->count; ++i) {
    const pnFeatureImpact *f = &pnImpactList_GetImpacts(list)[i];
    assert_true(f->kind == e->list[i].kind && f->a == e->list[i].a && f->b == e->list[i].b);
    assert_true(f->lo == e->list[i].lo && f->hi == e->list[i].hi);
  }
}

/* ---------------------------------------------------------------- random changes */

static void randomCorners(TestRandom *random, float *x) {
  float centre[3] = {testFloat(random, -1, 1), testFloat(random, -1, 1), testFloat(random, -1, 1)};
  for (int i = 0; i < 9; ++i) x[i] = centre[i % 3] + testFloat(random, -0.4f, 0.4f);
}

static pnPrimitiveId anyOf(TestRandom *random, const pnSoup *soup) {
  for (int tries = 0; tries < 1000; ++tries) {
    pnPrimitiveId id = pnSoup_GetId(soup, testBelow(random, pnSoup_GetPlaceCount(soup)));
    if (pnSoup_IsValid(soup, id)) return id;
  }
  return (pnPrimitiveId){0};
}

/* Most move, some go, some come, some are replaced by another kind, some are cut. */
static void change(TestRandom *random, pnSoup *soup) {
  float x[9];
  for (uint32_t p = 0; p < pnSoup_GetPlaceCount(soup); ++p) {
    pnPrimitiveId id = pnSoup_GetId(soup, p);
    uint32_t kind = pnSoup_GetCorners(soup, id, x);
    if (kind == 0 || testBelow(random, 4) == 0) continue;
    for (int i = 0; i < 9; ++i) x[i] += testFloat(random, -0.5f, 0.5f);
    testExpectOk(pnSoup_Replace(soup, &id, (pnPrimitiveKind)kind, x, 1));
  }
  for (int n = 0; n < 6; ++n) {
    uint32_t what = testBelow(random, 4);
    pnPrimitiveKind kind = (pnPrimitiveKind)(1 + testBelow(random, 3));
    pnPrimitiveId id = anyOf(random, soup);
    randomCorners(random, x);
    if (id.index1 == 0) what = 0;
    if (what == 0 && pnSoup_GetCount(soup) < 28) testExpectOk(pnSoup_Add(soup, kind, x, 1, NULL));
    if (what == 1) testExpectOk(pnSoup_Remove(soup, &id, 1));
    if (what == 2) testExpectOk(pnSoup_Replace(soup, &id, kind, x, 1));
    if (what == 3 && pnSoup_GetCount(soup) < 28) {
      pnPlane plane = {{1, 0.3f, -0.2f}, testFloat(random, -0.5f, 0.5f)};
      pnCut cut;
      testExpectOk(pnSoup_Cut(soup, id, &plane, &cut));
    }
  }
}

/* Steps one after the other, by SetBegin and by Advance, on one sweep that grows with the soup. */
static void everyFeatureOnce(void **state) {
  (void)state;
  static Expected expected;
  TestRandom random = testRandom(11);
  pnSoup *soup;
  pnSweep *sweep;
  pnImpactList *list;
  testExpectOk(pnCreateSoup(NULL, &soup));
  testExpectOk(pnCreateSoupSweep(soup, &sweep)), testExpectOk(pnCreateImpactList(&list));
  /* an empty one has nothing to say */
  testExpectOk(pnCollideSwept(sweep, NULL, NULL, list, NULL));
  assert_int_equal(pnImpactList_GetCount(list), 0);
  for (int n = 0; n < 16; ++n) {
    float x[9];
    randomCorners(&random, x);
    testExpectOk(pnSoup_Add(soup, (pnPrimitiveKind)(n < 10 ? 3 : n < 13 ? 2 : 1), x, 1, NULL));
  }
  size_t total = 0, firsts = 0;
  for (int step = 0; step < 60; ++step) {
    testExpectOk(pnSweep_SetBegin(sweep, pnSoup_GetPose(soup)));
    Before before = remember(soup);
    change(&random, soup);
    testExpectOk(pnSweep_SetEnd(sweep, pnSoup_GetPose(soup)));
    bruteForce(&before, soup, sweep, &expected);
    testExpectOk(pnCollideSwept(sweep, NULL, NULL, list, NULL));
    expectSame(list, &expected);
    total += expected.count;
    /* the earliest, and every pair of primitives once: each pair of places that has an impact, or stands in each other */
    pnImpactSpan first = pnImpactList_GetEarliest(list);
    pnSweptDef def = {.what = PN_SWEPT_EARLIEST};
    testExpectOk(pnCollideSwept(sweep, NULL, &def, list, NULL));
    assert_true(pnImpactList_GetEarliest(list).meets == first.meets && pnImpactList_GetEarliest(list).lo == first.lo);
    firsts += first.meets;
    def.what = PN_SWEPT_TRIANGLES;
    testExpectOk(pnCollideSwept(sweep, NULL, &def, list, NULL));
    for (size_t i = 0; i < pnImpactList_GetCount(list); ++i) {
      const pnFeatureImpact *f = &pnImpactList_GetImpacts(list)[i];
      assert_true(f->a < f->b && pnSoup_IsValid(soup, pnSoup_GetId(soup, f->a)) &&
                  pnSoup_IsValid(soup, pnSoup_GetId(soup, f->b)));
    }
    for (size_t i = 0; i < expected.count; ++i) {
      const pnFeatureImpact *f = &expected.list[i];
      bool edges = f->kind == PN_EDGE_WITH_EDGE;
      const uint32_t *e = pnSweep_GetEdges(sweep);
      uint32_t a = edges ? e[2 * f->a] / 3 : f->a / 3, b = edges ? e[2 * f->b] / 3 : f->b;
      bool found = false;
      for (size_t k = 0; k < pnImpactList_GetCount(list) && !found; ++k) {
        const pnFeatureImpact *pair = &pnImpactList_GetImpacts(list)[k];
        found = pair->a == (a < b ? a : b) && pair->b == (a < b ? b : a) && pair->lo <= f->hi;
      }
      assert_true(found);
    }
  }
  assert_true(total > 500 && firsts > 20);
  testExpectFailure(pnSweep_SetStep(sweep, (double[3]){0}, (double[3]){0}, 1), PN_ERROR_KIND, "ids");
  pnDestroyImpactList(list), pnDestroySweep(sweep), pnDestroySoup(soup);
  assert_int_equal(pnGetByteCount(), 0);
}

/* The next step begins where the last one ended. */
static void stepsGoOn(void **state) {
  (void)state;
  TestRandom random = testRandom(5);
  pnSoup *soup;
  pnSweep *one, *two;
  pnImpactList *a, *b;
  testExpectOk(pnCreateSoup(NULL, &soup));
  testExpectOk(pnCreateImpactList(&a)), testExpectOk(pnCreateImpactList(&b));
  for (int n = 0; n < 20; ++n) {
    float x[9];
    randomCorners(&random, x);
    testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, x, 1, NULL));
  }
  testExpectOk(pnCreateSoupSweep(soup, &one)), testExpectOk(pnCreateSoupSweep(soup, &two));
  for (int step = 0; step < 10; ++step) {
    testExpectOk(pnSweep_SetBegin(one, pnSoup_GetPose(soup)));
    if (step > 0) pnSweep_Advance(two);
    for (uint32_t p = 0; p < pnSoup_GetPlaceCount(soup); ++p) {
      pnPrimitiveId id = pnSoup_GetId(soup, p);
      float x[9];
      if (pnSoup_GetCorners(soup, id, x) == 0) continue;
      for (int i = 0; i < 9; ++i) x[i] += testFloat(&random, -0.3f, 0.3f);
      if (p % 7 == (uint32_t)step % 7) testExpectOk(pnSoup_Remove(soup, &id, 1));
      else testExpectOk(pnSoup_Replace(soup, &id, PN_PRIMITIVE_TRIANGLE, x, 1));
    }
    testExpectOk(pnSweep_SetEnd(one, pnSoup_GetPose(soup))), testExpectOk(pnSweep_SetEnd(two, pnSoup_GetPose(soup)));
    testExpectOk(pnCollideSwept(one, NULL, NULL, a, NULL)), testExpectOk(pnCollideSwept(two, NULL, NULL, b, NULL));
    assert_int_equal(pnImpactList_GetCount(a), pnImpactList_GetCount(b));
    for (size_t i = 0; i < pnImpactList_GetCount(a); ++i) {
      const pnFeatureImpact *p = &pnImpactList_GetImpacts(a)[i], *q = &pnImpactList_GetImpacts(b)[i];
      assert_true(compareImpacts(p, q) == 0 && p->lo == q->lo && p->hi == q->hi);
    }
  }
  pnDestroyImpactList(a), pnDestroyImpactList(b), pnDestroySweep(one), pnDestroySweep(two), pnDestroySoup(soup);
}

/* ---------------------------------------------------------------- in a world, by formula */

/* A splinter flies through a sheet at z = 0, from z = 3 to z = -1: met at t = 3/4. One that is cut on its way has come from nowhere: its
 * pieces stand, behind the sheet, and nothing is met. */
static void splinterThroughSheet(void **state) {
  (void)state;
  for (int cut = 0; cut < 2; ++cut) {
    pnMesh *sheet;
    testExpectOk(pnMakeGrid(4, 4, 8, 8, &sheet));
    pnSoup *soup;
    testExpectOk(pnCreateSoup(NULL, &soup));
    pnPrimitiveId id;
    testExpectOk(
        pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, (float[]){0.1f, 0.1f, 3, 0.3f, 0.1f, 3.5f, 0.1f, 0.3f, 3.5f}, 1, &id));
    pnWorldDef worldDef = pnDefaultWorldDef();
    pnWorld *world;
    testExpectOk(pnCreateWorld(&worldDef, &world));
    pnBodyDef def = pnDefaultBodyDef();
    pnBodyId bodies[2];
    def.mesh = sheet, def.kind = PN_BODY_STATIC;
    testExpectOk(pnWorld_CreateBody(world, &def, &bodies[0]));
    def = pnDefaultBodyDef();
    def.kind = PN_BODY_SOUP, def.soup = soup;
    testExpectOk(pnWorld_CreateBody(world, &def, &bodies[1]));
    testExpectOk(pnWorld_BeginStep(world));
    float end[9] = {0.1f, 0.1f, -1, 0.3f, 0.1f, -0.5f, 0.1f, 0.3f, -0.5f};
    testExpectOk(pnSoup_Replace(soup, &id, PN_PRIMITIVE_TRIANGLE, end, 1));
    pnPlane plane = {{0, 0, 1}, -0.75f};
    pnCut pieces;
    if (cut) testExpectOk(pnSoup_Cut(soup, id, &plane, &pieces)), assert_int_equal(pieces.belowCount, 1);
    pnStep step = pnWorld_CollideSwept(world, NULL);
    testExpectOk(step.result);
    assert_int_equal(step.contactCount, !cut);
    if (!cut)
      assert_true(step.earliest.lo <= 0.75 && step.earliest.hi >= 0.75 && step.earliest.hi - step.earliest.lo < 1e-6);
    assert_true(cut ? step.safe == 1 : fabs(step.safe - 0.75) < 1e-6);
    double safe;
    testExpectOk(pnWorld_FindSafeStep(world, 0.1, &safe));
    if (!cut) assert_true(safe <= 2.9 / 4 + 1e-6 && safe > 2.9 / 4 - 1e-4);
    /* all gone: nothing is met, and nothing falls over */
    pnPrimitiveId left[4];
    uint32_t count = 0;
    for (uint32_t p = 0; p < pnSoup_GetPlaceCount(soup); ++p) {
      pnPrimitiveId one = pnSoup_GetId(soup, p);
      if (pnSoup_IsValid(soup, one)) left[count++] = one;
    }
    testExpectOk(pnSoup_Remove(soup, left, count));
    step = pnWorld_CollideSwept(world, NULL);
    assert_true(step.result == PN_OK && step.contactCount == 0);
    pnDestroyWorld(world);
    pnDestroySoup(soup), pnDestroyMesh(sheet);
    assert_int_equal(pnGetByteCount(), 0);
  }
}

/* ---------------------------------------------------------------- memory */

static pnResult useMemory(void *context) {
  (void)context;
  pnSoup *soup = NULL;
  pnSweep *sweep = NULL;
  pnImpactList *list = NULL;
  float x[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  pnResult result = pnCreateSoup(NULL, &soup);
  if (!result) result = pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, x, 1, NULL);
  if (!result) result = pnCreateSoupSweep(soup, &sweep);
  if (!result) result = pnCreateImpactList(&list);
  for (int n = 0; n < 40 && !result; ++n) {
    x[2] = 0.01f * (float)n;
    result = pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, x, 1, NULL);
  }
  if (!result) result = pnSweep_SetEnd(sweep, pnSoup_GetPose(soup));
  if (!result) result = pnCollideSwept(sweep, NULL, NULL, list, NULL);
  pnDestroyImpactList(list), pnDestroySweep(sweep), pnDestroySoup(soup);
  return result;
}

static void memoryMayFail(void **state) {
  (void)state;
  assert_true(testEveryAllocationFailure(useMemory, NULL, false, true) > 20);
  assert_true(testEveryAllocationFailure(useMemory, NULL, true, true) > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everyFeatureOnce),
      cmocka_unit_test(stepsGoOn),
      cmocka_unit_test(splinterThroughSheet),
      cmocka_unit_test(memoryMayFail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
