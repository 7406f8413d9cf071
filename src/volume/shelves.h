/* shelves.h: the layers of one strip while they are being found.
 *
 * Nobody knows how many layers a cell will get until all triangles are drawn. So that they need not be drawn twice,
 * every cell has room for PN_SHELVES entries and as many exits, which is enough for nearly all; keys beyond go onto a
 * list, the spill. In the end all is sorted and written to the bands, cell after cell, in one pass.
 *
 * Shelves lie in planes: the first entries of all cells, their second entries, ..., then the exits. Neighbours mostly
 * have equally many, so that four keys of a row are one store. That entries and exits have planes of their own makes
 * it more so: where a line goes in and out once, both planes are filled once, in whatever order the triangles come. */
#ifndef PN_VOLUME_SHELVES_H
#define PN_VOLUME_SHELVES_H

#include "base/array.h"
#include "geom/simd_whole.h"
#include "volume/layers.h"

#define PN_SHELVES 3

/* One layer of one cell. */
typedef struct pnDot {
  uint32_t cell, key;
} pnDot;

typedef struct pnShelves {
  PN_ARRAY(uint8_t) counts; /* shelves taken by entries of each cell, then by exits: 0 ... PN_SHELVES */
  PN_ARRAY(uint32_t) keys;  /* 2 * PN_SHELVES planes */
  PN_ARRAY(pnDot) spill;
  uint32_t size, pitch; /* of a row */
  size_t stride;        /* from plane to plane */
  uint64_t total;       /* keys added, by whoever adds them */
} pnShelves;

/* Cells from row to row in the shelves: an odd number of cache lines of keys, so that rows one above the other do not
 * fall on the same place in the cache. */
PN_INLINE uint32_t pn_shelvesPitch(uint32_t size) {
  return ((size + 15) / 16 | 1) * 16;
}

/* Ready for so many rows of cells; false when out of memory. */
bool pn_shelvesStart(pnShelves *shelves, uint32_t size, uint32_t rowCount);
void pn_shelvesFree(pnShelves *shelves);
size_t pn_shelvesBytes(const pnShelves *shelves);

/* What adding works with, held in registers: from pn_shelvesOpen to pn_shelvesClose. */
typedef struct pnShelfPen {
  uint8_t *counts;
  uint32_t *keys;
  pnDot *spill;
  size_t stride;
} pnShelfPen;

PN_INLINE pnShelfPen pn_shelvesOpen(const pnShelves *shelves) {
  /* a list without memory has no place to add to */
  pnDot *spill = shelves->spill.data ? shelves->spill.data + shelves->spill.count : NULL;
  return (pnShelfPen){shelves->counts.data, shelves->keys.data, spill, shelves->stride};
}
PN_INLINE void pn_shelvesClose(pnShelves *shelves, const pnShelfPen *pen) {
  shelves->spill.count = pen->spill ? (size_t)(pen->spill - shelves->spill.data) : 0;
}

/* Makes room on the list for `count` keys more, so that adding them checks nothing; false when out of memory. */
PN_INLINE bool pn_shelvesReserve(pnShelves *shelves, pnShelfPen *pen, size_t count) {
  size_t used = pen->spill ? (size_t)(pen->spill - shelves->spill.data) : 0;
  if (shelves->spill.capacity - used >= count) return true;
  pn_shelvesClose(shelves, pen);
  if (!pn_arrayReserve(&shelves->spill, shelves->spill.count + count)) return false;
  *pen = pn_shelvesOpen(shelves);
  return true;
}

PN_INLINE void pn_shelvesAdd(pnShelfPen *pen, uint32_t cell, uint32_t key) {
  size_t exit = key & 1;
  uint8_t *count = pen->counts + exit * pen->stride + cell, n = *count;
  if (n < PN_SHELVES) {
    *count = n + 1;
    pen->keys[(exit * PN_SHELVES + n) * pen->stride + cell] = key;
  } else {
    *pen->spill++ = (pnDot){cell, key};
  }
}

/* A row of layers: `length` cells from `cell` on. Twice the depth at the first of them and its step from cell to cell,
 * in 2^-32 units, rounded by adding a half; signed numbers, kept without a sign: behind the row they may run over. */
typedef struct pnRow {
  uint32_t cell;
  uint16_t length, kind; /* kind: PN_ROW_... */
  uint64_t z, dz;
} pnRow;
#define PN_ROW_EXIT 1  /* the line leaves the body there */
#define PN_ROW_CLAMP 2 /* the depth may leave the window */

/* Rows are drawn by so many cells. */
#define PN_ROW_STEP 8

