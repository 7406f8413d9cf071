/* distance.h: the point of a triangle that is closest to a point.
 *
 * In double, from float corners. The seven regions around a triangle (three corners, three edges, the inside) are told apart
 * by signs of dot products (Ericson, Real-Time Collision Detection, 2005, 5.1.5). A triangle that is a segment or a point has no inside: the products
 * that would divide by its area are 0, and one of the edges is taken.
 *
 * Rounding: dot products of differences d, e carry a relative error of about 6 * 2^-53 times |d||e|. A wrong region is only
 * chosen where two regions meet, where both give the same point up to that. So the distance is right up to about 2^-50 of the
 * largest of the distance and the triangle's size, for needles of aspect 2^k up to 2^(k-50).
 *
 * That is how much too far it may be. Too near it is by far less: what is found is a mean of corners with weights that are not negative, which is
 * off the triangle only by its own rounding, a few 2^-53 of the largest coordinate (PN_POINT_ERROR). */
#ifndef PN_GEOM_DISTANCE_H
#define PN_GEOM_DISTANCE_H

#include "base/core.h"

/* Of the largest coordinate: how much less than the distance what is measured may be, of a point and a triangle or of two triangles. */
#define PN_POINT_ERROR 0x1p-45

/* Where on the triangle the closest point is. */
typedef enum pnFeature {
  PN_FEATURE_CORNER0,
  PN_FEATURE_CORNER1,
  PN_FEATURE_CORNER2,
  PN_FEATURE_EDGE0, /* from corner 0 to corner 1, and so on */
  PN_FEATURE_EDGE1,
  PN_FEATURE_EDGE2,
  PN_FEATURE_INSIDE
} pnFeature;

PN_INLINE double pn_dot3(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

PN_INLINE void pn_cross3(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

PN_INLINE void pn_sub3(const double a[3], const double b[3], double out[3]) {
  for (int k = 0; k < 3; ++k) out[k] = a[k] - b[k];
}

/* The normal of a triangle, as long as twice its area. */
PN_INLINE void pn_normal3(const double a[3], const double b[3], const double c[3], double out[3]) {
  double d[3], e[3];
  pn_sub3(b, a, d);
  pn_sub3(c, a, e);
  pn_cross3(d, e, out);
}

/* Float corners, `stride` floats apart, as doubles. */
PN_INLINE void pn_widenCorners(const float *corners, int stride, double out[3][3]) {
  for (int i = 0; i < 9; ++i) out[i / 3][i % 3] = corners[i / 3 * stride + i % 3];
}

/* Between 0 and 1; 0 for what is not a number. */
PN_INLINE double pn_clamp01(double x) {
  return x > 0 ? (x < 1 ? x : 1) : 0;
}

PN_INLINE double pn_distance2(const double a[3], const double b[3]) {
  double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  return pn_dot3(d, d);
}

/* The point o + s d + t e. */
PN_INLINE void pn_pointAt(const double o[3], double s, const double d[3], double t, const double e[3], double out[3]) {
  for (int k = 0; k < 3; ++k) out[k] = o[k] + s * d[k] + t * e[k];
}

/* The closest point of triangle abc to p into out. */
static inline pnFeature pn_closestOnTriangle(const double p[3], const double a[3], const double b[3], const double c[3],
                                             double out[3]) {
  double ab[3], ac[3], ap[3], bp[3], cp[3];
  for (int k = 0; k < 3; ++k) {
    ab[k] = b[k] - a[k], ac[k] = c[k] - a[k];
    ap[k] = p[k] - a[k], bp[k] = p[k] - b[k], cp[k] = p[k] - c[k];
  }
  // Corners.
  double d1 = pn_dot3(ab, ap), d2 = pn_dot3(ac, ap);
  if (d1 <= 0 && d2 <= 0) return pn_pointAt(a, 0, ab, 0, ac, out), PN_FEATURE_CORNER0;
  double d3 = pn_dot3(ab, bp), d4 = pn_dot3(ac, bp);
  if (d3 >= 0 && d4 <= d3) return pn_pointAt(b, 0, ab, 0, ac, out), PN_FEATURE_CORNER1;
  double d5 = pn_dot3(ab, cp), d6 = pn_dot3(ac, cp);
  if (d6 >= 0 && d5 <= d6) return pn_pointAt(c, 0, ab, 0, ac, out), PN_FEATURE_CORNER2;
  // Edges: areas towards the outside of each, times twice the triangle's.
  double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
  if (vc <= 0 && d1 >= 0 && d3 <= 0 && d1 > d3) return pn_pointAt(a, d1 / (d1 - d3), ab, 0, ac, out), PN_FEATURE_EDGE0;
  if (va <= 0 && d4 >= d3 && d5 >= d6 && d4 - d3 + (d5 - d6) > 0) {
    double t = (d4 - d3) / (d4 - d3 + (d5 - d6));
    double bc[3] = {c[0] - b[0], c[1] - b[1], c[2] - b[2]};
    return pn_pointAt(b, t, bc, 0, ac, out), PN_FEATURE_EDGE1;
  }
  if (vb <= 0 && d2 >= 0 && d6 <= 0 && d2 > d6) return pn_pointAt(a, 0, ab, d2 / (d2 - d6), ac, out), PN_FEATURE_EDGE2;
  // The inside. (Weights of which one is negative nobody has seen here.)
  double sum = va + vb + vc;
  if (sum > 0 && va >= 0 && vb >= 0 && vc >= 0)
    return pn_pointAt(a, vb / sum, ab, vc / sum, ac, out), PN_FEATURE_INSIDE;
  return pn_pointAt(a, 0, ab, 0, ac, out), PN_FEATURE_CORNER0;
}

#endif
