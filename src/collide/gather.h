/* gather.h: what workers have found, each in a list of its own, put together job by job, and sorted. */
#ifndef PN_COLLIDE_GATHER_H
#define PN_COLLIDE_GATHER_H

#include "collide/jobs.h"

/* Appends the pairs of all jobs to c->pairs and says in each job where its own are. *outLimited: there are more than are wanted. False: out
 * of memory. */
bool pn_gatherPairs(pnCollider *c, pnJob *jobs, uint32_t jobCount, const pnRunDef *def, pnCost *cost, bool *outLimited);

#endif
