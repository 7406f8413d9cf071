/* impact_exact.c: do a moving vertex and face, or two moving edges, meet between t = 0 and t = 1? In whole numbers.
 *
 * Coordinates become whole multiples of a common power of two. A moving point is then a polynomial of degree 1 in t, and
 * when four points meet they lie in one plane: f(t) = (e1 x e2) . d = 0, a cubic. Two cases:
 *
 *   f is not the zero polynomial.  Contacts are among its three roots at most. At a root r the points do lie in one plane.
 *     If the normal n = e1 x e2 is not 0 there, say along axis k, then the figures are looked at along k, and what
 *     decides are signs of turns in two dimensions: components of cross products, quadratics in t. If n is 0, the face
 *     is a segment or a point, or the edges are parallel or points; then they meet just when an end lies on a segment.
 *     A point p lies on the segment ab when (b - a) x (p - a) = 0 and (p - a) . (p - b) <= 0: quadratics again.
 *   f is zero: the points are in one plane all the time. If they do not meet at t = 0, then at the first contact p lies on a
 *     side of the face, or an end of one edge on the other: a point inside the face, or a crossing inside both
 *     edges, would have been there a moment earlier. So the first of three or four times when a point comes to lie on a
 *     segment: roots of one component of the cross product that is not zero, with the others zero there; or, when
 *     point and segment stay on one line, the first zero of (p - a) . (p - b).
 *
 * So all that is ever asked is the sign of a quadratic at a root of a cubic or quadratic: root.h.
 *
 * Sizes. Coordinates have 640 bits, steps of differences 642, f's coefficients 3 * 642 + 5 = 1931, a quadratic's 1287. The
 * longest numbers: f modulo q at most 7 * 642 bits and some; q at its zero 16 * 642 and some; q at the single root of an f
 * with a double one 20 * 642 and some = 12 880; f at a place after 3870 halvings 1931 + 3 * 3870 = 13 541 bits, 212 limbs.
 * About fifteen of these are on the slate at once (bernsteinSigns), beside 2000 limbs for points and polynomials.
 */
#include "geom/impact.h"

#include "geom/root.h"

#include <math.h>

#define COORDINATE_BITS 640

/* Four moving points in whole numbers: at t = 0, and what is added on the way to t = 1. */
typedef struct Points {
  pn_Slate *slate;
  pn_Whole from[4][3], step[4][3];
} Points;

/* ---------------------------------------------------------------- from doubles to whole numbers */

/* x = mantissa * 2^exponent, mantissa odd; x not 0. */
static int64_t takeApart(double x, int *exponent) {
  int64_t mantissa = (int64_t)ldexp(frexp(x, exponent), 53);
  *exponent -= 53;
  while (!(mantissa & 1)) mantissa /= 2, ++*exponent;
  return mantissa;
}

/* The power of two that all coordinates are multiples of; or, when they would need more than COORDINATE_BITS, one that
 * leaves the largest that many. */
static int findUnit(const double x[24]) {
  int low = 0, high = 0;
  bool any = false;
  for (int i = 0; i < 24; ++i) {
    int last, first;
    if (x[i] == 0.0) continue;
    takeApart(x[i], &last);
    frexp(x[i], &first); /* |x| < 2^first */
    low = any ? PN_MIN(low, last) : last;
    high = any ? PN_MAX(high, first) : first;
    any = true;
  }
  return PN_MAX(low, high - COORDINATE_BITS);
}

static pn_Whole wholeOf(pn_Slate *s, double x, int unit) {
  int exponent;
  if (x == 0.0) return pn_makeWhole(s, 0, 0);
  int64_t mantissa = takeApart(x, &exponent);
  if (exponent >= unit) return pn_makeWhole(s, mantissa, (uint32_t)(exponent - unit));
  return pn_makeWhole(s, unit - exponent < 63 ? mantissa / ((int64_t)1 << (unit - exponent)) : 0, 0);
}

PN_CALLED static void makePoints(Points *p, pn_Slate *s, const pnMovingDouble *points) {
  double x[24];
  for (int i = 0; i < 12; ++i) x[i] = points->from[i / 3][i % 3], x[12 + i] = points->to[i / 3][i % 3];
  int unit = findUnit(x);
  p->slate = s;
  for (int i = 0; i < 12; ++i) {
    pn_Whole from = wholeOf(s, x[i], unit), to = wholeOf(s, x[i + 12], unit);
    p->from[i / 3][i % 3] = from;
    p->step[i / 3][i % 3] = pn_subtractWhole(s, to, from);
  }
}

/* ---------------------------------------------------------------- polynomials of points */

/* One coordinate of point j as seen from point i: constant and slope. */
typedef struct Line {
  pn_Whole c[2];
} Line;

