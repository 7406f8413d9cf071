/* hits_walk.h: rays through a tree, written once. Included by hits.c, hits_avx2.c and hits_avx512.c with these defined:
 *
 *   F, LOAD, SHORTS, SET1, MULADD, MIN, MAX, GREATER, SIGNS, STORE   so many floats at once
 *   WIDTH                                                            4 or 8
 *   CAST                                                             the name
 *
 * Each ray has a stack of nodes that wait for it, the closest of those that came together on top. What a ray meets next nobody can
 * predict, and a processor that guesses wrong loses more time than a node takes; so many rays go side by side, and no step has a
 * branch that depends on what was met. A round opens an inner node of every ray that is at one: children that are hit go on the stack (as
 * many as there are, by their count and not by a branch), the top comes off, and the ray goes on the list of rays that are
 * at an inner node, of those at a leaf, or of places where a ray is done. Leaves then put their triangles on a list, and these are
 * weighed side by side (hits_weigh.h); what does not fill a register waits for the next round, and its rays with it. Only what
 * stays in doubt is asked exactly. Where rays are done others begin, as many as are set up side by side: so lists stay long, and
 * no ray waits for the slowest. */
#include "query/hits_weigh.h"

/* A lane that is hit: where the ray enters its box, a float that is not negative, with the lane's number in its last three bits. */
typedef float LaneKey;

/* The float with these bits. */
#define LAST_BITS 0x7p-149f

