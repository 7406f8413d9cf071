/* test_device_bodies.c: every kind of body, filter and question on a device. Vertices that the device makes of weights and joints
 * have the bits of the pose; pairs are those of the processor. */
#include "support_device_pairs.h"
#include "support_morph.h"
#include "support_skin.h"

#include <math.h>
#include <string.h>

/* The vertices of a body on the device are the pose's, bit for bit. */
static void expectVertices(pnDeviceWorld *world, uint32_t body, const pnPose *pose) {
  const size_t bytes = 3 * sizeof(float) * pnMesh_GetVertexCount(pnPose_GetMesh(pose));
  float *mine = malloc(bytes), *theirs = malloc(bytes);
  void *buffer;
  size_t offset;
  pnPose_GetVertices(pose, mine);
  testExpectOk(pnDeviceWorld_GetVertexBuffer(world, body, &buffer, &offset));
  assert_int_equal(
      pn_cl.EnqueueReadBuffer(pnDevice_GetQueue(s_device), buffer, 1, offset, bytes, theirs, 0, NULL, NULL),
      CL_SUCCESS);
  assert_memory_equal(mine, theirs, bytes);
  free(mine);
  free(theirs);
}

/* ---------------------------------------------------------------- motions */

static void morphsHaveTheSameBits(void **state) {
  NEEDS_DEVICE;
  TestRandom random = testRandom(5);
  size_t pairs = 0;
  for (int kind = 0; kind < MORPH_KIND_COUNT; ++kind) {
    MorphBody body[2] = {morphMake((MorphKind)kind, 2, 1, 3), morphMake((MorphKind)kind, 2, 0.8f, 4)};
    pnDeviceWorld *world;
    testExpectOk(pnCreateDeviceWorld(s_device, &world));
    for (int b = 0; b < 2; ++b) addPose(world, body[b].pose, true);
    for (int frame = 0; frame < 3; ++frame) {
      for (int b = 0; b < 2; ++b) morphPose(&body[b], &random);
      if (frame == 1) {
        pnMatrix m = testRotation(&random, 0.3f);
        testExpectOk(pnPose_SetTransform(body[1].pose, &m));
      }
      pnDeviceFrame f = collide(world, NULL);
      for (uint32_t b = 0; b < 2; ++b) {
        expectVertices(world, b, body[b].pose);
        pairs += expectContact(world, f.contactCount, b, b, pairsOf(body[b].pose, NULL, NULL));
      }
      pairs += expectContact(world, f.contactCount, 0, 1, pairsOf(body[0].pose, body[1].pose, NULL));
    }
    pnDestroyDeviceWorld(world);
    for (int b = 0; b < 2; ++b) morphFree(&body[b]);
  }
  assert_true(pairs > 0);
}

static void skinsHaveTheSameBits(void **state) {
  NEEDS_DEVICE;
  TestRandom random = testRandom(6);
  size_t pairs = 0;
  for (int kind = 0; kind < SKIN_KIND_COUNT; ++kind) {
    for (int morphs = 0; morphs < 3; ++morphs) {
      SkinBody body = skinMake((SkinKind)kind, 2, 1, morphs, 7);
      /* a second pose of the same skin shares its tables on the device */
      pnPoseDef def = {body.mesh, body.morph, body.skin};
      pnPose *other;
      testExpectOk(pnCreatePose(&def, &other));
      pnDeviceWorld *world;
      testExpectOk(pnCreateDeviceWorld(s_device, &world));
      addPose(world, body.pose, true);
      addPose(world, other, false);
      for (int frame = 0; frame < 2; ++frame) {
        skinPose(&body, &random, frame, 0.4f);
        if (frame == 1) {
          pnMatrix m = testRotation(&random, 0.2f);
          testExpectOk(pnPose_SetTransform(other, &m));
        }
        pnDeviceFrame f = collide(world, NULL);
        expectVertices(world, 0, body.pose);
        expectVertices(world, 1, other);
        pairs += expectContact(world, f.contactCount, 0, 0, pairsOf(body.pose, NULL, NULL));
        pairs += expectContact(world, f.contactCount, 0, 1, pairsOf(body.pose, other, NULL));
      }
      pnDestroyDeviceWorld(world);
      pnDestroyPose(other);
      skinFree(&body);
    }
  }
  assert_true(pairs > 0);
}

