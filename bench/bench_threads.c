/* bench_threads: the world as a new user has it, on one thread and on more.
 *
 *   bench_threads [--threads N,N,...] [--passes N] [--step N] [--frames N] [--share] [--dealt] [--apart] [--loops]
 *   [--pause MS] [--rows FILE] [SCENE]...
 *
 * Every pass plays all frames in order with each number of threads, taking turns; of every frame the least time over the passes
 * counts, then the median over the frames in which something meets. Times are those of the clock on the wall and are worth something
 * only where nobody else is at work. With --share vertices are shared and not copied. Beside the whole frame, vertices set and pairs found, stands where it goes:
 *
 *   serial   outside of parallel loops: one thread at work, the others wait
 *   wait     inside of them, what workers stand still for want of work, or come late: the time of loops less the work in them
 *            divided by the number of threads
 *   work     what all threads together do inside of loops, over the whole frame on one thread less `serial`: above 1 where they
 *            hinder each other
 *
 * Loops are timed by hooks around those of the pool, as a caller with a job system of his own would write them, and looking at the clock
 * twice in every range of every loop takes some time of a short frame: so each pass plays twice, and the whole frame is that without hooks.
 *
 * With --dealt one thread runs the ranges of all loops, one after the other, each for the worker who has had least to do so far, and a loop
 * takes as long as the longest of these shares. So the frame is what it would be if workers did not hinder each other and a loop
 * began at no cost: how far the code can be divided, on a machine that need not have the cores. (Where there are more workers than
 * cores nobody relieves others, and jobs are dealt in more and smaller parts.)
 *
 * With --apart a column says what the machine gives to as many threads that have nothing to do with each other: worlds of one thread each play the
 * same frame at the same time, as many as there are threads, and the time until the last is done counts. Cores that share what they
 * calculate with, and slow down together, show there. It is no upper bound: copies also take as many times the memory.
 *
 * With --loops each loop of a frame has a line below, in microseconds, of the frames with as many loops as most have: how long one thread was
 * at work before it, how long it took, what it would have taken if all had worked all the time, and when the first and the last
 * worker were done.
 *
 * With --pause nothing is done for so many milliseconds between frames, as in a program that has other things to do or waits for a
 * screen: workers fall asleep, and so may cores. */
#include "lab.h"
#include "record.h"

#include "pinch/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_FRAMES 1024
#define MAX_COUNTS 8

static const char *const usualScenes[] = {"s1-20480", "s1-327680", "s2", "s4", "cloth-ball"};

#define MAX_LOOPS 16

/* One loop of a frame, in seconds; the last two since it began. */
typedef struct LoopTimes {
  double before, took, share, firstDone, lastDone;
} LoopTimes;

typedef struct Frame {
  double total, serial, loops, work, apart;
  uint32_t loopCount;
  LoopTimes times[MAX_LOOPS];
} Frame;

/* One number of threads. */
typedef struct Team {
  uint32_t threads, wrong;
  Frame frames[MAX_FRAMES]; /* with hooks */
  double bare[MAX_FRAMES];  /* without: the whole frame */
  double apart[MAX_FRAMES]; /* as many worlds, at the same time */
} Team;

typedef struct Arguments {
  uint32_t threads[MAX_COUNTS], counts, passes, step, frames, sceneCount;
  double pause; /* seconds */
  bool share, dealt, apart, loops;
  const char *scenes[16];
} Arguments;

static void check(pnResult result) {
  if (result == PN_OK) return;
  fprintf(stderr, "bench_threads: %s: %s\n", pnResult_Text(result), pnGetMessage());
  exit(1);
}

/* ---------------------------------------------------------------- hooks */

