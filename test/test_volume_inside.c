/* test_volume_inside.c: points in a body, its own volume, where it overlaps itself; bodies that deform. */
#include "support_volume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static pnLdi *makeLdi(const TestBody *body, uint32_t resolution, pnInsideRule rule) {
  pnLdiDef def = pnDefaultLdiDef();
  def.pose = body->pose;
  def.resolution = resolution;
  def.rule = rule;
  pnLdi *ldi;
  testExpectOk(pnCreateLdi(&def, &ldi));
  testExpectOk(pnLdi_Update(ldi));
  return ldi;
}

/* ---------------------------------------------------------------- points */

/* Random points in and around the body: a wrong answer only closer to the surface than the bound. */
static void checkPoints(const TestBody *body, uint32_t resolution, float reach, uint64_t seed) {
  enum { COUNT = 1500 };
  float points[3 * COUNT];
  uint8_t inside[COUNT];
  TestRandom random = testRandom(seed);
  for (int i = 0; i < 3 * COUNT; ++i) points[i] = testFloat(&random, -reach, reach);
  pnLdi *ldi = makeLdi(body, resolution, PN_INSIDE_WINDING);
  pnInsideResult result;
  testExpectOk(pnLdi_TestPoints(ldi, points, COUNT, inside, &result));
  uint32_t wrong = 0, counted = 0;
  for (int i = 0; i < COUNT; ++i) {
    counted += inside[i];
    if ((testWinding(body, points + 3 * i) != 0) == inside[i]) continue;
    ++wrong;
    assert_true(testDistance(body, points + 3 * i) <= result.error);
  }
  assert_int_equal(counted, result.insideCount);
  assert_true(counted > COUNT / 50);
  print_message("  resolution %3u: %4u of %d inside, %2u wrong, all of them within %.4f of the surface\n", resolution,
                counted, COUNT, wrong, result.error);
  assert_true(wrong <= COUNT / 20);
  pnDestroyLdi(ldi);
}

static void points(void **state) {
  (void)state;
  TestBody bodies[] = {testStar(2, 1, 0.4f), testTorus(0.8f, 0.35f, 24, 12), testHollow(2, 1, 0.6f),
                       testBox(0.5f, 1, 0.8f, 2)};
  TestRandom random = testRandom(1);
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; ++i) {
    pnMatrix turn = testRotation(&random, 0.2f);
    testExpectOk(pnPose_SetTransform(bodies[i].pose, &turn));
    checkPoints(&bodies[i], 64, 1.3f, 10 + i);
    checkPoints(&bodies[i], 256, 1.3f, 20 + i);
    testFreeBody(&bodies[i]);
  }
}

static void strangePoints(void **state) {
  (void)state;
  TestBody ball = testSphere(3, 1);
  pnLdi *ldi = makeLdi(&ball, 128, PN_INSIDE_WINDING);
  float points[] = {0, 0, 0, 3, 0, 0, 1e30f, -1e30f, 0, 0, 0, 0.99f, 0, 0, -3e38f, 0.5f, 0.5f, 0.5f};
  uint8_t inside[6], expected[6] = {1, 0, 0, 1, 0, 1};
  pnInsideResult result;
  testExpectOk(pnLdi_TestPoints(ldi, points, 6, inside, &result));
  assert_memory_equal(inside, expected, 6);
  assert_int_equal(result.insideCount, 3);
  points[4] = NAN;
  testExpectFailure(pnLdi_TestPoints(ldi, points, 6, inside, &result), PN_ERROR_NUMBER, "point 1");
  points[4] = INFINITY;
  testExpectFailure(pnLdi_TestPoints(ldi, points, 6, inside, &result), PN_ERROR_NUMBER, "point 1");
  testExpectOk(pnLdi_TestPoints(ldi, NULL, 0, NULL, &result));
  pnDestroyLdi(ldi);

  // no image yet; no triangles at all
  pnLdiDef def = pnDefaultLdiDef();
  def.pose = ball.pose;
  testExpectOk(pnCreateLdi(&def, &ldi));
  testExpectFailure(pnLdi_TestPoints(ldi, points, 1, inside, &result), PN_ERROR_ARGUMENT, "pnLdi_Update");
  pnDestroyLdi(ldi);
  pnMeshDef meshDef = pnDefaultMeshDef();
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&meshDef, &mesh));
  TestBody empty = testBody(mesh);
  ldi = makeLdi(&empty, 64, PN_INSIDE_WINDING);
  testExpectOk(pnLdi_TestPoints(ldi, points, 1, inside, &result));
  assert_int_equal(inside[0], 0);
  pnVolumeResult volume;
  testExpectOk(pnLdi_Measure(ldi, &volume));
  assert_true(volume.volume == 0);
  pnDestroyLdi(ldi);
  testFreeBody(&empty), testFreeBody(&ball);
}

