/* hits_avx512.c: hits_walk.h for AVX-512. Called only when the machine has it (hits.c); nothing elsewhere. */
#include "geom/simd_wide.h"
#include "query/hits_take.h"

#if PN_SIMD_F16 && defined(__AVX512VL__)

#define WIDE 16
#include "geom/simd_words.h"
#define MULADD pn_f16Fused
#define WIDTH 16
#define CAST pn_castGroupAvx512
#include "query/hits_walk.h"

#endif
