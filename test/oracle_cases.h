/* oracle_cases.h: pairs of triangles that break triangle tests, made by formula. Shared by the tests and the long
 * fuzz. */
#ifndef PN_TEST_ORACLE_CASES_H
#define PN_TEST_ORACLE_CASES_H

#include "pinch/geom.h"

/* A small random generator (SplitMix64): same seed, same cases, on every machine. */
typedef struct Random {
  uint64_t state;
} Random;

uint64_t randomBits(Random *r);
int randomBelow(Random *r, int n); /* 0 ... n - 1 */
double randomBetween(Random *r, double a, double b);

/* The kinds of pairs. */
typedef enum CaseKind {
  CASE_RANDOM,        /* corners anywhere in a cube */
  CASE_LATTICE,       /* corners on the lattice 0..3: touching in every way */
  CASE_LATTICE_SMALL, /* corners on 0..1: half of them without area */
  CASE_LATTICE_PLANE, /* corners on the lattice 0..4 of one axis-aligned plane */
  CASE_NEAR_PLANE,    /* one plane, rounded to float, then an ulp up or down */
  CASE_TURNED_GRID,   /* a flat grid of integers, turned and rounded to float */
  CASE_SKEW_PLANE,    /* exactly one slanted plane: integer combinations of two integer vectors */
  CASE_TOUCH,         /* a corner of one on an edge or face of the other, exactly or within rounding */
  CASE_SLIVER,        /* three corners nearly on a line */
  CASE_NO_AREA,       /* segments and points */
  CASE_IDENTICAL,     /* the same corners, turned round */
  CASE_SHARED_CORNER, /* neighbours over a vertex, otherwise of any kind above */
  CASE_SHARED_EDGE,   /* neighbours over an edge */
  CASE_HUGE,          /* around 1e30 and up to the largest float */
  CASE_TINY,          /* a few units of the smallest subnormal */
  CASE_MIXED,         /* every coordinate with an exponent of its own, zeros among them */
  CASE_HAIR,          /* a degenerate pair, one corner moved by a hair: signs near the bounds of the filters */
  CASE_FAR,           /* small differences at a large offset */
  CASE_KIND_COUNT
} CaseKind;

const char *caseName(CaseKind kind);

typedef struct Case {
  pnTriangle a, b;
} Case;

Case makeCase(CaseKind kind, Random *r);

/* All six corners as one list: 0..2 are a, 3..5 are b. */
float *cornerOf(Case *c, int i);

/* Put a random corner of `to` where a random corner of `from` is. */
void copyCorner(pnTriangle *to, const pnTriangle *from, Random *r);

/* Some corners with equal coordinates as shared ones: a random choice among those there are, of 1 or 2; count 0 if
 * none. */
pnSharedCorners pickShared(const Case *c, Random *r);

/* The same pair with triangles exchanged and corners permuted, as the bits of `how` (0 ... 71) say. */
Case permuteCase(const Case *c, int how);

/* Print the pair so that it can be pasted into a test: hexadecimal floats. */
void printCase(const Case *c);

#endif
