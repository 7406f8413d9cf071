/* stroke.c: which cells of a row are inside a triangle, exactly; and how deep.
 *
 * Edge functions. For an edge from p to q and a sample s, (q - p) x (s - p) is positive on the left. Of a
 * counter-clockwise triangle a sample is inside when all three are positive. Where one is zero the sample lies on the
 * edge, and belongs to this triangle when moving it right by a hair, or else (a level edge) down by a hair of a hair,
 * would take it inside: a bias of 0 or 1 makes that "not negative".
 *
 * Along a row the edge function is e + s*i at cell i: inside are the cells from -e / s on, rounded up (s > 0), or up to
 * e / -s, rounded down. Two ways to these quotients, both exact:
 *   plain    doubles hold the edge functions, and a product with 1 / s decides (see setUpPlain)
 *   giant    when they do not: quotient and remainder in 64 bits, followed from row to row
 * Triangles of a few cells are drawn in dots.c, with the same answer.
 *
 * Depth at a sample is a mean of the corners' depths, weighted by edge functions, which are exact and not negative:
 * nothing cancels, slivers are as good as any triangle. */
#include "volume/stroke.h"

#include <math.h>

/* What both ways share. They return how many rows they found. */
typedef struct Scan {
  const pnPoint *corners[3]; /* counter-clockwise */
  int32_t x0, x1, y0, y1;    /* cells whose centres are in the box */
  int64_t area;              /* twice the area, positive */
  bool exit, clamp;          /* as in pnRow */
  double perArea1, perArea2; /* see setUpDepth */
  int64_t z, dz;
} Scan;

/* ---------------------------------------------------------------- depth */

/* Depth is z + w1 * perArea1 + w2 * perArea2 for weights w1, w2 of the corners 1 and 2, in 2^-32 units; along a row it
 * grows by dz. s1 and s2: what the weights grow by. */
PN_INLINE void setUpDepth(Scan *scan, int32_t steps, double s1, double s2) {
  const pnPoint *a = scan->corners[0], *b = scan->corners[1], *c = scan->corners[2];
  double perArea = PN_DEPTH_ONE / (double)scan->area;
  scan->perArea1 = (double)(b->z - a->z) * perArea;
  scan->perArea2 = (double)(c->z - a->z) * perArea;
  scan->z = (int64_t)a->z * (INT64_C(1) << 32) + PN_DEPTH_HALF;
  // a step longer than all depths there are: no row has two cells, and the step is not used
  double dz = s1 * scan->perArea1 + s2 * scan->perArea2;
  scan->dz = fabs(dz) < 2.0 * PN_MAX_UNITS * PN_DEPTH_ONE ? (int64_t)floor(dz) : 0;
  int32_t zLo = PN_MIN(PN_MIN(a->z, b->z), c->z), zHi = PN_MAX(PN_MAX(a->z, b->z), c->z);
  scan->clamp = zLo < 0 || zHi > steps;
}

/* Cells first ... end - 1 of row j of the triangle's box; w1, w2: weights at the first. */
PN_INLINE pnRow makeRow(const pnView *view, const Scan *scan, int32_t j, int32_t first, int32_t end, double w1,
                        double w2) {
  uint32_t cell = pn_bandCell((uint32_t)(scan->x0 + first), (uint32_t)(scan->y0 + j), view->size);
  int64_t z = scan->z + (int64_t)floor(w1 * scan->perArea1 + w2 * scan->perArea2);
  return (pnRow){cell, (uint16_t)(end - first), scan->exit, scan->clamp, z, scan->dz};
}

/* ---------------------------------------------------------------- plain */

/* A triangle no larger than this has edge functions below 2 * 2^24 * 2^24 = 2^49 in its box, and s below 2^32: sums of
 * them, and halves, are exact doubles. */
#define PLAIN_UNITS (1 << 24)

/* Edge functions e[k] + sx[k]*i + sy[k]*j over cells (i, j) relative to (x0, y0); edge k lies opposite to corner k. */
typedef struct PlainEdges {
  double e[3], sx[3], sy[3];
  double at[4], step[4], per[4];
} PlainEdges;

/* The cells of a row that are inside go from floor(at[0] * per[0]) and floor(at[1] * per[1]), whichever is more, to before
 * floor(at[2] * per[2]) and floor(at[3] * per[3]), whichever is less; the next row has at + step.
 *
 * Why products will do. With n and s whole, floor(n / s) = floor((n + 1/2) / s), and (n + 1/2) / s is at least 1/2s from
 * any whole number. 1 / s and the product round by 2^-53 each, together by less than |n / s| 2^-52 < 2^50 2^-52 / s = 1/4s.
 * A level edge has s = 0: per is then so large that the sign of e + 1/2, times per at least as long as a row, decides. */
#define LEVEL (2.0 * PN_MAX_RESOLUTION)

