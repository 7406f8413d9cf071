/* scan_find.c: the library's finder and the scan: bodies with their joints as labels, each frame's contacts, and the end of
 * an animation, when its findings go to the list. */
#include "pool.h"
#include "scan.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- bodies */

/* Adds a body of the world to a finder. Its labels are what the tables and the report call joints or targets. */
static pnResult addBody(pnScan *scan, pnFinder *finder, uint32_t b) {
  pnScanBody *body = &scan->bodies[b];
  pnScanFindings *findings = &scan->findings;
  uint32_t triangleCount = pnMesh_GetTriangleCount(body->mesh), *labels = NULL;
  pnFinderBodyDef def = pnDefaultFinderBodyDef();
  def.tree = pnBody_GetTree(scan->world, body->id);
  def.name = body->name;
  if (body->groupCount > 0) {
    labels = malloc(triangleCount * sizeof(uint32_t) + 1);
    if (!labels) return pnFail(PN_ERROR_MEMORY, "%s: out of memory for what moves its triangles", body->name);
    for (uint32_t t = 0; t < triangleCount; ++t) {
      uint16_t group = pn_scanTriangleGroup(body, t);
      labels[t] = group == PN_REPORT_NO_GROUP ? PN_NONE : group;
    }
    def.triangleLabels = labels;
    def.labelCount = body->groupCount;
    def.labelNames = body->groupNames;
  }
  pnResult result = pnFinder_AddBody(finder, &def, &body->finderBody);
  if (result == PN_OK) findings->bodies[body->finderBody] = b;
  free(labels);
  return result;
}

/* Bodies that are not asked about one another are not looked at for one inside the other either. */
static bool isWanted(void *context, uint32_t a, uint32_t b) {
  const pnScan *scan = context;
  return pn_choiceAllows(&scan->choice, scan->findings.bodies[a], scan->findings.bodies[b]);
}

/* A finder of all bodies that are asked about. */
static pnResult makeFinder(pnScan *scan, pnFinder **outFinder) {
  pnFinderDef def = pnDefaultFinderDef();
  def.tasks = pnPool_GetTasks(scan->pool);
  def.maxContainments = scan->options->maxPairs > 0 ? PN_MOST_CONTACTS : 0;
  // Moments come between frames: what both frames show goes on nevertheless, as it does without moments.
  for (uint32_t r = 0; r < scan->runCount && scan->options->between; ++r) {
    double apart = 1.001 * (double)scan->runs[r].range.step / scan->runs[r].range.fps;
    def.gap = apart > def.gap ? apart : def.gap;
  }
  pnResult result = pnCreateFinder(&def, outFinder);
  for (uint32_t b = 0; b < scan->bodyCount && result == PN_OK; ++b) {
    scan->bodies[b].finderBody = PN_NONE;
    if (scan->bodies[b].wanted) result = addBody(scan, *outFinder, b);
  }
  if (result == PN_OK && scan->choice.ruleCount > 0) pnFinder_SetWantedRule(*outFinder, isWanted, scan);
  return result;
}

pnResult pn_findBegin(pnScan *scan) {
  pnScanFindings *findings = &scan->findings;
  // One pair for each two bodies says nothing about where and how deep.
  if (scan->options->first) return PN_OK;
  pnResult result = PN_OK;
  if (scan->options->baseline) result = pn_readBaseline(scan->options->baseline, &findings->baseline);
  findings->bodies = malloc(scan->bodyCount * sizeof(uint32_t) + 1);
  if (result == PN_OK && !findings->bodies)
    result = pnFail(PN_ERROR_MEMORY, "out of memory for %u bodies", scan->bodyCount);
  if (result == PN_OK) result = makeFinder(scan, &findings->finder);
  // Who looks at frames and who takes them remember different things.
  if (result == PN_OK && scan->deal && scan->options->mergeCount == 0) result = makeFinder(scan, &findings->looker);
  return result;
}

pnResult pn_findBeginRun(pnScan *scan) {
  pnScanFindings *findings = &scan->findings;
  findings->numberEnd = 0;
  if (findings->shownCapacity > 0) memset(findings->shown, 0, findings->shownCapacity);
  return findings->finder ? pn_findSetCarriers(scan, findings->finder) : PN_OK;
}

pnResult pn_findBeginLooks(pnScan *scan) {
  pnScanFindings *findings = &scan->findings;
  if (!findings->looker) return PN_OK;
  pnFinder_Clear(findings->looker, false);
  return pn_findSetCarriers(scan, findings->looker);
}

/* ---------------------------------------------------------------- frames */

