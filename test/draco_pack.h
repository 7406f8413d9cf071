/* draco_pack.h: a mesh into a block of the library Draco, for tests; draco_pack.cpp does it. */
#ifndef PN_TEST_DRACO_PACK_H
#define PN_TEST_DRACO_PACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Vertices with four joints each, and triangles. The ids of what is packed: positions 0, joints 1, weights 2. */
typedef struct DracoMesh {
  uint32_t vertexCount, triangleCount;
  const float *positions;  /* 3 each */
  const uint8_t *joints;   /* 4 each; null: neither joints nor weights */
  const float *weights;    /* 4 each */
  const uint32_t *corners; /* 3 each */
  int inOrder; /* vertices and triangles stay in order (sequential); otherwise the order is Draco's (edgebreaker) */
  int bits;    /* of a position's number; 0: floats as they are */
  int fillers; /* so many attributes more, of 100 zeros a vertex */
} DracoMesh;

/* Bytes written, 0 when there is no room. */
size_t packDraco(const DracoMesh *mesh, uint8_t *out, size_t room);

#ifdef __cplusplus
}
#endif

#endif
