/* test_collide_swept.c: what meets between two poses, against every pair of features asked one by one. */
#include "support.h"

#include "moving.h"
#include "oracle_cases.h"
#include "oracle_impact.h"
#include "pinch/collide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- bodies */

enum { MAX_VERTICES = 200, MAX_TRIANGLES = 200, MAX_IMPACTS = 60000 };

typedef struct Body {
  uint32_t vertexCount, triangleCount;
  double from[MAX_VERTICES][3], to[MAX_VERTICES][3];
  uint32_t triangles[MAX_TRIANGLES][3];
  pnMesh *mesh;
  pnSweep *sweep;
} Body;

/* A body that is made: a mesh, a sweep with its step. */
static void finish(Body *b, bool weld) {
  static float rest[MAX_VERTICES][3];
  for (uint32_t i = 0; i < 3 * b->vertexCount; ++i) rest[i / 3][i % 3] = (float)b->from[i / 3][i % 3];
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = rest[0], def.vertexCount = b->vertexCount;
  def.triangles = b->triangles[0], def.triangleCount = b->triangleCount;
  def.weld = weld;
  testExpectOk(pnCreateMesh(&def, &b->mesh));
  testExpectOk(pnCreateSweep(b->mesh, &b->sweep));
  testExpectOk(pnSweep_SetStep(b->sweep, b->from[0], b->to[0], b->vertexCount));
}

static void freeBody(Body *b) {
  pnDestroySweep(b->sweep);
  pnDestroyMesh(b->mesh);
}

/* A coordinate: on a lattice, where everything touches, or anywhere. */
static double coordinate(Random *r, int sort) {
  return sort == 0 ? randomBelow(r, 4) : sort == 1 ? (float)randomBetween(r, 0, 4) : randomBetween(r, 0, 4);
}

/* Triangles over random vertices, some of them used by many, some without area. */
static void makeRandom(Body *b, Random *r, int sort, double motion) {
  b->vertexCount = 24 + (uint32_t)randomBelow(r, 30);
  b->triangleCount = 12 + (uint32_t)randomBelow(r, 30);
  for (uint32_t i = 0; i < 3 * b->vertexCount; ++i) {
    double x = coordinate(r, sort);
    b->from[i / 3][i % 3] = x;
    b->to[i / 3][i % 3] = sort == 0 ? x + randomBelow(r, 3) - 1 : x + randomBetween(r, -motion, motion);
  }
  for (uint32_t t = 0; t < b->triangleCount; ++t)
    for (int k = 0; k < 3; ++k) b->triangles[t][k] = (uint32_t)randomBelow(r, (int)b->vertexCount);
}

/* ---------------------------------------------------------------- one by one */

typedef struct Brute {
  size_t count;
  pnFeatureImpact list[MAX_IMPACTS];
} Brute;

static Brute brute;

/* By the definition: the same, or welded and at one place at both ends. */
static bool isOne(const Body *s, uint32_t v, uint32_t w) {
  const uint32_t *weld = pnMesh_GetWeld(s->mesh);
  return v == w || (weld[v] == weld[w] && memcmp(s->from[v], s->from[w], sizeof s->from[v]) == 0 &&
                    memcmp(s->to[v], s->to[w], sizeof s->to[v]) == 0);
}

static bool share(const Body *s, const uint32_t *v, int n, const uint32_t *w, int m) {
  for (int i = 0; i < n * m; ++i)
    if (isOne(s, v[i / m], w[i % m])) return true;
  return false;
}

static void addBrute(pnFeatureKind kind, uint32_t a, uint32_t b, pnImpactSpan span) {
  assert_true(brute.count < MAX_IMPACTS);
  if (span.meets) brute.list[brute.count++] = (pnFeatureImpact){kind, a, b, span.lo, span.hi};
}

