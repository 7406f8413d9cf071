/* test_volume_depth.c: how far must one body move to be free of the other? Known depths; and then move it. */
#include "support_volume.h"

#include <math.h>

static pnDepthResult findDepth(const TestBody *a, const TestBody *b, uint32_t resolution) {
  pnOverlap *overlap = testOverlap(a, b, resolution);
  pnDepthResult result, again;
  testExpectOk(pnOverlap_FindDepth(overlap, &result));
  testExpectOk(pnOverlap_FindDepth(overlap, &again));
  assert_true(again.depth == result.depth && again.error == result.error);
  pnDestroyOverlap(overlap);
  assert_true(result.depthMin <= result.depth && result.depth <= result.depthMax);
  return result;
}

static void expectDepth(const pnDepthResult *result, double depth, double x, double y, double z) {
  if (!(result->depthMin - 1e-6 <= depth && depth <= result->depthMax + 1e-6))
    fail_msg("depth %.6f not in %.6f ... %.6f", depth, result->depthMin, result->depthMax);
  double along = result->direction[0] * x + result->direction[1] * y + result->direction[2] * z;
  if (along < 0.999)
    fail_msg("direction %.4f %.4f %.4f", result->direction[0], result->direction[1], result->direction[2]);
}

static void knownDepths(void **state) {
  (void)state;
  // boxes, out along each of the six directions
  TestBody a = testBox(1, 1, 1, 2), b = testBox(2, 2, 2, 3);
  for (int k = 0; k < 3; ++k)
    for (int sign = -1; sign <= 1; sign += 2) {
      float at[3] = {0.1f, -0.2f, 0.15f};
      at[k] = 2.6f * (float)sign;
      testPlace(&a, at[0], at[1], at[2]);
      pnDepthResult result = findDepth(&a, &b, 64);
      expectDepth(&result, 0.4, k == 0 ? sign : 0, k == 1 ? sign : 0, k == 2 ? sign : 0);
      assert_true(fabs(result.depth - 0.4) < 1e-4);
    }
  // wholly inside: out through the nearest side
  testPlace(&a, 0.3f, 0.6f, -0.2f);
  pnDepthResult result = findDepth(&a, &b, 64);
  expectDepth(&result, 3 - 0.6, 0, 1, 0);
  testFreeBody(&a), testFreeBody(&b);

  // two balls: along the line of their centres, whatever its direction
  TestBody p = testSphere(5, 1), q = testSphere(5, 1);
  double d = sqrt(0.8 * 0.8 + 0.7 * 0.7 + 0.5 * 0.5);
  testPlace(&p, 0.8f, 0.7f, -0.5f);
  for (uint32_t resolution = 32; resolution <= 256; resolution *= 2) {
    result = findDepth(&p, &q, resolution);
    print_message("  two balls %3u: depth %.5f, truth %.5f, bound %.4f\n", resolution, result.depth, 2 - d,
                  result.error);
    assert_true(fabs(result.depth - (2 - d)) < 0.2 / resolution + 0.004);
    // the balls are polyhedra, a little inside the round ones: 5e-4 each
    if (resolution >= 128)
      expectDepth(&result, fmin(2 - d, fmax(result.depth, 2 - d - 1e-3)), 0.8 / d, 0.7 / d, -0.5 / d);
  }
  assert_true(result.error < 0.05);
  testFreeBody(&p), testFreeBody(&q);
}

static void apart(void **state) {
  (void)state;
  TestBody a = testSphere(3, 1), b = testSphere(3, 1);
  testPlace(&a, 5, 0, 0);
  pnDepthResult result = findDepth(&a, &b, 64);
  assert_true(result.depth == 0 && result.depthMax == 0 && result.direction[0] == 0);
  // boxes overlap, balls do not
  testPlace(&a, 1.5f, 1.5f, 0.3f);
  result = findDepth(&a, &b, 64);
  assert_true(result.depth == 0 && result.direction[0] == 0 && result.direction[1] == 0);
  testFreeBody(&a), testFreeBody(&b);
}

