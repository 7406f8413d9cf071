/* test_device_volume.c: layered depth images on a device. Layers are compared with the processor's bit for bit, cell by cell;
 * points and volumes with its answers. */
#include "support_device.h"
#include "support_morph.h"
#include "support_skin.h"

#include "volume/ldi.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- both */

typedef struct Pair {
  pnDeviceWorld *world;
  pnLdi *cpu;
  pnDeviceLdi *gpu;
} Pair;

static Pair makePair(const pnPose *pose, uint32_t resolution, pnInsideRule rule, const pnBox *window, bool onDevice) {
  Pair pair;
  pnDeviceBodyDef body = pnDefaultDeviceBodyDef();
  pnLdiDef cpu = pnDefaultLdiDef();
  pnDeviceLdiDef gpu = pnDefaultDeviceLdiDef();
  testExpectOk(pnCreateDeviceWorld(s_device, &pair.world));
  body.pose = pose, body.onDevice = onDevice;
  testExpectOk(pnDeviceWorld_AddBody(pair.world, &body, &gpu.body));
  gpu.world = pair.world;
  cpu.pose = pose, cpu.bounds = false;
  cpu.resolution = gpu.resolution = resolution;
  cpu.rule = gpu.rule = rule;
  if (window) cpu.window = gpu.window = *window;
  testExpectOk(pnCreateLdi(&cpu, &pair.cpu));
  testExpectOk(pnCreateDeviceLdi(&gpu, &pair.gpu));
  return pair;
}

static void freePair(Pair *pair) {
  pnDestroyDeviceLdi(pair->gpu);
  pnDestroyLdi(pair->cpu);
  pnDestroyDeviceWorld(pair->world);
}

static uint32_t *fetch(void *buffer, size_t count) {
  uint32_t *out = malloc(count * sizeof *out + 4);
  assert_int_equal(
      pn_cl.EnqueueReadBuffer(pnDevice_GetQueue(s_device), buffer, 1, 0, count * sizeof *out, out, 0, NULL, NULL),
      CL_SUCCESS);
  return out;
}

/* Every key of every cell. */
static void expectSameLayers(const Pair *pair) {
  const pnLdiInfo x = pnLdi_GetInfo(pair->cpu), y = pnDeviceLdi_GetInfo(pair->gpu);
  assert_int_equal(x.resolution, y.resolution);
  assert_int_equal(x.axis, y.axis);
  assert_memory_equal(&x.window, &y.window, sizeof x.window);
  assert_true(x.pixel[0] == y.pixel[0] && x.pixel[1] == y.pixel[1] && x.depthStep == y.depthStep && x.snap == y.snap);
  assert_int_equal(x.layerCount, y.layerCount);
  assert_int_equal(x.maxLayers, y.maxLayers);
  assert_int_equal(x.oddPixelCount, y.oddPixelCount);
  assert_int_equal(y.backend, PN_BACKEND_OPENCL);
  const pnDeviceImage image = pnDeviceLdi_GetImage(pair->gpu);
  const size_t cells = (size_t)x.resolution * x.resolution;
  uint32_t *counts = fetch(image.counts, cells), *starts = fetch(image.starts, cells);
  uint32_t *keys = fetch(image.keys, (size_t)x.layerCount);
  const pnLayers *layers = &pair->cpu->image.layers;
  for (uint32_t c = 0; c < cells; ++c) {
    const pnBand *band = &layers->bands[c / x.resolution / PN_BAND_ROWS];
    const uint32_t at = c % (PN_BAND_ROWS * x.resolution), n = band->offsets[at + 1] - band->offsets[at];
    assert_int_equal(n, counts[c]);
    if (n > 0) assert_memory_equal(band->keys + band->offsets[at], keys + starts[c], n * sizeof *keys);
  }
  free(counts), free(starts), free(keys);
}

