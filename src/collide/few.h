/* few.h: the order of short lists of pairs, of which a crowd and a terrain have one for every two bodies that meet. */
#ifndef PN_COLLIDE_FEW_H
#define PN_COLLIDE_FEW_H

#include "pinch/collide.h"

/* Sorts pairs, of which no two are alike, by a and then b. False, and nothing is changed: there are too many, or their numbers are too
 * far apart for this; count is at least 1. */
bool pn_sortFew(pnPair *pairs, size_t count);

#endif
