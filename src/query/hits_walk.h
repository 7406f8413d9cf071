/* hits_walk.h: rays through a tree, written once. Included by hits.c and hits_avx2.c with these defined:
 *
 *   F, LOAD, SHORTS, SET1, MUL, ADD, MIN, MAX, GREATER, SIGNS, STORE   so many floats at once
 *   WIDTH                                                              4 or 8
 *   CAST                                                               the name
 *
 * Each ray has a stack of nodes that wait for it, the closest on top. What a ray meets next nobody can predict, and a processor
 * that guesses wrong loses more time than a node takes; so the rays of a group go side by side, and no step has a
 * branch that depends on what was met. A round takes the next node of every ray that has one; those that are inner nodes put
 * their children on the stack (as many as were hit, by the count and not by a branch), leaves put their triangles on a list,
 * and of these the ones that may be hit stay on it. Only they are asked exactly. */

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

/* Keys of the lanes that are hit, in order, the farthest first, or in any. Eight are written; returns how many there are. `missed` is a
 * mask. */
#if WIDTH == 8
/* The numbers of the bits of m, a byte each, the rest 0. */
#define BIT(m, j) ((uint64_t)((m) >> (j)&1))
#define BEFORE(m, j) (__builtin_popcount((m) & ((1u << (j)) - 1)))
#define PLACED(m, j) (BIT(m, j) * (uint64_t)(j) << 8 * BEFORE(m, j))
#define BITS(m) (PLACED(m, 1) | PLACED(m, 2) | PLACED(m, 3) | PLACED(m, 4) | PLACED(m, 5) | PLACED(m, 6) | PLACED(m, 7))
#define BITS4(m) BITS(m), BITS((m) + 1), BITS((m) + 2), BITS((m) + 3)
#define BITS16(m) BITS4(m), BITS4((m) + 4), BITS4((m) + 8), BITS4((m) + 12)
#define BITS64(m) BITS16(m), BITS16((m) + 16), BITS16((m) + 32), BITS16((m) + 48)
static const uint64_t bitNumbers[256] = {BITS64(0u), BITS64(64u), BITS64(128u), BITS64(192u)};