static void setUpPlain(const pnView *view, const Scan *scan, PlainEdges *edges) {
  const double cell = (double)(1 << view->cellShift);
  const int32_t half = 1 << (view->cellShift - 1);
  const int32_t px = scan->x0 * (1 << view->cellShift) + half, py = scan->y0 * (1 << view->cellShift) + half;
  // nothing bounds a row but the box
  edges->at[0] = edges->at[1] = 0.0;
  edges->at[2] = edges->at[3] = (double)(scan->x1 - scan->x0) + 1.5;
  for (int k = 0; k < 4; ++k) edges->step[k] = 0.0, edges->per[k] = 1.0;
  int rising = 0, falling = 2;
  for (int k = 0; k < 3; ++k) {
    const pnPoint *from = scan->corners[(k + 1) % 3], *to = scan->corners[(k + 2) % 3];
    int32_t dx = to->x - from->x, dy = to->y - from->y, inward = (dy < 0) | ((dy == 0) & (dx < 0));
    edges->e[k] = (double)((int64_t)dx * (py - from->y) - (int64_t)dy * (px - from->x));
    edges->sx[k] = -(double)dy * cell;
    edges->sy[k] = (double)dx * cell;
    // which way an edge goes cannot be foreseen: no branch
    double e = edges->e[k] - (double)(1 - inward), s = fabs(edges->sx[k]);
    double sign = dy < 0 ? -1.0 : 1.0;
    int bound = dy < 0 ? rising : falling;
    edges->at[bound] = s + sign * (e + 0.5);
    edges->step[bound] = sign * edges->sy[k];
    edges->per[bound] = s > 0.0 ? 1.0 / s : LEVEL;
    rising += dy < 0, falling += dy >= 0;
  }
}

static uint32_t strokePlain(const pnView *view, Scan *scan, pnRow *rows) {
  PlainEdges edges;
  setUpPlain(view, scan, &edges);
  setUpDepth(scan, view->steps, edges.sx[1], edges.sx[2]);
  const int64_t end = scan->x1 - scan->x0 + 1;
  uint32_t count = 0;
  const double *at = edges.at, *per = edges.per, *step = edges.step;
  double at0 = at[0], at1 = at[1], at2 = at[2], at3 = at[3];
  double w1 = edges.e[1], w2 = edges.e[2];
  for (int32_t j = 0; j <= scan->y1 - scan->y0; ++j) {
    // towards zero is down, or to the zero that bounds it anyway
    int64_t lo0 = (int64_t)(at0 * per[0]), lo1 = (int64_t)(at1 * per[1]), first = PN_MAX(lo0, lo1);
    int64_t hi0 = (int64_t)(at2 * per[2]), hi1 = (int64_t)(at3 * per[3]), last = PN_MIN(hi0, hi1);
    first = PN_MAX(first, 0);
    last = PN_MIN(last, end);
    // written always, kept when there is one; where there is none, weights may be beyond all bounds
    bool hit = first < last;
    double v1 = (w1 + edges.sx[1] * (double)first) * (double)hit, v2 = (w2 + edges.sx[2] * (double)first) * (double)hit;
    rows[count] = makeRow(view, scan, j, (int32_t)first, (int32_t)last, v1, v2);
    count += hit;
    at0 += step[0], at1 += step[1], at2 += step[2], at3 += step[3];
    w1 += edges.sy[1], w2 += edges.sy[2];
  }
  return count;
}

/* ---------------------------------------------------------------- giant */

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

/* Edge functions as in PlainEdges, in 64 bits, less the bias. */
typedef struct GiantEdges {
  int64_t e[3], sx[3], sy[3], bias[3];
} GiantEdges;

static GiantEdges setUpGiant(const pnView *view, const Scan *scan) {
  const uint32_t shift = view->cellShift;
  const int32_t half = 1 << (shift - 1), px = scan->x0 * (1 << shift) + half, py = scan->y0 * (1 << shift) + half;
  GiantEdges edges;
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

static uint32_t strokeGiant(const pnView *view, Scan *scan, pnRow *rows) {
  GiantEdges edges = setUpGiant(view, scan);
  const int64_t *sx = edges.sx, *sy = edges.sy, width = scan->x1 - scan->x0;
  uint32_t count = 0;
  Crossing crossings[3];
  // a level edge has no crossing: all of a row is on one side, which its sign says
  for (int k = 0; k < 3; ++k)
    crossings[k] = startCrossing(edges.e[k], sy[k], sx[k] > 0 ? sx[k] : sx[k] < 0 ? -sx[k] : 1);
  setUpDepth(scan, view->steps, (double)sx[1], (double)sx[2]);
  for (int32_t j = 0; j <= scan->y1 - scan->y0; ++j) {
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
    rows[count++] = makeRow(view, scan, j, (int32_t)first, (int32_t)last + 1, (double)w1, (double)w2);
  }
  return count;
}

/* ---------------------------------------------------------------- all */

uint32_t pn_strokeTriangle(const pnView *view, const pnPoint *const corners[3], pnRow *rows) {
  const pnPoint *a = corners[0], *b = corners[1], *c = corners[2];
  Scan scan;
  scan.area = (int64_t)(b->x - a->x) * (c->y - a->y) - (int64_t)(c->x - a->x) * (b->y - a->y);
  // seen edge-on it covers no sample
  if (scan.area == 0) return 0;

  // counter-clockwise means that the outward side is the far side: the line leaves the body here
  scan.exit = scan.area > 0;
  scan.corners[0] = a;
  scan.corners[1] = scan.exit ? b : c;
  scan.corners[2] = scan.exit ? c : b;
  scan.area = scan.exit ? scan.area : -scan.area;

  // the box in cells
  const pnSampler sampler = pn_samplerOf(view);
  pnI4 p = pn_lanesOf(a), q = pn_lanesOf(b), r = pn_lanesOf(c);
  pnI4 lo = pn_i4Min(pn_i4Min(p, q), r), hi = pn_i4Max(pn_i4Max(p, q), r), size = hi - lo;
  pnI4 first = pn_firstCells(&sampler, lo), last = pn_lastCells(&sampler, hi);
  scan.x0 = first[0], scan.y0 = first[1], scan.x1 = last[0], scan.y1 = last[1];
  bool plain = PN_MAX(size[0], size[1]) <= PLAIN_UNITS;
  return plain ? strokePlain(view, &scan, rows) : strokeGiant(view, &scan, rows);
}
