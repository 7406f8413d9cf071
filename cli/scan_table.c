/* scan_table.c: the answer as a person reads it: the bodies, who met whom and where, when, and what to do next. */
#include "out.h"
#include "scan.h"

#include <stdlib.h>
#include <string.h>

/* Longer lists are for programs. */
#define PN_MAX_ROWS 40
#define PN_MAX_JOINTS 3

/* ---------------------------------------------------------------- bodies */

/* "25 joints, 3 targets" */
static void describeMotion(const pnScan *scan, const pnScanBody *body, char *text, size_t size) {
  const pnScanSource *source = &scan->sources[body->source];
  uint32_t joints = body->skin ? pnSkin_GetJointCount(body->skin) : 0;
  uint32_t targets = body->morph ? pnMorph_GetTargetCount(body->morph) : 0;
  int used = 0;
  if (joints > 0) used += snprintf(text, size, "%u joint%s%s", joints, joints == 1 ? "" : "s", targets > 0 ? ", " : "");
  if (targets > 0) snprintf(text + used, size - (size_t)used, "%u target%s", targets, targets == 1 ? "" : "s");
  if (joints > 0 || targets > 0) return;
  if (source->cache) snprintf(text, size, "%u cached frames", pnCache_GetInfo(source->cache).frameCount);
  else snprintf(text, size, "%s", body->kind == PN_BODY_RIGID && source->clip != PN_NONE ? "a node" : "nothing");
}

static bool printBodies(const pnScan *scan) {
  pnTable table = {0};
  pn_addColumn(&table, ">body");
  pn_addColumn(&table, "name");
  pn_addColumn(&table, "file");
  pn_addColumn(&table, ">triangles");
  pn_addColumn(&table, "closed");
  pn_addColumn(&table, "moved by");
  for (uint32_t b = 0; b < scan->bodyCount && b < PN_MAX_ROWS; ++b) {
    const pnScanBody *body = &scan->bodies[b];
    char motion[80];
    describeMotion(scan, body, motion, sizeof(motion));
    pn_addCell(&table, "%u", b);
    pn_addCell(&table, "%s", body->name);
    pn_addCell(&table, "%s", scan->sources[body->source].word);
    pn_addCell(&table, "%u", pnMesh_GetTriangleCount(body->mesh));
    pn_addCell(&table, "%s", body->closed ? "yes" : "no");
    pn_addCell(&table, "%s", motion);
  }
  bool good = pn_printTable(&table);
  pn_freeTable(&table);
  if (scan->bodyCount > PN_MAX_ROWS) printf("  and %u more bodies\n", scan->bodyCount - PN_MAX_ROWS);
  return good;
}

/* Which animation, at which frames. */
static void printRange(const pnScan *scan) {
  const pnScanRange *range = &scan->range;
  putchar('\n');
  for (uint32_t s = 0; s < scan->sourceCount; ++s) {
    const pnScanSource *source = &scan->sources[s];
    if (!source->file) continue;
    if (source->clip == PN_NONE) printf("%s has no animation: its rest pose.\n", source->word);
    else if (source->file->clipCount == 1 || scan->runCount > 1) continue;
    else {
      printf("%s: animation '", source->word);
      pn_printPlain(stdout, source->file->clips[source->clip].name);
      printf("', one of %u (--animation chooses).\n", source->file->clipCount);
    }
  }
  if (scan->runCount > 1) {
    printf("%u animations, %u frames.\n", scan->runCount, scan->frameTotal);
    if (scan->skippedRuns > 0) printf("%u more have no frame in --frames.\n", scan->skippedRuns);
    return;
  }
  if (range->count > 1) printf("Frames %lld to %lld", (long long)range->first, (long long)range->last);
  else printf("Frame %lld", (long long)range->first);
  if (range->step > 1 && range->count > 1) printf(" in steps of %lld", (long long)range->step);
  printf(", %g a second%s.\n", range->fps, scan->options->fps > 0 ? "" : " (--fps changes that)");
}

/* ---------------------------------------------------------------- who met whom */

static int compareWorst(const void *left, const void *right) {
  const pnScanTally *x = *(const pnScanTally *const *)left, *y = *(const pnScanTally *const *)right;
  if (x->worstPairs != y->worstPairs) return x->worstPairs > y->worstPairs ? -1 : 1;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  return x->b < y->b ? -1 : x->b > y->b;
}

/* The most frequent groups, most first: "hand.L, forearm.L". Returns the length. */
static size_t listGroups(const pnScanBody *body, const uint64_t *counts, char *text, size_t size) {
  uint32_t best[PN_MAX_JOINTS], count = 0;
  for (uint32_t g = 0; counts && g < body->groupCount; ++g) {
    if (counts[g] == 0) continue;
    // Insertion into a list of three.
    uint32_t at = count < PN_MAX_JOINTS ? count++ : PN_MAX_JOINTS;
    while (at > 0 && counts[best[at - 1]] < counts[g]) {
      if (at < PN_MAX_JOINTS) best[at] = best[at - 1];
      --at;
    }
    if (at < PN_MAX_JOINTS) best[at] = g;
  }
  size_t used = 0;
  text[0] = 0;
  for (uint32_t i = 0; i < count && used < size; ++i)
    used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", body->groupNames[best[i]]);
  return used < size ? used : size - 1;
}

/* "hand.L, forearm.L | hips": a's side, then b's. */
static void describeWhere(const pnScan *scan, const pnScanTally *tally, char *text, size_t size) {
  size_t used = listGroups(&scan->bodies[tally->a], tally->groupsA, text, size);
  if (tally->a == tally->b) return;
  char other[200];
  if (listGroups(&scan->bodies[tally->b], tally->groupsB, other, sizeof(other)) > 0)
    snprintf(text + used, size - used, "%s%s", used > 0 ? " | " : "| ", other);
}