typedef struct Hooks {
  pnTasks pool;
  bool dealt;
  double loops, spent; /* what loops have taken, by the shares of workers where they are dealt, and by the clock */
  uint32_t loopCount;
  double lastEnd; /* of the loop before, or when the frame began */
  LoopTimes times[MAX_LOOPS];
  struct {
    double work, done; /* and when its last range was */
    char apart[48];    /* workers write to lines of their own */
  } workers[PN_MAX_WORKERS];
} Hooks;

typedef struct Loop {
  Hooks *hooks;
  pnTaskFcn *task;
  void *context;
} Loop;

static void runRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  Loop *loop = context;
  double start = pnGetTime();
  loop->task(loop->context, begin, end, worker);
  double done = pnGetTime();
  loop->hooks->workers[worker].work += done - start;
  loop->hooks->workers[worker].done = done;
}

/* The longest share. */
static double runDealt(Loop *loop, uint32_t count, uint32_t grain) {
  double shares[PN_MAX_WORKERS] = {0}, longest = 0;
  for (uint32_t at = 0, end; at < count; at = end) {
    uint32_t least = 0;
    end = count - at > grain ? at + grain : count;
    for (uint32_t w = 1; w < loop->hooks->pool.workerCount; ++w) least = shares[w] < shares[least] ? w : least;
    double start = pnGetTime();
    runRange(loop, at, end, least);
    shares[least] += pnGetTime() - start;
    longest = fmax(longest, shares[least]);
  }
  return longest;
}

static double workOfAll(const Hooks *hooks) {
  double work = 0;
  for (uint32_t w = 0; w < hooks->pool.workerCount; ++w) work += hooks->workers[w].work;
  return work;
}

/* Those who came too late to do anything in it are not counted among who was done. */
static LoopTimes timesOf(const Hooks *hooks, double start, double took, double workBefore) {
  LoopTimes t = {.before = start - hooks->lastEnd, .took = took, .firstDone = took};
  t.share = (workOfAll(hooks) - workBefore) / hooks->pool.workerCount;
  for (uint32_t w = 0; w < hooks->pool.workerCount; ++w) {
    double done = hooks->workers[w].done - start;
    if (done <= 0) continue;
    t.firstDone = fmin(t.firstDone, done);
    t.lastDone = fmax(t.lastDone, done);
  }
  return t;
}

static void parallelFor(void *user, pnTaskFcn *task, void *context, uint32_t count, uint32_t grain) {
  Hooks *hooks = user;
  Loop loop = {hooks, task, context};
  double workBefore = workOfAll(hooks);
  double start = pnGetTime(), longest = hooks->dealt ? runDealt(&loop, count, grain) : 0;
  if (!hooks->dealt) hooks->pool.parallelFor(hooks->pool.user, runRange, &loop, count, grain);
  double spent = pnGetTime() - start;
  hooks->spent += spent;
  hooks->loops += hooks->dealt ? longest : spent;
  if (hooks->loopCount < MAX_LOOPS) hooks->times[hooks->loopCount] = timesOf(hooks, start, spent, workBefore);
  ++hooks->loopCount;
  hooks->lastEnd = pnGetTime();
}

static void beginHooks(Hooks *hooks) {
  hooks->loops = hooks->spent = 0;
  hooks->loopCount = 0;
  memset(hooks->workers, 0, sizeof hooks->workers);
  hooks->lastEnd = pnGetTime();
}

/* ---------------------------------------------------------------- a life of a world */

typedef struct Life {
  pnWorld *world;
  pnMesh **meshes;
  pnBodyId *bodies;
  pnBodyVertices *moves; /* of a frame */
  pnPool *pool;
  Hooks hooks;
} Life;

