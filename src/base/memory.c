/* memory.c: the allocation hooks, the byte count, and the frame arena. */
#include "base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A cache line of every machine we run on, and the widest SIMD register. */
#define ALIGNMENT ((size_t)64)

static void *defaultAlloc(void *user, size_t size, size_t align) {
  (void)user;
  // no object of C is larger than PTRDIFF_MAX; aligned_alloc wants a multiple of the alignment
  if (size > PTRDIFF_MAX - align) return NULL;
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

void *pn_alloc(size_t size) {
  if (size == 0) return NULL;
  void *memory = s_alloc(s_user, size, ALIGNMENT);
  if (!memory) return NULL;
  PN_ASSERT(((uintptr_t)memory & (ALIGNMENT - 1)) == 0);
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
    if (from) {
      memcpy(p, from, bytes);
    } else {
      memset(p, 0, bytes);
    }
  }
  return p;
}

/* ---------------------------------------------------------------- arena */

/* Head of a block added within a frame; the memory it hands out starts one alignment later. */
typedef struct OverflowBlock {
  struct OverflowBlock *next;
  size_t size; /* in all, this head included */
  size_t used; /* of the part after the head */
} OverflowBlock;

_Static_assert(sizeof(OverflowBlock) <= ALIGNMENT, "the head of an overflow block must fit before its first byte");

/* First block of an arena that has never seen a frame: small enough not to matter, large enough not to be many. */
#define FIRST_BLOCK ((size_t)4096)

void *pn_arenaAlloc(pnArena *arena, size_t size) {
  if (size == 0 || size > SIZE_MAX / 2) return NULL;
  size = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);

  // the usual case: the block of the frames before is large enough
  if (size <= arena->capacity - arena->used) {
    void *memory = arena->block + arena->used;
    arena->used += size;
    return memory;
  }

  // the newest overflow block, or a new one that doubles what the arena has
  OverflowBlock *block = arena->overflow;
  if (!block || size > block->size - ALIGNMENT - block->used) {
    size_t body = PN_MAX(size, PN_MAX(FIRST_BLOCK, arena->capacity + arena->overflowBytes));
    block = pn_alloc(ALIGNMENT + body);
    if (!block && body > size) block = pn_alloc(ALIGNMENT + (body = size));
    if (!block) return NULL;
    *block = (OverflowBlock){.next = arena->overflow, .size = ALIGNMENT + body};
    arena->overflow = block;
    arena->overflowBytes += block->size;
  }
  void *memory = (char *)block + ALIGNMENT + block->used;
  block->used += size;
  return memory;
}

void pn_arenaReset(pnArena *arena) {
  // give the overflow blocks back, counting what this frame needed in all
  size_t needed = arena->used;
  bool overflowed = arena->overflow != NULL;
  for (OverflowBlock *block = arena->overflow, *next; block; block = next) {
    next = block->next;
    needed += block->used;
    pn_free(block, block->size);
  }
  arena->overflow = NULL;
  arena->overflowBytes = 0;
  arena->used = 0;
  arena->peak = PN_MAX(arena->peak, needed);
  if (!overflowed) return;

  // one block for the most a frame ever needed; without memory for it the next frame overflows again, no harm done
  pn_free(arena->block, arena->capacity);
  arena->block = pn_alloc(arena->peak);
  arena->capacity = arena->block ? arena->peak : 0;
}

void pn_arenaFree(pnArena *arena) {
  for (OverflowBlock *block = arena->overflow, *next; block; block = next) {
    next = block->next;
    pn_free(block, block->size);
  }
  pn_free(arena->block, arena->capacity);
  *arena = (pnArena){0};
}
