/* tree.h: the node layout and the invariants, in words first.
 *
 * A tree over a mesh of n triangles has *inner nodes* and *leaves*. A leaf holds 1 to 8 triangles, an inner node 1 to 8
 * children. Nodes are numbered 0 ... nodeCount-1: the inner nodes first, breadth-first, so that the children of a node
 * are neighbours in the numbering; then the leaves in *tree order*, which is the order of a depth-first walk. A node
 * number >= innerCount is a leaf, leaf i is node innerCount + i, and the triangles below any node are those of
 * a range of leaves. A tree of one leaf has no inner node; an empty mesh has no node at all.
 *
 * A node stores the volumes of its *children* (of its triangles, for a leaf) side by side, one a SIMD lane, so that one
 * volume is tested against all of them at once. The volume of a node itself is a lane of its parent; the root's is
 * lane 0 of an extra node, number nodeCount.
 *
 * Boxes and k-DOPs are stored as 16-bit integers. A number x becomes floor(x * 2^k) - offset, saturated: a monotone
 * map, so intervals that overlap before still overlap after, without rounding anything outward. The grid (k, offset)
 * is the tree's own and is chosen anew at every update from the box of the whole, which spans 2^13 to 2^14 cells. Two
 * grids differ by a shift and a sum, which are applied while loading a node (collide/traverse.c).
 *
 * A leaf also has its *block*: the positions of its distinct vertices, four floats each, filled from the pose
 * when a query first reaches the leaf in a frame. The exact tests ask for corners of triangles only, which are places in the
 * blocks, so that free, morphing and skinned bodies look the same from here on. A pose whose vertices are what they
 * are, without targets, joints or a transform, is read *in place*: nothing is copied, and corners are places in its array.
 * Self queries go from vertex to vertex and always have blocks.
 *
 * Lazy nodes. Node i is *fresh* when stamp[i] equals the tree's stamp. pn_freshen makes it so: one thread claims it,
 * the others wait for it. Volumes of a fresh node may be read by everybody.
 *
 * Invariants (pnTree_Validate checks them by number):
 *  T1  every triangle of the mesh stands in exactly one leaf, exactly once.
 *  T2  the children of a node are all inner nodes or all leaves, contiguous in number, after their parent; 1 to arity of
 *      them; a leaf has 1 to leafSize triangles.
 *  T3  parent[child] = node * 8 + lane for the lane-th child of node; parent[root] = nodeCount * 8.
 *  T4  the leaves below a node are the range [leafFirst, leafEnd), the ranges of its children partition it in order.
 *  T5  a leaf's vertex list holds each vertex of its triangles once; corners point at the right ones.
 *  T6  a cluster is a maximal node of at most `cut` triangles, and its vertex list holds each of its vertices once, the last
 *      as often as makes the list a multiple of PN_CLUSTER_STEP long; likewise twigs, the inner nodes above leaves.
 *  T7  in a fresh node, the volume in a lane contains every vertex below that child, as the pose computes it.
 *  T8  the tree's box contains every vertex.
 * Trees with big triangles in pieces (corner.h) have T1 with "at least once" and T7 for pieces; trees of representative
 * triangles have T1 with "at most once". */
#ifndef PN_TREE_TREE_H
#define PN_TREE_TREE_H

#include "base/memory.h"
#include "base/thread.h"
#include "geom/simd.h"
#include "geom/slab.h"
#include "mesh/pose.h"
#include "pinch/tree.h"

#define PN_LANES 8u
#define PN_NODE_BIGS 4u
#define PN_CLUSTER_STEP 4u
#define PN_STAMP_BUSY 0xffffffffu /* being filled by some thread */

/* floor(x * scale[d]) - offset[d] along direction d; scale[d] = 2^(exponent - drop), where drop is 0 for the axes and 2
 * for the other directions, whose sums reach three times as far. */
typedef struct pnGrid {
  int32_t exponent;
  float scale[PN_MAX_SLABS];
  int32_t offset[PN_MAX_SLABS];
} pnGrid;

/* The volumes of the children of a node, in one of three forms. */
typedef struct pnBoxLanes { /* slabs: D rows of lo, hi; boxes are D = 3 */
  int16_t row[3][2][PN_LANES];
} pnBoxLanes;
typedef struct pnSphereLanes {
  float centre[3][PN_LANES], radius[PN_LANES];
} pnSphereLanes;
typedef struct pnModelLanes { /* float slabs in model space, for rules that carry volumes along; D rows of lo, hi */
  float row[3][2][PN_LANES];
} pnModelLanes;

/* One child of one leaf that shares a vertex with triangles of another (or the same) leaf, for self queries. */
typedef struct pnLeafLink {
  uint32_t leaf;         /* the other leaf, >= this one */
  uint8_t row[PN_LANES]; /* row[i]: lanes of the other that share a welded vertex with triangle i of this one */
} pnLeafLink;

typedef struct pnTree pnTree;
struct pnUpdateRule;
typedef struct pnPiece pnPiece; /* of a big triangle: corner.h */

