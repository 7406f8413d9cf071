/* plane.h: planes of big triangles against volumes. [Mujika, section 5, Algorithm 1] */
#ifndef PN_COLLIDE_PLANE_H
#define PN_COLLIDE_PLANE_H

#include "collide/traverse.h"

/* Do planes have a say? One of the trees has big triangles in pieces. */
PN_INLINE bool pn_hasPlanes(const pnTraversal *t) {
  return t->a->shape->slotPieces || t->b->shape->slotPieces;
}

/* Of the pairs list[from ...], takes out those of a node with nothing but pieces of a few big triangles below it and
 * another that lies on one side of the plane of each: exact, for what is beside the plane does not meet the triangle.
 */
void pn_prunePlanes(const pnTraversal *t, pnWorker *w, pnPairs *list, size_t from);

/* The same for the candidates with a piece of a big triangle on one side, by the ball of the other triangle. Those
 * left are moved behind the candidates without such a piece; returns how many of these there are. */
size_t pn_siftPlanes(const pnTraversal *t, pnWorker *w);

#endif
