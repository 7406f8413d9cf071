/* impact_lanes_avx2.c: the lanes of impact_lanes.h eight at a time. Compiled for AVX2 on x86-64 and called only when the machine has it
 * (impact_lanes.c); nothing elsewhere. Each lane does what a lane of the four does, in the same order, so the answers are the same. */
#include "geom/impact_lanes.h"

#if PN_SIMD_F8

#define F pnF8
#define ADD pn_f8Add
#define SUB pn_f8Sub
#define MUL pn_f8Mul
#define MIN pn_f8Min
#define MAX pn_f8Max
#define ABS pn_f8Abs
#define AND pn_f8And
#define OR pn_f8Or
#define GREATER pn_f8Greater
#define SET1 pn_f8Set1
#define SIGNS pn_f8Signs
#define TRANSPOSE pn_f8Transpose4
#define ROW(make, k) pn_f8Join(make(places[k]), make(places[(k) + 4]))
#include "geom/impact_lanes_kernel.h"

uint32_t pn_impactsApart8Avx2(pn_Features features, pn_EightPlaces places, float until) {
  return apartOf(features, places, until);
}

#endif
