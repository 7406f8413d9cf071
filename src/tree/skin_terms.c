/* skin_terms.c: what skin_bound.h keeps of a tree's nodes child by child, for balls and for weighted joints. */
#include "geom/ball.h"
#include "tree/skin_gather.h"

#include <float.h>

/* Scratch of one creation. */
typedef struct TermMaker {
  pnSkinGather gather;
  float *points; /* room for the most vertices that a node lists; spheres */
  PN_ARRAY(pnSkinTerm) terms;
  pnDeltaList deltas;
  uint32_t *termFirst; /* nodeCount + 1 */
  pnSkinSpan *spans;
} TermMaker;

/* The ball of a span, when there are no points at hand. */
static void ballOfSpan(pnSkinSpan *s) {
  const double x = s->half[0], y = s->half[1], z = s->half[2];
  *s =
      (pnSkinSpan){{s->mid[0], s->mid[1], s->mid[2]}, {nextafterf((float)sqrt(x * x + y * y + z * z), INFINITY), 0, 0}};
}

/* ---------------------------------------------------------------- balls and distances */

static bool isMovedBy(const pnSkin *skin, uint32_t vertex, uint32_t joint) {
  for (uint32_t e = skin->influenceFirst[vertex]; e < skin->influenceFirst[vertex + 1]; ++e)
    if (skin->influences[e].joint == joint) return true;
  return false;
}

/* The smallest ball of the vertices that a joint moves; PN_NONE: of all. */
static pnSkinSpan ballOf(const TermMaker *maker, const uint32_t *v, uint32_t n, uint32_t joint) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; ++i)
    if (joint == PN_NONE || isMovedBy(maker->gather.pose->skin, v[i] / 3, joint))
      memcpy(maker->points + 4 * (size_t)count++, maker->gather.tree->mesh->vertices + v[i], 3 * sizeof(float));
  pnSkinSpan ball = {{0}, {0}};
  pn_smallestBall(maker->points, count, ball.mid, &ball.half[0]);
  return ball;
}

/* Weighted: how far the vertices of a joint are from its pivot. */
static float farFromPivot(const TermMaker *maker, const uint32_t *v, uint32_t n, uint32_t joint) {
  const pnSkin *skin = maker->gather.pose->skin;
  const double c[3] = {skin->pivots[joint].x, skin->pivots[joint].y, skin->pivots[joint].z};
  double most = 0;
  for (uint32_t i = 0; i < n; ++i) {
    if (isMovedBy(skin, v[i] / 3, joint)) {
      const float *at = maker->gather.tree->mesh->vertices + v[i];
      const double p[3] = {at[0], at[1], at[2]};
      most = fmax(most, (p[0] - c[0]) * (p[0] - c[0]) + (p[1] - c[1]) * (p[1] - c[1]) + (p[2] - c[2]) * (p[2] - c[2]));
    }
  }
  return nextafterf((float)sqrt(most), INFINITY);
}

/* ---------------------------------------------------------------- nodes */

static bool addTerms(TermMaker *maker, uint32_t node) {
  pnSkinGather *gather = &maker->gather;
  const bool linear = gather->pose->skin->mode == PN_SKIN_LINEAR, balls = !gather->tree->slabs;
  uint32_t n;
  const uint32_t *v = pn_verticesBelow(gather->tree, node, &n);
  pn_gatherJoints(gather, v, n);
  pnSkinSpan span = balls ? ballOf(maker, v, n, PN_NONE) : pn_skinSpanOf(&gather->all.moves);
  maker->spans[node] = span;
  bool changes = linear && gather->usedCount > 1 && gather->usedCount <= PN_CHANGE_TERMS;
  if (changes) pn_gatherChanges(gather, v, n, span.mid);
  for (uint32_t i = 0; i < gather->usedCount; ++i) {
    const pnGathered *g = &gather->joints[gather->used[i]];
    pnSkinTerm term = {.joint = gather->used[i]};
    pn_roundOut(linear && g->listed < n ? 0 : g->low, g->high, &term.weight, &term.weightHalf);
    term.moves = balls ? ballOf(maker, v, n, term.joint) : pn_skinSpanOf(&g->moves);
    if (changes) {
      term.change = pn_skinSpanOf(&g->change);
      ballOfSpan(&term.change);
    }
    term.away = linear ? 0 : farFromPivot(maker, v, n, term.joint);
    if (!pn_arrayPush(&maker->terms, term)) return false;
  }
  return true;
}

