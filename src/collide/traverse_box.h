/* traverse_box.h: slabs on one grid, or on two seen through a lens. Included with SLABS (how many directions), LENS (0 or
 * 1), STEPS and NODE_BYTES(tree) defined. Sixteen-bit intervals, eight at a time: one volume against eight takes 2 * SLABS
 * compares. */

typedef struct Regs {
  pnH8 lo[PN_MAX_SLABS], hi[PN_MAX_SLABS];
} Regs;

PN_INLINE const pnBoxLanes *lanesAt(const View *v, uint32_t node) {
  return (const pnBoxLanes *)(v->lanes + (size_t)node * NODE_BYTES(v->tree));
}

/* One row of b as a sees it. */
PN_INLINE pnH8 throughLens(const pnLens *lens, uint32_t d, int side, pnH8 v) {
  v = pn_h8ShiftRight(v, lens->shift);
  v = pn_h8AddSat(v, pn_h8Set1(lens->part[d][side][0]));
  return pn_h8AddSat(v, pn_h8Set1(lens->part[d][side][1]));
}

PN_INLINE void loadA(const pnTraversal *t, const View *v, uint32_t node, Regs *r) {
  (void)t;
  const pnBoxLanes *lanes = lanesAt(v, node);
  for (uint32_t d = 0; d < SLABS; d++) {
    r->lo[d] = pn_h8Load(lanes->row[d][0]);
    r->hi[d] = pn_h8Load(lanes->row[d][1]);
  }
}

PN_INLINE void loadB(const pnTraversal *t, const View *v, uint32_t node, Regs *r) {
  loadA(t, v, node, r);
  for (uint32_t d = 0; LENS && d < SLABS; d++) {
    r->lo[d] = throughLens(&t->lens, d, 0, r->lo[d]);
    r->hi[d] = throughLens(&t->lens, d, 1, r->hi[d]);
  }
}

PN_INLINE pnH8 maskB(const pnTraversal *t, const Regs *r, const View *a, uint32_t node, uint32_t lane) {
  (void)t;
  const pnBoxLanes *one = lanesAt(a, node);
  pnH8 m = pn_h8And(pn_h8LessEqual(r->lo[0], pn_h8Lane(one->row[0][1], lane)),
                    pn_h8LessEqual(pn_h8Lane(one->row[0][0], lane), r->hi[0]));
  for (uint32_t d = 1; d < SLABS; d++) {
    m = pn_h8And(m, pn_h8And(pn_h8LessEqual(r->lo[d], pn_h8Lane(one->row[d][1], lane)),
                             pn_h8LessEqual(pn_h8Lane(one->row[d][0], lane), r->hi[d])));
  }
  return m;
}

PN_INLINE pnH8 maskA(const pnTraversal *t, const Regs *r, const View *b, uint32_t node, uint32_t lane) {
  const pnBoxLanes *one = lanesAt(b, node);
  pnH8 m = pn_h8Set1(-1);
  for (uint32_t d = 0; d < SLABS; d++) {
    pnH8 lo = pn_h8Lane(one->row[d][0], lane), hi = pn_h8Lane(one->row[d][1], lane);
    if (LENS) {
      lo = throughLens(&t->lens, d, 0, lo);
      hi = throughLens(&t->lens, d, 1, hi);
    }
    m = pn_h8And(m, pn_h8And(pn_h8LessEqual(r->lo[d], hi), pn_h8LessEqual(lo, r->hi[d])));
  }
  return m;
}

/* Lanes without a child hold the empty interval (32767, -32768) in every slab, which overlaps nothing on one grid:
 * another volume would have to span all 65536 cells, and none spans more than half. Through a lens the interval may close. */
#if LENS
#define FULL fullMask
#else
#define FULL(v, node) 0xffu
#endif
#define Mask pnH8
#define MASK4 pn_h8Mask4
#define LOAD_A loadA
#define LOAD_B loadB
#define MASK_A maskA
#define MASK_B maskB
#include "collide/traverse_step.h"