/* Which findings a frame shows, and not only a moment between two. */
static pnResult markShown(pnScan *scan, const pnRegion *regions, uint32_t count) {
  pnScanFindings *findings = &scan->findings;
  if (!scan->options->between) return PN_OK;
  if (findings->numberEnd > findings->shownCapacity) {
    size_t capacity = 2 * (size_t)findings->numberEnd;
    uint8_t *shown = realloc(findings->shown, capacity);
    if (!shown) return pnFail(PN_ERROR_MEMORY, "out of memory for %u findings", findings->numberEnd);
    memset(shown + findings->shownCapacity, 0, capacity - findings->shownCapacity);
    findings->shown = shown;
    findings->shownCapacity = capacity;
  }
  for (uint32_t i = 0; i < count && !scan->frame.isMoment; ++i) findings->shown[regions[i].finding] = 1;
  return PN_OK;
}

/* The contacts of the frame in numbers of the finder's bodies. */
static pnResult makeFrame(pnScan *scan, bool rest, pnFinderFrame *outFrame) {
  pnScanFindings *findings = &scan->findings;
  const pnScanFrame *frame = &scan->frame;
  if (frame->contactCount > findings->contactCapacity) {
    pnFinderContact *contacts = realloc(findings->contacts, 2 * (size_t)frame->contactCount * sizeof(pnFinderContact));
    if (!contacts) return pnFail(PN_ERROR_MEMORY, "out of memory for %u contacts", frame->contactCount);
    findings->contacts = contacts;
    findings->contactCapacity = 2 * frame->contactCount;
  }
  for (uint32_t i = 0; i < frame->contactCount; ++i) {
    const pnScanContact *contact = &frame->contacts[i];
    findings->contacts[i] = (pnFinderContact){scan->bodies[contact->a].finderBody, scan->bodies[contact->b].finderBody,
                                              contact->pairs, contact->pairCount};
  }
  *outFrame = (pnFinderFrame){.number = pn_frameTick(scan, frame->number, frame->part),
                              .time = frame->time,
                              .contacts = findings->contacts,
                              .contactCount = frame->contactCount,
                              .rest = rest,
                              .curves = !rest && scan->options->regions};
  return PN_OK;
}

/* Numbers of findings that this frame's regions have. */
static pnResult noteNumbers(pnScan *scan) {
  pnScanFindings *findings = &scan->findings;
  uint32_t count;
  const pnRegion *regions = pnFinder_GetRegions(findings->finder, &count);
  for (uint32_t i = 0; i < count; ++i)
    if (regions[i].finding >= findings->numberEnd) findings->numberEnd = regions[i].finding + 1;
  return markShown(scan, regions, count);
}

pnResult pn_findFrame(pnScan *scan, bool rest) {
  pnScanFindings *findings = &scan->findings;
  pnFinderFrame frame;
  if (!findings->finder) return PN_OK;
  pnResult result = makeFrame(scan, rest, &frame);
  if (result == PN_OK) result = pnFinder_AddFrame(findings->finder, &frame);
  if (result == PN_OK && rest && findings->looker) result = pnFinder_AddFrame(findings->looker, &frame);
  scan->frame.limited |= pnFinder_IsLimited(findings->finder);
  return result == PN_OK && !rest ? noteNumbers(scan) : result;
}

pnResult pn_findLook(pnScan *scan, const void **outBytes, size_t *outByteCount) {
  pnFinderFrame frame;
  *outBytes = NULL;
  *outByteCount = 0;
  if (!scan->findings.looker) return PN_OK;
  pnResult result = makeFrame(scan, false, &frame);
  if (result == PN_OK) result = pnFinder_LookAtFrame(scan->findings.looker, &frame, outBytes, outByteCount);
  scan->frame.limited |= pnFinder_IsLimited(scan->findings.looker);
  return result;
}

pnResult pn_findTake(pnScan *scan, const void *bytes, size_t byteCount) {
  pnScanFindings *findings = &scan->findings;
  pnFinderFrame frame = {.number = pn_frameTick(scan, scan->frame.number, scan->frame.part), .time = scan->frame.time};
  if (!findings->finder) return PN_OK;
  pnResult result = pnFinder_AddLook(findings->finder, &frame, bytes, byteCount);
  return result == PN_OK ? noteNumbers(scan) : result;
}

pnResult pn_findEndRun(pnScan *scan) {
  pnFinder *finder = scan->findings.finder;
  if (!finder) return PN_OK;
  pnResult result = pnFinder_Rank(finder, PN_FINDINGS_BY_DEPTH);
  if (result == PN_OK) result = pn_listTake(scan);
  scan->findings.dropped += pnFinder_GetDroppedCount(finder);
  pnFinder_Clear(finder, false);
  return result;
}

void pn_findEnd(pnScan *scan) {
  pnScanFindings *findings = &scan->findings;
  pnDestroyFinder(findings->finder);
  pnDestroyFinder(findings->looker);
  for (uint32_t i = 0; i < findings->count; ++i) free(findings->items[i].samples);
  free(findings->joins);
  free(findings->items);
  free(findings->bodies);
  free(findings->contacts);
  free(findings->shown);
  pn_freeBaseline(&findings->baseline);
  memset(findings, 0, sizeof(*findings));
}
