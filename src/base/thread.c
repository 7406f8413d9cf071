/* thread.c: threads, locks, pages and the clock, by POSIX. The only file of the library that calls the system. */
#include "base/thread.h"

#include "base/memory.h"

#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* ---------------------------------------------------------------- threads */

struct pnThread {
  pthread_t handle;
  pnThreadFcn *fcn;
  void *context;
};

static void *runThread(void *argument) {
  pnThread *thread = argument;
  thread->fcn(thread->context);
  return NULL;
}

pnThread *pn_threadStart(pnThreadFcn *fcn, void *context) {
  pnThread *thread = pn_alloc(sizeof *thread);
  if (!thread) return NULL;
  thread->fcn = fcn;
  thread->context = context;
  if (pthread_create(&thread->handle, NULL, runThread, thread) != 0) {
    pn_free(thread, sizeof *thread);
    return NULL;
  }
  return thread;
}

void pn_threadJoin(pnThread *thread) {
  pthread_join(thread->handle, NULL);
  pn_free(thread, sizeof *thread);
}

/* ---------------------------------------------------------------- monitor */

struct pnMonitor {
  pthread_mutex_t mutex;
  pthread_cond_t condition;
};

pnMonitor *pn_monitorCreate(void) {
  pnMonitor *monitor = pn_alloc(sizeof *monitor);
  if (!monitor) return NULL;
  if (pthread_mutex_init(&monitor->mutex, NULL) != 0) goto noMutex;
  if (pthread_cond_init(&monitor->condition, NULL) != 0) goto noCondition;
  return monitor;

noCondition:
  pthread_mutex_destroy(&monitor->mutex);
noMutex:
  pn_free(monitor, sizeof *monitor);
  return NULL;
}

void pn_monitorDestroy(pnMonitor *monitor) {
  if (!monitor) return;
  pthread_cond_destroy(&monitor->condition);
  pthread_mutex_destroy(&monitor->mutex);
  pn_free(monitor, sizeof *monitor);
}

void pn_monitorLock(pnMonitor *monitor) {
  pthread_mutex_lock(&monitor->mutex);
}

void pn_monitorUnlock(pnMonitor *monitor) {
  pthread_mutex_unlock(&monitor->mutex);
}

void pn_monitorWait(pnMonitor *monitor) {
  pthread_cond_wait(&monitor->condition, &monitor->mutex);
}

void pn_monitorWakeAll(pnMonitor *monitor) {
  pthread_cond_broadcast(&monitor->condition);
}

/* ---------------------------------------------------------------- machine */

void pn_askLargePages(void *memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
  // a kernel without them refuses, and nothing is lost
  if (bytes > 0) (void)madvise(memory, bytes, MADV_HUGEPAGE);
#else
  (void)memory;
  (void)bytes;
#endif
}

uint32_t pn_coreCount(void) {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? (uint32_t)count : 1;
}

/* Tells the core that this is a spin. On ARM "yield" is an empty instruction; "isb" really waits some ten
 * nanoseconds, about what "pause" does on x86. */
void pn_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

double pn_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double pnGetTime(void) {
  return pn_clock();
}
