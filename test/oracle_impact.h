/* oracle_impact.h: do moving points meet? In whole numbers of any length (GMP), by a way of its own.
 *
 * It shares no idea with the library. Inside or outside is told by barycentric coordinates, quartics in t; on a
 * segment, by the square of a cross product; signs at a root by greatest common divisors and Sturm's chains; and a motion in
 * one plane is tried at every root of every polynomial that the answer depends on: contact is a closed set of times,
 * so if it is not empty it holds t = 0 or begins where one of these signs changes.
 */
#ifndef PN_TEST_ORACLE_IMPACT_H
#define PN_TEST_ORACLE_IMPACT_H

#include "pinch/geom.h"

/* Is there a contact at a time in [lo, hi]? Two edges, or a vertex and a face. */
bool oracleImpact(bool edges, const pnMovingDouble *points, double lo, double hi);

/* Is the span right: does `meets` hold just when there is a contact in [0, 1], is the first one in [lo, hi], is it narrow? */
bool oracleSpan(bool edges, const pnMovingDouble *points, pnImpactSpan span);

/* Print the points so that they can be pasted into a test: hexadecimal numbers. */
void printMoving(const pnMovingDouble *points);

#endif
