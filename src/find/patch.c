/* patch.c: the piece of a surface that a region cuts off.
 *
 * Edges that pierce the other surface are *marked*, with what is next to each of their ends: the crossing nearest to an end
 * says on which side of the other surface that end is. From such ends we go from vertex to vertex over edges that are not
 * marked, and so stay on one side.
 *
 *   into a closed part    from all ends inside. What is reached is inside as well. Regions from which the same vertices are reached
 *                         bound one piece, and become one: where an arm enters a body and where it leaves.
 *   through a sheet, or a body through itself
 *                         from the ends on either side at once, always on where less area was covered. The side that
 *                         comes to an end first is cut off. When the two run into each other, nothing is.
 *
 * Real meshes have gaps and folds through which a flood gets to the wrong side. Into closed parts it is stopped when it meets an end that
 * is marked as outside, and what it reached is not used: the triangles that cross are left, and they are looked at point by
 * point. */
#include "find/find.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- marks */

static size_t placeOfMark(const pnContactWork *work, uint32_t u, uint32_t w, uint32_t part, uint32_t ofFar) {
  uint64_t hash = ((uint64_t)u << 32 | w) * 0x9e3779b97f4a7c15u;
  hash = (hash ^ hash >> 32 ^ (uint64_t)part * 2654435761u ^ ofFar) * 0xd6e8feb86659fd93u;
  size_t mask = work->markSize - 1, at = (size_t)(hash >> 32) & mask;
  const pnMark *m = &work->marks.data[at];
  while (m->u != m->w && !(m->u == u && m->w == w && m->part == part && m->ofFar == ofFar)) {
    at = (at + 1) & mask;
    m = &work->marks.data[at];
  }
  return at;
}

/* Is the edge between vertices p and q of one side marked by a part of the other? */
static bool isMarked(const pnContactWork *work, uint32_t p, uint32_t q, uint32_t part, uint32_t ofFar) {
  const pnMark *m = &work->marks.data[placeOfMark(work, PN_MIN(p, q), PN_MAX(p, q), part, ofFar)];
  return m->u != m->w;
}

static void addMark(pnContactWork *work, const pnPierce *pierce, uint32_t part, uint32_t ofFar, uint32_t regionSide) {
  pnMark *m = &work->marks.data[placeOfMark(work, pierce->u, pierce->w, part, ofFar)];
  bool isNew = m->u == m->w;
  if (isNew) *m = (pnMark){pierce->u, pierce->w, part, ofFar, INFINITY, -INFINITY, 0, 0, false, false};
  // A crossing takes from the side that u is on to the other.
  if (pierce->t < m->tU) m->tU = pierce->t, m->regionU = regionSide, m->uIsAbove = pierce->uIsAbove;
  if (pierce->t > m->tW) m->tW = pierce->t, m->regionW = regionSide, m->wIsAbove = !pierce->uIsAbove;
}

/* The table of marks, and from it the seeds, in the order of regions and sides. */
static bool markEdges(const pnFinder *finder, pnContactWork *work) {
  const uint32_t *partOf[2] = {finder->bodies.data[work->a].partOf, finder->bodies.data[work->b].partOf};
  // Two edges a meet are pierced in general, each known from both its triangles.
  size_t count = 0, size = 16;
  for (size_t i = 0; i < work->meets.count; ++i) count += work->meets.data[i].pierceCount;
  while (size < 2 * count) size *= 2;
  if (!pn_arrayReserve(&work->marks, size)) return false;
  work->markSize = size;
  memset(work->marks.data, 0, size * sizeof(pnMark));
  for (size_t i = 0; i < work->meets.count; ++i) {
    const pnMeet *meet = &work->meets.data[i];
    for (uint32_t k = 0; k < meet->pierceCount; ++k) {
      const pnPierce *pierce = &meet->pierce[k];
      // Of a body with itself, the other copy of the pair has the edges of the far side.
      if (work->self && pierce->ofFar) continue;
      uint32_t part = pierce->ofFar ? partOf[0][meet->a] : partOf[1][meet->b];
      addMark(work, pierce, part, pierce->ofFar, 2 * meet->region + (work->self ? meet->mirrored : pierce->ofFar));
    }
  }
  return true;
}

