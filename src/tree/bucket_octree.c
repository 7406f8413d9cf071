/* bucket_octree.c: the full octree of both algorithms of [Ganovelli00], and from buckets to tree order and leaves. Buckets that hold
 * more than a leaf can are divided, along a curve. */
#include "tree/bucket.h"

#include <string.h>

/* ---------------------------------------------------------------- life */

/* The smallest octree with no more primitives than buckets * 8: a leaf each, were they spread evenly. */
static uint32_t autoLevels(uint32_t count) {
  uint32_t levels = 1;
  while (levels < PN_MAX_LEVELS && (8ull << 3 * levels) < count) ++levels;
  return levels;
}

static size_t nodeBytes(const pnOctree *o) {
  return o->nodes ? pn_bytes(pn_levelBegin(o->nodeLevels + 1), sizeof(pnBucketNode)) : 0;
}

/* For as many levels as it ever had. A new one has no marks. */
static bool reserveNodes(pnOctree *o) {
  if (o->levels <= o->nodeLevels && o->nodes) return true;
  pnBucketNode *nodes = pn_allocZero(pn_bytes(pn_levelBegin(o->levels + 1), sizeof(pnBucketNode)));
  if (!nodes) return false;
  pn_free(o->nodes, nodeBytes(o));
  o->nodes = nodes;
  o->nodeLevels = o->levels;
  return true;
}

bool pn_beginOctree(const pnBuckets *b, pnOctree *o) {
  o->levels = b->lab.levels ? b->lab.levels : autoLevels(b->count);
  if (!reserveNodes(o)) return false;
  /* a new number for the marks; when it runs out they are cleared once */
  if (++o->step == 0) {
    memset(o->nodes, 0, pn_levelBegin(o->nodeLevels + 1) * sizeof(pnBucketNode));
    o->step = 1;
  }
  return true;
}

void pn_freeOctree(pnBuckets *b) {
  pnOctree *o = pn_octreeOf(b);
  pn_free(o->nodes, nodeBytes(o));
}

size_t pn_octreeBytes(const pnBuckets *b) {
  return nodeBytes(pn_octreeOf(b));
}

void pn_tellOctree(const pnBuckets *b, pnBucketInfo *out) {
  const pnOctree *o = pn_octreeOf(b);
  out->levels = o->levels;
  out->bucketCount = o->bucketCount;
  out->largest = o->largest;
  out->placeSeconds = o->placeSeconds;
}

/* ---------------------------------------------------------------- leaves */

/* Counts a primitive into its bucket; a bucket's first one marks the way up to the first node that is marked already. */
PN_INLINE void countInto(pnOctree *o, uint32_t cell) {
  pnBucketNode *bucket = &o->nodes[pn_levelBegin(o->levels) + cell];
  if (bucket->mark == o->step) {
    ++bucket->at;
    return;
  }
  bucket->mark = o->step;
  bucket->at = 1;
  for (uint32_t level = o->levels; level-- > 0;) {
    cell >>= 3;
    pnBucketNode *node = &o->nodes[pn_levelBegin(level) + cell];
    if (node->mark == o->step) return;
    node->mark = o->step;
  }
}

/* Gives every bucket its range of the tree order, marked nodes only, in Morton order. Leaves are counted here and filled later. */
static void assignRanges(pnOctree *o, uint32_t level, uint32_t index, uint32_t *ioAt, uint32_t *ioLeaf) {
  pnBucketNode *node = &o->nodes[pn_levelBegin(level) + index];
  if (node->mark != o->step) return;
  node->leafFirst = *ioLeaf;
  if (level == o->levels) {
    uint32_t count = node->at;
    node->at = *ioAt;
    *ioAt += count;
    *ioLeaf += (count + PN_LANES - 1) / PN_LANES;
    ++o->bucketCount;
    o->largest = PN_MAX(o->largest, count);
  } else {
    for (uint32_t j = 0; j < 8; ++j) assignRanges(o, level + 1, 8 * index + j, ioAt, ioLeaf);
  }
  node->leafCount = *ioLeaf - node->leafFirst;
}

bool pn_leavesOfBuckets(pnBuckets *b, pnOctree *o) {
  if (!pn_beginLeaves(b)) return false;
  const pnSoup *soup = b->soup;
  o->bucketCount = o->largest = 0;
  for (uint32_t place = 0; place < soup->placeCount; ++place)
    if (pn_isAlive(soup, place)) countInto(o, b->cells[place]);
  uint32_t at = 0, leaf = 0;
  assignRanges(o, 0, 0, &at, &leaf);
  /* every primitive to its place; a bucket's `at` ends where the bucket ends */
  pnBucketNode *buckets = o->nodes + pn_levelBegin(o->levels);
  for (uint32_t place = 0; place < soup->placeCount; ++place)
    if (pn_isAlive(soup, place)) b->order[buckets[b->cells[place]].at++] = place;
  /* leaves, bucket by bucket: the next begins where the one before ended */
  for (uint32_t begin = 0, end; begin < b->count; begin = end) {
    end = buckets[b->cells[b->order[begin]]].at;
    if (end - begin > PN_LANES) {
      pnOrdering ordering = {b, b->order, b->keys, b->scratch};
      pnCells cells[3];
      pn_sortRange(&ordering, begin, end - begin, NULL, cells);
    }
    pn_pushLeaves(b, begin, end - begin);
  }
  b->leafBegin.data[b->leafBegin.count] = b->count;
  return true;
}
