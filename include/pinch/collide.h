/* pinch/collide.h: which triangles meet, and when. The researcher's entrance: plain trees, no world.
 *
 * Answers are exact: the pairs reported are those that exact arithmetic on the float vertices would report.
 * Triangles are closed sets, touching counts. These are questions about *surfaces*: a body wholly inside another
 * touches nothing and gives no pair; ask pinch/volume.h about containment.
 */
#ifndef PINCH_COLLIDE_H
#define PINCH_COLLIDE_H

#include "pinch/geom.h"
#include "pinch/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A pair of triangles by their numbers in their meshes. */
typedef struct pnPair {
  uint32_t a, b;
} pnPair;

/* What a query cost. Counters do not depend on the instruction set. With threads, too, `pairs` is what it is; the others may differ by what each
 * worker found out on the way, as which tests pay. */
typedef struct pnCost {
  uint64_t nodesUpdated;    /* nodes whose volumes were computed in this frame */
  uint64_t verticesFetched; /* vertex positions computed or gathered for leaves */
  uint64_t nodePairs;       /* pairs of nodes opened */
  uint64_t leafPairs;       /* pairs of leaves opened */
  uint64_t volumeTests;     /* volumes tested against volumes */
  uint64_t planeTests;      /* volumes tested against planes, of big triangles (pnTreeDef.big) or small bodies */
  uint64_t exactTests;      /* pairs of triangles tested */
  uint64_t uncertain;       /* of these, undecided by floats, and decided by doubles or exact arithmetic */
  uint64_t pairs;           /* pairs found */
  double updateSeconds, traverseSeconds, exactSeconds; /* of a first pair the exact tests are in traverseSeconds */
} pnCost;

/* A list of pairs that keeps its memory from query to query. */
typedef struct pnPairList pnPairList;
PN_API pnResult pnCreatePairList(pnPairList **outList);
PN_API void pnDestroyPairList(pnPairList *list);
PN_API const pnPair *pnPairList_GetPairs(const pnPairList *list);
PN_API size_t pnPairList_GetCount(const pnPairList *list);
/* Are there more pairs than pnQueryDef.maxPairs let into the list? */
PN_API bool pnPairList_IsLimited(const pnPairList *list);

/* Filters for self-collision. All off by default: then every pair of triangles that meets counts, neighbours only when
 * they meet in more than the vertex or edge they share. */
typedef struct pnSelfFilter {
  uint32_t ring;   /* leave out pairs within this many rings: 1 = sharing a vertex, 2 = their neighbours; by number, or
                      welded and at one place now (pnMeshDef.vertexWeld). Of a soup 1 at most, by names: which primitives are
                      around a vertex changes with every call and is not kept, and a second ring would need it */
  bool ignoreRest; /* leave out pairs that already meet in the rest pose */
  const uint32_t *triangleGroup; /* one per triangle, or null: leave out pairs of the same group */
} pnSelfFilter;

/* Settings that products leave alone; pinch/lab.h. */
struct pnQueryLab;

/* How to search. The settings change the time and, with `first` and `filter`, which pairs are wanted. Zeroed is the default. */
typedef struct pnQueryDef {
  bool first;    /* stop at the first pair found: cheaper when there are many */
  bool unsorted; /* leave pairs in the order found; by default they are sorted by a, then b */
  /* At most so many pairs, 0 (default): all. The search ends when there are more, so that time and memory are bounded where
   * everything meets everything; pnPairList_IsLimited says so. Which are kept depends on the tree and not on threads. Counted
   * before self filters take some out. Without a list nothing is kept, and all are counted. */
  size_t maxPairs;
  /* For `first`: a pair to try before anything else, or null (default); last frame's answer, say. It is tested exactly, so a
   * wrong or old one costs little and nothing else. When it meets it is the answer: trees are not updated, and of
   * the vertices only its six are looked at, also for NaN. When it does not, triangles that share a vertex with its two are tried
   * in the same way, in meshes of 256 or more. A pair that the filter leaves out, a triangle with itself and a
   * primitive that a soup has removed are passed over; a triangle that the mesh does not have is
   * PN_ERROR_ARGUMENT. Copied; may point into the list that takes the answer. The world gives its own hints. */
  const pnPair *hint;
  pnTasks tasks;                /* zeroed: one thread */
  pnSelfFilter filter;          /* for self queries */
  const struct pnQueryLab *lab; /* null (default) in products: pinch/lab.h */
} pnQueryDef;

