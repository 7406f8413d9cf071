/* ask.c: questions about all bodies of a world.
 *
 * The broad phase has a tree over the boxes of bodies (or, for few, their list). A question goes down it in the order of a lower bound
 * (where a ray enters a box, how far a point is from it), and asks the tree of every body that may have something better than
 * what is known. Bounds are computed in double from the float boxes and taken a little lower than they are, as are those within
 * the trees: which bodies are asked never changes the answer. */
#include "base/fenv.h"
#include "mesh/mesh.h"
#include "query/answers.h"
#include "query/apart.h"
#include "query/hits.h"
#include "query/inbox.h"
#include "query/near.h"
#include "world/follow.h"
#include "world/mirror.h"

#include <float.h>
#include <math.h>

/* ---------------------------------------------------------------- the walk over bodies */

typedef struct BodyWalk {
  const pnWorld *world;
  uint32_t mask;
  void *context;
  /* A lower bound for what is in a box; INFINITY: nothing is. */
  double (*bound)(void *context, const double lo[3], const double hi[3]);
  /* Asks one body; returns from which bound on nothing is of interest any more. */
  double (*ask)(void *context, const pnBody *body, pnBodyId id);
  double limit;
  pnWorld *noting; /* nobody is asked yet: those that may be are named (pn_askFor). Null: they are asked */
} BodyWalk;

/* Boxes of the broad phase are cut at half the largest float: what reaches there goes on. */
static double boundOf(BodyWalk *w, const float *lo, const float *hi, size_t stride) {
  double a[3], b[3];
  for (size_t k = 0; k < 3; ++k) {
    float x = lo[k * stride], y = hi[k * stride];
    if (!(x <= y)) return INFINITY;
    a[k] = x <= -FLT_MAX / 2 ? -FLT_MAX : x;
    b[k] = y >= FLT_MAX / 2 ? FLT_MAX : y;
  }
  return w->bound(w->context, a, b);
}

static void askPlace(BodyWalk *w, uint32_t place, double bound) {
  const pnBody *body = &w->world->bodies.data[place];
  if (!(bound <= w->limit && bound < INFINITY && (body->generation & 1) && (body->category & w->mask))) return;
  if (w->noting) pn_askFor(w->noting, place);
  else w->limit = w->ask(w->context, body, pn_bodyId(w->world, place));
}

static void walkNode(BodyWalk *w, uint32_t level, size_t index) {
  const pnBroadPhase *broad = &w->world->broad;
  const pnBroadNode *node = &broad->nodes.data[broad->levelFirst[level] + index];
  double bound[PN_LANES];
  uint32_t order[PN_LANES], count = 0;
  for (uint32_t j = 0; j < PN_LANES; ++j) {
    bound[j] = boundOf(w, &node->lo[0][j], &node->hi[0][j], PN_LANES);
    if (!(bound[j] <= w->limit) || bound[j] == INFINITY) continue;
    uint32_t i = count++;
    for (; i > 0 && bound[order[i - 1]] > bound[j]; --i) order[i] = order[i - 1];
    order[i] = j;
  }
  for (uint32_t i = 0; i < count && bound[order[i]] <= w->limit; ++i) {
    size_t child = index * PN_LANES + order[i];
    if (level > 0) walkNode(w, level - 1, child);
    else if (broad->placeAt.data[child] != PN_NONE) askPlace(w, broad->placeAt.data[child], bound[order[i]]);
  }
}

static void walkBodies(BodyWalk *w) {
  const pnBroadPhase *broad = &w->world->broad;
  if (broad->levelCount > 0) walkNode(w, broad->levelCount - 1, 0);
  // Those that are in no tree: newcomers, or all.
  size_t count = broad->levelCount > 0 ? broad->newcomers.count : broad->boxes.count;
  for (size_t i = 0; i < count; ++i) {
    uint32_t place = broad->levelCount > 0 ? broad->newcomers.data[i] : (uint32_t)i;
    const pnBox *box = &broad->boxes.data[place].box;
    askPlace(w, place, boundOf(w, &box->min.x, &box->max.x, 1));
  }
}

/* ---------------------------------------------------------------- rays */

typedef struct RayAsk {
  pnRayQuest *quest;
  const pn_Line *line;
  pnRayMode mode;
  pnFresh *fresh;
} RayAsk;

static double boundRay(void *context, const double lo[3], const double hi[3]) {
  const RayAsk *ask = context;
  const pn_Line *line = ask->line;
  const double o[3] = {line->o[0], line->o[1], line->o[2]};
  return pn_enterBox(o, line->per, ask->quest->ray->first, ask->quest->last, lo, hi);
}

