/* small.h: two bodies so small that all their triangles are looked at together.
 *
 * A body of a dozen to a hundred triangles has a handful of leaves. In a crowd of such bodies each meets a few others, and filling its
 * nodes and opening them takes longer than everything else. Here no node is asked. What two bodies have, 64 vertices and 128
 * triangles each at most, fits the first cache, and goes through registers as a whole:
 *
 *   1. Both are seen along a fourth direction beside x, y and z: from the middle of the one to the middle of the other. Where
 *      something lies between them, that is mostly seen at once.
 *   2. Every vertex of a has a code: a bit for each of the eight sides of b, two in each direction, beyond which it lies. A triangle
 *      whose corners have a bit in common is beyond that side, and meets nothing of b. (The codes that Cohen and Sutherland clip
 *      lines with.)
 *   3. Triangles of a that are left have a box, less than a's. Likewise those of b that are not beyond one of its sides.
 *   4. Of both, the box of each with the box of each: those that overlap are candidates.
 *
 * Bodies of four triangles at most, cards, leaves, go from 1 to 4.
 *
 * Candidates come in the order of the triangles' numbers, and so do pairs: nothing is left to sort.
 *
 * Boxes of floats are exact. Numbers along the fourth direction are rounded; the margin is in small.c, with its reason. */
#ifndef PN_COLLIDE_SMALL_H
#define PN_COLLIDE_SMALL_H

#include "collide/traverse.h"

/* Appends the candidates of two bodies for which pn_isSmall holds to those of a worker. False: out of memory. */
bool pn_openSmall(const pnTree *a, const pnTree *b, pnWorker *w);

#define PN_SMALL_DIRECTIONS 4u

/* The fourth direction, from where it is measured, and by how much numbers along it must differ. */
typedef struct pnSmallView {
  float direction[3], middle[3], margin;
} pnSmallView;
void pn_viewSmall(const pnBox *a, const pnBox *b, pnSmallView *out);

/* The loops, by width; chosen at run time. */
typedef bool pnOpenSmallFcn(const pnTree *a, const pnTree *b, const pnSmallView *view, pnWorker *w);
pnOpenSmallFcn pn_openSmall4, pn_openSmallAvx2, pn_openSmallVbmi;

#endif
