/* test_base_task.c: the pool and the parallel-for: every item once, never two workers under one number, any grain, any
 * number of workers, workers asleep and awake, nested and crowded calls, failures. Meant to run under the thread
 * sanitizer too: items and per-worker sums are plain memory on purpose. */
#include "support.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/task.h"
#include "base/thread.h"

#define MOST_ITEMS 20000

typedef struct Work {
  uint32_t count;
  uint32_t hits[MOST_ITEMS];               /* plain: each item belongs to one worker */
  uint64_t sums[PN_MAX_WORKERS];           /* plain: each sum belongs to one worker */
  atomic_bool inside[PN_MAX_WORKERS];      /* is somebody running under this number? */
  atomic_uint_fast32_t wrong, workersSeen; /* rule broken; number of ranges run by others than worker 0 */
} Work;

static void hitItems(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  Work *work = context;
  if (worker >= PN_MAX_WORKERS || begin >= end || end > work->count || atomic_exchange(&work->inside[worker], true)) {
    ++work->wrong;
    return;
  }
  for (uint32_t i = begin; i < end; ++i) {
    ++work->hits[i];
    work->sums[worker] += i;
  }
  if (worker) ++work->workersSeen;
  atomic_store(&work->inside[worker], false);
}

/* Runs one loop and checks it. */
static void checkLoop(const pnTasks *tasks, Work *work, uint32_t count, uint32_t grain) {
  memset(work, 0, sizeof *work);
  work->count = count;
  pn_parallelFor(tasks, hitItems, work, count, grain);
  assert_int_equal(work->wrong, 0);
  uint64_t sum = 0;
  for (uint32_t w = 0; w < PN_MAX_WORKERS; ++w) sum += work->sums[w];
  assert_int_equal(sum, (uint64_t)count * (count - (count > 0)) / 2);
  for (uint32_t i = 0; i < count; ++i) assert_int_equal(work->hits[i], 1);
}

static Work s_work;

/* ---------------------------------------------------------------- loops */

static void everyItemOnce(void **state) {
  (void)state;
  const uint32_t counts[] = {0, 1, 2, 7, 64, 100, 1000, MOST_ITEMS};
  const uint32_t grains[] = {0, 1, 3, 64, 999, UINT32_MAX};
  const uint32_t workers[] = {1, 2, 3, 8, PN_MAX_WORKERS};
  for (size_t w = 0; w < 5; ++w) {
    pnPool *pool;
    testExpectOk(pnCreatePool(workers[w], &pool));
    pnTasks tasks = pnPool_GetTasks(pool);
    assert_int_equal(tasks.workerCount, workers[w]);
    assert_int_equal(pn_workerCount(&tasks), workers[w]);
    for (size_t c = 0; c < 8; ++c)
      for (size_t g = 0; g < 6; ++g) checkLoop(&tasks, &s_work, counts[c], grains[g]);
    pnDestroyPool(pool);
  }
  assert_int_equal(pnGetByteCount(), 0);
}

static void withoutTasksTheCallerWorks(void **state) {
  (void)state;
  pnTasks none = {0};
  assert_int_equal(pn_workerCount(NULL), 1);
  assert_int_equal(pn_workerCount(&none), 1);
  checkLoop(NULL, &s_work, 1000, 10);
  checkLoop(&none, &s_work, 1000, 10);
  assert_int_equal(s_work.workersSeen, 0);
}

/* Thousands of tiny loops in a row, the way a frame makes them, and pauses long enough for everybody to fall asleep. */
static void manySmallLoops(void **state) {
  (void)state;
  for (uint32_t workers = 2; workers <= 4; ++workers) {
    pnPool *pool;
    testExpectOk(pnCreatePool(workers, &pool));
    pnTasks tasks = pnPool_GetTasks(pool);
    for (int i = 0; i < 3000; ++i) {
      uint32_t hits[37] = {0};
      Work *work = &s_work;
      work->count = 37;
      memset(work->hits, 0, sizeof hits);
      pn_parallelFor(&tasks, hitItems, work, 37, 2);
      for (int k = 0; k < 37; ++k) assert_int_equal(work->hits[k], 1);
      if (i % 500 == 0) nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    assert_int_equal(s_work.wrong, 0);
    pnDestroyPool(pool);
  }
}

/* A loop whose ranges wait until two workers are inside: passes only if workers really run at the same time. */
typedef struct Meeting {
  atomic_uint inside;
  atomic_bool met;
} Meeting;

static void meetSomebody(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)begin, (void)end, (void)worker;
  Meeting *meeting = context;
  atomic_fetch_add(&meeting->inside, 1);
  double start = pn_clock();
  while (pn_clock() - start < 60 && !atomic_load(&meeting->met))
    if (atomic_load(&meeting->inside) >= 2) atomic_store(&meeting->met, true);
  atomic_fetch_sub(&meeting->inside, 1);
}

