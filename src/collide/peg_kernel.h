/* peg_kernel.h: the loops of peg.h. Included with LIST_LEAVES, which lists the rows of some leaves, WRITE_ROWS, which makes candidates of
 * these, and FIT, the name. A *row* is a peg that fits a leaf's hole, and is held against the eight triangles of that leaf next.
 *
 * Which fit is nothing a processor could predict: rows are listed without a branch, for several leaves, and then looked at in one loop. */

/* Leaves at a time. */
#define LEAVES 16u
/* As many are written at a time, at most. */
#define BEYOND 64u

typedef struct PegRows {
  uint32_t count;
  uint8_t peg[LEAVES * PN_SMALL_TRIANGLES + BEYOND], leaf[LEAVES * PN_SMALL_TRIANGLES + BEYOND];
} PegRows;

/* What does not change from leaf to leaf. */
typedef struct Trial {
  const pnPegs *pegs;
  const uint32_t *names; /* of the pegs */
  const pnCutting *cutting;
  uint32_t innerCount; /* of the large tree */
} Trial;

static void LIST_LEAVES(const Trial *t, const pnPair *leaves, size_t count, PegRows *rows);
static size_t WRITE_ROWS(const Trial *t, const PegRows *rows, pnPair *out);

/* The first slot of a leaf. */
PN_INLINE uint32_t slotOf(const Trial *t, uint32_t leaf) {
  return PN_LANES * (t->cutting->leaves[leaf] - t->innerCount);
}

size_t FIT(const pnPegs *pegs, const uint32_t *names, const pnCutting *cutting, uint32_t innerCount,
           const pnPair *leaves, size_t count, pnPair *out) {
  const Trial t = {pegs, names, cutting, innerCount};
  PegRows rows;
  size_t n = 0;
  for (size_t from = 0; from < count; from += LEAVES) {
    LIST_LEAVES(&t, leaves + from, PN_MIN(count - from, LEAVES), &rows);
    n += WRITE_ROWS(&t, &rows, out + n);
  }
  return n;
}
