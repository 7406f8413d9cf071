/* calm_file.c: calm patches as bytes: working them out takes seconds, reading them milliseconds.
 *
 * A block may come from anywhere. What is read is checked until a walk (calm.c) cannot leave its arrays: pairs are below their
 * parents in the tree and no pair comes twice, every number points to where it may, and nothing is negative or NaN. */
#include "collide/calm_make.h"
#include "collide/shape_file.h"

_Static_assert(sizeof(pnCalmBlock) == 36 && sizeof(pnCalmRow) == 34, "written as they are: no holes in them");

void pn_writeCalm(const pnShape *shape, pnByteWriter *w) {
  const pnCalm *calm = pn_partOf(shape, PN_PART_CALM);
  pn_putU32(w, calm->pairCount);
  pn_putU32(w, calm->blockCount);
  pn_putU32(w, calm->rowCount);
  for (uint32_t i = 0; i < calm->pairCount; ++i) {
    const pnCalmPair *p = &calm->pairs[i];
    uint32_t numbers[5] = {p->a, p->b, p->childFirst, p->blockFirst, p->hasFar};
    pn_putBytes(w, numbers, sizeof numbers);
  }
  pn_putBytes(w, calm->blocks, calm->blockCount * sizeof(pnCalmBlock));
  pn_putBytes(w, calm->rows, calm->rowCount * sizeof(pnCalmRow));
}

/* ---------------------------------------------------------------- checks */

/* Is x a child of a node, or the node when that is a leaf? */
static bool isBelow(const pnShape *shape, uint32_t x, uint32_t node) {
  return pn_isShapeLeaf(shape, node) ? x == node : x != 0 && shape->parent[x] / PN_LANES == node;
}

static bool isChildPair(const pnShape *shape, const pnCalmPair *child, const pnCalmPair *pair) {
  return (isBelow(shape, child->a, pair->a) && isBelow(shape, child->b, pair->b)) ||
         (isBelow(shape, child->a, pair->b) && isBelow(shape, child->b, pair->a));
}

static bool checkPairs(const pnShape *shape, const pnCalm *calm) {
  uint32_t next = 1;
  for (uint32_t i = 0; i < calm->pairCount; ++i) {
    const pnCalmPair *p = &calm->pairs[i];
    uint32_t end = p[1].childFirst;
    bool leaves = pn_isShapeLeaf(shape, p->a) && pn_isShapeLeaf(shape, p->b);
    if (p->childFirst != next || end < next || end > calm->pairCount || (i >= next && i > 0) ||
        (leaves && (end > next || p->hasFar)))
      return false;
    uint64_t lanes = (uint64_t)(end - next) + p->hasFar;
    if (p->blockFirst + (lanes + PN_LANES - 1) / PN_LANES > (uint64_t)calm->blockCount - 1) return false;
    for (uint32_t c = next; c < end; ++c)
      if (!isChildPair(shape, &calm->pairs[c], p)) return false;
    next = end;
  }
  return next == calm->pairCount && calm->pairs[0].a == 0 && calm->pairs[0].b == 0;
}

/* No pair twice? After they were sorted by node. `mark`: a zero for each node. */
static bool areDistinct(const pnShape *shape, const pnCalm *calm, uint32_t *mark) {
  for (uint32_t node = 0; node < shape->nodeCount; ++node) {
    for (uint32_t i = calm->pairFirst[node]; i < calm->pairFirst[node + 1]; ++i) {
      uint32_t *m = &mark[calm->byNode[i].a];
      if (*m == node + 1) return false;
      *m = node + 1;
    }
  }
  return true;
}

/* The upper half of a float that is not negative and a number? */
static bool isHalf(uint16_t half) {
  return half <= 0x7f80u;
}

