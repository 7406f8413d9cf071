/* gltf_check.h: one input through the glTF reader or a vertex cache, with everything checked that is promised about the
 * answer; shared by the test (a fixed run of broken files) and test/fuzz/gltf.c (a long one). A broken promise ends the program. */
#ifndef PN_TEST_GLTF_CHECK_H
#define PN_TEST_GLTF_CHECK_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinch/io.h"

/* As assert, but also in a release build, and with a message where a fuzzer looks. */
#define CHECK(condition) \
  ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__, #condition), abort()))

static void checkTargets(const pnAnimBody *body) {
  for (uint32_t t = 0; t < body->targetCount; ++t) {
    const pnAnimTarget *target = &body->targets[t];
    CHECK(target->name != NULL && isfinite(body->restWeights[t]));
    for (uint32_t i = 0; i < target->count; ++i) {
      CHECK(target->vertices[i] < body->vertexCount && (i == 0 || target->vertices[i] > target->vertices[i - 1]));
      for (uint32_t c = 0; c < 3; ++c) CHECK(isfinite(target->deltas[i * 3 + c]));
    }
  }
}

static void checkInfluences(const pnAnimFile *file, const pnAnimBody *body) {
  CHECK(body->skin < file->skinCount && (body->influenceCount == 4 || body->influenceCount == 8));
  for (uint32_t v = 0; v < body->vertexCount; ++v) {
    const uint16_t *joints = body->jointIndices + (size_t)v * body->influenceCount;
    const float *weights = body->jointWeights + (size_t)v * body->influenceCount;
    double sum = 0;
    for (uint32_t k = 0; k < body->influenceCount; ++k) {
      CHECK(weights[k] >= 0 && joints[k] < file->skins[body->skin].jointCount);
      CHECK(weights[k] == 0 || k == 0 || (joints[k] > joints[k - 1] && weights[k - 1] > 0));
      sum += (double)weights[k];
    }
    CHECK(fabs(sum - 1.0) < 1e-5);
  }
}

static void checkBody(const pnAnimFile *file, const pnAnimBody *body) {
  CHECK(body->name != NULL && body->meshName != NULL && body->node < file->nodeCount && body->triangleCount > 0);
  for (size_t i = 0; i < (size_t)body->vertexCount * 3; ++i) CHECK(isfinite(body->vertices[i]));
  for (size_t i = 0; i < (size_t)body->triangleCount * 3; ++i) CHECK(body->triangles[i] < body->vertexCount);
  for (uint32_t v = 0; v < body->vertexCount; ++v) {
    uint32_t first = body->vertexWeld[v];
    CHECK(first <= v && body->vertexWeld[first] == first);
  }
  checkTargets(body);
  if (body->skin != PN_NONE) checkInfluences(file, body);
}

/* Every clip at moments before, inside and after it: finite matrices, or an error that says so. */
static void checkMoments(const pnAnimFile *file) {
  pnAnimState *state = NULL;
  if (pnCreateAnimState(file, &state) != PN_OK) return;
  for (uint32_t c = 0; c < file->clipCount; ++c) {
    double start = (double)file->clips[c].startTime, end = (double)file->clips[c].endTime;
    CHECK(start <= end);
    const double times[] = {start - 1, start, start + (end - start) * 0.37, end, end + 1};
    for (int i = 0; i < 5; ++i) {
      if (pnAnimState_Evaluate(state, c, times[i]) != PN_OK) continue;
      for (uint32_t b = 0; b < file->bodyCount; ++b) {
        const pnMatrix *transform = pnAnimState_GetTransform(state, b);
        for (int k = 0; k < 12; ++k) CHECK(isfinite(transform->m[k / 4][k % 4]));
        for (uint32_t t = 0; t < file->bodies[b].targetCount; ++t) CHECK(isfinite(pnAnimState_GetWeights(state, b)[t]));
      }
    }
  }
  pnDestroyAnimState(state);
}

/* Reads a document from memory. Answers whether it was accepted. */
static inline bool checkDocument(const uint8_t *bytes, size_t count) {
  /* A copy of exactly this size, so that a sanitizer sees a read past its end. */
  uint8_t *exact = malloc(count > 0 ? count : 1);
  if (count > 0) memcpy(exact, bytes, count);
  pnAnimFile *file = NULL;
  pnResult result = pnParseAnimFile(exact, count, NULL, &file);
  CHECK((result == PN_OK) == (file != NULL));
  if (result == PN_OK) {
    for (uint32_t b = 0; b < file->bodyCount; ++b) checkBody(file, &file->bodies[b]);
    CHECK(file->sceneCount > 0 && file->defaultScene < file->sceneCount);
    checkMoments(file);
  } else {
    CHECK(pnGetMessage()[0] != 0);
  }
  pnFreeAnimFile(file);
  free(exact);
  CHECK(pnGetByteCount() == 0);
  return result == PN_OK;
}

/* Reads a cache from a file of the given name, which it writes. */
static inline bool checkCache(const uint8_t *bytes, size_t count, const char *path) {
  FILE *stream = fopen(path, "wb");
  CHECK(stream != NULL && fwrite(bytes, 1, count, stream) == count);
  fclose(stream);
  pnCache *cache = NULL;
  pnResult result = pnOpenCache(path, &cache);
  CHECK((result == PN_OK) == (cache != NULL));
  if (result == PN_OK) {
    pnCacheInfo info = pnCache_GetInfo(cache);
    CHECK(info.frameCount > 0 && (uint64_t)info.frameCount * info.vertexCount * 12 <= count);
    float *vertices = malloc((size_t)info.vertexCount * 12 + 1);
    for (uint32_t i = 0; i < 8; ++i) {
      uint32_t frame = i * 7919 % info.frameCount;
      CHECK(isfinite(pnCache_GetTime(cache, frame)));
      bool read = pnCache_Read(cache, frame, vertices) == PN_OK;
      for (size_t k = 0; k < (size_t)info.vertexCount * 3 && read; ++k) CHECK(isfinite(vertices[k]));
    }
    free(vertices);
  }
  pnCloseCache(cache);
  CHECK(pnGetByteCount() == 0);
  return result == PN_OK;
}

#endif
