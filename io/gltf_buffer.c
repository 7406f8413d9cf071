/* gltf_buffer.c: where the bytes come from. A buffer is the binary chunk of a .glb, a data URI, or a file beside the
 * document; a view is a checked range of a buffer. */
#include <string.h>

#include "base64.h"
#include "gltf.h"
#include "reader.h"

/* ---------------------------------------------------------------- URIs */

static int hexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* Replaces %41 by A, in place; %00 would end the path early and is kept as it is written. */
static void decodePercent(char *text) {
  char *out = text;
  for (const char *in = text; *in != 0; ++in) {
    int high = in[0] == '%' ? hexDigit(in[1]) : -1;
    int low = high >= 0 ? hexDigit(in[2]) : -1;
    if (low >= 0 && (high | low) != 0) {
      *out++ = (char)(high * 16 + low);
      in += 2;
    } else {
      *out++ = *in;
    }
  }
  *out = 0;
}

/* "data:application/octet-stream;base64,AAAA" */
static pnResult loadDataUri(pnGltf *g, const pnJson *at, const char *uri, pnGltfBytes *out) {
  const char *comma = strchr(uri, ',');
  if (comma == NULL || comma - uri < 12 || memcmp(comma - 7, ";base64", 7) != 0)
    return pn_jsonFail(at, PN_ERROR_FORMAT, "expected a data URI with ;base64, and data after the comma");
  size_t length = strlen(comma + 1), count = 0;
  uint8_t *bytes = pn_gltfScratch(g, pn_base64Bound(length), 1);
  if (bytes == NULL) return pn_gltfNoMemory(g);
  if (!pn_base64Decode(comma + 1, length, bytes, &count))
    return pn_jsonFail(at, PN_ERROR_FORMAT, "the base64 data is broken at its character %zu", count);
  *out = (pnGltfBytes){bytes, count};
  return PN_OK;
}

/* Leaves out what changes nothing, "./" and a second slash, in place, so that one file has one path. False when a part is
 * "..": the path leads out of the folder. On some systems a backslash is a slash. */
static bool simplifyPath(char *path) {
  char *out = path;
  for (const char *in = path; *in != 0;) {
    size_t length = strcspn(in, "/\\");
    if (length == 2 && memcmp(in, "..", 2) == 0) return false;
    if (length > 0 && !(length == 1 && in[0] == '.')) {
      memmove(out, in, length);
      out += length;
      if (in[length] != 0) *out++ = in[length];
    }
    in += length + (in[length] != 0);
  }
  *out = 0;
  return true;
}

/* A file beside the document, or in a folder there; the same one again is not read again. */
static pnResult loadFileUri(pnGltf *g, const pnJson *at, const char *uri, pnGltfBytes *out) {
  /* folder + decoded URI */
  size_t folderLength = g->folder != NULL ? strlen(g->folder) : 0, length = strlen(uri);
  char *path = pn_gltfScratch(g, folderLength + length + 1, 1), *name = path + folderLength;
  if (path == NULL) return pn_gltfNoMemory(g);
  if (folderLength > 0) memcpy(path, g->folder, folderLength);
  memcpy(name, uri, length + 1);
  decodePercent(name);

  /* Nothing but a relative path that stays below: a scheme has a colon before the first slash. */
  const char *colon = strchr(uri, ':'), *slash = strchr(uri, '/');
  bool relative = !(colon != NULL && (slash == NULL || colon < slash)) && name[0] != '/' && name[0] != '\\';
  if (!relative || !simplifyPath(name) || name[0] == 0) {
    return pn_jsonFail(at, PN_ERROR_UNSUPPORTED,
                       "'%.80s' is no path below this file; only files beside this one are read", uri);
  }
  if (g->folder == NULL)
    return pn_jsonFail(at, PN_ERROR_FILE, "the file '%.80s' is needed, but this glTF is read from memory alone", uri);
  for (const pnGltfNamed *file = g->files; file != NULL; file = file->next) {
    if (strcmp(file->path, path) == 0) {
      *out = file->bytes;
      return PN_OK;
    }
  }

  /* Read, and move into scratch memory, which then belongs to the reader. */
  uint8_t *bytes = NULL;
  size_t count = 0;
  pnResult result = pn_ioReadFile(path, &bytes, &count);
  if (result == PN_ERROR_MEMORY) return result;
  if (result != PN_OK)
    return pn_jsonFail(at, result, "the buffer's file '%.200s' cannot be read; it must lie beside this file", path);
  pn_gltfAddInput(g, count);
  uint8_t *copy = pn_gltfScratch(g, count, 1);
  pnGltfNamed *file = pn_gltfScratch(g, 1, sizeof(pnGltfNamed));
  if (copy != NULL) memcpy(copy, bytes, count);
  pn_ioFree(bytes);
  if (copy == NULL || file == NULL) return pn_gltfNoMemory(g);
  *out = (pnGltfBytes){copy, count};
  *file = (pnGltfNamed){g->files, path, *out};
  g->files = file;
  return PN_OK;
}

/* ---------------------------------------------------------------- buffers and views */

