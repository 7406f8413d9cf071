/* traverse_rows.h: the two passes of the dual traversal, a row at a time. Included by traverse_step.h, which has the macros.
 *
 * First: the children of a that overlap b; each is a *row* (a * 8 + lane, b). Then, row by row: the children of b that overlap that child
 * of a. Both passes append through a table without a branch: how many lanes survive is the one thing nobody can predict, and two
 * straight loops cost less than one loop inside another that ends by surprise. (To ask first whether a child of b overlaps a costs as
 * much as a row for every pair, and saves the rows of one in eight.) */

/* Four masks of rows in a number. */
#define ROW_MASKS (PORTION * PN_LANES / 4)

typedef struct Rows {
  size_t count;
  pnPair row[PORTION * PN_LANES + PN_LANES]; /* and what pn_appendLanesFirst writes beyond */
  uint8_t of[PORTION * PN_LANES + PN_LANES]; /* self: the pair that a row is of */
} Rows;

/* The first pass for four pairs: children of a that overlap b, a byte each. */
PN_INLINE uint32_t pairMasks(const pnTraversal *t, const View *A, const View *B, const pnPair *in, size_t last) {
  Mask m[4];
  for (size_t i = 0; i < 4; ++i) {
    pnPair p = in[PN_MIN(i, last)];
    uint32_t parent = B->parent[p.b];
    Regs ra;
    LOAD_A(t, A, p.a, &ra);
    m[i] = MASK_A(t, &ra, B, parent / PN_LANES, parent % PN_LANES);
  }
  return MASK4(m[0], m[1], m[2], m[3]);
}

/* Rows of pairs that are opened on both sides. */
static void addRows(const pnTraversal *t, const View *A, const View *B, const pnPair *in, size_t count, Rows *rows) {
  uint32_t masks[PORTION / 4];
  for (size_t i = 0; i < count; i += 4) masks[i / 4] = pairMasks(t, A, B, in + i, count - i - 1);
  size_t n = 0;
  for (size_t i = 0; i < count; ++i) {
    unsigned m = masks[i / 4] >> (i % 4 * 8) & FULL(A, in[i].a) & 0xff;
    pn_appendLanesFirst(&rows->row[n].a, in[i].a * PN_LANES, in[i].b, m);
    if (t->self) memset(rows->of + n, (int)i, PN_LANES);
    n += pn_laneCount(m);
  }
  rows->count = n;
}

/* The second pass for four rows: lanes of b's children, a byte each. Rows past the end are made up. */
PN_INLINE uint32_t rowMasks(const pnTraversal *t, const View *A, const View *B, const pnPair *row) {
  Mask m[4];
  for (int i = 0; i < 4; ++i) {
    Regs rb;
    LOAD_B(t, B, row[i].b, &rb);
    m[i] = MASK_B(t, &rb, A, row[i].a / PN_LANES, row[i].a % PN_LANES);
  }
  return MASK4(m[0], m[1], m[2], m[3]);
}

/* Of all rows. Up to the next multiple of four they are copies of the last, so that there is something to load. */
static void maskRows(const pnTraversal *t, const View *A, const View *B, Rows *rows, uint32_t *masks) {
  for (size_t i = rows->count; rows->count > 0 && i % 4 != 0; ++i) rows->row[i] = rows->row[rows->count - 1];
  for (size_t i = 0; i < rows->count; i += 4) masks[i / 4] = rowMasks(t, A, B, &rows->row[i]);
}

/* Rows of inner nodes into pairs of their children. */
static bool openRows(const pnTraversal *t, const View *A, const View *B, Rows *rows, pnPairs *next, pnPairs *leaves) {
  size_t room = rows->count * PN_LANES + PN_LANES;
  if (!pn_arrayReserve(next, next->count + room) || !pn_arrayReserve(leaves, leaves->count + room)) return false;
  uint32_t masks[ROW_MASKS];
  maskRows(t, A, B, rows, masks);
  for (size_t i = 0; i < rows->count; ++i) {
    pnPair row = rows->row[i];
    uint32_t a = row.a / PN_LANES, j = row.a % PN_LANES, childA = A->first[a], childB = B->first[row.b];
    unsigned m = masks[i / 4] >> (i % 4 * 8) & FULL(B, row.b) & 0xff;
    if (t->self && a == row.b) m &= 0xffu << j; /* each pair of children once, and each with itself */
    /* the children of a node are all leaves or all inner nodes */
    pnPairs *out = childA >= A->innerCount && childB >= B->innerCount ? leaves : next;
    pn_appendLanes(&out->data[out->count].a, childA + j, childB, m);
    out->count += pn_laneCount(m);
  }
  return true;
}

/* Lanes of four rows of leaves, a byte each, that may become candidates: those there are, and in a self query each pair once and no
 * neighbours (links, one a pair). */
PN_INLINE uint32_t lanesOfRows(const pnTraversal *t, const View *B, const Rows *rows, const uint8_t *const *links,
                               size_t first) {
  (void)B; /* on one grid all lanes are full */
  uint32_t lanes = 0;
  size_t count = PN_MIN(rows->count - first, 4);
  for (size_t i = 0; i < count; ++i) {
    pnPair row = rows->row[first + i];
    uint32_t j = row.a % PN_LANES;
    unsigned m = FULL(B, row.b);
    if (t->self) m &= ~(unsigned)links[rows->of[first + i]][j] & (row.a / PN_LANES == row.b ? 0xfeu << j : 0xffu);
    lanes |= (m & 0xff) << 8 * i;
  }
  return lanes;
}

/* Rows of leaves into pairs of slots. Of a body alone nothing comes of nearly all: then four are passed over at once. */
static bool openLeafRows(const pnTraversal *t, const View *A, const View *B, Rows *rows, const uint8_t *const *links,
                         pnPairs *candidates) {
  if (!pn_arrayReserve(candidates, candidates->count + rows->count * PN_LANES + PN_LANES)) return false;
  pnPair *at = candidates->data + candidates->count;
  uint32_t masks[ROW_MASKS];
  maskRows(t, A, B, rows, masks);
  for (size_t i = 0; i < rows->count; i += 4) {
    uint32_t four = masks[i / 4] & lanesOfRows(t, B, rows, links, i);
    if (four == 0) continue;
    for (size_t k = 0; k < 4; ++k, four >>= 8) {
      pnPair row = rows->row[i + k];
      pn_appendLanes(&at->a, row.a - A->innerCount * PN_LANES, (row.b - B->innerCount) * PN_LANES, four & 0xff);
      at += pn_laneCount(four & 0xff);
    }
  }
  candidates->count = (size_t)(at - candidates->data);
  return true;
}

static bool openBoth(const pnTraversal *t, pnWorker *w, const View *A, const View *B, const pnPair *in, size_t count,
                     pnPairs *next, pnPairs *leaves) {
  Rows rows;
  addRows(t, A, B, in, count, &rows);
  w->cost.volumeTests += PN_LANES * (count + rows.count);
  return openRows(t, A, B, &rows, next, leaves);
}

static bool openLeafPairs(const pnTraversal *t, pnWorker *w, const View *A, const View *B, const pnPair *in,
                          size_t count, pnPairs *candidates) {
  Rows rows;
  const uint8_t *links[PORTION];
  for (size_t i = 0; t->self && i < count; ++i)
    links[i] = pn_linkRows(t->a, in[i].a - A->innerCount, in[i].b - B->innerCount);
  addRows(t, A, B, in, count, &rows);
  w->cost.volumeTests += PN_LANES * (count + rows.count);
  return openLeafRows(t, A, B, &rows, links, candidates);
}
