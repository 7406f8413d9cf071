/* pinch/world.h: bodies by id, and the frame. The product's entrance: most programs need only this door.
 *
 *   pnWorld *world;  pnWorldDef wd = pnDefaultWorldDef();  pnCreateWorld(&wd, &world);
 *   pnBodyDef bd = pnDefaultBodyDef();  bd.mesh = mesh;    pnWorld_CreateBody(world, &bd, &body);
 *   each frame:  pnBody_SetVertices(world, body, xyz, n);  pnFrame f = pnWorld_Collide(world, NULL);
 *   for each of f.contactCount contacts: pnWorld_GetContacts(world)[i] ... its triangle pairs
 *
 * Setting vertices, a transform, weights or joints is all there is to moving a body: nothing can go stale.
 * After a few frames of warm-up a frame allocates nothing. A call that fails changes nothing. Threads: docs/threads.md.
 * Contacts are between surfaces: a body wholly inside another has none (see pinch/volume.h).
 */
#ifndef PINCH_WORLD_H
#define PINCH_WORLD_H

#include "pinch/query.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pnWorld pnWorld;

/* Settings that products leave alone; pinch/lab.h. */
struct pnWorldLab;

/* Settings of a world; none of them changes an answer. */
typedef struct pnWorldDef {
  pnTasks tasks; /* zeroed: one thread */
  /* From which pnTree_GetQuality on the tree of a free body without self-collision is worn (default 2): when it has cost as
   * much as building does, a new one is built, a little in every frame, and kept if it is better. Worn, too, is one of which next to nothing
   * comes, however much of it is opened. One that is torn between two frames is followed as a soup, where that is less work. 0: nothing
   * of this, ever. */
  float rebuildQuality;
  const struct pnWorldLab *lab; /* null (default) in products: pinch/lab.h */
  uint32_t cookie;              /* PN_COOKIE, by pnDefaultWorldDef() */
} pnWorldDef;

PN_API pnWorldDef pnDefaultWorldDef(void);
/* An empty world. Destroying it destroys its bodies; their meshes are the caller's. */
PN_API pnResult pnCreateWorld(const pnWorldDef *def, pnWorld **outWorld);
/* With all its bodies; meshes and shared static trees stay the caller's. Null is allowed. */
PN_API void pnDestroyWorld(pnWorld *world);

/* ---------------------------------------------------------------- bodies */

/* How a body moves. */
typedef enum pnBodyKind {
  PN_BODY_FREE,    /* vertices rewritten by the caller (default) */
  PN_BODY_RIGID,   /* moved by a transform only */
  PN_BODY_STATIC,  /* never moves: its tree is built once, and it or its shape may be shared by many worlds */
  PN_BODY_MORPH,   /* weights of morph targets, and a transform */
  PN_BODY_SKINNED, /* joints, on top of morph targets when there are any */
  PN_BODY_SOUP     /* primitives that come, go and move by the calls of pnSoup (pinch/mesh.h) */
} pnBodyKind;

/* What a body is. */
typedef struct pnBodyDef {
  pnBodyKind kind;
  const pnMesh *mesh;   /* must outlive the body */
  const pnMorph *morph; /* morph, skinned */
  const pnSkin *skin;   /* skinned */
  const pnSoup *soup;   /* soup; must outlive the body. Triangle numbers in pairs are its places */
  /* Made of this shape, or null (default): then mesh, morph and skin above may be null and are the shape's, and so are the
   * settings in `tree`. It must have been made with `self` when the body has it. Not for soups and shared static trees. */
  const pnShape *shape;
  pnTree *staticTree;      /* static only: the caller's tree, not one of its own; worlds take turns. mesh may be null */
  pnTreeDef tree;          /* settings; its pose is ignored. Of a soup: only its lab */
  bool self;               /* look for self-collision (default false) */
  pnSelfFilter selfFilter; /* arrays are copied */
  uint32_t category;       /* bits this body is (default 1) */
  uint32_t mask;           /* bits it collides with (default all); both sides must agree */
  const pnBox
      *looseBox; /* a box the body never leaves, used by the broad phase instead of the tree's; null: computed. The tree
                       is not even updated while no other body is near it, unless `self` */
  const char *name; /* in messages; copied; default: the mesh's name */
  void *userData;
  uint32_t cookie; /* PN_COOKIE, by pnDefaultBodyDef() */
} pnBodyDef;

PN_API pnBodyDef pnDefaultBodyDef(void);
/* A soup stays the caller's: whatever pnSoup_Add, _Remove, _Replace, _SetAll, _Cut and _Fuse do to it is what the next frame
 * sees, and there is nothing to tell the world. It may be empty. Of self filters it has ring 1, by names (pnSoup): nothing in it has
 * a second ring, a rest pose or a group that lasts (PN_ERROR_KIND).
 * Creating builds the tree: O(n log n). Destroying frees pose and tree; the id is dead from then on, and the body's
 * contacts are gone in the next frame without an end. */
