/* swept.c: the step: what the bodies of a world meet on their way since pnWorld_BeginStep. Which bodies are close is told by the boxes around
 * their ways (course.h); the sweeps of those are asked. */
#include "base/fenv.h"
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

/* ---------------------------------------------------------------- pairs */

/* The pairs that the broad phase has listed, in the order of contacts: of bodies from place `begin` on, each first with itself if it looks at
 * that. */
static bool listPairs(pnWorld *world, uint32_t begin, uint32_t end, bool noSelf) {
  const pnPairs *close = &world->stepBroad.pairs;
  size_t next = 0;
  world->stepPairs.count = 0;
  for (uint32_t a = begin; a < end; ++a) {
    const pnBody *body = &world->bodies.data[a];
    if ((body->generation & 1) && body->self && !noSelf && !pn_arrayPush(&world->stepPairs, ((pnPair){a, a})))
      return false;
    for (; next < close->count && close->data[next].a == a; ++next)
      if (!pn_arrayPush(&world->stepPairs, close->data[next])) return false;
  }
  return pn_arrayReserve(&world->stepSweeps, world->stepPairs.count);
}

static void sweepRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  pnWorld *world = context;
  pnSweep *sweep;
  for (uint32_t i = begin; i < end; ++i) (void)pn_sweepOfCourse(&world->bodies.data[world->asked.data[i]], &sweep);
}

/* The sweeps of some of them. Each body's by one worker; who fails does so once more, and says why. */
static pnResult sweepPairs(pnWorld *world, const pnPair *pairs, size_t count) {
  const pnTasks *tasks = &world->def.tasks;
  pn_beginAsking(world);
  for (size_t i = 0; i < 2 * count; ++i) pn_askFor(world, i % 2 ? pairs[i / 2].b : pairs[i / 2].a);
  if (pn_workerCount(tasks) > 1) pn_parallelFor(tasks, sweepRange, world, (uint32_t)world->asked.count, 1);
  pnResult result = PN_OK;
  for (size_t i = 0; result == PN_OK && i < 2 * count; ++i) {
    pnBody *body = &world->bodies.data[i % 2 ? pairs[i / 2].b : pairs[i / 2].a];
    pnSweptPair *sweeps = &world->stepSweeps.data[i / 2];
    result = pn_nameBody(body, pn_sweepOfCourse(body, i % 2 ? &sweeps->b : &sweeps->a));
  }
  for (size_t i = 0; i < world->asked.count; ++i) world->bodies.data[world->asked.data[i]].isAsked = false;
  return result;
}

/* What is asked of every pair. */
typedef struct Wanted {
  pnSweptWhat what;
  bool noSelf;
  size_t maxImpacts;
  double separation;
} Wanted;

/* The impacts of some pairs: appended, with a contact for each pair that has any. */
static pnResult addContacts(pnWorld *world, const pnPair *pairs, pnStep *step) {
  const pnImpactList *list = world->stepList;
  size_t count = list->all.count;
  if (!pn_arrayReserve(&world->impacts, world->impacts.count + count))
    return pn_failMemory(count * sizeof(pnFeatureImpact));
  for (size_t i = 0; i < list->pairs.count; ++i) {
    const pnSwept *q = &list->pairs.data[i];
    if (q->count == 0) continue;
    pnStepContact contact = {pn_bodyId(world, pairs[i].a), pn_bodyId(world, pairs[i].b), q->earliest,
                             world->impacts.count + q->first, q->count};
    if (!pn_arrayPush(&world->stepContacts, contact)) return pn_failMemory(sizeof contact);
    pn_takeEarlier(&step->earliest, &q->earliest);
  }
  if (count > 0) memcpy(world->impacts.data + world->impacts.count, list->all.data, count * sizeof *list->all.data);
  world->impacts.count += count;
  return PN_OK;
}

static pnResult collidePairs(pnWorld *world, const pnPair *pairs, size_t count, const Wanted *wanted, pnStep *step) {
  pnSweptDef query = pnDefaultSweptDef();
  pnCost cost = {0};
  query.what = wanted->what;
  query.tasks = world->def.tasks;
  // what is left may be nothing: then one more is one too many
  size_t left = wanted->maxImpacts - PN_MIN(world->impacts.count, wanted->maxImpacts);
  query.maxImpacts = wanted->maxImpacts > 0 ? PN_MAX(left, 1) : 0;
  pnResult result = pn_collideSweptPairs(world->stepSweeps.data, (uint32_t)count, &query, world->stepList, &cost);
  if (result != PN_OK) return result;
  pn_addCost(&step->cost, &cost);
  step->limited = world->stepList->limited ||
                  (wanted->maxImpacts > 0 && wanted->what != PN_SWEPT_EARLIEST && world->stepList->all.count > left);
  return step->limited ? PN_OK : addContacts(world, pairs, step);
}

/* The part of the step that is safe for some pairs. */
static pnResult shorten(pnWorld *world, const pnPair *pairs, size_t count, const Wanted *wanted, pnStep *step) {
  (void)pairs;
  double safe = 1.0;
  pnResult result = pn_findSafePart(world->stepSweeps.data, (uint32_t)count, wanted->separation, &world->def.tasks,
                                    world->stepList, &safe);
  step->safe = PN_MIN(step->safe, safe);
  return result;
}

typedef pnResult PairsFcn(pnWorld *world, const pnPair *pairs, size_t count, const Wanted *wanted, pnStep *step);

/* Some pairs of bodies at a time: as many as the broad phase lists. With a limit one, so that nothing is sought behind it, and the impacts before
 * it are those of the first pairs whoever works. */
static pnResult forPairs(pnWorld *world, const Wanted *wanted, pnStep *step, PairsFcn *act) {
  pnBroadPhase *broad = &world->stepBroad;
  uint32_t bodyCount = (uint32_t)world->bodies.count;
  pnResult result = world->stepList ? PN_OK : pnCreateImpactList(&world->stepList);
  for (uint32_t begin = 0, end; result == PN_OK && !step->limited && begin < bodyCount; begin = end) {
    bool ok = begin < pn_closeEnd(broad) || pn_findNextClose(broad);
    end = PN_MIN(pn_closeEnd(broad), bodyCount);
    if (!ok || !listPairs(world, begin, end, wanted->noSelf)) return pn_failMemory(sizeof(pnPair));
    size_t each = wanted->maxImpacts > 0 ? 1 : PN_MAX(world->stepPairs.count, 1);
    for (size_t i = 0; result == PN_OK && !step->limited && i < world->stepPairs.count; i += each) {
      result = sweepPairs(world, world->stepPairs.data + i, each);
      if (result == PN_OK) result = act(world, world->stepPairs.data + i, each, wanted, step);
    }
  }
  return result;
}

/* ---------------------------------------------------------------- the step */

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
  step.result = endStep(world, 0.0, &step.cost);
  if (step.result == PN_OK) step.result = forPairs(world, &wanted, &step, collidePairs);
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
