/* gltf_weld.c: vertices that are one vertex in every pose.
 *
 * Exporters split a vertex where normals, colours or texture coordinates jump. For collisions the copies are one, if
 * nothing that moves vertices can tell them apart: rest position, every delta, joints and weights. Each vertex gets a
 * hash of all that; equal hashes are brought together by sorting and compared in full, so a collision of hashes costs
 * time and never an answer. */
#include <stdlib.h>
#include <string.h>

#include "gltf.h"

typedef struct pnGltfKey {
  uint64_t hash;
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
    keys[v] = (pnGltfKey){hash, v};
  }
  for (uint32_t t = 0; t < body->targetCount; ++t) {
    const pnAnimTarget *target = &body->targets[t];
    for (uint32_t i = 0; i < target->count; ++i) {
      pnGltfKey *key = &keys[target->vertices[i]];
      key->hash = mixPoint(mix(key->hash, t), target->deltas + (size_t)i * 3);
    }
  }
}

static int compareKeys(const void *a, const void *b) {
  const pnGltfKey *x = a, *y = b;
  if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
  return x->vertex < y->vertex ? -1 : 1;
}

/* The delta of a vertex in a target, null when it does not move. */
static const float *findDelta(const pnAnimTarget *target, uint32_t vertex) {
  uint32_t low = 0, high = target->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (target->vertices[middle] < vertex) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < target->count && target->vertices[low] == vertex ? target->deltas + (size_t)low * 3 : NULL;
}

static bool samePoint(const float *a, const float *b) {
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static bool sameVertex(const pnAnimBody *body, uint32_t a, uint32_t b) {
  if (!samePoint(body->vertices + (size_t)a * 3, body->vertices + (size_t)b * 3)) return false;
  for (uint32_t k = 0; k < body->influenceCount; ++k) {
    size_t i = (size_t)a * body->influenceCount + k, j = (size_t)b * body->influenceCount + k;
    if (body->jointIndices[i] != body->jointIndices[j] || body->jointWeights[i] != body->jointWeights[j]) return false;
  }
  for (uint32_t t = 0; t < body->targetCount; ++t) {
    const float *x = findDelta(&body->targets[t], a), *y = findDelta(&body->targets[t], b);
    if ((x == NULL) != (y == NULL) || (x != NULL && !samePoint(x, y))) return false;
  }
  return true;
}

pnResult pn_gltfWeld(pnGltf *g, pnAnimBody *body) {
  uint32_t count = body->vertexCount;
  uint32_t *weld = pn_gltfKeep(g, count, sizeof(uint32_t));
  pnGltfKey *keys = pn_gltfScratch(g, count, sizeof(pnGltfKey));
  if (weld == NULL || keys == NULL) return pn_gltfNoMemory(g);
  body->vertexWeld = weld;
  hashVertices(body, keys);
  qsort(keys, count, sizeof(pnGltfKey), compareKeys);

  /* Inside of a run of equal hashes, the first equal vertex is the representative. */
  for (uint32_t i = 0, run = 0; i < count; ++i) {
    if (keys[i].hash != keys[run].hash) run = i;
    uint32_t vertex = keys[i].vertex;
    weld[vertex] = vertex;
    for (uint32_t j = run; j < i; ++j) {
      uint32_t other = keys[j].vertex;
      if (weld[other] == other && sameVertex(body, vertex, other)) {
        weld[vertex] = other;
        break;
      }
    }
  }
  return PN_OK;
}
