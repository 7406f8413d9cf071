/* test_device_calls.c: every call of OpenCL that can fail, fails once, at every place of a scene that uses the whole room: frames with
 * filters, limits and first pairs, steps, images, volumes. First the memory is out for that one call: the answer is
 * PN_ERROR_MEMORY, or the call was not needed; and the same world finds everything when it is asked again. Then the
 * device is gone from that call on: PN_ERROR_DEVICE, and only destroying is left. Nothing leaks either way. */
#include "support_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- between the room and OpenCL */

static pnCl s_real;
static int64_t s_live;         /* objects made and not given back */
static uint32_t s_calls, s_at; /* calls made, and the one that fails; 0: none */
static cl_int s_error;         /* with what */
static bool s_forever;         /* and all after it */
static const char *s_failed;   /* which it was */

/* Copies from the processor's memory that were put into the queue, and those that are known to have arrived: all before the last
 * call that waited. What has not arrived is still being read. */
enum { EVENTS = 256 };
static uint64_t s_sent, s_arrived;
static struct {
  cl_event event;
  uint64_t sent; /* copies before it */
} s_events[EVENTS];
static uint32_t s_nextEvent;

static void arrive(cl_int error) {
  if (error == CL_SUCCESS) s_arrived = s_sent;
}

static void noteEvent(cl_int error, const cl_event *e) {
  if (error != CL_SUCCESS || !e) return;
  s_events[s_nextEvent].event = *e;
  s_events[s_nextEvent].sent = s_sent;
  s_nextEvent = (s_nextEvent + 1) % EVENTS;
}

static bool fails(const char *name) {
  ++s_calls;
  if (s_at == 0 || s_calls < s_at || (s_calls > s_at && !s_forever)) return false;
  if (s_calls == s_at) s_failed = name;
  return true;
}

