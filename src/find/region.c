/* region.c: the pairs of a contact fall into regions.
 *
 * The intersection of two surfaces goes on from a pair of triangles to another where it crosses an edge: one triangle stays, the
 * other is followed by its neighbour. So two pairs are linked when they have a triangle in common and the other two are neighbours.
 * Where the curve runs exactly through corners, all pairs around them touch and are there, and the links go round. Two feet on
 * one large triangle are two regions, as they would be on many small ones.
 *
 * Of a body with itself each pair is there from both sides. A region and the same one from the other side are found as two, of which
 * the first is kept; they are found as one where a crease ends and one side runs into the other. */
#include "base/sort.h"
#include "find/find.h"
#include "geom/box.h"

#include <float.h>
#include <math.h>

/* ---------------------------------------------------------------- pairs */

static pnResult badPair(const pnFinderBody *a, const pnFinderBody *b, pnPair pair) {
  bool inA = pair.a >= a->mesh->triangleCount;
  const pnFinderBody *body = inA ? a : b;
  return pn_fail(PN_ERROR_INDEX, "finder: body '%s' has no triangle %u", body->name, inA ? pair.a : pair.b);
}

pnResult pn_takePairs(const pnFinder *finder, const pnFinderContact *contact, pnContactWork *work, pnKeys *keys) {
  const pnFinderBody *a = &finder->bodies.data[contact->a], *b = &finder->bodies.data[contact->b];
  size_t count = contact->pairCount << work->self;
  if (!pn_arrayReserve(&work->meets, count) || !pn_arrayReserve(keys, 2 * count)) return pn_failMemory(count * 16);
  bool sorted = !work->self;
  for (size_t i = 0; i < contact->pairCount; ++i) {
    pnPair pair = contact->pairs[i];
    if (pair.a >= a->mesh->triangleCount || pair.b >= b->mesh->triangleCount) return badPair(a, b, pair);
    keys->data[i] = (uint64_t)pair.a << 32 | pair.b;
    if (work->self) keys->data[contact->pairCount + i] = (uint64_t)pair.b << 32 | pair.a;
    sorted = sorted && (i == 0 || keys->data[i - 1] < keys->data[i]);
  }
  if (!sorted) pn_sortU64(keys->data, keys->data + count, count);
  // A pair that is given twice counts once.
  work->meets.count = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0 && keys->data[i] == keys->data[i - 1]) continue;
    work->meets.data[work->meets.count++] =
        (pnMeet){.a = (uint32_t)(keys->data[i] >> 32), .b = (uint32_t)keys->data[i]};
  }
  return PN_OK;
}

/* The place of the pair (a, b), PN_NONE when it does not meet. */
static uint32_t placeOf(const pnContactWork *work, uint32_t a, uint32_t b) {
  const pnMeet *meets = work->meets.data;
  size_t at = 0;
  PN_FIND_PLACE(at, work->meets.count, meets[middle].a < a || (meets[middle].a == a && meets[middle].b < b))
  return at < work->meets.count && meets[at].a == a && meets[at].b == b ? (uint32_t)at : PN_NONE;
}

/* ---------------------------------------------------------------- links */

/* The root of meet i, halving the path on the way; `region` holds the parents. */
static uint32_t rootOf(pnMeet *meets, uint32_t i) {
  while (meets[i].region != i) i = meets[i].region = meets[meets[i].region].region;
  return i;
}

static void joinMeets(pnContactWork *work, uint32_t i, uint32_t j) {
  pnMeet *meets = work->meets.data;
  // What is carried is a thing of its own: it never changes.
  if (j == PN_NONE || meets[i].carried != meets[j].carried) return;
  uint32_t s = rootOf(meets, i), t = rootOf(meets, j);
  meets[PN_MAX(s, t)].region = PN_MIN(s, t);
}

static void linkNeighbours(const pnFinder *finder, pnContactWork *work) {
  const pnMesh *a = finder->bodies.data[work->a].mesh, *b = finder->bodies.data[work->b].mesh;
  pnMeet *meets = work->meets.data;
  for (uint32_t i = 0; i < work->meets.count; ++i) meets[i].region = i;
  for (uint32_t i = 0; i < work->meets.count; ++i) {
    const uint32_t *near = a->neighbours + 3 * (size_t)meets[i].a, *far = b->neighbours + 3 * (size_t)meets[i].b;
    // Each link is seen from both of its ends: from the smaller one is enough.
    for (int k = 0; k < 3; ++k) {
      if (near[k] != PN_NONE && near[k] > meets[i].a) joinMeets(work, i, placeOf(work, near[k], meets[i].b));
      if (far[k] != PN_NONE && far[k] > meets[i].b) joinMeets(work, i, placeOf(work, meets[i].a, far[k]));
    }
  }
}

