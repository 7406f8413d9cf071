/* test_base_fenv.c: answers do not depend on the caller's floating-point environment, and the caller finds it as it was: all
 * rounding modes, subnormals flushed to zero, traps, in the calling thread, in workers and behind task hooks of any kind. */
#include "fenv_case.h"

#include "pinch/io.h"

static void everyEnvironmentGivesTheSameAnswers(void **state) {
  (void)state;
  uint64_t truth = fenvWalk(FENV_PLAIN, NULL);
  for (unsigned mode = 0; mode < 4; ++mode) {
    assert_int_equal(fenvWalk(FENV_PLAIN | FENV_ROUND(mode), NULL), truth);
    assert_int_equal(fenvWalk(FENV_PLAIN | FENV_ROUND(mode) | FENV_FLUSH, NULL), truth);
  }
}

static void trapsAreNotSprung(void **state) {
  (void)state;
  uint64_t control = FENV_TRAPS(FENV_PLAIN | FENV_FLUSH);
  fenvWrite(control);
  bool kept = fenvRead() == control; /* not every processor has traps */
  fenvWrite(FENV_PLAIN);
  if (kept) assert_int_equal(fenvWalk(control, NULL), fenvWalk(FENV_PLAIN, NULL));
}

/* Threads inherit the environment of whoever starts them. */
static void workersComputeAsTheCaller(void **state) {
  (void)state;
  uint64_t truth = fenvWalk(FENV_PLAIN, NULL);
  pnPool *pool;
  fenvWrite(FENV_PLAIN | FENV_FLUSH | FENV_ROUND(1));
  pnResult result = pnCreatePool(3, &pool);
  fenvWrite(FENV_PLAIN);
  testExpectOk(result);
  pnTasks tasks = pnPool_GetTasks(pool);
  assert_int_equal(fenvWalk(FENV_PLAIN, &tasks), truth);
  assert_int_equal(fenvWalk(FENV_PLAIN | FENV_FLUSH | FENV_ROUND(2), &tasks), truth);
  pnDestroyPool(pool);
}

/* Task hooks of a host that has its own ideas: each range in another environment. */
static void hostileFor(void *user, pnTaskFcn *task, void *context, uint32_t count, uint32_t grain) {
  uint32_t *calls = user;
  for (uint32_t begin = 0; begin < count; begin += grain, ++*calls) {
    uint64_t before = fenvRead(), control = FENV_PLAIN | FENV_ROUND(*calls % 4) | (*calls % 2 ? FENV_FLUSH : 0);
    fenvWrite(control);
    task(context, begin, begin + grain < count ? begin + grain : count, *calls % 4);
    uint64_t after = fenvRead();
    fenvWrite(before);
    assert_int_equal(after, control);
  }
}

static void hooksMayRunInAnyEnvironment(void **state) {
  (void)state;
  uint32_t calls = 0;
  pnTasks tasks = {.workerCount = 4, .parallelFor = hostileFor, .user = &calls};
  assert_int_equal(fenvWalk(FENV_PLAIN, &tasks), fenvWalk(FENV_PLAIN, NULL));
  assert_true(calls > 10);
}

static void filesAreReadAlike(void **state) {
  (void)state;
  static const char text[] = "v 0.1 1e-40 3.3333333333\nv 1.7 -2e-42 1e-7\nv 0.3 16777217 1e30\nf 1 2 3\n";
  for (unsigned mode = 0; mode < 4; ++mode) {
    FenvWalk walk = {.control = FENV_PLAIN | FENV_ROUND(mode) | FENV_FLUSH};
    pnMeshFile file, truth;
    testExpectOk(pnParseMeshFile(text, sizeof text - 1, "a.obj", &truth));
    FENV_OK(&walk, pnParseMeshFile(text, sizeof text - 1, "a.obj", &file));
    assert_memory_equal(file.vertices, truth.vertices, 9 * sizeof(float));
    pnFreeMeshFile(&file);
    pnFreeMeshFile(&truth);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everyEnvironmentGivesTheSameAnswers),
      cmocka_unit_test(trapsAreNotSprung),
      cmocka_unit_test(workersComputeAsTheCaller),
      cmocka_unit_test(hooksMayRunInAnyEnvironment),
      cmocka_unit_test(filesAreReadAlike),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
