/* bench_world: the world as a new user has it, beside the best of the others.
 *
 *   bench_world [--peer SPEC]... [--passes N] [--step N] [--frames N] [--each] [--rows FILE] [SCENE]...
 *
 * Not the best setting for each scene but the one that README recommends: bodies by id, vertices copied, pairs sorted, frames
 * in order, nothing set by hand. Every pass makes each peer anew, in a process of its own, and plays all frames; of every
 * frame the least time over the passes counts, which takes out what other programs did and leaves what the peer does
 * in that frame of its life. The row has creation, first frame, median, 99th percentile and worst frame after the first,
 * memory, and whether every answer was right. Beside worst over median (w/m) stands the same of pairs: how many times those of a
 * median frame the worst frame has. Where that is more, the frame is long because there is more to find, and not by a spike. The ratio is that of the medians, against the best of the other libraries. */
#define _GNU_SOURCE
#include "clock.h"
#include "lab.h"
#include "record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pinch/base.h"

#define MAX_PEERS 8
#define MAX_SCENES 64
#define MAX_FRAMES 1024

static const char *const usualScenes[] = {
    "s1-20480", "s1-327680", "s2",    "s4",      "s5-grid", "s5-turned",    "bodies",       "idle",        "terrain",
    "hair",     "hair-self", "blobs", "shuffle", "swarm",   "cloth-ball",   "rod-twist",    "blobs-65536", "slivers",
    "decay",    "s1-mixed",  "burst", "level",   "tiles",   "shoal",        "shuffle-self", "burst-self",  "tangle",
    "pages",    "roll",      "table", "leaves",  "heap",    "shuffle-3200", "s4-twice",     "stray",       "ramp"};
_Static_assert(sizeof usualScenes / sizeof usualScenes[0] <= MAX_SCENES, "room for all of them");
static const char *const usualPeers[] = {"pinch:default", "embree", "embree:rebuild", "embree:joined"};

/* What a child tells its parent. */
typedef struct Result {
  double create, frame[MAX_FRAMES];
  size_t bytes, pairs;
  uint32_t wrong;
  bool done;
} Result;

typedef struct Arguments {
  const char *peers[MAX_PEERS], *scenes[MAX_SCENES];
  uint32_t peerCount, sceneCount, passes, step, frames;
  bool each; /* every frame is printed */
} Arguments;

static double milliseconds(void) {
  return 1e3 * pn_threadTime();
}

static size_t residentBytes(void) {
  FILE *file = fopen("/proc/self/statm", "r");
  long total = 0, resident = 0;
  if (file != NULL) {
    resident = fscanf(file, "%ld %ld", &total, &resident) == 2 ? resident : 0;
    fclose(file);
  }
  return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

static const pnPeer *findPeer(const char *spec) {
  size_t length = strcspn(spec, ":");
  for (uint32_t i = 0; pn_peers[i] != NULL; ++i)
    if (strlen(pn_peers[i]->name) == length && strncmp(spec, pn_peers[i]->name, length) == 0) return pn_peers[i];
  return NULL;
}

/* ---------------------------------------------------------------- one pass */

/* In the child: the frames were made by its parent, and a page of them that it has not touched is mapped when a peer first reads it, which
 * took a fifth of its frame and counted as its memory. A program has written its vertices itself. */
static void touchFrames(const pnFrames *frames) {
  const volatile char *bytes = (const volatile char *)frames->data;
  for (size_t at = 0; at < frames->dataBytes; at += (size_t)sysconf(_SC_PAGESIZE)) (void)bytes[at];
}

/* In the child: a life of a peer. Times are kept where they are less than before. */
static void play(const pnFrames *frames, uint32_t frameCount, const pnPeer *peer, const char *spec, Result *out) {
  touchFrames(frames);
  size_t before = residentBytes();
  double start = milliseconds();
  void *object = peer->create(&frames->input, spec + strcspn(spec, ":"));
  double created = milliseconds() - start;
  if (object == NULL) return;
  out->create = fmin(out->create, created);
  pnBenchPairs pairs = {0};
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < frameCount; ++i) {
    start = milliseconds();
    peer->update(object, pn_labVertices(frames, i));
    peer->findAll(object);
    out->frame[i] = fmin(out->frame[i], milliseconds() - start);
    pairs.count = 0;
    peer->collect(object, &pairs);
    wrong += pn_benchHash(&pairs) != frames->hashes[i];
    out->pairs = pairs.count;
  }
  size_t after = residentBytes();
  out->bytes = after > before ? after - before : 0;
  out->wrong = wrong > out->wrong ? wrong : out->wrong;
  out->done = true;
}

