/* frame.c: the kernels of a frame, with their arguments and sizes, into the queue.
 *
 *   evaluate   vertices of bodies that are moved by weights, joints or a transform     (kernel/motion.cl)
 *   refit      corners, boxes of clusters and supers                                   (refit.cl)
 *   clusterPairs, trianglePairs   boxes against boxes, coarse to fine                  (pairs.cl)
 *   neighbours a proof for all around a vertex; where there is none, candidates        (fans.cl)
 *   narrow     the float filters                                                       (narrow.cl)
 *   exact      what the filters left                                                   (exact.cl)
 *   wanted     self filters, when there are any                                        (wanted.cl)
 *   scan, scatter, order; or orderBins   the sort                                      (sort.cl)
 *   limit      the first so many of them                                               (limit.cl)
 *
 * Sizes of the lists are known on the device only: kernels that read one are started with a fixed number of groups, which take
 * its items by turns. */
#include "device/world.h"

#include "base/thread.h"

#include <string.h>

/* ---------------------------------------------------------------- arguments */

/* Arguments of one kernel, one after the other. */
typedef struct Arguments {
  pnDeviceWorld *world;
  cl_kernel kernel;
  cl_uint at;
  cl_int error;
} Arguments;

static void set(Arguments *a, size_t size, const void *value) {
  if (a->error == CL_SUCCESS) a->error = pn_cl.SetKernelArg(a->kernel, a->at++, size, value);
}

static void buffer(Arguments *a, pnBufferName name) {
  set(a, sizeof(cl_mem), &a->world->buffers[name]);
}

static void number(Arguments *a, uint32_t value) {
  set(a, sizeof value, &value);
}

enum { EMIT_SORT = 1, EMIT_FIRST = 2, EMIT_BINS = 4 };

bool pn_isSorted(const pnDeviceWorld *world) {
  // what comes first is known by the order only
  return !world->def.countOnly && (!world->def.unsorted || world->def.maxPairs > 0);
}

bool pn_isLimited(const pnDeviceWorld *world) {
  const bool firstsLater = world->def.first && world->bodies.count > PN_MAX_MET_BODIES;
  return !world->def.countOnly && world->def.maxPairs > 0 && world->def.maxPairs < UINT32_MAX && !firstsLater;
}

/* Up to so many pairs bins are the faster sort; beyond, they become long. */
#define MOST_IN_BINS (1u << 18)

static uint32_t pairsBefore(const pnDeviceWorld *world) {
  return world->knowsSizes ? PN_MAX(world->head[PN_HEAD_PAIRS], world->head[PN_HEAD_FOUND]) : 0;
}

static uint32_t modeOf(const pnDeviceWorld *world) {
  const bool first = world->def.first && world->bodies.count <= PN_MAX_MET_BODIES;
  const bool bins = !world->binsFull && pairsBefore(world) <= MOST_IN_BINS;
  return (!pn_isSorted(world) ? 0 : bins ? EMIT_BINS : EMIT_SORT) | (first ? EMIT_FIRST : 0);
}

/* As the kernels have it (kernel/emit.cl). */
typedef struct EmitHow {
  uint32_t capacity, mode, place, list, bodyCount, binShift;
} EmitHow;

/* What every kernel that finds pairs begins with. Before a filter they go to a list of their own. */
static void emit(Arguments *a, bool raw) {
  const pnListName list = raw ? PN_LIST_RAW : PN_LIST_PAIRS;
  buffer(a, PN_BUFFER_HEAD);
  buffer(a, raw ? PN_BUFFER_LIST_RAW : a->world->mode & EMIT_BINS ? PN_BUFFER_BINS : PN_BUFFER_LIST_PAIRS);
  buffer(a, PN_BUFFER_RANKS);
  buffer(a, PN_BUFFER_COUNTS);
  buffer(a, PN_BUFFER_MET);
  buffer(a, PN_BUFFER_BODY_FIRST);
  const EmitHow how = {.capacity = a->world->capacity[list],
                       .mode = raw ? 0 : a->world->mode,
                       .place = raw ? PN_HEAD_RAW : PN_HEAD_PAIRS,
                       .list = 1u << list,
                       .bodyCount = (uint32_t)a->world->bodies.count,
                       .binShift = a->world->binShift};
  set(a, sizeof how, &how);
}

static void buffers(Arguments *a, const pnBufferName *names, int count) {
  for (int i = 0; i < count; ++i) buffer(a, names[i]);
}

