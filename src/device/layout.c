/* layout.c: the arrays that stay as they are from frame to frame: the order of triangles, their vertices by slot, which bodies
 * may meet, and the list of neighbours.
 *
 * Bodies begin with a cluster; those of more than half a super with a super of their own. Slots that stay empty have corners
 * that are NaN, whose boxes overlap nothing.
 *
 * Neighbours (triangles of one body that share a welded vertex) are nearly all triangles whose boxes overlap, and there
 * are about six for each triangle. They are listed once, and left out where boxes are compared. Where vertices have so many
 * triangles that the list would be long (a fan of a thousand has half a million pairs) there is none, and they come as
 * candidates like any others. */
#include "device/world.h"

#include "collide/filter.h"

#include <math.h>
#include <string.h>

/* The list may have so many pairs a triangle; a regular mesh has 6, a grid of quads cut in two too. */
#define MOST_NEAR 32u

/* What is made here, before it goes to the device. */
typedef struct Layout {
  uint32_t *triangles, *welds;       /* four a slot */
  uint32_t *clusterBody, *superBody; /* PN_NONE: none, or several */
  uint32_t *order;                   /* of one body */
  float *positions, *sums;           /* of one body */
  uint32_t *slots;                   /* of every triangle of the world */
  uint32_t *rules, *bodyFirst;
  PN_ARRAY(pnPair) near;
  size_t mostTriangles, mostVertices;
} Layout;

/* ---------------------------------------------------------------- slots */

/* Where the slots of each body begin, and how many there are in all. */
static uint32_t placeBodies(pnDeviceWorld *world) {
  uint32_t at = 0;
  for (size_t b = 0; b < world->bodies.count; ++b) {
    const uint32_t n = world->bodies.data[b].pose->mesh->triangleCount;
    if (n > PN_SUPER / 2) at = (at + PN_SUPER - 1) / PN_SUPER * PN_SUPER;
    world->bodies.data[b].firstSlot = at;
    at += (n + PN_CLUSTER - 1) / PN_CLUSTER * PN_CLUSTER;
  }
  return at;
}

/* Sums of the corners of a body's triangles, as they are now. */
static void sumCorners(const pnDeviceBody *body, Layout *l) {
  const pnMesh *mesh = body->pose->mesh;
  if (body->onDevice) memcpy(l->positions, mesh->vertices, 3 * (size_t)mesh->vertexCount * sizeof(float));
  else pn_poseFetchRange(body->pose, 0, mesh->vertexCount, l->positions, 3);
  for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
    const uint32_t *c = mesh->triangles + 3 * (size_t)t;
    for (size_t x = 0; x < 3; ++x) {
      const float sum =
          l->positions[3 * (size_t)c[0] + x] + l->positions[3 * (size_t)c[1] + x] + l->positions[3 * (size_t)c[2] + x];
      // a shared array may hold anything, which refit will find; here it must only have an order
      l->sums[3 * (size_t)t + x] = sum == sum ? sum : 0;
    }
    l->order[t] = t;
  }
}

static void placeTriangles(const pnDeviceWorld *world, uint32_t number, Layout *l) {
  const pnDeviceBody *body = &world->bodies.data[number];
  const pnMesh *mesh = body->pose->mesh;
  sumCorners(body, l);
  pn_orderTriangles(l->order, l->sums, mesh->triangleCount);
  for (uint32_t i = 0; i < mesh->triangleCount; ++i) {
    const uint32_t slot = body->firstSlot + i, t = l->order[i], *c = mesh->triangles + 3 * (size_t)t;
    for (size_t k = 0; k < 3; ++k) {
      l->triangles[4 * (size_t)slot + k] = body->firstVertex + c[k];
      l->welds[4 * (size_t)slot + k] = body->firstVertex + mesh->weld[c[k]];
    }
    l->triangles[4 * (size_t)slot + 3] = body->firstTriangle + t;
    l->welds[4 * (size_t)slot + 3] = number;
    l->slots[body->firstTriangle + t] = slot;
    l->clusterBody[slot / PN_CLUSTER] = number;
  }
}

