/* jobs.h: many questions at once, on several threads. The world asks one for each pair of bodies, pnCollideTrees one. */
#ifndef PN_COLLIDE_JOBS_H
#define PN_COLLIDE_JOBS_H

#include "base/sort.h"
#include "collide/cutting.h"
#include "collide/proof.h"

/* One question and where its answer stands. A crowd has a hundred thousand of them, so it is small, and what a traversal needs
 * is found out when it runs. */
typedef struct pnJob {
  pnTree *a, *b;      /* b null: a with itself */
  pnPair known;       /* first: one that meets, which is the answer */
  bool isKnown;       /* is there one? Then the trees are not asked */
  pnCutting *cutting; /* this job's alone (cutting.h), or null */
  bool first;
  bool neighbours;             /* self: also neighbours that meet in more than what they share */
  bool planeDecides, noPlanes; /* as in pnTraversal */
  pnOpen open;                 /* as in pnTraversal */
  pnSink *sink;                /* as in pnTraversal */
  uint32_t proofs;             /* self: bits of those that were prepared (proof.h) */
  bool inPieces;               /* out: one of the trees has big triangles in pieces */
  _Atomic uint32_t opened;     /* out: pairs of nodes, leaves or not */
  _Atomic uint32_t tested;     /* out: pairs of triangles that came of them */
  size_t pairFirst, pairCount; /* out: sorted, into the collider's pairs */
} pnJob;

/* A part of the work for one worker. */
typedef enum pnItemKind {
  PN_ITEM_SEEDS,      /* a range of pairs of nodes of one job */
  PN_ITEM_NEIGHBOURS, /* a range of the neighbours of one job */
  PN_ITEM_JOBS        /* a range of small jobs, each from the roots on */
} pnItemKind;
typedef struct pnItem {
  uint32_t job, begin, end;
  pnItemKind kind;
} pnItem;

/* Which pairs in a worker's `found` belong to which item, and so to which job. */
typedef struct pnSegment {
  uint32_t item, job;
  size_t begin, end;
  size_t to;              /* their place in the answer */
  struct pnSegment *next; /* of the same job; of several workers */
} pnSegment;

typedef PN_ARRAY(pnSegment) pnSegments;

/* Memory that is kept from frame to frame. A zeroed one is valid and empty. */
typedef struct pnCollider {
  pnWorker *workers;
  pnSegments *segments; /* one list a worker */
  uint32_t workerCount;
  struct pnRelief *relief; /* of several workers; null: nobody asks */
  pnPairs seeds;
  PN_ARRAY(pnItem) items;
  PN_ARRAY(uint32_t) whole;   /* jobs that are run as they are */
  PN_ARRAY(uint32_t) order;   /* by the caller: all jobs, neighbours together; none: as they stand */
  pnSegments ordered;         /* with a limit: the segments of all workers by item; `item` is the worker there */
  pnPairs pairs;              /* the answers, job after job */
  PN_ARRAY(uint64_t) scratch; /* for sorting, by several workers */
  PN_ARRAY(pnKeyList) keyLists;
  PN_ARRAY(pnSegment *) firsts; /* the first segment of each job, of several workers */
  pnProofRoom room;
  bool slantsPay, tiltsPay; /* by the last run, of several workers (slant.h, tilt.h) */
} pnCollider;

/* How jobs are run. */
typedef struct pnRunDef {
  const pnTasks *tasks;
  pnKernel kernel;
  bool unsorted;  /* else every job's pairs are sorted by a, then b */
  bool ahead;     /* there will be runs like this one: room is made for more pairs than are found */
  bool small;     /* small bodies are looked at as a whole (small.h), and not by their trees */
  bool countOnly; /* no pairs, only pnCost.pairs; not for jobs with pieces, which give some pairs twice */
  /* 0: all pairs. Else the search ends when there are more than this, and those kept are the first in the order of jobs and, in a
   * job, in that of its items, which then do not depend on the number of workers. */
  size_t maxPairs;
} pnRunDef;

/* Runs all jobs over updated trees and appends their pairs to c->pairs. Adds to cost. *outLimited: there are more pairs. */
pnResult pn_runJobs(pnCollider *c, pnJob *jobs, uint32_t jobCount, const pnRunDef *def, pnCost *cost, bool *outLimited);
/* As much room in an empty list as the other has, for the next run: who keeps the answer of one run while the next is made has two lists that
 * change places, and should make room in both in one frame. Without memory for it nothing happens. */
void pn_makeRoomLike(pnPairs *list, const pnPairs *other);
void pn_colliderFree(pnCollider *c);

#endif
