/* part.c: which parts of a mesh hang together over edges, which of them are closed, and which way they face.
 *
 * A game mesh is often many shells in one body: a head, two eyes, teeth. Whether something is inside makes sense for each shell
 * alone, so closed is said of parts. An edge is balanced when as many triangles run along it one way as the other way: then
 * the surface around it has an inside. Models often lack what nobody sees, the end of a blade inside its hilt: a part with small
 * holes is called *solid*, and depths are measured in it as in a closed one; only containment wants closed ones. Triangles with a repeated corner have no edges and are parts of their own that nobody
 * asks about. */
#include "find/find.h"

#include <math.h>

/* A part whose holes have no more than this part of its area still has an inside that one can speak of: a sword without the end that is
 * in its hilt (0.03), not a helmet (0.2) and not a coat (0.6). */
#define NEARLY 0.1

/* Parts by their smallest triangle, numbered in the order of those. */
static uint32_t numberParts(const pnMesh *mesh, uint32_t *partOf) {
  for (uint32_t t = 0; t < mesh->triangleCount; ++t) partOf[t] = t;
  for (uint32_t e = 0; e < 3 * mesh->triangleCount; ++e) {
    if (mesh->neighbours[e] == PN_NONE) continue;
    uint32_t s = pn_rootOf(partOf, e / 3), t = pn_rootOf(partOf, mesh->neighbours[e]);
    partOf[PN_MAX(s, t)] = PN_MIN(s, t);
  }
  // A root is smaller than what hangs on it, so its number is known when it is needed.
  uint32_t count = 0;
  for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
    uint32_t up = partOf[t];
    partOf[t] = up == t ? count++ : partOf[up];
  }
  return count;
}

/* Does triangle t run along its edge from a to b (+1), from b to a (-1), or not have it (0)? */
static int runsAlong(const pnMesh *mesh, uint32_t t, uint32_t a, uint32_t b) {
  uint32_t c[3];
  pn_weldedCorners(mesh, t, c);
  for (int k = 0; k < 3; ++k) {
    uint32_t p = c[k], q = c[(k + 1) % 3];
    if (p == a && q == b) return 1;
    if (p == b && q == a) return -1;
  }
  return 0;
}

/* Is the edge k of triangle t balanced? */
static bool isBalanced(const pnMesh *mesh, uint32_t t, uint32_t k) {
  uint32_t c[3];
  pn_weldedCorners(mesh, t, c);
  uint32_t a = c[k], b = c[(k + 1) % 3];
  int sum = 1;
  uint32_t next = mesh->neighbours[3 * (size_t)t + k];
  while (next != PN_NONE && next != t) {
    sum += runsAlong(mesh, next, a, b);
    // On to the triangle after it around the same edge.
    uint32_t d[3], j = 0;
    pn_weldedCorners(mesh, next, d);
    while (j < 2 && !((d[j] == a && d[(j + 1) % 3] == b) || (d[j] == b && d[(j + 1) % 3] == a))) ++j;
    next = mesh->neighbours[3 * (size_t)next + j];
  }
  return sum == 0 && next != PN_NONE;
}

/* Six times the volume between the rest triangle and the point `from` (null: the first vertex of the mesh). */
static double volumeBelow(const pnMesh *mesh, uint32_t t, const double *from) {
  double p[3][3];
  for (int k = 0; k < 3; ++k) {
    const float *v = mesh->vertices + 3 * (size_t)mesh->triangles[3 * (size_t)t + (size_t)k];
    for (int i = 0; i < 3; ++i) p[k][i] = v[i] - (from ? from[i] : (double)mesh->vertices[i]);
  }
  return p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) + p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
         p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
}

/* Sums over a part: its volume, its area and those of its holes. */
typedef struct Measure {
  double volume, area; /* six times, twice */
  double rim[3];       /* the middle of the open edges */
  double holes;        /* twice the area between them and their middle */
  uint32_t openCount;
  bool isTorn; /* an edge between triangles is not balanced */
} Measure;

/* Twice the area of the triangle of three points. */
static double areaOf(const double a[3], const double b[3], const double c[3]) {
  double n[3];
  pn_normal3(a, b, c, n);
  return sqrt(pn_dot3(n, n));
}

/* Open edges are found in a first pass, and how much is between them in a second. */
static void measureRim(const pnFinderBody *body, Measure *measures) {
  const pnMesh *mesh = body->mesh;
  for (int pass = 0; pass < 2; ++pass) {
    for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
      Measure *m = &measures[body->partOf[t]];
      double c[3][3];
      for (uint32_t k = 0; k < 3; ++k)
        for (int i = 0; i < 3; ++i)
          c[k][i] = mesh->vertices[3 * (size_t)mesh->triangles[3 * (size_t)t + k] + (size_t)i];
      if (pass == 0) m->area += areaOf(c[0], c[1], c[2]);
      for (uint32_t k = 0; k < 3; ++k) {
        if (mesh->neighbours[3 * (size_t)t + k] != PN_NONE) continue;
        const double *p = c[k], *q = c[(k + 1) % 3];
        if (pass == 1) m->holes += areaOf(m->rim, p, q);
        else ++m->openCount;
        for (int i = 0; i < 3 && pass == 0; ++i) m->rim[i] += 0.5 * (p[i] + q[i]);
      }
    }
    for (uint32_t i = 0; i < body->partCount && pass == 0; ++i)
      for (int k = 0; k < 3; ++k) measures[i].rim[k] /= PN_MAX(measures[i].openCount, 1u);
  }
}