PN_INLINE uint32_t bitsOf(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

PN_INLINE float floatOf(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Where it enters, or a little earlier. */
PN_INLINE float nearOf(LaneKey key) {
  return floatOf(bitsOf(key) & ~7u);
}

/* Lanes, each with the number that lane 0 of its node has, as bits of a float: a child, or a place for a triangle. */
PN_INLINE uint32_t numberOf(LaneKey key, float first) {
  return bitsOf(first) + (bitsOf(key) & 7);
}

PN_INLINE void putFirst(uint32_t first, float out[PN_LANES]) {
  F all = SET1(floatOf(first));
  for (uint32_t h = 0; h < PN_LANES; h += WIDTH) STORE(out + h, all);
}

/* ---------------------------------------------------------------- a node */

#if WIDTH == 8 && defined(__AVX512VL__)
#define PACK pn_f8Compress
#elif WIDTH == 8
/* The numbers of the bits of m, a byte each, the rest 0. */
#define BIT(m, j) ((uint64_t)((m) >> (j)&1))
#define BEFORE(m, j) (__builtin_popcount((m) & ((1u << (j)) - 1)))
#define PLACED(m, j) (BIT(m, j) * (uint64_t)(j) << 8 * BEFORE(m, j))
#define BITS(m) (PLACED(m, 1) | PLACED(m, 2) | PLACED(m, 3) | PLACED(m, 4) | PLACED(m, 5) | PLACED(m, 6) | PLACED(m, 7))
#define BITS4(m) BITS(m), BITS((m) + 1), BITS((m) + 2), BITS((m) + 3)
#define BITS16(m) BITS4(m), BITS4((m) + 4), BITS4((m) + 8), BITS4((m) + 12)
#define BITS64(m) BITS16(m), BITS16((m) + 16), BITS16((m) + 32), BITS16((m) + 48)
static const uint64_t bitNumbers[256] = {BITS64(0u), BITS64(64u), BITS64(128u), BITS64(192u)};
#define PACK(a, mask) pn_f8Permute(a, bitNumbers[mask])
#endif

/* The numbers of the lanes, as bits of floats. */
static const float laneNumbers[PN_LANES] = {0,         0x1p-149f, 0x2p-149f, 0x3p-149f,
                                            0x4p-149f, 0x5p-149f, 0x6p-149f, LAST_BITS};

/* Keys of the lanes that are hit, the closest last, the others in any order. Eight are written. */
#if WIDTH == 8
PN_INLINE void listLanes(const F in[1], uint32_t hit, bool inOrder, LaneKey keys[PN_LANES]) {
  F key = pn_f8Or(pn_f8AndNot(in[0], SET1(LAST_BITS)), LOAD(laneNumbers));
  if (!inOrder) {
    STORE(keys, PACK(key, hit));
    return;
  }
  float least = pn_f8Least(key, hit);
  uint32_t count = (uint32_t)__builtin_popcount(hit);
  STORE(keys, PACK(key, hit & ~(1u << (bitsOf(least) & 7))));
  keys[count - (count > 0)] = least;
}

/* The numbers of the lanes that are hit, `first` being that of lane 0. Eight are written. */
PN_INLINE void listNumbers(uint32_t hit, uint32_t first, uint32_t numbers[PN_LANES]) {
  pn_f8AddNumbers(PACK(LOAD(laneNumbers), hit), first, numbers);
}
#else
PN_INLINE void listNumbers(uint32_t hit, uint32_t first, uint32_t numbers[PN_LANES]) {
  for (; hit; hit &= hit - 1) *numbers++ = first + pn_firstLane(hit);
}

PN_INLINE void listLanes(const F in[2], uint32_t hit, bool inOrder, LaneKey keys[PN_LANES]) {
  float near[PN_LANES];
  STORE(near, in[0]);
  STORE(near + 4, in[1]);
  for (uint32_t last = 0; hit; hit &= hit - 1, ++last) {
    uint32_t j = pn_firstLane(hit);
    LaneKey key = floatOf((bitsOf(near[j]) & ~7u) | j), before = keys[last - (last > 0)];
    bool swap = inOrder && last > 0 && before < key;
    keys[last - (last > 0)] = swap ? key : before;
    keys[last] = swap ? before : key;
  }
}
#endif

/* Where the ray enters the boxes of a node, and which of them it misses: the sides of a box along an axis are passed at two places, and
 * the earlier one is where it enters, whichever way it runs. `row` gives so many numbers of a row. */
#define PASS(rows, row, k, side) \
  MULADD(row((rows) + (2 * (k) + (side)) * PN_LANES + h * WIDTH), by[k], SET1(s->term[side][k]))
#define ENTER(rows, row)                                                         \
  for (uint32_t h = 0; h < PN_LANES / WIDTH; ++h) {                              \
    F by[3] = {SET1(s->inverse[0]), SET1(s->inverse[1]), SET1(s->inverse[2])};   \
    F x0 = PASS(rows, row, 0, 0), x1 = PASS(rows, row, 0, 1);                    \
    F y0 = PASS(rows, row, 1, 0), y1 = PASS(rows, row, 1, 1);                    \
    F z0 = PASS(rows, row, 2, 0), z1 = PASS(rows, row, 2, 1);                    \
    in[h] = MAX(MAX(MIN(x0, x1), MIN(y0, y1)), MAX(MIN(z0, z1), SET1(0)));       \
    F out = MIN(MIN(MAX(x0, x1), MAX(y0, y1)), MIN(MAX(z0, z1), SET1(s->last))); \
    missed[h] = GREATER(in[h], out);                                             \
  }

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
  RayStep list[KINDS][PN_RAY_GROUP];
  LeafStep weigh[PN_RAY_GROUP];
  /* of the nodes of a list: the lanes that are hit, and where */
  uint32_t hit[PN_RAY_GROUP];
  float in[PN_RAY_GROUP][PN_LANES];
  /* triangles in boxes that are hit, and by whom */
  uint32_t triangleCount;
  uint32_t place[PN_RAY_TRIANGLES], ray[PN_RAY_TRIANGLES];
} Round;

/* The first so many lanes. */
static const uint8_t lanesBelow[PN_LANES + 1] = {0, 1, 3, 7, 15, 31, 63, 127, 255};

/* A bit for each box of a node that the ray hits, and where it enters them. */
PN_INLINE uint32_t enterNode(const NodeRows *n, uint32_t node, const pnRaySight *s, bool isGrid,
                             F in[PN_LANES / WIDTH]) {
  F missed[PN_LANES / WIDTH];
  if (PN_UNLIKELY(atomic_load_explicit(&n->stamp[node], memory_order_acquire) != n->now))
    pn_freshenSlow(n->group->tree, node, n->group->fresh);
  if (isGrid) {
    const int16_t *cells = (const int16_t *)(const void *)(n->lanes + node * n->laneBytes);
    ENTER(cells, SHORTS)
  } else {
    pnFloatLanes boxes;
    pn_latticeBoxes(n->group->tree, n->group->lattice, node, &boxes);
    const float *rows = boxes.row[0][0];
    ENTER(rows, LOAD)
  }
  uint32_t none = SIGNS(missed[0]);
  if (WIDTH == 4) none |= SIGNS(missed[PN_LANES / WIDTH - 1]) << 4;
  return ~none & lanesBelow[n->count[node]];
}

/* ---------------------------------------------------------------- rounds */

static void walkAlone(const Round *r, uint32_t ray, uint32_t root);

/* Takes the top off what waits for a ray, and puts the walker on the list where it belongs. */
PN_INLINE void goOn(Round *r, uint32_t ray, Walker *walker, uint32_t top) {
  uint32_t node = numberOf(walker->key[top], walker->first[top]);
  uint32_t kind = (uint32_t)(node >= r->innerCount) + (uint32_t)(node >= NO_NODE);
  walker->sight.top = top - 1;
  r->list[kind][r->steps[kind]++] = ray | (RayStep)node << 32;
}

/* The boxes of nodes. Apart from what is done about them: what is open at once has to fit into a processor's window, and nodes alone
 * are twice as many. */
PN_INLINE void enterNodesOf(Round *r, const RayStep *steps, uint32_t count, bool isGrid) {
  // For the compiler, who cannot know that none of these changes.
  const NodeRows nodes = r->nodes;
  const Walker *walkers = r->walkers;
  for (uint32_t i = 0; i < count; ++i) {
    F in[PN_LANES / WIDTH];
    const pnRaySight *sight = &walkers[(uint32_t)steps[i]].sight;
    r->hit[i] = enterNode(&nodes, (uint32_t)(steps[i] >> 32), sight, isGrid, in);
    for (uint32_t h = 0; h < PN_LANES / WIDTH; ++h) STORE(r->in[i] + h * WIDTH, in[h]);
  }
}

static void enterNodes(Round *r, const RayStep *steps, uint32_t count) {
  if (PN_LIKELY(r->group->lattice->isGrid)) enterNodesOf(r, steps, count, true);
  else enterNodesOf(r, steps, count, false);
}

PN_INLINE void openInner(Round *r, uint32_t i, pnRayMode mode) {
  uint32_t ray = (uint32_t)r->list[INNER][i], node = (uint32_t)(r->list[INNER][i] >> 32), hit = r->hit[i];
  Walker *walker = &r->walkers[ray];
  uint32_t top = walker->sight.top, first = r->firstChild[node];
  F in[PN_LANES / WIDTH];
  for (uint32_t h = 0; h < PN_LANES / WIDTH; ++h) in[h] = LOAD(r->in[i] + h * WIDTH);
  if (PN_LIKELY(top <= WAITING_ROOM)) {
    putFirst(first, walker->first + top + 1);
    listLanes(in, hit, mode != PN_RAY_ALL, walker->key + top + 1);
    goOn(r, ray, walker, top + (uint32_t)__builtin_popcount(hit));
    return;
  }
  // Too many: this branch has a stack of its own.
  for (; hit; hit &= hit - 1) walkAlone(r, ray, first + pn_firstLane(hit));
  goOn(r, ray, walker, walker->sight.top);
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
  for (uint32_t j = 0; j < PN_LANES; ++j) r->ray[count + j] = ray;
  listNumbers(hit, first, r->place + count);
  r->triangleCount = count += (uint32_t)__builtin_popcount(hit);
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
  sight->last = pn_sightAt(line, quest->last);
  while (sight->top > 0 && nearOf(walker->key[sight->top]) > sight->last) --sight->top;
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
  for (; done < r->weighSteps && r->weigh[done].end <= end; ++done) {
    Walker *walker = &r->walkers[r->weigh[done].walker];
    goOn(r, r->weigh[done].walker, walker, walker->sight.top);
  }
  // What stays begins at 0.
  for (; done < r->weighSteps; ++done) r->weigh[left++] = (LeafStep){r->weigh[done].walker, r->weigh[done].end - end};
  for (uint32_t i = end; i < count; ++i) r->ray[i - end] = r->ray[i], r->place[i - end] = r->place[i];
  r->weighSteps = left;
  r->triangleCount = count - end;
}

/* Rays that begin at a node. */
PN_INLINE void beginAt(Round *r, uint32_t ray, uint32_t root) {
  Walker *walker = &r->walkers[ray];
  walker->key[0] = walker->key[1] = 0;
  walker->first[0] = floatOf(NO_NODE);
  walker->first[1] = floatOf(root);
  goOn(r, ray, walker, 1);
}

/* The next PN_DS rays take free places. */
static void beginRays(Round *r) {
  const pnRayGroup *group = r->group;
  uint32_t count = PN_MIN(PN_MIN(r->steps[FREE], r->end - r->next), PN_DS), at[PN_DS];
  pnSightRows made;
  for (uint32_t j = 0; j < PN_DS; ++j) at[j] = r->next + PN_MIN(j, count - 1);
  uint32_t some = pn_makeSights(group->tree, group->lattice, group->quests->ray, group->quests, at, &made);
  uint32_t free[PN_DS];
  for (uint32_t j = 0; j < count; ++j) free[j] = (uint32_t)r->list[FREE][--r->steps[FREE]];
  for (uint32_t j = 0; j < count; ++j) {
    pnRaySight *sight = &r->walkers[free[j]].sight;
    pn_putRay(&made, j, sight, &r->rows->line[free[j]]);
    sight->quest = r->next + j;
    beginAt(r, free[j], some >> j & 1 ? 0 : NO_NODE);
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
    for (uint32_t i = 0; i < count; ++i) openInner(r, i, mode);
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
  aside.sight.last = walker->sight.last;
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
