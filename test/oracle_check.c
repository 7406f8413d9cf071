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

bool checkMeeting(const Case *c, Tally *tally) {
  oracleIntersect(&c->a, &c->b);
  double truth[6][3];
  int n = oracleCorners(truth);
  tally->corners[n] += 1;
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

bool checkPair(const Case *c, Random *r, Tally *tally) {
  if (!checkMeet(c, r, tally) || !checkMeeting(c, tally)) return false;
  pnSharedCorners shared = pickShared(c, r);
  return shared.count == 0 || checkBeyond(c, shared, tally);
}
