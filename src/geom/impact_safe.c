/* impact_safe.c: how long do two moving features surely keep a distance? Conservative, by directions.
 *
 * Along a fixed direction w the gap between two convex features is the least of the differences of projections of their
 * vertices, and each of these is linear in t. So while the gap at both ends of a part of the step is more than s |w|, the features are
 * more than s apart all the way between. At a time t take for w the line between the closest points, see how far along the
 * step the gap lasts, go there, and take the next. Which w is taken, and how exactly it was computed, does not matter: the gap is
 * the proof.
 */
#include "geom/impact.h"

#include "geom/distance.h"
#include "geom/expansion.h"

/* The four points at a time. */
static void placesAt(const pnD2 *const places[4], double t, double out[4][3]) {
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 3; ++k) out[i][k] = (1.0 - t) * places[i][k][0] + t * places[i][k][1];
}

/* From the closest point of segment ab to that of segment cd: the line between the lines, clamped to one segment and then to the other. */
static void betweenSegments(const double a[3], const double b[3], const double c[3], const double d[3], double w[3]) {
  double e[3], g[3], r[3];
  for (int k = 0; k < 3; ++k) e[k] = b[k] - a[k], g[k] = d[k] - c[k], r[k] = a[k] - c[k];
  double ee = pn_dot3(e, e), gg = pn_dot3(g, g), eg = pn_dot3(e, g), er = pn_dot3(e, r), gr = pn_dot3(g, r),
         det = ee * gg - eg * eg;
  double s = det > 0.0 ? pn_clamp01((eg * gr - er * gg) / det) : 0.0;
  double t = gg > 0.0 ? (eg * s + gr) / gg : 0.0;
  if (!(t >= 0.0 && t <= 1.0)) {
    t = pn_clamp01(t);
    s = ee > 0.0 ? pn_clamp01((eg * t - er) / ee) : 0.0;
  }
  for (int k = 0; k < 3; ++k) w[k] = (c[k] + t * g[k]) - (a[k] + s * e[k]);
}

/* From the first feature to the second, at a time. */
static void direction(pn_Features features, const double x[4][3], double w[3]) {
  if (features == PN_EDGE_EDGE) {
    betweenSegments(x[0], x[1], x[2], x[3], w);
    return;
  }
  double on[3];
  pn_closestOnTriangle(x[0], x[1], x[2], x[3], on);
  for (int k = 0; k < 3; ++k) w[k] = on[k] - x[0][k];
}

/* The gaps between vertices of the second feature and of the first along w, at the begin and the end of the step: at most four. Each is a
 * difference of points, 1 rounding, three products, two sums: 4u of 3 |w| |difference|. `error` is 8u of it. */
typedef struct Gaps {
  int count;
  double begin[4], end[4], error;
} Gaps;

static Gaps measureGaps(pn_Features features, const pnD2 *const places[4], const double w[3]) {
  Gaps g = {0};
  int ours = features == PN_EDGE_EDGE ? 2 : 1;
  for (int i = 0; i < ours; ++i) {
    for (int j = ours; j < 4; ++j) {
      pnD2 x = places[j][0] - places[i][0], y = places[j][1] - places[i][1], z = places[j][2] - places[i][2];
      pnD2 gap = w[0] * x + w[1] * y + w[2] * z;
      pnD2 size = fabs(w[0]) * pn_d2Max(x, -x) + fabs(w[1]) * pn_d2Max(y, -y) + fabs(w[2]) * pn_d2Max(z, -z);
      g.begin[g.count] = gap[0], g.end[g.count] = gap[1];
      g.error = PN_MAX(g.error, PN_MAX(size[0], size[1]));
      ++g.count;
    }
  }
  g.error *= 8.0 * PN_ROUND;
  return g;
}

/* A linear gap at a time is off by its error at the ends and 3 roundings more: 4u of the larger end, which is below `error`. */
static bool holds(const Gaps *g, double t, double wanted) {
  for (int i = 0; i < g->count; ++i)
    if (!((1.0 - t) * g->begin[i] + t * g->end[i] > wanted + 2.0 * g->error)) return false;
  return true;
}

/* Directions tried, and the least step that is worth another: a part in a million of the whole. */
enum { MOST_DIRECTIONS = 200 };
#define LEAST_STEP 0x1p-20

double pn_safeTime(pn_Features features, const pnD2 *const places[4], double separation) {
  double t = 0.0;
  for (int n = 0; n < MOST_DIRECTIONS && t < 1.0; ++n) {
    double x[4][3], w[3];
    placesAt(places, t, x);
    direction(features, (const double(*)[3])x, w);
    /* the length of w, and 8 roundings more */
    double wanted = separation * (sqrt(pn_dot3(w, w)) * (1.0 + 16.0 * PN_ROUND));
    Gaps g = measureGaps(features, places, w);
    if (!holds(&g, t, wanted)) return t;
    /* as far as the gap lasts */
    double next = 1.0;
    for (int i = 0; i < g.count; ++i) {
      double level = wanted + 2.0 * g.error, slope = g.end[i] - g.begin[i];
      if (g.end[i] <= level && slope < 0.0) next = PN_MIN(next, (level - g.begin[i]) / slope);
    }
    next = next < 1.0 ? next * (1.0 - 0x1p-40) : 1.0;
    if (!(next > t) || !holds(&g, next, wanted)) return t;
    bool slow = next - t < LEAST_STEP;
    t = next;
    if (slow) return t;
  }
  return t;
}
