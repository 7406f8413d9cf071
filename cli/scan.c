/* scan.c: `pinch scan FILE...`: in which frames of an animation, and where, do bodies go through one another? The command: its
 * options, and which of them go together. The work is in scan_work.c. */
#include "args.h"
#include "command.h"
#include "out.h"
#include "pool.h"
#include "rank.h"
#include "scan_batch.h"
#include "scan_deal.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- the command */

/* What is left of a word when folders are taken from it: of "--html=out/r.html" "--html=r.html", of both sides of
 * MESH@CACHE. Returns the end of what was written. */
static char *putWord(char *at, const char *word) {
  char *part = at;
  // A quote inside quotes: out of them, itself, in again.
  for (const char *c = word; *c; ++c) {
    if (*c == '/' && c[1]) at = part;
    else if (*c == '\'') at += sprintf(at, "'\\''");
    else *at++ = *c;
    if (*c == '@' || *c == '=') part = at;
  }
  return at;
}

/* The command line in one text, words with spaces or signs of the shell in quotes, files without their folders: the report is
 * made to be mailed. Null without memory. */
static char *joinWords(int argc, char **argv) {
  size_t size = sizeof("pinch");
  for (int i = 0; i < argc; ++i) size += 4 * strlen(argv[i]) + 3;
  char *text = malloc(size), *at = text;
  if (!text) return NULL;
  at += sprintf(at, "pinch");
  for (int i = 0; i < argc; ++i) {
    const char *quote = argv[i][0] == 0 || strpbrk(argv[i], " \t\n*?#$&;|<>()'\"\\`~[{!") ? "'" : "";
    at += sprintf(at, " %s", quote);
    at = putWord(at, argv[i]);
    at += sprintf(at, "%s", quote);
  }
  return text;
}

/* The number of a word in a list that ends with null; -1 when it is not there, `absent` when none was given. */
static int wordOf(const char *word, const char *const *list, int absent) {
  for (int i = 0; word && list[i]; ++i)
    if (strcmp(word, list[i]) == 0) return i;
  return word ? -1 : absent;
}

/* Outputs must not be one another nor a file that is read; false after saying it. */
static bool checkOutputs(const pnUsage *usage, int fileCount, char **files, const pnScanOptions *options) {
  static const char *const names[] = {"csv", "pairs", "junit", "sarif", "write-baseline", "html"};
  const char *paths[PN_OUT_COUNT + 1];
  for (int i = 0; i < PN_OUT_COUNT; ++i) paths[i] = pn_scanOutPath(options, (pnScanOut)i);
  paths[PN_OUT_COUNT] = options->html;
  for (int i = 0; i <= PN_OUT_COUNT; ++i) {
    if (!pn_checkOutput(usage, names[i], paths[i], fileCount, files)) return false;
    for (int k = 0; k < i; ++k) {
      if (!paths[i] || !paths[k] || !pn_isSameFile(paths[i], paths[k])) continue;
      pn_sayWrong(usage, "--%s and --%s must be different files", names[k], names[i]);
      return false;
    }
  }
  return true;
}

/* "3/8" into part 3 of 8; false after saying that it is not that. */
static bool parsePart(const pnUsage *usage, pnScanOptions *options) {
  if (!options->partWord) return true;
  char *end;
  unsigned long number = strtoul(options->partWord, &end, 10), count = 0;
  bool good =
      options->partWord[0] >= '0' && options->partWord[0] <= '9' && *end == '/' && end[1] >= '0' && end[1] <= '9';
  if (good) count = strtoul(end + 1, &end, 10);
  good = good && *end == 0 && number >= 1 && number <= count && count <= PN_MAX_PARTS;
  if (!good) pn_sayWrong(usage, "--part: expected K/N as in 3/8, K from 1 to N, found '%s'", options->partWord);
  options->partNumber = good ? (uint32_t)number : 0;
  options->partCount = good ? (uint32_t)count : 0;
  return good;
}

