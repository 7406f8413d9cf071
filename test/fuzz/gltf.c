/* gltf.c: glTF, binary or text, with mutations that know what it is made of: a chunk of JSON, whose numbers, lists and objects are
 * changed, doubled and left out while it stays JSON, and a chunk of bytes. */
#include "gltf_check.h"

#include <jansson.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t count, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t most, unsigned int seed);

static void quiet(void *user, pnLogLevel level, const char *text) {
  (void)user, (void)level, (void)text;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  pnSetLogFcn(quiet, NULL);
  checkDocument(bytes, count);
  return 0;
}

/* ---------------------------------------------------------------- JSON */

static uint32_t s_seed;

static uint32_t below(uint32_t bound) {
  s_seed = s_seed * 1664525u + 1013904223u;
  return (s_seed >> 8) % bound;
}

/* How many values are at and below this one. */
static uint32_t countBelow(json_t *at) {
  uint32_t sum = 1;
  size_t i;
  const char *key;
  json_t *value;
  if (json_is_object(at)) json_object_foreach(at, key, value) sum += countBelow(value);
  if (json_is_array(at)) json_array_foreach(at, i, value) sum += countBelow(value);
  return sum;
}

static json_t *newValue(json_t *old) {
  static const double numbers[] = {0,     1,   -1,  2, 3, 255, 256, 65535, 65536, 4294967295.0, 2147483648.0,
                                   1e300, 0.5, -0.0};
  switch (below(8)) {
    case 0: return json_integer((json_int_t)below(8));
    case 1: return json_real(numbers[below(14)]);
    case 2: return json_integer((json_int_t)numbers[below(11)]);
    case 3: return json_array();
    case 4: return json_object();
    case 5: return json_deep_copy(old);
    case 6:
      return json_is_integer(old) ? json_integer(json_integer_value(old) + (json_int_t)below(3) - 1) : json_null();
    default: return json_string("VEC3");
  }
}

/* Changes the value numbered *left below `at`, counting down. */
static void changeOne(json_t *at, uint32_t *left) {
  size_t i;
  const char *key;
  json_t *value;
  void *next;
  if (json_is_object(at)) {
    json_object_foreach_safe(at, next, key, value) {
      if ((*left)-- == 0) {
        if (below(6) == 0) json_object_del(at, key);
        else if (below(8) == 0) json_object_set_new(at, "extras", json_deep_copy(value));
        else json_object_set_new(at, key, newValue(value));
        return;
      }
      changeOne(value, left);
      if (*left == UINT32_MAX) return;
    }
  } else if (json_is_array(at)) {
    json_array_foreach(at, i, value) {
      if ((*left)-- == 0) {
        if (below(6) == 0) json_array_remove(at, i);
        else if (below(3) == 0) json_array_append_new(at, json_deep_copy(value));
        else json_array_set_new(at, i, newValue(value));
        *left = UINT32_MAX;
        return;
      }
      changeOne(value, left);
      if (*left == UINT32_MAX) return;
    }
  }
}

/* ---------------------------------------------------------------- chunks */

static uint32_t wordAt(const uint8_t *p) {
  return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}
static void putWord(uint8_t *p, uint32_t x) {
  for (int i = 0; i < 4; ++i) p[i] = (uint8_t)(x >> 8 * i);
}

/* Writes a binary file of both chunks; 0 when it does not fit. */
static size_t assemble(uint8_t *out, size_t most, const char *text, const uint8_t *bin, size_t binSize) {
  size_t length = strlen(text), padded = (length + 3) & ~(size_t)3, binPadded = (binSize + 3) & ~(size_t)3;
  size_t total = 20 + padded + (binSize ? 8 + binPadded : 0);
  if (total > most) return 0;
  uint8_t *kept = malloc(binPadded + 4);
  memset(kept, 0, binPadded + 4);
  if (binSize) memcpy(kept, bin, binSize);
  memcpy(out, "glTF", 4);
  putWord(out + 4, 2), putWord(out + 8, (uint32_t)total);
  putWord(out + 12, (uint32_t)padded), memcpy(out + 16, "JSON", 4);
  memset(out + 20, ' ', padded);
  memcpy(out + 20, text, length);
  if (binSize) {
    putWord(out + 20 + padded, (uint32_t)binPadded), memcpy(out + 24 + padded, "BIN\0", 4);
    memcpy(out + 28 + padded, kept, binPadded);
  }
  free(kept);
  return total;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t most, unsigned int seed) {
  s_seed = seed;
  bool binary = count >= 20 && memcmp(bytes, "glTF", 4) == 0;
  size_t length = binary ? wordAt(bytes + 12) : count, start = binary ? 20 : 0;
  if (below(10) == 0 || start + length > count) return LLVMFuzzerMutate(bytes, count, most);
  json_t *root = json_loadb((const char *)bytes + start, length, JSON_ALLOW_NUL, NULL);
  size_t binStart = start + length + 8, binSize = binary && binStart < count ? count - binStart : 0, made = 0;
  if (!root) return LLVMFuzzerMutate(bytes, count, most);
  uint8_t *bin = malloc(binSize + 64);
  if (binSize) memcpy(bin, bytes + binStart, binSize);
  if (binSize && below(4) == 0) binSize = LLVMFuzzerMutate(bin, binSize, binSize + 32);
  else
    for (uint32_t n = 1 + below(3); n > 0; --n) {
      uint32_t left = below(countBelow(root));
      changeOne(root, &left);
    }
  char *text = json_dumps(root, JSON_COMPACT);
  if (text && binary) made = assemble(bytes, most, text, bin, binSize);
  else if (text && strlen(text) <= most) memcpy(bytes, text, made = strlen(text));
  free(text);
  free(bin);
  json_decref(root);
  return made ? made : LLVMFuzzerMutate(bytes, count, most);
}
