/* bucket_fill.c: the volumes of a tree over a soup, all of them, leaves first: every bucket knows the true box of what it holds.
 *
 * Boxes are kept as 16-bit cells of a grid over the whole (tree.h), 2^13 or more of them. That is fine enough unless nearly
 * everything stands in a small part of the box, as when one primitive is far from all others: then leaves shrink to a
 * cell or two and everything seems to overlap everything. This is detected when the leaves are filled, and such a tree
 * gets spheres for this update: they are floats and fit at any scale. The traversal takes either. */
#include "tree/bucket.h"

#include "geom/sphere.h"
#include "tree/update.h"

#include <math.h>
#include <string.h>

#define GRAIN 512u
/* A leaf of fewer cells than this along its longest side is drowned by rounding to cells: its box grows by a cell a side, a
 * quarter and more of its size. */
#define FEW_CELLS 8.0f
/* Corners are vertices of three floats; those of PN_MAX_PLACES places stay below 2^32 bytes, and views have no more (mirror.c). */
#define CORNER_BYTES 12u

PN_INLINE void orderTwo(uint32_t *a, uint32_t *b) {
  uint32_t less = PN_MIN(*a, *b), more = PN_MAX(*a, *b);
  *a = less;
  *b = more;
}

/* Eight numbers ascending, by the network of Batcher 1968, "Sorting networks and their applications": which of two is less is
 * nothing a processor could predict. */
static void orderEight(uint32_t p[PN_LANES]) {
  for (uint32_t i = 0; i < 8; i += 2) orderTwo(p + i, p + i + 1);
  for (uint32_t i = 0; i < 8; i += 4) {
    orderTwo(p + i, p + i + 2);
    orderTwo(p + i + 1, p + i + 3);
    orderTwo(p + i + 1, p + i + 2);
  }
  for (uint32_t i = 0; i < 4; ++i) orderTwo(p + i, p + i + 4);
  for (uint32_t i = 2; i < 4; ++i) orderTwo(p + i, p + i + 2);
  for (uint32_t i = 1; i < 7; i += 2) orderTwo(p + i, p + i + 1);
}

void pn_fillLists(pnTree *t, const pnBuckets *b, uint32_t leaf) {
  uint32_t at = b->leafBegin.data[leaf], count = b->leafBegin.data[leaf + 1] - at, places[PN_LANES];
  /* places ascend within a leaf (invariant T5), and lanes without a primitive come after them */
  for (uint32_t j = 0; j < PN_LANES; ++j) places[j] = j < count ? b->order[at + j] : PN_NONE;
  orderEight(places);
  memcpy(t->shape->leafTriangles + leaf * (size_t)PN_LANES, places, sizeof places);
  uint32_t *corners = t->shape->sourceCorners + 24 * (size_t)leaf;
  for (uint32_t j = 0; j < PN_LANES; ++j) {
    size_t first = 3 * (size_t)(j < count ? places[j] : places[0]);
    for (uint32_t k = 0; k < 3; ++k)
      corners[3 * j + k] = CORNER_BYTES * (b->soup->isView ? b->soup->numbers[first + k] : (uint32_t)first + k);
  }
}

typedef struct FillPass {
  pnTree *tree;
  const pnBuckets *b;
  float smallLeaf;                /* FEW_CELLS in units of length */
  uint32_t small[PN_MAX_WORKERS]; /* leaves below that, counted by each worker */
} FillPass;

/* The corners of what a leaf holds, four floats each. Returns how many. */
static uint32_t gatherLeaf(const pnTree *t, uint32_t leaf, float points[4 * 3 * PN_LANES]) {
  uint32_t count = t->shape->count[t->shape->innerCount + leaf];
  for (uint32_t j = 0; j < count; ++j) {
    const float *corner[3];
    pn_slotCorners(t, leaf * PN_LANES + j, corner);
    for (uint32_t k = 0; k < 3; ++k) memcpy(points + 4 * (3 * j + k), corner[k], 4 * sizeof(float));
  }
  return 3 * count;
}

/* What a leaf holds, its lanes and its box. */
static void fillLeaves(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  FillPass *pass = context;
  pnTree *t = pass->tree;
  for (uint32_t leaf = begin; leaf < end; ++leaf) {
    uint32_t node = t->shape->innerCount + leaf;
    pn_fillLists(t, pass->b, leaf);
    pn_fillLeaf(t, node);
    pn_markFresh(t, node);
    float points[4 * 3 * PN_LANES];
    uint32_t count = gatherLeaf(t, leaf, points);
    pnF4 lo = pn_f4Load(points), hi = lo;
    for (uint32_t i = 1; i < count; ++i) {
      pnF4 p = pn_f4Load(points + 4 * i);
      lo = pn_f4Min(lo, p);
      hi = pn_f4Max(hi, p);
    }
    float *box = pass->b->boxes + 8 * (size_t)node;
    pn_f4Store(box, lo);
    pn_f4Store(box + 4, hi);
    float longest = PN_MAX(PN_MAX(box[4] - box[0], box[5] - box[1]), box[6] - box[2]);
    pass->small[worker] += longest < pass->smallLeaf;
  }
}

