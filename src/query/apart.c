/* apart.c: the distance between two trees.
 *
 * Pairs of nodes are opened on the side whose box is larger, children in the order of their distance from the other node's box, and a
 * pair that is farther apart than what was found is not opened. The way down to the first pair of triangles is mostly the
 * way to the closest. Bounds are floats on the lattice of the tree that is opened (lanes.h), with the other's box brought there.
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
} Box;

typedef struct BodySide {
  pnTree *tree;
  pnLattice lattice;
} BodySide;

typedef struct ApartSearch {
  BodySide side[2];
  pnFresh *fresh;
  pnApart *apart;
  double slack; /* on squares, of the world */
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

void pn_tryApart(const float *const a[3], uint32_t triangleA, const float *const b[3], uint32_t triangleB,
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
  if (found.distance2 > apart->distance2) return;
  bool isSmaller = found.a != apart->a ? found.a < apart->a : found.b < apart->b;
  if (found.distance2 < apart->distance2 || isSmaller) *apart = found;
}

/* ---------------------------------------------------------------- nodes */

/* Squared distances of a box from those of a node, in cells of its lattice, rounded down. */
static void boundLanes(const BodySide *side, const pnFloatLanes *boxes, const Box *other, float out[PN_LANES]) {
  const pnLattice *l = &side->lattice;
  for (uint32_t j = 0; j < PN_LANES; ++j) out[j] = 0;
  for (int k = 0; k < 3; ++k) {
    double lo = pn_toLattice(l, k, other->lo[k]), hi = pn_toLattice(l, k, other->hi[k]);
    double pad = PN_LATTICE_PAD + 0x1p-22 * PN_MAX(fabs(lo), fabs(hi));
    float before = (float)(hi + l->before + pad), behind = (float)(lo - l->after - pad);
    for (uint32_t j = 0; j < PN_LANES; ++j) {
      float below = boxes->row[k][0][j] - before, above = behind - boxes->row[k][1][j];
      float d = below > above ? below : above;
      d = d > 0 ? d : 0;
      out[j] += d * d;
    }
  }
}

/* The same limit in square cells. */
static float limitOf(const ApartSearch *s, const BodySide *side) {
  double perSquare = side->lattice.perCell * side->lattice.perCell * (1 + 0x1p-18);
  return (float)((s->apart->distance2 + s->slack) * perSquare);
}

static Box boxOfLane(const BodySide *side, const pnFloatLanes *boxes, uint32_t j) {
  const pnLattice *l = &side->lattice;
  Box box;
  for (int k = 0; k < 3; ++k) {
    box.lo[k] = (boxes->row[k][0][j] - l->before + l->offset[k]) / l->perCell;
    box.hi[k] = (boxes->row[k][1][j] + l->after + l->offset[k]) / l->perCell;
  }
  return box;
}

/* Lanes that are not too far from a box, in the order of their distance. */
static uint32_t orderLanes(const ApartSearch *s, const BodySide *side, uint32_t node, const Box *other,
                           pnFloatLanes *boxes, float bound[PN_LANES], uint32_t order[PN_LANES]) {
  pn_freshen(side->tree, node, s->fresh);
  pn_floatBoxes(side->tree, &side->lattice, node, boxes);
  boundLanes(side, boxes, other, bound);
  float limit = limitOf(s, side);
  uint32_t count = 0;
  for (uint32_t j = 0; j < side->tree->shape->count[node]; ++j) {
    if (bound[j] > limit) continue;
    uint32_t i = count++;
    for (; i > 0 && bound[order[i - 1]] > bound[j]; --i) order[i] = order[i - 1];
    order[i] = j;
  }
  return count;
}

static double sizeOf(const Box *box) {
  return (box->hi[0] - box->lo[0]) + (box->hi[1] - box->lo[1]) + (box->hi[2] - box->lo[2]);
}

/* Two leaves: each triangle of the first that is not too far with each of the second that is not. */
static void openLeaves(const ApartSearch *s, const uint32_t node[2], const Box box[2]) {
  pnFloatLanes boxesA, boxesB;
  float boundA[PN_LANES], boundB[PN_LANES];
  uint32_t orderA[PN_LANES], orderB[PN_LANES];
  const BodySide *a = &s->side[0], *b = &s->side[1];
  uint32_t countA = orderLanes(s, a, node[0], &box[1], &boxesA, boundA, orderA);
  for (uint32_t i = 0; i < countA && boundA[orderA[i]] <= limitOf(s, a); ++i) {
    Box one = boxOfLane(a, &boxesA, orderA[i]);
    uint32_t countB = orderLanes(s, b, node[1], &one, &boxesB, boundB, orderB);
    const float *cornerA[3], *cornerB[3];
    uint32_t slotA = (node[0] - a->tree->shape->innerCount) * PN_LANES + orderA[i];
    pn_slotCorners(a->tree, slotA, cornerA);
    for (uint32_t k = 0; k < countB && boundB[orderB[k]] <= limitOf(s, b); ++k) {
      uint32_t slotB = (node[1] - b->tree->shape->innerCount) * PN_LANES + orderB[k];
      pn_slotCorners(b->tree, slotB, cornerB);
      pn_tryApart(cornerA, a->tree->shape->leafTriangles[slotA], cornerB, b->tree->shape->leafTriangles[slotB],
                  s->apart);
    }
  }
}

static void open(const ApartSearch *s, const uint32_t node[2], const Box box[2]) {
  bool isLeaf[2] = {pn_isLeaf(s->side[0].tree, node[0]), pn_isLeaf(s->side[1].tree, node[1])};
  if (isLeaf[0] && isLeaf[1]) {
    openLeaves(s, node, box);
    return;
  }
  int which = isLeaf[0] || (!isLeaf[1] && sizeOf(&box[1]) > sizeOf(&box[0])) ? 1 : 0;
  const BodySide *side = &s->side[which];
  pnFloatLanes boxes;
  float bound[PN_LANES];
  uint32_t order[PN_LANES], count = orderLanes(s, side, node[which], &box[1 - which], &boxes, bound, order);
  for (uint32_t i = 0; i < count && bound[order[i]] <= limitOf(s, side); ++i) {
    uint32_t next[2] = {node[0], node[1]};
    Box nextBox[2] = {box[0], box[1]};
    next[which] = side->tree->shape->first[node[which]] + order[i];
    nextBox[which] = boxOfLane(side, &boxes, order[i]);
    open(s, next, nextBox);
  }
}

void pn_findApart(pnTree *a, pnTree *b, pnFresh *fresh, pnApart *apart) {
  if (a->shape->nodeCount == 0 || b->shape->nodeCount == 0) return;
  ApartSearch s = {.side = {{a, pn_latticeOf(a)}, {b, pn_latticeOf(b)}}, .fresh = fresh, .apart = apart};
  Box box[2];
  double reach = 0;
  for (int k = 0; k < 3; ++k) {
    box[0].lo[k] = (&a->box.min.x)[k], box[0].hi[k] = (&a->box.max.x)[k];
    box[1].lo[k] = (&b->box.min.x)[k], box[1].hi[k] = (&b->box.max.x)[k];
    double size = PN_MAX(box[0].hi[k], box[1].hi[k]) - PN_MIN(box[0].lo[k], box[1].lo[k]);
    reach += size * size;
  }
  // Measured squares are off by 2^-40 of these at most (geom/apart.h).
  s.slack = ldexp(reach, -39);
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
