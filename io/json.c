/* json.c: see json.h. jansson does the parsing (with its own limit of 2048 nested values); here is only the asking. */
#include "json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Places deeper than this are cut from the left; glTF needs 6. */
#define PN_JSON_DEPTH 16

pnResult pn_jsonParse(const char *text, size_t length, const char *name, json_t **outValue) {
  json_error_t error;
  *outValue = json_loadb(text, length, 0, &error);
  if (*outValue == NULL)
    return pnFail(PN_ERROR_FORMAT, "%s:%d:%d: the JSON is broken: %s", name, error.line, error.column, error.text);
  return PN_OK;
}

pnJson pn_jsonMember(const pnJson *object, const char *key) {
  return (pnJson){.value = json_object_get(object->value, key), .parent = object, .key = key};
}

pnJson pn_jsonElement(const pnJson *array, size_t index) {
  return (pnJson){.value = json_array_get(array->value, index), .parent = array, .index = index};
}

size_t pn_jsonCount(const pnJson *array) {
  return json_array_size(array->value);
}

/* ---------------------------------------------------------------- messages */

const char *pn_jsonPlace(const pnJson *at, char *text, size_t size) {
  /* Walk up to the document, remembering the way. */
  const pnJson *way[PN_JSON_DEPTH];
  int depth = 0;
  for (const pnJson *up = at; up->parent != NULL && depth < PN_JSON_DEPTH; up = up->parent) way[depth++] = up;

  /* And write it down from the top. */
  size_t used = 0;
  text[0] = 0;
  while (depth > 0 && used < size) {
    const pnJson *step = way[--depth];
    int wrote = step->key != NULL ? snprintf(text + used, size - used, "%s%s", used > 0 ? "." : "", step->key)
                                  : snprintf(text + used, size - used, "[%zu]", step->index);
    used += wrote > 0 ? (size_t)wrote : size;
  }
  return text;
}

pnResult pn_jsonFail(const pnJson *at, pnResult result, const char *format, ...) {
  char place[256], text[512];
  const pnJson *document = at;
  while (document->parent != NULL) document = document->parent;

  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  pn_jsonPlace(at, place, sizeof(place));
  return pnFail(result, "%s: %s%s%s", document->key, place, place[0] != 0 ? ": " : "", text);
}

/* What a value is, for "expected ..., found ...". */
static const char *kindName(const json_t *value) {
  switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "a string";
    case JSON_INTEGER:
    case JSON_REAL: return "a number";
    case JSON_TRUE:
    case JSON_FALSE: return "true or false";
    default: return "null";
  }
}

/* ---------------------------------------------------------------- members */

pnResult pn_jsonArray(const pnJson *object, const char *key, pnJson *outArray, uint32_t *outCount) {
  *outArray = pn_jsonMember(object, key);
  *outCount = 0;
  if (outArray->value == NULL) return PN_OK;
  if (!json_is_array(outArray->value))
    return pn_jsonFail(outArray, PN_ERROR_FORMAT, "expected an array, found %s", kindName(outArray->value));
  size_t count = json_array_size(outArray->value);
  if (count > INT32_MAX) return pn_jsonFail(outArray, PN_ERROR_COUNT, "%zu elements are too many", count);
  *outCount = (uint32_t)count;
  return PN_OK;
}

pnResult pn_jsonObject(const pnJson *object, const char *key, pnJson *outMember) {
  *outMember = pn_jsonMember(object, key);
  if (outMember->value != NULL && !json_is_object(outMember->value))
    return pn_jsonFail(outMember, PN_ERROR_FORMAT, "expected an object, found %s", kindName(outMember->value));
  return PN_OK;
}

/* A whole number from 0 to max, also when it is written as 3.0. */
static pnResult wholeNumber(const pnJson *at, uint64_t max, uint64_t *out) {
  double number = json_is_number(at->value) ? json_number_value(at->value) : -1.0;
  /* 2^53: up to here doubles have all whole numbers, and no file of ours is longer. */
  if (!(number >= 0.0 && number <= 9007199254740992.0) || floor(number) != number) {
    return pn_jsonFail(at, PN_ERROR_FORMAT, "expected a whole number that is not negative, found %s",
                       json_is_number(at->value) ? "another number" : kindName(at->value));
  }
  if ((uint64_t)number > max)
    return pn_jsonFail(at, PN_ERROR_FORMAT, "%.0f is more than the %llu allowed here", number, (unsigned long long)max);
  *out = (uint64_t)number;
  return PN_OK;
}

pnResult pn_jsonNumber(const pnJson *object, const char *key, uint64_t max, uint64_t *inOut) {
  pnJson member = pn_jsonMember(object, key);
  if (member.value != NULL) return wholeNumber(&member, max, inOut);
  if (*inOut == PN_JSON_REQUIRED) return pn_jsonFail(&member, PN_ERROR_FORMAT, "is missing, expected a number");
  return PN_OK;
}

pnResult pn_jsonIndexHere(const pnJson *at, uint32_t count, uint32_t *outIndex) {
  uint64_t number = 0;
  pnResult result = wholeNumber(at, UINT64_MAX, &number);
  if (result != PN_OK) return result;
  if (number >= count)
    return pn_jsonFail(at, PN_ERROR_INDEX, "%llu is out of range, there are %u", (unsigned long long)number, count);
  *outIndex = (uint32_t)number;
  return PN_OK;
}

pnResult pn_jsonIndex(const pnJson *object, const char *key, uint32_t count, uint32_t *outIndex) {
  pnJson member = pn_jsonMember(object, key);
  *outIndex = UINT32_MAX;
  return member.value != NULL ? pn_jsonIndexHere(&member, count, outIndex) : PN_OK;
}

pnResult pn_jsonFloats(const pnJson *object, const char *key, uint32_t count, float *inOut) {
  pnJson member = pn_jsonMember(object, key);
  if (member.value == NULL) return PN_OK;
  if (!json_is_array(member.value) || json_array_size(member.value) != count)
    return pn_jsonFail(&member, PN_ERROR_FORMAT, "expected an array of %u numbers", count);
  for (uint32_t i = 0; i < count; ++i) {
    pnJson element = pn_jsonElement(&member, i);
    if (!json_is_number(element.value))
      return pn_jsonFail(&element, PN_ERROR_FORMAT, "expected a number, found %s", kindName(element.value));
    float number = (float)json_number_value(element.value);
    if (!isfinite(number)) return pn_jsonFail(&element, PN_ERROR_NUMBER, "the number does not fit a float");
    inOut[i] = number;
  }
  return PN_OK;
}

pnResult pn_jsonBool(const pnJson *object, const char *key, bool *inOut) {
  pnJson member = pn_jsonMember(object, key);
  if (member.value == NULL) return PN_OK;
  if (!json_is_boolean(member.value))
    return pn_jsonFail(&member, PN_ERROR_FORMAT, "expected true or false, found %s", kindName(member.value));
  *inOut = json_is_true(member.value);
  return PN_OK;
}

const char *pn_jsonString(const pnJson *object, const char *key, const char *otherwise) {
  const char *text = json_string_value(json_object_get(object->value, key));
  return text != NULL ? text : otherwise;
}
