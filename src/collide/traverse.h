/* traverse.h: the dual traversal. Pairs of nodes are opened until pairs of triangles are left.
 *
 * It is written once (traverse_step.h) and compiled for each form of volumes (traverse_box.c, ...), which only say how to
 * load the volumes of a node and how to test one volume against eight. What is opened when is decided in traverse.c:
 * depth-first, in portions for all pairs, one by one for a first pair. */
#ifndef PN_COLLIDE_TRAVERSE_H
#define PN_COLLIDE_TRAVERSE_H

#include "collide/hub_sweep.h"
#include "collide/narrow.h"
#include "collide/trial.h"
#include "tree/update.h"

/* How b's grid looks from a's: q' = (q >> shift) + delta, where a has the coarser grid. `delta` is a sum of two parts so
 * that each fits 16 bits, and hi is one more where b's offset is not a multiple of the coarser cell (rounding down
 * must not make a volume smaller), and where the products that find a's cells may underflow. */
typedef struct pnLens {
  int shift;
  int16_t part[PN_MAX_SLABS][2][2]; /* direction, lo/hi, the two parts */
} pnLens;

struct pnTraversal;
struct pnWorker;
struct pnCutting;

/* Where candidates go instead of to the exact tests: pairs of slots, to do with as one likes. False: out of memory. */
typedef struct pnSink {
  bool (*take)(struct pnSink *sink, const struct pnTraversal *t, struct pnWorker *w, const pnPair *candidates,
               size_t count);
} pnSink;

/* One question about two trees (or one, self). */
typedef struct pnTraversal {
  pnTree *a, *b;
  bool self;         /* a == b: each pair of triangles once, neighbours left out */
  bool neighbours;   /* and those that meet in more than what they share are asked for, too */
  bool swapped;      /* the caller's a is our b */
  bool planeDecides; /* approximate: pnQueryLab.planeDecides */
  bool noPlanes;     /* for comparison: pnQueryLab.noPlanes */
  bool uneven; /* one is much longer than the other: of two nodes only the longer is opened; or `open` says which */
  pnOpen open; /* for comparison: pnQueryLab.open */
  bool fillsAreDear;          /* vertices of one of them are computed when a leaf is filled */
  uint32_t proofs;            /* bits: which pairs need not be opened (proof.h) */
  pnNarrowBatchesFcn *narrow; /* of candidates that name triangles of b; null: pn_narrow */
  pnSink *sink;               /* null: candidates are tested, and pairs that meet are found */
  pnLens lens;
  const struct pnSteps *steps;
  /* Bergen: b's model space from a's and back, with margins for the rounding of everything */
  pnMatrix aToB, bToA;
  float margin;
} pnTraversal;

/* What a worker owns: lists that grow and are kept, counters. */
typedef struct pnWorker {
  pnPairs lists[2];   /* pairs of nodes */
  pnPairs leaves;     /* pairs of leaves (as nodes) */
  pnPairs candidates; /* pairs of slots */
  pnPairs found;      /* pairs of triangles, in the caller's order of bodies */
  size_t foundMost;   /* a run may stop when `found` has more than this */
  bool countOnly;     /* pairs are counted in `cost` and not listed */
  pnCost cost;
  uint64_t candidatesMet;       /* found by boxes, before slants took some out */
  uint64_t tiltedAway;          /* pairs of leaves that tilts took out, in cost.leafPairs too */
  pnTrial nodeTilts, leafTilts; /* of tilts (tilt.h) */
  pnTrial faces;                /* of planes of a few triangles (face.h) */
  pnFresh fresh;                /* lazy nodes it has filled */
  pnHubSweep hub;
  struct pnRelief *relief; /* with whom it shares what is left of its work (relief.h); null: with nobody */
  uint32_t job;            /* that it is at work on */
  pnDoubts doubts;         /* of that job (narrow.h) */
  bool outOfMemory;
  char apart[128]; /* workers stand in one array and write all the time: no two of them share a cache line */
} pnWorker;

/* Adds what something cost to a sum. */
PN_INLINE void pn_addCost(pnCost *sum, const pnCost *cost) {
  sum->nodesUpdated += cost->nodesUpdated;
  sum->verticesFetched += cost->verticesFetched;
  sum->nodePairs += cost->nodePairs;
  sum->leafPairs += cost->leafPairs;
  sum->volumeTests += cost->volumeTests;
  sum->planeTests += cost->planeTests;
  sum->exactTests += cost->exactTests;
  sum->uncertain += cost->uncertain;
  sum->pairs += cost->pairs;
  sum->updateSeconds += cost->updateSeconds;
  sum->traverseSeconds += cost->traverseSeconds;
  sum->exactSeconds += cost->exactSeconds;
}

/* Opens pairs of nodes: at least one of each pair is an inner node. Pairs of children whose volumes overlap are appended to
 * next, or to leaves when both are leaves. False: out of memory. */
typedef bool pnOpenFcn(const pnTraversal *t, pnWorker *w, const pnPair *in, size_t count, pnPairs *next,
                       pnPairs *leaves);
/* Opens pairs of leaves: pairs of slots whose volumes overlap are appended to candidates. */
typedef bool pnOpenLeavesFcn(const pnTraversal *t, pnWorker *w, const pnPair *in, size_t count, pnPairs *candidates);

/* Where filling nodes is dear: makes pairs ready to be opened, and takes those out, in place, of which one side tells
 * that nothing overlaps before the other is filled. Returns how many are left. */
