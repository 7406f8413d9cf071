/* out.c: tables, JSON and errors as the tool prints them. */
#include "out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Names come from files: what would move the cursor is not printed. */
static char plain(char c) {
  return (unsigned char)c < 0x20 || c == 0x7f ? '?' : c;
}

/* ---------------------------------------------------------------- the screen */

static bool usesColor(void) {
  const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
  return isatty(STDOUT_FILENO) && !(none && none[0]) && terminal && strcmp(terminal, "dumb") != 0;
}

const char *pn_colorOn(pnColor color) {
  static const char *const codes[] = {
      [PN_COLOR_NONE] = "",          [PN_COLOR_BOLD] = "\033[1m",    [PN_COLOR_DIM] = "\033[2m",
      [PN_COLOR_RED] = "\033[1;31m", [PN_COLOR_YELLOW] = "\033[33m", [PN_COLOR_GREEN] = "\033[32m"};
  return usesColor() ? codes[color] : "";
}

const char *pn_colorOff(pnColor color) {
  return color != PN_COLOR_NONE && usesColor() ? "\033[0m" : "";
}

/* The columns of the terminal behind a stream; 0: it is none. */
static size_t widthOf(int stream) {
  struct winsize size;
  bool known = isatty(stream) && ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  // Narrower than this no table fits.
  return known && size.ws_col > 40 ? size.ws_col : known ? 40 : 0;
}

size_t pn_screenWidth(void) {
  size_t width = widthOf(STDOUT_FILENO);
  // A file or a pipe is read on any screen.
  return width > 0 ? width : 80;
}

/* ---------------------------------------------------------------- tables */

void pn_addColumn(pnTable *table, const char *title) {
  if (table->columnCount < PN_MAX_COLUMNS) table->titles[table->columnCount++] = title;
}

/* The text goes over to the table; null is out of memory. */
static void addCell(pnTable *table, char *text) {
  if (table->cellCount == table->cellCapacity && !table->failed) {
    size_t capacity = table->cellCapacity ? 2 * table->cellCapacity : 64;
    pnCell *cells = realloc(table->cells, capacity * sizeof(pnCell));
    table->failed = !cells;
    if (cells) table->cells = cells, table->cellCapacity = capacity;
  }
  table->failed = table->failed || !text;
  if (table->failed) free(text);
  else table->cells[table->cellCount++] = (pnCell){text, PN_COLOR_NONE};
}

void pn_addCell(pnTable *table, const char *format, ...) {
  // Asked for its length first, then written.
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  char *cell = length >= 0 ? malloc((size_t)length + 1) : NULL;
  if (cell) vsnprintf(cell, (size_t)length + 1, format, again);
  va_end(again);
  va_end(arguments);
  for (char *c = cell; c && *c; ++c) *c = plain(*c);
  addCell(table, cell);
}

void pn_addText(pnTable *table, const char *text) {
  char *cell = strdup(text);
  for (char *c = cell; c && *c; ++c) *c = *c == '\n' ? '\n' : plain(*c);
  addCell(table, cell);
}

void pn_paintCell(pnTable *table, pnColor color) {
  if (table->cellCount > 0) table->cells[table->cellCount - 1].color = color;
}

/* Columns a text takes: letters of UTF-8, whose further bytes begin with the bits 10. */
static size_t textWidth(const char *text) {
  size_t width = 0;
  for (; *text; ++text) width += ((unsigned char)*text & 0xc0) != 0x80;
  return width;
}

static void printCell(const pnCell *cell, size_t width, bool right) {
  size_t length = textWidth(cell->text);
  int pad = length < width ? (int)(width - length) : 0;
  const char *on = pn_colorOn(cell->color), *off = pn_colorOff(cell->color);
  if (right) printf("  %*s%s%s%s", pad, "", on, cell->text, off);
  else printf("  %s%s%s%*s", on, cell->text, off, pad, "");
}

/* How many bytes of the text go into a line of `width` columns, and how many of it are passed: a blank or line end behind
 * it is not printed. A word that is longer than the line is cut. */