static bool checkBlocks(const pnShape *shape, const pnCalm *calm) {
  for (uint32_t i = 0; i < calm->blockCount; ++i) {
    const pnCalmBlock *b = &calm->blocks[i];
    for (uint32_t j = 0; j < PN_LANES; ++j)
      if (!(b->noise[j] >= 0)) return false;
    if (b->rowFirst > b[1].rowFirst) return false;
  }
  for (uint32_t i = 0; i < calm->rowCount; ++i) {
    const pnCalmRow *row = &calm->rows[i];
    for (uint32_t j = 0; j < PN_LANES; ++j)
      if (!isHalf(row->toward[0][j]) || !isHalf(row->toward[1][j])) return false;
    if (row->target >= shape->morph->targetCount) return false;
  }
  return true;
}

/* ---------------------------------------------------------------- reading */

typedef struct CalmReading {
  const pnShape *shape;
  pnByteReader *r;
} CalmReading;

/* Pairs, with what is known without the block; false: a node that is not there. */
static bool takePairs(const pnShape *shape, pnByteReader *r, pnCalm *calm) {
  for (uint32_t i = 0; i < calm->pairCount; ++i) {
    uint32_t numbers[5];
    pn_takeBytes(r, numbers, sizeof numbers);
    if (numbers[0] > numbers[1] || numbers[1] >= shape->nodeCount || numbers[4] > 1) return false;
    calm->pairs[i] = (pnCalmPair){numbers[0], numbers[1],      numbers[2],
                                  numbers[3], numbers[4] == 1, pn_calmLink(shape, numbers[0], numbers[1])};
  }
  calm->pairs[calm->pairCount] = (pnCalmPair){.childFirst = calm->pairCount};
  return true;
}

/* Everything into the arrays; false: it is not calm patches of this shape. */
static bool fillCalm(const pnShape *shape, pnByteReader *r, pnCalm *calm, uint32_t *mark) {
  if (!takePairs(shape, r, calm)) return false;
  pn_takeBytes(r, calm->blocks, calm->blockCount * sizeof(pnCalmBlock));
  calm->blocks[calm->blockCount] = (pnCalmBlock){.rowFirst = calm->rowCount};
  pn_takeBytes(r, calm->rows, calm->rowCount * sizeof(pnCalmRow));
  pn_sortCalm(calm, shape->nodeCount);
  return !r->isShort && checkPairs(shape, calm) && checkBlocks(shape, calm) && areDistinct(shape, calm, mark);
}

static pnResult takeCalm(void *context, void **outData, size_t *outBytes) {
  const pnShape *shape = ((const CalmReading *)context)->shape;
  pnByteReader *r = ((const CalmReading *)context)->r;
  pnCalm calm = {.pairCount = pn_takeU32(r), .blockCount = pn_takeU32(r), .rowCount = pn_takeU32(r)};
  uint64_t bytes = 20 * (uint64_t)calm.pairCount + sizeof(pnCalmBlock) * (uint64_t)calm.blockCount +
                   sizeof(pnCalmRow) * (uint64_t)calm.rowCount;
  if (!pn_hasLeft(r, bytes, 1) || calm.pairCount == 0 || calm.blockCount == 0)
    return pn_fail(PN_ERROR_FORMAT, "shape of mesh '%s': it ends within its calm patches", shape->mesh->name);
  size_t markBytes = pn_bytes(shape->nodeCount, sizeof(uint32_t));
  uint32_t *mark = pn_allocZero(markBytes);
  *outBytes = pn_layOutCalm(shape, &calm, NULL);
  *outData = pn_allocZero(*outBytes);
  pnResult result = mark && *outData ? PN_OK : pn_failMemory(*outBytes);
  if (result == PN_OK) {
    pn_layOutCalm(shape, &calm, *outData);
    memcpy(*outData, &calm, sizeof calm);
    if (!fillCalm(shape, r, &calm, mark)) {
      result = pn_fail(PN_ERROR_FORMAT, "shape of mesh '%s': its calm patches are not those of its nodes and targets",
                       shape->mesh->name);
    }
  }
  pn_free(mark, markBytes);
  if (result != PN_OK) pn_free(*outData, *outBytes);
  return result;
}

pnResult pn_readCalm(const pnShape *shape, pnByteReader *r) {
  CalmReading reading = {shape, r};
  return pn_makePart(shape, PN_PART_CALM, takeCalm, &reading);
}
