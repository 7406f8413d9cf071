/* test_base_memory.c: allocation, its hooks and count; the array. */
#include "support.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/thread.h"

/* ---------------------------------------------------------------- plain memory */

static void memoryIsAlignedAndCounted(void **state) {
  (void)state;
  size_t before = pnGetByteCount();
  void *blocks[200];
  size_t total = 0;
  for (size_t i = 0; i < 200; ++i) {
    blocks[i] = pn_alloc(i + 1);
    assert_non_null(blocks[i]);
    /* a line; what is smaller, as much as something of that size can need */
    assert_int_equal((uintptr_t)blocks[i] % (i + 1 >= 64 ? 64 : i + 1 >= 32 ? 32 : 16), 0);
    memset(blocks[i], 0xff, i + 1);
    total += i + 1;
    assert_int_equal(pnGetByteCount(), before + total);
  }
  for (size_t i = 0; i < 200; ++i) pn_free(blocks[i], i + 1);
  assert_int_equal(pnGetByteCount(), before);

  // nothing asked, nothing given; null may be freed
  assert_null(pn_alloc(0));
  pn_free(NULL, 77);
  assert_int_equal(pnGetByteCount(), before);
}

/* What the system was told of the page at `memory` ("VmFlags: rd wr ... hg"); false when it does not say. */
static bool flagsOf(const void *memory, char flags[256]) {
  FILE *file = fopen("/proc/self/smaps", "r");
  bool inside = false, found = false;
  while (file && !found && fgets(flags, 256, file)) {
    unsigned long long first, end;
    if (sscanf(flags, "%llx-%llx ", &first, &end) == 2) inside = (uintptr_t)memory >= first && (uintptr_t)memory < end;
    found = inside && strncmp(flags, "VmFlags:", 8) == 0;
  }
  if (file) fclose(file);
  return found;
}

/* Does a wish for large pages show here? Not on every system, nor under an emulator. */
static bool wishesShow(void) {
  const size_t bytes = (size_t)4 << 20;
  char flags[256];
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  pn_askLargePages(memory, bytes);
  const bool show = flagsOf(memory, flags) && strstr(flags, " hg");
  munmap(memory, bytes);
  return show;
}

static void largeBlocksAskForLargePages(void **state) {
  (void)state;
  const size_t page = (size_t)2 << 20, size = 3 * page - 100;
  unsigned char *small = pn_alloc(page), *large = pn_alloc(size);
  assert_non_null(small);
  assert_non_null(large);
  assert_int_equal((uintptr_t)large % page, 0);
  memset(large, 0xab, size);
  assert_int_equal(large[0] + large[size - 1], 2 * 0xab);
  char first[256], last[256];
  if (!wishesShow()) {
    print_message("no large pages on this system: only the alignment was tested\n");
  } else {
    assert_true(flagsOf(large, first));
    assert_non_null(strstr(first, " hg"));
    // the two whole ones, and not the part of a third
    assert_true(flagsOf(large + size - 1, last));
    assert_null(strstr(last, " hg"));
  }
  pn_free(large, size);
  pn_free(small, page);
}

static void zeroedMemoryIsZero(void **state) {
  (void)state;
  testInstallAllocator(UINT64_MAX, false); // hands out 0xcd
  unsigned char *bytes = pn_allocZero(1000);
  for (int i = 0; i < 1000; ++i) assert_int_equal(bytes[i], 0);
  pn_free(bytes, 1000);
  testRestoreAllocator();
}

static void hugeSizesAreRefused(void **state) {
  (void)state;
  size_t before = pnGetByteCount();
  assert_null(pn_alloc(SIZE_MAX));
  assert_null(pn_alloc(SIZE_MAX - 63));
  assert_int_equal(pnGetByteCount(), before);
  assert_int_equal(pn_bytes(SIZE_MAX / 2, 3), 0);
  assert_int_equal(pn_bytes(SIZE_MAX, 1), SIZE_MAX);
  assert_int_equal(pn_bytes(0, 16), 0);
  assert_int_equal(pn_bytes(7, 12), 84);
}

