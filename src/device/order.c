/* order.c: an order of triangles in which every run of 1 024, and in it every run of 32, is close together: halves by the
 * longest side of what the centres span, cut so that all runs but the last are full. */
#include "device/world.h"

#include <float.h>

/* The items at and after `middle` are not smaller along the axis than those before it (Hoare's selection). Equal ones are
 * told apart by number, so that the order is the same everywhere. */
static bool isBefore(const float *sums, int axis, uint32_t a, uint32_t b) {
  const float x = sums[3 * (size_t)a + (size_t)axis], y = sums[3 * (size_t)b + (size_t)axis];
  return x != y ? x < y : a < b;
}

static void selectAt(uint32_t *t, const float *sums, int axis, uint32_t begin, uint32_t end, uint32_t middle) {
  while (end - begin > 1) {
    // the median of three as pivot; never the last when that is the largest, or the halves below would not shrink
    uint32_t a = t[begin], b = t[begin + (end - begin - 1) / 2], c = t[end - 1];
    uint32_t pivot = isBefore(sums, axis, a, b) ? (isBefore(sums, axis, b, c)   ? b
                                                   : isBefore(sums, axis, a, c) ? c
                                                                                : a)
                                                : (isBefore(sums, axis, a, c)   ? a
                                                   : isBefore(sums, axis, b, c) ? c
                                                                                : b);
    int64_t i = (int64_t)begin - 1, j = end;
    for (;;) {
      do ++i;
      while (isBefore(sums, axis, t[i], pivot));
      do --j;
      while (isBefore(sums, axis, pivot, t[j]));
      if (i >= j) break;
      uint32_t swap = t[i];
      t[i] = t[j], t[j] = swap;
    }
    // [begin, j] are not after the pivot, (j, end) not before it
    if (middle <= (uint32_t)j) end = (uint32_t)j + 1;
    else begin = (uint32_t)j + 1;
  }
}

static int longestAxis(const uint32_t *t, const float *sums, uint32_t begin, uint32_t end) {
  float low[3] = {FLT_MAX, FLT_MAX, FLT_MAX}, high[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX};
  for (uint32_t i = begin; i < end; ++i)
    for (int x = 0; x < 3; ++x) {
      const float v = sums[3 * (size_t)t[i] + (size_t)x];
      low[x] = v < low[x] ? v : low[x];
      high[x] = v > high[x] ? v : high[x];
    }
  int axis = 0;
  for (int x = 1; x < 3; ++x)
    if (high[x] - low[x] > high[axis] - low[axis]) axis = x;
  return axis;
}

/* Halves down to one unit: the depth is the logarithm of the number of units. */
static void split(uint32_t *t, const float *sums, uint32_t begin, uint32_t end, uint32_t unit) {
  const uint32_t units = (uint32_t)(((uint64_t)end - begin + unit - 1) / unit);
  if (units < 2) {
    if (unit == PN_SUPER) split(t, sums, begin, end, PN_CLUSTER);
    return;
  }
  const uint32_t middle = begin + units / 2 * unit;
  selectAt(t, sums, longestAxis(t, sums, begin, end), begin, end, middle);
  split(t, sums, begin, middle, unit);
  split(t, sums, middle, end, unit);
}

void pn_orderTriangles(uint32_t *triangles, const float *sums, uint32_t count) {
  split(triangles, sums, 0, count, PN_SUPER);
}
