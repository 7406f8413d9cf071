/* world.c: bodies by id. The frame itself is in step.c. */
#include "world/follow.h"

#include "base/fenv.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- world */

pnWorldDef pnDefaultWorldDef(void) {
  return (pnWorldDef){.rebuildQuality = 2.0f, .cookie = PN_COOKIE};
}

pnResult pnCreateWorld(const pnWorldDef *def, pnWorld **outWorld) {
  PN_ASSERT(outWorld);
  pnWorldDef fallback = pnDefaultWorldDef();
  *outWorld = NULL;
  pnResult result = def ? pn_checkCookie(def->cookie, "pnWorldDef") : PN_OK;
  if (result != PN_OK) return result;
  pnWorld *world = pn_allocZero(sizeof(pnWorld));
  if (!world) return pn_failMemory(sizeof(pnWorld));
  world->def = def ? *def : fallback;
  world->lab = world->def.lab ? *world->def.lab : (pnWorldLab){0};
  world->def.lab = NULL; /* the caller's, and read */
  *outWorld = world;
  return PN_OK;
}

void pnDestroyWorld(pnWorld *world) {
  if (!world) return;
  for (size_t i = 0; i < world->bodies.count; ++i)
    if (world->bodies.data[i].generation & 1) pn_bodyFree(&world->bodies.data[i]);
  pn_arrayFree(&world->bodies);
  pn_arrayFree(&world->twins.first);
  pn_freeLists(world);
  pn_arrayFree(&world->sets);
  pn_arrayFree(&world->jobs);
  pn_arrayFree(&world->jobBodies);
  pn_arrayFree(&world->isBegun);
  pn_arrayFree(&world->perches);
  pn_arrayFree(&world->blurred);
  pn_colliderFree(&world->collider);
  pn_arrayFree(&world->pairs);
  pn_arrayFree(&world->contacts);
  pn_arrayFree(&world->nextContacts);
  pn_freeBroad(&world->stepBroad);
  pnDestroyImpactList(world->stepList);
  pn_arrayFree(&world->stepPairs);
  pn_arrayFree(&world->stepSweeps);
  pn_arrayFree(&world->stepContacts);
  pn_arrayFree(&world->impacts);
  pn_arrayFree(&world->stirred);
  pn_arrayFree(&world->splices);
  pn_arrayFree(&world->generations);
  pn_arrayFree(&world->nextGenerations);
  pn_free(world, sizeof(pnWorld));
}

/* ---------------------------------------------------------------- bodies */

pnBody *pn_findBody(const pnWorld *world, pnBodyId id) {
  if (id.index1 >= 1 && id.index1 <= world->bodies.count) {
    pnBody *body = &world->bodies.data[id.index1 - 1];
    if ((body->generation & 1) && body->generation == id.generation) return body;
  }
  pn_fail(PN_ERROR_ID, "body id %u (generation %u) is null or was destroyed", id.index1, id.generation);
  return NULL;
}

/* The place given up last, or a new one; false: out of memory. */
static bool takePlace(pnWorld *world, uint32_t *outPlace) {
  if (world->freePlace) {
    *outPlace = world->freePlace - 1;
    world->freePlace = world->bodies.data[*outPlace].freeNext;
    return true;
  }
  *outPlace = (uint32_t)world->bodies.count;
  return pn_reserveTwins(&world->twins, world->bodies.data, world->bodies.count, world->bodies.count + 1) &&
         pn_reserveLists(world, world->bodies.count + 1) && pn_arrayPush(&world->bodies, (pnBody){0});
}

static void givePlaceBack(pnWorld *world, uint32_t place) {
  world->bodies.data[place].freeNext = world->freePlace;
  world->freePlace = place + 1;
}

