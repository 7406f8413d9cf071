/* gltf_meshopt.c: views packed by EXT_meshopt_compression, unpacked by the library meshoptimizer where pinch was built with it.
 *
 * The extension stands in the view: where the packed bytes are, how many elements of which size come out, and which filter is to be
 * undone after that. A view is unpacked once, when it is first looked into; its size counts against the reader's limit
 * like everything else, so a few bytes cannot ask for much. */
#include "gltf.h"

#include <string.h>

#ifdef PN_HAVE_MESHOPT
#include <meshoptimizer.h>
#endif

typedef struct Packed {
  uint32_t buffer;
  uint64_t offset, length, stride, count;
  const char *mode, *filter;
} Packed;

static pnResult readPacked(pnGltf *g, const pnJson *extension, Packed *out) {
  out->buffer = UINT32_MAX;
  out->length = out->stride = out->count = PN_JSON_REQUIRED;
  out->offset = 0;
  pnResult result = pn_jsonIndex(extension, "buffer", g->bufferCount, &out->buffer);
  if (result == PN_OK) result = pn_jsonNumber(extension, "byteOffset", UINT64_MAX - 1, &out->offset);
  if (result == PN_OK) result = pn_jsonNumber(extension, "byteLength", UINT64_MAX - 1, &out->length);
  if (result == PN_OK) result = pn_jsonNumber(extension, "byteStride", 256, &out->stride);
  if (result == PN_OK) result = pn_jsonNumber(extension, "count", UINT32_MAX, &out->count);
  if (result != PN_OK) return result;
  out->mode = pn_jsonString(extension, "mode", "");
  out->filter = pn_jsonString(extension, "filter", "NONE");
  if (out->buffer == UINT32_MAX) return pn_jsonFail(extension, PN_ERROR_FORMAT, "names no buffer");
  if (out->stride == 0) return pn_jsonFail(extension, PN_ERROR_FORMAT, "byteStride is 0");
  const pnGltfBytes *bytes = &g->buffers[out->buffer];
  if (out->offset > bytes->count || out->length > bytes->count - out->offset) {
    return pn_jsonFail(extension, PN_ERROR_FORMAT, "bytes %llu to %llu of buffer %u, which has %zu",
                       (unsigned long long)out->offset, (unsigned long long)(out->offset + out->length), out->buffer,
                       bytes->count);
  }
  return PN_OK;
}

#ifdef PN_HAVE_MESHOPT
/* What the decoders ask of their callers, which a file need not keep to. */
static bool isAllowed(const Packed *p) {
  if (strcmp(p->mode, "ATTRIBUTES") == 0) return p->stride % 4 == 0;
  bool sizes = p->stride == 2 || p->stride == 4;
  return strcmp(p->mode, "TRIANGLES") == 0 ? sizes && p->count % 3 == 0 : strcmp(p->mode, "INDICES") == 0 && sizes;
}

static int decode(const Packed *p, const uint8_t *from, uint8_t *to) {
  size_t count = (size_t)p->count, stride = (size_t)p->stride, length = (size_t)p->length;
  switch (p->mode[0]) {
    case 'A': return meshopt_decodeVertexBuffer(to, count, stride, from, length);
    case 'T': return meshopt_decodeIndexBuffer(to, count, stride, from, length);
    default: return meshopt_decodeIndexSequence(to, count, stride, from, length);
  }
}

/* Filters have sizes of their own; false for one that is unknown or does not fit. */
static bool unfilter(const Packed *p, uint8_t *bytes) {
  size_t count = (size_t)p->count, stride = (size_t)p->stride;
  if (strcmp(p->filter, "NONE") == 0) return true;
  if (strcmp(p->filter, "OCTAHEDRAL") == 0 && (stride == 4 || stride == 8))
    return meshopt_decodeFilterOct(bytes, count, stride), true;
  if (strcmp(p->filter, "QUATERNION") == 0 && stride == 8) return meshopt_decodeFilterQuat(bytes, count, stride), true;
  if (strcmp(p->filter, "EXPONENTIAL") == 0) return meshopt_decodeFilterExp(bytes, count, stride), true;
  return false;
}

static pnResult unpack(pnGltf *g, const pnJson *extension, const Packed *p, uint8_t *bytes) {
  if (!isAllowed(p)) {
    return pn_jsonFail(extension, PN_ERROR_FORMAT, "%llu elements of %llu bytes cannot be '%.20s'",
                       (unsigned long long)p->count, (unsigned long long)p->stride, p->mode);
  }
  if (decode(p, g->buffers[p->buffer].data + p->offset, bytes) != 0)
    return pn_jsonFail(extension, PN_ERROR_FORMAT, "the packed bytes are damaged");
  if (!unfilter(p, bytes)) {
    return pn_jsonFail(extension, PN_ERROR_UNSUPPORTED, "filter '%.20s' with elements of %llu bytes", p->filter,
                       (unsigned long long)p->stride);
  }
  return PN_OK;
}
#endif

bool pn_gltfReadsMeshopt(void) {
#ifdef PN_HAVE_MESHOPT
  return true;
#else
  return false;
#endif
}

pnResult pn_gltfUnpackView(pnGltf *g, uint32_t view, pnGltfBytes *outBytes) {
  pnJson element = pn_jsonElement(&g->views, view);
  pnJson extensions = pn_jsonMember(&element, "extensions");
  pnJson extension = pn_jsonMember(&extensions, "EXT_meshopt_compression");
  *outBytes = (pnGltfBytes){0};
  if (extension.value == NULL || !pn_gltfReadsMeshopt()) return PN_OK;
  if (g->unpacked == NULL) {
    g->unpacked = pn_gltfScratch(g, g->viewCount, sizeof(pnGltfBytes));
    if (g->unpacked == NULL) return pn_gltfNoMemory(g);
  }
  Packed packed;
  pnResult result = g->unpacked[view].data ? PN_OK : readPacked(g, &extension, &packed);
#ifdef PN_HAVE_MESHOPT
  if (result == PN_OK && g->unpacked[view].data == NULL) {
    size_t count = (size_t)(packed.count * packed.stride);
    uint8_t *bytes = pn_gltfScratch(g, count, 1);
    if (bytes == NULL) return pn_gltfNoMemory(g);
    result = unpack(g, &extension, &packed, bytes);
    if (result == PN_OK) g->unpacked[view] = (pnGltfBytes){bytes, count};
  }
#endif
  *outBytes = g->unpacked[view];
  return result;
}
