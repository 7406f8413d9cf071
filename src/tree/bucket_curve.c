/* bucket_curve.c: primitives sorted along a curve through space, all of them or those of a range, and leaves over them.
 *
 * Primitives are sorted along a curve *within the box of their own centres*, and where many share even that code, again within
 * theirs. One far primitive that squeezes all others into one bucket, the case for which [Ganovelli00] gives up [section 4],
 * so costs one more sort. */
#include "tree/bucket.h"

#include <float.h>
#include <string.h>

/* Equal codes in longer runs than this are sorted once more within their own box: eight leaves, one node. */
#define LONG_RUN 64u
/* Primitives a task takes at a time. */
#define GRAIN 8192u
/* Up to so many primitives cells of 1/256 of the box tell them apart well enough, and their codes have two digits instead of
 * three; with so few that counting 2^12 values costs as much as a pass, they are not counted so. */
#define FEW_PRIMITIVES 65536u
#define DIGIT_BITS 12u
#define LEAST_COUNTED 2048u

/* ---------------------------------------------------------------- cells */

pnCells pn_cellsOver(float lo, float hi, uint32_t bits) {
  float extent = hi * 0.5f - lo * 0.5f, count = (float)(1u << bits);
  /* no extent: everything in cell 0; one so small that the scale overflows: coarser cells */
  float scale = extent > 0 ? PN_MIN(count / extent, FLT_MAX) : 0;
  return (pnCells){lo * 0.5f, scale, (1u << bits) - 1};
}

uint32_t pn_bitsFor(uint32_t count) {
  return count <= FEW_PRIMITIVES ? PN_FEW_BITS : PN_CURVE_BITS;
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
    for (uint32_t i = 0; i < batch.count; ++i) pn_findCentre(r->o->b, r->o->order[at + i], batch.centres[i]);
    r->o->b->way->codes(r->cells, &batch);
    for (uint32_t i = 0; i < batch.count; ++i) r->o->keys[at + i] = (pnKeyValue){batch.codes[i], r->o->order[at + i]};
  }
}

void pn_sortCodes(pnKeyValue *items, pnKeyValue *scratch, uint32_t count, uint32_t bits) {
  if (count < LEAST_COUNTED) {
    pn_sortKeyValue(items, scratch, count);
    return;
  }
  enum { DIGITS = (3 * PN_CURVE_BITS + DIGIT_BITS - 1) / DIGIT_BITS, LAST = (1u << DIGIT_BITS) - 1 };
  uint32_t starts[DIGITS][LAST + 1], digits = (3 * bits + DIGIT_BITS - 1) / DIGIT_BITS;
  memset(starts, 0, digits * sizeof starts[0]);
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t d = 0; d < digits; ++d) ++starts[d][items[i].key >> DIGIT_BITS * d & LAST];
  pnKeyValue *from = items, *to = scratch;
  for (uint32_t d = 0; d < digits; ++d) {
    for (uint32_t i = 0, sum = 0; i <= LAST; ++i) {
      uint32_t n = starts[d][i];
      starts[d][i] = sum;
      sum += n;
    }
    for (uint32_t i = 0; i < count; ++i) to[starts[d][from[i].key >> DIGIT_BITS * d & LAST]++] = from[i];
    pnKeyValue *swap = from;
    from = to;
    to = swap;
  }
  if (from != items) memcpy(items, from, count * sizeof *items);
}

/* Cells over the box of the centres of order[first ... first + count). */
static void cellsOfRange(const pnOrdering *o, uint32_t first, uint32_t count, uint32_t bits, pnCells outCells[3]) {
  pnF4 lo = pn_f4Set1(FLT_MAX), hi = pn_f4Set1(-FLT_MAX);
  for (uint32_t i = first; i < first + count; ++i) {
    float c[4] = {0};
    pn_findCentre(o->b, o->order[i], c);
    pnF4 centre = pn_f4Load(c);
    lo = pn_f4Min(lo, centre);
    hi = pn_f4Max(hi, centre);
  }
  float l[4], h[4];
  pn_f4Store(l, lo);
  pn_f4Store(h, hi);
  for (int k = 0; k < 3; ++k) outCells[k] = pn_cellsOver(l[k], h[k], bits);
}

