/* reader.c: files into memory, bytes into words and lines, with a message for everything that does not fit. */
#include "reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---------------------------------------------------------------- memory and files */

/* pnFree wants the size back, so each block starts with it; 16 bytes keep what follows aligned for any type. */
#define PN_IO_HEAD 16

void *pn_ioAlloc(size_t size) {
  if (size > SIZE_MAX - PN_IO_HEAD) return NULL;
  unsigned char *block = pnAlloc(size + PN_IO_HEAD);
  if (!block) return NULL;
  size += PN_IO_HEAD;
  memcpy(block, &size, sizeof(size));
  return block + PN_IO_HEAD;
}

void pn_ioFree(void *memory) {
  if (!memory) return;
  unsigned char *block = (unsigned char *)memory - PN_IO_HEAD;
  size_t size;
  memcpy(&size, block, sizeof(size));
  pnFree(block, size);
}

bool pn_ioGrow(void **data, size_t count, size_t *capacity, size_t wanted, size_t elementSize) {
  if (wanted <= *capacity) return true;
  // Doubling keeps the cost of n pushes linear; the first step is large enough for small files.
  size_t doubled = *capacity > SIZE_MAX / 2 ? wanted : *capacity * 2;
  size_t capacityNew = doubled > wanted ? doubled : wanted;
  if (capacityNew < 64) capacityNew = 64;
  if (capacityNew > SIZE_MAX / elementSize) return false;
  void *grown = pn_ioAlloc(capacityNew * elementSize);
  if (!grown) return false;
  if (count > 0) memcpy(grown, *data, count * elementSize);
  pn_ioFree(*data);
  *data = grown;
  *capacity = capacityNew;
  return true;
}

char *pn_ioCopyText(const char *text, size_t length) {
  char *copy = length < SIZE_MAX ? pn_ioAlloc(length + 1) : NULL;
  if (!copy) return NULL;
  memcpy(copy, text, length);
  copy[length] = 0;
  return copy;
}

pnResult pn_ioFailMemory(const char *name) {
  return pnFail(PN_ERROR_MEMORY, "%s: out of memory while reading", name);
}

/* Reads to the end of the stream; the size the system told is only a first guess. */
static pnResult readStream(FILE *stream, const char *path, size_t guess, unsigned char **outBytes, size_t *outSize) {
  unsigned char *bytes = NULL;
  size_t capacity = 0, size = 0;
  // One byte more than the guess, so that a file of that size ends in the first read.
  if (!pn_ioGrow((void **)&bytes, 0, &capacity, guess + 1, 1)) return pn_ioFailMemory(path);
  for (;;) {
    size += fread(bytes + size, 1, capacity - size, stream);
    if (size < capacity) break;
    if (!pn_ioGrow((void **)&bytes, size, &capacity, capacity + 1, 1)) {
      pn_ioFree(bytes);
      return pn_ioFailMemory(path);
    }
  }
  if (ferror(stream)) {
    pn_ioFree(bytes);
    return pnFail(PN_ERROR_FILE, "%s: cannot be read: %s", path, strerror(errno));
  }
  *outBytes = bytes;
  *outSize = size;
  return PN_OK;
}

pnResult pn_ioReadFile(const char *path, unsigned char **outBytes, size_t *outSize) {
  *outBytes = NULL;
  *outSize = 0;
  // A folder opens but does not read, and a device may never end: only files and pipes.
  struct stat status;
  if (stat(path, &status) != 0) return pnFail(PN_ERROR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
  if (S_ISDIR(status.st_mode)) return pnFail(PN_ERROR_FILE, "%s: is a folder; expected a file", path);
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode))
    return pnFail(PN_ERROR_FILE, "%s: is a device; expected a file or a pipe", path);
  FILE *stream = fopen(path, "rb");
  if (!stream) return pnFail(PN_ERROR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
  size_t guess = S_ISREG(status.st_mode) && status.st_size > 0 ? (size_t)status.st_size : 0;
  pnResult result = readStream(stream, path, guess, outBytes, outSize);
  fclose(stream);
  return result;
}

