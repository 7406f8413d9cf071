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
 * The transform T is multiplied into the joints, N_j = T M_j, once a frame.
 *
 * Linear blend skinning with boxes and k-DOPs: all children of a node at once, one a SIMD lane (skin_lanes.c). How far a
 * direction d of the volume reaches under joint j is how far u = N_j^T d reaches before, and u is written as a sum of at
 * most three directions along which that is kept (carry.h). Boxes keep the directions of an 18-DOP for this: along three
 * axes only, every turn of a joint would make a box of the box around a box, and a crowd opens 70 % more pairs of
 * leaves; those of a 26-DOP save 5 % of them and cost half as much memory again. k-DOPs keep their own.
 *
 * Spheres and weighted joints: child by child. A ball is moved with its centre; the hull is then a ball around the
 * joint-carried balls, as the paper has it, and the smaller one of the two bounds is taken.
 *
 * Rounding. u = 2^-24; R bounds the coordinates of p in any step (pose->skinMaxAbs, for references also what
 * differences to the rest position add), t targets have a weight. S_j = |T| (|M_j| R + |translation|) + |T's
 * translation|, per row, and S the largest over the terms of a node. S itself may be off by a few u of it, which the
 * slack below hides. All errors are multiples of u S:
 *
 *   (1) the pose: t + 1 for p; 4 for M_j p; 9 for weights and sums of eight; 4 for T:                 t + 18
 *   (2) weights that sum to 1 within 2^-21:                                                            8
 *   (3) N_j: three products and sums; its row along a direction of a k-DOP: two sums more:             6
 *   (4) hull: u as a sum of directions, whose reach times weight adds up to S: 4 for the weights, 4 for
 *       products and sums (balls, and boxes of weighted joints: t + 3 for the middle, the same for the
 *       half, 5 for each of two sums); deltas: t + 3 for the middle, the same for the half, adding
 *       them 2; the last sum:                                                                          2 t + 17
 *   (5) directions of k-DOPs: two roundings of the projected vertex (blend.h) with a threefold sum,
 *       S being the sum over the coordinates already:                                                  2
 *   so (51 + 3 t) u S is enough for the hull: PN_SKIN_UNITS = 80 + 4 t is taken.
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

#include "base/array.h"
#include "tree/carry.h"
#include "tree/update.h"

#define PN_CHANGE_TERMS 4u
/* The change bound is kept where weights are so close together. Measured on crowds of 5 000 and 44 000 vertices: at 0.4 it
 * costs more time than it saves, at 0.1 the fine one opens a quarter more pairs of leaves. */
#define PN_CHANGE_RANGE 0.25
#define PN_SKIN_UNITS 80u
#define PN_SKIN_TERM_UNITS 96u
#define PN_SKIN_WEIGHTED_UNITS 256u

/* Directions in groups of four, one a SIMD lane: the axes and a zero, then the further directions of a k-DOP. */
#define PN_MAX_SLAB_GROUPS 4u

/* An interval, or a ball with its radius in half[0]. */
typedef struct pnSkinSpan {
  float mid[3], half[3];
} pnSkinSpan;

/* A joint of a node. The first one is the main joint. */
typedef struct pnSkinTerm {
  uint32_t joint;
  float weight, weightHalf; /* its weights below the node, 0 where it has no part */
  float away;               /* weighted: largest distance from the pivot */
  pnSkinSpan moves;         /* the p that it moves */
  pnSkinSpan change;        /* w (p - centre), all vertices below */
} pnSkinTerm;

/* What a morph target adds below a node. */
typedef struct pnSkinDelta {
  uint32_t target;
  pnSkinSpan span;
} pnSkinDelta;

/* A joint in a frame, for balls and weighted joints: rows of T M along the directions, by columns. */
typedef struct pnSkinJoint {
  float column[PN_MAX_SLAB_GROUPS][4][4];
  float size[PN_MAX_SLAB_GROUPS][4]; /* S of each direction */
  float norm[PN_MAX_SLAB_GROUPS][4]; /* weighted: length of the linear part of each row, rounded up */
  float stretch;                     /* the map lengthens nothing by more than this; rounded up */
  float sizeSum;                     /* spheres: S over the coordinates */
} pnSkinJoint;

/* ---------------------------------------------------------------- eight lanes */

/* A joint in a frame: along each direction of the volume the row of T M, what it is a sum of, and S. */
typedef struct pnLaneJoint {
  float row[PN_MAX_SLABS][4];
  pnCarryTerm sum[PN_MAX_SLABS];
  float size[PN_MAX_SLABS];
} pnLaneJoint;

