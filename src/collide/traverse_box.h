/* traverse_box.h: slabs on one grid, or on two seen through a lens. Included with SLABS (how many directions), LENS (0 or
 * 1) and STEPS defined. Sixteen-bit intervals, eight at a time: one volume against eight takes 2 * SLABS compares. */

typedef struct Regs {
  pnH8 lo[PN_MAX_SLABS], hi[PN_MAX_SLABS];
} Regs;

/* One row of b as a sees it. */
PN_INLINE pnH8 throughLens(const pnLens *lens, uint32_t d, int side, pnH8 v) {
  v = pn_h8ShiftRight(v, lens->shift);
  v = pn_h8AddSat(v, pn_h8Set1(lens->part[d][side][0]));
  return pn_h8AddSat(v, pn_h8Set1(lens->part[d][side][1]));
}

PN_INLINE void loadA(const pnTraversal *t, uint32_t node, Regs *r) {
  const pnBoxLanes *lanes = pn_lanesOf(t->a, node);
  for (uint32_t d = 0; d < SLABS; d++) {
    r->lo[d] = pn_h8Load(lanes->row[d][0]);
    r->hi[d] = pn_h8Load(lanes->row[d][1]);
  }
}

PN_INLINE void loadB(const pnTraversal *t, uint32_t node, Regs *r) {
  const pnBoxLanes *lanes = pn_lanesOf(t->b, node);
  for (uint32_t d = 0; d < SLABS; d++) {
    r->lo[d] = pn_h8Load(lanes->row[d][0]);
    r->hi[d] = pn_h8Load(lanes->row[d][1]);
    if (LENS) {
      r->lo[d] = throughLens(&t->lens, d, 0, r->lo[d]);
      r->hi[d] = throughLens(&t->lens, d, 1, r->hi[d]);
    }
  }
}

PN_INLINE unsigned maskB(const pnTraversal *t, const Regs *r, uint32_t node, uint32_t lane) {
  const pnBoxLanes *one = pn_lanesOf(t->a, node);
  pnH8 m = pn_h8Set1(-1);
  for (uint32_t d = 0; d < SLABS; d++) {
    m = pn_h8And(m, pn_h8And(pn_h8LessEqual(r->lo[d], pn_h8Dup(&one->row[d][1][lane])),
                             pn_h8LessEqual(pn_h8Dup(&one->row[d][0][lane]), r->hi[d])));
  }
  return pn_h8Mask(m);
}

PN_INLINE unsigned maskA(const pnTraversal *t, const Regs *r, uint32_t node, uint32_t lane) {
  const pnBoxLanes *one = pn_lanesOf(t->b, node);
  pnH8 m = pn_h8Set1(-1);
  for (uint32_t d = 0; d < SLABS; d++) {
    pnH8 lo = pn_h8Dup(&one->row[d][0][lane]), hi = pn_h8Dup(&one->row[d][1][lane]);
    if (LENS) {
      lo = throughLens(&t->lens, d, 0, lo);
      hi = throughLens(&t->lens, d, 1, hi);
    }
    m = pn_h8And(m, pn_h8And(pn_h8LessEqual(r->lo[d], hi), pn_h8LessEqual(lo, r->hi[d])));
  }
  return pn_h8Mask(m);
}

#define LOAD_A loadA
#define LOAD_B loadB
#define MASK_A maskA
#define MASK_B maskB
#include "collide/traverse_step.h"
