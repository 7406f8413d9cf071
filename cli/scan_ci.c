/* scan_ci.c: findings for the services that run checks: JUnit XML (every finding a test case) and SARIF 2.1.0 (every finding a
 * result). Both know what is new, what is known and what fails. */
#include "out.h"
#include "scan.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- JUnit */

/* Text inside an attribute of XML 1.0, which has no control characters. Names come from files: a byte that is no UTF-8 would
 * make the whole file unreadable, so JSON's judgement of the text is taken. */
static void putXml(pnOutFile *file, const char *text) {
  json_t *plain = pn_jsonText(text);
  for (const char *c = plain ? json_string_value(plain) : ""; *c; ++c)
    if (*c == '&') pnOutFile_Print(file, "&amp;");
    else if (*c == '<') pnOutFile_Print(file, "&lt;");
    else if (*c == '>') pnOutFile_Print(file, "&gt;");
    else if (*c == '"') pnOutFile_Print(file, "&quot;");
    else pnOutFile_Print(file, "%c", (unsigned char)*c < 0x20 ? ' ' : *c);
  json_decref(plain);
}

static void putCase(const pnScan *scan, pnOutFile *file, const pnScanFinding *finding) {
  char text[1200], bodies[400];
  pn_describeBodies(scan, finding, bodies, sizeof(bodies));
  pn_describeFinding(scan, finding, text, sizeof(text));
  pnOutFile_Print(file, "    <testcase classname=\"");
  putXml(file, scan->runs[finding->run].name[0] ? scan->runs[finding->run].name : "rest");
  pnOutFile_Print(file, "\" name=\"");
  putXml(file, bodies);
  pnOutFile_Print(file, " (%s)\" time=\"0\">", finding->core.name);
  bool fails = pn_listFails(scan, finding);
  if (fails) pnOutFile_Print(file, "<failure type=\"%s\" message=\"", pn_findingWord(finding));
  else pnOutFile_Print(file, "<skipped message=\"%s: ", finding->standing == PN_STANDING_KNOWN ? "known" : "accepted");
  putXml(file, text);
  pnOutFile_Print(file, "\"/></testcase>\n");
}

void pn_writeJunit(const pnScan *scan, pnOutFile *file) {
  const pnScanFindings *findings = &scan->findings;
  uint32_t failing = pn_listCountFailing(scan), errors = scan->interrupted || pn_scanLacksAnswer(scan);
  // A suite without a case reads as "nothing ran": the scan itself is one.
  uint32_t tests = findings->count + 1;
  pnOutFile_Print(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"pinch scan ");
  putXml(file, scan->sources[0].word);
  pnOutFile_Print(file, "\" tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\" time=\"0\">\n", tests, failing,
                  errors, findings->count - failing);
  pnOutFile_Print(file, "    <testcase classname=\"pinch\" name=\"%u frame%s scanned\" time=\"0\">",
                  scan->tallies.frameCount, pn_plural(scan->tallies.frameCount));
  if (errors && !scan->interrupted)
    pnOutFile_Print(file, "<error message=\"not all was looked at: --max-pairs 0 looks at all\"/>");
  if (scan->interrupted)
    pnOutFile_Print(file, "<error message=\"interrupted after %u of %u frame%s\"/>", scan->tallies.frameCount,
                    scan->frameTotal, pn_plural(scan->frameTotal));
  pnOutFile_Print(file, "</testcase>\n");
  for (uint32_t i = 0; i < findings->count; ++i) putCase(scan, file, &findings->items[i]);
  pnOutFile_Print(file, "  </testsuite>\n</testsuites>\n");
}

/* ---------------------------------------------------------------- SARIF */

static const struct {
  const char *id, *text;
} rules[] = {
    {"collision", "The surfaces of two bodies, or of one with itself, go through each other."},
    {"containment", "A closed body is wholly inside another."},
    {"passage", "Surfaces go through each other between two frames, and neither frame shows it."},
};

static json_t *ruleJson(size_t i) {
  return json_pack("{s:s, s:{s:s}}", "id", rules[i].id, "shortDescription", "text", rules[i].text);
}

