/* traverse.c: what is opened when. See traverse.h. */
#include "collide/traverse.h"

#include "collide/cutting.h"
#include "collide/face.h"
#include "collide/peg.h"
#include "collide/proof.h"
#include "collide/relief.h"
#include "collide/slant.h"
#include "collide/tilt.h"
#include "geom/box.h"

#include <float.h>
#include <math.h>

/* ---------------------------------------------------------------- choosing */

/* b's grid through a's, a the coarser. What b has at x becomes floor(x * a's scale), which is what a has at x, but for
 * one case: where a's cells are larger than 1, the product of a tiny negative x underflows to -0, and a has cell 0 instead
 * of -1. Then what b has is too low by one, which is no harm to lo; hi is raised by one. */
static void setLens(pnTraversal *t) {
  const pnGrid *ga = &t->a->grid, *gb = &t->b->grid;
  int shift = gb->exponent - ga->exponent;
  int steps = PN_MIN(shift, 30);
  t->lens.shift = PN_MIN(shift, 15); /* a 16-bit number shifted by more is its sign, as by 15 */
  for (uint32_t d = 0; d < t->a->slabs->count; ++d) {
    int64_t below = (int64_t)gb->offset[d] >> steps;
    bool whole = below * ((int64_t)1 << steps) == gb->offset[d] && shift <= 15;
    bool underflow = shift > 0 && ga->scale[d] < 1;
    for (int side = 0; side < 2; ++side) {
      int64_t delta = below - ga->offset[d] + (side && !whole) + (side && underflow);
      int64_t first = PN_MAX(-32768, PN_MIN(32767, delta));
      int64_t second = PN_MAX(-32768, PN_MIN(32767, delta - first));
      t->lens.part[d][side][0] = (int16_t)first;
      t->lens.part[d][side][1] = (int16_t)second;
    }
  }
}

/* How much longer one body must be than the other, so that it is worth comparing their nodes. */
#define UNEVEN 4.0

/* Where both sides are opened together, every leaf of a small body goes down the large tree by itself. */
static bool areUneven(const pnTraversal *t) {
  double x = pn_sumOfSides(&t->a->box), y = pn_sumOfSides(&t->b->box);
  return !t->self && (t->open != PN_OPEN_DEFAULT || x > UNEVEN * y || y > UNEVEN * x);
}

/* Slabs on two grids: a is the one with the coarser; of two as coarse, one that is not over the whole of its body. */
static const pnSteps *chooseSlabs(pnTraversal *t) {
  const pnGrid *ga = &t->a->grid, *gb = &t->b->grid;
  if (ga->exponent > gb->exponent || (ga->exponent == gb->exponent && gb->isClipped && !ga->isClipped)) {
    pnTree *a = t->a;
    t->a = t->b;
    t->b = a;
    t->swapped = true;
  }
  setLens(t);
  t->uneven = areUneven(t);
  return &pn_stepsDop;
}

/* For boxes, by what their grids have in common, as this machine does it best. */
static const pnSteps *const *boxSteps(void) {
  static const pnSteps *const plain[3] = {&pn_stepsBox, &pn_stepsBoxOffset, &pn_stepsBoxLens};
#if defined(__x86_64__) && !defined(PN_SCALAR)
#if defined(PN_AVX512)
  static const pnSteps *const wide[3] = {&pn_stepsBoxVbmi, &pn_stepsBoxOffsetVbmi, &pn_stepsBoxLensVbmi};
  if (pn_hasVbmi()) return wide;
#endif
  static const pnSteps *const half[3] = {&pn_stepsBoxAvx2, &pn_stepsBoxOffsetAvx2, &pn_stepsBoxLensAvx2};
  if (__builtin_cpu_supports("avx2")) return half;
#endif
  return plain;
}

/* Is there a grid over a part of a body? */
static bool isOverPart(const pnTree *tree) {
  return tree->isFocused || tree->grid.isClipped;
}

/* Boxes on two grids: the same, or one cell size with offsets apart by what one 16-bit sum can bridge, or any. A grid over a part of a body
 * has volumes from its first cell to its last, which overlap lanes without a child, too (traverse_box.h): as through any lens, these are left out.
 * Where b's ends stand for all that is beyond they must not become numbers of a's like others; on one grid they stay what they are. (Of a's ends
 * nothing has to become, and of those of a focus neither, as the other body is in it with all it has.) */
