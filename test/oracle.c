/* oracle.c: see oracle.h. Points are homogeneous: (x, y, z) / w with whole numbers and w > 0, so nothing is ever
 * divided. */
#include "oracle.h"

#include <gmp.h>
#include <math.h>
#include <string.h>

typedef struct Point {
  mpz_t x[3], w;
} Point;

/* The set of points with n . x >= h w. */
typedef struct HalfSpace {
  mpz_t n[3], h;
} HalfSpace;

/* A triangle clipped by eight half-spaces gains at most one corner each time. */
#define MAX_POINTS 16
#define MAX_SPACES 8

static Point polygon[2][MAX_POINTS];
static int current, count;
static HalfSpace spaces[MAX_SPACES];
static int spaceCount;
static mpz_t sides[MAX_POINTS], ways[MAX_POINTS][3];
static mpz_t corner[2][3][3], e1[3], e2[3], normal[3], edge[3], t0, t1, t2;
static int unitExponent;
static pnTriangle last[2]; /* the pair of which polygon is the intersection, where `known` says so */
static bool known;

static void forAll(void (*act)(mpz_t)) {
  for (int i = 0; i < MAX_POINTS; ++i) {
    for (int k = 0; k < 2; ++k) {
      act(polygon[k][i].w);
      for (int j = 0; j < 3; ++j) act(polygon[k][i].x[j]);
    }
    act(sides[i]), act(ways[i][0]), act(ways[i][1]), act(ways[i][2]);
  }
  for (int i = 0; i < MAX_SPACES; ++i) {
    act(spaces[i].h);
    for (int j = 0; j < 3; ++j) act(spaces[i].n[j]);
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      act(corner[0][i][j]);
      act(corner[1][i][j]);
    }
    act(e1[i]), act(e2[i]), act(normal[i]), act(edge[i]);
  }
  act(t0), act(t1), act(t2);
}

static void initNumber(mpz_t z) {
  mpz_init(z);
}

static void clearNumber(mpz_t z) {
  mpz_clear(z);
}

void oracleOpen(void) {
  forAll(initNumber);
  known = false;
}

void oracleClose(void) {
  forAll(clearNumber);
}

int oracleSetUp(void **state) {
  (void)state;
  oracleOpen();
  return 0;
}

int oracleTearDown(void **state) {
  (void)state;
  oracleClose();
  return pnGetByteCount() == 0 ? 0 : -1;
}

/* ---------------------------------------------------------------- floats to whole numbers */

/* The largest exponent e such that all numbers are whole multiples of 2^e: doubles have 53 bits. */
static int commonExponent(const double *values, int n) {
  int least = 2000;
  for (int i = 0; i < n; ++i) {
    int e;
    double m = frexp(values[i], &e);
    if (m == 0.0) continue;
    /* m is in [1/2, 1): a whole number of 53 bits times 2^-53; drop its trailing zeros. */
    e -= 53;
    e += __builtin_ctzll((unsigned long long)(int64_t)ldexp(m, 53));
    least = e < least ? e : least;
  }
  return least == 2000 ? 0 : least;
}

static void setNumber(mpz_t z, double value, int exponent) {
  mpz_set_d(z, ldexp(value, -exponent));
}

/* ---------------------------------------------------------------- orientation */

static void cross(mpz_t out[3], mpz_t a[3], mpz_t b[3]) {
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    mpz_mul(out[i], a[j], b[k]);
    mpz_submul(out[i], a[k], b[j]);
  }
}

static void dot(mpz_t out, mpz_t a[3], mpz_t b[3]) {
  mpz_mul(out, a[0], b[0]);
  mpz_addmul(out, a[1], b[1]);
  mpz_addmul(out, a[2], b[2]);
}

/* The determinant into t1, in units of 2^(3 times what it returns). */
static int determinant(const double a[3], const double b[3], const double c[3], const double d[3]) {
  double all[12];
  memcpy(all, a, sizeof(double[3]));
  memcpy(all + 3, b, sizeof(double[3]));
  memcpy(all + 6, c, sizeof(double[3]));
  memcpy(all + 9, d, sizeof(double[3]));
  int exponent = commonExponent(all, 12);
  for (int i = 0; i < 3; ++i) {
    setNumber(t0, a[i], exponent);
    setNumber(e1[i], b[i], exponent);
    setNumber(e2[i], c[i], exponent);
    setNumber(edge[i], d[i], exponent);
    mpz_sub(e1[i], e1[i], t0);
    mpz_sub(e2[i], e2[i], t0);
    mpz_sub(edge[i], edge[i], t0);
  }
  cross(normal, e1, e2);
  dot(t1, normal, edge);
  return exponent;
}

