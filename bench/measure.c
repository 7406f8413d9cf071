/* measure.c: peers take turns over the frames of a scene; every answer is checked against the truth.
 *
 * Why in turns: a shared machine is faster in one minute than in the next, and a ratio of two times is only worth
 * something when both were taken in the same minute. Why in blocks of several frames and not frame by frame: a peer
 * that has just been thrown out of the cache by nine others is not what anybody runs. */
#define _GNU_SOURCE
#include "lab.h"

#include <malloc.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---------------------------------------------------------------- clock, core, memory */

/* Time of a row: what its one thread spent on the processor, or with several threads the time that passed. On a machine
 * that others use too, a long frame is nearly always interrupted and a short one hardly ever; the processor's own
 * account leaves the interruptions out, or the fast engines would look better than they are. */
static double milliseconds(const pnRow *row) {
  if (row->threads > 1) {
    return pnGetTime() * 1e3;
  }
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1e3 + now.tv_nsec * 1e-6;
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

void pn_labPin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  long count = sysconf(_SC_NPROCESSORS_CONF);
  for (long i = 0; i < count && i < CPU_SETSIZE; ++i) {
    if (core < 0 || i == core) {
      CPU_SET(i, &set);
    }
  }
  /* where it is not allowed the peers run unpinned */
  (void)sched_setaffinity(0, sizeof set, &set);
}

