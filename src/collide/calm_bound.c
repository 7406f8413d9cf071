/* calm_bound.c: by how much a displacement brings two triangles together. See calm.h.
 *
 * Wanted are bounds of (g(x) - g(y)).(x - y) / |x - y|^2 from below (-down) and from above (up), over x in S and y in T,
 * x != y, for g linear on each triangle. In all cases a linear map G of space is taken out first,
 *
 *     g(x) - g(y)  =  G (x - y) + (r(x) - r(y)),      r(x) = g(x) - G x,
 *
 * which contributes an eigenvalue of its symmetric part, the least or the greatest, and what is left is bounded by
 * its length. G is chosen so that little is left: for smooth displacements r is of second order.
 *
 *   none shared    S and T are `distance` apart and |r(x) - r(y)| is convex: its largest value among the nine pairs of
 *                  corners, divided by the distance. G: the mean of the two gradients.
 *   one corner p   x = p + a, y = p + b with a, b in two cones that meet at the angle theta or more, and r(x) - r(y) =
 *                  A a - B b.  |a - b|^2 >= (1 - cos theta) (|a|^2 + |b|^2) when theta <= 90 degrees, and >= |a|^2 + |b|^2
 *                  beyond, so with Cauchy's inequality  |A a - B b| <= sqrt((|A|^2 + |B|^2) / openness) |a - b|,
 *                  openness = 1 - max(0, cos theta). G: the mean of the gradients.
 *   one edge e     G takes over the derivative along the edge, which both have in common; then A and B see only the parts
 *                  of a and b at right angles to e, two rays at the dihedral angle: the same inequality with that angle.
 *                  With u, v the unit vectors into S and T across the edge and g_u, g_v the derivatives along them,
 *                  G (u - v) = g_u - g_v and G (u + v) = 0 leave A u = B v = (g_u + g_v) / 2. Or G (u + v) = g_u + g_v,
 *                  which leaves nothing and may be large where the surface is flat.
 *
 * A gradient says nothing about the direction n at right angles to the surface: G n is free, and two choices are tried, 0 and
 * -G^T n. With the second, displacements along n fall out of the symmetric part altogether, as they should: a
 * surface that is pushed up and down over a plane does not meet itself.
 *
 * Everything is in double; its rounding (below 1e-12 relative for triangles that are not nearly flat) is far below the
 * 1e-6 by which calm_make.c rounds up. */
#include "collide/calm.h"

#include "geom/distance.h"

#include <float.h>
#include <math.h>

/* ---------------------------------------------------------------- vectors */

static double square(double x) {
  return x * x;
}
static double length3(const double *a) {
  return sqrt(pn_dot3(a, a));
}
static void scale3(double *a, double s) {
  for (int k = 0; k < 3; ++k) a[k] *= s;
}

/* The least and the greatest eigenvalue of the symmetric part of a matrix, which are real: the formula with the cosine.
 * Its rounding is below 1e-12 of the sizes, for which 1e-9 is given away. */
static void eigenvalues(double m[3][3], double *outLeast, double *outMost) {
  double a[3][3], size = 0, off = 0, third = (m[0][0] + m[1][1] + m[2][2]) / 3, p = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      a[i][j] = 0.5 * (m[i][j] + m[j][i]) - (i == j ? third : 0);
      size += fabs(m[i][j]);
      off += i < j ? a[i][j] * a[i][j] : 0;
    }
    p += a[i][i] * a[i][i];
  }
  p = sqrt((p + 2 * off) / 6);
  double slack = 1e-9 * size, least = 0, most = 0;
  if (p > slack) {
    double det = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
                 a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
    double angle = acos(fmin(1, fmax(-1, det / (2 * p * p * p)))) / 3;
    most = 2 * p * cos(angle);
    least = 2 * p * cos(angle + 2.0943951023931953); /* a third of a turn on */
  }
  *outLeast = third + least - 4 * slack;
  *outMost = third + most + 4 * slack;
}

/* The better of what is known and what one choice of G says, with the length of the rest. Eigenvalues are at most the root of
 * the sum of squares in size: when even that is not above `enough`, nobody wants to know more. */
