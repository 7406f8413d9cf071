/* impact_lanes_kernel.h: are W pairs of moving features surely apart? Included once for each SIMD width, with F (a register of W floats)
 * and its operations defined. ROW(make, k) is a register with what `make` makes of candidate k, and of candidate k + 4 in its upper half if
 * it has one; TRANSPOSE makes columns of four such rows. See impact_lanes.h; the directions are those of impact_filter.c.
 *
 * The bound. u = 2^-24. A vector of the question (a side, an edge, from one feature to the other) is a difference of doubles, rounded to
 * a float: 1u of a component. Where the step is cut short at t < 1 its end is (1 - t) begin + t end, with 1 rounding of 1 - t, 1 of
 * each product and 1 of the sum: 4u of m, the largest component at both ends. A projection on a direction n, which is taken as it is, has
 * three products, each rounded once, and two sums: 7u * 3 |n| m. Comparing adds up to three projections with two sums, of which
 * the last has the sign that is asked for: (7 + 1) u * 3 |n| (m1 + m2 + md) = 24u |n| sum. 26 has room for terms of second order and for the
 * roundings of the bound itself. (Rounding of the doubles is 2^-29 of u.)
 *
 * Range: with sum below 2^24 the largest direction is below 2^78 and the largest projection below 2^105: no overflow. A float or product
 * that underflows is off by 2^-150; there are at most 45 such in a comparison, those in a component times |n|, which is |n| 2^-144 < 2^-26 of
 * the bound while sum is above 2^-90; the others are below 2^-140, and 2^-120 is added for them. */

#ifndef PN_LANES_BOUND
#define PN_LANES_BOUND (26.0f * 0x1p-24f)
#endif
#ifndef PN_LANES_TINY
#define PN_LANES_TINY 0x1p-120f
#endif

/* A vector of W candidates at both ends: x, y, z, and of each the begin and the end. */
typedef struct LaneEnds {
  F x[3][2];
} LaneEnds;

PN_INLINE F dotEnd(const F n[3], const LaneEnds *a, int end) {
  return ADD(ADD(MUL(n[0], a->x[0][end]), MUL(n[1], a->x[1][end])), MUL(n[2], a->x[2][end]));
}

PN_INLINE void crossLanes(const F *p, const F *q, F *r) {
  r[0] = SUB(MUL(p[1], q[2]), MUL(p[2], q[1]));
  r[1] = SUB(MUL(p[2], q[0]), MUL(p[0], q[2]));
  r[2] = SUB(MUL(p[0], q[1]), MUL(p[1], q[0]));
}

PN_INLINE F largestLanes(const LaneEnds *a) {
  F m = MAX(ABS(a->x[0][0]), ABS(a->x[0][1]));
  return MAX(m, MAX(MAX(ABS(a->x[1][0]), ABS(a->x[1][1])), MAX(ABS(a->x[2][0]), ABS(a->x[2][1]))));
}

/* Twice the middle. */
PN_INLINE void sumLanes(const LaneEnds *a, F out[3]) {
  for (int k = 0; k < 3; ++k) out[k] = ADD(a->x[k][0], a->x[k][1]);
}

/* The end is where it is at `until`. */
PN_INLINE void cutShort(LaneEnds *a, F until, F rest) {
  for (int k = 0; k < 3; ++k) a->x[k][1] = ADD(MUL(rest, a->x[k][0]), MUL(until, a->x[k][1]));
}

/* Lanes in which one feature is behind the other along n at both ends. */
PN_INLINE F apartLanes(bool edges, const F n[3], const LaneEnds v[3], F sum) {
  F reach = MAX(MAX(ABS(n[0]), ABS(n[1])), ABS(n[2])), zero = SET1(0.0f), up[2], down[2];
  for (int end = 0; end < 2; ++end) {
    F p1 = dotEnd(n, &v[0], end), p2 = dotEnd(n, &v[1], end), pd = dotEnd(n, &v[2], end);
    if (edges) {
      up[end] = SUB(ADD(pd, MIN(zero, p2)), MAX(zero, p1));
      down[end] = SUB(MIN(zero, p1), ADD(pd, MAX(zero, p2)));
    } else {
      up[end] = SUB(pd, MAX(zero, MAX(p1, p2)));
      down[end] = SUB(MIN(zero, MIN(p1, p2)), pd);
    }
  }
  F bound = ADD(MUL(MUL(reach, SET1(PN_LANES_BOUND)), sum), SET1(PN_LANES_TINY));
  return GREATER(MAX(MIN(up[0], up[1]), MIN(down[0], down[1])), bound);
}

