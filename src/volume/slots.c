/* slots.c: from slots to the layers of a band, in one pass. */
#include "volume/slots.h"

bool pn_slotsStart(pnSlots *slots, uint32_t cellCount) {
  // three cells more, for rows that end in the middle of four
  size_t room = (size_t)cellCount + 3;
  if (!pn_arrayReserve(&slots->counts, room) || !pn_arrayReserve(&slots->keys, PN_SLOTS * room)) return false;
  memset(slots->counts.data, 0, room);
  slots->spill.count = 0;
  slots->total = 0;
  return true;
}

void pn_slotsFree(pnSlots *slots) {
  pn_arrayFree(&slots->counts);
  pn_arrayFree(&slots->keys);
  pn_arrayFree(&slots->spill);
}

size_t pn_slotsBytes(const pnSlots *slots) {
  return slots->counts.capacity + slots->keys.capacity * sizeof(uint32_t) + slots->spill.capacity * sizeof(pnDot);
}

/* ---------------------------------------------------------------- cells alike */

/* Neighbours mostly have the same number of layers. Runs of cells of none, two or four are loops without a branch, which
 * compilers turn into vectors. */
#define GROUP 8

static void writeTwos(const uint32_t *restrict slot, uint32_t *restrict keys, size_t cells) {
  for (size_t i = 0; i < cells; ++i) {
    uint32_t a = slot[4 * i], b = slot[4 * i + 1];
    pn_orderTwo(&a, &b);
    keys[2 * i] = a, keys[2 * i + 1] = b;
  }
}

static void writeFours(const uint32_t *restrict slot, uint32_t *restrict keys, size_t cells) {
  for (size_t i = 0; i < cells; ++i) {
    uint32_t a = slot[4 * i], b = slot[4 * i + 1], c = slot[4 * i + 2], d = slot[4 * i + 3];
    pn_orderFour(&a, &b, &c, &d);
    keys[4 * i] = a, keys[4 * i + 1] = b, keys[4 * i + 2] = c, keys[4 * i + 3] = d;
  }
}

static void writeOffsets(uint32_t *offsets, uint32_t place, uint32_t each, size_t cells) {
  for (size_t i = 0; i < cells; ++i, place += each) offsets[i] = place;
}

/* ---------------------------------------------------------------- all */

/* Any eight cells; returns the place behind them. When there was a spill, offsets[c] says how many keys of cell c are in
 * it. */
static uint32_t writeCells(pnBand *band, const uint8_t *counts, uint32_t *slot, uint32_t first, uint32_t place,
                           bool spill) {
  for (uint32_t c = 0; c < GROUP; ++c, slot += PN_SLOTS) {
    uint32_t count = counts[c], spilled = spill ? band->offsets[first + c] : 0;
    uint32_t *keys = band->keys + place;
    band->offsets[first + c] = place;
    if (count == 2) {
      keys[0] = PN_MIN(slot[0], slot[1]), keys[1] = PN_MAX(slot[0], slot[1]);
    } else if (count == PN_SLOTS) {
      writeFours(slot, keys, 1);
      // the next key goes here
      slot[0] = place + PN_SLOTS;
    } else {
      memcpy(keys, slot, count * sizeof *keys);
      pn_sortLayers(keys, count);
    }
    count += spilled;
    place += count;
    band->maxLayers = PN_MAX(band->maxLayers, count);
    band->oddCount += count & 1;
  }
  return place;
}

/* Puts the spilled keys behind those that had a slot, and sorts their cells. The first slot of a cell says where its next
 * key goes, and afterwards that it is sorted. */
static void placeSpill(pnSlots *slots, pnBand *band) {
  const uint32_t sorted = UINT32_MAX;
  for (size_t i = 0; i < slots->spill.count; ++i) {
    pnDot dot = slots->spill.data[i];
    band->keys[slots->keys.data[PN_SLOTS * (size_t)dot.cell]++] = dot.key;
  }
  for (size_t i = 0; i < slots->spill.count; ++i) {
    uint32_t cell = slots->spill.data[i].cell, *first = slots->keys.data + PN_SLOTS * (size_t)cell;
    if (*first == sorted) continue;
    *first = sorted;
    pn_sortLayers(band->keys + band->offsets[cell], band->offsets[cell + 1] - band->offsets[cell]);
  }
}

/* How many groups from here on have these counts. */
PN_INLINE uint32_t countAlike(const uint8_t *counts, uint32_t groups, uint64_t alike) {
  uint32_t n = 1;
  for (uint64_t next; n < groups; ++n) {
    memcpy(&next, counts + GROUP * (size_t)n, sizeof next);
    if (next != alike) break;
  }
  return n;
}

bool pn_slotsFinish(pnSlots *slots, pnBand *band, uint32_t cellCount) {
  if (!pn_bandReserve(band, slots->total)) return false;
  band->maxLayers = band->oddCount = 0;
  const bool spill = slots->spill.count > 0;
  if (spill) memset(band->offsets, 0, cellCount * sizeof *band->offsets);
  for (size_t i = 0; i < slots->spill.count; ++i) ++band->offsets[slots->spill.data[i].cell];

  // a band is eight rows: whole groups
  const uint64_t twos = UINT64_C(0x0202020202020202), fours = 2 * twos;
  uint32_t place = 0;
  for (uint32_t c = 0; c < cellCount;) {
    uint64_t counts;
    memcpy(&counts, slots->counts.data + c, sizeof counts);
    uint32_t *slot = slots->keys.data + PN_SLOTS * (size_t)c;
    if (counts && counts != twos && (counts != fours || spill)) {
      place = writeCells(band, slots->counts.data + c, slot, c, place, spill);
      c += GROUP;
      continue;
    }
    uint32_t cells = GROUP * countAlike(slots->counts.data + c, (cellCount - c) / GROUP, counts), each = counts & 7;
    if (each == 2) writeTwos(slot, band->keys + place, cells);
    if (each == 4) writeFours(slot, band->keys + place, cells);
    writeOffsets(band->offsets + c, place, each, cells);
    band->maxLayers = PN_MAX(band->maxLayers, each);
    place += cells * each;
    c += cells;
  }
  band->offsets[cellCount] = place;
  placeSpill(slots, band);
  return true;
}
