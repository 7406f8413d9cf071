/* apart.c: the distance between two trees.
 *
 * Pairs of nodes are opened on the side whose box is larger, children in the order of their distance from the other node's box, and a
 * pair that is farther apart than what was found is not opened. The way down to the first pair of triangles is mostly the
 * way to the closest. Bounds are floats on the lattice of the tree that is opened (lanes.h), with the other's box brought there.
 *
 * Boxes of a surface that runs aslant are closer to each other than what is in them, by as much as they are large: between two
 * balls they leave thousands of pairs of leaves to look at. So leaves have a second bound, which is tight to the second order: the
 * *gap* along the line of the closest points known so far. Whatever the line, bodies are as far apart as their places along it; how
 * far the triangles of a leaf reach is computed once for each line and kept.
 *
 * A node that reaches beyond its lattice (lanes.h) has a box that ends with its body, and its pairs have a slack of their own and no gap.
 *
 * Triangles whose boxes overlap are asked exactly whether they meet; from the first that do only those pairs are looked at
 * whose boxes are not apart, for the one with the smallest numbers. */
#include "query/apart.h"

#include "base/fenv.h"
#include "geom/apart.h"
#include "geom/triangle.h"

#include <math.h>

/* A box of the world. */
typedef struct Box {
  double lo[3], hi[3];
  bool isBeyond; /* it is that of a lane which reaches beyond */
} Box;

/* How far the triangles of a leaf reach along the line towards the other body. */
typedef struct Reach {
  uint32_t leaf, line; /* of which leaf, and along which line: kept while it is this one */
  double most, lane[PN_LANES];
} Reach;

/* A leaf has its place by the last bits of its number. */
#define KEPT_REACHES 64u

typedef struct BodySide {
  pnTree *tree;
  pnLattice lattice;
  float limit;       /* in square cells: what is farther is of no interest */
  float slackBeyond; /* and how much more slack there is for what reaches beyond */
  double towards[3]; /* the line, towards the other body; length 1 */
  Reach kept[KEPT_REACHES];
} BodySide;

typedef struct ApartSearch {
  BodySide side[2];
  pnFresh *fresh;
  pnApart *apart;
  double origin[3];                /* of places along the line: somewhere near */
  double farthest, farthestBeyond; /* the larger of both lattices' */
  double limit;                    /* what is farther along the line is of no interest */
  uint32_t line;                   /* how many lines there were; 0: none yet */
} ApartSearch;

/* ---------------------------------------------------------------- triangles */

static bool boxesOverlap(const float *const a[3], const float *const b[3]) {
  for (int k = 0; k < 3; ++k) {
    float loA = PN_MIN(a[0][k], PN_MIN(a[1][k], a[2][k])), hiA = PN_MAX(a[0][k], PN_MAX(a[1][k], a[2][k]));
    float loB = PN_MIN(b[0][k], PN_MIN(b[1][k], b[2][k])), hiB = PN_MAX(b[0][k], PN_MAX(b[1][k], b[2][k]));
    if (loA > hiB || loB > hiA) return false;
  }
  return true;
}

static pnTriangle triangleOf(const float *const c[3]) {
  pnTriangle t;
  for (int n = 0; n < 3; ++n)
    for (int k = 0; k < 3; ++k) t.v[n][k] = c[n][k];
  return t;
}

bool pn_tryApart(const float *const a[3], uint32_t triangleA, const float *const b[3], uint32_t triangleB,
                 pnApart *apart) {
  pnApart found = {.a = triangleA, .b = triangleB};
  bool meets = false;
  if (boxesOverlap(a, b)) {
    pnTriangle s = triangleOf(a), t = triangleOf(b);
    meets = pnTrianglesMeet(&s, &t);
  }
  // Those that do not meet are apart, also when rounding says that they are not.
  if (!meets) {
    found.distance2 = pn_triangleDistance2(a, b, found.onA, found.onB);
    found.distance2 = PN_MAX(found.distance2, 0x1p-1000);
  }
  if (found.distance2 > apart->distance2) return false;
  bool isSmaller = found.a != apart->a ? found.a < apart->a : found.b < apart->b;
  if (found.distance2 == apart->distance2 && !isSmaller) return false;
  *apart = found;
  return true;
}

/* ---------------------------------------------------------------- nodes */

