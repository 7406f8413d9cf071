/* shelves.c: from shelves to the layers of bands, in one pass. */
#include "volume/shelves.h"

bool pn_shelvesStart(pnShelves *shelves, uint32_t size, uint32_t rowCount) {
  shelves->size = size;
  shelves->pitch = pn_shelvesPitch(size);
  // a cache line more, for the same reason; rows that end in the middle of four go no farther than that
  shelves->stride = (size_t)rowCount * shelves->pitch + 16;
  size_t before = shelves->keys.capacity;
  if (!pn_arrayReserve(&shelves->counts, 2 * shelves->stride) ||
      !pn_arrayReserve(&shelves->keys, 2 * PN_SHELVES * shelves->stride))
    return false;
  memset(shelves->counts.data, 0, 2 * shelves->stride);
  // New memory is cleared, once: rows that end in the middle of eight put back what they read (pn_shelvesAddEight), by exclusive ors when
  // the compiler likes them, and a tool that watches for bytes nobody wrote does not see that these cancel.
  if (shelves->keys.capacity != before) memset(shelves->keys.data, 0, shelves->keys.capacity * sizeof(uint32_t));
  shelves->spill.count = 0;
  shelves->total = 0;
  return true;
}

void pn_shelvesFree(pnShelves *shelves) {
  pn_arrayFree(&shelves->counts);
  pn_arrayFree(&shelves->keys);
  pn_arrayFree(&shelves->spill);
}

size_t pn_shelvesBytes(const pnShelves *shelves) {
  return shelves->counts.capacity + shelves->keys.capacity * sizeof(uint32_t) + shelves->spill.capacity * sizeof(pnDot);
}

/* ---------------------------------------------------------------- cells alike */

/* Neighbours mostly have the same number of layers. Runs of cells of none, two or four are loops without a branch,
 * which compilers turn into vectors. */
#define GROUP 8

/* One entry and one exit; two of each. `shelf` is the first cell's first entry. */
static void writeTwos(const uint32_t *restrict shelf, size_t stride, uint32_t *restrict keys, size_t cells) {
  const uint32_t *restrict exits = shelf + PN_SHELVES * stride;
  for (size_t i = 0; i < cells; ++i) {
    uint32_t a = shelf[i], b = exits[i];
    pn_orderTwo(&a, &b);
    keys[2 * i] = a, keys[2 * i + 1] = b;
  }
}

static void writeFours(const uint32_t *restrict shelf, size_t stride, uint32_t *restrict keys, size_t cells) {
  const uint32_t *restrict entries = shelf + stride, *restrict exits = shelf + PN_SHELVES * stride;
  const uint32_t *restrict exits1 = exits + stride;
  for (size_t i = 0; i < cells; ++i) {
    uint32_t a = shelf[i], b = entries[i], c = exits[i], d = exits1[i];
    pn_orderFour(&a, &b, &c, &d);
    keys[4 * i] = a, keys[4 * i + 1] = b, keys[4 * i + 2] = c, keys[4 * i + 3] = d;
  }
}

static void writeOffsets(uint32_t *offsets, uint32_t place, uint32_t each, size_t cells) {
  for (size_t i = 0; i < cells; ++i, place += each) offsets[i] = place;
}

/* ---------------------------------------------------------------- a row */

/* A row of a band. */
typedef struct ShelfRow {
  const uint8_t *entries, *exits; /* numbers of shelves taken */
  uint32_t *shelf;                /* first entries */
  size_t stride;
  uint32_t *offsets;
  bool spill; /* there was one: offsets[c] says how many keys of cell c are in it */
} ShelfRow;

/* Eight cells or less; returns the place behind them. */
static uint32_t writeCells(const ShelfRow *row, pnBand *band, uint32_t begin, uint32_t end, uint32_t place) {
  for (uint32_t c = begin; c < end; ++c) {
    uint32_t entries = row->entries[c], exits = row->exits[c], count = entries + exits;
    uint32_t *keys = band->keys + place, *shelf = row->shelf + c;
    uint32_t spilled = row->spill ? row->offsets[c] : 0;
    row->offsets[c] = place;
    if (entries == 1 && exits == 1) {
      writeTwos(shelf, row->stride, keys, 1);
    } else if (count) {
      for (uint32_t k = 0; k < entries; ++k) keys[k] = shelf[k * row->stride];
      for (uint32_t k = 0; k < exits; ++k) keys[entries + k] = shelf[(PN_SHELVES + k) * row->stride];
      pn_sortLayers(keys, count);
    }
    // the next key goes here
    if (spilled) shelf[0] = place + count;
    count += spilled;
    place += count;
    band->maxLayers = PN_MAX(band->maxLayers, count);
    band->oddCount += count & 1;
  }
  return place;
}

/* How many cells from c on, in whole groups, have these counts. */
PN_INLINE uint32_t countAlike(const ShelfRow *row, uint32_t c, uint32_t size, uint64_t alike) {
  uint32_t n = c + GROUP;
  while (n + GROUP <= size && ((pn_loadEight(row->entries + n) ^ alike) | (pn_loadEight(row->exits + n) ^ alike)) == 0)
    n += GROUP;
  return n - c;
}

