/* finding.c: findings in order, with names.
 *
 * A name must be the same tomorrow: after the file was exported again, with other triangle and vertex numbers, at another frame
 * rate, after an animator moved a key. So it is made of words and of a place, not of numbers: the names of the bodies, on each side
 * the label with the most triangles, and, for a body that has no labels, in which third of its box along each axis the middle of the
 * contact is on the rest mesh. Thirds and not halves: much of what is made by people is symmetric, and its middle should not be on
 * a border. */
#include "find/find.h"

#include "base/fenv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABELS_LISTED 8u
#define CELLS 3

/* ---------------------------------------------------------------- names */

uint64_t pn_hashText(uint64_t hash, const char *text) {
  for (size_t i = 0; i == 0 || text[i - 1] != 0; ++i) hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3u;
  return hash;
}

static uint64_t hashSide(const pnFinderBody *body, const pnLabelCount *labels, uint32_t labelCount, pnVec3 place) {
  char number[16];
  uint64_t hash = pn_hashText(PN_HASH_BEGIN, body->name);
  uint32_t label = labelCount > 0 ? labels[0].label : PN_NONE;
  if (label != PN_NONE) {
    snprintf(number, sizeof number, "%u", label);
    return pn_hashText(hash, body->labelNames ? body->labelNames[label] : number);
  }
  const float at[3] = {place.x, place.y, place.z};
  for (int k = 0; k < 3; ++k) {
    int cell = at[k] * CELLS < 1 ? 0 : at[k] * CELLS < CELLS - 1 ? 1 : CELLS - 1;
    snprintf(number, sizeof number, "%d", cell);
    hash = pn_hashText(hash, number);
  }
  return hash;
}

static void nameFinding(const pnFinder *finder, pnFinding *f) {
  uint64_t a = hashSide(&finder->bodies.data[f->a], f->labelsA, f->labelCountA, f->placeA);
  uint64_t b = hashSide(&finder->bodies.data[f->b], f->labelsB, f->labelCountB, f->placeB);
  // The same whichever body comes first.
  uint64_t hash = (PN_MIN(a, b) * 0x9e3779b97f4a7c15u) ^ PN_MAX(a, b);
  hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
  snprintf(f->name, sizeof f->name, "%08x", (unsigned)(hash >> 32));
}

/* Of several with the same digits the second and further ones get a number, in the order of their first frames. */
static int compareNames(const void *p, const void *q) {
  const pnFinding *a = p, *b = q;
  int order = strcmp(a->name, b->name);
  if (order != 0) return order;
  if (a->firstFrame != b->firstFrame) return a->firstFrame < b->firstFrame ? -1 : 1;
  return a->number < b->number ? -1 : a->number > b->number;
}

static void numberNames(pnFinding *findings, size_t count) {
  if (count > 0) qsort(findings, count, sizeof(pnFinding), compareNames);
  char digits[9] = "";
  unsigned same = 0;
  for (size_t i = 0; i < count; ++i) {
    same = strncmp(findings[i].name, digits, 8) == 0 ? same + 1 : 1;
    memcpy(digits, findings[i].name, 8);
    if (same > 1) snprintf(findings[i].name + 8, PN_FINDING_NAME - 8, "-%u", same);
  }
}

/* ---------------------------------------------------------------- order */

static int byDepth(const void *p, const void *q) {
  const pnFinding *a = p, *b = q;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  bool aRepeats = a->repeats != PN_NONE, bRepeats = b->repeats != PN_NONE;
  if (aRepeats != bRepeats) return aRepeats ? 1 : -1;
  if (a->depth.value != b->depth.value) return a->depth.value > b->depth.value ? -1 : 1;
  return a->number < b->number ? -1 : a->number > b->number;
}

static int byFrames(const void *p, const void *q) {
  const pnFinding *a = p, *b = q;
  if (a->frameCount != b->frameCount) return a->frameCount > b->frameCount ? -1 : 1;
  return byDepth(p, q);
}

static int byFirst(const void *p, const void *q) {
  const pnFinding *a = p, *b = q;
  if (a->firstFrame != b->firstFrame) return a->firstFrame < b->firstFrame ? -1 : 1;
  return byDepth(p, q);
}

/* ---------------------------------------------------------------- repeats */

/* What carries all of a body; PN_NONE: no one thing does. */
static uint32_t carrierOfBody(const pnFinderBody *body) {
  uint32_t carrier = body->partCount > 0 ? body->parts[0].carrier : PN_NONE;
  for (uint32_t i = 1; i < body->partCount; ++i)
    if (body->parts[i].carrier != carrier) return PN_NONE;
  return carrier;
}

static bool isSamePlace(pnVec3 p, pnVec3 q) {
  const float far = 0.15f; /* of the box: as findings are known again by their place (pnDefaultCompareDef) */
  return fabsf(p.x - q.x) <= far && fabsf(p.y - q.y) <= far && fabsf(p.z - q.z) <= far;
}

