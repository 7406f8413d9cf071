/* pinch/tree.h: volumes over a pose, so that close triangles are found without looking at all of them.
 *
 * A tree is built once over a mesh and follows a pose from then on. There is no refit to forget: every query looks
 * at the pose's frame number and brings the tree up to date by the tree's update rule. pnTree_Update does the same
 * thing by hand, for those who want it at a chosen time or on several threads.
 *
 * The settings change the time a query takes and never its answer. A query changes its tree: one thread at a time for each.
 */
#ifndef PINCH_TREE_H
#define PINCH_TREE_H

#include "pinch/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pnTree pnTree;
/* What never changes of a tree; made once for any number of trees and bodies. See below. */
typedef struct pnShape pnShape;

/* How the volumes follow the pose. */
typedef enum pnUpdate {
  PN_UPDATE_DEFAULT,   /* hybrid for free poses, blended for morph targets, carried for joints */
  PN_UPDATE_BOTTOM_UP, /* every leaf, merged to the root */
  PN_UPDATE_TOP_DOWN,  /* a node from its own vertices, when a query reaches it */
  PN_UPDATE_HYBRID,    /* [Larsson01] the upper nodes bottom-up, the lower ones when reached */
  PN_UPDATE_BERGEN,    /* [Bergen97] boxes in model space, all updated bottom-up, tested under rotation (SAT-lite) */
  PN_UPDATE_RIGID,     /* volumes of the source shape, moved by the transform when reached */
  PN_UPDATE_BLENDED,   /* [Larsson03] volumes of the morph references, blended by the weights when reached */
  PN_UPDATE_BLENDED_MODEL, /* the same as the paper has it: blended boxes in model space, tested under rotation */
  PN_UPDATE_CARRIED,       /* [Mujika09] volumes carried by the joints when reached */
  PN_UPDATE_COUNT
} pnUpdate;

/* What becomes of triangles much larger than what meets them, such as walls. [Mujika, section 5] */
typedef enum pnBig {
  PN_BIG_WHOLE,   /* nothing (default) */
  PN_BIG_DIVIDED, /* sphere division: their volumes in pieces of one size */
  PN_BIG_CORNERS, /* corner-tree: pieces fine along the triangle's sides and coarse inside */
  PN_BIG_COUNT
} pnBig;

/* Settings that products leave alone; pinch/lab.h. */
struct pnTreeLab;

/* What a tree stands over, and its settings. */
typedef struct pnTreeDef {
  const pnPose *pose; /* must outlive the tree */
  pnUpdate update;    /* default PN_UPDATE_DEFAULT */
  bool self;          /* prepare for self-collision: default true; costs memory */
  /* Self-collision of morph deltas: at the first self query, work out for patches of the mesh how far weights may go before
   * they could meet themselves. While they do not, a self query looks at nothing and computes no vertex. Costs time once, which
   * a saved shape saves (docs/morph.md has figures), and memory (pnTree_GetByteCount). Boxes and k-DOPs. Default false. */
  bool calm;
  /* For bodies that do not move, without `self` and with the default update rule: volumes of big triangles in pieces, down
   * to sides of bigSide, at most 65536 pieces a triangle. The answers stay what they are. bigSide 0 (default):
   * automatic, the 80th part of the body's size. */
  pnBig big;
  float bigSide;
  /* A tree over the same mesh with the same settings, or null (default): what never changes is then shared with it instead
   * of built once more. A crowd of one character costs its memory once and finds it in cache. The other tree may be
   * destroyed before this one. Ignored where it does not fit: another mesh, skin or setting, pieces of big triangles. */
  const pnTree *twin;
  /* Make the tree from this shape, or null (default): build one. The settings above, and all of `lab` but noStamps, are then the
   * shape's, and those here are ignored. The tree holds the shape as long as it needs it. PN_ERROR_KIND when the pose has another
   * mesh, morph or skin. */
  const pnShape *shape;
  pnTasks tasks; /* who helps to build; default: nobody. The tree is the same with any number of workers */
  const struct pnTreeLab *lab; /* null (default) in products: pinch/lab.h */
  uint32_t cookie;             /* PN_COOKIE, by pnDefaultTreeDef() */
} pnTreeDef;

PN_API pnTreeDef pnDefaultTreeDef(void);

/* Cost: O(n log n). The tree is built over the pose as it is now. */
PN_API pnResult pnCreateTree(const pnTreeDef *def, pnTree **outTree);
PN_API void pnDestroyTree(pnTree *tree);

/* Bring the tree to its pose's frame now instead of at the next query. Cheap when nothing has changed.
 * PN_ERROR_NUMBER when an affine joint or transform overflowed into infinity. tasks may be null. */
PN_API pnResult pnTree_Update(pnTree *tree, const pnTasks *tasks);

/* Build again over the current pose, with the same settings: after large deformations. */
PN_API pnResult pnTree_Rebuild(pnTree *tree);

