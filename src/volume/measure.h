/* measure.h: sums over all columns of one image, or of two that share a view. */
#ifndef PN_VOLUME_MEASURE_H
#define PN_VOLUME_MEASURE_H

#include "volume/layers.h"
#include "volume/measure_column.h"

/* Sums over the image of A, and of B when it is not null (otherwise B is everything). `only`: also the onlyX of the
 * tally, at about twice the cost. */
pnTally pn_measureLayers(const pnLayers *a, const pnLayers *b, bool only, pnInsideRule rule, const pnTasks *tasks);

/* The tally as lengths in the world. Without bounds (see pnLayers.hasThick) the limits are 0 and infinity. */
pnVolumeResult pn_tallyVolume(const pnTally *tally, const pnView *view, bool bounded);

/* The world box of cells and depths of an aligned view, rounded outward. */
pnBox pn_cellBox(const pnView *view, const int32_t lo[3], const int32_t hi[3]);

#endif
