/* task.c: the parallel-for and the built-in pool of workers.
 *
 * The idea. A frame of a fraction of a millisecond holds several parallel loops, so starting one must cost about a
 * microsecond and must never wait for a worker that is asleep or was moved off its core by the system:
 *
 *   - A loop is a *job*. Every worker has a share of its ranges, the same part of the items in every loop: what it wrote in one
 *     is in its cache in the next, and two workers are not at neighbouring items at one time. It takes ranges from the
 *     front of its share; who has none left takes one from the back of another's. So nobody counts with all others.
 *   - The word `state` has the number of the job and whether it is open, and only the caller writes it. A worker enters by
 *     saying so in a word of its own, `inside`, and then looking whether the job is still open; it leaves by taking that
 *     back. The caller opens the job, works on it as worker 0, closes it when no range is left, and then waits only for
 *     those who are inside. Who comes late finds it closed. So nobody has to win a word that all others want too.
 *   - Workers without a job spin for a moment, then sleep on a monitor until the next one.
 *
 *   state:   | job number (62 bits) | quit (1 bit) | open (1 bit) |
 *
 * A call made while the pool is already busy (from inside a task, or from another thread) runs on its own thread. */
#include "base/task.h"

#include "base/fenv.h"
#include "base/memory.h"
#include "base/thread.h"

#include <stdalign.h>

#define STATE_OPEN UINT64_C(1)
#define STATE_QUIT UINT64_C(2)
#define STATE_JOB UINT64_C(4)

/* How long a worker spins before it sleeps. Waking a sleeper costs some 50 microseconds, and the serial parts between
 * the loops of one frame are shorter than twice that: within a frame nobody sleeps, between frames everybody does. */
#define SPIN_SECONDS 100e-6

typedef struct Worker {
  alignas(64) _Atomic bool inside; /* at work on the job, or about to look whether it is open */
  pnPool *pool;
  pnThread *thread;
  uint32_t number;
} Worker;

/* Ranges of a worker that nobody has taken: | end (32 bits) | begin (32 bits) |. */
typedef struct Share {
  alignas(64) _Atomic uint64_t ranges;
} Share;

struct pnPool {
  alignas(64) _Atomic uint64_t state; /* nothing else in this line: whoever waits looks at it all the time */
  alignas(64) _Atomic uint32_t sleeperCount;
  _Atomic bool callerSleeps;
  pnMonitor *jobMonitor;  /* workers sleep here until there is a job */
  pnMonitor *doneMonitor; /* the caller sleeps here until the last worker has left */

  /* the job: written only while it is closed and nobody is inside */
  alignas(64) _Atomic bool busy;
  pnTaskFcn *task;
  void *context;
  uint32_t count, grain;
  Share shares[PN_MAX_WORKERS];

  uint32_t workerCount;
  double spinSeconds;
  Worker workers[PN_MAX_WORKERS]; /* [0] is the caller and has no thread */
};

/* ---------------------------------------------------------------- one job */

/* The ranges of a job in shares, of about the same size. */
static void dealRanges(pnPool *pool) {
  const uint64_t ranges = ((uint64_t)pool->count + pool->grain - 1) / pool->grain, workers = pool->workerCount;
  for (uint64_t w = 0; w < workers; ++w) {
    uint64_t begin = ranges * w / workers, end = ranges * (w + 1) / workers;
    atomic_store_explicit(&pool->shares[w].ranges, end << 32 | begin, memory_order_relaxed);
  }
}

/* One range, from the front of a share or from its back. False: none is left. */
static bool takeRange(Share *share, bool front, uint32_t *outRange) {
  uint64_t seen = atomic_load_explicit(&share->ranges, memory_order_relaxed), taken;
  do {
    uint32_t begin = (uint32_t)seen, end = (uint32_t)(seen >> 32);
    if (begin >= end) return false;
    *outRange = front ? begin : end - 1;
    taken = front ? seen + 1 : seen - (UINT64_C(1) << 32);
  } while (
      !atomic_compare_exchange_weak_explicit(&share->ranges, &seen, taken, memory_order_relaxed, memory_order_relaxed));
  return true;
}

