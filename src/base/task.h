/* task.h: one parallel-for, over the caller's task hooks, the built-in pool or the calling thread. */
#ifndef PN_BASE_TASK_H
#define PN_BASE_TASK_H

#include "base/core.h"

/* How many workers a parallel-for over these tasks may use: 1 ... PN_MAX_WORKERS. */
PN_INLINE uint32_t pn_workerCount(const pnTasks *tasks) {
  return tasks && tasks->parallelFor && tasks->workerCount > 1 ? PN_MIN(tasks->workerCount, PN_MAX_WORKERS) : 1;
}

/* Runs task over [0, count) in ranges of about `grain` items. Runs inline when there is one worker or no more than
 * one grain of work: then as one range. Rooms do not nest calls; the built-in pool would run an inner one inline. */
void pn_parallelFor(const pnTasks *tasks, pnTaskFcn *task, void *context, uint32_t count, uint32_t grain);

#endif
