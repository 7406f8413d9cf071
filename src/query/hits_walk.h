/* hits_walk.h: rays through a tree, written once. Included by hits.c, hits_avx2.c and hits_avx512.c with these defined:
 *
 *   geom/simd_words.h, MULADD   so many floats at once
 *   WIDTH                       4, 8 or 16
 *   CAST                        the name
 *
 * Each ray has a stack of nodes that wait for it; a hit takes those off it that begin later. What a ray meets next nobody can
 * predict, and a processor that guesses wrong loses more time than a node takes; so many rays go side by side, and no step has a
 * branch that depends on what was met. A round opens an inner node of every ray that is at one (hits_node.h): the closest child that
 * is hit is next, the others go on the stack (as many as there are, by their count and not by a branch); none, and the top comes off it.
 * So the ray goes on the list of rays that are at an inner node, of those at a leaf, or of places where a ray is done. Leaves then put their triangles on a list, and these are
 * weighed side by side (hits_weigh.h); what does not fill a register waits for the next round, and its rays with it. Only what
 * stays in doubt is asked exactly. Where rays are done others begin, as many as are set up side by side: so lists stay long, and
 * no ray waits for the slowest. */
#include "query/hits_node.h"
#include "query/hits_weigh.h"

/* Nodes that may wait for a ray before a node is opened: enough for most rays. */
#define WAITING_ROOM 15u

/* A ray that is under way, and the nodes that wait for it; below the first stands NO_NODE. */
typedef struct Walker {
  _Alignas(64) pnRaySight sight;
  LaneKey key[1 + WAITING_ROOM + PN_LANES];
  float first[1 + WAITING_ROOM + PN_LANES];
} Walker;

#define NO_NODE (UINT32_MAX - 7)

/* A walker and the node whose turn it is: walker + node * 2^32. */
typedef uint64_t RayStep;

/* What a walker is at: FREE is done. */
enum { INNER, LEAF, FREE, KINDS };

/* A walker whose triangles are on the list, and where they end. */
typedef struct LeafStep {
  uint32_t walker, end;
} LeafStep;

/* What of a tree is looked at all the time. */
typedef struct NodeRows {
  const pnRayGroup *group;
  const _Atomic uint32_t *stamp;
  const char *lanes;
  size_t laneBytes;
  const uint8_t *count;
  uint32_t now;
} NodeRows;

/* Rays side by side. */
typedef struct Round {
  pnRayGroup *group;
  pnRayRows *rows;
  Walker *walkers;
  pnTree *tree;
  NodeRows nodes;
  const uint32_t *firstChild;
  uint32_t innerCount;
  uint32_t next, end; /* quests that have not begun */
  /* walkers by what they are at, and those at triangles */
  uint32_t steps[KINDS], weighSteps;
  RayStep list[KINDS][PN_RAY_GROUP + PN_LANES];
  LeafStep weigh[PN_RAY_GROUP];
  /* of the nodes of a list: the lanes that are hit, and where */
  uint32_t hit[PN_RAY_GROUP];
  _Alignas(64) float in[PN_RAY_GROUP][ENTERED];
  /* triangles in boxes that are hit, and by whom */
  uint32_t triangleCount;
  uint32_t place[PN_RAY_TRIANGLES], ray[PN_RAY_TRIANGLES];
} Round;

/* Lanes that reach beyond, as boxes of the world. What begins before the ray does on the lattice begins with it. */
static PN_NOINLINE uint32_t enterBeyond(const NodeRows *n, uint32_t node, const pnRayLine *line, uint32_t hit,
                                        float *out) {
  uint32_t beyond = pn_lanesBeyond(n->group->tree, n->group->lattice, node);
  for (; beyond; beyond &= beyond - 1) {
    uint32_t j = pn_firstLane(beyond), at = j * LANE_BITS;
    double lo[3], hi[3];
    pn_placeLane(n->group->tree, n->group->lattice, node, j, lo, hi);
    double enter = pn_enterBox(line->o, line->per, line->first, line->last, lo, hi);
    double s = enter * line->scale - line->begin;
    out[at] = s > 0 ? (float)PN_MIN(s - s * 0x1p-20, FLT_MAX) : 0; /* a lane's number stands in its last bits */
    hit = (hit & ~(1u << at)) | (uint32_t)(enter < INFINITY) << at;
  }
  return hit;
}

