/* follow.c: see follow.h.
 *
 * A world of a hundred thousand bodies in which nothing moves has nothing to do, so no frame goes over all bodies: those that
 * the caller moves are listed when he does. Two kinds move without the world: soups, and trees that others share; they are
 * looked at in every frame.
 *
 * And one in which bodies move and hardly any meets has little to do: of most kinds it is known where a body is when its vertices or its
 * transform are set, and its tree waits, for any number of frames, until something is near that box. It is *late* meanwhile. Bodies that
 * had something near them in the last frame do not wait, as they would be asked for again: their trees follow before the broad phase, which
 * then has the boxes of trees. Of a turned body that is smaller than what is known of it. */
#include "world/follow.h"

#include "world/focus.h"
#include "world/mirror.h"
#include "world/tend.h"

#include <string.h>

/* Up to this many places every pair of boxes is looked at [Larsson01, section 3.4]. */
#define BRUTE_BODIES 100u

/* ---------------------------------------------------------------- lists */

static uint32_t placeOf(const pnWorld *world, const pnBody *body) {
  return (uint32_t)(body - world->bodies.data);
}

/* Does it move without telling the world? */
static bool movesAlone(const pnBody *body) {
  return body->soup || !body->ownsTree;
}

/* Its tree waits until something comes near its loose box. */
static bool isLoose(const pnBody *body) {
  return body->hasLooseBox && !body->self;
}

/* Was something near it in the last frame? In the first all are taken for such. */
static bool wasNear(const pnWorld *world, const pnBody *body) {
  return atomic_load_explicit(&body->nearFrame, memory_order_relaxed) >= world->frameNumber;
}

/* Does its tree wait until a job asks for it? One that is new follows at once, in a frame that is long anyway. With hints those that are near
 * wait, too, but for small ones, which follow as fast as it would be found out that they need not. */
static bool waits(const pnWorld *world, const pnBody *body, bool hints) {
  if (isLoose(body)) return true;
  if (body->isNew || !body->pose || body->mirror || (wasNear(world, body) && !hints)) return false;
  if (!pn_isBoxKnown(body->pose)) return false;
  return !wasNear(world, body) || body->pose->mesh->triangleCount >= PN_TENDED_TRIANGLES;
}

void pn_touchBody(pnWorld *world, pnBody *body) {
  body->hasMoved = body->hasMoved || !body->isNew;
  if (!body->isTouched) {
    body->isTouched = true;
    body->touchedAt = (uint32_t)world->touched.count;
    world->touched.data[world->touched.count++] = placeOf(world, body); /* each once: there is room */
  }
}

bool pn_reserveLists(pnWorld *world, size_t placeCount) {
  return pn_arrayReserve(&world->touched, placeCount) && pn_arrayReserve(&world->alone, placeCount) &&
         pn_arrayReserve(&world->selves, placeCount) && pn_arrayReserve(&world->asked, placeCount) &&
         pn_reserveBroad(&world->broad, placeCount);
}

void pn_freeLists(pnWorld *world) {
  pn_arrayFree(&world->touched);
  pn_arrayFree(&world->alone);
  pn_arrayFree(&world->selves);
  pn_arrayFree(&world->asked);
  pn_freeBroad(&world->broad);
}

/* Takes a place out of a list that it is in, and which keeps its order. */
static size_t leave(uint32_t *list, size_t count, uint32_t place) {
  size_t i = 0;
  while (list[i] != place) ++i;
  memmove(list + i, list + i + 1, (count - i - 1) * sizeof *list);
  return count - 1;
}

/* Whoever is last in the list of those that were touched takes the place of one that leaves it. */
static void untouch(pnWorld *world, const pnBody *body) {
  uint32_t last = world->touched.data[--world->touched.count];
  world->touched.data[body->touchedAt] = last;
  world->bodies.data[last].touchedAt = body->touchedAt;
}

void pn_enterLists(pnWorld *world, pnBody *body) {
  uint32_t place = placeOf(world, body);
  body->isNew = true;
  pn_touchBody(world, body);
  body->isTended = !isLoose(body) && pn_wears(world, body);
  world->tendedCount += body->isTended;
  if (movesAlone(body)) world->alone.data[world->alone.count++] = place;
  if (body->self) {
    size_t at = world->selves.count++;
    for (; at > 0 && world->selves.data[at - 1] > place; --at) world->selves.data[at] = world->selves.data[at - 1];
    world->selves.data[at] = place;
  }
}

void pn_leaveLists(pnWorld *world, pnBody *body) {
  uint32_t place = placeOf(world, body);
  if (body->isTouched) untouch(world, body);
  if (movesAlone(body)) world->alone.count = leave(world->alone.data, world->alone.count, place);
  if (body->self) world->selves.count = leave(world->selves.data, world->selves.count, place);
  world->lateCount -= body->isLate;
  world->wornCount -= body->isWorn;
  world->tendedCount -= body->isTended;
  world->isCurrent = false;
  pn_setBroadBox(&world->broad, place, pn_emptyBroadBox());
}