/* Free, rigid and static bodies, turning into one another: a transform comes and goes, vertices are set in between. */
static void freeBodiesMayGetATransform(void **state) {
  NEEDS_DEVICE;
  TestRandom random = testRandom(8);
  pnMesh *mesh;
  pnPose *pose[2];
  pnDeviceWorld *world;
  testExpectOk(pnMakeKnot(2, 3, 1, 0.3f, 64, 12, &mesh));
  testExpectOk(pnCreateDeviceWorld(s_device, &world));
  for (int b = 0; b < 2; ++b) {
    pnPoseDef def = {mesh, NULL, NULL};
    testExpectOk(pnCreatePose(&def, &pose[b]));
    addPose(world, pose[b], true);
  }
  const uint32_t n = pnMesh_GetVertexCount(mesh);
  float *vertices = malloc(3 * sizeof(float) * n);
  for (int frame = 0; frame < 8; ++frame) {
    pnMatrix m = frame % 3 == 2 ? pnMatrix_Identity() : testRotation(&random, 0.5f);
    if (frame % 2 == 0) testExpectOk(pnPose_SetTransform(pose[0], &m));
    if (frame % 4 == 3) {
      for (uint32_t i = 0; i < 3 * n; ++i) vertices[i] = pnMesh_GetVertices(mesh)[i] * testFloat(&random, 0.99f, 1.01f);
      testExpectOk(pnPose_SetVertices(pose[0], vertices, n));
    }
    pnDeviceFrame f = collide(world, NULL);
    expectVertices(world, 0, pose[0]);
    expectContact(world, f.contactCount, 0, 0, pairsOf(pose[0], NULL, NULL));
    expectContact(world, f.contactCount, 0, 1, pairsOf(pose[0], pose[1], NULL));
  }
  free(vertices);
  pnDestroyDeviceWorld(world);
  for (int b = 0; b < 2; ++b) pnDestroyPose(pose[b]);
  pnDestroyMesh(mesh);
}

/* ---------------------------------------------------------------- filters */

/* A cloth that lies in folds: a grid with a wave through it, whose rest pose meets itself too. `seam`: as an unwelded soup of
 * quads, welded by place. */
static pnMesh *makeFolds(bool seam) {
  pnMesh *grid, *mesh;
  testExpectOk(pnMakeGrid(2, 2, 24, 24, &grid));
  const uint32_t n = pnMesh_GetVertexCount(grid), t = pnMesh_GetTriangleCount(grid);
  float *vertices = malloc(9 * sizeof(float) * t);
  uint32_t *triangles = malloc(3 * sizeof(uint32_t) * t);
  memcpy(triangles, pnMesh_GetTriangles(grid), 3 * sizeof(uint32_t) * t);
  for (uint32_t v = 0; v < n; ++v) {
    const float *p = pnMesh_GetVertices(grid) + 3 * (size_t)v;
    vertices[3 * v] = p[0] * 0.4f + 0.3f * sinf(9 * p[0]);
    vertices[3 * v + 1] = p[1];
    vertices[3 * v + 2] = 0.2f * cosf(9 * p[0]) + 0.05f * sinf(7 * p[1]);
  }
  uint32_t count = n;
  if (seam) {
    float *apart = malloc(9 * sizeof(float) * t);
    for (uint32_t k = 0; k < 3 * t; ++k) {
      memcpy(apart + 3 * (size_t)k, vertices + 3 * (size_t)triangles[k], 3 * sizeof(float));
      triangles[k] = k;
    }
    free(vertices);
    vertices = apart;
    count = 3 * t;
  }
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices, def.vertexCount = count, def.triangles = triangles, def.triangleCount = t;
  testExpectOk(pnCreateMesh(&def, &mesh));
  free(vertices);
  free(triangles);
  pnDestroyMesh(grid);
  return mesh;
}