static void playApart(const pnFrames *frames, uint32_t frameCount, const char *spec, Result *out) {
  const pnPeer *peer = findPeer(spec);
  fflush(NULL);
  pid_t process = peer != NULL ? fork() : -1;
  if (process == 0) {
    play(frames, frameCount, peer, spec, out);
    _exit(0);
  }
  int status = 0;
  if (process > 0 && waitpid(process, &status, 0) == process && !WIFEXITED(status))
    fprintf(stderr, "bench_world: %s died by signal %d and has no row\n", spec, WTERMSIG(status));
}

/* ---------------------------------------------------------------- figures */

typedef struct Figures {
  double median, high, worst, early, late; /* the last two: medians of the first and the last tenth */
} Figures;

/* Over the frames after the first, in which everything is new. */
static Figures figuresOf(const Result *r, uint32_t frameCount) {
  double sorted[MAX_FRAMES];
  uint32_t n = frameCount > 1 ? frameCount - 1 : frameCount, from = frameCount - n;
  memcpy(sorted, r->frame + from, sizeof(double) * n);
  double median = pn_labMedian(sorted, n); /* sorts them */
  Figures f = {median, sorted[(uint32_t)(0.99 * (n - 1))], sorted[n - 1], 0, 0};
  uint32_t tenth = n / 10 > 0 ? n / 10 : 1;
  for (int late = 0; late < 2; ++late) {
    memcpy(sorted, r->frame + (late ? frameCount - tenth : from), sizeof(double) * tenth);
    *(late ? &f.late : &f.early) = pn_labMedian(sorted, tenth);
  }
  return f;
}

/* Pairs in the worst frame over those in the median one: of frames by pairs, not by time. 0: nothing meets. */
static double worstPairs(const pnFrames *frames, const Result *r, uint32_t frameCount) {
  double sorted[MAX_FRAMES];
  uint32_t worst = frameCount > 1 ? 1 : 0, n = 0;
  for (uint32_t i = worst; i < frameCount; ++i) {
    worst = r->frame[i] > r->frame[worst] ? i : worst;
    sorted[n++] = (double)frames->pairCounts[i];
  }
  double median = pn_labMedian(sorted, n);
  return median > 0 ? (double)frames->pairCounts[worst] / median : 0;
}

static void printScene(const pnFrames *frames, uint32_t frameCount, const Arguments *a, Result *const *results) {
  double best = INFINITY;
  for (uint32_t i = 0; i < a->peerCount; ++i) {
    bool other = strncmp(a->peers[i], "pinch", 5) != 0;
    if (other && results[i]->done) best = fmin(best, figuresOf(results[i], frameCount).median);
  }
  printf("\n%s: %u bodies, %u triangles, %u frames\n", frames->sceneName, frames->input.bodyCount,
         frames->triangleCount, frameCount);
  printf("%-28s %9s %9s %9s %9s %9s %7s %7s %8s %8s %8s  %s\n", "peer", "create", "first", "median", "99 %", "worst",
         "w/m", "pairs", "ratio", "MB", "pairs", "answer");
  for (uint32_t i = 0; i < a->peerCount; ++i) {
    const Result *r = results[i];
    if (!r->done) continue;
    Figures f = figuresOf(r, frameCount);
    char ratio[32] = "-"; /* of no other, no ratio */
    if (isfinite(best)) snprintf(ratio, sizeof ratio, "%.2fx", best / f.median);
    printf("%-28s %9.2f %9.3f %9.4f %9.4f %9.4f %7.2f %7.2f %8s %8.1f %8zu  ", a->peers[i], r->create, r->frame[0],
           f.median, f.high, f.worst, f.worst / f.median, worstPairs(frames, r, frameCount), ratio,
           (double)r->bytes / 1e6, r->pairs);
    printf(r->wrong > 0 ? "WRONG in %u frames\n" : "right\n", r->wrong);
  }
}

/* Every frame: its pairs, and what each peer took for it. */
static void printEach(const pnFrames *frames, uint32_t frameCount, const Arguments *a, Result *const *results) {
  printf("%7s %9s", "frame", "pairs");
  for (uint32_t i = 0; i < a->peerCount; ++i) printf(" %16.16s", results[i]->done ? a->peers[i] : "");
  for (uint32_t k = 0; k < frameCount; ++k) {
    printf("\n%7u %9zu", k, frames->pairCounts[k]);
    for (uint32_t i = 0; i < a->peerCount; ++i) printf(" %16.4f", results[i]->done ? results[i]->frame[k] : 0);
  }
  printf("\n");
}

