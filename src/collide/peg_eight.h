/* peg_eight.h: the loops of peg.h eight boxes at a time. Included with FIT_HOLES(peg, holes), which of eight holes a peg fits, and
 * FIT_PEGS(pegs, hole), which of eight pegs fit a hole, as bits, and FIT, the name. */
#define LIST_LEAVES listLeaves8
#define WRITE_ROWS writeRows8
#include "collide/peg_kernel.h"

static void listLeaves8(const Trial *t, const pnPair *leaves, size_t count, PegRows *rows) {
  uint32_t n = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t *hole = t->cutting->leafHole[leaves[i].a];
    for (uint32_t first = 0; first < t->pegs->count; first += 8) {
      memset(rows->leaf + n, (int)leaves[i].a, 8);
      n += pn_listLanes(FIT_PEGS(t->pegs->peg[first], hole), first, rows->peg + n);
    }
  }
  rows->count = n;
}

static size_t writeRows8(const Trial *t, const PegRows *rows, pnPair *out) {
  size_t n = 0;
  for (uint32_t i = 0; i < rows->count; ++i) {
    uint32_t peg = rows->peg[i], leaf = rows->leaf[i];
    unsigned mask = FIT_HOLES(t->pegs->peg[peg], t->cutting->hole[leaf][0]);
    pn_appendLanesFirst(&out[n].a, slotOf(t, leaf), t->names[peg], mask);
    n += pn_laneCount(mask);
  }
  return n;
}