#define BUFFERS(a, ...)                           \
  buffers(a, (const pnBufferName[]){__VA_ARGS__}, \
          (int)(sizeof((const pnBufferName[]){__VA_ARGS__}) / sizeof(pnBufferName)))

static void setBoxArguments(Arguments *a, pnStage stage) {
  const uint32_t *capacity = a->world->capacity;
  switch (stage) {
    case PN_STAGE_REFIT:
      // welded vertices are the triangles' own where none is welded onto another: they need not be read twice
      BUFFERS(a, PN_BUFFER_TRIANGLES, a->world->welded ? PN_BUFFER_WELDS : PN_BUFFER_TRIANGLES, PN_BUFFER_VERTICES,
              PN_BUFFER_CLUSTER_BODY, PN_BUFFER_SUPER_BODY, PN_BUFFER_RECORDS, PN_BUFFER_CLUSTER_LOW,
              PN_BUFFER_CLUSTER_HIGH, PN_BUFFER_SUPER_LOW, PN_BUFFER_SUPER_HIGH, PN_BUFFER_HEAD, PN_BUFFER_COUNTS);
      number(a, a->world->mode & EMIT_SORT   ? a->world->triangleCount
                : a->world->mode & EMIT_BINS ? a->world->binCount
                                             : 0);
      break;
    case PN_STAGE_CLUSTERS:
      BUFFERS(a, PN_BUFFER_CLUSTER_LOW, PN_BUFFER_CLUSTER_HIGH, PN_BUFFER_SUPER_LOW, PN_BUFFER_SUPER_HIGH,
              PN_BUFFER_RULES);
      number(a, a->world->superCount);
      BUFFERS(a, PN_BUFFER_HEAD, PN_BUFFER_LIST_CLUSTERS);
      number(a, capacity[PN_LIST_CLUSTERS]);
      break;
    case PN_STAGE_NEIGHBOURS:
      BUFFERS(a, PN_BUFFER_NEAR, PN_BUFFER_FANS, PN_BUFFER_RINGS, PN_BUFFER_VERTICES);
      number(a, a->world->fanCount);
      BUFFERS(a, PN_BUFFER_HEAD, PN_BUFFER_LIST_CANDIDATES);
      number(a, capacity[PN_LIST_CANDIDATES]);
      break;
    default: // PN_STAGE_TRIANGLES
      BUFFERS(a, PN_BUFFER_RECORDS, PN_BUFFER_CLUSTER_LOW, PN_BUFFER_CLUSTER_HIGH, PN_BUFFER_HEAD,
              PN_BUFFER_LIST_CLUSTERS);
      number(a, capacity[PN_LIST_CLUSTERS]);
      buffer(a, PN_BUFFER_MET);
      number(a, (uint32_t)a->world->bodies.count);
      number(a, a->world->mode);
      number(a, a->world->nearOnList);
      buffer(a, PN_BUFFER_LIST_CANDIDATES);
      number(a, capacity[PN_LIST_CANDIDATES]);
      break;
  }
}

static void setPairArguments(Arguments *a, pnStage stage) {
  const uint32_t *capacity = a->world->capacity;
  emit(a, a->world->filtered && stage != PN_STAGE_WANTED);
  if (stage == PN_STAGE_WANTED) {
    buffer(a, PN_BUFFER_LIST_RAW);
    number(a, capacity[PN_LIST_RAW]);
    BUFFERS(a, PN_BUFFER_WISHES, PN_BUFFER_NUMBERS, PN_BUFFER_VERTICES);
    return;
  }
  BUFFERS(a, PN_BUFFER_RECORDS, PN_BUFFER_TRIANGLES);
  if (stage == PN_STAGE_NARROW) {
    buffer(a, PN_BUFFER_LIST_CANDIDATES);
    number(a, capacity[PN_LIST_CANDIDATES]);
  }
  buffer(a, PN_BUFFER_LIST_UNSURE);
  number(a, capacity[PN_LIST_UNSURE]);
}

