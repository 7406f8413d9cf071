/* peer.h: one small interface behind which every engine of the comparison stands, ours and the others'.
 *
 * A peer is given the bodies once and new vertices every frame. It brings its structures up to date (update), finds
 * all pairs of triangles that meet (findAll) or says whether there is one (findFirst). What is timed is update,
 * findAll and findFirst; handing the pairs over for checking (collect) is not.
 *
 * Pairs are counted alike by all: between bodies every pair whose closed triangles meet, bodyA < bodyB; for a scene
 * of one body the pairs a < b of that body that meet and share no vertex.
 *
 * A peer is named on the command line by name and options: "fcl:kdop16", "pinch:bottom-up:arity=2". */
#ifndef PN_BENCH_PEER_H
#define PN_BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pnBenchBody {
  uint32_t vertexCount, triangleCount;
  const uint32_t *triangles; /* 3 vertex numbers a triangle */
} pnBenchBody;

/* What a peer is made from. Everything stays where it is until the peer is destroyed. */
typedef struct pnBenchInput {
  uint32_t bodyCount;
  const pnBenchBody *bodies;
  bool self; /* one body against itself */
  const float *const
      *vertices; /* of the first frame: one array a body, 3 floats a vertex and one readable float more */
} pnBenchInput;

typedef struct pnBenchPair {
  uint32_t bodyA, bodyB, a, b;
} pnBenchPair;

/* A list that grows. Running out of memory ends the program: it is a benchmark. */
typedef struct pnBenchPairs {
  pnBenchPair *data;
  size_t count, capacity;
} pnBenchPairs;

void pn_benchGrow(pnBenchPairs *pairs);
static inline void pn_benchAdd(pnBenchPairs *pairs, uint32_t bodyA, uint32_t bodyB, uint32_t a, uint32_t b) {
  if (pairs->count == pairs->capacity) pn_benchGrow(pairs);
  pnBenchPair *pair = &pairs->data[pairs->count++];
  pair->bodyA = bodyA, pair->bodyB = bodyB, pair->a = a, pair->b = b;
}

static inline void pn_benchAddAll(pnBenchPairs *pairs, const pnBenchPair *more, size_t count) {
  for (size_t i = 0; i < count; ++i) pn_benchAdd(pairs, more[i].bodyA, more[i].bodyB, more[i].a, more[i].b);
}

/* A number that is the same for the same set of pairs in whatever order, and another when one is missing or double. */
uint64_t pn_benchHash(const pnBenchPairs *pairs);

/* Do two triangles of one body share a vertex? */
static inline bool pn_benchNeighbours(const uint32_t *a, const uint32_t *b) {
  return a[0] == b[0] || a[0] == b[1] || a[0] == b[2] || a[1] == b[0] || a[1] == b[1] || a[1] == b[2] || a[2] == b[0] ||
         a[2] == b[1] || a[2] == b[2];
}

/* What the last frame cost inside, from peers that can tell. Zero where unknown. */
typedef struct pnPeerCost {
  double updateSeconds, traverseSeconds, exactSeconds;       /* parts of the last findAll */
  uint64_t nodesUpdated, volumeTests, exactTests, uncertain; /* of the last frame */
  size_t byteCount;                                          /* of the peer's own structures */
} pnPeerCost;

typedef struct pnPeer {
  const char *name;
  const char *text;    /* one line for --list */
  const char *options; /* the options it knows, for --list; "" for none */
  bool isFloor;        /* does not look for pairs: a bound, not an engine */
  /* Null when the options are unknown or the scene is of a kind this peer cannot do. */
  void *(*create)(const pnBenchInput *input, const char *options);
  void (*update)(void *peer, const float *const *vertices);
  void (*findAll)(void *peer);
  int (*findFirst)(void *peer); /* 0, 1, or -1 when it cannot */
  void (*collect)(void *peer, pnBenchPairs *outPairs);
  void (*getCost)(void *peer, pnPeerCost *outCost); /* null when it cannot tell */
  void (*destroy)(void *peer);
} pnPeer;

/* All peers of this build, ended by null. */
extern const pnPeer *const pn_peers[];

/* Those in C; the adapters over other libraries are named in peers.c. */
extern const pnPeer pn_peerFloor, pn_peerTextbook, pn_peerPinch, pn_peerExample;

/* The number behind "word=" in options such as "hybrid:cut=64:arity=8", or otherwise when it is not there. */
uint32_t pn_optionNumber(const char *options, const char *word, uint32_t otherwise);
/* Is the word among the options? */
bool pn_hasOption(const char *options, const char *word);
/* Are all of the options in this list of words? A word ending in '=' takes a number. The list ends with null. */
bool pn_optionsKnown(const char *options, const char *const *words);

#ifdef __cplusplus
}
#endif

#endif
