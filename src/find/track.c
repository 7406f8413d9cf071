/* track.c: regions of frame after frame into findings.
 *
 * A region goes on a finding of the same two bodies when
 *
 *   it has triangles in common, on both sides, with a region that the finding had when it was last seen, or
 *   it is within reach of one, in the same frame or in that one, and both are there at rest or both are not, or
 *   one of the two is a part wholly inside another, and the other is of the same two parts: what goes in through the surface
 *   and comes out again is one finding.
 *
 * Last seen is the frame before, or an earlier one not longer ago than the gap. When a region goes on several findings these are
 * one from then on, under the smallest of their numbers; pieces of a region that falls apart go on the same one. So a finding is
 * everything that hangs together in place and time, whatever the order in which it is looked at. What is carried is apart: it
 * is constant, and must not hide what is not. */
#include "find/find.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- memory */

static void freeTrack(pnTrack *track) {
  for (int i = 0; i < 2; ++i) {
    pn_arrayFree(&track->labels[i]);
    pn_arrayFree(&track->traces[i]);
    pn_arrayFree(&track->triangles[i][0]);
    pn_arrayFree(&track->triangles[i][1]);
  }
  pn_arrayFree(&track->samples);
}

void pn_freeTracks(pnFinder *finder) {
  for (size_t i = 0; i < finder->tracks.count; ++i) freeTrack(&finder->tracks.data[i]);
  pn_arrayFree(&finder->tracks);
  pn_arrayFree(&finder->numberOf);
  pn_arrayFree(&finder->findings);
  pn_arrayFree(&finder->findingLabels);
  finder->droppedCount = 0;
}

/* ---------------------------------------------------------------- samples */

/* Two by two, the deeper one stays. */
static void thinSamples(pnTrack *track) {
  size_t kept = 0, count = track->samples.count;
  pnFindingSample *s = track->samples.data;
  for (size_t i = 0; i < count; i += 2) s[kept++] = i + 1 < count && s[i + 1].depth > s[i].depth ? s[i + 1] : s[i];
  track->lastCount = count % 2 == 0 ? 2 * track->stride : track->stride;
  track->samples.count = kept;
  track->stride *= 2;
}

static bool addSample(const pnFinder *finder, pnTrack *track, const pnFindingSample *sample) {
  if (track->samples.count > 0 && track->lastCount < track->stride) {
    pnFindingSample *last = &track->samples.data[track->samples.count - 1];
    if (sample->depth > last->depth) *last = *sample;
    ++track->lastCount;
    return true;
  }
  if (track->samples.count == finder->def.sampleCapacity) thinSamples(track);
  if (track->samples.count > 0 && track->lastCount < track->stride) return addSample(finder, track, sample);
  track->lastCount = 1;
  return pn_arrayPush(&track->samples, *sample);
}

/* The samples of both, by frame; of one frame the deeper. */
static bool mergeSamples(const pnFinder *finder, pnTrack *into, pnTrack *from) {
  PN_ARRAY(pnFindingSample) all = {0};
  if (!pn_arrayReserve(&all, into->samples.count + from->samples.count)) return false;
  size_t i = 0, j = 0;
  while (i < into->samples.count || j < from->samples.count) {
    const pnFindingSample *p = i < into->samples.count ? &into->samples.data[i] : NULL;
    const pnFindingSample *q = j < from->samples.count ? &from->samples.data[j] : NULL;
    if (p && q && p->frame == q->frame) {
      all.data[all.count++] = q->depth > p->depth ? *q : *p;
      ++i, ++j;
    } else if (p && (!q || p->frame < q->frame)) all.data[all.count++] = *p, ++i;
    else all.data[all.count++] = *q, ++j;
  }
  pn_arrayFree(&into->samples);
  into->samples.data = all.data;
  into->samples.count = all.count;
  into->samples.capacity = all.capacity;
  into->stride = PN_MAX(into->stride, from->stride);
  into->lastCount = into->stride;
  while (into->samples.count > finder->def.sampleCapacity) thinSamples(into);
  return true;
}