static double askRay(void *context, const pnBody *body, pnBodyId id) {
  RayAsk *ask = context;
  pnTree *tree = pn_treeOf(body);
  pnLattice lattice = pn_latticeOf(tree);
  ask->quest->body = id;
  pn_castRays(tree, &lattice, ask->mode, ask->fresh, ask->quest, 1);
  // One hit is enough.
  if (ask->mode == PN_RAY_ANY && ask->quest->best.triangle != PN_NONE) return -1;
  return ask->quest->last;
}

/* ---------------------------------------------------------------- points */

typedef struct PointAsk {
  double p[3];
  pnNear near;
  pnBodyId body;
  pnFresh *fresh;
} PointAsk;

static double boundPoint(void *context, const double lo[3], const double hi[3]) {
  const PointAsk *ask = context;
  double sum = 0, farthest = 0;
  for (int k = 0; k < 3; ++k) {
    double d = PN_MAX(lo[k] - ask->p[k], ask->p[k] - hi[k]);
    d = d > 0 ? d : 0;
    sum += d * d;
    farthest = PN_MAX(farthest, PN_MAX(fabs(lo[k]), fabs(hi[k])));
  }
  // What is measured may be less, and squares and roots are rounded.
  double least = sqrt(sum) * (1 - 0x1p-48) - PN_POINT_ERROR * farthest;
  return least > 0 ? least * least : 0;
}

static double askPoint(void *context, const pnBody *body, pnBodyId id) {
  PointAsk *ask = context;
  pnTree *tree = pn_treeOf(body);
  pnLattice lattice = pn_latticeOf(tree);
  pnNear near = {.distance2 = ask->near.distance2, .triangle = PN_NONE};
  pn_findNear(tree, &lattice, ask->p, NULL, ask->fresh, &near);
  bool isBetter = near.triangle != PN_NONE && (near.distance2 < ask->near.distance2 || ask->near.triangle == PN_NONE ||
                                               id.index1 < ask->body.index1);
  if (isBetter) ask->near = near, ask->body = id;
  return ask->near.distance2;
}

/* ---------------------------------------------------------------- boxes */

typedef struct BoxAsk {
  const pnBox *box;
  pnBodyTriangles *found;
  bool failed;
  pnFresh *fresh;
} BoxAsk;

static double boundBox(void *context, const double lo[3], const double hi[3]) {
  const pnBox *box = ((BoxAsk *)context)->box;
  for (int k = 0; k < 3; ++k)
    if (lo[k] > (&box->max.x)[k] || hi[k] < (&box->min.x)[k]) return INFINITY;
  return 0;
}

static double askBox(void *context, const pnBody *body, pnBodyId id) {
  BoxAsk *ask = context;
  pnTree *tree = pn_treeOf(body);
  pnLattice lattice = pn_latticeOf(tree);
  if (!pn_findInBox(tree, &lattice, ask->box, id, ask->fresh, ask->found)) ask->failed = true;
  return ask->failed ? -1 : 0;
}

/* ---------------------------------------------------------------- batches */

typedef struct Batch {
  pnWorld *world, *noting; /* noting: null, or the world while it is found out who may be asked */
  uint32_t mask;
  bool alone;
  const pnRay *rays;
  const float *points;
  const pnBox *boxes;
  double farthest2;
  pnHit *hits;
  bool *blocked;
  pnClosest *closest;
  pnAnswers *answers;
} Batch;

/* One ray through the bodies. */
static void castOne(const Batch *batch, uint32_t i, pnHits *hits, pnFresh *fresh, pnRayQuest *outQuest) {
  pn_Line line;
  pn_beginRay(&batch->rays[i], outQuest);
  pn_makeLine(batch->rays[i].origin, batch->rays[i].direction, &line);
  outQuest->all = hits;
  RayAsk ask = {outQuest, &line, batch->hits ? PN_RAY_FIRST : batch->blocked ? PN_RAY_ANY : PN_RAY_ALL, fresh};
  BodyWalk walk = {batch->world, batch->mask, &ask, boundRay, askRay, outQuest->last, batch->noting};
  walkBodies(&walk);
}

