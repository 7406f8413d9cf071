/* step_result.c: what a step found: impacts by contact, or the earliest. */
#include "device/world.h"

#include "base/fenv.h"
#include "base/memory.h"
#include "base/thread.h"

#include <string.h>

/* ---------------------------------------------------------------- taking */

/* An impact as the device writes it. */
typedef struct Names {
  uint32_t bodies, kind, a, b;
} Names;

static pnResult readBuffer(pnDeviceWorld *world, pnBufferName name, void *out, size_t bytes) {
  cl_int error = pn_cl.EnqueueReadBuffer(world->device->queue, world->buffers[name], 1, 0, bytes, out, 0, NULL, NULL);
  return error == CL_SUCCESS ? PN_OK : pn_worldFail(world, error, "EnqueueReadBuffer", "a step");
}

/* Who stands where when impacts are sorted by their bodies and stay otherwise as they are; null: as they are already. */
static pnResult orderByBodies(pnDeviceImpactList *list, const Names *names, size_t n, const pnKeyValue **outOrder) {
  bool sorted = true;
  *outOrder = NULL;
  for (size_t i = 1; i < n && sorted; ++i) sorted = names[i - 1].bodies <= names[i].bodies;
  if (sorted) return PN_OK;
  if (!pn_arrayReserve(&list->keys, 2 * n)) return pn_failMemory(2 * n * sizeof(pnKeyValue));
  pnKeyValue *keys = list->keys.data;
  for (size_t i = 0; i < n; ++i) keys[i] = (pnKeyValue){names[i].bodies, (uint32_t)i};
  pn_sortKeyValue(keys, keys + n, n);
  *outOrder = keys;
  return PN_OK;
}

/* All impacts of the step. The device has sorted them by features, which numbers go through all bodies; here they are by bodies first.
 * Those of a search for the earliest are in the order found. */
static pnResult fetchImpacts(pnDeviceWorld *world, bool earliest) {
  pnDeviceImpactList *list = &world->step;
  const size_t n = world->stepHead[PN_HEAD_PAIRS], bytes = n * 16;
  list->impacts.count = list->bodies.count = 0;
  if (n == 0) return PN_OK;
  Names *names = pn_alloc(bytes);
  double(*spans)[2] = pn_alloc(bytes);
  const pnKeyValue *order = NULL;
  pnResult result = names && spans ? PN_OK : pn_failMemory(2 * bytes);
  if (result == PN_OK && (!pn_arrayReserve(&list->impacts, n) || !pn_arrayReserve(&list->bodies, n)))
    result = pn_failMemory(n * sizeof(pnFeatureImpact));
  if (result == PN_OK)
    result = readBuffer(world, earliest ? PN_BUFFER_IMPACTS : PN_BUFFER_SORTED_IMPACTS, names, bytes);
  if (result == PN_OK) result = readBuffer(world, earliest ? PN_BUFFER_SPANS : PN_BUFFER_SORTED_SPANS, spans, bytes);
  if (result == PN_OK && !earliest) result = orderByBodies(list, names, n, &order);
  for (size_t i = 0; i < n && result == PN_OK; ++i) {
    const size_t k = order ? order[i].value : i;
    list->impacts.data[i] =
        (pnFeatureImpact){(pnFeatureKind)names[k].kind, names[k].a, names[k].b, spans[k][0], spans[k][1]};
    list->bodies.data[i] = names[k].bodies;
  }
  if (result == PN_OK) list->impacts.count = list->bodies.count = n;
  pn_free(names, bytes);
  pn_free(spans, bytes);
  return result;
}

static void addSpan(pnImpactSpan *all, const pnFeatureImpact *x) {
  *all = all->meets ? (pnImpactSpan){true, PN_MIN(all->lo, x->lo), PN_MIN(all->hi, x->hi)}
                    : (pnImpactSpan){true, x->lo, x->hi};
}

/* Of those whose span ends first the first: by bodies, kind, a, b. */
static void keepEarliest(pnDeviceImpactList *list, double hi) {
  size_t best = SIZE_MAX;
  for (size_t i = 0; i < list->impacts.count; ++i) {
    const pnFeatureImpact *x = &list->impacts.data[i], *y = best == SIZE_MAX ? x : &list->impacts.data[best];
    if (x->hi != hi) continue;
    const uint32_t mine[4] = {list->bodies.data[i], (uint32_t)x->kind, x->a, x->b};
    const uint32_t other[4] = {best == SIZE_MAX ? 0 : list->bodies.data[best], (uint32_t)y->kind, y->a, y->b};
    int k = 0;
    while (k < 3 && mine[k] == other[k]) ++k;
    if (best == SIZE_MAX || mine[k] < other[k]) best = i;
  }
  if (best == SIZE_MAX) return;
  list->impacts.data[0] = list->impacts.data[best];
  list->bodies.data[0] = list->bodies.data[best];
  list->impacts.count = list->bodies.count = 1;
}