/* How much worse the tree is than when it was built: the summed surface of the volumes a query would see at the
 * upper nodes, divided by the surface of the whole, relative to the same figure at build time. 1 is as new; 2 makes
 * queries roughly twice as dear. Of a body of which a little is far away: against most of it, relative to the first frame in which
 * it was so. Cost: O(nodes above the cut), no vertices. */
PN_API float pnTree_GetQuality(const pnTree *tree);

/* The box of everything, at the frame the tree was last brought to. Empty for an empty mesh. */
PN_API pnBox pnTree_GetBox(const pnTree *tree);
PN_API const pnPose *pnTree_GetPose(const pnTree *tree);
PN_API pnTreeDef pnTree_GetDef(const pnTree *tree); /* lab is null: pnTree_GetLab of pinch/lab.h has those */
PN_API uint32_t pnTree_GetNodeCount(const pnTree *tree);
PN_API uint32_t pnTree_GetHeight(const pnTree *tree);
/* Bytes the tree holds, without mesh and pose. What twins share counts for each of them. */
PN_API size_t pnTree_GetByteCount(const pnTree *tree);

/* Checks the invariants of tree.h one by one against the pose, every node and vertex. For tests and doubts: slow.
 * PN_ERROR_ARGUMENT and a message naming the invariant and the node. */
PN_API pnResult pnTree_Validate(pnTree *tree);

/* The boxes of a level (0 = root), for drawing. Writes at most capacity and returns how many there are. */
PN_API uint32_t pnTree_GetLevelBoxes(pnTree *tree, uint32_t level, pnBox *outBoxes, uint32_t capacity);

/* ---------------------------------------------------------------- shapes
 *
 * A shape is what a tree has that no frame changes: which triangles stand where, what they share, and what the update rule and
 * self queries work out of mesh, targets and joints. Make it once and give it to any number of trees (pnTreeDef.shape) and
 * bodies (pnBodyDef.shape): each costs its volumes and positions only. pinch/collide.h saves and loads shapes.
 *
 * A shape is const and may be read from any thread. It counts its holders: who creates, loads or retains one releases it once;
 * trees and bodies hold theirs by themselves. */

/* What a shape is made of. */
typedef struct pnShapeDef {
  const pnMesh *mesh;   /* must outlive the shape, as the others */
  const pnMorph *morph; /* null (default): none */
  const pnSkin *skin;   /* null (default): none */
  pnTreeDef tree;       /* settings; its pose, twin and shape are ignored. For rigid bodies choose PN_UPDATE_RIGID */
  uint32_t cookie;      /* PN_COOKIE, by pnDefaultShapeDef() */
} pnShapeDef;

PN_API pnShapeDef pnDefaultShapeDef(void);

/* Builds a shape over the rest pose. Cost: O(n log n). Errors: those of pnCreateTree. */
PN_API pnResult pnCreateShape(const pnShapeDef *def, const pnShape **outShape);
/* One holder more; returns the shape. */
PN_API const pnShape *pnShape_Retain(const pnShape *shape);
/* One holder less; the last one frees it. Null is allowed. */
PN_API void pnShape_Release(const pnShape *shape);

/* What it was made of; morph and skin may be null. */
PN_API const pnMesh *pnShape_GetMesh(const pnShape *shape);
PN_API const pnMorph *pnShape_GetMorph(const pnShape *shape);
PN_API const pnSkin *pnShape_GetSkin(const pnShape *shape);
/* Its settings, with what was left open decided; no pose, and no lab (pnShape_GetLab of pinch/lab.h). */
PN_API pnTreeDef pnShape_GetDef(const pnShape *shape);
PN_API uint32_t pnShape_GetNodeCount(const pnShape *shape);
PN_API uint32_t pnShape_GetHeight(const pnShape *shape);
/* Bytes it holds; they grow when a first self query works something out. */
PN_API size_t pnShape_GetByteCount(const pnShape *shape);
/* The shape of a tree, the tree's to hold; null for a tree over a soup, whose shape is made anew in every update. */
PN_API const pnShape *pnTree_GetShape(const pnTree *tree);

/* ---------------------------------------------------------------- trees over soups */

/* A tree over a soup. */
typedef struct pnBucketDef {
  const pnSoup *soup;          /* must outlive the tree */
  const struct pnTreeLab *lab; /* null (default) in products: pinch/lab.h */
  uint32_t cookie;             /* PN_COOKIE, by pnDefaultBucketDef() */
} pnBucketDef;

PN_API pnBucketDef pnDefaultBucketDef(void);

/* A tree that takes what a soup is *now* at every update: primitives may come, go and move at will. All queries and getters
 * of trees work on it, with places of the soup for triangle numbers; self queries allow the filters triangleGroup and, by names, ring 1.
 * An update costs O(n), whatever changed, and is made by the next query when the soup has changed. pnTree_Rebuild has nothing to do.
 * In a world a body of kind PN_BODY_SOUP makes its own; as a staticTree worlds that take turns may share one, and update it. */
PN_API pnResult pnCreateBucketTree(const pnBucketDef *def, pnTree **outTree);

#ifdef __cplusplus
}
#endif

#endif
