/* scan_carrier.c: what carries each triangle in an animation, so that what cannot move against its neighbour is known not to:
 * two shields under one hand, a helmet on a head, a button on a coat's breast.
 *
 * A node is *moved* when a channel of the clip changes its place, rotation or scale; a channel whose keys all have the same
 * value changes nothing. A node that is not moved goes with the nearest moved one above it, and with the ground when there is
 * none. A vertex of a skin goes with the carrier of its joints when they all have the same one, and no target moves it. This is
 * reasoned from the file, not from positions. */
#include "scan.h"

#include <stdlib.h>
#include <string.h>

/* What stands still has this number; node n of a source has 1 + (first number of the source) + n. */
#define PN_CARRIER_GROUND 0

/* ---------------------------------------------------------------- nodes */

/* Do the keys of a channel differ? Between equal keys a straight line or a step stays; a spline may not. */
static bool changes(const pnAnimChannel *channel) {
  if (channel->interpolation == PN_INTERPOLATION_CUBIC) return true;
  for (uint32_t k = 1; k < channel->keyCount; ++k)
    if (memcmp(channel->values, channel->values + (size_t)k * channel->width, channel->width * sizeof(float)) != 0)
      return true;
  return false;
}

/* Carriers of all nodes of a source; `first` is the source's first number. */
static void carryNodes(const pnScanSource *source, uint32_t first, uint32_t *carriers) {
  const pnAnimFile *file = source->file;
  const pnAnimClip *clip = source->clip != PN_NONE ? &file->clips[source->clip] : NULL;
  for (uint32_t n = 0; n < file->nodeCount; ++n) carriers[n] = PN_NONE;
  for (uint32_t c = 0; clip && c < clip->channelCount; ++c) {
    const pnAnimChannel *channel = &clip->channels[c];
    if (channel->path != PN_ANIM_WEIGHTS && changes(channel)) carriers[channel->node] = first + channel->node;
  }
  // Up to the nearest one that is known; then the way up again, so that each node is looked at a few times only.
  for (uint32_t n = 0; n < file->nodeCount; ++n) {
    uint32_t at = n;
    while (at != PN_NONE && carriers[at] == PN_NONE) at = file->nodes[at].parent;
    uint32_t carrier = at == PN_NONE ? PN_CARRIER_GROUND : carriers[at];
    for (at = n; at != PN_NONE && carriers[at] == PN_NONE; at = file->nodes[at].parent) carriers[at] = carrier;
  }
}

/* ---------------------------------------------------------------- bodies */

/* Does the clip move the targets of this body? */
static bool morphs(const pnScanSource *source, const pnAnimBody *from) {
  const pnAnimClip *clip = source->clip != PN_NONE ? &source->file->clips[source->clip] : NULL;
  for (uint32_t c = 0; clip && c < clip->channelCount; ++c) {
    const pnAnimChannel *channel = &clip->channels[c];
    if (channel->path == PN_ANIM_WEIGHTS && channel->node == from->node && changes(channel)) return true;
  }
  return false;
}

/* The carrier of each vertex; PN_NONE where joints differ or a moving target has it. */
static void carryVertices(const pnScanSource *source, const pnAnimBody *from, const uint32_t *nodes,
                          uint32_t *carriers) {
  const pnAnimFile *file = source->file;
  uint32_t node = from->carrier == PN_NONE ? PN_CARRIER_GROUND : nodes[from->carrier];
  for (uint32_t v = 0; v < from->vertexCount; ++v) {
    carriers[v] = from->skin == PN_NONE ? node : PN_NONE;
    bool first = true;
    for (uint32_t k = 0; from->skin != PN_NONE && k < from->influenceCount; ++k) {
      size_t at = (size_t)v * from->influenceCount + k;
      if (!(from->jointWeights[at] > 0)) continue;
      uint32_t carrier = nodes[file->skins[from->skin].joints[from->jointIndices[at]]];
      carriers[v] = first || carriers[v] == carrier ? carrier : PN_NONE;
      first = false;
      if (carriers[v] == PN_NONE) break;
    }
  }
  if (!morphs(source, from)) return;
  for (uint32_t t = 0; t < from->targetCount; ++t)
    for (uint32_t i = 0; i < from->targets[t].count; ++i) carriers[from->targets[t].vertices[i]] = PN_NONE;
}

static pnResult carryBody(pnScan *scan, pnFinder *finder, const pnScanBody *body, const uint32_t *nodes) {
  const pnScanSource *source = &scan->sources[body->source];
  if (source->cache || source->stream) return pnFinder_SetCarriers(finder, body->finderBody, NULL, PN_NONE);
  if (!source->file) return pnFinder_SetCarriers(finder, body->finderBody, NULL, PN_CARRIER_GROUND);
  const pnAnimBody *from = &source->file->bodies[body->animBody];
  uint32_t *vertices = malloc(from->vertexCount * sizeof(uint32_t) + 1);
  uint32_t *triangles = malloc(from->triangleCount * sizeof(uint32_t) + 1);
  pnResult result =
      vertices && triangles ? PN_OK : pnFail(PN_ERROR_MEMORY, "%s: out of memory for what carries it", body->name);
  if (result == PN_OK) {
    carryVertices(source, from, nodes, vertices);
    for (uint32_t t = 0; t < from->triangleCount; ++t) {
      const uint32_t *corners = &from->triangles[3 * (size_t)t];
      uint32_t carrier = vertices[corners[0]];
      triangles[t] = carrier == vertices[corners[1]] && carrier == vertices[corners[2]] ? carrier : PN_NONE;
    }
    result = pnFinder_SetCarriers(finder, body->finderBody, triangles, PN_NONE);
  }
  free(vertices);
  free(triangles);
  return result;
}

pnResult pn_findSetCarriers(pnScan *scan, pnFinder *finder) {
  pnResult result = PN_OK;
  uint32_t first = PN_CARRIER_GROUND + 1;
  for (uint32_t s = 0; s < scan->sourceCount && result == PN_OK; ++s) {
    const pnScanSource *source = &scan->sources[s];
    uint32_t nodeCount = source->file ? source->file->nodeCount : 0;
    uint32_t *nodes = malloc(nodeCount * sizeof(uint32_t) + 1);
    if (!nodes) return pnFail(PN_ERROR_MEMORY, "%s: out of memory for %u nodes", source->word, nodeCount);
    if (source->file) carryNodes(source, first, nodes);
    for (uint32_t b = 0; b < scan->bodyCount && result == PN_OK; ++b) {
      const pnScanBody *body = &scan->bodies[b];
      if (body->source == s && body->wanted) result = carryBody(scan, finder, body, nodes);
    }
    free(nodes);
    first += nodeCount;
  }
  return result;
}
