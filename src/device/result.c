/* result.c: the end of a frame: was every list long enough, is every number a number, and then the pairs. */
#include "device/world.h"

#include "base/sort.h"
#include "base/thread.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- finishing */

/* A frame that is run again so often counts more than 32 bits hold. */
#define MOST_RERUNS 16u

/* The head stands in front of the pairs, and takes this much. */
#define HEAD_BYTES 64u

/* Room for so many pairs in memory that the device writes fastest; what was there is lost when it grows. */
static pnResult reservePinned(pnDeviceWorld *world, size_t pairs) {
  const size_t bytes = HEAD_BYTES + pairs * sizeof(pnPair);
  if (world->pinnedBytes >= bytes) return PN_OK;
  cl_mem buffer;
  void *memory;
  const size_t wanted = bytes + bytes / 4;
  pnResult result = pn_createPinned(world->device, wanted, &buffer, &memory);
  if (result != PN_OK) return result;
  pn_releasePinned(world->device, &world->pinned, world->pinnedMemory);
  world->pinned = buffer;
  world->pinnedMemory = memory;
  world->pinnedBytes = wanted;
  // a single body's last answer was there
  world->fetched = 0;
  world->answer = NULL;
  world->answerCount = world->contacts.count = 0;
  return PN_OK;
}

static pnResult readPairs(pnDeviceWorld *world, size_t count) {
  if (count == 0) return PN_OK;
  cl_int error = pn_cl.EnqueueReadBuffer(world->device->queue, pnDeviceWorld_GetResults(world).pairs, 1, 0,
                                         count * sizeof(pnPair), world->pinnedMemory + HEAD_BYTES, 0, NULL, NULL);
  return error == CL_SUCCESS ? PN_OK : pn_worldFail(world, error, "EnqueueReadBuffer", "pairs");
}

/* The head and, when they are wanted anyway, about as many pairs as the last frame had: one journey instead of two. */
static pnResult readHead(pnDeviceWorld *world) {
  const uint32_t likely = PN_MIN(world->last + world->last / 8 + 64, world->capacity[PN_LIST_PAIRS]);
  const uint32_t count = world->eager && !world->def.countOnly ? likely : 0;
  pnResult result = reservePinned(world, count);
  if (result != PN_OK) return result;
  cl_int error = pn_cl.EnqueueReadBuffer(world->device->queue, world->buffers[PN_BUFFER_HEAD], count == 0, 0,
                                         sizeof world->head, world->pinnedMemory, 0, NULL, NULL);
  if (error != CL_SUCCESS) return pn_worldFail(world, error, "EnqueueReadBuffer", "the end of a frame");
  result = readPairs(world, count);
  if (result != PN_OK) return result;
  world->fetched = count;
  memcpy(world->head, world->pinnedMemory, sizeof world->head);
  return PN_OK;
}

/* A quarter more than was asked for: the next frame is likely to ask for a little more. */
static pnResult growLists(pnDeviceWorld *world) {
  static const int places[PN_LIST_COUNT] = {PN_HEAD_CLUSTERS, PN_HEAD_CANDIDATES, PN_HEAD_UNSURE, PN_HEAD_PAIRS,
                                            PN_HEAD_RAW};
  world->binsFull = world->binsFull || (world->head[PN_HEAD_OVERFLOW] & PN_BINS_FULL) != 0;
  for (int i = 0; i < PN_LIST_COUNT; ++i) {
    if (!(world->head[PN_HEAD_OVERFLOW] >> i & 1u)) continue;
    const uint64_t wanted = (uint64_t)world->head[places[i]] + world->head[places[i]] / 4 + 64;
    pnResult result = pn_reserveList(world, (pnListName)i, (uint32_t)PN_MIN(wanted, UINT32_MAX / 2));
    if (result != PN_OK) return result;
  }
  return PN_OK;
}

