/* broad.h: which boxes overlap? Sweep and prune over three sorted axes, or every box against every box. */
#ifndef PN_COLLIDE_BROAD_H
#define PN_COLLIDE_BROAD_H

#include "base/array.h"
#include "base/sort.h"
#include "collide/narrow.h"

/* A box with the number the caller knows it by. */
typedef struct pnBroadBox {
  pnBox box;
  uint32_t id, category, mask;
} pnBroadBox;

/* Kept from frame to frame: the order along each axis, nearly right for the next frame. A zeroed one is valid. */
typedef struct pnBroadPhase {
  PN_ARRAY(pnFloatKey) axis[3]; /* key: lower end; value: index of the box */
  uint64_t boxSet;              /* which set of boxes the order belongs to */
  size_t moves;                 /* places moved by the last insertion sorts: the price of incoherence */
} pnBroadPhase;

/* Do the categories and masks of two boxes agree that they may meet? */
PN_INLINE bool pn_mayMeet(const pnBroadBox *a, const pnBroadBox *b) {
  return (a->category & b->mask) && (b->category & a->mask);
}

/* Pairs of indices i < j of boxes that overlap (touching counts) and may meet, appended to outPairs, sorted. boxSet is any
 * number that changes when boxes come or go. False: out of memory. */
bool pn_broadAll(const pnBroadBox *boxes, uint32_t count, pnPairs *outPairs);
bool pn_broadSweep(pnBroadPhase *broad, const pnBroadBox *boxes, uint32_t count, uint64_t boxSet, pnPairs *outPairs);
void pn_broadFree(pnBroadPhase *broad);

#endif
