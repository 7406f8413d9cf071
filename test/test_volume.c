/* test_volume.c: the shared volume of two bodies: known volumes, containment, windows, reuse, refusals, memory. */
#include "support_volume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- helpers */

static pnOverlapResult measure(const TestBody *a, const TestBody *b, uint32_t resolution) {
  pnOverlap *overlap = testOverlap(a, b, resolution);
  pnOverlapResult result;
  testExpectOk(pnOverlap_Measure(overlap, &result));
  pnDestroyOverlap(overlap);
  return result;
}

static void expectInside(double truth, const pnOverlapResult *result) {
  if (!(result->volumeMin <= truth && truth <= result->volumeMax))
    fail_msg("truth %.9g not in %.9g ... %.9g", truth, result->volumeMin, result->volumeMax);
  assert_true(result->volumeMin <= result->volume && result->volume <= result->volumeMax);
  assert_true(fabs(truth - result->volume) <= result->error * (1 + 1e-9));
}

/* Error at 32, 64 ... 512: the truth is in the bounds, below half a percent at 256, and both error and bound shrink. */
static void checkKnown(const char *name, const TestBody *a, const TestBody *b, double truth) {
  double first = 0, firstBound = 0;
  for (uint32_t resolution = 32; resolution <= 512; resolution *= 2) {
    pnOverlapResult result = measure(a, b, resolution);
    expectInside(truth, &result);
    double error = fabs(result.volume - truth) / truth, bound = result.error / truth;
    print_message("  %-24s %4u: volume %.7g, truth %.7g, off by %.2e, bound %.2e\n", name, resolution, result.volume,
                  truth, error, bound);
    if (resolution == 32) first = error, firstBound = bound;
    if (resolution >= 256) assert_true(error < 0.005);
    // at least linear: at 512 a sixteenth of the bound, and an error that a first-order rule from 32 on allows
    if (resolution == 512) assert_true(bound < firstBound / 12 && error <= fmax(first, firstBound / 4) / 8);
  }
}

/* ---------------------------------------------------------------- known volumes */

static void knownVolumes(void **state) {
  (void)state;
  // two boxes, one turned
  TestBody a = testBox(1, 0.7f, 0.5f, 3), b = testBox(0.6f, 0.8f, 0.9f, 2);
  testPlace(&b, 0.5f, 0.3f, 0.2f);
  checkKnown("two boxes", &a, &b, testSharedVolume(&a, &b));
  TestRandom random = testRandom(5);
  pnMatrix turn = testRotation(&random, 0.3f);
  testExpectOk(pnPose_SetTransform(b.pose, &turn));
  checkKnown("two boxes, one turned", &a, &b, testSharedVolume(&a, &b));

  // box in box
  TestBody c = testBox(3, 3, 3, 1);
  checkKnown("box in box", &b, &c, testVolumeOf(&b));
  checkKnown("box around box", &c, &b, testVolumeOf(&b));
  testFreeBody(&a), testFreeBody(&b), testFreeBody(&c);
}

static void knownSpheres(void **state) {
  (void)state;
  // two spheres that share a lens
  TestBody a = testSphere(3, 1), b = testSphere(3, 1);
  testPlace(&b, 0.6f, 0.5f, 0.3f);
  double truth = testSharedVolumeConvex(&a, &b);
  double d = sqrt(0.36 + 0.25 + 0.09), lens = acos(-1) * (4 + d) * (2 - d) * (2 - d) / 12;
  assert_true(fabs(truth - lens) < 0.03 * lens); // the oracle against the formula of round spheres
  checkKnown("two spheres", &a, &b, truth);

  // a sphere within the tube of a torus
  TestBody torus = testTorus(2, 0.6f, 96, 48), small = testSphere(4, 0.4f);
  testPlace(&small, 2.05f, 0, 0.05f);
  checkKnown("sphere in torus", &small, &torus, testVolumeOf(&small));

  // a ball in the hole of a hollow one touches nothing; a larger one shares all but the hole
  TestBody hollow = testHollow(4, 1, 0.5f), core = testSphere(3, 0.4f), large = testSphere(4, 1.5f);
  pnOverlapResult result = measure(&core, &hollow, 128);
  assert_int_equal(result.relation, PN_RELATION_APART);
  assert_true(result.certain && result.volume == 0);
  checkKnown("hollow ball in ball", &hollow, &large, testVolumeOf(&hollow));
  TestBody middle = testSphere(4, 0.75f);
  // (the hole is the large ball, three times smaller)
  checkKnown("ball over hollow ball", &middle, &hollow, testVolumeOf(&middle) - testVolumeOf(&large) / 27);
  testFreeBody(&a), testFreeBody(&b), testFreeBody(&torus), testFreeBody(&small);
  testFreeBody(&hollow), testFreeBody(&core), testFreeBody(&large), testFreeBody(&middle);
}

