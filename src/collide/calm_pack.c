/* calm_pack.c: the numbers of calm.h side by side, eight pairs to a block, and everything in one block of memory. */
#include "collide/calm_make.h"

#include <math.h>

/* ---------------------------------------------------------------- eight side by side */

uint16_t pn_upperHalf(double x) {
  float rounded = (float)x;
  rounded = (double)rounded < x ? nextafterf(rounded, INFINITY) : rounded;
  return (uint16_t)((pn_bitsOfFloat(rounded) + 0xffff) >> 16);
}

/* What a target does to one lane of the block that begins at row `first`. */
static void setLane(pnCalmMaker *m, size_t first, uint32_t lane, pnCalmTerm term) {
  uint32_t row = m->rowOf[term.target];
  if (row < first || row >= m->rows.count || m->rows.data[row].target != term.target) {
    row = m->rowOf[term.target] = (uint32_t)m->rows.count;
    m->ok = m->rows.count < UINT32_MAX && pn_arrayPush(&m->rows, (pnCalmRow){.target = term.target});
  }
  for (int side = 0; m->ok && side < 2; ++side) m->rows.data[row].toward[side][lane] = term.toward[side];
}

/* A pair's lane. */
static void setPair(pnCalmMaker *m, pnCalmBlock *block, uint32_t lane, uint32_t pair) {
  const pnCalmDraft *draft = &m->pairs.data[pair];
  uint32_t end = pair + 1 < m->pairs.count ? draft[1].termFirst : (uint32_t)m->terms.count;
  block->noise[lane] = draft->noise;
  for (uint32_t t = draft->termFirst; m->ok && t < end; ++t) setLane(m, block->rowFirst, lane, m->terms.data[t]);
}

/* The lane of what is in m->far. */
static void setFar(pnCalmMaker *m, pnCalmBlock *block, uint32_t lane, double noise) {
  block->noise[lane] = (float)(noise * 1.000001);
  for (uint32_t t = 0; m->ok && t < m->morph->targetCount; ++t) {
    if (m->far[t].down > 0 || m->far[t].up > 0) {
      pnCalmTerm term = {(uint16_t)t, {pn_upperHalf(m->far[t].down), pn_upperHalf(m->far[t].up)}};
      setLane(m, block->rowFirst, lane, term);
    }
  }
}

void pn_packChildren(pnCalmMaker *m, const uint32_t *children, uint32_t count, bool hasFar, double farNoise) {
  for (uint32_t i = 0; m->ok && i < count + hasFar; i += PN_LANES) {
    pnCalmBlock block = {.rowFirst = (uint32_t)m->rows.count};
    for (uint32_t lane = 0; m->ok && lane < PN_LANES && i + lane < count + hasFar; ++lane)
      if (i + lane < count) setPair(m, &block, lane, children[i + lane]);
      else setFar(m, &block, lane, farNoise);
    m->ok = m->ok && pn_arrayPush(&m->blocks, block);
  }
}

/* ---------------------------------------------------------------- one block */

size_t pn_layOutCalm(const pnShape *shape, pnCalm *calm, char *base) {
  size_t at = 0;
  pn_carve(base, &at, 1, sizeof(pnCalm));
  calm->pairs = pn_carve(base, &at, (size_t)calm->pairCount + 1, sizeof(pnCalmPair));
  calm->blocks = pn_carve(base, &at, (size_t)calm->blockCount + 1, sizeof(pnCalmBlock));
  calm->rows = pn_carve(base, &at, calm->rowCount, sizeof(pnCalmRow));
  calm->pairFirst = pn_carve(base, &at, (size_t)shape->nodeCount + 1, sizeof(uint32_t));
  calm->byNode = pn_carve(base, &at, calm->pairCount, sizeof(pnPair));
  return at;
}

/* Counted, summed, filled. */
void pn_sortCalm(pnCalm *calm, uint32_t nodeCount) {
  uint32_t *first = calm->pairFirst;
  for (uint32_t i = 0; i < calm->pairCount; ++i) ++first[calm->pairs[i].a + 1];
  for (uint32_t i = 0; i < nodeCount; ++i) first[i + 1] += first[i];
  for (uint32_t i = 0; i < calm->pairCount; ++i)
    calm->byNode[first[calm->pairs[i].a]++] = (pnPair){calm->pairs[i].b, i};
  memmove(first + 1, first, nodeCount * sizeof(uint32_t));
  first[0] = 0;
}

