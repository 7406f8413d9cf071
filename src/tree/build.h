/* build.h: how triangles are divided. A builder is one function that splits a range; the rest is shared. */
#ifndef PN_TREE_BUILD_H
#define PN_TREE_BUILD_H

#include "base/sort.h"
#include "tree/hub.h"
#include "tree/tree.h"

struct pnBuilder;
/* Permutes order[first ... first+count) into parts and writes their sizes, all at least 1, at most arity of them; at
 * least two parts. count > leafSize. */
typedef uint32_t pnSplitFcn(struct pnBuilder *builder, uint32_t first, uint32_t count, uint32_t depth,
                            uint32_t outSizes[PN_LANES]);

/* Joints as a tree, and the one that each triangle follows most; for PN_BUILD_JOINT. */
typedef struct pnJointTree {
  uint32_t jointCount, triangleCount;
  uint32_t *order; /* joints, each after the one above it; begins the block of these three */
  uint32_t *above; /* by joint: PN_NONE for a root */
  uint32_t *below; /* scratch */
  uint32_t *joint; /* by triangle; null: no joints */
} pnJointTree;

/* False: out of memory. Free in any case. */
bool pn_makeJointTree(const pnSkin *skin, const pnMesh *mesh, pnJointTree *out);
void pn_freeJointTree(pnJointTree *tree);

#define PN_BUILD_BOX 8u

/* What a splitter works on. `order` is the permutation of triangles being made. */
typedef struct pnBuilder {
  const pnMesh *mesh;
  uint32_t arity, leafSize;
  bool quick; /* cut across the longest axis, whatever the boxes: a third of the time, 2 to 10 % more box tests */
  uint32_t *order;
  float
      *centres; /* 3 a triangle and a float to spare: a quarter of the sum of the corners, in the pose at build time */
  float *boxes; /* PN_BUILD_BOX a triangle: lo xyz -, hi xyz -; quick: null */
  uint64_t *keys;        /* two a triangle, for selecting */
  uint32_t *scratch;     /* one per triangle */
  uint32_t *mark;        /* triangleCount, for connectivity; PN_NONE outside a split */
  const pnPiece *pieces; /* one per triangle, or null */
  pnJointTree joints;    /* all zero: no joints, or not asked for */
  pnSplitFcn *split;  /* the splitter that was asked for; pieces go through pn_splitPieces before, hubs pn_splitHubs */
  const pnHubs *hubs; /* of the mesh, or null: then none of these */
  float *hubCentres;  /* 3 a hub: the mean centre of its triangles */
  pnKeyValue *items, *itemScratch; /* triangleCount each, for sorting */
} pnBuilder;

pnSplitFcn pn_splitBalanced, pn_splitShapeCentre, pn_splitShapeMean, pn_splitLink, pn_splitJoint, pn_splitPieces,
    pn_splitHubs;

/* Of a balanced tree: the largest full subtree that is smaller than so many triangles; and how many of a range come before the cut, when
 * parts of `unit` triangles are wanted. */
uint32_t pn_unitOf(const pnBuilder *builder, uint32_t count);
uint32_t pn_leftOf(uint32_t count, uint32_t unit);
/* The sizes that pn_splitBalanced gives, of a range that is in order: nothing is moved. */
pnSplitFcn pn_sizeBalanced;
/* Puts order[first ... first+count) into the order of a balanced tree. */
void pn_cutDown(pnBuilder *builder, uint32_t first, uint32_t count);
/* Puts all triangles into the order of a curve (build_fast.c). False: out of memory. */
bool pn_orderFast(pnBuilder *builder, const pnTasks *tasks);

/* Puts `left` triangles first in order[first ... first+count), such that the boxes of the two parts are small. Longer ranges than this
 * are cut across their longest axis: what a better cut saves lies near the leaves. */
#define PN_ASKEW_BELOW 1024u
void pn_cutBest(pnBuilder *builder, uint32_t first, uint32_t count, uint32_t left);
/* The number that has `rank` others before it in order; what is in both lists, of `count` and at least 32 each, is lost. */
float pn_selectNumber(float *numbers, float *other, uint32_t count, uint32_t rank);

/* The shape of a finished tree: nodes in the order they were made, children contiguous. */
typedef struct pnBuildNode {
  uint32_t first, count; /* triangles: range of order */
  uint32_t childFirst;   /* 0: a leaf */
  uint32_t childCount;
} pnBuildNode;

