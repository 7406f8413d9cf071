/* sphere.h: balls around points. Radii are rounded up so that the real ball of the float centre and radius contains the
 * float points.
 *
 * A distance computed as sqrtf(dx*dx + dy*dy + dz*dz) has at most: 1u in each difference (2u in its square), 1u in the
 * product, 2u in the sums, halved by the root, plus 1u for the root: under 4u relative (u = 2^-24). Squares
 * below 2^-126 lose relative precision, an absolute error of a root below 2^-63. So PN_SPHERE_GROW = 1 + 16u relative, four
 * times the bound, and PN_SPHERE_TINY = 2^-60 absolute make it safe. Overflow gives an infinite radius, which holds all. */
#ifndef PN_GEOM_SPHERE_H
#define PN_GEOM_SPHERE_H

#include "geom/slab.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define PN_SPHERE_GROW 1.00000095367431640625f
#define PN_SPHERE_TINY 8.673617379884035e-19f

/* The centre of the box of slabs. */
PN_INLINE void pn_sphereCentre(const pnSlabs *s, float centre[3]) {
  for (int k = 0; k < 3; ++k) centre[k] = 0.5f * s->lo[k] + 0.5f * s->hi[k];
}

PN_INLINE float pn_distanceUp(const float *a, const float *b) {
  float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return sqrtf(x * x + y * y + z * z) * PN_SPHERE_GROW + PN_SPHERE_TINY;
}

/* The radius about a centre that holds points, four floats apart. */
PN_INLINE float pn_sphereRadius(const float centre[3], const float *points, uint32_t count) {
  float r = 0;
  for (uint32_t i = 0; i < count; ++i) r = PN_MAX(r, pn_distanceUp(centre, points + 4 * i));
  return r;
}

/* The ball around two balls: the larger alone when it holds the other. */
PN_INLINE void pn_sphereMerge(float centre[3], float *radius, const float *otherCentre, float otherRadius) {
  float d = pn_distanceUp(centre, otherCentre);
  if (d + otherRadius <= *radius) return;
  if (d + *radius <= otherRadius) {
    memcpy(centre, otherCentre, 3 * sizeof(float));
    *radius = otherRadius;
    return;
  }
  /* the centre anywhere between (rounding does not matter), then the radius that holds both from there; also where the
   * difference of two floats is beyond them */
  float c[3], t = d > 0 ? 0.5f + 0.5f * (otherRadius - *radius) / d : 0.5f;
  for (int k = 0; k < 3; ++k)
    c[k] = d <= FLT_MAX ? centre[k] + t * (otherCentre[k] - centre[k]) : 0.5f * centre[k] + 0.5f * otherCentre[k];
  float r = (pn_distanceUp(c, centre) + *radius) * PN_SPHERE_GROW;
  float s = (pn_distanceUp(c, otherCentre) + otherRadius) * PN_SPHERE_GROW;
  memcpy(centre, c, sizeof c);
  *radius = PN_MAX(r, s);
}

#endif
