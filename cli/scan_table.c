/* scan_table.c: the answer as a person reads it: the bodies, who met whom and where, when, and what to do next. */
#include "out.h"
#include "pool.h"
#include "scan.h"

#include <stdlib.h>
#include <string.h>

/* Longer lists are for programs. */
#define PN_MAX_ROWS 20

/* ---------------------------------------------------------------- what was scanned */

/* Which bodies, which animation, at which frames. */
static void printRange(const pnScan *scan) {
  const pnScanRange *range = &scan->range;
  uint64_t triangles = 0;
  for (uint32_t b = 0; b < scan->bodyCount; ++b) triangles += pnMesh_GetTriangleCount(scan->bodies[b].mesh);
  const char *name = pn_baseName(scan->sources[0].word);
  char more[40] = "", from[40] = "", steps[40] = "";
  if (scan->sourceCount > 1) snprintf(more, sizeof(more), " and %u more", scan->sourceCount - 1);
  pn_printWrapped("%s%s: %u bod%s, %llu triangle%s.", name, more, scan->bodyCount, scan->bodyCount == 1 ? "y" : "ies",
                  (unsigned long long)triangles, pn_plural(triangles));
  if (scan->runCount > 1) {
    pn_printWrapped("%u animations, %u frame%s.", scan->runCount, scan->frameTotal, pn_plural(scan->frameTotal));
    if (scan->skippedRuns > 0)
      pn_printWrapped("%u more ha%s no frame in --frames.", scan->skippedRuns, scan->skippedRuns == 1 ? "s" : "ve");
    return;
  }
  for (uint32_t s = 0; s < scan->sourceCount; ++s) {
    const pnScanSource *source = &scan->sources[s];
    if (!source->file) continue;
    if (source->clip == PN_NONE) pn_printWrapped("%s has no animation: its rest pose.", pn_baseName(source->word));
    else if (source->file->clipCount > 1)
      pn_printWrapped("Animation '%s', one of %u (--animation chooses, or all).",
                      source->file->clips[source->clip].name, source->file->clipCount);
  }
  if (range->count > 1) snprintf(from, sizeof(from), "s %lld to", (long long)range->first);
  if (range->step > 1 && range->count > 1) snprintf(steps, sizeof(steps), " in steps of %lld", (long long)range->step);
  pn_printWrapped("Frame%s %lld%s, %g a second%s.", from, (long long)range->last, steps, range->fps,
                  scan->options->fps > 0 ? "" : " (--fps changes that)");
}

/* ---------------------------------------------------------------- who met whom */

static int compareWorst(const void *left, const void *right) {
  const pnScanTally *x = *(const pnScanTally *const *)left, *y = *(const pnScanTally *const *)right;
  if (x->worstPairs != y->worstPairs) return x->worstPairs > y->worstPairs ? -1 : 1;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  return x->b < y->b ? -1 : x->b > y->b;
}

/* "12-18, 25, 40-55 and 9 more" */
static void describeWhen(const pnScanTally *tally, char *text, size_t size) {
  size_t used = 0;
  uint32_t shown = tally->intervalCount < PN_SCAN_INTERVALS ? tally->intervalCount : PN_SCAN_INTERVALS;
  for (uint32_t i = 0; i < shown && used < size; ++i) {
    used += (size_t)snprintf(text + used, size - used, "%s%lld", i > 0 ? ", " : "", (long long)tally->begins[i]);
    if (tally->ends[i] != tally->begins[i] && used < size)
      used += (size_t)snprintf(text + used, size - used, "-%lld", (long long)tally->ends[i]);
  }
  if (tally->intervalCount > shown && used < size)
    snprintf(text + used, size - used, " and %u more", tally->intervalCount - shown);
}

/* A name, cut in its middle where it is longer than `most`, so that the table fits a screen. */
static const char *cutName(const char *name, size_t most, char *room) {
  size_t length = strlen(name);
  if (length <= most) return name;
  size_t head = most / 2, tail = length - (most - 2 - head);
  // Never inside a letter of UTF-8.
  while (head > 0 && ((unsigned char)name[head] & 0xc0) == 0x80) --head;
  while (name[tail] && ((unsigned char)name[tail] & 0xc0) == 0x80) ++tail;
  snprintf(room, most + 1, "%.*s..%s", (int)head, name, name + tail);
  return room;
}