static const pnSteps *chooseBoxes(pnTraversal *t) {
  (void)chooseSlabs(t);
  bool same = true, near = !isOverPart(t->a) && !isOverPart(t->b);
  for (uint32_t d = 0; d < 3; ++d) {
    int64_t apart = (int64_t)t->a->grid.offset[d] - t->b->grid.offset[d];
    same = same && apart == 0;
    near = near && apart > -32768 && apart < 32768;
  }
  bool oneCell = t->a->grid.exponent == t->b->grid.exponent;
  if (t->b->grid.isClipped && !(oneCell && same)) return &pn_stepsBoxClipped;
  return boxSteps()[!oneCell || !near ? 2 : same ? 0 : 1];
}

/* Two trees of one form, by what its row says of its lanes. */
static const pnSteps *chooseLike(pnTraversal *t) {
  const pnFormRow *form = t->a->form;
  if (form->slabs) return form->slabs == &pn_slabBox ? chooseBoxes(t) : chooseSlabs(t);
  return form->isBall ? &pn_stepsSphere : &pn_stepsMixed;
}

/* The inverse of an affine map, in double. */
static void invert(const pnMatrix *m, double out[3][4]) {
  double a[3][3], det = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      a[j][i] = (double)m->m[i1][j1] * m->m[i2][j2] - (double)m->m[i1][j2] * m->m[i2][j1];
    }
  }
  for (int j = 0; j < 3; ++j) det += m->m[0][j] * a[j][0];
  for (int i = 0; i < 3; ++i) {
    out[i][3] = 0;
    for (int j = 0; j < 3; ++j) {
      out[i][j] = a[i][j] / det;
      out[i][3] -= out[i][j] * m->m[j][3];
    }
  }
}

/* from's model space into to's: inverse of to's transform after from's. */
static pnMatrix relativeMap(const pnMatrix *from, const pnMatrix *to) {
  double inv[3][4];
  pnMatrix r;
  invert(to, inv);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      double s = j == 3 ? inv[i][3] : 0;
      for (int k = 0; k < 3; ++k) s += inv[i][k] * from->m[k][j];
      r.m[i][j] = (float)s;
    }
  }
  return r;
}

/* The margin. World vertices are within 4u (|R||v| + |t|) of the real image (three products, three sums); the map between
 * the spaces is rounded once (1u of its entries) and applied to centre and extents with at most 6 roundings: under
 * 8u (|R||v| + |t|). Both are below 16u times the largest world or relative coordinate, whichever space they are seen in
 * (the maps are rigid within 1e-4, so lengths agree). 2^-18 = 64u is four times that. Products below 2^-126 are off by up to
 * 2^-150: three for each coordinate of a vertex, seen from the other space three times that; here halves of sides (four a
 * coordinate, of which three are added) and six more, and the relative translation: below 64 of them, 2^-144, for
 * which 2^-143 is added. Returns whether images stay within float: they are sums of at most 24 such coordinates. */
static bool setBergen(pnTraversal *t) {
  const pnMatrix *ta = &t->a->pose->transform, *tb = &t->b->pose->transform;
  t->aToB = relativeMap(ta, tb);
  t->bToA = relativeMap(tb, ta);
  float reach = 0;
  const pnTree *trees[2] = {t->a, t->b};
  for (int i = 0; i < 2; ++i) {
    const float *box = &trees[i]->box.min.x;
    for (int k = 0; k < 6; ++k) reach = PN_MAX(reach, fabsf(box[k]));
    for (int k = 0; k < 3; ++k) {
      reach = PN_MAX(reach, fabsf(trees[i]->pose->transform.m[k][3]));
      reach = PN_MAX(reach, fabsf((i ? t->bToA : t->aToB).m[k][3]));
    }
  }
  t->margin = 8 * reach * 3.814697265625e-06f + 0x1p-143f;
  return reach < FLT_MAX / 32;
}

