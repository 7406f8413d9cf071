/* out.c: tables, JSON and errors as the tool prints them. */
#include "out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names come from files: what would move the cursor is not printed. */
static char plain(char c) {
  return (unsigned char)c < 0x20 || c == 0x7f ? '?' : c;
}

/* ---------------------------------------------------------------- tables */

void pn_addColumn(pnTable *table, const char *title) {
  if (table->columnCount < PN_MAX_COLUMNS) table->titles[table->columnCount++] = title;
}

void pn_addCell(pnTable *table, const char *format, ...) {
  if (table->failed) return;
  if (table->cellCount == table->cellCapacity) {
    size_t capacity = table->cellCapacity ? 2 * table->cellCapacity : 64;
    char **cells = realloc(table->cells, capacity * sizeof(char *));
    table->failed = !cells;
    if (!cells) return;
    table->cells = cells;
    table->cellCapacity = capacity;
  }
  // Asked for its length first, then written.
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  char *cell = length >= 0 ? malloc((size_t)length + 1) : NULL;
  if (cell) vsnprintf(cell, (size_t)length + 1, format, again);
  va_end(again);
  va_end(arguments);
  table->failed = !cell;
  if (!cell) return;
  for (char *c = cell; *c; ++c) *c = plain(*c);
  table->cells[table->cellCount++] = cell;
}

/* Columns a text takes: letters of UTF-8, whose further bytes begin with the bits 10. */
static size_t textWidth(const char *text) {
  size_t width = 0;
  for (; *text; ++text) width += ((unsigned char)*text & 0xc0) != 0x80;
  return width;
}

static void printCell(const char *text, size_t width, bool right, bool last) {
  size_t length = textWidth(text);
  int pad = length < width ? (int)(width - length) : 0;
  if (right) printf("  %*s%s", pad, "", text);
  else printf("  %s%*s", text, last ? 0 : pad, "");
}

bool pn_printTable(const pnTable *table) {
  if (table->failed) {
    fprintf(stderr, "pinch: out of memory\n");
    return false;
  }
  size_t widths[PN_MAX_COLUMNS];
  bool right[PN_MAX_COLUMNS];
  for (size_t c = 0; c < table->columnCount; ++c) {
    right[c] = table->titles[c][0] == '>';
    widths[c] = textWidth(table->titles[c] + right[c]);
    for (size_t i = c; i < table->cellCount; i += table->columnCount) {
      size_t length = textWidth(table->cells[i]);
      if (length > widths[c]) widths[c] = length;
    }
  }
  for (size_t c = 0; c < table->columnCount; ++c)
    printCell(table->titles[c] + right[c], widths[c], right[c], c + 1 == table->columnCount);
  putchar('\n');
  for (size_t i = 0; i < table->cellCount; ++i) {
    size_t c = i % table->columnCount;
    bool last = c + 1 == table->columnCount;
    printCell(table->cells[i], widths[c], right[c], last);
    if (last) putchar('\n');
  }
  return true;
}

void pn_freeTable(pnTable *table) {
  for (size_t i = 0; i < table->cellCount; ++i) free(table->cells[i]);
  free(table->cells);
  memset(table, 0, sizeof(*table));
}

/* ---------------------------------------------------------------- JSON */

bool pn_printJson(json_t *object) {
  bool good = object && json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0;
  if (good) putchar('\n');
  else if (ferror(stdout)) fprintf(stderr, "pinch: the output cannot be written: %s\n", strerror(errno));
  else fprintf(stderr, "pinch: out of memory while writing JSON\n");
  json_decref(object);
  return good;
}

json_t *pn_jsonText(const char *text) {
  json_t *string = json_string(text);
  if (string) return string;
  // Not UTF-8: show what can be shown.
  char *copy = malloc(strlen(text) + 1);
  if (!copy) return NULL;
  strcpy(copy, text);
  for (char *c = copy; *c; ++c) {
    if ((unsigned char)*c >= 0x80) *c = '?';
  }
  string = json_string(copy);
  free(copy);
  return string;
}

/* ---------------------------------------------------------------- the end */

void pn_printPlain(FILE *stream, const char *text) {
  for (; *text; ++text) putc(plain(*text), stream);
}

void pn_sayFailure(const char *command) {
  fprintf(stderr, "pinch %s: ", command);
  pn_printPlain(stderr, pnGetMessage());
  putc('\n', stderr);
}

static bool quiet;

void pn_beQuiet(void) {
  quiet = true;
}

bool pn_isQuiet(void) {
  return quiet;
}

void pn_printWords(FILE *stream, const char *const *words, uint32_t count) {
  size_t used = 0;
  for (uint32_t i = 0; i < count; ++i) {
    size_t width = textWidth(words[i]) + (i + 1 < count);
    if (used > 0 && used + 1 + width > 80) putc('\n', stream), used = 0;
    fputs(used > 0 ? " " : "  ", stream);
    used += (used > 0 ? 1 : 2) + width;
    pn_printPlain(stream, words[i]);
    if (i + 1 < count) putc(',', stream);
  }
  putc('\n', stream);
}

bool pn_finishOutput(const char *command) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return true;
  fprintf(stderr, "pinch %s: the output cannot be written: %s\n", command, strerror(errno));
  return false;
}
