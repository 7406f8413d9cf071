/* job.c: see job.h. */
#include "world/job.h"

#include "base/sort.h"
#include "collide/filter.h"
#include "collide/hint.h"
#include "collide/self.h"
#include "world/contact.h"
#include "world/focus.h"
#include "world/mirror.h"

#include <string.h>

static bool beginSelf(pnBody *body, const pnFrameDef *def, pnJob *job) {
  uint32_t without = def->lab && def->lab->noFlat ? PN_PROOF_BIT(PN_PROOF_FLAT) : 0;
  if (pn_prepareFilter(body->tree, &body->selfFilter) != PN_OK) return false;
  return pn_beginSelf(pn_treeOf(body), body->tree->mesh, &body->selfFilter, def->first, without, job) == PN_OK;
}

/* May this body be standing still? A new one was touched by being made, a shared tree is in every frame: what becomes of them, their stamps
 * say. */
static bool mayStand(const pnBody *large) {
  return !large->isTouched || large->isNew || !large->ownsTree;
}

/* A large body has moved: a list of its leaves that has not served was made in vain, and what is kept for one as well. */
static void dropCutting(const pnBody *large, pnBody *small) {
  if (!small->cutting || small->cutting->served > 0 || small->cutting->serial != pn_treeOf(large)->serial) return;
  pn_free(small->cutting, sizeof(pnCutting));
  small->cutting = NULL;
}

/* A small body beside a large one that may be standing still gets a cutting; beside several the first of them, so that it is one job's. Without
 * memory there is none. Where both are new the list is made in their first frame, which is long anyway. */
static void handCutting(pnWorld *world, const pnBody *large, pnBody *small, pnJob *job) {
  uint64_t frame = world->frameNumber + 1;
  if (small->cutFrame == frame) return;
  if (!mayStand(large)) {
    dropCutting(large, small);
    return;
  }
  small->cutFrame = frame;
  if (!small->cutting) small->cutting = pn_allocZero(sizeof(pnCutting));
  if (small->cutting) small->cutting->trusting = !large->hasMoved;
  job->cutting = small->cutting;
}

/* Is the first of two trees so much larger that a cutting of it may pay? (Of a small one that has lost a vertex the reach is the whole void, with all
 * that stands in it.) */
static bool isCuttable(const pnTree *large, const pnTree *small) {
  return pn_isCuttable(large->shape->leafCount, small->shape->leafCount) && !small->grid.isClipped;
}

static void findCutting(pnWorld *world, pnBody *a, pnBody *b, pnJob *job) {
  if (isCuttable(job->a, job->b)) handCutting(world, a, b, job);
  else if (isCuttable(job->b, job->a)) handCutting(world, b, a, job);
}

/* What does a job need that only one thread may do? Leaves are opened once, and cuttings handed out in the order of jobs. */
static bool needsOne(const pnWorld *world, const pnFrameDef *def, const pnJob *job) {
  if (!job->b || !pn_areLeavesOpen(job->a) || !pn_areLeavesOpen(job->b) || pn_mayLookCloser(world)) return true;
  return !def->first && (isCuttable(job->a, job->b) || isCuttable(job->b, job->a));
}

/* A job asks the trees of its bodies, which may have got others as they followed. */
static void giveTrees(const pnWorld *world, size_t j) {
  pnJob *job = &world->jobs.data[j];
  const pnJobBodies at = world->jobBodies.data[j];
  job->a = pn_treeOf(&world->bodies.data[at.a]);
  job->b = at.a == at.b ? NULL : pn_treeOf(&world->bodies.data[at.b]);
}

/* Written once in a frame: what is written wanders from worker to worker. */
static void noteNear(const pnWorld *world, uint32_t place) {
  _Atomic uint64_t *near = &world->bodies.data[place].nearFrame;
  uint64_t frame = world->frameNumber + 1;
  if (atomic_load_explicit(near, memory_order_relaxed) != frame)
    atomic_store_explicit(near, frame, memory_order_relaxed);
}

typedef struct Beginning {
  pnWorld *world;
  const pnFrameDef *def;
} Beginning;

/* Jobs whose trees stand where their poses are. */
static void beginRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const Beginning *with = context;
  pnWorld *world = with->world;
  for (uint32_t j = begin; j < end; ++j) {
    const pnJob *job = &world->jobs.data[j];
    giveTrees(world, j);
    if (!job->isKnown) {
      noteNear(world, world->jobBodies.data[j].a);
      noteNear(world, world->jobBodies.data[j].b);
    }
    world->isBegun.data[j] = job->isKnown || !needsOne(world, with->def, job);
  }
}