/* ---------------------------------------------------------------- containment */

static void containment(void **state) {
  (void)state;
  TestBody outer = testSphere(4, 2), inner = testStar(3, 1, 0.3f);
  pnOverlapResult result = measure(&inner, &outer, 64);
  assert_int_equal(result.relation, PN_RELATION_A_IN_B);
  assert_true(result.certain);
  result = measure(&outer, &inner, 64);
  assert_int_equal(result.relation, PN_RELATION_B_IN_A);
  assert_true(result.certain);

  // sticking out, apart with overlapping boxes, apart
  testPlace(&inner, 1.3f, 0, 0);
  result = measure(&inner, &outer, 64);
  assert_int_equal(result.relation, PN_RELATION_OVERLAP);
  assert_true(result.certain);
  testPlace(&inner, 2, 2, 2);
  result = measure(&inner, &outer, 64);
  assert_int_equal(result.relation, PN_RELATION_APART);
  assert_true(result.certain && result.volume == 0 && result.volumeMax == 0);
  testPlace(&inner, 9, 0, 0);
  result = measure(&inner, &outer, 64);
  assert_int_equal(result.relation, PN_RELATION_APART);
  assert_true(result.certain && result.volumeMax == 0 && result.error == 0 && result.box.min.x > result.box.max.x);

  // the same body twice: each is in the other
  testPlace(&inner, 0, 0, 0);
  TestBody same = testStar(3, 1, 0.3f);
  result = measure(&inner, &same, 64);
  assert_int_equal(result.relation, PN_RELATION_A_IN_B);
  assert_true(fabs(result.volume - testVolumeOf(&inner)) < result.error);
  testFreeBody(&outer), testFreeBody(&inner), testFreeBody(&same);
}

/* ---------------------------------------------------------------- centroid, box, spans, mesh */

static void centroidAndBox(void **state) {
  (void)state;
  TestBody a = testBox(1, 1, 1, 1), b = testBox(1, 1, 1, 1);
  testPlace(&b, 1.25f, -0.5f, 0.25f);
  pnOverlapResult result = measure(&a, &b, 64);
  double centroid[3] = {0.625, -0.25, 0.125}, lo[3] = {0.25, -1, -0.75}, hi[3] = {1, 0.5, 1};
  const float *min = &result.box.min.x, *max = &result.box.max.x;
  for (int k = 0; k < 3; ++k) {
    assert_true(fabs(result.centroid[k] - centroid[k]) <= result.centroidError);
    assert_true(fabs(result.centroid[k] - centroid[k]) < 1e-3);
    assert_true(min[k] <= lo[k] && max[k] >= hi[k]);
    assert_true(min[k] > lo[k] - 0.1 && max[k] < hi[k] + 0.1);
  }
  assert_true(result.centroidError < 0.5);
  testFreeBody(&a), testFreeBody(&b);
}

