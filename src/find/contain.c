/* contain.c: parts wholly inside others, although no surfaces meet.
 *
 * A closed part whose surface does not meet that of another closed part is wholly inside it or wholly outside, so one of its vertices
 * decides. How often a surface winds around that vertex is counted exactly, for all parts of a body in one walk. What of one body is
 * inside one part of another is one region.
 *
 * Nothing is gone through that has no answer: bodies come from the broad phase, parts from the walk, which lists those it has met, and
 * works, pairs of parts that meet and patches are looked up.
 *
 * First all of it is listed: a part and one around it is a *nest*. Then the nests become regions. A thousand bodies each in the
 * next have half a million nests, and what somebody wants to know is what each is in at first: where there is a limit and there are more,
 * nests are kept from the inside outwards, one around every part, then a second. */
#include "find/find.h"

#include "geom/box.h"

#include <stdlib.h>
#include <string.h>

/* Beyond the limit no more than so many are kept around a part: without that what is kept while nests are listed would not be bounded. */
#define MOST_AROUND 8u
/* Nests of one part in one body, and nests that are listed, before they are too many, and what it may cost to list them, for each containment that is wanted. With the
 * tool's 4 096: a quarter of a million, 10 MB; and twelve million vertices beside boxes, which take a third of a second
 * together with walks along lines, worth so many of them, and parts that these meet: 1 100 bodies each in the next. */
#define NESTS_EACH 64u
#define COST_EACH 3072u
#define COST_OF_WALK 16u
#define COST_OF_PART 4u

static bool isWanted(const pnFinder *finder, uint32_t a, uint32_t b) {
  uint64_t key = (uint64_t)a << 32 | b;
  size_t at = pn_lowerKey(finder->unwanted.data, finder->unwanted.count, key);
  if (at < finder->unwanted.count && finder->unwanted.data[at] == key) return false;
  return !finder->wantedRule || finder->wantedRule(finder->wantedContext, a, b);
}

/* Two bodies, and what they are to each other. */
typedef struct Couple {
  pnFinder *finder;
  uint32_t a, b;       /* a < b */
  pnContactWork *work; /* where regions of the two are; null: none yet */
  bool innerIsFar;     /* the body that is looked at as the inner one is the work's b */
  size_t meetCount;    /* pairs of parts that meet: the finder's keys, sorted */
} Couple;

/* The first work of two bodies, of those that were there before any was added here: they are in order. */
static pnContactWork *workOf(pnFinder *finder, uint32_t a, uint32_t b) {
  uint64_t key = (uint64_t)a << 32 | b;
  size_t at = pn_lowerOrder(finder->workOrder.data, finder->workOrder.count, key);
  bool there = at < finder->workOrder.count && finder->workOrder.data[at].key == key;
  return there ? &finder->works.data[finder->workOrder.data[at].work] : NULL;
}

/* Which parts have surfaces that meet? */
static bool listMeets(Couple *c) {
  pnKeys *keys = &c->finder->keys;
  size_t count = c->work ? c->work->drafts.count : 0;
  if (!pn_arrayReserve(keys, 2 * count)) return false;
  for (size_t i = 0; i < count; ++i) {
    const pnDraft *draft = &c->work->drafts.data[i];
    keys->data[c->meetCount++] = (uint64_t)draft->partA << 32 | draft->partB;
  }
  if (count > 1) pn_sortU64(keys->data, keys->data + count, count);
  return true;
}

/* Do surfaces of these parts meet? */
static bool meets(const Couple *c, uint32_t inner, uint32_t outer) {
  uint32_t partA = c->innerIsFar ? outer : inner, partB = c->innerIsFar ? inner : outer;
  uint64_t key = (uint64_t)partA << 32 | partB;
  const uint64_t *keys = c->finder->keys.data;
  size_t at = pn_lowerKey(keys, c->meetCount, key);
  return at < c->meetCount && keys[at] == key;
}

/* ---------------------------------------------------------------- which nests are kept */

static int compareNumbers(uint32_t p, uint32_t q) {
  return p < q ? -1 : p > q;
}

/* Part by part, from the inside outwards. */
static int compareAround(const void *p, const void *q) {
  const pnNest *a = p, *b = q;
  int order = compareNumbers(a->inner, b->inner);
  if (order == 0) order = compareNumbers(a->part, b->part);
  if (order == 0) order = a->size < b->size ? -1 : a->size > b->size;
  if (order == 0) order = compareNumbers(a->outer, b->outer);
  return order ? order : compareNumbers(a->around, b->around);
}

