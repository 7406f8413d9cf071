/* test_device_faults.c: what goes wrong on a device. Functions of our own stand between the room and OpenCL (the table pn_cl) and
 * fail on purpose, lie, or count what is made and what is given back. Each call failing by itself is test_device_calls.c. */
#include "support_device.h"

#include "device/system.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- between the room and OpenCL */

static pnCl s_real;
static int64_t s_live;        /* objects made and not given back */
static int64_t s_buffersLeft; /* so many buffers can be made; then memory is out */
static int s_lie;             /* the read counted down to 0 brings one wrong bit */

static cl_mem makeBuffer(cl_context c, cl_bitfield f, size_t n, void *p, cl_int *error) {
  if (s_buffersLeft-- <= 0) {
    *error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return NULL;
  }
  cl_mem made = s_real.CreateBuffer(c, f, n, p, error);
  s_live += made != NULL;
  return made;
}

static cl_int dropBuffer(cl_mem m) {
  --s_live;
  return s_real.ReleaseMemObject(m);
}

static cl_kernel makeKernel(cl_program p, const char *name, cl_int *error) {
  cl_kernel made = s_real.CreateKernel(p, name, error);
  s_live += made != NULL;
  return made;
}

static cl_int dropKernel(cl_kernel k) {
  --s_live;
  return s_real.ReleaseKernel(k);
}

static cl_int startKernel(cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g, const size_t *l,
                          cl_uint n, const cl_event *w, cl_event *e) {
  cl_int error = s_real.EnqueueNDRangeKernel(q, k, d, o, g, l, n, w, e);
  s_live += error == CL_SUCCESS && e;
  return error;
}

static cl_int writeBuffer(cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t n, const void *p, cl_uint c,
                          const cl_event *w, cl_event *e) {
  cl_int error = s_real.EnqueueWriteBuffer(q, m, b, o, n, p, c, w, e);
  s_live += error == CL_SUCCESS && e;
  return error;
}

static cl_int readBuffer(cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t n, void *p, cl_uint c,
                         const cl_event *w, cl_event *e) {
  cl_int error = s_real.EnqueueReadBuffer(q, m, b, o, n, p, c, w, e);
  if (s_lie > 0 && --s_lie == 0) ((unsigned char *)p)[n / 2] ^= 1;
  return error;
}

static cl_int dropEvent(cl_event e) {
  --s_live;
  return s_real.ReleaseEvent(e);
}

static cl_int keepEvent(cl_event e) {
  ++s_live;
  return s_real.RetainEvent(e);
}

static cl_program makeProgram(cl_context c, cl_uint n, const char **t, const size_t *l, cl_int *error) {
  cl_program made = s_real.CreateProgramWithSource(c, n, t, l, error);
  s_live += made != NULL;
  return made;
}

static cl_program takeProgram(cl_context c, cl_uint n, const cl_device_id *d, const size_t *l, const unsigned char **b,
                              cl_int *status, cl_int *error) {
  cl_program made = s_real.CreateProgramWithBinary(c, n, d, l, b, status, error);
  s_live += made != NULL;
  return made;
}

static cl_int dropProgram(cl_program p) {
  --s_live;
  return s_real.ReleaseProgram(p);
}

static void behave(void) {
  s_buffersLeft = INT64_MAX;
  s_lie = 0;
}

static int standBetween(void **state) {
  if (openDevice(state) != 0) return -1;
  if (!s_device) return 0;
  s_real = pn_cl;
  pn_cl.CreateBuffer = makeBuffer;
  pn_cl.ReleaseMemObject = dropBuffer;
  pn_cl.CreateKernel = makeKernel;
  pn_cl.ReleaseKernel = dropKernel;
  pn_cl.EnqueueNDRangeKernel = startKernel;
  pn_cl.EnqueueWriteBuffer = writeBuffer;
  pn_cl.EnqueueReadBuffer = readBuffer;
  pn_cl.ReleaseEvent = dropEvent;
  pn_cl.RetainEvent = keepEvent;
  pn_cl.CreateProgramWithSource = makeProgram;
  pn_cl.CreateProgramWithBinary = takeProgram;
  pn_cl.ReleaseProgram = dropProgram;
  behave();
  return 0;
}

