/* corners.h: which corners two triangles share, by the numbers of their welded vertices. C and OpenCL C. */
#ifndef PN_GEOM_CORNERS_H
#define PN_GEOM_CORNERS_H

#include "base/core.h"
#include "pinch/geom.h"

/* Corner outA[i] of the one is corner outB[i] of the other, i < the count returned (0 to 3). Each corner is used once; outA
 * is ascending. */
PN_INLINE uint32_t pn_matchCorners(const uint32_t a[3], const uint32_t b[3], uint8_t outA[3], uint8_t outB[3]) {
  uint32_t count = 0, taken = 0;
  for (uint32_t i = 0; i < 3; ++i)
    for (uint32_t j = 0; j < 3; ++j)
      if (!(taken >> j & 1u) && a[i] == b[j]) {
        taken |= 1u << j;
        outA[count] = (uint8_t)i;
        outB[count++] = (uint8_t)j;
        break;
      }
  return count;
}

/* Those that are one welded vertex and stand at one place *now*. Welded vertices that have moved apart (a seam that opened)
 * are not shared, and the triangles are tested like any others. */
PN_INLINE pnSharedCorners pn_sharedOfCorners(const uint32_t a[3], const uint32_t b[3], const float *p[3],
                                             const float *q[3]) {
  pnSharedCorners shared = {0, {0, 0, 0}, {0, 0, 0}};
  uint8_t i[3], j[3];
  uint32_t count = pn_matchCorners(a, b, i, j);
  for (uint32_t k = 0; k < count; k++) {
    const float *x = p[i[k]], *y = q[j[k]];
    if (x[0] == y[0] && x[1] == y[1] && x[2] == y[2]) {
      shared.a[shared.count] = i[k];
      shared.b[shared.count++] = j[k];
    }
  }
  return shared;
}

#endif