static void measureParts(pnFinderBody *body, Measure *measures) {
  const pnMesh *mesh = body->mesh;
  measureRim(body, measures);
  for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
    pnPart *part = &body->parts[body->partOf[t]];
    if (part->triangleCount++ == 0) *part = (pnPart){.vertex = mesh->triangles[3 * (size_t)t], .triangleCount = 1};
    Measure *m = &measures[body->partOf[t]];
    // The triangles around an edge are a cycle, ascending: the last of them asks for all, so that an edge is walked around once.
    for (uint32_t k = 0; k < 3; ++k)
      if (mesh->neighbours[3 * (size_t)t + k] < t) m->isTorn |= !isBalanced(mesh, t, k);
    // From the middle of the rim, so that a cap across a hole adds nothing.
    m->volume += volumeBelow(mesh, t, m->openCount > 0 ? m->rim : NULL);
  }
  for (uint32_t i = 0; i < body->partCount; ++i) {
    const Measure *m = &measures[i];
    body->parts[i].closed = !m->isTorn && m->openCount == 0 && m->volume != 0;
    // A rim that is not one loop has its middle anywhere, and its area is then large: not nearly closed.
    bool nearly = m->openCount > 0 && m->holes <= NEARLY * m->area && m->volume != 0;
    body->parts[i].solid = body->parts[i].closed || (nearly && !m->isTorn);
    body->parts[i].outward = m->volume > 0;
    body->parts[i].extent = sqrt(m->area / 2);
    body->closedCount += body->parts[i].closed;
  }
}

/* The triangles of every part, ascending, part after part. */
static void listTriangles(pnFinderBody *body) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < body->partCount; ++i) {
    body->parts[i].triangleFirst = at;
    at += body->parts[i].triangleCount;
  }
  /* where the next one goes, and when all are listed, where the part ends */
  for (uint32_t t = 0; t < body->mesh->triangleCount; ++t)
    body->partTriangles[body->parts[body->partOf[t]].triangleFirst++] = t;
  for (uint32_t i = 0; i < body->partCount; ++i) body->parts[i].triangleFirst -= body->parts[i].triangleCount;
}

/* The vertices of closed parts, each once, part after part. */
static void listVertices(pnFinderBody *body) {
  const pnMesh *mesh = body->mesh;
  uint32_t at = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (uint32_t v = 0; v < mesh->vertexCount; ++v) {
      if (mesh->ringOffsets[v] == mesh->ringOffsets[v + 1]) continue;
      // A vertex where parts touch is one of each; of the first is enough, the others have more.
      pnPart *part = &body->parts[body->partOf[mesh->rings[mesh->ringOffsets[v]]]];
      if (!part->closed) continue;
      if (pass == 1) body->partVertices[part->vertexFirst + part->vertexCount] = v;
      ++part->vertexCount;
    }
    for (uint32_t i = 0; i < body->partCount && pass == 0; ++i) {
      body->parts[i].vertexFirst = at;
      at += body->parts[i].vertexCount;
      body->parts[i].vertexCount = 0;
    }
  }
}

void pn_carryParts(pnFinderBody *body) {
  for (uint32_t i = 0; i < body->partCount; ++i) body->parts[i].carrier = body->carrier;
  if (!body->carriers) return;
  // The carrier of the first triangle, unless another has another.
  for (uint32_t t = body->mesh->triangleCount; t-- > 0;) body->parts[body->partOf[t]].carrier = body->carriers[t];
  for (uint32_t t = 0; t < body->mesh->triangleCount; ++t) {
    pnPart *part = &body->parts[body->partOf[t]];
    if (part->carrier != body->carriers[t]) part->carrier = PN_NONE;
  }
}

pnResult pn_findParts(pnFinderBody *body) {
  size_t count = body->mesh->triangleCount;
  if (count == 0) return PN_OK;
  body->partOf = pn_alloc(pn_bytes(count, sizeof(uint32_t)));
  if (!body->partOf) return pn_failMemory(count * sizeof(uint32_t));
  body->partCount = numberParts(body->mesh, body->partOf);
  size_t measureBytes = body->partCount * sizeof(Measure);
  Measure *measures = pn_allocZero(measureBytes);
  body->parts = pn_allocZero(body->partCount * sizeof(pnPart));
  body->partVertices = pn_alloc(body->mesh->vertexCount * sizeof(uint32_t));
  body->partTriangles = body->partCount > 1 ? pn_alloc(count * sizeof(uint32_t)) : NULL;
  bool good = measures && body->parts && body->partVertices && (body->partTriangles || body->partCount == 1);
  if (good) measureParts(body, measures);
  if (good && body->partTriangles) listTriangles(body);
  if (good) listVertices(body);
  if (good) pn_carryParts(body);
  pn_free(measures, measureBytes);
  return good ? PN_OK : pn_failMemory(measureBytes);
}