/* Are vertices computed when a leaf is filled? */
PN_INLINE bool areFillsDear(const pnTree *tree) {
  return !tree->pose->motion->isStored && !pn_isMoved(tree);
}

/* Written where it is wanted, and lens and maps only where something is seen through them: a crowd has tens of thousands of small
 * jobs, and clearing and copying these would be a fiftieth of them. */
void pn_beginTraversal(pnTree *a, pnTree *b, pnOpen open, pnTraversal *out) {
  pnTraversal *t = out;
  t->a = a;
  t->b = b ? b : a;
  t->self = b == NULL;
  t->neighbours = t->swapped = t->planeDecides = t->noPlanes = t->uneven = false;
  t->open = open;
  t->fillsAreDear = areFillsDear(a) || areFillsDear(t->b);
  t->proofs = pn_standingProofs(a, b);
  t->narrow = NULL;
  t->sink = NULL;
  t->lens.shift = 0;
  bool bergenA = a->rule->modelSpace, bergenB = t->b->rule->modelSpace;
  bool like = !bergenA && !bergenB && a->form == t->b->form;
  t->steps = like ? chooseLike(t) : bergenA && bergenB && setBergen(t) ? &pn_stepsBergen : &pn_stepsMixed;
}

bool pn_treesOverlap(const pnTree *a, const pnTree *b) {
  return a->shape->nodeCount > 0 && b->shape->nodeCount > 0 && pn_boxesOverlap(&a->box, &b->box);
}

/* ---------------------------------------------------------------- from candidates to pairs */

/* Leaf pairs are opened this many at a time, so that their blocks are still in cache when triangles are tested. */
#define LEAF_BATCH 512u
/* When others wait, the fewer are begun, the more can be handed over. */
#define LAST_BATCH 64u
/* Pairs of nodes opened at a time. */
#define NODE_BATCH 64u

/* Appends candidates that meet to the pairs found. */
static bool keepPairs(const pnTraversal *t, pnWorker *w, const pnPair *candidates, size_t count) {
  if (w->countOnly) {
    w->cost.pairs += count;
    return true;
  }
  if (!pn_arrayReserve(&w->found, w->found.count + count)) return false;
  for (size_t i = 0; i < count; ++i) {
    uint32_t a = t->a->shape->leafTriangles[candidates[i].a], b = t->b->shape->leafTriangles[candidates[i].b];
    bool turn = t->self ? a > b : t->swapped;
    w->found.data[w->found.count++] = turn ? (pnPair){b, a} : (pnPair){a, b};
  }
  w->cost.pairs += count;
  return true;
}

/* Tests the candidates in w and appends the pairs that meet. */
static bool testCandidates(const pnTraversal *t, pnWorker *w, pnKernel kernel) {
  if (PN_UNLIKELY(t->sink != NULL)) {
    bool taken = t->sink->take(t->sink, t, w, w->candidates.data, w->candidates.count);
    w->candidates.count = 0;
    return taken;
  }
  bool ok = pn_arrayReserve(&w->candidates, w->candidates.count + PN_NARROW_PAD);
  const pnProof *sifting = PN_UNLIKELY(t->proofs) ? pn_siftingProof(t->proofs) : NULL;
  if (ok && sifting) {
    size_t others = sifting->sift(t, w);
    if (t->planeDecides || sifting->decides) {
      ok = keepPairs(t, w, w->candidates.data + others, w->candidates.count - others);
      w->candidates.count = others;
    }
  }
  if (ok) {
    size_t n = w->candidates.count;
    w->cost.exactTests += n;
    pnPair *list = w->candidates.data;
    w->doubts.count = 0;
    size_t kept =
        t->narrow ? t->narrow(t->a, t->b, list, n, &w->doubts) : pn_narrow(t->a, t->b, list, n, kernel, &w->doubts);
    w->cost.uncertain += w->doubts.count;
    ok = keepPairs(t, w, list, kept);
  }
  w->candidates.count = 0;
  return ok;
}

/* Pairs of leaves into candidates. */
static bool openLeaves(const pnTraversal *t, pnWorker *w, pnPair *in, size_t count) {
  if (t->fillsAreDear) count = t->steps->keepReady(t, w, in, count);
  return count == 0 || t->steps->openLeaves(t, w, in, count, &w->candidates);
}