static void setSortArguments(Arguments *a, pnStage stage) {
  const pnDeviceWorld *world = a->world;
  switch (stage) {
    case PN_STAGE_SCAN:
      BUFFERS(a, PN_BUFFER_COUNTS, PN_BUFFER_OFFSETS, PN_BUFFER_RUNS);
      number(a, world->triangleCount);
      number(a, world->scanEach);
      break;
    case PN_STAGE_SCATTER:
      BUFFERS(a, PN_BUFFER_HEAD, PN_BUFFER_LIST_PAIRS, PN_BUFFER_RANKS);
      number(a, world->capacity[PN_LIST_PAIRS]);
      BUFFERS(a, PN_BUFFER_OFFSETS, PN_BUFFER_RUNS);
      number(a, world->scanRuns);
      number(a, 256 * world->scanEach);
      BUFFERS(a, PN_BUFFER_STARTS, PN_BUFFER_PLACED);
      break;
    case PN_STAGE_ORDER:
      BUFFERS(a, PN_BUFFER_HEAD, PN_BUFFER_PLACED);
      number(a, world->capacity[PN_LIST_PAIRS]);
      BUFFERS(a, PN_BUFFER_STARTS, PN_BUFFER_COUNTS, PN_BUFFER_SORTED);
      break;
    case PN_STAGE_BINS:
      BUFFERS(a, PN_BUFFER_BINS, PN_BUFFER_COUNTS);
      number(a, world->binCount);
      buffer(a, PN_BUFFER_SORTED);
      number(a, world->capacity[PN_LIST_PAIRS]);
      break;
    default: // PN_STAGE_LIMIT
      BUFFERS(a, PN_BUFFER_HEAD, PN_BUFFER_SORTED);
      number(a, world->capacity[PN_LIST_PAIRS]);
      buffer(a, PN_BUFFER_BODY_FIRST);
      number(a, (uint32_t)world->bodies.count);
      number(a, (uint32_t)PN_MIN(world->def.maxPairs, UINT32_MAX));
      buffer(a, PN_BUFFER_TALLY);
      break;
  }
}

static pnResult setStage(pnDeviceWorld *world, pnStage stage) {
  Arguments a = {world, world->kernels[stage], 0, CL_SUCCESS};
  if (stage == PN_STAGE_EVALUATE)
    BUFFERS(&a, PN_BUFFER_CHUNKS, PN_BUFFER_MOTIONS, PN_BUFFER_SOURCES, PN_BUFFER_INPUTS, PN_BUFFER_CONSTANTS,
            PN_BUFFER_WHOLE, PN_BUFFER_VERTICES);
  else if (stage <= PN_STAGE_NEIGHBOURS) setBoxArguments(&a, stage);
  else if (stage <= PN_STAGE_WANTED) setPairArguments(&a, stage);
  else setSortArguments(&a, stage);
  return a.error == CL_SUCCESS ? PN_OK : pn_worldFail(world, a.error, "SetKernelArg", "a frame");
}

static pnResult setArguments(pnDeviceWorld *world) {
  for (int i = 0; i < PN_STAGE_COUNT; ++i) {
    pnResult result = setStage(world, (pnStage)i);
    if (result != PN_OK) return result;
  }
  world->argumentsStale = false;
  return PN_OK;
}

/* ---------------------------------------------------------------- sizes */

/* Groups of 32 that keep a compute unit of a GPU busy, as measured: twice as many as run at once, so that who is done early finds
 * more to do. A processor needs a few for each core. */
size_t pn_teamsOf(const pnDeviceWorld *world) {
  const pnDeviceInfo *info = &world->device->info;
  return (size_t)info->computeUnits * (info->kind == PN_DEVICE_GPU ? 56 : 4);
}

/* Groups for a list that a group takes `each` items of at a time: a quarter more than the last frame had use for, and not fewer than
 * compute units. More do no harm but that of being started. */
static size_t groupsFor(const pnDeviceWorld *world, int place, size_t each) {
  const size_t most = pn_teamsOf(world), least = PN_MIN(world->device->info.computeUnits, most);
  const size_t last = place == PN_HEAD_PAIRS ? pairsBefore(world) : world->head[place];
  if (!world->knowsSizes) return most;
  return PN_MAX(PN_MIN((last + last / 4) / each + 1, most), PN_MAX(least, 1));
}

/* Groups for the pairs of supers: a team may look at up to 32 at once, but what it finds there it does one after the other. */
static size_t groupsForSupers(const pnDeviceWorld *world) {
  const uint64_t n = world->superCount, pairs = (n + 1) / 2 * (n + 2);
  const size_t some = PN_MAX(groupsFor(world, PN_HEAD_SUPERS, 1), (size_t)world->device->info.computeUnits * 8);
  return PN_MIN(PN_MIN(some, pn_teamsOf(world)), (size_t)PN_MIN(pairs, UINT32_MAX));
}

