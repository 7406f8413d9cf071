/* hits_walk.h: rays through a tree, written once. Included by hits.c, hits_avx2.c and hits_avx512.c with these defined:
 *
 *   F, LOAD, SHORTS, SET1, MULADD, MIN, MAX, GREATER, SIGNS, STORE   so many floats at once
 *   WIDTH                                                            4 or 8
 *   CAST                                                             the name
 *
 * Each ray has a stack of nodes that wait for it, the closest of those that came together on top. What a ray meets next nobody can
 * predict, and a processor that guesses wrong loses more time than a node takes; so the rays of a group go side by side, and no step has a
 * branch that depends on what was met. A round opens an inner node of every ray that is at one: children that are hit go on the stack (as
 * many as there are, by their count and not by a branch), the top comes off, and the ray goes on the list of rays that are
 * at an inner node or of those at a leaf. Leaves then put their triangles on a list, and these are weighed side by side
 * (hits_weigh.h). Only what stays in doubt is asked exactly. */
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
#define WAITING_ROOM 12u

/* The nodes that wait for a ray; below the first stands NO_NODE. */
typedef struct NodeStack {
  LaneKey key[1 + WAITING_ROOM + PN_LANES];
  float first[1 + WAITING_ROOM + PN_LANES];
} NodeStack;

#define NO_NODE (UINT32_MAX - 7)

/* A ray and the node whose turn it is: ray + node * 2^32. */
typedef uint64_t RayStep;

/* Rays side by side, and what of a tree is looked at all the time. */
typedef struct Round {
  const pnRayGroup *group;
  pnRayRows *rows;
  NodeStack *waiting;
  pnTree *tree;
  _Atomic uint32_t *stamp;
  uint32_t now;
  const char *lanes;
  size_t laneBytes;
  const uint8_t *count;
  const uint32_t *firstChild;
  uint32_t innerCount;
  bool isGrid;
  /* rays at inner nodes, and at leaves */
  uint32_t innerSteps, leafSteps;
  RayStep inner[PN_RAY_GROUP + 1], leaf[PN_RAY_GROUP + 1];
  /* triangles in boxes that are hit, and by which ray */
  uint32_t triangleCount;
  uint32_t place[PN_RAY_GROUP * PN_LANES + PN_LANES];
  uint32_t ray[PN_RAY_GROUP * PN_LANES + PN_LANES];
} Round;

/* A bit for each box of a node that the ray hits, and where it enters them. */
PN_INLINE uint32_t enterNode(const Round *r, uint32_t node, const pnRaySight *s, F in[PN_LANES / WIDTH]) {
  F missed[PN_LANES / WIDTH];
  if (PN_UNLIKELY(atomic_load_explicit(&r->stamp[node], memory_order_acquire) != r->now))
    pn_freshenSlow(r->tree, node, r->group->fresh);
  if (PN_LIKELY(r->isGrid)) {
    const int16_t *cells = (const int16_t *)(const void *)(r->lanes + node * r->laneBytes);
    ENTER(cells, SHORTS)
  } else {
    pnFloatLanes boxes;
    pn_latticeBoxes(r->tree, r->group->lattice, node, &boxes);
    const float *rows = boxes.row[0][0];
    ENTER(rows, LOAD)
  }
  uint32_t none = SIGNS(missed[0]);
  if (WIDTH == 4) none |= SIGNS(missed[PN_LANES / WIDTH - 1]) << 4;
  return ~none & ((1u << r->count[node]) - 1);
}

/* ---------------------------------------------------------------- rounds */

static void walkAlone(const Round *r, uint32_t ray, uint32_t root);

/* Takes the top off what waits for a ray, and puts the ray on the list where it belongs. */
PN_INLINE void goOn(Round *r, uint32_t ray, pnRaySight *sight, const NodeStack *waits, uint32_t top) {
  uint32_t node = numberOf(waits->key[top], waits->first[top]);
  RayStep step = ray | (RayStep)node << 32;
  sight->top = top - 1;
  r->inner[r->innerSteps] = r->leaf[r->leafSteps] = step;
  r->innerSteps += node < r->innerCount;
  r->leafSteps += node - r->innerCount < NO_NODE - r->innerCount;
}

