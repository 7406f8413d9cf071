/* slant.c: when slants are made and asked. See slant.h. */
#include "collide/slant.h"

PN_INLINE bool slantsApart(const float *p, const float *q) {
  pnF4 low = pn_f4Or(pn_f4Greater(pn_f4Load(p), pn_f4Load(q + 8)), pn_f4Greater(pn_f4Load(q), pn_f4Load(p + 8)));
  pnF4 high =
      pn_f4Or(pn_f4Greater(pn_f4Load(p + 4), pn_f4Load(q + 12)), pn_f4Greater(pn_f4Load(q + 4), pn_f4Load(p + 12)));
  return pn_f4AnySign(pn_f4Or(low, high));
}
#define SLANTS_APART slantsApart
#define LOOPS pn_slantLoops4
#define LEAF_WORTH 4u
#include "collide/slant_kernel.h"

/* ---------------------------------------------------------------- when */

/* One thread gives a tree slants at once. Of several nobody may while others read it, and what one of them met is luck: they put
 * the tree down, and all together say after the run whether it pays (pn_runJobs). */
static bool hasSlants(pnTree *tree, bool alone, bool pays) {
  if (pn_hasSlants(tree)) return true;
  if (alone && pays) pn_grantSlants(tree);
  if (!alone) pn_wish(&tree->wantsSlants);
  return pn_hasSlants(tree);
}

bool pn_wantSlants(const pnTraversal *t, pnWorker *w) {
  if (!pn_mayHaveRecords(t)) return false;
  bool pays = pn_slantsPay(w, 1);
  bool a = hasSlants(t->a, w->fresh.alone, pays), b = hasSlants(t->b, w->fresh.alone, pays);
  return pays && a && b;
}

void pn_grantSlants(pnTree *tree) {
  size_t leaves = tree->shape->leafCount;
  leaves += tree->rule->reshapes ? leaves / 4 : 0; /* so that the next frame has room, too */
  pn_destroyRecords(tree->slants);
  tree->slants = pn_createRecords(leaves, PN_SLANT_LEAF + PN_SLANT_FLOATS);
  atomic_store_explicit(&tree->wantsSlants, false, memory_order_relaxed);
}

/* ---------------------------------------------------------------- making and asking */

static void makeRecords(const pnTree *tree, uint32_t leaf, bool alone, const pnSlantLoops *loops) {
  _Atomic uint32_t *stamp = &tree->slants->stamp[leaf];
  float *records = tree->slants->floats + (size_t)leaf * PN_SLANT_LEAF;
  float *hull = pn_slantHulls(tree->slants) + (size_t)leaf * PN_SLANT_FLOATS;
  if (!pn_mustMake(stamp, tree->now, alone)) return;
  loops->fill(tree, leaf, records, hull);
  pn_haveMade(stamp, tree->now, alone);
}

size_t pn_slantLeaves(const pnTraversal *t, pnWorker *w, pnPair *pairs, size_t count) {
  const pnSlantLoops *loops = pn_slantLoops();
  uint32_t firstA = t->a->shape->innerCount, firstB = t->b->shape->innerCount;
  for (size_t i = 0; i < count; ++i) {
    pn_freshen(t->a, pairs[i].a, &w->fresh);
    pn_freshen(t->b, pairs[i].b, &w->fresh);
    makeRecords(t->a, pairs[i].a - firstA, w->fresh.alone, loops);
    makeRecords(t->b, pairs[i].b - firstB, w->fresh.alone, loops);
  }
  size_t kept =
      loops->keepLeaves(pn_slantHulls(t->a->slants), pn_slantHulls(t->b->slants), firstA, firstB, pairs, count);
  w->cost.volumeTests += count;
  w->cost.leafPairs += count - kept;
  return kept;
}

void pn_slantCandidates(const pnTraversal *t, pnWorker *w) {
  w->cost.volumeTests += w->candidates.count;
  w->candidates.count =
      pn_slantLoops()->keepSlots(t->a->slants->floats, t->b->slants->floats, w->candidates.data, w->candidates.count);
}
