/* focus.c: see focus.h. */
#include "world/focus.h"

#include "tree/corner.h"
#include "tree/update.h"

#include <math.h>
#include <string.h>

/* Leaves of a body that has n of them are about 2^13.5 / sqrt(n) of its own cells long. They are small against cells 2^shift times as
 * large when they are less than four of these: 2 shift + log2 n > 23. Cells of a focus are a sixteenth of them. */
#define BLURRED 23
#define SHARP 19
/* A job asks for a focus when it has tested so many pairs of triangles for each that meets, and so many in all: with one it tests five
 * to ten (bench_world level), and less than this takes a twentieth of a millisecond. */
#define WASTE 16u
#define LEAST_TESTED 4096u
/* It stays when no more than this part of that is tested; if not, none is made for so many frames. */
#define KEPT 0.6
#define PAUSE 256u
/* Cells from the offset of a grid that a body in it may be away, at most: of the 2^15 that there are, with some to spare for its steps. */
#define REACH 30000.0

struct pnFoci {
  pnTree *trees[PN_FOCI];
  uint64_t used[PN_FOCI]; /* the last frame */
  uint32_t count;
  /* the job that asks for one: its other body's place plus 1 (0: none does), when it did, and what it had tested */
  uint32_t wished;
  uint64_t wishFrame;
  uint32_t tested;
  pnTree *trial;       /* the one that was made for it in this frame; null: none was */
  bool isRefused;      /* it was not worth it, and goes in the next: jobs of this one have asked it */
  uint64_t pauseUntil; /* frame */
};

static void dropFocus(struct pnFoci *foci, uint32_t i) {
  pnDestroyTree(foci->trees[i]);
  --foci->count;
  foci->trees[i] = foci->trees[foci->count];
  foci->used[i] = foci->used[foci->count];
}

/* The one that was not worth it, if. */
static void dropRefused(struct pnFoci *foci) {
  for (uint32_t i = 0; foci->isRefused && i < foci->count; ++i)
    if (foci->trees[i] == foci->trial) dropFocus(foci, i);
  if (foci->isRefused) foci->trial = NULL;
  foci->isRefused = false;
}

void pn_dropFoci(pnBody *body) {
  if (!body->foci) return;
  while (body->foci->count > 0) dropFocus(body->foci, body->foci->count - 1);
  pn_free(body->foci, sizeof(struct pnFoci));
  body->foci = NULL;
}

static struct pnFoci *ensureFoci(pnBody *body) {
  if (!body->foci) body->foci = pn_allocZero(sizeof(struct pnFoci));
  return body->foci;
}

/* ---------------------------------------------------------------- who needs one */

void pn_noteSize(pnWorld *world, const pnBox *box) {
  float x = box->max.x - box->min.x, y = box->max.y - box->min.y, z = box->max.z - box->min.z;
  float longest = PN_MAX(x, PN_MAX(y, z));
  if (!(longest > 0)) return; /* a point has no size, an empty body neither; that of a subnormal one is forgotten */
  uint32_t bits;
  memcpy(&bits, &longest, sizeof bits);
  int size = (int)(bits >> 23);
  if (world->largest == 0) world->largest = world->smallest = size;
  world->largest = PN_MAX(world->largest, size);
  world->smallest = PN_MIN(world->smallest, size);
}

static int log2Of(uint32_t n) {
  int log = 0;
  while (n >>= 1) ++log;
  return log;
}

/* Boxes on a grid, in nodes that stay what they are. */
static bool canFocus(const pnTree *tree) {
  return tree->slabs == &pn_slabBox && !tree->rule->reshapes && !tree->rule->modelSpace && !pn_hasPieces(&tree->def);
}

/* Are the leaves of one small against the cells of the other? Most bodies have cells of nearly one size, and that is asked first. */
static bool isBlurred(const pnTree *coarse, const pnTree *fine, bool always) {
  int shift = fine->grid.exponent - coarse->grid.exponent;
  if (PN_LIKELY(shift == 0) || !(always || 2 * shift + log2Of(fine->shape->leafCount) > BLURRED)) return false;
  return canFocus(coarse) && fine->form == coarse->form && !fine->grid.isClipped;
}

/* Does a body lie where this grid tells one place from another? It must: a point in which triangles meet is in the body's box, so its
 * cell is not one of those that stand for all that is far away, and the cells of both triangles are around it, in this grid and, when
 * the body's own cells are larger and all are taken over to those, in them. */
static bool isIn(const pnGrid *grid, const pnTree *fine) {
  const float *sides = &fine->box.min.x;
  bool in = true;
  for (int i = 0; i < 6; ++i) in = in && fabs(sides[i] / grid->cell - grid->offset[i % 3]) < REACH;
  return in;
}

/* ---------------------------------------------------------------- making them */

static pnFocusDef focusFor(const pnTree *coarse, const pnTree *fine) {
  int steps = (SHARP - log2Of(fine->shape->leafCount)) / 2;
  pnFocusDef def = {.exponent = PN_MAX(fine->grid.exponent - PN_MAX(steps, 0), coarse->grid.exponent + 1)};
  const float *sides = &fine->box.min.x;
  for (int d = 0; d < 3; ++d) def.middle[d] = (float)(0.5 * ((double)sides[d] + sides[d + 3]));
  return def;
}

