/* test_device_step.c: what meets between two frames, on a device: the impacts of pnCollideSwept, each one, with the bits of
 * its times. */
#include "support_device.h"
#include "support_skin.h"

#include "pinch/collide.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- both answers */

/* Bodies of a device world, and for each the processor's sweep. */
typedef struct Bodies {
  uint32_t count;
  bool self;
  const pnPose *pose[8];
  pnSweep *sweep[8];
  pnDeviceWorld *world;
} Bodies;

static void addMoving(Bodies *b, const pnPose *pose) {
  b->pose[b->count] = pose;
  testExpectOk(pnCreateSweep(pnPose_GetMesh(pose), &b->sweep[b->count]));
  addPose(b->world, pose, b->self);
  ++b->count;
}

static Bodies makeBodies(bool self) {
  Bodies b = {.self = self};
  testExpectOk(pnCreateDeviceWorld(s_device, &b.world));
  return b;
}

static void freeBodies(Bodies *b) {
  pnDestroyDeviceWorld(b->world);
  for (uint32_t i = 0; i < b->count; ++i) pnDestroySweep(b->sweep[i]);
}

static void begin(Bodies *b) {
  testExpectOk(pnDeviceWorld_BeginStep(b->world));
  for (uint32_t i = 0; i < b->count; ++i) testExpectOk(pnSweep_SetBegin(b->sweep[i], b->pose[i]));
}

/* Impacts of two bodies, or of one with itself. */
static void expectContact(const Bodies *b, const pnDeviceStep *step, uint32_t x, uint32_t y, pnSweptWhat what,
                          size_t *outCount) {
  pnImpactList *list;
  pnSweptDef def = pnDefaultSweptDef();
  def.what = what;
  testExpectOk(pnCreateImpactList(&list));
  testExpectOk(pnCollideSwept(b->sweep[x], x == y ? NULL : b->sweep[y], &def, list, NULL));
  const size_t n = pnImpactList_GetCount(list);
  size_t found = 0;
  for (uint32_t c = 0; c < step->contactCount; ++c) {
    const pnDeviceStepContact *contact = &pnDeviceWorld_GetStepContacts(b->world)[c];
    if (contact->a != x || contact->b != y) continue;
    found = contact->impactCount;
    assert_int_equal(found, n);
    const pnFeatureImpact *mine = pnImpactList_GetImpacts(list),
                          *theirs = pnDeviceWorld_GetImpacts(b->world) + contact->firstImpact;
    for (size_t i = 0; i < n; ++i) {
      assert_int_equal(mine[i].kind, theirs[i].kind);
      assert_int_equal(mine[i].a, theirs[i].a);
      assert_int_equal(mine[i].b, theirs[i].b);
      assert_true(mine[i].lo == theirs[i].lo && mine[i].hi == theirs[i].hi);
    }
    const pnImpactSpan first = pnImpactList_GetEarliest(list);
    if (what == PN_SWEPT_ALL) assert_true(first.lo == contact->first.lo && first.hi == contact->first.hi);
    else assert_true(first.lo == step->earliest.lo && first.hi == step->earliest.hi);
  }
  assert_int_equal(found, n);
  *outCount += n;
  pnDestroyImpactList(list);
}

static pnDeviceStep expectSame(Bodies *b, size_t *outCount) {
  for (uint32_t i = 0; i < b->count; ++i) testExpectOk(pnSweep_SetEnd(b->sweep[i], b->pose[i]));
  const pnDeviceStep step = pnDeviceWorld_CollideSwept(b->world, NULL);
  testExpectOk(step.result);
  size_t all = 0;
  for (uint32_t x = 0; x < b->count; ++x)
    for (uint32_t y = b->self ? x : x + 1; y < b->count; ++y) expectContact(b, &step, x, y, PN_SWEPT_ALL, &all);
  assert_int_equal(all, step.impactCount);
  *outCount += all;
  return step;
}

/* Of one body, or of two: the first of all. */
static void expectSameEarliest(Bodies *b) {
  const pnDeviceStep step = pnDeviceWorld_CollideSwept(b->world, &(pnDeviceStepDef){.what = PN_SWEPT_EARLIEST});
  size_t count = 0;
  testExpectOk(step.result);
  expectContact(b, &step, 0, b->count - 1, PN_SWEPT_EARLIEST, &count);
  assert_int_equal(count, step.impactCount);
}

/* ---------------------------------------------------------------- motions */

static pnPose *poseOf(const pnMesh *mesh) {
  pnPoseDef def = {mesh, NULL, NULL};
  pnPose *pose;
  testExpectOk(pnCreatePose(&def, &pose));
  return pose;
}

