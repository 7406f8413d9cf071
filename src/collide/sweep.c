/* sweep.c: see sweep.h. Features and who owns them, places, boxes. */
#include "collide/sweep.h"

#include "base/fenv.h"
#include "base/memory.h"
#include "base/sort.h"
#include "geom/simd.h"
#include "mesh/mesh.h"
#include "mesh/pose.h"
#include "mesh/soup.h"
#include "mesh/vertex.h"
#include "tree/tree.h"

#include <math.h>

/* ---------------------------------------------------------------- features */

/* Edges of all triangles sorted by (j, i), as keys; `value` is 3t + k. */
typedef struct Side {
  uint32_t i, j, corner;
} Side;

/* The sides sorted by j, then i, then corner: two stable sorts of keys. */
static void sortSides(Side *sides, Side *scratch, pnKeyValue *keys, size_t count) {
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t n = 0; n < count; ++n) keys[n] = (pnKeyValue){pass ? sides[n].j : sides[n].i, (uint32_t)n};
    pn_sortKeyValue(keys, keys + count, count);
    for (size_t n = 0; n < count; ++n) scratch[n] = sides[keys[n].value];
    memcpy(sides, scratch, count * sizeof *sides);
  }
}

static pnResult makeEdges(pnSweep *s) {
  const uint32_t *triangles = s->mesh->triangles;
  size_t count = 3 * (size_t)s->triangleCount, bytes = pn_bytes(count + 1, 2 * sizeof(Side) + 2 * sizeof(pnKeyValue));
  char *block = pn_alloc(bytes);
  if (!block) return pn_failMemory(bytes);
  Side *sides = (Side *)(void *)block, *scratch = sides + count + 1;
  pnKeyValue *keys = (pnKeyValue *)(void *)(scratch + count + 1);
  for (size_t n = 0; n < count; ++n) {
    uint32_t a = triangles[n], b = triangles[n % 3 == 2 ? n - 2 : n + 1];
    sides[n] = (Side){PN_MIN(a, b), PN_MAX(a, b), (uint32_t)n};
  }
  sortSides(sides, scratch, keys, count);
  /* of the triangles with equal sides the one that has the fewest edges so far owns the edge; one without length is a vertex */
  for (size_t n = 0, end; n < count; n = end) {
    uint32_t owner = sides[n].corner;
    for (end = n; end < count && sides[end].i == sides[n].i && sides[end].j == sides[n].j; ++end) {
      uint32_t corner = sides[end].corner;
      s->triangleEdge[corner] = s->edgeCount;
      if (pn_laneCounts[s->owned[corner / 3]] < pn_laneCounts[s->owned[owner / 3]]) owner = corner;
    }
    s->edges[2 * (size_t)s->edgeCount] = sides[n].i;
    s->edges[2 * (size_t)s->edgeCount + 1] = sides[n].j;
    ++s->edgeCount;
    s->owned[owner / 3] |= (uint8_t)(8u << owner % 3);
  }
  pn_free(block, bytes);
  return PN_OK;
}

/* Every triangle takes one vertex that nobody has, and then who has one takes what is left. */
static pnResult makeOwners(pnSweep *s) {
  size_t bytes = pn_bytes(s->vertexCount + 1, 1);
  uint8_t *seen = pn_allocZero(bytes);
  if (!seen) return pn_failMemory(bytes);
  for (int round = 0; round < 2; ++round) {
    for (size_t n = 0; n < 3 * (size_t)s->triangleCount; ++n) {
      uint32_t v = s->mesh->triangles[n];
      if (seen[v] || (round == 0 && (s->owned[n / 3] & 7u))) continue;
      s->owned[n / 3] |= (uint8_t)(1u << n % 3);
      seen[v] = 1;
    }
  }
  pn_free(seen, bytes);
  for (uint32_t v = 0; v < s->vertexCount; ++v) s->hasWelds = s->hasWelds || s->mesh->weld[v] != v;
  return PN_OK;
}