/* The same for many, where tilts and slants may pay. */
static bool openManyLeaves(const pnTraversal *t, pnWorker *w, pnPair *in, size_t count) {
  if (PN_UNLIKELY(pn_facesMayPay(t, count))) count = pn_pruneFaces(t, w, in, count);
  if (PN_UNLIKELY(pn_leafTiltsPay(w))) count = pn_tiltLeaves(t, w, in, count);
  bool slants = (!w->fresh.alone || pn_slantsPay(w, 1)) && pn_wantSlants(t, w);
  if (slants) count = pn_slantLeaves(t, w, in, count);
  if (!openLeaves(t, w, in, count)) return false;
  w->candidatesMet += w->candidates.count;
  if (slants) pn_slantCandidates(t, w);
  return true;
}

/* So many pairs of leaves are worth two looks at the clock. */
#define TIMED_LEAVES 32u
/* And so many candidates. */
#define TIMED_CANDIDATES 128u

/* Opens and tests the leaves in w. Exact tests of a few are not told apart from what was before them. */
static bool runLeaves(const pnTraversal *t, pnWorker *w, pnKernel kernel, double *time) {
  bool ok = true;
  size_t count;
  for (size_t i = 0; ok && i < w->leaves.count && w->found.count <= w->foundMost; i += count) {
    count = PN_MIN(pn_isEnding(w->relief) ? LAST_BATCH : LEAF_BATCH, w->leaves.count - i);
    ok = openManyLeaves(t, w, w->leaves.data + i, count);
    double middle = count >= TIMED_LEAVES ? pn_clock() : 0;
    ok = ok && testCandidates(t, w, kernel);
    if (count >= TIMED_LEAVES) {
      w->cost.traverseSeconds += middle - *time;
      *time = pn_clock();
      w->cost.exactSeconds += *time - middle;
    }
    if (PN_UNLIKELY(pn_isAsked(w->relief))) pn_handOver(w, i + count);
  }
  w->leaves.count = 0;
  return ok;
}

/* A pair of two leaves goes to `leaves`, everything else stays: lists[0] may hold both after pn_expand. */
static bool sortOutLeaves(const pnTraversal *t, pnWorker *w) {
  pnPairs *list = &w->lists[0];
  size_t kept = 0;
  if (!pn_arrayReserve(&w->leaves, w->leaves.count + list->count)) return false;
  for (size_t i = 0; i < list->count; ++i) {
    pnPair p = list->data[i];
    if (pn_isLeaf(t->a, p.a) && pn_isLeaf(t->b, p.b)) w->leaves.data[w->leaves.count++] = p;
    else list->data[kept++] = p;
  }
  list->count = kept;
  return true;
}

/* Opens pairs, and leaves out what proofs say is apart. */
static bool openPairs(const pnTraversal *t, pnWorker *w, pnPair *in, size_t count, pnPairs *next) {
  size_t from = next->count, leavesFrom = w->leaves.count;
  if (PN_UNLIKELY(pn_facesMayPay(t, count))) count = pn_pruneFaces(t, w, in, count);
  if (t->fillsAreDear) count = t->steps->keepReady(t, w, in, count);
  if (PN_UNLIKELY(pn_nodeTiltsPay(w))) count = pn_tiltNodes(t, w, in, count);
  bool ok = t->steps->open(t, w, in, count, next, &w->leaves);
  if (ok && t->proofs) {
    pn_pruneProofs(t, w, next, from, PN_PRUNE_NODES);
    pn_pruneProofs(t, w, &w->leaves, leavesFrom, PN_PRUNE_LEAVES);
  }
  return ok;
}

/* One breadth-first level: lists[0] -> lists[0] and leaves. */
static bool openLevel(const pnTraversal *t, pnWorker *w) {
  w->lists[1].count = 0;
  bool ok = openPairs(t, w, w->lists[0].data, w->lists[0].count, &w->lists[1]);
  pnPairs swap = w->lists[0];
  w->lists[0] = w->lists[1];
  w->lists[1] = swap;
  return ok;
}

/* ---------------------------------------------------------------- all, first, part */

