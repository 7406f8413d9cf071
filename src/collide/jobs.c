/* jobs.c: many questions on several threads. Jobs are opened a little way by one thread, the pairs of nodes that come out
 * are dealt to the workers in small portions, every worker appends what it finds to a list of its own, and the
 * lists are put together and sorted at the end: the answer does not depend on who found what. Nothing is dropped, unless the
 * caller wants no more than so many pairs. Then work is dealt as if there were always as many workers, and the first pairs in
 * the order of items are kept; an item that is begun when those before it have enough is left out, and so changes nothing. */
#include "collide/jobs.h"

#include "collide/gather.h"
#include "collide/peg.h"
#include "collide/relief.h"
#include "collide/slant.h"
#include "collide/small.h"
#include "collide/tilt.h"

/* Items wanted for each worker, of all jobs together. One thread opens jobs until they have as many pairs of nodes, while all others
 * wait; a level more would be several times as many. Where who is done relieves others, it is enough that everybody has something
 * to begin with; else the last one must be a small part. */
#define ITEMS_PER_WORKER 16u
#define ITEMS_TO_BEGIN 4u
/* From so many jobs for each worker on, jobs are not divided. */
#define JOBS_PER_WORKER 4u
/* Small jobs in an item, at most: enough that taking one costs little beside it. */
#define JOBS_PER_ITEM 8u
/* For how many workers work is dealt when pairs are limited. */
#define LIMITED_WORKERS 8u

typedef struct Run {
  pnCollider *c;
  pnRelief *relief; /* null: nobody relieves others */
  pnJob *jobs;
  const pnRunDef *def;
  uint32_t workers;
  /* with a limit: the item that is run next, pairs of those that are done, and the last of these (plus one) */
  _Atomic uint32_t next;
  _Atomic size_t done;
  _Atomic uint32_t lastDone;
} Run;

/* ---------------------------------------------------------------- workers */

static bool ensureWorkers(pnCollider *c, uint32_t count) {
  if (count <= c->workerCount) return true;
  pnWorker *workers = pn_allocZero(count * sizeof(pnWorker));
  pnSegments *segments = pn_allocZero(count * sizeof(pnSegments));
  bool relieves = count > 1 && count <= pn_coreCount();
  pnRelief *relief = relieves ? pn_createRelief(count) : NULL;
  if (!workers || !segments || (relieves && !relief)) {
    pn_free(workers, count * sizeof(pnWorker));
    pn_free(segments, count * sizeof(pnSegments));
    pn_freeRelief(relief);
    return false;
  }
  if (c->workerCount > 0) {
    memcpy(workers, c->workers, c->workerCount * sizeof(pnWorker));
    memcpy(segments, c->segments, c->workerCount * sizeof(pnSegments));
  }
  pn_free(c->workers, c->workerCount * sizeof(pnWorker));
  pn_free(c->segments, c->workerCount * sizeof(pnSegments));
  pn_freeRelief(c->relief);
  c->workers = workers;
  c->segments = segments;
  c->relief = relief;
  c->workerCount = count;
  return true;
}

void pn_colliderFree(pnCollider *c) {
  for (uint32_t i = 0; i < c->workerCount; ++i) {
    pn_workerFree(&c->workers[i]);
    pn_arrayFree(&c->segments[i]);
  }
  pn_freeRelief(c->relief);
  pn_free(c->workers, c->workerCount * sizeof(pnWorker));
  pn_free(c->segments, c->workerCount * sizeof(pnSegments));
  pn_arrayFree(&c->seeds);
  pn_arrayFree(&c->items);
  pn_arrayFree(&c->whole);
  pn_arrayFree(&c->order);
  pn_arrayFree(&c->ordered);
  pn_arrayFree(&c->pairs);
  pn_arrayFree(&c->scratch);
  pn_arrayFree(&c->keyLists);
  pn_arrayFree(&c->firsts);
  pn_arrayFree(&c->room);
  *c = (pnCollider){0};
}

/* ---------------------------------------------------------------- dealing */

static void beginJob(const pnJob *job, pnTraversal *out) {
  pn_beginTraversal(job->a, job->b, job->open, out);
  out->proofs |= job->proofs;
  out->neighbours = job->neighbours;
  out->planeDecides = job->planeDecides;
  out->noPlanes = job->noPlanes;
  out->sink = job->sink;
}

