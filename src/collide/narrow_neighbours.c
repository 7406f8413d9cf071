/* narrow_neighbours.c: which neighbours of one mesh meet in more than the vertex or edge they share? About six pairs for
 * every triangle in every self query, and nearly all do not: a SIMD filter says so four at a time, and the exact test of
 * geom (triangle_beyond.c, where the reasons stand) is left with the rest.
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
#include "collide/narrow.h"
#include "geom/triangle.h"

#include <float.h>

/* ---------------------------------------------------------------- four pairs at once */

/* Corners of four pairs as columns, translated so that the first is the origin; returns M. */
PN_INLINE pnF4 load4(const float *const corner[4][5], int count, pnV4 out[5]) {
  pnF4 m = pn_f4Set1(0);
  for (int k = 0; k < count; k++) {
    out[k] = pn_v4Load(corner[0][k], corner[1][k], corner[2][k], corner[3][k]);
    if (k > 0) {
      out[k] = pn_v4Sub(&out[k], &out[0]);
      m = pn_v4Reach(&out[k], m);
    }
  }
  return m;
}

/* Both above e, or both below -e. */
PN_INLINE pnF4 clearOf4(pnF4 s, pnF4 t, pnF4 e) {
  return pn_f4Or(pn_f4Greater(pn_f4Min(s, t), e), pn_f4Greater(pn_f4Neg(e), pn_f4Max(s, t)));
}

/* What is certain about four pairs: bits by lane. */
typedef struct Verdicts {
  unsigned meet, unsure;
} Verdicts;

/* (1) Is w certain to separate 0 a1 a2 from 0 b1 b2 (p[1..2] from p[3..4])? A w that is not a number separates nothing. */
PN_INLINE pnF4 separates4(const pnV4 *w, const pnV4 p[5], pnF4 m) {
  pnF4 e = pn_f4Mul(pn_f4Mul(pn_v4Reach(w, pn_f4Set1(0)), m), pn_f4Set1(7.5e-7f));
  e = pn_f4Add(e, pn_f4Set1(FLT_MIN));
  pnF4 above = pn_f4Min(pn_v4Dot(w, &p[1]), pn_v4Dot(w, &p[2])),
       below = pn_f4Max(pn_v4Dot(w, &p[3]), pn_v4Dot(w, &p[4]));
  return pn_f4And(pn_f4Greater(above, e), pn_f4Greater(pn_f4Neg(e), below));
}

/* a1 + a2 - b1 - b2. */
PN_INLINE pnV4 between4(const pnV4 p[5]) {
  pnV4 w;
  for (int i = 0; i < 3; i++) {
    w.x[i] = pn_f4Sub(pn_f4Add(p[1].x[i], p[2].x[i]), pn_f4Add(p[3].x[i], p[4].x[i]));
  }
  return w;
}

/* The same of vectors of length one. */
PN_INLINE pnV4 betweenUnits4(const pnV4 p[5]) {
  pnV4 unit[5];
  for (int k = 1; k < 5; k++) {
    pnF4 length = pn_f4Sqrt(pn_v4Dot(&p[k], &p[k]));
    for (int i = 0; i < 3; i++) {
      unit[k].x[i] = pn_f4Div(p[k].x[i], length);
    }
  }
  return between4(unit);
}

