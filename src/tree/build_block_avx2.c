/* build_block_avx2.c: the loops of build_block_kernel.h eight at a time. Called only on machines that have AVX2 (build_block.h); nothing
 * elsewhere. */
#include "tree/build_block.h"

#if PN_SIMD_F8
#define WIDE 8
#define CUT_BLOCK pn_cutBlock8Avx2
#include "tree/build_block_kernel.h"
#endif
