/* gltf_draco.c: primitives packed by KHR_draco_mesh_compression, where pinch was built with the library Draco.
 *
 * The extension stands in the primitive: a view with the packed bytes, and for each packed attribute its id in there. Its accessors
 * say how many numbers of which type come out, and need no bytes of their own. A block is unpacked the first time its
 * primitive is looked at, and what comes out is kept by accessor: whoever reads the accessor then finds bytes (gltf_accessor.c), and nobody
 * else knows of the packing. Targets are never packed; they are in the order of the unpacked vertices. */
#include "gltf.h"

#include <string.h>

#include "draco.h"

/* What vertices are made of here; other attributes are not needed. */
static const struct {
  const char *name;
  uint32_t width;
} s_attributes[] = {{"POSITION", 3}, {"JOINTS_0", 4},  {"WEIGHTS_0", 4}, {"JOINTS_1", 4}, {"WEIGHTS_1", 4},
                    {"JOINTS_2", 4}, {"WEIGHTS_2", 4}, {"JOINTS_3", 4},  {"WEIGHTS_3", 4}};
enum { ATTRIBUTES = sizeof s_attributes / sizeof s_attributes[0] };

/* The corners of a block are no attribute: an id that none has. */
#define CORNERS UINT32_MAX

/* A packed primitive: its view, and accessors with the ids of what fills them. */
typedef struct Packed {
  uint32_t view;
  uint64_t byteCount;
  pnGltfAccessor corners, arrays[ATTRIBUTES];
  uint32_t ids[ATTRIBUTES];
  uint32_t arrayCount, vertexCount;
} Packed;

bool pn_gltfReadsDraco(void) {
#ifdef PN_HAVE_DRACO
  return true;
#else
  return false;
#endif
}

#ifdef PN_HAVE_DRACO
/* The attributes that are packed, and their accessors; all of them have as many elements as there are vertices. */
static pnResult readAttributes(pnGltf *g, const pnJson *primitive, const pnJson *extension, Packed *out) {
  pnJson attributes = pn_jsonMember(primitive, "attributes"), position = pn_jsonMember(&attributes, "POSITION");
  pnJson ids;
  pnGltfAccessor accessor;
  pnResult result = pn_jsonObject(extension, "attributes", &ids);
  if (result == PN_OK) result = pn_gltfDescribe(g, &position, 3, ~0u, &accessor);
  out->vertexCount = accessor.count;
  for (uint32_t i = 0; i < ATTRIBUTES && result == PN_OK; ++i) {
    uint64_t id = CORNERS;
    result = pn_jsonNumber(&ids, s_attributes[i].name, CORNERS - 1, &id);
    if (result != PN_OK || id == CORNERS) continue;
    pnJson at = pn_jsonMember(&attributes, s_attributes[i].name);
    if (at.value == NULL)
      return pn_jsonFail(&ids, PN_ERROR_FORMAT, "%s is no attribute of the primitive", s_attributes[i].name);
    pnGltfAccessor *array = &out->arrays[out->arrayCount];
    result = pn_gltfDescribe(g, &at, s_attributes[i].width, ~0u, array);
    if (result == PN_OK && array->count != out->vertexCount) {
      result = pn_jsonFail(&at, PN_ERROR_COUNT, "accessor %u has %u elements for %u vertices", array->index,
                           array->count, out->vertexCount);
    }
    out->ids[out->arrayCount++] = (uint32_t)id;
  }
  return result;
}

static pnResult readPacked(pnGltf *g, const pnJson *primitive, const pnJson *extension, Packed *out) {
  uint64_t mode = 4;
  pnJson indices = pn_jsonMember(primitive, "indices");
  memset(out, 0, sizeof *out);
  out->view = UINT32_MAX;
  pnResult result = pn_jsonNumber(primitive, "mode", 6, &mode);
  if (result == PN_OK && mode != 4)
    result = pn_jsonFail(extension, PN_ERROR_UNSUPPORTED, "packed strips are not read; export triangles");
  if (result == PN_OK && indices.value == NULL)
    result = pn_jsonFail(primitive, PN_ERROR_FORMAT, "is packed by KHR_draco_mesh_compression and has no indices");
  if (result == PN_OK) result = pn_jsonIndex(extension, "bufferView", g->viewCount, &out->view);
  if (result == PN_OK && out->view == UINT32_MAX)
    result = pn_jsonFail(extension, PN_ERROR_FORMAT, "names no bufferView");
  uint32_t whole = PN_GLTF_IS_UBYTE | PN_GLTF_IS_USHORT | PN_GLTF_IS_UINT;
  if (result == PN_OK) result = pn_gltfDescribe(g, &indices, 1, whole, &out->corners);
  if (result == PN_OK && out->corners.count % 3 != 0)
    result = pn_jsonFail(primitive, PN_ERROR_FORMAT, "%u corners do not make triangles of three", out->corners.count);
  if (result != PN_OK) return result;
  pnJson view = pn_jsonElement(&g->views, out->view);
  out->byteCount = PN_JSON_REQUIRED;
  result = pn_jsonNumber(&view, "byteLength", UINT64_MAX - 1, &out->byteCount);
  return result == PN_OK ? readAttributes(g, primitive, extension, out) : result;
}