/* What goes with parts and checkpoints, and what does not; false after saying it. */
static bool checkDealing(const pnUsage *usage, int fileCount, char **files, const pnScanOptions *options) {
  bool part = options->partCount > 0, stream = false;
  bool writes = options->html || options->json || options->writeBaseline;
  for (int i = 0; i < PN_OUT_COUNT; ++i) writes |= pn_scanOutPath(options, (pnScanOut)i) != NULL;
  for (int i = 0; i < fileCount; ++i) stream |= strcmp(files[i], "-") == 0;
  // Ranks are asked last: until they have met one another, the files can be read.
  bool hints = options->first && !pn_scanNeedsRest(options), asks = hints || stream;
  bool dealt = asks && (part || options->resume || options->mergeCount > 0 || pn_rankCount() > 1);
  if (part && writes) pn_sayWrong(usage, "--part writes a part and nothing else: pinch merge writes the rest");
  else if (options->partFile && !part) pn_sayWrong(usage, "--part-file is for --part");
  else if (dealt && hints)
    pn_sayWrong(usage, "--first takes hints from the frame before: it goes without --part, --resume and ranks");
  else if (dealt && stream)
    pn_sayWrong(usage, "standard input cannot be read again: it goes without --part, --resume and ranks");
  else
    return pn_checkOutput(usage, "part-file", options->partFile, fileCount, files) &&
           pn_checkOutput(usage, "resume", options->resume, fileCount, files);
  return false;
}

/* What goes with a list of files; false after saying what does not. */
static bool checkList(const pnUsage *usage, int fileCount, const pnScanOptions *options, bool words) {
  bool others = options->csv || options->pairs || options->junit || options->sarif || options->writeBaseline ||
                options->partWord || options->mergeCount > 0 || options->regions || options->first;
  if (fileCount > 0) pn_sayWrong(usage, "--list names the files: no others beside it");
  else if (others)
    pn_sayWrong(
        usage,
        "--list makes rows (--json) and an index page (--html): it goes without other outputs, --first and --part");
  else if (!words) pn_sayWrong(usage, "--fail-on takes any, new or none, --sort depth, frames or first");
  else return true;
  return false;
}

const char *const pn_orderWords[] = {
    [PN_FINDINGS_BY_DEPTH] = "depth", [PN_FINDINGS_BY_FRAMES] = "frames", [PN_FINDINGS_BY_FIRST] = "first", NULL};

/* What the parser cannot know; false after saying it. */
static bool checkOptions(const pnUsage *usage, int fileCount, char **files, pnScanOptions *options) {
  static const char *const fails[] = {
      [PN_FAIL_ON_ANY] = "any", [PN_FAIL_ON_NEW] = "new", [PN_FAIL_ON_NONE] = "none", NULL};
  // Whoever has said nothing is told of everything: a first run is not green while something meets.
  int failOn = wordOf(options->failOnWord, fails, PN_FAIL_ON_ANY);
  int order = wordOf(options->orderWord, pn_orderWords, PN_FINDINGS_BY_DEPTH);
  bool asksFindings = options->baseline || options->writeBaseline || options->junit || options->sarif ||
                      options->minDepth > 0 || options->regions || options->between;
  if (!checkOutputs(usage, fileCount, files, options) || !parsePart(usage, options)) return false;
  if (options->list) {
    options->failOn = (pnFailOn)failOn;
    options->order = (pnFindingOrder)order;
    return checkList(usage, fileCount, options, failOn >= 0 && order >= 0);
  }
  if (fileCount == 0) pn_sayWrong(usage, "no file given; 'pinch make character hero.glb' makes one to try");
  else if (failOn < 0) pn_sayWrong(usage, "--fail-on: expected any, new or none, found '%s'", options->failOnWord);
  else if (order < 0) pn_sayWrong(usage, "--sort: expected depth, frames or first, found '%s'", options->orderWord);
  else if (options->first && asksFindings) pn_sayWrong(usage, "--first looks for no findings: leave it out");
  else if (options->regions && !options->json && options->partCount == 0 && options->mergeCount == 0)
    pn_sayWrong(usage, "--regions is for --json");
  else if (options->json && pn_scanUsesOutput(options))
    pn_sayWrong(usage, "--json already goes to standard output ('-')");
  else if (options->html && !pn_reportAvailable())
    pn_sayWrong(usage, "--html: this build has no HTML report; build pinch where npm is installed");
  else {
    options->failOn = (pnFailOn)failOn;
    options->order = (pnFindingOrder)order;
    return checkDealing(usage, fileCount, files, options);
  }
  return false;
}

