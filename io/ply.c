/* ply.c: reads the rows of a PLY file, text and binary of either byte order.
 *
 * One loop for all three: a row is its properties, a property one value or a list of them, and only the function that
 * fetches the next value knows how it is written. In text each row is a line of its own.
 *
 * The float of a coordinate is the decimal number rounded once (text), or the stored number rounded to float. */
#include "ply.h"

#include "mesh_file.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Where we are, for values and messages. */
typedef struct pnPlyRow {
  pnReader *reader;
  const pnPlyHeader *header;
  const pnPlyElement *element;
  uint64_t index;    /* of the row */
  size_t valueStart; /* byte of the last value, binary only */
  float rounded;     /* the last coordinate, text only: the word rounded once */
} pnPlyRow;

/* An error at the last value: by line in text, by byte in binary. */
static pnResult failRow(const pnPlyRow *row, pnResult result, const char *format, ...) PN_FORMAT(3, 4);

static pnResult failRow(const pnPlyRow *row, pnResult result, const char *format, ...) {
  char text[300];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  const char *name = row->element->name;
  unsigned long long index = row->index;
  if (row->header->format == PN_PLY_TEXT) return pn_failLine(row->reader, result, "%s %llu: %s", name, index, text);
  return pn_failByte(row->reader, row->valueStart, result, "%s %llu: %s", name, index, text);
}

/* ---------------------------------------------------------------- values */

static pnResult readTextValue(pnPlyRow *row, bool coordinate, double *outValue) {
  pnWord word;
  if (coordinate) {
    // The word once more as a double, which a property of that type means; the float is the word rounded once.
    float value = 0;
    pnReader again = *row->reader;
    pnResult result = pn_readFloat(row->reader, row->element->name, row->index, &value);
    *outValue = (double)value;
    row->rounded = value;
    if (result == PN_OK && pn_nextWord(&again, &word)) pn_wordToDouble(word, outValue);
    return result;
  }
  if (!pn_nextWord(row->reader, &word))
    return failRow(row, PN_ERROR_FORMAT, "expected a number, found the end of the line");
  // nan is a value like others where nobody uses it; who uses it checks.
  switch (pn_wordToDouble(word, outValue)) {
    case PN_NUMBER_FINITE: return PN_OK;
    case PN_NUMBER_NOT_FINITE: *outValue = NAN; return PN_OK;
    default: return failRow(row, PN_ERROR_FORMAT, "expected a number, found '%s'", pn_quote(word).text);
  }
}

static double decode(const unsigned char *bytes, pnPlyType type, bool bigEndian) {
  // The bytes as an integer, most significant first.
  uint32_t size = pn_plySize(type);
  uint64_t bits = 0;
  for (uint32_t i = 0; i < size; ++i) bits = bits << 8 | bytes[bigEndian ? i : size - 1 - i];
  float f;
  double d;
  uint32_t bits32 = (uint32_t)bits;
  switch (type) {
    case PN_PLY_I8: return (int8_t)(uint8_t)bits;
    case PN_PLY_I16: return (int16_t)(uint16_t)bits;
    case PN_PLY_I32: return (int32_t)bits32;
    case PN_PLY_I64: return (double)(int64_t)bits;
    case PN_PLY_F32: memcpy(&f, &bits32, sizeof(f)); return (double)f;
    case PN_PLY_F64: memcpy(&d, &bits, sizeof(d)); return d;
    default: return (double)bits;
  }
}

static pnResult readBinaryValue(pnPlyRow *row, pnPlyType type, double *outValue) {
  row->valueStart = row->reader->at;
  const unsigned char *bytes = pn_take(row->reader, pn_plySize(type));
  if (!bytes)
    return failRow(row, PN_ERROR_FORMAT, "expected %u more bytes, found the end of the file", pn_plySize(type));
  *outValue = decode(bytes, type, row->header->format == PN_PLY_BIG);
  return PN_OK;
}

static pnResult readValue(pnPlyRow *row, pnPlyType type, bool coordinate, double *outValue) {
  if (row->header->format == PN_PLY_TEXT) return readTextValue(row, coordinate, outValue);
  return readBinaryValue(row, type, outValue);
}

/* What to add to a message about a value that makes no sense in a binary file. */
static const char *orderHint(const pnPlyRow *row) {
  static const char *hints[] = {"", " (is the byte order really little-endian, as the header says?)",
                                " (is the byte order really big-endian, as the header says?)"};
  return hints[row->header->format];
}

/* ---------------------------------------------------------------- properties */

/* The length of a list, which cannot be more than the bytes that are left. */
static pnResult readLength(pnPlyRow *row, const pnPlyProperty *property, uint64_t *outLength) {
  double length;
  pnResult result = readValue(row, property->countType, false, &length);
  if (result != PN_OK) return result;
  uint64_t least = row->header->format == PN_PLY_TEXT ? 2 : pn_plySize(property->type);
  uint64_t most = (row->reader->size - row->reader->at) / least + (row->header->format == PN_PLY_TEXT);
  if (!(length >= 0 && length <= (double)most && length == floor(length)))
    return failRow(row, PN_ERROR_COUNT, "a list of length %.17g; expected 0 to %llu, which is what the file can hold%s",
                   length, (unsigned long long)most, orderHint(row));
  *outLength = (uint64_t)length;
  return PN_OK;
}

