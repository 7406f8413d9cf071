/* peg.c: see peg.h. */
#include "collide/peg.h"

/* ---------------------------------------------------------------- pegs */

void pn_makePegs(const pnBoard *board, const pnTree *small, pnPegs *out) {
  const pnBoardRows rows = pn_rowsOfBoard(board);
  const pnSmall *s = small->shape->small;
  const float *source = (const float *)(const void *)small->cornerBase;
  uint32_t vertices = small->mesh->vertexCount, count = small->mesh->triangleCount;
  uint8_t point[PN_SMALL_VERTICES][PN_PEG];
  for (uint32_t i = 0; i < vertices; ++i) {
    pnF4 at = pn_onBoard(&rows, pn_alongGrain(&rows, source + 3 * (size_t)i));
    pn_peg2StoreOne(point[i], pn_peg2Of(at, at));
  }
  for (uint32_t i = 0; i < count; ++i) {
    pnPeg2 peg = pn_peg2Min(pn_peg2Twice(point[s->corner[0][i]]), pn_peg2Twice(point[s->corner[1][i]]));
    pn_peg2StoreOne(out->peg[i], pn_peg2Min(peg, pn_peg2Twice(point[s->corner[2][i]])));
  }
  for (; count % 8 != 0; ++count) memset(out->peg[count], 255, PN_PEG);
  out->count = count;
}

/* ---------------------------------------------------------------- holes */

void pn_drillLeaf4(const pnBoard *board, const char *base, const uint32_t *corners, uint8_t (*holes)[PN_PEG]) {
  const pnBoardRows rows = pn_rowsOfBoard(board);
  for (uint32_t j = 0; j < PN_LANES; ++j) {
    pnF4 p[3];
    for (uint32_t k = 0; k < 3; ++k)
      p[k] = pn_alongGrain(&rows, (const float *)(const void *)(base + corners[3 * j + k]));
    pnF4 least = pn_f4Min(pn_f4Min(p[0], p[1]), p[2]), most = pn_f4Max(pn_f4Max(p[0], p[1]), p[2]);
    pn_peg2StoreOne(holes[j], pn_peg2Of(pn_onBoard(&rows, most), pn_onBoard(&rows, least)));
  }
}

static pnDrillLeafFcn *chooseDrill(void) {
#if defined(__x86_64__) && !defined(PN_SCALAR)
  if (__builtin_cpu_supports("avx2")) return pn_drillLeafAvx2;
#endif
  return pn_drillLeaf4;
}

PN_INLINE const uint32_t *cornersOf(const pnTree *large, uint32_t leaf) {
  return large->corners + 3 * PN_LANES * (size_t)(leaf - large->shape->innerCount);
}

/* Vertices of a leaf: neighbours stand near each other, so that every fourth corner brings nearly all. */
#define CORNERS_ASKED 4u
PN_INLINE void askForVertices(const pnTree *large, uint32_t leaf) {
  const uint32_t *corners = cornersOf(large, leaf);
  for (uint32_t j = 0; j < 3 * PN_LANES; j += CORNERS_ASKED) __builtin_prefetch(large->cornerBase + corners[j]);
}

/* Of leaf i, whose vertices are there; the hole of a leaf is around those of its triangles. */
static void drillLeaf(const pnTree *large, pnCutting *c, uint32_t i, pnDrillLeafFcn *drill) {
  uint32_t count = large->shape->count[c->leaves[i]];
  drill(&c->board, large->cornerBase, cornersOf(large, c->leaves[i]), c->hole[i]);
  for (uint32_t j = count; j < PN_LANES; ++j) memset(c->hole[i][j], 0, PN_PEG);
  pnPeg2 all = pn_peg2Twice(c->hole[i][0]);
  for (uint32_t j = 1; j < count; ++j) all = pn_peg2Max(all, pn_peg2Twice(c->hole[i][j]));
  pn_peg2StoreOne(c->leafHole[i], all);
  c->drilled |= (uint64_t)1 << i;
}

