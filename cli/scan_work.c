/* scan_work.c: the work of a scan, in its order: read the files, choose animation, bodies and frames, make the world, look at the
 * rest pose when it matters, then frame by frame: move, collide, count, write. Ctrl-C ends the row of frames and nothing else: what
 * is known is printed and the files are finished, marked as incomplete. */
#include "command.h"
#include "out.h"
#include "rank.h"
#include "scan_batch.h"
#include "scan_deal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- Ctrl-C */

static volatile sig_atomic_t stopAsked;
static int stopPipe[2] = {-1,
                          -1}; // whoever waits for something else waits for this, too: a signal may come to any thread

static void onStop(int number) {
  (void)number;
  stopAsked = 1;
  int before = errno;
  if (write(stopPipe[1], "", 1) < 0) errno = before; // there is none: then the next thing that comes ends the wait
  pn_renameProgress("ends when this is done, at once with another Ctrl-C:");
}

/* The first signal asks for an end; the second one, as nobody listens any more, ends the program. A service that runs
 * checks ends them with SIGTERM: it gets the same courtesy. Nothing looks at it inside a frame: half of a frame's pairs are no answer,
 * and the library has no call that gives up half way. So that a long frame does not look deaf, the line on the terminal says it. */
static void listenForStop(void) {
  if (stopPipe[0] < 0 && pipe(stopPipe) != 0) stopPipe[0] = stopPipe[1] = -1;
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
  if (result == PN_OK) result = pn_ranksMeet();
  if (result == PN_OK) result = pn_dealMake(scan);
  if (result == PN_OK) result = pn_findBegin(scan);
  pn_endProgress();
  scan->loadSeconds = pnGetTime() - start;
  return result;
}

/* The places of the frames that are looked at here (scan_deal.h). */
static uint32_t beginOf(const pnScan *scan) {
  return scan->deal ? scan->deal->begin : 0;
}
static uint32_t endOf(const pnScan *scan) {
  return scan->deal ? scan->deal->end : scan->frameTotal;
}

static pnResult scanFrame(pnScan *scan, uint32_t place, int64_t number) {
  // A frame that is dealt brings the way to it along.
  pnResult result = scan->deal ? PN_OK : pn_scanLookBetween(scan, number, pn_takeMoment, NULL);
  if (result == PN_OK) result = scan->deal ? pn_dealFrame(scan, place, number) : pn_scanLookAtFrame(scan, number);
  // Whoever merges the parts counts and writes.
  if (scan->options->partCount == 0) {
    if (result == PN_OK) result = pn_scanTallyFrame(scan);
    if (result == PN_OK) result = pn_scanWriteFrame(scan);
  }
  if (result != PN_OK) pnFail(result, "frame %lld: %.900s", (long long)number, pnGetMessage());
  if (result != PN_OK && scan->runCount > 1)
    pnFail(result, "animation '%.100s': %.800s", scan->runs[scan->run].name, pnGetMessage());
  return result;
}

/* The frames of the animation that is scanned now; the first of them has this place. */
static pnResult scanRun(pnScan *scan, uint32_t first) {
  uint32_t begin = beginOf(scan), end = endOf(scan);
  pnResult result = pn_scanOpenRun(scan);
  scan->between.begun = scan->between.standing = false;
  if (result == PN_OK) result = pn_findBeginRun(scan);
  for (uint32_t i = 0; i < scan->range.count && result == PN_OK && !stopAsked; ++i) {
    uint32_t place = first + i;
    if (place < begin || place >= end) continue;
    if (!scan->deal || !scan->deal->ranks) pn_stepProgress(place - begin, end - begin);
    result = scanFrame(scan, place, scan->range.first + (int64_t)i * scan->range.step);
    scan->seenCount += result == PN_OK;
  }
  return result == PN_OK ? pn_findEndRun(scan) : result;
}

