/* inbox.h: does a triangle have a point in common with a box? Exact; both are closed. */
#ifndef PN_GEOM_INBOX_H
#define PN_GEOM_INBOX_H

#include "base/core.h"

/* lo <= hi along every axis; the triangle may be a segment or a point, and so may the box. */
bool pn_meetsBox(const float *const c[3], const float *lo, const float *hi);

#endif