static pnImpactSpan askFour(bool edges, const Body *s, const uint32_t *v, int n, const Body *t, const uint32_t *w) {
  pnMovingDouble p;
  for (int i = 0; i < 4; ++i) {
    const Body *b = i < n ? s : t;
    uint32_t x = i < n ? v[i] : w[i - n];
    memcpy(p.from[i], b->from[x], sizeof p.from[i]);
    memcpy(p.to[i], b->to[x], sizeof p.to[i]);
  }
  return edges ? pnImpactEdgeEdgeDouble(&p) : pnImpactVertexFaceDouble(&p);
}

static bool isUsed(const Body *s, uint32_t v) {
  for (uint32_t i = 0; i < 3 * s->triangleCount; ++i)
    if (s->triangles[i / 3][i % 3] == v) return true;
  return false;
}

static void bruteVertices(const Body *s, const Body *t, pnFeatureKind kind) {
  for (uint32_t v = 0; v < s->vertexCount; ++v) {
    for (uint32_t f = 0; f < t->triangleCount && isUsed(s, v); ++f) {
      if (s == t && share(s, &v, 1, t->triangles[f], 3)) continue;
      pnImpactSpan span = askFour(false, s, &v, 1, t, t->triangles[f]);
      if (kind == PN_FACE_WITH_VERTEX) addBrute(kind, f, v, span);
      else addBrute(kind, v, f, span);
    }
  }
}

static void bruteEdges(const Body *s, const Body *t) {
  const uint32_t *e = pnSweep_GetEdges(s->sweep), *g = pnSweep_GetEdges(t->sweep);
  for (uint32_t i = 0; i < pnSweep_GetEdgeCount(s->sweep); ++i) {
    for (uint32_t j = s == t ? i + 1 : 0; j < pnSweep_GetEdgeCount(t->sweep); ++j) {
      if (s == t && share(s, e + 2 * i, 2, g + 2 * j, 2)) continue;
      addBrute(PN_EDGE_WITH_EDGE, i, j, askFour(true, s, e + 2 * i, 2, t, g + 2 * j));
    }
  }
}

static int compareImpacts(const void *a, const void *b) {
  const pnFeatureImpact *x = a, *y = b;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  return x->b < y->b ? -1 : x->b > y->b;
}

static void bruteAll(const Body *s, const Body *t) {
  brute.count = 0;
  bruteVertices(s, t, PN_VERTEX_WITH_FACE);
  if (s != t) bruteVertices(t, s, PN_FACE_WITH_VERTEX);
  bruteEdges(s, t);
  qsort(brute.list, brute.count, sizeof *brute.list, compareImpacts);
}

/* ---------------------------------------------------------------- all, earliest, triangles */

static void expectSame(const pnImpactList *list) {
  assert_int_equal(pnImpactList_GetCount(list), brute.count);
  const pnFeatureImpact *got = pnImpactList_GetImpacts(list);
  for (size_t i = 0; i < brute.count; ++i) {
    assert_int_equal(compareImpacts(&got[i], &brute.list[i]), 0);
    assert_true(got[i].lo == brute.list[i].lo && got[i].hi == brute.list[i].hi);
  }
}

static pnImpactSpan bruteEarliest(void) {
  pnImpactSpan first = {.meets = brute.count > 0, .lo = brute.count > 0, .hi = brute.count > 0};
  for (size_t i = 0; i < brute.count; ++i) {
    first.lo = fmin(first.lo, brute.list[i].lo);
    first.hi = fmin(first.hi, brute.list[i].hi);
  }
  return first;
}

