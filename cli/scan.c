/* scan.c: `pinch scan FILE...`: in which frames of an animation, and where, do bodies go through one another?
 *
 * The order of the work: read the files, choose animation, bodies and frames, make the world, look at the rest pose when
 * it matters, then frame by frame: move, collide, count, write. Ctrl-C ends the row of frames and nothing else: what
 * is known is printed and the files are finished, marked as incomplete. */
#include "args.h"
#include "command.h"
#include "out.h"
#include "pool.h"
#include "scan.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- Ctrl-C */

static volatile sig_atomic_t stopAsked;

static void onStop(int number) {
  (void)number;
  stopAsked = 1;
}

/* The first signal asks for an end; the second one, as nobody listens any more, ends the program. A service that runs
 * checks ends them with SIGTERM: it gets the same courtesy. */
static void listenForStop(void) {
  struct sigaction action = {.sa_handler = onStop, .sa_flags = SA_RESTART | (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

/* ---------------------------------------------------------------- the work */

static pnResult load(pnScan *scan, int count, char **words) {
  double start = pnGetTime();
  scan->sources = calloc((size_t)count, sizeof(pnScanSource));
  if (!scan->sources) return pnFail(PN_ERROR_MEMORY, "out of memory for %d files", count);
  pn_beginProgress("reading");
  pnResult result = PN_OK;
  for (int i = 0; i < count && result == PN_OK; ++i) {
    pn_stepProgress((uint32_t)i, (uint32_t)count);
    result = pn_scanOpenSource(scan, words[i]);
  }
  if (result == PN_OK) result = pn_scanChooseRuns(scan);
  if (result == PN_OK) result = pn_scanChooseBodies(scan);
  if (result == PN_OK) result = pn_scanMakeWorld(scan);
  if (result == PN_OK) result = pn_findBegin(scan);
  pn_endProgress();
  scan->loadSeconds = pnGetTime() - start;
  return result;
}

/* The frames of the animation that is scanned now. */
static pnResult scanRun(pnScan *scan) {
  pnResult result = pn_scanOpenRun(scan);
  if (result == PN_OK) result = pn_findBeginRun(scan);
  for (uint32_t i = 0; i < scan->range.count && result == PN_OK && !stopAsked; ++i) {
    pn_stepProgress(scan->tallies.frameCount, scan->frameTotal);
    int64_t number = scan->range.first + (int64_t)i * scan->range.step;
    result = pn_scanLookAtFrame(scan, number);
    if (result == PN_OK) result = pn_scanTallyFrame(scan);
    if (result == PN_OK) result = pn_scanWriteFrame(scan);
    if (result != PN_OK) pnFail(result, "frame %lld: %.900s", (long long)number, pnGetMessage());
    if (result != PN_OK && scan->runCount > 1)
      pnFail(result, "animation '%.100s': %.800s", scan->runs[scan->run].name, pnGetMessage());
  }
  return result == PN_OK ? pn_findEndRun(scan) : result;
}

static pnResult scanFrames(pnScan *scan) {
  double start = pnGetTime();
  pn_beginProgress("scanning");
  pnResult result = pn_scanLookAtRest(scan);
  for (uint32_t r = 0; r < scan->runCount && result == PN_OK && !stopAsked; ++r) {
    pn_scanBeginRun(scan, r);
    result = scanRun(scan);
  }
  pn_listRank(scan);
  pn_endProgress();
  scan->interrupted = scan->tallies.frameCount < scan->frameTotal;
  scan->scanSeconds = pnGetTime() - start;
  return result;
}

static void freeScan(pnScan *scan) {
  pn_findEnd(scan);
  pnDestroyDeviceWorld(scan->deviceWorld);
  pnDestroyDevice(scan->device);
  free(scan->deviceBodies);
  if (scan->world) pnDestroyWorld(scan->world);
  if (scan->pool) pnDestroyPool(scan->pool);
  for (uint32_t b = 0; b < scan->bodyCount; ++b) {
    pnScanBody *body = &scan->bodies[b];
    pnDestroySkin(body->skin);
    pnDestroyMorph(body->morph);
    pnDestroyMesh(body->mesh);
    free(body->name);
    free(body->groupNames);
    free(body->madeNames);
    free(body->vertexGroups);
    free(body->vertices);
  }
  for (uint32_t s = 0; s < scan->sourceCount; ++s) {
    pnDestroyAnimState(scan->sources[s].state);
    pnFreeAnimFile(scan->sources[s].file);
    pnCloseCache(scan->sources[s].cache);
  }
  for (uint32_t i = 0; i < scan->tallies.count; ++i) {
    free(scan->tallies.data[i].groupsA);
    free(scan->tallies.data[i].groupsB);
  }
  for (uint32_t r = 0; r < scan->runCount + scan->skippedRuns; ++r) {
    free(scan->runs[r].name);
    free(scan->runs[r].clips);
  }
  free(scan->runs);
  pn_freeChoice(&scan->choice);
  free(scan->tallies.data);
  free(scan->tallies.table);
  free(scan->bodies);
  free(scan->sources);
  free(scan->rest.contacts);
  free(scan->rest.pairs);
  free(scan->kept);
  free(scan->frame.contacts);
}

/* An answer "nothing meets" that was not looked at to the end is none. */
static int exitStatus(const pnScan *scan) {
  const pnScanTallies *t = &scan->tallies;
  uint32_t failing = !scan->options->first                     ? pn_listCountFailing(scan)
                     : scan->options->failOn == PN_FAIL_ON_ANY ? t->collidingFrames
                     : scan->options->failOn == PN_FAIL_ON_NEW ? t->newFrames
                                                               : 0;
  if (failing > 0) return PN_EXIT_COLLISION;
  return scan->interrupted ? PN_EXIT_ERROR : PN_EXIT_CLEAN;
}

/* Standard output has one of the files: then it has nothing else. */
static bool usesOutput(const pnScanOptions *options) {
  for (int i = 0; i < PN_OUT_COUNT; ++i) {
    const char *path = pn_scanOutPath(options, (pnScanOut)i);
    if (path && strcmp(path, "-") == 0) return true;
  }
  return options->html && strcmp(options->html, "-") == 0;
}

static int run(int count, char **words, const pnScanOptions *options) {
  pnScan scan = {.options = options};
  pnResult result = load(&scan, count, words);
  if (result == PN_OK) {
    listenForStop();
    result = pn_scanOpenFiles(&scan);
    if (result == PN_OK) result = scanFrames(&scan);
    // The message of the first failure must survive the closing of files.
    if (result != PN_OK) pn_sayFailure("scan");
    pn_beginProgress("writing");
    pnResult closed = pn_scanCloseFiles(&scan, result == PN_OK);
    pn_endProgress();
    if (result == PN_OK && closed != PN_OK) pn_sayFailure("scan");
    if (result == PN_OK) result = closed;
  } else {
    pn_sayFailure("scan");
    pn_scanSayChoices(&scan);
  }
  bool good = result == PN_OK;
  if (good && !options->json && !pn_isQuiet() && !usesOutput(options)) good = pn_scanPrintTables(&scan);
  if (good && options->json && scan.interrupted)
    fprintf(stderr, "pinch scan: interrupted after %u of %u frames\n", scan.tallies.frameCount, scan.frameTotal);
  if (good) good = pn_finishOutput("scan");
  int status = good ? exitStatus(&scan) : PN_EXIT_ERROR;
  freeScan(&scan);
  return status;
}

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

/* What the parser cannot know; false after saying it. */
static bool checkOptions(const pnUsage *usage, int fileCount, char **files, pnScanOptions *options) {
  static const char *const fails[] = {
      [PN_FAIL_ON_ANY] = "any", [PN_FAIL_ON_NEW] = "new", [PN_FAIL_ON_NONE] = "none", NULL};
  static const char *const orders[] = {
      [PN_FINDINGS_BY_DEPTH] = "depth", [PN_FINDINGS_BY_FRAMES] = "frames", [PN_FINDINGS_BY_FIRST] = "first", NULL};
  int failOn = wordOf(options->failOnWord, fails, PN_FAIL_ON_ANY);
  int order = wordOf(options->orderWord, orders, PN_FINDINGS_BY_DEPTH);
  bool asksFindings = options->baseline || options->writeBaseline || options->junit || options->sarif ||
                      options->minDepth > 0 || options->regions;
  if (!checkOutputs(usage, fileCount, files, options)) return false;
  if (fileCount == 0) pn_sayWrong(usage, "no file given; 'pinch make character hero.glb' makes one to try");
  else if (failOn < 0) pn_sayWrong(usage, "--fail-on: expected any, new or none, found '%s'", options->failOnWord);
  else if (order < 0) pn_sayWrong(usage, "--sort: expected depth, frames or first, found '%s'", options->orderWord);
  else if (options->first && asksFindings) pn_sayWrong(usage, "--first looks for no findings: leave it out");
  else if (options->regions && !options->json) pn_sayWrong(usage, "--regions is for --json");
  else if (options->json && usesOutput(options)) pn_sayWrong(usage, "--json already goes to standard output ('-')");
  else if (options->html && !pn_reportAvailable())
    pn_sayWrong(usage, "--html: this build has no HTML report; build pinch where npm is installed");
  else {
    options->failOn = (pnFailOn)failOn;
    options->order = (pnFindingOrder)order;
    return true;
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
    "  -                        a glTF or mesh file by standard input\n"
    "\n"
    "Several files play together. The answer is exact for the vertices as floats: touching counts, triangles that\n"
    "share a vertex or an edge count only when they meet in more than that, seams of the export are no gaps.\n"
    "Ctrl-C prints what is known so far. Exit status: 0 nothing found, 1 findings (see --fail-on), 2 error.\n";

static const char examples[] =
    "  pinch make character hero.glb                        a character who walks in a coat, to try\n"
    "  pinch scan hero.glb --html report.html               body against coat, and a report to look at\n"
    "  pinch scan hero.glb --self --frames 0:90:3           also each one with itself, every third frame\n"
    "  pinch scan hero.glb --only body,body                 the body with itself, nothing else\n"
    "  pinch scan hero.glb --ignore 'hair*,head'            all but hair in the head\n"
    "  pinch scan hero.glb --animation all                  every animation of the file\n"
    "  pinch scan hero.glb sword.glb --animation idle       two files, the animation by name\n"
    "  pinch scan body.obj@body.mdd shirt.obj@shirt.pc2     vertex caches\n"
    "  pinch scan hero.glb --write-baseline known.json      what is there now is accepted; then, in CI:\n"
    "  pinch scan hero.glb --baseline known.json || exit 1  only what is not in it, or worse than there\n";

int pn_cmdScan(int argc, char **argv) {
  pnScanOptions options = {.top = 20, .maxPairs = PN_DEFAULT_MAX_PAIRS};
  const pnOption table[] = {
      {"frames", PN_OPTION_TEXT, "A:B:STEP",
       "which frames; each part may be left out, A alone is one frame\n(default: all)", &options.frames},
      {"fps", PN_OPTION_NUMBER, "N",
       "frames a second: frame f is at f/N seconds\n(default: where the keys stand, else 30)", &options.fps},
      {"animation", PN_OPTION_LIST, "NAME",
       "which animation of a glTF file, by name, number or pattern; all: every\none; may be given several times "
       "(default: the first)",
       &options.animations},
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
  };
  // Before the parser puts the words in another order.
  char *command = joinWords(argc, argv);
  options.command = command;
  pnArgs args = pn_parseArgs(&usage, &argc, argv);
  if (args == PN_ARGS_RUN && !checkOptions(&usage, argc, argv, &options)) args = PN_ARGS_WRONG;
  int status = args == PN_ARGS_RUN ? run(argc, argv, &options) : args == PN_ARGS_HELP ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
  free(command);
  return status;
}
