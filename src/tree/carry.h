/* carry.h: volumes under an affine map, in constant time, without looking at vertices.
 *
 * A slab of the image along direction d is the slab of the source along u = M^T d, which is not one of the fixed
 * directions. u is written as a sum of at most three of them with weights >= 0, u = w1 n1 + w2 n2 + w3 n3; then
 * max(u.x) <= w1 max(n1.x) + w2 max(n2.x) + w3 max(n3.x). With |u| sorted, a >= b >= c >= 0:
 *
 *   box     a, b, c on the three axes (this is the usual |M| * extents)
 *   dop14   a-c, b-c on two axes, c on the diagonal
 *   dop18   a-b-c on the axis, b and c on the edges, when a >= b+c; else (a+b-c)/2, (a+c-b)/2, (b+c-a)/2 on three edges
 *   dop26   a-b on the axis, b-c on the edge, c on the diagonal
 *
 * which costs the same for all of them: three multiplications a slab ("realigned axes", [Larsson03] section 3.4). It is
 * worked out once a frame; a node then costs 6 D multiply-adds on eight lanes.
 *
 * Rounding. u and the weights are within 8u0 of exact (u0 = 2^-24), the three products and three sums add 6u0, and the pose
 * computes the vertex itself within 4u0 of the real image; all relative to sum w |slab| + |translation|. PN_CARRY_MARGIN
 * = 2^-19 = 32u0 of that sum covers the 18u0. */
#ifndef PN_TREE_CARRY_H
#define PN_TREE_CARRY_H

#include "tree/update.h"

#define PN_CARRY_MARGIN 1.9073486328125e-06f

/* One direction of the image: which slabs of the source, how much of each, and what the translation adds. */
typedef struct pnCarryTerm {
  uint8_t slab[3];
  bool flip[3]; /* the opposite direction: max and -min change places */
  float weight[3];
  float shift;     /* d . translation */
  float shiftSize; /* sum of its terms' magnitudes, for the margin */
} pnCarryTerm;

typedef struct pnCarry {
  pnMatrix map;
  float stretch; /* the map lengthens nothing by more than this; rounded up; for spheres */
  pnCarryTerm term[PN_MAX_SLABS];
} pnCarry;

/* Writes u as a sum of directions of the set: slab, flip and weight of a term. */
void pn_carryAlong(const pnSlabSet *set, const float u[3], pnCarryTerm *term);

/* Works out a map for a set of slabs (null: spheres): the first `wanted` directions of the image. Fewer than the set has,
 * for instance the three axes from the slabs of a k-DOP, which makes tighter boxes than those of boxes. */
void pn_carryBegin(pnCarry *carry, const pnMatrix *map, const pnSlabSet *set, uint32_t wanted);

/* Float lanes of the source's volumes (rows lo, hi for each slab; or sphere lanes) into bounds of the image, for the first
 * `count` lanes. */
void pn_carryLanes(const pnCarry *carry, const pnSlabSet *set, const void *lanes, uint32_t count, pnBound *out);

/* The same for slabs, all eight lanes, rows to rows, for the first `wanted` directions. */
void pn_carryRows(const pnCarry *carry, uint32_t wanted, const float *rows, float *out);

#endif
