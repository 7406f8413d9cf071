/* test_base_sort.c: the sorts against qsort, with keys that differ in few bytes, in all, in none; splices against copies. */
#include "support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/splice.h"

#define MOST 5000

/* Sizes on both sides of where the sorts change their way, and larger ones. */
static const size_t s_sizes[] = {0, 1, 2, 3, 10, 47, 48, 49, 50, 100, 255, 256, 257, 1000, MOST};
#define SIZE_COUNT (sizeof s_sizes / sizeof s_sizes[0])

static int compareU64(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Bits in which keys may differ: none, one byte low, middle or high, several, all. */
static const uint64_t s_masks[] = {0,
                                   0xff,
                                   0xff00,
                                   0xff000000000000,
                                   0xff00000000000000,
                                   0x1,
                                   0x8000000000000000,
                                   0x00000fff00000fff,
                                   0x0007fff00001ffff,
                                   0xff00ff00ff00ff00,
                                   UINT64_MAX};

static void u64AgreesWithQsort(void **state) {
  (void)state;
  static uint64_t keys[MOST], expected[MOST], scratch[MOST + 1];
  TestRandom random = testRandom(10);
  for (size_t m = 0; m < sizeof s_masks / sizeof s_masks[0]; ++m)
    for (size_t s = 0; s < SIZE_COUNT; ++s) {
      uint64_t base = testU64(&random);
      for (size_t i = 0; i < s_sizes[s]; ++i)
        expected[i] = keys[i] = (base & ~s_masks[m]) | (testU64(&random) & s_masks[m]);
      scratch[s_sizes[s]] = 0x1234; // must not be touched
      qsort(expected, s_sizes[s], sizeof *expected, compareU64);
      pn_sortU64(keys, scratch, s_sizes[s]);
      assert_memory_equal(keys, expected, s_sizes[s] * sizeof *keys);
      assert_int_equal(scratch[s_sizes[s]], 0x1234);
    }
}

/* Keys of two words each, the upper one first. */
static void wordsAgreeWithQsort(void **state) {
  (void)state;
  static uint64_t expected[MOST], keys[MOST], scratch[MOST + 1];
  static uint32_t words[2 * MOST];
  TestRandom random = testRandom(15);
  for (size_t m = 0; m < sizeof s_masks / sizeof s_masks[0]; ++m)
    for (size_t s = 0; s < SIZE_COUNT; ++s) {
      uint64_t base = testU64(&random);
      for (size_t i = 0; i < s_sizes[s]; ++i) {
        expected[i] = (base & ~s_masks[m]) | (testU64(&random) & s_masks[m]);
        words[2 * i] = (uint32_t)(expected[i] >> 32);
        words[2 * i + 1] = (uint32_t)expected[i];
      }
      scratch[s_sizes[s]] = 0x1234; // must not be touched
      qsort(expected, s_sizes[s], sizeof *expected, compareU64);
      memcpy(keys, words, s_sizes[s] * sizeof *keys);
      pn_sortWords(keys, scratch, s_sizes[s]);
      memcpy(words, keys, s_sizes[s] * sizeof *keys);
      for (size_t i = 0; i < s_sizes[s]; ++i)
        assert_true(((uint64_t)words[2 * i] << 32 | words[2 * i + 1]) == expected[i]);
      assert_int_equal(scratch[s_sizes[s]], 0x1234);
    }
}

/* Keys as words, in lists of all lengths. */
static uint32_t makeLists(TestRandom *random, const uint64_t *keys, size_t count, uint32_t *words, pnKeyList *lists) {
  uint32_t listCount = 0;
  for (size_t i = 0; i < count; ++i) {
    words[2 * i] = (uint32_t)(keys[i] >> 32);
    words[2 * i + 1] = (uint32_t)keys[i];
  }
  for (size_t at = 0; at < count; at += 1 + testBelow(random, listCount % 2 ? 5 : 3000))
    lists[listCount++] = (pnKeyList){words + 2 * at, at};
  return listCount;
}

/* By several workers: sizes around where that begins, keys that share their value or crowd in few places. */
static void manyWorkersAgreeWithQsort(void **state) {
  (void)state;
  enum { COUNT = 40000 };
  static uint64_t keys[COUNT], expected[COUNT], out[COUNT + 1], scratch[2 * COUNT + 1];
  static uint32_t words[2 * COUNT], result[2 * COUNT];
  static pnKeyList lists[COUNT];
  const size_t sizes[] = {1, 100, 2047, 2048, 2049, 4096, 8191, 8192, 10000, COUNT};
  const uint32_t teams[] = {2, 4, 20}; // of which the last have as many parts and blocks as there may be
  TestRandom random = testRandom(14);
  for (size_t team = 0; team < sizeof teams / sizeof teams[0]; ++team) {
    pnPool *pool;
    testExpectOk(pnCreatePool(teams[team], &pool));
    pnTasks tasks = pnPool_GetTasks(pool);
    for (size_t m = 0; m < sizeof s_masks / sizeof s_masks[0]; ++m) {
      for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
        for (size_t i = 0; i < sizes[s]; ++i) {
          uint64_t crowd = i % 3 == 0 ? UINT64_MAX : UINT64_C(0xffff);
          expected[i] = keys[i] = testU64(&random) & s_masks[m] & crowd;
        }
        scratch[2 * sizes[s]] = out[sizes[s]] = 0x1234; // must not be touched
        qsort(expected, sizes[s], sizeof *expected, compareU64);
        uint32_t listCount = makeLists(&random, keys, sizes[s], words, lists);
        pn_sortListsByMany(lists, listCount, sizes[s], out, scratch, &tasks);
        memcpy(result, out, sizes[s] * sizeof *out);
        for (size_t i = 0; i < sizes[s]; ++i)
          assert_true(((uint64_t)result[2 * i] << 32 | result[2 * i + 1]) == expected[i]);
        assert_int_equal(scratch[2 * sizes[s]], 0x1234);
        assert_int_equal(out[sizes[s]], 0x1234);
      }
    }
    pnDestroyPool(pool);
  }
}

