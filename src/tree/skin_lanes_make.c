/* skin_lanes_make.c: what skin_bound.h keeps of a tree's nodes for eight lanes, made once from the vertices below.
 *
 * A seat has a term for every joint that moves something below one of its lanes, with a row of eight for every direction
 * and side. Where all lanes have few joints, with weights close together, it also has the pairs of joints that the change
 * bound is made of. */
#include "tree/skin_gather.h"

#include <float.h>

/* Scratch of one creation. */
typedef struct LaneMaker {
  pnSkinGather gather;
  size_t termFloats;
  uint32_t *termOf; /* by joint: its term in the seat at hand, when it is not before the seat's first */
  uint32_t *termFirst, *pairFirst;
  PN_ARRAY(uint32_t) termJoint;
  PN_ARRAY(float) termRows;
  PN_ARRAY(pnLanePair) pairs;
  pnDeltaList deltas;
} LaneMaker;

/* The lanes of a seat. */
static uint32_t lanesOf(const pnTree *tree, uint32_t seat, uint32_t *outFirst) {
  *outFirst = seat < tree->shape->innerCount ? tree->shape->first[seat] : 0;
  return seat < tree->shape->innerCount ? tree->shape->count[seat] : 1;
}

/* ---------------------------------------------------------------- terms */

/* The rows of a joint in the seat, new ones empty; null: out of memory. */
static float *rowsOf(LaneMaker *maker, uint32_t seat, uint32_t joint) {
  uint32_t at = maker->termOf[joint];
  if (at < maker->termFirst[seat] || at >= maker->termJoint.count || maker->termJoint.data[at] != joint) {
    at = (uint32_t)maker->termJoint.count;
    size_t end = maker->termRows.count + maker->termFloats;
    if (!pn_arrayPush(&maker->termJoint, joint) || !pn_arrayReserve(&maker->termRows, end)) return NULL;
    float *rows = maker->termRows.data + maker->termRows.count;
    for (size_t i = 0; i < maker->termFloats; ++i) rows[i] = i < maker->termFloats - PN_LANES ? -FLT_MAX : 0;
    maker->termRows.count = end;
    maker->termOf[joint] = at;
  }
  return maker->termRows.data + at * maker->termFloats;
}

/* A reach as float, not smaller: sums in double are good to 2^-52, which the step up covers; along an axis it is a float. */
static float reachUp(double reach) {
  float f = (float)reach;
  return (double)f == reach ? f : nextafterf(f, INFINITY);
}

/* The joint's rows in a lane. */
static bool putLane(LaneMaker *maker, uint32_t seat, uint32_t lane, uint32_t joint, const pnGathered *g, bool main) {
  float *rows = rowsOf(maker, seat, joint);
  if (!rows) return false;
  uint32_t sides = 2 * maker->gather.set->count;
  for (uint32_t i = 0; i < sides; ++i)
    rows[i * PN_LANES + lane] = i < 6 ? reachUp(g->reach[i]) : nextafterf((float)g->reach[i], INFINITY);
  if (main) {
    const uint32_t ones = 0xffffffffu;
    memcpy(rows + sides * PN_LANES + lane, &ones, sizeof ones);
  }
  return true;
}

/* ---------------------------------------------------------------- pairs */

static pnLanePair *pairOf(LaneMaker *maker, uint32_t seat, uint32_t a, uint32_t b) {
  for (size_t i = maker->pairFirst[seat]; i < maker->pairs.count; ++i)
    if (maker->pairs.data[i].a == a && maker->pairs.data[i].b == b) return &maker->pairs.data[i];
  pnLanePair none = {.a = a, .b = b};
  return pn_arrayPush(&maker->pairs, none) ? &maker->pairs.data[maker->pairs.count - 1] : NULL;
}

