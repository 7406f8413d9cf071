/* oracle_cases.c: see oracle_cases.h. */
#include "oracle_cases.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- random numbers */

uint64_t randomBits(Random *r) {
  uint64_t z = (r->state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

int randomBelow(Random *r, int n) {
  return (int)(randomBits(r) % (uint64_t)n);
}

double randomBetween(Random *r, double a, double b) {
  return a + (b - a) * ((double)(randomBits(r) >> 11) * 0x1p-53);
}

/* ---------------------------------------------------------------- parts */

float *cornerOf(Case *c, int i) {
  return i < 3 ? c->a.v[i] : c->b.v[i - 3];
}

void copyCorner(pnTriangle *to, const pnTriangle *from, Random *r) {
  int i = randomBelow(r, 3), j = randomBelow(r, 3);
  memmove(to->v[i], from->v[j], sizeof to->v[i]);
}

/* Move a float by some units in the last place, away from or towards zero. */
static float nudge(float x, int ulps) {
  for (; ulps > 0; --ulps) x = nextafterf(x, FLT_MAX);
  for (; ulps < 0; ++ulps) x = nextafterf(x, -FLT_MAX);
  return x;
}

/* Three columns of a random rotation, by two random directions made orthogonal. */
static void randomFrame(Random *r, double m[3][3]) {
  for (int k = 0; k < 2; ++k) {
    for (;;) {
      double dotted = 0.0, length = 0.0;
      for (int i = 0; i < 3; ++i) {
        m[k][i] = randomBetween(r, -1.0, 1.0);
        dotted += k == 1 ? m[k][i] * m[0][i] : 0.0;
      }
      for (int i = 0; i < 3; ++i) {
        m[k][i] -= k == 1 ? dotted * m[0][i] : 0.0;
        length += m[k][i] * m[k][i];
      }
      if (length > 0.01) {
        for (int i = 0; i < 3; ++i) m[k][i] /= sqrt(length);
        break;
      }
    }
  }
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    m[2][i] = m[0][j] * m[1][k] - m[0][k] * m[1][j];
  }
}

static void makeRandom(Case *c, Random *r) {
  double spread = randomBelow(r, 2) ? 1.0 : 0.5;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 3; ++j) cornerOf(c, i)[j] = (float)randomBetween(r, -spread, spread);
}

static void makeLattice(Case *c, Random *r, int size) {
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 3; ++j) cornerOf(c, i)[j] = (float)randomBelow(r, size);
}

/* Points of one plane: coordinates (s, t) in a turned frame, plus `lift` along the normal for a few. */
static void makeTurned(Case *c, Random *r, bool grid, int ulps) {
  double m[3][3], origin[3];
  randomFrame(r, m);
  for (int i = 0; i < 3; ++i) origin[i] = randomBelow(r, 2) ? randomBetween(r, -1.0, 1.0) : 0.0;
  for (int i = 0; i < 6; ++i) {
    double s = grid ? randomBelow(r, 5) * 0.25 : randomBetween(r, -1.0, 1.0);
    double t = grid ? randomBelow(r, 5) * 0.25 : randomBetween(r, -1.0, 1.0);
    /* Some cases stand two grids across one another. */
    double lift = grid && i > 3 && randomBelow(r, 2) ? (randomBelow(r, 3) - 1) * 0.25 : 0.0;
    for (int j = 0; j < 3; ++j) {
      float x = (float)(origin[j] + s * m[0][j] + t * m[1][j] + lift * m[2][j]);
      cornerOf(c, i)[j] = ulps > 0 ? nudge(x, randomBelow(r, 2 * ulps + 1) - ulps) : x;
    }
  }
}