/* Does the accessor wait for this? Sets *outNew. One that is filled from elsewhere already is an error: it cannot be both. */
static pnResult isNew(pnGltf *g, const pnJson *extension, const Packed *p, uint32_t accessor, uint32_t id,
                      bool *outNew) {
  const pnGltfFilled *filled = &g->filled[accessor];
  *outNew = *outNew || filled->data == NULL;
  if (filled->data == NULL || (filled->view == p->view && filled->id == id)) return PN_OK;
  return pn_jsonFail(extension, PN_ERROR_FORMAT, "accessor %u is packed in bufferView %u and in %u", accessor,
                     filled->view, p->view);
}

/* Corners come out as 32 bits and are kept as the accessor has them; they are below 2^8 or 2^16 then, or it is an error. */
static pnResult narrowCorners(const pnJson *extension, const pnGltfAccessor *accessor, uint32_t *corners) {
  uint32_t most = accessor->component == PN_GLTF_UBYTE    ? UINT8_MAX
                  : accessor->component == PN_GLTF_USHORT ? UINT16_MAX
                                                          : UINT32_MAX;
  for (uint32_t i = 0; i < accessor->count; ++i) {
    uint32_t corner = corners[i];
    if (corner > most) {
      return pn_jsonFail(extension, PN_ERROR_INDEX, "vertex %u does not fit the type of accessor %u", corner,
                         accessor->index);
    }
    /* in place: element i ends before or where i + 1 of the wide ones begins */
    if (most == UINT8_MAX) ((uint8_t *)corners)[i] = (uint8_t)corner;
    else if (most == UINT16_MAX) ((uint16_t *)corners)[i] = (uint16_t)corner;
  }
  return PN_OK;
}

static pnResult unpack(pnGltf *g, const pnJson *extension, const Packed *p) {
  pnDracoArray arrays[ATTRIBUTES];
  pnDracoBlock block = {.count = (size_t)p->byteCount,
                        .vertexCount = p->vertexCount,
                        .triangleCount = p->corners.count / 3,
                        .arrays = arrays,
                        .arrayCount = p->arrayCount};
  pnResult result = pn_gltfView(g, extension, p->view, 0, p->byteCount, &block.bytes);
  if (result != PN_OK) return result;
  /* What comes out counts against the reader's limit, and what is left of it limits what Draco takes meanwhile. */
  block.corners = pn_gltfScratch(g, p->corners.count, sizeof(uint32_t));
  if (block.corners == NULL) return pn_gltfNoMemory(g);
  for (uint32_t i = 0; i < p->arrayCount; ++i) {
    const pnGltfAccessor *accessor = &p->arrays[i];
    arrays[i] = (pnDracoArray){.id = p->ids[i], .width = accessor->width, .component = accessor->component};
    arrays[i].out = pn_gltfScratch(g, accessor->count, accessor->stride);
    if (arrays[i].out == NULL) return pn_gltfNoMemory(g);
  }
  block.limit = g->budget.limit - g->budget.used;
  if (!pn_dracoUnpack(&block)) return pn_jsonFail(extension, PN_ERROR_FORMAT, "bufferView %u: %s", p->view, block.why);
  result = narrowCorners(extension, &p->corners, block.corners);
  g->filled[p->corners.index] = (pnGltfFilled){(const uint8_t *)block.corners, p->view, CORNERS};
  for (uint32_t i = 0; i < p->arrayCount; ++i)
    g->filled[p->arrays[i].index] = (pnGltfFilled){arrays[i].out, p->view, p->ids[i]};
  return result;
}
#endif

pnResult pn_gltfUnpackPrimitive(pnGltf *g, const pnJson *primitive) {
  pnJson extensions = pn_jsonMember(primitive, "extensions");
  pnJson extension = pn_jsonMember(&extensions, "KHR_draco_mesh_compression");
  pnJson attributes = pn_jsonMember(primitive, "attributes"), position = pn_jsonMember(&attributes, "POSITION");
  if (extension.value == NULL || position.value == NULL || !pn_gltfReadsDraco()) return PN_OK;
#ifdef PN_HAVE_DRACO
  if (g->filled == NULL) g->filled = pn_gltfScratch(g, g->accessorCount, sizeof(pnGltfFilled));
  if (g->filled == NULL) return pn_gltfNoMemory(g);
  Packed packed;
  bool some = false;
  pnResult result = readPacked(g, primitive, &extension, &packed);
  if (result == PN_OK) result = isNew(g, &extension, &packed, packed.corners.index, CORNERS, &some);
  for (uint32_t i = 0; i < packed.arrayCount && result == PN_OK; ++i)
    result = isNew(g, &extension, &packed, packed.arrays[i].index, packed.ids[i], &some);
  return result == PN_OK && some ? unpack(g, &extension, &packed) : result;
#else
  return PN_OK;
#endif
}
