/* sort.c: least-significant-digit radix sort for integers, insertion sort for lists that are nearly in order.
 *
 * The radix sorts move the items once for every digit in which keys differ. Pair lists of small meshes differ in the low bits
 * of each half, so most passes are never made; digits are as wide as few passes need. Several workers deal the keys into parts first, and sort these side by side. */
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

/* ---------------------------------------------------------------- 64-bit keys */

/* Bits of a digit, at most: more make fewer passes, but where keys of each value go must stay in a near cache. */
#define DIGIT_MOST 12u
/* Digits there can be, at most: bits of a key over the least that a digit is chosen to have. */
#define DIGIT_LEAST 4u
#define DIGITS_MOST (64u / DIGIT_LEAST)

typedef struct Digit {
  unsigned shift, bits;
} Digit;

PN_INLINE size_t valueOf(Digit digit, uint64_t key) {
  return (size_t)(key >> digit.shift & (((uint64_t)1 << digit.bits) - 1));
}

/* Bits from the first to the last in which keys differ. */
static unsigned widthOf(uint32_t differ) {
  return differ ? 32 - (unsigned)__builtin_clz(differ) - (unsigned)__builtin_ctz(differ) : 0;
}

/* Bits of a digit, when so many bits of each half differ. A key is counted and moved in about the time in which four values of a digit
 * are cleared and added up. */
static unsigned chooseBits(unsigned lowWidth, unsigned highWidth, size_t count) {
  uint64_t least = UINT64_MAX;
  unsigned best = DIGIT_LEAST;
  for (unsigned bits = DIGIT_LEAST; bits <= DIGIT_MOST; ++bits) {
    uint64_t passes = (lowWidth + bits - 1) / bits + (highWidth + bits - 1) / bits;
    uint64_t cost = passes * (4 * (uint64_t)count + ((uint64_t)1 << bits));
    best = cost < least ? bits : best;
    least = PN_MIN(cost, least);
  }
  return best;
}

/* The digits in which keys differ, the lowest first. Pairs of triangles differ in the lower bits of each half: no digit is of both, and
 * those of one half are alike, so that none is passed over for a bit or two. Returns how many. */
static unsigned chooseDigits(uint64_t differ, unsigned turn, size_t count, Digit digits[DIGITS_MOST]) {
  unsigned n = 0, most = chooseBits(widthOf((uint32_t)differ), widthOf((uint32_t)(differ >> 32)), count);
  for (unsigned half = 0; half < 2; ++half) {
    unsigned from = 32 * half ^ turn;
    uint32_t here = (uint32_t)(differ >> from);
    if (here == 0) continue;
    unsigned width = widthOf(here), passes = (width + most - 1) / most, bits = (width + passes - 1) / passes;
    unsigned shift = from + (unsigned)__builtin_ctz(here), end = shift + width;
    for (; shift < end; shift += bits) digits[n++] = (Digit){shift, PN_MIN(bits, end - shift)};
  }
  return n;
}

/* Turns how many keys have each value into where the first of them goes. */
static void addUp(uint32_t *places, Digit digit) {
  uint32_t place = 0;
  for (size_t i = 0; i < (size_t)1 << digit.bits; ++i) {
    uint32_t count = places[i];
    places[i] = place;
    place += count;
  }
}

static void clear(uint32_t *places, Digit digit) {
  memset(places, 0, ((size_t)1 << digit.bits) * sizeof *places);
}

/* One stable pass; values of the next digit are counted on the way. Keys that are near each other often have the same value, and a
 * counter is waited for before it can go on: two of them wait together. */
static void passAndCount(const uint64_t *from, uint64_t *to, size_t count, Digit digit, uint32_t *places, Digit next,
                         uint32_t *counts) {
  clear(counts, next);
  for (size_t i = 0; i < count; ++i) {
    uint64_t key = from[i];
    to[places[valueOf(digit, key)]++] = key;
    ++counts[valueOf(next, key)];
  }
}