typedef size_t pnKeepReadyFcn(const pnTraversal *t, pnWorker *w, pnPair *pairs, size_t count);

typedef struct pnSteps {
  pnOpenFcn *open;
  pnOpenLeavesFcn *openLeaves;
  pnKeepReadyFcn *keepReady;
} pnSteps;

extern const pnSteps pn_stepsBox, pn_stepsBoxOffset, pn_stepsBoxLens, pn_stepsBoxClipped, pn_stepsDop, pn_stepsSphere,
    pn_stepsBergen, pn_stepsMixed;

#if defined(__x86_64__) && !defined(PN_SCALAR)
extern const pnSteps pn_stepsBoxAvx2, pn_stepsBoxOffsetAvx2, pn_stepsBoxLensAvx2;
#if defined(PN_AVX512)
extern const pnSteps pn_stepsBoxVbmi, pn_stepsBoxOffsetVbmi, pn_stepsBoxLensVbmi;
#endif
#endif

/* Looks at two updated trees and chooses. b null: self. */
void pn_beginTraversal(pnTree *a, pnTree *b, pnOpen open, pnTraversal *out);
/* Do the boxes of two trees overlap at all? */
bool pn_treesOverlap(const pnTree *a, const pnTree *b);

/* Asks for the triangles of a leaf: their corners' places and their numbers. Inline, because a function that only asks has no effect in
 * the eyes of a compiler, and its calls are left out. */
PN_INLINE void pn_askForTriangles(const pnTree *tree, uint32_t leaf) {
  size_t slot = (size_t)PN_LANES * (leaf - tree->shape->innerCount);
  __builtin_prefetch(tree->corners + 3 * slot);
  __builtin_prefetch(tree->corners + 3 * slot + 3 * PN_LANES - 1);
  __builtin_prefetch(tree->shape->leafTriangles + slot);
}

/* Runs the pairs of nodes in w->lists[0] to the end; found pairs of triangles are appended to w->found, and little more than
 * foundMost. With `first` it stops at the first. *time is since when nothing has been booked: looking at the clock for each of
 * many small questions is felt, so that of small ones the caller books the whole. */
void pn_runAll(const pnTraversal *t, pnWorker *w, pnKernel kernel, double *time);
bool pn_runFirst(const pnTraversal *t, pnWorker *w, pnKernel kernel);

/* The same in three steps, between which other questions may be asked, so that what a step needs comes from the outer caches
 * meanwhile. First nodes are opened, onto w->leaves, and the leaves are asked for; false: they are too many, and pn_runAll has the rest.
 * Then leaves, onto w->candidates, and the corners of these are asked for. Then candidates are tested. The first step leaves
 * candidates alone that are there. */
bool pn_runNodes(const pnTraversal *t, pnWorker *w, struct pnCutting *cutting);
void pn_runLeafPairs(const pnTraversal *t, pnWorker *w);
/* The first and the second of them for a small body and a cutting that has holes (peg.h). */
void pn_runHoles(const pnTraversal *t, pnWorker *w, struct pnCutting *cutting);
void pn_runPegs(pnTraversal *t, pnWorker *w, const struct pnCutting *cutting, pnKernel kernel);
void pn_runCandidates(const pnTraversal *t, pnWorker *w, pnKernel kernel, double *time);

/* Neighbours that meet in more than what they share: the blocks of fans (with calm pairs: the restless links) [begin, end)
 * of a self traversal, of pn_neighbourCount. Workers take them in portions. */
uint32_t pn_neighbourCount(const pnTraversal *t);
uint32_t pn_neighbourPortion(const pnTraversal *t);
void pn_runNeighbours(const pnTraversal *t, pnWorker *w, uint32_t begin, uint32_t end, bool first);
/* Pairs of neighbours tested at a time: enough to fill the filter's lanes, which the few of one link do not. */
#define PN_NEIGHBOUR_BATCH 64u
/* Tests the candidates in w, neighbours all; those that meet are appended to the pairs found, with `first` one of them. False: out of
 * memory. */
bool pn_testNeighbours(const pnTree *tree, pnWorker *w, bool first);

/* Opens w->lists[0] breadth-first until there are at least `wanted` pairs of nodes or nothing to open; pairs of leaves
 * met on the way are put back at the end of lists[0]. */
void pn_expand(const pnTraversal *t, pnWorker *w, size_t wanted);

void pn_workerFree(pnWorker *w);

/* The rows of neighbours of leaf a in leaf b >= a; zeros when they share nothing. */
extern const uint8_t pn_noLinks[PN_LANES];
PN_INLINE const uint8_t *pn_linkRows(const pnTree *tree, uint32_t a, uint32_t b) {
  uint32_t lo = tree->shape->linkFirst[a], hi = tree->shape->linkFirst[a + 1];
  const pnLeafLink *links = tree->shape->links;
  /* Sorted by leaf: halve while there are many, then count those before b. Which they are nobody could predict, and how many are
   * looked at is the same as for the pair before, which is mostly of the same leaf. */
  while (PN_UNLIKELY(hi - lo > 16)) {
    uint32_t mid = (lo + hi) / 2;
    *(links[mid].leaf <= b ? &lo : &hi) = mid;
  }
  uint32_t at = lo;
  for (uint32_t i = lo; i < hi; ++i) at += links[i].leaf < b;
  return at < hi && links[at].leaf == b ? links[at].row : pn_noLinks;
}

#endif
