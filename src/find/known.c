/* known.c: what is found once for all: regions that meet at rest, and regions that one carrier carries.
 *
 * Rest. A region is there at rest when on both sides it has vertices in common with one region at rest: corners of triangles that
 * meet, or vertices of the piece that is cut off. A contact that deepens keeps the piece it had inside the larger one, and one that
 * moves along a surface has its old triangles beside the new ones, so both are known again. Each vertex has a list of the rest
 * regions it is in: a region is compared in the time it takes to look at its vertices.
 *
 * Carried. What two sides with one carrier do in one frame they do in all, and rounding makes pairs come and go at its rim. It
 * is measured when it is first seen; where it has a pair whose triangles were in a region then, that is the answer, and only the
 * arrow is moved along. */
#include "find/find.h"

#include "base/bytes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- vertices of regions */

typedef bool VertexFcn(void *context, uint32_t vertex);

/* Calls for vertices of one side of a region: corners of triangles that meet, and of patches. Some come twice. */
static bool eachVertex(const pnFinder *finder, const pnContactWork *work, uint32_t region, bool far, VertexFcn *visit,
                       void *context) {
  const pnMesh *mesh = finder->bodies.data[far ? work->b : work->a].mesh;
  for (uint32_t r = region; r != PN_NONE; r = work->drafts.data[r].next) {
    const pnDraft *draft = &work->drafts.data[r];
    uint32_t last = PN_NONE;
    for (size_t i = 0; i < draft->meetCount; ++i) {
      const pnMeet *meet = &work->meets.data[work->order.data[draft->meetFirst + i]];
      uint32_t t = far ? meet->b : meet->a;
      for (uint32_t k = 0; k < 3 && t != last; ++k)
        if (!visit(context, pn_cornerOf(mesh, t, k))) return false;
      last = t;
    }
  }
  for (uint32_t p = work->drafts.data[region].firstPatch; p != PN_NONE; p = work->patches.data[p].nextOfRegion) {
    const pnPatch *patch = &work->patches.data[p];
    if (patch->ofFar != far) continue;
    for (uint32_t f = patch->flood; f != PN_NONE; f = work->floods.data[f].next)
      for (uint32_t i = 0; i < work->floods.data[f].vertexCount; ++i)
        if (!visit(context, work->vertices.data[work->floods.data[f].vertexFirst + i])) return false;
  }
  return true;
}

static bool isListed(const pnNumbers *list, uint32_t number) {
  size_t at = pn_lowerNumber(list, 0, number);
  return at < list->count && list->data[at] == number;
}

/* ---------------------------------------------------------------- rest */

static bool gatherVertex(void *context, uint32_t vertex) {
  pnFinder *finder = context;
  return pn_arrayPush(&finder->restVertices, vertex);
}

/* The vertices of one side, ascending, each once, behind those of the others. */
static bool gatherSide(pnFinder *finder, pnRestRegion *rest, const pnRegionSource *source, bool far, uint32_t side) {
  const pnContactWork *work = &finder->works.data[source->work];
  size_t first = finder->restVertices.count, kept = first;
  if (!eachVertex(finder, work, source->draft, far, gatherVertex, finder)) return false;
  uint32_t *list = finder->restVertices.data;
  size_t end = finder->restVertices.count;
  if (end - first > 1) qsort(list + first, end - first, sizeof(uint32_t), pn_compareNumbers);
  for (size_t i = first; i < end; ++i)
    if (i == first || list[i] != list[i - 1]) list[kept++] = list[i];
  finder->restVertices.count = kept;
  rest->vertexFirst[side] = first;
  rest->vertexCount[side] = kept - first;
  return true;
}

static const uint32_t *restList(const pnFinder *finder, const pnRestRegion *rest, uint32_t side) {
  return finder->restVertices.data + rest->vertexFirst[side];
}