#define PN_NAME_ROOM 17

static bool printContacts(const pnScan *scan, const pnScanTally *const *order, uint32_t count) {
  pnTable table = {0};
  // Over several animations there are too many intervals to read.
  bool several = scan->runCount > 1;
  const char *const titles[] = {">a", ">b", "between", ">pairs", ">frames", several ? "most in" : "in frames"};
  for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); ++i) pn_addColumn(&table, titles[i]);
  for (uint32_t i = 0; i < count; ++i) {
    const pnScanTally *tally = order[i];
    char roomA[PN_NAME_ROOM + 1], roomB[PN_NAME_ROOM + 1], when[400];
    const char *nameA = cutName(scan->bodies[tally->a].name, PN_NAME_ROOM, roomA);
    const char *nameB = cutName(scan->bodies[tally->b].name, PN_NAME_ROOM, roomB);
    pn_addCell(&table, "%u", tally->a);
    pn_addCell(&table, "%u", tally->b);
    if (tally->a == tally->b) pn_addCell(&table, "%s and itself", nameA);
    else pn_addCell(&table, "%s and %s", nameA, nameB);
    pn_addCell(&table, "%zu", tally->worstPairs);
    pn_addCell(&table, "%u", tally->frameCount);
    if (several)
      snprintf(when, sizeof(when), "%s %lld", scan->runs[tally->worstRun].name, (long long)tally->worstFrame);
    else describeWhen(tally, when, sizeof(when));
    pn_addCell(&table, "%s", when);
  }
  bool good = pn_printTable(&table);
  pn_freeTable(&table);
  return good;
}

/* The worst first, and not more than a person reads. */
static bool printTallies(const pnScan *scan) {
  const pnScanTallies *tallies = &scan->tallies;
  const pnScanTally **order = malloc(tallies->count * sizeof(*order) + 1);
  if (!order) {
    fprintf(stderr, "pinch scan: out of memory\n");
    return false;
  }
  for (uint32_t i = 0; i < tallies->count; ++i) order[i] = &tallies->data[i];
  qsort(order, tallies->count, sizeof(*order), compareWorst);
  uint32_t count = tallies->count < PN_MAX_ROWS ? tallies->count : PN_MAX_ROWS;
  bool good = printContacts(scan, order, count);
  if (tallies->count > count)
    printf("%u more pair%s of bodies: --csv and --json have all.\n", tallies->count - count,
           pn_plural(tallies->count - count));
  free(order);
  return good;
}

/* ---------------------------------------------------------------- the end */

/* Do --only and --ignore leave nothing to be asked? */
static bool asksNothing(const pnScan *scan) {
  if (scan->choice.ruleCount == 0 || pn_choiceCountPairs(&scan->choice) > 0) return false;
  for (uint32_t b = 0; b < scan->bodyCount; ++b)
    if (scan->bodies[b].self) return false;
  return true;
}

/* What makes "nothing" less than it sounds. */
static void printVoid(const pnScan *scan) {
  uint32_t empty = 0;
  for (uint32_t b = 0; b < scan->bodyCount; ++b) {
    bool none = pnMesh_GetTriangleCount(scan->bodies[b].mesh) == 0;
    if (none && empty++ == 0) pn_printWrapped("Note: %s has no triangles.", scan->bodies[b].name);
  }
  if (empty > 1) pn_printWrapped("Note: %u more bod%s none.", empty - 1, empty == 2 ? "y has" : "ies have");
  if (asksNothing(scan)) pn_printWrapped("Note: --only and --ignore leave no two bodies to ask about.");
}