/* A worker goes to another job, of other bodies: a look that was given up is tried once more, and one that paid has no credit. */
static void takeJob(pnWorker *w, uint32_t job) {
  w->job = job;
  for (int look = 0; look < 2; ++look)
    w->doubts.wasted[look] = PN_MAX(0, PN_MIN(w->doubts.wasted[look], PN_MOST_WASTED - 1));
}

/* Big triangles in pieces are met once for each piece. */
static bool isInPieces(const pnTraversal *t) {
  return t->proofs & PN_PROOF_BIT(PN_PROOF_PLANES);
}

/* Pairs of nodes that a worker has opened so far, and of triangles that it has tested. */
typedef struct Done {
  uint64_t opened, tested;
} Done;

static Done doneBy(const pnWorker *w) {
  return (Done){w->cost.nodePairs + w->cost.leafPairs, w->cost.exactTests};
}

/* What a worker has done for a job since then, and what it has put off. */
static void bookWork(pnJob *job, const pnWorker *w, Done since, size_t later) {
  Done now = doneBy(w);
  atomic_fetch_add_explicit(&job->opened, (uint32_t)(now.opened - since.opened), memory_order_relaxed);
  atomic_fetch_add_explicit(&job->tested, (uint32_t)(now.tested - since.tested + later), memory_order_relaxed);
}

/* The items of a job that several workers share, or that begins with more than the roots. */
static bool divideJob(pnCollider *c, pnJob *job, uint32_t index, uint32_t workers, uint32_t wanted, bool split) {
  if (job->isKnown) return pn_arrayPush(&c->items, ((pnItem){index, 0, 0, PN_ITEM_SEEDS}));
  if (!pn_treesOverlap(job->a, job->b ? job->b : job->a) || pn_areDone(job->proofs, job->a)) return true;
  pnTraversal t;
  beginJob(job, &t);
  pnWorker *w = &c->workers[0];
  uint64_t opened = doneBy(w).opened;
  w->lists[0].count = 0;
  job->inPieces = isInPieces(&t);
  if (!pn_seedProofs(job->proofs, job->a, &w->lists[0], &w->fresh)) return false;
  pn_pruneProofs(&t, w, &w->lists[0], 0, PN_PRUNE_SEEDS);
  if (split) pn_expand(&t, w, wanted);
  job->opened = (uint32_t)(doneBy(w).opened - opened); /* as if there were no other workers */
  uint32_t begin = (uint32_t)c->seeds.count, count = (uint32_t)w->lists[0].count;
  if (w->outOfMemory || !pn_arrayReserve(&c->seeds, begin + (size_t)count)) return false;
  if (count > 0) memcpy(c->seeds.data + begin, w->lists[0].data, count * sizeof(pnPair));
  c->seeds.count += count;
  /* neighbours in the list are neighbours in the tree, and one worker should have them */
  uint32_t portion = split ? (count + wanted - 1) / wanted : count;
  for (uint32_t at = begin; at < begin + count; at += portion)
    if (!pn_arrayPush(&c->items, ((pnItem){index, at, PN_MIN(at + portion, begin + count), PN_ITEM_SEEDS})))
      return false;
  /* neighbours; for a first pair they follow in the same item, where there is one */
  uint32_t leaves = job->neighbours && !(job->first && count > 0) ? pn_neighbourCount(&t) : 0;
  uint32_t step = workers > 1 && !job->first ? pn_neighbourPortion(&t) : PN_MAX(leaves, 1u);
  for (uint32_t at = 0; at < leaves; at += step)
    if (!pn_arrayPush(&c->items, ((pnItem){index, at, PN_MIN(at + step, leaves), PN_ITEM_NEIGHBOURS}))) return false;
  return true;
}

/* The items of all jobs. Many jobs are portions enough, and opening each a little way would be work for one thread only: pairs of
 * bodies are run as they are, several an item. With a limit (`strict`) the order of jobs is that of items, one or more each. */
