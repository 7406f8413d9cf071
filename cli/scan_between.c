/* scan_between.c: what happens between two frames and is seen in neither.
 *
 * From one frame to the next every vertex goes on a straight line (pnWorld_CollideSwept), or on several where something turns: the
 * way is divided so that no joint and no node turns by more than PN_BETWEEN_TURN in a part, which an animation can be asked
 * for; a vertex cache has nothing between its frames. Frames that --frames leaves out are on the way. Impacts that hang together and have no pair of triangles in either frame
 * are passages (pnFindPassages). For them the scene is looked at once more, at a moment when they happen, half of
 * their impacts before and half behind it: a moment is a frame whose number has a fraction, in thousandths. Pairs of
 * a passage that meet at the moment go to the finder like those of a frame. Where none does (flat things that pass through each other
 * meet for no time at all, and arcs are not chords) it gets the pairs that met on the way.
 *
 * Memory: the impacts of one step, at most --max-pairs. */
#include "scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Vertices at distance r from the axis leave their arcs by r (1 - cos 5 deg) = 0.004 r in a part of 10 degrees. */
#define PN_BETWEEN_TURN 10.0
/* A joint that turns by half a turn, the most there can be from one frame to the next, makes so many parts. */
#define PN_BETWEEN_PARTS 18u
/* So many moments of one step are looked at. Passages at other times are shown in the nearest. */
#define PN_BETWEEN_MOMENTS 8u

/* ---------------------------------------------------------------- numbers of frames */

int64_t pn_frameTick(const pnScan *scan, int64_t number, uint32_t part) {
  return scan->options->between ? number * PN_FRAME_PARTS + part : number;
}

double pn_frameNumber(const pnScan *scan, int64_t tick) {
  return scan->options->between ? (double)tick / PN_FRAME_PARTS : (double)tick;
}

/* ---------------------------------------------------------------- memory */

static bool grow(void *pointer, size_t *capacity, size_t wanted, size_t size) {
  void *old = *(void **)pointer, *data;
  if (wanted <= *capacity) return true;
  data = realloc(old, 2 * wanted * size);
  if (!data) return false;
  *(void **)pointer = data;
  *capacity = 2 * wanted;
  return true;
}

static pnResult outOfMemory(void) {
  return pnFail(PN_ERROR_MEMORY, "out of memory for what happens between two frames");
}

void pn_betweenEnd(pnScanBetween *between) {
  pnDestroyPassageList(between->list);
  free(between->before.contacts);
  free(between->before.pairs);
  free(between->impacts);
  free(between->order);
  free(between->passages);
  free(between->passagePairs);
  free(between->turns);
  free(between->contacts);
  free(between->pairs);
  memset(between, 0, sizeof(*between));
}

/* ---------------------------------------------------------------- the frame before */

/* A copy of what meets in the frame, sorted as it is. */
static bool copyContacts(const pnScanFrame *frame, pnScanCopy *copy) {
  if (!grow(&copy->contacts, &copy->contactCapacity, frame->contactCount, sizeof(pnScanContact)) ||
      !grow(&copy->pairs, &copy->pairCapacity, frame->pairCount, sizeof(pnPair)))
    return false;
  pn_scanCopyContacts(frame, copy->contacts, copy->pairs);
  copy->contactCount = frame->contactCount;
  return true;
}

pnResult pn_betweenBegin(pnScan *scan) {
  pnScanBetween *between = &scan->between;
  if (!scan->options->between) return PN_OK;
  between->begun = true;
  between->run = scan->run;
  between->from = scan->frame.number;
  between->beforeLimited = scan->frame.limited;
  between->standing = false;
  if (!copyContacts(&scan->frame, &between->before)) return outOfMemory();
  return pnWorld_BeginStep(scan->world);
}

/* ---------------------------------------------------------------- parts of a step */