/* ---------------------------------------------------------------- trees */

/* From so many triangles on it is worth it that several workers follow one body. */
#define LARGE_TRIANGLES 16384u
/* With so many bodies for each worker there is enough to do for all. */
#define BODIES_PER_WORKER 2u
/* And of very many each takes some at a time: in so many ranges the last one is not waited for. */
#define RANGES_PER_WORKER 64u
/* Bodies that a worker looks at or marks at a time, each of which it waits for; of fewer nothing is left for others. */
#define BODIES_AT_A_TIME 256u

/* A body that is followed in units: parts of its tree, or the whole. */
typedef struct Follower {
  pnBody *body;
  uint32_t unitFirst; /* of all units */
  bool inParts;
  _Atomic uint32_t left; /* parts that are not done */
} Follower;

typedef struct Updates {
  pnWorld *world;
  const uint32_t *places;       /* whose trees follow; each once */
  _Atomic uint32_t failedPlace; /* place + 1 of the first body whose update failed */
  /* where there are few bodies */
  uint32_t followerCount, unitCount;
  Follower followers[BODIES_PER_WORKER * PN_MAX_WORKERS];
} Updates;

static void noteFailure(Updates *u, uint32_t place, pnResult result) {
  uint32_t first = atomic_load(&u->failedPlace);
  while (result != PN_OK && (first == 0 || place + 1 < first))
    if (atomic_compare_exchange_weak(&u->failedPlace, &first, place + 1)) return;
}

/* The tree that queries use. One that is not the world's is opened, too: whose turn is next, another world's or the program's, finds it whole. */
static pnResult followBody(pnBody *body, const pnTasks *tasks) {
  if (body->mirror) return pn_followMirror(body, tasks);
  return body->ownsTree ? pn_followPose(body->tree, tasks) : pnTree_Update(body->tree, tasks);
}

/* The message of a failure stays in the thread that made it: the body tries again in this one, and its vertex can be named.
 * What fails once and then not was memory. */
static pnResult explainFailure(pnBody *body) {
  pnResult result = followBody(body, NULL);
  if (result == PN_OK)
    return pn_fail(PN_ERROR_MEMORY, "body '%s': out of memory while its tree was updated", body->name);
  return pn_nameBody(body, result);
}

/* What became of a tree that has followed, or has not. */
static void look(Updates *u, pnBody *body, pnResult result) {
  noteFailure(u, placeOf(u->world, body), result);
  if (result == PN_OK && u->world->def.rebuildQuality > 0 && body->isTended && !body->mirror)
    body->newQuality = pnTree_GetQuality(body->tree);
}

/* Many bodies: each is one worker's, but for trees that several bodies may share. */
static void updateBodies(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  Updates *u = context;
  for (uint32_t i = begin; i < end; ++i) {
    pnBody *body = &u->world->bodies.data[u->places[i]];
    if (body->ownsTree) look(u, body, followBody(body, NULL));
  }
}

/* Units of one follower, which are all there is of it or some of its parts. Who has done the last one ends them. */
static void runUnits(Updates *u, Follower *f, uint32_t begin, uint32_t end) {
  if (!f->inParts) {
    look(u, f->body, followBody(f->body, NULL));
    return;
  }
  for (uint32_t part = begin; part < end; ++part) pn_followPart(f->body->tree, part);
  if (atomic_fetch_sub(&f->left, end - begin) == end - begin) look(u, f->body, pn_endParts(f->body->tree));
}

/* Few bodies: units of all of them in one loop. Those of a body stand together, and so the workers follow it who have copied its vertices,
 * where all were set in one call. */
static void updateUnits(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  Updates *u = context;
  for (uint32_t i = 0; i < u->followerCount; ++i) {
    Follower *f = &u->followers[i];
    uint32_t first = f->unitFirst, next = i + 1 < u->followerCount ? f[1].unitFirst : u->unitCount;
    uint32_t from = PN_MAX(begin, first), to = PN_MIN(end, next);
    if (from < to) runUnits(u, f, from - first, to - first);
  }
}

/* A large one is followed in parts, if its rule has some, else by all workers at once, as a mirror is. */
static void listUnits(Updates *u, pnBody *body) {
  uint32_t units = 1;
  bool large = body->tree->mesh->triangleCount >= LARGE_TRIANGLES;
  pnResult result = large && !body->mirror ? pn_beginParts(body->tree, &u->world->def.tasks, &units) : PN_OK;
  if (result != PN_OK) {
    look(u, body, result);
  } else if (large && (body->mirror || units == 0)) {
    look(u, body, followBody(body, &u->world->def.tasks));
  } else {
    Follower *f = &u->followers[u->followerCount++];
    f->body = body;
    f->unitFirst = u->unitCount;
    f->inParts = large;
    atomic_init(&f->left, units);
    u->unitCount += units;
  }
}

