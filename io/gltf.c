/* gltf.c: reading a glTF 2.0 file: the container, what it needs, and the order of the work.
 *
 *   .glb   12 bytes: "glTF", version 2, length; then chunks: 4 bytes length, 4 bytes kind, data.
 *          The first chunk is JSON, the second, when there is one, the bytes of buffer 0.
 *   .gltf  the JSON alone.
 *
 * The reader owns everything it takes until the end; then what is kept goes to the file, and the rest is freed, the same
 * way for success and failure. */
#include "gltf.h"

#include <string.h>

#include "assimp.h"

#include "reader.h"
#include "float_mode.h"

/* What pn_gltfKeep took, and the file itself, freed together. */
typedef struct pnGltfFile {
  pnAnimFile file;
  pnGltfBlocks keep;
} pnGltfFile;

/* ---------------------------------------------------------------- the container */

/* Finds the chunks of a .glb. */
static pnResult readContainer(pnGltf *g, const uint8_t *bytes, size_t count, pnGltfBytes *outJson) {
  if (count < 20) return pnFail(PN_ERROR_FORMAT, "%s: %zu byte%s cannot be a .glb", g->name, count, pn_ioPlural(count));
  uint32_t version = pn_getU32(bytes + 4, false), length = pn_getU32(bytes + 8, false);
  if (version != 2) return pnFail(PN_ERROR_UNSUPPORTED, "%s: byte 4: glTF version %u, expected 2", g->name, version);
  if (length > count || length < 20) {
    return pnFail(PN_ERROR_FORMAT, "%s: byte 8: the length is given as %u, but the file has %zu bytes", g->name, length,
                  count);
  }
  for (size_t at = 12, number = 0; at + 8 <= length; ++number) {
    size_t size = pn_getU32(bytes + at, false);
    uint32_t kind = pn_getU32(bytes + at + 4, false);
    if (size > length - at - 8) {
      return pnFail(PN_ERROR_FORMAT, "%s: byte %zu: a chunk of %zu bytes, but only %zu are left", g->name, at, size,
                    (size_t)length - at - 8);
    }
    /* "JSON" and "BIN\0"; others are for extensions. */
    if (number == 0 && kind != 0x4E4F534A) return pnFail(PN_ERROR_FORMAT, "%s: byte 16: expected JSON", g->name);
    if (number == 0) *outJson = (pnGltfBytes){bytes + at + 8, size};
    if (kind == 0x004E4942 && g->chunk.data == NULL) g->chunk = (pnGltfBytes){bytes + at + 8, size};
    at += 8 + size;
  }
  return PN_OK;
}

static pnResult readDocument(pnGltf *g, const uint8_t *bytes, size_t count) {
  pnGltfBytes json = {bytes, count};
  if (count == 0) return pnFail(PN_ERROR_FORMAT, "%s: the file is empty; expected glTF 2.0", g->name);
  if (count >= 4 && memcmp(bytes, "glTF", 4) == 0) {
    pnResult result = readContainer(g, bytes, count, &json);
    if (result != PN_OK) return result;
  } else if (count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
    json = (pnGltfBytes){bytes + 3, count - 3}; /* a byte order mark some editors leave */
  }
  pnResult result = pn_jsonParse((const char *)json.data, json.count, g->name, &g->document);
  if (result != PN_OK) return result;
  g->root = (pnJson){.value = g->document, .key = g->name};
  if (!json_is_object(g->document)) return pn_jsonFail(&g->root, PN_ERROR_FORMAT, "expected a JSON object");
  return PN_OK;
}

/* ---------------------------------------------------------------- versions and extensions */

