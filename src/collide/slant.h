/* slant.h: tight slabs for leaves that many others come near.
 *
 * A box says little about a triangle that lies askew: on noisy surfaces and hair nine candidates of ten are boxes that overlap and
 * triangles that do not. So where pairs are many a leaf gets *slants*: the intervals of each of its triangles, and of all of them
 * together, along the six edge directions x+y, x-y, x+z, x-z, y+z, y-z (the 18-DOP of slab.h without its box). One look at two of
 * them says whether something lies between, and takes pairs of leaves out before they are opened, and candidates before they are
 * tested.
 *
 * Nothing is lost. Say two triangles share a real point p. A coordinate sum rounded to nearest is monotone in the real sum, and
 * that of p lies between those of the corners of each: so the rounded sum of p lies in both intervals, which overlap
 * without any margin (slab.h; a sum beyond float is infinite at both ends, and still in order). The intervals of a leaf are
 * the hull of those of its triangles.
 *
 * Slants are made of corners, so that they serve every form and every motion; when, is a question of cost: making those of a leaf takes
 * as long as testing half a dozen candidates. They pay where leaves are met often, which is counted on the way. They are kept for
 * the frame, 72 bytes a triangle, allocated when they first pay. */
#ifndef PN_COLLIDE_SLANT_H
#define PN_COLLIDE_SLANT_H

#include "collide/proof.h"
#include "collide/traverse.h"

/* A record: eight numbers lo and eight hi, one cache line. Of the eight directions two stand there twice. A leaf has one of each of its
 * triangles, by slots, and one of all of it, its hull. */
#define PN_SLANT_FLOATS 16u
#define PN_SLANT_LEAF (PN_LANES * PN_SLANT_FLOATS)

/* Of as many leaves as there is room for, as those of a soup become more and fewer: PN_SLANT_LEAF floats each, and behind these their hulls,
 * PN_SLANT_FLOATS each. */
PN_INLINE float *pn_slantHulls(const pnRecords *slants) {
  return slants->floats + (size_t)PN_SLANT_LEAF * slants->count;
}

/* May leaves have records of their triangles for this question? Not for candidates that go elsewhere, which may stand for more than their
 * triangles; nor where planes may decide about them. */
PN_INLINE bool pn_mayHaveRecords(const pnTraversal *t) {
  return !t->sink && !(t->proofs & PN_PROOF_BIT(PN_PROOF_PLANES));
}

/* May slants be used for the pairs of leaves that come next? One thread asks only when they pay, and a tree gets them at once; of
 * several each asks always, and the tree waits for them until the next query begins. */
bool pn_wantSlants(const pnTraversal *t, pnWorker *w);
/* Does a tree have slants for all of its leaves? */
PN_INLINE bool pn_hasSlants(const pnTree *tree) {
  return tree->slants && tree->slants->count >= tree->shape->leafCount;
}
/* Fulfils the wish for a tree; without memory there are none. */
void pn_grantSlants(pnTree *tree);

/* Makes leaves fresh and takes pairs out of a list of leaves, in place; returns how many are left. */
size_t pn_slantLeaves(const pnTraversal *t, pnWorker *w, pnPair *pairs, size_t count);
/* Takes candidates out of w->candidates. Their leaves have been through pn_slantLeaves. */
void pn_slantCandidates(const pnTraversal *t, pnWorker *w);

/* The loops, for any width; chosen at run time. */
typedef struct pnSlantLoops {
  void (*fill)(const pnTree *tree, uint32_t leaf, float *records, float *outHull);
  /* Pairs that overlap, moved to the front: of nodes, of which the leaves begin at firstA and firstB, by hulls; of slots, by records. */
  size_t (*keepLeaves)(const float *a, const float *b, uint32_t firstA, uint32_t firstB, pnPair *pairs, size_t count);
  size_t (*keepSlots)(const float *a, const float *b, pnPair *pairs, size_t count);
  uint32_t leafWorth; /* how many candidates cost as much as opening a pair of leaves, on machines that these are for */
} pnSlantLoops;
extern const pnSlantLoops pn_slantLoops4;
#if defined(__x86_64__) && !defined(PN_SCALAR)
extern const pnSlantLoops pn_slantLoops8Avx2;
#endif

PN_INLINE const pnSlantLoops *pn_slantLoops(void) {
#if defined(__x86_64__) && !defined(PN_SCALAR)
  if (__builtin_cpu_supports("avx2")) return &pn_slantLoops8Avx2;
#endif
  return &pn_slantLoops4;
}

/* In so many instructions, more or less: a leaf's slants take 300 to make. A candidate costs 55 to test, and its slants 10 to look
 * at, which spare half of the candidates or more; a pair of leaves costs as much to open as so many candidates as the loops say: four
 * row by row, one as a square (traverse_square.h). Bodies whose leaves have fewer candidates than this are faster without. With
 * squares hair has 9, terrain 30, cloth-ball 74, rod-twist 122, slivers 240 and blobs 520: the first two are slower with slants, the next
 * two alike, the last two take half the time. */
#define PN_SLANT_WORTH 48u
/* Nodes that are filled before there is anything to say. */
#define PN_SLANT_FEW_NODES 64u

/* Do slants pay by what these workers have met so far? Asked for every batch of leaves; in most frames that is all. */
PN_INLINE bool pn_slantsPay(const pnWorker *workers, uint32_t count) {
  uint64_t met = 0, nodes = PN_SLANT_FEW_NODES, leafWorth = pn_slantLoops()->leafWorth;
  for (uint32_t i = 0; i < count; ++i) {
    met += workers[i].candidatesMet + leafWorth * (workers[i].cost.leafPairs - workers[i].tiltedAway);
    nodes += workers[i].fresh.nodes;
  }
  return met >= PN_SLANT_WORTH * nodes;
}

#endif