/* ---------------------------------------------------------------- joining */

static bool addLabel(pnTrack *track, int side, pnLabelCount add) {
  pnLabelCount *labels = track->labels[side].data;
  size_t count = track->labels[side].count, at = 0;
  while (at < count && labels[at].label < add.label) ++at;
  if (at < count && labels[at].label == add.label) {
    uint32_t room = UINT32_MAX - labels[at].triangleCount;
    labels[at].triangleCount += PN_MIN(add.triangleCount, room);
    return true;
  }
  if (!pn_arrayPush(&track->labels[side], add)) return false;
  labels = track->labels[side].data;
  memmove(labels + at + 1, labels + at, (count - at) * sizeof add);
  labels[at] = add;
  return true;
}

/* Adds sorted numbers to a sorted list of which each is there once, and stays so: a floor that a thousand things stand on is
 * listed once and not a thousand times. */
static bool addNumbers(pnNumbers *into, const pnNumbers *from) {
  size_t count = 0;
  for (size_t i = 0, at = 0; i < from->count; ++i) {
    at = pn_lowerNumber(into, at, from->data[i]);
    count += at == into->count || into->data[at] != from->data[i];
  }
  if (count == 0) return true;
  if (!pn_arrayReserve(into, into->count + count)) return false;
  // From the end, until all new ones have their places: those before them stay.
  size_t i = into->count, j = from->count, end = i + count;
  into->count = end;
  while (end > i) {
    uint32_t next = from->data[j - 1];
    if (i > 0 && into->data[i - 1] == next) --j;
    else if (i > 0 && into->data[i - 1] > next) into->data[--end] = into->data[--i];
    else into->data[--end] = next, --j;
  }
  return true;
}

static bool addTraces(pnTraces *into, const pnTraces *from) {
  for (size_t i = 0; i < from->count; ++i)
    if (!pn_arrayPush(into, from->data[i])) return false;
  return true;
}

/* The fields of two findings that turn out to be one. */
static void mergeFields(pnFinding *f, const pnFinding *g) {
  if (g->depth.value > f->depth.value || (g->depth.value == f->depth.value && g->deepestFrame < f->deepestFrame)) {
    f->depth = g->depth;
    f->deepestFrame = g->deepestFrame;
    f->deepestTime = g->deepestTime;
    f->curveLength = g->curveLength;
    f->centre = g->centre;
  }
  if (g->firstFrame < f->firstFrame) f->firstFrame = g->firstFrame, f->firstTime = g->firstTime;
  if (g->lastFrame > f->lastFrame) f->lastFrame = g->lastFrame, f->lastTime = g->lastTime;
  f->contained |= g->contained;
  f->restDepth = PN_MAX(f->restDepth, g->restDepth);
  f->volume = PN_MAX(f->volume, g->volume);
}

/* `from` becomes part of `into`, which has the smaller number. Frames that both were seen in are counted once as far as samples
 * tell them. */
static bool joinTracks(pnFinder *finder, pnTrack *into, pnTrack *from) {
  uint32_t frames = into->finding.frameCount + from->finding.frameCount, both = 0;
  for (size_t i = 0, j = 0; i < into->samples.count && j < from->samples.count;) {
    int64_t p = into->samples.data[i].frame, q = from->samples.data[j].frame;
    both += p == q;
    i += p <= q;
    j += q <= p;
  }
  bool good = mergeSamples(finder, into, from);
  mergeFields(&into->finding, &from->finding);
  into->finding.frameCount =
      PN_MAX(frames - PN_MIN(both * into->stride, frames), PN_MAX(into->finding.frameCount, from->finding.frameCount));
  for (int side = 0; side < 2; ++side) {
    for (size_t i = 0; i < from->labels[side].count && good; ++i)
      good = addLabel(into, side, from->labels[side].data[i]);
    for (int k = 0; k < 3; ++k) into->place[side][k] += from->place[side][k];
  }
  into->weight += from->weight;
  into->atRest |= from->atRest;
  for (int when = 0; when < 2 && good; ++when) {
    good = addTraces(&into->traces[when], &from->traces[when]) &&
           addNumbers(&into->triangles[when][0], &from->triangles[when][0]) &&
           addNumbers(&into->triangles[when][1], &from->triangles[when][1]);
  }
  if (from->isSeen && (!into->isSeen || from->now.depth > into->now.depth)) into->now = from->now;
  into->isSeen |= from->isSeen;
  finder->numberOf.data[from->finding.number] = into->finding.number;
  freeTrack(from);
  // It goes at the end of the frame: until then tracks stay where they are.
  finder->kin.up.data[from - finder->tracks.data] = (uint32_t)(into - finder->tracks.data);
  return good;
}