static int stepAside(void **state) {
  const bool balanced = s_live == 0;
  if (s_device) pn_cl = s_real;
  return closeDevice(state) == 0 && balanced ? 0 : -1;
}

/* ---------------------------------------------------------------- a small scene */

typedef struct Scene {
  pnMesh *mesh[2];
  pnPose *pose[2];
} Scene;

static Scene makeScene(void) {
  Scene s;
  testExpectOk(pnMakeKnot(2, 3, 1, 0.45f, 48, 10, &s.mesh[0]));
  testExpectOk(pnMakeIcosphere(2, 0.8f, &s.mesh[1]));
  for (int b = 0; b < 2; ++b) {
    pnPoseDef def = {s.mesh[b], NULL, NULL};
    testExpectOk(pnCreatePose(&def, &s.pose[b]));
  }
  return s;
}

static void freeScene(Scene *s) {
  for (int b = 0; b < 2; ++b) {
    pnDestroyPose(s->pose[b]);
    pnDestroyMesh(s->mesh[b]);
  }
}

static void moveScene(Scene *s, uint32_t frame) {
  pnMatrix m = pnMatrix_Identity();
  m.m[0][3] = 0.01f * (float)(frame % 40);
  testExpectOk(pnPose_SetTransform(s->pose[1], &m));
}

static pnDeviceWorld *makeWorld(pnDevice *device, const Scene *s) {
  pnDeviceWorld *world;
  testExpectOk(pnCreateDeviceWorld(device, &world));
  for (int b = 0; b < 2; ++b) addPose(world, s->pose[b], true);
  return world;
}

/* The pairs of the scene as it is now, from a world that nothing happens to. */
static pnPair *truthOf(const Scene *s, size_t *outCount) {
  pnDeviceWorld *world = makeWorld(s_device, s);
  pnDeviceFrame f = pnDeviceWorld_Collide(world, NULL);
  testExpectOk(f.result);
  pnPair *pairs = malloc(f.pairCount * sizeof(pnPair) + 1);
  memcpy(pairs, pnDeviceWorld_GetPairs(world), f.pairCount * sizeof(pnPair));
  *outCount = f.pairCount;
  assert_true(f.pairCount > 100);
  pnDestroyDeviceWorld(world);
  return pairs;
}

static void expectPairs(const pnDeviceWorld *world, const pnDeviceFrame *f, const pnPair *truth, size_t count) {
  testExpectOk(f->result);
  assert_int_equal(f->pairCount, count);
  assert_memory_equal(pnDeviceWorld_GetPairs(world), truth, count * sizeof(pnPair));
}

/* ---------------------------------------------------------------- lists too short */

static void shortListsGrow(void **state) {
  NEEDS_DEVICE;
  Scene s = makeScene();
  size_t count;
  pnPair *truth = truthOf(&s, &count);
  for (int list = -1; list < PN_LIST_COUNT; ++list) {
    pnDeviceWorld *world = makeWorld(s_device, &s);
    void *buffer;
    size_t offset;
    testExpectOk(pnDeviceWorld_GetVertexBuffer(world, 0, &buffer, &offset));
    /* one of them, or all, pretend to have room for one */
    for (int i = 0; i < PN_LIST_COUNT; ++i)
      if (list < 0 || i == list) world->capacity[i] = 1;
    pnDeviceFrame f = pnDeviceWorld_Collide(world, NULL);
    expectPairs(world, &f, truth, count);
    if (list == -1) assert_true(f.reruns >= 3);
    else if (list <= PN_LIST_CANDIDATES || list == PN_LIST_PAIRS) assert_int_equal(f.reruns, 1);
    /* and never again */
    f = pnDeviceWorld_Collide(world, NULL);
    expectPairs(world, &f, truth, count);
    assert_int_equal(f.reruns, 0);
    pnDestroyDeviceWorld(world);
  }
  free(truth);
  freeScene(&s);
}

