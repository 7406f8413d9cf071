/* rank_mpi.c: ranks over MPI. Only messages from one to one are used, never a call that waits for all: a rank that is gone
 * keeps nobody waiting. MPI is not even begun when nobody started several processes: then it costs nothing.
 *
 * MPI needs a while to begin: it looks for networks and waits for the others, mostly asleep. So a thread begins it, while this
 * process reads its files, and the first question about ranks waits for that thread. What begins MPI must end it, so the thread stays
 * until then; in between it sleeps, and messages are sent and received by whoever works (MPI_THREAD_SERIALIZED). */
#include "rank.h"

#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
  bool begun;
  int count, number, neighbours;
  int zero;          /* process of rank 0, when it can be seen from here; else 0 */
  int step;          /* tasks that srun says it started; 1 without it */
  bool lacksThreads; /* then it has begun, and nobody may use it */
} ranks = {.count = 1, .neighbours = 1};

/* The thread that begins and ends MPI. */
static struct {
  bool fails, runs; /* it was wanted and is not there; it is there */
  bool met, ends;   /* MPI has begun, or cannot; MPI is to be ended */
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
} keeper = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

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

/* MPI begins, in the thread that will end it. */
static void beginMpi(void) {
  int given = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &given) != MPI_SUCCESS) return;
  ranks.begun = true;
  ranks.lacksThreads = given < MPI_THREAD_SERIALIZED;
  if (ranks.lacksThreads) return;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.number);
  MPI_Comm near;
  if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near) == MPI_SUCCESS) {
    MPI_Comm_size(near, &ranks.neighbours);
    meetZero(near);
    MPI_Comm_free(&near);
  }
}

static void *keepMpi(void *unused) {
  (void)unused;
  beginMpi();
  pthread_mutex_lock(&keeper.lock);
  keeper.met = true;
  pthread_cond_broadcast(&keeper.changed);
  while (!keeper.ends) pthread_cond_wait(&keeper.changed, &keeper.lock);
  pthread_mutex_unlock(&keeper.lock);
  if (ranks.begun) MPI_Finalize();
  return NULL;
}

/* Who asks about the others waits until they have met. */
static void waitForMpi(void) {
  if (!keeper.runs) return;
  pthread_mutex_lock(&keeper.lock);
  while (!keeper.met) pthread_cond_wait(&keeper.changed, &keeper.lock);
  pthread_mutex_unlock(&keeper.lock);
}

void pn_ranksBegin(void) {
  ranks.step = countOf("SLURM_STEP_NUM_TASKS");
  if (countOf("OMPI_COMM_WORLD_SIZE") == 1 && countOf("PMI_SIZE") == 1 && ranks.step == 1) return;
  // Signals go to the thread that works, as without ranks.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  keeper.runs = pthread_create(&keeper.thread, NULL, keepMpi, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  keeper.fails = !keeper.runs;
}

pnResult pn_ranksMeet(void) {
  waitForMpi();
  if (keeper.fails || (keeper.runs && !ranks.begun)) return pnFail(PN_ERROR_UNSUPPORTED, "MPI does not begin");
  if (ranks.lacksThreads)
    return pnFail(PN_ERROR_UNSUPPORTED, "this MPI was built without threads (MPI_THREAD_SERIALIZED)");
  // Tasks of srun that MPI does not know of one another would all do everything, and write the same files.
  if (ranks.count == 1 && ranks.step > 1)
    return pnFail(PN_ERROR_UNSUPPORTED,
                  "srun started %d tasks, and MPI sees one: give srun a --mpi that fits (srun --mpi=list)", ranks.step);
  return PN_OK;
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
  waitForMpi();
  if (!ranks.begun) return;
  // MPI would wait for ranks that are gone, and mpirun for us all.
  if (!whole && ranks.number == 0) fflush(NULL), MPI_Abort(MPI_COMM_WORLD, status);
  if (!whole) return;
  finishSends();
  pthread_mutex_lock(&keeper.lock);
  keeper.ends = true;
  pthread_cond_broadcast(&keeper.changed);
  pthread_mutex_unlock(&keeper.lock);
  pthread_join(keeper.thread, NULL);
}

uint32_t pn_rankCount(void) {
  waitForMpi();
  return (uint32_t)ranks.count;
}

uint32_t pn_rankNumber(void) {
  waitForMpi();
  return (uint32_t)ranks.number;
}

uint32_t pn_rankNeighbours(void) {
  waitForMpi();
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
