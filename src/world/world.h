/* world.h: what a world keeps. */
#ifndef PN_WORLD_WORLD_H
#define PN_WORLD_WORLD_H

#include "base/splice.h"
#include "collide/broad.h"
#include "collide/jobs.h"
#include "collide/swept.h"
#include "mesh/pose.h"
#include "world/twin.h"

/* Whose trees a job is about, by place; a body with itself: the same twice. */
typedef struct pnJobBodies {
  uint32_t a, b;
} pnJobBodies;

struct pnWorld {
  pnWorldDef def; /* its lab was taken over: */
  pnWorldLab lab;
  PN_ARRAY(pnBody) bodies; /* by place; dead places have an even generation */
  uint32_t freePlace;      /* 1 + the dead place that is taken next (pnBody.freeNext leads on), 0: none */
  pnTwins twins;
  uint32_t bodyCount;
  uint32_t lateCount;    /* bodies whose trees do not stand where they are */
  uint32_t wornCount;    /* bodies whose trees are worn */
  uint32_t tendedCount;  /* bodies whose trees are looked after */
  uint64_t opened;       /* pairs of nodes in the last frame that succeeded */
  bool isOpen;           /* the leaves of all trees can be filled (pn_openLeaves), and none was touched since */
  int largest, smallest; /* boxes that there have been, as powers of two (focus.h) */
  uint64_t frameNumber;

  /* places (follow.c); there is room for all bodies in each */
  PN_ARRAY(uint32_t) touched; /* moved, made or given another mask since the last frame that succeeded */
  PN_ARRAY(uint32_t) alone;   /* bodies that move without telling the world: touched in every frame */
  PN_ARRAY(uint32_t) selves;  /* bodies that look at themselves, ascending */
  PN_ARRAY(uint32_t) asked;   /* bodies whose trees shall follow now, where that is not all that were touched */
  pnBroadPhase broad;         /* by place */

  PN_ARRAY(pnVertexSet) sets; /* of pnWorld_SetVertices, kept as the lists of a frame are */
  uint64_t setNumber;         /* of its calls */

  /* the frame, kept so that it allocates nothing later */
  PN_ARRAY(pnJob) jobs;
  PN_ARRAY(pnJobBodies) jobBodies;
  PN_ARRAY(uint8_t) isBegun;    /* by job: its trees are all it needs to begin */
  PN_ARRAY(pnKeyValue) perches; /* where a body of each job stands, and the job; twice as many, as they are sorted */
  PN_ARRAY(uint32_t)
  blurred; /* jobs between bodies of very different cells (focus.h): 2 * job, plus 1 where b has the larger */
  pnCollider collider;

  /* the answer of the last frame that succeeded */
  pnPairs pairs;
  PN_ARRAY(pnContact) contacts, nextContacts;
  uint32_t contactCount, endedCount;
  bool isWhole, isWithoutSelf; /* it has all that met then; and what bodies did with themselves is not looked at */
  bool isUnsorted;             /* the pairs of a contact are in no order */
  bool isCurrent;              /* nobody was destroyed since */
  bool isSteady;               /* nothing began in it */
  /* the next one */
  bool isMended; /* the last is right but for bodies that are stirred, and what is found of these is put into it */
  PN_ARRAY(uint64_t) stirred; /* then: touched since, or gone; a bit a place */
  PN_ARRAY(pnSplice) splices;
  uint32_t bodyPairs; /* that were close in it */
  /* the step (swept.c) */
  pnBroadPhase stepBroad; /* boxes around the ways of bodies, by place */
  pnImpactList *stepList;
  pnPairs
      stepPairs; /* bodies that are close on their ways, and each that looks at itself as a pair of one; some at a time */
  PN_ARRAY(pnSweptPair) stepSweeps; /* of these */
  PN_ARRAY(pnStepContact) stepContacts;
  PN_ARRAY(pnFeatureImpact) impacts;

  PN_ARRAY(uint32_t) generations, nextGenerations; /* with soups: of both primitives of every pair; even: no soup */
};

/* Is what the last answer says of two bodies, or of one with itself, to be found anew? Where it is mended. */
PN_INLINE bool pn_isStirred(const pnWorld *world, uint32_t a, uint32_t b) {
  const uint64_t *bits = world->stirred.data;
  return ((bits[a / 64] >> a % 64) | (bits[b / 64] >> b % 64)) & 1;
}

/* The body of an id; null, with a message, when it is null or dead. */
pnBody *pn_findBody(const pnWorld *world, pnBodyId id);
/* Puts the body's name in front of the message of a call that failed, and hands its result through. */
pnResult pn_nameBody(const pnBody *body, pnResult result);
PN_INLINE pnBodyId pn_bodyId(const pnWorld *world, uint32_t place) {
  return (pnBodyId){place + 1, world->bodies.data[place].generation};
}

#endif
