/* hub_sweep.c: see hub_sweep.h.
 *
 * Rounding. Everything is in double, u = 2^-53. A coordinate of a - v is rounded once, the sum of three magnitudes and the
 * division bring 4 more: each coordinate of an end is off by 5u of itself. A bend is p = (1 - s) a + s b where coordinate k is
 * zero, s = a_k / (a_k - b_k) with a_k, b_k of opposite sign: s is off by at most 5u (ends) + 3u (itself), and moves p by less than 2
 * (the greatest distance of two ends) times that, 16u; products, sum and ends bring 10u. Where |p| >= 2^-26 (else the whole octahedron
 * is the box) scaling p makes of it less than 2^26 (26u + 5u) < 2^-22. With 2^-25 for rounding to float that is less than
 * half of the margin. */
#include "collide/hub_sweep.h"

#include "collide/proof.h"

#include "geom/triangle.h"

#include <math.h>

#define MARGIN 0x1p-20f
#define LEAST_BEND 0x1p-26

static double sizeOf(const double p[3]) {
  return fabs(p[0]) + fabs(p[1]) + fabs(p[2]);
}

/* Makes the box hold a point of the octahedron, given at any size but zero. */
static void take(pnHubItem *item, const double p[3]) {
  double size = sizeOf(p);
  for (int k = 0; k < 3; k++) {
    float x = (float)(p[k] / size);
    item->lo[k] = PN_MIN(item->lo[k], x - MARGIN);
    item->hi[k] = PN_MAX(item->hi[k], x + MARGIN);
  }
}

static void takeAll(pnHubItem *item) {
  for (int k = 0; k < 3; k++) {
    item->lo[k] = -2;
    item->hi[k] = 2;
  }
}

/* The box of the directions between two, scaled to the octahedron. */
static void takeBetween(pnHubItem *item, const double a[3], const double b[3]) {
  take(item, a);
  take(item, b);
  for (int k = 0; k < 3; k++) {
    if ((a[k] < 0 && b[k] > 0) || (a[k] > 0 && b[k] < 0)) {
      double s = a[k] / (a[k] - b[k]), p[3];
      for (int i = 0; i < 3; i++) {
        p[i] = i == k ? 0 : (1 - s) * a[i] + s * b[i];
      }
      if (sizeOf(p) < LEAST_BEND) {
        takeAll(item);
        return;
      }
      take(item, p);
    }
  }
}

/* The directions in which a triangle leaves the point `middle`, at which all its corners at v must be. False: it has none. */
static bool directionBox(const pnTree *tree, uint32_t v, uint32_t slot, const float *middle, pnHubItem *item) {
  const float *corner[3];
  double end[2][3];
  uint32_t weld[3], ends = 0;
  pn_slotCorners(tree, slot, corner);
  pn_weldedCorners(tree->mesh, item->triangle, weld);
  for (int c = 0; c < 3; c++) {
    if (weld[c] == v) {
      if (!pn_samePoint(corner[c], middle)) {
        return false;
      }
      continue;
    }
    double size, *e = end[ends];
    for (int k = 0; k < 3; k++) {
      e[k] = (double)corner[c][k] - middle[k];
    }
    size = sizeOf(e);
    for (int k = 0; size > 0 && k < 3; k++) {
      e[k] /= size;
    }
    ends += size > 0;
  }
  for (int k = 0; k < 3; k++) {
    item->lo[k] = 3;
    item->hi[k] = -3;
  }
  if (ends == 2) {
    takeBetween(item, end[0], end[1]);
  } else if (ends == 1) {
    take(item, end[0]);
  }
  return ends > 0;
}

static void spaceBox(const pnTree *tree, uint32_t slot, pnHubItem *item) {
  const float *corner[3];
  pn_slotCorners(tree, slot, corner);
  for (int k = 0; k < 3; k++) {
    item->lo[k] = PN_MIN(corner[0][k], PN_MIN(corner[1][k], corner[2][k]));
    item->hi[k] = PN_MAX(corner[0][k], PN_MAX(corner[1][k], corner[2][k]));
  }
}

/* Where v is, as the first of its triangles has it. */
static const float *middleOf(const pnTree *tree, const pnFans *fans, uint32_t v) {
  uint32_t triangle = tree->mesh->rings[tree->mesh->ringOffsets[v]], weld[3], c = 0;
  const float *corner[3];
  pn_slotCorners(tree, fans->slotOf[triangle], corner);
  pn_weldedCorners(tree->mesh, triangle, weld);
  while (weld[c] != v) {
    c++;
  }
  return corner[c];
}

/* The axis on which boxes overlap least: the shortest of their summed lengths, over the length of the whole. */
static int leastCrowded(const pnHubItem *items, uint32_t count) {
  int best = 0;
  double least = 0;
  for (int k = 0; k < 3; k++) {
    double sum = 0, lo = 3, hi = -3;
    for (uint32_t i = 0; i < count; i++) {
      sum += (double)items[i].hi[k] - items[i].lo[k];
      lo = PN_MIN(lo, items[i].lo[k]);
      hi = PN_MAX(hi, items[i].hi[k]);
    }
    double crowding = sum / (hi - lo);
    best = k == 0 || crowding < least ? k : best;
    least = k == 0 ? crowding : PN_MIN(least, crowding);
  }
  return best;
}

