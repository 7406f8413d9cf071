/* slab.h: boxes and k-DOPs as one thing: intervals along D fixed directions.
 *
 * The box is the k-DOP of the three axes, so every k-DOP contains a box in its first three slabs, and one set of
 * functions serves all. Directions have coordinates in {-1, 0, 1} and are not normalised.
 *
 *   box     x y z                                            D = 3
 *   dop14   box + the 4 diagonals x+y+z ...                  D = 7
 *   dop18   box + the 6 edge directions x+y, x-y ...         D = 9
 *   dop26   both                                             D = 13
 *
 * Rounding. Two triangles that share a real point p must have overlapping intervals, as computed in float.
 *   axes: no arithmetic, nothing to round.
 *   edge directions: one addition. Rounding to nearest is monotone, so the rounded projection of p lies between the
 *   rounded projections of each triangle's vertices: the intervals overlap without any margin.
 *   diagonals: two additions, fl(fl(x+y)+z). The error against the real sum is below u|x+y| + u|fl(x+y)+z| (u = 2^-24)
 *   <= 2u(1+u)(|x|+|y|+|z|), so intervals are widened by PN_DIAGONAL_MARGIN = 2^-22 = 4u times that sum, twice the
 *   bound, which also covers the rounding of the widening itself.
 *   Sums of coordinates that may leave the range of float say nothing: from minus to plus the largest number. */
#ifndef PN_GEOM_SLAB_H
#define PN_GEOM_SLAB_H

#include "base/core.h"

#define PN_MAX_SLABS 13
#define PN_DIAGONAL_MARGIN 2.384185791015625e-07f

/* One set of directions. */
typedef struct pnSlabSet {
  uint32_t count;                      /* D */
  uint32_t diagonalFirst, diagonalEnd; /* those that need the margin */
  int8_t dir[PN_MAX_SLABS][3];
  /* The slab along (x, y, z) in {-1, 0, 1} at 9 (x + 1) + 3 (y + 1) + z + 1: its number and 1, negative when it is along the
   * opposite, 0 when there is none. */
  int8_t place[27];
} pnSlabSet;

extern const pnSlabSet pn_slabBox, pn_slabDop14, pn_slabDop18, pn_slabDop26;

typedef struct pnSlabs {
  float lo[PN_MAX_SLABS], hi[PN_MAX_SLABS];
} pnSlabs;

/* lo = +max, hi = -max in every slab. */
void pn_slabsEmpty(pnSlabs *slabs);
/* Of `count` points, four floats apart; the margin is included. Count 0 gives the empty slabs. */
void pn_slabsOfPoints(const pnSlabSet *set, const float *points, uint32_t count, pnSlabs *out);
void pn_slabsMerge(const pnSlabSet *set, pnSlabs *into, const pnSlabs *other);

#endif