static bool dealJobs(Run *run, uint32_t jobCount, uint32_t workers, bool strict) {
  pnCollider *c = run->c;
  pnJob *jobs = run->jobs;
  uint32_t asking = 0, selves = 0;
  for (uint32_t j = 0; j < jobCount; ++j) {
    asking += !jobs[j].isKnown;
    selves += !jobs[j].b;
    jobs[j].inPieces = false;
    jobs[j].opened = 0;
  }
  uint32_t wanted = PN_MAX(workers * (run->relief ? ITEMS_TO_BEGIN : ITEMS_PER_WORKER) / PN_MAX(asking, 1u), 8u);
  bool few = asking < workers * JOBS_PER_WORKER;
  bool ordered = c->order.count > 0 && !strict;
  uint32_t count = ordered ? (uint32_t)c->order.count : jobCount;
  /* of many pairs of bodies nothing is looked at, as they do not stand in the order in which they are run */
  bool allWhole = ordered && selves == 0 && !(workers > 1 && few);
  c->whole.count = 0;
  if (!pn_arrayReserve(&c->whole, count)) return false;
  for (uint32_t k = 0; k < count; ++k) {
    uint32_t j = ordered ? c->order.data[k] : k;
    bool split = !allWhole && workers > 1 && !jobs[j].first && few;
    if (allWhole || !(split || strict || !jobs[j].b)) c->whole.data[c->whole.count++] = j;
    else if (!divideJob(c, &jobs[j], j, workers, wanted, split)) return false;
  }
  uint32_t portion = PN_MIN((uint32_t)c->whole.count / (workers * ITEMS_PER_WORKER) + 1, JOBS_PER_ITEM);
  for (uint32_t at = 0; at < c->whole.count; at += portion) {
    uint32_t end = (uint32_t)PN_MIN(at + portion, c->whole.count);
    if (!pn_arrayPush(&c->items, ((pnItem){0, at, end, PN_ITEM_JOBS}))) return false;
  }
  return true;
}

/* ---------------------------------------------------------------- running */

static void answerKnown(const pnJob *job, pnWorker *w) {
  ++w->cost.pairs;
  w->outOfMemory |= !pn_arrayPush(&w->found, job->known);
}

/* What the list of pairs of nodes holds, to the end. *time: since when nothing has been booked. */
static void runSeeds(const Run *run, const pnJob *job, const pnTraversal *t, pnWorker *w, double *time) {
  if (!job->first) {
    pn_runAll(t, w, run->def->kernel, time); /* what overshoots is cut off when all is put together */
  } else if (!pn_runFirst(t, w, run->def->kernel) && job->neighbours) {
    pn_runNeighbours(t, w, 0, pn_neighbourCount(t), true);
    *time = pn_clock();
  }
}

/* A part of one job. */
static void runPart(Run *run, const pnItem *item, pnWorker *w, double *time) {
  const pnJob *job = &run->jobs[item->job];
  if (job->isKnown) {
    answerKnown(job, w);
    return;
  }
  pnTraversal t;
  beginJob(job, &t);
  takeJob(w, item->job);
  if (item->kind == PN_ITEM_NEIGHBOURS) {
    pn_runNeighbours(&t, w, item->begin, item->end, job->first);
    *time = pn_clock();
    return;
  }
  size_t count = item->end - item->begin;
  w->lists[0].count = 0;
  if (!pn_arrayReserve(&w->lists[0], count)) {
    w->outOfMemory = true;
    return;
  }
  memcpy(w->lists[0].data, run->c->seeds.data + item->begin, count * sizeof(pnPair));
  w->lists[0].count = count;
  runSeeds(run, job, &t, w, time);
}

/* What was found since `before` belongs to an item of a job; where items do not matter, to that of the same job before it. */
static void keepSegment(Run *run, uint32_t worker, uint32_t item, uint32_t job, size_t before) {
  pnWorker *w = &run->c->workers[worker];
  pnSegments *list = &run->c->segments[worker];
  pnSegment *last = list->count > 0 ? &list->data[list->count - 1] : NULL;
  if (w->found.count == before) return;
  if (run->def->maxPairs == 0 && last && last->job == job && last->end == before) last->end = w->found.count;
  else if (!pn_arrayPush(list, ((pnSegment){item, job, before, w->found.count, 0, NULL}))) w->outOfMemory = true;
}

