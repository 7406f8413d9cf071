/* array.h: the only container. A growable array of one type, made by a macro:
 *
 *   PN_ARRAY(uint32_t) list = {0};
 *   if (!pn_arrayReserve(&list, n)) return pn_failMemory(...);    room for n elements in all
 *   pn_arrayPush(&list, 7)                                        false when out of memory, nothing lost
 *   list.data[i], list.count
 *   pn_arrayFree(&list);
 */
#ifndef PN_BASE_ARRAY_H
#define PN_BASE_ARRAY_H

#include "base/memory.h"

#define PN_ARRAY(T)  \
  struct {           \
    T *data;         \
    size_t count;    \
    size_t capacity; \
  }

/* Grows the memory that the pointer at `pointer` names to `wanted` elements or more, at least doubling; false leaves
 * everything as it was. */
bool pn_arrayGrow(void *pointer, size_t count, size_t *capacity, size_t wanted, size_t elementSize);

#define pn_arrayReserve(a, n)      \
  ((size_t)(n) <= (a)->capacity || \
   pn_arrayGrow(&(a)->data, (a)->count, &(a)->capacity, (size_t)(n), sizeof(*(a)->data)))
#define pn_arrayPush(a, x) (pn_arrayReserve(a, (a)->count + 1) && ((a)->data[(a)->count++] = (x), true))
#define pn_arrayFree(a) \
  (pn_free((a)->data, (a)->capacity * sizeof(*(a)->data)), (a)->data = NULL, (a)->count = (a)->capacity = 0)

/* Sets that are joined: everybody names somebody of his set, and in the end the one who names himself. Ways are halved as they are
 * gone. */
PN_INLINE uint32_t pn_rootOf(uint32_t *parents, uint32_t i) {
  while (parents[i] != i) i = parents[i] = parents[parents[i]];
  return i;
}

#endif
