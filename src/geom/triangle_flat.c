/* triangle_flat.c: what is left when a plane gives no sign. Triangles in one plane, and triangles without area.
 *
 * A triangle without area is a segment or a point; we first reduce it to that (pn_Hull), so that below there are only
 * honest points, segments and triangles, and one small function for each pair of kinds.
 *
 * Two things are used over and over. Points of one line are in order along it as they are in order of x, then y, then
 * z. And a plane may be looked at along an axis, dropping that coordinate, without losing anything, if three points
 * of the plane do not look like one line from there; one of the three axes always does for a true triangle.
 *
 * In the plane, two closed convex figures are apart exactly when some edge of one has the whole other strictly
 * outside: the differences of their points are a convex polygon with edges parallel to theirs, and zero lies outside
 * one of these.
 */
#include "geom/triangle.h"

/* ---------------------------------------------------------------- what a triangle looks like */

PN_CALLED int pn_viewAxis(const float *a, const float *b, const float *c) {
  const float *t[3] = {a, b, c};
  if (pn_repeatsCorner(t)) return -1;
  /* Start where the projected area is largest, as far as doubles can tell: usually the first try decides. */
  pn_Plane plane = pn_makePlane(a, b, c);
  double x = fabs(plane.n[0]), y = fabs(plane.n[1]), z = fabs(plane.n[2]);
  int first = x > y ? (x > z ? 0 : 2) : (y > z ? 1 : 2);
  for (int i = 0; i < 3; ++i) {
    int axis = (first + i) % 3;
    if (pn_turnAlong(axis, a, b, c) != 0) return axis;
  }
  return -1;
}

pn_Hull pn_triangleHull(const float *t[3]) {
  if (pn_viewAxis(t[0], t[1], t[2]) >= 0) return (pn_Hull){3, {t[0], t[1], t[2]}};
  /* On a line: its first and last point. */
  const float *first = t[0], *last = t[0];
  for (int i = 1; i < 3; ++i) {
    first = pn_lexicalLess(t[i], first) ? t[i] : first;
    last = pn_lexicalLess(last, t[i]) ? t[i] : last;
  }
  return pn_samePoint(first, last) ? (pn_Hull){1, {first, NULL, NULL}} : (pn_Hull){2, {first, last, NULL}};
}

/* ---------------------------------------------------------------- figures in a plane */

/* A hull seen along an axis, counter-clockwise. */
typedef struct pn_Flat {
  int count;
  double p[3][2];
} pn_Flat;

/* `turn` is the hull's orientation seen along the axis; segments have none. */
static pn_Flat pn_flatten(const float *const *p, int count, int axis, int turn) {
  int u = axis == 2 ? 0 : axis + 1, v = axis == 0 ? 2 : axis - 1;
  pn_Flat flat;
  flat.count = count;
  for (int i = 0; i < count; ++i) {
    const float *x = p[turn < 0 ? count - 1 - i : i];
    flat.p[i][0] = x[u];
    flat.p[i][1] = x[v];
  }
  return flat;
}

/* Are all points of b strictly to the right of the edge from p to q? */
static inline bool pn_allRight(const double *p, const double *q, const pn_Flat *b) {
  for (int i = 0; i < b->count; ++i)
    if (pn_orient2(p[0], p[1], q[0], q[1], b->p[i][0], b->p[i][1]) >= 0) return false;
  return true;
}

/* Does an edge of a have all of b outside? A segment is a polygon with two edges, there and back. */
static inline bool pn_hasSeparatingEdge(const pn_Flat *a, const pn_Flat *b) {
  for (int i = 0; i < a->count; ++i)
    if (pn_allRight(a->p[i], a->p[i + 1 < a->count ? i + 1 : 0], b)) return true;
  return false;
}

/* Two convex figures, not two segments on one line. */
static bool pn_meetInPlane(const pn_Flat *a, const pn_Flat *b) {
  return !pn_hasSeparatingEdge(a, b) && !pn_hasSeparatingEdge(b, a);
}

