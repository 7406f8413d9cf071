/* lanes.h: the volumes of a node's children as eight boxes of floats, for questions that come from outside: points, rays, boxes.
 *
 * Every form is taken as boxes on a *lattice*: a place x of the world is x * perCell - offset there. Trees of boxes and k-DOPs
 * have one, their grid: a lane of 16-bit cells [lo, hi] holds coordinates from lo up to hi + 1. For balls and boxes in model space
 * one of the same fineness is laid over the tree's box, and their boxes are rounded outward to whole cells. Either way
 * coordinates stay below 2^16, so that floats are right to within a hundredth of a cell: questions are asked with boxes that are an
 * eighth of a cell larger on every side (PN_LATTICE_PAD), and nothing is missed.
 *
 * Where a grid is over most of a body (tree/bulk.h), some lanes reach *beyond* it. Boxes and points take these for boxes without end on that side,
 * and rays, for which all has to be where floats are right, have a test of their own. What is measured of a triangle may be too small by a part of how
 * far away it is (pn_slackOf), so bounds have a slack of their own for what reaches beyond. */
#ifndef PN_QUERY_LANES_H
#define PN_QUERY_LANES_H

#include "geom/distance.h"
#include "tree/update.h"

#include <math.h>

/* By how much boxes are enlarged, in cells. */
#define PN_LATTICE_PAD 0.125

typedef struct pnLattice {
  double perCell; /* 1 / cell, a power of two */
  double offset[3];
  double lo[3], hi[3]; /* the box of all that does not reach beyond: the tree's */
  double farthest;     /* the largest coordinate of that box, in the world; and of the tree's */
  double farthestBeyond;
  /* A lane of cells ends one cell behind its last; and where cells are larger than 1 the product that found the first may have
   * underflowed to cell 0, so that it begins one before. */
  double after, before;
  bool isGrid;    /* lanes are cells of the tree's own grid, to be read as they are */
  bool isClipped; /* they are, but for those that reach beyond */
} pnLattice;

/* Eight boxes. */
typedef struct pnFloatLanes {
  float row[3][2][PN_LANES]; /* lo, hi */
} pnFloatLanes;

/* Of an updated tree. */
pnLattice pn_latticeOf(const pnTree *tree);

/* The boxes of a fresh node of a tree that is no grid. */
void pn_latticeBoxes(const pnTree *tree, const pnLattice *lattice, uint32_t node, pnFloatLanes *out);
/* The same, whole numbers as a grid has them; of a tree without one. */
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

/* A bit for each lane of a fresh node that reaches beyond. */
PN_INLINE uint32_t pn_lanesBeyond(const pnTree *tree, const pnLattice *lattice, uint32_t node) {
  if (PN_LIKELY(!lattice->isClipped)) return 0;
  return ~pn_h8Mask(pn_boundedLanes(pn_lanesOf(tree, node))) & ((1u << PN_LANES) - 1);
}
/* Where a lane of a fresh node is in the world. What has no end ends with the tree. */
void pn_placeLane(const pnTree *tree, const pnLattice *lattice, uint32_t node, uint32_t lane, double lo[3],
                  double hi[3]);
/* Bounds of some lanes are lowered by a slack, to no less than 0. */
void pn_loosenLanes(uint32_t lanes, float slack, float bound[PN_LANES]);

/* What is at least as far as the root of `square` may be measured as closer by an error, where triangles have coordinates up to `farthest`: by so much the
 * limit for squares is more. */
PN_INLINE double pn_slackOf(double square, double farthest) {
  double error = PN_POINT_ERROR * farthest;
  return (2 * sqrt(square) + error) * error;
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

/* A bit for each lane whose bound is above the limit. */
PN_INLINE uint32_t pn_lanesAbove(const float bound[PN_LANES], float limit) {
  pnF4 most = pn_f4Set1(limit);
  return (uint32_t)pn_f4Signs(pn_f4Greater(pn_f4Load(bound), most)) |
         (uint32_t)pn_f4Signs(pn_f4Greater(pn_f4Load(bound + 4), most)) << 4;
}

/* Lanes in the order of their bounds; returns how many. */
PN_INLINE uint32_t pn_orderLanes(uint32_t lanes, const float bound[PN_LANES], uint32_t order[PN_LANES]) {
  uint32_t count = 0;
  for (; lanes; lanes &= lanes - 1) {
    uint32_t j = (uint32_t)__builtin_ctz(lanes), i = count++;
    for (; i > 0 && bound[order[i - 1]] > bound[j]; --i) order[i] = order[i - 1];
    order[i] = j;
  }
  return count;
}

PN_INLINE double pn_toLattice(const pnLattice *lattice, int k, double x) {
  return x * lattice->perCell - lattice->offset[k];
}

#endif