/* Does the same know both of them again? */
static bool isSameRest(const pnFinder *finder, const pnRestRegion *x, const pnRestRegion *y) {
  bool same = x->a == y->a && x->b == y->b && x->inner == y->inner;
  for (uint32_t side = 0; same && side < 2; ++side) {
    size_t count = x->vertexCount[side];
    same = count == y->vertexCount[side] &&
           (count == 0 || memcmp(restList(finder, x, side), restList(finder, y, side), count * sizeof(uint32_t)) == 0);
  }
  return same;
}

/* Where the number of a rest region is in a table of a power of two of places, or where it may be put. */
static uint32_t *placeOfRest(const pnFinder *finder, const pnNumbers *table, const pnRestRegion *rest) {
  const uint32_t numbers[3] = {rest->a, rest->b, rest->inner};
  uint64_t hash = pn_hashBytes(0, numbers, sizeof numbers);
  for (uint32_t side = 0; side < 2; ++side)
    hash = pn_hashBytes(hash, restList(finder, rest, side), rest->vertexCount[side] * sizeof(uint32_t));
  size_t mask = table->count - 1, at = (size_t)(hash >> 20) & mask;
  while (table->data[at] != PN_NONE && !isSameRest(finder, &finder->rests.data[table->data[at]], rest))
    at = (at + 1) & mask;
  return &table->data[at];
}

/* The vertices of one side of the last rest region get their entries. */
static bool enterSide(pnFinder *finder, uint32_t side) {
  uint32_t region = (uint32_t)finder->rests.count - 1;
  const pnRestRegion *rest = &finder->rests.data[region];
  pnFinderBody *body = &finder->bodies.data[side ? rest->b : rest->a];
  if (!body->restFirst) {
    size_t bytes = body->mesh->vertexCount * sizeof(uint32_t);
    body->restFirst = pn_alloc(bytes);
    if (!body->restFirst) return false;
    memset(body->restFirst, 0xff, bytes);
  }
  for (size_t i = 0; i < rest->vertexCount[side]; ++i) {
    uint32_t *first = &body->restFirst[restList(finder, rest, side)[i]];
    uint32_t count = *first != PN_NONE ? finder->restEntries.data[*first].count + 1 : 1;
    pnRestEntry entry = {.region = region, .side = side, .next = *first, .count = count};
    if (!pn_arrayPush(&finder->restEntries, entry)) return false;
    *first = (uint32_t)finder->restEntries.count - 1;
  }
  return true;
}

/* Of regions with the same vertices one is kept, as deep as the deepest: of a body whose vertices are all in one place at rest any two
 * triangles are a region, all of that one vertex, and each would be asked about each. */
static bool keepRegion(pnFinder *finder, const pnRegion *region, const pnRegionSource *source, const pnNumbers *table) {
  bool swap = region->a > region->b;
  pnRestRegion rest = {.a = PN_MIN(region->a, region->b), .b = PN_MAX(region->a, region->b), .inner = region->inner};
  rest.depth = region->depth.value;
  size_t before = finder->restVertices.count;
  if (!gatherSide(finder, &rest, source, false, swap) || !gatherSide(finder, &rest, source, true, !swap)) return false;
  uint32_t *place = placeOfRest(finder, table, &rest);
  if (*place != PN_NONE) {
    pnRestRegion *same = &finder->rests.data[*place];
    same->depth = PN_MAX(same->depth, rest.depth);
    finder->restVertices.count = before;
    return true;
  }
  *place = (uint32_t)finder->rests.count;
  return pn_arrayPush(&finder->rests, rest) && enterSide(finder, 0) && enterSide(finder, 1);
}

/* A table for so many rest regions, with room to find them quickly. */
static bool openTable(pnNumbers *table, size_t regionCount) {
  size_t size = 4;
  while (size < 2 * regionCount) size *= 2;
  if (!pn_arrayReserve(table, size)) return false;
  memset(table->data, 0xff, size * sizeof(uint32_t));
  table->count = size;
  return true;
}

