/* near.c: the closest point of a body to a point: one traversal for every tree and form of volume.
 *
 * From the root down, the children of a node are visited in the order of their distance, and one that is farther than what was found
 * is not opened. Volumes of triangles stand in leaves too, so that few triangles are measured.
 *
 * A distance to a volume is a lower bound of that to what is in it. Every form is taken as boxes on a lattice (lanes.h), and
 * bounds are floats in cells: a pad takes the rounding of places, and 2^-18 of the limit that of squares and their sum (a few
 * 2^-24). What is measured of a triangle may be less than its distance by a few 2^-53 of its coordinates (geom/distance.h). So a volume is left out
 * only when it is farther by that (pn_slackOf), and a search answers what measuring every triangle would. */
#include "query/near.h"

#include "base/fenv.h"
#include "base/memory.h"
#include "base/task.h"
#include "geom/predicate.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- one triangle */

/* True: it is closer. */
static bool tryCorners(const float *const corner[3], uint32_t triangle, const double p[3], pnNear *near) {
  double c[3][3], x[3];
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 3; ++i) c[k][i] = corner[k][i];
  pnFeature feature = pn_closestOnTriangle(p, c[0], c[1], c[2], x);
  double d = pn_distance2(p, x);
  if (!(d < near->distance2 || (d == near->distance2 && triangle < near->triangle))) return false;
  *near = (pnNear){d, {x[0], x[1], x[2]}, triangle, feature};
  return true;
}

void pn_fetchFace(const pnPose *pose, uint32_t triangle, pnNearFace *out) {
  out->triangle = triangle;
  pn_poseFetch(pose, pose->mesh->triangles + 3 * (size_t)triangle, 3, out->corner[0], 4);
}

void pn_findNormal(pnNearFace *face) {
  double c[3][3];
  pn_widenCorners(face->corner[0], 4, c);
  pn_normal3(c[0], c[1], c[2], face->normal);
  double square = pn_dot3(face->normal, face->normal);
  /* rounding turns it by some 2^-52 over the sine of the angle between the sides: of a slim triangle there is none */
  double scale = square > 0x1p-16 * pn_distance2(c[1], c[0]) * pn_distance2(c[2], c[0]) ? 1 / sqrt(square) : 0;
  for (int k = 0; k < 3; ++k) face->normal[k] *= scale;
}

void pn_tryFace(const pnNearFace *face, const double p[3], pnNear *near) {
  const float *corner[3] = {face->corner[0], face->corner[1], face->corner[2]};
  tryCorners(corner, face->triangle, p, near);
}

/* The bound is at most how far q was from the triangle and how far p is from q. Of points that are more than four times as far from each other as
 * q was from the body (here squared) a search finds a better one in its first leaf. */
#define NEIGHBOURS 16

double pn_boundNear(const pnPose *pose, const double q[3], const pnNear *before, const double p[3]) {
  pnNearFace face;
  pnNear near = {.distance2 = INFINITY, .triangle = PN_NONE};
  if (before->triangle == PN_NONE || pn_distance2(p, q) > NEIGHBOURS * before->distance2) return INFINITY;
  pn_fetchFace(pose, before->triangle, &face);
  pn_tryFace(&face, p, &near);
  return near.distance2;
}

static bool isWanted(const pnNearFilter *filter, uint32_t triangle) {
  return !filter || ((!filter->wanted || filter->wanted[triangle] == filter->number) &&
                     (!filter->marks || filter->marks[triangle] < filter->mark));
}

/* The closest of a few. Nothing of a triangle is closer than its plane. The distance of that is off by less than 2^-42 of how far the corner
 * is, and what was measured by 2^-50 of sizes: a triangle is left out only when its plane is farther by 2^-40 of their squares. */
static void tryFew(const pnNearFilter *filter, const double p[3], pnNear *near) {
  for (uint32_t i = 0; i < filter->fewCount; ++i) {
    const pnNearFace *face = &filter->few[i];
    double d[3];
    for (int k = 0; k < 3; ++k) d[k] = p[k] - face->corner[0][k];
    double far = pn_dot3(face->normal, d);
    if (far * far > near->distance2 + 0x1p-40 * (pn_dot3(d, d) + pn_dot3(p, p))) continue;
    if (face->triangle != near->triangle && isWanted(filter, face->triangle)) pn_tryFace(face, p, near);
  }
}

/* ---------------------------------------------------------------- the search */

typedef struct Search {
  pnTree *tree;
  const pnLattice *lattice;
  const double *p;
  const pnNearFilter *filter;
  pnFresh *fresh;
  pnNear *near;
  float below[3], above[3]; /* of lanes, in cells: how far p is before lo, and behind hi */
  float slackBeyond;        /* more slack, in square cells, for lanes that reach beyond */
  double perSquare;         /* square cells a square of the world, and a little more */
  float limit;              /* square cells: what is farther is of no interest */
} Search;

/* After something closer was found. */
static void setLimit(Search *s) {
  const pnLattice *l = s->lattice;
  double square = s->near->distance2;
  s->limit = (float)((square + pn_slackOf(square, l->farthest)) * s->perSquare);
  if (PN_UNLIKELY(l->isClipped)) s->slackBeyond = (float)(pn_slackOf(square, l->farthestBeyond) * s->perSquare);
}

