/* report.c: the life of a report: begin, frame, note, end.
 *
 * Everything constant is copied at the start; each frame is checked, packed and forgotten; the file is written under a
 * temporary name and takes its real one only when it is whole, so that a scan that is stopped leaves the last report
 * alone.
 */
#include "report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Raw frames of the open group may take this much; larger bodies get shorter groups. */
#define RAW_BYTES 134217728u

bool pn_reportAvailable(void) {
  return pn_reportTemplateSize > 0;
}

pnReportInfo pn_defaultReportInfo(void) {
  return (pnReportInfo){.title = "scan", .upAxis = 1, .byteLimit = PN_REPORT_BYTE_LIMIT};
}

/* ---------------------------------------------------------------- begin */

/* A copy, and its length as JSON at most (an escape is six characters a byte) added to the text bytes. Null stays
 * null. */
static char *copyText(pnReport *report, const char *text, bool *failed) {
  if (text == NULL) return NULL;
  size_t size = strlen(text) + 1;
  char *copy = malloc(size);
  if (copy == NULL) {
    *failed = true;
    return NULL;
  }
  memcpy(copy, text, size);
  report->textBytes += 6 * size + 3;
  return copy;
}

static char **copyNames(pnReport *report, const char *const *names, uint32_t count, bool *failed) {
  char **copies = calloc((size_t)count + 1, sizeof *copies);
  if (copies == NULL) {
    *failed = true;
    return NULL;
  }
  for (uint32_t i = 0; i < count; ++i) copies[i] = copyText(report, names[i] != NULL ? names[i] : "", failed);
  return copies;
}

static void *copyArray(const void *data, size_t size, bool *failed) {
  void *copy = malloc(size + 1);
  if (copy == NULL) {
    *failed = true;
    return NULL;
  }
  if (size > 0) memcpy(copy, data, size);
  return copy;
}

static pnResult copyBody(pnReport *report, const pnReportBody *from, pnBodyData *body) {
  bool failed = false;
  body->name = copyText(report, from->name != NULL ? from->name : "", &failed);
  body->vertexCount = from->vertexCount;
  body->triangleCount = from->triangleCount;
  body->groupNames = copyNames(report, from->groupNames, from->groupCount, &failed);
  body->groupCount = failed ? 0 : from->groupCount;
  body->triangles = copyArray(from->triangles, 3 * (size_t)from->triangleCount * sizeof(uint32_t), &failed);
  if (from->vertexGroups != NULL)
    body->vertexGroups = copyArray(from->vertexGroups, from->vertexCount * sizeof(uint16_t), &failed);
  report->textBytes += 320; // the numbers of a body: five integers and four doubles of at most 24 characters, and keys
  return failed ? pn_reportFailMemory() : PN_OK;
}

static pnResult checkBody(const pnReportBody *body, uint32_t number) {
  const char *name = body->name != NULL ? body->name : "";
  // more triangles than this would not fit 32-bit half edges
  if (body->triangleCount > UINT32_MAX / 3) {
    return pn_reportFail(PN_ERROR_COUNT, "report: body %u '%s' has %u triangles, at most %u are possible", number, name,
                         body->triangleCount, UINT32_MAX / 3);
  }
  for (size_t i = 0; i < 3 * (size_t)body->triangleCount; ++i) {
    if (body->triangles[i] >= body->vertexCount) {
      return pn_reportFail(PN_ERROR_INDEX, "report: body %u '%s': triangle %zu names vertex %u of %u", number, name,
                           i / 3, body->triangles[i], body->vertexCount);
    }
  }
  for (uint32_t v = 0; body->vertexGroups != NULL && v < body->vertexCount; ++v) {
    if (body->vertexGroups[v] != PN_REPORT_NO_GROUP && body->vertexGroups[v] >= body->groupCount) {
      return pn_reportFail(PN_ERROR_INDEX, "report: body %u '%s': vertex %u names group %u of %u", number, name, v,
                           body->vertexGroups[v], body->groupCount);
    }
  }
  return PN_OK;
}

