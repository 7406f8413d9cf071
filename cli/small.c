/* small.c: small blocks side by side. A scene of very many tiny bodies is some twenty small blocks a body, and the C library pays for
 * the alignment of each, a cache line, with as much as two more around it: a third of all memory. Here blocks of up to SMALL bytes are cut
 * from slabs and, when they are freed, wait in a list for the next of their size: 16 bytes, 32, or so many lines. pinch says the size of what
 * it frees, so a block needs no head. Slabs are kept until the tool ends. Larger blocks, and all of them under a sanitizer, which could not
 * see where one ends, are the C library's. */
#include "small.h"

#include "pinch/base.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) || \
    __has_feature(thread_sanitizer)
#define IS_WATCHED 1
#else
#define IS_WATCHED 0
#endif

#define LINE ((size_t)64)
#define SMALL ((size_t)1024)
/* Below what the C library asks the system for by itself: so that slabs take the place of what was freed, a file's text for one. */
#define SLAB ((size_t)32768)

typedef struct Block {
  struct Block *next;
} Block;

static pthread_mutex_t s_lock = PTHREAD_MUTEX_INITIALIZER;
static Block *s_free[2 + SMALL / LINE]; /* by sort */
static char *s_slab;                    /* what is left of the last one, in lines */
static size_t s_left;

/* Blocks of one sort have one size. */
static size_t sortOf(size_t size) {
  return size <= 16 ? 0 : size <= 32 ? 1 : 1 + (size + LINE - 1) / LINE;
}

static void keepBlock(void *memory, size_t sort) {
  Block *block = memory;
  block->next = s_free[sort];
  s_free[sort] = block;
}

/* The next lines of the slab; null when memory is out. */
static void *takeLines(size_t bytes) {
  if (s_left < bytes) {
    char *slab = aligned_alloc(LINE, SLAB);
    if (!slab) return NULL;
    if (s_left > 0) keepBlock(s_slab, sortOf(s_left)); /* what is left waits for somebody whom it fits */
    s_slab = slab, s_left = SLAB;
  }
  void *taken = s_slab;
  s_slab += bytes, s_left -= bytes;
  return taken;
}

/* A block that was freed, or a fresh one. The lock is held. */
static void *takeBlock(size_t sort) {
  if (!s_free[sort]) {
    size_t bytes = sort == 0 ? 16 : sort == 1 ? 32 : (sort - 1) * LINE, whole = bytes < LINE ? LINE : bytes;
    char *fresh = takeLines(whole);
    if (!fresh) return NULL;
    for (size_t at = 0; at < whole; at += bytes) keepBlock(fresh + at, sort);
  }
  Block *block = s_free[sort];
  s_free[sort] = block->next;
  return block;
}

static void *takeMemory(void *user, size_t size, size_t align) {
  (void)user;
  if (size > PTRDIFF_MAX - align) return NULL;
  if (size > SMALL) return aligned_alloc(align, (size + align - 1) & ~(align - 1));
  pthread_mutex_lock(&s_lock);
  void *memory = takeBlock(sortOf(size));
  pthread_mutex_unlock(&s_lock);
  return memory;
}

static void giveMemory(void *user, void *memory, size_t size) {
  (void)user;
  if (!memory || size > SMALL) {
    free(memory);
    return;
  }
  pthread_mutex_lock(&s_lock);
  keepBlock(memory, sortOf(size));
  pthread_mutex_unlock(&s_lock);
}

void pn_useSmallBlocks(void) {
  if (!IS_WATCHED) pnSetAllocator(takeMemory, giveMemory, NULL);
}
