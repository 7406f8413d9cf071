/* predicate.c: the exact stages behind the filters of predicate.h.
 *
 * Stage 2 is ours: float coordinates on one axis are whole multiples of the smallest one's last bit, so when their
 * exponents are not too far apart the differences are integers of a few dozen bits and the whole determinant fits
 * into 128. That decides nearly all degenerate meshes (grids, flat walls, rotated copies) in the time of a few
 * multiplications. Stages 3 and 4 are Shewchuk's (1997, section 4.3), cut to two: if all differences are exact, the
 * determinant of the differences; else the determinant of the coordinates, which needs no differences. We leave out
 * his middle stages: what they would save is what stage 2 already caught.
 */
#include "geom/predicate.h"

#include "base/fenv.h"

#include <string.h>

/* ---------------------------------------------------------------- stage 2: integers */

#if defined(__SIZEOF_INT128__) && !defined(PN_SCALAR) && !defined(__OPENCL_VERSION__)
#define PN_HAVE_INT128 1
__extension__ typedef __int128 pn_Int128;

/* The exponent field of a float; subnormals share the one of the smallest normal. */
PN_INLINE int pn_exponent(float x) {
  int field = (int)((pn_bitsOfFloat(x) >> 23) & 255u);
  return field > 0 ? field : 1;
}

/* One axis: x[1] - x[0], ..., x[n] - x[0] as integers over a common power of two, trailing zeros removed. Returns
 * b with all magnitudes at most 2^b, or 1000, too much for anybody, when the exponents are too far apart. */
PN_INLINE int pn_makeAxisInts(const float *x, int n, int64_t *out) {
  /* The unit is the last bit of the smallest; a zero is a multiple of everything and does not lower it. */
  const int none = 255;
  int low = none, high = 0;
  for (int i = 0; i <= n; ++i) {
    int e = pn_exponent(x[i]);
    high = PN_MAX(high, e);
    e = x[i] != 0.0f ? e : none;
    low = PN_MIN(low, e);
  }
  /* 24 bits and 37 of shift: coordinates below 2^61, differences below 2^62. */
  if (high - low > 37) return 1000;

  /* A float with exponent field e is a multiple of 2^(e - 150): multiplied by 2^(150 - low) all are integers. */
  uint64_t scaleBits = (uint64_t)(1023 + 150 - low) << 52;
  double scale;
  memcpy(&scale, &scaleBits, sizeof scale);
  int64_t origin = (int64_t)(x[0] * scale);
  /* The bits really in use, from the lowest one set in any of them to the highest (d ^ d >> 63 is d or -d - 1). */
  uint64_t lows = 0, highs = 0;
  for (int i = 0; i < n; ++i) {
    int64_t d = (int64_t)(x[i + 1] * scale) - origin;
    out[i] = d;
    lows |= (uint64_t)d;
    highs |= (uint64_t)(d ^ (d >> 63));
  }
  if (lows == 0) return 0;
  int shift = __builtin_ctzll(lows);
  for (int i = 0; i < n; ++i) out[i] >>= shift;
  /* `highs` is zero when all are 0 or -1, and then so is shift. */
  return highs != 0 ? 64 - __builtin_clzll(highs) - shift : 0;
}

/* Sides of n points (at most 3) against the plane of p, into sides; false when 128 bits may not do. */
PN_INLINE bool pn_sidesInt(const float *const p[3], const float *const *t, int n, int *sides) {
  int64_t v[3][5] = {{0}};
  int bits[3];
  for (int axis = 0; axis < 3; ++axis) {
    float x[6] = {p[0][axis], p[1][axis], p[2][axis]};
    for (int i = 0; i < n; ++i) x[3 + i] = t[i][axis];
    bits[axis] = pn_makeAxisInts(x, n + 2, v[axis]);
  }
  /* Six products of at most 2^(sum of bits) add up to less than 2^(sum + 3), and 127 bits hold the magnitude. */
  if (bits[0] + bits[1] + bits[2] > 124) return false;

  /* The normal (b-a) x (c-a), then its product with each d-a. */
  const int64_t *X = v[0], *Y = v[1], *Z = v[2];
  pn_Int128 nx = (pn_Int128)Y[0] * Z[1] - (pn_Int128)Z[0] * Y[1];
  pn_Int128 ny = (pn_Int128)Z[0] * X[1] - (pn_Int128)X[0] * Z[1];
  pn_Int128 nz = (pn_Int128)X[0] * Y[1] - (pn_Int128)Y[0] * X[1];
  for (int i = 0; i < n; ++i) {
    pn_Int128 det = nx * X[2 + i] + ny * Y[2 + i] + nz * Z[2 + i];
    sides[i] = (det > 0) - (det < 0);
  }
  return true;
}
#endif

/* ---------------------------------------------------------------- stages 3 and 4: expansions */

/* The longest expansion: four coordinates times a sum of three minors (4 parts each): 4 * 2 * 12. */
#define PN_DET3_PARTS 96