static bool keepBetter(pnStretch *best, double g[3][3], double left, double enough) {
  double least, most, squares = 0;
  for (int k = 0; k < 9; ++k) squares += square(g[k / 3][k % 3]);
  double bound = (sqrt(squares) + left) * (1 + 1e-12);
  if (bound <= enough) {
    *best = (pnStretch){bound, bound};
    return true;
  }
  eigenvalues(g, &least, &most);
  best->down = fmin(best->down, fmax(0, left - least));
  best->up = fmin(best->up, fmax(0, left + most));
  return best->down <= enough && best->up <= enough;
}

/* The other choice of G n for a unit vector n: g - (g^T n) n^T, for a g with g n = 0. */
static void turnAway(double g[3][3], const double n[3], double out[3][3]) {
  for (int i = 0; i < 3; ++i) {
    double part = g[0][i] * n[0] + g[1][i] * n[1] + g[2][i] * n[2];
    for (int k = 0; k < 3; ++k) out[i][k] = g[i][k] - part * n[k];
  }
}

/* g less what it does along a unit vector n. */
static void flatten(double g[3][3], const double n[3]) {
  for (int i = 0; i < 3; ++i) {
    double along = pn_dot3(g[i], n);
    for (int k = 0; k < 3; ++k) g[i][k] -= along * n[k];
  }
}

/* The gradient of a function that is linear on a triangle, zero along its normal: m[i][k] = d g_i / d x_k. */
static void gradientOf(const pnCalmTriangle *t, double deltas[3][3], double m[3][3]) {
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      m[i][k] = deltas[0][i] * t->slope[0][k] + deltas[1][i] * t->slope[1][k] + deltas[2][i] * t->slope[2][k];
}

static void apply(double m[3][3], const double *x, double *r) {
  for (int i = 0; i < 3; ++i) r[i] = pn_dot3(m[i], x);
}

/* ---------------------------------------------------------------- a triangle */

void pn_calmTriangle(const float *a, const float *b, const float *c, pnCalmTriangle *out) {
  const float *p[3] = {a, b, c};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) out->v[i][k] = (double)p[i][k];
  double e[3][3], n[3];
  for (int i = 0; i < 3; ++i) pn_sub3(out->v[(i + 2) % 3], out->v[(i + 1) % 3], e[i]); /* the edge opposite corner i */
  pn_cross3(e[0], e[1], n);
  double area = pn_dot3(n, n), longest = fmax(pn_dot3(e[0], e[0]), fmax(pn_dot3(e[1], e[1]), pn_dot3(e[2], e[2])));
  /* an angle below about 1e-5 cannot be told from none by the bounds above */
  out->flat = !(area > 1e-10 * longest * longest) || !(area > DBL_MIN);
  out->steepness = 0;
  for (int i = 0; i < 3 && !out->flat; ++i) {
    /* n x e points to corner i and has the length |n| |e|; the height is |n| / |e| */
    pn_cross3(n, e[i], out->slope[i]);
    scale3(out->slope[i], 1 / area);
    out->steepness += length3(out->slope[i]);
  }
}

/* ---------------------------------------------------------------- distance and angles */

/* Squared distance of two segments p + s d, q + t e, s and t in [0, 1]. */
static double segments2(const double *p, const double *d, const double *q, const double *e) {
  double r[3], a = pn_dot3(d, d), f = pn_dot3(e, e), s = 0, t = 0;
  pn_sub3(p, q, r);
  double b = pn_dot3(d, e), c = pn_dot3(d, r), g = pn_dot3(e, r), det = a * f - b * b;
  s = det > 0 ? fmin(1, fmax(0, (b * g - c * f) / det)) : 0;
  t = f > 0 ? (b * s + g) / f : 0;
  if (t < 0 || t > 1) {
    t = t < 0 ? 0 : 1;
    s = a > 0 ? fmin(1, fmax(0, (b * t - c) / a)) : 0;
  }
  double w[3];
  for (int k = 0; k < 3; ++k) w[k] = r[k] + s * d[k] - t * e[k];
  return pn_dot3(w, w);
}

/* Squared distance of a point from the inside of a triangle's plane; infinite when its foot is outside. */
static double face2(const double *p, const pnCalmTriangle *t) {
  double u[3], foot = 0, height[3] = {0};
  for (int i = 0; i < 3; ++i) {
    /* corner functions at the foot of p: 1 at corner i, 0 on the edge opposite */
    pn_sub3(p, t->v[i], u);
    double weight = 1 + pn_dot3(t->slope[i], u);
    if (weight < 0) return INFINITY;
    for (int k = 0; k < 3; ++k) height[k] += weight * t->v[i][k];
    foot += weight;
  }
  for (int k = 0; k < 3; ++k) u[k] = p[k] - height[k] / foot;
  return pn_dot3(u, u);
}

