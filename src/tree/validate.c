/* validate.c: the invariants of tree.h, one by one, by their numbers. Slow and obvious. */
#include "tree/update.h"

#include "base/fenv.h"

#include <float.h>
#include <math.h>

#define BROKEN(number, ...) return pn_fail(PN_ERROR_ARGUMENT, "tree of mesh '%s': invariant " number ": " __VA_ARGS__)

/* T1: every triangle in exactly one leaf; of a soup only the living ones. */
static pnResult checkTriangles(const pnTree *t) {
  uint32_t n = t->mesh->triangleCount;
  size_t size = pn_bytes(n, 1);
  uint8_t *seen = pn_allocZero(size);
  pnResult result = seen ? PN_OK : pn_failMemory(size);
  for (uint32_t i = 0; result == PN_OK && i < t->shape->leafCount * PN_LANES; ++i) {
    uint32_t count = t->shape->count[t->shape->innerCount + i / PN_LANES], triangle = t->shape->leafTriangles[i];
    bool inside = i % PN_LANES < count;
    if (inside != (triangle != PN_NONE) || (inside && (triangle >= n || (seen[triangle] && !t->shape->slotPieces)))) {
      result = pn_fail(PN_ERROR_ARGUMENT, "tree of mesh '%s': invariant T1: leaf %u, lane %u", t->mesh->name,
                       i / PN_LANES, i % PN_LANES);
    } else if (inside) {
      seen[triangle] = 1;
    }
  }
  for (uint32_t i = 0; result == PN_OK && i < n; ++i) {
    if (!seen[i] && !t->rule->reshapes && !t->def.representative) {
      result =
          pn_fail(PN_ERROR_ARGUMENT, "tree of mesh '%s': invariant T1: triangle %u is in no leaf", t->mesh->name, i);
    }
  }
  pn_free(seen, size);
  return result;
}

/* T2, T3, T4: the numbering. */
static pnResult checkNode(const pnTree *t, uint32_t node) {
  const char *name = t->mesh->name;
  uint32_t count = t->shape->count[node], most = pn_isLeaf(t, node) ? t->def.leafSize : t->def.arity;
  if (count < 1 || count > most) BROKEN("T2", "node %u has %u children or triangles", name, node, count);
  if (pn_isLeaf(t, node)) return PN_OK;
  uint32_t first = t->shape->first[node], below = 0, at = t->shape->leafFirst[node];
  for (uint32_t j = 0; j < count; ++j) {
    uint32_t child = first + j, leafFirst, leafEnd;
    if (child <= node || child >= t->shape->nodeCount || pn_isLeaf(t, child) != pn_isLeaf(t, first))
      BROKEN("T2", "child %u of node %u", name, child, node);
    if (t->shape->parent[child] != node * PN_LANES + j) BROKEN("T3", "parent of node %u", name, child);
    pn_leafRange(t, child, &leafFirst, &leafEnd);
    if (leafFirst != at || leafEnd <= leafFirst) BROKEN("T4", "leaves of node %u", name, child);
    at = leafEnd;
    below += t->shape->below[child];
  }
  if (at != t->shape->leafEnd[node] || below != t->shape->below[node])
    BROKEN("T4", "leaves or triangles below node %u", name, node);
  return PN_OK;
}

/* The vertex of corner i of a leaf. */
static uint32_t vertexOf(const pnTree *t, uint32_t leaf, uint32_t i) {
  return t->mesh->triangles[3 * (size_t)t->shape->leafTriangles[leaf * PN_LANES + i / 3] + i % 3];
}

/* T5 of a soup: places ascend, and corners point at the soup's own. */
static pnResult checkSoupLeaf(const pnTree *t, uint32_t leaf) {
  const uint32_t *places = t->shape->leafTriangles + leaf * (size_t)PN_LANES;
  for (uint32_t j = 1; j < t->shape->count[t->shape->innerCount + leaf]; ++j)
    if (places[j - 1] >= places[j]) BROKEN("T5", "places of leaf %u are not ascending", t->mesh->name, leaf);
  for (uint32_t i = 0; i < 3u * t->shape->count[t->shape->innerCount + leaf]; ++i)
    if (t->shape->sourceCorners[24 * (size_t)leaf + i] != 3 * sizeof(float) * vertexOf(t, leaf, i))
      BROKEN("T5", "corner %u of leaf %u", t->mesh->name, i, leaf);
  return PN_OK;
}

