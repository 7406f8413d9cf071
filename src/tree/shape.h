/* shape.h: what never changes of a tree: which triangles stand where, in which order, and what they share.
 *
 * A shape depends on a mesh (with its morph targets or joints), on the settings and on the pose it was built over, and on
 * nothing that moves afterwards. It is made once, read by any number of threads, and shared by all trees of a crowd (twins);
 * each holds it, and the last one frees it. What every frame writes (volumes, stamps, positions) is the tree's own: tree.h,
 * which also has the layout and the invariants in words.
 *
 * The tree over a soup makes its nodes anew in every update. It has a shape too, which nobody else may hold (bucket.c). */
#ifndef PN_TREE_SHAPE_H
#define PN_TREE_SHAPE_H

#include "base/memory.h"
#include "base/thread.h"
#include "mesh/pose.h"
#include "pinch/lab.h"
#include "pinch/tree.h"

#define PN_LANES 8u
#define PN_NODE_BIGS 4u
#define PN_CLUSTER_STEP 4u

/* One child of one leaf that shares a vertex with triangles of another (or the same) leaf, for self queries. */
typedef struct pnLeafLink {
  uint32_t leaf;         /* the other leaf, >= this one */
  uint8_t row[PN_LANES]; /* row[i]: lanes of the other that share a welded vertex with triangle i of this one */
} pnLeafLink;

/* The triangles of a small mesh by their numbers, for queries that look at all of them together (collide/small.h). */
#define PN_SMALL_VERTICES 64u
#define PN_SMALL_TRIANGLES 128u
typedef struct pnSmall {
  uint8_t corner[3][PN_SMALL_TRIANGLES]; /* first, second and third corners */
  uint32_t slot[PN_SMALL_TRIANGLES];
} pnSmall;

typedef struct pnPiece pnPiece; /* of a big triangle: corner.h */

/* What rules and proofs work out of a shape, once for all its trees. */
typedef enum pnShapePart {
  PN_PART_RULE, /* constants of the update rule: update_rigid.c, blend.h, skin_bound.h */
  PN_PART_REST, /* pairs that meet in the rest pose: collide/filter.h */
  PN_PART_CALM, /* patches that weights prove not to meet themselves: collide/calm.h */
  PN_PART_FANS, /* triangles around each vertex in order: collide/fan.h */
  PN_PART_FLAT, /* regions that cannot meet themselves while they are seen flat: collide/flat.h */
  PN_PART_COUNT
} pnShapePart;

/* Where the grid of a tree is fine, and how fine: cells of 2^-exponent around `middle` (world/focus.h). */
typedef struct pnFocusDef {
  int32_t exponent;
  float middle[3];
} pnFocusDef;

/* The settings of a tree in one: those of the door (pnTreeDef) and those of the laboratory (pnTreeLab), which say what they are. */
typedef struct pnTreePlan {
  const pnPose *pose;
  pnBuild build;
  pnForm form;
  pnUpdate update;
  uint32_t arity, leafSize, cut, extraReferences;
  bool calm, self, noStamps, representative;
  pnBig big;
  float bigSide;
  const pnTree *twin;
  const pnShape *shape;
  const pnFocusDef *focus; /* null: its grid is over the whole. Only boxes; not kept */
  bool later; /* where the shape is there and knows how it is at rest: the first update makes the frame (worlds) */
  const pnTasks *tasks; /* who helps to build; null: nobody. Not kept */
} pnTreePlan;

struct pnShape {
  struct pnShapeKeeper *keeper; /* users, and parts that are made when first asked for; the rest is const */
  pnTreePlan def;               /* the settings, defaults resolved; no pose and no twin */
  const pnMesh *mesh;           /* whose triangles these are; likewise the motion, targets and joints that move them */
  const pnMotionRow *motion;
  const pnMorph *morph;
  const pnSkin *skin;
  const struct pnUpdateRule *rule;
  char *memory; /* one block; what is below points into it. A soup's: into its tree's */
  size_t memoryBytes;
  uint64_t builtFrame; /* of the pose, that it was built over */

  /* nodes */
  uint32_t innerCount, leafCount, nodeCount, height;
  uint32_t *first;     /* inner: number of the first child */
  uint8_t *count;      /* children or triangles */
  uint32_t *parent;    /* T3 */
  uint32_t *leafFirst; /* inner: T4 */
  uint32_t *leafEnd;
  uint32_t *below; /* triangles below, every node */

  /* leaves */
  uint32_t *leafTriangles;   /* 8 a leaf: mesh triangle of lane j, PN_NONE past the count */
  uint32_t *blockCorners;    /* 24 a leaf, 3 a triangle: where its corners are in leafPositions, in bytes */
  uint32_t *sourceCorners;   /* and where in the pose's own vertices; null where these are never read in place */
  uint32_t *leafVertexFirst; /* leafCount + 1 */
  uint32_t *leafVertices;    /* three times the mesh vertex (its place in an array of floats), leaf after leaf */

