/* bucket_keep.c: the order along a curve kept from update to update, our own best index for soups (docs/soup.md).
 *
 * Volumes are always those of this update; only *which* primitives share a leaf comes from the past. So an update that
 * changes nothing but positions is a refit: the boxes of clusters of 64 primitives and the nodes above them now, everything
 * below when a query reaches it, as the hybrid rule does for meshes. The order itself changes in two ways:
 *
 *   merged   primitives that were added, removed or replaced (soup->changed) leave the order; those alive are sorted by
 *            code among themselves and merged. The leaves are filled up as always: with the count unchanged the tree
 *            has the same nodes as before.
 *   sorted   from scratch, when the boxes of the clusters have grown to WORN times what they were after the last sort.
 *            The update that finds this does it, so that no query ever sees a worn tree. */
#include "tree/bucket.h"

#include "tree/update.h"

#include <float.h>

/* Traversal costs grow about as the surface of volumes; a sort costs some ten refits and pays for itself in a few frames at
 * this ratio. */
#define WORN 1.5f
#define GRAIN 64u
/* Primitives whose corners are asked for ahead: places are anywhere in memory, and no processor guesses where. */
#define AHEAD 24u
/* Merging beats sorting while fewer than one in this many have changed. */
#define FEW 4u

static pnBuckets *bucketsOf(const pnTree *tree) {
  return tree->ruleData;
}

/* ---------------------------------------------------------------- the order */

/* Has it come, gone or been replaced since the order was made? */
PN_INLINE bool isChanged(const pnBuckets *b, uint32_t place) {
  return b->soup->changed[place] > (uint32_t)b->seen;
}

/* New since the last update, alive, with codes: sorted into b->fresh. Those beyond the box that codes were made for get the
 * cells at its border. Returns how many. */
static uint32_t listFresh(pnBuckets *b) {
  const pnSoup *soup = b->soup;
  uint32_t count = 0;
  for (uint32_t place = 0; place < soup->placeCount; place++) {
    if (isChanged(b, place) && pn_isAlive(soup, place)) {
      const float *p = soup->positions + 9 * (size_t)place;
      float centre[3];
      for (int k = 0; k < 3; k++) {
        float lo = PN_MIN(p[k], PN_MIN(p[3 + k], p[6 + k])), hi = PN_MAX(p[k], PN_MAX(p[3 + k], p[6 + k]));
        centre[k] = 0.5f * lo + 0.5f * hi;
      }
      b->fresh[count++] = (pnKeyValue){pn_codeOf(b, b->coding, centre), place};
    }
  }
  pn_sortKeyValue(b->fresh, b->scratch, count);
  return count;
}

/* Those that stay and those that are new, in order, into scratch, which becomes the keys. */
static void mergeFresh(pnBuckets *b, uint32_t freshCount) {
  uint32_t to = 0, f = 0;
  for (uint32_t i = 0; i < b->keptCount; i++) {
    pnKeyValue item = b->keys[i];
    if (isChanged(b, item.value)) {
      continue;
    }
    for (; f < freshCount && b->fresh[f].key < item.key; f++) {
      b->scratch[to++] = b->fresh[f];
    }
    b->scratch[to++] = item;
  }
  for (; f < freshCount; f++) {
    b->scratch[to++] = b->fresh[f];
  }
  PN_ASSERT(to == b->count);
  pnKeyValue *keys = b->keys;
  b->keys = b->scratch;
  b->scratch = keys;
  for (uint32_t i = 0; i < to; i++) {
    b->order[i] = b->keys[i].value;
  }
}

static bool sortAnew(pnTree *tree, pnBuckets *b, const pnTasks *tasks) {
  pn_findCentres(b, tasks);
  b->keptCount = 0;
  if (!pn_leavesOfCurve(b, tasks) || !pn_growTree(tree, b)) {
    return false;
  }
  b->keptCount = b->count;
  b->seen = b->soup->changedLast;
  b->builtSurface = -1;
  b->sorts++;
  b->orderNumber++;
  return true;
}