/* After something closer was found: limits, and the line of the closest points.
 *
 * Of bodies whose coordinates are up to M places along the line are off by less than 40 times 2^-53 of M, of both together: twenty
 * roundings, of numbers up to 2 M. PN_POINT_ERROR is six times that. The line's length is 1 up to 2^-51, which the factor takes. Of what reaches beyond
 * nothing is said. */
static void setLimits(ApartSearch *s) {
  const pnApart *apart = s->apart;
  double error = PN_POINT_ERROR * s->farthest;
  for (int i = 0; i < 2; ++i) {
    double perSquare = s->side[i].lattice.perCell * s->side[i].lattice.perCell * (1 + 0x1p-18);
    s->side[i].limit = (float)((apart->distance2 + pn_slackOf(apart->distance2, s->farthest)) * perSquare);
    s->side[i].slackBeyond = (float)(pn_slackOf(apart->distance2, s->farthestBeyond) * perSquare);
  }
  s->limit = (sqrt(apart->distance2) + error) * (1 + 0x1p-40);
  double length = apart->a != PN_NONE ? sqrt(pn_distance2(apart->onA, apart->onB)) : 0;
  // Closest points that are one up to rounding say nothing about a direction.
  if (!(length > error)) return;
  ++s->line;
  for (int k = 0; k < 3; ++k) {
    s->side[0].towards[k] = (apart->onB[k] - apart->onA[k]) / length;
    s->side[1].towards[k] = -s->side[0].towards[k];
  }
}

/* Of a fresh leaf. */
static const Reach *reachOf(ApartSearch *s, int which, uint32_t node) {
  BodySide *side = &s->side[which];
  Reach *reach = &side->kept[node % KEPT_REACHES];
  if (reach->leaf == node && reach->line == s->line) return reach;
  const pnShape *shape = side->tree->shape;
  const double *n = side->towards, *o = s->origin;
  *reach = (Reach){.leaf = node, .line = s->line, .most = -INFINITY};
  for (uint32_t j = 0; j < shape->count[node]; ++j) {
    const float *c[3];
    double place[3];
    pn_slotCorners(side->tree, (node - shape->innerCount) * PN_LANES + j, c);
    for (int k = 0; k < 3; ++k) place[k] = (c[k][0] - o[0]) * n[0] + (c[k][1] - o[1]) * n[1] + (c[k][2] - o[2]) * n[2];
    reach->lane[j] = PN_MAX(place[0], PN_MAX(place[1], place[2]));
    reach->most = PN_MAX(reach->most, reach->lane[j]);
  }
  for (uint32_t left = pn_lanesBeyond(side->tree, &side->lattice, node); left; left &= left - 1)
    reach->lane[__builtin_ctz(left)] = reach->most = INFINITY;
  return reach;
}

static Box boxOfLane(const BodySide *side, uint32_t node, uint32_t j) {
  Box box = {.isBeyond = pn_lanesBeyond(side->tree, &side->lattice, node) >> j & 1};
  pn_placeLane(side->tree, &side->lattice, node, j, box.lo, box.hi);
  return box;
}

/* No place on a lattice is farther out. What reaches farther may as well end here, where floats are right to a part of a cell. */
#define LATTICE_END 0x1p17

/* Lanes of a fresh node that are not too far from a box, in the order of their distance, but for those that reach beyond, which come last: next to nothing
 * is known of these before something close is found. Bounds of pairs that reach beyond are loosened. */
static uint32_t orderLanes(const BodySide *side, uint32_t node, const Box *other, float bound[PN_LANES],
                           uint32_t order[PN_LANES]) {
  const pnLattice *l = &side->lattice;
  float below[3], above[3];
  for (int k = 0; k < 3; ++k) {
    double lo = pn_toLattice(l, k, other->lo[k]), hi = pn_toLattice(l, k, other->hi[k]);
    if (PN_UNLIKELY(other->isBeyond)) lo = PN_MAX(lo, -LATTICE_END), hi = PN_MIN(hi, LATTICE_END);
    double pad = PN_LATTICE_PAD + 0x1p-22 * PN_MAX(fabs(lo), fabs(hi));
    below[k] = (float)-(hi + l->before + pad);
    above[k] = (float)(lo - l->after - pad);
  }
  pn_boundLanes(side->tree, l, node, below, above, bound);
  uint32_t all = (1u << side->tree->shape->count[node]) - 1, beyond = pn_lanesBeyond(side->tree, l, node) & all;
  uint32_t count =
      pn_orderLanes(all & ~beyond & ~(other->isBeyond ? 0 : pn_lanesAbove(bound, side->limit)), bound, order);
  if (PN_LIKELY(!beyond && !other->isBeyond)) return count;
  count += pn_orderLanes(beyond, bound, order + count);
  pn_loosenLanes(other->isBeyond ? all : beyond, side->slackBeyond, bound);
  return count;
}

