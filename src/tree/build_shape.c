/* build_shape.c: initial-shape trees [Larsson01, section 3.2]. The box of a node is split along its 1, 2 or 3 longest
 * sides (for arity 2, 4, 8) at the box centre, or at the mean of the triangle midpoints; every midpoint goes to one
 * of the sub-volumes and empty ones are dropped.
 *
 * Where we differ: the box is that of the midpoints, not of the triangles (the paper does not say; a long triangle
 * should not decide where its neighbours go). All midpoints on one side, or a depth that says the split is not
 * getting anywhere, fall back to the median, so that every input ends. */
#include "tree/build.h"

#include <float.h>

/* Deeper than this a spatial split is peeling off single triangles; 21 halvings of each axis exhaust a float's
 * mantissa, so with three axes 64 levels of halving one axis at a time cannot be reached by well-spread input. */
#define MAX_SHAPE_DEPTH 40u

typedef struct Planes {
  uint32_t axis[3], count;
  float at[3];
} Planes;

/* Where to cut: at the centre of the box of midpoints, or at their mean. */
static Planes choosePlanes(const pnBuilder *b, uint32_t first, uint32_t count, bool mean) {
  double lo[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, hi[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX}, sum[3] = {0};
  for (uint32_t i = first; i < first + count; ++i) {
    const float *c = b->centres + 3 * (size_t)b->order[i];
    for (int k = 0; k < 3; ++k) {
      lo[k] = PN_MIN(lo[k], (double)c[k]);
      hi[k] = PN_MAX(hi[k], (double)c[k]);
      sum[k] += (double)c[k];
    }
  }
  /* axes by extent, longest first, ties by number */
  uint32_t axis[3] = {0, 1, 2};
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2 - i; ++j) {
      if (hi[axis[j + 1]] - lo[axis[j + 1]] > hi[axis[j]] - lo[axis[j]]) {
        uint32_t t = axis[j];
        axis[j] = axis[j + 1];
        axis[j + 1] = t;
      }
    }
  }
  Planes p = {.count = b->arity == 2 ? 1 : b->arity == 4 ? 2 : 3};
  for (uint32_t i = 0; i < p.count; ++i) {
    uint32_t k = axis[i];
    p.axis[i] = k;
    p.at[i] = (float)(mean ? sum[k] / count : 0.5 * (lo[k] + hi[k]));
  }
  return p;
}

/* Which of the sub-volumes a midpoint is in. */
PN_INLINE uint32_t cellOf(const Planes *p, const float *centre) {
  uint32_t cell = 0;
  for (uint32_t i = 0; i < 3 && i < p->count; ++i) cell |= (uint32_t)(centre[p->axis[i]] >= p->at[i]) << i;
  return cell;
}

static uint32_t splitShape(pnBuilder *b, uint32_t first, uint32_t count, uint32_t depth, uint32_t *outSizes,
                           bool mean) {
  if (depth > MAX_SHAPE_DEPTH) return pn_splitBalanced(b, first, count, depth, outSizes);
  /* a counting sort by cell, which keeps the order within a cell */
  Planes planes = choosePlanes(b, first, count, mean);
  uint32_t size[PN_LANES] = {0}, at[PN_LANES], parts = 0;
  for (uint32_t i = first; i < first + count; ++i) ++size[cellOf(&planes, b->centres + 3 * (size_t)b->order[i])];
  for (uint32_t c = 0, sum = 0; c < PN_LANES; sum += size[c++]) {
    at[c] = sum;
    if (size[c] > 0) outSizes[parts++] = size[c];
  }
  if (parts < 2) return pn_splitBalanced(b, first, count, depth, outSizes);
  for (uint32_t i = first; i < first + count; ++i) {
    uint32_t t = b->order[i];
    b->scratch[at[cellOf(&planes, b->centres + 3 * (size_t)t)]++] = t;
  }
  memcpy(b->order + first, b->scratch, count * sizeof(uint32_t));
  return parts;
}

uint32_t pn_splitShapeCentre(pnBuilder *b, uint32_t first, uint32_t count, uint32_t depth,
                             uint32_t outSizes[PN_LANES]) {
  return splitShape(b, first, count, depth, outSizes, false);
}

uint32_t pn_splitShapeMean(pnBuilder *b, uint32_t first, uint32_t count, uint32_t depth, uint32_t outSizes[PN_LANES]) {
  return splitShape(b, first, count, depth, outSizes, true);
}
