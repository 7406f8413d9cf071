/* lanes.h: the volumes of a node's children as eight boxes of floats, for questions that come from outside: points, rays, boxes.
 *
 * Every form is taken as boxes on a *lattice*: a place x of the world is x * perCell - offset there. Trees of boxes and k-DOPs
 * have one, their grid: a lane of 16-bit cells [lo, hi] holds coordinates from lo up to hi + 1. For balls, boxes in model space, and where
 * a grid is not over the whole, one of the same fineness is laid over the tree's box, and their boxes are rounded outward to whole cells. Either way
 * coordinates stay below 2^16, so that floats are right to within a hundredth of a cell: questions are asked with boxes that are an
 * eighth of a cell larger on every side (PN_LATTICE_PAD), and nothing is missed. */
#ifndef PN_QUERY_LANES_H
#define PN_QUERY_LANES_H

#include "tree/update.h"

/* By how much boxes are enlarged, in cells. */
#define PN_LATTICE_PAD 0.125

typedef struct pnLattice {
  double perCell; /* 1 / cell, a power of two */
  double offset[3];
  double lo[3], hi[3]; /* the tree's box */
  /* A lane of cells ends one cell behind its last; and where cells are larger than 1 the product that found the first may have
   * underflowed to cell 0, so that it begins one before. */
  double after, before;
  bool isGrid; /* lanes are cells of the tree's own grid, to be read as they are */
} pnLattice;

/* Eight boxes. */
typedef struct pnFloatLanes {
  float row[3][2][PN_LANES]; /* lo, hi */
} pnFloatLanes;

/* Of an updated tree. */
pnLattice pn_latticeOf(const pnTree *tree);

/* The boxes of a fresh node of a tree that is no grid. */
void pn_latticeBoxes(const pnTree *tree, const pnLattice *lattice, uint32_t node, pnFloatLanes *out);
/* The same, whole numbers as a grid has them. */
void pn_latticeCells(const pnTree *tree, const pnLattice *lattice, uint32_t node, pnBoxLanes *out);

/* Those of any tree. */
PN_INLINE void pn_floatBoxes(const pnTree *tree, const pnLattice *lattice, uint32_t node, pnFloatLanes *out) {
  if (!lattice->isGrid) {
    pn_latticeBoxes(tree, lattice, node, out);
    return;
  }
  const pnBoxLanes *b = pn_lanesOf(tree, node);
  for (int k = 0; k < 3; ++k)
    for (int side = 0; side < 2; ++side)
      for (uint32_t j = 0; j < PN_LANES; ++j) out->row[k][side][j] = b->row[k][side][j];
}

/* Squared distances of something from the boxes of a fresh node, in cells, rounded down: it ends `below` before their lo (with the sign
 * turned) and begins `above` behind their hi, along each axis, with all pads. */
PN_INLINE void pn_boundLanes(const pnTree *tree, const pnLattice *lattice, uint32_t node, const float below[3],
                             const float above[3], float out[PN_LANES]) {
  pnFloatLanes boxes;
  const pnBoxLanes *cells = pn_lanesOf(tree, node);
  bool isGrid = lattice->isGrid;
  if (!isGrid) pn_latticeBoxes(tree, lattice, node, &boxes);
  for (uint32_t h = 0; h < PN_LANES; h += 4) {
    pnF4 sum = pn_f4Set1(0);
    for (int k = 0; k < 3; ++k) {
      pnF4 lo = isGrid ? pn_f4FromShorts(cells->row[k][0] + h) : pn_f4Load(boxes.row[k][0] + h);
      pnF4 hi = isGrid ? pn_f4FromShorts(cells->row[k][1] + h) : pn_f4Load(boxes.row[k][1] + h);
      pnF4 d = pn_f4Max(pn_f4Add(lo, pn_f4Set1(below[k])), pn_f4Sub(pn_f4Set1(above[k]), hi));
      d = pn_f4Max(d, pn_f4Set1(0));
      sum = pn_f4Add(sum, pn_f4Mul(d, d));
    }
    pn_f4Store(out + h, sum);
  }
}

PN_INLINE double pn_toLattice(const pnLattice *lattice, int k, double x) {
  return x * lattice->perCell - lattice->offset[k];
}

#endif