/* A super has the body of its clusters, or none when they have several. */
static void nameSupers(const pnDeviceWorld *world, Layout *l) {
  for (uint32_t s = 0; s < world->superCount; ++s) {
    uint32_t body = PN_NONE;
    bool several = false;
    for (uint32_t k = 0; k < PN_SUPER / PN_CLUSTER; ++k) {
      const uint32_t one = l->clusterBody[s * (PN_SUPER / PN_CLUSTER) + k];
      several = several || (one != PN_NONE && body != PN_NONE && one != body);
      body = one != PN_NONE ? one : body;
    }
    l->superBody[s] = several ? PN_NONE : body;
  }
}

/* ---------------------------------------------------------------- neighbours */

/* Is v the smallest welded vertex that s and t share? Then the pair is listed at v, and only there. */
static bool isListedAt(const pnMesh *mesh, uint32_t s, uint32_t t, uint32_t v) {
  uint32_t a[3], b[3], least = PN_NONE;
  pn_weldedCorners(mesh, s, a);
  pn_weldedCorners(mesh, t, b);
  for (int i = 0; i < 9; ++i)
    if (a[i / 3] == b[i % 3]) least = PN_MIN(least, a[i / 3]);
  return least == v;
}

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

/* In the order of slots, so that what is read together lies together. */
static bool listNeighbours(const pnDeviceWorld *world, uint32_t number, Layout *l) {
  const pnDeviceBody *body = &world->bodies.data[number];
  const pnMesh *mesh = body->pose->mesh;
  const uint32_t first = body->firstSlot;
  for (uint32_t slot = first; slot < first + mesh->triangleCount; ++slot) {
    const uint32_t s = l->triangles[4 * (size_t)slot + 3] - body->firstTriangle;
    uint32_t corner[3];
    pn_weldedCorners(mesh, s, corner);
    for (int k = 0; k < 3; ++k) {
      const uint32_t v = corner[k];
      if ((k > 0 && v == corner[0]) || (k > 1 && v == corner[1])) continue; // a vertex twice
      for (uint32_t r = mesh->ringOffsets[v]; r < mesh->ringOffsets[v + 1]; ++r) {
        const uint32_t other = l->slots[body->firstTriangle + mesh->rings[r]];
        if (other <= slot || !isListedAt(mesh, s, mesh->rings[r], v)) continue;
        if (!pn_arrayPush(&l->near, ((pnPair){slot, other}))) return false;
      }
    }
  }
  return true;
}

/* ---------------------------------------------------------------- all of it */

static void freeLayout(const pnDeviceWorld *world, Layout *l) {
  const size_t slots = world->slotCount, bodies = world->bodies.count;
  pn_free(l->triangles, slots * 16);
  pn_free(l->welds, slots * 16);
  pn_free(l->clusterBody, slots / PN_CLUSTER * 4);
  pn_free(l->superBody, (size_t)world->superCount * 4);
  pn_free(l->order, l->mostTriangles * 4);
  pn_free(l->sums, l->mostTriangles * 12);
  pn_free(l->positions, l->mostVertices * 12);
  pn_free(l->slots, (size_t)world->triangleCount * 4);
  pn_free(l->rules, bodies * 16);
  pn_free(l->bodyFirst, bodies * 4);
  pn_arrayFree(&l->near);
}

