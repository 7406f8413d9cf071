/* test_collide_few.c: short lists of pairs (collide/few.h) against qsort: numbers near 0, far from it, near each other and as far apart
 * as one number holds; beyond that the list is left as it was. */
#include "support.h"

#include "collide/few.h"
#include "geom/simd.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 96 };

/* Different pairs with numbers of so many bits above the least. */
static size_t makePairs(TestRandom *random, size_t wanted, unsigned bitsA, unsigned bitsB, pnPair least, pnPair *out) {
  size_t count = 0;
  for (size_t i = 0; i < wanted; ++i) {
    uint32_t a = (uint32_t)(testU64(random) & (((uint64_t)1 << bitsA) - 1)),
             b = (uint32_t)(testU64(random) & (((uint64_t)1 << bitsB) - 1));
    pnPair p = {least.a + a, least.b + b};
    bool again = false;
    for (size_t k = 0; k < count; ++k) again = again || (out[k].a == p.a && out[k].b == p.b);
    if (!again) out[count++] = p;
  }
  return count;
}

/* How many bits the numbers of a list take, counted from the least of each side. */
static unsigned bitsOf(const pnPair *pairs, size_t count, bool ofB) {
  uint32_t least = UINT32_MAX, most = 0;
  for (size_t i = 0; i < count; ++i) {
    uint32_t x = ofB ? pairs[i].b : pairs[i].a;
    least = x < least ? x : least;
    most = x > most ? x : most;
  }
  unsigned bits = 0;
  while ((uint64_t)(most - least) >> bits) ++bits;
  return bits;
}

static void shortListsAreSorted(void **state) {
  (void)state;
  TestRandom random = testRandom(11);
  uint32_t sorted = 0, refused = 0;
  for (int round = 0; round < (int)testRounds(20000); ++round) {
    pnPair pairs[MOST], truth[MOST];
    unsigned bitsA = (unsigned)(testU64(&random) % 33), bitsB = (unsigned)(testU64(&random) % 33);
    pnPair least = {bitsA > 31 ? 0 : (uint32_t)testU64(&random) >> 1, bitsB > 31 ? 0 : (uint32_t)testU64(&random) >> 1};
    if (round % 4 == 0) least = (pnPair){0, 0};
    size_t count = makePairs(&random, 1 + testU64(&random) % (MOST - 1), bitsA, bitsB, least, pairs);
    memcpy(truth, pairs, sizeof pairs[0] * count);
    unsigned bits = bitsOf(pairs, count, false) + bitsOf(pairs, count, true);
    if (pn_sortFew(pairs, count)) {
      qsort(truth, count, sizeof truth[0], testComparePairs);
      ++sorted;
    } else {
      /* only a list that is long, or whose numbers are wide */
      assert_true(count > PN_FEW_PAIRS || bits > 31);
      ++refused;
    }
    assert_memory_equal(pairs, truth, sizeof pairs[0] * count);
  }
  assert_true(sorted > testRounds(5000) && refused > testRounds(5000));
}

/* Every width counts the same, for every length of a list. */
static void widthsCountTheSame(void **state) {
  (void)state;
  TestRandom random = testRandom(12);
  for (size_t count = 1; count <= PN_FEW_PAIRS; ++count) {
    int32_t keys[PN_FEW_PAIRS];
    uint32_t truth[PN_FEW_PAIRS] = {0}, out[PN_FEW_PAIRS];
    for (size_t i = 0; i < PN_FEW_PAIRS; ++i) keys[i] = i < count ? (int32_t)(testU64(&random) >> 33) : INT32_MAX;
    keys[count - 1] = count % 2 ? keys[count - 1] : 0;
    for (size_t i = 0; i < count * count; ++i) truth[i / count] += keys[i % count] < keys[i / count];
    pn_countBelow4(keys, count, out);
    assert_memory_equal(truth, out, count * sizeof out[0]);
#if defined(PN_AVX512)
    if (!pn_hasAvx512()) continue;
    pn_countBelow16Avx512(keys, count, out);
    assert_memory_equal(truth, out, count * sizeof out[0]);
#endif
  }
}

/* The widest numbers that are taken, and one bit more. */
static void theWidestAreTaken(void **state) {
  (void)state;
  for (unsigned bits = 0; bits <= 31; ++bits) {
    uint32_t a = (uint32_t)(((uint64_t)1 << (31 - bits)) - 1), b = (uint32_t)(((uint64_t)1 << bits) - 1);
    pnPair pairs[3] = {{7 + a, 9 + b}, {7 + a, 9}, {7, 9 + b}};
    size_t count = a > 0 && b > 0 ? 3 : 1;
    pnPair last = pairs[0];
    assert_true(pn_sortFew(pairs, count));
    assert_memory_equal(&pairs[count - 1], &last, sizeof last);
    pnPair wide[3] = {{8 + a, 9 + b}, {8 + a, 9}, {7, 9 + b}};
    if (b > 0) assert_false(pn_sortFew(wide, 3));
  }
  pnPair far[2] = {{0, UINT32_MAX}, {0, 0}}, keep[2] = {{0, UINT32_MAX}, {0, 0}};
  assert_false(pn_sortFew(far, 2));
  assert_memory_equal(far, keep, sizeof far);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shortListsAreSorted), cmocka_unit_test(widthsCountTheSame),
                                     cmocka_unit_test(theWidestAreTaken)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
