/* scan_json.c: the scan as one JSON object, written while it goes on: bodies and animations first, then each frame, and at the
 * end the findings and everything else the text says. docs/scan.schema.json says what it looks like. */
#include "out.h"
#include "scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool dump(json_t *object) {
  bool good = object && json_dumpf(object, stdout, JSON_REAL_PRECISION(9)) == 0;
  json_decref(object);
  return good;
}

static json_t *vectorJson(pnVec3 v) {
  return json_pack("[f, f, f]", (double)v.x, (double)v.y, (double)v.z);
}

/* ---------------------------------------------------------------- the beginning */

/* The same facts as in `pinch check`. */
static json_t *bodyJson(const pnScan *scan, uint32_t b) {
  const pnScanBody *body = &scan->bodies[b];
  return json_pack("{s:I, s:o, s:o, s:I, s:I, s:b}", "id", (json_int_t)b, "name", pn_jsonText(body->name), "file",
                   pn_jsonText(scan->sources[body->source].word), "vertices",
                   (json_int_t)pnMesh_GetVertexCount(body->mesh), "triangles",
                   (json_int_t)pnMesh_GetTriangleCount(body->mesh), "closed", body->closed);
}

/* The name of an animation; null where nothing is animated. */
static json_t *runName(const pnScan *scan, uint32_t r) {
  return scan->runs[r].name[0] ? pn_jsonText(scan->runs[r].name) : json_null();
}

static json_t *runJson(const pnScan *scan, uint32_t r) {
  const pnScanRange *range = &scan->runs[r].range;
  // Where a stream begins and ends is not known yet.
  if (pn_streamOf(scan))
    return json_pack("{s:o, s:f, s:n, s:n, s:I, s:n}", "name", runName(scan, r), "fps", range->fps, "first", "last",
                     "step", (json_int_t)range->step, "frames");
  return json_pack("{s:o, s:f, s:I, s:I, s:I, s:I}", "name", runName(scan, r), "fps", range->fps, "first",
                   (json_int_t)range->first, "last", (json_int_t)range->last, "step", (json_int_t)range->step, "frames",
                   (json_int_t)range->count);
}

bool pn_scanBeginJson(pnScan *scan) {
  printf("{\n  \"pinch\": \"%s\",\n  \"bodies\": [", pnGetVersion());
  bool good = true;
  for (uint32_t b = 0; b < scan->bodyCount && good; ++b) {
    printf("%s\n    ", b > 0 ? "," : "");
    good = dump(bodyJson(scan, b));
  }
  printf("\n  ],\n  \"animations\": [");
  for (uint32_t r = 0; r < scan->runCount && good; ++r) {
    printf("%s\n    ", r > 0 ? "," : "");
    good = dump(runJson(scan, r));
  }
  printf("\n  ],\n  \"frames\": [");
  scan->files.jsonBegun = true;
  return good;
}

/* ---------------------------------------------------------------- a frame */

/* The curves of a region: a list of points each, and whether it is closed. */
static json_t *curvesJson(const pnFinder *finder, const pnRegion *region) {
  json_t *list = json_array();
  uint32_t count;
  const pnCurve *curves = pnFinder_GetCurves(finder, &count);
  const pnVec3 *points = pnFinder_GetCurvePoints(finder, &count);
  for (uint32_t c = region->firstCurve; c < region->firstCurve + region->curveCount; ++c) {
    json_t *path = json_array();
    for (uint32_t p = 0; p < curves[c].pointCount; ++p)
      json_array_append_new(path, vectorJson(points[curves[c].firstPoint + p]));
    json_array_append_new(
        list, json_pack("{s:b, s:f, s:o}", "closed", curves[c].closed, "length", curves[c].length, "points", path));
  }
  return list;
}