/* pn_alloc answers null for nothing, so nothing becomes a little. */
static bool allocLayout(const pnDeviceWorld *world, Layout *l) {
  const size_t slots = world->slotCount, bodies = world->bodies.count;
  l->mostTriangles = l->mostVertices = 1;
  for (size_t b = 0; b < bodies; ++b) {
    l->mostTriangles = PN_MAX(l->mostTriangles, world->bodies.data[b].pose->mesh->triangleCount);
    l->mostVertices = PN_MAX(l->mostVertices, world->bodies.data[b].pose->mesh->vertexCount);
  }
  l->triangles = pn_alloc(slots * 16);
  l->welds = pn_alloc(slots * 16);
  l->clusterBody = pn_alloc(slots / PN_CLUSTER * 4);
  l->superBody = pn_alloc((size_t)world->superCount * 4);
  l->order = pn_alloc(l->mostTriangles * 4);
  l->sums = pn_alloc(l->mostTriangles * 12);
  l->positions = pn_alloc(l->mostVertices * 12);
  l->slots = pn_alloc((size_t)world->triangleCount * 4);
  l->rules = pn_alloc(bodies * 16);
  l->bodyFirst = pn_alloc(bodies * 4);
  if (!l->triangles || !l->welds || !l->clusterBody || !l->superBody || !l->order || !l->sums || !l->positions ||
      !l->slots || !l->rules || !l->bodyFirst)
    return false;
  memset(l->triangles, 0xff, slots * 16);
  memset(l->welds, 0xff, slots * 16);
  memset(l->clusterBody, 0xff, slots / PN_CLUSTER * 4);
  return true;
}

static void makeRules(const pnDeviceWorld *world, Layout *l) {
  for (size_t b = 0; b < world->bodies.count; ++b) {
    const pnDeviceBody *body = &world->bodies.data[b];
    l->bodyFirst[b] = body->firstTriangle;
    l->rules[4 * b] = body->category;
    l->rules[4 * b + 1] = body->mask;
    l->rules[4 * b + 2] = body->self;
    l->rules[4 * b + 3] = 0;
  }
}

static pnResult makeArrays(pnDeviceWorld *world, Layout *l) {
  makeRules(world, l);
  for (size_t b = 0; b < world->bodies.count; ++b) placeTriangles(world, (uint32_t)b, l);
  nameSupers(world, l);
  world->anySelf = false;
  for (size_t b = 0; b < world->bodies.count; ++b) world->anySelf = world->anySelf || world->bodies.data[b].self;
  world->nearOnList = isListable(world);
  for (size_t b = 0; b < world->bodies.count && world->nearOnList; ++b) {
    // those who leave all neighbours out need no list of them
    const pnDeviceBody *body = &world->bodies.data[b];
    if (body->self && pn_seeksNeighbours(&body->filter, body->pose->mesh) && !listNeighbours(world, (uint32_t)b, l))
      return pn_failMemory(l->near.count * sizeof(pnPair));
  }
  world->nearCount = (uint32_t)l->near.count;
  return PN_OK;
}