struct pnTree {
  pnTreeDef def;
  const pnPose *pose;
  const pnMesh *mesh;
  const struct pnUpdateRule *rule;
  const pnSlabSet *slabs; /* null for spheres */
  char *shape;            /* what never changes, one block, shared by twins (pn_share); null: it is in `memory` */
  char *memory;           /* one block for the rest; everything below points into one of the two */
  size_t memoryBytes;
  uint64_t builtFrame; /* of the pose, that the shape was built over */

  /* nodes */
  uint32_t innerCount, leafCount, nodeCount, height;
  uint32_t *first;     /* inner: number of the first child */
  uint8_t *count;      /* children or triangles */
  uint32_t *parent;    /* T3 */
  uint32_t *leafFirst; /* inner: T4 */
  uint32_t *leafEnd;
  uint32_t *below; /* triangles below, every node */
  _Atomic uint32_t *stamp;
  char *lanes; /* nodeCount + 1 nodes of laneBytes */
  size_t laneBytes;

  /* leaves */
  uint32_t *leafTriangles;   /* 8 a leaf: mesh triangle of lane j, PN_NONE past the count */
  uint32_t *blockCorners;    /* 24 a leaf, 3 a triangle: where its corners are in leafPositions, in bytes */
  uint32_t *sourceCorners;   /* and where in the pose's own vertices; null where these are never read in place */
  uint32_t *leafVertexFirst; /* leafCount + 1 */
  uint32_t *leafVertices;    /* three times the mesh vertex (its place in an array of floats), leaf after leaf */
  float *leafPositions;      /* the blocks: 4 floats a listed vertex */
  pnPiece *slotPieces;       /* big triangles in pieces: 8 a leaf, a memory of its own; else null */
  uint32_t *nodeBigs; /* with them: PN_NODE_BIGS a node, the big triangles below it; the first PN_NONE: others too */
  struct pnBigPlane
      *bigPlanes;         /* with them: of the triangles in nodeBigs, which are places in this list, in this frame */
  uint32_t *bigTriangles; /* with them: which triangles these are */
  uint32_t bigCount;

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

  /* rules that carry volumes: float lanes in model space, one set a reference */
  char *model;
  size_t modelBytes;   /* of one node and reference */
  uint32_t modelCount; /* references */
  void *ruleData;      /* what else a rule keeps; freed with the tree */
  size_t ruleBytes;
  size_t sharedBytes; /* of it that twins share, beside ruleBytes */

  /* pairs that meet in the rest pose, found by collide/filter.c when a query first asks to leave them out */
  uint64_t *restKeys;
  size_t restCount;
  bool hasRest;

  /* patches that weights prove not to meet themselves, found by collide/calm_make.c when a self query first asks */
  void *calm;
  size_t calmBytes;

  /* triangles around each vertex in order, found by collide/fan_make.c when a self query first looks at neighbours */
  void *fans;
  size_t fansBytes;

  /* regions that are seen flat cannot meet themselves: collide/flat_make.c, likewise */
  void *flat;
  size_t flatBytes;

  /* the frame */
  uint64_t poseFrame;     /* of the pose, that the tree was brought to; 0: never */
  const char *cornerBase; /* leafPositions or the pose's own vertices, and blockCorners or sourceCorners */
  const uint32_t *corners;
  uint64_t shapeFrame; /* of the pose, that `model` was computed from */
  uint32_t now;        /* the tree's stamp */
  pnGrid grid;
  pnBox box;
  float builtSurface;    /* relative surface at build time, for the quality */
  uint64_t eagerUpdated; /* nodes computed by updates since a query last took the count */
};

PN_INLINE bool pn_isLeaf(const pnTree *tree, uint32_t node) {
  return node >= tree->innerCount;
}
/* Corners are found in bytes because that is what a processor adds, 24 times for four pairs of triangles; 32 bits are enough
 * for PN_MAX_CORNERS vertices in the lists of a tree. */
#define PN_PLACE_BYTES 16u
#define PN_MAX_CORNERS (UINT32_MAX / PN_PLACE_BYTES)

/* The three corners of the triangle in a slot (leaf * 8 + lane). Four floats may be read of each; three count. */
PN_INLINE void pn_slotCorners(const pnTree *tree, uint32_t slot, const float *out[3]) {
  const uint32_t *corner = tree->corners + 3 * (size_t)slot;
  for (int k = 0; k < 3; k++) {
    out[k] = (const float *)(const void *)(tree->cornerBase + corner[k]);
  }
}
PN_INLINE bool pn_isInPlace(const pnTree *tree) {
  return tree->corners == tree->sourceCorners;
}
PN_INLINE void *pn_lanesOf(const pnTree *tree, uint32_t node) {
  return tree->lanes + (size_t)node * tree->laneBytes;
}
PN_INLINE pnModelLanes *pn_modelOf(const pnTree *tree, uint32_t reference, uint32_t node) {
  return (pnModelLanes *)(tree->model + ((size_t)reference * (tree->nodeCount + 1) + node) * tree->modelBytes);
}

#endif