pnResult pnWorld_CreateBody(pnWorld *world, const pnBodyDef *def, pnBodyId *outBody) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world && def && outBody);
  *outBody = (pnBodyId){0};
  uint32_t place;
  if (!takePlace(world, &place)) return pn_failMemory(sizeof(pnBody));
  pnBodyDef with = *def;
  with.tree.twin = def->tree.twin ? def->tree.twin : pn_findTwin(&world->twins, world->bodies.data, def);
  if (!with.tree.tasks.parallelFor) with.tree.tasks = world->def.tasks;
  pnResult result = pn_bodyCreate(&world->bodies.data[place], &with);
  if (result != PN_OK) {
    givePlaceBack(world, place);
    return result;
  }
  ++world->bodies.data[place].generation;
  pn_addTwin(&world->twins, world->bodies.data, place);
  pn_enterLists(world, &world->bodies.data[place]);
  ++world->bodyCount;
  *outBody = pn_bodyId(world, place);
  return PN_OK;
}

pnResult pnWorld_DestroyBody(pnWorld *world, pnBodyId id) {
  pnBody *body = pn_findBody(world, id);
  if (!body) return PN_ERROR_ID;
  pn_removeTwin(&world->twins, world->bodies.data, id.index1 - 1);
  pn_leaveLists(world, body);
  pn_bodyFree(body);
  ++body->generation;
  givePlaceBack(world, id.index1 - 1);
  --world->bodyCount;
  return PN_OK;
}

uint32_t pnWorld_GetBodyCount(const pnWorld *world) {
  return world->bodyCount;
}

bool pnBody_IsValid(const pnWorld *world, pnBodyId id) {
  return id.index1 >= 1 && id.index1 <= world->bodies.count && (id.generation & 1) &&
         world->bodies.data[id.index1 - 1].generation == id.generation;
}

/* ---------------------------------------------------------------- moving */

pnResult pn_nameBody(const pnBody *body, pnResult result) {
  char message[400];
  if (result == PN_OK) return result;
  snprintf(message, sizeof message, "%s", pnGetMessage());
  return pn_fail(result, "body '%s': %s", body->name, message);
}

/* What a call that moves a body returns. */
static pnResult moved(pnWorld *world, pnBody *body, pnResult result) {
  pn_touchBody(world, body);
  return pn_nameBody(body, result);
}

/* The body of an id, if it takes vertices; null, with *outResult and its message, if not. It counts as touched from now on: whoever looks
 * finds out whether it has moved. */
static pnBody *findFree(pnWorld *world, pnBodyId id, pnResult *outResult) {
  pnBody *body = pn_findBody(world, id);
  *outResult = body ? PN_OK : PN_ERROR_ID;
  if (!body) return NULL;
  if (!pn_kindOf(body->kind)->vertices) {
    *outResult = pn_fail(PN_ERROR_KIND, "body '%s': only a free body takes vertices; use %s", body->name,
                         body->soup ? "pnSoup_SetAll" : "its transform, weights or joints");
    return NULL;
  }
  pn_touchBody(world, body);
  return body;
}

/* Entry `at` names a body that an entry before it has named. */
static pnResult refuseSecond(const pnBody *body, const pnBodyVertices *list, uint32_t at) {
  uint32_t first = 0;
  while (list[first].body.index1 != list[at].body.index1) ++first;
  return pn_fail(PN_ERROR_ARGUMENT, "body '%s': it is in the list twice, as entries %u and %u", body->name, first, at);
}

pnResult pnWorld_SetVertices(pnWorld *world, const pnBodyVertices *list, uint32_t count) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world && (list || count == 0));
  if (!pn_arrayReserve(&world->sets, count)) return pn_failMemory(pn_bytes(count, sizeof(pnVertexSet)));
  pnResult result;
  ++world->setNumber;
  for (uint32_t i = 0; i < count; ++i) {
    pnBody *body = findFree(world, list[i].body, &result);
    if (result == PN_ERROR_ID)
      return pn_fail(result, "entry %u of the list: body id %u (generation %u) is null or was destroyed", i,
                     list[i].body.index1, list[i].body.generation);
    if (!body) return result;
    if (body->setNumber == world->setNumber) return refuseSecond(body, list, i);
    body->setNumber = world->setNumber;
    world->sets.data[i] = (pnVertexSet){.pose = body->pose, .from = list[i].vertices, .count = list[i].count};
  }
  uint32_t failed;
  result = pn_setVertices(world->sets.data, count, &world->def.tasks, &failed);
  return result == PN_OK ? PN_OK : pn_nameBody(pn_findBody(world, list[failed].body), result);
}

