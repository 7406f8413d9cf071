/* traverse_step.h: the dual traversal, written once. Included by traverse_*.c with these defined:
 *
 *   Regs                          the volumes of the children of one node, loaded
 *   LOAD_A(t, node, regs)         of a; LOAD_B of b, as seen from a
 *   MASK_A(t, regs, node, lane)   which of the loaded volumes of a overlap the volume in a lane of a node of b
 *   MASK_B(t, regs, node, lane)   which of the loaded volumes of b overlap the volume in a lane of a node of a
 *   STEPS                         the name of the table
 *
 * A pair (a, b) is opened on both sides at once, in two passes over a portion of pairs. First: the children of a that
 * overlap b, unless no child of b overlaps a; each is a *row* (a * 8 + lane, b). Then, row by row: the children of b
 * that overlap that child of a. Both passes append through a table without a branch: how many lanes survive is the
 * one thing nobody can predict, and two straight loops cost less than one loop inside another that ends by surprise. The
 * volume of a node is a lane of its parent. */

/* Pairs in a portion: their rows stay in the first cache. */
#define PORTION 64u

typedef struct Rows {
  size_t count;
  pnPair row[PORTION * PN_LANES + PN_LANES];
} Rows;

PN_INLINE unsigned fullMask(const pnTree *tree, uint32_t node) { return (1u << tree->count[node]) - 1; }

/* The first pass for one pair whose nodes are both opened. */
PN_INLINE void addRows(const pnTraversal *t, pnWorker *w, uint32_t a, uint32_t b, Rows *rows) {
  pnTree *A = t->a, *B = t->b;
  uint32_t pa = A->parent[a], pb = B->parent[b];
  pn_freshen(A, a, &w->fresh);
  pn_freshen(B, b, &w->fresh);
  Regs ra, rb;
  LOAD_A(t, a, &ra);
  LOAD_B(t, b, &rb);
  unsigned ma = MASK_A(t, &ra, pb / PN_LANES, pb % PN_LANES) & fullMask(A, a);
  unsigned mb = MASK_B(t, &rb, pa / PN_LANES, pa % PN_LANES) & fullMask(B, b);
  ma = mb ? ma : 0;
  pn_appendLanesFirst(&rows->row[rows->count].a, a * PN_LANES, b, ma);
  rows->count += pn_laneCount(ma);
}

/* The second pass for one row: lanes of b's children. */
PN_INLINE unsigned rowMask(const pnTraversal *t, pnPair row) {
  Regs rb;
  LOAD_B(t, row.b, &rb);
  return MASK_B(t, &rb, row.a / PN_LANES, row.a % PN_LANES) & fullMask(t->b, row.b);
}

/* A pair of a leaf and an inner node: only the inner node is opened. */
static bool openOneSide(const pnTraversal *t, pnWorker *w, uint32_t a, uint32_t b, pnPairs *next, pnPairs *leaves) {
  pnTree *A = t->a, *B = t->b;
  uint32_t pa = A->parent[a], pb = B->parent[b];
  bool openA = !pn_isLeaf(A, a);
  pnTree *tree = openA ? A : B;
  uint32_t node = openA ? a : b;
  pnPairs *out = pn_isLeaf(tree, tree->first[node]) ? leaves : next;
  if (!pn_arrayReserve(out, out->count + PN_LANES)) {
    return false;
  }
  pn_freshen(tree, node, &w->fresh);
  Regs r;
  unsigned m;
  if (openA) {
    LOAD_A(t, a, &r);
    m = MASK_A(t, &r, pb / PN_LANES, pb % PN_LANES) & fullMask(A, a);
  } else {
    LOAD_B(t, b, &r);
    m = MASK_B(t, &r, pa / PN_LANES, pa % PN_LANES) & fullMask(B, b);
  }
  for (; m != 0; m &= m - 1) {
    uint32_t child = tree->first[node] + pn_firstLane(m);
    out->data[out->count++] = openA ? (pnPair){child, b} : (pnPair){a, child};
  }
  w->cost.volumeTests += PN_LANES;
  return true;
}

