/* few.h: the order of short lists of pairs, of which a crowd and a terrain have one for every two bodies that meet. */
#ifndef PN_COLLIDE_FEW_H
#define PN_COLLIDE_FEW_H

#include "pinch/collide.h"

/* Sorts pairs, of which no two are alike, by a and then b. False, and nothing is changed: there are too many, or their numbers are too
 * far apart for this; count is at least 1. */
bool pn_sortFew(pnPair *pairs, size_t count);
/* Up to here it is faster than digit by digit (base/sort.h); a multiple of 16. */
#define PN_FEW_PAIRS 80u

/* How many of the keys are below each, by width. Keys and what comes out have room for a multiple of 16, and keys up to there are
 * INT32_MAX. */
typedef void pnCountBelowFcn(const int32_t *keys, size_t count, uint32_t *out);
pnCountBelowFcn pn_countBelow4, pn_countBelow16Avx512;

#endif
