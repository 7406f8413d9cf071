/* measure_column.h: sums over one column of an image, or of two that share a view; see measure.c. Also the text of a program of
 * the device room: in the part that C17 and OpenCL C have in common. */
#ifndef PN_VOLUME_MEASURE_COLUMN_H
#define PN_VOLUME_MEASURE_COLUMN_H

#include "volume/walk_column.h"

/* Lengths in depth steps, summed over cells. Whole numbers: the order of adding does not matter. */
typedef struct pnTally {
  int64_t length;                       /* shared, as sampled */
  int64_t lengthMin, lengthMax;         /* surely shared; perhaps shared */
  int64_t onlyA, onlyASure, onlyAMaybe; /* in A but not in B; only when asked for */
  int64_t onlyB, onlyBSure, onlyBMaybe;
  int64_t momentX, momentY;        /* sum of length times cell number */
  int64_t momentZHigh, momentZLow; /* sum of length times (begin + end), in two parts: High * 2^24 + Low */
  uint64_t spanCount;
  int32_t x0, x1, y0, y1, z0, z1; /* cells and depths that are perhaps shared; x0 > x1 when there are none */
} pnTally;

PN_INLINE pnTally pn_emptyTally(void) {
  return (pnTally){.x0 = INT32_MAX, .x1 = -1, .y0 = INT32_MAX, .y1 = -1, .z0 = INT32_MAX, .z1 = -1};
}

/* The sums of two parts. */
PN_INLINE void pn_addTally(pnTally *all, const pnTally *part) {
  all->length += part->length, all->lengthMin += part->lengthMin, all->lengthMax += part->lengthMax;
  all->onlyA += part->onlyA, all->onlyASure += part->onlyASure, all->onlyAMaybe += part->onlyAMaybe;
  all->onlyB += part->onlyB, all->onlyBSure += part->onlyBSure, all->onlyBMaybe += part->onlyBMaybe;
  all->momentX += part->momentX, all->momentY += part->momentY;
  all->momentZHigh += part->momentZHigh, all->momentZLow += part->momentZLow;
  all->spanCount += part->spanCount;
  all->x0 = PN_MIN(all->x0, part->x0), all->x1 = PN_MAX(all->x1, part->x1);
  all->y0 = PN_MIN(all->y0, part->y0), all->y1 = PN_MAX(all->y1, part->y1);
  all->z0 = PN_MIN(all->z0, part->z0), all->z1 = PN_MAX(all->z1, part->z1);
}

PN_INLINE void pn_addSpan(pnTally *tally, int32_t x, int32_t y, int32_t begin, int32_t end) {
  int64_t length = end - begin, moment = length * ((int64_t)begin + end);
  tally->length += length;
  tally->momentX += length * x;
  tally->momentY += length * y;
  tally->momentZHigh += moment >> 24;
  tally->momentZLow += moment & 0xffffff;
  ++tally->spanCount;
}

/* Goes on to depth z, if there is anything to go on to. */
PN_INLINE void pn_stepTo(pnWalk *walk, int32_t z) {
  if (walk->next <= z) pn_walkTo(walk, z);
}

/* Inside or touched now, or later. */
PN_INLINE bool pn_isDone(const pnWalk *walk) {
  return walk->next == PN_DEPTH_END && !walk->inside && !walk->touched;
}

/* Adds one column. `only`: also what one body has and the other has not. Without it, everything before both have
 * begun and after one has ended is passed over. */
PN_INLINE void pn_measureColumn(pnTally *tally, int32_t x, int32_t y, pnWalk *a, pnWalk *b, int32_t steps,
                                const bool only) {
  int32_t begin = -1, outerBegin = -1, outerEnd = -1, z = 0;
  pn_walkTo(a, 0);
  pn_walkTo(b, 0);
  if (!only) {
    // where neither has begun there is nothing; at the later of the two beginnings look again
    if (!(a->inside | a->touched)) z = PN_MIN(a->next, steps);
    if (!(b->inside | b->touched)) z = PN_MAX(z, PN_MIN(b->next, steps));
  }
  int64_t lengthMin = 0, lengthMax = 0;
  while (z < steps) {
    pn_stepTo(a, z);
    pn_stepTo(b, z);
    if (!only && (pn_isDone(a) || pn_isDone(b))) break;
    int32_t next = PN_MIN(PN_MIN(a->next, b->next), steps), length = next - z;
    bool maybeA = a->inside | a->touched, sureA = a->inside & !a->touched;
    bool maybeB = b->inside | b->touched, sureB = b->inside & !b->touched;

    // spans as sampled
    bool shared = a->inside & b->inside;
    if (shared && begin < 0) begin = z;
    if (!shared && begin >= 0) pn_addSpan(tally, x, y, begin, z), begin = -1;

    lengthMin += (sureA & sureB) ? length : 0;
    if (maybeA & maybeB) {
      lengthMax += length;
      if (outerBegin < 0) outerBegin = z;
      outerEnd = next;
    }
    if (only) {
      tally->onlyA += (a->inside & !b->inside) ? length : 0;
      tally->onlyASure += (sureA & !maybeB) ? length : 0;
      tally->onlyAMaybe += (maybeA & !sureB) ? length : 0;
      tally->onlyB += (b->inside & !a->inside) ? length : 0;
      tally->onlyBSure += (sureB & !maybeA) ? length : 0;
      tally->onlyBMaybe += (maybeB & !sureA) ? length : 0;
    }
    z = next;
  }
  if (begin >= 0) pn_addSpan(tally, x, y, begin, PN_MIN(z, steps));
  if (outerBegin >= 0) {
    tally->lengthMin += lengthMin, tally->lengthMax += lengthMax;
    tally->x0 = PN_MIN(tally->x0, x), tally->x1 = PN_MAX(tally->x1, x);
    tally->y0 = PN_MIN(tally->y0, y), tally->y1 = PN_MAX(tally->y1, y);
    tally->z0 = PN_MIN(tally->z0, outerBegin), tally->z1 = PN_MAX(tally->z1, outerEnd);
  }
}

#endif