static json_t *regionJson(const pnScan *scan, const pnRegion *region) {
  const pnScanFindings *findings = &scan->findings;
  const pnDepth *depth = &region->depth;
  return json_pack("{s:I, s:I, s:I, s:I, s:f, s:s, s:f, s:o, s:o, s:o, s:f, s:o}", "a",
                   (json_int_t)findings->bodies[region->a], "b", (json_int_t)findings->bodies[region->b], "finding",
                   (json_int_t)region->finding, "pairs", (json_int_t)region->pairCount, "depth", depth->value,
                   "depth_kind", pn_depthWord(depth->kind), "depth_max", depth->max, "from", vectorJson(depth->from),
                   "onto", vectorJson(depth->onto), "centre", vectorJson(region->centre), "curve_length",
                   region->curveLength, "curves", curvesJson(findings->finder, region));
}

static json_t *regionsJson(const pnScan *scan) {
  json_t *list = json_array();
  uint32_t count;
  const pnRegion *regions = pnFinder_GetRegions(scan->findings.finder, &count);
  for (uint32_t i = 0; i < count; ++i) json_array_append_new(list, regionJson(scan, &regions[i]));
  return list;
}

/* A time of the step as a frame's number. Nine digits are printed: a time that is never late must not be rounded up. */
static json_t *momentJson(const pnScanBetween *between, double t) {
  double number = (double)between->from + t * (double)(between->to - between->from);
  return json_real(number - 2e-9 * fabs(number));
}

/* What passes through between two frames and is shown in this moment. */
static json_t *passagesJson(const pnScan *scan) {
  const pnScanBetween *between = &scan->between;
  json_t *list = json_array();
  for (size_t i = 0; i < between->passageCount; ++i) {
    const pnScanPassage *passage = &between->passages[i];
    if (passage->moment != between->moment) continue;
    json_array_append_new(
        list,
        json_pack("{s:I, s:I, s:o, s:o, s:I, s:I}", "a", (json_int_t)passage->a, "b", (json_int_t)passage->b, "first",
                  momentJson(between, passage->core.first), "last", momentJson(between, passage->core.last), "impacts",
                  (json_int_t)passage->core.impactCount, "pairs", (json_int_t)passage->core.pairCount));
  }
  return list;
}

bool pn_scanWriteJson(const pnScan *scan) {
  const pnScanFrame *frame = &scan->frame;
  json_t *collisions = json_array();
  for (uint32_t i = 0; i < frame->contactCount; ++i) {
    const pnScanContact *contact = &frame->contacts[i];
    json_array_append_new(collisions, json_pack("{s:I, s:I, s:I}", "a", (json_int_t)contact->a, "b",
                                                (json_int_t)contact->b, "pairs", (json_int_t)contact->pairCount));
  }
  // The frame is tallied before it is written: one frame, no comma yet. A moment always follows a frame.
  printf("%s\n    ", scan->tallies.frameCount > 1 || frame->isMoment ? "," : "");
  double number = (double)frame->number + (double)frame->part / PN_FRAME_PARTS;
  json_t *object = json_pack("{s:o, s:f, s:o, s:o}", "frame", pn_frameJson(number), "time", frame->time, "animation",
                             runName(scan, frame->run), "collisions", collisions);
  if (object && frame->isMoment) {
    json_object_set_new(object, "between",
                        json_pack("[I, I]", (json_int_t)scan->between.from, (json_int_t)scan->between.to));
    json_object_set_new(object, "passages", passagesJson(scan));
  }
  if (object && scan->options->regions && scan->findings.finder)
    json_object_set_new(object, "regions", regionsJson(scan));
  return dump(object);
}

/* ---------------------------------------------------------------- the end */

static json_t *namesJson(const char *const *names, uint32_t count) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < count; ++i) json_array_append_new(list, pn_jsonText(names[i]));
  return list;
}

static json_t *tickJson(const pnScan *scan, int64_t tick) {
  return pn_frameJson(pn_frameNumber(scan, tick));
}

