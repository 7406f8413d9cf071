/* ply_header.c: the header of a PLY file: which elements there are, how many, and what each row holds.
 *
 *   ply / format ascii|binary_little_endian|binary_big_endian 1.0 / comment ... / obj_info ...
 *   element NAME COUNT / property TYPE NAME / property list COUNT-TYPE TYPE NAME / end_header
 *
 * The vertices are the properties x, y, z (any type) of the element "vertex", the corners the list "vertex_indices" or
 * "vertex_index" of the element "face". Other properties and elements are read past. Triangle strips, which would be
 * triangles left out, are refused. */
#include "ply.h"

#include <string.h>

/* Every type, by both of its names. */
static const struct {
  const char *names[2];
  uint32_t size;
} types[] = {
    [PN_PLY_I8] = {{"char", "int8"}, 1},      [PN_PLY_U8] = {{"uchar", "uint8"}, 1},
    [PN_PLY_I16] = {{"short", "int16"}, 2},   [PN_PLY_U16] = {{"ushort", "uint16"}, 2},
    [PN_PLY_I32] = {{"int", "int32"}, 4},     [PN_PLY_U32] = {{"uint", "uint32"}, 4},
    [PN_PLY_I64] = {{"long", "int64"}, 8},    [PN_PLY_U64] = {{"ulong", "uint64"}, 8},
    [PN_PLY_F32] = {{"float", "float32"}, 4}, [PN_PLY_F64] = {{"double", "float64"}, 8},
};

uint32_t pn_plySize(pnPlyType type) {
  return types[type].size;
}

static pnResult readType(pnReader *reader, pnPlyType *outType) {
  pnWord word = {"", 0};
  pn_nextWord(reader, &word);
  for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); ++i) {
    if (pn_wordIs(word, types[i].names[0]) || pn_wordIs(word, types[i].names[1])) {
      *outType = (pnPlyType)i;
      return PN_OK;
    }
  }
  return pn_failLine(reader, PN_ERROR_FORMAT,
                     "expected a type (char uchar short ushort int uint float double, or int8 ... float64), found '%s'",
                     pn_quote(word).text);
}

static pnResult readFormat(pnReader *reader, pnPlyHeader *header) {
  pnWord format = {"", 0}, version = {"", 0};
  pn_nextWord(reader, &format);
  pn_nextWord(reader, &version);
  if (pn_wordIs(format, "ascii")) header->format = PN_PLY_TEXT;
  else if (pn_wordIs(format, "binary_little_endian")) header->format = PN_PLY_LITTLE;
  else if (pn_wordIs(format, "binary_big_endian")) header->format = PN_PLY_BIG;
  else
    return pn_failLine(reader, PN_ERROR_FORMAT,
                       "expected format ascii, binary_little_endian or binary_big_endian, found '%s'",
                       pn_quote(format).text);
  if (!pn_wordIs(version, "1.0"))
    return pn_failLine(reader, PN_ERROR_UNSUPPORTED, "expected version 1.0, found '%s'", pn_quote(version).text);
  return PN_OK;
}

static pnResult readElement(pnReader *reader, pnPlyHeader *header) {
  if (header->elementCount == PN_PLY_MAX_ELEMENTS)
    return pn_failLine(reader, PN_ERROR_UNSUPPORTED, "more than %d elements", PN_PLY_MAX_ELEMENTS);
  pnPlyElement *element = &header->elements[header->elementCount];
  pnWord word;
  if (!pn_nextWord(reader, &word))
    return pn_failLine(reader, PN_ERROR_FORMAT, "expected the name of an element, found the end of the line");
  memcpy(element->name, pn_quote(word).text, sizeof(element->name));
  element->kind = pn_wordIs(word, "vertex") ? PN_PLY_VERTEX : pn_wordIs(word, "face") ? PN_PLY_FACE : PN_PLY_ELSE;
  element->firstProperty = header->propertyCount;
  pnResult result = pn_readCount(reader, "the count of an element", &element->count);
  if (result != PN_OK) return result;

  // Two elements of one kind would leave open which one the faces mean.
  for (uint32_t i = 0; i < header->elementCount; ++i)
    if (element->kind != PN_PLY_ELSE && header->elements[i].kind == element->kind)
      return pn_failLine(reader, PN_ERROR_FORMAT, "a second element '%s'; expected one", element->name);
  if (pn_wordIs(word, "tristrips") && element->count > 0)
    return pn_failLine(reader, PN_ERROR_UNSUPPORTED, "triangle strips; expected faces: convert the file first");
  if (element->kind == PN_PLY_VERTEX) header->vertexCount = element->count;
  ++header->elementCount;
  return PN_OK;
}

