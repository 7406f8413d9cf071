/* soup.h: primitives without topology, as trees see them.
 *
 * A soup keeps its primitives by *place*. A place has nine floats (segments and points repeat their last corner, so that every
 * test sees a triangle), the number of its corners and a generation that is odd while the place is taken. Dead places
 * form a list. To everything to the right a soup is a mesh and a pose whose triangle number is the place: vertex 3p + k
 * is corner k of place p, nothing is welded, nobody has neighbours. The arrays a mesh needs for that are
 * the numbers 0, 1, 2, ... (triangles, welds and ring offsets are all that same array), the numbers divided by three
 * (rings) and PN_NONE (neighbours). */
#ifndef PN_MESH_SOUP_H
#define PN_MESH_SOUP_H

#include "mesh/pose.h"

#define PN_MAX_PLACES (1u << 26) /* three corners of 16 bytes a place stay below 2^32, in which trees find them */

struct pnSoup {
  pnMesh mesh;
  pnPose pose;
  uint32_t capacity, placeCount, liveCount;
  uint32_t freeHead;      /* first dead place, PN_NONE: none */
  float *positions;       /* 9 a place, and one float that may be read */
  uint32_t *generation;   /* odd: alive */
  uint32_t *nextFree;     /* of dead places */
  uint8_t *corners;       /* 1, 2, 3; 0: dead */
  uint32_t triangleCount; /* living primitives with three corners */
  uint32_t *changed;      /* the frame (its lower 32 bits) in which the place was last taken, given up or replaced */
  uint64_t changedLast;   /* the latest of them, in full */
  uint32_t *numbers;      /* 0 ... 3 * capacity */
  uint32_t *thirds;       /* 0 0 0 1 1 1 ... */
  uint32_t *nobody;       /* PN_NONE, 3 a place */
};

PN_INLINE bool pn_isAlive(const pnSoup *soup, uint32_t place) {
  return soup->generation[place] & 1;
}

/* The soup of a pose that pnSoup_GetPose gave. */
PN_INLINE const pnSoup *pn_soupOfPose(const pnPose *pose) {
  return (const pnSoup *)(const void *)((const char *)pose - offsetof(pnSoup, pose));
}

#endif