static void spansAndMesh(void **state) {
  (void)state;
  TestBody a = testStar(4, 1, 0.4f), b = testTorus(0.9f, 0.35f, 48, 24);
  TestRandom random = testRandom(3);
  pnMatrix turn = testRotation(&random, 0.2f);
  testExpectOk(pnPose_SetTransform(b.pose, &turn));
  pnOverlap *overlap = testOverlap(&a, &b, 48);
  pnOverlapResult result;
  assert_int_equal(pnOverlap_GetSpans(overlap, NULL, 0), 0); // nothing measured yet
  testExpectOk(pnOverlap_Measure(overlap, &result));
  assert_true(result.volume > 0.1);

  // every span has its ends inside both and on no other axis than the view's
  uint64_t count = pnOverlap_GetSpans(overlap, NULL, 0);
  assert_int_equal(count, result.spanCount);
  pnSpan *spans = malloc(count * sizeof *spans);
  assert_int_equal(pnOverlap_GetSpans(overlap, spans, count), count);
  double length = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const float *begin = &spans[i].begin.x, *end = &spans[i].end.x;
    for (uint32_t k = 0; k < 3; ++k) assert_true(k == result.axis ? begin[k] < end[k] : begin[k] == end[k]);
    length += (double)end[result.axis] - begin[result.axis];
    float middle[3];
    for (int k = 0; k < 3; ++k) middle[k] = 0.5f * (begin[k] + end[k]);
    if (i % 16) continue;
    assert_int_equal(testWinding(&a, middle), 1);
    assert_int_equal(testWinding(&b, middle), 1);
  }
  free(spans);

  // the mesh encloses the volume, faces outward, and lies in the box
  pnMesh *mesh;
  testExpectOk(pnOverlap_MakeMesh(overlap, &mesh));
  TestBody surface = testBody(mesh);
  assert_true(fabs(testVolumeOf(&surface) - result.volume) < 1e-5 * result.volume);
  testFreeBody(&surface);
  pnDestroyOverlap(overlap);
  testFreeBody(&a), testFreeBody(&b);
}

/* ---------------------------------------------------------------- reuse and windows */

static void reuse(void **state) {
  (void)state;
  TestBody a = testStar(4, 1, 0.3f), b = testBox(4, 4, 1, 4);
  testPlace(&a, 0, 0, 1.2f);
  pnOverlap *overlap = testOverlap(&a, &b, 64);
  pnOverlapResult first, result;
  testExpectOk(pnOverlap_Measure(overlap, &first));
  assert_false(first.reused[0] || first.reused[1]);
  testExpectOk(pnOverlap_Measure(overlap, &result));
  assert_true(result.reused[0] && result.reused[1]);
  assert_true(result.volume == first.volume && result.volumeMax == first.volumeMax);
  testPlace(&a, 0.01f, 0, 1.2f);
  testExpectOk(pnOverlap_Measure(overlap, &result));
  assert_false(result.reused[0]);
  pnDestroyOverlap(overlap);

  // a fixed window, and a steady one: the body at rest is not made again, and the truth is still in the bounds
  for (int steady = 0; steady < 2; ++steady) {
    pnOverlapDef def = pnDefaultOverlapDef();
    def.poseA = a.pose;
    def.poseB = b.pose;
    def.resolution = 64;
    def.steady = steady;
    if (!steady) def.window = (pnBox){{-2, -2, -1.5f}, {2, 2, 3}};
    testExpectOk(pnCreateOverlap(&def, &overlap));
    uint32_t reused = 0;
    for (int i = 0; i < 20; ++i) {
      testPlace(&a, 0.004f * (float)i, 0.002f * (float)i, 1.2f - 0.003f * (float)i);
      testExpectOk(pnOverlap_Measure(overlap, &result));
      assert_false(result.reused[0]);
      reused += result.reused[1];
      if (i % 5 == 0) {
        double truth = testSharedVolumeConvex(&a, &b);
        expectInside(truth, &result);
      }
    }
    print_message("  %s window: image of the body at rest used again in %u of 20 frames\n", steady ? "steady" : "fixed",
                  reused);
    assert_true(steady ? reused >= 12 : reused == 19);
    pnDestroyOverlap(overlap);
  }
  testFreeBody(&a), testFreeBody(&b);
}

