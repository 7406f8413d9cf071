/* few.c: see few.h. Pairs become numbers of 31 bits, a above b, and find their places by counting how many are before them: every one
 * is compared with every other, four or sixteen at a time and without a branch that nobody could predict. */
#include "collide/few.h"

#include "base/core.h"
#include "geom/simd_whole.h"

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

/* Sixteen keys are held against every one, so that nothing has to be added up across a register. */
void pn_countBelow4(const int32_t *keys, size_t count, uint32_t *out) {
  for (size_t i = 0; i < count; i += 16) {
    pnI4 here[4], below[4];
    for (size_t k = 0; k < 4; ++k) {
      here[k] = pn_i4Load(keys + i + 4 * k);
      below[k] = (pnI4){0, 0, 0, 0};
    }
    for (size_t j = 0; j < count; ++j) {
      const pnI4 key = {keys[j], keys[j], keys[j], keys[j]};
      for (size_t k = 0; k < 4; ++k) below[k] -= key < here[k]; /* what is true is -1 */
    }
    for (size_t k = 0; k < 4; ++k) pn_i4Store(out + i + 4 * k, below[k]);
  }
}

static pnCountBelowFcn *chooseWidth(void) {
#if defined(PN_AVX512)
  if (pn_hasAvx512()) return pn_countBelow16Avx512;
#endif
  return pn_countBelow4;
}

bool pn_sortFew(pnPair *pairs, size_t count) {
  Keys by;
  if (count > PN_FEW_PAIRS || !chooseKeys(pairs, count, &by)) return false;
  int32_t keys[PN_FEW_PAIRS];
  uint32_t place[PN_FEW_PAIRS], low = ((uint32_t)1 << by.bits) - 1;
  /* what fills up the last sixteen is before nobody */
  for (size_t i = 0; i < PN_FEW_PAIRS; ++i) keys[i] = INT32_MAX;
  for (size_t i = 0; i < count; ++i)
    keys[i] = (int32_t)((pairs[i].a - by.least.a) << by.bits | (pairs[i].b - by.least.b));
  chooseWidth()(keys, count, place);
  for (size_t i = 0; i < count; ++i)
    pairs[place[i]] = (pnPair){by.least.a + ((uint32_t)keys[i] >> by.bits), by.least.b + ((uint32_t)keys[i] & low)};
  return true;
}
