/* test_motion.c: what every motion promises (mesh/pose.h, pnMotionRow), of every row of motions.h: one vertex by every way of asking,
 * before and after the transform; nothing farther out than it says; inputs, rest and refusals. */
#include "motions.h"

#include "mesh/pose.h"
#include "mesh/vertex.h"

/* All vertices by lists, in any order. */
static void fetchAll(const pnPose *pose, bool local, uint32_t stride, float *out) {
  uint32_t n = pnMesh_GetVertexCount(pose->mesh);
  for (uint32_t v = 0; v < n; ++v) {
    uint32_t at = (v * 11 + 3) % n;
    pose->motion->fetch(pose, local, &at, 1, out + (size_t)at * stride, stride);
  }
}

/* Lists, ranges, both strides, and the transform of what was before it. */
static void expectOneVertex(const pnPose *pose) {
  uint32_t n = pnMesh_GetVertexCount(pose->mesh);
  float *byList = calloc(4 * (size_t)n + 4, sizeof(float)), *packed = calloc(3 * (size_t)n + 4, sizeof(float)),
        *range = calloc(3 * (size_t)n + 4, sizeof(float)), *local = calloc(4 * (size_t)n + 4, sizeof(float));
  assert_true(byList && packed && range && local);
  fetchAll(pose, false, 4, byList);
  fetchAll(pose, false, 3, packed);
  fetchAll(pose, true, 4, local);
  pn_poseFetchRange(pose, 0, n, range, 3);
  assert_memory_equal(packed, range, 3 * (size_t)n * sizeof(float));
  const pnColumns columns = pn_columnsOf(&pose->transform);
  for (uint32_t v = 0; v < n; ++v) {
    assert_memory_equal(byList + 4 * (size_t)v, range + 3 * (size_t)v, 3 * sizeof(float));
    assert_true(byList[4 * v + 3] == 0);
    float moved[4];
    pn_f4Store(moved, pn_movePoint(&columns, pn_f4Load(local + 4 * (size_t)v)));
    const float *is = pose->hasTransform ? moved : local + 4 * (size_t)v;
    assert_memory_equal(range + 3 * (size_t)v, is, 3 * sizeof(float));
    for (int k = 0; k < 3; ++k) assert_true(fabsf(local[4 * v + k]) <= pose->sourceMaxAbs);
  }
  free(byList);
  free(packed);
  free(range);
  free(local);
}

static void oneVertexByEveryWay(void **state) {
  (void)state;
  TestRandom random = testRandom(1);
  for (uint32_t i = 0; i < TEST_MOTION_COUNT; ++i) {
    TestMoving m = {0};
    testMotions[i]->make(&m, 2, 3, 10 + i);
    for (int round = 0; round < 6; ++round) {
      expectOneVertex(m.pose);
      uint64_t frame = pnPose_GetFrame(m.pose);
      pnMatrix t = round % 3 == 2 ? pnMatrix_Identity() : testRotation(&random, 2);
      testExpectOk(pnPose_SetTransform(m.pose, &t));
      testMotions[i]->move(&m, &random, 3);
      assert_true(pnPose_GetFrame(m.pose) > frame);
    }
    testMotions[i]->free(&m);
  }
}

/* The definition, step by step in float: what vertex.h computes in lanes. */
static void transformIsTheDefinition(void **state) {
  (void)state;
  TestRandom random = testRandom(2);
  for (int round = 0; round < 2000; ++round) {
    pnMatrix m = testRotation(&random, 10);
    float p[4] = {testFloat(&random, -3, 3), testFloat(&random, -3, 3), testFloat(&random, -3, 3), 7}, out[4];
    const pnColumns columns = pn_columnsOf(&m);
    pn_f4Store(out, pn_movePoint(&columns, pn_f4Load(p)));
    for (int k = 0; k < 3; ++k) {
      volatile float x = m.m[k][0] * p[0], y = m.m[k][1] * p[1], z = m.m[k][2] * p[2], sum = x + y;
      sum = sum + z;
      sum = sum + m.m[k][3];
      assert_true(out[k] == sum);
    }
    assert_true(out[3] == 0);
  }
}