/* Triangles that share no vertex: their first time is 0 when they meet at the begin, else the first of their features. */
static void checkTriangles(const Body *s, const Body *t, const pnImpactList *list) {
  size_t at = 0;
  const pnFeatureImpact *got = pnImpactList_GetImpacts(list);
  for (uint32_t m = 0; m < s->triangleCount; ++m) {
    for (uint32_t n = s == t ? m + 1 : 0; n < t->triangleCount; ++n) {
      const uint32_t *f = s->triangles[m], *g = t->triangles[n];
      bool listed =
          at < pnImpactList_GetCount(list) && got[at].kind == PN_FACE_WITH_FACE && got[at].a == m && got[at].b == n;
      const pnFeatureImpact *here = &got[at];
      at += listed;
      if (s == t && share(s, f, 3, g, 3)) continue;
      pnTriangle a, b;
      for (int k = 0; k < 9; ++k)
        a.v[k / 3][k % 3] = (float)s->from[f[k / 3]][k % 3], b.v[k / 3][k % 3] = (float)t->from[g[k / 3]][k % 3];
      pnImpactSpan first = {.meets = pnTrianglesMeet(&a, &b)};
      if (!first.meets) first.lo = first.hi = 2;
      for (int k = 0; k < 3 && first.lo > 0; ++k) {
        pnImpactSpan x = askFour(false, s, &f[k], 1, t, g), y = askFour(false, t, &g[k], 1, s, f);
        if (x.meets) first = (pnImpactSpan){true, fmin(first.lo, x.lo), fmin(first.hi, x.hi)};
        if (y.meets) first = (pnImpactSpan){true, fmin(first.lo, y.lo), fmin(first.hi, y.hi)};
      }
      for (int k = 0; k < 9 && first.lo > 0; ++k) {
        uint32_t e[2] = {f[k / 3], f[(k / 3 + 1) % 3]}, h[2] = {g[k % 3], g[(k % 3 + 1) % 3]};
        pnImpactSpan x = askFour(true, s, e, 2, t, h);
        if (x.meets) first = (pnImpactSpan){true, fmin(first.lo, x.lo), fmin(first.hi, x.hi)};
      }
      assert_int_equal(listed, first.meets);
      if (listed) assert_true(here->lo <= first.hi && here->hi >= first.lo && here->hi - here->lo < 1e-6);
    }
  }
  assert_int_equal(at, pnImpactList_GetCount(list));
}

static void checkBodies(Body *s, Body *t, bool floats) {
  pnImpactList *list;
  testExpectOk(pnCreateImpactList(&list));
  bruteAll(s, t);
  pnImpactSpan first = bruteEarliest();
  pnSweep *other = s == t ? NULL : t->sweep;
  pnPool *pool = NULL;
  testExpectOk(pnCreatePool(3, &pool));
  for (int threads = 0; threads < 2; ++threads) {
    pnSweptDef def = pnDefaultSweptDef();
    if (threads) def.tasks = pnPool_GetTasks(pool);
    pnCost cost;
    testExpectOk(pnCollideSwept(s->sweep, other, &def, list, &cost));
    expectSame(list);
    assert_int_equal(cost.pairs, brute.count);
    pnImpactSpan all = pnImpactList_GetEarliest(list);
    assert_true(all.meets == first.meets && all.lo == first.lo && all.hi == first.hi);
    def.what = PN_SWEPT_EARLIEST;
    testExpectOk(pnCollideSwept(s->sweep, other, &def, list, NULL));
    all = pnImpactList_GetEarliest(list);
    assert_true(all.meets == first.meets && all.lo == first.lo && all.hi == first.hi);
    assert_int_equal(pnImpactList_GetCount(list), first.meets);
    if (first.meets) assert_true(pnImpactList_GetImpacts(list)->hi == first.hi);
    def.what = PN_SWEPT_TRIANGLES;
    testExpectOk(pnCollideSwept(s->sweep, other, &def, list, NULL));
    if (floats) checkTriangles(s, t, list);
  }
  pnDestroyPool(pool);
  pnDestroyImpactList(list);
}

static void testTwoBodies(void **state) {
  (void)state;
  Random r = {41};
  size_t met = 0;
  for (int n = 0; n < 24; ++n) {
    static Body a, b;
    double motion = n % 4 == 3 ? 1e-3 : 1;
    makeRandom(&a, &r, n % 3, motion), makeRandom(&b, &r, n % 3, motion);
    finish(&a, false), finish(&b, false);
    checkBodies(&a, &b, n % 3 < 2);
    met += brute.count;
    freeBody(&a), freeBody(&b);
  }
  assert_true(met > 1000);
}

