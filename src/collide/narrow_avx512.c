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

/* A number in a register of its own: of several of them a compiler would make vectors, only to take these apart again. */
PN_INLINE size_t keepApart(size_t x) {
  __asm__("" : "+r"(x));
  return x;
}

/* The corners of one side as columns; `slot` is the first of its numbers, every other one. Four candidates at a time: there are no registers
 * for the addresses of sixteen. */
PN_INLINE void loadSide(const char *base, const uint32_t *corners, const uint32_t *slot, pnF16 p[3][3]) {
  pnF16 row[3][4];
  for (int i = 0; i < 4; ++i) {
    const uint32_t *at[4];
    for (int j = 0; j < 4; ++j) at[j] = corners + keepApart(3 * (size_t)slot[2 * i + 8 * j]);
    for (int k = 0; k < 3; ++k) {
      row[k][i] =
          pn_f16Load4((const float *)(const void *)(base + at[0][k]), (const float *)(const void *)(base + at[1][k]),
                      (const float *)(const void *)(base + at[2][k]), (const float *)(const void *)(base + at[3][k]));
    }
  }
  for (int k = 0; k < 3; ++k)
    pn_f16Transpose3(row[k][0], row[k][1], row[k][2], row[k][3], &p[k][0], &p[k][1], &p[k][2]);
}

PN_INLINE void loadCorners16(const pnTree *a, const pnTree *b, const pnPair *candidates, pnF16 p[6][3]) {
  loadSide(a->cornerBase, a->corners, &candidates->a, p);
  loadSide(b->cornerBase, b->corners, &candidates->b, p + 3);
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
