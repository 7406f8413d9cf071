/* filter.c: see filter.h. Filters look at pairs that were found, which are few, and not at candidates. */
#include "collide/filter.h"

#include <stdlib.h>

pnResult pn_checkFilter(const pnSelfFilter *filter) {
  if (filter->ring > PN_MAX_RING) {
    return pn_fail(PN_ERROR_ARGUMENT, "self filter: ring is %u, at most %u rings can be left out", filter->ring,
                   PN_MAX_RING);
  }
  return PN_OK;
}

bool pn_hasFilter(const pnSelfFilter *filter, const pnMesh *mesh) {
  return filter->ring > (mesh->welded ? 0u : 1u) || filter->ignoreRest || filter->triangleGroup;
}

/* Do two triangles share a vertex, by number, or by welding and place as they are now? */
static bool areNeighbours(const pnPose *pose, uint32_t s, uint32_t t) {
  const pnMesh *mesh = pose->mesh;
  const uint32_t *a = mesh->triangles + 3 * (size_t)s, *b = mesh->triangles + 3 * (size_t)t;
  for (int k = 0; k < 9; k++) {
    uint32_t ends[2] = {a[k / 3], b[k % 3]};
    if (ends[0] == ends[1]) {
      return true;
    }
    if (mesh->weld[ends[0]] == mesh->weld[ends[1]]) {
      float p[6];
      pn_poseFetch(pose, ends, 2, p, 3);
      if (p[0] == p[3] && p[1] == p[4] && p[2] == p[5]) {
        return true;
      }
    }
  }
  return false;
}

/* Is t within `ring` steps from triangle to neighbour? */
static bool isWithin(const pnPose *pose, uint32_t s, uint32_t t, uint32_t ring) {
  const pnMesh *mesh = pose->mesh;
  if (areNeighbours(pose, s, t)) {
    return true;
  }
  for (int k = 0; k < 3 && ring > 1; k++) {
    uint32_t v = mesh->weld[mesh->triangles[3 * (size_t)s + k]];
    for (uint32_t r = mesh->ringOffsets[v]; r < mesh->ringOffsets[v + 1]; r++) {
      bool next = !mesh->welded || areNeighbours(pose, s, mesh->rings[r]);
      if (next && isWithin(pose, mesh->rings[r], t, ring - 1)) {
        return true;
      }
    }
  }
  return false;
}

static uint64_t keyOf(pnPair p) {
  return (uint64_t)p.a << 32 | p.b;
}

pnResult pn_findRestPairs(pnTree *tree) {
  if (tree->hasRest) {
    return PN_OK;
  }
  pnPose *pose = NULL;
  pnTree *rest = NULL;
  pnPairList *list = NULL;
  pnPoseDef poseDef = {tree->mesh, tree->pose->morph, tree->pose->skin};
  pnResult result = pnCreatePose(&poseDef, &pose);
  if (result == PN_OK) {
    pnTreeDef def = tree->def;
    def.pose = pose;
    def.calm = false; /* which would ask for the rest pairs */
    result = pnCreateTree(&def, &rest);
  }
  if (result == PN_OK) {
    result = pnCreatePairList(&list);
  }
  if (result == PN_OK) {
    result = pnCollideSelf(rest, NULL, list, NULL);
  }
  if (result == PN_OK) {
    size_t n = pnPairList_GetCount(list);
    tree->restKeys = n ? pn_alloc(n * sizeof(uint64_t)) : NULL;
    if (n && !tree->restKeys) {
      result = pn_failMemory(n * sizeof(uint64_t));
    } else {
      for (size_t i = 0; i < n; i++) {
        tree->restKeys[i] = keyOf(pnPairList_GetPairs(list)[i]);
      }
      tree->restCount = n;
      tree->hasRest = true;
    }
  }
  pnDestroyPairList(list);
  pnDestroyTree(rest);
  pnDestroyPose(pose);
  return result;
}

static int compareU64(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

pnResult pn_filterPairs(pnTree *tree, const pnSelfFilter *filter, pnPair *pairs, size_t *ioCount) {
  pnResult result = filter->ignoreRest ? pn_findRestPairs(tree) : PN_OK;
  size_t kept = 0;
  for (size_t i = 0; result == PN_OK && i < *ioCount; i++) {
    pnPair p = pairs[i];
    uint64_t key = keyOf(p);
    bool drop = filter->triangleGroup && filter->triangleGroup[p.a] == filter->triangleGroup[p.b];
    drop = drop || (filter->ignoreRest && tree->restCount > 0 &&
                    bsearch(&key, tree->restKeys, tree->restCount, sizeof key, compareU64));
    drop = drop || (filter->ring > 0 && isWithin(tree->pose, p.a, p.b, filter->ring));
    if (!drop) {
      pairs[kept++] = p;
    }
  }
  *ioCount = result == PN_OK ? kept : 0;
  return result;
}
