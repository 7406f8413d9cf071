/* gltf_accessor.c: arrays of numbers in views: plain, interleaved, normalised, sparse. The bounds of all bytes that an
 * accessor can touch are checked here, once, before the first is read. */
#include <math.h>
#include <string.h>

#include "gltf.h"

/* ---------------------------------------------------------------- types */

static uint32_t componentSize(pnGltfComponent component) {
  switch (component) {
    case PN_GLTF_BYTE:
    case PN_GLTF_UBYTE: return 1;
    case PN_GLTF_SHORT:
    case PN_GLTF_USHORT: return 2;
    default: return 4;
  }
}

/* The bit of a component type in the sets of gltf.h, 0 for a number that is no type. */
static uint32_t componentBit(uint64_t component) {
  switch (component) {
    case PN_GLTF_FLOAT: return PN_GLTF_IS_FLOAT;
    case PN_GLTF_UBYTE: return PN_GLTF_IS_UBYTE;
    case PN_GLTF_USHORT: return PN_GLTF_IS_USHORT;
    case PN_GLTF_UINT: return PN_GLTF_IS_UINT;
    case PN_GLTF_BYTE: return PN_GLTF_IS_BYTE;
    case PN_GLTF_SHORT: return PN_GLTF_IS_SHORT;
    default: return 0;
  }
}

/* Components of a type by name. Matrices of 1- and 2-byte components have padding; none that is read here does. */
static uint32_t typeWidth(const char *type) {
  static const struct {
    const char *name;
    uint32_t width;
  } types[] = {{"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4}, {"MAT4", 16}};
  for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); ++i)
    if (strcmp(types[i].name, type) == 0) return types[i].width;
  return 0;
}

/* ---------------------------------------------------------------- checking */

/* The sparse part: a list of elements and their new values. */
static pnResult readSparse(pnGltf *g, const pnJson *at, const pnJson *sparse, pnGltfAccessor *accessor) {
  uint64_t count = PN_JSON_REQUIRED, indexType = PN_JSON_REQUIRED, indexOffset = 0, valueOffset = 0;
  uint32_t indexView = UINT32_MAX, valueView = UINT32_MAX;
  pnJson indices, values;
  pnResult result = pn_jsonNumber(sparse, "count", accessor->count, &count);
  if (result == PN_OK) result = pn_jsonObject(sparse, "indices", &indices);
  if (result == PN_OK) result = pn_jsonObject(sparse, "values", &values);
  if (result == PN_OK) result = pn_jsonIndex(&indices, "bufferView", g->viewCount, &indexView);
  if (result == PN_OK) result = pn_jsonNumber(&indices, "byteOffset", UINT64_MAX - 1, &indexOffset);
  if (result == PN_OK) result = pn_jsonNumber(&indices, "componentType", UINT32_MAX, &indexType);
  if (result == PN_OK) result = pn_jsonIndex(&values, "bufferView", g->viewCount, &valueView);
  if (result == PN_OK) result = pn_jsonNumber(&values, "byteOffset", UINT64_MAX - 1, &valueOffset);
  if (result != PN_OK) return result;
  if (indexView == UINT32_MAX || valueView == UINT32_MAX)
    return pn_jsonFail(sparse, PN_ERROR_FORMAT, "indices and values must both name a bufferView");
  if (!(componentBit(indexType) & (PN_GLTF_IS_UBYTE | PN_GLTF_IS_USHORT | PN_GLTF_IS_UINT))) {
    return pn_jsonFail(&indices, PN_ERROR_FORMAT, "componentType %llu, expected 5121, 5123 or 5125",
                       (unsigned long long)indexType);
  }
  accessor->sparseCount = (uint32_t)count;
  accessor->sparseIndex = (pnGltfComponent)indexType;

  /* Both lists are tightly packed. */
  uint64_t elementSize = (uint64_t)accessor->width * componentSize(accessor->component);
  result = pn_gltfView(g, &indices, indexView, indexOffset, count * componentSize(accessor->sparseIndex),
                       &accessor->sparseIndices);
  if (result == PN_OK)
    result = pn_gltfView(g, &values, valueView, valueOffset, count * elementSize, &accessor->sparseValues);

  /* Indices rise and stay in range, so that each element is replaced at most once. */
  for (uint32_t i = 0; i < count && result == PN_OK; ++i) {
    uint32_t index = pn_gltfSparseIndex(accessor, i);
    if (index >= accessor->count || (i > 0 && index <= pn_gltfSparseIndex(accessor, i - 1))) {
      result =
          pn_jsonFail(at, PN_ERROR_INDEX, "accessor %u: sparse index number %u is %u; they must rise and stay below %u",
                      accessor->index, i, index, accessor->count);
    }
  }
  return result;
}

