/* stamp.h: what is filled when it is first needed, by whichever thread needs it: volumes of nodes, records of leaves.
 *
 * Each has a stamp and is *fresh* when that is the number of now. One thread claims what is stale, fills and publishes it; others wait.
 * Whoever sees a stamp fresh sees what the thread that filled it wrote: stores release, loads acquire. Where no other thread is near, nothing
 * is claimed, and neither does: on ARM a load that acquires waits until everything before the last store that released is written, and
 * with one such pair for each node that is filled a tenth of a query is waiting. */
#ifndef PN_BASE_STAMP_H
#define PN_BASE_STAMP_H

#include "base/memory.h"
#include "base/thread.h"

#define PN_STAMP_BUSY 0xffffffffu /* being filled by some thread; never the number of now, nor is 0 */

/* True: it was stale and is the caller's to fill. */
PN_INLINE bool pn_claimStamp(_Atomic uint32_t *stamp, uint32_t now) {
  uint32_t seen = atomic_load_explicit(stamp, memory_order_relaxed);
  return seen != now && seen != PN_STAMP_BUSY &&
         atomic_compare_exchange_strong_explicit(stamp, &seen, PN_STAMP_BUSY, memory_order_relaxed,
                                                 memory_order_relaxed);
}

PN_INLINE void pn_publishStamp(_Atomic uint32_t *stamp, uint32_t now) {
  atomic_store_explicit(stamp, now, memory_order_release);
}

PN_INLINE void pn_awaitStamp(const _Atomic uint32_t *stamp, uint32_t now) {
  while (atomic_load_explicit(stamp, memory_order_acquire) != now) pn_pause();
}

/* The whole way: true, it is the caller's to make, and to be said when it is made; else it is there. Alone nothing is claimed. */
PN_INLINE bool pn_mustMake(_Atomic uint32_t *stamp, uint32_t now, bool alone) {
  if (PN_LIKELY(atomic_load_explicit(stamp, memory_order_acquire) == now)) return false;
  if (alone || pn_claimStamp(stamp, now)) return true;
  pn_awaitStamp(stamp, now);
  return false;
}

PN_INLINE void pn_haveMade(_Atomic uint32_t *stamp, uint32_t now, bool alone) {
  if (alone) atomic_store_explicit(stamp, now, memory_order_relaxed);
  else pn_publishStamp(stamp, now);
}

/* Something that one thread gives at once, and several only all together, afterwards: those who would have it wish for it. */
PN_INLINE void pn_wish(_Atomic bool *wish) {
  if (!atomic_load_explicit(wish, memory_order_relaxed)) atomic_store_explicit(wish, true, memory_order_relaxed);
}

/* Records under stamps, of floats. */
typedef struct pnRecords {
  size_t bytes;
  uint32_t count;
  _Atomic uint32_t *stamp; /* one each: the number of now, or PN_STAMP_BUSY */
  float *floats;           /* as many for each; whose is which says who made them */
} pnRecords;

/* So many, all stale. Null: out of memory. */
pnRecords *pn_createRecords(size_t count, size_t floatsEach);
void pn_destroyRecords(pnRecords *records); /* null is allowed */
/* Bytes of them; none of null. */
PN_INLINE size_t pn_bytesOfRecords(const pnRecords *records) {
  return records ? records->bytes : 0;
}

#endif