/* Passes from the lowest digit on, back and forth between the two arrays. Returns where the last one went. */
static uint64_t *sortByDigits(uint64_t *keys, uint64_t *scratch, size_t count, const Digit *digits, unsigned n) {
  uint32_t tables[2][1u << DIGIT_MOST];
  uint64_t *from = keys, *to = scratch;
  clear(tables[0], digits[0]);
  for (size_t i = 0; i < count; ++i) ++tables[0][valueOf(digits[0], keys[i])];
  for (unsigned k = 0; k < n; ++k) {
    uint32_t *places = tables[k % 2];
    addUp(places, digits[k]);
    if (k + 1 < n) passAndCount(from, to, count, digits[k], places, digits[k + 1], tables[(k + 1) % 2]);
    else
      for (size_t i = 0; i < count; ++i) to[places[valueOf(digits[k], from[i])]++] = from[i];
    uint64_t *swap = from;
    from = to;
    to = swap;
  }
  return from;
}

PN_INLINE uint64_t turned(uint64_t key, unsigned turn) {
  return key << turn | key >> (-turn & 63u);
}

/* Places are counted in 32 bits, so that those of two digits stay in the nearest cache. More keys are sorted in two parts. */
#define MOST_KEYS UINT32_MAX

/* Puts two parts together that are sorted. */
static void mergeParts(uint64_t *keys, uint64_t *scratch, size_t middle, size_t count, unsigned turn) {
  memcpy(scratch, keys, count * sizeof *keys);
  for (size_t i = 0, a = 0, b = middle; i < count; ++i) {
    bool first = b == count || (a < middle && turned(scratch[a], turn) <= turned(scratch[b], turn));
    keys[i] = scratch[first ? a++ : b++];
  }
}

/* Keys that stand with their halves exchanged when `turn` is 32, not when it is 0. */
static void sortTurned(uint64_t *keys, uint64_t *scratch, size_t count, unsigned turn) {
  // few keys: insertion
  if (count <= SMALL_COUNT) {
    for (size_t i = 1; i < count; ++i) {
      uint64_t key = keys[i];
      size_t k = i;
      for (; k > 0 && turned(keys[k - 1], turn) > turned(key, turn); --k) keys[k] = keys[k - 1];
      keys[k] = key;
    }
    return;
  }

  if (PN_UNLIKELY(count > MOST_KEYS)) {
    sortTurned(keys, scratch, count / 2, turn);
    sortTurned(keys + count / 2, scratch, count - count / 2, turn);
    mergeParts(keys, scratch, count / 2, count, turn);
    return;
  }

  // which bits differ at all?
  uint64_t differ = 0;
  for (size_t i = 1; i < count; ++i) differ |= keys[i] ^ keys[0];
  if (differ == 0) return;

  Digit digits[DIGITS_MOST];
  unsigned n = chooseDigits(differ, turn, count, digits);
  const uint64_t *sorted = sortByDigits(keys, scratch, count, digits, n);
  if (sorted != keys) memcpy(keys, sorted, count * sizeof *keys);
}

void pn_sortU64(uint64_t *keys, uint64_t *scratch, size_t count) {
  sortTurned(keys, scratch, count, 0);
}

void pn_sortWords(void *words, uint64_t *scratch, size_t count) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  sortTurned(words, scratch, count, 0);
#else
  sortTurned(words, scratch, count, 32); // the upper word comes first in memory, and is the lower half
#endif
}

/* ---------------------------------------------------------------- by several workers */

/* Keys come from several lists. One block after the other they are dealt into parts by value, in a place of the block's own, so that no
 * block waits for another; then each part is put together and sorted by one worker. Which part a key is in stands in a table of
 * cells of one width between the least and the greatest of some samples; cells go to parts so that these have about as many
 * samples each. (Searching borders between parts takes ten times as long: where a key lies nobody can predict.) */
#define MOST_PARTS 64u
#define MOST_BLOCKS 32u
#define CELLS 2048u
/* For each worker: the more there are, the less the last one is waited for, and the more pieces each part is put together from, one a
 * block. */
