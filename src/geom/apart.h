/* apart.h: how far two triangles are apart, that do not meet.
 *
 * Then the two closest points are a corner of one and a point of the other, or points of two edges: six times the closest point of a
 * triangle (distance.h) and nine times that of two segments (Ericson, Real-Time Collision Detection, 2005, 5.1.9), in double.
 *
 * Rounding: the square of the distance is right up to about 2^-40 of the square of the larger of the distance and the size of the
 * triangles. Edges that are parallel to within 2^-23 are taken as parallel, which costs 2^-46 of their length squared; where they are
 * less so the place along them is off by 2^-53 / angle^2 and the square of the distance by the angle squared times that squared. All that makes
 * it larger. It is the distance of two points of the triangles, and so never less by more than these are off (PN_POINT_ERROR). */
#ifndef PN_GEOM_APART_H
#define PN_GEOM_APART_H

#include "geom/distance.h"

/* The squared distance of triangles with corners a and b, and the closest points. */
double pn_triangleDistance2(const float *const a[3], const float *const b[3], double onA[3], double onB[3]);

#endif