/* ---------------------------------------------------------------- life */

/* What it holds, in bytes; also for freeing. */
typedef struct Sizes {
  size_t edges, triangleEdge, owned, places, vertexBoxes, corners, generations, kinds;
  size_t leafStamps, faceBoxes, faceCorners, featureFirst, ownedVertices, featureBoxes, featureNames; /* by slots */
} Sizes;

static Sizes sizesOf(const pnSweep *s) {
  size_t sides = 3 * (size_t)s->triangleCount;
  return (Sizes){
      .edges = pn_bytes(2 * sides + 1, sizeof(uint32_t)),
      .triangleEdge = pn_bytes(sides + 1, sizeof(uint32_t)),
      .owned = (size_t)s->triangleCount + 1,
      .places = pn_bytes((size_t)s->vertexCount + 1, sizeof(pnPlace)),
      .vertexBoxes = pn_bytes((size_t)s->vertexCount + 1, sizeof(pnFeatureBox)),
      .corners = pn_bytes(2 * sides + 1, sizeof(float)),
      .generations = pn_bytes((size_t)s->triangleCount + 1, sizeof(uint32_t)),
      .kinds = (size_t)s->triangleCount + 1,
      .leafStamps = pn_bytes((size_t)s->slotCount / PN_LANES + 1, sizeof(uint32_t)),
      .faceBoxes = pn_bytes((size_t)s->slotCount + 1, sizeof(pnFeatureBox)),
      .faceCorners = pn_bytes((size_t)s->slotCount + 1, sizeof *s->faceCorners),
      .featureFirst = pn_bytes((size_t)s->slotCount + 1, sizeof(uint32_t)),
      .ownedVertices = (size_t)s->slotCount + 1,
      .featureBoxes =
          pn_bytes(PN_PLAIN_FEATURES * (size_t)s->slotCount + s->vertexCount + s->edgeCount + 1, sizeof(pnFeatureBox)),
      .featureNames =
          pn_bytes(PN_PLAIN_FEATURES * (size_t)s->slotCount + s->vertexCount + s->edgeCount + 1, sizeof(uint32_t)),
  };
}

static pnResult allocate(pnSweep *s) {
  Sizes z = sizesOf(s);
  s->edges = pn_alloc(z.edges);
  s->triangleEdge = pn_alloc(z.triangleEdge);
  s->owned = pn_allocZero(z.owned);
  s->places = pn_allocZero(z.places);
  s->vertexBoxes = pn_allocZero(z.vertexBoxes);
  s->corners = pn_allocZero(z.corners);
  bool ok = s->edges && s->triangleEdge && s->owned && s->places && s->vertexBoxes && s->corners;
  if (s->soup) {
    for (int end = 0; end < 2; ++end) s->generations[end] = pn_allocZero(z.generations);
    s->kinds = pn_allocZero(z.kinds);
    ok = ok && s->generations[0] && s->generations[1] && s->kinds;
  }
  return ok ? PN_OK : pn_failMemory(z.places);
}

/* The mesh of boxes, its pose and its tree, over the boxes as they are. */
static pnResult makeTree(pnSweep *s) {
  size_t bytes = pn_bytes(3 * (size_t)s->triangleCount + 1, sizeof(uint32_t));
  uint32_t *names = pn_alloc(bytes);
  if (!names) return pn_failMemory(bytes);
  for (uint32_t t = 0; t < s->triangleCount; ++t) {
    names[3 * (size_t)t] = names[3 * (size_t)t + 2] = 2 * t;
    names[3 * (size_t)t + 1] = 2 * t + 1;
  }
  pnMeshDef meshDef = pnDefaultMeshDef();
  meshDef.vertices = s->corners;
  meshDef.vertexCount = 2 * s->triangleCount;
  meshDef.triangles = names;
  meshDef.triangleCount = s->triangleCount;
  meshDef.weld = false;
  meshDef.name = s->mesh->name;
  pnResult result = pnCreateMesh(&meshDef, &s->boxMesh);
  pn_free(names, bytes);
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = s->boxMesh;
  if (result == PN_OK) result = pnCreatePose(&poseDef, &s->boxPose);
  pnTreeDef treeDef = pnDefaultTreeDef();
  treeDef.pose = s->boxPose;
  if (result == PN_OK) result = pnCreateTree(&treeDef, &s->tree);
  if (result != PN_OK) {
    pnDestroyPose(s->boxPose);
    pnDestroyMesh(s->boxMesh);
    s->boxPose = NULL;
    s->boxMesh = NULL;
  }
  return result;
}