/* Brings the order to the soup. False: out of memory, and the next update sorts anew. */
static bool bringOrder(pnTree *tree, pnBuckets *b, const pnTasks *tasks) {
  /* frames are compared by their lower half: a new upper half is a new beginning */
  if (b->keptCount == 0 || b->soup->changedLast >> 32 != b->seen >> 32) {
    return sortAnew(tree, b, tasks);
  }
  if (b->seen == b->soup->changedLast) {
    return true;
  }
  uint32_t freshCount = listFresh(b);
  if (freshCount > b->count / FEW) {
    return sortAnew(tree, b, tasks);
  }
  mergeFresh(b, freshCount);
  b->orderNumber++;
  if (b->count != b->keptCount) {
    b->keptCount = 0;
    b->leafBegin.count = 0;
    if (!pn_arrayReserve(&b->leafBegin, (size_t)b->count + 1)) {
      return false;
    }
    pn_pushLeaves(b, 0, b->count);
    b->leafBegin.data[b->leafBegin.count] = b->count;
    if (!pn_growTree(tree, b)) {
      return false;
    }
  }
  b->keptCount = b->count;
  b->seen = b->soup->changedLast;
  return true;
}

/* ---------------------------------------------------------------- volumes */

/* The box of order[begin ... end), from the corners. */
static void boxOfRange(const pnBuckets *b, uint32_t begin, uint32_t end, pnF4 *outLo, pnF4 *outHi) {
  pnF4 lo = pn_f4Set1(FLT_MAX), hi = pn_f4Set1(-FLT_MAX), lo1 = lo, hi1 = hi;
  for (uint32_t i = begin; i < end; i++) {
    const float *p = b->soup->positions + 9 * (size_t)b->order[i];
    __builtin_prefetch(b->soup->positions + 9 * (size_t)b->order[PN_MIN(i + AHEAD, b->count - 1)]);
    pnF4 x = pn_f4Load(p), y = pn_f4Load(p + 3), z = pn_f4Load(p + 6);
    lo = pn_f4Min(lo, pn_f4Min(x, y));
    hi = pn_f4Max(hi, pn_f4Max(x, y));
    lo1 = pn_f4Min(lo1, z);
    hi1 = pn_f4Max(hi1, z);
  }
  *outLo = pn_f4Min(lo, lo1);
  *outHi = pn_f4Max(hi, hi1);
}

/* The lanes of an inner node from the boxes of its children. */
static void putChildren(pnTree *t, const pnBuckets *b, uint32_t node) {
  const float *child = b->boxes + 8 * (size_t)t->first[node];
  pnF4 lo[PN_LANES], hi[PN_LANES];
  for (uint32_t j = 0; j < PN_LANES; j++) {
    uint32_t lane = PN_MIN(j, t->count[node] - 1u);
    lo[j] = pn_f4Load(child + 8 * lane);
    hi[j] = pn_f4Load(child + 8 * lane + 4);
  }
  pn_putBoxes(t, node, lo, hi, t->count[node]);
}

void pn_fillKept(pnTree *tree, uint32_t node) {
  const pnBuckets *b = bucketsOf(tree);
  if (pn_isLeaf(tree, node)) {
    uint32_t leaf = node - tree->innerCount;
    if (b->leafLists[leaf] != b->orderNumber) {
      pn_fillLists(tree, b, leaf);
      b->leafLists[leaf] = b->orderNumber;
    }
    pn_fillLeaf(tree, node);
    return;
  }
  putChildren(tree, b, node);
}

/* A cluster: an inner node whose children are leaves; a tree of one leaf is one too. */
static bool isCluster(const pnTree *t, uint32_t node) {
  return pn_isLeaf(t, node) || pn_isLeaf(t, t->first[node]);
}

typedef struct KeepPass {
  pnTree *tree;
  pnBuckets *b;
} KeepPass;

/* The boxes of clusters and of their leaves: corners are read once, in tree order. */
static void boundClusters(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  KeepPass *pass = context;
  pnTree *t = pass->tree;
  float *boxes = pass->b->boxes;
  for (uint32_t node = begin; node < end; node++) {
    if (!isCluster(t, node)) {
      continue;
    }
    uint32_t first, last;
    pnF4 lo = pn_f4Set1(FLT_MAX), hi = pn_f4Set1(-FLT_MAX);
    pn_leafRange(t, node, &first, &last);
    for (uint32_t leaf = first; leaf < last; leaf++) {
      pnF4 l, h;
      boxOfRange(pass->b, t->leafVertexFirst[leaf] / 3, t->leafVertexFirst[leaf + 1] / 3, &l, &h);
      pn_f4Store(boxes + 8 * (size_t)(t->innerCount + leaf), l);
      pn_f4Store(boxes + 8 * (size_t)(t->innerCount + leaf) + 4, h);
      lo = pn_f4Min(lo, l);
      hi = pn_f4Max(hi, h);
    }
    pn_f4Store(boxes + 8 * (size_t)node, lo);
    pn_f4Store(boxes + 8 * (size_t)node + 4, hi);
  }
}