/* All impacts here, and when the first begins and ends. */
static pnResult takeStep(pnDeviceWorld *world, bool earliest, pnDeviceStep *step) {
  pnDeviceImpactList *list = &world->step;
  step->earliest = (pnImpactSpan){0};
  pnResult result = fetchImpacts(world, earliest);
  for (size_t i = 0; i < list->impacts.count; ++i) addSpan(&step->earliest, &list->impacts.data[i]);
  return result;
}

/* By contact. */
static pnResult listStep(pnDeviceWorld *world, bool earliest, pnDeviceStep *step) {
  pnDeviceImpactList *list = &world->step;
  if (earliest) keepEarliest(list, step->earliest.hi);
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

/* The earliest was chosen here: it goes back to where the others would be. */
static pnResult leaveEarliest(pnDeviceWorld *world) {
  const pnDeviceImpactList *list = &world->step;
  if (list->impacts.count == 0) return PN_OK;
  const pnFeatureImpact *x = &list->impacts.data[0];
  const Names names = {list->bodies.data[0], (uint32_t)x->kind, x->a, x->b};
  const double span[2] = {x->lo, x->hi};
  cl_command_queue queue = world->device->queue;
  cl_int error = pn_cl.EnqueueWriteBuffer(queue, world->buffers[PN_BUFFER_SORTED_IMPACTS], 1, 0, sizeof names, &names,
                                          0, NULL, NULL);
  if (error == CL_SUCCESS)
    error =
        pn_cl.EnqueueWriteBuffer(queue, world->buffers[PN_BUFFER_SORTED_SPANS], 1, 0, sizeof span, span, 0, NULL, NULL);
  return error == CL_SUCCESS ? PN_OK : pn_worldFail(world, error, "EnqueueWriteBuffer", "the earliest impact");
}

/* No span is wider than this (pinch/geom.h: 1e-6). */
#define WIDEST_SPAN 0x1p-19

/* The earliest is sought in windows, as collide/swept.c does: a window decides when the first contact in it ends before the window
 * does, by more than a span can be wide. */
static pnResult findStep(pnDeviceWorld *world, const pnDeviceStepDef *def, pnDeviceStep *step) {
  static const float windows[] = {0x1p-10f, 0x1p-5f, 1.0f};
  const bool earliest = def->what == PN_SWEPT_EARLIEST;
  pnResult result = PN_OK;
  if (!earliest && def->stay) {
    result = pn_runStep(world, false, 1.0f, &step->reruns);
    step->impactCount = world->stepStays = world->stepHead[PN_HEAD_PAIRS];
    return result;
  }
  for (int i = earliest ? 0 : 2; i < 3 && result == PN_OK; ++i) {
    result = pn_runStep(world, earliest, windows[i], &step->reruns);
    if (result == PN_OK) result = takeStep(world, earliest, step);
    if (step->earliest.meets && step->earliest.hi + WIDEST_SPAN <= (double)windows[i]) break;
  }
  if (result == PN_OK) result = listStep(world, earliest, step);
  if (result == PN_OK && earliest && def->stay) result = leaveEarliest(world);
  if (result == PN_OK && (!earliest || def->stay)) world->stepStays = (uint32_t)step->impactCount;
  return result;
}

static pnResult checkStep(const pnDeviceWorld *world, const pnDeviceStepDef *def) {
  if (!world->stepBegun || !world->laidOut)
    return pn_fail(PN_ERROR_ARGUMENT, "device world: no step was begun for these bodies: call BeginStep first");
  if (def->what != PN_SWEPT_ALL && def->what != PN_SWEPT_EARLIEST)
    return pn_fail(PN_ERROR_ARGUMENT, "device world: %d is nothing a step can be asked for", (int)def->what);
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
  world->stepStays = 0;
  // a frame's lists are used here
  world->running = world->finished = false;
  if (step.result == PN_OK) step.result = pn_bringVertices(world);
  if (step.result == PN_OK && world->triangleCount > 0) {
    step.result = pn_sendRules(world, def->noSelf);
    if (step.result == PN_OK) step.result = findStep(world, def, &step);
  }
  pn_settle(world);
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
  return (pnDeviceStepResults){world->buffers[PN_BUFFER_SORTED_IMPACTS], world->buffers[PN_BUFFER_SORTED_SPANS],
                               world->stepStays};
}
