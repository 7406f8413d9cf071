/* mesh.c: a mesh is made once and never changes. Checks, weld, rings, neighbours, getters.
 *
 * Everything that asks "are these two triangles neighbours?" goes by *welded* vertices: weld[v] is the first vertex at
 * the same place, so that seams and triangle soups (STL) are connected without renumbering anything.
 *
 * A triangle with a repeated welded corner has no edges: it is a segment or a point, and the triangles on its two sides
 * are neighbours of each other, as if it were not there. It still belongs to the rings of its vertices. */
#include "mesh/mesh.h"

#include "base/fenv.h"
#include "base/memory.h"
#include "base/sort.h"
#include "geom/box.h"
#include "geom/simd.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- numbers */

/* Numbers given for a frame were written by somebody else and come from the outer caches: half a page is asked for in advance, and
 * a large array is read at four places in turn, a quarter of it apart. What fetches ahead in a core follows each of them by
 * itself, and together they come in two thirds of the time of one. */
#define AHEAD 512
#define STREAMS 4
#define LARGE 4096
/* Three registers of four numbers have every coordinate in the same lanes again, and four times that are whole lines. Of fewer than so
 * many numbers the lanes take longer to put together than they save. */
#define TURN 12
#define TURNS (4 * TURN)
#define WORTH_TURNS (4 * TURNS)

typedef struct Turns {
  pnF4 lo[3], hi[3], nan;
} Turns;

/* Each of the six chains waits for itself only. A NaN stays in nan, whatever min and max make of it. */
PN_INLINE void takeTurns(Turns *t, const float *from, float *to) {
  for (int k = 0; k < TURNS; k += 16) __builtin_prefetch(from + AHEAD + k);
  for (int i = 0; i < TURNS; i += TURN) {
    for (int k = 0; k < 3; ++k) {
      pnF4 p = pn_f4Load(from + i + 4 * k);
      if (to) pn_f4Store(to + i + 4 * k, p);
      t->nan = pn_f4TrackNan(t->nan, p);
      t->lo[k] = pn_f4Min(t->lo[k], p);
      t->hi[k] = pn_f4Max(t->hi[k], p);
    }
  }
}

/* A box of which three lanes count; what has a NaN stays one. */
typedef struct Extent {
  pnF4 lo, hi, nan;
} Extent;

PN_INLINE void growExtent(Extent *s, pnF4 p) {
  s->nan = pn_f4TrackNan(s->nan, p);
  s->lo = pn_f4Min(s->lo, p);
  s->hi = pn_f4Max(s->hi, p);
}

static void addTurns(const Turns *t, Extent *s) {
  float lo[TURN + 4] = {0}, hi[TURN + 4] = {0};
  for (int k = 0; k < 3; ++k) {
    pn_f4Store(lo + 4 * k, t->lo[k]);
    pn_f4Store(hi + 4 * k, t->hi[k]);
  }
  for (int i = 0; i < TURN; i += 3) {
    growExtent(s, pn_f4Load(lo + i));
    growExtent(s, pn_f4Load(hi + i));
  }
  s->nan = pn_f4Or(s->nan, t->nan);
}

/* All but a few of many numbers; how many. */
PN_INLINE size_t takeMany(const float *from, size_t count, float *to, Extent *s) {
  Turns t = {.nan = pn_f4Set1(0)};
  for (int k = 0; k < 3; ++k) {
    t.lo[k] = pn_f4Set1(FLT_MAX);
    t.hi[k] = pn_f4Set1(-FLT_MAX);
  }
  size_t stream = count >= LARGE ? count / (STREAMS * TURNS) * TURNS : 0, i = 0;
  for (; i < stream; i += TURNS)
    for (size_t at = i; at < STREAMS * stream; at += stream) takeTurns(&t, from + at, to ? to + at : NULL);
  for (i = STREAMS * stream; count - i >= TURNS; i += TURNS) takeTurns(&t, from + i, to ? to + i : NULL);
  addTurns(&t, s);
  return i;
}

