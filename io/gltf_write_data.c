/* gltf_write_data.c: arrays of numbers into the binary chunk. Every array begins at a multiple of four bytes and has a
 * view of its own, so no reader has to think about strides. */
#include <string.h>

#include "gltf_write.h"
#include "reader.h"

uint32_t pn_gltfAppend(pnGltfWriter *w, json_t *array, json_t *value) {
  uint32_t place = (uint32_t)json_array_size(array);
  if (json_array_append_new(array, value) != 0) w->failed = true;
  return place;
}

void pn_gltfSet(pnGltfWriter *w, json_t *object, const char *key, json_t *value) {
  if (json_object_set_new(object, key, value) != 0) w->failed = true;
}

json_t *pn_gltfFloats(pnGltfWriter *w, const float *numbers, uint32_t count) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < count; ++i) pn_gltfAppend(w, array, json_real((double)numbers[i]));
  return array;
}

/* Adds bytes to the chunk, and a view of them. */
static uint32_t writeView(pnGltfWriter *w, const void *data, size_t count, pnGltfUse use) {
  size_t start = (w->byteCount + 3) & ~(size_t)3, end = start + count;
  if (end > w->byteCapacity && !pn_ioGrow((void **)&w->bytes, w->byteCount, &w->byteCapacity, end, 1)) {
    w->failed = true;
    return 0;
  }
  memset(w->bytes + w->byteCount, 0, start - w->byteCount);
  if (count > 0) memcpy(w->bytes + start, data, count);
  w->byteCount = end;
  json_t *view =
      json_pack("{s:i, s:I, s:I}", "buffer", 0, "byteOffset", (json_int_t)start, "byteLength", (json_int_t)count);
  if (use != PN_GLTF_USE_OTHER) pn_gltfSet(w, view, "target", json_integer(use));
  return pn_gltfAppend(w, w->views, view);
}

static const char *typeName(uint32_t width) {
  switch (width) {
    case 1: return "SCALAR";
    case 3: return "VEC3";
    case 4: return "VEC4";
    default: return "MAT4";
  }
}

static json_t *makeAccessor(uint32_t count, uint32_t width, uint32_t componentType) {
  return json_pack("{s:i, s:I, s:s}", "componentType", (int)componentType, "count", (json_int_t)count, "type",
                   typeName(width));
}

uint32_t pn_gltfWriteArray(pnGltfWriter *w, const void *data, uint32_t count, uint32_t width, uint32_t componentType,
                           pnGltfUse use) {
  size_t size = componentType == 5121 ? 1 : componentType == 5123 ? 2 : 4;
  json_t *accessor = makeAccessor(count, width, componentType);
  pn_gltfSet(w, accessor, "bufferView", json_integer(writeView(w, data, size * width * count, use)));
  return pn_gltfAppend(w, w->accessors, accessor);
}

/* Smallest and largest of each component; `zero`: some elements are 0 and not among the data. */
static void setBounds(pnGltfWriter *w, json_t *accessor, const float *data, uint32_t count, uint32_t width, bool zero) {
  float min[4] = {0}, max[4] = {0};
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t c = 0; c < width; ++c) {
      float number = data[(size_t)i * width + c];
      if (number < min[c] || (i == 0 && !zero)) min[c] = number;
      if (number > max[c] || (i == 0 && !zero)) max[c] = number;
    }
  }
  pn_gltfSet(w, accessor, "min", pn_gltfFloats(w, min, width));
  pn_gltfSet(w, accessor, "max", pn_gltfFloats(w, max, width));
}

uint32_t pn_gltfWriteBounded(pnGltfWriter *w, const float *data, uint32_t count, uint32_t width, pnGltfUse use) {
  uint32_t accessor = pn_gltfWriteArray(w, data, count, width, 5126, use);
  setBounds(w, json_array_get(w->accessors, accessor), data, count, width, false);
  return accessor;
}

uint32_t pn_gltfWriteSparse(pnGltfWriter *w, const pnAnimTarget *target, uint32_t total) {
  json_t *accessor = makeAccessor(total, 3, 5126);
  setBounds(w, accessor, target->deltas, target->count, 3, true);
  if (target->count > 0) {
    uint32_t indices = writeView(w, target->vertices, (size_t)target->count * 4, PN_GLTF_USE_OTHER);
    uint32_t values = writeView(w, target->deltas, (size_t)target->count * 12, PN_GLTF_USE_OTHER);
    json_t *sparse = json_pack("{s:I, s:{s:i, s:i}, s:{s:i}}", "count", (json_int_t)target->count, "indices",
                               "bufferView", (int)indices, "componentType", 5125, "values", "bufferView", (int)values);
    pn_gltfSet(w, accessor, "sparse", sparse);
  }
  return pn_gltfAppend(w, w->accessors, accessor);
}