/* Does it see this body as well as one of its own would, but for cells four times as large? */
static bool suits(const pnTree *focus, const pnTree *coarse, const pnTree *fine) {
  return focus->shape == coarse->shape && focus->pose == coarse->pose && isIn(&focus->grid, fine) &&
         focus->grid.exponent + 2 >= focusFor(coarse, fine).exponent;
}

/* Brought to the pose of its body, it still has that one in it: what the whole has become may have made its cells larger. */
static bool isReady(const pnWorld *world, pnTree *focus, const pnTree *coarse, const pnTree *fine) {
  return pn_followFocus(focus, coarse, &world->def.tasks) == PN_OK && isIn(&focus->grid, fine);
}

/* One that is there. */
static pnTree *findFocus(const pnWorld *world, struct pnFoci *foci, const pnTree *coarse, const pnTree *fine) {
  for (uint32_t i = 0; i < foci->count; ++i) {
    if (!suits(foci->trees[i], coarse, fine)) continue;
    foci->used[i] = world->frameNumber + 1;
    return isReady(world, foci->trees[i], coarse, fine) ? foci->trees[i] : NULL;
  }
  return NULL;
}

/* Room for one more: who was not asked for the longest time goes, but nobody who was in the last frame and may still be in this one. */
static bool makePlace(struct pnFoci *foci, uint64_t frame) {
  uint32_t oldest = 0;
  if (foci->count < PN_FOCI) return true;
  for (uint32_t i = 1; i < foci->count; ++i) oldest = foci->used[i] < foci->used[oldest] ? i : oldest;
  if (foci->used[oldest] + 1 >= frame) return false;
  dropFocus(foci, oldest);
  return true;
}

/* A new one; without memory there is none. */
static pnTree *makeFocus(const pnWorld *world, struct pnFoci *foci, const pnTree *coarse, const pnTree *fine) {
  uint64_t frame = world->frameNumber + 1;
  pnFocusDef focus = focusFor(coarse, fine);
  pnTreePlan plan = coarse->def;
  plan.pose = coarse->pose;
  plan.shape = coarse->shape;
  plan.focus = &focus;
  pnTree *tree = NULL;
  if (!makePlace(foci, frame) || pn_createTree(&plan, &tree) != PN_OK) return NULL;
  if (!isReady(world, tree, coarse, fine)) {
    pnDestroyTree(tree);
    return NULL;
  }
  foci->trees[foci->count] = tree;
  foci->used[foci->count++] = frame;
  return tree;
}

void pn_lookCloser(pnWorld *world, size_t j) {
  pnJob *job = &world->jobs.data[j];
  bool always = world->lab.closeLook, isB = job->a->grid.exponent > job->b->grid.exponent;
  const pnTree *coarse = isB ? job->b : job->a, *fine = isB ? job->a : job->b;
  if (PN_LIKELY(!isBlurred(coarse, fine, always))) return;
  uint32_t places[2] = {world->jobBodies.data[j].a, world->jobBodies.data[j].b};
  pnBody *body = &world->bodies.data[places[isB]];
  struct pnFoci *foci = always ? ensureFoci(body) : body->foci;
  if (foci) dropRefused(foci);
  pnTree *focus = foci ? findFocus(world, foci, coarse, fine) : NULL;
  bool asks = foci && foci->wished == places[!isB] + 1;
  if (foci && !focus && (always || asks)) {
    focus = makeFocus(world, foci, coarse, fine);
    if (asks) foci->trial = focus;
  }
  if (focus) *(isB ? &job->b : &job->a) = focus;
  if (!job->first) (void)pn_arrayPush(&world->blurred, 2 * (uint32_t)j + isB); /* without memory it asks another time */
}

/* ---------------------------------------------------------------- was it worth it? */

/* Of all jobs of a frame that waste much the most wasteful gets one, in the next. */
static void wish(pnBody *body, uint32_t other, uint32_t tested, uint64_t frame) {
  struct pnFoci *foci = ensureFoci(body);
  if (!foci || frame < foci->pauseUntil || (foci->wishFrame == frame && foci->tested >= tested)) return;
  foci->wished = other + 1;
  foci->wishFrame = frame;
  foci->tested = tested;
}

/* The job that had asked for one has asked it. */
static void endTrial(struct pnFoci *foci, uint32_t tested, uint64_t frame) {
  foci->wished = 0;
  foci->isRefused = tested > KEPT * foci->tested;
  if (foci->isRefused) foci->pauseUntil = frame + PAUSE;
  else foci->trial = NULL;
}

void pn_judgeLooks(pnWorld *world) {
  uint64_t frame = world->frameNumber + 1;
  for (size_t i = 0; i < world->blurred.count; ++i) {
    uint32_t j = world->blurred.data[i] / 2, isB = world->blurred.data[i] % 2;
    const pnJob *job = &world->jobs.data[j];
    uint32_t places[2] = {world->jobBodies.data[j].a, world->jobBodies.data[j].b};
    pnBody *body = &world->bodies.data[places[isB]];
    bool wasteful = job->tested > LEAST_TESTED && job->tested > WASTE * job->pairCount;
    if (!(isB ? job->b : job->a)->isFocused) {
      if (wasteful) wish(body, places[!isB], job->tested, frame);
    } else if (body->foci->trial && body->foci->wished == places[!isB] + 1) {
      endTrial(body->foci, job->tested, frame);
    }
  }
}
