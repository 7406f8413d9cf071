/* traverse_step.h: the dual traversal, written once. Included by traverse_*.c with these defined:
 *
 *   Regs                          the volumes of the children of one node, loaded
 *   LOAD_A(t, node, regs)         of a; LOAD_B of b, as seen from a
 *   MASK_A(t, regs, node, lane)   which of the loaded volumes of a overlap the volume in a lane of a node of b
 *   MASK_B(t, regs, node, lane)   which of the loaded volumes of b overlap the volume in a lane of a node of a
 *   STEPS                         the name of the table
 *
 * A pair (a, b) of inner nodes is opened on both sides at once: the children of a that overlap b, the children of b that
 * overlap a, then those of a against those of b, one against eight. The volume of a node is a lane of its parent. */

/* Room for what one pair can add: 64 pairs and the 8 that pn_appendLanes writes beyond. */
#define ROOM 72u

PN_INLINE unsigned fullMask(const pnTree *tree, uint32_t node) { return (1u << tree->count[node]) - 1; }

static bool openNodes(const pnTraversal *t, pnWorker *w, const pnPair *in, size_t count, pnPairs *next, pnPairs *leaves) {
  pnTree *A = t->a, *B = t->b;
  uint64_t tests = 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t a = in[i].a, b = in[i].b, pa = A->parent[a], pb = B->parent[b];
    bool openA = !pn_isLeaf(A, a), openB = !pn_isLeaf(B, b);
    /* where the children go: the children of a node are all leaves or all inner nodes */
    bool leafA = !openA || pn_isLeaf(A, A->first[a]), leafB = !openB || pn_isLeaf(B, B->first[b]);
    pnPairs *out = leafA && leafB ? leaves : next;
    if (!pn_arrayReserve(out, out->count + ROOM)) {
      return false;
    }
    pnPair *at = out->data + out->count;
    Regs ra, rb;
    unsigned ma = 0, mb = 0;
    if (openA) {
      pn_freshen(A, a);
      LOAD_A(t, a, &ra);
      ma = MASK_A(t, &ra, pb / PN_LANES, pb % PN_LANES) & fullMask(A, a);
    }
    if (openB) {
      pn_freshen(B, b);
      LOAD_B(t, b, &rb);
      mb = MASK_B(t, &rb, pa / PN_LANES, pa % PN_LANES) & fullMask(B, b);
    }
    tests += 8u * openA + 8u * openB;
    if (openA && openB) {
      for (unsigned left = mb ? ma : 0; left != 0; left &= left - 1) {
        uint32_t j = pn_firstLane(left);
        unsigned m = MASK_B(t, &rb, a, j) & mb;
        if (t->self && a == b) {
          m &= 0xffu << j; /* each pair of children once, and each with itself */
        }
        pn_appendLanes(&at->a, A->first[a] + j, B->first[b], m);
        at += pn_laneCount(m);
        tests += 8;
      }
    } else {
      for (; ma != 0; ma &= ma - 1) {
        *at++ = (pnPair){A->first[a] + pn_firstLane(ma), b};
      }
      for (; mb != 0; mb &= mb - 1) {
        *at++ = (pnPair){a, B->first[b] + pn_firstLane(mb)};
      }
    }
    out->count = (size_t)(at - out->data);
  }
  w->cost.nodePairs += count;
  w->cost.volumeTests += tests;
  return true;
}

/* Appends the candidates of one pair of leaves. */
PN_INLINE pnPair *openLeafPair(const pnTraversal *t, uint32_t a, uint32_t b, pnPair *at, uint64_t *tests) {
  pnTree *A = t->a, *B = t->b;
  uint32_t pa = A->parent[a], pb = B->parent[b];
  pn_freshen(A, a);
  pn_freshen(B, b);
  Regs ra, rb;
  LOAD_A(t, a, &ra);
  LOAD_B(t, b, &rb);
  unsigned ma = MASK_A(t, &ra, pb / PN_LANES, pb % PN_LANES) & fullMask(A, a);
  unsigned mb = MASK_B(t, &rb, pa / PN_LANES, pa % PN_LANES) & fullMask(B, b);
  *tests += 16;
  if (!ma || !mb) {
    return at;
  }
  uint32_t slotA = (a - A->innerCount) * PN_LANES, slotB = (b - B->innerCount) * PN_LANES;
  const uint8_t *rows = t->self ? pn_linkRows(A, slotA / PN_LANES, slotB / PN_LANES) : NULL;
  for (; ma != 0; ma &= ma - 1) {
    uint32_t j = pn_firstLane(ma);
    unsigned m = MASK_B(t, &rb, a, j) & mb;
    if (rows) {
      m &= ~(unsigned)rows[j] & (a == b ? 0xfeu << j : 0xffu);
    }
    pn_appendLanes(&at->a, slotA + j, slotB, m);
    at += pn_laneCount(m);
    *tests += 8;
  }
  return at;
}

static bool openLeaves(const pnTraversal *t, pnWorker *w, const pnPair *in, size_t count, pnPairs *candidates) {
  uint64_t tests = 0;
  for (size_t i = 0; i < count; i++) {
    if (PN_UNLIKELY(!pn_arrayReserve(candidates, candidates->count + ROOM))) {
      return false;
    }
    pnPair *at = openLeafPair(t, in[i].a, in[i].b, candidates->data + candidates->count, &tests);
    candidates->count = (size_t)(at - candidates->data);
  }
  w->cost.leafPairs += count;
  w->cost.volumeTests += tests;
  return true;
}

const pnSteps STEPS = {openNodes, openLeaves};
