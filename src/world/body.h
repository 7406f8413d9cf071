/* body.h: a body as the world keeps it. */
#ifndef PN_WORLD_BODY_H
#define PN_WORLD_BODY_H

#include "base/core.h"
#include "pinch/world.h"

/* What a kind of body is made of, takes, and follows by; one row each (body.c). */
typedef struct pnKindRow {
  const char *name;       /* in messages */
  bool ofMesh;            /* it has a pose of a mesh; else its vertices are a soup's */
  bool morph, needsMorph; /* it may, must have targets; likewise joints */
  bool skin, needsSkin;
  bool vertices, weights, joints; /* what may be set; and a transform, unless there is a reason not to */
  const char *noTransform;
  bool wears;      /* its tree may come to fit badly, and is looked after (tend.c) */
  pnUpdate update; /* the rule, when the caller leaves it open */
} pnKindRow;

#define PN_KIND_COUNT (PN_BODY_SOUP + 1)
extern const pnKindRow pn_kinds[PN_KIND_COUNT];

/* Null: there is no such kind. */
PN_INLINE const pnKindRow *pn_kindOf(pnBodyKind kind) {
  return (uint32_t)kind < PN_KIND_COUNT ? &pn_kinds[kind] : NULL;
}

typedef struct pnBody {
  /* what a frame looks at of every body that moves or has something near it, side by side */
  uint32_t generation; /* grows when the place is taken and when it is given up; odd: alive */
  pnBodyKind kind;
  uint32_t category, mask;
  pnPose *pose; /* null for a soup and for a shared static tree */
  pnTree *tree;
  struct pnMirror *mirror; /* mirror.h; mostly null */
  bool ownsTree, self;
  bool isTouched;             /* it is in the world's list, */
  uint32_t touchedAt;         /* here */
  bool isLate;                /* its tree waits, and does not stand where it is */
  bool isAsked;               /* it is in the world's list of those, for a moment */
  bool isNew;                 /* no frame has succeeded since it was made */
  bool hasMoved;              /* it was touched after that, or moves without telling the world */
  bool isTended;              /* its tree is looked after (tend.c) */
  bool isWorn;                /* it has become worse than it may: pnWorldDef.rebuildQuality */
  bool hasLooseBox;           /* looseBox, below */
  _Atomic uint64_t nearFrame; /* the last in which a job asked for its tree */
  uint64_t setNumber;         /* of the last pnWorld_SetVertices that named it */

  const pnSoup *soup;
  struct pnCourse *course; /* in the step: course.h; null until one has begun */
  pnSelfFilter selfFilter;
  uint32_t *groups;              /* our copy of selfFilter.triangleGroup */
  bool wasBlind;                 /* its tree was built over vertices that said nothing, and then anew */
  float quality;                 /* of its tree when that was last looked at; 0: never */
  float newQuality;              /* the same in the frame that is being made */
  uint64_t bookFrame;            /* tended: the last frame in which it took part in something, */
  uint64_t opened, tested;       /* the pairs of nodes opened in that, and of triangles that came of them */
  uint64_t debt;                 /* worn: pairs of nodes opened since then */
  struct pnSuccessor *successor; /* a new tree in the making or on trial: successor.h; mostly null */
  float refused;                 /* the quality at which a new tree was no better; 0: none was */
  float refusedWaste;            /* and the pairs of nodes for each of triangles */
  uint64_t refusedOpened;        /* the pairs of nodes opened in a frame after which a mirror opened no fewer */
  struct pnWatch *watch;         /* it was torn: watch.h; mostly null */
  struct pnCutting *cutting;     /* of the first large body beside it: collide/cutting.h; mostly null */
  struct pnFoci *foci;           /* focus.h; mostly null */
  uint64_t cutFrame;             /* in which it was last handed out */
  pnBox looseBox;
  char *name;
  void *userData;
  uint32_t freeNext; /* of a dead place: 1 + the next one that is free, 0: none */
  bool inChain;      /* of those whose tree can be shared (twin.h) */
  uint32_t twinNext, twinBefore;
} pnBody;

/* Fills a zeroed body from a definition; on failure nothing is left behind. */
pnResult pn_bodyCreate(pnBody *body, const pnBodyDef *def);
/* Frees what a body holds, not its place. */
void pn_bodyFree(pnBody *body);

#endif