static double surfaceOf(const float *box) {
  double x = (double)box[4] - box[0], y = (double)box[5] - box[1], z = (double)box[6] - box[2];
  return x * y + y * z + z * x;
}

/* The boxes of all nodes from the clusters up, and the soup's. Returns the summed surface of the clusters, relative to the
 * whole. */
static float mergeUp(const pnTree *t, pnBuckets *b) {
  double sum = 0;
  uint32_t count = PN_MAX(t->innerCount, 1u);
  for (uint32_t node = count; node-- > 0;) {
    float *box = b->boxes + 8 * (size_t)node;
    if (isCluster(t, node)) {
      sum += surfaceOf(box);
      continue;
    }
    pnF4 lo = pn_f4Load(b->boxes + 8 * (size_t)t->first[node]),
         hi = pn_f4Load(b->boxes + 8 * (size_t)t->first[node] + 4);
    for (uint32_t j = 1; j < t->count[node]; j++) {
      lo = pn_f4Min(lo, pn_f4Load(b->boxes + 8 * (size_t)(t->first[node] + j)));
      hi = pn_f4Max(hi, pn_f4Load(b->boxes + 8 * (size_t)(t->first[node] + j) + 4));
    }
    pn_f4Store(box, lo);
    pn_f4Store(box + 4, hi);
  }
  const float *all = b->boxes;
  b->box = (pnBox){{all[0], all[1], all[2]}, {all[4], all[5], all[6]}};
  double whole = surfaceOf(all);
  return whole > 0 ? (float)(sum / whole) : 0;
}

/* Leaves in clusters of few cells. */
static uint64_t countSmall(const pnTree *t, const pnBuckets *b) {
  uint64_t count = 0;
  float small = pn_smallLength(t);
  for (uint32_t node = 0; node < t->innerCount; node++) {
    const float *box = b->boxes + 8 * (size_t)node;
    float longest = PN_MAX(PN_MAX(box[4] - box[0], box[5] - box[1]), box[6] - box[2]);
    count += isCluster(t, node) && longest < small ? t->count[node] : 0;
  }
  return count;
}

/* The lanes of the nodes above the clusters. */
static void putEager(pnTree *t, const pnBuckets *b) {
  for (uint32_t node = 0; node < t->innerCount; node++) {
    if (isCluster(t, node)) {
      continue;
    }
    putChildren(t, b, node);
    pn_markFresh(t, node);
    t->eagerUpdated++;
  }
}

/* ---------------------------------------------------------------- the update */

pnResult pn_updateKept(pnTree *tree, pnBuckets *b, const pnTasks *tasks) {
  bool ok = bringOrder(tree, b, tasks);
  for (int tries = 0; ok && tries < 2; tries++) {
    pn_setForm(tree, PN_VOLUME_BOX);
    KeepPass pass = {tree, b};
    pn_parallelFor(tasks, boundClusters, &pass, PN_MAX(tree->innerCount, 1u), GRAIN);
    float surface = mergeUp(tree, b);
    /* just sorted: the measure of later updates. Worn: sort and look again */
    if (b->builtSurface < 0) {
      b->builtSurface = surface;
    }
    if (surface <= WORN * b->builtSurface) {
      break;
    }
    ok = sortAnew(tree, b, tasks);
  }
  if (!ok) {
    return pn_fail(PN_ERROR_MEMORY, "soup '%s': out of memory for the index over %u primitives", b->soup->mesh.name,
                   b->count);
  }
  pnBound root = {.radius = 0};
  for (int k = 0; k < 3; k++) {
    root.slabs.lo[k] = (&b->box.min.x)[k];
    root.slabs.hi[k] = (&b->box.max.x)[k];
  }
  if (!pn_setRoot(tree, &root)) {
    return PN_ERROR_NUMBER;
  }
  if (pn_needsSpheres(tree, b, countSmall(tree, b))) {
    tree->eagerUpdated += tree->nodeCount;
    return pn_fillBuckets(tree, b, tasks) ? PN_OK : PN_ERROR_NUMBER;
  }
  putEager(tree, b);
  return PN_OK;
}
