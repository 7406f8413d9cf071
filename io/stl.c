/* stl.c: reads STL, binary and text.
 *
 *   binary   80 bytes of anything | u32 count | count times: f32 normal[3], f32 corner[3][3], u16 attribute
 *            all little-endian, so the size is 84 + 50 * count
 *   text     solid NAME | facet normal n n n | outer loop | vertex x y z x3 | endloop | endfacet | endsolid
 *
 * The size tells them apart: many binary files begin with "solid" too. Each corner is a vertex of its own, as the file
 * has it: 3 a triangle. Normals are not used (writers put nan and zero there) and attributes neither. In text, upper
 * and lower case are the same and each solid is a group. */
#include "mesh_file.h"

#include <math.h>
#include <string.h>

#define PN_STL_HEAD 84
#define PN_STL_FACET 50

/* What the count at byte 80 says the size should be. */
static uint64_t binarySize(const pnReader *reader) {
  return PN_STL_HEAD + PN_STL_FACET * (uint64_t)pn_getU32(reader->bytes + 80, false);
}

bool pn_looksLikeBinaryStl(const pnReader *reader) {
  return reader->size >= PN_STL_HEAD && binarySize(reader) == reader->size;
}

/* ---------------------------------------------------------------- binary */

static pnResult addFacet(pnMeshBuilder *builder, float corners[3][3]) {
  uint32_t first = (uint32_t)builder->vertexCount;
  for (int k = 0; k < 3; ++k) {
    pnResult result = pn_addVertex(builder, corners[k]);
    if (result != PN_OK) return result;
  }
  return pn_addTriangle(builder, first, first + 1, first + 2);
}

static pnResult parseBinary(pnReader *reader, pnMeshBuilder *builder) {
  reader->at = 0;
  if (reader->size < PN_STL_HEAD)
    return pn_failByte(reader, reader->size, PN_ERROR_FORMAT,
                       "expected 'solid' or a binary STL of at least 84 bytes, found %zu byte%s", reader->size,
                       pn_ioPlural(reader->size));
  uint32_t count = pn_getU32(reader->bytes + 80, false);
  if (binarySize(reader) > reader->size)
    return pn_failByte(reader, 80, PN_ERROR_COUNT, "%u triangles announced, which take %llu bytes; the file has %zu",
                       count, (unsigned long long)binarySize(reader), reader->size);
  reader->at = PN_STL_HEAD;
  for (uint32_t t = 0; t < count; ++t) {
    size_t start = reader->at;
    const unsigned char *facet = pn_take(reader, PN_STL_FACET);
    float corners[3][3];
    for (int i = 0; i < 9; ++i) {
      float value = pn_getFloat(facet + 12 + 4 * i, false);
      if (!isfinite(value))
        return pn_failByte(reader, start + 12 + 4 * (size_t)i, PN_ERROR_NUMBER,
                           "triangle %u: expected a finite number, found %s", t, isnan(value) ? "nan" : "infinity");
      corners[i / 3][i % 3] = value;
    }
    pnResult result = addFacet(builder, corners);
    if (result != PN_OK) return result;
  }
  return pn_expectEndOfBytes(reader, "the last triangle");
}

/* ---------------------------------------------------------------- text */

static pnResult expectWord(pnReader *reader, const char *expected, uint64_t triangle) {
  pnWord word;
  if (!pn_nextWordAnyLine(reader, &word))
    return pn_failLine(reader, PN_ERROR_FORMAT, "triangle %llu: expected '%s', found the end of the file",
                       (unsigned long long)triangle, expected);
  if (!pn_wordIsNoCase(word, expected))
    return pn_failLine(reader, PN_ERROR_FORMAT, "triangle %llu: expected '%s', found '%s'",
                       (unsigned long long)triangle, expected, pn_quote(word).text);
  return PN_OK;
}

/* After the word "facet". */
static pnResult readFacet(pnReader *reader, pnMeshBuilder *builder) {
  uint64_t t = builder->triangleCount;
  float corners[3][3];
  pnResult result = expectWord(reader, "normal", t);
  // The normal: three words, whatever they say.
  pnWord word;
  for (int i = 0; i < 3; ++i) pn_nextWordAnyLine(reader, &word);
  if (result == PN_OK) result = expectWord(reader, "outer", t);
  if (result == PN_OK) result = expectWord(reader, "loop", t);
  for (int k = 0; k < 3 && result == PN_OK; ++k) {
    result = expectWord(reader, "vertex", t);
    for (int i = 0; i < 3 && result == PN_OK; ++i) result = pn_readFloat(reader, "triangle", t, &corners[k][i]);
  }
  if (result == PN_OK) result = expectWord(reader, "endloop", t);
  if (result == PN_OK) result = expectWord(reader, "endfacet", t);
  return result == PN_OK ? addFacet(builder, corners) : result;
}

/* After the word "solid": its name, its facets, up to and with "endsolid". */
static pnResult readSolid(pnReader *reader, pnMeshBuilder *builder) {
  pnWord name = pn_restOfLine(reader);
  pn_setGroup(builder, name.length > 0 ? name : (pnWord){"solid", 5});
  for (;;) {
    pnWord word;
    if (!pn_nextWordAnyLine(reader, &word))
      return pn_failLine(reader, PN_ERROR_FORMAT, "expected 'facet' or 'endsolid', found the end of the file");
    if (pn_wordIsNoCase(word, "endsolid")) {
      pn_restOfLine(reader);
      return PN_OK;
    }
    if (!pn_wordIsNoCase(word, "facet"))
      return pn_failLine(reader, PN_ERROR_FORMAT, "expected 'facet' or 'endsolid', found '%s'", pn_quote(word).text);
    pnResult result = readFacet(reader, builder);
    if (result != PN_OK) return result;
  }
}

static pnResult parseText(pnReader *reader, pnMeshBuilder *builder) {
  pnWord word;
  while (pn_nextWordAnyLine(reader, &word)) {
    if (!pn_wordIsNoCase(word, "solid"))
      return pn_failLine(reader, PN_ERROR_FORMAT, "expected 'solid' or the end of the file, found '%s'",
                         pn_quote(word).text);
    pnResult result = readSolid(reader, builder);
    if (result != PN_OK) return result;
  }
  return PN_OK;
}

/* ---------------------------------------------------------------- either */

pnResult pn_parseStl(pnReader *reader, pnMeshBuilder *builder) {
  if (pn_looksLikeBinaryStl(reader)) return parseBinary(reader, builder);
  // "solid" may also begin a binary file whose size is wrong; text has no zero bytes.
  pnReader ahead = *reader;
  pnWord word;
  bool solid = pn_nextWordAnyLine(&ahead, &word) && pn_wordIsNoCase(word, "solid");
  bool zeros = memchr(reader->bytes, 0, reader->size) != NULL;
  return solid && !zeros ? parseText(reader, builder) : parseBinary(reader, builder);
}