/* ---------------------------------------------------------------- no memory */

static void memoryOfTheDeviceRunsOut(void **state) {
  NEEDS_DEVICE;
  Scene s = makeScene();
  size_t count;
  pnPair *truth = truthOf(&s, &count);
  const int64_t live = s_live;
  int64_t failures = 0;
  for (int64_t left = 0;; ++left) {
    pnDeviceWorld *world = makeWorld(s_device, &s);
    s_buffersLeft = left;
    pnDeviceFrame f = pnDeviceWorld_Collide(world, NULL);
    const bool failed = f.result != PN_OK;
    if (failed) testExpectFailure(f.result, PN_ERROR_MEMORY, "OpenCL|CreateBuffer");
    /* memory comes back, and the world goes on */
    behave();
    f = pnDeviceWorld_Collide(world, NULL);
    expectPairs(world, &f, truth, count);
    pnDestroyDeviceWorld(world);
    assert_int_equal(s_live, live);
    failures += failed;
    if (!failed) break;
  }
  assert_true(failures >= PN_BUFFER_BEGIN - 6); /* those behind are of steps */
  free(truth);
  freeScene(&s);
}

/* ---------------------------------------------------------------- steps and images */

/* What they find, to be compared. */
typedef struct Findings {
  size_t impacts;
  double volume, shared;
  uint64_t inside;
} Findings;

/* A step, an image and its questions, a shared volume; the first failure. */
static pnResult stepAndLook(pnDeviceWorld *world, Scene *s, Findings *out) {
  pnDeviceLdi *ldi = NULL;
  pnDeviceOverlap *overlap = NULL;
  pnDeviceLdiDef ldiDef = pnDefaultDeviceLdiDef();
  pnDeviceOverlapDef overlapDef = pnDefaultDeviceOverlapDef();
  ldiDef.world = overlapDef.world = world, ldiDef.body = overlapDef.bodyA = 1;
  ldiDef.resolution = overlapDef.resolution = 24;
  moveScene(s, 0);
  pnResult result = pnDeviceWorld_BeginStep(world);
  moveScene(s, 20);
  if (result == PN_OK) {
    const pnDeviceStep step = pnDeviceWorld_CollideSwept(world, NULL);
    result = step.result;
    out->impacts = step.impactCount;
  }
  if (result == PN_OK) result = pnCreateDeviceLdi(&ldiDef, &ldi);
  if (result == PN_OK) result = pnDeviceLdi_Update(ldi);
  if (result == PN_OK) {
    pnVolumeResult volume;
    result = pnDeviceLdi_Measure(ldi, &volume);
    out->volume = volume.volume;
  }
  if (result == PN_OK) {
    const float points[6] = {0, 0, 0, 9, 9, 9};
    uint8_t inside[2];
    pnInsideResult answer;
    result = pnDeviceLdi_TestPoints(ldi, points, 2, inside, &answer);
    out->inside = answer.insideCount;
  }
  if (result == PN_OK) result = pnCreateDeviceOverlap(&overlapDef, &overlap);
  if (result == PN_OK) {
    pnOverlapResult shared;
    result = pnDeviceOverlap_Measure(overlap, &shared);
    out->shared = shared.volume;
  }
  pnDestroyDeviceOverlap(overlap);
  pnDestroyDeviceLdi(ldi);
  return result;
}

static bool isSame(const Findings *a, const Findings *b) {
  return a->impacts == b->impacts && a->volume == b->volume && a->shared == b->shared && a->inside == b->inside;
}

