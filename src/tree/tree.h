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
 * is the tree's own and is chosen anew at every update from the box of the whole, or of most of it (bulk.h), which spans 2^13 to 2^14 cells. Two
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
 *  T5  a leaf's vertex list holds each vertex of its triangles once; corners point at the right ones. Leaves of a soup have no list:
 *      their places ascend.
 *  T6  a cluster is a maximal node of at most `cut` triangles, and its vertex list holds each of its vertices once, the last
 *      as often as makes the list a multiple of PN_CLUSTER_STEP long; likewise twigs, the inner nodes above leaves.
 *  T7  in a fresh node, the volume in a lane contains every vertex below that child, as the pose computes it.
 *  T8  the tree's box contains every vertex.
 * Trees with big triangles in pieces (corner.h) have T1 with "at least once" and T7 for pieces; trees of representative
 * triangles have T1 with "at most once". */
#ifndef PN_TREE_TREE_H
#define PN_TREE_TREE_H

#include "base/stamp.h"
#include "geom/simd_short.h"
#include "geom/slab.h"
#include "tree/bulk.h"
#include "tree/shape.h"

/* floor(x * lift * scale[d]) - offset[d] along direction d, for x between -most and most and saturated beyond; lift * scale[d] =
 * 2^(exponent - drop), where drop is 0 for the axes and 2 for the other directions, whose sums reach three times as far. lift is 1 but for bodies
 * so small that their scale would be no float; most is of no account but where a grid is clipped (bulk.h). */
typedef struct pnGrid {
  int32_t exponent;
  bool isPlain;   /* lift is 1, and nothing is beyond most */
  bool isClipped; /* it is over most of the body, and its ends stand for all of it that is beyond */
  float lift, most;
  double cell; /* the size of a cell along the axes: 2^-exponent */
  float scale[PN_MAX_SLABS];
  int32_t offset[PN_MAX_SLABS];
} pnGrid;

/* The size of a cell along direction d. */
PN_INLINE double pn_cellSize(const pnGrid *grid, uint32_t d) {
  return d < 3 ? grid->cell : 4 * grid->cell;
}

/* What is scaled instead of a coordinate where a grid is not plain: exact, or at an end of what there are cells for. */
PN_INLINE pnF4 pn_liftOnto(const pnGrid *grid, pnF4 x) {
  x = pn_f4Max(pn_f4Min(x, pn_f4Set1(grid->most)), pn_f4Set1(-grid->most));
  return pn_f4Mul(x, pn_f4Set1(grid->lift));
}

/* The cells of eight numbers. */
PN_INLINE pnH8 pn_cellsOf(const pnGrid *grid, uint32_t d, pnF4 a, pnF4 b) {
  if (PN_UNLIKELY(!grid->isPlain)) {
    a = pn_liftOnto(grid, a);
    b = pn_liftOnto(grid, b);
  }
  return pn_h8Quantise(a, b, grid->scale[d], grid->offset[d]);
}

/* The volumes of the children of a node, in one of three forms. */
typedef struct pnSlabLanes { /* slabs: D rows of lo, hi; a node has as many as its volumes have directions */
  int16_t row[PN_MAX_SLABS][2][PN_LANES];
} pnSlabLanes;
typedef struct pnBoxLanes { /* the same of boxes, D = 3 */
  int16_t row[3][2][PN_LANES];
} pnBoxLanes;
typedef struct pnSphereLanes {
  float centre[3][PN_LANES], radius[PN_LANES];
} pnSphereLanes;
typedef struct pnModelSlabs { /* float slabs in model space, for rules that carry volumes along; D rows of lo, hi */
  float row[PN_MAX_SLABS][2][PN_LANES];
} pnModelSlabs;
typedef struct pnModelLanes { /* the same of boxes, D = 3 */
  float row[3][2][PN_LANES];
} pnModelLanes;

struct pnUpdateRule;
struct pnFormRow;

/* A shape in this frame. */
struct pnTree {
  /* what is asked of every tree of a crowd, side by side */
  const pnShape *shape; /* what never changes, shared by twins */
  pnBox box;
  const pnPose *pose;
  uint64_t poseFrame;      /* of it, that the tree was brought to; 0: never */
  const char *cornerBase;  /* leafPositions (null: not yet, see pn_openLeaves), or vertices that lie ready, */
  const uint32_t *corners; /* and blockCorners or sourceCorners */
  const pnMesh *mesh;      /* the shape's, at hand, and its rule */
  const struct pnUpdateRule *rule;
  const struct pnFormRow *form; /* what stands around a node: form.h */
  const pnSlabSet *slabs;       /* the form's, at hand; null: it is no intervals */
  uint32_t now;                 /* the tree's stamp */
  bool isMoved;                 /* in this frame, by its rule: pn_isMoved */
  bool isFocused; /* its grid is where another body is, and nobody asks for what is beyond: world/focus.h */
  _Atomic bool wantsSlants, wantsTilts;
  _Atomic uint64_t
      eagerUpdated; /* nodes computed by updates since a query last took the count. Worlds that share a tree take turns, and
                                    the first to ask gets it */

  /* nodes and leaves */
  char *memory; /* one block for what every frame writes */
  size_t memoryBytes;
  _Atomic uint32_t *stamp;
  char *lanes; /* nodeCount + 1 nodes of laneBytes */
  size_t laneBytes;
  float *leafPositions; /* the blocks: 4 floats a listed vertex, from when a query is near */
  size_t blockBytes;    /* its size; 0 for a soup's, which is always read in place */
  float *moved;         /* of a tree that is or was moved (moved.h): all vertices, 3 floats each, and one more */
  size_t movedBytes;
  struct pnBigPlane *bigPlanes; /* of the shape's big triangles */

