/* lanes.c: see lanes.h. */
#include "query/lanes.h"

#include "tree/form.h"

#include <float.h>
#include <math.h>

/* Cells along the longest side of a tree's box, as its own grid has them. */
#define LATTICE_BITS 14

static void layGrid(const pnTree *tree, pnLattice *l) {
  l->perCell = (double)tree->grid.scale[0] * tree->grid.lift;
  for (int k = 0; k < 3; ++k) l->offset[k] = tree->grid.offset[k];
  l->before = l->perCell < 1;
  l->after = 1;
}

static void layOver(const pnTree *tree, pnLattice *l) {
  // The longest side; a box that is a point still has the fineness of its coordinates.
  const float *lo = &tree->box.min.x, *hi = &tree->box.max.x;
  double side = 0x1p-140;
  for (int k = 0; k < 3; ++k) {
    side = PN_MAX(side, (double)hi[k] - lo[k]);
    side = PN_MAX(side, 0x1p-20 * PN_MAX(fabs(lo[k]), fabs(hi[k])));
  }
  int exponent;
  frexp(side, &exponent);
  l->perCell = ldexp(1, LATTICE_BITS - exponent);
  for (int k = 0; k < 3; ++k) l->offset[k] = floor(lo[k] * l->perCell);
}

pnLattice pn_latticeOf(const pnTree *tree) {
  pnLattice l = {.isGrid = tree->slabs && !tree->rule->modelSpace && !tree->grid.isClipped};
  if (l.isGrid) layGrid(tree, &l);
  else layOver(tree, &l);
  for (int k = 0; k < 3; ++k) {
    l.lo[k] = pn_toLattice(&l, k, (&tree->box.min.x)[k]);
    l.hi[k] = pn_toLattice(&l, k, (&tree->box.max.x)[k]);
  }
  return l;
}

/* Everything is in the tree's box, so what reaches beyond it may be cut; so may what is no number, and says nothing. */
static void putLane(const pnLattice *l, int k, uint32_t j, double lo, double hi, pnFloatLanes *out) {
  double a = floor(pn_toLattice(l, k, lo)), b = ceil(pn_toLattice(l, k, hi));
  out->row[k][0][j] = (float)(a > -32768 ? PN_MIN(a, 32767) : -32768);
  out->row[k][1][j] = (float)(b < 32767 ? PN_MAX(b, -32768) : 32767);
}

void pn_latticeBoxes(const pnTree *tree, const pnLattice *lattice, uint32_t node, pnFloatLanes *out) {
  pnLaneBoxes boxes;
  uint32_t count = tree->shape->count[node];
  *out = (pnFloatLanes){0};
  pn_laneBoxes(tree, node, 0, count, &boxes);
  for (int k = 0; k < 3; ++k)
    for (uint32_t j = 0; j < count; ++j) putLane(lattice, k, j, boxes.lo[k][j], boxes.hi[k][j], out);
}

void pn_latticeCells(const pnTree *tree, const pnLattice *lattice, uint32_t node, pnBoxLanes *out) {
  pnFloatLanes boxes;
  pn_latticeBoxes(tree, lattice, node, &boxes);
  for (int k = 0; k < 3; ++k)
    for (int side = 0; side < 2; ++side)
      for (uint32_t j = 0; j < PN_LANES; ++j) out->row[k][side][j] = (int16_t)boxes.row[k][side][j];
}