int oracleOrient3(const double a[3], const double b[3], const double c[3], const double d[3]) {
  determinant(a, b, c, d);
  return mpz_sgn(t1);
}

double oracleOrient3Value(const double a[3], const double b[3], const double c[3], const double d[3]) {
  int unit = determinant(a, b, c, d);
  signed long exponent;
  double value = mpz_get_d_2exp(&exponent, t1);
  return ldexp(value, (int)exponent + 3 * unit);
}

int oracleOrient2(const double a[2], const double b[2], const double c[2]) {
  double a3[3] = {a[0], a[1], 0.0}, b3[3] = {b[0], b[1], 0.0}, c3[3] = {c[0], c[1], 0.0}, up[3] = {a[0], a[1], 1.0};
  return oracleOrient3(a3, b3, c3, up);
}

/* ---------------------------------------------------------------- a triangle as half-spaces */

/* Add n . x >= n . p, and when `both`, also <=. */
static void addSpace(mpz_t n[3], mpz_t p[3], bool both) {
  for (int turn = 0; turn < (both ? 2 : 1); ++turn) {
    HalfSpace *s = &spaces[spaceCount++];
    for (int i = 0; i < 3; ++i) turn == 0 ? mpz_set(s->n[i], n[i]) : mpz_neg(s->n[i], n[i]);
    dot(s->h, s->n, p);
  }
}

static bool isZero(mpz_t v[3]) {
  return mpz_sgn(v[0]) == 0 && mpz_sgn(v[1]) == 0 && mpz_sgn(v[2]) == 0;
}

static void subtract(mpz_t out[3], mpz_t a[3], mpz_t b[3]) {
  for (int i = 0; i < 3; ++i) mpz_sub(out[i], a[i], b[i]);
}

/* All corners are on the line through `from` along `direction`: two planes through the line, and both its ends. */
static void addSegment(mpz_t v[3][3], mpz_t direction[3]) {
  /* Two normals across the direction d, not parallel: of (0, dz, -dy), (-dz, 0, dx), (dy, -dx, 0) leave out the one
   * that belongs to a non-zero component of d. */
  int keep = mpz_sgn(direction[0]) != 0 ? 0 : mpz_sgn(direction[1]) != 0 ? 1 : 2;
  for (int axis = 0; axis < 3; ++axis) {
    if (axis != keep) {
      int j = (axis + 1) % 3, k = (axis + 2) % 3;
      mpz_set_si(normal[axis], 0);
      mpz_set(normal[j], direction[k]);
      mpz_neg(normal[k], direction[j]);
      addSpace(normal, v[0], true);
    }
  }
  /* The ends: the corners with the least and the largest d . x. */
  int low = 0, high = 0;
  for (int i = 1; i < 3; ++i) {
    dot(t0, direction, v[i]);
    dot(t1, direction, v[low]);
    dot(t2, direction, v[high]);
    low = mpz_cmp(t0, t1) < 0 ? i : low;
    high = mpz_cmp(t0, t2) > 0 ? i : high;
  }
  addSpace(direction, v[low], false);
  for (int i = 0; i < 3; ++i) mpz_neg(normal[i], direction[i]);
  addSpace(normal, v[high], false);
}

static void makeSpaces(mpz_t v[3][3]) {
  spaceCount = 0;
  subtract(e1, v[1], v[0]);
  subtract(e2, v[2], v[0]);
  cross(normal, e1, e2);
  if (!isZero(normal)) {
    /* A true triangle: its plane, and for each edge the half-space of the third corner: normal x edge points
     * inwards. */
    addSpace(normal, v[0], true);
    for (int i = 0; i < 3; ++i) {
      subtract(edge, v[(i + 1) % 3], v[i]);
      cross(e1, normal, edge);
      addSpace(e1, v[i], false);
    }
  } else if (!isZero(e1)) {
    addSegment(v, e1);
  } else if (!isZero(e2)) {
    addSegment(v, e2);
  } else {
    /* A point: x, y and z are given. */
    for (int axis = 0; axis < 3; ++axis) {
      for (int i = 0; i < 3; ++i) mpz_set_si(normal[i], i == axis);
      addSpace(normal, v[0], true);
    }
  }
}

/* ---------------------------------------------------------------- clipping */

