/* layout_near.c: neighbours, the triangles of one body that share a welded vertex.
 *
 * They are nearly all triangles whose boxes overlap, and there are about six for each triangle. They are listed once, vertex by
 * vertex, and left out where boxes are compared. Where vertices have so many triangles that the list would be long (a fan of a
 * thousand has half a million pairs) there is none, and they come as candidates like any others.
 *
 * With the pairs of a vertex stands its ring, for the proof that none of them meet (kernel/fans.cl): the other corners of
 * its triangles in order, when these close around it. */
#include "device/world.h"

#include "collide/fan.h"
#include "collide/filter.h"

/* The list may have so many pairs a triangle; a regular mesh has 6, a grid of quads cut in two too. */
#define MOST_NEAR 32u

/* A vertex with more triangles than this has no proof. */
#define MOST_RING 32u

/* As kernel/fans.cl has it. */
typedef struct Fan {
  uint32_t vertex, ring, pair, unused;
} Fan;

typedef struct Near {
  const uint32_t *triangles, *slots; /* of the layout: four a slot; one per triangle of the world */
  PN_ARRAY(pnPair) pairs;
  PN_ARRAY(Fan) fans;
  PN_ARRAY(uint32_t) rings;
  PN_ARRAY(uint32_t) seen; /* of the body's vertices: not 0 when it was listed */
} Near;

/* Do vertices have so few triangles that all pairs around them can be listed? */
static bool isListable(const pnDeviceWorld *world) {
  uint64_t pairs = 0, triangles = 0;
  for (size_t b = 0; b < world->bodies.count; ++b) {
    const pnMesh *mesh = world->bodies.data[b].pose->mesh;
    if (!world->bodies.data[b].self) continue;
    triangles += mesh->triangleCount;
    for (uint32_t v = 0; v < mesh->vertexCount; ++v) {
      const uint64_t n = mesh->ringOffsets[v + 1] - mesh->ringOffsets[v];
      pairs += n * n / 2;
    }
  }
  return pairs <= triangles * MOST_NEAR + 4096;
}

/* The edge of a triangle that is opposite to v, in its direction. False: v is not exactly one of its corners, or a corner is
 * welded onto another vertex and may have gone elsewhere. */
static bool oppositeEdge(const pnMesh *mesh, uint32_t t, uint32_t v, uint32_t edge[2]) {
  const uint32_t *c = mesh->triangles + 3 * (size_t)t;
  for (int k = 0; k < 3; ++k) {
    if (mesh->weld[c[k]] != c[k]) return false;
    if (c[k] == v) edge[0] = c[(k + 1) % 3], edge[1] = c[(k + 2) % 3];
  }
  return (c[0] == v) + (c[1] == v) + (c[2] == v) == 1 && edge[0] != edge[1];
}

/* The ring of v into out when its triangles close around it, each corner once; 0: they do not. */
static uint32_t findRing(const pnMesh *mesh, uint32_t v, uint32_t out[MOST_RING]) {
  const uint32_t first = mesh->ringOffsets[v], n = mesh->ringOffsets[v + 1] - first;
  uint32_t edges[MOST_RING][2];
  if (n < 3 || n > MOST_RING) return 0;
  for (uint32_t i = 0; i < n; ++i)
    if (!oppositeEdge(mesh, mesh->rings[first + i], v, edges[i])) return 0;
  out[0] = edges[0][0];
  for (uint32_t i = 0; i < n; ++i) {
    // the one edge that goes on from here; were there two, the ring would not come back to its start after n of them
    uint32_t next = PN_NONE;
    for (uint32_t k = 0; k < n; ++k)
      if (edges[k][0] == out[i]) next = edges[k][1];
    if (next == PN_NONE || (next == out[0]) != (i + 1 == n)) return 0;
    if (i + 1 < n) out[i + 1] = next;
  }
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t k = 0; k < i; ++k)
      if (out[i] == out[k]) return 0;
  return n;
}

