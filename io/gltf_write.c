/* gltf_write.c: an animated file as .glb, for other programs and for the scenes pinch ships.
 *
 * Everything goes out as it is held: nodes with their parts, meshes with sparse targets, skins, clips key by key. One
 * thing needs a word: a body whose still part was baked into its vertices (carrier is not its node) is placed by a new
 * node below its carrier, since its old node would apply that part again. */
#include "gltf_write.h"

#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "float_mode.h"

/* ---------------------------------------------------------------- nodes */

/* The node that places each body: its own, or a new one when its own would move it twice. */
static void assignNodes(pnGltfWriter *w) {
  uint32_t count = w->file->nodeCount;
  for (uint32_t b = 0; b < w->file->bodyCount; ++b) {
    const pnAnimBody *body = &w->file->bodies[b];
    bool baked = body->skin == PN_NONE && body->carrier != body->node;
    w->bodyNode[b] = baked ? count++ : body->node;
  }
}

static json_t *makeNode(pnGltfWriter *w, const pnAnimNode *node) {
  static const float zero[3] = {0, 0, 0}, one[3] = {1, 1, 1}, none[4] = {0, 0, 0, 1};
  json_t *out = json_object();
  if (node->name[0] != 0) pn_gltfSet(w, out, "name", json_string(node->name));
  if (node->hasMatrix) {
    /* By columns, with the row that is always the same. */
    float m[16] = {0};
    for (int i = 0; i < 12; ++i) m[i % 4 * 4 + i / 4] = node->matrix.m[i / 4][i % 4];
    m[15] = 1.0f;
    pn_gltfSet(w, out, "matrix", pn_gltfFloats(w, m, 16));
    return out;
  }
  if (memcmp(node->translation, zero, sizeof(zero)) != 0)
    pn_gltfSet(w, out, "translation", pn_gltfFloats(w, node->translation, 3));
  if (memcmp(node->rotation, none, sizeof(none)) != 0)
    pn_gltfSet(w, out, "rotation", pn_gltfFloats(w, node->rotation, 4));
  if (memcmp(node->scale, one, sizeof(one)) != 0) pn_gltfSet(w, out, "scale", pn_gltfFloats(w, node->scale, 3));
  return out;
}

/* Adds a child to a node that may not have a list of children yet. */
static void addChild(pnGltfWriter *w, json_t *nodes, uint32_t parent, uint32_t child) {
  json_t *node = json_array_get(nodes, parent), *children = json_object_get(node, "children");
  if (children == NULL) {
    children = json_array();
    pn_gltfSet(w, node, "children", children);
  }
  pn_gltfAppend(w, children, json_integer(child));
}

static json_t *makeNodes(pnGltfWriter *w) {
  const pnAnimFile *file = w->file;
  json_t *nodes = json_array();
  for (uint32_t n = 0; n < file->nodeCount; ++n) pn_gltfAppend(w, nodes, makeNode(w, &file->nodes[n]));
  for (uint32_t n = 0; n < file->nodeCount; ++n)
    if (file->nodes[n].parent != PN_NONE) addChild(w, nodes, file->nodes[n].parent, n);
  for (uint32_t b = 0; b < file->bodyCount; ++b) {
    const pnAnimBody *body = &file->bodies[b];
    if (w->bodyNode[b] >= file->nodeCount) {
      pn_gltfAppend(w, nodes, json_pack("{s:s}", "name", body->name));
      if (body->carrier != PN_NONE) addChild(w, nodes, body->carrier, w->bodyNode[b]);
    }
    json_t *node = json_array_get(nodes, w->bodyNode[b]);
    pn_gltfSet(w, node, "mesh", json_integer(w->bodyMesh[b]));
    if (body->skin != PN_NONE) pn_gltfSet(w, node, "skin", json_integer(body->skin));
    if (body->targetCount > 0) pn_gltfSet(w, node, "weights", pn_gltfFloats(w, body->restWeights, body->targetCount));
  }
  return nodes;
}

static json_t *makeScenes(pnGltfWriter *w) {
  json_t *scenes = json_array();
  for (uint32_t s = 0; s < w->file->sceneCount; ++s) {
    const pnAnimScene *scene = &w->file->scenes[s];
    json_t *out = json_object(), *roots = json_array();
    for (uint32_t i = 0; i < scene->rootCount; ++i) pn_gltfAppend(w, roots, json_integer(scene->roots[i]));
    /* New nodes that hang on nothing. */
    for (uint32_t i = 0; i < scene->bodyCount; ++i) {
      uint32_t b = scene->bodies[i];
      bool isRoot = w->bodyNode[b] >= w->file->nodeCount && w->file->bodies[b].carrier == PN_NONE;
      if (isRoot) pn_gltfAppend(w, roots, json_integer(w->bodyNode[b]));
    }
    if (scene->name[0] != 0) pn_gltfSet(w, out, "name", json_string(scene->name));
    pn_gltfSet(w, out, "nodes", roots);
    pn_gltfAppend(w, scenes, out);
  }
  return scenes;
}