/* One shared corner: corners v, a1, a2, b1, b2. */
static Verdicts corner4(const float *const corner[4][5]) {
  pnV4 p[5];
  pnF4 m = load4(corner, 5, p), inRange = pn_neighbourRange(m);
  pnV4 w = between4(p);
  unsigned apart = pn_f4Signs(pn_f4And(separates4(&w, p, m), inRange));
  if (apart == 15) {
    return (Verdicts){0, 0};
  }

  /* (2) sides */
  pnV4 na = pn_v4Cross(&p[1], &p[2]), nb = pn_v4Cross(&p[3], &p[4]);
  pnF4 sa1 = pn_v4Dot(&nb, &p[1]), sa2 = pn_v4Dot(&nb, &p[2]), sb1 = pn_v4Dot(&na, &p[3]), sb2 = pn_v4Dot(&na, &p[4]);
  pnF4 e = pn_f4Mul(pn_f4Mul(pn_f4Mul(m, m), m), pn_f4Set1(3e-6f));
  apart |= pn_f4Signs(pn_f4And(pn_f4Or(clearOf4(sa1, sa2, e), clearOf4(sb1, sb2, e)), inRange));
  pnF4 least = pn_f4Min(pn_f4Min(pn_f4Abs(sa1), pn_f4Abs(sa2)), pn_f4Min(pn_f4Abs(sb1), pn_f4Abs(sb2)));
  unsigned certain = pn_f4Signs(pn_f4And(pn_f4Greater(least, e), inRange));
  unsigned meet = pn_f4Signs(pn_f4Xor(sa1, sb1)) & certain & ~apart;

  /* (1) again, with care */
  if ((apart | certain) != 15) {
    w = betweenUnits4(p);
    apart |= pn_f4Signs(pn_f4And(separates4(&w, p, m), inRange)) & ~certain;
  }
  return (Verdicts){meet, 15u & ~(apart | certain)};
}

/* A shared edge: corners u, v, p, q. They never meet for certain: that takes one plane exactly. */
static Verdicts edge4(const float *const corner[4][5]) {
  pnV4 p[5];
  pnF4 m = load4(corner, 4, p), m3 = pn_f4Mul(pn_f4Mul(m, m), m);
  pnV4 n = pn_v4Cross(&p[1], &p[2]);

  /* (3) different planes */
  pnF4 apart = pn_f4Greater(pn_f4Abs(pn_v4Dot(&n, &p[3])), pn_f4Mul(m3, pn_f4Set1(3e-6f)));

  /* (4) different sides */
  pnV4 o = pn_v4Cross(&p[1], &p[3]);
  pnF4 e = pn_f4Mul(pn_f4Mul(m3, m), pn_f4Set1(8.3e-6f));
  apart = pn_f4Or(apart, pn_f4Greater(pn_f4Neg(e), pn_v4Dot(&n, &o)));
  return (Verdicts){0, 15u & ~pn_f4Signs(pn_f4And(apart, pn_neighbourRange(m)))};
}

/* ---------------------------------------------------------------- sorting pairs by what they share */

pnSharedCorners pn_sharedNow(const pnMesh *mesh, uint32_t s, uint32_t t, const float *p[3], const float *q[3]) {
  pnSharedCorners shared = {0};
  uint8_t a[3], b[3];
  uint32_t count = pn_sharedCorners(mesh, s, t, a, b);
  for (uint32_t i = 0; i < count; i++) {
    const float *x = p[a[i]], *y = q[b[i]];
    if (x[0] == y[0] && x[1] == y[1] && x[2] == y[2]) {
      shared.a[shared.count] = a[i];
      shared.b[shared.count++] = b[i];
    }
  }
  return shared;
}

/* A triangle of a pair: its corners and their welded vertices. */
typedef struct Side {
  uint32_t slot;
  const float *corner[3];
  uint32_t weld[3];
} Side;

PN_INLINE void takeSide(const pnTree *tree, uint32_t slot, Side *side) {
  side->slot = slot;
  pn_slotCorners(tree, slot, side->corner);
  pn_weldedCorners(tree->mesh, tree->leafTriangles[slot], side->weld);
}

/* Pairs that share one thing, waiting for the filter. */
#define BLOCK 64u
typedef struct Waiting {
  uint32_t count;
  uint8_t at[BLOCK]; /* place in the block */
  const float *corner[BLOCK][5];
} Waiting;

/* What is known about a block of pairs: bits by place. */
typedef struct Known {
  uint64_t meet, unsure;
} Known;

/* Puts a pair where it belongs by the welded vertices that are equal, corner i of one and j of the other being bit 3 i + j.
 * Both places are written and one counts, because which it is nobody can predict. False: neither. */