/* o + s u + t w with integers: exactly in one plane. A random power of two and a few lifted corners on top. */
static void makeSkewPlane(Case *c, Random *r) {
  int o[3], u[3], w[3];
  int range = 1 << (1 + randomBelow(r, 10));
  for (int j = 0; j < 3; ++j) {
    o[j] = randomBelow(r, range) - range / 2;
    u[j] = randomBelow(r, range) - range / 2;
    w[j] = randomBelow(r, range) - range / 2;
  }
  double scale = ldexp(1.0, randomBelow(r, 60) - 30);
  bool lift = randomBelow(r, 4) == 0;
  for (int i = 0; i < 6; ++i) {
    int s = randomBelow(r, 9) - 4, t = randomBelow(r, 9) - 4;
    for (int j = 0; j < 3; ++j) {
      int x = o[j] + s * u[j] + t * w[j] + (lift ? randomBelow(r, 3) - 1 : 0);
      cornerOf(c, i)[j] = (float)(x * scale);
    }
  }
}

/* Put corner `which` of b onto a: a weighted mean of a's corners, sometimes with weight zero (edge) or dyadic
 * (exact). */
static void touch(Case *c, Random *r, int which) {
  double weight[3], sum = 0.0;
  bool exact = randomBelow(r, 2);
  do {
    sum = 0.0;
    for (int i = 0; i < 3; ++i) {
      weight[i] = exact ? randomBelow(r, 5) : randomBelow(r, 3) ? randomBetween(r, 0.0, 1.0) : 0.0;
      sum += weight[i];
    }
  } while (sum == 0.0 || (exact && sum != 4.0));
  for (int j = 0; j < 3; ++j) {
    double x = 0.0;
    for (int i = 0; i < 3; ++i) x += weight[i] / sum * c->a.v[i][j];
    c->b.v[which][j] = (float)x;
  }
}

static void makeTouch(Case *c, Random *r) {
  if (randomBelow(r, 2)) makeRandom(c, r);
  else makeLattice(c, r, 9);
  int count = 1 + randomBelow(r, 3);
  for (int i = 0; i < count; ++i) touch(c, r, randomBelow(r, 3));
}

/* A corner onto the line through the other two, within rounding. */
static void flattenTriangle(pnTriangle *t, Random *r, bool exact) {
  int i = randomBelow(r, 3), p = (i + 1) % 3, q = (i + 2) % 3;
  double s = exact ? (randomBelow(r, 9) - 2) * 0.25 : randomBetween(r, -0.5, 1.5);
  for (int j = 0; j < 3; ++j) t->v[i][j] = (float)(t->v[p][j] + s * ((double)t->v[q][j] - t->v[p][j]));
}

static void makeSliver(Case *c, Random *r) {
  makeRandom(c, r);
  flattenTriangle(&c->a, r, false);
  if (randomBelow(r, 2)) flattenTriangle(&c->b, r, false);
  if (randomBelow(r, 2)) touch(c, r, randomBelow(r, 3));
}

static void makeNoArea(Case *c, Random *r) {
  makeLattice(c, r, 1 << (1 + randomBelow(r, 3)));
  for (int k = 0; k < 2; ++k) {
    pnTriangle *t = k == 0 ? &c->a : &c->b;
    switch (randomBelow(r, 4)) {
      case 0: /* a point */
        memcpy(t->v[1], t->v[0], sizeof t->v[0]);
        memcpy(t->v[2], t->v[0], sizeof t->v[0]);
        break;
      case 1: /* two corners in one place */ copyCorner(t, t, r); break;
      case 2: /* three on a line, quarters of a lattice step are exact */ flattenTriangle(t, r, true); break;
      default: break;
    }
  }
}

static void makeMixed(Case *c, Random *r) {
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 3; ++j) {
      int e = randomBelow(r, 4) ? randomBelow(r, 276) - 149 : randomBelow(r, 8) - 4;
      double x = ldexp(randomBetween(r, -1.0, 1.0), e);
      cornerOf(c, i)[j] = randomBelow(r, 5) ? (float)x : 0.0f;
    }
  }
  /* Make them meet more often than chance: share a coordinate, or a corner on the other triangle. */
  if (randomBelow(r, 2)) {
    int j = randomBelow(r, 3);
    for (int i = 1; i < 6; ++i) cornerOf(c, i)[j] = cornerOf(c, 0)[j];
  }
  if (randomBelow(r, 2)) touch(c, r, randomBelow(r, 3));
}