/* A window measures only what is in it, also when it cuts both bodies in every direction. */
static void windowCuts(void **state) {
  (void)state;
  TestBody a = testSphere(4, 2), b = testSphere(4, 2.5f), box = testBox(0.5f, 0.4f, 0.3f, 1);
  testPlace(&box, 1.2f, 0.9f, 0.8f);
  double truth = testSharedVolumeConvex(&a, &box);
  pnOverlapDef def = pnDefaultOverlapDef();
  def.poseA = a.pose;
  def.poseB = b.pose;
  def.resolution = 96;
  def.window = (pnBox){{0.7f, 0.5f, 0.5f}, {1.7f, 1.3f, 1.1f}};
  pnOverlap *overlap;
  testExpectOk(pnCreateOverlap(&def, &overlap));
  pnOverlapResult result;
  testExpectOk(pnOverlap_Measure(overlap, &result));
  expectInside(truth, &result);
  pnDestroyOverlap(overlap);
  testFreeBody(&a), testFreeBody(&b), testFreeBody(&box);
}

/* ---------------------------------------------------------------- refusals */

static void openAndTwisted(void **state) {
  (void)state;
  TestBody good = testSphere(2, 1);
  pnMesh *grid;
  testExpectOk(pnMakeGrid(1, 1, 4, 4, &grid));
  TestBody sheet = testBody(grid);
  pnOverlapDef def = pnDefaultOverlapDef();
  def.poseA = good.pose;
  def.poseB = sheet.pose;
  pnOverlap *overlap;
  testExpectFailure(pnCreateOverlap(&def, &overlap), PN_ERROR_OPEN_MESH, "not closed|edge|vertex|triangle 0");
  assert_null(overlap);

  // one triangle turned over
  uint32_t count = pnMesh_GetTriangleCount(good.mesh), *triangles = malloc(12 * count);
  memcpy(triangles, pnMesh_GetTriangles(good.mesh), 12 * count);
  uint32_t swap = triangles[3 * 7];
  triangles[3 * 7] = triangles[3 * 7 + 1], triangles[3 * 7 + 1] = swap;
  pnMeshDef meshDef = pnDefaultMeshDef();
  meshDef.vertices = pnMesh_GetVertices(good.mesh);
  meshDef.vertexCount = pnMesh_GetVertexCount(good.mesh);
  meshDef.triangles = triangles;
  meshDef.triangleCount = count;
  meshDef.name = "twisted";
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&meshDef, &mesh));
  TestBody twisted = testBody(mesh);
  def.poseB = twisted.pose;
  testExpectFailure(pnCreateOverlap(&def, &overlap), PN_ERROR_ORIENTATION, "twisted|edge|vertex");

  // parity does not mind, and its bounds hold
  def.rule = PN_INSIDE_PARITY;
  testExpectOk(pnCreateOverlap(&def, &overlap));
  pnOverlapResult result;
  testExpectOk(pnOverlap_Measure(overlap, &result));
  expectInside(testVolumeOf(&good), &result);
  pnDestroyOverlap(overlap);

  // an open mesh by parity: an answer without bounds
  meshDef.triangleCount = count - 1;
  testExpectOk(pnCreateMesh(&meshDef, &mesh));
  TestBody open = testBody(mesh);
  def.poseB = open.pose;
  testExpectOk(pnCreateOverlap(&def, &overlap));
  testExpectOk(pnOverlap_Measure(overlap, &result));
  assert_true(isinf(result.error) && isinf(result.volumeMax) && !result.certain);
  assert_true(fabs(result.volume - testVolumeOf(&good)) < 0.1 * testVolumeOf(&good));
  pnDestroyOverlap(overlap);

  free(triangles);
  testFreeBody(&open), testFreeBody(&twisted), testFreeBody(&sheet), testFreeBody(&good);
}

static void badSettings(void **state) {
  (void)state;
  TestBody a = testSphere(1, 1), b = testSphere(1, 1);
  pnOverlapDef def = pnDefaultOverlapDef();
  def.poseA = a.pose;
  def.poseB = b.pose;
  pnOverlap *overlap;
  def.resolution = 15;
  testExpectFailure(pnCreateOverlap(&def, &overlap), PN_ERROR_ARGUMENT, "15|16|4096");
  def.resolution = 4097;
  testExpectFailure(pnCreateOverlap(&def, &overlap), PN_ERROR_ARGUMENT, "4097");
  def.resolution = 64;
  def.rule = (pnInsideRule)7;
  testExpectFailure(pnCreateOverlap(&def, &overlap), PN_ERROR_ARGUMENT, "7");
  def.rule = PN_INSIDE_WINDING;
  def.window.min.x = NAN;
  testExpectFailure(pnCreateOverlap(&def, &overlap), PN_ERROR_NUMBER, "window");
  testFreeBody(&a), testFreeBody(&b);
}

