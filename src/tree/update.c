/* update.c: the table of update rules and the loops they share. See tree.h for lanes, grids and lazy nodes. */
#include "tree/update.h"

#include "geom/sphere.h"

#include <float.h>

/* ---------------------------------------------------------------- the table */

static const pnUpdateRule *const s_rules[PN_UPDATE_COUNT] = {
    [PN_UPDATE_BOTTOM_UP] = &pn_updateBottomUp,
    [PN_UPDATE_TOP_DOWN] = &pn_updateTopDown,
    [PN_UPDATE_HYBRID] = &pn_updateHybrid,
    [PN_UPDATE_BERGEN] = &pn_updateBergen,
    [PN_UPDATE_RIGID] = &pn_updateRigid,
    [PN_UPDATE_BLENDED] = &pn_updateBlended,
    [PN_UPDATE_BLENDED_MODEL] = &pn_updateBlendedModel,
    [PN_UPDATE_CARRIED] = &pn_updateCarried,
};

const pnUpdateRule *pn_chooseRule(const pnTreeDef *def) {
  const pnPose *pose = def->pose;
  bool blends = pose->morph && !pose->skin, plain = !pose->morph && !pose->skin;
  if (def->big != PN_BIG_WHOLE) {
    return def->update == PN_UPDATE_DEFAULT ? &pn_updateDivided : NULL;
  }
  switch (def->update) {
    case PN_UPDATE_DEFAULT: return pose->skin ? &pn_updateCarried : blends ? &pn_updateBlended : &pn_updateHybrid;
    case PN_UPDATE_BERGEN:
    case PN_UPDATE_RIGID: return plain ? s_rules[def->update] : NULL; /* they look at stored vertices */
    case PN_UPDATE_BLENDED:
    case PN_UPDATE_BLENDED_MODEL: return blends ? s_rules[def->update] : NULL;
    case PN_UPDATE_CARRIED: return pose->skin ? s_rules[def->update] : NULL;
    default: return s_rules[def->update];
  }
}

pnResult pn_allocRuleData(pnTree *tree, size_t size) {
  tree->ruleData = pn_alloc(size);
  tree->ruleBytes = tree->ruleData ? size : 0;
  return tree->ruleData ? PN_OK : pn_failMemory(size);
}

pnResult pn_copyRuleHead(pnTree *tree, size_t headBytes, size_t ownCount, size_t ownBytes, void **outOwn) {
  size_t at = 0;
  pn_carve(NULL, &at, 1, headBytes);
  size_t own = at;
  pn_carve(NULL, &at, ownCount, ownBytes);
  pnResult result = pn_allocRuleData(tree, at);
  if (result == PN_OK) {
    memset(tree->ruleData, 0, tree->ruleBytes);
    memcpy(tree->ruleData, pn_partOf(tree->shape, PN_PART_RULE), headBytes);
    *outOwn = (char *)tree->ruleData + own;
  }
  return result;
}

/* ---------------------------------------------------------------- lazy nodes */

/* Whoever sees a stamp fresh sees what the thread that filled the node wrote: stores release, loads acquire. Where no other
 * thread is near, neither does: on ARM a load that acquires waits until everything before the last store that
 * released is written, and with one such pair for each node that is filled a tenth of a query is waiting. */
static void fillCounted(pnTree *tree, uint32_t node, pnFresh *fresh) {
  tree->rule->fill(tree, node);
  fresh->nodes++;
  if (pn_isLeaf(tree, node)) {
    const uint32_t *at = tree->shape->leafVertexFirst + (node - tree->shape->innerCount);
    fresh->vertices += at[1] - at[0];
  }
}

/* No other thread near: nothing to claim. */
static void fillAlone(pnTree *tree, uint32_t node, pnFresh *fresh) {
  fillCounted(tree, node, fresh);
  uint32_t again = tree->def.noStamps; /* stale at once, so that the next visit fills it again */
  atomic_store_explicit(&tree->stamp[node], tree->now - again, memory_order_relaxed);
}

