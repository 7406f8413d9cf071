/* depth.c: how far must A move to be free of B?
 *
 * The paper names penetration depth as future work (section 5.2). Two images along one axis say more than the shared
 * volume: in a column where A has the span (a, a') and B the span (b, b'), A shifted along the axis by t still meets
 * B exactly when
 *
 *     b - a' < t < b' - a
 *
 * All such intervals, of all pairs of spans in all columns, are the shifts that do not help. The answer is the least
 * shift that is in none of them: start at 0, and while some interval contains the shift, go to its end. Comb-like
 * bodies have gaps, so it is not enough to take the longest. Shifting along the axis changes no other column, and the
 * images reach over both bodies' whole length, so nothing is overlooked.
 *
 * Bounds: with spans that are surely inside (touched depths cut away), every shift below the answer surely meets: a
 * lower bound. With spans that are perhaps inside (touched depths added), the answer is surely free: an upper bound.
 *
 * Directions: the three axes both ways, and the mean normal. Let P be the sum of the outward normals of A's surface
 * inside B, weighted by area. Moving A along d changes the shared volume at the rate P.d, so -P is the way in which
 * it shrinks fastest. Seen along an axis, P's component is the area of the cells where a shared span ends at A's
 * surface less that where it begins there: the three images along the axes give all three. */
#include "volume/overlap.h"

#include "base/fenv.h"
#include "base/memory.h"
#include "base/task.h"
#include "base/thread.h"
#include "volume/walk.h"

#include <math.h>

/* The three ways to read a column. */
enum { AS_SAMPLED, SURELY, PERHAPS, READING_COUNT };

typedef struct Shifts {
  int64_t up[READING_COUNT], down[READING_COUNT]; /* least shift of A towards larger and smaller depths found so far */
  int64_t facing;                                 /* shared spans that end at A's surface less those that begin there */
} Shifts;

typedef PN_ARRAY(pnInterval) SpanList;

typedef struct DepthJob {
  const pnLayers *a, *b;
  pnInsideRule rule;
  Shifts start; /* found in the rounds before */
  bool first;   /* the first round also adds up `facing` */
  _Atomic bool outOfMemory;
  struct {
    Shifts shifts;
    SpanList a[READING_COUNT], b[READING_COUNT];
  } part[PN_MAX_WORKERS];
} DepthJob;

/* ---------------------------------------------------------------- one column */

static bool listSpans(const pnLayers *layers, const pnColumn *column, pnInsideRule rule,
                      SpanList lists[READING_COUNT]) {
  pnWalk walk = pn_walkColumn(column, layers->fromHigh, rule == PN_INSIDE_PARITY);
  int32_t begin[READING_COUNT] = {-1, -1, -1}, steps = layers->view.steps;
  for (int r = 0; r < READING_COUNT; ++r) lists[r].count = 0;
  for (int32_t z = 0;; z = PN_MIN(walk.next, steps)) {
    pn_walkTo(&walk, z);
    bool in[READING_COUNT] = {walk.inside, walk.inside && !walk.touched, walk.inside || walk.touched};
    for (int r = 0; r < READING_COUNT; ++r) {
      if (z == steps) in[r] = false;
      if (in[r] && begin[r] < 0) begin[r] = z;
      if (!in[r] && begin[r] >= 0) {
        if (!pn_arrayPush(&lists[r], ((pnInterval){begin[r], z}))) return false;
        begin[r] = -1;
      }
    }
    if (z == steps) return true;
  }
}

/* Moves the two shifts on past every interval that contains them. */
static void pushShifts(const SpanList *a, const SpanList *b, int64_t *up, int64_t *down) {
  for (size_t i = 0; i < a->count; ++i)
    for (size_t j = 0; j < b->count; ++j) {
      int64_t low = (int64_t)b->data[j].lo - a->data[i].hi, high = (int64_t)b->data[j].hi - a->data[i].lo;
      if (low < *up && *up < high) *up = high;
      if (-high < *down && *down < -low) *down = -low;
    }
}

/* Shared spans that end, less those that begin, at A's surface. */
static int64_t countFacing(const SpanList *a, const SpanList *b) {
  int64_t facing = 0;
  for (size_t i = 0; i < a->count; ++i)
    for (size_t j = 0; j < b->count; ++j) {
      const pnInterval *p = a->data + i, *q = b->data + j;
      if (PN_MAX(p->lo, q->lo) >= PN_MIN(p->hi, q->hi)) continue;
      facing += (p->hi < q->hi) - (p->lo > q->lo);
    }
  return facing;
}

/* The depths between which a column's spans lie, however they are read. */
static pnInterval reachOf(const pnColumn *column) {
  pnInterval reach = {INT32_MAX, INT32_MIN};
  if (column->keyCount) {
    reach.lo = (int32_t)(column->keys[0] >> 1);
    reach.hi = (int32_t)(column->keys[column->keyCount - 1] >> 1);
  }
  if (column->thickCount) {
    reach.lo = PN_MIN(reach.lo, column->thick[0].lo);
    reach.hi = PN_MAX(reach.hi, column->thick[column->thickCount - 1].hi);
  }
  return reach;
}

