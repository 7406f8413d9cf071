/* scan_find.c: the library's finder and the scan: bodies with their joints as labels, each frame's contacts, and the end of
 * an animation, when its findings go to the list. */
#include "scan.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- bodies */

/* Adds a body of the world. Its labels are what the tables and the report call joints or targets. */
static pnResult addBody(pnScan *scan, uint32_t b) {
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
  pnResult result = pnFinder_AddBody(findings->finder, &def, &body->finderBody);
  if (result == PN_OK) findings->bodies[body->finderBody] = b;
  free(labels);
  return result;
}

/* Bodies that are not asked about one another are not looked at for one inside the other either. */
static pnResult setWanted(pnScan *scan) {
  pnResult result = PN_OK;
  if (scan->choice.ruleCount == 0) return PN_OK;
  for (uint32_t a = 0; a < scan->bodyCount; ++a) {
    for (uint32_t b = a + 1; b < scan->bodyCount && result == PN_OK; ++b) {
      if (!scan->bodies[a].wanted || !scan->bodies[b].wanted || pn_choiceAllows(&scan->choice, a, b)) continue;
      result = pnFinder_SetWanted(scan->findings.finder, scan->bodies[a].finderBody, scan->bodies[b].finderBody, false);
    }
  }
  return result;
}

pnResult pn_findBegin(pnScan *scan) {
  pnScanFindings *findings = &scan->findings;
  // One pair for each two bodies says nothing about where and how deep.
  if (scan->options->first) return PN_OK;
  pnResult result = PN_OK;
  if (scan->options->baseline) result = pn_readBaseline(scan->options->baseline, &findings->baseline);
  pnFinderDef def = pnDefaultFinderDef();
  def.tasks = pnPool_GetTasks(scan->pool);
  if (result == PN_OK) result = pnCreateFinder(&def, &findings->finder);
  findings->bodies = malloc(scan->bodyCount * sizeof(uint32_t) + 1);
  if (result == PN_OK && !findings->bodies)
    result = pnFail(PN_ERROR_MEMORY, "out of memory for %u bodies", scan->bodyCount);
  for (uint32_t b = 0; b < scan->bodyCount && result == PN_OK; ++b) {
    scan->bodies[b].finderBody = PN_NONE;
    if (scan->bodies[b].wanted) result = addBody(scan, b);
  }
  return result == PN_OK ? setWanted(scan) : result;
}

pnResult pn_findBeginRun(pnScan *scan) {
  if (!scan->findings.finder) return PN_OK;
  scan->findings.numberEnd = 0;
  return pn_findSetCarriers(scan);
}

/* ---------------------------------------------------------------- frames */

pnResult pn_findFrame(pnScan *scan, bool rest) {
  pnScanFindings *findings = &scan->findings;
  const pnScanFrame *frame = &scan->frame;
  if (!findings->finder) return PN_OK;
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
  pnFinderFrame def = {.number = frame->number,
                       .time = frame->time,
                       .contacts = findings->contacts,
                       .contactCount = frame->contactCount,
                       .rest = rest,
                       .curves = !rest && scan->options->regions};
  pnResult result = pnFinder_AddFrame(findings->finder, &def);
  if (result != PN_OK || rest) return result;
  uint32_t count;
  const pnRegion *regions = pnFinder_GetRegions(findings->finder, &count);
  for (uint32_t i = 0; i < count; ++i)
    if (regions[i].finding >= findings->numberEnd) findings->numberEnd = regions[i].finding + 1;
  return PN_OK;
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
  for (uint32_t i = 0; i < findings->count; ++i) free(findings->items[i].samples);
  free(findings->joins);
  free(findings->items);
  free(findings->bodies);
  free(findings->contacts);
  pn_freeBaseline(&findings->baseline);
  memset(findings, 0, sizeof(*findings));
}