static size_t lineOf(const char *text, size_t width, size_t *outPassed) {
  size_t columns = 0, i = 0, blank = 0;
  for (; text[i] && text[i] != '\n'; ++i) {
    bool letter = ((unsigned char)text[i] & 0xc0) != 0x80;
    if (letter && columns == width) {
      size_t end = text[i] == ' ' ? i : blank > 0 ? blank : i;
      *outPassed = end + (text[end] == ' ');
      return end;
    }
    columns += letter;
    if (text[i] == ' ') blank = i;
  }
  *outPassed = i + (text[i] == '\n');
  return i;
}

/* The last column, from the place `left` on, in as many lines as it takes. */
static void printLast(const pnCell *cell, size_t left) {
  size_t screen = pn_screenWidth(), passed, length;
  // With less room than this breaking makes it worse.
  size_t width = screen >= left + 12 ? screen - left : SIZE_MAX;
  const char *text = cell->text;
  bool first = true;
  do {
    length = lineOf(text, width, &passed);
    if (!first) printf("\n%*s", (int)left, "");
    else if (length > 0) printf("  ");
    printf("%s%.*s%s", pn_colorOn(cell->color), (int)length, text, pn_colorOff(cell->color));
    text += passed;
    first = false;
  } while (*text);
  putchar('\n');
}

bool pn_printTable(const pnTable *table) {
  if (table->failed) {
    fprintf(stderr, "pinch: out of memory\n");
    return false;
  }
  size_t widths[PN_MAX_COLUMNS], left = 2, count = table->columnCount;
  bool right[PN_MAX_COLUMNS];
  for (size_t c = 0; c < count; ++c) {
    right[c] = table->titles[c][0] == '>';
    widths[c] = textWidth(table->titles[c] + right[c]);
    for (size_t i = c; i < table->cellCount; i += count) {
      size_t length = textWidth(table->cells[i].text);
      if (length > widths[c]) widths[c] = length;
    }
    if (c + 1 < count) left += widths[c] + 2;
  }
  for (size_t c = 0; c < count; ++c) {
    pnCell title = {(char *)table->titles[c] + right[c], PN_COLOR_BOLD};
    if (c + 1 < count || right[c]) printCell(&title, widths[c], right[c]);
    else printf("  %s%s%s", pn_colorOn(PN_COLOR_BOLD), title.text, pn_colorOff(PN_COLOR_BOLD));
  }
  putchar('\n');
  for (size_t i = 0; i < table->cellCount; ++i) {
    size_t c = i % count;
    if (c + 1 < count || right[c]) printCell(&table->cells[i], widths[c], right[c]);
    else printLast(&table->cells[i], left);
    if (c + 1 == count && right[c]) putchar('\n');
  }
  return true;
}

void pn_freeTable(pnTable *table) {
  for (size_t i = 0; i < table->cellCount; ++i) free(table->cells[i].text);
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
  for (char *c = copy; *c; ++c)
    if ((unsigned char)*c >= 0x80) *c = '?';
  string = json_string(copy);
  free(copy);
  return string;
}

/* ---------------------------------------------------------------- the end */

