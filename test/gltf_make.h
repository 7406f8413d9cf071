/* gltf_make.h: small glTF files made in memory, for tests: bytes collected piece by piece, put into the JSON as a data
 * URI or into a .glb. JSON is written with ' for ", and @ stands for the buffer. */
#ifndef PN_TEST_GLTF_MAKE_H
#define PN_TEST_GLTF_MAKE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Bytes {
  uint8_t data[4096];
  size_t count;
} Bytes;

/* Appends, and answers where it begins. */
static size_t addBytes(Bytes *bytes, const void *data, size_t count) {
  size_t start = bytes->count;
  memcpy(bytes->data + start, data, count);
  bytes->count += count;
  return start;
}

#define ADD(bytes, type, ...) addBytes(bytes, (type[]){__VA_ARGS__}, sizeof((type[]){__VA_ARGS__}))

static void encodeBase64(const Bytes *bytes, char *out) {
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < bytes->count; i += 3) {
    uint32_t b = (uint32_t)bytes->data[i] << 16;
    if (i + 1 < bytes->count) b |= (uint32_t)bytes->data[i + 1] << 8;
    if (i + 2 < bytes->count) b |= bytes->data[i + 2];
    *out++ = alphabet[b >> 18];
    *out++ = alphabet[b >> 12 & 63];
    *out++ = i + 1 < bytes->count ? alphabet[b >> 6 & 63] : '=';
    *out++ = i + 2 < bytes->count ? alphabet[b & 63] : '=';
  }
  *out = 0;
}

/* The text with ' as " and @ as {"byteLength": n, "uri": "data:..."}. The caller frees it. */
static inline char *makeText(const char *json, const Bytes *bytes) {
  char *text = malloc(strlen(json) + 3 * sizeof(bytes->data)), *out = text;
  for (; *json != 0; ++json) {
    if (*json == '@') {
      out += sprintf(out, "{\"byteLength\": %zu, \"uri\": \"data:application/octet-stream;base64,", bytes->count);
      encodeBase64(bytes, out);
      out += strlen(out);
      out += sprintf(out, "\"}");
    } else {
      *out++ = *json == '\'' ? '"' : *json;
    }
  }
  *out = 0;
  return text;
}

/* A .glb: ' as ", @ as {"byteLength": n}. The caller frees it. */
static inline uint8_t *makeGlb(const char *json, const Bytes *bytes, size_t *outSize) {
  char *text = malloc(strlen(json) + 256), *out = text;
  for (; *json != 0; ++json)
    if (*json == '@') out += sprintf(out, "{\"byteLength\": %zu}", bytes->count);
    else *out++ = *json == '\'' ? '"' : *json;
  while ((out - text) % 4 != 0) *out++ = ' ';
  uint32_t jsonSize = (uint32_t)(out - text), binSize = ((uint32_t)bytes->count + 3) & ~3u;
  uint32_t words[] = {0x46546C67, 2, 12 + 8 + jsonSize + 8 + binSize, jsonSize, 0x4E4F534A};
  uint32_t more[] = {binSize, 0x004E4942};
  uint8_t *glb = calloc(words[2], 1);
  memcpy(glb, words, sizeof(words));
  memcpy(glb + 20, text, jsonSize);
  memcpy(glb + 20 + jsonSize, more, sizeof(more));
  memcpy(glb + 28 + jsonSize, bytes->data, bytes->count);
  *outSize = words[2];
  free(text);
  return glb;
}

/* ---------------------------------------------------------------- one document with something of everything */

/* A square of two triangles on two joints with two targets (the second sparse), moved by a clip with all four paths,
 * and a second node with the same mesh. Numbers of views are those of this list. */
static inline void fillEverything(Bytes *b) {
  b->count = 0;
  ADD(b, float, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0);                 /* 0: positions, 48 bytes at 0 */
  ADD(b, uint16_t, 0, 1, 2, 0, 2, 3);                                /* 1: indices, 12 at 48 */
  ADD(b, uint8_t, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0);   /* 2: joints, 16 at 60 */
  ADD(b, float, 1, 0, 0, 0, .5f, .5f, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0); /* 3: weights, 64 at 76 */
  ADD(b, float, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1);                 /* 4: deltas, 48 at 140 */
  for (int i = 0; i < 2; ++i) ADD(b, float, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1); /* 5: 128 at 188 */
  ADD(b, float, 0, 1, 2);                                                                    /* 6: times, 12 at 316 */
  ADD(b, float, 0, 0, 0, 1, 0, 0, 1, 2, 0);                            /* 7: translations, 36 at 328 */
  ADD(b, float, 0, 0, 0, 1, 0, 0, .70710678f, .70710678f, 0, 0, 1, 0); /* 8: rotations, 48 at 364 */
  ADD(b, float, 0, 0, 1, 0, 0, 1);                                     /* 9: weights of targets, 24 at 412 */
  ADD(b, float, 1, 1, 1, 2, 2, 2, 1, 1, 1);                            /* 10: scales, 36 at 436 */
  ADD(b, uint8_t, 1, 3, 0, 0);                                         /* 11: sparse indices, 2 at 472 */
  ADD(b, float, 1, 0, 0, 0, 2, 0);                                     /* 12: sparse values, 24 at 476 */
}

