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

bool pn_hasFilter(const pnSelfFilter *filter) {
  return filter->ring > 1 || filter->ignoreRest || filter->triangleGroup;
}

/* Is t within `ring` steps from triangle to triangle over shared (welded) vertices? */
static bool isWithin(const pnMesh *mesh, uint32_t s, uint32_t t, uint32_t ring) {
  uint8_t a[3], b[3];
  if (pn_sharedCorners(mesh, s, t, a, b) > 0) {
    return true;
  }
  for (int k = 0; k < 3 && ring > 1; k++) {
    uint32_t v = mesh->weld[mesh->triangles[3 * (size_t)s + k]];
    for (uint32_t r = mesh->ringOffsets[v]; r < mesh->ringOffsets[v + 1]; r++) {
      if (isWithin(mesh, mesh->rings[r], t, ring - 1)) {
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
    drop = drop || (filter->ring > 0 && isWithin(tree->mesh, p.a, p.b, filter->ring));
    if (!drop) {
      pairs[kept++] = p;
    }
  }
  *ioCount = result == PN_OK ? kept : 0;
  return result;
}
