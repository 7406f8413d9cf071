/* filter.h: which self pairs a caller does not want to see. */
#ifndef PN_COLLIDE_FILTER_H
#define PN_COLLIDE_FILTER_H

#include "pinch/collide.h"
#include "tree/tree.h"

/* Rings are walked recursively, each multiplies the work by a triangle's neighbours (about 12). */
#define PN_MAX_RING 4u

pnResult pn_checkFilter(const pnSelfFilter *filter);
/* Does the filter look at found pairs? (Ring 1 alone does not: neighbours are then not looked for.) */
bool pn_hasFilter(const pnSelfFilter *filter);
/* The pairs that meet in the rest pose, found once and kept in the tree, sorted. */
pnResult pn_findRestPairs(pnTree *tree);
/* Takes unwanted pairs out, keeping the order. */
pnResult pn_filterPairs(pnTree *tree, const pnSelfFilter *filter, pnPair *pairs, size_t *ioCount);

#endif
