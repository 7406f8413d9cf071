/* json.h: values of a JSON document together with the place they were found at.
 *
 * A reader of hostile files must say *where* something is wrong. Each value is carried as a pnJson that knows its
 * parent, so the place is written out only when a message needs it:
 *   walk.gltf: meshes[2].primitives[0].mode: expected a number from 0 to 6, found 9
 * A pnJson points at its parent, which must live at least as long: they are made on the way down and live on the
 * stack. */
#ifndef PN_IO_JSON_H
#define PN_IO_JSON_H

#include <jansson.h>

#include "pinch/base.h"

typedef struct pnJson {
  const json_t *value;         /* null: not there */
  const struct pnJson *parent; /* null: the document */
  const char *key;             /* member of an object; the document's file name; null: element `index` of an array */
  size_t index;
} pnJson;

/* Parses a document. The caller frees *outValue with json_decref. Errors: PN_ERROR_FORMAT with line and column. */
pnResult pn_jsonParse(const char *text, size_t length, const char *name, json_t **outValue);

pnJson pn_jsonMember(const pnJson *object, const char *key);
pnJson pn_jsonElement(const pnJson *array, size_t index);
size_t pn_jsonCount(const pnJson *array); /* 0 when it is no array */

/* Fails with "file: place: text". */
pnResult pn_jsonFail(const pnJson *at, pnResult result, const char *format, ...) PN_FORMAT(3, 4);

/* The place alone, for the log; cut to fit. Returns `text`. */
const char *pn_jsonPlace(const pnJson *at, char *text, size_t size);

/* Members that must be an array (object) when they are there. The count is limited to what 31 bits hold. */
pnResult pn_jsonArray(const pnJson *object, const char *key, pnJson *outArray, uint32_t *outCount);
pnResult pn_jsonObject(const pnJson *object, const char *key, pnJson *outMember);

/* Members that are not there leave *inOut as it is, except that PN_JSON_REQUIRED there means: must be there. */
#define PN_JSON_REQUIRED UINT64_MAX
pnResult pn_jsonNumber(const pnJson *object, const char *key, uint64_t max, uint64_t *inOut);
pnResult pn_jsonFloats(const pnJson *object, const char *key, uint32_t count, float *inOut);
pnResult pn_jsonBool(const pnJson *object, const char *key, bool *inOut);

/* A number that names one of `count` things ("mesh", "node"); PN_NONE when the member is not there. */
pnResult pn_jsonIndex(const pnJson *object, const char *key, uint32_t count, uint32_t *outIndex);
/* The value itself, not a member: an element of an array of such numbers. */
pnResult pn_jsonIndexHere(const pnJson *at, uint32_t count, uint32_t *outIndex);

/* A string, or `otherwise` when it is not there or not a string. Lives as long as the document. */
const char *pn_jsonString(const pnJson *object, const char *key, const char *otherwise);

#endif