/* ---------------------------------------------------------------- memory */

static size_t layout(const TermMaker *maker, pnSkinBound *bound, char *base) {
  const pnTree *tree = maker->gather.tree;
  size_t at = 0, nodes = tree->shape->nodeCount;
  pn_carve(base, &at, 1, sizeof *bound);
  bound->spans = pn_carve(base, &at, nodes, sizeof(pnSkinSpan));
  bound->termFirst = pn_carve(base, &at, nodes + 1, sizeof(uint32_t));
  bound->terms = pn_carve(base, &at, maker->terms.count, sizeof(pnSkinTerm));
  pn_placeDeltas(&maker->deltas, tree, bound, base, &at);
  return at;
}

/* What was gathered, into one block. */
static pnResult keep(const pnTree *tree, const TermMaker *maker, void **outData, size_t *outBytes) {
  pnSkinBound bound = {.groupCount = pn_skinGroups(tree->shape)};
  size_t nodes = tree->shape->nodeCount;
  *outBytes = layout(maker, &bound, NULL);
  *outData = pn_allocZero(*outBytes);
  if (!*outData) return pn_failMemory(*outBytes);
  layout(maker, &bound, *outData);
  memcpy(bound.spans, maker->spans, nodes * sizeof(pnSkinSpan));
  memcpy(bound.termFirst, maker->termFirst, (nodes + 1) * sizeof(uint32_t));
  memcpy(bound.terms, maker->terms.data, maker->terms.count * sizeof(pnSkinTerm));
  pn_copyDeltas(&maker->deltas, tree, &bound);
  memcpy(*outData, &bound, sizeof bound);
  return PN_OK;
}

/* All nodes; false: out of memory, or more terms than can be numbered. */
static bool gatherAll(TermMaker *maker) {
  uint32_t nodes = maker->gather.tree->shape->nodeCount;
  for (uint32_t node = 0; node < nodes; ++node) {
    maker->termFirst[node] = (uint32_t)maker->terms.count;
    if (!addTerms(maker, node) || maker->terms.count > UINT32_MAX) return false;
  }
  maker->termFirst[nodes] = (uint32_t)maker->terms.count;
  return pn_gatherDeltas(&maker->gather, &maker->deltas);
}

/* The most vertices that a node lists. Not the root's: its list has each vertex once a cluster, that of a node within a
 * cluster once a leaf. */
static uint32_t mostListed(const pnTree *tree) {
  uint32_t most = 0;
  for (uint32_t node = 0; node < tree->shape->nodeCount; ++node) {
    uint32_t n;
    pn_verticesBelow(tree, node, &n);
    most = PN_MAX(most, n);
  }
  return most;
}

pnResult pn_makeSkinTerms(const pnTree *tree, void **outData, size_t *outBytes) {
  uint32_t most = mostListed(tree);
  size_t pointBytes = pn_bytes(4 * (size_t)most, sizeof(float)),
         firstBytes = pn_bytes((size_t)tree->shape->nodeCount + 1, 4);
  size_t spanBytes = pn_bytes(tree->shape->nodeCount, sizeof(pnSkinSpan));
  TermMaker maker = {.points = pn_allocZero(pointBytes)};
  maker.spans = pn_alloc(spanBytes);
  maker.termFirst = pn_alloc(firstBytes);
  bool ok =
      pn_beginGather(&maker.gather, tree, NULL) && maker.points && maker.spans && maker.termFirst && gatherAll(&maker);
  pnResult result = ok ? keep(tree, &maker, outData, outBytes) : pn_failMemory(maker.terms.count * sizeof(pnSkinTerm));
  pn_endGather(&maker.gather);
  pn_freeDeltas(&maker.deltas, tree);
  pn_arrayFree(&maker.terms);
  pn_free(maker.termFirst, firstBytes);
  pn_free(maker.spans, spanBytes);
  pn_free(maker.points, pointBytes);
  return result;
}
