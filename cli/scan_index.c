/* scan_index.c: what is told of one scan of many: a row as JSON, and the page that has them all. The page is plain HTML without
 * scripts, pictures are in it: one file that can be mailed. */
#include "out.h"
#include "scan_batch.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- a row */

static json_t *worstJson(const pnScan *scan, const pnScanFinding *finding) {
  const pnFinding *core = &finding->core;
  char bodies[400], joints[400];
  pn_describeBodies(scan, finding, bodies, sizeof(bodies));
  pn_describeJoints(scan, finding, 3, joints, sizeof(joints));
  return json_pack("{s:s, s:f, s:s, s:s, s:o, s:o, s:o, s:f, s:f, s:f}", "name", core->name, "depth", core->depth.value,
                   "depth_kind", pn_depthWord(core->depth.kind), "kind", pn_kindWord(core->kind), "between",
                   pn_jsonText(bodies), "joints", pn_jsonText(joints), "animation",
                   pn_jsonText(scan->runs[finding->run].name), "first", pn_frameNumber(scan, core->firstFrame), "last",
                   pn_frameNumber(scan, core->lastFrame), "deepest", pn_frameNumber(scan, core->deepestFrame));
}

/* The first of those that count, else the first there is. */
static const pnScanFinding *worstOf(const pnScan *scan) {
  for (uint32_t i = 0; i < scan->findings.count; ++i)
    if (pn_listFails(scan, &scan->findings.items[i])) return &scan->findings.items[i];
  return scan->findings.count > 0 ? &scan->findings.items[0] : NULL;
}

json_t *pn_rowOfScan(pnScan *scan) {
  const pnScanFinding *worst = worstOf(scan);
  pnBytes thumb = {0};
  // A picture that cannot be drawn is no reason to lose the row.
  bool drawn = pn_drawThumb(scan, worst, &thumb) == PN_OK;
  uint32_t failing = pn_listCountFailing(scan);
  uint64_t triangles = 0;
  for (uint32_t b = 0; b < scan->bodyCount; ++b) triangles += pnMesh_GetTriangleCount(scan->bodies[b].mesh);
  json_t *row =
      json_pack("{s:o, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "file", pn_jsonText(scan->sources[0].word),
                "status", failing > 0 ? "found" : "clean", "bodies", (json_int_t)scan->bodyCount, "triangles",
                (json_int_t)triangles, "frames_total", (json_int_t)scan->tallies.frameCount, "frames_colliding",
                (json_int_t)scan->tallies.collidingFrames, "pairs_total", (json_int_t)scan->tallies.pairCount,
                "findings", (json_int_t)scan->findings.count, "failing", (json_int_t)failing, "worst",
                worst ? worstJson(scan, worst) : json_null());
  if (row && drawn) json_object_set_new(row, "thumb", json_stringn((char *)thumb.data, thumb.size));
  pn_bytesFree(&thumb);
  return row;
}

json_t *pn_rowOfError(const char *file, const char *message) {
  return json_pack("{s:o, s:s, s:o}", "file", pn_jsonText(file), "status", "error", "error", pn_jsonText(message));
}

/* ---------------------------------------------------------------- the page */

static const char *textOf(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static void putText(pnOutFile *file, const char *text) {
  for (const char *c = text; *c; ++c) {
    const char *word = *c == '&' ? "&amp;" : *c == '<' ? "&lt;" : *c == '>' ? "&gt;" : *c == '"' ? "&quot;" : NULL;
    if (word) pnOutFile_Print(file, "%s", word);
    else pnOutFile_Write(file, c, 1);
  }
}

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
    "content=\"width=device-width\"><title>pinch</title>\n<style>\n"
    "body{font:15px/1.4 system-ui,sans-serif;margin:2em;color:#222;background:#fff}\n"
    "table{border-collapse:collapse}td,th{padding:.3em .8em;border-bottom:1px solid #ddd;text-align:left;"
    "vertical-align:middle}\n"
    "td.n{text-align:right;font-variant-numeric:tabular-nums}img{display:block;width:160px;height:120px}\n"
    ".found{color:#b00}.error{color:#b00;font-weight:600}.clean{color:#060}small{color:#555}\n"
    "</style></head><body>\n";

static void putWorst(pnOutFile *file, const json_t *worst) {
  if (!json_is_object(worst)) return;
  putText(file, textOf(worst, "between"));
  const char *joints = textOf(worst, "joints"), *animation = textOf(worst, "animation");
  pnOutFile_Print(file, "<br><small>%s, frames %.9g to %.9g, deepest in %.9g", textOf(worst, "kind"),
                  json_number_value(json_object_get(worst, "first")), json_number_value(json_object_get(worst, "last")),
                  json_number_value(json_object_get(worst, "deepest")));
  if (animation[0]) pnOutFile_Print(file, " of "), putText(file, animation);
  if (joints[0]) pnOutFile_Print(file, "<br>"), putText(file, joints);
  pnOutFile_Print(file, "</small>");
}

static void putRow(pnOutFile *file, const json_t *row) {
  const char *status = textOf(row, "status"), *thumb = textOf(row, "thumb");
  const json_t *worst = json_object_get(row, "worst");
  pnOutFile_Print(file, "<tr><td>");
  // Base64 has no letter that could leave the quotes; what comes from a journal is looked at again.
  bool plain = strspn(thumb, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") == strlen(thumb);
  if (thumb[0] && plain) pnOutFile_Print(file, "<img alt=\"\" src=\"data:image/png;base64,%s\">", thumb);
  pnOutFile_Print(file, "</td><td>");
  putText(file, textOf(row, "file"));
  pnOutFile_Print(file, "</td><td class=\"%s\">",
                  strcmp(status, "error") == 0   ? "error"
                  : strcmp(status, "found") == 0 ? "found"
                                                 : "clean");
  putText(file, status);
  pnOutFile_Print(file, "</td><td class=\"n\">");
  if (json_is_object(worst)) pnOutFile_Print(file, "%.3g", json_number_value(json_object_get(worst, "depth")));
  pnOutFile_Print(file, "</td><td>");
  if (strcmp(status, "error") == 0) putText(file, textOf(row, "error"));
  putWorst(file, worst);
  pnOutFile_Print(file, "</td><td class=\"n\">%lld</td><td class=\"n\">%lld</td></tr>\n",
                  (long long)json_integer_value(json_object_get(row, "findings")),
                  (long long)json_integer_value(json_object_get(row, "frames_total")));
}

void pn_writeIndex(pnOutFile *file, const char *title, json_t *rows) {
  size_t errors = 0, found = 0;
  for (size_t i = 0; i < json_array_size(rows); ++i) {
    const char *status = textOf(json_array_get(rows, i), "status");
    errors += strcmp(status, "error") == 0;
    found += strcmp(status, "found") == 0;
  }
  pnOutFile_Print(file, "%s<h1>", head);
  putText(file, title);
  pnOutFile_Print(file, "</h1>\n<p>%zu file%s: %zu with findings, %zu clean, %zu could not be scanned. pinch %s</p>\n",
                  json_array_size(rows), pn_plural(json_array_size(rows)), found,
                  json_array_size(rows) - found - errors, errors, pnGetVersion());
  pnOutFile_Print(file,
                  "<table><thead><tr><th></th><th>file</th><th>status</th><th>depth</th><th>worst finding</th>"
                  "<th>findings</th><th>frames</th></tr></thead><tbody>\n");
  for (size_t i = 0; i < json_array_size(rows); ++i) putRow(file, json_array_get(rows, i));
  pnOutFile_Print(file, "</tbody></table>\n</body></html>\n");
}
