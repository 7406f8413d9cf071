/* blend.h: the volumes of morph targets, one set a node, and how weights blend them.
 *
 * [Larsson03, sections 3.2 and 3.3]: with every vertex below a node in the volume of each reference, the volume blended
 * by the weights of the vertices contains the blended vertices. For slabs sum w [lo, hi], for spheres
 * (sum w c, sum w r). Where we differ:
 *
 *   deltas    v = rest + sum w d: the volume of the rest positions plus those of the deltas. A negative weight exchanges
 *             the ends of an interval; a radius takes |w|. A vertex that a target does not list has the delta 0, which
 *             is then in the target's volume too.
 *   sparse    a node keeps only the targets that move something below it.
 *   turned    boxes of a body that is turned are made from slabs along more directions than the axes (TURNED_SET): the
 *             three axes of the world are not among them either, but nearer to some of them, and the boxes hardly looser
 *             than those of the vertices. A body that is not turned never looks at the others.
 *   wide      the volumes of the eight children of a node stand side by side, and are blended together.
 *   leaves    have no volumes of targets: a leaf that is reached computes its few vertices, from a run of memory that has
 *             what the targets do to them (blend_leaf.c).
 *   rounding  the paper's numbers are real ones. See below.
 *
 * Ingredients. An *ingredient* is anything with volumes and a weight: the targets; after them the rest positions (deltas;
 * weight 1) or the extra references (between each two references). A *term* is an ingredient of one node.
 *
 * Directions. A slab of the tree lies along a fixed direction d in the world, and so along u = M^T d before the transform M.
 * carry.h writes u as a sum of at most three directions of the targets' slabs, with weights >= 0: the *parts* of d, worked
 * out once a frame. Both steps, blending and moving, are then one sum over parts and terms,
 *
 *     hi = d.T + sum over parts k and terms t of  c hi[t][k],  c = +- part weight * ingredient weight,
 *
 * in which a negative c takes lo for hi.
 *
 * Rounding. u0 = 2^-24; m ingredients have a weight other than 0; reach bounds |rest| + sum |w| |d| over all vertices and
 * coordinates (pose->sourceMaxAbs); g(k) = k u0 / (1 - k u0) bounds the relative error of k roundings [Higham02, 3.1].
 * A = sum |d_i| (|M_i1| + |M_i2| + |M_i3|), R = A reach, S = sum |d_i| |T_i|. Parts never cancel: sum of weight_k |n_k|_1 is
 * |u|_1 <= A.
 *
 *   (1) the pose blends a coordinate with m products and m sums:             off by g(m+1) R along d
 *   (2) it moves the vertex, and a leaf projects it with two sums:           g(4) (R + S), g(2) (R + S)
 *   (3) u and the weights of its parts:                                      8 u0 R, as in carry.h
 *   (4) the projections of the targets' float vertices are rounded twice:    2 u0 R
 *   (5) the sum above: c and the product once each, 3 m sums, the shift 2:   g(3m + 5) (R + S)
 *   so intervals widened by g(4m + 32) (R + S) contain the float vertex and its float projection.
 *
 *   Spheres: the float vertex is off by sqrt(3) times (1), the centre by sqrt(3) g(m+1) reach, the sum of radii (below
 *   2 sqrt(3) reach, each rounded up already) by 3.5 g(m+1) reach, together below 7 g(m+2) reach: 8 g(2m+8) is taken,
 *   and for the box of the whole g(2m+8): the same two sums, before the transform. pn_carryLanes adds its own.
 *   With extra references their positions are rounded once and their two weights twice: 8 more in k.
 *   Products below 2^-126 lose up to 2^-150 each, at most 3 * 65 537 of them: FLT_MIN is added. Where c itself is that small it
 *   may be off by 2^-150, and what it multiplies large: 2^-150 times the sum of all rows, 9 times that of the targets'
 *   largest numbers, is added too. */
#ifndef PN_TREE_BLEND_H
#define PN_TREE_BLEND_H

#include "tree/carry.h"

/* One product of a sum: which rows of a node, in floats from its first, are added to lo and to hi. */
typedef struct pnBlendProduct {
  uint32_t lo, hi;
  float weight;
} pnBlendProduct;

/* References with a weight of which products are listed; three parts each. */
#define PN_MAX_LISTED 8u

/* One direction of the tree's volumes: how it is summed. */
typedef struct pnBlendDirection {
  float lo, hi; /* where sums start: shift and margin */
  uint32_t partCount;
  uint32_t slab[3];
  float weight[3]; /* negative: along the opposite direction */
  /* references: every node has all ingredients, so that its sum is the same list in all of them */
  uint32_t productCount;
  pnBlendProduct product[3 * PN_MAX_LISTED];
} pnBlendDirection;