pnResult pnBody_SetVertices(pnWorld *world, pnBodyId id, const float *vertices, uint32_t count) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world && (vertices || count == 0));
  pnResult result;
  pnBody *body = findFree(world, id, &result);
  if (!body) return result;
  pnVertexSet set = {.pose = body->pose, .from = vertices, .count = count};
  uint32_t failed;
  return pn_nameBody(body, pn_setVertices(&set, 1, &world->def.tasks, &failed));
}

pnResult pnBody_ShareVertices(pnWorld *world, pnBodyId id, const float *vertices, uint32_t count) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world && (vertices || count == 0));
  pnResult result;
  pnBody *body = findFree(world, id, &result);
  return body ? pn_nameBody(body, pnPose_ShareVertices(body->pose, vertices, count)) : result;
}

pnResult pnBody_SetTransform(pnWorld *world, pnBodyId id, const pnMatrix *transform) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world && transform);
  pnBody *body = pn_findBody(world, id);
  if (!body) return PN_ERROR_ID;
  const char *reason = pn_kindOf(body->kind)->noTransform;
  if (reason) return pn_fail(PN_ERROR_KIND, "body '%s': %s", body->name, reason);
  return moved(world, body, pnPose_SetTransform(body->pose, transform));
}

pnResult pnBody_SetWeights(pnWorld *world, pnBodyId id, const float *weights, uint32_t count) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world && (weights || count == 0));
  pnBody *body = pn_findBody(world, id);
  if (!body) return PN_ERROR_ID;
  if (!pn_kindOf(body->kind)->weights)
    return pn_fail(PN_ERROR_KIND, "body '%s': only a morphing or skinned body takes weights", body->name);
  return moved(world, body, pnPose_SetWeights(body->pose, weights, count));
}

pnResult pnBody_SetJoints(pnWorld *world, pnBodyId id, const pnMatrix *joints, uint32_t count) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world && (joints || count == 0));
  pnBody *body = pn_findBody(world, id);
  if (!body) return PN_ERROR_ID;
  if (!pn_kindOf(body->kind)->joints)
    return pn_fail(PN_ERROR_KIND, "body '%s': only a skinned body takes joints", body->name);
  return moved(world, body, pnPose_SetJoints(body->pose, joints, count));
}

pnResult pnBody_SetFilter(pnWorld *world, pnBodyId id, uint32_t category, uint32_t mask) {
  pnBody *body = pn_findBody(world, id);
  if (!body) return PN_ERROR_ID;
  body->category = category;
  body->mask = mask;
  pn_touchBody(world, body);
  return PN_OK;
}

/* ---------------------------------------------------------------- getters */

const pnPose *pnBody_GetPose(const pnWorld *world, pnBodyId id) {
  const pnBody *body = pn_findBody(world, id);
  return body ? body->pose : NULL;
}

pnTree *pnBody_GetTree(pnWorld *world, pnBodyId id) {
  pnBody *body = pn_findBody(world, id);
  return body ? body->tree : NULL;
}

void *pnBody_GetUserData(const pnWorld *world, pnBodyId id) {
  pnBody *body = pn_findBody(world, id);
  return body ? body->userData : NULL;
}

const char *pnBody_GetName(const pnWorld *world, pnBodyId id) {
  pnBody *body = pn_findBody(world, id);
  return body ? body->name : "";
}