/* Where the elements lie, when they lie somewhere. */
static pnResult findBytes(pnGltf *g, const pnJson *at, const pnJson *element, pnGltfAccessor *accessor) {
  /* What was unpacked counts, whatever else is there (KHR_draco_mesh_compression allows both). */
  if (g->filled != NULL && g->filled[accessor->index].data != NULL) {
    accessor->bytes = g->filled[accessor->index].data;
    return PN_OK;
  }
  uint32_t view = UINT32_MAX, stride = 0;
  uint64_t offset = 0;
  pnResult result = pn_jsonIndex(element, "bufferView", g->viewCount, &view);
  if (result == PN_OK) result = pn_jsonNumber(element, "byteOffset", UINT64_MAX - 1, &offset);
  if (result != PN_OK || view == UINT32_MAX) return result;
  result = pn_gltfStride(g, view, &stride);
  if (result != PN_OK) return result;

  /* Interleaved elements may not overlap; without a stride they are packed. */
  uint32_t size = (uint32_t)accessor->stride;
  if (stride != 0 && stride < size) {
    return pn_jsonFail(at, PN_ERROR_FORMAT,
                       "accessor %u: elements of %u bytes do not fit the byteStride %u of bufferView %u",
                       accessor->index, size, stride, view);
  }
  if (stride != 0) accessor->stride = stride;
  uint64_t bytes = accessor->count > 0 ? (uint64_t)(accessor->count - 1) * accessor->stride + size : 0;
  return pn_gltfView(g, at, view, offset, bytes, &accessor->bytes);
}

pnResult pn_gltfDescribe(pnGltf *g, const pnJson *at, uint32_t width, uint32_t allowed, pnGltfAccessor *out) {
  memset(out, 0, sizeof(*out));
  pnResult result = pn_jsonIndexHere(at, g->accessorCount, &out->index);
  if (result != PN_OK) return result;
  pnJson element = pn_jsonElement(&g->accessors, out->index);
  uint64_t component = PN_JSON_REQUIRED, count = PN_JSON_REQUIRED;
  result = pn_jsonNumber(&element, "componentType", UINT32_MAX, &component);
  /* 2^31 - 1 elements: sums of two counts stay in 32 bits. */
  if (result == PN_OK) result = pn_jsonNumber(&element, "count", INT32_MAX, &count);
  if (result == PN_OK) result = pn_jsonBool(&element, "normalized", &out->normalized);
  if (result != PN_OK) return result;

  /* The right shape and type for its use. */
  const char *type = pn_jsonString(&element, "type", "");
  if (typeWidth(type) != width) {
    return pn_jsonFail(at, PN_ERROR_FORMAT, "accessor %u is of type '%.20s'; %u components are needed here", out->index,
                       type, width);
  }
  if (!(componentBit(component) & allowed)) {
    return pn_jsonFail(at, PN_ERROR_FORMAT, "accessor %u has componentType %llu, which is not allowed here", out->index,
                       (unsigned long long)component);
  }
  out->width = width;
  out->component = (pnGltfComponent)component;
  out->count = (uint32_t)count;
  out->stride = (size_t)width * componentSize(out->component);
  return PN_OK;
}

pnResult pn_gltfAccessor(pnGltf *g, const pnJson *at, uint32_t width, uint32_t allowed, pnGltfAccessor *out) {
  pnResult result = pn_gltfDescribe(g, at, width, allowed, out);
  if (result != PN_OK) return result;
  pnJson element = pn_jsonElement(&g->accessors, out->index);

  /* Its bytes, and what replaces some of them. Without bytes all is zero, which stands for targets that do nothing or for
   * what targets will move: lists as long as others that have bytes, one at least for each element. */
  result = findBytes(g, at, &element, out);
  if (result == PN_OK && out->bytes == NULL && out->count > g->budget.input) {
    return pn_jsonFail(at, PN_ERROR_COUNT,
                       "accessor %u has %u elements and no data; a file of %zu bytes cannot mean so many", out->index,
                       out->count, g->budget.input);
  }
  pnJson sparse = pn_jsonMember(&element, "sparse");
  if (result == PN_OK && sparse.value != NULL) result = readSparse(g, at, &sparse, out);

  /* Time is limited like memory: a small document could name one long accessor thousands of times. */
  size_t elements = (out->bytes != NULL ? out->count : 0) + (size_t)out->sparseCount;
  size_t bytes = elements * width * sizeof(float);
  g->budget.exceeded = bytes > g->budget.limit - g->budget.decoded;
  if (result == PN_OK && g->budget.exceeded) return pn_gltfNoMemory(g);
  g->budget.decoded += result == PN_OK ? bytes : 0;
  return result;
}

/* ---------------------------------------------------------------- reading */