/* True: the node was stale and is ours to fill. */
static bool claim(pnTree *tree, uint32_t node) {
  uint32_t seen = atomic_load_explicit(&tree->stamp[node], memory_order_relaxed);
  return seen != tree->now && seen != PN_STAMP_BUSY &&
         atomic_compare_exchange_strong_explicit(&tree->stamp[node], &seen, PN_STAMP_BUSY, memory_order_relaxed,
                                                 memory_order_relaxed);
}

static void publish(pnTree *tree, uint32_t node) {
  atomic_store_explicit(&tree->stamp[node], tree->now, memory_order_release);
}

static void waitFor(const pnTree *tree, uint32_t node) {
  while (atomic_load_explicit(&tree->stamp[node], memory_order_acquire) != tree->now) {
    pn_pause();
  }
}

void pn_freshenSlow(pnTree *tree, uint32_t node, pnFresh *fresh) {
  if (fresh->alone) {
    fillAlone(tree, node, fresh);
  } else if (claim(tree, node)) {
    fillCounted(tree, node, fresh);
    publish(tree, node);
  } else {
    waitFor(tree, node);
  }
}

/* How many nodes ahead of the one being filled the next are asked for: they come from the outer caches. */
#define AHEAD 4u

PN_INLINE void prefetchFill(const pnTree *tree, uint32_t node) {
  if (!pn_isLeaf(tree, node)) {
    return;
  }
  uint32_t leaf = node - tree->shape->innerCount;
  __builtin_prefetch(tree->corners + 24 * (size_t)leaf);
  __builtin_prefetch(tree->corners + 24 * (size_t)leaf + 16);
  if (!pn_isInPlace(tree)) {
    uint32_t at = tree->shape->leafVertexFirst[leaf];
    __builtin_prefetch(tree->shape->leafVertices + at);
    __builtin_prefetch(tree->leafPositions + 4 * (size_t)at);
  }
}

static void fillManyAlone(pnTree *tree, const uint32_t *nodes, uint32_t count, pnFresh *fresh) {
  for (uint32_t i = 0; i < count; i++) {
    prefetchFill(tree, nodes[PN_MIN(i + AHEAD, count - 1)]);
    if (atomic_load_explicit(&tree->stamp[nodes[i]], memory_order_relaxed) != tree->now) {
      fillAlone(tree, nodes[i], fresh);
    }
  }
}

/* Waits for others only when everything of its own is published, so that no two threads wait for each other. */
void pn_freshenMany(pnTree *tree, uint32_t *nodes, uint32_t count, pnFresh *fresh) {
  if (fresh->alone) {
    fillManyAlone(tree, nodes, count, fresh);
    return;
  }
  uint32_t mine = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (claim(tree, nodes[i])) {
      uint32_t node = nodes[i];
      nodes[i] = nodes[mine];
      nodes[mine++] = node;
    }
  }
  for (uint32_t i = 0; i < mine; i++) {
    prefetchFill(tree, nodes[PN_MIN(i + AHEAD, mine - 1)]);
    fillCounted(tree, nodes[i], fresh);
  }
  for (uint32_t i = 0; i < mine; i++) {
    publish(tree, nodes[i]);
  }
  for (uint32_t i = mine; i < count; i++) {
    waitFor(tree, nodes[i]);
  }
}

void pn_findCorners(pnTree *tree) {
  bool inPlace = tree->shape->sourceCorners && pn_isPlain(tree->pose);
  tree->corners = inPlace ? tree->shape->sourceCorners : tree->shape->blockCorners;
  tree->cornerBase = (const char *)(inPlace ? tree->pose->source : tree->leafPositions);
}

/* Trees that are read in place have no blocks until their pose has a transform. */
static pnResult needBlocks(pnTree *tree) {
  const pnShape *s = tree->shape;
  if (tree->leafPositions || s->nodeCount == 0 || (s->sourceCorners && pn_isPlain(tree->pose))) {
    return PN_OK;
  }
  size_t bytes = pn_bytes(s->leafVertexFirst[s->leafCount], 4 * sizeof(float));
  tree->leafPositions = pn_allocZero(bytes);
  tree->blockBytes = tree->leafPositions ? bytes : 0;
  return tree->leafPositions ? PN_OK : pn_failMemory(bytes);
}

