/* face.h: bodies of a few triangles, a ramp, a wall, a crate, beside large ones.
 *
 * What stands on a ramp or in a room that lies aslant is in the boxes of their triangles with all it has. But most of it is above the one and
 * inside the other: beside the planes of all of their triangles. So where one of two bodies is next to no leaves and many nodes of the other are
 * about to be opened, those that reach none of the triangles are left out: a node is beside the plane of each, or apart from its box (beside.h).
 *
 * Asking up to 32 planes takes as long as opening a few pairs, of which most of these lead to dozens more: where it takes out fewer than half, it is
 * left alone for a while, ever longer (trial.h). */
#ifndef PN_COLLIDE_FACE_H
#define PN_COLLIDE_FACE_H

#include "collide/traverse.h"
#include "tree/corner.h"
#include "tree/update.h"

/* Leaves of the one at most, and of the other at least; and so many pairs make up for finding planes. */
#define PN_FACE_LEAVES 4u
#define PN_FACE_OTHERS 128u
#define PN_FACE_PAIRS 16u

/* Takes pairs of nodes out of a list, in place, of which nothing meets; returns how many are left. */
size_t pn_pruneFaces(const pnTraversal *t, pnWorker *w, pnPair *pairs, size_t count);

/* A soup's leaves say what they hold when they are filled, which those of the smaller one need not be; and leaves may hold pieces of
 * triangles, or not all of them. (Pieces of the larger one would do, but where planes decide, pnQueryLab.planeDecides, the answer is what is left of
 * their pairs.) */
PN_INLINE bool pn_areFewAndMany(const pnTree *few, const pnTree *many) {
  return few->shape->leafCount <= PN_FACE_LEAVES && many->shape->leafCount >= PN_FACE_OTHERS && !few->rule->reshapes &&
         !pn_hasPieces(&few->def) && !pn_hasPieces(&many->def);
}

/* Not where candidates go elsewhere: volumes may be those of a whole step then, and planes are of one moment. */
PN_INLINE bool pn_facesMayPay(const pnTraversal *t, size_t count) {
  return count >= PN_FACE_PAIRS && !t->sink && (pn_areFewAndMany(t->a, t->b) || pn_areFewAndMany(t->b, t->a));
}

#endif