/* The job whose candidates wait to be tested while the next one is opened. */
typedef struct Pending {
  pnTraversal t[2]; /* its own, and that of the next */
  uint32_t which;   /* of them is its own */
  bool any;
  uint32_t item, job;
} Pending;

static void finishPending(Run *run, uint32_t worker, Pending *pending, double *time) {
  if (!pending->any) return;
  pnWorker *w = &run->c->workers[worker];
  size_t before = w->found.count;
  pending->any = false;
  pn_runCandidates(&pending->t[pending->which], w, run->def->kernel, time);
  keepSegment(run, worker, pending->item, pending->job, before);
}

/* Where one body is much larger than the other, what a job reads of it is not what the last one read, and all of it is waited for.
 * So the job goes in steps (traverse.h), and the one before it is finished between them. */
static bool goesInSteps(const pnJob *job, const pnTraversal *t) {
  return t->uneven && !t->proofs && !t->sink && !job->first;
}

/* A job of two small bodies. */
static void runSmall(Run *run, uint32_t worker, uint32_t item, uint32_t index, double *time) {
  const pnJob *job = &run->jobs[index];
  pnWorker *w = &run->c->workers[worker];
  size_t before = w->found.count;
  w->outOfMemory |= !pn_openSmall(job->a, job->b, w);
  if (w->candidates.count == 0 || w->outOfMemory) return;
  pnTraversal t = {.a = job->a, .b = job->b};
  pn_runCandidates(&t, w, run->def->kernel, time);
  keepSegment(run, worker, item, index, before);
}

/* Where it begins instead of the root of the larger, which then is a; null: there. */
static pnCutting *cuttingOf(const pnJob *job, const pnTraversal *t, pnWorker *w) {
  if (!job->cutting || !pn_isCuttable(t->a->shape->leafCount, t->b->shape->leafCount)) return NULL;
  if (t->a->slabs != &pn_slabBox || t->b->slabs != &pn_slabBox) return NULL;
  return pn_followCutting(job->cutting, t->a, t->b, &w->fresh) ? job->cutting : NULL;
}

/* A job of two bodies from the roots on. */
static void runWhole(Run *run, uint32_t worker, uint32_t item, uint32_t index, Pending *pending, double *time) {
  pnJob *job = &run->jobs[index];
  pnWorker *w = &run->c->workers[worker];
  size_t before = w->found.count;
  if (job->isKnown) {
    answerKnown(job, w);
    keepSegment(run, worker, item, index, before);
    return;
  }
  if (!pn_treesOverlap(job->a, job->b)) return;
  if (run->def->small && !job->first && pn_isSmall(job->a) && pn_isSmall(job->b)) {
    finishPending(run, worker, pending, time);
    runSmall(run, worker, item, index, time);
    return;
  }
  pnTraversal *t = &pending->t[!pending->which];
  beginJob(job, t);
  job->inPieces = isInPieces(t);
  takeJob(w, index);
  w->lists[0].count = 0;
  if (!pn_arrayPush(&w->lists[0], ((pnPair){0, 0}))) {
    w->outOfMemory = true;
    return;
  }
  Done since = doneBy(w);
  size_t later = 0;
  bool inSteps = goesInSteps(job, t);
  pnCutting *cutting = inSteps ? cuttingOf(job, t, w) : NULL;
  bool pegs = cutting && cutting->hasHoles && run->def->small && pn_isSmall(t->b);
  if (pegs) pn_runHoles(t, w, cutting);
  else inSteps = inSteps && pn_runNodes(t, w, cutting);
  finishPending(run, worker, pending, time);
  since.tested = doneBy(w).tested; /* those were the last job's */
  if (inSteps) {
    if (pegs) pn_runPegs(t, w, cutting, run->def->kernel);
    else pn_runLeafPairs(t, w);
    pending->which = !pending->which;
    later = w->candidates.count;
    pending->any = later > 0;
    pending->item = item;
    pending->job = index;
  } else {
    before = w->found.count;
    runSeeds(run, job, t, w, time);
    keepSegment(run, worker, item, index, before);
  }
  bookWork(job, w, since, later);
}