/* By the codes within given cells. */
static void sortByCode(const Range *range, uint32_t count, const pnTasks *tasks) {
  const pnOrdering *o = range->o;
  uint32_t first = range->first;
  pn_parallelFor(tasks, keyRange, (void *)range, count, GRAIN);
  pn_sortCodes(o->keys + first, o->scratch + first, count, pn_bitsOf(range->cells));
  for (uint32_t i = first; i < first + count; ++i) o->order[i] = o->keys[i].value;
}

/* Sorts order[first ... first + count) along the curve within the box of their centres. Keys stand where their primitives do, so
 * that sorting a part again leaves the keys of the others alone. Each time the box shrinks to a cell of the last,
 * at most 1/64 of it, so that floats allow some fifty times. */
void pn_sortRange(const pnOrdering *o, uint32_t first, uint32_t count, const pnTasks *tasks, pnCells outCells[3]) {
  Range range = {.o = o, .first = first};
  cellsOfRange(o, first, count, pn_bitsFor(count), range.cells);
  sortByCode(&range, count, tasks);
  /* all of one code stand at one point, as good as floats tell, in any order */
  if (o->keys[first].key != o->keys[first + count - 1].key) pn_sortRuns(o, first, count);
  memcpy(outCells, range.cells, sizeof range.cells);
}

/* The same for all of them within a box that is about theirs: those outside get the cells at its border. */
static void sortWithin(const pnOrdering *o, const pnBox *box, uint32_t count, const pnTasks *tasks,
                       pnCells outCells[3]) {
  Range range = {.o = o};
  for (int k = 0; k < 3; ++k) range.cells[k] = pn_cellsOver((&box->min.x)[k], (&box->max.x)[k], pn_bitsFor(count));
  sortByCode(&range, count, tasks);
  pn_sortRuns(o, 0, count);
  memcpy(outCells, range.cells, sizeof range.cells);
}

void pn_sortRuns(const pnOrdering *o, uint32_t first, uint32_t count) {
  for (uint32_t begin = first, end; begin < first + count; begin = end) {
    uint32_t key = o->keys[begin].key;
    for (end = begin + 1; end < first + count && o->keys[end].key == key; ++end) {}
    if (end - begin > LONG_RUN) {
      pnCells cells[3];
      pn_sortRange(o, begin, end - begin, NULL, cells);
      for (uint32_t i = begin; i < end; ++i) o->keys[i] = (pnKeyValue){key, o->order[i]};
    }
  }
}

/* ---------------------------------------------------------------- leaves */

void pn_pushLeaves(pnBuckets *b, uint32_t first, uint32_t count) {
  for (uint32_t at = first; at < first + count; at += PN_LANES) b->leafBegin.data[b->leafBegin.count++] = at;
}

bool pn_beginLeaves(pnBuckets *b) {
  b->leafBegin.count = 0;
  return pn_arrayReserve(&b->leafBegin, (size_t)b->count + 1);
}

bool pn_leavesOfCurve(pnBuckets *b, const pnBox *about, pnCells outCells[3], const pnTasks *tasks) {
  if (!pn_beginLeaves(b)) return false;
  uint32_t at = 0;
  for (uint32_t place = 0; place < b->soup->placeCount; ++place)
    if (pn_isAlive(b->soup, place)) b->order[at++] = place;
  pnOrdering o = {b, b->order, b->keys, b->scratch};
  if (about) sortWithin(&o, about, b->count, tasks, outCells);
  else pn_sortRange(&o, 0, b->count, tasks, outCells);
  pn_pushLeaves(b, 0, b->count);
  b->leafBegin.data[b->leafBegin.count] = b->count;
  return true;
}
