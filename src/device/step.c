/* step.c: what meets between two frames. Kernels of the frame, compiled so that boxes are around both ends of the step, give pairs of
 * triangles; kernel/swept.cl makes features of them and finds when they meet.
 *
 *   refit, superPairs, clusterPairs, trianglePairs   boxes, coarse to fine
 *   sweptFeatures   pairs of features that are not proved apart at once
 *   sweptSearch     when they meet first; what is undecided comes here, and whole numbers decide it
 *
 * Lists grow as those of the frame do. */
#include "device/world.h"

#include "base/fenv.h"
#include "base/memory.h"
#include "base/thread.h"
#include "collide/sweep.h"
#include "geom/impact.h"

#include <math.h>
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
  pn_arrayFree(&world->step.scratch);
  pn_arrayFree(&world->step.bodies);
  pn_arrayFree(&world->step.otherBodies);
  pn_arrayFree(&world->step.keys);
  pn_arrayFree(&world->step.contacts);
}

/* ---------------------------------------------------------------- features */

/* The edges of a body's triangles and which features each owns, by slot: those of the processor's sweep. */
static pnResult nameFeatures(const pnDeviceBody *body, const uint32_t *slots, uint32_t *out) {
  const pnMesh *mesh = body->pose->mesh;
  pnSweep *sweep;
  pnResult result = pnCreateSweep(mesh, &sweep);
  if (result != PN_OK) return result;
  for (uint32_t i = 0; i < mesh->triangleCount; ++i) {
    const uint32_t slot = body->firstSlot + i, t = slots[4 * (size_t)slot + 3] - body->firstTriangle;
    for (size_t k = 0; k < 3; ++k) out[4 * (size_t)slot + k] = sweep->triangleEdge[3 * (size_t)t + k];
    out[4 * (size_t)slot + 3] = sweep->owned[t];
  }
  pnDestroySweep(sweep);
  return PN_OK;
}

/* All bodies. Which triangle is in which slot only the device knows by now: it is fetched. */
static pnResult layOutFeatures(pnDeviceWorld *world) {
  if (world->hasFeatures) return PN_OK;
  const size_t bytes = (size_t)world->slotCount * 16, firstBytes = world->bodies.count * 8;
  uint32_t *slots = pn_alloc(bytes), *edges = pn_allocZero(bytes), *firsts = pn_alloc(firstBytes);
  pnResult result = slots && edges && firsts ? PN_OK : pn_failMemory(2 * bytes);
  if (result == PN_OK) {
    cl_int error = pn_cl.EnqueueReadBuffer(world->device->queue, world->buffers[PN_BUFFER_TRIANGLES], 1, 0, bytes,
                                           slots, 0, NULL, NULL);
    if (error != CL_SUCCESS) result = pn_worldFail(world, error, "EnqueueReadBuffer", "triangles");
  }
  for (size_t b = 0; b < world->bodies.count && result == PN_OK; ++b) {
    const pnDeviceBody *body = &world->bodies.data[b];
    firsts[2 * b] = body->firstVertex, firsts[2 * b + 1] = body->firstTriangle;
    result = nameFeatures(body, slots, edges);
  }
  if (result == PN_OK) result = pn_fillBuffer(world, PN_BUFFER_EDGES, edges, bytes);
  if (result == PN_OK) result = pn_fillBuffer(world, PN_BUFFER_FIRSTS, firsts, firstBytes);
  pn_free(slots, bytes);
  pn_free(edges, bytes);
  pn_free(firsts, firstBytes);
  world->hasFeatures = result == PN_OK;
  return result;
}

/* ---------------------------------------------------------------- begin */

static pnResult prepareStep(pnDeviceWorld *world) {
  pnResult result = PN_OK;
  for (int i = 0; i < PN_STEP_COUNT && result == PN_OK; ++i)
    if (!world->stepKernels[i])
      world->stepKernels[i] = pn_createKernel(world->device, PN_PROGRAM_SWEPT, s_names[i], &result);
  if (result == PN_OK) result = layOutFeatures(world);
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

pnResult pnDeviceWorld_BeginStep(pnDeviceWorld *world) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world);
  const bool again = world->stepBegun && world->laidOut;
  world->stepBegun = false;
  pnResult result = pn_bringVertices(world);
  if (result != PN_OK) return result;
  if (world->triangleCount > 0) {
    if (!again) result = prepareStep(world);
    if (result != PN_OK) return result;
    cl_int error =
        pn_cl.EnqueueCopyBuffer(world->device->queue, world->buffers[PN_BUFFER_VERTICES],
                                world->buffers[PN_BUFFER_BEGIN], 0, 0, (size_t)world->vertexCount * 12, 0, NULL, NULL);
    if (error != CL_SUCCESS) return pn_worldFail(world, error, "EnqueueCopyBuffer", "vertices");
  }
  world->stepBegun = true;
  return PN_OK;
}