const char *pn_baseName(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

void pn_printWrapped(const char *format, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  for (const char *at = text; *at;) {
    size_t passed, length = lineOf(at, pn_screenWidth(), &passed);
    for (size_t i = 0; i < length; ++i) putchar(plain(at[i]));
    putchar('\n');
    at += passed;
  }
}

void pn_printPlain(FILE *stream, const char *text) {
  for (; *text; ++text) putc(plain(*text), stream);
}

void pn_printError(const char *format, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  // A log has one line for it, which can be searched for.
  size_t width = widthOf(STDERR_FILENO), indent = 0;
  for (const char *at = text; *at; indent = 2) {
    size_t passed, length = lineOf(at, width > 0 ? width - indent : SIZE_MAX, &passed);
    fprintf(stderr, "%*s", (int)indent, "");
    for (size_t i = 0; i < length; ++i) putc(plain(at[i]), stderr);
    putc('\n', stderr);
    at += passed;
  }
}

/* What a program that uses the library would do, and who uses the tool does. */
static const struct {
  const char *library, *tool;
} toolWords[] = {
    {"use PN_INSIDE_PARITY", "give --parity"},
    {"pnLoadAnimFile (or pinch scan) reads it", "pinch scan reads it"},
};

/* The library's message in the tool's words. */
static void translate(const char *message, char *text, size_t size) {
  snprintf(text, size, "%s", message);
  for (size_t i = 0; i < sizeof(toolWords) / sizeof(toolWords[0]); ++i) {
    const char *at = strstr(message, toolWords[i].library);
    if (!at) continue;
    snprintf(text, size, "%.*s%s%s", (int)(at - message), message, toolWords[i].tool,
             at + strlen(toolWords[i].library));
    return;
  }
}

/* What stands below the next message, in memory; null: nothing. */
static FILE *afterword;
static char *afterwordText;
static size_t afterwordSize;

FILE *pn_beginAfterword(void) {
  if (!afterword) afterword = open_memstream(&afterwordText, &afterwordSize);
  return afterword;
}

void pn_sayFailure(const char *command) {
  char text[4096];
  translate(pnGetMessage(), text, sizeof(text));
  pn_printError("pinch %s: %s", command, text);
  if (!afterword) return;
  if (fclose(afterword) == 0) fputs(afterwordText, stderr);
  free(afterwordText);
  afterword = NULL;
  afterwordText = NULL;
}

/* ---------------------------------------------------------------- help */

/* Help is read in columns that every screen has. */
static size_t helpWidth(void) {
  size_t width = pn_screenWidth();
  return width < 80 ? width : 80;
}

void pn_printColumn(const char *text, size_t left) {
  size_t width = helpWidth() - left, passed;
  for (bool first = true; first || *text; first = false) {
    size_t length = lineOf(text, width, &passed);
    printf("%*s%.*s\n", first ? 0 : (int)left, "", (int)length, text);
    text += passed;
  }
}

/* Lines up to one that ends with a sentence, or before one that begins with a blank, are one paragraph. */
static const char *printParagraph(const char *text) {
  char line[2048];
  size_t used = 0;
  for (; *text && used + 1 < sizeof(line); ++text) {
    bool ends = used == 0 || text[1] == ' ' || text[1] == '\n' || text[1] == 0 || strchr(".:?", line[used - 1]);
    if (*text == '\n' && ends) break;
    line[used++] = *text == '\n' ? ' ' : *text;
  }
  line[used] = 0;
  pn_printColumn(line, 0);
  return *text == '\n' ? text + 1 : text;
}

/* Beyond this column there is no room to the right for what is said of a thing: it goes below. */
#define PN_LAST_COLUMN 40

const char *pn_readThing(const char *text, pnThing *outThing) {
  char *line = outThing->line;
  size_t length = strcspn(text, "\n");
  snprintf(line, sizeof(outThing->line), "%.*s", (int)length, text);
  char *thing = line + strspn(line, " "), *gap = strstr(thing, "  ");
  bool alone = thing - line >= PN_LAST_COLUMN;
  outThing->said = alone ? thing : gap ? gap + strspn(gap, " ") : NULL;
  outThing->length = alone ? 0 : gap ? (size_t)(gap - line) : strlen(line);
  return text + length + (text[length] == '\n');
}

static const char *printThing(const char *text, bool fits) {
  pnThing thing;
  const char *next = pn_readThing(text, &thing), *said = thing.said;
  if (fits || !said) {
    puts(thing.line);
  } else if (thing.length > 0 && said - thing.line <= PN_LAST_COLUMN) {
    printf("%.*s", (int)(said - thing.line), thing.line);
    pn_printColumn(said, (size_t)(said - thing.line));
  } else {
    if (thing.length > 0) printf("%.*s\n", (int)thing.length, thing.line);
    printf("%6s", "");
    pn_printColumn(said, 6);
  }
  return next;
}

void pn_printBlock(const char *text) {
  bool fits = true;
  for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
    fits = fits && (*at != ' ' || strcspn(at, "\n") <= helpWidth());
  while (*text)
    if (*text == ' ') text = printThing(text, fits);
    else text = printParagraph(text);
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

/* Beyond so many names nobody finds one by reading. */
#define MOST_NAMES 200u

void pn_printBodies(FILE *stream, const char *const *names, uint32_t count) {
  uint32_t shown = count < MOST_NAMES ? count : MOST_NAMES;
  fprintf(stream, "The bodies, from number 0 on:\n");
  pn_printWords(stream, names, shown);
  if (shown < count) fprintf(stream, "  and %u more; pinch info lists them\n", count - shown);
}

bool pn_finishOutput(const char *command) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return true;
  fprintf(stderr, "pinch %s: the output cannot be written: %s\n", command, strerror(errno));
  return false;
}
