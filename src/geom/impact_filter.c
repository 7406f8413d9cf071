/* impact_filter.c: the fast filter in front of impact_exact.c. It decides only what its bounds prove.
 *
 * With e1, e2 two sides of the face (or the two edges) and d from one feature to the other, all linear in t:
 *
 *   1. Directions. If along a fixed direction one feature is behind the other at t = 0 and at t = 1, it is at all times
 *      between: differences of projections are linear in t. The normal at half time decides most, then sides' normals.
 *   2. f(t) = (e1 x e2) . d in Bernstein form. Four coefficients of one sign: never in one plane. One change of sign:
 *      one root, which is found and enclosed. Otherwise the interval is halved, a dozen times at most.
 *   3. At a root, d = (S e1 + T e2) / N with quartics N = n.n, S = (d x e2).n, T = (e1 x d).n for n = e1 x e2. Their signs,
 *      certain over the whole enclosure, say inside or outside.
 *
 * Bounds. u = 2^-53 is the largest relative error of one operation. An input difference is rounded once; a result is off by
 * at most (roundings on the way of each product) * u * (sum of the products' magnitudes); factors (1 + u)^k - 1 are below
 * k u (1 + 2^-40) for all k here, which every bound has room for. test_geom_impact changes each bound and sees it
 * caught. Underflow: `prepare` sends anything whose largest differences are outside 2^-200 ... 2^200 to the exact
 * stage; then each bound is above 2^-53 * 2^-800, and the 2^-1075 that an underflowing operation may be off by is nothing.
 *
 * Also the text of a program of the device room: in the part that C17 and OpenCL C have in common.
 *
 * Plain C over doubles, no library but fabs and sqrt, which are exact or correctly rounded everywhere: the same bits
 * on every machine.
 */
#include "geom/impact.h"

#include "geom/expansion.h"
#include "geom/simd_whole.h"

/* fmax and fmin are calls where NaN matters; here none comes in. */
PN_INLINE double most(double a, double b) {
  return a > b ? a : b;
}

PN_INLINE double least(double a, double b) {
  return a < b ? a : b;
}

/* ---------------------------------------------------------------- vectors */

typedef struct Vec {
  double x, y, z;
} Vec;

PN_INLINE Vec add(Vec a, Vec b) {
  return (Vec){a.x + b.x, a.y + b.y, a.z + b.z};
}