/* One vertex: its pairs and its ring. False: out of memory. */
static bool listVertex(Near *near, const pnDeviceBody *body, uint32_t v) {
  const pnMesh *mesh = body->pose->mesh;
  const uint32_t first = mesh->ringOffsets[v], end = mesh->ringOffsets[v + 1];
  const Fan fan = {body->firstVertex + v, (uint32_t)near->rings.count, (uint32_t)near->pairs.count, 0};
  for (uint32_t i = first; i < end; ++i)
    for (uint32_t k = first; k < i; ++k) {
      const uint32_t s = mesh->rings[i], t = mesh->rings[k];
      const uint32_t a = near->slots[body->firstTriangle + s], b = near->slots[body->firstTriangle + t];
      if (a == b || pn_smallestShared(mesh, s, t) != v) continue;
      if (!pn_arrayPush(&near->pairs, ((pnPair){PN_MIN(a, b), PN_MAX(a, b)}))) return false;
    }
  if (near->pairs.count == fan.pair) return true;
  uint32_t ring[MOST_RING];
  const uint32_t n = findRing(mesh, v, ring);
  for (uint32_t i = 0; i < n; ++i)
    if (!pn_arrayPush(&near->rings, body->firstVertex + ring[i])) return false;
  return pn_arrayPush(&near->fans, fan);
}

/* In the order of slots, so that what is read together lies together. */
static bool listBody(Near *near, const pnDeviceBody *body) {
  const pnMesh *mesh = body->pose->mesh;
  near->seen.count = 0;
  if (!pn_arrayReserve(&near->seen, mesh->vertexCount)) return false;
  for (uint32_t v = 0; v < mesh->vertexCount; ++v) near->seen.data[v] = 0;
  for (uint32_t slot = body->firstSlot; slot < body->firstSlot + mesh->triangleCount; ++slot) {
    uint32_t corner[3];
    pn_weldedCorners(mesh, near->triangles[4 * (size_t)slot + 3] - body->firstTriangle, corner);
    for (int k = 0; k < 3; ++k)
      if (near->seen.data[corner[k]]++ == 0 && !listVertex(near, body, corner[k])) return false;
  }
  return true;
}

static bool listAll(const pnDeviceWorld *world, Near *near) {
  for (size_t b = 0; b < world->bodies.count && world->nearOnList; ++b) {
    // those who leave all neighbours out need no list of them
    const pnDeviceBody *body = &world->bodies.data[b];
    if (body->self && pn_seeksNeighbours(&body->filter, body->pose->mesh) && !listBody(near, body)) return false;
  }
  const Fan end = {0, (uint32_t)near->rings.count, (uint32_t)near->pairs.count, 0};
  return pn_arrayPush(&near->fans, end);
}

pnResult pn_layOutNear(pnDeviceWorld *world, const uint32_t *triangles, const uint32_t *slots) {
  Near near = {.triangles = triangles, .slots = slots};
  world->nearOnList = isListable(world);
  pnResult result = listAll(world, &near) ? PN_OK : pn_failMemory(near.pairs.count * sizeof(pnPair));
  world->fanCount = result == PN_OK ? (uint32_t)near.fans.count - 1 : 0;
  if (result == PN_OK)
    result = pn_fillBuffer(world, PN_BUFFER_NEAR, near.pairs.data, near.pairs.count * sizeof(pnPair));
  if (result == PN_OK) result = pn_fillBuffer(world, PN_BUFFER_FANS, near.fans.data, near.fans.count * sizeof(Fan));
  if (result == PN_OK) result = pn_fillBuffer(world, PN_BUFFER_RINGS, near.rings.data, near.rings.count * 4);
  pn_arrayFree(&near.pairs);
  pn_arrayFree(&near.fans);
  pn_arrayFree(&near.rings);
  pn_arrayFree(&near.seen);
  return result;
}
