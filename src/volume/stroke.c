/* stroke.c: which cells of a row are inside a triangle, exactly; and how deep. Here for giant triangles.
 *
 * Edge functions. For an edge from p to q and a sample s, (q - p) x (s - p) is positive on the left. Of a
 * counter-clockwise triangle a sample is inside when all three are positive. Where one is zero the sample lies on the
 * edge, and belongs to this triangle when moving it right by a hair, or else (a level edge) down by a hair of a hair,
 * would take it inside: a bias of 0 or 1 makes that "not negative".
 *
 * Along a row the edge function is e + s*i at cell i: inside are the cells from -e / s on, rounded up (s > 0), or up to
 * e / -s, rounded down. Two ways to these quotients, both exact:
 *   plain    doubles hold the edge functions, and a product with 1 / s decides: fours.c
 *   giant    when they do not: quotient and remainder in 64 bits, followed from row to row: stroke_one.h, and here
 * Triangles of a few cells are drawn in dots.c, with the same answer.
 *
 * Plain. Rows begin at the largest -floor(e / s) of the rising edges, s > 0, and end before the smallest floor(e / -s)
 * + 1 of the falling ones; changing signs, minus the end is the largest -floor(e / -s) - 1. Both are (s - e - 1/2) /
 * |s|, rounded towards zero, where nothing is below the box.
 * Why products will do. With n and s whole, floor(n / s) = floor((n + 1/2) / s), and (n + 1/2) / s is at least 1/2s
 * from any whole number. 1 / s and the product round by 2^-53 each, together by less than |n / s| 2^-52 < 2^50 2^-52 /
 * s = 1/4s.
 * A level edge has s = 0: 1 / s is then taken so large that the sign of e + 1/2, times that at least as long as a row,
 * decides.
 *
 * Depth at a sample is a mean of the corners' depths, weighted by edge functions, which are exact and not negative:
 * nothing cancels, slivers are as good as any triangle. */
#include "volume/stroke.h"

void pn_strokeGiant(const pnView *view, pnStrip strip, const pnPoint *points, const uint32_t *triangle,
                    pnRowLists *lists) {
  const pnPoint *a = points + triangle[0], *b = points + triangle[1], *c = points + triangle[2];
  int64_t area = (int64_t)(b->x - a->x) * (c->y - a->y) - (int64_t)(c->x - a->x) * (b->y - a->y);
  // counter-clockwise means that the outward side is the far side: the line leaves the body here
  const bool exit = area > 0;
  const pnPoint *corners[3] = {a, exit ? b : c, exit ? c : b};

  // the box in cells
  const pnSampler sampler = pn_samplerOf(view);
  pnI4 p = pn_i4Load(a), q = pn_i4Load(b), r = pn_i4Load(c);
  pnI4 lo = pn_i4Min(pn_i4Min(p, q), r), hi = pn_i4Max(pn_i4Max(p, q), r);
  pnI4 from = pn_firstCells(&sampler, lo), to = pn_lastCells(&sampler, hi);
  const int32_t half = 1 << (view->cellShift - 1), y0 = PN_MAX(from[1], strip.first), y1 = PN_MIN(to[1], strip.last);
  const uint32_t kind = (exit ? PN_ROW_EXIT : 0) | (lo[2] < 0 || hi[2] > view->steps ? PN_ROW_CLAMP : 0);
  uint32_t cell = (uint32_t)(y0 - strip.first) * strip.pitch + (uint32_t)from[0];

  const pnEdges edges = pn_setUpEdges(view->cellShift, corners, from[0] * (1 << view->cellShift) + half,
                                      y0 * (1 << view->cellShift) + half);
  const pnDepthPlane depth = pn_setUpDepth(corners, &edges, exit ? area : -area);
  const int64_t *e = edges.e, *sx = edges.sx, *sy = edges.sy, *bias = edges.bias;
  pnCrossing crossings[3];
  // a level edge has no crossing: all of a row is on one side, which its sign says
  for (int k = 0; k < 3; ++k) crossings[k] = pn_startCrossing(e[k], sy[k], sx[k] > 0 ? sx[k] : sx[k] < 0 ? -sx[k] : 1);
  for (int32_t j = 0; j <= y1 - y0; ++j, cell += strip.pitch) {
    int64_t first = 0, last = to[0] - from[0];
    for (int k = 0; k < 3; ++k) {
      int64_t at = crossings[k].quotient;
      if (sx[k] > 0) first = PN_MAX(first, -at);
      else if (sx[k] < 0) last = PN_MIN(last, at);
      else last = at < 0 ? -1 : last;
      pn_nextRow(&crossings[k]);
    }
    if (first > last) continue;
    double w1 = (double)(e[1] + bias[1] + sy[1] * j + sx[1] * first);
    double w2 = (double)(e[2] + bias[2] + sy[2] * j + sx[2] * first);
    int64_t z = depth.z + (int64_t)floor(w1 * depth.perArea[0] + w2 * depth.perArea[1]);
    lists->counts = pn_addRow(lists->rows, lists->counts, cell + (uint32_t)first, (uint32_t)(last + 1 - first), kind,
                              2 * (uint64_t)z, 2 * (uint64_t)depth.dz);
  }
}