/* How many keys a row has. Counts behind its end are zero, and no byte of a sum runs over: 8 * 2 * PN_SHELVES < 256. */
static size_t countKeys(const ShelfRow *row, uint32_t size) {
  size_t count = 0;
  for (uint32_t c = 0; c < size; c += GROUP)
    count += ((pn_loadEight(row->entries + c) + pn_loadEight(row->exits + c)) * PN_EIGHT_ONES) >> 56;
  for (uint32_t c = 0; row->spill && c < size; ++c) count += row->offsets[c];
  return count;
}

/* Writes a row from `place` on; returns the place behind it. There is room. */
static uint32_t writeRow(const ShelfRow *row, pnBand *band, uint32_t size, uint32_t place) {
  for (uint32_t c = 0, end; c < size; c = end) {
    uint64_t entries = pn_loadEight(row->entries + c), exits = pn_loadEight(row->exits + c);
    end = PN_MIN(c + GROUP, size);
    if (entries != exits || (entries != 0 && entries != PN_EIGHT_ONES && entries != 2 * PN_EIGHT_ONES) ||
        end < c + GROUP) {
      place = writeCells(row, band, c, end, place);
      continue;
    }
    uint32_t cells = countAlike(row, c, size, entries), each = 2 * (entries & 255);
    end = c + cells;
    if (each == 2) writeTwos(row->shelf + c, row->stride, band->keys + place, cells);
    if (each == 4) writeFours(row->shelf + c, row->stride, band->keys + place, cells);
    writeOffsets(row->offsets + c, place, each, cells);
    band->maxLayers = PN_MAX(band->maxLayers, each);
    place += cells * each;
  }
  return place;
}

/* ---------------------------------------------------------------- all */

static ShelfRow rowOf(const pnShelves *shelves, const pnBand *bands, uint32_t y) {
  size_t first = (size_t)y * shelves->pitch;
  const uint8_t *counts = shelves->counts.data + first;
  uint32_t *offsets = bands[y / PN_BAND_ROWS].offsets + (size_t)(y % PN_BAND_ROWS) * shelves->size;
  return (ShelfRow){counts,  counts + shelves->stride, shelves->keys.data + first, shelves->stride,
                    offsets, shelves->spill.count > 0};
}

/* How many keys a band has. */
static size_t countBand(const pnShelves *shelves, const pnBand *bands, uint32_t b) {
  size_t total = 0;
  for (uint32_t y = b * PN_BAND_ROWS; y < (b + 1) * PN_BAND_ROWS; ++y) {
    ShelfRow row = rowOf(shelves, bands, y);
    total += countKeys(&row, shelves->size);
  }
  return total;
}

static bool finishBand(const pnShelves *shelves, pnBand *bands, uint32_t b, size_t total) {
  pnBand *band = bands + b;
  if (!pn_bandReserve(band, total)) return false;
  band->maxLayers = band->oddCount = 0;
  uint32_t place = 0;
  for (uint32_t y = b * PN_BAND_ROWS; y < (b + 1) * PN_BAND_ROWS; ++y) {
    ShelfRow row = rowOf(shelves, bands, y);
    place = writeRow(&row, band, shelves->size, place);
  }
  PN_ASSERT(place == total);
  band->offsets[PN_BAND_ROWS * shelves->size] = place;
  return true;
}

/* The band that a cell of the shelves lies in, and its number there. */
PN_INLINE pnBand *bandOf(const pnShelves *shelves, pnBand *bands, uint32_t cell, uint32_t *outCell) {
  uint32_t y = cell / shelves->pitch;
  *outCell = y % PN_BAND_ROWS * shelves->size + cell % shelves->pitch;
  return bands + y / PN_BAND_ROWS;
}

/* Puts the spilled keys behind those that had a shelf, and sorts their cells. The first shelf of a cell says where its
 * next key goes, and afterwards that it is sorted. */
static void placeSpill(pnShelves *shelves, pnBand *bands) {
  const uint32_t sorted = UINT32_MAX;
  uint32_t cell;
  for (size_t i = 0; i < shelves->spill.count; ++i) {
    pnDot dot = shelves->spill.data[i];
    bandOf(shelves, bands, dot.cell, &cell)->keys[shelves->keys.data[dot.cell]++] = dot.key;
  }
  for (size_t i = 0; i < shelves->spill.count; ++i) {
    uint32_t *first = shelves->keys.data + shelves->spill.data[i].cell;
    if (*first == sorted) continue;
    *first = sorted;
    const pnBand *band = bandOf(shelves, bands, shelves->spill.data[i].cell, &cell);
    pn_sortLayers(band->keys + band->offsets[cell], band->offsets[cell + 1] - band->offsets[cell]);
  }
}

bool pn_shelvesFinish(pnShelves *shelves, pnBand *bands, uint32_t bandCount) {
  uint32_t cell;
  for (uint32_t b = 0; shelves->spill.count && b < bandCount; ++b)
    memset(bands[b].offsets, 0, (size_t)PN_BAND_ROWS * shelves->size * sizeof *bands[b].offsets);
  for (size_t i = 0; i < shelves->spill.count; ++i)
    ++bandOf(shelves, bands, shelves->spill.data[i].cell, &cell)->offsets[cell];
  // the last band has what the others leave: it need not be counted
  size_t rest = (size_t)shelves->total;
  for (uint32_t b = 0; b < bandCount; ++b) {
    size_t total = b + 1 < bandCount ? countBand(shelves, bands, b) : rest;
    rest -= total;
    if (!finishBand(shelves, bands, b, total)) return false;
  }
  placeSpill(shelves, bands);
  return true;
}