static void memoryRunsOutOfStepsAndImages(void **state) {
  NEEDS_DEVICE;
  Scene s = makeScene();
  const int64_t live = s_live;
  Findings truth = {0};
  int64_t failures = 0;
  for (int64_t left = -1;; ++left) {
    Findings found = {0};
    pnDeviceWorld *world = makeWorld(s_device, &s);
    void *buffer;
    size_t offset;
    testExpectOk(pnDeviceWorld_GetVertexBuffer(world, 0, &buffer, &offset));
    if (left >= 0) s_buffersLeft = left;
    const pnResult result = stepAndLook(world, &s, &found);
    if (result != PN_OK) testExpectFailure(result, PN_ERROR_MEMORY, "OpenCL|CreateBuffer");
    behave();
    if (left < 0) truth = found;
    if (result != PN_OK) testExpectOk(stepAndLook(world, &s, &found));
    assert_true(isSame(&found, &truth));
    pnDestroyDeviceWorld(world);
    if (left < 0) s_live = live; /* programs that were compiled for this stay with the device, like its others */
    assert_int_equal(s_live, live);
    failures += result != PN_OK;
    if (left >= 0 && result == PN_OK) break;
  }
  assert_true(truth.impacts > 0 && truth.volume > 0 && truth.shared > 0 && truth.inside == 1);
  assert_true(failures >= PN_BUFFER_COUNT - PN_BUFFER_BEGIN + 20);
  freeScene(&s);
}

/* Lists of steps and images pretend to have room for one. */
static void shortListsOfStepsAndImagesGrow(void **state) {
  NEEDS_DEVICE;
  Scene s = makeScene();
  Findings truth = {0}, found = {0};
  for (int round = 0; round < 2; ++round) {
    pnDeviceWorld *world = makeWorld(s_device, &s);
    void *buffer;
    size_t offset;
    testExpectOk(pnDeviceWorld_GetVertexBuffer(world, 0, &buffer, &offset));
    for (int i = 0; i < PN_LIST_COUNT && round == 1; ++i) world->capacity[i] = 1;
    testExpectOk(stepAndLook(world, &s, round == 0 ? &truth : &found));
    pnDestroyDeviceWorld(world);
  }
  assert_true(isSame(&truth, &found) && truth.impacts > 0);
  freeScene(&s);
}

/* A device of its own for each try: the failing allocator wants to begin with nothing. */
static pnResult openAndCollide(void *context) {
  const Scene *s = context;
  pnDevice *device = NULL;
  pnDeviceWorld *world = NULL;
  pnDeviceDef def = pnDefaultDeviceDef();
  pnPose *pose = NULL;
  pnMesh *mesh = NULL;
  (void)s;
  pnResult result = pnMakeIcosphere(1, 1, &mesh);
  pnPoseDef poseDef = {mesh, NULL, NULL};
  if (result == PN_OK) result = pnCreatePose(&poseDef, &pose);
  if (result == PN_OK) result = pnCreateDevice(&def, &device);
  if (result == PN_OK) result = pnCreateDeviceWorld(device, &world);
  for (int i = 0; i < 2 && result == PN_OK; ++i) {
    pnDeviceBodyDef bodyDef = pnDefaultDeviceBodyDef();
    uint32_t body;
    bodyDef.pose = pose, bodyDef.self = true, bodyDef.selfFilter.ring = 2;
    result = pnDeviceWorld_AddBody(world, &bodyDef, &body);
  }
  if (result == PN_OK) result = pnDeviceWorld_Collide(world, NULL).result;
  Scene scene = {{mesh, mesh}, {pose, pose}};
  Findings found;
  if (result == PN_OK) result = stepAndLook(world, &scene, &found);
  pnDestroyDeviceWorld(world);
  pnDestroyDevice(device);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
  return result;
}

