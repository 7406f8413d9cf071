/* gltf_clip.c: animations into clips of channels, each a list of keys. Keys stay as the file has them; what lies between
 * two keys is anim.c's business. */
#include <string.h>

#include "gltf.h"

/* What a channel moves, by name; -1 for something that is not geometry. */
static int findPath(const char *name) {
  static const char *const names[] = {"translation", "rotation", "scale", "weights"};
  for (int i = 0; i < 4; ++i)
    if (strcmp(names[i], name) == 0) return i;
  return -1;
}

/* The keys' times: finite, and never going back. */
static pnResult readTimes(pnGltf *g, const pnJson *sampler, pnAnimChannel *out) {
  pnJson input = pn_jsonMember(sampler, "input");
  pnGltfAccessor accessor;
  if (input.value == NULL) return pn_jsonFail(sampler, PN_ERROR_FORMAT, "has no input");
  pnResult result = pn_gltfAccessor(g, &input, 1, PN_GLTF_IS_FLOAT, &accessor);
  if (result == PN_OK && accessor.count == 0) result = pn_jsonFail(&input, PN_ERROR_COUNT, "has no keys");
  if (result == PN_OK) result = pn_gltfSharedFloats(g, &input, &accessor, &out->times);
  out->keyCount = accessor.count;
  for (uint32_t i = 1; i < accessor.count && result == PN_OK; ++i) {
    if (out->times[i] < out->times[i - 1]) {
      result = pn_jsonFail(&input, PN_ERROR_FORMAT, "accessor %u: key %u is at %g s, before the one before it at %g s",
                           accessor.index, i, (double)out->times[i], (double)out->times[i - 1]);
    }
  }
  return result;
}

/* The keys' values. Rotations and weights may be whole numbers standing for fractions. */
static pnResult readValues(pnGltf *g, const pnJson *sampler, pnAnimChannel *out) {
  pnJson output = pn_jsonMember(sampler, "output");
  if (output.value == NULL) return pn_jsonFail(sampler, PN_ERROR_FORMAT, "has no output");
  bool fractions = out->path == PN_ANIM_ROTATION || out->path == PN_ANIM_WEIGHTS;
  uint32_t types = PN_GLTF_IS_FLOAT;
  if (fractions) types |= PN_GLTF_IS_BYTE | PN_GLTF_IS_UBYTE | PN_GLTF_IS_SHORT | PN_GLTF_IS_USHORT;
  pnGltfAccessor accessor;
  pnResult result = pn_gltfAccessor(g, &output, out->path == PN_ANIM_WEIGHTS ? 1 : out->width, types, &accessor);
  if (result != PN_OK) return result;

  uint64_t wanted = (uint64_t)out->keyCount * (out->interpolation == PN_INTERPOLATION_CUBIC ? 3 : 1) *
                    (out->path == PN_ANIM_WEIGHTS ? out->width : 1);
  if (accessor.count != wanted) {
    return pn_jsonFail(&output, PN_ERROR_COUNT, "accessor %u has %u elements, %llu are needed for %u keys",
                       accessor.index, accessor.count, (unsigned long long)wanted, out->keyCount);
  }
  accessor.normalized = true;
  return pn_gltfSharedFloats(g, &output, &accessor, &out->values);
}

static pnResult readSampler(pnGltf *g, const pnJson *sampler, pnAnimChannel *out) {
  const char *name = pn_jsonString(sampler, "interpolation", "LINEAR");
  if (strcmp(name, "LINEAR") == 0) {
    out->interpolation = PN_INTERPOLATION_LINEAR;
  } else if (strcmp(name, "STEP") == 0) {
    out->interpolation = PN_INTERPOLATION_STEP;
  } else if (strcmp(name, "CUBICSPLINE") == 0) {
    out->interpolation = PN_INTERPOLATION_CUBIC;
  } else {
    return pn_jsonFail(sampler, PN_ERROR_UNSUPPORTED, "interpolation '%.40s', expected LINEAR, STEP or CUBICSPLINE",
                       name);
  }
  pnResult result = readTimes(g, sampler, out);
  return result == PN_OK ? readValues(g, sampler, out) : result;
}

