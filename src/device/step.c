/* step.c: what meets between two frames. Kernels of the frame, compiled so that boxes are around both ends of the step, give pairs of
 * triangles; kernel/swept.cl makes features of them and finds when they meet.
 *
 *   refit, clusterPairs, trianglePairs   boxes, coarse to fine
 *   sweptFeatures   pairs of features that are not proved apart at once
 *   sweptSearch     when they meet first
 *   sweptExact      the same in whole numbers, for what is undecided (kernel/swept_exact.cl)
 *   scan, impactScatter, impactOrder   the sort (kernel/impacts_sort.cl)
 *
 * Lists grow as those of the frame do. What was found is taken in step_result.c. */
#include "device/world.h"

#include "base/fenv.h"
#include "base/memory.h"
#include "collide/sweep.h"
#include "geom/whole.h"

#include <string.h>

static const char *const s_names[PN_STEP_COUNT] = {
#define PN_STEP_TEXT(name, kernel) #kernel,
    PN_STEP_STAGES(PN_STEP_TEXT)
#undef PN_STEP_TEXT
};

/* Of an undecided pair of features: x, y, z of four points at both ends. */
#define UNSURE_FLOATS 24u

void pn_freeStep(pnDeviceWorld *world) {
  for (int i = 0; i < PN_STEP_COUNT; ++i) {
    if (world->stepKernels[i]) pn_cl.ReleaseKernel(world->stepKernels[i]);
    if (world->stepEvents[i]) pn_cl.ReleaseEvent(world->stepEvents[i]);
  }
  pn_arrayFree(&world->step.impacts);
  pn_arrayFree(&world->step.bodies);
  pn_arrayFree(&world->step.keys);
  pn_arrayFree(&world->step.contacts);
}

/* ---------------------------------------------------------------- features */

/* The edges of a body's triangles and which features each owns, by slot: those of the processor's sweep. */
static pnResult nameFeatures(const pnDeviceBody *body, const uint32_t *slots, uint32_t *out, uint64_t *edgeCount) {
  const pnMesh *mesh = body->pose->mesh;
  pnSweep *sweep;
  pnResult result = pnCreateSweep(mesh, &sweep);
  if (result != PN_OK) return result;
  for (uint32_t i = 0; i < mesh->triangleCount; ++i) {
    const uint32_t slot = body->firstSlot + i, t = slots[4 * (size_t)slot + 3] - body->firstTriangle;
    for (size_t k = 0; k < 3; ++k) out[4 * (size_t)slot + k] = sweep->triangleEdge[3 * (size_t)t + k];
    out[4 * (size_t)slot + 3] = sweep->owned[t];
  }
  *edgeCount += sweep->edgeCount;
  pnDestroySweep(sweep);
  return PN_OK;
}

/* All bodies. Which triangle is in which slot only the device knows by now: it is fetched. */
static pnResult layOutFeatures(pnDeviceWorld *world) {
  if (world->hasFeatures) return PN_OK;
  const size_t bytes = (size_t)world->slotCount * 16, firstBytes = world->bodies.count * 16;
  uint64_t edgeCount = 0;
  uint32_t *slots = pn_alloc(bytes), *edges = pn_allocZero(bytes), *firsts = pn_alloc(firstBytes);
  pnResult result = slots && edges && firsts ? PN_OK : pn_failMemory(2 * bytes);
  if (result == PN_OK) {
    cl_int error = pn_cl.EnqueueReadBuffer(world->device->queue, world->buffers[PN_BUFFER_TRIANGLES], 1, 0, bytes,
                                           slots, 0, NULL, NULL);
    if (error != CL_SUCCESS) result = pn_worldFail(world, error, "EnqueueReadBuffer", "triangles");
  }
  for (size_t b = 0; b < world->bodies.count && result == PN_OK; ++b) {
    const pnDeviceBody *body = &world->bodies.data[b];
    const uint32_t first[4] = {body->firstVertex, body->firstTriangle, (uint32_t)edgeCount, 0};
    memcpy(firsts + 4 * b, first, sizeof first);
    result = nameFeatures(body, slots, edges, &edgeCount);
  }
  const uint64_t features = (uint64_t)world->vertexCount + world->triangleCount + edgeCount;
  if (result == PN_OK && features > UINT32_MAX)
    result = pn_fail(PN_ERROR_COUNT, "device world: it has %llu vertices, triangles and edges, too many for a step",
                     (unsigned long long)features);
  world->featureCount = (uint32_t)features;
  if (result == PN_OK) result = pn_fillBuffer(world, PN_BUFFER_EDGES, edges, bytes);
  if (result == PN_OK) result = pn_fillBuffer(world, PN_BUFFER_FIRSTS, firsts, firstBytes);
  pn_free(slots, bytes);
  pn_free(edges, bytes);
  pn_free(firsts, firstBytes);
  world->hasFeatures = result == PN_OK;
  return result;
}