/* The distance of two triangles that do not meet: between edges, or from a corner to a face. Between edges that are nearly
 * parallel a square may come out too large by about 1e-16 of the size of everything: 1e-13 of it is taken off. */
static double distanceOf(const pnCalmTriangle *s, const pnCalmTriangle *t) {
  double least = INFINITY, size = 0;
  for (int i = 0; i < 3; ++i) {
    least = fmin(least, fmin(face2(s->v[i], t), face2(t->v[i], s)));
    for (int j = 0; j < 3; ++j) {
      double d[3], e[3];
      pn_sub3(s->v[(i + 1) % 3], s->v[i], d);
      pn_sub3(t->v[(j + 1) % 3], t->v[j], e);
      least = fmin(least, segments2(s->v[i], d, t->v[j], e));
      double between[3];
      pn_sub3(s->v[i], t->v[j], between);
      size = fmax(size, fmax(pn_dot3(between, between), fmax(pn_dot3(d, d), pn_dot3(e, e))));
    }
  }
  return sqrt(fmax(0, least - 1e-13 * size));
}

/* The largest cosine between direction d and the directions from p1 to p2 (turning the short way), all of length 1. */
static double cosToSector(const double *d, const double *p1, const double *p2) {
  double n[3], q[3], c[3], best = fmax(pn_dot3(d, p1), pn_dot3(d, p2));
  pn_cross3(p1, p2, n);
  double nn = pn_dot3(n, n);
  if (!(nn > 0)) return 1;
  /* the projection onto their plane, when it lies between them */
  for (int k = 0; k < 3; ++k) q[k] = d[k] - pn_dot3(d, n) / nn * n[k];
  pn_cross3(p1, q, c);
  bool after = pn_dot3(c, n) >= 0;
  pn_cross3(q, p2, c);
  return after && pn_dot3(c, n) >= 0 ? fmax(best, length3(q)) : best;
}

/* Directions from the shared corner to the other two. */
static void directions(const pnCalmTriangle *t, const uint8_t at[3], double out[2][3]) {
  for (int i = 0; i < 2; ++i) {
    pn_sub3(t->v[at[1 + i]], t->v[at[0]], out[i]);
    scale3(out[i], 1 / length3(out[i]));
  }
}

/* The unit vector of the shared edge, and the one across it into a triangle. */
static double edgeFrame(const pnCalmTriangle *t, const uint8_t at[3], double along[3], double across[3]) {
  pn_sub3(t->v[at[1]], t->v[at[0]], along);
  double length = length3(along);
  scale3(along, 1 / length);
  pn_sub3(t->v[at[2]], t->v[at[0]], across);
  double part = pn_dot3(across, along);
  for (int k = 0; k < 3; ++k) across[k] -= part * along[k];
  scale3(across, 1 / length3(across));
  return length;
}

/* ---------------------------------------------------------------- two triangles */

/* One shared corner, with the gradients of noise for A and B and nothing taken out. */
static void meetAtCorner(const pnCalmTriangle *s, const pnCalmTriangle *t, pnCalmMeeting *m) {
  double a[2][3], b[2][3], most = 0;
  directions(s, m->at[0], a);
  directions(t, m->at[1], b);
  for (int i = 0; i < 2; ++i) {
    most = fmax(most, cosToSector(a[i], b[0], b[1]));
    most = fmax(most, cosToSector(b[i], a[0], a[1]));
  }
  m->openness = 1 - fmin(1, most + 1e-12);
  m->noise = sqrt((square(s->steepness) + square(t->steepness)) / m->openness);
}

/* One shared edge: noise at its two ends makes a derivative of 2 / length along it, which is taken out of A and B. */
static void meetAtEdge(const pnCalmTriangle *s, const pnCalmTriangle *t, pnCalmMeeting *m) {
  double e[3], u[3], f[3], v[3];
  double along = 2 / edgeFrame(s, m->at[0], e, u);
  edgeFrame(t, m->at[1], f, v);
  m->openness = 1 - fmin(1, fmax(0, pn_dot3(u, v)) + 1e-12);
  m->noise = along + sqrt((square(s->steepness + along) + square(t->steepness + along)) / m->openness);
}