/* Which node and property a channel moves; *outUse is false when it is nothing that moves vertices. */
static pnResult readTarget(pnGltf *g, const pnJson *channel, pnAnimChannel *out, bool *outUse) {
  char place[128];
  pnJson target = pn_jsonMember(channel, "target");
  const char *name = pn_jsonString(&target, "path", "");
  int path = findPath(name);
  *outUse = false;
  pnResult result = pn_jsonIndex(&target, "node", g->file->nodeCount, &out->node);
  if (result != PN_OK) return result;
  if (out->node == PN_NONE || path < 0) {
    pnLog(PN_LOG_INFO, "%s: %s: moves '%.40s' of no node and is left out", g->name,
          pn_jsonPlace(channel, place, sizeof(place)), name);
    return PN_OK;
  }
  out->path = (pnAnimPath)path;
  out->width = path == PN_ANIM_ROTATION ? 4 : 3;
  if (path != PN_ANIM_WEIGHTS && g->nodes[out->node].hasMatrix) {
    return pn_jsonFail(&target, PN_ERROR_FORMAT, "node %u has a matrix; only translation, rotation and scale can move",
                       out->node);
  }
  if (path == PN_ANIM_WEIGHTS) {
    uint32_t mesh = g->nodeMesh[out->node];
    out->width = 0;
    if (mesh != PN_NONE) result = pn_gltfTargetCount(g, mesh, &out->width);
    if (result == PN_OK && out->width == 0) {
      pnLog(PN_LOG_WARNING, "%s: %s: moves weights of node %u, which has no morph targets; left out", g->name,
            pn_jsonPlace(channel, place, sizeof(place)), out->node);
    }
  }
  *outUse = result == PN_OK && out->width > 0;
  return result;
}

static pnResult readClip(pnGltf *g, const pnJson *animation, pnAnimClip *out) {
  pnJson channels, samplers;
  uint32_t channelCount = 0, samplerCount = 0;
  pnResult result = pn_jsonArray(animation, "channels", &channels, &channelCount);
  if (result == PN_OK) result = pn_jsonArray(animation, "samplers", &samplers, &samplerCount);
  if (result != PN_OK) return result;
  pnAnimChannel *list = pn_gltfKeep(g, channelCount, sizeof(pnAnimChannel));
  out->name = pn_gltfText(g, pn_jsonString(animation, "name", ""));
  if (list == NULL || out->name == NULL) return pn_gltfNoMemory(g);
  out->channels = list;

  for (uint32_t i = 0; i < channelCount && result == PN_OK; ++i) {
    pnJson channel = pn_jsonElement(&channels, i);
    pnAnimChannel *next = &list[out->channelCount];
    uint32_t sampler = PN_NONE;
    bool use = false;
    result = readTarget(g, &channel, next, &use);
    if (result != PN_OK || !use) continue;
    result = pn_jsonIndex(&channel, "sampler", samplerCount, &sampler);
    if (result == PN_OK && sampler == PN_NONE) result = pn_jsonFail(&channel, PN_ERROR_FORMAT, "has no sampler");
    if (result != PN_OK) break;
    pnJson element = pn_jsonElement(&samplers, sampler);
    result = readSampler(g, &element, next);
    if (result != PN_OK) break;

    /* The clip lasts from its first key to its last. */
    float first = next->times[0], last = next->times[next->keyCount - 1];
    if (out->channelCount == 0 || first < out->startTime) out->startTime = first;
    if (out->channelCount == 0 || last > out->endTime) out->endTime = last;
    ++out->channelCount;
  }
  return result;
}

pnResult pn_gltfLoadClips(pnGltf *g) {
  pnJson animations;
  uint32_t count = 0;
  pnResult result = pn_jsonArray(&g->root, "animations", &animations, &count);
  if (result != PN_OK) return result;
  g->clips = pn_gltfKeep(g, count, sizeof(pnAnimClip));
  if (g->clips == NULL) return pn_gltfNoMemory(g);
  for (uint32_t i = 0; i < count && result == PN_OK; ++i) {
    pnJson animation = pn_jsonElement(&animations, i);
    result = readClip(g, &animation, &g->clips[i]);
  }
  g->file->clips = g->clips;
  g->file->clipCount = count;
  return result;
}
