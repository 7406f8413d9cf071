/* triangle_tropp.c: one edge after the other, with the determinants reused (Tropp, Tal and Shimshoni 2006, "A fast
 * triangle to triangle intersection test for collision detection"), with certified error bounds.
 *
 * The test that Mujika et al. use. Where an edge of b pierces a's plane follows from a small linear system; the
 * systems of all three edges have the same matrix but for one column, so one normal and one set of minors serve them
 * all, and what belongs to the third edge is a difference of what belongs to the first two. Two edges pierce the
 * plane, in X and Y; the triangles meet when the segment XY meets a. In the plane a is described by the coordinates
 * (f0, f1, f2) of a point, all of which are positive inside and which again are minors already known:
 *
 *               a2                        Both ends negative in one of the three: apart.
 *              /  \                       All positive at X or at Y: that end is inside, meeting.
 *        X----/----\----Y                 Else XY enters over the edges where f goes from - to +, leaves where it goes
 *            /      \                     from + to -, and meets a when every entering comes before every leaving.
 *          a0--------a1
 *
 * With dp, dq the distances of the ends of an edge pq of b from a's plane, X = (|dq| p + |dp| q) / (|dp| + |dq|); we
 * keep Fi(X) = |dq| fi(p) + |dp| fi(q) without dividing, as the paper does with its determinants. Entering over i
 * comes before leaving over j when Fi(X) Fj(Y) <= Fj(X) Fi(Y): the positive factors of both ends cancel.
 *
 * We differ in two ways. Before the systems we ask whether a is on one side of b's plane (the paper finds that out at
 * the end): it rejects half of what is left. And each number has an error bound; if that does not decide, the verdict
 * is "uncertain" and the caller asks the exact test.
 *
 * The bounds (u = 2^-53), one for all numbers of a kind. Distances: e as in predicate.h. Coordinates f1, f2 of b's
 * corners: 2 x 2 determinants of differences, at most 4 roundings a term, so 4u M with M the largest sum of absolute
 * terms; f0 = n - f1 - f2 adds the error of n and two roundings on numbers below 3M: 4u M each for n, f1, f2, and 6u
 * M make 18u M. F is a sum of two products d f: with |d| <= d', |f| <= 3M its error is at most 2 (d' 18u M + 3M e) +
 * 3u * 6 d'M <= 6M e + 54u d'M. The comparison F F - F F multiplies numbers of size K = max |F| >= (error of F): each
 * product is off by at most 3K (error of F), and rounding adds 4u K^2 to both. The constants below are these, rounded
 * up. Finally the sign of n, which says where the inside is, must be certain too.
 */
#include "geom/triangle.h"

/* Coordinates of b's corners in a, seen along the axis where a is largest; positive inside. Returns the largest sum of
 * absolute terms in them, or 0 when it is not certain which side is the inside. */
static inline double pn_coordinatesIn(const pn_Plane *plane, const float *a[3], const float *b[3], double f[3][3]) {
  double x = fabs(plane->n[0]), y = fabs(plane->n[1]), z = fabs(plane->n[2]);
  int axis = x > y ? (x > z ? 0 : 2) : (y > z ? 1 : 2);
  int u = axis == 2 ? 0 : axis + 1, v = axis == 0 ? 2 : axis - 1;
  double pu = a[1][u] - (double)a[0][u], pv = a[1][v] - (double)a[0][v];
  double qu = a[2][u] - (double)a[0][u], qv = a[2][v] - (double)a[0][v];
  double whole = plane->n[axis], sign = whole > 0.0 ? 1.0 : -1.0;
  double most = plane->m[axis];
  if (fabs(whole) <= PN_ORIENT2_BOUND * most) return 0.0;
  for (int i = 0; i < 3; ++i) {
    double ru = b[i][u] - (double)a[0][u], rv = b[i][v] - (double)a[0][v];
    double rq = ru * qv, qr = rv * qu, pr = pu * rv, rp = pv * ru;
    double f1 = rq - qr, f2 = pr - rp;
    f[i][0] = sign * (whole - f1 - f2);
    f[i][1] = sign * f1;
    f[i][2] = sign * f2;
    double m1 = fabs(rq) + fabs(qr), m2 = fabs(pr) + fabs(rp);
    most = PN_MAX(most, PN_MAX(m1, m2));
  }
  return most;
}

/* Does the segment between two points of a's plane meet a? X and Y are their scaled coordinates. */
static inline pn_Verdict pn_segmentVerdict(const double X[3], const double Y[3], double error) {
  bool xInside = true, yInside = true;
  double largest = 0.0;
  for (int i = 0; i < 3; ++i) {
    if (X[i] < -error && Y[i] < -error) return PN_APART;
    xInside = xInside && X[i] > error;
    yInside = yInside && Y[i] > error;
    largest = PN_MAX(largest, PN_MAX(fabs(X[i]), fabs(Y[i])));
  }
  if (xInside || yInside) return PN_MEETING;

  /* Every sign must be certain; then compare each entering with each leaving. The products are of degree ten in the size of
   * the triangles: below 1e-31 they reach numbers of fewer bits, where each is off by up to 2^-1075. */
  double productError = 7.0 * largest * error + 8.0 * PN_ROUND * largest * largest + 0x1p-1073;
  bool certain = true;
  for (int i = 0; i < 3; ++i) certain = certain && fabs(X[i]) > error && fabs(Y[i]) > error;
  if (!certain) return PN_UNCERTAIN;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      if (X[i] < 0.0 && Y[i] > 0.0 && X[j] > 0.0 && Y[j] < 0.0) {
        double order = X[j] * Y[i] - X[i] * Y[j];
        if (order < -productError) return PN_APART;
        certain = certain && order > productError;
      }
    }
  }
  return certain ? PN_MEETING : PN_UNCERTAIN;
}

pn_Verdict pn_trianglesMeetTropp(const float *a[3], const float *b[3]) {
  /* b's corners against a's plane: two edges must pierce it. */
  pn_Plane planeA = pn_makePlane(a[0], a[1], a[2]);
  double db[3], error;
  int bits = pn_certainSides(&planeA, b, db, &error);
  if (bits <= 0 || bits == 7) return bits < 0 ? PN_UNCERTAIN : PN_APART;
  /* a's corners against b's plane. */
  pn_Plane planeB = pn_makePlane(b[0], b[1], b[2]);
  double da[3], unused;
  int bitsA = pn_certainSides(&planeB, a, da, &unused);
  if (bitsA <= 0 || bitsA == 7) return bitsA < 0 ? PN_UNCERTAIN : PN_APART;

  /* Where the two edges from the lone corner p pierce, in the coordinates of a. */
  double f[3][3];
  double fMax = pn_coordinatesIn(&planeA, a, b, f);
  if (fMax == 0.0) return PN_UNCERTAIN;
  int p = pn_loneCorner(bits), q = pn_nextCorner(p), r = pn_nextCorner(q);
  double dp = fabs(db[p]), dq = fabs(db[q]), dr = fabs(db[r]);
  double dMax = PN_MAX(dp, PN_MAX(dq, dr));
  double X[3], Y[3];
  for (int i = 0; i < 3; ++i) {
    X[i] = dq * f[p][i] + dp * f[q][i];
    Y[i] = dr * f[p][i] + dp * f[r][i];
  }
  return pn_segmentVerdict(X, Y, 8.0 * fMax * error + 64.0 * PN_ROUND * dMax * fMax);
}
