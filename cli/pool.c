/* pool.c: the threads of a command. A system that gives none, or not so many, is no reason to give up: the answer does not
 * depend on them. */
#define _GNU_SOURCE /* sched_getaffinity */

#include "pool.h"

#include "out.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

pnResult pn_makePool(const char *command, uint32_t threads, pnPool **outPool) {
  pnResult result = pnCreatePool(threads, outPool);
  if (result != PN_ERROR_MEMORY) return result;
  for (uint32_t fewer = (threads == 0 ? PN_MAX_WORKERS : threads) / 2; fewer >= 1; fewer /= 2) {
    if (pnCreatePool(fewer, outPool) != PN_OK) continue;
    if (!pn_isQuiet())
      fprintf(stderr, "pinch %s: the system gives no more threads; going on with %u\n", command, fewer);
    return PN_OK;
  }
  return PN_ERROR_MEMORY;
}

uint32_t pn_shareCores(uint32_t processes) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN), mine = cores;
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) mine = CPU_COUNT(&set);
#endif
  // Bound to some of them (mpirun does that), they are this process's own.
  long share = mine < cores ? mine : cores / (long)processes;
  return share < 1 ? 1 : (uint32_t)share;
}
