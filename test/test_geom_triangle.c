/* test_geom_triangle.c: do two triangles meet? By hand, against the oracle, on a whole lattice, on public data. */
#include "support.h"

#include "geom/triangle.h"
#include "oracle.h"
#include "oracle_check.h"

#include <string.h>

/* ---------------------------------------------------------------- by hand */

typedef struct Known {
  const char *what;
  pnTriangle a, b;
  bool meet;
} Known;

static const Known known[] = {
    {"crossing", BASE, {{{1, 1, -1}, {1, 1, 1}, {3, 3, 1}}}, true},
    {"passing beside", BASE, {{{3, 3, -1}, {3, 3, 1}, {5, 5, 1}}}, false},
    {"parallel", BASE, {{{0, 0, 1}, {4, 0, 1}, {0, 4, 1}}}, false},
    {"a corner on the face", BASE, {{{1, 1, 0}, {1, 1, 1}, {2, 1, 1}}}, true},
    {"a corner just above the face", BASE, {{{1, 1, 0x1p-149f}, {1, 1, 1}, {2, 1, 1}}}, false},
    {"corner on corner", BASE, {{{4, 0, 0}, {5, 0, 1}, {5, 1, 1}}}, true},
    {"corner on edge", BASE, {{{2, 2, 0}, {3, 3, 1}, {3, 3, -1}}}, true},
    {"corner just off the edge", BASE, {{{2, 0x1.000002p1f, 0}, {3, 3, 1}, {3, 3, -1}}}, false},
    {"edge across edge", BASE, {{{2, 0, -1}, {2, 0, 1}, {2, -1, 0}}}, true},
    {"edge on face", BASE, {{{1, 1, 0}, {2, 1, 0}, {1, 1, 1}}}, true},
    {"edge through the plane, outside", BASE, {{{-1, 1, -1}, {-1, 1, 1}, {-2, 1, 0}}}, false},
    {"one plane, overlapping", BASE, {{{1, 1, 0}, {5, 1, 0}, {1, 5, 0}}}, true},
    {"one plane, apart", BASE, {{{5, 5, 0}, {9, 5, 0}, {5, 9, 0}}}, false},
    {"one plane, inside", BASE, {{{0.5f, 0.5f, 0}, {1, 0.5f, 0}, {0.5f, 1, 0}}}, true},
    {"one plane, corner on edge", BASE, {{{2, 2, 0}, {4, 3, 0}, {3, 4, 0}}}, true},
    {"one plane, edge along edge", BASE, {{{1, 3, 0}, {3, 1, 0}, {4, 4, 0}}}, true},
    {"one plane, edge beside edge on one line", BASE, {{{5, -1, 0}, {9, -5, 0}, {9, 9, 0}}}, false},
    {"a star of six", BASE, {{{3, 3, 0}, {-1, 3, 0}, {3, -1, 0}}}, true},
    {"the same", BASE, BASE, true},
    {"the same, turned over", BASE, {{{0, 4, 0}, {4, 0, 0}, {0, 0, 0}}}, true},
    {"a point on the face", BASE, {{{1, 1, 0}, {1, 1, 0}, {1, 1, 0}}}, true},
    {"a point on the edge", BASE, {{{2, 2, 0}, {2, 2, 0}, {2, 2, 0}}}, true},
    {"a point in the plane, outside", BASE, {{{3, 3, 0}, {3, 3, 0}, {3, 3, 0}}}, false},
    {"a point above", BASE, {{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}}, false},
    {"a segment through the face", BASE, {{{1, 1, -1}, {1, 1, 1}, {1, 1, 0.5f}}}, true},
    {"a segment short of the face", BASE, {{{1, 1, 2}, {1, 1, 1}, {1, 1, 0.5f}}}, false},
    {"a segment in the plane, across", BASE, {{{-1, 1, 0}, {9, 1, 0}, {2, 1, 0}}}, true},
    {"a segment in the plane, outside", BASE, {{{4, 4, 0}, {9, 1, 0}, {6.5f, 2.5f, 0}}}, false},
    {"a segment on an edge's line, beyond", BASE, {{{5, 0, 0}, {9, 0, 0}, {7, 0, 0}}}, false},
    {"two points, the same", {{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}}, {{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}}, true},
    {"two points", {{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}}, {{{1, 2, 4}, {1, 2, 4}, {1, 2, 4}}}, false},
    {"two segments, crossing", {{{0, 0, 0}, {2, 2, 2}, {1, 1, 1}}}, {{{0, 2, 1}, {2, 0, 1}, {2, 0, 1}}}, true},
    {"two segments, skew", {{{0, 0, 0}, {2, 2, 2}, {1, 1, 1}}}, {{{0, 2, 0}, {2, 0, 0}, {2, 0, 0}}}, false},
    {"two segments on a line, apart", {{{0, 0, 0}, {1, 1, 1}, {1, 1, 1}}}, {{{2, 2, 2}, {3, 3, 3}, {3, 3, 3}}}, false},
    {"two segments on a line, end to end",
     {{{0, 0, 0}, {1, 1, 1}, {1, 1, 1}}},
     {{{2, 2, 2}, {1, 1, 1}, {3, 3, 3}}},
     true},
    {"a point on a segment", {{{0, 0, 0}, {2, 4, 6}, {0, 0, 0}}}, {{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}}, true},
    {"minus zero is zero",
     {{{-0.0f, 0, -0.0f}, {4, -0.0f, 0}, {0, 4, 0}}},
     {{{0, 0, -0.0f}, {0, 0, 1}, {-1, 0, 1}}},
     true},
};

