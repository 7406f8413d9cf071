/* hint.c: see hint.h. */
#include "collide/hint.h"

#include "collide/filter.h"
#include "collide/narrow.h"
#include "geom/box.h"
#include "geom/triangle.h"
#include "mesh/soup.h"
#include "tree/update.h"

#include <float.h>
#include <math.h>

/* ---------------------------------------------------------------- two triangles, straight from the poses */

/* Corners that are not finite are left to the update of a tree, which says so. (pn_allFinite is made for long arrays: for nine numbers it
 * takes longer than fetching them.) */
static bool fetch(const pnPose *pose, uint32_t triangle, pnTriangle *out) {
  float p[9];
  bool finite = true;
  pn_poseFetch(pose, pose->mesh->triangles + 3 * (size_t)triangle, 3, p, 3);
  memcpy(out->v, p, sizeof p);
  for (int i = 0; i < 9; ++i) finite &= fabsf(p[i]) <= FLT_MAX;
  return finite;
}

/* Triangles s and t, of one mesh or of two (null), which are at x and y. */
static bool meet(const pnMesh *self, uint32_t s, const pnTriangle *x, uint32_t t, const pnTriangle *y) {
  if (!self) return pnTrianglesMeet(x, y);
  const float *p[3] = {x->v[0], x->v[1], x->v[2]}, *q[3] = {y->v[0], y->v[1], y->v[2]};
  return pn_trianglesMeetBeyondPtr(p, q, pn_sharedNow(self, s, t, p, q));
}

bool pn_trianglesMeetNow(const pnPose *a, uint32_t s, const pnPose *b, uint32_t t, bool self) {
  pnTriangle x, y;
  return fetch(a, s, &x) && fetch(b, t, &y) && meet(self ? a->mesh : NULL, s, &x, t, &y);
}

/* ---------------------------------------------------------------- the triangles around it */

/* Bodies that have moved by less than the length of their triangles, as most have from one frame to the next, meet where triangles are that
 * share a vertex with those of the hint. Bodies of fewer triangles are asked as fast. */
#define WORTH_AROUND 256u
/* Those are about thirteen; of vertices with many more triangles the first ones do. */
#define MOST_AROUND 32u

/* Triangles of a pose, where they are now. */
typedef struct Patch {
  uint32_t count;
  uint32_t triangles[MOST_AROUND];
  pnTriangle corners[MOST_AROUND];
  pnBox boxes[MOST_AROUND], box; /* of each, and of all */
} Patch;

static bool isInPatch(const Patch *patch, uint32_t triangle) {
  uint32_t i = 0;
  while (i < patch->count && patch->triangles[i] != triangle) ++i;
  return i < patch->count;
}

static void addToPatch(const pnPose *pose, uint32_t triangle, Patch *patch) {
  uint32_t at = patch->count;
  if (at == MOST_AROUND || isInPatch(patch, triangle) || !fetch(pose, triangle, &patch->corners[at])) return;
  const pnTriangle *t = &patch->corners[at];
  patch->triangles[at] = triangle;
  for (int k = 0; k < 3; ++k) {
    float lo = PN_MIN(t->v[0][k], PN_MIN(t->v[1][k], t->v[2][k]));
    float hi = PN_MAX(t->v[0][k], PN_MAX(t->v[1][k], t->v[2][k]));
    (&patch->boxes[at].min.x)[k] = lo;
    (&patch->boxes[at].max.x)[k] = hi;
    (&patch->box.min.x)[k] = PN_MIN((&patch->box.min.x)[k], lo);
    (&patch->box.max.x)[k] = PN_MAX((&patch->box.max.x)[k], hi);
  }
  patch->count = at + 1;
}

