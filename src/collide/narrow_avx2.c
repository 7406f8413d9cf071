/* narrow_avx2.c: the SIMD filter of narrow_kernel.h eight at a time. Compiled for AVX2 on x86-64 and called only when the
 * machine has it (narrow.c); nothing elsewhere. Each lane does what a lane of the four does, in the same order, so the
 * answers are the same. */
#include "collide/narrow.h"

#if PN_SIMD_F8

#define F pnF8
#define ADD pn_f8Add
#define SUB pn_f8Sub
#define MUL pn_f8Mul
#define MIN pn_f8Min
#define MAX pn_f8Max
#define ABS pn_f8Abs
#define NEG pn_f8Neg
#define AND pn_f8And
#define OR pn_f8Or
#define XOR pn_f8Xor
#define ANDNOT pn_f8AndNot
#define GREATER pn_f8Greater
#define SET1 pn_f8Set1
#define SIGNS pn_f8Signs
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

PN_INLINE uint32_t keepHits(const pnPair *from, uint32_t hit, pnPair *to) {
  uint32_t kept = 0;
  for (uint32_t lane = 0; lane < 8; ++lane) {
    to[kept] = from[lane];
    kept += hit >> lane & 1;
  }
  return kept;
}

#define WIDTH 8u
#define NARROW narrow8
#define KEEP keepHits
#define BATCHES pn_narrowBatchesAvx2
#include "collide/narrow_batch.h"

#endif
