/* narrow_twice_avx2.c: the second and the third look (narrow_twice.h) four at a time. Called only on machines that have AVX2; nothing elsewhere. */
#include "collide/narrow.h"

#if PN_SIMD_F8
#define TWICE pn_narrowTwice4Avx2
#define LATTICE pn_narrowLattice4Avx2
#include "collide/narrow_twice.h"
#endif
