/* ball.c: smallest enclosing balls, after [Welzl91] and [Gaertner99].
 *
 * The smallest ball is determined by a *support* of at most four points on its surface. Gärtner's pivoting: take the
 * point farthest outside the ball of the present support, find the smallest ball of support and point, and its
 * support; the radius grows every time, so it ends, in practice after about ten passes over the points. Where we
 * differ: the smallest ball of at most five points is found by trying every subset of up to four, 30 small systems,
 * instead of by recursion; there is no order of points to get wrong, and flat and coincident points only make some
 * systems singular, which are then left out.
 *
 * Rounding only costs size: whatever centre comes out, the radius is measured from it over all points and rounded up.
 */
#include "geom/ball.h"

#include "geom/sphere.h"

/* Passes at most; more are a sign of rounding going in circles, and the ball is good to float precision long before. */
#define MOST_PASSES 100
/* A point this much outside, relative to the square of the radius, is not worth a pass: a quarter of a float unit. */
#define CLOSE_ENOUGH 0x1p-25

typedef struct Ball {
  double c[3], square; /* of the radius; below 0: none */
} Ball;

static double squareFrom(const double *c, const float *p) {
  double x = p[0] - c[0], y = p[1] - c[1], z = p[2] - c[2];
  return x * x + y * y + z * z;
}

/* Solves the symmetric system g x = b of size n <= 3, in place; false when it is singular. */
static bool solve(double g[3][3], double b[3], uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t pivot = i;
    for (uint32_t r = i + 1; r < n; ++r) pivot = fabs(g[r][i]) > fabs(g[pivot][i]) ? r : pivot;
    if (!(fabs(g[pivot][i]) > 0)) return false;
    for (uint32_t k = 0; k < n; ++k) {
      double t = g[i][k];
      g[i][k] = g[pivot][k];
      g[pivot][k] = t;
    }
    double t = b[i];
    b[i] = b[pivot];
    b[pivot] = t;
    for (uint32_t r = 0; r < n; ++r) {
      double f = r == i ? 0 : g[r][i] / g[i][i];
      for (uint32_t k = i; k < n; ++k) g[r][k] -= f * g[i][k];
      b[r] -= f * b[i];
    }
  }
  for (uint32_t i = 0; i < n; ++i) b[i] /= g[i][i];
  return true;
}

/* The ball with its centre in the plane of 1 to 4 points and all of them on its surface. */
static Ball ballThrough(const float *const *p, uint32_t count) {
  Ball ball = {{p[0][0], p[0][1], p[0][2]}, 0};
  double e[3][3], g[3][3], b[3];
  uint32_t n = count - 1;
  for (uint32_t i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) e[i][k] = (double)p[i + 1][k] - p[0][k];
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t j = 0; j < n; ++j) g[i][j] = 2 * (e[i][0] * e[j][0] + e[i][1] * e[j][1] + e[i][2] * e[j][2]);
    b[i] = g[i][i] / 2;
  }
  if (!solve(g, b, n)) {
    ball.square = -1;
    return ball;
  }
  for (uint32_t i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) ball.c[k] += b[i] * e[i][k];
  for (uint32_t i = 0; i < count; ++i) ball.square = fmax(ball.square, squareFrom(ball.c, p[i]));
  return ball;
}

/* The smallest ball of up to five points; *inOutCount and p become its support. */
static Ball ballOfFew(const float **p, uint32_t *inOutCount) {
  Ball best = {{0}, INFINITY};
  uint32_t n = *inOutCount, bestSet = 0;
  for (uint32_t set = 1; set < 1u << n; ++set) {
    const float *some[5];
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; ++i) {
      some[count] = p[i];
      count += set >> i & 1;
    }
    if (count > 4) continue;
    Ball ball = ballThrough(some, count);
    bool holds = ball.square >= 0 && ball.square < best.square;
    for (uint32_t i = 0; holds && i < n; ++i) holds = squareFrom(ball.c, p[i]) <= ball.square * (1 + 1e-12);
    if (holds) {
      best = ball;
      bestSet = set;
    }
  }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < n; ++i) {
    p[kept] = p[i];
    kept += bestSet >> i & 1;
  }
  *inOutCount = kept;
  return best;
}

void pn_smallestBall(const float *points, uint32_t count, float outCentre[3], float *outRadius) {
  const float *support[5] = {points};
  uint32_t n = 1;
  Ball ball = {{points[0], points[1], points[2]}, 0};
  for (int pass = 0; pass < MOST_PASSES; ++pass) {
    const float *farthest = points;
    double most = -1;
    for (uint32_t i = 0; i < count; ++i) {
      double d = squareFrom(ball.c, points + 4 * (size_t)i);
      farthest = d > most ? points + 4 * (size_t)i : farthest;
      most = fmax(most, d);
    }
    if (most <= ball.square * (1 + CLOSE_ENOUGH)) break;
    support[n++] = farthest;
    Ball next = ballOfFew(support, &n);
    if (!(next.square > ball.square) || n > 4 || n == 0)
      break; /* rounding: no larger ball to be had; the radius is measured below */
    ball = next;
  }
  for (int k = 0; k < 3; ++k) outCentre[k] = (float)ball.c[k];
  *outRadius = pn_sphereRadius(outCentre, points, count);
}
