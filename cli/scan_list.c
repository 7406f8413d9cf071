/* scan_list.c: the findings of all animations in one list: which of them count, in which order, and in words.
 *
 * The order is the library's (pnFinder_Rank), over all animations: what is new, then what grows, then what is built in; in each
 * what only repeats another comes last (four shields in one hand go through the cape in the same frames). */
#include "scan.h"

#include <stdlib.h>
#include <string.h>

static const char *const kindWords[PN_FINDING_KIND_COUNT] = {
    [PN_FINDING_NEW] = "new", [PN_FINDING_GROWING] = "growing", [PN_FINDING_CONSTANT] = "constant"};
static const char *const depthWords[PN_DEPTH_KIND_COUNT] = {
    [PN_DEPTH_NONE] = "none", [PN_DEPTH_INSIDE] = "inside", [PN_DEPTH_THROUGH] = "through", [PN_DEPTH_CURVE] = "curve"};
static const char *const standingWords[PN_STANDING_COUNT] = {[PN_STANDING_NEW] = "new",
                                                             [PN_STANDING_DEEPER] = "deeper",
                                                             [PN_STANDING_LONGER] = "longer",
                                                             [PN_STANDING_KNOWN] = "known"};

const char *pn_kindWord(pnFindingKind kind) {
  return kindWords[kind];
}

const char *pn_findingWord(const pnScanFinding *finding) {
  return finding->unseen ? "unseen" : kindWords[finding->core.kind];
}

const char *pn_depthWord(pnDepthKind kind) {
  return depthWords[kind];
}

const char *pn_standingWord(pnStanding standing) {
  return standingWords[standing];
}

/* ---------------------------------------------------------------- taking */

/* Names of the labels, most triangles first. The names are the body's and live as long as the scan. */
static uint32_t nameJoints(const pnScanBody *body, const pnLabelCount *labels, uint32_t count, const char **names) {
  uint32_t used = 0;
  for (uint32_t i = 0; i < count && used < PN_FINDING_JOINTS; ++i)
    if (labels[i].label < body->groupCount) names[used++] = body->groupNames[labels[i].label];
  return used;
}

static pnResult takeFinding(pnScan *scan, const pnFinding *from, pnStanding standing, uint32_t known) {
  pnScanFindings *findings = &scan->findings;
  if (findings->count == findings->capacity) {
    uint32_t capacity = findings->capacity ? 2 * findings->capacity : 64;
    pnScanFinding *items = realloc(findings->items, capacity * sizeof(pnScanFinding));
    if (!items) return pnFail(PN_ERROR_MEMORY, "out of memory for %u findings", capacity);
    findings->items = items;
    findings->capacity = capacity;
  }
  pnScanFinding item = {.core = *from, .run = scan->run, .standing = standing, .known = known};
  item.unseen = scan->options->between && !findings->shown[from->number];
  item.core.a = findings->bodies[from->a];
  item.core.b = findings->bodies[from->b];
  item.jointCountA = nameJoints(&scan->bodies[item.core.a], from->labelsA, from->labelCountA, item.jointsA);
  item.jointCountB = nameJoints(&scan->bodies[item.core.b], from->labelsB, from->labelCountB, item.jointsB);
  item.core.labelsA = item.core.labelsB = NULL;
  item.core.samples = NULL;
  item.sampleCount = from->sampleCount;
  item.samples = malloc(from->sampleCount * sizeof(pnFindingSample) + 1);
  if (item.samples) memcpy(item.samples, from->samples, from->sampleCount * sizeof(pnFindingSample));
  if (!item.samples) return pnFail(PN_ERROR_MEMORY, "out of memory for a finding");
  findings->items[findings->count++] = item;
  return PN_OK;
}

/* Which numbers of regions turned out to mean another finding. */
static pnResult takeJoins(pnScan *scan) {
  pnScanFindings *findings = &scan->findings;
  for (uint32_t n = 0; n < findings->numberEnd; ++n) {
    uint32_t number = pnFinder_GetFindingNumber(findings->finder, n);
    if (number == n) continue;
    if (findings->joinCount == findings->joinCapacity) {
      uint32_t capacity = findings->joinCapacity ? 2 * findings->joinCapacity : 64;
      pnScanJoin *joins = realloc(findings->joins, capacity * sizeof(pnScanJoin));
      if (!joins) return pnFail(PN_ERROR_MEMORY, "out of memory for %u joined findings", capacity);
      findings->joins = joins;
      findings->joinCapacity = capacity;
    }
    findings->joins[findings->joinCount++] = (pnScanJoin){scan->run, n, number};
  }
  return PN_OK;
}