static void setLate(pnWorld *world, pnBody *body, bool late) {
  world->lateCount += (uint32_t)late - body->isLate;
  body->isLate = late;
}

/* They are not late any more. */
static pnResult updateTrees(pnWorld *world, const uint32_t *places, size_t count) {
  const pnTasks *tasks = &world->def.tasks;
  size_t workers = pn_workerCount(tasks);
  bool few = workers > 1 && count < BODIES_PER_WORKER * workers;
  Updates u;
  u.world = world;
  u.places = places;
  atomic_init(&u.failedPlace, 0);
  u.followerCount = u.unitCount = 0;
  for (size_t i = 0; i < count && (few || world->alone.count > 0); ++i) {
    pnBody *body = &world->bodies.data[places[i]];
    if (!body->ownsTree) look(&u, body, followBody(body, tasks));
    else if (few) listUnits(&u, body);
  }
  uint32_t each = (uint32_t)(count / (RANGES_PER_WORKER * workers)) + 1;
  if (few) pn_parallelFor(tasks, updateUnits, &u, u.unitCount, 1);
  else pn_parallelFor(tasks, updateBodies, &u, (uint32_t)count, each);
  if (u.failedPlace) return explainFailure(&world->bodies.data[u.failedPlace - 1]);
  for (size_t i = 0; i < count && world->lateCount > 0; ++i) setLate(world, &world->bodies.data[places[i]], false);
  return PN_OK;
}

/* ---------------------------------------------------------------- the frame */

/* Trees follow, and those that have worn out are seen to. */
static pnResult followTrees(pnWorld *world, const uint32_t *places, size_t count, pnFrame *frame) {
  double start = pn_clock();
  bool tends = world->def.rebuildQuality > 0;
  pnResult result = tends ? pn_tryMirrors(world, places, count) : PN_OK;
  if (result == PN_OK) result = updateTrees(world, places, count);
  if (result == PN_OK && tends) result = pn_tendTrees(world, places, count, &frame->rebuilds);
  frame->cost.updateSeconds += pn_clock() - start;
  return result;
}

/* Nobody is listed; and of who was touched leaves may be closed. */
void pn_beginAsking(pnWorld *world) {
  world->isOpen = pn_isOpen(world);
  world->asked.count = 0;
}

/* Those that were touched and do not wait; the others are late. */
static const uint32_t *whoFollows(pnWorld *world, bool hints, size_t *outCount) {
  pn_beginAsking(world);
  for (size_t i = 0; i < world->touched.count; ++i) {
    uint32_t place = world->touched.data[i];
    pnBody *body = &world->bodies.data[place];
    if (waits(world, body, hints)) setLate(world, body, true);
    else world->asked.data[world->asked.count++] = place;
  }
  *outCount = world->asked.count;
  return world->asked.data;
}

/* Those that were touched, and all that are late. */
static const uint32_t *whoIsNotThere(pnWorld *world, size_t *outCount) {
  pn_beginAsking(world);
  for (size_t i = 0; !world->isOpen && i < world->bodies.count; ++i) {
    const pnBody *body = &world->bodies.data[i];
    if ((body->generation & 1) && (body->isTouched || body->isLate))
      world->asked.data[world->asked.count++] = (uint32_t)i;
  }
  *outCount = world->asked.count;
  return world->asked.data;
}

/* Where a body is, which its pose knows while its tree is late. */
static pnBox boxOfBody(const pnBody *body) {
  if (body->hasLooseBox) return body->looseBox;
  return body->isLate ? pn_boxOfPose(body->pose) : pnTree_GetBox(pn_treeOf(body));
}

static void boxRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  pnWorld *world = context;
  for (uint32_t i = begin; i < end; ++i) {
    uint32_t place = world->touched.data[i];
    const pnBody *body = &world->bodies.data[place];
    pn_putBroadBox(&world->broad, place, (pnBroadBox){boxOfBody(body), body->category, body->mask});
  }
}

static void boxTouched(pnWorld *world) {
  pn_parallelFor(&world->def.tasks, boxRange, world, (uint32_t)world->touched.count, BODIES_AT_A_TIME);
  for (size_t i = 0; i < world->touched.count; ++i) {
    uint32_t place = world->touched.data[i];
    pn_noteBroadBox(&world->broad, place);
    pn_noteSize(world, &world->broad.boxes.data[place].box);
  }
}

static bool comparesAll(const pnWorld *world) {
  return world->lab.broad == PN_BROAD_ALL || (world->lab.broad == PN_BROAD_AUTO && world->bodies.count <= BRUTE_BODIES);
}