/* A peg in a groove: the way out is the way it came in, though the nearest wall is closer. */
static void pegInGroove(void **state) {
  (void)state;
  // a U of three boxes in one mesh (touching faces are closed surfaces of their own), open towards +x
  TestBody left = testBox(1, 0.2f, 1, 1), groove = testTwice(&left, 0, 0.8f, 0, false),
           peg = testBox(1, 0.15f, 0.5f, 1);
  testPlace(&peg, 0.7f, 0.4f, 0);
  // not in the groove's walls: free
  pnDepthResult result = findDepth(&peg, &groove, 96);
  assert_true(result.depth == 0);
  // pushed into a wall by 0.1, it has 0.1 of room on the other side
  testPlace(&peg, 0.7f, 0.25f, 0);
  result = findDepth(&peg, &groove, 96);
  expectDepth(&result, 0.1, 0, 1, 0);
  // a peg too thick for the groove, pushed into both walls: sliding out is the shortest way
  TestBody thick = testBox(1, 0.28f, 0.5f, 1);
  testPlace(&thick, 1.85f, 0.4f, 0);
  result = findDepth(&thick, &groove, 96);
  expectDepth(&result, 0.15, 1, 0, 0);
  // far in, leaving upward past one wall is shortest: a comb of shifts with a gap too small to rest in
  testPlace(&thick, 0.5f, 0.4f, 0);
  result = findDepth(&thick, &groove, 96);
  expectDepth(&result, 0.88, 0, result.direction[1] > 0 ? 1 : -1, 0);
  testFreeBody(&left), testFreeBody(&groove), testFreeBody(&peg), testFreeBody(&thick);
}

/* The test of the claim: moved by depthMax the bodies share nothing, moved by less than depthMin they share
 * something. */
static void movingFrees(void **state) {
  (void)state;
  TestRandom random = testRandom(21);
  TestBody a = testStar(3, 0.8f, 0.4f), b = testTorus(0.9f, 0.4f, 32, 16), ball = testSphere(3, 0.8f);
  uint32_t tried = 0;
  for (int n = 0; n < 12; ++n) {
    TestBody *second = n % 2 ? &b : &ball;
    pnMatrix at = testRotation(&random, 0.8f), turn = testRotation(&random, 0.3f);
    testExpectOk(pnPose_SetTransform(a.pose, &at));
    testExpectOk(pnPose_SetTransform(second->pose, &turn));
    pnOverlap *overlap = testOverlap(&a, second, 96);
    pnDepthResult depth;
    pnOverlapResult result;
    testExpectOk(pnOverlap_FindDepth(overlap, &depth));
    if (depth.depth > 0) {
      ++tried;
      pnMatrix moved = at;
      for (int k = 0; k < 3; ++k) moved.m[k][3] = (float)(at.m[k][3] + depth.direction[k] * depth.depthMax);
      testExpectOk(pnPose_SetTransform(a.pose, &moved));
      testExpectOk(pnOverlap_Measure(overlap, &result));
      assert_true(result.volumeMin == 0 && result.volume < 1e-6);
      for (int k = 0; k < 3; ++k) moved.m[k][3] = (float)(at.m[k][3] + depth.direction[k] * 0.9 * depth.depthMin);
      testExpectOk(pnPose_SetTransform(a.pose, &moved));
      testExpectOk(pnOverlap_Measure(overlap, &result));
      assert_true(result.volumeMax > 0);
      assert_true(depth.error < 0.25 * depth.depth + 0.1);
    }
    pnDestroyOverlap(overlap);
  }
  assert_true(tried >= 6);
  testFreeBody(&a), testFreeBody(&b), testFreeBody(&ball);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(knownDepths),
      cmocka_unit_test(apart),
      cmocka_unit_test(pegInGroove),
      cmocka_unit_test(movingFrees),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
