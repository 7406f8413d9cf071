/* embree_inside.h: points in a body by ray casting with Embree, for comparison; there when PN_HAVE_EMBREE_INSIDE is. */
#ifndef PN_BENCH_EMBREE_INSIDE_H
#define PN_BENCH_EMBREE_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pnEmbreeInsideInput {
  const float *vertices;
  uint32_t vertexCount;
  const uint32_t *triangles;
  uint32_t triangleCount;
  const float *points; /* 3 each */
  uint32_t pointCount;
  uint8_t *outInside;
  bool fastBuild;        /* the quality Embree offers for bodies that change every frame */
  double (*clock)(void); /* seconds */
} pnEmbreeInsideInput;

/* Builds the tree, casts the rays, on one thread. Returns the seconds of the rays. */
double pn_embreeInside(const pnEmbreeInsideInput *input, double *outBuildTime);

#ifdef __cplusplus
}
#endif

#endif