static void expectSameAnswers(const Pair *pair, TestRandom *random) {
  enum { POINTS = 500 };
  float points[3 * POINTS];
  uint8_t x[POINTS], y[POINTS];
  pnInsideResult a, b;
  pnVolumeResult v, w;
  const pnBox box = pnLdi_GetInfo(pair->cpu).window;
  for (int i = 0; i < POINTS; ++i) {
    points[3 * i] = testFloat(random, box.min.x - 0.1f, box.max.x + 0.1f);
    points[3 * i + 1] = testFloat(random, box.min.y - 0.1f, box.max.y + 0.1f);
    points[3 * i + 2] = testFloat(random, box.min.z - 0.1f, box.max.z + 0.1f);
  }
  testExpectOk(pnLdi_TestPoints(pair->cpu, points, POINTS, x, &a));
  testExpectOk(pnDeviceLdi_TestPoints(pair->gpu, points, POINTS, y, &b));
  assert_memory_equal(x, y, sizeof x);
  assert_true(a.insideCount == b.insideCount && a.error == b.error);
  testExpectOk(pnLdi_Measure(pair->cpu, &v));
  testExpectOk(pnDeviceLdi_Measure(pair->gpu, &w));
  v.time = w.time = 0;
  assert_memory_equal(&v, &w, sizeof v);
}

static void update(const Pair *pair) {
  testExpectOk(pnLdi_Update(pair->cpu));
  testExpectOk(pnDeviceLdi_Update(pair->gpu));
}

static pnPose *poseOf(const pnMesh *mesh) {
  pnPoseDef def = {mesh, NULL, NULL};
  pnPose *pose;
  testExpectOk(pnCreatePose(&def, &pose));
  return pose;
}

/* ---------------------------------------------------------------- one body */

/* Triangles of all sizes: below a cell, a few cells, rows, all of the image, far beyond the window. */
static void layersHaveTheSameBits(void **state) {
  NEEDS_DEVICE;
  static const uint32_t resolutions[] = {16, 100, 128, 300};
  const pnBox far = {{0.3f, 0.2f, 0.1f}, {0.3002f, 0.2003f, 0.1004f}}, part = {{-0.2f, -0.3f, -1}, {0.9f, 0.4f, 0.4f}};
  TestRandom random = testRandom(31);
  for (int m = 0; m < 4; ++m) {
    pnMesh *mesh;
    if (m == 0) testExpectOk(pnMakeIcosphere(1, 4, &mesh));
    else if (m == 1) testExpectOk(pnMakeKnot(2, 3, 1, 0.3f, 96, 16, &mesh));
    else if (m == 2) testExpectOk(pnMakeBox((pnVec3){1, 0.7f, 0.9f}, 1, &mesh));
    else testExpectOk(pnMakeIcosphere(1, 1, &mesh));
    for (int r = 0; r < 4; ++r)
      for (int w = 0; w < 3; ++w) {
        pnPose *pose = poseOf(mesh);
        Pair pair = makePair(pose, resolutions[r], w == 1 ? PN_INSIDE_PARITY : PN_INSIDE_WINDING,
                             w == 1   ? &part
                             : w == 2 ? &far
                                      : NULL,
                             false);
        for (int turn = 0; turn < 2; ++turn) {
          const pnMatrix at = testRotation(&random, 0.3f);
          if (turn == 1) testExpectOk(pnPose_SetTransform(pose, &at));
          update(&pair);
          expectSameLayers(&pair);
          expectSameAnswers(&pair, &random);
        }
        assert_true(w == 2 || pnLdi_GetInfo(pair.cpu).layerCount > 0);
        freePair(&pair);
        pnDestroyPose(pose);
      }
    pnDestroyMesh(mesh);
  }
}

