/* swept_list.c: see swept.h. Lists of impacts, and the search for those of many pairs of bodies.
 *
 * The earliest contact is sought in windows: first with boxes around a thousandth of the step, then a thirty-second part, then all of
 * it. Where things are close something meets early, and short boxes overlap few others. A window decides for a pair when the first
 * contact in it ends before the window does, by more than a span can be wide. */
#include "collide/swept.h"

#include "base/fenv.h"

#include <math.h>

/* ---------------------------------------------------------------- lists */

pnResult pnCreateImpactList(pnImpactList **outList) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(outList);
  *outList = pn_allocZero(sizeof(pnImpactList));
  return *outList ? PN_OK : pn_failMemory(sizeof(pnImpactList));
}

void pnDestroyImpactList(pnImpactList *list) {
  if (!list) return;
  pn_colliderFree(&list->collider);
  for (uint32_t i = 0; i < list->workerCount; ++i) {
    pn_arrayFree(&list->found[i].impacts);
    pn_arrayFree(&list->found[i].runs);
  }
  pn_free(list->found, list->workerCount * sizeof *list->found);
  pn_arrayFree(&list->pairs);
  pn_arrayFree(&list->jobs);
  pn_arrayFree(&list->sweeps);
  pn_arrayFree(&list->all);
  pn_arrayFree(&list->scratch);
  pn_arrayFree(&list->keys);
  pn_free(list, sizeof *list);
}

const pnFeatureImpact *pnImpactList_GetImpacts(const pnImpactList *list) {
  return list->all.data;
}
size_t pnImpactList_GetCount(const pnImpactList *list) {
  return list->all.count;
}
pnImpactSpan pnImpactList_GetEarliest(const pnImpactList *list) {
  return list->earliest;
}

bool pnImpactList_IsLimited(const pnImpactList *list) {
  return list->limited;
}

pnSweptDef pnDefaultSweptDef(void) {
  return (pnSweptDef){0};
}

/* Nothing found yet, by as many workers as there are. */
static bool openFound(pnImpactList *list, uint32_t workers) {
  if (workers > list->workerCount) {
    pnImpactsFound *found = pn_allocZero(workers * sizeof *found);
    if (!found) return false;
    if (list->workerCount > 0) memcpy(found, list->found, list->workerCount * sizeof *found);
    pn_free(list->found, list->workerCount * sizeof *found);
    list->found = found;
    list->workerCount = workers;
  }
  for (uint32_t i = 0; i < list->workerCount; ++i) list->found[i].impacts.count = list->found[i].runs.count = 0;
  return true;
}

static void dropAnswer(pnImpactList *list) {
  list->all.count = 0;
  list->earliest = (pnImpactSpan){0};
}

/* ---------------------------------------------------------------- pairs */

static bool isEmpty(const pnSwept *q) {
  return q->a->triangleCount == 0 || q->b->triangleCount == 0;
}

/* All pairs as `like` says; those with an empty body are done. */
static bool takePairs(pnImpactList *list, const pnSweptPair *pairs, uint32_t count, const pnSwept *like) {
  list->pairs.count = 0;
  if (!pn_arrayReserve(&list->pairs, count) || !pn_arrayReserve(&list->jobs, count) ||
      !pn_arrayReserve(&list->sweeps, 2 * (size_t)count))
    return false;
  for (uint32_t i = 0; i < count; ++i) {
    pnSwept *q = &list->pairs.data[i];
    *q = *like;
    q->sink = (pnSink){pn_takeSwept};
    q->a = pairs[i].a;
    q->b = pairs[i].b ? pairs[i].b : q->a;
    q->self = q->b == q->a;
    q->list = list;
    q->number = i;
    q->isDone = isEmpty(q);
  }
  list->pairs.count = count;
  return true;
}

static void listSweep(pnImpactList *list, pnSweep *sweep) {
  if (sweep->isListed) return;
  sweep->isListed = true;
  list->sweeps.data[list->sweeps.count++] = sweep;
}

typedef struct SweepWork {
  pnImpactList *list;
  double end, margin;
} SweepWork;

static void updateRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const SweepWork *w = context;
  for (uint32_t i = begin; i < end; ++i) (void)pn_updateSweep(w->list->sweeps.data[i], w->end, w->margin, NULL);
}

/* With so many sweeps for each worker there is enough to do for all. */
#define SWEEPS_PER_WORKER 2u

