/* vertex_lists.h: which vertices are below the nodes of a shape that is being made: of leaves, twigs and clusters (tree.h), each
 * once and ascending. Lists of leaves are put in order, all others are merged from them; every list has a place of its own, so that
 * workers make them side by side and nobody counts with anybody else. */
#ifndef PN_TREE_VERTEX_LISTS_H
#define PN_TREE_VERTEX_LISTS_H

#include "base/task.h"
#include "tree/shape.h"

/* Corners of a leaf, and so the longest list of one. */
#define PN_LEAF_CORNERS 24u

/* The vertices of a leaf's corners, each once and ascending, and where among them each corner is. Returns how many. Only so much of the
 * places is written as there are corners. */
typedef uint32_t pnListCornersFcn(const uint32_t *corners, uint32_t count, uint32_t *outList, uint8_t *outPlaces);
pnListCornersFcn pn_listCorners;
#if defined(__x86_64__) && !defined(PN_SCALAR)
pnListCornersFcn pn_listCornersAvx2;
#endif
/* The one for this machine; all do the same. */
PN_INLINE pnListCornersFcn *pn_chooseListing(void) {
#if defined(__x86_64__) && !defined(PN_SCALAR)
  if (__builtin_cpu_supports("avx2")) return pn_listCornersAvx2;
#endif
  return pn_listCorners;
}

/* Leaves in a row whose vertices are listed together, and the list. */
typedef struct pnListRun {
  uint32_t first, end; /* leaves */
  const uint32_t *list;
  uint32_t count;
} pnListRun;

typedef struct pnVertexLists {
  size_t leafCount;
  uint32_t *room;   /* one block for everything; null: none */
  uint32_t *leaves; /* PN_LEAF_CORNERS a leaf: its list */
  uint8_t *place;   /* as many: where in the list each corner is */
  uint32_t *length; /* of the lists of leaves; while twigs are merged into clusters, of runs that begin at a leaf */
  uint32_t *next;   /* where the run that begins at a leaf ends */
  uint32_t *twigs, *spare[2];
  pnListCornersFcn *listCorners;
} pnVertexLists;

/* False: out of memory. Free in any case. */
bool pn_reserveVertexLists(pnVertexLists *lists, size_t leafCount);
void pn_freeVertexLists(pnVertexLists *lists);

/* The list of a leaf from the vertices of its corners, three a triangle. */
void pn_listLeaf(pnVertexLists *lists, uint32_t leaf, const uint32_t *corners, uint32_t count);
/* A twig: the list of leaves [run->first, run->end), of at most PN_LANES. */
void pn_listTwig(pnVertexLists *lists, pnListRun *run);
/* A cluster: the list of a range of leaves that begins and ends where twigs do, if there are any. */
void pn_listCluster(pnVertexLists *lists, pnListRun *run, bool fromTwigs);

#endif