/* Those that are not too far, in the order of their distance; those that reach beyond, of which less is known, come last. */
static PN_NOINLINE uint32_t orderClipped(const Search *s, uint32_t node, uint32_t far, float bound[PN_LANES],
                                         uint32_t order[PN_LANES]) {
  uint32_t all = (1u << s->tree->shape->count[node]) - 1, beyond = pn_lanesBeyond(s->tree, s->lattice, node) & all;
  uint32_t count = pn_orderLanes(all & ~far & ~beyond, bound, order);
  count += pn_orderLanes(beyond, bound, order + count);
  pn_loosenLanes(beyond, s->slackBeyond, bound);
  return count;
}

static void visit(Search *s, uint32_t node) {
  const pnShape *shape = s->tree->shape;
  pn_freshen(s->tree, node, s->fresh);
  float bound[PN_LANES];
  pn_boundLanes(s->tree, s->lattice, node, s->below, s->above, bound);
  uint32_t order[PN_LANES], count, far = pn_lanesAbove(bound, s->limit);
  if (PN_UNLIKELY(s->lattice->isClipped)) count = orderClipped(s, node, far, bound, order);
  else count = pn_orderLanes(~far & ((1u << shape->count[node]) - 1), bound, order);
  for (uint32_t i = 0; i < count; ++i) {
    if (bound[order[i]] > s->limit) {
      if (PN_LIKELY(!s->lattice->isClipped)) break;
      continue;
    }
    if (!pn_isLeaf(s->tree, node)) {
      visit(s, shape->first[node] + order[i]);
      continue;
    }
    uint32_t slot = (node - shape->innerCount) * PN_LANES + order[i], triangle = shape->leafTriangles[slot];
    // What is closest so far is not closer than itself; who asks nearly always knows it beforehand.
    if (triangle == s->near->triangle || !isWanted(s->filter, triangle)) continue;
    const float *corner[3];
    pn_slotCorners(s->tree, slot, corner);
    if (tryCorners(corner, triangle, s->p, s->near)) setLimit(s);
  }
}

void pn_findNear(pnTree *tree, const pnLattice *lattice, const double p[3], const pnNearFilter *filter, pnFresh *fresh,
                 pnNear *near) {
  if (tree->shape->nodeCount == 0) return;
  if (filter && filter->few) {
    tryFew(filter, p, near);
    return;
  }
  Search s = {.tree = tree, .lattice = lattice, .p = p, .filter = filter, .fresh = fresh, .near = near};
  double at[3], farthest = 0;
  for (int k = 0; k < 3; ++k) {
    at[k] = pn_toLattice(lattice, k, p[k]);
    farthest = PN_MAX(farthest, fabs(at[k]));
  }
  // The place of p as a float, and sums with it, are off by 2^-24 of it and of the lanes.
  double pad = PN_LATTICE_PAD + 0x1p-22 * farthest;
  for (int k = 0; k < 3; ++k) {
    s.below[k] = (float)(-at[k] - lattice->before - pad);
    s.above[k] = (float)(at[k] - lattice->after - pad);
  }
  s.perSquare = lattice->perCell * lattice->perCell * (1 + 0x1p-18);
  setLimit(&s);
  visit(&s, 0);
}

/* ---------------------------------------------------------------- windings */

/* Seen along x: does the edge from a to b pass p on the side of larger y? Ends at the height of p count as higher, so that
 * around every triangle, and around every corner of a surface, the answers fit together. +1 upward, -1 downward. */
static int passesAt(const float *a, const float *b, const float *p) {
  bool aIsHigh = a[2] >= p[2], bIsHigh = b[2] >= p[2];
  if (aIsHigh == bIsHigh) return 0;
  // Left of the edge as it goes up: its turn is positive, and 0 belongs to one side.
  int turn = aIsHigh ? pn_orient2(b[1], b[2], a[1], a[2], p[1], p[2]) : pn_orient2(a[1], a[2], b[1], b[2], p[1], p[2]);
  if (turn <= 0) return 0;
  return aIsHigh ? -1 : 1;
}

typedef struct Winding {
  pnTree *tree;
  const pnLattice *lattice;
  const float *p;
  float lo[3], hi[3]; /* of lanes: beyond which they are clear of p */
  const uint32_t *partOf;
  pnFresh *fresh;
  pnWindings *windings;
} Winding;

/* A triangle that covers p as seen along x, and is beyond it. */
static void countTriangle(const Winding *w, uint32_t triangle, const float *const c[3]) {
  int around = passesAt(c[0], c[1], w->p) + passesAt(c[1], c[2], w->p) + passesAt(c[2], c[0], w->p);
  if (around == 0) return;
  // When it turns around p to the left it faces larger x, and is beyond p when p is below it.
  int side = pn_orient3(c[0], c[1], c[2], w->p);
  bool beyond = around > 0 ? side < 0 : side > 0;
  if (!beyond) return;
  uint32_t part = w->partOf[triangle];
  int32_t *count = &w->windings->counts[part];
  if (*count == 0) {
    w->windings->parts[w->windings->partCount++] = part;
    *count = 1;
  }
  *count += 2 * around;
}