/* ---------------------------------------------------------------- begin */

/* The exact program takes a compiler seconds, and most steps do without it: it comes when something is undecided for the first time. */
static pnResult prepareExact(pnDeviceWorld *world) {
  pnResult result = pn_testSteps(world->device, true);
  const size_t bytes = pn_slatesOf(world->device) * PN_SLATE_LIMBS * sizeof(uint64_t);
  if (result == PN_OK) result = pn_reserveBuffer(world, PN_BUFFER_SLATES, bytes);
  if (result == PN_OK)
    world->stepKernels[PN_STEP_EXACT] =
        pn_createKernel(world->device, PN_PROGRAM_SWEPT_EXACT, s_names[PN_STEP_EXACT], &result);
  return result;
}

static pnResult prepareStep(pnDeviceWorld *world) {
  pnResult result = pn_testSteps(world->device, false);
  for (int i = 0; i < PN_STEP_COUNT && result == PN_OK; ++i)
    if (!world->stepKernels[i] && i != PN_STEP_EXACT)
      world->stepKernels[i] = pn_createKernel(world->device, PN_PROGRAM_SWEPT, s_names[i], &result);
  if (result == PN_OK) result = layOutFeatures(world);
  if (result == PN_OK) result = pn_reserveBuffer(world, PN_BUFFER_FEATURE_COUNTS, (size_t)world->featureCount * 4);
  if (result == PN_OK) result = pn_reserveBuffer(world, PN_BUFFER_FEATURE_OFFSETS, (size_t)world->featureCount * 4);
  if (result == PN_OK) result = pn_reserveBuffer(world, PN_BUFFER_BEGIN, (size_t)world->vertexCount * 12);
  if (result == PN_OK) result = pn_reserveBuffer(world, PN_BUFFER_RECORDS_BEGIN, (size_t)world->slotCount * 48);
  if (result == PN_OK) result = pn_reserveBuffer(world, PN_BUFFER_STEP_HEAD, PN_STEP_PLACES * 4);
  if (result != PN_OK) return result;
  // empty slots are NaN, as those of the frame
  const uint32_t none = PN_NONE;
  cl_int error = pn_cl.EnqueueFillBuffer(world->device->queue, world->buffers[PN_BUFFER_RECORDS_BEGIN], &none,
                                         sizeof none, 0, (size_t)world->slotCount * 48, 0, NULL, NULL);
  return error == CL_SUCCESS ? PN_OK : pn_worldFail(world, error, "EnqueueFillBuffer", "corners");
}

/* Where the step begins. */
static pnResult keepVertices(pnDeviceWorld *world) {
  cl_int error =
      pn_cl.EnqueueCopyBuffer(world->device->queue, world->buffers[PN_BUFFER_VERTICES], world->buffers[PN_BUFFER_BEGIN],
                              0, 0, (size_t)world->vertexCount * 12, 0, NULL, NULL);
  return error == CL_SUCCESS ? PN_OK : pn_worldFail(world, error, "EnqueueCopyBuffer", "vertices");
}