/* Is the stage part of this frame, and with how many items? */
static bool sizeStage(const pnDeviceWorld *world, pnStage stage, size_t *global, size_t *local) {
  const size_t teams = pn_teamsOf(world);
  *local = 256;
  switch (stage) {
    case PN_STAGE_EVALUATE:
      *local = 64;
      *global = (size_t)world->chunkCount * 64;
      return world->moved;
    case PN_STAGE_REFIT: *global = (size_t)world->superCount * 256; return true;
    case PN_STAGE_CLUSTERS:
    case PN_STAGE_TRIANGLES:
      *local = 32;
      *global = (stage == PN_STAGE_CLUSTERS ? groupsForSupers(world) : groupsFor(world, PN_HEAD_CLUSTERS, 1)) * 32;
      return true;
    case PN_STAGE_NARROW:
      *local = 32;
      *global = groupsFor(world, PN_HEAD_CANDIDATES, 32) * 32;
      return true;
    case PN_STAGE_NEIGHBOURS:
      *local = 64;
      *global = PN_MIN(((size_t)world->fanCount + 63) / 64, teams) * 64;
      return world->fanCount > 0 && !world->def.noSelf;
    case PN_STAGE_EXACT:
    case PN_STAGE_WANTED:
      *local = 64;
      *global = groupsFor(world, stage == PN_STAGE_EXACT ? PN_HEAD_UNSURE : PN_HEAD_RAW, 64) * 64;
      return stage == PN_STAGE_EXACT || world->filtered;
    case PN_STAGE_SCAN: *global = (size_t)world->scanRuns * 256; return (world->mode & EMIT_SORT) != 0;
    case PN_STAGE_BINS:
      // eight bins a group
      *global = PN_MIN(((size_t)world->binCount + 7) / 8, world->device->info.computeUnits) * 256;
      return (world->mode & EMIT_BINS) != 0;
    case PN_STAGE_LIMIT: *global = 256; return pn_isLimited(world);
    default: // scatter, order
      *global = PN_MIN(groupsFor(world, PN_HEAD_PAIRS, 256), PN_MAX(teams / 4, 1)) * 256;
      return (world->mode & EMIT_SORT) != 0;
  }
}

/* ---------------------------------------------------------------- the frame */

pnResult pn_sendRules(pnDeviceWorld *world, bool noSelf) {
  if (!world->anySelf || world->rulesWithoutSelf == noSelf) return PN_OK;
  const size_t bytes = world->bodies.count * 16;
  uint32_t *rules = pn_alloc(bytes);
  if (!rules) return pn_failMemory(bytes);
  for (size_t b = 0; b < world->bodies.count; ++b) {
    const pnDeviceBody *body = &world->bodies.data[b];
    rules[4 * b] = body->category;
    rules[4 * b + 1] = body->mask;
    rules[4 * b + 2] = body->self && !noSelf;
    rules[4 * b + 3] = 0;
  }
  pnResult result = pn_fillBuffer(world, PN_BUFFER_RULES, rules, bytes);
  pn_free(rules, bytes);
  if (result == PN_OK) world->rulesWithoutSelf = noSelf;
  return result;
}

static pnResult clearMet(pnDeviceWorld *world) {
  const bool first = (world->mode & EMIT_FIRST) != 0;
  const size_t bytes = first ? world->bodies.count * world->bodies.count * 4 : 4;
  pnResult result = pn_reserveBuffer(world, PN_BUFFER_MET, bytes);
  if (result != PN_OK || !first) return result;
  const uint32_t none = 0;
  cl_int error = pn_cl.EnqueueFillBuffer(world->device->queue, world->buffers[PN_BUFFER_MET], &none, sizeof none, 0,
                                         bytes, 0, NULL, NULL);
  return error == CL_SUCCESS ? PN_OK : pn_worldFail(world, error, "EnqueueFillBuffer", "bodies that meet");
}

static void forgetEvents(pnDeviceWorld *world) {
  if (world->event) pn_cl.ReleaseEvent(world->event);
  world->event = NULL;
  for (int i = 0; i < PN_STAGE_COUNT; ++i) {
    if (world->stageEvents[i]) pn_cl.ReleaseEvent(world->stageEvents[i]);
    world->stageEvents[i] = NULL;
  }
}

