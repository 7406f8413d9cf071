/* bucket_place.c: which bucket a primitive is in, by division, and from buckets to tree order.
 *
 * [Ganovelli00, section 3.1, Algorithm 1]: n(p) = (p - B) / s along each axis. Where we differ: one multiplication by 1 / s
 * instead of a division, halved so that a box as large as float allows does not overflow; the last cell is closed, so that
 * the primitive at the upper end has a bucket (in the paper it would get number 2^l, which does not exist).
 *
 * Buckets that hold more than a leaf can are divided: their primitives are sorted along a curve *within the box of their own
 * centres*, and where many share even that code, again within theirs. One far primitive that squeezes all others into
 * one bucket, the case for which the paper gives up [section 4], so costs one more sort. */
#include "tree/bucket.h"

#include <float.h>
#include <string.h>

/* Equal codes in longer runs than this are sorted once more within their own box: eight leaves, one node. */
#define LONG_RUN 64u
/* Primitives a task takes at a time. */
#define GRAIN 8192u

/* ---------------------------------------------------------------- cells */

pnCells pn_cellsOver(float lo, float hi, uint32_t bits) {
  float extent = hi * 0.5f - lo * 0.5f, count = (float)(1u << bits);
  /* no extent: everything in cell 0; one so small that the scale overflows: coarser cells */
  float scale = extent > 0 ? PN_MIN(count / extent, FLT_MAX) : 0;
  return (pnCells){lo * 0.5f, scale, (1u << bits) - 1};
}

typedef struct Coder {
  pnBuckets *b;
  pnCells cells[3];
} Coder;

static void placeRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const Coder *coder = context;
  pnBuckets *b = coder->b;
  for (uint32_t place = begin; place < end; place++) {
    if (pn_isAlive(b->soup, place)) {
      float centre[4];
      pn_findCentre(b, place, centre);
      b->cells[place] = pn_mortonOf(coder->cells, centre);
    }
  }
}

void pn_placeDirect(pnBuckets *b, const pnTasks *tasks) {
  Coder coder = {.b = b};
  for (int k = 0; k < 3; k++) {
    coder.cells[k] = pn_cellsOver((&b->box.min.x)[k], (&b->box.max.x)[k], b->levels);
  }
  pn_parallelFor(tasks, placeRange, &coder, b->soup->placeCount, GRAIN);
}

/* ---------------------------------------------------------------- the curve */

/* The places of cells along the curve of Hilbert, whose neighbours always touch: eight primitives in a row make a smaller box
 * than along Morton's, which leaps. After Skilling 2004, "Programming the Hilbert curve": undo, level by level from
 * the top, the exchange or reflection of axes in the octant; then Gray code. Without branches, the bits are anybody's guess,
 * and for a whole batch at each level, which compilers turn into vector code: one after the other takes four times as long. */
static void hilbertOf(uint32_t *x, uint32_t *y, uint32_t *z, uint32_t *outCodes) {
  for (uint32_t bit = PN_CURVE_BITS - 1; bit > 0; bit--) {
    uint32_t lower = (1u << bit) - 1;
    for (uint32_t i = 0; i < PN_CODE_BATCH; i++) {
      uint32_t turnX = 0u - (x[i] >> bit & 1), turnY = 0u - (y[i] >> bit & 1), turnZ = 0u - (z[i] >> bit & 1);
      uint32_t a = x[i] ^ (lower & (turnX ^ turnY)), b = y[i], c = z[i];
      uint32_t swap = (a ^ b) & lower & ~turnY;
      a ^= swap ^ (lower & turnZ);
      y[i] = b ^ swap;
      swap = (a ^ c) & lower & ~turnZ;
      x[i] = a ^ swap;
      z[i] = c ^ swap;
    }
  }
  for (uint32_t i = 0; i < PN_CODE_BATCH; i++) {
    uint32_t b = y[i] ^ x[i], c = z[i] ^ b;
    /* every bit of z flips all bits below it */
    uint32_t flip = c >> 1;
    flip ^= flip >> 1;
    flip ^= flip >> 2;
    flip ^= flip >> 4;
    flip ^= flip >> 8;
    outCodes[i] = pn_spreadBits(x[i] ^ flip) << 2 | pn_spreadBits(b ^ flip) << 1 | pn_spreadBits(c ^ flip);
  }
}

