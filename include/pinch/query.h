/* pinch/query.h: questions about bodies as they stand: which point is closest, what does a ray hit, what is in a box, how far
 * apart are two, and where exactly do the pairs of a contact meet.
 *
 * Every question is asked of a tree (pinch/tree.h), of any kind, build, form and update rule, or of all bodies of a world
 * (pinch/world.h has the same names behind pnWorld_). Trees are brought up to date, and only where a question gets to. Questions
 * come in batches and are dealt to the workers of `tasks` (null: one thread). Answers are what looking at every triangle would
 * give, the same bits on any tree, number of threads and machine.
 *
 * Where geometry allows it, answers are exact: whether a ray hits a triangle, whether a triangle reaches into a box, whether two
 * bodies meet. Lengths are computed in double from the float vertices, and it is said how right they are.
 *
 * Trees of representative triangles (pnTreeDef.representative) answer for those triangles only.
 *
 * Threads: a tree or world may be asked by one thread at a time, which shares the work by `tasks`; pnFindMeetings only reads.
 */
#ifndef PINCH_QUERY_H
#define PINCH_QUERY_H

#include "pinch/collide.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A body of a world (pinch/world.h); in answers of a tree it is null. Zeroed is null. An id of a destroyed body is recognised, also
 * when its place was taken again. */
typedef struct pnBodyId {
  uint32_t index1, generation;
} pnBodyId;

/* ---------------------------------------------------------------- the closest point */

/* The point of a body that is closest to a point. */
typedef struct pnClosest {
  pnBodyId body;
  uint32_t triangle; /* PN_NONE: none within the distance; of several at one distance the smallest number */
  pnVec3 point;      /* on it, rounded to float */
  double distance;   /* INFINITY when there is none */
} pnClosest;

/* How to search. */
typedef struct pnClosestDef {
  double farthest; /* nothing farther is of interest; default INFINITY. Less makes far points cheap */
  pnTasks tasks;   /* zeroed: one thread */
  uint32_t cookie; /* PN_COOKIE, by pnDefaultClosestDef() */
} pnClosestDef;

PN_API pnClosestDef pnDefaultClosestDef(void);

/* For each of `count` points (3 floats each) the closest point of the body, on every kind of tree. Distances are measured in
 * double from the float vertices: the triangle is the one that measuring all of them would give, the same bits, and the
 * distance is right up to 2^-45 of the larger of itself and the triangle's size (less for needles). Updates the tree. def may be
 * null. PN_ERROR_NUMBER names a point that is not finite. */
PN_API pnResult pnFindClosest(pnTree *tree, const float *points, uint32_t count, const pnClosestDef *def,
                              pnClosest *outClosest);

/* ---------------------------------------------------------------- rays */

/* The points origin + t * direction, for t from `first` to `last`. */
typedef struct pnRay {
  pnVec3 origin, direction; /* of any length but 0 */
  double first, last;       /* 0 <= first; default 0 and INFINITY */
} pnRay;

/* Along x from the origin, without end: set origin and direction. */
PN_API pnRay pnDefaultRay(void);

/* Where a ray meets a triangle. */
typedef struct pnHit {
  pnBodyId body;
  uint32_t triangle; /* PN_NONE: nothing is hit */
  /* +1: the ray comes from the side that the triangle faces, -1: from behind, 0: it runs along the triangle, or the triangle has no
   * area. Exact. */
  int32_t side;
  double t;   /* along the ray; INFINITY when nothing is hit */
  float u, v; /* the point is (1 - u - v) times the first corner, u times the second and v times the third */
} pnHit;

/* The first hit of each ray.
 *
 * **Whether a ray hits a triangle is exact**: what exact arithmetic on the nine coordinates of the corners and the six numbers
 * of the ray says. Triangles are closed and so is the ray where it begins: its origin on a triangle is a hit at t = 0. So
 * no ray slips through between neighbours, at an edge or a corner, at any distance, and none is hit that does not belong
 * there; a ray along a triangle's plane hits it, and one of zero area is the segment or point it looks like.
 *
 * `t` is rounded. It is off by about 2^-48 of the distance to the triangle's farthest corner, divided by the sine of the angle
 * between ray and triangle, and never leaves the triangle's box. First is who has the smallest t as computed, of several the
 * smallest number: where a ray passes a shared edge, that is one of the triangles there, always the same. `first` and `last`
 * are compared with t as computed; for first = 0 also this is exact.
 *
 * Updates the tree. PN_ERROR_NUMBER names a ray that is not finite or has no direction; PN_ERROR_ARGUMENT one with first below 0 or
 * not a number. tasks may be null. */