static pnResult skipList(pnPlyRow *row, const pnPlyProperty *property) {
  uint64_t length;
  pnResult result = readLength(row, property, &length);
  double value;
  for (uint64_t i = 0; i < length && result == PN_OK; ++i) result = readValue(row, property->type, false, &value);
  return result;
}

/* Fans a face from its first corner. */
static pnResult readCorners(pnPlyRow *row, const pnPlyProperty *property, pnMeshBuilder *builder) {
  uint64_t length;
  pnResult result = readLength(row, property, &length);
  if (result != PN_OK) return result;
  if (length < 3)
    return failRow(row, PN_ERROR_FORMAT, "%llu corners; expected at least 3%s", (unsigned long long)length,
                   orderHint(row));
  uint32_t first = 0, previous = 0;
  for (uint64_t i = 0; i < length; ++i) {
    double value;
    result = readValue(row, property->type, false, &value);
    if (result != PN_OK) return result;
    if (!(value >= 0 && value < (double)row->header->vertexCount && value == floor(value)))
      return failRow(row, PN_ERROR_INDEX, "vertex number %.17g; expected one of 0 to %lld%s", value,
                     (long long)row->header->vertexCount - 1, orderHint(row));
    uint32_t corner = (uint32_t)value;
    if (i >= 2) result = pn_addTriangle(builder, first, previous, corner);
    if (result != PN_OK) return result;
    if (i == 0) first = corner;
    previous = corner;
  }
  return PN_OK;
}

static pnResult readCoordinate(pnPlyRow *row, const pnPlyProperty *property, float *outValue, double *outExact) {
  double value;
  pnResult result = readValue(row, property->type, true, &value);
  if (result != PN_OK) return result;
  *outValue = row->header->format == PN_PLY_TEXT ? row->rounded : (float)value;
  *outExact = value;
  if (!isfinite(*outValue))
    return failRow(row, PN_ERROR_NUMBER, "expected a finite number that fits a float, found %.9g%s", value,
                   orderHint(row));
  return PN_OK;
}

/* ---------------------------------------------------------------- rows */

static pnResult readRow(pnPlyRow *row, pnMeshBuilder *builder) {
  float position[3] = {0, 0, 0};
  double exact[3] = {0, 0, 0};
  bool doubles = false;
  const pnPlyProperty *properties = &row->header->properties[row->element->firstProperty];
  for (uint32_t i = 0; i < row->element->propertyCount; ++i) {
    const pnPlyProperty *property = &properties[i];
    double value;
    pnResult result;
    doubles = doubles || (property->role <= PN_PLY_Z && property->type == PN_PLY_F64);
    if (property->role <= PN_PLY_Z)
      result = readCoordinate(row, property, &position[property->role], &exact[property->role]);
    else if (property->role == PN_PLY_CORNERS) result = readCorners(row, property, builder);
    else if (property->list) result = skipList(row, property);
    else result = readValue(row, property->type, false, &value);
    if (result != PN_OK) return result;
  }
  if (row->element->kind != PN_PLY_VERTEX) return PN_OK;
  return doubles ? pn_addDoubleVertex(builder, position, exact) : pn_addVertex(builder, position);
}

/* In text a row is a line: nothing but blank lines in front, and nothing behind. */
static pnResult readTextRow(pnPlyRow *row, pnMeshBuilder *builder) {
  pnReader *reader = row->reader;
  pnWord word;
  if (!pn_nextWordAnyLine(reader, &word))
    return failRow(row, PN_ERROR_FORMAT, "expected a row (of %llu), found the end of the file",
                   (unsigned long long)row->element->count);
  reader->at = (size_t)(word.text - (const char *)reader->bytes);
  pnResult result = readRow(row, builder);
  if (result == PN_OK) result = pn_expectEndOfLine(reader, row->element->name, row->index);
  if (result == PN_OK) pn_nextLine(reader);
  return result;
}

static pnResult readElementRows(pnReader *reader, const pnPlyHeader *header, const pnPlyElement *element,
                                pnMeshBuilder *builder) {
  // Rows without properties take no bytes, and no time however many are announced.
  if (element->propertyCount == 0) return PN_OK;
  pnPlyRow row = {.reader = reader, .header = header, .element = element};
  for (; row.index < element->count; ++row.index) {
    row.valueStart = reader->at;
    pnResult result = header->format == PN_PLY_TEXT ? readTextRow(&row, builder) : readRow(&row, builder);
    if (result != PN_OK) return result;
  }
  return PN_OK;
}

pnResult pn_parsePly(pnReader *reader, pnMeshBuilder *builder) {
  pnPlyHeader header;
  pnResult result = pn_readPlyHeader(reader, &header);
  for (uint32_t e = 0; e < header.elementCount && result == PN_OK; ++e)
    result = readElementRows(reader, &header, &header.elements[e], builder);
  return result == PN_OK ? pn_expectEndOfBytes(reader, "the last row") : result;
}