/* What the joints besides the main one change in a lane of `count` listed vertices. */
static bool putPairs(LaneMaker *maker, uint32_t seat, uint32_t lane, const uint32_t *listed, uint32_t count) {
  pnSkinGather *gather = &maker->gather;
  pnSkinSpan all = pn_skinSpanOf(&gather->all.moves);
  pn_gatherChanges(gather, listed, count, all.mid);
  for (uint32_t i = 1; i < gather->usedCount; ++i) {
    uint32_t main = gather->used[0], joint = gather->used[i];
    const pnGathered *g = &gather->joints[joint];
    pnLanePair *pair = pairOf(maker, seat, PN_MIN(main, joint), PN_MAX(main, joint));
    if (!pair) return false;
    float sign = main < joint ? 1.0f : -1.0f;
    pnSkinSpan x = pn_skinSpanOf(&g->change);
    pn_roundOut(g->listed < count ? 0 : g->low, g->high, &pair->weight[lane], &pair->weightHalf[lane]);
    pair->weight[lane] *= sign;
    for (int k = 0; k < 3; ++k) {
      pair->centre[k][lane] = all.mid[k];
      pair->x[k][lane] = sign * x.mid[k];
      pair->xHalf[k][lane] = x.half[k];
    }
  }
  return true;
}

/* ---------------------------------------------------------------- seats */

/* How far apart the weights of a joint besides the main one are, at most; 0 with one joint. */
static double weightRange(const pnSkinGather *gather, uint32_t count) {
  double widest = 0;
  for (uint32_t i = 1; i < gather->usedCount; ++i) {
    const pnGathered *g = &gather->joints[gather->used[i]];
    widest = fmax(widest, g->high - (g->listed < count ? 0 : g->low));
  }
  return widest;
}

/* Is the change bound worth its time: no lane has too many joints, and of those with several at least half have their
 * weights close together? Where they are spread, the hull is as tight. */
static bool hasPairs(LaneMaker *maker, uint32_t seat) {
  const pnTree *tree = maker->gather.tree;
  uint32_t first, lanes = lanesOf(tree, seat, &first), most = 0, several = 0, close = 0;
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    uint32_t n;
    const uint32_t *v = pn_verticesBelow(tree, first + lane, &n);
    pn_gatherJoints(&maker->gather, v, n);
    most = PN_MAX(most, maker->gather.usedCount);
    several += maker->gather.usedCount > 1;
    close += maker->gather.usedCount > 1 && weightRange(&maker->gather, n) <= PN_CHANGE_RANGE;
  }
  return close > 0 && most <= PN_CHANGE_TERMS && 2 * close >= several;
}

static bool addSeat(LaneMaker *maker, uint32_t seat) {
  pnSkinGather *gather = &maker->gather;
  uint32_t first, lanes = lanesOf(gather->tree, seat, &first);
  maker->termFirst[seat] = (uint32_t)maker->termJoint.count;
  maker->pairFirst[seat] = (uint32_t)maker->pairs.count;
  bool pairs = hasPairs(maker, seat), ok = true;
  for (uint32_t lane = 0; ok && lane < lanes; ++lane) {
    uint32_t n;
    const uint32_t *v = pn_verticesBelow(gather->tree, first + lane, &n);
    pn_gatherJoints(gather, v, n);
    for (uint32_t i = 0; ok && i < gather->usedCount; ++i) {
      uint32_t joint = gather->used[i];
      ok = putLane(maker, seat, lane, joint, pairs && i == 0 ? &gather->all : &gather->joints[joint], i == 0);
    }
    ok = ok && (!pairs || putPairs(maker, seat, lane, v, n));
  }
  return ok && maker->termJoint.count <= UINT32_MAX && maker->pairs.count <= UINT32_MAX;
}

/* ---------------------------------------------------------------- memory */

