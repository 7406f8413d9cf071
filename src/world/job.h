/* job.h: what bodies ask each other and themselves in a frame. */
#ifndef PN_WORLD_JOB_H
#define PN_WORLD_JOB_H

#include "world/world.h"

/* How far the list of jobs has come: pairs of bodies, bodies that look at themselves, contacts of the last answer. */
typedef struct pnJobPlace {
  size_t next, self;
  uint32_t at;
} pnJobPlace;

PN_INLINE bool pn_areJobsLeft(const pnWorld *world, const pnJobPlace *p) {
  return p->next < world->broad.pairs.count || p->self < world->selves.count;
}

/* The next jobs, one for each close pair of bodies and one for each body that looks at itself, in the order of contacts; false: out of
 * memory. */
bool pn_makeJobs(pnWorld *world, const pnFrameDef *def, pnJobPlace *p, pnCost *cost);
/* In which order they are run. */
bool pn_orderJobs(pnWorld *world);
/* After they were run: pairs that self filters leave out go; `dense` is where the pairs of the first job begin. */
void pn_filterJobs(pnWorld *world, const pnFrameDef *def, size_t dense, pnCost *cost);
/* And what they have cost bodies whose trees are worn. */
void pn_bookWear(pnWorld *world);

#endif
