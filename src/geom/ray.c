/* ray.c: see ray.h. Where the fast part is in doubt, and the planes that hold the ray.
 *
 * In a plane that holds the ray, and for triangles that are segments or points, there are no weights: the ray passes between
 * corners on either side of it, or through corners. On which side a corner is, is the sign of one coordinate of d x (corner - o),
 * which is not 0 for one of them at least unless all are on the line; in that plane everything is seen. */
#include "geom/ray.h"

/* t into the triangle's box along every axis that the line moves along, as far as rounding lets it. */
static double intoBox(const pn_Line *line, const float *const c[3], double t) {
  for (int k = 0; k < 3; ++k) {
    if (line->d[k] == 0) continue;
    double a = PN_MIN(c[0][k], PN_MIN(c[1][k], c[2][k])), b = PN_MAX(c[0][k], PN_MAX(c[1][k], c[2][k]));
    double p = (a - line->o[k]) * line->per[k], q = (b - line->o[k]) * line->per[k];
    t = PN_MAX(PN_MIN(p, q), PN_MIN(PN_MAX(p, q), t));
  }
  return t;
}

void pn_placeHit(const pn_Line *line, const float *const c[3], const double w[3], const double z[3], pn_LineHit *out) {
  double sum = w[0] + w[1] + w[2], part = 1 / sum;
  double t = (w[0] * z[0] + w[1] * z[1] + w[2] * z[2]) * part * line->inverse;
  out->t = intoBox(line, c, t);
  out->u = w[1] * part;
  out->v = w[2] * part;
  // The normal is along d when the sum, times d along the axis, is positive: the ray comes from behind.
  out->side = (sum > 0) == (line->inverse > 0) ? -1 : 1;
}

/* ---------------------------------------------------------------- planes that hold the ray */

/* A place on the line, with its exact sign, and the weights of the corners there. */
typedef struct LinePlace {
  double t;
  int sign;
  double w[3];
} LinePlace;

/* The sign is right, whatever t was rounded to. */
static void takePlace(LinePlace *lo, LinePlace *hi, LinePlace p) {
  p.t = p.sign == 0 ? 0 : p.sign > 0 ? PN_MAX(p.t, DBL_MIN) : PN_MIN(p.t, -DBL_MIN);
  if (p.t < lo->t) *lo = p;
  if (p.t > hi->t) *hi = p;
}

/* The sides of the corners, all seen along the first axis along which one is not 0; PN_NONE for the axis when all are on the
 * line. */
static int sidesInPlane(const pn_Line *line, const float *const c[3], int sides[3]) {
  for (int k = 0; k < 3; ++k) {
    int i = (k + 1) % 3, j = (k + 2) % 3, any = 0;
    double o[2] = {line->o[i], line->o[j]}, d[2] = {line->d[i], line->d[j]};
    for (int n = 0; n < 3; ++n) {
      double p[2] = {c[n][i], c[n][j]};
      sides[n] = pn_offLineExact(o, d, p);
      any |= sides[n];
    }
    if (any) return k;
  }
  return -1;
}

/* Where the edge from corner a to corner b, on either side of the line, passes it. */
static LinePlace crossing(const pn_Line *line, const float *const c[3], int axis, int a, int b, int sideA) {
  int i = (axis + 1) % 3, j = (axis + 2) % 3, Z = line->axis[2];
  // | a-o b-o | as seen along the axis, and the same of d with both: t = -|ab| / (|da| - |db|).
  int turn = pn_orient2(line->o[i], line->o[j], c[a][i], c[a][j], c[b][i], c[b][j]);
  double offA =
      (double)line->d[i] * ((double)c[a][j] - line->o[j]) - (double)line->d[j] * ((double)c[a][i] - line->o[i]);
  double offB =
      (double)line->d[i] * ((double)c[b][j] - line->o[j]) - (double)line->d[j] * ((double)c[b][i] - line->o[i]);
  double part = offA != offB ? offA / (offA - offB) : 0.5;
  part = part >= 0 && part <= 1 ? part : 0.5;
  double z = c[a][Z] + part * ((double)c[b][Z] - c[a][Z]) - line->o[Z];
  LinePlace p = {z * line->inverse, -turn * sideA, {0, 0, 0}};
  p.w[a] = 1 - part;
  p.w[b] = part;
  return p;
}

static bool meetInPlane(const pn_Line *line, const float *const c[3], double first, pn_LineHit *out) {
  int sides[3], axis = sidesInPlane(line, c, sides), Z = line->axis[2];
  LinePlace lo = {.t = INFINITY}, hi = {.t = -INFINITY};
  for (int k = 0; k < 3; ++k) {
    int next = (k + 1) % 3;
    if (axis < 0 || sides[k] == 0) {
      double z = (double)c[k][Z] - line->o[Z];
      LinePlace p = {z * line->inverse, (z > 0) - (z < 0), {k == 0, k == 1, k == 2}};
      p.sign = line->inverse > 0 ? p.sign : -p.sign;
      takePlace(&lo, &hi, p);
    }
    if (axis >= 0 && sides[k] * sides[next] < 0) takePlace(&lo, &hi, crossing(line, c, axis, k, next, sides[k]));
  }
  if (!(hi.t >= first)) return false;
  // From where it begins, or from where it is first of interest: between the two.
  double t = PN_MAX(lo.t, first), range = hi.t - lo.t, part = range > 0 ? (t - lo.t) / range : 0;
  *out = (pn_LineHit){.t = PN_MAX(intoBox(line, c, t), first),
                      .u = lo.w[1] + part * (hi.w[1] - lo.w[1]),
                      .v = lo.w[2] + part * (hi.w[2] - lo.w[2])};
  return true;
}

/* ---------------------------------------------------------------- signs */

bool pn_meetLineExact(const pn_Line *line, const float *const c[3], double first, pn_LineHit *out) {
  double w[3], z[3];
  int low = 1, high = -1, Z = line->axis[2];
  for (int k = 0; k < 3; ++k) {
    // The weight of a corner is that of the edge across.
    int sign = pn_lineSideExact(line->o, line->d, c[(k + 1) % 3], c[(k + 2) % 3], &w[k]);
    w[k] *= line->inverse;
    z[k] = (double)c[k][Z] - line->o[Z];
    low = PN_MIN(low, sign);
    high = PN_MAX(high, sign);
  }
  if (low < 0 && high > 0) return false;
  if (low == 0 && high == 0) return meetInPlane(line, c, first, out);
  // The plane is passed at one point: before the origin, there, or behind?
  int along = low + high > 0 ? 1 : -1, above = pn_orient3(c[0], c[1], c[2], line->o);
  if (above * along > 0) return false;
  pn_placeHit(line, c, w, z, out);
  out->side = -along;
  out->t = above == 0 ? 0 : PN_MAX(out->t, DBL_MIN);
  return out->t >= first;
}