static void testKnown(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    const Known *k = &known[i];
    Case c = {k->a, k->b};
    oracleIntersect(&c.a, &c.b);
    if (oracleMeet() != k->meet) fail_msg("the oracle about '%s'", k->what);
    for (int how = 0; how < 72; ++how) {
      Case p = permuteCase(&c, how);
      for (int kernel = 0; kernel < PN_KERNEL_COUNT; ++kernel)
        if (pnTrianglesMeetBy((pnKernel)kernel, &p.a, &p.b) != k->meet)
          fail_msg("%s: kernel %d, permutation %d: expected %d", k->what, kernel, how, k->meet);
      assert_int_equal(pnTrianglesMeet(&p.a, &p.b), k->meet);
      assert_int_equal(pn_trianglesMeetExact(p.a.v[0], p.a.v[1], p.a.v[2], p.b.v[0], p.b.v[1], p.b.v[2]), k->meet);
    }
  }
}

/* ---------------------------------------------------------------- against the oracle */

/* At least 200 000 pairs of every kind together; each kind must hold pairs that meet and pairs that do not. */
static void testAgainstOracle(void **state) {
  (void)state;
  enum { EACH = 15000 };
  Random r = {1};
  long pairs = 0;
  for (int kind = 0; kind < CASE_KIND_COUNT; ++kind) {
    Tally tally = {0};
    for (int i = 0; i < EACH; ++i) {
      Case c = makeCase((CaseKind)kind, &r);
      if (!checkMeet(&c, &r, &tally)) fail_msg("%s, pair %d", caseName((CaseKind)kind), i);
    }
    pairs += tally.pairs;
    bool always = kind == CASE_IDENTICAL || kind == CASE_SHARED_CORNER || kind == CASE_SHARED_EDGE;
    assert_true(always ? tally.meet == EACH : tally.meet > EACH / 10 && tally.meet < EACH * 9 / 10);
  }
  print_message("           %ld pairs\n", pairs);
  assert_true(pairs >= 200000);
}

/* Every pair of triangles with corners on a small lattice: all ways of touching, all ways of having no area. */
static void latticePair(const int corners[6], const float (*lattice)[3], Case *c) {
  for (int i = 0; i < 3; ++i) {
    memcpy(c->a.v[i], lattice[corners[i]], sizeof c->a.v[i]);
    memcpy(c->b.v[i], lattice[corners[3 + i]], sizeof c->b.v[i]);
  }
}

