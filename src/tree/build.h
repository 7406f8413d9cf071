/* build.h: how triangles are divided. A builder is one function that splits a range; the rest is shared. */
#ifndef PN_TREE_BUILD_H
#define PN_TREE_BUILD_H

#include "tree/tree.h"

/* What a splitter works on. `order` is the permutation of triangles being made. */
typedef struct pnBuilder {
  const pnMesh *mesh;
  uint32_t arity, leafSize;
  uint32_t *order;
  float *centres;     /* 3 a triangle: sum of the corners (3 times the midpoint), in the pose at build time */
  uint32_t *scratch;  /* triangleCount */
  uint32_t *mark;     /* triangleCount, for connectivity; PN_NONE outside a split */
} pnBuilder;

/* Permutes order[first ... first+count) into parts and writes their sizes, all at least 1, at most arity of them; at
 * least two parts. count > leafSize. */
typedef uint32_t pnSplitFcn(pnBuilder *builder, uint32_t first, uint32_t count, uint32_t depth, uint32_t outSizes[PN_LANES]);

pnSplitFcn pn_splitBalanced, pn_splitShapeCentre, pn_splitShapeMean, pn_splitLink;

/* Puts the `rank` smallest by centre along `axis` (ties by triangle number) first in order[first ... first+count). */
void pn_selectByCentre(pnBuilder *builder, uint32_t first, uint32_t count, uint32_t rank, uint32_t axis);
/* The axis along which the centres spread most. */
uint32_t pn_longestAxis(const pnBuilder *builder, uint32_t first, uint32_t count);

/* The shape of a finished tree: nodes in the order they were made, children contiguous. */
typedef struct pnBuildNode {
  uint32_t first, count;      /* triangles: range of order */
  uint32_t childFirst;        /* 0: a leaf */
  uint32_t childCount;
} pnBuildNode;

/* Everything pnCreateTree and pnTree_Rebuild need: order and nodes[0 ... nodeCount). Freed by the caller. */
typedef struct pnBuildResult {
  uint32_t *order;
  uint32_t triangleCount;
  pnBuildNode *nodes;
  size_t nodeCount, nodeCapacity;
} pnBuildResult;
pnResult pn_buildShape(const pnTreeDef *def, pnBuildResult *out);
void pn_buildFree(pnBuildResult *result);

#endif
