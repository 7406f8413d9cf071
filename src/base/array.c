/* array.c: how the growable array grows. */
#include "base/array.h"

#include <string.h>

/* The pointer is read and written as bytes: the array's element type is unknown here, and writing a `T *` through a
 * `void **` would let the optimiser assume that it has not changed. */
bool pn_arrayGrow(void *pointer, size_t count, size_t *capacity, size_t wanted, size_t elementSize) {
  // at least double, so that n pushes cost O(n); at least a cache line
  size_t doubled = *capacity <= SIZE_MAX / 2 ? *capacity * 2 : wanted;
  size_t grown = PN_MAX(PN_MAX(doubled, wanted), 64 / elementSize);
  void *fresh = pn_alloc(pn_bytes(grown, elementSize));

  // less generous when memory is short
  if (!fresh && grown > wanted) fresh = pn_alloc(pn_bytes(grown = wanted, elementSize));
  if (!fresh) return false;

  void *old;
  memcpy(&old, pointer, sizeof old);
  if (count) memcpy(fresh, old, count * elementSize);
  pn_free(old, *capacity * elementSize);
  memcpy(pointer, &fresh, sizeof fresh);
  *capacity = grown;
  return true;
}
