/* sort.c: least-significant-digit radix sort for integers, insertion sort for lists that are nearly in order.
 *
 * The radix sorts move the items once for every digit in which keys differ. Pair lists of small meshes differ in the low bits
 * of each half, so most passes are never made. */
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
