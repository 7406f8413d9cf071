/* box.h: boxes along the axes. All are closed; one whose min is greater than its max has no point. */
#ifndef PN_GEOM_BOX_H
#define PN_GEOM_BOX_H

#include "base/core.h"

#include <float.h>
#include <math.h>

/* A box without a point, which grows to anything. */
PN_INLINE pnBox pn_emptyBox(void) {
  return (pnBox){{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};
}

PN_INLINE double pn_longestSide(const pnBox *box) {
  const float *lo = &box->min.x, *hi = &box->max.x;
  double x = (double)hi[0] - lo[0], y = (double)hi[1] - lo[1], z = (double)hi[2] - lo[2];
  return PN_MAX(x, PN_MAX(y, z));
}

/* How long a box is along the three axes together. */
PN_INLINE double pn_sumOfSides(const pnBox *box) {
  const float *lo = &box->min.x, *hi = &box->max.x;
  return ((double)hi[0] - lo[0]) + ((double)hi[1] - lo[1]) + ((double)hi[2] - lo[2]);
}

PN_INLINE bool pn_boxesOverlap(const pnBox *p, const pnBox *q) {
  return p->min.x <= q->max.x && q->min.x <= p->max.x && p->min.y <= q->max.y && q->min.y <= p->max.y &&
         p->min.z <= q->max.z && q->min.z <= p->max.z;
}

/* Is p a part of q? */
PN_INLINE bool pn_boxIsWithin(const pnBox *p, const pnBox *q) {
  return p->min.x >= q->min.x && p->max.x <= q->max.x && p->min.y >= q->min.y && p->max.y <= q->max.y &&
         p->min.z >= q->min.z && p->max.z <= q->max.z;
}

/* The box around two boxes, and around a box and a point. */
PN_INLINE pnBox pn_unionBox(const pnBox *a, const pnBox *b) {
  return (pnBox){{fminf(a->min.x, b->min.x), fminf(a->min.y, b->min.y), fminf(a->min.z, b->min.z)},
                 {fmaxf(a->max.x, b->max.x), fmaxf(a->max.y, b->max.y), fmaxf(a->max.z, b->max.z)}};
}
PN_INLINE void pn_growBox(pnBox *box, pnVec3 p) {
  *box = pn_unionBox(box, &(pnBox){p, p});
}

#endif