static pnResult chooseTemplate(pnReport *report, const char *given) {
  if (given == NULL && !pn_reportAvailable()) {
    return pn_reportFail(PN_ERROR_UNSUPPORTED,
                         "this build has no HTML report: its page is made with npm, which did not work when pinch was "
                         "built; install nodejs and npm and build again, or use --json or --csv");
  }
  report->pageTemplate = given != NULL ? given : (const char *)pn_reportTemplate;
  report->pageTemplateSize = given != NULL ? strlen(given) : pn_reportTemplateSize;
  if (strstr(report->pageTemplate, PN_REPORT_MARK) == NULL)
    return pn_reportFail(PN_ERROR_ARGUMENT, "report: the page template has no line %s", PN_REPORT_MARK);
  return PN_OK;
}

static pnResult copyInfo(pnReport *report, const pnReportInfo *info) {
  bool failed = false;
  report->title = copyText(report, info->title != NULL ? info->title : "scan", &failed);
  report->command = copyText(report, info->command, &failed);
  report->order = copyText(report, info->order, &failed);
  report->files = copyNames(report, info->files, info->fileCount, &failed);
  report->fileCount = report->files != NULL ? info->fileCount : 0;
  report->fps = info->fps > 0 && isfinite(info->fps) ? info->fps : 0;
  report->upAxis = info->upAxis < 3 ? info->upAxis : 1;
  report->byteLimit = info->byteLimit;
  report->positionCut = report->pairCut = 2 * PN_REPORT_KEY_RANK;
  report->topKeep = PN_REPORT_TOP;
  report->groupSize = PN_REPORT_GROUP;
  report->bodies = calloc((size_t)info->bodyCount + 1, sizeof *report->bodies);
  if (failed || report->bodies == NULL) return pn_reportFailMemory();
  report->bodyCount = info->bodyCount;
  for (uint32_t b = 0; b < info->bodyCount; ++b) {
    pnResult result = copyBody(report, &info->bodies[b], &report->bodies[b]);
    if (result != PN_OK) return result;
  }
  return PN_OK;
}

static pnResult openReport(pnReport *report, const char *path, const pnReportInfo *info) {
  // what can be wrong with the question
  pnResult result = chooseTemplate(report, info->pageTemplate);
  for (uint32_t b = 0; result == PN_OK && b < info->bodyCount; ++b) result = checkBody(&info->bodies[b], b);
  if (result == PN_OK) result = copyInfo(report, info);
  if (result != PN_OK) return result;

  // an empty page must fit, with a page of memory to spare for a first frame's counts
  if (pn_reportSize(report) + 4096 > report->byteLimit) {
    return pn_reportFail(PN_ERROR_ARGUMENT,
                         "report: the limit of %llu bytes is below the %llu of an empty page; ask for more",
                         (unsigned long long)report->byteLimit, (unsigned long long)pn_reportSize(report) + 4096);
  }
  result = pnOpenOutFile(path, &report->file);
  return result == PN_OK ? PN_OK : pn_reportFail(result, "report %s", pnGetMessage());
}

pnResult pn_reportBegin(const char *path, const pnReportInfo *info, pnReport **outReport) {
  *outReport = NULL;
  pnReport *report = calloc(1, sizeof *report);
  if (report == NULL) return pn_reportFailMemory();
  pnResult result = openReport(report, path, info);
  if (result == PN_OK) *outReport = report;
  else pn_reportCancel(report);
  return result;
}

/* ---------------------------------------------------------------- the first frame */

/* The grid of a body: the middle of its box, and steps of 1/65535 of the longest side. A body that is a point takes
 * the size of the scene, an empty scene any size. */
static void chooseGrids(pnReport *report, const float *const *positions) {
  double sceneSize = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (uint32_t b = 0; b < report->bodyCount; ++b) {
      pnBodyData *body = &report->bodies[b];
      double size = 0;
      for (int k = 0; k < 3; ++k) {
        double low = INFINITY, high = -INFINITY;
        for (uint32_t i = 0; i < body->siteCount; ++i) {
          double x = positions[b][3 * (size_t)body->siteVertex[i] + k];
          low = fmin(low, x);
          high = fmax(high, x);
        }
        body->origin[k] = body->siteCount > 0 ? (low + high) / 2 : 0;
        size = fmax(size, body->siteCount > 0 ? high - low : 0);
      }
      sceneSize = fmax(sceneSize, size);
      body->step = (size > 0 ? size : sceneSize > 0 ? sceneSize : 1) / 65535;
    }
  }
}

