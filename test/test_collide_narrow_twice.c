/* test_collide_narrow_twice.c: the second and the third look of the narrow phase, in doubles (narrow_twice.h). What they decide is right over all
 * magnitudes that a float has, their widths agree, the error bound of the second holds, and neither is taken for long where it decides
 * nothing. */
#include "support.h"

#include "collide/narrow.h"
#include "geom/triangle.h"
#include "oracle.h"
#include "oracle_cases.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 16 };

/* Cases side by side, as the filter of sixteen has them. */
typedef struct Batch {
  Case cases[WIDTH];
  float columns[18 * WIDTH];
  uint32_t meet; /* the truth */
} Batch;

/* A case in its column, and the truth about it. */
static void setCase(Batch *b, uint32_t i, const Case *c) {
  b->cases[i] = *c;
  for (uint32_t k = 0; k < 9; ++k) {
    b->columns[k * WIDTH + i] = c->a.v[k / 3][k % 3];
    b->columns[(9 + k) * WIDTH + i] = c->b.v[k / 3][k % 3];
  }
  oracleIntersect(&c->a, &c->b);
  b->meet = (b->meet & ~(1u << i)) | (uint32_t)oracleMeet() << i;
}

static void fill(Batch *b, CaseKind kind, Random *r) {
  b->meet = 0;
  for (uint32_t i = 0; i < WIDTH; ++i) {
    Case c = makeCase(kind, r);
    setCase(b, i, &c);
  }
}

/* Those that this machine can run. */
static size_t listLooks(pnNarrowTwiceFcn **out, bool third) {
  size_t count = 0;
  out[count++] = third ? pn_narrowLattice2 : pn_narrowTwice2;
#if defined(__x86_64__) && !defined(PN_SCALAR)
  if (__builtin_cpu_supports("avx2")) out[count++] = third ? pn_narrowLattice4Avx2 : pn_narrowTwice4Avx2;
#if defined(PN_AVX512)
  if (pn_hasAvx512()) out[count++] = third ? pn_narrowLattice8Avx512 : pn_narrowTwice8Avx512;
#endif
#endif
  return count;
}

/* What all widths say of the wanted is the truth, and the same: of the third look, which leaves out who would be alone in a register, where all
 * are wanted. Returns who is decided. */
static uint32_t askAll(const Batch *b, uint32_t wanted, bool third) {
  pnNarrowTwiceFcn *looks[3];
  size_t lookCount = listLooks(looks, third);
  uint32_t first[2] = {0};
  for (size_t k = 0; k < lookCount; ++k) {
    uint32_t decided, hits = looks[k](b->columns, WIDTH, wanted, &decided);
    assert_int_equal(decided & ~wanted, 0);
    assert_int_equal(hits & ~decided, 0);
    uint32_t wrong = (hits ^ b->meet) & decided;
    if (wrong) {
      printCase(&b->cases[__builtin_ctz(wrong)]);
      fail_msg("width %u: is decided, and is wrong", 1u << (k + 1));
    }
    if (k == 0 || (third && wanted != 0xffff)) first[0] = decided, first[1] = hits;
    assert_int_equal(decided, first[0]);
    assert_int_equal(hits, first[1]);
  }
  return first[0];
}

enum { ROUNDS = 128 };

/* Cases of a kind; returns how many are decided of those in rounds with all of them wanted. */
static uint32_t askKind(CaseKind kind, bool third, Random *r) {
  uint32_t decidedCount = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    Batch b;
    fill(&b, kind, r);
    uint32_t decided = askAll(&b, round % 2 ? 0xffff : (uint32_t)randomBelow(r, 1 << 16), third);
    if (round % 2) decidedCount += (uint32_t)__builtin_popcount(decided);
  }
  print_message("  %-16s %5u pairs, %4u decided\n", caseName(kind), ROUNDS / 2 * WIDTH, decidedCount);
  return decidedCount;
}

static void decidedIsTrue(void **state) {
  (void)state;
  Random r = {5};
  const uint32_t pairs = ROUNDS / 2 * WIDTH;
  for (int kind = 0; kind < CASE_KIND_COUNT; ++kind) {
    uint32_t decided = askKind((CaseKind)kind, false, &r);
    /* one that never decides would pass: in general position it always does, and of all magnitudes */
    if (kind == CASE_RANDOM || kind == CASE_NEAR_PLANE) assert_true(decided == pairs);
    if (kind == CASE_HUGE) assert_true(decided > pairs / 2);
  }
}

/* ---------------------------------------------------------------- the third look */

static bool haveArea(const Case *c) {
  const float *a[3] = {c->a.v[0], c->a.v[1], c->a.v[2]}, *b[3] = {c->b.v[0], c->b.v[1], c->b.v[2]};
  return pn_triangleHull(a).count == 3 && pn_triangleHull(b).count == 3;
}

