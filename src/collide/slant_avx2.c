/* slant_avx2.c: the loops of slant.h with eight directions in a register. Called only on machines that have AVX2 (slant.c); nothing
 * elsewhere. */
#include "collide/slant.h"

#if PN_SIMD_F8
PN_INLINE bool slantsApart(const float *p, const float *q) {
  pnF8 gap = pn_f8Or(pn_f8Greater(pn_f8Load(p), pn_f8Load(q + 8)), pn_f8Greater(pn_f8Load(q), pn_f8Load(p + 8)));
  return pn_f8Signs(gap) != 0;
}
#define SLANTS_APART slantsApart
#define LOOPS pn_slantLoops8Avx2
#define LEAF_WORTH 1u
#include "collide/slant_kernel.h"
#endif
