/* test_volume_bounds.c: the stated bound contains the truth, every time: 10 000 random placements of convex bodies
 * against an oracle that clips polyhedra, and some hundred of bodies with dents and holes. */
#include "support_volume.h"

#include <math.h>

#define CONVEX_PLACEMENTS testRounds(10000)
#define DENTED_PLACEMENTS testRounds(240)

typedef struct Count {
  uint32_t shared, apart, inside, certain;
  double worst; /* error over bound */
  double meanError, meanBound;
} Count;

static void checkOne(pnOverlap *overlap, double truth, double size, Count *count) {
  pnOverlapResult result;
  testExpectOk(pnOverlap_Measure(overlap, &result));
  // the oracle itself is good to 1e-7 of the bodies' size: their quads are bent by float rounding
  double slack = 1e-7 * size;
  if (!(result.volumeMin - slack <= truth && truth <= result.volumeMax + slack))
    fail_msg("truth %.9g not in %.9g ... %.9g (resolution %u, axis %u)", truth, result.volumeMin, result.volumeMax,
             result.resolution, result.axis);
  assert_true(result.volumeMin <= result.volume && result.volume <= result.volumeMax);
  count->shared += truth > slack;
  count->apart += truth <= slack;
  count->inside += result.relation == PN_RELATION_A_IN_B || result.relation == PN_RELATION_B_IN_A;
  count->certain += result.certain;
  // a relation that is called certain is true
  if (result.certain && result.relation == PN_RELATION_APART) assert_true(truth <= slack);
  if (result.certain && result.relation != PN_RELATION_APART) assert_true(truth > 0);
  if (result.error > 0) count->worst = fmax(count->worst, fabs(result.volume - truth) / (result.error + slack));
  count->meanError += fabs(result.volume - truth) / size;
  count->meanBound += result.error / size;
}

static void placeRandomly(TestBody *body, TestRandom *random, float reach) {
  pnMatrix matrix = testRotation(random, reach);
  // now and then in line with the axes, where edges meet cell centres and borders
  if (testBelow(random, 8) == 0) {
    matrix = testMatrixAt(0.25f * (float)(int)testBelow(random, 7) - 0.75f,
                          0.25f * (float)(int)testBelow(random, 7) - 0.75f, testFloat(random, -1, 1));
  }
  testExpectOk(pnPose_SetTransform(body->pose, &matrix));
}

static void convexBodies(void **state) {
  (void)state;
  enum { KINDS = 4 };
  TestBody a[KINDS] = {testBox(0.5f, 0.75f, 0.25f, 1), testSphere(0, 0.8f), testSphere(1, 0.7f), testBox(1, 1, 1, 2)};
  TestBody b[KINDS] = {testBox(0.6f, 0.3f, 0.9f, 1), testSphere(0, 1), testBox(0.5f, 0.5f, 0.5f, 1),
                       testSphere(1, 0.3f)};
  static const uint32_t resolutions[3] = {16, 25, 48};
  pnOverlap *overlaps[KINDS][KINDS][3];
  for (int i = 0; i < KINDS; ++i)
    for (int j = 0; j < KINDS; ++j)
      for (int r = 0; r < 3; ++r) {
        pnOverlapDef def = pnDefaultOverlapDef();
        def.poseA = a[i].pose;
        def.poseB = b[j].pose;
        def.resolution = resolutions[r];
        def.steady = (i + j + r) % 3 == 0;
        testExpectOk(pnCreateOverlap(&def, &overlaps[i][j][r]));
      }

  TestRandom random = testRandom(77);
  Count count = {0};
  for (uint32_t n = 0; n < CONVEX_PLACEMENTS; ++n) {
    uint32_t i = testBelow(&random, KINDS), j = testBelow(&random, KINDS), r = testBelow(&random, 3);
    placeRandomly(&a[i], &random, 0.9f);
    placeRandomly(&b[j], &random, 0.9f);
    checkOne(overlaps[i][j][r], testSharedVolumeConvex(&a[i], &b[j]), testVolumeOf(&b[j]), &count);
  }
  print_message(
      "  %u placements: %u share, %u apart, %u inside, %u certain; error at most %.0f %% of the bound, "
      "mean %.4f %% of the body, mean bound %.2f %%\n",
      CONVEX_PLACEMENTS, count.shared, count.apart, count.inside, count.certain, 100 * count.worst,
      100 * count.meanError / CONVEX_PLACEMENTS, 100 * count.meanBound / CONVEX_PLACEMENTS);
  assert_true(count.shared > CONVEX_PLACEMENTS / 3 && count.apart > testRounds(500) && count.inside > testRounds(100));
  for (int i = 0; i < KINDS; ++i)
    for (int j = 0; j < KINDS; ++j)
      for (int r = 0; r < 3; ++r) pnDestroyOverlap(overlaps[i][j][r]);
  for (int i = 0; i < KINDS; ++i) testFreeBody(&a[i]), testFreeBody(&b[i]);
}