static int compareKeyValue(const void *a, const void *b) {
  // values are places before sorting: comparing them makes qsort stable
  const pnKeyValue *x = a, *y = b;
  return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->value > y->value) - (x->value < y->value);
}

static void keyValueIsStable(void **state) {
  (void)state;
  static pnKeyValue items[MOST], expected[MOST], scratch[MOST];
  TestRandom random = testRandom(11);
  for (size_t m = 0; m < sizeof s_masks / sizeof s_masks[0]; ++m)
    for (size_t s = 0; s < SIZE_COUNT; ++s) {
      uint32_t mask = (uint32_t)(s_masks[m] >> 16) & 0xff0f000fu, base = (uint32_t)testU64(&random);
      for (size_t i = 0; i < s_sizes[s]; ++i)
        expected[i] = items[i] = (pnKeyValue){(base & ~mask) | ((uint32_t)testU64(&random) & mask), (uint32_t)i};
      qsort(expected, s_sizes[s], sizeof *expected, compareKeyValue);
      pn_sortKeyValue(items, scratch, s_sizes[s]);
      if (s_sizes[s]) assert_memory_equal(items, expected, s_sizes[s] * sizeof *items);
    }
}

static void insertionIsStableAndCounts(void **state) {
  (void)state;
  static pnFloatKey items[1000], before[1000];
  TestRandom random = testRandom(12);
  for (int round = 0; round < 200; ++round) {
    size_t count = testBelow(&random, round < 150 ? 40 : 1000);
    for (size_t i = 0; i < count; ++i)
      before[i] = items[i] = (pnFloatKey){(float)((int)testBelow(&random, 20) - 10), (uint32_t)i};

    // the cost is the number of pairs in the wrong order
    size_t inversions = 0;
    for (size_t i = 0; i < count; ++i)
      for (size_t k = i + 1; k < count; ++k) inversions += before[i].key > before[k].key;
    assert_int_equal(pn_insertionSort(items, count), inversions);
    for (size_t i = 1; i < count; ++i) {
      assert_true(items[i - 1].key <= items[i].key);
      assert_true(items[i - 1].key < items[i].key || items[i - 1].value < items[i].value);
    }
    for (size_t i = 0; i < count; ++i) assert_true(items[i].key == before[items[i].value].key);
    assert_int_equal(pn_insertionSort(items, count), 0);
  }
}

