/* relief.c: see relief.h.
 *
 *   an ask:   NONE -> ASKS          by the asker
 *             ASKS -> NONE          by the asker, who gives up
 *             ASKS -> GIVING        by one who has pairs to give; then they are written
 *             GIVING -> GIVEN       by the same
 *             GIVEN -> NONE         by the asker, who has copied them */
#include "collide/relief.h"

#include "base/thread.h"

enum { NONE, ASKS, GIVING, GIVEN };

/* As long as a worker of the pool spins: a loop that takes longer has items to the end. */
#define WAIT_SECONDS 100e-6
/* So many pairs of nodes or of leaves take some microseconds, several times what it costs to hand them over. */
#define LEAST_NODES 4u
#define LEAST_LEAVES 64u

pnRelief *pn_createRelief(uint32_t workers) {
  pnRelief *relief = pn_allocZero(sizeof(pnRelief) + workers * sizeof(pnRelay));
  if (relief) relief->workers = workers;
  return relief;
}

void pn_freeRelief(pnRelief *relief) {
  if (relief) pn_free(relief, sizeof(pnRelief) + relief->workers * sizeof(pnRelay));
}

void pn_beginRelief(pnRelief *relief, uint32_t items) {
  atomic_store_explicit(&relief->unbegun, items, memory_order_relaxed);
  atomic_store_explicit(&relief->undone, items, memory_order_relaxed);
}

/* ---------------------------------------------------------------- giving */

/* Somebody's ask, which is ours to answer now; null: all have been answered. */
static pnRelay *claimAsk(pnRelief *relief) {
  for (uint32_t i = 0; i < relief->workers; ++i) {
    pnRelay *ask = &relief->asks[i];
    uint32_t seen = atomic_load_explicit(&ask->state, memory_order_relaxed);
    if (seen == ASKS && atomic_compare_exchange_strong(&ask->state, &seen, GIVING)) {
      atomic_fetch_sub_explicit(&relief->askers, 1, memory_order_relaxed);
      return ask;
    }
  }
  return NULL;
}

void pn_handOver(pnWorker *w, size_t leavesDone) {
  pnPairs *nodes = &w->lists[0], *leaves = &w->leaves;
  while (pn_isAsked(w->relief)) {
    bool fromNodes = nodes->count >= LEAST_NODES;
    pnPairs *list = fromNodes ? nodes : leaves;
    size_t own = list->count - (fromNodes ? 0 : leavesDone);
    pnRelay *ask = fromNodes || own >= LEAST_LEAVES ? claimAsk(w->relief) : NULL;
    if (!ask) return;
    ask->count = (uint32_t)PN_MIN(own / 2, PN_RELIEF_PAIRS);
    ask->job = w->job;
    /* nodes from the bottom of the stack, leaves from the end of the list */
    const pnPair *from = fromNodes ? list->data : list->data + (list->count - ask->count);
    memcpy(ask->pairs, from, ask->count * sizeof(pnPair));
    list->count -= ask->count;
    if (fromNodes) memmove(list->data, list->data + ask->count, list->count * sizeof(pnPair));
    atomic_fetch_add_explicit(&w->relief->undone, 1, memory_order_relaxed); /* before ours is done */
    atomic_store_explicit(&ask->state, GIVEN, memory_order_release);
  }
}

/* ---------------------------------------------------------------- taking */

/* Waits for an answer. False: nobody has any to give, and we ask no more. */
static bool waitForAnswer(pnRelief *relief, pnRelay *ask) {
  double start = pn_clock();
  while (true) {
    for (int i = 0; i < 32; ++i) {
      if (atomic_load_explicit(&ask->state, memory_order_acquire) == GIVEN) return true;
      if (atomic_load_explicit(&relief->undone, memory_order_relaxed) == 0) break;
      pn_pause();
    }
    if (atomic_load_explicit(&relief->undone, memory_order_relaxed) == 0 || pn_clock() - start > WAIT_SECONDS) break;
  }
  uint32_t seen = ASKS;
  if (atomic_compare_exchange_strong(&ask->state, &seen, NONE)) {
    atomic_fetch_sub_explicit(&relief->askers, 1, memory_order_relaxed);
    return false;
  }
  /* somebody is writing pairs just now */
  while (atomic_load_explicit(&ask->state, memory_order_acquire) != GIVEN) pn_pause();
  return true;
}

bool pn_takeOver(pnRelief *relief, uint32_t worker, pnWorker *w, uint32_t *outJob) {
  if (!pn_isEnding(relief) || atomic_load_explicit(&relief->undone, memory_order_relaxed) == 0) return false;
  pnRelay *ask = &relief->asks[worker];
  atomic_fetch_add_explicit(&relief->askers, 1, memory_order_relaxed);
  atomic_store_explicit(&ask->state, ASKS, memory_order_release);
  if (!waitForAnswer(relief, ask)) return false;
  w->lists[0].count = 0;
  *outJob = ask->job;
  if (pn_arrayReserve(&w->lists[0], ask->count)) {
    memcpy(w->lists[0].data, ask->pairs, ask->count * sizeof(pnPair));
    w->lists[0].count = ask->count;
  } else {
    w->outOfMemory = true;
  }
  atomic_store_explicit(&ask->state, NONE, memory_order_relaxed);
  return true;
}