/* What is left to do for a job that has its trees. */
static bool beginJob(pnWorld *world, const pnFrameDef *def, size_t j) {
  pnJob *job = &world->jobs.data[j];
  const pnJobBodies at = world->jobBodies.data[j];
  pnBody *a = &world->bodies.data[at.a], *b = &world->bodies.data[at.b];
  if (pn_openLeaves(job->a) != PN_OK || (job->b && pn_openLeaves(job->b) != PN_OK)) return false;
  if (!job->b) return beginSelf(a, def, job);
  if (pn_mayLookCloser(world)) pn_lookCloser(world, j);
  if (!def->first) findCutting(world, a, b, job);
  return true;
}

/* A job without trees of two bodies, or of one; null: out of memory. */
static pnJob *pushJob(pnWorld *world, uint32_t a, uint32_t b) {
  if (!pn_arrayPush(&world->jobs, (pnJob){0}) || !pn_arrayPush(&world->jobBodies, ((pnJobBodies){a, b}))) return NULL;
  return &world->jobs.data[world->jobs.count - 1];
}

/* One that has not begun. `hint`: the pair by which the two met before, which counts as known until pn_tryHints has tried it; null: they did
 * not. */
static bool listJob(pnWorld *world, uint32_t a, uint32_t b, const pnFrameDef *def, const pnPair *hint) {
  const pnBody *body = &world->bodies.data[a];
  if (a == b && pn_treeOf(body)->shape->nodeCount == 0) return true; /* nothing to meet */
  pnJob *job = pushJob(world, a, b);
  if (!job) return false;
  job->first = def->first;
  if (!hint) return true;
  job->known = *hint;
  job->isKnown = true;
  return a != b || pn_prepareFilter(body->tree, &body->selfFilter) == PN_OK;
}

/* The first pair of two bodies in the last answer, null: there was none. Asked in the order of contacts; *at goes along. */
static const pnPair *lastPair(const pnWorld *world, uint32_t a, uint32_t b, uint32_t *at) {
  const pnContact *contacts = world->contacts.data, wanted = {.a = pn_bodyId(world, a), .b = pn_bodyId(world, b)};
  while (*at < world->contactCount && pn_compareContacts(&contacts[*at], &wanted) < 0) ++*at;
  bool met =
      *at < world->contactCount && pn_isSameBody(contacts[*at].a, wanted.a) && pn_isSameBody(contacts[*at].b, wanted.b);
  return met ? world->pairs.data + contacts[*at].firstPair : NULL;
}

/* Those of whom the last answer is right are gone by. */
static void passStanding(const pnWorld *world, pnJobPlace *p) {
  const pnPairs *close = &world->broad.pairs;
  while (p->next < close->count && !pn_isStirred(world, close->data[p->next].a, close->data[p->next].b)) ++p->next;
  while (p->self < world->selves.count &&
         !pn_isStirred(world, world->selves.data[p->self], world->selves.data[p->self]))
    ++p->self;
}

/* Jobs at a time. Where thousands of bodies are in one place, there are millions. */
#define MOST_JOBS 65536u
/* And where some of the answer may be enough, so few to begin with, then twice as many each time. */
#define SOME_JOBS 4u

/* How many jobs are next, at most. */
static size_t countNext(const pnFrameDef *def, pnJobPlace *p) {
  bool some = def->maxContacts > 0 || (def->first && def->maxPairs > 0);
  p->most = some ? PN_MIN(p->most > 0 ? 2 * p->most : SOME_JOBS, MOST_JOBS) : MOST_JOBS;
  return def->maxBodyPairs > p->asked ? PN_MIN(p->most, def->maxBodyPairs - p->asked) : p->most;
}

/* The next jobs, in the order of contacts: by a, then b, a body with itself first. Both lists are sorted. */
bool pn_listJobs(pnWorld *world, const pnFrameDef *def, pnJobPlace *p) {
  world->jobs.count = world->jobBodies.count = 0;
  const pnPairs *close = &world->broad.pairs;
  bool hints = pn_hasHints(def);
  size_t most = countNext(def, p);
  while (world->jobs.count < most) {
    if (world->isMended) passStanding(world, p);
    if (!pn_areJobsLeft(world, p)) break;
    bool alone =
        p->next == close->count || (pn_isSelfLeft(world, p) && world->selves.data[p->self] <= close->data[p->next].a);
    uint32_t a = alone ? world->selves.data[p->self++] : close->data[p->next].a;
    uint32_t b = alone ? a : close->data[p->next++].b;
    p->asked += !alone;
    if (!listJob(world, a, b, def, hints ? lastPair(world, a, b, &p->at) : NULL)) return false;
  }
  return true;
}

/* Jobs that a worker takes at a time: it waits for their bodies and trees. */
#define BEGUN_AT_A_TIME 256u

bool pn_beginJobs(pnWorld *world, const pnFrameDef *def) {
  Beginning with = {world, def};
  world->blurred.count = 0;
  if (!pn_arrayReserve(&world->isBegun, world->jobs.count)) return false;
  pn_parallelFor(&world->def.tasks, beginRange, &with, (uint32_t)world->jobs.count, BEGUN_AT_A_TIME);
  for (size_t j = 0; j < world->jobs.count; ++j)
    if (!world->isBegun.data[j] && !beginJob(world, def, j)) return false;
  return true;
}