static Life *beginLife(const pnFrames *frames, uint32_t threads, bool hooked, bool dealt) {
  Life *life = calloc(1, sizeof(Life));
  uint32_t count = frames->input.bodyCount;
  life->meshes = calloc(count, sizeof(pnMesh *));
  life->bodies = calloc(count, sizeof(pnBodyId));
  life->moves = calloc(count, sizeof(pnBodyVertices));
  pnWorldDef worldDef = pnDefaultWorldDef();
  if (threads > 1) {
    if (!dealt) check(pnCreatePool(threads, &life->pool));
    life->hooks.dealt = dealt;
    life->hooks.pool = dealt ? (pnTasks){.workerCount = threads} : pnPool_GetTasks(life->pool);
    worldDef.tasks = life->hooks.pool;
    if (hooked) worldDef.tasks = (pnTasks){.workerCount = threads, .parallelFor = parallelFor, .user = &life->hooks};
  }
  check(pnCreateWorld(&worldDef, &life->world));
  for (uint32_t i = 0; i < count; ++i) {
    const pnBenchBody *body = &frames->input.bodies[i];
    pnMeshDef meshDef = pnDefaultMeshDef();
    meshDef.vertices = frames->input.vertices[i];
    meshDef.vertexCount = body->vertexCount;
    meshDef.triangles = body->triangles;
    meshDef.triangleCount = body->triangleCount;
    meshDef.weld = false;
    check(pnCreateMesh(&meshDef, &life->meshes[i]));
    pnBodyDef bodyDef = pnDefaultBodyDef();
    bodyDef.mesh = life->meshes[i];
    bodyDef.self = frames->input.self;
    bodyDef.selfFilter.ring = 1;
    bodyDef.userData = (void *)(uintptr_t)i;
    check(pnWorld_CreateBody(life->world, &bodyDef, &life->bodies[i]));
  }
  return life;
}

static void endLife(Life *life, uint32_t bodyCount) {
  pnDestroyWorld(life->world);
  for (uint32_t i = 0; i < bodyCount; ++i) pnDestroyMesh(life->meshes[i]);
  pnDestroyPool(life->pool);
  free(life->meshes);
  free(life->bodies);
  free(life->moves);
  free(life);
}

/* The pairs of the last frame as the laboratory counts them. */
static void collect(const Life *life, const pnFrames *frames, uint32_t contactCount, pnBenchPairs *out) {
  const pnContact *contacts = pnWorld_GetContacts(life->world);
  const pnPair *pairs = pnWorld_GetPairs(life->world);
  out->count = 0;
  for (uint32_t i = 0; i < contactCount; ++i) {
    uint32_t a = (uint32_t)(uintptr_t)pnBody_GetUserData(life->world, contacts[i].a);
    uint32_t b = (uint32_t)(uintptr_t)pnBody_GetUserData(life->world, contacts[i].b);
    const uint32_t *t = frames->input.bodies[a].triangles;
    for (size_t k = 0; k < contacts[i].pairCount; ++k) {
      pnPair pair = pairs[contacts[i].firstPair + k];
      if (a == b && pn_benchNeighbours(t + 3 * (size_t)pair.a, t + 3 * (size_t)pair.b)) continue;
      pn_benchAdd(out, a <= b ? a : b, a <= b ? b : a, a <= b ? pair.a : pair.b, a <= b ? pair.b : pair.a);
    }
  }
}

/* What has moved is set: shared body by body, copied all at once. */
static void setVertices(Life *life, const pnFrames *frames, const float *const *last, const float *const *vertices,
                        bool share) {
  uint32_t count = 0;
  for (uint32_t b = 0; b < frames->input.bodyCount; ++b) {
    pnBodyVertices move = {life->bodies[b], vertices[b], frames->input.bodies[b].vertexCount};
    if (vertices[b] == last[b]) continue;
    if (share) check(pnBody_ShareVertices(life->world, move.body, move.vertices, move.count));
    else life->moves[count++] = move;
  }
  check(pnWorld_SetVertices(life->world, life->moves, count));
}

static void pauseFor(double seconds) {
  struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
  if (seconds > 0) nanosleep(&time, NULL);
}

