/* test_world_fuzz.c: worlds at random against brute force: every kind of body, rule, volume and filter, at every magnitude of
 * float, mixed within one body. scripts/fuzz_world runs as many as there is time for. */
#include "support_world.h"

static void worldsAgreeWithBruteForce(void **state) {
  (void)state;
  WorldTally tally = {0};
  WorldWish wish = {0};
  for (uint64_t seed = 1; seed <= testRounds(1500); ++seed) assert_true(worldCheck(seed, &wish, &tally));
  /* worlds of the long run that were wrong once */
  static const uint64_t once[] = {2360, 8275, 9306, 24827, 600820091, 16000081};
  for (size_t i = 0; i < sizeof once / sizeof *once; ++i) assert_true(worldCheck(once[i], &wish, &tally));
  /* with calls that must be refused in between, and change nothing */
  wish.hostile = true;
  for (uint64_t seed = 5001; seed <= 5000 + testRounds(150); ++seed) assert_true(worldCheck(seed, &wish, &tally));
  /* nothing to be proud of where nothing meets */
  assert_true(tally.pairs > testRounds(50000) && tally.selfPairs > testRounds(20000));
  for (int kind = 0; kind < 6; ++kind) assert_true(tally.kinds[kind] > 50);
  assert_true(tally.refused < tally.frames / 2);
  assert_int_equal(pnGetByteCount(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(worldsAgreeWithBruteForce)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
