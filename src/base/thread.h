/* thread.h: threads, locks, atomics and the clock. thread.c is the only file of the library that calls the system. */
#ifndef PN_BASE_THREAD_H
#define PN_BASE_THREAD_H

#include "base/core.h"

#include <stdatomic.h>

typedef struct pnThread pnThread;
typedef void pnThreadFcn(void *context);
pnThread *pn_threadStart(pnThreadFcn *fcn, void *context); /* null when the system has none */
void pn_threadJoin(pnThread *thread);                      /* waits and frees */

/* A lock with a condition, enough for a pool of workers. */
typedef struct pnMonitor pnMonitor;
pnMonitor *pn_monitorCreate(void);
void pn_monitorDestroy(pnMonitor *monitor);
void pn_monitorLock(pnMonitor *monitor);
void pn_monitorUnlock(pnMonitor *monitor);
void pn_monitorWait(pnMonitor *monitor); /* unlocks, sleeps, locks again */
void pn_monitorWakeAll(pnMonitor *monitor);

/* A page that some systems have for large blocks, beside those of 4 kB: the same bytes on x86-64 and, where pages have 4 kB, on ARM. */
#define PN_LARGE_PAGE ((size_t)2 << 20)
void pn_askLargePages(void *memory, size_t bytes); /* a wish: whole large pages; systems without them do nothing */

uint32_t pn_coreCount(void);
void pn_pause(void); /* inside a spin */
double pn_clock(void);

#endif