/* Shorter lists are walked: a look into the table takes as long as some entries. A choice of speed. */
#define CROWD 32u

pnResult pn_keepRest(pnFinder *finder) {
  pn_freeKnown(finder, true);
  finder->hasRest = true;
  pnNumbers table = {0};
  bool good = openTable(&table, finder->regions.count);
  for (size_t i = 0; good && i < finder->regions.count; ++i) {
    pnRegion *region = &finder->regions.data[i];
    region->atRest = true;
    finder->restHasInner |= region->inner != PN_NONE;
    good = keepRegion(finder, region, &finder->sources.data[i], &table);
  }
  pn_arrayFree(&table);
  good = good && pn_settleCrowds(finder, CROWD);
  return good ? PN_OK : pn_failMemory(sizeof(pnRestRegion));
}

typedef struct Asking {
  const pnFinder *finder;
  const pnFinderBody *body;
  uint32_t a, b;
  uint32_t bit;          /* of the side that is asked about: 0, 1 */
  bool self;             /* then the sides at rest may be the other way round: bits 2, 3 */
  uint32_t touched;      /* the first of the rest regions with bits */
  uint32_t touchedCount; /* how many there are */
  bool isSecond;         /* the other side is through: no rest region counts that has no bits yet */
  bool others;           /* those that are known by pairs have been asked */
  size_t cost;           /* entries of all vertices */
  pnFewVertices few[2];  /* of the sides, where there are pairs */
} Asking;

/* Entries of a vertex: the first, how many, and the next. */
static uint32_t firstEntry(const Asking *q, uint32_t vertex) {
  uint32_t first = q->body->restFirst[vertex];
  return q->others && first != PN_NONE ? q->finder->restEntries.data[first].other : first;
}
static uint32_t countEntries(const Asking *q, uint32_t first) {
  if (first == PN_NONE) return 0;
  const pnRestEntry *entry = &q->finder->restEntries.data[first];
  return q->others ? entry->otherCount : entry->count;
}
static uint32_t nextEntry(const Asking *q, uint32_t at) {
  const pnRestEntry *entries = q->finder->restEntries.data;
  uint32_t next = entries[at].next;
  return q->others && next != PN_NONE ? entries[next].other : next;
}

static bool addCost(void *context, uint32_t vertex) {
  Asking *q = context;
  q->cost += countEntries(q, firstEntry(q, vertex));
  if (q->finder->restPairs.count > 0) pn_addFew(&q->few[q->bit], vertex);
  return true;
}

static bool hasVertex(const pnFinder *finder, const pnRestRegion *rest, uint32_t side, uint32_t vertex) {
  if (rest->vertexCount[side] == 0) return false;
  pnNumbers list = {.data = finder->restVertices.data + rest->vertexFirst[side], .count = rest->vertexCount[side]};
  return isListed(&list, vertex);
}

/* A vertex that is in more rest regions than count: these are asked whether they have it. */
static void askTouched(Asking *q, uint32_t vertex) {
  for (uint32_t r = q->touched; r != PN_NONE; r = q->finder->rests.data[r].nextTouched) {
    pnRestRegion *rest = &q->finder->rests.data[r];
    if (hasVertex(q->finder, rest, q->bit, vertex)) rest->touched |= 1u << q->bit;
    if (q->self && hasVertex(q->finder, rest, 1 - q->bit, vertex)) rest->touched |= 4u << q->bit;
  }
}

