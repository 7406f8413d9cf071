/* mesh.h: constant topology, as the other rooms see it. */
#ifndef PN_MESH_MESH_H
#define PN_MESH_MESH_H

#include "pinch/mesh.h"
#include "base/core.h"

struct pnMesh {
  uint32_t vertexCount, triangleCount;
  float *vertices;       /* 3 * vertexCount + 1 floats: one more may be read */
  uint32_t *triangles;   /* 3 a triangle */
  uint32_t *weld;        /* representative of each vertex */
  uint32_t *neighbours;  /* 3 a triangle */
  uint32_t *ringOffsets; /* vertexCount + 1 */
  uint32_t *rings;       /* 3 * triangleCount at most */
  uint32_t ringCount;
  bool welded;  /* some vertex is welded onto another */
  bool crowded; /* some edge has more than two triangles, or two that run the same way */
  pnBox box;    /* of the rest vertices that are used by triangles; empty when none */
  float maxAbs; /* largest magnitude among the rest coordinates */
  char *name;
};

/* Are all numbers finite? If not, *outFirstBad is the place of the first that is NaN or infinite. */
bool pn_allFinite(const float *numbers, size_t count, size_t *outFirstBad);

/* The box of numbers that are x, y and z in turn; of none an empty one. Some bound is infinite or NaN exactly when one of them is. Where a
 * last one or two are no point, the last counts as what is missing. */
pnBox pn_boxOfNumbers(const float *numbers, size_t count);
/* The same, and the numbers are copied as they are looked through; the arrays do not overlap. */
pnBox pn_copyNumbers(float *to, const float *from, size_t count);
/* The largest magnitude in a box, 0 for an empty one; infinite or NaN exactly when a bound is. */
float pn_boxReach(const pnBox *box);
/* And among numbers. */
float pn_maxAbs(const float *numbers, size_t count);

/* Welded corners of triangle t. */
PN_INLINE void pn_weldedCorners(const pnMesh *mesh, uint32_t t, uint32_t out[3]) {
  for (int k = 0; k < 3; ++k) out[k] = mesh->triangles[3 * (size_t)t + (size_t)k];
  for (int k = 0; mesh->welded && k < 3; ++k) out[k] = mesh->weld[out[k]];
}
/* The edge of triangle t, which is a neighbour over it, with these welded ends, as 3t+k; *outSame says whether it runs the same way. */
PN_INLINE uint32_t pn_sameEdgeOf(const pnMesh *mesh, uint32_t t, const uint32_t ends[2], bool *outSame) {
  uint32_t c[3];
  pn_weldedCorners(mesh, t, c);
  for (uint32_t k = 0; k < 3; ++k) {
    uint32_t a = c[k], b = c[(k + 1) % 3];
    *outSame = a == ends[0] && b == ends[1];
    if (*outSame || (a == ends[1] && b == ends[0])) return 3 * t + k;
  }
  PN_ASSERT(!"a neighbour has the edge");
  return PN_NONE;
}

/* Is a triangle with these welded corners only a segment or a point? Such a triangle has no edges. */
PN_INLINE bool pn_hasRepeatedCorner(const uint32_t c[3]) {
  return c[0] == c[1] || c[1] == c[2] || c[2] == c[0];
}

#endif
