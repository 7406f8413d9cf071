/* stroke_one.h: one triangle on the grid, by whole numbers of 64 bits: its edges, where they cross the rows, its depth. See
 * stroke.c. Also the text of a program of the device room: in the part that C17 and OpenCL C have in common. */
#ifndef PN_VOLUME_STROKE_ONE_H
#define PN_VOLUME_STROKE_ONE_H

#include "volume/grid.h"

#include <math.h>

/* Depths are worked out in 2^-32 units, and rounded by adding a half. */
#define PN_DEPTH_ONE 4294967296.0
#define PN_DEPTH_HALF (INT64_C(1) << 31)

/* Where an edge crosses the rows. On a row with edge function e at its first cell and step s, the cells inside are
 * those from -floor(e / s) on (rising, s > 0), or up to floor(e / -s) (falling). From row to row e grows by a
 * constant, so quotient and remainder do, too: one division at the start, exact ever after. */
typedef struct pnCrossing {
  int64_t quotient, remainder, divisor;
  int64_t stepQuotient, stepRemainder;
} pnCrossing;

PN_INLINE int64_t pn_floorDivide(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q * b > a ? q - 1 : q; // b > 0
}

PN_INLINE pnCrossing pn_startCrossing(int64_t e, int64_t step, int64_t divisor) {
  pnCrossing crossing = {.divisor = divisor};
  crossing.quotient = pn_floorDivide(e, divisor);
  crossing.remainder = e - crossing.quotient * divisor;
  crossing.stepQuotient = pn_floorDivide(step, divisor);
  crossing.stepRemainder = step - crossing.stepQuotient * divisor;
  return crossing;
}

PN_INLINE void pn_nextRow(pnCrossing *crossing) {
  crossing->quotient += crossing->stepQuotient;
  crossing->remainder += crossing->stepRemainder;
  int64_t carry = crossing->remainder >= crossing->divisor;
  crossing->quotient += carry;
  crossing->remainder -= carry ? crossing->divisor : 0;
}

/* Edge functions of a counter-clockwise triangle at the first sample, less the bias; edge k lies opposite to corner k.
 * */
typedef struct pnEdges {
  int64_t e[3], sx[3], sy[3], bias[3];
} pnEdges;

PN_INLINE pnEdges pn_setUpEdges(uint32_t cellShift, const pnPoint *const corners[3], int32_t px, int32_t py) {
  pnEdges edges;
  for (int k = 0; k < 3; ++k) {
    const pnPoint *from = corners[(k + 1) % 3], *to = corners[(k + 2) % 3];
    int64_t dx = to->x - from->x, dy = to->y - from->y;
    edges.bias[k] = !(dy < 0 || (dy == 0 && dx < 0));
    edges.e[k] = dx * (py - from->y) - dy * (px - from->x) - edges.bias[k];
    edges.sx[k] = -dy * (1 << cellShift);
    edges.sy[k] = dx * (1 << cellShift);
  }
  return edges;
}

/* Depth is z + w1 * perArea[0] + w2 * perArea[1] for weights w1, w2 of the corners 1 and 2, in 2^-32 units; along a
 * row it grows by dz. */
typedef struct pnDepthPlane {
  double perArea[2];
  int64_t z, dz;
} pnDepthPlane;

PN_INLINE pnDepthPlane pn_setUpDepth(const pnPoint *const corners[3], const pnEdges *edges, int64_t area) {
  double perArea = PN_DEPTH_ONE / (double)area;
  pnDepthPlane depth = {
      {(double)(corners[1]->z - corners[0]->z) * perArea, (double)(corners[2]->z - corners[0]->z) * perArea},
      (int64_t)corners[0]->z * (INT64_C(1) << 32) + PN_DEPTH_HALF,
      0};
  // a step longer than all depths there are: no row has two cells, and the step is not used
  double dz = (double)edges->sx[1] * depth.perArea[0] + (double)edges->sx[2] * depth.perArea[1];
  if (fabs(dz) < 2.0 * PN_MAX_UNITS * PN_DEPTH_ONE) depth.dz = (int64_t)floor(dz);
  return depth;
}

#endif
