/* grid.h: the grid of an image, as far as whoever draws on it must know it. Also the text of a program of the device room: in the part
 * that C17 and OpenCL C have in common. */
#ifndef PN_VOLUME_GRID_H
#define PN_VOLUME_GRID_H

#include "base/core.h"

/* No coordinate leaves +-PN_MAX_UNITS. Differences then have 30 bits, products 60, an edge function 61: they fit
 * int64. */
#define PN_MAX_UNITS (1 << 29)

/* A vertex on the grid of a view; 16 bytes, so that one is one load. */
typedef struct pnPoint {
  int32_t x, y, z, unused;
} pnPoint;

/* A triangle no larger than this has edge functions below 2^30 in its box and 4 cells around: 2 * 2^14 * (2^14 +
 * 2^10). */
#define PN_DOT_UNITS (1 << 14)
#define PN_DOT_SIDE 4

#endif