static void *refuse(void *user, size_t size, size_t align) {
  (void)size;
  ++*(int *)user;
  assert_true(align <= 64 && (align & (align - 1)) == 0);
  return NULL;
}

static void neverFree(void *user, void *memory, size_t size) {
  (void)user, (void)memory, (void)size;
  fail_msg("nothing was given, nothing can come back");
}

static void allocatorIsSetWhole(void **state) {
  (void)state;
  assert_int_equal(pnGetByteCount(), 0);
  testExpectFailure(pnSetAllocator(refuse, NULL, NULL), PN_ERROR_ARGUMENT, "both");
  testExpectFailure(pnSetAllocator(NULL, neverFree, NULL), PN_ERROR_ARGUMENT, "both");

  // not while memory is held
  void *held = pn_alloc(100);
  int calls = 0;
  testExpectFailure(pnSetAllocator(refuse, neverFree, &calls), PN_ERROR_ARGUMENT, "100 bytes");
  pn_free(held, 100);

  testExpectOk(pnSetAllocator(refuse, neverFree, &calls));
  assert_null(pn_alloc(10));
  assert_null(pn_allocZero(10));
  assert_int_equal(calls, 2);
  testExpectOk(pnSetAllocator(NULL, NULL, NULL));
  held = pn_alloc(10);
  assert_non_null(held);
  pn_free(held, 10);
}

/* ---------------------------------------------------------------- array */

static void arrayGrowsAndKeeps(void **state) {
  (void)state;
  PN_ARRAY(uint32_t) list = {0};
  for (uint32_t i = 0; i < 10000; ++i) assert_true(pn_arrayPush(&list, i * 3));
  assert_int_equal(list.count, 10000);
  for (uint32_t i = 0; i < 10000; ++i) assert_int_equal(list.data[i], i * 3);
  assert_true(list.capacity >= 10000 && list.capacity < 40000);

  // room that is there is not asked for again
  uint32_t *data = list.data;
  assert_true(pn_arrayReserve(&list, list.capacity));
  size_t none = 0;
  assert_true(pn_arrayReserve(&list, none));
  assert_ptr_equal(list.data, data);
  assert_true(pn_arrayReserve(&list, 100000));
  assert_int_equal(list.count, 10000);
  assert_int_equal(list.data[9999], 29997);
  pn_arrayFree(&list);
  assert_null(list.data);
  assert_int_equal(pnGetByteCount(), 0);

  // elements larger than a cache line
  struct Large {
    char bytes[100];
  };
  PN_ARRAY(struct Large) large = {0};
  for (int i = 0; i < 50; ++i) assert_true(pn_arrayPush(&large, ((struct Large){{(char)i}})));
  for (int i = 0; i < 50; ++i) assert_int_equal(large.data[i].bytes[0], i);
  pn_arrayFree(&large);
  assert_int_equal(pnGetByteCount(), 0);
}

static void arrayLosesNothingWithoutMemory(void **state) {
  (void)state;
  // allocation 0 gives 16 elements; pushing the 17th fails: the doubled size, then the bare one
  testInstallAllocator(1, true);
  PN_ARRAY(uint32_t) list = {0};
  uint32_t pushed = 0;
  while (pn_arrayPush(&list, pushed)) ++pushed;
  assert_int_equal(pushed, 16);
  assert_int_equal(list.count, 16);
  for (uint32_t i = 0; i < pushed; ++i) assert_int_equal(list.data[i], i);
  assert_false(pn_arrayReserve(&list, SIZE_MAX / 4 + 2)); // more bytes than there are
  pn_arrayFree(&list);
  assert_int_equal(pnGetByteCount(), 0);
  testRestoreAllocator();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memoryIsAlignedAndCounted),
      cmocka_unit_test(largeBlocksAskForLargePages),
      cmocka_unit_test(zeroedMemoryIsZero),
      cmocka_unit_test(hugeSizesAreRefused),
      cmocka_unit_test(allocatorIsSetWhole),
      cmocka_unit_test(arrayGrowsAndKeeps),
      cmocka_unit_test(arrayLosesNothingWithoutMemory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
