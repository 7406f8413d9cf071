/* report_mesh.c: in which order a body's vertices are stored, and what predicts each of them.
 *
 * The idea is the parallelogram rule of mesh compression (Touma and Gotsman, "Triangle mesh compression", Graphics
 * Interface 1998). Walk over the triangles from neighbour to neighbour; a new triangle over the edge a b
 * brings one new vertex, and it is expected where the parallelogram with the old triangle's third vertex c puts it:
 *
 *          c                 a + b - c
 *         / \
 *        a---b               exact for every affine map of the mesh, so the *motion* of a rigid part, of a
 *         \ /                scaled part or of a bone is predicted almost to the last bit
 *          v
 *
 * Touma and Gotsman code topology along with it; we keep triangle numbers as they are (the report names them), store
 * the triangles as they come and let the walk decide only the order of the vertices ("sites").
 * Vertices that coincide in the first frame (seams of exporters, triangle soups) are one vertex to the walk; the second
 * one is predicted as a copy of the first.
 */
#include "report_parts.h"

#include <stdlib.h>
#include <string.h>

#define NO_SITE UINT32_MAX
#define NO_EDGE UINT32_MAX

static uint64_t mixBits(uint64_t x) {
  // the finaliser of MurmurHash3: any good mixer does, the tables only need spread
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  return x ^ x >> 33;
}

/* The smallest power of two that leaves a table of `count` entries at most half full. */
static size_t tableSize(size_t count) {
  size_t size = 16;
  while (size < 2 * count) size *= 2;
  return size;
}

/* A search in a table of hashes gives up after so many entries. In a table that is half full at most no search gets
 * there, unless a file was made for it; then some vertices are not welded and some edges are borders to the walk, which
 * costs bytes of the report and nothing else. */
#define MOST_TRIES 64

/* first[v] = the first vertex with the position of v. */
static pnResult weldVertices(const float *positions, uint32_t vertexCount, uint32_t *first) {
  size_t size = tableSize(vertexCount);
  uint32_t *table = malloc(size * sizeof *table);
  if (table == NULL) return pn_reportFailMemory();
  memset(table, 0xff, size * sizeof *table);
  for (uint32_t v = 0; v < vertexCount; ++v) {
    // adding zero makes -0 and 0 the same bits
    const float *own = positions + 3 * (size_t)v;
    float p[3] = {own[0] + 0.0f, own[1] + 0.0f, own[2] + 0.0f};
    uint32_t bits[3], tries = 0;
    memcpy(bits, p, sizeof bits);
    size_t at = mixBits(mixBits((uint64_t)bits[0] << 32 | bits[1]) + bits[2]) & (size - 1);
    for (; table[at] != UINT32_MAX && tries < MOST_TRIES; at = (at + 1) & (size - 1), ++tries) {
      const float *q = positions + 3 * (size_t)table[at];
      if (q[0] == p[0] && q[1] == p[1] && q[2] == p[2]) break;
    }
    if (table[at] == UINT32_MAX) table[at] = v;
    first[v] = tries < MOST_TRIES ? table[at] : v;
  }
  free(table);
  return PN_OK;
}

/* twin[3 t + k] = the other half of the edge from corner k to corner k + 1, NO_EDGE at a border. Where more than two
 * triangles meet, they are matched two by two. */
static pnResult findTwins(const uint32_t *corners, uint32_t triangleCount, uint32_t *twin) {
  size_t size = tableSize(3 * (size_t)triangleCount);
  uint32_t *table = malloc(size * sizeof *table);
  if (table == NULL) return pn_reportFailMemory();
  memset(table, 0xff, size * sizeof *table);
  for (uint32_t edge = 0; edge < 3 * triangleCount; ++edge) {
    uint32_t next = edge % 3 == 2 ? edge - 2 : edge + 1;
    uint32_t low = corners[edge] < corners[next] ? corners[edge] : corners[next];
    uint32_t high = corners[edge] ^ corners[next] ^ low;
    twin[edge] = NO_EDGE;
    if (low == high) continue;

    // the table keeps the latest half of each edge, so that an edge with very many triangles costs no more than others
    size_t at = mixBits((uint64_t)low << 32 | high) & (size - 1);
    uint32_t tries = 0;
    for (; table[at] != NO_EDGE && tries < MOST_TRIES; at = (at + 1) & (size - 1), ++tries) {
      uint32_t other = table[at], otherNext = other % 3 == 2 ? other - 2 : other + 1;
      uint32_t p = corners[other], q = corners[otherNext];
      if ((p == low && q == high) || (p == high && q == low)) break;
    }
    if (tries == MOST_TRIES) continue;
    if (table[at] != NO_EDGE && twin[table[at]] == NO_EDGE) {
      twin[edge] = table[at];
      twin[table[at]] = edge;
    } else {
      table[at] = edge;
    }
  }
  free(table);
  return PN_OK;
}

/* The walk and its scratch. */
typedef struct Walk {
  pnBodyData *body;
  uint32_t *first;   /* weld of each vertex */
  uint32_t *site;    /* site of each vertex */
  uint32_t *lead;    /* site of each welded vertex: its first stored copy */
  uint32_t *corners; /* welded corners */
  uint32_t *twin;
  uint32_t *queue; /* half edges whose triangle is done and whose twin may not be */
  uint8_t *done;   /* of each triangle */
} Walk;

/* Gives vertex v the next site, unless it has one. */
static void placeVertex(Walk *walk, uint32_t v, pnPredictor predictor) {
  if (walk->site[v] != NO_SITE) return;
  pnBodyData *body = walk->body;
  uint32_t site = body->siteCount++, w = walk->first[v];
  if (walk->lead[w] == NO_SITE) walk->lead[w] = site;
  else predictor = (pnPredictor){walk->lead[w] + 1, 0, 0};
  walk->site[v] = site;
  body->siteVertex[site] = v;
  body->predictors[site] = predictor;
}