static size_t layout(const LaneMaker *maker, pnSkinBound *bound, char *base) {
  const pnTree *tree = maker->gather.tree;
  pnSkinLanes *lanes = &bound->lanes;
  size_t at = 0, seats = (size_t)tree->shape->innerCount + 1;
  pn_carve(base, &at, 1, sizeof *bound);
  lanes->termFirst = pn_carve(base, &at, seats + 1, sizeof(uint32_t));
  lanes->termJoint = pn_carve(base, &at, maker->termJoint.count, sizeof(uint32_t));
  lanes->termRows = pn_carve(base, &at, maker->termRows.count, sizeof(float));
  lanes->pairFirst = pn_carve(base, &at, seats + 1, sizeof(uint32_t));
  lanes->pairs = pn_carve(base, &at, maker->pairs.count, sizeof(pnLanePair));
  pn_placeDeltas(&maker->deltas, tree, bound, base, &at);
  return at;
}

/* What was gathered, into one block. */
static pnResult keep(const pnTree *tree, const LaneMaker *maker, void **outData, size_t *outBytes) {
  pnSkinBound bound = {.lanes = {.set = maker->gather.set}};
  size_t firstBytes = ((size_t)tree->shape->innerCount + 2) * sizeof(uint32_t);
  *outBytes = layout(maker, &bound, NULL);
  *outData = pn_allocZero(*outBytes);
  if (!*outData) return pn_failMemory(*outBytes);
  layout(maker, &bound, *outData);
  memcpy(bound.lanes.termFirst, maker->termFirst, firstBytes);
  memcpy(bound.lanes.termJoint, maker->termJoint.data, maker->termJoint.count * sizeof(uint32_t));
  memcpy(bound.lanes.termRows, maker->termRows.data, maker->termRows.count * sizeof(float));
  memcpy(bound.lanes.pairFirst, maker->pairFirst, firstBytes);
  if (maker->pairs.count > 0) memcpy(bound.lanes.pairs, maker->pairs.data, maker->pairs.count * sizeof(pnLanePair));
  pn_copyDeltas(&maker->deltas, tree, &bound);
  memcpy(*outData, &bound, sizeof bound);
  return PN_OK;
}

static bool gatherAll(LaneMaker *maker) {
  uint32_t seats = maker->gather.tree->shape->innerCount + 1;
  for (uint32_t seat = 0; seat < seats; ++seat)
    if (!addSeat(maker, seat)) return false;
  maker->termFirst[seats] = (uint32_t)maker->termJoint.count;
  maker->pairFirst[seats] = (uint32_t)maker->pairs.count;
  return pn_gatherDeltas(&maker->gather, &maker->deltas);
}

pnResult pn_makeSkinLanes(const pnTree *tree, void **outData, size_t *outBytes) {
  const pnSlabSet *set = pn_skinSet(tree->shape);
  size_t firstBytes = pn_bytes((size_t)tree->shape->innerCount + 2, sizeof(uint32_t));
  size_t termBytes = pn_bytes(tree->pose->skin->jointCount, sizeof(uint32_t));
  LaneMaker maker = {.termFloats = (2 * set->count + 1) * PN_LANES};
  maker.termOf = pn_allocZero(termBytes);
  maker.termFirst = pn_alloc(firstBytes);
  maker.pairFirst = pn_alloc(firstBytes);
  bool ok = pn_beginGather(&maker.gather, tree, set) && maker.termOf && maker.termFirst && maker.pairFirst &&
            gatherAll(&maker);
  pnResult result = ok ? keep(tree, &maker, outData, outBytes) : pn_failMemory(maker.termRows.count * sizeof(float));
  pn_endGather(&maker.gather);
  pn_freeDeltas(&maker.deltas, tree);
  pn_arrayFree(&maker.termJoint);
  pn_arrayFree(&maker.termRows);
  pn_arrayFree(&maker.pairs);
  pn_free(maker.pairFirst, firstBytes);
  pn_free(maker.termFirst, firstBytes);
  pn_free(maker.termOf, termBytes);
  return result;
}