/* A sweep of a mesh stands where the mesh is at rest. */
static pnResult setFromMesh(pnSweep *s) {
  const pnMesh *mesh = s->mesh;
  s->vertexCount = mesh->vertexCount;
  s->triangleCount = mesh->triangleCount;
  pnResult result = mesh->triangleCount <= PN_NONE / 3
                        ? allocate(s)
                        : pn_fail(PN_ERROR_COUNT, "sweep of '%s': too many triangles", mesh->name);
  if (result == PN_OK) result = makeEdges(s);
  if (result == PN_OK) result = makeOwners(s);
  if (result != PN_OK) return result;
  for (size_t n = 0; n < 3 * (size_t)s->vertexCount; ++n) {
    double x = mesh->vertices[n];
    s->places[n / 3].x[n % 3] = (pnD2){x, x};
  }
  s->stale = true;
  return PN_OK;
}

static void freeSlots(pnSweep *s) {
  Sizes z = sizesOf(s);
  pn_free((void *)s->leafStamps, z.leafStamps);
  pn_free(s->faceBoxes, z.faceBoxes);
  pn_free(s->faceCorners, z.faceCorners);
  pn_free(s->featureFirst, z.featureFirst);
  pn_free(s->ownedVertices, z.ownedVertices);
  pn_free(s->featureBoxes, z.featureBoxes);
  pn_free(s->featureNames, z.featureNames);
  s->leafStamps = NULL;
  s->faceBoxes = s->featureBoxes = NULL;
  s->faceCorners = NULL;
  s->featureFirst = s->featureNames = NULL;
  s->ownedVertices = NULL;
  s->slotCount = 0;
}

/* All that a sweep holds, but not itself. */
static void freeSweep(pnSweep *s) {
  Sizes z = sizesOf(s);
  freeSlots(s);
  if (s->tree) pnDestroyTree(s->tree);
  pnDestroyPose(s->boxPose);
  pnDestroyMesh(s->boxMesh);
  pn_free(s->edges, z.edges);
  pn_free(s->triangleEdge, z.triangleEdge);
  pn_free(s->owned, z.owned);
  pn_free(s->places, z.places);
  pn_free(s->vertexBoxes, z.vertexBoxes);
  pn_free(s->corners, z.corners);
  for (int end = 0; end < 2; ++end) pn_free(s->generations[end], z.generations);
  pn_free(s->kinds, z.kinds);
}

void pnDestroySweep(pnSweep *s) {
  if (!s) return;
  freeSweep(s);
  pn_free(s, sizeof *s);
}

/* ---------------------------------------------------------------- soups */

/* A sweep for as many places as the soup has now, and in it what this one knows; on an error nothing has changed. */
static pnResult fitSoup(pnSweep *s) {
  const pnSoup *soup = s->soup;
  if (soup->placeCount == s->triangleCount && s->edges) return PN_OK;
  pnSweep fresh = {.mesh = &soup->mesh, .soup = soup, .stale = true, .ownersChanged = true};
  fresh.triangleCount = soup->placeCount;
  fresh.vertexCount = 3 * soup->placeCount;
  pnResult result = allocate(&fresh);
  if (result == PN_OK) result = makeEdges(&fresh);
  if (result != PN_OK) {
    freeSweep(&fresh);
    return result;
  }
  size_t kept = PN_MIN(s->triangleCount, fresh.triangleCount);
  if (kept > 0) {
    memcpy(fresh.places, s->places, 3 * kept * sizeof *s->places);
    for (int end = 0; end < 2; ++end)
      memcpy(fresh.generations[end], s->generations[end], kept * sizeof *s->generations[end]);
    memcpy(fresh.kinds, s->kinds, kept);
  }
  freeSweep(s);
  *s = fresh;
  return PN_OK;
}