/* Stage 3: the determinant of the differences, if every difference of the coordinates is a double. */
static int pn_expandDifferences(const double a[3], const double b[3], const double c[3], const double d[3],
                                double out[PN_DET3_PARTS]) {
  double B[3], C[3], D[3];
  for (int i = 0; i < 3; ++i) {
    double eb, ec, ed;
    pn_twoDifference(b[i], a[i], &B[i], &eb);
    pn_twoDifference(c[i], a[i], &C[i], &ec);
    pn_twoDifference(d[i], a[i], &D[i], &ed);
    if (eb != 0.0 || ec != 0.0 || ed != 0.0) return 0;
  }
  double minor[4], tb[8], tc[8], td[8], tbc[16];
  int nb = pn_expansionScale(pn_expansionMinor(C[0], D[1], D[0], C[1], minor), minor, B[2], tb);
  int nc = pn_expansionScale(pn_expansionMinor(D[0], B[1], B[0], D[1], minor), minor, C[2], tc);
  int nd = pn_expansionScale(pn_expansionMinor(B[0], C[1], C[0], B[1], minor), minor, D[2], td);
  int nbc = pn_expansionSum(nb, tb, nc, tc, tbc);
  return pn_expansionSum(nbc, tbc, nd, td, out);
}

/* The exact z-free determinant of three points, | x y 1 |: pq + qr + rp with the minors pq = px qy - qx py. */
static int pn_expandTurn(const double *p, const double *q, const double *r, double out[12]) {
  double pq[4], qr[4], rp[4], sum[8];
  int npq = pn_expansionMinor(p[0], q[1], q[0], p[1], pq);
  int nqr = pn_expansionMinor(q[0], r[1], r[0], q[1], qr);
  int nrp = pn_expansionMinor(r[0], p[1], p[0], r[1], rp);
  int n = pn_expansionSum(npq, pq, nqr, qr, sum);
  return pn_expansionSum(n, sum, nrp, rp, out);
}

/* Stage 4: the 4 x 4 determinant of the coordinates, developed by z:
 *   -az |bcd| + bz |acd| - cz |abd| + dz |abc|       where |pqr| is pn_expandTurn. */
static int pn_expandCoordinates(const double a[3], const double b[3], const double c[3], const double d[3],
                                double out[PN_DET3_PARTS]) {
  double turn[12], ta[24], tb[24], tc[24], td[24], tab[48], tcd[48];
  int na = pn_expansionScale(pn_expandTurn(b, c, d, turn), turn, -a[2], ta);
  int nb = pn_expansionScale(pn_expandTurn(a, c, d, turn), turn, b[2], tb);
  int nc = pn_expansionScale(pn_expandTurn(a, b, d, turn), turn, -c[2], tc);
  int nd = pn_expansionScale(pn_expandTurn(a, b, c, turn), turn, d[2], td);
  int nab = pn_expansionSum(na, ta, nb, tb, tab);
  int ncd = pn_expansionSum(nc, tc, nd, td, tcd);
  return pn_expansionSum(nab, tab, ncd, tcd, out);
}

static int pn_expandOrient3(const double a[3], const double b[3], const double c[3], const double d[3],
                            double out[PN_DET3_PARTS]) {
  int count = pn_expandDifferences(a, b, c, d, out);
  return count > 0 ? count : pn_expandCoordinates(a, b, c, d, out);
}

static int pn_expandOrient3Float(const float *a, const float *b, const float *c, const float *d,
                                 double out[PN_DET3_PARTS]) {
  double A[3] = {a[0], a[1], a[2]}, B[3] = {b[0], b[1], b[2]}, C[3] = {c[0], c[1], c[2]}, D[3] = {d[0], d[1], d[2]};
  return pn_expandOrient3(A, B, C, D, out);
}

PN_NOINLINE int pn_orient3Exact(const float *a, const float *b, const float *c, const float *d) {
#ifdef PN_HAVE_INT128
  const float *p[3] = {a, b, c};
  int side;
  if (PN_LIKELY(pn_sidesInt(p, &d, 1, &side))) return side;
#endif
  double out[PN_DET3_PARTS];
  int count = pn_expandOrient3Float(a, b, c, d, out);
  return pn_expansionSign(count, out);
}

PN_NOINLINE void pn_sidesExact(const float *const p[3], const float *const t[3], int sides[3]) {
#ifdef PN_HAVE_INT128
  if (PN_LIKELY(pn_sidesInt(p, t, 3, sides))) return;
#endif
  /* All three too far apart for integers: one by one they may do, or the filter may. */
  for (int i = 0; i < 3; ++i) sides[i] = pn_orient3(p[0], p[1], p[2], t[i]);
}

double pn_orient3Value(const float *a, const float *b, const float *c, const float *d) {
  pn_Plane plane = pn_makePlane(a, b, c);
  pn_Estimate e = pn_estimateSide(&plane, d);
  if (fabs(e.value) > 0x1p30 * e.error || e.error == 0.0) return e.value;
  double out[PN_DET3_PARTS];
  int count = pn_expandOrient3Float(a, b, c, d, out);
  return pn_expansionValue(count, out);
}