/* ---------------------------------------------------------------- hints */

typedef struct HintTrial {
  pnWorld *world;
  _Atomic uint64_t tested, fetched;
} HintTrial;

/* Poses and meshes are asked, which are those of the bodies' own trees, also where mirrors stand for these. */
static void tryHints(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  HintTrial *trial = context;
  pnCost cost = {0};
  for (uint32_t j = begin; j < end; ++j) {
    pnJob *job = &trial->world->jobs.data[j];
    const pnJobBodies at = trial->world->jobBodies.data[j];
    const pnBody *a = &trial->world->bodies.data[at.a], *b = &trial->world->bodies.data[at.b];
    job->isKnown = job->isKnown && pn_tryHint(a->tree, a == b ? NULL : b->tree, &a->selfFilter, &job->known, &cost);
  }
  atomic_fetch_add_explicit(&trial->tested, cost.exactTests, memory_order_relaxed);
  atomic_fetch_add_explicit(&trial->fetched, cost.verticesFetched, memory_order_relaxed);
}

/* Jobs that a worker takes at a time: most are one test, of large bodies some dozens. */
#define HINTS_AT_A_TIME 64u

void pn_tryHints(pnWorld *world, pnCost *cost) {
  double start = pn_clock();
  HintTrial trial = {.world = world};
  pn_parallelFor(&world->def.tasks, tryHints, &trial, (uint32_t)world->jobs.count, HINTS_AT_A_TIME);
  cost->exactTests += trial.tested;
  cost->verticesFetched += trial.fetched;
  cost->exactSeconds += pn_clock() - start;
}

/* ---------------------------------------------------------------- order, filters, books */

/* From so many jobs on it is worth running those together that are near each other. */
#define MANY_JOBS 64u

/* The order of jobs along the tree of bodies, so that the trees of one are still in the cache for the next. */
bool pn_orderJobs(pnWorld *world) {
  pnCollider *c = &world->collider;
  size_t count = world->jobs.count;
  c->order.count = 0;
  if (count < MANY_JOBS || world->broad.levelCount == 0) return true;
  if (!pn_arrayReserve(&c->order, count) || !pn_arrayReserve(&world->perches, 2 * count)) return false;
  pnKeyValue *keys = world->perches.data;
  for (size_t j = 0; j < count; ++j)
    keys[j] = (pnKeyValue){world->broad.perchOf.data[world->jobBodies.data[j].a], (uint32_t)j};
  pn_sortKeyValue(keys, keys + count, count);
  for (size_t k = 0; k < count; ++k) c->order.data[k] = keys[k].value;
  c->order.count = count;
  return true;
}

/* Self filters, in place. What is left of each job's pairs moves up, so that the list stays dense; `dense` is where the
 * first job's begin. */
void pn_filterJobs(pnWorld *world, const pnFrameDef *def, size_t dense, pnCost *cost) {
  for (size_t j = 0; j < world->jobs.count; ++j) {
    pnJob *job = &world->jobs.data[j];
    const pnBody *body = &world->bodies.data[world->jobBodies.data[j].a];
    if (job->pairCount == 0) continue;
    pnPair *pairs = world->collider.pairs.data + job->pairFirst;
    if (!job->b && pn_hasFilter(&body->selfFilter, body->tree->mesh)) {
      size_t before = job->pairCount;
      pn_filterPairs(body->tree, &body->selfFilter, pairs, &job->pairCount);
      if (def->first) job->pairCount = PN_MIN(job->pairCount, 1);
      cost->pairs -= before - job->pairCount;
    }
    if (dense < job->pairFirst) {
      memmove(world->collider.pairs.data + dense, pairs, job->pairCount * sizeof(pnPair));
      job->pairFirst = dense;
    }
    dense += job->pairCount;
  }
  world->collider.pairs.count = dense;
}

static void bookBody(pnBody *body, uint64_t frame, const pnJob *job) {
  if (!body->isTended) return;
  if (body->bookFrame != frame) {
    body->opened = body->tested = 0;
    if (body->mirror) ++body->mirror->asked;
  }
  body->bookFrame = frame;
  body->opened += job->opened;
  body->tested += job->first ? job->opened : job->tested; /* who stops at a first pair tests few, and wastes nothing */
  body->debt += body->isWorn ? job->opened : 0;
}

/* What the jobs have cost bodies whose trees are looked after. */
void pn_bookWork(pnWorld *world) {
  for (size_t j = 0; world->tendedCount > 0 && j < world->jobs.count; ++j) {
    const pnJobBodies at = world->jobBodies.data[j];
    bookBody(&world->bodies.data[at.a], world->frameNumber + 1, &world->jobs.data[j]);
    if (at.b != at.a) bookBody(&world->bodies.data[at.b], world->frameNumber + 1, &world->jobs.data[j]);
  }
}