static bool gatherSeeds(pnContactWork *work) {
  size_t count = 0;
  for (size_t i = 0; i < work->markSize; ++i) count += work->marks.data[i].u != work->marks.data[i].w;
  if (!pn_arrayReserve(&work->seeds, 4 * count)) return false;
  pnKeyValue *seeds = work->seeds.data;
  work->seeds.count = 0;
  for (size_t i = 0; i < work->markSize; ++i) {
    const pnMark *m = &work->marks.data[i];
    if (m->u == m->w) continue;
    seeds[work->seeds.count++] = (pnKeyValue){m->regionU, 2 * m->u + m->uIsAbove};
    seeds[work->seeds.count++] = (pnKeyValue){m->regionW, 2 * m->w + m->wIsAbove};
  }
  if (work->seeds.count > 0) pn_sortKeyValue(seeds, seeds + work->seeds.count, work->seeds.count);
  return true;
}

/* Where a key begins in a list that is sorted by them, or would. */
static size_t firstOfKey(const pnKeyValue *list, size_t count, uint32_t key) {
  size_t low = 0;
  PN_FIND_PLACE(low, count, list[middle].key < key)
  return low;
}

/* The first seed of a region's side. */
static size_t seedFirst(const pnContactWork *work, uint32_t regionSide) {
  return firstOfKey(work->seeds.data, work->seeds.count, regionSide);
}

/* ---------------------------------------------------------------- into closed parts */

/* One side of a contact against one part of the other. */
typedef struct Flooding {
  const pnFinder *finder;
  pnContactWork *work;
  pnFindScratch *scratch;
  const pnMesh *mesh; /* of the side that is flooded */
  uint32_t far, part; /* which side, and the part of the other */
  uint32_t table;     /* where its edges are marked: `far`, and 0 for a body with itself */
  uint32_t stamp;     /* reached; stamp + 1: known to be outside */
} Flooding;

static uint32_t rootOfDraft(pnContactWork *work, uint32_t r) {
  pnDraft *d = work->drafts.data;
  while (d[r].root != r) r = d[r].root = d[d[r].root].root;
  return r;
}

static void joinDrafts(pnContactWork *work, uint32_t r, uint32_t s) {
  r = rootOfDraft(work, r), s = rootOfDraft(work, s);
  work->drafts.data[PN_MAX(r, s)].root = PN_MIN(r, s);
}

/* Reaches the vertices next to v. False: one of them is outside, or there is no memory. */
static bool reachNext(const Flooding *f, uint32_t v, uint32_t flood) {
  const pnMesh *mesh = f->mesh;
  pnFindScratch *s = f->scratch;
  for (uint32_t i = mesh->ringOffsets[v]; i < mesh->ringOffsets[v + 1]; ++i) {
    for (uint32_t k = 0; k < 3; ++k) {
      uint32_t x = pn_cornerOf(mesh, mesh->rings[i], k);
      if (x == v || s->vertexStamps[x] == f->stamp || isMarked(f->work, v, x, f->part, f->table)) continue;
      if (s->vertexStamps[x] == f->stamp + 1) return false;
      s->vertexStamps[x] = f->stamp;
      s->vertexPlaces[x] = flood;
      if (!pn_arrayPush(&f->work->vertices, x)) {
        f->work->outOfMemory = true;
        return false;
      }
    }
  }
  return true;
}

/* From one inside vertex to all that hang together with it. */
static void floodFrom(const Flooding *f, uint32_t region, uint32_t vertex) {
  pnContactWork *work = f->work;
  uint32_t first = (uint32_t)work->vertices.count, flood = (uint32_t)work->floods.count;
  f->scratch->vertexStamps[vertex] = f->stamp;
  f->scratch->vertexPlaces[vertex] = flood;
  bool good =
      pn_arrayPush(&work->floods, ((pnFlood){first, 0, region, PN_NONE})) && pn_arrayPush(&work->vertices, vertex);
  if (!good) work->outOfMemory = true;
  for (size_t at = first; good && at < work->vertices.count; ++at) good = reachNext(f, work->vertices.data[at], flood);
  // One that ran out is empty.
  if (!good) work->vertices.count = first;
  if (!good && !work->outOfMemory) work->drafts.data[region].leaks |= (uint8_t)(1u << f->far);
  if (!work->outOfMemory) work->floods.data[flood].vertexCount = (uint32_t)work->vertices.count - first;
}