/* Bit by bit, for every number of ten bits and many of twenty. */
static void bitsAreSpreadByThrees(void **state) {
  (void)state;
  for (uint32_t n = 0; n < 1u << 20; n += n < 2048 ? 1 : 509) {
    uint64_t ten = 0, twenty = 0;
    for (uint32_t i = 0; i < 20; ++i) {
      ten |= i < 10 ? (uint64_t)(n >> i & 1) << 3 * i : 0;
      twenty |= (uint64_t)(n >> i & 1) << 3 * i;
    }
    assert_int_equal(pn_spreadBits(n), ten);
    assert_int_equal(pn_spreadTwenty(n), twenty);
  }
}

static void floatOrderIsTheOrderOfFloats(void **state) {
  (void)state;
  const float ascending[] = {-INFINITY, -FLT_MAX, -1.5f,   -1, -FLT_MIN, -1e-45f, -0.0f,
                             0.0f,      1e-45f,   FLT_MIN, 1,  1.5f,     FLT_MAX, INFINITY};
  for (size_t i = 1; i < sizeof ascending / sizeof ascending[0]; ++i)
    assert_true(pn_floatOrder(ascending[i - 1]) < pn_floatOrder(ascending[i]));
  TestRandom random = testRandom(13);
  for (int i = 0; i < 100000; ++i) {
    float a = testAnyFloat(&random), b = testAnyFloat(&random);
    if (a != b) assert_true((a < b) == (pn_floatOrder(a) < pn_floatOrder(b)));
  }
}

/* ---------------------------------------------------------------- splices */

/* Some runs of a list are replaced by others, longer ones, shorter ones and none, beside each other and at the ends: as if it were copied. */
static void splicesAreAsIfCopied(void **state) {
  (void)state;
  enum { ROOM = 60 };
  TestRandom random = testRandom(77);
  for (uint32_t round = 0; round < testRounds(20000); ++round) {
    struct {
      uint32_t value[3];
    } list[3 * ROOM + 1], other[2 * ROOM + 1], expected[3 * ROOM + 1];
    pnSplice splices[ROOM];
    size_t count = testBelow(&random, ROOM), n = 0, at = 0, first = 0, to = 0;
    uint32_t most = 1 + testBelow(&random, 6);
    for (uint32_t i = 0; i < 3 * ROOM; ++i) list[i].value[0] = list[i].value[1] = list[i].value[2] = i;
    for (uint32_t i = 0; i < 2 * ROOM; ++i) other[i].value[0] = other[i].value[1] = other[i].value[2] = 1000 + i;
    while (n < 12 && testBelow(&random, 20) > 0) {
      size_t stays = testBelow(&random, most), dropped = testBelow(&random, most), added = testBelow(&random, most);
      stays = PN_MIN(stays, count - at);
      dropped = PN_MIN(dropped, count - at - stays);
      for (size_t i = 0; i < stays; ++i) expected[to++] = list[at++];
      splices[n++] = (pnSplice){at, dropped, first, added};
      for (size_t i = 0; i < added; ++i) expected[to++] = other[first++];
      at += dropped;
    }
    while (at < count) expected[to++] = list[at++];
    assert_int_equal(to, (ptrdiff_t)count + pn_gainOf(splices, n));
    pn_splice(list, count, sizeof *list, other, splices, n);
    assert_memory_equal(list, expected, to * sizeof *list);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(u64AgreesWithQsort),           cmocka_unit_test(wordsAgreeWithQsort),
      cmocka_unit_test(manyWorkersAgreeWithQsort),    cmocka_unit_test(keyValueIsStable),
      cmocka_unit_test(insertionIsStableAndCounts),   cmocka_unit_test(bitsAreSpreadByThrees),
      cmocka_unit_test(floatOrderIsTheOrderOfFloats), cmocka_unit_test(splicesAreAsIfCopied),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
