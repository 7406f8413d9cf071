/* off.c: reads OFF, the object file format of Geomview.
 *
 *   [ST][C][N]OFF          which extras a vertex has; the word may be missing
 *   vertices faces [edges] on the line of the word or the next; right behind the word (OFF490 518 0) with a warning
 *   x y z [extras]         one vertex a line
 *   n i1 ... in [colour]   one face a line
 *
 * Comments (#) and empty lines may be anywhere. We ask for one vertex and one face a line, as every writer does;
 * Geomview would also read vertices from a stream of numbers. Faces with one or two corners are points and line
 * segments by the format: they are checked, and have no triangle. 4OFF, nOFF and BINARY are refused by name. */
#include "mesh_file.h"

#include <string.h>

/* A colour and normal and texture coordinates at most: 4 + 3 + 2 (homogeneous texture: 3). */
#define PN_OFF_MAX_EXTRAS 10

/* How long the keyword is at the start of a word that is nothing but this, or has a count right behind it; 0: it is none. A
 * whole data set (ModelNet) has lost the line break there. */
static size_t keywordLength(pnWord word) {
  static const char *prefixes[] = {"ST", "C", "N", "4", "n"};
  size_t at = 0;
  for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); ++i) {
    size_t n = strlen(prefixes[i]);
    if (word.length > at + n && memcmp(word.text + at, prefixes[i], n) == 0) at += n;
  }
  if (word.length < at + 3 || memcmp(word.text + at, "OFF", 3) != 0) return 0;
  at += 3;
  for (size_t i = at; i < word.length; ++i)
    if (word.text[i] < '0' || word.text[i] > '9') return 0;
  return at;
}

bool pn_looksLikeOff(pnWord word) {
  return keywordLength(word) > 0;
}

/* Puts the reader back in front of a word of its line. */
static void unread(pnReader *reader, pnWord word) {
  reader->at = (size_t)(word.text - (const char *)reader->bytes);
}

/* The keyword, if any, and the two or three counts. */
static pnResult readHeader(pnReader *reader, uint64_t *outVertices, uint64_t *outFaces) {
  pnWord word;
  bool any = pn_nextWordAnyLine(reader, &word);
  size_t keyword = any ? keywordLength(word) : 0;
  if (keyword > 0) {
    pnWord counts = {word.text + keyword, word.length - keyword};
    word.length = keyword;
    if (memchr(word.text, '4', word.length) || memchr(word.text, 'n', word.length))
      return pn_failLine(reader, PN_ERROR_UNSUPPORTED, "'%s' has vertices in more than three dimensions; expected OFF",
                         pn_quote(word).text);
    if (counts.length > 0) {
      pnLog(PN_LOG_WARNING, "%s: line %zu: the line break after '%s' is missing", reader->name, reader->line,
            pn_quote(word).text);
      unread(reader, counts);
    }
    any = pn_nextWordAnyLine(reader, &word);
    if (any && pn_wordIs(word, "BINARY"))
      return pn_failLine(reader, PN_ERROR_UNSUPPORTED, "binary OFF; expected OFF as text");
  }
  if (!any)
    return pn_failLine(reader, PN_ERROR_FORMAT, "expected the counts of vertices and faces, found the end of the file");
  unread(reader, word);
  pnResult result = pn_readCount(reader, "the count of vertices", outVertices);
  if (result == PN_OK) result = pn_readCount(reader, "the count of faces", outFaces);
  // The count of edges may be missing and is used by nobody; a number it must be.
  uint64_t edges;
  if (result == PN_OK && pn_nextWord(reader, &word)) {
    unread(reader, word);
    result = pn_readCount(reader, "the count of edges", &edges);
    if (result == PN_OK) result = pn_expectEndOfLine(reader, "header with faces", *outFaces);
  }
  if (result != PN_OK) return result;

  // A vertex takes at least "0 0 0\n", a face "1 0\n"; the last line may lack its end.
  size_t left = reader->size - reader->at;
  if (*outVertices > left / 6 + 1 || *outFaces > left / 4 + 1)
    return pn_failLine(reader, PN_ERROR_COUNT, "the header announces %llu %s and %llu face%s, in %zu byte%s after it",
                       (unsigned long long)*outVertices, *outVertices == 1 ? "vertex" : "vertices",
                       (unsigned long long)*outFaces, pn_ioPlural(*outFaces), left, pn_ioPlural(left));
  pn_nextLine(reader);
  return PN_OK;
}

