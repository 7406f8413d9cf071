/* schema.h: is this JSON what a schema says? The words of JSON Schema that docs/scan.schema.json uses, and no others: an unknown
 * word fails the test, so that none is passed over. Include support.h first. */
#ifndef PN_TEST_SCHEMA_H
#define PN_TEST_SCHEMA_H

#include <jansson.h>
#include <string.h>

/* Where it is wrong, and how: the first fault found. */
typedef struct SchemaFault {
  char text[400];
} SchemaFault;

static inline bool schemaFail(SchemaFault *fault, const char *path, const char *what) {
  if (!fault->text[0]) snprintf(fault->text, sizeof(fault->text), "%s: %s", path, what);
  return false;
}

static inline bool schemaHasType(const json_t *value, const char *type) {
  if (strcmp(type, "object") == 0) return json_is_object(value);
  if (strcmp(type, "array") == 0) return json_is_array(value);
  if (strcmp(type, "string") == 0) return json_is_string(value);
  if (strcmp(type, "integer") == 0) return json_is_integer(value);
  if (strcmp(type, "number") == 0) return json_is_number(value);
  if (strcmp(type, "boolean") == 0) return json_is_boolean(value);
  if (strcmp(type, "null") == 0) return json_is_null(value);
  fail_msg("unknown type '%s' in the schema", type);
  return false;
}

static inline bool schemaCheck(const json_t *root, const json_t *schema, const json_t *value, const char *path,
                               SchemaFault *fault);

static inline bool schemaCheckType(const json_t *word, const json_t *value) {
  if (json_is_string(word)) return schemaHasType(value, json_string_value(word));
  for (size_t i = 0; i < json_array_size(word); ++i)
    if (schemaHasType(value, json_string_value(json_array_get(word, i)))) return true;
  return false;
}

static inline bool schemaCheckObject(const json_t *root, const json_t *schema, const json_t *value, const char *path,
                                     SchemaFault *fault) {
  const json_t *properties = json_object_get(schema, "properties"), *required = json_object_get(schema, "required");
  char below[300];
  for (size_t i = 0; i < json_array_size(required); ++i) {
    const char *key = json_string_value(json_array_get(required, i));
    snprintf(below, sizeof(below), "%s.%s", path, key);
    if (!json_object_get(value, key)) return schemaFail(fault, below, "is missing");
  }
  const char *key;
  json_t *part;
  json_object_foreach((json_t *)value, key, part) {
    snprintf(below, sizeof(below), "%s.%s", path, key);
    const json_t *own = json_object_get(properties, key);
    if (!own && json_is_false(json_object_get(schema, "additionalProperties")))
      return schemaFail(fault, below, "is not in the schema");
    if (own && !schemaCheck(root, own, part, below, fault)) return false;
  }
  return true;
}

static inline bool schemaCheckArray(const json_t *root, const json_t *schema, const json_t *value, const char *path,
                                    SchemaFault *fault) {
  const json_t *least = json_object_get(schema, "minItems"), *most = json_object_get(schema, "maxItems");
  json_int_t size = (json_int_t)json_array_size(value);
  if ((least && size < json_integer_value(least)) || (most && size > json_integer_value(most)))
    return schemaFail(fault, path, "has a wrong number of items");
  const json_t *items = json_object_get(schema, "items");
  for (size_t i = 0; items && i < json_array_size(value); ++i) {
    char below[300];
    snprintf(below, sizeof(below), "%s[%zu]", path, i);
    if (!schemaCheck(root, items, json_array_get(value, i), below, fault)) return false;
  }
  return true;
}

static inline bool schemaCheck(const json_t *root, const json_t *schema, const json_t *value, const char *path,
                               SchemaFault *fault) {
  static const char known[] =
      " $schema title description $defs $ref type required additionalProperties properties items minItems maxItems "
      "enum const "
      "minimum exclusiveMinimum ";
  const char *word;
  json_t *what;
  json_object_foreach((json_t *)schema, word, what) {
    char padded[64];
    snprintf(padded, sizeof(padded), " %s ", word);
    if (!strstr(known, padded)) fail_msg("schema.h does not know '%s'", word);
    double number = json_number_value(value);
    if (strcmp(word, "$ref") == 0) {
      const json_t *target =
          json_object_get(json_object_get(root, "$defs"), json_string_value(what) + strlen("#/$defs/"));
      assert_non_null(target);
      if (!schemaCheck(root, target, value, path, fault)) return false;
    } else if (strcmp(word, "type") == 0) {
      if (!schemaCheckType(what, value)) return schemaFail(fault, path, "is of another type");
    } else if (strcmp(word, "const") == 0) {
      if (!json_equal(what, value)) return schemaFail(fault, path, "is another value");
    } else if (strcmp(word, "minimum") == 0) {
      if (json_is_number(value) && number < json_number_value(what)) return schemaFail(fault, path, "is too small");
    } else if (strcmp(word, "exclusiveMinimum") == 0) {
      if (json_is_number(value) && number <= json_number_value(what)) return schemaFail(fault, path, "is too small");
    } else if (strcmp(word, "enum") == 0) {
      bool found = false;
      for (size_t i = 0; i < json_array_size(what); ++i) found |= json_equal(json_array_get(what, i), value) != 0;
      if (!found) return schemaFail(fault, path, "is none of the words");
    }
  }
  if (json_is_object(value) && !schemaCheckObject(root, schema, value, path, fault)) return false;
  return !json_is_array(value) || schemaCheckArray(root, schema, value, path, fault);
}

static inline json_t *loadSchema(const char *name) {
  char path[1000];
  snprintf(path, sizeof(path), "%s/docs/%s", PINCH_SOURCE_DIR, name);
  json_error_t error;
  json_t *schema = json_load_file(path, 0, &error);
  if (!schema) fail_msg("%s: line %d: %s", path, error.line, error.text);
  return schema;
}

#endif
