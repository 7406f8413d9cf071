/* mesh_file.h: what the mesh readers share: a mesh that grows while a file is read. Internal to io. */
#ifndef PN_IO_MESH_FILE_H
#define PN_IO_MESH_FILE_H

#include "pinch/io.h"
#include "reader.h"

/* Corners are counted in 32 bits everywhere in pinch, so three of them a triangle set the limit. */
#define PN_MAX_VERTICES (UINT32_MAX - 1)
#define PN_MAX_TRIANGLES (UINT32_MAX / 3)

/* The mesh as read so far. Arrays grow with what the file has delivered, never with what it has announced. */
typedef struct pnMeshBuilder {
  const char *name; /* for messages */
  float *vertices;
  size_t vertexCount, vertexCapacity;
  double *doubles; /* of a file that has doubles; else null */
  size_t doubleCapacity;
  uint32_t *triangles;
  size_t triangleCount, triangleCapacity;

  /* Group statements that own triangles, in file order and with repetitions; pn_finishGroups makes groups of them. */
  pnWord *groupWords;
  size_t groupWordCount, groupWordCapacity;
  uint32_t *triangleGroups; /* statement of each triangle, then group; only while groupWordCount > 0 */
  size_t triangleGroupCapacity;
  pnWord pendingWord; /* a statement no triangle has followed yet */
  bool pending;
} pnMeshBuilder;

pnResult pn_addVertex(pnMeshBuilder *builder, const float position[3]);
/* A vertex of a file whose coordinates are doubles: `position` is the same rounded once. All vertices, or none. */
pnResult pn_addDoubleVertex(pnMeshBuilder *builder, const float position[3], const double exact[3]);
pnResult pn_addTriangle(pnMeshBuilder *builder, uint32_t a, uint32_t b, uint32_t c);
/* Triangles from here on belong to the group of this name. The word must stay valid. */
void pn_setGroup(pnMeshBuilder *builder, pnWord name);

/* One reader for each format: fill the builder or say why not. */
pnResult pn_parseObj(pnReader *reader, pnMeshBuilder *builder);
pnResult pn_parseOff(pnReader *reader, pnMeshBuilder *builder);
pnResult pn_parsePly(pnReader *reader, pnMeshBuilder *builder);
pnResult pn_parseStl(pnReader *reader, pnMeshBuilder *builder);

/* Do these bytes look like the format, whatever the file is called? */
bool pn_looksLikeOff(pnWord firstWord);
bool pn_looksLikeBinaryStl(const pnReader *reader);
bool pn_looksLikeObj(pnWord firstWord);

#endif
