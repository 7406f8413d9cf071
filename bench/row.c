/* row.c: one peer in a process of its own.
 *
 * Every peer runs in a child of the program, as it would run in a program of its own: with its own heap, its own
 * memory figure, without the others' leavings, and when it crashes the others go on. The children sleep until it is
 * their turn: the parent sends the number of a block of frames, the child measures it, puts the figures into memory
 * that both see, and answers. */
#define _GNU_SOURCE
#include "clock.h"
#include "lab.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the parent asks for: frames begin to end. Nothing (end 0) is goodbye. */
typedef struct Command {
  uint32_t begin, end;
} Command;

/* ---------------------------------------------------------------- clock, core, memory */

/* Time of a row: what its one thread spent on the processor, or with several threads the time that passed. On a machine
 * that others use too, a long frame is nearly always interrupted and a short one hardly ever; the processor's own
 * account leaves the interruptions out, or the fast engines would look better than they are. */
static double milliseconds(const pnRow *row) {
  return 1e3 * (row->threads > 1 ? pnGetTime() : pn_threadTime());
}

/* What asking the clock costs by itself; it is in every difference of two readings, and taken out again. */
static double clockCost(const pnRow *row) {
  double least = INFINITY;
  for (int i = 0; i < 1000; ++i) {
    double start = milliseconds(row);
    least = fmin(least, milliseconds(row) - start);
  }
  return least;
}

/* The cores this process was given (taskset), asked for once, before anybody is pinned. */
static const cpu_set_t *givenCores(void) {
  static cpu_set_t given;
  static bool known;
  if (!known && sched_getaffinity(0, sizeof given, &given) != 0) {
    CPU_ZERO(&given);
    for (long i = 0; i < sysconf(_SC_NPROCESSORS_CONF) && i < CPU_SETSIZE; ++i) CPU_SET(i, &given);
  }
  known = true;
  return &given;
}

void pn_labPin(int core) {
  cpu_set_t set = *givenCores();
  if (core >= 0) {
    CPU_ZERO(&set);
    CPU_SET(core, &set);
  }
  sched_setaffinity(0, sizeof set, &set);
}

/* Bytes of the process in memory. */
static size_t residentBytes(void) {
  FILE *file = fopen("/proc/self/statm", "r");
  long total = 0, resident = 0;
  if (file != NULL) {
    if (fscanf(file, "%ld %ld", &total, &resident) != 2) resident = 0;
    fclose(file);
  }
  return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* The core of the settings; the last one that was given when none is named: the first one usually does the system's work. */
static int chosenCore(const pnLabSettings *settings) {
  int core = CPU_SETSIZE - 1;
  while (core > 0 && !CPU_ISSET(core, givenCores())) --core;
  return settings->core >= 0 ? settings->core : core;
}

/* Memory, filled with zeros, that a child and its parent see alike. */
void *pn_labShare(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    fprintf(stderr, "bench: out of memory for %zu shared bytes\n", size);
    exit(1);
  }
  return memory;
}

void pn_labUnshare(void *memory, size_t size) {
  if (memory != NULL) munmap(memory, size);
}

/* ---------------------------------------------------------------- the child: measuring */

static void keepLeast(double *least, double value) {
  *least = value < *least ? value : *least;
}

/* Marks a frame, and says whether it was unmarked before. */
static bool mark(pnRow *row, uint32_t frame, uint8_t what) {
  bool isNew = (row->marks[frame] & what) == 0;
  row->marks[frame] |= what;
  return isNew;
}

/* Is the answer right? In every pass: a peer with threads may be right once and wrong the next time. */
static void checkAnswer(const pnFrames *frames, pnRow *row, uint32_t frame, pnBenchPairs *pairs) {
  pairs->count = 0;
  row->peer->collect(row->object, pairs);
  uint64_t hash = pn_benchHash(pairs);
  if (!row->peer->isFloor && hash != frames->hashes[frame]) row->wrongFrames += mark(row, frame, PN_MARK_WRONG);
  if ((row->marks[frame] & PN_MARK_DONE) == 0) {
    /* a frame number in it, so that two exchanged frames show */
    row->hash += hash * (2 * (uint64_t)frame + 1);
    row->pairSum += pairs->count;
  }
  if (frame == frames->frameCount - 1) {
    row->lastPairs = pairs->count;
    memset(&row->lastCost, 0, sizeof row->lastCost);
    if (row->peer->getCost != NULL) row->peer->getCost(row->object, &row->lastCost);
  }
}

