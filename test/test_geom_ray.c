/* test_geom_ray.c: whether a ray meets a triangle, and a triangle a box, is what whole numbers of any length say, for pairs made to
 * hurt at every magnitude; where a ray does is as right as geom/ray.h says; and the distance of two triangles is that of a raster. */
#include "support.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "geom/apart.h"
#include "geom/inbox.h"
#include "geom/ray.h"
#include "oracle.h"
#include "oracle_cases.h"

typedef struct Tally {
  uint32_t asked, hits, exact, flat;
} Tally;

static void cornersOf(const pnTriangle *t, const float *out[3]) {
  for (int n = 0; n < 3; ++n) out[n] = t->v[n];
}

/* One ray and one triangle, with the quick bound of a line and without. */
static void expectRay(const float o[3], const float d[3], const pnTriangle *triangle, Tally *tally) {
  if (d[0] == 0 && d[1] == 0 && d[2] == 0) return;
  double truth;
  bool hits = oracleRay(o, d, triangle, &truth);
  const float *c[3];
  cornersOf(triangle, c);
  pn_Line line;
  pn_makeLine((pnVec3){o[0], o[1], o[2]}, (pnVec3){d[0], d[1], d[2]}, &line);
  pn_LineHit found = {0}, again = {0};
  bool same = pn_meetLine(&line, c, 0, &found);
  assert_int_equal(same, hits);
  pn_boundLine(&line, 8e38);
  assert_int_equal(pn_meetLine(&line, c, 0, &again), hits);
  ++tally->asked;
  if (!hits) return;
  ++tally->hits;
  tally->flat += found.side == 0;
  assert_true(again.t == found.t && again.u == found.u && again.v == found.v && again.side == found.side);
  // Never before the origin, and 0 exactly there.
  assert_true(found.t >= 0 && (found.t == 0) == (truth == 0 || (truth < DBL_MIN && found.t == 0)));
  // Within the triangle's box along the longest axis, as is the truth: both within what the triangle is long.
  int z = line.axis[2];
  double lo = INFINITY, hi = -INFINITY, farthest = 0;
  for (int n = 0; n < 3; ++n) {
    lo = fmin(lo, c[n][z]), hi = fmax(hi, c[n][z]);
    farthest = fmax(farthest, fabs((double)c[n][z] - o[z]));
  }
  double slack = 1e-14 * farthest, x = found.t * d[z], y = truth * d[z];
  if (isfinite(x) && isfinite(y)) assert_true(fabs(x - y) <= (hi - lo) + slack);
}

static void raysAreExact(void **state) {
  (void)state;
  Random r = {1};
  Tally tally = {0};
  for (int kind = 0; kind < CASE_KIND_COUNT; ++kind) {
    for (int i = 0; i < 4000; ++i) {
      Case c = makeCase((CaseKind)kind, &r);
      // From a corner of one towards, or along, something of the other; as floats give it.
      float o[3], d[3];
      const float *from = c.b.v[randomBelow(&r, 3)],
                  *to = randomBelow(&r, 2) ? c.b.v[randomBelow(&r, 3)] : c.a.v[randomBelow(&r, 3)];
      for (int k = 0; k < 3; ++k) {
        o[k] = from[k];
        d[k] = to[k] - from[k];
        if (!isfinite(d[k])) d[k] = 1;
      }
      // Towards the middle of an edge, and along an axis.
      if (i % 4 == 1)
        for (int k = 0; k < 3; ++k) d[k] = 0.5f * c.a.v[0][k] + 0.5f * c.a.v[1][k] - o[k];
      if (i % 4 == 2) d[i / 4 % 3] = d[(i / 4 + 1) % 3] = 0;
      if (i % 8 == 3)
        for (int k = 0; k < 3; ++k) d[k] = c.a.v[1][k] - c.a.v[0][k];
      for (int k = 0; k < 3; ++k) d[k] = isfinite(d[k]) ? d[k] : 1;
      expectRay(o, d, &c.a, &tally);
    }
  }
  // The cases must be worth their name.
  assert_true(tally.hits > tally.asked / 6 && tally.flat > tally.asked / 50);
}

