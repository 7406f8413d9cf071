/* selftest_step.c: does a device find the times of moving features as the processor does? Asked of both programs of steps before each is
 * used: the filter's verdicts and spans, and what whole numbers say, on cases that are the same everywhere. Points move between
 * places of a coarse grid, so that they graze, stay in one plane, on one line, or where they are; some a bit beside it. Whoever
 * gives one wrong answer takes no steps. */
#include "device/device.h"

#include "base/memory.h"
#include "geom/impact.h"
#include "geom/whole.h"

#include <math.h>
#include <string.h>

#define CASES 512u
#define FLOATS 24u

typedef struct Cases {
  float points[CASES][FLOATS]; /* x, y, z of four points, begin and end side by side */
  double answers[CASES][3];
} Cases;

static void makeCases(Cases *cases) {
  uint64_t state = 0xA24BAED4963EE407u;
  for (uint32_t k = 0; k < CASES; ++k) {
    float *p = cases->points[k];
    for (uint32_t i = 0; i < FLOATS; ++i) {
      p[i] = (float)(pn_nextNumber(&state) % 5u) - 2.0f;
      // one bit beside the grid; of sizes that have nothing to do with each other
      if (k % 4 == 1 && pn_nextNumber(&state) % 3u == 0)
        p[i] = nextafterf(p[i], pn_nextNumber(&state) % 2u ? 9.0f : -9.0f);
      if (k % 8 == 5) p[i] = ldexpf(p[i], (int)(pn_nextNumber(&state) % 40u) - 20);
    }
    // in one plane at the begin, or for good; one point that stays where it is
    for (uint32_t i = 0; i < 4 && k % 6 == 2; ++i) p[6 * i + 4] = 1.0f;
    for (uint32_t i = 0; i < 4 && k % 6 == 4; ++i) p[6 * i + 4] = p[6 * i + 5] = 1.0f;
    for (uint32_t i = 0; i < 3 && k % 5 == 3; ++i) p[2 * i + 1] = p[2 * i];
  }
}

static pn_Features featuresOf(uint32_t k) {
  return k % 2 ? PN_EDGE_EDGE : PN_VERTEX_FACE;
}

static void filterAnswer(const float *p, uint32_t k, double out[3]) {
  pnD2 x[4][3];
  pnImpactSpan span = {0};
  for (int i = 0; i < 12; ++i) x[i / 3][i % 3] = (pnD2){p[2 * i], p[2 * i + 1]};
  const pnD2 *const places[4] = {x[0], x[1], x[2], x[3]};
  out[0] = (double)pn_impactFilter(featuresOf(k), places, 1.0, &span);
  out[1] = span.lo, out[2] = span.hi;
}

static void exactAnswer(const float *p, uint32_t k, double out[3]) {
  pnMovingDouble moving;
  for (int i = 0; i < 12; ++i) moving.from[i / 3][i % 3] = p[2 * i], moving.to[i / 3][i % 3] = p[2 * i + 1];
  const pnImpactSpan span = pn_impactExact(featuresOf(k), &moving);
  out[0] = span.meets ? 1 : 0, out[1] = span.lo, out[2] = span.hi;
}

static pnResult compare(const pnDevice *device, const Cases *cases, bool exact) {
  for (uint32_t k = 0; k < CASES; ++k) {
    double expected[3];
    if (exact) exactAnswer(cases->points[k], k, expected);
    else filterAnswer(cases->points[k], k, expected);
    // a span is there only where they meet, which is 1 in both tests
    const double *answer = cases->answers[k];
    const bool sameSpan = expected[1] == answer[1] && expected[2] == answer[2];
    if (expected[0] == answer[0] && (expected[0] != 1 || sameSpan)) continue;
    return pn_fail(PN_ERROR_UNSUPPORTED, "device '%s' is not exact: its %s of case %u of the test of steps is wrong",
                   device->info.name, exact ? "time" : "filter's answer", k);
  }
  return PN_OK;
}

size_t pn_slatesOf(const pnDevice *device) {
  // 40 KB each: what a GPU needs to have something to do, and a few for each core
  return device->info.kind == PN_DEVICE_GPU ? 1024 : 64;
}

pnResult pn_testSteps(pnDevice *device, bool exact) {
  if (device->stepsTested[exact]) return PN_OK;
  Cases *cases = pn_alloc(sizeof *cases);
  if (!cases) return pn_failMemory(sizeof *cases);
  makeCases(cases);
  const size_t items = exact ? PN_MIN(CASES, pn_slatesOf(device)) : CASES;
  const pnTestRun test = {.program = exact ? PN_PROGRAM_SWEPT_EXACT : PN_PROGRAM_SWEPT,
                          .name = exact ? "sweptExactTest" : "sweptTest",
                          .in = {cases->points},
                          .bytes = {sizeof cases->points},
                          .roomBytes = exact ? items * PN_SLATE_LIMBS * sizeof(uint64_t) : 0,
                          .out = cases->answers,
                          .outBytes = sizeof cases->answers,
                          .count = CASES,
                          .items = items,
                          .local = 32};
  pnResult result = pn_runTest(device, &test);
  if (result == PN_OK) result = compare(device, cases, exact);
  pn_free(cases, sizeof *cases);
  device->stepsTested[exact] = result == PN_OK;
  return result;
}