/* Opens the last pairs of the list onto its end, `most` of them: depth-first in portions, so that nodes are used while they
 * are still in cache, and the list stays short. */
static bool openLast(const pnTraversal *t, pnWorker *w, size_t most) {
  pnPair portion[NODE_BATCH];
  pnPairs *stack = &w->lists[0];
  size_t n = PN_MIN(stack->count, most);
  stack->count -= n;
  memcpy(portion, stack->data + stack->count, n * sizeof(pnPair));
  return openPairs(t, w, portion, n, stack);
}

/* Nothing that one run has listed may be there when the next begins, which may be about other trees: a run that is out of
 * memory stops with its lists full. */
static void endRun(pnWorker *w, bool ok) {
  w->lists[0].count = w->leaves.count = w->candidates.count = 0;
  w->outOfMemory |= !ok;
}

void pn_runAll(const pnTraversal *t, pnWorker *w, pnKernel kernel, double *time) {
  bool ok = sortOutLeaves(t, w);
  while (ok && w->lists[0].count > 0 && w->found.count <= w->foundMost) {
    if (PN_UNLIKELY(pn_isAsked(w->relief))) pn_handOver(w, 0);
    ok = openLast(t, w, NODE_BATCH);
    if (ok && w->leaves.count >= LEAF_BATCH) ok = runLeaves(t, w, kernel, time);
  }
  if (PN_UNLIKELY(pn_isAsked(w->relief))) pn_handOver(w, 0);
  ok = ok && runLeaves(t, w, kernel, time);
  endRun(w, ok);
}

/* ---------------------------------------------------------------- in steps */

/* What the next step reads of the larger tree, which is a: the one with the coarser grid. The other was updated a moment ago. Inline as
 * pn_askForTriangles is. */
PN_INLINE void askForInner(const pnTree *tree, const pnPairs *stack) {
  const pnShape *shape = tree->shape;
  for (size_t i = stack->count - PN_MIN(stack->count, NODE_BATCH); i < stack->count; ++i) {
    uint32_t node = PN_MIN(stack->data[i].a, shape->innerCount); /* of a leaf nothing is opened */
    pn_askForNode(tree, node);
    __builtin_prefetch(&shape->first[node]);
    __builtin_prefetch(&shape->count[node]);
  }
}

PN_INLINE void askForLeaves(const pnTree *tree, const pnPairs *leaves, size_t from) {
  for (size_t i = from; i < leaves->count; ++i) {
    pn_askForNode(tree, leaves->data[i].a);
    pn_askForTriangles(tree, leaves->data[i].a);
  }
}

/* Of each candidate one corner, the first, second and third in turn: neighbours have the others, and what lies beside them. */
PN_INLINE void askForCorners(const pnTree *tree, const pnPairs *candidates) {
  for (size_t i = 0, k = 0; i < candidates->count; ++i, k = k == 2 ? 0 : k + 1)
    __builtin_prefetch(tree->cornerBase + tree->corners[3 * (size_t)candidates->data[i].a + k]);
}

/* From a cutting of a (cutting.h) to its leaves: all of them, as both bodies have few. */
static bool openCutting(const pnTraversal *t, pnWorker *w, pnCutting *cutting) {
  pnShape shape;
  pnTree tree;
  pnTraversal part = *t;
  pn_plantCutting(cutting, t->a, &shape, &tree);
  part.a = &tree;
  part.uneven = false;
  bool ok = sortOutLeaves(&part, w);
  while (ok && w->lists[0].count > 0) ok = openLast(&part, w, NODE_BATCH);
  for (size_t i = 0; i < w->leaves.count; ++i)
    w->leaves.data[i].a = cutting->leaves[w->leaves.data[i].a - PN_CUTTING_NODES];
  askForLeaves(t->a, &w->leaves, 0);
  return ok;
}

bool pn_runNodes(const pnTraversal *t, pnWorker *w, pnCutting *cutting) {
  if (cutting) {
    w->outOfMemory |= !openCutting(t, w, cutting);
    return w->leaves.count <= LEAF_BATCH;
  }
  bool ok = sortOutLeaves(t, w);
  while (ok && w->lists[0].count > 0 && w->leaves.count < LEAF_BATCH) {
    size_t from = w->leaves.count;
    ok = openLast(t, w, NODE_BATCH);
    askForInner(t->a, &w->lists[0]);
    askForLeaves(t->a, &w->leaves, from);
  }
  w->outOfMemory |= !ok;
  return w->lists[0].count == 0 && w->leaves.count <= LEAF_BATCH;
}

