/* support_threads.h: several threads that ask the same of one shared thing at the same time. What one thread is told afterwards is the truth,
 * so that what is worked out when it is first asked for is worked out by several at once. */
#ifndef PN_TEST_SUPPORT_THREADS_H
#define PN_TEST_SUPPORT_THREADS_H

#include "support.h"

#include "pinch/pinch.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { THREADS = 4 };

/* Asks everything about the shared thing and answers one number. */
typedef uint64_t Ask(void *context);

typedef struct Asker {
  Ask *ask;
  void *context;
  _Atomic uint32_t *missing; /* threads that have not come yet */
  uint64_t answer;
} Asker;

static inline void *runAsker(void *context) {
  Asker *a = context;
  atomic_fetch_sub(a->missing, 1);
  while (atomic_load(a->missing) > 0) sched_yield();
  a->answer = a->ask(a->context);
  return NULL;
}

static inline void askTogether(Ask *ask, void *context) {
  _Atomic uint32_t missing = THREADS;
  Asker askers[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    askers[i] = (Asker){ask, context, &missing, 0};
    assert_int_equal(pthread_create(&threads[i], NULL, runAsker, &askers[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
  uint64_t truth = ask(context);
  for (int i = 0; i < THREADS; ++i) assert_true(askers[i].answer == truth);
}

static inline uint64_t mix(uint64_t sum, uint64_t value) {
  return (sum ^ value) * 0x9e3779b97f4a7c15u + (sum >> 31);
}

static inline uint64_t mixNumber(uint64_t sum, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return mix(sum, bits);
}

static inline uint64_t mixVector(uint64_t sum, pnVec3 v) {
  return mixNumber(mixNumber(mixNumber(sum, v.x), v.y), v.z);
}

static inline uint64_t mixPairs(uint64_t sum, const pnPair *pairs, size_t count) {
  for (size_t i = 0; i < count; ++i) sum = mix(mix(sum, pairs[i].a), pairs[i].b);
  return mix(sum, count);
}

static inline uint64_t mixMeeting(uint64_t sum, const pnMeeting *m) {
  for (uint32_t i = 0; i < m->pointCount; ++i) sum = mixVector(sum, m->points[i]);
  return mix(mix(sum, m->kind), m->pointCount);
}

#endif
