/* ball.h: the smallest ball around points. */
#ifndef PN_GEOM_BALL_H
#define PN_GEOM_BALL_H

#include "base/core.h"

/* The smallest ball around `count` points, four floats apart, at least one: the centre to float precision, and a radius
 * rounded up so that every point is inside. Cost: a few passes over the points. */
void pn_smallestBall(const float *points, uint32_t count, float outCentre[3], float *outRadius);

#endif
