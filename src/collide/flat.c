/* flat.c: the flat regions of a frame. See flat.h; the signs are certain as in sight.h. */
#include "collide/flat.h"

#include "collide/proof.h"

typedef struct Look {
  pnTree *tree;
  const pnFlat *flat;
  uint8_t *isFlat;
  pnFlatNormals *normals; /* by leaf */
  pnWorker *workers;
} Look;

#define LEAVES_PER_ITEM 64u
#define TOPS_PER_ITEM 1u /* some take several times as long as others */

/* ---------------------------------------------------------------- normals */

static float largest4(pnF4 v) {
  float x[4];
  pn_f4Store(x, v);
  return PN_MAX(PN_MAX(x[0], x[1]), PN_MAX(x[2], x[3]));
}

static float sum4(pnF4 v) {
  float x[4];
  pn_f4Store(x, v);
  return (x[0] + x[1]) + (x[2] + x[3]);
}

/* The corners of four triangles of a leaf. */
PN_INLINE void corners4(const pnTree *tree, uint32_t slot, pnV4 out[3]) {
  const float *c[4][3];
  for (uint32_t i = 0; i < 4; ++i) pn_slotCorners(tree, slot + i, c[i]);
  for (int k = 0; k < 3; ++k) out[k] = pn_v4Load(c[0][k], c[1][k], c[2][k], c[3][k]);
}

static void computeNormals(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  Look *look = context;
  pnTree *tree = look->tree;
  /* Nobody else comes to these leaves before all are there: to claim them would be to wait, for each, until what was written of the one
   * before it has arrived. */
  pnFresh fresh = {.alone = true};
  for (uint32_t leaf = begin; leaf < end; ++leaf) {
    pn_freshen(tree, tree->shape->innerCount + leaf, &fresh);
    pnFlatNormals *out = &look->normals[leaf];
    pnF4 reach = pn_f4Set1(0);
    for (uint32_t half = 0; half < 2; ++half) {
      pnV4 p[3];
      corners4(tree, leaf * PN_LANES + 4 * half, p);
      pnV4 b = pn_v4Sub(&p[1], &p[0]), c = pn_v4Sub(&p[2], &p[0]);
      pnV4 n = pn_v4Cross(&b, &c);
      reach = pn_v4Reach(&c, pn_v4Reach(&b, reach));
      for (int k = 0; k < 3; ++k) pn_f4Store(out->x[k] + 4 * half, n.x[k]);
    }
    out->reach = largest4(reach);
  }
  look->workers[worker].fresh.nodes += fresh.nodes;
  look->workers[worker].fresh.vertices += fresh.vertices;
}

PN_INLINE pnV4 normals4(const pnFlatNormals *n, int half) {
  return (pnV4){{pn_f4Load(n->x[0] + 4 * half), pn_f4Load(n->x[1] + 4 * half), pn_f4Load(n->x[2] + 4 * half)}};
}

/* ---------------------------------------------------------------- one region */

/* Of four lanes those whose bits are set. */
PN_INLINE pnV4 laneNormals4(const pnFlatNormals *n, int half, uint32_t lanes) {
  float set[4];
  for (uint32_t i = 0; i < 4; ++i) set[i] = (float)(lanes >> (4 * half + (int)i) & 1);
  pnF4 mask = pn_f4Greater(pn_f4Load(set), pn_f4Set1(0));
  pnV4 v = normals4(n, half);
  for (int k = 0; k < 3; ++k) v.x[k] = pn_f4And(v.x[k], mask);
  return v;
}

/* Along the sum of the normals below the node, which come first; of copies one counts, as the other may face the other way. */
static pnLineOfSight lookAtNode(const Look *look, const pnFlatRegion *r) {
  pnV4 sum = {{pn_f4Set1(0), pn_f4Set1(0), pn_f4Set1(0)}};
  const pnFlatLeaf *leaf = look->flat->leaves + r->leafFirst;
  uint32_t first, end;
  pn_leafRange(look->tree, r->node, &first, &end);
  for (uint32_t i = 0; i < end - first; ++i) {
    const pnFlatNormals *normals = &look->normals[leaf[i].leaf];
    pnV4 low = laneNormals4(normals, 0, leaf[i].lanes), high = laneNormals4(normals, 1, leaf[i].lanes);
    low = pn_v4Add(&low, &high);
    sum = pn_v4Add(&sum, &low);
  }
  for (int k = 0; k < 3; ++k) sum.x[k] = pn_f4Set1(sum4(sum.x[k]));
  return pn_lookAlong(&sum);
}

/* Is every triangle of the region seen from the same side? */
static bool isSeenFromOneSide(const Look *look, const pnFlatRegion *r, const pnLineOfSight *sight) {
  const pnFlat *flat = look->flat;
  for (const pnFlatLeaf *l = flat->leaves + r->leafFirst; l < flat->leaves + r[1].leafFirst; ++l) {
    const pnFlatNormals *n = &look->normals[l->leaf];
    pnF4 m = pn_f4Set1(n->reach), error = pn_seenError(m), inRange = pn_neighbourRange(m);
    pnV4 low = normals4(n, 0), high = normals4(n, 1);
    unsigned seen = pn_f4Signs(pn_f4And(pn_f4Greater(pn_v4Dot(&sight->along, &low), error), inRange));
    seen |= pn_f4Signs(pn_f4And(pn_f4Greater(pn_v4Dot(&sight->along, &high), error), inRange)) << 4;
    if ((l->lanes & ~seen) != 0) return false;
  }
  return true;
}