/* Raw frames and scratch. The groups get shorter until they fit. */
static pnResult allocateRaw(pnReport *report) {
  size_t frameBytes = 3 * (size_t)report->siteCount * sizeof(int32_t);
  while (report->groupSize > 1 && (report->groupSize + 1) * frameBytes > RAW_BYTES) report->groupSize /= 2;
  bool failed = false;
  for (uint32_t i = 0; i <= report->groupSize; ++i) {
    report->groupRaw[i] = malloc(frameBytes + 1);
    failed = failed || report->groupRaw[i] == NULL;
  }
  report->difference = malloc(frameBytes + 3 * sizeof(int32_t));
  report->folded = malloc(frameBytes + 1);
  report->planes = malloc(frameBytes + 1);
  failed = failed || report->difference == NULL || report->folded == NULL || report->planes == NULL;
  return failed ? pn_reportFailMemory() : PN_OK;
}

/* Vertex orders, grids and the packed topology, as soon as the first positions are known. */
static pnResult prepareBodies(pnReport *report, const float *const *positions) {
  pnBytes bytes = {0};
  pnResult result = PN_OK;
  uint64_t siteCount = 0;
  for (uint32_t b = 0; result == PN_OK && b < report->bodyCount; ++b) {
    pnBodyData *body = &report->bodies[b];
    result = pn_orderBody(body, positions[b]);
    if (result == PN_OK) result = pn_packTopology(body, &bytes);
    free(body->triangles);
    body->triangles = NULL;
    siteCount += body->siteCount;
  }
  if (result == PN_OK && siteCount > UINT32_MAX / 12) {
    result = pn_reportFail(PN_ERROR_COUNT, "report: %llu vertices in all bodies, at most %u are possible",
                           (unsigned long long)siteCount, UINT32_MAX / 12);
  }
  if (result == PN_OK) {
    report->siteCount = (uint32_t)siteCount;
    chooseGrids(report, positions);
    result = pn_deflate(bytes.data, bytes.size, &report->topology.data, &report->topology.size);
  }
  if (result == PN_OK) result = allocateRaw(report);
  pn_bytesFree(&bytes);
  return result;
}

/* Topology or a single frame larger than the file may be: the page goes without a view. */
static void giveUpView(pnReport *report) {
  report->noView = true;
  for (uint32_t f = 0; f < report->frameCount; ++f) {
    free(report->frames[f].positions.data);
    report->frames[f].positions = (pnBlob){0};
  }
  report->positionBytes = 0;
  free(report->topology.data);
  report->topology = (pnBlob){0};
}

/* ---------------------------------------------------------------- clips */

pnResult pn_reportClip(pnReport *report, const char *name, double fps) {
  if (report->broken != PN_OK) return report->broken;

  // no frame is predicted from, or interpolated with, one of another clip
  if (report->groupFill > 0) {
    report->broken = pn_flushGroup(report, true);
    report->groupStart = report->frameCount;
    report->groupFill = 0;
    report->groupOpen = false;
  }
  pnClipData *grown = realloc(report->clips, (report->clipCount + (size_t)1) * sizeof *grown);
  if (grown == NULL) return pn_reportFailMemory();
  report->clips = grown;
  bool failed = false;
  char *copy = copyText(report, name, &failed);
  report->textBytes += 100; // numbers and keys of a clip
  if (failed) return pn_reportFailMemory();
  report->clips[report->clipCount++] = (pnClipData){copy, isfinite(fps) && fps > 0 ? fps : 0, report->frameCount};
  return report->broken;
}

/* ---------------------------------------------------------------- frames */

static int comparePairs(const void *x, const void *y) {
  const uint32_t *p = x, *q = y; // a, triangleA, b, triangleB
  static const int order[4] = {0, 2, 1, 3};
  for (int i = 0; i < 4; ++i)
    if (p[order[i]] != q[order[i]]) return p[order[i]] < q[order[i]] ? -1 : 1;
  return 0;
}

/* "[4294967295,999]," in the list of moments. */
#define MOMENT_BYTES 17

/* Where a frame, or a moment, is on the timeline. */
typedef struct When {
  int64_t number;
  uint32_t part;
  double time;
} When;

