/* anim_state.c: a moment of an animated file: from keys to weights, joint matrices and transforms (glTF 2.0, 3.7.3).
 *
 * The state is one block of memory made at its creation: an order of the nodes with parents first, their parts and world
 * maps in double, and the answers in float. A frame then is: parts at rest, channels over them, maps down the order,
 * answers. No vertex is touched and nothing is allocated. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "anim.h"
#include "float_mode.h"

/* Of a node in a frame: its parts, and then in their place the map that is made of them. */
typedef union NodePlace {
  pnAnimParts parts;
  pnMap world;
} NodePlace;

struct pnAnimState {
  const pnAnimFile *file;
  size_t byteCount;
  uint32_t *order;     /* nodes, parents first */
  uint32_t *nodeBody;  /* body of each node, PN_NONE for none */
  size_t *weightStart; /* of each body in `weights` */
  size_t *jointStart;  /* of each skin in `joints` */
  NodePlace *places;   /* by node */
  pnMatrix *rounded;   /* by node: its map in float */
  pnMatrix *joints;
  float *weights;
  double *value;   /* room for the widest channel */
  uint8_t *placed; /* while the order is found */
  pnMatrix identity;
};

/* ---------------------------------------------------------------- checking */

static pnResult checkNodes(const pnAnimFile *file) {
  for (uint32_t i = 0; i < file->nodeCount; ++i) {
    if (file->nodes[i].parent != PN_NONE && file->nodes[i].parent >= file->nodeCount) {
      return pnFail(PN_ERROR_INDEX, "%s: node %u has the parent %u of %u", file->name, i, file->nodes[i].parent,
                    file->nodeCount);
    }
  }
  for (uint32_t s = 0; s < file->skinCount; ++s) {
    for (uint32_t j = 0; j < file->skins[s].jointCount; ++j) {
      if (file->skins[s].joints[j] >= file->nodeCount) {
        return pnFail(PN_ERROR_INDEX, "%s: joint %u of skin %u is node %u of %u", file->name, j, s,
                      file->skins[s].joints[j], file->nodeCount);
      }
    }
  }
  return PN_OK;
}

static pnResult checkBodies(const pnAnimFile *file) {
  for (uint32_t b = 0; b < file->bodyCount; ++b) {
    const pnAnimBody *body = &file->bodies[b];
    bool ok = body->node < file->nodeCount && (body->carrier == PN_NONE || body->carrier < file->nodeCount) &&
              (body->skin == PN_NONE || body->skin < file->skinCount);
    if (!ok) return pnFail(PN_ERROR_INDEX, "%s: body '%s': node, carrier or skin out of range", file->name, body->name);
  }
  return PN_OK;
}

/* Channels: a node, keys, and as many numbers as what they move has. */
static pnResult checkClips(const pnAnimState *s) {
  for (uint32_t c = 0; c < s->file->clipCount; ++c) {
    const pnAnimClip *clip = &s->file->clips[c];
    for (uint32_t i = 0; i < clip->channelCount; ++i) {
      const pnAnimChannel *channel = &clip->channels[i];
      bool ok = channel->node < s->file->nodeCount && channel->keyCount > 0;
      uint32_t body = ok ? s->nodeBody[channel->node] : PN_NONE;
      uint32_t wanted = channel->path == PN_ANIM_ROTATION ? 4 : 3;
      /* Weights of a node without a body (lines, points) move nothing and are passed over. */
      if (channel->path == PN_ANIM_WEIGHTS)
        wanted = body != PN_NONE ? s->file->bodies[body].targetCount : channel->width;
      if (!ok || channel->width != wanted) {
        return pnFail(PN_ERROR_INDEX, "%s: clip '%s': channel %u has no such node, no keys, or a width of %u for %u",
                      s->file->name, clip->name, i, channel->width, wanted);
      }
    }
  }
  return PN_OK;
}

/* ---------------------------------------------------------------- creation */

/* The next array of a block: with a null block it only counts. */
static void *carve(char *block, size_t *used, size_t count, size_t size) {
  size_t start = *used;
  *used = (start + count * size + 15) & ~(size_t)15;
  return block != NULL ? block + start : NULL;
}