#define PARTS_PER_WORKER 4u
#define BLOCKS_PER_WORKER 2u
/* Keys of a part and of a block, at least: fewer are not worth what one costs. */
#define LEAST_KEYS 128u
/* Samples for each part. One thread takes them, while all others wait. */
#define SAMPLES_PER_PART 8u
/* From so many keys on several workers are done sooner than one. Every key is read twice more than by one, so that two or three are not
 * much faster than he is, and fewer keys are not worth their coming. */
#define MANY_KEYS 2048u
#define MANY_FOR_FEW 8192u
#define FEW_WORKERS 3u

typedef struct PartSort {
  const pnKeyList *lists;
  uint32_t listCount;
  size_t count;
  uint64_t *keys;  /* the answer */
  uint64_t *dealt; /* block after block, in each the parts one after the other */
  uint64_t *scratch;
  uint64_t least;
  unsigned shift;
  uint32_t parts, blocks;
  uint8_t partOfCell[CELLS]; /* ascending */
  _Alignas(
      64) uint32_t partBegin[MOST_BLOCKS][MOST_PARTS + 1]; /* where in `dealt` the keys of a block and part begin */
  size_t partFirst[MOST_PARTS + 1];                        /* where those of a part begin in `keys` */
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
  return s->count * block / s->blocks;
}

PN_INLINE uint64_t keyAt(const uint32_t *words, size_t i) {
  return (uint64_t)words[2 * i] << 32 | words[2 * i + 1];
}

/* The list that has key `at` of all. */
static uint32_t findList(const pnKeyList *lists, uint32_t listCount, size_t at) {
  size_t next = 0;
  PN_FIND_PLACE(next, listCount, lists[middle].first <= at)
  return (uint32_t)next - 1;
}

/* The keys [begin, end) of all, as they stand in the lists. */
static void readKeys(const PartSort *s, size_t begin, size_t end, uint64_t *out) {
  uint32_t list = findList(s->lists, s->listCount, begin);
  for (size_t at = begin; at < end; ++list) {
    const pnKeyList *l = &s->lists[list];
    size_t last = PN_MIN(end, list + 1 < s->listCount ? l[1].first : s->count);
    for (; at < last; ++at) *out++ = keyAt(l->words, at - l->first);
  }
}

/* Keys that are copied at a time: they stay in the nearest cache. */
#define READ_KEYS 512u

static void countBlock(const PartSort *s, uint32_t block, uint32_t counts[MOST_PARTS]) {
  uint64_t keys[READ_KEYS];
  memset(counts, 0, s->parts * sizeof *counts);
  for (size_t at = blockBegin(s, block), end = blockBegin(s, block + 1), n; at < end; at += n) {
    n = PN_MIN(READ_KEYS, end - at);
    readKeys(s, at, at + n, keys);
    for (size_t i = 0; i < n; ++i) ++counts[partOfKey(s, keys[i])];
  }
}

static void dealBlocks(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  PartSort *s = context;
  for (uint32_t b = begin; b < end; ++b) {
    uint64_t keys[READ_KEYS];
    uint32_t next[MOST_PARTS], place = (uint32_t)blockBegin(s, b);
    countBlock(s, b, next);
    for (uint32_t p = 0; p < s->parts; ++p) {
      uint32_t count = next[p];
      s->partBegin[b][p] = next[p] = place;
      place += count;
    }
    s->partBegin[b][s->parts] = place;
    for (size_t at = blockBegin(s, b), last = blockBegin(s, b + 1), n; at < last; at += n) {
      n = PN_MIN(READ_KEYS, last - at);
      readKeys(s, at, at + n, keys);
      for (size_t i = 0; i < n; ++i) s->dealt[next[partOfKey(s, keys[i])]++] = keys[i];
    }
  }
}

/* Keys as two words each, in place. */
static void writeWords(uint64_t *keys, size_t count) {
  uint32_t *words = (uint32_t *)(void *)keys;
  for (size_t i = 0; i < count; ++i) {
    uint64_t key = keys[i];
    words[2 * i] = (uint32_t)(key >> 32);
    words[2 * i + 1] = (uint32_t)key;
  }
}

