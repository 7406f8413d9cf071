/* pinch/geom.h: exact questions about points and triangles. Pure functions: no memory, no state, any thread.
 *
 * Every answer is what exact arithmetic on the given coordinates would say. There is no epsilon. Triangles are closed
 * sets: touching counts. A triangle of zero area is the segment or point it looks like, and is treated as such.
 * An answer does not depend on the order of the triangles or of their corners.
 *
 * Range: float functions take every finite float, subnormals included. Double functions are exact while no
 * non-zero coordinate is outside 1e-70 ... 1e+90 in magnitude; outside it they may answer 0 for a tiny sign.
 * NaN and infinity have no place here: meshes and poses refuse them before any of these functions is asked.
 *
 * Cost: docs/geom.md has measurements, and how the answers are found.
 */
#ifndef PINCH_GEOM_H
#define PINCH_GEOM_H

#include "pinch/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sign (-1, 0, +1) of the determinant | b-a  c-a  d-a |, which is (b-a) x (c-a) . (d-a): +1 when a, b, c run
 * counter-clockwise as seen from d, -1 when clockwise, 0 when the four points lie in one plane. The origin, the unit
 * points of x and y, and that of z give +1. */
PN_API int pnOrient3(const float a[3], const float b[3], const float c[3], const float d[3]);
PN_API int pnOrient3Double(const double a[3], const double b[3], const double c[3], const double d[3]);

/* Sign of the determinant | b-a  c-a |: +1 when a, b, c turn left (x to the right, y up), -1 right, 0 on one line. */
PN_API int pnOrient2(const float a[2], const float b[2], const float c[2]);
PN_API int pnOrient2Double(const double a[2], const double b[2], const double c[2]);

/* A triangle by its corners. */
typedef struct pnTriangle {
  float v[3][3];
} pnTriangle;

/* Do two closed triangles have a point in common? */
PN_API bool pnTrianglesMeet(const pnTriangle *a, const pnTriangle *b);

/* Corners two neighbouring triangles share: corner a[i] of one is corner b[i] of the other, i < count (0 to 3).
 * Corners are numbered 0 to 2, each named at most once; the coordinates of shared corners must be equal. */
typedef struct pnSharedCorners {
  uint8_t count;
  uint8_t a[3], b[3];
} pnSharedCorners;

/* Do two triangles meet in more than the vertex or edge they share? That is: is their intersection, without the
 * closed shared feature (the point, or the segment between two shared corners), not empty? So these count: a
 * neighbour folded flat onto the triangle, an edge that runs through it or along one of its edges, another corner
 * that lies on it, shared in coordinates or not. Those do not: a hinge, flat neighbours, a third corner that lies
 * on the shared edge itself. With count 0 it is pnTrianglesMeet; with count 3 the triangles are the same set of
 * points, which is more than an edge: true. */
PN_API bool pnTrianglesMeetBeyond(const pnTriangle *a, const pnTriangle *b, pnSharedCorners shared);

/* Where two triangles meet, for reports and pictures. The kind and the number of points are exact. A point that is
 * a corner of a triangle is that corner; any other is rounded to float and off by less than one ulp of the largest
 * coordinate. */
typedef enum pnMeetingKind { PN_MEETING_NONE, PN_MEETING_POINT, PN_MEETING_SEGMENT, PN_MEETING_POLYGON } pnMeetingKind;

/* The intersection by its corners. */
typedef struct pnMeeting {
  pnMeetingKind kind;
  uint32_t pointCount; /* 0, 1, 2, or 3 to 6: each corner once, in order around the polygon, either way round */
  pnVec3 points[6];
} pnMeeting;

/* Costs 0.2 microseconds when they are apart and 1 to 3 when they meet: not for inner loops. */
PN_API pnMeeting pnMeetTriangles(const pnTriangle *a, const pnTriangle *b);

/* ---------------------------------------------------------------- moving points: the first contact in time */

/* Four points that move on straight lines, each at its own speed: where they are at t = 0 and at t = 1. For a vertex and a
 * face the first is the vertex, the others are the corners of the face; for two edges the first two are the ends of one,
 * the last two those of the other. */
typedef struct pnMoving {
  float from[4][3], to[4][3];
} pnMoving;
typedef struct pnMovingDouble {
  double from[4][3], to[4][3];
} pnMovingDouble;

/* Do two moving features meet at a time t in [0, 1], and when first? 0 <= lo <= first time <= hi <= 1, and hi - lo < 1e-6:
 * lo is never late, hi is never early. Both are 0 when they do not meet. */
typedef struct pnImpactSpan {
  bool meets;
  double lo, hi;
} pnImpactSpan;

/* A vertex and a face, two edges; closed, as all is here: touching counts, at t = 0 and t = 1 too. `meets` is what exact
 * arithmetic says about the given numbers, for every finite float, whatever happens on the way: a touch without
 * crossing, a face that shrinks to a segment or a point, edges that become parallel, motion in one plane or on one
 * line, none at all. Doubles are exact when the smallest bit set in any of the 24 numbers is worth at least 2^-640
 * of the largest number; beyond that the smallest ones may be cut down to that. The same bits on every machine.
 *
 * Dearer by far when it takes whole numbers to tell (docs/geom.md). No memory; up to 64 KB of stack. */
PN_API pnImpactSpan pnImpactVertexFace(const pnMoving *points);
PN_API pnImpactSpan pnImpactEdgeEdge(const pnMoving *points);
PN_API pnImpactSpan pnImpactVertexFaceDouble(const pnMovingDouble *points);
PN_API pnImpactSpan pnImpactEdgeEdgeDouble(const pnMovingDouble *points);

/* The same for many, in less time where they are apart, as most candidates of a broad phase are: outSpans[i] is what the functions above
 * say about points[i], to the bit. */
PN_API void pnImpactsVertexFace(const pnMovingDouble *points, size_t count, pnImpactSpan *outSpans);
PN_API void pnImpactsEdgeEdge(const pnMovingDouble *points, size_t count, pnImpactSpan *outSpans);

#ifdef __cplusplus
}
#endif

#endif