static void memoryOfTheHostRunsOut(void **state) {
  NEEDS_DEVICE;
  pnDestroyDevice(s_device);
  s_device = NULL;
  const int64_t live = s_live;
  /* a kept program that cannot be read for lack of memory is compiled: that is no failure */
  assert_true(testEveryAllocationFailure(openAndCollide, NULL, true, true) > 10);
  assert_int_equal(s_live, live);
  testExpectOk(pnCreateDevice(NULL, &s_device));
  s_live = 0; /* the new one's programs are given back after the count */
}

/* ---------------------------------------------------------------- a device that is wrong */

/* A device whose answers differ from the processor's by one bit is not opened. */
static void deviceDisagrees(void **state) {
  NEEDS_DEVICE;
  pnDevice *device;
  s_lie = 1;
  testExpectFailure(pnCreateDevice(NULL, &device), PN_ERROR_UNSUPPORTED, "not exact|case");
  s_lie = 2;
  testExpectFailure(pnCreateDevice(NULL, &device), PN_ERROR_UNSUPPORTED, "rounds otherwise");
  assert_null(device);
  behave();
  /* nor does it take steps; frames it may */
  Scene s = makeScene();
  for (int program = 1; program <= 2; ++program) {
    const int64_t live = s_live;
    testExpectOk(pnCreateDevice(NULL, &device));
    pnDeviceWorld *world = makeWorld(device, &s);
    testExpectOk(pnDeviceWorld_Collide(world, NULL).result);
    s_lie = 1;
    if (program == 1) {
      testExpectFailure(pnDeviceWorld_BeginStep(world), PN_ERROR_UNSUPPORTED, "filter|test of steps");
      testExpectFailure(pnDeviceWorld_CollideSwept(world, NULL).result, PN_ERROR_ARGUMENT, "no step was begun");
    } else {
      testExpectFailure(pn_testSteps(device, true), PN_ERROR_UNSUPPORTED, "its time|test of steps");
    }
    behave();
    testExpectOk(pn_testSteps(device, true));
    testExpectOk(pnDeviceWorld_BeginStep(world));
    pnDestroyDeviceWorld(world);
    pnDestroyDevice(device);
    assert_int_equal(s_live, live);
  }
  freeScene(&s);
}

/* ---------------------------------------------------------------- kept programs */

/* One bit of every file at this place turned over; -1: cut off. */
static void damage(const char *folder, long place) {
  DIR *entries = opendir(folder);
  assert_non_null(entries);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    char path[512];
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (place < 0) assert_int_equal(truncate(path, 90), 0);
    FILE *file = place < 0 ? NULL : fopen(path, "r+b");
    if (file) {
      assert_int_equal(fseek(file, place, SEEK_SET), 0);
      const int byte = fgetc(file);
      assert_int_equal(fseek(file, place, SEEK_SET), 0);
      assert_true(byte != EOF && fputc(byte ^ 1, file) != EOF);
      fclose(file);
    }
    ++count;
  }
  closedir(entries);
  assert_int_equal(count, PN_PROGRAMS_AT_ONCE);
}

static uint32_t openFrom(const char *folder) {
  pnDeviceDef def = pnDefaultDeviceDef();
  pnDevice *device;
  uint32_t kept;
  def.cacheFolder = folder;
  testExpectOk(pnCreateDevice(&def, &device));
  assert_true(pnDevice_GetBuildSeconds(device, &kept) >= 0);
  pnDestroyDevice(device);
  return kept;
}

