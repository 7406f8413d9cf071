/* body.h: a body as the world keeps it. */
#ifndef PN_WORLD_BODY_H
#define PN_WORLD_BODY_H

#include "pinch/world.h"

typedef struct pnBody {
  uint32_t generation; /* grows when the place is taken and when it is given up; odd: alive */
  pnBodyKind kind;
  pnPose *pose; /* null for a soup and for a shared static tree */
  const pnSoup *soup;
  pnTree *tree;
  bool ownsTree;
  pnSweep *sweep; /* its way in the step (swept.c); null until a step has begun */
  bool self;
  pnSelfFilter selfFilter;
  uint32_t *groups; /* our copy of selfFilter.triangleGroup */
  uint32_t category, mask;
  bool isTouched;          /* it is in the world's list */
  bool isWorn;             /* its tree is worse than pnWorldDef.rebuildQuality */
  float quality;           /* of its tree when that was last looked at; 0: never */
  uint64_t debt;           /* worn: pairs of leaves opened since then */
  struct pnMirror *mirror; /* mirror.h; mostly null */
  bool hasLooseBox;
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