static void follow(const Winding *w, uint32_t node) {
  const pnShape *shape = w->tree->shape;
  pn_freshen(w->tree, node, w->fresh);
  pnFloatLanes boxes;
  pn_floatBoxes(w->tree, w->lattice, node, &boxes);
  for (uint32_t j = 0; j < shape->count[node]; ++j) {
    bool far = boxes.row[0][1][j] < w->lo[0];
    for (int k = 1; k < 3; ++k) far = far || boxes.row[k][0][j] > w->hi[k] || boxes.row[k][1][j] < w->lo[k];
    if (far) continue;
    if (!pn_isLeaf(w->tree, node)) {
      follow(w, shape->first[node] + j);
      continue;
    }
    const float *c[3];
    uint32_t slot = (node - shape->innerCount) * PN_LANES + j;
    pn_slotCorners(w->tree, slot, c);
    countTriangle(w, shape->leafTriangles[slot], c);
  }
}

void pn_findWindings(pnTree *tree, const float p[3], const uint32_t *partOf, pnFresh *fresh, pnWindings *windings) {
  pnLattice lattice = pn_latticeOf(tree);
  Winding w = {tree, &lattice, p, {0}, {0}, partOf, fresh, windings};
  for (int k = 0; k < 3; ++k) {
    double at = pn_toLattice(&lattice, k, p[k]), pad = PN_LATTICE_PAD + 0x1p-22 * fabs(at);
    w.lo[k] = (float)(at - lattice.after - pad);
    w.hi[k] = (float)(at + lattice.before + pad);
  }
  // Big triangles in pieces stand in a tree several times, and of representatives some are not there: all of them by number.
  bool each = !tree->shape->slotPieces && !tree->def.representative;
  if (each && tree->shape->nodeCount > 0) follow(&w, 0);
  for (uint32_t t = 0; !each && t < tree->mesh->triangleCount; ++t) {
    float p3[3][4];
    const float *c[3] = {p3[0], p3[1], p3[2]};
    pn_poseFetch(tree->pose, tree->mesh->triangles + 3 * (size_t)t, 3, p3[0], 4);
    countTriangle(&w, t, c);
  }
}

/* ---------------------------------------------------------------- the door */

typedef struct NearBatch {
  pnTree *tree;
  pnLattice lattice;
  const float *points;
  double farthest2;
  pnClosest *out;
  bool alone;
} NearBatch;

pnClosest pn_publishNear(const pnNear *near, pnBodyId body) {
  pnClosest out = {.body = body, .triangle = near->triangle, .distance = INFINITY};
  if (near->triangle == PN_NONE) return out;
  out.distance = sqrt(near->distance2);
  out.point = (pnVec3){(float)near->point[0], (float)near->point[1], (float)near->point[2]};
  return out;
}

pnResult pn_checkPoints(const float *points, uint32_t count, double farthest) {
  if (!(farthest >= 0)) return pn_fail(PN_ERROR_ARGUMENT, "closest point: farthest must be 0 or more");
  size_t bad;
  if (!pn_allFinite(points, 3 * (size_t)count, &bad))
    return pn_fail(PN_ERROR_NUMBER, "closest point: point %zu is not finite", bad / 3);
  return PN_OK;
}

static void answerRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const NearBatch *batch = context;
  pnFresh fresh = {.alone = batch->alone};
  pnNear near = {.triangle = PN_NONE};
  double q[3] = {0};
  for (uint32_t i = begin; i < end; ++i) {
    const float *at = batch->points + 3 * (size_t)i;
    double p[3] = {at[0], at[1], at[2]}, known = pn_boundNear(batch->tree->pose, q, &near, p);
    near = (pnNear){.distance2 = PN_MIN(known, batch->farthest2), .triangle = PN_NONE};
    pn_findNear(batch->tree, &batch->lattice, p, NULL, &fresh, &near);
    memcpy(q, p, sizeof q);
    batch->out[i] = pn_publishNear(&near, (pnBodyId){0});
  }
}

pnClosestDef pnDefaultClosestDef(void) {
  return (pnClosestDef){.farthest = INFINITY, .cookie = PN_COOKIE};
}

pnResult pnFindClosest(pnTree *tree, const float *points, uint32_t count, const pnClosestDef *def, pnClosest *out) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(tree && (count == 0 || (points && out)));
  pnClosestDef none = pnDefaultClosestDef();
  def = def ? def : &none;
  pnResult result = pn_checkCookie(def->cookie, "pnClosestDef");
  if (result == PN_OK) result = pn_checkPoints(points, count, def->farthest);
  if (result == PN_OK) result = pnTree_Update(tree, &def->tasks);
  if (result != PN_OK) return result;
  NearBatch batch = {
      tree, pn_latticeOf(tree), points, def->farthest * def->farthest, out, pn_workerCount(&def->tasks) == 1};
  pn_parallelFor(&def->tasks, answerRange, &batch, count, 64);
  return PN_OK;
}