/* A bit for each box of a node that the ray hits, and where it enters them. */
PN_INLINE uint32_t enterNode(const NodeRows *n, uint32_t node, const pnRaySight *s, const pnRayLine *line, bool isGrid,
                             float *out) {
  if (PN_UNLIKELY(atomic_load_explicit(&n->stamp[node], memory_order_acquire) != n->now))
    pn_freshenSlow(n->group->tree, node, n->group->fresh);
  uint32_t lanes = lanesBelow[n->count[node]];
  const int16_t *cells = (const int16_t *)(const void *)(n->lanes + node * n->laneBytes);
  if (isGrid) return enterBoxes(cells, s, out) & lanes;
  if (n->group->lattice->isClipped) return enterBeyond(n, node, line, enterBoxes(cells, s, out), out) & lanes;
  pnBoxLanes boxes;
  pn_latticeCells(n->group->tree, n->group->lattice, node, &boxes);
  return enterBoxes(boxes.row[0][0], s, out) & lanes;
}

/* ---------------------------------------------------------------- rounds */

static void walkAlone(const Round *r, uint32_t ray, uint32_t root);

/* Walkers go on the lists where they belong. What is read may be the first list: of that no more is written than was read. */
#if WIDTH == 16
PN_INLINE void deal(Round *r, const RayStep *steps, uint32_t count) {
  for (uint32_t i = 0; i < count; i += 8) {
    uint32_t some = count - i < 8 ? (1u << (count - i)) - 1 : 255;
    uint32_t done = pn_notBelow(steps + i, (RayStep)NO_NODE << 32) & some;
    uint32_t leaf = (pn_notBelow(steps + i, (RayStep)r->innerCount << 32) & some) ^ done, inner = some ^ leaf ^ done;
    pn_keepEight(steps + i, done, r->list[FREE] + r->steps[FREE]);
    pn_keepEight(steps + i, leaf, r->list[LEAF] + r->steps[LEAF]);
    pn_keepEight(steps + i, inner, r->list[INNER] + r->steps[INNER]);
    r->steps[FREE] += COUNT(done);
    r->steps[LEAF] += COUNT(leaf);
    r->steps[INNER] += COUNT(inner);
  }
}
#else
PN_INLINE void deal(Round *r, const RayStep *steps, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    RayStep step = steps[i];
    uint32_t node = (uint32_t)(step >> 32), kind = (uint32_t)(node >= r->innerCount) + (uint32_t)(node >= NO_NODE);
    r->list[kind][r->steps[kind]++] = step;
  }
}
#endif

/* Takes the top off what waits for a ray. */
PN_INLINE RayStep takeTop(uint32_t ray, Walker *walker) {
  uint32_t top = walker->sight.top--;
  return ray | (RayStep)numberOf(walker->key[top], walker->first[top]) << 32;
}

/* The boxes of nodes. Apart from what is done about them: what is open at once has to fit into a processor's window, and nodes alone
 * are twice as many. */
PN_INLINE void enterNodesOf(Round *r, const RayStep *steps, uint32_t count, bool isGrid) {
  // For the compiler, who cannot know that none of these changes.
  const NodeRows nodes = r->nodes;
  const Walker *walkers = r->walkers;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t ray = (uint32_t)steps[i];
    const pnRaySight *sight = &walkers[ray].sight;
    r->hit[i] = enterNode(&nodes, (uint32_t)(steps[i] >> 32), sight, &r->rows->line[ray], isGrid, r->in[i]);
  }
}