/* A life with hooks around loops, or without. */
static void play(const Arguments *a, const pnFrames *frames, uint32_t frameCount, bool hooked, Team *team) {
  Life *life = beginLife(frames, team->threads, hooked, a->dealt);
  const float *const *last = frames->input.vertices;
  pnBenchPairs pairs = {0};
  for (uint32_t i = 0; i < frameCount; ++i) {
    const float *const *vertices = pn_labVertices(frames, i);
    pauseFor(a->pause);
    beginHooks(&life->hooks);
    double start = pnGetTime();
    setVertices(life, frames, last, vertices, a->share);
    pnFrame frame = pnWorld_Collide(life->world, NULL);
    Frame now = {.loops = life->hooks.loops, .loopCount = life->hooks.loopCount};
    now.serial = pnGetTime() - start - life->hooks.spent;
    now.total = now.serial + now.loops;
    memcpy(now.times, life->hooks.times, sizeof now.times);
    check(frame.result);
    now.work = workOfAll(&life->hooks);
    if (hooked && now.total < team->frames[i].total) team->frames[i] = now;
    if ((!hooked || a->dealt) && now.total < team->bare[i]) team->bare[i] = now.total;
    last = vertices;
    collect(life, frames, frame.contactCount, &pairs);
    team->wrong += pn_benchHash(&pairs) != frames->hashes[i];
  }
  free(pairs.data);
  endLife(life, frames->input.bodyCount);
}

/* ---------------------------------------------------------------- worlds apart */

typedef struct Apart {
  const pnFrames *frames;
  const float *const *last, *const *vertices;
  bool share;
  Life *lives[PN_MAX_WORKERS];
  uint32_t contactCounts[PN_MAX_WORKERS];
} Apart;

static void playApart(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  Apart *apart = context;
  for (uint32_t i = begin; i < end; ++i) {
    setVertices(apart->lives[i], apart->frames, apart->last, apart->vertices, apart->share);
    pnFrame frame = pnWorld_Collide(apart->lives[i]->world, NULL);
    check(frame.result);
    apart->contactCounts[i] = frame.contactCount;
  }
}

/* A life of as many worlds as there are threads. */
static void playAllApart(const Arguments *a, const pnFrames *frames, uint32_t frameCount, Team *team) {
  pnPool *pool;
  check(pnCreatePool(team->threads, &pool));
  pnTasks tasks = pnPool_GetTasks(pool);
  Apart *apart = calloc(1, sizeof(Apart));
  *apart = (Apart){.frames = frames, .last = frames->input.vertices, .share = a->share};
  for (uint32_t i = 0; i < team->threads; ++i) apart->lives[i] = beginLife(frames, 1, false, false);
  pnBenchPairs pairs = {0};
  for (uint32_t f = 0; f < frameCount; ++f) {
    apart->vertices = pn_labVertices(frames, f);
    pauseFor(a->pause);
    double start = pnGetTime();
    tasks.parallelFor(tasks.user, playApart, apart, team->threads, 1);
    team->apart[f] = fmin(team->apart[f], pnGetTime() - start);
    apart->last = apart->vertices;
    for (uint32_t i = 0; i < team->threads; ++i) {
      collect(apart->lives[i], frames, apart->contactCounts[i], &pairs);
      team->wrong += pn_benchHash(&pairs) != frames->hashes[f];
    }
  }
  free(pairs.data);
  for (uint32_t i = 0; i < team->threads; ++i) endLife(apart->lives[i], frames->input.bodyCount);
  free(apart);
  pnDestroyPool(pool);
}

/* ---------------------------------------------------------------- figures */