/* ---------------------------------------------------------------- skins and clips */

static json_t *makeSkins(pnGltfWriter *w) {
  json_t *skins = json_array();
  for (uint32_t s = 0; s < w->file->skinCount; ++s) {
    const pnAnimSkin *skin = &w->file->skins[s];
    float *matrices = pn_ioAlloc((size_t)skin->jointCount * 16 * sizeof(float) + 1);
    json_t *out = json_object(), *joints = json_array();
    w->failed = w->failed || matrices == NULL;
    for (uint32_t j = 0; j < skin->jointCount && matrices != NULL; ++j) {
      float *m = matrices + (size_t)j * 16;
      memset(m, 0, 16 * sizeof(float));
      for (int i = 0; i < 12; ++i) m[i % 4 * 4 + i / 4] = skin->inverseBinds[j].m[i / 4][i % 4];
      m[15] = 1.0f;
      pn_gltfAppend(w, joints, json_integer(skin->joints[j]));
    }
    if (matrices != NULL) {
      uint32_t accessor = pn_gltfWriteArray(w, matrices, skin->jointCount, 16, 5126, PN_GLTF_USE_OTHER);
      pn_gltfSet(w, out, "inverseBindMatrices", json_integer(accessor));
    }
    if (skin->name != NULL && skin->name[0] != 0) pn_gltfSet(w, out, "name", json_string(skin->name));
    pn_gltfSet(w, out, "joints", joints);
    pn_gltfAppend(w, skins, out);
    pn_ioFree(matrices);
  }
  return skins;
}

/* A node's weights belong to the node that places its body. */
static uint32_t targetNode(const pnGltfWriter *w, const pnAnimChannel *channel) {
  for (uint32_t b = 0; b < w->file->bodyCount && channel->path == PN_ANIM_WEIGHTS; ++b)
    if (w->file->bodies[b].node == channel->node) return w->bodyNode[b];
  return channel->node;
}

static json_t *makeClip(pnGltfWriter *w, const pnAnimClip *clip) {
  static const char *const paths[] = {"translation", "rotation", "scale", "weights"};
  static const char *const modes[] = {"LINEAR", "STEP", "CUBICSPLINE"};
  json_t *out = json_object(), *channels = json_array(), *samplers = json_array();
  const float *times = NULL;
  uint32_t input = 0, keyCount = 0;
  for (uint32_t i = 0; i < clip->channelCount; ++i) {
    /* Channels that follow one another mostly share their times. */
    const pnAnimChannel *channel = &clip->channels[i];
    if (channel->times != times || channel->keyCount != keyCount) {
      input = pn_gltfWriteBounded(w, channel->times, channel->keyCount, 1, PN_GLTF_USE_OTHER);
      times = channel->times;
      keyCount = channel->keyCount;
    }
    uint32_t values = channel->keyCount * (channel->interpolation == PN_INTERPOLATION_CUBIC ? 3 : 1);
    bool weights = channel->path == PN_ANIM_WEIGHTS;
    uint32_t output = pn_gltfWriteArray(w, channel->values, weights ? values * channel->width : values,
                                        weights ? 1 : channel->width, 5126, PN_GLTF_USE_OTHER);
    json_t *sampler = json_pack("{s:i, s:i, s:s}", "input", (int)input, "output", (int)output, "interpolation",
                                modes[channel->interpolation]);
    json_t *target = json_pack("{s:i, s:s}", "node", (int)targetNode(w, channel), "path", paths[channel->path]);
    pn_gltfAppend(w, channels,
                  json_pack("{s:i, s:o}", "sampler", (int)pn_gltfAppend(w, samplers, sampler), "target", target));
  }
  if (clip->name[0] != 0) pn_gltfSet(w, out, "name", json_string(clip->name));
  pn_gltfSet(w, out, "channels", channels);
  pn_gltfSet(w, out, "samplers", samplers);
  return out;
}

/* ---------------------------------------------------------------- the whole */

/* Empty arrays are not allowed in the format: they are left out. */
static void setArray(pnGltfWriter *w, json_t *document, const char *key, json_t *array) {
  if (array == NULL || json_array_size(array) > 0) pn_gltfSet(w, document, key, array);
  else json_decref(array);
}

