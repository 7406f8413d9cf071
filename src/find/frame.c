/* frame.c: a frame on one page: contacts in, regions with depths out, and the regions to the tracks.
 *
 *   1  pairs of each contact into meets, sorted
 *   2  meets: which edges pierce what                           on all workers, some meets each
 *   3  regions, and the patches they cut off                    on all workers, a contact each
 *   4  parts wholly inside others
 *   5  the deepest point of every patch                         on all workers, a patch each
 *   6  regions as the door has them
 *   7  tracks
 *
 * What workers do is written where their item is, so the answer does not depend on who does what. */
#include "find/find.h"

#include "base/fenv.h"

#include <math.h>
#include <string.h>

#define MEET_GRAIN 256u

/* ---------------------------------------------------------------- memory */

uint32_t pn_newStamps(const pnFinder *finder, pnFindScratch *scratch, uint32_t more) {
  // Stamps start again when they run out.
  if (scratch->stamp >= UINT32_MAX - 16 - more) {
    memset(scratch->vertexStamps, 0, finder->vertexCount * sizeof(uint32_t));
    memset(scratch->triangleStamps, 0, finder->triangleCount * sizeof(uint32_t));
    scratch->stamp = 0;
  }
  uint32_t first = scratch->stamp + 1;
  scratch->stamp = first + more;
  return first;
}

double pn_stepOf(const pnFinder *finder, uint32_t a, uint32_t b) {
  double smaller = PN_MIN(finder->bodies.data[a].diagonal, finder->bodies.data[b].diagonal);
  return finder->def.step > 0 ? finder->def.step : smaller / 1000;
}

double pn_reachOf(const pnFinder *finder, uint32_t a, uint32_t b) {
  double smaller = PN_MIN(finder->bodies.data[a].diagonal, finder->bodies.data[b].diagonal);
  return finder->def.reach > 0 ? finder->def.reach : smaller / 50;
}

static void measureBodies(pnFinder *finder) {
  for (size_t i = 0; i < finder->bodies.count; ++i) {
    const pnFinderBody *body = &finder->bodies.data[i];
    finder->vertexCount = PN_MAX(finder->vertexCount, body->mesh->vertexCount);
    finder->triangleCount = PN_MAX(finder->triangleCount, body->mesh->triangleCount);
    finder->partCount = PN_MAX(finder->partCount, body->partCount);
  }
}

/* What all frames need, once. */
static pnResult begin(pnFinder *finder) {
  if (finder->scratches) return PN_OK;
  measureBodies(finder);
  uint32_t count = pn_workerCount(&finder->def.tasks);
  size_t bytes = (2 * (size_t)finder->vertexCount + finder->triangleCount) * sizeof(uint32_t) * count;
  pnWindings *windings = &finder->windings;
  size_t parts = PN_MAX(finder->partCount, 1u);
  windings->counts = windings->counts ? windings->counts : pn_allocZero(parts * sizeof(int32_t));
  windings->parts = windings->parts ? windings->parts : pn_alloc(parts * sizeof(uint32_t));
  pnFindScratch *scratches = pn_allocZero(count * sizeof(pnFindScratch));
  bool good = scratches && windings->counts && windings->parts;
  for (uint32_t i = 0; i < count && good; ++i) {
    pnFindScratch *s = &scratches[i];
    s->vertexStamps = pn_allocZero(PN_MAX(finder->vertexCount, 1u) * sizeof(uint32_t));
    s->vertexPlaces = pn_allocZero(PN_MAX(finder->vertexCount, 1u) * sizeof(uint32_t));
    s->triangleStamps = pn_allocZero(PN_MAX(finder->triangleCount, 1u) * sizeof(uint32_t));
    s->fresh.alone = count == 1;
    good = s->vertexStamps && s->vertexPlaces && s->triangleStamps;
  }
  finder->scratches = scratches;
  finder->scratchCount = scratches ? count : 0;
  if (!good) pn_freeFrame(finder);
  finder->begun = true;
  return good ? PN_OK : pn_failMemory(bytes);
}

static void freeWork(pnContactWork *work) {
  pn_arrayFree(&work->meets);
  pn_arrayFree(&work->order);
  pn_arrayFree(&work->drafts);
  pn_arrayFree(&work->marks);
  pn_arrayFree(&work->seeds);
  pn_arrayFree(&work->floods);
  pn_arrayFree(&work->vertices);
  pn_arrayFree(&work->patches);
}

