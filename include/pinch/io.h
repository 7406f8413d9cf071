/* pinch/io.h: files into plain definitions. A library of its own (pinch_io): the core needs no file.
 *
 * Readers expect hostile files: every read is checked, memory is bounded by what the file can really hold, and an
 * error names the file, the line or byte, what was found and what was expected (pnGetMessage()).
 */
#ifndef PINCH_IO_H
#define PINCH_IO_H

#include "pinch/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A mesh as a file has it: polygons fanned in file order. Free with pnFreeMeshFile. */
typedef struct pnMeshFile {
  float *vertices;
  uint32_t vertexCount;
  uint32_t *triangles;
  uint32_t triangleCount;
  uint32_t *triangleGroups; /* group number of each triangle, null when the file has none */
  char **groupNames;
  uint32_t groupCount;
  char *name; /* the file's name without folder and extension */
} pnMeshFile;

/* OBJ, PLY (ascii, both endians), STL (ascii, binary), OFF: by content first, then by extension. */
PN_API pnResult pnLoadMeshFile(const char *path, pnMeshFile *outFile);
/* The same from memory; `name` is used in messages and, by its extension, when the content does not tell. */
PN_API pnResult pnParseMeshFile(const void *bytes, size_t byteCount, const char *name, pnMeshFile *outFile);
PN_API void pnFreeMeshFile(pnMeshFile *file);

/* Writes by extension: .obj, .ply (binary little-endian), .stl (binary), .off. */
PN_API pnResult pnSaveMesh(const char *path, const float *vertices, uint32_t vertexCount, const uint32_t *triangles,
                           uint32_t triangleCount);

#ifdef __cplusplus
}
#endif

#endif