/* Copies pairs breadth-first, so that a walk finds the children of a pair side by side. `old`: room for one a pair. */
static void copyPairs(const pnCalmMaker *m, pnCalm *calm, uint32_t *old) {
  uint32_t count = 0;
  old[count++] = calm->pairCount - 1; /* children were made before their parents */
  for (uint32_t i = 0; i < count; ++i) {
    const pnCalmDraft *from = &m->pairs.data[old[i]];
    bool last = old[i] + 1 == calm->pairCount;
    uint32_t childEnd = last ? (uint32_t)m->children.count : from[1].kept.childFirst;
    calm->pairs[i] = from->kept;
    calm->pairs[i].childFirst = count;
    for (uint32_t c = from->kept.childFirst; c < childEnd; ++c) old[count++] = m->children.data[c];
  }
  calm->pairs[count] = (pnCalmPair){.childFirst = count};
  memcpy(calm->blocks, m->blocks.data, calm->blockCount * sizeof(pnCalmBlock));
  calm->blocks[calm->blockCount] = (pnCalmBlock){.rowFirst = calm->rowCount};
  if (calm->rowCount > 0) memcpy(calm->rows, m->rows.data, calm->rowCount * sizeof(pnCalmRow));
}

pnResult pn_packCalm(pnCalmMaker *m, void **outData, size_t *outBytes) {
  pnCalm calm = {.pairCount = (uint32_t)m->pairs.count,
                 .blockCount = (uint32_t)m->blocks.count,
                 .rowCount = (uint32_t)m->rows.count};
  size_t orderBytes = pn_bytes(calm.pairCount, sizeof(uint32_t));
  uint32_t *order = pn_alloc(orderBytes);
  *outBytes = pn_layOutCalm(m->tree->shape, &calm, NULL);
  *outData = order ? pn_allocZero(*outBytes) : NULL;
  if (*outData) {
    pn_layOutCalm(m->tree->shape, &calm, *outData);
    copyPairs(m, &calm, order);
    pn_sortCalm(&calm, m->tree->shape->nodeCount);
    memcpy(*outData, &calm, sizeof calm);
  }
  pn_free(order, orderBytes);
  return *outData ? PN_OK : pn_failMemory(*outBytes);
}

/* ---------------------------------------------------------------- the frame */

static size_t layoutFrame(const pnTree *tree, const pnCalm *calm, pnCalmFrame *frame, char *base) {
  size_t at = 0, links = tree->shape->linkFirst[tree->shape->leafCount];
  pn_carve(base, &at, 1, sizeof(pnCalmFrame));
  frame->isCalm = pn_carve(base, &at, calm->pairCount, sizeof(bool));
  frame->restless = pn_carve(base, &at, links, sizeof(pnRestless));
  frame->strays = pn_carve(base, &at, links, sizeof(pnRestless));
  frame->queue = pn_carve(base, &at, calm->pairCount, sizeof(uint32_t));
  frame->isCovered = pn_carve(base, &at, calm->pairCount, sizeof(bool));
  frame->seeds = pn_carve(base, &at, calm->pairCount, sizeof(pnPair));
  frame->change = pn_carve(base, &at, tree->pose->morph->targetCount, sizeof(pnCalmChange));
  return at;
}

/* Links whose leaves have no pair. A traversal leaves out what is linked, and so they are asked about by themselves. */
static void listStrays(const pnShape *shape, pnCalmFrame *frame) {
  const pnCalm *calm = frame->calm;
  for (uint32_t leaf = 0; leaf < shape->leafCount; ++leaf) {
    uint32_t a = shape->innerCount + leaf;
    for (uint32_t l = shape->linkFirst[leaf]; l < shape->linkFirst[leaf + 1]; ++l) {
      bool found = false;
      for (uint32_t i = calm->pairFirst[a]; i < calm->pairFirst[a + 1]; ++i)
        found |= calm->byNode[i].a == shape->innerCount + shape->links[l].leaf;
      if (!found) frame->strays[frame->strayCount++] = (pnRestless){leaf, l};
    }
  }
}

pnResult pn_allocCalmFrame(pnTree *tree, const pnCalm *calm) {
  pnCalmFrame frame = {.calm = calm};
  size_t bytes = layoutFrame(tree, calm, &frame, NULL);
  tree->calm = pn_allocZero(bytes);
  if (!tree->calm) return pn_failMemory(bytes);
  layoutFrame(tree, calm, &frame, (char *)tree->calm);
  listStrays(tree->shape, &frame);
  *tree->calm = frame;
  tree->calmBytes = bytes;
  return PN_OK;
}
