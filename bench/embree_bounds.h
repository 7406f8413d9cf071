/* embree_bounds.h: the box of a triangle, as Embree's user geometries are asked for it. */
#ifndef PN_BENCH_EMBREE_BOUNDS_H
#define PN_BENCH_EMBREE_BOUNDS_H

#include <embree3/rtcore.h>

#include <algorithm>
#include <cstdint>

inline void pn_boundTriangle(const uint32_t *triangles, const float *vertices, uint32_t triangle, RTCBounds *box) {
  const uint32_t *t = triangles + 3 * size_t(triangle);
  const float *a = vertices + 3 * size_t(t[0]), *b = vertices + 3 * size_t(t[1]), *c = vertices + 3 * size_t(t[2]);
  box->lower_x = std::min(a[0], std::min(b[0], c[0])), box->upper_x = std::max(a[0], std::max(b[0], c[0]));
  box->lower_y = std::min(a[1], std::min(b[1], c[1])), box->upper_y = std::max(a[1], std::max(b[1], c[1]));
  box->lower_z = std::min(a[2], std::min(b[2], c[2])), box->upper_z = std::max(a[2], std::max(b[2], c[2]));
}

#endif
