/* predicate.h: on which side of a plane or line is a point? Always right.
 *
 * Each question is the sign of a small determinant. A few double operations give it together with a bound on their
 * own rounding error; when the determinant is larger than the bound, its sign is right and we are done. That is
 * nearly always: the fast part is here, to be inlined. Otherwise predicate.c computes the determinant exactly,
 * cheaply where the coordinates are of similar size, by long expansions where they are not.
 *
 *   stage 1  double, with an error bound                   (inline here)
 *   stage 2  128-bit integers, float coordinates only      (predicate.c)
 *   stage 3  expansions of exact differences               (predicate.c)
 *   stage 4  expansions of the coordinates themselves      (predicate.c)
 *
 * THE BOUND. Let u = 2^-53, so that a rounded operation gives its exact result times 1 + d, |d| <= u. In
 *
 *     det = ((bx cy' - by cx') dz + ...) + ...        with every entry a computed difference of two coordinates
 *
 * each of the six products of three entries passes at most 8 roundings on its way into the sum: three in its entries,
 * one for the first product, one for the minor's difference, one for the second product, two for the final sums. (A
 * float difference taken in double is mostly exact, but not when the exponents are more than 29 apart; so it counts.)
 * The computed det is thus a sum of the six exact terms, each times a factor between (1-u)^8 and (1+u)^8, and
 *
 *     |computed det - exact det|  <=  ((1+u)^8 - 1) P,        P = the sum of the six exact |terms|.
 *
 * The same operations on absolute values compute P with the same factors: P <= computed P / (1-u)^8. So the error is
 * below 8u (1 + 12u) times the computed P, and the rounding of the product "10u * P" cannot bring 10u below that.
 * For the 2 x 2 determinant the count is 4 (two entries, a product, a difference) and we use 5u.
 *
 * Nothing underflows here: the smallest difference of floats is 2^-149 and its cube 2^-447; for doubles in the range
 * geom.h gives (1e-70 to 1e90) the smallest is about 1e-86 and its cube 1e-258, the largest cube 1e271. So a computed P
 * of zero means that each of the six terms is exactly zero.
 */
#ifndef PN_GEOM_PREDICATE_H
#define PN_GEOM_PREDICATE_H

#include "geom/expansion.h"
#include "pinch/geom.h"

#define PN_ORIENT3_BOUND (10.0 * PN_ROUND)
#define PN_ORIENT2_BOUND (5.0 * PN_ROUND)

/* A determinant in double and the bound on its error. */
typedef struct pn_Estimate {
  double value, error;
} pn_Estimate;

/* Stages 2 to 4: for determinants the filter cannot decide. */
int pn_orient3Exact(const float *a, const float *b, const float *c, const float *d);
void pn_sidesExact(const float *const p[3], const float *const t[3], int sides[3]); /* three points, one plane */
int pn_orient2Exact(double ax, double ay, double bx, double by, double cx, double cy);

/* A line through o along d: the sign of | d a-o b-o |, on which side of it the line from a to b passes; and the determinant
 * itself, as close as a double gets. Of the plane of the first two coordinates: | d p-o |. */
#ifndef __OPENCL_VERSION__
int pn_lineSideExact(const float *o, const float *d, const float *a, const float *b, double *outValue);
int pn_offLineExact(const double o[2], const double d[2], const double p[2]);
#endif

/* The determinants themselves with a relative error below 2^-30, and exactly 0 when they are 0: for coordinates. */
double pn_orient3Value(const float *a, const float *b, const float *c, const float *d);
double pn_orient2Value(double ax, double ay, double bx, double by, double cx, double cy);

/* A plane through a, b, c in double: an origin, the normal (b-a) x (c-a), and what the same operations make of absolute
 * values. Three corners of the other triangle are tested against it for little more than the price of one. */
typedef struct pn_Plane {
  double o[3], n[3], m[3];
} pn_Plane;

PN_INLINE pn_Plane pn_makePlane(const float *a, const float *b, const float *c) {
  double ax = a[0], ay = a[1], az = a[2];
  double bx = b[0] - ax, by = b[1] - ay, bz = b[2] - az;
  double cx = c[0] - ax, cy = c[1] - ay, cz = c[2] - az;
  double yz = by * cz, zy = bz * cy, zx = bz * cx, xz = bx * cz, xy = bx * cy, yx = by * cx;
  return (pn_Plane){
      {ax, ay, az},
      {yz - zy, zx - xz, xy - yx},
      {fabs(yz) + fabs(zy), fabs(zx) + fabs(xz), fabs(xy) + fabs(yx)},
  };
}

/* The determinant | b-a c-a d-a | for the plane of a, b, c. */
PN_INLINE pn_Estimate pn_estimateSide(const pn_Plane *plane, const float *d) {
  double x = d[0] - plane->o[0], y = d[1] - plane->o[1], z = d[2] - plane->o[2];
  double det = plane->n[0] * x + plane->n[1] * y + plane->n[2] * z;
  double sum = plane->m[0] * fabs(x) + plane->m[1] * fabs(y) + plane->m[2] * fabs(z);
  return (pn_Estimate){det, PN_ORIENT3_BOUND * sum};
}

/* pnOrient3, inlined. */
PN_PART_INLINE int pn_orient3(const float *a, const float *b, const float *c, const float *d) {
  pn_Plane plane = pn_makePlane(a, b, c);
  pn_Estimate e = pn_estimateSide(&plane, d);
  if (PN_LIKELY(fabs(e.value) > e.error)) return e.value > 0.0 ? 1 : -1;
  return e.error == 0.0 ? 0 : pn_orient3Exact(a, b, c, d);
}

/* The determinant | b-a c-a | in the plane. */
PN_INLINE pn_Estimate pn_estimateTurn(double ax, double ay, double bx, double by, double cx, double cy) {
  double left = (bx - ax) * (cy - ay), right = (by - ay) * (cx - ax);
  return (pn_Estimate){left - right, PN_ORIENT2_BOUND * (fabs(left) + fabs(right))};
}

/* pnOrient2 for floats or doubles, inlined. */
PN_PART_INLINE int pn_orient2(double ax, double ay, double bx, double by, double cx, double cy) {
  pn_Estimate e = pn_estimateTurn(ax, ay, bx, by, cx, cy);
  if (PN_LIKELY(fabs(e.value) > e.error)) return e.value > 0.0 ? 1 : -1;
  return e.error == 0.0 ? 0 : pn_orient2Exact(ax, ay, bx, by, cx, cy);
}

#endif
