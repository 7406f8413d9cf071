/* skin_gather.h: what joints and morph targets do below a node, gathered from the vertices there, once, when a tree is
 * made. skin_terms.c keeps it child by child (balls, weighted joints), skin_lanes_make.c eight children side by side.
 *
 * Everything is measured in double from float numbers and rounded outward: the intervals and balls hold for the real
 * numbers, so that the margins of a frame have only the frame's own rounding to cover. */
#ifndef PN_TREE_SKIN_GATHER_H
#define PN_TREE_SKIN_GATHER_H

#include "tree/skin_bound.h"

/* An interval of points, while it grows. */
typedef struct pnExtent {
  double lo[3], hi[3];
} pnExtent;

/* What a joint, or a morph target, does below the node at hand. */
typedef struct pnGathered {
  uint32_t mark;   /* the node this is about */
  uint32_t listed; /* listed vertices it moves */
  double total;    /* of its weights */
  double low, high;
  pnExtent moves, change;
  double reach[2 * PN_MAX_SLABS]; /* how far they go along each direction of the gathering's set, and against it */
} pnGathered;

typedef struct pnSkinGather {
  const pnTree *tree;
  const pnPose *pose;
  const pnSlabSet *set; /* null: no `reach` is wanted */
  pnGathered *joints, *targets;
  pnGathered all; /* moves and reach of all vertices */
  uint32_t *used; /* joints of the node at hand, the main one first, then in order of appearance */
  uint32_t usedCount, mark;
} pnSkinGather;

/* False: out of memory. Release in any case. */
bool pn_beginGather(pnSkinGather *gather, const pnTree *tree, const pnSlabSet *set);
void pn_endGather(pnSkinGather *gather);

/* Boxes, weights and reach by joint, of listed vertices; the joint with the largest weight comes first. */
void pn_gatherJoints(pnSkinGather *gather, const uint32_t *listed, uint32_t count);
/* After that: w (p - centre) by joint. */
void pn_gatherChanges(pnSkinGather *gather, const uint32_t *listed, uint32_t count, const float centre[3]);

/* The deltas of morph targets that move something below a node, node after node. */
typedef struct pnDeltaList {
  uint32_t *first; /* nodeCount + 1 */
  PN_ARRAY(pnSkinDelta) deltas;
} pnDeltaList;

/* Nothing without morph. False: out of memory, or more than can be numbered. */
bool pn_gatherDeltas(pnSkinGather *gather, pnDeltaList *out);
void pn_freeDeltas(pnDeltaList *list, const pnTree *tree);
/* Its place in a block (pn_carve), and what goes there. */
void pn_placeDeltas(const pnDeltaList *list, const pnTree *tree, pnSkinBound *bound, char *base, size_t *at);
void pn_copyDeltas(const pnDeltaList *list, const pnTree *tree, pnSkinBound *bound);

/* The float interval around [lo, hi], and around an extent. */
void pn_roundOut(double lo, double hi, float *outMid, float *outHalf);
pnSkinSpan pn_skinSpanOf(const pnExtent *extent);

#endif