static bool askVertex(void *context, uint32_t vertex) {
  Asking *q = context;
  const pnRestEntry *entries = q->finder->restEntries.data;
  uint32_t first = firstEntry(q, vertex);
  if (q->isSecond && countEntries(q, first) > q->touchedCount) {
    askTouched(q, vertex);
    return true;
  }
  for (uint32_t e = first; e != PN_NONE; e = nextEntry(q, e)) {
    pnRestRegion *rest = &q->finder->rests.data[entries[e].region];
    uint32_t bits = entries[e].side == q->bit ? 1u << q->bit : q->self ? 4u << q->bit : 0;
    if (rest->a != q->a || rest->b != q->b || bits == 0 || (q->isSecond && rest->touched == 0)) continue;
    if (rest->touched == 0) {
      rest->nextTouched = q->touched;
      q->touched = entries[e].region;
      ++q->touchedCount;
    }
    rest->touched |= bits;
  }
  return true;
}

/* Asks the vertices of side `side` (0: of the smaller body) of a region. */
static void askSide(Asking *q, const pnContactWork *work, uint32_t region, bool swap, uint32_t side, VertexFcn *ask) {
  bool far = (side == 1) != swap;
  q->body = &q->finder->bodies.data[far ? work->b : work->a];
  q->bit = side;
  if (q->body->restFirst) eachVertex(q->finder, work, region, far, ask, q);
}

/* Is it shorter to ask about pairs of vertices than to walk one of the lists? Of what is contained one side is enough: it has no pairs. */
static bool pairsPay(const Asking *q, const pnRegion *region, const size_t costs[2]) {
  if (q->finder->restPairs.count == 0 || region->inner != PN_NONE) return false;
  if (q->few[0].count > PN_FEW_VERTICES || q->few[1].count > PN_FEW_VERTICES) return false;
  return (size_t)q->few[0].count * q->few[1].count * (q->self ? 2 : 1) < PN_MIN(costs[0], costs[1]);
}

/* How deep a region is at rest; negative: it is not there. */
static double restDepthOf(pnFinder *finder, size_t i) {
  const pnRegion *region = &finder->regions.data[i];
  const pnRegionSource *source = &finder->sources.data[i];
  const pnContactWork *work = &finder->works.data[source->work];
  uint32_t a = PN_MIN(region->a, region->b), b = PN_MAX(region->a, region->b);
  Asking q = {.finder = finder, .a = a, .b = b, .self = a == b, .touched = PN_NONE};
  // The side with the fewer entries first. A floor that a thousand things stand on has a thousand at each vertex: it is then asked only
  // about those that the other side has found, unless there are some that have no vertices on one side.
  size_t costs[2] = {0, 0};
  for (uint32_t side = 0; side < 2; ++side) {
    q.cost = 0;
    askSide(&q, work, source->draft, region->a > region->b, side, addCost);
    costs[side] = q.cost;
  }
  q.others = pairsPay(&q, region, costs);
  double depth = q.others ? pn_deepestOfPairs(finder, a, b, q.few) : -1;
  for (uint32_t turn = 0; turn < 2; ++turn) {
    q.isSecond = turn == 1 && region->inner == PN_NONE && !finder->restHasInner;
    askSide(&q, work, source->draft, region->a > region->b, turn ^ (costs[1] < costs[0]), askVertex);
  }
  for (uint32_t r = q.touched; r != PN_NONE; r = finder->rests.data[r].nextTouched) {
    pnRestRegion *rest = &finder->rests.data[r];
    // What is contained, now or at rest, has no vertices on the outer side.
    uint32_t need = rest->inner != PN_NONE ? rest->inner : region->inner;
    uint32_t bits = need == PN_NONE ? 3u : need == a ? 1u : 2u;
    if ((rest->touched & bits) == bits || (rest->touched & 12u) == 12u) depth = PN_MAX(depth, rest->depth);
    rest->touched = 0;
  }
  return depth;
}

/* ---------------------------------------------------------------- carried */

/* Was a pair of triangles in this region when it was first seen? `swap`: the pair has its bodies the other way round. */
static bool hadPair(const pnCarriedRegion *c, uint32_t a, uint32_t b, bool swap) {
  if (isListed(&c->triangles[swap], a) && isListed(&c->triangles[!swap], b)) return true;
  return c->a == c->b && isListed(&c->triangles[0], b) && isListed(&c->triangles[1], a);
}