/* Numbers that may follow on the line: colours, normals. Their values are not used, so nan is no error here. */
static pnResult skipExtras(pnReader *reader, const char *what, uint64_t index, int most) {
  pnWord word;
  for (int count = 0; pn_nextWord(reader, &word); ++count) {
    double value;
    pnNumberKind kind = pn_wordToDouble(word, &value);
    if (count == most || kind == PN_NUMBER_NONE)
      return pn_failLine(reader, PN_ERROR_FORMAT, "%s %llu: expected %s, found '%s'", what, (unsigned long long)index,
                         count == most ? "the end of the line" : "a number or the end of the line",
                         pn_quote(word).text);
  }
  return PN_OK;
}

static pnResult readVertex(pnReader *reader, pnMeshBuilder *builder, uint64_t index) {
  float position[3];
  pnResult result = PN_OK;
  for (int k = 0; k < 3 && result == PN_OK; ++k) result = pn_readFloat(reader, "vertex", index, &position[k]);
  if (result == PN_OK) result = skipExtras(reader, "vertex", index, PN_OFF_MAX_EXTRAS);
  return result == PN_OK ? pn_addVertex(builder, position) : result;
}

static pnResult readCorner(pnReader *reader, const pnMeshBuilder *builder, uint64_t face, uint32_t *outCorner) {
  pnWord word;
  int64_t corner;
  if (!pn_nextWord(reader, &word))
    return pn_failLine(reader, PN_ERROR_FORMAT, "face %llu: expected a vertex number, found the end of the line",
                       (unsigned long long)face);
  if (!pn_wordToInt(word, &corner))
    return pn_failLine(reader, PN_ERROR_FORMAT, "face %llu: expected a vertex number, found '%s'",
                       (unsigned long long)face, pn_quote(word).text);
  if (corner < 0 || (uint64_t)corner >= builder->vertexCount)
    return pn_failLine(reader, PN_ERROR_INDEX, "face %llu: vertex number %lld; expected 0 to %lld",
                       (unsigned long long)face, (long long)corner, (long long)builder->vertexCount - 1);
  *outCorner = (uint32_t)corner;
  return PN_OK;
}

/* Fans a face from its first corner. */
static pnResult readFace(pnReader *reader, pnMeshBuilder *builder, uint64_t index) {
  uint64_t corners;
  pnResult result = pn_readCount(reader, "the count of corners of a face", &corners);
  if (result == PN_OK && corners == 0)
    return pn_failLine(reader, PN_ERROR_FORMAT, "face %llu has 0 corners; expected at least 1",
                       (unsigned long long)index);
  uint32_t first = 0, previous = 0, corner = 0;
  for (uint64_t k = 0; k < corners && result == PN_OK; ++k) {
    result = readCorner(reader, builder, index, &corner);
    if (k == 0) first = corner;
    if (k >= 2 && result == PN_OK) result = pn_addTriangle(builder, first, previous, corner);
    previous = corner;
  }
  // A colour: a number of a colour map, or 3 or 4 numbers.
  return result == PN_OK ? skipExtras(reader, "face", index, 4) : result;
}

/* `count` lines, each read by `read`. */
static pnResult readLines(pnReader *reader, pnMeshBuilder *builder, uint64_t count, const char *what,
                          pnResult (*read)(pnReader *, pnMeshBuilder *, uint64_t)) {
  pnWord word;
  for (uint64_t i = 0; i < count; ++i) {
    if (!pn_nextWordAnyLine(reader, &word))
      return pn_failLine(reader, PN_ERROR_FORMAT, "expected %llu %s, found %llu before the end of the file",
                         (unsigned long long)count, what, (unsigned long long)i);
    unread(reader, word);
    pnResult result = read(reader, builder, i);
    if (result != PN_OK) return result;
  }
  return PN_OK;
}

pnResult pn_parseOff(pnReader *reader, pnMeshBuilder *builder) {
  reader->comments = true;
  uint64_t vertices = 0, faces = 0;
  pnResult result = readHeader(reader, &vertices, &faces);
  if (result == PN_OK) result = readLines(reader, builder, vertices, "vertices", readVertex);
  if (result == PN_OK) result = readLines(reader, builder, faces, "faces", readFace);
  pnWord word;
  if (result == PN_OK && pn_nextWordAnyLine(reader, &word))
    result = pn_failLine(reader, PN_ERROR_FORMAT, "expected the end of the file after %llu faces, found '%s'",
                         (unsigned long long)faces, pn_quote(word).text);
  return result;
}