static const char *fileName(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

char *pn_ioBaseName(const char *path) {
  const char *name = fileName(path);
  const char *dot = strrchr(name, '.');
  return pn_ioCopyText(name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

void pn_ioExtension(const char *path, char outExtension[8]) {
  const char *name = fileName(path);
  const char *dot = strrchr(name, '.');
  outExtension[0] = 0;
  if (!dot || dot == name || strlen(dot + 1) > 7) return;
  size_t n = 0;
  for (const char *c = dot + 1; *c; ++c) outExtension[n++] = (char)(*c >= 'A' && *c <= 'Z' ? *c + ('a' - 'A') : *c);
  outExtension[n] = 0;
}

/* ---------------------------------------------------------------- messages */

pnResult pn_failLine(const pnReader *reader, pnResult result, const char *format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return pnFail(result, "%s: line %zu: %s", reader->name, reader->line, text);
}

pnResult pn_failByte(const pnReader *reader, size_t byte, pnResult result, const char *format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return pnFail(result, "%s: byte %zu: %s", reader->name, byte, text);
}

pnQuote pn_quote(pnWord word) {
  pnQuote quote;
  size_t n = 0;
  for (size_t i = 0; i < word.length && n < 40; ++i) {
    unsigned char c = (unsigned char)word.text[i];
    quote.text[n++] = (char)(c >= 32 && c < 127 ? c : '?');
  }
  if (word.length > 40) {
    memcpy(quote.text + n, "...", 3);
    n += 3;
  }
  quote.text[n] = 0;
  return quote;
}

/* ---------------------------------------------------------------- text */

pnReader pn_makeReader(const void *bytes, size_t size, const char *name) {
  pnReader reader = {.name = name, .bytes = bytes, .size = size, .line = 1};
  // A byte order mark says "UTF-8" and is no part of the text.
  if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) reader.at = 3;
  return reader;
}

static bool isBlank(unsigned char c) {
  return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static bool isLineEnd(unsigned char c) {
  return c == '\n' || c == '\r';
}

/* Past one line end, which must be there. */
static void skipLineEnd(pnReader *reader) {
  bool carriage = reader->bytes[reader->at++] == '\r';
  if (carriage && reader->at < reader->size && reader->bytes[reader->at] == '\n') ++reader->at;
  ++reader->line;
}

/* A '\' with only blanks up to the end of its line: the line goes on. */
static bool skipContinuation(pnReader *reader) {
  size_t at = reader->at + 1;
  while (at < reader->size && isBlank(reader->bytes[at])) ++at;
  if (at >= reader->size || !isLineEnd(reader->bytes[at])) return false;
  reader->at = at;
  skipLineEnd(reader);
  return true;
}

static void skipBlanks(pnReader *reader) {
  while (reader->at < reader->size) {
    unsigned char c = reader->bytes[reader->at];
    if (isBlank(c)) ++reader->at;
    else if (!(c == '\\' && reader->continues && skipContinuation(reader))) return;
  }
}

/* A '#' that begins a word. */
static bool isComment(const pnReader *reader) {
  if (!reader->comments || reader->bytes[reader->at] != '#') return false;
  unsigned char before = reader->at > 0 ? reader->bytes[reader->at - 1] : ' ';
  return isBlank(before) || isLineEnd(before);
}

/* To the end of the line and of those joined to it. A comment ends with its own line, whatever its last character is. */
static void skipToLineEnd(pnReader *reader, bool inComment) {
  while (reader->at < reader->size && !isLineEnd(reader->bytes[reader->at])) {
    inComment = inComment || isComment(reader);
    bool joins = reader->bytes[reader->at] == '\\' && reader->continues && !inComment;
    if (!joins || !skipContinuation(reader)) ++reader->at;
  }
}

bool pn_nextWord(pnReader *reader, pnWord *outWord) {
  skipBlanks(reader);
  if (reader->at >= reader->size || isLineEnd(reader->bytes[reader->at])) return false;
  // A comment ends the line for everyone who asks for words.
  if (reader->comments && reader->bytes[reader->at] == '#') {
    skipToLineEnd(reader, true);
    return false;
  }
  size_t start = reader->at;
  while (reader->at < reader->size) {
    unsigned char c = reader->bytes[reader->at];
    if (isBlank(c) || isLineEnd(c)) break;
    // A '\' that ends the line ends the word too; skipBlanks goes on from there.
    if (c == '\\' && reader->continues) {
      pnReader ahead = *reader;
      if (skipContinuation(&ahead)) break;
    }
    ++reader->at;
  }
  *outWord = (pnWord){(const char *)reader->bytes + start, reader->at - start};
  return true;
}

bool pn_nextLine(pnReader *reader) {
  skipToLineEnd(reader, false);
  if (reader->at >= reader->size) return false;
  skipLineEnd(reader);
  return reader->at < reader->size;
}

bool pn_nextWordAnyLine(pnReader *reader, pnWord *outWord) {
  while (!pn_nextWord(reader, outWord))
    if (!pn_nextLine(reader)) return false;
  return true;
}

pnWord pn_restOfLine(pnReader *reader) {
  skipBlanks(reader);
  size_t start = reader->at;
  skipToLineEnd(reader, false);
  size_t end = reader->at;
  while (end > start && (isBlank(reader->bytes[end - 1]) || isLineEnd(reader->bytes[end - 1]))) --end;
  return (pnWord){(const char *)reader->bytes + start, end - start};
}

bool pn_wordIs(pnWord word, const char *text) {
  return strlen(text) == word.length && memcmp(word.text, text, word.length) == 0;
}

bool pn_wordIsNoCase(pnWord word, const char *text) {
  if (strlen(text) != word.length) return false;
  for (size_t i = 0; i < word.length; ++i) {
    char c = word.text[i];
    if ((c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) != text[i]) return false;
  }
  return true;
}

/* ---------------------------------------------------------------- numbers with messages */

pnResult pn_readFloat(pnReader *reader, const char *what, uint64_t index, float *outValue) {
  pnWord word;
  if (!pn_nextWord(reader, &word))
    return pn_failLine(reader, PN_ERROR_FORMAT, "%s %llu: expected a number, found the end of the line", what,
                       (unsigned long long)index);
  switch (pn_wordToFloat(word, outValue)) {
    case PN_NUMBER_FINITE: return PN_OK;
    case PN_NUMBER_NOT_FINITE:
      return pn_failLine(reader, PN_ERROR_NUMBER, "%s %llu: expected a finite number that fits a float, found '%s'",
                         what, (unsigned long long)index, pn_quote(word).text);
    case PN_NUMBER_TOO_LONG:
      return pn_failLine(reader, PN_ERROR_FORMAT,
                         "%s %llu: expected a number of at most %d digits, found %zu characters", what,
                         (unsigned long long)index, PN_MAX_DIGITS, word.length);
    default:
      return pn_failLine(reader, PN_ERROR_FORMAT, "%s %llu: expected a number, found '%s'", what,
                         (unsigned long long)index, pn_quote(word).text);
  }
}

pnResult pn_readCount(pnReader *reader, const char *what, uint64_t *outValue) {
  pnWord word;
  int64_t value;
  if (!pn_nextWord(reader, &word))
    return pn_failLine(reader, PN_ERROR_FORMAT, "expected %s, found the end of the line", what);
  if (!pn_wordToInt(word, &value) || value < 0)
    return pn_failLine(reader, PN_ERROR_FORMAT, "expected %s, a whole number from 0, found '%s'", what,
                       pn_quote(word).text);
  *outValue = (uint64_t)value;
  return PN_OK;
}

pnResult pn_expectEndOfLine(pnReader *reader, const char *what, uint64_t index) {
  pnWord word;
  if (!pn_nextWord(reader, &word)) return PN_OK;
  return pn_failLine(reader, PN_ERROR_FORMAT, "%s %llu: expected the end of the line, found '%s'", what,
                     (unsigned long long)index, pn_quote(word).text);
}

/* ---------------------------------------------------------------- binary */

const unsigned char *pn_take(pnReader *reader, size_t count) {
  if (count > reader->size - reader->at) return NULL;
  const unsigned char *bytes = reader->bytes + reader->at;
  reader->at += count;
  return bytes;
}

uint32_t pn_getU32(const unsigned char *b, bool bigEndian) {
  return bigEndian ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
                   : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

float pn_getFloat(const unsigned char *bytes, bool bigEndian) {
  uint32_t bits = pn_getU32(bytes, bigEndian);
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

pnResult pn_expectEndOfBytes(pnReader *reader, const char *after) {
  for (size_t i = reader->at; i < reader->size; ++i) {
    unsigned char c = reader->bytes[i];
    if (c != 0 && !isBlank(c) && !isLineEnd(c))
      return pn_failByte(reader, i, PN_ERROR_FORMAT, "expected the end of the file after %s, found %zu more bytes",
                         after, reader->size - i);
  }
  return PN_OK;
}
