/* solid.c: is the mesh closed, and where are its vertices?
 *
 * "Inside" exists when the surface has no border. As a chain of triangles: walk along every edge of every triangle;
 * the winding number is well defined when each edge is walked as often one way as the other, and the parity of
 * crossings when each edge is walked an even number of times. That is all we ask: touching parts, edges with four
 * triangles and degenerate triangles are fine. */
#include "volume/solid.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/task.h"
#include "base/thread.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- closed? */

/* An edge as a number: lower corner, upper corner, and in the last bit which way it is walked. */
static uint64_t edgeKey(uint32_t from, uint32_t to) {
  return from < to ? (uint64_t)from << 33 | (uint64_t)to << 1 : (uint64_t)to << 33 | (uint64_t)from << 1 | 1;
}

/* Keys of all edges between different corners; returns how many. */
static size_t listEdges(const pnSolid *solid, uint64_t *keys) {
  size_t count = 0;
  for (size_t t = 0; t < solid->triangleCount; ++t) {
    const uint32_t *c = solid->triangles + 3 * t;
    for (int k = 0; k < 3; ++k)
      if (c[k] != c[(k + 1) % 3]) keys[count++] = edgeKey(c[k], c[(k + 1) % 3]);
  }
  return count;
}

/* The first triangle, in the mesh's order, with one of the bad edges (sorted keys without direction) says it all. */
static pnResult failAtFirstEdge(const pnSolid *solid, const uint64_t *bad, size_t badCount, bool open) {
  const pnMesh *mesh = solid->pose->mesh;
  for (uint32_t t = 0; t < solid->triangleCount; ++t) {
    const uint32_t *c = solid->triangles + 3 * (size_t)t;
    for (int k = 0; k < 3; ++k) {
      if (c[k] == c[(k + 1) % 3]) continue;
      // binary search among the bad ones
      uint64_t key = edgeKey(c[k], c[(k + 1) % 3]) >> 1;
      size_t lo = 0, hi = badCount;
      while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (bad[mid] < key) lo = mid + 1;
        else hi = mid;
      }
      if (lo == badCount || bad[lo] != key) continue;
      uint32_t from = mesh->triangles[3 * (size_t)t + k], to = mesh->triangles[3 * (size_t)t + (k + 1) % 3];
      if (open)
        return pn_fail(
            PN_ERROR_OPEN_MESH,
            "mesh '%s' is not closed: the edge from vertex %u to %u of triangle %u has no triangle on its other "
            "side (%zu such edges); close it, or use PN_INSIDE_PARITY",
            mesh->name, from, to, t, badCount);
      return pn_fail(
          PN_ERROR_ORIENTATION,
          "mesh '%s' is not consistently oriented: the triangles at the edge from vertex %u to %u of triangle %u "
          "run the same way along it (%zu such edges); turn some over, or use PN_INSIDE_PARITY",
          mesh->name, from, to, t, badCount);
    }
  }
  return PN_OK;
}

/* Of sorted keys, the edges walked an odd number of times (wantOdd), or an even number but more often one way than the
 * other; without their direction bit, ascending. */
static size_t gatherBadEdges(const uint64_t *keys, size_t count, bool wantOdd, uint64_t *bad) {
  size_t badCount = 0;
  for (size_t i = 0, end; i < count; i = end) {
    size_t backward = 0;
    for (end = i; end < count && keys[end] >> 1 == keys[i] >> 1; ++end) backward += keys[end] & 1;
    bool odd = (end - i) & 1, skew = !odd && 2 * backward != end - i;
    if (wantOdd ? odd : skew) bad[badCount++] = keys[i] >> 1;
  }
  return badCount;
}

static pnResult checkClosed(pnSolid *solid, pnInsideRule rule) {
  // all edges, sorted, so that those between the same corners stand together
  size_t bytes = pn_bytes(3 * (size_t)solid->triangleCount, sizeof(uint64_t));
  uint64_t *keys = pn_alloc(bytes), *scratch = pn_alloc(bytes);
  pnResult result = PN_OK;
  if (bytes && !(keys && scratch)) {
    result = pn_failMemory(2 * bytes);
    goto cleanup;
  }
  size_t count = listEdges(solid, keys);
  pn_sortU64(keys, scratch, count);

  // a border is worse than a wrong direction: look for it first
  size_t openCount = gatherBadEdges(keys, count, true, scratch);
  solid->watertight = openCount == 0;
  if (rule == PN_INSIDE_WINDING) {
    if (openCount) {
      result = failAtFirstEdge(solid, scratch, openCount, true);
    } else {
      size_t skewCount = gatherBadEdges(keys, count, false, scratch);
      if (skewCount) result = failAtFirstEdge(solid, scratch, skewCount, false);
    }
  }

cleanup:
  pn_free(scratch, bytes);
  pn_free(keys, bytes);
  return result;
}

