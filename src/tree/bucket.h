/* bucket.h: the index over a soup, in words first.
 *
 * By the algorithms of [Ganovelli00] and by Morton codes, every update does four things, all of them linear in the living
 * primitives:
 *
 *   centres   the middle of each primitive's box, and the box of everything
 *   places    the primitives in *tree order*: by bucket of an octree of l levels (Algorithm 1 or 2 of [Ganovelli00]), or
 *             along a curve through space (bucket_direct.c, bucket_sorted.c, bucket_octree.c, bucket_morton.c)
 *   leaves    at most eight primitives each, in that order; a bucket that holds more is divided further
 *   nodes     the inner nodes over the leaves, in the layout of tree.h (bucket.c)
 *
 * Each way is a file, a state of its own and a row of the table in bucket.c. The default keeps the order, the leaves and the nodes from update to update and says how they change in bucket_keep.c,
 * bucket_renew.c and bucket_bound.c.
 *
 * What comes out is a pnTree: the octree's eight children are the eight lanes of a node, and the traversal, the exact tests,
 * threads and worlds know nothing of soups.
 *
 * The full octree is kept as an array (level d begins at (8^d - 1) / 7, children of node i of a level are 8i ... 8i + 7 of
 * the next: Morton order). Its nodes carry *temporal marks* [section 3.2]: a node is occupied in this update exactly
 * when its mark is the number of the update. Nothing is ever cleared, and empty subtrees are never visited.
 *
 * A primitive is placed by its centre and may reach out of its bucket: volumes are computed from the corners of what a
 * leaf holds, never from the bounds of buckets, so no pair is missed. */
#ifndef PN_TREE_BUCKET_H
#define PN_TREE_BUCKET_H

#include "base/array.h"
#include "base/sort.h"
#include "base/task.h"
#include "mesh/soup.h"
#include "tree/tree.h"

#define PN_MAX_LEVELS 7u
/* Bits an axis in the code of a curve, at most: three times ten fit 32. */
#define PN_CURVE_BITS 10u
/* And where cells may be coarser. */
#define PN_FEW_BITS 8u
/* Codes that are made at a time. */
#define PN_CODE_BATCH 16u
/* Merging new primitives into a kept order beats sorting all while fewer than one in this many are new. */
#define PN_FEW_FRESH 4u

/* A node of the full octree. Everything but the mark is valid only when the mark is. */
typedef struct pnBucketNode {
  uint32_t mark;                 /* the update that last found it occupied */
  uint32_t at;                   /* buckets: primitives counted, then where the next one goes in tree order */
  uint32_t leafFirst, leafCount; /* the leaves below */
} pnBucketNode;

/* An inner node of the tree being made, in breadth-first order. */
typedef struct pnBucketInner {
  uint32_t leafFirst, leafCount;
  uint32_t node, level; /* of the full octree; PN_NONE: inside of a bucket, or along a curve */
  uint32_t first, count;
  bool leaves; /* its children are leaves, first ... of them */
} pnBucketInner;

/* Cells along one axis: a monotone function of the coordinate, so that primitives sorted by coordinate are sorted by cell. */
typedef struct pnCells {
  float half, scale; /* cell = (x / 2 - half) * scale, at most last */
  uint32_t last;
} pnCells;

/* An order being made anew, a slice in every update; bucket_renew.c. */
typedef struct pnRenewal {
  enum {
    PN_RENEW_NONE,
    PN_RENEW_CODES,
    PN_RENEW_PASSES,
    PN_RENEW_RUNS,
    PN_RENEW_REFINE,
    PN_RENEW_CLUSTERS,
    PN_RENEW_READY
  } stage;
  uint32_t at, digit; /* how far the stage is; passes: which */
  uint32_t count;     /* primitives that have a code */
  uint64_t seen;      /* soup->changedLast when it began */
  pnCells coding[3];
  pnKeyValue *keys, *scratch; /* after the passes scratch holds numbers of 32 bits: the order, then cells */
  uint32_t room;              /* of both */
  uint32_t starts[3][1u << PN_CURVE_BITS];
} pnRenewal;

/* What a renewal has made, after its passes. */
PN_INLINE uint32_t *pn_renewedOrder(const pnRenewal *r) {
  return (uint32_t *)(void *)r->scratch;
}
PN_INLINE uint32_t *pn_renewedCells(const pnRenewal *r) {
  return pn_renewedOrder(r) + r->room;
}

/* The codes of some centres along a curve, as many bits an axis as its cells have. */
typedef struct pnCodeBatch {
  uint32_t count, places[PN_CODE_BATCH], codes[PN_CODE_BATCH];
  float centres[PN_CODE_BATCH][4];
} pnCodeBatch;

