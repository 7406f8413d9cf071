/* measure.c: the Boolean intersection of two images, column by column.
 *
 * Heidelberger, Teschner, Gross 2003, section 2.3 (a): a column is inside both bodies where its spans overlap; their
 * total length times the area of a cell is the volume.
 *
 * The bounds. Going up a column, each body is inside or outside at the centre, and touched or not (thick.c). Where it
 * is not touched, the whole cell is what the centre is. So
 *
 *   surely shared     both inside, neither touched      -> lengthMin
 *   perhaps shared    each inside or touched            -> lengthMax
 *
 * and the true volume, the one sampled, and everything in between lie between those two times the cell's area.
 *
 * The centroid. Let g be the sampled centroid, so that the sampled set S has no moment about g. The true set T
 * differs from S only in places that are perhaps but not surely shared, of volume max - min, and lies in the box of
 * perhaps shared places. Its moment about g is hence at most (max - min) * reach, reach being the longest way from g
 * to a side of the box, and |centroid(T) - g| <= (max - min) * reach / min. It is also at most reach, both being in
 * the box. */
#include "volume/measure.h"

#include "base/task.h"
#include "volume/walk.h"

#include <math.h>

typedef struct MeasureJob {
  const pnLayers *a, *b;
  bool only;
  pnInsideRule rule;
  pnTally part[PN_MAX_WORKERS];
} MeasureJob;

static void measureBands(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  MeasureJob *job = context;
  pnTally *tally = job->part + worker;
  const pnLayers *layersA = job->a, *layersB = job->b;
  const int32_t steps = layersA->view.steps;
  uint32_t size = layersA->view.size, last = PN_MIN(end * PN_BAND_ROWS, size);
  for (uint32_t y = begin * PN_BAND_ROWS; y < last; ++y)
    for (uint32_t x = 0; x < size; ++x) {
      // where one has nothing, nothing is shared
      pnColumn a = pn_layersColumn(layersA, x, y), b = {0};
      bool anyA = a.keyCount + a.thickCount != 0, anyB = true;
      if (layersB) b = pn_layersColumn(layersB, x, y), anyB = b.keyCount + b.thickCount != 0;
      if (job->only ? !(anyA || anyB) : !(anyA && anyB)) continue;
      const bool parity = job->rule == PN_INSIDE_PARITY;
      pnWalk walkA = pn_walkColumn(&a, layersA->fromHigh, parity);
      pnWalk walkB = pn_walkColumn(&b, layersB && layersB->fromHigh, parity);
      // no second body: it is everywhere (an odd count, and no layers to change it)
      if (!layersB) walkB.count = 1;
      if (job->only) pn_measureColumn(tally, (int32_t)x, (int32_t)y, &walkA, &walkB, steps, true);
      else pn_measureColumn(tally, (int32_t)x, (int32_t)y, &walkA, &walkB, steps, false);
    }
}

pnTally pn_measureLayers(const pnLayers *a, const pnLayers *b, bool only, pnInsideRule rule, const pnTasks *tasks) {
  MeasureJob job = {.a = a, .b = b, .only = only, .rule = rule};
  uint32_t workers = pn_workerCount(tasks);
  for (uint32_t w = 0; w < workers; ++w) job.part[w] = pn_emptyTally();
  pn_parallelFor(tasks, measureBands, &job, a->bandCount, 1);

  pnTally all = pn_emptyTally();
  for (uint32_t w = 0; w < workers; ++w) pn_addTally(&all, job.part + w);
  return all;
}

/* ---------------------------------------------------------------- as lengths */

/* Doubles carry 53 bits and the few products here lose a few of them: a part in 10^12 covers that. */
#define OUTWARD 1e-12

pnBox pn_cellBox(const pnView *view, const int32_t lo[3], const int32_t hi[3]) {
  float min[3], max[3];
  for (int k = 0; k < 3; ++k) {
    double cell = k < 2 ? view->unit[k] * (double)(1 << view->cellShift) : view->unit[k];
    double l = view->lo[k] + cell * lo[k], h = view->lo[k] + cell * hi[k], slack = OUTWARD * (fabs(l) + fabs(h));
    // one float outward of the nearest
    min[view->pick[k]] = nextafterf((float)(l - slack), -INFINITY);
    max[view->pick[k]] = nextafterf((float)(h + slack), INFINITY);
  }
  return (pnBox){{min[0], min[1], min[2]}, {max[0], max[1], max[2]}};
}

/* The sampled centroid in the view, or the middle of the box when nothing was sampled. */
static void findCentroid(const pnTally *tally, const pnView *view, const double lo[3], const double hi[3],
                         double out[3]) {
  if (tally->length == 0) {
    for (int k = 0; k < 3; ++k) out[k] = 0.5 * (lo[k] + hi[k]);
    return;
  }
  double length = (double)tally->length, cell = (double)(1 << view->cellShift);
  out[0] = view->lo[0] + view->unit[0] * cell * ((double)tally->momentX / length + 0.5);
  out[1] = view->lo[1] + view->unit[1] * cell * ((double)tally->momentY / length + 0.5);
  double moment = (double)tally->momentZHigh * 16777216.0 + (double)tally->momentZLow;
  out[2] = view->lo[2] + view->unit[2] * (0.5 * moment / length);
}

pnVolumeResult pn_tallyVolume(const pnTally *tally, const pnView *view, bool bounded) {
  pnVolumeResult result = {.spanCount = tally->spanCount};
  double cell = (double)(1 << view->cellShift);
  double piece = view->unit[0] * cell * (view->unit[1] * cell) * view->unit[2];
  result.volume = piece * (double)tally->length;
  result.volumeMin = bounded ? piece * (double)tally->lengthMin * (1.0 - OUTWARD) : 0.0;
  result.volumeMax = bounded ? piece * (double)tally->lengthMax * (1.0 + OUTWARD) : INFINITY;
  result.error = PN_MAX(result.volumeMax - result.volume, result.volume - result.volumeMin);

  // the box of what may be inside: all of the window when nobody has looked
  int32_t lo[3] = {tally->x0, tally->y0, tally->z0}, hi[3] = {tally->x1 + 1, tally->y1 + 1, tally->z1};
  if (!bounded) {
    lo[0] = lo[1] = lo[2] = 0;
    hi[0] = hi[1] = (int32_t)view->size, hi[2] = view->steps;
  }
  if (lo[0] >= hi[0]) {
    result.box = (pnBox){{1.0f, 1.0f, 1.0f}, {-1.0f, -1.0f, -1.0f}};
    return result;
  }
  result.box = pn_cellBox(view, lo, hi);

  // see the head of the file
  double l[3], h[3], centroid[3], reach = 0.0;
  for (int k = 0; k < 3; ++k) {
    double unit = k < 2 ? view->unit[k] * cell : view->unit[k];
    l[k] = view->lo[k] + unit * lo[k], h[k] = view->lo[k] + unit * hi[k];
  }
  findCentroid(tally, view, l, h, centroid);
  pn_viewToWorld(view, centroid, result.centroid);
  for (int k = 0; k < 3; ++k) reach = PN_MAX(reach, PN_MAX(h[k] - centroid[k], centroid[k] - l[k]));
  double spread = result.volumeMax - result.volumeMin;
  result.centroidError = bounded && spread < result.volumeMin ? reach * spread / result.volumeMin : reach;
  result.centroidError += OUTWARD * (reach + fabs(centroid[0]) + fabs(centroid[1]) + fabs(centroid[2]));
  if (!bounded) result.centroidError = INFINITY;
  return result;
}