pnResult pnDeviceWorld_BeginStep(pnDeviceWorld *world) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world);
  const bool again = world->stepBegun && world->laidOut;
  world->stepBegun = false;
  pnResult result = pn_bringVertices(world);
  if (result == PN_OK && world->triangleCount > 0 && !again) result = prepareStep(world);
  if (result == PN_OK && world->triangleCount > 0) result = keepVertices(world);
  // the caller moves the bodies next
  pn_settle(world);
  world->stepBegun = result == PN_OK;
  return result;
}

/* ---------------------------------------------------------------- the kernels */

static pnResult reserveStep(pnDeviceWorld *world, uint64_t search, uint64_t impacts, uint64_t unsure) {
  search = PN_MIN(PN_MAX(search, world->searchCapacity), UINT32_MAX / 2);
  impacts = PN_MIN(PN_MAX(impacts, world->impactCapacity), UINT32_MAX / 2);
  unsure = PN_MIN(PN_MAX(unsure, world->unsureCapacity), UINT32_MAX / 2);
  const struct {
    pnBufferName name;
    uint64_t bytes;
  } wanted[] = {{PN_BUFFER_LIST_SEARCH, search * 8},    {PN_BUFFER_IMPACTS, impacts * 16},
                {PN_BUFFER_SPANS, impacts * 16},        {PN_BUFFER_SORTED_IMPACTS, impacts * 16},
                {PN_BUFFER_SORTED_SPANS, impacts * 16}, {PN_BUFFER_IMPACT_RANKS, impacts * 4},
                {PN_BUFFER_IMPACT_BEGINS, impacts * 4}, {PN_BUFFER_IMPACT_PLACED, impacts * 4},
                {PN_BUFFER_UNSURE_NAMES, unsure * 16},  {PN_BUFFER_UNSURE_POINTS, unsure * UNSURE_FLOATS * 4}};
  pnResult result = PN_OK;
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && result == PN_OK; ++i)
    result = pn_reserveBuffer(world, wanted[i].name, wanted[i].bytes);
  if (result != PN_OK) return result;
  world->searchCapacity = (uint32_t)search;
  world->impactCapacity = (uint32_t)impacts;
  world->unsureCapacity = (uint32_t)unsure;
  return PN_OK;
}

#define RUN(stage, items, local_, ...)                                                               \
  pn_runKernel(world, world->stepKernels[stage], s_names[stage], (const pnArgument[]){__VA_ARGS__},  \
               (int)(sizeof((const pnArgument[]){__VA_ARGS__}) / sizeof(pnArgument)), items, local_, \
               world->device->profile ? &world->stepEvents[stage] : NULL)