/* The features of a place by the number of its corners: a triangle has three vertices and edges, a segment two and its first
 * edge, a point one vertex. */
static uint8_t ownedOf(uint32_t corners) {
  static const uint8_t owned[] = {PN_NO_PRIMITIVE, 0x01, 0x0B, 0x3F};
  return owned[corners];
}

static void placeCorners(pnSweep *s, uint32_t place, int end) {
  const float *from = &s->soup->positions[9 * (size_t)place];
  for (int n = 0; n < 9; ++n) s->places[3 * (size_t)place + (size_t)n / 3].x[n % 3][end] = from[n];
}

/* Places that are alive at both ends of the step and are one primitive go their way; what is new stands; of what is gone one point
 * stays, where it was, so that the tree has no box that is larger than it must be. */
static void matchPrimitives(pnSweep *s) {
  const pnSoup *soup = s->soup;
  for (uint32_t p = 0; p < s->triangleCount; ++p) {
    bool alive = pn_isAlive(soup, p), goes = alive && s->generations[0][p] == soup->generation[p];
    uint32_t corners = !alive ? 0 : goes ? PN_MAX(soup->corners[p], s->kinds[p]) : soup->corners[p];
    s->generations[1][p] = soup->generation[p];
    placeCorners(s, p, 1);
    if (!goes) placeCorners(s, p, 0);
    for (uint32_t k = 1; k < 3 && !alive; ++k) s->places[3 * (size_t)p + k] = s->places[3 * (size_t)p];
    s->ownersChanged = s->ownersChanged || s->owned[p] != ownedOf(corners);
    s->owned[p] = ownedOf(corners);
  }
}

/* One end of the step as the soup is now. */
static pnResult setFromSoup(pnSweep *s, int end) {
  pnResult result = fitSoup(s);
  if (result != PN_OK) return result;
  for (uint32_t p = 0; end == 0 && p < s->triangleCount; ++p) {
    s->generations[0][p] = pn_isAlive(s->soup, p) ? s->soup->generation[p] : 0;
    s->kinds[p] = s->soup->corners[p];
    placeCorners(s, p, 0);
  }
  // A step that begins now ends now until somebody says where.
  matchPrimitives(s);
  s->stale = true;
  return PN_OK;
}

/* ---------------------------------------------------------------- creating */

static pnResult makeSweep(const pnMesh *mesh, const pnSoup *soup, pnSweep **outSweep) {
  *outSweep = NULL;
  pnSweep *s = pn_allocZero(sizeof *s);
  if (!s) return pn_failMemory(sizeof *s);
  s->mesh = mesh;
  s->soup = soup;
  pnResult result = soup ? setFromSoup(s, 0) : setFromMesh(s);
  if (result == PN_OK) *outSweep = s;
  else pnDestroySweep(s);
  return result;
}

pnResult pnCreateSweep(const pnMesh *mesh, pnSweep **outSweep) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(mesh && outSweep);
  return makeSweep(mesh, NULL, outSweep);
}

pnResult pnCreateSoupSweep(const pnSoup *soup, pnSweep **outSweep) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(soup && outSweep);
  return makeSweep(&soup->mesh, soup, outSweep);
}

/* ---------------------------------------------------------------- places */

