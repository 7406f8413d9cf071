/* slots.h: the layers of one band while they are being found.
 *
 * Nobody knows how many layers a cell will get until all triangles are drawn. So that they need not be drawn twice, every
 * cell has room for PN_SLOTS keys, which is enough for nearly all; keys beyond go onto a list, the spill. In the end all
 * is sorted and written to the band, cell after cell, in one pass. Slots and counts of a band (17 bytes a cell) stay in
 * the second cache. */
#ifndef PN_VOLUME_SLOTS_H
#define PN_VOLUME_SLOTS_H

#include "base/array.h"
#include "volume/layers.h"

#include <string.h>

#define PN_SLOTS 4

/* One layer of one cell. */
typedef struct pnDot {
  uint32_t cell, key;
} pnDot;

typedef struct pnSlots {
  PN_ARRAY(uint8_t) counts; /* slots taken of each cell, 0 ... PN_SLOTS */
  PN_ARRAY(uint32_t) keys;  /* PN_SLOTS a cell */
  PN_ARRAY(pnDot) spill;
  uint64_t total; /* keys added, by whoever adds them */
} pnSlots;

/* Ready for a band of so many cells; false when out of memory. */
bool pn_slotsStart(pnSlots *slots, uint32_t cellCount);
void pn_slotsFree(pnSlots *slots);
size_t pn_slotsBytes(const pnSlots *slots);

/* What adding works with, held in registers: from pn_slotsOpen to pn_slotsClose. */
typedef struct pnSlotPen {
  uint8_t *counts;
  uint32_t *keys;
  pnDot *spill;
} pnSlotPen;

PN_INLINE pnSlotPen pn_slotsOpen(const pnSlots *slots) {
  return (pnSlotPen){slots->counts.data, slots->keys.data, slots->spill.data + slots->spill.count};
}
PN_INLINE void pn_slotsClose(pnSlots *slots, const pnSlotPen *pen) {
  slots->spill.count = (size_t)(pen->spill - slots->spill.data);
}

/* Makes room on the list for `count` keys more, so that adding them checks nothing; false when out of memory. */
PN_INLINE bool pn_slotsReserve(pnSlots *slots, pnSlotPen *pen, size_t count) {
  if ((size_t)(slots->spill.data + slots->spill.capacity - pen->spill) >= count) return true;
  pn_slotsClose(slots, pen);
  if (!pn_arrayReserve(&slots->spill, slots->spill.count + count)) return false;
  *pen = pn_slotsOpen(slots);
  return true;
}

PN_INLINE void pn_slotsAdd(pnSlotPen *pen, uint32_t cell, uint32_t key) {
  uint8_t n = pen->counts[cell];
  if (n < PN_SLOTS) {
    pen->counts[cell] = n + 1;
    pen->keys[PN_SLOTS * (size_t)cell + n] = key;
  } else {
    *pen->spill++ = (pnDot){cell, key};
  }
}

/* A row of layers: depths are z >> 32, z + dz >> 32, ..., each clamped to 0 ... steps if `clamp`; `exit` is the lowest bit
 * of all keys. Signed numbers, kept without a sign: beyond the end of the row they may run over. */
typedef struct pnRun {
  uint64_t z, dz;
  uint32_t exit;
  bool clamp;
  int32_t steps;
} pnRun;

/* Adds the run's next four to the cells from `cell` on, or as many of them as are wanted.
 *
 * Four counts are one word, and so are the numbers of the four slots. Cells that are not wanted get a key too, in a slot
 * that stays free: that is quicker than leaving them out. */
PN_INLINE void pn_slotsAddFour(pnSlotPen *pen, uint32_t cell, uint32_t wanted, pnRun *run) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  static const uint32_t ones[5] = {0, 0x01000000u, 0x01010000u, 0x01010100u, 0x01010101u};
  const uint32_t lanes = 0x0004080cu, shift[4] = {24, 16, 8, 0};
#else
  static const uint32_t ones[5] = {0, 0x00000001u, 0x00000101u, 0x00010101u, 0x01010101u};
  const uint32_t lanes = 0x0c080400u, shift[4] = {0, 8, 16, 24};
#endif
  uint32_t key[4], counts;
  for (int k = 0; k < 4; ++k, run->z += run->dz) {
    int32_t depth = (int32_t)(uint32_t)(run->z >> 32);
    if (run->clamp) depth = PN_MIN(PN_MAX(depth, 0), run->steps);
    key[k] = (uint32_t)depth << 1 | run->exit;
  }
  memcpy(&counts, pen->counts + cell, sizeof counts);
  // PN_SLOTS is the only count with its bit set: no slot is free
  if (counts & (PN_SLOTS * ones[4])) {
    for (uint32_t k = 0; k < wanted; ++k) pn_slotsAdd(pen, cell + k, key[k]);
    return;
  }
  uint32_t slot = counts + lanes, *keys = pen->keys + PN_SLOTS * (size_t)cell;
  for (int k = 0; k < 4; ++k) keys[slot >> shift[k] & 15] = key[k];
  counts += ones[wanted];
  memcpy(pen->counts + cell, &counts, sizeof counts);
}

/* Adds a run of `length` cells, which are 4 * (fours - 1) and one to four more. */
PN_INLINE void pn_slotsAddRow(pnSlotPen *pen, uint32_t cell, uint32_t length, uint32_t fours, pnRun run) {
  for (uint32_t n = 1; n < fours; ++n, cell += 4) pn_slotsAddFour(pen, cell, 4, &run);
  pn_slotsAddFour(pen, cell, length - 4 * (fours - 1), &run);
}

/* Everything, sorted, into the band, with its statistics; false when out of memory. */
bool pn_slotsFinish(pnSlots *slots, pnBand *band, uint32_t cellCount);

#endif
