/* layout_motion.c: what of morph targets and skins stays the same, in three pools on the device: vertices at rest (sources),
 * floats and whole numbers. Bodies of one mesh, morph or skin share its part. And where in the inputs, which travel every
 * frame, a body's transform, weights and joints stand. */
#include "device/world.h"

#include <string.h>

typedef PN_ARRAY(float) Floats;

typedef struct Pools {
  Floats sources, constants;
  PN_ARRAY(uint32_t) whole;
  uint32_t inputCount;
} Pools;

/* Floats and whole numbers a joint has in the inputs: rows of the matrix, then turn and slide. */
#define LINEAR_FLOATS 12u
#define WEIGHTED_FLOATS 20u

static bool addFloats(Floats *a, const float *data, size_t count) {
  if (!pn_arrayReserve(a, a->count + count)) return false;
  if (count > 0) memcpy(a->data + a->count, data, count * sizeof(float));
  a->count += count;
  return true;
}

static bool addWhole(Pools *p, const void *data, size_t count) {
  if (!pn_arrayReserve(&p->whole, p->whole.count + count)) return false;
  if (count > 0) memcpy(p->whole.data + p->whole.count, data, count * sizeof(uint32_t));
  p->whole.count += count;
  return true;
}

/* The first body with the same morph, skin or rest; it has laid them out. */
static const pnMotion *sameMorph(const pnDeviceWorld *world, const pnMorph *morph) {
  for (size_t b = 0; b < world->motions.count; ++b)
    if (world->bodies.data[b].pose->morph == morph && !world->bodies.data[b].onDevice) return &world->motions.data[b];
  return NULL;
}

static const pnMotion *sameSkin(const pnDeviceWorld *world, const pnSkin *skin) {
  for (size_t b = 0; b < world->motions.count; ++b)
    if (world->bodies.data[b].pose->skin == skin && !world->bodies.data[b].onDevice) return &world->motions.data[b];
  return NULL;
}

static const pnMotion *sameRest(const pnDeviceWorld *world, const pnMesh *mesh) {
  for (size_t b = 0; b < world->motions.count; ++b) {
    const pnDeviceBody *body = &world->bodies.data[b];
    if (body->pose->mesh == mesh && !body->pose->motion->isStored && !body->onDevice) return &world->motions.data[b];
  }
  return NULL;
}

static bool layOutMorph(const pnDeviceWorld *world, const pnMorph *morph, Pools *p, pnMotion *m) {
  const pnMotion *same = sameMorph(world, morph);
  m->targetCount = morph->targetCount;
  m->weights = p->inputCount;
  p->inputCount += morph->targetCount;
  if (same) {
    m->entryFirst = same->entryFirst;
    m->entries = same->entries;
    return true;
  }
  const size_t n = morph->mesh->vertexCount;
  if (morph->mode == PN_MORPH_REFERENCES) {
    m->entryFirst = (uint32_t)p->constants.count;
    return addFloats(&p->constants, morph->positions, 3 * n * morph->targetCount);
  }
  m->entryFirst = (uint32_t)p->whole.count;
  // four floats each begin where the device can load them at once
  while (p->constants.count % 4 != 0)
    if (!pn_arrayPush(&p->constants, 0)) return false;
  m->entries = (uint32_t)p->constants.count;
  return addWhole(p, morph->entryFirst, n + 1) &&
         addFloats(&p->constants, (const float *)morph->entries, 4 * (size_t)morph->entryFirst[n]);
}

static bool layOutSkin(const pnDeviceWorld *world, const pnSkin *skin, Pools *p, pnMotion *m) {
  const pnMotion *same = sameSkin(world, skin);
  p->inputCount = (p->inputCount + 3) & ~3u;
  m->moves = p->inputCount;
  p->inputCount += skin->jointCount * (skin->mode == PN_SKIN_LINEAR ? LINEAR_FLOATS : WEIGHTED_FLOATS);
  if (same) {
    m->influenceFirst = same->influenceFirst;
    m->influences = same->influences;
    m->pivots = same->pivots;
    return true;
  }
  const size_t n = skin->mesh->vertexCount;
  m->influenceFirst = (uint32_t)p->whole.count;
  if (!addWhole(p, skin->influenceFirst, n + 1)) return false;
  if (p->whole.count % 2 != 0 && !pn_arrayPush(&p->whole, 0)) return false;
  m->influences = (uint32_t)p->whole.count;
  if (!addWhole(p, skin->influences, 2 * (size_t)skin->influenceFirst[n])) return false;
  m->pivots = (uint32_t)p->constants.count;
  return skin->mode == PN_SKIN_LINEAR || addFloats(&p->constants, &skin->pivots[0].x, 3 * (size_t)skin->jointCount);
}