/* The first entry of a triangle, PN_NONE: it is in no carried region. */
static uint32_t entryOf(const pnFinder *finder, uint32_t body, uint32_t triangle) {
  const uint32_t *first = finder->bodies.data[body].carriedFirst;
  return first ? first[triangle] : PN_NONE;
}

/* The first region that had a pair of triangles of the bodies a and b, if it is before `best`; else `best`. It is among those that
 * either triangle is in: the shorter list is looked through. */
static uint32_t recallPair(const pnFinder *finder, uint32_t a, uint32_t b, pnPair pair, uint32_t best) {
  const pnCarriedEntry *entries = finder->carriedEntries.data;
  uint32_t first = entryOf(finder, a, pair.a), other = entryOf(finder, b, pair.b);
  if (first == PN_NONE || other == PN_NONE) return best;
  if (entries[other].count < entries[first].count) first = other;
  uint32_t low = PN_MIN(a, b), high = PN_MAX(a, b);
  for (uint32_t e = first; e != PN_NONE; e = entries[e].next) {
    const pnCarriedRegion *c = &finder->carried.data[entries[e].region];
    if (entries[e].region >= best || c->a != low || c->b != high) continue;
    if (hadPair(c, pair.a, pair.b, a > b)) best = entries[e].region;
  }
  return best;
}

/* Before regions are published: the meets are looked at. */
bool pn_isKnownDepth(const pnFinder *finder, const pnContactWork *work, uint32_t region) {
  if (!work->drafts.data[region].carried) return false;
  for (uint32_t r = region; r != PN_NONE; r = work->drafts.data[r].next) {
    const pnDraft *draft = &work->drafts.data[r];
    for (size_t k = 0; k < draft->meetCount; ++k) {
      const pnMeet *meet = &work->meets.data[work->order.data[draft->meetFirst + k]];
      if (recallPair(finder, work->a, work->b, (pnPair){meet->a, meet->b}, PN_NONE) != PN_NONE) return true;
    }
  }
  return false;
}

/* The same of a published region, by its pairs. Of a meet that is there from either side one is published; both give the same
 * answer, since a region of a body with itself is asked both ways. */
static const pnCarriedRegion *recall(const pnFinder *finder, const pnRegion *region) {
  uint32_t best = PN_NONE;
  for (size_t k = 0; k < region->pairCount && region->carried; ++k)
    best = recallPair(finder, region->a, region->b, finder->regionPairs.data[region->firstPair + k], best);
  return best != PN_NONE ? &finder->carried.data[best] : NULL;
}

/* Where the point `at` of a triangle is now. */
static pnVec3 pointOn(const pnFinderBody *body, uint32_t t, const double at[2]) {
  float p[3][4], out[3];
  pn_poseFetch(body->pose, body->mesh->triangles + 3 * (size_t)t, 3, p[0], 4);
  for (int k = 0; k < 3; ++k)
    out[k] = (float)(p[0][k] + at[0] * ((double)p[1][k] - p[0][k]) + at[1] * ((double)p[2][k] - p[0][k]));
  return (pnVec3){out[0], out[1], out[2]};
}

/* The other way: where on the triangle a point is, by least squares. */
static void placeOn(const pnFinderBody *body, uint32_t t, pnVec3 point, double at[2]) {
  float p[3][4];
  pn_poseFetch(body->pose, body->mesh->triangles + 3 * (size_t)t, 3, p[0], 4);
  double d[3], e[3], x[3] = {point.x, point.y, point.z};
  for (int k = 0; k < 3; ++k) {
    d[k] = (double)p[1][k] - p[0][k];
    e[k] = (double)p[2][k] - p[0][k];
    x[k] -= p[0][k];
  }
  double dd = pn_dot3(d, d), de = pn_dot3(d, e), ee = pn_dot3(e, e), dx = pn_dot3(d, x), ex = pn_dot3(e, x);
  double det = dd * ee - de * de;
  at[0] = det > 0 ? (dx * ee - ex * de) / det : 0;
  at[1] = det > 0 ? (ex * dd - dx * de) / det : 0;
}

