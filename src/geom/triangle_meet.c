/* triangle_meet.c: where two triangles meet. A point, a segment, or a polygon of up to six corners.
 *
 * The idea. The intersection of two convex sets is convex, and we collect its corners. A corner of it is one of these,
 * and never two of them at once:
 *
 *     a corner of one triangle that lies on the other          exact: the corner itself
 *     two edges crossing inside both                           computed
 *     an edge of one piercing the other inside                 computed
 *
 * Conversely each of these is a corner of the intersection. So the number of things found, each by exact signs, is the
 * number of corners, and that is the kind: 1 point, 2 segment, 3 or more polygon. Only coordinates are rounded.
 *
 * In a polygon two corners are neighbours exactly when they lie on the line of a common edge of a or b, since the
 * polygon is on one side of it. Each corner remembers its edges as bits, and the polygon is walked by common bits: no
 * angles.
 *
 * The position on an edge is p + t (q - p) with t = d(p) / (d(p) - d(q)), where d are determinants of opposite signs,
 * each with relative error below 2^-29: t is off by less than 2^-28, and a coordinate by less than 2^-27 of the
 * larger coordinate of the edge's ends, before it is rounded to float (half an ulp is 2^-25 to 2^-24 of it).
 */
#include "geom/triangle.h"

#include "base/fenv.h"

/* Corners found so far, with the edges they lie on: bits 0 to 2 for a, 3 to 5 for b; edge i runs from corner i to
 * i + 1. */
typedef struct pn_Found {
  pnMeeting meeting;
  unsigned edges[6];
} pn_Found;

static void pn_addPoint(pn_Found *found, float x, float y, float z, unsigned edges) {
  uint32_t n = found->meeting.pointCount;
  if (n == 6) return; /* never with finite coordinates; with NaN, which has no place here, nothing may be overwritten */
  found->meeting.points[n] = (pnVec3){x, y, z};
  found->edges[n] = edges;
  found->meeting.pointCount = n + 1;
}

/* The point of the edge pq where a determinant that is dp in p and dq in q, of opposite signs, is zero. */
static void pn_addOnEdge(pn_Found *found, const float *p, const float *q, double dp, double dq, unsigned edges) {
  double t = dp / (dp - dq);
  float x[3];
  for (int i = 0; i < 3; ++i) x[i] = (float)(p[i] + t * ((double)q[i] - p[i]));
  pn_addPoint(found, x[0], x[1], x[2], edges);
}

static int pn_edgeCount(const pn_Hull *hull) {
  return hull->count == 3 ? 3 : hull->count - 1;
}

/* The bits of the edges of a true triangle on whose line x lies, x in its plane. */
static unsigned pn_edgesThrough(const float *x, const pn_Hull *hull, unsigned firstBit) {
  unsigned bits = 0;
  int axis = hull->count == 3 ? pn_viewAxis(hull->p[0], hull->p[1], hull->p[2]) : -1;
  for (unsigned i = 0; i < 3 && axis >= 0; ++i)
    bits |= pn_turnAlong(axis, hull->p[i], hull->p[(i + 1) % 3], x) == 0 ? firstBit << i : 0u;
  return bits;
}

/* Corners of `from` on `onto`. Corners of both come once, from a: the pass for b, known by its bits, omits them. */
static void pn_addCorners(pn_Found *found, const pn_Hull *from, const pn_Hull *onto, unsigned fromBit,
                          unsigned ontoBit) {
  for (int i = 0; i < from->count; ++i) {
    const float *x = from->p[i];
    bool twice = false;
    for (int j = 0; j < onto->count && fromBit > ontoBit; ++j) twice = twice || pn_samePoint(x, onto->p[j]);
    if (!twice && pn_pointInHull(x, onto))
      pn_addPoint(found, x[0], x[1], x[2], pn_edgesThrough(x, from, fromBit) | pn_edgesThrough(x, onto, ontoBit));
  }
}