static void testItself(void **state) {
  (void)state;
  Random r = {42};
  size_t met = 0;
  for (int n = 0; n < 24; ++n) {
    static Body a;
    makeRandom(&a, &r, n % 3, n % 4 == 3 ? 1e-3 : 1);
    /* copies of vertices that move along, and some that are left behind */
    for (uint32_t i = 0; n % 2 && i < 6; ++i) {
      uint32_t v = (uint32_t)randomBelow(&r, (int)a.vertexCount), w = (uint32_t)randomBelow(&r, (int)a.vertexCount);
      memcpy(a.from[v], a.from[w], sizeof a.from[v]);
      if (i % 3) memcpy(a.to[v], a.to[w], sizeof a.to[v]);
    }
    finish(&a, n % 2);
    checkBodies(&a, &a, n % 3 < 2);
    met += brute.count;
    freeBody(&a);
  }
  assert_true(met > 1000);
}

/* ---------------------------------------------------------------- steps and poses */

/* Begin and end from poses of any kind are their vertices; the next step begins where the last ended. */
static void testPoses(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(1, 1.0f, &mesh));
  uint32_t n = pnMesh_GetVertexCount(mesh);
  float *values = malloc(3 * n * sizeof *values), *got = malloc(3 * n * sizeof *got);
  double *begin = malloc(3 * n * sizeof *begin), *end = malloc(3 * n * sizeof *end);
  for (uint32_t i = 0; i < 3 * n; ++i) values[i] = -2.5f * pnMesh_GetVertices(mesh)[i]; /* inside out */
  pnMorphTarget target = {.count = n, .values = values};
  pnMorphDef morphDef = pnDefaultMorphDef();
  morphDef.mesh = mesh, morphDef.targets = &target, morphDef.targetCount = 1;
  pnMorph *morph;
  testExpectOk(pnCreateMorph(&morphDef, &morph));
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = mesh, poseDef.morph = morph;
  pnPose *pose;
  testExpectOk(pnCreatePose(&poseDef, &pose));
  pnSweep *sweep, *same;
  pnImpactList *list, *other;
  testExpectOk(pnCreateSweep(mesh, &sweep)), testExpectOk(pnCreateSweep(mesh, &same));
  testExpectOk(pnCreateImpactList(&list)), testExpectOk(pnCreateImpactList(&other));
  TestRandom random = testRandom(3);
  pnMatrix turn = testRotation(&random, 1.0f);
  testExpectOk(pnPose_SetTransform(pose, &turn));
  testExpectOk(pnSweep_SetBegin(sweep, pose));
  pnPose_GetVertices(pose, got);
  for (uint32_t i = 0; i < 3 * n; ++i) begin[i] = got[i];
  testExpectOk(pnPose_SetWeights(pose, (float[]){1}, 1));
  testExpectOk(pnSweep_SetEnd(sweep, pose));
  pnPose_GetVertices(pose, got);
  for (uint32_t i = 0; i < 3 * n; ++i) end[i] = got[i];
  testExpectOk(pnSweep_SetStep(same, begin, end, n));
  testExpectOk(pnCollideSwept(sweep, NULL, NULL, list, NULL));
  testExpectOk(pnCollideSwept(same, NULL, NULL, other, NULL));
  assert_int_equal(pnImpactList_GetCount(list), pnImpactList_GetCount(other));
  assert_true(pnImpactList_GetCount(list) > 0);
  /* v (1 - 2.5 t): all go through the middle at t = 0.4, up to the rounding of the turned vertices */
  pnImpactSpan first = pnImpactList_GetEarliest(list);
  assert_true(first.lo < 0.4 + 1e-6 && first.hi > 0.4 - 1e-6);
  /* nothing moves in the next step */
  pnSweep_Advance(sweep);
  testExpectOk(pnCollideSwept(sweep, NULL, NULL, list, NULL));
  assert_int_equal(pnImpactList_GetCount(list), 0);
  /* what is refused */
  testExpectFailure(pnSweep_SetStep(same, begin, end, n - 1), PN_ERROR_COUNT, "vertices");
  begin[7] = NAN;
  testExpectFailure(pnSweep_SetStep(same, begin, end, n), PN_ERROR_NUMBER, "vertex 2");
  begin[7] = 1e39;
  testExpectFailure(pnSweep_SetStep(same, begin, end, n), PN_ERROR_NUMBER, "vertex 2");
  pnSweptDef wrong = {.what = PN_SWEPT_COUNT};
  testExpectFailure(pnCollideSwept(same, NULL, &wrong, list, NULL), PN_ERROR_ARGUMENT, "swept");
  pnDestroyImpactList(list), pnDestroyImpactList(other), pnDestroySweep(sweep), pnDestroySweep(same);
  pnDestroyPose(pose), pnDestroyMorph(morph), pnDestroyMesh(mesh);
  free(values), free(got), free(begin), free(end);
}