typedef struct pnBuckets pnBuckets;

/* One way to put a soup in order: one file with a state of its own, and one row of the table in bucket.c. What is null is not needed. */
typedef struct pnBucketWay {
  const char *name;
  size_t stateBytes; /* of what it keeps from update to update; zeroed when the tree is made */
  bool centres;      /* it wants the centres of all primitives in pnBuckets.centres */
  /* The curve along which it sorts. */
  void (*codes)(const pnCells cells[3], pnCodeBatch *batch);
  /* What it keeps by place, for more than b->room places. False: out of memory, and the old arrays stay. */
  bool (*reserve)(pnBuckets *b, uint32_t room);
  /* Frees what its state holds; the state itself is freed by whoever made it. */
  void (*release)(pnBuckets *b);
  size_t (*bytes)(const pnBuckets *b); /* of what its state holds */
  /* Nothing is alive in this update. */
  void (*clear)(pnBuckets *b);
  /* Order, leaves, nodes and volumes for the primitives of now, of which there is one at least. */
  pnResult (*update)(pnTree *tree, pnBuckets *b, const pnTasks *tasks);
  void (*tell)(const pnBuckets *b, pnBucketInfo *out);
} pnBucketWay;

extern const pnBucketWay pn_bucketDirect, pn_bucketSorted, pn_bucketMorton, pn_bucketKept;

/* What all ways have. */
struct pnBuckets {
  pnTreeLab lab; /* method, levels, mostMoves */
  const pnBucketWay *way;
  bool hasty;  /* it was made in haste, and box is said to be near */
  void *state; /* the way's */
  const pnSoup *soup;
  pnShape *shape; /* the tree's, which we alone may change; its arrays are in the tree's block */
  uint32_t count; /* living primitives */
  pnBox box;      /* of all corners */

  /* by place */
  uint32_t room;
  float *centres;  /* one a place for each axis, axis after axis; null where the way does not want them */
  uint32_t *cells; /* number of the bucket, Morton order; kept: the node of its cluster */

  /* in tree order */
  uint32_t *order; /* places */
  pnKeyValue *keys, *scratch;
  PN_ARRAY(uint32_t) leafBegin; /* leafCount + 1: into order */
  PN_ARRAY(pnBucketInner) inner;

  /* the tree's memory has room for */
  uint32_t innerRoom, leafRoom;
  float *boxes;        /* 8 a node */
  uint32_t *leafLists; /* by leaf: the number of the order that its lists were made for; 0: none */
};

/* Algorithms 1 and 2: the full octree. The state of the one, and the beginning of that of the other. */
typedef struct pnOctree {
  uint32_t levels; /* in this update */
  uint32_t step;   /* the number of the update: the mark */
  pnBucketNode *nodes;
  uint32_t nodeLevels;           /* it has room for */
  uint32_t bucketCount, largest; /* occupied, and most primitives in one */
  double placeSeconds;           /* of placing by either algorithm, in the last update */
} pnOctree;
PN_INLINE pnOctree *pn_octreeOf(const pnBuckets *b) {
  return b->state;
}

/* Algorithm 2: three arrays, and where each bucket begins. */
typedef struct pnSorted {
  pnOctree octree;
  pnFloatKey *axis[3];
  uint8_t *axisCells[3];          /* by place: the number of its cell along each axis */
  uint32_t axisCount, axisLevels; /* primitives in them, levels of the pointers; of the last update */
  uint32_t *listed;               /* by place: the generation that stands in the arrays, 0: none */
  uint32_t pointer[3][(1u << PN_MAX_LEVELS) + 1];
  uint64_t seen;  /* soup->changedLast that the arrays know */
  uint64_t moves; /* places moved by insertion in the last update */
  bool fellBack;  /* insertion was given up and the arrays sorted from scratch */
} pnSorted;
PN_INLINE pnSorted *pn_sortedOf(const pnBuckets *b) {
  return b->state;
}