/* Two edges that cross in a point inside both. */
static void pn_addCrossing(pn_Found *found, const float *p, const float *q, const float *r, const float *s,
                           unsigned edges) {
  int axis = pn_viewAxis(p, q, r);
  if (axis < 0 || pn_orient3(p, q, r, s) != 0) return;
  if (pn_turnAlong(axis, p, q, r) * pn_turnAlong(axis, p, q, s) < 0 &&
      pn_turnAlong(axis, r, s, p) * pn_turnAlong(axis, r, s, q) < 0) {
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    double dp = pn_orient2Value(r[u], r[v], s[u], s[v], p[u], p[v]);
    double dq = pn_orient2Value(r[u], r[v], s[u], s[v], q[u], q[v]);
    pn_addOnEdge(found, p, q, dp, dq, edges);
  }
}

/* Edges of `from` that pierce the true triangle `through` inside. */
static void pn_addPiercings(pn_Found *found, const pn_Hull *from, const pn_Hull *through) {
  const float *a = through->p[0], *b = through->p[1], *c = through->p[2];
  for (int i = 0; i < pn_edgeCount(from) && through->count == 3; ++i) {
    const float *p = from->p[i], *q = from->p[(i + 1) % from->count];
    if (pn_orient3(a, b, c, p) * pn_orient3(a, b, c, q) >= 0) continue;
    int sum = pn_orient3(p, q, a, b) + pn_orient3(p, q, b, c) + pn_orient3(p, q, c, a);
    if (sum == 3 || sum == -3) pn_addOnEdge(found, p, q, pn_orient3Value(a, b, c, p), pn_orient3Value(a, b, c, q), 0u);
  }
}

/* Bring the corners of a polygon into order: from each to a neighbour not yet visited. */
static void pn_walkPolygon(pn_Found *found) {
  pnVec3 *points = found->meeting.points;
  for (uint32_t i = 1; i < found->meeting.pointCount; ++i) {
    for (uint32_t j = i; j < found->meeting.pointCount; ++j) {
      if (found->edges[i - 1] & found->edges[j]) {
        pnVec3 point = points[i];
        unsigned edges = found->edges[i];
        points[i] = points[j], found->edges[i] = found->edges[j];
        points[j] = point, found->edges[j] = edges;
        break;
      }
    }
  }
}

pnMeeting pnMeetTriangles(const pnTriangle *a, const pnTriangle *b) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(a != NULL && b != NULL);
  const float *pa[3] = {a->v[0], a->v[1], a->v[2]}, *pb[3] = {b->v[0], b->v[1], b->v[2]};
  pn_Found found = {{PN_MEETING_NONE, 0, {{0}}}, {0}};
  if (!pn_trianglesMeetExact(pa[0], pa[1], pa[2], pb[0], pb[1], pb[2])) return found.meeting;

  /* Collect the corners. */
  pn_Hull ha = pn_triangleHull(pa), hb = pn_triangleHull(pb);
  pn_addCorners(&found, &ha, &hb, 1u, 8u);
  pn_addCorners(&found, &hb, &ha, 8u, 1u);
  for (int i = 0; i < pn_edgeCount(&ha); ++i)
    for (int j = 0; j < pn_edgeCount(&hb); ++j)
      pn_addCrossing(&found, ha.p[i], ha.p[(i + 1) % ha.count], hb.p[j], hb.p[(j + 1) % hb.count], 1u << i | 8u << j);
  pn_addPiercings(&found, &ha, &hb);
  pn_addPiercings(&found, &hb, &ha);

  /* Their number is the kind. */
  uint32_t n = found.meeting.pointCount;
  found.meeting.kind = n >= 3 ? PN_MEETING_POLYGON : n == 2 ? PN_MEETING_SEGMENT : PN_MEETING_POINT;
  if (n > 3) pn_walkPolygon(&found);
  return found.meeting;
}
