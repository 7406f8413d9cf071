/* bucket_sorted.c: Algorithm 2 of [Ganovelli00, section 3.1]: the bucket of every primitive without a division.
 *
 * Three arrays hold all primitives in the order of their x, y and z. They are nearly right for the next update, and insertion
 * sort makes them right. Along each axis a bucket is then a range of its array, and the begins of the ranges, the
 * *bucket pointers*, are moved from where they were to where they belong.
 *
 * Where we differ, and why. The paper's UpdateBucketPointers has slips:
 *   1  threshold := i * bucket_size leaves out the minimum of the box; right only for a box that begins at 0.
 *   2  the forward loop ends at pos < 2^l - 1, the number of buckets, and should end at the number of primitives.
 *   3  moving back with do ... while (X[pos] > threshold) stops one before the first primitive of the bucket (or at -1).
 *   4  a pointer that stands right is moved anyway, because both loops move before they look.
 *   5  for i = 0 .. 2^l has one bucket too many, and bucket 0 has nothing to search: it begins at 0.
 *   6  > threshold puts a primitive exactly on a border below it, equation (1) puts it above.
 * Thresholds here are exact: the least float that Algorithm 1 gives the number i, found by halving, 2^l times an axis. So the
 * two algorithms agree for every input, not only away from rounding errors.
 *
 * Insertion sort is quadratic when there is no coherence. It is given up after lab.mostMoves moves a primitive, and the array
 * sorted from scratch. Primitives that are new since the last update are sorted by themselves and merged. */
#include "tree/bucket.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- the arrays */

/* From scratch: everything alive. */
static void sortAxis(pnBuckets *b, int k) {
  pnSorted *sorted = pn_sortedOf(b);
  uint32_t count = 0;
  for (uint32_t place = 0; place < b->soup->placeCount; ++place)
    if (pn_isAlive(b->soup, place)) b->keys[count++] = (pnKeyValue){pn_floatOrder(pn_centresAlong(b, k)[place]), place};
  pn_sortKeyValue(b->keys, b->scratch, count);
  for (uint32_t i = 0; i < count; ++i)
    sorted->axis[k][i] = (pnFloatKey){pn_floatOfOrder(b->keys[i].key), b->keys[i].value};
}

/* The order of the last update with new keys, without those that are gone. Returns how many are left. */
static uint32_t refreshAxis(pnBuckets *b, int k) {
  pnSorted *sorted = pn_sortedOf(b);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < sorted->axisCount; ++i) {
    uint32_t place = sorted->axis[k][i].value;
    if (b->soup->generation[place] == sorted->listed[place])
      sorted->axis[k][kept++] = (pnFloatKey){pn_centresAlong(b, k)[place], place};
  }
  return kept;
}

/* Insertion sort that gives up after `most` moves: then false, and the array is still a permutation. With centres the keys are
 * taken from them on the way: one pass, when nothing came or went. */
static bool insertAll(pnFloatKey *items, uint32_t count, const float *centres, uint64_t most, uint64_t *ioMoves) {
  uint64_t moved = 0;
  for (uint32_t i = 0; i < count && moved <= most; ++i) {
    pnFloatKey item = items[i];
    item.key = centres ? centres[item.value] : item.key;
    uint32_t j = i;
    for (; j > 0 && items[j - 1].key > item.key; --j) items[j] = items[j - 1];
    items[j] = item;
    moved += i - j;
  }
  *ioMoves += moved;
  return moved <= most;
}

/* Merges the primitives that are new, sorted, from the end of the array backwards. */
static void mergeNew(pnBuckets *b, int k, uint32_t kept, uint32_t newCount) {
  pnSorted *sorted = pn_sortedOf(b);
  pnFloatKey *items = sorted->axis[k];
  for (uint32_t i = 0; i < newCount; ++i) {
    uint32_t place = b->order[i];
    b->keys[i] = (pnKeyValue){pn_floatOrder(pn_centresAlong(b, k)[place]), place};
  }
  pn_sortKeyValue(b->keys, b->scratch, newCount);
  for (uint32_t to = kept + newCount; newCount > 0;) {
    float key = pn_floatOfOrder(b->keys[newCount - 1].key);
    if (kept > 0 && items[kept - 1].key > key) items[--to] = items[--kept];
    else items[--to] = (pnFloatKey){key, b->keys[--newCount].value};
  }
}

