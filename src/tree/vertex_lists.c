/* vertex_lists.c: see vertex_lists.h. */
#include "tree/vertex_lists.h"

#include <string.h>

#define LIST_CORNERS pn_listCorners
#include "tree/vertex_lists_kernel.h"

static size_t roomBytes(size_t leafCount) {
  size_t at = 0;
  for (int i = 0; i < 4; ++i) pn_carve(NULL, &at, leafCount * PN_LEAF_CORNERS, sizeof(uint32_t));
  for (int i = 0; i < 2; ++i) pn_carve(NULL, &at, leafCount, sizeof(uint32_t));
  pn_carve(NULL, &at, leafCount * PN_LEAF_CORNERS, 1);
  return at;
}

bool pn_reserveVertexLists(pnVertexLists *l, size_t leafCount) {
  size_t at = 0, corners = leafCount * PN_LEAF_CORNERS;
  *l = (pnVertexLists){
      .leafCount = leafCount, .room = pn_alloc(roomBytes(leafCount)), .listCorners = pn_chooseListing()};
  if (!l->room) return false;
  char *base = (char *)l->room;
  l->leaves = pn_carve(base, &at, corners, sizeof(uint32_t));
  l->twigs = pn_carve(base, &at, corners, sizeof(uint32_t));
  l->spare[0] = pn_carve(base, &at, corners, sizeof(uint32_t));
  l->spare[1] = pn_carve(base, &at, corners, sizeof(uint32_t));
  l->length = pn_carve(base, &at, leafCount, sizeof(uint32_t));
  l->next = pn_carve(base, &at, leafCount, sizeof(uint32_t));
  l->place = pn_carve(base, &at, corners, 1);
  return true;
}

void pn_freeVertexLists(pnVertexLists *l) {
  pn_free(l->room, l->room ? roomBytes(l->leafCount) : 0);
  *l = (pnVertexLists){0};
}

void pn_listLeaf(pnVertexLists *l, uint32_t leaf, const uint32_t *corners, uint32_t count) {
  size_t first = (size_t)PN_LEAF_CORNERS * leaf;
  l->length[leaf] = l->listCorners(corners, count, l->leaves + first, l->place + first);
  l->next[leaf] = leaf + 1;
}

/* Two ascending lists into one; what is in both comes once. Without branches: nobody can guess whose turn it is. */
static uint32_t merge(const uint32_t *a, uint32_t aCount, const uint32_t *b, uint32_t bCount, uint32_t *out) {
  uint32_t i = 0, j = 0, n = 0;
  while (i < aCount && j < bCount) {
    uint32_t x = a[i], y = b[j];
    out[n++] = PN_MIN(x, y);
    i += x <= y;
    j += y <= x;
  }
  memcpy(out + n, a + i, (aCount - i) * sizeof *out);
  memcpy(out + n + (aCount - i), b + j, (bCount - j) * sizeof *out);
  return n + (aCount - i) + (bCount - j);
}

/* One round: each run with the next; from one room to another, in the places of their first leaves. */
static void mergeRound(pnVertexLists *l, uint32_t first, uint32_t end, const uint32_t *from, uint32_t *to) {
  for (uint32_t at = first; at < end; at = l->next[at]) {
    size_t begin = (size_t)PN_LEAF_CORNERS * at;
    uint32_t second = l->next[at];
    if (second == end) {
      memcpy(to + begin, from + begin, l->length[at] * sizeof *to);
    } else {
      l->length[at] =
          merge(from + begin, l->length[at], from + (size_t)PN_LEAF_CORNERS * second, l->length[second], to + begin);
      l->next[at] = l->next[second];
    }
  }
}

/* All runs of a range into one. */
static void mergeRuns(pnVertexLists *l, pnListRun *run, const uint32_t *from, uint32_t *const rooms[2]) {
  const uint32_t *at = from;
  for (int turn = 0; l->next[run->first] < run->end; turn ^= 1) {
    mergeRound(l, run->first, run->end, at, rooms[turn]);
    at = rooms[turn];
  }
  run->list = at + (size_t)PN_LEAF_CORNERS * run->first;
  run->count = l->length[run->first];
}

void pn_listTwig(pnVertexLists *l, pnListRun *run) {
  mergeRuns(l, run, l->leaves, l->spare);
  uint32_t *own = l->twigs + (size_t)PN_LEAF_CORNERS * run->first;
  memcpy(own, run->list, run->count * sizeof *own);
  run->list = own;
}

void pn_listCluster(pnVertexLists *l, pnListRun *run, bool fromTwigs) {
  mergeRuns(l, run, fromTwigs ? l->twigs : l->leaves, l->spare);
}