/* Takes ranges until none are left: its own, then those of the next worker, and so on around. */
static void workOnJob(pnPool *pool, uint32_t worker) {
  const uint64_t count = pool->count, grain = pool->grain;
  for (uint32_t i = 0, range; i < pool->workerCount; ++i) {
    Share *share = &pool->shares[(worker + i) % pool->workerCount];
    while (takeRange(share, i == 0, &range)) {
      uint64_t begin = range * grain;
      pool->task(pool->context, (uint32_t)begin, (uint32_t)PN_MIN(begin + grain, count), worker);
    }
  }
}

/* Is there an open job other than `seen` (the state in which this worker saw its last one), or none any more? */
static bool isNews(uint64_t state, uint64_t seen) {
  return (state & STATE_QUIT) || ((state & STATE_OPEN) && state != seen);
}

/* Spins, then sleeps, until there is a job that is not `seen` or the pool is being destroyed. */
static void waitForJob(pnPool *pool, uint64_t seen) {
  // spin; look at the clock only now and then
  double start = pn_clock();
  do {
    for (int i = 0; i < 32; ++i) {
      if (isNews(atomic_load(&pool->state), seen)) return;
      pn_pause();
    }
  } while (pn_clock() - start < pool->spinSeconds);

  // sleep. We first say so and then look again; the caller first opens the job and then looks for sleepers, so that
  // one of the two sees the other
  pn_monitorLock(pool->jobMonitor);
  atomic_fetch_add(&pool->sleeperCount, 1);
  while (!isNews(atomic_load(&pool->state), seen)) pn_monitorWait(pool->jobMonitor);
  atomic_fetch_sub(&pool->sleeperCount, 1);
  pn_monitorUnlock(pool->jobMonitor);
}

/* Wakes all who sleep here. Who was about to sleep does so before we get the lock, or sees what has changed; and those who wake
 * find the lock free. */
static void wakeAll(pnMonitor *monitor) {
  pn_monitorLock(monitor);
  pn_monitorUnlock(monitor);
  pn_monitorWakeAll(monitor);
}

static void runWorker(void *context) {
  Worker *worker = context;
  pnPool *pool = worker->pool;
  uint64_t seen = 0;
  while (true) {
    waitForJob(pool, seen);
    uint64_t state = atomic_load(&pool->state);
    if (state & STATE_QUIT) return;
    if (!isNews(state, seen)) continue;
    // enter. We first say so and then look again; the caller first closes the job and then looks who is inside
    atomic_store(&worker->inside, true);
    if (atomic_load(&pool->state) == state) {
      seen = state;
      workOnJob(pool, worker->number);
    }
    // leave, and wake the caller if he sleeps until somebody does
    atomic_store(&worker->inside, false);
    if (atomic_load(&pool->callerSleeps)) wakeAll(pool->doneMonitor);
  }
}

/* Is anybody at work on the job? */
static bool isInside(pnPool *pool) {
  for (uint32_t i = 1; i < pool->workerCount; ++i)
    if (atomic_load(&pool->workers[i].inside)) return true;
  return false;
}

/* The caller waits until nobody is inside the closed job: spins, then sleeps. */
static void waitUntilEmpty(pnPool *pool) {
  double start = pn_clock();
  do {
    for (int i = 0; i < 32; ++i) {
      if (!isInside(pool)) return;
      pn_pause();
    }
  } while (pn_clock() - start < pool->spinSeconds);

  pn_monitorLock(pool->doneMonitor);
  atomic_store(&pool->callerSleeps, true);
  while (isInside(pool)) pn_monitorWait(pool->doneMonitor);
  atomic_store(&pool->callerSleeps, false);
  pn_monitorUnlock(pool->doneMonitor);
}

