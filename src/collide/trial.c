/* trial.c: see trial.h. */
#include "collide/trial.h"

/* Pairs that are remembered at most, at which both counts are halved. */
#define MEMORY 4096u
/* Pairs that go by after a trial that failed; after each that follows it twice as many, up to so many times. */
#define FIRST_REST 4096u
#define MOST_RESTS 6u

void pn_judgeTrial(pnTrial *trial, size_t asked, size_t apart) {
  trial->asked += (uint32_t)asked;
  trial->apart += (uint32_t)apart;
  if (trial->asked < PN_TRIAL_PAIRS) return;
  if (2 * trial->apart < trial->asked) {
    trial->rest = (uint64_t)FIRST_REST << trial->failed;
    trial->failed = PN_MIN(trial->failed + 1, MOST_RESTS);
    trial->asked = trial->apart = 0;
    trial->stands = false;
  } else {
    trial->failed = 0;
  }
  if (trial->asked > MEMORY) {
    trial->asked /= 2;
    trial->apart /= 2;
  }
}