/* As they are listed: by bodies, first those with the lower one inside, then by parts. */
static int compareNests(const void *p, const void *q) {
  const pnNest *a = p, *b = q;
  int order = compareNumbers(PN_MIN(a->inner, a->outer), PN_MIN(b->inner, b->outer));
  if (order == 0) order = compareNumbers(PN_MAX(a->inner, a->outer), PN_MAX(b->inner, b->outer));
  if (order == 0) order = compareNumbers(a->inner, b->inner);
  if (order == 0) order = compareNumbers(a->part, b->part);
  return order ? order : compareNumbers(a->around, b->around);
}

static bool isSameCouple(const pnNest *a, const pnNest *b) {
  return PN_MIN(a->inner, a->outer) == PN_MIN(b->inner, b->outer) &&
         PN_MAX(a->inner, a->outer) == PN_MAX(b->inner, b->outer);
}

/* Where the nests of the two bodies of the first-th end. */
static size_t coupleEnd(const pnNests *nests, size_t first) {
  size_t end = first + 1;
  while (end < nests->count && isSameCouple(&nests->data[first], &nests->data[end])) ++end;
  return end;
}

/* The closest around each part, with their ranks; what others there may come later does not change that they are not. */
static void keepClosest(pnNests *nests) {
  size_t kept = 0;
  uint32_t rank = 0;
  qsort(nests->data, nests->count, sizeof(pnNest), compareAround);
  for (size_t i = 0; i < nests->count; ++i) {
    pnNest nest = nests->data[i];
    const pnNest *last = kept > 0 ? &nests->data[kept - 1] : NULL;
    rank = last && last->inner == nest.inner && last->part == nest.part ? rank + 1 : 0;
    nest.rank = rank;
    if (rank < MOST_AROUND) nests->data[kept++] = nest;
  }
  nests->count = kept;
}

static uint32_t lowestRank(const pnNest *nests, size_t count) {
  uint32_t rank = MOST_AROUND - 1;
  for (size_t i = 0; i < count; ++i) rank = PN_MIN(rank, nests[i].rank);
  return rank;
}

/* No more couples than are wanted: those of the lowest ranks, and of one rank the first. */
static void keepCouples(pnNests *nests, uint32_t most) {
  size_t counts[MOST_AROUND] = {0}, kept = 0, end;
  qsort(nests->data, nests->count, sizeof(pnNest), compareNests);
  for (size_t i = 0; i < nests->count; i = end) {
    end = coupleEnd(nests, i);
    ++counts[lowestRank(nests->data + i, end - i)];
  }
  size_t room = most;
  for (uint32_t r = 0; r < MOST_AROUND; ++r) {
    counts[r] = PN_MIN(counts[r], room);
    room -= counts[r];
  }
  for (size_t i = 0; i < nests->count; i = end) {
    end = coupleEnd(nests, i);
    size_t *left = &counts[lowestRank(nests->data + i, end - i)];
    if (*left == 0) continue;
    --*left;
    memmove(nests->data + kept, nests->data + i, (end - i) * sizeof(pnNest));
    kept += end - i;
  }
  nests->count = kept;
}

static void chooseNests(pnFinder *finder) {
  uint32_t most = finder->def.maxContainments;
  pnNests *nests = &finder->nests;
  size_t couples = 0;
  if (most == 0) return;
  for (size_t i = 0; i < nests->count; i = coupleEnd(nests, i)) ++couples;
  if (!finder->nestsLimited && couples <= most) return;
  finder->nestsLimited = true;
  keepClosest(nests);
  keepCouples(nests, most);
}

/* ---------------------------------------------------------------- listing */

/* Where a body is now. */
static pnBox boxOf(const pnFinder *finder, uint32_t body) {
  return finder->broad.boxes.data[body].box;
}

/* About how large a part is now. */
static double sizeOf(const pnFinder *finder, uint32_t body, uint32_t part) {
  const pnFinderBody *b = &finder->bodies.data[body];
  double scale = b->diagonal > 0 ? pn_diagonalOf(boxOf(finder, body)) / b->diagonal : 1;
  return scale * b->parts[part].extent;
}

static bool addNest(Couple *c, uint32_t inner, uint32_t part, uint32_t outer, uint32_t around) {
  pnNest nest = {inner, part, outer, around, 0, 0};
  if (c->finder->def.maxContainments > 0) nest.size = sizeOf(c->finder, outer, around);
  return pn_arrayPush(&c->finder->nests, nest);
}

/* After the nests of one part in one body, from `first` on, were added: are they, or all, too many? */
static void thinNests(pnFinder *finder, size_t first) {
  pnNests *nests = &finder->nests;
  size_t crowd = (size_t)NESTS_EACH * finder->def.maxContainments;
  if (crowd > 0 && nests->count - first > NESTS_EACH) {
    qsort(nests->data + first, nests->count - first, sizeof(pnNest), compareAround);
    nests->count = first + MOST_AROUND;
    finder->nestsLimited = true;
  }
  // What is left may be many, of many parts: once more when there are twice as many.
  if (crowd > 0 && nests->count > PN_MAX(crowd, finder->nestMark)) {
    keepClosest(nests);
    finder->nestsLimited = true;
    finder->nestMark = 2 * nests->count;
  }
}