/* All three arrays right for this update; in which of them anything moved. b->order serves to list what is new. */
static void sortAxes(pnBuckets *b, bool outMoved[3]) {
  pnSorted *sorted = pn_sortedOf(b);
  uint32_t newCount = 0;
  bool same =
      sorted->axisCount > 0 && sorted->seen == b->soup->changedLast && sorted->axisLevels == sorted->octree.levels;
  for (uint32_t place = 0; !same && place < b->soup->placeCount; ++place)
    if (pn_isAlive(b->soup, place) && sorted->listed[place] != b->soup->generation[place]) b->order[newCount++] = place;
  sorted->moves = 0;
  sorted->fellBack = false;
  for (int k = 0; k < 3; ++k) {
    uint32_t kept = same ? b->count : refreshAxis(b, k);
    uint64_t most = b->lab.mostMoves == UINT32_MAX ? UINT64_MAX : (uint64_t)b->lab.mostMoves * b->count;
    uint64_t before = sorted->moves;
    if (insertAll(sorted->axis[k], kept, same ? pn_centresAlong(b, k) : NULL, most, &sorted->moves)) {
      mergeNew(b, k, kept, newCount);
    } else {
      sorted->fellBack = true;
      sortAxis(b, k);
    }
    outMoved[k] = !same || sorted->moves > before;
  }
  for (uint32_t i = 0; i < newCount; ++i) sorted->listed[b->order[i]] = b->soup->generation[b->order[i]];
  sorted->axisCount = b->count;
  sorted->seen = b->soup->changedLast;
  sorted->axisLevels = sorted->octree.levels;
}

/* ---------------------------------------------------------------- bucket pointers */

/* Floats on either side of a guess: more than the roundings of cells make. */
#define NEAR 16u

/* The least float in [lo, hi] in cell k or above; infinite when there is none. */
static float thresholdOf(const pnCells *cells, float lo, float hi, uint32_t k) {
  if (pn_cellOf(cells, hi) < k) return INFINITY;
  uint32_t below = pn_floatOrder(lo), at = pn_floatOrder(hi);
  /* it is within some roundings of where it would be in real numbers: look there first, the halving below is right anyway */
  uint32_t guess = pn_floatOrder(2 * ((float)k / cells->scale + cells->half));
  uint32_t left = guess - PN_MIN(guess, NEAR), right = guess + NEAR;
  if (left > below && left < at && pn_cellOf(cells, pn_floatOfOrder(left)) < k) below = left + 1;
  if (right > below && right < at && pn_cellOf(cells, pn_floatOfOrder(right)) >= k) at = right;
  while (below < at) {
    uint32_t mid = below + (at - below) / 2;
    if (pn_cellOf(cells, pn_floatOfOrder(mid)) < k) below = mid + 1;
    else at = mid;
  }
  return pn_floatOfOrder(at);
}

/* UpdateBucketPointers: from where it was to the first primitive at or above the threshold. */
static uint32_t movePointer(const pnFloatKey *items, uint32_t count, uint32_t pos, float threshold) {
  pos = PN_MIN(pos, count);
  while (pos > 0 && items[pos - 1].key >= threshold) --pos;
  while (pos < count && items[pos].key < threshold) ++pos;
  return pos;
}

/* ---------------------------------------------------------------- from pointers to buckets */

/* The number along axis k for everything at [from, to) of its array: bytes, which stay in the first cache. */
static void numberRange(pnBuckets *b, int k, uint32_t from, uint32_t to) {
  pnSorted *sorted = pn_sortedOf(b);
  const uint32_t *pointer = sorted->pointer[k];
  uint32_t cell = 0, last = (1u << sorted->octree.levels) - 1;
  while (from < to) {
    for (; cell < last && pointer[cell + 1] <= from; ++cell) {}
    uint32_t end = cell < last ? PN_MIN(to, pointer[cell + 1]) : to;
    for (; from < end; ++from) sorted->axisCells[k][sorted->axis[k][from].value] = (uint8_t)cell;
  }
}

PN_INLINE void joinNumbers(pnBuckets *b, const uint32_t *spread, uint32_t place) {
  pnSorted *sorted = pn_sortedOf(b);
  b->cells[place] = spread[sorted->axisCells[0][place]] | spread[sorted->axisCells[1][place]] << 1 |
                    spread[sorted->axisCells[2][place]] << 2;
}

/* The pointers along axis k; `old` is where they were. */
static void movePointers(pnBuckets *b, int k, uint32_t *old) {
  pnSorted *sorted = pn_sortedOf(b);
  float lo = (&b->box.min.x)[k], hi = (&b->box.max.x)[k];
  uint32_t cellCount = 1u << sorted->octree.levels, *pointer = sorted->pointer[k];
  pnCells cells = pn_cellsOver(lo, hi, sorted->octree.levels);
  memcpy(old, pointer, (cellCount + 1) * sizeof *old);
  pointer[0] = 0;
  pointer[cellCount] = b->count;
  for (uint32_t i = 1; i < cellCount; ++i)
    pointer[i] = movePointer(sorted->axis[k], b->count, pointer[i], thresholdOf(&cells, lo, hi, i));
}

