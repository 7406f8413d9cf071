/* cutting.c: see cutting.h. */
#include "collide/cutting.h"

#include "geom/box.h"

/* So many frames ahead the reach goes, as far as the body went in the last one. A list costs two or three frames of going down. */
#define FRAMES_AHEAD 6.0
/* And to all sides by so much of the box: it turns. */
#define MARGIN 0.0625
/* A list that served fewer questions was not worth making, as one with too many leaves: the next is not made for so many. */
#define LEAST_SERVED 2u
#define PAUSE 16u

pnCutting *pn_createCutting(void) {
  pnCutting *c = pn_alloc(sizeof(pnCutting));
  if (c) memset(c, 0, offsetof(pnCutting, leafHole));
  return c;
}

/* ---------------------------------------------------------------- the reach */

/* Rounding does no harm: whether a body is within is asked of the box that came out. */
static pnBox reachOf(const pnBox *box, const pnBox *last) {
  pnBox reach;
  const float *now = &box->min.x, *was = &last->min.x;
  float *out = &reach.min.x;
  for (int d = 0; d < 3; ++d) {
    double lo = now[d], hi = now[d + 3], margin = MARGIN * (hi - lo);
    out[d] = (float)(lo - margin + PN_MIN(0.0, FRAMES_AHEAD * (lo - was[d])));
    out[d + 3] = (float)(hi + margin + PN_MAX(0.0, FRAMES_AHEAD * (hi - was[d + 3])));
  }
  return reach;
}

/* ---------------------------------------------------------------- the list */

/* Nodes that wait on the way down. */
#define MOST_WAITING 128u

/* The cells of a box, lo and hi, each in all lanes. */
typedef struct Cells {
  pnH8 lo[3], hi[3];
} Cells;

static Cells cellsOf(const pnTree *tree, const pnBox *box) {
  Cells cells;
  const float *sides = &box->min.x;
  for (uint32_t d = 0; d < 3; ++d) {
    int16_t both[PN_LANES];
    pn_h8Store(both, pn_cellsOf(&tree->grid, d, pn_f4Set1(sides[d]), pn_f4Set1(sides[d + 3])));
    cells.lo[d] = pn_h8Set1(both[0]);
    cells.hi[d] = pn_h8Set1(both[4]);
  }
  return cells;
}

/* The children of a node that overlap them. */
static unsigned childrenIn(const pnTree *tree, uint32_t node, const Cells *cells) {
  const pnBoxLanes *lanes = pn_lanesOf(tree, node);
  pnH8 in = pn_h8Set1(-1);
  for (uint32_t d = 0; d < 3; ++d) {
    in = pn_h8And(in, pn_h8And(pn_h8LessEqual(pn_h8Load(lanes->row[d][0]), cells->hi[d]),
                               pn_h8LessEqual(cells->lo[d], pn_h8Load(lanes->row[d][1]))));
  }
  return pn_h8Mask(in) & ((1u << tree->shape->count[node]) - 1);
}

PN_INLINE void copyLane(pnBoxLanes *to, uint32_t i, const pnBoxLanes *from, uint32_t j) {
  for (uint32_t d = 0; d < 3; ++d) {
    to->row[d][0][i] = from->row[d][0][j];
    to->row[d][1][i] = from->row[d][1][j];
  }
}

/* Appends those children of a node above leaves. False: they are too many. */
static bool listLeaves(pnCutting *c, const pnTree *large, uint32_t node, unsigned mask) {
  for (; mask != 0; mask &= mask - 1) {
    uint32_t lane = pn_firstLane(mask), i = c->leafCount;
    if (i == PN_CUTTING_LEAVES) return false;
    copyLane(&c->lanes[1 + i / PN_LANES], i % PN_LANES, pn_lanesOf(large, node), lane);
    c->leaves[i] = large->shape->first[node] + lane;
    pn_askForNode(large, c->leaves[i]);
    ++c->leafCount;
  }
  return true;
}