/* Keeps what a peer tells about the parts of its search. It reads a clock that runs on while others have the processor,
 * so parts that sum to more than the whole are scaled to it: interruptions fall on them in proportion. */
static void keepParts(pnRow *row, uint32_t frame, double whole) {
  pnPeerCost cost = {0};
  if (row->peer->getCost != NULL) {
    row->peer->getCost(row->object, &cost);
    double sum = (cost.updateSeconds + cost.traverseSeconds + cost.exactSeconds) * 1e3;
    double scale = sum > whole ? 1e3 * whole / sum : 1e3;
    keepLeast(&row->inner[frame], cost.updateSeconds * scale);
    keepLeast(&row->traverse[frame], cost.traverseSeconds * scale);
    keepLeast(&row->exact[frame], cost.exactSeconds * scale);
  } else {
    row->inner[frame] = 0.0;
  }
}

/* Reads so many megabytes that what a peer had in the caches is gone. */
static void coolDown(uint32_t megabytes) {
  static volatile char *memory;
  static volatile char sum;
  size_t size = (size_t)megabytes << 20;
  if (memory == NULL && size > 0) memory = pn_labShare(size);
  for (size_t i = 0; i < size; i += 64) sum = (char)(sum + memory[i]++);
}

/* Reads the vertices of a frame: a program has just written them when it hands them over, and did not leave them ten frames ago. */
static void warmUp(const pnFrames *frames, uint32_t frame) {
  static volatile float sum;
  const float *const *vertices = pn_labVertices(frames, frame);
  float all = 0;
  for (uint32_t body = 0; body < frames->input.bodyCount; ++body)
    for (size_t i = 0; i < 3 * (size_t)frames->input.bodies[body].vertexCount; i += 16) all += vertices[body][i];
  sum = sum + all;
}

/* One peer, one frame: update, all pairs. */
static void measureAll(const pnFrames *frames, uint32_t cold, pnRow *row, uint32_t frame, pnBenchPairs *pairs) {
  const pnPeer *peer = row->peer;
  if (cold == 0) warmUp(frames, frame);
  coolDown(cold);
  double start = milliseconds(row);
  peer->update(row->object, pn_labVertices(frames, frame));
  double updated = milliseconds(row);
  peer->findAll(row->object);
  double end = milliseconds(row);
  keepLeast(&row->update[frame], fmax(0.0, updated - start - row->clockCost));
  keepLeast(&row->all[frame], fmax(0.0, end - updated - row->clockCost));
  keepParts(row, frame, end - updated);
  checkAnswer(frames, row, frame, pairs);
  row->framesDone += mark(row, frame, PN_MARK_DONE);
}

/* Update, first pair, of another object like it, which is asked nothing else: what a peer remembers is of the frame before, and not the
 * answer. Its update counts, too, if it is the faster one; of a cold frame only the first is cold. */
static void measureFirst(const pnFrames *frames, uint32_t cold, pnRow *row, uint32_t frame) {
  const pnPeer *peer = row->peer;
  warmUp(frames, frame);
  double start = milliseconds(row);
  peer->update(row->another, pn_labVertices(frames, frame));
  double updated = milliseconds(row);
  int found = peer->findFirst(row->another);
  double end = milliseconds(row);
  if (cold == 0) keepLeast(&row->update[frame], fmax(0.0, updated - start - row->clockCost));
  if (found < 0) {
    row->canFirst = false;
    return;
  }
  keepLeast(&row->first[frame], fmax(0.0, end - updated - row->clockCost));
  if ((found != 0) != (frames->pairCounts[frame] > 0)) row->wrongFirsts += mark(row, frame, PN_MARK_WRONG_FIRST);
}