/* T5: a leaf's list is sorted and distinct, and corners point at the right entries. */
static pnResult checkLeaf(const pnTree *t, uint32_t leaf) {
  if (t->rule->reshapes) return checkSoupLeaf(t, leaf);
  const char *name = t->mesh->name;
  const uint32_t *list = t->shape->leafVertices + t->shape->leafVertexFirst[leaf];
  uint32_t count = t->shape->leafVertexFirst[leaf + 1] - t->shape->leafVertexFirst[leaf];
  for (uint32_t i = 1; i < count; ++i)
    if (list[i - 1] >= list[i]) BROKEN("T5", "vertex list of leaf %u is not ascending", name, leaf);
  for (uint32_t i = 0; i < 3u * t->shape->count[t->shape->innerCount + leaf]; ++i) {
    uint32_t v = vertexOf(t, leaf, i);
    uint32_t corner = t->shape->blockCorners[24 * (size_t)leaf + i];
    uint32_t place = corner / PN_PLACE_BYTES - t->shape->leafVertexFirst[leaf];
    if (corner % PN_PLACE_BYTES != 0 || place >= count || list[place] != 3 * v)
      BROKEN("T5", "corner %u of leaf %u", name, i, leaf);
    if (t->shape->sourceCorners && t->shape->sourceCorners[24 * (size_t)leaf + i] != 3 * sizeof(float) * v)
      BROKEN("T5", "corner %u of leaf %u in the pose", name, i, leaf);
  }
  return PN_OK;
}

/* The first vertex of the leaves in a range that a sorted list does not hold; PN_NONE: it holds all. */
static uint32_t missingVertex(const pnTree *t, const uint32_t *list, uint32_t count, uint32_t first, uint32_t end) {
  for (uint32_t i = t->shape->leafVertexFirst[first]; i < t->shape->leafVertexFirst[end]; ++i) {
    uint32_t lo = 0, hi = count;
    while (lo < hi) {
      uint32_t mid = (lo + hi) / 2;
      *(list[mid] < t->shape->leafVertices[i] ? &lo : &hi) = mid + (list[mid] < t->shape->leafVertices[i]);
    }
    if (lo == count || list[lo] != t->shape->leafVertices[i]) return t->shape->leafVertices[i] / 3;
  }
  return PN_NONE;
}

/* Is each in a list once, but for the last, which fills it up? */
static bool isListedOnce(const uint32_t *list, uint32_t count) {
  uint32_t i = 1;
  while (i < count && list[i - 1] < list[i]) ++i;
  bool once = count < i + PN_CLUSTER_STEP;
  for (; i < count; ++i) once = once && list[i] == list[i - 1];
  return once;
}

/* T6: clusters are maximal, they and twigs list what is below them. */
static pnResult checkTwig(const pnTree *t, uint32_t node) {
  uint32_t first, end;
  pn_leafRange(t, node, &first, &end);
  uint32_t count = t->shape->twigFirst[node + 1] - t->shape->twigFirst[node];
  bool isTwig = pn_isLeaf(t, t->shape->first[node]);
  if (count % PN_CLUSTER_STEP != 0 || isTwig != (count > 0))
    BROKEN("T6", "node %u lists %u vertices", t->mesh->name, node, count);
  uint32_t missing =
      isTwig ? missingVertex(t, t->shape->twigVertices + t->shape->twigFirst[node], count, first, end) : PN_NONE;
  if (missing != PN_NONE) BROKEN("T6", "twig %u does not list vertex %u", t->mesh->name, node, missing);
  if (!isListedOnce(t->shape->twigVertices + t->shape->twigFirst[node], count))
    BROKEN("T6", "twig %u lists a vertex twice", t->mesh->name, node);
  return PN_OK;
}

static pnResult checkCluster(const pnTree *t, uint32_t c) {
  const char *name = t->mesh->name;
  uint32_t node = t->shape->clusterNode[c], first, end;
  bool small = t->shape->below[node] <= t->def.cut || pn_isLeaf(t, node);
  uint32_t parent = t->shape->parent[node] / PN_LANES;
  if (!small || (node != 0 && t->shape->below[parent] <= t->def.cut))
    BROKEN("T6", "cluster %u (node %u) is not a maximal node of at most %u triangles", name, c, node, t->def.cut);
  const uint32_t *list = t->shape->clusterVertices + t->shape->clusterVertexFirst[c];
  uint32_t count = t->shape->clusterVertexFirst[c + 1] - t->shape->clusterVertexFirst[c];
  pn_leafRange(t, node, &first, &end);
  if (count == 0 || count % PN_CLUSTER_STEP != 0) BROKEN("T6", "cluster %u lists %u vertices", name, c, count);
  uint32_t missing = missingVertex(t, list, count, first, end);
  if (missing != PN_NONE) BROKEN("T6", "cluster %u does not list vertex %u", name, c, missing);
  if (!isListedOnce(list, count)) BROKEN("T6", "cluster %u lists a vertex twice", name, c);
  return PN_OK;
}

/* Does the volume in a lane contain a point? As the traversal sees it, in the arithmetic of the tree: would the volume of
 * a body that is this point overlap it? On the grid for slabs, with the margins of the pose already inside for spheres. */