/* ---------------------------------------------------------------- a region onto its track */

static pnTrack *newTrack(pnFinder *finder, const pnNewcomer *sight) {
  uint32_t number = (uint32_t)finder->numberOf.count;
  pnTrack track = {.carried = sight->region->carried, .stride = 1};
  track.finding = (pnFinding){.number = number, .a = sight->a, .b = sight->b, .open = true, .volume = -1};
  track.finding.depth.value = -1;
  if (!pn_arrayReserve(&finder->tracks, finder->tracks.count + 1) ||
      !pn_arrayReserve(&finder->numberOf, (size_t)number + 1) || !pn_addKinBerth(finder))
    return NULL;
  finder->numberOf.data[finder->numberOf.count++] = number;
  finder->tracks.data[finder->tracks.count++] = track;
  return &finder->tracks.data[finder->tracks.count - 1];
}

static bool addRegion(pnFinder *finder, pnTrack *track, const pnNewcomer *sight, const pnFinderFrame *frame,
                      double restDepth) {
  const pnRegion *r = sight->region;
  pnFinding *f = &track->finding;
  bool swap = r->a > r->b;
  if (f->frameCount == 0) f->firstFrame = frame->number, f->firstTime = frame->time;
  if (!track->isSeen) {
    ++f->frameCount;
    track->now = (pnFindingSample){frame->number, frame->time, -1, r->centre};
  }
  track->isSeen = true;
  f->lastFrame = frame->number;
  f->lastTime = frame->time;
  f->contained |= r->inner != PN_NONE;
  track->atRest |= r->atRest;
  f->restDepth = PN_MAX(f->restDepth, restDepth);
  f->volume = PN_MAX(f->volume, r->volume);
  if (r->depth.value > track->now.depth)
    track->now = (pnFindingSample){frame->number, frame->time, r->depth.value, r->centre};
  if (r->depth.value > f->depth.value) {
    f->depth = r->depth;
    f->depth.fromA = r->depth.fromA != swap;
    f->deepestFrame = frame->number;
    f->deepestTime = frame->time;
    f->curveLength = r->curveLength;
    f->centre = r->centre;
  }
  bool good = true;
  const pnLabelCount *labels = finder->regionLabels.data;
  for (uint32_t i = 0; i < r->labelCountA && good; ++i) good = addLabel(track, swap, labels[r->firstLabelA + i]);
  for (uint32_t i = 0; i < r->labelCountB && good; ++i) good = addLabel(track, !swap, labels[r->firstLabelB + i]);
  return good && pn_arrayPush(&track->traces[1], sight->trace) &&
         addNumbers(&track->triangles[1][0], &sight->triangles[0]) &&
         addNumbers(&track->triangles[1][1], &sight->triangles[1]);
}