static const char about[] =
    "Where, when and how deep do the bodies of an animation go through one another, or through themselves? What is "
    "found\n"
    "is ranked: new things first, the deepest first; what is built into the model, or known (--baseline), stays "
    "quiet.\n"
    "\n"
    "  walk.glb, walk.gltf      every mesh of the file is a body: skinned, morphing or moved by a node\n"
    "  shirt.obj@shirt.mdd      a mesh and its vertex cache: MDD, PC2, or numbered mesh files\n"
    "  'frame_####.ply'         numbered mesh files alone; a glob in quotes, or a folder\n"
    "  floor.obj                a mesh that stays where it is\n"
    "  -                        a glTF or mesh file, or a stream of frames, by standard input\n"
    "\n"
    "Several files play together. The answer is exact for the vertices as floats: touching counts, triangles that\n"
    "share a vertex or an edge count only when they meet in more than that, seams of the export are no gaps.\n"
    "Ctrl-C prints what is known so far. Exit status: 0 nothing found, 1 findings (see --fail-on), 2 error.\n";

static const char examples[] =
    "  pinch make character hero.glb                        a character who walks in a coat, to try\n"
    "  pinch scan hero.glb --html report.html               body against coat, and a report to look at\n"
    "  pinch scan hero.glb --self --frames 0:90:3           also each one with itself, every third frame\n"
    "  pinch scan hero.glb --between                        also what happens between two frames\n"
    "  pinch scan hero.glb --only body,body                 the body with itself, nothing else\n"
    "  pinch scan hero.glb --ignore 'hair*,head'            all but hair in the head\n"
    "  pinch scan hero.glb --animation all                  every animation of the file\n"
    "  pinch scan hero.glb sword.glb --animation idle       two files, the animation by name\n"
    "  pinch scan body.obj@body.mdd shirt.obj@shirt.pc2     vertex caches\n"
    "  pinch scan hero.glb --write-baseline known.json      what is there now is accepted; then, in CI:\n"
    "  pinch scan hero.glb --baseline known.json || exit 1  only what is not in it, or worse than there\n";

/* The command line without what says which part it is and where it goes: with these words, and outputs, merging is a scan. Null
 * without memory. */
static char **keepWords(int argc, char **argv, int *outCount) {
  static const char *const dropped[] = {"--part", "--part-file", "--resume"};
  char **words = malloc((size_t)(argc + 1) * sizeof(char *));
  *outCount = 0;
  for (int i = 1; i < argc && words; ++i) {
    size_t length = strcspn(argv[i], "=");
    bool drop = false;
    for (size_t k = 0; k < sizeof(dropped) / sizeof(dropped[0]); ++k)
      drop |= strlen(dropped[k]) == length && strncmp(argv[i], dropped[k], length) == 0;
    if (!drop) words[(*outCount)++] = argv[i];
    else if (argv[i][length] != '=') ++i;
  }
  return words;
}