void pn_calmMeeting(const pnCalmTriangle *s, const pnCalmTriangle *t, uint32_t shared, const uint8_t atS[3],
                    const uint8_t atT[3], pnCalmMeeting *out) {
  *out = (pnCalmMeeting){.shared = shared, .openness = 1, .noise = INFINITY};
  memcpy(out->at[0], atS, 3);
  memcpy(out->at[1], atT, 3);
  if (s->flat || t->flat || shared > 2) return;
  if (shared == 0) {
    out->distance = distanceOf(s, t);
    out->noise = 2 / out->distance;
  } else if (shared == 1) {
    meetAtCorner(s, t, out);
  } else {
    meetAtEdge(s, t, out);
  }
  /* angles below about 1e-4 prove nothing that survives rounding */
  if (!(out->openness > 1e-8) || !(out->noise < 1e30)) out->noise = INFINITY;
}

/* None shared: what is left at the corners, over the distance. */
static double leftApart(const pnCalmTriangle *s, const pnCalmTriangle *t, double distance, double g[3][3],
                        double deltas[6][3]) {
  double most = 0;
  for (int i = 0; i < 9; ++i) {
    double between[3], taken[3], left[3];
    pn_sub3(s->v[i / 3], t->v[i % 3], between);
    apply(g, between, taken);
    pn_sub3(deltas[i / 3], deltas[3 + i % 3], left);
    pn_sub3(left, taken, left);
    most = fmax(most, pn_dot3(left, left));
  }
  return sqrt(most) / distance;
}

/* The norm of a gradient less G on the plane of a triangle. */
static double leftOnPlane(const pnCalmTriangle *t, double gradient[3][3], double g[3][3]) {
  double e[3], f[3], n[3], squares = 0;
  pn_sub3(t->v[1], t->v[0], e);
  scale3(e, 1 / length3(e));
  pn_cross3(t->slope[0], t->slope[1], n);
  pn_cross3(n, e, f);
  scale3(f, 1 / length3(f));
  for (int i = 0; i < 3; ++i)
    squares += square(pn_dot3(gradient[i], e) - pn_dot3(g[i], e)) + square(pn_dot3(gradient[i], f) - pn_dot3(g[i], f));
  return sqrt(squares);
}

/* The unit normal of a triangle. */
static void normalOf(const pnCalmTriangle *t, double n[3]) {
  pn_cross3(t->slope[0], t->slope[1], n);
  scale3(n, 1 / length3(n));
}

/* A shared edge: three choices of G. */
static void stretchEdge(const pnCalmTriangle *s, const pnCalmTriangle *t, const pnCalmMeeting *m,
                        double gradient[2][3][3], double enough, pnStretch *best) {
  double e[3], f[3], u[3], v[3], n[3], ge[3], gu[3], gv[3], across[3];
  edgeFrame(s, m->at[0], e, u);
  edgeFrame(t, m->at[1], f, v);
  apply(gradient[0], e, ge);
  apply(gradient[0], u, gu);
  apply(gradient[1], v, gv);
  pn_sub3(u, v, across);
  double wide = length3(across);
  scale3(across, 1 / wide);
  pn_cross3(e, across, n);
  double high = 0.5 * (pn_dot3(u, n) + pn_dot3(v, n)); /* of u and v along n */
  /* G n = 0: along the edge and across it only */
  double g[3][3], h[3][3], left[3], turned[3];
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) g[i][k] = ge[i] * e[k] + (gu[i] - gv[i]) / wide * across[k];
    left[i] = 0.5 * (gu[i] + gv[i]);
  }
  if (keepBetter(best, g, length3(left) * sqrt(2 / m->openness), enough)) return;
  /* G n = -G^T n */
  turnAway(g, n, h);
  for (int i = 0; i < 3; ++i) turned[i] = left[i] + high * (g[0][i] * n[0] + g[1][i] * n[1] + g[2][i] * n[2]);
  if (keepBetter(best, h, length3(turned) * sqrt(2 / m->openness), enough)) return;
  /* G n so that nothing is left */
  for (int i = 0; i < 9 && fabs(high) > 1e-6; ++i) h[i / 3][i % 3] = g[i / 3][i % 3] + left[i / 3] / high * n[i % 3];
  if (fabs(high) > 1e-6) keepBetter(best, h, 0, enough);
}

