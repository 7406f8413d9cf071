/* small_avx2.c: the loops of small.h eight at a time. Called only on machines that have AVX2 (small.c); nothing elsewhere. */
#include "collide/small.h"
#include "geom/simd_pick.h"

#if PN_SIMD_F8
#define WIDE 8
#include "geom/simd_words.h"
#define OPEN_SMALL pn_openSmallAvx2
#include "collide/small_kernel.h"
#endif
