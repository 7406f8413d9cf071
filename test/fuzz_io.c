/* fuzz_io.c: broken mesh files for as long as you like: fuzz_io SECONDS [SEED [FILE...]].
 *
 * Each round has its own seed, so a failure repeats whatever ran before it: the input is left in fuzz_io_failure.EXT.
 * Run it through scripts/fuzz_io, which builds it with the sanitizers. */
#include "io_mutation.h"

#define FILES_MAX 200

static Sample *samples, *broken;
static uint32_t sampleCount;
static double seconds = 10;
static uint64_t seed = 1;

/* Leaves the input that was being read. */
static void keepInput(void) {
  char path[64];
  snprintf(path, sizeof(path), "fuzz_io_failure.%s", strchr(broken->name, '.') + 1);
  FILE *stream = fopen(path, "wb");
  if (!stream) return;
  fwrite(broken->bytes, 1, broken->size, stream);
  fclose(stream);
  fprintf(stderr, "the input is in %s\n", path);
}

/* There with the sanitizers, null without. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

static void fuzz(void **state) {
  (void)state;
  double end = pnGetTime() + seconds;
  uint64_t rounds = 0, accepted = 0;
  for (; (rounds & 63) || pnGetTime() < end; ++rounds) {
    TestRandom random = testRandom(seed + rounds);
    const Sample *sample = &samples[testBelow(&random, sampleCount)],
                 *other = &samples[testBelow(&random, sampleCount)];
    memcpy(broken->name, sample->name, sizeof(broken->name));
    memcpy(broken->bytes, sample->bytes, sample->size);
    broken->size = sample->size;
    for (uint32_t n = 1 + testBelow(&random, 8); n > 0; --n) mutateOnce(broken, other, &random);
    accepted += readSample(broken);
  }
  print_message("%llu broken files from seed %llu, %llu still meshes\n", (unsigned long long)rounds,
                (unsigned long long)seed, (unsigned long long)accepted);
}

/* Real files as further samples; those too large are left out. */
static void addFile(const char *path) {
  const char *dot = strrchr(path, '.');
  FILE *stream = dot && strlen(dot) < 8 && sampleCount < SAMPLE_COUNT + FILES_MAX ? fopen(path, "rb") : NULL;
  if (!stream) return;
  Sample *sample = &samples[sampleCount];
  sample->size = fread(sample->bytes, 1, MUTATION_MAX, stream);
  snprintf(sample->name, sizeof(sample->name), "a%s", dot);
  sampleCount += sample->size < MUTATION_MAX / 2;
  fclose(stream);
}

int main(int argc, char **argv) {
  if (argc > 1) seconds = strtod(argv[1], NULL);
  if (argc > 2) seed = strtoull(argv[2], NULL, 10);
  samples = calloc(SAMPLE_COUNT + FILES_MAX, sizeof(Sample));
  broken = calloc(1, sizeof(Sample));
  makeSamples(samples);
  sampleCount = SAMPLE_COUNT;
  for (int i = 3; i < argc; ++i) addFile(argv[i]);
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(keepInput);
  pnSetAllocator(countedAlloc, countedFree, NULL);
  const struct CMUnitTest tests[] = {cmocka_unit_test(fuzz)};
  int failures = cmocka_run_group_tests(tests, NULL, NULL);
  if (failures) keepInput();
  free(samples);
  free(broken);
  return failures;
}
