/* look.c: a frame that was looked at elsewhere: its regions and sights as bytes, and back with distrust.
 *
 * Looking is the work of a frame and does not depend on the frames before it; tracking is quick and does. So frames may be looked
 * at in any order, by many processes, and one finder takes their looks in order: its findings are those of one finder that saw all
 * frames, bit for bit.
 *
 * One thing is handed from frame to frame while looking: the depth of a carried region, measured when it is first seen (known.c).
 * Who looks skips what it has measured itself; who takes the look puts its own first measurement there, and where it has none,
 * says so: then the frame must be looked at again, here.
 *
 * The block, numbers as the machine has them, lists as a count and then their items:
 *
 *   mark, flags (1: a region is carried, 2: the frame is limited), regions
 *   each region   a b inner | flags | pairs | labels of a, of b | curves, each closed? length points | curve length, box,
 *                 centre | depth | volume | parts | depth at rest | arrow | triangles of a, of b */
#include "find/find.h"

#include "base/fenv.h"

#include <math.h>
#include <string.h>

#define LOOK_MARK 0x314C6E70u /* "pnL1" */

enum { HAS_CARRIED = 1, HAS_LIMIT = 2, ALL_LOOK_FLAGS = 3 };
enum { IS_CARRIED = 1, IS_AT_REST = 2, IS_MEASURED = 4, IS_FROM_A = 8, ALL_FLAGS = 15 };

/* ---------------------------------------------------------------- into bytes */

static void putDouble(pnByteWriter *w, double x) {
  pn_putBytes(w, &x, sizeof x);
}

static void putVector(pnByteWriter *w, pnVec3 v) {
  pn_putBytes(w, &v.x, sizeof(float));
  pn_putBytes(w, &v.y, sizeof(float));
  pn_putBytes(w, &v.z, sizeof(float));
}

static void putLabels(pnByteWriter *w, const pnLabelCount *labels, size_t first, uint32_t count) {
  pn_putU32(w, count);
  for (size_t i = first; i < first + count; ++i) {
    pn_putU32(w, labels[i].label);
    pn_putU32(w, labels[i].triangleCount);
  }
}

static void putCurves(pnByteWriter *w, const pnFinder *finder, const pnRegion *region) {
  pn_putU32(w, region->curveCount);
  for (uint32_t c = region->firstCurve; c < region->firstCurve + region->curveCount; ++c) {
    const pnCurve *curve = &finder->curves.data[c];
    pn_putU32(w, curve->closed);
    putDouble(w, curve->length);
    pn_putU32(w, curve->pointCount);
    for (uint32_t p = 0; p < curve->pointCount; ++p) putVector(w, finder->curvePoints.data[curve->firstPoint + p]);
  }
}

static void putDepth(pnByteWriter *w, const pnDepth *depth) {
  pn_putU32(w, depth->kind);
  pn_putU32(w, depth->triangle);
  putDouble(w, depth->value);
  putDouble(w, depth->max);
  putVector(w, depth->from);
  putVector(w, depth->onto);
}

static void putSight(pnByteWriter *w, const pnFinder *finder, const pnSight *sight) {
  pn_putU32(w, sight->partA);
  pn_putU32(w, sight->partB);
  putDouble(w, sight->restDepth);
  pn_putU32(w, sight->own);
  pn_putU32(w, sight->onto);
  for (int k = 0; k < 2; ++k) putDouble(w, sight->fromAt[k]), putDouble(w, sight->ontoAt[k]);
  for (int side = 0; side < 2; ++side) {
    pn_putU32(w, sight->triangleCount[side]);
    for (uint32_t i = 0; i < sight->triangleCount[side]; ++i)
      pn_putU32(w, finder->sightTriangles.data[sight->triangleFirst[side] + i]);
  }
}