pnResult pn_beginFrame(pnTree *tree) {
  pnResult result = tree->rule->reshapes ? PN_OK : needBlocks(tree);
  if (result != PN_OK) {
    return result;
  }
  pn_findCorners(tree);
  tree->now++;
  if (tree->now == PN_STAMP_BUSY) {
    for (uint32_t i = 0; i < tree->shape->nodeCount; i++) {
      atomic_store_explicit(&tree->stamp[i], 0, memory_order_relaxed);
    }
    tree->now = 1;
  }
  return PN_OK;
}

/* ---------------------------------------------------------------- volumes of vertices */

const uint32_t *pn_verticesBelow(const pnTree *tree, uint32_t node, uint32_t *outCount) {
  uint32_t first, end;
  if (pn_isTwig(tree, node)) {
    *outCount = tree->shape->twigFirst[node + 1] - tree->shape->twigFirst[node];
    return tree->shape->twigVertices + tree->shape->twigFirst[node];
  }
  pn_leafRange(tree, node, &first, &end);
  if (tree->shape->below[node] <= tree->def.cut) {
    *outCount = tree->shape->leafVertexFirst[end] - tree->shape->leafVertexFirst[first];
    return tree->shape->leafVertices + tree->shape->leafVertexFirst[first];
  }
  /* above the cut: the clusters that start in [first, end); they are in tree order, so search by their first leaf */
  uint32_t lo[2] = {0, 0}, bound[2] = {first, end};
  for (int side = 0; side < 2; side++) {
    uint32_t hi = tree->shape->clusterCount;
    while (lo[side] < hi) {
      uint32_t mid = (lo[side] + hi) / 2, clusterFirst, clusterEnd;
      pn_leafRange(tree, tree->shape->clusterNode[mid], &clusterFirst, &clusterEnd);
      if (clusterFirst < bound[side]) {
        lo[side] = mid + 1;
      } else {
        hi = mid;
      }
    }
  }
  *outCount = tree->shape->clusterVertexFirst[lo[1]] - tree->shape->clusterVertexFirst[lo[0]];
  return tree->shape->clusterVertices + tree->shape->clusterVertexFirst[lo[0]];
}

void pn_boundOfPoints(const pnTree *tree, const float *points, uint32_t count, pnBound *out) {
  pn_slabsOfPoints(tree->slabs ? tree->slabs : &pn_slabBox, points, count, &out->slabs);
  if (!tree->slabs) {
    pn_sphereCentre(&out->slabs, out->centre);
    out->radius = pn_sphereRadius(out->centre, points, count);
  }
}

#define CHUNK 64u

void pn_fetchListed(const pnPose *pose, const uint32_t *listed, uint32_t count, float *out) {
  uint32_t vertices[CHUNK];
  for (uint32_t i = 0; i < count; i += CHUNK) {
    uint32_t n = PN_MIN(CHUNK, count - i);
    for (uint32_t j = 0; j < n; j++) {
      vertices[j] = listed[i + j] / 3;
    }
    pn_poseFetch(pose, vertices, n, out + 4 * (size_t)i, 4);
  }
}

void pn_boundOfVertices(const pnTree *tree, const uint32_t *vertices, uint32_t count, pnBound *out) {
  float points[4 * CHUNK];
  if (tree->def.form == PN_FORM_BOX) {
    pnF4 lo, hi;
    pn_boxOfVertices(tree, vertices, count, &lo, &hi);
    pn_f4Store(points, lo);
    pn_f4Store(points + 4, hi);
    memcpy(out->slabs.lo, points, 3 * sizeof(float));
    memcpy(out->slabs.hi, points + 4, 3 * sizeof(float));
    return;
  }
  const pnSlabSet *set = tree->slabs ? tree->slabs : &pn_slabBox;
  pn_slabsEmpty(&out->slabs);
  for (uint32_t i = 0; i < count; i += CHUNK) {
    pnSlabs part;
    uint32_t n = PN_MIN(CHUNK, count - i);
    pn_fetchListed(tree->pose, vertices + i, n, points);
    pn_slabsOfPoints(set, points, n, &part);
    pn_slabsMerge(set, &out->slabs, &part);
  }
  if (tree->slabs) {
    return;
  }
  /* a sphere about the centre of the box: a second pass for its radius (the points are at hand when there are few) */
  pn_sphereCentre(&out->slabs, out->centre);
  out->radius = 0;
  for (uint32_t i = 0; i < count; i += CHUNK) {
    uint32_t n = PN_MIN(CHUNK, count - i);
    if (count > CHUNK) {
      pn_fetchListed(tree->pose, vertices + i, n, points);
    }
    out->radius = PN_MAX(out->radius, pn_sphereRadius(out->centre, points, n));
  }
}