/* A loop in which everybody waits with his first range until all have one: then it is the first of his own share. */
typedef struct Shares {
  atomic_uint begun;
  uint32_t workers, ranges[8], firstRange[8]; /* ranges each has taken, and the first */
} Shares;

static void takeOwnFirst(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)end;
  Shares *shares = context;
  if (shares->ranges[worker]++ > 0) return;
  shares->firstRange[worker] = begin / 3;
  atomic_fetch_add(&shares->begun, 1);
  double start = pn_clock();
  while (atomic_load(&shares->begun) < shares->workers && pn_clock() - start < 60) pn_pause();
}

static void workersBeginWithTheirOwnShare(void **state) {
  (void)state;
  pnPool *pool;
  testExpectOk(pnCreatePool(4, &pool));
  pnTasks tasks = pnPool_GetTasks(pool);
  for (int i = 0; i < 20; ++i) {
    Shares shares = {.workers = 4};
    pn_parallelFor(&tasks, takeOwnFirst, &shares, 3 * 80, 3);
    assert_int_equal(shares.begun, 4);
    uint32_t sum = 0;
    for (uint32_t w = 0; w < 4; ++w) {
      assert_int_equal(shares.firstRange[w], 20 * w);
      sum += shares.ranges[w];
    }
    assert_int_equal(sum, 80);
  }
  pnDestroyPool(pool);
}

static void workersRunAtTheSameTime(void **state) {
  (void)state;
  pnPool *pool;
  testExpectOk(pnCreatePool(2, &pool));
  pnTasks tasks = pnPool_GetTasks(pool);
  for (int i = 0; i < 20; ++i) {
    // asleep or awake
    if (i % 2) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    Meeting meeting = {0};
    pn_parallelFor(&tasks, meetSomebody, &meeting, 2, 1);
    assert_true(meeting.met);
    assert_int_equal(meeting.inside, 0);
  }
  pnDestroyPool(pool);
}

/* The caller finishes long before a worker: it must wait, spinning and then asleep. */
static void slowWorker(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)begin, (void)end;
  if (worker) {
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
  } else {
    // leave something for the others
    nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
  }
  atomic_fetch_add((atomic_uint *)context, 1);
}

static void callerWaitsForTheLast(void **state) {
  (void)state;
  pnPool *pool;
  testExpectOk(pnCreatePool(3, &pool));
  pnTasks tasks = pnPool_GetTasks(pool);
  for (int i = 0; i < 10; ++i) {
    atomic_uint done = 0;
    pn_parallelFor(&tasks, slowWorker, &done, 6, 1);
    assert_int_equal(done, 6);
  }
  pnDestroyPool(pool);
}

/* ---------------------------------------------------------------- calls where they should not be */

typedef struct Nest {
  const pnTasks *tasks;
  atomic_uint sum;
} Nest;

static void addOnes(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  atomic_fetch_add((atomic_uint *)context, end - begin);
}

static void nestedLoop(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  Nest *nest = context;
  for (uint32_t i = begin; i < end; ++i) pn_parallelFor(nest->tasks, addOnes, &nest->sum, 50, 1);
}

static void nestedLoopsRunWhereTheyAre(void **state) {
  (void)state;
  pnPool *pool;
  testExpectOk(pnCreatePool(4, &pool));
  pnTasks tasks = pnPool_GetTasks(pool);
  for (int i = 0; i < 100; ++i) {
    Nest nest = {.tasks = &tasks};
    pn_parallelFor(&tasks, nestedLoop, &nest, 40, 1);
    assert_int_equal(nest.sum, 2000);
  }
  pnDestroyPool(pool);
}

typedef struct Crowd {
  const pnTasks *tasks;
  uint32_t wrong;
} Crowd;

static void loopAgainAndAgain(void *context) {
  Crowd *crowd = context;
  for (int i = 0; i < 500; ++i) {
    atomic_uint sum = 0;
    pn_parallelFor(crowd->tasks, addOnes, &sum, 300, 7);
    crowd->wrong += sum != 300;
  }
}