static pnResult checkFrame(const pnReport *report, When when, const float *const *positions) {
  int64_t number = when.number;
  double time = when.time;
  if (!isfinite(time))
    return pn_reportFail(PN_ERROR_NUMBER, "report: frame %lld has no finite time", (long long)number);
  bool begins = report->clipCount > 0 && report->clips[report->clipCount - 1].firstFrame == report->frameCount;
  if (report->frameCount > 0 && !begins) {
    const pnFrameData *before = &report->frames[report->frameCount - 1];
    bool grows = number > before->number || (number == before->number && when.part > before->part);
    if (!grows || time < before->time) {
      return pn_reportFail(PN_ERROR_ARGUMENT, "report: frame %lld comes after frame %lld; numbers and times must grow",
                           (long long)number, (long long)before->number);
    }
  }
  for (uint32_t b = 0; b < report->bodyCount; ++b) {
    for (size_t i = 0; i < 3 * (size_t)report->bodies[b].vertexCount; ++i) {
      if (!isfinite(positions[b][i])) {
        return pn_reportFail(PN_ERROR_NUMBER, "report: frame %lld: body %u '%s': vertex %zu is not finite",
                             (long long)number, b, report->bodies[b].name, i / 3);
      }
    }
  }
  return PN_OK;
}

static pnResult checkPairs(const pnReport *report, int64_t number, const pnReportPair *pairs, size_t pairCount) {
  for (size_t i = 0; i < pairCount; ++i) {
    const pnReportPair *p = &pairs[i];
    if (p->a >= report->bodyCount || p->b >= report->bodyCount || p->triangleA >= report->bodies[p->a].triangleCount ||
        p->triangleB >= report->bodies[p->b].triangleCount) {
      return pn_reportFail(PN_ERROR_INDEX,
                           "report: frame %lld: pair %zu names triangle %u of body %u and %u of body %u, "
                           "one of which is not there",
                           (long long)number, i, p->triangleA, p->a, p->triangleB, p->b);
    }
  }
  return PN_OK;
}

static pnResult growFrames(pnReport *report) {
  if (report->frameCount == report->frameCapacity) {
    uint32_t capacity = report->frameCapacity * 2 + 64;
    pnFrameData *grown = realloc(report->frames, capacity * sizeof *grown);
    if (grown == NULL) return pn_reportFailMemory();
    report->frames = grown;
    report->frameCapacity = capacity;
  }
  return PN_OK;
}

/* Adds a frame whose pairs are sorted. */
static pnResult addFrame(pnReport *report, When when, const float *const *positions, const pnReportPair *pairs,
                         size_t pairCount) {
  pnResult result = growFrames(report);
  if (result == PN_OK && report->frameCount == 0) result = prepareBodies(report, positions);
  if (result != PN_OK) return result;

  // counts and pairs at once, positions when their group is full
  uint32_t f = report->frameCount++;
  pnFrameData *frame = &report->frames[f];
  *frame = (pnFrameData){.number = when.number, .part = when.part, .time = when.time, .pairCount = pairCount};
  report->textBytes += when.part > 0 ? MOMENT_BYTES : 0;
  frame->low = frame->high = PN_REPORT_NO_FRAME;
  result = pn_noteCounts(report, f, pairs, pairCount);
  frame->countsEnd = report->counts.size;
  if (result == PN_OK) {
    result = pn_packPairs(pairs, pairCount, &frame->pairs);
    report->pairBytes += frame->pairs.size;
  }
  if (result == PN_OK) {
    if (!report->noView) pn_roundPositions(report, positions, report->groupRaw[report->groupFill]);
    report->groupFill += 1;
    result = pn_flushGroup(report, false);
  }
  if (result == PN_OK && f == 0 && pn_reportSize(report) > report->byteLimit) giveUpView(report);
  return result;
}

static pnResult takeFrame(pnReport *report, When when, const float *const *positions, const pnReportPair *pairs,
                          size_t pairCount) {
  if (report->broken != PN_OK) return report->broken;

  // bad data changes nothing
  pnResult result = checkFrame(report, when, positions);
  if (result == PN_OK) result = checkPairs(report, when.number, pairs, pairCount);
  if (result != PN_OK) return result;

  // sort a copy unless the list is sorted, as the library's lists are
  pnReportPair *copy = NULL;
  bool sorted = true;
  for (size_t i = 1; sorted && i < pairCount; ++i) sorted = comparePairs(&pairs[i - 1], &pairs[i]) <= 0;
  if (!sorted) {
    copy = malloc(pairCount * sizeof *copy);
    if (copy == NULL) return pn_reportFailMemory();
    memcpy(copy, pairs, pairCount * sizeof *copy);
    qsort(copy, pairCount, sizeof *copy, comparePairs);
  }
  report->broken = addFrame(report, when, positions, sorted ? pairs : copy, pairCount);
  free(copy);
  return report->broken;
}