void pn_codesOf(const pnBuckets *b, const pnCells cells[3], pnCodeBatch *batch) {
  uint32_t cell[3][PN_CODE_BATCH] = {{0}};
  for (uint32_t i = 0; i < batch->count; i++) {
    if (b->lab.method == PN_BUCKET_MORTON) {
      batch->codes[i] = pn_mortonOf(cells, batch->centres[i]);
    }
    for (int k = 0; k < 3; k++) {
      cell[k][i] = pn_cellOf(&cells[k], batch->centres[i][k]);
    }
  }
  if (b->lab.method != PN_BUCKET_MORTON) {
    hilbertOf(cell[0], cell[1], cell[2], batch->codes);
  }
}

/* ---------------------------------------------------------------- sorting within a range */

typedef struct Range {
  const pnOrdering *o;
  pnCells cells[3];
  uint32_t first;
} Range;

static void keyRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const Range *r = context;
  pnCodeBatch batch;
  for (uint32_t at = r->first + begin; at < r->first + end; at += batch.count) {
    batch.count = PN_MIN(PN_CODE_BATCH, r->first + end - at);
    for (uint32_t i = 0; i < batch.count; i++) {
      pn_findCentre(r->o->b, r->o->order[at + i], batch.centres[i]);
    }
    pn_codesOf(r->o->b, r->cells, &batch);
    for (uint32_t i = 0; i < batch.count; i++) {
      r->o->keys[at + i] = (pnKeyValue){batch.codes[i], r->o->order[at + i]};
    }
  }
}

/* Cells over the box of the centres of order[first ... first + count). */
static void cellsOfRange(const pnOrdering *o, uint32_t first, uint32_t count, pnCells outCells[3]) {
  pnF4 lo = pn_f4Set1(FLT_MAX), hi = pn_f4Set1(-FLT_MAX);
  for (uint32_t i = first; i < first + count; i++) {
    float c[4] = {0};
    pn_findCentre(o->b, o->order[i], c);
    pnF4 centre = pn_f4Load(c);
    lo = pn_f4Min(lo, centre);
    hi = pn_f4Max(hi, centre);
  }
  float l[4], h[4];
  pn_f4Store(l, lo);
  pn_f4Store(h, hi);
  for (int k = 0; k < 3; k++) {
    outCells[k] = pn_cellsOver(l[k], h[k], PN_CURVE_BITS);
  }
}

/* Sorts order[first ... first + count) along the curve within the box of their centres. Keys stand where their primitives do, so
 * that sorting a part again leaves the keys of the others alone. Each time the box shrinks to a cell of the last,
 * at most 1/512 of it, so that floats allow some thirty times. */
static void sortRange(const pnOrdering *o, uint32_t first, uint32_t count, const pnTasks *tasks, pnCells outCells[3]) {
  Range range = {.o = o, .first = first};
  cellsOfRange(o, first, count, range.cells);
  pn_parallelFor(tasks, keyRange, &range, count, GRAIN);
  pn_sortKeyValue(o->keys + first, o->scratch + first, count);
  for (uint32_t i = first; i < first + count; i++) {
    o->order[i] = o->keys[i].value;
  }
  /* all of one code stand at one point, as good as floats tell, in any order */
  if (o->keys[first].key != o->keys[first + count - 1].key) {
    pn_sortRuns(o, first, count);
  }
  memcpy(outCells, range.cells, sizeof range.cells);
}

void pn_sortRuns(const pnOrdering *o, uint32_t first, uint32_t count) {
  for (uint32_t begin = first, end; begin < first + count; begin = end) {
    uint32_t key = o->keys[begin].key;
    for (end = begin + 1; end < first + count && o->keys[end].key == key; end++) {}
    if (end - begin > LONG_RUN) {
      pnCells cells[3];
      sortRange(o, begin, end - begin, NULL, cells);
      for (uint32_t i = begin; i < end; i++) {
        o->keys[i] = (pnKeyValue){key, o->order[i]};
      }
    }
  }
}

/* ---------------------------------------------------------------- leaves */

