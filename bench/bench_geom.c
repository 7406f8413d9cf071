/* bench_geom.c: nanoseconds for one question about points or triangles.
 *
 * Each kernel runs on each mix of pairs; it is first checked against the exact one, and the number of meeting pairs is
 * printed beside the times: a time without the right count is not a result.
 *
 *   bench_geom [--rows FILE] [pairs in a mix]      rows: record.h
 *
 * The mixes: `random` pairs of which about a quarter meets; `leaves`, close pairs as a tree hands them over, boxes
 * overlapping; `crossing`, all meet; `near plane`, six corners within a float ulp of one plane; `coplanar`, exactly
 * in one slanted plane and touching; `flat`, in an axis-aligned plane; `turned grid`, neighbours of a flat grid
 * turned and rounded; `wide`, exponents so far apart that only the last stage decides.
 */
#include "pinch/geom.h"
#include "pinch/lab.h"
#include "record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Pair {
  pnTriangle a, b;
} Pair;

/* ---------------------------------------------------------------- random numbers */

static uint64_t state = 1;

static uint64_t nextBits(void) {
  uint64_t z = (state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

static double between(double a, double b) {
  return a + (b - a) * ((double)(nextBits() >> 11) * 0x1p-53);
}

static int below(int n) {
  return (int)(nextBits() % (uint64_t)n);
}

static float *corner(Pair *p, int i) {
  return i < 3 ? p->a.v[i] : p->b.v[i - 3];
}

/* ---------------------------------------------------------------- mixes */

static Pair makeRandom(void) {
  Pair p;
  for (int i = 0; i < 18; ++i) corner(&p, i / 3)[i % 3] = (float)between(-1.0, 1.0);
  return p;
}

static bool boxesOverlap(const Pair *p) {
  for (int j = 0; j < 3; ++j) {
    float aLow = fminf(fminf(p->a.v[0][j], p->a.v[1][j]), p->a.v[2][j]);
    float aHigh = fmaxf(fmaxf(p->a.v[0][j], p->a.v[1][j]), p->a.v[2][j]);
    float bLow = fminf(fminf(p->b.v[0][j], p->b.v[1][j]), p->b.v[2][j]);
    float bHigh = fmaxf(fmaxf(p->b.v[0][j], p->b.v[1][j]), p->b.v[2][j]);
    if (aHigh < bLow || bHigh < aLow) return false;
  }
  return true;
}

static Pair makeLeaves(void) {
  Pair p;
  do {
    for (int k = 0; k < 2; ++k) {
      double centre[3] = {between(-0.6, 0.6), between(-0.6, 0.6), between(-0.6, 0.6)};
      for (int i = 0; i < 9; ++i) corner(&p, 3 * k + i / 3)[i % 3] = (float)(10.0 + centre[i % 3] + between(-0.5, 0.5));
    }
  } while (!boxesOverlap(&p));
  return p;
}

static Pair makeCrossing(void) {
  Pair p;
  do {
    p = makeRandom();
  } while (!pnTrianglesMeet(&p.a, &p.b));
  return p;
}

/* o + s u + t v in one plane; `grid` takes s and t from a grid of quarters and hands over two neighbouring cells. */
static Pair makePlane(bool grid) {
  double o[3], u[3], v[3];
  for (int j = 0; j < 3; ++j) o[j] = between(-1.0, 1.0), u[j] = between(-1.0, 1.0), v[j] = between(-1.0, 1.0);
  Pair p;
  int s0 = below(16), t0 = below(16);
  for (int i = 0; i < 6; ++i) {
    double s = grid ? (s0 + below(2) + (i > 2)) / 16.0 : between(-1.0, 1.0);
    double t = grid ? (t0 + (i % 3 == 1) + below(2)) / 16.0 : between(-1.0, 1.0);
    for (int j = 0; j < 3; ++j) corner(&p, i)[j] = (float)(o[j] + s * u[j] + t * v[j]);
  }
  return p;
}

static Pair makeNearPlane(void) {
  return makePlane(false);
}

static Pair makeTurnedGrid(void) {
  return makePlane(true);
}

/* Integers of 12 bits and their combinations: exactly one plane, slanted; b's first corner on an edge of a. */
static Pair makeCoplanar(void) {
  int o[3], u[3], v[3], st[6][2];
  for (int j = 0; j < 3; ++j) o[j] = below(4096) - 2048, u[j] = below(512) - 256, v[j] = below(512) - 256;
  for (int i = 0; i < 6; ++i) st[i][0] = 2 * below(16) + (i > 2 ? 8 : 0), st[i][1] = 2 * below(16);
  st[3][0] = (st[0][0] + st[1][0]) / 2, st[3][1] = (st[0][1] + st[1][1]) / 2;
  Pair p;
  for (int i = 0; i < 18; ++i) {
    int j = i % 3;
    corner(&p, i / 3)[j] = (float)(o[j] + st[i / 3][0] * u[j] + st[i / 3][1] * v[j]) * 0x1p-10f;
  }
  return p;
}

static Pair makeFlat(void) {
  Pair p = makeRandom();
  int axis = below(3);
  for (int i = 0; i < 6; ++i) corner(&p, i)[axis] = 0.7f;
  return p;
}

/* In the plane x = y, with numbers near zero beside ordinary ones, as sines and cosines of right angles leave them. */
static Pair makeWide(void) {
  Pair p = makeRandom();
  for (int i = 0; i < 6; ++i) {
    float *x = corner(&p, i);
    x[0] *= below(4) ? 1.0f : 0x1p-60f;
    x[2] *= below(4) ? 1.0f : 0x1p-60f;
    x[1] = x[0];
  }
  return p;
}

/* ---------------------------------------------------------------- timing */

enum { PASSES = 7, BLOCK = 1000 };

typedef struct Mix {
  const char *name;
  Pair (*make)(void);
} Mix;

static const Mix mixes[] = {
    {"random", makeRandom},     {"leaves", makeLeaves}, {"crossing", makeCrossing},      {"near plane", makeNearPlane},
    {"coplanar", makeCoplanar}, {"flat", makeFlat},     {"turned grid", makeTurnedGrid}, {"wide", makeWide},
};

typedef int Question(int variant, const Pair *p);

static int askMeet(int variant, const Pair *p) {
  return pnTrianglesMeetBy((pnKernel)variant, &p->a, &p->b);
}

static int askOrient3(int variant, const Pair *p) {
  (void)variant;
  return pnOrient3(p->a.v[0], p->a.v[1], p->a.v[2], p->b.v[0]) > 0;
}

static int askOrient2(int variant, const Pair *p) {
  (void)variant;
  return pnOrient2(p->a.v[0], p->a.v[1], p->b.v[0]) > 0;
}

static int askBeyond(int variant, const Pair *p) {
  (void)variant;
  /* As if the first corners were one: b moved onto a's corner costs nothing beside the question. */
  pnTriangle b = p->b;
  memcpy(b.v[0], p->a.v[0], sizeof b.v[0]);
  return pnTrianglesMeetBeyond(&p->a, &b, (pnSharedCorners){1, {0, 0, 0}, {0, 0, 0}});
}

static int askGeometry(int variant, const Pair *p) {
  (void)variant;
  return pnMeetTriangles(&p->a, &p->b).pointCount > 0;
}

/* Time of one question in nanoseconds, and how often it was answered with yes. Blocks short enough to fit between two
 * interruptions; of each block the best pass counts. */
static double measure(Question *question, int variant, const Pair *pairs, int n, int *outYes) {
  double total = 0.0;
  *outYes = 0;
  for (int first = 0; first < n; first += BLOCK) {
    int end = first + BLOCK < n ? first + BLOCK : n, yes = 0;
    double best = INFINITY;
    for (int pass = 0; pass < PASSES; ++pass) {
      yes = 0;
      double start = pnGetTime();
      for (int i = first; i < end; ++i) yes += question(variant, &pairs[i]);
      best = fmin(best, pnGetTime() - start);
    }
    total += best;
    *outYes += yes;
  }
  return total * 1e9 / n;
}

/* By the numbers of pnKernel. */
static const char *const kernels[PN_KERNEL_COUNT] = {[PN_KERNEL_DEFAULT] = "default",
                                                     [PN_KERNEL_MOLLER] = "moller",
                                                     [PN_KERNEL_TROPP] = "tropp",
                                                     [PN_KERNEL_EXACT] = "exact"};

static const struct {
  const char *name;
  int (*ask)(int variant, const Pair *pair);
} questions[] = {{"orient3", askOrient3}, {"orient2", askOrient2}, {"beyond", askBeyond}, {"geometry", askGeometry}};

int main(int argc, char **argv) {
  pn_recordArguments(&argc, argv);
  int n = argc > 1 ? atoi(argv[1]) : 20000;
  if (n < 1) {
    fprintf(stderr, "bench_geom: the number of pairs must be positive\n");
    return 2;
  }
  Pair *pairs = malloc((size_t)n * sizeof *pairs);
  if (!pairs) {
    fprintf(stderr, "bench_geom: no memory for %d pairs\n", n);
    return 2;
  }
  int wrong = 0;
  printf("%-12s %7s | %8s %8s %8s %8s | %8s %8s | %8s %8s   ns a call, %d pairs\n", "mix", "meet", "default", "moller",
         "tropp", "exact", "orient3", "orient2", "beyond", "geometry", n);
  for (size_t m = 0; m < sizeof mixes / sizeof *mixes; ++m) {
    for (int i = 0; i < n; ++i) pairs[i] = mixes[m].make();
    int expected, yes;
    measure(askMeet, PN_KERNEL_EXACT, pairs, n, &expected);
    printf("%-12s %7d |", mixes[m].name, expected);
    pn_recordScene("geom", mixes[m].name);
    pn_record("truth", "meet", expected);
    for (int k = 0; k < PN_KERNEL_COUNT; ++k) {
      double ns = measure(askMeet, k, pairs, n, &yes);
      wrong += yes != expected;
      printf(yes == expected ? " %8.1f" : " WRONG%3.0f", ns);
      pn_record(kernels[k], "ns a pair", ns);
      pn_record(kernels[k], "wrong frames", yes != expected);
    }
    for (size_t q = 0; q < sizeof questions / sizeof *questions; ++q) {
      double ns = measure(questions[q].ask, 0, pairs, n, &yes);
      printf(q % 2 ? " %8.1f" : " | %8.1f", ns);
      pn_record(questions[q].name, "ns a sign", ns);
    }
    printf("\n");
    wrong += yes != expected; /* of the last one, which counts pairs that meet */
  }
  free(pairs);
  return wrong ? 1 : 0;
}