static void copyPoint(Point *to, Point *from) {
  for (int i = 0; i < 3; ++i) mpz_set(to->x[i], from->x[i]);
  mpz_set(to->w, from->w);
}

/* The point where the segment pq crosses the boundary; sp > 0 > sq are n . x - h w at both. */
static void crossBoundary(Point *out, Point *p, mpz_t sp, Point *q, mpz_t sq) {
  for (int i = 0; i < 3; ++i) {
    mpz_mul(out->x[i], sp, q->x[i]);
    mpz_submul(out->x[i], sq, p->x[i]);
  }
  mpz_mul(out->w, sp, q->w);
  mpz_submul(out->w, sq, p->w);
}

/* Keep what lies in the half-space: walk around, keep corners inside, add a corner where an edge leaves or enters. */
static void clip(HalfSpace *s) {
  Point *in = polygon[current], *out = polygon[1 - current];
  int n = 0;
  for (int i = 0; i < count; ++i) {
    dot(sides[i], s->n, in[i].x);
    mpz_submul(sides[i], s->h, in[i].w);
  }
  for (int i = 0; i < count; ++i) {
    int j = (i + 1) % count;
    if (mpz_sgn(sides[i]) >= 0) copyPoint(&out[n++], &in[i]);
    if (mpz_sgn(sides[i]) > 0 && mpz_sgn(sides[j]) < 0) crossBoundary(&out[n++], &in[i], sides[i], &in[j], sides[j]);
    else if (mpz_sgn(sides[i]) < 0 && mpz_sgn(sides[j]) > 0)
      crossBoundary(&out[n++], &in[j], sides[j], &in[i], sides[i]);
  }
  current = 1 - current;
  count = n;
}

void oracleIntersect(const pnTriangle *a, const pnTriangle *b) {
  /* One pair is asked about in several ways; the set is the same, bit for bit (-0 and 0 are told apart: no harm). */
  if (known && memcmp(&last[0], a, sizeof *a) == 0 && memcmp(&last[1], b, sizeof *b) == 0) return;
  last[0] = *a, last[1] = *b, known = true;
  double all[18];
  for (int i = 0; i < 9; ++i) {
    all[i] = a->v[i / 3][i % 3];
    all[9 + i] = b->v[i / 3][i % 3];
  }
  unitExponent = commonExponent(all, 18);
  for (int i = 0; i < 9; ++i) {
    setNumber(corner[0][i / 3][i % 3], all[i], unitExponent);
    setNumber(corner[1][i / 3][i % 3], all[9 + i], unitExponent);
  }
  current = 0;
  count = 3;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) mpz_set(polygon[0][i].x[j], corner[0][i][j]);
    mpz_set_ui(polygon[0][i].w, 1);
  }
  makeSpaces(corner[1]);
  for (int i = 0; i < spaceCount && count > 0; ++i) clip(&spaces[i]);
}

/* ---------------------------------------------------------------- rays and boxes */

/* The triangle's corners and six more numbers, in units of their own. */
static void setCorners(const pnTriangle *triangle, const double six[6], mpz_t outSix[2][3]) {
  known = false;
  double all[15];
  for (int i = 0; i < 9; ++i) all[i] = triangle->v[i / 3][i % 3];
  memcpy(all + 9, six, sizeof(double[6]));
  unitExponent = commonExponent(all, 15);
  for (int i = 0; i < 9; ++i) setNumber(corner[1][i / 3][i % 3], all[i], unitExponent);
  for (int i = 0; i < 6; ++i) setNumber(outSix[i / 3][i % 3], all[9 + i], unitExponent);
}

/* A ray is the segment from its origin to its point at infinity, which has the weight 0. */
bool oracleRay(const float o[3], const float d[3], const pnTriangle *triangle, double *outT) {
  double six[6] = {o[0], o[1], o[2], d[0], d[1], d[2]};
  setCorners(triangle, six, corner[0]);
  current = 0;
  count = 2;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) mpz_set(polygon[0][i].x[j], corner[0][i][j]);
    mpz_set_ui(polygon[0][i].w, i == 0);
  }
  makeSpaces(corner[1]);
  for (int i = 0; i < spaceCount && count > 0; ++i) clip(&spaces[i]);
  // t of a point along an axis of d: (x - o w) / (d w).
  *outT = INFINITY;
  int axis = d[0] != 0 ? 0 : d[1] != 0 ? 1 : 2;
  for (int i = 0; i < count; ++i) {
    Point *p = &polygon[current][i];
    mpz_set(t0, p->x[axis]);
    mpz_submul(t0, corner[0][0][axis], p->w);
    mpz_mul(t1, corner[0][1][axis], p->w);
    signed long upper, lower;
    double x = mpz_get_d_2exp(&upper, t0), y = mpz_get_d_2exp(&lower, t1), t = ldexp(x / y, (int)(upper - lower));
    *outT = t < *outT ? t : *outT;
  }
  return count > 0;
}

