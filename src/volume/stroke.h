/* stroke.h: triangles into layers, large ones by rows (stroke.c), small ones by cells (dots.c), and what both and the
 * binning use: points in lanes, cells of a box. */
#ifndef PN_VOLUME_STROKE_H
#define PN_VOLUME_STROKE_H

#include "geom/simd.h"
#include "volume/raster.h"

#include <string.h>

/* ---------------------------------------------------------------- lanes */

PN_INLINE pnI4 pn_lanesOf(const pnPoint *point) {
  pnI4 lanes;
  memcpy(&lanes, point, sizeof lanes);
  return lanes;
}

/* Corner k of four triangles, coordinate by coordinate. */
PN_INLINE void pn_lanesCorners(const pnPoint *points, const uint32_t *const corners[4], int k, pnI4 *x, pnI4 *y,
                               pnI4 *z) {
  pnF4 rows[4], columns[3];
  for (int l = 0; l < 4; ++l) memcpy(&rows[l], points + corners[l][k], sizeof rows[l]);
  pn_f4Transpose3(rows[0], rows[1], rows[2], rows[3], &columns[0], &columns[1], &columns[2]);
  memcpy(x, &columns[0], sizeof *x);
  memcpy(y, &columns[1], sizeof *y);
  memcpy(z, &columns[2], sizeof *z);
}

/* ---------------------------------------------------------------- samples in a box */

/* From coordinates x, y to the cells whose centres (i * S + S/2) are in the box, within the image. Lanes z and 3 mean
 * nothing. */
typedef struct pnSampler {
  pnI4 addLo, addHi, last;
  int32_t shift;
} pnSampler;

PN_INLINE pnSampler pn_samplerOf(const pnView *view) {
  const int32_t shift = (int32_t)view->cellShift, half = 1 << (shift - 1), last = (int32_t)view->size - 1;
  return (pnSampler){{half - 1, half - 1, 0, 0}, {-half, -half, 0, 0}, {last, last, 0, 0}, shift};
}

/* First and last cells of a box lo ... hi. */
PN_INLINE pnI4 pn_firstCells(const pnSampler *sampler, pnI4 lo) {
  const pnI4 zero = {0, 0, 0, 0};
  return pn_i4Max((lo + sampler->addLo) >> sampler->shift, zero);
}
PN_INLINE pnI4 pn_lastCells(const pnSampler *sampler, pnI4 hi) {
  return pn_i4Min((hi + sampler->addHi) >> sampler->shift, sampler->last);
}

/* ---------------------------------------------------------------- strokes */

/* Depths are worked out in 2^-32 units, and rounded by adding a half. */
#define PN_DEPTH_ONE 4294967296.0
#define PN_DEPTH_HALF (INT64_C(1) << 31)

/* A cell while those of many bands are together: the number of the band above, the cell in the band below. */
#define PN_BAND_SHIFT 15
#define PN_BAND_MASK ((1u << PN_BAND_SHIFT) - 1)
_Static_assert(PN_BAND_ROWS *PN_MAX_RESOLUTION <= 1 << PN_BAND_SHIFT, "a band has more cells than can be named");

/* From a row and column of the image. */
PN_INLINE uint32_t pn_bandCell(uint32_t x, uint32_t y, uint32_t size) {
  return (y / PN_BAND_ROWS) << PN_BAND_SHIFT | (y % PN_BAND_ROWS * size + x);
}

/* Finds the rows of one triangle; returns their number, at most the height of its box in cells. */
uint32_t pn_strokeTriangle(const pnView *view, const pnPoint *const corners[3], pnRow *rows);

/* ---------------------------------------------------------------- dots */

/* A triangle no larger than this has edge functions below 2^30 in its box and 4 cells around: 2 * 2^14 * (2^14 + 2^10). */
#define PN_DOT_UNITS (1 << 14)
#define PN_DOT_SIDE 4

/* Draws triangles (numbers in `list`) of at most side x side cells and PN_DOT_UNITS; side is 2 or 4. Returns the end of the
 * dots written: at most side * side a triangle. */
pnDot *pn_dotTriangles(const pnView *view, const pnPoint *points, const uint32_t *triangles, const uint32_t *list,
                       uint32_t count, uint32_t side, pnDot *out);

#endif