static void programsAreKept(void **state) {
  NEEDS_DEVICE;
  char base[] = "pinch_cache_XXXXXX", folder[64], command[128];
  assert_non_null(mkdtemp(base));
  snprintf(folder, sizeof folder, "%s/deep/er", base);
  assert_int_equal(openFrom(folder), 0);
  assert_int_equal(openFrom(folder), PN_PROGRAMS_AT_ONCE);
  /* the key, the size, the binary, and one that ends too soon */
  static const long places[4] = {9, 25, 100, -1};
  for (int i = 0; i < 4; ++i) {
    damage(folder, places[i]);
    assert_int_equal(openFrom(folder), 0);
    assert_int_equal(openFrom(folder), PN_PROGRAMS_AT_ONCE);
  }
  assert_int_equal(openFrom(""), 0);
  /* a folder that cannot be is no reason to fail */
  assert_int_equal(openFrom("/dev/null/pinch"), 0);
  snprintf(command, sizeof command, "rm -r '%s'", base);
  assert_int_equal(system(command), 0);
}

/* ---------------------------------------------------------------- many */

/* Two worlds on one device take turns, one of them begun while the other is not finished, for many frames: same pairs, and
 * nothing grows. */
static void worldsTakeTurns(void **state) {
  NEEDS_DEVICE;
  enum { FRAMES = 120 };
  Scene s[2] = {makeScene(), makeScene()};
  pnDeviceWorld *world[2] = {makeWorld(s_device, &s[0]), makeWorld(s_device, &s[1])};
  size_t counts[40] = {0}, bytes = 0, deviceBytes = 0;
  int64_t live = 0;
  for (uint32_t frame = 0; frame < FRAMES; ++frame) {
    for (int w = 0; w < 2; ++w) {
      moveScene(&s[w], frame + (w ? 7 : 0));
      testExpectOk(pnDeviceWorld_Begin(world[w], NULL));
    }
    for (int w = 0; w < 2; ++w) {
      pnDeviceFrame f = pnDeviceWorld_Finish(world[w]);
      testExpectOk(f.result);
      testExpectOk(pnDeviceWorld_Download(world[w]));
      size_t *count = &counts[(frame + (w ? 7 : 0)) % 40];
      assert_true(*count == 0 || *count == f.pairCount);
      *count = f.pairCount;
    }
    if (frame == FRAMES / 2) {
      bytes = pnGetByteCount();
      deviceBytes = pnDeviceWorld_GetByteCount(world[0]);
      live = s_live;
    }
  }
  assert_true(counts[0] > 0 && counts[39] > 0);
  assert_int_equal(pnGetByteCount(), bytes);
  assert_int_equal(pnDeviceWorld_GetByteCount(world[0]), deviceBytes);
  assert_int_equal(s_live, live);
  for (int w = 0; w < 2; ++w) {
    pnDestroyDeviceWorld(world[w]);
    freeScene(&s[w]);
  }
}

/* Bodies that come later lay the world out anew; a frame that was begun and never finished is let go. */
static void bodiesComeLater(void **state) {
  NEEDS_DEVICE;
  Scene s = makeScene();
  size_t count;
  pnPair *truth = truthOf(&s, &count);
  pnDeviceWorld *world;
  testExpectOk(pnCreateDeviceWorld(s_device, &world));
  addPose(world, s.pose[0], true);
  testExpectOk(pnDeviceWorld_Begin(world, NULL));
  addPose(world, s.pose[1], true);
  pnDeviceFrame f = pnDeviceWorld_Collide(world, NULL);
  expectPairs(world, &f, truth, count);
  testExpectOk(pnDeviceWorld_Begin(world, NULL));
  pnDestroyDeviceWorld(world);
  free(truth);
  freeScene(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shortListsGrow),
      cmocka_unit_test(memoryOfTheDeviceRunsOut),
      cmocka_unit_test(deviceDisagrees),
      cmocka_unit_test(programsAreKept),
      cmocka_unit_test(worldsTakeTurns),
      cmocka_unit_test(bodiesComeLater),
      cmocka_unit_test(memoryRunsOutOfStepsAndImages),
      cmocka_unit_test(shortListsOfStepsAndImagesGrow),
      cmocka_unit_test(memoryOfTheHostRunsOut),
  };
  return cmocka_run_group_tests(tests, standBetween, stepAside);
}