/* Of those leaves in the list that have none yet. Vertices are asked for so many leaves before they are needed. */
#define LEAVES_AHEAD 4u
static void drillMissing(pnTree *large, pnCutting *c, const pnPairs *list, pnFresh *fresh) {
  uint32_t missing[PN_CUTTING_LEAVES], count = 0;
  for (size_t k = 0; k < list->count; ++k) {
    missing[count] = list->data[k].a;
    count += !(c->drilled >> list->data[k].a & 1);
  }
  if (count == 0) return;
  pnDrillLeafFcn *drill = chooseDrill();
  for (uint32_t k = 0; k < count + LEAVES_AHEAD; ++k) {
    if (k < count) {
      pn_freshen(large, c->leaves[missing[k]], fresh);
      askForVertices(large, c->leaves[missing[k]]);
    }
    if (k >= LEAVES_AHEAD) drillLeaf(large, c, missing[k - LEAVES_AHEAD], drill);
  }
}

/* ---------------------------------------------------------------- leaves */

/* Leaves of the cutting that the body's box meets. */
static void listMet(const pnTraversal *t, const pnCutting *cutting, pnPairs *out) {
  const pnCells8 cells = pn_cellsOfBox(t->a, &t->b->box);
  for (uint32_t first = 0; first < cutting->leafCount; first += PN_LANES) {
    uint32_t pack = 1 + first / PN_LANES;
    unsigned met = pn_lanesIn(&cutting->lanes[pack], &cells) & ((1u << cutting->count[pack]) - 1);
    for (; met != 0; met &= met - 1) {
      uint32_t i = first + pn_firstLane(met);
      out->data[out->count++] = (pnPair){i, 0};
      __builtin_prefetch(cutting->hole[i]);
      pn_askForTriangles(t->a, cutting->leaves[i]);
    }
  }
}

bool pn_listHoles(const pnTraversal *t, pnCutting *cutting, pnWorker *w) {
  if (!pn_arrayReserve(&w->leaves, w->leaves.count + PN_CUTTING_LEAVES)) return false;
  listMet(t, cutting, &w->leaves);
  drillMissing(t->a, cutting, &w->leaves, &w->fresh);
  ++w->cost.nodePairs;
  w->cost.volumeTests += cutting->leafCount;
  return true;
}

/* ---------------------------------------------------------------- candidates */

#define FIT pn_fitPegs4
#define FIT_HOLES pn_fitHoles
#define FIT_PEGS pn_fitPegs
#include "collide/peg_eight.h"

static pnFitPegsFcn *fitPegs(void) {
#if defined(__x86_64__) && !defined(PN_SCALAR)
#if defined(PN_AVX512)
  if (pn_hasVbmi()) return pn_fitPegsVbmi;
#endif
  if (__builtin_cpu_supports("avx2")) return pn_fitPegsAvx2;
#endif
  return pn_fitPegs4;
}

/* Triangles by their numbers, where these are wanted instead of slots. */
static const uint32_t s_numbers[PN_SMALL_TRIANGLES] = {
    PN_EIGHT(0),  PN_EIGHT(8),  PN_EIGHT(16), PN_EIGHT(24), PN_EIGHT(32), PN_EIGHT(40),  PN_EIGHT(48),  PN_EIGHT(56),
    PN_EIGHT(64), PN_EIGHT(72), PN_EIGHT(80), PN_EIGHT(88), PN_EIGHT(96), PN_EIGHT(104), PN_EIGHT(112), PN_EIGHT(120)};

bool pn_tryPegs(const pnTraversal *t, const pnCutting *cutting, pnWorker *w) {
  pnPegs pegs;
  for (size_t i = 0; i < w->leaves.count; ++i) askForVertices(t->a, cutting->leaves[w->leaves.data[i].a]);
  pn_makePegs(&cutting->board, t->b, &pegs);
  size_t most = w->leaves.count * PN_LANES * pegs.count + 16;
  if (!pn_arrayReserve(&w->candidates, w->candidates.count + most)) return false;
  const uint32_t *names = t->narrow ? s_numbers : t->b->shape->small->slot;
  w->candidates.count += fitPegs()(&pegs, names, cutting, t->a->shape->innerCount, w->leaves.data, w->leaves.count,
                                   w->candidates.data + w->candidates.count);
  w->cost.verticesFetched += t->b->mesh->vertexCount;
  w->cost.leafPairs += w->leaves.count;
  w->cost.volumeTests += w->leaves.count * pegs.count;
  w->leaves.count = 0;
  return true;
}