static pnPlyRole roleOf(const pnPlyElement *element, pnWord name, bool list) {
  if (element->kind == PN_PLY_VERTEX && !list) {
    if (pn_wordIs(name, "x")) return PN_PLY_X;
    if (pn_wordIs(name, "y")) return PN_PLY_Y;
    if (pn_wordIs(name, "z")) return PN_PLY_Z;
  }
  bool corners = pn_wordIs(name, "vertex_indices") || pn_wordIs(name, "vertex_index");
  return element->kind == PN_PLY_FACE && list && corners ? PN_PLY_CORNERS : PN_PLY_OTHER;
}

static pnResult readProperty(pnReader *reader, pnPlyHeader *header) {
  if (header->elementCount == 0)
    return pn_failLine(reader, PN_ERROR_FORMAT, "a property before any element; expected 'element'");
  if (header->propertyCount == PN_PLY_MAX_PROPERTIES)
    return pn_failLine(reader, PN_ERROR_UNSUPPORTED, "more than %d properties", PN_PLY_MAX_PROPERTIES);
  pnPlyElement *element = &header->elements[header->elementCount - 1];
  pnPlyProperty *property = &header->properties[header->propertyCount];

  // TYPE NAME, or list COUNT-TYPE TYPE NAME.
  pnReader back = *reader;
  pnWord word;
  property->list = pn_nextWord(reader, &word) && pn_wordIs(word, "list");
  if (!property->list) *reader = back;
  pnResult result = property->list ? readType(reader, &property->countType) : PN_OK;
  if (result == PN_OK) result = readType(reader, &property->type);
  if (result != PN_OK) return result;
  if (!pn_nextWord(reader, &word))
    return pn_failLine(reader, PN_ERROR_FORMAT, "expected the name of a property, found the end of the line");
  property->role = roleOf(element, word, property->list);

  for (uint32_t i = 0; i < element->propertyCount; ++i)
    if (property->role != PN_PLY_OTHER && header->properties[element->firstProperty + i].role == property->role)
      return pn_failLine(reader, PN_ERROR_FORMAT, "a second property '%s'; expected one", pn_quote(word).text);
  ++element->propertyCount;
  ++header->propertyCount;
  return PN_OK;
}

/* ---------------------------------------------------------------- the whole header */

/* Vertices need x, y and z, faces their corners, as soon as there is one of them. */
static pnResult checkRoles(const pnReader *reader, const pnPlyHeader *header) {
  for (uint32_t e = 0; e < header->elementCount; ++e) {
    const pnPlyElement *element = &header->elements[e];
    uint32_t roles = 0;
    for (uint32_t i = 0; i < element->propertyCount; ++i)
      roles |= 1u << header->properties[element->firstProperty + i].role;
    uint32_t position = 1u << PN_PLY_X | 1u << PN_PLY_Y | 1u << PN_PLY_Z;
    if (element->kind == PN_PLY_VERTEX && element->count > 0 && (roles & position) != position)
      return pn_failLine(reader, PN_ERROR_FORMAT, "the element 'vertex' lacks x, y or z; expected all three");
    if (element->kind == PN_PLY_FACE && element->count > 0 && !(roles & 1u << PN_PLY_CORNERS))
      return pn_failLine(
          reader, PN_ERROR_FORMAT,
          "the element 'face' lacks the list of its corners; expected 'vertex_indices' or 'vertex_index'");
  }
  return PN_OK;
}