void pn_boundMerge(const pnTree *tree, pnBound *into, const pnBound *other) {
  pn_slabsMerge(tree->slabs ? tree->slabs : &pn_slabBox, &into->slabs, &other->slabs);
  if (!tree->slabs) {
    pn_sphereMerge(into->centre, &into->radius, other->centre, other->radius);
  }
}

/* ---------------------------------------------------------------- writing lanes */

/* Lanes without a child: an interval that overlaps nothing. */
static void emptyLanes(pnTree *tree, uint32_t node, uint32_t count) {
  pnSlabLanes *lanes = pn_lanesOf(tree, node);
  for (uint32_t j = count; j < PN_LANES; j++) {
    for (uint32_t d = 0; d < tree->slabs->count; d++) {
      lanes->row[d][0][j] = INT16_MAX;
      lanes->row[d][1][j] = INT16_MIN;
    }
  }
}

/* The common case of pn_cellsOf, eight boxes at once; `g` has no lift. */
PN_INLINE void putOnGrid(pnTree *tree, uint32_t node, const pnF4 lo[PN_LANES], const pnF4 hi[PN_LANES],
                         const pnGrid *g) {
  pnBoxLanes *lanes = (pnBoxLanes *)tree->lanes + node;
  for (int side = 0; side < 2; side++) {
    const pnF4 *v = side ? hi : lo;
    pnF4 x0, y0, z0, x1, y1, z1;
    pn_f4Transpose3(v[0], v[1], v[2], v[3], &x0, &y0, &z0);
    pn_f4Transpose3(v[4], v[5], v[6], v[7], &x1, &y1, &z1);
    pn_h8Store(lanes->row[0][side], pn_h8Quantise(x0, x1, g->scale[0], g->offset[0]));
    pn_h8Store(lanes->row[1][side], pn_h8Quantise(y0, y1, g->scale[1], g->offset[1]));
    pn_h8Store(lanes->row[2][side], pn_h8Quantise(z0, z1, g->scale[2], g->offset[2]));
  }
}

/* Boxes of a body so small that they have to be lifted first, which is exact. */
static PN_NOINLINE void putLifted(pnTree *tree, uint32_t node, const pnF4 lo[PN_LANES], const pnF4 hi[PN_LANES]) {
  pnF4 lifted[2][PN_LANES], lift = pn_f4Set1(tree->grid.lift);
  for (uint32_t j = 0; j < PN_LANES; j++) {
    lifted[0][j] = pn_f4Mul(lo[j], lift);
    lifted[1][j] = pn_f4Mul(hi[j], lift);
  }
  putOnGrid(tree, node, lifted[0], lifted[1], &tree->grid);
}

PN_INLINE void putBoxes(pnTree *tree, uint32_t node, const pnF4 lo[PN_LANES], const pnF4 hi[PN_LANES], uint32_t count) {
  if (PN_UNLIKELY(tree->grid.lift != 1)) {
    putLifted(tree, node, lo, hi);
  } else {
    putOnGrid(tree, node, lo, hi, &tree->grid);
  }
  if (PN_UNLIKELY(count < PN_LANES)) {
    emptyLanes(tree, node, count);
  }
}