static void crumple(pnPose *pose, TestRandom *random) {
  const pnMesh *mesh = pnPose_GetMesh(pose);
  const uint32_t n = pnMesh_GetVertexCount(mesh);
  float *vertices = malloc(3 * sizeof(float) * n);
  for (uint32_t i = 0; i < 3 * n; ++i) vertices[i] = pnMesh_GetVertices(mesh)[i] + testFloat(random, -0.04f, 0.04f);
  /* vertices of one place stay at one place, but for a few */
  for (uint32_t v = 0; v < n; ++v) {
    const uint32_t w = pnMesh_GetWeld(mesh)[v];
    if (w != v && testBelow(random, 50) != 0) memcpy(vertices + 3 * (size_t)v, vertices + 3 * (size_t)w, 12);
  }
  testExpectOk(pnPose_SetVertices(pose, vertices, n));
  free(vertices);
}

static void filtersLeaveOutTheSamePairs(void **state) {
  NEEDS_DEVICE;
  TestRandom random = testRandom(9);
  for (int seam = 0; seam < 2; ++seam) {
    pnMesh *mesh = makeFolds(seam == 1);
    pnPoseDef poseDef = {mesh, NULL, NULL};
    pnPose *pose;
    testExpectOk(pnCreatePose(&poseDef, &pose));
    uint32_t *groups = malloc(sizeof(uint32_t) * pnMesh_GetTriangleCount(mesh));
    for (uint32_t t = 0; t < pnMesh_GetTriangleCount(mesh); ++t) groups[t] = testBelow(&random, 3);
    const pnSelfFilter filters[] = {{0},         {.ring = 1},  {.ring = 2},        {.ring = 3},
                                    {.ring = 4}, {0, true, 0}, {0, false, groups}, {2, true, groups}};
    size_t counts[8];
    crumple(pose, &random);
    for (int i = 0; i < 8; ++i) {
      pnDeviceWorld *world;
      uint32_t body;
      testExpectOk(pnCreateDeviceWorld(s_device, &world));
      pnDeviceBodyDef def = pnDefaultDeviceBodyDef();
      def.pose = pose, def.self = true, def.selfFilter = filters[i];
      testExpectOk(pnDeviceWorld_AddBody(world, &def, &body));
      pnDeviceFrame f = collide(world, NULL);
      counts[i] = expectContact(world, f.contactCount, 0, 0, pairsOf(pose, NULL, &filters[i]));
      pnDestroyDeviceWorld(world);
    }
    /* each filter does leave something out, or the comparison says nothing */
    for (int i = 1; i < 8; ++i) assert_true(counts[i] < counts[0]);
    assert_true(counts[4] > 0 && counts[7] > 0);
    free(groups);
    pnDestroyPose(pose);
    pnDestroyMesh(mesh);
  }
}

/* A fan around one vertex has too many neighbours for a list: they come as candidates. */
static void fansNeedNoList(void **state) {
  NEEDS_DEVICE;
  enum { N = 400 };
  static float vertices[3 * (2 * N + 1)];
  static uint32_t triangles[3 * N];
  TestRandom random = testRandom(10);
  for (int i = 0; i < 3 * (2 * N + 1); ++i) vertices[i] = i < 3 ? 0 : testFloat(&random, -1, 1);
  for (uint32_t t = 0; t < N; ++t)
    triangles[3 * t] = 0, triangles[3 * t + 1] = 2 * t + 1, triangles[3 * t + 2] = 2 * t + 2;
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices, def.vertexCount = 2 * N + 1, def.triangles = triangles, def.triangleCount = N;
  pnMesh *mesh;
  pnPose *pose;
  testExpectOk(pnCreateMesh(&def, &mesh));
  pnPoseDef poseDef = {mesh, NULL, NULL};
  testExpectOk(pnCreatePose(&poseDef, &pose));
  for (uint32_t ring = 0; ring < 2; ++ring) {
    pnDeviceWorld *world;
    uint32_t body;
    const pnSelfFilter filter = {.ring = ring};
    testExpectOk(pnCreateDeviceWorld(s_device, &world));
    pnDeviceBodyDef bodyDef = pnDefaultDeviceBodyDef();
    bodyDef.pose = pose, bodyDef.self = true, bodyDef.selfFilter = filter;
    testExpectOk(pnDeviceWorld_AddBody(world, &bodyDef, &body));
    pnDeviceFrame f = collide(world, NULL);
    assert_false(world->nearOnList);
    size_t count = expectContact(world, f.contactCount, 0, 0, pairsOf(pose, NULL, &filter));
    assert_true(ring == 0 ? count > 0 : count == 0);
    pnDestroyDeviceWorld(world);
  }
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
}

