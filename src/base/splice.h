/* splice.h: runs of a long list are replaced, where it lies: what stands between them moves only if there are more or fewer elements
 * before it than there were. */
#ifndef PN_BASE_SPLICE_H
#define PN_BASE_SPLICE_H

#include "base/core.h"

/* So many elements are dropped from a place on, and so many of another list put there, from its element `first` on. */
typedef struct pnSplice {
  size_t at, dropped, first, added;
} pnSplice;

/* Elements that are added less those that are dropped, which is negative where more are. */
ptrdiff_t pn_gainOf(const pnSplice *splices, size_t spliceCount);

/* Splices in ascending order, none inside another, of a list of `count` elements of so many bytes, which has room for what it becomes. `from`
 * is no part of it. */
void pn_splice(void *list, size_t count, size_t bytes, const void *from, const pnSplice *splices, size_t spliceCount);

#endif
