/* triangle.c: the public questions about two triangles, and which kernel stands in front of the exact test. */
#include "geom/triangle.h"

bool pnTrianglesMeet(const pnTriangle *a, const pnTriangle *b) {
  PN_ASSERT(a != NULL && b != NULL);
  return pn_trianglesMeetExact(a->v[0], a->v[1], a->v[2], b->v[0], b->v[1], b->v[2]);
}

bool pnTrianglesMeetBeyond(const pnTriangle *a, const pnTriangle *b, pnSharedCorners shared) {
  PN_ASSERT(a != NULL && b != NULL && shared.count <= 3);
  const float *pa[3] = {a->v[0], a->v[1], a->v[2]}, *pb[3] = {b->v[0], b->v[1], b->v[2]};
  return pn_trianglesMeetBeyondPtr(pa, pb, shared);
}
