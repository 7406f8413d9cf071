/* update.c: the table of update rules and the loops they share. See tree.h for lanes, grids and lazy nodes. */
#include "tree/update.h"

#include "tree/corner.h"

#include <float.h>
#include <math.h>

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

static bool fits(const pnUpdateRule *rule, const pnTreePlan *def) {
  return rule && (!rule->fits || rule->fits(def->pose, pn_formOf(def->form)));
}

const pnUpdateRule *pn_chooseRule(const pnTreePlan *def) {
  if (def->big != PN_BIG_WHOLE) return def->update == PN_UPDATE_DEFAULT ? &pn_updateDivided : NULL;
  if (def->update != PN_UPDATE_DEFAULT) return fits(s_rules[def->update], def) ? s_rules[def->update] : NULL;
  const pnUpdateRule *best = NULL;
  for (int i = 0; i < PN_UPDATE_COUNT; ++i)
    if (fits(s_rules[i], def) && s_rules[i]->rank > (best ? best->rank : 0)) best = s_rules[i];
  return best;
}

bool pn_fitsStored(const pnPose *pose, const pnFormRow *form) {
  (void)form;
  return pose->motion->isStored;
}

bool pn_fitsBlend(const pnPose *pose, const pnFormRow *form) {
  return pose->motion == &pn_motionMorph && (form->slabs || form->isBall);
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

static void fillCounted(pnTree *tree, uint32_t node, pnFresh *fresh) {
  tree->rule->fill(tree, node);
  ++fresh->nodes;
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

void pn_freshenSlow(pnTree *tree, uint32_t node, pnFresh *fresh) {
  if (fresh->alone) {
    fillAlone(tree, node, fresh);
  } else if (pn_claimStamp(&tree->stamp[node], tree->now)) {
    fillCounted(tree, node, fresh);
    pn_publishStamp(&tree->stamp[node], tree->now);
  } else {
    pn_awaitStamp(&tree->stamp[node], tree->now);
  }
}

/* How many nodes ahead of the one being filled the next are asked for: they come from the outer caches. */
#define AHEAD 4u

PN_INLINE void prefetchFill(const pnTree *tree, uint32_t node) {
  if (!pn_isLeaf(tree, node)) return;
  uint32_t leaf = node - tree->shape->innerCount;
  __builtin_prefetch(tree->corners + 24 * (size_t)leaf);
  __builtin_prefetch(tree->corners + 24 * (size_t)leaf + 16);
  if (!pn_isInPlace(tree)) {
    uint32_t at = tree->shape->leafVertexFirst[leaf];
    __builtin_prefetch(tree->shape->leafVertices + at);
    __builtin_prefetch(tree->leafPositions + 4 * (size_t)at);
  }
}

/* The same where other threads fill nodes, too: what is written was theirs in the frame before, and a claim waits until everything that was
 * written before it has arrived. */
PN_INLINE void prefetchClaim(const pnTree *tree, uint32_t node) {
  const char *lanes = tree->lanes + (size_t)node * tree->laneBytes;
  pn_askToWrite((const char *)&tree->stamp[node]);
  pn_askToWrite(lanes);
  pn_askToWrite(lanes + 64);
  prefetchFill(tree, node);
}

/* Each of a list once, those that are fresh not at all: two of three are there because of another pair, and would be asked for again. They
 * count as fresh a moment before they are, which nobody sees. */
static uint32_t claimAlone(pnTree *tree, uint32_t *nodes, uint32_t count) {
  uint32_t kept = 0, mark = tree->now - tree->def.noStamps; /* stale at once, so that the next visit fills it again */
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t node = nodes[i];
    nodes[kept] = node;
    kept += atomic_load_explicit(&tree->stamp[node], memory_order_relaxed) != tree->now;
    atomic_store_explicit(&tree->stamp[node], mark, memory_order_relaxed);
  }
  return kept;
}

static void fillManyAlone(pnTree *tree, uint32_t *nodes, uint32_t count, pnFresh *fresh) {
  uint32_t kept = claimAlone(tree, nodes, count);
  for (uint32_t i = 0; i < PN_MIN(AHEAD, kept); ++i) prefetchFill(tree, nodes[i]);
  for (uint32_t i = 0; i < kept; ++i) {
    if (i + AHEAD < kept) prefetchFill(tree, nodes[i + AHEAD]);
    fillCounted(tree, nodes[i], fresh);
  }
}

/* Places for nodes that were seen, by the lowest bits of their numbers: twice as many as lists are long. */
#define SEEN 128u

/* Each of a list once, or nearly: one whose place another has taken in between stays, and is found fresh. Two of three are there because
 * of another pair, and whether a claim is worth trying would be nothing that a processor could predict. */
static uint32_t dropRepeats(uint32_t *nodes, uint32_t count) {
  uint32_t seen[SEEN], kept = 0;
  for (uint32_t i = 0; i < SEEN; ++i) seen[i] = PN_NONE;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t node = nodes[i];
    nodes[kept] = node;
    kept += seen[node % SEEN] != node;
    seen[node % SEEN] = node;
  }
  return kept;
}

