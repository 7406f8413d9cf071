/* peg.c: see peg.h. */
#include "collide/peg.h"

/* ---------------------------------------------------------------- pegs */

/* The grid of the large body, and its box, as rows. */
typedef struct Board {
  pnF4 lo, hi, scale;
  int32_t offset[4];
} Board;

static Board boardOf(const pnTree *large) {
  const pnGrid *g = &large->grid;
  const float *sides = &large->box.min.x;
  const float lo[4] = {sides[0], sides[1], sides[2], 0}, hi[4] = {sides[3], sides[4], sides[5], 0};
  const float scale[4] = {g->scale[0], g->scale[1], g->scale[2], 0};
  return (Board){pn_f4Load(lo), pn_f4Load(hi), pn_f4Load(scale), {g->offset[0], g->offset[1], g->offset[2], 0}};
}

/* The peg of a point. The fourth number is no coordinate, and no hole minds it. */
PN_INLINE pnH8 pegOf(const Board *b, const float *point) {
  return pn_h8QuantiseBoth(pn_f4Min(pn_f4Max(pn_f4Load(point), b->lo), b->hi), b->scale, b->offset);
}

void pn_makePegs(const pnTree *large, const pnTree *small, pnPegs *out) {
  const Board board = boardOf(large);
  const pnSmall *s = small->shape->small;
  const float *source = (const float *)(const void *)small->cornerBase;
  uint32_t vertices = small->mesh->vertexCount, count = small->mesh->triangleCount;
  pnH8 point[PN_SMALL_VERTICES];
  for (uint32_t i = 0; i < vertices; ++i) point[i] = pegOf(&board, source + 3 * (size_t)i);
  for (uint32_t i = 0; i < count; ++i) {
    pnH8 peg = pn_h8Min(point[s->corner[0][i]], point[s->corner[1][i]]);
    pn_h8Store(out->peg[i], pn_h8Min(peg, point[s->corner[2][i]]));
  }
  for (; count % 8 != 0; ++count) pn_h8Store(out->peg[count], pn_h8Set1(INT16_MAX));
  out->count = count;
}

/* ---------------------------------------------------------------- leaves */

PN_INLINE void askForLeaf(const pnTree *large, const pnCutting *cutting, uint32_t i) {
  __builtin_prefetch(cutting->hole[i][0]);
  __builtin_prefetch(cutting->hole[i][4]);
  pn_askForTriangles(large, cutting->leaves[i]);
}

bool pn_listHoles(const pnTraversal *t, const pnCutting *cutting, pnWorker *w) {
  const Board board = boardOf(t->a);
  const pnBox *box = &t->b->box;
  const float ends[2][4] = {{box->min.x, box->min.y, box->min.z, 0}, {box->max.x, box->max.y, box->max.z, 0}};
  int16_t peg[PN_PEG];
  pn_h8Store(peg, pn_h8Min(pegOf(&board, ends[0]), pegOf(&board, ends[1])));
  if (!pn_arrayReserve(&w->leaves, w->leaves.count + PN_CUTTING_LEAVES)) return false;
  for (uint32_t first = 0; first < cutting->leafCount; first += 8) {
    for (unsigned met = pn_fitHoles(peg, cutting->leafHole[first]); met != 0; met &= met - 1) {
      uint32_t i = first + pn_firstLane(met);
      w->leaves.data[w->leaves.count++] = (pnPair){i, 0};
      askForLeaf(t->a, cutting, i);
    }
  }
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

bool pn_tryPegs(const pnTraversal *t, const pnCutting *cutting, pnWorker *w) {
  pnPegs pegs;
  pn_makePegs(t->a, t->b, &pegs);
  size_t most = w->leaves.count * PN_LANES * pegs.count + 16;
  if (!pn_arrayReserve(&w->candidates, w->candidates.count + most)) return false;
  w->candidates.count += fitPegs()(&pegs, t->b->shape->small->slot, cutting, t->a->shape->innerCount, w->leaves.data,
                                   w->leaves.count, w->candidates.data + w->candidates.count);
  w->cost.verticesFetched += t->b->mesh->vertexCount;
  w->cost.leafPairs += w->leaves.count;
  w->cost.volumeTests += w->leaves.count * pegs.count;
  w->leaves.count = 0;
  return true;
}
