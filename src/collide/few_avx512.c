/* few_avx512.c: the loop of few.c sixteen at a time. Called only on machines that have AVX-512; nothing elsewhere. */
#include "collide/few.h"
#include "geom/simd_wide.h"

#if PN_SIMD_F16
void pn_countBelow16Avx512(const int32_t *keys, size_t count, uint32_t *out) {
  for (size_t i = 0; i < count; i += 16) pn_countBelow16(keys, count, keys + i, out + i);
}
#endif
