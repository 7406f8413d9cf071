/* fuzz_world.c: the long run. Worlds at random until the number asked for, every frame against brute force.
 *
 *   fuzz_world [worlds] [first seed] [kinds] [seconds]     a hundred thousand worlds by default; kinds: bits of pnBodyKind, 0 for
 *                                                          all. It ends after so many seconds at the latest (default 0: never)
 *
 * Goes on after a world that differs and prints it; its seed alone repeats it. Not part of ctest: test_world_fuzz.c does the
 * same with fewer worlds. */
#include "support_world.h"

#include <stdlib.h>
#include <time.h>

/* Worlds are small: one that takes so many seconds is worth a look. */
#define SLOW 5

static long wanted;
static double seconds;
static uint64_t firstSeed;
static WorldWish wish;

static void run(void **state) {
  (void)state;
  WorldTally tally = {0};
  long wrong = 0;
  time_t start = time(NULL), shown = start, now = start;
  for (long i = 0; i < wanted && !(seconds > 0 && difftime(now, start) >= seconds); ++i) {
    time_t before = now;
    wrong += !worldCheck(firstSeed + (uint64_t)i, &wish, &tally);
    now = time(NULL);
    if (now - before >= SLOW)
      printf("slow: the world of seed %llu took %ld s\n", (unsigned long long)firstSeed + (uint64_t)i,
             (long)(now - before));
    if (now - shown >= 5) {
      printf("%10ld worlds, %5.1f %%, %ld wrong, %ld s\n", i + 1, 100.0 * (double)(i + 1) / (double)wanted, wrong,
             (long)(now - start));
      fflush(stdout);
      shown = now;
    }
  }
  printf("fuzz_world: %llu worlds, %llu frames, %llu pairs, %llu self pairs, %llu inputs refused, %ld wrong\n",
         (unsigned long long)tally.worlds, (unsigned long long)tally.frames, (unsigned long long)tally.pairs,
         (unsigned long long)tally.selfPairs, (unsigned long long)tally.refused, wrong);
  assert_int_equal(wrong, 0);
}

int main(int argc, char **argv) {
  wanted = argc > 1 ? atol(argv[1]) : 100000;
  firstSeed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  wish.kinds = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 0) : 0;
  seconds = argc > 4 ? atof(argv[4]) : 0;
  wish.tell = wanted == 1;
  const struct CMUnitTest tests[] = {cmocka_unit_test(run)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
