/* crowd.c: rest regions of which many have a vertex in common.
 *
 * Of triangles on one line any two meet and are a region, and each vertex is in as many of them as there are triangles: lists by vertex
 * (known.c) are walked for every region, which is the cube of the triangles. A region of few vertices is as well known by pairs of them,
 * one of either side: it is there at rest exactly when a rest region has a pair of it. For each pair of vertices of small rest regions
 * in a crowd a table has the greatest depth of those that have both; what is not small stays in the lists, and both answers
 * together are the one that the lists alone give, because it is a maximum over rest regions. */
#include "find/find.h"

/* A rest region is small with so many pairs of vertices: eight on either side. Larger ones have many triangles each, and are few. */
#define MOST_PAIRS 64u

static bool isCrowded(const pnFinder *finder, const pnRestRegion *rest, uint32_t side, uint32_t crowd) {
  const pnFinderBody *body = &finder->bodies.data[side ? rest->b : rest->a];
  for (size_t i = 0; i < rest->vertexCount[side]; ++i) {
    uint32_t vertex = finder->restVertices.data[rest->vertexFirst[side] + i];
    if (finder->restEntries.data[body->restFirst[vertex]].count > crowd) return true;
  }
  return false;
}

/* What is contained has vertices on one side only, and the shorter list is short where one side is in no crowd. */
static bool goesByPairs(const pnFinder *finder, const pnRestRegion *rest, uint32_t crowd) {
  return rest->inner == PN_NONE && rest->vertexCount[0] <= MOST_PAIRS && rest->vertexCount[1] <= MOST_PAIRS &&
         rest->vertexCount[0] * rest->vertexCount[1] <= MOST_PAIRS && isCrowded(finder, rest, 0, crowd) &&
         isCrowded(finder, rest, 1, crowd);
}

/* Where a pair is in the table, or where it may be put. */
static pnRestPair *placeOf(const pnFinder *finder, uint32_t a, uint32_t b, uint32_t vertexA, uint32_t vertexB) {
  uint64_t hash = ((uint64_t)vertexA << 32 | vertexB) * UINT64_C(0x9e3779b97f4a7c15);
  hash = (hash ^ hash >> 32 ^ ((uint64_t)a << 32 | b)) * UINT64_C(0xc2b2ae3d27d4eb4f);
  size_t mask = finder->restPairs.count - 1, at = (size_t)(hash >> 24) & mask;
  for (;; at = (at + 1) & mask) {
    pnRestPair *pair = &finder->restPairs.data[at];
    if (pair->a == PN_NONE) return pair;
    if (pair->vertexA == vertexA && pair->vertexB == vertexB && pair->a == a && pair->b == b) return pair;
  }
}

/* All pairs of a rest region. */
static void putPairs(pnFinder *finder, const pnRestRegion *rest) {
  const uint32_t *first = finder->restVertices.data + rest->vertexFirst[0],
                 *second = finder->restVertices.data + rest->vertexFirst[1];
  for (size_t i = 0; i < rest->vertexCount[0]; ++i) {
    for (size_t j = 0; j < rest->vertexCount[1]; ++j) {
      pnRestPair *pair = placeOf(finder, rest->a, rest->b, first[i], second[j]);
      double depth = pair->a != PN_NONE ? PN_MAX(pair->depth, rest->depth) : rest->depth;
      *pair = (pnRestPair){rest->a, rest->b, first[i], second[j], depth};
    }
  }
}

/* Entries of one vertex come one after the other, and the next is before: its count is known. */
static void linkOthers(pnFinder *finder) {
  pnRestEntry *entries = finder->restEntries.data;
  for (uint32_t i = 0; i < finder->restEntries.count; ++i) {
    bool mine = !finder->rests.data[entries[i].region].byPairs;
    uint32_t next = entries[i].next;
    entries[i].other = mine ? i : next != PN_NONE ? entries[next].other : PN_NONE;
    entries[i].otherCount = (next != PN_NONE ? entries[next].otherCount : 0) + mine;
  }
}

bool pn_settleCrowds(pnFinder *finder, uint32_t crowd) {
  size_t total = 0, size = 4;
  for (size_t r = 0; r < finder->rests.count; ++r) {
    pnRestRegion *rest = &finder->rests.data[r];
    rest->byPairs = goesByPairs(finder, rest, crowd);
    total += rest->byPairs ? rest->vertexCount[0] * rest->vertexCount[1] : 0;
  }
  linkOthers(finder);
  finder->restPairs.count = 0;
  if (total == 0) return true;
  /* a third of the places stays empty, or more */
  while (size < total + total / 2) size *= 2;
  if (!pn_arrayReserve(&finder->restPairs, size)) return false;
  finder->restPairs.count = size;
  for (size_t i = 0; i < size; ++i) finder->restPairs.data[i].a = PN_NONE;
  for (size_t r = 0; r < finder->rests.count; ++r)
    if (finder->rests.data[r].byPairs) putPairs(finder, &finder->rests.data[r]);
  return true;
}

void pn_addFew(pnFewVertices *few, uint32_t vertex) {
  for (uint32_t i = 0; i < few->count; ++i)
    if (i == PN_FEW_VERTICES || few->vertex[i] == vertex) return;
  if (few->count < PN_FEW_VERTICES) few->vertex[few->count] = vertex;
  ++few->count;
}

double pn_deepestOfPairs(const pnFinder *finder, uint32_t a, uint32_t b, const pnFewVertices sides[2]) {
  double depth = -1;
  for (uint32_t i = 0; i < sides[0].count; ++i) {
    for (uint32_t j = 0; j < sides[1].count; ++j) {
      /* of a body with itself the sides at rest may be the other way round */
      for (uint32_t turn = 0; turn < (a == b ? 2u : 1u); ++turn) {
        uint32_t p = sides[0].vertex[i], q = sides[1].vertex[j];
        const pnRestPair *pair = placeOf(finder, a, b, turn ? q : p, turn ? p : q);
        if (pair->a != PN_NONE) depth = PN_MAX(depth, pair->depth);
      }
    }
  }
  return depth;
}
