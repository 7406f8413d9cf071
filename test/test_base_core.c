/* test_base_core.c: results, messages, hooks, version, clock. */
#include "support.h"

#include <string.h>

#include "base/core.h"
#include "base/thread.h"

/* ---------------------------------------------------------------- results and messages */

static void everyResultHasItsText(void **state) {
  (void)state;
  for (int i = 0; i < PN_RESULT_COUNT; ++i) {
    const char *text = pnResult_Text((pnResult)i);
    assert_non_null(text);
    assert_true(strlen(text) > 1);
    for (int k = 0; k < i; ++k) assert_string_not_equal(text, pnResult_Text((pnResult)k));
  }
  assert_string_equal(pnResult_Text(PN_OK), "ok");
  assert_string_equal(pnResult_Text(PN_ERROR_OPEN_MESH), "the mesh is not closed");
  // numbers that are no result are answered too
  assert_non_null(pnResult_Text(PN_RESULT_COUNT));
  assert_non_null(pnResult_Text((pnResult)-1));
}

static void messageIsTheLastFailure(void **state) {
  (void)state;
  assert_int_equal(pn_fail(PN_ERROR_INDEX, "triangle %u of '%s'", 7u, "knot"), PN_ERROR_INDEX);
  assert_string_equal(pnGetMessage(), "triangle 7 of 'knot'");

  // a message may be wrapped in the next one
  pn_fail(PN_ERROR_NUMBER, "body 3: %s", pnGetMessage());
  assert_string_equal(pnGetMessage(), "body 3: triangle 7 of 'knot'");

  assert_int_equal(pn_failMemory(12345), PN_ERROR_MEMORY);
  assert_non_null(strstr(pnGetMessage(), "12345"));
}

static void longMessagesAreCut(void **state) {
  (void)state;
  char text[5000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = 0;
  pn_fail(PN_ERROR_FILE, "%s", text);
  assert_true(strlen(pnGetMessage()) >= 511 && strlen(pnGetMessage()) < 2000);
  assert_memory_equal(pnGetMessage(), text, strlen(pnGetMessage()));
  pn_fail(PN_ERROR_FILE, "short");
  assert_string_equal(pnGetMessage(), "short");
}

static void failElsewhere(void *context) {
  // a fresh thread has nothing to tell
  strcpy(context, pnGetMessage());
  pn_fail(PN_ERROR_KIND, "the other thread");
}

static void messagesBelongToTheirThread(void **state) {
  (void)state;
  char seen[1024] = "untouched";
  pn_fail(PN_ERROR_ID, "this thread");
  pnThread *thread = pn_threadStart(failElsewhere, seen);
  assert_non_null(thread);
  pn_threadJoin(thread);
  assert_string_equal(seen, "");
  assert_string_equal(pnGetMessage(), "this thread");
}

/* ---------------------------------------------------------------- hooks */

typedef struct Heard {
  int count;
  pnLogLevel level;
  char text[2000];
  char condition[200];
  int line;
} Heard;

static void hearLog(void *user, pnLogLevel level, const char *text) {
  Heard *heard = user;
  ++heard->count;
  heard->level = level;
  snprintf(heard->text, sizeof heard->text, "%s", text);
}

static bool hearAssert(void *user, const char *condition, const char *file, int line) {
  Heard *heard = user;
  ++heard->count;
  heard->line = line;
  snprintf(heard->condition, sizeof heard->condition, "%s", condition);
  assert_non_null(strstr(file, "test_base_core"));
  return false;
}

static void logGoesToTheHook(void **state) {
  (void)state;
  Heard heard = {0};
  pnSetLogFcn(hearLog, &heard);
  pn_log(PN_LOG_INFO, "%d bodies", 3);
  pn_log(PN_LOG_WARNING, "slow");
  pnSetLogFcn(NULL, NULL);
  pn_log(PN_LOG_INFO, "this is not printed");
  assert_int_equal(heard.count, 2);
  assert_int_equal(heard.level, PN_LOG_WARNING);
  assert_string_equal(heard.text, "slow");
}

static void assertGoesToTheHook(void **state) {
  (void)state;
  Heard heard = {0};
  pnSetAssertFcn(hearAssert, &heard);
  int evaluated = 0;
  PN_ASSERT(++evaluated == 1);
  assert_int_equal(heard.count, 0);
  PN_ASSERT(evaluated == 2);
  pnSetAssertFcn(NULL, NULL);
  assert_int_equal(evaluated, 1);
  assert_int_equal(heard.count, 1);
  assert_string_equal(heard.condition, "evaluated == 2");
  assert_true(heard.line > 0);
}

/* ---------------------------------------------------------------- the rest */

static void versionIsTheHeaders(void **state) {
  (void)state;
  char version[64];
  snprintf(version, sizeof version, "%d.%d.%d", PN_VERSION_MAJOR, PN_VERSION_MINOR, PN_VERSION_PATCH);
  assert_string_equal(pnGetVersion(), version);
}

static void clockDoesNotGoBack(void **state) {
  (void)state;
  double last = pnGetTime();
  for (int i = 0; i < 10000; ++i) {
    double now = pnGetTime();
    assert_true(now >= last);
    last = now;
  }
  assert_true(pn_coreCount() >= 1);
}

static void identityMovesNothing(void **state) {
  (void)state;
  pnMatrix m = pnMatrix_Identity();
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 4; ++k) assert_true(m.m[i][k] == (i == k ? 1.0f : 0.0f));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everyResultHasItsText), cmocka_unit_test(messageIsTheLastFailure),
      cmocka_unit_test(longMessagesAreCut),    cmocka_unit_test(messagesBelongToTheirThread),
      cmocka_unit_test(logGoesToTheHook),      cmocka_unit_test(assertGoesToTheHook),
      cmocka_unit_test(versionIsTheHeaders),   cmocka_unit_test(clockDoesNotGoBack),
      cmocka_unit_test(identityMovesNothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
