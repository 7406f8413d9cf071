/* image_floor.h: what a layered depth image costs at least, whoever makes it. Milliseconds, the least of some passes. */
#ifndef PN_BENCH_IMAGE_FLOOR_H
#define PN_BENCH_IMAGE_FLOOR_H

#include "pinch/volume.h"

/* One pass over the vertices, which alone takes *outVertices, and writing each pixel's place and its layers. */
double pn_timeImageFloor(const pnLdi *ldi, const pnMesh *mesh, uint32_t passes, double *outVertices);
/* Reading every triangle once, as whoever draws triangles must: its corners fetched, its box found. */
double pn_timeTriangles(const pnMesh *mesh, uint32_t passes);

#endif
