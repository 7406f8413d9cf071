/* stroke.h: triangles into layers, large ones by rows (fours.c, giants stroke.c), small ones by cells (dots.c), and
 * what all and the binning use: points in lanes, cells of a box. */
#ifndef PN_VOLUME_STROKE_H
#define PN_VOLUME_STROKE_H

#include "geom/simd_whole.h"
#include "volume/raster.h"
#include "volume/stroke_one.h"

#include <string.h>

/* ---------------------------------------------------------------- lanes */

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

/* What is taken for 1 / 0 where an edge is level, see stroke.c. */
#define PN_ROW_LEVEL (2.0 * PN_MAX_RESOLUTION)

/* How long a row is nobody can foresee, the processor neither, and each wrong guess costs as much as drawing ten cells.
 * So rows are not drawn at once but put onto lists: up to 8 cells, up to 16, ..., and longer. Room is for so many and
 * those of four triangles more, which stay in the first cache. */
#define PN_ROW_CLASSES 8
#define PN_ROW_MANY 120
/* Lengths of all lists in one word, so that they stay in a register: memory would make each row wait for the one
 * before. */
#define PN_ROW_BITS 8
#define PN_ROW_MASK ((1u << PN_ROW_BITS) - 1)
typedef struct pnRowLists {
  uint32_t total; /* of all lists, or more */
  uint64_t counts;
  pnRow rows[PN_ROW_CLASSES << PN_ROW_BITS];
} pnRowLists;
_Static_assert(PN_ROW_CLASSES *PN_ROW_BITS <= 64, "lengths do not fit a word");
_Static_assert(PN_ROW_MANY + 4 * PN_STRIP_MOST_ROWS < 1 << PN_ROW_BITS, "lists are too short");

PN_INLINE uint32_t pn_rowCount(const pnRowLists *lists, uint32_t class) {
  return (uint32_t)(lists->counts >> (class * PN_ROW_BITS)) & PN_ROW_MASK;
}

/* `length` cells from `cell` on, or none. Written always, kept when there is one, and classes are looked up: no branch
 * to mispredict. Returns the new lengths of the lists. */
PN_INLINE uint64_t pn_addRow(pnRow *rows, uint64_t counts, uint32_t cell, uint32_t length, uint32_t kind, uint64_t z,
                             uint64_t dz) {
  static const uint8_t classes[PN_ROW_CLASSES + 1] = {0, 0, 1, 2, 3, 4, 5, 6, 7};
  const uint64_t hit = length > 0;
  uint32_t class = classes[PN_MIN((length + PN_ROW_STEP - 1) / PN_ROW_STEP, PN_ROW_CLASSES)];
  uint32_t shift = class * PN_ROW_BITS;
  pnRow *row = rows + (class << PN_ROW_BITS | ((uint32_t)(counts >> shift) & PN_ROW_MASK));
  row->cell = cell;
  row->length = (uint16_t)length;
  row->kind = (uint16_t)kind;
  row->z = z;
  row->dz = dz;
  return counts + (hit << shift);
}

/* Adds the rows of a giant triangle, whose box has samples in the strip. */
void pn_strokeGiant(const pnView *view, pnStrip strip, const pnPoint *points, const uint32_t *triangle,
                    pnRowLists *lists);

/* Adds the rows of four triangles of any size, or of as many as `lanes` says; at most PN_ROW_MANY may be there. */
void pn_listFour(const pnView *view, pnStrip strip, const pnPoint *points, const uint32_t *const corners[4], int lanes,
                 pnRowLists *lists);

/* Draws what the strip has of triangles (numbers in `list`) of any size. False when out of memory. */
bool pn_strokeTriangles(const pnView *view, pnStrip strip, const pnPoint *points, const uint32_t *triangles,
                        const uint32_t *list, size_t count, pnRowLists *lists, pnShelves *shelves);

/* ---------------------------------------------------------------- dots */

/* Draws triangles (numbers in `list`) of at most side x side cells and PN_DOT_UNITS; side is 2 or 4. Returns the end
 * of the dots written, with cells of strips of 1 << stripShift rows: at most side * side a triangle. */
pnDot *pn_dotTriangles(const pnView *view, uint32_t stripShift, const pnPoint *points, const uint32_t *triangles,
                       const uint32_t *list, uint32_t count, uint32_t side, pnDot *out);

#endif
