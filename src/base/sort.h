/* sort.h: the sorts the rooms need. All stable or of unique keys, so that results do not depend on the machine. */
#ifndef PN_BASE_SORT_H
#define PN_BASE_SORT_H

#include "base/task.h"

/* Radix sort of 64-bit keys, ascending; scratch holds as many. Only bits between those that differ are passed over. */
void pn_sortU64(uint64_t *keys, uint64_t *scratch, size_t count);
/* The same for keys of two 32-bit words each, the upper one first, aligned as keys are. */
void pn_sortWords(void *words, uint64_t *scratch, size_t count);

/* Keys of two words each, the upper one first. Of several lists each says how many keys stand in those before it; none is empty. */
typedef struct pnKeyList {
  const uint32_t *words;
  size_t first;
} pnKeyList;
/* All keys of several lists in one, ascending, of two words each too; by several workers, where there are keys enough for
 * that. `out` is aligned as a key is and none of the lists; scratch holds twice as many keys. */
void pn_sortListsByMany(const pnKeyList *lists, uint32_t listCount, size_t count, void *out, uint64_t *scratch,
                        const pnTasks *tasks);

/* Radix sort of (key, value) by key, ascending, stable. */
typedef struct pnKeyValue {
  uint32_t key, value;
} pnKeyValue;
void pn_sortKeyValue(pnKeyValue *items, pnKeyValue *scratch, size_t count);

/* Insertion sort of (float key, value), for lists that are nearly sorted from the frame before. Returns how many
 * places elements moved, the cost of it. Equal keys keep their order. */
typedef struct pnFloatKey {
  float key;
  uint32_t value;
} pnFloatKey;
size_t pn_insertionSort(pnFloatKey *items, size_t count);

/* For keys along a curve through cells (Morton order): the lower ten bits of k, two zeros after each; and of k < 2^20 all. */
PN_INLINE uint32_t pn_spreadBits(uint32_t k) {
  k = (k | k << 16) & 0x030000ffu;
  k = (k | k << 8) & 0x0300f00fu;
  k = (k | k << 4) & 0x030c30c3u;
  return (k | k << 2) & 0x09249249u;
}
PN_INLINE uint64_t pn_spreadTwenty(uint32_t k) {
  return pn_spreadBits(k & 1023) | (uint64_t)pn_spreadBits(k >> 10) << 30;
}

/* The unsigned integer whose order is the order of floats (-0 before +0). */
PN_INLINE uint32_t pn_floatOrder(float x) {
  uint32_t bits = pn_bitsOfFloat(x);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
PN_INLINE float pn_floatOfOrder(uint32_t order) {
  return pn_floatOfBits(order & 0x80000000u ? order & 0x7fffffffu : ~order);
}

/* Moves `at` to the first place in [at, end) of a sorted list of which `isBefore`, said of `middle`, is false, or to the end:
 *   size_t at = 0;  PN_FIND_PLACE(at, count, list[middle] < number) */
#define PN_FIND_PLACE(at, end, isBefore)            \
  for (size_t high = (end), middle; (at) < high;) { \
    middle = (at) + (high - (at)) / 2;              \
    if (isBefore) (at) = middle + 1;                \
    else high = middle;                             \
  }

#endif