/* Points one at a time; the fourth lane is a number of the next, and of the last the third once more. */
PN_INLINE void takePoints(const float *from, size_t count, float *to, Extent *s) {
  size_t i = 0;
  Extent other = *s;
  for (; i + 7 <= count; i += 6) {
    pnF4 p = pn_f4Load(from + i), q = pn_f4Load(from + i + 3);
    growExtent(s, p);
    growExtent(&other, q);
    if (to) pn_f4Store(to + i, p);
    if (to) pn_f4Store(to + i + 3, q);
  }
  if (to) memcpy(to + i, from + i, (count - i) * sizeof *to);
  for (; i < count; i += 3) {
    float last[4];
    for (size_t k = 0; k < 4; ++k) last[k] = from[PN_MIN(i + PN_MIN(k, 2), count - 1)];
    growExtent(s, pn_f4Load(last));
  }
  s->lo = pn_f4Min(s->lo, other.lo);
  s->hi = pn_f4Max(s->hi, other.hi);
  s->nan = pn_f4Or(s->nan, other.nan);
}

PN_INLINE pnBox lookThrough(const float *from, size_t count, float *to) {
  Extent s = {pn_f4Set1(FLT_MAX), pn_f4Set1(-FLT_MAX), pn_f4Set1(0)};
  size_t i = count >= WORTH_TURNS ? takeMany(from, count, to, &s) : 0;
  if (i < count) takePoints(from + i, count - i, to ? to + i : NULL, &s);
  float lo[4], hi[4], nan[4];
  pn_f4Store(lo, s.lo);
  pn_f4Store(hi, s.hi);
  pn_f4Store(nan, s.nan);
  bool any = nan[0] != nan[0] || nan[1] != nan[1] || nan[2] != nan[2] || nan[3] != nan[3];
  return (pnBox){{any ? NAN : lo[0], lo[1], lo[2]}, {hi[0], hi[1], hi[2]}};
}

pnBox pn_boxOfNumbers(const float *numbers, size_t count) {
  return lookThrough(numbers, count, NULL);
}

pnBox pn_copyNumbers(float *to, const float *from, size_t count) {
  return lookThrough(from, count, to);
}

/* The larger one; what is not a number stays, whatever comes after it. */
static float greater(float a, float b) {
  return a > b || a != a ? a : b;
}

float pn_boxReach(const pnBox *box) {
  float most = 0;
  for (int k = 0; k < 3; ++k) most = greater(greater(most, -(&box->min.x)[k]), (&box->max.x)[k]);
  return most;
}

float pn_maxAbs(const float *numbers, size_t count) {
  pnBox box = pn_boxOfNumbers(numbers, count);
  return pn_boxReach(&box);
}

bool pn_allFinite(const float *numbers, size_t count, size_t *outFirstBad) {
  if (pn_maxAbs(numbers, count) <= FLT_MAX) return true;
  size_t i = 0;
  while (isfinite(numbers[i])) ++i;
  *outFirstBad = i;
  return false;
}

/* ---------------------------------------------------------------- weld */

/* The bits of a coordinate with -0 made +0, so that equal numbers have equal bits. */
static uint32_t canonicalBits(float x) {
  uint32_t bits = pn_bitsOfFloat(x);
  return bits == 0x80000000u ? 0 : bits;
}

static uint64_t hashPoint(const float *p) {
  // two rounds of multiply and fold: nearby grid points differ in few, high bits and must not share a bucket
  uint64_t h = ((uint64_t)canonicalBits(p[0]) << 32 | canonicalBits(p[1])) * 0x9e3779b97f4a7c15u;
  h = (h ^ h >> 32 ^ canonicalBits(p[2])) * 0xd6e8feb86659fd93u;
  h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
  return h ^ h >> 32;
}

static bool isSamePlace(const pnMesh *mesh, uint32_t v, uint32_t w) {
  const float *p = mesh->vertices + 3 * (size_t)v, *q = mesh->vertices + 3 * (size_t)w;
  return p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
}

/* Vertices that are tried in vain, on average, before the table is given up. In a table that is half full at most it is
 * one half with any good hash, so 8 are never seen unless the points were chosen for it. */
#define MOST_TRIES 8

/* Fills weld through an open hash table of vertex numbers, at most half full; entries begin as PN_NONE. False: the
 * points collide too often. */
