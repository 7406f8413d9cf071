/* layout.c: the arrays that stay as they are from frame to frame: the order of triangles, their vertices by slot, and which
 * bodies may meet. Neighbours are in layout_near.c.
 *
 * Bodies begin with a cluster; those of more than half a super with a super of their own. Slots that stay empty have corners
 * that are NaN, whose boxes overlap nothing. */
#include "device/world.h"

#include <math.h>
#include <string.h>

/* What is made here, before it goes to the device. */
typedef struct Layout {
  uint32_t *triangles, *welds;       /* four a slot */
  uint32_t *clusterBody, *superBody; /* PN_NONE: none, or several */
  uint32_t *order;                   /* of one body */
  float *positions, *sums;           /* of one body */
  uint32_t *slots;                   /* of every triangle of the world */
  uint32_t *rules, *bodyFirst;
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

/* Does the mesh have a shape? Some make it of zeros and set the vertices later. */
static bool hasShape(const pnMesh *mesh) {
  for (size_t i = 3; i < 3 * (size_t)mesh->vertexCount; ++i)
    if (mesh->vertices[i] != mesh->vertices[i % 3]) return true;
  return false;
}

/* Sums of the corners of a body's triangles at rest: there, what is close together stays so. In a fold of a cloth triangles
 * of two sheets would come into one cluster, and the sheets go apart (3.5 times as many pairs of clusters in scene s4). */
static void sumCorners(const pnDeviceBody *body, Layout *l) {
  const pnMesh *mesh = body->pose->mesh;
  if (body->onDevice || hasShape(mesh))
    memcpy(l->positions, mesh->vertices, 3 * (size_t)mesh->vertexCount * sizeof(float));
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
  world->welded = false;
  for (size_t b = 0; b < world->bodies.count; ++b)
    world->welded = world->welded || world->bodies.data[b].pose->mesh->welded;
  return pn_layOutNear(world, l->triangles, l->slots);
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
                {PN_BUFFER_BODY_FIRST, l->bodyFirst, bodies * 4}};
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
               {PN_BUFFER_RUNS, 1024 * 4},
               {PN_BUFFER_BINS, (size_t)world->binCount * PN_BIN_ROOM * sizeof(pnPair)},
               {PN_BUFFER_TALLY, bodies * 4}};
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
  const uint64_t wanted[PN_LIST_COUNT] = {n + 4096, n * 16 + 4096, n / 2 + 4096, n + 4096,
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
  pn_settle(world);
  world->running = world->finished = false;
  world->slotCount = (placeBodies(world) + PN_SUPER - 1) / PN_SUPER * PN_SUPER;
  world->superCount = world->slotCount / PN_SUPER;
  // the scan's runs: 256 items of `each` triangles, at most 1 024 of them
  world->scanEach = PN_MAX(4, (world->triangleCount + 256 * 1024 - 1) / (256 * 1024));
  world->scanRuns = (world->triangleCount + 256 * world->scanEach - 1) / (256 * world->scanEach);
  // and the bins
  const uint32_t last = PN_MAX(world->triangleCount, 1) - 1;
  for (world->binShift = 0; last >> world->binShift >= PN_MAX_BINS;) ++world->binShift;
  world->binCount = (last >> world->binShift) + 1;
  world->binsFull = false;
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
  pn_forgetPoses(world);
  world->rulesWithoutSelf = world->knowsSizes = world->hasFeatures = world->stepBegun = false;
  world->argumentsStale = true;
  world->laidOut = true;
  return PN_OK;
}
