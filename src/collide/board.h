/* board.h: where the pegs and holes of a cutting are measured (peg.h): points as cells along four directions.
 *
 * Three are the axes. The fourth is the *grain* of the large body, the sum or difference of two coordinates. The triangles of most grounds are
 * halves of rectangles that are all cut the same way. Their boxes are twice as large as they are, and along the grain, across the cut, they
 * take up half of what their boxes do. A record has room for it: three directions are six numbers, and eight are compared at once.
 *
 * A coordinate becomes a cell by a sum (the fourth only), by being brought between two ends, by a difference, a product and a floor. All but
 * the floor are rounded, and all are monotone functions of what they are exactly. So intervals that overlap become intervals of cells that
 * overlap, whatever ends and scale are. These are chosen for the reach of the cutting, so that cells are fine. */
#ifndef PN_COLLIDE_BOARD_H
#define PN_COLLIDE_BOARD_H

#include "geom/simd_peg.h"

/* As rows for registers: x, y, z and along the grain. */
typedef struct pnBoard {
  float lo[4], hi[4]; /* what has cells */
  float scale[4];     /* cells for each unit */
  float grain[4];     /* -1, 0 or 1 for x, y and z, two of them not 0 */
} pnBoard;

/* Cells are numbered from 0 to 254. Records have bytes: a cell, or 255 less one. So 255 is above all cells, and 0 below all of the others: a
 * peg and a hole that fit nothing. So many cells an extent has; the rounding of three numbers is not a tenth of one. */
#define PN_BOARD_CELLS 254.9f

/* The board in registers. */
typedef struct pnBoardRows {
  pnF4 lo, hi, scale, grain, axes;
} pnBoardRows;

PN_INLINE pnBoardRows pn_rowsOfBoard(const pnBoard *b) {
  static const uint32_t axes[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, 0};
  return (pnBoardRows){pn_f4Load(b->lo), pn_f4Load(b->hi), pn_f4Load(b->scale), pn_f4Load(b->grain),
                       pn_f4Load((const float *)(const void *)axes)};
}

/* A point with its place along the grain. The sum has two terms that are not 0, so that it is rounded once. */
PN_INLINE pnF4 pn_alongGrain(const pnBoardRows *b, const float *point) {
  pnF4 p = pn_f4Load(point), terms = pn_f4Mul(p, b->grain);
  pnF4 sum = pn_f4Add(pn_f4Add(pn_f4Splat(terms, 0), pn_f4Splat(terms, 1)), pn_f4Splat(terms, 2));
  return pn_f4Or(pn_f4And(p, b->axes), pn_f4AndNot(sum, b->axes));
}

/* Its place on the board, in cells and parts of them. */
PN_INLINE pnF4 pn_onBoard(const pnBoardRows *b, pnF4 point) {
  return pn_f4Mul(pn_f4Sub(pn_f4Min(pn_f4Max(point, b->lo), b->hi), b->lo), b->scale);
}

#endif
