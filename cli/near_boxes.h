/* near_boxes.h: which of many boxes are near one another, without going through all pairs.
 *
 * Boxes are sorted along one axis, and each is held against those that begin before it ends: the axis on which boxes are short against the whole.
 * The library's broad phase answers for bodies that move; here boxes stand still and are asked once or a few times. */
#ifndef PN_CLI_NEAR_BOXES_H
#define PN_CLI_NEAR_BOXES_H

#include "choose.h"

#include "pinch/mesh.h"

/* Doubles, because files may have them. One that is empty (lo > hi) is near nothing. */
typedef struct pnNearBox {
  double lo[3], hi[3];
} pnNearBox;

typedef struct pnNearPairs {
  pnPair *items; /* a < b, ascending */
  size_t count, capacity;
  uint64_t steps; /* boxes that were held against another, for tests */
} pnNearPairs;

/* The box of a mesh; an empty one if it has no triangles. */
pnNearBox pn_nearBox(const pnMesh *mesh, pnBox box);

/* Pairs of boxes that are no farther apart than `reach` (exact for 0, where touching counts, and else up to
 * rounding of gaps, which are differences of coordinates) and that the choice allows (null: all), anew into `out`, a zeroed
 * one or that of an earlier call. PN_ERROR_COUNT: there are more than `most`. */
pnResult pn_findNearBoxes(const pnNearBox *boxes, uint32_t count, double reach, const pnChoice *choice, size_t most,
                          pnNearPairs *out);
void pn_freeNearBoxes(pnNearPairs *pairs); /* a zeroed one is allowed */

#endif
