/* stroke.h: one triangle into strokes, and the four-lane integers that it and the binning use. */
#ifndef PN_VOLUME_STROKE_H
#define PN_VOLUME_STROKE_H

#include "volume/raster.h"

#include <string.h>

/* ---------------------------------------------------------------- lanes */

/* Four numbers side by side: a point, or four cells. Compilers that know no vectors make loops of it, with the same
 * result. */
typedef int32_t pnLanes __attribute__((vector_size(16)));

PN_INLINE pnLanes pn_lanesOf(const pnPoint *point) {
  pnLanes lanes;
  memcpy(&lanes, point, sizeof lanes);
  return lanes;
}
PN_INLINE pnLanes pn_lanesMin(pnLanes a, pnLanes b) {
  pnLanes less = a < b;
  return (a & less) | (b & ~less);
}
PN_INLINE pnLanes pn_lanesMax(pnLanes a, pnLanes b) {
  pnLanes more = a > b;
  return (a & more) | (b & ~more);
}

/* All bits of all four. */
PN_INLINE uint32_t pn_lanesFold(pnLanes lanes) {
  uint64_t halves[2];
  memcpy(halves, &lanes, sizeof halves);
  uint64_t both = halves[0] | halves[1];
  return (uint32_t)(both | both >> 32);
}

/* ---------------------------------------------------------------- samples in a box */

/* From coordinates x, y to the cells whose centres (i * S + S/2) are in the box, within the image. Lanes z and 3 mean
 * nothing. */
typedef struct pnSampler {
  pnLanes addLo, addHi, last;
  int32_t shift;
} pnSampler;

PN_INLINE pnSampler pn_samplerOf(const pnView *view) {
  const int32_t shift = (int32_t)view->cellShift, half = 1 << (shift - 1), last = (int32_t)view->size - 1;
  return (pnSampler){{half - 1, half - 1, 0, 0}, {-half, -half, 0, 0}, {last, last, 0, 0}, shift};
}

/* First and last cells of a box lo ... hi. */
PN_INLINE pnLanes pn_firstCells(const pnSampler *sampler, pnLanes lo) {
  const pnLanes zero = {0, 0, 0, 0};
  return pn_lanesMax((lo + sampler->addLo) >> sampler->shift, zero);
}
PN_INLINE pnLanes pn_lastCells(const pnSampler *sampler, pnLanes hi) {
  return pn_lanesMin((hi + sampler->addHi) >> sampler->shift, sampler->last);
}

/* ---------------------------------------------------------------- strokes */

/* A triangle makes at most this many strokes in a band: one a row, or one a cell of 4 x 4. */
#define PN_STROKES_A_BAND 16

/* What draws: one band, where the next stroke goes, and +1 at the first cell of each stroke, -1 behind its last. */
typedef struct pnPen {
  const pnView *view;
  pnSampler sampler;
  int32_t top, bottom; /* rows of the band */
  pnStroke *next;
  uint32_t *steps;
} pnPen;

/* The strokes of one triangle in the pen's band. */
void pn_strokeTriangle(pnPen *pen, const pnPoint *a, const pnPoint *b, const pnPoint *c);

#endif
