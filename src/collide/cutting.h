/* cutting.h: what a small body that moves needs of a large one that stands still, kept from frame to frame.
 *
 * A small body on a terrain goes down the large tree in every frame, to nearly the same leaves, and waits for memory on each level.
 * A *cutting* is a list of the leaves of the large tree that a box around the small body, its *reach*, meets, with their boxes side by
 * side as the nodes of a small tree: a root, up to eight nodes below it, up to 64 leaves. The traversal begins in it instead of the large
 * tree's root (pn_runNodes), and what comes out is pairs of leaves of the large tree, as without.
 *
 * Nothing is lost while two things hold, which are looked at in every frame. The large tree is as it was: the same tree, with the same
 * stamp. And the box of the small tree lies within the reach. A point that two triangles share lies in the small body's box, so in the
 * reach, and in the box of a leaf of the large tree; cells are a monotone function of coordinates, so the cells of the reach and those
 * of the leaf overlap: the leaf is in the list. Otherwise the list is made anew. The reach goes ahead of the body along its way, so that
 * this is seldom; that of the first list, when nothing is known of the way, goes to all sides. So bodies that were made together leave
 * their first lists one after the other, by how fast they are, and not all in one frame.
 *
 * A cutting belongs to the small body and serves one question a frame: nobody else writes it. */
#ifndef PN_COLLIDE_CUTTING_H
#define PN_COLLIDE_CUTTING_H

#include "collide/board.h"
#include "tree/update.h"

#include <stddef.h>

#define PN_CUTTING_NODES (1u + PN_LANES)
#define PN_CUTTING_LEAVES (PN_LANES * PN_LANES)

/* Of tables that count. */
#define PN_EIGHT(x) x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7

/* One that is all zero is valid and empty. */
typedef struct pnCutting {
  uint64_t serial; /* of the large tree when this was last asked, and its stamp */
  uint32_t now;
  uint32_t leafCount; /* 0: nothing is listed */
  uint32_t served;    /* questions since the list was made */
  uint32_t pause;     /* questions until one is made again */
  bool trusting; /* the large body has never moved: the first list is made without looking whether it stands still */
  bool isFirst;  /* this is that list */
  pnBox reach;
  pnBox last;                             /* of the small tree when this was last asked */
  bool closed;                            /* nodes have boxes; leaves always do */
  uint8_t count[PN_CUTTING_NODES];        /* children */
  uint32_t leaves[PN_CUTTING_LEAVES];     /* as nodes of the large tree */
  pnBoxLanes lanes[PN_CUTTING_NODES + 1]; /* and the root's own, as tree.h has it */
  /* for a body that is small (peg.h): the holes of leaves and of their triangles, of those that it has come near so far */
  bool hasHoles;
  uint64_t drilled; /* bits of leaves */
  pnBoard board;
  _Alignas(64) uint8_t leafHole[PN_CUTTING_LEAVES][PN_PEG];
  _Alignas(64) uint8_t hole[PN_CUTTING_LEAVES][PN_LANES][PN_PEG];
} pnCutting;

/* Is a cutting worth its memory for two bodies of so many leaves? */
PN_INLINE bool pn_isCuttable(uint32_t large, uint32_t small) {
  return small <= PN_CUTTING_LEAVES && large >= PN_CUTTING_LEAVES * PN_CUTTING_LEAVES / 4;
}

/* Brings a cutting to the boxes of this frame. False: there is none, begin at the root of the large tree. Nodes of that are filled, and
 * counted in `fresh`, where the list is made anew. Both trees have boxes on grids (pn_slabBox). */
bool pn_followCutting(pnCutting *cutting, pnTree *large, const pnTree *small, pnFresh *fresh);
/* The cells of a box, lo and hi, each in all lanes. */
typedef struct pnCells8 {
  pnH8 lo[3], hi[3];
} pnCells8;
pnCells8 pn_cellsOfBox(const pnTree *tree, const pnBox *box);

/* Which of the boxes in a node overlap them? */
PN_INLINE unsigned pn_lanesIn(const pnBoxLanes *lanes, const pnCells8 *cells) {
  pnH8 in = pn_h8Set1(-1);
  for (uint32_t d = 0; d < 3; ++d) {
    in = pn_h8And(in, pn_h8And(pn_h8LessEqual(pn_h8Load(lanes->row[d][0]), cells->hi[d]),
                               pn_h8LessEqual(cells->lo[d], pn_h8Load(lanes->row[d][1]))));
  }
  return pn_h8Mask(in);
}

/* What opening a node reads. */
PN_INLINE void pn_askForNode(const pnTree *tree, uint32_t node) {
  const char *lanes = tree->lanes + (size_t)node * tree->laneBytes;
  __builtin_prefetch(lanes);
  __builtin_prefetch(lanes + 64);
  __builtin_prefetch((const char *)&tree->stamp[node]);
}
/* What following it and opening it reads first. */
PN_INLINE void pn_askForCutting(const pnCutting *cutting) {
  const char *at = (const char *)cutting;
  for (size_t i = 0; i < offsetof(pnCutting, lanes) + 6 * sizeof(pnBoxLanes); i += 64) __builtin_prefetch(at + i);
  at += offsetof(pnCutting, leafHole);
  for (size_t i = 0; i < PN_CUTTING_LEAVES / 2 * PN_PEG; i += 64) __builtin_prefetch(at + i);
}
/* The small tree, for as long as the cutting is not followed again; only what opening inner nodes needs is in it. Leaf i of it is
 * cutting->leaves[i]. */
void pn_plantCutting(pnCutting *cutting, const pnTree *large, pnShape *outShape, pnTree *outTree);

#endif