/* Calls for every matrix that moves a body, in one order: copies it, or compares it with the copy. Returns the greatest turn. */
static double goThroughMatrices(pnScan *scan, bool compare) {
  pnScanBetween *between = &scan->between;
  size_t at = 0;
  double most = 0;
  for (uint32_t b = 0; b < scan->bodyCount; ++b) {
    const pnScanBody *body = &scan->bodies[b];
    const pnScanSource *source = &scan->sources[body->source];
    if (body->id.index1 == 0 || !body->wanted || !source->file) continue;
    uint32_t count = body->skin ? pnSkin_GetJointCount(body->skin) : 1;
    const pnMatrix *matrices = body->skin ? pnAnimState_GetJoints(source->state, body->animBody)
                                          : pnAnimState_GetTransform(source->state, body->animBody);
    for (uint32_t j = 0; j < count; ++j, ++at)
      if (compare) most = fmax(most, pnGetTurn(&between->turns[at], &matrices[j]));
      else between->turns[at] = matrices[j];
  }
  return most;
}

static bool reserveMatrices(pnScan *scan) {
  size_t count = 0;
  for (uint32_t b = 0; b < scan->bodyCount; ++b)
    count += scan->bodies[b].skin ? pnSkin_GetJointCount(scan->bodies[b].skin) : 1;
  return grow(&scan->between.turns, &scan->between.turnCapacity, count, sizeof(pnMatrix));
}

/* ---------------------------------------------------------------- impacts */

/* Adds the impacts of a part, with times of the whole step. False: out of memory. */
static bool takeImpacts(pnScan *scan, const pnStep *step, double begin, double length) {
  pnScanBetween *between = &scan->between;
  if (!grow(&between->impacts, &between->impactCapacity, between->impactCount + step->impactCount,
            sizeof(pnFeatureImpact)) ||
      !grow(&between->order, &between->orderCapacity, between->orderCount + step->contactCount, sizeof(pnScanImpacts)))
    return false;
  const pnStepContact *contacts = pnWorld_GetStepContacts(scan->world);
  for (uint32_t i = 0; i < step->contactCount; ++i) {
    const pnFeatureImpact *impacts = pnWorld_GetImpacts(scan->world) + contacts[i].firstImpact;
    uint32_t a = pn_scanBodyNumber(scan, contacts[i].a), b = pn_scanBodyNumber(scan, contacts[i].b);
    if (!pn_choiceAllows(&scan->choice, a, b)) continue;
    between->order[between->orderCount++] =
        (pnScanImpacts){a, b, between->impactCount, contacts[i].impactCount, between->orderCount};
    for (size_t k = 0; k < contacts[i].impactCount; ++k) {
      pnFeatureImpact impact = impacts[k];
      impact.lo = begin + length * impact.lo;
      impact.hi = begin + length * impact.hi;
      between->impacts[between->impactCount++] = impact;
    }
  }
  return true;
}

/* Into how many parts the way from frame `number` to the next is divided. The files stand in that frame. */
static pnResult countParts(pnScan *scan, int64_t number, uint32_t *outCount) {
  goThroughMatrices(scan, false);
  pnResult result = pn_scanEvaluate(scan, number + 1);
  double parts = ceil(goThroughMatrices(scan, true) / (PN_BETWEEN_TURN * (3.14159265358979323846 / 180)) - 1e-6);
  *outCount = parts < 1 ? 1 : parts > PN_BETWEEN_PARTS ? PN_BETWEEN_PARTS : (uint32_t)parts;
  return result;
}

/* The impacts of one part, which ends where the bodies are now. */
static pnResult sweepPart(pnScan *scan, double begin, double length, bool *outLimited) {
  const pnScanBetween *between = &scan->between;
  pnStepDef def = pnDefaultStepDef();
  def.maxImpacts = scan->options->maxPairs;
  pnStep step = pnWorld_CollideSwept(scan->world, &def);
  *outLimited =
      step.limited || (def.maxImpacts > 0 && between->impactCount + step.impactCount > (size_t)def.maxImpacts);
  if (step.result != PN_OK || *outLimited) return step.result;
  return takeImpacts(scan, &step, begin, length) ? pnWorld_BeginStep(scan->world) : outOfMemory();
}