pnResult pn_reportFrame(pnReport *report, int64_t number, double time, const float *const *positions,
                        const pnReportPair *pairs, size_t pairCount) {
  return takeFrame(report, (When){number, 0, time}, positions, pairs, pairCount);
}

pnResult pn_reportMoment(pnReport *report, int64_t number, uint32_t part, double time, const float *const *positions,
                         const pnReportPair *pairs, size_t pairCount) {
  if (part < 1 || part > 999) {
    return pn_reportFail(PN_ERROR_ARGUMENT, "report: a moment %u thousandths after frame %lld", part,
                         (long long)number);
  }
  return takeFrame(report, (When){number, part, time}, positions, pairs, pairCount);
}

pnResult pn_reportNote(pnReport *report, const char *text) {
  char **grown = realloc(report->notes, (report->noteCount + (size_t)1) * sizeof *grown);
  if (grown == NULL) return pn_reportFailMemory();
  report->notes = grown;
  bool failed = false;
  char *copy = copyText(report, text, &failed);
  if (failed) return pn_reportFailMemory();
  report->notes[report->noteCount++] = copy;
  return PN_OK;
}

void pn_reportLimited(pnReport *report, uint32_t frames, uint32_t steps) {
  report->limitedFrames = frames;
  report->limitedSteps = steps;
}

/* ---------------------------------------------------------------- end */

static void freeNames(char **names, uint32_t count) {
  for (uint32_t i = 0; names != NULL && i < count; ++i) free(names[i]);
  free(names);
}

static void freeBody(pnBodyData *body) {
  free(body->name);
  freeNames(body->groupNames, body->groupCount);
  free(body->triangles);
  free(body->vertexGroups);
  free(body->siteVertex);
  free(body->predictors);
}

void pn_reportCancel(pnReport *report) {
  if (report == NULL) return;
  if (report->file != NULL) pnCloseOutFile(report->file, false);
  for (uint32_t b = 0; b < report->bodyCount; ++b) freeBody(&report->bodies[b]);
  free(report->bodies);
  for (uint32_t f = 0; f < report->frameCount; ++f) {
    free(report->frames[f].positions.data);
    free(report->frames[f].pairs.data);
  }
  free(report->frames);
  for (uint32_t i = 0; i <= PN_REPORT_GROUP; ++i) free(report->groupRaw[i]);
  pn_bytesFree(&report->counts);
  pn_bytesFree(&report->findings);
  pn_bytesFree(&report->joins);
  free(report->topology.data);
  free(report->difference);
  free(report->folded);
  free(report->planes);
  freeNames(report->files, report->fileCount);
  freeNames(report->notes, report->noteCount);
  for (uint32_t c = 0; c < report->clipCount; ++c) free(report->clips[c].name);
  free(report->clips);
  free(report->title);
  free(report->command);
  free(report->order);
  free(report);
}

static void collectStats(const pnReport *report, pnReportStats *outStats) {
  *outStats = (pnReportStats){.frameCount = report->frameCount, .byteCount = report->written};
  for (uint32_t f = 0; f < report->frameCount; ++f) {
    outStats->positionFrames += report->frames[f].positions.size > 0;
    outStats->pairFrames += report->frames[f].pairs.size > 0;
    outStats->contactFrames += report->frames[f].pairCount > 0;
  }
}

/* Closes the finished file, which takes its place. */
static pnResult publishFile(pnReport *report) {
  pnResult result = pnCloseOutFile(report->file, true);
  report->file = NULL;
  return result == PN_OK ? PN_OK : pn_reportFail(result, "report %s", pnGetMessage());
}

pnResult pn_reportEnd(pnReport *report, bool complete, pnReportStats *outStats) {
  pnResult result = report->broken;
  pnReportStats stats = {0};

  // the last, shorter group
  if (result == PN_OK && report->frameCount > 0) result = pn_flushGroup(report, true);
  if (result == PN_OK && (report->positionBytes == 0 || pn_reportSize(report) > report->byteLimit)) giveUpView(report);
  if (result == PN_OK) result = pn_writePage(report, complete);
  if (result == PN_OK) {
    collectStats(report, &stats);
    result = publishFile(report);
  }
  if (outStats != NULL) *outStats = stats;
  pn_reportCancel(report);
  return result;
}
