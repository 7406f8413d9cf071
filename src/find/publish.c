/* publish.c: regions as the door has them. */
#include "find/find.h"

#include "geom/box.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- labels */

static int compareLabels(const void *p, const void *q) {
  const pnLabelCount *a = p, *b = q;
  if (a->triangleCount != b->triangleCount) return a->triangleCount > b->triangleCount ? -1 : 1;
  return a->label < b->label ? -1 : a->label > b->label;
}

int pn_compareNumbers(const void *p, const void *q) {
  uint32_t a = *(const uint32_t *)p, b = *(const uint32_t *)q;
  return a < b ? -1 : a > b;
}

void pn_sortLabels(pnLabelCount *labels, size_t count) {
  qsort(labels, count, sizeof(pnLabelCount), compareLabels);
}

bool pn_listTriangles(const pnContactWork *work, uint32_t region, bool far, pnNumbers *out) {
  out->count = 0;
  for (uint32_t r = region; r != PN_NONE; r = work->drafts.data[r].next) {
    const pnDraft *draft = &work->drafts.data[r];
    if (!pn_arrayReserve(out, out->count + draft->meetCount)) return false;
    for (size_t i = 0; i < draft->meetCount; ++i) {
      const pnMeet *meet = &work->meets.data[work->order.data[draft->meetFirst + i]];
      out->data[out->count++] = far ? meet->b : meet->a;
    }
  }
  if (out->count > 1) qsort(out->data, out->count, sizeof(uint32_t), pn_compareNumbers);
  size_t kept = 0;
  for (size_t i = 0; i < out->count; ++i)
    if (i == 0 || out->data[i] != out->data[i - 1]) out->data[kept++] = out->data[i];
  out->count = kept;
  return true;
}

/* The triangles of one side, for the sight. */
static bool keepTriangles(pnFinder *finder, const pnNumbers *list, bool far, pnSight *sight) {
  pnNumbers *all = &finder->sightTriangles;
  sight->triangleFirst[far] = all->count;
  sight->triangleCount[far] = (uint32_t)list->count;
  if (!pn_arrayReserve(all, all->count + list->count)) return false;
  if (list->count > 0) memcpy(all->data + all->count, list->data, list->count * sizeof(uint32_t));
  all->count += list->count;
  return true;
}

/* How many triangles of a list have each label, most first. */
static bool countLabels(pnFinder *finder, const pnFinderBody *body, pnNumbers *triangles, uint32_t *outFirst,
                        uint32_t *outCount) {
  *outFirst = (uint32_t)finder->regionLabels.count;
  for (size_t i = 0; i < triangles->count; ++i) triangles->data[i] = pn_labelOf(body, triangles->data[i]);
  if (triangles->count > 1) qsort(triangles->data, triangles->count, sizeof(uint32_t), pn_compareNumbers);
  for (size_t i = 0; i < triangles->count; ++i) {
    bool same = i > 0 && triangles->data[i] == triangles->data[i - 1];
    if (!same && !pn_arrayPush(&finder->regionLabels, ((pnLabelCount){triangles->data[i], 0}))) return false;
    ++finder->regionLabels.data[finder->regionLabels.count - 1].triangleCount;
  }
  *outCount = (uint32_t)finder->regionLabels.count - *outFirst;
  if (*outCount > 0) pn_sortLabels(finder->regionLabels.data + *outFirst, *outCount);
  return true;
}

/* ---------------------------------------------------------------- one region */

static int comparePairs(const void *p, const void *q) {
  const pnPair *a = p, *b = q;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  return a->b < b->b ? -1 : a->b > b->b;
}

static bool publishPairs(pnFinder *finder, const pnContactWork *work, uint32_t region, pnRegion *out) {
  out->firstPair = finder->regionPairs.count;
  uint32_t parts = 0;
  for (uint32_t r = region; r != PN_NONE; r = work->drafts.data[r].next, ++parts) {
    const pnDraft *draft = &work->drafts.data[r];
    if (!pn_arrayReserve(&finder->regionPairs, finder->regionPairs.count + draft->meetCount)) return false;
    for (size_t i = 0; i < draft->meetCount; ++i) {
      const pnMeet *meet = &work->meets.data[work->order.data[draft->meetFirst + i]];
      // Where a side runs into the other, both copies are of one region.
      if (draft->selfMirrored && meet->a > meet->b) continue;
      finder->regionPairs.data[finder->regionPairs.count++] = (pnPair){meet->a, meet->b};
    }
  }
  out->pairCount = finder->regionPairs.count - out->firstPair;
  if (parts > 1) qsort(finder->regionPairs.data + out->firstPair, out->pairCount, sizeof(pnPair), comparePairs);
  return true;
}