static void poolParallelFor(void *user, pnTaskFcn *task, void *context, uint32_t count, uint32_t grain) {
  pnPool *pool = user;
  if (count == 0) return;

  // alone, or the pool is at work on another loop: run here
  if (pool->workerCount == 1 || atomic_exchange(&pool->busy, true)) {
    task(context, 0, count, 0);
    return;
  }

  // write the job, then open it under the next number
  pool->task = task;
  pool->context = context;
  pool->count = count;
  pool->grain = PN_MAX(grain, 1);
  dealRanges(pool);
  uint64_t closed = (atomic_load(&pool->state) / STATE_JOB + 1) * STATE_JOB;
  atomic_store(&pool->state, closed | STATE_OPEN);
  if (atomic_load(&pool->sleeperCount) > 0) wakeAll(pool->jobMonitor);

  // take part, close, wait for those inside
  workOnJob(pool, 0);
  atomic_store(&pool->state, closed);
  waitUntilEmpty(pool);
  atomic_store(&pool->busy, false);
}

/* ---------------------------------------------------------------- life of a pool */

pnResult pnCreatePool(uint32_t workerCount, pnPool **outPool) {
  PN_ASSERT(outPool);
  *outPool = NULL;
  uint32_t coreCount = pn_coreCount();
  if (workerCount == 0) workerCount = PN_MIN(coreCount, PN_MAX_WORKERS);
  if (workerCount > PN_MAX_WORKERS)
    return pn_fail(PN_ERROR_ARGUMENT, "pool: %u workers were asked for, at most %d are possible", workerCount,
                   PN_MAX_WORKERS);

  pnPool *pool = pn_allocZero(sizeof *pool);
  if (!pool) return pn_failMemory(sizeof *pool);
  pool->workerCount = workerCount;
  // more workers than cores: a spinning worker would keep a working one from its core
  pool->spinSeconds = workerCount <= coreCount ? SPIN_SECONDS : 0;
  pool->jobMonitor = pn_monitorCreate();
  pool->doneMonitor = pn_monitorCreate();
  if (!pool->jobMonitor || !pool->doneMonitor) {
    pnDestroyPool(pool);
    return pn_fail(PN_ERROR_MEMORY, "pool: the system has no memory for its locks");
  }

  // worker 0 is whoever calls
  for (uint32_t i = 1; i < workerCount; ++i) {
    Worker *worker = &pool->workers[i];
    *worker = (Worker){.pool = pool, .number = i};
    worker->thread = pn_threadStart(runWorker, worker);
    if (!worker->thread) {
      pnDestroyPool(pool);
      return pn_fail(PN_ERROR_MEMORY, "pool: the system gave only %u of %u worker threads; ask for fewer", i - 1,
                     workerCount - 1);
    }
  }
  *outPool = pool;
  return PN_OK;
}

pnTasks pnPool_GetTasks(pnPool *pool) {
  return (pnTasks){.workerCount = pool->workerCount, .parallelFor = poolParallelFor, .user = pool};
}

void pnDestroyPool(pnPool *pool) {
  if (!pool) return;

  // send everybody home, asleep or not
  atomic_store(&pool->state, STATE_QUIT);
  if (pool->jobMonitor) wakeAll(pool->jobMonitor);
  for (uint32_t i = 1; i < pool->workerCount; ++i)
    if (pool->workers[i].thread) pn_threadJoin(pool->workers[i].thread);

  pn_monitorDestroy(pool->jobMonitor);
  pn_monitorDestroy(pool->doneMonitor);
  pn_free(pool, sizeof *pool);
}

/* ---------------------------------------------------------------- the parallel-for of the rooms */

/* A task in the environment that the library computes in: threads have their own, the caller's hooks any. */
typedef struct FloatTask {
  pnTaskFcn *task;
  void *context;
} FloatTask;

static void runFloatTask(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  PN_FLOAT_SCOPE;
  const FloatTask *t = context;
  t->task(t->context, begin, end, worker);
}

void pn_parallelFor(const pnTasks *tasks, pnTaskFcn *task, void *context, uint32_t count, uint32_t grain) {
  if (count == 0) return;
  // more workers than anybody has buffers for is a bug of the caller's task hooks
  bool tooMany = tasks && tasks->workerCount > PN_MAX_WORKERS;
  PN_ASSERT(!tooMany);
  if (pn_workerCount(tasks) == 1 || count <= grain || tooMany) {
    task(context, 0, count, 0);
    return;
  }
  FloatTask inside = {task, context};
  tasks->parallelFor(tasks->user, runFloatTask, &inside, count, PN_MAX(grain, 1));
}