pnResult pn_listTake(pnScan *scan) {
  pnScanFindings *findings = &scan->findings;
  uint32_t count;
  pnFinder_GetFindings(findings->finder, &count);
  pnStanding *standings = calloc((size_t)count + 1, sizeof(pnStanding));
  uint32_t *matches = malloc((count + (size_t)1) * sizeof(uint32_t));
  pnResult result = standings && matches ? PN_OK : pnFail(PN_ERROR_MEMORY, "out of memory for %u findings", count);
  for (uint32_t i = 0; i < count && matches; ++i) matches[i] = PN_NONE;
  if (result == PN_OK && scan->options->baseline) result = pn_compareBaseline(scan, count, standings, matches);
  // What a frame shows of a finding that was joined to another, it shows of that one.
  for (uint32_t n = 0; n < findings->numberEnd && scan->options->between; ++n)
    if (findings->shown[n]) findings->shown[pnFinder_GetFindingNumber(findings->finder, n)] = 1;
  // The names may have changed to those that are known.
  const pnFinding *found = pnFinder_GetFindings(findings->finder, &count);
  for (uint32_t i = 0; i < count && result == PN_OK; ++i) {
    bool shallow = found[i].depth.value < scan->options->minDepth;
    bool builtIn = scan->options->ignoreRest && found[i].kind == PN_FINDING_CONSTANT;
    findings->shallow += shallow && !builtIn;
    if (!shallow && !builtIn) result = takeFinding(scan, &found[i], standings[i], matches[i]);
  }
  free(standings);
  free(matches);
  // Only who shows regions asks which finding they are of.
  bool regions = scan->options->regions || scan->options->html;
  return result == PN_OK && regions ? takeJoins(scan) : result;
}

/* ---------------------------------------------------------------- ranking */

/* Equal in what ranks: by animation, first frame, bodies and name, so that the order is one. */
static int compareRest(const pnScanFinding *x, const pnScanFinding *y) {
  if (x->run != y->run) return x->run < y->run ? -1 : 1;
  if (x->core.firstFrame != y->core.firstFrame) return x->core.firstFrame < y->core.firstFrame ? -1 : 1;
  if (x->core.a != y->core.a) return x->core.a < y->core.a ? -1 : 1;
  if (x->core.b != y->core.b) return x->core.b < y->core.b ? -1 : 1;
  return strcmp(x->core.name, y->core.name);
}

/* What is new, what repeats that, what grows, what repeats that, what is built in. */
static int compareKind(const pnScanFinding *x, const pnScanFinding *y) {
  int groupX = 2 * (int)x->core.kind + (x->core.repeats != PN_NONE);
  int groupY = 2 * (int)y->core.kind + (y->core.repeats != PN_NONE);
  return (groupX > groupY) - (groupX < groupY);
}

static int compareDepth(const void *left, const void *right) {
  const pnScanFinding *x = left, *y = right;
  int kind = compareKind(x, y);
  if (kind != 0) return kind;
  double dx = x->core.depth.value, dy = y->core.depth.value;
  return dx != dy ? (dx > dy ? -1 : 1) : compareRest(x, y);
}

static int compareFrames(const void *left, const void *right) {
  const pnScanFinding *x = left, *y = right;
  int kind = compareKind(x, y);
  if (kind != 0) return kind;
  if (x->core.frameCount != y->core.frameCount) return x->core.frameCount > y->core.frameCount ? -1 : 1;
  return compareDepth(x, y);
}

static int compareFirst(const void *left, const void *right) {
  int kind = compareKind(left, right);
  return kind != 0 ? kind : compareRest(left, right);
}

