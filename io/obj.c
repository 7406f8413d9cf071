/* obj.c: reads Wavefront OBJ: polygons, groups and objects.
 *
 * Faces may name vertices that come later in the file, so we go twice: first count the vertices, then read. That way a
 * bad index is found where it stands. Negative indices count back from the last vertex *so far*.
 *
 * What has no triangles (normals, texture coordinates, materials, points, lines, smoothing) is known by name and passed
 * over; curves and surfaces are geometry we do not have and are refused by name. Other lines are text that somebody left there
 * ("File exported by ..."): they are skipped with a warning, unless they look like a vertex or face that was misspelled, which
 * would change the answer. A first line with two counts, as the old robotics data sets have it, is accepted when the
 * counts are true. */
#include "mesh_file.h"

#include <string.h>

/* Statements without triangles of their own. */
static const char *const passedOver[] = {"vt",     "vn",     "vp",     "s",          "l",        "p",
                                         "usemtl", "mtllib", "mg",     "bevel",      "c_interp", "d_interp",
                                         "lod",    "maplib", "usemap", "shadow_obj", "trace_obj"};

/* Free-form geometry, and statements that reach out of the file. */
static const char *const refused[] = {"cstype", "deg",  "bmat", "step", "curv", "curv2", "surf",  "parm",
                                      "trim",   "hole", "scrv", "sp",   "end",  "con",   "ctech", "stech",
                                      "call",   "csh",  "bzp",  "bsp",  "cdc",  "cdp",   "res"};

static bool isAmong(pnWord word, const char *const *list, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (pn_wordIs(word, list[i])) return true;
  return false;
}

#define PN_IS_AMONG(word, list) isAmong(word, list, sizeof(list) / sizeof((list)[0]))

bool pn_looksLikeObj(pnWord word) {
  return pn_wordIs(word, "v") || pn_wordIs(word, "f") || pn_wordIs(word, "g") || pn_wordIs(word, "o") ||
         PN_IS_AMONG(word, passedOver);
}

/* What the file has in all, from the first pass. */
typedef struct pnObjTotals {
  uint64_t vertices, faces;
} pnObjTotals;

static pnObjTotals countStatements(pnReader reader) {
  pnObjTotals totals = {0, 0};
  do {
    pnWord word;
    if (!pn_nextWord(&reader, &word)) continue;
    totals.vertices += pn_wordIs(word, "v");
    totals.faces += pn_wordIs(word, "f") || pn_wordIs(word, "fo");
  } while (pn_nextLine(&reader));
  return totals;
}

/* v x y z, then perhaps a weight or a colour, whose values are not used. */
static pnResult readVertex(pnReader *reader, pnMeshBuilder *builder) {
  float position[3];
  uint64_t number = builder->vertexCount + 1;
  for (int k = 0; k < 3; ++k) {
    pnResult result = pn_readFloat(reader, "vertex", number, &position[k]);
    if (result != PN_OK) return result;
  }
  pnWord word;
  for (int extra = 0; pn_nextWord(reader, &word); ++extra) {
    double value;
    if (extra == 4)
      return pn_failLine(reader, PN_ERROR_FORMAT, "vertex %llu: expected 3 to 7 numbers, found '%s' after them",
                         (unsigned long long)number, pn_quote(word).text);
    if (pn_wordToDouble(word, &value) == PN_NUMBER_NONE)
      return pn_failLine(reader, PN_ERROR_FORMAT, "vertex %llu: expected a number, found '%s'",
                         (unsigned long long)number, pn_quote(word).text);
  }
  return pn_addVertex(builder, position);
}

/* The vertex number of a corner: v, v/t, v//n or v/t/n. The other two must be whole numbers when they are there. */
static bool splitCorner(pnWord word, int64_t *outVertex) {
  for (int part = 0; part < 3; ++part) {
    const char *slash = memchr(word.text, '/', word.length);
    pnWord piece = {word.text, slash ? (size_t)(slash - word.text) : word.length};
    int64_t value = 0;
    if (!(part > 0 && piece.length == 0) && !pn_wordToInt(piece, &value)) return false;
    if (part == 0) *outVertex = value;
    if (!slash) return true;
    word.text += piece.length + 1;
    word.length -= piece.length + 1;
  }
  return false;
}

static pnResult readCorner(const pnReader *reader, pnWord word, const pnMeshBuilder *builder, pnObjTotals totals,
                           uint32_t *outCorner) {
  int64_t number = 0;
  if (!splitCorner(word, &number))
    return pn_failLine(reader, PN_ERROR_FORMAT, "expected a corner such as 7, 7/1, 7//2 or 7/1/2, found '%s'",
                       pn_quote(word).text);
  // From 1 upward over the whole file, or from -1 downward from the last vertex before this line.
  int64_t so_far = (int64_t)builder->vertexCount;
  if (number == 0 || number > (int64_t)totals.vertices || number < -so_far)
    return pn_failLine(reader, PN_ERROR_INDEX, "vertex number %lld; expected 1 to %llu, or -1 to -%lld counting back",
                       (long long)number, (unsigned long long)totals.vertices, (long long)so_far);
  *outCorner = (uint32_t)(number > 0 ? number - 1 : so_far + number);
  return PN_OK;
}

