/* rest.h: the pairs of triangles that meet in the rest pose, found once for a shape: filters leave them out, and patches with
 * such a pair are never calm. */
#ifndef PN_COLLIDE_REST_H
#define PN_COLLIDE_REST_H

#include "tree/tree.h"

/* Finds them, unless the shape has them (PN_PART_REST). */
pnResult pn_prepareRest(const pnTree *tree);
/* Do two triangles meet at rest? After pn_prepareRest. */
bool pn_meetAtRest(const pnShape *shape, uint32_t a, uint32_t b);

#endif