static uint32_t readUint(const uint8_t *bytes, pnGltfComponent component) {
  switch (component) {
    case PN_GLTF_BYTE:
    case PN_GLTF_UBYTE: return bytes[0];
    case PN_GLTF_SHORT:
    case PN_GLTF_USHORT: return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8;
    default: return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
  }
}

/* One component as the format defines it (glTF 2.0, 3.11): normalised integers are fractions of their largest value,
 * and the most negative one counts as -1. */
static float readFloat(const uint8_t *bytes, pnGltfComponent component, bool normalized) {
  uint32_t bits = readUint(bytes, component);
  float number, most;
  switch (component) {
    case PN_GLTF_FLOAT: memcpy(&number, &bits, sizeof(number)); return number;
    case PN_GLTF_BYTE: number = (float)(bits < 128 ? (int)bits : (int)bits - 256), most = 127.0f; break;
    case PN_GLTF_UBYTE: number = (float)bits, most = 255.0f; break;
    case PN_GLTF_SHORT: number = (float)(bits < 32768 ? (int)bits : (int)bits - 65536), most = 32767.0f; break;
    case PN_GLTF_USHORT: number = (float)bits, most = 65535.0f; break;
    default: return (float)bits;
  }
  if (!normalized) return number;
  return number < -most ? -1.0f : number / most;
}

static void readElement(const pnGltfAccessor *accessor, const uint8_t *bytes, float *out) {
  uint32_t size = componentSize(accessor->component);
  for (uint32_t c = 0; c < accessor->width; ++c)
    out[c] = readFloat(bytes + (size_t)c * size, accessor->component, accessor->normalized);
}

void pn_gltfElementFloats(const pnGltfAccessor *accessor, uint32_t e, float *out) {
  readElement(accessor, accessor->bytes + (size_t)e * accessor->stride, out);
}

uint32_t pn_gltfSparseIndex(const pnGltfAccessor *accessor, uint32_t i) {
  return readUint(accessor->sparseIndices + (size_t)i * componentSize(accessor->sparseIndex), accessor->sparseIndex);
}

void pn_gltfSparseFloats(const pnGltfAccessor *accessor, uint32_t i, float *out) {
  size_t size = (size_t)accessor->width * componentSize(accessor->component);
  readElement(accessor, accessor->sparseValues + i * size, out);
}

pnResult pn_gltfReadFloats(const pnJson *at, const pnGltfAccessor *accessor, float *out) {
  /* The elements in place, zeros when there are none, then the replaced ones. */
  size_t width = accessor->width, total = accessor->count * width;
  if (accessor->bytes == NULL) memset(out, 0, total * sizeof(float));
  for (uint32_t e = 0; e < accessor->count && accessor->bytes != NULL; ++e)
    pn_gltfElementFloats(accessor, e, out + e * width);
  for (uint32_t i = 0; i < accessor->sparseCount; ++i)
    pn_gltfSparseFloats(accessor, i, out + pn_gltfSparseIndex(accessor, i) * width);
  /* No number that is none. */
  for (size_t i = 0; i < total; ++i) {
    if (!isfinite(out[i])) {
      return pn_jsonFail(at, PN_ERROR_NUMBER, "accessor %u: component %zu of element %zu is NaN or infinite",
                         accessor->index, i % width, i / width);
    }
  }
  return PN_OK;
}

void pn_gltfReadUints(const pnGltfAccessor *accessor, uint32_t *out) {
  uint32_t size = componentSize(accessor->component), width = accessor->width;
  for (uint32_t e = 0; e < accessor->count; ++e) {
    const uint8_t *bytes = accessor->bytes != NULL ? accessor->bytes + (size_t)e * accessor->stride : NULL;
    for (uint32_t c = 0; c < width; ++c)
      out[(size_t)e * width + c] = bytes != NULL ? readUint(bytes + (size_t)c * size, accessor->component) : 0;
  }
  for (uint32_t i = 0; i < accessor->sparseCount; ++i) {
    const uint8_t *bytes = accessor->sparseValues + (size_t)i * width * size;
    uint32_t *element = out + (size_t)pn_gltfSparseIndex(accessor, i) * width;
    for (uint32_t c = 0; c < width; ++c) element[c] = readUint(bytes + (size_t)c * size, accessor->component);
  }
}

pnResult pn_gltfSharedFloats(pnGltf *g, const pnJson *at, const pnGltfAccessor *accessor, const float **out) {
  *out = g->floats[accessor->index];
  if (*out != NULL) return PN_OK;
  float *numbers = pn_gltfKeep(g, (size_t)accessor->count * accessor->width, sizeof(float));
  if (numbers == NULL) return pn_gltfNoMemory(g);
  pnResult result = pn_gltfReadFloats(at, accessor, numbers);
  if (result == PN_OK) *out = g->floats[accessor->index] = numbers;
  return result;
}