/* `last`: the answer for the point before, or null. */
static void measureOne(const Batch *batch, uint32_t i, const PointAsk *last, pnFresh *fresh, PointAsk *outAsk) {
  const float *q = batch->points + 3 * (size_t)i;
  const double p[3] = {q[0], q[1], q[2]};
  double farthest2 = batch->farthest2;
  if (last && last->near.triangle != PN_NONE) {
    const pnTree *tree = pn_treeOf(pn_findBody(batch->world, last->body));
    farthest2 = PN_MIN(farthest2, pn_boundNear(tree->pose, last->p, &last->near, p));
  }
  *outAsk = (PointAsk){{p[0], p[1], p[2]}, {.distance2 = farthest2, .triangle = PN_NONE}, {0}, fresh};
  BodyWalk walk = {batch->world, batch->mask, outAsk, boundPoint, askPoint, farthest2, batch->noting};
  walkBodies(&walk);
}

static void searchOne(const Batch *batch, uint32_t i, pnBodyTriangles *found, pnFresh *fresh, BoxAsk *outAsk) {
  *outAsk = (BoxAsk){&batch->boxes[i], found, false, fresh};
  BodyWalk walk = {batch->world, batch->mask, outAsk, boundBox, askBox, 0, batch->noting};
  if (!pn_isEmptyBox(outAsk->box)) walkBodies(&walk);
}

static void castRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  const Batch *batch = context;
  pnFresh fresh = {.alone = batch->alone};
  pnHits hits = {0};
  for (uint32_t i = begin; i < end; ++i) {
    pnRayQuest quest;
    hits.count = 0;
    castOne(batch, i, &hits, &fresh, &quest);
    if (batch->hits) batch->hits[i] = quest.best;
    else if (batch->blocked) batch->blocked[i] = quest.best.triangle != PN_NONE;
    else pn_giveAnswers(batch->answers, worker, i, hits.data, pn_sortHits(hits.data, hits.count));
    if (quest.failed) batch->answers->failed[worker] = true;
  }
  pn_arrayFree(&hits);
}

static void measureRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const Batch *batch = context;
  pnFresh fresh = {.alone = batch->alone};
  PointAsk asks[2];
  for (uint32_t i = begin; i < end; ++i) {
    PointAsk *ask = &asks[i & 1];
    measureOne(batch, i, i > begin ? &asks[~i & 1] : NULL, &fresh, ask);
    batch->closest[i] = pn_publishNear(&ask->near, ask->body);
  }
}

static void searchRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  const Batch *batch = context;
  pnFresh fresh = {.alone = batch->alone};
  pnBodyTriangles found = {0};
  for (uint32_t i = begin; i < end; ++i) {
    BoxAsk ask;
    found.count = 0;
    searchOne(batch, i, &found, &fresh, &ask);
    if (ask.failed) batch->answers->failed[worker] = true;
    pn_giveAnswers(batch->answers, worker, i, found.data, pn_sortTriangles(found.data, found.count));
  }
  pn_arrayFree(&found);
}

/* So few questions for each body that it is worth it to find out whose trees they reach. */
#define BODIES_PER_QUESTION 16u

/* The bodies whose boxes these questions come to, and their trees. A point without a limit comes to all of them: then all trees follow. */
static pnResult followReached(Batch *batch, uint32_t count) {
  pnResult result = pn_followBoxes(batch->world);
  if (result != PN_OK) return result;
  batch->noting = batch->world;
  pn_beginAsking(batch->world);
  for (uint32_t i = 0; i < count; ++i) {
    pnRayQuest quest;
    PointAsk point;
    BoxAsk box;
    if (batch->rays) castOne(batch, i, NULL, NULL, &quest);
    else if (batch->points) measureOne(batch, i, NULL, NULL, &point);
    else searchOne(batch, i, NULL, NULL, &box);
  }
  batch->noting = NULL;
  return pn_followReached(batch->world);
}

static pnResult followBodies(Batch *batch, uint32_t count) {
  bool few = batch->world->bodyCount / BODIES_PER_QUESTION > count, isOpen = pn_isOpen(batch->world);
  return few && !isOpen ? followReached(batch, count) : pn_followAll(batch->world);
}

/* Follows the bodies, then deals the questions; `result` is of what was checked before. */
static pnResult runBatch(Batch *batch, uint32_t count, pnTaskFcn *range, pnResult result) {
  const pnTasks *tasks = &batch->world->def.tasks;
  if (result == PN_OK) result = followBodies(batch, count);
  if (result == PN_OK && batch->answers) result = pn_beginAnswers(batch->answers, count);
  if (result != PN_OK) {
    if (batch->answers) pn_dropAnswers(batch->answers);
    return result;
  }
  batch->alone = pn_workerCount(tasks) == 1;
  pn_parallelFor(tasks, range, batch, count, 16);
  return batch->answers ? pn_putTogether(batch->answers) : PN_OK;
}

