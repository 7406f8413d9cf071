/* skin_gather.c: see skin_gather.h. */
#include "tree/skin_gather.h"

/* ---------------------------------------------------------------- intervals */

static void emptyExtent(pnExtent *e) {
  for (int k = 0; k < 3; ++k) {
    e->lo[k] = INFINITY;
    e->hi[k] = -INFINITY;
  }
}

/* As fmin and fmax, which are calls: nothing here is NaN. */
static inline double lesser(double x, double y) {
  return x < y ? x : y;
}
static inline double greater(double x, double y) {
  return x > y ? x : y;
}

static void growExtent(pnExtent *e, const double p[3]) {
  for (int k = 0; k < 3; ++k) {
    e->lo[k] = lesser(e->lo[k], p[k]);
    e->hi[k] = greater(e->hi[k], p[k]);
  }
}

void pn_roundOut(double lo, double hi, float *outMid, float *outHalf) {
  float mid = (float)(0.5 * (lo + hi));
  double half = fmax(hi - mid, mid - lo);
  *outMid = mid;
  *outHalf = half > 0 ? nextafterf((float)half, INFINITY) : 0;
}

pnSkinSpan pn_skinSpanOf(const pnExtent *extent) {
  pnSkinSpan s;
  for (int k = 0; k < 3; ++k) pn_roundOut(extent->lo[k], extent->hi[k], &s.mid[k], &s.half[k]);
  return s;
}

/* ---------------------------------------------------------------- joints */

static void restOf(const pnSkinGather *gather, uint32_t vertex, double out[3]) {
  const float *p = gather->tree->mesh->vertices + 3 * (size_t)vertex;
  for (int k = 0; k < 3; ++k) out[k] = p[k];
}

static void begin(pnGathered *gathered, uint32_t mark) {
  *gathered = (pnGathered){.mark = mark, .low = INFINITY, .high = -INFINITY};
  emptyExtent(&gathered->moves);
  emptyExtent(&gathered->change);
  for (uint32_t i = 0; i < 2 * PN_MAX_SLABS; ++i) gathered->reach[i] = -INFINITY;
}

/* What `gathered` does to one more vertex. */
static pnGathered *touch(const pnSkinGather *gather, pnGathered *gathered) {
  if (gathered->mark != gather->mark) begin(gathered, gather->mark);
  ++gathered->listed;
  return gathered;
}

/* A place in both measures; `along` has it by directions, each there and back. */
static void growBy(const pnSkinGather *gather, pnGathered *gathered, const double p[3], const double *along) {
  growExtent(&gathered->moves, p);
  uint32_t count = gather->set ? 2 * gather->set->count : 0;
  for (uint32_t i = 0; i < count; ++i) gathered->reach[i] = greater(gathered->reach[i], along[i]);
}

/* The joint with the largest weight first. */
static void mainFirst(pnSkinGather *gather) {
  uint32_t main = 0;
  for (uint32_t i = 1; i < gather->usedCount; ++i)
    if (gather->joints[gather->used[i]].total > gather->joints[gather->used[main]].total) main = i;
  uint32_t joint = gather->used[main];
  gather->used[main] = gather->used[0];
  gather->used[0] = joint;
}

void pn_gatherJoints(pnSkinGather *gather, const uint32_t *listed, uint32_t count) {
  const pnSkin *skin = gather->pose->skin;
  ++gather->mark;
  gather->usedCount = 0;
  begin(&gather->all, gather->mark);
  for (uint32_t i = 0; i < count; ++i) {
    double p[3], along[2 * PN_MAX_SLABS];
    uint32_t vertex = listed[i] / 3;
    restOf(gather, vertex, p);
    for (uint32_t d = 0; gather->set && d < gather->set->count; ++d) {
      const int8_t *n = gather->set->dir[d];
      along[2 * d] = n[0] * p[0] + n[1] * p[1] + n[2] * p[2];
      along[2 * d + 1] = -along[2 * d];
    }
    growBy(gather, &gather->all, p, along);
    for (uint32_t e = skin->influenceFirst[vertex]; e < skin->influenceFirst[vertex + 1]; ++e) {
      const pnInfluence *in = &skin->influences[e];
      pnGathered *g = &gather->joints[in->joint];
      if (g->mark != gather->mark) gather->used[gather->usedCount++] = in->joint;
      g = touch(gather, g);
      g->total += in->weight;
      g->low = lesser(g->low, in->weight);
      g->high = greater(g->high, in->weight);
      growBy(gather, g, p, along);
    }
  }
  mainFirst(gather);
}

void pn_gatherChanges(pnSkinGather *gather, const uint32_t *listed, uint32_t count, const float centre[3]) {
  const pnSkin *skin = gather->pose->skin;
  static const double zero[3] = {0};
  for (uint32_t i = 0; i < count; ++i) {
    double p[3];
    uint32_t vertex = listed[i] / 3;
    restOf(gather, vertex, p);
    for (uint32_t e = skin->influenceFirst[vertex]; e < skin->influenceFirst[vertex + 1]; ++e) {
      const pnInfluence *in = &skin->influences[e];
      double x[3];
      for (int k = 0; k < 3; ++k) x[k] = in->weight * (p[k] - centre[k]);
      growExtent(&gather->joints[in->joint].change, x);
    }
  }
  for (uint32_t i = 0; i < gather->usedCount; ++i) {
    pnGathered *g = &gather->joints[gather->used[i]];
    if (g->listed < count) growExtent(&g->change, zero);
  }
}