/* Can any pair of spans move a shift on? No, when not even the two reaches do: their interval contains all others. That
 * is quickly said, and true of most columns once a few have been seen. */
static bool mayMove(const pnColumn *a, const pnColumn *b, const Shifts *shifts) {
  pnInterval p = reachOf(a), q = reachOf(b);
  int64_t low = (int64_t)q.lo - p.hi, high = (int64_t)q.hi - p.lo;
  bool moves = false;
  for (int r = 0; r < READING_COUNT; ++r)
    moves |= (low < shifts->up[r] && shifts->up[r] < high) || (-high < shifts->down[r] && shifts->down[r] < -low);
  return moves;
}

static void depthBands(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  DepthJob *job = context;
  SpanList *listsA = job->part[worker].a, *listsB = job->part[worker].b;
  Shifts *shifts = &job->part[worker].shifts;
  uint32_t size = job->a->view.size, last = PN_MIN(end * PN_BAND_ROWS, size);
  for (uint32_t y = begin * PN_BAND_ROWS; y < last; ++y)
    for (uint32_t x = 0; x < size; ++x) {
      pnColumn a = pn_layersColumn(job->a, x, y), b = pn_layersColumn(job->b, x, y);
      if (a.keyCount + a.thickCount == 0 || b.keyCount + b.thickCount == 0) continue;
      // for `facing` the sampled spans will do
      bool moves = mayMove(&a, &b, shifts);
      if (!moves && !job->first) continue;
      if (!moves) a.thickCount = b.thickCount = 0;
      if (!listSpans(job->a, &a, job->rule, listsA) || !listSpans(job->b, &b, job->rule, listsB)) {
        job->outOfMemory = true;
        return;
      }
      for (int r = 0; moves && r < READING_COUNT; ++r)
        pushShifts(listsA + r, listsB + r, shifts->up + r, shifts->down + r);
      if (job->first) shifts->facing += countFacing(listsA + AS_SAMPLED, listsB + AS_SAMPLED);
    }
}

/* Rounds over all columns until no shift moves any more. The least free shift is unique, so the order does not
 * matter. */
static pnResult findShifts(DepthJob *job, const pnTasks *tasks, Shifts *out) {
  uint32_t workers = pn_workerCount(tasks);
  job->first = true;
  job->start = (Shifts){0};
  for (bool changed = true; changed; job->first = false) {
    for (uint32_t w = 0; w < workers; ++w) job->part[w].shifts = job->start, job->part[w].shifts.facing = 0;
    pn_parallelFor(tasks, depthBands, job, job->a->bandCount, 1);
    if (job->outOfMemory) return pn_fail(PN_ERROR_MEMORY, "out of memory while finding the penetration depth");
    changed = false;
    Shifts best = job->start;
    for (uint32_t w = 0; w < workers; ++w) {
      const Shifts *part = &job->part[w].shifts;
      for (int r = 0; r < READING_COUNT; ++r) {
        changed |= part->up[r] != job->start.up[r] || part->down[r] != job->start.down[r];
        best.up[r] = PN_MAX(best.up[r], part->up[r]);
        best.down[r] = PN_MAX(best.down[r], part->down[r]);
      }
      best.facing += part->facing;
    }
    job->start = best;
  }
  *out = job->start;
  return PN_OK;
}

/* ---------------------------------------------------------------- one direction */

/* Where both bodies are seen along the frame's third axis: across, what their boxes share; along, all of both. */
static bool seeBoth(const pnOverlap *overlap, pnView *view) {
  double lo[2][3], hi[2][3], windowLo[3], windowHi[3], allLo[3], allHi[3];
  for (int i = 0; i < 2; ++i) {
    const pnSolid *solid = &overlap->solids[i];
    for (int k = 0; k < 3; ++k) lo[i][k] = INFINITY, hi[i][k] = -INFINITY;
    for (uint32_t c = 0; c < solid->cornerCount; ++c) {
      double q[3];
      pn_viewPoint(view, solid->positions + 3 * (size_t)c, q);
      for (int k = 0; k < 3; ++k) lo[i][k] = PN_MIN(lo[i][k], q[k]), hi[i][k] = PN_MAX(hi[i][k], q[k]);
    }
  }
  for (int k = 0; k < 3; ++k) {
    allLo[k] = PN_MIN(lo[0][k], lo[1][k]), allHi[k] = PN_MAX(hi[0][k], hi[1][k]);
    windowLo[k] = k < 2 ? PN_MAX(lo[0][k], lo[1][k]) : allLo[k];
    windowHi[k] = k < 2 ? PN_MIN(hi[0][k], hi[1][k]) : allHi[k];
    if (!(windowLo[k] < windowHi[k])) return false;
  }
  pn_viewWindow(view, windowLo, windowHi, allLo, allHi, overlap->def.resolution);
  return true;
}

