/* beside.h: is a volume on one side of the plane of a triangle? Then nothing in it meets the triangle. */
#ifndef PN_COLLIDE_BESIDE_H
#define PN_COLLIDE_BESIDE_H

#include "tree/corner.h"
#include "tree/update.h"

#include <float.h>
#include <math.h>

/* A volume as a box or, with radius >= 0, a ball; in double. */
typedef struct pnVolume {
  double centre[3], half[3], radius;
} pnVolume;

/* The volume of a node, a lane of its parent. False: in model space, or not finite. */
PN_INLINE bool pn_volumeOf(const pnTree *tree, uint32_t node, pnVolume *out) {
  uint32_t parent = tree->shape->parent[node] / PN_LANES, lane = tree->shape->parent[node] % PN_LANES;
  if (tree->rule->modelSpace) return false;
  pnLaneBoxes boxes;
  pn_laneBoxes(tree, parent, lane, lane + 1, &boxes);
  bool finite = true;
  for (int k = 0; k < 3; ++k) {
    double lo = boxes.lo[k][lane], hi = boxes.hi[k][lane];
    /* of cells both exact: sums of integers below 2^26, times a power of two */
    out->centre[k] = 0.5 * (lo + hi);
    out->half[k] = 0.5 * (hi - lo);
    finite = finite && out->half[k] <= (double)FLT_MAX;
  }
  out->radius = tree->form->isBall ? out->half[0] : -1;
  return finite;
}

/* Is the volume strictly on one side of a plane? */
PN_INLINE bool pn_isBeside(const pnVolume *v, const pnBigPlane *plane) {
  double distance = 0, reach = 0, size = 0;
  for (int k = 0; k < 3; ++k) {
    distance += plane->normal[k] * (v->centre[k] - plane->origin[k]);
    reach += fabs(plane->normal[k]) * v->half[k];
    size += fabs(v->centre[k]) + fabs(plane->origin[k]) + v->half[k];
  }
  reach = v->radius >= 0 ? plane->length * v->radius : reach;
  return fabs(distance) > reach + plane->slack * size;
}

#endif