/* Many: each by one worker. Then one after the other, by all; for those that are there that is nothing to do, and others say what is wrong. */
static pnResult updateSweeps(pnImpactList *list, double end, double margin, const pnTasks *tasks) {
  uint32_t workers = pn_workerCount(tasks);
  SweepWork work = {list, end, margin};
  list->sweeps.count = 0;
  for (size_t i = 0; i < list->pairs.count; ++i) {
    pnSwept *q = &list->pairs.data[i];
    if (q->isDone) continue;
    listSweep(list, q->a);
    listSweep(list, q->b);
  }
  for (size_t i = 0; i < list->sweeps.count; ++i) list->sweeps.data[i]->isListed = false;
  if (workers > 1 && list->sweeps.count >= (size_t)SWEEPS_PER_WORKER * workers)
    pn_parallelFor(tasks, updateRange, &work, (uint32_t)list->sweeps.count, 1);
  pnResult result = PN_OK;
  for (size_t i = 0; result == PN_OK && i < list->sweeps.count; ++i)
    result = pn_updateSweep(list->sweeps.data[i], end, margin, tasks);
  return result;
}

/* One job for each pair that is not done and whose boxes are near. */
static void listJobs(pnImpactList *list, double end) {
  list->jobs.count = 0;
  for (size_t i = 0; i < list->pairs.count; ++i) {
    pnSwept *q = &list->pairs.data[i];
    if (q->isDone) continue;
    q->end = end;
    q->first = q->count = 0;
    q->earliest = (pnImpactSpan){0};
    atomic_store_explicit(&q->soonest, INFINITY, memory_order_relaxed);
    if (!q->self && !pn_treesOverlap(q->a->tree, q->b->tree)) continue;
    list->jobs.data[list->jobs.count++] = (pnJob){.a = q->a->tree, .b = q->self ? NULL : q->b->tree, .sink = &q->sink};
  }
}

/* One traversal of all pairs that are not done, with boxes around 0 ... end. */
static pnResult sweepOnce(pnImpactList *list, double end, double margin, const pnTasks *tasks, pnCost *cost) {
  double start = pn_clock();
  pnResult result = updateSweeps(list, end, margin, tasks);
  cost->updateSeconds += pn_clock() - start;
  if (result == PN_OK && !openFound(list, pn_workerCount(tasks))) result = pn_failMemory(sizeof(pnImpactsFound));
  if (result != PN_OK) return result;
  listJobs(list, end);
  if (list->jobs.count == 0) return PN_OK;
  pnRunDef run = {.tasks = tasks, .unsorted = true};
  bool limited = false;
  list->collider.pairs.count = 0;
  return pn_runJobs(&list->collider, list->jobs.data, (uint32_t)list->jobs.count, &run, cost, &limited);
}

/* ---------------------------------------------------------------- putting together */

/* Of all workers together. */
static size_t countFound(const pnImpactList *list) {
  size_t total = 0;
  for (uint32_t i = 0; i < list->workerCount; ++i) total += list->found[i].impacts.count;
  return total;
}

static size_t runEnd(const pnImpactsFound *found, size_t run) {
  return run + 1 < found->runs.count ? found->runs.data[run + 1].first : found->impacts.count;
}

/* How many each pair has, and where in the list they shall be. */
static void placePairs(pnImpactList *list) {
  size_t at = 0;
  for (uint32_t i = 0; i < list->workerCount; ++i) {
    const pnImpactsFound *found = &list->found[i];
    for (size_t r = 0; r < found->runs.count; ++r)
      list->pairs.data[found->runs.data[r].pair].count += runEnd(found, r) - found->runs.data[r].first;
  }
  for (size_t i = 0; i < list->pairs.count; ++i) {
    pnSwept *q = &list->pairs.data[i];
    if (q->isDone) continue;
    q->first = at;
    at += q->count;
    q->count = 0; /* how many are there already */
  }
}

static void copyRuns(pnImpactList *list) {
  for (uint32_t i = 0; i < list->workerCount; ++i) {
    const pnImpactsFound *found = &list->found[i];
    for (size_t r = 0; r < found->runs.count; ++r) {
      pnSwept *q = &list->pairs.data[found->runs.data[r].pair];
      size_t first = found->runs.data[r].first, n = runEnd(found, r) - first;
      if (n > 0) memcpy(list->all.data + q->first + q->count, found->impacts.data + first, n * sizeof *list->all.data);
      q->count += n;
    }
  }
}

