/* cutting.c: see cutting.h. */
#include "collide/cutting.h"

#include "geom/box.h"

#include <float.h>

/* So many frames ahead the reach goes, as far as the body went in the last one. A list costs two or three frames of going down. */
#define FRAMES_AHEAD 6.0
/* And to all sides by so much of the box: it turns. */
#define MARGIN 0.0625
/* The first, of which no way is known: a box half as long again, which is about what a tenth of it in every frame makes of the others. */
#define FIRST_MARGIN 0.25
/* A list that served fewer questions was not worth making, as one with too many leaves: the next is not made for so many. */
#define LEAST_SERVED 2u
#define PAUSE 16u

/* ---------------------------------------------------------------- the reach */

/* Rounding does no harm: whether a body is within is asked of the box that came out. */
static pnBox reachOf(const pnBox *box, const pnBox *last, double margins) {
  pnBox reach;
  const float *now = &box->min.x, *was = &last->min.x;
  float *out = &reach.min.x;
  for (int d = 0; d < 3; ++d) {
    double lo = now[d], hi = now[d + 3], margin = margins * (hi - lo);
    out[d] = (float)(lo - margin + PN_MIN(0.0, FRAMES_AHEAD * (lo - was[d])));
    out[d + 3] = (float)(hi + margin + PN_MAX(0.0, FRAMES_AHEAD * (hi - was[d + 3])));
  }
  return reach;
}

/* ---------------------------------------------------------------- the list */

/* Nodes that wait on the way down. */
#define MOST_WAITING 128u