/* Frames that come by standard input, until it ends; what is written of each is given away at once. */
static pnResult scanStream(pnScan *scan) {
  int64_t number = 0, first = 0;
  pnStreamStep step = PN_STREAM_FRAME;
  pnResult result = pn_scanOpenRun(scan);
  if (result == PN_OK) result = pn_findBeginRun(scan);
  while (result == PN_OK && !stopAsked) {
    pn_stepProgress(scan->seenCount, 0);
    result = pn_streamNext(scan, &number, &step);
    if (result != PN_OK || step != PN_STREAM_FRAME) break;
    if (scan->seenCount == 0) first = number;
    result = scan->seenCount < scan->frameTotal
                 ? scanFrame(scan, scan->seenCount, number)
                 : pnFail(PN_ERROR_COUNT, "the stream has more than %u frames", scan->frameTotal);
    scan->seenCount += result == PN_OK;
    if (scan->files.outs[PN_OUT_CSV] && result == PN_OK) result = pnOutFile_Flush(scan->files.outs[PN_OUT_CSV]);
    if (scan->files.outs[PN_OUT_PAIRS] && result == PN_OK) result = pnOutFile_Flush(scan->files.outs[PN_OUT_PAIRS]);
    if (fflush(stdout) != 0 && result == PN_OK) result = pnFail(PN_ERROR_FILE, "the output cannot be written");
  }
  // Now it is known how many there are.
  scan->frameTotal = scan->seenCount + (stopAsked && step != PN_STREAM_END);
  scan->range = (pnScanRange){first, number, 1, scan->seenCount, scan->range.fps};
  scan->runs[0].range = scan->range;
  return result == PN_OK ? pn_findEndRun(scan) : result;
}

static pnResult scanFrames(pnScan *scan) {
  double start = pnGetTime();
  uint32_t first = 0;
  static char what[40] = "scanning";
  if (pn_rankCount() > 1) snprintf(what, sizeof(what), "scanning on %u ranks", pn_rankCount());
  pn_beginProgress(what);
  pnResult result = pn_scanLookAtRest(scan);
  for (uint32_t r = 0; r < scan->runCount && result == PN_OK && !stopAsked; ++r) {
    pn_scanBeginRun(scan, r);
    if (pn_streamOf(scan)) result = scanStream(scan);
    else if (first < endOf(scan) && first + scan->range.count > beginOf(scan)) result = scanRun(scan, first);
    first += scan->range.count;
  }
  pn_listRank(scan);
  pn_endProgress();
  // Ranks are ended together, by whoever started them and for whatever reason: an answer to half of the frames is none.
  if (result == PN_OK && stopAsked && pn_rankCount() > 1 && !scan->options->alone)
    result = pnFail(PN_ERROR_FILE, "ended after %u of %u frames%s", scan->seenCount, endOf(scan) - beginOf(scan),
                    scan->options->resume ? "; --resume goes on from there" : "");
  scan->interrupted = scan->seenCount < endOf(scan) - beginOf(scan);
  scan->scanSeconds = pnGetTime() - start;
  return result;
}

static void freeScan(pnScan *scan) {
  pn_dealFree(scan);
  pn_betweenEnd(&scan->between);
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
    if (!body->sharesMesh) pnDestroyMesh(body->mesh);
    free(body->name);
    free(body->groupNames);
    free(body->madeNames);
    free(body->vertexGroups);
    free(body->vertices);
    free(body->verticesBefore);
    free(body->verticesBetween);
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
  free(scan->taken);
  free(scan->frame.contacts);
}

static uint32_t countFailing(const pnScan *scan) {
  if (!scan->options->first) return pn_listCountFailing(scan);
  const pnScanTallies *t = &scan->tallies;
  return scan->options->failOn == PN_FAIL_ON_ANY   ? t->collidingFrames
         : scan->options->failOn == PN_FAIL_ON_NEW ? t->newFrames
                                                   : 0;
}

/* Frames or steps that have more than was looked at. */
static bool isLimited(const pnScan *scan) {
  return scan->limitedCount > 0 || scan->between.limitedSteps > 0;
}

bool pn_scanLacksAnswer(const pnScan *scan) {
  bool asked = scan->options->failOn != PN_FAIL_ON_NONE;
  return (scan->interrupted || (asked && isLimited(scan))) && countFailing(scan) == 0;
}