/* One end of the step from a pose. Vertices come in portions, so that there is no memory to fail. */
static pnResult setFromPose(pnSweep *s, const pnPose *pose, int end) {
  PN_ASSERT(s && pose);
  if (pose->mesh != s->mesh)
    return pn_fail(PN_ERROR_ARGUMENT, "sweep of '%s': the pose is of '%s'", s->mesh->name, pose->mesh->name);
  if (s->soup) return setFromSoup(s, end);
  float portion[3 * 256 + 1];
  for (uint32_t first = 0; first < s->vertexCount; first += 256) {
    uint32_t count = PN_MIN(256u, s->vertexCount - first);
    size_t bad;
    pn_poseFetchRange(pose, first, count, portion, 3);
    if (!pn_allFinite(portion, 3 * (size_t)count, &bad)) {
      return pn_fail(PN_ERROR_NUMBER, "sweep of '%s': vertex %u is not finite", s->mesh->name,
                     first + (uint32_t)(bad / 3));
    }
    for (uint32_t v = 0; v < count; ++v)
      for (uint32_t k = 0; k < 3; ++k) s->places[first + v].x[k][end] = portion[3 * v + k];
  }
  s->stale = true;
  return PN_OK;
}

pnResult pnSweep_SetBegin(pnSweep *sweep, const pnPose *pose) {
  PN_FLOAT_SCOPE;
  return setFromPose(sweep, pose, 0);
}

pnResult pnSweep_SetEnd(pnSweep *sweep, const pnPose *pose) {
  PN_FLOAT_SCOPE;
  return setFromPose(sweep, pose, 1);
}

pnResult pnSweep_SetStep(pnSweep *sweep, const double *begin, const double *end, uint32_t vertexCount) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(sweep && begin && end);
  const char *name = sweep->mesh->name;
  if (sweep->soup) return pn_fail(PN_ERROR_KIND, "sweep of '%s': primitives of a soup are matched by their ids", name);
  if (vertexCount != sweep->vertexCount)
    return pn_fail(PN_ERROR_COUNT, "sweep of '%s': %u vertices for %u", name, vertexCount, sweep->vertexCount);
  for (size_t n = 0; n < 3 * (size_t)vertexCount; ++n) {
    if (!(fabs(begin[n]) <= 3e38 && fabs(end[n]) <= 3e38)) {
      return pn_fail(PN_ERROR_NUMBER, "sweep of '%s': vertex %u is not finite or leaves the range of float", name,
                     (unsigned)(n / 3));
    }
  }
  for (size_t n = 0; n < 3 * (size_t)vertexCount; ++n) sweep->places[n / 3].x[n % 3] = (pnD2){begin[n], end[n]};
  sweep->stale = true;
  return PN_OK;
}

void pnSweep_Advance(pnSweep *sweep) {
  PN_FLOAT_SCOPE;
  for (uint32_t v = 0; v < sweep->vertexCount; ++v)
    for (int k = 0; k < 3; ++k) sweep->places[v].x[k][0] = sweep->places[v].x[k][1];
  for (uint32_t p = 0; sweep->soup && p < sweep->triangleCount; ++p) {
    bool alive = sweep->generations[1][p] & 1;
    sweep->generations[0][p] = alive ? sweep->generations[1][p] : 0;
    // the vertices it had: the soup may be elsewhere by now
    sweep->kinds[p] = (uint8_t)((sweep->owned[p] & 1) + (sweep->owned[p] >> 1 & 1) + (sweep->owned[p] >> 2 & 1));
  }
  sweep->stale = true;
}

/* ---------------------------------------------------------------- turns */

double pnGetTurn(const pnMatrix *begin, const pnMatrix *end) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(begin && end);
  /* The unit axes before and after are columns of turns P and Q, and the squares of their differences add up to
   * 6 - 2 trace(Q P^T) = 6 - 2 (1 + 2 cos x) = 8 sin(x / 2)^2, without the loss of digits that a cosine near 1 has. */
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    double p[3], q[3], pp = 0.0, qq = 0.0;
    for (int i = 0; i < 3; ++i) {
      p[i] = begin->m[i][k], q[i] = end->m[i][k];
      pp += p[i] * p[i], qq += q[i] * q[i];
    }
    if (!(pp > 0.0 && qq > 0.0)) continue;
    pp = sqrt(pp), qq = sqrt(qq);
    for (int i = 0; i < 3; ++i) sum += (p[i] / pp - q[i] / qq) * (p[i] / pp - q[i] / qq);
  }
  return 2.0 * asin(PN_MIN(sqrt(sum / 8.0), 1.0));
}

