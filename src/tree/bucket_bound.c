/* bucket_bound.c: the volumes of a kept order: boxes of clusters and of the nodes above them now, everything below when a query
 * reaches it, as the hybrid rule does for meshes [Larsson01, section 3.3].
 *
 * A cluster is eight leaves, 64 primitives. Its primitives stand anywhere in the soup, and reading a million of them in tree order
 * is a million jumps through memory. So the corners are read *in the order of places*, as they lie, and each
 * primitive is put into the box of its cluster: those boxes are few, 32 bytes for 64 primitives, and stay in the second
 * cache. Smallest and largest do not depend on the order, so the boxes are the same. */
#include "tree/bucket.h"

#include "tree/update.h"

#include <float.h>

/* Places a task takes at a time. */
#define GRAIN 8192u
/* Strands of places that are read side by side. Neighbours in memory are mostly in one cluster, whose box is then read right after
 * it was written; the strands are far apart, so that three others go on while one waits for that. */
#define STRANDS 4u
/* Clusters that are looked at to guess what became of all. */
#define SAMPLES 16u

/* ---------------------------------------------------------------- where a primitive belongs */

/* A cluster: an inner node whose children are leaves; a tree of one leaf is one too. */
static bool isCluster(const pnTree *t, uint32_t node) {
  return pn_isLeaf(t, node) || pn_isLeaf(t, t->shape->first[node]);
}

/* Nodes that have boxes here; dead places are put into one more. */
static uint32_t boxCount(const pnTree *t) {
  return PN_MAX(t->shape->innerCount, 1u);
}

void pn_assignRange(const pnTree *t, const uint32_t *order, uint32_t first, uint32_t end, uint32_t *outCells) {
  /* the leaves of a kept order are full but for the last: eight of them are 64 primitives */
  for (uint32_t at = first; at < end; at += PN_LANES) {
    uint32_t node = t->shape->innerCount ? t->shape->parent[t->shape->innerCount + at / PN_LANES] / PN_LANES : 0;
    for (uint32_t i = at; i < PN_MIN(at + PN_LANES, end); ++i) outCells[order[i]] = node;
  }
}

void pn_assignClusters(const pnTree *t, pnBuckets *b) {
  uint32_t places = b->soup->placeCount, nobody = boxCount(t);
  if (places != b->count)
    for (uint32_t place = 0; place < places; ++place) b->cells[place] = nobody;
  pn_assignRange(t, b->order, 0, b->count, b->cells);
}

/* ---------------------------------------------------------------- boxes of clusters */

typedef struct BoundPass {
  pnBuckets *b;
  uint32_t count; /* boxes of each worker, with the one of nobody */
  bool used[PN_MAX_WORKERS];
} BoundPass;

static float *boxesOf(const BoundPass *pass, uint32_t worker) {
  return worker == 0 ? pass->b->boxes : pn_keptOf(pass->b)->workerBoxes.data + (worker - 1) * (size_t)pass->count * 8;
}

static void emptyBoxes(float *boxes, uint32_t count) {
  pnF4 lo = pn_f4Set1(FLT_MAX), hi = pn_f4Set1(-FLT_MAX);
  for (uint32_t i = 0; i < count; ++i) {
    pn_f4Store(boxes + 8 * (size_t)i, lo);
    pn_f4Store(boxes + 8 * (size_t)i + 4, hi);
  }
}

/* Puts one primitive into a box. */
PN_INLINE void putInto(float *box, const pnSoup *soup, bool isView, uint32_t place) {
  pnF4 p[3];
  pn_loadPlaceOf(soup, isView, place, p);
  pn_f4Store(box, pn_f4Min(pn_f4Load(box), pn_f4Min(p[0], pn_f4Min(p[1], p[2]))));
  pn_f4Store(box + 4, pn_f4Max(pn_f4Load(box + 4), pn_f4Max(p[0], pn_f4Max(p[1], p[2]))));
}

/* All of a range, each into the box of its cluster. */
PN_INLINE void putRange(float *boxes, const pnBuckets *b, bool isView, uint32_t begin, uint32_t end) {
  uint32_t strand = (end - begin) / STRANDS;
  for (uint32_t i = begin; i < begin + strand; ++i)
    for (uint32_t k = 0, at = i; k < STRANDS; ++k, at += strand)
      putInto(boxes + 8 * (size_t)b->cells[at], b->soup, isView, at);
  for (uint32_t i = begin + STRANDS * strand; i < end; ++i)
    putInto(boxes + 8 * (size_t)b->cells[i], b->soup, isView, i);
}