static bool listReach(pnCutting *c, pnTree *large, pnFresh *fresh) {
  const pnShape *shape = large->shape;
  const Cells cells = cellsOf(large, &c->reach);
  uint32_t waiting[MOST_WAITING + PN_LANES], count = 1;
  waiting[0] = 0;
  while (count > 0) {
    uint32_t node = waiting[--count];
    pn_freshen(large, node, fresh);
    unsigned mask = childrenIn(large, node, &cells);
    if (shape->first[node] >= shape->innerCount) {
      if (!listLeaves(c, large, node, mask)) return false;
      continue;
    }
    if (count > MOST_WAITING) return false;
    for (; mask != 0; mask &= mask - 1) {
      uint32_t child = shape->first[node] + pn_firstLane(mask);
      pn_askForNode(large, child);
      __builtin_prefetch(&shape->first[child]);
      waiting[count++] = child;
    }
  }
  return true;
}

/* Lanes from `from` on without a child. */
static void emptyLanes(pnBoxLanes *lanes, uint32_t from) {
  for (uint32_t d = 0; d < 3; ++d) {
    for (uint32_t j = from; j < PN_LANES; ++j) {
      lanes->row[d][0][j] = INT16_MAX;
      lanes->row[d][1][j] = INT16_MIN;
    }
  }
}

/* Lane j of `to` becomes what is around the lanes of a node. */
static void coverLanes(pnBoxLanes *to, uint32_t j, const pnBoxLanes *node) {
  for (uint32_t d = 0; d < 3; ++d) {
    int16_t lo = INT16_MAX, hi = INT16_MIN;
    for (uint32_t i = 0; i < PN_LANES; ++i) {
      lo = PN_MIN(lo, node->row[d][0][i]);
      hi = PN_MAX(hi, node->row[d][1][i]);
    }
    to->row[d][0][j] = lo;
    to->row[d][1][j] = hi;
  }
}

/* The nodes above the leaves that are listed. */
static void closeNodes(pnCutting *c) {
  uint32_t packs = (c->leafCount + PN_LANES - 1) / PN_LANES;
  c->count[0] = (uint8_t)packs;
  emptyLanes(&c->lanes[0], packs);
  emptyLanes(&c->lanes[PN_CUTTING_NODES], 1);
  for (uint32_t p = 0; p < packs; ++p) {
    c->count[1 + p] = (uint8_t)PN_MIN(PN_LANES, c->leafCount - p * PN_LANES);
    emptyLanes(&c->lanes[1 + p], c->count[1 + p]);
    coverLanes(&c->lanes[0], p, &c->lanes[1 + p]);
  }
  coverLanes(&c->lanes[PN_CUTTING_NODES], 0, &c->lanes[0]);
}

/* ---------------------------------------------------------------- holes */

/* Rows into columns: three times the lanes of each and of the one four further on by turns. */
static void turnRows(pnH8 rows[8]) {
  for (int round = 0; round < 3; ++round) {
    pnH8 next[8];
    for (int i = 0; i < 4; ++i) pn_h8Zip(rows[i], rows[i + 4], &next[2 * i], &next[2 * i + 1]);
    memcpy(rows, next, sizeof next);
  }
}

/* Of the boxes in a node; a lane without a child overlaps nothing, and its hole is one that no peg fits. */
static void makeHoles(const pnBoxLanes *lanes, int16_t (*out)[PN_PEG]) {
  pnH8 rows[8];
  for (uint32_t d = 0; d < 3; ++d) {
    rows[d] = pn_h8Load(lanes->row[d][1]);
    rows[4 + d] = pn_h8Negate(pn_h8Load(lanes->row[d][0]));
  }
  rows[3] = rows[7] = pn_h8Set1(INT16_MAX); /* no coordinates: nobody is above */
  turnRows(rows);
  for (uint32_t j = 0; j < PN_LANES; ++j) pn_h8Store(out[j], rows[j]);
}