/* Integers in general or special position, moved so that one corner is the origin: there is room for tiny numbers. */
static void makeHair(Case *c, Random *r) {
  int range = 1 << (1 + randomBelow(r, 20));
  makeLattice(c, r, range);
  if (randomBelow(r, 2)) {
    /* One plane: combine two directions with small factors. */
    int u[3], w[3];
    for (int j = 0; j < 3; ++j) u[j] = randomBelow(r, range) - range / 2, w[j] = randomBelow(r, range) - range / 2;
    for (int i = 0; i < 6; ++i) {
      int s = randomBelow(r, 7) - 3, t = randomBelow(r, 7) - 3;
      for (int j = 0; j < 3; ++j) cornerOf(c, i)[j] = (float)(s * u[j] + t * w[j]);
    }
  } else {
    /* In the middle of an edge of a: a corner of b, or the middle of an edge of b. */
    bool edge = randomBelow(r, 2);
    for (int j = 0; j < 3; ++j) {
      c->a.v[1][j] = c->a.v[0][j] + 2.0f * (float)(randomBelow(r, range) - range / 2);
      float middle = 0.5f * (c->a.v[0][j] + c->a.v[1][j]);
      c->b.v[0][j] = edge ? 2.0f * middle - c->b.v[1][j] : middle;
    }
  }
  int corner = randomBelow(r, 6);
  float origin[3];
  memcpy(origin, cornerOf(c, corner), sizeof origin);
  for (int i = 0; i < 18; ++i) cornerOf(c, i / 3)[i % 3] -= origin[i % 3];
  for (int j = 0; j < 3; ++j) {
    int step = randomBelow(r, 3) - 1, exponent = 10 - randomBelow(r, 70);
    cornerOf(c, corner)[j] = (float)ldexp(step, exponent);
  }
}

/* Scale a simpler case by a power of two, exactly where it does not leave the normal floats. */
static void scaleCase(Case *c, double scale) {
  for (int i = 0; i < 18; ++i) cornerOf(c, i / 3)[i % 3] = (float)(cornerOf(c, i / 3)[i % 3] * scale);
}

/* Bring the largest coordinate to about 1e30, or just below the largest float. */
static void enlargeCase(Case *c, Random *r) {
  double largest = 0x1p-149;
  for (int i = 0; i < 18; ++i) largest = fmax(largest, fabs((double)cornerOf(c, i / 3)[i % 3]));
  int exponent;
  frexp(largest, &exponent);
  scaleCase(c, ldexp(1.0, (randomBelow(r, 2) ? 100 : 128) - exponent));
}

static void shiftCase(Case *c, Random *r) {
  double offset[3];
  for (int j = 0; j < 3; ++j) {
    int exponent = randomBelow(r, 24);
    offset[j] = ldexp(randomBelow(r, 3), exponent);
  }
  for (int i = 0; i < 18; ++i) cornerOf(c, i / 3)[i % 3] = (float)(cornerOf(c, i / 3)[i % 3] + offset[i % 3]);
}

/* ---------------------------------------------------------------- kinds */

static const char *const names[CASE_KIND_COUNT] = {
    "random",      "lattice", "lattice small", "lattice plane", "near plane", "turned grid",
    "skew plane",  "touch",   "sliver",        "no area",       "identical",  "shared corner",
    "shared edge", "huge",    "tiny",          "mixed",         "hair",       "far",
};

const char *caseName(CaseKind kind) {
  return names[kind];
}

static void makeSimple(Case *c, Random *r) {
  static const CaseKind simple[] = {CASE_RANDOM,     CASE_LATTICE,     CASE_LATTICE_PLANE,
                                    CASE_NEAR_PLANE, CASE_TURNED_GRID, CASE_SKEW_PLANE,
                                    CASE_TOUCH,      CASE_SLIVER,      CASE_NO_AREA};
  *c = makeCase(simple[randomBelow(r, (int)(sizeof simple / sizeof *simple))], r);
}

