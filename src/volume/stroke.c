/* stroke.c: which cells of a row are inside a triangle, exactly; and how deep.
 *
 * Edge functions. For an edge from p to q and a sample s, (q - p) x (s - p) is positive on the left. Of a
 * counter-clockwise triangle a sample is inside when all three are positive. Where one is zero the sample lies on the
 * edge, and belongs to this triangle when moving it right by a hair, or else (a level edge) down by a hair of a hair,
 * would take it inside: a bias of 0 or 1 makes that "not negative".
 *
 * Three ways to the same answer, by size:
 *   small    within 4 x 4 cells: all sixteen at once, in lanes of 32 bits, without a branch
 *   narrow   up to 8 cells wide: a row at once, likewise
 *   wide     edges followed from row to row by quotient and remainder, in 64 bits
 *
 * Depth at a sample is a mean of the corners' depths, weighted by edge functions, which are exact and not negative:
 * nothing cancels, slivers are as good as any triangle. */
#include "volume/stroke.h"

#include <math.h>

/* What all three ways share. */
typedef struct Scan {
  const pnPoint *corners[3]; /* counter-clockwise */
  int32_t x0, x1, y0, y1;    /* cells whose centres are in the box */
  bool exit;                 /* the line leaves the body here */
  int64_t area;              /* twice the area, positive */
  /* depths, once a cell is hit: see setUpDepth */
  bool clamp;
  double perArea1, perArea2;
  int64_t z, dz;
} Scan;

/* ---------------------------------------------------------------- depth */

/* 2^32 units per unit of depth, and the half that rounds. */
#define DEPTH_ONE 4294967296.0
#define DEPTH_HALF (INT64_C(1) << 31)

/* Depth is z + w1 * perArea1 + w2 * perArea2 for weights w1, w2 of the corners 1 and 2, in 2^-32 units; along a row it
 * grows by dz. s1 and s2: what the weights grow by. */
PN_INLINE void setUpDepth(Scan *scan, int32_t steps, double s1, double s2) {
  const pnPoint *a = scan->corners[0], *b = scan->corners[1], *c = scan->corners[2];
  double perArea = DEPTH_ONE / (double)scan->area;
  scan->perArea1 = (double)(b->z - a->z) * perArea;
  scan->perArea2 = (double)(c->z - a->z) * perArea;
  scan->z = (int64_t)a->z * (INT64_C(1) << 32) + DEPTH_HALF;
  // a step longer than all depths there are: no row has two cells, and the step is not used
  double dz = s1 * scan->perArea1 + s2 * scan->perArea2;
  scan->dz = fabs(dz) < 2.0 * PN_MAX_UNITS * DEPTH_ONE ? (int64_t)floor(dz) : 0;
  int32_t zLo = PN_MIN(PN_MIN(a->z, b->z), c->z), zHi = PN_MAX(PN_MAX(a->z, b->z), c->z);
  scan->clamp = zLo < 0 || zHi > steps;
}

/* Cells first ... last of row j of the triangle's box; w1, w2: weights at the first. */
PN_INLINE void makeStroke(pnPen *pen, const Scan *scan, int32_t j, int32_t first, int32_t last, double w1, double w2) {
  uint32_t cell = (uint32_t)(scan->y0 + j - pen->top) * pen->view->size + (uint32_t)(scan->x0 + first);
  uint32_t length = (uint32_t)(last - first + 1);
  ++pen->steps[cell];
  --pen->steps[cell + length];
  pnStroke *stroke = pen->next++;
  stroke->cell = cell;
  stroke->length = (uint16_t)length;
  stroke->exit = scan->exit;
  stroke->clamp = scan->clamp;
  stroke->z = scan->z + (int64_t)floor(w1 * scan->perArea1 + w2 * scan->perArea2);
  stroke->dz = scan->dz;
}

/* ---------------------------------------------------------------- small and narrow, in lanes */

/* A triangle no larger than this has edge functions below 2^30 wherever they are asked for: at most 8 cells out of its
 * box, 2 * 2^14 * (2^14 + 2^11). */
#define LANE_UNITS (1 << 14)
#define SMALL 4
#define NARROW 8

/* Edge functions e[k] + sx[k]*i + sy[k]*j over cells (i, j) relative to (x0, y0), less the bias; lane k for edge k,
 * which lies opposite to corner k. */
typedef struct Edges {
  int32_t e[4], sx[4], sy[4], bias[4];
} Edges;

