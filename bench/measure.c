/* measure.c: peers take turns over the frames of a scene, and what comes of it.
 *
 * Why in turns: a shared machine is faster in one minute than in the next, and a ratio of two times is only worth
 * something when both were taken in the same minute. Why in blocks of several frames and not frame by frame: a peer
 * that has just been thrown out of the cache by nine others is not what anybody runs. */
#include "lab.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>

pnLabSettings pn_defaultLabSettings(void) {
  return (pnLabSettings){.passes = 3, .block = 10, .seconds = 30.0, .core = -1};
}

void pn_labMeasure(const pnFrames *frames, const pnLabSettings *settings, pnRow **rows, uint32_t rowCount) {
  /* writing to a child that has died is an error to be told, not the end of the program */
  signal(SIGPIPE, SIG_IGN);
  for (uint32_t pass = 0; pass < settings->passes; ++pass) {
    for (uint32_t begin = 0; begin < frames->frameCount; begin += settings->block)
      for (uint32_t i = 0; i < rowCount; ++i) pn_labRunRow(rows[i], begin, begin + settings->block);
  }
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

/* That part of the values of a + b (b may be null) is below, over the frames with hits that both rows have done. */
static double quantileOver(const pnFrames *frames, const pnRow *row, const pnRow *other, const double *a,
                           const double *b, double part) {
  double *values = malloc(sizeof(double) * frames->frameCount);
  uint32_t count = 0;
  for (uint32_t i = 0; values != NULL && i < frames->frameCount; ++i) {
    bool done = (row->marks[i] & other->marks[i] & PN_MARK_DONE) != 0;
    bool counts = done && (frames->pairCounts[i] > 0 || frames->hitFrames == 0);
    double value = a[i] + (b != NULL ? b[i] : 0.0);
    if (counts && isfinite(value)) values[count++] = value;
  }
  pn_labMedian(values, count); /* sorts them */
  double value = count > 0 ? values[(uint32_t)(part * count) < count ? (uint32_t)(part * count) : count - 1] : 0.0;
  free(values);
  return value;
}

static double medianOver(const pnFrames *frames, const pnRow *row, const pnRow *other, const double *a,
                         const double *b) {
  return quantileOver(frames, row, other, a, b, 0.5);
}

double pn_labQuantile(const pnFrames *frames, const pnRow *row, double part) {
  return quantileOver(frames, row, row, row->update, row->all, part);
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