static void putRegion(pnByteWriter *w, const pnFinder *finder, size_t i) {
  const pnRegion *region = &finder->regions.data[i];
  const pnSight *sight = &finder->sights.data[i];
  pn_putU32(w, region->a);
  pn_putU32(w, region->b);
  pn_putU32(w, region->inner);
  pn_putU32(w, (region->carried ? IS_CARRIED : 0u) | (region->atRest ? IS_AT_REST : 0u) |
                   (sight->isMeasured ? IS_MEASURED : 0u) | (region->depth.fromA ? IS_FROM_A : 0u));
  pn_putU64(w, region->pairCount);
  for (size_t p = region->firstPair; p < region->firstPair + region->pairCount; ++p) {
    pn_putU32(w, finder->regionPairs.data[p].a);
    pn_putU32(w, finder->regionPairs.data[p].b);
  }
  putLabels(w, finder->regionLabels.data, region->firstLabelA, region->labelCountA);
  putLabels(w, finder->regionLabels.data, region->firstLabelB, region->labelCountB);
  putCurves(w, finder, region);
  putDouble(w, region->curveLength);
  putVector(w, region->box.min);
  putVector(w, region->box.max);
  putVector(w, region->centre);
  putDepth(w, &region->depth);
  putDouble(w, region->volume);
  putSight(w, finder, sight);
}

static size_t putLook(char *block, const pnFinder *finder) {
  pnByteWriter w = {block, 0};
  uint32_t flags = finder->nestsLimited ? HAS_LIMIT : 0;
  for (size_t i = 0; i < finder->regions.count; ++i) flags |= finder->regions.data[i].carried ? HAS_CARRIED : 0;
  pn_putU32(&w, LOOK_MARK);
  pn_putU32(&w, flags);
  pn_putU64(&w, finder->regions.count);
  for (size_t i = 0; i < finder->regions.count; ++i) putRegion(&w, finder, i);
  return w.at;
}

pnResult pnFinder_LookAtFrame(pnFinder *finder, const pnFinderFrame *frame, const void **outBytes,
                              size_t *outByteCount) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(finder && frame && !frame->rest && (frame->contactCount == 0 || frame->contacts) && outBytes &&
            outByteCount);
  PN_ASSERT(!finder->hasFrame);
  pnResult result = pn_lookAtFrame(finder, frame);
  if (result == PN_OK) {
    // Written before what is known from earlier frames replaces it: whoever takes the look has its own.
    size_t bytes = putLook(NULL, finder);
    if (!pn_arrayReserve(&finder->look, bytes)) result = pn_failMemory(bytes);
    if (result == PN_OK) finder->look.count = putLook(finder->look.data, finder);
  }
  if (result == PN_OK) result = pn_recallCarried(finder);
  if (result != PN_OK) pn_forgetFrame(finder);
  *outBytes = result == PN_OK ? finder->look.data : NULL;
  *outByteCount = result == PN_OK ? finder->look.count : 0;
  return result;
}

/* ---------------------------------------------------------------- back */

/* What was read is no look of this finder's bodies. */
typedef struct Reading {
  pnByteReader r;
  pnFinder *finder;
  bool isWrong, isOut; /* something cannot be; out of memory */
} Reading;

static void expect(Reading *in, bool good) {
  in->isWrong |= !good;
}

static bool goesOn(const Reading *in) {
  return !in->r.isShort && !in->isWrong && !in->isOut;
}

static double takeDouble(Reading *in) {
  double x;
  pn_takeBytes(&in->r, &x, sizeof x);
  expect(in, isfinite(x));
  return x;
}

static pnVec3 takeVector(Reading *in) {
  float v[3];
  pn_takeBytes(&in->r, v, sizeof v);
  expect(in, isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]));
  return (pnVec3){v[0], v[1], v[2]};
}

/* A number below `end`, or PN_NONE where that is allowed. */
static uint32_t takeNumber(Reading *in, uint32_t end, bool none) {
  uint32_t x = pn_takeU32(&in->r);
  expect(in, x < end || (none && x == PN_NONE));
  return x;
}

static void takePairs(Reading *in, const pnFinderBody *a, const pnFinderBody *b, pnRegion *region) {
  pnFinder *f = in->finder;
  uint64_t count = pn_takeU64(&in->r);
  region->firstPair = f->regionPairs.count;
  if (!pn_hasLeft(&in->r, count, sizeof(pnPair))) return;
  in->isOut |= !pn_arrayReserve(&f->regionPairs, f->regionPairs.count + count);
  for (uint64_t i = 0; i < count && goesOn(in); ++i) {
    pnPair pair;
    pair.a = takeNumber(in, a->mesh->triangleCount, false);
    pair.b = takeNumber(in, b->mesh->triangleCount, false);
    const pnPair *last = i > 0 ? &f->regionPairs.data[f->regionPairs.count - 1] : NULL;
    expect(in, !last || last->a < pair.a || (last->a == pair.a && last->b < pair.b));
    f->regionPairs.data[f->regionPairs.count++] = pair;
  }
  region->pairCount = f->regionPairs.count - region->firstPair;
}