static pnResult enqueueBoxes(pnDeviceWorld *world, float until) {
  const cl_mem *b = world->buffers, head = b[PN_BUFFER_STEP_HEAD];
  const uint32_t *capacity = world->capacity;
  const size_t supers = world->superCount, teams = pn_teamsOf(world);
  const size_t refit[2] = {supers * 256, 1}, of256[2] = {256, 1}, team[2] = {teams * 32, 1}, of32[2] = {32, 1};
  pnResult result =
      RUN(PN_STEP_REFIT, refit, of256, PN_VALUE(b[PN_BUFFER_TRIANGLES]), PN_VALUE(b[PN_BUFFER_WELDS]),
          PN_VALUE(b[PN_BUFFER_VERTICES]), PN_VALUE(b[PN_BUFFER_CLUSTER_BODY]), PN_VALUE(b[PN_BUFFER_SUPER_BODY]),
          PN_VALUE(b[PN_BUFFER_RECORDS]), PN_VALUE(b[PN_BUFFER_CLUSTER_LOW]), PN_VALUE(b[PN_BUFFER_CLUSTER_HIGH]),
          PN_VALUE(b[PN_BUFFER_SUPER_LOW]), PN_VALUE(b[PN_BUFFER_SUPER_HIGH]), PN_VALUE(head),
          PN_VALUE(b[PN_BUFFER_BEGIN]), PN_VALUE(b[PN_BUFFER_RECORDS_BEGIN]), PN_VALUE(until),
          PN_VALUE(b[PN_BUFFER_FEATURE_COUNTS]), PN_VALUE(world->featureCount));
  if (result == PN_OK)
    result = RUN(PN_STEP_CLUSTERS, team, of32, PN_VALUE(b[PN_BUFFER_CLUSTER_LOW]), PN_VALUE(b[PN_BUFFER_CLUSTER_HIGH]),
                 PN_VALUE(b[PN_BUFFER_SUPER_LOW]), PN_VALUE(b[PN_BUFFER_SUPER_HIGH]), PN_VALUE(b[PN_BUFFER_RULES]),
                 PN_VALUE(world->superCount), PN_VALUE(head), PN_VALUE(b[PN_BUFFER_LIST_CLUSTERS]),
                 PN_VALUE(capacity[PN_LIST_CLUSTERS]));
  if (result == PN_OK)
    result =
        RUN(PN_STEP_TRIANGLES, team, of32, PN_VALUE(b[PN_BUFFER_RECORDS]), PN_VALUE(b[PN_BUFFER_CLUSTER_LOW]),
            PN_VALUE(b[PN_BUFFER_CLUSTER_HIGH]), PN_VALUE(head), PN_VALUE(b[PN_BUFFER_LIST_CLUSTERS]),
            PN_VALUE(capacity[PN_LIST_CLUSTERS]), PN_VALUE(b[PN_BUFFER_RECORDS_BEGIN]), PN_VALUE(b[PN_BUFFER_EDGES]),
            PN_VALUE(until), PN_VALUE(b[PN_BUFFER_LIST_CANDIDATES]), PN_VALUE(capacity[PN_LIST_CANDIDATES]));
  return result;
}

/* What every kernel that finds impacts begins with (kernel/impacts.cl). */
#define IMPACT_ARGUMENTS                                                                                         \
  PN_VALUE(b[PN_BUFFER_STEP_HEAD]), PN_VALUE(b[PN_BUFFER_IMPACTS]), PN_VALUE(b[PN_BUFFER_SPANS]),                \
      PN_VALUE(b[PN_BUFFER_FEATURE_COUNTS]), PN_VALUE(b[PN_BUFFER_IMPACT_RANKS]), PN_VALUE(b[PN_BUFFER_FIRSTS]), \
      PN_VALUE(world->impactCapacity), PN_VALUE(world->vertexCount), PN_VALUE(world->triangleCount),             \
      PN_NUMBER(earliest)