/* Which vertex of a super is NaN or infinite? Only for the message, so it may take its time. */
pnResult pn_failNumber(pnDeviceWorld *world) {
  const size_t floats = (size_t)world->vertexCount * 3;
  float *vertices = pn_alloc(floats * sizeof(float));
  if (!vertices) return pn_failMemory(floats * sizeof(float));
  pnResult result = PN_OK;
  cl_int error = pn_cl.EnqueueReadBuffer(world->device->queue, world->buffers[PN_BUFFER_VERTICES], 1, 0,
                                         floats * sizeof(float), vertices, 0, NULL, NULL);
  if (error != CL_SUCCESS) result = pn_worldFail(world, error, "EnqueueReadBuffer", "vertices");
  for (size_t b = 0; b < world->bodies.count && result == PN_OK; ++b) {
    const pnDeviceBody *body = &world->bodies.data[b];
    size_t bad;
    if (!pn_allFinite(vertices + 3 * (size_t)body->firstVertex, 3 * (size_t)body->pose->mesh->vertexCount, &bad))
      result = pn_fail(PN_ERROR_NUMBER, "device world: body %zu ('%s'): coordinate %c of vertex %zu is NaN or infinite",
                       b, body->pose->mesh->name, "xyz"[bad % 3], bad / 3);
  }
  pn_free(vertices, floats * sizeof(float));
  return result != PN_OK ? result : pn_fail(PN_ERROR_NUMBER, "device world: a coordinate was NaN or infinite");
}

void pn_noteSeconds(const pnDevice *device, const cl_event *events, int count, double *outSeconds) {
  for (int i = 0; i < count && device->profile; ++i) {
    cl_ulong start = 0, end = 0;
    outSeconds[i] = 0;
    if (events[i] &&
        pn_cl.GetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) == CL_SUCCESS &&
        pn_cl.GetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) == CL_SUCCESS)
      outSeconds[i] = 1e-9 * (double)(end - start);
  }
}

pnDeviceFrame pnDeviceWorld_Finish(pnDeviceWorld *world) {
  PN_ASSERT(world);
  pnDeviceFrame frame = {0};
  if (!world->running) {
    frame.result = pn_fail(PN_ERROR_ARGUMENT, "device world: no frame was begun");
    return frame;
  }
  if (world->triangleCount == 0) memset(world->head, 0, sizeof world->head);
  frame.result = world->triangleCount > 0 ? readHead(world) : PN_OK;
  while (frame.result == PN_OK && world->head[PN_HEAD_OVERFLOW] != 0) {
    if (frame.reruns++ == MOST_RERUNS)
      frame.result = pn_fail(PN_ERROR_MEMORY, "device world: the frame has more pairs than can be counted");
    if (frame.result == PN_OK) frame.result = growLists(world);
    if (frame.result == PN_OK) frame.result = pn_enqueueFrame(world);
    if (frame.result == PN_OK) frame.result = readHead(world);
  }
  // the end of a frame that was read comes after its uploads
  if (frame.result == PN_OK) world->reading = false;
  else pn_settle(world);
  world->running = world->downloaded = false;
  if (frame.result == PN_OK && world->triangleCount > 0 && world->head[PN_HEAD_BAD] != PN_NONE)
    frame.result = pn_failNumber(world);
  world->finished = world->knowsSizes = frame.result == PN_OK;
  if (world->finished) {
    world->last = world->head[PN_HEAD_PAIRS];
    pn_noteSeconds(world->device, world->stageEvents, PN_STAGE_COUNT, world->stageSeconds);
    frame.pairCount = world->head[PN_HEAD_PAIRS];
    frame.limited = world->limited = pn_isLimited(world) && world->head[PN_HEAD_FOUND] > world->head[PN_HEAD_PAIRS];
    frame.superPairs = world->head[PN_HEAD_SUPERS];
    frame.clusterPairs = world->head[PN_HEAD_CLUSTERS];
    frame.candidates = world->head[PN_HEAD_CANDIDATES];
    frame.uncertain = world->head[PN_HEAD_UNSURE];
  }
  frame.seconds = pn_clock() - world->begun;
  return frame;
}

