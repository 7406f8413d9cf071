/* rank_mpi.c: ranks over MPI. Only messages from one to one are used, never a call that waits for all: a rank that is gone
 * keeps nobody waiting. MPI is not even begun when nobody started several processes: then it costs nothing. */
#include "rank.h"

#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
  bool begun;
  int count, number, neighbours;
  int zero; /* process of rank 0, when it can be seen from here; else 0 */
} ranks = {.count = 1, .neighbours = 1};

/* Messages on their way, with their bytes. */
#define MOST_SENDS 64
static struct {
  MPI_Request request;
  void *bytes;
} sends[MOST_SENDS];
static int sendCount;

/* ---------------------------------------------------------------- beginning and end */

/* How many processes a variable of the environment speaks of; 1 without it. */
static int countOf(const char *name) {
  const char *text = getenv(name);
  return text && atoi(text) > 1 ? atoi(text) : 1;
}

/* Which process is rank 0? The first of a machine's ranks tells the others; they see it, unless each has a list of processes of its own. */
static void meetZero(MPI_Comm near) {
  int first[2] = {ranks.number, (int)getpid()};
  if (MPI_Bcast(first, 2, MPI_INT, 0, near) != MPI_SUCCESS || first[0] != 0 || ranks.number == 0) return;
  if (kill(first[1], 0) == 0) ranks.zero = first[1];
}

bool pn_rankZeroIsGone(void) {
  return ranks.zero > 0 && kill(ranks.zero, 0) != 0 && errno == ESRCH;
}

bool pn_ranksBegin(const char *command) {
  int step = countOf("SLURM_STEP_NUM_TASKS");
  bool started = countOf("OMPI_COMM_WORLD_SIZE") > 1 || countOf("PMI_SIZE") > 1 || step > 1;
  if (!started) return true;
  int given;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS) {
    fprintf(stderr, "pinch %s: MPI does not begin\n", command);
    return false;
  }
  ranks.begun = true;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.number);
  MPI_Comm near;
  if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near) == MPI_SUCCESS) {
    MPI_Comm_size(near, &ranks.neighbours);
    meetZero(near);
    MPI_Comm_free(&near);
  }
  // Tasks of srun that MPI does not know of one another would all do everything, and write the same files.
  if (ranks.count == 1 && step > 1) {
    fprintf(stderr,
            "pinch %s: srun started %d tasks, and MPI sees one: give srun a --mpi that fits (srun --mpi=list)\n",
            command, step);
    return false;
  }
  return true;
}

/* Waits for what was sent. */
static void finishSends(void) {
  for (int i = 0; i < sendCount; ++i) {
    MPI_Wait(&sends[i].request, MPI_STATUS_IGNORE);
    free(sends[i].bytes);
  }
  sendCount = 0;
}

void pn_ranksEnd(bool whole, int status) {
  if (!ranks.begun) return;
  ranks.begun = false;
  // MPI would wait for ranks that are gone, and mpirun for us all.
  if (!whole && ranks.number == 0) fflush(NULL), MPI_Abort(MPI_COMM_WORLD, status);
  if (!whole) return;
  finishSends();
  MPI_Finalize();
}

uint32_t pn_rankCount(void) {
  return (uint32_t)ranks.count;
}

uint32_t pn_rankNumber(void) {
  return (uint32_t)ranks.number;
}

uint32_t pn_rankNeighbours(void) {
  return (uint32_t)ranks.neighbours;
}

/* ---------------------------------------------------------------- messages */

/* Forgets the messages that have arrived. */
static void reapSends(void) {
  for (int i = 0; i < sendCount;) {
    int done = 0;
    if (MPI_Test(&sends[i].request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done) {
      free(sends[i].bytes);
      sends[i] = sends[--sendCount];
    } else {
      ++i;
    }
  }
}

pnResult pn_rankSend(uint32_t to, int kind, const void *bytes, size_t byteCount) {
  if (byteCount > INT_MAX)
    return pnFail(PN_ERROR_COUNT, "what meets in a frame takes %zu bytes, too many for a message", byteCount);
  for (reapSends(); sendCount == MOST_SENDS; reapSends()) usleep(200);
  void *copy = malloc(byteCount + 1);
  if (!copy) return pnFail(PN_ERROR_MEMORY, "out of memory for a message");
  if (byteCount > 0) memcpy(copy, bytes, byteCount);
  if (MPI_Isend(copy, (int)byteCount, MPI_BYTE, (int)to, kind, MPI_COMM_WORLD, &sends[sendCount].request) !=
      MPI_SUCCESS) {
    free(copy);
    return pnFail(PN_ERROR_FILE, "rank %u cannot be reached", to);
  }
  sends[sendCount++].bytes = copy;
  return PN_OK;
}

pnResult pn_rankReceive(bool *outThere, uint32_t *outFrom, int *outKind, pnBytes *outBytes) {
  int there = 0, count = 0;
  MPI_Status status;
  reapSends();
  *outThere = false;
  if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS)
    return pnFail(PN_ERROR_FILE, "another rank cannot be reached");
  if (!there) return PN_OK;
  MPI_Get_count(&status, MPI_BYTE, &count);
  outBytes->size = 0;
  if ((size_t)count > outBytes->capacity) {
    uint8_t *data = realloc(outBytes->data, (size_t)count);
    if (!data) return pnFail(PN_ERROR_MEMORY, "out of memory for a message of %d bytes", count);
    outBytes->data = data;
    outBytes->capacity = (size_t)count;
  }
  if (MPI_Recv(outBytes->data, count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !=
      MPI_SUCCESS)
    return pnFail(PN_ERROR_FILE, "rank %d cannot be reached", status.MPI_SOURCE);
  outBytes->size = (size_t)count;
  *outThere = true;
  *outFrom = (uint32_t)status.MPI_SOURCE;
  *outKind = status.MPI_TAG;
  return PN_OK;
}
