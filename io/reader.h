/* reader.h: checked reading of hostile files, shared by the mesh readers. Internal to io.
 *
 * A reader is a window on bytes that are all in memory. Text is read word by word inside a line; a word never crosses
 * a line end, so that every message can name its line. Binary is read through pn_take, which says no past the end.
 *
 * Line ends are \n, \r\n or a lone \r. A '#' at the start of a word begins a comment up to the end of the line
 * (where `comments` is on), a '\' at the end of a line joins it with the next (where `continues` is on).
 */
#ifndef PN_IO_READER_H
#define PN_IO_READER_H

#include "pinch/base.h"

typedef struct pnReader {
  const char *name;           /* of the file, for messages */
  const unsigned char *bytes; /* not terminated */
  size_t size, at;            /* at <= size: the next byte */
  size_t line;                /* the line `at` is on, from 1 */
  bool comments, continues;
} pnReader;

/* A word of the file: not terminated. */
typedef struct pnWord {
  const char *text;
  size_t length;
} pnWord;

/* ---------------------------------------------------------------- memory and files */

/* Memory of the caller's hooks (pnAlloc) that knows its own size. */
void *pn_ioAlloc(size_t size); /* 16-byte aligned; null when out of memory */
void pn_ioFree(void *memory);  /* null is allowed */

/* `*data`, of which `count` elements are in use, gets room for `wanted` (at least doubled); false leaves everything as
 * it was. */
bool pn_ioGrow(void **data, size_t count, size_t *capacity, size_t wanted, size_t elementSize);
char *pn_ioCopyText(const char *text, size_t length); /* terminated; null when out of memory */
pnResult pn_ioFailMemory(const char *name);

/* A whole file (or pipe) in memory. Folders and devices are refused. Free *outBytes with pn_ioFree. */
pnResult pn_ioReadFile(const char *path, unsigned char **outBytes, size_t *outSize);

/* The file's name without folder and extension, and its extension in lower case ("" when none or too long). */
char *pn_ioBaseName(const char *path);
void pn_ioExtension(const char *path, char outExtension[8]);

/* ---------------------------------------------------------------- messages */

/* "NAME: line N: ..." and "NAME: byte N: ...". */
pnResult pn_failLine(const pnReader *reader, pnResult result, const char *format, ...) PN_FORMAT(3, 4);
pnResult pn_failByte(const pnReader *reader, size_t byte, pnResult result, const char *format, ...) PN_FORMAT(4, 5);

/* What makes a word of one a word of so many: "s", and nothing for one. */
static inline const char *pn_ioPlural(uint64_t count) {
  return count == 1 ? "" : "s";
}

/* A word as it can be shown: shortened, control characters and bytes above 126 replaced. */
typedef struct pnQuote {
  char text[48];
} pnQuote;
pnQuote pn_quote(pnWord word);

/* ---------------------------------------------------------------- text */

pnReader pn_makeReader(const void *bytes, size_t size, const char *name);

bool pn_nextWord(pnReader *reader, pnWord *outWord); /* false at the end of the line */
bool pn_nextLine(pnReader *reader);                  /* to the start of the next line; false at the end of the file */
bool pn_nextWordAnyLine(pnReader *reader, pnWord *outWord); /* crosses line ends; false at the end of the file */
pnWord pn_restOfLine(pnReader *reader);                     /* blanks trimmed; stays on the line */

bool pn_wordIs(pnWord word, const char *text);       /* exact */
bool pn_wordIsNoCase(pnWord word, const char *text); /* text in lower case */

/* What a word is as a number. */
typedef enum pnNumberKind {
  PN_NUMBER_FINITE,
  PN_NUMBER_NOT_FINITE, /* nan, inf, or too large for the type */
  PN_NUMBER_TOO_LONG,   /* more than PN_MAX_DIGITS digits */
  PN_NUMBER_NONE        /* not a number */
} pnNumberKind;

/* The shortest decimal of a double with all its digits has 767 of them; nobody writes more by accident. */
#define PN_MAX_DIGITS 1000

/* The float (double) nearest to the decimal number, ties to even; independent of the locale. */
pnNumberKind pn_wordToFloat(pnWord word, float *outValue);
pnNumberKind pn_wordToDouble(pnWord word, double *outValue);
bool pn_wordToInt(pnWord word, int64_t *outValue); /* [+-]digits that fit */

/* The next word of the line as a number, or a message with what was expected and found; `what` and `index` say
 * whose number it is: "vertex", 7. */
pnResult pn_readFloat(pnReader *reader, const char *what, uint64_t index, float *outValue);
pnResult pn_readCount(pnReader *reader, const char *what, uint64_t *outValue);
/* After the last thing a line may hold. */
pnResult pn_expectEndOfLine(pnReader *reader, const char *what, uint64_t index);

/* ---------------------------------------------------------------- binary */

/* The next `count` bytes, or null when there are not so many. */
const unsigned char *pn_take(pnReader *reader, size_t count);
uint32_t pn_getU32(const unsigned char *bytes, bool bigEndian);
float pn_getFloat(const unsigned char *bytes, bool bigEndian);

/* After the last element of a binary file: blanks and zeros may follow, anything else is an error. */
pnResult pn_expectEndOfBytes(pnReader *reader, const char *after);

#endif
