/* rest.c: see rest.h. A second tree of the same shape over a pose at rest is asked about itself, without filters and without
 * proofs that would ask for these pairs. */
#include "collide/rest.h"

#include "collide/jobs.h"
#include "collide/shape_file.h"

#include <stdlib.h>

/* Sorted keys: the smaller triangle above the larger one. */
typedef struct RestPairs {
  size_t count;
  uint64_t keys[];
} RestPairs;

static uint64_t keyOf(uint32_t a, uint32_t b) {
  return (uint64_t)PN_MIN(a, b) << 32 | PN_MAX(a, b);
}

/* All self pairs of an updated tree into a collider. */
static pnResult searchAll(pnTree *tree, pnCollider *collider) {
  pnTasks alone = {0};
  pnCost cost = {0};
  pnAsk ask = {.neighbours = true, .without = PN_PROOF_BIT(PN_PROOF_CALM)};
  pnJob job = {.a = tree, .neighbours = true};
  pnResult result = pn_prepareProofs(tree, &ask, &job.proofs);
  if (result != PN_OK) return result;
  pnRunDef run = {.tasks = &alone, .kernel = PN_KERNEL_DEFAULT};
  bool limited;
  return pn_runJobs(collider, &job, 1, &run, &cost, &limited);
}

static pnResult keepPairs(const pnPairs *pairs, void **outData, size_t *outBytes) {
  *outBytes = sizeof(RestPairs) + pairs->count * sizeof(uint64_t);
  RestPairs *rest = *outData = pn_alloc(*outBytes);
  if (!rest) return pn_failMemory(*outBytes);
  rest->count = pairs->count;
  for (size_t i = 0; i < pairs->count; ++i) rest->keys[i] = keyOf(pairs->data[i].a, pairs->data[i].b);
  return PN_OK;
}

static pnResult makeRest(void *context, void **outData, size_t *outBytes) {
  const pnTree *tree = context;
  pnPose *pose = NULL;
  pnTree *rest = NULL;
  pnCollider collider = {0};
  pnResult result = pn_createRestPose(tree->pose, &pose);
  if (result == PN_OK) {
    pnTreePlan def = tree->def;
    def.pose = pose;
    def.twin = tree;
    result = pn_createTree(&def, &rest);
  }
  if (result == PN_OK) result = searchAll(rest, &collider);
  if (result == PN_OK) result = keepPairs(&collider.pairs, outData, outBytes);
  pn_colliderFree(&collider);
  pnDestroyTree(rest);
  pnDestroyPose(pose);
  return result;
}

pnResult pn_prepareRest(const pnTree *tree) {
  return pn_makePart(tree->shape, PN_PART_REST, makeRest, (void *)(uintptr_t)tree);
}

static int compareU64(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

bool pn_meetAtRest(const pnShape *shape, uint32_t a, uint32_t b) {
  const RestPairs *rest = pn_partOf(shape, PN_PART_REST);
  uint64_t key = keyOf(a, b);
  return rest && rest->count > 0 && bsearch(&key, rest->keys, rest->count, sizeof key, compareU64);
}

/* ---------------------------------------------------------------- as bytes */

void pn_writeRest(const pnShape *shape, pnByteWriter *w) {
  const RestPairs *rest = pn_partOf(shape, PN_PART_REST);
  pn_putU64(w, rest->count);
  pn_putBytes(w, rest->keys, rest->count * sizeof(uint64_t));
}

typedef struct RestReading {
  const pnShape *shape;
  pnByteReader *r;
} RestReading;

static bool arePairs(const pnMesh *mesh, const RestPairs *rest) {
  for (size_t i = 0; i < rest->count; ++i) {
    uint32_t a = (uint32_t)(rest->keys[i] >> 32), b = (uint32_t)rest->keys[i];
    if (a >= b || b >= mesh->triangleCount || (i > 0 && rest->keys[i] <= rest->keys[i - 1])) return false;
  }
  return true;
}

static pnResult takeRest(void *context, void **outData, size_t *outBytes) {
  const RestReading *reading = context;
  pnByteReader *r = reading->r;
  uint64_t count = pn_takeU64(r);
  const pnMesh *mesh = reading->shape->mesh;
  if (!pn_hasLeft(r, count, sizeof(uint64_t)))
    return pn_fail(PN_ERROR_FORMAT, "shape of mesh '%s': it ends within its pairs at rest", mesh->name);
  *outBytes = sizeof(RestPairs) + (size_t)count * sizeof(uint64_t);
  RestPairs *rest = *outData = pn_alloc(*outBytes);
  if (!rest) return pn_failMemory(*outBytes);
  rest->count = (size_t)count;
  pn_takeBytes(r, rest->keys, rest->count * sizeof(uint64_t));
  if (!arePairs(mesh, rest)) {
    pn_free(rest, *outBytes);
    return pn_fail(PN_ERROR_FORMAT, "shape of mesh '%s': its pairs at rest are not sorted pairs of triangles",
                   mesh->name);
  }
  return PN_OK;
}

pnResult pn_readRest(const pnShape *shape, pnByteReader *r) {
  RestReading reading = {shape, r};
  return pn_makePart(shape, PN_PART_REST, takeRest, &reading);
}