double pnBoundChord(double turn, double radius, uint32_t parts) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(parts > 0);
  /* 1 - cos y = 2 sin(y / 2)^2 */
  double s = sin(0.25 * turn / parts);
  return 2.0 * radius * s * s;
}

uint32_t pnCountStepParts(double turn, double radius, double tolerance) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(tolerance > 0.0);
  if (!(radius > 0.0 && turn > 0.0) || tolerance >= radius) return 1;
  double parts = ceil(0.25 * turn / asin(sqrt(0.5 * tolerance / radius)));
  uint32_t count = parts < 1.0 ? 1 : parts > 1e6 ? 1000000 : (uint32_t)parts;
  /* the division above is rounded */
  while (count > 1 && pnBoundChord(turn, radius, count - 1) <= tolerance) --count;
  while (count < 1000000 && pnBoundChord(turn, radius, count) > tolerance) ++count;
  return count;
}

uint32_t pnSweep_GetEdgeCount(const pnSweep *sweep) {
  return sweep->edgeCount;
}
const uint32_t *pnSweep_GetEdges(const pnSweep *sweep) {
  return sweep->edges;
}

/* ---------------------------------------------------------------- boxes */

/* The float at or below x, at or above it. */
PN_INLINE float floatBelow(double x) {
  float f = (float)x;
  return (double)f > x ? nextafterf(f, -INFINITY) : f;
}
PN_INLINE float floatAbove(double x) {
  float f = (float)x;
  return (double)f < x ? nextafterf(f, INFINITY) : f;
}

typedef struct BoxWork {
  pnSweep *s;
  double end, margin;
} BoxWork;

/* Around a whole step, without a margin. Numbers are rounded to the nearest float, and so are those of the other body: what overlaps before
 * overlaps after. */
PN_INLINE void boxWhole(const pnPlace *place, pnFeatureBox *out) {
  for (int k = 0; k < 3; ++k) {
    float a = (float)place->x[k][0], b = (float)place->x[k][1];
    out->lo[k] = a < b ? a : b;
    out->hi[k] = a < b ? b : a;
  }
}

/* Vertices: around the begin and the place at `end`. That place is computed with three roundings of numbers below |begin| + |end|:
 * 4u of them are added on both sides. At end = 1 it is the end itself. Boxes of different windows are never compared. */
static void boxVertices(void *context, uint32_t first, uint32_t last, uint32_t worker) {
  (void)worker;
  const BoxWork *w = context;
  bool whole = w->end == 1.0 && w->margin == 0.0;
  for (uint32_t v = first; v < last; ++v) {
    if (whole) boxWhole(&w->s->places[v], &w->s->vertexBoxes[v]);
    for (int k = 0; k < 3 && !whole; ++k) {
      double a = w->s->places[v].x[k][0], b = w->s->places[v].x[k][1];
      double slack = w->margin > 0.0 ? 0.5 * w->margin * (1.0 + 0x1p-50) + 0x1p-51 * (fabs(a) + fabs(b)) : 0.0;
      if (w->end < 1.0) {
        slack += 0x1p-51 * (fabs(a) + fabs(b));
        b = a + w->end * (b - a);
      }
      w->s->vertexBoxes[v].lo[k] = floatBelow((a < b ? a : b) - slack);
      w->s->vertexBoxes[v].hi[k] = floatAbove((a < b ? b : a) + slack);
    }
  }
}