/* Version 2.x is read; a file may say that it needs a later one than 2.0. */
static pnResult checkVersion(const pnGltf *g) {
  pnJson asset = pn_jsonMember(&g->root, "asset");
  const char *version = pn_jsonString(&asset, "version", "");
  const char *least = pn_jsonString(&asset, "minVersion", "2.0");
  if (asset.value == NULL || version[0] == 0)
    return pn_jsonFail(&g->root, PN_ERROR_FORMAT, "asset.version is missing: this is no glTF 2.0");
  if (strncmp(version, "2.", 2) != 0)
    return pn_jsonFail(&asset, PN_ERROR_UNSUPPORTED, "version %.20s, expected 2.0", version);
  if (strcmp(least, "2.0") != 0)
    return pn_jsonFail(&asset, PN_ERROR_UNSUPPORTED, "it wants a reader of at least %.20s; 2.0 is what is read", least);
  return PN_OK;
}

/* Extensions that are read, and those that say nothing about where triangles are: looks, light, sound, words. */
static bool isKnownExtension(const char *name) {
  static const char *const whole[] = {"KHR_mesh_quantization", "KHR_lights_punctual",    "KHR_xmp",
                                      "KHR_xmp_json_ld",       "EXT_lights_image_based", "EXT_lights_ies",
                                      "KHR_audio_emitter",     "FB_ngon_encoding"};
  static const char *const starts[] = {"KHR_materials_",   "KHR_texture_",   "EXT_texture_", "MSFT_texture_",
                                       "ADOBE_materials_", "EXT_materials_", "MSFT_packing_"};
  if (strcmp(name, "EXT_meshopt_compression") == 0) return pn_gltfReadsMeshopt();
  if (strcmp(name, "KHR_draco_mesh_compression") == 0) return pn_gltfReadsDraco();
  for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); ++i)
    if (strcmp(name, whole[i]) == 0) return true;
  for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); ++i)
    if (strncmp(name, starts[i], strlen(starts[i])) == 0) return true;
  return false;
}

static pnResult checkExtensions(const pnGltf *g) {
  pnJson used, required;
  uint32_t usedCount = 0, requiredCount = 0;
  pnResult result = pn_jsonArray(&g->root, "extensionsUsed", &used, &usedCount);
  if (result == PN_OK) result = pn_jsonArray(&g->root, "extensionsRequired", &required, &requiredCount);
  for (uint32_t i = 0; i < requiredCount && result == PN_OK; ++i) {
    pnJson element = pn_jsonElement(&required, i);
    const char *name = json_string_value(element.value);
    if (name != NULL && strcmp(name, "EXT_meshopt_compression") == 0 && !pn_gltfReadsMeshopt()) {
      result = pn_jsonFail(&element, PN_ERROR_UNSUPPORTED,
                           "the file is packed by EXT_meshopt_compression, and this build of pinch cannot unpack it: "
                           "build it with libmeshoptimizer-dev, or export without packing");
    } else if (name != NULL && strcmp(name, "KHR_draco_mesh_compression") == 0 && !pn_gltfReadsDraco()) {
      result =
          pn_jsonFail(&element, PN_ERROR_UNSUPPORTED,
                      "the file is packed by KHR_draco_mesh_compression, and this build of pinch cannot unpack it: "
                      "build it with libdraco-dev, or export without it (in Blender: Export > glTF 2.0 > Data > "
                      "Compression off)");
    } else if (name == NULL || !isKnownExtension(name)) {
      result = pn_jsonFail(&element, PN_ERROR_UNSUPPORTED,
                           "the file needs the extension '%.80s', which pinch does not read; export without it",
                           name != NULL ? name : "?");
    }
  }
  for (uint32_t i = 0; i < usedCount && result == PN_OK; ++i) {
    const char *name = json_string_value(json_array_get(used.value, i));
    if (name != NULL && !isKnownExtension(name))
      pnLog(PN_LOG_WARNING, "%s: the extension '%.80s' is not read; what it adds is missing", g->name, name);
  }
  return result;
}

/* ---------------------------------------------------------------- the whole */

/* "models/walk.glb" -> "walk" */
static pnResult nameFile(pnGltf *g) {
  const char *slash = strrchr(g->name, '/'), *start = slash != NULL ? slash + 1 : g->name;
  const char *dot = strrchr(start, '.');
  size_t length = dot != NULL && dot > start ? (size_t)(dot - start) : strlen(start);
  char *name = pn_gltfKeep(g, length + 1, 1);
  if (name == NULL) return pn_gltfNoMemory(g);
  memcpy(name, start, length);
  g->file->name = name;
  return PN_OK;
}

