/* pool.h: the threads of a command. */
#ifndef PN_CLI_POOL_H
#define PN_CLI_POOL_H

#include "pinch/base.h"

/* Pairs of triangles that `check`, and `scan` in one frame, look for when --max-pairs does not say: more than anybody reads,
 * and few enough (some 50 MB, a fraction of a second) for files in which everything meets everything. */
#define PN_DEFAULT_MAX_PAIRS 1000000u

/* Threads as asked for (0: one for each core), or fewer, after a word on stderr, when the system has not so many. */
pnResult pn_makePool(const char *command, uint32_t threads, pnPool **outPool);

/* Threads for one of so many processes on this machine: what it may use of the cores, shared. At least 1. */
uint32_t pn_shareCores(uint32_t processes);

#endif
