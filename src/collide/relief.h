/* relief.h: who is done relieves others.
 *
 * How much is in a pair of nodes nobody knows before it is opened, so that however small the portions are that work is dealt in, one
 * of them is the last, and all but one wait for it; and the smaller they are, the more is opened before there is anything to deal, by
 * one thread, and the more workers need the same nodes. So portions are few and large, and a worker that finds none left asks. Who
 * is still at work looks now and then whether anybody asks, and hands half of his pairs over: those nearest to the root, which he would
 * come to last, or of his leaves. Pairs are found by whoever opens them, and sorted at the end: who that was makes no difference.
 *
 * An ask is a line of memory of its own, at which only the asker looks. He waits for no longer than a worker of the pool spins
 * before it sleeps, and only while others are really at work: under task hooks that run one range after the other nobody
 * waits. With more workers than cores nobody asks. */
#ifndef PN_COLLIDE_RELIEF_H
#define PN_COLLIDE_RELIEF_H

#include "collide/traverse.h"

/* Pairs that are handed over at a time, at most. */
#define PN_RELIEF_PAIRS 254u

typedef struct pnRelay {
  _Atomic uint32_t state; /* whether pairs are wanted, or there; see relief.c */
  uint32_t count, job;
  pnPair pairs[PN_RELIEF_PAIRS];
  char apart[60];
} pnRelay;

typedef struct pnRelief {
  _Atomic uint32_t unbegun; /* items that nobody has begun */
  char apart[60];
  _Atomic uint32_t undone; /* items and what was handed over that are not done */
  char apart2[60];
  _Atomic uint32_t askers;
  char apart3[60];
  uint32_t workers;
  pnRelay asks[]; /* one a worker */
} pnRelief;

/* For so many workers; null: no memory. */
pnRelief *pn_createRelief(uint32_t workers);
void pn_freeRelief(pnRelief *relief);
void pn_beginRelief(pnRelief *relief, uint32_t items);

/* A worker begins an item, and is done with one or with what it was given. */
PN_INLINE void pn_beginItem(pnRelief *relief) {
  atomic_fetch_sub_explicit(&relief->unbegun, 1, memory_order_relaxed);
}
PN_INLINE void pn_endItem(pnRelief *relief) {
  atomic_fetch_sub_explicit(&relief->undone, 1, memory_order_release);
}

/* Is nothing left to begin, so that who is done will ask? */
PN_INLINE bool pn_isEnding(const pnRelief *relief) {
  return relief && atomic_load_explicit(&relief->unbegun, memory_order_relaxed) == 0;
}
/* Does anybody ask? */
PN_INLINE bool pn_isAsked(const pnRelief *relief) {
  return relief && atomic_load_explicit(&relief->askers, memory_order_relaxed) > 0;
}

/* Hands over some of a worker's pairs of nodes, or of leaves after the first `leavesDone`, to whoever asks, if it has many. */
void pn_handOver(pnWorker *w, size_t leavesDone);
/* Asks and waits, when all items are begun and others are at work. True: w->lists[0] has pairs of the job *outJob, to be run and
 * ended with pn_endItem; without memory the worker says so and the list is empty. */
bool pn_takeOver(pnRelief *relief, uint32_t worker, pnWorker *w, uint32_t *outJob);

#endif
