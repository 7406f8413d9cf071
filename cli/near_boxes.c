/* near_boxes.c: see near_boxes.h. */
#include "near_boxes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Place {
  double lo; /* on the axis */
  uint32_t box;
} Place;

pnNearBox pn_nearBox(const pnMesh *mesh, pnBox box) {
  if (pnMesh_GetTriangleCount(mesh) == 0) return (pnNearBox){{1, 1, 1}, {0, 0, 0}};
  return (pnNearBox){{box.min.x, box.min.y, box.min.z}, {box.max.x, box.max.y, box.max.z}};
}

static bool isEmpty(const pnNearBox *box) {
  return !(box->lo[0] <= box->hi[0] && box->lo[1] <= box->hi[1] && box->lo[2] <= box->hi[2]);
}

/* On which axis are boxes, with what is near them, the smallest part of the whole? */
static int chooseAxis(const pnNearBox *boxes, uint32_t count, double reach) {
  int best = 0;
  double least = INFINITY;
  for (int k = 0; k < 3; ++k) {
    double lo = INFINITY, hi = -INFINITY, sum = 0;
    for (uint32_t i = 0; i < count; ++i) {
      if (isEmpty(&boxes[i])) continue;
      lo = fmin(lo, boxes[i].lo[k]);
      hi = fmax(hi, boxes[i].hi[k]);
      sum += boxes[i].hi[k] - boxes[i].lo[k] + reach;
    }
    double part = sum / (hi - lo);
    if (part < least) best = k, least = part;
  }
  return best;
}

static int comparePlaces(const void *p, const void *q) {
  const Place *a = p, *b = q;
  if (a->lo != b->lo) return a->lo < b->lo ? -1 : 1;
  return (a->box > b->box) - (a->box < b->box);
}

static int comparePairs(const void *p, const void *q) {
  const pnPair *a = p, *b = q;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  return (a->b > b->b) - (a->b < b->b);
}

static bool isNear(const pnNearBox *a, const pnNearBox *b, double reach) {
  double square = 0;
  for (int k = 0; k < 3; ++k) {
    double gap = fmax(0, fmax(a->lo[k] - b->hi[k], b->lo[k] - a->hi[k]));
    square += gap * gap;
  }
  return square <= reach * reach;
}

static pnResult addPair(pnNearPairs *pairs, uint32_t a, uint32_t b, size_t most) {
  if (pairs->count == most) return pnFail(PN_ERROR_COUNT, "more than %zu pairs of bodies are close", most);
  if (pairs->count == pairs->capacity) {
    size_t capacity = 2 * pairs->capacity + 64;
    pnPair *grown = realloc(pairs->items, capacity * sizeof(pnPair));
    if (!grown) return pnFail(PN_ERROR_MEMORY, "out of memory for %zu pairs of bodies", capacity);
    pairs->items = grown;
    pairs->capacity = capacity;
  }
  pairs->items[pairs->count++] = a < b ? (pnPair){a, b} : (pnPair){b, a};
  return PN_OK;
}

/* Those of box `places[i]` with boxes behind it. */
static pnResult addPairsOf(const pnNearBox *boxes, const Place *places, uint32_t count, uint32_t i, int axis,
                           double reach, const pnChoice *choice, size_t most, pnNearPairs *out) {
  uint32_t a = places[i].box;
  double end = boxes[a].hi[axis];
  pnResult result = PN_OK;
  for (uint32_t j = i + 1; j < count && places[j].lo - end <= reach && result == PN_OK; ++j) {
    uint32_t b = places[j].box;
    ++out->steps;
    if (isNear(&boxes[a], &boxes[b], reach) && (!choice || pn_choiceAllows(choice, a, b)))
      result = addPair(out, a, b, most);
  }
  return result;
}

pnResult pn_findNearBoxes(const pnNearBox *boxes, uint32_t count, double reach, const pnChoice *choice, size_t most,
                          pnNearPairs *out) {
  out->count = 0;
  out->steps = 0;
  Place *places = malloc(count * sizeof(Place) + 1);
  if (!places) return pnFail(PN_ERROR_MEMORY, "out of memory for the boxes of %u bodies", count);
  int axis = chooseAxis(boxes, count, reach);
  uint32_t used = 0;
  for (uint32_t i = 0; i < count; ++i)
    if (!isEmpty(&boxes[i])) places[used++] = (Place){boxes[i].lo[axis], i};
  qsort(places, used, sizeof(Place), comparePlaces);
  pnResult result = PN_OK;
  for (uint32_t i = 0; i < used && result == PN_OK; ++i)
    result = addPairsOf(boxes, places, used, i, axis, reach, choice, most, out);
  if (out->count > 0) qsort(out->items, out->count, sizeof(pnPair), comparePairs);
  free(places);
  return result;
}

void pn_freeNearBoxes(pnNearPairs *pairs) {
  free(pairs->items);
  memset(pairs, 0, sizeof(*pairs));
}
