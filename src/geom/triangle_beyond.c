/* triangle_beyond.c: neighbours. Do two triangles meet in more than the vertex or edge they share?
 *
 * Exactly: is the intersection of the two closed triangles minus the closed shared feature (the point v, the segment
 * uv) not empty? That covers everything: a corner that is not shared but has the same coordinates, an edge folded
 * onto the neighbour, triangles without area.
 *
 * ONE SHARED CORNER v. Both triangles are convex and contain v, so if they have another point x in common they have the
 * whole segment vx: all that counts are the directions in which they leave v. Two triangles in different planes leave
 * v together along at most one direction, on the line L of the two planes. Each cuts L in a segment [v,i] and [v,k], i
 * on the edge opposite to v in a, k in b (if a corner pair is strictly on one side, only v is left, and we are done).
 * They point the same way exactly when i lies in b or k in a, and "the line a1 a2 pierces b" is three signs, of
 * which two we know and the third (a1, a2, b1, b2) is the same for both questions.
 * In one plane: two angles below 180 degrees at v have a ray in common exactly when a side of one is in the other.
 * A triangle without area is one or two segments from v: one or two rays.
 *
 * A SHARED EDGE uv. Different planes: they share only the edge. One plane: more exactly when p and q are on the same
 * side of uv. If a has no area it reaches beyond uv only along the line, and there b is only if it has no area
 * either.
 */
#include "geom/triangle.h"

/* ---------------------------------------------------------------- one shared corner */

/* Is the ray from v through x the ray from v through p? Neither is v. */
static bool pn_sameRay(const float *v, const float *p, const float *x) {
  return pn_viewAxis(v, p, x) < 0 && pn_lexicalLess(v, p) == pn_lexicalLess(v, x);
}

/* Is the ray from v through x in the closed angle p v q? All in one plane, seen truly along the axis; p v q is a
 * true angle. */
static bool pn_rayInAngle(int axis, const float *v, const float *p, const float *q, const float *x) {
  int turn = pn_turnAlong(axis, v, p, q);
  return pn_turnAlong(axis, v, p, x) * turn >= 0 && pn_turnAlong(axis, v, x, q) * turn >= 0;
}

/* Does the ray from v through x, x not v, run along the triangle t, whose first corner is v? */
static bool pn_rayOnTriangle(const float *const t[3], const float *x) {
  const float *v = t[0];
  int axis = pn_viewAxis(v, t[1], t[2]);
  if (axis >= 0) return pn_orient3(v, t[1], t[2], x) == 0 && pn_rayInAngle(axis, v, t[1], t[2], x);
  for (int i = 1; i < 3; ++i)
    if (!pn_samePoint(v, t[i]) && pn_sameRay(v, t[i], x)) return true;
  return false;
}

/* One of the triangles has no area, or both lie in one plane. Both begin with v. */
static bool pn_meetBeyondCornerFlat(const float *const a[3], const float *const b[3]) {
  const float *v = a[0];
  int axis = pn_viewAxis(v, a[1], a[2]);
  bool aTrue = axis >= 0, bTrue = pn_viewAxis(v, b[1], b[2]) >= 0;

  /* Two angles in one plane. */
  if (aTrue && bTrue) {
    return pn_rayInAngle(axis, v, a[1], a[2], b[1]) || pn_rayInAngle(axis, v, a[1], a[2], b[2]) ||
           pn_rayInAngle(axis, v, b[1], b[2], a[1]) || pn_rayInAngle(axis, v, b[1], b[2], a[2]);
  }

  /* The rays of one without area against the other. */
  const float *const *rays = aTrue ? b : a, *const *other = aTrue ? a : b;
  for (int i = 1; i < 3; ++i)
    if (!pn_samePoint(v, rays[i]) && pn_rayOnTriangle(other, rays[i])) return true;
  return false;
}

/* Signs x, y, z agree: none is opposite to another. */
static inline bool pn_agree(int x, int y, int z) {
  return (x >= 0 && y >= 0 && z >= 0) || (x <= 0 && y <= 0 && z <= 0);
}

/* Both triangles begin with the shared corner. */
static bool pn_meetBeyondCorner(const float *const a[3], const float *const b[3]) {
  const float *v = a[0], *a1 = a[1], *a2 = a[2], *b1 = b[1], *b2 = b[2];

  /* Sides of a's other corners against b's plane. */
  int sa1 = pn_orient3(v, b1, b2, a1), sa2 = pn_orient3(v, b1, b2, a2);
  if (sa1 * sa2 > 0) return false;
  if (sa1 == 0 && sa2 == 0) return pn_meetBeyondCornerFlat(a, b);
  int sb1 = pn_orient3(v, a1, a2, b1), sb2 = pn_orient3(v, a1, a2, b2);
  if (sb1 * sb2 > 0) return false;
  if (sb1 == 0 && sb2 == 0) return pn_meetBeyondCornerFlat(a, b);

  /* Line a1 a2 against the edges v b1, b1 b2, b2 v; line b1 b2 against v a1, a1 a2, a2 v. Cyclic steps of three
   * keep a sign: | a1 a2 v b1 | = | v a1 a2 b1 | = sb1 and | a1 a2 b2 v | = -sb2; swapping pairs keeps it too, so
   * `middle` serves both. */
  int middle = pn_orient3(a1, a2, b1, b2);
  return pn_agree(sb1, middle, -sb2) || pn_agree(sa1, middle, -sa2);
}

/* ---------------------------------------------------------------- a shared edge */

static bool pn_meetBeyondEdge(const float *u, const float *v, const float *p, const float *q) {
  /* The edge is a point: two segments from u. */
  if (pn_samePoint(u, v)) return !pn_samePoint(u, p) && !pn_samePoint(u, q) && pn_sameRay(u, p, q);
  if (pn_orient3(u, v, p, q) != 0) return false;
  int axis = pn_viewAxis(u, v, p);
  if (axis >= 0) {
    /* Same side of the line? If q is on the line: b has no area, and a leaves the line at once. */
    return pn_turnAlong(axis, u, v, p) * pn_turnAlong(axis, u, v, q) > 0;
  }
  if (pn_viewAxis(u, v, q) >= 0) return false;
  /* All on one line: both reach beyond the same end of the edge. */
  const float *first = pn_lexicalLess(u, v) ? u : v, *last = first == u ? v : u;
  return (pn_lexicalLess(p, first) && pn_lexicalLess(q, first)) || (pn_lexicalLess(last, p) && pn_lexicalLess(last, q));
}

PN_CALLED bool pn_trianglesMeetBeyondPtr(const float *a[3], const float *b[3], pnSharedCorners shared) {
  if (shared.count == 0) return pn_trianglesMeetExact(a[0], a[1], a[2], b[0], b[1], b[2]);
  if (shared.count == 1) {
    int i = shared.a[0], j = shared.b[0];
    const float *ta[3] = {a[i], a[(i + 1) % 3], a[(i + 2) % 3]};
    const float *tb[3] = {b[j], b[(j + 1) % 3], b[(j + 2) % 3]};
    return pn_meetBeyondCorner(ta, tb);
  }
  if (shared.count == 2) {
    const float *p = a[3 - shared.a[0] - shared.a[1]], *q = b[3 - shared.b[0] - shared.b[1]];
    return pn_meetBeyondEdge(a[shared.a[0]], a[shared.a[1]], p, q);
  }
  return true;
}