/* The part that a side of a region meets, and whether the region asks how far it is inside that. */
static uint32_t otherPart(const pnDraft *draft, uint32_t far) {
  return far ? draft->partA : draft->partB;
}

static bool isAskedInside(const pnFinder *finder, const pnContactWork *work, const pnDraft *draft, uint32_t far) {
  const pnFinderBody *other = &finder->bodies.data[far ? work->a : work->b];
  bool same = work->self && draft->partA == draft->partB;
  return !same && other->parts[otherPart(draft, far)].solid;
}

/* Everything of side `far` that is inside `part`; its regions stand in the list by parts, from `first` on. */
static void floodPart(const Flooding *f, size_t first) {
  pnContactWork *work = f->work;
  const pnFinderBody *other = &f->finder->bodies.data[f->far ? work->a : work->b];
  const pnKeyValues *list = &f->scratch->crossings;
  bool insideIsAbove = !other->parts[f->part].outward;
  // What is outside first, so that a flood can be stopped there.
  for (int inside = 0; inside < 2; ++inside) {
    for (size_t at = first; at < list->count && list->data[at].key == f->part; ++at) {
      uint32_t r = list->data[at].value;
      for (size_t i = seedFirst(work, 2 * r + f->far);
           i < work->seeds.count && work->seeds.data[i].key == 2 * r + f->far; ++i) {
        uint32_t v = work->seeds.data[i].value / 2;
        bool isInside = (work->seeds.data[i].value & 1) == insideIsAbove;
        uint32_t *stamp = &f->scratch->vertexStamps[v];
        if (isInside != (inside == 1)) continue;
        if (!inside) *stamp = f->stamp + 1;
        else if (*stamp == f->stamp) joinDrafts(work, r, work->floods.data[f->scratch->vertexPlaces[v]].region);
        else if (*stamp != f->stamp + 1) floodFrom(f, r, v);
        else work->drafts.data[r].leaks |= (uint8_t)(1u << f->far);
        if (work->outOfMemory) return;
      }
    }
  }
}

/* Regions by the part of the other side that they ask about, in order, into the scratch's crossings. */
static bool listByPart(const pnFinder *finder, const pnContactWork *work, pnFindScratch *scratch, uint32_t far) {
  size_t count = work->drafts.count;
  scratch->crossings.count = 0;
  if (!pn_arrayReserve(&scratch->crossings, 2 * count)) return false;
  pnKeyValue *list = scratch->crossings.data;
  for (uint32_t r = 0; r < count; ++r) {
    const pnDraft *draft = &work->drafts.data[r];
    if (isAskedInside(finder, work, draft, far))
      list[scratch->crossings.count++] = (pnKeyValue){otherPart(draft, far), r};
  }
  if (scratch->crossings.count > 1) pn_sortKeyValue(list, list + scratch->crossings.count, scratch->crossings.count);
  return true;
}

static void floodClosed(const pnFinder *finder, pnContactWork *work, pnFindScratch *scratch, uint32_t far) {
  if (!listByPart(finder, work, scratch, far)) {
    work->outOfMemory = true;
    return;
  }
  const pnMesh *mesh = finder->bodies.data[far ? work->b : work->a].mesh;
  for (uint32_t r = 0; r < work->drafts.count && !work->outOfMemory; ++r) {
    const pnDraft *draft = &work->drafts.data[r];
    if (!isAskedInside(finder, work, draft, far)) continue;
    // Each part once, with the first region that meets it.
    uint32_t part = otherPart(draft, far);
    size_t first = firstOfKey(scratch->crossings.data, scratch->crossings.count, part);
    if (scratch->crossings.data[first].value != r) continue;
    Flooding f = {finder, work, scratch, mesh, far, part, work->self ? 0 : far, pn_newStamps(finder, scratch, 1)};
    floodPart(&f, first);
  }
}

/* ---------------------------------------------------------------- through sheets */

