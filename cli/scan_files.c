/* scan_files.c: what is written frame by frame, the two CSV files and the report, and what is written at the end.
 *
 * A scan that fails leaves no file behind. One that was interrupted keeps what it has and says so where a program
 * will stumble over it: a last line "# incomplete" in CSV, "incomplete": true in JSON, a banner in the report. */
#include "out.h"
#include "scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
  pnOutFile *csv = scan->files.outs[PN_OUT_CSV], *pairs = scan->files.outs[PN_OUT_PAIRS];
  double number = (double)frame->number + (double)frame->part / PN_FRAME_PARTS;
  for (uint32_t i = 0; i < frame->contactCount; ++i) {
    const pnScanContact *contact = &frame->contacts[i];
    if (csv) {
      pnOutFile_Print(csv, "%.15g,%.9g,%u,%u,%zu", number, frame->time, contact->a, contact->b, contact->pairCount);
      endLine(scan, csv);
    }
    for (size_t k = 0; k < contact->pairCount && pairs; ++k) {
      pnOutFile_Print(pairs, "%.15g,%u,%u,%u,%u", number, contact->a, contact->pairs[k].a, contact->b,
                      contact->pairs[k].b);
      endLine(scan, pairs);
    }
  }
}

/* ---------------------------------------------------------------- all of them */

const char *pn_scanOutPath(const pnScanOptions *options, pnScanOut out) {
  const char *const paths[] = {options->csv, options->pairs, options->junit, options->sarif, options->writeBaseline};
  return paths[out];
}

/* Everything is opened before the first frame: a path that cannot be written is told now, not after an hour. */
pnResult pn_scanOpenFiles(pnScan *scan) {
  static const char *const headers[PN_OUT_COUNT] = {
      [PN_OUT_CSV] = "frame,time,a,b,pairs", [PN_OUT_PAIRS] = "frame,a,triangle_a,b,triangle_b"};
  pnResult result = PN_OK;
  for (int i = 0; i < PN_OUT_COUNT && result == PN_OK; ++i) {
    const char *path = pn_scanOutPath(scan->options, (pnScanOut)i);
    if (!path) continue;
    result = pnOpenOutFile(path, &scan->files.outs[i]);
    if (result == PN_OK && headers[i])
      pnOutFile_Print(scan->files.outs[i], "%s%s\n", headers[i], scan->runCount > 1 ? ",animation" : "");
  }
  if (result == PN_OK && scan->options->html) result = pn_scanOpenReport(scan);
  return result;
}

pnResult pn_scanOpenRun(pnScan *scan) {
  if (!scan->files.report) return PN_OK;
  const pnScanRun *run = &scan->runs[scan->run];
  pnResult result = pn_reportClip(scan->files.report, run->name, run->range.fps);
  return result == PN_OK ? PN_OK : pnFail(result, "%s", pn_reportMessage());
}

pnResult pn_scanWriteFrame(pnScan *scan) {
  if (scan->files.outs[PN_OUT_CSV] || scan->files.outs[PN_OUT_PAIRS]) writeCsvFrame(scan);
  bool good = true;
  if (scan->options->json) good = (scan->files.jsonBegun || pn_scanBeginJson(scan)) && pn_scanWriteJson(scan);
  if (!good && ferror(stdout)) return pnFail(PN_ERROR_FILE, "the output cannot be written: %s", strerror(errno));
  if (!good) return pnFail(PN_ERROR_MEMORY, "out of memory while writing JSON");
  return scan->files.report ? pn_scanWriteReport(scan) : PN_OK;
}

/* The last lines of each file; then its bytes are the system's. */
static pnResult finishOut(pnScan *scan, pnScanOut out) {
  pnOutFile *file = scan->files.outs[out];
  if (!file) return PN_OK;
  pnResult result = PN_OK;
  switch (out) {
    case PN_OUT_JUNIT: pn_writeJunit(scan, file); break;
    case PN_OUT_SARIF: result = pn_writeSarif(scan, file); break;
    case PN_OUT_BASELINE: result = pn_writeBaseline(scan, file); break;
    default:
      if (scan->interrupted)
        pnOutFile_Print(file, "# incomplete: interrupted after %u of %u frame%s\n", scan->tallies.frameCount,
                        scan->frameTotal, pn_plural(scan->frameTotal));
      break;
  }
  return result == PN_OK ? pnOutFile_Flush(file) : result;
}

/* "; written before: report.html, counts.csv" behind the message of what failed. */
static void sayPlaced(const pnScan *scan, pnResult result, bool report, const bool *placed) {
  char message[1000];
  int used = snprintf(message, sizeof(message), "%.500s", pnGetMessage());
  const char *between = "; written before: ";
  for (int i = -1; i < PN_OUT_COUNT; ++i) {
    if (i < 0 ? !report : !placed[i]) continue;
    const char *path = i < 0 ? scan->options->html : pn_scanOutPath(scan->options, (pnScanOut)i);
    if ((size_t)used < sizeof(message))
      used += snprintf(message + used, sizeof(message) - (size_t)used, "%s%s", between, path);
    between = ", ";
  }
  pnFail(result, "%s", message);
}

/* All files take their places or none does: what can fail for want of room is done for all of them before the first
 * takes its place. Should a place be refused even then (its folder is gone), the message says which files are there. */
static pnResult placeFiles(pnScan *scan, bool good) {
  pnScanFiles *files = &scan->files;
  pnResult result = PN_OK;
  for (int i = 0; i < PN_OUT_COUNT && good && result == PN_OK; ++i) result = finishOut(scan, (pnScanOut)i);
  bool keep = good && result == PN_OK, placed[PN_OUT_COUNT] = {false};
  bool report = keep && files->report;
  pnResult closed = pn_scanCloseReport(scan, keep);
  if (closed != PN_OK) report = false;
  for (int i = 0; i < PN_OUT_COUNT; ++i) {
    if (!files->outs[i]) continue;
    bool place = keep && closed == PN_OK;
    pnResult done = pnCloseOutFile(files->outs[i], place);
    if (place) closed = done;
    placed[i] = place && done == PN_OK;
    files->outs[i] = NULL;
  }
  if (closed != PN_OK) sayPlaced(scan, closed, report, placed);
  return result == PN_OK ? closed : result;
}

pnResult pn_scanCloseFiles(pnScan *scan, bool good) {
  pnScanFiles *files = &scan->files;
  // An interrupt before the first frame still makes an object.
  if (scan->options->json && good && !files->jsonBegun) good = pn_scanBeginJson(scan);
  if (files->jsonBegun) pn_scanEndJson(scan, good);
  pnResult result = placeFiles(scan, good);
  return result;
}
