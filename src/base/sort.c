/* sort.c: least-significant-digit radix sort for integers, insertion sort for lists that are nearly in order.
 *
 * The radix sorts move the items once for every digit in which keys differ. Pair lists of small meshes differ in the low bits
 * of each half, so most passes are never made. Several workers deal the keys into parts first, and sort these side by side. */
#include "base/sort.h"

#include <string.h>

/* Below this many items an insertion sort beats counting 256 buckets for each byte. */
#define SMALL_COUNT 48

/* Turns counts into starting places. False when all items are in one bucket: this byte needs no pass. */
static bool countsToStarts(size_t counts[256], size_t itemCount) {
  size_t start = 0;
  for (int i = 0; i < 256; ++i) {
    size_t count = counts[i];
    if (count == itemCount) return false;
    counts[i] = start;
    start += count;
  }
  return true;
}

/* Bits of a digit: more make fewer passes, but counting 2^bits buckets must not cost more than the keys do. */
static unsigned digitBits(size_t count) {
  return count < 512 ? 7 : count < 4096 ? 8 : 11;
}

/* One stable pass by the digit of `bits` bits at `shift`. */
static void passU64(const uint64_t *from, uint64_t *to, size_t count, unsigned shift, unsigned bits) {
  size_t starts[1u << 11], start = 0;
  uint64_t mask = ((uint64_t)1 << bits) - 1;
  memset(starts, 0, ((size_t)1 << bits) * sizeof *starts);
  for (size_t i = 0; i < count; ++i) ++starts[from[i] >> shift & mask];
  for (size_t i = 0; i <= mask; ++i) {
    size_t n = starts[i];
    starts[i] = start;
    start += n;
  }
  for (size_t i = 0; i < count; ++i) to[starts[from[i] >> shift & mask]++] = from[i];
}

void pn_sortU64(uint64_t *keys, uint64_t *scratch, size_t count) {
  // few keys: insertion
  if (count <= SMALL_COUNT) {
    for (size_t i = 1; i < count; ++i) {
      uint64_t key = keys[i];
      size_t k = i;
      for (; k > 0 && keys[k - 1] > key; --k) keys[k] = keys[k - 1];
      keys[k] = key;
    }
    return;
  }

  // which bits differ at all?
  uint64_t differ = 0;
  for (size_t i = 1; i < count; ++i) differ |= keys[i] ^ keys[0];

  // digits from the lowest bit that differs, back and forth between the two arrays
  unsigned bits = digitBits(count);
  uint64_t *from = keys, *to = scratch;
  while (differ != 0) {
    unsigned shift = (unsigned)__builtin_ctzll(differ);
    passU64(from, to, count, shift, bits);
    uint64_t *swap = from;
    from = to;
    to = swap;
    differ &= ~((((uint64_t)1 << bits) - 1) << shift);
  }
  if (from != keys) memcpy(keys, from, count * sizeof *keys);
}

/* ---------------------------------------------------------------- by several workers */

/* Keys are dealt into parts by value, block by block, and each part is sorted by one worker. Which part a key is in stands in a table
 * of cells of one width between the least and the greatest of some samples; cells go to parts so that these have about as many
 * samples each. (Searching borders between parts takes ten times as long: where a key lies nobody can predict.) */
#define PARTS 64u
#define BLOCKS 64u
#define SAMPLES_PER_PART 8u
#define CELLS 2048u
/* From so many keys on: below, one worker is done before others have come. */
#define MANY_KEYS 2048u

typedef struct PartSort {
  uint64_t *keys, *scratch;
  size_t count;
  uint64_t least;
  unsigned shift;
  uint8_t partOfCell[CELLS];     /* ascending */
  uint32_t place[BLOCKS][PARTS]; /* keys of a block in a part, then where the next of them goes */
  uint32_t partFirst[PARTS + 1];
} PartSort;

/* Keys beyond the samples belong to the first and the last cell. */
PN_INLINE uint32_t cellOfKey(const PartSort *s, uint64_t key) {
  uint64_t cell = (PN_MAX(key, s->least) - s->least) >> s->shift;
  return (uint32_t)PN_MIN(cell, CELLS - 1u);
}

PN_INLINE uint32_t partOfKey(const PartSort *s, uint64_t key) {
  return s->partOfCell[cellOfKey(s, key)];
}

static size_t blockBegin(const PartSort *s, uint32_t block) {
  return s->count * block / BLOCKS;
}

static void countParts(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  PartSort *s = context;
  for (uint32_t b = begin; b < end; ++b) {
    memset(s->place[b], 0, sizeof s->place[b]);
    for (size_t i = blockBegin(s, b); i < blockBegin(s, b + 1); ++i) ++s->place[b][partOfKey(s, s->keys[i])];
  }
}

