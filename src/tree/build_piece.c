/* build_piece.c: dividing a range with pieces of big triangles: big and small apart, then the big triangles from one
 * another, then the pieces of one triangle. So every big triangle has a subtree of its own, as in [Mujika, section 5],
 * whose plane can take it out at once. Within a triangle, and among the small ones, the builder that was asked for
 goes on. */
#include "tree/build.h"
#include "tree/corner.h"

#include <stdlib.h>

static int compareU32(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* Small ones first; returns how many there are. */
static uint32_t smallFirst(pnBuilder *b, uint32_t first, uint32_t count) {
  uint32_t *order = b->order + first, small = 0, big = 0;
  for (uint32_t i = 0; i < count; ++i)
    if (b->pieces[order[i]].level > 0) b->scratch[big++] = order[i];
    else order[small++] = order[i];
  for (uint32_t i = 0; i < big; ++i) order[small + i] = b->scratch[i];
  return small;
}

/* Whole triangles to parts of about one size. Pieces of a triangle are numbered one after the other. */
static uint32_t byTriangle(const pnBuilder *b, const uint32_t *order, uint32_t count, uint32_t target,
                           uint32_t *outSizes) {
  uint32_t parts = 0, size = 0;
  for (uint32_t i = 0; i < count; ++i) {
    bool next = i > 0 && b->pieces[order[i]].triangle != b->pieces[order[i - 1]].triangle;
    if (next && size >= target && parts + 1 < b->arity) {
      outSizes[parts++] = size;
      size = 0;
    }
    ++size;
  }
  outSizes[parts++] = size;
  return parts;
}

uint32_t pn_splitPieces(pnBuilder *b, uint32_t first, uint32_t count, uint32_t depth, uint32_t outSizes[PN_LANES]) {
  uint32_t small = smallFirst(b, first, count), *order = b->order + first;
  if (small > 0 && small < count) {
    outSizes[0] = small;
    outSizes[1] = count - small;
    return 2;
  }
  if (small == 0) {
    qsort(order, count, sizeof(uint32_t), compareU32);
    if (b->pieces[order[0]].triangle != b->pieces[order[count - 1]].triangle) {
      uint32_t parts = byTriangle(b, order, count, (count + b->arity - 1) / b->arity, outSizes);
      return parts > 1 ? parts : byTriangle(b, order, count, 1, outSizes);
    }
  }
  return b->split(b, first, count, depth, outSizes);
}
