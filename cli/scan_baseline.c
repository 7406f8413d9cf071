/* scan_baseline.c: what somebody has looked at and accepted, as a file that people read and edit.
 *
 *   {
 *     "format": "pinch baseline 1",
 *     "tolerance": {"depth_part": 0.05, "depth": 0, "seconds_part": 0.1, "seconds": 0.1},
 *     "findings": [
 *       {"name": "3f2a9c10", "animation": "walk", "a": "body", "b": "coat", "depth": 0.031, "seconds": 0.82,
 *        "joints": "fingers.L | thigh.L", "frames": "229-278", "kind": "new", "place_a": [...], "place_b": [...],
 *        "comment": "the glove covers it"}
 *     ]
 *   }
 *
 * Needed are name, a and b; without a depth any depth is accepted, without seconds any length, without an animation it
 * holds for all; "unseen": true is of --between, and not missed without it. "begins" tells which
 * of several with the same eight digits it is. The rest is for whoever reads it, and for finding the entry again when its name has
 * changed. */
#include "out.h"
#include "scan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PN_BASELINE_FORMAT "pinch baseline 1"

/* ---------------------------------------------------------------- reading */

static const char *textOf(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

/* A number, or what it is when it is not given; false when it is something else. */
static bool numberOf(const json_t *object, const char *key, double absent, double *out) {
  const json_t *value = json_object_get(object, key);
  *out = json_is_number(value) ? json_number_value(value) : absent;
  return (!value || json_is_null(value) || json_is_number(value)) && !isnan(*out);
}

static bool placeOf(const json_t *object, const char *key, pnVec3 *out) {
  const json_t *list = json_object_get(object, key);
  if (json_array_size(list) != 3) return false;
  double xyz[3];
  for (size_t k = 0; k < 3; ++k) {
    if (!json_is_number(json_array_get(list, k))) return false;
    xyz[k] = json_number_value(json_array_get(list, k));
  }
  *out = (pnVec3){(float)xyz[0], (float)xyz[1], (float)xyz[2]};
  return true;
}

static pnResult readEntry(const char *path, const json_t *object, size_t number, pnBaselineEntry *entry) {
  *entry = (pnBaselineEntry){.animation = textOf(object, "animation"), .comment = textOf(object, "comment")};
  pnKnownFinding *known = &entry->known;
  known->name = textOf(object, "name");
  known->a = textOf(object, "a");
  known->b = textOf(object, "b");
  bool good = json_is_object(object) && known->name[0] && numberOf(object, "depth", INFINITY, &known->depth) &&
              numberOf(object, "seconds", -1, &known->time) && numberOf(object, "begins", -INFINITY, &known->begin);
  known->hasBegin = known->begin > -INFINITY;
  if (!good)
    return pnFail(PN_ERROR_FORMAT,
                  "%s: findings[%zu]: expected an object with a \"name\", and numbers \"depth\", \"seconds\" and "
                  "\"begins\" if any",
                  path, number);
  entry->unseen = json_is_true(json_object_get(object, "unseen"));
  known->hasPlace = placeOf(object, "place_a", &known->placeA) && placeOf(object, "place_b", &known->placeB);
  return PN_OK;
}

static pnResult readTolerance(const char *path, const json_t *object, pnCompareDef *tolerance) {
  *tolerance = pnDefaultCompareDef();
  bool good = numberOf(object, "depth_part", tolerance->depthPart, &tolerance->depthPart) &&
              numberOf(object, "depth", tolerance->depthLength, &tolerance->depthLength) &&
              numberOf(object, "seconds_part", tolerance->timePart, &tolerance->timePart) &&
              numberOf(object, "seconds", tolerance->time, &tolerance->time);
  return good ? PN_OK : pnFail(PN_ERROR_FORMAT, "%s: tolerance: expected numbers", path);
}

pnResult pn_readBaseline(const char *path, pnBaseline *outBaseline) {
  pnBaseline baseline = {0};
  json_error_t error;
  struct stat info;
  if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
    return pnFail(PN_ERROR_FILE, "%s: is a folder; expected a baseline, which --write-baseline makes", path);
  baseline.root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
  if (!baseline.root) {
    if (error.line < 1) return pnFail(PN_ERROR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    return pnFail(PN_ERROR_FORMAT, "%s: line %d: this is no baseline: %s; --write-baseline makes one", path, error.line,
                  error.text);
  }
  pnResult result = PN_OK;
  const json_t *list = json_object_get(baseline.root, "findings");
  if (strcmp(textOf(baseline.root, "format"), PN_BASELINE_FORMAT) != 0 || !json_is_array(list))
    result = pnFail(PN_ERROR_FORMAT,
                    "%s: expected \"format\": \"" PN_BASELINE_FORMAT
                    "\" and a list \"findings\"; --write-baseline makes one",
                    path);
  if (result == PN_OK) result = readTolerance(path, json_object_get(baseline.root, "tolerance"), &baseline.tolerance);
  if (result == PN_OK) {
    baseline.entries = calloc(json_array_size(list) + 1, sizeof(pnBaselineEntry));
    if (!baseline.entries) result = pnFail(PN_ERROR_MEMORY, "%s: out of memory for its findings", path);
  }
  for (size_t i = 0; i < json_array_size(list) && result == PN_OK; ++i) {
    result = readEntry(path, json_array_get(list, i), i, &baseline.entries[i]);
    ++baseline.count;
  }
  *outBaseline = baseline;
  if (result != PN_OK) pn_freeBaseline(outBaseline);
  return result;
}

void pn_freeBaseline(pnBaseline *baseline) {
  json_decref(baseline->root);
  free(baseline->entries);
  memset(baseline, 0, sizeof(*baseline));
}

/* ---------------------------------------------------------------- comparing */

pnResult pn_compareBaseline(pnScan *scan, uint32_t count, pnStanding *standings, uint32_t *matches) {
  pnBaseline *baseline = &scan->findings.baseline;
  const char *animation = scan->runs[scan->run].name;
  // The entries of this animation, and where each of them stands in the file.
  pnKnownFinding *known = malloc(baseline->count * sizeof(pnKnownFinding) + 1);
  uint32_t *places = malloc(baseline->count * sizeof(uint32_t) + 1), knownCount = 0;
  pnResult result = known && places ? PN_OK : pnFail(PN_ERROR_MEMORY, "out of memory for what is known");
  for (uint32_t i = 0; i < baseline->count && result == PN_OK; ++i) {
    const char *own = baseline->entries[i].animation;
    if (own[0] && strcmp(own, animation) != 0) continue;
    known[knownCount] = baseline->entries[i].known;
    places[knownCount++] = i;
  }
  if (result == PN_OK)
    result = pnFinder_Compare(scan->findings.finder, known, knownCount, &baseline->tolerance, standings, matches);
  for (uint32_t i = 0; i < count && result == PN_OK; ++i) {
    if (matches[i] == PN_NONE) continue;
    matches[i] = places[matches[i]];
    baseline->entries[matches[i]].matched = true;
  }
  free(known);
  free(places);
  return result;
}

bool pn_isFixed(const pnScan *scan, const pnBaselineEntry *entry) {
  if (entry->matched || scan->interrupted) return false;
  // What was not asked about is neither there nor gone: another animation, a part of the frames, a body left out.
  if (scan->options->frames || scan->choice.ruleCount > 0 || (entry->unseen && !scan->options->between)) return false;
  if (!entry->animation[0]) return true;
  for (uint32_t r = 0; r < scan->runCount; ++r)
    if (strcmp(scan->runs[r].name, entry->animation) == 0) return true;
  return false;
}

/* ---------------------------------------------------------------- writing */

/* Six digits: enough to know it again, few enough to read. Rounded up, so that what is accepted is not below what was found. */
static double rounded(double value) {
  if (!(value > 0)) return 0;
  double unit = pow(10, floor(log10(value)) - 5);
  return ceil(value / unit) * unit;
}

static json_t *placeJson(pnVec3 place) {
  return json_pack("[f, f, f]", round(1e3 * (double)place.x) / 1e3, round(1e3 * (double)place.y) / 1e3,
                   round(1e3 * (double)place.z) / 1e3);
}

static json_t *entryJson(const pnScan *scan, const pnScanFinding *finding) {
  const pnFinding *core = &finding->core;
  char joints[400], frames[64];
  pn_describeJoints(scan, finding, 3, joints, sizeof(joints));
  snprintf(frames, sizeof(frames), "%.10g-%.10g", pn_frameNumber(scan, core->firstFrame),
           pn_frameNumber(scan, core->lastFrame));
  const char *comment = finding->known != PN_NONE ? scan->findings.baseline.entries[finding->known].comment : "";
  json_t *entry =
      json_pack("{s:s, s:o, s:o, s:o, s:s, s:f, s:f, s:f, s:s, s:o, s:o, s:o, s:o}", "name", core->name, "animation",
                pn_jsonText(scan->runs[finding->run].name), "a", pn_jsonText(scan->bodies[core->a].name), "b",
                pn_jsonText(scan->bodies[core->b].name), "kind", pn_kindWord(core->kind), "depth",
                rounded(core->depth.value), "seconds", rounded(core->lastTime - core->firstTime), "begins",
                round(1e3 * core->firstTime) / 1e3, "frames", frames, "joints", pn_jsonText(joints), "place_a",
                placeJson(core->placeA), "place_b", placeJson(core->placeB), "comment", pn_jsonText(comment));
  if (entry && finding->unseen) json_object_set_new(entry, "unseen", json_true());
  return entry;
}

pnResult pn_writeBaseline(const pnScan *scan, pnOutFile *file) {
  const pnCompareDef tolerance =
      scan->findings.baseline.root ? scan->findings.baseline.tolerance : pnDefaultCompareDef();
  pnResult result = PN_OK;
  pnOutFile_Print(file, "{\n  \"format\": \"" PN_BASELINE_FORMAT "\",\n  \"pinch\": \"%s\",\n", pnGetVersion());
  pnOutFile_Print(
      file, "  \"tolerance\": {\"depth_part\": %.9g, \"depth\": %.9g, \"seconds_part\": %.9g, \"seconds\": %.9g},\n",
      tolerance.depthPart, tolerance.depthLength, tolerance.timePart, tolerance.time);
  pnOutFile_Print(file, "  \"findings\": [");
  for (uint32_t i = 0; i < scan->findings.count; ++i) {
    json_t *entry = entryJson(scan, &scan->findings.items[i]);
    char *text = entry ? json_dumps(entry, JSON_REAL_PRECISION(9)) : NULL;
    if (!text && result == PN_OK) result = pnFail(PN_ERROR_MEMORY, "out of memory while writing the baseline");
    pnOutFile_Print(file, "%s\n    %s", i > 0 ? "," : "", text ? text : "");
    free(text);
    json_decref(entry);
  }
  pnOutFile_Print(file, "\n  ]\n}\n");
  return result;
}