static void dealKeys(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  PartSort *s = context;
  for (uint32_t b = begin; b < end; ++b)
    for (size_t i = blockBegin(s, b); i < blockBegin(s, b + 1); ++i)
      s->scratch[s->place[b][partOfKey(s, s->keys[i])]++] = s->keys[i];
}

static void sortParts(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  PartSort *s = context;
  for (uint32_t p = begin; p < end; ++p) {
    size_t first = s->partFirst[p], count = s->partFirst[p + 1] - first;
    if (count == 0) continue;
    pn_sortU64(s->scratch + first, s->keys + first, count);
    memcpy(s->keys + first, s->scratch + first, count * sizeof *s->keys);
  }
}

static void choosePartsOfCells(PartSort *s) {
  uint64_t samples[PARTS * SAMPLES_PER_PART], room[PARTS * SAMPLES_PER_PART];
  const size_t count = PARTS * SAMPLES_PER_PART;
  for (size_t i = 0; i < count; ++i) samples[i] = s->keys[s->count * i / count];
  pn_sortU64(samples, room, count);
  s->least = samples[0];
  s->shift = 0;
  while ((samples[count - 1] - s->least) >> s->shift >= CELLS) ++s->shift;
  uint32_t cell = 0;
  for (uint32_t p = 0; p + 1 < PARTS; ++p)
    for (uint32_t end = cellOfKey(s, samples[(p + 1) * SAMPLES_PER_PART]); cell < end; ++cell)
      s->partOfCell[cell] = (uint8_t)p;
  for (; cell < CELLS; ++cell) s->partOfCell[cell] = PARTS - 1;
}

/* Parts one after the other, in each the keys of the blocks in their order. */
static void layOutParts(PartSort *s) {
  uint32_t at = 0;
  for (uint32_t p = 0; p < PARTS; ++p) {
    s->partFirst[p] = at;
    for (uint32_t b = 0; b < BLOCKS; ++b) {
      uint32_t count = s->place[b][p];
      s->place[b][p] = at;
      at += count;
    }
  }
  s->partFirst[PARTS] = at;
}

void pn_sortU64ByMany(uint64_t *keys, uint64_t *scratch, size_t count, const pnTasks *tasks) {
  if (count < MANY_KEYS || count > UINT32_MAX || pn_workerCount(tasks) == 1) {
    pn_sortU64(keys, scratch, count);
    return;
  }
  PartSort s = {.keys = keys, .scratch = scratch, .count = count};
  choosePartsOfCells(&s);
  pn_parallelFor(tasks, countParts, &s, BLOCKS, 1);
  layOutParts(&s);
  pn_parallelFor(tasks, dealKeys, &s, BLOCKS, 1);
  pn_parallelFor(tasks, sortParts, &s, PARTS, 1);
}

/* ---------------------------------------------------------------- keys with values */

void pn_sortKeyValue(pnKeyValue *items, pnKeyValue *scratch, size_t count) {
  // few items: insertion, stable because equal keys do not pass each other
  if (count <= SMALL_COUNT) {
    for (size_t i = 1; i < count; ++i) {
      pnKeyValue item = items[i];
      size_t k = i;
      for (; k > 0 && items[k - 1].key > item.key; --k) items[k] = items[k - 1];
      items[k] = item;
    }
    return;
  }

  // how often each value of each byte occurs
  size_t counts[4][256];
  memset(counts, 0, sizeof counts);
  for (size_t i = 0; i < count; ++i)
    for (int byte = 0; byte < 4; ++byte) ++counts[byte][items[i].key >> (8 * byte) & 255];

  // one stable pass for each byte that differs
  pnKeyValue *from = items, *to = scratch;
  for (int byte = 0; byte < 4; ++byte) {
    if (!countsToStarts(counts[byte], count)) continue;
    for (size_t i = 0; i < count; ++i) to[counts[byte][from[i].key >> (8 * byte) & 255]++] = from[i];
    pnKeyValue *swap = from;
    from = to;
    to = swap;
  }
  if (from != items) memcpy(items, from, count * sizeof *items);
}

size_t pn_insertionSort(pnFloatKey *items, size_t count) {
  size_t moved = 0;
  for (size_t i = 1; i < count; ++i) {
    pnFloatKey item = items[i];
    size_t k = i;
    for (; k > 0 && items[k - 1].key > item.key; --k) items[k] = items[k - 1];
    items[k] = item;
    moved += i - k;
  }
  return moved;
}