/* Fans that lie flat but for a sliver, which turns back by less than floats can tell: all in one plane, where what turns back
 * does meet its neighbours. Coordinates of different sizes, so that their differences are rounded. */
static void flatFansAreProvedRightly(void **state) {
  NEEDS_DEVICE;
  enum { FANS = 3000, RING = 6 };
  TestRandom random = testRandom(14);
  float *vertices = malloc(sizeof(float) * 3 * FANS * (RING + 1));
  uint32_t *triangles = malloc(sizeof(uint32_t) * 3 * FANS * RING);
  for (uint32_t f = 0; f < FANS; ++f) {
    const uint32_t first = f * (RING + 1);
    const float cx = testFloat(&random, -1, 1) * 1e-3f, cy = testFloat(&random, -1, 1) * 1e-3f;
    float *o = vertices + 3 * (size_t)first;
    o[0] = cx, o[1] = cy, o[2] = (float)f;
    for (uint32_t i = 0; i < RING; ++i) {
      const float angle = 0.7f + 6.2831853f * (float)i / RING, radius = testFloat(&random, 0.5f, 1.5f);
      float *p = o + 3 * (i + 1);
      p[0] = cx + radius * cosf(angle), p[1] = cy + radius * sinf(angle), p[2] = (float)f;
    }
    /* the second comes next to the line from the middle through the first, a few roundings beside it */
    const float scale = testFloat(&random, 0.3f, 3.0f);
    o[6] = cx + scale * (o[3] - cx), o[7] = cy + scale * (o[4] - cy);
    for (uint32_t k = testBelow(&random, 4); k > 0; --k) o[7] = nextafterf(o[7], testBelow(&random, 2) ? 9.0f : -9.0f);
    for (uint32_t i = 0; i < RING; ++i) {
      uint32_t *t = triangles + 3 * (size_t)(f * RING + i);
      t[0] = first, t[1] = first + 1 + i, t[2] = first + 1 + (i + 1) % RING;
    }
  }
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices, def.vertexCount = FANS * (RING + 1), def.triangles = triangles;
  def.triangleCount = FANS * RING;
  pnMesh *mesh;
  pnPose *pose;
  pnDeviceWorld *world;
  testExpectOk(pnCreateMesh(&def, &mesh));
  pnPoseDef poseDef = {mesh, NULL, NULL};
  testExpectOk(pnCreatePose(&poseDef, &pose));
  testExpectOk(pnCreateDeviceWorld(s_device, &world));
  addPose(world, pose, true);
  const pnDeviceFrame f = collide(world, NULL);
  assert_true(expectContact(world, f.contactCount, 0, 0, pairsOf(pose, NULL, NULL)) > FANS / 8);
  /* most are proved, or the proof is for nothing */
  assert_int_equal(world->fanCount, FANS);
  pnDestroyDeviceWorld(world);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
  free(vertices), free(triangles);
}

/* ---------------------------------------------------------------- questions */

/* Counting, unsorted, without self; then everything again, so that one question does not spoil the next. */
static void questionsOfOneWorld(void **state) {
  NEEDS_DEVICE;
  TestRandom random = testRandom(12);
  pnMesh *mesh = makeFolds(false);
  pnPoseDef poseDef = {mesh, NULL, NULL};
  pnPose *pose;
  pnDeviceWorld *world;
  testExpectOk(pnCreatePose(&poseDef, &pose));
  crumple(pose, &random);
  testExpectOk(pnCreateDeviceWorld(s_device, &world));
  addPose(world, pose, true);
  pnPairList *truth = pairsOf(pose, NULL, NULL);
  const size_t count = pnPairList_GetCount(truth);
  assert_true(count > 10);
  for (int round = 0; round < 2; ++round) {
    assert_int_equal(collide(world, &(pnDeviceFrameDef){.countOnly = true}).pairCount, count);
    assert_int_equal(collide(world, &(pnDeviceFrameDef){.noSelf = true}).pairCount, 0);
    assert_int_equal(collide(world, &(pnDeviceFrameDef){.first = true}).pairCount, 1);
    pnDeviceFrame f = collide(world, &(pnDeviceFrameDef){.unsorted = true});
    assert_int_equal(f.pairCount, count);
    pnPair *pairs = malloc(count * sizeof(pnPair));
    memcpy(pairs, pnDeviceWorld_GetPairs(world), count * sizeof(pnPair));
    qsort(pairs, count, sizeof(pnPair), testComparePairs);
    assert_memory_equal(pairs, pnPairList_GetPairs(truth), count * sizeof(pnPair));
    free(pairs);
    f = collide(world, NULL);
    assert_int_equal(f.contactCount, 1);
    assert_memory_equal(pnDeviceWorld_GetPairs(world), pnPairList_GetPairs(truth), count * sizeof(pnPair));
  }
  pnDestroyPairList(truth);
  pnDestroyDeviceWorld(world);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
}