static void severalCallersShareAPool(void **state) {
  (void)state;
  pnPool *pool;
  testExpectOk(pnCreatePool(3, &pool));
  pnTasks tasks = pnPool_GetTasks(pool);
  Crowd crowds[4];
  pnThread *threads[4];
  for (int i = 0; i < 4; ++i) {
    crowds[i] = (Crowd){.tasks = &tasks};
    threads[i] = pn_threadStart(loopAgainAndAgain, &crowds[i]);
    assert_non_null(threads[i]);
  }
  for (int i = 0; i < 4; ++i) {
    pn_threadJoin(threads[i]);
    assert_int_equal(crowds[i].wrong, 0);
  }
  pnDestroyPool(pool);
}

/* ---------------------------------------------------------------- the caller's own tasks */

typedef struct Host {
  uint32_t calls, grain;
} Host;

static void hostParallelFor(void *user, pnTaskFcn *task, void *context, uint32_t count, uint32_t grain) {
  Host *host = user;
  ++host->calls;
  host->grain = grain;
  // backwards, and with another worker each time
  for (uint32_t end = count; end > 0; end -= PN_MIN(end, grain)) task(context, end - PN_MIN(end, grain), end, end % 3);
}

static bool countAssert(void *user, const char *condition, const char *file, int line) {
  (void)condition, (void)file, (void)line;
  ++*(int *)user;
  return false;
}

static void taskHooksAreUsed(void **state) {
  (void)state;
  Host host = {0};
  pnTasks tasks = {.workerCount = 3, .parallelFor = hostParallelFor, .user = &host};
  checkLoop(&tasks, &s_work, 1000, 30);
  assert_int_equal(host.calls, 1);
  assert_int_equal(host.grain, 30);
  // small loops stay here, and a grain of nothing is one
  checkLoop(&tasks, &s_work, 30, 30);
  assert_int_equal(host.calls, 1);
  checkLoop(&tasks, &s_work, 5, 0);
  assert_int_equal(host.grain, 1);

  // more workers than anybody has room for: a bug of the caller, and still no harm
  int asserted = 0;
  pnSetAssertFcn(countAssert, &asserted);
  tasks.workerCount = PN_MAX_WORKERS + 1;
  checkLoop(&tasks, &s_work, 1000, 30);
  pnSetAssertFcn(NULL, NULL);
  assert_int_equal(asserted, 1);
  assert_int_equal(host.calls, 2);
}

/* ---------------------------------------------------------------- life and death */

static void poolsComeAndGo(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 100; ++i) {
    pnPool *pool;
    testExpectOk(pnCreatePool(1 + i % 5, &pool));
    pnTasks tasks = pnPool_GetTasks(pool);
    if (i % 3) checkLoop(&tasks, &s_work, 100, 1);
    pnDestroyPool(pool);
  }
  pnDestroyPool(NULL);
  assert_int_equal(pnGetByteCount(), 0);

  pnPool *pool;
  testExpectOk(pnCreatePool(0, &pool));
  assert_int_equal(pnPool_GetTasks(pool).workerCount, PN_MIN(pn_coreCount(), PN_MAX_WORKERS));
  pnDestroyPool(pool);
  pool = (pnPool *)&s_work;
  testExpectFailure(pnCreatePool(PN_MAX_WORKERS + 1, &pool), PN_ERROR_ARGUMENT, "65|64");
  assert_null(pool);
}

static pnResult makePool(void *context) {
  (void)context;
  pnPool *pool;
  pnResult result = pnCreatePool(5, &pool);
  assert_true((pool != NULL) == (result == PN_OK));
  pnDestroyPool(pool);
  return result;
}

static void poolSurvivesEveryFailure(void **state) {
  (void)state;
  // the pool, two monitors, four threads
  assert_int_equal(testEveryAllocationFailure(makePool, NULL, false, false), 7);
  assert_int_equal(testEveryAllocationFailure(makePool, NULL, true, false), 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everyItemOnce),
      cmocka_unit_test(withoutTasksTheCallerWorks),
      cmocka_unit_test(manySmallLoops),
      cmocka_unit_test(workersBeginWithTheirOwnShare),
      cmocka_unit_test(workersRunAtTheSameTime),
      cmocka_unit_test(callerWaitsForTheLast),
      cmocka_unit_test(nestedLoopsRunWhereTheyAre),
      cmocka_unit_test(severalCallersShareAPool),
      cmocka_unit_test(taskHooksAreUsed),
      cmocka_unit_test(poolsComeAndGo),
      cmocka_unit_test(poolSurvivesEveryFailure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
