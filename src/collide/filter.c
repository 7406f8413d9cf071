/* filter.c: see filter.h. Filters look at pairs that were found, which are few, and not at candidates. */
#include "collide/filter.h"

#include "collide/rest.h"

pnResult pn_checkFilter(const pnSelfFilter *filter) {
  if (filter->ring > PN_MAX_RING) {
    return pn_fail(PN_ERROR_ARGUMENT, "self filter: ring is %u, at most %u rings can be left out", filter->ring,
                   PN_MAX_RING);
  }
  return PN_OK;
}

/* Do two triangles share a vertex, by number, or by welding and place as they are now? */
static bool areNeighbours(const pnPose *pose, uint32_t s, uint32_t t) {
  const pnMesh *mesh = pose->mesh;
  const uint32_t *a = mesh->triangles + 3 * (size_t)s, *b = mesh->triangles + 3 * (size_t)t;
  for (int k = 0; k < 9; ++k) {
    uint32_t ends[2] = {a[k / 3], b[k % 3]};
    if (ends[0] == ends[1]) return true;
    if (mesh->weld[ends[0]] == mesh->weld[ends[1]]) {
      float p[6];
      pn_poseFetch(pose, ends, 2, p, 3);
      if (p[0] == p[3] && p[1] == p[4] && p[2] == p[5]) return true;
    }
  }
  return false;
}

/* Is t within `ring` steps from triangle to neighbour? */
static bool isWithin(const pnPose *pose, uint32_t s, uint32_t t, uint32_t ring) {
  const pnMesh *mesh = pose->mesh;
  if (areNeighbours(pose, s, t)) return true;
  for (int k = 0; k < 3 && ring > 1; ++k) {
    uint32_t v = mesh->weld[mesh->triangles[3 * (size_t)s + k]];
    for (uint32_t r = mesh->ringOffsets[v]; r < mesh->ringOffsets[v + 1]; ++r) {
      bool next = !mesh->welded || areNeighbours(pose, s, mesh->rings[r]);
      if (next && isWithin(pose, mesh->rings[r], t, ring - 1)) return true;
    }
  }
  return false;
}

void pn_filterPairs(const pnTree *tree, const pnSelfFilter *filter, pnPair *pairs, size_t *ioCount) {
  size_t kept = 0;
  for (size_t i = 0; i < *ioCount; ++i) {
    pnPair p = pairs[i];
    bool drop = filter->triangleGroup && filter->triangleGroup[p.a] == filter->triangleGroup[p.b];
    drop = drop || (filter->ignoreRest && pn_meetAtRest(tree->shape, p.a, p.b));
    drop = drop || (filter->ring > 0 && isWithin(tree->pose, p.a, p.b, filter->ring));
    if (!drop) pairs[kept++] = p;
  }
  *ioCount = kept;
}
