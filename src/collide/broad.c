/* broad.c: see broad.h. [Larsson01, section 3.4], after the sweep and prune of [Cohen95].
 *
 * All three axes are kept sorted by insertion sort, which costs little when boxes move little. The sweep runs along the axis
 * on which the boxes overlap least, so that a crowd in a corridor is swept along the corridor. */
#include "collide/broad.h"

static bool overlap(const pnBox *p, const pnBox *q) {
  return p->min.x <= q->max.x && q->min.x <= p->max.x && p->min.y <= q->max.y && q->min.y <= p->max.y &&
         p->min.z <= q->max.z && q->min.z <= p->max.z;
}

static bool isEmpty(const pnBox *b) {
  return b->min.x > b->max.x || b->min.y > b->max.y || b->min.z > b->max.z;
}

static bool offer(const pnBroadBox *boxes, uint32_t i, uint32_t j, pnPairs *out) {
  const pnBroadBox *a = &boxes[i], *b = &boxes[j];
  if (!pn_mayMeet(a, b) || !overlap(&a->box, &b->box)) {
    return true;
  }
  return pn_arrayPush(out, i < j ? ((pnPair){i, j}) : ((pnPair){j, i}));
}

bool pn_broadAll(const pnBroadBox *boxes, uint32_t count, pnPairs *outPairs) {
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t j = i + 1; j < count; j++) {
      if (!offer(boxes, i, j, outPairs)) {
        return false;
      }
    }
  }
  return true;
}

/* The order of the frame before with new keys; from scratch when the boxes are others. */
static bool sortAxis(pnBroadPhase *broad, int k, const pnBroadBox *boxes, uint32_t count, bool fresh) {
  if (!pn_arrayReserve(&broad->axis[k], count)) {
    return false;
  }
  broad->axis[k].count = count;
  pnFloatKey *items = broad->axis[k].data;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t box = fresh ? i : items[i].value;
    items[i] = (pnFloatKey){(&boxes[box].box.min.x)[k], box};
  }
  broad->moves += pn_insertionSort(items, count);
  return true;
}

/* How much boxes overlap along an axis: the summed lengths over the length of the whole. */
static double crowding(const pnBroadBox *boxes, uint32_t count, int k) {
  double sum = 0, lo = 0, hi = 0;
  for (uint32_t i = 0; i < count; i++) {
    double a = (&boxes[i].box.min.x)[k], b = (&boxes[i].box.max.x)[k];
    if (!isEmpty(&boxes[i].box)) {
      lo = sum == 0 ? a : PN_MIN(lo, a);
      hi = sum == 0 ? b : PN_MAX(hi, b);
      sum += b - a + 1e-300; /* never again 0: the first box was seen */
    }
  }
  return hi > lo ? sum / (hi - lo) : sum;
}

static int comparePairs(const pnPair *a, const pnPair *b) {
  return a->a != b->a ? (a->a < b->a ? -1 : 1) : a->b < b->b ? -1 : a->b > b->b;
}

/* Shell sort: in place, no memory, and the number of pairs is small. */
static void sortPairs(pnPair *p, size_t n) {
  size_t gap = 1;
  while (gap < n / 3) {
    gap = 3 * gap + 1;
  }
  for (; gap > 0; gap /= 3) {
    for (size_t i = gap; i < n; i++) {
      pnPair x = p[i];
      size_t j = i;
      for (; j >= gap && comparePairs(&x, &p[j - gap]) < 0; j -= gap) {
        p[j] = p[j - gap];
      }
      p[j] = x;
    }
  }
}

bool pn_broadSweep(pnBroadPhase *broad, const pnBroadBox *boxes, uint32_t count, uint64_t boxSet, pnPairs *outPairs) {
  bool fresh = broad->boxSet != boxSet || broad->axis[0].count != count;
  broad->moves = 0;
  int axis = 0;
  double least = 0;
  for (int k = 0; k < 3; k++) {
    if (!sortAxis(broad, k, boxes, count, fresh)) {
      broad->axis[0].count = 0;
      return false;
    }
    double c = crowding(boxes, count, k);
    if (k == 0 || c < least) {
      least = c;
      axis = k;
    }
  }
  broad->boxSet = boxSet;
  /* every box against those that begin before it ends */
  size_t first = outPairs->count;
  const pnFloatKey *items = broad->axis[axis].data;
  for (uint32_t i = 0; i < count; i++) {
    float end = (&boxes[items[i].value].box.max.x)[axis];
    for (uint32_t j = i + 1; j < count && items[j].key <= end; j++) {
      if (!offer(boxes, items[i].value, items[j].value, outPairs)) {
        return false;
      }
    }
  }
  sortPairs(outPairs->data + first, outPairs->count - first);
  return true;
}

void pn_broadFree(pnBroadPhase *broad) {
  for (int k = 0; k < 3; k++) {
    pn_arrayFree(&broad->axis[k]);
  }
  *broad = (pnBroadPhase){0};
}
