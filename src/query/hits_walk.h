/* hits_walk.h: a ray through a tree, written once. Included by hits.c and hits_avx2.c with these defined:
 *
 *   F, LOAD, SHORTS, SET1, MUL, ADD, MIN, MAX, GREATER, SIGNS, STORE   so many floats at once
 *   WIDTH                                                              4 or 8
 *   WALK                                                               the name
 *
 * Nodes wait on a stack, the closest on top; one that begins later than what was found is dropped when its turn comes. */

/* What of a sight stays in registers. */
typedef struct Rays {
  F inverse[3], nearTerm[3], farTerm[3];
} Rays;

/* Where the ray enters the boxes of a node, and which of them it misses. `row` gives so many numbers of a row. */
#define ENTER(rows, row)                                                                    \
  for (uint32_t h = 0; h < PN_LANES; h += WIDTH) {                                          \
    F a0 = ADD(MUL(row(rows + s->nearRow[0] + h), r->inverse[0]), r->nearTerm[0]);          \
    F a1 = ADD(MUL(row(rows + s->nearRow[1] + h), r->inverse[1]), r->nearTerm[1]);          \
    F a2 = ADD(MUL(row(rows + s->nearRow[2] + h), r->inverse[2]), r->nearTerm[2]);          \
    F b0 = ADD(MUL(row(rows + s->farRow[0] + h), r->inverse[0]), r->farTerm[0]);            \
    F b1 = ADD(MUL(row(rows + s->farRow[1] + h), r->inverse[1]), r->farTerm[1]);            \
    F b2 = ADD(MUL(row(rows + s->farRow[2] + h), r->inverse[2]), r->farTerm[2]);            \
    F in = MAX(MAX(a0, a1), MAX(a2, SET1(0))), out = MIN(MIN(b0, b1), MIN(b2, SET1(last))); \
    STORE(near + h, in);                                                                    \
    missed |= SIGNS(GREATER(in, out)) << h;                                                 \
  }

PN_INLINE unsigned enterNode(const pnTree *tree, const pnLattice *lattice, uint32_t node, const pnRaySight *s,
                             const Rays *r, float last, float near[PN_LANES]) {
  unsigned missed = 0;
  if (PN_LIKELY(lattice->isGrid)) {
    const int16_t *cells = pn_lanesOf(tree, node);
    ENTER(cells, SHORTS)
  } else {
    pnFloatLanes boxes;
    pn_latticeBoxes(tree, lattice, node, &boxes);
    const float *rows = boxes.row[0][0];
    ENTER(rows, LOAD)
  }
  return ~missed & ((1u << tree->shape->count[node]) - 1);
}

typedef struct WaitingNode {
  float near;
  uint32_t node;
} WaitingNode;

#define WAITING_ROOM 128u

/* The triangles of a leaf whose boxes are hit. True: that is enough. */
PN_INLINE bool testLeaf(const pnTree *tree, uint32_t node, unsigned lanes, const float near[PN_LANES], pnRayMode mode,
                        pnRaySight *sight, pnRayQuest *quest) {
  const pnShape *shape = tree->shape;
  for (; lanes; lanes &= lanes - 1) {
    uint32_t j = pn_firstLane(lanes), slot = (node - shape->innerCount) * PN_LANES + j;
    if (near[j] > sight->last) continue;
    const float *corner[3];
    pn_slotCorners(tree, slot, corner);
    pn_LineHit hit;
    if (!pn_meetLine(&quest->line, corner, quest->first, &hit)) continue;
    takeHit(&hit, shape->leafTriangles[slot], mode, quest);
    if (mode == PN_RAY_ANY && quest->best.triangle != PN_NONE) return true;
    if (mode == PN_RAY_FIRST) sight->last = pn_sightAt(sight, quest->last);
  }
  return false;
}

/* Puts the children that are hit onto the stack, the closest on top. */
PN_INLINE uint32_t pushLanes(WaitingNode *stack, uint32_t top, unsigned lanes, const float near[PN_LANES],
                             uint32_t first) {
  uint32_t base = top;
  for (; lanes; lanes &= lanes - 1) {
    uint32_t j = pn_firstLane(lanes), i = top++;
    for (; i > base && stack[i - 1].near < near[j]; --i) stack[i] = stack[i - 1];
    stack[i] = (WaitingNode){near[j], first + j};
  }
  return top;
}

PN_INLINE void walk(pnTree *tree, const pnLattice *lattice, pnRayMode mode, pnFresh *fresh, pnRaySight *sight,
                    pnRayQuest *quest, uint32_t root) {
  WaitingNode stack[WAITING_ROOM];
  uint32_t top = 0, node = root, innerCount = tree->shape->innerCount;
  const uint32_t *first = tree->shape->first;
  Rays r;
  for (int k = 0; k < 3; ++k) {
    r.inverse[k] = SET1(sight->inverse[k]);
    r.nearTerm[k] = SET1(sight->nearTerm[k]);
    r.farTerm[k] = SET1(sight->farTerm[k]);
  }
  for (;;) {
    pn_freshen(tree, node, fresh);
    float near[PN_LANES];
    unsigned lanes = enterNode(tree, lattice, node, sight, &r, sight->last, near);
    if (node >= innerCount) {
      if (lanes && testLeaf(tree, node, lanes, near, mode, sight, quest)) return;
    } else if (lanes && (lanes & (lanes - 1)) == 0) {
      node = first[node] + pn_firstLane(lanes);
      continue;
    } else if (PN_UNLIKELY(top + PN_LANES > WAITING_ROOM)) {
      // A tree higher than any of ours: the rest of this branch has a stack of its own.
      for (; lanes; lanes &= lanes - 1)
        WALK(tree, lattice, mode, fresh, sight, quest, first[node] + pn_firstLane(lanes));
    } else {
      top = pushLanes(stack, top, lanes, near, first[node]);
    }
    do {
      if (top == 0) return;
      --top;
    } while (stack[top].near > sight->last);
    node = stack[top].node;
  }
}

void WALK(pnTree *tree, const pnLattice *lattice, pnRayMode mode, pnFresh *fresh, pnRaySight *sight, pnRayQuest *quest,
          uint32_t root) {
  switch (mode) {
    case PN_RAY_FIRST: walk(tree, lattice, PN_RAY_FIRST, fresh, sight, quest, root); break;
    case PN_RAY_ANY: walk(tree, lattice, PN_RAY_ANY, fresh, sight, quest, root); break;
    case PN_RAY_ALL: walk(tree, lattice, PN_RAY_ALL, fresh, sight, quest, root); break;
  }
}