static bool weldByTable(pnMesh *mesh, uint32_t *table, size_t tableSize) {
  size_t tries = 0, mostTries = MOST_TRIES * tableSize;
  for (uint32_t v = 0; v < mesh->vertexCount; ++v) {
    size_t at = (size_t)hashPoint(mesh->vertices + 3 * (size_t)v) & (tableSize - 1);
    for (; table[at] != PN_NONE && !isSamePlace(mesh, v, table[at]); at = (at + 1) & (tableSize - 1))
      if (++tries > mostTries) return false;
    if (table[at] == PN_NONE) table[at] = v;
    mesh->weld[v] = table[at];
  }
  return true;
}

/* Fills weld by sorting: by z, then y, then x, each time stably, vertices of one place come to stand together with the
 * first of them in front. A few times slower than the table, but so for every input. */
static pnResult weldBySorting(pnMesh *mesh) {
  const size_t count = mesh->vertexCount, bytes = pn_bytes(2 * count, sizeof(pnKeyValue));
  pnKeyValue *order = pn_alloc(bytes);
  if (!order) return pn_failMemory(bytes);
  for (uint32_t v = 0; v < count; ++v) order[v].value = v;
  for (size_t axis = 3; axis-- > 0;) {
    for (size_t i = 0; i < count; ++i) order[i].key = canonicalBits(mesh->vertices[3 * (size_t)order[i].value + axis]);
    pn_sortKeyValue(order, order + count, count);
  }
  for (size_t i = 0; i < count; ++i) {
    uint32_t v = order[i].value, before = order[i > 0 ? i - 1 : i].value;
    mesh->weld[v] = v != before && isSamePlace(mesh, v, before) ? mesh->weld[before] : v;
  }
  pn_free(order, bytes);
  return PN_OK;
}

/* Fills weld by equal rest positions: the first vertex at a place represents all of them. A file made so that its points
 * collide in the table costs a sort more, not each vertex against each. */
static pnResult weldByPosition(pnMesh *mesh) {
  size_t tableSize = 16;
  while (tableSize < (size_t)mesh->vertexCount * 2) tableSize *= 2;
  size_t bytes = pn_bytes(tableSize, sizeof(uint32_t));
  uint32_t *table = pn_alloc(bytes);
  if (!table) return pn_failMemory(bytes);
  memset(table, 0xff, bytes);
  bool done = weldByTable(mesh, table, tableSize);
  pn_free(table, bytes);
  return done ? PN_OK : weldBySorting(mesh);
}

static pnResult fillWeld(pnMesh *mesh, const pnMeshDef *def) {
  // the caller's own: representatives come first and represent themselves
  if (def->vertexWeld) {
    for (uint32_t v = 0; v < mesh->vertexCount; ++v) {
      uint32_t w = def->vertexWeld[v];
      if (w > v || def->vertexWeld[w] != w)
        return pn_fail(
            PN_ERROR_INDEX,
            "mesh '%s': vertexWeld[%u] is %u; it must be the vertex itself or an earlier one that stands for "
            "itself",
            mesh->name, v, w);
      mesh->weld[v] = w;
    }
    return PN_OK;
  }
  if (def->weld) return weldByPosition(mesh);
  for (uint32_t v = 0; v < mesh->vertexCount; ++v) mesh->weld[v] = v;
  return PN_OK;
}

static bool isWelded(const pnMesh *mesh) {
  for (uint32_t v = 0; v < mesh->vertexCount; ++v)
    if (mesh->weld[v] != v) return true;
  return false;
}

/* ---------------------------------------------------------------- rings and neighbours */

/* Counting sort of triangles by vertex; a triangle with a repeated corner is once in that ring. */
static void fillRings(pnMesh *mesh) {
  uint32_t *offsets = mesh->ringOffsets;
  uint32_t c[3];

  // how many triangles each vertex has, one place later
  memset(offsets, 0, ((size_t)mesh->vertexCount + 1) * sizeof *offsets);
  for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
    pn_weldedCorners(mesh, t, c);
    ++offsets[c[0] + 1];
    if (c[1] != c[0]) ++offsets[c[1] + 1];
    if (c[2] != c[0] && c[2] != c[1]) ++offsets[c[2] + 1];
  }
  for (uint32_t v = 0; v < mesh->vertexCount; ++v) offsets[v + 1] += offsets[v];
  mesh->ringCount = offsets[mesh->vertexCount];

  // from the last triangle to the first, filling each ring from its end: rings come out ascending, and offsets[v + 1]
  // moves down to where ring v starts
  for (uint32_t t = mesh->triangleCount; t-- > 0;) {
    pn_weldedCorners(mesh, t, c);
    mesh->rings[--offsets[c[0] + 1]] = t;
    if (c[1] != c[0]) mesh->rings[--offsets[c[1] + 1]] = t;
    if (c[2] != c[0] && c[2] != c[1]) mesh->rings[--offsets[c[2] + 1]] = t;
  }

  // so the starts are one place late: move them back
  memmove(offsets, offsets + 1, (size_t)mesh->vertexCount * sizeof *offsets);
  offsets[mesh->vertexCount] = mesh->ringCount;
}

