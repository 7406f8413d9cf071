/* draco.h: one block of the library Draco as arrays, for the reader of glTF. The library is C++; draco.cpp alone looks into it, and is
 * compiled where CMake finds it (PN_HAVE_DRACO). */
#ifndef PN_IO_DRACO_H
#define PN_IO_DRACO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An attribute of the block's vertices, and where its numbers go. */
typedef struct pnDracoArray {
  uint32_t id;        /* its unique id in the block */
  uint32_t width;     /* components of an element */
  uint32_t component; /* type of a component, as glTF numbers them (pnGltfComponent) */
  void *out;          /* vertexCount elements, without gaps */
} pnDracoArray;

/* A block, and what is expected of it. It must have just these vertices and triangles. */
typedef struct pnDracoBlock {
  const uint8_t *bytes;
  size_t count;
  size_t limit; /* most bytes of memory that unpacking may take */
  uint32_t vertexCount, triangleCount;
  uint32_t *corners; /* 3 * triangleCount numbers of vertices, not checked */
  const pnDracoArray *arrays;
  uint32_t arrayCount;
  char why[160]; /* of a refusal */
} pnDracoBlock;

/* False, and a reason, for a block that is damaged, is of another size, or asks for more memory than it may. */
bool pn_dracoUnpack(pnDracoBlock *block);

#ifdef __cplusplus
}
#endif

#endif