PN_API pnResult pnFindFirstHits(pnTree *tree, const pnRay *rays, uint32_t count, const pnTasks *tasks, pnHit *outHits);

/* Whether each ray hits anything: the same answers, cheaper, as any hit will do. */
PN_API pnResult pnFindBlocked(pnTree *tree, const pnRay *rays, uint32_t count, const pnTasks *tasks, bool *outBlocked);

/* All hits of some rays; keeps its memory from query to query. */
typedef struct pnHitList pnHitList;
PN_API pnResult pnCreateHitList(pnHitList **outList);
PN_API void pnDestroyHitList(pnHitList *list); /* null is allowed */
/* Those of one ray, sorted by t, body and triangle. */
PN_API const pnHit *pnHitList_GetHits(const pnHitList *list, uint32_t ray, uint32_t *outCount);
PN_API size_t pnHitList_GetCount(const pnHitList *list); /* of all rays */

/* Every triangle that each ray hits, once. On an error the list is empty. */
PN_API pnResult pnFindAllHits(pnTree *tree, const pnRay *rays, uint32_t count, const pnTasks *tasks,
                              pnHitList *outHits);

/* ---------------------------------------------------------------- everything in a box */

/* A triangle of a body. */
typedef struct pnBodyTriangle {
  pnBodyId body;
  uint32_t triangle;
} pnBodyTriangle;

/* The triangles in some boxes; keeps its memory from query to query. */
typedef struct pnTriangleList pnTriangleList;
PN_API pnResult pnCreateTriangleList(pnTriangleList **outList);
PN_API void pnDestroyTriangleList(pnTriangleList *list); /* null is allowed */
/* Those of one box, sorted by body and triangle. */
PN_API const pnBodyTriangle *pnTriangleList_GetTriangles(const pnTriangleList *list, uint32_t box, uint32_t *outCount);
PN_API size_t pnTriangleList_GetCount(const pnTriangleList *list); /* of all boxes */

/* Every triangle that has a point in common with each box, exactly: both are closed, touching counts. A box may be a rectangle, a
 * segment or a point; with min above max anywhere it is empty. PN_ERROR_NUMBER names a box that is not finite. On an error the list
 * is empty. */
PN_API pnResult pnFindInBoxes(pnTree *tree, const pnBox *boxes, uint32_t count, const pnTasks *tasks,
                              pnTriangleList *outTriangles);

/* ---------------------------------------------------------------- the distance between two bodies */

/* Two trees to be asked about; different ones. */
typedef struct pnTreePair {
  pnTree *a, *b;
} pnTreePair;

/* How far apart two bodies are, and where. */
typedef struct pnDistance {
  double distance; /* 0 exactly when they meet; INFINITY: nothing within `farthest` */
  pnVec3 onA, onB; /* two points that are so far apart, rounded to float; a point that both have when they meet */
  /* On these triangles, PN_NONE: nothing within the distance. Of several pairs at one distance (or that meet) the smallest numbers,
   * of a first. */
  uint32_t triangleA, triangleB;
} pnDistance;

/* The distance between the surfaces of each two trees. Whether they meet is exact; otherwise pairs of triangles are measured in double, and
 * the distance is right up to 2^-40 of the larger of itself and the two triangles' size. The triangles are those that measuring all
 * pairs would give. Costs little where bodies are apart, and about what finding all pairs one by one costs where they are not.
 * Nothing farther than def->farthest is of interest; def may be null. */
PN_API pnResult pnFindDistances(const pnTreePair *pairs, uint32_t count, const pnClosestDef *def,
                                pnDistance *outDistances);

/* ---------------------------------------------------------------- where pairs meet */

/* What each pair of triangles has in common (pnMeetTriangles): the segments of a contact, in bulk. a and b may be the same tree.
 * PN_ERROR_INDEX names a pair with a triangle that there is not. tasks may be null. */
PN_API pnResult pnFindMeetings(const pnTree *a, const pnTree *b, const pnPair *pairs, size_t count,
                               const pnTasks *tasks, pnMeeting *outMeetings);

#ifdef __cplusplus
}
#endif

#endif
