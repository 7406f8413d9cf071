/* hits_avx512.c: hits_walk.h for AVX-512. Called only when the machine has it (hits.c); nothing elsewhere. */
#include "query/hits_take.h"

#if PN_SIMD_F8 && defined(__AVX512VL__)

#define F pnF8
#define LOAD pn_f8Load
#define SHORTS pn_f8FromShorts
#define STORE pn_f8Store
#define SET1 pn_f8Set1
#define MULADD pn_f8Fused
#define MIN pn_f8Min
#define MAX pn_f8Max
#define GREATER pn_f8Greater
#define SIGNS pn_f8Signs
#define WIDTH 8
#define CAST pn_castGroupAvx512
#include "query/hits_walk.h"

#endif