/* Small jobs are run in the order of space and stand in that of contacts, so that each would be waited for. They are asked for so many
 * jobs before. Their trees are not: those of neighbours are mostly there, and asking for more than this takes as long as waiting. */
#define JOBS_AHEAD 8u

static void askForJob(const Run *run, uint32_t k) {
  const uint32_t *whole = run->c->whole.data;
  const char *job = (const char *)&run->jobs[whole[PN_MIN(k + JOBS_AHEAD, (uint32_t)run->c->whole.count - 1)]];
  __builtin_prefetch(job);
  __builtin_prefetch(job + sizeof(pnJob) - 1);
  const pnCutting *next = run->jobs[whole[PN_MIN(k + 1, (uint32_t)run->c->whole.count - 1)]].cutting;
  if (next) pn_askForCutting(next);
}

static void runItem(Run *run, uint32_t worker, uint32_t i, Pending *pending, double *time) {
  pnWorker *w = &run->c->workers[worker];
  const pnItem *item = &run->c->items.data[i];
  if (item->kind != PN_ITEM_JOBS) {
    finishPending(run, worker, pending, time);
    size_t before = w->found.count;
    Done since = doneBy(w);
    runPart(run, item, w, time);
    bookWork(&run->jobs[item->job], w, since, 0);
    keepSegment(run, worker, i, item->job, before);
    return;
  }
  for (uint32_t k = item->begin; k < item->end && !w->outOfMemory; ++k) {
    askForJob(run, k);
    runWhole(run, worker, i, run->c->whole.data[k], pending, time);
  }
}

/* What others hand over, until there is nothing left to do. Waiting is not booked. */
static void relieveOthers(Run *run, uint32_t worker, double *time) {
  pnWorker *w = &run->c->workers[worker];
  uint32_t job;
  w->cost.traverseSeconds += pn_clock() - *time;
  while (!w->outOfMemory && pn_takeOver(run->relief, worker, w, &job)) {
    *time = pn_clock();
    size_t before = w->found.count;
    Done since = doneBy(w);
    pnTraversal t;
    beginJob(&run->jobs[job], &t);
    takeJob(w, job);
    pn_runAll(&t, w, run->def->kernel, time);
    bookWork(&run->jobs[job], w, since, 0);
    keepSegment(run, worker, 0, job, before);
    pn_endItem(run->relief);
    w->cost.traverseSeconds += pn_clock() - *time;
  }
  *time = pn_clock();
}

static void runItems(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  Run *run = context;
  pnWorker *w = &run->c->workers[worker];
  double time = pn_clock();
  Pending pending;
  pending.which = 0;
  pending.any = false;
  for (uint32_t at = begin; at < end && !w->outOfMemory; ++at) {
    size_t before = w->found.count, most = run->def->maxPairs;
    /* with a limit in the order of items, so that the last ones need not be run */
    uint32_t i = most > 0 ? atomic_fetch_add(&run->next, 1) : at;
    /* those that are done come before this one, whatever order the caller's tasks have, and are enough */
    if (most > 0 && atomic_load(&run->lastDone) <= i && atomic_load(&run->done) > most) continue;
    w->foundMost = most > 0 ? before + most : SIZE_MAX;
    if (run->relief) pn_beginItem(run->relief);
    runItem(run, worker, i, &pending, &time);
    if (run->relief) pn_endItem(run->relief);
    if (most > 0) {
      uint32_t last = atomic_load(&run->lastDone);
      while (last < i + 1 && !atomic_compare_exchange_weak(&run->lastDone, &last, i + 1)) {}
      atomic_fetch_add(&run->done, w->found.count - before);
    }
  }
  if (!w->outOfMemory) finishPending(run, worker, &pending, &time);
  if (run->relief) relieveOthers(run, worker, &time);
  w->cost.traverseSeconds += pn_clock() - time;
}

/* ---------------------------------------------------------------- counters */

static void addWorker(pnCost *into, const pnWorker *w) {
  into->nodesUpdated += w->fresh.nodes;
  into->verticesFetched += w->fresh.vertices;
  pn_addCost(into, &w->cost);
}

/* ---------------------------------------------------------------- memory for the next time */

