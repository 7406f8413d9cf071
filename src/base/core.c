/* core.c: results and their texts, the message of the last failure, the log and assert hooks, the version.
 *
 * The message lives in a thread-local buffer: two threads that fail at the same time do not see each other's words,
 * and failing needs no memory, so that "out of memory" itself can be reported. */
#include "base/core.h"

#include "base/fenv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest message with its closing zero; what is longer is cut. A path, a line and a sentence fit. */
#define MESSAGE_BYTES 1024

static _Thread_local char s_message[MESSAGE_BYTES];

static pnLogFcn *s_log;
static void *s_logUser;
static pnAssertFcn *s_assert;
static void *s_assertUser;

/* ---------------------------------------------------------------- floating point */

pnFloatMode pnEnterFloat(void) {
  pnFenv saved = pn_enterFenv();
  return (pnFloatMode){saved.control, saved.changed};
}

void pnLeaveFloat(pnFloatMode mode) {
  pn_leaveFenv(&(pnFenv){mode.control, mode.changed});
}

/* ---------------------------------------------------------------- results */

const char *pnResult_Text(pnResult result) {
  static const char *const texts[] = {
#define RESULT_TEXT(name, text) text,
      PN_RESULTS(RESULT_TEXT)
#undef RESULT_TEXT
  };
  return (unsigned)result < PN_RESULT_COUNT ? texts[result] : "unknown result";
}

const char *pnGetMessage(void) {
  return s_message;
}

pnResult pn_fail(pnResult result, const char *format, ...) {
  // by way of a second buffer, because an argument may be the old message: "body 3: <what the mesh said>"
  char text[MESSAGE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  memcpy(s_message, text, strlen(text) + 1);
  return result;
}

pnResult pn_checkCookie(uint32_t cookie, const char *name) {
  if (cookie == PN_COOKIE) return PN_OK;
  return pn_fail(PN_ERROR_ARGUMENT, "%s: its cookie is missing; start from pnDefault%s() and set what you want", name,
                 name + 2);
}

pnResult pn_failMemory(size_t size) {
  return pn_fail(PN_ERROR_MEMORY, "out of memory: %zu bytes were asked for", size);
}

/* ---------------------------------------------------------------- hooks */

void pnSetLogFcn(pnLogFcn *fcn, void *user) {
  s_log = fcn;
  s_logUser = user;
}

void pnSetAssertFcn(pnAssertFcn *fcn, void *user) {
  s_assert = fcn;
  s_assertUser = user;
}

void pn_log(pnLogLevel level, const char *format, ...) {
  char text[MESSAGE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);

  if (s_log) s_log(s_logUser, level, text);
  else if (level != PN_LOG_INFO) fprintf(stderr, "pinch %s: %s\n", level == PN_LOG_WARNING ? "warning" : "error", text);
}

void pn_assertFailed(const char *condition, const char *file, int line) {
  bool stop = true;
  if (s_assert) stop = s_assert(s_assertUser, condition, file, line);
  else fprintf(stderr, "pinch assert: %s (%s:%d)\n", condition, file, line);
  if (stop) abort();
}

/* ---------------------------------------------------------------- version and plain types */

#define TEXT_OF(x) #x
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *pnGetVersion(void) {
  return VERSION_TEXT(PN_VERSION_MAJOR, PN_VERSION_MINOR, PN_VERSION_PATCH);
}

pnMatrix pnMatrix_Identity(void) {
  return (pnMatrix){{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
}