void pn_freeFrame(pnFinder *finder) {
  for (uint32_t i = 0; i < finder->scratchCount; ++i) {
    pnFindScratch *s = &finder->scratches[i];
    pn_free(s->vertexStamps, PN_MAX(finder->vertexCount, 1u) * sizeof(uint32_t));
    pn_free(s->vertexPlaces, PN_MAX(finder->vertexCount, 1u) * sizeof(uint32_t));
    pn_free(s->triangleStamps, PN_MAX(finder->triangleCount, 1u) * sizeof(uint32_t));
    pn_arrayFree(&s->deep);
    pn_arrayFree(&s->cells);
    pn_arrayFree(&s->queue[0]);
    pn_arrayFree(&s->queue[1]);
    pn_arrayFree(&s->crossings);
  }
  pn_free(finder->scratches, finder->scratchCount * sizeof(pnFindScratch));
  pnWindings *windings = &finder->windings;
  pn_free(windings->counts, windings->counts ? PN_MAX(finder->partCount, 1u) * sizeof(int32_t) : 0);
  pn_free(windings->parts, windings->parts ? PN_MAX(finder->partCount, 1u) * sizeof(uint32_t) : 0);
  *windings = (pnWindings){0};
  finder->scratches = NULL;
  finder->scratchCount = 0;
  for (size_t i = 0; i < finder->workCapacity; ++i) freeWork(&finder->works.data[i]);
  finder->workCapacity = 0;
  pn_arrayFree(&finder->works);
  pn_arrayFree(&finder->keys);
  pn_arrayFree(&finder->meetItems);
  pn_arrayFree(&finder->diveItems);
  pn_arrayFree(&finder->workOrder);
  pn_arrayFree(&finder->wholes);
  pn_arrayFree(&finder->nests);
  pn_freeBroad(&finder->broad);
  pn_freeKin(finder);
  pn_arrayFree(&finder->comers);
  pn_arrayFree(&finder->numbers);
  pn_arrayFree(&finder->sources);
  pn_arrayFree(&finder->sights);
  pn_arrayFree(&finder->sightTriangles);
  pn_arrayFree(&finder->look);
  pn_arrayFree(&finder->curveEnds);
  pn_arrayFree(&finder->regions);
  pn_arrayFree(&finder->regionPairs);
  pn_arrayFree(&finder->regionLabels);
  pn_arrayFree(&finder->curves);
  pn_arrayFree(&finder->curvePoints);
}

pnContactWork *pn_addWork(pnFinder *finder, uint32_t a, uint32_t b) {
  // Beyond the count are works of earlier frames with their memory.
  if (finder->works.count == finder->workCapacity) {
    size_t count = finder->works.count;
    finder->works.count = finder->workCapacity;
    bool good = pn_arrayPush(&finder->works, (pnContactWork){0});
    finder->works.count = count;
    if (!good) return NULL;
    ++finder->workCapacity;
  }
  pnContactWork *work = &finder->works.data[finder->works.count++];
  work->a = a;
  work->b = b;
  work->self = a == b;
  work->outOfMemory = false;
  work->meets.count = work->order.count = work->drafts.count = work->seeds.count = 0;
  work->floods.count = work->vertices.count = work->patches.count = 0;
  return work;
}

/* ---------------------------------------------------------------- what workers do */

static void lookAtMeets(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  pnFinder *finder = context;
  for (uint32_t i = begin; i < end; ++i) {
    const pnMeetItem *item = &finder->meetItems.data[i];
    pnContactWork *work = &finder->works.data[item->work];
    pn_lookAtMeets(&finder->bodies.data[work->a], &finder->bodies.data[work->b], work->meets.data, item->begin,
                   item->end);
  }
}

static void findRegions(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  pnFinder *finder = context;
  for (uint32_t i = begin; i < end; ++i) {
    pnContactWork *work = &finder->works.data[i];
    bool good = pn_findRegions(finder, work);
    if (good && !finder->def.noDepth) good = pn_findPatches(finder, work, &finder->scratches[worker]);
    work->outOfMemory = !good;
  }
}

static void dive(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  pnFinder *finder = context;
  for (uint32_t i = begin; i < end; ++i) {
    pnContactWork *work = &finder->works.data[finder->diveItems.data[i].work];
    pnPatch *patch = &work->patches.data[finder->diveItems.data[i].patch];
    bool good = pn_findDeepest(finder, work, patch, &finder->scratches[worker]);
    finder->diveItems.data[i].good = good;
  }
}

/* ---------------------------------------------------------------- the steps */

static pnResult takeContacts(pnFinder *finder, const pnFinderFrame *frame) {
  finder->works.count = finder->meetItems.count = 0;
  for (uint32_t i = 0; i < frame->contactCount; ++i) {
    const pnFinderContact *contact = &frame->contacts[i];
    if (contact->a >= finder->bodies.count || contact->b >= finder->bodies.count)
      return pn_fail(PN_ERROR_INDEX, "finder: contact %u is between bodies %u and %u of %zu", i, contact->a, contact->b,
                     finder->bodies.count);
    if (contact->pairCount == 0) continue;
    pnContactWork *work = pn_addWork(finder, contact->a, contact->b);
    if (!work) return pn_failMemory(sizeof(pnContactWork));
    pnResult result = pn_takePairs(finder, contact, work, &finder->keys);
    if (result != PN_OK) return result;
    for (size_t at = 0; at < work->meets.count; at += MEET_GRAIN) {
      pnMeetItem item = {(uint32_t)finder->works.count - 1, at, PN_MIN(at + MEET_GRAIN, work->meets.count)};
      if (!pn_arrayPush(&finder->meetItems, item)) return pn_failMemory(sizeof item);
    }
  }
  return PN_OK;
}