/* Nothing at all, and a tree that was built for a small step and must follow a large one. */
static void testSteps(void **state) {
  (void)state;
  pnMeshDef def = pnDefaultMeshDef();
  pnMesh *mesh;
  pnSweep *sweep;
  pnImpactList *list;
  testExpectOk(pnCreateImpactList(&list));
  testExpectOk(pnCreateMesh(&def, &mesh));
  testExpectOk(pnCreateSweep(mesh, &sweep));
  testExpectOk(pnCollideSwept(sweep, NULL, NULL, list, NULL));
  assert_int_equal(pnImpactList_GetCount(list), 0);
  pnDestroySweep(sweep), pnDestroyMesh(mesh);
  Random r = {43};
  static Body a;
  makeRandom(&a, &r, 2, 1e-3);
  finish(&a, false);
  for (int step = 0; step < 6; ++step) {
    for (uint32_t i = 0; i < 3 * a.vertexCount; ++i) {
      a.from[i / 3][i % 3] = randomBetween(&r, 0, 1 + 30 * step);
      a.to[i / 3][i % 3] = randomBetween(&r, 0, 1 + 30 * step);
    }
    testExpectOk(pnSweep_SetStep(a.sweep, a.from[0], a.to[0], a.vertexCount));
    checkBodies(&a, &a, false);
  }
  freeBody(&a);
  pnDestroyImpactList(list);
}

/* ---------------------------------------------------------------- memory */

static pnResult useMemory(void *context) {
  (void)context;
  pnMesh *mesh = NULL;
  pnSweep *sweep = NULL;
  pnImpactList *list = NULL;
  pnResult result = pnMakeIcosphere(1, 1.0f, &mesh);
  if (!result) result = pnCreateSweep(mesh, &sweep);
  if (!result) result = pnCreateImpactList(&list);
  uint32_t n = result ? 0 : pnMesh_GetVertexCount(mesh);
  static double begin[3 * 200], end[3 * 200];
  for (uint32_t i = 0; i < 3 * n; ++i)
    begin[i] = pnMesh_GetVertices(mesh)[i], end[i] = begin[i] + (i % 5 == 0 ? 0.7 : 0.0);
  if (!result) result = pnSweep_SetStep(sweep, begin, end, n);
  for (int what = 0; !result && what < PN_SWEPT_COUNT; ++what) {
    pnSweptDef def = {.what = (pnSweptWhat)what};
    result = pnCollideSwept(sweep, NULL, &def, list, NULL);
  }
  pnDestroyImpactList(list), pnDestroySweep(sweep), pnDestroyMesh(mesh);
  return result;
}

static void testMemory(void **state) {
  (void)state;
  assert_true(testEveryAllocationFailure(useMemory, NULL, false, true) > 20);
  assert_true(testEveryAllocationFailure(useMemory, NULL, true, true) > 20);
}