PN_INLINE Edges setUpEdges(const pnView *view, const Scan *scan) {
  const pnPoint *a = scan->corners[0], *b = scan->corners[1], *c = scan->corners[2];
  const int32_t shift = (int32_t)view->cellShift, half = 1 << (shift - 1);
  const pnLanes fromX = {b->x, c->x, a->x, 0}, fromY = {b->y, c->y, a->y, 0};
  const pnLanes toX = {c->x, a->x, b->x, 0}, toY = {c->y, a->y, b->y, 0};
  pnLanes dx = toX - fromX, dy = toY - fromY;
  int32_t px = scan->x0 * (1 << shift) + half, py = scan->y0 * (1 << shift) + half;
  // 1 unless the hair's move goes inside; comparing gives -1 for true
  pnLanes bias = 1 + ((dy < 0) | ((dy == 0) & (dx < 0)));
  pnLanes e = dx * (py - fromY) - dy * (px - fromX) - bias, sx = -dy << shift, sy = dx << shift;
  Edges edges;
  memcpy(edges.e, &e, sizeof e);
  memcpy(edges.sx, &sx, sizeof sx);
  memcpy(edges.sy, &sy, sizeof sy);
  memcpy(edges.bias, &bias, sizeof bias);
  return edges;
}

PN_INLINE void strokeEdges(pnPen *pen, const Scan *scan, const Edges *edges, int32_t j, int32_t first, int32_t last) {
  int32_t w1 = edges->e[1] + edges->bias[1] + edges->sy[1] * j + edges->sx[1] * first;
  int32_t w2 = edges->e[2] + edges->bias[2] + edges->sy[2] * j + edges->sx[2] * first;
  makeStroke(pen, scan, j, first, last, (double)w1, (double)w2);
}

/* Which of 4 x 4 cells are inside: bit 4j + i. */
PN_INLINE uint32_t scanSmall(const Edges *edges) {
  const pnLanes i = {0, 1, 2, 3}, bits = {1, 2, 4, 8};
  pnLanes e0 = edges->e[0] + i * edges->sx[0], e1 = edges->e[1] + i * edges->sx[1], e2 = edges->e[2] + i * edges->sx[2];
  pnLanes hits = {0, 0, 0, 0};
  for (int j = 0; j < SMALL; ++j) {
    // the sign bit is set where one of the three is negative
    pnLanes outside = (e0 | e1 | e2) >> 31;
    hits |= ~outside & (bits << (4 * j));
    e0 += edges->sy[0], e1 += edges->sy[1], e2 += edges->sy[2];
  }
  return pn_lanesFold(hits);
}

static void strokeSmall(pnPen *pen, Scan *scan, const Edges *edges) {
  // cells of the image and of this band
  int32_t j0 = PN_MAX(pen->top - scan->y0, 0), j1 = PN_MIN(pen->bottom, scan->y1) - scan->y0;
  uint32_t columns = ((1u << (scan->x1 - scan->x0 + 1)) - 1) * 0x1111u;
  uint32_t mask = scanSmall(edges) & columns & ((1u << (4 * (j1 + 1))) - 1) & ~((1u << (4 * j0)) - 1);
  if (!mask) return;
  setUpDepth(scan, pen->view->steps, (double)edges->sx[1], (double)edges->sx[2]);
  for (; mask; mask &= mask - 1) {
    int32_t n = __builtin_ctz(mask);
    strokeEdges(pen, scan, edges, n >> 2, n & 3, n & 3);
  }
}

/* Which of 8 cells of row j are inside, as bits. */
PN_INLINE uint32_t scanNarrow(const Edges *edges, int32_t j) {
  const pnLanes i = {0, 1, 2, 3}, bits = {1, 2, 4, 8};
  pnLanes left = {0, 0, 0, 0}, right = {0, 0, 0, 0};
  for (int k = 0; k < 3; ++k) {
    pnLanes here = (edges->e[k] + edges->sy[k] * j) + i * edges->sx[k];
    left |= here;
    right |= here + 4 * edges->sx[k];
  }
  return pn_lanesFold((~(left >> 31) & bits) | (~(right >> 31) & (bits << 4)));
}

static void strokeNarrow(pnPen *pen, Scan *scan, const Edges *edges) {
  uint32_t columns = (1u << (scan->x1 - scan->x0 + 1)) - 1;
  int32_t last = PN_MIN(scan->y1, pen->bottom) - scan->y0;
  setUpDepth(scan, pen->view->steps, (double)edges->sx[1], (double)edges->sx[2]);
  for (int32_t j = PN_MAX(pen->top - scan->y0, 0); j <= last; ++j) {
    uint32_t mask = scanNarrow(edges, j) & columns;
    if (mask) strokeEdges(pen, scan, edges, j, __builtin_ctz(mask), 31 - __builtin_clz(mask));
  }
}

/* ---------------------------------------------------------------- wide */

/* Where an edge crosses the rows. On a row with edge function e at its first cell and step s, the cells inside are
 * those from -floor(e / s) on (rising, s > 0), or up to floor(e / -s) (falling). From row to row e grows by a
 * constant, so quotient and remainder do, too: one division at the start, exact ever after. */
typedef struct Crossing {
  int64_t quotient, remainder, divisor;
  int64_t stepQuotient, stepRemainder;
} Crossing;

static int64_t floorDivide(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q * b > a ? q - 1 : q; // b > 0
}

