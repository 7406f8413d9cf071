/* gltf_write.h: what the files of the .glb exporter share.
 *
 *   gltf_write.c       the document: nodes, skins, clips, scenes, and the container
 *   gltf_write_data.c  numbers into the binary chunk, with views and accessors
 *   gltf_write_mesh.c  bodies into meshes
 *
 * The document is made of jansson values. Whatever cannot be allocated on the way sets `failed`, and the writer goes on
 * without it; the one place that looks is the end, where nothing is written then. */
#ifndef PN_IO_GLTF_WRITE_H
#define PN_IO_GLTF_WRITE_H

#include <jansson.h>

#include "pinch/io.h"

typedef struct pnGltfWriter {
  const pnAnimFile *file;
  bool failed; /* out of memory somewhere */
  json_t *views, *accessors, *meshes, *materials;
  uint8_t *bytes; /* the binary chunk */
  size_t byteCount, byteCapacity;
  uint32_t *bodyMesh; /* by body: its mesh in the document */
  uint32_t *bodyNode; /* by body: the node that places it; new ones follow the file's */
} pnGltfWriter;

/* Takes over `value`: into an array, into an object. Null, or no room, is a failure. Answers its place in the array. */
uint32_t pn_gltfAppend(pnGltfWriter *w, json_t *array, json_t *value);
void pn_gltfSet(pnGltfWriter *w, json_t *object, const char *key, json_t *value);
/* An array of numbers. */
json_t *pn_gltfFloats(pnGltfWriter *w, const float *numbers, uint32_t count);

/* What an accessor is used for, which readers want to know. */
typedef enum pnGltfUse { PN_GLTF_USE_OTHER = 0, PN_GLTF_USE_VERTEX = 34962, PN_GLTF_USE_INDEX = 34963 } pnGltfUse;

/* Numbers into the chunk, and an accessor for them: `width` components of `componentType`, `count` elements.
 * With bounds, which positions and times must have, they are floats. */
uint32_t pn_gltfWriteArray(pnGltfWriter *w, const void *data, uint32_t count, uint32_t width, uint32_t componentType,
                           pnGltfUse use);
uint32_t pn_gltfWriteBounded(pnGltfWriter *w, const float *data, uint32_t count, uint32_t width, pnGltfUse use);
/* Three floats for `count` of `total` elements, the others being 0. */
uint32_t pn_gltfWriteSparse(pnGltfWriter *w, const pnAnimTarget *target, uint32_t total);

/* The mesh of body b, made once for bodies that share it. */
void pn_gltfWriteMesh(pnGltfWriter *w, uint32_t b);

/* The document and the chunk as the bytes of a .glb, to be freed with pn_ioFree; `path` is for messages. */
pnResult pn_gltfMakeContainer(const pnGltfWriter *w, const char *path, const json_t *document, uint8_t **outBytes,
                              size_t *outCount);

#endif