static const char s_everything[] =
    "{'asset': {'version': '2.0'}, 'scene': 0, 'scenes': [{'name': 'all', 'nodes': [0, 2]}, {'nodes': [0]}],\n"
    "'nodes': [{'name': 'root', 'children': [1, 3]}, {'name': 'tip', 'translation': [0, 1, 0]},\n"
    "  {'name': 'sheet', 'mesh': 0, 'skin': 0, 'weights': [0.25, 0.5]}, {'name': 'plain', 'mesh': 0}],\n"
    "'skins': [{'joints': [0, 1], 'inverseBindMatrices': 5}],\n"
    "'meshes': [{'name': 'square', 'weights': [0, 1], 'extras': {'targetNames': ['up', 'aside']}, 'primitives': [{\n"
    "  'attributes': {'POSITION': 0, 'JOINTS_0': 2, 'WEIGHTS_0': 3}, 'indices': 1, 'targets': [{'POSITION': 4}, "
    "{'POSITION': 11}]\n"
    "}]}],\n"
    "'animations': [{'name': 'wave', 'channels': [\n"
    "  {'sampler': 0, 'target': {'node': 1, 'path': 'translation'}}, {'sampler': 1, 'target': {'node': 1, 'path': "
    "'rotation'}},\n"
    "  {'sampler': 2, 'target': {'node': 2, 'path': 'weights'}}, {'sampler': 3, 'target': {'node': 1, 'path': "
    "'scale'}}],\n"
    " 'samplers': [{'input': 6, 'output': 7}, {'input': 6, 'output': 8, 'interpolation': 'LINEAR'},\n"
    "  {'input': 6, 'output': 9, 'interpolation': 'STEP'}, {'input': 6, 'output': 10}]}],\n"
    "'buffers': [@],\n"
    "'bufferViews': [{'buffer': 0, 'byteLength': 48}, {'buffer': 0, 'byteOffset': 48, 'byteLength': 12},\n"
    "  {'buffer': 0, 'byteOffset': 60, 'byteLength': 16}, {'buffer': 0, 'byteOffset': 76, 'byteLength': 64},\n"
    "  {'buffer': 0, 'byteOffset': 140, 'byteLength': 48}, {'buffer': 0, 'byteOffset': 188, 'byteLength': 128},\n"
    "  {'buffer': 0, 'byteOffset': 316, 'byteLength': 12}, {'buffer': 0, 'byteOffset': 328, 'byteLength': 36},\n"
    "  {'buffer': 0, 'byteOffset': 364, 'byteLength': 48}, {'buffer': 0, 'byteOffset': 412, 'byteLength': 24},\n"
    "  {'buffer': 0, 'byteOffset': 436, 'byteLength': 36}, {'buffer': 0, 'byteOffset': 472, 'byteLength': 2},\n"
    "  {'buffer': 0, 'byteOffset': 476, 'byteLength': 24}],\n"
    "'accessors': [{'bufferView': 0, 'componentType': 5126, 'count': 4, 'type': 'VEC3'},\n"
    "  {'bufferView': 1, 'componentType': 5123, 'count': 6, 'type': 'SCALAR'},\n"
    "  {'bufferView': 2, 'componentType': 5121, 'count': 4, 'type': 'VEC4'},\n"
    "  {'bufferView': 3, 'componentType': 5126, 'count': 4, 'type': 'VEC4'},\n"
    "  {'bufferView': 4, 'componentType': 5126, 'count': 4, 'type': 'VEC3'},\n"
    "  {'bufferView': 5, 'componentType': 5126, 'count': 2, 'type': 'MAT4'},\n"
    "  {'bufferView': 6, 'componentType': 5126, 'count': 3, 'type': 'SCALAR'},\n"
    "  {'bufferView': 7, 'componentType': 5126, 'count': 3, 'type': 'VEC3'},\n"
    "  {'bufferView': 8, 'componentType': 5126, 'count': 3, 'type': 'VEC4'},\n"
    "  {'bufferView': 9, 'componentType': 5126, 'count': 6, 'type': 'SCALAR'},\n"
    "  {'bufferView': 10, 'componentType': 5126, 'count': 3, 'type': 'VEC3'},\n"
    "  {'componentType': 5126, 'count': 4, 'type': 'VEC3', 'sparse': {'count': 2,\n"
    "    'indices': {'bufferView': 11, 'componentType': 5121}, 'values': {'bufferView': 12}}}]}\n";

#endif
