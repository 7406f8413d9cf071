/* scan_findings.c: the findings as a person reads them: the deepest first, new and growing ones, few enough to be read. What is
 * built in, known or too many is one line that says how to see it. */
#include "out.h"
#include "scan.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define PN_MAX_JOINTS 3

/* ---------------------------------------------------------------- a row */

static const pnColor kindColors[PN_FINDING_KIND_COUNT] = {
    [PN_FINDING_NEW] = PN_COLOR_RED, [PN_FINDING_GROWING] = PN_COLOR_YELLOW, [PN_FINDING_CONSTANT] = PN_COLOR_DIM};

/* Adds a line to a text of several. */
static void addLine(char *text, size_t size, const char *format, ...) PN_FORMAT(3, 4);
static void addLine(char *text, size_t size, const char *format, ...) {
  size_t used = strlen(text);
  if (used > 0 && used + 2 < size) text[used++] = '\n', text[used] = 0;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + used, size - used, format, arguments);
  va_end(arguments);
}

/* Who, between which joints, and what else there is to say. */
static void describe(const pnScan *scan, const pnScanFinding *finding, char *text, size_t size) {
  char joints[300];
  text[0] = 0;
  pn_describeBodies(scan, finding, text, size);
  pn_describeJoints(scan, finding, PN_MAX_JOINTS, joints, sizeof(joints));
  // A body with one joint has been named already.
  bool named = scan->bodies[finding->core.a].groupCount > 1 || scan->bodies[finding->core.b].groupCount > 1;
  if (joints[0] && named) addLine(text, size, "%s", joints);
  if (scan->runCount > 1) addLine(text, size, "in %s", scan->runs[finding->run].name);
  if (finding->core.repeats != PN_NONE) addLine(text, size, "(repeats a deeper one)");
  if (finding->core.contained) addLine(text, size, "one is wholly inside the other");
  if (finding->core.depth.kind == PN_DEPTH_CURVE) addLine(text, size, "(depth: length of the cut)");
  if (finding->standing == PN_STANDING_DEEPER)
    addLine(text, size, "known, and deeper than %.3g", scan->findings.baseline.entries[finding->known].known.depth);
  if (finding->standing == PN_STANDING_LONGER)
    addLine(text, size, "known, and longer than %.3g s", scan->findings.baseline.entries[finding->known].known.time);
}

static void addRow(const pnScan *scan, pnTable *table, const pnScanFinding *finding, uint32_t rank) {
  const pnFinding *core = &finding->core;
  char text[900];
  pn_addCell(table, "%u", rank);
  pn_addCell(table, "%.3g", core->depth.value);
  pn_describeFrames(scan, finding, text, sizeof(text));
  pn_addCell(table, "%s", text);
  pn_addCell(table, "%.10g", pn_frameNumber(scan, core->deepestFrame));
  pn_addCell(table, "%s", pn_findingWord(finding));
  pn_paintCell(table, kindColors[core->kind]);
  pn_addCell(table, "%s", core->name);
  describe(scan, finding, text, sizeof(text));
  pn_addText(table, text);
}

/* ---------------------------------------------------------------- the list */

/* Constant ones wait until they are asked for; where nothing is animated there are no others. */
static bool showsConstant(const pnScan *scan) {
  bool moves = false;
  for (uint32_t s = 0; s < scan->sourceCount; ++s)
    moves |= scan->sources[s].clip != PN_NONE || scan->sources[s].cache || scan->sources[s].stream;
  return scan->options->constant || !moves;
}

/* Is it one that is led with? Known ones are quiet. */
static bool isListed(const pnScan *scan, const pnScanFinding *finding) {
  if (finding->standing == PN_STANDING_KNOWN) return false;
  return finding->core.kind != PN_FINDING_CONSTANT || showsConstant(scan);
}

static bool printTable(const pnScan *scan, uint32_t most) {
  pnTable table = {0};
  static const char *const titles[] = {">#", ">depth", "frames", ">deepest", "kind", "name", "between"};
  for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); ++i) pn_addColumn(&table, titles[i]);
  uint32_t shown = 0;
  for (uint32_t i = 0; i < scan->findings.count && shown < most; ++i) {
    const pnScanFinding *finding = &scan->findings.items[i];
    if (!isListed(scan, finding)) continue;
    addRow(scan, &table, finding, i + 1);
    ++shown;
  }
  bool good = pn_printTable(&table);
  pn_freeTable(&table);
  return good;
}

