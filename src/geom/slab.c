/* slab.c: see slab.h. */
#include "geom/slab.h"

#include <float.h>
#include <math.h>

#define AXES              \
  {1, 0, 0}, {0, 1, 0}, { \
    0, 0, 1               \
  }
#define DIAGONALS                      \
  {1, 1, 1}, {1, 1, -1}, {1, -1, 1}, { \
    -1, 1, 1                           \
  }
#define EDGES                                                \
  {1, 1, 0}, {1, -1, 0}, {1, 0, 1}, {1, 0, -1}, {0, 1, 1}, { \
    0, 1, -1                                                 \
  }

const pnSlabSet pn_slabBox = {
    3, 3, 3, {AXES}, {0, 0, 0, 0, -1, 0, 0, 0, 0, 0, -2, 0, -3, 0, 3, 0, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0}};
const pnSlabSet pn_slabDop14 = {7, 3, 7, {AXES, DIAGONALS}, {-4, 0, -5, 0, -1, 0, -6, 0, 7, 0, -2, 0, -3, 0,
                                                             3,  0, 2,  0, -7, 0, 6,  0, 1, 0, 5,  0, 4}};
const pnSlabSet pn_slabDop18 = {
    9, 9, 9, {AXES, EDGES}, {0, -4, 0, -6, -1, -7, 0, -5, 0, -8, -2, -9, -3, 0, 3, 9, 2, 8, 0, 5, 0, 7, 1, 6, 0, 4, 0}};
const pnSlabSet pn_slabDop26 = {
    13, 3, 7, {AXES, DIAGONALS, EDGES}, {-4, -8, -5, -10, -1, -11, -6, -9, 7, -12, -2, -13, -3, 0,
                                         3,  13, 2,  12,  -7, 9,   6,  11, 1, 10,  5,  8,   4}};

void pn_slabsEmpty(pnSlabs *slabs) {
  for (int d = 0; d < PN_MAX_SLABS; ++d) {
    slabs->lo[d] = FLT_MAX;
    slabs->hi[d] = -FLT_MAX;
  }
}

/* The projection of a point, in the order of operations that slab.h reasons about. */
PN_INLINE float project(const int8_t dir[3], const float *p) {
  float s = 0;
  for (int k = 0; k < 3; ++k)
    if (dir[k]) s = s + (dir[k] > 0 ? p[k] : -p[k]);
  return s;
}

void pn_slabsOfPoints(const pnSlabSet *set, const float *points, uint32_t count, pnSlabs *out) {
  pn_slabsEmpty(out);
  for (uint32_t i = 0; i < count; ++i) {
    const float *p = points + 4 * i;
    for (uint32_t d = 0; d < set->count; ++d) {
      float s = project(set->dir[d], p);
      out->lo[d] = PN_MIN(out->lo[d], s);
      out->hi[d] = PN_MAX(out->hi[d], s);
    }
  }
  if (count == 0 || set->count == 3) return;
  float sum = 0;
  for (int k = 0; k < 3; ++k) sum += PN_MAX(fabsf(out->lo[k]), fabsf(out->hi[k]));
  /* sums that may have left the range of float say nothing; NaN stays what it is */
  if (PN_UNLIKELY(sum > 0.5f * FLT_MAX)) {
    for (uint32_t d = 3; d < set->count; ++d) {
      out->lo[d] = -FLT_MAX;
      out->hi[d] = FLT_MAX;
    }
    return;
  }
  /* widen the diagonals by the rounding of their sums */
  for (uint32_t d = set->diagonalFirst; d < set->diagonalEnd; ++d) {
    out->lo[d] -= PN_DIAGONAL_MARGIN * sum;
    out->hi[d] += PN_DIAGONAL_MARGIN * sum;
  }
}

void pn_slabsMerge(const pnSlabSet *set, pnSlabs *into, const pnSlabs *other) {
  for (uint32_t d = 0; d < set->count; ++d) {
    into->lo[d] = PN_MIN(into->lo[d], other->lo[d]);
    into->hi[d] = PN_MAX(into->hi[d], other->hi[d]);
  }
}