static void checkLattice(const float (*lattice)[3], int size) {
  Random r = {2};
  Tally tally = {0};
  Case c;
  int i[6];
  /* Corners of a in order: the permutations come through checkMeet. */
  for (i[0] = 0; i[0] < size; ++i[0])
    for (i[1] = i[0]; i[1] < size; ++i[1])
      for (i[2] = i[1]; i[2] < size; ++i[2])
        for (i[3] = 0; i[3] < size; ++i[3])
          for (i[4] = i[3]; i[4] < size; ++i[4])
            for (i[5] = i[4]; i[5] < size; ++i[5]) {
              latticePair(i, lattice, &c);
              assert_true(checkMeet(&c, &r, &tally));
            }
  print_message("           %ld pairs, %ld meet\n", tally.pairs, tally.meet);
}

/* The corners of two cubes side by side, 0.1 wide: 0.1f and 0.2f are exact multiples of one another. */
static void testWholeBox(void **state) {
  (void)state;
  float lattice[12][3];
  for (int i = 0; i < 12; ++i) {
    lattice[i][0] = (float)(i % 3) * 0.1f, lattice[i][1] = (float)(i / 3 % 2) * 0.1f,
    lattice[i][2] = (float)(i / 6) * 0.1f;
  }
  checkLattice((const float(*)[3])lattice, 12);
}

/* 4 x 3 points of the plane z = x + 2 y. */
static void testWholeRectangle(void **state) {
  (void)state;
  float lattice[12][3];
  for (int i = 0; i < 12; ++i) {
    lattice[i][0] = (float)(i % 4), lattice[i][1] = (float)(i / 4);
    lattice[i][2] = lattice[i][0] + 2.0f * lattice[i][1];
  }
  checkLattice((const float(*)[3])lattice, 12);
}

/* ---------------------------------------------------------------- the kernels are worth having */

/* On ordinary pairs nothing is left to the exact test; on degenerate ones nearly everything is. */
static void testKernelsDecide(void **state) {
  (void)state;
  Random r = {3};
  int uncertain[2][2] = {{0}};
  for (int i = 0; i < 20000; ++i) {
    Case c[2] = {makeCase(CASE_RANDOM, &r), makeCase(CASE_LATTICE_PLANE, &r)};
    for (int k = 0; k < 2; ++k) {
      const float *a[3] = {c[k].a.v[0], c[k].a.v[1], c[k].a.v[2]}, *b[3] = {c[k].b.v[0], c[k].b.v[1], c[k].b.v[2]};
      uncertain[k][0] += pn_trianglesMeetMoller(a, b) == PN_UNCERTAIN;
      uncertain[k][1] += pn_trianglesMeetTropp(a, b) == PN_UNCERTAIN;
    }
  }
  assert_true(uncertain[0][0] <= 2 && uncertain[0][1] <= 2);
  assert_true(uncertain[1][0] > 19000 && uncertain[1][1] > 19000);
}

/* ---------------------------------------------------------------- public vectors */

static void checkVectors(const char *file, bool meet) {
  char name[128];
  snprintf(name, sizeof name, "jgt-tritri/tri_tri_test/data/%s", file);
  const char *path = testDataPath(name);
  if (path == NULL) return;
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  Random r = {4};
  Tally tally = {0};
  Case c;
  for (;;) {
    int got = 0;
    for (int i = 0; i < 18; ++i) {
      float *x = i < 9 ? &c.a.v[i / 3][i % 3] : &c.b.v[(i - 9) / 3][i % 3];
      got += fscanf(f, "%f", x) == 1;
    }
    if (got < 18) break;
    assert_true(checkMeet(&c, &r, &tally));
    assert_int_equal(pnTrianglesMeet(&c.a, &c.b), meet);
  }
  fclose(f);
  assert_int_equal(tally.pairs, 5000);
}

static void testVectors(void **state) {
  (void)state;
  checkVectors("intersected.txt", true);
  checkVectors("separated.txt", false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testKnown),          cmocka_unit_test(testAgainstOracle), cmocka_unit_test(testWholeBox),
      cmocka_unit_test(testWholeRectangle), cmocka_unit_test(testKernelsDecide), cmocka_unit_test(testVectors),
  };
  return cmocka_run_group_tests(tests, oracleSetUp, oracleTearDown);
}