static void enterNodes(Round *r, const RayStep *steps, uint32_t count) {
  if (PN_LIKELY(r->group->lattice->isGrid)) enterNodesOf(r, steps, count, true);
  else enterNodesOf(r, steps, count, false);
}

/* Children that are hit wait, but for the closest, which is next; none: what waited. */
PN_INLINE RayStep openInner(Round *r, uint32_t i, bool inOrder) {
  uint32_t ray = (uint32_t)r->list[INNER][i], node = (uint32_t)(r->list[INNER][i] >> 32), hit = r->hit[i];
  Walker *walker = &r->walkers[ray];
  uint32_t top = walker->sight.top, first = r->firstChild[node];
  if (PN_LIKELY(top <= WAITING_ROOM)) {
    uint32_t child = first + listLanes(r->in[i], hit, inOrder, walker->key + top + 1);
    putEight(pn_floatOfBits(first), walker->first + top + 1);
    uint32_t waiting = numberOf(walker->key[top], walker->first[top]);
    walker->sight.top = (uint8_t)(top + COUNT(hit) - 1);
    uint32_t none = 0u - (hit == 0); /* all bits: compilers like to branch here */
    return ray | (RayStep)(child ^ ((child ^ waiting) & none)) << 32;
  }
  // Too many: this branch has a stack of its own.
  for (; hit; hit &= hit - 1) walkAlone(r, ray, first + firstHit(hit));
  return takeTop(ray, walker);
}

PN_INLINE void openInners(Round *r, uint32_t count, bool inOrder) {
#if WIDTH == 16
  for (uint32_t i = 0; i < count; ++i) r->list[INNER][i] = openInner(r, i, inOrder);
  deal(r, r->list[INNER], count);
#else
  for (uint32_t i = 0; i < count; ++i) {
    RayStep step = openInner(r, i, inOrder);
    deal(r, &step, 1);
  }
#endif
}

/* Leaves are many, and come from far. */
PN_INLINE void callLeaf(const Round *r, uint32_t node) {
  const char *lanes = r->nodes.lanes + node * r->nodes.laneBytes;
  __builtin_prefetch(lanes);
  __builtin_prefetch(lanes + sizeof(pnBoxLanes) - 1);
}

PN_INLINE void openLeaf(Round *r, uint32_t i) {
  uint32_t ray = (uint32_t)r->list[LEAF][i], node = (uint32_t)(r->list[LEAF][i] >> 32), count = r->triangleCount,
           hit = r->hit[i];
  uint32_t first = (node - r->innerCount) * PN_LANES;
  __builtin_prefetch(r->tree->corners + 3 * (size_t)first);
  __builtin_prefetch(r->tree->corners + 3 * (size_t)first + 16);
  __builtin_prefetch(r->tree->shape->leafTriangles + first);
  listNumbers(hit, first, ray, r->place + count, r->ray + count);
  r->triangleCount = count += COUNT(hit);
  r->weigh[r->weighSteps++] = (LeafStep){ray, count};
}

/* Takes a hit, and drops what begins later. */
PN_INLINE void takeTriangle(const Round *r, uint32_t ray, uint32_t place, const pn_LineHit *hit, pnRayMode mode) {
  Walker *walker = &r->walkers[ray];
  pnRaySight *sight = &walker->sight;
  pnRayQuest *quest = &r->group->quests[sight->quest];
  pnRayLine *line = &r->rows->line[ray];
  takeHit(hit, r->tree->shape->leafTriangles[place], mode, quest);
  if (mode == PN_RAY_ANY && quest->best.triangle != PN_NONE) sight->top = 0;
  if (mode != PN_RAY_FIRST) return;
  line->last = quest->last;
  // Beyond a lattice a hit may be before where the ray begins there, and nothing begins earlier than that.
  float last = PN_MAX(pn_sightAt(line, quest->last), 0);
  sight->window[1] = -last;
  sight->top = (uint8_t)dropLater(walker->key, walker->first, sight->top, last);
}