/* ---------------------------------------------------------------- turns */

/* Turned about an axis through the origin, by Rodrigues' formula; axes of length `size`. */
static pnMatrix turnAbout(const double axis[3], double x, double size) {
  double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]), u[3];
  for (int i = 0; i < 3; ++i) u[i] = axis[i] / length;
  pnMatrix m = {0};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) {
      int third = 3 - i - k;
      double cross = i == k ? 0 : ((k - i + 3) % 3 == 1 ? -u[third] : u[third]);
      m.m[i][k] = (float)(size * ((i == k ? cos(x) : 0) + (1 - cos(x)) * u[i] * u[k] + sin(x) * cross));
    }
  return m;
}

/* How far a chord is from its arc: measured, it is what the bound says, and parts make it as small as asked for. */
static void testTurns(void **state) {
  (void)state;
  TestRandom random = testRandom(3);
  for (int round = 0; round < 200; ++round) {
    double axis[3], x = testFloat(&random, 0.001f, 3.14f), radius = testFloat(&random, 0.1f, 10);
    for (int i = 0; i < 3; ++i) axis[i] = testFloat(&random, -1, 1);
    if (fabs(axis[0]) + fabs(axis[1]) + fabs(axis[2]) < 0.1) continue;
    double start = testFloat(&random, -3, 3);
    pnMatrix p = turnAbout(axis, start, 0.3), q = turnAbout(axis, start + x, 7);
    assert_true(fabs(pnGetTurn(&p, &q) - x) < 1e-5);
    double tolerance = radius * testFloat(&random, 0.001f, 0.5f), worst = 0;
    uint32_t parts = pnCountStepParts(x, radius, tolerance);
    for (int k = 0; k <= 1000; ++k) {
      /* the chord of the first part, at its point t, is nearer to the axis than the arc by this */
      double t = k / 1000.0, y = x / parts;
      double cx = (1 - t) + t * cos(y), cy = t * sin(y);
      worst = fmax(worst, radius * (1 - sqrt(cx * cx + cy * cy)));
    }
    double bound = pnBoundChord(x, radius, parts);
    assert_true(worst <= bound * (1 + 1e-9) && worst > bound * 0.99 && bound <= tolerance);
    assert_true(parts == 1 || pnBoundChord(x, radius, parts - 1) > tolerance);
  }
  pnMatrix none = {0}, one = pnMatrix_Identity();
  assert_true(pnGetTurn(&none, &one) == 0 && pnGetTurn(&one, &one) == 0);
  assert_int_equal(pnCountStepParts(0, 1, 0.1), 1);
  assert_int_equal(pnCountStepParts(3, 1, 1), 1);
}

/* A rod that turns by 150 degrees about an axle which it never meets. In one step its chord goes through the axle; in as many
 * parts as keep it off the axle by the bound it does not. And a post on its arc is met, at the time of the formula. */
