/* small_vbmi.c: the loops of small.h sixteen at a time, codes and corners 64 at a time. Called only on machines that have AVX-512 with VBMI
 * (small.c); nothing elsewhere. */
#include "collide/small.h"
#include "geom/simd_pick.h"

#if PN_SIMD_PICK
#define WIDE 16
#include "geom/simd_words.h"
#define PICK pn_f16Pick
#define SPLIT pn_split16
#define SPLIT_AT_ONCE 16u
#define LOWEST pn_f16Lowest
#define HIGHEST pn_f16Highest
#define BY_BYTES 1
#define OPEN_SMALL pn_openSmallVbmi
#include "collide/small_kernel.h"
#endif
