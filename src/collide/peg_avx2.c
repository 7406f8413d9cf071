/* peg_avx2.c: the loops of peg.h two records at a time. Called only on machines that have AVX2 (peg.c); nothing elsewhere. */
#include "collide/peg.h"

#if PN_SIMD_F8
#define FIT pn_fitPegsAvx2
#define FIT_HOLES pn_fitHoles8
#define FIT_PEGS pn_fitPegs8
#include "collide/peg_eight.h"
#endif