/* An answer "nothing meets" that was not looked at to the end is none; a part has no answer yet. */
static int exitStatus(const pnScan *scan) {
  if (scan->options->partCount > 0) return scan->interrupted ? PN_EXIT_ERROR : PN_EXIT_CLEAN;
  if (countFailing(scan) > 0) return PN_EXIT_COLLISION;
  return pn_scanLacksAnswer(scan) ? PN_EXIT_ERROR : PN_EXIT_CLEAN;
}

/* Standard output has one of the files: then it has nothing else. */
bool pn_scanUsesOutput(const pnScanOptions *options) {
  for (int i = 0; i < PN_OUT_COUNT; ++i) {
    const char *path = pn_scanOutPath(options, (pnScanOut)i);
    if (path && strcmp(path, "-") == 0) return true;
  }
  return options->html && strcmp(options->html, "-") == 0;
}

/* What is known of the frames, printed; false when that failed. */
static bool tell(const pnScan *scan) {
  const pnScanOptions *options = scan->options;
  if (options->partCount > 0) {
    if (scan->interrupted)
      fprintf(stderr, "pinch scan: interrupted: no part was written%s\n",
              options->resume ? "; --resume goes on from here" : "");
    return true;
  }
  if (!options->json && !pn_isQuiet() && !pn_scanUsesOutput(options) && !pn_scanPrintTables(scan)) return false;
  if (options->json && scan->interrupted)
    fprintf(stderr, "pinch scan: interrupted after %u of %u frame%s\n", scan->tallies.frameCount, scan->frameTotal,
            pn_plural(scan->frameTotal));
  else if (!scan->interrupted && pn_scanLacksAnswer(scan))
    fputs("pinch scan: nothing was found, but not all was looked at: --max-pairs 0 looks at all\n", stderr);
  return true;
}

static pnResult lookAndWrite(pnScan *scan) {
  listenForStop();
  pnResult result = pn_dealOpen(scan);
  if (result == PN_OK) result = pn_scanOpenFiles(scan);
  if (result == PN_OK) result = scanFrames(scan);
  // The message of the first failure must survive the closing of files.
  if (result != PN_OK && !scan->options->alone) pn_sayFailure("scan");
  pn_beginProgress("writing");
  pnResult closed = pn_scanCloseFiles(scan, result == PN_OK);
  if (closed == PN_OK) closed = pn_dealClose(scan, result == PN_OK && !scan->interrupted);
  pn_endProgress();
  if (result == PN_OK && closed != PN_OK && !scan->options->alone) pn_sayFailure("scan");
  return result == PN_OK ? closed : result;
}

/* What ranks other than the first do: look, and say nothing. */
static int serve(pnScan *scan, pnResult ready) {
  if (ready == PN_OK) ready = pn_scanLookAtRest(scan);
  pnRankWork work = pn_dealWork(scan, 0);
  return pn_ranksServe(&work, ready) ? PN_EXIT_CLEAN : PN_EXIT_ERROR;
}

int pn_scanWork(int count, char **words, const pnScanOptions *options) {
  pnScan scan = {.options = options};
  int status = PN_EXIT_ERROR;
  pnResult result = load(&scan, count, words);
  if (pn_rankNumber() > 0) {
    status = serve(&scan, result);
  } else {
    if (result == PN_OK) {
      result = lookAndWrite(&scan);
    } else {
      pn_sayFailure("scan");
      pn_scanSayChoices(&scan);
    }
    bool good = result == PN_OK && tell(&scan) && pn_finishOutput("scan");
    status = good ? exitStatus(&scan) : PN_EXIT_ERROR;
  }
  freeScan(&scan);
  return status;
}

json_t *pn_scanRow(char *word, const pnScanOptions *options) {
  pnScan scan = {.options = options};
  pnResult result = load(&scan, 1, &word);
  if (result == PN_OK) result = lookAndWrite(&scan);
  json_t *row = NULL;
  if (result != PN_OK) row = pn_rowOfError(word, pnGetMessage());
  else if (!scan.interrupted) row = pn_rowOfScan(&scan);
  freeScan(&scan);
  return row;
}

bool pn_scanIsStopped(void) {
  return stopAsked;
}

int pn_scanStopInput(void) {
  return stopPipe[0];
}