/* "264", or with several animations "walk 264". */
static void addFrameCell(pnTable *table, const pnScan *scan, uint32_t run, int64_t frame) {
  if (scan->runCount > 1) pn_addCell(table, "%s %lld", scan->runs[run].name, (long long)frame);
  else pn_addCell(table, "%lld", (long long)frame);
}

static bool printContacts(const pnScan *scan, const pnScanTally *const *order, uint32_t count) {
  pnTable table = {0};
  static const char *const titles[] = {">a",     ">b",     "between",      ">frames",
                                       ">first", ">worst", ">pairs there", "joints or targets"};
  for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); ++i) pn_addColumn(&table, titles[i]);
  for (uint32_t i = 0; i < count; ++i) {
    const pnScanTally *tally = order[i];
    const char *nameA = scan->bodies[tally->a].name, *nameB = scan->bodies[tally->b].name;
    char where[400];
    describeWhere(scan, tally, where, sizeof(where));
    pn_addCell(&table, "%u", tally->a);
    pn_addCell(&table, "%u", tally->b);
    if (tally->a == tally->b) pn_addCell(&table, "%s and itself", nameA);
    else pn_addCell(&table, "%s and %s", nameA, nameB);
    pn_addCell(&table, "%u", tally->frameCount);
    addFrameCell(&table, scan, tally->firstRun, tally->firstFrame);
    addFrameCell(&table, scan, tally->worstRun, tally->worstFrame);
    pn_addCell(&table, "%zu", tally->worstPairs);
    pn_addCell(&table, "%s", where);
  }
  bool good = pn_printTable(&table);
  pn_freeTable(&table);
  return good;
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

static bool printIntervals(const pnScanTally *const *order, uint32_t count) {
  pnTable table = {0};
  pn_addColumn(&table, ">a");
  pn_addColumn(&table, ">b");
  pn_addColumn(&table, "in frames");
  for (uint32_t i = 0; i < count; ++i) {
    char when[400];
    describeWhen(order[i], when, sizeof(when));
    pn_addCell(&table, "%u", order[i]->a);
    pn_addCell(&table, "%u", order[i]->b);
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
  if (tallies->count > count) printf("  and %u more; --csv has all\n", tallies->count - count);
  if (scan->runCount == 1) {
    putchar('\n');
    good = printIntervals(order, count) && good;
  }
  free(order);
  return good;
}

/* ---------------------------------------------------------------- the end */

static void printSum(const pnScan *scan) {
  const pnScanTallies *t = &scan->tallies;
  const pnScanOptions *options = scan->options;
  if (scan->interrupted)
    printf("Interrupted after %u of %u frames: this is incomplete.\n", t->frameCount, scan->frameTotal);
  if (scan->limitedCount > 0)
    printf("Note: in %u frame%s more than %u pairs meet; the others were not looked for (--max-pairs).\n",
           scan->limitedCount, scan->limitedCount == 1 ? "" : "s", options->maxPairs);
  if (t->collidingFrames == 0)
    printf("No two triangles meet in %s%u frame%s", t->frameCount > 1 ? "any of " : "", t->frameCount,
           t->frameCount == 1 ? "" : "s");
  else
    printf("In %u of %u frames triangles meet, the worst is frame %lld%s%s; %s%llu pairs over all frames",
           t->collidingFrames, t->frameCount, (long long)t->worstFrame, scan->runCount > 1 ? " of " : "",
           scan->runCount > 1 ? scan->runs[t->worstRun].name : "", options->first ? "at least " : "",
           (unsigned long long)t->pairCount);
  printf(" (read %.2f s, scanned %.2f s, %.0f frames a second).\n", scan->loadSeconds, scan->scanSeconds,
         t->frameCount / (scan->scanSeconds > 1e-6 ? scan->scanSeconds : 1e-6));
  if (options->ignoreRest) printf("Pairs that already meet in the rest pose are left out.\n");
  else if (options->failOn == PN_FAIL_ON_NEW && t->collidingFrames > 0)
    printf("In %u of these frames there are pairs that do not meet in the rest pose.\n", t->newFrames);
}

static void printFiles(const pnScan *scan) {
  const pnScanOptions *options = scan->options;
  if (options->csv) printf("The counts of each frame are in %s.\n", options->csv);
  if (options->pairs) printf("The pairs of triangles are in %s.\n", options->pairs);
  if (options->html) {
    const pnReportStats *stats = &scan->files.reportStats;
    printf("The report is in %s (%.1f MB): open it in a browser.\n", options->html, (double)stats->byteCount / 1e6);
    if (stats->positionFrames < stats->frameCount)
      printf("It shows %u of %u frames, so as not to grow beyond its limit; all counts are in it.\n",
             stats->positionFrames, stats->frameCount);
  }
  bool asksSelf = false;
  for (uint32_t b = 0; b < scan->bodyCount; ++b) asksSelf |= scan->bodies[b].self;
  if (scan->tallies.collidingFrames > 0 && !options->html) printf("Next: --html report.html shows where.\n");
  else if (!asksSelf && scan->choice.ruleCount == 0) printf("Next: --self also asks each body about itself.\n");
}

bool pn_scanPrintTables(const pnScan *scan) {
  bool good = printBodies(scan);
  printRange(scan);
  putchar('\n');
  if (scan->tallies.count > 0) {
    good = printTallies(scan) && good;
    putchar('\n');
  }
  printSum(scan);
  printFiles(scan);
  return good;
}