static void testParts(void **state) {
  (void)state;
  const double turn = 150 * 3.14159265358979 / 180, inner = 0.5;
  pnMesh *axle, *rod;
  testExpectOk(pnMakeIcosphere(2, 0.3f, &axle));
  float v[] = {0.5f, 0, -0.1f, 1, 0, -0.1f, 1, 0, 0.1f, 0.5f, 0, 0.1f};
  const uint32_t t[] = {0, 1, 2, 0, 2, 3};
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = v, def.vertexCount = 4, def.triangles = t, def.triangleCount = 2;
  testExpectOk(pnCreateMesh(&def, &rod));
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = rod;
  pnPose *pose;
  pnSweep *still, *moving;
  pnImpactList *list;
  testExpectOk(pnCreatePose(&poseDef, &pose)), testExpectOk(pnCreateImpactList(&list));
  testExpectOk(pnCreateSweep(axle, &still)), testExpectOk(pnCreateSweep(rod, &moving));
  /* the rod is farther than 0.5 from the axis: off by less than 0.2 it stays outside the axle's 0.3 */
  uint32_t needed = pnCountStepParts(turn, inner, 0.2 * 0.999);
  assert_true(needed > 1 && needed < 4);
  for (uint32_t parts = 1; parts <= needed; ++parts) {
    bool met = false;
    for (uint32_t k = 0; k <= parts; ++k) {
      pnMatrix m = turnAbout((double[]){0, 0, 1}, turn * k / parts, 1);
      testExpectOk(pnPose_SetTransform(pose, &m));
      if (k > 0) testExpectOk(pnSweep_SetEnd(moving, pose));
      else testExpectOk(pnSweep_SetBegin(moving, pose));
      if (k == 0) continue;
      testExpectOk(pnCollideSwept(still, moving, NULL, list, NULL));
      met |= pnImpactList_GetEarliest(list).meets;
      pnSweep_Advance(moving);
    }
    if (parts == 1) assert_true(met);
    if (parts == needed) assert_false(met);
  }
  pnDestroyImpactList(list), pnDestroySweep(still), pnDestroySweep(moving), pnDestroyPose(pose);
  pnDestroyMesh(axle), pnDestroyMesh(rod);
}

/* Why the proofs of discrete self queries do not hold for motion: a flat sheet, and a fan of six triangles, turned in their
 * plane by half a turn. Neither meets itself before or behind; half-way all of it is one point. */
static void testHalfTurn(void **state) {
  (void)state;
  for (int fan = 0; fan < 2; ++fan) {
    pnMesh *mesh;
    if (fan) {
      float v[7][3] = {{0}};
      uint32_t t[6][3];
      for (int i = 0; i < 6; ++i) {
        v[i + 1][0] = (float)cos(i * 1.0471975512), v[i + 1][1] = (float)sin(i * 1.0471975512);
        t[i][0] = 0, t[i][1] = (uint32_t)i + 1, t[i][2] = (uint32_t)(i + 1) % 6 + 1;
      }
      pnMeshDef def = pnDefaultMeshDef();
      def.vertices = v[0], def.vertexCount = 7, def.triangles = t[0], def.triangleCount = 6;
      testExpectOk(pnCreateMesh(&def, &mesh));
    } else {
      testExpectOk(pnMakeGrid(2, 2, 6, 6, &mesh));
    }
    pnPoseDef poseDef = pnDefaultPoseDef();
    poseDef.mesh = mesh;
    pnPose *pose;
    pnTree *tree;
    pnSweep *sweep;
    pnImpactList *list;
    testExpectOk(pnCreatePose(&poseDef, &pose));
    pnTreeDef treeDef = pnDefaultTreeDef();
    treeDef.pose = pose;
    testExpectOk(pnCreateTree(&treeDef, &tree)), testExpectOk(pnCreateSweep(mesh, &sweep));
    testExpectOk(pnCreateImpactList(&list));
    for (int end = 0; end < 2; ++end) {
      pnMatrix m = pnMatrix_Identity();
      if (end) m.m[0][0] = m.m[1][1] = -1;
      testExpectOk(pnPose_SetTransform(pose, &m));
      pnCost cost;
      testExpectOk(pnCollideSelf(tree, NULL, NULL, &cost));
      assert_int_equal(cost.pairs, 0);
      if (end) testExpectOk(pnSweep_SetEnd(sweep, pose));
      else testExpectOk(pnSweep_SetBegin(sweep, pose));
    }
    testExpectOk(pnCollideSwept(sweep, NULL, NULL, list, NULL));
    pnImpactSpan first = pnImpactList_GetEarliest(list);
    assert_true(first.meets && first.lo <= 0.5 && first.hi >= 0.5 && first.hi - first.lo < 1e-6);
    /* every vertex with every face that does not have it, half-way at the latest */
    uint32_t n = pnMesh_GetVertexCount(mesh), faces = pnMesh_GetTriangleCount(mesh);
    size_t vertexFace = 0;
    for (size_t i = 0; i < pnImpactList_GetCount(list); ++i)
      vertexFace += pnImpactList_GetImpacts(list)[i].kind == PN_VERTEX_WITH_FACE;
    assert_int_equal(vertexFace, (size_t)faces * (n - 3));
    pnDestroyImpactList(list), pnDestroySweep(sweep), pnDestroyTree(tree), pnDestroyPose(pose), pnDestroyMesh(mesh);
  }
}