PN_INLINE uint32_t listLanes(const F in[1], const F missed[1], uint32_t count, bool inOrder, LaneKey keys[PN_LANES]) {
  static const float numbers[PN_LANES] = {0,         0x1p-149f, 0x2p-149f, 0x3p-149f,
                                          0x4p-149f, 0x5p-149f, 0x6p-149f, LAST_BITS};
  static const uint32_t beyond[2 * PN_LANES] = {0, 0, 0, 0, 0, 0, 0, 0, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
  F none = pn_f8Or(missed[0], LOAD((const float *)(const void *)(beyond + PN_LANES - count)));
  F key = pn_f8Or(pn_f8AndNot(in[0], SET1(LAST_BITS)), LOAD(numbers));
  uint32_t hit = SIGNS(none) ^ 0xff;
  // In order: those that are missed become 0 and go to the end.
  STORE(keys, inOrder ? pn_f8SortDown(pn_f8AndNot(key, none)) : pn_f8Permute(key, bitNumbers[hit]));
  return (uint32_t)__builtin_popcount(hit);
}
#else
PN_INLINE uint32_t listLanes(const F in[2], const F missed[2], uint32_t count, bool inOrder, LaneKey keys[PN_LANES]) {
  (void)inOrder;
  float near[PN_LANES];
  STORE(near, in[0]);
  STORE(near + 4, in[1]);
  unsigned lanes = ~(SIGNS(missed[0]) | SIGNS(missed[1]) << 4) & ((1u << count) - 1);
  uint32_t found = 0;
  for (; lanes; lanes &= lanes - 1) {
    uint32_t j = pn_firstLane(lanes), i = found++;
    LaneKey key = floatOf((bitsOf(near[j]) & ~7u) | j);
    for (; i > 0 && keys[i - 1] < key; --i) keys[i] = keys[i - 1];
    keys[i] = key;
  }
  return found;
}
#endif

/* Where the ray enters the boxes of a node, and which of them it misses. `row` gives so many numbers of a row. */
#define ENTER(rows, row)                                                                       \
  for (uint32_t h = 0; h < PN_LANES / WIDTH; ++h) {                                            \
    uint32_t i = h * WIDTH;                                                                    \
    F a0 = ADD(MUL(row(rows + s->nearRow[0] + i), SET1(s->inverse[0])), SET1(s->nearTerm[0])); \
    F a1 = ADD(MUL(row(rows + s->nearRow[1] + i), SET1(s->inverse[1])), SET1(s->nearTerm[1])); \
    F a2 = ADD(MUL(row(rows + s->nearRow[2] + i), SET1(s->inverse[2])), SET1(s->nearTerm[2])); \
    F b0 = ADD(MUL(row(rows + s->farRow[0] + i), SET1(s->inverse[0])), SET1(s->farTerm[0]));   \
    F b1 = ADD(MUL(row(rows + s->farRow[1] + i), SET1(s->inverse[1])), SET1(s->farTerm[1]));   \
    F b2 = ADD(MUL(row(rows + s->farRow[2] + i), SET1(s->inverse[2])), SET1(s->farTerm[2]));   \
    in[h] = MAX(MAX(a0, a1), MAX(a2, SET1(0)));                                                \
    missed[h] = GREATER(in[h], MIN(MIN(b0, b1), MIN(b2, SET1(s->last))));                      \
  }

/* Nodes that may wait for a ray before a node is opened: enough for most rays. */
#define WAITING_ROOM 12u

/* A ray under way: what it sees, and the nodes that wait for it. */
typedef struct Walker {
  pnRaySight sight;
  uint32_t node; /* whose turn it is */
  uint32_t top;  /* 0: nothing waits; the place below the first is never used */
  pnRayQuest *quest;
  LaneKey key[1 + WAITING_ROOM + PN_LANES];
  float first[1 + WAITING_ROOM + PN_LANES];
} Walker;

/* Walkers side by side, and what of a tree is looked at all the time. */
typedef struct Round {
  pnTree *tree;
  const pnLattice *lattice;
  const char *lanes;
  size_t laneBytes;
  const uint8_t *count;
  const uint32_t *firstChild;
  uint32_t innerCount;
  bool isGrid;
  pnFresh *fresh;
  uint32_t innerWalkers, leafWalkers;
  Walker *inner[PN_RAY_GROUP], *leaf[PN_RAY_GROUP];
  /* triangles in boxes that are hit, and by which ray */
  uint32_t triangleCount;
  LaneKey key[PN_RAY_GROUP * PN_LANES + PN_LANES];
  float first[PN_RAY_GROUP * PN_LANES + PN_LANES];
  Walker *walker[PN_RAY_GROUP * PN_LANES + PN_LANES];
} Round;

PN_INLINE uint32_t enterNode(const Round *r, uint32_t node, const pnRaySight *s, bool inOrder, LaneKey keys[PN_LANES]) {
  F in[PN_LANES / WIDTH], missed[PN_LANES / WIDTH];
  if (PN_LIKELY(r->isGrid)) {
    const int16_t *cells = (const int16_t *)(const void *)(r->lanes + node * r->laneBytes);
    ENTER(cells, SHORTS)
  } else {
    pnFloatLanes boxes;
    pn_latticeBoxes(r->tree, r->lattice, node, &boxes);
    const float *rows = boxes.row[0][0];
    ENTER(rows, LOAD)
  }
  return listLanes(in, missed, r->count[node], inOrder, keys);
}

/* ---------------------------------------------------------------- rounds */

static void walkAlone(const pnRayGroup *group, Walker *walker, uint32_t root);

PN_INLINE void openInner(const pnRayGroup *group, Round *r, Walker *walker, pnRayMode mode) {
  uint32_t node = walker->node, top = walker->top, first = r->firstChild[node];
  pn_freshen(r->tree, node, r->fresh);
  if (PN_LIKELY(top <= WAITING_ROOM)) {
    putFirst(first, walker->first + top + 1);
    walker->top = top + enterNode(r, node, &walker->sight, mode == PN_RAY_FIRST, walker->key + top + 1);
    return;
  }
  // Too many: this branch has a stack of its own.
  LaneKey keys[PN_LANES];
  for (uint32_t n = enterNode(r, node, &walker->sight, true, keys); n-- > 0;)
    walkAlone(group, walker, first + (bitsOf(keys[n]) & 7));
}

PN_INLINE void openLeaf(Round *r, Walker *walker) {
  uint32_t node = walker->node, count = r->triangleCount;
  pn_freshen(r->tree, node, r->fresh);
  putFirst((node - r->innerCount) * PN_LANES, r->first + count);
  for (uint32_t j = 0; j < PN_LANES; ++j) r->walker[count + j] = walker;
  r->triangleCount = count + enterNode(r, node, &walker->sight, false, r->key + count);
}

/* Asks exactly, and drops what begins later than a hit. */
PN_INLINE void tryTriangle(const Round *r, Walker *walker, uint32_t slot, pnRayMode mode) {
  pnRayQuest *quest = walker->quest;
  const float *corner[3];
  pn_slotCorners(r->tree, slot, corner);
  pn_LineHit hit;
  if (!pn_meetLine(&quest->line, corner, quest->first, &hit)) return;
  takeHit(&hit, r->tree->shape->leafTriangles[slot], mode, quest);
  if (mode == PN_RAY_ANY && quest->best.triangle != PN_NONE) walker->top = 0;
  if (mode != PN_RAY_FIRST) return;
  walker->sight.last = pn_sightAt(&walker->sight, quest->last);
  while (walker->top > 0 && nearOf(walker->key[walker->top]) > walker->sight.last) --walker->top;
}

PN_INLINE void tryTriangles(Round *r, pnRayMode mode) {
  const uint32_t *corners = r->tree->corners;
  const char *base = r->tree->cornerBase;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < r->triangleCount; ++i) {
    LaneKey key = r->key[i];
    float first = r->first[i];
    Walker *walker = r->walker[i];
    const uint32_t *places = corners + 3 * (size_t)numberOf(key, first);
    const float *corner[3];
    for (int k = 0; k < 3; ++k) corner[k] = (const float *)(const void *)(base + places[k]);
    r->key[kept] = key;
    r->first[kept] = first;
    r->walker[kept] = walker;
    kept += pn_mayMeetLine(&walker->quest->line, corner);
  }
  for (uint32_t i = 0; i < kept; ++i) tryTriangle(r, r->walker[i], numberOf(r->key[i], r->first[i]), mode);
}

