/* report_memory.h: allocations that fail when told to. The linker sends every malloc of the test program here
 * (--wrap, see web/test/tests.cmake). Include once. */
#ifndef PN_TEST_REPORT_MEMORY_H
#define PN_TEST_REPORT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);

static long s_live;        /* blocks in use */
static long s_failAt = -1; /* this many allocations succeed, then one fails; -1: never */
static bool s_failed;

static bool allocationFails(void) {
  if (s_failAt < 0 || s_failAt-- > 0) return false;
  s_failed = true;
  return true;
}

void *__wrap_malloc(size_t size) {
  void *memory = allocationFails() ? NULL : __real_malloc(size);
  s_live += memory != NULL;
  return memory;
}

void *__wrap_aligned_alloc(size_t align, size_t size) {
  void *memory = allocationFails() ? NULL : __real_aligned_alloc(align, size);
  s_live += memory != NULL;
  return memory;
}

void *__wrap_calloc(size_t count, size_t size) {
  void *memory = allocationFails() ? NULL : __real_calloc(count, size);
  s_live += memory != NULL;
  return memory;
}

void *__wrap_realloc(void *memory, size_t size) {
  void *moved = allocationFails() ? NULL : __real_realloc(memory, size);
  s_live += memory == NULL && moved != NULL;
  return moved;
}

void __wrap_free(void *memory) {
  s_live -= memory != NULL;
  __real_free(memory);
}

#endif