bool oracleBox(const float lo[3], const float hi[3], const pnTriangle *triangle) {
  double six[6] = {lo[0], lo[1], lo[2], hi[0], hi[1], hi[2]};
  setCorners(triangle, six, corner[0]);
  current = 0;
  count = 3;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) mpz_set(polygon[0][i].x[j], corner[1][i][j]);
    mpz_set_ui(polygon[0][i].w, 1);
  }
  spaceCount = 0;
  for (int side = 0; side < 6; ++side) {
    for (int i = 0; i < 3; ++i) mpz_set_si(normal[i], i == side / 2 ? (side % 2 ? -1 : 1) : 0);
    addSpace(normal, corner[0][side % 2], false);
  }
  for (int i = 0; i < spaceCount && count > 0; ++i) clip(&spaces[i]);
  return count > 0;
}

/* ---------------------------------------------------------------- questions about what is left */

bool oracleMeet(void) {
  return count > 0;
}

bool oracleMeetBeyond(pnSharedCorners shared) {
  if (shared.count == 0 || shared.count == 3) return shared.count == 3 || count > 0;
  /* Every corner p of the intersection must lie on the segment from s to e (a point when the count is 1):
   * (p - s) x (e - s) = 0 and 0 <= (p - s).(e - s) <= (e - s).(e - s). For a point that leaves p = s. */
  mpz_t *s = corner[0][shared.a[0]], *e = corner[0][shared.a[shared.count - 1]];
  subtract(e1, e, s);
  for (int i = 0; i < count; ++i) {
    Point *p = &polygon[current][i];
    for (int j = 0; j < 3; ++j) {
      mpz_mul(t0, s[j], p->w);
      mpz_sub(e2[j], p->x[j], t0);
    }
    if (isZero(e2)) continue;
    cross(normal, e1, e2);
    dot(t0, e1, e2);
    dot(t1, e1, e1);
    mpz_mul(t1, t1, p->w);
    if (isZero(e1) || !isZero(normal) || mpz_sgn(t0) < 0 || mpz_cmp(t0, t1) > 0) return true;
  }
  return false;
}

/* p - q up to a positive factor. */
static void homogeneousDifference(mpz_t out[3], Point *p, Point *q) {
  for (int i = 0; i < 3; ++i) {
    mpz_mul(out[i], p->x[i], q->w);
    mpz_submul(out[i], q->x[i], p->w);
  }
}

/* Are a and b parallel? Most are not, and one number says so. */
static bool areParallel(mpz_t a[3], mpz_t b[3]) {
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    mpz_mul(t0, a[j], b[k]);
    mpz_submul(t0, a[k], b[j]);
    if (mpz_sgn(t0) != 0) return false;
  }
  return true;
}

/* Does a point lie on another that is still there, or between two of them? */
static bool isBetween(Point *p, const bool *gone, int i) {
  for (int j = 0; j < count; ++j) {
    if (j == i || gone[j]) continue;
    homogeneousDifference(ways[j], &p[j], &p[i]);
    if (isZero(ways[j])) return true;
    for (int k = 0; k < j; ++k) {
      if (k == i || gone[k] || !areParallel(ways[j], ways[k])) continue;
      dot(t0, ways[j], ways[k]);
      if (mpz_sgn(t0) < 0) return true;
    }
  }
  return false;
}

/* A point is dropped as long as it lies between others that are still there. */
int oracleCorners(double out[6][3]) {
  Point *p = polygon[current];
  bool gone[MAX_POINTS] = {false};
  int left = count;
  for (int i = 0; i < count; ++i) {
    gone[i] = isBetween(p, gone, i);
    left -= gone[i];
  }
  int n = 0;
  for (int i = 0; i < count && n < 6; ++i) {
    for (int j = 0; j < 3 && !gone[i]; ++j) {
      signed long xExponent, wExponent;
      double x = mpz_get_d_2exp(&xExponent, p[i].x[j]), w = mpz_get_d_2exp(&wExponent, p[i].w);
      out[n][j] = ldexp(x / w, (int)(xExponent - wExponent) + unitExponent);
    }
    n += !gone[i];
  }
  return left;
}