Case makeCase(CaseKind kind, Random *r) {
  Case c = {0};
  switch (kind) {
    case CASE_LATTICE: makeLattice(&c, r, 4); break;
    case CASE_LATTICE_SMALL: makeLattice(&c, r, 2); break;
    case CASE_LATTICE_PLANE:
      makeLattice(&c, r, 5);
      for (int i = 0, axis = randomBelow(r, 3); i < 6; ++i) cornerOf(&c, i)[axis] = 0.1f;
      break;
    case CASE_NEAR_PLANE: makeTurned(&c, r, false, 1 + randomBelow(r, 2)); break;
    case CASE_TURNED_GRID: makeTurned(&c, r, true, 0); break;
    case CASE_SKEW_PLANE: makeSkewPlane(&c, r); break;
    case CASE_TOUCH: makeTouch(&c, r); break;
    case CASE_SLIVER: makeSliver(&c, r); break;
    case CASE_NO_AREA: makeNoArea(&c, r); break;
    case CASE_IDENTICAL:
      makeSimple(&c, r);
      c.b = c.a;
      c = permuteCase(&c, randomBelow(r, 72));
      break;
    case CASE_SHARED_CORNER:
      makeSimple(&c, r);
      copyCorner(&c.b, &c.a, r);
      break;
    case CASE_SHARED_EDGE:
      makeSimple(&c, r);
      memcpy(c.b.v[1], c.a.v[0], sizeof c.a.v[0]);
      memcpy(c.b.v[2], c.a.v[1], sizeof c.a.v[0]);
      c = permuteCase(&c, randomBelow(r, 72));
      break;
    case CASE_HUGE:
      makeSimple(&c, r);
      enlargeCase(&c, r);
      break;
    case CASE_TINY:
      makeSimple(&c, r);
      scaleCase(&c, ldexp(1.0, -149 + randomBelow(r, 26)));
      break;
    case CASE_MIXED: makeMixed(&c, r); break;
    case CASE_HAIR: makeHair(&c, r); break;
    case CASE_FAR:
      makeSimple(&c, r);
      shiftCase(&c, r);
      break;
    case CASE_RANDOM:
    default: makeRandom(&c, r); break;
  }
  return c;
}

/* ---------------------------------------------------------------- neighbours and symmetry */

pnSharedCorners pickShared(const Case *c, Random *r) {
  pnSharedCorners shared = {0};
  int start = randomBelow(r, 9), wanted = 1 + randomBelow(r, 2);
  bool usedA[3] = {false}, usedB[3] = {false};
  for (int k = 0; k < 9 && shared.count < wanted; ++k) {
    int i = (start + k) % 9 / 3, j = (start + k) % 9 % 3;
    const float *p = c->a.v[i], *q = c->b.v[j];
    if (!usedA[i] && !usedB[j] && p[0] == q[0] && p[1] == q[1] && p[2] == q[2]) {
      usedA[i] = usedB[j] = true;
      shared.a[shared.count] = (uint8_t)i;
      shared.b[shared.count] = (uint8_t)j;
      ++shared.count;
    }
  }
  return shared;
}

Case permuteCase(const Case *c, int how) {
  static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  const int *oa = orders[how % 6], *ob = orders[how / 6 % 6];
  Case out;
  for (int i = 0; i < 3; ++i) {
    memcpy(out.a.v[i], c->a.v[oa[i]], sizeof out.a.v[i]);
    memcpy(out.b.v[i], c->b.v[ob[i]], sizeof out.b.v[i]);
  }
  if (how / 36 % 2) {
    pnTriangle t = out.a;
    out.a = out.b;
    out.b = t;
  }
  return out;
}

void printCase(const Case *c) {
  for (int k = 0; k < 2; ++k) {
    const pnTriangle *t = k == 0 ? &c->a : &c->b;
    printf("  %c:", "ab"[k]);
    for (int i = 0; i < 3; ++i) printf(" (%a, %a, %a)", t->v[i][0], t->v[i][1], t->v[i][2]);
    printf("\n");
  }
}
