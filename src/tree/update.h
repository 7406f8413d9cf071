/* update.h: how the volumes of a tree follow its pose. One question, several answers: a family of files update_*.c with
 * one table (update.c), and the loops they share. */
#ifndef PN_TREE_UPDATE_H
#define PN_TREE_UPDATE_H

#include "base/task.h"
#include "tree/form.h"

/* When all vertices are computed in an update, so that they lie ready as those of a pose do that are set (moved.h). */
typedef enum pnMoves {
  PN_MOVES_NEVER,
  PN_MOVES_SMALL,  /* those of small bodies (collide/small.h): it takes less than opening one node */
  PN_MOVES_OFTEN,  /* also of those that queries open all over */
  PN_MOVES_ALWAYS, /* of all: the rule looks at every vertex anyhow */
} pnMoves;

/* A new rule is one file and one row. */
typedef struct pnUpdateRule {
  const char *name;
  /* Can it follow this pose with volumes of this form? Null: any, by looking at vertices. Rules that exploit a motion know it. */
  bool (*fits)(const pnPose *pose, const pnFormRow *form);
  uint32_t rank;    /* of those that fit, the one with the largest is the default; 0: never by itself */
  uint32_t cut;     /* pnTreeDef.cut of all its trees; 0: as the definition says */
  bool modelSpace;  /* volumes are float boxes in the source's space, tested under the transform (Bergen) */
  bool inPlace;     /* fills leaves by pn_fillLeaf alone, which need not copy vertices that lie ready */
  pnMoves moves;    /* volumes of moved bodies are filled by pn_fillFromVertices */
  bool fillsLeaves; /* in updates: their blocks must be there */
  bool seesAll;  /* updates look at every vertex, and at what their volumes tell about numbers (pnFormRow.keepsNan) */
  bool reshapes; /* makes the nodes anew in every update; an empty tree may get some (bucket.c) */
  pnResult (*prepare)(pnTree *tree);                      /* once, after the tree was built; null: nothing */
  pnResult (*update)(pnTree *tree, const pnTasks *tasks); /* the eager part of a frame */
  /* The same in parts, of which several workers may do one each at a time, and what comes after the last. Null: it has none. */
  uint32_t (*countParts)(const pnTree *tree);
  void (*boundPart)(const pnTree *tree, uint32_t part);
  pnResult (*endParts)(pnTree *tree);
  void (*fill)(pnTree *tree, uint32_t node); /* the lazy part: all lanes of one node */
  /* What the rule works out of a shape (PN_PART_RULE) as bytes: part_file.h. Null: it keeps nothing there. */
  const struct pnPartForm *(*constants)(const pnShape *shape);
  void (*release)(pnTree *tree); /* frees ruleData when it is more than one block; null: it is not */
} pnUpdateRule;

extern const pnUpdateRule pn_updateBottomUp, pn_updateTopDown, pn_updateHybrid, pn_updateBergen, pn_updateRigid,
    pn_updateBlended, pn_updateBlendedModel, pn_updateCarried, pn_updateDivided;

/* The rule of a definition, with the default resolved by who fits; null when it does not fit the pose. */
const pnUpdateRule *pn_chooseRule(const pnTreePlan *def);

/* Were all of its vertices computed in this frame? moved.h has the reasons. */
PN_INLINE bool pn_isMoved(const pnTree *tree) {
  return tree->isMoved;
}

/* The vertices where they lie ready, three floats each: the pose's own, or moved ones; null: they are computed when they are asked for. */
PN_INLINE const float *pn_readyVertices(const pnTree *tree) {
  if (pn_isPlain(tree->pose)) return tree->pose->source;
  return pn_isMoved(tree) ? tree->moved : NULL;
}

/* For rules that look at stored vertices. */
bool pn_fitsStored(const pnPose *pose, const pnFormRow *form);
/* For those that make volumes of targets: of poses that weights alone move. Slabs and balls are known to them. */
bool pn_fitsBlend(const pnPose *pose, const pnFormRow *form);

/* Memory a rule keeps with its tree (tree->ruleData); called by `prepare`. */
pnResult pn_allocRuleData(pnTree *tree, size_t size);

/* The same for rules whose constants are a part of the shape (PN_PART_RULE) that begins with a head: a copy of the head, with
 * zeroed memory behind it for what is the tree's own. */
pnResult pn_copyRuleHead(pnTree *tree, size_t headBytes, size_t ownCount, size_t ownBytes, void **outOwn);

/* ---------------------------------------------------------------- lazy nodes */