void pn_putBoxes(pnTree *tree, uint32_t node, const pnF4 lo[PN_LANES], const pnF4 hi[PN_LANES], uint32_t count) {
  putBoxes(tree, node, lo, hi, count);
}

static void putSpheres(pnTree *tree, uint32_t node, const pnBound *bounds, uint32_t count) {
  pnSphereLanes *lanes = pn_lanesOf(tree, node);
  for (uint32_t j = 0; j < PN_LANES; j++) {
    const pnBound *b = &bounds[PN_MIN(j, count - 1)];
    for (int k = 0; k < 3; k++) {
      lanes->centre[k][j] = b->centre[k];
    }
    lanes->radius[j] = b->radius;
  }
}

void pn_putBounds(pnTree *tree, uint32_t node, const pnBound *bounds, uint32_t count) {
  if (!tree->slabs) {
    putSpheres(tree, node, bounds, count);
    return;
  }
  pnSlabLanes *lanes = pn_lanesOf(tree, node);
  for (uint32_t d = 0; d < tree->slabs->count; d++) {
    float lo[PN_LANES], hi[PN_LANES];
    for (uint32_t j = 0; j < PN_LANES; j++) {
      const pnSlabs *s = &bounds[PN_MIN(j, count - 1)].slabs;
      lo[j] = s->lo[d];
      hi[j] = s->hi[d];
    }
    pn_h8Store(lanes->row[d][0], pn_cellsOf(&tree->grid, d, pn_f4Load(lo), pn_f4Load(lo + 4)));
    pn_h8Store(lanes->row[d][1], pn_cellsOf(&tree->grid, d, pn_f4Load(hi), pn_f4Load(hi + 4)));
  }
  emptyLanes(tree, node, count);
}

void pn_putRows(pnTree *tree, uint32_t node, const float *rows, uint32_t count) {
  pnSlabLanes *lanes = pn_lanesOf(tree, node);
  for (uint32_t d = 0; d < tree->slabs->count; d++, rows += 2 * PN_LANES) {
    pn_h8Store(lanes->row[d][0], pn_cellsOf(&tree->grid, d, pn_f4Load(rows), pn_f4Load(rows + 4)));
    pn_h8Store(lanes->row[d][1], pn_cellsOf(&tree->grid, d, pn_f4Load(rows + 8), pn_f4Load(rows + 12)));
  }
  emptyLanes(tree, node, count);
}

/* ---------------------------------------------------------------- the root */

/* Extents span at most 2^14 cells: the box and half a step of the offset beside it (8192 + 12288) fit 16 bits, and bodies of
 * one size within a few of their sizes mostly get one grid, which makes tests between them cheaper. Coordinates stay below
 * 2^24 cells, where floats are integers, so that no cell is finer than the numbers and int32 never overflows. The
 * exponent is kept where 2^k, or 2^k over a lift of 2^LIFT, is a normal float; 2^-MOST_EXPONENT is below the least float.
 * Directions beside the axes count where they say nothing (slab.h): saturated numbers would be small ones through a lens. */
#define MOST_EXPONENT 160
#define LIFT 60
static void chooseGrid(pnGrid *grid, const pnSlabSet *set, const pnSlabs *s) {
  double extent = 0, reach = 0;
  for (uint32_t d = 0; d < set->count; d++) {
    double cells = d < 3 ? 1 : 0.25;
    extent = fmax(extent, cells * ((double)s->hi[d] - s->lo[d]));
    reach = fmax(reach, cells * fmax(fabs((double)s->lo[d]), fabs((double)s->hi[d])));
  }
  int ke = 120, kr = 120, e;
  if (extent > 0) {
    (void)frexp(extent, &e); /* extent <= 2^e */
    ke = 14 - e;
  }
  if (reach > 0) {
    (void)frexp(reach, &e);
    kr = 24 - e;
  }
  grid->exponent = PN_MAX(-120, PN_MIN(MOST_EXPONENT, PN_MIN(ke, kr)));
  int lift = grid->exponent > 120 ? LIFT : 0;
  grid->lift = ldexpf(1.0f, lift);
  for (uint32_t d = 0; d < set->count; d++) {
    grid->scale[d] = ldexpf(1.0f, grid->exponent - lift - (d < 3 ? 0 : 2));
    /* offsets in steps of 24576 cells: two neighbouring ones differ by what one 16-bit sum can bridge (traverse.c) */
    double middle = 0.5 * ((double)s->lo[d] + s->hi[d]) / pn_cellSize(grid, d);
    grid->offset[d] = (int32_t)floor(middle / 24576.0 + 0.5) * 24576;
  }
}