pnDeviceResults pnDeviceWorld_GetResults(const pnDeviceWorld *world) {
  return (pnDeviceResults){world->buffers[pn_isSorted(world) ? PN_BUFFER_SORTED : PN_BUFFER_LIST_PAIRS],
                           world->buffers[PN_BUFFER_HEAD], world->event};
}

/* ---------------------------------------------------------------- downloading */

/* The body of a triangle of the world; the last answer is tried first. */
static uint32_t bodyOf(const pnDeviceWorld *world, uint32_t triangle, uint32_t last) {
  const pnDeviceBody *bodies = world->bodies.data;
  if (triangle >= bodies[last].firstTriangle &&
      triangle - bodies[last].firstTriangle < bodies[last].pose->mesh->triangleCount)
    return last;
  uint32_t low = 0, high = (uint32_t)world->bodies.count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (bodies[middle].firstTriangle <= triangle) low = middle;
    else high = middle;
  }
  return low;
}

/* A world of one body: its numbers are the mesh's, and the pairs stay where they are. */
static pnResult oneContact(pnDeviceWorld *world, const pnPair *pairs, size_t n) {
  world->contacts.count = 0;
  world->answer = pairs;
  world->answerCount = n;
  if (n == 0) return PN_OK;
  const pnDeviceContact contact = {.pairCount = n};
  return pn_arrayPush(&world->contacts, contact) ? PN_OK : pn_failMemory(sizeof contact);
}

/* Pairs by contact, in the order they are in, and with the numbers of their meshes. Keys are two bodies in one number. */
static pnResult makeContacts(pnDeviceWorld *world, const pnPair *pairs, size_t n) {
  const uint32_t bodies = (uint32_t)world->bodies.count;
  if (!pn_arrayReserve(&world->scratch, 2 * n)) return pn_failMemory(2 * n * sizeof(uint64_t));
  if (!pn_arrayReserve(&world->pairs, n)) return pn_failMemory(n * sizeof(pnPair));
  pnKeyValue *keys = (pnKeyValue *)(void *)world->scratch.data, *other = n > 0 ? keys + n : keys;
  uint32_t a = 0, b = 0;
  for (size_t i = 0; i < n; ++i) {
    a = bodyOf(world, pairs[i].a, a);
    b = bodyOf(world, pairs[i].b, b);
    keys[i] = (pnKeyValue){a * bodies + b, (uint32_t)i};
  }
  pn_sortKeyValue(keys, other, n);
  world->contacts.count = 0;
  for (size_t i = 0; i < n; ++i) {
    a = keys[i].key / bodies, b = keys[i].key % bodies;
    if (i == 0 || keys[i].key != keys[i - 1].key) {
      const pnDeviceContact contact = {.a = a, .b = b, .firstPair = i};
      if (!pn_arrayPush(&world->contacts, contact)) return pn_failMemory(sizeof contact);
    }
    ++world->contacts.data[world->contacts.count - 1].pairCount;
    const pnPair pair = pairs[keys[i].value];
    world->pairs.data[i] =
        (pnPair){pair.a - world->bodies.data[a].firstTriangle, pair.b - world->bodies.data[b].firstTriangle};
  }
  world->answer = world->pairs.data;
  world->answerCount = n;
  return PN_OK;
}

/* With more bodies than the device has a table for, it found all pairs where the first was wanted. */
static void keepFirsts(pnDeviceWorld *world) {
  for (size_t c = 0; c < world->contacts.count; ++c) {
    pnDeviceContact *contact = &world->contacts.data[c];
    world->pairs.data[c] = world->pairs.data[contact->firstPair];
    contact->firstPair = c;
    contact->pairCount = 1;
  }
  world->answerCount = world->contacts.count;
}

/* The first so many pairs, in the order of contacts, where the device did not see to it. */
static void keepMost(pnDeviceWorld *world) {
  const size_t most = world->def.maxPairs;
  if (most == 0 || world->answerCount <= most) return;
  world->limited = true;
  size_t count = 0;
  while (count < world->contacts.count && world->contacts.data[count].firstPair < most) ++count;
  world->contacts.count = count;
  pnDeviceContact *last = &world->contacts.data[count - 1];
  last->pairCount = PN_MIN(last->pairCount, most - last->firstPair);
  world->answerCount = most;
}