PN_API pnQueryDef pnDefaultQueryDef(void);

/* All pairs (or a first one) of triangles of a and b that meet. def may be null. Updates the trees as needed.
 * outPairs may be null to count only, without memory for pairs (pnCost.pairs); outCost may be null. On an error the list is
 * empty.
 * a and b may be the same tree only for a pose meeting itself: use pnCollideSelf. */
PN_API pnResult pnCollideTrees(pnTree *a, pnTree *b, const pnQueryDef *def, pnPairList *outPairs, pnCost *outCost);

/* All pairs of triangles of one tree that meet, a < b, each once. The tree must have been made with `self`. */
PN_API pnResult pnCollideSelf(pnTree *tree, const pnQueryDef *def, pnPairList *outPairs, pnCost *outCost);

/* The slow obvious answer: every pair of triangles by exact predicates, no tree. For tests. */
PN_API pnResult pnCollideBrute(const pnPose *a, const pnPose *b, const pnQueryDef *def, pnPairList *outPairs);

/* ---------------------------------------------------------------- shapes, prepared and saved */

/* Works out now what the first tree of this shape and its first self query would: constants of the update rule, fans, flat regions,
 * calm patches (pnTreeDef.calm). Of a shape made without `self` the first of these. */
PN_API pnResult pnShape_PrepareSelf(const pnShape *shape);

/* The shape as a block of bytes, to be loaded where the same mesh, morph and skin are: its division, which is what building
 * takes its time for, and all that was worked out of it so far (pnShape_PrepareSelf before saving: then nothing is prepared again after
 * loading). Lists that quickly follow from these are made again. The block comes from pnAlloc and is the caller's (pnFree).
 * PN_ERROR_KIND for shapes with big triangles in pieces or representative triangles. */
PN_API pnResult pnShape_Save(const pnShape *shape, void **outBlock, size_t *outBytes);

/* A shape from such a block; of the definition only mesh, morph and skin count. Cost: O(n), less than building.
 * A block is read with distrust. PN_ERROR_UNSUPPORTED: another version of pinch or order of bytes; PN_ERROR_FORMAT: it is damaged, or
 * not such a block; PN_ERROR_KIND: made of another mesh, morph or skin. Whatever the bytes, loading and what is asked afterwards
 * stay within their memory, and the division is checked so far that no answer depends on it. What was worked out are numbers that
 * nothing can check but doing it again: take prepared shapes from whom you trust. */
PN_API pnResult pnLoadShape(const pnShapeDef *def, const void *block, size_t bytes, const pnShape **outShape);

/* ---------------------------------------------------------------- between two poses */

/* A body on its way: where every vertex was at t = 0 and is at t = 1, and a tree over the boxes of triangles on the way. **Vertices
 * move on straight lines**, whatever moves the body: a vertex that turns by an angle x about an axis at distance r leaves its
 * arc by at most r (1 - cos(x / 2)), about r x^2 / 8; where that is too much, divide the step (pnCountStepParts): n parts leave n^2
 * times less.
 *
 * Every kind of pose will do: begin and end are taken from poses (free, rigid, morph, skin), or as doubles. Soups have sweeps too. */
typedef struct pnSweep pnSweep;

/* For the triangles of a mesh, which must outlive it. Begin and end are the rest positions. */
PN_API pnResult pnCreateSweep(const pnMesh *mesh, pnSweep **outSweep);
/* For the primitives of a soup, which must outlive it and may change at will. Begin and end are taken from pnSoup_GetPose. A
 * primitive is matched by its **id**: one that is alive at both ends goes on straight lines from corner to corner, also when it was
 * replaced by another kind (a segment is a triangle whose last corner is twice there). One that is new at the end (added, or a piece of
 * a cut) has come from nowhere: it stands still where it is, for the whole step. One that is gone by then is left out, with
 * the way it had: cut before the step begins where that matters. Impacts name places: triangle p, vertex 3p + k, edges by pnSweep_GetEdges;
 * of a segment two vertices and an edge, of a point one vertex, and each is a face that others can meet. Nothing is joined:
 * in one soup touching counts, and primitives have no neighbours. */
