/* oracle_motions.h: motions of four points that break tests of moving features, made by formula. Shared by the tests and the
 * long fuzz. */
#ifndef PN_TEST_ORACLE_MOTIONS_H
#define PN_TEST_ORACLE_MOTIONS_H

#include "oracle_cases.h"

/* Points anywhere, with coordinates of one sort: small whole numbers, floats, doubles, ones with exponents far apart. */
enum { MOTION_SORTS = 6 };
pnMovingDouble randomMotion(Random *r, int sort);

/* Make it worse: still points, motion in a plane or on a line, shared places, a point on the other feature. */
void spoilMotion(pnMovingDouble *p, Random *r);

/* Small whole coordinates, turned by any matrix and rounded: what was touching, flat or parallel is so but for the last bits. */
pnMovingDouble motionOnTheEdge(Random *r);

/* The motion as the filter takes it: for places[4] pointing into x. */
#define MOTION_PLACES(p, x, places)                                                                             \
  pnD2 x[4][3];                                                                                                 \
  for (int i_ = 0; i_ < 12; ++i_) x[i_ / 3][i_ % 3] = (pnD2){(p).from[i_ / 3][i_ % 3], (p).to[i_ / 3][i_ % 3]}; \
  const pnD2 *const places[4] = {x[0], x[1], x[2], x[3]}

#endif
