/* traverse_square.h: the two passes of traverse_rows.h in one, where a machine tests all children of two nodes at once
 * (geom/simd_square.h). Included by traverse_step.h with SQUARE_SUMS, how many sums it takes from b's grid to a's: 0 for one
 * grid, 1 for grids apart by an offset, 2 for any two, which are shifted too.
 *
 * Which lanes overlap is the same whoever asks, and pairs are appended in the same order: a's lane by lane, and of each b's. */

/* The squares of a portion that are not empty, and which pair each is of. */
typedef struct Squares {
  size_t count;
  uint64_t square[PORTION];
  uint8_t of[PORTION];
} Squares;

/* b's numbers as a has them (pnLens). */
static void fillGlass(const pnTraversal *t, pnGlass *glass) {
  glass->shift = t->lens.shift;
  for (uint32_t k = 0; k < 2; ++k)
    for (uint32_t row = 0; row < 6; ++row) pn_h8Store(glass->sum[k][row], pn_h8Set1(t->lens.part[row / 2][row % 2][k]));
}

/* Bits of lanes that have a child. The others hold the empty interval (32767, -32768), which overlaps nothing on one grid, nor on
 * two that are apart by an offset, of 24576 cells (tree/update.c): one end stays where no number is, beyond 20480. Through a lens
 * it may close; grids over a part of a body, which have numbers everywhere, are seen through one (traverse.c). */
PN_INLINE uint64_t fullSquare(const View *A, const View *B, pnPair p) {
  if (SQUARE_SUMS < 2) return UINT64_MAX;
  return UINT64_MAX >> (64 - PN_LANES * A->count[p.a]) & UINT64_C(0x0101010101010101) * fullMask(B, p.b);
}

static void findSquares(const pnTraversal *t, const View *A, const View *B, const pnPair *in, size_t count,
                        Squares *out) {
  pnGlass glass;
  if (SQUARE_SUMS > 0) fillGlass(t, &glass);
  size_t n = 0;
  for (size_t i = 0; i < count; ++i) {
    const pnSlabLanes *a = lanesAt(A, in[i].a), *b = lanesAt(B, in[i].b);
    out->square[n] = pn_boxSquare(a->row[0][0], b->row[0][0], &glass, SQUARE_SUMS) & fullSquare(A, B, in[i]);
    out->of[n] = (uint8_t)i;
    n += out->square[n] != 0;
  }
  out->count = n;
}

/* Of a node with itself: lanes j >= i, each pair once. */
#define UPPER UINT64_C(0x80c0e0f0f8fcfeff)
/* And lanes j > i. */
#define STRICTLY_UPPER UINT64_C(0x0080c0e0f0f8fcfe)

static bool openBoth(const pnTraversal *t, pnWorker *w, const View *A, const View *B, const pnPair *in, size_t count,
                     pnPairs *next, pnPairs *leaves) {
  Squares squares;
  findSquares(t, A, B, in, count, &squares);
  w->cost.volumeTests += PN_LANES * PN_LANES * count;
  size_t room = squares.count * PN_LANES * PN_LANES + PN_LANES;
  if (!pn_arrayReserve(next, next->count + room) || !pn_arrayReserve(leaves, leaves->count + room)) return false;
  for (size_t i = 0; i < squares.count; ++i) {
    pnPair p = in[squares.of[i]];
    uint32_t childA = A->first[p.a], childB = B->first[p.b];
    uint64_t square = squares.square[i] & (t->self && p.a == p.b ? UPPER : UINT64_MAX);
    /* the children of a node are all leaves or all inner nodes */
    pnPairs *out = childA >= A->innerCount && childB >= B->innerCount ? leaves : next;
    out->count += pn_appendSquare(&out->data[out->count].a, childA, childB, square);
  }
  return true;
}

/* The neighbours of leaf a in leaf b >= a: eight rows of eight lanes, as a square has them. Where all links of a leaf are looked at at once,
 * nothing depends on how many they are. */
PN_INLINE uint64_t linkSquare(const pnTree *tree, uint32_t a, uint32_t b) {
  uint64_t square;
#ifdef PN_SEEK_MOST
  uint32_t from = tree->shape->linkFirst[a], count = tree->shape->linkFirst[a + 1] - from;
  if (PN_LIKELY(count - 1 < PN_SEEK_MOST)) {
    const pnLeafLink *links = tree->shape->links + from;
    uint64_t found = pn_seekThirds(links, count, b);
    /* whether there is one nobody can predict: without, the first is read for nothing */
    uint32_t at = (uint32_t)__builtin_ctzll(found | (uint64_t)1 << 63) / PN_SEEK_STEP;
    memcpy(&square, links[at < count ? at : 0].row, sizeof square);
    return at < count ? square : 0;
  }
#endif
  memcpy(&square, pn_linkRows(tree, a, b), sizeof square);
  return square;
}

/* Pairs of leaves into pairs of slots; neighbours are left out of self queries. */
static bool openLeafPairs(const pnTraversal *t, pnWorker *w, const View *A, const View *B, const pnPair *in,
                          size_t count, pnPairs *candidates) {
  Squares squares;
  findSquares(t, A, B, in, count, &squares);
  w->cost.volumeTests += PN_LANES * PN_LANES * count;
  size_t room = squares.count * PN_LANES * PN_LANES + PN_LANES;
  if (!pn_arrayReserve(candidates, candidates->count + room)) return false;
  pnPair *at = candidates->data + candidates->count;
  for (size_t i = 0; i < squares.count; ++i) {
    uint32_t a = in[squares.of[i]].a - A->innerCount, b = in[squares.of[i]].b - B->innerCount;
    uint64_t square = squares.square[i];
    if (t->self) square &= ~linkSquare(t->a, a, b) & (a == b ? STRICTLY_UPPER : UINT64_MAX);
    at += pn_appendSquare(&at->a, a * PN_LANES, b * PN_LANES, square);
  }
  candidates->count = (size_t)(at - candidates->data);
  return true;
}
