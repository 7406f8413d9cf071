/* measure.h: sums over all columns of one image, or of two that share a view. */
#ifndef PN_VOLUME_MEASURE_H
#define PN_VOLUME_MEASURE_H

#include "volume/layers.h"

/* Lengths in depth steps, summed over cells. Whole numbers: the order of adding does not matter. */
typedef struct pnTally {
  int64_t length;                       /* shared, as sampled */
  int64_t lengthMin, lengthMax;         /* surely shared; perhaps shared */
  int64_t onlyA, onlyASure, onlyAMaybe; /* in A but not in B; only when asked for */
  int64_t onlyB, onlyBSure, onlyBMaybe;
  int64_t momentX, momentY;        /* sum of length times cell number */
  int64_t momentZHigh, momentZLow; /* sum of length times (begin + end), in two parts: High * 2^24 + Low */
  uint64_t spanCount;
  int32_t x0, x1, y0, y1, z0, z1; /* cells and depths that are perhaps shared; x0 > x1 when there are none */
} pnTally;

/* Sums over the image of A, and of B when it is not null (otherwise B is everything). `only`: also the onlyX of the
 * tally, at about twice the cost. */
pnTally pn_measureLayers(const pnLayers *a, const pnLayers *b, bool only, pnInsideRule rule, const pnTasks *tasks);

/* The tally as lengths in the world. Without bounds (see pnLayers.hasThick) the limits are 0 and infinity. */
pnVolumeResult pn_tallyVolume(const pnTally *tally, const pnView *view, bool bounded);

/* The world box of cells and depths of an aligned view, rounded outward. */
pnBox pn_cellBox(const pnView *view, const int32_t lo[3], const int32_t hi[3]);

#endif