static void boxTriangles(void *context, uint32_t first, uint32_t last, uint32_t worker) {
  (void)worker;
  const BoxWork *w = context;
  for (uint32_t t = first; t < last; ++t) {
    const uint32_t *v = &w->s->mesh->triangles[3 * (size_t)t];
    const pnFeatureBox *a = &w->s->vertexBoxes[v[0]], *b = &w->s->vertexBoxes[v[1]], *c = &w->s->vertexBoxes[v[2]];
    float *out = &w->s->corners[6 * (size_t)t];
    pn_f4StoreThree(out, pn_f4Min(pn_f4Min(pn_f4Load(a->lo), pn_f4Load(b->lo)), pn_f4Load(c->lo)));
    pn_f4StoreThree(out + 3, pn_f4Max(pn_f4Max(pn_f4Load(a->hi), pn_f4Load(b->hi)), pn_f4Load(c->hi)));
  }
}

/* ---------------------------------------------------------------- in the order of the tree */

/* A feature, or (v is PN_NONE) the place of one that is missing. */
static void nameFeature(pnSweep *s, uint32_t *at, uint32_t v, uint32_t w, uint32_t name) {
  s->featureBoxes[*at].v0 = v;
  s->featureBoxes[*at].v1 = w;
  s->featureNames[*at] = name;
  ++*at;
}

/* Which features and faces are where. */
static void nameSlots(pnSweep *s) {
  uint32_t at = 0;
  for (uint32_t slot = 0; slot < s->slotCount; ++slot) {
    uint32_t t = s->tree->shape->leafTriangles[slot], first = at;
    s->featureFirst[slot] = first;
    s->ownedVertices[slot] = 0;
    if (t == PN_NONE) continue;
    const uint32_t *v = &s->mesh->triangles[3 * (size_t)t];
    uint32_t *corners = s->faceCorners[slot];
    corners[0] = v[0], corners[1] = v[1], corners[2] = v[2], corners[3] = t;
    for (int k = 0; k < 3; ++k)
      if (s->owned[t] >> k & 1) nameFeature(s, &at, v[k], v[k], v[k]);
    if (at < first + PN_PLAIN_VERTICES) nameFeature(s, &at, PN_NONE, PN_NONE, PN_NONE);
    s->ownedVertices[slot] = (uint8_t)(at - first);
    for (int k = 0; k < 3; ++k) {
      uint32_t e = s->triangleEdge[3 * (size_t)t + (size_t)k];
      if (s->owned[t] >> (3 + k) & 1) nameFeature(s, &at, s->edges[2 * (size_t)e], s->edges[2 * (size_t)e + 1], e);
    }
    while (at < first + PN_PLAIN_FEATURES) nameFeature(s, &at, PN_NONE, PN_NONE, PN_NONE);
  }
  s->featureFirst[s->slotCount] = at;
}

/* After the tree was built. */
static pnResult makeSlots(pnSweep *s) {
  freeSlots(s);
  s->slotCount = s->tree->shape->leafCount * PN_LANES;
  Sizes z = sizesOf(s);
  s->leafStamps = pn_allocZero(z.leafStamps);
  s->faceBoxes = pn_allocZero(z.faceBoxes);
  s->faceCorners = pn_allocZero(z.faceCorners);
  s->featureFirst = pn_allocZero(z.featureFirst);
  s->ownedVertices = pn_allocZero(z.ownedVertices);
  s->featureBoxes = pn_allocZero(z.featureBoxes);
  s->featureNames = pn_allocZero(z.featureNames);
  if (!s->leafStamps || !s->faceBoxes || !s->faceCorners || !s->featureFirst || !s->ownedVertices || !s->featureBoxes ||
      !s->featureNames) {
    freeSlots(s);
    return pn_failMemory(z.featureBoxes);
  }
  nameSlots(s);
  return PN_OK;
}

/* Nothing overlaps the box of nothing. */
static void boxNothing(pnFeatureBox *box) {
  for (int k = 0; k < 3; ++k) {
    box->lo[k] = INFINITY;
    box->hi[k] = -INFINITY;
  }
}

