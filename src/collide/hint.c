/* hint.c: see hint.h. */
#include "collide/hint.h"

#include "collide/filter.h"
#include "collide/narrow.h"
#include "geom/triangle.h"
#include "mesh/soup.h"
#include "tree/update.h"

/* ---------------------------------------------------------------- two triangles, straight from the poses */

/* Corners that are not finite are left to the update of a tree, which says so. */
static bool fetch(const pnPose *pose, uint32_t triangle, pnTriangle *out) {
  float p[9];
  size_t bad;
  pn_poseFetch(pose, pose->mesh->triangles + 3 * (size_t)triangle, 3, p, 3);
  memcpy(out->v, p, sizeof p);
  return pn_allFinite(p, 9, &bad);
}

bool pn_trianglesMeetNow(const pnPose *a, uint32_t s, const pnPose *b, uint32_t t, bool self) {
  pnTriangle x, y;
  if (!fetch(a, s, &x) || !fetch(b, t, &y)) return false;
  if (!self) return pnTrianglesMeet(&x, &y);
  const float *p[3] = {x.v[0], x.v[1], x.v[2]}, *q[3] = {y.v[0], y.v[1], y.v[2]};
  return pn_trianglesMeetBeyondPtr(p, q, pn_sharedNow(a->mesh, s, t, p, q));
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
static bool isThere(const pnTree *tree, uint32_t triangle) {
  return triangle < tree->mesh->triangleCount && !tree->def.representative &&
         (!tree->rule->reshapes || pn_isAlive(pn_soupOfPose(tree->pose), triangle));
}

bool pn_tryHint(const pnTree *a, const pnTree *b, const pnSelfFilter *filter, pnPair *ioHint, pnCost *cost) {
  pnPair pair = b ? *ioHint : (pnPair){PN_MIN(ioHint->a, ioHint->b), PN_MAX(ioHint->a, ioHint->b)};
  size_t wanted = 1;
  if (!isThere(a, pair.a) || !isThere(b ? b : a, pair.b) || (!b && pair.a == pair.b)) return false;
  if (!b) pn_filterPairs(a, filter, &pair, &wanted);
  if (wanted == 0) return false;
  ++cost->exactTests;
  cost->verticesFetched += 6;
  *ioHint = pair;
  return pn_trianglesMeetNow(a->pose, pair.a, b ? b->pose : a->pose, pair.b, !b);
}