/* ---------------------------------------------------------------- regions */

pnDraft pn_beginDraft(const pnContactWork *work, uint32_t partA, uint32_t partB, bool carried) {
  pnDraft draft = {.partA = partA, .partB = partB, .carried = carried};
  draft.root = (uint32_t)work->drafts.count;
  draft.next = PN_NONE;
  draft.box = (pnBox){{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};
  draft.inner = PN_NONE;
  return draft;
}

/* Roots become numbers of regions, in the order of their first meets; of a body with itself, the later one of two that are the
 * same is turned into the first. */
static bool numberRegions(const pnFinder *finder, pnContactWork *work) {
  const pnFinderBody *a = &finder->bodies.data[work->a], *b = &finder->bodies.data[work->b];
  pnMeet *meets = work->meets.data;
  uint32_t count = (uint32_t)work->meets.count;
  if (!pn_arrayReserve(&work->order, count)) return false;
  for (uint32_t i = 0; i < count; ++i) meets[i].region = rootOf(meets, i);
  // For each root twice its region, and 1 more when it is the other side of it.
  uint32_t *numbers = work->order.data;
  work->drafts.count = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (meets[i].region != i) continue;
    uint32_t mirror = work->self ? meets[placeOf(work, meets[i].b, meets[i].a)].region : i;
    numbers[i] = mirror < i ? numbers[mirror] ^ 1u : 2 * (uint32_t)work->drafts.count;
    if (mirror < i) continue;
    pnDraft draft = pn_beginDraft(work, a->partOf[meets[i].a], b->partOf[meets[i].b], meets[i].carried);
    if (!pn_arrayPush(&work->drafts, draft)) return false;
    work->drafts.data[work->drafts.count - 1].selfMirrored = work->self && mirror == i;
  }
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t number = numbers[meets[i].region];
    meets[i].mirrored = number & 1;
    meets[i].region = number / 2;
  }
  return true;
}

static void measureMeet(const pnMeet *meet, pnDraft *draft) {
  for (uint32_t i = 0; i < meet->endCount; ++i)
    pn_growBox(&draft->box, (pnVec3){(float)meet->end[i][0], (float)meet->end[i][1], (float)meet->end[i][2]});
  if (meet->endCount < 2 || meet->isTouch) return;
  double length = sqrt(pn_distance2(meet->end[0], meet->end[1]));
  draft->curveLength += length;
  for (int k = 0; k < 3; ++k) draft->centre[k] += 0.5 * length * (meet->end[0][k] + meet->end[1][k]);
}

/* Meets by region, in order, and what the segments of each region measure. Copies from the other side stay out. */
static bool orderMeets(pnContactWork *work) {
  if (!pn_arrayReserve(&work->order, work->meets.count)) return false;
  const pnMeet *meets = work->meets.data;
  for (size_t i = 0; i < work->meets.count; ++i) {
    pnDraft *draft = &work->drafts.data[meets[i].region];
    draft->meetCount += !meets[i].mirrored;
  }
  size_t at = 0;
  for (size_t r = 0; r < work->drafts.count; ++r) {
    work->drafts.data[r].meetFirst = at;
    at += work->drafts.data[r].meetCount;
    work->drafts.data[r].meetCount = 0;
  }
  work->order.count = at;
  for (uint32_t i = 0; i < work->meets.count; ++i) {
    pnDraft *draft = &work->drafts.data[meets[i].region];
    if (meets[i].mirrored) continue;
    work->order.data[draft->meetFirst + draft->meetCount++] = i;
    if (!draft->selfMirrored || meets[i].a < meets[i].b) measureMeet(&meets[i], draft);
  }
  return true;
}

bool pn_findRegions(const pnFinder *finder, pnContactWork *work) {
  linkNeighbours(finder, work);
  return numberRegions(finder, work) && orderMeets(work);
}
