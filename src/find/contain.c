/* contain.c: parts wholly inside others, although no surfaces meet.
 *
 * A closed part whose surface does not meet that of another closed part is wholly inside it or wholly outside, so one of its vertices
 * decides. How often a surface winds around that vertex is counted exactly, for all parts of a body in one walk. What of one body is
 * inside one part of another is one region.
 *
 * Nothing is gone through that has no answer: bodies come from the broad phase, parts from the walk, which lists those it has met, and
 * works, pairs of parts that meet and patches are looked up. */
#include "find/find.h"

#include <stdlib.h>
#include <string.h>

static bool isWanted(const pnFinder *finder, uint32_t a, uint32_t b) {
  uint64_t key = (uint64_t)a << 32 | b;
  size_t at = pn_lowerKey(finder->unwanted.data, finder->unwanted.count, key);
  return at == finder->unwanted.count || finder->unwanted.data[at] != key;
}

static bool isIn(pnVec3 p, pnBox box) {
  return p.x >= box.min.x && p.x <= box.max.x && p.y >= box.min.y && p.y <= box.max.y && p.z >= box.min.z &&
         p.z <= box.max.z;
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

/* One part of the body `inner`, of which p is a vertex: which parts of the body `outer` is it inside? */
static bool lookAtPart(Couple *c, uint32_t inner, uint32_t part, uint32_t outer, pnVec3 p) {
  const pnFinderBody *out = &c->finder->bodies.data[outer];
  pnWindings *around = &c->finder->windings;
  const float point[3] = {p.x, p.y, p.z};
  around->partCount = 0;
  pn_findWindings(out->tree, point, out->partOf, &c->finder->scratches[0].fresh, around);
  if (around->partCount > 1) qsort(around->parts, around->partCount, sizeof(uint32_t), pn_compareNumbers);
  bool good = true;
  for (uint32_t i = 0; i < around->partCount; ++i) {
    uint32_t o = around->parts[i];
    bool winds = pn_windingOf(around, o) != 0;
    around->counts[o] = 0;
    if (!winds || !out->parts[o].closed || meets(c, part, o)) continue;
    good = good && addInside(c, inner, part, outer, o);
  }
  return good;
}

/* Parts of the body `inner` inside parts of the body `outer`. */
static bool lookInside(Couple *c, uint32_t inner, uint32_t outer) {
  const pnFinderBody *in = &c->finder->bodies.data[inner], *out = &c->finder->bodies.data[outer];
  c->innerIsFar = c->work ? inner == c->work->b : inner == c->b;
  pnBox box = pnTree_GetBox(out->tree);
  size_t first = c->work ? c->work->patches.count : 0;
  bool good = true;
  for (uint32_t i = 0; i < in->partCount && good; ++i) {
    if (!in->parts[i].closed) continue;
    pnVec3 p = pnPose_GetVertex(in->pose, in->parts[i].vertex);
    if (isIn(p, box)) good = lookAtPart(c, inner, i, outer, p);
  }
  // Nothing is in any part of the next body.
  for (size_t i = first; c->work && i < c->work->patches.count; ++i) {
    const pnDraft *draft = &c->work->drafts.data[c->work->patches.data[i].region];
    uint32_t part = c->innerIsFar ? draft->partA : draft->partB;
    c->finder->wholes.data[2 * (size_t)part + draft->carried] = PN_NONE;
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

pnResult pn_findContained(pnFinder *finder) {
  uint32_t closed = 0;
  for (size_t i = 0; i < finder->bodies.count && closed < 2; ++i) closed += finder->bodies.data[i].closedCount > 0;
  if (finder->def.noContainment || closed < 2) return PN_OK;
  bool good = prepare(finder) && pn_findClose(&finder->broad, false);
  while (good) {
    for (size_t i = 0; i < finder->broad.pairs.count && good; ++i) {
      uint32_t a = finder->broad.pairs.data[i].a, b = finder->broad.pairs.data[i].b;
      if (!isWanted(finder, a, b)) continue;
      Couple c = {.finder = finder, .a = a, .b = b, .work = workOf(finder, a, b)};
      good = listMeets(&c) && lookInside(&c, a, b) && lookInside(&c, b, a);
    }
    if (!good || !pn_isCloseLeft(&finder->broad)) break;
    good = pn_findNextClose(&finder->broad);
  }
  return good ? PN_OK : pn_failMemory(sizeof(pnPatch));
}
