/* test_geom_impact_lanes.c: what lanes of floats say about moving features, held against whole numbers. The lanes are compiled here a second
 * time with bounds that can be turned down: as they stand they never contradict, on motions that are within a few roundings of floats of a
 * touch; with either bound turned down they do. */
#include "support.h"

static float boundScale = 1, tinyScale = 1;
#define PN_LANES_BOUND (boundScale * 26.0f * 0x1p-24f)
#define PN_LANES_TINY (tinyScale * 0x1p-120f)
#define pn_impactsApart8 apart8UnderTest
#define pn_impactsApart8By4 apart8By4UnderTest
#define pn_impactsApart8Avx2 apart8UnderTestHasNoAvx2
#define pn_hasImpactLanes8 hasImpactLanes8UnderTest
#include "geom/impact_lanes.c"
#undef pn_impactsApart8
#undef pn_impactsApart8By4
#undef pn_impactsApart8Avx2
#undef pn_hasImpactLanes8
/* of the library */
uint32_t pn_impactsApart8(pn_Features features, pn_EightPlaces places, double until);
uint32_t pn_impactsApart8By4(pn_Features features, pn_EightPlaces places, float until);
uint32_t pn_impactsApart8Avx2(pn_Features features, pn_EightPlaces places, float until);
bool pn_hasImpactLanes8(void);

uint32_t apart8UnderTestHasNoAvx2(pn_Features features, pn_EightPlaces places, float until) {
  return apart8By4UnderTest(features, places, until);
}

#include "oracle_motions.h"

typedef struct Eight {
  pnMovingDouble p[8];
  pnD2 x[8][4][3];
  const pnD2 *places[8][4];
} Eight;

/* Touching but for the last bits of floats, or anything; times a power of two. */
static void makeEight(Eight *e, Random *r, int exponent) {
  for (int n = 0; n < 8; ++n) {
    pnMovingDouble *p = &e->p[n];
    *p = randomBelow(r, 4) ? motionOnTheEdge(r) : randomMotion(r, randomBelow(r, MOTION_SORTS));
    for (int i = 0; i < 12; ++i) {
      double *from = &p->from[i / 3][i % 3], *to = &p->to[i / 3][i % 3];
      if (n < 6) *from = (double)(float)*from, *to = (double)(float)*to;
      *from = ldexp(*from, exponent), *to = ldexp(*to, exponent);
      e->x[n][i / 3][i % 3] = (pnD2){*from, *to};
    }
    for (int k = 0; k < 4; ++k) e->places[n][k] = e->x[n][k];
  }
}

typedef struct Score {
  int asked, apart, wrong;
} Score;

typedef uint32_t LanesFcn(pn_Features features, pn_EightPlaces places, double until);

static Score judge(LanesFcn *ask, uint64_t seed, int count, int exponent) {
  Random r = {seed};
  Score score = {0};
  static Eight e;
  for (int n = 0; n < count; ++n) {
    makeEight(&e, &r, exponent);
    pn_Features features = n & 1 ? PN_EDGE_EDGE : PN_VERTEX_FACE;
    double until = n % 3 ? 1.0 : ldexp(randomBetween(&r, 0.5, 1), -randomBelow(&r, 10));
    uint32_t apart = ask(features, (pn_EightPlaces)e.places, until);
    for (int k = 0; k < 8; ++k) {
      ++score.asked;
      if (!(apart >> k & 1)) continue;
      ++score.apart;
      pnImpactSpan exact = pn_impactExact(features, &e.p[k]);
      score.wrong += exact.meets && exact.hi <= until;
    }
  }
  return score;
}

/* Where projections underflow: the directions are quadratic and cubic in the coordinates. */
static int countUnderflows(LanesFcn *ask) {
  int wrong = 0;
  for (int exponent = -31; exponent >= -39; --exponent) wrong += judge(ask, 43, 3000, exponent).wrong;
  return wrong;
}

static void testBoundsHold(void **state) {
  (void)state;
  static const int exponents[] = {0, -20, -27, -33, -60, -100, -140, 20, 60, 120};
  for (int i = 0; i < 10; ++i) {
    Score score = judge(pn_impactsApart8, (uint64_t)(41 + i), 3000, exponents[i]);
    printf("times 2^%d: %d asked, %d apart, %d wrong\n", exponents[i], score.asked, score.apart, score.wrong);
    assert_int_equal(score.wrong, 0);
    if (exponents[i] == 0) assert_true(score.apart > score.asked / 5); /* it decides something */
  }
  assert_int_equal(countUnderflows(pn_impactsApart8), 0);
}

static void testBoundsAreNeeded(void **state) {
  (void)state;
  boundScale = 0;
  Score score = judge(apart8UnderTest, 42, 3000, 0);
  boundScale = 1;
  printf("without the bound: %d wrong of %d\n", score.wrong, score.asked);
  assert_true(score.wrong > 0);
  tinyScale = 0;
  int wrong = countUnderflows(apart8UnderTest);
  tinyScale = 1;
  printf("without what underflow takes: %d wrong\n", wrong);
  assert_true(wrong > 0);
}

/* Four at a time and eight at a time are the same bits. */
static void testWidthsAgree(void **state) {
  (void)state;
  if (!pn_hasImpactLanes8()) {
    printf("skipped: no AVX2 here\n");
    return;
  }
#if defined(__x86_64__) && !defined(PN_SCALAR)
  Random r = {44};
  static Eight e;
  for (int n = 0; n < 20000; ++n) {
    makeEight(&e, &r, n % 2 ? 0 : -randomBelow(&r, 60));
    pn_Features features = n & 1 ? PN_EDGE_EDGE : PN_VERTEX_FACE;
    float until = n % 3 ? 1.0f : 0.25f;
    assert_int_equal(pn_impactsApart8By4(features, (pn_EightPlaces)e.places, until),
                     pn_impactsApart8Avx2(features, (pn_EightPlaces)e.places, until));
    assert_int_equal(pn_impactsApart8(features, (pn_EightPlaces)e.places, until),
                     pn_impactsApart8By4(features, (pn_EightPlaces)e.places, until));
  }
#endif
}

/* Many at once: what one at a time says, whatever their number. */
static void testMany(void **state) {
  (void)state;
  enum { MOST = 35 };
  Random r = {45};
  pnMovingDouble p[MOST];
  pnImpactSpan spans[MOST + 1];
  for (size_t count = 0; count <= MOST; ++count) {
    for (size_t i = 0; i < count; ++i) {
      p[i] = randomMotion(&r, randomBelow(&r, MOTION_SORTS));
      for (int k = randomBelow(&r, 3); k > 0; --k) spoilMotion(&p[i], &r);
    }
    for (int edges = 0; edges < 2; ++edges) {
      spans[count] = (pnImpactSpan){true, 7, 8};
      (edges ? pnImpactsEdgeEdge : pnImpactsVertexFace)(p, count, spans);
      assert_true(spans[count].lo == 7 && spans[count].hi == 8);
      for (size_t i = 0; i < count; ++i) {
        pnImpactSpan one = edges ? pnImpactEdgeEdgeDouble(&p[i]) : pnImpactVertexFaceDouble(&p[i]);
        assert_true(spans[i].meets == one.meets && spans[i].lo == one.lo && spans[i].hi == one.hi);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testBoundsHold),
      cmocka_unit_test(testBoundsAreNeeded),
      cmocka_unit_test(testWidthsAgree),
      cmocka_unit_test(testMany),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
