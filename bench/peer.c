/* peer.c: the list of pairs, its hash, options, and the table of peers. */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- pairs */

void pn_benchGrow(pnBenchPairs *pairs) {
  pairs->capacity = pairs->capacity == 0 ? 4096 : 2 * pairs->capacity;
  pairs->data = realloc(pairs->data, sizeof(pnBenchPair) * pairs->capacity);
  if (pairs->data == NULL) {
    fprintf(stderr, "bench: out of memory for %zu pairs\n", pairs->capacity);
    exit(1);
  }
}

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014): every bit of the input reaches every bit of the output. */
static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
  return x ^ (x >> 31);
}

uint64_t pn_benchHash(const pnBenchPairs *pairs) {
  /* a sum and not an exclusive or: a pair reported twice must show */
  uint64_t sum = 0;
  for (size_t i = 0; i < pairs->count; ++i) {
    const pnBenchPair *pair = &pairs->data[i];
    uint64_t bodies = (uint64_t)pair->bodyA << 32 | pair->bodyB;
    uint64_t triangles = (uint64_t)pair->a << 32 | pair->b;
    sum += mix(mix(bodies + 1) ^ triangles);
  }
  return sum;
}

/* ---------------------------------------------------------------- options */

/* The next option of a list separated by colons; returns its length, 0 at the end. */
static size_t nextOption(const char **options) {
  while (**options == ':') ++*options;
  return strcspn(*options, ":");
}

uint32_t pn_optionNumber(const char *options, const char *word, uint32_t otherwise) {
  size_t wordLength = strlen(word);
  for (size_t length; (length = nextOption(&options)) > 0; options += length)
    if (length > wordLength && options[wordLength] == '=' && strncmp(options, word, wordLength) == 0)
      return (uint32_t)strtoul(options + wordLength + 1, NULL, 10);
  return otherwise;
}

bool pn_hasOption(const char *options, const char *word) {
  for (size_t length; (length = nextOption(&options)) > 0; options += length)
    if (length == strlen(word) && strncmp(options, word, length) == 0) return true;
  return false;
}

bool pn_optionsKnown(const char *options, const char *const *words) {
  for (size_t length; (length = nextOption(&options)) > 0; options += length) {
    bool known = false;
    for (size_t i = 0; words[i] != NULL && !known; ++i) {
      size_t wordLength = strlen(words[i]);
      bool takesNumber = words[i][wordLength - 1] == '=';
      known = strncmp(options, words[i], wordLength) == 0 && (takesNumber ? length > wordLength : length == wordLength);
    }
    if (!known) return false;
  }
  return true;
}

/* ---------------------------------------------------------------- the table */

#ifdef PN_HAVE_EMBREE
extern const pnPeer pn_peerEmbree;
#endif
#ifdef PN_HAVE_FCL
extern const pnPeer pn_peerFcl;
#endif
#ifdef PN_HAVE_BULLET
extern const pnPeer pn_peerBullet;
#endif
#ifdef PN_HAVE_CGAL
extern const pnPeer pn_peerCgal;
#endif

const pnPeer *const pn_peers[] = {
    &pn_peerFloor,
#ifdef PN_HAVE_EMBREE
    &pn_peerEmbree,
#endif
#ifdef PN_HAVE_FCL
    &pn_peerFcl,
#endif
#ifdef PN_HAVE_BULLET
    &pn_peerBullet,
#endif
#ifdef PN_HAVE_CGAL
    &pn_peerCgal,
#endif
    &pn_peerTextbook, &pn_peerPinch, &pn_peerExample, NULL,
};