/* A third of the area around v at rest. */
static double areaAround(const pnMesh *mesh, uint32_t v) {
  double sum = 0;
  for (uint32_t i = mesh->ringOffsets[v]; i < mesh->ringOffsets[v + 1]; ++i) {
    const uint32_t *c = mesh->triangles + 3 * (size_t)mesh->rings[i];
    double d[2][3];
    for (int k = 0; k < 3; ++k) {
      d[0][k] = (double)mesh->vertices[3 * (size_t)c[1] + (size_t)k] - mesh->vertices[3 * (size_t)c[0] + (size_t)k];
      d[1][k] = (double)mesh->vertices[3 * (size_t)c[2] + (size_t)k] - mesh->vertices[3 * (size_t)c[0] + (size_t)k];
    }
    double n[3] = {d[0][1] * d[1][2] - d[0][2] * d[1][1], d[0][2] * d[1][0] - d[0][0] * d[1][2],
                   d[0][0] * d[1][1] - d[0][1] * d[1][0]};
    sum += sqrt(pn_dot3(n, n));
  }
  return sum / 6;
}

/* One step of one side. False: it ran into the other side. */
static bool stepSide(const Flooding *f, uint32_t side, uint32_t v) {
  const pnMesh *mesh = f->mesh;
  pnFindScratch *s = f->scratch;
  for (uint32_t i = mesh->ringOffsets[v]; i < mesh->ringOffsets[v + 1]; ++i) {
    for (uint32_t k = 0; k < 3; ++k) {
      uint32_t x = pn_cornerOf(mesh, mesh->rings[i], k);
      if (x == v || s->vertexStamps[x] == f->stamp + side || isMarked(f->work, v, x, f->part, f->table)) continue;
      if (s->vertexStamps[x] == f->stamp + 1 - side) return false;
      s->vertexStamps[x] = f->stamp + side;
      if (!pn_arrayPush(&s->queue[side], x)) {
        f->work->outOfMemory = true;
        return false;
      }
    }
  }
  return true;
}

/* Seeds of a region into the two queues. False: a vertex is on both sides, or one side has none. */
static bool beginSides(const Flooding *f, uint32_t regionSide) {
  pnContactWork *work = f->work;
  pnFindScratch *s = f->scratch;
  s->queue[0].count = s->queue[1].count = 0;
  for (size_t i = seedFirst(work, regionSide); i < work->seeds.count && work->seeds.data[i].key == regionSide; ++i) {
    uint32_t v = work->seeds.data[i].value / 2, side = work->seeds.data[i].value & 1;
    if (s->vertexStamps[v] == f->stamp + side) continue;
    if (s->vertexStamps[v] == f->stamp + 1 - side) return false;
    s->vertexStamps[v] = f->stamp + side;
    if (!pn_arrayPush(&s->queue[side], v)) {
      work->outOfMemory = true;
      return false;
    }
  }
  return s->queue[0].count > 0 && s->queue[1].count > 0;
}

/* The side of a region that is cut off: 0 below, 1 above, 2 none. Its vertices are in that queue. */
static uint32_t floodSides(const Flooding *f, uint32_t regionSide) {
  if (!beginSides(f, regionSide)) return 2;
  size_t at[2] = {0, 0};
  double area[2] = {0, 0};
  for (;;) {
    uint32_t side = area[0] <= area[1] ? 0 : 1;
    if (at[side] == f->scratch->queue[side].count) return side;
    uint32_t v = f->scratch->queue[side].data[at[side]++];
    area[side] += areaAround(f->mesh, v);
    if (!stepSide(f, side, v)) return 2;
  }
}

