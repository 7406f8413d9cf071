/* ray.h: does a ray meet a triangle, and where? Whether is exact, where is rounded.
 *
 * Seen along the ray, a triangle is hit when the ray's point lies in it: three signs, one an edge, that are not mixed. As in [Woop13]
 * corners are moved to the ray's origin and sheared so that the ray
 * runs along one axis; each sign is then a determinant of two numbers by two. They do it in float and repeat what is 0 in double.
 * We do it in double, with a bound on the error, and ask exact arithmetic where the bound is not kept: neighbours agree about
 * their edge because both are right about it.
 *
 * THE BOUND. Let u = 2^-53 and M the largest |coordinate| of a corner minus the origin. A sheared coordinate x - S z, |S| <= 1, has
 * an error of at most 7 u M: one u M each for the two differences and the product, two for S, which is a product with a quotient, and
 * two for the last difference, whose terms together are at most 2 M. A determinant of two such numbers by two is then off by
 * 2 M * 7 u M for each of its four factors, 4 u M M for the rounding of each product and 8 u M M for the difference:
 * 56 + 8 + 8 = 72 u M M, and terms of u u. We use 80.
 *
 * The point: the signs' values are weights, all of one sign, of the corners; t is their mean of the corners' places along the axis, so it
 * lies between them whatever is rounded, and is then brought into the triangle's box along the other axes as well. A tree may
 * therefore leave out a node whose box begins later than a hit that is known (query/hits.c). */
#ifndef PN_GEOM_RAY_H
#define PN_GEOM_RAY_H

#include "geom/predicate.h"

#define PN_RAY_BOUND (80.0 * PN_ROUND)

/* A line with a begin, ready to be asked. */
typedef struct pn_Line {
  float o[3], d[3];
  int axis[3];    /* x, y, z as the shear sees them: d is largest along the last, and they turn the right way round */
  double s[2];    /* the shear: d along the first two, divided by d along the last */
  double inverse; /* 1 / d along the last */
  double per[3];  /* 1 / d along each; not finite where d is 0 */
  double
      bound; /* of signs, for every triangle that is to come: quick to compare with. INFINITY: nothing is known of them */
} pn_Line;

/* The direction is finite and not 0. Without branches, for nobody can predict them. */
PN_INLINE void pn_makeLine(pnVec3 origin, pnVec3 direction, pn_Line *out) {
  static const uint8_t axes[5] = {0, 1, 2, 0, 1};
  const float o[3] = {origin.x, origin.y, origin.z}, d[3] = {direction.x, direction.y, direction.z};
  float x = fabsf(d[0]), y = fabsf(d[1]), most = PN_MAX(x, y);
  int z = (y > x) | (fabsf(d[2]) > most) << 1;
  z = PN_MIN(z, 2);
  for (int k = 0; k < 3; ++k) {
    out->o[k] = o[k];
    out->d[k] = d[k];
    out->axis[k] = axes[z + (k + 1) % 3];
    out->per[k] = 1.0 / d[k];
  }
  out->inverse = out->per[z];
  out->bound = INFINITY;
  for (int k = 0; k < 2; ++k) out->s[k] = d[out->axis[k]] * out->inverse;
}

/* Where a line from o, with 1 / d along each axis, enters a box of which only what is from `first` to `last` counts, or a little earlier; INFINITY: it does
 * not. Rounding: 2^-50 of the terms, which are no larger than the origin and the box. */
PN_INLINE double pn_enterBox(const double o[3], const double per[3], double first, double last, const double lo[3],
                             const double hi[3]) {
  double enter = first, leave = last;
  for (int k = 0; k < 3; ++k) {
    double slack = 0x1p-48 * PN_MAX(fabs(o[k]), PN_MAX(fabs(lo[k]), fabs(hi[k])));
    double a = lo[k] - slack - o[k], b = hi[k] + slack - o[k];
    if (!isfinite(per[k])) {
      if (a > 0 || b < 0) return INFINITY;
      continue;
    }
    enter = PN_MAX(enter, PN_MIN(a * per[k], b * per[k]));
    leave = PN_MIN(leave, PN_MAX(a * per[k], b * per[k]));
  }
  return enter <= leave * (1 + 0x1p-48) ? PN_MIN(enter * (1 - 0x1p-48), DBL_MAX) : INFINITY;
}

/* A point of a triangle on a line. */
typedef struct pn_LineHit {
  double t;
  double u, v; /* weights of the second and third corner */
  int side;    /* as pnHit.side */
} pn_LineHit;

/* What the fast part cannot decide: signs that may be 0, and triangles that begin before the origin and end behind it. */
bool pn_meetLineExact(const pn_Line *line, const float *const c[3], double first, pn_LineHit *out);
/* t from the weights w (not all 0) and the corners' places z along the axis. */
void pn_placeHit(const pn_Line *line, const float *const c[3], const double w[3], const double z[3], pn_LineHit *out);

/* Says that corners are no farther from the origin than this along any axis. What is clear by this bound is clear by the
 * triangle's own, so answers do not depend on it. */
PN_INLINE void pn_boundLine(pn_Line *line, double most) {
  line->bound = PN_RAY_BOUND * most * most;
}

/* The bound of one triangle. */
PN_INLINE double pn_lineBound(const pn_Line *line, const float *const c[3]) {
  double most = 0;
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 3; ++i) {
      double x = fabs((double)c[k][i] - line->o[i]);
      most = PN_MAX(most, x);
    }
  return PN_RAY_BOUND * most * most;
}

/* The signs' values w, and the corners' places z along the axis. */
PN_INLINE void pn_weighLine(const pn_Line *line, const float *const c[3], double w[3], double z[3]) {
  int X = line->axis[0], Y = line->axis[1], Z = line->axis[2];
  double ox = line->o[X], oy = line->o[Y], oz = line->o[Z], x[3], y[3];
  for (int k = 0; k < 3; ++k) {
    z[k] = c[k][Z] - oz;
    x[k] = c[k][X] - ox - line->s[0] * z[k];
    y[k] = c[k][Y] - oy - line->s[1] * z[k];
  }
  w[0] = x[1] * y[2] - y[1] * x[2];
  w[1] = x[2] * y[0] - y[2] * x[0];
  w[2] = x[0] * y[1] - y[0] * x[1];
}

/* Does the line from its origin on meet the triangle, at t >= first? The first point of it that does, when it is in its plane. */
PN_INLINE bool pn_meetLine(const pn_Line *line, const float *const c[3], double first, pn_LineHit *out) {
  double w[3], z[3];
  pn_weighLine(line, c, w, z);
  double low = PN_MIN(w[0], PN_MIN(w[1], w[2])), high = PN_MAX(w[0], PN_MAX(w[1], w[2])), bound = line->bound;
  if (low < -bound && high > bound) return false;
  bool clear = low > bound || high < -bound;
  if (PN_UNLIKELY(!clear)) {
    bound = pn_lineBound(line, c);
    if (low < -bound && high > bound) return false;
    clear = low > bound || high < -bound;
  }
  double ahead = line->inverse; /* its sign */
  double nearest = PN_MIN(z[0] * ahead, PN_MIN(z[1] * ahead, z[2] * ahead));
  if (PN_LIKELY(clear && nearest > 0)) {
    pn_placeHit(line, c, w, z, out);
    return out->t >= first;
  }
  return pn_meetLineExact(line, c, first, out);
}

#endif
