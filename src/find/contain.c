/* contain.c: parts wholly inside others, although no surfaces meet.
 *
 * A closed part whose surface does not meet that of another closed part is wholly inside it or wholly outside, so one of its vertices
 * decides. How often a surface winds around that vertex is counted exactly, for all parts of a body in one walk. What of one body is
 * inside one part of another is one region. */
#include "find/find.h"

#include "geom/inbox.h"

#include <string.h>

static bool isWanted(const pnFinder *finder, uint32_t a, uint32_t b) {
  uint64_t key = (uint64_t)a << 32 | b;
  size_t low = 0, high = finder->unwanted.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (finder->unwanted.data[middle] < key) low = middle + 1;
    else high = middle;
  }
  return low == finder->unwanted.count || finder->unwanted.data[low] != key;
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
} Couple;

static pnContactWork *workOf(pnFinder *finder, uint32_t a, uint32_t b) {
  for (size_t i = 0; i < finder->works.count; ++i) {
    pnContactWork *work = &finder->works.data[i];
    if (PN_MIN(work->a, work->b) == a && PN_MAX(work->a, work->b) == b) return work;
  }
  return NULL;
}

/* Do surfaces of these parts meet? */
static bool meets(const Couple *c, uint32_t inner, uint32_t outer) {
  uint32_t partA = c->innerIsFar ? outer : inner, partB = c->innerIsFar ? inner : outer;
  for (size_t i = 0; c->work && i < c->work->drafts.count; ++i) {
    const pnDraft *draft = &c->work->drafts.data[i];
    if (draft->inner == PN_NONE && draft->partA == partA && draft->partB == partB) return true;
  }
  return false;
}

/* The patch of what is inside this part of the outer body: the one that is there, or a new one with its region. */
static pnPatch *patchOf(Couple *c, uint32_t inner, uint32_t innerPart, uint32_t outerPart, bool carried) {
  if (!c->work) c->work = pn_addWork(c->finder, c->a, c->b);
  if (!c->work) return NULL;
  pnContactWork *work = c->work;
  for (size_t i = 0; i < work->patches.count; ++i) {
    pnPatch *patch = &work->patches.data[i];
    const pnDraft *draft = &work->drafts.data[patch->region];
    uint32_t part = c->innerIsFar ? draft->partA : draft->partB;
    if (patch->isWhole && patch->ofFar == c->innerIsFar && part == outerPart && draft->carried == carried) return patch;
  }
  pnDraft draft =
      pn_beginDraft(work, c->innerIsFar ? outerPart : innerPart, c->innerIsFar ? innerPart : outerPart, carried);
  draft.inner = inner;
  pnPatch patch = {.region = (uint32_t)work->drafts.count, .ofFar = c->innerIsFar, .isInside = true, .isWhole = true};
  patch.flood = PN_NONE;
  if (!pn_arrayPush(&work->drafts, draft) || !pn_arrayPush(&work->patches, patch)) return NULL;
  return &work->patches.data[work->patches.count - 1];
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

/* Parts of the body `inner` inside parts of the body `outer`. */
static bool lookInside(Couple *c, uint32_t inner, uint32_t outer) {
  const pnFinderBody *in = &c->finder->bodies.data[inner], *out = &c->finder->bodies.data[outer];
  c->innerIsFar = c->work ? inner == c->work->b : inner == c->b;
  pnBox box = pnTree_GetBox(out->tree);
  for (uint32_t i = 0; i < in->partCount; ++i) {
    if (!in->parts[i].closed) continue;
    pnVec3 p = pnPose_GetVertex(in->pose, in->parts[i].vertex);
    if (!isIn(p, box)) continue;
    memset(c->finder->windings, 0, out->partCount * sizeof(int32_t));
    const float point[3] = {p.x, p.y, p.z};
    pn_findWindings(out->tree, point, out->partOf, &c->finder->scratches[0].fresh, c->finder->windings);
    for (uint32_t o = 0; o < out->partCount; ++o) {
      if (!out->parts[o].closed || c->finder->windings[o] == 0 || meets(c, i, o)) continue;
      if (!addInside(c, inner, i, outer, o)) return false;
    }
  }
  return true;
}

pnResult pn_findContained(pnFinder *finder) {
  if (finder->def.noContainment) return PN_OK;
  for (uint32_t a = 0; a < finder->bodies.count; ++a) {
    if (finder->bodies.data[a].closedCount == 0) continue;
    for (uint32_t b = a + 1; b < finder->bodies.count; ++b) {
      if (finder->bodies.data[b].closedCount == 0) continue;
      pnBox boxA = pnTree_GetBox(finder->bodies.data[a].tree), boxB = pnTree_GetBox(finder->bodies.data[b].tree);
      if (!pn_boxesOverlap(&boxA, &boxB)) continue;
      if (!isWanted(finder, a, b)) continue;
      Couple c = {.finder = finder, .a = a, .b = b, .work = workOf(finder, a, b)};
      if (!lookInside(&c, a, b) || !lookInside(&c, b, a)) return pn_failMemory(sizeof(pnPatch));
    }
  }
  return PN_OK;
}