static bool contains(const pnTree *t, uint32_t node, uint32_t lane, uint32_t v) {
  if (t->rule->modelSpace) {
    const pnModelLanes *m = pn_lanesOf(t, node); /* boxes of positions before the transform */
    float s[4];
    t->pose->motion->fetch(t->pose, true, &v, 1, s, 4);
    for (int k = 0; k < 3; ++k)
      if (s[k] < m->row[k][0][lane] || s[k] > m->row[k][1][lane]) return false;
    return true;
  }
  float p[4];
  pn_poseFetch(t->pose, &v, 1, p, 4);
  return t->form->contains(t, node, lane, p);
}

/* T7 for some vertices, three times their numbers each, in a lane. */
static pnResult checkLane(const pnTree *t, uint32_t node, uint32_t lane, const uint32_t *list, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    if (!contains(t, node, lane, list[i] / 3))
      BROKEN("T7", "vertex %u is outside lane %u of node %u", t->mesh->name, list[i] / 3, lane, node);
  return PN_OK;
}

/* T7: every volume contains what is below it. Soups have no lists: they are looked at leaf by leaf. */
static pnResult checkVolumes(pnTree *t, uint32_t node) {
  pnFresh fresh = {.alone = true};
  pn_freshen(t, node, &fresh);
  bool isLeaf = pn_isLeaf(t, node);
  pnResult result = PN_OK;
  for (uint32_t j = 0; result == PN_OK && j < t->shape->count[node]; ++j) {
    uint32_t corners[3 * PN_LANES], n, first = node - t->shape->innerCount, end = first + 1;
    if (!isLeaf && !t->rule->reshapes) {
      const uint32_t *list = pn_verticesBelow(t, t->shape->first[node] + j, &n);
      result = checkLane(t, node, j, list, n);
      continue;
    }
    if (!isLeaf) pn_leafRange(t, t->shape->first[node] + j, &first, &end);
    for (uint32_t leaf = first; result == PN_OK && leaf < end; ++leaf) {
      n = isLeaf ? 3 : 3u * t->shape->count[t->shape->innerCount + leaf];
      for (uint32_t i = 0; i < n; ++i) corners[i] = 3 * vertexOf(t, leaf, isLeaf ? 3 * j + i : i);
      result = checkLane(t, node, j, corners, n);
    }
  }
  return result;
}

/* T8: the box of everything; of a soup, of what the leaves hold. */
static pnResult checkBox(const pnTree *t) {
  bool soup = t->rule->reshapes;
  uint32_t count = soup ? 3 * PN_LANES * t->shape->leafCount : 3 * t->mesh->triangleCount;
  for (uint32_t i = 0; i < count; ++i) {
    float p[4];
    if (soup && t->shape->leafTriangles[i / 3] == PN_NONE) continue;
    uint32_t v = soup ? vertexOf(t, 0, i) : t->mesh->triangles[i];
    pn_poseFetch(t->pose, &v, 1, p, 4);
    for (int k = 0; k < 3; ++k) {
      if (p[k] < (&t->box.min.x)[k] || p[k] > (&t->box.max.x)[k]) {
        return pn_fail(PN_ERROR_ARGUMENT, "tree of mesh '%s': invariant T8: vertex %u is outside the box",
                       t->mesh->name, v);
      }
    }
  }
  return PN_OK;
}

pnResult pnTree_Validate(pnTree *tree) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(tree);
  pnResult result = pnTree_Update(tree, NULL);
  pnFresh fresh = {.alone = true};
  /* leaves of a soup have lists only once they were reached */
  for (uint32_t node = 0; result == PN_OK && tree->rule->reshapes && node < tree->shape->nodeCount; ++node)
    pn_freshen(tree, node, &fresh);
  if (tree->shape->nodeCount == 0) return result;
  if (result == PN_OK && tree->shape->parent[0] != tree->shape->nodeCount * PN_LANES)
    result = pn_fail(PN_ERROR_ARGUMENT, "tree of mesh '%s': invariant T3: parent of the root", tree->mesh->name);
  result = result == PN_OK ? checkTriangles(tree) : result;
  for (uint32_t i = 0; result == PN_OK && i < tree->shape->nodeCount; ++i) result = checkNode(tree, i);
  for (uint32_t i = 0; result == PN_OK && i < tree->shape->leafCount; ++i) result = checkLeaf(tree, i);
  for (uint32_t i = 0; result == PN_OK && i < tree->shape->clusterCount; ++i) result = checkCluster(tree, i);
  for (uint32_t node = 0; result == PN_OK && tree->shape->twigFirst && node < tree->shape->innerCount; ++node)
    result = checkTwig(tree, node);
  /* with big triangles in pieces, volumes are those of the pieces (test_corner.c looks at them) */
  for (uint32_t i = 0; result == PN_OK && i < tree->shape->nodeCount && !tree->shape->slotPieces; ++i)
    result = checkVolumes(tree, i);
  return result == PN_OK ? checkBox(tree) : result;
}
