/* bucket_direct.c: which bucket a primitive is in, by division.
 *
 * [Ganovelli00, section 3.1, Algorithm 1]: n(p) = (p - B) / s along each axis. Where we differ: one multiplication by 1 / s
 * instead of a division, halved so that a box as large as float allows does not overflow; the last cell is closed, so that
 * the primitive at the upper end has a bucket (in the paper it would get number 2^l, which does not exist). */
#include "tree/bucket.h"

/* Primitives a task takes at a time. */
#define GRAIN 8192u

typedef struct Coder {
  pnBuckets *b;
  pnCells cells[3];
} Coder;

static void placeRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const Coder *coder = context;
  pnBuckets *b = coder->b;
  for (uint32_t place = begin; place < end; ++place) {
    if (pn_isAlive(b->soup, place)) {
      float centre[4];
      pn_findCentre(b, place, centre);
      b->cells[place] = pn_mortonOf(coder->cells, centre);
    }
  }
}

static void placeDirect(pnBuckets *b, const pnTasks *tasks) {
  const pnOctree *o = pn_octreeOf(b);
  Coder coder = {.b = b};
  for (int k = 0; k < 3; ++k) coder.cells[k] = pn_cellsOver((&b->box.min.x)[k], (&b->box.max.x)[k], o->levels);
  pn_parallelFor(tasks, placeRange, &coder, b->soup->placeCount, GRAIN);
}

static pnResult updateDirect(pnTree *tree, pnBuckets *b, const pnTasks *tasks) {
  pnOctree *o = pn_octreeOf(b);
  bool ok = pn_beginOctree(b, o);
  if (ok) {
    pn_findCentres(b, tasks);
    double start = pn_clock();
    placeDirect(b, tasks);
    o->placeSeconds = pn_clock() - start;
    ok = pn_leavesOfBuckets(b, o) && pn_growTree(tree, b, o);
  }
  return ok ? pn_fillNew(tree, b, tasks) : pn_failSoup(b);
}

const pnBucketWay pn_bucketDirect = {.name = "direct",
                                     .stateBytes = sizeof(pnOctree),
                                     .centres = true,
                                     .codes = pn_hilbertCodes,
                                     .release = pn_freeOctree,
                                     .bytes = pn_octreeBytes,
                                     .update = updateDirect,
                                     .tell = pn_tellOctree};
