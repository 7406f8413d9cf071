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

static pnTally emptyTally(void) {
  return (pnTally){.x0 = INT32_MAX, .x1 = -1, .y0 = INT32_MAX, .y1 = -1, .z0 = INT32_MAX, .z1 = -1};
}

static void addSpan(pnTally *tally, int32_t x, int32_t y, int32_t begin, int32_t end) {
  int64_t length = end - begin, moment = length * ((int64_t)begin + end);
  tally->length += length;
  tally->momentX += length * x;
  tally->momentY += length * y;
  tally->momentZHigh += moment >> 24;
  tally->momentZLow += moment & 0xffffff;
  ++tally->spanCount;
}

/* Goes on to depth z, if there is anything to go on to. */
PN_INLINE void stepTo(pnWalk *walk, int32_t z) {
  if (walk->next <= z) pn_walkTo(walk, z);
}

/* Inside or touched now, or later. */
PN_INLINE bool isDone(const pnWalk *walk) {
  return walk->next == PN_DEPTH_END && !walk->inside && !walk->touched;
}

/* Adds one column. `only`: also what one body has and the other has not. Without it, everything before both have
 * begun and after one has ended is passed over. */
PN_INLINE void measureColumn(pnTally *tally, int32_t x, int32_t y, pnWalk *a, pnWalk *b, int32_t steps,
                             const bool only) {
  int32_t begin = -1, outerBegin = -1, outerEnd = -1, z = 0;
  pn_walkTo(a, 0);
  pn_walkTo(b, 0);
  if (!only) {
    // where neither has begun there is nothing; at the later of the two beginnings look again
    if (!(a->inside | a->touched)) z = PN_MIN(a->next, steps);
    if (!(b->inside | b->touched)) z = PN_MAX(z, PN_MIN(b->next, steps));
  }
  int64_t lengthMin = 0, lengthMax = 0;
  while (z < steps) {
    stepTo(a, z);
    stepTo(b, z);
    if (!only && (isDone(a) || isDone(b))) break;
    int32_t next = PN_MIN(PN_MIN(a->next, b->next), steps), length = next - z;
    bool maybeA = a->inside | a->touched, sureA = a->inside & !a->touched;
    bool maybeB = b->inside | b->touched, sureB = b->inside & !b->touched;

    // spans as sampled
    bool shared = a->inside & b->inside;
    if (shared && begin < 0) begin = z;
    if (!shared && begin >= 0) addSpan(tally, x, y, begin, z), begin = -1;

    lengthMin += (sureA & sureB) ? length : 0;
    if (maybeA & maybeB) {
      lengthMax += length;
      if (outerBegin < 0) outerBegin = z;
      outerEnd = next;
    }
    if (only) {
      tally->onlyA += (a->inside & !b->inside) ? length : 0;
      tally->onlyASure += (sureA & !maybeB) ? length : 0;
      tally->onlyAMaybe += (maybeA & !sureB) ? length : 0;
      tally->onlyB += (b->inside & !a->inside) ? length : 0;
      tally->onlyBSure += (sureB & !maybeA) ? length : 0;
      tally->onlyBMaybe += (maybeB & !sureA) ? length : 0;
    }
    z = next;
  }
  if (begin >= 0) addSpan(tally, x, y, begin, PN_MIN(z, steps));
  if (outerBegin >= 0) {
    tally->lengthMin += lengthMin, tally->lengthMax += lengthMax;
    tally->x0 = PN_MIN(tally->x0, x), tally->x1 = PN_MAX(tally->x1, x);
    tally->y0 = PN_MIN(tally->y0, y), tally->y1 = PN_MAX(tally->y1, y);
    tally->z0 = PN_MIN(tally->z0, outerBegin), tally->z1 = PN_MAX(tally->z1, outerEnd);
  }
}

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
      pnWalk walkA = pn_walkColumn(&a, layersA->fromHigh, job->rule);
      pnWalk walkB = pn_walkColumn(&b, layersB && layersB->fromHigh, job->rule);
      // no second body: it is everywhere (an odd count, and no layers to change it)
      if (!layersB) walkB.count = 1;
      if (job->only) measureColumn(tally, (int32_t)x, (int32_t)y, &walkA, &walkB, steps, true);
      else measureColumn(tally, (int32_t)x, (int32_t)y, &walkA, &walkB, steps, false);
    }
}

pnTally pn_measureLayers(const pnLayers *a, const pnLayers *b, bool only, pnInsideRule rule, const pnTasks *tasks) {
  MeasureJob job = {.a = a, .b = b, .only = only, .rule = rule};
  uint32_t workers = pn_workerCount(tasks);
  for (uint32_t w = 0; w < workers; ++w) job.part[w] = emptyTally();
  pn_parallelFor(tasks, measureBands, &job, a->bandCount, 1);

  pnTally all = emptyTally();
  for (uint32_t w = 0; w < workers; ++w) {
    const pnTally *part = job.part + w;
    all.length += part->length, all.lengthMin += part->lengthMin, all.lengthMax += part->lengthMax;
    all.onlyA += part->onlyA, all.onlyASure += part->onlyASure, all.onlyAMaybe += part->onlyAMaybe;
    all.onlyB += part->onlyB, all.onlyBSure += part->onlyBSure, all.onlyBMaybe += part->onlyBMaybe;
    all.momentX += part->momentX, all.momentY += part->momentY;
    all.momentZHigh += part->momentZHigh, all.momentZLow += part->momentZLow;
    all.spanCount += part->spanCount;
    all.x0 = PN_MIN(all.x0, part->x0), all.x1 = PN_MAX(all.x1, part->x1);
    all.y0 = PN_MIN(all.y0, part->y0), all.y1 = PN_MAX(all.y1, part->y1);
    all.z0 = PN_MIN(all.z0, part->z0), all.z1 = PN_MAX(all.z1, part->z1);
  }
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