pnResult pn_enqueueFrame(pnDeviceWorld *world) {
  const uint32_t mode = modeOf(world);
  world->argumentsStale = world->argumentsStale || mode != world->mode;
  world->mode = mode;
  pnResult result = pn_sendRules(world, world->def.noSelf);
  if (result == PN_OK) result = clearMet(world);
  if (result == PN_OK && world->argumentsStale) result = setArguments(world);
  if (result != PN_OK) return result;
  forgetEvents(world);
  pnStage last = PN_STAGE_EXACT;
  size_t global, local;
  for (int i = 0; i < PN_STAGE_COUNT; ++i)
    if (sizeStage(world, (pnStage)i, &global, &local)) last = (pnStage)i;
  for (int i = 0; i < PN_STAGE_COUNT; ++i) {
    if (!sizeStage(world, (pnStage)i, &global, &local)) continue;
    cl_event *event = i == (int)last ? &world->event : world->device->profile ? &world->stageEvents[i] : NULL;
    cl_int error =
        pn_cl.EnqueueNDRangeKernel(world->device->queue, world->kernels[i], 1, NULL, &global, &local, 0, NULL, event);
    if (error != CL_SUCCESS) return pn_worldFail(world, error, "EnqueueNDRangeKernel", "a frame");
  }
  if (world->device->profile && pn_cl.RetainEvent(world->event) == CL_SUCCESS) world->stageEvents[last] = world->event;
  cl_int error = pn_cl.Flush(world->device->queue);
  return error == CL_SUCCESS ? PN_OK : pn_worldFail(world, error, "Flush", "a frame");
}

static bool sameMode(const pnDeviceFrameDef *a, const pnDeviceFrameDef *b) {
  return a->first == b->first && a->unsorted == b->unsorted && a->countOnly == b->countOnly &&
         a->maxPairs == b->maxPairs;
}

static pnResult failLost(const pnDeviceWorld *world) {
  return pn_fail(PN_ERROR_DEVICE, "device '%s' failed before; it and its worlds can only be destroyed",
                 world->device->info.name);
}

pnResult pn_bringVertices(pnDeviceWorld *world) {
  if (world->device->lost) return failLost(world);
  pnResult result = pn_layOut(world);
  if (result == PN_OK && world->triangleCount > 0) result = pn_uploadPoses(world);
  if (result != PN_OK || world->triangleCount == 0 || !world->moved) return result;
  size_t global, local;
  result = setStage(world, PN_STAGE_EVALUATE);
  if (result == PN_OK && sizeStage(world, PN_STAGE_EVALUATE, &global, &local)) {
    cl_int error = pn_cl.EnqueueNDRangeKernel(world->device->queue, world->kernels[PN_STAGE_EVALUATE], 1, NULL, &global,
                                              &local, 0, NULL, NULL);
    if (error != CL_SUCCESS) result = pn_worldFail(world, error, "EnqueueNDRangeKernel", "vertices");
  }
  // the next frame finds them in place, or makes them
  if (result == PN_OK) world->moved = false;
  else pn_forgetPoses(world);
  return result;
}

static pnResult beginFrame(pnDeviceWorld *world, const pnDeviceFrameDef *def) {
  if (world->device->lost) return failLost(world);
  pnResult result = pn_layOut(world);
  if (result != PN_OK) return result;
  if (!sameMode(def, &world->def)) world->argumentsStale = true;
  world->def = *def;
  world->def.waits = NULL;
  world->running = true;
  if (world->triangleCount == 0) return PN_OK;
  if (def->waitCount > 0) {
    cl_int error =
        pn_cl.EnqueueBarrierWithWaitList(world->device->queue, def->waitCount, (const cl_event *)def->waits, NULL);
    if (error != CL_SUCCESS) return pn_worldFail(world, error, "EnqueueBarrierWithWaitList", "the caller's events");
  }
  result = pn_uploadPoses(world);
  if (result == PN_OK) result = pn_enqueueFrame(world);
  if (result != PN_OK) pn_forgetPoses(world);
  return result;
}

pnResult pnDeviceWorld_Begin(pnDeviceWorld *world, const pnDeviceFrameDef *def) {
  PN_ASSERT(world);
  const pnDeviceFrameDef none = {0};
  world->begun = pn_clock();
  world->finished = false;
  pnResult result = beginFrame(world, def ? def : &none);
  if (result != PN_OK) pn_settle(world);
  return result;
}