/* Sorts the regular ones by where they begin on the axis. */
static bool sortItems(pnHubSweep *s) {
  uint32_t n = s->regular;
  if (!pn_arrayReserve(&s->keys, n) || !pn_arrayReserve(&s->keyScratch, n) || !pn_arrayReserve(&s->scratch, n)) {
    return false;
  }
  for (uint32_t i = 0; i < n; i++) {
    s->keys.data[i] = (pnKeyValue){pn_floatOrder(s->items.data[i].lo[s->axis]), i};
  }
  pn_sortKeyValue(s->keys.data, s->keyScratch.data, n);
  for (uint32_t i = 0; i < n; i++) {
    s->scratch.data[i] = s->items.data[s->keys.data[i].value];
  }
  if (n > 0) {
    memcpy(s->items.data, s->scratch.data, n * sizeof(pnHubItem));
  }
  return true;
}

bool pn_beginHub(pnHubSweep *s, const pnTree *tree, const pnFans *fans, uint32_t v) {
  const pnMesh *mesh = tree->mesh;
  uint32_t begin = mesh->ringOffsets[v], count = mesh->ringOffsets[v + 1] - begin, loose = 0;
  const float *middle = middleOf(tree, fans, v);
  s->items.count = 0;
  if (!pn_arrayReserve(&s->items, count)) {
    return false;
  }
  s->items.count = count;
  s->vertex = v;
  s->regular = s->i = 0;
  s->inSpace = false;
  for (uint32_t r = 0; r < count; r++) {
    pnHubItem item = {.triangle = mesh->rings[begin + r]};
    bool regular = directionBox(tree, v, fans->slotOf[item.triangle], middle, &item);
    s->items.data[regular ? s->regular++ : count - ++loose] = item;
  }
  s->axis = leastCrowded(s->items.data, s->regular);
  s->j = 1;
  return sortItems(s);
}

static bool overlap(const pnHubItem *p, const pnHubItem *q) {
  bool apart = false;
  for (int k = 0; k < 3; k++) {
    apart = apart || p->lo[k] > q->hi[k] || q->lo[k] > p->hi[k];
  }
  return !apart;
}

/* Offers the pair at (i, j). */
static bool offer(const pnHubSweep *s, const pnTree *tree, const pnFans *fans, pnPairs *candidates) {
  const pnHubItem *p = &s->items.data[s->i], *q = &s->items.data[s->j];
  if (!overlap(p, q) || pn_smallestShared(tree->mesh, p->triangle, q->triangle) != s->vertex) {
    return true;
  }
  return pn_arrayPush(candidates, ((pnPair){fans->slotOf[p->triangle], fans->slotOf[q->triangle]}));
}

/* From directions to space: those that are not regular, each with all before it. */
static void goToSpace(pnHubSweep *s, const pnTree *tree, const pnFans *fans) {
  s->inSpace = true;
  s->i = s->regular;
  s->j = 0;
  for (size_t k = 0; s->i < s->items.count && k < s->items.count; k++) {
    spaceBox(tree, fans->slotOf[s->items.data[k].triangle], &s->items.data[k]);
  }
}

bool pn_listHub(pnHubSweep *s, const pnTree *tree, const pnFans *fans, size_t most, pnPairs *candidates,
                bool *outDone) {
  while (!s->inSpace && s->i < s->regular) {
    float end = s->items.data[s->i].hi[s->axis];
    for (; s->j < s->regular && s->items.data[s->j].lo[s->axis] <= end; s->j++) {
      if (candidates->count >= most) {
        *outDone = false;
        return true;
      }
      if (!offer(s, tree, fans, candidates)) {
        return false;
      }
    }
    s->i++;
    s->j = s->i + 1;
  }
  if (!s->inSpace) {
    goToSpace(s, tree, fans);
  }
  for (; s->i < s->items.count; s->i++, s->j = 0) {
    for (; s->j < s->i; s->j++) {
      if (candidates->count >= most) {
        *outDone = false;
        return true;
      }
      if (!offer(s, tree, fans, candidates)) {
        return false;
      }
    }
  }
  *outDone = true;
  return true;
}

void pn_freeHubSweep(pnHubSweep *s) {
  pn_arrayFree(&s->items);
  pn_arrayFree(&s->scratch);
  pn_arrayFree(&s->keys);
  pn_arrayFree(&s->keyScratch);
}

/* ---------------------------------------------------------------- the row */

/* The top of a hub's subtree with itself: all below it are neighbours, which fans know. */
static void pruneHubs(const pnTraversal *t, pnWorker *w, pnPairs *list, size_t from) {
  (void)w;
  size_t kept = from;
  for (size_t i = from; i < list->count; i++) {
    pnPair p = list->data[i];
    list->data[kept] = p;
    kept += p.a != p.b || !pn_isHubRoot(t->a->shape, p.a);
  }
  list->count = kept;
}

const pnProof pn_proofHubs = {.name = "hubs", .prune = pruneHubs, .lists = PN_PRUNE_SEEDS | PN_PRUNE_NODES};