static pnResult loadBuffer(pnGltf *g, const pnJson *buffer, uint32_t index) {
  uint64_t length = PN_JSON_REQUIRED;
  pnResult result = pn_jsonNumber(buffer, "byteLength", UINT64_MAX - 1, &length);
  if (result != PN_OK) return result;

  /* Without a URI it is the chunk of the .glb, which only the first buffer may be. */
  pnGltfBytes bytes = {0};
  pnJson uri = pn_jsonMember(buffer, "uri"), extensions = pn_jsonMember(buffer, "extensions");
  pnJson packed = pn_jsonMember(&extensions, "EXT_meshopt_compression");
  if (uri.value == NULL && (index != 0 || g->chunk.data == NULL) &&
      json_is_true(json_object_get(packed.value, "fallback"))) {
    /* Stands for what is packed elsewhere: it has no bytes, and nothing that is read needs them. */
    return PN_OK;
  }
  if (uri.value == NULL) {
    if (index != 0 || g->chunk.data == NULL)
      return pn_jsonFail(buffer, PN_ERROR_FORMAT, "has no uri, and this file has no binary chunk for it");
    bytes = g->chunk;
  } else if (!json_is_string(uri.value)) {
    return pn_jsonFail(&uri, PN_ERROR_FORMAT, "expected a string");
  } else if (strncmp(json_string_value(uri.value), "data:", 5) == 0) {
    result = loadDataUri(g, &uri, json_string_value(uri.value), &bytes);
  } else {
    result = loadFileUri(g, &uri, json_string_value(uri.value), &bytes);
  }
  if (result != PN_OK) return result;

  /* Longer is allowed (padding), shorter is not. */
  if (bytes.count < length) {
    return pn_jsonFail(buffer, PN_ERROR_FORMAT, "byteLength is %llu, but there are only %zu bytes",
                       (unsigned long long)length, bytes.count);
  }
  g->buffers[index] = (pnGltfBytes){bytes.data, (size_t)length};
  return PN_OK;
}

pnResult pn_gltfLoadBuffers(pnGltf *g) {
  pnJson buffers;
  pnResult result = pn_jsonArray(&g->root, "buffers", &buffers, &g->bufferCount);
  if (result == PN_OK) result = pn_jsonArray(&g->root, "bufferViews", &g->views, &g->viewCount);
  if (result == PN_OK) result = pn_jsonArray(&g->root, "accessors", &g->accessors, &g->accessorCount);
  if (result != PN_OK) return result;
  g->buffers = pn_gltfScratch(g, g->bufferCount, sizeof(pnGltfBytes));
  g->floats = pn_gltfScratch(g, g->accessorCount, sizeof(const float *));
  if (g->buffers == NULL || g->floats == NULL) return pn_gltfNoMemory(g);

  for (uint32_t i = 0; i < g->bufferCount && result == PN_OK; ++i) {
    pnJson buffer = pn_jsonElement(&buffers, i);
    result = loadBuffer(g, &buffer, i);
  }
  return result;
}

pnResult pn_gltfView(pnGltf *g, const pnJson *at, uint32_t view, uint64_t offset, uint64_t count,
                     const uint8_t **outBytes) {
  pnJson element = pn_jsonElement(&g->views, view);
  uint32_t buffer = UINT32_MAX;
  uint64_t viewOffset = 0, length = PN_JSON_REQUIRED;
  pnGltfBytes unpacked;
  pnResult result = pn_gltfUnpackView(g, view, &unpacked);
  if (result == PN_OK) result = pn_jsonIndex(&element, "buffer", g->bufferCount, &buffer);
  if (result == PN_OK) result = pn_jsonNumber(&element, "byteOffset", UINT64_MAX - 1, &viewOffset);
  if (result == PN_OK) result = pn_jsonNumber(&element, "byteLength", UINT64_MAX - 1, &length);
  if (result != PN_OK) return result;
  if (buffer == UINT32_MAX) return pn_jsonFail(&element, PN_ERROR_FORMAT, "names no buffer");

  /* The view in its buffer, then the range in the view. Numbers are below 2^53, so the sums do not overflow. */
  const pnGltfBytes *bytes = unpacked.data != NULL ? &unpacked : &g->buffers[buffer];
  if (unpacked.data != NULL) viewOffset = 0;
  if (viewOffset + length > bytes->count) {
    return pn_jsonFail(&element, PN_ERROR_FORMAT, "bytes %llu to %llu of buffer %u, which has %zu",
                       (unsigned long long)viewOffset, (unsigned long long)(viewOffset + length), buffer, bytes->count);
  }
  if (offset > length || count > length - offset) {
    return pn_jsonFail(at, PN_ERROR_FORMAT, "needs bytes %llu to %llu of bufferView %u, which has %llu",
                       (unsigned long long)offset, (unsigned long long)(offset + count), view,
                       (unsigned long long)length);
  }
  *outBytes = bytes->data + viewOffset + offset;
  return PN_OK;
}

pnResult pn_gltfStride(pnGltf *g, uint32_t view, uint32_t *outStride) {
  pnJson element = pn_jsonElement(&g->views, view);
  uint64_t stride = 0;
  /* 252 is the most the format allows. */
  pnResult result = pn_jsonNumber(&element, "byteStride", 252, &stride);
  *outStride = (uint32_t)stride;
  return result;
}