void pn_pushLeaves(pnBuckets *b, uint32_t first, uint32_t count) {
  for (uint32_t at = first; at < first + count; at += PN_LANES) {
    b->leafBegin.data[b->leafBegin.count++] = at;
  }
}

static bool beginLeaves(pnBuckets *b) {
  b->leafBegin.count = 0;
  return pn_arrayReserve(&b->leafBegin, (size_t)b->count + 1);
}

bool pn_leavesOfCurve(pnBuckets *b, const pnTasks *tasks) {
  if (!beginLeaves(b)) {
    return false;
  }
  uint32_t at = 0;
  for (uint32_t place = 0; place < b->soup->placeCount; place++) {
    if (pn_isAlive(b->soup, place)) {
      b->order[at++] = place;
    }
  }
  pnOrdering o = {b, b->order, b->keys, b->scratch};
  sortRange(&o, 0, b->count, tasks, b->coding);
  pn_pushLeaves(b, 0, b->count);
  b->leafBegin.data[b->leafBegin.count] = b->count;
  return true;
}

/* ---------------------------------------------------------------- buckets */

/* Counts a primitive into its bucket; a bucket's first one marks the way up to the first node that is marked already. */
PN_INLINE void countInto(pnBuckets *b, uint32_t cell) {
  pnBucketNode *bucket = &b->nodes[pn_levelBegin(b->levels) + cell];
  if (bucket->mark == b->step) {
    bucket->at++;
    return;
  }
  bucket->mark = b->step;
  bucket->at = 1;
  for (uint32_t level = b->levels; level-- > 0;) {
    cell >>= 3;
    pnBucketNode *node = &b->nodes[pn_levelBegin(level) + cell];
    if (node->mark == b->step) {
      return;
    }
    node->mark = b->step;
  }
}

/* Gives every bucket its range of the tree order, marked nodes only, in Morton order. Leaves are counted here and filled later. */
static void assignRanges(pnBuckets *b, uint32_t level, uint32_t index, uint32_t *ioAt, uint32_t *ioLeaf) {
  pnBucketNode *node = &b->nodes[pn_levelBegin(level) + index];
  if (node->mark != b->step) {
    return;
  }
  node->leafFirst = *ioLeaf;
  if (level == b->levels) {
    uint32_t count = node->at;
    node->at = *ioAt;
    *ioAt += count;
    *ioLeaf += (count + PN_LANES - 1) / PN_LANES;
    b->bucketCount++;
    b->largest = PN_MAX(b->largest, count);
  } else {
    for (uint32_t j = 0; j < 8; j++) {
      assignRanges(b, level + 1, 8 * index + j, ioAt, ioLeaf);
    }
  }
  node->leafCount = *ioLeaf - node->leafFirst;
}

bool pn_leavesOfBuckets(pnBuckets *b) {
  if (!beginLeaves(b)) {
    return false;
  }
  const pnSoup *soup = b->soup;
  b->bucketCount = b->largest = 0;
  for (uint32_t place = 0; place < soup->placeCount; place++) {
    if (pn_isAlive(soup, place)) {
      countInto(b, b->cells[place]);
    }
  }
  uint32_t at = 0, leaf = 0;
  assignRanges(b, 0, 0, &at, &leaf);
  /* every primitive to its place; a bucket's `at` ends where the bucket ends */
  pnBucketNode *buckets = b->nodes + pn_levelBegin(b->levels);
  for (uint32_t place = 0; place < soup->placeCount; place++) {
    if (pn_isAlive(soup, place)) {
      b->order[buckets[b->cells[place]].at++] = place;
    }
  }
  /* leaves, bucket by bucket: the next begins where the one before ended */
  for (uint32_t begin = 0, end; begin < b->count; begin = end) {
    end = buckets[b->cells[b->order[begin]]].at;
    if (end - begin > PN_LANES) {
      pnOrdering o = {b, b->order, b->keys, b->scratch};
      pnCells cells[3];
      sortRange(&o, begin, end - begin, NULL, cells);
    }
    pn_pushLeaves(b, begin, end - begin);
  }
  b->leafBegin.data[b->leafBegin.count] = b->count;
  return true;
}