/* The welded ends of edge e = 3t+k, in ascending order. */
typedef struct Ends {
  uint32_t smaller, larger;
} Ends;

static Ends endsOf(const pnMesh *mesh, uint32_t e) {
  uint32_t a = mesh->weld[mesh->triangles[e]];
  uint32_t b = mesh->weld[mesh->triangles[e % 3 == 2 ? e - 2 : e + 1]];
  return a < b ? (Ends){a, b} : (Ends){b, a};
}

/* Edges 3t+k of triangles that have three corners, under their smaller ends: those of vertex v, with their larger ends, are
 * edges[first[v] ... first[v+1]). */
typedef struct EdgeLists {
  uint32_t *first;
  pnKeyValue *edges, *scratch;
} EdgeLists;

/* By counting: among the edges of a vertex the smaller triangle comes first. */
static void listEdges(const pnMesh *mesh, EdgeLists *lists) {
  uint32_t c[3], *at = lists->first + 1;
  memset(lists->first, 0, ((size_t)mesh->vertexCount + 2) * sizeof *at);
  for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
    pn_weldedCorners(mesh, t, c);
    if (pn_hasRepeatedCorner(c)) continue;
    for (uint32_t e = 3 * t; e < 3 * t + 3; ++e) ++at[endsOf(mesh, e).smaller + 1];
  }
  for (uint32_t v = 0; v < mesh->vertexCount; ++v) at[v + 1] += at[v];
  /* where those of v begin, and when all are listed, where they end: one place further on, which is where `first` has it */
  for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
    pn_weldedCorners(mesh, t, c);
    if (pn_hasRepeatedCorner(c)) continue;
    for (uint32_t e = 3 * t; e < 3 * t + 3; ++e) {
      Ends ends = endsOf(mesh, e);
      lists->edges[at[ends.smaller]++] = (pnKeyValue){ends.larger, e};
    }
  }
}

/* Links the edges of a vertex that are the same: each to the next and the last to the first, unless it is alone. */
static void linkEdges(pnMesh *mesh, const pnKeyValue *edges, uint32_t count) {
  for (uint32_t begin = 0, end; begin < count; begin = end) {
    for (end = begin + 1; end < count && edges[end].key == edges[begin].key;) ++end;
    if (end - begin == 1) continue;
    for (uint32_t i = begin; i < end; ++i)
      mesh->neighbours[edges[i].value] = edges[i + 1 < end ? i + 1 : begin].value / 3;
    /* of two, one leaves the vertex and the other comes in */
    uint32_t ends[2] = {mesh->weld[mesh->triangles[edges[begin].value]],
                        mesh->weld[mesh->triangles[edges[begin + 1].value]]};
    mesh->crowded = mesh->crowded || end - begin > 2 || ends[0] == ends[1];
  }
}

/* Finds the triangles at the same edge by listing edges under their smaller ends and sorting each list by their larger ones.
 * No walk around rings: a vertex with a million triangles costs what any other does. */
