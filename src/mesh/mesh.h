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
  pnBox box;             /* of the rest vertices that are used by triangles; empty when none */
  char *name;
};

/* Corners that triangles s and t share, by welded vertex. */
struct pnSharedCorners;
uint32_t pn_sharedCorners(const pnMesh *mesh, uint32_t s, uint32_t t, uint8_t outS[3], uint8_t outT[3]);

#endif