/* False: it has cost enough. */
static bool spend(pnFinder *finder, uint64_t cost) {
  if (finder->def.maxContainments == 0) return true;
  finder->nestCost += cost;
  bool enough = finder->nestCost > (uint64_t)COST_EACH * finder->def.maxContainments;
  finder->nestsLimited = finder->nestsLimited || enough;
  return !enough;
}

/* One part of the body `inner`, of which p is a vertex: which parts of the body `outer` is it inside? */
static bool lookAtPart(Couple *c, uint32_t inner, uint32_t part, uint32_t outer, pnVec3 p) {
  const pnFinderBody *out = &c->finder->bodies.data[outer];
  pnWindings *around = &c->finder->windings;
  const float point[3] = {p.x, p.y, p.z};
  around->partCount = 0;
  pn_findWindings(out->tree, point, out->partOf, &c->finder->scratches[0].fresh, around);
  if (around->partCount > 1) qsort(around->parts, around->partCount, sizeof(uint32_t), pn_compareNumbers);
  bool good = true;
  size_t first = c->finder->nests.count;
  for (uint32_t i = 0; i < around->partCount; ++i) {
    uint32_t o = around->parts[i];
    bool winds = pn_windingOf(around, o) != 0;
    around->counts[o] = 0;
    if (!winds || !out->parts[o].closed || meets(c, part, o)) continue;
    good = good && addNest(c, inner, part, outer, o);
  }
  if (good) thinNests(c->finder, first);
  return good;
}

/* Parts of the body `inner` inside parts of the body `outer`. */
static bool lookInside(Couple *c, uint32_t inner, uint32_t outer) {
  const pnFinderBody *in = &c->finder->bodies.data[inner];
  pnBox box = boxOf(c->finder, outer), own = boxOf(c->finder, inner);
  bool good = true;
  c->innerIsFar = c->work ? inner == c->work->b : inner == c->b;
  // What is one part is inside with all of its box.
  if (in->partCount == 1 && !pn_boxIsWithin(&own, &box)) return true;
  for (uint32_t i = 0; i < in->partCount && good; ++i) {
    if (!in->parts[i].closed) continue;
    pnVec3 p = pnPose_GetVertex(in->pose, in->parts[i].vertex);
    bool near = pn_boxIsWithin(&(pnBox){p, p}, &box);
    if (near) good = lookAtPart(c, inner, i, outer, p);
    if (!spend(c->finder, near ? COST_OF_WALK + COST_OF_PART * c->finder->windings.partCount : 1)) break;
  }
  return good;
}

/* Is there more to list? */
static bool hasMore(const pnFinder *finder, size_t i) {
  bool enough = finder->def.maxContainments > 0 && finder->nestCost > (uint64_t)COST_EACH * finder->def.maxContainments;
  return i < finder->broad.pairs.count && !enough;
}

/* ---------------------------------------------------------------- regions */

/* The patch of what is inside this part of the outer body: the one that is there, or a new one with its region. */
static pnPatch *patchOf(Couple *c, uint32_t inner, uint32_t innerPart, uint32_t outerPart, bool carried) {
  if (!c->work) c->work = pn_addWork(c->finder, c->a, c->b);
  if (!c->work) return NULL;
  pnContactWork *work = c->work;
  uint32_t *place = &c->finder->wholes.data[2 * (size_t)outerPart + carried];
  if (*place != PN_NONE) return &work->patches.data[*place];
  pnDraft draft =
      pn_beginDraft(work, c->innerIsFar ? outerPart : innerPart, c->innerIsFar ? innerPart : outerPart, carried);
  draft.inner = inner;
  pnPatch patch = {.region = (uint32_t)work->drafts.count, .ofFar = c->innerIsFar, .isInside = true, .isWhole = true};
  patch.flood = PN_NONE;
  if (!pn_arrayPush(&work->drafts, draft) || !pn_arrayPush(&work->patches, patch)) return NULL;
  *place = (uint32_t)work->patches.count - 1;
  return &work->patches.data[*place];
}