/* ---------------------------------------------------------------- public scenes */

static void checkScene(const char *name, const char *path) {
  const char *file = testDataPath(path);
  if (!file) return;
  char folder[1024];
  snprintf(folder, sizeof folder, "%.*s", (int)(strstr(file, "/scalable-ccd-data") - file), file);
  pnMovingScene s;
  assert_true(pnReadMovingScene(folder, name, &s));
  float *rest = malloc(3 * s.vertexCount * sizeof *rest);
  for (size_t i = 0; i < 3 * (size_t)s.vertexCount; ++i) rest[i] = (float)s.from[i / 3][i % 3];
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = rest, def.vertexCount = s.vertexCount, def.weld = false;
  def.triangles = s.triangles[0], def.triangleCount = s.triangleCount;
  pnMesh *mesh;
  pnSweep *sweep;
  pnImpactList *list;
  testExpectOk(pnCreateMesh(&def, &mesh)), testExpectOk(pnCreateSweep(mesh, &sweep)),
      testExpectOk(pnCreateImpactList(&list));
  testExpectOk(pnSweep_SetStep(sweep, s.from[0], s.to[0], s.vertexCount));
  testExpectOk(pnCollideSwept(sweep, NULL, NULL, list, NULL));
  assert_int_equal(pnImpactList_GetCount(list), s.truthCount[0] + s.truthCount[1]);
  for (size_t i = 0; i < pnImpactList_GetCount(list); ++i) {
    const pnFeatureImpact *f = &pnImpactList_GetImpacts(list)[i];
    bool edges = i >= s.truthCount[0];
    const uint32_t *truth = s.truth[edges][edges ? i - s.truthCount[0] : i];
    assert_true(f->kind == (edges ? PN_EDGE_WITH_EDGE : PN_VERTEX_WITH_FACE) && f->a == truth[0] && f->b == truth[1]);
    if (i % 293 != 0) continue;
    /* never late, nor early: one in so many is looked at in whole numbers of any length */
    const uint32_t *e = s.edges[edges ? f->a : 0], *g = s.edges[edges ? f->b : 0],
                   *face = s.triangles[edges ? 0 : f->b];
    const uint32_t ee[4] = {e[0], e[1], g[0], g[1]}, vf[4] = {f->a, face[0], face[1], face[2]};
    pnMovingDouble p;
    for (int k = 0; k < 12; ++k) {
      uint32_t vertex = (edges ? ee : vf)[k / 3];
      p.from[k / 3][k % 3] = s.from[vertex][k % 3], p.to[k / 3][k % 3] = s.to[vertex][k % 3];
    }
    assert_true(oracleSpan(edges, &p, (pnImpactSpan){true, f->lo, f->hi}));
  }
  pnDestroyImpactList(list), pnDestroySweep(sweep), pnDestroyMesh(mesh);
  free(rest);
  pnFreeMovingScene(&s);
}

static void testScenes(void **state) {
  (void)state;
  checkScene("cloth-ball", "scalable-ccd-data/cloth-ball/boxes/92ee.json");
  checkScene("rod-twist", "scalable-ccd-data/rod-twist/boxes/3036ee.json");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testTwoBodies), cmocka_unit_test(testItself), cmocka_unit_test(testPoses),
      cmocka_unit_test(testSteps),     cmocka_unit_test(testMemory), cmocka_unit_test(testScenes),
      cmocka_unit_test(testHalfTurn),  cmocka_unit_test(testTurns),  cmocka_unit_test(testParts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
