/* narrow_avx2.c: the SIMD filter of narrow_kernel.h eight at a time. Compiled for AVX2 on x86-64 and called only when the
 * machine has it (narrow.c); nothing elsewhere. Each lane does what a lane of the four does, in the same order, so the
 * answers are the same. */
#include "collide/narrow.h"
#include "geom/simd_eight.h"

#if PN_SIMD_F8

#define WIDE 8
#include "geom/simd_words.h"
#define NARROW_NAME meet8

/* The corners of one side as columns: halves are loaded where they belong, which takes half the shuffles of putting two fours together. */
PN_INLINE void loadSide(const char *base, const uint32_t *corners, const uint32_t slot[8], pnF8 p[3][3]) {
  const uint32_t *at[8];
  for (int i = 0; i < 8; ++i) at[i] = corners + 3 * (size_t)slot[i];
  for (int k = 0; k < 3; ++k) {
    pnF8 row[4];
    for (int i = 0; i < 4; ++i)
      row[i] = pn_f8Load2((const float *)(const void *)(base + at[i][k]),
                          (const float *)(const void *)(base + at[i + 4][k]));
    pn_f8Transpose3(row[0], row[1], row[2], row[3], &p[k][0], &p[k][1], &p[k][2]);
  }
}

PN_INLINE void loadCorners8(const pnTree *a, const pnTree *b, const pnPair *candidates, pnF8 p[6][3]) {
  uint32_t slots[2][8];
  for (int i = 0; i < 8; ++i) {
    slots[0][i] = candidates[i].a;
    slots[1][i] = candidates[i].b;
  }
  loadSide(a->cornerBase, a->corners, slots[0], p);
  loadSide(b->cornerBase, b->corners, slots[1], p + 3);
}

#include "collide/narrow_kernel.h"

PN_INLINE void narrow8(const pnTree *a, const pnTree *b, const pnPair *candidates, uint32_t *outHit,
                       uint32_t *outUnsure) {
  pnF8 p[6][3];
  loadCorners8(a, b, candidates, p);
  meet8(p, outHit, outUnsure);
}

void pn_narrow8Avx2(const pnTree *a, const pnTree *b, const pnPair *candidates, uint32_t *outHit, uint32_t *outUnsure) {
  narrow8(a, b, candidates, outHit, outUnsure);
}

PN_INLINE uint32_t keep8(const pnPair *from, uint32_t hit, pnPair *to) {
  return pn_keepEightPairs(&from->a, hit, &to->a);
}

#define WIDTH 8u
#define MEET meet8
#define TWICE pn_narrowTwice4Avx2
#define LATTICE pn_narrowLattice4Avx2
#define CORNERS loadCorners8
#define KEEP keep8
#define BATCHES pn_narrowBatchesAvx2
#include "collide/narrow_batch.h"

#endif
