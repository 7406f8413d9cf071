/* test_geom_impact_bounds.c: the bounds of the filter of moving points are needed. The filter is compiled here a second time with
 * bounds that can be turned down. As it stands it never contradicts whole numbers, on motions made to be as close as
 * rounding can bring them to the edge of every decision; with any one bound turned down it does. */
#include "support.h"

static double apartScale = 1, volumeScale = 1, insideScale = 1;
#define PN_APART_BOUND (apartScale * 16.0 * PN_ROUND)
#define PN_VOLUME_BOUND (volumeScale * 384.0 * PN_ROUND)
#define PN_INSIDE_SCALE insideScale
#define pn_impactFilter filterUnderTest
#define pn_impactFilterOpen filterOpenUnderTest
#include "geom/impact_filter.c"
#undef pn_impactFilter
#undef pn_impactFilterOpen

#include "oracle_motions.h"

/* ---------------------------------------------------------------- the judge */

typedef struct Score {
  int asked, uncertain, wrong;
} Score;

static Score judge(uint64_t seed, int count) {
  Random r = {seed};
  Score score = {0};
  for (int n = 0; n < count; ++n) {
    pnMovingDouble p = motionOnTheEdge(&r);
    pn_Features features = n & 1 ? PN_EDGE_EDGE : PN_VERTEX_FACE;
    pnImpactSpan span = {0}, exact = pn_impactExact(features, &p);
    MOTION_PLACES(p, x, places);
    pn_Verdict verdict = filterUnderTest(features, places, 1.0, &span);
    /* and up to a part of the step: nothing may meet for certain before it ends */
    double until = n % 3 ? 0.5 * exact.lo + 0.5 * exact.hi : randomBetween(&r, 0, 1);
    pnImpactSpan early;
    pn_Verdict soon = filterUnderTest(features, places, until, &early);
    score.wrong += soon == PN_APART && exact.meets && exact.hi < until;
    /* what lanes leave open is asked in another order: the same answer, if both are certain */
    pnImpactSpan open = {0};
    pn_Verdict other = filterOpenUnderTest(features, places, 1.0, &open);
    score.wrong += (other == PN_APART && exact.meets) || (other == PN_MEETING && !exact.meets) ||
                   (other == PN_MEETING && verdict == PN_MEETING && (open.lo != span.lo || open.hi != span.hi));
    ++score.asked;
    score.uncertain += verdict == PN_UNCERTAIN;
    bool late = verdict == PN_MEETING && (span.lo > exact.hi || span.hi < exact.lo);
    score.wrong += late || (verdict == PN_APART && exact.meets) || (verdict == PN_MEETING && !exact.meets);
  }
  return score;
}

static void testBoundsHold(void **state) {
  (void)state;
  Score score = judge(31, 60000);
  printf("%d asked, %d uncertain, %d wrong\n", score.asked, score.uncertain, score.wrong);
  assert_int_equal(score.wrong, 0);
  assert_true(score.uncertain > 500); /* the motions are as close as they should be */
}

/* Each of them turned down, by itself. */
static void expectWrong(double *scale, const char *name) {
  *scale = 0;
  Score score = judge(32, 60000);
  *scale = 1;
  printf("without the bound of %s: %d wrong of %d\n", name, score.wrong, score.asked);
  assert_true(score.wrong > 0);
}

static void testBoundsAreNeeded(void **state) {
  (void)state;
  expectWrong(&apartScale, "directions");
  expectWrong(&volumeScale, "the cubic");
  expectWrong(&insideScale, "the inside");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testBoundsHold),
      cmocka_unit_test(testBoundsAreNeeded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
