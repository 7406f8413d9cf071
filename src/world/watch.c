/* watch.c: see watch.h. */
#include "world/watch.h"

#include "tree/tree.h"
#include "world/mirror.h"

#include <math.h>

/* A sample that moves against the others by less than this part of the body's size is where it was; after so many frames in which
 * all are, a tree is worth building. */
#define NEAR 0.02
#define STEADY_FRAMES 32u

void pn_dropWatch(pnBody *body) {
  pn_free(body->watch, sizeof(pnWatch));
  body->watch = NULL;
}

static uint32_t sampleAt(const pnBody *body, uint32_t i) {
  return (uint32_t)((uint64_t)i * body->pose->mesh->vertexCount / PN_WATCH_SAMPLES);
}

/* Did the samples move as one since the last time? Keeps where they are now. */
static bool movedAsOne(const pnBody *body) {
  pnWatch *w = body->watch;
  const pnBox *box = &pn_treeOf(body)->box;
  double mean[3] = {0, 0, 0}, step[PN_WATCH_SAMPLES][3], sum = 0, size = 0;
  for (uint32_t i = 0; i < PN_WATCH_SAMPLES; ++i) {
    float p[3];
    uint32_t v = sampleAt(body, i);
    pn_poseFetch(body->pose, &v, 1, p, 3);
    for (int k = 0; k < 3; ++k) {
      step[i][k] = (double)p[k] - w->sample[i][k];
      mean[k] += step[i][k] / PN_WATCH_SAMPLES;
      w->sample[i][k] = p[k];
    }
  }
  for (int k = 0; k < 3; ++k) {
    size = fmax(size, (double)(&box->max.x)[k] - (&box->min.x)[k]);
    for (uint32_t i = 0; i < PN_WATCH_SAMPLES; ++i) sum += fabs(step[i][k] - mean[k]);
  }
  return sum / PN_WATCH_SAMPLES < NEAR * size;
}

pnResult pn_watch(pnBody *body) {
  if (!body->watch) {
    body->watch = pn_allocZero(sizeof(pnWatch));
    if (!body->watch) return pn_failMemory(sizeof(pnWatch));
  }
  (void)movedAsOne(body);
  body->watch->frame = body->pose->frame;
  body->watch->steady = 0;
  return PN_OK;
}

bool pn_watchOn(pnBody *body) {
  pnWatch *w = body->watch;
  if (w->frame != body->pose->frame) w->steady = movedAsOne(body) ? w->steady + 1 : 0;
  w->frame = body->pose->frame;
  return w->steady >= STEADY_FRAMES;
}