static Crossing startCrossing(int64_t e, int64_t step, int64_t divisor) {
  Crossing crossing = {.divisor = divisor};
  crossing.quotient = floorDivide(e, divisor);
  crossing.remainder = e - crossing.quotient * divisor;
  crossing.stepQuotient = floorDivide(step, divisor);
  crossing.stepRemainder = step - crossing.stepQuotient * divisor;
  return crossing;
}

PN_INLINE void nextRow(Crossing *crossing) {
  crossing->quotient += crossing->stepQuotient;
  crossing->remainder += crossing->stepRemainder;
  int64_t carry = crossing->remainder >= crossing->divisor;
  crossing->quotient += carry;
  crossing->remainder -= carry ? crossing->divisor : 0;
}

/* Edge functions as in Edges, in 64 bits. */
typedef struct WideEdges {
  int64_t e[3], sx[3], sy[3], bias[3];
} WideEdges;

static WideEdges setUpWide(const pnView *view, const Scan *scan) {
  const uint32_t shift = view->cellShift;
  const int32_t half = 1 << (shift - 1), px = scan->x0 * (1 << shift) + half, py = scan->y0 * (1 << shift) + half;
  WideEdges edges;
  for (int k = 0; k < 3; ++k) {
    const pnPoint *from = scan->corners[(k + 1) % 3], *to = scan->corners[(k + 2) % 3];
    int64_t dx = to->x - from->x, dy = to->y - from->y;
    edges.bias[k] = !(dy < 0 || (dy == 0 && dx < 0));
    edges.e[k] = dx * (py - from->y) - dy * (px - from->x) - edges.bias[k];
    edges.sx[k] = -dy * (1 << shift);
    edges.sy[k] = dx * (1 << shift);
  }
  return edges;
}

static void strokeWide(pnPen *pen, Scan *scan) {
  WideEdges edges = setUpWide(pen->view, scan);
  const int64_t *sx = edges.sx, *sy = edges.sy, width = scan->x1 - scan->x0;
  int32_t j = PN_MAX(pen->top - scan->y0, 0), lastRow = PN_MIN(scan->y1, pen->bottom) - scan->y0;
  Crossing crossings[3];
  // a level edge has no crossing: all of a row is on one side, which its sign says
  for (int k = 0; k < 3; ++k)
    crossings[k] = startCrossing(edges.e[k] + sy[k] * j, sy[k], sx[k] > 0 ? sx[k] : sx[k] < 0 ? -sx[k] : 1);
  setUpDepth(scan, pen->view->steps, (double)sx[1], (double)sx[2]);
  for (; j <= lastRow; ++j) {
    int64_t first = 0, last = width;
    for (int k = 0; k < 3; ++k) {
      int64_t at = crossings[k].quotient;
      if (sx[k] > 0) first = PN_MAX(first, -at);
      else if (sx[k] < 0) last = PN_MIN(last, at);
      else last = at < 0 ? -1 : last;
      nextRow(&crossings[k]);
    }
    if (first > last) continue;
    int64_t w1 = edges.e[1] + edges.bias[1] + sy[1] * j + sx[1] * first;
    int64_t w2 = edges.e[2] + edges.bias[2] + sy[2] * j + sx[2] * first;
    makeStroke(pen, scan, j, (int32_t)first, (int32_t)last, (double)w1, (double)w2);
  }
}

/* ---------------------------------------------------------------- all */

void pn_strokeTriangle(pnPen *pen, const pnPoint *a, const pnPoint *b, const pnPoint *c) {
  Scan scan;
  scan.area = (int64_t)(b->x - a->x) * (c->y - a->y) - (int64_t)(c->x - a->x) * (b->y - a->y);
  // seen edge-on it covers no sample
  if (scan.area == 0) return;

  // counter-clockwise means that the outward side is the far side: the line leaves the body here
  scan.exit = scan.area > 0;
  scan.corners[0] = a;
  scan.corners[1] = scan.exit ? b : c;
  scan.corners[2] = scan.exit ? c : b;
  scan.area = scan.exit ? scan.area : -scan.area;

  // the box in cells
  pnLanes p = pn_lanesOf(a), q = pn_lanesOf(b), r = pn_lanesOf(c);
  pnLanes lo = pn_lanesMin(pn_lanesMin(p, q), r), hi = pn_lanesMax(pn_lanesMax(p, q), r), size = hi - lo;
  pnLanes first = pn_firstCells(&pen->sampler, lo), last = pn_lastCells(&pen->sampler, hi);
  scan.x0 = first[0], scan.y0 = first[1], scan.x1 = last[0], scan.y1 = last[1];

  if (PN_MAX(size[0], size[1]) > LANE_UNITS || scan.x1 - scan.x0 >= NARROW) {
    strokeWide(pen, &scan);
    return;
  }
  Edges edges = setUpEdges(pen->view, &scan);
  if (scan.x1 - scan.x0 < SMALL && scan.y1 - scan.y0 < SMALL) strokeSmall(pen, &scan, &edges);
  else strokeNarrow(pen, &scan, &edges);
}
