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

#endif