/* The impacts of one pair by kind, a, b: three stable sorts, the last key first. */
static void sortPair(pnImpactList *list, const pnSwept *q) {
  pnFeatureImpact *all = list->all.data + q->first, *scratch = list->scratch.data + q->first;
  pnKeyValue *keys = list->keys.data + 2 * q->first;
  for (int pass = 0; pass < 3 && q->count > 1; ++pass) {
    for (size_t i = 0; i < q->count; ++i)
      keys[i] = (pnKeyValue){pass == 0 ? all[i].b : pass == 1 ? all[i].a : (uint32_t)all[i].kind, (uint32_t)i};
    pn_sortKeyValue(keys, keys + q->count, q->count);
    for (size_t i = 0; i < q->count; ++i) scratch[i] = all[keys[i].value];
    memcpy(all, scratch, q->count * sizeof *all);
  }
}

/* Before the first span ends, nothing begins earlier than the first that begins. */
static pnImpactSpan earliestOf(const pnFeatureImpact *impacts, size_t count) {
  pnImpactSpan span = {.meets = count > 0, .lo = count > 0, .hi = count > 0};
  for (size_t i = 0; i < count; ++i) {
    span.lo = PN_MIN(span.lo, impacts[i].lo);
    span.hi = PN_MIN(span.hi, impacts[i].hi);
  }
  return span;
}

static void sortRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  pnImpactList *list = context;
  for (uint32_t i = begin; i < end; ++i) {
    pnSwept *q = &list->pairs.data[i];
    if (q->isDone || q->count == 0) continue;
    sortPair(list, q);
    q->earliest = earliestOf(list->all.data + q->first, q->count);
  }
}

/* All workers' impacts into one list, pair after pair. */
static bool gather(pnImpactList *list, const pnTasks *tasks) {
  size_t total = countFound(list);
  list->all.count = 0;
  if (!pn_arrayReserve(&list->all, total) || !pn_arrayReserve(&list->scratch, total) ||
      !pn_arrayReserve(&list->keys, 2 * total))
    return false;
  placePairs(list);
  copyRuns(list);
  pn_parallelFor(tasks, sortRange, list, (uint32_t)list->pairs.count, 1);
  list->all.count = total;
  return true;
}

/* ---------------------------------------------------------------- the earliest */

/* Of the sorted impacts of a pair the first whose span ends first. */
static pnFeatureImpact bestOf(const pnFeatureImpact *impacts, size_t count) {
  size_t best = 0;
  for (size_t i = 1; i < count; ++i) best = impacts[i].hi < impacts[best].hi ? i : best;
  return impacts[best];
}

/* Pairs for which this window decides are done. True: all are. */
static bool decide(pnImpactList *list, double end) {
  bool all = true;
  for (size_t i = 0; i < list->pairs.count; ++i) {
    pnSwept *q = &list->pairs.data[i];
    if (q->isDone) continue;
    q->isDone = end == 1.0 || (q->earliest.meets && q->earliest.hi + PN_WIDEST_SPAN <= end);
    all = all && q->isDone;
    if (q->isDone && q->count > 0) q->best = bestOf(list->all.data + q->first, q->count);
  }
  return all;
}

/* One impact for each pair that has some. */
static bool listBest(pnImpactList *list) {
  list->all.count = 0;
  if (!pn_arrayReserve(&list->all, list->pairs.count)) return false;
  for (size_t i = 0; i < list->pairs.count; ++i) {
    pnSwept *q = &list->pairs.data[i];
    q->first = list->all.count;
    q->count = PN_MIN(q->count, 1);
    if (q->count > 0) list->all.data[list->all.count++] = q->best;
  }
  return true;
}

static pnResult findEarliest(pnImpactList *list, const pnTasks *tasks, pnCost *cost) {
  static const double windows[] = {0x1p-10, 0x1p-5, 1.0};
  pnResult result = PN_OK;
  for (int i = 0; i < 3 && result == PN_OK; ++i) {
    result = sweepOnce(list, windows[i], 0.0, tasks, cost);
    if (result == PN_OK && !gather(list, tasks)) result = pn_failMemory(sizeof(pnFeatureImpact));
    if (result == PN_OK && decide(list, windows[i])) break;
  }
  if (result == PN_OK && !listBest(list)) result = pn_failMemory(sizeof(pnFeatureImpact));
  return result;
}

/* ---------------------------------------------------------------- queries */