/* Who is new, and who is gone: both lists are sorted by a, then b. `before` is the frame before, without those that had ended. */
static pnResult compareBefore(pnDeviceWorld *world) {
  const size_t count = world->contacts.count, old = world->before.count;
  if (!pn_arrayReserve(&world->contacts, count + old)) return pn_failMemory((count + old) * sizeof(pnDeviceContact));
  if (count + old == 0) {
    world->endedCount = 0;
    return PN_OK; /* and there may be no list yet */
  }
  pnDeviceContact *now = world->contacts.data, *ended = now + count;
  size_t i = 0, k = 0;
  world->endedCount = 0;
  while (i < count || k < old) {
    const pnDeviceContact *x = &now[i], *y = old > 0 ? &world->before.data[k] : NULL;
    const bool later = i == count || (k < old && (x->a > y->a || (x->a == y->a && x->b > y->b)));
    if (later) {
      ended[world->endedCount++] = (pnDeviceContact){.a = y->a, .b = y->b, .state = PN_DEVICE_CONTACT_END};
      ++k;
      continue;
    }
    const bool known = k < old && x->a == y->a && x->b == y->b;
    now[i++].state = known ? PN_DEVICE_CONTACT_PERSIST : PN_DEVICE_CONTACT_BEGIN;
    k += known;
  }
  if (!pn_arrayReserve(&world->before, count)) return pn_failMemory(count * sizeof(pnDeviceContact));
  if (count > 0) memcpy(world->before.data, now, count * sizeof *now);
  world->before.count = count;
  return PN_OK;
}

pnResult pnDeviceWorld_Download(pnDeviceWorld *world) {
  PN_ASSERT(world);
  if (!world->finished) return pn_fail(PN_ERROR_ARGUMENT, "device world: no frame was finished");
  if (world->downloaded) return PN_OK;
  const size_t n = world->def.countOnly ? 0 : world->head[PN_HEAD_PAIRS];
  pnResult result = PN_OK;
  if (n > world->fetched) {
    result = reservePinned(world, n);
    if (result == PN_OK) result = readPairs(world, n);
    if (result == PN_OK) world->fetched = (uint32_t)n;
  }
  const pnPair *pairs = (const pnPair *)(const void *)(world->pinnedMemory ? world->pinnedMemory + HEAD_BYTES : NULL);
  if (result == PN_OK) result = world->bodies.count == 1 ? oneContact(world, pairs, n) : makeContacts(world, pairs, n);
  if (result == PN_OK && world->def.first && world->bodies.count > PN_MAX_MET_BODIES) keepFirsts(world);
  if (result == PN_OK) keepMost(world);
  // who only counts has no contacts to compare
  world->endedCount = 0;
  if (result == PN_OK && !world->def.countOnly) result = compareBefore(world);
  if (result != PN_OK) world->answerCount = world->contacts.count = 0;
  world->downloaded = result == PN_OK;
  return result;
}

pnDeviceFrame pnDeviceWorld_Collide(pnDeviceWorld *world, const pnDeviceFrameDef *def) {
  pnDeviceFrame frame = {.result = pnDeviceWorld_Begin(world, def)};
  if (frame.result != PN_OK) return frame;
  world->eager = true;
  frame = pnDeviceWorld_Finish(world);
  world->eager = false;
  if (frame.result != PN_OK) return frame;
  frame.result = pnDeviceWorld_Download(world);
  frame.contactCount = (uint32_t)world->contacts.count;
  frame.endedCount = world->endedCount;
  frame.limited = world->limited;
  if (!world->def.countOnly) frame.pairCount = world->answerCount;
  frame.seconds = pn_clock() - world->begun;
  return frame;
}

const pnDeviceContact *pnDeviceWorld_GetContacts(const pnDeviceWorld *world) {
  return world->contacts.data;
}

const pnPair *pnDeviceWorld_GetPairs(const pnDeviceWorld *world) {
  return world->answer;
}