/* Leaves that stay within an island of the mesh (build_bundle.c). */
typedef struct pnBundles {
  uint32_t triangleCount, islandCount, count; /* no islands: none are worth it */
  uint32_t *above;                            /* by triangle: another of its island, while islands are joined */
  uint32_t *islandFirst;                      /* islandCount + 1: where each begins in the builder's order */
  uint32_t *first; /* count + 1: the same of bundles; begins the block of this and of `over` */
  pnBuilder over;  /* bundles as if they were triangles */
  char *block;
  size_t bytes;
} pnBundles;

/* The steps, in this order. Looks whether islands seem many and small; then `above` is there, and they are to be joined, all
 * triangles once, and to be sorted: the builder's order goes from island to island. False: out of memory; free in any case. */
bool pn_beginIslands(const pnBuilder *builder, pnBundles *out);
/* Is a mesh of small islands, by a few of its triangles? A mesh has some. False: out of memory. */
bool pn_seemInPieces(const pnMesh *mesh, bool *outPieces);
void pn_joinIslands(const pnBuilder *builder, pnBundles *bundles, uint32_t begin, uint32_t end);
bool pn_sortIslands(pnBuilder *builder, pnBundles *bundles);
/* When every island is in the order of a balanced tree: its leaves are bundles. When all of these have boxes, `over` is ready to be cut. */
bool pn_bindBundles(const pnBuilder *builder, pnBundles *bundles);
void pn_boundBundles(const pnBuilder *builder, pnBundles *bundles, uint32_t begin, uint32_t end);
/* From nodes over bundles to nodes over triangles, and the order of these. */
void pn_openBundles(pnBuilder *builder, pnBundles *bundles, pnBuildNode *nodes, size_t nodeCount);
void pn_freeBundles(pnBundles *bundles);

/* Everything pnCreateTree and pnTree_Rebuild need: order and nodes[0 ... nodeCount). Freed by the caller. */
typedef struct pnBuildResult {
  uint32_t *order;
  uint32_t triangleCount;
  pnBuildNode *nodes;
  size_t nodeCount, nodeCapacity;
} pnBuildResult;
/* Over the triangles of `mesh`, which are the pose's or, with pieces, one a piece. Every hub gets a subtree of its own. */
pnResult pn_buildShape(const pnTreePlan *def, const pnMesh *mesh, const pnPiece *pieces, const pnHubs *hubs,
                       pnBuildResult *out);
void pn_buildFree(pnBuildResult *result);

/* The same a little at a time, for trees that are built while frames go on (gradual.h). Work is in nanoseconds, as good as can be told
 * beforehand: what is done in a step does not depend on a clock. */
typedef enum pnProgress { PN_PROGRESS_MORE, PN_PROGRESS_DONE, PN_PROGRESS_FAILED } pnProgress;
typedef struct pnDivision pnDivision;
/* Quick: across the longest axes, with less than half of the work, for trees that are waited for. Null: out of memory, or a builder that cannot. */
pnDivision *pn_beginDivision(const pnTreePlan *def, bool quick);
pnProgress pn_stepDivision(pnDivision *division, int64_t *ioWork);
/* Frees it; a result that is done goes to *out, null: nowhere. */
void pn_endDivision(pnDivision *division, pnBuildResult *out);

/* The assembly of a shape whose def, mesh and rule are set from a division that is taken over; no pieces, not for self queries. */
typedef struct pnAssembly pnAssembly;
pnAssembly *pn_beginAssembly(pnShape *shape, pnBuildResult *given);
pnProgress pn_stepAssembly(pnAssembly *assembly, int64_t *ioWork);
void pn_endAssembly(pnAssembly *assembly);

/* The arrays that every shape has for its nodes and leaves, out of a block (pn_carve). */
void pn_carveNodes(pnShape *shape, char *base, size_t *ioAt, size_t inner, size_t leaves);

/* Builds everything of a shape whose def, mesh and rule are set, over def's pose; with pieces, mesh has their triangles. A
 * division that is given is taken instead of the builder's, and taken over. */
pnResult pn_assemble(pnShape *shape, const pnTreePlan *def, const pnPiece *pieces, pnBuildResult *given);

#endif
