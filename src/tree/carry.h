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
 * Rounding. With reach the largest |coordinate| of the source, R = reach * sum |d_k| (|M_k1| + |M_k2| + |M_k3|) and S = sum
 * |d_k| |translation_k|: u and the weights are within 8u0 R of exact (u0 = 2^-24), the three products and three sums add
 * 6u0 (R + S), and the pose computes the vertex itself within 4u0 (R + S) of the real image. PN_CARRY_MARGIN = 2^-19 = 32u0 of
 * R + S covers the 18u0. Nothing smaller does: along an edge or a diagonal the coordinates of a body far from its origin
 * may cancel, what the pose rounds off them does not. Products below 2^-126 are off by up to 2^-150 each: three in each
 * coordinate of the pose, of which a direction adds up to three, and three here; sums that small are exact. Together below
 * 2^-146, so that PN_CARRY_TINY = 2^-145 is added. */
#ifndef PN_TREE_CARRY_H
#define PN_TREE_CARRY_H

#include "tree/update.h"

#include <float.h>

#define PN_CARRY_MARGIN 1.9073486328125e-06f
#define PN_CARRY_TINY 0x1p-145
/* Coordinates beyond this may have slabs beside the axes that say nothing (slab.h) and end before what they stand for. */
#define PN_CARRY_FAR (FLT_MAX / 8)

/* One direction of the image: which slabs of the source, how much of each, and what the translation adds. */
typedef struct pnCarryTerm {
  uint8_t slab[3];
  bool flip[3]; /* the opposite direction: max and -min change places */
  float weight[3];
  float shift;  /* d . translation */
  float margin; /* for the rounding of everything */
} pnCarryTerm;

typedef struct pnCarry {
  pnMatrix map;
  float stretch; /* the map lengthens nothing by more than this; rounded up; for spheres */
  pnCarryTerm term[PN_MAX_SLABS];
} pnCarry;

/* Writes u as a sum of directions of the set: slab, flip and weight of a term. */
void pn_carryAlong(const pnSlabSet *set, const float u[3], pnCarryTerm *term);

/* Works out a map for a set of slabs (null: spheres): the first `wanted` directions of the image. Fewer than the set has,
 * for instance the three axes from the slabs of a k-DOP, which makes tighter boxes than those of boxes. `reach`: no
 * coordinate of the source is larger. `far`: some of what its slabs were made of is beyond PN_CARRY_FAR; then only those
 * along the axes are used. */
void pn_carryBegin(pnCarry *carry, const pnMatrix *map, const pnSlabSet *set, uint32_t wanted, float reach, bool far);

/* Slabs of the source, all eight lanes, rows to rows, for the first `wanted` directions. What a form makes of a map, for the
 * first lanes of a node: pnFormRow.carry. */
void pn_carryRows(const pnCarry *carry, uint32_t wanted, const float *rows, float *out);

#endif
