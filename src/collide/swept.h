/* swept.h: what meets between two poses, of many pairs of bodies at once: one search, by all workers. pnCollideSwept is one pair, a step
 * of a world all that are close.
 *
 * swept_list.c has the pairs, the search and its answer; swept.c what is done with triangles whose boxes overlap. */
#ifndef PN_COLLIDE_SWEPT_H
#define PN_COLLIDE_SWEPT_H

#include "collide/jobs.h"
#include "collide/sweep.h"

/* No span is wider than this (pinch/geom.h: 1e-6). */
#define PN_WIDEST_SPAN 0x1p-19

/* Two bodies, or one with itself (b is null or a). */
typedef struct pnSweptPair {
  pnSweep *a, *b;
} pnSweptPair;

/* A pair in a search. */
typedef struct pnSwept {
  pnSink sink; /* first: the traversal knows only this */
  pnSweep *a, *b;
  bool self;
  pnSweptWhat what;
  bool keepsApart;        /* not what meets but how long they stay more than `separation` apart */
  double separation, end; /* the window: boxes are around 0 ... end */
  size_t most;            /* impacts; a worker that has more stops */
  struct pnImpactList *list;
  uint32_t number; /* among the pairs of the search */
  /* out */
  _Atomic double soonest; /* the earliest end of a span, or safe time */
  size_t first, count;    /* its impacts in the list */
  pnImpactSpan earliest;
  pnFeatureImpact best; /* the earliest alone is sought, and found */
  bool isDone;
} pnSwept;

typedef PN_ARRAY(pnFeatureImpact) pnImpacts;

/* Impacts of one pair, from `first` on to those of the next run. */
typedef struct pnImpactRun {
  uint32_t pair;
  size_t first;
} pnImpactRun;

/* What one worker has found. */
typedef struct pnImpactsFound {
  pnImpacts impacts;
  PN_ARRAY(pnImpactRun) runs;
} pnImpactsFound;

struct pnImpactList {
  pnCollider collider;
  pnImpactsFound *found; /* one a worker */
  uint32_t workerCount;
  PN_ARRAY(pnSwept) pairs;
  PN_ARRAY(pnJob) jobs;
  PN_ARRAY(pnSweep *) sweeps; /* of pairs that are not done, each once */
  pnImpacts all, scratch;
  PN_ARRAY(pnKeyValue) keys;
  pnImpactSpan earliest;
  bool limited;
};

/* The earliest of all so far and one more: both ends of the span are the least. */
PN_INLINE void pn_takeEarlier(pnImpactSpan *all, const pnImpactSpan *span) {
  all->lo = all->meets ? PN_MIN(all->lo, span->lo) : span->lo;
  all->hi = all->meets ? PN_MIN(all->hi, span->hi) : span->hi;
  all->meets = true;
}

/* pnCollideSwept of many pairs: impacts stand pair after pair, and of each it is said where (list->pairs: first, count, earliest). */
pnResult pn_collideSweptPairs(const pnSweptPair *pairs, uint32_t count, const pnSweptDef *def, pnImpactList *list,
                              pnCost *outCost);
/* pnFindSafeStep of many pairs: the part that is safe for all. */
pnResult pn_findSafePart(const pnSweptPair *pairs, uint32_t count, double separation, const pnTasks *tasks,
                         pnImpactList *list, double *outSafe);

/* swept.c: pairs of triangles whose boxes overlap, as the traversal hands them over: a sink. */
bool pn_takeSwept(pnSink *sink, const pnTraversal *t, pnWorker *w, const pnPair *pairs, size_t count);

#endif