/* What is not in the table, a line each. */
static void printOthers(const pnScan *scan, uint32_t listed, uint32_t shown) {
  const pnScanFindings *findings = &scan->findings;
  uint32_t constant = 0, known = 0;
  for (uint32_t i = 0; i < findings->count; ++i) {
    known += findings->items[i].standing == PN_STANDING_KNOWN;
    constant += findings->items[i].standing != PN_STANDING_KNOWN && findings->items[i].core.kind == PN_FINDING_CONSTANT;
  }
  uint32_t unseen = 0;
  for (uint32_t i = 0; i < findings->count; ++i)
    unseen += findings->items[i].unseen && isListed(scan, &findings->items[i]);
  bool quiet =
      unseen == 0 && listed == shown && (constant == 0 || showsConstant(scan)) && findings->shallow == 0 && known == 0;
  if (shown > 0 && !quiet) putchar('\n');
  if (unseen > 0) pn_printWrapped("%u unseen: between two frames, and in neither (--between).", unseen);
  if (listed > shown)
    pn_printWrapped("%u more: --top 0 lists all, --top N so many, --min-depth D the deeper ones.", listed - shown);
  if (constant > 0 && !showsConstant(scan))
    pn_printWrapped("%u constant one%s (built in): --constant lists %s.", constant, pn_plural(constant),
                    constant == 1 ? "it" : "them");
  if (findings->shallow > 0)
    pn_printWrapped("%u less deep than %g left out (--min-depth).", findings->shallow, scan->options->minDepth);
  if (known > 0)
    pn_printWrapped("%u known one%s quiet (%s).", known, known == 1 ? " is" : "s are", scan->options->baseline);
  if (findings->dropped > 0) pn_printWrapped("%llu dropped for want of room.", (unsigned long long)findings->dropped);
}

/* Entries of the baseline that nothing matches, of animations that were scanned to their end. */
static void printFixed(const pnScan *scan) {
  const pnBaseline *baseline = &scan->findings.baseline;
  uint32_t fixed = 0;
  for (uint32_t i = 0; i < baseline->count; ++i) fixed += pn_isFixed(scan, &baseline->entries[i]);
  if (fixed == 0) return;
  printf("\n%u of %s no longer occur%s:\n", fixed, scan->options->baseline, fixed == 1 ? "s" : "");
  for (uint32_t i = 0; i < baseline->count; ++i) {
    const pnBaselineEntry *entry = &baseline->entries[i];
    if (!pn_isFixed(scan, entry)) continue;
    pn_printWrapped("  %s  %s and %s%s%s%s%s", entry->known.name, entry->known.a,
                    strcmp(entry->known.a, entry->known.b) == 0 ? "itself" : entry->known.b,
                    entry->animation[0] ? " in " : "", entry->animation, entry->comment[0] ? ": " : "", entry->comment);
  }
}

bool pn_printFindings(const pnScan *scan) {
  const pnScanFindings *findings = &scan->findings;
  if (!findings->bodies) return true;
  uint32_t listed = 0;
  for (uint32_t i = 0; i < findings->count; ++i) listed += isListed(scan, &findings->items[i]);
  uint32_t most = scan->options->top == 0 ? UINT32_MAX : scan->options->top, shown = listed < most ? listed : most;
  bool good = true;
  if (listed > 0) {
    const char *first = scan->options->order == PN_FINDINGS_BY_DEPTH    ? "the deepest"
                        : scan->options->order == PN_FINDINGS_BY_FRAMES ? "the longest"
                                                                        : "the earliest";
    if (listed == 1) printf("1 finding:\n\n");
    else printf("%u findings, new ones and of these %s first:\n\n", listed, first);
    good = printTable(scan, most);
  } else {
    printf("Nothing %s.\n", findings->count > 0 ? "new" : "goes through anything");
  }
  printOthers(scan, listed, shown);
  printFixed(scan);
  return good;
}
