/* flat_file.c: flat regions as bytes (tree/part_file.h). What is read is checked until nobody who looks through it (flat.c) can
 * leave its arrays. That the regions are discs of the mesh is for the checksum. */
#include "collide/flat.h"
#include "collide/shape_file.h"

#include <stddef.h>

_Static_assert(sizeof(pnFlatRegion) == 20 && sizeof(pnFlatLeaf) == 8, "written as they are: no holes in them");

enum { REGIONS, LEAVES, RIMS, SEAMS, TOPS, REGION_OF, ARRAYS };
/* After a rim its first places come again, so that four can be loaded anywhere. */
#define RIM_MORE 5u

static size_t countTops(const pnShape *shape) {
  size_t tops = 0;
  for (uint32_t node = 0; node < shape->innerCount; ++node) tops += pn_isFlatTop(shape, node);
  return tops;
}

static size_t countInner(const pnShape *shape) {
  return shape->innerCount;
}

static void measure(const pnShape *shape, const void *part, size_t *outCounts) {
  (void)shape;
  const pnFlat *flat = part;
  const pnFlatRegion *end = &flat->regions[flat->regionCount];
  outCounts[REGIONS] = (size_t)flat->regionCount + 1;
  outCounts[LEAVES] = end->leafFirst;
  outCounts[RIMS] = end->rimFirst;
  outCounts[SEAMS] = end->seamFirst;
}

/* A region, and the next one, where its ranges end. */
static bool checkRegion(const pnShape *shape, const pnFlatRegion *r, uint32_t listed) {
  if (r->node >= shape->innerCount || r->middle >= listed || r->leafFirst > r[1].leafFirst ||
      r->rimFirst > r[1].rimFirst || r->seamFirst > r[1].seamFirst)
    return false;
  uint32_t first, end, rim = r[1].rimFirst - r->rimFirst;
  pn_shapeLeafRange(shape, r->node, &first, &end);
  return r[1].leafFirst - r->leafFirst >= end - first && rim >= 3 + RIM_MORE && rim <= PN_RIM_MOST + RIM_MORE;
}

static bool checkRegions(const pnShape *shape, const pnFlat *flat, const size_t *counts) {
  const pnFlatRegion *first = flat->regions, *last = first + flat->regionCount;
  bool fine = first->leafFirst == 0 && first->rimFirst == 0 && first->seamFirst == 0 &&
              last->leafFirst == counts[LEAVES] && last->rimFirst == counts[RIMS] && last->seamFirst == counts[SEAMS];
  uint32_t listed = shape->leafVertexFirst[shape->leafCount];
  for (uint32_t i = 0; fine && i < flat->regionCount; ++i) {
    fine = checkRegion(shape, &first[i], listed) && flat->regionOf[first[i].node] == PN_NONE;
    if (fine) flat->regionOf[first[i].node] = i;
  }
  return fine;
}

static bool checkLeaves(const pnShape *shape, const pnFlat *flat, size_t count) {
  bool fine = true;
  for (size_t i = 0; fine && i < count; ++i)
    fine = flat->leaves[i].leaf < shape->leafCount && flat->leaves[i].lanes < 1u << PN_LANES;
  return fine;
}

static bool check(const pnShape *shape, void *part, const size_t *counts) {
  pnFlat *flat = part;
  if (counts[REGIONS] < 2 || counts[REGIONS] > UINT32_MAX) return false;
  flat->regionCount = (uint32_t)(counts[REGIONS] - 1);
  flat->topCount = 0;
  for (uint32_t node = 0; node < shape->innerCount; ++node) {
    flat->regionOf[node] = PN_NONE;
    if (pn_isFlatTop(shape, node)) flat->tops[flat->topCount++] = node;
  }
  return checkRegions(shape, flat, counts) && checkLeaves(shape, flat, counts[LEAVES]) &&
         pn_areBelow(flat->rims, counts[RIMS], shape->leafVertexFirst[shape->leafCount]) &&
         pn_areSeams(shape, flat->seams, counts[SEAMS], shape->innerCount);
}

const pnPartForm pn_flatForm = {.name = "flat regions",
                                .headBytes = sizeof(pnFlat),
                                .arrayCount = ARRAYS,
                                .array = {{offsetof(pnFlat, regions), sizeof(pnFlatRegion), NULL},
                                          {offsetof(pnFlat, leaves), sizeof(pnFlatLeaf), NULL},
                                          {offsetof(pnFlat, rims), sizeof(uint32_t), NULL},
                                          {offsetof(pnFlat, seams), sizeof(pnSeam), NULL},
                                          {offsetof(pnFlat, tops), sizeof(uint32_t), countTops},
                                          {offsetof(pnFlat, regionOf), sizeof(uint32_t), countInner}},
                                .measure = measure,
                                .check = check};