/* Does the rim turn around the middle once, step by step? */
static bool isRound(const pnTree *tree, const pnFlat *flat, const pnFlatRegion *r, const pnLineOfSight *sight) {
  static const float places[4] = {0, 1, 2, 3};
  const float *positions = tree->leafPositions;
  const uint32_t *rim = flat->rims + r->rimFirst;
  uint32_t count = r[1].rimFirst - r->rimFirst - 5, same[4] = {r->middle, r->middle, r->middle, r->middle};
  pnV4 p[PN_RIM_MOST / 4 + 1], middle = pn_gather4(positions, same);
  pnF4 m = pn_f4Set1(0), zero = m, one = pn_f4Set1(1);
  for (uint32_t i = 0; i < count; i += 4) {
    p[i / 4] = pn_gather4(positions, rim + i);
    p[i / 4] = pn_v4Sub(&p[i / 4], &middle);
    m = pn_v4Reach(&p[i / 4], m);
  }
  m = pn_f4Set1(largest4(m));
  pnF4 seenError = pn_seenError(m), sideError = pn_sideError(m), good = pn_neighbourRange(m), changed = zero;
  for (uint32_t i = 0; i < count; i += 4) {
    pnV4 q = pn_gather4(positions, rim + i + 1);
    q = pn_v4Sub(&q, &middle);
    pnV4 n = pn_v4Cross(&p[i / 4], &q);
    pnF4 side = pn_v4Dot(&sight->across, &p[i / 4]), next = pn_v4Dot(&sight->across, &q);
    good = pn_f4And(good, pn_f4Greater(pn_v4Dot(&sight->along, &n), seenError));
    good = pn_f4And(good, pn_f4Greater(pn_f4Abs(side), sideError));
    /* steps past the end are those of the beginning again: seen as well, but not counted */
    pnF4 counts = pn_f4Greater(pn_f4Set1((float)(count - i)), pn_f4Load(places));
    pnF4 change = pn_f4Xor(pn_f4Greater(side, zero), pn_f4Greater(next, zero));
    changed = pn_f4Add(changed, pn_f4And(pn_f4And(change, counts), one));
  }
  return pn_f4Signs(good) == 15 && sum4(changed) < 2.5f;
}

static bool isFlat(const Look *look, const pnFlatRegion *r) {
  const pnFlat *flat = look->flat;
  pnLineOfSight sight = lookAtNode(look, r);
  if (!isRound(look->tree, flat, r, &sight) || !isSeenFromOneSide(look, r, &sight)) return false;
  for (const pnSeam *s = flat->seams + r->seamFirst; s < flat->seams + r[1].seamFirst; ++s)
    if (!pn_isClosedSeam(look->tree, s)) return false;
  return true;
}

/* A node, or if it is not flat those below it. */
static void findBelow(const Look *look, uint32_t node) {
  const pnShape *shape = look->tree->shape;
  uint32_t region = look->flat->regionOf[node];
  look->isFlat[node] = region != PN_NONE && isFlat(look, &look->flat->regions[region]);
  uint32_t child = shape->first[node];
  for (uint32_t j = 0; !look->isFlat[node] && child < shape->innerCount && j < shape->count[node]; ++j)
    findBelow(look, child + j);
}

static void findRegions(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const Look *look = context;
  for (uint32_t i = begin; i < end; ++i) findBelow(look, look->flat->tops[i]);
}

/* ---------------------------------------------------------------- all */

static bool findFlat(pnTree *tree, const pnTasks *tasks, pnWorker *workers, pnProofRoom *room) {
  pnFlatFrame *frame = tree->flat;
  if (frame->frame == tree->pose->frame) return true;
  if (!pn_arrayReserve(room, tree->shape->leafCount * sizeof(pnFlatNormals))) return false;
  Look look = {tree, frame->flat, frame->isFlat, (pnFlatNormals *)(void *)room->data, workers};
  pn_parallelFor(tasks, computeNormals, &look, tree->shape->leafCount, LEAVES_PER_ITEM);
  pn_parallelFor(tasks, findRegions, &look, look.flat->topCount, TOPS_PER_ITEM);
  frame->frame = tree->pose->frame;
  return true;
}

static void pruneFlat(const pnTraversal *t, pnWorker *w, pnPairs *list, size_t from) {
  (void)w;
  const uint8_t *isFlat = t->a->flat->isFlat;
  size_t kept = from;
  for (size_t i = from; i < list->count; ++i) {
    pnPair p = list->data[i];
    list->data[kept] = p;
    kept += !(p.a == p.b && isFlat[p.a]);
  }
  list->count = kept;
}

/* ---------------------------------------------------------------- the row */

/* For all pairs: a first one is found sooner. */
static pnResult prepare(pnTree *tree, bool *outUse) {
  pnResult result = pn_prepareFlat(tree);
  *outUse = tree->flat != NULL;
  return result;
}

const pnProof pn_proofFlat = {.name = "flat regions",
                              .prepare = prepare,
                              .notFirst = true,
                              .notCalm = true,
                              .begin = findFlat,
                              .prune = pruneFlat,
                              .lists = PN_PRUNE_SEEDS | PN_PRUNE_NODES};
