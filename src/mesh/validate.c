/* validate.c: what is true of a mesh, and where it first stops being true.
 *
 * Edges are read from the neighbours: triangles at one edge form a cycle in ascending order, so an edge is met exactly
 * once at the triangle whose next one is not larger. Everything is linear in the size of the mesh, no edge is sorted
 * twice, and every "first" is the smallest triangle number, whatever the order of work.
 *
 * Triangles with a repeated corner have no edges (see mesh.c) and take no part in closed, manifold and oriented. */
#include "base/array.h"

#include "base/fenv.h"
#include "mesh/mesh.h"
#include "pinch/geom.h"

/* What the passes know of a vertex. */
#define FLAG_USED 1        /* some triangle names it, as given */
#define FLAG_BRANCH_EDGE 2 /* it ends an edge with more than two triangles (of the representative) */

/* ---------------------------------------------------------------- edges */

/* How many triangles are at the edge that ends with half-edge `last`, how they run, and which comes first. */
typedef struct EdgeCount {
  uint32_t same, opposite, first;
} EdgeCount;

static EdgeCount countEdge(const pnMesh *mesh, uint32_t last, const uint32_t ends[2]) {
  EdgeCount count = {.same = 1, .first = last};
  for (uint32_t e = last; mesh->neighbours[e] != PN_NONE && mesh->neighbours[e] != last / 3;) {
    bool same;
    e = pn_sameEdgeOf(mesh, mesh->neighbours[e], ends, &same);
    count.same += same;
    count.opposite += !same;
    count.first = PN_MIN(count.first, e);
  }
  return count;
}

/* Half-edges of the first edge of each kind, PN_NONE for none. */
typedef struct FirstEdges {
  uint32_t open, nonManifold, misoriented;
} FirstEdges;

static void checkEdge(const pnMesh *mesh, uint32_t last, uint8_t *flags, pnMeshInfo *info, FirstEdges *first) {
  uint32_t ends[2] = {mesh->weld[mesh->triangles[last]],
                      mesh->weld[mesh->triangles[last % 3 == 2 ? last - 2 : last + 1]]};
  EdgeCount n = countEdge(mesh, last, ends);
  uint32_t all = n.same + n.opposite;
  bool balanced = n.same == n.opposite;

  // open: a triangle is left over, or more than two cannot be paired in opposite directions
  if (all % 2 == 1 || (all > 2 && !balanced)) {
    ++info->openEdgeCount;
    first->open = PN_MIN(first->open, n.first);
  }
  if (all > 2) {
    ++info->nonManifoldEdgeCount;
    first->nonManifold = PN_MIN(first->nonManifold, n.first);
    flags[ends[0]] |= FLAG_BRANCH_EDGE;
    flags[ends[1]] |= FLAG_BRANCH_EDGE;
  }
  // misoriented: after pairing opposite directions, more than one triangle is left over
  if (PN_MAX(n.same, n.opposite) - PN_MIN(n.same, n.opposite) > 1) {
    info->oriented = false;
    first->misoriented = PN_MIN(first->misoriented, n.first);
  }
}

/* Names half-edge e by its triangle and the vertices as given. */
static void nameEdge(const pnMesh *mesh, uint32_t e, uint32_t *outTriangle, uint32_t outVertices[2]) {
  bool none = e == PN_NONE;
  *outTriangle = none ? PN_NONE : e / 3;
  outVertices[0] = none ? PN_NONE : mesh->triangles[e];
  outVertices[1] = none ? PN_NONE : mesh->triangles[e % 3 == 2 ? e - 2 : e + 1];
}

static void checkEdges(const pnMesh *mesh, uint8_t *flags, pnMeshInfo *info) {
  FirstEdges first = {PN_NONE, PN_NONE, PN_NONE};
  info->oriented = true;
  for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
    uint32_t c[3];
    pn_weldedCorners(mesh, t, c);
    if (pn_hasRepeatedCorner(c)) continue;
    for (uint32_t e = 3 * t; e < 3 * t + 3; ++e) {
      uint32_t next = mesh->neighbours[e];
      if (next == PN_NONE || next < t) checkEdge(mesh, e, flags, info, &first);
    }
  }
  info->closed = info->openEdgeCount == 0;
  info->manifold = info->nonManifoldEdgeCount == 0;
  nameEdge(mesh, first.open, &info->firstOpenTriangle, info->firstOpenVertices);
  nameEdge(mesh, first.nonManifold, &info->firstNonManifoldTriangle, info->firstNonManifoldVertices);
  nameEdge(mesh, first.misoriented, &info->firstMisorientedTriangle, info->firstMisorientedVertices);
}

/* ---------------------------------------------------------------- fans */

/* The two edges of triangle t at (welded) vertex v: the one that leaves it and the one that arrives. */
static void edgesAt(const pnMesh *mesh, uint32_t t, uint32_t v, uint32_t out[2]) {
  uint32_t c[3];
  pn_weldedCorners(mesh, t, c);
  uint32_t k = c[0] == v ? 0 : c[1] == v ? 1 : 2;
  out[0] = 3 * t + k;
  out[1] = 3 * t + (k + 2) % 3;
}

/* The welded end of edge e that is not v. */
static uint32_t otherEnd(const pnMesh *mesh, uint32_t e, uint32_t v) {
  uint32_t a = mesh->weld[mesh->triangles[e]];
  return a != v ? a : mesh->weld[mesh->triangles[e % 3 == 2 ? e - 2 : e + 1]];
}