void pn_listRank(pnScan *scan) {
  static int (*const orders[])(const void *, const void *) = {[PN_FINDINGS_BY_DEPTH] = compareDepth,
                                                              [PN_FINDINGS_BY_FRAMES] = compareFrames,
                                                              [PN_FINDINGS_BY_FIRST] = compareFirst};
  pnScanFindings *findings = &scan->findings;
  if (findings->count > 0) qsort(findings->items, findings->count, sizeof(pnScanFinding), orders[scan->options->order]);
}

/* ---------------------------------------------------------------- which count */

bool pn_listFails(const pnScan *scan, const pnScanFinding *finding) {
  if (finding->standing == PN_STANDING_KNOWN) return false;
  switch (scan->options->failOn) {
    case PN_FAIL_ON_ANY: return true;
    case PN_FAIL_ON_NEW: return finding->core.kind != PN_FINDING_CONSTANT;
    default: return false;
  }
}

uint32_t pn_listCountFailing(const pnScan *scan) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < scan->findings.count; ++i) count += pn_listFails(scan, &scan->findings.items[i]);
  return count;
}

/* ---------------------------------------------------------------- words */

void pn_describeBodies(const pnScan *scan, const pnScanFinding *finding, char *text, size_t size) {
  const char *a = scan->bodies[finding->core.a].name, *b = scan->bodies[finding->core.b].name;
  if (finding->core.a == finding->core.b) snprintf(text, size, "%s and itself", a);
  else snprintf(text, size, "%s and %s", a, b);
}

void pn_describeFrames(const pnScan *scan, const pnScanFinding *finding, char *text, size_t size) {
  double first = pn_frameNumber(scan, finding->core.firstFrame), last = pn_frameNumber(scan, finding->core.lastFrame);
  if (first == last) snprintf(text, size, "%.10g", first);
  else snprintf(text, size, "%.10g-%.10g", first, last);
}

json_t *pn_frameJson(double number) {
  json_int_t whole = (json_int_t)number;
  return (double)whole == number ? json_integer(whole) : json_real(number);
}

static size_t addNames(const char *const *names, uint32_t count, uint32_t most, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (uint32_t i = 0; i < count && i < most && used < size; ++i)
    used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", names[i]);
  return used < size ? used : size - 1;
}

void pn_describeJoints(const pnScan *scan, const pnScanFinding *finding, uint32_t most, char *text, size_t size) {
  text[0] = 0;
  if (finding->jointCountA == 0 && finding->jointCountB == 0) return;
  // A side without joints is its body.
  const char *names[] = {scan->bodies[finding->core.a].name, scan->bodies[finding->core.b].name};
  size_t used = finding->jointCountA > 0 ? addNames(finding->jointsA, finding->jointCountA, most, text, size)
                                         : addNames(&names[0], 1, 1, text, size);
  char other[400];
  if (finding->jointCountB > 0) addNames(finding->jointsB, finding->jointCountB, most, other, sizeof(other));
  else addNames(&names[1], 1, 1, other, sizeof(other));
  snprintf(text + used, size - used, " | %s", other);
}

void pn_describeFinding(const pnScan *scan, const pnScanFinding *finding, char *text, size_t size) {
  const pnFinding *core = &finding->core;
  char bodies[300], joints[300];
  pn_describeBodies(scan, finding, bodies, sizeof(bodies));
  pn_describeJoints(scan, finding, 3, joints, sizeof(joints));
  const char *animation = scan->runs[finding->run].name;
  char frames[80];
  pn_describeFrames(scan, finding, frames, sizeof(frames));
  int used = snprintf(text, size, "%s: %s, depth %.3g (%s), frame", bodies, pn_kindWord(core->kind), core->depth.value,
                      pn_depthWord(core->depth.kind));
  if (used < 0 || (size_t)used >= size) return;
  const char *unseen = finding->unseen ? ", between frames and seen in none" : "";
  if (core->firstFrame == core->lastFrame)
    snprintf(text + used, size - (size_t)used, " %s%s%s%s%s%s", frames, animation[0] ? " of " : "", animation, unseen,
             joints[0] ? "; " : "", joints);
  else
    snprintf(text + used, size - (size_t)used, "s %s%s%s%s, deepest in %.10g%s%s", frames, animation[0] ? " of " : "",
             animation, unseen, pn_frameNumber(scan, core->deepestFrame), joints[0] ? "; " : "", joints);
}
