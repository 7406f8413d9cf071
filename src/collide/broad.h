/* broad.h: which boxes overlap? Kept from frame to frame: boxes that do not change cost nothing.
 *
 * Boxes are known by their place. pn_setBroadBox says what changed, pn_findClose brings the list of pairs up to date. Where thousands
 * of boxes are in one place there are more pairs than memory: from PN_BROAD_CROWD on they are listed some rows at a time, in
 * the same order, and found anew every time:
 *
 *   ok = pn_findClose(broad, false);
 *   for (;;) { ... broad->pairs ...; if (!pn_isCloseLeft(broad)) break; ok = pn_findNextClose(broad); }
 */
#ifndef PN_COLLIDE_BROAD_H
#define PN_COLLIDE_BROAD_H

#include "base/array.h"
#include "base/task.h"
#include "base/sort.h"
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
/* More pairs than this are a crowd (24 MB with what sorting needs), and then a quarter of it is listed at a time, to the end of a
 * row. Of very many boxes there may be so many pairs for each, where nothing is crowded: boxes of one size that fill space have 13, and the
 * 768 bytes of these are few beside a body. */
#define PN_BROAD_CROWD (1u << 20)
#define PN_BROAD_CROWD_EACH 32u

/* Pairs of nodes that are to be opened. */
typedef PN_ARRAY(uint64_t) pnBroadStack;

/* What one of several workers has found, and has to open. */
typedef struct pnBroadWorker {
  pnBroadStack stack;
  pnPairs found;    /* places a < b */
  bool isTooMany;   /* more than there may be of what is no crowd */
  bool outOfMemory; /* there are pairs missing */
} pnBroadWorker;

/* A zeroed one is valid and has no boxes. */
typedef struct pnBroadPhase {
  PN_ARRAY(pnBroadBox) boxes;   /* by place */
  PN_ARRAY(uint32_t) perchOf;   /* by place: where it stands in the tree; PN_NONE: nowhere */
  PN_ARRAY(uint8_t) isChanged;  /* by place: 1, it is in `changed`; 2, it should be (pn_putBroadBox) */
  PN_ARRAY(uint32_t) changed;   /* places whose box or masks have changed since `pairs` was right */
  PN_ARRAY(uint32_t) newcomers; /* places that are not empty and not in the tree */
  PN_ARRAY(uint32_t) placeAt;   /* by perch: eight a node of the lowest level; PN_NONE: nobody */
  PN_ARRAY(pnBroadNode) nodes;  /* level after level, the lowest first */
  size_t levelFirst[PN_BROAD_LEVELS];
  uint32_t levelCount;
  size_t worn;   /* changes since the tree was built */
  pnPairs pairs; /* places a < b of boxes that overlap and may meet, sorted: all, or of a crowd those of some rows */
  pnPairs next;  /* room for those of the next frame, where they are not found anew */
  PN_ARRAY(uint64_t) keys, scratch;
  pnBroadStack seeds;              /* that workers share */
  PN_ARRAY(pnBroadWorker) workers; /* the first is whoever calls */
  PN_ARRAY(pnKeyList) found;       /* what those have who have found something */
  uint32_t crowd;                  /* more pairs than this are a crowd; 0: as above. Tests have smaller ones */
  bool isCrowd;                    /* there are more pairs than are listed at once */
  uint32_t nextRow; /* of a crowd: `pairs` has all whose lower place is below this one and was not listed before */
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
/* The same of many places in two halves: by any number of threads, each place once; and then by one. */
void pn_putBroadBox(pnBroadPhase *broad, uint32_t place, pnBroadBox box);
void pn_noteBroadBox(pnBroadPhase *broad, uint32_t place);

/* Brings broad->pairs up to date: closed boxes that overlap and may meet. `all` compares every box with every box. Where there are many,
 * workers share them; tasks may be null. False: out of memory, and the next call tries again. */
bool pn_findClose(pnBroadPhase *broad, bool all, const pnTasks *tasks);
/* Of a crowd: are there pairs beyond those listed? The next rows; false: out of memory. */
PN_INLINE bool pn_isCloseLeft(const pnBroadPhase *broad) {
  return broad->isCrowd && broad->nextRow < broad->boxes.count;
}
bool pn_findNextClose(pnBroadPhase *broad);
/* Places below this one have all their pairs with higher ones in the list, or had before. */
PN_INLINE uint32_t pn_closeEnd(const pnBroadPhase *broad) {
  return broad->isCrowd ? broad->nextRow : UINT32_MAX;
}
void pn_freeBroad(pnBroadPhase *broad);

#endif