/* A kept order: pnBuckets.keys holds the codes at which the primitives stand, in tree order. */
typedef struct pnKept {
  pnCells coding[3];   /* what the codes were made with */
  pnKeyValue *fresh;   /* new since the last update */
  uint64_t seen;       /* soup->changedLast that the order knows */
  uint32_t keptCount;  /* primitives in the order; 0: there is none */
  uint32_t grownCount; /* primitives that the tree has leaves for */
  uint32_t refined;    /* how much of the order is divided by halving within blocks, from the beginning */
  float
      builtSurface[2]; /* of the clusters, relative to the whole, when new: along the curve, refined; < 0: not known */
  float wear;          /* how much they have grown since */
  bool leapt;          /* everything was sorted in the last update, because it was somewhere else */
  bool isOverBulk;     /* builtSurface is relative to most of the whole */
  uint64_t sorts;      /* how often everything was sorted in one update */
  uint64_t renewals;   /* how often slice by slice */
  uint64_t ordered;    /* steps spent on the order in the last update; bucket_renew.c says what a step is */
  pnRenewal renewal;
  uint32_t orderNumber;        /* grows when the order changes */
  PN_ARRAY(float) workerBoxes; /* boxes of inner nodes, for each further worker */
} pnKept;
PN_INLINE pnKept *pn_keptOf(const pnBuckets *b) {
  return b->state;
}

/* (8^d - 1) / 7: where a level of the full octree begins. */
PN_INLINE uint32_t pn_levelBegin(uint32_t level) {
  return ((1u << 3 * level) - 1) / 7;
}

/* 2^bits cells over [lo, hi], and how many bits they have; bits that tell so many primitives apart. */
pnCells pn_cellsOver(float lo, float hi, uint32_t bits);
uint32_t pn_bitsFor(uint32_t count);
PN_INLINE uint32_t pn_bitsOf(const pnCells cells[3]) {
  return (uint32_t)__builtin_popcount(cells[0].last);
}
PN_INLINE uint32_t pn_cellOf(const pnCells *c, float x) {
  float cell = (x * 0.5f - c->half) * c->scale;
  return (uint32_t)(int32_t)PN_MIN(PN_MAX(cell, 0.0f), (float)c->last);
}

/* The number of a bucket: its cells along the axes, bit by bit (Morton order). */
PN_INLINE uint32_t pn_mortonOf(const pnCells cells[3], const float *centre) {
  return pn_spreadBits(pn_cellOf(&cells[0], centre[0])) | pn_spreadBits(pn_cellOf(&cells[1], centre[1])) << 1 |
         pn_spreadBits(pn_cellOf(&cells[2], centre[2])) << 2;
}

/* bucket_hilbert.c. Codes along the curve of Hilbert; behind the last centre the batch is filled up. The fastest for this machine, and those
 * for every kind: all say the same. */
void pn_hilbertCodes(const pnCells cells[3], pnCodeBatch *batch);
void pn_hilbertCodesPlain(const pnCells cells[3], pnCodeBatch *batch);
#if defined(__x86_64__) && !defined(PN_SCALAR)
void pn_hilbertCodesAvx2(const pnCells cells[3], pnCodeBatch *batch);
#endif
/* bucket_curve.c. Items by code, stable, as pn_sortKeyValue does it by bytes: fewer and larger digits, because it is known how many
 * bits an axis has in a code. */
void pn_sortCodes(pnKeyValue *items, pnKeyValue *scratch, uint32_t count, uint32_t bits);

/* The middle of a primitive's box; three floats and one more. Halved before adding: two huge numbers must not overflow. */
PN_INLINE void pn_centreOf(const pnBuckets *b, uint32_t place, float out[4]) {
  pnF4 p[3], half = pn_f4Set1(0.5f);
  pn_loadPlace(b->soup, place, p);
  pnF4 lo = pn_f4Min(p[0], pn_f4Min(p[1], p[2])), hi = pn_f4Max(p[0], pn_f4Max(p[1], p[2]));
  pn_f4Store(out, pn_f4Add(pn_f4Mul(lo, half), pn_f4Mul(hi, half)));
}

/* The centres along one axis as they were found in this update. */
PN_INLINE const float *pn_centresAlong(const pnBuckets *b, int k) {
  return b->centres + (size_t)k * b->room;
}

/* The centre as it was found, or from the corners. */
PN_INLINE void pn_findCentre(const pnBuckets *b, uint32_t place, float out[4]) {
  if (b->centres)
    for (int k = 0; k < 3; ++k) out[k] = pn_centresAlong(b, k)[place];
  else pn_centreOf(b, place, out);
}

/* What a sort along the curve works on. Keys stand where their primitives do. */
typedef struct pnOrdering {
  const pnBuckets *b;
  uint32_t *order;
  pnKeyValue *keys, *scratch;
} pnOrdering;
/* bucket_curve.c. Sorts order[first ... first + count) along the way's curve within the box of their centres, whose cells come out. */
void pn_sortRange(const pnOrdering *o, uint32_t first, uint32_t count, const pnTasks *tasks, pnCells outCells[3]);
/* Long runs of one code in order[first ... first + count), each sorted within its own box; their keys stay. */
void pn_sortRuns(const pnOrdering *o, uint32_t first, uint32_t count);