static void sortParts(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  PartSort *s = context;
  for (uint32_t p = begin; p < end; ++p) {
    size_t first = s->partFirst[p], count = s->partFirst[p + 1] - first, at = first;
    if (count == 0) continue;
    for (uint32_t b = 0; b < s->blocks; ++b) {
      size_t n = s->partBegin[b][p + 1] - s->partBegin[b][p];
      memcpy(s->keys + at, s->dealt + s->partBegin[b][p], n * sizeof *s->keys);
      at += n;
    }
    pn_sortU64(s->keys + first, s->scratch + first, count);
    writeWords(s->keys + first, count);
  }
}

/* Samples are in the caches of others: they are read list after list, and nothing is to guess on the way, so that many are waited for at a
 * time. Returns the greatest; s->least is the least. */
static uint64_t takeSamples(PartSort *s, uint64_t *samples, size_t count) {
  uint64_t least = UINT64_MAX, greatest = 0;
  for (size_t i = 0, list = 0; i < count; ++i) {
    size_t at = s->count * i / count;
    while (list + 1 < s->listCount && s->lists[list + 1].first <= at) ++list;
    samples[i] = keyAt(s->lists[list].words, at - s->lists[list].first);
    least = PN_MIN(least, samples[i]);
    greatest = PN_MAX(greatest, samples[i]);
  }
  s->least = least;
  return greatest;
}

/* A part begins with the cell in which its first sample is, and samples need not be sorted to know that: those of the cells before it are
 * counted. The first cell has one. */
static void choosePartsOfCells(PartSort *s) {
  uint64_t samples[MOST_PARTS * SAMPLES_PER_PART];
  const size_t count = s->parts * (size_t)SAMPLES_PER_PART;
  uint16_t inCell[CELLS] = {0};
  uint64_t range = takeSamples(s, samples, count) - s->least;
  s->shift = 0;
  while (range >> s->shift >= CELLS) ++s->shift;
  for (size_t i = 0; i < count; ++i) ++inCell[cellOfKey(s, samples[i])];
  for (uint32_t cell = 0, sampled = 0; cell < CELLS; ++cell) {
    sampled += inCell[cell];
    s->partOfCell[cell] = (uint8_t)PN_MIN((sampled - 1) / SAMPLES_PER_PART, s->parts - 1);
  }
}

/* Parts one after the other. */
static void layOutParts(PartSort *s) {
  size_t counts[MOST_PARTS] = {0}, at = 0;
  for (uint32_t b = 0; b < s->blocks; ++b)
    for (uint32_t p = 0; p < s->parts; ++p) counts[p] += s->partBegin[b][p + 1] - s->partBegin[b][p];
  for (uint32_t p = 0; p < s->parts; ++p) {
    s->partFirst[p] = at;
    at += counts[p];
  }
  s->partFirst[s->parts] = at;
}

void pn_sortListsByMany(const pnKeyList *lists, uint32_t listCount, size_t count, void *out, uint64_t *scratch,
                        const pnTasks *tasks) {
  if (count == 0) return;
  PartSort s; // its tables are some ten thousand bytes, which need not be cleared
  s.lists = lists;
  s.listCount = listCount;
  s.count = count;
  s.keys = out;
  s.dealt = scratch;
  const uint32_t workers = pn_workerCount(tasks);
  const size_t many = workers > FEW_WORKERS ? MANY_KEYS : MANY_FOR_FEW;
  if (count < many || count > UINT32_MAX || workers == 1) {
    readKeys(&s, 0, count, s.keys);
    pn_sortU64(s.keys, scratch, count);
    writeWords(s.keys, count);
    return;
  }
  s.scratch = scratch + count;
  const uint32_t most = (uint32_t)(count / LEAST_KEYS);
  s.parts = PN_MIN(PN_MIN(workers * PARTS_PER_WORKER, MOST_PARTS), most);
  s.blocks = PN_MIN(PN_MIN(workers * BLOCKS_PER_WORKER, MOST_BLOCKS), most);
  choosePartsOfCells(&s);
  pn_parallelFor(tasks, dealBlocks, &s, s.blocks, 1);
  layOutParts(&s);
  pn_parallelFor(tasks, sortParts, &s, s.parts, 1);
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
