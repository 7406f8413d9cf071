/* test_geom_predicate.c: signs of orientation against whole numbers of any length. */
#include "support.h"

#include "geom/predicate.h"
#include "oracle.h"
#include "oracle_cases.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- the convention */

static void testConvention(void **state) {
  (void)state;
  const float o[3] = {0, 0, 0}, x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1}, flat[3] = {3, -2, 0};
  /* o, x, y run counter-clockwise seen from z. */
  assert_int_equal(pnOrient3(o, x, y, z), 1);
  assert_int_equal(pnOrient3(o, y, x, z), -1);
  assert_int_equal(pnOrient3(o, x, y, flat), 0);
  assert_int_equal(pnOrient2(o, x, y), 1);
  assert_int_equal(pnOrient2(o, y, x), -1);
  assert_int_equal(pnOrient2(o, y, y), 0);
}

/* ---------------------------------------------------------------- floats */

static void toDouble(const float *f, double *d) {
  for (int i = 0; i < 3; ++i) d[i] = f[i];
}

static void checkFloats(const float *p[4]) {
  double d[4][3];
  for (int i = 0; i < 4; ++i) toDouble(p[i], d[i]);
  int expected = oracleOrient3(d[0], d[1], d[2], d[3]);
  assert_int_equal(pnOrient3(p[0], p[1], p[2], p[3]), expected);
  /* A cyclic step of four points is odd. */
  assert_int_equal(pnOrient3(p[1], p[2], p[3], p[0]), -expected);
  assert_int_equal(pn_orient3Exact(p[0], p[1], p[2], p[3]), expected);
  assert_int_equal(pnOrient3Double(d[0], d[1], d[2], d[3]), expected);
  /* The value behind the sign, to 30 bits. */
  double value = pn_orient3Value(p[0], p[1], p[2], p[3]), truth = oracleOrient3Value(d[0], d[1], d[2], d[3]);
  assert_true(fabs(value - truth) <= 0x1p-29 * fabs(truth));
  /* In the plane of two coordinates. */
  int flat = oracleOrient2(d[0], d[1], d[2]);
  assert_int_equal(pnOrient2(p[0], p[1], p[2]), flat);
  assert_int_equal(pnOrient2(p[1], p[0], p[2]), -flat);
  assert_int_equal(pnOrient2Double(d[0], d[1], d[2]), flat);
  assert_int_equal(pn_orient2Exact(p[0][0], p[0][1], p[1][0], p[1][1], p[2][0], p[2][1]), flat);
}

static void testFloats(void **state) {
  (void)state;
  Random r = {11};
  int signs[3] = {0};
  for (int kind = 0; kind < CASE_KIND_COUNT; ++kind) {
    for (int i = 0; i < 4000; ++i) {
      Case c = makeCase((CaseKind)kind, &r);
      /* Three corners of one and each corner of the other. */
      for (int k = 0; k < 3; ++k) {
        const float *p[4] = {c.a.v[0], c.a.v[1], c.a.v[2], c.b.v[k]};
        checkFloats(p);
        ++signs[1 + pnOrient3(p[0], p[1], p[2], p[3])];
      }
    }
  }
  /* The cases are worth something: each sign comes often. */
  assert_true(signs[0] > 20000 && signs[1] > 20000 && signs[2] > 20000);
}

/* Any finite bits at all. */
static void testAnyFloats(void **state) {
  (void)state;
  TestRandom r = testRandom(5);
  for (int i = 0; i < 30000; ++i) {
    float v[4][3];
    for (int j = 0; j < 12; ++j) v[j / 3][j % 3] = testAnyFloat(&r);
    const float *p[4] = {v[0], v[1], v[2], v[3]};
    checkFloats(p);
    /* The same with a repeated point, and with a repeated coordinate. */
    const float *twice[4] = {v[0], v[1], v[0], v[3]};
    checkFloats(twice);
    v[1][2] = v[2][2] = v[3][2] = v[0][2];
    checkFloats(p);
  }
}

/* Determinants as large as 128 bits just hold or just do not: exponents spread over 30 to 50 bits in all, entries
 * as large as they can be, asked of the exact stages directly. */
static void testIntegerLimit(void **state) {
  (void)state;
  Random r = {15};
  for (int i = 0; i < 60000; ++i) {
    float v[4][3];
    for (int axis = 0; axis < 3; ++axis) {
      int spread = 10 + randomBelow(&r, 10);
      for (int k = 0; k < 4; ++k) {
        double x = randomBelow(&r, 2) ? 0x1.fffffep0 : randomBetween(&r, 1.0, 2.0);
        v[k][axis] = (float)(randomBelow(&r, 2) ? ldexp(x, spread) : ldexp(-x, spread));
      }
      /* One small coordinate sets the unit; sometimes the others are extreme in sign too: all corners of a cube. */
      int k = randomBelow(&r, 4), sign = randomBelow(&r, 2) ? 1 : -1;
      v[k][axis] = (float)(sign * randomBetween(&r, 1.0, 2.0));
    }
    const float *p[4] = {v[0], v[1], v[2], v[3]};
    checkFloats(p);
  }
}

