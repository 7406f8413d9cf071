/* fan_file.c: fans as bytes (tree/part_file.h). A block may come from anywhere: what is read is checked until nobody who looks
 * through it (fan.c) can leave its arrays. That the fans are those of the mesh is for the checksum. */
#include "collide/fan.h"
#include "collide/shape_file.h"

#include <stddef.h>

_Static_assert(sizeof(pnFanGroup) == 32 && sizeof(pnFanBlock) == 8 && sizeof(pnSeam) == 12 && sizeof(pnCopyPair) == 12,
               "written as they are: no holes in them");

enum { BLOCKS, GROUPS, PLACES, SEAMS, COPIES, LEAVES, SLOTS, ARRAYS };

static size_t countSlots(const pnShape *shape) {
  return shape->mesh->triangleCount;
}

static void measure(const pnShape *shape, const void *part, size_t *outCounts) {
  (void)shape;
  const pnFans *fans = part;
  const pnFanBlock *end = &fans->blocks[fans->blockCount];
  size_t places = 0;
  for (uint32_t g = 0; g < end->groupFirst; ++g)
    places += fans->groups[g].around ? 4 * ((size_t)fans->groups[g].around + 1) : 0;
  outCounts[BLOCKS] = (size_t)fans->blockCount + 1;
  outCounts[GROUPS] = (size_t)end->groupFirst + 1;
  outCounts[PLACES] = places;
  outCounts[SEAMS] = fans->groups[end->groupFirst].seamFirst;
  outCounts[COPIES] = fans->groups[end->groupFirst].copyFirst;
  outCounts[LEAVES] = end->leafFirst;
}

static bool checkBlocks(const pnFans *fans, const size_t *counts) {
  const pnFanBlock *b = fans->blocks, *end = b + fans->blockCount;
  if (b->groupFirst != 0 || b->leafFirst != 0 || (size_t)end->groupFirst + 1 != counts[GROUPS] ||
      end->leafFirst != counts[LEAVES])
    return false;
  for (; b < end; ++b)
    if (b->groupFirst > b[1].groupFirst || b->leafFirst > b[1].leafFirst) return false;
  return true;
}

/* One of four fans, whose places begin where those of the group before end. */
static bool checkGroup(const pnShape *shape, const pnFanGroup *g, size_t placeFirst, size_t placeEnd) {
  unsigned char closed;
  memcpy(&closed, &g->closed, 1);
  bool fine = closed <= 1 && g->lanes >= 1 && g->lanes <= 4 && g->placeFirst == placeFirst &&
              (g->around == 0 || (g->around >= (closed ? 3 : 2) && g->around <= PN_FAN_MOST)) &&
              g->seamFirst <= g[1].seamFirst && g->copyFirst <= g[1].copyFirst;
  uint64_t places = g->around ? 4 * ((uint64_t)g->around + 1) : 0;
  return fine && placeFirst + places <= placeEnd && pn_areBelow(g->vertex, 4, shape->mesh->vertexCount);
}

static bool checkGroups(const pnShape *shape, const pnFans *fans, const size_t *counts) {
  size_t places = 0, last = counts[GROUPS] - 1;
  for (size_t i = 0; i < last; ++i) {
    const pnFanGroup *g = &fans->groups[i];
    if (!checkGroup(shape, g, places, counts[PLACES])) return false;
    places += g->around ? 4 * ((size_t)g->around + 1) : 0;
  }
  return places == counts[PLACES] && fans->groups[0].seamFirst == 0 && fans->groups[last].seamFirst == counts[SEAMS] &&
         fans->groups[0].copyFirst == 0 && fans->groups[last].copyFirst == counts[COPIES];
}

static bool isSlot(const pnShape *shape, uint32_t slot) {
  return slot / PN_LANES < shape->leafCount && shape->leafTriangles[slot] != PN_NONE;
}

static bool checkCopies(const pnShape *shape, const pnCopyPair *copies, size_t count) {
  bool fine = true;
  for (size_t i = 0; fine && i < count; ++i)
    fine = isSlot(shape, copies[i].slot[0]) && isSlot(shape, copies[i].slot[1]) && copies[i].of < 4;
  return fine;
}

static bool check(const pnShape *shape, void *part, const size_t *counts) {
  pnFans *fans = part;
  if (counts[BLOCKS] < 2 || counts[BLOCKS] > UINT32_MAX || counts[GROUPS] < 1) return false;
  fans->blockCount = (uint32_t)(counts[BLOCKS] - 1);
  pn_findSlots(shape, fans->slotOf);
  return checkBlocks(fans, counts) && checkGroups(shape, fans, counts) &&
         pn_areBelow(fans->places, counts[PLACES], shape->leafVertexFirst[shape->leafCount]) &&
         pn_areSeams(shape, fans->seams, counts[SEAMS], 4) && checkCopies(shape, fans->copies, counts[COPIES]) &&
         pn_areBelow(fans->leaves, counts[LEAVES], shape->leafCount);
}

const pnPartForm pn_fanForm = {.name = "fans",
                               .headBytes = sizeof(pnFans),
                               .arrayCount = ARRAYS,
                               .array = {{offsetof(pnFans, blocks), sizeof(pnFanBlock), NULL},
                                         {offsetof(pnFans, groups), sizeof(pnFanGroup), NULL},
                                         {offsetof(pnFans, places), sizeof(uint32_t), NULL},
                                         {offsetof(pnFans, seams), sizeof(pnSeam), NULL},
                                         {offsetof(pnFans, copies), sizeof(pnCopyPair), NULL},
                                         {offsetof(pnFans, leaves), sizeof(uint32_t), NULL},
                                         {offsetof(pnFans, slotOf), sizeof(uint32_t), countSlots}},
                               .measure = measure,
                               .check = check};