PN_INLINE bool wait(Waiting *one, Waiting *two, uint32_t at, const Side *p, const Side *q) {
  static const uint8_t next[5] = {1, 2, 0, 1, 2};
  uint32_t equal = 0;
  for (uint32_t k = 0; k < 9; k++) {
    equal |= (uint32_t)(p->weld[k / 3] == q->weld[k % 3]) << k;
  }
  uint32_t more = equal & (equal - 1);
  if (PN_UNLIKELY(equal == 0 || (more & (more - 1)) != 0)) {
    return false;
  }
  uint32_t k = pn_firstLane(equal), l = more ? pn_firstLane(more) : k, i = k / 3, j = k % 3, i2 = l / 3, j2 = l % 3;
  bool isEdge = more != 0;
  if (PN_UNLIKELY(isEdge && (i == i2 || j == j2))) {
    return false; /* a triangle with one vertex twice */
  }
  const float **c = one->corner[one->count], **e = two->corner[two->count];
  one->at[one->count] = two->at[two->count] = (uint8_t)at;
  c[0] = p->corner[i];
  c[1] = p->corner[next[i]];
  c[2] = p->corner[next[i + 1]];
  c[3] = q->corner[next[j]];
  c[4] = q->corner[next[j + 1]];
  e[0] = p->corner[i];
  e[1] = p->corner[i2];
  e[2] = p->corner[(3 - i - i2) % 3];
  e[3] = q->corner[(3 - j - j2) % 3];
  one->count += !isEdge;
  two->count += isEdge;
  /* welded vertices that have moved apart are not shared */
  return pn_samePoint(p->corner[i], q->corner[j]) && pn_samePoint(p->corner[i2], q->corner[j2]);
}

static void filter(Waiting *list, Verdicts (*verdicts)(const float *const corner[4][5]), Known *known) {
  /* copies of the last fill up the four */
  for (uint32_t i = list->count; list->count > 0 && i % 4 != 0; i++) {
    memcpy(list->corner[i], list->corner[list->count - 1], sizeof list->corner[i]);
  }
  for (uint32_t i = 0; i < list->count; i += 4) {
    Verdicts v = verdicts((const float *const(*)[5])list->corner + i);
    for (uint32_t lane = 0; (v.meet | v.unsure) >> lane != 0 && i + lane < list->count; lane++) {
      known->meet |= (uint64_t)(v.meet >> lane & 1) << list->at[i + lane];
      known->unsure |= (uint64_t)(v.unsure >> lane & 1) << list->at[i + lane];
    }
  }
}

/* ---------------------------------------------------------------- a batch */

static bool meetExactly(const pnTree *tree, pnPair pair) {
  const float *p[3], *q[3];
  pn_slotCorners(tree, pair.a, p);
  pn_slotCorners(tree, pair.b, q);
  return pn_trianglesMeetBeyondPtr(
      p, q, pn_sharedNow(tree->mesh, tree->leafTriangles[pair.a], tree->leafTriangles[pair.b], p, q));
}

/* Which of at most BLOCK pairs meet beyond what they share: bits. */
static uint64_t meetBeyond(const pnTree *tree, const pnPair *pairs, uint32_t count, uint64_t *uncertain) {
  Waiting one, two;
  one.count = two.count = 0;
  Known known = {0, 0};
  Side p = {.slot = PN_NONE}, q;
  for (uint32_t i = 0; i < count; i++) {
    /* pairs come sorted by their first triangle */
    if (p.slot != pairs[i].a) {
      takeSide(tree, pairs[i].a, &p);
    }
    takeSide(tree, pairs[i].b, &q);
    known.unsure |= (uint64_t)!wait(&one, &two, i, &p, &q) << i;
  }
  filter(&one, corner4, &known);
  filter(&two, edge4, &known);
  for (uint64_t rest = known.unsure; rest != 0; rest &= rest - 1) {
    uint32_t i = (uint32_t)__builtin_ctzll(rest);
    known.meet = (known.meet & ~((uint64_t)1 << i)) | (uint64_t)meetExactly(tree, pairs[i]) << i;
    ++*uncertain;
  }
  return known.meet;
}

size_t pn_narrowNeighbours(const pnTree *tree, pnPair *candidates, size_t count, uint64_t *uncertain) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i += BLOCK) {
    uint64_t meet = meetBeyond(tree, candidates + i, (uint32_t)PN_MIN(count - i, BLOCK), uncertain);
    for (; meet != 0; meet &= meet - 1) {
      candidates[kept++] = candidates[i + (size_t)__builtin_ctzll(meet)];
    }
  }
  return kept;
}