/* One worker or several: the same answers. */
static void pointsOnThreads(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  TestBody star = testStar(4, 1, 0.4f);
  float *points = malloc(sizeof(float) * 3 * COUNT);
  uint8_t *inside[2] = {malloc(COUNT), malloc(COUNT)};
  TestRandom random = testRandom(2);
  for (int i = 0; i < 3 * COUNT; ++i) points[i] = testFloat(&random, -1.4f, 1.4f);
  pnPool *pool;
  testExpectOk(pnCreatePool(3, &pool));
  pnInsideResult results[2];
  for (int i = 0; i < 2; ++i) {
    pnLdiDef def = pnDefaultLdiDef();
    def.pose = star.pose;
    if (i) def.tasks = pnPool_GetTasks(pool);
    pnLdi *ldi;
    testExpectOk(pnCreateLdi(&def, &ldi));
    testExpectOk(pnLdi_Update(ldi));
    testExpectOk(pnLdi_TestPoints(ldi, points, COUNT, inside[i], &results[i]));
    pnDestroyLdi(ldi);
  }
  assert_memory_equal(inside[0], inside[1], COUNT);
  assert_int_equal(results[0].insideCount, results[1].insideCount);
  pnDestroyPool(pool);
  free(points), free(inside[0]), free(inside[1]);
  testFreeBody(&star);
}

/* ---------------------------------------------------------------- volume of one body, and reuse */

static void ownVolume(void **state) {
  (void)state;
  TestBody star = testStar(3, 1, 0.4f);
  uint32_t count = pnMesh_GetVertexCount(star.mesh);
  float *vertices = malloc(sizeof(float) * (3 * count + 1));
  pnLdi *ldi = makeLdi(&star, 128, PN_INSIDE_WINDING);
  testExpectOk(pnLdi_Update(ldi));
  assert_true(pnLdi_GetInfo(ldi).reused);
  // a body that deforms, frame after frame
  for (int frame = 0; frame < 8; ++frame) {
    memcpy(vertices, pnMesh_GetVertices(star.mesh), sizeof(float) * 3 * count);
    for (uint32_t v = 0; v < count; ++v) {
      vertices[3 * v] += 0.3f * sinf(3 * vertices[3 * v + 1] + (float)frame);
      vertices[3 * v + 2] *= 1 + 0.2f * cosf((float)frame);
    }
    testExpectOk(pnPose_SetVertices(star.pose, vertices, count));
    testExpectOk(pnLdi_Update(ldi));
    assert_false(pnLdi_GetInfo(ldi).reused);
    pnVolumeResult volume;
    testExpectOk(pnLdi_Measure(ldi, &volume));
    double truth = testVolumeOf(&star);
    assert_true(volume.volumeMin <= truth && truth <= volume.volumeMax);
    assert_true(fabs(volume.volume - truth) < 0.002 * truth);
    assert_true(volume.error < 0.1 * truth);
  }
  free(vertices);
  pnDestroyLdi(ldi);
  testFreeBody(&star);
}

/* The volume of a pose of any kind is that of a free body with the same vertices, to the last bit, frame after frame.
 * */