/* ---------------------------------------------------------------- the kernels */

static pnResult reserveStep(pnDeviceWorld *world, uint64_t search, uint64_t impacts, uint64_t unsure) {
  search = PN_MIN(PN_MAX(search, world->searchCapacity), UINT32_MAX / 2);
  impacts = PN_MIN(PN_MAX(impacts, world->impactCapacity), UINT32_MAX / 2);
  unsure = PN_MIN(PN_MAX(unsure, world->unsureCapacity), UINT32_MAX / 2);
  pnResult result = pn_reserveBuffer(world, PN_BUFFER_LIST_SEARCH, search * 8);
  if (result == PN_OK) result = pn_reserveBuffer(world, PN_BUFFER_IMPACTS, impacts * 16);
  if (result == PN_OK) result = pn_reserveBuffer(world, PN_BUFFER_SPANS, impacts * 16);
  if (result == PN_OK) result = pn_reserveBuffer(world, PN_BUFFER_UNSURE_NAMES, unsure * 16);
  if (result == PN_OK) result = pn_reserveBuffer(world, PN_BUFFER_UNSURE_POINTS, unsure * UNSURE_FLOATS * 4);
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
  const size_t refit[2] = {supers * 256, 1}, of256[2] = {256, 1}, pairs[2] = {(supers + 63) / 64 * 64, supers};
  const size_t of64[2] = {64, 1}, team[2] = {teams * 32, 1}, of32[2] = {32, 1};
  pnResult result =
      RUN(PN_STEP_REFIT, refit, of256, PN_VALUE(b[PN_BUFFER_TRIANGLES]), PN_VALUE(b[PN_BUFFER_WELDS]),
          PN_VALUE(b[PN_BUFFER_VERTICES]), PN_VALUE(b[PN_BUFFER_CLUSTER_BODY]), PN_VALUE(b[PN_BUFFER_SUPER_BODY]),
          PN_VALUE(b[PN_BUFFER_RECORDS]), PN_VALUE(b[PN_BUFFER_CLUSTER_LOW]), PN_VALUE(b[PN_BUFFER_CLUSTER_HIGH]),
          PN_VALUE(b[PN_BUFFER_SUPER_LOW]), PN_VALUE(b[PN_BUFFER_SUPER_HIGH]), PN_VALUE(head),
          PN_VALUE(b[PN_BUFFER_BEGIN]), PN_VALUE(b[PN_BUFFER_RECORDS_BEGIN]), PN_VALUE(until));
  if (result == PN_OK)
    result = RUN(PN_STEP_SUPERS, pairs, of64, PN_VALUE(b[PN_BUFFER_SUPER_LOW]), PN_VALUE(b[PN_BUFFER_SUPER_HIGH]),
                 PN_VALUE(b[PN_BUFFER_RULES]), PN_VALUE(world->superCount), PN_VALUE(head),
                 PN_VALUE(b[PN_BUFFER_LIST_SUPERS]), PN_VALUE(capacity[PN_LIST_SUPERS]));
  if (result == PN_OK)
    result = RUN(PN_STEP_CLUSTERS, team, of32, PN_VALUE(b[PN_BUFFER_CLUSTER_LOW]), PN_VALUE(b[PN_BUFFER_CLUSTER_HIGH]),
                 PN_VALUE(b[PN_BUFFER_SUPER_LOW]), PN_VALUE(b[PN_BUFFER_SUPER_HIGH]), PN_VALUE(b[PN_BUFFER_RULES]),
                 PN_VALUE(head), PN_VALUE(b[PN_BUFFER_LIST_SUPERS]), PN_VALUE(capacity[PN_LIST_SUPERS]),
                 PN_VALUE(b[PN_BUFFER_LIST_CLUSTERS]), PN_VALUE(capacity[PN_LIST_CLUSTERS]));
  if (result == PN_OK)
    result =
        RUN(PN_STEP_TRIANGLES, team, of32, PN_VALUE(b[PN_BUFFER_RECORDS]), PN_VALUE(b[PN_BUFFER_CLUSTER_LOW]),
            PN_VALUE(b[PN_BUFFER_CLUSTER_HIGH]), PN_VALUE(head), PN_VALUE(b[PN_BUFFER_LIST_CLUSTERS]),
            PN_VALUE(capacity[PN_LIST_CLUSTERS]), PN_VALUE(b[PN_BUFFER_RECORDS_BEGIN]), PN_VALUE(b[PN_BUFFER_EDGES]),
            PN_VALUE(until), PN_VALUE(b[PN_BUFFER_LIST_CANDIDATES]), PN_VALUE(capacity[PN_LIST_CANDIDATES]));
  return result;
}