static void printSum(const pnScan *scan) {
  const pnScanTallies *t = &scan->tallies;
  const pnScanOptions *options = scan->options;
  char worst[200];
  snprintf(worst, sizeof(worst), "%lld%s%s", (long long)t->worstFrame, scan->runCount > 1 ? " of " : "",
           scan->runCount > 1 ? scan->runs[t->worstRun].name : "");
  if (scan->interrupted)
    pn_printWrapped("Interrupted after %u of %u frame%s: this is incomplete.", t->frameCount, scan->frameTotal,
                    pn_plural(scan->frameTotal));
  if (scan->limitedCount > 0)
    pn_printWrapped(
        "Note: in %u frame%s more than %u pairs meet, more than %u pairs of bodies meet or are one in the other, or "
        "more than %u are close; the others were not looked for (--max-pairs 0: all).",
        scan->limitedCount, pn_plural(scan->limitedCount), options->maxPairs, PN_MOST_CONTACTS,
        pn_mostClose(options->maxPairs));
  if (scan->between.limitedSteps > 0)
    pn_printWrapped("Note: between %u pair%s of frames there is too much to look through (--max-pairs).",
                    scan->between.limitedSteps, pn_plural(scan->between.limitedSteps));
  printVoid(scan);
  if (t->collidingFrames == 0)
    pn_printWrapped("No two triangles%s meet in %s%u frame%s.",
                    scan->limitedCount > 0 ? " of those that were looked at" : "", t->frameCount > 1 ? "any of " : "",
                    t->frameCount, pn_plural(t->frameCount));
  else if (t->frameCount == 1)
    pn_printWrapped("In this one frame %s%llu pair%s of triangles meet%s.", options->first ? "at least " : "",
                    (unsigned long long)t->pairCount, pn_plural(t->pairCount), t->pairCount == 1 ? "s" : "");
  else
    pn_printWrapped("In %u of %u frames triangles meet, most in frame %s; %s%llu pair%s over all frames.",
                    t->collidingFrames, t->frameCount, worst, options->first ? "at least " : "",
                    (unsigned long long)t->pairCount, pn_plural(t->pairCount));
  double rate = t->frameCount / (scan->scanSeconds > 1e-6 ? scan->scanSeconds : 1e-6);
  pn_printWrapped("Read in %.2f s, scanned in %.2f s, %.*f frames a second.", scan->loadSeconds, scan->scanSeconds,
                  rate < 10 ? 1 : 0, rate);
  if (options->ignoreRest) pn_printWrapped("What already meets in the rest pose is left out (--ignore-rest).");
  else if (options->first && options->failOn == PN_FAIL_ON_NEW && t->collidingFrames > 0)
    pn_printWrapped("In %u of these frames there are pairs that do not meet in the rest pose.", t->newFrames);
}

static void printFiles(const pnScan *scan) {
  static const char *const what[PN_OUT_COUNT] = {[PN_OUT_CSV] = "The counts of each frame are in",
                                                 [PN_OUT_PAIRS] = "The pairs of triangles are in",
                                                 [PN_OUT_JUNIT] = "JUnit's XML is in",
                                                 [PN_OUT_SARIF] = "SARIF is in",
                                                 [PN_OUT_BASELINE] = "What is known from now on is in"};
  const pnScanOptions *options = scan->options;
  for (int i = 0; i < PN_OUT_COUNT; ++i) {
    const char *path = pn_scanOutPath(options, (pnScanOut)i);
    if (path) pn_printWrapped("%s %s.", what[i], path);
  }
  if (options->html) {
    const pnReportStats *stats = &scan->files.reportStats;
    pn_printWrapped("The report is in %s (%.1f MB): open it in a browser.", options->html,
                    (double)stats->byteCount / 1e6);
    if (stats->positionFrames < stats->frameCount)
      pn_printWrapped("It shows %u of %u frames, so as not to grow beyond its limit; all counts are in it.",
                      stats->positionFrames, stats->frameCount);
  }
  bool asksSelf = false;
  for (uint32_t b = 0; b < scan->bodyCount; ++b) asksSelf |= scan->bodies[b].self;
  if (scan->tallies.collidingFrames > 0 && !options->html) pn_printWrapped("Next: --html report.html shows where.");
  else if (!asksSelf && scan->choice.ruleCount == 0) pn_printWrapped("Next: --self also asks each body about itself.");
}

bool pn_scanPrintTables(const pnScan *scan) {
  printRange(scan);
  putchar('\n');
  bool good = pn_printFindings(scan);
  if (scan->tallies.count > 0) {
    if (scan->findings.bodies) printf("\nPairs of triangles that meet, by bodies:\n\n");
    good = printTallies(scan) && good;
    putchar('\n');
  }
  printSum(scan);
  printFiles(scan);
  return good;
}