/* One after the other, so that nobody waits for a node that is claimed and not begun; those of others are passed over, and waited for when
 * there is nothing else left to do. */
void pn_freshenMany(pnTree *tree, uint32_t *nodes, uint32_t count, pnFresh *fresh) {
  if (fresh->alone) {
    fillManyAlone(tree, nodes, count, fresh);
    return;
  }
  uint32_t others = 0;
  count = dropRepeats(nodes, count);
  for (uint32_t i = 0; i < PN_MIN(AHEAD, count); ++i) prefetchClaim(tree, nodes[i]);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t node = nodes[i];
    if (i + AHEAD < count) prefetchClaim(tree, nodes[i + AHEAD]);
    if (pn_claimStamp(&tree->stamp[node], tree->now)) {
      fillCounted(tree, node, fresh);
      pn_publishStamp(&tree->stamp[node], tree->now);
    } else {
      nodes[others++] = node;
    }
  }
  for (uint32_t i = 0; i < others; ++i) pn_awaitStamp(&tree->stamp[nodes[i]], tree->now);
}

void pn_findCorners(pnTree *tree) {
  const float *ready = tree->shape->sourceCorners ? pn_readyVertices(tree) : NULL;
  tree->corners = ready ? tree->shape->sourceCorners : tree->shape->blockCorners;
  tree->cornerBase = (const char *)(ready ? ready : tree->leafPositions);
}

/* Trees that are read in place have no blocks until their vertices no longer lie ready, and those of a world none until something is near. */
pnResult pn_openLeaves(pnTree *tree) {
  const pnShape *s = tree->shape;
  if (tree->cornerBase || s->nodeCount == 0 || tree->rule->reshapes) return PN_OK;
  size_t bytes = pn_bytes(s->leafVertexFirst[s->leafCount], 4 * sizeof(float));
  tree->leafPositions = pn_allocZero(bytes);
  tree->blockBytes = tree->leafPositions ? bytes : 0;
  pn_findCorners(tree);
  return tree->leafPositions ? PN_OK : pn_failMemory(bytes);
}

void pn_dropRecords(pnTree *tree) {
  pn_destroyRecords(tree->slants);
  pn_destroyRecords(tree->tilts);
  tree->slants = tree->tilts = NULL;
}