/* Each row takes some bytes at least: what the header announces must fit what follows, before memory is asked for. */
static pnResult checkCounts(const pnReader *reader, const pnPlyHeader *header) {
  // The last line of a text may lack its end.
  uint64_t left = reader->size - reader->at + (header->format == PN_PLY_TEXT);
  for (uint32_t e = 0; e < header->elementCount; ++e) {
    const pnPlyElement *element = &header->elements[e];
    uint64_t row = 0;
    for (uint32_t i = 0; i < element->propertyCount; ++i) {
      const pnPlyProperty *property = &header->properties[element->firstProperty + i];
      // Binary: the value, or the length of a list. Text: a digit and a blank or line end.
      row += header->format == PN_PLY_TEXT ? 2 : pn_plySize(property->list ? property->countType : property->type);
    }
    if (row > 0 && element->count > left / row)
      return pn_failByte(reader, reader->at, PN_ERROR_COUNT,
                         "%llu row%s of '%s' announced, of at least %llu byte%s each; left for them: %llu byte%s",
                         (unsigned long long)element->count, pn_ioPlural(element->count), element->name,
                         (unsigned long long)row, pn_ioPlural(row), (unsigned long long)left, pn_ioPlural(left));
    left -= element->count * row;
  }
  return PN_OK;
}

pnResult pn_readPlyHeader(pnReader *reader, pnPlyHeader *header) {
  memset(header, 0, sizeof(*header));
  pnWord word = {"", 0};
  bool formatSeen = false;
  if (!pn_nextWord(reader, &word) || !pn_wordIs(word, "ply"))
    return pn_failLine(reader, PN_ERROR_FORMAT, "expected 'ply', found '%s'", pn_quote(word).text);
  pnResult result = pn_expectEndOfLine(reader, "header of version", 1);
  const unsigned char *end = reader->bytes + reader->at;
  bool loneCarriage = reader->size - reader->at >= 2 && end[0] == '\r' && end[1] != '\n';
  while (result == PN_OK) {
    if (!pn_nextLine(reader))
      return pn_failLine(reader, PN_ERROR_FORMAT, "expected 'end_header', found the end of the file");
    if (!pn_nextWord(reader, &word)) continue;
    if (pn_wordIs(word, "comment") || pn_wordIs(word, "obj_info")) continue;
    if (pn_wordIs(word, "end_header")) break;
    if (pn_wordIs(word, "format")) {
      result = formatSeen ? pn_failLine(reader, PN_ERROR_FORMAT, "a second 'format'; expected one")
                          : readFormat(reader, header);
      formatSeen = true;
    } else if (pn_wordIs(word, "element")) result = readElement(reader, header);
    else if (pn_wordIs(word, "property")) result = readProperty(reader, header);
    else
      result = pn_failLine(reader, PN_ERROR_FORMAT,
                           "expected format, comment, obj_info, element, property or end_header, found '%s'",
                           pn_quote(word).text);
    if (result == PN_OK) result = pn_expectEndOfLine(reader, "header entry", header->propertyCount);
  }
  if (result == PN_OK && !formatSeen) result = pn_failLine(reader, PN_ERROR_FORMAT, "no 'format' before 'end_header'");
  if (result == PN_OK) result = checkRoles(reader, header);
  if (result != PN_OK) return result;
  pn_nextLine(reader);
  // Where lines end in a lone '\r', a '\n' after the last one is the first byte of a number.
  if (loneCarriage && header->format != PN_PLY_TEXT && reader->bytes[reader->at - 1] == '\n') --reader->at;
  return checkCounts(reader, header);
}