/* What programs rely on: these keys and no others. */
static json_t *findingJson(const pnScan *scan, const pnScanFinding *finding) {
  const pnFinding *core = &finding->core;
  json_t *object =
      json_pack("{s:s, s:I, s:I, s:o, s:o, s:o, s:f, s:s, s:s, s:b, s:o, s:o, s:o}", "name", core->name, "a",
                (json_int_t)core->a, "b", (json_int_t)core->b, "first", tickJson(scan, core->firstFrame), "last",
                tickJson(scan, core->lastFrame), "deepest", tickJson(scan, core->deepestFrame), "depth",
                core->depth.value, "depth_kind", pn_depthWord(core->depth.kind), "kind", pn_kindWord(core->kind),
                "contained", core->contained, "joints_a", namesJson(finding->jointsA, finding->jointCountA), "joints_b",
                namesJson(finding->jointsB, finding->jointCountB), "animation", runName(scan, finding->run));
  if (object && scan->options->between) json_object_set_new(object, "unseen", json_boolean(finding->unseen));
  return object;
}

static json_t *samplesJson(const pnScan *scan, const pnScanFinding *finding) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < finding->sampleCount; ++i) {
    const pnFindingSample *sample = &finding->samples[i];
    json_array_append_new(list, json_pack("{s:o, s:f, s:f, s:o}", "frame", tickJson(scan, sample->frame), "time",
                                          sample->time, "depth", sample->depth, "centre", vectorJson(sample->centre)));
  }
  return list;
}

/* The rest of what is known of a finding, in the same order. */
static json_t *detailJson(const pnScan *scan, const pnScanFinding *finding) {
  const pnFinding *core = &finding->core;
  const pnDepth *depth = &core->depth;
  return json_pack("{s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:f, s:s, s:b, s:o}", "name", core->name,
                   "number", (json_int_t)core->number, "frames", (json_int_t)core->frameCount, "first_time",
                   core->firstTime, "last_time", core->lastTime, "depth_max", depth->max, "rest_depth", core->restDepth,
                   "volume", core->volume < 0 ? json_null() : json_real(core->volume), "centre",
                   vectorJson(core->centre), "from", vectorJson(depth->from), "onto", vectorJson(depth->onto),
                   "curve_length", core->curveLength, "standing", pn_standingWord(finding->standing), "fails",
                   pn_listFails(scan, finding), "samples", samplesJson(scan, finding));
}

static bool writeFindings(const pnScan *scan) {
  bool good = true;
  printf("  \"findings\": [");
  for (uint32_t i = 0; i < scan->findings.count && good; ++i) {
    printf("%s\n    ", i > 0 ? "," : "");
    good = dump(findingJson(scan, &scan->findings.items[i]));
  }
  printf("\n  ],\n  \"details\": [");
  for (uint32_t i = 0; i < scan->findings.count && good; ++i) {
    printf("%s\n    ", i > 0 ? "," : "");
    good = dump(detailJson(scan, &scan->findings.items[i]));
  }
  printf("\n  ],\n");
  return good;
}

/* Regions whose finding turned out to be another one. */
static bool writeJoins(const pnScan *scan) {
  bool good = true;
  printf("  \"joined\": [");
  for (uint32_t i = 0; i < scan->findings.joinCount && good; ++i) {
    const pnScanJoin *join = &scan->findings.joins[i];
    printf("%s\n    ", i > 0 ? "," : "");
    good = dump(json_pack("{s:o, s:I, s:I}", "animation", runName(scan, join->run), "from", (json_int_t)join->from,
                          "to", (json_int_t)join->to));
  }
  printf("\n  ],\n");
  return good;
}