PN_API pnResult pnWorld_CreateBody(pnWorld *world, const pnBodyDef *def, pnBodyId *outBody);
/* Also while its contacts are read: those of the last answer stay where they are. */
PN_API pnResult pnWorld_DestroyBody(pnWorld *world, pnBodyId body);
/* Living bodies. */
PN_API uint32_t pnWorld_GetBodyCount(const pnWorld *world);
/* Is there a living body behind this id? */
PN_API bool pnBody_IsValid(const pnWorld *world, pnBodyId body);

/* Moving. Bad input (NaN, wrong count, dead id, a transform that is not rigid) is a result, names body and vertex,
 * and changes nothing. Copies; the vertices of large bodies are looked through and copied by the world's tasks. */
PN_API pnResult pnBody_SetVertices(pnWorld *world, pnBodyId body, const float *vertices, uint32_t count);
/* The vertices of one body of many. */
typedef struct pnBodyVertices {
  pnBodyId body;
  const float *vertices;
  uint32_t count; /* must be its mesh's */
} pnBodyVertices;
/* pnBody_SetVertices of many bodies, each named once: all are moved, or none is. Small bodies, too, are then looked through and copied by
 * the world's tasks; with more than one thread it is the better call for whoever moves many. */
PN_API pnResult pnWorld_SetVertices(pnWorld *world, const pnBodyVertices *list, uint32_t count);
/* As pnBody_SetVertices without the copy: the array stays the caller's and must stay as it is until vertices are set again
 * (pnPose_ShareVertices has the rules). Numbers are checked by the next frame, which names body and vertex. */
PN_API pnResult pnBody_ShareVertices(pnWorld *world, pnBodyId body, const float *vertices, uint32_t count);
PN_API pnResult pnBody_SetTransform(pnWorld *world, pnBodyId body, const pnMatrix *transform);
/* Of the morph targets of a morphing body, or of a skinned one that has some; count must be theirs. Names the target. */
PN_API pnResult pnBody_SetWeights(pnWorld *world, pnBodyId body, const float *weights, uint32_t count);
/* Of the skin of a skinned body (pnPose_SetJoints says what they are). Names the joint. */
PN_API pnResult pnBody_SetJoints(pnWorld *world, pnBodyId body, const pnMatrix *joints, uint32_t count);

/* New category and mask, from the next frame on. */
PN_API pnResult pnBody_SetFilter(pnWorld *world, pnBodyId body, uint32_t category, uint32_t mask);
/* What a body has. Pose and tree stay the world's and live as long as the body; null (name: "") for a
 * dead id. The pose is for reading: bodies are moved by the calls above. Soups and shared trees have none here. */
PN_API const pnPose *pnBody_GetPose(const pnWorld *world, pnBodyId body);
/* The tree, for queries of your own, which bring it to where the body is, as pnTree_Update does; null for a dead id. A frame leaves trees alone that
 * nothing is near to: getters as pnTree_GetBox see them where they were last, so call pnTree_Update before these. */
PN_API pnTree *pnBody_GetTree(pnWorld *world, pnBodyId body);
/* The pointer of the definition; null for a dead id. */
PN_API void *pnBody_GetUserData(const pnWorld *world, pnBodyId body);
/* The name used in messages; empty for a dead id. */
PN_API const char *pnBody_GetName(const pnWorld *world, pnBodyId body);

/* ---------------------------------------------------------------- the frame */

/* What to look for in one frame. Zeroed is the default: everything. */
typedef struct pnFrameDef {
  /* One pair for each pair of bodies is enough. Those by which they met in the last answer, and triangles around them, are tried first, and
   * where that answers, trees of free bodies do not follow until somebody asks them. */
  bool first;
  bool noSelf;   /* skip self-collision in this frame */
  bool unsorted; /* pairs of a contact in the order found, by chance with threads; cheaper */
  /* At most so many pairs over all contacts, 0 (default): all. The search ends when there are more, and pnFrame.limited says so.
   * Contacts come in their order, so the last ones may have fewer pairs than they should, or be missing; what was a contact in
   * the frame before then counts as ended. Which pairs are kept does not depend on threads. Counted before self filters. */
  size_t maxPairs;
  /* At most so many contacts, the first in their order, 0 (default): all. There may be as many as pairs of bodies, where
   * thousands are in one place; the search ends there as it does with pairs. */
  uint32_t maxContacts;
  /* At most so many pairs of close bodies are looked at, the first in the order of contacts, 0 (default): all. Where thousands of bodies
   * are in one place there is the square of them, though nothing may meet; the search ends there as it does with pairs. */
  uint32_t maxBodyPairs;
  const struct pnQueryLab *lab; /* null (default) in products: pinch/lab.h */
} pnFrameDef;

