/* broad.h: which boxes overlap? Kept from frame to frame: boxes that do not change cost nothing.
 *
 * Boxes are known by their place. pn_setBroadBox says what changed, pn_findClose brings the list of pairs up to date. */
#ifndef PN_COLLIDE_BROAD_H
#define PN_COLLIDE_BROAD_H

#include "base/array.h"
#include "collide/narrow.h"

/* A box and who may meet it. One that is empty (min > max somewhere) overlaps nothing. */
typedef struct pnBroadBox {
  pnBox box;
  uint32_t category, mask;
} pnBroadBox;

/* Eight boxes side by side: of bodies, or of nodes below. */
typedef struct pnBroadNode {
  float lo[3][PN_LANES], hi[3][PN_LANES];
} pnBroadNode;

#define PN_BROAD_LEVELS 12 /* 8^11 > 2^32 */

/* A zeroed one is valid and has no boxes. */
typedef struct pnBroadPhase {
  PN_ARRAY(pnBroadBox) boxes;   /* by place */
  PN_ARRAY(uint32_t) slotOf;    /* by place: where it stands in the tree; PN_NONE: nowhere */
  PN_ARRAY(uint8_t) isChanged;  /* by place: it is in `changed` */
  PN_ARRAY(uint32_t) changed;   /* places whose box or masks have changed since `pairs` was right */
  PN_ARRAY(uint32_t) newcomers; /* places that are not empty and not in the tree */
  PN_ARRAY(uint32_t) placeAt;   /* by slot: eight a node of the lowest level; PN_NONE: nobody */
  PN_ARRAY(pnBroadNode) nodes;  /* level after level, the lowest first */
  size_t levelFirst[PN_BROAD_LEVELS];
  uint32_t levelCount;
  size_t worn;   /* changes since the tree was built */
  pnPairs pairs; /* places a < b of boxes that overlap and may meet, sorted */
  PN_ARRAY(uint64_t) keys, scratch, stack;
} pnBroadPhase;

/* Do the categories and masks of two boxes agree that they may meet? */
PN_INLINE bool pn_mayMeet(const pnBroadBox *a, const pnBroadBox *b) {
  return (a->category & b->mask) && (b->category & a->mask);
}

/* A box that nobody meets. */
pnBroadBox pn_emptyBroadBox(void);

/* Room for so many places; new ones are empty. False: out of memory, nothing has changed. */
bool pn_reserveBroad(pnBroadPhase *broad, size_t placeCount);
/* What is at a place from now on. Setting what is there already is free. */
void pn_setBroadBox(pnBroadPhase *broad, uint32_t place, pnBroadBox box);

/* Brings broad->pairs up to date: closed boxes that overlap and may meet. `all` compares every box with every box. False: out of
 * memory, and the next call tries again. */
bool pn_findClose(pnBroadPhase *broad, bool all);
void pn_freeBroad(pnBroadPhase *broad);

#endif
