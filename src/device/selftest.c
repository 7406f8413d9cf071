/* selftest.c: does a device decide and round as the processor does? Asked each time one is opened, on cases that are the same
 * everywhere: triangles on a coarse grid, with coordinates that a bit more or less changes sides, flat ones, degenerate ones and
 * neighbours; and sums, products, quotients and roots whose last bits tell a fused operation from two rounded ones, a flushed
 * number from a small one. Whoever gives one wrong answer is refused. */
#include "device/device.h"

#include "base/memory.h"
#include "geom/corners.h"
#include "geom/triangle.h"

#include <math.h>
#include <string.h>

#define CASES 4096u

uint32_t pn_nextNumber(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (uint32_t)((*state * 0x2545F4914F6CDD1Du) >> 32);
}

/* ---------------------------------------------------------------- exact tests */

typedef struct Cases {
  float points[CASES][6][3];
  uint32_t welds[CASES][6];
  uint32_t answers[CASES];
} Cases;

/* A coordinate of case k: whole numbers first; then with a part of them one bit up or down; then far from the origin, where
 * little is left behind the point; then of all sizes, which only expansions can sum up. */
static float coordinate(uint64_t *state, uint32_t k) {
  const float grid = (float)(pn_nextNumber(state) % 5u);
  switch (k % 4) {
    case 0: return grid;
    case 1: return pn_nextNumber(state) % 3u ? grid : nextafterf(grid, pn_nextNumber(state) % 2u ? 10.0f : -10.0f);
    case 2: return 0.1f + grid * 0.1f + 1024.0f;
    default: return ldexpf(grid, (int)(pn_nextNumber(state) % 60u) - 30) + grid;
  }
}

static void makeCases(Cases *cases) {
  uint64_t state = 0x9E3779B97F4A7C15u;
  for (uint32_t k = 0; k < CASES; ++k) {
    for (uint32_t i = 0; i < 6; ++i) {
      cases->welds[k][i] = i;
      for (int x = 0; x < 3; ++x) cases->points[k][i][x] = coordinate(&state, k);
    }
    // every other case: neighbours, with one or two corners in common, in any place
    for (uint32_t shared = k % 2 ? 1 + pn_nextNumber(&state) % 2u : 0; shared > 0; --shared) {
      const uint32_t a = pn_nextNumber(&state) % 3u, b = 3 + pn_nextNumber(&state) % 3u;
      cases->welds[k][b] = cases->welds[k][a];
      memcpy(cases->points[k][b], cases->points[k][a], sizeof cases->points[k][a]);
    }
    // every fifth: all in one plane
    for (uint32_t i = 0; k % 5 == 0 && i < 6; ++i) cases->points[k][i][2] = 1.0f;
  }
}

static uint32_t answerOf(const Cases *cases, uint32_t k) {
  const float(*p)[3] = cases->points[k];
  const uint32_t *w = cases->welds[k];
  const float *a[3] = {p[0], p[1], p[2]}, *b[3] = {p[3], p[4], p[5]};
  return pn_trianglesMeetBeyondPtr(a, b, pn_sharedOfCorners(w, w + 3, a, b));
}

/* ---------------------------------------------------------------- rounding */

typedef struct Sums {
  float in[CASES][4], out[CASES][4];
} Sums;

static void makeSums(Sums *sums) {
  uint64_t state = 0xD1B54A32D192ED03u;
  for (uint32_t k = 0; k < CASES; ++k)
    for (int i = 0; i < 4; ++i) {
      // full fractions near 1; each fourth case so small that products are subnormal
      const float x = 1.0f + (float)(pn_nextNumber(&state) >> 9) * 0x1p-23f;
      sums->in[k][i] =
          ldexpf(pn_nextNumber(&state) % 2u ? x : -x, k % 4 == 3 ? -70 : (int)(pn_nextNumber(&state) % 5u) - 2);
    }
}

static const char *const s_sumNames[4] = {"sum", "difference", "quotient", "root"};

static void sumOf(const float in[4], float out[4]) {
  const float a = in[0], b = in[1], c = in[2], d = in[3];
  out[0] = (a * b + c * d) + a;
  out[1] = a * b - c * d;
  out[2] = a / b;
  out[3] = sqrtf((a * a + b * b) + c * c);
}

/* ---------------------------------------------------------------- on the device */