/* Calls that make an object. */
#define MAKES(result, name, parameters, arguments)   \
  static result make##name parameters {              \
    if (fails(#name)) return *error = s_error, NULL; \
    result made = s_real.name arguments;             \
    s_live += made != NULL;                          \
    return made;                                     \
  }
/* Calls that do something, and may make an event. */
#define DOES(name, parameters, arguments) \
  static cl_int do##name parameters {     \
    if (fails(#name)) return s_error;     \
    cl_int error = s_real.name arguments; \
    s_live += error == CL_SUCCESS && e;   \
    noteEvent(error, e);                  \
    return error;                         \
  }
/* Calls that give an object back never fail. */
#define DROPS(name, type)                 \
  static cl_int drop##name(type object) { \
    --s_live;                             \
    return s_real.name(object);           \
  }

MAKES(cl_mem, CreateBuffer, (cl_context c, cl_bitfield f, size_t n, void *p, cl_int *error), (c, f, n, p, error))
MAKES(cl_kernel, CreateKernel, (cl_program p, const char *name, cl_int *error), (p, name, error))
MAKES(cl_program, CreateProgramWithSource, (cl_context c, cl_uint n, const char **t, const size_t *l, cl_int *error),
      (c, n, t, l, error))
MAKES(cl_program, CreateProgramWithBinary,
      (cl_context c, cl_uint n, const cl_device_id *d, const size_t *l, const unsigned char **b, cl_int *status,
       cl_int *error),
      (c, n, d, l, b, status, error))
MAKES(cl_context, CreateContext,
      (const intptr_t *p, cl_uint n, const cl_device_id *d, void (*f)(const char *, const void *, size_t, void *),
       void *u, cl_int *error),
      (p, n, d, f, u, error))
MAKES(cl_command_queue, CreateCommandQueue, (cl_context c, cl_device_id d, cl_bitfield f, cl_int *error),
      (c, d, f, error))
DOES(EnqueueNDRangeKernel,
     (cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g, const size_t *l, cl_uint n,
      const cl_event *w, cl_event *e),
     (q, k, d, o, g, l, n, w, e))
DOES(EnqueueReadBuffer,
     (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t n, void *p, cl_uint c, const cl_event *w, cl_event *e),
     (q, m, b, o, n, p, c, w, e))
DOES(EnqueueCopyBuffer,
     (cl_command_queue q, cl_mem a, cl_mem b, size_t o, size_t p, size_t n, cl_uint c, const cl_event *w, cl_event *e),
     (q, a, b, o, p, n, c, w, e))
DOES(EnqueueFillBuffer,
     (cl_command_queue q, cl_mem m, const void *p, size_t s, size_t o, size_t n, cl_uint c, const cl_event *w,
      cl_event *e),
     (q, m, p, s, o, n, c, w, e))
DOES(EnqueueBarrierWithWaitList, (cl_command_queue q, cl_uint n, const cl_event *w, cl_event *e), (q, n, w, e))
DROPS(ReleaseMemObject, cl_mem)
DROPS(ReleaseKernel, cl_kernel)
DROPS(ReleaseProgram, cl_program)
DROPS(ReleaseEvent, cl_event)
DROPS(ReleaseContext, cl_context)
DROPS(ReleaseCommandQueue, cl_command_queue)

static cl_int doSetKernelArg(cl_kernel k, cl_uint i, size_t n, const void *p) {
  return fails("SetKernelArg") ? s_error : s_real.SetKernelArg(k, i, n, p);
}

static cl_int doBuildProgram(cl_program p, cl_uint n, const cl_device_id *d, const char *o,
                             void (*f)(cl_program, void *), void *u) {
  return fails("BuildProgram") ? s_error : s_real.BuildProgram(p, n, d, o, f, u);
}

static void *doMapBuffer(cl_command_queue q, cl_mem m, cl_bool b, cl_bitfield f, size_t o, size_t n, cl_uint c,
                         const cl_event *w, cl_event *e, cl_int *error) {
  if (fails("EnqueueMapBuffer")) return *error = s_error, NULL;
  return s_real.EnqueueMapBuffer(q, m, b, f, o, n, c, w, e, error);
}

static cl_int doEnqueueWriteBuffer(cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t n, const void *p,
                                   cl_uint c, const cl_event *w, cl_event *e) {
  if (fails("EnqueueWriteBuffer")) return s_error;
  cl_int error = s_real.EnqueueWriteBuffer(q, m, b, o, n, p, c, w, e);
  s_live += error == CL_SUCCESS && e;
  s_sent += error == CL_SUCCESS;
  if (b) arrive(error);
  noteEvent(error, e);
  return error;
}

static cl_int doWaitingRead(cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t n, void *p, cl_uint c,
                            const cl_event *w, cl_event *e) {
  cl_int error = doEnqueueReadBuffer(q, m, b, o, n, p, c, w, e);
  if (b) arrive(error);
  return error;
}

static cl_int doFinish(cl_command_queue q) {
  cl_int error = s_real.Finish(q);
  arrive(error);
  return error;
}

static cl_int doWaitForEvents(cl_uint n, const cl_event *w) {
  if (fails("WaitForEvents")) return s_error;
  cl_int error = s_real.WaitForEvents(n, w);
  for (uint32_t i = 0; i < EVENTS && error == CL_SUCCESS; ++i)
    if (s_events[i].event == w[0] && s_events[i].sent > s_arrived) s_arrived = s_events[i].sent;
  return error;
}

static cl_int doFlush(cl_command_queue q) {
  return fails("Flush") ? s_error : s_real.Flush(q);
}

static cl_int doRetainEvent(cl_event e) {
  if (fails("RetainEvent")) return s_error;
  ++s_live;
  return s_real.RetainEvent(e);
}

static int standBetween(void **state) {
  if (openDevice(state) != 0) return -1;
  if (!s_device) return 0;
  s_real = pn_cl;
  pn_cl.CreateBuffer = makeCreateBuffer;
  pn_cl.CreateKernel = makeCreateKernel;
  pn_cl.CreateProgramWithSource = makeCreateProgramWithSource;
  pn_cl.CreateProgramWithBinary = makeCreateProgramWithBinary;
  pn_cl.CreateContext = makeCreateContext;
  pn_cl.CreateCommandQueue = makeCreateCommandQueue;
  pn_cl.EnqueueNDRangeKernel = doEnqueueNDRangeKernel;
  pn_cl.EnqueueWriteBuffer = doEnqueueWriteBuffer;
  pn_cl.EnqueueReadBuffer = doWaitingRead;
  pn_cl.Finish = doFinish;
  pn_cl.EnqueueCopyBuffer = doEnqueueCopyBuffer;
  pn_cl.EnqueueFillBuffer = doEnqueueFillBuffer;
  pn_cl.EnqueueBarrierWithWaitList = doEnqueueBarrierWithWaitList;
  pn_cl.EnqueueMapBuffer = doMapBuffer;
  pn_cl.SetKernelArg = doSetKernelArg;
  pn_cl.BuildProgram = doBuildProgram;
  pn_cl.WaitForEvents = doWaitForEvents;
  pn_cl.Flush = doFlush;
  pn_cl.RetainEvent = doRetainEvent;
  pn_cl.ReleaseMemObject = dropReleaseMemObject;
  pn_cl.ReleaseKernel = dropReleaseKernel;
  pn_cl.ReleaseProgram = dropReleaseProgram;
  pn_cl.ReleaseEvent = dropReleaseEvent;
  pn_cl.ReleaseContext = dropReleaseContext;
  pn_cl.ReleaseCommandQueue = dropReleaseCommandQueue;
  return 0;
}

static int stepAside(void **state) {
  if (s_device) pn_cl = s_real;
  return closeDevice(state);
}

/* ---------------------------------------------------------------- everything the room does */

/* A knot that meets itself and a ball in it; and two boxes on a coarse grid, whose faces slide in one plane: whole numbers decide. */
enum { BODIES = 4 };

typedef struct Scene {
  pnMesh *mesh[BODIES];
  pnPose *pose[BODIES];
  pnDeviceWorld *world;
} Scene;

/* What was found, to be compared. */
typedef struct Findings {
  size_t pairs, some, firsts, impacts, uncertain, staying;
  double earliest, volume, shared;
  uint64_t inside;
} Findings;

static void move(const Scene *s, float by) {
  pnMatrix m = pnMatrix_Identity();
  m.m[0][3] = by;
  testExpectOk(pnPose_SetTransform(s->pose[1], &m));
  testExpectOk(pnPose_SetTransform(s->pose[3], &m));
}

static pnResult makeWorld(Scene *s, pnDevice *device) {
  pnResult result = pnCreateDeviceWorld(device, &s->world);
  for (int b = 0; b < BODIES && result == PN_OK; ++b) {
    pnDeviceBodyDef def = pnDefaultDeviceBodyDef();
    uint32_t body;
    def.pose = s->pose[b], def.self = b == 0;
    def.selfFilter.ring = 2;
    result = pnDeviceWorld_AddBody(s->world, &def, &body);
  }
  return result;
}

/* Whoever has the answer of a call, good or bad, may change or free what the device copied for it. */
static void expectSettled(void) {
  assert_int_equal(s_arrived, s_sent);
}

static pnResult frames(const Scene *s, Findings *out) {
  move(s, 0);
  pnDeviceFrame f = pnDeviceWorld_Collide(s->world, NULL);
  out->pairs = f.pairCount;
  if (f.result != PN_OK) return f.result;
  move(s, 0.25f);
  f = pnDeviceWorld_Collide(s->world, &(pnDeviceFrameDef){.maxPairs = 20});
  out->some = f.pairCount;
  if (f.result != PN_OK) return f.result;
  f = pnDeviceWorld_Collide(s->world, &(pnDeviceFrameDef){.first = true, .noSelf = true});
  out->firsts = f.pairCount;
  return f.result;
}

static pnResult steps(const Scene *s, Findings *out) {
  move(s, 0);
  pnResult result = pnDeviceWorld_BeginStep(s->world);
  expectSettled();
  if (result != PN_OK) return result;
  move(s, 0.25f);
  pnDeviceStep step = pnDeviceWorld_CollideSwept(s->world, NULL);
  out->impacts = step.impactCount;
  out->uncertain = step.uncertain;
  if (step.result == PN_OK) {
    step = pnDeviceWorld_CollideSwept(s->world, &(pnDeviceStepDef){.stay = true, .what = PN_SWEPT_EARLIEST});
    out->earliest = step.earliest.hi;
    out->staying = pnDeviceWorld_GetStepResults(s->world).count;
  }
  return step.result;
}

static pnResult images(const Scene *s, Findings *out) {
  pnDeviceLdi *ldi = NULL;
  pnDeviceOverlap *overlap = NULL;
  pnDeviceLdiDef ldiDef = pnDefaultDeviceLdiDef();
  pnDeviceOverlapDef overlapDef = pnDefaultDeviceOverlapDef();
  ldiDef.world = overlapDef.world = s->world, ldiDef.body = overlapDef.bodyA = 1;
  ldiDef.resolution = overlapDef.resolution = 16;
  pnResult result = pnCreateDeviceLdi(&ldiDef, &ldi);
  if (result == PN_OK) result = pnDeviceLdi_Update(ldi);
  pnVolumeResult volume = {0};
  if (result == PN_OK) result = pnDeviceLdi_Measure(ldi, &volume);
  out->volume = volume.volume;
  const float points[6] = {0.1f, 0, 0, 9, 9, 9};
  uint8_t inside[2];
  pnInsideResult answer = {0};
  if (result == PN_OK) result = pnDeviceLdi_TestPoints(ldi, points, 2, inside, &answer);
  out->inside = answer.insideCount;
  if (result == PN_OK) result = pnCreateDeviceOverlap(&overlapDef, &overlap);
  pnOverlapResult shared = {0};
  if (result == PN_OK) result = pnDeviceOverlap_Measure(overlap, &shared);
  out->shared = shared.volume;
  pnDestroyDeviceOverlap(overlap);
  pnDestroyDeviceLdi(ldi);
  return result;
}

typedef pnResult Part(const Scene *s, Findings *out);
static Part *const s_parts[3] = {frames, steps, images};

static Scene makeScene(void) {
  Scene s = {0};
  testExpectOk(pnMakeKnot(2, 3, 1, 0.45f, 24, 6, &s.mesh[0]));
  testExpectOk(pnMakeIcosphere(1, 0.8f, &s.mesh[1]));
  for (int b = 2; b < BODIES; ++b) testExpectOk(pnMakeBox((pnVec3){0.5f, 0.5f, 0.5f}, 1, &s.mesh[b]));
  for (int b = 0; b < BODIES; ++b) {
    pnPoseDef def = {s.mesh[b], NULL, NULL};
    testExpectOk(pnCreatePose(&def, &s.pose[b]));
  }
  return s;
}

static void freeScene(Scene *s) {
  for (int b = 0; b < BODIES; ++b) {
    pnDestroyPose(s->pose[b]);
    pnDestroyMesh(s->mesh[b]);
  }
}

/* ---------------------------------------------------------------- every call */

static void behave(void) {
  s_at = 0;
  s_forever = false;
}

/* Without another move the world is where its poses are, wherever it was interrupted: as one that has just been made. */
static void expectFresh(const Scene *s) {
  Scene fresh = *s;
  fresh.world = NULL;
  testExpectOk(makeWorld(&fresh, s_device));
  const pnDeviceFrame mine = pnDeviceWorld_Collide(s->world, NULL), other = pnDeviceWorld_Collide(fresh.world, NULL);
  testExpectOk(mine.result);
  testExpectOk(other.result);
  assert_int_equal(mine.pairCount, other.pairCount);
  assert_memory_equal(pnDeviceWorld_GetPairs(s->world), pnDeviceWorld_GetPairs(fresh.world),
                      mine.pairCount * sizeof(pnPair));
  pnDestroyDeviceWorld(fresh.world);
}

/* One part with call number `at` failing; the next number, or 0 when there was no such call. */
static uint32_t failOnce(Scene *s, Part *part, const Findings *truth, uint32_t at) {
  Findings found;
  memset(&found, 0, sizeof found);
  const int64_t live = s_live;
  s_calls = 0, s_at = at, s_failed = NULL;
  pnResult result = makeWorld(s, s_device);
  if (result == PN_OK) result = part(s, &found);
  expectSettled();
  behave();
  if (s_forever || s_error == CL_OUT_OF_RESOURCES) {
    // what is not needed may fail: an event that is retained for the clock
    if (result != PN_OK) testExpectFailure(result, PN_ERROR_DEVICE, "OpenCL|-5|lost");
    else assert_true(!s_failed);
    if (result != PN_OK && s->world)
      testExpectFailure(pnDeviceWorld_Collide(s->world, NULL).result, PN_ERROR_DEVICE, "failed before|destroyed");
    // the real one is well
    s_device->lost = false;
  } else {
    if (result != PN_OK) testExpectFailure(result, PN_ERROR_MEMORY, "OpenCL");
    memset(&found, 0, sizeof found);
    if (!s->world) testExpectOk(makeWorld(s, s_device));
    if (part == frames) expectFresh(s);
    testExpectOk(part(s, &found));
    if (memcmp(&found, truth, sizeof found) != 0) print_message("after call %u, %s\n", at, s_failed);
    assert_memory_equal(&found, truth, sizeof found);
  }
  pnDestroyDeviceWorld(s->world);
  s->world = NULL;
  assert_int_equal(s_live, live);
  return s_failed ? at + 1 : 0;
}

static void failEverywhere(cl_int error, bool forever) {
  Scene s = makeScene();
  for (int p = 0; p < 3; ++p) {
    Findings truth;
    memset(&truth, 0, sizeof truth);
    behave();
    testExpectOk(makeWorld(&s, s_device));
    testExpectOk(s_parts[p](&s, &truth));
    pnDestroyDeviceWorld(s.world);
    s.world = NULL;
    assert_true(p == 0   ? truth.pairs > 20 && truth.some == 20 && truth.firsts > 1
                : p == 1 ? truth.impacts > 20 && truth.uncertain > 0 && truth.staying == 1
                         : truth.volume > 0 && truth.shared > 0 && truth.inside == 1);
    uint32_t calls = 0;
    s_error = error;
    for (uint32_t at = 1; at > 0;) {
      s_forever = forever;
      calls = at;
      at = failOnce(&s, s_parts[p], &truth, at);
    }
    static const char *const names[3] = {"frames", "a step", "images"};
    print_message("%s: each of %u calls failed once\n", names[p], calls - 1);
    assert_true(calls > 100);
  }
  freeScene(&s);
}

static void memoryIsOutAtEveryCall(void **state) {
  NEEDS_DEVICE;
  failEverywhere(CL_MEM_OBJECT_ALLOCATION_FAILURE, false);
}

/* A frame that nobody finishes: it is over when its world is. */
static void unfinishedFrameEndsWithItsWorld(void **state) {
  NEEDS_DEVICE;
  Scene s = makeScene();
  behave();
  testExpectOk(makeWorld(&s, s_device));
  move(&s, 0);
  testExpectOk(pnDeviceWorld_Begin(s.world, NULL));
  assert_true(s_sent > s_arrived);
  pnDestroyDeviceWorld(s.world);
  expectSettled();
  freeScene(&s);
}

static void deviceIsLostAtEveryCall(void **state) {
  NEEDS_DEVICE;
  failEverywhere(CL_OUT_OF_RESOURCES, true);
}

/* Opening a device, from its kept programs: what fails there is told, or done otherwise. */
static void openingFailsAtEveryCall(void **state) {
  NEEDS_DEVICE;
  for (int forever = 0; forever < 2; ++forever) {
    s_error = forever ? CL_OUT_OF_RESOURCES : CL_OUT_OF_HOST_MEMORY;
    uint32_t opened = 0, refused = 0;
    for (uint32_t at = 1;; ++at) {
      pnDevice *device;
      const int64_t live = s_live;
      s_calls = 0, s_at = at, s_failed = NULL, s_forever = forever == 1;
      const pnResult result = pnCreateDevice(NULL, &device);
      behave();
      if (result != PN_OK) testExpectFailure(result, forever ? PN_ERROR_DEVICE : PN_ERROR_MEMORY, "OpenCL");
      pnDestroyDevice(device);
      assert_int_equal(s_live, live);
      if (!s_failed) break;
      ++*(result == PN_OK ? &opened : &refused);
    }
    // a kept program that cannot be loaded is compiled
    assert_true(refused > 10 && (forever || opened > 0));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unfinishedFrameEndsWithItsWorld),
      cmocka_unit_test(memoryIsOutAtEveryCall),
      cmocka_unit_test(deviceIsLostAtEveryCall),
      cmocka_unit_test(openingFailsAtEveryCall),
  };
  return cmocka_run_group_tests(tests, standBetween, stepAside);
}