/* Cells with hundreds of layers: a deep stack of boxes, seen from above. And lists that begin too short. */
static void deepCellsAreSorted(void **state) {
  NEEDS_DEVICE;
  enum { BOXES = 150 };
  pnMesh *box;
  testExpectOk(pnMakeBox((pnVec3){1, 1, 0.001f}, 1, &box));
  const uint32_t n = pnMesh_GetVertexCount(box), t = pnMesh_GetTriangleCount(box);
  float *vertices = malloc(sizeof(float) * 3 * n * BOXES);
  uint32_t *triangles = malloc(sizeof(uint32_t) * 3 * t * BOXES);
  for (uint32_t b = 0; b < BOXES; ++b) {
    for (uint32_t v = 0; v < n; ++v) {
      memcpy(vertices + 3 * (b * n + v), pnMesh_GetVertices(box) + 3 * v, 12);
      vertices[3 * (b * n + v) + 2] += (float)(b * 77 % BOXES) * 0.005f;
    }
    for (uint32_t k = 0; k < 3 * t; ++k) triangles[3 * b * t + k] = pnMesh_GetTriangles(box)[k] + b * n;
  }
  pnMeshDef def = pnDefaultMeshDef();
  pnMesh *mesh;
  def.vertices = vertices, def.vertexCount = n * BOXES, def.triangles = triangles, def.triangleCount = t * BOXES;
  testExpectOk(pnCreateMesh(&def, &mesh));
  pnPose *pose = poseOf(mesh);
  TestRandom random = testRandom(32);
  Pair pair = makePair(pose, 64, PN_INSIDE_WINDING, NULL, false);
  update(&pair);
  assert_int_equal(pnLdi_GetInfo(pair.cpu).maxLayers, 2 * BOXES);
  expectSameLayers(&pair);
  expectSameAnswers(&pair, &random);
  pnLayer layers[2 * BOXES], mine[2 * BOXES];
  uint32_t count;
  testExpectOk(pnDeviceLdi_GetLayers(pair.gpu, 20, 30, layers, 2 * BOXES, &count));
  assert_int_equal(count, pnLdi_GetLayers(pair.cpu, 20, 30, mine, 2 * BOXES));
  for (uint32_t i = 0; i < count; ++i)
    assert_true(layers[i].depth == mine[i].depth && layers[i].entry == mine[i].entry);
  freePair(&pair);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
  pnDestroyMesh(box);
  free(vertices), free(triangles);
}

/* Bodies that the device moves itself, welded seams that came apart, open ones by parity, and vertices that are there. */
static void everyKindOfBody(void **state) {
  NEEDS_DEVICE;
  TestRandom random = testRandom(33);
  SkinBody skin = skinMake((SkinKind)0, 2, 1, 1, 7);
  MorphBody morph = morphMake((MorphKind)0, 2, 1, 3);
  pnMesh *grid;
  testExpectOk(pnMakeGrid(2, 2, 24, 24, &grid));
  pnPose *flat = poseOf(grid);
  const pnPose *poses[] = {skin.pose, morph.pose, flat};
  for (int k = 0; k < 3; ++k) {
    Pair pair = makePair(poses[k], 96, PN_INSIDE_PARITY, NULL, false);
    for (int frame = 0; frame < 2; ++frame) {
      skinPose(&skin, &random, (uint32_t)frame, 0.4f);
      morphPose(&morph, &random);
      const pnMatrix m = testRotation(&random, 0.2f);
      testExpectOk(pnPose_SetTransform(flat, &m));
      update(&pair);
      assert_false(pnDeviceLdi_GetInfo(pair.gpu).reused);
      expectSameLayers(&pair);
      expectSameAnswers(&pair, &random);
    }
    update(&pair);
    assert_true(pnDeviceLdi_GetInfo(pair.gpu).reused);
    expectSameLayers(&pair);
    freePair(&pair);
  }
  pnDestroyPose(flat);
  pnDestroyMesh(grid);
  morphFree(&morph);
  skinFree(&skin);
}