/* The depth a region had when it was first seen; its arrow goes with it. */
static void takeDepth(const pnFinder *finder, const pnCarriedRegion *c, pnRegion *out) {
  bool swap = out->a > out->b;
  out->depth = c->depth;
  out->depth.fromA = c->depth.fromA != swap;
  out->volume = c->volume;
  if (c->own == PN_NONE) {
    out->depth.from = out->depth.onto = out->centre;
    return;
  }
  const pnFinderBody *a = &finder->bodies.data[c->a], *b = &finder->bodies.data[c->b];
  out->depth.from = pointOn(c->depth.fromA ? a : b, c->own, c->fromAt);
  out->depth.onto = pointOn(c->depth.fromA ? b : a, c->onto, c->ontoAt);
}

/* Where the arrow of a region stands on its triangles. */
static void placeArrow(const pnFinder *finder, const pnRegion *region, const pnRegionSource *source, pnSight *sight) {
  const pnContactWork *work = &finder->works.data[source->work];
  for (uint32_t p = work->drafts.data[source->draft].firstPatch; p != PN_NONE; p = work->patches.data[p].nextOfRegion) {
    const pnPatch *patch = &work->patches.data[p];
    bool this = patch->depth.value == region->depth.value && patch->depth.kind == region->depth.kind &&
                patch->depth.triangle != PN_NONE;
    if (!this || sight->own != PN_NONE || patch->ofFar != !region->depth.fromA) continue;
    sight->own = patch->depth.triangle;
    sight->onto = patch->onto;
    const pnFinderBody *a = &finder->bodies.data[region->a], *b = &finder->bodies.data[region->b];
    placeOn(region->depth.fromA ? a : b, sight->own, region->depth.from, sight->fromAt);
    placeOn(region->depth.fromA ? b : a, sight->onto, region->depth.onto, sight->ontoAt);
  }
}

/* The triangles of one side of the last carried region get their entries. */
static bool enterTriangles(pnFinder *finder, uint32_t side) {
  uint32_t region = (uint32_t)finder->carried.count - 1;
  const pnCarriedRegion *c = &finder->carried.data[region];
  pnFinderBody *body = &finder->bodies.data[side ? c->b : c->a];
  size_t bytes = body->mesh->triangleCount * sizeof(uint32_t);
  if (!body->carriedFirst) {
    body->carriedFirst = pn_alloc(bytes);
    if (!body->carriedFirst) return false;
    memset(body->carriedFirst, 0xff, bytes);
  }
  for (size_t i = 0; i < c->triangles[side].count; ++i) {
    uint32_t *first = &body->carriedFirst[c->triangles[side].data[i]];
    const pnCarriedEntry *entries = finder->carriedEntries.data;
    // Of a body with itself a triangle may be on both sides.
    if (*first != PN_NONE && entries[*first].region == region) continue;
    pnCarriedEntry entry = {region, *first, *first != PN_NONE ? entries[*first].count + 1 : 1};
    if (!pn_arrayPush(&finder->carriedEntries, entry)) return false;
    *first = (uint32_t)finder->carriedEntries.count - 1;
  }
  return true;
}

