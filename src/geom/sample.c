/* sample.c: see sample.h. */
#include "geom/sample.h"

#include "geom/box.h"

#include <math.h>
#include <string.h>

/* Along every axis those at an eighth and at seven eighths of all are sure to be among most; the longest of these three lengths says how far most reach:
 * a cube around their middle that is REACH times as long to each side. No more than STRAYS are elsewhere: with four of 256 who comes to where they
 * are meets some hundredths of all at most. */
#define RANK (PN_SAMPLES / 8)
#define REACH 2.0
#define STRAYS 4u

/* Shell's sort. */
static void sort(float *numbers) {
  for (uint32_t gap = PN_SAMPLES / 2; gap > 0; gap /= 2) {
    for (uint32_t i = gap; i < PN_SAMPLES; ++i) {
      float x = numbers[i];
      uint32_t j = i;
      for (; j >= gap && numbers[j - gap] > x; j -= gap) numbers[j] = numbers[j - gap];
      numbers[j] = x;
    }
  }
}

float pn_medianOf(const float numbers[PN_SAMPLES]) {
  float sorted[PN_SAMPLES];
  memcpy(sorted, numbers, sizeof sorted);
  sort(sorted);
  return sorted[PN_SAMPLES / 2];
}

/* Along one axis: the middle of most, and how long that is. */
static void measure(const float *numbers, double *outMiddle, double *outLength) {
  float sorted[PN_SAMPLES];
  memcpy(sorted, numbers, sizeof sorted);
  sort(sorted);
  double lo = sorted[RANK], hi = sorted[PN_SAMPLES - 1 - RANK];
  *outMiddle = 0.5 * (lo + hi);
  *outLength = hi - lo;
}

/* The box of those that are no further from the middle than `reach`; returns how many others there are. */
static uint32_t boxAround(const pnSamples *s, const double middle[3], double reach, pnBox *out) {
  uint32_t strays = 0;
  *out = pn_emptyBox();
  float *lo = &out->min.x, *hi = &out->max.x;
  for (uint32_t i = 0; i < PN_SAMPLES; ++i) {
    bool near = true;
    for (int k = 0; k < 3; ++k) near = near && fabs(s->at[k][i] - middle[k]) <= reach;
    strays += !near;
    for (int k = 0; near && k < 3; ++k) {
      lo[k] = PN_MIN(lo[k], s->at[k][i]);
      hi[k] = PN_MAX(hi[k], s->at[k][i]);
    }
  }
  return strays;
}

bool pn_findMost(const pnSamples *samples, pnBox *out) {
  double middle[3], length[3];
  for (int k = 0; k < 3; ++k) measure(samples->at[k], &middle[k], &length[k]);
  double most = PN_MAX(length[0], PN_MAX(length[1], length[2]));
  return most > 0 && boxAround(samples, middle, REACH * most, out) <= STRAYS;
}