PN_API pnResult pnCreateSoupSweep(const pnSoup *soup, pnSweep **outSweep);
PN_API void pnDestroySweep(pnSweep *sweep); /* null is allowed */

/* The step begins, or ends, where this pose of the mesh is now. */
PN_API pnResult pnSweep_SetBegin(pnSweep *sweep, const pnPose *pose);
PN_API pnResult pnSweep_SetEnd(pnSweep *sweep, const pnPose *pose);
/* Both at once, as doubles: 3 * vertexCount numbers each, finite and within the range of float, else PN_ERROR_NUMBER. PN_ERROR_KIND for
 * soups, whose primitives have ids. */
PN_API pnResult pnSweep_SetStep(pnSweep *sweep, const double *begin, const double *end, uint32_t vertexCount);
/* The next step begins where this one ends. */
PN_API void pnSweep_Advance(pnSweep *sweep);

/* By how much the axes of one map are turned against those of another: radians, 0 to pi. Of maps that keep right angles, whatever they
 * do to lengths, it is the angle of the turn from one to the other; an axis without length counts as not turned. */
PN_API double pnGetTurn(const pnMatrix *begin, const pnMatrix *end);
/* How far a vertex no farther than `radius` from the axis leaves its arc, at most, when it turns evenly by `turn` and the step is made in
 * so many equal parts, each a straight line: radius (1 - cos(turn / (2 parts))). */
PN_API double pnBoundChord(double turn, double radius, uint32_t parts);
/* The least number of equal parts with which that is not more than `tolerance`, which must be above 0. A step in parts: for each
 * move to its end, pnSweep_SetEnd, ask, pnSweep_Advance; a time t of part k of n is (k + t) / n of the step. */
PN_API uint32_t pnCountStepParts(double turn, double radius, double tolerance);

/* The edges that impacts name: each once, by its two vertices i < j, sorted by j, then i. */
PN_API uint32_t pnSweep_GetEdgeCount(const pnSweep *sweep);
PN_API const uint32_t *pnSweep_GetEdges(const pnSweep *sweep); /* 2 an edge */

/* Which features meet: a and b are numbers of vertices, edges or triangles of the two bodies. */
typedef enum pnFeatureKind {
  PN_VERTEX_WITH_FACE, /* a vertex of a, a triangle of b; of a body with itself all are of this kind */
  PN_FACE_WITH_VERTEX, /* a triangle of a, a vertex of b */
  PN_EDGE_WITH_EDGE,
  PN_FACE_WITH_FACE /* only where pairs of triangles are wanted: PN_SWEPT_TRIANGLES */
} pnFeatureKind;

/* Two features that meet at some time of the step, and when first: as pnImpactSpan says. */
typedef struct pnFeatureImpact {
  pnFeatureKind kind;
  uint32_t a, b;
  double lo, hi;
} pnFeatureImpact;

/* What is wanted of a step. */
typedef enum pnSweptWhat {
  PN_SWEPT_ALL,       /* every vertex with every face and every two edges that meet: each once (default) */
  PN_SWEPT_EARLIEST,  /* only the first of all, and the time before which nothing meets: cheaper by far */
  PN_SWEPT_TRIANGLES, /* every pair of triangles that meet at some time, with the first; those that meet at 0 too */
  PN_SWEPT_COUNT
} pnSweptWhat;

/* How to search. Zeroed is the default. */
typedef struct pnSweptDef {
  pnSweptWhat what;
  size_t maxImpacts; /* more than so many are not listed: pnImpactList_IsLimited; 0 (default): no limit */
  pnTasks tasks;     /* zeroed: one thread */
} pnSweptDef;

PN_API pnSweptDef pnDefaultSweptDef(void);