pnResult pnWorld_FindFirstHits(pnWorld *world, const pnRay *rays, uint32_t count, uint32_t mask, pnHit *outHits) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world && (count == 0 || (rays && outHits)));
  Batch batch = {.world = world, .mask = mask, .rays = rays, .hits = outHits};
  return runBatch(&batch, count, castRange, pn_checkRays(rays, count));
}

pnResult pnWorld_FindBlocked(pnWorld *world, const pnRay *rays, uint32_t count, uint32_t mask, bool *outBlocked) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world && (count == 0 || (rays && outBlocked)));
  Batch batch = {.world = world, .mask = mask, .rays = rays, .blocked = outBlocked};
  return runBatch(&batch, count, castRange, pn_checkRays(rays, count));
}

pnResult pnWorld_FindAllHits(pnWorld *world, const pnRay *rays, uint32_t count, uint32_t mask, pnHitList *outHits) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world && outHits && (count == 0 || rays));
  Batch batch = {.world = world, .mask = mask, .rays = rays, .answers = pn_answersOfHits(outHits)};
  return runBatch(&batch, count, castRange, pn_checkRays(rays, count));
}

pnResult pnWorld_FindClosest(pnWorld *world, const float *points, uint32_t count, double farthest, uint32_t mask,
                             pnClosest *outClosest) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world && (count == 0 || (points && outClosest)));
  Batch batch = {
      .world = world, .mask = mask, .points = points, .farthest2 = farthest * farthest, .closest = outClosest};
  return runBatch(&batch, count, measureRange, pn_checkPoints(points, count, farthest));
}

pnResult pnWorld_FindInBoxes(pnWorld *world, const pnBox *boxes, uint32_t count, uint32_t mask,
                             pnTriangleList *outTriangles) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world && outTriangles && (count == 0 || boxes));
  Batch batch = {.world = world, .mask = mask, .boxes = boxes, .answers = pn_answersOfTriangles(outTriangles)};
  return runBatch(&batch, count, searchRange, pn_checkBoxes(boxes, count));
}

/* ---------------------------------------------------------------- two bodies, contacts */

pnResult pnWorld_FindDistances(pnWorld *world, const pnBodyPair *pairs, uint32_t count, double farthest,
                               pnDistance *outDistances) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world && (count == 0 || (pairs && outDistances)));
  size_t bytes = pn_bytes(count, sizeof(pnTreePair));
  for (uint32_t i = 0; i < count; ++i)
    if (!pn_findBody(world, pairs[i].a) || !pn_findBody(world, pairs[i].b)) return PN_ERROR_ID;
  pnTreePair *trees = pn_alloc(bytes);
  if (!trees && count > 0) return pn_failMemory(bytes);
  pn_beginAsking(world);
  for (uint32_t i = 0; i < count; ++i) {
    pn_askFor(world, pairs[i].a.index1 - 1);
    pn_askFor(world, pairs[i].b.index1 - 1);
  }
  pnResult result = pn_followReached(world);
  for (uint32_t i = 0; result == PN_OK && i < count; ++i)
    trees[i] = (pnTreePair){pn_treeOf(pn_findBody(world, pairs[i].a)), pn_treeOf(pn_findBody(world, pairs[i].b))};
  pnClosestDef def = pnDefaultClosestDef();
  def.farthest = farthest;
  def.tasks = world->def.tasks;
  if (result == PN_OK) result = pnFindDistances(trees, count, &def, outDistances);
  pn_free(trees, bytes);
  return result;
}

typedef struct Meetings {
  const pnWorld *world;
  uint32_t contact;
  size_t firstPair;
  pnMeeting *out;
} Meetings;

static void meetRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const Meetings *m = context;
  for (uint32_t i = begin; i < end; ++i)
    m->out[i] = pnWorld_GetContactPoint(m->world, m->contact, m->firstPair + i).meeting;
}

void pnWorld_FindMeetings(const pnWorld *world, uint32_t contactIndex, pnMeeting *outMeetings) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world && contactIndex < world->contactCount);
  const pnContact *c = &world->contacts.data[contactIndex];
  for (size_t from = 0; from < c->pairCount; from += UINT32_MAX / 2) {
    Meetings m = {world, contactIndex, c->firstPair + from, outMeetings + from};
    pn_parallelFor(&world->def.tasks, meetRange, &m, (uint32_t)PN_MIN(c->pairCount - from, UINT32_MAX / 2), 64);
  }
}