/* Takes the next node of each ray that has one and deals them to the two lists; drops the others. Returns how many are left. */
PN_INLINE uint32_t dealNodes(Round *r, Walker **active, uint32_t count) {
  uint32_t kept = 0, inner = 0, leaf = 0, innerCount = r->innerCount;
  for (uint32_t i = 0; i < count; ++i) {
    Walker *walker = active[i];
    uint32_t top = walker->top, some = top > 0;
    uint32_t node = numberOf(walker->key[top], walker->first[top]), isInner = some & (node < innerCount);
    walker->node = node;
    walker->top = top - some;
    active[kept] = r->inner[inner] = r->leaf[leaf] = walker;
    kept += some;
    inner += isInner;
    leaf += some - isInner;
  }
  r->innerWalkers = inner;
  r->leafWalkers = leaf;
  return kept;
}

PN_INLINE void walkMode(const pnRayGroup *group, Walker **active, uint32_t count, pnRayMode mode) {
  pnTree *tree = group->tree;
  Round r;
  r.tree = tree;
  r.lattice = group->lattice;
  r.lanes = tree->lanes;
  r.laneBytes = tree->laneBytes;
  r.count = tree->shape->count;
  r.firstChild = tree->shape->first;
  r.innerCount = tree->shape->innerCount;
  r.isGrid = group->lattice->isGrid;
  r.fresh = group->fresh;
  while ((count = dealNodes(&r, active, count)) > 0) {
    r.triangleCount = 0;
    for (uint32_t i = 0; i < r.innerWalkers; ++i) openInner(group, &r, r.inner[i], mode);
    for (uint32_t i = 0; i < r.leafWalkers; ++i) openLeaf(&r, r.leaf[i]);
    tryTriangles(&r, mode);
  }
}

static void walk(const pnRayGroup *group, Walker **active, uint32_t count) {
  switch (group->mode) {
    case PN_RAY_FIRST: walkMode(group, active, count, PN_RAY_FIRST); break;
    case PN_RAY_ANY: walkMode(group, active, count, PN_RAY_ANY); break;
    case PN_RAY_ALL: walkMode(group, active, count, PN_RAY_ALL); break;
  }
}

PN_INLINE void beginAt(Walker *walker, uint32_t root) {
  walker->top = 1;
  walker->key[0] = walker->key[1] = 0;
  walker->first[0] = 0;
  walker->first[1] = floatOf(root);
}

static void walkAlone(const pnRayGroup *group, Walker *walker, uint32_t root) {
  Walker alone, *active = &alone;
  if (group->mode == PN_RAY_ANY && walker->quest->best.triangle != PN_NONE) return;
  alone.sight = walker->sight;
  alone.quest = walker->quest;
  beginAt(&alone, root);
  walk(group, &active, 1);
  walker->sight.last = alone.sight.last;
}

/* No corner of the tree is farther from the origin than this along any axis. */
PN_INLINE double reachOf(const pnTree *tree, const pn_Line *line) {
  double most = 0;
  for (int k = 0; k < 3; ++k) {
    double below = line->o[k] - (double)(&tree->box.min.x)[k], above = (double)(&tree->box.max.x)[k] - line->o[k];
    most = PN_MAX(most, PN_MAX(below, above));
  }
  return most;
}

void CAST(pnRayGroup *group, uint32_t count) {
  Walker walkers[PN_RAY_GROUP], *active[PN_RAY_GROUP];
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    pnRayQuest *quest = &group->quests[i];
    pn_boundLine(&quest->line, reachOf(group->tree, &quest->line));
    walkers[i].quest = quest;
    beginAt(&walkers[i], 0);
    active[kept] = &walkers[i];
    kept += pn_makeSight(group->lattice, quest, &walkers[i].sight);
  }
  walk(group, active, kept);
}