/* Medians over frames with hits, after the first. */
static Frame figuresOf(const pnFrames *frames, uint32_t frameCount, const Team *team) {
  double *values = malloc(sizeof(double) * MAX_FRAMES);
  Frame f = {0};
  double *out[5] = {&f.total, &f.serial, &f.loops, &f.work, &f.apart};
  for (int k = 0; k < 5; ++k) {
    uint32_t n = 0;
    for (uint32_t i = 1; i < frameCount; ++i) {
      const Frame *g = &team->frames[i];
      double all[5] = {team->bare[i], g->serial, g->loops, g->work, team->apart[i]};
      if (frames->pairCounts[i] > 0) values[n++] = 1e3 * all[k];
      f.loopCount = g->loopCount;
    }
    *out[k] = pn_labMedian(values, n);
  }
  free(values);
  return f;
}

/* How many loops most frames with hits have. */
static uint32_t usualLoops(const pnFrames *frames, uint32_t frameCount, const Team *team) {
  uint32_t with[MAX_LOOPS + 1] = {0}, best = 0;
  for (uint32_t i = 1; i < frameCount; ++i)
    if (frames->pairCounts[i] > 0 && team->frames[i].loopCount <= MAX_LOOPS) ++with[team->frames[i].loopCount];
  for (uint32_t n = 1; n <= MAX_LOOPS; ++n) best = with[n] > with[best] ? n : best;
  return best;
}

static void printLoops(const pnFrames *frames, uint32_t frameCount, const Team *team) {
  double *values = malloc(sizeof(double) * MAX_FRAMES);
  uint32_t loops = usualLoops(frames, frameCount, team);
  for (uint32_t l = 0; l < loops; ++l) {
    double medians[5];
    for (int k = 0; k < 5; ++k) {
      uint32_t n = 0;
      for (uint32_t i = 1; i < frameCount; ++i) {
        const LoopTimes *t = &team->frames[i].times[l];
        double all[5] = {t->before, t->took, t->share, t->firstDone, t->lastDone};
        if (frames->pairCounts[i] > 0 && team->frames[i].loopCount == loops) values[n++] = 1e6 * all[k];
      }
      medians[k] = pn_labMedian(values, n);
    }
    printf("%8s loop %u: one before it %.1f, took %.1f, shared %.1f, first done %.1f, last %.1f us\n", "", l + 1,
           medians[0], medians[1], medians[2], medians[3], medians[4]);
  }
  free(values);
}

static void printScene(const Arguments *a, const pnFrames *frames, uint32_t frameCount, Team *const *teams) {
  printf("\n%s: %u bodies, %u triangles, %u frames, %u with hits\n%8s %9s %7s %9s %9s %9s %7s %6s %7s %s\n",
         frames->sceneName, frames->input.bodyCount, frames->triangleCount, frameCount, frames->hitFrames, "threads",
         "ms", "times", "serial", "loops", "wait", "work", "loops", a->apart ? "apart" : "", "answer");
  pn_recordScene("threads", frames->sceneName);
  double one = 0;
  for (uint32_t t = 0; t < a->counts; ++t) {
    uint32_t threads = a->threads[t];
    Frame f = figuresOf(frames, frameCount, teams[t]);
    one = t == 0 ? f.total : one;
    double share = threads > 1 ? f.work / threads : f.total;
    char apart[16] = "";
    if (a->apart) snprintf(apart, sizeof apart, "%.2fx", threads * one / f.apart);
    printf("%8u %9.4f %6.2fx %9.4f %9.4f %9.4f %7.2f %6u %7s %s\n", threads, f.total, one / f.total,
           threads > 1 ? f.serial : 0, f.loops, threads > 1 ? f.loops - share : 0,
           threads > 1 ? f.work / (one - f.serial) : 1, f.loopCount, apart, teams[t]->wrong > 0 ? "WRONG" : "right");
    if (a->loops && threads > 1) printLoops(frames, frameCount, teams[t]);
    const char *method = a->dealt ? "dealt" : a->share ? "pinch:shared" : "pinch:default";
    pn_recordStep(method, "ms by threads", threads, f.total);
    pn_recordStep(method, "serial ms by threads", threads, threads > 1 ? f.serial : f.total);
    if (a->apart) pn_recordStep(method, "ms apart by threads", threads, f.apart);
    pn_recordStep(method, "wrong frames", threads, teams[t]->wrong);
  }
  fflush(stdout);
}