static bool isDeeper(const pnFinding *g, const pnFinding *f) {
  return g->depth.value > f->depth.value || (g->depth.value == f->depth.value && g->number < f->number);
}

static bool doesRepeat(const uint32_t *carriers, const pnFinding *f, const pnFinding *g) {
  if (!isDeeper(g, f) || f->kind != g->kind || f->firstFrame > g->lastFrame || g->firstFrame > f->lastFrame)
    return false;
  for (int i = 0; i < 4; ++i) {
    uint32_t common = i & 1 ? f->b : f->a, other = i & 1 ? f->a : f->b;
    uint32_t commonG = i & 2 ? g->b : g->a, otherG = i & 2 ? g->a : g->b;
    if (common != commonG || other == otherG || common == other || common == otherG) continue;
    if (carriers[other] == PN_NONE || carriers[other] != carriers[otherG]) continue;
    if (isSamePlace(i & 1 ? f->placeB : f->placeA, i & 2 ? g->placeB : g->placeA)) return true;
  }
  return false;
}

/* The other body of a finding and of the one that it repeats are carried by the same: findings by what they have in common, a body, and
 * by the carrier of the other, in order. False: out of memory. */
static bool listByCommon(pnFinder *finder, const uint32_t *carriers) {
  finder->workOrder.count = 0;
  for (uint32_t i = 0; i < finder->findings.count; ++i) {
    const pnFinding *f = &finder->findings.data[i];
    for (int side = 0; side < 2 && f->a != f->b; ++side) {
      uint32_t common = side ? f->b : f->a, carrier = carriers[side ? f->a : f->b];
      pnWorkOrder order = {(uint64_t)common << 32 | carrier, i};
      if (carrier != PN_NONE && !pn_arrayPush(&finder->workOrder, order)) return false;
    }
  }
  if (finder->workOrder.count > 1)
    qsort(finder->workOrder.data, finder->workOrder.count, sizeof(pnWorkOrder), pn_compareOrder);
  return true;
}

/* Lists in which the other body is always the same say nothing, and go. */
static void keepMixed(pnFinder *finder) {
  pnWorkOrder *orders = finder->workOrder.data;
  size_t kept = 0;
  for (size_t i = 0, end; i < finder->workOrder.count; i = end) {
    const pnFinding *f = &finder->findings.data[orders[i].work];
    bool mixed = false;
    for (end = i; end < finder->workOrder.count && orders[end].key == orders[i].key; ++end) {
      const pnFinding *g = &finder->findings.data[orders[end].work];
      mixed = mixed || g->a + g->b != f->a + f->b;
    }
    for (size_t k = i; k < end && mixed; ++k) orders[kept++] = orders[k];
  }
  finder->workOrder.count = kept;
}

static const pnFinding *repeatedBy(const pnFinder *finder, const uint32_t *carriers, const pnFinding *f) {
  const pnFinding *best = NULL;
  const pnWorkOrder *list = finder->workOrder.data;
  size_t count = finder->workOrder.count, at[2];
  uint64_t keys[2];
  for (int side = 0; side < 2; ++side) {
    // its end is where the key changes
    keys[side] = (uint64_t)(side ? f->b : f->a) << 32 | carriers[side ? f->a : f->b];
    at[side] = pn_lowerOrder(list, count, keys[side]);
  }
  // Both lists as one, in order.
  for (;;) {
    bool left[2] = {at[0] < count && list[at[0]].key == keys[0], at[1] < count && list[at[1]].key == keys[1]};
    if (!left[0] && !left[1]) return best;
    int side = !left[0] || (left[1] && list[at[1]].work < list[at[0]].work);
    const pnFinding *g = &finder->findings.data[list[at[side]++].work];
    if (!isDeeper(g, best ? best : f)) continue;
    if (doesRepeat(carriers, f, g) && (!best || doesRepeat(carriers, best, g))) best = g;
  }
}

/* The deepest one that each repeats. */
static bool findRepeats(pnFinder *finder) {
  pnNumbers *carriers = &finder->numbers;
  if (!pn_arrayReserve(carriers, finder->bodies.count)) return false;
  for (size_t i = 0; i < finder->bodies.count; ++i) carriers->data[i] = carrierOfBody(&finder->bodies.data[i]);
  if (!listByCommon(finder, carriers->data)) return false;
  keepMixed(finder);
  for (size_t i = 0; i < finder->findings.count; ++i) {
    pnFinding *f = &finder->findings.data[i];
    const pnFinding *best = finder->workOrder.count > 0 ? repeatedBy(finder, carriers->data, f) : NULL;
    f->repeats = best ? best->number : PN_NONE;
  }
  return true;
}

/* ---------------------------------------------------------------- findings */

