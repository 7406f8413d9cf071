/* peer_example.c: a method of one's own: every triangle against every triangle. Copy it, and add it to the table in peer.c. */
#include "peer.h"
#include "pinch/geom.h"

#include <stdlib.h>
#include <string.h>

typedef struct Example {
  const pnBenchInput *input;
  const float *const *vertices; /* of this frame */
  pnBenchPairs pairs;
} Example;

static void *create(const pnBenchInput *input, const char *options) {
  Example *e = calloc(1, sizeof *e);
  e->input = input;
  return input->self || options[0] != '\0' ? NULL : e;
}

static void update(void *peer, const float *const *vertices) {
  ((Example *)peer)->vertices = vertices;
}

static pnTriangle triangleOf(const Example *e, uint32_t body, uint32_t triangle) {
  pnTriangle t;
  const uint32_t *corners = e->input->bodies[body].triangles + 3 * (size_t)triangle;
  for (int k = 0; k < 3; ++k) memcpy(t.v[k], e->vertices[body] + 3 * (size_t)corners[k], sizeof t.v[k]);
  return t;
}

static void findAll(void *peer) {
  Example *e = peer;
  e->pairs.count = 0;
  for (uint32_t i = 0; i < e->input->bodyCount; ++i)
    for (uint32_t j = i + 1; j < e->input->bodyCount; ++j)
      for (uint32_t a = 0; a < e->input->bodies[i].triangleCount; ++a)
        for (uint32_t b = 0; b < e->input->bodies[j].triangleCount; ++b) {
          pnTriangle t = triangleOf(e, i, a), u = triangleOf(e, j, b);
          if (pnTrianglesMeet(&t, &u)) pn_benchAdd(&e->pairs, i, j, a, b);
        }
}

static void collect(void *peer, pnBenchPairs *out) {
  const pnBenchPairs *pairs = &((Example *)peer)->pairs;
  for (size_t i = 0; i < pairs->count; ++i)
    pn_benchAdd(out, pairs->data[i].bodyA, pairs->data[i].bodyB, pairs->data[i].a, pairs->data[i].b);
}

static int findFirst(void *peer) {
  return (void)peer, -1; /* it has no quick way */
}

static void destroy(void *peer) {
  free(((Example *)peer)->pairs.data), free(peer);
}

const pnPeer pn_peerExample = {
    "example", "every triangle against every triangle", "", false, create, update, findAll, findFirst, collect, NULL,
    destroy};