static pnResult enqueueStep(pnDeviceWorld *world, bool earliest, float until) {
  const cl_mem *b = world->buffers, head = b[PN_BUFFER_STEP_HEAD];
  const size_t teams = pn_teamsOf(world), team[2] = {teams * 32, 1}, of32[2] = {32, 1}, of64[2] = {64, 1};
  for (int i = 0; i < PN_STEP_COUNT; ++i) {
    if (world->stepEvents[i]) pn_cl.ReleaseEvent(world->stepEvents[i]);
    world->stepEvents[i] = NULL;
  }
  pnResult result = enqueueBoxes(world, until);
  if (result == PN_OK)
    result = RUN(PN_STEP_FEATURES, team, of32, PN_VALUE(b[PN_BUFFER_RECORDS_BEGIN]), PN_VALUE(b[PN_BUFFER_RECORDS]),
                 PN_VALUE(b[PN_BUFFER_EDGES]), PN_VALUE(head), PN_VALUE(b[PN_BUFFER_LIST_CANDIDATES]),
                 PN_VALUE(world->capacity[PN_LIST_CANDIDATES]), PN_VALUE(until), PN_VALUE(b[PN_BUFFER_LIST_SEARCH]),
                 PN_VALUE(world->searchCapacity));
  if (result == PN_OK)
    result =
        RUN(PN_STEP_SEARCH, team, of64, PN_VALUE(b[PN_BUFFER_RECORDS_BEGIN]), PN_VALUE(b[PN_BUFFER_RECORDS]),
            PN_VALUE(b[PN_BUFFER_TRIANGLES]), PN_VALUE(b[PN_BUFFER_WELDS]), PN_VALUE(b[PN_BUFFER_EDGES]),
            PN_VALUE(b[PN_BUFFER_FIRSTS]), PN_VALUE(head), PN_VALUE(b[PN_BUFFER_LIST_SEARCH]),
            PN_VALUE(world->searchCapacity), PN_VALUE(b[PN_BUFFER_IMPACTS]), PN_VALUE(b[PN_BUFFER_SPANS]),
            PN_VALUE(world->impactCapacity), PN_VALUE(b[PN_BUFFER_UNSURE_NAMES]), PN_VALUE(b[PN_BUFFER_UNSURE_POINTS]),
            PN_VALUE(world->unsureCapacity), PN_NUMBER(earliest), PN_VALUE(until));
  return result;
}

static pnResult readBuffer(pnDeviceWorld *world, pnBufferName name, void *out, size_t bytes) {
  if (bytes == 0) return PN_OK;
  cl_int error = pn_cl.EnqueueReadBuffer(world->device->queue, world->buffers[name], 1, 0, bytes, out, 0, NULL, NULL);
  return error == CL_SUCCESS ? PN_OK : pn_worldFail(world, error, "EnqueueReadBuffer", "a step");
}

