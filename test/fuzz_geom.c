/* fuzz_geom.c: the long run. Pairs of every kind until the number asked for, every question against the oracle.
 *
 *   fuzz_geom [pairs] [seed] [seconds]     ten million pairs by default; a few minutes. It ends after so many seconds at the
 *                                          latest (default 0: never)
 *
 * Every pair is asked about in eight ways that the oracle answers once: itself, and seven images of it that are exact (oracle_check.h).
 * Stops at the first disagreement and prints the pair; the seed of its block repeats it. Not part of ctest:
 * test_geom_*.c do the same with fewer pairs.
 */
#include "oracle.h"
#include "oracle_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void addTally(Tally *sum, const Tally *t) {
  sum->pairs += t->pairs;
  sum->images += t->images;
  sum->meet += t->meet;
  sum->shared += t->shared;
  sum->beyond += t->beyond;
  for (int n = 0; n <= 6; ++n) sum->corners[n] += t->corners[n];
  sum->worst = t->worst > sum->worst ? t->worst : sum->worst;
}

static void printKinds(const Tally tallies[CASE_KIND_COUNT]) {
  printf("%-16s %10s %10s %10s %10s %8s\n", "kind", "pairs", "meet", "neighbours", "beyond", "ulp");
  for (int k = 0; k < CASE_KIND_COUNT; ++k) {
    const Tally *t = &tallies[k];
    printf("%-16s %10ld %10ld %10ld %10ld %8.3f\n", caseName((CaseKind)k), t->pairs, t->meet, t->shared, t->beyond,
           t->worst);
  }
}

int main(int argc, char **argv) {
  enum { BLOCK = 1000, IMAGES = 7 };
  long wanted = argc > 1 ? atol(argv[1]) : 10000000;
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  double seconds = argc > 3 ? atof(argv[3]) : 0;
  Tally tallies[CASE_KIND_COUNT] = {{0}}, total = {0};
  time_t start = time(NULL), shown = start, now = start;
  bool good = wanted > 0;
  if (!good) fprintf(stderr, "fuzz_geom: the number of pairs must be positive\n");

  oracleOpen();
  for (uint64_t block = 0;
       good && total.pairs + total.images < wanted && !(seconds > 0 && difftime(now, start) >= seconds); ++block) {
    /* Each block has a seed of its own, so that one can be repeated without those before it. */
    uint64_t blockSeed = seed * 1000003u + block;
    Random r = {blockSeed};
    CaseKind kind = (CaseKind)(block % CASE_KIND_COUNT);
    Tally tally = {0};
    for (int i = 0; good && i < BLOCK; ++i) {
      Case c = makeCase(kind, &r);
      good = checkPair(&c, &r, &tally) && checkImages(&c, IMAGES, &r, &tally);
    }
    addTally(&tallies[kind], &tally);
    addTally(&total, &tally);
    if (!good) printf("kind %s, block seed %llu\n", caseName(kind), (unsigned long long)blockSeed);

    /* A line now and then. */
    now = time(NULL);
    if (now - shown >= 5) {
      long pairs = total.pairs + total.images;
      printf("%10ld pairs, %5.1f %%, %ld s\n", pairs, 100.0 * (double)pairs / (double)wanted, (long)(now - start));
      fflush(stdout);
      shown = now;
    }
  }
  oracleClose();
  printKinds(tallies);
  printf("fuzz_geom: %ld pairs, %ld of them images of the other %ld, of which %ld meet and %ld are neighbours, %s\n",
         total.pairs + total.images, total.images, total.pairs, total.meet, total.shared,
         good ? "0 disagreements" : "WRONG");
  return good ? 0 : 1;
}
