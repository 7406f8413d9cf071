/* hint.h: a pair to try before anything else.
 *
 * Where two bodies met a frame ago they mostly meet still, and the less they have moved against the length of their triangles, the
 * more often with the same two, or with triangles beside them. The corners come from the poses, so that no tree needs to be up to date, and
 * tests are exact, so that a wrong or old hint costs a few of them and nothing else. [Larsson03] names coherence of this kind as
 * future work. */
#ifndef PN_COLLIDE_HINT_H
#define PN_COLLIDE_HINT_H

#include "pinch/collide.h"
#include "tree/tree.h"

/* Do triangle s of pose a and triangle t of pose b meet? Self: in more than they share. Exact, from the poses alone. */
bool pn_trianglesMeetNow(const pnPose *a, uint32_t s, const pnPose *b, uint32_t t, bool self);

/* Are both triangles in their meshes? PN_ERROR_ARGUMENT names the one that is not. Soups lose primitives, and an old number is
 * no mistake. b null: self. */
pnResult pn_checkHint(const pnTree *a, const pnTree *b, pnPair hint);

/* Does the hint, or a pair around it, answer a first-pair query? Then *ioHint is that pair, turned as answers are: self pairs with a < b.
 * Never what no query would find: triangles that are not there (any more), pairs that a self filter leaves out, and a triangle with itself. b
 * null: self; the filter, prepared, is for self only. Adds what it looked at to the cost. */
bool pn_tryHint(const pnTree *a, const pnTree *b, const pnSelfFilter *filter, pnPair *ioHint, pnCost *cost);

#endif