/* Where on the rest meshes, in parts of their boxes: the mean of the triangles, weighted by depth over the frames. */
static void addPlace(const pnFinder *finder, pnTrack *track, const pnNewcomer *sight) {
  double weight = PN_MAX(sight->region->depth.value, 1e-9 * sight->reach);
  for (int side = 0; side < 2; ++side) {
    const pnMesh *mesh = finder->bodies.data[side ? sight->b : sight->a].mesh;
    const pnNumbers *list = &sight->triangles[side];
    double sum[3] = {0}, low[3] = {mesh->box.min.x, mesh->box.min.y, mesh->box.min.z};
    double size[3] = {mesh->box.max.x - low[0], mesh->box.max.y - low[1], mesh->box.max.z - low[2]};
    for (size_t i = 0; i < list->count; ++i)
      for (uint32_t c = 0; c < 3; ++c) {
        const float *p = mesh->vertices + 3 * (size_t)mesh->triangles[3 * (size_t)list->data[i] + c];
        for (int k = 0; k < 3; ++k) sum[k] += p[k];
      }
    for (int k = 0; k < 3; ++k) {
      double mean = list->count > 0 && size[k] > 0 ? (sum[k] / (3.0 * (double)list->count) - low[k]) / size[k] : 0.5;
      track->place[side][k] += weight * mean;
    }
  }
  track->weight += weight;
}

/* The track that a region goes on, all that it goes on joined; a new one when there is none. */
static pnTrack *findTrack(pnFinder *finder, const pnNewcomer *sight) {
  const pnNumbers *found = pn_findKin(finder, sight);
  if (found->count == 0) return newTrack(finder, sight);
  pnTrack *track = &finder->tracks.data[found->data[0]];
  for (size_t i = 1; i < found->count; ++i)
    if (!joinTracks(finder, track, &finder->tracks.data[found->data[i]])) return NULL;
  return track;
}

/* ---------------------------------------------------------------- a frame */

/* Ends what was away for too long, and takes what was seen in the last frame for what is looked for in this one. */
static void beginFrame(pnFinder *finder, const pnFinderFrame *frame) {
  for (size_t i = 0; i < finder->tracks.count; ++i) {
    pnTrack *track = &finder->tracks.data[i];
    bool last = finder->hasFrame && track->finding.lastFrame == finder->lastNumber;
    track->isSeen = false;
    track->isOver |= !last && frame->time - track->finding.lastTime > finder->def.gap;
    if (!track->isOver) continue;
    track->finding.open = false;
    for (int when = 0; when < 2; ++when) {
      pn_arrayFree(&track->traces[when]);
      pn_arrayFree(&track->triangles[when][0]);
      pn_arrayFree(&track->triangles[when][1]);
    }
  }
}

static bool endFrame(pnFinder *finder) {
  bool good = true;
  for (size_t i = 0; i < finder->tracks.count && good; ++i) {
    pnTrack *track = &finder->tracks.data[i];
    if (!track->isSeen) continue;
    pnTraces traces = track->traces[0];
    track->traces[0] = track->traces[1];
    track->traces[1] = traces;
    track->traces[1].count = 0;
    for (int side = 0; side < 2; ++side) {
      pnNumbers list = track->triangles[0][side];
      track->triangles[0][side] = track->triangles[1][side];
      track->triangles[1][side] = list;
      track->triangles[1][side].count = 0;
    }
    good = addSample(finder, track, &track->now);
  }
  return good;
}

/* Those that became part of others go. */
static void closeGaps(pnFinder *finder) {
  size_t kept = 0;
  for (size_t i = 0; i < finder->tracks.count; ++i)
    if (finder->kin.up.data[i] == i) finder->tracks.data[kept++] = finder->tracks.data[i];
  finder->tracks.count = kept;
}

/* Drops the least deep of those that are over until there are no more than the capacity; of equal ones the first. */
static bool dropTracks(pnFinder *finder) {
  size_t most = finder->def.findingCapacity, count = finder->tracks.count;
  if (most == 0 || count <= most) return true;
  finder->workOrder.count = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const pnTrack *track = &finder->tracks.data[i];
    uint64_t depth = 0; /* the bits of numbers that are not negative are in their order */
    if (track->finding.depth.value > 0) memcpy(&depth, &track->finding.depth.value, sizeof depth);
    if (track->isOver && !pn_arrayPush(&finder->workOrder, ((pnWorkOrder){depth, i}))) return false;
  }
  if (finder->workOrder.count > 1)
    qsort(finder->workOrder.data, finder->workOrder.count, sizeof(pnWorkOrder), pn_compareOrder);
  size_t drop = PN_MIN(count - most, finder->workOrder.count);
  for (size_t i = 0; i < count; ++i) finder->kin.up.data[i] = (uint32_t)i;
  for (size_t i = 0; i < drop; ++i) {
    uint32_t least = finder->workOrder.data[i].work;
    freeTrack(&finder->tracks.data[least]);
    finder->kin.up.data[least] = PN_NONE;
  }
  closeGaps(finder);
  finder->droppedCount += (uint32_t)drop;
  return true;
}

