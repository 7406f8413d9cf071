/* narrow_twice_avx512.c: the second and the third look (narrow_twice.h) eight at a time. Called only on machines that have AVX-512; nothing elsewhere. */
#include "collide/narrow.h"
#include "geom/simd_wide.h"

#if PN_SIMD_F16
#define TWICE pn_narrowTwice8Avx512
#define LATTICE pn_narrowLattice8Avx512
#include "collide/narrow_twice.h"
#endif