PN_INLINE Vec less(Vec a, Vec b) {
  return (Vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

PN_INLINE Vec cross(Vec a, Vec b) {
  return (Vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

PN_INLINE double dot(Vec a, Vec b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

PN_INLINE double largest(Vec a) {
  return most(most(fabs(a.x), fabs(a.y)), fabs(a.z));
}

/* A vector at both ends of the step, side by side. */
typedef struct Both {
  pnD2 x, y, z;
} Both;

PN_INLINE Both subtractBoth(const pnD2 *const x[4], int i, int j) {
  return (Both){x[i][0] - x[j][0], x[i][1] - x[j][1], x[i][2] - x[j][2]};
}

PN_INLINE Vec endOf(const Both *a, int k) {
  return (Vec){PN_LANE(a->x, k), PN_LANE(a->y, k), PN_LANE(a->z, k)};
}

/* Twice the middle. */
PN_INLINE Vec sumOf(const Both *a) {
  return (Vec){PN_LANE(a->x, 0) + PN_LANE(a->x, 1), PN_LANE(a->y, 0) + PN_LANE(a->y, 1),
               PN_LANE(a->z, 0) + PN_LANE(a->z, 1)};
}

PN_INLINE double largestOf(const Both *a) {
  pnD2 m = pn_d2Max(pn_d2Max(pn_d2Max(a->x, -a->x), pn_d2Max(a->y, -a->y)), pn_d2Max(a->z, -a->z));
  return most(PN_LANE(m, 0), PN_LANE(m, 1));
}

PN_INLINE pnD2 dotBoth(Vec n, const Both *a) {
  return n.x * a->x + n.y * a->y + n.z * a->z;
}

PN_INLINE Vec mix(const Both *a, double t) {
  double s = 1.0 - t;
  return (Vec){s * PN_LANE(a->x, 0) + t * PN_LANE(a->x, 1), s * PN_LANE(a->y, 0) + t * PN_LANE(a->y, 1),
               s * PN_LANE(a->z, 0) + t * PN_LANE(a->z, 1)};
}

/* A length from its square, and 8 roundings (3 products, 2 sums, a root) more. */
PN_INLINE double lengthOf(double square) {
  return sqrt(square) * (1.0 + 16.0 * PN_ROUND);
}

/* The larger length of the two ends, and the length of the change; the latter is off by 3 roundings of numbers up to the
 * former. */
PN_INLINE void measure(const Both *a, double *reach, double *change) {
  pnD2 square = a->x * a->x + a->y * a->y + a->z * a->z;
  Vec step = less(endOf(a, 1), endOf(a, 0));
  *reach = lengthOf(most(PN_LANE(square, 0), PN_LANE(square, 1)));
  *change = lengthOf(dot(step, step)) + 8.0 * PN_ROUND * *reach;
}

/* ---------------------------------------------------------------- the question */

typedef struct Motion {
  bool edges;             /* two edges, or a vertex and a face */
  Both e1, e2, d;         /* at t = 0 and 1 */
  double m1, m2, md, sum; /* their largest components */
  double r1, r2, rd;      /* their lengths, and those of their changes: for `inside` */
  double w1, w2, wd;
  double c[4], bound; /* Bernstein coefficients of f over [0, 1], and what they may be off by */
} Motion;

/* Differences; false when they are too large or too small for the bounds below. */
PN_INLINE bool prepare(Motion *q, pn_Features features, const pnD2 *const p[4]) {
  q->edges = features == PN_EDGE_EDGE;
  q->e1 = q->edges ? subtractBoth(p, 1, 0) : subtractBoth(p, 2, 1);
  q->e2 = q->edges ? subtractBoth(p, 3, 2) : subtractBoth(p, 3, 1);
  q->d = q->edges ? subtractBoth(p, 2, 0) : subtractBoth(p, 0, 1);
  q->m1 = largestOf(&q->e1), q->m2 = largestOf(&q->e2), q->md = largestOf(&q->d);
  q->sum = q->m1 + q->m2 + q->md;
  return least(least(q->m1, q->m2), q->md) >= 0x1p-200 && q->sum <= 0x1p200;
}

/* ---------------------------------------------------------------- 1. directions */

/* A projection has three products of a direction (taken as it is) and a difference: 1 rounding of the difference, 1 of the
 * product, 2 of the sums, so it is off by 4u * 3 |direction| m; comparing adds up to three projections, and two sums of
 * them: (4 + 1) u * 3 |direction| (m1 + m2 + md). 16 where 15 would do. */
#ifndef PN_APART_BOUND
#define PN_APART_BOUND (16.0 * PN_ROUND)
#endif

PN_INLINE bool apartAlong(const Motion *q, Vec n) {
  double e = PN_APART_BOUND * largest(n) * q->sum;
  pnD2 p1 = dotBoth(n, &q->e1), p2 = dotBoth(n, &q->e2), pd = dotBoth(n, &q->d), zero = PN_D2(0.0, 0.0), up, down;
  if (q->edges) {
    up = (pd + pn_d2Min(zero, p2)) - pn_d2Max(zero, p1);
    down = pn_d2Min(zero, p1) - (pd + pn_d2Max(zero, p2));
  } else {
    up = pd - pn_d2Max(zero, pn_d2Max(p1, p2));
    down = pn_d2Min(zero, pn_d2Min(p1, p2)) - pd;
  }
  return most(least(PN_LANE(up, 0), PN_LANE(up, 1)), least(PN_LANE(down, 0), PN_LANE(down, 1))) > e;
}

/* Is one of a few directions a proof that they stay apart? Taken at half time: the normal; in the plane, across each side of
 * the face or each edge; for edges, from middle to middle. */
PN_INLINE bool apart(const Motion *q) {
  Vec e1 = sumOf(&q->e1), e2 = sumOf(&q->e2), n = cross(e1, e2);
  if (apartAlong(q, n)) return true;
  if (apartAlong(q, cross(n, e1)) || apartAlong(q, cross(n, e2))) return true;
  if (!q->edges) return apartAlong(q, cross(n, less(e2, e1)));
  Vec d = sumOf(&q->d), reach = less(e2, e1);
  return apartAlong(q, (Vec){2.0 * d.x + reach.x, 2.0 * d.y + reach.y, 2.0 * d.z + reach.z});
}

/* ---------------------------------------------------------------- 2. the cubic */

#define MAX_HALVINGS 12

/* With M = m1 m2 md. A first or last coefficient is the sum of 6 products below M; on the way of each are 3 rounded
 * differences and 5 operations: 48u M. A middle one is a third of 18 such products with 3 + 9 roundings: 72u M. Every
 * halving takes three means in a row, each rounded once, of numbers below 6.1 M: 18.3u M more, 12 times: 220u M.
 * `valueAt` multiplies coefficients by weights that add up to 1, with 11 roundings at most: 67u M. All: below 360u M; and
 * M itself is computed with two roundings. */
#ifndef PN_VOLUME_BOUND
#define PN_VOLUME_BOUND (384.0 * PN_ROUND)
#endif

PN_INLINE void makeCubic(Motion *q) {
  Vec a0 = endOf(&q->e1, 0), a1 = endOf(&q->e1, 1), b0 = endOf(&q->e2, 0), b1 = endOf(&q->e2, 1);
  Vec d0 = endOf(&q->d, 0), d1 = endOf(&q->d, 1), n0 = cross(a0, b0), n2 = cross(a1, b1);
  Vec n1 = add(cross(a0, b1), cross(a1, b0)); /* twice the middle coefficient of the normal */
  q->c[0] = dot(n0, d0);
  q->c[1] = (dot(n0, d1) + dot(n1, d0)) * (1.0 / 3.0);
  q->c[2] = (dot(n1, d1) + dot(n2, d0)) * (1.0 / 3.0);
  q->c[3] = dot(n2, d1);
  q->bound = PN_VOLUME_BOUND * q->m1 * q->m2 * q->md;
}

/* Is f surely not 0 from 0 to `until`? Its coefficients over that part are means with weights, three in a row, each with 3 roundings:
 * 55u M on top of the 72u M of the coefficients. */
PN_INLINE bool neverFlat(const Motion *q, double until) {
  const double *c = q->c;
  double s = 1.0 - until, a = s * c[0] + until * c[1], b = s * c[1] + until * c[2], d = s * c[2] + until * c[3];
  double ab = s * a + until * b, bd = s * b + until * d, end = s * ab + until * bd;
  double low = least(least(c[0], a), least(ab, end)), high = most(most(c[0], a), most(ab, end));
  return low > q->bound || high < -q->bound;
}

/* f at t in [0, 1]. */
PN_INLINE double valueAt(const double c[4], double t) {
  double s = 1.0 - t, t3 = 3.0 * t;
  return s * (s * (s * c[0] + t3 * c[1]) + t3 * t * c[2]) + t * t * t * c[3];
}

/* -1, 0 or +1 when certain; 2 when not. Exactly 0 is certain only without any error, and then uncertain is as good. */
PN_INLINE int certainSign(double value, double bound) {
  return value > bound ? 1 : value < -bound ? -1 : 0;
}

/* ---------------------------------------------------------------- 3. inside */

/* Rounding of the quartics, as part of the product of the four lengths. Products of components: in a cross product a x b their
 * magnitudes have the length sqrt(2) |a| |b| at most, so in N, S or T their sum is at most 2 |..||..||..||..|. 7 roundings each
 * (2 in each cross product, 1 product, 2 sums), and 3 for the sums N - S - T: 20u. 64 covers also what the bound
 * itself loses where it subtracts nearly equal numbers (4u of each) and is generous. */
#define INSIDE_BOUND (64.0 * PN_ROUND)
#define MIX_BOUND (8.0 * PN_ROUND) /* of a vector at a time, as part of its length: see `inside` */
#ifndef PN_INSIDE_SCALE
#define PN_INSIDE_SCALE 1.0 /* for the test that turns it down */
#endif

/* -1: outside at every time within h of t. +1: inside. 0: not certain.
 * A vector at such a time differs from the one computed for t by at most h times its change over the step, and by the
 * rounding of `mix`: 1 for the difference, 1 for 1 - t, 1 product, 1 sum, 4u of its length; 8u are taken. By
 * Cauchy-Schwarz a product like (d x e2) . (e1 x e2) then differs by at most the product of the lengths, each made longer by
 * that, less the product of the lengths. */
static int inside(const Motion *q, double t, double h) {
  Vec e1 = mix(&q->e1, t), e2 = mix(&q->e2, t), d = mix(&q->d, t), n = cross(e1, e2);
  double N = dot(n, n), S = dot(cross(d, e2), n), T = dot(cross(e1, d), n);
  double r1 = q->r1, r2 = q->r2, rd = q->rd;
  double l1 = r1 + (h * q->w1 + MIX_BOUND * r1), l2 = r2 + (h * q->w2 + MIX_BOUND * r2);
  double ld = rd + (h * q->wd + MIX_BOUND * rd), a = l1 * l2, b = r1 * r2, more = 1.0 + INSIDE_BOUND;
  double eN = a * a * more - b * b, eS = a * (ld * l2) * more - b * (rd * r2),
         eT = a * (ld * l1) * more - b * (rd * r1);
  eN *= PN_INSIDE_SCALE, eS *= PN_INSIDE_SCALE, eT *= PN_INSIDE_SCALE;
  if (!q->edges) {
    double W = N - S - T, eW = eN + eS + eT;
    if (S < -eS || T < -eT || W < -eW) return -1;
    return S > eS && T > eT && W > eW;
  }
  double U = N - S, V = N + T, eU = eN + eS, eV = eN + eT;
  if (S < -eS || T > eT || U < -eU || V < -eV) return -1;
  return S > eS && T < -eT && U > eU && V > eV;
}

/* ---------------------------------------------------------------- the search */

/* About where the cubic with coefficients c over [0, 1] vanishes, by Newton's steps kept inside what is known; and its slope there. */
static double findZero(const double c[4], double *slope) {
  double a1 = 3.0 * (c[1] - c[0]), a2 = 3.0 * ((c[2] - c[1]) - (c[1] - c[0])), a3 = (c[3] - c[0]) - 3.0 * (c[2] - c[1]);
  double low = 0.0, high = 1.0, x = c[0] / (c[0] - c[3]);
  for (int i = 0; i < 40; ++i) {
    double value = ((a3 * x + a2) * x + a1) * x + c[0];
    *slope = (3.0 * a3 * x + 2.0 * a2) * x + a1;
    if ((value > 0.0) == (c[0] > 0.0)) low = x;
    else high = x;
    double next = x - value / *slope;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    double step = fabs(next - x);
    x = next;
    if (step < 0x1p-36) break;
  }
  return x;
}

/* f has one root in [lo, hi], where its coefficients are c; their ends have certain, opposite signs. */
static pn_Verdict decideRoot(const Motion *q, double lo, double hi, const double c[4], pnImpactSpan *span) {
  double slope, wide = hi - lo, t = lo + wide * findZero(c, &slope), first = c[0] > 0.0 ? 1.0 : -1.0;
  /* Enclose it: as near as the bound lets us be sure of signs, then farther. */
  double near = most(0x1p-40, 2.0 * q->bound * wide / fabs(slope));
  for (int i = 0; i < 3; ++i, near *= 16.0) {
    double a = t - near, b = t + near;
    if (a <= lo) a = lo;
    else if (!(first * valueAt(q->c, a) > q->bound)) continue;
    if (b >= hi) b = hi;
    else if (!(first * valueAt(q->c, b) < -q->bound)) continue;
    int in = inside(q, 0.5 * (a + b), 0.5 * (b - a) + 0x1p-52);
    if (in < 0) return PN_APART;
    if (in > 0 && b - a < 0x1p-21) return *span = (pnImpactSpan){true, a, b}, PN_MEETING;
    return PN_UNCERTAIN;
  }
  return PN_UNCERTAIN;
}

/* A part of [0, 1] and the coefficients over it. */
typedef struct Part {
  double lo, hi, c[4];
  int depth;
} Part;

/* What is certain about the parts of [0, 1], the earliest first. */
static PN_NOINLINE pn_Verdict search(Motion *q, pnImpactSpan *span) {
  Part stack[MAX_HALVINGS + 1], now = {0.0, 1.0, {q->c[0], q->c[1], q->c[2], q->c[3]}, 0};
  int waiting = 0;
  double e = q->bound;
  measure(&q->e1, &q->r1, &q->w1);
  measure(&q->e2, &q->r2, &q->w2);
  measure(&q->d, &q->rd, &q->wd);
  for (;;) {
    int s0 = certainSign(now.c[0], e), s1 = certainSign(now.c[1], e), s2 = certainSign(now.c[2], e);
    int s3 = certainSign(now.c[3], e);
    pn_Verdict verdict = PN_UNCERTAIN;
    bool halve = false;
    if (s0 != 0 && s0 == s1 && s0 == s2 && s0 == s3) verdict = PN_APART;
    else if (s0 * s3 < 0 && (s1 == s0 || s2 == s3))
      verdict = decideRoot(q, now.lo, now.hi, now.c, span); /* one change of sign, whatever the uncertain one is */
    else if (now.depth > 0 && inside(q, 0.5 * (now.lo + now.hi), 0.5 * (now.hi - now.lo)) < 0) verdict = PN_APART;
    else halve = now.depth < MAX_HALVINGS;
    if (halve) {
      const double *c = now.c;
      double m = 0.5 * (now.lo + now.hi), a = 0.5 * (c[0] + c[1]), b = 0.5 * (c[1] + c[2]), d = 0.5 * (c[2] + c[3]);
      double ab = 0.5 * (a + b), bd = 0.5 * (b + d), middle = 0.5 * (ab + bd);
      double right = c[3], left = c[0], hi = now.hi, lo = now.lo;
      int depth = now.depth + 1;
      stack[waiting].lo = m, stack[waiting].hi = hi, stack[waiting].depth = depth;
      stack[waiting].c[0] = middle, stack[waiting].c[1] = bd, stack[waiting].c[2] = d, stack[waiting].c[3] = right;
      ++waiting;
      now.lo = lo, now.hi = m, now.depth = depth;
      now.c[0] = left, now.c[1] = a, now.c[2] = ab, now.c[3] = middle;
      continue;
    }
    /* the first contact may be here, or there is none here: then the next part */
    if (verdict != PN_APART || waiting == 0) return verdict;
    now = stack[--waiting];
  }
}

/* Compiled once for each kind of features, without a branch on it. */
PN_INLINE pn_Verdict filter(pn_Features features, const pnD2 *const places[4], double until, pnImpactSpan *span) {
  Motion q;
  if (!prepare(&q, features, places)) return PN_UNCERTAIN;
  if (until < 1.0) {
    /* in a short part of the step the volume hardly changes: mostly that is enough */
    makeCubic(&q);
    return neverFlat(&q, until) || apart(&q) ? PN_APART : search(&q, span);
  }
  if (apart(&q)) return PN_APART;
  makeCubic(&q);
  return search(&q, span);
}

/* What was left open by the same directions in floats is rarely decided by them in doubles. */
PN_INLINE pn_Verdict filterOpen(pn_Features features, const pnD2 *const places[4], double until, pnImpactSpan *span) {
  Motion q;
  if (!prepare(&q, features, places)) return PN_UNCERTAIN;
  makeCubic(&q);
  if (until < 1.0 && neverFlat(&q, until)) return PN_APART;
  pn_Verdict verdict = search(&q, span);
  return verdict == PN_UNCERTAIN && apart(&q) ? PN_APART : verdict;
}

pn_Verdict pn_impactFilter(pn_Features features, const pnD2 *const places[4], double until, pnImpactSpan *span) {
  return features == PN_EDGE_EDGE ? filter(PN_EDGE_EDGE, places, until, span)
                                  : filter(PN_VERTEX_FACE, places, until, span);
}

pn_Verdict pn_impactFilterOpen(pn_Features features, const pnD2 *const places[4], double until, pnImpactSpan *span) {
  return features == PN_EDGE_EDGE ? filterOpen(PN_EDGE_EDGE, places, until, span)
                                  : filterOpen(PN_VERTEX_FACE, places, until, span);
}