static json_t *makeDocument(pnGltfWriter *w) {
  json_t *document = json_object(), *clips = json_array();
  char generator[64] = "pinch ";
  strncat(generator, pnGetVersion(), sizeof(generator) - 8);
  pn_gltfSet(w, document, "asset", json_pack("{s:s, s:s}", "version", "2.0", "generator", generator));
  assignNodes(w);
  for (uint32_t b = 0; b < w->file->bodyCount; ++b) pn_gltfWriteMesh(w, b);
  setArray(w, document, "nodes", makeNodes(w));
  setArray(w, document, "skins", makeSkins(w));
  /* A clip without channels cannot be said in the format. */
  for (uint32_t c = 0; c < w->file->clipCount; ++c)
    if (w->file->clips[c].channelCount > 0) pn_gltfAppend(w, clips, makeClip(w, &w->file->clips[c]));
  setArray(w, document, "animations", clips);
  setArray(w, document, "scenes", makeScenes(w));
  if (w->file->sceneCount > 0) pn_gltfSet(w, document, "scene", json_integer(w->file->defaultScene));
  setArray(w, document, "meshes", json_incref(w->meshes));
  setArray(w, document, "materials", json_incref(w->materials));
  setArray(w, document, "accessors", json_incref(w->accessors));
  setArray(w, document, "bufferViews", json_incref(w->views));
  if (w->byteCount > 0)
    pn_gltfSet(w, document, "buffers", json_pack("[{s:I}]", "byteLength", (json_int_t)w->byteCount));
  return document;
}

static uint8_t *putBytes(uint8_t *at, const void *bytes, size_t count) {
  if (count > 0) memcpy(at, bytes, count);
  return at + count;
}

static uint8_t *putUint32(uint8_t *at, size_t number) {
  uint8_t bytes[4] = {(uint8_t)number, (uint8_t)(number >> 8), (uint8_t)(number >> 16), (uint8_t)(number >> 24)};
  return putBytes(at, bytes, sizeof(bytes));
}

/* Head, JSON, bytes; both chunks padded to four bytes. */
static pnResult packContainer(const pnGltfWriter *w, const char *path, const char *text, uint8_t **outBytes,
                              size_t *outCount) {
  static const char spaces[] = "   ", zeros[4] = {0};
  size_t textSize = strlen(text), textPad = (4 - textSize % 4) % 4, bytePad = (4 - w->byteCount % 4) % 4;
  size_t chunk = w->byteCount > 0 ? 8 + w->byteCount + bytePad : 0, total = 20 + textSize + textPad + chunk;
  if (total > UINT32_MAX) return pnFail(PN_ERROR_COUNT, "%s: %zu bytes are more than a .glb can have", path, total);
  *outBytes = pn_ioAlloc(total);
  if (*outBytes == NULL) return pn_ioFailMemory(path);
  *outCount = total;
  uint8_t *at = putBytes(*outBytes, "glTF", 4);
  at = putUint32(at, 2);
  at = putUint32(at, total);
  at = putUint32(at, textSize + textPad);
  at = putBytes(at, "JSON", 4);
  at = putBytes(at, text, textSize);
  at = putBytes(at, spaces, textPad);
  if (chunk > 0) {
    at = putUint32(at, w->byteCount + bytePad);
    at = putBytes(at, "BIN\0", 4);
    at = putBytes(at, w->bytes, w->byteCount);
    putBytes(at, zeros, bytePad);
  }
  return PN_OK;
}

pnResult pn_gltfMakeContainer(const pnGltfWriter *w, const char *path, const json_t *document, uint8_t **outBytes,
                              size_t *outCount) {
  *outBytes = NULL;
  /* Nine digits give every float back. */
  char *text = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(9));
  pnResult result = text != NULL ? packContainer(w, path, text, outBytes, outCount) : pn_ioFailMemory(path);
  free(text);
  return result;
}

pnResult pnSaveAnimFile(const char *path, const pnAnimFile *file) {
  PN_IO_FLOAT;
  /* What evaluation follows is checked by making a state; what is written further, by the reader that reads it back. */
  pnAnimState *state = NULL;
  pnResult result = pnCreateAnimState(file, &state);
  if (result != PN_OK) return result;
  pnDestroyAnimState(state);

  pnGltfWriter w = {.file = file};
  w.views = json_array();
  w.accessors = json_array();
  w.meshes = json_array();
  w.materials = json_array();
  w.bodyMesh = pn_ioAlloc((size_t)file->bodyCount * sizeof(uint32_t) + 1);
  w.bodyNode = pn_ioAlloc((size_t)file->bodyCount * sizeof(uint32_t) + 1);
  w.failed = w.bodyMesh == NULL || w.bodyNode == NULL;
  json_t *document = w.failed ? NULL : makeDocument(&w);
  uint8_t *bytes = NULL;
  size_t byteCount = 0;
  result = w.failed ? pn_ioFailMemory(path) : pn_gltfMakeContainer(&w, path, document, &bytes, &byteCount);
  pnOutFile *out = NULL;
  if (result == PN_OK) result = pnOpenOutFile(path, &out);
  if (result == PN_OK) {
    pnOutFile_Write(out, bytes, byteCount);
    result = pnCloseOutFile(out, true);
  }

  pn_ioFree(bytes);
  json_decref(document);
  json_decref(w.views);
  json_decref(w.accessors);
  json_decref(w.meshes);
  json_decref(w.materials);
  pn_ioFree(w.bytes);
  pn_ioFree(w.bodyMesh);
  pn_ioFree(w.bodyNode);
  return result;
}