/* On lattices it decides all that have area. */
static void latticesAreDecided(void **state) {
  (void)state;
  Random r = {11};
  for (int kind = 0; kind < CASE_KIND_COUNT; ++kind) (void)askKind((CaseKind)kind, true, &r);
  static const CaseKind kinds[] = {CASE_LATTICE, CASE_LATTICE_SMALL, CASE_LATTICE_PLANE, CASE_SKEW_PLANE, CASE_NO_AREA};
  uint32_t decided = 0;
  for (int round = 0; round < 5 * ROUNDS; ++round) {
    Batch b;
    fill(&b, kinds[round % 5], &r);
    uint32_t area = 0, said = askAll(&b, 0xffff, true);
    for (uint32_t i = 0; i < WIDTH; ++i) area |= (uint32_t)haveArea(&b.cases[i]) << i;
    assert_int_equal(said, area);
    decided += (uint32_t)__builtin_popcount(said);
  }
  print_message("  %u pairs with area\n", decided);
  assert_true(decided > ROUNDS * WIDTH);
}

/* Whole numbers of so many bits in one plane (o + s u + t w), or with one corner beside it; of another unit along each axis. */
static Case makeWide(Random *r, int bits, bool beside) {
  Case c;
  double size = ldexp(0.25, bits), unit[3], o[3], u[3], w[3];
  for (int j = 0; j < 3; ++j) {
    unit[j] = ldexp(1, randomBelow(r, 41) - 20);
    o[j] = floor(randomBetween(r, -size, size));
    u[j] = floor(randomBetween(r, -size, size));
    w[j] = floor(randomBetween(r, -size, size));
  }
  for (int i = 0; i < 6; ++i) {
    float *p = cornerOf(&c, i);
    int s = randomBelow(r, 3) - 1, t = randomBelow(r, 3) - 1;
    for (int j = 0; j < 3; ++j) p[j] = (float)((o[j] + s * u[j] + t * w[j]) * unit[j]);
  }
  int axis = randomBelow(r, 3);
  if (beside) c.b.v[2][axis] += (float)unit[axis];
  return c;
}

/* Of numbers with few bits all is decided, of those with many nothing, and in between what is said is right. */
static void bitsAreCounted(void **state) {
  (void)state;
  Random r = {13};
  for (int bits = 4; bits <= 23; ++bits) {
    uint32_t decided = 0, area = 0;
    for (int round = 0; round < 32; ++round) {
      Batch b = {.meet = 0};
      for (uint32_t i = 0; i < WIDTH; ++i) {
        Case c = makeWide(&r, bits, round % 4 == 3);
        setCase(&b, i, &c);
        area += haveArea(&c);
      }
      decided += (uint32_t)__builtin_popcount(askAll(&b, 0xffff, true));
    }
    print_message("  %2d bits: %3u with area, %3u decided\n", bits, area, decided);
    assert_true(bits <= 15 ? decided == area : decided <= area);
    if (bits >= 20) assert_true(decided < area / 4);
  }
}

/* Six floats of all their bits in one plane at right angles to an axis, at any distance from 0; few of these are of few bits otherwise. */
static void planesOfAnAxisAreDecided(void **state) {
  (void)state;
  Random r = {17};
  uint32_t decided = 0, pairs = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    Batch b = {.meet = 0};
    for (uint32_t i = 0; i < WIDTH; ++i) {
      Case c;
      int axis = randomBelow(&r, 3);
      float at = (float)randomBetween(&r, -10, 10), from = (float)randomBelow(&r, 100);
      for (int k = 0; k < 6; ++k) {
        float *p = cornerOf(&c, k);
        for (int j = 0; j < 3; ++j) p[j] = j == axis ? at : from + 1 + (float)randomBetween(&r, 0, 1);
      }
      setCase(&b, i, &c);
      pairs += haveArea(&c);
    }
    decided += (uint32_t)__builtin_popcount(askAll(&b, 0xffff, true));
  }
  print_message("  %u pairs, %u decided\n", pairs, decided);
  assert_int_equal(decided, pairs);
}

/* In such a plane, too, but about 0 and with zeros that are not quite: numbers of a few magnitudes, of which doubles lose what is below, so that
 * corners lie on edges or just beside them. Of these the bound decides what it can. */