/* Empty meshes, flat ones, single points in space: nothing shared, no complaint. */
static void nothingThere(void **state) {
  (void)state;
  pnMeshDef meshDef = pnDefaultMeshDef();
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&meshDef, &mesh));
  TestBody empty = testBody(mesh), ball = testSphere(2, 1);
  // two triangles back to back are closed, and enclose nothing
  static const float corners[9] = {-1, -1, 0, 1, -1, 0, 0, 1, 0};
  static const uint32_t sides[6] = {0, 1, 2, 0, 2, 1};
  meshDef.vertices = corners;
  meshDef.vertexCount = 3;
  meshDef.triangles = sides;
  meshDef.triangleCount = 2;
  testExpectOk(pnCreateMesh(&meshDef, &mesh));
  TestBody flat = testBody(mesh);
  pnOverlapResult result = measure(&empty, &ball, 32);
  assert_true(result.volume == 0 && result.volumeMax == 0 && result.relation == PN_RELATION_APART);
  result = measure(&flat, &ball, 32);
  assert_true(result.volume == 0 && result.volumeMax == 0);
  result = measure(&ball, &flat, 32);
  assert_true(result.volume == 0 && result.volumeMax == 0);
  testFreeBody(&empty), testFreeBody(&ball), testFreeBody(&flat);
}

/* ---------------------------------------------------------------- sizes and places */

/* Tiny and huge bodies, far from the origin, windows a millionth of a body: the bounds hold. */
static void extremes(void **state) {
  (void)state;
  static const float sizes[][2] = {{1e-18f, 0}, {1e12f, 0}, {1, 1e5f}, {1e3f, 1e8f}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    float s = sizes[i][0], at = sizes[i][1];
    TestBody a = testSphere(3, s), b = testBox(s, s, s, 2);
    testPlace(&a, at, at, at);
    testPlace(&b, at + 1.2f * s, at + 0.9f * s, at - 0.4f * s);
    pnOverlapResult result = measure(&a, &b, 64);
    expectInside(testSharedVolumeConvex(&a, &b), &result);
    testFreeBody(&a), testFreeBody(&b);
  }
  // a corner of a large box dips into a large ball by very little; a pea on a planet
  TestBody big = testBox(1000, 1000, 1000, 1), pea = testSphere(3, 1e-4f);
  testPlace(&pea, 1000, 0.5f, 0.25f);
  pnOverlapResult result = measure(&big, &pea, 4096);
  expectInside(testSharedVolumeConvex(&pea, &big), &result);
  testPlace(&pea, 0, 0, 0);
  testPlace(&big, 1000.00005f, 1000.00005f, 1000.0f);
  result = measure(&big, &pea, 256);
  expectInside(testSharedVolumeConvex(&pea, &big), &result);
  assert_true(result.resolution >= 64);
  testFreeBody(&big), testFreeBody(&pea);
}

/* ---------------------------------------------------------------- threads and memory */

/* Results are the same bits on one worker and on several. */
static void sameOnThreads(void **state) {
  (void)state;
  TestBody a = testStar(5, 1, 0.4f), b = testTorus(0.8f, 0.4f, 100, 50);
  pnOverlapResult results[3];
  for (uint32_t i = 0; i < 3; ++i) {
    pnPool *pool;
    testExpectOk(pnCreatePool(i == 0 ? 1 : i == 1 ? 2 : 5, &pool));
    pnOverlapDef def = pnDefaultOverlapDef();
    def.poseA = a.pose;
    def.poseB = b.pose;
    def.resolution = 200;
    def.tasks = pnPool_GetTasks(pool);
    pnOverlap *overlap;
    testExpectOk(pnCreateOverlap(&def, &overlap));
    testExpectOk(pnOverlap_Measure(overlap, &results[i]));
    pnDestroyOverlap(overlap);
    pnDestroyPool(pool);
    // times may differ, nothing else
    results[i].prepareTime = results[i].layerTime = results[i].boundTime = results[i].measureTime = 0;
    assert_memory_equal(&results[i], &results[0], sizeof results[0]);
  }
  testFreeBody(&a), testFreeBody(&b);
}