/* Bytes of the process in memory. */
static size_t residentBytes(void) {
  FILE *file = fopen("/proc/self/statm", "r");
  long total = 0, resident = 0;
  if (file != NULL) {
    if (fscanf(file, "%ld %ld", &total, &resident) != 2) {
      resident = 0;
    }
    fclose(file);
  }
  return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

pnLabSettings pn_defaultLabSettings(void) {
  return (pnLabSettings){.passes = 3, .block = 10, .seconds = 30.0, .core = -1};
}

/* The core of the settings; the last one when none is named: the first one usually does the system's work. */
static int chosenCore(const pnLabSettings *settings) {
  return settings->core >= 0 ? settings->core : (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
}

/* A peer with several threads may use all cores. */
static void pinFor(const pnLabSettings *settings, const pnRow *row) {
  pn_labPin(row->threads > 1 ? -1 : chosenCore(settings));
}

/* ---------------------------------------------------------------- rows */

static const pnPeer *findPeer(const char *spec) {
  size_t length = strcspn(spec, ":");
  for (uint32_t i = 0; pn_peers[i] != NULL; ++i) {
    if (strlen(pn_peers[i]->name) == length && strncmp(spec, pn_peers[i]->name, length) == 0) {
      return pn_peers[i];
    }
  }
  return NULL;
}

static void destroyRow(pnRow *row) {
  if (row->object != NULL) {
    row->peer->destroy(row->object);
  }
  free(row->update);
  free(row->all);
  free(row->first);
  free(row->traverse);
  free(row->exact);
  free(row->inner);
  free(row->done);
  memset(row, 0, sizeof *row);
}

void pn_labDestroyRows(pnRow *rows, uint32_t rowCount) {
  for (uint32_t i = 0; i < rowCount; ++i) {
    destroyRow(&rows[i]);
  }
}

/* An array with "not yet measured" in it. */
static double *makeTimes(uint32_t count) {
  double *times = malloc(sizeof(double) * count);
  for (uint32_t i = 0; times != NULL && i < count; ++i) {
    times[i] = INFINITY;
  }
  return times;
}

static bool createRow(const pnFrames *frames, const pnLabSettings *settings, const char *spec, pnRow *row) {
  memset(row, 0, sizeof *row);
  row->peer = findPeer(spec);
  if (row->peer == NULL) {
    fprintf(stderr, "bench: no peer \"%s\" in this build\n", spec);
    return false;
  }
  snprintf(row->spec, sizeof row->spec, "%s", spec);
  const char *options = spec + strcspn(spec, ":");
  row->threads = pn_optionNumber(options, "threads", 1);
  row->update = makeTimes(frames->frameCount);
  row->all = makeTimes(frames->frameCount);
  row->first = makeTimes(frames->frameCount);
  row->traverse = makeTimes(frames->frameCount);
  row->exact = makeTimes(frames->frameCount);
  row->inner = makeTimes(frames->frameCount);
  row->done = calloc(frames->frameCount, sizeof(bool));
  row->canFirst = true;
  row->clockCost = clockCost(row);

  /* build, pinned as it will run, so that threads it starts inherit the right cores */
  pinFor(settings, row);
  size_t before = residentBytes();
  double start = milliseconds(row);
  row->object = row->peer->create(&frames->input, options);
  row->buildTime = milliseconds(row) - start;
  if (row->object == NULL) {
    fprintf(stderr, "bench: %s cannot do scene %s, or does not know these options\n", spec, frames->sceneName);
    destroyRow(row);
    return false;
  }

  /* one frame to warm up: buffers grow, pages come in */
  row->peer->update(row->object, pn_labVertices(frames, frames->frameCount - 1));
  row->peer->findAll(row->object);
  size_t after = residentBytes();
  row->byteCount = after > before ? after - before : 0;
  return true;
}

uint32_t pn_labCreateRows(const pnFrames *frames, const pnLabSettings *settings, const char *const *specs,
                          uint32_t specCount, pnRow *outRows) {
  /* what earlier peers have freed goes back to the system, so that it does not hide what the next one takes */
  malloc_trim(0);
  uint32_t count = 0;
  for (uint32_t i = 0; i < specCount; ++i) {
    count += createRow(frames, settings, specs[i], &outRows[count]);
  }
  return count;
}

/* ---------------------------------------------------------------- measuring */

static void keepLeast(double *least, double value) {
  *least = value < *least ? value : *least;
}

/* Is the answer right? Checked in the first pass and whenever a frame is done for the first time. */
static void checkAnswer(const pnFrames *frames, pnRow *row, uint32_t frame, pnBenchPairs *pairs) {
  pairs->count = 0;
  row->peer->collect(row->object, pairs);
  uint64_t hash = pn_benchHash(pairs);
  if (!row->done[frame]) {
    row->wrongFrames += !row->peer->isFloor && hash != frames->hashes[frame];
    /* a frame number in it, so that two exchanged frames show */
    row->hash += hash * (2 * (uint64_t)frame + 1);
    row->pairSum += pairs->count;
  }
  if (frame == frames->frameCount - 1) {
    row->lastPairs = pairs->count;
    memset(&row->lastCost, 0, sizeof row->lastCost);
    if (row->peer->getCost != NULL) {
      row->peer->getCost(row->object, &row->lastCost);
    }
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

/* One peer, one frame: update, all pairs, update, first pair. */
static void measureFrame(const pnFrames *frames, pnRow *row, uint32_t frame, pnBenchPairs *pairs) {
  const pnPeer *peer = row->peer;
  const float *const *vertices = pn_labVertices(frames, frame);

  double start = milliseconds(row);
  peer->update(row->object, vertices);
  double updated = milliseconds(row);
  peer->findAll(row->object);
  double end = milliseconds(row);
  keepLeast(&row->update[frame], fmax(0.0, updated - start - row->clockCost));
  keepLeast(&row->all[frame], fmax(0.0, end - updated - row->clockCost));
  keepParts(row, frame, end - updated);
  checkAnswer(frames, row, frame, pairs);

  start = milliseconds(row);
  peer->update(row->object, vertices);
  updated = milliseconds(row);
  int found = peer->findFirst(row->object);
  end = milliseconds(row);
  keepLeast(&row->update[frame], fmax(0.0, updated - start - row->clockCost));
  if (found < 0) {
    row->canFirst = false;
  } else {
    keepLeast(&row->first[frame], fmax(0.0, end - updated - row->clockCost));
    row->wrongFirsts += !row->done[frame] && (found != 0) != (frames->pairCounts[frame] > 0);
  }
  row->framesDone += !row->done[frame];
  row->done[frame] = true;
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
  while (all / row->stride > settings->seconds && row->stride < frames->frameCount) {
    row->stride *= 2;
  }
}

void pn_labMeasure(const pnFrames *frames, const pnLabSettings *settings, pnRow *rows, uint32_t rowCount) {
  pnBenchPairs pairs = {0};
  for (uint32_t i = 0; i < rowCount; ++i) {
    pinFor(settings, &rows[i]);
    chooseStride(frames, settings, &rows[i]);
  }
  for (uint32_t pass = 0; pass < settings->passes; ++pass) {
    for (uint32_t begin = 0; begin < frames->frameCount; begin += settings->block) {
      for (uint32_t i = 0; i < rowCount; ++i) {
        pinFor(settings, &rows[i]);
        for (uint32_t frame = begin; frame < begin + settings->block && frame < frames->frameCount; ++frame) {
          /* strides count from the last frame, so that everybody does that one */
          if ((frames->frameCount - 1 - frame) % rows[i].stride == 0) {
            measureFrame(frames, &rows[i], frame, &pairs);
          }
        }
      }
    }
  }
  pn_labPin(-1);
  free(pairs.data);
}

/* ---------------------------------------------------------------- figures */

static int compareDoubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double pn_labMedian(double *values, uint32_t count) {
  qsort(values, count, sizeof(double), compareDoubles);
  return count > 0 ? values[count / 2] : 0.0;
}

/* The median of a + b (b may be null) over the frames with hits that both rows have done. */
static double medianOver(const pnFrames *frames, const pnRow *row, const pnRow *other, const double *a,
                         const double *b) {
  double *values = malloc(sizeof(double) * frames->frameCount);
  uint32_t count = 0;
  for (uint32_t i = 0; values != NULL && i < frames->frameCount; ++i) {
    bool counts = row->done[i] && other->done[i] && (frames->pairCounts[i] > 0 || frames->hitFrames == 0);
    double value = a[i] + (b != NULL ? b[i] : 0.0);
    if (counts && isfinite(value)) {
      values[count++] = value;
    }
  }
  double median = pn_labMedian(values, count);
  free(values);
  return median;
}

pnRowFigures pn_labFigures(const pnFrames *frames, const pnRow *row, const pnRow *other) {
  other = other != NULL ? other : row;
  return (pnRowFigures){
      .update = medianOver(frames, row, other, row->update, row->inner),
      .traverse = medianOver(frames, row, other, row->traverse, NULL),
      .exact = medianOver(frames, row, other, row->exact, NULL),
      .all = medianOver(frames, row, other, row->update, row->all),
      .first = row->canFirst ? medianOver(frames, row, other, row->update, row->first) : 0.0,
  };
}

/* Over the frames that both have done, or the slower one would be judged by other frames than the faster one. */
pnRatios pn_labRatios(const pnFrames *frames, const pnRow *row, const pnRow *anchor) {
  pnRatios ratios = {0.0, 0.0};
  if (anchor != NULL && !row->peer->isFloor) {
    pnRowFigures mine = pn_labFigures(frames, row, anchor), base = pn_labFigures(frames, anchor, row);
    ratios.all = mine.all > 0.0 ? base.all / mine.all : 0.0;
    ratios.first = mine.first > 0.0 ? base.first / mine.first : 0.0;
  }
  return ratios;
}
