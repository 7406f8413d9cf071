/* door.c: failure, log and memory for those who build on the doors (io, the tool, bindings).
 *
 * The rooms use pn_fail, pn_log and pn_alloc directly; these four are the same things under public names, so that a
 * library beside pinch reports through pnGetMessage() and takes its memory from the caller's hooks. */
#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"

/* A message is a line or two for a person; longer ones are cut. */
#define PN_DOOR_TEXT 1024

pnResult pnFail(pnResult result, const char *format, ...) {
  char text[PN_DOOR_TEXT];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return pn_fail(result, "%s", text);
}

void pnLog(pnLogLevel level, const char *format, ...) {
  char text[PN_DOOR_TEXT];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  pn_log(level, "%s", text);
}

void *pnAlloc(size_t size) {
  return pn_alloc(size);
}

void pnFree(void *memory, size_t size) {
  pn_free(memory, size);
}
