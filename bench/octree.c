/* octree.c: see octree.h. */
#include "octree.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static uint32_t levelBegin(uint32_t d) {
  return ((1u << 3 * d) - 1) / 7;
}

static void include(pnLabOctreeNode *n, const float *lo, const float *hi) {
  for (int k = 0; k < 3; ++k) {
    n->lo[k] = fminf(n->lo[k], lo[k]);
    n->hi[k] = fmaxf(n->hi[k], hi[k]);
  }
  ++n->count;
}

pnLabOctree pn_labMakeOctree(const float *positions, uint32_t count, uint32_t levels) {
  uint32_t total = levelBegin(levels + 1);
  pnLabOctree o = {malloc(sizeof(pnLabOctreeNode) * total), levels, 0, 0};
  for (uint32_t i = 0; i < total; ++i)
    o.nodes[i] = (pnLabOctreeNode){{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}, 0};
  float lo[3] = {FLT_MAX, FLT_MAX, FLT_MAX}, hi[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX};
  for (uint32_t i = 0; i < 9 * count; ++i) {
    lo[i % 3] = fminf(lo[i % 3], positions[i]);
    hi[i % 3] = fmaxf(hi[i % 3], positions[i]);
  }
  for (uint32_t i = 0; i < count; ++i) {
    const float *p = positions + 9 * (size_t)i;
    float l[3], h[3];
    uint32_t code = 0;
    for (int k = 0; k < 3; ++k) {
      l[k] = fminf(p[k], fminf(p[3 + k], p[6 + k]));
      h[k] = fmaxf(p[k], fmaxf(p[3 + k], p[6 + k]));
      uint32_t cell = (uint32_t)((0.5f * (l[k] + h[k]) - lo[k]) / (hi[k] - lo[k]) * (float)(1u << levels));
      cell = cell < 1u << levels ? cell : (1u << levels) - 1;
      for (uint32_t b = 0; b < levels; ++b) code |= (cell >> b & 1) << (3 * b + (uint32_t)k);
    }
    for (uint32_t d = levels + 1; d-- > 0; code >>= 3) include(&o.nodes[levelBegin(d) + code], l, h);
  }
  return o;
}

static double volumeOf(const pnLabOctreeNode *n) {
  return ((double)n->hi[0] - n->lo[0]) * ((double)n->hi[1] - n->lo[1]) * ((double)n->hi[2] - n->lo[2]);
}

/* Counts pairs of buckets that overlap. */
static void visit(pnLabOctree *a, uint32_t da, uint32_t i, const pnLabOctree *b, uint32_t db, uint32_t j,
                  pnLabOctreeRule rule) {
  const pnLabOctreeNode *p = &a->nodes[levelBegin(da) + i], *q = &b->nodes[levelBegin(db) + j];
  if (!p->count || !q->count) return;
  ++a->tests;
  for (int k = 0; k < 3; ++k)
    if (p->lo[k] > q->hi[k] || q->lo[k] > p->hi[k]) return;
  bool leafA = da == a->levels, leafB = db == b->levels;
  if (leafA && leafB) {
    ++a->hits;
    return;
  }
  bool smallerA = volumeOf(p) < volumeOf(q), openA = rule == PN_LAB_OCTREE_SMALLER ? smallerA : !smallerA;
  openA = !leafA && (leafB || openA || rule == PN_LAB_OCTREE_BOTH);
  bool openB = !leafB && (rule == PN_LAB_OCTREE_BOTH || !openA);
  for (uint32_t x = 0; x < (openA ? 8u : 1u); ++x)
    for (uint32_t y = 0; y < (openB ? 8u : 1u); ++y)
      visit(a, da + openA, openA ? 8 * i + x : i, b, db + openB, openB ? 8 * j + y : j, rule);
}

void pn_labVisitOctrees(pnLabOctree *a, const pnLabOctree *b, pnLabOctreeRule rule) {
  a->tests = a->hits = 0;
  visit(a, 0, 0, b, 0, 0, rule);
}

void pn_labFreeOctree(pnLabOctree *octree) {
  free(octree->nodes);
  octree->nodes = NULL;
}
