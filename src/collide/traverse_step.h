/* traverse_step.h: the dual traversal, written once. Included by traverse_*.c with these defined:
 *
 *   Regs                          the volumes of the children of one node, loaded
 *   LOAD_A(t, view, node, regs)         of a; LOAD_B of b, as seen from a
 *   MASK_A(t, regs, view, node, lane)   which of the loaded volumes of a overlap the volume in a lane of a node of b
 *   MASK_B(t, regs, view, node, lane)   which of the loaded volumes of b overlap the volume in a lane of a node of a
 *   Mask, MASK4(m, m, m, m)             what they return, and four of them as the bytes of one number
 *   FULL(view, node)                    lanes that have a child, or all where others never overlap
 *   STEPS                         the name of the table
 *
 * A pair (a, b) is opened on both sides at once, in two passes over a portion of pairs. First: the children of a that
 * overlap b, unless no child of b overlaps a; each is a *row* (a * 8 + lane, b). Then, row by row: the children of b
 * that overlap that child of a. Both passes append through a table without a branch: how many lanes survive is the
 * one thing nobody can predict, and two straight loops cost less than one loop inside another that ends by surprise. The
 * volume of a node is a lane of its parent. */

/* Pairs in a portion: their rows stay in the first cache. */
#define PORTION 64u
/* The volumes of a box node are in two cache lines, wherever it begins. */
#define PREFETCH(v, node)                                               \
  do {                                                                  \
    const char *at = (v)->lanes + (size_t)(node)*NODE_BYTES((v)->tree); \
    __builtin_prefetch(at);                                             \
    __builtin_prefetch(at + 64);                                        \
  } while (0)

/* How long the box of a node is, in cells of its tree. */
PN_INLINE int32_t lengthInCells(const View *v, uint32_t node) {
  uint32_t p = v->parent[node], j = p % PN_LANES;
  const pnBoxLanes *lanes = pn_lanesOf(v->tree, p / PN_LANES);
  return (lanes->row[0][1][j] - lanes->row[0][0][j]) + (lanes->row[1][1][j] - lanes->row[1][0][j]) +
         (lanes->row[2][1][j] - lanes->row[2][0][j]);
}

typedef enum Opened { BOTH, ONLY_A, ONLY_B } Opened;

/* What is opened of a pair of nodes that are not both leaves. In an uneven traversal (boxes and k-DOPs) the side that is
 * twice as long, or the one that the laboratory asks for; a's cells are 2^shift of b's. Of two alike, one of which has leaves below
 * it, the other: so leaves are met in squares, and not one by one by the nodes of a body that has more levels left. Which is opened
 * changes how much is looked at, never what is found. */
PN_INLINE Opened sideOf(const pnTraversal *t, const View *A, const View *B, pnPair pair) {
  bool innerA = pair.a < A->innerCount, innerB = pair.b < B->innerCount;
  if (PN_LIKELY(innerA && innerB && !t->uneven)) return BOTH;
  if (!innerA || !innerB) return innerA ? ONLY_A : ONLY_B;
  int64_t x = (int64_t)lengthInCells(A, pair.a) << PN_MIN(t->lens.shift, 15), y = lengthInCells(B, pair.b);
  if (t->open != PN_OPEN_DEFAULT) return (x < y) == (t->open == PN_OPEN_SMALLER) ? ONLY_A : ONLY_B;
  if (x > 2 * y || y > 2 * x) return x > y ? ONLY_A : ONLY_B;
  bool twigA = A->first[pair.a] >= A->innerCount, twigB = B->first[pair.b] >= B->innerCount;
  return twigA == twigB ? BOTH : twigA ? ONLY_B : ONLY_A;
}

/* Makes a stale pair of nodes ready to be opened. The side that is ready is asked first: where none of its children overlaps
 * the other node, that node need not be filled, and false comes back. A leaf of a character that stands near a wall costs
 * all its vertices to fill; half of those that are reached go without. For bodies whose vertices lie ready it is not
 * worth asking. */
static bool makeReady(const pnTraversal *t, pnFresh *fresh, const View *A, const View *B, pnPair pair) {
  uint32_t pa = A->parent[pair.a], pb = B->parent[pair.b];
  Regs r;
  Mask mask;
  if (isStale(A, pair.a) && !isStale(B, pair.b)) {
    LOAD_B(t, B, pair.b, &r);
    mask = MASK_B(t, &r, A, pa / PN_LANES, pa % PN_LANES);
    if ((MASK4(mask, mask, mask, mask) & FULL(B, pair.b)) == 0) return false;
    freshen(A, pair.a, fresh);
    return true;
  }
  freshen(A, pair.a, fresh);
  LOAD_A(t, A, pair.a, &r);
  mask = MASK_A(t, &r, B, pb / PN_LANES, pb % PN_LANES);
  if ((MASK4(mask, mask, mask, mask) & FULL(A, pair.a)) == 0) return false;
  freshen(B, pair.b, fresh);
  return true;
}