static Line between(const Points *p, int i, int j, int axis) {
  pn_Slate *s = p->slate;
  return (Line){{pn_subtractWhole(s, p->from[j][axis], p->from[i][axis]),
                 pn_subtractWhole(s, p->step[j][axis], p->step[i][axis])}};
}

/* sum += sign * a b */
static void addProduct(pn_Slate *s, pn_Poly *sum, int sign, const Line *a, const Line *b) {
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      pn_Whole product = pn_multiplyWhole(s, a->c[i], b->c[j]);
      product.sign *= sign;
      sum->c[i + j] = pn_addWhole(s, sum->c[i + j], product);
    }
  }
}

/* Component `axis` of (j - i) x (l - k), a quadratic. */
PN_CALLED static pn_Poly crossComponent(const Points *p, int i, int j, int k, int l, int axis) {
  int u = axis == 2 ? 0 : axis + 1, v = axis == 0 ? 2 : axis - 1;
  Line a = between(p, i, j, u), b = between(p, k, l, v), c = between(p, i, j, v), d = between(p, k, l, u);
  pn_Poly q = {0};
  addProduct(p->slate, &q, 1, &a, &b);
  addProduct(p->slate, &q, -1, &c, &d);
  pn_trimPoly(&q, 3);
  return q;
}

/* (x - a) . (x - b), a quadratic: not positive where x is in the ball over ab, so on a line with both, between them. */
PN_CALLED static pn_Poly betweenness(const Points *p, int x, int a, int b) {
  pn_Poly q = {0};
  for (int axis = 0; axis < 3; ++axis) {
    Line u = between(p, a, x, axis), v = between(p, b, x, axis);
    addProduct(p->slate, &q, 1, &u, &v);
  }
  pn_trimPoly(&q, 3);
  return q;
}

/* ((j - i) x (l - k)) . (m - i), the cubic that vanishes where four points are in one plane. */
PN_CALLED static pn_Poly volume(const Points *p, int i, int j, int k, int l, int m) {
  pn_Slate *s = p->slate;
  uint32_t mark = s->used;
  pn_Poly f = {0};
  for (int axis = 0; axis < 3; ++axis) {
    pn_Poly n = crossComponent(p, i, j, k, l, axis);
    Line d = between(p, i, m, axis);
    for (int a = 0; a <= n.degree; ++a)
      for (int b = 0; b < 2; ++b) f.c[a + b] = pn_addWhole(s, f.c[a + b], pn_multiplyWhole(s, n.c[a], d.c[b]));
  }
  pn_trimPoly(&f, 4);
  pn_keepWholes(s, mark, f.c, 4);
  return f;
}

/* ---------------------------------------------------------------- contact at a root */

/* A time: a root of f. */
typedef struct Moment {
  const pn_Poly *f;
  const pn_Root *root;
} Moment;

static int signThen(const Points *p, Moment m, const pn_Poly *q) {
  return pn_signAtRoot(p->slate, m.f, m.root, q);
}

/* Which way do points a, b, c turn at the moment, looked at along the axis? */
PN_CALLED static int turnThen(const Points *p, Moment m, int a, int b, int c, int axis) {
  uint32_t mark = p->slate->used;
  pn_Poly q = crossComponent(p, a, b, a, c, axis);
  int sign = signThen(p, m, &q);
  p->slate->used = mark;
  return sign;
}

/* Is x on the closed segment ab? */
PN_CALLED static bool onSegmentThen(const Points *p, Moment m, int x, int a, int b) {
  for (int axis = 0; axis < 3; ++axis)
    if (turnThen(p, m, a, b, x, axis) != 0) return false;
  uint32_t mark = p->slate->used;
  pn_Poly q = betweenness(p, x, a, b);
  int sign = signThen(p, m, &q);
  p->slate->used = mark;
  return sign <= 0;
}

/* The ends and segments whose meeting is the meeting of figures without area: point, segment. */
PN_TABLE int endOnSegment[2][4][3] = {
    {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {-1, 0, 0}},
    {{0, 2, 3}, {1, 2, 3}, {2, 0, 1}, {3, 0, 1}},
};