pnResult pn_beginFrame(pnTree *tree) {
  pn_findCorners(tree);
  pnResult result = tree->rule->fillsLeaves ? pn_openLeaves(tree) : PN_OK;
  if (result != PN_OK) return result;
  ++tree->now;
  if (tree->now == PN_STAMP_BUSY) {
    for (uint32_t i = 0; i < tree->shape->nodeCount; ++i)
      atomic_store_explicit(&tree->stamp[i], 0, memory_order_relaxed);
    pn_dropRecords(tree); /* whose stamps are old ones, too; they come back when they pay */
    tree->now = 1;
    tree->serial = 0;
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
  for (int side = 0; side < 2; ++side) {
    uint32_t hi = tree->shape->clusterCount;
    while (lo[side] < hi) {
      uint32_t mid = (lo[side] + hi) / 2, clusterFirst, clusterEnd;
      pn_leafRange(tree, tree->shape->clusterNode[mid], &clusterFirst, &clusterEnd);
      if (clusterFirst < bound[side]) lo[side] = mid + 1;
      else hi = mid;
    }
  }
  *outCount = tree->shape->clusterVertexFirst[lo[1]] - tree->shape->clusterVertexFirst[lo[0]];
  return tree->shape->clusterVertices + tree->shape->clusterVertexFirst[lo[0]];
}

void pn_fetchListed(const pnPose *pose, const uint32_t *listed, uint32_t count, float *out) {
  uint32_t vertices[PN_FETCH_CHUNK];
  for (uint32_t i = 0; i < count; i += PN_FETCH_CHUNK) {
    uint32_t n = PN_MIN(PN_FETCH_CHUNK, count - i);
    for (uint32_t j = 0; j < n; ++j) vertices[j] = listed[i + j] / 3;
    pn_poseFetch(pose, vertices, n, out + 4 * (size_t)i, 4);
  }
}

/* ---------------------------------------------------------------- the root */

/* Extents span at most 2^14 cells: the box and half a step of the offset beside it (8192 + 12288) fit 16 bits, and bodies of
 * one size within a few of their sizes mostly get one grid, which makes tests between them cheaper. Coordinates stay below
 * 2^24 cells, where floats are integers, so that no cell is finer than the numbers and int32 never overflows. (This is about waste
 * and not about answers: a scale is a power of two, so that a coordinate in cells is exact wherever it stays below 2^31, and so is
 * its distance from an offset, a small multiple of the same unit. 2^26 would do.) The
 * exponent is kept where 2^k, or 2^k over a lift of 2^LIFT, is a normal float; 2^-MOST_EXPONENT is below the least float.
 * Directions beside the axes count where they say nothing (slab.h): saturated numbers would be small ones through a lens. */
#define MOST_EXPONENT 160
#define LIFT 60

/* What frexp and ldexp would say, for numbers that are neither 0 nor subnormal: a frame of ten thousand small bodies asks for fifty
 * thousand of them. The least number above 0 here is the distance of two floats, 2^-149, a quarter of it and no less; the
 * powers are from 2^-160 to 2^160 in double, to 2^+-122 in float. */
PN_INLINE int exponentOf(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (int)(bits >> 52 & 2047) - 1022;
}
PN_INLINE double powerOfTwo(int exponent) {
  uint64_t bits = (uint64_t)(exponent + 1023) << 52;
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* The finest cells that there may be for a body like this. */
static int exponentFor(const pnSlabSet *set, const pnSlabs *s) {
  double extent = 0, reach = 0;
  for (uint32_t d = 0; d < set->count; ++d) {
    double cells = d < 3 ? 1 : 0.25;
    double size = cells * ((double)s->hi[d] - s->lo[d]);
    double far = cells * PN_MAX(fabs((double)s->lo[d]), fabs((double)s->hi[d]));
    extent = PN_MAX(extent, size);
    reach = PN_MAX(reach, far);
  }
  int ke = extent > 0 ? 14 - exponentOf(extent) : 120; /* extent <= 2^e */
  int kr = reach > 0 ? 24 - exponentOf(reach) : 120;
  return PN_MAX(-120, PN_MIN(MOST_EXPONENT, PN_MIN(ke, kr)));
}

/* Cells of 2^-exponent, 0 near the middle. */
static void setGrid(pnGrid *grid, const pnSlabSet *set, int exponent, const double *middle) {
  int lift = exponent > 120 ? LIFT : 0;
  grid->exponent = exponent;
  grid->lift = (float)powerOfTwo(lift);
  grid->isPlain = lift == 0;
  grid->isClipped = false;
  grid->most = FLT_MAX;
  grid->cell = powerOfTwo(-exponent);
  for (uint32_t d = 0; d < set->count; ++d) {
    grid->scale[d] = (float)powerOfTwo(exponent - lift - (d < 3 ? 0 : 2));
    /* offsets in steps of 24576 cells: two neighbouring ones differ by what one 16-bit sum can bridge (traverse.c) */
    grid->offset[d] = (int32_t)floor(middle[d] / pn_cellSize(grid, d) / 24576.0 + 0.5) * 24576;
  }
}

static void chooseGrid(pnGrid *grid, const pnSlabSet *set, const pnSlabs *s) {
  double middle[PN_MAX_SLABS];
  for (uint32_t d = 0; d < set->count; ++d) middle[d] = 0.5 * ((double)s->lo[d] + s->hi[d]);
  setGrid(grid, set, exponentFor(set, s), middle);
}

/* A grid over a part of the whole. Numbers become 32 bits before they are saturated to 16: in cells the whole, the middle and their distance
 * stay below 2^31. */
#define FOCUS_REACH 29
static void chooseFocus(pnGrid *grid, const pnFocusDef *focus, const pnSlabs *s) {
  double middle[3], reach = 0;
  int exponent = PN_MIN(focus->exponent, 120);
  for (uint32_t d = 0; d < 3; ++d) reach = PN_MAX(reach, PN_MAX(fabs((double)s->lo[d]), fabs((double)s->hi[d])));
  for (uint32_t d = 0; d < 3; ++d) middle[d] = PN_MAX(-reach, PN_MIN(reach, (double)focus->middle[d]));
  if (reach > 0) exponent = PN_MIN(exponent, FOCUS_REACH - exponentOf(reach));
  setGrid(grid, &pn_slabBox, PN_MAX(-120, exponent), middle);
}

/* Over most of a body, where little of it is far away. Cells are made for coordinates up to 2^CLIPPED_REACH of them, so that they and their distance
 * from an offset stay below 2^31. */
#define CLIPPED_REACH 29
static void clipGrid(pnGrid *grid, const pnBulk *bulk) {
  pnSlabs s = {.lo = {bulk->box.min.x, bulk->box.min.y, bulk->box.min.z},
               .hi = {bulk->box.max.x, bulk->box.max.y, bulk->box.max.z}};
  chooseGrid(grid, &pn_slabBox, &s);
  grid->isPlain = false;
  grid->isClipped = true;
  grid->most = (float)PN_MIN(powerOfTwo(CLIPPED_REACH - grid->exponent), (double)FLT_MAX);
}

/* Cells that are over the whole may be too large for most of it. (Big triangles in pieces have leaves of pieces that reach all over, and their own
 * planes.) */
static bool mayBeClipped(const pnTree *tree) {
  return tree->slabs == &pn_slabBox && !tree->rule->modelSpace && !pn_hasPieces(&tree->def);
}

bool pn_setRoot(pnTree *tree, const pnBound *root) {
  const pnSlabs *s = &root->slabs;
  for (int k = 0; k < 3; ++k)
    if (!(fabsf(s->lo[k]) <= FLT_MAX) || !(fabsf(s->hi[k]) <= FLT_MAX)) return false;
  tree->box = (pnBox){{s->lo[0], s->lo[1], s->lo[2]}, {s->hi[0], s->hi[1], s->hi[2]}};
  if (tree->isFocused) chooseFocus(&tree->grid, &tree->focus, s);
  else chooseGrid(&tree->grid, tree->slabs ? tree->slabs : &pn_slabBox, s);
  if (!tree->isFocused && mayBeClipped(tree) && pn_findBulk(tree)) clipGrid(&tree->grid, &tree->bulk);
  pn_putBounds(tree, tree->shape->nodeCount, root, 1);
  return true;
}

/* ---------------------------------------------------------------- filling nodes */

void pn_fillFromVertices(pnTree *tree, uint32_t node) {
  if (pn_isLeaf(tree, node)) pn_fillLeaf(tree, node);
  else tree->form->fillInner(tree, node);
}

PN_INLINE void fetchBlock(pnTree *tree, uint32_t leaf) {
  uint32_t at = tree->shape->leafVertexFirst[leaf], n = tree->shape->leafVertexFirst[leaf + 1] - at;
  const uint32_t *v = tree->shape->leafVertices + at;
  float *block = tree->leafPositions + 4 * (size_t)at;
  const float *ready = pn_readyVertices(tree);
  if (ready)
    for (uint32_t i = 0; i < n; ++i) pn_f4Store(block + 4 * i, pn_f4Load(ready + v[i]));
  else pn_fetchListed(tree->pose, v, n, block);
}

void pn_fetchBlock(pnTree *tree, uint32_t leaf) {
  fetchBlock(tree, leaf);
}

void pn_fillLeaf(pnTree *tree, uint32_t node) {
  if (!pn_isInPlace(tree)) fetchBlock(tree, node - tree->shape->innerCount);
  tree->form->fillLeaf(tree, node);
}