/* v: e1, e2 and d of impact_filter.c. */
PN_INLINE uint32_t decideLanes(bool edges, LaneEnds v[3], float until) {
  if (until < 1.0f)
    for (int i = 0; i < 3; ++i) cutShort(&v[i], SET1(until), SET1(1.0f - until));
  F sum = ADD(ADD(largestLanes(&v[0]), largestLanes(&v[1])), largestLanes(&v[2]));
  F inRange = AND(GREATER(sum, SET1(0x1p-90f)), GREATER(SET1(0x1p24f), sum)), e1[3], e2[3], n[3], side[3];
  sumLanes(&v[0], e1);
  sumLanes(&v[1], e2);
  crossLanes(e1, e2, n);
  F apart = apartLanes(edges, n, v, sum);
  crossLanes(n, e1, side);
  apart = OR(apart, apartLanes(edges, side, v, sum));
  crossLanes(n, e2, side);
  apart = OR(apart, apartLanes(edges, side, v, sum));
  F across[3] = {SUB(e2[0], e1[0]), SUB(e2[1], e1[1]), SUB(e2[2], e1[2])};
  if (edges) {
    /* from middle to middle */
    sumLanes(&v[2], side);
    for (int k = 0; k < 3; ++k) side[k] = ADD(ADD(side[k], side[k]), across[k]);
  } else {
    crossLanes(n, across, side);
  }
  apart = OR(apart, apartLanes(edges, side, v, sum));
  return SIGNS(AND(apart, inRange));
}

/* ---------------------------------------------------------------- fetching */

/* x and y of e1, of e2 and of d, each at the begin and at the end; z of e1 and e2; z of d, twice. */
PN_INLINE pnF4 faceXy1(const pnD2 *const p[4]) {
  return pn_f4OfDifferences(p[2], p[1]);
}
PN_INLINE pnF4 faceXy2(const pnD2 *const p[4]) {
  return pn_f4OfDifferences(p[3], p[1]);
}
PN_INLINE pnF4 faceXyD(const pnD2 *const p[4]) {
  return pn_f4OfDifferences(p[0], p[1]);
}
PN_INLINE pnF4 faceZ(const pnD2 *const p[4]) {
  return pn_f4OfDoubles(p[2][2] - p[1][2], p[3][2] - p[1][2]);
}
PN_INLINE pnF4 faceZd(const pnD2 *const p[4]) {
  pnD2 z = p[0][2] - p[1][2];
  return pn_f4OfDoubles(z, z);
}
PN_INLINE pnF4 edgeXy1(const pnD2 *const p[4]) {
  return pn_f4OfDifferences(p[1], p[0]);
}
PN_INLINE pnF4 edgeXy2(const pnD2 *const p[4]) {
  return pn_f4OfDifferences(p[3], p[2]);
}
PN_INLINE pnF4 edgeXyD(const pnD2 *const p[4]) {
  return pn_f4OfDifferences(p[2], p[0]);
}
PN_INLINE pnF4 edgeZ(const pnD2 *const p[4]) {
  return pn_f4OfDoubles(p[1][2] - p[0][2], p[3][2] - p[2][2]);
}
PN_INLINE pnF4 edgeZd(const pnD2 *const p[4]) {
  pnD2 z = p[2][2] - p[0][2];
  return pn_f4OfDoubles(z, z);
}

#define COLUMNS(make, out) TRANSPOSE(ROW(make, 0), ROW(make, 1), ROW(make, 2), ROW(make, 3), out)

/* Columns of x and y, and of z, into a vector. */
PN_INLINE void setEnds(LaneEnds *v, const F xy[4], const F z[2]) {
  for (int k = 0; k < 2; ++k) v->x[0][k] = xy[k], v->x[1][k] = xy[2 + k], v->x[2][k] = z[k];
}

PN_INLINE uint32_t apartOf(pn_Features features, pn_EightPlaces places, float until) {
  F xy1[4], xy2[4], xyD[4], z[4], zD[4];
  LaneEnds v[3];
  if (features == PN_EDGE_EDGE) {
    COLUMNS(edgeXy1, xy1);
    COLUMNS(edgeXy2, xy2);
    COLUMNS(edgeXyD, xyD);
    COLUMNS(edgeZ, z);
    COLUMNS(edgeZd, zD);
  } else {
    COLUMNS(faceXy1, xy1);
    COLUMNS(faceXy2, xy2);
    COLUMNS(faceXyD, xyD);
    COLUMNS(faceZ, z);
    COLUMNS(faceZd, zD);
  }
  setEnds(&v[0], xy1, z);
  setEnds(&v[1], xy2, z + 2);
  setEnds(&v[2], xyD, zD);
  /* compiled for each kind, without a branch on it */
  return features == PN_EDGE_EDGE ? decideLanes(true, v, until) : decideLanes(false, v, until);
}