pnStretch pn_calmStretch(const pnCalmTriangle *s, const pnCalmTriangle *t, const pnCalmMeeting *meeting,
                         double deltas[6][3], double enough) {
  double gradient[2][3][3], g[2][3][3], n[3], o[3];
  pnStretch best = {INFINITY, INFINITY};
  gradientOf(s, deltas, gradient[0]);
  gradientOf(t, deltas + 3, gradient[1]);
  if (meeting->shared == 2) {
    stretchEdge(s, t, meeting, gradient, enough, &best);
    return best;
  }
  /* the mean of the gradients; then the same, turned away from the mean normal */
  for (int i = 0; i < 9; ++i)
    g[0][i / 3][i % 3] = g[1][i / 3][i % 3] = 0.5 * (gradient[0][i / 3][i % 3] + gradient[1][i / 3][i % 3]);
  for (int choice = 0; choice < 2; ++choice) {
    double left, flat[3][3];
    if (choice == 1) {
      normalOf(s, n);
      normalOf(t, o);
      double side = pn_dot3(n, o) < 0 ? -1 : 1;
      for (int k = 0; k < 3; ++k) n[k] += side * o[k];
      scale3(n, 1 / length3(n));
      flatten(g[1], n);
      memcpy(flat, g[1], sizeof flat);
      turnAway(flat, n, g[1]);
    }
    if (meeting->shared == 0) {
      left = leftApart(s, t, meeting->distance, g[choice], deltas);
    } else {
      double a = leftOnPlane(s, gradient[0], g[choice]), b = leftOnPlane(t, gradient[1], g[choice]);
      left = sqrt((a * a + b * b) / meeting->openness);
    }
    if (keepBetter(&best, g[choice], left, enough)) break;
  }
  return best;
}

/* ---------------------------------------------------------------- two groups of triangles */

/* What is left of the deltas when G is taken out, as boxes of both groups, over the gap. */
static double leftFar(const pnCalmTriangle *const *triangles, uint32_t countA, uint32_t count, double g[3][3],
                      double (*deltas)[3], double gap) {
  double lo[2][3], hi[2][3], squares = 0;
  for (int k = 0; k < 6; ++k) {
    lo[k / 3][k % 3] = INFINITY;
    hi[k / 3][k % 3] = -INFINITY;
  }
  for (uint32_t i = 0; i < 3 * count; ++i) {
    double taken[3];
    int side = i >= 3 * countA;
    apply(g, triangles[i / 3]->v[i % 3], taken);
    for (int k = 0; k < 3; ++k) {
      lo[side][k] = fmin(lo[side][k], deltas[i][k] - taken[k]);
      hi[side][k] = fmax(hi[side][k], deltas[i][k] - taken[k]);
    }
  }
  for (int k = 0; k < 3; ++k) squares += square(fmax(fabs(hi[0][k] - lo[1][k]), fabs(hi[1][k] - lo[0][k])));
  return sqrt(squares) / gap;
}

pnStretch pn_calmStretchFar(const pnCalmTriangle *const *triangles, uint32_t countA, uint32_t count,
                            double (*deltas)[3], double gap, double enough) {
  double g[3][3] = {{0}}, one[3][3], normal[3] = {0}, n[3];
  for (uint32_t i = 0; i < count; ++i) {
    if (!triangles[i]->flat) {
      gradientOf(triangles[i], deltas + 3 * i, one);
      normalOf(triangles[i], n);
      double side = pn_dot3(n, normal) < 0 ? -1 : 1;
      for (int k = 0; k < 9; ++k) {
        g[k / 3][k % 3] += one[k / 3][k % 3] / count;
        normal[k % 3] += k < 3 ? side * n[k] : 0;
      }
    }
  }
  pnStretch best = {INFINITY, INFINITY};
  bool done = keepBetter(&best, g, leftFar(triangles, countA, count, g, deltas, gap), enough);
  double length = length3(normal);
  if (!done && length > 0) {
    scale3(normal, 1 / length);
    flatten(g, normal);
    turnAway(g, normal, one);
    keepBetter(&best, one, leftFar(triangles, countA, count, one, deltas, gap), enough);
  }
  return best;
}
