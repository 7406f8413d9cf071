/* test_geom_beyond.c: neighbours. Do two triangles meet in more than the vertex or edge they share? */
#include "support.h"

#include "geom/triangle.h"
#include "oracle.h"
#include "oracle_check.h"

#include <string.h>

/* ---------------------------------------------------------------- by hand */

typedef struct Known {
  const char *what;
  pnTriangle a, b;
  int shared; /* the first corners: 1 or 2 */
  bool beyond;
} Known;

static const Known known[] = {
    /* One corner, the first. */
    {"fan, different planes", BASE, {{{0, 0, 0}, {-1, 0, 1}, {-1, -1, 1}}}, 1, false},
    {"through the face from the corner", BASE, {{{0, 0, 0}, {2, 2, 1}, {2, 2, -1}}}, 1, true},
    {"through the plane, away from the face", BASE, {{{0, 0, 0}, {-2, -2, 1}, {-2, -2, -1}}}, 1, false},
    {"through the plane, beside the face", BASE, {{{0, 0, 0}, {2, -1, 1}, {2, -1, -1}}}, 1, false},
    {"longer than the face", BASE, {{{0, 0, 0}, {9, 9, 1}, {9, 9, -1}}}, 1, true},
    {"an edge on the face", BASE, {{{0, 0, 0}, {1, 1, 0}, {1, 1, 1}}}, 1, true},
    {"an edge along an edge", BASE, {{{0, 0, 0}, {1, 0, 0}, {1, 0, 1}}}, 1, true},
    {"an edge along an edge, the other way", BASE, {{{0, 0, 0}, {-1, 0, 0}, {-1, 0, 1}}}, 1, false},
    {"another corner in the same place", BASE, {{{0, 0, 0}, {4, 0, 0}, {4, 0, 1}}}, 1, true},
    {"one plane, neighbouring angle", BASE, {{{0, 0, 0}, {-1, 1, 0}, {-2, 1, 0}}}, 1, false},
    {"one plane, a common ray", BASE, {{{0, 0, 0}, {0, 9, 0}, {-1, 9, 0}}}, 1, true},
    {"one plane, inside", BASE, {{{0, 0, 0}, {2, 1, 0}, {1, 2, 0}}}, 1, true},
    {"one plane, around", {{{0, 0, 0}, {2, 1, 0}, {1, 2, 0}}}, BASE, 1, true},
    {"one plane, opposite", BASE, {{{0, 0, 0}, {-2, -1, 0}, {-1, -2, 0}}}, 1, false},
    {"b is the corner itself", BASE, {{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}}, 1, false},
    {"b is a segment into the face", BASE, {{{0, 0, 0}, {1, 1, 0}, {0, 0, 0}}}, 1, true},
    {"b is a segment away", BASE, {{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}}}, 1, false},
    {"b is a segment through the corner, in the plane", BASE, {{{0, 0, 0}, {1, 1, 0}, {-1, -1, 0}}}, 1, true},
    {"b is a segment through the corner, outside", BASE, {{{0, 0, 0}, {1, -1, 0}, {-1, 1, 0}}}, 1, false},
    {"two segments, opposite", {{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}}}, {{{0, 0, 0}, {-1, -1, -1}, {0, 0, 0}}}, 1, false},
    {"two segments, same way", {{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}}}, {{{0, 0, 0}, {9, 9, 9}, {0, 0, 0}}}, 1, true},
    {"two segments, the corner inside one",
     {{{0, 0, 0}, {1, 1, 1}, {-2, -2, -2}}},
     {{{0, 0, 0}, {-9, -9, -9}, {0, 0, 0}}},
     1,
     true},
    /* An edge, the first two corners. */
    {"hinge", BASE, {{{0, 0, 0}, {4, 0, 0}, {0, -4, 1}}}, 2, false},
    {"hinge, closed to a right angle", BASE, {{{0, 0, 0}, {4, 0, 0}, {1, 0, 1}}}, 2, false},
    {"hinge, nearly closed", BASE, {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0x1p-149f}}}, 2, false},
    {"flat neighbours", BASE, {{{0, 0, 0}, {4, 0, 0}, {1, -4, 0}}}, 2, false},
    {"folded flat", BASE, {{{0, 0, 0}, {4, 0, 0}, {9, 1, 0}}}, 2, true},
    {"the third corner in the same place", BASE, BASE, 2, true},
    {"the third corner on the edge", BASE, {{{0, 0, 0}, {4, 0, 0}, {1, 0, 0}}}, 2, false},
    {"the third corner beyond the edge, other true", BASE, {{{0, 0, 0}, {4, 0, 0}, {9, 0, 0}}}, 2, false},
    {"both on the line, same end", {{{0, 0, 0}, {4, 0, 0}, {9, 0, 0}}}, {{{0, 0, 0}, {4, 0, 0}, {5, 0, 0}}}, 2, true},
    {"both on the line, different ends",
     {{{0, 0, 0}, {4, 0, 0}, {9, 0, 0}}},
     {{{0, 0, 0}, {4, 0, 0}, {-1, 0, 0}}},
     2,
     false},
    {"both on the line, one inside",
     {{{0, 0, 0}, {4, 0, 0}, {9, 0, 0}}},
     {{{0, 0, 0}, {4, 0, 0}, {2, 0, 0}}},
     2,
     false},
    {"the edge is a point, apart", {{{1, 1, 1}, {1, 1, 1}, {9, 0, 0}}}, {{{1, 1, 1}, {1, 1, 1}, {0, 9, 0}}}, 2, false},
    {"the edge is a point, same way",
     {{{1, 1, 1}, {1, 1, 1}, {3, 3, 3}}},
     {{{1, 1, 1}, {1, 1, 1}, {2, 2, 2}}},
     2,
     true},
    {"the edge is a point, opposite",
     {{{1, 1, 1}, {1, 1, 1}, {3, 3, 3}}},
     {{{1, 1, 1}, {1, 1, 1}, {0, 0, 0}}},
     2,
     false},
    {"all one point", {{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}}, {{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}}, 2, false},
};