static pnResult sendArrays(pnDeviceWorld *world, const Layout *l) {
  const size_t slots = world->slotCount, bodies = world->bodies.count, clusters = slots / PN_CLUSTER;
  const struct {
    pnBufferName name;
    const void *data;
    size_t bytes;
  } filled[] = {{PN_BUFFER_TRIANGLES, l->triangles, slots * 16},
                {PN_BUFFER_WELDS, l->welds, slots * 16},
                {PN_BUFFER_CLUSTER_BODY, l->clusterBody, clusters * 4},
                {PN_BUFFER_SUPER_BODY, l->superBody, (size_t)world->superCount * 4},
                {PN_BUFFER_RULES, l->rules, bodies * 16},
                {PN_BUFFER_BODY_FIRST, l->bodyFirst, bodies * 4},
                {PN_BUFFER_NEAR, l->near.data, l->near.count * sizeof(pnPair)}};
  const struct {
    pnBufferName name;
    size_t bytes;
  } empty[] = {{PN_BUFFER_VERTICES, (size_t)world->vertexCount * 12},
               {PN_BUFFER_RECORDS, slots * 48},
               {PN_BUFFER_CLUSTER_LOW, clusters * 16},
               {PN_BUFFER_CLUSTER_HIGH, clusters * 16},
               {PN_BUFFER_SUPER_LOW, (size_t)world->superCount * 16},
               {PN_BUFFER_SUPER_HIGH, (size_t)world->superCount * 16},
               {PN_BUFFER_HEAD, PN_HEAD_PLACES * 4},
               {PN_BUFFER_COUNTS, (size_t)world->triangleCount * 4},
               {PN_BUFFER_OFFSETS, (size_t)world->triangleCount * 4},
               {PN_BUFFER_STARTS, (size_t)world->triangleCount * 4},
               {PN_BUFFER_RUNS, 1024 * 4}};
  pnResult result = PN_OK;
  for (size_t i = 0; i < sizeof filled / sizeof filled[0] && result == PN_OK; ++i)
    result = pn_fillBuffer(world, filled[i].name, filled[i].data, filled[i].bytes);
  for (size_t i = 0; i < sizeof empty / sizeof empty[0] && result == PN_OK; ++i)
    result = pn_reserveBuffer(world, empty[i].name, empty[i].bytes);
  if (result != PN_OK) return result;
  // empty slots are NaN
  const uint32_t none = PN_NONE;
  cl_int error = pn_cl.EnqueueFillBuffer(world->device->queue, world->buffers[PN_BUFFER_RECORDS], &none, sizeof none, 0,
                                         slots * 48, 0, NULL, NULL);
  return error == CL_SUCCESS ? PN_OK : pn_worldFail(world, error, "EnqueueFillBuffer", "corners");
}

/* First capacities: what most scenes need. A list that is too short costs one frame run twice. */
static pnResult reserveLists(pnDeviceWorld *world) {
  const uint64_t n = world->slotCount;
  const uint64_t wanted[PN_LIST_COUNT] = {
      (uint64_t)world->superCount * 32 + 1024, n + 4096, n * 16 + 4096, n / 2 + 4096, n + 4096,
      world->filtered ? n + 4096 : 1};
  for (int i = 0; i < PN_LIST_COUNT; ++i) {
    if (world->capacity[i] >= wanted[i]) continue;
    pnResult result = pn_reserveList(world, (pnListName)i, (uint32_t)PN_MIN(wanted[i], UINT32_MAX / 2));
    if (result != PN_OK) return result;
  }
  return PN_OK;
}

pnResult pn_layOut(pnDeviceWorld *world) {
  if (world->laidOut) return PN_OK;
  if (world->running) (void)pn_cl.Finish(world->device->queue);
  world->running = world->finished = false;
  world->slotCount = (placeBodies(world) + PN_SUPER - 1) / PN_SUPER * PN_SUPER;
  world->superCount = world->slotCount / PN_SUPER;
  // the scan's runs: 256 items of `each` triangles, at most 1 024 of them
  world->scanEach = PN_MAX(4, (world->triangleCount + 256 * 1024 - 1) / (256 * 1024));
  world->scanRuns = (world->triangleCount + 256 * world->scanEach - 1) / (256 * world->scanEach);
  if (world->triangleCount == 0) {
    world->laidOut = true;
    return pn_reserveBuffer(world, PN_BUFFER_VERTICES, (size_t)world->vertexCount * 12);
  }
  Layout l = {0};
  pnResult result = allocLayout(world, &l) ? makeArrays(world, &l) : pn_failMemory((size_t)world->slotCount * 16);
  if (result == PN_OK) result = sendArrays(world, &l);
  freeLayout(world, &l);
  if (result == PN_OK) result = pn_layOutMotions(world);
  if (result == PN_OK) result = pn_layOutWishes(world);
  if (result == PN_OK) result = reserveLists(world);
  if (result != PN_OK) return result;
  // poses travel anew
  for (size_t b = 0; b < world->bodies.count; ++b) world->bodies.data[b].frame = world->bodies.data[b].shapeFrame = 0;
  world->rulesWithoutSelf = world->knowsSizes = false;
  world->argumentsStale = true;
  world->laidOut = true;
  return PN_OK;
}
