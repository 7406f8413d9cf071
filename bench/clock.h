/* clock.h: seconds on the processor, of this thread and of the whole program: other programs on the machine do not lengthen them. */
#ifndef PN_BENCH_CLOCK_H
#define PN_BENCH_CLOCK_H

#include <time.h>

static inline double pn_clockSeconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
static inline double pn_threadTime(void) {
  return pn_clockSeconds(CLOCK_THREAD_CPUTIME_ID);
}
static inline double pn_processTime(void) {
  return pn_clockSeconds(CLOCK_PROCESS_CPUTIME_ID);
}

#endif