/* A triangle and those that share a vertex with it. */
static void cutPatch(const pnPose *pose, uint32_t triangle, Patch *patch, pnCost *cost) {
  const pnMesh *mesh = pose->mesh;
  uint32_t corners[3];
  patch->count = 0;
  patch->box = pn_emptyBox();
  addToPatch(pose, triangle, patch);
  pn_weldedCorners(mesh, triangle, corners);
  for (int k = 0; k < 3; ++k)
    for (uint32_t i = mesh->ringOffsets[corners[k]]; i < mesh->ringOffsets[corners[k] + 1]; ++i)
      addToPatch(pose, mesh->rings[i], patch);
  cost->verticesFetched += 3 * patch->count;
}

/* Is it wanted, and turned as answers are? `self`: the tree of both triangles. */
static bool isAnswer(const pnTree *self, const pnSelfFilter *filter, pnPair *ioPair) {
  size_t wanted = 1;
  if (!self) return true;
  *ioPair = (pnPair){PN_MIN(ioPair->a, ioPair->b), PN_MAX(ioPair->a, ioPair->b)};
  pn_filterPairs(self, filter, ioPair, &wanted);
  return wanted > 0;
}

static bool tryAround(const pnTree *a, const pnTree *b, const pnSelfFilter *filter, pnPair *ioHint, pnCost *cost) {
  const pnTree *self = b ? NULL : a;
  Patch p, q;
  cutPatch(a->pose, ioHint->a, &p, cost);
  cutPatch(b ? b->pose : a->pose, ioHint->b, &q, cost);
  for (uint32_t i = 0; i < p.count; ++i) {
    if (!pn_boxesOverlap(&p.boxes[i], &q.box)) continue;
    for (uint32_t j = 0; j < q.count; ++j) {
      pnPair pair = {p.triangles[i], q.triangles[j]};
      if (!pn_boxesOverlap(&p.boxes[i], &q.boxes[j]) || (self && pair.a == pair.b)) continue;
      ++cost->exactTests;
      if (!meet(self ? self->mesh : NULL, pair.a, &p.corners[i], pair.b, &q.corners[j])) continue;
      if (!isAnswer(self, filter, &pair)) continue;
      *ioHint = pair;
      return true;
    }
  }
  return false;
}

static bool isWorthAround(const pnTree *tree) {
  return !tree->rule->reshapes && tree->mesh->triangleCount >= WORTH_AROUND;
}

/* ---------------------------------------------------------------- the hint */

pnResult pn_checkHint(const pnTree *a, const pnTree *b, pnPair hint) {
  const pnTree *trees[2] = {a, b ? b : a};
  uint32_t triangles[2] = {hint.a, hint.b};
  for (int i = 0; i < 2; ++i) {
    const pnMesh *mesh = trees[i]->mesh;
    if (triangles[i] >= mesh->triangleCount && !trees[i]->rule->reshapes) {
      return pn_fail(PN_ERROR_ARGUMENT, "hint: %s is triangle %u of mesh '%s', which has %u", i ? "b" : "a",
                     triangles[i], mesh->name, mesh->triangleCount);
    }
  }
  return PN_OK;
}

/* Could a query find this triangle? Soups have places that are empty; representative trees leave triangles out, and which is
 * not kept anywhere. */
static bool isTriangleOf(const pnTree *tree, uint32_t triangle) {
  return triangle < tree->mesh->triangleCount && !tree->def.representative &&
         (!tree->rule->reshapes || pn_isAlive(pn_soupOfPose(tree->pose), triangle));
}

bool pn_tryHint(const pnTree *a, const pnTree *b, const pnSelfFilter *filter, pnPair *ioHint, pnCost *cost) {
  const pnTree *other = b ? b : a;
  if (!isTriangleOf(a, ioHint->a) || !isTriangleOf(other, ioHint->b)) return false;
  pnPair pair = *ioHint;
  if ((b || pair.a != pair.b) && isAnswer(b ? NULL : a, filter, &pair)) {
    ++cost->exactTests;
    cost->verticesFetched += 6;
    *ioHint = pair;
    if (pn_trianglesMeetNow(a->pose, pair.a, other->pose, pair.b, !b)) return true;
  }
  return isWorthAround(a) && isWorthAround(other) && tryAround(a, b, filter, ioHint, cost);
}