static bool runScene(const Arguments *a, const char *scene) {
  pnFrames *frames = pn_labCreateFrames(scene, a->step);
  if (frames == NULL) return false;
  uint32_t frameCount = pn_labFrameCount(frames, MAX_FRAMES, a->frames);
  Team *teams[MAX_COUNTS];
  for (uint32_t t = 0; t < a->counts; ++t) {
    teams[t] = calloc(1, sizeof(Team));
    teams[t]->threads = a->threads[t];
    for (uint32_t i = 0; i < frameCount; ++i)
      teams[t]->frames[i].total = teams[t]->bare[i] = teams[t]->apart[i] = INFINITY;
  }
  for (uint32_t pass = 0; pass < a->passes; ++pass)
    for (uint32_t t = 0; t < a->counts; ++t) {
      bool alone = teams[t]->threads == 1; /* whose loops are none */
      if (alone || !a->dealt) play(a, frames, frameCount, false, teams[t]);
      if (!alone) play(a, frames, frameCount, true, teams[t]);
      if (a->apart) playAllApart(a, frames, frameCount, teams[t]);
    }
  printScene(a, frames, frameCount, teams);
  for (uint32_t t = 0; t < a->counts; ++t) free(teams[t]);
  pn_labDestroyFrames(frames);
  return true;
}

/* ---------------------------------------------------------------- the program */

static void readThreads(Arguments *a, char *text) {
  a->counts = 0;
  for (char *word = strtok(text, ","); word != NULL && a->counts < MAX_COUNTS; word = strtok(NULL, ","))
    a->threads[a->counts++] = (uint32_t)atoi(word);
}

int main(int count, char **words) {
  Arguments a = {.threads = {1, 2}, .counts = 2, .passes = 3};
  pn_recordArguments(&count, words);
  for (int i = 1; i < count; ++i) {
    bool more = i + 1 < count;
    if (strcmp(words[i], "--share") == 0) a.share = true;
    else if (strcmp(words[i], "--dealt") == 0) a.dealt = true;
    else if (strcmp(words[i], "--apart") == 0) a.apart = true;
    else if (strcmp(words[i], "--loops") == 0) a.loops = true;
    else if (strcmp(words[i], "--threads") == 0 && more) readThreads(&a, words[++i]);
    else if (strcmp(words[i], "--passes") == 0 && more) a.passes = (uint32_t)atoi(words[++i]);
    else if (strcmp(words[i], "--step") == 0 && more) a.step = (uint32_t)atoi(words[++i]);
    else if (strcmp(words[i], "--pause") == 0 && more) a.pause = 1e-3 * atof(words[++i]);
    else if (strcmp(words[i], "--frames") == 0 && more) a.frames = (uint32_t)atoi(words[++i]);
    else if (words[i][0] != '-' && a.sceneCount < 16) a.scenes[a.sceneCount++] = words[i];
    else
      return fprintf(stderr,
                     "bench_threads [--threads N,N,...] [--passes N] [--step N] [--frames N] [--share] [--dealt] "
                     "[--apart] [--loops] [--pause MS] [SCENE]...\n"),
             2;
  }
  bool usual = a.sceneCount == 0, ok = a.counts > 0;
  for (uint32_t i = 0; usual && i < sizeof usualScenes / sizeof usualScenes[0]; ++i)
    a.scenes[a.sceneCount++] = usualScenes[i];
  char machine[512];
  pn_labMachine(machine, sizeof machine);
  printf("%s\n%u passes, milliseconds on the wall, medians over frames in which something meets\n", machine, a.passes);
  for (uint32_t i = 0; ok && i < a.sceneCount; ++i) ok = runScene(&a, a.scenes[i]);
  return ok ? 0 : 1;
}