static pnResult enqueueSearch(pnDeviceWorld *world, bool earliest, float until) {
  const cl_mem *b = world->buffers, head = b[PN_BUFFER_STEP_HEAD];
  const size_t teams = pn_teamsOf(world), team[2] = {teams * 32, 1}, of32[2] = {32, 1}, of64[2] = {64, 1};
  const size_t slates[2] = {pn_slatesOf(world->device), 1};
  pnResult result = RUN(PN_STEP_FEATURES, team, of32, PN_VALUE(b[PN_BUFFER_RECORDS_BEGIN]),
                        PN_VALUE(b[PN_BUFFER_RECORDS]), PN_VALUE(b[PN_BUFFER_EDGES]), PN_VALUE(head),
                        PN_VALUE(b[PN_BUFFER_LIST_CANDIDATES]), PN_VALUE(world->capacity[PN_LIST_CANDIDATES]),
                        PN_VALUE(until), PN_VALUE(b[PN_BUFFER_LIST_SEARCH]), PN_VALUE(world->searchCapacity));
  if (result == PN_OK)
    result = RUN(PN_STEP_SEARCH, team, of64, IMPACT_ARGUMENTS, PN_VALUE(b[PN_BUFFER_RECORDS_BEGIN]),
                 PN_VALUE(b[PN_BUFFER_RECORDS]), PN_VALUE(b[PN_BUFFER_TRIANGLES]), PN_VALUE(b[PN_BUFFER_WELDS]),
                 PN_VALUE(b[PN_BUFFER_EDGES]), PN_VALUE(b[PN_BUFFER_LIST_SEARCH]), PN_VALUE(world->searchCapacity),
                 PN_VALUE(b[PN_BUFFER_UNSURE_NAMES]), PN_VALUE(b[PN_BUFFER_UNSURE_POINTS]),
                 PN_VALUE(world->unsureCapacity), PN_VALUE(until));
  if (result == PN_OK && world->stepKernels[PN_STEP_EXACT])
    result = RUN(PN_STEP_EXACT, slates, of32, IMPACT_ARGUMENTS, PN_VALUE(b[PN_BUFFER_UNSURE_NAMES]),
                 PN_VALUE(b[PN_BUFFER_UNSURE_POINTS]), PN_VALUE(world->unsureCapacity), PN_VALUE(b[PN_BUFFER_SLATES]));
  return result;
}

static pnResult enqueueSort(pnDeviceWorld *world) {
  const cl_mem *b = world->buffers, head = b[PN_BUFFER_STEP_HEAD];
  // as the frame's scan (layout.c), and the same buffer for its runs
  const uint32_t n = world->featureCount, each = PN_MAX(4, n / (256 * 1024) + 1);
  const uint32_t runs = (uint32_t)(((uint64_t)n + 256 * each - 1) / (256 * each));
  const size_t scan[2] = {(size_t)runs * 256, 1}, of256[2] = {256, 1};
  const size_t some[2] = {PN_MAX(pn_teamsOf(world) / 8, 1) * 256, 1};
  pnResult result =
      RUN(PN_STEP_SCAN, scan, of256, PN_VALUE(b[PN_BUFFER_FEATURE_COUNTS]), PN_VALUE(b[PN_BUFFER_FEATURE_OFFSETS]),
          PN_VALUE(b[PN_BUFFER_RUNS]), PN_VALUE(n), PN_VALUE(each));
  if (result == PN_OK)
    result = RUN(PN_STEP_SCATTER, some, of256, PN_VALUE(head), PN_VALUE(b[PN_BUFFER_IMPACTS]),
                 PN_VALUE(b[PN_BUFFER_IMPACT_RANKS]), PN_VALUE(world->impactCapacity), PN_VALUE(b[PN_BUFFER_FIRSTS]),
                 PN_VALUE(world->vertexCount), PN_VALUE(world->triangleCount), PN_VALUE(b[PN_BUFFER_FEATURE_OFFSETS]),
                 PN_VALUE(b[PN_BUFFER_RUNS]), PN_VALUE(runs), PN_NUMBER(256 * each),
                 PN_VALUE(b[PN_BUFFER_IMPACT_BEGINS]), PN_VALUE(b[PN_BUFFER_IMPACT_PLACED]));
  if (result == PN_OK)
    result = RUN(PN_STEP_ORDER, some, of256, PN_VALUE(head), PN_VALUE(b[PN_BUFFER_IMPACTS]),
                 PN_VALUE(b[PN_BUFFER_SPANS]), PN_VALUE(world->impactCapacity), PN_VALUE(b[PN_BUFFER_FIRSTS]),
                 PN_VALUE(world->vertexCount), PN_VALUE(world->triangleCount), PN_VALUE(b[PN_BUFFER_FEATURE_COUNTS]),
                 PN_VALUE(b[PN_BUFFER_IMPACT_BEGINS]), PN_VALUE(b[PN_BUFFER_IMPACT_PLACED]),
                 PN_VALUE(b[PN_BUFFER_SORTED_IMPACTS]), PN_VALUE(b[PN_BUFFER_SORTED_SPANS]));
  return result;
}