/* Lays the arrays out in a block; without one, finds its size. */
static size_t layOut(pnAnimState *s, const pnAnimFile *file, char *block) {
  size_t used = 0, jointCount = 0, weightCount = 0, widest = 4;
  for (uint32_t i = 0; i < file->skinCount; ++i) jointCount += file->skins[i].jointCount;
  for (uint32_t b = 0; b < file->bodyCount; ++b) weightCount += file->bodies[b].targetCount;
  for (uint32_t c = 0; c < file->clipCount; ++c) {
    for (uint32_t i = 0; i < file->clips[c].channelCount; ++i) {
      size_t width = file->clips[c].channels[i].width;
      widest = width > widest ? width : widest;
    }
  }
  carve(block, &used, 1, sizeof(pnAnimState));
  s->order = carve(block, &used, file->nodeCount, sizeof(uint32_t));
  s->nodeBody = carve(block, &used, file->nodeCount, sizeof(uint32_t));
  s->weightStart = carve(block, &used, file->bodyCount, sizeof(size_t));
  s->jointStart = carve(block, &used, file->skinCount, sizeof(size_t));
  s->places = carve(block, &used, file->nodeCount, sizeof(NodePlace));
  s->rounded = carve(block, &used, file->nodeCount, sizeof(pnMatrix));
  s->joints = carve(block, &used, jointCount, sizeof(pnMatrix));
  s->weights = carve(block, &used, weightCount, sizeof(float));
  s->value = carve(block, &used, widest, sizeof(double));
  s->placed = carve(block, &used, file->nodeCount, 1);
  return used;
}

pnResult pnCreateAnimState(const pnAnimFile *file, pnAnimState **outState) {
  PN_IO_FLOAT;
  *outState = NULL;
  pnResult result = checkNodes(file);
  if (result == PN_OK) result = checkBodies(file);
  if (result != PN_OK) return result;
  pnAnimState arrays = {.file = file, .identity = pnMatrix_Identity()};
  arrays.byteCount = layOut(&arrays, file, NULL);
  pnAnimState *s = pnAlloc(arrays.byteCount);
  if (s == NULL)
    return pnFail(PN_ERROR_MEMORY, "%s: no memory to evaluate it (%zu bytes)", file->name, arrays.byteCount);
  layOut(&arrays, file, (char *)s);
  *s = arrays;

  /* Where each body's weights and each skin's matrices begin. */
  size_t start = 0;
  for (uint32_t i = 0; i < file->nodeCount; ++i) s->nodeBody[i] = PN_NONE;
  for (uint32_t b = 0; b < file->bodyCount; ++b) {
    s->nodeBody[file->bodies[b].node] = b;
    s->weightStart[b] = start;
    start += file->bodies[b].targetCount;
  }
  start = 0;
  for (uint32_t i = 0; i < file->skinCount; ++i) {
    s->jointStart[i] = start;
    start += file->skins[i].jointCount;
  }

  result = checkClips(s);
  uint32_t fault = pn_orderNodes(file->nodes, file->nodeCount, s->order, s->placed);
  if (result == PN_OK && fault != PN_NONE)
    result = pnFail(PN_ERROR_FORMAT, "%s: node %u is its own ancestor; nodes must form trees", file->name, fault);
  if (result == PN_OK) result = pnAnimState_Evaluate(s, PN_NONE, 0.0);
  if (result != PN_OK) {
    pnDestroyAnimState(s);
    return result;
  }
  *outState = s;
  return PN_OK;
}

void pnDestroyAnimState(pnAnimState *state) {
  if (state != NULL) pnFree(state, state->byteCount);
}

/* ---------------------------------------------------------------- a frame */