static pnFindingKind kindOf(const pnFinder *finder, const pnTrack *track) {
  if (track->carried) return PN_FINDING_CONSTANT;
  if (!track->atRest) return PN_FINDING_NEW;
  const pnFinding *f = &track->finding;
  double step = pn_stepOf(finder, f->a, f->b);
  bool deeper = f->depth.value > f->restDepth * (1 + finder->def.growth) + step;
  return deeper ? PN_FINDING_GROWING : PN_FINDING_CONSTANT;
}

/* The labels of one side with the most triangles. */
static bool listLabels(pnFinder *finder, pnTrack *track, int side, uint32_t *outCount) {
  size_t first = finder->findingLabels.count, count = track->labels[side].count;
  for (size_t i = 0; i < count; ++i)
    if (!pn_arrayPush(&finder->findingLabels, track->labels[side].data[i])) return false;
  if (count > 0) pn_sortLabels(finder->findingLabels.data + first, count);
  *outCount = (uint32_t)PN_MIN(count, LABELS_LISTED);
  finder->findingLabels.count = first + *outCount;
  return true;
}

static pnVec3 placeOf(const pnTrack *track, int side) {
  const double *sum = track->place[side];
  double w = track->weight > 0 ? track->weight : 1;
  return (pnVec3){(float)(sum[0] / w), (float)(sum[1] / w), (float)(sum[2] / w)};
}

static bool listFinding(pnFinder *finder, pnTrack *track) {
  pnFinding f = track->finding;
  f.kind = kindOf(finder, track);
  f.samples = track->samples.data;
  f.sampleCount = (uint32_t)track->samples.count;
  f.placeA = placeOf(track, 0);
  f.placeB = placeOf(track, 1);
  if (f.depth.value < 0) f.depth.value = 0;
  return listLabels(finder, track, 0, &f.labelCountA) && listLabels(finder, track, 1, &f.labelCountB) &&
         pn_arrayPush(&finder->findings, f);
}

pnResult pnFinder_Rank(pnFinder *finder, pnFindingOrder order) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(finder);
  finder->findings.count = finder->findingLabels.count = 0;
  for (size_t i = 0; i < finder->tracks.count; ++i) {
    if (listFinding(finder, &finder->tracks.data[i])) continue;
    finder->findings.count = 0;
    return pn_failMemory(sizeof(pnFinding));
  }
  // The labels stay where they are from here on.
  const pnLabelCount *labels = finder->findingLabels.data; /* null: nobody has any */
  size_t at = 0;
  for (size_t i = 0; i < finder->findings.count; ++i) {
    pnFinding *f = &finder->findings.data[i];
    f->labelsA = labels ? labels + at : NULL;
    f->labelsB = labels ? labels + at + f->labelCountA : NULL;
    at += f->labelCountA + f->labelCountB;
    nameFinding(finder, f);
  }
  numberNames(finder->findings.data, finder->findings.count);
  if (!findRepeats(finder)) {
    finder->findings.count = 0;
    return pn_failMemory(sizeof(pnWorkOrder));
  }
  if (finder->findings.count > 0)
    qsort(finder->findings.data, finder->findings.count, sizeof(pnFinding),
          order == PN_FINDINGS_BY_FRAMES  ? byFrames
          : order == PN_FINDINGS_BY_FIRST ? byFirst
                                          : byDepth);
  return PN_OK;
}

/* ---------------------------------------------------------------- getters */

const pnFinding *pnFinder_GetFindings(const pnFinder *finder, uint32_t *outCount) {
  if (outCount) *outCount = (uint32_t)finder->findings.count;
  return finder->findings.data;
}
const pnRegion *pnFinder_GetRegions(const pnFinder *finder, uint32_t *outCount) {
  if (outCount) *outCount = (uint32_t)finder->regions.count;
  return finder->regions.data;
}
const pnPair *pnFinder_GetRegionPairs(const pnFinder *finder, size_t *outCount) {
  if (outCount) *outCount = finder->regionPairs.count;
  return finder->regionPairs.data;
}
const pnLabelCount *pnFinder_GetRegionLabels(const pnFinder *finder, uint32_t *outCount) {
  if (outCount) *outCount = (uint32_t)finder->regionLabels.count;
  return finder->regionLabels.data;
}
const pnCurve *pnFinder_GetCurves(const pnFinder *finder, uint32_t *outCount) {
  if (outCount) *outCount = (uint32_t)finder->curves.count;
  return finder->curves.data;
}
const pnVec3 *pnFinder_GetCurvePoints(const pnFinder *finder, uint32_t *outCount) {
  if (outCount) *outCount = (uint32_t)finder->curvePoints.count;
  return finder->curvePoints.data;
}
bool pnFinder_IsLimited(const pnFinder *finder) {
  PN_ASSERT(finder);
  return finder->nestsLimited;
}

uint32_t pnFinder_GetDroppedCount(const pnFinder *finder) {
  return finder->droppedCount;
}