/* Inner nodes from their children, the last first. */
static void fillInner(pnTree *t, const pnBuckets *b) {
  for (uint32_t node = t->shape->innerCount; node-- > 0;) {
    const float *child = b->boxes + 8 * (size_t)t->shape->first[node];
    uint32_t last = t->shape->count[node] - 1u;
    pnF4 lo[PN_LANES], hi[PN_LANES], allLo = pn_f4Load(child), allHi = pn_f4Load(child + 4);
    for (uint32_t j = 0; j < PN_LANES; ++j) {
      lo[j] = pn_f4Load(child + 8 * PN_MIN(j, last));
      hi[j] = pn_f4Load(child + 8 * PN_MIN(j, last) + 4);
      allLo = pn_f4Min(allLo, lo[j]);
      allHi = pn_f4Max(allHi, hi[j]);
    }
    pn_putBoxes(t, node, lo, hi, last + 1);
    pn_f4Store(b->boxes + 8 * (size_t)node, allLo);
    pn_f4Store(b->boxes + 8 * (size_t)node + 4, allHi);
    pn_markFresh(t, node);
  }
}

/* ---------------------------------------------------------------- spheres */

/* The sphere of a leaf takes the place of its box: centre and radius. */
static void sphereLeaves(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  FillPass *pass = context;
  pnTree *t = pass->tree;
  for (uint32_t leaf = begin; leaf < end; ++leaf) {
    float *box = pass->b->boxes + 8 * (size_t)(t->shape->innerCount + leaf), centre[3], points[4 * 3 * PN_LANES];
    uint32_t count = gatherLeaf(t, leaf, points);
    pn_fillLeaf(t, t->shape->innerCount + leaf);
    for (int k = 0; k < 3; ++k) centre[k] = 0.5f * box[k] + 0.5f * box[4 + k];
    memcpy(box, centre, sizeof centre);
    box[3] = pn_sphereRadius(centre, points, count);
  }
}

static pnBound boundOfSphere(const float *sphere) {
  return (pnBound){.centre = {sphere[0], sphere[1], sphere[2]}, .radius = sphere[3]};
}

static void sphereInner(pnTree *t, const pnBuckets *b) {
  for (uint32_t node = t->shape->innerCount; node-- > 0;) {
    pnBound bounds[PN_LANES];
    float *to = b->boxes + 8 * (size_t)node;
    for (uint32_t j = 0; j < t->shape->count[node]; ++j) {
      const float *child = b->boxes + 8 * (size_t)(t->shape->first[node] + j);
      bounds[j] = boundOfSphere(child);
      if (j == 0) memcpy(to, child, 4 * sizeof(float));
      else pn_sphereMerge(to, &to[3], child, child[3]);
    }
    pn_putBounds(t, node, bounds, t->shape->count[node]);
  }
  pnBound root = boundOfSphere(b->boxes);
  pn_putBounds(t, t->shape->nodeCount, &root, 1);
}

/* ---------------------------------------------------------------- all */

float pn_smallLength(const pnTree *tree) {
  return (float)(FEW_CELLS * pn_cellSize(&tree->grid, 0));
}

bool pn_needsSpheres(const pnTree *tree, const pnBuckets *b, uint64_t small) {
  /* most of the leaves drowned? A box too large to measure in float has no spheres: their radii would overflow */
  bool fits = isfinite(pn_distanceUp(&b->box.min.x, &b->box.max.x));
  return 2 * small > tree->shape->leafCount && tree->shape->leafCount > PN_LANES && fits;
}

bool pn_fillBuckets(pnTree *tree, const pnBuckets *b, const pnTasks *tasks) {
  pn_setForm(tree, PN_FORM_BOX);
  pnBound root = {.radius = 0};
  for (int k = 0; k < 3; ++k) {
    root.slabs.lo[k] = (&b->box.min.x)[k];
    root.slabs.hi[k] = (&b->box.max.x)[k];
  }
  if (!pn_setRoot(tree, &root)) return false;
  FillPass pass = {.tree = tree, .b = b, .smallLeaf = pn_smallLength(tree)};
  pn_parallelFor(tasks, fillLeaves, &pass, tree->shape->leafCount, GRAIN);
  uint64_t small = 0;
  for (uint32_t i = 0; i < pn_workerCount(tasks); ++i) small += pass.small[i];
  if (pn_needsSpheres(tree, b, small)) {
    pn_setForm(tree, PN_FORM_SPHERE);
    pn_parallelFor(tasks, sphereLeaves, &pass, tree->shape->leafCount, GRAIN);
    for (uint32_t node = 0; node < tree->shape->innerCount; ++node) pn_markFresh(tree, node);
    sphereInner(tree, b);
  } else {
    fillInner(tree, b);
  }
  return true;
}
