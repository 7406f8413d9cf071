/* scan_report.c: the scan handed to the writer of the report: bodies, each frame with the finding of every pair, and the list
 * of findings. Of paths only the last part is in a file that is made to be mailed. */
#include "out.h"
#include "scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- the report */

/* Name of the file and of what it plays: "walk.glb, clip run". */
static void makeTitle(const pnScan *scan, char *title, size_t size) {
  int used = snprintf(title, size, "%s", pn_baseName(scan->sources[0].word));
  if (scan->runCount > 1 && (size_t)used < size)
    used += snprintf(title + used, size - (size_t)used, ", %u animations", scan->runCount);
  else if (scan->runs[0].name[0] && (size_t)used < size)
    used += snprintf(title + used, size - (size_t)used, ", %s", scan->runs[0].name);
  if (scan->sourceCount > 1 && (size_t)used < size)
    snprintf(title + used, size - (size_t)used, " and %u more", scan->sourceCount - 1);
}

static pnResult addNotes(const pnScan *scan) {
  pnReport *report = scan->files.report;
  pnResult result = PN_OK;
  if (scan->options->ignoreRest)
    result = pn_reportNote(report, "Pairs that already meet in the rest pose are left out (--ignore-rest).");
  if (result == PN_OK && scan->options->first)
    result =
        pn_reportNote(report, "One pair for each two bodies was looked for (--first): counts say where, not how much.");
  if (result == PN_OK && scan->choice.ruleCount > 0)
    result = pn_reportNote(
        report, "Not all pairs of bodies were asked about (--only, --ignore); all are shown, also those not checked.");
  return result;
}

/* Room for the positions of all bodies in one frame. */
static pnResult makeRoom(pnScan *scan) {
  scan->files.positions = calloc(scan->bodyCount, sizeof(float *));
  bool good = scan->files.positions != NULL;
  for (uint32_t b = 0; b < scan->bodyCount && good; ++b) {
    scan->files.positions[b] = malloc(3 * (size_t)pnMesh_GetVertexCount(scan->bodies[b].mesh) * sizeof(float) + 1);
    good = scan->files.positions[b] != NULL;
  }
  return good ? PN_OK : pnFail(PN_ERROR_MEMORY, "out of memory for the vertices of a frame");
}

pnResult pn_scanOpenReport(pnScan *scan) {
  pnResult result = makeRoom(scan);
  if (result != PN_OK) return result;
  pnReportBody *bodies = calloc(scan->bodyCount, sizeof(pnReportBody));
  const char **files = calloc(scan->sourceCount, sizeof(char *));
  if (!bodies || !files) result = pnFail(PN_ERROR_MEMORY, "out of memory for the report");
  for (uint32_t b = 0; b < scan->bodyCount && result == PN_OK; ++b) {
    const pnScanBody *body = &scan->bodies[b];
    bodies[b] = (pnReportBody){.name = body->name,
                               .vertexCount = pnMesh_GetVertexCount(body->mesh),
                               .triangles = pnMesh_GetTriangles(body->mesh),
                               .triangleCount = pnMesh_GetTriangleCount(body->mesh),
                               .groupNames = body->groupNames,
                               .groupCount = body->groupCount,
                               .vertexGroups = body->vertexGroups};
  }
  if (result == PN_OK) {
    for (uint32_t s = 0; s < scan->sourceCount; ++s) files[s] = pn_baseName(scan->sources[s].word);
    char title[256];
    makeTitle(scan, title, sizeof(title));
    pnReportInfo info = pn_defaultReportInfo();
    info.title = title;
    info.command = scan->options->command;
    info.order = pn_orderWords[scan->options->order];
    info.files = files;
    info.fileCount = scan->sourceCount;
    info.fps = scan->range.fps;
    info.bodies = bodies;
    info.bodyCount = scan->bodyCount;
    result = pn_reportBegin(scan->options->html, &info, &scan->files.report);
    if (result == PN_OK) result = addNotes(scan);
    // The report has a message of its own.
    if (result != PN_OK) pnFail(result, "%s", pn_reportMessage());
  }
  free(bodies);
  free(files);
  return result;
}

