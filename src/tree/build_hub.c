/* build_hub.c: dividing a range in which there are triangles of hubs (hub.h) and others. The triangles of a hub are never
 * divided while others are with them: a hub that is a good part of the range is taken out, else whole hubs and single triangles
 * go to the one or the other side of a cut across the longest axis, a hub as if all of it were in its middle. Where only
 * one hub, or none, is left, the builder that was asked for goes on. */
#include "tree/build.h"

#include <float.h>

/* A hub with this part of a range is taken out. Smaller ones leave a cut near the half: no side is under a quarter. */
#define HEAVY 4u

/* Is there a triangle of a hub and one that is not of it? */
static bool isMixed(const pnBuilder *b, const uint32_t *order, uint32_t count) {
  for (uint32_t i = 1; i < count; ++i)
    if (b->hubs->of[order[i]] != b->hubs->of[order[0]]) return true;
  return false;
}

/* The hub with most triangles in a range, and how many: PN_NONE, 0 when there is none. */
static uint32_t heaviest(const pnBuilder *b, const uint32_t *order, uint32_t count, uint32_t *outCount) {
  uint32_t best = PN_NONE;
  *outCount = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t hub = b->hubs->of[order[i]];
    /* never divided: where one of its triangles is, all of them are */
    if (hub != PN_NONE && b->hubs->size[hub] > *outCount) {
      best = hub;
      *outCount = b->hubs->size[hub];
    }
  }
  return best;
}

/* The triangles of a hub to the end, the others stay in order. */
static uint32_t takeOut(pnBuilder *b, uint32_t *order, uint32_t count, uint32_t hub) {
  uint32_t others = 0, own = 0;
  for (uint32_t i = 0; i < count; ++i)
    if (b->hubs->of[order[i]] == hub) b->scratch[own++] = order[i];
    else order[others++] = order[i];
  memcpy(order + others, b->scratch, own * sizeof(uint32_t));
  return others;
}

/* Where a triangle stands for a cut: with its hub. */
static const float *seatOf(const pnBuilder *b, uint32_t t) {
  return b->hubs->of[t] == PN_NONE ? b->centres + 3 * (size_t)t : b->hubCentres + 3 * (size_t)b->hubs->of[t];
}

static int longestAxis(const pnBuilder *b, const uint32_t *order, uint32_t count) {
  double length[3];
  for (int k = 0; k < 3; ++k) {
    float lo = FLT_MAX, hi = -FLT_MAX;
    for (uint32_t i = 0; i < count; ++i) {
      lo = PN_MIN(lo, seatOf(b, order[i])[k]);
      hi = PN_MAX(hi, seatOf(b, order[i])[k]);
    }
    length[k] = (double)hi - lo;
  }
  return length[0] >= length[1] && length[0] >= length[2] ? 0 : length[1] >= length[2] ? 1 : 2;
}

/* May a cut come before the triangle at i? */
static bool isBoundary(const pnBuilder *b, const uint32_t *order, uint32_t i) {
  return b->hubs->of[order[i]] == PN_NONE || b->hubs->of[order[i]] != b->hubs->of[order[i - 1]];
}

/* Sorts along the longest axis, hubs together, and cuts as near to the half as it may. */
static uint32_t cutAcross(pnBuilder *b, uint32_t *order, uint32_t count) {
  int axis = longestAxis(b, order, count);
  for (uint32_t i = 0; i < count; ++i) b->items[i] = (pnKeyValue){b->hubs->of[order[i]], order[i]};
  pn_sortKeyValue(b->items, b->itemScratch, count);
  for (uint32_t i = 0; i < count; ++i) b->items[i].key = pn_floatOrder(seatOf(b, b->items[i].value)[axis]);
  pn_sortKeyValue(b->items, b->itemScratch, count);
  for (uint32_t i = 0; i < count; ++i) order[i] = b->items[i].value;
  uint32_t up = count / 2, down = count / 2;
  while (up < count && !isBoundary(b, order, up)) ++up;
  while (down > 0 && !isBoundary(b, order, down)) --down;
  return up < count && (down == 0 || up - count / 2 <= count / 2 - down) ? up : down;
}

uint32_t pn_splitHubs(pnBuilder *b, uint32_t first, uint32_t count, uint32_t depth, uint32_t outSizes[PN_LANES]) {
  if (!isMixed(b, b->order + first, count)) return b->split(b, first, count, depth, outSizes);
  bool mixed[PN_LANES] = {true};
  uint32_t parts = 1;
  outSizes[0] = count;
  while (parts < b->arity) {
    /* the largest part that is mixed */
    uint32_t at = PN_NONE, begin = first, size;
    for (uint32_t i = 0; i < parts; ++i) at = mixed[i] && (at == PN_NONE || outSizes[i] > outSizes[at]) ? i : at;
    if (at == PN_NONE) break;
    for (uint32_t i = 0; i < at; ++i) begin += outSizes[i];
    uint32_t *order = b->order + begin, heavy = heaviest(b, order, outSizes[at], &size);
    uint32_t left =
        size >= outSizes[at] / HEAVY ? takeOut(b, order, outSizes[at], heavy) : cutAcross(b, order, outSizes[at]);
    memmove(outSizes + at + 2, outSizes + at + 1, (parts - at - 1) * sizeof *outSizes);
    memmove(mixed + at + 2, mixed + at + 1, (parts - at - 1) * sizeof *mixed);
    outSizes[at + 1] = outSizes[at] - left;
    outSizes[at] = left;
    mixed[at] = isMixed(b, order, left);
    mixed[at + 1] = isMixed(b, order + left, outSizes[at + 1]);
    ++parts;
  }
  return parts;
}