void pn_runLeafPairs(const pnTraversal *t, pnWorker *w) {
  bool ok = openManyLeaves(t, w, w->leaves.data, w->leaves.count);
  w->leaves.count = 0;
  askForCorners(t->a, &w->candidates);
  w->outOfMemory |= !ok;
}

void pn_runHoles(const pnTraversal *t, pnWorker *w, pnCutting *cutting) {
  w->lists[0].count = 0; /* not from the roots */
  w->outOfMemory |= !pn_listHoles(t, cutting, w);
}

void pn_runPegs(pnTraversal *t, pnWorker *w, const pnCutting *cutting, pnKernel kernel) {
  t->narrow = pn_narrowSmall(kernel);
  w->outOfMemory |= !pn_tryPegs(t, cutting, w);
}

void pn_runCandidates(const pnTraversal *t, pnWorker *w, pnKernel kernel, double *time) {
  bool timed = w->candidates.count >= TIMED_CANDIDATES;
  double middle = timed ? pn_clock() : 0;
  w->outOfMemory |= !testCandidates(t, w, kernel);
  if (timed) {
    w->cost.traverseSeconds += middle - *time;
    *time = pn_clock();
    w->cost.exactSeconds += *time - middle;
  }
}

/* Leaf pairs tested at a time for a first pair of two bodies: as many as are opened together. */
#define FIRST_BATCH 2u

/* How much the boxes of two nodes have in common, in cells of a's grid. */
PN_INLINE int64_t sharedCells(const pnTraversal *t, const int32_t delta[3], pnPair pair) {
  uint32_t pa = t->a->shape->parent[pair.a], pb = t->b->shape->parent[pair.b], i = pa % PN_LANES, j = pb % PN_LANES;
  const pnBoxLanes *a = pn_lanesOf(t->a, pa / PN_LANES), *b = pn_lanesOf(t->b, pb / PN_LANES);
  int64_t cells = 1;
  for (int d = 0; d < 3; ++d) {
    int32_t lo = (b->row[d][0][j] >> t->lens.shift) + delta[d], hi = (b->row[d][1][j] >> t->lens.shift) + delta[d];
    cells *= 1 + PN_MAX(0, PN_MIN(hi, a->row[d][1][i]) - PN_MAX(lo, a->row[d][0][i]));
  }
  return cells;
}

/* For a first pair the order in which pairs are opened decides how soon it is found. Of those that came last the one with most
 * in common goes to the end, which is opened next: half as many are opened as without, and sorting all of them costs more
 * than it brings. It is a guess and no more; where it takes more than comparing numbers (spheres, boxes in model space)
 * it is left, and where it guesses wrong: a body has most in common with itself beside the place, where it meets least. */
static void bringBestLast(const pnTraversal *t, pnPairs *list, size_t from) {
  if (list->count < from + 2 || t->self || t->steps == &pn_stepsSphere || t->steps == &pn_stepsMixed ||
      t->steps == &pn_stepsBergen)
    return;
  int32_t delta[3];
  for (int d = 0; d < 3; ++d) delta[d] = t->lens.part[d][0][0] + t->lens.part[d][0][1];
  int64_t most = 0;
  size_t best = from;
  for (size_t i = from; i < list->count; ++i) {
    int64_t cells = sharedCells(t, delta, list->data[i]);
    best = cells > most ? i : best;
    most = PN_MAX(cells, most);
  }
  pnPair pair = list->data[best];
  list->data[best] = list->data[list->count - 1];
  list->data[list->count - 1] = pair;
}