/* The place of a hit, where rays and triangles are what they mostly are: 2^-48 of the distance, divided by the sine. */
static void placesAreClose(void **state) {
  (void)state;
  Random r = {2};
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    pnTriangle t;
    float o[3], d[3];
    double reach = pow(10, randomBetween(&r, -3, 3));
    for (int k = 0; k < 9; ++k) t.v[k / 3][k % 3] = (float)randomBetween(&r, -1, 1);
    for (int k = 0; k < 3; ++k) {
      double w[3] = {0.2, 0.3, 0.5};
      o[k] = (float)(reach * randomBetween(&r, -1, 1));
      d[k] = (float)(w[0] * t.v[0][k] + w[1] * t.v[1][k] + w[2] * t.v[2][k] - o[k]);
    }
    double truth, length = sqrt((double)d[0] * d[0] + (double)d[1] * d[1] + (double)d[2] * d[2]), n[3], size = 0,
                  along = 0;
    const float *c[3];
    cornersOf(&t, c);
    pn_Line line;
    pn_makeLine((pnVec3){o[0], o[1], o[2]}, (pnVec3){d[0], d[1], d[2]}, &line);
    pn_LineHit hit;
    if (!oracleRay(o, d, &t, &truth) || !pn_meetLine(&line, c, 0, &hit)) continue;
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      n[k] = ((double)t.v[1][a] - t.v[0][a]) * ((double)t.v[2][b] - t.v[0][b]) -
             ((double)t.v[1][b] - t.v[0][b]) * ((double)t.v[2][a] - t.v[0][a]);
      size += n[k] * n[k];
      along += n[k] * d[k];
    }
    double sine = fabs(along) / (sqrt(size) * length), farthest = 0;
    for (int m = 0; m < 3; ++m)
      for (int k = 0; k < 3; ++k) farthest = fmax(farthest, fabs((double)t.v[m][k] - o[k]));
    // Needles have their own sine in their plane: leave them to the test above.
    if (sqrt(size) < 0.1) continue;
    double error = fabs(hit.t - truth) * length * sine / farthest;
    worst = fmax(worst, error);
    // The weights give the point.
    for (int k = 0; k < 3; ++k) {
      double x = (1 - hit.u - hit.v) * t.v[0][k] + hit.u * t.v[1][k] + hit.v * t.v[2][k];
      assert_true(fabs(x - (o[k] + truth * d[k])) < 1e-12 * (1 + farthest) / sine);
    }
  }
  assert_true(worst < 0x1p-48);
}

/* ---------------------------------------------------------------- boxes */

static void boxesAreExact(void **state) {
  (void)state;
  Random r = {3};
  uint32_t asked = 0, meets = 0;
  for (int kind = 0; kind < CASE_KIND_COUNT; ++kind) {
    for (int i = 0; i < 3000; ++i) {
      Case c = makeCase((CaseKind)kind, &r);
      float lo[3], hi[3];
      const float *p = c.b.v[0], *q = randomBelow(&r, 3) ? c.b.v[1] : c.a.v[randomBelow(&r, 3)];
      for (int k = 0; k < 3; ++k) {
        lo[k] = fminf(p[k], q[k]), hi[k] = fmaxf(p[k], q[k]);
        // Rectangles, segments and points.
        if (randomBelow(&r, 5) == 0) hi[k] = lo[k];
      }
      const float *corner[3];
      cornersOf(&c.a, corner);
      bool truth = oracleBox(lo, hi, &c.a);
      assert_int_equal(pn_meetsBox(corner, lo, hi), truth);
      ++asked;
      meets += truth;
    }
  }
  assert_true(meets > asked / 5 && meets < asked * 4 / 5);
}

/* ---------------------------------------------------------------- distances */

/* Pairs of points on rasters of both triangles are not closer, and some are not much farther. */
static void distancesAreRight(void **state) {
  (void)state;
  Random r = {4};
  uint32_t apart = 0;
  for (int i = 0; i < 300; ++i) {
    pnTriangle s, t;
    for (int k = 0; k < 9; ++k) {
      s.v[k / 3][k % 3] = (float)randomBetween(&r, -1, 1);
      t.v[k / 3][k % 3] = (float)randomBetween(&r, -1, 1) + (k % 3 == 0 ? 1.0f : 0.0f);
    }
    // Parallel edges, segments, points.
    if (i % 3 == 0)
      for (int k = 0; k < 3; ++k) t.v[1][k] = t.v[0][k] + (s.v[1][k] - s.v[0][k]);
    if (i % 5 == 0) memcpy(s.v[2], s.v[1], sizeof s.v[2]);
    if (i % 7 == 0) memcpy(t.v[2], t.v[0], sizeof t.v[2]), memcpy(t.v[1], t.v[0], sizeof t.v[1]);
    if (pnTrianglesMeet(&s, &t)) continue;
    ++apart;
    const float *a[3], *b[3];
    cornersOf(&s, a);
    cornersOf(&t, b);
    double x[3], y[3], found = sqrt(pn_triangleDistance2(a, b, x, y)), least = INFINITY;
    assert_true(fabs(sqrt(pn_distance2(x, y)) - found) < 1e-15);
    const int steps = 40;
    for (int m = 0; m <= steps; ++m)
      for (int n = 0; m + n <= steps; ++n) {
        double p[3], z[3], c[3][3];
        for (int k = 0; k < 3; ++k) {
          p[k] = s.v[0][k] + (m * ((double)s.v[1][k] - s.v[0][k]) + n * ((double)s.v[2][k] - s.v[0][k])) / steps;
          for (int w = 0; w < 3; ++w) c[w][k] = t.v[w][k];
        }
        pn_closestOnTriangle(p, c[0], c[1], c[2], z);
        least = fmin(least, sqrt(pn_distance2(p, z)));
      }
    // A raster point is within a cell's diagonal (sides up to 2 sqrt(3)) of every point.
    assert_true(found <= least + 1e-12 && least <= found + 0.09);
  }
  assert_true(apart > 150);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(raysAreExact),
      cmocka_unit_test(placesAreClose),
      cmocka_unit_test(boxesAreExact),
      cmocka_unit_test(distancesAreRight),
  };
  return cmocka_run_group_tests(tests, oracleSetUp, oracleTearDown);
}
