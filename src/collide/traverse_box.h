/* traverse_box.h: slabs on one grid, or on two seen through a lens. Included with SLABS (how many directions), STEPS,
 * NODE_BYTES(tree) and LENS defined:
 *
 *   0   one grid
 *   1   grids that differ by their offsets only: the one volume is shifted into the grid of the eight it meets
 *   2   any two grids: b's volumes are seen through t->lens
 *   3   the same, where b's grid is clipped (tree/bulk.h): its first and last number stand for all that is beyond, and stay ends
 *
 * Sixteen-bit intervals, eight at a time: one volume against eight takes 2 * SLABS compares. */

typedef struct Regs {
  pnH8 lo[PN_MAX_SLABS], hi[PN_MAX_SLABS];
} Regs;

PN_INLINE const pnSlabLanes *lanesAt(const View *v, uint32_t node) {
  return (const pnSlabLanes *)(v->lanes + (size_t)node * NODE_BYTES(v->tree));
}

/* What began or ended nowhere does so through a lens, too: three times the largest number, and twice the least, lead from anywhere to the end. */
PN_INLINE pnH8 keepEnd(int side, pnH8 v, pnH8 seen) {
  const pnH8 end = pn_h8Set1(side ? INT16_MAX : INT16_MIN);
  pnH8 way = pn_h8And(end, side ? pn_h8LessEqual(end, v) : pn_h8LessEqual(v, end));
  return pn_h8AddSat(pn_h8AddSat(pn_h8AddSat(seen, way), way), way);
}

/* One row of b as a sees it. */
PN_INLINE pnH8 throughLens(const pnLens *lens, uint32_t d, int side, pnH8 v) {
  pnH8 seen = pn_h8ShiftRight(v, lens->shift);
  seen = pn_h8AddSat(seen, pn_h8Set1(lens->part[d][side][0]));
  seen = pn_h8AddSat(seen, pn_h8Set1(lens->part[d][side][1]));
  return LENS == 3 ? keepEnd(side, v, seen) : seen;
}

PN_INLINE void loadA(const pnTraversal *t, const View *v, uint32_t node, Regs *r) {
  (void)t;
  const pnSlabLanes *lanes = lanesAt(v, node);
  for (uint32_t d = 0; d < SLABS; ++d) {
    r->lo[d] = pn_h8Load(lanes->row[d][0]);
    r->hi[d] = pn_h8Load(lanes->row[d][1]);
  }
}

PN_INLINE void loadB(const pnTraversal *t, const View *v, uint32_t node, Regs *r) {
  loadA(t, v, node, r);
  for (uint32_t d = 0; LENS >= 2 && d < SLABS; ++d) {
    r->lo[d] = throughLens(&t->lens, d, 0, r->lo[d]);
    r->hi[d] = throughLens(&t->lens, d, 1, r->hi[d]);
  }
}

/* Lane j of one row of the other tree, in the grid of the volumes it is tested against. */
PN_INLINE pnH8 oneOfA(const pnTraversal *t, uint32_t d, const int16_t *row, uint32_t j) {
  pnH8 v = pn_h8Lane(row, j);
  return LENS == 1 ? pn_h8AddSat(v, pn_h8Set1((int16_t)-t->lens.part[d][0][0])) : v;
}

PN_INLINE pnH8 oneOfB(const pnTraversal *t, uint32_t d, int side, const int16_t *row, uint32_t j) {
  pnH8 v = pn_h8Lane(row, j);
  v = LENS == 1 ? pn_h8AddSat(v, pn_h8Set1(t->lens.part[d][0][0])) : v;
  return LENS >= 2 ? throughLens(&t->lens, d, side, v) : v;
}

PN_INLINE pnH8 maskB(const pnTraversal *t, const Regs *r, const View *a, uint32_t node, uint32_t lane) {
  const pnSlabLanes *one = lanesAt(a, node);
  pnH8 m = pn_h8And(pn_h8LessEqual(r->lo[0], oneOfA(t, 0, one->row[0][1], lane)),
                    pn_h8LessEqual(oneOfA(t, 0, one->row[0][0], lane), r->hi[0]));
  for (uint32_t d = 1; d < SLABS; ++d) {
    m = pn_h8And(m, pn_h8And(pn_h8LessEqual(r->lo[d], oneOfA(t, d, one->row[d][1], lane)),
                             pn_h8LessEqual(oneOfA(t, d, one->row[d][0], lane), r->hi[d])));
  }
  return m;
}

PN_INLINE pnH8 maskA(const pnTraversal *t, const Regs *r, const View *b, uint32_t node, uint32_t lane) {
  const pnSlabLanes *one = lanesAt(b, node);
  pnH8 m = pn_h8And(pn_h8LessEqual(r->lo[0], oneOfB(t, 0, 1, one->row[0][1], lane)),
                    pn_h8LessEqual(oneOfB(t, 0, 0, one->row[0][0], lane), r->hi[0]));
  for (uint32_t d = 1; d < SLABS; ++d) {
    m = pn_h8And(m, pn_h8And(pn_h8LessEqual(r->lo[d], oneOfB(t, d, 1, one->row[d][1], lane)),
                             pn_h8LessEqual(oneOfB(t, d, 0, one->row[d][0], lane), r->hi[d])));
  }
  return m;
}

/* Lanes without a child hold the empty interval (32767, -32768) in every slab, which overlaps nothing on one grid:
 * another volume would have to span all 65536 cells, and where a grid is over the whole of its body none spans more than half. Through a lens the interval may close, and grids over a
 * part of a body, which have volumes that span all, are seen through one (traverse.c). */
#if LENS >= 2
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