  struct pnSmall *small; /* of a small mesh that is read in place; else null */

  /* the eager part: nodes with more than `cut` triangles (children before parents) and the clusters below them */
  uint32_t eagerCount, clusterCount;
  uint32_t *eagerNodes;
  uint32_t *clusterNode;
  uint32_t *clusterVertexFirst; /* clusterCount + 1 */
  uint32_t *clusterVertices;    /* as leafVertices */

  /* lists of the same form for twigs, inner nodes above leaves, when clusters are larger; else null */
  uint32_t *twigFirst; /* innerCount + 1 */
  uint32_t *twigVertices;

  /* self-collision */
  uint32_t *linkFirst; /* leafCount + 1 */
  pnLeafLink *links;
  uint32_t hubCount; /* hubs with a subtree (hub.h), and the inner nodes at their tops, ascending */
  uint32_t *hubRoots;

  /* big triangles in pieces (corner.h), one block that begins with slotPieces; else null */
  pnPiece *slotPieces;    /* 8 a leaf */
  uint32_t *nodeBigs;     /* PN_NODE_BIGS a node, the big triangles below it; the first PN_NONE: others too */
  uint32_t *bigTriangles; /* which triangles these are: nodeBigs are places in this list */
  uint32_t bigCount;
};

/* What a definition and its laboratory settings say; nothing is checked. The other way for getters. */
pnTreePlan pn_planOf(const pnTreeDef *def);
pnTreeDef pn_defOf(const pnTreePlan *plan);
pnTreeLab pn_labOf(const pnTreePlan *plan);
/* Checks a definition and decides what it leaves open: `cut`, and which rule it is. */
pnResult pn_resolveDef(const pnTreePlan *def, pnTreePlan *out, const struct pnUpdateRule **outRule);
/* A new shape, built over the pose of a resolved definition, or with a division that is given and taken over (build.h); it has
 * one user. */
struct pnBuildResult;
pnResult pn_createShape(const pnTreePlan *def, const struct pnUpdateRule *rule, struct pnBuildResult *given,
                        pnShape **outShape);
/* An empty one with one user; null: out of memory. */
pnShape *pn_allocShape(void);
/* The same with its definition, mesh and rule: what pn_assemble wants. */
pnShape *pn_beginShape(const pnTreePlan *def, const struct pnUpdateRule *rule);
/* One user more. */
const pnShape *pn_retainShape(const pnShape *shape);
/* One less; the last one frees it. Null is allowed. */
void pn_releaseShape(const pnShape *shape);
size_t pn_shapeBytes(const pnShape *shape); /* with its parts */
/* A part that was made; null: not yet, or there was nothing to keep. */
const void *pn_partOf(const pnShape *shape, pnShapePart part);
bool pn_isPartMade(const pnShape *shape, pnShapePart part);
/* Makes a part: one block of memory, const from then on; null and 0 when there is nothing to keep. */
typedef pnResult pnMakePartFcn(void *context, void **outData, size_t *outBytes);
/* Makes a part unless it was made. Of several threads one makes it, and the others wait for that one; `make` may ask for parts
 * other than its own (REST does). When it fails, the next one tries again. */
pnResult pn_makePart(const pnShape *shape, pnShapePart part, pnMakePartFcn *make, void *context);

/* How trees of a shape are over a pose at rest, as the first of them has found it: what one that has no frame yet answers. */
typedef struct pnShapeRest {
  pnBox box;
  float surface; /* pnTree.builtSurface */
} pnShapeRest;
void pn_noteRest(const pnShape *shape, const pnShapeRest *rest);
/* False: nobody has noted it. */
bool pn_findRest(const pnShape *shape, pnShapeRest *out);

/* Would a definition with its defaults resolved, and its rule, make the same shape? */
bool pn_fitsShape(const pnShape *shape, const pnTreePlan *def, const struct pnUpdateRule *rule);

PN_INLINE bool pn_isShapeLeaf(const pnShape *shape, uint32_t node) {
  return node >= shape->innerCount;
}

/* Are all triangles below an inner node those of one hub? Then they are neighbours. True for the top of the subtree only. */
PN_INLINE bool pn_isHubRoot(const pnShape *shape, uint32_t node) {
  uint32_t lo = 0, hi = shape->hubCount;
  while (lo < hi) {
    uint32_t mid = (lo + hi) / 2;
    *(shape->hubRoots[mid] < node ? &lo : &hi) = shape->hubRoots[mid] < node ? mid + 1 : mid;
  }
  return lo < shape->hubCount && shape->hubRoots[lo] == node;
}

/* The leaves below a node. */
PN_INLINE void pn_shapeLeafRange(const pnShape *shape, uint32_t node, uint32_t *outFirst, uint32_t *outEnd) {
  bool leaf = pn_isShapeLeaf(shape, node);
  *outFirst = leaf ? node - shape->innerCount : shape->leafFirst[node];
  *outEnd = leaf ? *outFirst + 1 : shape->leafEnd[node];
}

#endif