static pnResult makeRoomForPairs(pnScanFiles *files, size_t count) {
  if (count <= files->reportPairCapacity) return PN_OK;
  pnReportPair *pairs = realloc(files->reportPairs, 2 * count * sizeof(pnReportPair));
  if (!pairs) return pnFail(PN_ERROR_MEMORY, "out of memory for %zu pairs", count);
  files->reportPairs = pairs;
  files->reportPairCapacity = 2 * count;
  return PN_OK;
}

static int comparePairs(const void *left, const void *right) {
  const pnPair *x = left, *y = right;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  return x->b < y->b ? -1 : x->b > y->b;
}

/* Is this pair one of those that count in the frame? What meets at rest may have been taken out. */
static bool isCounted(const pnScanFrame *frame, uint32_t a, uint32_t b, const pnPair *pair) {
  for (uint32_t i = 0; i < frame->contactCount; ++i) {
    const pnScanContact *contact = &frame->contacts[i];
    if (contact->a == a && contact->b == b)
      return bsearch(pair, contact->pairs, contact->pairCount, sizeof(pnPair), comparePairs) != NULL;
  }
  return false;
}

/* The pairs of the frame, each with its finding. */
static size_t collectRegions(const pnScan *scan, pnReportPair *out) {
  const pnScanFindings *findings = &scan->findings;
  uint32_t regionCount;
  size_t pairCount, count = 0;
  const pnRegion *regions = pnFinder_GetRegions(findings->finder, &regionCount);
  const pnPair *pairs = pnFinder_GetRegionPairs(findings->finder, &pairCount);
  for (uint32_t i = 0; i < regionCount; ++i) {
    uint32_t a = findings->bodies[regions[i].a], b = findings->bodies[regions[i].b];
    pn_reportDepth(scan->files.report, regions[i].finding, regions[i].depth.value);
    for (size_t k = regions[i].firstPair; k < regions[i].firstPair + regions[i].pairCount; ++k) {
      if (scan->rest.known && !isCounted(&scan->frame, a, b, &pairs[k])) continue;
      out[count++] = (pnReportPair){a, pairs[k].a, b, pairs[k].b, regions[i].finding + 1};
    }
  }
  return count;
}

static size_t collectPairs(const pnScanFrame *frame, pnReportPair *out) {
  size_t count = 0;
  for (uint32_t i = 0; i < frame->contactCount; ++i) {
    const pnScanContact *contact = &frame->contacts[i];
    for (size_t k = 0; k < contact->pairCount; ++k)
      out[count++] = (pnReportPair){contact->a, contact->pairs[k].a, contact->b, contact->pairs[k].b, 0};
  }
  return count;
}

pnResult pn_scanWriteReport(pnScan *scan) {
  const pnScanFrame *frame = &scan->frame;
  pnScanFiles *files = &scan->files;
  size_t most = frame->pairCount, count;
  if (scan->findings.finder) pnFinder_GetRegionPairs(scan->findings.finder, &most);
  pnResult result = makeRoomForPairs(files, most);
  if (result != PN_OK) return result;
  count = scan->findings.finder ? collectRegions(scan, files->reportPairs) : collectPairs(frame, files->reportPairs);
  for (uint32_t b = 0; b < scan->bodyCount; ++b)
    pnPose_GetVertices(pnBody_GetPose(scan->world, scan->bodies[b].id), files->positions[b]);
  const float *const *positions = (const float *const *)files->positions;
  result = frame->isMoment
               ? pn_reportMoment(files->report, frame->number, frame->part, frame->time, positions, files->reportPairs,
                                 count)
               : pn_reportFrame(files->report, frame->number, frame->time, positions, files->reportPairs, count);
  return result == PN_OK ? PN_OK : pnFail(result, "%s", pn_reportMessage());
}