/* ---------------------------------------------------------------- corners */

/* Numbers the vertices that triangles use, welded ones once. Leaves the mesh's own arrays in place when that changes
 * nothing. */
static pnResult numberCorners(pnSolid *solid, const pnMesh *mesh) {
  bool same = true;
  for (uint32_t v = 0; v < mesh->vertexCount && same; ++v)
    same = mesh->weld[v] == v && mesh->ringOffsets[v] != mesh->ringOffsets[v + 1];
  solid->triangles = mesh->triangles;
  solid->cornerCount = mesh->vertexCount;
  if (same) return PN_OK;

  size_t triangleBytes = pn_bytes(3 * (size_t)mesh->triangleCount, sizeof(uint32_t));
  size_t vertexBytes = pn_bytes(mesh->vertexCount, sizeof(uint32_t));
  uint32_t *numbers = pn_alloc(vertexBytes);
  solid->sources = pn_alloc(vertexBytes);
  solid->ownTriangles = pn_alloc(triangleBytes);
  if (!numbers || !solid->sources || (triangleBytes && !solid->ownTriangles)) {
    pn_free(numbers, vertexBytes);
    return pn_failMemory(2 * vertexBytes + triangleBytes);
  }

  // in the order of the vertices, so that neighbours in memory stay neighbours
  uint32_t count = 0;
  for (uint32_t v = 0; v < mesh->vertexCount; ++v) {
    if (mesh->ringOffsets[v] == mesh->ringOffsets[v + 1]) continue;
    numbers[v] = count;
    solid->sources[count++] = v;
  }
  for (size_t i = 0; i < 3 * (size_t)mesh->triangleCount; ++i)
    solid->ownTriangles[i] = numbers[mesh->weld[mesh->triangles[i]]];
  solid->triangles = solid->ownTriangles;
  solid->cornerCount = count;
  pn_free(numbers, vertexBytes);
  return PN_OK;
}

pnResult pn_solidInit(pnSolid *solid, const pnPose *pose, pnInsideRule rule) {
  *solid = (pnSolid){.pose = pose, .triangleCount = pose->mesh->triangleCount, .vertexCount = pose->mesh->vertexCount};
  pnResult result = numberCorners(solid, pose->mesh);
  // an edge's key has 31 bits for a corner
  if (result == PN_OK && solid->cornerCount > INT32_MAX)
    result = pn_fail(PN_ERROR_COUNT, "mesh '%s' has %u vertices; volumes take at most 2147483647", pose->mesh->name,
                     solid->cornerCount);
  if (result == PN_OK) result = checkClosed(solid, rule);

  // room for positions, unless they can be read where they are (see pn_solidRefresh)
  size_t bytes = pn_bytes(3 * (size_t)solid->cornerCount, sizeof(float));
  if (result == PN_OK && bytes && !(solid->ownPositions = pn_alloc(bytes))) result = pn_failMemory(bytes);
  if (result != PN_OK) pn_solidFree(solid);
  return result;
}

void pn_solidFree(pnSolid *solid) {
  // the pose may be gone already: sizes are our own
  pn_free(solid->ownTriangles, pn_bytes(3 * (size_t)solid->triangleCount, sizeof(uint32_t)));
  pn_free(solid->sources, pn_bytes(solid->vertexCount, sizeof(uint32_t)));
  pn_free(solid->ownPositions, pn_bytes(3 * (size_t)solid->cornerCount, sizeof(float)));
  *solid = (pnSolid){0};
}

size_t pn_solidBytes(const pnSolid *solid) {
  return (solid->ownTriangles ? 12 * (size_t)solid->triangleCount : 0) +
         (solid->sources ? 4 * (size_t)solid->vertexCount : 0) +
         (solid->ownPositions ? 12 * (size_t)solid->cornerCount : 0);
}