/* A new pose of its like, and one that is reset, are at rest; a computed vertex cannot be set. */
static void restAndRefusals(void **state) {
  (void)state;
  TestRandom random = testRandom(3);
  for (uint32_t i = 0; i < TEST_MOTION_COUNT; ++i) {
    TestMoving m = {0};
    testMotions[i]->make(&m, 1, 1, 20 + i);
    uint32_t n = pnMesh_GetVertexCount(m.mesh);
    float *rest = calloc(3 * (size_t)n, sizeof(float)), *now = calloc(3 * (size_t)n, sizeof(float));
    assert_true(rest && now);
    pnPose_GetVertices(m.pose, rest);
    testMotions[i]->move(&m, &random, 1);
    pnPose_GetVertices(m.pose, now);
    assert_true(memcmp(rest, now, 3 * (size_t)n * sizeof(float)) != 0);
    pnPose *like;
    testExpectOk(pn_createRestPose(m.pose, &like));
    assert_ptr_equal(like->motion, m.pose->motion);
    pnPose_GetVertices(like, now);
    assert_memory_equal(rest, now, 3 * (size_t)n * sizeof(float));
    pnDestroyPose(like);
    pnPose_Reset(m.pose);
    pnPose_GetVertices(m.pose, now);
    assert_memory_equal(rest, now, 3 * (size_t)n * sizeof(float));
    const pnMotionRow *motion = m.pose->motion;
    assert_int_equal(motion->isStored, motion->movedBy == NULL);
    if (motion->movedBy) testExpectFailure(pnPose_SetVertices(m.pose, rest, n), PN_ERROR_KIND, motion->movedBy);
    else testExpectOk(pnPose_SetVertices(m.pose, rest, n));
    free(rest);
    free(now);
    testMotions[i]->free(&m);
  }
}

/* On a straight line of its inputs, all of them have moved at the end. */
static void inputsSayHowItIs(void **state) {
  (void)state;
  for (uint32_t i = 0; i < TEST_MOTION_COUNT; ++i) {
    TestMoving m = {0};
    testMotions[i]->make(&m, 1, 1, 30 + i);
    const pnMotionRow *motion = m.pose->motion;
    size_t count = motion->countInputs(m.pose);
    float *inputs = calloc(count + 1, sizeof(float));
    assert_non_null(inputs);
    for (size_t k = 0; k < count; ++k) inputs[k] = k == 0 ? 1 : 0;
    if (count > 0) {
      uint64_t frame = pnPose_GetFrame(m.pose);
      testExpectOk(motion->setInputs(m.pose, inputs));
      assert_true(pnPose_GetFrame(m.pose) > frame);
      expectOneVertex(m.pose);
    } else {
      testExpectFailure(motion->setInputs(m.pose, inputs), PN_ERROR_KIND, motion->movedBy);
    }
    free(inputs);
    testMotions[i]->free(&m);
  }
}

/* A pose that keeps where another was: down to the bits, also when that has gone on. */
static void aCopyStays(void **state) {
  (void)state;
  TestRandom random = testRandom(3);
  for (uint32_t i = 0; i < TEST_MOTION_COUNT; ++i) {
    TestMoving m = {0};
    testMotions[i]->make(&m, 1, 1, 40 + i);
    size_t bytes = 3 * sizeof(float) * pnMesh_GetVertexCount(m.mesh);
    float *then = malloc(bytes), *kept = malloc(bytes);
    assert_true(then && kept);
    pnPose *copy;
    testExpectOk(pn_createRestPose(m.pose, &copy));
    for (int round = 0; round < 12; ++round) {
      pnMatrix t = round % 3 == 2 ? pnMatrix_Identity() : testRotation(&random, 2);
      if (round % 2) testExpectOk(pnPose_SetTransform(m.pose, &t));
      if (round % 3) testMotions[i]->move(&m, &random, 1);
      if (round == 7) pnPose_Reset(m.pose);
      pnPose_GetVertices(m.pose, then);
      testExpectOk(pn_copyPose(copy, m.pose));
      assert_true(copy->frame == m.pose->frame && copy->shapeFrame == m.pose->shapeFrame);
      for (int moved = 0; moved < 2; ++moved) {
        if (moved) testMotions[i]->move(&m, &random, 1);
        pnPose_GetVertices(copy, kept);
        assert_memory_equal(then, kept, bytes);
        expectOneVertex(copy);
      }
    }
    pnDestroyPose(copy);
    free(then);
    free(kept);
    testMotions[i]->free(&m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(oneVertexByEveryWay),      cmocka_unit_test(aCopyStays),
      cmocka_unit_test(transformIsTheDefinition), cmocka_unit_test(restAndRefusals),
      cmocka_unit_test(inputsSayHowItIs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