static void takeLabels(Reading *in, const pnFinderBody *body, uint32_t *outFirst, uint32_t *outCount) {
  pnFinder *f = in->finder;
  uint32_t count = pn_takeU32(&in->r);
  *outFirst = (uint32_t)f->regionLabels.count;
  if (!pn_hasLeft(&in->r, count, sizeof(pnLabelCount))) return;
  for (uint32_t i = 0; i < count && goesOn(in); ++i) {
    pnLabelCount label;
    label.label = takeNumber(in, body->labelCount, true);
    label.triangleCount = pn_takeU32(&in->r);
    expect(in, label.triangleCount > 0);
    in->isOut |= !pn_arrayPush(&f->regionLabels, label);
  }
  *outCount = (uint32_t)f->regionLabels.count - *outFirst;
}

static void takeCurves(Reading *in, pnRegion *region) {
  pnFinder *f = in->finder;
  uint32_t count = pn_takeU32(&in->r);
  region->firstCurve = (uint32_t)f->curves.count;
  for (uint32_t c = 0; c < count && goesOn(in); ++c) {
    pnCurve curve = {.firstPoint = (uint32_t)f->curvePoints.count};
    curve.closed = takeNumber(in, 2, false) == 1;
    curve.length = takeDouble(in);
    uint32_t points = pn_takeU32(&in->r);
    if (!pn_hasLeft(&in->r, points, 3 * sizeof(float))) return;
    for (uint32_t p = 0; p < points && goesOn(in); ++p) in->isOut |= !pn_arrayPush(&f->curvePoints, takeVector(in));
    curve.pointCount = (uint32_t)f->curvePoints.count - curve.firstPoint;
    in->isOut |= !pn_arrayPush(&f->curves, curve);
  }
  region->curveCount = (uint32_t)f->curves.count - region->firstCurve;
}

static void takeDepth(Reading *in, const pnFinderBody *own, pnDepth *depth) {
  depth->kind = (pnDepthKind)takeNumber(in, PN_DEPTH_KIND_COUNT, false);
  depth->triangle = takeNumber(in, own->mesh->triangleCount, true);
  depth->value = takeDouble(in);
  depth->max = takeDouble(in);
  expect(in, depth->value >= 0);
  depth->from = takeVector(in);
  depth->onto = takeVector(in);
}

/* The triangles of one side: ascending, each once. */
static void takeTriangles(Reading *in, const pnFinderBody *body, int side, pnSight *sight) {
  pnNumbers *all = &in->finder->sightTriangles;
  uint32_t count = pn_takeU32(&in->r);
  sight->triangleFirst[side] = all->count;
  if (!pn_hasLeft(&in->r, count, sizeof(uint32_t))) return;
  in->isOut |= !pn_arrayReserve(all, all->count + count);
  for (uint32_t i = 0; i < count && goesOn(in); ++i) {
    uint32_t triangle = takeNumber(in, body->mesh->triangleCount, false);
    expect(in, i == 0 || all->data[all->count - 1] < triangle);
    all->data[all->count++] = triangle;
  }
  sight->triangleCount[side] = (uint32_t)(all->count - sight->triangleFirst[side]);
}

static pnSight takeSight(Reading *in, const pnFinderBody *a, const pnFinderBody *b, const pnRegion *region) {
  pnSight sight = {0};
  const pnFinderBody *own = region->depth.fromA ? a : b, *other = region->depth.fromA ? b : a;
  sight.partA = takeNumber(in, a->partCount, false);
  sight.partB = takeNumber(in, b->partCount, false);
  sight.restDepth = takeDouble(in);
  sight.own = takeNumber(in, own->mesh->triangleCount, true);
  sight.onto = takeNumber(in, other->mesh->triangleCount, true);
  // Both or neither.
  expect(in, (sight.own == PN_NONE) == (sight.onto == PN_NONE) && sight.restDepth >= 0);
  for (int k = 0; k < 2; ++k) sight.fromAt[k] = takeDouble(in), sight.ontoAt[k] = takeDouble(in);
  takeTriangles(in, a, 0, &sight);
  takeTriangles(in, b, 1, &sight);
  return sight;
}