static int scan(int argc, char **argv, char *const *parts, uint32_t partCount) {
  pnScanOptions options = {.top = 20, .maxPairs = PN_DEFAULT_MAX_PAIRS, .merge = parts, .mergeCount = partCount};
  const pnOption table[] = {
      {"frames", PN_OPTION_TEXT, "A:B:STEP",
       "which frames; each part may be left out, A alone is one frame, A-B is\nA:B (default: all)", &options.frames},
      {"fps", PN_OPTION_NUMBER, "N",
       "frames a second: frame f is at f/N seconds\n(default: where the keys stand, else 30)", &options.fps},
      {"animation", PN_OPTION_LIST, "NAME",
       "which animation of a glTF file, by name, number or pattern; all: every\none; may be given several times "
       "(default: the first)",
       &options.animations},
      {"between", PN_OPTION_FLAG, NULL,
       "also look between frames: what passes through and is seen in neither\nframe is found, at its time ('frame "
       "12.37')",
       &options.between},
      {"self", PN_OPTION_FLAG, NULL, "also each body with itself (a single body always is)", &options.self},
      {"first", PN_OPTION_FLAG, NULL, "one pair of triangles for each two bodies and frame: faster, and no findings",
       &options.first},
      {"only", PN_OPTION_LIST, "A,B",
       "only these two bodies, by name, number or pattern ('Arm*'); A,A: A with\nitself; A: A with everything; may "
       "be given several times",
       &options.only},
      {"pairs-only", PN_OPTION_LIST, "A,B", NULL, &options.only},
      {"ignore", PN_OPTION_LIST, "A,B", "not these two bodies, written as for --only; several times, too",
       &options.ignored},
      {"ignore-rest", PN_OPTION_FLAG, NULL,
       "leave out what already meets in the rest pose: pairs and constant findings", &options.ignoreRest},
      {"max-pairs", PN_OPTION_COUNT, "N",
       "in each frame, stop when more pairs of triangles than this are found\n(default: 1000000; 0: no limit)",
       &options.maxPairs},
      {"min-depth", PN_OPTION_NUMBER, "D", "leave out findings that are less deep, in units of the scene",
       &options.minDepth},
      {"sort", PN_OPTION_TEXT, "BY",
       "depth: the deepest finding first (default); frames: the longest;\nfirst: the earliest", &options.orderWord},
      {"top", PN_OPTION_COUNT, "N", "list so many findings (default 20; 0: all)", &options.top},
      {"constant", PN_OPTION_FLAG, NULL, "also list what is built in: so at rest, or nothing moves there",
       &options.constant},
      {"baseline", PN_OPTION_TEXT, "F",
       "findings that are in this file are known: quiet, and no failure, unless\nthey are deeper or longer by now",
       &options.baseline},
      {"write-baseline", PN_OPTION_TEXT, "F", "write what was found as known, with the comments of --baseline",
       &options.writeBaseline},
      PN_DEVICE_OPTION(&options.device),
      {"threads", PN_OPTION_COUNT, "N",
       "how many threads work (default: one for each core);\nthe answer does not depend on it", &options.threads},
      {"json", PN_OPTION_FLAG, NULL, "one JSON object instead of tables", &options.json},
      {"regions", PN_OPTION_FLAG, NULL, "with --json: the regions of each frame and their intersection curves",
       &options.regions},
      {"junit", PN_OPTION_TEXT, "F", "write findings as JUnit XML, for CI services", &options.junit},
      {"sarif", PN_OPTION_TEXT, "F", "write findings as SARIF, for code hosts", &options.sarif},
      {"csv", PN_OPTION_TEXT, "F", "write counts: frame,time,a,b,pairs; - is standard output", &options.csv},
      {"pairs", PN_OPTION_TEXT, "F", "write every pair: frame,a,triangle_a,b,triangle_b", &options.pairs},
      {"list", PN_OPTION_TEXT, "F",
       "many files, each by itself: F names one in each line, or is a folder. A row\nfor each (--json: a line of "
       "JSON), an index page (--html), one bad file does\nnot stop the rest",
       &options.list},
      {"part", PN_OPTION_TEXT, "K/N",
       "look at part K of N of the frames only and write what they have into a file\nthat pinch merge puts together "
       "with the others",
       &options.partWord},
      {"part-file", PN_OPTION_TEXT, "F", "with --part: that file (default: NAME.K-of-N.pinch, here)",
       &options.partFile},
      {"resume", PN_OPTION_TEXT, "F",
       "keep what is known of each frame in F while the scan goes on; when it was ended\nbefore, go on from there. F "
       "is removed at the end",
       &options.resume},
      {"html", PN_OPTION_TEXT, "F", "write a report to look at in a browser, one file, no network", &options.html},
      {"fail-on", PN_OPTION_TEXT, "WHICH",
       "any: status 1 for every finding (default); new: only for new and growing\nones; none: never",
       &options.failOnWord},
  };
  const pnUsage usage = {
      .command = "scan",
      .synopsis = "FILE... [options]",
      .about = about,
      .options = table,
      .optionCount = sizeof(table) / sizeof(table[0]),
      .examples = examples,
      .lastCounts = partCount > 0,
  };
  // Before the parser puts the words in another order.
  char *command = joinWords(argc, argv);
  char **words = keepWords(argc, argv, &options.wordCount);
  options.command = command;
  options.words = words;
  if (!command || !words) options.wordCount = 0;
  pnArgs args = pn_parseArgs(&usage, &argc, argv);
  // Whoever only describes or asks for help need not meet the others; merging is quick, and one does it.
  if (args == PN_ARGS_RUN) pn_ranksBegin();
  if (args == PN_ARGS_RUN && !checkOptions(&usage, argc, argv, &options)) args = PN_ARGS_WRONG;
  int status = args == PN_ARGS_HELP ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
  if (args == PN_ARGS_RUN) status = options.list ? pn_batchWork(&options) : pn_scanWork(argc, argv, &options);
  pn_ranksLeave(status);
  free(words);
  free(command);
  return status;
}

int pn_cmdScan(int argc, char **argv) {
  return scan(argc, argv, NULL, 0);
}

int pn_scanMerge(int argc, char **argv, char *const *parts, uint32_t partCount) {
  return scan(argc, argv, parts, partCount);
}