bool pn_setRoot(pnTree *tree, const pnBound *root) {
  const pnSlabs *s = &root->slabs;
  for (int k = 0; k < 3; k++) {
    if (!(fabsf(s->lo[k]) <= FLT_MAX) || !(fabsf(s->hi[k]) <= FLT_MAX)) {
      return false;
    }
  }
  tree->box = (pnBox){{s->lo[0], s->lo[1], s->lo[2]}, {s->hi[0], s->hi[1], s->hi[2]}};
  chooseGrid(&tree->grid, tree->slabs ? tree->slabs : &pn_slabBox, s);
  pn_putBounds(tree, tree->shape->nodeCount, root, 1);
  return true;
}

/* ---------------------------------------------------------------- filling nodes */

/* The box of listed vertices of a plain pose, read in place. Four at a time hide the latency of min and max; lists of clusters
 * and twigs are fours to the end (T6). A NaN stays in outLo, whatever the minimum makes of it. */
PN_INLINE void boxOfList(const float *source, const uint32_t *v, const uint32_t *end, pnF4 *outLo, pnF4 *outHi) {
  pnF4 lo = pn_f4Load(source + v[0]), hi = lo, lo1 = lo, hi1 = lo, nan = pn_f4Set1(0);
  for (; v + (PN_CLUSTER_STEP - 1) < end; v += PN_CLUSTER_STEP) {
    pnF4 p = pn_f4Load(source + v[0]), q = pn_f4Load(source + v[1]);
    pnF4 r = pn_f4Load(source + v[2]), s = pn_f4Load(source + v[3]);
    nan = pn_f4TrackNan(pn_f4TrackNan(nan, p), q);
    nan = pn_f4TrackNan(pn_f4TrackNan(nan, r), s);
    lo = pn_f4Min(lo, pn_f4Min(p, q));
    hi = pn_f4Max(hi, pn_f4Max(p, q));
    lo1 = pn_f4Min(lo1, pn_f4Min(r, s));
    hi1 = pn_f4Max(hi1, pn_f4Max(r, s));
  }
  for (; v < end; v++) {
    pnF4 p = pn_f4Load(source + v[0]);
    nan = pn_f4TrackNan(nan, p);
    lo = pn_f4Min(lo, p);
    hi = pn_f4Max(hi, p);
  }
  *outLo = pn_f4Or(pn_f4Min(lo, lo1), nan); /* all ones is NaN */
  *outHi = pn_f4Max(hi, hi1);
}

void pn_boxOfVertices(const pnTree *tree, const uint32_t *vertices, uint32_t count, pnF4 *outLo, pnF4 *outHi) {
  if (pn_isPlain(tree->pose)) {
    boxOfList(tree->pose->source, vertices, vertices + count, outLo, outHi);
    return;
  }
  float points[4 * CHUNK];
  pnF4 lo = pn_f4Set1(FLT_MAX), hi = pn_f4Set1(-FLT_MAX);
  for (uint32_t i = 0; i < count; i += CHUNK) {
    uint32_t n = PN_MIN(CHUNK, count - i);
    pn_fetchListed(tree->pose, vertices + i, n, points);
    for (uint32_t j = 0; j < n; j++) {
      pnF4 p = pn_f4Load(points + 4 * j);
      lo = pn_f4Min(lo, p);
      hi = pn_f4Max(hi, p);
    }
  }
  *outLo = lo;
  *outHi = hi;
}