static void boundPlaces(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  BoundPass *pass = context;
  float *boxes = boxesOf(pass, worker);
  if (!pass->used[worker]) {
    emptyBoxes(boxes, pass->count);
    pass->used[worker] = true;
  }
  if (pass->b->soup->isView) putRange(boxes, pass->b, true, begin, end);
  else putRange(boxes, pass->b, false, begin, end);
}

bool pn_boundClusters(const pnTree *t, pnBuckets *b, const pnTasks *tasks) {
  pnKept *kept = pn_keptOf(b);
  BoundPass pass = {.b = b, .count = boxCount(t) + 1};
  uint32_t workers = pn_workerCount(tasks);
  if (!pn_arrayReserve(&kept->workerBoxes, (workers - 1) * (size_t)pass.count * 8)) return false;
  pn_parallelFor(tasks, boundPlaces, &pass, b->soup->placeCount, GRAIN);
  if (!pass.used[0]) emptyBoxes(b->boxes, pass.count);
  for (uint32_t w = 1; w < workers; ++w) {
    const float *more = boxesOf(&pass, w);
    for (size_t i = 0; pass.used[w] && i < 8 * (size_t)pass.count; i += 8) {
      pn_f4Store(b->boxes + i, pn_f4Min(pn_f4Load(b->boxes + i), pn_f4Load(more + i)));
      pn_f4Store(b->boxes + i + 4, pn_f4Max(pn_f4Load(b->boxes + i + 4), pn_f4Load(more + i + 4)));
    }
  }
  return true;
}

/* ---------------------------------------------------------------- upwards */

/* Sides that no box is longer than. */
typedef struct Limit {
  double side[3];
} Limit;

/* Beside one triangle that is far away nobody would see how the others are, so that no side counts for more than that of the bulk, as of the last update.
 * (Where that is says nothing: a soup may have gone on since by more than its length.) */
static Limit limitOf(const pnTree *t) {
  const float *lo = &t->bulk.box.min.x, *hi = &t->bulk.box.max.x;
  Limit limit;
  for (int k = 0; k < 3; ++k) limit.side[k] = t->bulk.isThere ? (double)hi[k] - lo[k] : DBL_MAX;
  return limit;
}

static double surfaceOf(const float *box, const Limit *limit) {
  double s[3];
  for (int k = 0; k < 3; ++k) s[k] = PN_MIN((double)box[4 + k] - box[k], limit->side[k]);
  return s[0] * s[1] + s[1] * s[2] + s[2] * s[0];
}

float pn_mergeClusters(const pnTree *t, pnBuckets *b) {
  double sum = 0;
  const Limit limit = limitOf(t);
  for (uint32_t node = boxCount(t); node-- > 0;) {
    float *box = b->boxes + 8 * (size_t)node;
    if (isCluster(t, node)) {
      sum += surfaceOf(box, &limit);
      continue;
    }
    const float *child = b->boxes + 8 * (size_t)t->shape->first[node];
    pnF4 lo = pn_f4Load(child), hi = pn_f4Load(child + 4);
    for (uint32_t j = 1; j < t->shape->count[node]; ++j) {
      lo = pn_f4Min(lo, pn_f4Load(child + 8 * j));
      hi = pn_f4Max(hi, pn_f4Load(child + 8 * j + 4));
    }
    pn_f4Store(box, lo);
    pn_f4Store(box + 4, hi);
  }
  const float *all = b->boxes;
  b->box = (pnBox){{all[0], all[1], all[2]}, {all[4], all[5], all[6]}};
  double whole = surfaceOf(all, &limit);
  return whole > 0 ? (float)(sum / whole) : 0;
}