static pnResult fillNeighbours(pnMesh *mesh) {
  size_t halfEdgeCount = 3 * (size_t)mesh->triangleCount;
  if (halfEdgeCount == 0) return PN_OK;
  size_t bytes = pn_bytes(2 * halfEdgeCount, sizeof(pnKeyValue));
  size_t firstBytes = pn_bytes((size_t)mesh->vertexCount + 2, sizeof(uint32_t));
  EdgeLists lists = {pn_alloc(firstBytes), pn_alloc(bytes), NULL};
  if (lists.first && lists.edges) {
    lists.scratch = lists.edges + halfEdgeCount;
    listEdges(mesh, &lists);
    memset(mesh->neighbours, 0xff, halfEdgeCount * sizeof *mesh->neighbours);
    for (uint32_t v = 0; v < mesh->vertexCount; ++v) {
      pnKeyValue *edges = lists.edges + lists.first[v];
      uint32_t count = lists.first[v + 1] - lists.first[v];
      pn_sortKeyValue(edges, lists.scratch, count);
      linkEdges(mesh, edges, count);
    }
  }
  pn_free(lists.first, firstBytes);
  pn_free(lists.edges, bytes);
  return lists.scratch ? PN_OK : pn_failMemory(bytes);
}

/* ---------------------------------------------------------------- life of a mesh */

pnMeshDef pnDefaultMeshDef(void) {
  return (pnMeshDef){.weld = true, .name = "mesh", .cookie = PN_COOKIE};
}

/* Everything that can be wrong with a definition, except its weld. */
static pnResult checkDef(const pnMeshDef *def, const char *name) {
  // counts that the 32-bit numbers of vertices and half-edges can name, with PN_NONE to spare
  if (def->vertexCount == UINT32_MAX || def->triangleCount > (UINT32_MAX - 1) / 3)
    return pn_fail(PN_ERROR_COUNT, "mesh '%s': %u vertices and %u triangles are too many; at most %u and %u", name,
                   def->vertexCount, def->triangleCount, UINT32_MAX - 1, (UINT32_MAX - 1) / 3);
  if ((!def->vertices && def->vertexCount) || (!def->triangles && def->triangleCount))
    return pn_fail(PN_ERROR_ARGUMENT, "mesh '%s': the array of %s is null", name,
                   !def->vertices && def->vertexCount ? "vertices" : "triangles");

  size_t bad;
  if (!pn_allFinite(def->vertices, 3 * (size_t)def->vertexCount, &bad))
    return pn_fail(PN_ERROR_NUMBER, "mesh '%s': coordinate %c of vertex %zu is NaN or infinite", name, "xyz"[bad % 3],
                   bad / 3);
  for (size_t i = 0; i < 3 * (size_t)def->triangleCount; ++i)
    if (def->triangles[i] >= def->vertexCount)
      return pn_fail(PN_ERROR_INDEX, "mesh '%s': triangle %zu names vertex %u, there are %u vertices", name, i / 3,
                     def->triangles[i], def->vertexCount);
  return PN_OK;
}

/* An array of a mesh. Never empty, so that null always means out of memory. */
static size_t arrayBytes(size_t count, size_t size) {
  return pn_bytes(PN_MAX(count, 1), size);
}

typedef struct MeshBytes {
  size_t vertices, triangles, weld, neighbours, ringOffsets, rings, name;
} MeshBytes;

static MeshBytes bytesOf(size_t vertexCount, size_t triangleCount, const char *name) {
  return (MeshBytes){
      .vertices = arrayBytes(3 * vertexCount + 1, sizeof(float)),
      .triangles = arrayBytes(3 * triangleCount, sizeof(uint32_t)),
      .weld = arrayBytes(vertexCount, sizeof(uint32_t)),
      .neighbours = arrayBytes(3 * triangleCount, sizeof(uint32_t)),
      .ringOffsets = arrayBytes(vertexCount + 1, sizeof(uint32_t)),
      .rings = arrayBytes(3 * triangleCount, sizeof(uint32_t)),
      .name = name ? strlen(name) + 1 : 0,
  };
}