/* A row on its way: depths of the next four cells, and what they step by. */
typedef struct pnRun {
  pnU2 z01, z23, step;
  pnI4 exit, steps;
  bool clamp;
} pnRun;

PN_INLINE pnRun pn_startRun(const pnRow *row, bool clamp, int32_t steps) {
  const pnI4 zero = {0, 0, 0, 0};
  pnRun run = {.exit = zero + (row->kind & PN_ROW_EXIT), .steps = zero + steps, .clamp = clamp};
  const pnU2 z = {row->z, row->z}, dz = {row->dz, row->dz}, one = {0, 1};
  run.z01 = z + (dz & -one);
  run.z23 = run.z01 + (dz << 1);
  run.step = dz << 2;
  return run;
}

PN_INLINE pnI4 pn_nextKeys(pnRun *run) {
  // twice the depth has in its last bit the first behind the point: there goes the direction
  pnI4 keys = pn_i4Upper(run->z01, run->z23);
  if (run->clamp) keys = pn_i4Min(pn_i4Max(keys >> 1, run->steps - run->steps), run->steps) << 1;
  run->z01 += run->step, run->z23 += run->step;
  return (keys & ~1) | run->exit;
}

/* Eight counts as a word, the first in the lowest byte on every machine. */
PN_INLINE uint64_t pn_turnBytes(uint64_t word) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return __builtin_bswap64(word);
#else
  return word;
#endif
}
PN_INLINE uint64_t pn_loadEight(const uint8_t *counts) {
  uint64_t word;
  memcpy(&word, counts, sizeof word);
  return pn_turnBytes(word);
}
PN_INLINE void pn_storeEight(uint8_t *counts, uint64_t word) {
  word = pn_turnBytes(word);
  memcpy(counts, &word, sizeof word);
}
#define PN_EIGHT_ONES UINT64_C(0x0101010101010101)

/* Adds the next eight keys of a run to the cells from `cell` on, or as many of them as are wanted (0 ... 8, 8 when
 * `whole`): two stores when all have as many already. counts and planes are those of the keys' direction. */
PN_INLINE void pn_shelvesAddEight(pnShelfPen *pen, uint8_t *counts, uint32_t *planes, uint32_t cell, uint32_t wanted,
                                  bool whole, pnRun *run) {
  static const int32_t lanes[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
  static const uint64_t low8[9] = {
      0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, UINT64_MAX};
  const uint64_t bytes = whole ? UINT64_MAX : low8[wanted];
  uint64_t eight = pn_loadEight(counts + cell), level = eight & 255;
  pnI4 low = pn_nextKeys(run), high = pn_nextKeys(run);
  if (PN_LIKELY((((eight ^ level * PN_EIGHT_ONES) & bytes) == 0) & (level < PN_SHELVES))) {
    uint32_t *place = planes + level * pen->stride + cell;
    if (!whole) {
      pnI4 mask = pn_i4Load(lanes + 8 - wanted), mask4 = pn_i4Load(lanes + 12 - wanted);
      low = (low & mask) | (pn_i4Load(place) & ~mask), high = (high & mask4) | (pn_i4Load(place + 4) & ~mask4);
    }
    pn_i4Store(place, low), pn_i4Store(place + 4, high);
    pn_storeEight(counts + cell, eight + (bytes & PN_EIGHT_ONES));
    return;
  }
  uint32_t keys[8];
  pn_i4Store(keys, low), pn_i4Store(keys + 4, high);
  for (uint32_t k = 0; k < wanted; ++k) pn_shelvesAdd(pen, cell + k, keys[k]);
}

/* Adds a row, whose cells are 8 * (eights - 1) and one to eight more. */
PN_INLINE void pn_shelvesAddRow(pnShelfPen *pen, const pnRow *row, uint32_t eights, bool clamp, int32_t steps) {
  const size_t exit = row->kind & PN_ROW_EXIT ? pen->stride : 0;
  uint8_t *counts = pen->counts + exit;
  uint32_t *planes = pen->keys + exit * PN_SHELVES, cell = row->cell;
  pnRun run = pn_startRun(row, clamp, steps);
  for (uint32_t n = 1; n < eights; ++n, cell += 8) pn_shelvesAddEight(pen, counts, planes, cell, 8, true, &run);
  pn_shelvesAddEight(pen, counts, planes, cell, row->length - 8 * (eights - 1), false, &run);
}

/* Everything, sorted, into bands, with their statistics; false when out of memory. */
bool pn_shelvesFinish(pnShelves *shelves, pnBand *bands, uint32_t bandCount);

#endif