/* A block of frames: all pairs of each, then first pairs, so that each object finds the caches as its frame before has left them. */
static void measureBlock(const pnFrames *frames, uint32_t cold, pnRow *row, Command block, pnBenchPairs *pairs) {
  uint32_t end = block.end < frames->frameCount ? block.end : frames->frameCount;
  for (int first = 0; first < 2; ++first) {
    for (uint32_t frame = block.begin; frame < end; ++frame) {
      /* strides count from the last frame, so that everybody does that one */
      if ((frames->frameCount - 1 - frame) % row->stride != 0) continue;
      if (first) measureFirst(frames, cold, row, frame);
      else measureAll(frames, cold, row, frame, pairs);
    }
  }
}

/* How many frames to leave out so that the passes over the rest take about settings->seconds. The middle and the
 * last frame are tried, twice each, as the first time may be disturbed. */
static void chooseStride(const pnFrames *frames, const pnLabSettings *settings, pnRow *row) {
  double worst = 0.0;
  for (uint32_t i = 1; i <= 2; ++i) {
    double least = INFINITY;
    for (int again = 0; again < 2; ++again) {
      double start = milliseconds(row);
      row->peer->update(row->object, pn_labVertices(frames, (frames->frameCount - 1) * i / 2));
      row->peer->findAll(row->object);
      keepLeast(&least, milliseconds(row) - start);
    }
    worst = fmax(worst, least);
  }
  /* a frame is about two updates and searches */
  double all = 2.0 * worst * frames->frameCount * settings->passes * 1e-3;
  /* powers of two, so that of any two rows one has all frames of the other */
  row->stride = 1;
  while (all / row->stride > settings->seconds && row->stride < frames->frameCount) row->stride *= 2;
}

/* ---------------------------------------------------------------- the child: life */

static void *makeObject(const pnFrames *frames, const pnRow *row) {
  return row->peer->create(&frames->input, row->spec + strcspn(row->spec, ":"));
}

/* Builds the peer and warms it up; false when it cannot do the scene. */
static bool startPeer(const pnFrames *frames, const pnLabSettings *settings, pnRow *row) {
  /* a peer with several threads may use all cores, and its threads inherit them */
  pn_labPin(row->threads > 1 ? -1 : chosenCore(settings));
  row->clockCost = clockCost(row);
  size_t before = residentBytes();
  double start = milliseconds(row);
  row->object = makeObject(frames, row);
  row->buildTime = milliseconds(row) - start;
  if (row->object == NULL) return false;
  /* one frame to warm up: buffers grow, pages come in */
  row->peer->update(row->object, pn_labVertices(frames, frames->frameCount - 1));
  row->peer->findAll(row->object);
  size_t after = residentBytes();
  row->byteCount = after > before ? after - before : 0;
  row->another = makeObject(frames, row);
  if (row->another == NULL) return false;
  row->peer->update(row->another, pn_labVertices(frames, frames->frameCount - 1));
  row->peer->findFirst(row->another);
  chooseStride(frames, settings, row);
  return true;
}

/* Answers commands until goodbye, or until the parent is gone. */
static void runChild(const pnFrames *frames, const pnLabSettings *settings, pnRow *row, int commands, int answers) {
  pnBenchPairs pairs = {0};
  char answer = startPeer(frames, settings, row) ? 'y' : 'n';
  Command command = {0, 0};
  while (write(answers, &answer, 1) == 1 && answer == 'y' &&
         read(commands, &command, sizeof command) == sizeof command && command.end > 0)
    measureBlock(frames, settings->cold, row, command, &pairs);
  if (row->object != NULL) row->peer->destroy(row->object);
  if (row->another != NULL) row->peer->destroy(row->another);
  free(pairs.data);
}

/* ---------------------------------------------------------------- the parent */

static const pnPeer *findPeer(const char *spec) {
  size_t length = strcspn(spec, ":");
  for (uint32_t i = 0; pn_peers[i] != NULL; ++i)
    if (strlen(pn_peers[i]->name) == length && strncmp(spec, pn_peers[i]->name, length) == 0) return pn_peers[i];
  return NULL;
}