static bool layOutBody(pnDeviceWorld *world, const pnDeviceBody *body, Pools *p) {
  const pnPose *pose = body->pose;
  const pnMesh *mesh = pose->mesh;
  pnMotion m = {.vertexCount = mesh->vertexCount, .out = body->firstVertex};
  if (!body->onDevice) {
    // the transform, at a multiple of four
    p->inputCount = (p->inputCount + 3) & ~3u;
    m.transform = p->inputCount;
    p->inputCount += 12;
    const bool atRest = !pose->motion->isStored;
    const pnMotion *same = atRest ? sameRest(world, mesh) : NULL;
    m.source = same ? same->source : (uint32_t)(p->sources.count / 3);
    // those that are free bring their own vertices, later
    if (!same && !addFloats(&p->sources, mesh->vertices, 3 * (size_t)mesh->vertexCount)) return false;
    if (pose->morph && !layOutMorph(world, pose->morph, p, &m)) return false;
    if (pose->skin && !layOutSkin(world, pose->skin, p, &m)) return false;
  }
  return pn_arrayPush(&world->motions, m);
}

/* A group of the kernel takes 64 vertices of one body. */
#define CHUNK 64u

static pnResult sendChunks(pnDeviceWorld *world) {
  PN_ARRAY(pnPair) chunks = {0};
  bool good = true;
  for (size_t b = 0; b < world->bodies.count && good; ++b)
    for (uint32_t v = 0; v < world->motions.data[b].vertexCount && good && !world->bodies.data[b].onDevice; v += CHUNK)
      good = pn_arrayPush(&chunks, ((pnPair){(uint32_t)b, v}));
  world->chunkCount = (uint32_t)chunks.count;
  pnResult result = good ? pn_fillBuffer(world, PN_BUFFER_CHUNKS, chunks.data, chunks.count * sizeof(pnPair))
                         : pn_failMemory(chunks.count * sizeof(pnPair));
  pn_arrayFree(&chunks);
  return result;
}

static pnResult sendPools(pnDeviceWorld *world, const Pools *p) {
  pnResult result = pn_fillBuffer(world, PN_BUFFER_SOURCES, p->sources.data, p->sources.count * sizeof(float));
  if (result == PN_OK)
    result = pn_fillBuffer(world, PN_BUFFER_CONSTANTS, p->constants.data, p->constants.count * sizeof(float));
  if (result == PN_OK) result = pn_fillBuffer(world, PN_BUFFER_WHOLE, p->whole.data, p->whole.count * sizeof(uint32_t));
  if (result == PN_OK) result = pn_reserveBuffer(world, PN_BUFFER_INPUTS, p->inputCount * sizeof(float));
  if (result == PN_OK) result = pn_reserveBuffer(world, PN_BUFFER_MOTIONS, world->motions.count * sizeof(pnMotion));
  return result;
}

/* Room for the inputs, twice. */
static pnResult allocInputs(pnDeviceWorld *world, uint32_t count) {
  world->inputCount = count;
  for (int i = 0; i < 2; ++i) {
    world->inputs[i] = pn_allocZero(count * sizeof(float));
    world->motionCopy[i] = pn_alloc(world->motions.count * sizeof(pnMotion));
    if ((count > 0 && !world->inputs[i]) || !world->motionCopy[i]) return pn_failMemory(count * sizeof(float));
  }
  return PN_OK;
}

void pn_freeInputs(pnDeviceWorld *world) {
  for (int i = 0; i < 2; ++i) {
    if (world->inputEvent[i]) {
      (void)pn_cl.WaitForEvents(1, &world->inputEvent[i]);
      pn_cl.ReleaseEvent(world->inputEvent[i]);
      world->inputEvent[i] = NULL;
    }
    pn_free(world->inputs[i], world->inputCount * sizeof(float));
    pn_free(world->motionCopy[i], world->motions.count * sizeof(pnMotion));
    world->inputs[i] = NULL;
    world->motionCopy[i] = NULL;
  }
  world->inputCount = 0;
  world->motions.count = 0;
}

pnResult pn_layOutMotions(pnDeviceWorld *world) {
  pn_freeInputs(world); // what the last layout left
  Pools pools = {.inputCount = 0};
  bool good = true;
  for (size_t b = 0; b < world->bodies.count && good; ++b) good = layOutBody(world, &world->bodies.data[b], &pools);
  const size_t most = UINT32_MAX;
  pnResult result =
      !good ? pn_failMemory(pools.constants.count * sizeof(float))
      : pools.constants.count > most || pools.whole.count > most || pools.sources.count / 3 > most
          ? pn_fail(PN_ERROR_COUNT, "device world: its morph targets and skins have more than 2^32 numbers")
          : sendPools(world, &pools);
  if (result == PN_OK) result = sendChunks(world);
  if (result == PN_OK) result = allocInputs(world, pools.inputCount);
  pn_arrayFree(&pools.sources);
  pn_arrayFree(&pools.constants);
  pn_arrayFree(&pools.whole);
  return result;
}