/* How many triangles hang together with `start` over edges at v. No edge at v has more than two triangles, so we walk
 * out over one edge and then over the other until a border, or until we are back. */
static uint32_t countFan(const pnMesh *mesh, uint32_t v, uint32_t start) {
  uint32_t count = 1, startEdges[2];
  edgesAt(mesh, start, v, startEdges);
  for (int side = 0; side < 2; ++side) {
    uint32_t e = startEdges[side];
    while (mesh->neighbours[e] != PN_NONE) {
      uint32_t next = mesh->neighbours[e], edges[2];
      if (next == start) return count;
      ++count;
      edgesAt(mesh, next, v, edges);
      e = otherEnd(mesh, edges[0], v) == otherEnd(mesh, e, v) ? edges[1] : edges[0];
    }
  }
  return count;
}

/* Is v a vertex where two or more fans touch? *outTriangle is its first triangle. */
static bool isPinched(const pnMesh *mesh, uint32_t v, uint32_t *outTriangle) {
  uint32_t count = 0, first = PN_NONE;
  for (uint32_t i = mesh->ringOffsets[v]; i < mesh->ringOffsets[v + 1]; ++i) {
    uint32_t c[3];
    pn_weldedCorners(mesh, mesh->rings[i], c);
    if (pn_hasRepeatedCorner(c)) continue;
    if (count++ == 0) first = mesh->rings[i];
  }
  *outTriangle = first;
  return count > 1 && countFan(mesh, v, first) < count;
}

static void checkFans(const pnMesh *mesh, const uint8_t *flags, pnMeshInfo *info) {
  for (uint32_t v = 0; v < mesh->vertexCount; ++v) {
    uint32_t t;
    if ((flags[v] & FLAG_BRANCH_EDGE) || !isPinched(mesh, v, &t)) continue;
    ++info->nonManifoldVertexCount;
    info->manifold = false;
    // an edge of the same triangle says more than its vertex
    if (t >= info->firstNonManifoldTriangle) continue;
    uint32_t edges[2];
    edgesAt(mesh, t, v, edges);
    info->firstNonManifoldTriangle = t;
    info->firstNonManifoldVertices[0] = info->firstNonManifoldVertices[1] = mesh->triangles[edges[0]];
  }
}

/* ---------------------------------------------------------------- triangles and vertices */

/* Zero area, exactly: the normal is zero when the triangle is seen edge-on along all three axes. */
static bool hasZeroArea(const float *a, const float *b, const float *c) {
  for (int k = 0; k < 3; ++k) {
    int u = k, v = (k + 1) % 3;
    const float pa[2] = {a[u], a[v]}, pb[2] = {b[u], b[v]}, pc[2] = {c[u], c[v]};
    if (pnOrient2(pa, pb, pc) != 0) return false;
  }
  return true;
}

static void checkTriangles(const pnMesh *mesh, uint8_t *flags, pnMeshInfo *info) {
  info->firstDegenerateTriangle = PN_NONE;
  for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
    const uint32_t *v = mesh->triangles + 3 * (size_t)t;
    const float *p[3];
    for (int k = 0; k < 3; ++k) {
      p[k] = mesh->vertices + 3 * (size_t)v[k];
      flags[v[k]] |= FLAG_USED;
    }
    uint32_t c[3];
    pn_weldedCorners(mesh, t, c);
    if (!pn_hasRepeatedCorner(c) && !hasZeroArea(p[0], p[1], p[2])) continue;
    ++info->degenerateCount;
    info->firstDegenerateTriangle = PN_MIN(info->firstDegenerateTriangle, t);
  }
  for (uint32_t v = 0; v < mesh->vertexCount; ++v) {
    info->unusedVertexCount += !(flags[v] & FLAG_USED);
    info->duplicateVertexCount += mesh->weld[v] != v;
  }
}

/* Components over shared (welded) vertices; the smallest vertex of a component is its root. */
static void countComponents(const pnMesh *mesh, uint32_t *parents, pnMeshInfo *info) {
  for (uint32_t v = 0; v < mesh->vertexCount; ++v) parents[v] = v;
  for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
    uint32_t c[3];
    pn_weldedCorners(mesh, t, c);
    for (int k = 1; k < 3; ++k) {
      uint32_t a = pn_rootOf(parents, c[0]), b = pn_rootOf(parents, c[k]);
      parents[PN_MAX(a, b)] = PN_MIN(a, b);
    }
  }
  for (uint32_t v = 0; v < mesh->vertexCount; ++v)
    info->componentCount += parents[v] == v && mesh->ringOffsets[v] != mesh->ringOffsets[v + 1];
}

/* ---------------------------------------------------------------- the door */

pnResult pnMesh_Validate(const pnMesh *mesh, pnMeshInfo *outInfo) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(mesh && outInfo);
  size_t count = PN_MAX((size_t)mesh->vertexCount, 1);
  size_t parentBytes = pn_bytes(count, sizeof(uint32_t));
  uint32_t *parents = pn_alloc(parentBytes);
  uint8_t *flags = pn_allocZero(count);
  pnResult result = parents && flags ? PN_OK : pn_failMemory(parentBytes + count);

  if (result == PN_OK) {
    *outInfo = (pnMeshInfo){.box = mesh->box};
    checkEdges(mesh, flags, outInfo);
    checkFans(mesh, flags, outInfo);
    checkTriangles(mesh, flags, outInfo);
    countComponents(mesh, parents, outInfo);
  }
  pn_free(flags, count);
  pn_free(parents, parentBytes);
  return result;
}