/* Whether a contact is new, goes on, or is over. */
typedef enum pnContactState { PN_CONTACT_BEGIN, PN_CONTACT_PERSIST, PN_CONTACT_END } pnContactState;

/* Two bodies (or one with itself: a == b) that meet. Contacts are sorted by body index, a before b. */
typedef struct pnContact {
  pnBodyId a, b;
  pnContactState state; /* against the frame before; ended contacts have no pairs and come after the others */
  size_t firstPair;     /* into pnWorld_GetPairs */
  size_t pairCount;     /* sorted by triangle of a, then of b, unless the frame was asked for unsorted ones */
} pnContact;

/* What one frame found and what it cost. */
typedef struct pnFrame {
  pnResult result;       /* on an error the world keeps the contacts of the frame before */
  uint32_t contactCount; /* begun and persisting */
  uint32_t endedCount;
  size_t pairCount;   /* over all contacts */
  bool limited;       /* there are more than pnFrameDef.maxPairs, maxContacts or maxBodyPairs */
  uint32_t bodyPairs; /* let through by the broad phase; of a limited frame those it came to */
  uint32_t rebuilds;  /* trees built anew by the quality policy */
  pnCost cost;
  double broadSeconds, totalSeconds;
} pnFrame;

/* Everything that meets now. def may be null. */
PN_API pnFrame pnWorld_Collide(pnWorld *world, const pnFrameDef *def);

/* Results of the last frame; valid until the next Collide. A contact of a body that was destroyed since has an id that is dead (pnBody_IsValid),
 * and nothing meets in it. */
PN_API const pnContact *pnWorld_GetContacts(const pnWorld *world); /* contactCount, then endedCount */
PN_API const pnPair *pnWorld_GetPairs(
    const pnWorld *world); /* pnFrame.pairCount, contact after contact, without gaps */

/* The primitives of a pair as ids, on the sides that are soups; null on the others. They are those that the frame found: when one
 * was removed since, its id is dead (pnSoup_IsValid), also when its place was taken again. */
typedef struct pnPrimitivePair {
  pnPrimitiveId a, b;
} pnPrimitivePair;
PN_API pnPrimitivePair pnWorld_GetPrimitives(const pnWorld *world, uint32_t contactIndex, size_t pairIndex);

/* Where the pair `pairIndex` (into pnWorld_GetPairs) of contact `contactIndex` meets, and the unit normals of its
 * triangles (zero for zero-area ones). Computed when asked, from the poses as they are now; nothing meets (all zero) when a
 * primitive of a soup was removed since the frame. */
typedef struct pnContactPoint {
  pnMeeting meeting;
  pnVec3 normalA, normalB;
} pnContactPoint;
PN_API pnContactPoint pnWorld_GetContactPoint(const pnWorld *world, uint32_t contactIndex, size_t pairIndex);

/* What each pair of a contact has in common: the same as pnWorld_GetContactPoint, in bulk and on all workers. outMeetings has room for
 * the contact's pairCount. */
PN_API void pnWorld_FindMeetings(const pnWorld *world, uint32_t contactIndex, pnMeeting *outMeetings);

/* ---------------------------------------------------------------- questions */

/* The questions of pinch/query.h to all bodies as they are now, with the same promises; of the bodies those that have a category among
 * the bits of `mask` (UINT32_MAX: all). Answers name the body; what is equally far goes to the one with the smaller index. Bodies
 * are brought up to date as by pnWorld_Collide, whose answers neither change nor are needed. On the world's tasks. Errors are
 * those of the questions about trees, and those of bodies that cannot be followed. */

/* For each of `count` points the closest point of any body, no farther than `farthest` (INFINITY: any). */
PN_API pnResult pnWorld_FindClosest(pnWorld *world, const float *points, uint32_t count, double farthest, uint32_t mask,
                                    pnClosest *outClosest);
/* The first hit of each ray, on any body. */
PN_API pnResult pnWorld_FindFirstHits(pnWorld *world, const pnRay *rays, uint32_t count, uint32_t mask, pnHit *outHits);
/* Whether each ray hits anything. */
PN_API pnResult pnWorld_FindBlocked(pnWorld *world, const pnRay *rays, uint32_t count, uint32_t mask, bool *outBlocked);
/* All that each ray hits. */
PN_API pnResult pnWorld_FindAllHits(pnWorld *world, const pnRay *rays, uint32_t count, uint32_t mask,
                                    pnHitList *outHits);
