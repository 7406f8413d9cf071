/* contact.h: from the pairs of jobs to contacts that began, go on or ended. The answer is put together beside the old one, or, where that is right
 * about many, what concerns the others is put into it. */
#ifndef PN_WORLD_CONTACT_H
#define PN_WORLD_CONTACT_H

#include "world/world.h"

PN_INLINE bool pn_isSameBody(pnBodyId a, pnBodyId b) {
  return a.index1 == b.index1 && a.generation == b.generation;
}

/* Contacts are ordered by places, which live bodies do not share. */
PN_INLINE int pn_compareContacts(const pnContact *x, const pnContact *y) {
  if (x->a.index1 != y->a.index1) return x->a.index1 < y->a.index1 ? -1 : 1;
  return x->b.index1 < y->b.index1 ? -1 : x->b.index1 > y->b.index1;
}

/* Which of the two it is to be (pnWorld.isMended). False: out of memory. */
bool pn_beginAnswer(pnWorld *world, const pnFrameDef *def);
/* The contacts of the jobs that were run, at most so many in all (0: no limit; frame->limited says when), and the generations of
 * primitives in their pairs. False: out of memory. */
bool pn_addContacts(pnWorld *world, uint32_t most, pnFrame *frame);
bool pn_noteGenerations(pnWorld *world);
/* When all are there: which go on, and which have ended. False: out of memory. After it nothing fails any more. */
bool pn_endContacts(pnWorld *world, pnFrame *frame);
/* The new answer takes the place of the old one, or is put into it. */
void pn_publishContacts(pnWorld *world, const pnFrame *frame);

#endif