/* ---------------------------------------------------------------- one function for each pair of kinds */

static bool pn_pointOnSegment(const float *x, const float *p, const float *q) {
  return !pn_lexicalLess(x, p) && !pn_lexicalLess(q, x) && pn_viewAxis(p, q, x) < 0;
}

/* For segments with their lexically smaller end first, as pn_triangleHull makes them. */
static bool pn_segmentsMeet(const pn_Hull *a, const pn_Hull *b) {
  const float *p = a->p[0], *q = a->p[1], *r = b->p[0], *s = b->p[1];
  if (pn_orient3(p, q, r, s) != 0) return false;
  int axis = pn_viewAxis(p, q, r);
  if (axis < 0) axis = pn_viewAxis(p, q, s);
  if (axis < 0) return !pn_lexicalLess(q, r) && !pn_lexicalLess(s, p);
  pn_Flat fa = pn_flatten(a->p, 2, axis, 0), fb = pn_flatten(b->p, 2, axis, 0);
  return pn_meetInPlane(&fa, &fb);
}

static bool pn_segmentMeetsTriangle(const pn_Hull *segment, const pn_Hull *triangle) {
  const float *p = segment->p[0], *q = segment->p[1];
  const float *a = triangle->p[0], *b = triangle->p[1], *c = triangle->p[2];
  int sp = pn_orient3(a, b, c, p), sq = pn_orient3(a, b, c, q);
  if (sp * sq > 0) return false;
  if (sp == 0 && sq == 0) {
    int axis = pn_viewAxis(a, b, c);
    pn_Flat flat = pn_flatten(segment->p, 2, axis, 0);
    pn_Flat other = pn_flatten(triangle->p, 3, axis, pn_turnAlong(axis, a, b, c));
    return pn_meetInPlane(&flat, &other);
  }
  /* The line pierces the plane in one point; it is in the triangle when no edge has it outside. */
  int ab = pn_orient3(p, q, a, b), bc = pn_orient3(p, q, b, c), ca = pn_orient3(p, q, c, a);
  return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
}

static bool pn_pointInTriangle(const float *x, const pn_Hull *triangle) {
  const float *a = triangle->p[0], *b = triangle->p[1], *c = triangle->p[2];
  if (pn_orient3(a, b, c, x) != 0) return false;
  int axis = pn_viewAxis(a, b, c);
  int ab = pn_turnAlong(axis, a, b, x), bc = pn_turnAlong(axis, b, c, x), ca = pn_turnAlong(axis, c, a, x);
  return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
}

bool pn_pointInHull(const float *x, const pn_Hull *hull) {
  if (hull->count == 1) return pn_samePoint(x, hull->p[0]);
  return hull->count == 2 ? pn_pointOnSegment(x, hull->p[0], hull->p[1]) : pn_pointInTriangle(x, hull);
}

PN_CALLED bool pn_trianglesMeetFlat(const float *a[3], const float *b[3]) {
  /* Two true triangles come here only when they lie in one plane, and then they look true from the same axis. */
  int axis = pn_viewAxis(b[0], b[1], b[2]);
  int turnA = axis >= 0 ? pn_turnAlong(axis, a[0], a[1], a[2]) : 0;
  if (turnA != 0) {
    pn_Flat fa = pn_flatten(a, 3, axis, turnA), fb = pn_flatten(b, 3, axis, pn_turnAlong(axis, b[0], b[1], b[2]));
    return pn_meetInPlane(&fa, &fb);
  }

  /* At least one has no area: the smaller kind first. */
  pn_Hull ha = pn_triangleHull(a), hb = pn_triangleHull(b);
  const pn_Hull *small = ha.count <= hb.count ? &ha : &hb, *large = ha.count <= hb.count ? &hb : &ha;
  if (small->count == 1) return pn_pointInHull(small->p[0], large);
  return large->count == 2 ? pn_segmentsMeet(small, large) : pn_segmentMeetsTriangle(small, large);
}