/* An array with "not yet measured" in it. */
static double *makeTimes(uint32_t count) {
  double *times = pn_labShare(sizeof(double) * count);
  for (uint32_t i = 0; i < count; ++i) times[i] = INFINITY;
  return times;
}

/* Waits for the child's answer; anything but 'y' means that it could not, or that it is gone. */
static bool waitAnswer(pnRow *row) {
  char answer = 0;
  return read(row->answers, &answer, 1) == 1 && answer == 'y';
}

/* Starts the child. False when there is no process to be had. */
static bool forkChild(const pnFrames *frames, const pnLabSettings *settings, pnRow *row) {
  int down[2], up[2];
  if (pipe(down) != 0 || pipe(up) != 0) return false;
  fflush(NULL);
  row->process = fork();
  if (row->process == 0) {
    /* when the parent is gone there is nobody to work for */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(down[1]);
    close(up[0]);
    runChild(frames, settings, row, down[0], up[1]);
    _exit(0);
  }
  close(down[0]);
  close(up[1]);
  row->commands = down[1];
  row->answers = up[0];
  return row->process > 0;
}

static void destroyRow(pnRow *row) {
  Command goodbye = {0, 0};
  if (row->process > 0) {
    /* a child that has died is past caring */
    (void)!write(row->commands, &goodbye, sizeof goodbye);
    close(row->commands);
    close(row->answers);
    waitpid((pid_t)row->process, NULL, 0);
  }
  double *times[] = {row->update, row->all, row->first, row->traverse, row->exact, row->inner};
  for (size_t i = 0; i < sizeof times / sizeof times[0]; ++i) pn_labUnshare(times[i], sizeof(double) * row->frameCount);
  pn_labUnshare(row->marks, row->frameCount);
  pn_labUnshare(row, sizeof *row);
}

void pn_labDestroyRows(pnRow **rows, uint32_t rowCount) {
  for (uint32_t i = 0; i < rowCount; ++i) destroyRow(rows[i]);
}

static pnRow *createRow(const pnFrames *frames, const pnLabSettings *settings, const char *spec) {
  const pnPeer *peer = findPeer(spec);
  if (peer == NULL) {
    fprintf(stderr, "bench: no peer \"%s\" in this build\n", spec);
    return NULL;
  }
  pnRow *row = pn_labShare(sizeof(pnRow));
  row->peer = peer;
  snprintf(row->spec, sizeof row->spec, "%s", spec);
  row->threads = pn_optionNumber(spec + strcspn(spec, ":"), "threads", 1);
  row->frameCount = frames->frameCount;
  row->update = makeTimes(frames->frameCount);
  row->all = makeTimes(frames->frameCount);
  row->first = makeTimes(frames->frameCount);
  row->traverse = makeTimes(frames->frameCount);
  row->exact = makeTimes(frames->frameCount);
  row->inner = makeTimes(frames->frameCount);
  row->marks = pn_labShare(frames->frameCount);
  row->canFirst = true;
  row->stride = 1;
  if (!forkChild(frames, settings, row) || !waitAnswer(row)) {
    fprintf(stderr, "bench: %s cannot do scene %s, or does not know these options\n", spec, frames->sceneName);
    destroyRow(row);
    return NULL;
  }
  return row;
}

uint32_t pn_labCreateRows(const pnFrames *frames, const pnLabSettings *settings, const char *const *specs,
                          uint32_t specCount, pnRow **outRows) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < specCount; ++i) {
    outRows[count] = createRow(frames, settings, specs[i]);
    count += outRows[count] != NULL;
  }
  return count;
}

void pn_labRunRow(pnRow *row, uint32_t begin, uint32_t end) {
  Command command = {begin, end};
  if (!row->crashed && (write(row->commands, &command, sizeof command) != sizeof command || !waitAnswer(row))) {
    fprintf(stderr, "bench: %s has crashed between frames %u and %u\n", row->spec, begin, end);
    row->crashed = true;
  }
}