static pnResult enqueueStep(pnDeviceWorld *world, bool earliest, float until) {
  for (int i = 0; i < PN_STEP_COUNT; ++i) {
    if (world->stepEvents[i]) pn_cl.ReleaseEvent(world->stepEvents[i]);
    world->stepEvents[i] = NULL;
  }
  pnResult result = enqueueBoxes(world, until);
  if (result == PN_OK) result = enqueueSearch(world, earliest, until);
  return result == PN_OK && !earliest ? enqueueSort(world) : result;
}

static pnResult readHead(pnDeviceWorld *world) {
  cl_int error = pn_cl.EnqueueReadBuffer(world->device->queue, world->buffers[PN_BUFFER_STEP_HEAD], 1, 0,
                                         sizeof world->stepHead, world->stepHead, 0, NULL, NULL);
  return error == CL_SUCCESS ? PN_OK : pn_worldFail(world, error, "EnqueueReadBuffer", "the end of a step");
}

/* A quarter more than was asked for. */
static pnResult growStep(pnDeviceWorld *world) {
  const uint32_t *head = world->stepHead, bits = head[PN_HEAD_OVERFLOW];
  static const int places[2] = {PN_HEAD_CLUSTERS, PN_HEAD_CANDIDATES};
  for (int i = 0; i < 2; ++i) {
    const uint64_t wanted = (uint64_t)head[places[i]] + head[places[i]] / 4 + 64;
    if (!(bits >> i & 1u)) continue;
    pnResult result = pn_reserveList(world, (pnListName)i, (uint32_t)PN_MIN(wanted, UINT32_MAX / 2));
    if (result != PN_OK) return result;
  }
  uint64_t wanted[3] = {head[PN_STEP_HEAD_SEARCH], head[PN_HEAD_PAIRS], head[PN_HEAD_UNSURE]};
  for (int i = 0; i < 3; ++i) wanted[i] += wanted[i] / 4 + 64;
  return reserveStep(world, wanted[0], wanted[1], wanted[2]);
}

/* A step that is run again so often counts more than 32 bits hold. */
#define MOST_RERUNS 16u

pnResult pn_runStep(pnDeviceWorld *world, bool earliest, float until, uint32_t *outReruns) {
  // what most steps need
  const uint64_t n = world->slotCount;
  pnResult result = reserveStep(world, 2 * n + 4096, n / 2 + 4096, 1024);
  for (; result == PN_OK; ++*outReruns) {
    result = enqueueStep(world, earliest, until);
    if (result == PN_OK) result = readHead(world);
    if (result != PN_OK || world->stepHead[PN_HEAD_BAD] != PN_NONE) break;
    const bool lacksExact = world->stepHead[PN_HEAD_UNSURE] > 0 && !world->stepKernels[PN_STEP_EXACT];
    const bool tooShort = world->stepHead[PN_HEAD_OVERFLOW] != 0;
    if (!lacksExact && !tooShort) break;
    if (*outReruns >= MOST_RERUNS)
      return pn_fail(PN_ERROR_MEMORY, "device world: the step has more impacts than can be counted");
    if (tooShort) result = growStep(world);
    if (result == PN_OK && lacksExact) result = prepareExact(world);
  }
  if (result == PN_OK && world->stepHead[PN_HEAD_BAD] != PN_NONE) result = pn_failNumber(world);
  if (result == PN_OK) pn_noteSeconds(world->device, world->stepEvents, PN_STEP_COUNT, world->stepSeconds);
  return result;
}

const char *pnDeviceWorld_GetStepStage(const pnDeviceWorld *world, uint32_t i, double *outSeconds) {
  if (i >= PN_STEP_COUNT || !world->device->profile) return NULL;
  if (outSeconds) *outSeconds = world->stepSeconds[i];
  return s_names[i];
}
