/* hits_avx512.c: hits_walk.h for AVX-512. Called only when the machine has it (hits.c); nothing elsewhere. */
#include "query/hits_take.h"

#if PN_SIMD_F8 && defined(__AVX512VL__)

#define WIDE 8
#include "geom/simd_words.h"
#define MULADD pn_f8Fused
#define WIDTH 8
#define CAST pn_castGroupAvx512
#include "query/hits_walk.h"

#endif