/* The greatest of the depths of its patches; without any, what the curve says. */
static void publishDepth(const pnFinder *finder, const pnContactWork *work, uint32_t region, pnRegion *out) {
  bool asked = false;
  double most = 0;
  for (uint32_t i = work->drafts.data[region].firstPatch; i != PN_NONE; i = work->patches.data[i].nextOfRegion) {
    const pnPatch *patch = &work->patches.data[i];
    asked |= patch->isInside;
    most = PN_MAX(most, patch->depth.max);
    if (patch->depth.value > out->depth.value) out->depth = patch->depth;
  }
  out->depth.max = PN_MAX(out->depth.max, most);
  const pnDraft *draft = &work->drafts.data[region];
  asked |=
      finder->bodies.data[work->a].parts[draft->partA].solid || finder->bodies.data[work->b].parts[draft->partB].solid;
  bool byCurve = finder->def.noDepth || !asked;
  if (out->depth.kind == PN_DEPTH_NONE && byCurve && out->curveLength > 0)
    out->depth = (pnDepth){.kind = PN_DEPTH_CURVE,
                           .value = out->curveLength,
                           .max = out->curveLength,
                           .from = out->centre,
                           .onto = out->centre,
                           .fromA = true,
                           .triangle = PN_NONE};
}

/* Triangles that lie on each other, or (passage.c) have passed through each other flat and in no time, have no point of a curve: it is where
 * they are. */
static void placeTriangles(const pnFinder *finder, const pnContactWork *work, const pnDraft *draft, pnBox *box) {
  for (size_t i = 0; i < 2 * draft->meetCount; ++i) {
    const pnMeet *meet = &work->meets.data[work->order.data[draft->meetFirst + i / 2]];
    const pnFinderBody *body = &finder->bodies.data[i % 2 ? work->b : work->a];
    float p[3][4];
    pn_poseFetch(body->pose, body->mesh->triangles + 3 * (size_t)(i % 2 ? meet->b : meet->a), 3, p[0], 4);
    for (int k = 0; k < 3; ++k) pn_growBox(box, (pnVec3){p[k][0], p[k][1], p[k][2]});
  }
}

/* Sums over the regions that are one. */
static void publishPlace(const pnFinder *finder, const pnContactWork *work, uint32_t region, pnRegion *out) {
  double centre[3] = {0};
  out->box = work->drafts.data[region].box;
  for (uint32_t r = region; r != PN_NONE; r = work->drafts.data[r].next) {
    const pnDraft *draft = &work->drafts.data[r];
    out->curveLength += draft->curveLength;
    for (int k = 0; k < 3; ++k) centre[k] += draft->centre[k];
    out->box = pn_unionBox(&out->box, &draft->box);
  }
  for (uint32_t r = region; r != PN_NONE && out->box.min.x > out->box.max.x; r = work->drafts.data[r].next)
    placeTriangles(finder, work, &work->drafts.data[r], &out->box);
  double length = out->curveLength;
  pnVec3 low = out->box.min, high = out->box.max;
  // Points alone have no length: then the middle of the box.
  if (length > 0)
    out->centre = (pnVec3){(float)(centre[0] / length), (float)(centre[1] / length), (float)(centre[2] / length)};
  else out->centre = (pnVec3){0.5f * low.x + 0.5f * high.x, 0.5f * low.y + 0.5f * high.y, 0.5f * low.z + 0.5f * high.z};
}