static pnResult findClose(pnWorld *world) {
  boxTouched(world);
  bool ok = pn_findClose(&world->broad, comparesAll(world), &world->def.tasks);
  return ok ? PN_OK : pn_failMemory(sizeof(pnPair));
}

pnResult pn_followPoses(pnWorld *world, bool hints, pnFrame *frame) {
  size_t count;
  const uint32_t *places = whoFollows(world, hints, &count);
  pnResult result = followTrees(world, places, count, frame);
  if (result != PN_OK) return result;
  double start = pn_clock();
  result = findClose(world);
  frame->broadSeconds = pn_clock() - start;
  return result;
}

/* Leaves of all bodies, so that any number of threads may ask for them. */
static pnResult openAll(pnWorld *world) {
  pnResult result = PN_OK;
  for (size_t i = 0; result == PN_OK && !world->isOpen && i < world->bodies.count; ++i) {
    pnBody *body = &world->bodies.data[i];
    if (body->generation & 1) result = pn_nameBody(body, pn_openLeaves(body->tree));
  }
  world->isOpen = result == PN_OK;
  return result;
}

pnResult pn_followAll(pnWorld *world) {
  size_t count;
  const uint32_t *places = whoIsNotThere(world, &count);
  pnResult result = updateTrees(world, places, count);
  if (result == PN_OK) result = openAll(world);
  return result == PN_OK ? findClose(world) : result;
}

/* ---------------------------------------------------------------- those that are asked for */

void pn_askFor(pnWorld *world, uint32_t place) {
  pnBody *body = &world->bodies.data[place];
  if (body->isAsked) return;
  body->isAsked = true;
  world->asked.data[world->asked.count++] = place;
}

pnResult pn_followBoxes(pnWorld *world) {
  size_t count;
  const uint32_t *places = whoFollows(world, false, &count);
  pnResult result = updateTrees(world, places, count);
  return result == PN_OK ? findClose(world) : result;
}

pnResult pn_followHidden(pnWorld *world) {
  pn_beginAsking(world);
  for (size_t i = 0; i < world->touched.count; ++i) {
    uint32_t place = world->touched.data[i];
    const pnBody *body = &world->bodies.data[place];
    if (!body->soup && !body->tree->pose->motion->isStored) world->asked.data[world->asked.count++] = place;
  }
  return updateTrees(world, world->asked.data, world->asked.count);
}

pnResult pn_followReached(pnWorld *world) {
  pnResult result = updateTrees(world, world->asked.data, world->asked.count);
  for (size_t i = 0; i < world->asked.count; ++i) {
    pnBody *body = &world->bodies.data[world->asked.data[i]];
    if (result == PN_OK) result = pn_nameBody(body, pn_openLeaves(body->tree));
    body->isAsked = false;
  }
  return result;
}

/* A late tree of a body that a job asks for. */
static void askLate(pnWorld *world, uint32_t place) {
  if (world->bodies.data[place].isLate) pn_askFor(world, place);
}

pnResult pn_followAsked(pnWorld *world, pnFrame *frame) {
  if (world->lateCount == 0) return PN_OK;
  pn_beginAsking(world);
  for (size_t j = 0; j < world->jobs.count; ++j) {
    if (world->jobs.data[j].isKnown) continue;
    askLate(world, world->jobBodies.data[j].a);
    askLate(world, world->jobBodies.data[j].b);
  }
  pnResult result = followTrees(world, world->asked.data, world->asked.count, frame);
  for (size_t i = 0; i < world->asked.count; ++i) {
    pnBody *body = &world->bodies.data[world->asked.data[i]];
    frame->cost.nodesUpdated += pn_takeUpdated(pn_treeOf(body));
    body->isAsked = false;
  }
  return result;
}

typedef struct Forgetting {
  pnWorld *world;
  _Atomic uint64_t updated;
} Forgetting;

static void forgetRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  Forgetting *f = context;
  uint64_t updated = 0;
  for (uint32_t i = begin; i < end; ++i) {
    pnBody *body = &f->world->bodies.data[f->world->touched.data[i]];
    if (!body->isLate) updated += pn_takeUpdated(pn_treeOf(body));
    body->isTouched = body->isNew = false;
  }
  atomic_fetch_add_explicit(&f->updated, updated, memory_order_relaxed);
}

void pn_forgetTouched(pnWorld *world, pnCost *cost) {
  Forgetting f = {.world = world};
  pn_parallelFor(&world->def.tasks, forgetRange, &f, (uint32_t)world->touched.count, BODIES_AT_A_TIME);
  cost->nodesUpdated += f.updated;
  world->touched.count = 0;
  world->opened = cost->nodePairs + cost->leafPairs;
  for (size_t i = 0; i < world->alone.count; ++i) pn_touchBody(world, &world->bodies.data[world->alone.data[i]]);
}
