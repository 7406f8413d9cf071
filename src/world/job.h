/* job.h: what bodies ask each other and themselves in a frame. */
#ifndef PN_WORLD_JOB_H
#define PN_WORLD_JOB_H

#include "world/world.h"

/* How far the list of jobs has come: pairs of bodies, bodies that look at themselves, contacts of the last answer; and pairs of bodies
 * over all lists of a crowd. */
typedef struct pnJobPlace {
  size_t next, self;
  uint32_t at;
  size_t asked;
} pnJobPlace;

/* Is there a body that looks at itself, of those whose pairs are listed? */
PN_INLINE bool pn_isSelfLeft(const pnWorld *world, const pnJobPlace *p) {
  return p->self < world->selves.count && world->selves.data[p->self] < pn_closeEnd(&world->broad);
}
/* Jobs of the pairs that are listed; a crowd has more of them (pn_isCloseLeft). */
PN_INLINE bool pn_areJobsLeft(const pnWorld *world, const pnJobPlace *p) {
  return p->next < world->broad.pairs.count || pn_isSelfLeft(world, p);
}
/* Are there more pairs of bodies than are to be looked at, and were these? */
PN_INLINE bool pn_areEnoughAsked(const pnWorld *world, const pnFrameDef *def, const pnJobPlace *p) {
  bool left = p->next < world->broad.pairs.count || pn_isCloseLeft(&world->broad);
  return def->maxBodyPairs > 0 && p->asked >= def->maxBodyPairs && left;
}

/* The next jobs, one for each close pair of bodies and one for each body that looks at itself, in the order of contacts; false: out of
 * memory. */
bool pn_makeJobs(pnWorld *world, const pnFrameDef *def, pnJobPlace *p, pnCost *cost);
/* In which order they are run. */
bool pn_orderJobs(pnWorld *world);
/* After they were run: pairs that self filters leave out go; `dense` is where the pairs of the first job begin. */
void pn_filterJobs(pnWorld *world, const pnFrameDef *def, size_t dense, pnCost *cost);
/* And what they have cost bodies whose trees are looked after. */
void pn_bookWork(pnWorld *world);

#endif
