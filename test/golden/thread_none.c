/* thread_none.c: what base/thread.h promises where there are no threads, for golden.c under WASI: none is ever started. */
#include "base/thread.h"

#include <time.h>

struct pnMonitor {
  char nothing;
};
static struct pnMonitor s_one;

pnThread *pn_threadStart(pnThreadFcn *fcn, void *context) {
  (void)fcn, (void)context;
  return NULL;
}
void pn_threadJoin(pnThread *thread) {
  (void)thread;
}
pnMonitor *pn_monitorCreate(void) {
  return &s_one;
}
void pn_monitorDestroy(pnMonitor *monitor) {
  (void)monitor;
}
void pn_monitorLock(pnMonitor *monitor) {
  (void)monitor;
}
void pn_monitorUnlock(pnMonitor *monitor) {
  (void)monitor;
}
void pn_monitorWait(pnMonitor *monitor) {
  (void)monitor;
}
void pn_monitorWakeAll(pnMonitor *monitor) {
  (void)monitor;
}
void pn_askLargePages(void *memory, size_t bytes) {
  (void)memory;
  (void)bytes;
}

uint32_t pn_coreCount(void) {
  return 1;
}
void pn_pause(void) {}
double pn_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
double pnGetTime(void) {
  return pn_clock();
}