static void takeRegion(Reading *in) {
  pnFinder *f = in->finder;
  pnRegion region = {.finding = PN_NONE};
  region.a = takeNumber(in, (uint32_t)f->bodies.count, false);
  region.b = takeNumber(in, (uint32_t)f->bodies.count, false);
  region.inner = pn_takeU32(&in->r);
  uint32_t flags = takeNumber(in, ALL_FLAGS + 1, false);
  expect(in, region.inner == PN_NONE || region.inner == region.a || region.inner == region.b);
  if (!goesOn(in)) return;
  const pnFinderBody *a = &f->bodies.data[region.a], *b = &f->bodies.data[region.b];
  // Those of two bodies come one after the other.
  const pnRegion *last = f->regions.count > 0 ? &f->regions.data[f->regions.count - 1] : NULL;
  uint32_t low = PN_MIN(region.a, region.b), lastLow = last ? PN_MIN(last->a, last->b) : 0;
  expect(in, !last || lastLow < low || (lastLow == low && PN_MAX(last->a, last->b) <= PN_MAX(region.a, region.b)));
  region.carried = flags & IS_CARRIED;
  region.atRest = flags & IS_AT_REST;
  region.depth.fromA = flags & IS_FROM_A;
  takePairs(in, a, b, &region);
  takeLabels(in, a, &region.firstLabelA, &region.labelCountA);
  takeLabels(in, b, &region.firstLabelB, &region.labelCountB);
  takeCurves(in, &region);
  region.curveLength = takeDouble(in);
  region.box.min = takeVector(in);
  region.box.max = takeVector(in);
  region.centre = takeVector(in);
  takeDepth(in, region.depth.fromA ? a : b, &region.depth);
  region.volume = takeDouble(in);
  if (!goesOn(in)) return;
  pnSight sight = takeSight(in, a, b, &region);
  sight.isMeasured = flags & IS_MEASURED;
  expect(in, sight.isMeasured || region.carried);
  if (!goesOn(in)) return;
  in->isOut |= !pn_arrayPush(&f->sights, sight) || !pn_arrayPush(&f->regions, region);
}

static pnResult takeLook(pnFinder *finder, const void *bytes, size_t byteCount) {
  Reading in = {.r = {.block = bytes, .bytes = byteCount}, .finder = finder};
  uint32_t mark = pn_takeU32(&in.r), flags = pn_takeU32(&in.r);
  uint64_t count = pn_takeU64(&in.r);
  expect(&in, mark == LOOK_MARK && flags <= ALL_LOOK_FLAGS);
  pn_forgetFrame(finder);
  for (uint64_t i = 0; i < count && goesOn(&in); ++i) takeRegion(&in);
  expect(&in, in.r.at == in.r.bytes);
  // Poses are needed for what is carried, and whoever asked beforehand must have been told.
  for (size_t i = 0; i < finder->regions.count; ++i)
    expect(&in, !finder->regions.data[i].carried || (flags & HAS_CARRIED));
  finder->nestsLimited = flags & HAS_LIMIT;
  if (in.isOut) return pn_failMemory(byteCount);
  if (!goesOn(&in))
    return pn_fail(PN_ERROR_FORMAT, "finder: at byte %zu of %zu: this is no look at these bodies", in.r.at, byteCount);
  return PN_OK;
}

bool pnFinder_LookNeedsPoses(const void *bytes, size_t byteCount) {
  PN_FLOAT_SCOPE;
  pnByteReader r = {.block = bytes, .bytes = byteCount};
  uint32_t mark = pn_takeU32(&r), flags = pn_takeU32(&r);
  return mark == LOOK_MARK && flags <= ALL_LOOK_FLAGS && (flags & HAS_CARRIED);
}

pnResult pnFinder_AddLook(pnFinder *finder, const pnFinderFrame *frame, const void *bytes, size_t byteCount) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(finder && frame && !frame->rest && (bytes || byteCount == 0));
  pnResult result = pn_checkOrder(finder, frame);
  if (result == PN_OK) result = takeLook(finder, bytes, byteCount);
  if (result == PN_OK) result = pn_recallCarried(finder);
  if (result != PN_OK) {
    // Nothing has happened: the frame may be added in another way.
    pn_forgetFrame(finder);
    return result;
  }
  finder->begun = true;
  result = pn_trackRegions(finder, frame);
  return pn_endFrame(finder, frame, result);
}