/* Up to this many pairs every worker has room for all of them. */
#define ROOM_FOR_ALL 65536u

static size_t powerAbove(size_t n) {
  size_t p = 1;
  while (p < n) p *= 2;
  return p;
}

/* Room for n elements; what is in the list is not needed any more. Exactly n: growing from something would double, and lists
 * that are made as long as the longest would chase each other. */
#define ROOM(list, n) ((list)->capacity >= (n) || (pn_arrayFree(list), pn_arrayReserve(list, n)))

/* Who runs which item is luck. So that a frame like this one allocates nothing when luck changes, every worker gets lists as
 * long as the longest that an item has needed, and room for what all have found; when that is much, four times a
 * fair share. */
static bool levelWorkers(pnCollider *c, uint32_t workers) {
  size_t stack = 0, leaves = 0, candidates = 0, found = 0, segments = powerAbove(c->items.count + c->whole.count);
  for (uint32_t i = 0; i < workers; ++i) {
    const pnWorker *w = &c->workers[i];
    stack = PN_MAX(stack, PN_MAX(w->lists[0].capacity, w->lists[1].capacity));
    leaves = PN_MAX(leaves, w->leaves.capacity);
    candidates = PN_MAX(candidates, w->candidates.capacity);
    found += w->found.count;
  }
  found = powerAbove(PN_MIN(found, PN_MAX(4 * found / workers, ROOM_FOR_ALL)));
  bool ok = ROOM(&c->workers[0].lists[1], stack); /* only the first opens levels, which takes two lists */
  for (uint32_t i = 0; ok && i < workers; ++i) {
    pnWorker *w = &c->workers[i];
    ok = ROOM(&w->lists[0], stack) && ROOM(&w->leaves, leaves) && ROOM(&w->candidates, candidates) &&
         ROOM(&w->found, found) && ROOM(&c->segments[i], segments);
  }
  return ok;
}

/* A list that grows in the frame that needs it is copied, and its memory mapped page by page, which takes a microsecond or more each:
 * the frame in which lattices came to touch took a third longer than the next, for the same pairs. So as soon as bodies are near each
 * other, mostly frames before they meet, there is room for as many pairs as they have triangles, up to so many, and memory
 * is mapped for so many of them. What is beyond is mapped as pairs become more. */
#define ROOM_AHEAD 32768u
#define MAPPED_AHEAD 8192u
/* The same for what is listed in between, a batch at a time: so many for each triangle, and not more than so many. */
#define CANDIDATES_EACH 4u
#define CANDIDATES_AHEAD 16384u
#define NODES_AHEAD 8192u
#define NODES_MAPPED 2048u

/* Should there be no memory for it, what is needed is asked for when it is. */
static void makeRoom(pnPairs *list, size_t count, size_t mapped) {
  if (list->capacity >= count || list->count > 0) return;
  pn_arrayFree(list);
  if (pn_arrayReserve(list, count)) memset(list->data, 0, PN_MIN(count, mapped) * sizeof(pnPair));
}

void pn_makeRoomLike(pnPairs *list, const pnPairs *other) {
  makeRoom(list, other->capacity, MAPPED_AHEAD);
}

/* Of several workers all lists are as long as the longest (levelWorkers). */
static void makeRoomAhead(pnCollider *c, const pnJob *jobs, uint32_t jobCount, const pnRunDef *def) {
  size_t triangles = 0;
  for (uint32_t j = 0; triangles < ROOM_AHEAD && j < jobCount; ++j)
    triangles += jobs[j].a->mesh->triangleCount + (jobs[j].b ? (size_t)jobs[j].b->mesh->triangleCount : 0);
  triangles = PN_MIN(triangles, ROOM_AHEAD);
  size_t pairs = def->maxPairs > 0 ? PN_MIN(def->maxPairs, triangles) : triangles;
  size_t between = CANDIDATES_EACH * triangles;
  pnWorker *w = &c->workers[0];
  makeRoom(&c->pairs, pairs, MAPPED_AHEAD);
  makeRoom(&w->found, pairs, MAPPED_AHEAD);
  makeRoom(&w->candidates, PN_MIN(between, CANDIDATES_AHEAD), MAPPED_AHEAD);
  makeRoom(&w->leaves, PN_MIN(between, NODES_AHEAD), NODES_MAPPED);
  makeRoom(&w->lists[0], PN_MIN(between, NODES_AHEAD), NODES_MAPPED);
}