static double sizeOf(const Box *box) {
  return (box->hi[0] - box->lo[0]) + (box->hi[1] - box->lo[1]) + (box->hi[2] - box->lo[2]);
}

/* Are places along the line too far apart? */
PN_INLINE bool isGap(const ApartSearch *s, double reachA, double reachB) {
  return s->line && -(reachA + reachB) > s->limit;
}

/* One triangle of the first leaf with those of the second that are not too far. */
static void openLane(ApartSearch *s, const uint32_t node[2], uint32_t lane) {
  const BodySide *a = &s->side[0], *b = &s->side[1];
  Box one = boxOfLane(a, node[0], lane);
  float bound[PN_LANES];
  uint32_t order[PN_LANES], count = orderLanes(b, node[1], &one, bound, order);
  const float *cornerA[3], *cornerB[3];
  uint32_t slotA = (node[0] - a->tree->shape->innerCount) * PN_LANES + lane;
  pn_slotCorners(a->tree, slotA, cornerA);
  for (uint32_t i = 0; i < count; ++i) {
    if (bound[order[i]] > b->limit) continue;
    if (s->line && isGap(s, reachOf(s, 0, node[0])->lane[lane], reachOf(s, 1, node[1])->lane[order[i]])) continue;
    uint32_t slotB = (node[1] - b->tree->shape->innerCount) * PN_LANES + order[i];
    pn_slotCorners(b->tree, slotB, cornerB);
    if (pn_tryApart(cornerA, a->tree->shape->leafTriangles[slotA], cornerB, b->tree->shape->leafTriangles[slotB],
                    s->apart))
      setLimits(s);
  }
}

/* Two leaves: each triangle of the first that is not too far. */
static void openLeaves(ApartSearch *s, const uint32_t node[2], const Box *boxB) {
  if (s->line && isGap(s, reachOf(s, 0, node[0])->most, reachOf(s, 1, node[1])->most)) return;
  float bound[PN_LANES];
  uint32_t order[PN_LANES], count = orderLanes(&s->side[0], node[0], boxB, bound, order);
  for (uint32_t i = 0; i < count; ++i) {
    if (bound[order[i]] > s->side[0].limit) continue;
    if (s->line && isGap(s, reachOf(s, 0, node[0])->lane[order[i]], reachOf(s, 1, node[1])->most)) continue;
    openLane(s, node, order[i]);
  }
}

/* A pair whose nodes are fresh. */
static void open(ApartSearch *s, const uint32_t node[2], const Box box[2]) {
  bool isLeaf[2] = {pn_isLeaf(s->side[0].tree, node[0]), pn_isLeaf(s->side[1].tree, node[1])};
  if (isLeaf[0] && isLeaf[1]) {
    openLeaves(s, node, &box[1]);
    return;
  }
  int which = isLeaf[0] || (!isLeaf[1] && sizeOf(&box[1]) > sizeOf(&box[0])) ? 1 : 0;
  const BodySide *side = &s->side[which];
  float bound[PN_LANES];
  uint32_t order[PN_LANES], count = orderLanes(side, node[which], &box[1 - which], bound, order);
  for (uint32_t i = 0; i < count; ++i) {
    if (bound[order[i]] > side->limit) continue;
    uint32_t next[2] = {node[0], node[1]};
    Box nextBox[2] = {box[0], box[1]};
    next[which] = side->tree->shape->first[node[which]] + order[i];
    nextBox[which] = boxOfLane(side, node[which], order[i]);
    pn_freshen(side->tree, next[which], s->fresh);
    open(s, next, nextBox);
  }
}