static Case makeLevel(Random *r) {
  Case c;
  int axis = randomBelow(r, 3), least = 20 + randomBelow(r, 60);
  float at = (float)randomBetween(r, -1, 1), scale = ldexpf(1, randomBelow(r, 81) - 40);
  for (int k = 0; k < 6; ++k) {
    float *p = cornerOf(&c, k);
    for (int j = 0; j < 3; ++j) {
      float whole = (float)(randomBelow(r, 5) - 2);
      float hair = ldexpf((float)(randomBelow(r, 3) - 1), -least - randomBelow(r, 3));
      p[j] = (j == axis ? at : whole != 0 ? whole : hair) * scale;
    }
  }
  return c;
}

/* Corners on one line through 0, which few floats are so exactly, and b2 near 0, so that doubles round what is between it and the others. In one
 * case of four all of a is on the line, and has no area. */
static Case makeOnLine(Random *r) {
  Case c;
  int axis = randomBelow(r, 3), shift = 20 + randomBelow(r, 25);
  double u[2], side[2];
  for (int j = 0; j < 2; ++j) {
    u[j] = (randomBelow(r, 1 << 20) + 1) * ldexp(1, -20);
    side[j] = randomBetween(r, -1, 1);
  }
  for (int k = 0; k < 6; ++k) {
    float *p = cornerOf(&c, k);
    double along = randomBelow(r, 15) - 7;
    bool isOn = k < 2 || k == 3 || (k == 2 && randomBelow(r, 4) == 0);
    for (int j = 0; j < 3; ++j) {
      int d = (j + 2 - axis) % 3; /* 0 and 1 in the plane, 2 along the axis */
      double x = d == 2 ? 3 : along * u[d] + (isOn ? 0 : k == 2 ? side[d] : -side[d] * randomBetween(r, 0.5, 1.5));
      p[j] = (float)(k == 5 && d != 2 ? ldexp(randomBetween(r, -1, 1), -shift) : x);
    }
  }
  return c;
}

static void levelsAreDecided(void **state) {
  (void)state;
  Random r = {19};
  uint32_t decided = 0, pairs = 0;
  for (int round = 0; round < 16 * ROUNDS; ++round) {
    Batch b = {.meet = 0};
    for (uint32_t i = 0; i < WIDTH; ++i) {
      Case c = round % 2 ? makeOnLine(&r) : makeLevel(&r);
      setCase(&b, i, &c);
      pairs += haveArea(&c);
    }
    decided += (uint32_t)__builtin_popcount(askAll(&b, 0xffff, true));
  }
  print_message("  %u pairs, %u decided\n", pairs, decided);
  assert_true(decided < pairs && decided > pairs / 4);
  /* floats of all their bits on both sides of 0, of several magnitudes */
  decided = pairs = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    Batch b = {.meet = 0};
    for (uint32_t i = 0; i < WIDTH; ++i) {
      Case c = makeLevel(&r);
      int axis = randomBelow(&r, 3);
      for (int k = 0; k < 18; ++k)
        cornerOf(&c, k / 3)[k % 3] =
            k % 3 == axis ? 1 : (float)(randomBetween(&r, -1, 1) * ldexp(1, -randomBelow(&r, 20)));
      setCase(&b, i, &c);
      pairs += haveArea(&c);
    }
    decided += (uint32_t)__builtin_popcount(askAll(&b, 0xffff, true));
  }
  print_message("  of many magnitudes %u pairs, %u decided\n", pairs, decided);
  assert_true(decided > pairs - pairs / 100);
}

/* ---------------------------------------------------------------- the error bound */

/* The kernel once more, with numbers that carry what doubles would be without rounding. */
#define REAL double
#define BITS uint64_t
#include "rounding.h"
#define NARROW_BOUND 2.8e-14
#define NARROW_LEAST 1e-60
#define NARROW_MOST 1e60
#include "collide/narrow_kernel.h"

/* Answers must be those of the library: the constants above are this file's own. */
static void boundHolds(void **state) {
  (void)state;
  Random r = {7};
  double largest = 0;
  uint32_t checked = 0;
  for (int kind = 0; kind < CASE_KIND_COUNT; ++kind) {
    for (int round = 0; round < ROUNDS / 2; ++round) {
      Batch b;
      fill(&b, (CaseKind)kind, &r);
      uint32_t decided, hits = pn_narrowTwice2(b.columns, WIDTH, 0xffff, &decided);
      for (uint32_t i = 0; i < WIDTH; ++i) {
        Carried p[6][3];
        double m = 0;
        for (int k = 0; k < 18; ++k) {
          double v = (double)b.columns[k * WIDTH + i];
          p[k / 3][k % 3] = (Carried){v, v};
        }
        for (int k = 0; k < 15; ++k) m = fmax(m, fabs(p[k / 3][k % 3].r - p[5][k % 3].r));
        uint32_t hit, unsure;
        s_worst = 0;
        meetCarried(p, &hit, &unsure);
        /* it is the same kernel, with the same bound */
        assert_int_equal(hit, hits >> i & 1);
        assert_int_equal(unsure, ~decided >> i & 1);
        if (m == 0) continue;
        double share = (double)(s_worst / (2.8e-14 * m * m * m));
        largest = fmax(largest, share);
        ++checked;
        if (!(share <= 1)) {
          printCase(&b.cases[i]);
          fail_msg("an error of %g times the bound", share);
        }
      }
    }
  }
  print_message("  %u pairs, the largest error is %.3f of the bound\n", checked, largest);
  assert_true(checked > CASE_KIND_COUNT * ROUNDS * WIDTH / 4 && largest > 0.001);
}

