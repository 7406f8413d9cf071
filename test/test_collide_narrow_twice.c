/* test_collide_narrow_twice.c: the second look of the narrow phase, in doubles (narrow_twice.h). What it decides is right over all magnitudes
 * that a float has, its widths agree, its error bound holds, and it is not taken for long where it decides nothing. */
#include "support.h"

#include "collide/narrow.h"
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

static void fill(Batch *b, CaseKind kind, Random *r) {
  b->meet = 0;
  for (uint32_t i = 0; i < WIDTH; ++i) {
    b->cases[i] = makeCase(kind, r);
    for (uint32_t k = 0; k < 9; ++k) {
      b->columns[k * WIDTH + i] = b->cases[i].a.v[k / 3][k % 3];
      b->columns[(9 + k) * WIDTH + i] = b->cases[i].b.v[k / 3][k % 3];
    }
    oracleIntersect(&b->cases[i].a, &b->cases[i].b);
    b->meet |= (uint32_t)oracleMeet() << i;
  }
}

/* Those that this machine can run. */
static size_t listLooks(pnNarrowTwiceFcn **out) {
  size_t count = 0;
  out[count++] = pn_narrowTwice2;
#if defined(__x86_64__) && !defined(PN_SCALAR)
  if (__builtin_cpu_supports("avx2")) out[count++] = pn_narrowTwice4Avx2;
#if defined(PN_AVX512)
  if (pn_hasAvx512()) out[count++] = pn_narrowTwice8Avx512;
#endif
#endif
  return count;
}

static void decidedIsTrue(void **state) {
  (void)state;
  enum { ROUNDS = 128 };
  Random r = {5};
  pnNarrowTwiceFcn *looks[3];
  size_t lookCount = listLooks(looks);
  for (int kind = 0; kind < CASE_KIND_COUNT; ++kind) {
    uint32_t decidedCount = 0;
    for (int round = 0; round < ROUNDS; ++round) {
      Batch b;
      fill(&b, (CaseKind)kind, &r);
      uint32_t wanted = round % 2 ? 0xffff : (uint32_t)randomBelow(&r, 1 << 16), first[2] = {0};
      for (size_t k = 0; k < lookCount; ++k) {
        uint32_t decided, hits = looks[k](b.columns, WIDTH, wanted, &decided);
        assert_int_equal(decided & ~wanted, 0);
        assert_int_equal(hits & ~decided, 0);
        uint32_t wrong = (hits ^ b.meet) & decided;
        if (wrong) {
          printCase(&b.cases[__builtin_ctz(wrong)]);
          fail_msg("width %u: is decided, and is wrong", 1u << (k + 1));
        }
        if (k == 0) first[0] = decided, first[1] = hits;
        assert_int_equal(decided, first[0]);
        assert_int_equal(hits, first[1]);
      }
      if (round % 2) decidedCount += (uint32_t)__builtin_popcount(first[0]);
    }
    uint32_t pairs = ROUNDS / 2 * WIDTH;
    print_message("  %-16s %5u pairs, %4u decided\n", caseName((CaseKind)kind), pairs, decidedCount);
    /* one that never decides would pass: in general position it always does, and of all magnitudes */
    if (kind == CASE_RANDOM || kind == CASE_NEAR_PLANE) assert_true(decidedCount == pairs);
    if (kind == CASE_HUGE) assert_true(decidedCount > pairs / 2);
  }
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
  enum { ROUNDS = 64 };
  Random r = {7};
  double largest = 0;
  uint32_t checked = 0;
  for (int kind = 0; kind < CASE_KIND_COUNT; ++kind) {
    for (int round = 0; round < ROUNDS; ++round) {
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
  assert_true(checked > CASE_KIND_COUNT * ROUNDS * WIDTH / 2 && largest > 0.001);
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

/* Where it decides nothing it is soon given up, and where it decides much it has credit. */
static void accountIsKept(void **state) {
  (void)state;
  Random r = {9};
  pnDoubts flat = doubtsOf(CASE_SKEW_PLANE, &r), needles = doubtsOf(CASE_SLIVER, &r);
  print_message("  in one plane %u doubts, %d wasted; needles %u, %d\n", (unsigned)flat.count, (int)flat.wasted,
                (unsigned)needles.count, (int)needles.wasted);
  assert_true(flat.count > SLOTS / 4 && flat.wasted == 4);
  assert_true(needles.count > SLOTS / 16 && needles.wasted < -8 && needles.wasted >= -16);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(decidedIsTrue), cmocka_unit_test(boundHolds),
                                     cmocka_unit_test(accountIsKept)};
  return cmocka_run_group_tests(tests, openAll, closeAll);
}