/* Vertices somewhere near where the mesh has them; those of one place stay together, but for a few. */
static void shake(pnPose *pose, TestRandom *random, float by) {
  const pnMesh *mesh = pnPose_GetMesh(pose);
  const uint32_t n = pnMesh_GetVertexCount(mesh);
  float *vertices = malloc(3 * sizeof(float) * n);
  for (uint32_t i = 0; i < 3 * n; ++i) vertices[i] = pnMesh_GetVertices(mesh)[i] + testFloat(random, -by, by);
  for (uint32_t v = 0; v < n; ++v) {
    const uint32_t w = pnMesh_GetWeld(mesh)[v];
    if (w != v && testBelow(random, 20) != 0) memcpy(vertices + 3 * (size_t)v, vertices + 3 * (size_t)w, 12);
  }
  testExpectOk(pnPose_SetVertices(pose, vertices, n));
  free(vertices);
}

/* A grid of quads, each with vertices of its own when `apart`. */
static pnMesh *makeCloth(bool apart) {
  pnMesh *grid, *mesh;
  testExpectOk(pnMakeGrid(1, 1, 16, 16, &grid));
  if (!apart) return grid;
  const uint32_t t = pnMesh_GetTriangleCount(grid);
  float *vertices = malloc(9 * sizeof(float) * t);
  uint32_t *triangles = malloc(3 * sizeof(uint32_t) * t);
  for (uint32_t k = 0; k < 3 * t; ++k) {
    memcpy(vertices + 3 * (size_t)k, pnMesh_GetVertices(grid) + 3 * (size_t)pnMesh_GetTriangles(grid)[k], 12);
    triangles[k] = k;
  }
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices, def.vertexCount = 3 * t, def.triangles = triangles, def.triangleCount = t;
  testExpectOk(pnCreateMesh(&def, &mesh));
  free(vertices), free(triangles);
  pnDestroyMesh(grid);
  return mesh;
}

static void bodiesWithThemselves(void **state) {
  NEEDS_DEVICE;
  TestRandom random = testRandom(41);
  for (int apart = 0; apart < 2; ++apart) {
    pnMesh *mesh = makeCloth(apart == 1);
    pnPose *pose = poseOf(mesh);
    Bodies b = makeBodies(true);
    size_t count = 0;
    addMoving(&b, pose);
    for (int step = 0; step < 3; ++step) {
      begin(&b);
      shake(pose, &random, 0.06f);
      expectSame(&b, &count);
      expectSameEarliest(&b);
      /* the step stays: another end */
      shake(pose, &random, 0.05f);
      expectSame(&b, &count);
      assert_int_equal(pnDeviceWorld_CollideSwept(b.world, &(pnDeviceStepDef){.noSelf = true}).impactCount, 0);
    }
    assert_true(count > 500);
    freeBodies(&b);
    pnDestroyPose(pose);
    pnDestroyMesh(mesh);
  }
}

/* Bodies of every kind that pass through one another; a frame in between does not disturb the step. */
static void bodiesWithOneAnother(void **state) {
  NEEDS_DEVICE;
  TestRandom random = testRandom(42);
  pnMesh *ball, *knot;
  testExpectOk(pnMakeIcosphere(0.6f, 2, &ball));
  testExpectOk(pnMakeKnot(2, 3, 1, 0.3f, 48, 8, &knot));
  SkinBody skin = skinMake((SkinKind)0, 2, 1, 1, 7);
  pnPose *a = poseOf(ball), *c = poseOf(knot);
  Bodies b = makeBodies(true), two = makeBodies(false);
  addMoving(&b, a), addMoving(&b, skin.pose), addMoving(&b, c);
  addMoving(&two, a), addMoving(&two, c);
  size_t count = 0;
  for (uint32_t step = 0; step < 3; ++step) {
    begin(&b), begin(&two);
    const pnMatrix m = testRotation(&random, 0.3f);
    testExpectOk(pnPose_SetTransform(a, &m));
    skinPose(&skin, &random, step, 0.4f);
    if (step == 1) shake(c, &random, 0.1f);
    testExpectOk(pnDeviceWorld_Collide(b.world, NULL).result);
    expectSame(&b, &count);
    expectSame(&two, &count);
    expectSameEarliest(&two);
  }
  assert_true(count > 500);
  freeBodies(&b), freeBodies(&two);
  skinFree(&skin);
  pnDestroyPose(a), pnDestroyPose(c);
  pnDestroyMesh(ball), pnDestroyMesh(knot);
}