/* A list of impacts that keeps its memory from query to query. */
typedef struct pnImpactList pnImpactList;
PN_API pnResult pnCreateImpactList(pnImpactList **outList);
PN_API void pnDestroyImpactList(pnImpactList *list);
/* Sorted by kind, a, b. */
PN_API const pnFeatureImpact *pnImpactList_GetImpacts(const pnImpactList *list);
PN_API size_t pnImpactList_GetCount(const pnImpactList *list);
/* The first contact of all: meets is false when there is none; lo is never late. The same for every `what`, but that
 * PN_SWEPT_TRIANGLES also counts triangles that stand in each other from the start, which no vertex or edge need tell. */
PN_API pnImpactSpan pnImpactList_GetEarliest(const pnImpactList *list);
/* There are more than pnSweptDef.maxImpacts: the list is empty, and the earliest is not known (PN_SWEPT_EARLIEST finds it). Memory was bounded
 * by so many impacts a worker. */
PN_API bool pnImpactList_IsLimited(const pnImpactList *list);

/* Everything that meets between two bodies on their way, or of one with itself (b null). Features are closed and the answers
 * exact, as those of pnImpactVertexFace and pnImpactEdgeEdge. In one body features that share a vertex are left out,
 * also a vertex that is welded to theirs and is at one place with it at both ends of the step. With more than one
 * thread, and on every machine: the same list. def and outCost may be null; cost: exactTests counts features asked, uncertain those that
 * went to whole numbers. On an error the list is empty. */
PN_API pnResult pnCollideSwept(pnSweep *a, pnSweep *b, const pnSweptDef *def, pnImpactList *outImpacts,
                               pnCost *outCost);

/* Intersection-free line search: the part of the step that is safe, in [0, 1]. Without separation (0) it is exact: nothing meets at any
 * t < *outSafe, and something does less than 1e-6 later, unless it is 1. With a separation: at every t <= *outSafe all features are more than
 * that apart. This is conservative: it is certain, and up to about a millionth of the step less than it could be; 0 when something is closer at
 * the start, in one body also neighbours that share no vertex. Vertices put at such a fraction are rounded: where that matters,
 * keep a separation above the rounding. b null: one body with itself. tasks may be null. Allocates. */
PN_API pnResult pnFindSafeStep(pnSweep *a, pnSweep *b, double separation, const pnTasks *tasks, double *outSafe);

/* ---------------------------------------------------------------- first contact in time */

/* Sets the poses of both trees to time t in [0, 1]. Must give the same pose for the same t. */
typedef pnResult pnMoveFcn(void *context, float t);

/* What is known about the first contact. */
typedef struct pnImpact {
  bool contact; /* a contact was found at a sampled time */
  bool atStart; /* they already meet at t = 0 */
  float before; /* no contact at this time ... */
  float after;  /* ... contact at this one; after - before <= tolerance */
  uint32_t queryCount;
} pnImpact;

/* The first contact between two trees (or of one with itself: b null) while `move` takes them from 0 to 1, by
 * back-tracking: `samples` equal steps until one shows contact, then halving down to `tolerance`.
 *
 * What it promises: contact at `after`, none at `before`. What it does not: a contact that begins and ends between two
 * samples is missed (thin bodies at high speed). More samples make that rarer; pnCollideSwept excludes it, for vertices on
 * straight lines. Use this for motion on curves that straight pieces do not follow closely enough. */
PN_API pnResult pnFindImpact(pnTree *a, pnTree *b, pnMoveFcn *move, void *context, uint32_t samples, float tolerance,
                             pnImpact *outImpact);

/* The common case: everything moves on a straight line, start + t * (end - start) in float, number by number. For a free pose
 * these are vertices, 3 floats a vertex; for one with morph targets they are weights, one a target, so that this is
 * the first contact between two weight vectors. end null: the body stays at start; start null as well: where it is. Poses are
 * left at the time `after` (or 1). */
typedef struct pnLinearMotion {
  pnPose *poseA, *poseB;
  const float *startA, *endA, *startB, *endB;
} pnLinearMotion;
PN_API pnResult pnFindLinearImpact(pnTree *a, pnTree *b, const pnLinearMotion *motion, uint32_t samples,
                                   float tolerance, pnImpact *outImpact);

#ifdef __cplusplus
}
#endif

#endif
