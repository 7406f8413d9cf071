/* job.h: what bodies ask each other and themselves in a frame. */
#ifndef PN_WORLD_JOB_H
#define PN_WORLD_JOB_H

#include "world/world.h"

/* How far the list of jobs has come: pairs of bodies, bodies that look at themselves, contacts of the last answer; pairs of bodies
 * over all lists of a crowd; and how many jobs the last list had at most. */
typedef struct pnJobPlace {
  size_t next, self;
  uint32_t at;
  size_t asked, most;
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

/* Are pairs by which bodies met before tried first? They are where one of each is enough. */
PN_INLINE bool pn_hasHints(const pnFrameDef *def) {
  return def->first && !(def->lab && def->lab->noHints);
}
/* Does a frame ask for all that meets, but for bodies with themselves? */
PN_INLINE bool pn_asksAll(const pnFrameDef *def) {
  return !def->first && def->maxPairs == 0 && def->maxContacts == 0 && def->maxBodyPairs == 0;
}
/* The next jobs, one for each close pair of bodies and one for each body that looks at itself, in the order of contacts; false: out of
 * memory. Where the last answer is mended, only of who is stirred. */
bool pn_listJobs(pnWorld *world, const pnFrameDef *def, pnJobPlace *p);
/* Which of them are answered by hints: those have an answer, and ask no tree. */
void pn_tryHints(pnWorld *world, pnCost *cost);
/* The others begin, when the trees of their bodies are where they shall be (pn_followAsked); false: out of memory. */
bool pn_beginJobs(pnWorld *world, const pnFrameDef *def);
/* In which order they are run. */
bool pn_orderJobs(pnWorld *world);
/* After they were run: pairs that self filters leave out go; `dense` is where the pairs of the first job begin. */
void pn_filterJobs(pnWorld *world, const pnFrameDef *def, size_t dense, pnCost *cost);
/* And what they have cost bodies whose trees are looked after. */
void pn_bookWork(pnWorld *world);

#endif
