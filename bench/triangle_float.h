/* triangle_float.h: a plain float triangle test, for peers that bring none of their own.
 *
 * [Guigue03]: signs of the corners against the other triangle's plane, then two more orientation signs. Closed sets,
 * coplanar triangles by their projections. It is fast and *not exact*: rounding decides close cases. Peers may use
 * it so that their times are not burdened with an exact test; the pair hash shows where it fails. */
#ifndef PN_BENCH_TRIANGLE_FLOAT_H
#define PN_BENCH_TRIANGLE_FLOAT_H

#include "pinch/geom.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct pnFloat3 {
  float x, y, z;
} pnFloat3;

static inline pnFloat3 pn_subtract3(pnFloat3 a, pnFloat3 b) {
  pnFloat3 d = {a.x - b.x, a.y - b.y, a.z - b.z};
  return d;
}
static inline pnFloat3 pn_cross3(pnFloat3 a, pnFloat3 b) {
  pnFloat3 c = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
  return c;
}
static inline float pn_dot3(pnFloat3 a, pnFloat3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* ---------------------------------------------------------------- in a common plane */

static inline float pn_orient2Float(const float a[2], const float b[2], const float c[2]) {
  return (a[0] - c[0]) * (b[1] - c[1]) - (a[1] - c[1]) * (b[0] - c[0]);
}

static inline bool pn_segmentsMeetFloat(const float a[2], const float b[2], const float c[2], const float d[2]) {
  float abc = pn_orient2Float(a, b, c), abd = pn_orient2Float(a, b, d);
  float cda = pn_orient2Float(c, d, a), cdb = pn_orient2Float(c, d, b);
  /* on one line: do the ranges overlap? */
  if (abc == 0.0f && abd == 0.0f && cda == 0.0f && cdb == 0.0f) {
    return fminf(a[0], b[0]) <= fmaxf(c[0], d[0]) && fminf(c[0], d[0]) <= fmaxf(a[0], b[0]) &&
           fminf(a[1], b[1]) <= fmaxf(c[1], d[1]) && fminf(c[1], d[1]) <= fmaxf(a[1], b[1]);
  }
  return !((abc > 0.0f && abd > 0.0f) || (abc < 0.0f && abd < 0.0f) || (cda > 0.0f && cdb > 0.0f) ||
           (cda < 0.0f && cdb < 0.0f));
}

static inline bool pn_pointInTriangleFloat(const float p[2], float t[3][2]) {
  float a = pn_orient2Float(t[0], t[1], p), b = pn_orient2Float(t[1], t[2], p), c = pn_orient2Float(t[2], t[0], p);
  return (a >= 0.0f && b >= 0.0f && c >= 0.0f) || (a <= 0.0f && b <= 0.0f && c <= 0.0f);
}

/* Along the largest part of the normal, an edge of one crosses an edge of the other or one lies inside the other. */
static inline bool pn_coplanarMeetFloat(const pnFloat3 a[3], const pnFloat3 b[3], pnFloat3 normal) {
  float x = fabsf(normal.x), y = fabsf(normal.y), z = fabsf(normal.z);
  int drop = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
  float flatA[3][2], flatB[3][2];
  for (int i = 0; i < 3; ++i) {
    flatA[i][0] = drop == 0 ? a[i].y : a[i].x;
    flatA[i][1] = drop == 2 ? a[i].y : a[i].z;
    flatB[i][0] = drop == 0 ? b[i].y : b[i].x;
    flatB[i][1] = drop == 2 ? b[i].y : b[i].z;
  }
  for (int i = 0; i < 9; ++i)
    if (pn_segmentsMeetFloat(flatA[i / 3], flatA[(i / 3 + 1) % 3], flatB[i % 3], flatB[(i % 3 + 1) % 3])) return true;
  return pn_pointInTriangleFloat(flatA[0], flatB) || pn_pointInTriangleFloat(flatB[0], flatA);
}

/* ---------------------------------------------------------------- in space */

/* The corner that is alone on its side of a plane, given the signed distances of the three. outBehind says that its
 * side is the negative one. A corner on the plane counts to the side of the other one where there is a choice. */
static inline int pn_loneCorner(float d0, float d1, float d2, bool *outBehind) {
  int above = (d0 > 0.0f) + (d1 > 0.0f) + (d2 > 0.0f), below = (d0 < 0.0f) + (d1 < 0.0f) + (d2 < 0.0f);
  if (above == 1) {
    *outBehind = false;
    return d0 > 0.0f ? 0 : d1 > 0.0f ? 1 : 2;
  }
  if (below == 1) {
    *outBehind = true;
    return d0 < 0.0f ? 0 : d1 < 0.0f ? 1 : 2;
  }
  /* one on the plane, two strictly on one side of it */
  *outBehind = above == 2;
  return d0 == 0.0f ? 0 : d1 == 0.0f ? 1 : 2;
}

static inline bool pn_trianglesMeetFloat(const pnFloat3 a[3], const pnFloat3 b[3]) {
  /* all corners of one strictly on one side of the other's plane */
  pnFloat3 normalB = pn_cross3(pn_subtract3(b[0], b[2]), pn_subtract3(b[1], b[2]));
  float a0 = pn_dot3(pn_subtract3(a[0], b[2]), normalB), a1 = pn_dot3(pn_subtract3(a[1], b[2]), normalB);
  float a2 = pn_dot3(pn_subtract3(a[2], b[2]), normalB);
  if ((a0 > 0.0f && a1 > 0.0f && a2 > 0.0f) || (a0 < 0.0f && a1 < 0.0f && a2 < 0.0f)) return false;
  pnFloat3 normalA = pn_cross3(pn_subtract3(a[1], a[0]), pn_subtract3(a[2], a[0]));
  float b0 = pn_dot3(pn_subtract3(b[0], a[2]), normalA), b1 = pn_dot3(pn_subtract3(b[1], a[2]), normalA);
  float b2 = pn_dot3(pn_subtract3(b[2], a[2]), normalA);
  if ((b0 > 0.0f && b1 > 0.0f && b2 > 0.0f) || (b0 < 0.0f && b1 < 0.0f && b2 < 0.0f)) return false;
  if ((a0 == 0.0f && a1 == 0.0f && a2 == 0.0f) || (b0 == 0.0f && b1 == 0.0f && b2 == 0.0f))
    return pn_coplanarMeetFloat(a, b, normalA);

  /* turn both so that the lone corner comes first and lies in front; a triangle is reversed to bring the other one
   * in front */
  bool behindA = false, behindB = false;
  int i = pn_loneCorner(a0, a1, a2, &behindA), j = pn_loneCorner(b0, b1, b2, &behindB);
  pnFloat3 p1 = a[i], q1 = a[(i + (behindB ? 2 : 1)) % 3], r1 = a[(i + (behindB ? 1 : 2)) % 3];
  pnFloat3 p2 = b[j], q2 = b[(j + (behindA ? 2 : 1)) % 3], r2 = b[(j + (behindA ? 1 : 2)) % 3];

  /* the two intervals on the common line overlap when their ends come in this order */
  pnFloat3 n = pn_cross3(pn_subtract3(p2, q1), pn_subtract3(p1, q1));
  if (pn_dot3(pn_subtract3(q2, q1), n) > 0.0f) return false;
  n = pn_cross3(pn_subtract3(p2, p1), pn_subtract3(r1, p1));
  return !(pn_dot3(pn_subtract3(r2, p1), n) > 0.0f);
}

/* The same for triangles of two bodies, by their vertex numbers. */
static inline bool pn_bodyTrianglesMeetFloat(const float *verticesA, const uint32_t *a, const float *verticesB,
                                             const uint32_t *b) {
  pnFloat3 s[3], t[3];
  for (int i = 0; i < 3; ++i) {
    const float *v = verticesA + 3 * (size_t)a[i], *w = verticesB + 3 * (size_t)b[i];
    s[i].x = v[0], s[i].y = v[1], s[i].z = v[2];
    t[i].x = w[0], t[i].y = w[1], t[i].z = w[2];
  }
  return pn_trianglesMeetFloat(s, t);
}

/* And by pinch's exact test, one pair at a time. */
static inline bool pn_bodyTrianglesMeetExact(const float *verticesA, const uint32_t *a, const float *verticesB,
                                             const uint32_t *b) {
  pnTriangle s, t;
  for (int i = 0; i < 9; ++i) {
    s.v[i / 3][i % 3] = verticesA[3 * (size_t)a[i / 3] + i % 3];
    t.v[i / 3][i % 3] = verticesB[3 * (size_t)b[i / 3] + i % 3];
  }
  return pnTrianglesMeet(&s, &t);
}

#endif
