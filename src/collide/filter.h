/* filter.h: which self pairs a caller does not want to see. */
#ifndef PN_COLLIDE_FILTER_H
#define PN_COLLIDE_FILTER_H

#include "pinch/collide.h"
#include "tree/tree.h"

/* Rings are walked recursively, each multiplies the work by a triangle's neighbours (about 12). */
#define PN_MAX_RING 4u

pnResult pn_checkFilter(const pnSelfFilter *filter);
/* Are neighbours looked for? Ring 1 leaves all of them out; but where vertices are welded, only those that are at one place
 * now make neighbours, and the others are found together with them. */
PN_INLINE bool pn_seeksNeighbours(const pnSelfFilter *filter, const pnMesh *mesh) {
  return filter->ring == 0 || mesh->welded;
}
/* Does the filter look at found pairs? (Ring 1 alone does not where neighbours are not looked for.) */
PN_INLINE bool pn_hasFilter(const pnSelfFilter *filter, const pnMesh *mesh) {
  return filter->ring > (mesh->welded ? 0u : 1u) || filter->ignoreRest || filter->triangleGroup;
}
/* Takes unwanted pairs out, keeping the order; after pn_prepareFilter (self.h). */
void pn_filterPairs(const pnTree *tree, const pnSelfFilter *filter, pnPair *pairs, size_t *ioCount);

#endif