pnResult pn_runTest(pnDevice *device, const pnTestRun *test) {
  pnResult result = PN_OK;
  cl_int error = CL_SUCCESS;
  cl_uint arguments = 0;
  cl_mem buffers[4] = {NULL, NULL, NULL, NULL};
  const size_t bytes[4] = {test->bytes[0], test->bytes[1], test->roomBytes, test->outBytes};
  cl_kernel kernel = pn_createKernel(device, test->program, test->name, &result);
  for (int i = 0; i < 4 && result == PN_OK; ++i) {
    if (bytes[i] == 0) continue;
    buffers[i] = pn_createBuffer(device, bytes[i], "the test at the start", &result);
    if (!buffers[i]) break;
    if (i < 2) error = pn_cl.EnqueueWriteBuffer(device->queue, buffers[i], 1, 0, bytes[i], test->in[i], 0, NULL, NULL);
    if (error == CL_SUCCESS) error = pn_cl.SetKernelArg(kernel, arguments++, sizeof(cl_mem), &buffers[i]);
    if (error != CL_SUCCESS) result = pn_deviceFail(device, error, "EnqueueWriteBuffer", "the test at the start");
  }
  if (result == PN_OK) {
    error = pn_cl.SetKernelArg(kernel, arguments, sizeof test->count, &test->count);
    if (error == CL_SUCCESS)
      error = pn_cl.EnqueueNDRangeKernel(device->queue, kernel, 1, NULL, &test->items, &test->local, 0, NULL, NULL);
    if (error == CL_SUCCESS)
      error = pn_cl.EnqueueReadBuffer(device->queue, buffers[3], 1, 0, test->outBytes, test->out, 0, NULL, NULL);
    if (error != CL_SUCCESS) result = pn_deviceFail(device, error, "EnqueueNDRangeKernel", "the test at the start");
  }
  for (int i = 0; i < 4; ++i) pn_releaseBuffer(&buffers[i]);
  if (kernel) pn_cl.ReleaseKernel(kernel);
  return result;
}

static pnResult testExact(pnDevice *device, Cases *cases) {
  makeCases(cases);
  const pnTestRun test = {.program = PN_PROGRAM_EXACT,
                          .name = "exactTest",
                          .in = {cases->points, cases->welds},
                          .bytes = {sizeof cases->points, sizeof cases->welds},
                          .out = cases->answers,
                          .outBytes = sizeof cases->answers,
                          .count = CASES,
                          .items = CASES,
                          .local = 64};
  pnResult result = pn_runTest(device, &test);
  for (uint32_t k = 0; k < CASES && result == PN_OK; ++k)
    if (cases->answers[k] != answerOf(cases, k))
      result = pn_fail(PN_ERROR_UNSUPPORTED,
                       "device '%s' is not exact: its answer to case %u of the test at the start is wrong",
                       device->info.name, k);
  return result;
}

static pnResult testSums(pnDevice *device, Sums *sums) {
  makeSums(sums);
  const pnTestRun test = {.program = PN_PROGRAM_MOTION,
                          .name = "motionTest",
                          .in = {sums->in},
                          .bytes = {sizeof sums->in},
                          .out = sums->out,
                          .outBytes = sizeof sums->out,
                          .count = CASES,
                          .items = CASES,
                          .local = 64};
  pnResult result = pn_runTest(device, &test);
  for (uint32_t k = 0; k < CASES && result == PN_OK; ++k) {
    float expected[4];
    sumOf(sums->in[k], expected);
    for (int i = 0; i < 4 && result == PN_OK; ++i) {
      uint32_t wanted, got;
      memcpy(&wanted, &expected[i], sizeof wanted);
      memcpy(&got, &sums->out[k][i], sizeof got);
      if (wanted != got)
        result = pn_fail(PN_ERROR_UNSUPPORTED,
                         "device '%s' rounds otherwise: %s %u of the test at the start is %08x and should be %08x",
                         device->info.name, s_sumNames[i], k, got, wanted);
    }
  }
  return result;
}

pnResult pn_testDevice(pnDevice *device) {
  Cases *cases = pn_alloc(sizeof *cases);
  Sums *sums = pn_alloc(sizeof *sums);
  pnResult result = cases && sums ? PN_OK : pn_failMemory(sizeof *cases + sizeof *sums);
  if (result == PN_OK) result = testExact(device, cases);
  if (result == PN_OK) result = testSums(device, sums);
  pn_free(cases, sizeof *cases);
  pn_free(sums, sizeof *sums);
  return result;
}
