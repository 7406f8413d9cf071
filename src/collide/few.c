/* few.c: see few.h. Pairs become numbers of 31 bits, a above b, and find their places by counting how many are before them: every one
 * is compared with every other, four at a time and without a branch that nobody could predict. */
#include "collide/few.h"

#include "base/core.h"

/* Up to here it is faster than digit by digit (base/sort.h). */
#define FEW_PAIRS 80u

/* How pairs become numbers: the least of each side, from which triangles are counted, and the bits of b. */
typedef struct Keys {
  pnPair least;
  unsigned bits;
} Keys;

/* Triangles of small bodies are counted from 0. Those that a small body meets on a large one have large numbers that are near each
 * other. The largest key is ((most.a - least.a) << bits | 2^bits - 1), and must be below 2^31: signed numbers are compared. */
static bool chooseKeys(const pnPair *pairs, size_t count, Keys *out) {
  uint32_t all = 0;
  for (size_t i = 0; i < count; ++i) all |= pairs[i].a | pairs[i].b;
  *out = (Keys){{0, 0}, 15};
  if (all >> 15 == 0) return true;
  pnPair least = pairs[0], most = pairs[0];
  for (size_t i = 1; i < count; ++i) {
    least = (pnPair){PN_MIN(least.a, pairs[i].a), PN_MIN(least.b, pairs[i].b)};
    most = (pnPair){PN_MAX(most.a, pairs[i].a), PN_MAX(most.b, pairs[i].b)};
  }
  unsigned bits = 0;
  while ((uint64_t)(most.b - least.b) >> bits) ++bits;
  *out = (Keys){least, bits};
  return ((uint64_t)(most.a - least.a) + 1) << bits <= (uint64_t)1 << 31;
}

bool pn_sortFew(pnPair *pairs, size_t count) {
  Keys by;
  if (count > FEW_PAIRS || !chooseKeys(pairs, count, &by)) return false;
  uint32_t keys[FEW_PAIRS], low = ((uint32_t)1 << by.bits) - 1;
  for (size_t i = 0; i < count; ++i) keys[i] = (pairs[i].a - by.least.a) << by.bits | (pairs[i].b - by.least.b);
  size_t rounded = (count + 3) & ~(size_t)3;
  for (size_t i = count; i < rounded; ++i) keys[i] = UINT32_MAX >> 1;
  for (size_t i = 0; i < count; ++i) {
    int32_t key = (int32_t)keys[i];
    uint32_t before[4] = {0, 0, 0, 0};
    for (size_t j = 0; j < rounded; j += 4)
      for (size_t k = 0; k < 4; ++k) before[k] += (int32_t)keys[j + k] < key;
    pairs[before[0] + before[1] + before[2] + before[3]] =
        (pnPair){by.least.a + (keys[i] >> by.bits), by.least.b + (keys[i] & low)};
  }
  return true;
}
