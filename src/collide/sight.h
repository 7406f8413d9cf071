/* sight.h: looking along a direction, with certain signs. What fans (fan.h) and flat regions (flat.h) share.
 *
 * The direction d is a vector of whole numbers of at most D = 64, and across = d x c for a fixed c of small whole numbers: exact
 * (below 2^24), and exactly at right angles to d. Points are counted from a middle, each coordinate rounded once (1u,
 * u = 2^-24), and M bounds them.
 *  (1) n = p x q: a component is a sum of 2 terms of at most M^2, each off by 3u (inputs, product), and the difference is
 *      rounded: 8u M^2.
 *  (2) d . n = det(d, p, q), how p, q are *seen*: the errors of n, 3 x 8u; of 3 products of at most 2 D M^2, 6u; of 2 sums
 *      of at most 4 and 6 D M^2, 10u. Together 40u D M^2 = 1.526e-4 M^2. 1.6e-4.
 *  (3) across . p, the *side* of p: components of `across` are at most G = 66 D = 4224; on each of 3 terms 1u (input) + 1u
 *      (product) + 2u (sums): 12u G M = 3.021e-3 M. 3.15e-3.
 * The bounds leave 4 % for terms of second order and their own rounding. With 1e-8 < M < 1e9 nothing overflows, and what
 * underflow adds, some 2^-140, is far below them (1.6e-20 at least). A comparison with NaN is false, so
 * NaN proves nothing. */
#ifndef PN_COLLIDE_SIGHT_H
#define PN_COLLIDE_SIGHT_H

#include "collide/narrow.h"

/* Along d and across it. */
typedef struct pnLineOfSight {
  pnV4 along, across;
} pnLineOfSight;

/* Whole numbers nearest to a direction. One of length zero gives something that is not a number. */
PN_INLINE pnLineOfSight pn_lookAlong(const pnV4 *direction) {
  /* adding and taking away 1.5 * 2^23 rounds to a whole number */
  const pnF4 round = pn_f4Set1(12582912.0f);
  pnF4 scale = pn_f4Div(pn_f4Set1(64), pn_v4Reach(direction, pn_f4Set1(0)));
  pnLineOfSight s;
  for (int i = 0; i < 3; ++i) s.along.x[i] = pn_f4Sub(pn_f4Add(pn_f4Mul(direction->x[i], scale), round), round);
  /* no small multiples of each other: vertices of a regular grid must not lie on the line */
  pnV4 c = {{pn_f4Set1(13), pn_f4Set1(-29), pn_f4Set1(37)}};
  s.across = pn_v4Cross(&s.along, &c);
  return s;
}

PN_INLINE pnF4 pn_seenError(pnF4 m) {
  return pn_f4Mul(pn_f4Mul(m, m), pn_f4Set1(1.6e-4f));
}
PN_INLINE pnF4 pn_sideError(pnF4 m) {
  return pn_f4Mul(m, pn_f4Set1(3.15e-3f));
}

/* Four vertices of leaves by their places in tree->leafPositions. */
PN_INLINE pnV4 pn_gather4(const float *positions, const uint32_t *place) {
  return pn_v4Load(positions + 4 * (size_t)place[0], positions + 4 * (size_t)place[1], positions + 4 * (size_t)place[2],
                   positions + 4 * (size_t)place[3]);
}

/* The place of a corner of the triangle in a slot. */
PN_INLINE uint32_t pn_placeOf(const pnTree *tree, uint32_t slot, uint32_t corner) {
  return tree->shape->blockCorners[3 * (size_t)slot + corner] / PN_PLACE_BYTES;
}

/* Which slot each triangle is in. */
PN_INLINE void pn_findSlots(const pnShape *shape, uint32_t *outSlotOf) {
  for (uint32_t slot = 0; slot < shape->leafCount * PN_LANES; ++slot)
    if (shape->leafTriangles[slot] != PN_NONE) outSlotOf[shape->leafTriangles[slot]] = slot;
}

/* Two places at which one welded vertex stands: they are one vertex while they are one point. */
typedef struct pnSeam {
  uint32_t place[2];
  uint32_t of; /* what falls apart with them */
} pnSeam;

/* Are they places of a shape, of what is below a number? */
PN_INLINE bool pn_areSeams(const pnShape *shape, const pnSeam *seams, size_t count, uint32_t below) {
  uint32_t listed = shape->leafVertexFirst[shape->leafCount];
  bool fine = true;
  for (size_t i = 0; fine && i < count; ++i)
    fine = seams[i].place[0] < listed && seams[i].place[1] < listed && seams[i].of < below;
  return fine;
}

PN_INLINE bool pn_isClosedSeam(const pnTree *tree, const pnSeam *s) {
  const float *p = tree->leafPositions + 4 * (size_t)s->place[0], *q = tree->leafPositions + 4 * (size_t)s->place[1];
  return p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
}

#endif