/* Vertices that are on the device already, in the caller's context and queue; pairs that stay there, with an event. */
static void nothingHasToTravel(void **state) {
  NEEDS_DEVICE;
  cl_int error;
  cl_context context = pnDevice_GetContext(s_device);
  cl_command_queue queue = pn_cl.CreateCommandQueue(context, s_device->id, 0, &error);
  assert_non_null(queue);
  pnDeviceDef def = pnDefaultDeviceDef();
  def.queue = queue;
  pnDevice *mine;
  testExpectOk(pnCreateDevice(&def, &mine));
  assert_ptr_equal(pnDevice_GetQueue(mine), queue);
  assert_ptr_equal(pnDevice_GetContext(mine), context);

  TestRandom random = testRandom(13);
  pnMesh *mesh = makeFolds(false);
  pnPoseDef poseDef = {mesh, NULL, NULL};
  pnPose *pose;
  pnDeviceWorld *world;
  uint32_t body;
  testExpectOk(pnCreatePose(&poseDef, &pose));
  crumple(pose, &random);
  const uint32_t n = pnMesh_GetVertexCount(mesh);
  float *vertices = malloc(3 * sizeof(float) * n);
  pnPose_GetVertices(pose, vertices);
  testExpectOk(pnCreateDeviceWorld(mine, &world));
  pnDeviceBodyDef bodyDef = pnDefaultDeviceBodyDef();
  bodyDef.pose = pose, bodyDef.self = true, bodyDef.onDevice = true;
  testExpectOk(pnDeviceWorld_AddBody(world, &bodyDef, &body));

  /* the caller's buffer, filled by the caller's queue, and copied by ours */
  cl_mem buffer = pn_cl.CreateBuffer(context, CL_MEM_READ_WRITE, 3 * sizeof(float) * n + 16, NULL, &error);
  cl_event event;
  assert_int_equal(pn_cl.EnqueueWriteBuffer(queue, buffer, 0, 16, 3 * sizeof(float) * n, vertices, 0, NULL, &event), 0);
  testExpectOk(pnDeviceWorld_CopyVertices(world, body, buffer, 16));
  void *const waits[] = {event};
  testExpectOk(pnDeviceWorld_Begin(world, &(pnDeviceFrameDef){.waitCount = 1, .waits = waits}));
  pnDeviceResults results = pnDeviceWorld_GetResults(world);
  cl_event done = results.event;
  assert_int_equal(pn_cl.WaitForEvents(1, &done), CL_SUCCESS);
  pnPairList *truth = pairsOf(pose, NULL, NULL);
  const size_t count = pnPairList_GetCount(truth);
  uint32_t head[2];
  pnPair *pairs = malloc(count * sizeof(pnPair));
  assert_int_equal(pn_cl.EnqueueReadBuffer(queue, results.head, 1, 0, sizeof head, head, 0, NULL, NULL), CL_SUCCESS);
  assert_int_equal(head[0], count);
  assert_int_equal(head[1], 0);
  assert_int_equal(pn_cl.EnqueueReadBuffer(queue, results.pairs, 1, 0, count * sizeof(pnPair), pairs, 0, NULL, NULL),
                   0);
  assert_memory_equal(pairs, pnPairList_GetPairs(truth), count * sizeof(pnPair));
  assert_int_equal(pnDeviceWorld_Finish(world).pairCount, count);

  /* a number that is none is found there, and named */
  vertices[3 * 7 + 1] = NAN;
  assert_int_equal(pn_cl.EnqueueWriteBuffer(queue, buffer, 1, 16, 3 * sizeof(float) * n, vertices, 0, NULL, NULL), 0);
  testExpectOk(pnDeviceWorld_CopyVertices(world, body, buffer, 16));
  testExpectFailure(pnDeviceWorld_Collide(world, NULL).result, PN_ERROR_NUMBER, "body 0|coordinate y of vertex 7");

  pn_cl.ReleaseEvent(event);
  pn_cl.ReleaseMemObject(buffer);
  free(pairs);
  free(vertices);
  pnDestroyPairList(truth);
  pnDestroyDeviceWorld(world);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
  pnDestroyDevice(mine);
  pn_cl.ReleaseCommandQueue(queue);
}