static size_t keepReady(const pnTraversal *t, pnWorker *w, pnPair *pairs, size_t count) {
  const View A = viewOf(t->a), B = viewOf(t->b);
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    pnPair p = pairs[i];
    /* where only one side is opened, that is the one to be filled */
    bool both = (p.a >= A.innerCount && p.b >= B.innerCount) || sideOf(t, &A, &B, p) == BOTH;
    pairs[kept] = p;
    if (!both || (!isStale(&A, p.a) && !isStale(&B, p.b)) || makeReady(t, &w->fresh, &A, &B, p)) {
      ++kept;
    } else {
      /* a pair that was opened on one side */
      *(p.a < A.innerCount ? &w->cost.nodePairs : &w->cost.leafPairs) += 1;
    }
  }
  w->cost.volumeTests += PN_LANES * (count - kept);
  return kept;
}

/* Makes the nodes of a portion fresh that are opened on both sides. Who is stale is nothing a processor could predict, so
 * they are listed without a branch first. */
static void freshenPortion(const View *A, const View *B, const pnPair *in, size_t count, pnFresh *fresh) {
  uint32_t listA[PORTION], listB[PORTION];
  uint32_t staleA = 0, staleB = 0;
  bool alone = fresh->alone;
  for (size_t i = 0; i < count; ++i) {
    uint32_t a = in[i].a, b = in[i].b;
    bool both = (a < A->innerCount) == (b < B->innerCount);
    PREFETCH(A, a);
    PREFETCH(B, b);
    listA[staleA] = a;
    listB[staleB] = b;
    staleA += both & (alone ? isStaleAlone(A, a) : isStale(A, a));
    staleB += both & (alone ? isStaleAlone(B, b) : isStale(B, b));
  }
  pn_freshenMany(A->tree, listA, staleA, fresh);
  pn_freshenMany(B->tree, listB, staleB, fresh);
}

#ifdef SQUARE_SUMS
#include "collide/traverse_square.h"
#else
#include "collide/traverse_rows.h"
#endif

/* Opens one node of a pair. */
static bool openOneSide(const pnTraversal *t, pnWorker *w, const View *A, const View *B, pnPair pair, bool openA,
                        pnPairs *next, pnPairs *leaves) {
  uint32_t a = pair.a, b = pair.b, pa = A->parent[a], pb = B->parent[b];
  const View *view = openA ? A : B;
  uint32_t node = openA ? a : b;
  bool otherIsLeaf = openA ? b >= B->innerCount : a >= A->innerCount;
  pnPairs *out = otherIsLeaf && view->first[node] >= view->innerCount ? leaves : next;
  if (!pn_arrayReserve(out, out->count + PN_LANES)) return false;
  freshen(view, node, &w->fresh);
  Regs r;
  uint32_t first = view->first[node], *at = &out->data[out->count].a;
  unsigned m = fullMask(view, node);
  if (openA) {
    LOAD_A(t, A, a, &r);
    Mask mask = MASK_A(t, &r, B, pb / PN_LANES, pb % PN_LANES);
    m &= MASK4(mask, mask, mask, mask);
    pn_appendLanesFirst(at, first, b, m);
  } else {
    LOAD_B(t, B, b, &r);
    Mask mask = MASK_B(t, &r, A, pa / PN_LANES, pa % PN_LANES);
    m &= MASK4(mask, mask, mask, mask);
    pn_appendLanes(at, a, first, m);
  }
  out->count += pn_laneCount(m);
  w->cost.volumeTests += PN_LANES;
  return true;
}

static bool openNodes(const pnTraversal *t, pnWorker *w, const pnPair *in, size_t count, pnPairs *next,
                      pnPairs *leaves) {
  const View A = viewOf(t->a), B = viewOf(t->b);
  for (size_t from = 0; from < count; from += PORTION) {
    size_t end = PN_MIN(count, from + PORTION);
    pnPair both[PORTION];
    size_t n = 0;
    for (size_t i = from; i < end; ++i) {
      Opened side = sideOf(t, &A, &B, in[i]);
      if (PN_LIKELY(side == BOTH)) both[n++] = in[i];
      else if (!openOneSide(t, w, &A, &B, in[i], side == ONLY_A, next, leaves)) return false;
    }
    if (n == 0) continue; /* most portions of an uneven traversal */
    freshenPortion(&A, &B, both, n, &w->fresh);
    if (!openBoth(t, w, &A, &B, both, n, next, leaves)) return false;
  }
  w->cost.nodePairs += count;
  return true;
}

static bool openLeaves(const pnTraversal *t, pnWorker *w, const pnPair *in, size_t count, pnPairs *candidates) {
  const View A = viewOf(t->a), B = viewOf(t->b);
  for (size_t from = 0; from < count; from += PORTION) {
    size_t end = PN_MIN(count, from + PORTION);
    freshenPortion(&A, &B, in + from, end - from, &w->fresh);
    if (!openLeafPairs(t, w, &A, &B, in + from, end - from, candidates)) return false;
  }
  w->cost.leafPairs += count;
  return true;
}

const pnSteps STEPS = {openNodes, openLeaves, keepReady};