/* Allocates everything and copies what the definition gives. */
static pnResult copyDef(pnMesh *mesh, const pnMeshDef *def, const char *name) {
  MeshBytes bytes = bytesOf(def->vertexCount, def->triangleCount, name);
  mesh->vertexCount = def->vertexCount;
  mesh->triangleCount = def->triangleCount;
  mesh->name = pn_alloc(bytes.name);
  if (!mesh->name) return pn_failMemory(bytes.name);
  memcpy(mesh->name, name, bytes.name);

  mesh->vertices = pn_allocZero(bytes.vertices);
  mesh->triangles = pn_alloc(bytes.triangles);
  mesh->weld = pn_alloc(bytes.weld);
  mesh->neighbours = pn_alloc(bytes.neighbours);
  mesh->ringOffsets = pn_alloc(bytes.ringOffsets);
  mesh->rings = pn_alloc(bytes.rings);
  if (!mesh->vertices || !mesh->triangles || !mesh->weld || !mesh->neighbours || !mesh->ringOffsets || !mesh->rings)
    return pn_fail(PN_ERROR_MEMORY, "mesh '%s': out of memory for %u vertices and %u triangles", name, def->vertexCount,
                   def->triangleCount);
  if (def->vertexCount) memcpy(mesh->vertices, def->vertices, 3 * (size_t)def->vertexCount * sizeof(float));
  if (def->triangleCount) memcpy(mesh->triangles, def->triangles, 3 * (size_t)def->triangleCount * sizeof(uint32_t));
  return PN_OK;
}

static void fillBox(pnMesh *mesh) {
  mesh->maxAbs = pn_maxAbs(mesh->vertices, 3 * (size_t)mesh->vertexCount);
  float min[3] = {FLT_MAX, FLT_MAX, FLT_MAX}, max[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX};
  for (size_t i = 0; i < 3 * (size_t)mesh->triangleCount; ++i) {
    const float *p = mesh->vertices + 3 * (size_t)mesh->triangles[i];
    for (int k = 0; k < 3; ++k) {
      min[k] = PN_MIN(min[k], p[k]);
      max[k] = PN_MAX(max[k], p[k]);
    }
  }
  mesh->box = (pnBox){{min[0], min[1], min[2]}, {max[0], max[1], max[2]}};
}

pnResult pnCreateMesh(const pnMeshDef *def, pnMesh **outMesh) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(def && outMesh);
  *outMesh = NULL;
  const char *name = def->name ? def->name : "mesh";
  pnResult result = pn_checkCookie(def->cookie, "pnMeshDef");
  if (result == PN_OK) result = checkDef(def, name);
  if (result != PN_OK) return result;

  pnMesh *mesh = pn_allocZero(sizeof *mesh);
  if (!mesh) return pn_failMemory(sizeof *mesh);
  result = copyDef(mesh, def, name);
  if (result == PN_OK) result = fillWeld(mesh, def);
  mesh->welded = result == PN_OK && isWelded(mesh);
  if (result == PN_OK) {
    fillRings(mesh);
    fillBox(mesh);
    result = fillNeighbours(mesh);
  }
  if (result == PN_OK) *outMesh = mesh;
  else pnDestroyMesh(mesh);
  return result;
}

void pnDestroyMesh(pnMesh *mesh) {
  if (!mesh) return;
  MeshBytes bytes = bytesOf(mesh->vertexCount, mesh->triangleCount, mesh->name);
  pn_free(mesh->vertices, bytes.vertices);
  pn_free(mesh->triangles, bytes.triangles);
  pn_free(mesh->weld, bytes.weld);
  pn_free(mesh->neighbours, bytes.neighbours);
  pn_free(mesh->ringOffsets, bytes.ringOffsets);
  pn_free(mesh->rings, bytes.rings);
  pn_free(mesh->name, bytes.name);
  pn_free(mesh, sizeof *mesh);
}

/* ---------------------------------------------------------------- getters */

uint32_t pnMesh_GetVertexCount(const pnMesh *mesh) {
  return mesh->vertexCount;
}

uint32_t pnMesh_GetTriangleCount(const pnMesh *mesh) {
  return mesh->triangleCount;
}

const uint32_t *pnMesh_GetTriangles(const pnMesh *mesh) {
  return mesh->triangles;
}

const float *pnMesh_GetVertices(const pnMesh *mesh) {
  return mesh->vertices;
}

const uint32_t *pnMesh_GetWeld(const pnMesh *mesh) {
  return mesh->weld;
}

const char *pnMesh_GetName(const pnMesh *mesh) {
  return mesh->name;
}

const uint32_t *pnMesh_GetNeighbours(const pnMesh *mesh) {
  return mesh->neighbours;
}

const uint32_t *pnMesh_GetRingOffsets(const pnMesh *mesh) {
  return mesh->ringOffsets;
}

const uint32_t *pnMesh_GetRings(const pnMesh *mesh) {
  return mesh->rings;
}