/* What the bound does not decide. */
static bool askTriangle(const Round *r, uint32_t ray, const float *const corner[3], pn_LineHit *out) {
  const pnRay *asked = r->group->quests[r->walkers[ray].sight.quest].ray;
  pn_Line line;
  pn_makeLine(asked->origin, asked->direction, &line);
  return pn_meetLine(&line, corner, asked->first, out);
}

/* Weighs PN_DS triangles from `begin` on, of which `count` are asked. */
PN_INLINE void tryTriangles(const Round *r, uint32_t begin, uint32_t count, pnRayMode mode) {
  const uint32_t *place = r->place + begin, *rays = r->ray + begin;
  const float *corner[3][PN_DS];
  Weighed weighed;
  for (uint32_t i = 0; i < PN_DS; ++i)
    for (int k = 0; k < 3; ++k) corner[k][i] = r->rows->corner[begin + i][k];
  weighTriangles(r->rows, rays, corner, &weighed);
  for (uint32_t left = (weighed.clear | weighed.doubt) & ((1u << count) - 1); left; left &= left - 1) {
    uint32_t i = pn_firstLane(left);
    pn_LineHit hit = {weighed.t[i], weighed.u[i], weighed.v[i], (weighed.front >> i & 1) != 0 ? 1 : -1};
    if (PN_UNLIKELY(weighed.doubt >> i & 1)) {
      const float *c[3] = {corner[0][i], corner[1][i], corner[2][i]};
      if (!askTriangle(r, rays[i], c, &hit)) continue;
    }
    takeTriangle(r, rays[i], place[i], &hit, mode);
  }
}

/* Weighs triangles as long as they fill a register, and all when nothing else is to be done; their walkers go on. */
PN_INLINE void weighLists(Round *r, pnRayMode mode) {
  uint32_t count = r->triangleCount, end = r->steps[INNER] > 0 ? count - count % PN_DS : count, done = 0, left = 0;
  // Some are read behind the end.
  for (uint32_t j = 0; j < PN_DS; ++j) r->ray[count + j] = r->place[count + j] = 0;
  // All corners are called for before the first is looked at.
  for (uint32_t i = 0; i < (end + PN_DS - 1) / PN_DS * PN_DS; ++i) {
    const float **corner = r->rows->corner[i];
    pn_slotCorners(r->tree, r->place[i], corner);
    for (int k = 0; k < 3; ++k) __builtin_prefetch(corner[k]);
  }
  for (uint32_t i = 0; i < end; i += PN_DS) tryTriangles(r, i, PN_MIN(end - i, PN_DS), mode);
  RayStep steps[PN_RAY_GROUP + PN_LANES];
  for (; done < r->weighSteps && r->weigh[done].end <= end; ++done)
    steps[done] = takeTop(r->weigh[done].walker, &r->walkers[r->weigh[done].walker]);
  deal(r, steps, done);
  // What stays begins at 0.
  for (; done < r->weighSteps; ++done) r->weigh[left++] = (LeafStep){r->weigh[done].walker, r->weigh[done].end - end};
  for (uint32_t i = end; i < count; ++i) r->ray[i - end] = r->ray[i], r->place[i - end] = r->place[i];
  r->weighSteps = left;
  r->triangleCount = count - end;
}

/* A ray begins at a node. */
PN_INLINE void beginAt(Round *r, uint32_t ray, uint32_t root) {
  Walker *walker = &r->walkers[ray];
  walker->key[0] = 0;
  walker->first[0] = pn_floatOfBits(NO_NODE);
  walker->sight.top = 0;
  uint32_t kind = root < r->innerCount ? INNER : LEAF;
  r->list[kind][r->steps[kind]++] = ray | (RayStep)root << 32;
}