PN_NOINLINE int pn_orient2Exact(double ax, double ay, double bx, double by, double cx, double cy) {
  /* Exact differences: compare two exact products. Rounding keeps order, so the rounded products decide unless
   * equal. */
  double bX, bY, cX, cY, e1, e2, e3, e4;
  pn_twoDifference(bx, ax, &bX, &e1);
  pn_twoDifference(by, ay, &bY, &e2);
  pn_twoDifference(cx, ax, &cX, &e3);
  pn_twoDifference(cy, ay, &cY, &e4);
  if (e1 == 0.0 && e2 == 0.0 && e3 == 0.0 && e4 == 0.0) {
    double left, leftError, right, rightError;
    pn_twoProduct(bX, cY, &left, &leftError);
    pn_twoProduct(bY, cX, &right, &rightError);
    return left != right ? (left > right ? 1 : -1) : (leftError > rightError) - (leftError < rightError);
  }
  double a[2] = {ax, ay}, b[2] = {bx, by}, c[2] = {cx, cy}, turn[12];
  int count = pn_expandTurn(a, b, c, turn);
  return pn_expansionSign(count, turn);
}

double pn_orient2Value(double ax, double ay, double bx, double by, double cx, double cy) {
  pn_Estimate e = pn_estimateTurn(ax, ay, bx, by, cx, cy);
  if (fabs(e.value) > 0x1p30 * e.error || e.error == 0.0) return e.value;
  double a[2] = {ax, ay}, b[2] = {bx, by}, c[2] = {cx, cy}, turn[12];
  int count = pn_expandTurn(a, b, c, turn);
  return pn_expansionValue(count, turn);
}

#ifndef __OPENCL_VERSION__

/* ---------------------------------------------------------------- lines */

/* d . ((a-o) x (b-o)): a part for each coordinate of d, each times the turn of the three points as seen along it. */
PN_NOINLINE int pn_lineSideExact(const float *o, const float *d, const float *a, const float *b, double *outValue) {
  double sum[72], next[72], part[24], turn[12];
  int count = 0;
  for (int k = 0; k < 3; ++k) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    double O[2] = {o[i], o[j]}, A[2] = {a[i], a[j]}, B[2] = {b[i], b[j]};
    int n = pn_expansionScale(pn_expandTurn(O, A, B, turn), turn, d[k], part);
    count = pn_expansionSum(count, sum, n, part, next);
    for (int m = 0; m < count; ++m) sum[m] = next[m];
  }
  *outValue = pn_expansionValue(count, sum);
  return pn_expansionSign(count, sum);
}

/* d x (p - o) without a difference: d x p - d x o. */
PN_NOINLINE int pn_offLineExact(const double o[2], const double d[2], const double p[2]) {
  double toP[4], toO[4], sum[8];
  int nP = pn_expansionMinor(d[0], p[1], d[1], p[0], toP), nO = pn_expansionMinor(d[1], o[0], d[0], o[1], toO);
  int count = pn_expansionSum(nP, toP, nO, toO, sum);
  return pn_expansionSign(count, sum);
}

/* ---------------------------------------------------------------- the public names */

int pnOrient3(const float a[3], const float b[3], const float c[3], const float d[3]) {
  PN_FLOAT_SCOPE;
  return pn_orient3(a, b, c, d);
}

int pnOrient3Double(const double a[3], const double b[3], const double c[3], const double d[3]) {
  PN_FLOAT_SCOPE;
  /* Stage 1 as in predicate.h, on doubles. */
  double bx = b[0] - a[0], by = b[1] - a[1], bz = b[2] - a[2];
  double cx = c[0] - a[0], cy = c[1] - a[1], cz = c[2] - a[2];
  double dx = d[0] - a[0], dy = d[1] - a[1], dz = d[2] - a[2];
  double yz = by * cz, zy = bz * cy, zx = bz * cx, xz = bx * cz, xy = bx * cy, yx = by * cx;
  double det = (yz - zy) * dx + (zx - xz) * dy + (xy - yx) * dz;
  double sum = (fabs(yz) + fabs(zy)) * fabs(dx) + (fabs(zx) + fabs(xz)) * fabs(dy) + (fabs(xy) + fabs(yx)) * fabs(dz);
  if (fabs(det) > PN_ORIENT3_BOUND * sum) return det > 0.0 ? 1 : -1;
  if (sum == 0.0) return 0;
  double out[PN_DET3_PARTS];
  int count = pn_expandOrient3(a, b, c, d, out);
  return pn_expansionSign(count, out);
}

int pnOrient2(const float a[2], const float b[2], const float c[2]) {
  PN_FLOAT_SCOPE;
  return pn_orient2(a[0], a[1], b[0], b[1], c[0], c[1]);
}

int pnOrient2Double(const double a[2], const double b[2], const double c[2]) {
  PN_FLOAT_SCOPE;
  return pn_orient2(a[0], a[1], b[0], b[1], c[0], c[1]);
}

#endif
