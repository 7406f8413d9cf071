/* triangle.h: do two triangles meet? The exact tests, as the rooms above and the fast kernels call them.
 *
 * Corners are pointers to three floats, so that a mesh's vertices need no copying. Every answer is exact (see
 * pinch/geom.h); docs/geom.md has the drawings and the proofs.
 *
 *   triangle.c          the public names, and which kernel stands in front
 *   triangle_exact.c    two triangles in general position, by signs of orientation
 *   triangle_flat.c     triangles in one plane, and triangles that are segments or points
 *   triangle_beyond.c   neighbours: is there more than the vertex or edge they share?
 *   triangle_meet.c     where they meet
 *   triangle_moller.c, triangle_tropp.c    fast tests with certified error bounds
 */
#ifndef PN_GEOM_TRIANGLE_H
#define PN_GEOM_TRIANGLE_H

#include "geom/predicate.h"

/* ---------------------------------------------------------------- questions about two triangles */

/* Do the closed triangles a and b have a point in common? */
bool pn_trianglesMeetExact(const float *a0, const float *a1, const float *a2, const float *b0, const float *b1,
                           const float *b2);

/* pnTrianglesMeetBeyond for corners by pointer. */
bool pn_trianglesMeetBeyondPtr(const float *a[3], const float *b[3], pnSharedCorners shared);

/* The same question when the planes give no answer: the triangles lie in one plane, or one has no area. */
bool pn_trianglesMeetFlat(const float *a[3], const float *b[3]);

/* What a fast kernel says. */
typedef enum pn_Verdict { PN_APART, PN_MEETING, PN_UNCERTAIN } pn_Verdict;
pn_Verdict pn_trianglesMeetMoller(const float *a[3], const float *b[3]);
pn_Verdict pn_trianglesMeetTropp(const float *a[3], const float *b[3]);

/* ---------------------------------------------------------------- small parts the files share */

/* The corner after i, going round. */
static inline int pn_nextCorner(int i) {
  return i == 2 ? 0 : i + 1;
}

/* Distances of t's corners from a plane and the largest of their error bounds, for the kernels. Returns the signs as bits
 * (1 for a positive corner), or -1 when one of them is not certain: not larger than twice its error. */
static inline int pn_certainSides(const pn_Plane *plane, const float *t[3], double d[3], double *error) {
  *error = 0.0;
  int bits = 0;
  bool certain = true;
  for (int i = 0; i < 3; ++i) {
    pn_Estimate e = pn_estimateSide(plane, t[i]);
    certain = certain && fabs(e.value) > 2.0 * e.error;
    d[i] = e.value;
    *error = PN_MAX(*error, e.error);
    bits |= (e.value > 0.0) << i;
  }
  return certain ? bits : -1;
}

/* The corner whose sign differs from the other two, from the bits of pn_certainSides (not for 0 and 7). */
PN_TABLE unsigned char pn_loneCorners[8] = {0, 0, 1, 2, 2, 1, 0, 0};
static inline int pn_loneCorner(int bits) {
  return pn_loneCorners[bits];
}

/* The convex hull of one, two or three points, none of them superfluous: a point, a segment or a true triangle. */
typedef struct pn_Hull {
  int count;
  const float *p[3];
} pn_Hull;

/* What a triangle looks like: itself, or the segment or point it has shrunk to. */
pn_Hull pn_triangleHull(const float *t[3]);

/* Does x lie on the closed hull? */
bool pn_pointInHull(const float *x, const pn_Hull *hull);

/* Do points of one line come in the order a, b along x, then y, then z? On a line that is the order along the line. */
static inline bool pn_lexicalLess(const float *a, const float *b) {
  for (int i = 0; i < 3; ++i)
    if (a[i] != b[i]) return a[i] < b[i];
  return false;
}

static inline bool pn_samePoint(const float *a, const float *b) {
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* Are two of the corners one? That is a segment or a point, as lines between triangles often are. */
static inline bool pn_repeatsCorner(const float *const t[3]) {
  return pn_samePoint(t[0], t[1]) || pn_samePoint(t[1], t[2]) || pn_samePoint(t[2], t[0]);
}

/* Orientation of three points seen along an axis: the one that is dropped. */
static inline int pn_turnAlong(int axis, const float *a, const float *b, const float *c) {
  int u = axis == 2 ? 0 : axis + 1, v = axis == 0 ? 2 : axis - 1;
  return pn_orient2(a[u], a[v], b[u], b[v], c[u], c[v]);
}

/* An axis along which a, b, c do not look like one line; -1 when they are on one. */
int pn_viewAxis(const float *a, const float *b, const float *c);

#endif
