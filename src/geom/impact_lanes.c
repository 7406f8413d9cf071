/* impact_lanes.c: see impact_lanes.h. Four at a time, and the choice between that and eight. */
#include "geom/impact_lanes.h"

#define WIDE 4
#include "geom/simd_words.h"
/* Candidate k of a row's four. */
#define ROW(make, k) make(places[k])
#include "geom/impact_lanes_kernel.h"

uint32_t pn_impactsApart8By4(pn_Features features, pn_EightPlaces places, float until) {
  uint32_t low = apartOf(features, places, until);
  return low | apartOf(features, places + 4, until) << 4;
}

bool pn_hasImpactLanes8(void) {
#if defined(__x86_64__) && !defined(PN_SCALAR)
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

uint32_t pn_impactsApart8(pn_Features features, pn_EightPlaces places, double until) {
  /* the float at or above it: apart for a little longer is apart */
  float to = until >= 1.0 ? 1.0f : (float)until;
  if (to < until) to = nextafterf(to, 1.0f);
#if defined(__x86_64__) && !defined(PN_SCALAR)
  if (pn_hasImpactLanes8()) return pn_impactsApart8Avx2(features, places, to);
#endif
  return pn_impactsApart8By4(features, places, to);
}
