/* pool.c: the threads of a command. A system that gives none, or not so many, is no reason to give up: the answer does not
 * depend on them. */
#include "pool.h"

#include "out.h"

#include <stdio.h>

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