static pnNewcomer newcomerOf(const pnFinder *finder, size_t i) {
  const pnRegion *region = &finder->regions.data[i];
  const pnSight *from = &finder->sights.data[i];
  bool swap = region->a > region->b;
  pnNewcomer sight;
  sight.region = region;
  sight.a = PN_MIN(region->a, region->b);
  sight.b = PN_MAX(region->a, region->b);
  sight.reach = pn_reachOf(finder, sight.a, sight.b);
  sight.trace = (pnTrace){region->box, region->atRest, region->inner != PN_NONE, swap ? from->partB : from->partA,
                          swap ? from->partA : from->partB};
  for (int side = 0; side < 2; ++side) {
    bool far = side != (int)swap;
    uint32_t *list = from->triangleCount[far] > 0 ? finder->sightTriangles.data + from->triangleFirst[far] : NULL;
    sight.triangles[side] = (pnNumbers){.data = list, .count = from->triangleCount[far]};
  }
  return sight;
}

/* The two bodies of a region, whichever is first. */
static uint64_t pairOf(const pnRegion *region) {
  return (uint64_t)PN_MIN(region->a, region->b) << 32 | PN_MAX(region->a, region->b);
}

/* The regions of two bodies, which come one after the other. */
static bool trackPair(pnFinder *finder, const pnFinderFrame *frame, size_t first, size_t count) {
  if (!pn_arrayReserve(&finder->comers, count)) return false;
  const pnNewcomer *comers = finder->comers.data;
  for (size_t i = 0; i < count; ++i) finder->comers.data[i] = newcomerOf(finder, first + i);
  bool good = pn_beginKin(finder, comers, count);
  for (size_t i = 0; i < count && good; ++i) {
    pnTrack *track = findTrack(finder, &comers[i]);
    good = track && addRegion(finder, track, &comers[i], frame, finder->sights.data[first + i].restDepth) &&
           pn_ownKin(finder, &comers[i], i, (uint32_t)(track - finder->tracks.data));
    if (!good) break;
    addPlace(finder, track, &comers[i]);
    finder->regions.data[first + i].finding = track->finding.number;
  }
  pn_endKin(finder);
  return good;
}

pnResult pn_trackRegions(pnFinder *finder, const pnFinderFrame *frame) {
  beginFrame(finder, frame);
  size_t count = finder->regions.count;
  if (!pn_prepareKin(finder)) return pn_failMemory(sizeof(pnTrack));
  bool good = true;
  for (size_t i = 0, end; i < count && good; i = end) {
    for (end = i + 1; end < count && pairOf(&finder->regions.data[end]) == pairOf(&finder->regions.data[i]);) ++end;
    good = trackPair(finder, frame, i, end - i);
  }
  closeGaps(finder);
  good = endFrame(finder) && good;
  good = dropTracks(finder) && good;
  // Findings that were joined by later regions of this frame.
  for (size_t i = 0; i < count && good; ++i) {
    pnRegion *region = &finder->regions.data[i];
    if (region->finding != PN_NONE) region->finding = pn_rootOf(finder->numberOf.data, region->finding);
  }
  return good ? PN_OK : pn_failMemory(sizeof(pnTrack));
}

uint32_t pnFinder_GetFindingNumber(const pnFinder *finder, uint32_t number) {
  PN_ASSERT(finder && number < finder->numberOf.count);
  while (finder->numberOf.data[number] != number) number = finder->numberOf.data[number];
  return number;
}
