/* build_link.c: mesh-connectivity trees [Larsson01, section 3.2]: every node is a connected patch of the mesh.
 *
 * The paper does not say how to cut; we halve by breadth-first search over neighbours across edges. From a triangle far
 * out (the last one reached from an arbitrary start) the search takes triangles until half are taken: that prefix is
 * connected. What is left may fall apart; its largest piece stays, the others join the prefix, which they touch. So both
 * halves are connected whenever the whole was. A part that is not connected (several components of the mesh) is
 * divided along components, by position, before any component is cut. Halving twice or three times gives 4 or 8 parts. */
#include "tree/build.h"

/* Breadth-first over the triangles marked `in`, from `start`, writing them to out and marking them `done`; stops after
 * `most`. Returns how many. */
static uint32_t flood(pnBuilder *b, uint32_t start, uint32_t in, uint32_t done, uint32_t most, uint32_t *out) {
  uint32_t head = 0, tail = 0;
  b->mark[start] = done;
  out[tail++] = start;
  while (head < tail && tail < most) {
    uint32_t t = out[head++];
    for (int k = 0; k < 3 && tail < most; ++k) {
      uint32_t s = b->mesh->neighbours[3 * (size_t)t + k];
      if (s != PN_NONE && b->mark[s] == in) {
        b->mark[s] = done;
        out[tail++] = s;
      }
    }
  }
  return tail;
}

static void markAll(pnBuilder *b, uint32_t first, uint32_t count, uint32_t value) {
  for (uint32_t i = first; i < first + count; ++i) b->mark[b->order[i]] = value;
}

enum { OPEN, REACHED, TAKEN, REST }; /* marks of one halving; triangles outside it are marked PN_NONE */

/* Collects everything still marked `in` piece by piece behind `scratch[used]`, marking it `done`, and finds the largest
 * piece. */
static void gatherPieces(pnBuilder *b, uint32_t first, uint32_t count, uint32_t in, uint32_t done, uint32_t used,
                         uint32_t *outBest, uint32_t *outBestSize) {
  *outBest = used;
  *outBestSize = 0;
  for (uint32_t i = first; i < first + count; ++i) {
    if (b->mark[b->order[i]] == in) {
      uint32_t size = flood(b, b->order[i], in, done, count, b->scratch + used);
      if (size > *outBestSize) {
        *outBest = used;
        *outBestSize = size;
      }
      used += size;
    }
  }
}

/* Several components: the largest alone when it is at least half, otherwise by position, whole components kept together
 * by sorting on the position of each component's first triangle. Returns the size of the left part. */
static uint32_t splitComponents(pnBuilder *b, uint32_t first, uint32_t count, uint32_t best, uint32_t bestSize) {
  if (2 * bestSize >= count) {
    /* the largest to the front */
    uint32_t *v = b->order + first, left = 0, right = bestSize;
    for (uint32_t i = 0; i < count; ++i) {
      bool inBest = i >= best && i < best + bestSize;
      v[inBest ? left++ : right++] = b->scratch[i];
    }
    return bestSize;
  }
  /* scratch holds component after component: cut at the component border nearest to the middle */
  memcpy(b->order + first, b->scratch, count * sizeof(uint32_t));
  markAll(b, first, count, OPEN);
  uint32_t at = 0;
  while (at < count / 2) {
    uint32_t size = flood(b, b->order[first + at], OPEN, REACHED, count, b->scratch);
    if (at > 0 && at + size > count / 2 && at + size - count / 2 > count / 2 - at) break;
    at += size;
  }
  return at;
}

/* Divides order[first...] in two connected halves (as far as the input is connected); returns the size of the left. */
static uint32_t halveLink(pnBuilder *b, uint32_t first, uint32_t count) {
  /* one component, or several? */
  uint32_t best, bestSize, left;
  markAll(b, first, count, OPEN);
  gatherPieces(b, first, count, OPEN, REACHED, 0, &best, &bestSize);
  if (bestSize < count) {
    left = splitComponents(b, first, count, best, bestSize);
  } else {
    /* from a far triangle take half, then let the smaller pieces of the rest join */
    uint32_t far = b->scratch[count - 1];
    uint32_t taken = flood(b, far, REACHED, TAKEN, count / 2, b->scratch);
    gatherPieces(b, first, count, REACHED, REST, taken, &best, &bestSize);
    uint32_t *v = b->order + first, right = count - bestSize, at = 0;
    for (uint32_t i = 0; i < count; ++i) {
      bool stays = i >= best && i < best + bestSize;
      v[stays ? right++ : at++] = b->scratch[i];
    }
    left = count - bestSize;
  }
  markAll(b, first, count, PN_NONE);
  return left;
}

uint32_t pn_splitLink(pnBuilder *b, uint32_t first, uint32_t count, uint32_t depth, uint32_t outSizes[PN_LANES]) {
  (void)depth;
  /* halve the largest part until there are enough, or all fit a leaf */
  uint32_t parts = 1;
  outSizes[0] = count;
  while (parts < b->arity) {
    uint32_t largest = 0, at = first, largestAt = first;
    for (uint32_t i = 0; i < parts; at += outSizes[i++]) {
      if (outSizes[i] > outSizes[largest]) {
        largest = i;
        largestAt = at;
      }
    }
    if (outSizes[largest] <= b->leafSize) break;
    uint32_t left = halveLink(b, largestAt, outSizes[largest]);
    memmove(outSizes + largest + 1, outSizes + largest, (parts - largest) * sizeof(uint32_t));
    outSizes[largest + 1] -= left;
    outSizes[largest] = left;
    ++parts;
  }
  return parts;
}
