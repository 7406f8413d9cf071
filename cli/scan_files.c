/* scan_files.c: what is written frame by frame: JSON on stdout, the two CSV files, the report.
 *
 * A scan that fails leaves no file behind. One that was interrupted keeps what it has and says so where a program
 * will stumble over it: a last line "# incomplete" in CSV, "incomplete": true in JSON, a banner in the report. */
#include "out.h"
#include "scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- JSON */

static bool dump(json_t *object) {
  bool good = object && json_dumpf(object, stdout, JSON_REAL_PRECISION(9)) == 0;
  json_decref(object);
  return good;
}

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
  return json_pack("{s:o, s:f, s:I, s:I, s:I, s:I}", "name", runName(scan, r), "fps", range->fps, "first",
                   (json_int_t)range->first, "last", (json_int_t)range->last, "step", (json_int_t)range->step, "frames",
                   (json_int_t)range->count);
}

static bool beginJson(pnScan *scan) {
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

static bool writeJsonFrame(const pnScan *scan) {
  const pnScanFrame *frame = &scan->frame;
  json_t *collisions = json_array();
  for (uint32_t i = 0; i < frame->contactCount; ++i) {
    const pnScanContact *contact = &frame->contacts[i];
    json_array_append_new(collisions, json_pack("{s:I, s:I, s:I}", "a", (json_int_t)contact->a, "b",
                                                (json_int_t)contact->b, "pairs", (json_int_t)contact->pairCount));
  }
  // The frame is tallied before it is written: one frame, no comma yet.
  printf("%s\n    ", scan->tallies.frameCount > 1 ? "," : "");
  return dump(json_pack("{s:I, s:f, s:o, s:o}", "frame", (json_int_t)frame->number, "time", frame->time, "animation",
                        runName(scan, frame->run), "collisions", collisions));
}

/* Closed in any case, so that what was printed can be read; a failed or interrupted scan says that it is not all. */
static void endJson(const pnScan *scan, bool good) {
  printf("\n  ],\n");
  if (scan->interrupted || !good) printf("  \"incomplete\": true,\n");
  if (scan->limitedCount > 0) printf("  \"limited_frames\": %u,\n", scan->limitedCount);
  printf("  \"pairs_total\": %llu\n}\n", (unsigned long long)scan->tallies.pairCount);
}

/* ---------------------------------------------------------------- CSV */

/* The end of a line: where several animations are scanned, a last column says which, in quotes. */
static void endLine(const pnScan *scan, pnOutFile *file) {
  if (scan->runCount > 1) {
    pnOutFile_Print(file, ",\"");
    // A quote inside quotes is written twice.
    for (const char *c = scan->runs[scan->run].name; *c; ++c) pnOutFile_Print(file, *c == '"' ? "\"%c" : "%c", *c);
    pnOutFile_Print(file, "\"");
  }
  pnOutFile_Print(file, "\n");
}

static void writeCsvFrame(const pnScan *scan) {
  const pnScanFrame *frame = &scan->frame;
  pnOutFile *csv = scan->files.csv, *pairs = scan->files.pairs;
  for (uint32_t i = 0; i < frame->contactCount; ++i) {
    const pnScanContact *contact = &frame->contacts[i];
    if (csv) {
      pnOutFile_Print(csv, "%lld,%.9g,%u,%u,%zu", (long long)frame->number, frame->time, contact->a, contact->b,
                      contact->pairCount);
      endLine(scan, csv);
    }
    for (size_t k = 0; k < contact->pairCount && pairs; ++k) {
      pnOutFile_Print(pairs, "%lld,%u,%u,%u,%u", (long long)frame->number, contact->a, contact->pairs[k].a, contact->b,
                      contact->pairs[k].b);
      endLine(scan, pairs);
    }
  }
}

/* The last line of a CSV file; then its bytes are the system's. */
static pnResult finishCsv(const pnScan *scan, pnOutFile *file) {
  if (!file) return PN_OK;
  if (scan->interrupted)
    pnOutFile_Print(file, "# incomplete: interrupted after %u of %u frames\n", scan->tallies.frameCount,
                    scan->frameTotal);
  return pnOutFile_Flush(file);
}

static pnResult closeCsv(pnOutFile **file, bool keep) {
  pnResult result = *file ? pnCloseOutFile(*file, keep) : PN_OK;
  *file = NULL;
  return result;
}

/* ---------------------------------------------------------------- the report */

/* Name of the file and of what it plays: "walk.glb, clip run". */
static void makeTitle(const pnScan *scan, char *title, size_t size) {
  const pnScanSource *source = &scan->sources[0];
  const char *slash = strrchr(source->word, '/');
  int used = snprintf(title, size, "%s", slash && slash[1] ? slash + 1 : source->word);
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

static pnResult openReport(pnScan *scan) {
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
    for (uint32_t s = 0; s < scan->sourceCount; ++s) files[s] = scan->sources[s].word;
    char title[256];
    makeTitle(scan, title, sizeof(title));
    pnReportInfo info = pn_defaultReportInfo();
    info.title = title;
    info.command = scan->options->command;
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

static pnResult writeReportFrame(pnScan *scan) {
  const pnScanFrame *frame = &scan->frame;
  pnScanFiles *files = &scan->files;
  if (frame->pairCount > files->reportPairCapacity) {
    pnReportPair *pairs = realloc(files->reportPairs, 2 * frame->pairCount * sizeof(pnReportPair));
    if (!pairs) return pnFail(PN_ERROR_MEMORY, "out of memory for %zu pairs", frame->pairCount);
    files->reportPairs = pairs;
    files->reportPairCapacity = 2 * frame->pairCount;
  }
  size_t count = 0;
  for (uint32_t i = 0; i < frame->contactCount; ++i) {
    const pnScanContact *contact = &frame->contacts[i];
    for (size_t k = 0; k < contact->pairCount; ++k)
      files->reportPairs[count++] = (pnReportPair){contact->a, contact->pairs[k].a, contact->b, contact->pairs[k].b};
  }
  for (uint32_t b = 0; b < scan->bodyCount; ++b)
    pnPose_GetVertices(pnBody_GetPose(scan->world, scan->bodies[b].id), files->positions[b]);
  pnResult result = pn_reportFrame(files->report, frame->number, frame->time, (const float *const *)files->positions,
                                   files->reportPairs, count);
  return result == PN_OK ? PN_OK : pnFail(result, "%s", pn_reportMessage());
}

static pnResult closeReport(pnScan *scan, bool keep) {
  pnScanFiles *files = &scan->files;
  pnResult result = PN_OK;
  if (files->report && keep) {
    result = pn_reportEnd(files->report, !scan->interrupted, &files->reportStats);
    if (result != PN_OK) pnFail(result, "%s", pn_reportMessage());
  } else {
    pn_reportCancel(files->report);
  }
  files->report = NULL;
  return result;
}

/* ---------------------------------------------------------------- all of them */

static pnResult openCsv(const pnScan *scan, const char *path, const char *header, pnOutFile **outFile) {
  if (!path) return PN_OK;
  pnResult result = pnOpenOutFile(path, outFile);
  if (result == PN_OK) pnOutFile_Print(*outFile, "%s%s\n", header, scan->runCount > 1 ? ",animation" : "");
  return result;
}

/* Everything is opened before the first frame: a path that cannot be written is told now, not after an hour. */
pnResult pn_scanOpenFiles(pnScan *scan) {
  pnResult result = openCsv(scan, scan->options->csv, "frame,time,a,b,pairs", &scan->files.csv);
  if (result == PN_OK)
    result = openCsv(scan, scan->options->pairs, "frame,a,triangle_a,b,triangle_b", &scan->files.pairs);
  if (result == PN_OK && scan->options->html) result = openReport(scan);
  return result;
}

pnResult pn_scanOpenRun(pnScan *scan) {
  if (!scan->files.report) return PN_OK;
  const pnScanRun *run = &scan->runs[scan->run];
  pnResult result = pn_reportClip(scan->files.report, run->name, run->range.fps);
  return result == PN_OK ? PN_OK : pnFail(result, "%s", pn_reportMessage());
}

pnResult pn_scanWriteFrame(pnScan *scan) {
  if (scan->files.csv || scan->files.pairs) writeCsvFrame(scan);
  bool good = true;
  if (scan->options->json) good = (scan->files.jsonBegun || beginJson(scan)) && writeJsonFrame(scan);
  if (!good && ferror(stdout)) return pnFail(PN_ERROR_FILE, "the output cannot be written: %s", strerror(errno));
  if (!good) return pnFail(PN_ERROR_MEMORY, "out of memory while writing JSON");
  return scan->files.report ? writeReportFrame(scan) : PN_OK;
}

/* All files take their places or none does: what can fail for want of room is done for all of them before the first
 * takes its place. Should a place be refused even then (its folder is gone), the message says which files are there. */
static pnResult placeFiles(pnScan *scan, bool good) {
  pnScanFiles *files = &scan->files;
  pnResult result = good ? finishCsv(scan, files->csv) : PN_OK;
  if (good && result == PN_OK) result = finishCsv(scan, files->pairs);
  bool keep = good && result == PN_OK, report = keep && files->report, csv = keep && files->csv;
  pnResult closed = closeReport(scan, keep);
  if (closed != PN_OK) keep = report = csv = false;
  if (keep) closed = closeCsv(&files->csv, true);
  if (closed != PN_OK) keep = csv = false;
  if (keep) closed = closeCsv(&files->pairs, true);
  closeCsv(&files->csv, false);
  closeCsv(&files->pairs, false);
  if (closed != PN_OK && (report || csv)) {
    char message[512];
    snprintf(message, sizeof(message), "%s", pnGetMessage());
    pnFail(closed, "%s; written before: %s%s%s", message, report ? scan->options->html : "", report && csv ? ", " : "",
           csv ? scan->options->csv : "");
  }
  return result == PN_OK ? closed : result;
}

pnResult pn_scanCloseFiles(pnScan *scan, bool good) {
  pnScanFiles *files = &scan->files;
  // An interrupt before the first frame still makes an object.
  if (scan->options->json && good && !files->jsonBegun) good = beginJson(scan);
  if (files->jsonBegun) endJson(scan, good);
  pnResult result = placeFiles(scan, good);
  for (uint32_t b = 0; b < scan->bodyCount && files->positions; ++b) free(files->positions[b]);
  free(files->positions);
  free(files->reportPairs);
  files->positions = NULL;
  files->reportPairs = NULL;
  return result;
}
