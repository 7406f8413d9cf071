/* rank_none.c: a build without MPI: everybody is alone. */
#include "rank.h"

#include <stdlib.h>

void pn_ranksBegin(void) {}

pnResult pn_ranksMeet(void) {
  // Each of them would do all of it, and write the same files.
  static const char *const counts[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
  for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); ++i) {
    const char *count = getenv(counts[i]);
    if (count && atoi(count) > 1)
      return pnFail(
          PN_ERROR_UNSUPPORTED,
          "%s processes were started, and this pinch was built without MPI: they cannot share the work. Start "
          "one, or use --part",
          count);
  }
  return PN_OK;
}

void pn_ranksEnd(bool whole, int status) {
  (void)whole, (void)status;
}

uint32_t pn_rankCount(void) {
  return 1;
}

uint32_t pn_rankNumber(void) {
  return 0;
}

bool pn_rankZeroIsGone(void) {
  return false;
}

uint32_t pn_rankNeighbours(void) {
  return 1;
}

pnResult pn_rankSend(uint32_t to, int kind, const void *bytes, size_t byteCount) {
  (void)to, (void)kind, (void)bytes, (void)byteCount;
  return pnFail(PN_ERROR_UNSUPPORTED, "this pinch was built without MPI");
}

pnResult pn_rankReceive(bool *outThere, uint32_t *outFrom, int *outKind, pnBytes *outBytes) {
  (void)outFrom, (void)outKind, (void)outBytes;
  *outThere = false;
  return PN_OK;
}