/* ---------------------------------------------------------------- morph targets */

/* What the targets do to one vertex: a reference's part is its difference to the rest position. */
static void gatherTargets(pnSkinGather *gather, uint32_t vertex) {
  const pnMorph *morph = gather->pose->morph;
  const bool deltas = morph->mode == PN_MORPH_DELTAS;
  double p[3], move[3];
  restOf(gather, vertex, p);
  uint32_t first = deltas ? morph->entryFirst[vertex] : 0,
           end = deltas ? morph->entryFirst[vertex + 1] : morph->targetCount;
  for (uint32_t e = first; e < end; ++e) {
    const float *given =
        deltas ? morph->entries[e].move : morph->positions + 3 * ((size_t)vertex * morph->targetCount + e);
    for (int k = 0; k < 3; ++k) move[k] = given[k] - (deltas ? 0 : p[k]);
    growExtent(&touch(gather, &gather->targets[deltas ? morph->entries[e].target : e])->moves, move);
  }
}

static bool gatherNode(pnSkinGather *gather, uint32_t node, pnDeltaList *out) {
  const pnMorph *morph = gather->pose->morph;
  static const double zero[3] = {0};
  uint32_t n;
  const uint32_t *v = pn_verticesBelow(gather->tree, node, &n);
  ++gather->mark;
  for (uint32_t i = 0; i < n; ++i) gatherTargets(gather, v[i] / 3);
  for (uint32_t t = 0; t < morph->targetCount; ++t) {
    pnGathered *g = &gather->targets[t];
    if (g->mark != gather->mark) continue;
    if (g->listed < n) growExtent(&g->moves, zero);
    if (!pn_arrayPush(&out->deltas, ((pnSkinDelta){t, pn_skinSpanOf(&g->moves)}))) return false;
  }
  return true;
}

static size_t firstBytes(const pnTree *tree) {
  return pn_bytes((size_t)tree->shape->nodeCount + 1, sizeof(uint32_t));
}

bool pn_gatherDeltas(pnSkinGather *gather, pnDeltaList *out) {
  const pnTree *tree = gather->tree;
  if (!gather->pose->morph) return true;
  out->first = pn_alloc(firstBytes(tree));
  bool ok = out->first != NULL;
  for (uint32_t node = 0; ok && node < tree->shape->nodeCount; ++node) {
    out->first[node] = (uint32_t)out->deltas.count;
    ok = gatherNode(gather, node, out) && out->deltas.count <= UINT32_MAX;
  }
  if (ok) out->first[tree->shape->nodeCount] = (uint32_t)out->deltas.count;
  return ok;
}

void pn_freeDeltas(pnDeltaList *list, const pnTree *tree) {
  pn_free(list->first, firstBytes(tree));
  pn_arrayFree(&list->deltas);
}

void pn_placeDeltas(const pnDeltaList *list, const pnTree *tree, pnSkinBound *bound, char *base, size_t *at) {
  if (list->first) {
    bound->deltaFirst = pn_carve(base, at, (size_t)tree->shape->nodeCount + 1, sizeof(uint32_t));
    bound->deltas = pn_carve(base, at, list->deltas.count, sizeof(pnSkinDelta));
  }
}

void pn_copyDeltas(const pnDeltaList *list, const pnTree *tree, pnSkinBound *bound) {
  if (list->first) memcpy(bound->deltaFirst, list->first, firstBytes(tree));
  if (list->deltas.count > 0) memcpy(bound->deltas, list->deltas.data, list->deltas.count * sizeof(pnSkinDelta));
}

/* ---------------------------------------------------------------- memory */

static size_t targetBytes(const pnSkinGather *g) {
  return pn_bytes(g->pose->morph ? g->pose->morph->targetCount : 1, sizeof(pnGathered));
}

bool pn_beginGather(pnSkinGather *gather, const pnTree *tree, const pnSlabSet *set) {
  *gather = (pnSkinGather){.tree = tree, .pose = tree->pose, .set = set};
  uint32_t joints = tree->pose->skin->jointCount;
  gather->joints = pn_allocZero(pn_bytes(joints, sizeof(pnGathered)));
  gather->targets = pn_allocZero(targetBytes(gather));
  gather->used = pn_alloc(pn_bytes(joints, sizeof(uint32_t)));
  return gather->joints && gather->targets && gather->used;
}

void pn_endGather(pnSkinGather *gather) {
  uint32_t joints = gather->pose->skin->jointCount;
  pn_free(gather->joints, pn_bytes(joints, sizeof(pnGathered)));
  pn_free(gather->targets, targetBytes(gather));
  pn_free(gather->used, pn_bytes(joints, sizeof(uint32_t)));
}