/* What a worker has filled. `alone`: no other thread is at work on these trees, claims are not needed. */
typedef struct pnFresh {
  uint64_t nodes, vertices;
  bool alone;
} pnFresh;

/* Fills a stale node: claims it or waits for the thread that has. Called by pn_freshen only. */
void pn_freshenSlow(pnTree *tree, uint32_t node, pnFresh *fresh);

/* Makes node's lanes valid for this frame. */
PN_INLINE void pn_freshen(pnTree *tree, uint32_t node, pnFresh *fresh) {
  if (PN_UNLIKELY(atomic_load_explicit(&tree->stamp[node], memory_order_acquire) != tree->now))
    pn_freshenSlow(tree, node, fresh);
}

/* The same for many, of which some may be fresh and some listed twice. The list comes back in another order. */
void pn_freshenMany(pnTree *tree, uint32_t *nodes, uint32_t count, pnFresh *fresh);

/* ---------------------------------------------------------------- volumes of vertices */

/* The leaves below a node. */
PN_INLINE void pn_leafRange(const pnTree *tree, uint32_t node, uint32_t *outFirst, uint32_t *outEnd) {
  pn_shapeLeafRange(tree->shape, node, outFirst, outEnd);
}

/* Has the node a list of its own? */
PN_INLINE bool pn_isTwig(const pnTree *tree, uint32_t node) {
  return tree->shape->twigFirst && !pn_isLeaf(tree, node) &&
         tree->shape->twigFirst[node + 1] > tree->shape->twigFirst[node];
}

/* The vertices below a node as one range of a list (with repeats where leaves or clusters meet). */
const uint32_t *pn_verticesBelow(const pnTree *tree, uint32_t node, uint32_t *outCount);

/* Vertices fetched at a time, by those that look through longer lists. */
#define PN_FETCH_CHUNK 64u

/* World positions of listed vertices (three times their number, as lists hold them), four floats apart. */
void pn_fetchListed(const pnPose *pose, const uint32_t *listed, uint32_t count, float *out);

/* World boxes of lanes [begin, end) of a node, in every form. Not finite: it says nothing there. */
PN_INLINE void pn_laneBoxes(const pnTree *tree, uint32_t node, uint32_t begin, uint32_t end, pnLaneBoxes *out) {
  (tree->rule->modelSpace ? pn_modelBoxes : tree->form->boxes)(tree, node, begin, end, out);
}

/* The volume of a list of vertices, in world space. */
PN_INLINE void pn_boundOfVertices(const pnTree *tree, const uint32_t *vertices, uint32_t count, pnBound *out) {
  tree->form->ofVertices(tree, vertices, count, out);
}
/* The volume of points, four floats apart. */
PN_INLINE void pn_boundOfPoints(const pnTree *tree, const float *points, uint32_t count, pnBound *out) {
  tree->form->ofPoints(tree->form, points, count, out);
}
/* The smallest volume around both (spheres: around both spheres). */
PN_INLINE void pn_boundMerge(const pnTree *tree, pnBound *into, const pnBound *other) {
  tree->form->merge(tree->form, into, other);
}
/* Writes the volumes of `count` children into node's lanes. */
PN_INLINE void pn_putBounds(pnTree *tree, uint32_t node, const pnBound *bounds, uint32_t count) {
  tree->form->put(tree, node, bounds, count);
}

/* Sets the tree's box, chooses the grid for it, and writes the root's own volume. False: not finite. */
bool pn_setRoot(pnTree *tree, const pnBound *root);

/* Fills a node from the vertices below its children; a leaf from its block. */
void pn_fillFromVertices(pnTree *tree, uint32_t node);
void pn_fillLeaf(pnTree *tree, uint32_t node);
/* Only the block of a leaf: its vertices' world positions. */
void pn_fetchBlock(pnTree *tree, uint32_t leaf);

/* The eager pass: clusters from their vertices, everything above them by merging (update_hybrid.c). */
pnResult pn_prepareEager(pnTree *tree);
pnResult pn_updateEager(pnTree *tree, const pnTasks *tasks);

/* Marks a node fresh (by the eager pass of an update, no other thread near). */
PN_INLINE void pn_markFresh(pnTree *tree, uint32_t node) {
  atomic_store_explicit(&tree->stamp[node], tree->now, memory_order_relaxed);
}

/* Where the exact tests find corners in this frame; after the tree's memory or the pose's vertices have moved. */
void pn_findCorners(pnTree *tree);

/* A new frame: a new stamp (all stamps are cleared when the number runs out) and cleared counters. */
pnResult pn_beginFrame(pnTree *tree);

#endif