void pn_fillFromVertices(pnTree *tree, uint32_t node) {
  if (pn_isLeaf(tree, node)) {
    pn_fillLeaf(tree, node);
    return;
  }
  uint32_t child = tree->shape->first[node], count = tree->shape->count[node];
  if (tree->def.form != PN_FORM_BOX) {
    pnBound bounds[PN_LANES];
    for (uint32_t j = 0; j < count; j++) {
      uint32_t n;
      const uint32_t *v = pn_verticesBelow(tree, child + j, &n);
      pn_boundOfVertices(tree, v, n, &bounds[j]);
    }
    pn_putBounds(tree, node, bounds, count);
    return;
  }
  pnF4 lo[PN_LANES], hi[PN_LANES];
  if (pn_isPlain(tree->pose) && pn_isLeaf(tree, child)) {
    /* the common case, straight: leaves of a plain pose */
    const uint32_t *at = tree->shape->leafVertexFirst + (child - tree->shape->innerCount);
    for (uint32_t j = 0; j < count; j++) {
      boxOfList(tree->pose->source, tree->shape->leafVertices + at[j], tree->shape->leafVertices + at[j + 1], &lo[j],
                &hi[j]);
    }
  } else {
    for (uint32_t j = 0; j < count; j++) {
      uint32_t n;
      const uint32_t *v = pn_verticesBelow(tree, child + j, &n);
      pn_boxOfVertices(tree, v, n, &lo[j], &hi[j]);
    }
  }
  for (uint32_t j = count; j < PN_LANES; j++) {
    lo[j] = lo[count - 1];
    hi[j] = hi[count - 1];
  }
  putBoxes(tree, node, lo, hi, count);
}

PN_INLINE void fetchBlock(pnTree *tree, uint32_t leaf) {
  uint32_t at = tree->shape->leafVertexFirst[leaf], n = tree->shape->leafVertexFirst[leaf + 1] - at;
  const uint32_t *v = tree->shape->leafVertices + at;
  float *block = tree->leafPositions + 4 * (size_t)at;
  if (pn_isPlain(tree->pose)) {
    const float *source = tree->pose->source;
    for (uint32_t i = 0; i < n; i++) {
      pn_f4Store(block + 4 * i, pn_f4Load(source + v[i]));
    }
  } else {
    pn_fetchListed(tree->pose, v, n, block);
  }
}

void pn_fetchBlock(pnTree *tree, uint32_t leaf) {
  fetchBlock(tree, leaf);
}

/* Volumes other than boxes. */
static void boundCorners(pnTree *tree, uint32_t node) {
  uint32_t leaf = node - tree->shape->innerCount, count = tree->shape->count[node];
  pnBound bounds[PN_LANES];
  for (uint32_t j = 0; j < count; j++) {
    const float *c[3];
    float points[12];
    pn_slotCorners(tree, leaf * PN_LANES + j, c);
    for (int k = 0; k < 3; k++) {
      memcpy(points + 4 * k, c[k], 4 * sizeof(float));
    }
    pn_boundOfPoints(tree, points, 3, &bounds[j]);
  }
  pn_putBounds(tree, node, bounds, count);
}

void pn_boundLeaf(pnTree *tree, uint32_t node) {
  if (tree->def.form != PN_FORM_BOX) {
    boundCorners(tree, node);
    return;
  }
  uint32_t leaf = node - tree->shape->innerCount;
  pnF4 lo[PN_LANES], hi[PN_LANES];
  for (uint32_t j = 0; j < PN_LANES; j++) {
    /* corners past the count are somebody's: lanes the traversal masks */
    const float *v[3];
    pn_slotCorners(tree, leaf * PN_LANES + j, v);
    pnF4 a = pn_f4Load(v[0]), b = pn_f4Load(v[1]), c = pn_f4Load(v[2]);
    lo[j] = pn_f4Min(a, pn_f4Min(b, c));
    hi[j] = pn_f4Max(a, pn_f4Max(b, c));
  }
  putBoxes(tree, node, lo, hi, tree->shape->count[node]);
}

void pn_fillLeaf(pnTree *tree, uint32_t node) {
  if (!pn_isInPlace(tree)) {
    fetchBlock(tree, node - tree->shape->innerCount);
  }
  pn_boundLeaf(tree, node);
}