/* Nothing travels: vertices from a buffer, points in one, answers in another. */
static void pointsThatStayThere(void **state) {
  NEEDS_DEVICE;
  enum { POINTS = 1000 };
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(1, 3, &mesh));
  pnPose *pose = poseOf(mesh);
  Pair pair = makePair(pose, 64, PN_INSIDE_WINDING, NULL, true);
  TestRandom random = testRandom(34);
  float points[3 * POINTS + 1];
  uint8_t expected[POINTS], found[POINTS];
  cl_command_queue queue = pnDevice_GetQueue(s_device);
  cl_int error;
  void *vertices, *event;
  size_t offset;
  for (int i = 0; i < 3 * POINTS + 1; ++i) points[i] = testFloat(&random, -1.1f, 1.1f);
  testExpectOk(pnDeviceWorld_GetVertexBuffer(pair.world, 0, &vertices, &offset));
  assert_int_equal(pn_cl.EnqueueWriteBuffer(queue, vertices, 1, offset, 12 * (size_t)pnMesh_GetVertexCount(mesh),
                                            pnMesh_GetVertices(mesh), 0, NULL, NULL),
                   0);
  update(&pair);
  expectSameLayers(&pair);
  cl_mem in = pn_cl.CreateBuffer(pnDevice_GetContext(s_device), CL_MEM_READ_WRITE, sizeof points, NULL, &error);
  cl_mem out = pn_cl.CreateBuffer(pnDevice_GetContext(s_device), CL_MEM_READ_WRITE, POINTS, NULL, &error);
  assert_int_equal(pn_cl.EnqueueWriteBuffer(queue, in, 1, 0, sizeof points, points, 0, NULL, NULL), 0);
  testExpectOk(pnDeviceLdi_TestBuffer(pair.gpu, in, 4, POINTS, out, &event));
  cl_event done = event;
  assert_int_equal(pn_cl.WaitForEvents(1, &done), 0);
  assert_int_equal(pn_cl.EnqueueReadBuffer(queue, out, 1, 0, POINTS, found, 0, NULL, NULL), 0);
  pnInsideResult result;
  testExpectOk(pnLdi_TestPoints(pair.cpu, points + 1, POINTS, expected, &result));
  assert_memory_equal(found, expected, POINTS);
  assert_true(result.insideCount > 100);
  testExpectFailure(pnDeviceLdi_TestBuffer(pair.gpu, in, 2, POINTS, out, NULL), PN_ERROR_ARGUMENT, "multiple of 4");
  pn_cl.ReleaseEvent(done);
  pn_cl.ReleaseMemObject(in);
  pn_cl.ReleaseMemObject(out);
  freePair(&pair);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
}

/* ---------------------------------------------------------------- two bodies */

static void expectSameOverlap(pnOverlap *cpu, pnDeviceOverlap *gpu, double *outVolume) {
  pnOverlapResult x, y;
  testExpectOk(pnOverlap_Measure(cpu, &x));
  testExpectOk(pnDeviceOverlap_Measure(gpu, &y));
  assert_int_equal(y.backend, PN_BACKEND_OPENCL);
  x.backend = y.backend;
  x.prepareTime = x.layerTime = x.boundTime = x.measureTime = 0;
  y.prepareTime = y.layerTime = y.boundTime = y.measureTime = 0;
  assert_memory_equal(&x, &y, sizeof x);
  *outVolume += x.volume;
}

/* Bodies that pass through one another, one inside the other, apart; with a window, steady, by parity. */
static void sharedVolumesAreTheSame(void **state) {
  NEEDS_DEVICE;
  TestRandom random = testRandom(35);
  pnMesh *mesh[3];
  testExpectOk(pnMakeKnot(2, 3, 1, 0.3f, 64, 12, &mesh[0]));
  testExpectOk(pnMakeIcosphere(0.8f, 3, &mesh[1]));
  testExpectOk(pnMakeIcosphere(0.2f, 2, &mesh[2]));
  double volume = 0;
  for (int kind = 0; kind < 4; ++kind) {
    pnPose *pose[2] = {poseOf(mesh[kind == 3 ? 2 : 0]), poseOf(mesh[1])};
    pnDeviceWorld *world;
    testExpectOk(pnCreateDeviceWorld(s_device, &world));
    pnOverlapDef x = pnDefaultOverlapDef();
    pnDeviceOverlapDef y = pnDefaultDeviceOverlapDef();
    y.world = world;
    y.bodyA = addPose(world, pose[0], false), y.bodyB = addPose(world, pose[1], false);
    x.poseA = pose[0], x.poseB = pose[1], x.bounds = false;
    x.resolution = y.resolution = 80;
    if (kind == 1) x.window = y.window = (pnBox){{-0.5f, -0.5f, -0.4f}, {0.6f, 0.7f, 0.5f}};
    if (kind == 2) x.steady = y.steady = true, x.rule = y.rule = PN_INSIDE_PARITY;
    pnOverlap *cpu;
    pnDeviceOverlap *gpu;
    testExpectOk(pnCreateOverlap(&x, &cpu));
    testExpectOk(pnCreateDeviceOverlap(&y, &gpu));
    for (int frame = 0; frame < 6; ++frame) {
      pnMatrix m = testRotation(&random, 0.5f);
      if (frame == 4) m.m[0][3] += 9; /* apart */
      /* the small one begins inside the other */
      if (kind != 3 || frame > 1) testExpectOk(pnPose_SetTransform(pose[0], &m));
      if (frame == 5) testExpectOk(pnPose_SetTransform(pose[1], &m));
      expectSameOverlap(cpu, gpu, &volume);
    }
    expectSameOverlap(cpu, gpu, &volume);
    pnDestroyDeviceOverlap(gpu);
    pnDestroyOverlap(cpu);
    pnDestroyDeviceWorld(world);
    for (int i = 0; i < 2; ++i) pnDestroyPose(pose[i]);
  }
  assert_true(volume > 0.5);
  for (int i = 0; i < 3; ++i) pnDestroyMesh(mesh[i]);
}

