/* oracle.h: the geometry of two triangles in whole numbers of any length (GMP), written to be obviously right.
 *
 * It shares no idea with the library: no orientation signs of triangle corners, no case distinction by position. One
 * triangle is a list of points; the other is a list of half-spaces; the list is clipped by each half-space in turn,
 * and what is left is the intersection itself, with exact rational corners. Every question is then asked of that set.
 *
 * One thread, one context for the whole program. Floats and doubles convert without error.
 */
#ifndef PN_TEST_ORACLE_H
#define PN_TEST_ORACLE_H

#include "pinch/geom.h"
#include "pinch/lab.h"

void oracleOpen(void);
void oracleClose(void);

/* The same as setup and teardown of a group of tests; the second one fails when pinch still holds memory. */
int oracleSetUp(void **state);
int oracleTearDown(void **state);

/* Signs of the determinants of pinch/geom.h. */
int oracleOrient3(const double a[3], const double b[3], const double c[3], const double d[3]);
double oracleOrient3Value(const double a[3], const double b[3], const double c[3], const double d[3]); /* rounded */
int oracleOrient2(const double a[2], const double b[2], const double c[2]);

/* Intersect two triangles; the questions below are about the last pair. */
void oracleIntersect(const pnTriangle *a, const pnTriangle *b);

/* Is the intersection not empty? */
bool oracleMeet(void);

/* Is any of it outside the closed hull of the shared corners (count 1 or 2)? For 0: oracleMeet; for 3: true. */
bool oracleMeetBeyond(pnSharedCorners shared);

/* Does the ray from o along d (not 0) meet the triangle? The smallest t at which it does, rounded. */
bool oracleRay(const float o[3], const float d[3], const pnTriangle *triangle, double *outT);

/* Does the triangle meet the box? */
bool oracleBox(const float lo[3], const float hi[3], const pnTriangle *triangle);

/* Its corners, each once, in order around it, rounded to double; returns their number: 0, 1, 2, or 3 to 6. */
int oracleCorners(double out[6][3]);

#endif
