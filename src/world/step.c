/* step.c: the frame on one page.
 *
 *   update    every tree follows its pose; worn-out ones are built anew
 *   broad     which bodies are close
 *   jobs      one for each close pair, one for each body that looks at itself
 *   run       dual traversal and exact tests, on all workers
 *   contacts  what began, goes on, ended
 *
 * The answer is put together beside the old one and takes its place at the end, so that a frame that fails changes
 * nothing. */
#include "base/sort.h"

#include "base/fenv.h"
#include "collide/filter.h"
#include "collide/hint.h"
#include "collide/self.h"
#include "mesh/soup.h"
#include "world/follow.h"
#include "world/mirror.h"

#include <string.h>

/* ---------------------------------------------------------------- jobs */

static bool isSameBody(pnBodyId a, pnBodyId b) {
  return a.index1 == b.index1 && a.generation == b.generation;
}

/* Contacts are ordered by places, which live bodies do not share. */
static int compareContacts(const pnContact *x, const pnContact *y) {
  if (x->a.index1 != y->a.index1) {
    return x->a.index1 < y->a.index1 ? -1 : 1;
  }
  return x->b.index1 < y->b.index1 ? -1 : x->b.index1 > y->b.index1;
}

/* A body with itself. A hint that is right is found out here, before proofs are looked for that it makes superfluous. */
static bool beginSelf(pnBody *body, bool first, const pnPair *hint, pnJob *job, pnCost *cost) {
  pnPair pair = hint ? *hint : (pnPair){0};
  if (pn_prepareFilter(body->tree, &body->selfFilter) != PN_OK) {
    return false;
  }
  if (hint && pn_tryHint(body->tree, NULL, &body->selfFilter, &pair, cost)) {
    *job = (pnJob){.a = body->tree, .first = true, .hint = hint, .filter = &body->selfFilter};
    return true;
  }
  return pn_beginSelf(body->tree, &body->selfFilter, first, 0, job) == PN_OK;
}

static bool addJob(pnWorld *world, uint32_t a, uint32_t b, const pnFrameDef *def, const pnPair *hint, pnCost *cost) {
  pnBody *body = &world->bodies.data[a];
  pnJob job = {.a = pn_treeOf(body), .b = pn_treeOf(&world->bodies.data[b]), .first = def->first, .hint = hint};
  if (a == b) {
    if (body->tree->shape->nodeCount == 0) {
      return true; /* nothing to meet */
    }
    if (!beginSelf(body, def->first, hint, &job, cost)) {
      return false;
    }
  }
  return pn_arrayPush(&world->jobs, job) && pn_arrayPush(&world->jobBodies, (uint64_t)a << 32 | b);
}

/* The pair by which two bodies met in the last answer, null: they did not. Asked in the order of contacts; *at goes along. */
static const pnPair *lastPair(const pnWorld *world, uint32_t a, uint32_t b, uint32_t *at) {
  const pnContact *contacts = world->contacts.data, wanted = {.a = pn_bodyId(world, a), .b = pn_bodyId(world, b)};
  while (*at < world->contactCount && compareContacts(&contacts[*at], &wanted) < 0) {
    ++*at;
  }
  bool met =
      *at < world->contactCount && isSameBody(contacts[*at].a, wanted.a) && isSameBody(contacts[*at].b, wanted.b);
  return met ? world->pairs.data + contacts[*at].firstPair : NULL;
}

/* How far the list of jobs has come: pairs of bodies, bodies that look at themselves, contacts of the last answer. */
typedef struct Place {
  size_t next, self;
  uint32_t at;
} Place;

/* Jobs at a time. Where thousands of bodies are in one place, there are millions. */
#define MOST_JOBS 16384u

static bool areLeft(const pnWorld *world, const Place *p) {
  return p->next < world->broad.pairs.count || p->self < world->selves.count;
}

/* The next jobs, in the order of contacts: by a, then b, a body with itself first. Both lists are sorted. */
static bool makeJobs(pnWorld *world, const pnFrameDef *def, Place *p, pnCost *cost) {
  world->jobs.count = world->jobBodies.count = 0;
  const pnPairs *close = &world->broad.pairs;
  bool hints = def->first && !def->noHints;
  while (areLeft(world, p) && world->jobs.count < MOST_JOBS) {
    bool alone = p->next == close->count ||
                 (p->self < world->selves.count && world->selves.data[p->self] <= close->data[p->next].a);
    uint32_t a = alone ? world->selves.data[p->self++] : close->data[p->next].a;
    uint32_t b = alone ? a : close->data[p->next++].b;
    if (!addJob(world, a, b, def, hints ? lastPair(world, a, b, &p->at) : NULL, cost)) {
      return false;
    }
  }
  return true;
}

/* From so many jobs on it is worth running those together that are near each other. */
#define MANY_JOBS 64u

