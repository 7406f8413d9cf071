/* lanes.c: see lanes.h. */
#include "query/lanes.h"

#include "tree/form.h"

#include <float.h>

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
  bool hasGrid = tree->slabs && !tree->rule->modelSpace;
  pnLattice l = {.isGrid = hasGrid && !tree->grid.isClipped, .isClipped = hasGrid && tree->grid.isClipped};
  if (hasGrid) layGrid(tree, &l);
  else layOver(tree, &l);
  for (int k = 0; k < 3; ++k) {
    double min = (&tree->box.min.x)[k], max = (&tree->box.max.x)[k];
    l.lo[k] = l.isClipped ? INT16_MIN : pn_toLattice(&l, k, min);
    l.hi[k] = l.isClipped ? INT16_MAX : pn_toLattice(&l, k, max);
    l.farthestBeyond = PN_MAX(l.farthestBeyond, PN_MAX(fabs(min), fabs(max)));
    if (l.isClipped) min = (l.lo[k] + l.offset[k]) / l.perCell, max = (l.hi[k] + l.offset[k]) / l.perCell;
    l.farthest = PN_MAX(l.farthest, PN_MAX(fabs(min), fabs(max)));
  }
  return l;
}

/* Bounds may be infinite, and slacks. */
void pn_loosenLanes(uint32_t lanes, float slack, float bound[PN_LANES]) {
  for (; lanes; lanes &= lanes - 1) {
    uint32_t j = (uint32_t)__builtin_ctz(lanes);
    float lower = bound[j] - slack;
    bound[j] = lower > 0 ? lower : 0;
  }
}

/* Everything is in the tree's box, so what reaches beyond it may be cut; so may what is no number, and says nothing. */
static void putLane(const pnLattice *l, int k, uint32_t j, double lo, double hi, pnFloatLanes *out) {
  double a = floor(pn_toLattice(l, k, lo)), b = ceil(pn_toLattice(l, k, hi));
  out->row[k][0][j] = (float)(a > -32768 ? PN_MIN(a, 32767) : -32768);
  out->row[k][1][j] = (float)(b < 32767 ? PN_MAX(b, -32768) : 32767);
}

/* Of a grid's cells, where they end. */
static void putClipped(const pnTree *tree, uint32_t node, pnFloatLanes *out) {
  const pnBoxLanes *b = pn_lanesOf(tree, node);
  for (int k = 0; k < 3; ++k)
    for (uint32_t j = 0; j < PN_LANES; ++j) {
      int16_t lo = b->row[k][0][j], hi = b->row[k][1][j];
      out->row[k][0][j] = lo == INT16_MIN ? -INFINITY : lo;
      out->row[k][1][j] = hi == INT16_MAX ? INFINITY : hi;
    }
}

void pn_latticeBoxes(const pnTree *tree, const pnLattice *lattice, uint32_t node, pnFloatLanes *out) {
  if (lattice->isClipped) {
    putClipped(tree, node, out);
    return;
  }
  pnLaneBoxes boxes;
  uint32_t count = tree->shape->count[node];
  *out = (pnFloatLanes){0};
  pn_laneBoxes(tree, node, 0, count, &boxes);
  for (int k = 0; k < 3; ++k)
    for (uint32_t j = 0; j < count; ++j) putLane(lattice, k, j, boxes.lo[k][j], boxes.hi[k][j], out);
}

void pn_placeLane(const pnTree *tree, const pnLattice *l, uint32_t node, uint32_t lane, double lo[3], double hi[3]) {
  const pnBoxLanes *cells = pn_lanesOf(tree, node);
  pnFloatLanes boxes;
  bool hasCells = l->isGrid || l->isClipped;
  double cell = 1 / l->perCell;
  if (!hasCells) pn_latticeBoxes(tree, l, node, &boxes);
  for (int k = 0; k < 3; ++k) {
    double first = hasCells ? cells->row[k][0][lane] : boxes.row[k][0][lane],
           last = hasCells ? cells->row[k][1][lane] : boxes.row[k][1][lane];
    lo[k] = (first - l->before + l->offset[k]) * cell;
    hi[k] = (last + l->after + l->offset[k]) * cell;
    if (PN_LIKELY(!l->isClipped)) continue;
    if (first == INT16_MIN) lo[k] = (&tree->box.min.x)[k];
    if (last == INT16_MAX) hi[k] = (&tree->box.max.x)[k];
  }
}

void pn_latticeCells(const pnTree *tree, const pnLattice *lattice, uint32_t node, pnBoxLanes *out) {
  pnFloatLanes boxes;
  pn_latticeBoxes(tree, lattice, node, &boxes);
  for (int k = 0; k < 3; ++k)
    for (int side = 0; side < 2; ++side)
      for (uint32_t j = 0; j < PN_LANES; ++j) out->row[k][side][j] = (int16_t)boxes.row[k][side][j];
}