/* ---------------------------------------------------------------- doubles */

static void checkDoubles(double p[4][3]) {
  int expected = oracleOrient3(p[0], p[1], p[2], p[3]);
  assert_int_equal(pnOrient3Double(p[0], p[1], p[2], p[3]), expected);
  assert_int_equal(pnOrient3Double(p[3], p[0], p[1], p[2]), -expected);
  int flat = oracleOrient2(p[0], p[1], p[2]);
  assert_int_equal(pnOrient2Double(p[0], p[1], p[2]), flat);
  assert_int_equal(pnOrient2Double(p[2], p[1], p[0]), -flat);
}

/* Four points within an ulp of a plane; sometimes exactly on one; all scaled by a power of two. */
static void makeNearPlane(Random *r, double p[4][3]) {
  double o[3], u[3], v[3];
  bool whole = randomBelow(r, 2), exact = randomBelow(r, 2);
  int e = randomBelow(r, 3) ? 0 : randomBelow(r, 440) - 200;
  for (int j = 0; j < 3; ++j) {
    o[j] = whole ? randomBelow(r, 1 << 20) : randomBetween(r, -1.0, 1.0);
    u[j] = whole ? randomBelow(r, 1 << 20) : randomBetween(r, -1.0, 1.0);
    v[j] = whole ? randomBelow(r, 1 << 20) : randomBetween(r, -1.0, 1.0);
  }
  for (int i = 0; i < 4; ++i) {
    double s = whole ? randomBelow(r, 1 << 10) : randomBetween(r, -1.0, 1.0);
    double t = whole ? randomBelow(r, 1 << 10) : randomBetween(r, -1.0, 1.0);
    for (int j = 0; j < 3; ++j) {
      double x = o[j] + s * u[j] + t * v[j];
      int step = exact ? 2 : randomBelow(r, 8);
      x = step == 0 ? nextafter(x, INFINITY) : step == 1 ? nextafter(x, -INFINITY) : x;
      p[i][j] = ldexp(x, e);
    }
  }
}

static void testDoubles(void **state) {
  (void)state;
  Random r = {12};
  int zero = 0;
  for (int i = 0; i < 60000; ++i) {
    double p[4][3];
    makeNearPlane(&r, p);
    checkDoubles(p);
    zero += pnOrient3Double(p[0], p[1], p[2], p[3]) == 0;
    /* Points far out on a line through two others: differences that do not fit a double. */
    for (int j = 0; j < 3; ++j) p[3][j] = p[0][j] + ldexp(p[1][j] - p[0][j], randomBelow(&r, 60));
    checkDoubles(p);
  }
  assert_true(zero > 5000 && zero < 55000);
}

/* Magnitudes anywhere in the promised range 1e-70 ... 1e90, zeros among them. */
static void testDoubleRange(void **state) {
  (void)state;
  Random r = {13};
  for (int i = 0; i < 60000; ++i) {
    double p[4][3];
    for (int j = 0; j < 12; ++j) {
      double x = pow(10.0, randomBetween(&r, -69.9, 89.9));
      p[j / 3][j % 3] = randomBelow(&r, 6) ? (randomBelow(&r, 2) ? x : -x) : 0.0;
    }
    checkDoubles(p);
    /* Two equal columns make it zero or a close thing. */
    for (int k = 0; k < 4; ++k) p[k][1] = p[k][0];
    checkDoubles(p);
    p[randomBelow(&r, 4)][1] *= 1.0 + 0x1p-52;
    checkDoubles(p);
  }
}

/* ---------------------------------------------------------------- expansions */

/* A sum of products, kept exactly, is zero only when it should be: (a b)(c) - (c b)(a), with a last bit put in. */
static void testExpansions(void **state) {
  (void)state;
  Random r = {14};
  for (int i = 0; i < 20000; ++i) {
    int exponent = randomBelow(&r, 100) - 50;
    double a = randomBetween(&r, -1.0, 1.0), b = ldexp(randomBetween(&r, -1.0, 1.0), exponent);
    double c = randomBetween(&r, -1.0, 1.0), minor[4], scaled[8], other[4], scaledOther[8], sum[16], one = 0x1p-400;
    int n = pn_expansionScale(pn_expansionMinor(a, b, 0.0, 0.0, minor), minor, c, scaled);
    int m = pn_expansionScale(pn_expansionMinor(c, b, 0.0, 0.0, other), other, -a, scaledOther);
    int k = pn_expansionSum(n, scaled, m, scaledOther, sum);
    assert_int_equal(k, 1);
    assert_true(sum[0] == 0.0);
    double last[17];
    k = pn_expansionSum(1, &one, k, sum, last);
    assert_int_equal(pn_expansionSign(k, last), 1);
    assert_true(pn_expansionValue(k, last) == one);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testConvention),   cmocka_unit_test(testFloats),  cmocka_unit_test(testAnyFloats),
      cmocka_unit_test(testIntegerLimit), cmocka_unit_test(testDoubles), cmocka_unit_test(testDoubleRange),
      cmocka_unit_test(testExpansions),
  };
  return cmocka_run_group_tests(tests, oracleSetUp, oracleTearDown);
}