  void *ruleData; /* what the rule keeps; freed with the tree */
  size_t ruleBytes;

  /* what proofs about self-collision say in this frame; allocated when a self query first asks */
  uint32_t proofsAsked, proofsThere; /* bits: rows that were prepared, and of those that have something to say */
  struct pnCalmFrame *calm;          /* collide/calm.h */
  size_t calmBytes;
  struct pnFlatFrame *flat; /* collide/flat.h */
  size_t flatBytes;

  /* allocated when they first pay */
  pnRecords *slants; /* tight slabs of leaves: collide/slant.h */
  pnRecords *tilts;  /* boxes that lie as nodes do: collide/tilt.h */

  /* the frame */
  uint64_t shapeFrame; /* of the pose, that volumes in model space were computed from */
  uint64_t serial;     /* no other tree has had it; with the stamp it says that nothing has changed. 0: who knows */
  pnGrid grid;
  pnBulk bulk;        /* where the grid is, if it is clipped */
  pnFocusDef focus;   /* where the grid is, if isFocused */
  float builtSurface; /* relative surface at build time, for the quality */
  pnTreePlan def;
};

/* pnCreateTree, its definition taken apart. */
pnResult pn_createTree(const pnTreePlan *plan, pnTree **outTree);
/* The two halves of pnTree_Update: the volumes follow the pose; and room for the positions of leaves, without which no leaf may be
 * filled. Bodies with nothing near them do without the second. */
pnResult pn_followPose(pnTree *tree, const pnTasks *tasks);
/* Does a tree stand where its pose is, so that there is nothing to follow? */
PN_INLINE bool pn_isThere(const pnTree *tree) {
  return tree->poseFrame == tree->pose->frame;
}
/* pnTree_Update of a tree that is made to see a part of a body finely (pnTreePlan.focus), by the tree over the whole, which is there. */
pnResult pn_followFocus(pnTree *focus, const pnTree *whole, const pnTasks *tasks);
/* pn_followPose in parts, by a caller who has several trees and lets all workers do all of their parts in one loop. How many there are; 0:
 * it follows as a whole. Then each of them once, by anybody, and when all are done the end, by one. */
pnResult pn_beginParts(pnTree *tree, const pnTasks *tasks, uint32_t *outParts);
void pn_followPart(const pnTree *tree, uint32_t part);
pnResult pn_endParts(pnTree *tree);
pnResult pn_openLeaves(pnTree *tree);
/* Is there nothing left of that to do? */
PN_INLINE bool pn_areLeavesOpen(const pnTree *tree) {
  return tree->cornerBase != NULL;
}
/* pnTree_Rebuild, on these tasks. */
pnResult pn_rebuildTree(pnTree *tree, const pnTasks *tasks);
/* Was it built over vertices that say nothing of what lies beside what, all in one place, say, or anywhere? */
bool pn_isBuiltBlindly(const pnTree *tree);
/* What one is the other becomes: who points at a tree sees a new one. */
void pn_exchangeTrees(pnTree *a, pnTree *b);
/* Frees slants and tilts. */
void pn_dropRecords(pnTree *tree);
/* bucket.c: the laboratory settings of a tree over a soup. */
pnTreeLab pn_bucketLab(const pnTree *tree);

PN_INLINE bool pn_isLeaf(const pnTree *tree, uint32_t node) {
  return pn_isShapeLeaf(tree->shape, node);
}
/* Corners are found in bytes because that is what a processor adds, 24 times for four pairs of triangles; 32 bits are enough
 * for PN_MAX_CORNERS vertices in the lists of a tree. */
#define PN_PLACE_BYTES 16u
#define PN_MAX_CORNERS (UINT32_MAX / PN_PLACE_BYTES)

/* The three corners of the triangle in a slot (leaf * 8 + lane). Four floats may be read of each; three count. */
PN_INLINE void pn_slotCorners(const pnTree *tree, uint32_t slot, const float *out[3]) {
  const uint32_t *corner = tree->corners + 3 * (size_t)slot;
  for (int k = 0; k < 3; ++k) out[k] = (const float *)(const void *)(tree->cornerBase + corner[k]);
}
PN_INLINE bool pn_isInPlace(const pnTree *tree) {
  return tree->corners == tree->shape->sourceCorners;
}
/* Small, with vertices that can be read where they are? */
PN_INLINE bool pn_isSmall(const pnTree *tree) {
  return tree->shape->small && pn_isInPlace(tree);
}
PN_INLINE void *pn_lanesOf(const pnTree *tree, uint32_t node) {
  return tree->lanes + (size_t)node * tree->laneBytes;
}

/* All bits of the lanes that do not end where 16 bits do, which stands for all that is beyond. Those of nobody do not. */
PN_INLINE pnH8 pn_boundedLanes(const pnBoxLanes *b) {
  pnH8 bounded = pn_h8Set1(-1), most = pn_h8Set1(INT16_MAX - 1), least = pn_h8Set1(INT16_MIN + 1);
  for (int k = 0; k < 3; ++k) {
    bounded = pn_h8And(bounded, pn_h8LessEqual(least, pn_h8Load(b->row[k][0])));
    bounded = pn_h8And(bounded, pn_h8LessEqual(pn_h8Load(b->row[k][1]), most));
  }
  return bounded;
}

/* The nodes that updates have computed since the last call. Mostly none: to exchange takes as long as all else that a frame does to a small body. */
PN_INLINE uint64_t pn_takeUpdated(pnTree *tree) {
  if (atomic_load_explicit(&tree->eagerUpdated, memory_order_relaxed) == 0) return 0;
  return atomic_exchange_explicit(&tree->eagerUpdated, 0, memory_order_relaxed);
}

#endif
