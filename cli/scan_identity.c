/* scan_identity.c: what a scan is of, as text that can be compared.
 *
 * Inputs are compared by what was read, not by paths, sizes or dates: a copy of a file on another machine is the same, and a file
 * that somebody saved again with one key moved is not. Of a vertex cache, which may be larger than memory, the times of all
 * frames and the vertices of the first and last stand for the rest. The number finds mistakes, not forgers. */
#include "scan_deal.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- a number of many bytes */

/* Multiply and fold: an odd constant spreads every bit upwards, the shift brings the upper half down again. */
static uint64_t fold(uint64_t hash, uint64_t x) {
  hash = (hash ^ x) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 32;
}

static void add(uint64_t *hash, const void *from, size_t bytes) {
  const char *p = from;
  *hash = fold(*hash, bytes);
  for (; bytes > 0; p += bytes < 8 ? bytes : 8, bytes -= bytes < 8 ? bytes : 8) {
    uint64_t x = 0;
    memcpy(&x, p, bytes < 8 ? bytes : 8);
    *hash = fold(*hash, x);
  }
}

static void addNumber(uint64_t *hash, uint64_t number) {
  *hash = fold(*hash, number);
}

static void addText(uint64_t *hash, const char *text) {
  add(hash, text ? text : "", text ? strlen(text) : 0);
}

/* ---------------------------------------------------------------- inputs */

static void addNodes(uint64_t *hash, const pnAnimFile *file) {
  for (uint32_t n = 0; n < file->nodeCount; ++n) {
    const pnAnimNode *node = &file->nodes[n];
    addText(hash, node->name);
    addNumber(hash, node->parent);
    addNumber(hash, node->hasMatrix);
    add(hash, node->translation, sizeof(node->translation));
    add(hash, node->rotation, sizeof(node->rotation));
    add(hash, node->scale, sizeof(node->scale));
    if (node->hasMatrix) add(hash, &node->matrix, sizeof(node->matrix));
  }
  for (uint32_t s = 0; s < file->skinCount; ++s) {
    const pnAnimSkin *skin = &file->skins[s];
    add(hash, skin->joints, skin->jointCount * sizeof(uint32_t));
    add(hash, skin->inverseBinds, skin->jointCount * sizeof(pnMatrix));
  }
}

static void addClips(uint64_t *hash, const pnAnimFile *file) {
  for (uint32_t c = 0; c < file->clipCount; ++c) {
    const pnAnimClip *clip = &file->clips[c];
    addText(hash, clip->name);
    for (uint32_t k = 0; k < clip->channelCount; ++k) {
      const pnAnimChannel *channel = &clip->channels[k];
      size_t values = channel->interpolation == PN_INTERPOLATION_CUBIC ? 3 : 1;
      addNumber(hash, channel->node);
      addNumber(hash, (uint64_t)channel->path << 8 | (uint64_t)channel->interpolation);
      add(hash, channel->times, channel->keyCount * sizeof(float));
      add(hash, channel->values, values * channel->keyCount * channel->width * sizeof(float));
    }
  }
}

static void addAnimBody(uint64_t *hash, const pnAnimBody *body) {
  addNumber(hash, body->carrier);
  addNumber(hash, body->skin);
  for (uint32_t t = 0; t < body->targetCount; ++t) {
    const pnAnimTarget *target = &body->targets[t];
    addText(hash, target->name);
    add(hash, target->vertices, target->count * sizeof(uint32_t));
    add(hash, target->deltas, 3 * (size_t)target->count * sizeof(float));
  }
  if (body->restWeights) add(hash, body->restWeights, body->targetCount * sizeof(float));
  size_t influences = (size_t)body->vertexCount * body->influenceCount;
  if (influences > 0) add(hash, body->jointIndices, influences * sizeof(uint16_t));
  if (influences > 0) add(hash, body->jointWeights, influences * sizeof(float));
}

/* A body of a cache has room for the vertices of a frame; what stood there is read again when it is needed. */
static pnResult addCache(uint64_t *hash, pnScanSource *source, pnScanBody *body) {
  pnCacheInfo info = pnCache_GetInfo(source->cache);
  addNumber(hash, info.frameCount);
  for (uint32_t k = 0; k < info.frameCount; ++k) {
    double time = pnCache_GetTime(source->cache, k);
    add(hash, &time, sizeof(time));
  }
  body->verticesFrame = PN_NONE;
  pnResult result = PN_OK;
  for (int last = 0; last < 2 && result == PN_OK && info.frameCount > 0; ++last) {
    result = pnCache_Read(source->cache, last ? info.frameCount - 1 : 0, body->vertices);
    if (result == PN_OK) add(hash, body->vertices, 3 * (size_t)info.vertexCount * sizeof(float));
  }
  return result;
}

static pnResult addBody(uint64_t *hash, pnScan *scan, pnScanBody *body) {
  pnScanSource *source = &scan->sources[body->source];
  addText(hash, body->name);
  addNumber(hash, (uint64_t)body->kind << 2 | (uint64_t)body->self << 1 | body->wanted);
  add(hash, pnMesh_GetVertices(body->mesh), 3 * (size_t)pnMesh_GetVertexCount(body->mesh) * sizeof(float));
  add(hash, pnMesh_GetTriangles(body->mesh), 3 * (size_t)pnMesh_GetTriangleCount(body->mesh) * sizeof(uint32_t));
  if (source->file) addAnimBody(hash, &source->file->bodies[body->animBody]);
  return source->cache ? addCache(hash, source, body) : PN_OK;
}

pnResult pn_identifyInputs(pnScan *scan, char out[17]) {
  uint64_t hash = 1;
  pnResult result = PN_OK;
  for (uint32_t s = 0; s < scan->sourceCount; ++s)
    if (scan->sources[s].file) addNodes(&hash, scan->sources[s].file), addClips(&hash, scan->sources[s].file);
  for (uint32_t b = 0; b < scan->bodyCount && result == PN_OK; ++b) result = addBody(&hash, scan, &scan->bodies[b]);
  for (uint32_t r = 0; r < scan->runCount; ++r) {
    const pnScanRange *range = &scan->runs[r].range;
    addText(&hash, scan->runs[r].name);
    add(&hash, scan->runs[r].clips, scan->sourceCount * sizeof(uint32_t));
    addNumber(&hash, (uint64_t)range->first);
    addNumber(&hash, (uint64_t)range->step);
    addNumber(&hash, range->count);
    add(&hash, &range->fps, sizeof(range->fps));
  }
  snprintf(out, 17, "%016llx", (unsigned long long)hash);
  return result;
}

/* ---------------------------------------------------------------- options */

static void putWords(pnBytes *out, const char *name, const pnWords *words) {
  for (uint32_t i = 0; i < words->count; ++i) {
    pn_bytesText(out, name);
    pn_bytesText(out, words->items[i]);
  }
}

void pn_identifyOptions(const pnScanOptions *options, pnBytes *out) {
  if (options->frames) pn_bytesText(out, " --frames "), pn_bytesText(out, options->frames);
  if (options->fps > 0) pn_bytesFormat(out, " --fps %.17g", options->fps);
  putWords(out, " --animation ", &options->animations);
  putWords(out, " --only ", &options->only);
  putWords(out, " --ignore ", &options->ignored);
  if (options->self) pn_bytesText(out, " --self");
  if (options->first) pn_bytesText(out, " --first");
  if (options->regions) pn_bytesText(out, " --regions");
  if (options->between) pn_bytesText(out, " --between");
  pn_bytesFormat(out, " --max-pairs %u", options->maxPairs);
  pn_bytesAdd(out, "", 1);
}
