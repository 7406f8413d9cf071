/* name.c: neighbours of a soup, whose corners have names (mesh/soup_name.c).
 *
 * Leaves of a mesh know which triangles of which other leaf share a vertex, and leave those pairs out; fans look at them. A
 * soup's leaves are others in every update, and its names are few numbers that are at hand. So neighbours are told
 * where two triangles are candidates: those with a name in common are tested as neighbours are, and the others go on as always.
 * None is lost: what shares a vertex has it in both volumes. */
#include "collide/narrow.h"
#include "collide/proof.h"
#include "geom/simd_whole.h"
#include "mesh/soup.h"

/* It has something to say whenever a soup has names, which the vertices of a mesh are: neighbours must not be tested as others are. */
static pnResult prepare(pnTree *tree, bool *outUse) {
  *outUse = tree->rule->reshapes && (tree->mesh->welded || pn_soupOfPose(tree->pose)->isView);
  return PN_OK;
}

/* The vertices of the triangle in a slot, and its last again. Where vertices are not welded their places say as much, and stand with the leaf. */
PN_INLINE void verticesOf(const pnTree *tree, bool byPlace, uint32_t slot, int32_t out[4]) {
  uint32_t v[3];
  if (byPlace) memcpy(v, tree->corners + 3 * (size_t)slot, sizeof v);
  else pn_weldedCorners(tree->mesh, tree->shape->leafTriangles[slot], v);
  for (int k = 0; k < 4; ++k) out[k] = (int32_t)v[PN_MIN(k, 2)];
}

PN_INLINE bool haveCommon(const int32_t a[4], const int32_t b[4]) {
  pnI4 all = pn_i4Load(b), common = all == a[0];
  common |= all == a[1];
  common |= all == a[2];
  return pn_i4Any(common);
}

static size_t siftNames(const pnTraversal *t, pnWorker *w) {
  bool byPlace = !t->a->mesh->welded;
  pnPair *c = w->candidates.data;
  size_t others = 0, n = w->candidates.count;
  for (size_t i = 0; i < n; ++i) {
    int32_t a[4], b[4];
    verticesOf(t->a, byPlace, c[i].a, a);
    verticesOf(t->a, byPlace, c[i].b, b);
    /* which it is nobody could predict */
    bool common = haveCommon(a, b);
    pnPair one = c[i], other = c[others];
    c[i] = common ? one : other;
    c[others] = common ? other : one;
    others += !common;
  }
  if (!t->neighbours) {
    w->candidates.count = others;
    return others;
  }
  w->cost.exactTests += n - others;
  w->candidates.count = others + pn_narrowNeighbours(t->a, c + others, n - others, &w->cost.uncertain);
  return others;
}

const pnProof pn_proofNames = {.name = "names of a soup", .prepare = prepare, .sift = siftNames, .decides = true};