static void boxFeatures(const pnSweep *s, uint32_t slot) {
  for (uint32_t i = s->featureFirst[slot]; i < s->featureFirst[slot + 1]; ++i) {
    pnFeatureBox *f = &s->featureBoxes[i];
    if (f->v0 == PN_NONE) {
      boxNothing(f);
      continue;
    }
    const pnFeatureBox *a = &s->vertexBoxes[f->v0], *b = &s->vertexBoxes[f->v1];
    pn_f4StoreThree(f->lo, pn_f4Min(pn_f4Load(a->lo), pn_f4Load(b->lo)));
    pn_f4StoreThree(f->hi, pn_f4Max(pn_f4Load(a->hi), pn_f4Load(b->hi)));
  }
}

static void boxSlots(const pnSweep *s, uint32_t leaf) {
  for (uint32_t slot = leaf * PN_LANES; slot < (leaf + 1) * PN_LANES; ++slot) {
    uint32_t t = s->tree->shape->leafTriangles[slot];
    if (t == PN_NONE) continue;
    memcpy(s->faceBoxes[slot].lo, &s->corners[6 * (size_t)t], 3 * sizeof(float));
    memcpy(s->faceBoxes[slot].hi, &s->corners[6 * (size_t)t + 3], 3 * sizeof(float));
    if (s->owned[t] & PN_NO_PRIMITIVE) boxNothing(&s->faceBoxes[slot]);
    boxFeatures(s, slot);
  }
}

void pn_boxLeafSlow(const pnSweep *s, uint32_t leaf, bool alone) {
  _Atomic uint32_t *stamp = &s->leafStamps[leaf];
  if (alone) {
    boxSlots(s, leaf);
    atomic_store_explicit(stamp, s->now, memory_order_relaxed);
  } else if (pn_claimStamp(stamp, s->now)) {
    boxSlots(s, leaf);
    pn_publishStamp(stamp, s->now);
  } else {
    pn_awaitStamp(stamp, s->now);
  }
}

/* No leaf has the boxes of now any more. */
static void staleLeaves(pnSweep *s) {
  if (++s->now != PN_STAMP_BUSY) return;
  for (uint32_t leaf = 0; leaf < s->slotCount / PN_LANES; ++leaf)
    atomic_store_explicit(&s->leafStamps[leaf], 0, memory_order_relaxed);
  s->now = 1;
}

/* A tree whose boxes have grown by this is built anew: queries cost about so much more than after a build, which costs
 * as much as some dozens of them. */
#define WORN_QUALITY 2.0f

pnResult pn_updateSweep(pnSweep *s, double end, double margin, const pnTasks *tasks) {
  if (!s->stale && s->boxEnd == end && s->boxMargin == margin) return PN_OK;
  BoxWork work = {s, end, margin};
  pn_parallelFor(tasks, boxVertices, &work, s->vertexCount, 4096);
  pn_parallelFor(tasks, boxTriangles, &work, s->triangleCount, 4096);
  bool isNew = s->tree == NULL;
  pnResult result = isNew ? makeTree(s) : PN_OK;
  if (result == PN_OK) result = pnPose_ShareVertices(s->boxPose, s->corners, 2 * s->triangleCount);
  if (result == PN_OK) result = pnTree_Update(s->tree, tasks);
  if (result == PN_OK && !isNew && pnTree_GetQuality(s->tree) > WORN_QUALITY) {
    freeSlots(s);
    result = pnTree_Rebuild(s->tree);
    if (result == PN_OK) result = pnTree_Update(s->tree, tasks);
  }
  if (result == PN_OK && s->slotCount == 0) result = makeSlots(s);
  else if (result == PN_OK && s->ownersChanged) nameSlots(s);
  s->ownersChanged = s->ownersChanged && result != PN_OK;
  if (result == PN_OK) {
    staleLeaves(s);
    s->boxEnd = end;
    s->boxMargin = margin;
    s->stale = false;
  }
  return result;
}
