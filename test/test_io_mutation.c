/* test_io_mutation.c: a fixed run of broken files through the mesh readers. scripts/fuzz_io runs for longer. */
#include "io_mutation.h"

static Sample *samples, *broken;

static void testSamplesAreGood(void **state) {
  (void)state;
  for (int i = 0; i < SAMPLE_COUNT; ++i)
    if (!readSample(&samples[i])) fail_msg("sample %d: %s", i, pnGetMessage());
}

/* Cut at every byte (the large one at some): nothing but an error, or a smaller mesh where the format cannot tell. */
static void testTruncations(void **state) {
  (void)state;
  for (int i = 0; i < SAMPLE_COUNT; ++i) {
    *broken = samples[i];
    for (size_t size = 0; size < samples[i].size; size += 1 + size / 500) {
      broken->size = size;
      readSample(broken);
    }
  }
}

static void testMutations(void **state) {
  (void)state;
  enum { ROUNDS = 60000 };
  TestRandom random = testRandom(2024);
  uint32_t accepted = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    // The large sample now and then: it is slow.
    uint32_t which = testBelow(&random, testBelow(&random, 50) ? SAMPLE_COUNT - 1 : SAMPLE_COUNT);
    const Sample *sample = &samples[which], *other = &samples[testBelow(&random, SAMPLE_COUNT - 1)];
    memcpy(broken->name, sample->name, sizeof(broken->name));
    memcpy(broken->bytes, sample->bytes, sample->size);
    broken->size = sample->size;
    for (uint32_t n = 1 + testBelow(&random, 6); n > 0; --n) mutateOnce(broken, other, &random);
    accepted += readSample(broken);
  }
  print_message("%d broken files, %u still meshes\n", ROUNDS, accepted);
  // Both answers must have been tried.
  assert_in_range(accepted, ROUNDS / 100, ROUNDS - ROUNDS / 10);
}

static int setUp(void **state) {
  (void)state;
  samples = calloc(SAMPLE_COUNT, sizeof(Sample));
  broken = calloc(1, sizeof(Sample));
  makeSamples(samples);
  return pnSetAllocator(countedAlloc, countedFree, NULL) == PN_OK ? 0 : -1;
}

static int tearDown(void **state) {
  (void)state;
  free(samples);
  free(broken);
  return pnSetAllocator(NULL, NULL, NULL) == PN_OK ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testSamplesAreGood),
      cmocka_unit_test(testTruncations),
      cmocka_unit_test(testMutations),
  };
  return cmocka_run_group_tests(tests, setUp, tearDown);
}