/* Of what is contained: where its vertices are. */
static void placeInner(const pnFinder *finder, pnContactWork *work, uint32_t region) {
  pnDraft *draft = &work->drafts.data[region];
  const pnPose *pose = finder->bodies.data[draft->inner].pose;
  // It has one patch, of which all its floods are.
  for (uint32_t i = work->patches.data[draft->firstPatch].flood; i != PN_NONE; i = work->floods.data[i].next) {
    const pnFlood *flood = &work->floods.data[i];
    for (uint32_t k = 0; k < flood->vertexCount; ++k)
      pn_growBox(&draft->box, pnPose_GetVertex(pose, work->vertices.data[flood->vertexFirst + k]));
  }
}

static bool publishRegion(pnFinder *finder, uint32_t w, uint32_t region, bool curves) {
  pnContactWork *work = &finder->works.data[w];
  const pnDraft *draft = &work->drafts.data[region];
  if (draft->inner != PN_NONE) placeInner(finder, work, region);
  pnRegion out = {.a = work->a, .b = work->b, .inner = draft->inner, .carried = draft->carried};
  out.finding = PN_NONE;
  out.depth.triangle = PN_NONE;
  publishPlace(finder, work, region, &out);
  out.volume = finder->def.noDepth ? -1 : pn_sharedVolume(finder, work, region);
  pnSight sight = {.partA = draft->partA, .partB = draft->partB, .own = PN_NONE, .onto = PN_NONE};
  sight.isMeasured = !pn_isKnownDepth(finder, work, region);
  if (sight.isMeasured) publishDepth(finder, work, region, &out);
  if (!publishPairs(finder, work, region, &out)) return false;
  pnNumbers *list = &finder->numbers;
  bool good = pn_listTriangles(work, region, false, list) && keepTriangles(finder, list, false, &sight) &&
              countLabels(finder, &finder->bodies.data[work->a], list, &out.firstLabelA, &out.labelCountA) &&
              pn_listTriangles(work, region, true, list) && keepTriangles(finder, list, true, &sight) &&
              countLabels(finder, &finder->bodies.data[work->b], list, &out.firstLabelB, &out.labelCountB);
  if (good && curves) good = pn_joinCurves(finder, work, region, &out);
  return good && pn_arrayPush(&finder->sources, ((pnRegionSource){w, region})) &&
         pn_arrayPush(&finder->sights, sight) && pn_arrayPush(&finder->regions, out);
}

int pn_compareOrder(const void *p, const void *q) {
  const pnWorkOrder *a = p, *b = q;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return a->work < b->work ? -1 : a->work > b->work;
}

bool pn_orderWorks(pnFinder *finder) {
  finder->workOrder.count = 0;
  for (uint32_t i = 0; i < finder->works.count; ++i) {
    const pnContactWork *work = &finder->works.data[i];
    pnWorkOrder order = {(uint64_t)PN_MIN(work->a, work->b) << 32 | PN_MAX(work->a, work->b), i};
    if (!pn_arrayPush(&finder->workOrder, order)) return false;
  }
  if (finder->workOrder.count > 1)
    qsort(finder->workOrder.data, finder->workOrder.count, sizeof(pnWorkOrder), pn_compareOrder);
  return true;
}

/* The patches of each region, in order. */
static void listPatches(pnContactWork *work) {
  for (size_t r = 0; r < work->drafts.count; ++r) work->drafts.data[r].firstPatch = PN_NONE;
  for (uint32_t p = (uint32_t)work->patches.count; p-- > 0;) {
    pnDraft *draft = &work->drafts.data[work->patches.data[p].region];
    work->patches.data[p].nextOfRegion = draft->firstPatch;
    draft->firstPatch = p;
  }
}

pnResult pn_publishRegions(pnFinder *finder, const pnFinderFrame *frame) {
  finder->sources.count = 0;
  if (!pn_orderWorks(finder)) return pn_failMemory(sizeof(pnWorkOrder));
  for (uint32_t i = 0; i < finder->works.count; ++i) {
    uint32_t w = finder->workOrder.data[i].work;
    listPatches(&finder->works.data[w]);
    for (uint32_t r = 0; r < finder->works.data[w].drafts.count; ++r) {
      if (finder->works.data[w].drafts.data[r].root != r) continue;
      if (!publishRegion(finder, w, r, frame->curves)) return pn_failMemory(sizeof(pnRegion));
    }
  }
  return PN_OK;
}