/* Fans a face from its first corner, in file order. */
static pnResult readFace(pnReader *reader, pnMeshBuilder *builder, pnObjTotals totals) {
  uint32_t first = 0, previous = 0, corner = 0;
  size_t count = 0;
  pnWord word;
  for (; pn_nextWord(reader, &word); ++count) {
    pnResult result = readCorner(reader, word, builder, totals, &corner);
    if (result == PN_OK && count >= 2) result = pn_addTriangle(builder, first, previous, corner);
    if (result != PN_OK) return result;
    if (count == 0) first = corner;
    previous = corner;
  }
  if (count < 3) return pn_failLine(reader, PN_ERROR_FORMAT, "a face of %zu corners; expected at least 3", count);
  return PN_OK;
}

/* Two counts in front of everything: they must be what the file has. */
static pnResult readCounts(pnReader *reader, pnWord word, pnObjTotals totals) {
  int64_t vertices, faces;
  bool numbers = pn_wordToInt(word, &vertices) && pn_nextWord(reader, &word) && pn_wordToInt(word, &faces) &&
                 !pn_nextWord(reader, &word);
  if (!numbers)
    return pn_failLine(reader, PN_ERROR_FORMAT, "expected a statement such as v, f, g or o, found '%s'",
                       pn_quote(word).text);
  if ((uint64_t)vertices != totals.vertices || (uint64_t)faces != totals.faces)
    return pn_failLine(
        reader, PN_ERROR_COUNT, "the first line announces %lld vertices and %lld faces; the file has %llu and %llu",
        (long long)vertices, (long long)faces, (unsigned long long)totals.vertices, (unsigned long long)totals.faces);
  return PN_OK;
}

/* Could a line with this unknown first word be geometry? Numbers alone, or numbers alone behind the word ("V 0 0 0", "f1 2 3"),
 * or a word that runs on from v or f ("f,1,2,3"). Bytes that are no text are not looked at any further. */
static bool mayBeGeometry(pnReader reader, pnWord word) {
  int64_t corner;
  double value;
  bool numbers = true;
  size_t count = 0;
  for (size_t i = 0; i < word.length; ++i)
    if ((unsigned char)word.text[i] < ' ') return true;
  if (pn_wordToDouble(word, &value) != PN_NUMBER_NONE || splitCorner(word, &corner)) return true;
  for (pnWord next; pn_nextWord(&reader, &next); ++count)
    numbers = numbers && (pn_wordToDouble(next, &value) != PN_NUMBER_NONE || splitCorner(next, &corner));
  bool joined = strchr("vVfF", word.text[0]) && word.length > 1 && strchr(",;:0123456789+-.", word.text[1]);
  return count > 0 ? numbers : joined;
}

/* So many stray lines are named; the others are counted. */
#define PN_OBJ_MOST_WARNINGS 8

/* A line that is no statement: left out with a warning, or refused. */
static pnResult skipStray(const pnReader *reader, pnWord word, uint64_t *inOutCount) {
  if (mayBeGeometry(*reader, word))
    return pn_failLine(reader, PN_ERROR_FORMAT, "expected a statement such as v, f, g or o, found '%s'",
                       pn_quote(word).text);
  if (++*inOutCount <= PN_OBJ_MOST_WARNINGS)
    pnLog(PN_LOG_WARNING, "%s: line %zu: '%s' is no statement of OBJ; the line is skipped", reader->name, reader->line,
          pn_quote(word).text);
  return PN_OK;
}

static pnResult readStatement(pnReader *reader, pnWord word, bool first, pnObjTotals totals, pnMeshBuilder *builder,
                              uint64_t *inOutStray) {
  if (pn_wordIs(word, "v")) return readVertex(reader, builder);
  if (pn_wordIs(word, "f") || pn_wordIs(word, "fo")) return readFace(reader, builder, totals);
  if (pn_wordIs(word, "g") || pn_wordIs(word, "o")) {
    pnWord name = pn_restOfLine(reader);
    pn_setGroup(builder, name.length > 0 ? name : (pnWord){"default", 7});
    return PN_OK;
  }
  if (PN_IS_AMONG(word, passedOver)) return PN_OK;
  if (PN_IS_AMONG(word, refused))
    return pn_failLine(reader, PN_ERROR_UNSUPPORTED,
                       "'%s' belongs to curves and surfaces or to other files; expected polygons only: convert the "
                       "model to a mesh first",
                       pn_quote(word).text);
  int64_t number;
  if (first && pn_wordToInt(word, &number)) return readCounts(reader, word, totals);
  return skipStray(reader, word, inOutStray);
}

pnResult pn_parseObj(pnReader *reader, pnMeshBuilder *builder) {
  reader->comments = true;
  reader->continues = true;
  pnObjTotals totals = countStatements(*reader);
  bool first = true;
  uint64_t stray = 0;
  do {
    pnWord word;
    if (!pn_nextWord(reader, &word)) continue;
    pnResult result = readStatement(reader, word, first, totals, builder, &stray);
    if (result != PN_OK) return result;
    first = false;
  } while (pn_nextLine(reader));
  if (stray > 0 && totals.vertices == 0)
    return pnFail(PN_ERROR_FORMAT, "%s: no vertices, and %llu lines that are no statements: this is no OBJ",
                  reader->name, (unsigned long long)stray);
  if (stray > PN_OBJ_MOST_WARNINGS)
    pnLog(PN_LOG_WARNING, "%s: %llu more lines that are no statements of OBJ are skipped", reader->name,
          (unsigned long long)stray - PN_OBJ_MOST_WARNINGS);
  return PN_OK;
}
