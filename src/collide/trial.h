/* trial.h: whether something that may take pairs out of a list pays, found out by doing it.
 *
 * Each worker has a trial for each such thing and judges it by its own pairs, so that what is opened may differ with threads; what is found
 * does not. */
#ifndef PN_COLLIDE_TRIAL_H
#define PN_COLLIDE_TRIAL_H

#include "base/core.h"

/* What a worker has seen: pairs asked and found apart; how many go by before it tries again, and how often in a row it has failed. Kept from
 * run to run. */
typedef struct pnTrial {
  uint32_t asked, apart, failed;
  bool stands; /* it paid in the run before, so that it is used from the beginning of this one */
  uint64_t rest;
} pnTrial;

/* Pairs that are asked at least before it is judged. */
#define PN_TRIAL_PAIRS 128u

/* After so many pairs were asked, of which so many were apart: where it was less than half, it rests. That is for what costs a fourth of what it
 * costs to open a pair, with what comes of it, or less. */
void pn_judgeTrial(pnTrial *trial, size_t asked, size_t apart);

/* Is it resting? So many pairs go by. */
PN_INLINE bool pn_restOn(pnTrial *trial, size_t count) {
  bool rests = trial->rest > 0;
  trial->rest -= PN_MIN(trial->rest, count);
  return rests;
}

#endif
