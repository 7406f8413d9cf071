/* inside.c: which points lie inside a body?
 *
 * Heidelberger, Teschner, Gross 2003, section 2.3 (b): the point's cell and depth; count the layers before it.
 *
 * The bound. The answer is right for the point c of the cell's centre line at the same depth. If it is wrong for the
 * point p itself, the level segment from c to p crosses the surface, so the surface is no farther from p than half
 * the diagonal of a cell. Rounding to the grid moves the surface by at most the snap, and the depth by a step. */
#include "volume/ldi.h"

#include "base/fenv.h"
#include "base/task.h"
#include "base/thread.h"
#include "volume/walk.h"

#include <math.h>

#define POINT_GRAIN 2048

typedef struct InsideJob {
  const pnLdi *ldi;
  const float *points;
  uint8_t *inside;
  struct {
    uint64_t insideCount;
    uint32_t firstBad; /* point that is not finite */
    char padding[64 - 12];
  } part[PN_MAX_WORKERS];
} InsideJob;

static void testRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  InsideJob *job = context;
  const pnLayers *layers = &job->ldi->image.layers;
  const pnView *view = &layers->view;
  const bool parity = job->ldi->def.rule == PN_INSIDE_PARITY;
  uint32_t u = view->pick[0], v = view->pick[1], w = view->pick[2], shift = view->cellShift;
  double units = (double)((uint64_t)view->size << shift);
  uint64_t count = 0;
  for (uint32_t i = begin; i < end; ++i) {
    const float *p = job->points + 3 * (size_t)i;
    double x = ((double)p[u] - view->lo[0]) * view->scale[0], y = ((double)p[v] - view->lo[1]) * view->scale[1];
    double z = ((double)p[w] - view->lo[2]) * view->scale[2];
    // written so that a NaN is outside
    bool inWindow = (x >= 0.0) & (y >= 0.0) & (z >= 0.0) & (x < units) & (y < units) & (z < view->steps);
    pnColumn column = {0};
    if (inWindow) column = pn_layersColumn(layers, (uint32_t)x >> shift, (uint32_t)y >> shift);
    bool inside = inWindow && pn_isInside(&column, (int32_t)z, parity);
    job->inside[i] = inside;
    count += inside;
    float sum = (p[0] - p[0]) + (p[1] - p[1]) + (p[2] - p[2]);
    if (sum != 0.0f && i < job->part[worker].firstBad) job->part[worker].firstBad = i;
  }
  job->part[worker].insideCount += count;
}

double pn_insideError(const pnView *view) {
  double cell = (double)(1u << view->cellShift), du = view->unit[0] * cell, dv = view->unit[1] * cell;
  return 0.5 * sqrt(du * du + dv * dv) + pn_viewSnap(view) + view->unit[2];
}

pnResult pnLdi_TestPoints(const pnLdi *ldi, const float *points, uint32_t count, uint8_t *outInside,
                          pnInsideResult *outResult) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(ldi && outResult && (count == 0 || (points && outInside)));
  double start = pn_clock();
  *outResult = (pnInsideResult){0};
  pnResult result = pn_ldiReady(ldi);
  if (result != PN_OK) return result;

  // an empty body has no image, but its points are looked at all the same
  InsideJob job = {ldi, points, outInside, {{0}}};
  for (int w = 0; w < PN_MAX_WORKERS; ++w) job.part[w].firstBad = PN_NONE;
  pn_parallelFor(&ldi->def.tasks, testRange, &job, count, POINT_GRAIN);
  uint32_t firstBad = PN_NONE;
  for (int w = 0; w < PN_MAX_WORKERS; ++w) {
    outResult->insideCount += job.part[w].insideCount;
    firstBad = PN_MIN(firstBad, job.part[w].firstBad);
  }
  if (firstBad != PN_NONE)
    return pn_fail(PN_ERROR_NUMBER, "point %u is not finite: %g %g %g", firstBad, (double)points[3 * (size_t)firstBad],
                   (double)points[3 * (size_t)firstBad + 1], (double)points[3 * (size_t)firstBad + 2]);

  outResult->error = ldi->image.layers.open ? INFINITY : pn_insideError(&ldi->image.layers.view);
  outResult->time = pn_clock() - start;
  return PN_OK;
}
