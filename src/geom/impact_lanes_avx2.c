/* impact_lanes_avx2.c: the lanes of impact_lanes.h eight at a time. Compiled for AVX2 on x86-64 and called only when the machine has it
 * (impact_lanes.c); nothing elsewhere. Each lane does what a lane of the four does, in the same order, so the answers are the same. */
#include "geom/impact_lanes.h"

#if PN_SIMD_F8

#define WIDE 8
#include "geom/simd_words.h"
#define ROW(make, k) pn_f8Join(make(places[k]), make(places[(k) + 4]))
#include "geom/impact_lanes_kernel.h"

uint32_t pn_impactsApart8Avx2(pn_Features features, pn_EightPlaces places, float until) {
  return apartOf(features, places, until);
}

#endif