/* Remembers a region that is carried and was measured in this frame. */
static bool keepCarried(pnFinder *finder, size_t i) {
  const pnRegion *region = &finder->regions.data[i];
  const pnSight *sight = &finder->sights.data[i];
  // What is contained has no pairs to know it by, and is measured again.
  if (!region->carried || region->pairCount == 0 || recall(finder, region)) return true;
  bool swap = region->a > region->b;
  pnCarriedRegion c = {.a = PN_MIN(region->a, region->b), .b = PN_MAX(region->a, region->b)};
  c.depth = region->depth;
  c.depth.fromA = region->depth.fromA != swap;
  c.volume = region->volume;
  c.own = sight->own;
  c.onto = sight->onto;
  memcpy(c.fromAt, sight->fromAt, sizeof c.fromAt);
  memcpy(c.ontoAt, sight->ontoAt, sizeof c.ontoAt);
  bool good = true;
  for (int far = 0; far < 2 && good; ++far) {
    pnNumbers *list = &c.triangles[far != (int)swap];
    good = pn_arrayReserve(list, sight->triangleCount[far]);
    for (uint32_t k = 0; k < sight->triangleCount[far] && good; ++k)
      list->data[list->count++] = finder->sightTriangles.data[sight->triangleFirst[far] + k];
  }
  good = good && pn_arrayPush(&finder->carried, c);
  if (!good) {
    pn_arrayFree(&c.triangles[0]);
    pn_arrayFree(&c.triangles[1]);
  }
  return good && enterTriangles(finder, 0) && enterTriangles(finder, 1);
}

/* ---------------------------------------------------------------- all regions of a frame */

void pn_recognise(pnFinder *finder) {
  for (size_t i = 0; i < finder->regions.count; ++i) {
    pnRegion *region = &finder->regions.data[i];
    pnSight *sight = &finder->sights.data[i];
    double depth = finder->hasRest ? restDepthOf(finder, i) : -1;
    region->atRest = depth >= 0;
    sight->restDepth = PN_MAX(depth, 0.0);
    if (region->carried && sight->isMeasured) placeArrow(finder, region, &finder->sources.data[i], sight);
  }
}

pnResult pn_recallCarried(pnFinder *finder) {
  for (size_t i = 0; i < finder->regions.count; ++i)
    if (!finder->sights.data[i].isMeasured && !recall(finder, &finder->regions.data[i]))
      return pn_fail(PN_ERROR_KIND, "finder: region %zu was known where it was looked at, and is not here", i);
  // First all depths, then what is new: two regions of one frame do not know each other.
  for (size_t i = 0; i < finder->regions.count; ++i) {
    const pnCarriedRegion *c = recall(finder, &finder->regions.data[i]);
    if (c) takeDepth(finder, c, &finder->regions.data[i]);
  }
  for (size_t i = 0; i < finder->regions.count; ++i)
    if (!keepCarried(finder, i)) return pn_failMemory(sizeof(pnCarriedRegion));
  return PN_OK;
}

void pn_freeKnown(pnFinder *finder, bool rest) {
  for (size_t i = 0; i < finder->carried.count; ++i) {
    pn_arrayFree(&finder->carried.data[i].triangles[0]);
    pn_arrayFree(&finder->carried.data[i].triangles[1]);
  }
  pn_arrayFree(&finder->carried);
  pn_arrayFree(&finder->carriedEntries);
  for (size_t i = 0; i < finder->bodies.count; ++i) {
    pnFinderBody *body = &finder->bodies.data[i];
    pn_free(body->carriedFirst, body->carriedFirst ? body->mesh->triangleCount * sizeof(uint32_t) : 0);
    body->carriedFirst = NULL;
  }
  if (!rest) return;
  finder->hasRest = finder->restHasInner = false;
  for (size_t i = 0; i < finder->bodies.count; ++i) {
    pnFinderBody *body = &finder->bodies.data[i];
    pn_free(body->restFirst, body->restFirst ? body->mesh->vertexCount * sizeof(uint32_t) : 0);
    body->restFirst = NULL;
  }
  pn_arrayFree(&finder->rests);
  pn_arrayFree(&finder->restEntries);
  pn_arrayFree(&finder->restPairs);
  pn_arrayFree(&finder->restVertices);
}
