/* sample.h: where most of many places are, as a few of them tell. */
#ifndef PN_GEOM_SAMPLE_H
#define PN_GEOM_SAMPLE_H

#include "base/core.h"

/* Some of many places, taken evenly. */
#define PN_SAMPLES 256u
typedef struct pnSamples {
  float at[3][PN_SAMPLES];
} pnSamples;

/* Which of the many is sample i. */
PN_INLINE size_t pn_sampleAt(uint32_t i, size_t count) {
  return (size_t)((uint64_t)i * count / PN_SAMPLES);
}
/* The middle one of numbers, by their size. */
float pn_medianOf(const float numbers[PN_SAMPLES]);
/* The box of most of them. False: there is none, as too many are elsewhere, or most are in one place. */
bool pn_findMost(const pnSamples *samples, pnBox *out);

#endif
