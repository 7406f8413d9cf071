/* test_base_fenv_fast.c: a program that was linked with -ffast-math, which on x86-64 flushes subnormal numbers to zero from its
 * first line on (crtfastmath). Answers are those of a program that was not. */
#include "fenv_case.h"

static uint64_t atStart;

static void fastMathChangesNothing(void **state) {
  (void)state;
  fenvWrite(FENV_PLAIN);
  uint64_t truth = fenvWalk(FENV_PLAIN, NULL);
  print_message("the program began with %#llx\n", (unsigned long long)atStart);
  assert_int_equal(fenvWalk(atStart, NULL), truth);
#if defined(__x86_64__) && defined(__linux__) && !defined(__clang__)
  assert_int_equal(atStart & FENV_FLUSH, FENV_FLUSH); /* else this tests nothing */
#endif
}

int main(void) {
  atStart = fenvRead();
  const struct CMUnitTest tests[] = {cmocka_unit_test(fastMathChangesNothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