/* Places the corners of a triangle that was reached over `entry` (a half edge of a finished triangle). */
static void placeNext(Walk *walk, uint32_t entry) {
  uint32_t edge = walk->twin[entry], t = edge / 3;
  const uint32_t *corners = walk->corners;
  uint32_t entryNext = entry % 3 == 2 ? entry - 2 : entry + 1, entryLast = entry % 3 == 0 ? entry + 2 : entry - 1;
  pnPredictor across = {walk->lead[corners[entry]] + 1, walk->lead[corners[entryNext]] + 1,
                        walk->lead[corners[entryLast]] + 1};
  for (uint32_t k = 0; k < 3; ++k) placeVertex(walk, walk->body->triangles[3 * t + k], across);
}

/* Places the corners of a triangle that starts a new part: each is expected where the one before it is. */
static void placeStart(Walk *walk, uint32_t t) {
  for (uint32_t k = 0; k < 3; ++k)
    placeVertex(walk, walk->body->triangles[3 * t + k], (pnPredictor){walk->body->siteCount, 0, 0});
}

static void walkTriangles(Walk *walk) {
  uint32_t head = 0, tail = 0;
  for (uint32_t start = 0; start < walk->body->triangleCount; ++start) {
    if (walk->done[start]) continue;
    placeStart(walk, start);
    walk->done[start] = 1;
    for (uint32_t k = 0; k < 3; ++k) walk->queue[tail++] = 3 * start + k;

    // breadth first: each triangle enters once, so the queue holds at most three edges a triangle
    while (head < tail) {
      uint32_t entry = walk->queue[head++], edge = walk->twin[entry];
      if (edge == NO_EDGE || walk->done[edge / 3]) continue;
      placeNext(walk, entry);
      walk->done[edge / 3] = 1;
      for (uint32_t k = 0; k < 3; ++k) walk->queue[tail++] = edge / 3 * 3 + k;
    }
  }
}

pnResult pn_orderBody(pnBodyData *body, const float *positions) {
  pnResult result = PN_ERROR_MEMORY;
  size_t vertexCount = body->vertexCount, edgeCount = 3 * (size_t)body->triangleCount;
  Walk walk = {.body = body};

  // one byte more than asked, so that an empty body is no special case
  walk.first = malloc(vertexCount * sizeof(uint32_t) + 1);
  walk.site = malloc(vertexCount * sizeof(uint32_t) + 1);
  walk.lead = malloc(vertexCount * sizeof(uint32_t) + 1);
  walk.corners = malloc(edgeCount * sizeof(uint32_t) + 1);
  walk.twin = malloc(edgeCount * sizeof(uint32_t) + 1);
  walk.queue = malloc(edgeCount * sizeof(uint32_t) + 1);
  walk.done = calloc(body->triangleCount + (size_t)1, 1);
  body->siteVertex = malloc(vertexCount * sizeof(uint32_t) + 1);
  body->predictors = malloc(vertexCount * sizeof(pnPredictor) + 1);
  if (walk.first == NULL || walk.site == NULL || walk.lead == NULL || walk.corners == NULL || walk.twin == NULL ||
      walk.queue == NULL || walk.done == NULL || body->siteVertex == NULL || body->predictors == NULL) {
    result = pn_reportFailMemory();
    goto done;
  }
  memset(walk.site, 0xff, vertexCount * sizeof(uint32_t));
  memset(walk.lead, 0xff, vertexCount * sizeof(uint32_t));

  // weld, connect, walk
  result = weldVertices(positions, body->vertexCount, walk.first);
  if (result != PN_OK) goto done;
  for (size_t i = 0; i < edgeCount; ++i) walk.corners[i] = walk.first[body->triangles[i]];
  result = findTwins(walk.corners, body->triangleCount, walk.twin);
  if (result != PN_OK) goto done;
  body->siteCount = 0;
  walkTriangles(&walk);

  // from here on a triangle's corners are sites
  for (size_t i = 0; i < edgeCount; ++i) body->triangles[i] = walk.site[body->triangles[i]];

done:
  free(walk.first);
  free(walk.site);
  free(walk.lead);
  free(walk.corners);
  free(walk.twin);
  free(walk.queue);
  free(walk.done);
  return result;
}

pnResult pn_packTopology(const pnBodyData *body, pnBytes *bytes) {
  // predictors as distances: twice the distance to a, plus one when b and c follow
  for (uint32_t i = 0; i < body->siteCount; ++i) {
    const pnPredictor *p = &body->predictors[i];
    uint64_t own = (uint64_t)i + 1;
    pn_bytesVarint(bytes, (own - p->a) << 1 | (p->b != 0));
    if (p->b != 0) {
      pn_bytesVarint(bytes, own - p->b);
      pn_bytesVarint(bytes, own - p->c);
    }
  }

  // triangles as steps from corner to corner
  int64_t before = 0;
  for (size_t i = 0; i < 3 * (size_t)body->triangleCount; ++i) {
    pn_bytesSigned(bytes, (int64_t)body->triangles[i] - before);
    before = body->triangles[i];
  }

  // groups, 0 for none
  if (body->vertexGroups != NULL) {
    for (uint32_t i = 0; i < body->siteCount; ++i) {
      uint16_t group = body->vertexGroups[body->siteVertex[i]];
      pn_bytesVarint(bytes, group == PN_REPORT_NO_GROUP ? 0 : (uint64_t)group + 1);
    }
  }
  return bytes->failed ? pn_reportFailMemory() : PN_OK;
}