static bool writeFixed(const pnScan *scan) {
  bool good = true, any = false;
  printf("  \"fixed\": [");
  for (uint32_t i = 0; i < scan->findings.baseline.count && good; ++i) {
    const pnBaselineEntry *entry = &scan->findings.baseline.entries[i];
    if (!pn_isFixed(scan, entry)) continue;
    printf("%s\n    ", any ? "," : "");
    good = dump(json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", pn_jsonText(entry->known.name), "a",
                          pn_jsonText(entry->known.a), "b", pn_jsonText(entry->known.b), "animation",
                          entry->animation[0] ? pn_jsonText(entry->animation) : json_null(), "comment",
                          pn_jsonText(entry->comment)));
    any = true;
  }
  printf("\n  ],\n");
  return good;
}

/* The three most frequent joints or targets of one side, most first. */
static json_t *groupsJson(const pnScanBody *body, const uint64_t *counts) {
  json_t *list = json_array();
  uint32_t before = PN_NONE;
  for (int i = 0; i < 3 && counts; ++i) {
    // The next one in the order of falling counts, and of numbers where these are equal.
    uint32_t best = PN_NONE;
    for (uint32_t g = 0; g < body->groupCount; ++g) {
      bool behind = before == PN_NONE || counts[g] < counts[before] || (counts[g] == counts[before] && g > before);
      if (counts[g] > 0 && behind && (best == PN_NONE || counts[g] > counts[best])) best = g;
    }
    if (best == PN_NONE) break;
    json_array_append_new(list, pn_jsonText(body->groupNames[best]));
    before = best;
  }
  return list;
}

/* Two bodies over all frames, as in the table. */
static json_t *contactJson(const pnScan *scan, const pnScanTally *tally) {
  return json_pack("{s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:o, s:o, s:o}", "a", (json_int_t)tally->a, "b",
                   (json_int_t)tally->b, "frames", (json_int_t)tally->frameCount, "first",
                   (json_int_t)tally->firstFrame, "first_animation", runName(scan, tally->firstRun), "worst",
                   (json_int_t)tally->worstFrame, "worst_pairs", (json_int_t)tally->worstPairs, "worst_animation",
                   runName(scan, tally->worstRun), "joints_a", groupsJson(&scan->bodies[tally->a], tally->groupsA),
                   "joints_b", groupsJson(&scan->bodies[tally->b], tally->groupsB));
}

static bool writeContacts(const pnScan *scan) {
  bool good = true;
  printf("  \"contacts\": [");
  for (uint32_t i = 0; i < scan->tallies.count && good; ++i) {
    printf("%s\n    ", i > 0 ? "," : "");
    good = dump(contactJson(scan, &scan->tallies.data[i]));
  }
  printf("\n  ],\n");
  return good;
}

/* Closed in any case, so that what was printed can be read; a failed or interrupted scan says that it is not all. */
void pn_scanEndJson(const pnScan *scan, bool good) {
  const pnScanTallies *all = &scan->tallies;
  printf("\n  ],\n");
  if (scan->findings.bodies && good) good = writeFindings(scan);
  if (scan->options->regions && good) good = writeJoins(scan);
  if (scan->options->baseline && good) good = writeFixed(scan);
  if (good) good = writeContacts(scan);
  if (all->worstPairs > 0) {
    printf("  \"worst\": ");
    good = dump(json_pack("{s:I, s:o, s:I}", "frame", (json_int_t)all->worstFrame, "animation",
                          runName(scan, all->worstRun), "pairs", (json_int_t)all->worstPairs)) &&
           good;
    printf(",\n");
  }
  if (scan->interrupted || !good) printf("  \"incomplete\": true,\n");
  if (scan->limitedCount > 0) printf("  \"limited_frames\": %u,\n", scan->limitedCount);
  if (scan->options->between) printf("  \"passages_total\": %llu,\n", (unsigned long long)scan->between.passageTotal);
  if (scan->between.limitedSteps > 0) printf("  \"limited_steps\": %u,\n", scan->between.limitedSteps);
  printf("  \"frames_total\": %u,\n  \"frames_colliding\": %u,\n", all->frameCount, all->collidingFrames);
  printf("  \"pairs_total\": %llu\n}\n", (unsigned long long)all->pairCount);
}
