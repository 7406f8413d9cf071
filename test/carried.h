/* carried.h: bodies of animated files that are made by hand, for tests and fuzzers. */
#ifndef PN_TEST_CARRIED_H
#define PN_TEST_CARRIED_H

#include "pinch/io.h"

/* A body of an animated file that node i carries. */
static inline pnAnimBody carriedBody(const char *name, const char *meshName, uint32_t i, const pnMesh *mesh) {
  return (pnAnimBody){.name = name,
                      .meshName = meshName,
                      .node = i,
                      .carrier = i,
                      .skin = PN_NONE,
                      .vertices = pnMesh_GetVertices(mesh),
                      .vertexCount = pnMesh_GetVertexCount(mesh),
                      .triangles = pnMesh_GetTriangles(mesh),
                      .triangleCount = pnMesh_GetTriangleCount(mesh),
                      .vertexWeld = pnMesh_GetWeld(mesh)};
}

#endif