typedef struct pnBlend {
  /* constant: volumes, a part of the shape (PN_PART_RULE) */
  const pnSlabSet *set;                     /* directions of the targets' volumes; null for spheres */
  uint32_t ingredientCount, baseIngredient; /* baseIngredient: PN_NONE for references */
  uint32_t extraCount;                      /* extra references between each two */
  uint32_t *termFirst;      /* by place: inner nodes by number, then the root's own volume; places + 1 */
  uint32_t *termIngredient; /* ascending in a node */
  float *
      rows; /* rowFloats a term, eight lanes a row: of a node, slab by slab the lo and hi of each term, so that what a frame
                  needs stands together; spheres: term by term centre and radius */
  uint32_t rowFloats;
  uint32_t *leafTermFirst; /* by leaf; leafCount + 1; null in model space, where leaves ask the pose */
  uint32_t *leafTarget;    /* targets that move something in the leaf, ascending */
  size_t *leafRowFirst;    /* by leaf, into leafRows; SIZE_MAX: left to the pose */
  float
      *leafRows; /* of a leaf: rest positions (deltas), then those of its terms, 3 floats a vertex; one more readable */
  float *rootRows; /* spheres: lo, hi of the box of the whole along each axis, 6 an ingredient; else null */

  /* of the frame */
  float *ingredientWeight;
  bool moved, turned;          /* volumes are in the world and there is a transform; one that does more than shift */
  float column[4][4], mask[4]; /* the transform by columns, and the three lanes of a register that count */
  uint32_t motion;             /* how leaves use them: blend_leaf.c */
  bool listed;                 /* directions have their products */
  uint32_t directionCount;
  pnBlendDirection direction[PN_MAX_SLABS];
  float margin[2]; /* spheres: added to the box of the whole, and to radii */
  pnCarry carry;   /* spheres; in model space the box of the whole */
} pnBlend;

/* Where the lo of a term along a slab is, eight lanes, and then its hi; `term` counts from the first of the place. */
PN_INLINE float *pn_termRow(const pnBlend *blend, uint32_t place, uint32_t term, uint32_t slab) {
  uint32_t first = blend->termFirst[place], count = blend->termFirst[place + 1] - first;
  return blend->rows + (size_t)first * blend->rowFloats + 2 * PN_LANES * ((size_t)slab * count + term);
}

/* The most rows of a node: 13 slabs, lo and hi. */
#define PN_MAX_ROWS (2u * PN_MAX_SLABS)

/* Makes the volumes of a shape with morph targets, unless it has them; the tree's ruleData refers to them. */
pnResult pn_makeBlend(pnTree *tree);

/* All that does not depend on the volumes; ingredientCount 0: there would be more than can be counted. */
pnBlend pn_emptyBlend(const pnShape *shape);
/* blend_file.c: the volumes as bytes. */
const struct pnPartForm *pn_blendForm(const pnShape *shape);

/* Takes over weights and transform of the pose. */
void pn_weighBlend(const pnTree *tree, pnBlend *blend);

/* The blended volumes of the children of the node at `place`, margin included, as rows: slabs as the tree has them, in the
 * world or in model space; spheres before the transform. */
void pn_blendRows(const pnBlend *blend, uint32_t place, float *outRows);
/* The block of a leaf: its vertices as the pose has them, to the bit. */
void pn_blendLeaf(pnTree *tree, const pnBlend *blend, uint32_t leaf);
/* Gets ready for the leaves of a frame. */
void pn_aimLeaves(const pnPose *pose, bool turned, pnBlend *blend);
/* Trees of spheres: the box of the whole, as lane 0 of the rows of a box. Its sides are those of vertices, not of a ball. */
void pn_blendRootBox(const pnBlend *blend, float *outRows);

/* ---------------------------------------------------------------- blend_leaf.c, once */

/* Has a leaf no rows? Those of deltas where some coordinate of the rest pose has the bits of -0. */
bool pn_isLeftToPose(const pnShape *shape, uint32_t leaf);

/* How many terms each leaf has (PN_NONE: it is left to the pose), their sum, and the floats they need. marks: one zero for
 * each target. */
size_t pn_countLeaves(const pnTree *tree, uint32_t *termCounts, uint32_t *marks, uint64_t *outTerms);
void pn_fillLeaves(const pnTree *tree, pnBlend *blend, const uint32_t *termCounts, uint32_t *marks);

#endif