/* Corners on a coarse grid meet in every degenerate way, and the filter is often in doubt: whole numbers decide. And lists that are too
 * short grow. */
static void whatTheFilterLeaves(void **state) {
  NEEDS_DEVICE;
  enum { TRIANGLES = 60 };
  TestRandom random = testRandom(43);
  float vertices[9 * TRIANGLES];
  uint32_t triangles[3 * TRIANGLES];
  uint64_t uncertain = 0;
  size_t count = 0;
  for (int round = 0; round < 6; ++round) {
    for (uint32_t i = 0; i < 9 * TRIANGLES; ++i) vertices[i] = (float)testBelow(&random, 4) * 0.5f;
    for (uint32_t i = 0; i < 3 * TRIANGLES; ++i) triangles[i] = i;
    pnMeshDef def = pnDefaultMeshDef();
    pnMesh *mesh;
    def.vertices = vertices, def.vertexCount = 3 * TRIANGLES, def.triangles = triangles, def.triangleCount = TRIANGLES;
    def.weld = round % 2 == 0;
    testExpectOk(pnCreateMesh(&def, &mesh));
    pnPose *pose = poseOf(mesh);
    Bodies b = makeBodies(true);
    addMoving(&b, pose);
    begin(&b);
    for (uint32_t i = 0; i < 9 * TRIANGLES; ++i) vertices[i] = (float)testBelow(&random, 4) * 0.5f;
    testExpectOk(pnPose_SetVertices(pose, vertices, 3 * TRIANGLES));
    const pnDeviceStep step = expectSame(&b, &count);
    uncertain += step.uncertain;
    assert_true(step.reruns > 0 || round > 0);
    expectSameEarliest(&b);
    freeBodies(&b);
    pnDestroyPose(pose);
    pnDestroyMesh(mesh);
  }
  assert_true(uncertain > 100 && count > 1000);
}

/* ---------------------------------------------------------------- results that stay, refusals */

/* The impacts that lie on the device. */
typedef struct Staying {
  uint32_t (*names)[4];
  double (*spans)[2];
  size_t count;
} Staying;

static Staying readStaying(const pnDeviceWorld *world) {
  const pnDeviceStepResults results = pnDeviceWorld_GetStepResults(world);
  const size_t bytes = results.count * 16;
  const Staying s = {malloc(bytes + 1), malloc(bytes + 1), results.count};
  cl_command_queue queue = pnDevice_GetQueue(s_device);
  if (bytes == 0) return s;
  assert_int_equal(pn_cl.EnqueueReadBuffer(queue, results.names, 1, 0, bytes, s.names, 0, NULL, NULL), 0);
  assert_int_equal(pn_cl.EnqueueReadBuffer(queue, results.spans, 1, 0, bytes, s.spans, 0, NULL, NULL), 0);
  return s;
}

/* They are those that were downloaded, each once, in the order that is promised. */
static void expectStaying(const pnDeviceWorld *world, const pnDeviceStepContact *contacts, uint32_t contactCount,
                          const pnFeatureImpact *impacts, size_t impactCount) {
  const Staying s = readStaying(world);
  size_t found = 0;
  assert_int_equal(s.count, impactCount);
  for (size_t i = 1; i < s.count; ++i) {
    const uint32_t *x = s.names[i - 1], *y = s.names[i];
    const uint32_t before[5] = {x[1], x[0] >> 16, x[2], x[0] & 0xffff, x[3]};
    const uint32_t after[5] = {y[1], y[0] >> 16, y[2], y[0] & 0xffff, y[3]};
    int k = 0;
    while (k < 4 && before[k] == after[k]) ++k;
    assert_true(before[k] < after[k]);
  }
  for (uint32_t c = 0; c < contactCount; ++c) {
    size_t at = contacts[c].firstImpact;
    for (size_t i = 0; i < s.count; ++i) {
      if (s.names[i][0] != (contacts[c].a << 16 | contacts[c].b)) continue;
      const pnFeatureImpact *x = &impacts[at++];
      assert_true(x->kind == (pnFeatureKind)s.names[i][1] && x->a == s.names[i][2] && x->b == s.names[i][3]);
      assert_true(x->lo == s.spans[i][0] && x->hi == s.spans[i][1]);
      ++found;
    }
    assert_int_equal(at - contacts[c].firstImpact, contacts[c].impactCount);
  }
  assert_int_equal(found, impactCount);
  free(s.names), free(s.spans);
}