static pnResult useEverything(void *context) {
  (void)context;
  pnMesh *meshes[2] = {0}, *surface = NULL;
  pnPose *poses[2] = {0};
  pnOverlap *overlap = NULL;
  pnResult result = pnMakeIcosphere(3, 1, &meshes[0]);
  if (result == PN_OK) result = pnMakeBox((pnVec3){1, 1, 1}, 3, &meshes[1]);
  for (int i = 0; i < 2 && result == PN_OK; ++i) {
    pnPoseDef def = pnDefaultPoseDef();
    def.mesh = meshes[i];
    result = pnCreatePose(&def, &poses[i]);
  }
  if (result == PN_OK) {
    pnMatrix at = testMatrixAt(1.5f, 0.3f, 0.2f);
    result = pnPose_SetTransform(poses[1], &at);
  }
  if (result == PN_OK) {
    pnOverlapDef def = pnDefaultOverlapDef();
    def.poseA = poses[0];
    def.poseB = poses[1];
    def.resolution = 32;
    result = pnCreateOverlap(&def, &overlap);
  }
  pnOverlapResult measured;
  pnDepthResult depth;
  if (result == PN_OK) result = pnOverlap_Measure(overlap, &measured);
  if (result == PN_OK) result = pnOverlap_MakeMesh(overlap, &surface);
  if (result == PN_OK) result = pnOverlap_FindDepth(overlap, &depth);
  pnDestroyMesh(surface);
  pnDestroyOverlap(overlap);
  for (int i = 0; i < 2; ++i) {
    pnDestroyPose(poses[i]);
    pnDestroyMesh(meshes[i]);
  }
  return result;
}

static void everyAllocationFails(void **state) {
  (void)state;
  // (a growing array asks for less when it cannot have more, and goes on)
  uint32_t tries = testEveryAllocationFailure(useEverything, NULL, false, true);
  print_message("  %u allocations failed, one after the other\n", tries);
  assert_true(tries > 30);
}

/* After the first frame, a frame of a moving body allocates nothing. */
static void steadyMemory(void **state) {
  (void)state;
  assert_int_equal(pnGetByteCount(), 0);
  testInstallAllocator(UINT64_MAX, false);
  TestBody a = testStar(4, 1, 0.3f), b = testSphere(4, 1);
  pnOverlap *overlap = testOverlap(&a, &b, 64);
  pnOverlapResult result;
  uint64_t before = 0;
  for (int i = 0; i < 40; ++i) {
    float turn = 0.05f * (float)i;
    testPlace(&a, cosf(turn), sinf(turn), 0.2f);
    testExpectOk(pnOverlap_Measure(overlap, &result));
    if (i == 19) before = testAllocationCount();
  }
  // a band grows now and then while its contents do; most frames do not allocate
  assert_true(testAllocationCount() - before <= 10);
  pnDestroyOverlap(overlap);
  testFreeBody(&a), testFreeBody(&b);
  testRestoreAllocator();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(knownVolumes),         cmocka_unit_test(knownSpheres),   cmocka_unit_test(containment),
      cmocka_unit_test(centroidAndBox),       cmocka_unit_test(spansAndMesh),   cmocka_unit_test(reuse),
      cmocka_unit_test(windowCuts),           cmocka_unit_test(openAndTwisted), cmocka_unit_test(badSettings),
      cmocka_unit_test(nothingThere),         cmocka_unit_test(extremes),       cmocka_unit_test(sameOnThreads),
      cmocka_unit_test(everyAllocationFails), cmocka_unit_test(steadyMemory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