/* All triangles in each box. */
PN_API pnResult pnWorld_FindInBoxes(pnWorld *world, const pnBox *boxes, uint32_t count, uint32_t mask,
                                    pnTriangleList *outTriangles);

/* Two different bodies. */
typedef struct pnBodyPair {
  pnBodyId a, b;
} pnBodyPair;

/* How far each two bodies are apart; nothing farther than `farthest` is of interest. PN_ERROR_ID for a dead id. */
PN_API pnResult pnWorld_FindDistances(pnWorld *world, const pnBodyPair *pairs, uint32_t count, double farthest,
                                      pnDistance *outDistances);

/* ---------------------------------------------------------------- between two frames */

/* A step is the way of all bodies from where they were at pnWorld_BeginStep to where they are now:
 *
 *   pnWorld_BeginStep(world);  move bodies;  pnStep s = pnWorld_CollideSwept(world, NULL);
 *
 * Vertices move on straight lines, whatever moves the body (pinch/collide.h says how far that is from an arc, and what to do). A body that
 * was made after the step began has not moved. Bodies that look at themselves do so here too, without their self filters.
 * Primitives of soups are matched by their ids (pnCreateSoupSweep says what happens to new ones and to those that are gone). Independent of pnWorld_Collide: neither changes the other's answer. */
PN_API pnResult pnWorld_BeginStep(pnWorld *world);

/* What to look for in a step. Zeroed is the default: everything. */
typedef struct pnStepDef {
  pnSweptWhat what;  /* default PN_SWEPT_ALL */
  bool noSelf;       /* skip bodies with themselves */
  size_t maxImpacts; /* over all contacts; beyond it pnStep.limited; 0 (default): no limit */
} pnStepDef;

PN_API pnStepDef pnDefaultStepDef(void);

/* Two bodies (or one with itself: a == b) that meet on their way. Sorted by body index, a before b. */
typedef struct pnStepContact {
  pnBodyId a, b;
  pnImpactSpan first; /* when first */
  size_t firstImpact; /* into pnWorld_GetImpacts */
  size_t impactCount; /* sorted by kind, a, b */
} pnStepContact;

/* What one step found and what it cost. */
typedef struct pnStep {
  pnResult result; /* on an error there are no contacts */
  uint32_t contactCount;
  size_t impactCount;    /* over all contacts */
  pnImpactSpan earliest; /* the first of all; lo is never late */
  double safe;           /* nothing meets at any t below this: earliest.lo, or 1; 0 on an error or when limited */
  bool
      limited; /* there are more impacts than pnStepDef.maxImpacts: only the contacts before the one that has too many are here */
  pnCost cost;
  double totalSeconds;
} pnStep;

/* Everything that meets between pnWorld_BeginStep and now, with times. def may be null. The step stays: bodies may be moved again and
 * asked again, as a line search does; pnWorld_BeginStep begins the next. */
PN_API pnStep pnWorld_CollideSwept(pnWorld *world, const pnStepDef *def);

/* Of the last step; valid until the next. */
PN_API const pnStepContact *pnWorld_GetStepContacts(const pnWorld *world); /* pnStep.contactCount */
PN_API const pnFeatureImpact *pnWorld_GetImpacts(const pnWorld *world); /* pnStep.impactCount, contact after contact */

/* A body on its way in the step, for queries of your own (pinch/collide.h, pinch/find.h); null for a dead id. Bodies that are named in a contact of
 * the last pnWorld_CollideSwept have one, from where they were when the step began to where that saw them; of others it may be that of
 * an earlier step, or null: what had nothing near it is not swept. */
PN_API const pnSweep *pnBody_GetSweep(const pnWorld *world, pnBodyId body);

/* How much of the step is safe, for all bodies: pnFindSafeStep of pinch/collide.h. */
PN_API pnResult pnWorld_FindSafeStep(pnWorld *world, double separation, double *outSafe);

/* ---------------------------------------------------------------- looking at it */

/* Functions that draw, and what is wanted. Null functions are not called. */
typedef struct pnDebugDraw {
  void (*drawBox)(void *user, pnBox box, uint32_t color); /* 0xRRGGBB */
  void (*drawTriangle)(void *user, const pnTriangle *t, uint32_t color);
  void (*drawSegment)(void *user, pnVec3 a, pnVec3 b, uint32_t color);
  bool boxes; /* body boxes, and the tree level below */
  uint32_t level;
  bool triangles; /* triangles that meet */
  bool meetings;  /* segments along which they meet */
  void *user;
} pnDebugDraw;
/* Calls them for the last frame. PN_ERROR_MEMORY when the boxes of a level cannot be listed; the rest is drawn all the same. */
PN_API pnResult pnWorld_Draw(pnWorld *world, const pnDebugDraw *draw);

#ifdef __cplusplus
}
#endif

#endif