static pnResult findAll(pnImpactList *list, size_t most, const pnTasks *tasks, pnCost *cost) {
  pnResult result = sweepOnce(list, 1.0, 0.0, tasks, cost);
  if (result != PN_OK) return result;
  list->limited = countFound(list) > most;
  if (list->limited) return PN_OK;
  return gather(list, tasks) ? PN_OK : pn_failMemory(sizeof(pnFeatureImpact));
}

static void noteEarliest(pnImpactList *list) {
  for (size_t i = 0; i < list->pairs.count; ++i) {
    const pnImpactSpan *span = &list->pairs.data[i].earliest;
    if (!span->meets) continue;
    pn_takeEarlier(&list->earliest, span);
  }
}

pnResult pn_collideSweptPairs(const pnSweptPair *pairs, uint32_t count, const pnSweptDef *def, pnImpactList *list,
                              pnCost *outCost) {
  pnCost cost = {0};
  dropAnswer(list);
  list->limited = false;
  if ((unsigned)def->what >= PN_SWEPT_COUNT)
    return pn_fail(PN_ERROR_ARGUMENT, "swept query: %d is nothing to ask for", (int)def->what);
  bool isEarliest = def->what == PN_SWEPT_EARLIEST;
  pnSwept like = {.what = def->what, .most = def->maxImpacts > 0 && !isEarliest ? def->maxImpacts : SIZE_MAX};
  pnResult result = takePairs(list, pairs, count, &like) ? PN_OK : pn_failMemory(count * sizeof(pnSwept));
  if (result == PN_OK)
    result = isEarliest ? findEarliest(list, &def->tasks, &cost) : findAll(list, like.most, &def->tasks, &cost);
  if (result == PN_OK && !list->limited) noteEarliest(list);
  else dropAnswer(list);
  cost.pairs = list->all.count;
  if (outCost) *outCost = cost;
  return result;
}

pnResult pnCollideSwept(pnSweep *a, pnSweep *b, const pnSweptDef *def, pnImpactList *outImpacts, pnCost *outCost) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(a && outImpacts);
  pnSweptDef usual = pnDefaultSweptDef();
  pnSweptPair pair = {a, b};
  return pn_collideSweptPairs(&pair, 1, def ? def : &usual, outImpacts, outCost);
}

/* ---------------------------------------------------------------- safe steps */

/* More than `separation` apart: nothing is listed, only the first time is. */
static pnResult findApart(const pnSweptPair *pairs, uint32_t count, double separation, const pnTasks *tasks,
                          pnImpactList *list, double *outSafe) {
  pnSwept like = {.keepsApart = true, .most = SIZE_MAX, .separation = separation};
  pnCost cost = {0};
  double safe = 1.0;
  pnResult result = takePairs(list, pairs, count, &like) ? PN_OK : pn_failMemory(count * sizeof(pnSwept));
  if (result == PN_OK) result = sweepOnce(list, 1.0, separation, tasks, &cost);
  for (size_t i = 0; result == PN_OK && i < list->pairs.count; ++i)
    if (!list->pairs.data[i].isDone) safe = PN_MIN(safe, list->pairs.data[i].soonest);
  *outSafe = result == PN_OK ? safe : 0.0;
  dropAnswer(list);
  return result;
}

pnResult pn_findSafePart(const pnSweptPair *pairs, uint32_t count, double separation, const pnTasks *tasks,
                         pnImpactList *list, double *outSafe) {
  if (separation > 0.0) return findApart(pairs, count, separation, tasks, list, outSafe);
  /* exactly: up to the first contact */
  pnSweptDef def = {.what = PN_SWEPT_EARLIEST};
  if (tasks) def.tasks = *tasks;
  pnResult result = pn_collideSweptPairs(pairs, count, &def, list, NULL);
  *outSafe = result != PN_OK ? 0.0 : list->earliest.meets ? list->earliest.lo : 1.0;
  return result;
}

pnResult pnFindSafeStep(pnSweep *a, pnSweep *b, double separation, const pnTasks *tasks, double *outSafe) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(a && outSafe);
  *outSafe = 0.0;
  if (!(separation >= 0.0 && separation <= 1e30))
    return pn_fail(PN_ERROR_ARGUMENT, "safe step: a separation of %g", separation);
  pnImpactList *list;
  pnResult result = pnCreateImpactList(&list);
  if (result != PN_OK) return result;
  pnSweptPair pair = {a, b};
  result = pn_findSafePart(&pair, 1, separation, tasks, list, outSafe);
  pnDestroyImpactList(list);
  return result;
}