static void compareWithFree(pnPose *pose, uint32_t frame) {
  const pnMesh *mesh = pnPose_GetMesh(pose);
  uint32_t count = pnMesh_GetVertexCount(mesh);
  float *vertices = malloc(sizeof(float) * (3 * count + 1));
  pnPose_GetVertices(pose, vertices);
  pnPoseDef def = pnDefaultPoseDef();
  def.mesh = mesh;
  pnPose *same;
  testExpectOk(pnCreatePose(&def, &same));
  testExpectOk(pnPose_SetVertices(same, vertices, count));
  pnVolumeResult volumes[2];
  for (int i = 0; i < 2; ++i) {
    TestBody body = {NULL, i ? same : pose};
    pnLdi *ldi = makeLdi(&body, 100 + frame, PN_INSIDE_WINDING);
    testExpectOk(pnLdi_Measure(ldi, &volumes[i]));
    volumes[i].time = 0;
    pnDestroyLdi(ldi);
  }
  assert_true(volumes[0].volume > 0.5);
  assert_memory_equal(&volumes[0], &volumes[1], sizeof volumes[0]);
  pnDestroyPose(same);
  free(vertices);
}

static void everyKind(void **state) {
  (void)state;
  TestBody star = testStar(3, 1, 0.4f);
  uint32_t count = pnMesh_GetVertexCount(star.mesh);
  const float *rest = pnMesh_GetVertices(star.mesh);
  // two targets: longer, and leaning over; two joints: the lower and the upper half
  float *values[2] = {malloc(sizeof(float) * 3 * count), malloc(sizeof(float) * 3 * count)};
  uint16_t *joints = malloc(sizeof(uint16_t) * 2 * count);
  float *weights = malloc(sizeof(float) * 2 * count);
  for (uint32_t v = 0; v < count; ++v) {
    const float *p = rest + 3 * v;
    float *longer = values[0] + 3 * v, *leaning = values[1] + 3 * v, up = 0.5f + 0.4f * fminf(fmaxf(p[1], -1), 1);
    longer[0] = 0, longer[1] = 0.5f * p[1], longer[2] = 0;
    leaning[0] = 0.4f * p[1], leaning[1] = 0, leaning[2] = 0;
    joints[2 * v] = 0, joints[2 * v + 1] = 1;
    weights[2 * v] = 1 - up, weights[2 * v + 1] = up;
  }
  pnMorphTarget targets[2] = {{"longer", count, NULL, values[0]}, {"leaning", count, NULL, values[1]}};
  pnMorphDef morphDef = pnDefaultMorphDef();
  morphDef.mesh = star.mesh;
  morphDef.targets = targets;
  morphDef.targetCount = 2;
  pnSkinDef skinDef = pnDefaultSkinDef();
  skinDef.mesh = star.mesh;
  skinDef.jointCount = 2;
  skinDef.influenceCount = 2;
  skinDef.jointIndices = joints;
  skinDef.jointWeights = weights;
  pnMorph *morph;
  pnSkin *skin;
  testExpectOk(pnCreateMorph(&morphDef, &morph));
  testExpectOk(pnCreateSkin(&skinDef, &skin));

  // rigid, morph, skin, both; with a transform on top
  TestRandom random = testRandom(8);
  for (uint32_t kind = 0; kind < 4; ++kind) {
    pnPoseDef def = pnDefaultPoseDef();
    def.mesh = star.mesh;
    def.morph = kind & 1 ? morph : NULL;
    def.skin = kind & 2 ? skin : NULL;
    pnPose *pose;
    testExpectOk(pnCreatePose(&def, &pose));
    for (uint32_t frame = 0; frame < 3; ++frame) {
      pnMatrix turn = testRotation(&random, 2),
               moves[2] = {pnMatrix_Identity(), testMatrixAt(0.2f * (float)frame, 0.3f, 0)};
      const float amounts[2] = {0.3f * (float)frame, -0.5f};
      if (def.morph) testExpectOk(pnPose_SetWeights(pose, amounts, 2));
      if (def.skin) testExpectOk(pnPose_SetJoints(pose, moves, 2));
      testExpectOk(pnPose_SetTransform(pose, &turn));
      compareWithFree(pose, frame);
    }
    pnDestroyPose(pose);
  }
  pnDestroySkin(skin);
  pnDestroyMorph(morph);
  free(values[0]), free(values[1]), free(joints), free(weights);
  testFreeBody(&star);
}

