/* memory.h: every byte pinch holds comes from here, through the caller's hooks, and is counted. */
#ifndef PN_BASE_MEMORY_H
#define PN_BASE_MEMORY_H

#include "base/core.h"

/* 64-byte aligned, smaller blocks as much as what fits into them can need; null when size is 0 or the hook has none. The
 * caller passes the same size to pn_free. */
void *pn_alloc(size_t size);
void *pn_allocZero(size_t size);
void pn_free(void *memory, size_t size); /* null is allowed */

/* From so many bytes on a block begins where a large page can, and asks for large pages (thread.h): two of them. */
#define PN_LARGE_BLOCK ((size_t)4 << 20)

/* Count times element size, 0 (which pn_alloc answers with null) when it overflows: check count before. */
size_t pn_bytes(size_t count, size_t size);

/* Hands out pieces of one block, 64-byte aligned, by moving *at; with a null base it only counts, so that the same calls
 * find the size and lay the block out. */
PN_INLINE void *pn_carve(char *base, size_t *at, size_t count, size_t size) {
  size_t here = *at;
  *at = (here + count * size + 63) & ~(size_t)63;
  return base ? base + here : NULL;
}

/* The same for a copy of `bytes` from `from`, or of zeros when that is null. */
void *pn_pack(char *block, size_t *at, const void *from, size_t bytes);

#endif
