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

#include "collide/narrow_sixteen.h"

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

#define WIDTH 16u
#define MEET meet16
#define TWICE pn_narrowTwice8Avx512
#define LATTICE pn_narrowLattice8Avx512
#define CORNERS loadCorners16
#define KEEP keep16
#define BATCHES pn_narrowBatchesAvx512
#include "collide/narrow_batch.h"

#endif