/* ---------------------------------------------------------------- findings */

static void copyVector(pnVec3 from, float *to) {
  to[0] = from.x, to[1] = from.y, to[2] = from.z;
}

static pnResult addFinding(const pnScan *scan, const pnScanFinding *from) {
  const pnFinding *core = &from->core;
  pnReportFinding finding = {.name = core->name,
                             .depthKind = pn_depthWord(core->depth.kind),
                             .kind = pn_kindWord(core->kind),
                             .standing = pn_standingWord(from->standing),
                             .clip = from->run,
                             .number = core->number,
                             .a = core->a,
                             .b = core->b,
                             .first = pn_frameNumber(scan, core->firstFrame),
                             .last = pn_frameNumber(scan, core->lastFrame),
                             .deepest = pn_frameNumber(scan, core->deepestFrame),
                             .unseen = from->unseen,
                             .repeats = core->repeats != PN_NONE,
                             .frameCount = core->frameCount,
                             .depth = core->depth.value,
                             .volume = core->volume < 0 ? NAN : core->volume,
                             .contained = core->contained,
                             .fails = pn_listFails(scan, from),
                             .jointsA = from->jointsA,
                             .jointsB = from->jointsB,
                             .jointCountA = from->jointCountA,
                             .jointCountB = from->jointCountB,
                             .sampleCount = from->sampleCount};
  if (from->known != PN_NONE) finding.comment = scan->findings.baseline.entries[from->known].comment;
  copyVector(core->centre, finding.centre);
  copyVector(core->depth.from, finding.from);
  copyVector(core->depth.onto, finding.onto);
  pnReportSample *samples = malloc(from->sampleCount * sizeof(pnReportSample) + 1);
  if (!samples) return pnFail(PN_ERROR_MEMORY, "out of memory for a finding");
  for (uint32_t i = 0; i < from->sampleCount; ++i) {
    samples[i] =
        (pnReportSample){.frame = pn_frameNumber(scan, from->samples[i].frame), .depth = from->samples[i].depth};
    copyVector(from->samples[i].centre, samples[i].centre);
  }
  finding.samples = samples;
  pnResult result = pn_reportFinding(scan->files.report, &finding);
  free(samples);
  return result == PN_OK ? PN_OK : pnFail(result, "%s", pn_reportMessage());
}

static pnResult addFindings(const pnScan *scan) {
  const pnScanFindings *findings = &scan->findings;
  pnResult result = PN_OK;
  for (uint32_t i = 0; i < findings->count && result == PN_OK; ++i) result = addFinding(scan, &findings->items[i]);
  for (uint32_t i = 0; i < findings->joinCount && result == PN_OK; ++i) {
    const pnScanJoin *join = &findings->joins[i];
    result = pn_reportJoin(scan->files.report, join->run, join->from, join->to);
    if (result != PN_OK) pnFail(result, "%s", pn_reportMessage());
  }
  return result;
}

/* ---------------------------------------------------------------- the end */

static void freeRoom(pnScan *scan) {
  pnScanFiles *files = &scan->files;
  for (uint32_t b = 0; b < scan->bodyCount && files->positions; ++b) free(files->positions[b]);
  free(files->positions);
  free(files->reportPairs);
  files->positions = NULL;
  files->reportPairs = NULL;
}

pnResult pn_scanCloseReport(pnScan *scan, bool keep) {
  pnScanFiles *files = &scan->files;
  pnResult result = files->report && keep ? addFindings(scan) : PN_OK;
  keep = keep && result == PN_OK;
  if (files->report && keep) {
    pn_reportLimited(files->report, scan->limitedCount, scan->between.limitedSteps);
    result = pn_reportEnd(files->report, !scan->interrupted, &files->reportStats);
    if (result != PN_OK) pnFail(result, "%s", pn_reportMessage());
  } else {
    pn_reportCancel(files->report);
  }
  files->report = NULL;
  freeRoom(scan);
  return result;
}
