/* narrow_beyond.h: the filter for neighbours. Does one triangle meet another in more than the vertex or edge they share? Four
 * pairs at once on a processor; the text is OpenCL C as well, and the device room includes it with registers of one lane.
 *
 * Everything is translated so that the shared vertex v (or one end of the shared edge) is the origin; u = 2^-24, and M bounds
 * all coordinates after that. Each translated coordinate is rounded once: 1u.
 *
 * ONE SHARED CORNER: triangles 0 a1 a2 and 0 b1 b2.
 *  (1) A vector w with w.a1, w.a2 > 0 > w.b1, w.b2 is a proof that they meet only in 0. We try w = a1 + a2 - b1 - b2, which
 *      separates most triangles around a well-shaped vertex, in one plane too, and where (2) knows no answer the same sum
 *      of vectors of length one, which separates nearly all. Whatever rounding made of w, it is a proof when the dot
 *      products are certain: on each of their 3 terms 1u (input) + 1u (product) + 2u (sums), each at most W M, where W
 *      bounds w:  12u W M = 7.16e-7 W M. 7.5e-7.
 *  (2) Else by sides: sa[i] = det(b1, b2, ai), sb[i] = det(a1, a2, bi). Of one sign: apart. If sa and sb each have two
 *      signs, both triangles leave 0 along the line of their planes, and the third sign of triangle_beyond.c,
 *      |a1 a2 b1 b2| = sa[2] - sa[1] - sb[1] + sb[2], follows: it has the sign of sa[2] when sa[1], sb[1] agree, and then
 *      they leave in opposite directions; else it agrees with one of the two, and they meet. A determinant is off by 8u
 *      on each of 6 terms (narrow_kernel.h): 48u M^3 = 2.87e-6 M^3. 3e-6.
 *
 * A SHARED EDGE e: triangles 0 e p and 0 e q.
 *  (3) det(e, p, q) is not zero: different planes, only the edge. The bound of (2).
 *  (4) (e x p).(e x q) < 0: seen along the edge p and q are on different sides, only the edge. A component of a cross
 *      product is off by 4u on each of its 2 terms; a product of two components by 4u + 4u + 1u + 2u (sums) on each of 4, and
 *      there are 3:  132u M^4 = 7.87e-6 M^4. 8.3e-6.
 *
 * The bounds leave 4 % or more for terms of second order and their own rounding (under 30u). With 1e-8 < M < 1e9 nothing
 * overflows (12 M^4 < 1e38), and what underflow adds, 2^-148 max(1, 12 M^2), is far below what is left of (2), (3) and (4),
 * 1e-7 M^3 and 4e-7 M^4; W may be tiny, so FLT_MIN is added in (1). Outside that range of M: ask exactly. */
#ifndef PN_COLLIDE_NARROW_BEYOND_H
#define PN_COLLIDE_NARROW_BEYOND_H

#include "geom/simd_vec.h"

#include <float.h>

/* The first point becomes the origin; returns M. */
PN_INLINE pnF4 pn_toOrigin(pnV4 *p, int count) {
  pnF4 m = pn_f4Set1(0);
  for (int k = 1; k < count; ++k) {
    p[k] = pn_v4Sub(&p[k], &p[0]);
    m = pn_v4Reach(&p[k], m);
  }
  return m;
}

/* Coordinates, counted from a shared vertex, with which the filters for neighbours neither overflow nor underflow. */
PN_INLINE pnF4 pn_neighbourRange(pnF4 m) {
  return pn_f4And(pn_f4Greater(m, pn_f4Set1(1e-8f)), pn_f4Greater(pn_f4Set1(1e9f), m));
}

/* Both above e, or both below -e. */
PN_INLINE pnF4 pn_clearOf2(pnF4 s, pnF4 t, pnF4 e) {
  return pn_f4Or(pn_f4Greater(pn_f4Min(s, t), e), pn_f4Greater(pn_f4Neg(e), pn_f4Max(s, t)));
}

/* What is certain about four pairs: bits by lane. */
typedef struct pnVerdicts {
  uint32_t meet, unsure;
} pnVerdicts;