/* Rows of inner nodes into pairs of their children. */
static bool openRows(const pnTraversal *t, const Rows *rows, pnPairs *next, pnPairs *leaves) {
  const pnTree *A = t->a, *B = t->b;
  size_t room = rows->count * PN_LANES + PN_LANES;
  if (!pn_arrayReserve(next, next->count + room) || !pn_arrayReserve(leaves, leaves->count + room)) {
    return false;
  }
  for (size_t i = 0; i < rows->count; i++) {
    pnPair row = rows->row[i];
    uint32_t a = row.a / PN_LANES, j = row.a % PN_LANES, childA = A->first[a], childB = B->first[row.b];
    unsigned m = rowMask(t, row);
    if (t->self && a == row.b) {
      m &= 0xffu << j; /* each pair of children once, and each with itself */
    }
    /* the children of a node are all leaves or all inner nodes */
    pnPairs *out = pn_isLeaf(A, childA) && pn_isLeaf(B, childB) ? leaves : next;
    pn_appendLanes(&out->data[out->count].a, childA + j, childB, m);
    out->count += pn_laneCount(m);
  }
  return true;
}

static bool openNodes(const pnTraversal *t, pnWorker *w, const pnPair *in, size_t count, pnPairs *next, pnPairs *leaves) {
  for (size_t from = 0; from < count; from += PORTION) {
    size_t end = PN_MIN(count, from + PORTION);
    Rows rows;
    rows.count = 0;
    for (size_t i = from; i < end; i++) {
      uint32_t a = in[i].a, b = in[i].b;
      if (PN_LIKELY(!pn_isLeaf(t->a, a) && !pn_isLeaf(t->b, b))) {
        addRows(t, w, a, b, &rows);
      } else if (!openOneSide(t, w, a, b, next, leaves)) {
        return false;
      }
    }
    w->cost.volumeTests += 2 * PN_LANES * (end - from) + PN_LANES * rows.count;
    if (!openRows(t, &rows, next, leaves)) {
      return false;
    }
  }
  w->cost.nodePairs += count;
  return true;
}

/* Rows of leaves into pairs of slots; neighbours are left out of self queries. */
static bool openLeafRows(const pnTraversal *t, const Rows *rows, pnPairs *candidates) {
  const pnTree *A = t->a, *B = t->b;
  if (!pn_arrayReserve(candidates, candidates->count + rows->count * PN_LANES + PN_LANES)) {
    return false;
  }
  pnPair *at = candidates->data + candidates->count;
  uint32_t a = PN_NONE, b = PN_NONE;
  const uint8_t *links = NULL;
  for (size_t i = 0; i < rows->count; i++) {
    pnPair row = rows->row[i];
    uint32_t j = row.a % PN_LANES;
    unsigned m = rowMask(t, row);
    if (t->self) {
      if (row.a / PN_LANES != a || row.b != b) {
        a = row.a / PN_LANES;
        b = row.b;
        links = pn_linkRows(A, a - A->innerCount, b - B->innerCount);
      }
      m &= ~(unsigned)links[j] & (a == b ? 0xfeu << j : 0xffu);
    }
    pn_appendLanes(&at->a, row.a - A->innerCount * PN_LANES, (row.b - B->innerCount) * PN_LANES, m);
    at += pn_laneCount(m);
  }
  candidates->count = (size_t)(at - candidates->data);
  return true;
}

static bool openLeaves(const pnTraversal *t, pnWorker *w, const pnPair *in, size_t count, pnPairs *candidates) {
  for (size_t from = 0; from < count; from += PORTION) {
    size_t end = PN_MIN(count, from + PORTION);
    Rows rows;
    rows.count = 0;
    for (size_t i = from; i < end; i++) {
      addRows(t, w, in[i].a, in[i].b, &rows);
    }
    w->cost.volumeTests += 2 * PN_LANES * (end - from) + PN_LANES * rows.count;
    if (!openLeafRows(t, &rows, candidates)) {
      return false;
    }
  }
  w->cost.leafPairs += count;
  return true;
}

const pnSteps STEPS = {openNodes, openLeaves};
