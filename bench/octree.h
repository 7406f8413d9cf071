/* octree.h: a textbook octree: every node has the box of what is in it, buckets are the nodes of the last level. Two of them are asked which of their
 * buckets overlap, with three rules for which of two nodes is opened: the question of [Ganovelli00], table 1. */
#ifndef PN_BENCH_OCTREE_H
#define PN_BENCH_OCTREE_H

#include <stdint.h>

/* The box of what a node holds; count 0: empty. */
typedef struct pnLabOctreeNode {
  float lo[3], hi[3];
  uint32_t count;
} pnLabOctreeNode;

/* Level d begins at (8^d - 1) / 7, children are in a row. */
typedef struct pnLabOctree {
  pnLabOctreeNode *nodes;
  uint32_t levels;
  uint64_t tests, hits; /* of the last visit: boxes compared, pairs of buckets that overlap */
} pnLabOctree;

typedef enum pnLabOctreeRule { PN_LAB_OCTREE_SMALLER, PN_LAB_OCTREE_LARGER, PN_LAB_OCTREE_BOTH } pnLabOctreeRule;

/* Over triangles, 9 floats each, by the middle of their boxes. */
pnLabOctree pn_labMakeOctree(const float *positions, uint32_t count, uint32_t levels);
void pn_labFreeOctree(pnLabOctree *octree);
/* Counts pairs of buckets that overlap, and the tests it took, in a. */
void pn_labVisitOctrees(pnLabOctree *a, const pnLabOctree *b, pnLabOctreeRule rule);

#endif