static bool addInside(Couple *c, uint32_t inner, uint32_t innerPart, uint32_t outer, uint32_t outerPart) {
  const pnPart *part = &c->finder->bodies.data[inner].parts[innerPart];
  const pnPart *around = &c->finder->bodies.data[outer].parts[outerPart];
  bool carried = part->carrier != PN_NONE && part->carrier == around->carrier;
  pnPatch *patch = patchOf(c, inner, innerPart, outerPart, carried);
  if (!patch) return false;
  pnContactWork *work = c->work;
  pnFlood flood = {(uint32_t)work->vertices.count, part->vertexCount, patch->region, patch->flood};
  if (!pn_arrayReserve(&work->vertices, work->vertices.count + part->vertexCount)) return false;
  memcpy(work->vertices.data + work->vertices.count, c->finder->bodies.data[inner].partVertices + part->vertexFirst,
         part->vertexCount * sizeof(uint32_t));
  work->vertices.count += part->vertexCount;
  patch->flood = (uint32_t)work->floods.count;
  return pn_arrayPush(&work->floods, flood);
}

/* Nests of two bodies, one of them the inner one, become regions. */
static bool addRegions(Couple *c, const pnNest *nests, size_t count) {
  uint32_t inner = nests[0].inner, outer = nests[0].outer;
  c->innerIsFar = c->work ? inner == c->work->b : inner == c->b;
  size_t first = c->work ? c->work->patches.count : 0;
  bool good = true;
  for (size_t i = 0; i < count && good; ++i) good = addInside(c, inner, nests[i].part, outer, nests[i].around);
  // Nothing is in any part of the next body.
  for (size_t i = first; c->work && i < c->work->patches.count; ++i) {
    const pnDraft *draft = &c->work->drafts.data[c->work->patches.data[i].region];
    uint32_t part = c->innerIsFar ? draft->partA : draft->partB;
    c->finder->wholes.data[2 * (size_t)part + draft->carried] = PN_NONE;
  }
  return good;
}

static bool makeRegions(pnFinder *finder) {
  const pnNests *nests = &finder->nests;
  bool good = true;
  for (size_t i = 0, end; i < nests->count && good; i = end) {
    const pnNest *first = &nests->data[i];
    uint32_t a = PN_MIN(first->inner, first->outer), b = PN_MAX(first->inner, first->outer);
    Couple c = {.finder = finder, .a = a, .b = b, .work = workOf(finder, a, b)};
    end = coupleEnd(nests, i);
    size_t middle = i;
    while (middle < end && nests->data[middle].inner == a) ++middle;
    good = (middle == i || addRegions(&c, first, middle - i)) &&
           (middle == end || addRegions(&c, &nests->data[middle], end - middle));
  }
  return good;
}

/* The memory of what is looked up, and the boxes of bodies that have closed parts. */
static bool prepare(pnFinder *finder) {
  size_t places = 2 * (size_t)PN_MAX(finder->partCount, 1u);
  if (!pn_arrayReserve(&finder->wholes, places) || !pn_reserveBroad(&finder->broad, finder->bodies.count) ||
      !pn_orderWorks(finder))
    return false;
  finder->wholes.count = places;
  memset(finder->wholes.data, 0xff, places * sizeof(uint32_t));
  for (uint32_t i = 0; i < finder->bodies.count; ++i) {
    const pnFinderBody *body = &finder->bodies.data[i];
    pnBroadBox box = {body->closedCount > 0 ? pnTree_GetBox(body->tree) : pn_emptyBroadBox().box, 1, 1};
    pn_setBroadBox(&finder->broad, i, box);
  }
  return true;
}

/* All nests, in the order of compareNests, or until it has cost enough. */
static bool listNests(pnFinder *finder) {
  bool good = prepare(finder) && pn_findClose(&finder->broad, false, NULL);
  while (good) {
    for (size_t i = 0; hasMore(finder, i) && good; ++i) {
      uint32_t a = finder->broad.pairs.data[i].a, b = finder->broad.pairs.data[i].b;
      if (!isWanted(finder, a, b)) continue;
      Couple c = {.finder = finder, .a = a, .b = b, .work = workOf(finder, a, b)};
      good = listMeets(&c) && lookInside(&c, a, b) && lookInside(&c, b, a);
    }
    if (!good || !hasMore(finder, 0) || !pn_isCloseLeft(&finder->broad)) break;
    good = pn_findNextClose(&finder->broad);
  }
  return good;
}

pnResult pn_findContained(pnFinder *finder) {
  uint32_t closed = 0;
  for (size_t i = 0; i < finder->bodies.count && closed < 2; ++i) closed += finder->bodies.data[i].closedCount > 0;
  finder->nests.count = finder->nestMark = 0;
  finder->nestCost = 0;
  finder->nestsLimited = false;
  if (finder->def.noContainment || closed < 2) return PN_OK;
  bool good = listNests(finder);
  if (good) chooseNests(finder);
  return good && makeRegions(finder) ? PN_OK : pn_failMemory(sizeof(pnPatch));
}