/* Sorted, all of them, also those that whole numbers decide: three bodies with corners on a coarse grid. */
static void impactsThatStayThere(void **state) {
  NEEDS_DEVICE;
  enum { TRIANGLES = 24 };
  TestRandom random = testRandom(44);
  float vertices[9 * TRIANGLES];
  uint32_t triangles[3 * TRIANGLES];
  pnMesh *mesh[3];
  pnPose *pose[3];
  Bodies b = makeBodies(true);
  for (int i = 0; i < 3; ++i) {
    for (uint32_t k = 0; k < 9 * TRIANGLES; ++k) vertices[k] = (float)testBelow(&random, 4) * 0.5f;
    for (uint32_t k = 0; k < 3 * TRIANGLES; ++k) triangles[k] = k;
    pnMeshDef def = pnDefaultMeshDef();
    def.vertices = vertices, def.vertexCount = 3 * TRIANGLES, def.triangles = triangles, def.triangleCount = TRIANGLES;
    testExpectOk(pnCreateMesh(&def, &mesh[i]));
    pose[i] = poseOf(mesh[i]);
    addMoving(&b, pose[i]);
  }
  begin(&b);
  for (int i = 0; i < 3; ++i) {
    for (uint32_t k = 0; k < 9 * TRIANGLES; ++k) vertices[k] = (float)testBelow(&random, 4) * 0.5f;
    testExpectOk(pnPose_SetVertices(pose[i], vertices, 3 * TRIANGLES));
  }
  size_t count = 0;
  const pnDeviceStep all = expectSame(&b, &count);
  assert_true(all.contactCount == 6 && all.uncertain > 10);
  pnFeatureImpact *impacts = malloc(count * sizeof *impacts);
  pnDeviceStepContact contacts[6];
  memcpy(impacts, pnDeviceWorld_GetImpacts(b.world), count * sizeof *impacts);
  memcpy(contacts, pnDeviceWorld_GetStepContacts(b.world), sizeof contacts);
  expectStaying(b.world, contacts, 6, impacts, count);
  const pnDeviceStep stay = pnDeviceWorld_CollideSwept(b.world, &(pnDeviceStepDef){.stay = true});
  testExpectOk(stay.result);
  assert_true(stay.impactCount == count && stay.contactCount == 0);
  expectStaying(b.world, contacts, 6, impacts, count);
  /* the earliest is in both places, or in one */
  for (int k = 0; k < 2; ++k) {
    const pnDeviceStepDef def = {.what = PN_SWEPT_EARLIEST, .stay = k == 0};
    const pnDeviceStep early = pnDeviceWorld_CollideSwept(b.world, &def);
    testExpectOk(early.result);
    assert_true(early.impactCount == 1 && early.earliest.hi == all.earliest.hi);
    if (k == 0) expectStaying(b.world, pnDeviceWorld_GetStepContacts(b.world), 1, pnDeviceWorld_GetImpacts(b.world), 1);
    else assert_int_equal(pnDeviceWorld_GetStepResults(b.world).count, 0);
  }
  free(impacts);
  freeBodies(&b);
  for (int i = 0; i < 3; ++i) pnDestroyPose(pose[i]), pnDestroyMesh(mesh[i]);
}

static void stepsThatMakeNoSense(void **state) {
  NEEDS_DEVICE;
  pnMesh *mesh = makeCloth(false);
  pnPose *pose = poseOf(mesh);
  pnDeviceWorld *world;
  testExpectOk(pnCreateDeviceWorld(s_device, &world));
  testExpectOk(pnDeviceWorld_BeginStep(world));
  const pnDeviceStep empty = pnDeviceWorld_CollideSwept(world, NULL);
  testExpectOk(empty.result);
  assert_true(empty.impactCount == 0 && empty.contactCount == 0);
  addPose(world, pose, true);
  testExpectFailure(pnDeviceWorld_CollideSwept(world, NULL).result, PN_ERROR_ARGUMENT, "no step was begun");
  testExpectOk(pnDeviceWorld_BeginStep(world));
  testExpectFailure(pnDeviceWorld_CollideSwept(world, &(pnDeviceStepDef){.what = PN_SWEPT_TRIANGLES}).result,
                    PN_ERROR_ARGUMENT, "nothing a step can be asked for");
  pnDestroyDeviceWorld(world);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bodiesWithThemselves), cmocka_unit_test(bodiesWithOneAnother),
      cmocka_unit_test(whatTheFilterLeaves),  cmocka_unit_test(impactsThatStayThere),
      cmocka_unit_test(stepsThatMakeNoSense),
  };
  return cmocka_run_group_tests(tests, openDevice, closeDevice);
}
