/* corners.h: which corners two triangles share, by the numbers of their welded vertices and by place. C and OpenCL C. */
#ifndef PN_GEOM_CORNERS_H
#define PN_GEOM_CORNERS_H

#include "base/core.h"
#include "pinch/geom.h"

/* Corners that are one welded vertex and stand at one place *now*: welded vertices that have moved apart (a seam that opened, a
 * slit) are not shared, and the triangles are tested like any others. Both together are an equivalence, so that the first
 * match found is as good as any; by numbers alone a corner could take the place of the one that is really shared.
 * Each corner is used once; those of a ascend. */
PN_INLINE pnSharedCorners pn_sharedOfCorners(const uint32_t a[3], const uint32_t b[3], const float *p[3],
                                             const float *q[3]) {
  pnSharedCorners shared = {0, {0, 0, 0}, {0, 0, 0}};
  uint32_t taken = 0;
  for (uint32_t i = 0; i < 3; ++i) {
    for (uint32_t j = 0; j < 3; ++j) {
      bool same = a[i] == b[j] && p[i][0] == q[j][0] && p[i][1] == q[j][1] && p[i][2] == q[j][2];
      if (same && !(taken >> j & 1u)) {
        taken |= 1u << j;
        shared.a[shared.count] = (uint8_t)i;
        shared.b[shared.count++] = (uint8_t)j;
        break;
      }
    }
  }
  return shared;
}

#endif