/* The box of a body. */
static Box boxOf(const BodySide *side) {
  const pnBox *box = &side->tree->box;
  Box all = {.isBeyond = side->lattice.isClipped};
  for (int k = 0; k < 3; ++k) all.lo[k] = (&box->min.x)[k], all.hi[k] = (&box->max.x)[k];
  return all;
}

void pn_findApart(pnTree *a, pnTree *b, pnFresh *fresh, pnApart *apart) {
  if (a->shape->nodeCount == 0 || b->shape->nodeCount == 0) return;
  ApartSearch s = {.fresh = fresh, .apart = apart};
  s.side[0] = (BodySide){.tree = a, .lattice = pn_latticeOf(a)};
  s.side[1] = (BodySide){.tree = b, .lattice = pn_latticeOf(b)};
  const Box box[2] = {boxOf(&s.side[0]), boxOf(&s.side[1])};
  const pnLattice *l[2] = {&s.side[0].lattice, &s.side[1].lattice};
  s.farthest = PN_MAX(l[0]->farthest, l[1]->farthest);
  s.farthestBeyond = PN_MAX(l[0]->farthestBeyond, l[1]->farthestBeyond);
  for (int k = 0; k < 3; ++k) s.origin[k] = (l[0]->lo[k] + l[0]->offset[k]) / l[0]->perCell;
  setLimits(&s);
  pn_freshen(a, 0, fresh);
  pn_freshen(b, 0, fresh);
  open(&s, (const uint32_t[2]){0, 0}, box);
}

/* ---------------------------------------------------------------- the door */

static void fetch(const pnTree *tree, uint32_t triangle, pnTriangle *out) {
  float c[3][4];
  pn_poseFetch(tree->pose, tree->mesh->triangles + 3 * (size_t)triangle, 3, c[0], 4);
  const float *corner[3] = {c[0], c[1], c[2]};
  *out = triangleOf(corner);
}

pnDistance pn_publishApart(const pnTree *a, const pnTree *b, const pnApart *apart) {
  pnDistance out = {.distance = INFINITY, .triangleA = apart->a, .triangleB = apart->b};
  if (apart->a == PN_NONE) return out;
  out.distance = sqrt(apart->distance2);
  out.onA = (pnVec3){(float)apart->onA[0], (float)apart->onA[1], (float)apart->onA[2]};
  out.onB = (pnVec3){(float)apart->onB[0], (float)apart->onB[1], (float)apart->onB[2]};
  if (apart->distance2 == 0) {
    pnTriangle s, t;
    fetch(a, apart->a, &s);
    fetch(b, apart->b, &t);
    out.onA = out.onB = pnMeetTriangles(&s, &t).points[0];
  }
  return out;
}

typedef struct ApartBatch {
  const pnTreePair *pairs;
  double farthest2;
  pnDistance *out;
  bool alone;
} ApartBatch;

static void measureRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const ApartBatch *batch = context;
  pnFresh fresh = {.alone = batch->alone};
  for (uint32_t i = begin; i < end; ++i) {
    pnTree *a = batch->pairs[i].a, *b = batch->pairs[i].b;
    pnApart apart = {.distance2 = batch->farthest2, .a = PN_NONE, .b = PN_NONE};
    pn_findApart(a, b, &fresh, &apart);
    batch->out[i] = pn_publishApart(a, b, &apart);
  }
}

pnResult pnFindDistances(const pnTreePair *pairs, uint32_t count, const pnClosestDef *def, pnDistance *outDistances) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(count == 0 || (pairs && outDistances));
  pnClosestDef none = pnDefaultClosestDef();
  def = def ? def : &none;
  pnResult result = pn_checkCookie(def->cookie, "pnClosestDef");
  if (result != PN_OK) return result;
  if (!(def->farthest >= 0)) return pn_fail(PN_ERROR_ARGUMENT, "distance: farthest must be 0 or more");
  for (uint32_t i = 0; i < count; ++i) {
    result = pnTree_Update(pairs[i].a, &def->tasks);
    if (result == PN_OK) result = pnTree_Update(pairs[i].b, &def->tasks);
    if (result != PN_OK) return result;
  }
  ApartBatch batch = {pairs, def->farthest * def->farthest, outDistances, pn_workerCount(&def->tasks) == 1};
  pn_parallelFor(&def->tasks, measureRange, &batch, count, 1);
  return PN_OK;
}
