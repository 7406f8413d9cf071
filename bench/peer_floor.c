/* peer_floor.c: the floor under every update: the least and the greatest coordinate of each body, one pass over all
 * vertices.
 *
 * Nobody who must notice where the vertices went can be faster than reading them. The loop works on 24 floats at a
 * time so that a compiler makes SIMD of it and the three coordinates stay in their lanes (24 is a multiple of 3, 4
 * and 8). */
#include "peer.h"

#include <stdlib.h>

#define WIDTH 24

typedef struct Floor {
  const pnBenchInput *input;
  float sum; /* keeps the compiler from leaving the loop out */
} Floor;

static void *createFloor(const pnBenchInput *input, const char *options) {
  Floor *floor = options[0] == '\0' ? calloc(1, sizeof(Floor)) : NULL;
  if (floor != NULL) floor->input = input;
  return floor;
}

static float extent(const float *v, size_t floatCount) {
  float low[WIDTH], high[WIDTH];
  for (int k = 0; k < WIDTH; ++k) low[k] = high[k] = v[(size_t)k % floatCount];
  size_t i = 0;
  for (; i + WIDTH <= floatCount; i += WIDTH) {
    for (int k = 0; k < WIDTH; ++k) {
      low[k] = v[i + k] < low[k] ? v[i + k] : low[k];
      high[k] = v[i + k] > high[k] ? v[i + k] : high[k];
    }
  }
  for (int k = 0; i < floatCount; ++i, ++k) {
    low[k] = v[i] < low[k] ? v[i] : low[k];
    high[k] = v[i] > high[k] ? v[i] : high[k];
  }
  float sum = 0.0f;
  for (int k = 0; k < WIDTH; ++k) sum += high[k] - low[k];
  return sum;
}

static void updateFloor(void *peer, const float *const *vertices) {
  Floor *floor = peer;
  for (uint32_t i = 0; i < floor->input->bodyCount; ++i)
    floor->sum += extent(vertices[i], 3 * (size_t)floor->input->bodies[i].vertexCount);
}

static void findNothing(void *peer) {
  (void)peer;
}

static int findNoFirst(void *peer) {
  (void)peer;
  return -1;
}

static void collectNothing(void *peer, pnBenchPairs *outPairs) {
  (void)peer;
  (void)outPairs;
}

const pnPeer pn_peerFloor = {
    .name = "floor",
    .text = "one min/max pass over all vertices: the bound under every update, finds no pairs",
    .options = "",
    .isFloor = true,
    .create = createFloor,
    .update = updateFloor,
    .findAll = findNothing,
    .findFirst = findNoFirst,
    .collect = collectNothing,
    .destroy = free,
};