/* The two directions of one axis, kept when better than what there was. Returns the signed area that faces along it. */
static pnResult tryAxis(pnOverlap *overlap, pnView *view, DepthJob *job, pnDepthResult *best, double *outFacing) {
  *outFacing = 0.0;
  if (!seeBoth(overlap, view)) {
    // not even their shadows overlap: they are apart
    best->depth = best->depthMin = best->depthMax = 0.0;
    return PN_OK;
  }
  pnImageSettings settings = {overlap->def.bounds, &overlap->def.tasks, overlap->def.gl};
  for (int i = 0; i < 2; ++i) {
    pnResult made =
        pn_imageMake(&overlap->depthImages[i], &overlap->raster, &overlap->solids[i], view, false, &settings);
    if (made != PN_OK) return made;
  }
  job->a = &overlap->depthImages[0].layers;
  job->b = &overlap->depthImages[1].layers;
  Shifts shifts;
  pnResult result = findShifts(job, &overlap->def.tasks, &shifts);
  if (result != PN_OK) return result;

  double cell = (double)(1 << view->cellShift), step = view->unit[2];
  *outFacing = (double)shifts.facing * view->unit[0] * cell * (view->unit[1] * cell);
  bool bounded = pn_imageBounded(&overlap->depthImages[0]) && pn_imageBounded(&overlap->depthImages[1]);
  for (int sign = -1; sign <= 1; sign += 2) {
    const int64_t *shift = sign > 0 ? shifts.up : shifts.down;
    double depth = step * (double)shift[AS_SAMPLED];
    if (depth >= best->depth) continue;
    best->depth = depth;
    // a part in 10^12 for the rounding of the view's axes and of this product
    best->depthMin = bounded ? step * (double)shift[SURELY] * (1.0 - 1e-12) : 0.0;
    best->depthMax = bounded ? step * (double)shift[PERHAPS] * (1.0 + 1e-12) : INFINITY;
    // (adding 0 turns -0 into 0)
    for (int k = 0; k < 3; ++k) best->direction[k] = sign * view->rows[2][k] + 0.0;
  }
  return PN_OK;
}

/* All four axes; the fourth is known when three have been looked along. */
static pnResult tryAll(pnOverlap *overlap, DepthJob *job, pnDepthResult *best) {
  const pnBox *a = &overlap->solids[0].box;
  double normal[3], origin[3] = {a->min.x, a->min.y, a->min.z};
  for (int k = 0; k < 3; ++k) {
    pnView view = {0};
    double axis[3] = {k == 0, k == 1, k == 2}, facing;
    pn_viewFrame(&view, axis, origin);
    pnResult result = tryAxis(overlap, &view, job, best, &facing);
    if (result != PN_OK) return result;
    normal[k] = -facing;
  }
  double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
  if (length == 0.0 || best->depth == 0.0) return PN_OK;
  for (int k = 0; k < 3; ++k) best->normal[k] = normal[k] /= length;
  pnView view = {0};
  pn_viewFrame(&view, normal, origin);
  double facing;
  return tryAxis(overlap, &view, job, best, &facing);
}

pnResult pnOverlap_FindDepth(pnOverlap *overlap, pnDepthResult *outResult) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(overlap && outResult);
  double start = pn_clock();
  *outResult = (pnDepthResult){0};
  pnResult result = pn_overlapRefresh(overlap);
  if (result != PN_OK) return result;

  // nothing moved since the last time
  pnSolid *solids = overlap->solids;
  if (overlap->depthFrames[0] == solids[0].frame && overlap->depthFrames[1] == solids[1].frame) {
    *outResult = overlap->depth;
    outResult->time = pn_clock() - start;
    return PN_OK;
  }
  overlap->depthFrames[0] = 0;
  pnDepthResult best = {.depth = INFINITY};
  if (pn_findInterest(&solids[0].box, &solids[1].box).empty) {
    best.depth = 0.0;
  } else {
    // too large for the stack with all its workers
    DepthJob *job = pn_allocZero(sizeof *job);
    if (!job) return pn_failMemory(sizeof *job);
    job->rule = overlap->def.rule;
    result = tryAll(overlap, job, &best);
    for (int w = 0; w < PN_MAX_WORKERS; ++w)
      for (int r = 0; r < READING_COUNT; ++r) {
        pn_arrayFree(&job->part[w].a[r]);
        pn_arrayFree(&job->part[w].b[r]);
      }
    pn_free(job, sizeof *job);
    if (result != PN_OK) return result;
  }
  if (best.depth == 0.0)
    for (int k = 0; k < 3; ++k) best.direction[k] = 0.0;
  best.error = PN_MAX(best.depthMax - best.depth, best.depth - best.depthMin);
  overlap->depth = best;
  for (int i = 0; i < 2; ++i) overlap->depthFrames[i] = solids[i].frame;
  *outResult = best;
  outResult->time = pn_clock() - start;
  return PN_OK;
}
