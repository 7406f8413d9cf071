/* name.c: neighbours of a soup, whose corners have names (mesh/soup_name.c).
 *
 * Leaves of a mesh know which triangles of which other leaf share a vertex, and leave those pairs out; fans look at them. A
 * soup's leaves are others in every update, and its names are few numbers that are at hand. So neighbours are told
 * where two triangles are candidates: those with a name in common are tested as neighbours are, and the others go on as always.
 * None is lost: what shares a vertex has it in both volumes. */
#include "collide/narrow.h"
#include "collide/proof.h"

/* It has something to say whenever a soup has names: neighbours must not be tested as others are. */
static pnResult prepare(pnTree *tree, bool *outUse) {
  *outUse = tree->rule->reshapes && tree->mesh->welded;
  return PN_OK;
}

static bool haveCommon(const uint32_t a[3], const uint32_t b[3]) {
  bool common = false;
  for (int k = 0; k < 9; ++k) common |= a[k / 3] == b[k % 3];
  return common;
}

static size_t siftNames(const pnTraversal *t, pnWorker *w) {
  const uint32_t *names = t->a->mesh->weld, *triangles = t->a->shape->leafTriangles;
  pnPair *c = w->candidates.data;
  size_t others = 0, n = w->candidates.count;
  for (size_t i = 0; i < n; ++i) {
    if (!haveCommon(names + 3 * (size_t)triangles[c[i].a], names + 3 * (size_t)triangles[c[i].b])) {
      pnPair swap = c[i];
      c[i] = c[others];
      c[others++] = swap;
    }
  }
  w->cost.exactTests += n - others;
  w->candidates.count = others + pn_narrowNeighbours(t->a, c + others, n - others, &w->cost.uncertain);
  return others;
}

const pnProof pn_proofNames = {.name = "names of a soup", .prepare = prepare, .sift = siftNames, .decides = true};