PN_INLINE void openInner(Round *r, RayStep step, pnRayMode mode) {
  uint32_t ray = (uint32_t)step, node = (uint32_t)(step >> 32);
  NodeStack *waits = &r->waiting[ray];
  pnRaySight *sight = &r->rows->sight[ray];
  uint32_t top = sight->top, first = r->firstChild[node];
  F in[PN_LANES / WIDTH];
  uint32_t hit = enterNode(r, node, sight, in);
  if (PN_LIKELY(top <= WAITING_ROOM)) {
    putFirst(first, waits->first + top + 1);
    listLanes(in, hit, mode == PN_RAY_FIRST, waits->key + top + 1);
    goOn(r, ray, sight, waits, top + (uint32_t)__builtin_popcount(hit));
    return;
  }
  // Too many: this branch has a stack of its own.
  for (; hit; hit &= hit - 1) walkAlone(r, ray, first + pn_firstLane(hit));
  goOn(r, ray, sight, waits, sight->top);
}

PN_INLINE void openLeaf(Round *r, RayStep step) {
  uint32_t ray = (uint32_t)step, node = (uint32_t)(step >> 32), count = r->triangleCount;
  F in[PN_LANES / WIDTH];
  uint32_t hit = enterNode(r, node, &r->rows->sight[ray], in);
  for (uint32_t j = 0; j < PN_LANES; ++j) r->ray[count + j] = ray;
  listNumbers(hit, (node - r->innerCount) * PN_LANES, r->place + count);
  r->triangleCount = count + (uint32_t)__builtin_popcount(hit);
}

/* Takes a hit, and drops what begins later. */
PN_INLINE void takeTriangle(const Round *r, uint32_t ray, uint32_t place, const pn_LineHit *hit, pnRayMode mode) {
  pnRayQuest *quest = &r->group->quests[ray];
  pnRaySight *sight = &r->rows->sight[ray];
  pnRayLine *line = &r->rows->line[ray];
  const NodeStack *waits = &r->waiting[ray];
  takeHit(hit, r->tree->shape->leafTriangles[place], mode, quest);
  if (mode == PN_RAY_ANY && quest->best.triangle != PN_NONE) sight->top = 0;
  if (mode != PN_RAY_FIRST) return;
  line->last = quest->last;
  sight->last = pn_sightAt(line, quest->last);
  while (sight->top > 0 && nearOf(waits->key[sight->top]) > sight->last) --sight->top;
}

/* Weighs PN_DS triangles from `begin` on, of which `count` are asked. */
PN_INLINE void tryTriangles(const Round *r, uint32_t begin, uint32_t count, pnRayMode mode) {
  const uint32_t *place = r->place + begin, *rays = r->ray + begin;
  const float *corner[3][PN_DS];
  Weighed weighed;
  for (uint32_t i = 0; i < PN_DS; ++i) {
    const float *c[3];
    pn_slotCorners(r->tree, place[i], c);
    for (int k = 0; k < 3; ++k) corner[k][i] = c[k];
  }
  weighTriangles(r->rows, rays, corner, &weighed);
  for (uint32_t left = (weighed.clear | weighed.doubt) & ((1u << count) - 1); left; left &= left - 1) {
    uint32_t i = pn_firstLane(left), ray = rays[i];
    pn_LineHit hit = {weighed.t[i], weighed.u[i], weighed.v[i], (weighed.front >> i & 1) != 0 ? 1 : -1};
    if (PN_UNLIKELY(weighed.doubt >> i & 1)) {
      const pnRayQuest *quest = &r->group->quests[ray];
      const float *c[3] = {corner[0][i], corner[1][i], corner[2][i]};
      if (!pn_meetLine(&quest->line, c, quest->first, &hit)) continue;
    }
    takeTriangle(r, ray, place[i], &hit, mode);
  }
}

