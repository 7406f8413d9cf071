/* oracle_check.c: see oracle_check.h. Every function leaves the oracle on the pair it was asked about. */
#include "oracle_check.h"

#include "geom/triangle.h"
#include "oracle.h"

#include <math.h>
#include <stdio.h>

static bool wrong(const Case *c, const char *what, int expected, int got) {
  printf("wrong: %s: expected %d, got %d\n", what, expected, got);
  printCase(c);
  return false;
}

bool checkMeet(const Case *c, Random *r, Tally *tally) {
  static const char *const kernels[PN_KERNEL_COUNT] = {"default kernel", "Moeller", "Tropp", "exact"};
  oracleIntersect(&c->a, &c->b);
  bool expected = oracleMeet();
  tally->pairs += 1;
  tally->meet += expected;
  Case turned = permuteCase(c, randomBelow(r, 72));
  for (int k = 0; k < PN_KERNEL_COUNT; ++k) {
    if (pnTrianglesMeetBy((pnKernel)k, &c->a, &c->b) != expected) return wrong(c, kernels[k], expected, !expected);
    if (pnTrianglesMeetBy((pnKernel)k, &turned.a, &turned.b) != expected)
      return wrong(&turned, kernels[k], expected, !expected);
  }
  return true;
}

bool checkBeyond(const Case *c, pnSharedCorners shared, Tally *tally) {
  oracleIntersect(&c->a, &c->b);
  bool expected = oracleMeetBeyond(shared);
  tally->shared += 1;
  tally->beyond += expected;
  pnSharedCorners swapped = {
      shared.count, {shared.b[0], shared.b[1], shared.b[2]}, {shared.a[0], shared.a[1], shared.a[2]}};
  bool good = pnTrianglesMeetBeyond(&c->a, &c->b, shared) == expected &&
              pnTrianglesMeetBeyond(&c->b, &c->a, swapped) == expected;
  if (!good) {
    printf("shared corners %d: a %d %d, b %d %d\n", shared.count, shared.a[0], shared.a[1], shared.b[0], shared.b[1]);
    return wrong(c, "meet beyond", expected, !expected);
  }
  return true;
}

/* The largest distance of a coordinate when the two lists of corners are laid over one another as well as they can be:
 * either way round, from any start. */
static double cornerError(const pnMeeting *m, double truth[6][3]) {
  int n = (int)m->pointCount;
  double best = INFINITY;
  for (int start = 0; start < 2 * n; ++start) {
    double error = 0.0;
    for (int i = 0; i < n; ++i) {
      const double *t = truth[(start < n ? start + i : start + n - i) % n];
      error = fmax(error, fabs(m->points[i].x - t[0]));
      error = fmax(error, fabs(m->points[i].y - t[1]));
      error = fmax(error, fabs(m->points[i].z - t[2]));
    }
    best = fmin(best, error);
  }
  return best;
}

/* The corners of the intersection, n of them, against the library's. */
static bool compareCorners(const Case *c, double truth[6][3], int n, Tally *tally) {
  pnMeeting m = pnMeetTriangles(&c->a, &c->b);
  if ((int)m.pointCount != n) return wrong(c, "corners of the meeting", n, (int)m.pointCount);
  int kind = n > 2 ? PN_MEETING_POLYGON : n; /* none, point, segment, polygon */
  if ((int)m.kind != kind) return wrong(c, "kind of the meeting", kind, (int)m.kind);
  if (n == 0) return true;

  /* One unit in the last place of the largest coordinate, at least the smallest float. */
  double largest = 0.0;
  for (int i = 0; i < 9; ++i)
    largest = fmax(largest, fmax(fabs((double)c->a.v[i / 3][i % 3]), fabs((double)c->b.v[i / 3][i % 3])));
  double ulp = fmax(largest * 0x1p-23, 0x1p-149), error = cornerError(&m, truth);
  tally->worst = fmax(tally->worst, error / ulp);
  return error <= ulp ? true : wrong(c, "corners, off by more than an ulp", 0, n);
}

bool checkMeeting(const Case *c, Tally *tally) {
  oracleIntersect(&c->a, &c->b);
  double truth[6][3];
  int n = oracleCorners(truth);
  tally->corners[n] += 1;
  return compareCorners(c, truth, n, tally);
}

/* ---------------------------------------------------------------- images */

/* Where a point goes: coordinate i is what was coordinate axis[i], times sign[i] 2^exponent. */
typedef struct Map {
  int axis[3], sign[3], exponent;
} Map;

static float *coordinate(Case *c, int i) {
  return i < 9 ? &c->a.v[i / 3][i % 3] : &c->b.v[(i - 9) / 3][i % 3];
}

/* Exponents between which no coordinate loses a bit or goes beyond float, at most sixty each way. */
static Map randomMap(const Case *c, Random *r) {
  int least = -60, most = 60, turn = randomBelow(r, 3), swap = randomBelow(r, 2);
  Case copy = *c;
  for (int i = 0; i < 18; ++i) {
    int e;
    float m = frexpf(*coordinate(&copy, i), &e);
    if (m == 0) continue;
    int bits = 24 - __builtin_ctz((unsigned)fabsf(ldexpf(m, 24)));
    least = e - bits + least < -149 ? bits - e - 149 : least;
    most = e + most > 128 ? 128 - e : most;
  }
  Map map = {.exponent = most > least ? least + randomBelow(r, most - least + 1) : 0};
  for (int i = 0; i < 3; ++i) map.axis[(i + turn) % 3] = swap ? 2 - i : i, map.sign[i] = randomBelow(r, 2) ? -1 : 1;
  return map;
}

static double mapped(const Map *map, int i, const double from[3]) {
  return map->sign[i] * ldexp(from[map->axis[i]], map->exponent);
}

static Case imageOf(const Case *c, const Map *map) {
  Case image;
  for (int v = 0; v < 6; ++v) {
    const float *from = v < 3 ? c->a.v[v] : c->b.v[v - 3];
    double point[3] = {from[0], from[1], from[2]};
    for (int i = 0; i < 3; ++i) *coordinate(&image, 3 * v + i) = (float)mapped(map, i, point);
  }
  return image;
}

bool checkImages(const Case *c, int count, Random *r, Tally *tally) {
  double truth[6][3], image[6][3];
  oracleIntersect(&c->a, &c->b);
  bool meet = oracleMeet();
  int n = oracleCorners(truth);
  pnSharedCorners shared = pickShared(c, r);
  bool beyond = oracleMeetBeyond(shared);
  for (int k = 0; k < count; ++k) {
    Map map = randomMap(c, r);
    Case turned = imageOf(c, &map);
    for (int kernel = 0; kernel < PN_KERNEL_COUNT; ++kernel)
      if (pnTrianglesMeetBy((pnKernel)kernel, &turned.a, &turned.b) != meet)
        return wrong(&turned, "an image of a pair", meet, !meet);
    if (pnTrianglesMeetBeyond(&turned.a, &turned.b, shared) != beyond)
      return wrong(&turned, "an image of neighbours", beyond, !beyond);
    for (int i = 0; i < 3 * n; ++i) image[i / 3][i % 3] = mapped(&map, i % 3, truth[i / 3]);
    if (!compareCorners(&turned, image, n, tally)) return false;
    tally->images += 1;
  }
  return true;
}

bool checkPair(const Case *c, Random *r, Tally *tally) {
  if (!checkMeet(c, r, tally) || !checkMeeting(c, tally)) return false;
  pnSharedCorners shared = pickShared(c, r);
  return shared.count == 0 || checkBeyond(c, shared, tally);
}