static void placeSorted(pnBuckets *b) {
  pnSorted *sorted = pn_sortedOf(b);
  uint32_t cellCount = 1u << sorted->octree.levels, old[3][(1u << PN_MAX_LEVELS) + 1], spread[1u << PN_MAX_LEVELS];
  bool moved[3];
  sortAxes(b, moved);
  for (int k = 0; k < 3; ++k) {
    movePointers(b, k, old[k]);
    /* where no primitive moved in the array only those that a pointer passed have another number */
    for (uint32_t i = 1; !moved[k] && i < cellCount; ++i)
      numberRange(b, k, PN_MIN(old[k][i], sorted->pointer[k][i]), PN_MAX(old[k][i], sorted->pointer[k][i]));
    numberRange(b, k, 0, moved[k] ? b->count : 0);
  }
  for (uint32_t i = 0; i < cellCount; ++i) spread[i] = pn_spreadBits(i);
  bool any = moved[0] || moved[1] || moved[2];
  for (uint32_t place = 0; any && place < b->soup->placeCount; ++place)
    if (pn_isAlive(b->soup, place)) joinNumbers(b, spread, place);
  for (int k = 0; !any && k < 3; ++k) {
    for (uint32_t i = 1; i < cellCount; ++i) {
      uint32_t end = PN_MAX(old[k][i], sorted->pointer[k][i]);
      for (uint32_t j = PN_MIN(old[k][i], sorted->pointer[k][i]); j < end; ++j)
        joinNumbers(b, spread, sorted->axis[k][j].value);
    }
  }
}

/* ---------------------------------------------------------------- the row */

static pnResult updateSorted(pnTree *tree, pnBuckets *b, const pnTasks *tasks) {
  pnOctree *o = pn_octreeOf(b);
  bool ok = pn_beginOctree(b, o);
  if (ok) {
    pn_findCentres(b, tasks);
    double start = pn_clock();
    placeSorted(b);
    o->placeSeconds = pn_clock() - start;
    ok = pn_leavesOfBuckets(b, o) && pn_growTree(tree, b, o);
  }
  return ok ? pn_fillNew(tree, b, tasks) : pn_failSoup(b);
}

static void freeAxes(pnSorted *sorted, size_t room) {
  pn_free(sorted->listed, sorted->listed ? pn_bytes(room, sizeof(uint32_t)) : 0);
  for (int k = 0; k < 3; ++k) {
    pn_free(sorted->axis[k], sorted->axis[k] ? pn_bytes(room, sizeof(pnFloatKey)) : 0);
    pn_free(sorted->axisCells[k], sorted->axisCells[k] ? room : 0);
  }
}

/* What goes on from update to update is copied. */
static bool reserveAxes(pnBuckets *b, uint32_t room) {
  pnSorted *sorted = pn_sortedOf(b), made = {.listed = pn_allocZero(pn_bytes(room, sizeof(uint32_t)))};
  bool ok = made.listed != NULL;
  for (int k = 0; k < 3; ++k) {
    made.axis[k] = pn_alloc(pn_bytes(room, sizeof(pnFloatKey)));
    made.axisCells[k] = pn_alloc(room);
    ok = ok && made.axis[k] && made.axisCells[k];
  }
  if (!ok) {
    freeAxes(&made, room);
    return false;
  }
  if (sorted->listed) memcpy(made.listed, sorted->listed, b->room * sizeof(uint32_t));
  for (int k = 0; sorted->listed && k < 3; ++k)
    memcpy(made.axis[k], sorted->axis[k], sorted->axisCount * sizeof(pnFloatKey));
  freeAxes(sorted, b->room);
  sorted->listed = made.listed;
  memcpy(sorted->axis, made.axis, sizeof made.axis);
  memcpy(sorted->axisCells, made.axisCells, sizeof made.axisCells);
  return true;
}

static void releaseSorted(pnBuckets *b) {
  freeAxes(pn_sortedOf(b), b->room);
  pn_freeOctree(b);
}

static size_t sortedBytes(const pnBuckets *b) {
  return pn_octreeBytes(b) + b->room * (sizeof(uint32_t) + 3 * (sizeof(pnFloatKey) + 1));
}

static void tellSorted(const pnBuckets *b, pnBucketInfo *out) {
  pn_tellOctree(b, out);
  out->moves = pn_sortedOf(b)->moves;
  out->fellBack = pn_sortedOf(b)->fellBack;
}

const pnBucketWay pn_bucketSorted = {.name = "sorted",
                                     .stateBytes = sizeof(pnSorted),
                                     .centres = true,
                                     .codes = pn_hilbertCodes,
                                     .reserve = reserveAxes,
                                     .release = releaseSorted,
                                     .bytes = sortedBytes,
                                     .update = updateSorted,
                                     .tell = tellSorted};
