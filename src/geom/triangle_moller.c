/* triangle_moller.c: intervals on the line where two planes meet (Moeller 1997, "A fast triangle-triangle intersection
 * test"), with certified error bounds.
 *
 * The test that Larsson and Akenine-Moeller use. Distances of a's corners from b's plane and of b's corners from a's
 * reject most pairs. Otherwise each triangle cuts an interval out of the line L of both planes; a lone corner p and
 * its edges to q, r give the ends
 *
 *     t = xp + (xq - xp) dp / (dp - dq)
 *
 * where x is the coordinate in which L runs furthest, instead of a position along L: the order is the same. The
 * triangles meet when the intervals overlap.
 *
 * We differ in one thing: Moeller sets small distances to zero by an epsilon; here each number carries a bound on
 * its error, and when the bounds do not decide, the verdict is "uncertain" and the caller asks the exact test.
 *
 * The bounds. Distances are determinants as in predicate.h, with error e. We ask |d| > 2e, so that the exact
 * distances D satisfy |Dp| + |Dq| >= S / 2 for S = |dp| + |dq|. For the weight w = |dp| / S against its exact value
 * W:
 *
 *     |w - W|  =  ||dp||Dq| - |Dp||dq|| / (S (|Dp| + |Dq|))  <=  max(ep, eq) / (|Dp| + |Dq|)  <=  2 max(ep, eq) / S.
 *
 * The rest is rounding (u = 2^-53): xq - xp once, 1 / S twice, the product twice, the sum once. So t is off by at most
 *
 *     |xq - xp| (2 max(ep, eq) / S + 6u) + u |t|,     |t| <= |xp| + |xq - xp|,
 *
 * and we take 8u and 2u for 6u + u and u, which covers products of these errors and the rounding of the bound itself.
 * If L does not run along the chosen coordinate at all, every exact t is the same number: no certain order, no wrong
 * verdict.
 */
#include "geom/triangle.h"

/* An interval on L and a bound on the error of its ends. */
typedef struct pn_Interval {
  double low, high, error;
} pn_Interval;

static inline pn_Interval pn_cutLine(const float *t[3], const double d[3], double error, int bits, int axis) {
  int p = pn_loneCorner(bits), q = pn_nextCorner(p), r = pn_nextCorner(q);
  double x = t[p][axis], toQ = t[q][axis] - x, toR = t[r][axis] - x;
  double invQ = 1.0 / fabs(d[p] - d[q]), invR = 1.0 / fabs(d[p] - d[r]);
  double dp = fabs(d[p]);
  double tq = x + toQ * (dp * invQ), tr = x + toR * (dp * invR);
  const double u = PN_ROUND;
  double errorQ = fabs(toQ) * (2.0 * error * invQ + 8.0 * u), errorR = fabs(toR) * (2.0 * error * invR + 8.0 * u);
  return (pn_Interval){PN_MIN(tq, tr), PN_MAX(tq, tr), PN_MAX(errorQ, errorR) + 2.0 * u * fabs(x)};
}

pn_Verdict pn_trianglesMeetMoller(const float *a[3], const float *b[3]) {
  /* Each triangle against the plane of the other. */
  double da[3], db[3], errorA, errorB;
  pn_Plane planeB = pn_makePlane(b[0], b[1], b[2]);
  int bitsA = pn_certainSides(&planeB, a, da, &errorA);
  if (bitsA <= 0 || bitsA == 7) return bitsA < 0 ? PN_UNCERTAIN : PN_APART;
  pn_Plane planeA = pn_makePlane(a[0], a[1], a[2]);
  int bitsB = pn_certainSides(&planeA, b, db, &errorB);
  if (bitsB <= 0 || bitsB == 7) return bitsB < 0 ? PN_UNCERTAIN : PN_APART;

  /* The direction of L, and the coordinate in which it runs furthest. */
  const double *m = planeA.n, *n = planeB.n;
  double x = fabs(m[1] * n[2] - m[2] * n[1]), y = fabs(m[2] * n[0] - m[0] * n[2]), z = fabs(m[0] * n[1] - m[1] * n[0]);
  int axis = x > y ? (x > z ? 0 : 2) : (y > z ? 1 : 2);

  /* The intervals: apart or overlapping by more than both errors. */
  pn_Interval ia = pn_cutLine(a, da, errorA, bitsA, axis), ib = pn_cutLine(b, db, errorB, bitsB, axis);
  double error = ia.error + ib.error;
  double overlap = PN_MIN(ia.high, ib.high) - PN_MAX(ia.low, ib.low);
  return overlap > error ? PN_MEETING : overlap < -error ? PN_APART : PN_UNCERTAIN;
}