/* (1) Is w certain to separate 0 a1 a2 from 0 b1 b2 (p[1..2] from p[3..4])? A w that is not a number separates nothing. */
PN_INLINE pnF4 pn_separates(const pnV4 *w, const pnV4 p[5], pnF4 m) {
  pnF4 e = pn_f4Mul(pn_f4Mul(pn_v4Reach(w, pn_f4Set1(0)), m), pn_f4Set1(7.5e-7f));
  e = pn_f4Add(e, pn_f4Set1(FLT_MIN));
  pnF4 above = pn_f4Min(pn_v4Dot(w, &p[1]), pn_v4Dot(w, &p[2])),
       below = pn_f4Max(pn_v4Dot(w, &p[3]), pn_v4Dot(w, &p[4]));
  return pn_f4And(pn_f4Greater(above, e), pn_f4Greater(pn_f4Neg(e), below));
}

/* a1 + a2 - b1 - b2. */
PN_INLINE pnV4 pn_between(const pnV4 p[5]) {
  pnV4 w;
  for (int i = 0; i < 3; ++i) w.x[i] = pn_f4Sub(pn_f4Add(p[1].x[i], p[2].x[i]), pn_f4Add(p[3].x[i], p[4].x[i]));
  return w;
}

/* The same of vectors of length one. */
PN_INLINE pnV4 pn_betweenUnits(const pnV4 p[5]) {
  pnV4 unit[5];
  for (int k = 1; k < 5; ++k) {
    pnF4 length = pn_f4Sqrt(pn_v4Dot(&p[k], &p[k]));
    for (int i = 0; i < 3; ++i) unit[k].x[i] = pn_f4Div(p[k].x[i], length);
  }
  return pn_between(unit);
}

/* One shared corner: corners v, a1, a2, b1, b2, which are changed. */
PN_INLINE pnVerdicts pn_beyondCorner(pnV4 p[5]) {
  pnF4 m = pn_toOrigin(p, 5), inRange = pn_neighbourRange(m);
  pnV4 w = pn_between(p);
  uint32_t apart = pn_f4Signs(pn_f4And(pn_separates(&w, p, m), inRange));
  if (apart == PN_ALL_LANES) return (pnVerdicts){0, 0};

  /* (2) sides */
  pnV4 na = pn_v4Cross(&p[1], &p[2]), nb = pn_v4Cross(&p[3], &p[4]);
  pnF4 sa1 = pn_v4Dot(&nb, &p[1]), sa2 = pn_v4Dot(&nb, &p[2]), sb1 = pn_v4Dot(&na, &p[3]), sb2 = pn_v4Dot(&na, &p[4]);
  pnF4 e = pn_f4Mul(pn_f4Mul(pn_f4Mul(m, m), m), pn_f4Set1(3e-6f));
  apart |= pn_f4Signs(pn_f4And(pn_f4Or(pn_clearOf2(sa1, sa2, e), pn_clearOf2(sb1, sb2, e)), inRange));
  pnF4 least = pn_f4Min(pn_f4Min(pn_f4Abs(sa1), pn_f4Abs(sa2)), pn_f4Min(pn_f4Abs(sb1), pn_f4Abs(sb2)));
  uint32_t certain = pn_f4Signs(pn_f4And(pn_f4Greater(least, e), inRange));
  uint32_t meet = pn_f4Signs(pn_f4Xor(sa1, sb1)) & certain & ~apart;

  /* (1) again, with care */
  if ((apart | certain) != PN_ALL_LANES) {
    w = pn_betweenUnits(p);
    apart |= pn_f4Signs(pn_f4And(pn_separates(&w, p, m), inRange)) & ~certain;
  }
  return (pnVerdicts){meet, PN_ALL_LANES & ~(apart | certain)};
}

/* A shared edge: corners u, v, p, q, which are changed. They never meet for certain: that takes one plane exactly. */
PN_INLINE pnVerdicts pn_beyondEdge(pnV4 p[4]) {
  pnF4 m = pn_toOrigin(p, 4), m3 = pn_f4Mul(pn_f4Mul(m, m), m);
  pnV4 n = pn_v4Cross(&p[1], &p[2]);

  /* (3) different planes */
  pnF4 apart = pn_f4Greater(pn_f4Abs(pn_v4Dot(&n, &p[3])), pn_f4Mul(m3, pn_f4Set1(3e-6f)));

  /* (4) different sides */
  pnV4 o = pn_v4Cross(&p[1], &p[3]);
  pnF4 e = pn_f4Mul(pn_f4Mul(m3, m), pn_f4Set1(8.3e-6f));
  apart = pn_f4Or(apart, pn_f4Greater(pn_f4Neg(e), pn_v4Dot(&n, &o)));
  return (pnVerdicts){0, PN_ALL_LANES & ~pn_f4Signs(pn_f4And(apart, pn_neighbourRange(m)))};
}

#endif