/* What the second of two joints changes against the first, where one is the main joint of a lane and the other moves
 * something there; turned round (weight and x negative) where the second is the main one. Zeros in other lanes. */
typedef struct pnLanePair {
  float centre[3][8];             /* c */
  float weight[8], weightHalf[8]; /* w */
  float x[3][8], xHalf[3][8];     /* w (p - c) */
  uint32_t a, b;
} pnLanePair;

/* By *seat*: an inner node, whose children are the lanes, and after the last one the root, alone in lane 0. */
typedef struct pnSkinLanes {
  const pnSlabSet *set; /* directions that are kept; null: not in use */
  uint32_t *termFirst;  /* seats + 1 */
  uint32_t *termJoint;
  float *termRows; /* a term: 2 set->count rows of eight, how far the p that the joint moves go along a direction and
                          against it, -FLT_MAX in lanes it does not move; and a row of masks: it is the lane's main joint.
                          A main joint has all p of its lane where there are pairs */
  uint32_t *pairFirst; /* seats + 1; none where the change bound does not pay */
  pnLanePair *pairs;
  pnLaneJoint *joints; /* of the frame */
} pnSkinLanes;

PN_INLINE size_t pn_termFloats(const pnSkinLanes *lanes) {
  return (2 * lanes->set->count + 1) * PN_LANES;
}

/* ---------------------------------------------------------------- the whole */

typedef struct pnSkinBound {
  /* constant, a part of the shape (PN_PART_RULE); by node: where its volume is, as a lane of its parent */
  uint32_t *deltaFirst; /* nodeCount + 1; null without morph */
  pnSkinDelta *deltas;
  pnSkinLanes lanes;   /* linear, boxes and k-DOPs; else: */
  pnSkinSpan *spans;   /* of all p below */
  uint32_t *termFirst; /* nodeCount + 1 */
  pnSkinTerm *terms;
  uint32_t groupCount; /* of directions; 1 for spheres */
  pnSkinJoint *joints; /* of the frame */

  /* of the frame */
  float unit[2];               /* margins as parts of S: of a hull, and of each further term of a change */
  float farthest;              /* the largest S */
  float root[PN_MAX_SLABS][2]; /* the slabs of the whole, lo and hi */
  float deltaSlack;            /* references: what weights that do not sum to 1 quite add */
} pnSkinBound;

/* Makes the bound of a shape with a skin, unless it has one; the tree's ruleData refers to it. */
pnResult pn_makeSkinBound(pnTree *tree);

/* Takes over joints, weights and transform of the pose. */
void pn_beginSkinBound(const pnTree *tree, pnSkinBound *bound);

/* The slabs of all children of an inner node in world space, margins included: rows lo and hi of each direction, eight
 * lanes each; lanes past the last child hold anything. The number of inner nodes stands for the root alone, in lane 0. */
void pn_skinRows(const pnTree *tree, const pnSkinBound *bound, uint32_t seat, float *outRows);
/* The ball of a node. */
void pn_skinBall(const pnTree *tree, const pnSkinBound *bound, uint32_t node, float outCentre[3], float *outRadius);

/* ---------------------------------------------------------------- between the files */

/* The directions that lanes keep: those of an 18-DOP for boxes. Null: lanes are not in use. And groups of directions otherwise. */
const pnSlabSet *pn_skinSet(const pnShape *shape);
uint32_t pn_skinGroups(const pnShape *shape);

/* skin_file.c: the constants as bytes. */
const struct pnPartForm *pn_skinForm(const pnShape *shape);

/* skin_terms.c, skin_lanes_make.c: what pn_makeSkinBound does for balls and weighted joints, and for lanes. */
pnResult pn_makeSkinTerms(const pnTree *tree, void **outData, size_t *outBytes);
pnResult pn_makeSkinLanes(const pnTree *tree, void **outData, size_t *outBytes);

/* skin_bound.c: what morph targets add below a node; zero without morph. */
pnSkinSpan pn_blendDeltas(const pnTree *tree, const pnSkinBound *bound, uint32_t node);

/* skin_lanes.c: the lane joints of a frame, with R; and the rows. */
void pn_beginSkinLanes(const pnTree *tree, pnSkinBound *bound, float reach);
void pn_skinLanes(const pnTree *tree, const pnSkinBound *bound, uint32_t seat, float *outRows);

#endif
