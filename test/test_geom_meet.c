/* test_geom_meet.c: where two triangles meet. The kind exactly, the corners to an ulp, polygons in order. */
#include "support.h"

#include "oracle.h"
#include "oracle_check.h"

#include <math.h>

static void testKinds(void **state) {
  (void)state;
  pnTriangle a = BASE;
  /* Through the face, from (1, 1) to where the other edge comes through at (2, 1). */
  pnTriangle crossing = {{{1, 1, -1}, {1, 1, 1}, {3, 1, 1}}};
  pnMeeting m = pnMeetTriangles(&a, &crossing);
  assert_int_equal(m.kind, PN_MEETING_SEGMENT);
  assert_int_equal(m.pointCount, 2);
  assert_true(fabsf(m.points[0].x - m.points[1].x) == 1.0f && m.points[0].y == 1.0f && m.points[1].z == 0.0f);

  pnTriangle touching = {{{1, 2, 0}, {1, 1, 1}, {2, 1, 1}}};
  m = pnMeetTriangles(&a, &touching);
  assert_int_equal(m.kind, PN_MEETING_POINT);
  assert_int_equal(m.pointCount, 1);
  assert_true(m.points[0].x == 1.0f && m.points[0].y == 2.0f && m.points[0].z == 0.0f);

  pnTriangle star = {{{3, 3, 0}, {-1, 3, 0}, {3, -1, 0}}};
  m = pnMeetTriangles(&a, &star);
  assert_int_equal(m.kind, PN_MEETING_POLYGON);
  assert_int_equal(m.pointCount, 6);

  pnTriangle apart = {{{0, 0, 1}, {4, 0, 1}, {0, 4, 1}}};
  m = pnMeetTriangles(&a, &apart);
  assert_int_equal(m.kind, PN_MEETING_NONE);
  assert_int_equal(m.pointCount, 0);
}

/* A polygon is convex and in order: seen from its normal, every step turns the same way. */
static void testOrder(void **state) {
  (void)state;
  Random r = {31};
  int polygons = 0;
  while (polygons < 3000) {
    Case c = makeCase(CASE_LATTICE_PLANE, &r);
    pnMeeting m = pnMeetTriangles(&c.a, &c.b);
    if (m.kind != PN_MEETING_POLYGON) continue;
    ++polygons;
    int turns = 0, n = (int)m.pointCount;
    for (int i = 0; i < n; ++i) {
      const float *p = &m.points[i].x, *q = &m.points[(i + 1) % n].x, *s = &m.points[(i + 2) % n].x;
      double sum = 0.0;
      for (int j = 0; j < 3; ++j) {
        int k = (j + 1) % 3;
        sum += ((double)q[j] - p[j]) * ((double)s[k] - p[k]) - ((double)q[k] - p[k]) * ((double)s[j] - p[j]);
      }
      turns += sum > 0.0 ? 1 : -1;
    }
    assert_true(turns == n || turns == -n);
  }
}

static void testAgainstOracle(void **state) {
  (void)state;
  Random r = {32};
  Tally total = {0};
  for (int kind = 0; kind < CASE_KIND_COUNT; ++kind) {
    for (int i = 0; i < 8000; ++i) {
      Case c = makeCase((CaseKind)kind, &r);
      if (!checkMeeting(&c, &total)) fail_msg("%s, pair %d", caseName((CaseKind)kind), i);
    }
  }
  /* Every number of corners came often enough to mean something. */
  for (int n = 0; n <= 6; ++n) {
    print_message("           %ld with %d corners\n", total.corners[n], n);
    assert_true(total.corners[n] > 50);
  }
  print_message("           farthest corner: %.3f ulp\n", total.worst);
}

/* The same bits on every machine, compiler and build: one number for all answers, seen on ARM and x86, with and without
 * fused multiply-add and 128-bit integers. (Bytes are hashed lowest first, so the order of bytes is part of it.) */
static void hashBytes(uint64_t *hash, const void *data, size_t size) {
  for (size_t i = 0; i < size; ++i) *hash = (*hash ^ ((const unsigned char *)data)[i]) * 1099511628211u;
}

static void testSameBits(void **state) {
  (void)state;
  Random r = {5};
  uint64_t hash = 1469598103934665603u;
  for (int kind = 0; kind < CASE_KIND_COUNT; ++kind) {
    for (int i = 0; i < 2000; ++i) {
      Case c = makeCase((CaseKind)kind, &r);
      pnSharedCorners shared = pickShared(&c, &r);
      pnMeeting m = pnMeetTriangles(&c.a, &c.b);
      uint8_t answers[2] = {pnTrianglesMeet(&c.a, &c.b), pnTrianglesMeetBeyond(&c.a, &c.b, shared)};
      hashBytes(&hash, &c, sizeof c);
      hashBytes(&hash, answers, sizeof answers);
      hashBytes(&hash, m.points, m.pointCount * sizeof m.points[0]);
    }
  }
  assert_int_equal(hash, 0x8a3230a09f065e58u);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testKinds),
      cmocka_unit_test(testOrder),
      cmocka_unit_test(testAgainstOracle),
      cmocka_unit_test(testSameBits),
  };
  return cmocka_run_group_tests(tests, oracleSetUp, oracleTearDown);
}