static void callsThatMakeNoSense(void **state) {
  NEEDS_DEVICE;
  pnDeviceWorld *world;
  pnMesh *mesh;
  pnPose *pose;
  pnSoup *soup;
  uint32_t body;
  void *buffer;
  size_t offset;
  testExpectOk(pnMakeIcosphere(1, 1, &mesh));
  pnPoseDef poseDef = {mesh, NULL, NULL};
  testExpectOk(pnCreatePose(&poseDef, &pose));
  testExpectOk(pnCreateSoup(NULL, &soup));
  const float corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, corners, 1, NULL));
  testExpectOk(pnCreateDeviceWorld(s_device, &world));
  /* a world of nothing */
  pnDeviceFrame empty = collide(world, NULL);
  assert_true(empty.pairCount == 0 && empty.contactCount == 0);
  pnDeviceBodyDef def = pnDefaultDeviceBodyDef();
  testExpectFailure(pnDeviceWorld_AddBody(world, &def, &body), PN_ERROR_ARGUMENT, "no pose");
  testExpectFailure(pnDeviceWorld_AddBody(world, &(pnDeviceBodyDef){.pose = pose}, &body), PN_ERROR_ARGUMENT,
                    "pnDefaultDeviceBodyDef()");
  def.pose = pnSoup_GetPose(soup);
  testExpectFailure(pnDeviceWorld_AddBody(world, &def, &body), PN_ERROR_KIND, "soup");
  def.pose = pose;
  def.selfFilter.ring = 9;
  testExpectFailure(pnDeviceWorld_AddBody(world, &def, &body), PN_ERROR_ARGUMENT, "ring");
  addPose(world, pose, false);
  testExpectFailure(pnDeviceWorld_GetVertexBuffer(world, 1, &buffer, &offset), PN_ERROR_INDEX, "no body 1");
  testExpectFailure(pnDeviceWorld_CopyVertices(world, 0, NULL, 0), PN_ERROR_KIND, "pose");
  testExpectFailure(pnDeviceWorld_Finish(world).result, PN_ERROR_ARGUMENT, "begun");
  testExpectFailure(pnDeviceWorld_Download(world), PN_ERROR_ARGUMENT, "finished");
  pnDevice *none;
  pnDeviceDef deviceDef = pnDefaultDeviceDef();
  deviceDef.index = 1000;
  testExpectFailure(pnCreateDevice(&deviceDef, &none), PN_ERROR_ARGUMENT, "no device 1000");
  testExpectFailure(pnCreateDevice(&(pnDeviceDef){.index = PN_NONE}, &none), PN_ERROR_ARGUMENT, "pnDefaultDeviceDef()");
  pnDestroyDeviceWorld(world);
  pnDestroySoup(soup);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(morphsHaveTheSameBits),
      cmocka_unit_test(skinsHaveTheSameBits),
      cmocka_unit_test(freeBodiesMayGetATransform),
      cmocka_unit_test(filtersLeaveOutTheSamePairs),
      cmocka_unit_test(fansNeedNoList),
      cmocka_unit_test(flatFansAreProvedRightly),
      cmocka_unit_test(questionsOfOneWorld),
      cmocka_unit_test(nothingHasToTravel),
      cmocka_unit_test(callsThatMakeNoSense),
  };
  return cmocka_run_group_tests(tests, openDevice, closeDevice);
}
