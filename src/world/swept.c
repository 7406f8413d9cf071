/* swept.c: the step: what the bodies of a world meet on their way since pnWorld_BeginStep. Which bodies are close is told by the boxes around
 * their ways (course.h); the sweeps of those are asked. */
#include "base/fenv.h"
#include "collide/sweep.h"
#include "world/course.h"
#include "world/follow.h"

#include <string.h>

pnResult pnWorld_BeginStep(pnWorld *world) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world);
  pnResult result = pn_followHidden(world);
  for (size_t i = 0; result == PN_OK && i < world->bodies.count; ++i) {
    pnBody *body = &world->bodies.data[i];
    if (body->generation & 1) result = pn_nameBody(body, pn_beginCourse(body, &world->def.tasks));
  }
  return result;
}

/* Boxes around the ways of all bodies, wider by `margin` together, and which of them are close. */
static pnResult endStep(pnWorld *world, double margin, pnCost *cost) {
  pnBroadPhase *broad = &world->stepBroad;
  double start = pn_clock();
  pnResult result = pn_reserveBroad(broad, world->bodies.count) ? PN_OK : pn_failMemory(sizeof(pnBroadBox));
  if (result == PN_OK) result = pn_followHidden(world);
  for (size_t i = 0; result == PN_OK && i < world->bodies.count; ++i) {
    pnBody *body = &world->bodies.data[i];
    pnBroadBox box = pn_emptyBroadBox();
    if (body->generation & 1) {
      box = (pnBroadBox){.category = body->category, .mask = body->mask};
      result = pn_nameBody(body, pn_boxOfCourse(body, margin, &world->def.tasks, &box.box));
    }
    pn_setBroadBox(broad, (uint32_t)i, box);
  }
  bool all = world->lab.broad == PN_BROAD_ALL;
  if (result == PN_OK && !pn_findClose(broad, all, &world->def.tasks)) result = pn_failMemory(sizeof(pnPair));
  cost->updateSeconds += pn_clock() - start;
  return result;
}

/* The sweeps of two bodies, or of one and none. */
static pnResult sweepBoth(pnWorld *world, uint32_t a, uint32_t b, pnSweep *outSweeps[2]) {
  pnBody *first = &world->bodies.data[a], *second = &world->bodies.data[b];
  outSweeps[1] = NULL;
  pnResult result = pn_nameBody(first, pn_sweepOfCourse(first, &outSweeps[0]));
  if (result == PN_OK && a != b) result = pn_nameBody(second, pn_sweepOfCourse(second, &outSweeps[1]));
  return result;
}

/* What is asked of every pair. */
typedef struct Wanted {
  pnSweptWhat what;
  bool noSelf;
  size_t maxImpacts;
  double separation;
} Wanted;

/* The impacts of one body with itself or of two: appended, with a contact when there are any. */
static pnResult addContact(pnWorld *world, uint32_t a, uint32_t b, const Wanted *wanted, pnStep *step) {
  pnSweptDef query = pnDefaultSweptDef();
  pnCost cost;
  query.what = wanted->what;
  query.tasks = world->def.tasks;
  // what is left may be nothing: then one more is one too many
  size_t left = wanted->maxImpacts - PN_MIN(world->impacts.count, wanted->maxImpacts);
  query.maxImpacts = wanted->maxImpacts > 0 ? PN_MAX(left, 1) : 0;
  pnSweep *sweeps[2];
  pnResult result = sweepBoth(world, a, b, sweeps);
  if (result == PN_OK) result = pnCollideSwept(sweeps[0], sweeps[1], &query, world->stepList, &cost);
  if (result != PN_OK) return result;
  size_t count = pnImpactList_GetCount(world->stepList);
  step->cost.exactTests += cost.exactTests;
  step->cost.uncertain += cost.uncertain;
  step->cost.nodePairs += cost.nodePairs;
  step->cost.leafPairs += cost.leafPairs;
  step->cost.volumeTests += cost.volumeTests;
  step->cost.traverseSeconds += cost.traverseSeconds;
  step->cost.exactSeconds += cost.exactSeconds;
  step->cost.updateSeconds += cost.updateSeconds;
  step->limited = pnImpactList_IsLimited(world->stepList) ||
                  (wanted->maxImpacts > 0 && wanted->what != PN_SWEPT_EARLIEST && count > left);
  if (count == 0 || step->limited) return PN_OK;
  pnStepContact contact = {pn_bodyId(world, a), pn_bodyId(world, b), pnImpactList_GetEarliest(world->stepList),
                           world->impacts.count, count};
  if (!pn_arrayReserve(&world->impacts, world->impacts.count + count) || !pn_arrayPush(&world->stepContacts, contact))
    return pn_failMemory(count * sizeof(pnFeatureImpact));
  memcpy(world->impacts.data + world->impacts.count, pnImpactList_GetImpacts(world->stepList),
         count * sizeof(pnFeatureImpact));
  world->impacts.count += count;
  bool any = step->earliest.meets;
  step->earliest.lo = any ? PN_MIN(step->earliest.lo, contact.first.lo) : contact.first.lo;
  step->earliest.hi = any ? PN_MIN(step->earliest.hi, contact.first.hi) : contact.first.hi;
  step->earliest.meets = true;
  return PN_OK;
}