/* The next PN_DS rays take free places. */
static void beginRays(Round *r) {
  const pnRayGroup *group = r->group;
  uint32_t count = PN_MIN(PN_MIN(r->steps[FREE], r->end - r->next), PN_DS), at[PN_DS];
  pnSightRows made;
  for (uint32_t j = 0; j < PN_DS; ++j) at[j] = r->next + PN_MIN(j, count - 1);
  uint32_t some = pn_makeSights(group->tree, group->lattice, group->quests->ray, group->quests, at, CELL_UNIT, &made);
  const uint32_t all = (1u << count) - 1;
  for (uint32_t left = (group->lattice->isClipped ? all : some) & all; left; left &= left - 1) {
    uint32_t j = pn_firstLane(left), free = (uint32_t)r->list[FREE][--r->steps[FREE]];
    pnRaySight *sight = &r->walkers[free].sight;
    pn_putRay(&made, j, sight, &r->rows->line[free]);
    if (PN_UNLIKELY(!(some >> j & 1))) pn_blindSight(sight);
    sight->quest = r->next + j;
    beginAt(r, free, 0);
  }
  r->next += count;
}

/* Lists are read and written in one go: a walker that is taken off one end leaves a place for itself. */
PN_INLINE void walkMode(Round *r, pnRayMode mode) {
  for (;;) {
    while (r->next < r->end && (r->steps[FREE] >= PN_DS || r->steps[INNER] + r->steps[LEAF] + r->weighSteps == 0))
      beginRays(r);
    if (r->steps[INNER] + r->steps[LEAF] + r->weighSteps == 0) return;
    uint32_t count = r->steps[INNER];
    r->steps[INNER] = 0;
    enterNodes(r, r->list[INNER], count);
    openInners(r, count, mode != PN_RAY_ALL);
    count = r->steps[LEAF];
    r->steps[LEAF] = 0;
    for (uint32_t i = 0; i < count; ++i) callLeaf(r, (uint32_t)(r->list[LEAF][i] >> 32));
    enterNodes(r, r->list[LEAF], count);
    for (uint32_t i = 0; i < count; ++i) openLeaf(r, i);
    weighLists(r, mode);
  }
}

static void prepare(pnRayGroup *group, pnRayRows *rows, Walker *walkers, Round *r) {
  pnTree *tree = group->tree;
  r->group = group;
  r->rows = rows;
  r->walkers = walkers;
  r->tree = tree;
  r->nodes = (NodeRows){group, tree->stamp, tree->lanes, tree->laneBytes, tree->shape->count, tree->now};
  r->firstChild = tree->shape->first;
  r->innerCount = tree->shape->innerCount;
  r->steps[INNER] = r->steps[LEAF] = r->steps[FREE] = r->weighSteps = r->triangleCount = r->next = r->end = 0;
}

static void walk(Round *r) {
  switch (r->group->mode) {
    case PN_RAY_FIRST: walkMode(r, PN_RAY_FIRST); break;
    case PN_RAY_ANY: walkMode(r, PN_RAY_ANY); break;
    case PN_RAY_ALL: walkMode(r, PN_RAY_ALL); break;
  }
}

/* A walk of its own for one ray; what waits for it is put aside and back. */
static void walkAlone(const Round *r, uint32_t ray, uint32_t root) {
  Walker *walker = &r->walkers[ray];
  if (r->group->mode == PN_RAY_ANY && r->group->quests[walker->sight.quest].best.triangle != PN_NONE) return;
  Round alone;
  Walker aside = *walker;
  prepare(r->group, r->rows, r->walkers, &alone);
  beginAt(&alone, ray, root);
  walk(&alone);
  aside.sight.window[1] = walker->sight.window[1];
  *walker = aside;
}

void CAST(pnRayGroup *group, uint32_t count) {
  pnRayRows rows;
  Walker walkers[PN_RAY_GROUP];
  Round r;
  prepare(group, &rows, walkers, &r);
  r.end = count;
  r.steps[FREE] = PN_MIN(count, PN_RAY_GROUP);
  for (uint32_t i = 0; i < r.steps[FREE]; ++i) r.list[FREE][i] = i;
  walk(&r);
}
