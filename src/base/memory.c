/* memory.c: the allocation hooks, the byte count, and blocks that several users share. */
#include "base/memory.h"

#include "base/array.h"
#include "base/thread.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A cache line of every machine we run on, and the widest SIMD register. */
#define ALIGNMENT ((size_t)64)
/* What every allocator gives without being asked. */
#define LEAST_ALIGNMENT _Alignof(max_align_t)

/* Large blocks: arrays of a big mesh are read here and there, and a page of 4 kB each time is looked up in a table that is too large for
 * the core's own. */
static void *allocLarge(size_t size) {
  void *memory = aligned_alloc(PN_LARGE_PAGE, (size + PN_LARGE_PAGE - 1) & ~(PN_LARGE_PAGE - 1));
  // whole ones only: what the last one has too much would be ours for nothing
  if (memory) pn_askLargePages(memory, size & ~(PN_LARGE_PAGE - 1));
  return memory;
}

static void *defaultAlloc(void *user, size_t size, size_t align) {
  (void)user;
  // no object of C is larger than PTRDIFF_MAX; aligned_alloc wants a multiple of the alignment
  if (size > PTRDIFF_MAX - PN_LARGE_PAGE) return NULL;
  if (size >= PN_LARGE_BLOCK) return allocLarge(size);
  if (align <= LEAST_ALIGNMENT) return malloc(size);
  return aligned_alloc(align, (size + align - 1) & ~(align - 1));
}

static void defaultFree(void *user, void *memory, size_t size) {
  (void)user;
  (void)size;
  free(memory);
}

static pnAllocFcn *s_alloc = defaultAlloc;
static pnFreeFcn *s_free = defaultFree;
static void *s_user;
static atomic_size_t s_byteCount;

/* ---------------------------------------------------------------- hooks */

pnResult pnSetAllocator(pnAllocFcn *alloc, pnFreeFcn *free, void *user) {
  if (!alloc != !free) return pn_fail(PN_ERROR_ARGUMENT, "allocator: set both functions or neither");
  size_t held = pnGetByteCount();
  if (held != 0)
    return pn_fail(PN_ERROR_ARGUMENT,
                   "allocator: pinch still holds %zu bytes of the old one; destroy its objects first", held);
  s_alloc = alloc ? alloc : defaultAlloc;
  s_free = free ? free : defaultFree;
  s_user = alloc ? user : NULL;
  return PN_OK;
}

size_t pnGetByteCount(void) {
  return atomic_load_explicit(&s_byteCount, memory_order_relaxed);
}

/* ---------------------------------------------------------------- plain memory */

/* What lies in a small block is no larger, and the size of a thing is a multiple of its alignment: so much is enough. An aligned block
 * costs a C library two lines more than it holds. */
static size_t alignmentOf(size_t size) {
  size_t align = ALIGNMENT;
  while (align > size && align > LEAST_ALIGNMENT) align /= 2;
  return align;
}

void *pn_alloc(size_t size) {
  if (size == 0) return NULL;
  size_t align = alignmentOf(size);
  void *memory = s_alloc(s_user, size, align);
  if (!memory) return NULL;
  PN_ASSERT(((uintptr_t)memory & (align - 1)) == 0);
  atomic_fetch_add_explicit(&s_byteCount, size, memory_order_relaxed);
  return memory;
}

void *pn_allocZero(size_t size) {
  void *memory = pn_alloc(size);
  if (memory) memset(memory, 0, size);
  return memory;
}

void pn_free(void *memory, size_t size) {
  if (!memory) return;
  atomic_fetch_sub_explicit(&s_byteCount, size, memory_order_relaxed);
  s_free(s_user, memory, size);
}

size_t pn_bytes(size_t count, size_t size) {
  return size != 0 && count > SIZE_MAX / size ? 0 : count * size;
}

void *pn_pack(char *block, size_t *at, const void *from, size_t bytes) {
  char *p = pn_carve(block, at, 1, bytes);
  if (p && bytes > 0) {
    if (from) memcpy(p, from, bytes);
    else memset(p, 0, bytes);
  }
  return p;
}

/* ---------------------------------------------------------------- the growable array */

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