pnCells8 pn_cellsOfBox(const pnTree *tree, const pnBox *box) {
  pnCells8 cells;
  const float *sides = &box->min.x;
  for (uint32_t d = 0; d < 3; ++d) {
    int16_t both[PN_LANES];
    pn_h8Store(both, pn_cellsOf(&tree->grid, d, pn_f4Set1(sides[d]), pn_f4Set1(sides[d + 3])));
    cells.lo[d] = pn_h8Set1(both[0]);
    cells.hi[d] = pn_h8Set1(both[4]);
  }
  return cells;
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
  const pnCells8 cells = pn_cellsOfBox(large, &c->reach);
  uint32_t waiting[MOST_WAITING + PN_LANES], count = 1;
  waiting[0] = 0;
  while (count > 0) {
    uint32_t node = waiting[--count];
    pn_freshen(large, node, fresh);
    unsigned mask = pn_lanesIn(pn_lanesOf(large, node), &cells) & ((1u << shape->count[node]) - 1);
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

/* Leaves in packs of eight, the last of which is not full. */
static void packLeaves(pnCutting *c) {
  uint32_t packs = (c->leafCount + PN_LANES - 1) / PN_LANES;
  c->count[0] = (uint8_t)packs;
  for (uint32_t p = 0; p < packs; ++p) {
    c->count[1 + p] = (uint8_t)PN_MIN(PN_LANES, c->leafCount - p * PN_LANES);
    emptyLanes(&c->lanes[1 + p], c->count[1 + p]);
  }
  c->closed = false;
}

/* The nodes above them. Only who opens them needs their boxes, pegs do not. */
static void closeNodes(pnCutting *c) {
  emptyLanes(&c->lanes[0], c->count[0]);
  emptyLanes(&c->lanes[PN_CUTTING_NODES], 1);
  for (uint32_t p = 0; p < c->count[0]; ++p) coverLanes(&c->lanes[0], p, &c->lanes[1 + p]);
  coverLanes(&c->lanes[PN_CUTTING_NODES], 0, &c->lanes[0]);
  c->closed = true;
}

/* ---------------------------------------------------------------- holes */

/* How far a triangle goes along a direction. */
static float lengthAlong(const float *const p[3], const float direction[3]) {
  float at[3];
  for (int k = 0; k < 3; ++k) at[k] = direction[0] * p[k][0] + direction[1] * p[k][1] + direction[2] * p[k][2];
  return PN_MAX(PN_MAX(at[0], at[1]), at[2]) - PN_MIN(PN_MIN(at[0], at[1]), at[2]);
}

/* The direction along which the triangles of a leaf go least far, measured by the boxes around them. Any would do: this is about speed. */
static void chooseGrain(const pnTree *large, uint32_t leaf, float out[4]) {
  static const float axis[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  static const float grains[6][4] = {{1, -1, 0, 0}, {1, 1, 0, 0},  {1, 0, -1, 0},
                                     {1, 0, 1, 0},  {0, 1, -1, 0}, {0, 1, 1, 0}};
  double least = 2, length[3] = {0};
  const float *p[PN_LANES][3];
  uint32_t count = large->shape->count[leaf];
  for (uint32_t j = 0; j < count; ++j) {
    pn_slotCorners(large, PN_LANES * (leaf - large->shape->innerCount) + j, p[j]);
    for (int d = 0; d < 3; ++d) length[d] += (double)lengthAlong(p[j], axis[d]);
  }
  memcpy(out, grains[0], sizeof grains[0]);
  for (int g = 0; g < 6; ++g) {
    double along = 0, box = 0;
    for (uint32_t j = 0; j < count; ++j) along += (double)lengthAlong(p[j], grains[g]);
    for (int d = 0; d < 3; ++d) box += grains[g][d] == 0 ? 0 : length[d];
    if (along < least * box) {
      least = along / box;
      memcpy(out, grains[g], sizeof grains[g]);
    }
  }
}

/* False: it is too large for differences of its coordinates. */
static bool chooseBoard(pnCutting *c, pnTree *large, pnFresh *fresh) {
  pnBoard *b = &c->board;
  const float *reach = &c->reach.min.x;
  bool fits = true;
  uint32_t leaf = c->leaves[c->leafCount / 2];
  pn_freshen(large, leaf, fresh);
  chooseGrain(large, leaf, b->grain);
  b->lo[3] = b->hi[3] = 0;
  for (int d = 0; d < 3; ++d) {
    bool down = b->grain[d] < 0;
    b->lo[d] = reach[d];
    b->hi[d] = reach[d + 3];
    b->lo[3] += b->grain[d] * reach[down ? d + 3 : d];
    b->hi[3] += b->grain[d] * reach[down ? d : d + 3];
  }
  for (int d = 0; d < 4; ++d) {
    float extent = b->hi[d] - b->lo[d];
    b->scale[d] = PN_MIN(PN_BOARD_CELLS / extent, FLT_MAX); /* none: a point is 0 cells from itself */
    fits = fits && extent <= FLT_MAX;
  }
  return fits;
}

/* ---------------------------------------------------------------- following */

/* Is a list wanted? Of a large body that has moved since it was last asked none; else unless the last one was in vain. Of the first, which knew
 * no way, that says nothing. */
static bool wantsList(pnCutting *c, bool still) {
  bool wasted = c->leafCount > 0 && c->served < LEAST_SERVED && !c->isFirst;
  c->pause = wasted ? PAUSE : c->pause - (c->pause > 0);
  return still && c->pause == 0;
}

bool pn_followCutting(pnCutting *c, pnTree *large, const pnTree *small, pnFresh *fresh) {
  bool still = large->serial != 0 && c->serial == large->serial && c->now == large->now;
  bool first = large->serial != 0 && c->serial == 0 && c->trusting;
  pnBox last = first ? small->box : c->last;
  c->last = small->box;
  if (still && c->leafCount > 0 && pn_boxIsWithin(&small->box, &c->reach)) {
    ++c->served;
    return true;
  }
  bool wanted = wantsList(c, still || first);
  c->serial = large->serial;
  c->now = large->now;
  c->leafCount = c->served = 0;
  if (!wanted) return false;
  c->isFirst = first;
  c->reach = reachOf(&small->box, &last, first ? FIRST_MARGIN : MARGIN);
  if (!listReach(c, large, fresh)) {
    c->leafCount = 0;
    c->pause = first ? 0 : PAUSE;
    return false;
  }
  packLeaves(c);
  c->drilled = 0;
  c->hasHoles = small->shape->small && c->leafCount > 0 && chooseBoard(c, large, fresh);
  return c->leafCount > 0;
}

/* The nodes of all cuttings have the same places: eight children of the root, of each of these eight leaves. The root's own box stands behind
 * the last inner node, as leaves have no lanes here. */
#define PLACES (PN_CUTTING_NODES + PN_CUTTING_LEAVES)
static uint32_t s_parent[PLACES] = {PN_LANES * PN_CUTTING_NODES,
                                    PN_EIGHT(0),
                                    PN_EIGHT(8),
                                    PN_EIGHT(16),
                                    PN_EIGHT(24),
                                    PN_EIGHT(32),
                                    PN_EIGHT(40),
                                    PN_EIGHT(48),
                                    PN_EIGHT(56),
                                    PN_EIGHT(64)};
static uint32_t s_first[PN_CUTTING_NODES] = {1, 9, 17, 25, 33, 41, 49, 57, 65};
#define FRESH8 1, 1, 1, 1, 1, 1, 1, 1
static _Atomic uint32_t s_stamp[PLACES] = {1, FRESH8, FRESH8, FRESH8, FRESH8, FRESH8, FRESH8, FRESH8, FRESH8, FRESH8};

void pn_plantCutting(pnCutting *c, const pnTree *large, pnShape *outShape, pnTree *outTree) {
  if (!c->closed) closeNodes(c);
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