/* Numbers that overflow on the way are found here, before anything is drawn. */
static void brokenVertices(void **state) {
  (void)state;
  TestBody ball = testSphere(2, 1);
  uint32_t count = pnMesh_GetVertexCount(ball.mesh);
  float *vertices = malloc(sizeof(float) * (3 * count + 1));
  memcpy(vertices, pnMesh_GetVertices(ball.mesh), sizeof(float) * 3 * count);
  vertices[3 * count] = 0;
  pnLdi *ldi = makeLdi(&ball, 64, PN_INSIDE_WINDING);
  vertices[3 * 17 + 1] = NAN;
  // shared vertices are looked at when they are used
  if (pnPose_ShareVertices(ball.pose, vertices, count) == PN_OK)
    testExpectFailure(pnLdi_Update(ldi), PN_ERROR_NUMBER, "vertex 17");
  // and mended ones are taken again
  vertices[3 * 17 + 1] = 0.5f;
  testExpectOk(pnPose_ShareVertices(ball.pose, vertices, count));
  testExpectOk(pnLdi_Update(ldi));
  pnDestroyLdi(ldi);
  free(vertices);
  testFreeBody(&ball);
}

/* Without the bounds pass the answers are the same and the bounds infinite. */
static void withoutBounds(void **state) {
  (void)state;
  TestBody star = testStar(3, 1, 0.4f);
  pnLdiDef def = pnDefaultLdiDef();
  def.pose = star.pose;
  def.bounds = false;
  pnLdi *ldi, *full = makeLdi(&star, 128, PN_INSIDE_WINDING);
  testExpectOk(pnCreateLdi(&def, &ldi));
  testExpectOk(pnLdi_Update(ldi));
  pnVolumeResult volume, with;
  testExpectOk(pnLdi_Measure(ldi, &volume));
  testExpectOk(pnLdi_Measure(full, &with));
  assert_true(volume.volume == with.volume && isinf(volume.error) && isinf(volume.volumeMax) && volume.volumeMin == 0);
  assert_true(pnLdi_GetInfo(ldi).boundTime == 0);
  pnDestroyLdi(ldi), pnDestroyLdi(full);
  testFreeBody(&star);
}

/* ---------------------------------------------------------------- self-overlap */