static void dentedBodies(void **state) {
  (void)state;
  TestBody a[3] = {testStar(1, 1, 0.5f), testTorus(0.7f, 0.3f, 9, 5), testHollow(1, 0.9f, 0.6f)};
  TestBody b[2] = {testStar(1, 0.8f, 0.4f), testTorus(0.6f, 0.35f, 8, 5)};
  TestRandom random = testRandom(78);
  Count count = {0};
  for (uint32_t n = 0; n < DENTED_PLACEMENTS; ++n) {
    uint32_t i = testBelow(&random, 3), j = testBelow(&random, 2);
    placeRandomly(&a[i], &random, 0.8f);
    placeRandomly(&b[j], &random, 0.8f);
    pnOverlapDef def = pnDefaultOverlapDef();
    def.poseA = a[i].pose;
    def.poseB = b[j].pose;
    def.resolution = 16 + testBelow(&random, 60);
    pnOverlap *overlap;
    testExpectOk(pnCreateOverlap(&def, &overlap));
    checkOne(overlap, testSharedVolume(&a[i], &b[j]), testVolumeOf(&b[j]), &count);
    pnDestroyOverlap(overlap);
  }
  print_message("  %u placements: error at most %.0f %% of the bound\n", DENTED_PLACEMENTS, 100 * count.worst);
  for (int i = 0; i < 3; ++i) testFreeBody(&a[i]);
  for (int i = 0; i < 2; ++i) testFreeBody(&b[i]);
}

/* A needle through a cell centre: the case where sampling is most wrong, a whole cell for almost nothing. */
static void needles(void **state) {
  (void)state;
  TestBody plate = testBox(1, 1, 0.2f, 1), needle = testBox(0.002f, 0.002f, 1, 1);
  double worst = 0;
  for (int n = 0; n < 64; ++n) {
    testPlace(&needle, (float)n / 64 - 0.5f, (float)(n * 13 % 64) / 64 - 0.5f, 0.1f);
    pnOverlapDef def = pnDefaultOverlapDef();
    def.poseA = plate.pose;
    def.poseB = needle.pose;
    def.resolution = 32;
    def.window = (pnBox){{-1, -1, -0.3f}, {1, 1, 0.3f}};
    pnOverlap *overlap;
    pnOverlapResult result;
    testExpectOk(pnCreateOverlap(&def, &overlap));
    testExpectOk(pnOverlap_Measure(overlap, &result));
    double truth = testSharedVolumeConvex(&needle, &plate);
    assert_true(result.volumeMin <= truth && truth <= result.volumeMax);
    worst = fmax(worst, fabs(result.volume - truth) / truth);
    pnDestroyOverlap(overlap);
  }
  assert_true(worst > 0.9); // sampling did miss or inflate it, and the bound said so
  testFreeBody(&plate), testFreeBody(&needle);
}

/* The centroid's bound, on boxes in line with the axes where the truth is plain. */
static void centroids(void **state) {
  (void)state;
  TestBody a = testBox(0.5f, 0.75f, 0.25f, 2), b = testBox(0.5f, 0.4f, 0.6f, 2);
  TestRandom random = testRandom(79);
  for (uint32_t n = 0; n < testRounds(500); ++n) {
    float at[3] = {testFloat(&random, -0.9f, 0.9f), testFloat(&random, -1, 1), testFloat(&random, -0.8f, 0.8f)};
    testPlace(&b, at[0], at[1], at[2]);
    pnOverlapDef def = pnDefaultOverlapDef();
    def.poseA = a.pose;
    def.poseB = b.pose;
    def.resolution = 20;
    def.steady = true;
    pnOverlap *overlap;
    pnOverlapResult result;
    testExpectOk(pnCreateOverlap(&def, &overlap));
    testExpectOk(pnOverlap_Measure(overlap, &result));
    pnDestroyOverlap(overlap);
    const double halfA[3] = {0.5, 0.75, 0.25}, halfB[3] = {0.5, 0.4f, 0.6f};
    const float *min = &result.box.min.x, *max = &result.box.max.x;
    for (int k = 0; k < 3; ++k) {
      double lo = fmax(-halfA[k], at[k] - halfB[k]), hi = fmin(halfA[k], at[k] + halfB[k]);
      assert_true(lo < hi);
      assert_true(fabs(result.centroid[k] - 0.5 * (lo + hi)) <= result.centroidError + 1e-6);
      assert_true(min[k] <= lo + 1e-6 && hi <= max[k] + 1e-6);
    }
  }
  testFreeBody(&a), testFreeBody(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(convexBodies),
      cmocka_unit_test(dentedBodies),
      cmocka_unit_test(needles),
      cmocka_unit_test(centroids),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
