/* pinch/geom.h: exact questions about points and triangles. Pure functions: no memory, no state, any thread.
 *
 * Every answer is what exact arithmetic on the given coordinates would say. Triangles are closed sets:
 * touching counts. A triangle of zero area is the segment or point it looks like, and is treated as such.
 *
 * Range: float functions take every finite float, subnormals included. Double functions are exact while no
 * non-zero coordinate is outside 1e-70 ... 1e+90 in magnitude; outside it they may answer 0 for a tiny sign.
 */
#ifndef PINCH_GEOM_H
#define PINCH_GEOM_H

#include "pinch/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sign (-1, 0, +1) of the determinant | b-a  c-a  d-a |: +1 when d is on the side of triangle abc from which
 * a, b, c run counter-clockwise... seen from d's opposite side; 0 when the four points lie in one plane. */
PN_API int pnOrient3(const float a[3], const float b[3], const float c[3], const float d[3]);
PN_API int pnOrient3Double(const double a[3], const double b[3], const double c[3], const double d[3]);

/* Sign of the determinant | b-a  c-a |: +1 when a, b, c turn left. */
PN_API int pnOrient2(const float a[2], const float b[2], const float c[2]);
PN_API int pnOrient2Double(const double a[2], const double b[2], const double c[2]);

/* A triangle by its corners. */
typedef struct pnTriangle {
  float v[3][3];
} pnTriangle;

/* Which fast test stands in front of the exact one. All of them give the same answer; only the time differs. */
typedef enum pnKernel {
  PN_KERNEL_DEFAULT, /* the fastest measured */
  PN_KERNEL_MOLLER,  /* Moeller 1997: intervals on the line where the planes meet */
  PN_KERNEL_TROPP,   /* Tropp, Tal, Shimshoni 2006: determinants reused between edges */
  PN_KERNEL_EXACT,   /* no filter: orientation signs only */
  PN_KERNEL_COUNT
} pnKernel;

/* Do two closed triangles have a point in common? */
PN_API bool pnTrianglesMeet(const pnTriangle *a, const pnTriangle *b);
PN_API bool pnTrianglesMeetBy(pnKernel kernel, const pnTriangle *a, const pnTriangle *b);

/* Corners two neighbouring triangles share: corner a[i] of one is corner b[i] of the other, i < count (0 to 3).
 * The coordinates of shared corners must be equal. */
typedef struct pnSharedCorners {
  uint8_t count;
  uint8_t a[3], b[3];
} pnSharedCorners;

/* Do two triangles meet in more than the vertex or edge they share? With count 0 it is pnTrianglesMeet; with
 * count 3 the triangles are the same set of points, which is more than an edge: true. A shared corner or edge that
 * coincides with more of the other triangle (folded flat onto it, running through it) is true. */
PN_API bool pnTrianglesMeetBeyond(const pnTriangle *a, const pnTriangle *b, pnSharedCorners shared);

/* Where two triangles meet, for reports and pictures. Whether they meet is exact; the points are the exact ones
 * rounded to float (a few ulp of the largest coordinate). */
typedef enum pnMeetingKind { PN_MEETING_NONE, PN_MEETING_POINT, PN_MEETING_SEGMENT, PN_MEETING_POLYGON } pnMeetingKind;
typedef struct pnMeeting {
  pnMeetingKind kind;
  uint32_t pointCount; /* 0, 1, 2, or 3 to 6 in order around the polygon */
  pnVec3 points[6];
} pnMeeting;
PN_API pnMeeting pnMeetTriangles(const pnTriangle *a, const pnTriangle *b);

#ifdef __cplusplus
}
#endif

#endif