/* Opens the last pair of nodes; leaves, as soon as there are some, and the last first. */
static bool stepFirst(const pnTraversal *t, pnWorker *w, pnKernel kernel) {
  if (w->leaves.count > 0) {
    size_t n = t->self ? w->leaves.count : PN_MIN(w->leaves.count, FIRST_BATCH);
    w->leaves.count -= n;
    return openLeaves(t, w, w->leaves.data + w->leaves.count, n) && testCandidates(t, w, kernel);
  }
  size_t from = w->lists[0].count - 1;
  bool ok = openLast(t, w, 1);
  bringBestLast(t, &w->lists[0], from);
  bringBestLast(t, &w->leaves, 0);
  return ok;
}

bool pn_runFirst(const pnTraversal *t, pnWorker *w, pnKernel kernel) {
  size_t before = w->found.count;
  bool ok = sortOutLeaves(t, w);
  while (ok && w->found.count == before && (w->lists[0].count > 0 || w->leaves.count > 0)) ok = stepFirst(t, w, kernel);
  endRun(w, ok);
  if (w->found.count > before + 1) {
    w->cost.pairs -= w->found.count - before - 1;
    w->found.count = before + 1;
  }
  return w->found.count > before;
}

void pn_expand(const pnTraversal *t, pnWorker *w, size_t wanted) {
  double start = pn_clock();
  bool ok = sortOutLeaves(t, w);
  while (ok && w->lists[0].count > 0 && w->lists[0].count + w->leaves.count < wanted) ok = openLevel(t, w);
  pnPairs *list = &w->lists[0];
  ok = ok && pn_arrayReserve(list, list->count + w->leaves.count);
  if (ok && w->leaves.count > 0) {
    memcpy(list->data + list->count, w->leaves.data, w->leaves.count * sizeof(pnPair));
    list->count += w->leaves.count;
  }
  w->leaves.count = 0;
  w->outOfMemory |= !ok;
  w->cost.traverseSeconds += pn_clock() - start;
}

void pn_workerFree(pnWorker *w) {
  pn_arrayFree(&w->lists[0]);
  pn_arrayFree(&w->lists[1]);
  pn_arrayFree(&w->leaves);
  pn_arrayFree(&w->candidates);
  pn_arrayFree(&w->found);
  pn_freeHubSweep(&w->hub);
}

/* ---------------------------------------------------------------- neighbours */

const uint8_t pn_noLinks[PN_LANES] = {0};

uint32_t pn_neighbourCount(const pnTraversal *t) {
  const pnProof *proof = pn_neighbourProof(t->proofs);
  return proof ? proof->countNeighbours(t->a) : 0;
}

uint32_t pn_neighbourPortion(const pnTraversal *t) {
  const pnProof *proof = pn_neighbourProof(t->proofs);
  return proof ? proof->portion : 1;
}

bool pn_testNeighbours(const pnTree *tree, pnWorker *w, bool first) {
  w->cost.exactTests += w->candidates.count;
  size_t kept = pn_narrowNeighbours(tree, w->candidates.data, w->candidates.count, &w->cost.uncertain);
  w->candidates.count = 0;
  kept = first ? PN_MIN(kept, 1) : kept;
  if (!w->countOnly && !pn_arrayReserve(&w->found, w->found.count + kept)) return false;
  for (size_t i = 0; !w->countOnly && i < kept; ++i) {
    uint32_t a = tree->shape->leafTriangles[w->candidates.data[i].a],
             b = tree->shape->leafTriangles[w->candidates.data[i].b];
    w->found.data[w->found.count++] = (pnPair){PN_MIN(a, b), PN_MAX(a, b)};
  }
  w->cost.pairs += kept;
  return true;
}

void pn_runNeighbours(const pnTraversal *t, pnWorker *w, uint32_t begin, uint32_t end, bool first) {
  pnTree *tree = t->a;
  const pnProof *proof = pn_neighbourProof(t->proofs);
  double start = pn_clock();
  size_t most = first ? w->found.count : w->foundMost;
  bool ok = true;
  for (uint32_t at = begin; ok && at < end && w->found.count <= most; ++at) {
    ok = proof->runNeighbours(tree, w, at, first, most);
    if (ok && (w->candidates.count >= PN_NEIGHBOUR_BATCH || at + 1 == end)) ok = pn_testNeighbours(tree, w, first);
  }
  endRun(w, ok);
  w->cost.exactSeconds += pn_clock() - start;
}