/* Everything at rest, then what the clip says. */
static pnResult applyClip(pnAnimState *s, uint32_t clip, double time) {
  const pnAnimFile *file = s->file;
  for (uint32_t i = 0; i < file->nodeCount; ++i) s->places[i].parts = pn_partsOfNode(&file->nodes[i]);
  for (uint32_t b = 0; b < file->bodyCount; ++b) {
    size_t bytes = file->bodies[b].targetCount * sizeof(float);
    if (bytes > 0) memcpy(s->weights + s->weightStart[b], file->bodies[b].restWeights, bytes);
  }
  if (clip == PN_NONE) return PN_OK;

  for (uint32_t i = 0; i < file->clips[clip].channelCount; ++i) {
    const pnAnimChannel *channel = &file->clips[clip].channels[i];
    pnAnimParts *parts = &s->places[channel->node].parts;
    uint32_t body = s->nodeBody[channel->node];
    pn_sampleChannel(channel, time, s->value);
    switch (channel->path) {
      case PN_ANIM_TRANSLATION: memcpy(parts->translation, s->value, sizeof(parts->translation)); break;
      case PN_ANIM_ROTATION: memcpy(parts->rotation, s->value, sizeof(parts->rotation)); break;
      case PN_ANIM_SCALE: memcpy(parts->scale, s->value, sizeof(parts->scale)); break;
      case PN_ANIM_WEIGHTS:
        for (uint32_t t = 0; t < channel->width && body != PN_NONE; ++t) {
          s->weights[s->weightStart[body] + t] = (float)s->value[t];
          if (fabs(s->value[t]) <= (double)FLT_MAX) continue;
          return pnFail(PN_ERROR_NUMBER, "%s: at %g s weight %u of node %u is outside the range of float", file->name,
                        time, t, channel->node);
        }
        break;
    }
  }
  return PN_OK;
}

pnResult pnAnimState_Evaluate(pnAnimState *state, uint32_t clip, double time) {
  PN_IO_FLOAT;
  pnAnimState *s = state;
  const pnAnimFile *file = s->file;
  if (clip != PN_NONE && clip >= file->clipCount)
    return pnFail(PN_ERROR_INDEX, "%s: clip %u of %u", file->name, clip, file->clipCount);
  if (!(time - time == 0.0)) return pnFail(PN_ERROR_NUMBER, "%s: the time is NaN or infinite", file->name);
  pnResult result = applyClip(s, clip, time);
  if (result != PN_OK) return result;

  /* World maps, down from the roots. */
  for (uint32_t i = 0; i < file->nodeCount; ++i) {
    uint32_t n = s->order[i], parent = file->nodes[n].parent;
    pnMap local =
        file->nodes[n].hasMatrix ? pn_mapFromMatrix(&file->nodes[n].matrix) : pn_mapFromParts(&s->places[n].parts);
    pnMap *world = &s->places[n].world;
    *world = parent == PN_NONE ? local : pn_mapMultiply(&s->places[parent].world, &local);
    s->rounded[n] = pn_mapToMatrix(world);
    if (!pn_mapIsFinite(&s->rounded[n])) {
      return pnFail(PN_ERROR_NUMBER, "%s: at %g s node %u '%s' is outside the range of float", file->name, time, n,
                    file->nodes[n].name);
    }
  }

  /* Joints: world of the joint times inverse bind. */
  for (uint32_t k = 0; k < file->skinCount; ++k) {
    const pnAnimSkin *skin = &file->skins[k];
    for (uint32_t j = 0; j < skin->jointCount; ++j) {
      pnMap bind = pn_mapFromMatrix(&skin->inverseBinds[j]);
      pnMap joint = pn_mapMultiply(&s->places[skin->joints[j]].world, &bind);
      pnMatrix *out = &s->joints[s->jointStart[k] + j];
      *out = pn_mapToMatrix(&joint);
      if (!pn_mapIsFinite(out)) {
        return pnFail(PN_ERROR_NUMBER, "%s: at %g s joint %u of skin %u is outside the range of float", file->name,
                      time, j, k);
      }
    }
  }
  return PN_OK;
}

const float *pnAnimState_GetWeights(const pnAnimState *state, uint32_t b) {
  return state->file->bodies[b].targetCount > 0 ? state->weights + state->weightStart[b] : NULL;
}

const pnMatrix *pnAnimState_GetJoints(const pnAnimState *state, uint32_t b) {
  uint32_t skin = state->file->bodies[b].skin;
  return skin != PN_NONE ? state->joints + state->jointStart[skin] : NULL;
}

const pnMatrix *pnAnimState_GetTransform(const pnAnimState *state, uint32_t b) {
  const pnAnimBody *body = &state->file->bodies[b];
  return body->skin != PN_NONE || body->carrier == PN_NONE ? &state->identity : &state->rounded[body->carrier];
}

const pnMatrix *pnAnimState_GetNode(const pnAnimState *state, uint32_t node) {
  return &state->rounded[node];
}