/* A quarter more than was asked for. */
static pnResult growStep(pnDeviceWorld *world) {
  const uint32_t *head = world->stepHead, bits = head[PN_HEAD_OVERFLOW];
  static const int places[3] = {PN_HEAD_SUPERS, PN_HEAD_CLUSTERS, PN_HEAD_CANDIDATES};
  for (int i = 0; i < 3; ++i) {
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

static pnResult runStep(pnDeviceWorld *world, bool earliest, float until, uint32_t *outReruns) {
  // what most steps need
  const uint64_t n = world->slotCount;
  pnResult result = reserveStep(world, 2 * n + 4096, n / 2 + 4096, 1024);
  for (; result == PN_OK; ++*outReruns) {
    result = enqueueStep(world, earliest, until);
    if (result == PN_OK) result = readBuffer(world, PN_BUFFER_STEP_HEAD, world->stepHead, sizeof world->stepHead);
    if (result != PN_OK || world->stepHead[PN_HEAD_OVERFLOW] == 0) break;
    if (*outReruns >= MOST_RERUNS)
      return pn_fail(PN_ERROR_MEMORY, "device world: the step has more impacts than can be counted");
    result = growStep(world);
  }
  if (result == PN_OK && world->stepHead[PN_HEAD_BAD] != PN_NONE) result = pn_failNumber(world);
  return result;
}

static void noteStages(pnDeviceWorld *world) {
  for (int i = 0; i < PN_STEP_COUNT && world->device->profile; ++i) {
    cl_ulong start = 0, end = 0;
    world->stepSeconds[i] = 0;
    if (world->stepEvents[i] &&
        pn_cl.GetEventProfilingInfo(world->stepEvents[i], CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) ==
            CL_SUCCESS &&
        pn_cl.GetEventProfilingInfo(world->stepEvents[i], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) ==
            CL_SUCCESS)
      world->stepSeconds[i] = 1e-9 * (double)(end - start);
  }
}

/* ---------------------------------------------------------------- the answer */

/* An impact as the device writes it. */
typedef struct Names {
  uint32_t bodies, kind, a, b;
} Names;

static bool addImpact(pnDeviceImpactList *list, const Names *names, double lo, double hi) {
  const pnFeatureImpact impact = {(pnFeatureKind)names->kind, names->a, names->b, lo, hi};
  return pn_arrayPush(&list->impacts, impact) && pn_arrayPush(&list->bodies, names->bodies);
}

static pnResult fetchImpacts(pnDeviceWorld *world) {
  const size_t n = world->stepHead[PN_HEAD_PAIRS], bytes = n * 16;
  Names *names = n > 0 ? pn_alloc(bytes) : NULL;
  double(*spans)[2] = n > 0 ? pn_alloc(bytes) : NULL;
  pnResult result = n > 0 && (!names || !spans) ? pn_failMemory(2 * bytes) : PN_OK;
  if (result == PN_OK) result = readBuffer(world, PN_BUFFER_IMPACTS, names, bytes);
  if (result == PN_OK) result = readBuffer(world, PN_BUFFER_SPANS, spans, bytes);
  for (size_t i = 0; i < n && result == PN_OK; ++i)
    if (!addImpact(&world->step, &names[i], spans[i][0], spans[i][1])) result = pn_failMemory(bytes);
  pn_free(names, bytes);
  pn_free(spans, bytes);
  return result;
}

/* What the filter left, in whole numbers. */
static pnResult decideUnsure(pnDeviceWorld *world) {
  const size_t n = world->stepHead[PN_HEAD_UNSURE], bytes = n * 16, pointBytes = n * UNSURE_FLOATS * sizeof(float);
  if (n == 0) return PN_OK;
  Names *names = pn_alloc(bytes);
  float *points = pn_alloc(pointBytes);
  pnResult result = names && points ? PN_OK : pn_failMemory(bytes + pointBytes);
  if (result == PN_OK) result = readBuffer(world, PN_BUFFER_UNSURE_NAMES, names, bytes);
  if (result == PN_OK) result = readBuffer(world, PN_BUFFER_UNSURE_POINTS, points, pointBytes);
  for (size_t i = 0; i < n && result == PN_OK; ++i) {
    pnMovingDouble moving;
    for (size_t k = 0; k < 12; ++k) {
      moving.from[k / 3][k % 3] = points[UNSURE_FLOATS * i + 2 * k];
      moving.to[k / 3][k % 3] = points[UNSURE_FLOATS * i + 2 * k + 1];
    }
    const pnImpactSpan span =
        pn_impactExact(names[i].kind == PN_EDGE_WITH_EDGE ? PN_EDGE_EDGE : PN_VERTEX_FACE, &moving);
    if (span.meets && !addImpact(&world->step, &names[i], span.lo, span.hi)) result = pn_failMemory(bytes);
  }
  pn_free(names, bytes);
  pn_free(points, pointBytes);
  return result;
}

/* By bodies, kind, a, b: stable sorts of numbers, the last key first; each impact is moved once, in the end. */
static bool sortImpacts(pnDeviceImpactList *list) {
  const size_t n = list->impacts.count;
  if (!pn_arrayReserve(&list->scratch, n) || !pn_arrayReserve(&list->otherBodies, n) ||
      !pn_arrayReserve(&list->keys, 2 * n))
    return false;
  pnKeyValue *keys = list->keys.data;
  for (size_t i = 0; i < n; ++i) keys[i].value = (uint32_t)i;
  for (int pass = 0; pass < 4 && n > 1; ++pass) {
    bool same = true;
    for (size_t i = 0; i < n; ++i) {
      const pnFeatureImpact *x = &list->impacts.data[keys[i].value];
      keys[i].key = pass == 0   ? x->b
                    : pass == 1 ? x->a
                    : pass == 2 ? (uint32_t)x->kind
                                : list->bodies.data[keys[i].value];
      same = same && keys[i].key == keys[0].key;
    }
    if (!same) pn_sortKeyValue(keys, keys + n, n);
  }
  for (size_t i = 0; i < n; ++i) {
    list->scratch.data[i] = list->impacts.data[keys[i].value];
    list->otherBodies.data[i] = list->bodies.data[keys[i].value];
  }
  if (n == 0) return true;
  memcpy(list->impacts.data, list->scratch.data, n * sizeof *list->impacts.data);
  memcpy(list->bodies.data, list->otherBodies.data, n * sizeof *list->bodies.data);
  return true;
}

static void addSpan(pnImpactSpan *all, const pnFeatureImpact *x) {
  *all = all->meets ? (pnImpactSpan){true, PN_MIN(all->lo, x->lo), PN_MIN(all->hi, x->hi)}
                    : (pnImpactSpan){true, x->lo, x->hi};
}

/* Only those whose span ends first; of a sorted list the first of them is wanted. */
static void keepEarliest(pnDeviceImpactList *list, double hi) {
  size_t count = 0;
  for (size_t i = 0; i < list->impacts.count; ++i) {
    if (list->impacts.data[i].hi != hi) continue;
    list->impacts.data[count] = list->impacts.data[i];
    list->bodies.data[count++] = list->bodies.data[i];
  }
  list->impacts.count = list->bodies.count = count;
}

/* All impacts here, in the order found, and when the first begins and ends. */
static pnResult takeStep(pnDeviceWorld *world, pnDeviceStep *step) {
  pnDeviceImpactList *list = &world->step;
  list->impacts.count = list->bodies.count = 0;
  step->earliest = (pnImpactSpan){0};
  pnResult result = fetchImpacts(world);
  if (result == PN_OK) result = decideUnsure(world);
  for (size_t i = 0; i < list->impacts.count; ++i) addSpan(&step->earliest, &list->impacts.data[i]);
  return result;
}

/* Sorted, and by contact. */
static pnResult listStep(pnDeviceWorld *world, bool earliest, pnDeviceStep *step) {
  pnDeviceImpactList *list = &world->step;
  if (earliest) keepEarliest(list, step->earliest.hi);
  if (!sortImpacts(list)) return pn_failMemory(list->impacts.count * sizeof(pnFeatureImpact));
  if (earliest) list->impacts.count = list->bodies.count = PN_MIN(list->impacts.count, 1);
  for (size_t i = 0; i < list->impacts.count; ++i) {
    const uint32_t bodies = list->bodies.data[i];
    if (i == 0 || bodies != list->bodies.data[i - 1]) {
      const pnDeviceStepContact contact = {.a = bodies >> 16, .b = bodies & 0xffff, .firstImpact = i};
      if (!pn_arrayPush(&list->contacts, contact)) return pn_failMemory(sizeof contact);
    }
    pnDeviceStepContact *contact = &list->contacts.data[list->contacts.count - 1];
    addSpan(&contact->first, &list->impacts.data[i]);
    ++contact->impactCount;
  }
  step->impactCount = list->impacts.count;
  step->contactCount = (uint32_t)list->contacts.count;
  return PN_OK;
}

/* No span is wider than this (pinch/geom.h: 1e-6). */
#define WIDEST_SPAN 0x1p-19

/* The earliest is sought in windows, as collide/swept.c does: a window decides when the first contact in it ends before the window
 * does, by more than a span can be wide. */
static pnResult findStep(pnDeviceWorld *world, const pnDeviceStepDef *def, pnDeviceStep *step) {
  static const float windows[] = {0x1p-10f, 0x1p-5f, 1.0f};
  const bool earliest = def->what == PN_SWEPT_EARLIEST;
  pnResult result = PN_OK;
  for (int i = earliest ? 0 : 2; i < 3 && result == PN_OK; ++i) {
    result = runStep(world, earliest, windows[i], &step->reruns);
    if (result != PN_OK || def->stay) continue;
    result = takeStep(world, step);
    if (step->earliest.meets && step->earliest.hi + WIDEST_SPAN <= (double)windows[i]) break;
  }
  if (result == PN_OK) noteStages(world);
  if (result == PN_OK && def->stay) step->impactCount = world->stepHead[PN_HEAD_PAIRS];
  return result == PN_OK && !def->stay ? listStep(world, earliest, step) : result;
}

static pnResult checkStep(const pnDeviceWorld *world, const pnDeviceStepDef *def) {
  if (!world->stepBegun || !world->laidOut)
    return pn_fail(PN_ERROR_ARGUMENT, "device world: no step was begun for these bodies: call BeginStep first");
  if (def->what != PN_SWEPT_ALL && (def->what != PN_SWEPT_EARLIEST || def->stay))
    return pn_fail(PN_ERROR_ARGUMENT, "device world: %d is nothing a step can be asked for%s", (int)def->what,
                   def->stay ? " when impacts stay there" : "");
  return PN_OK;
}

pnDeviceStep pnDeviceWorld_CollideSwept(pnDeviceWorld *world, const pnDeviceStepDef *def) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world);
  const double start = pn_clock();
  const pnDeviceStepDef none = {0};
  def = def ? def : &none;
  pnDeviceStep step = {.result = checkStep(world, def)};
  pnDeviceImpactList *list = &world->step;
  list->impacts.count = list->bodies.count = list->contacts.count = 0;
  memset(world->stepHead, 0, sizeof world->stepHead);
  // a frame's lists are used here
  world->running = world->finished = false;
  if (step.result == PN_OK) step.result = pn_bringVertices(world);
  if (step.result == PN_OK && world->triangleCount > 0) {
    step.result = pn_sendRules(world, def->noSelf);
    if (step.result == PN_OK) step.result = findStep(world, def, &step);
  }
  if (step.result != PN_OK) {
    list->impacts.count = list->bodies.count = list->contacts.count = 0;
    memset(world->stepHead, 0, sizeof world->stepHead);
  }
  step.trianglePairs = world->stepHead[PN_HEAD_CANDIDATES];
  step.asked = world->stepHead[PN_STEP_HEAD_ASKED];
  step.searched = world->stepHead[PN_STEP_HEAD_SEARCH];
  step.uncertain = world->stepHead[PN_HEAD_UNSURE];
  step.seconds = pn_clock() - start;
  return step;
}

const pnDeviceStepContact *pnDeviceWorld_GetStepContacts(const pnDeviceWorld *world) {
  return world->step.contacts.data;
}

const pnFeatureImpact *pnDeviceWorld_GetImpacts(const pnDeviceWorld *world) {
  return world->step.impacts.data;
}

pnDeviceStepResults pnDeviceWorld_GetStepResults(const pnDeviceWorld *world) {
  return (pnDeviceStepResults){world->buffers[PN_BUFFER_IMPACTS], world->buffers[PN_BUFFER_SPANS],
                               world->stepHead[PN_HEAD_PAIRS]};
}

const char *pnDeviceWorld_GetStepStage(const pnDeviceWorld *world, uint32_t i, double *outSeconds) {
  if (i >= PN_STEP_COUNT || !world->device->profile) return NULL;
  if (outSeconds) *outSeconds = world->stepSeconds[i];
  return s_names[i];
}