static void selfOverlap(void **state) {
  (void)state;
  TestBody ball = testSphere(4, 1), twice = testTwice(&ball, 0.9f, 0.2f, 0, false);
  pnSelfOverlapResult result;

  // a simple body has none, whichever way it faces
  pnLdi *ldi = makeLdi(&ball, 128, PN_INSIDE_WINDING);
  testExpectOk(pnLdi_FindSelfOverlap(ldi, &result));
  assert_true(result.volume == 0 && result.volumeMin == 0 && result.volumeMax > 0 && !result.facesInward);
  assert_true(result.minWinding == 0 && result.maxWinding == 1 && result.box.min.x > result.box.max.x);
  pnDestroyLdi(ldi);

  // two balls in one mesh: a lens is wound around twice
  ldi = makeLdi(&twice, 128, PN_INSIDE_WINDING);
  testExpectOk(pnLdi_FindSelfOverlap(ldi, &result));
  TestBody other = testSphere(4, 1);
  testPlace(&other, 0.9f, 0.2f, 0);
  // the truth from two bodies instead of one
  pnOverlapDef def = pnDefaultOverlapDef();
  def.poseA = ball.pose;
  def.poseB = other.pose;
  def.resolution = 512;
  pnOverlap *overlap;
  pnOverlapResult shared;
  testExpectOk(pnCreateOverlap(&def, &overlap));
  testExpectOk(pnOverlap_Measure(overlap, &shared));
  pnDestroyOverlap(overlap);
  assert_true(result.volumeMin > 0); // proof
  assert_true(result.volumeMin <= shared.volumeMax && shared.volumeMin <= result.volumeMax);
  assert_true(fabs(result.volume - shared.volume) < 0.01 * shared.volume);
  assert_true(result.doubledVolume == result.volume && result.invertedVolume == 0 && result.maxWinding == 2);
  pnVolumeResult volume;
  testExpectOk(pnLdi_Measure(ldi, &volume));
  assert_true(fabs(volume.volume - (2 * testVolumeOf(&ball) - shared.volume)) < 0.01 * volume.volume);
  pnDestroyLdi(ldi);

  // by parity the lens is a hole instead, and the question of self-overlap has no meaning
  ldi = makeLdi(&twice, 128, PN_INSIDE_PARITY);
  testExpectOk(pnLdi_Measure(ldi, &volume));
  assert_true(fabs(volume.volume - (2 * testVolumeOf(&ball) - 2 * shared.volume)) < 0.01 * volume.volume);
  testExpectFailure(pnLdi_FindSelfOverlap(ldi, &result), PN_ERROR_KIND, "PN_INSIDE_WINDING");
  pnDestroyLdi(ldi);
  testFreeBody(&other), testFreeBody(&twice), testFreeBody(&ball);
}

static void insideOut(void **state) {
  (void)state;
  TestBody ball = testSphere(3, 1), apart = testTwice(&ball, 3, 0, 0, true);
  pnSelfOverlapResult result;
  // one ball right, one inside out: half of it is wrong
  pnLdi *ldi = makeLdi(&apart, 200, PN_INSIDE_WINDING);
  testExpectOk(pnLdi_FindSelfOverlap(ldi, &result));
  assert_true(result.minWinding == -1 && result.maxWinding == 1 && result.volumeMin > 0);
  assert_true(fabs(result.invertedVolume - testVolumeOf(&ball)) < 0.01 * testVolumeOf(&ball));
  pnDestroyLdi(ldi);

  // a hollow ball turned inside out as a whole faces inward, and nothing is wrong in it
  TestBody hollow = testHollow(3, 1, 0.5f);
  uint32_t count = pnMesh_GetTriangleCount(hollow.mesh), *triangles = malloc(12 * count);
  for (uint32_t i = 0; i < 3 * count; ++i) triangles[i] = pnMesh_GetTriangles(hollow.mesh)[i / 3 * 3 + 2 - i % 3];
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = pnMesh_GetVertices(hollow.mesh);
  def.vertexCount = pnMesh_GetVertexCount(hollow.mesh);
  def.triangles = triangles;
  def.triangleCount = count;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  TestBody turned = testBody(mesh);
  ldi = makeLdi(&turned, 100, PN_INSIDE_WINDING);
  testExpectOk(pnLdi_FindSelfOverlap(ldi, &result));
  assert_true(result.facesInward && result.volume == 0 && result.minWinding == -1 && result.maxWinding == 0);
  pnVolumeResult volume;
  testExpectOk(pnLdi_Measure(ldi, &volume));
  assert_true(fabs(volume.volume - testVolumeOf(&hollow)) < volume.error);
  pnDestroyLdi(ldi);
  free(triangles);
  testFreeBody(&turned), testFreeBody(&hollow), testFreeBody(&apart), testFreeBody(&ball);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points),        cmocka_unit_test(strangePoints), cmocka_unit_test(pointsOnThreads),
      cmocka_unit_test(ownVolume),     cmocka_unit_test(everyKind),     cmocka_unit_test(brokenVertices),
      cmocka_unit_test(withoutBounds), cmocka_unit_test(selfOverlap),   cmocka_unit_test(insideOut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