/* ---------------------------------------------------------------- positions */

/* Corners are fetched and boxed in ranges of this many: 12 kB, which stays in the first cache. */
#define FETCH_GRAIN 1024

typedef struct Refresh {
  pnSolid *solid;
  bool direct; /* positions are the pose's own array: nothing to fetch */
  struct {
    float min[3], max[3];
    bool bad;
    char padding[64 - 25]; /* a cache line a worker */
  } part[PN_MAX_WORKERS];
} Refresh;

static void refreshRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  Refresh *refresh = context;
  pnSolid *solid = refresh->solid;
  float *out = solid->ownPositions + 3 * (size_t)begin;
  if (!refresh->direct) {
    if (solid->sources) pn_poseFetch(solid->pose, solid->sources + begin, end - begin, out, 3);
    else pn_poseFetchRange(solid->pose, begin, end - begin, out, 3);
  }

  // four corners at a time, so that the twelve running values are vectors
  const float *p = solid->positions + 3 * (size_t)begin;
  float min[12], max[12], wrong[12];
  for (int k = 0; k < 12; ++k) min[k] = INFINITY, max[k] = -INFINITY, wrong[k] = 0.0f;
  uint32_t count = end - begin, i = 0;
  for (; i + 4 <= count; i += 4)
    for (int k = 0; k < 12; ++k) {
      float x = p[3 * i + k];
      min[k] = x < min[k] ? x : min[k];
      max[k] = x > max[k] ? x : max[k];
      wrong[k] += x - x; // 0, or NaN for ever once x is not finite
    }
  for (; i < count; ++i)
    for (int k = 0; k < 3; ++k) {
      float x = p[3 * i + k];
      min[k] = x < min[k] ? x : min[k];
      max[k] = x > max[k] ? x : max[k];
      wrong[k] += x - x;
    }
  for (int k = 0; k < 12; ++k) {
    float *lo = refresh->part[worker].min + k % 3, *hi = refresh->part[worker].max + k % 3;
    *lo = min[k] < *lo ? min[k] : *lo;
    *hi = max[k] > *hi ? max[k] : *hi;
    if (wrong[k] != 0.0f) refresh->part[worker].bad = true;
  }
}

static pnResult failAtFirstNumber(const pnSolid *solid) {
  for (uint32_t c = 0; c < solid->cornerCount; ++c)
    for (int k = 0; k < 3; ++k)
      if (!isfinite(solid->positions[3 * (size_t)c + k]))
        return pn_fail(PN_ERROR_NUMBER, "mesh '%s': vertex %u has moved to a position that is not finite",
                       solid->pose->mesh->name, solid->sources ? solid->sources[c] : c);
  return PN_OK;
}

pnResult pn_solidRefresh(pnSolid *solid, const pnTasks *tasks, bool *outMoved) {
  const pnPose *pose = solid->pose;
  *outMoved = solid->frame != pose->frame;
  if (!*outMoved) return PN_OK;

  // a free body's vertices are already an array of world positions
  Refresh refresh = {.solid = solid};
  refresh.direct = pn_isPlain(pose) && !solid->sources;
  solid->positions = refresh.direct ? pose->source : solid->ownPositions;
  solid->frame = 0;
  uint32_t workers = pn_workerCount(tasks);
  for (uint32_t w = 0; w < workers; ++w)
    for (int k = 0; k < 3; ++k) refresh.part[w].min[k] = INFINITY, refresh.part[w].max[k] = -INFINITY;
  pn_parallelFor(tasks, refreshRange, &refresh, solid->cornerCount, FETCH_GRAIN);

  // the box is the same whoever found which part of it
  float min[3] = {INFINITY, INFINITY, INFINITY}, max[3] = {-INFINITY, -INFINITY, -INFINITY};
  bool bad = false;
  for (uint32_t w = 0; w < workers; ++w) {
    bad |= refresh.part[w].bad;
    for (int k = 0; k < 3; ++k) {
      min[k] = PN_MIN(min[k], refresh.part[w].min[k]);
      max[k] = PN_MAX(max[k], refresh.part[w].max[k]);
    }
  }
  if (bad) return failAtFirstNumber(solid);
  solid->box = (pnBox){{min[0], min[1], min[2]}, {max[0], max[1], max[2]}};
  solid->frame = pose->frame;
  return PN_OK;
}
