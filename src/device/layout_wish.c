/* layout_wish.c: filters for self pairs (pnSelfFilter) as the device reads them: rings of the mesh, groups, and the pairs that
 * meet at rest, which the processor finds once. */
#include "device/world.h"

#include "collide/filter.h"

#include <string.h>

typedef PN_ARRAY(uint32_t) Numbers;

static bool add(Numbers *n, const void *data, size_t count, uint32_t *outFirst) {
  *outFirst = (uint32_t)n->count;
  if (!pn_arrayReserve(n, n->count + count)) return false;
  if (count > 0) memcpy(n->data + n->count, data, count * sizeof(uint32_t));
  n->count += count;
  return true;
}

/* Does the device look at the pairs this body is found with? Where neighbours come as candidates, ring 1 too. */
static bool isLookedAt(const pnDeviceWorld *world, const pnDeviceBody *body) {
  return body->self && (pn_hasFilter(&body->filter, body->pose->mesh) || (body->filter.ring > 0 && !world->nearOnList));
}

/* Pairs of the body in its rest pose, without a filter; sorted. */
static pnResult addRest(const pnDeviceBody *body, Numbers *numbers, pnWish *wish) {
  pnPose *pose = NULL;
  pnTree *tree = NULL;
  pnPairList *list = NULL;
  pnResult result = pn_createRestPose(body->pose, &pose);
  if (result == PN_OK) {
    pnTreeDef def = pnDefaultTreeDef();
    def.pose = pose;
    def.self = true;
    result = pnCreateTree(&def, &tree);
  }
  if (result == PN_OK) result = pnCreatePairList(&list);
  if (result == PN_OK) result = pnCollideSelf(tree, NULL, list, NULL);
  if (result == PN_OK) {
    wish->restCount = (uint32_t)pnPairList_GetCount(list);
    if (numbers->count % 2 != 0 && !pn_arrayPush(numbers, 0)) result = pn_failMemory(4);
    else if (!add(numbers, pnPairList_GetPairs(list), 2 * (size_t)wish->restCount, &wish->rest))
      result = pn_failMemory(8 * (size_t)wish->restCount);
  }
  pnDestroyPairList(list);
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  return result;
}

static pnResult addWish(const pnDeviceWorld *world, const pnDeviceBody *body, Numbers *numbers, pnWish *wish) {
  *wish = (pnWish){.groups = PN_NONE};
  if (!isLookedAt(world, body)) return PN_OK;
  const pnMesh *mesh = body->pose->mesh;
  wish->ring = body->filter.ring;
  bool good = true;
  if (body->filter.triangleGroup) good = add(numbers, body->filter.triangleGroup, mesh->triangleCount, &wish->groups);
  if (wish->ring > 0) {
    wish->welded = mesh->welded;
    wish->vertexFirst = body->firstVertex;
    good = good && add(numbers, mesh->triangles, 3 * (size_t)mesh->triangleCount, &wish->triangles) &&
           add(numbers, mesh->weld, mesh->vertexCount, &wish->welds) &&
           add(numbers, mesh->ringOffsets, (size_t)mesh->vertexCount + 1, &wish->ringFirst) &&
           add(numbers, mesh->rings, mesh->ringCount, &wish->rings);
  }
  if (!good) return pn_failMemory(numbers->count * sizeof(uint32_t));
  return body->filter.ignoreRest ? addRest(body, numbers, wish) : PN_OK;
}

pnResult pn_layOutWishes(pnDeviceWorld *world) {
  world->filtered = false;
  for (size_t b = 0; b < world->bodies.count; ++b)
    world->filtered = world->filtered || isLookedAt(world, &world->bodies.data[b]);
  if (!world->filtered) {
    pnResult result = pn_reserveBuffer(world, PN_BUFFER_WISHES, sizeof(pnWish));
    return result == PN_OK ? pn_reserveBuffer(world, PN_BUFFER_NUMBERS, sizeof(uint32_t)) : result;
  }
  Numbers numbers = {0};
  const size_t bytes = world->bodies.count * sizeof(pnWish);
  pnWish *wishes = pn_alloc(bytes);
  pnResult result = wishes ? PN_OK : pn_failMemory(bytes);
  for (size_t b = 0; b < world->bodies.count && result == PN_OK; ++b)
    result = addWish(world, &world->bodies.data[b], &numbers, &wishes[b]);
  if (result == PN_OK && numbers.count > UINT32_MAX)
    result = pn_fail(PN_ERROR_COUNT, "device world: its filters have more than 2^32 numbers");
  if (result == PN_OK) result = pn_fillBuffer(world, PN_BUFFER_WISHES, wishes, bytes);
  if (result == PN_OK) result = pn_fillBuffer(world, PN_BUFFER_NUMBERS, numbers.data, numbers.count * sizeof(uint32_t));
  pn_free(wishes, bytes);
  pn_arrayFree(&numbers);
  return result;
}
