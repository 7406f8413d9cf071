/* gltf_weld.c: vertices that are one vertex in every pose.
 *
 * Exporters split a vertex where normals, colours or texture coordinates jump. For collisions the copies are one, if
 * nothing that moves vertices can tell them apart: rest position, every delta, joints and weights. Sorting by all that
 * brings copies together. A hash of it comes first in the order, so that different vertices are told apart by one number;
 * a file made so that hashes collide still costs no more than a sort. */
#include <stdlib.h>
#include <string.h>

#include "gltf.h"

typedef struct pnGltfKey {
  uint64_t hash;
  const pnAnimBody *body; /* for the comparison, which is handed nothing else */
  uint32_t vertex;
} pnGltfKey;

/* One step of a 64-bit mix (multiply, fold). */
static uint64_t mix(uint64_t hash, uint64_t bits) {
  hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 29;
}

/* The bits of a float, with -0 as 0: they are the same place. */
static uint32_t floatBits(float number) {
  uint32_t bits;
  number += 0.0f;
  memcpy(&bits, &number, sizeof(bits));
  return bits;
}

static uint64_t mixPoint(uint64_t hash, const float *p) {
  hash = mix(hash, (uint64_t)floatBits(p[0]) << 32 | floatBits(p[1]));
  return mix(hash, floatBits(p[2]));
}

static void hashVertices(const pnAnimBody *body, pnGltfKey *keys) {
  for (uint32_t v = 0; v < body->vertexCount; ++v) {
    uint64_t hash = mixPoint(0, body->vertices + (size_t)v * 3);
    for (uint32_t k = 0; k < body->influenceCount; ++k) {
      size_t i = (size_t)v * body->influenceCount + k;
      hash = mix(hash, (uint64_t)body->jointIndices[i] << 32 | floatBits(body->jointWeights[i]));
    }
    keys[v] = (pnGltfKey){hash, body, v};
  }
  for (uint32_t t = 0; t < body->targetCount; ++t) {
    const pnAnimTarget *target = &body->targets[t];
    for (uint32_t i = 0; i < target->count; ++i) {
      pnGltfKey *key = &keys[target->vertices[i]];
      key->hash = mixPoint(mix(key->hash, t), target->deltas + (size_t)i * 3);
    }
  }
}

/* The delta of a vertex in a target, null when it does not move. */
static const float *findDelta(const pnAnimTarget *target, uint32_t vertex) {
  uint32_t low = 0, high = target->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (target->vertices[middle] < vertex) low = middle + 1;
    else high = middle;
  }
  return low < target->count && target->vertices[low] == vertex ? target->deltas + (size_t)low * 3 : NULL;
}

/* Order by bits, -0 as 0: zero exactly for equal numbers. */
static int compareFloats(const float *a, const float *b, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t x = floatBits(a[i]), y = floatBits(b[i]);
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

/* By everything that moves a vertex: zero when no pose tells the two apart. */
static int compareVertices(const pnAnimBody *body, uint32_t a, uint32_t b) {
  int order = compareFloats(body->vertices + (size_t)a * 3, body->vertices + (size_t)b * 3, 3);
  size_t i = (size_t)a * body->influenceCount, j = (size_t)b * body->influenceCount;
  for (uint32_t k = 0; k < body->influenceCount && order == 0; ++k, ++i, ++j) {
    order = (body->jointIndices[i] > body->jointIndices[j]) - (body->jointIndices[i] < body->jointIndices[j]);
    if (order == 0) order = compareFloats(&body->jointWeights[i], &body->jointWeights[j], 1);
  }
  for (uint32_t t = 0; t < body->targetCount && order == 0; ++t) {
    const float *x = findDelta(&body->targets[t], a), *y = findDelta(&body->targets[t], b);
    order = x != NULL && y != NULL ? compareFloats(x, y, 3) : (x != NULL) - (y != NULL);
  }
  return order;
}

static int compareKeys(const void *a, const void *b) {
  const pnGltfKey *x = a, *y = b;
  if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
  int order = compareVertices(x->body, x->vertex, y->vertex);
  return order != 0 ? order : (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

pnResult pn_gltfWeld(pnGltf *g, pnAnimBody *body) {
  uint32_t count = body->vertexCount;
  uint32_t *weld = pn_gltfKeep(g, count, sizeof(uint32_t));
  pnGltfKey *keys = pn_gltfScratch(g, count, sizeof(pnGltfKey));
  if (weld == NULL || keys == NULL) return pn_gltfNoMemory(g);
  body->vertexWeld = weld;
  hashVertices(body, keys);
  qsort(keys, count, sizeof(pnGltfKey), compareKeys);

  /* Equal ones stand side by side, the lowest first: it stands for all of them. */
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t vertex = keys[i].vertex, before = i > 0 ? keys[i - 1].vertex : vertex;
    bool same = i > 0 && keys[i].hash == keys[i - 1].hash && compareVertices(body, before, vertex) == 0;
    weld[vertex] = same ? weld[before] : vertex;
  }
  return PN_OK;
}