static void testKnown(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    const Known *k = &known[i];
    /* Corners turned round in every way; the shared ones move with them. */
    static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    for (int how = 0; how < 36; ++how) {
      const int *oa = orders[how % 6], *ob = orders[how / 6];
      Case c;
      pnSharedCorners shared = {(uint8_t)k->shared, {0}, {0}};
      for (int j = 0; j < 3; ++j) {
        memcpy(c.a.v[oa[j]], k->a.v[j], sizeof c.a.v[0]);
        memcpy(c.b.v[ob[j]], k->b.v[j], sizeof c.b.v[0]);
        shared.a[j] = (uint8_t)oa[j];
        shared.b[j] = (uint8_t)ob[j];
      }
      Tally tally = {0};
      if (!checkBeyond(&c, shared, &tally) || (tally.beyond != 0) != k->beyond)
        fail_msg("%s, permutation %d", k->what, how);
    }
  }
}

/* No shared corner: the plain question. Three: the same set of points, always more. */
static void testCounts(void **state) {
  (void)state;
  pnTriangle a = BASE, apart = {{{0, 0, 1}, {4, 0, 1}, {0, 4, 1}}}, point = {{{0}}};
  pnSharedCorners none = {0, {0}, {0}}, all = {3, {0, 1, 2}, {0, 1, 2}};
  assert_true(pnTrianglesMeetBeyond(&a, &a, none));
  assert_false(pnTrianglesMeetBeyond(&a, &apart, none));
  assert_true(pnTrianglesMeetBeyond(&a, &a, all));
  assert_true(pnTrianglesMeetBeyond(&point, &point, all));
}

/* Shared corners that are none are the caller's bug: the assert hook hears of it. */
static bool countAssert(void *user, const char *condition, const char *file, int line) {
  (void)condition, (void)file, (void)line;
  ++*(int *)user;
  return false;
}