/* No leaves, and room for as many as there can be. False: out of memory. */
bool pn_beginLeaves(pnBuckets *b);
/* Leaves over order[first ... first + count): eight each, the last may have fewer. There must be room: a leaf holds at least
 * one primitive. */
void pn_pushLeaves(pnBuckets *b, uint32_t first, uint32_t count);
/* Order, keys and leaves along the curve over everything; the cells that codes were made with come out. `about`: a box that most of it
 * is in, where one is known; null: that of the centres is found. */
bool pn_leavesOfCurve(pnBuckets *b, const pnBox *about, pnCells outCells[3], const pnTasks *tasks);

/* bucket_octree.c. Levels, memory and a new mark for this update. False: out of memory. */
bool pn_beginOctree(const pnBuckets *b, pnOctree *o);
/* From buckets (b->cells) to tree order and leaves. */
bool pn_leavesOfBuckets(pnBuckets *b, pnOctree *o);
void pn_freeOctree(pnBuckets *b);
size_t pn_octreeBytes(const pnBuckets *b);
void pn_tellOctree(const pnBuckets *b, pnBucketInfo *out);

/* bucket.c. pnCreateBucketTree on several workers. In haste, within a frame, the order is not refined at once, as the next frame may throw it away,
 * and codes are made within a box in which most of it is thought to be: `hastyBox`; null where there is time. */
pnResult pn_createBucketTree(const pnBucketDef *def, const pnBox *hastyBox, const pnTasks *tasks, pnTree **outTree);
/* Inner nodes over the leaves, along the octree or (null) the curve, and the tree's arrays for them. False: out of memory. */
bool pn_growTree(pnTree *tree, pnBuckets *b, const pnOctree *octree);
/* The centre of every primitive, and the box of all. */
void pn_findCentres(pnBuckets *b, const pnTasks *tasks);
/* Leaves and volumes of nodes that were all made anew. */
pnResult pn_fillNew(pnTree *tree, const pnBuckets *b, const pnTasks *tasks);
pnResult pn_failSoup(const pnBuckets *b);
/* bucket_renew.c. Begins to make the order anew. Without memory for that, nothing happens. */
void pn_beginRenewal(pnBuckets *b);
/* Goes on with it for so many steps. */
void pn_stepRenewal(const pnTree *tree, pnBuckets *b, uint64_t steps, const pnTasks *tasks);
/* Divides the order by halving within blocks, from primitive `first` on, for about so many steps. Returns how far it came. */
uint32_t pn_refineOrder(pnBuckets *b, uint32_t *order, uint32_t count, uint32_t first, uint64_t steps,
                        const pnTasks *tasks);
/* bucket_bound.c. Which cluster each place is in, after the order changed: into b->cells. */
void pn_assignClusters(const pnTree *tree, pnBuckets *b);
/* The same for the primitives order[first ... end), which begin and end with leaves, into an array by place. */
void pn_assignRange(const pnTree *tree, const uint32_t *order, uint32_t first, uint32_t end, uint32_t *outCells);
/* The boxes of all clusters, from the corners. False: out of memory. */
bool pn_boundClusters(const pnTree *tree, pnBuckets *b, const pnTasks *tasks);
/* The boxes of all nodes above them, and the soup's. Returns the summed surface of clusters relative to the whole, or to most of it (bulk.h). */
float pn_mergeClusters(const pnTree *tree, pnBuckets *b);
/* A guess at that from a few clusters of the order as it stands, before any box of this update is known. */
float pn_sampleClusters(const pnTree *tree, const pnBuckets *b);
/* Leaves in clusters of few cells. */
uint64_t pn_countSmall(const pnTree *tree, const pnBuckets *b);
/* The lanes of the nodes above the clusters. */
void pn_putEager(pnTree *tree, const pnBuckets *b);
/* The lazy part: one node. */
void pn_fillKept(pnTree *tree, uint32_t node);
/* bucket_fill.c. What a leaf holds. */
void pn_fillLists(pnTree *tree, const pnBuckets *b, uint32_t leaf);
/* Is a box so large against this many leaves of fewer than 8 cells that spheres are needed? */
bool pn_needsSpheres(const pnTree *tree, const pnBuckets *b, uint64_t small);
/* FEW_CELLS of the tree's grid in units of length. */
float pn_smallLength(const pnTree *tree);
/* Leaves and volumes of all nodes, from the corners. False: not finite. */
bool pn_fillBuckets(pnTree *tree, const pnBuckets *b, const pnTasks *tasks);

#endif