/* One side of one region: its patch, with the vertices that are cut off. */
static void cutSheet(const pnFinder *finder, pnContactWork *work, pnFindScratch *scratch, uint32_t r, uint32_t far) {
  const pnMesh *mesh = finder->bodies.data[far ? work->b : work->a].mesh;
  uint32_t part = otherPart(&work->drafts.data[r], far);
  Flooding f = {finder, work, scratch, mesh, far, part, work->self ? 0 : far, pn_newStamps(finder, scratch, 1)};
  uint32_t side = floodSides(&f, 2 * r + far);
  if (side == 2 || work->outOfMemory) return;
  uint32_t first = (uint32_t)work->vertices.count, count = (uint32_t)scratch->queue[side].count;
  bool good =
      pn_arrayReserve(&work->vertices, first + (size_t)count) &&
      pn_arrayPush(&work->floods, ((pnFlood){first, count, r, PN_NONE})) &&
      pn_arrayPush(
          &work->patches,
          ((pnPatch){.region = r, .ofFar = far != 0, .isAbove = side == 1, .flood = (uint32_t)work->floods.count - 1}));
  if (good && count > 0) memcpy(work->vertices.data + first, scratch->queue[side].data, count * sizeof(uint32_t));
  if (good) work->vertices.count += count;
  work->outOfMemory |= !good;
}

/* ---------------------------------------------------------------- all of a contact */

/* The place of the patch of a root among those from `low` on, which are ascending; of the next one where it has none. */
static size_t patchOfRoot(const pnContactWork *work, size_t low, uint32_t root) {
  PN_FIND_PLACE(low, work->patches.count, work->patches.data[middle].region < root)
  return low;
}

/* A patch for each region (by root) and side that is inside a closed part. */
static void gatherPatches(const pnFinder *finder, pnContactWork *work, const size_t floodEnds[3]) {
  for (uint32_t far = 0; far < 2 && !work->outOfMemory; ++far) {
    uint32_t patchFirst = (uint32_t)work->patches.count;
    for (uint32_t r = 0; r < work->drafts.count && !work->outOfMemory; ++r) {
      const pnDraft *draft = &work->drafts.data[r];
      if (draft->root != r || !isAskedInside(finder, work, draft, far)) continue;
      const pnFinderBody *other = &finder->bodies.data[far ? work->a : work->b];
      pnPatch patch = {.region = r, .ofFar = far != 0, .isInside = true, .flood = PN_NONE};
      patch.isAbove = !other->parts[otherPart(draft, far)].outward;
      work->outOfMemory |= !pn_arrayPush(&work->patches, patch);
    }
    // Floods, the last one first, to the patches of their regions, which are ascending.
    for (size_t i = floodEnds[far + 1]; i-- > floodEnds[far] && !work->outOfMemory;) {
      uint32_t root = work->drafts.data[work->floods.data[i].region].root;
      size_t p = patchOfRoot(work, patchFirst, root);
      if (p == work->patches.count || work->patches.data[p].region != root) continue;
      work->floods.data[i].next = work->patches.data[p].flood;
      work->patches.data[p].flood = (uint32_t)i;
    }
  }
}

bool pn_findPatches(const pnFinder *finder, pnContactWork *work, pnFindScratch *scratch) {
  work->floods.count = work->vertices.count = work->patches.count = 0;
  if (!markEdges(finder, work) || !gatherSeeds(work)) return false;
  size_t floodEnds[3] = {0};
  for (uint32_t far = 0; far < 2; ++far) {
    floodClosed(finder, work, scratch, far);
    floodEnds[far + 1] = work->floods.count;
  }
  // Regions that are one, as chains.
  for (uint32_t r = 0; r < work->drafts.count; ++r) work->drafts.data[r].root = rootOfDraft(work, r);
  for (uint32_t r = 0; r < work->drafts.count; ++r) work->drafts.data[r].next = PN_NONE;
  for (uint32_t r = (uint32_t)work->drafts.count; r-- > 0;) {
    pnDraft *root = &work->drafts.data[work->drafts.data[r].root];
    if (root == &work->drafts.data[r]) continue;
    work->drafts.data[r].next = root->next;
    root->next = r;
  }
  gatherPatches(finder, work, floodEnds);
  // Where neither side is closed.
  for (uint32_t r = 0; r < work->drafts.count && !work->outOfMemory; ++r) {
    const pnDraft *draft = &work->drafts.data[r];
    if (isAskedInside(finder, work, draft, 0) || isAskedInside(finder, work, draft, 1)) continue;
    for (uint32_t far = 0; far < (draft->selfMirrored ? 1u : 2u) && !work->outOfMemory; ++far)
      cutSheet(finder, work, scratch, r, far);
  }
  return !work->outOfMemory;
}