float pn_sampleClusters(const pnTree *t, const pnBuckets *b) {
  const uint32_t cluster = PN_LANES * PN_LANES;
  uint32_t count = (b->count + cluster - 1) / cluster, samples = PN_MIN(count, SAMPLES);
  const float last[8] = {b->box.min.x, b->box.min.y, b->box.min.z, 0, b->box.max.x, b->box.max.y, b->box.max.z, 0};
  const Limit limit = limitOf(t);
  double sum = 0, whole = surfaceOf(last, &limit);
  for (uint32_t s = 0; s < samples; ++s) {
    uint32_t first = (uint32_t)((uint64_t)s * count / samples) * cluster, end = PN_MIN(first + cluster, b->count);
    float box[8];
    emptyBoxes(box, 1);
    for (uint32_t i = first; i < end; ++i) putInto(box, b->soup, b->soup->isView, b->order[i]);
    sum += surfaceOf(box, &limit);
  }
  return whole > 0 ? (float)(sum * count / samples / whole) : 0;
}

uint64_t pn_countSmall(const pnTree *t, const pnBuckets *b) {
  uint64_t count = 0;
  float small = pn_smallLength(t);
  for (uint32_t node = 0; node < t->shape->innerCount; ++node) {
    const float *box = b->boxes + 8 * (size_t)node;
    float longest = PN_MAX(PN_MAX(box[4] - box[0], box[5] - box[1]), box[6] - box[2]);
    count += isCluster(t, node) && longest < small ? t->shape->count[node] : 0;
  }
  return count;
}

/* ---------------------------------------------------------------- lanes */

/* The lanes of a node above the clusters. */
static void putChildren(pnTree *t, const pnBuckets *b, uint32_t node) {
  const float *child = b->boxes + 8 * (size_t)t->shape->first[node];
  pnF4 lo[PN_LANES], hi[PN_LANES];
  for (uint32_t j = 0; j < PN_LANES; ++j) {
    uint32_t lane = PN_MIN(j, t->shape->count[node] - 1u);
    lo[j] = pn_f4Load(child + 8 * lane);
    hi[j] = pn_f4Load(child + 8 * lane + 4);
  }
  pn_putBoxes(t, node, lo, hi, t->shape->count[node]);
}

void pn_putEager(pnTree *t, const pnBuckets *b) {
  for (uint32_t node = 0; node < t->shape->innerCount; ++node) {
    if (!isCluster(t, node)) {
      putChildren(t, b, node);
      pn_markFresh(t, node);
      ++t->eagerUpdated;
    }
  }
}

/* The lanes of a cluster, from the corners. They are all asked for before the first is looked at; a query that comes here mostly
 * goes on to the leaves, which then find them near. */
static void putLeaves(pnTree *t, const pnBuckets *b, uint32_t node) {
  uint32_t leaf = t->shape->first[node] - t->shape->innerCount, count = t->shape->count[node];
  const uint32_t *begin = b->leafBegin.data + leaf;
  for (uint32_t i = begin[0]; i < begin[count]; ++i) pn_prefetchPlace(b->soup, b->order[i]);
  pnF4 lo[PN_LANES], hi[PN_LANES];
  for (uint32_t j = 0; j < PN_LANES; ++j) {
    if (j >= count) {
      lo[j] = lo[count - 1], hi[j] = hi[count - 1];
      continue;
    }
    pnF4 l = pn_f4Set1(FLT_MAX), h = pn_f4Set1(-FLT_MAX);
    for (uint32_t i = begin[j]; i < begin[j + 1]; ++i) {
      pnF4 p[3];
      pn_loadPlace(b->soup, b->order[i], p);
      l = pn_f4Min(l, pn_f4Min(p[0], pn_f4Min(p[1], p[2])));
      h = pn_f4Max(h, pn_f4Max(p[0], pn_f4Max(p[1], p[2])));
    }
    lo[j] = l, hi[j] = h;
  }
  pn_putBoxes(t, node, lo, hi, count);
}

void pn_fillKept(pnTree *tree, uint32_t node) {
  const pnBuckets *b = tree->ruleData;
  const pnKept *kept = pn_keptOf(b);
  if (!pn_isLeaf(tree, node)) {
    putLeaves(tree, b, node);
    return;
  }
  uint32_t leaf = node - tree->shape->innerCount;
  if (b->leafLists[leaf] != kept->orderNumber) {
    pn_fillLists(tree, b, leaf);
    b->leafLists[leaf] = kept->orderNumber;
  }
  pn_fillLeaf(tree, node);
}
