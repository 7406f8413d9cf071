/* skin_bound.h: where the vertices below a node can be, from joints alone, without looking at them.
 *
 * [Mujika, section 3] keeps, per sphere, the least and the largest weight of each joint, moves the centre with both and
 * encloses the two. For a joint that only turns, by up to half a circle, that holds: the arc lies in the ball over its
 * chord (Thales). For one that turns and slides it does not: the ends may come to lie side by side while weights in
 * between swing out (test_skin_bound.c). What is done here holds for every pose.
 *
 * Linear blend skinning, v = sum w_j M_j p with w_j >= 0 and sum w_j = 1. A *term* is a joint that moves something
 * below the node. Two bounds; both hold, so that their intersection does:
 *
 *   hull    v lies between the points M_j p. With B_j a volume of the p that joint j moves, v is in the hull of the
 *           M_j B_j. Good where the joints are many, that is, high up: it is the union of limbs.
 *   change  with a the main joint of the node and c its centre, p = c + d:
 *             v = M_a p + sum_{j != a} (M_j - M_a) (w_j p, w_j)
 *               = M_a c + L_a d + sum_{j != a} [ w_j (M_j - M_a) c + (L_j - L_a) (w_j d) ]
 *           with L the linear part of M, and the node keeps the intervals of w_j and of w_j d. What is added vanishes
 *           when the joints move together. Good where the joints are few: up to PN_CHANGE_TERMS.
 *
 * Weighted joints [Mujika09]: v = P (turn(w) (p - c) + c + w s). With the weights below a node in [w0, w1] and the
 * middle weight w', turn(w) differs from turn(w') by a rotation no larger than turn(w0) or turn(w1) does, for weights
 * in between lie between on one arc. The volume is moved by w' and widened by the larger chord, 2 sin(half that angle),
 * times the largest distance from the pivot, plus |w1 - w0| / 2 |s|. A node is the union over its joints.
 *
 * Morph targets below a skin add the interval m of their blended deltas: p becomes p + m, and w_j d becomes w_j (d +
 * m), with w m within (mid w + half w) half m + half w |mid m| of mid w mid m.
 *
 * The transform T is multiplied into the joints, N_j = T M_j, once a frame. k-DOPs are treated like boxes, with the
 * rows d . N_j for their further directions: the k-DOP around the carried boxes. Spheres: the same with balls; the hull
 * is then a ball around the joint-carried balls, as the paper has it, and the smaller one of the two bounds is taken.
 *
 * Rounding. u = 2^-24; R bounds the coordinates of p in any step (pose->skinMaxAbs, for references also what
 * differences to the rest position add), t targets have a weight. S_j = |T| (|M_j| R + |translation|) + |T's
 * translation|, per row, and S the largest over the terms of a node. All errors are multiples of u S:
 *
 *   (1) the pose: t + 1 for p; 4 for M_j p; 9 for weights and sums of eight; 4 for T:                 t + 18
 *   (2) weights that sum to 1 within 2^-21:                                                            8
 *   (3) N_j, and its row along a direction, rounded once from double:                                  2
 *   (4) hull: t + 3 for the middle, the same for the half; 5 for each of two sums; the last:           2 t + 17
 *   (5) directions of k-DOPs: two roundings of the projected vertex (blend.h) with a threefold sum,
 *       S being the sum over the coordinates already:                                                  2
 *   so (48 + 4 t) u S is enough for the hull: PN_SKIN_UNITS = 80 + 4 t is taken.
 *   (6) change: a difference of two rows is rounded once, relative to itself; (M_j - M_a) c, at most 2 S, has 5
 *       roundings, in the middle and in the half: 20; (L_j - L_a) (w_j d), at most 2 S, has 6, in both: 24; adding
 *       to sums of up to 4 S: 16. Together 60 a term: PN_SKIN_TERM_UNITS = 96.
 *   (7) weighted: pn_partTurn rounds 10 times, the rotation 12 times with products of at most 4 |p - c|, which S
 *       includes four times over; the bound does the same once more and twice for the chords: below 200. 256 is taken.
 *   Spheres add three coordinates: S is then their sum. Stretches are rounded up by themselves.
 *   Balls farther out than 1e19 have squares beyond float: infinite radii, which hold all.
 *   Products below 2^-126: R is taken at least 2^-120, which gives their 2^-149 the factor 2^11 that they may meet, and
 *   FLT_MIN is added at the end. */
#ifndef PN_TREE_SKIN_BOUND_H
#define PN_TREE_SKIN_BOUND_H

#include "tree/update.h"

#define PN_CHANGE_TERMS 4u
#define PN_SKIN_UNITS 80u
#define PN_SKIN_TERM_UNITS 96u
#define PN_SKIN_WEIGHTED_UNITS 256u

/* Directions in groups of four, one a SIMD lane: the axes and a zero, then the further directions of a k-DOP. */
#define PN_MAX_SLAB_GROUPS 4u

/* An interval, or a ball with its radius in half[0]. */
typedef struct pnSpan {
  float mid[3], half[3];
} pnSpan;

/* A joint of a node. The first one is the main joint. */
typedef struct pnSkinTerm {
  uint32_t joint;
  float weight, weightHalf; /* its weights below the node, 0 where it has no part */
  float away;               /* weighted: largest distance from the pivot */
  pnSpan moves;             /* the p that it moves */
  pnSpan change;            /* w (p - centre), all vertices below */
} pnSkinTerm;

/* What a morph target adds below a node. */
typedef struct pnSkinDelta {
  uint32_t target;
  pnSpan span;
} pnSkinDelta;

/* A joint in a frame: rows of T M along the directions, by columns. */
typedef struct pnSkinJoint {
  float column[PN_MAX_SLAB_GROUPS][4][4];
  float size[PN_MAX_SLAB_GROUPS][4]; /* S of each direction */
  float norm[PN_MAX_SLAB_GROUPS][4]; /* weighted: length of the linear part of each row, rounded up */
  float stretch;                     /* the map lengthens nothing by more than this; rounded up */
  float sizeSum;                     /* spheres: S over the coordinates */
} pnSkinJoint;

typedef struct pnSkinBound {
  /* constant; by node: where its volume is, as a lane of its parent */
  pnSpan *spans;       /* of all p below */
  uint32_t *termFirst; /* nodeCount + 1 */
  pnSkinTerm *terms;
  uint32_t *deltaFirst; /* nodeCount + 1; null without morph */
  pnSkinDelta *deltas;
  uint32_t groupCount; /* of directions; 1 for spheres */

  /* of the frame */
  pnSkinJoint *joints;
  float unit[2];    /* margins as parts of S: of a hull, and of each further term of a change */
  float farthest;   /* the largest S */
  float deltaSlack; /* references: what weights that do not sum to 1 quite add */
} pnSkinBound;

/* Makes the terms of a built tree over a pose with a skin; they become the tree's ruleData. */
pnResult pn_makeSkinBound(pnTree *tree);

/* Takes over joints, weights and transform of the pose. */
void pn_beginSkinBound(const pnTree *tree, pnSkinBound *bound);

/* The slabs of a node in world space, margins included, by groups of directions. */
void pn_skinSlabs(const pnTree *tree, const pnSkinBound *bound, uint32_t node, pnF4 *outLo, pnF4 *outHi);
/* The ball of a node. */
void pn_skinBall(const pnTree *tree, const pnSkinBound *bound, uint32_t node, float outCentre[3], float *outRadius);

#endif