/* "models/walk.glb" -> "models/" */
static pnResult findFolder(pnGltf *g, const char *path) {
  const char *slash = strrchr(path, '/');
  size_t length = slash != NULL ? (size_t)(slash - path) + 1 : 0;
  char *folder = pn_gltfScratch(g, length + 1, 1);
  if (folder == NULL) return pn_gltfNoMemory(g);
  memcpy(folder, path, length);
  g->folder = folder;
  return PN_OK;
}

static pnResult readAll(pnGltf *g, const uint8_t *bytes, size_t count, const char *path) {
  pnResult result = path != NULL ? findFolder(g, path) : PN_OK;
  if (result == PN_OK) result = nameFile(g);
  if (result == PN_OK) result = readDocument(g, bytes, count);
  if (result == PN_OK) result = checkVersion(g);
  if (result == PN_OK) result = checkExtensions(g);
  if (result == PN_OK) result = pn_gltfLoadBuffers(g);
  if (result == PN_OK) result = pn_gltfLoadNodes(g);
  if (result == PN_OK) result = pn_gltfLoadSkins(g);
  if (result == PN_OK) result = pn_gltfLoadClips(g);
  if (result == PN_OK) result = pn_gltfPlaceBodies(g);
  if (result == PN_OK) result = pn_gltfLoadScenes(g);
  return result;
}

pnResult pnParseAnimFile(const void *bytes, size_t byteCount, const char *name, pnAnimFile **outFile) {
  PN_IO_FLOAT;
  *outFile = NULL;
  pnGltf g = {.name = name != NULL ? name : "glTF in memory"};
  pn_gltfAddInput(&g, byteCount);
  pnGltfFile *file = pnAlloc(sizeof(pnGltfFile));
  if (file == NULL) return pnFail(PN_ERROR_MEMORY, "%s: out of memory", g.name);
  memset(file, 0, sizeof(*file));
  g.file = &file->file;

  pnResult result = readAll(&g, bytes, byteCount, name);
  json_decref(g.document);
  pn_gltfFreeBlocks(&g.scratch);
  file->keep = g.keep;
  file->file.memory = file;
  if (result == PN_OK) *outFile = &file->file;
  else pnFreeAnimFile(&file->file);
  return result;
}

/* A container, or JSON behind a byte order mark and blanks. */
static bool looksLikeGltf(const uint8_t *bytes, size_t count) {
  if (count >= 4 && memcmp(bytes, "glTF", 4) == 0) return true;
  size_t at = count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
  while (at < count && memchr(" \t\r\n", bytes[at], 4) != NULL) ++at;
  return at < count && bytes[at] == '{';
}

bool pnCanLoadAnimFile(const char *path) {
  char extension[8];
  pn_ioExtension(path, extension);
  return strcmp(extension, "gltf") == 0 || strcmp(extension, "glb") == 0 || strcmp(extension, "vrm") == 0 ||
         pn_assimpKnows(path);
}

pnResult pnLoadAnimFile(const char *path, pnAnimFile **outFile) {
  PN_IO_FLOAT;
  *outFile = NULL;
  uint8_t *bytes = NULL;
  size_t count = 0;
  pnResult result = pn_ioReadFile(path, &bytes, &count);
  if (result != PN_OK) return result;
  bool other = !looksLikeGltf(bytes, count) && pn_assimpKnows(path);
  result = other ? pn_assimpLoad(path, outFile) : pnParseAnimFile(bytes, count, path, outFile);
  pn_ioFree(bytes);
  return result;
}

void pnFreeAnimFile(pnAnimFile *file) {
  if (file == NULL || file->memory == NULL) return;
  pnGltfFile *whole = file->memory;
  pnGltfBlocks keep = whole->keep;
  pnFree(whole, sizeof(*whole));
  pn_gltfFreeBlocks(&keep);
}
