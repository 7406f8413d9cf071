/* narrow_avx512.c: the SIMD filter of narrow_kernel.h sixteen at a time. Compiled for AVX-512 on x86-64 and called only when
 * the machine has it (narrow.c); nothing elsewhere. Each lane does what a lane of the four does, in the same order, so the
 * answers are the same. */
#include "collide/narrow.h"
#include "geom/simd_wide.h"

#if PN_SIMD_F16

#define WIDE 16
#include "geom/simd_words.h"
#define NARROW_NAME meet16
#define FARTHER pn_f16MaxAbs
#define NEARER pn_f16MinAbs
#include "collide/narrow_kernel.h"

/* A number in a register of its own: of sixteen of them a compiler would make vectors, only to take these apart again. */
PN_INLINE size_t keepApart(size_t x) {
  __asm__("" : "+r"(x));
  return x;
}

/* The corners of one side as columns. */
PN_INLINE void loadSide(const char *base, const uint32_t *corners, const uint32_t slot[16], pnF16 p[3][3]) {
  const uint32_t *at[16];
  for (int i = 0; i < 16; ++i) at[i] = corners + keepApart(3 * (size_t)slot[i]);
  for (int k = 0; k < 3; ++k) {
    pnF16 row[4];
    for (int i = 0; i < 4; ++i) {
      row[i] = pn_f16Load4(
          (const float *)(const void *)(base + at[i][k]), (const float *)(const void *)(base + at[i + 4][k]),
          (const float *)(const void *)(base + at[i + 8][k]), (const float *)(const void *)(base + at[i + 12][k]));
    }
    pn_f16Transpose3(row[0], row[1], row[2], row[3], &p[k][0], &p[k][1], &p[k][2]);
  }
}

PN_INLINE void loadCorners16(const pnTree *a, const pnTree *b, const pnPair *candidates, pnF16 p[6][3]) {
  uint32_t slots[2][16];
  for (int i = 0; i < 16; ++i) {
    slots[0][i] = candidates[i].a;
    slots[1][i] = candidates[i].b;
  }
  loadSide(a->cornerBase, a->corners, slots[0], p);
  loadSide(b->cornerBase, b->corners, slots[1], p + 3);
}

PN_INLINE void narrow16(const pnTree *a, const pnTree *b, const pnPair *candidates, uint32_t *outHit,
                        uint32_t *outUnsure) {
  pnF16 p[6][3];
  loadCorners16(a, b, candidates, p);
  meet16(p, outHit, outUnsure);
}

void pn_narrow16Avx512(const pnTree *a, const pnTree *b, const pnPair *candidates, uint32_t *outHit,
                       uint32_t *outUnsure) {
  narrow16(a, b, candidates, outHit, outUnsure);
}

PN_INLINE uint32_t keep16(const pnPair *from, uint32_t hit, pnPair *to) {
  return pn_keepSixteen(&from->a, hit, &to->a);
}

#define WIDTH 16u
#define MEET meet16
#define CORNERS loadCorners16
#define KEEP keep16
#define BATCHES pn_narrowBatchesAvx512
#include "collide/narrow_batch.h"

#endif