/* ---------------------------------------------------------------- the account */

enum { SLOTS = 1024 };
#include "slots.h"

/* Long and thin: a needle of length one and this width, anywhere. */
static pnTriangle needle(Random *r, double width) {
  double at[3], along[3], across[3], length = 0;
  for (int k = 0; k < 3; ++k) {
    at[k] = randomBetween(r, -0.2, 0.2);
    along[k] = randomBetween(r, -1, 1);
    across[k] = randomBetween(r, -1, 1);
    length += along[k] * along[k];
  }
  pnTriangle t;
  for (int k = 0; k < 3; ++k) {
    t.v[0][k] = (float)(at[k] - along[k] / sqrt(length));
    t.v[1][k] = (float)(at[k] + along[k] / sqrt(length));
    t.v[2][k] = (float)(at[k] + along[k] / sqrt(length) + width * across[k]);
  }
  return t;
}

static pnDoubts doubtsOf(CaseKind kind, Random *r) {
  static pnPair list[SLOTS + PN_NARROW_PAD];
  for (uint32_t i = 0; i < SLOTS; ++i) {
    Case c = makeCase(kind, r);
    if (kind == CASE_SLIVER) c.a = needle(r, 1e-4), c.b = needle(r, 1e-4);
    soupSet(&s_a, i, &c.a);
    soupSet(&s_b, i, &c.b);
    list[i] = (pnPair){i, i};
  }
  pnDoubts doubts = {0};
  pn_narrow(&s_a.tree, &s_b.tree, list, SLOTS, PN_KERNEL_DEFAULT, &doubts);
  return doubts;
}

/* Where a look decides nothing it is soon given up, and where it decides much it has credit. */
static void accountIsKept(void **state) {
  (void)state;
  Random r = {9};
  pnDoubts flat = doubtsOf(CASE_SKEW_PLANE, &r), needles = doubtsOf(CASE_SLIVER, &r);
  print_message("  in one plane %u doubts, %d and %d wasted; needles %u, %d and %d\n", (unsigned)flat.count,
                (int)flat.wasted[0], (int)flat.wasted[1], (unsigned)needles.count, (int)needles.wasted[0],
                (int)needles.wasted[1]);
  assert_true(flat.rested[0] > 4);
  assert_true(flat.count > SLOTS / 4 && flat.wasted[0] == 4 && flat.wasted[1] < -8 && flat.wasted[1] >= -16);
  assert_true(needles.count > SLOTS / 16 && needles.wasted[0] < -8 && needles.wasted[0] >= -16);
}

/* What comes first may be unlike the rest: after hundreds of which a look decides nothing, it comes to those that it decides. */
static void looksAreTakenUpAgain(void **state) {
  (void)state;
  static pnPair list[SLOTS + PN_NARROW_PAD];
  Random r = {23};
  pnDoubts doubts = {0};
  for (int again = 0; again < 2; ++again) {
    for (uint32_t i = 0; i < SLOTS; ++i) {
      Case c = makeCase(again ? CASE_LATTICE_PLANE : CASE_TURNED_GRID, &r);
      soupSet(&s_a, i, &c.a);
      soupSet(&s_b, i, &c.b);
      list[i] = (pnPair){i, i};
    }
    pn_narrow(&s_a.tree, &s_b.tree, list, SLOTS, PN_KERNEL_DEFAULT, &doubts);
    print_message("  %d wasted, %u left out\n", (int)doubts.wasted[1], doubts.rested[1]);
    assert_true(again ? doubts.wasted[1] < -8 : doubts.wasted[1] == PN_MOST_WASTED && doubts.rested[1] > 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(decidedIsTrue),    cmocka_unit_test(latticesAreDecided),
      cmocka_unit_test(bitsAreCounted),   cmocka_unit_test(planesOfAnAxisAreDecided),
      cmocka_unit_test(boundHolds),       cmocka_unit_test(accountIsKept),
      cmocka_unit_test(levelsAreDecided), cmocka_unit_test(looksAreTakenUpAgain),
  };
  return cmocka_run_group_tests(tests, openAll, closeAll);
}