/* What counts of a peer: the usual frame, the worst, the first, and what they cost in memory. */
static void record(const pnFrames *frames, uint32_t frameCount, const Arguments *a, Result *const *results) {
  pn_recordScene("world", frames->sceneName);
  pn_record("truth", "triangles", frames->triangleCount);
  pn_record("truth", "bodies", frames->input.bodyCount);
  for (uint32_t i = 0; i < a->peerCount; ++i) {
    const Result *r = results[i];
    if (!r->done) continue;
    Figures f = figuresOf(r, frameCount);
    pn_record(a->peers[i], "create ms", r->create);
    pn_record(a->peers[i], "first frame ms", r->frame[0]);
    pn_record(a->peers[i], "median ms", f.median);
    pn_record(a->peers[i], "99 % ms", f.high);
    pn_record(a->peers[i], "worst ms", f.worst);
    pn_record(a->peers[i], "pairs of worst over median", worstPairs(frames, r, frameCount));
    pn_record(a->peers[i], "first tenth ms", f.early);
    pn_record(a->peers[i], "last tenth ms", f.late);
    pn_record(a->peers[i], "MB", 1e-6 * (double)r->bytes);
    pn_record(a->peers[i], "pairs", (double)r->pairs);
    pn_record(a->peers[i], "wrong frames", r->wrong);
    for (uint32_t k = 0; k < frameCount; k += frameCount / 100 + 1)
      pn_recordStep(a->peers[i], "ms by frame", k, r->frame[k]);
  }
}

static bool runScene(const Arguments *a, const char *scene) {
  pnFrames *frames = pn_labCreateFrames(scene, a->step);
  if (frames == NULL) return false;
  uint32_t frameCount = pn_labFrameCount(frames, MAX_FRAMES, a->frames);
  Result *results[MAX_PEERS];
  for (uint32_t i = 0; i < a->peerCount; ++i) {
    results[i] = pn_labShare(sizeof(Result));
    results[i]->create = INFINITY;
    for (uint32_t k = 0; k < frameCount; ++k) results[i]->frame[k] = INFINITY;
  }
  for (uint32_t pass = 0; pass < a->passes; ++pass)
    for (uint32_t i = 0; i < a->peerCount; ++i) playApart(frames, frameCount, a->peers[i], results[i]);
  printScene(frames, frameCount, a, results);
  if (a->each) printEach(frames, frameCount, a, results);
  record(frames, frameCount, a, results);
  for (uint32_t i = 0; i < a->peerCount; ++i) pn_labUnshare(results[i], sizeof(Result));
  pn_labDestroyFrames(frames);
  return true;
}

/* ---------------------------------------------------------------- the program */

static bool readArguments(int count, char **words, Arguments *a) {
  for (int i = 1; i < count; ++i) {
    bool more = i + 1 < count;
    if (strcmp(words[i], "--peer") == 0 && more && a->peerCount < MAX_PEERS) {
      a->peers[a->peerCount++] = words[++i];
    } else if (strcmp(words[i], "--passes") == 0 && more) {
      a->passes = (uint32_t)atoi(words[++i]);
    } else if (strcmp(words[i], "--step") == 0 && more) {
      a->step = (uint32_t)atoi(words[++i]);
    } else if (strcmp(words[i], "--frames") == 0 && more) {
      a->frames = (uint32_t)atoi(words[++i]);
    } else if (strcmp(words[i], "--each") == 0) {
      a->each = true;
    } else if (words[i][0] != '-' && a->sceneCount < MAX_SCENES) {
      a->scenes[a->sceneCount++] = words[i];
    } else {
      fprintf(stderr,
              "bench_world [--peer SPEC]... [--passes N] [--step N] [--frames N] [--each] [SCENE]...\n"
              "scenes and peers: bench_free --list; without them the usual ones\n");
      return false;
    }
  }
  return true;
}

int main(int count, char **words) {
  Arguments a = {.passes = 3};
  pn_recordArguments(&count, words);
  if (!readArguments(count, words, &a)) return 2;
  for (uint32_t i = 0; a.peerCount == 0 || (i > 0 && i < sizeof usualPeers / sizeof usualPeers[0]); ++i)
    a.peers[a.peerCount++] = usualPeers[i];
  bool usual = a.sceneCount == 0;
  for (uint32_t i = 0; usual && i < sizeof usualScenes / sizeof usualScenes[0]; ++i)
    a.scenes[a.sceneCount++] = usualScenes[i];
  char machine[512];
  pn_labMachine(machine, sizeof machine);
  printf(
      "%s\n%u passes, milliseconds of one thread; frames in order, first frame apart; ratio of medians to the best of "
      "the "
      "others\n",
      machine, a.passes);
  bool ok = true;
  for (uint32_t i = 0; i < a.sceneCount; ++i) ok &= runScene(&a, a.scenes[i]);
  return ok ? 0 : 1;
}
