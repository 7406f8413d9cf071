/* vertex_lists_kernel.h: the body of a pnListCornersFcn (vertex_lists.h), compiled for every kind of machine. Each corner counts how many are
 * smaller: no branch that could be guessed wrong, and vectors do it. That is where it stands in order, equal ones at the same place; so
 * the bits of the places that are taken say how many different ones come before it. */
#include "tree/vertex_lists.h"

uint32_t LIST_CORNERS(const uint32_t *corners, uint32_t count, uint32_t *outList, uint8_t *outPlaces) {
  int32_t v[PN_LEAF_CORNERS], smaller[PN_LEAF_CORNERS] = {0};
  uint32_t taken = 0;
  /* numbers of vertices are below 2^31 (shape.c), and so is nothing behind the last corner */
  for (uint32_t i = 0; i < PN_LEAF_CORNERS; ++i) v[i] = i < count ? (int32_t)corners[i] : INT32_MAX;
  for (uint32_t j = 0; j < PN_LEAF_CORNERS; ++j)
    for (uint32_t i = 0; i < PN_LEAF_CORNERS; ++i) smaller[i] -= -(v[j] < v[i]);
  for (uint32_t i = 0; i < count; ++i) taken |= 1u << smaller[i];
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t place = (uint32_t)__builtin_popcount(taken & ((1u << smaller[i]) - 1));
    outPlaces[i] = (uint8_t)place;
    outList[place] = corners[i];
  }
  return (uint32_t)__builtin_popcount(taken);
}

#undef LIST_CORNERS