/* Of all leaves and of all their triangles, which are filled for it. */
static void drillHoles(pnCutting *c, pnTree *large, pnFresh *fresh) {
  for (uint32_t i = 0; i < c->leafCount; i += PN_LANES) makeHoles(&c->lanes[1 + i / PN_LANES], c->leafHole + i);
  for (uint32_t i = 0; i < c->leafCount; ++i) {
    pn_freshen(large, c->leaves[i], fresh);
    makeHoles(pn_lanesOf(large, c->leaves[i]), c->hole[i]);
  }
  c->hasHoles = true;
}

/* ---------------------------------------------------------------- following */

/* Is a list wanted? Of a large body that has moved since it was last asked none; else unless the last one was in vain. */
static bool wantsList(pnCutting *c, bool still) {
  bool wasted = c->leafCount > 0 && c->served < LEAST_SERVED;
  c->pause = wasted ? PAUSE : c->pause - (c->pause > 0);
  return still && c->pause == 0;
}

bool pn_followCutting(pnCutting *c, pnTree *large, const pnTree *small, pnFresh *fresh) {
  bool still = large->serial != 0 && c->serial == large->serial && c->now == large->now;
  pnBox last = c->last;
  c->last = small->box;
  if (still && c->leafCount > 0 && pn_boxIsWithin(&small->box, &c->reach)) {
    ++c->served;
    return true;
  }
  bool wanted = wantsList(c, still);
  c->serial = large->serial;
  c->now = large->now;
  c->leafCount = c->served = 0;
  if (!wanted) return false;
  c->reach = reachOf(&small->box, &last);
  if (!listReach(c, large, fresh)) {
    c->leafCount = 0;
    c->pause = PAUSE;
    return false;
  }
  closeNodes(c);
  c->hasHoles = false;
  if (small->shape->small && large->grid.lift == 1) drillHoles(c, large, fresh);
  return c->leafCount > 0;
}

/* The nodes of all cuttings have the same places: eight children of the root, of each of these eight leaves. The root's own box stands behind
 * the last inner node, as leaves have no lanes here. */
#define EIGHT(x) x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7
#define PLACES (PN_CUTTING_NODES + PN_CUTTING_LEAVES)
static uint32_t s_parent[PLACES] = {PN_LANES * PN_CUTTING_NODES,
                                    EIGHT(0),
                                    EIGHT(8),
                                    EIGHT(16),
                                    EIGHT(24),
                                    EIGHT(32),
                                    EIGHT(40),
                                    EIGHT(48),
                                    EIGHT(56),
                                    EIGHT(64)};
static uint32_t s_first[PN_CUTTING_NODES] = {1, 9, 17, 25, 33, 41, 49, 57, 65};
#define FRESH8 1, 1, 1, 1, 1, 1, 1, 1
static _Atomic uint32_t s_stamp[PLACES] = {1, FRESH8, FRESH8, FRESH8, FRESH8, FRESH8, FRESH8, FRESH8, FRESH8, FRESH8};

void pn_plantCutting(pnCutting *c, const pnTree *large, pnShape *outShape, pnTree *outTree) {
  *outShape = (pnShape){.innerCount = PN_CUTTING_NODES,
                        .leafCount = PN_CUTTING_LEAVES,
                        .nodeCount = PLACES,
                        .first = s_first,
                        .parent = s_parent,
                        .count = c->count};
  *outTree = (pnTree){.pose = large->pose,
                      .shape = outShape,
                      .mesh = large->mesh,
                      .rule = large->rule,
                      .form = large->form,
                      .slabs = large->slabs,
                      .stamp = s_stamp,
                      .lanes = (char *)c->lanes,
                      .laneBytes = sizeof(pnBoxLanes),
                      .now = 1,
                      .grid = large->grid};
}