static pnResult updateTrees(pnFinder *finder) {
  pnResult result = PN_OK;
  for (size_t i = 0; i < finder->bodies.count && result == PN_OK; ++i)
    result = pnTree_Update(finder->bodies.data[i].tree, &finder->def.tasks);
  return result;
}

static pnResult makeRegions(pnFinder *finder) {
  const pnTasks *tasks = &finder->def.tasks;
  pn_parallelFor(tasks, lookAtMeets, finder, (uint32_t)finder->meetItems.count, 1);
  pn_parallelFor(tasks, findRegions, finder, (uint32_t)finder->works.count, 1);
  for (size_t i = 0; i < finder->works.count; ++i)
    if (finder->works.data[i].outOfMemory) return pn_failMemory(sizeof(pnContactWork));
  return finder->def.noDepth ? PN_OK : pn_findContained(finder);
}

static pnResult makeDepths(pnFinder *finder) {
  finder->diveItems.count = 0;
  for (uint32_t w = 0; w < finder->works.count; ++w) {
    const pnContactWork *work = &finder->works.data[w];
    for (uint32_t p = 0; p < work->patches.count; ++p) {
      if (pn_isKnownDepth(finder, work, work->patches.data[p].region)) continue;
      if (!pn_arrayPush(&finder->diveItems, ((pnDiveItem){w, p, true}))) return pn_failMemory(sizeof(pnDiveItem));
    }
  }
  pn_parallelFor(&finder->def.tasks, dive, finder, (uint32_t)finder->diveItems.count, 1);
  for (size_t i = 0; i < finder->diveItems.count; ++i)
    if (!finder->diveItems.data[i].good) return pn_failMemory(sizeof(pnDeepCell));
  return PN_OK;
}

void pn_forgetFrame(pnFinder *finder) {
  finder->sights.count = finder->sightTriangles.count = 0;
  finder->regions.count = finder->regionPairs.count = finder->regionLabels.count = 0;
  finder->curves.count = finder->curvePoints.count = 0;
}

pnResult pn_checkOrder(const pnFinder *finder, const pnFinderFrame *frame) {
  if (frame->rest && finder->hasFrame)
    return pn_fail(PN_ERROR_ARGUMENT, "finder: the rest pose comes before the first frame");
  if (!frame->rest && !isfinite(frame->time))
    return pn_fail(PN_ERROR_ARGUMENT, "finder: the time of frame %lld is not finite", (long long)frame->number);
  bool ordered = !finder->hasFrame || (frame->number > finder->lastNumber && frame->time > finder->lastTime);
  if (!frame->rest && !ordered)
    return pn_fail(PN_ERROR_ARGUMENT, "finder: frame %lld does not come after frame %lld, in number and time",
                   (long long)frame->number, (long long)finder->lastNumber);
  return PN_OK;
}

/* Steps 1 to 6, and what tracks need of the regions. */
pnResult pn_lookAtFrame(pnFinder *finder, const pnFinderFrame *frame) {
  pn_forgetFrame(finder);
  pnResult result = begin(finder);
  if (result == PN_OK) result = takeContacts(finder, frame);
  if (result == PN_OK) result = updateTrees(finder);
  if (result == PN_OK) result = makeRegions(finder);
  if (result == PN_OK) result = makeDepths(finder);
  if (result == PN_OK) result = pn_publishRegions(finder, frame);
  if (result == PN_OK && !frame->rest) pn_recognise(finder);
  return result;
}

/* An empty frame in its place, also after an error. */
pnResult pn_endFrame(pnFinder *finder, const pnFinderFrame *frame, pnResult result) {
  if (result != PN_OK) pn_forgetFrame(finder);
  finder->hasFrame = true;
  finder->lastNumber = frame->number;
  finder->lastTime = frame->time;
  return result;
}

pnResult pnFinder_AddFrame(pnFinder *finder, const pnFinderFrame *frame) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(finder && frame && (frame->contactCount == 0 || frame->contacts));
  pnResult result = pn_checkOrder(finder, frame);
  if (result != PN_OK) return result;
  result = pn_lookAtFrame(finder, frame);
  if (result == PN_OK && frame->rest) result = pn_keepRest(finder);
  if (frame->rest && result != PN_OK) pn_forgetFrame(finder);
  if (frame->rest) return result;
  if (result == PN_OK) result = pn_recallCarried(finder);
  if (result == PN_OK) result = pn_trackRegions(finder, frame);
  return pn_endFrame(finder, frame, result);
}