/* How SARIF calls a finding's standing; null without a baseline. */
static const char *baselineState(const pnScan *scan, const pnScanFinding *finding) {
  if (!scan->options->baseline) return NULL;
  return finding->standing == PN_STANDING_NEW     ? "new"
         : finding->standing == PN_STANDING_KNOWN ? "unchanged"
                                                  : "updated";
}

/* A path as the URI reference that SARIF wants (RFC 3986): bytes that have no place in a path, and colons, which would end a scheme, are
 * written as %XX. */
static json_t *uriJson(const char *path) {
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/!$&'()*+,;=@";
  char *uri = malloc(3 * strlen(path) + 1), *end = uri;
  if (!uri) return NULL;
  for (const char *c = path; *c; ++c)
    if (strchr(plain, *c)) *end++ = *c;
    else end += sprintf(end, "%%%02X", (unsigned char)*c);
  *end = 0;
  json_t *text = json_string(uri);
  free(uri);
  return text;
}

/* Where it is: the file, and the two bodies in words of the file. A finding is of the whole file; there are services that show nothing without a
 * line. */
static json_t *locationJson(const pnScan *scan, const pnScanFinding *finding) {
  const pnScanBody *a = &scan->bodies[finding->core.a], *b = &scan->bodies[finding->core.b];
  json_t *names = json_pack("[{s:o, s:s}]", "name", pn_jsonText(a->name), "kind", "object");
  if (a != b) json_array_append_new(names, json_pack("{s:o, s:s}", "name", pn_jsonText(b->name), "kind", "object"));
  return json_pack("{s:{s:{s:o}, s:{s:i}}, s:o}", "physicalLocation", "artifactLocation", "uri",
                   uriJson(scan->sources[a->source].word), "region", "startLine", 1, "logicalLocations", names);
}

static json_t *resultJson(const pnScan *scan, const pnScanFinding *finding) {
  const pnFinding *core = &finding->core;
  char text[1200];
  pn_describeFinding(scan, finding, text, sizeof(text));
  json_t *object = json_pack(
      "{s:s, s:s, s:{s:o}, s:[o], s:{s:s}, s:{s:f, s:s, s:s, s:o, s:o, s:o, s:o}}", "ruleId",
      rules[finding->unseen ? 2 : core->contained].id, "level", pn_listFails(scan, finding) ? "error" : "note",
      "message", "text", pn_jsonText(text), "locations", locationJson(scan, finding), "partialFingerprints",
      "pinchFinding/v1", core->name, "properties", "depth", core->depth.value, "depth_kind",
      pn_depthWord(core->depth.kind), "kind", pn_kindWord(core->kind), "first",
      pn_frameJson(pn_frameNumber(scan, core->firstFrame)), "last", pn_frameJson(pn_frameNumber(scan, core->lastFrame)),
      "deepest", pn_frameJson(pn_frameNumber(scan, core->deepestFrame)), "animation",
      pn_jsonText(scan->runs[finding->run].name));
  const char *state = baselineState(scan, finding);
  if (object && state) json_object_set_new(object, "baselineState", json_string(state));
  return object;
}

pnResult pn_writeSarif(const pnScan *scan, pnOutFile *file) {
  json_t *results = json_array(), *list = json_array();
  for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); ++i) json_array_append_new(list, ruleJson(i));
  for (uint32_t i = 0; i < scan->findings.count; ++i)
    json_array_append_new(results, resultJson(scan, &scan->findings.items[i]));
  json_t *root = json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:[{s:b}], s:o}]}", "$schema",
                           "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs", "tool",
                           "driver", "name", "pinch", "version", pnGetVersion(), "rules", list, "invocations",
                           "executionSuccessful", !scan->interrupted && !pn_scanLacksAnswer(scan), "results", results);
  char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
  json_decref(root);
  if (!text) return pnFail(PN_ERROR_MEMORY, "out of memory while writing SARIF");
  pnOutFile_Print(file, "%s\n", text);
  free(text);
  return PN_OK;
}