static void testWrongShared(void **state) {
  (void)state;
  pnTriangle a = BASE, b = {{{0, 0, 0}, {4, 0, 0}, {0, 0, 4}}};
  int asserts = 0;
  pnSetAssertFcn(countAssert, &asserts);
  pnTrianglesMeetBeyond(&a, &b, (pnSharedCorners){1, {0}, {0}});
  pnTrianglesMeetBeyond(&a, &b, (pnSharedCorners){2, {0, 1}, {0, 1}});
  assert_int_equal(asserts, 0);
  /* Different places, the same corner twice, no such corner, too many; then nothing counts as shared. */
  assert_true(pnTrianglesMeetBeyond(&a, &b, (pnSharedCorners){1, {2}, {2}}));
  assert_true(pnTrianglesMeetBeyond(&a, &b, (pnSharedCorners){2, {0, 0}, {0, 0}}));
  assert_true(pnTrianglesMeetBeyond(&a, &b, (pnSharedCorners){1, {3}, {0}}));
  assert_true(pnTrianglesMeetBeyond(&a, &b, (pnSharedCorners){4, {0, 1, 2}, {0, 1, 2}}));
  assert_int_equal(asserts, 4);
  pnSetAssertFcn(NULL, NULL);
}

/* ---------------------------------------------------------------- against the oracle */

/* Every way in which 1 or 2 corners of equal coordinates can be named as shared. */
static void checkAllShared(const Case *c, Tally *tally) {
  bool same[9];
  for (int k = 0; k < 9; ++k) same[k] = pn_samePoint(c->a.v[k / 3], c->b.v[k % 3]);
  for (int k = 0; k < 9; ++k) {
    for (int l = k; l < 9 && same[k]; ++l) {
      bool one = l == k, two = l / 3 != k / 3 && l % 3 != k % 3 && same[l];
      if (one || two) {
        pnSharedCorners shared = {
            one ? 1 : 2, {(uint8_t)(k / 3), (uint8_t)(l / 3)}, {(uint8_t)(k % 3), (uint8_t)(l % 3)}};
        assert_true(checkBeyond(c, shared, tally));
      }
    }
  }
}

static void testAgainstOracle(void **state) {
  (void)state;
  enum { EACH = 8000 };
  Random r = {21};
  Tally total = {0};
  for (int kind = 0; kind < CASE_KIND_COUNT; ++kind) {
    for (int i = 0; i < EACH; ++i) {
      Case c = makeCase((CaseKind)kind, &r);
      /* Make neighbours of those that are none. */
      if (kind != CASE_SHARED_EDGE && kind != CASE_IDENTICAL) {
        copyCorner(&c.b, &c.a, &r);
        if (randomBelow(&r, 3) == 0) copyCorner(&c.b, &c.a, &r);
      }
      checkAllShared(&c, &total);
    }
  }
  print_message("           %ld neighbours, %ld beyond\n", total.shared, total.beyond);
  assert_true(total.shared >= 200000 && total.beyond > total.shared / 10 && total.beyond < total.shared * 9 / 10);
}

/* All pairs on the corners of two cubes side by side that share a corner. */
static void testWholeBox(void **state) {
  (void)state;
  Tally total = {0};
  for (int a = 0; a < 12 * 12 * 12; ++a) {
    int ia[3] = {a % 12, a / 12 % 12, a / 144};
    if (ia[1] < ia[0] || ia[2] < ia[1]) continue;
    for (int b = 0; b < 12 * 12 * 12; ++b) {
      int ib[3] = {b % 12, b / 12 % 12, b / 144};
      if (ib[1] < ib[0] || ib[2] < ib[1]) continue;
      Case c;
      for (int k = 0; k < 9; ++k) {
        int na = ia[k / 3], nb = ib[k / 3], axis = k % 3;
        c.a.v[k / 3][axis] = (float)(axis == 0 ? na % 3 : axis == 1 ? na / 3 % 2 : na / 6);
        c.b.v[k / 3][axis] = (float)(axis == 0 ? nb % 3 : axis == 1 ? nb / 3 % 2 : nb / 6);
      }
      checkAllShared(&c, &total);
    }
  }
  print_message("           %ld neighbours, %ld beyond\n", total.shared, total.beyond);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testKnown),         cmocka_unit_test(testCounts),   cmocka_unit_test(testWrongShared),
      cmocka_unit_test(testAgainstOracle), cmocka_unit_test(testWholeBox),
  };
  return cmocka_run_group_tests(tests, oracleSetUp, oracleTearDown);
}