/* All impacts of the step, part by part. Ends with the world in frame `to`. Frames that --frames leaves out are on the way. */
static pnResult sweepStep(pnScan *scan, int64_t to, bool *outLimited) {
  pnScanBetween *between = &scan->between;
  between->impactCount = between->orderCount = 0;
  if (!reserveMatrices(scan)) return outOfMemory();
  pnResult result = PN_OK;
  double length = 1 / (double)(to - between->from);
  for (int64_t number = between->from; number < to && result == PN_OK && !*outLimited; ++number) {
    uint32_t count;
    result = countParts(scan, number, &count);
    for (uint32_t p = 1; p <= count && result == PN_OK && !*outLimited; ++p) {
      double begin = ((double)(number - between->from) + (p - 1.0) / count) * length;
      result = p < count ? pn_scanMoveTo(scan, number, (double)p / count) : pn_scanMoveTo(scan, number + 1, 0);
      if (result == PN_OK) result = sweepPart(scan, begin, length / count, outLimited);
    }
  }
  return result == PN_OK && *outLimited ? pn_scanMoveTo(scan, to, 0) : result;
}

/* ---------------------------------------------------------------- passages */

/* By bodies, parts of the step in order. */
static int compareImpacts(const void *left, const void *right) {
  const pnScanImpacts *x = left, *y = right;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  if (x->b != y->b) return x->b < y->b ? -1 : 1;
  return x->place < y->place ? -1 : x->place > y->place;
}

/* The contact of two bodies in a sorted list; an empty one when they do not meet. */
static pnScanContact contactOf(const pnScanContact *contacts, uint32_t count, uint32_t a, uint32_t b) {
  for (uint32_t i = 0; i < count; ++i)
    if (contacts[i].a == a && contacts[i].b == b) return contacts[i];
  return (pnScanContact){.a = a, .b = b};
}

pnResult pn_reservePassages(pnScanBetween *between, size_t count) {
  bool good = grow(&between->passages, &between->passageCapacity, count, sizeof(pnScanPassage));
  return good ? PN_OK : outOfMemory();
}

static pnResult keepPassages(pnScanBetween *between, uint32_t a, uint32_t b) {
  size_t count, pairCount;
  const pnPassage *passages = pnPassageList_GetPassages(between->list, &count);
  const pnPair *pairs = pnPassageList_GetPairs(between->list, &pairCount);
  if (pn_reservePassages(between, between->passageCount + count) != PN_OK ||
      !grow(&between->passagePairs, &between->passagePairCapacity, between->passagePairCount + pairCount,
            sizeof(pnPair)))
    return outOfMemory();
  for (size_t i = 0; i < count; ++i) {
    pnScanPassage passage = {.a = a, .b = b, .core = passages[i]};
    passage.core.firstPair += between->passagePairCount;
    between->passages[between->passageCount++] = passage;
  }
  if (pairCount > 0) memcpy(between->passagePairs + between->passagePairCount, pairs, pairCount * sizeof(pnPair));
  between->passagePairCount += pairCount;
  return PN_OK;
}

/* The passages of all bodies, by bodies. scan->frame has what meets in the frame after. */
static pnResult findPassages(pnScan *scan) {
  pnScanBetween *between = &scan->between;
  const pnScanFrame *after = &scan->frame;
  between->passageCount = between->passagePairCount = 0;
  pnResult result = between->list ? PN_OK : pnCreatePassageList(&between->list);
  if (between->orderCount > 0) qsort(between->order, between->orderCount, sizeof(pnScanImpacts), compareImpacts);
  for (size_t i = 0; i < between->orderCount && result == PN_OK;) {
    // The impacts of two bodies, of all parts, one after the other.
    uint32_t a = between->order[i].a, b = between->order[i].b;
    size_t total = 0, end = i;
    while (end < between->orderCount && between->order[end].a == a && between->order[end].b == b)
      total += between->order[end++].count;
    if (!grow(&between->impacts, &between->impactCapacity, between->impactCount + total, sizeof(pnFeatureImpact)))
      return outOfMemory();
    pnFeatureImpact *together = between->impacts + between->impactCount;
    for (size_t k = i, at = 0; k < end; at += between->order[k++].count)
      memcpy(together + at, between->impacts + between->order[k].first,
             between->order[k].count * sizeof(pnFeatureImpact));
    pnScanContact before = contactOf(between->before.contacts, between->before.contactCount, a, b);
    pnScanContact met = contactOf(after->contacts, after->contactCount, a, b);
    pnPassageDef def = {.a = pnBody_GetSweep(scan->world, scan->bodies[a].id),
                        .b = a == b ? NULL : pnBody_GetSweep(scan->world, scan->bodies[b].id),
                        .impacts = together,
                        .impactCount = total,
                        .before = before.pairs,
                        .beforeCount = before.pairCount,
                        .after = met.pairs,
                        .afterCount = met.pairCount};
    result = pnFindPassages(&def, between->list);
    if (result == PN_OK) result = keepPassages(between, a, b);
    i = end;
  }
  return result;
}