/* Everything of the workers as at the beginning. */
static bool beginWorkers(Run *run, uint32_t workers, bool countOnly) {
  pnCollider *c = run->c;
  if (!ensureWorkers(c, workers)) return false;
  /* with a limit items are run in their order */
  run->relief = workers > 1 && run->def->maxPairs == 0 ? c->relief : NULL;
  for (uint32_t i = 0; i < workers; ++i) {
    pnWorker *w = &c->workers[i];
    pn_rememberTilts(w);
    w->found.count = w->candidates.count = w->leaves.count = c->segments[i].count = 0;
    w->foundMost = SIZE_MAX;
    w->countOnly = countOnly;
    w->cost = (pnCost){0};
    w->fresh = (pnFresh){.alone = workers == 1};
    w->relief = run->relief;
    w->candidatesMet = w->tiltedAway = 0;
    w->outOfMemory = false;
  }
  return true;
}

/* What this tree wished for in the run before, if that pays by it. */
static void grantWish(const pnCollider *c, pnTree *tree) {
  if (c->slantsPay && !pn_hasSlants(tree) && atomic_load_explicit(&tree->wantsSlants, memory_order_relaxed))
    pn_grantSlants(tree);
  if (c->tiltsPay && !tree->tilts && atomic_load_explicit(&tree->wantsTilts, memory_order_relaxed)) pn_grantTilts(tree);
}

/* Now that nobody is at work on these trees. */
static void grantWishes(pnCollider *c, const pnJob *jobs, uint32_t jobCount) {
  for (uint32_t j = 0; (c->slantsPay || c->tiltsPay) && j < jobCount; ++j) {
    if (jobs[j].a) grantWish(c, jobs[j].a);
    if (jobs[j].b) grantWish(c, jobs[j].b);
  }
  c->slantsPay = c->tiltsPay = false;
}

pnResult pn_runJobs(pnCollider *c, pnJob *jobs, uint32_t jobCount, const pnRunDef *def, pnCost *cost,
                    bool *outLimited) {
  uint32_t workers = pn_workerCount(def->tasks);
  Run run = {.c = c, .jobs = jobs, .def = def, .workers = workers};
  c->seeds.count = c->items.count = 0;
  *outLimited = false;
  bool ok = beginWorkers(&run, workers, def->countOnly);
  if (ok && def->ahead) makeRoomAhead(c, jobs, jobCount, def);
  grantWishes(c, jobs, jobCount);
  for (uint32_t j = 0; ok && j < jobCount; ++j) {
    if (jobs[j].proofs) {
      double start = pn_clock();
      ok = pn_beginProofs(jobs[j].proofs, jobs[j].a, def->tasks, c->workers, &c->room);
      cost->traverseSeconds += pn_clock() - start;
    }
  }
  ok = ok && dealJobs(&run, jobCount, def->maxPairs > 0 ? LIMITED_WORKERS : workers, def->maxPairs > 0);
  if (ok && run.relief) pn_beginRelief(run.relief, (uint32_t)c->items.count);
  if (ok) pn_parallelFor(def->tasks, runItems, &run, (uint32_t)c->items.count, 1);
  for (uint32_t i = 0; ok && i < workers; ++i) {
    ok = !c->workers[i].outOfMemory;
    addWorker(cost, &c->workers[i]);
  }
  c->slantsPay = ok && workers > 1 && pn_slantsPay(c->workers, workers);
  for (uint32_t i = 0; ok && workers > 1 && i < workers; ++i)
    c->tiltsPay |= pn_nodeTiltsPay(&c->workers[i]) || pn_leafTiltsPay(&c->workers[i]);
  ok = ok && (def->countOnly || pn_gatherPairs(c, jobs, jobCount, def, cost, outLimited));
  ok = ok && (workers == 1 || levelWorkers(c, workers));
  return ok ? PN_OK : pn_fail(PN_ERROR_MEMORY, "out of memory while collecting pairs");
}
