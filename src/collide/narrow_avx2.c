/* narrow_avx2.c: the SIMD filter of narrow_kernel.h eight at a time. Compiled for AVX2 on x86-64 and called only when the
 * machine has it (narrow.c); nothing elsewhere. Each lane does what a lane of the four does, in the same order, so the
 * answers are the same. */
#include "collide/narrow.h"

#if PN_SIMD_F8

#define WIDE 8
#include "geom/simd_words.h"
#define NARROW_NAME meet8

PN_INLINE void loadCorners8(const pnTree *a, const pnTree *b, const pnPair *candidates, pnF8 p[6][3]) {
  pnF4 low[6][3], high[6][3];
  pn_loadCorners4(a, b, candidates, low);
  pn_loadCorners4(a, b, candidates + 4, high);
  for (int k = 0; k < 6; ++k)
    for (int x = 0; x < 3; ++x) p[k][x] = pn_f8Join(low[k][x], high[k][x]);
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

#define WIDTH 8u
#define MEET meet8
#define CORNERS loadCorners8
#define BATCHES pn_narrowBatchesAvx2
#include "collide/narrow_batch.h"

#endif
