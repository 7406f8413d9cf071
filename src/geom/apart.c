/* apart.c: see apart.h. */
#include "geom/apart.h"

#include <math.h>

/* The closest points of the segments from p along d and from q along e. */
static double segments2(const double p[3], const double d[3], const double q[3], const double e[3], double x[3],
                        double y[3]) {
  double r[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]};
  double a = pn_dot3(d, d), c = pn_dot3(e, e), b = pn_dot3(d, e), dr = pn_dot3(d, r), er = pn_dot3(e, r);
  double denominator = a * c - b * b, s = 0, t = 0;
  if (a > 0 && denominator > 0x1p-46 * a * c) s = pn_clamp01((b * er - c * dr) / denominator);
  if (c > 0) t = (b * s + er) / c;
  // When t leaves its segment, it is an end, and s is what is closest to that.
  if (t < 0 || t > 1 || !(c > 0)) {
    t = pn_clamp01(t);
    s = a > 0 ? pn_clamp01((b * t - dr) / a) : 0;
  }
  pn_pointAt(p, s, d, 0, d, x);
  pn_pointAt(q, t, e, 0, e, y);
  return pn_distance2(x, y);
}

static void copy3(double to[3], const double from[3]) {
  for (int k = 0; k < 3; ++k) to[k] = from[k];
}

double pn_triangleDistance2(const float *const a[3], const float *const b[3], double onA[3], double onB[3]) {
  double p[3][3], q[3][3], d[3][3], e[3][3], x[3], y[3], best = INFINITY;
  for (int n = 0; n < 3; ++n)
    for (int k = 0; k < 3; ++k) p[n][k] = a[n][k], q[n][k] = b[n][k];
  for (int n = 0; n < 3; ++n)
    for (int k = 0; k < 3; ++k) d[n][k] = p[(n + 1) % 3][k] - p[n][k], e[n][k] = q[(n + 1) % 3][k] - q[n][k];
  for (int n = 0; n < 3; ++n) {
    for (int m = 0; m < 3; ++m) {
      double square = segments2(p[n], d[n], q[m], e[m], x, y);
      if (square < best) best = square, copy3(onA, x), copy3(onB, y);
    }
  }
  for (int n = 0; n < 3; ++n) {
    pn_closestOnTriangle(p[n], q[0], q[1], q[2], y);
    double square = pn_distance2(p[n], y);
    if (square < best) best = square, copy3(onA, p[n]), copy3(onB, y);
    pn_closestOnTriangle(q[n], p[0], p[1], p[2], x);
    square = pn_distance2(q[n], x);
    if (square < best) best = square, copy3(onA, x), copy3(onB, q[n]);
  }
  return best;
}