/* Lists are read and written in one go: a ray that is taken off one end leaves a place for itself. */
PN_INLINE void walkMode(Round *r, pnRayMode mode) {
  while (r->innerSteps + r->leafSteps > 0) {
    uint32_t count = r->innerSteps;
    r->innerSteps = r->triangleCount = 0;
    for (uint32_t i = 0; i < count; ++i) openInner(r, r->inner[i], mode);
    count = r->leafSteps;
    for (uint32_t i = 0; i < count; ++i) openLeaf(r, r->leaf[i]);
    // Some are read behind the end.
    for (uint32_t j = 0; j < PN_DS; ++j) r->ray[r->triangleCount + j] = r->place[r->triangleCount + j] = 0;
    for (uint32_t i = 0; i < r->triangleCount; i += PN_DS)
      tryTriangles(r, i, PN_MIN(r->triangleCount - i, PN_DS), mode);
    r->leafSteps = 0;
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t ray = (uint32_t)r->leaf[i];
      pnRaySight *sight = &r->rows->sight[ray];
      goOn(r, ray, sight, &r->waiting[ray], sight->top);
    }
  }
}

static void prepare(const pnRayGroup *group, pnRayRows *rows, NodeStack *waiting, Round *r) {
  pnTree *tree = group->tree;
  r->group = group;
  r->rows = rows;
  r->waiting = waiting;
  r->tree = tree;
  r->stamp = tree->stamp;
  r->now = tree->now;
  r->lanes = tree->lanes;
  r->laneBytes = tree->laneBytes;
  r->count = tree->shape->count;
  r->firstChild = tree->shape->first;
  r->innerCount = tree->shape->innerCount;
  r->isGrid = group->lattice->isGrid;
  r->innerSteps = r->leafSteps = 0;
}

static void walk(Round *r) {
  switch (r->group->mode) {
    case PN_RAY_FIRST: walkMode(r, PN_RAY_FIRST); break;
    case PN_RAY_ANY: walkMode(r, PN_RAY_ANY); break;
    case PN_RAY_ALL: walkMode(r, PN_RAY_ALL); break;
  }
}

PN_INLINE void beginAt(Round *r, uint32_t ray, uint32_t root) {
  NodeStack *waits = &r->waiting[ray];
  waits->key[0] = waits->key[1] = 0;
  waits->first[0] = floatOf(NO_NODE);
  waits->first[1] = floatOf(root);
  goOn(r, ray, &r->rows->sight[ray], waits, 1);
}

/* A walk of its own for one ray; what waits for it is put aside and back. */
static void walkAlone(const Round *r, uint32_t ray, uint32_t root) {
  if (r->group->mode == PN_RAY_ANY && r->group->quests[ray].best.triangle != PN_NONE) return;
  Round alone;
  NodeStack aside = r->waiting[ray];
  uint32_t top = r->rows->sight[ray].top;
  prepare(r->group, r->rows, r->waiting, &alone);
  beginAt(&alone, ray, root);
  walk(&alone);
  r->waiting[ray] = aside;
  r->rows->sight[ray].top = top;
}

void CAST(pnRayGroup *group, uint32_t count) {
  pnRayRows rows;
  NodeStack waiting[PN_RAY_GROUP];
  Round r;
  prepare(group, &rows, waiting, &r);
  for (uint32_t begin = 0; begin < count; begin += PN_DS) {
    uint32_t at[PN_DS];
    pnSightRows made;
    for (uint32_t j = 0; j < PN_DS; ++j) at[j] = PN_MIN(begin + j, count - 1);
    uint32_t some = pn_makeSights(group->tree, group->lattice, group->quests, at, &made);
    for (uint32_t j = 0; j < PN_DS && begin + j < count; ++j) {
      uint32_t ray = begin + j;
      pn_putRay(&made, j, &group->quests[ray], &rows.sight[ray], &rows.line[ray]);
      if (some >> j & 1) beginAt(&r, ray, 0);
    }
  }
  walk(&r);
}