/* Four points in one plane at the moment: do the features meet? */
PN_CALLED static bool meetThen(const Points *p, Moment m, pn_Features features) {
  /* an axis along which the plane is not seen edge on, and the turn of the face or from edge to edge */
  int axis = 0, turn = 0;
  for (; axis < 3 && turn == 0; axis += turn == 0) {
    uint32_t mark = p->slate->used;
    pn_Poly n = features == PN_VERTEX_FACE ? crossComponent(p, 1, 2, 1, 3, axis) : crossComponent(p, 0, 1, 2, 3, axis);
    turn = signThen(p, m, &n);
    p->slate->used = mark;
  }
  if (turn == 0) {
    for (int i = 0; i < 4; ++i) {
      const int x = endOnSegment[features][i][0], a = endOnSegment[features][i][1], b = endOnSegment[features][i][2];
      if (x >= 0 && onSegmentThen(p, m, x, a, b)) return true;
    }
    return false;
  }
  if (features == PN_VERTEX_FACE) {
    /* not outside any side */
    return turnThen(p, m, 1, 2, 0, axis) * turn >= 0 && turnThen(p, m, 2, 3, 0, axis) * turn >= 0 &&
           turnThen(p, m, 3, 1, 0, axis) * turn >= 0;
  }
  /* the ends of each are not on one side of the other */
  return turnThen(p, m, 0, 1, 2, axis) * turnThen(p, m, 0, 1, 3, axis) <= 0 &&
         turnThen(p, m, 2, 3, 0, axis) * turnThen(p, m, 2, 3, 1, axis) <= 0;
}

PN_CALLED static pnImpactSpan spanOf(const Points *p, Moment m) {
  pnImpactSpan span = {.meets = true};
  pn_spanRoot(p->slate, m.f, m.root, &span.lo, &span.hi);
  return span;
}

/* ---------------------------------------------------------------- always in one plane */

/* When x comes to lie on the segment ab. */
PN_CALLED static pnImpactSpan firstOnSegment(const Points *p, int x, int a, int b) {
  pnImpactSpan span = {0};
  uint32_t mark = p->slate->used;
  pn_Root roots[3];
  pn_Poly f = {-1, {{0}}};
  for (int axis = 0; axis < 3 && f.degree < 0; ++axis) f = crossComponent(p, a, b, a, x, axis);
  if (f.degree >= 0) {
    int count = pn_findRoots(p->slate, &f, roots);
    for (int i = 0; i < count && !span.meets; ++i) {
      Moment m = {&f, &roots[i]};
      if (onSegmentThen(p, m, x, a, b)) span = spanOf(p, m);
    }
  } else {
    /* On one line for good: between the ends from the start, or when it gets to one of them. */
    f = betweenness(p, x, a, b);
    if (f.degree < 0 || f.c[0].sign <= 0) span.meets = true;
    else if (pn_findRoots(p->slate, &f, roots) > 0) span = spanOf(p, (Moment){&f, &roots[0]});
  }
  p->slate->used = mark;
  return span;
}

PN_CALLED static pnImpactSpan firstInPlane(const Points *p, pn_Features features) {
  /* at the start: the root of the polynomial t */
  pn_Slate *s = p->slate;
  pn_Whole zero = pn_makeWhole(s, 0, 0), one = pn_makeWhole(s, 1, 0);
  pn_Poly t = {1, {zero, one}};
  pn_Root start = {.isRatio = true, .left = {zero, one}, .right = {zero, one}};
  if (meetThen(p, (Moment){&t, &start}, features)) return (pnImpactSpan){.meets = true};
  /* the earliest of three or four; its span is bounded by the earliest of their ends */
  pnImpactSpan first = {0};
  for (int i = 0; i < 4; ++i) {
    const int x = endOnSegment[features][i][0], a = endOnSegment[features][i][1], b = endOnSegment[features][i][2];
    if (x < 0) continue;
    pnImpactSpan span = firstOnSegment(p, x, a, b);
    if (!span.meets) continue;
    first.lo = first.meets ? fmin(first.lo, span.lo) : span.lo;
    first.hi = first.meets ? fmin(first.hi, span.hi) : span.hi;
    first.meets = true;
  }
  return first;
}

/* ---------------------------------------------------------------- the question */

static pnImpactSpan answer(pn_Slate *s, pn_Features features, const pnMovingDouble *points) {
  Points p;
  makePoints(&p, s, points);
  pn_Poly f = features == PN_VERTEX_FACE ? volume(&p, 1, 2, 1, 3, 0) : volume(&p, 0, 1, 2, 3, 2);
  if (f.degree < 0) return firstInPlane(&p, features);
  pn_Root roots[3];
  int count = pn_findRoots(s, &f, roots);
  for (int i = 0; i < count; ++i) {
    Moment m = {&f, &roots[i]};
    if (meetThen(&p, m, features)) return spanOf(&p, m);
  }
  return (pnImpactSpan){0};
}

PN_CALLED pnImpactSpan pn_impactExactOn(pn_Features features, const pnMovingDouble *points, PN_GLOBAL uint64_t *room,
                                        uint32_t *outLimbs) {
  pn_Slate slate;
  pn_cleanSlate(&slate, room);
  pnImpactSpan span = answer(&slate, features, points);
  *outLimbs = slate.most;
  return span;
}
