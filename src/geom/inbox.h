/* inbox.h: does a triangle, or a box, have a point in common with a box? Exact; all are closed. */
#ifndef PN_GEOM_INBOX_H
#define PN_GEOM_INBOX_H

#include "base/core.h"

/* lo <= hi along every axis; the triangle may be a segment or a point, and so may the box. */
bool pn_meetsBox(const float *const c[3], const float *lo, const float *hi);

PN_INLINE bool pn_boxesOverlap(const pnBox *p, const pnBox *q) {
  return p->min.x <= q->max.x && q->min.x <= p->max.x && p->min.y <= q->max.y && q->min.y <= p->max.y &&
         p->min.z <= q->max.z && q->min.z <= p->max.z;
}

#endif