/* ---------------------------------------------------------------- refusals */

static void imagesThatMakeNoSense(void **state) {
  NEEDS_DEVICE;
  pnMesh *grid, *ball;
  testExpectOk(pnMakeGrid(1, 1, 4, 4, &grid));
  testExpectOk(pnMakeIcosphere(1, 1, &ball));
  pnPose *open = poseOf(grid), *closed = poseOf(ball);
  pnDeviceWorld *world;
  pnDeviceLdi *ldi;
  pnDeviceOverlap *overlap;
  testExpectOk(pnCreateDeviceWorld(s_device, &world));
  pnDeviceLdiDef def = pnDefaultDeviceLdiDef();
  def.world = world, def.body = addPose(world, open, false);
  testExpectFailure(pnCreateDeviceLdi(&def, &ldi), PN_ERROR_OPEN_MESH, "not closed");
  def.body = 7;
  testExpectFailure(pnCreateDeviceLdi(&def, &ldi), PN_ERROR_INDEX, "no body 7");
  def.body = addPose(world, closed, false), def.resolution = 5;
  testExpectFailure(pnCreateDeviceLdi(&def, &ldi), PN_ERROR_ARGUMENT, "resolution of 5");
  def.resolution = 32;
  const pnDeviceLdiDef zeroed = {.world = world, .body = def.body, .resolution = 32};
  testExpectFailure(pnCreateDeviceLdi(&zeroed, &ldi), PN_ERROR_ARGUMENT, "pnDeviceLdiDef");
  testExpectOk(pnCreateDeviceLdi(&def, &ldi));
  pnVolumeResult volume;
  testExpectFailure(pnDeviceLdi_Measure(ldi, &volume), PN_ERROR_ARGUMENT, "Update");
  testExpectOk(pnDeviceLdi_Update(ldi));
  const float points[6] = {0, 0, 0, 0, NAN, 0};
  uint8_t inside[2];
  pnInsideResult result;
  testExpectFailure(pnDeviceLdi_TestPoints(ldi, points, 2, inside, &result), PN_ERROR_NUMBER, "point 1");
  assert_true(inside[0] == 1 && inside[1] == 0);
  pnDeviceOverlapDef two = pnDefaultDeviceOverlapDef();
  two.world = world, two.bodyA = def.body, two.bodyB = 9;
  testExpectFailure(pnCreateDeviceOverlap(&two, &overlap), PN_ERROR_INDEX, "no body 9");
  two.cookie = 0;
  testExpectFailure(pnCreateDeviceOverlap(&two, &overlap), PN_ERROR_ARGUMENT, "pnDeviceOverlapDef");
  pnDestroyDeviceLdi(ldi);
  pnDestroyDeviceWorld(world);
  pnDestroyPose(open), pnDestroyPose(closed);
  pnDestroyMesh(grid), pnDestroyMesh(ball);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layersHaveTheSameBits),   cmocka_unit_test(deepCellsAreSorted),
      cmocka_unit_test(everyKindOfBody),         cmocka_unit_test(pointsThatStayThere),
      cmocka_unit_test(sharedVolumesAreTheSame), cmocka_unit_test(imagesThatMakeNoSense),
  };
  return cmocka_run_group_tests(tests, openDevice, closeDevice);
}
