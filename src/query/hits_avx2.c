/* hits_avx2.c: hits_walk.h with eight floats at once. Compiled for AVX2 on x86-64 and called only when the machine has it (hits.c);
 * nothing elsewhere. */
#include "query/hits_take.h"

#if PN_SIMD_F8

#define WIDE 8
#include "geom/simd_words.h"
#define MULADD(a, b, c) pn_f8Add(pn_f8Mul(a, b), c)
#define WIDTH 8
#define CAST pn_castGroupAvx2
#include "query/hits_walk.h"

#endif