/* Calls for every body that looks at itself and every close pair, in the order of contacts. */
typedef pnResult PairFcn(pnWorld *world, uint32_t a, uint32_t b, const Wanted *wanted, pnStep *step);

static pnResult forPairs(pnWorld *world, const Wanted *wanted, pnStep *step, PairFcn *act) {
  pnBroadPhase *broad = &world->stepBroad;
  const pnPairs *close = &broad->pairs;
  pnResult result = PN_OK;
  size_t next = 0;
  for (uint32_t a = 0; result == PN_OK && !step->limited && a < world->bodies.count; ++a) {
    const pnBody *body = &world->bodies.data[a];
    if (a == pn_closeEnd(broad)) {
      if (!pn_findNextClose(broad)) return pn_failMemory(sizeof(pnPair));
      next = 0;
    }
    if ((body->generation & 1) && body->self && !wanted->noSelf) result = act(world, a, a, wanted, step);
    for (; result == PN_OK && !step->limited && next < close->count && close->data[next].a == a; ++next)
      result = act(world, a, close->data[next].b, wanted, step);
  }
  return result;
}

pnStepDef pnDefaultStepDef(void) {
  return (pnStepDef){0};
}

pnStep pnWorld_CollideSwept(pnWorld *world, const pnStepDef *def) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world);
  pnStepDef usual = pnDefaultStepDef();
  pnStep step = {0};
  double start = pn_clock();
  def = def ? def : &usual;
  Wanted wanted = {.what = def->what, .noSelf = def->noSelf, .maxImpacts = def->maxImpacts};
  world->impacts.count = world->stepContacts.count = 0;
  step.result = world->stepList ? PN_OK : pnCreateImpactList(&world->stepList);
  if (step.result == PN_OK) step.result = endStep(world, 0.0, &step.cost);
  if (step.result == PN_OK) step.result = forPairs(world, &wanted, &step, addContact);
  if (step.result != PN_OK) {
    world->impacts.count = world->stepContacts.count = 0;
    step = (pnStep){.result = step.result};
  }
  step.contactCount = (uint32_t)world->stepContacts.count;
  step.impactCount = step.cost.pairs = world->impacts.count;
  step.safe = step.result != PN_OK || step.limited ? 0.0 : step.earliest.meets ? step.earliest.lo : 1.0;
  step.totalSeconds = pn_clock() - start;
  return step;
}

/* The safe part of one pair. */
static pnResult shorten(pnWorld *world, uint32_t a, uint32_t b, const Wanted *wanted, pnStep *step) {
  double safe = 1.0;
  pnSweep *sweeps[2];
  pnResult result = sweepBoth(world, a, b, sweeps);
  if (result == PN_OK) result = pnFindSafeStep(sweeps[0], sweeps[1], wanted->separation, &world->def.tasks, &safe);
  step->safe = PN_MIN(step->safe, safe);
  return result;
}

pnResult pnWorld_FindSafeStep(pnWorld *world, double separation, double *outSafe) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world && outSafe);
  *outSafe = 0.0;
  Wanted wanted = {.separation = separation};
  pnStep step = {.safe = 1.0};
  if (!(separation >= 0.0 && separation <= 1e30))
    return pn_fail(PN_ERROR_ARGUMENT, "safe step: a separation of %g", separation);
  pnResult result = endStep(world, separation, &step.cost);
  if (result == PN_OK) result = forPairs(world, &wanted, &step, shorten);
  *outSafe = result == PN_OK ? step.safe : 0.0;
  return result;
}

const pnSweep *pnBody_GetSweep(const pnWorld *world, pnBodyId id) {
  const pnBody *body = pn_findBody(world, id);
  return body && body->course ? body->course->sweep : NULL;
}

const pnStepContact *pnWorld_GetStepContacts(const pnWorld *world) {
  return world->stepContacts.data;
}
const pnFeatureImpact *pnWorld_GetImpacts(const pnWorld *world) {
  return world->impacts.data;
}