/* ---------------------------------------------------------------- moments */

/* The thousandth of a frame, after `from`, at which a passage is shown: half of its features have met. */
static int64_t middleOf(const pnScanBetween *between, const pnScanPassage *passage, int64_t to) {
  int64_t length = (to - between->from) * PN_FRAME_PARTS;
  int64_t at = (int64_t)floor(passage->core.middle * (double)length);
  return at < 1 ? 1 : at > length - 1 ? length - 1 : at;
}

/* Which moments: of the passages that have none the one whose middle is first; all that are under way then are shown with it. */
static uint32_t chooseMoments(pnScanBetween *between, int64_t to, int64_t moments[PN_BETWEEN_MOMENTS]) {
  double length = (double)((to - between->from) * PN_FRAME_PARTS);
  uint32_t count = 0;
  for (size_t i = 0; i < between->passageCount; ++i) between->passages[i].moment = -1;
  for (; count < PN_BETWEEN_MOMENTS; ++count) {
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < between->passageCount; ++i)
      if (between->passages[i].moment < 0) {
        int64_t middle = middleOf(between, &between->passages[i], to);
        next = middle < next ? middle : next;
      }
    if (next == INT64_MAX) break;
    moments[count] = next;
    for (size_t i = 0; i < between->passageCount; ++i) {
      pnScanPassage *passage = &between->passages[i];
      bool underWay = passage->core.first * length <= (double)next && (double)next <= passage->core.last * length &&
                      passage->core.last - passage->core.first <= 2 / length * PN_FRAME_PARTS;
      if (passage->moment < 0 && (underWay || middleOf(between, passage, to) == next)) passage->moment = next;
    }
  }
  for (size_t i = 0; i < between->passageCount; ++i)
    if (between->passages[i].moment < 0) between->passages[i].moment = moments[count - 1];
  return count;
}

static bool isBefore(pnPair x, pnPair y) {
  return x.a != y.a ? x.a < y.a : x.b < y.b;
}

static int comparePairs(const void *left, const void *right) {
  const pnPair *x = left, *y = right;
  return isBefore(*x, *y) ? -1 : isBefore(*y, *x);
}

/* The pairs of a passage that meet now; all of them when none does. Returns how many. */
static size_t takePairs(const pnPair *pairs, size_t count, const pnScanContact *now, pnPair *out) {
  size_t found = 0, k = 0;
  for (size_t i = 0; i < count; ++i) {
    while (k < now->pairCount && isBefore(now->pairs[k], pairs[i])) ++k;
    if (k < now->pairCount && !isBefore(pairs[i], now->pairs[k])) out[found++] = pairs[i];
  }
  if (found > 0) return found;
  memcpy(out, pairs, count * sizeof(pnPair));
  return count;
}

