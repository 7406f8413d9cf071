/* pool.h: the threads of a command. */
#ifndef PN_CLI_POOL_H
#define PN_CLI_POOL_H

#include "pinch/base.h"

/* Pairs of triangles that `check`, and `scan` in one frame, look for when --max-pairs does not say: more than anybody reads,
 * and few enough (some 50 MB, a fraction of a second) for files in which everything meets everything. */
#define PN_DEFAULT_MAX_PAIRS 1000000u

/* Every two bodies that meet, or one inside the other, have a line in the tables and a finding at least. So many of a frame are kept,
 * where pairs of triangles have a limit too: a file of 80 KB may have five thousand bodies in one place. */
#define PN_MOST_CONTACTS 4096u

/* And so many pairs of close bodies are asked about, half as many as pairs are looked for: an answer of two bodies is a microsecond
 * even when it is no. 0: all. */
static inline uint32_t pn_mostClose(uint32_t maxPairs) {
  return maxPairs / 2 + maxPairs % 2;
}

/* Threads as asked for (0: one for each core), or fewer, after a word on stderr, when the system has not so many. */
pnResult pn_makePool(const char *command, uint32_t threads, pnPool **outPool);

/* Threads for one of so many processes on this machine: what it may use of the cores, shared. At least 1. */
uint32_t pn_shareCores(uint32_t processes);

#endif