/* The order of jobs along the tree of bodies, so that the trees of one are still in the cache for the next. */
static bool orderJobs(pnWorld *world) {
  pnCollider *c = &world->collider;
  size_t count = world->jobs.count;
  c->order.count = 0;
  if (count < MANY_JOBS || world->broad.levelCount == 0) {
    return true;
  }
  if (!pn_arrayReserve(&c->order, count) || !pn_arrayReserve(&world->broad.keys, count) ||
      !pn_arrayReserve(&world->broad.scratch, count)) {
    return false;
  }
  uint64_t *keys = world->broad.keys.data;
  for (size_t j = 0; j < count; j++) {
    keys[j] = (uint64_t)world->broad.slotOf.data[world->jobBodies.data[j] >> 32] << 32 | j;
  }
  pn_sortU64(keys, world->broad.scratch.data, count);
  for (size_t j = 0; j < count; j++) {
    c->order.data[j] = (uint32_t)keys[j];
  }
  c->order.count = count;
  return true;
}

/* Self filters, in place. What is left of each job's pairs moves up, so that the list stays dense; `dense` is where the
 * first job's begin. */
static void filterJobs(pnWorld *world, const pnFrameDef *def, size_t dense, pnCost *cost) {
  for (size_t j = 0; j < world->jobs.count; j++) {
    pnJob *job = &world->jobs.data[j];
    const pnBody *body = &world->bodies.data[world->jobBodies.data[j] >> 32];
    pnPair *pairs = world->collider.pairs.data + job->pairFirst;
    if (!job->b && pn_hasFilter(&body->selfFilter, body->tree->mesh)) {
      size_t before = job->pairCount;
      pn_filterPairs(body->tree, &body->selfFilter, pairs, &job->pairCount);
      if (def->first) {
        job->pairCount = PN_MIN(job->pairCount, 1);
      }
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

/* What the jobs have cost bodies whose trees are worn. */
static void bookWear(pnWorld *world) {
  for (size_t j = 0; world->wornCount > 0 && j < world->jobs.count; j++) {
    pnBody *a = &world->bodies.data[world->jobBodies.data[j] >> 32];
    pnBody *b = &world->bodies.data[(uint32_t)world->jobBodies.data[j]];
    a->debt += a->isWorn ? world->jobs.data[j].leafPairs : 0;
    b->debt += b->isWorn && a != b ? world->jobs.data[j].leafPairs : 0;
  }
}

/* ---------------------------------------------------------------- contacts */

/* The contacts of jobs that found something. */
static bool addContacts(pnWorld *world, pnFrame *frame) {
  for (size_t j = 0; j < world->jobs.count; j++) {
    const pnJob *job = &world->jobs.data[j];
    uint64_t bodies = world->jobBodies.data[j];
    pnContact contact = {.state = PN_CONTACT_BEGIN, .firstPair = job->pairFirst, .pairCount = job->pairCount};
    if (job->pairCount > 0) {
      contact.a = pn_bodyId(world, (uint32_t)(bodies >> 32));
      contact.b = pn_bodyId(world, (uint32_t)bodies);
      if (!pn_arrayPush(&world->nextContacts, contact)) {
        return false;
      }
      frame->pairCount += job->pairCount;
    }
  }
  return true;
}

/* After this frame's contacts in nextContacts the ended ones: a merge of two sorted lists. */
static bool endContacts(pnWorld *world, pnFrame *frame) {
  uint32_t count = (uint32_t)world->nextContacts.count;
  if (!pn_arrayReserve(&world->nextContacts, (size_t)count + world->contactCount)) {
    return false;
  }
  pnContact *out = world->nextContacts.data;
  uint32_t ended = count, i = 0;
  for (uint32_t o = 0; o < world->contactCount; o++) {
    pnContact old = world->contacts.data[o];
    while (i < count && compareContacts(&out[i], &old) < 0) {
      i++;
    }
    bool goesOn = i < count && isSameBody(out[i].a, old.a) && isSameBody(out[i].b, old.b);
    if (goesOn) {
      out[i].state = PN_CONTACT_PERSIST;
    } else {
      old.state = PN_CONTACT_END;
      old.firstPair = old.pairCount = 0;
      out[ended++] = old;
    }
  }
  frame->contactCount = count;
  frame->endedCount = ended - count;
  world->nextContacts.count = ended;
  return true;
}

/* The generations of primitives in pairs of this frame, for ids that stay true whatever happens to the soup afterwards. */
static bool noteGenerations(pnWorld *world) {
  bool any = false;
  for (size_t i = 0; i < world->alone.count; i++) { /* soups are among these */
    any = any || world->bodies.data[world->alone.data[i]].soup;
  }
  size_t count = 2 * world->collider.pairs.count;
  if (!any || !pn_arrayReserve(&world->nextGenerations, count)) {
    return !any;
  }
  world->nextGenerations.count = count;
  for (size_t j = 0; j < world->jobs.count; j++) {
    const pnJob *job = &world->jobs.data[j];
    const pnSoup *a = world->bodies.data[world->jobBodies.data[j] >> 32].soup;
    const pnSoup *b = world->bodies.data[(uint32_t)world->jobBodies.data[j]].soup;
    for (size_t i = job->pairFirst; i < job->pairFirst + job->pairCount; i++) {
      pnPair pair = world->collider.pairs.data[i];
      world->nextGenerations.data[2 * i] = a ? a->generation[pair.a] : 0;
      world->nextGenerations.data[2 * i + 1] = b ? b->generation[pair.b] : 0;
    }
  }
  return true;
}

/* The new answer takes the place of the old one. */
static void publish(pnWorld *world, const pnFrame *frame) {
  pnPairs pairs = world->pairs;
  world->pairs = world->collider.pairs;
  world->collider.pairs = pairs;
  void *data = world->contacts.data;
  size_t capacity = world->contacts.capacity;
  world->contacts.data = world->nextContacts.data;
  world->contacts.count = world->nextContacts.count;
  world->contacts.capacity = world->nextContacts.capacity;
  world->nextContacts.data = data;
  world->nextContacts.capacity = capacity;
  world->nextContacts.count = 0; /* nothing of the old answer is worth copying when it grows */
  world->contactCount = frame->contactCount;
  world->endedCount = frame->endedCount;
  uint32_t *generations = world->generations.data;
  capacity = world->generations.capacity;
  world->generations.data = world->nextGenerations.data;
  world->generations.count = world->nextGenerations.count;
  world->generations.capacity = world->nextGenerations.capacity;
  world->nextGenerations.data = generations;
  world->nextGenerations.capacity = capacity;
  world->nextGenerations.count = 0;
  world->frameNumber++;
}

/* ---------------------------------------------------------------- the frame */

/* All jobs, so many at a time, until there are pairs enough. */
static pnResult runJobs(pnWorld *world, const pnFrameDef *def, pnFrame *frame) {
  Place place = {.self = def->noSelf ? world->selves.count : 0};
  pnRunDef run = {.tasks = &world->def.tasks, .kernel = def->kernel, .unsorted = def->unsorted};
  pnPairs *pairs = &world->collider.pairs;
  pnResult result = PN_OK;
  size_t found = 0; /* before filters */
  pairs->count = world->nextContacts.count = world->nextGenerations.count = 0;
  while (result == PN_OK && areLeft(world, &place) && !frame->limited) {
    double start = pn_clock();
    size_t base = pairs->count;
    if (!makeJobs(world, def, &place, &frame->cost) || !orderJobs(world)) {
      return pn_failMemory(sizeof(pnJob));
    }
    frame->broadSeconds += pn_clock() - start;
    /* when exactly as many are found as are wanted, the next one says that there are more */
    run.maxPairs = def->maxPairs > 0 ? def->maxPairs - found + (def->maxPairs == found) : 0;
    result = pn_runJobs(&world->collider, world->jobs.data, (uint32_t)world->jobs.count, &run, &frame->cost,
                        &frame->limited);
    if (result == PN_OK && def->maxPairs > 0 && def->maxPairs == found && pairs->count > base) {
      frame->limited = true;
      pairs->count = base;
      return PN_OK;
    }
    found += pairs->count - base;
    if (result == PN_OK) {
      bookWear(world);
      filterJobs(world, def, base, &frame->cost);
    }
    if (result == PN_OK && !(noteGenerations(world) && addContacts(world, frame))) {
      result = pn_failMemory(sizeof(pnContact));
    }
  }
  return result;
}

pnFrame pnWorld_Collide(pnWorld *world, const pnFrameDef *def) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world);
  pnFrameDef none = {0};
  pnFrame frame = {0};
  def = def ? def : &none;
  double start = pn_clock();
  frame.result = pn_followPoses(world, &frame);
  if (frame.result == PN_OK) {
    frame.result = pn_followClose(world, &frame.cost);
  }
  if (frame.result == PN_OK) {
    frame.bodyPairs = (uint32_t)world->broad.pairs.count;
    frame.result = runJobs(world, def, &frame);
  }
  if (frame.result == PN_OK && !endContacts(world, &frame)) {
    frame.result = pn_failMemory(sizeof(pnContact));
  }
  frame.cost.pairs = frame.limited ? frame.pairCount : frame.cost.pairs;
  if (frame.result == PN_OK) {
    pn_forgetTouched(world, &frame.cost);
    publish(world, &frame);
  } else {
    frame.contactCount = world->contactCount;
    frame.endedCount = world->endedCount;
    frame.pairCount = 0;
    for (uint32_t i = 0; i < world->contactCount; i++) {
      frame.pairCount += world->contacts.data[i].pairCount;
    }
  }
  frame.totalSeconds = pn_clock() - start;
  return frame;
}

const pnContact *pnWorld_GetContacts(const pnWorld *world) {
  return world->contacts.data;
}
const pnPair *pnWorld_GetPairs(const pnWorld *world) {
  return world->pairs.data;
}