/* The frame's contacts become those of the passages of a moment. */
static pnResult takePassages(pnScan *scan, int64_t moment) {
  pnScanBetween *between = &scan->between;
  pnScanFrame *frame = &scan->frame;
  if (!grow(&between->contacts, &between->contactCapacity, between->passageCount, sizeof(pnScanContact)) ||
      !grow(&between->pairs, &between->pairCapacity, between->passagePairCount, sizeof(pnPair)))
    return outOfMemory();
  uint32_t count = 0;
  size_t used = 0;
  for (size_t i = 0; i < between->passageCount; ++i) {
    const pnScanPassage *passage = &between->passages[i];
    if (passage->moment != moment) continue;
    pnScanContact now = contactOf(frame->contacts, frame->contactCount, passage->a, passage->b);
    size_t added = takePairs(between->passagePairs + passage->core.firstPair, passage->core.pairCount, &now,
                             between->pairs + used);
    bool goesOn =
        count > 0 && between->contacts[count - 1].a == passage->a && between->contacts[count - 1].b == passage->b;
    if (!goesOn) between->contacts[count++] = (pnScanContact){passage->a, passage->b, between->pairs + used, 0, 0};
    between->contacts[count - 1].pairCount += added;
    used += added;
  }
  // Pairs of passages are sorted in each, and no pair is in two.
  for (uint32_t i = 0; i < count; ++i) {
    pnScanContact *contact = &between->contacts[i];
    qsort((pnPair *)contact->pairs, contact->pairCount, sizeof(pnPair), comparePairs);
    contact->newCount = contact->pairCount;
  }
  memcpy(frame->contacts, between->contacts, count * sizeof(pnScanContact));
  frame->contactCount = count;
  frame->pairCount = frame->newCount = used;
  return PN_OK;
}

void pn_beginMoment(pnScan *scan, int64_t moment) {
  pnScanFrame *frame = &scan->frame;
  frame->run = scan->run;
  frame->number = scan->between.from + moment / PN_FRAME_PARTS;
  frame->part = (uint32_t)(moment % PN_FRAME_PARTS);
  frame->isMoment = true;
  frame->time = ((double)frame->number + (double)frame->part / PN_FRAME_PARTS) / scan->range.fps;
  scan->between.moment = moment;
}

static pnResult lookAtMoment(pnScan *scan, int64_t moment) {
  pnScanBetween *between = &scan->between;
  pnScanFrame *frame = &scan->frame;
  pn_beginMoment(scan, moment);
  pnResult result = pn_scanMoveTo(scan, frame->number, (double)frame->part / PN_FRAME_PARTS);
  if (result == PN_OK) result = pn_scanCollide(scan);
  if (result == PN_OK) result = pn_scanReserveContacts(frame, (uint32_t)between->passageCount);
  return result == PN_OK ? takePassages(scan, moment) : result;
}

pnResult pn_takeMoment(pnScan *scan, void *context) {
  (void)context;
  pnResult result = pn_findFrame(scan, false);
  if (result == PN_OK) result = pn_scanWriteFrame(scan);
  ++scan->between.momentCount;
  return result;
}

pnResult pn_scanLookBetween(pnScan *scan, int64_t to, pnMomentFcn *take, void *context) {
  pnScanBetween *between = &scan->between;
  if (!scan->options->between || !between->begun) return PN_OK;
  bool tooMany = false;
  between->to = to;
  pnResult result = sweepStep(scan, to, &tooMany);
  if (result == PN_OK) result = pn_scanCollide(scan);
  // A frame that is not known to its end cannot tell what it shows.
  tooMany = tooMany || scan->frame.limited || between->beforeLimited;
  between->limitedSteps += tooMany;
  between->standing = result == PN_OK;
  if (result != PN_OK || tooMany || between->impactCount == 0) return result;
  result = findPassages(scan);
  if (result != PN_OK || between->passageCount == 0) return result;
  int64_t moments[PN_BETWEEN_MOMENTS];
  uint32_t count = chooseMoments(between, to, moments);
  for (uint32_t i = 0; i < count && result == PN_OK; ++i) {
    result = lookAtMoment(scan, moments[i]);
    if (result == PN_OK) result = take(scan, context);
  }
  between->standing = false;
  scan->frame.isMoment = false;
  scan->frame.part = 0;
  between->passageTotal += between->passageCount;
  return result;
}
