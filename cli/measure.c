/* measure.c: see measure.h.
 *
 * Where there are more pairs than are wanted, only those are measured whose boxes are within a reach, and of these the distances that are
 * within it are the smallest of all: every other pair is farther apart. The reach doubles until there are enough of them. Time goes with
 * the pairs that are near and not with all. */
#include "measure.h"

#include <math.h>
#include <stdlib.h>

/* Pairs within reach at most, 80 MB: thousands of bodies in one place. And pairs that are measured at a time. */
#define MOST_NEAR 10000000u
#define PORTION 65536u
/* The first reach above 0, as a part of the mean size of the bodies. Doubled a hundred times it is beyond everything that floats measure. */
#define FIRST_REACH 0.25
#define MOST_ROUNDS 300
/* A distance is right up to 2^-40 of itself or of its triangles' size (pnFindDistances): one that is within reach when measured may be
 * of boxes that are not. Of boxes that touch nothing is rounded. */
#define MARGIN 0x1p-30

static int compareDistances(const void *left, const void *right) {
  const pnBodyDistance *a = left, *b = right;
  if (a->found.distance != b->found.distance) return a->found.distance < b->found.distance ? -1 : 1;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  return (a->b > b->b) - (a->b < b->b);
}

static bool addDistance(pnBodyDistances *out, pnPair pair, const pnDistance *found) {
  if (out->count == out->capacity) {
    uint32_t capacity = 2 * out->capacity + 64;
    pnBodyDistance *grown = realloc(out->items, capacity * sizeof(pnBodyDistance));
    if (!grown) return false;
    out->items = grown;
    out->capacity = capacity;
  }
  out->items[out->count++] = (pnBodyDistance){pair.a, pair.b, *found};
  return true;
}

/* Adds the distances of these pairs that are not above `farthest`. */
static pnResult measurePairs(const pnMeasureDef *def, const pnPair *pairs, size_t count, double farthest,
                             pnBodyDistances *out) {
  pnBodyPair *asked = malloc(PORTION * sizeof(pnBodyPair));
  pnDistance *found = malloc(PORTION * sizeof(pnDistance));
  bool good = asked && found;
  pnResult result = PN_OK;
  for (size_t first = 0; first < count && good && result == PN_OK; first += PORTION) {
    uint32_t n = count - first < PORTION ? (uint32_t)(count - first) : PORTION;
    for (uint32_t i = 0; i < n; ++i)
      asked[i] = (pnBodyPair){def->ids[pairs[first + i].a], def->ids[pairs[first + i].b]};
    result = pnWorld_FindDistances(def->world, asked, n, farthest, found);
    for (uint32_t i = 0; i < n && good && result == PN_OK; ++i)
      if (found[i].triangleA != PN_NONE) good = addDistance(out, pairs[first + i], &found[i]);
  }
  free(asked);
  free(found);
  if (!good) return pnFail(PN_ERROR_MEMORY, "out of memory for %zu distances", count);
  return result;
}

static pnResult measureAll(const pnMeasureDef *def, uint64_t count, pnBodyDistances *out) {
  pnPair *pairs = malloc((size_t)count * sizeof(pnPair) + 1);
  if (!pairs) return pnFail(PN_ERROR_MEMORY, "out of memory for %llu pairs of bodies", (unsigned long long)count);
  pn_choiceListPairs(def->choice, pairs);
  pnResult result = measurePairs(def, pairs, (size_t)count, INFINITY, out);
  free(pairs);
  return result;
}

/* Lengths of a scene. */
typedef struct Scale {
  double first, all, largest; /* the first reach; one within which everything is; the largest body */
} Scale;

static Scale scaleOf(const pnMeasureDef *def) {
  double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY}, sum = 0;
  Scale scale = {0};
  for (uint32_t i = 0; i < def->bodyCount; ++i) {
    const pnNearBox *box = &def->boxes[i];
    if (box->lo[0] > box->hi[0]) continue;
    double square = 0;
    for (int k = 0; k < 3; ++k) {
      lo[k] = fmin(lo[k], box->lo[k]);
      hi[k] = fmax(hi[k], box->hi[k]);
      square += (box->hi[k] - box->lo[k]) * (box->hi[k] - box->lo[k]);
    }
    sum += sqrt(square);
    scale.largest = fmax(scale.largest, sqrt(square));
  }
  if (hi[0] >= lo[0]) scale.all = hypot(hypot(hi[0] - lo[0], hi[1] - lo[1]), hi[2] - lo[2]);
  // Points have no size: then a part of the whole.
  scale.first = sum > 0 ? FIRST_REACH * sum / def->bodyCount : 1e-4 * scale.all;
  return scale;
}

/* More than are wanted, all of them within one reach, or all that there are. */
static pnResult measureClosest(const pnMeasureDef *def, pnBodyDistances *out) {
  pnNearPairs near = {0};
  // Within `low` there are not enough, within `high` too many.
  Scale scale = scaleOf(def);
  double reach = 0, low = 0, high = INFINITY;
  pnResult result = PN_OK;
  bool done = false;
  for (int round = 0; round < MOST_ROUNDS && !done; ++round) {
    double margin = reach > 0 ? MARGIN * (reach + scale.largest) : 0;
    result = pn_findNearBoxes(def->boxes, def->bodyCount, reach + margin, def->choice, MOST_NEAR, &near);
    bool last = reach >= scale.all;
    out->count = 0;
    if (result == PN_OK && (near.count > def->most || last))
      result = measurePairs(def, near.items, near.count, reach, out);
    done = (result != PN_OK && result != PN_ERROR_COUNT) || out->count > def->most || last || (result && reach == 0);
    if (result == PN_ERROR_COUNT) high = reach;
    else low = reach;
    reach = high < INFINITY ? 0.5 * (low + high) : low > 0 ? 2 * low : scale.first;
  }
  pn_freeNearBoxes(&near);
  if (result == PN_ERROR_COUNT || !done)
    return pnFail(PN_ERROR_COUNT,
                  "more than %u pairs of bodies are close, too many to measure; --only A,B chooses some", MOST_NEAR);
  return result;
}

pnResult pn_measureBodies(const pnMeasureDef *def, pnBodyDistances *out) {
  uint64_t count = pn_choiceCountPairs(def->choice);
  pnResult result = count <= def->most ? measureAll(def, count, out) : measureClosest(def, out);
  if (result != PN_OK) return result;
  if (out->count > 0) qsort(out->items, out->count, sizeof(pnBodyDistance), compareDistances);
  out->limited = out->count > def->most;
  if (out->limited) out->count = def->most;
  return PN_OK;
}

void pn_freeDistances(pnBodyDistances *distances) {
  free(distances->items);
  *distances = (pnBodyDistances){0};
}
