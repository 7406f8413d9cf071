/* fours.c: triangles of more than a few cells, four set up side by side, then each followed two rows at a time.
 *
 * The same numbers as in stroke.c, which see: edge functions are whole, row ends are quotients rounded the right way,
 * depths sums of two products. But of the three edges, one is alone on its side (the other two both begin the rows, or
 * both end them), and this one is put first: then there is nothing to decide from row to row.
 *
 * Setting up is one long chain of sums and quotients, and so is a row; side by side they wait for themselves less. */
#include "volume/stroke.h"

#include <math.h>

/* ---------------------------------------------------------------- setting up */

/* Four triangles side by side. Cells whose centres are in the box and in the strip; corners and the first sample as
 * seen from the first corner. */
typedef struct Four {
  pnI4 x0, y0, width, height; /* in cells; less than one: nothing there */
  pnI4 bx, by, cx, cy, px, py, z, bz, cz;
  pnI4 extent, clamp; /* the longer side of the box in units; -1 where depths may leave the window */
} Four;

static Four fourOf(const pnView *view, pnStrip strip, const pnPoint *points, const uint32_t *const corners[4]) {
  const int32_t shift = (int32_t)view->cellShift, half = 1 << (shift - 1), lastCell = (int32_t)view->size - 1;
  const pnI4 zero = {0, 0, 0, 0};
  pnI4 x[3], y[3], z[3];
  for (int k = 0; k < 3; ++k) pn_lanesCorners(points, corners, k, &x[k], &y[k], &z[k]);
  Four four;
  pnI4 loX = pn_i4Min(pn_i4Min(x[0], x[1]), x[2]), hiX = pn_i4Max(pn_i4Max(x[0], x[1]), x[2]);
  pnI4 loY = pn_i4Min(pn_i4Min(y[0], y[1]), y[2]), hiY = pn_i4Max(pn_i4Max(y[0], y[1]), y[2]);
  pnI4 loZ = pn_i4Min(pn_i4Min(z[0], z[1]), z[2]), hiZ = pn_i4Max(pn_i4Max(z[0], z[1]), z[2]);
  four.x0 = pn_i4Max((loX + (half - 1)) >> shift, zero);
  four.y0 = pn_i4Max((loY + (half - 1)) >> shift, zero + strip.first);
  four.width = pn_i4Min((hiX - half) >> shift, zero + lastCell) - four.x0 + 1;
  four.height = pn_i4Min((hiY - half) >> shift, zero + strip.last) - four.y0 + 1;
  four.extent = pn_i4Max(hiX - loX, hiY - loY);
  four.clamp = (loZ < 0) | (hiZ > view->steps);
  four.bx = x[1] - x[0], four.by = y[1] - y[0], four.cx = x[2] - x[0], four.cy = y[2] - y[0];
  four.px = (four.x0 << shift) + half - x[0], four.py = (four.y0 << shift) + half - y[0];
  four.z = z[0], four.bz = z[1] - z[0], four.cz = z[2] - z[0];
  return four;
}

/* A triangle no larger than this has edge functions below 2 * 2^24 * 2^24 = 2^49 in its box, and steps from cell to
 * cell below 2^32: sums of them, and halves, are exact doubles. */
#define PLAIN_UNITS (1 << 24)

/* Four triangles, ready to be followed. Where an edge crosses a row is (at + step * row) * per, see stroke.c; edge 0
 * is the one that is alone. */
typedef struct Ready {
  double at[3][4], step[3][4], per[3][4];
  uint64_t aloneBegins[4];            /* all ones: edge 0 begins the rows; otherwise it ends them */
  double w[2][4], sx[2][4], sy[2][4]; /* weights of the corners 1 and 2 at the first cell, and their steps */
  double perArea[2][4];               /* depth is their sum of products with these, and z */
  uint64_t z[4], dz[4];
  double area[4]; /* twice the area, negative where we see the inner side */
  int32_t width[4], height[4], cell[4];
  uint32_t kind[4];
} Ready;

PN_INLINE pnD2 twoOf(pnI4 four, int first) {
  return first ? pn_d2OfHigh(four) : pn_d2OfLow(four);
}

PN_INLINE void storeTwo(void *p, pnD2 two) {
  memcpy(p, &two, sizeof two);
}

/* Sorts three edges: the one that is alone, the others. */
PN_INLINE void storeEdges(double out[3][4], int lane, const pnU2 alone[3], const pnD2 x[3]) {
  storeTwo(&out[0][lane], pn_d2Select(alone[0], x[0], pn_d2Select(alone[1], x[1], x[2])));
  storeTwo(&out[1][lane], pn_d2Select(alone[0], x[1], x[0]));
  storeTwo(&out[2][lane], pn_d2Select(alone[2], x[1], x[2]));
}

/* Lanes `lane` and `lane` + 1: where rows begin and end. e: edge functions at the first sample; sx, sy: their steps. */
PN_INLINE void readyEdges(const pnD2 e[3], const pnD2 sx[3], const pnD2 sy[3], int lane, Ready *out) {
  const pnD2 zero = {0.0, 0.0}, one = {1.0, 1.0}, least = one / PN_ROW_LEVEL;
  pnD2 at[3], per[3], step[3];
  pnU2 rises[3], alone[3];
  for (int k = 0; k < 3; ++k) {
    rises[k] = (pnU2)(sx[k] > zero);
    pnU2 inward = rises[k] | ((pnU2)(sx[k] == zero) & (pnU2)(sy[k] < zero));
    at[k] = sx[k] - e[k] + 0.5 - (pnD2)(inward & (pnU2)one);
    per[k] = one / pn_d2Max(pn_d2Max(sx[k], zero - sx[k]), least);
    step[k] = zero - sy[k];
  }
  // one of three rises, or two
  pnU2 begins = rises[0] ^ rises[1] ^ rises[2];
  for (int k = 0; k < 3; ++k) alone[k] = ~(rises[k] ^ begins);
  storeEdges(out->at, lane, alone, at), storeEdges(out->per, lane, alone, per);
  storeEdges(out->step, lane, alone, step);
  memcpy(&out->aloneBegins[lane], &begins, sizeof begins);
}

PN_INLINE void readyTwo(const Four *four, double cell, int lane, Ready *out) {
  const pnD2 zero = {0.0, 0.0}, one = {1.0, 1.0};
  // edge functions 1 and 2 at p are g * p.x + h * p.y, and all three add up to twice the area. Counter-clockwise means
  // that the outward side is the far side: the line leaves the body here. The other way round all edges are turned
  pnD2 bx = twoOf(four->bx, lane), by = twoOf(four->by, lane), cx = twoOf(four->cx, lane), cy = twoOf(four->cy, lane);
  pnD2 px = twoOf(four->px, lane), py = twoOf(four->py, lane), area = bx * cy - cx * by;
  storeTwo(&out->area[lane], area);
  pnD2 sign = pn_d2Select((pnU2)(area < zero), zero - one, one);
  pnD2 g[3] = {zero, cy * sign, by * (zero - sign)}, h[3] = {zero, cx * (zero - sign), bx * sign}, e[3], sx[3], sy[3];
  g[0] = zero - (g[1] + g[2]), h[0] = zero - (h[1] + h[2]);
  area *= sign;
  e[1] = g[1] * px + h[1] * py, e[2] = g[2] * px + h[2] * py, e[0] = area - e[1] - e[2];
  for (int k = 0; k < 3; ++k) sx[k] = g[k] * cell, sy[k] = h[k] * cell;
  readyEdges(e, sx, sy, lane, out);

  // depths; seen edge-on there are no rows, but nothing must be divided by nothing
  pnD2 perArea = PN_DEPTH_ONE / pn_d2Max(area, one);
  pnD2 depth[2] = {twoOf(four->bz, lane) * perArea, twoOf(four->cz, lane) * perArea};
  for (int k = 0; k < 2; ++k) {
    storeTwo(&out->perArea[k][lane], depth[k]), storeTwo(&out->w[k][lane], e[k + 1]);
    storeTwo(&out->sx[k][lane], sx[k + 1]), storeTwo(&out->sy[k][lane], sy[k + 1]);
  }
  // a step longer than all depths there are: no row has two cells, and the step is not used
  const pnD2 longest = (zero + 2.0 * PN_MAX_UNITS) * PN_DEPTH_ONE;
  pnD2 dz = sx[1] * depth[0] + sx[2] * depth[1];
  pnU2 used = (pnU2)(pn_d2Max(dz, zero - dz) < longest);
  pnU2 twice = (pnU2)pn_l2Floor((pnD2)((pnU2)dz & used)) << 1;
  memcpy(&out->dz[lane], &twice, sizeof twice);
}

static void readyFour(const pnView *view, pnStrip strip, const Four *four, Ready *out) {
  const double cell = (double)(1 << view->cellShift);
  readyTwo(four, cell, 0, out);
  readyTwo(four, cell, 2, out);
  pn_i4Store(out->cell, (four->y0 - strip.first) * (int32_t)strip.pitch + four->x0);
  pn_i4Store(out->width, four->width), pn_i4Store(out->height, four->height);
  for (int l = 0; l < 4; ++l) {
    out->z[l] = 2 * ((uint64_t)(int64_t)four->z[l] * (UINT64_C(1) << 32) + PN_DEPTH_HALF);
    out->kind[l] = ((uint32_t)four->clamp[l] & PN_ROW_CLAMP) | (out->area[l] > 0.0 ? PN_ROW_EXIT : 0);
  }
}

/* ---------------------------------------------------------------- following */

/* Two rows, one a lane: what is followed, and by what it steps. */
typedef struct FourWalk {
  pnD2 at[3], step[3], per[3], leastAlone, mostAlone, leastOthers, mostOthers;
  pnU2 aloneBegins;
  pnD2 w[2], sx[2], sy[2], perArea[2];
  pnU2 z;
} FourWalk;

PN_INLINE pnD2 both(double x) {
  return (pnD2){x, x};
}

PN_INLINE FourWalk startWalk(const Ready *ready, int lane) {
  const pnD2 rows = {0.0, 1.0}, end = both((double)ready->width[lane]), zero = both(0.0);
  FourWalk walk;
  for (int k = 0; k < 3; ++k) {
    pnD2 step = both(ready->step[k][lane]);
    walk.at[k] = both(ready->at[k][lane]) + rows * step, walk.step[k] = step + step;
    walk.per[k] = both(ready->per[k][lane]);
  }
  const pnU2 begins = {ready->aloneBegins[lane], ready->aloneBegins[lane]};
  walk.aloneBegins = begins;
  walk.leastAlone = pn_d2Select(begins, zero, zero - end), walk.mostAlone = pn_d2Select(begins, end, zero);
  walk.leastOthers = pn_d2Select(begins, zero - end, zero), walk.mostOthers = pn_d2Select(begins, zero, end);
  for (int k = 0; k < 2; ++k) {
    pnD2 step = both(ready->sy[k][lane]);
    walk.w[k] = both(ready->w[k][lane]) + rows * step, walk.sy[k] = step + step;
    walk.sx[k] = both(ready->sx[k][lane]), walk.perArea[k] = both(ready->perArea[k][lane]);
  }
  walk.z = (pnU2){ready->z[lane], ready->z[lane]};
  return walk;
}

/* Two rows: their first cells in the box, their lengths, which may be 0, twice the depth at the first cells. */
typedef struct FourRows {
  pnL2 begin;
  pnU2 length, z;
} FourRows;

PN_INLINE FourRows nextRows(FourWalk *walk) {
  pnD2 alone = walk->at[0] * walk->per[0];
  pnD2 others = pn_d2Max(walk->at[1] * walk->per[1], walk->at[2] * walk->per[2]);
  pnL2 a = pn_l2Of(pn_d2Min(pn_d2Max(alone, walk->leastAlone), walk->mostAlone));
  pnL2 b = pn_l2Of(pn_d2Min(pn_d2Max(others, walk->leastOthers), walk->mostOthers));
  FourRows rows;
  pnL2 minusLength = a + b;
  rows.begin = (pnL2)((walk->aloneBegins & (pnU2)a) | (~walk->aloneBegins & (pnU2)b));
  pnD2 begin = __builtin_convertvector(rows.begin, pnD2);
  pnD2 sum =
      (walk->w[0] + walk->sx[0] * begin) * walk->perArea[0] + (walk->w[1] + walk->sx[1] * begin) * walk->perArea[1];
  // where there is no row, weights may be beyond all bounds
  pnU2 hit = (pnU2)(minusLength < 0);
  rows.length = (pnU2)-minusLength & hit;
  rows.z = walk->z + ((pnU2)pn_l2Floor((pnD2)((pnU2)sum & hit)) << 1);
  for (int k = 0; k < 3; ++k) walk->at[k] += walk->step[k];
  for (int k = 0; k < 2; ++k) walk->w[k] += walk->sy[k];
  return rows;
}

static void listRows(const Ready *ready, int lane, uint32_t pitch, pnRowLists *lists) {
  FourWalk walk = startWalk(ready, lane);
  const uint64_t dz = ready->dz[lane];
  const uint32_t kind = ready->kind[lane];
  const int32_t height = ready->height[lane];
  uint64_t counts = lists->counts;
  uint32_t cell = (uint32_t)ready->cell[lane];
  for (int32_t j = 0; j < height; j += 2, cell += 2 * pitch) {
    FourRows rows = nextRows(&walk);
    // of an odd number the last has none beside it
    uint32_t second = (uint32_t)rows.length[1] & -(uint32_t)(j + 1 < height);
    counts =
        pn_addRow(lists->rows, counts, cell + (uint32_t)rows.begin[0], (uint32_t)rows.length[0], kind, rows.z[0], dz);
    counts = pn_addRow(lists->rows, counts, cell + pitch + (uint32_t)rows.begin[1], second, kind, rows.z[1], dz);
  }
  lists->counts = counts;
}

/* ---------------------------------------------------------------- rows */

/* Draws rows of one class into the shelves; false when out of memory. */
PN_INLINE bool drawList(const pnRowLists *lists, uint32_t class, int32_t steps, pnShelves *shelves) {
  const pnRow *row = lists->rows + (class << PN_ROW_BITS), *end = row + pn_rowCount(lists, class);
  const bool longest = class == PN_ROW_CLASSES - 1;
  pnShelfPen pen = pn_shelvesOpen(shelves);
  if (!longest && !pn_shelvesReserve(shelves, &pen, (size_t)(end - row) * PN_ROW_STEP * (class + 1))) return false;
  uint64_t total = 0;
  for (; row < end; ++row) {
    uint32_t length = row->length, eights = longest ? (length + PN_ROW_STEP - 1) / PN_ROW_STEP : class + 1;
    if (longest && !pn_shelvesReserve(shelves, &pen, length)) return false;
    total += length;
    if (PN_LIKELY(!(row->kind & PN_ROW_CLAMP))) pn_shelvesAddRow(&pen, row, eights, false, steps);
    else pn_shelvesAddRow(&pen, row, eights, true, steps);
  }
  pn_shelvesClose(shelves, &pen);
  shelves->total += total;
  return true;
}

static bool drawRows(pnRowLists *lists, int32_t steps, pnShelves *shelves) {
  // the shortest are the most: loops of their own, unrolled
  bool ok = drawList(lists, 0, steps, shelves) && drawList(lists, 1, steps, shelves);
  for (uint32_t class = 2; ok && class < PN_ROW_CLASSES; ++class) ok = drawList(lists, class, steps, shelves);
  lists->total = 0, lists->counts = 0;
  return ok;
}

/* ---------------------------------------------------------------- all */

/* Triangles come in the order of the mesh, a strip's from here and there: what will be wanted is fetched ahead. */
#define AHEAD 16

PN_INLINE void fetchAhead(const pnPoint *points, const uint32_t *triangles, const uint32_t *list, size_t count,
                          size_t i) {
  for (size_t k = i + 2 * AHEAD; k < PN_MIN(i + 2 * AHEAD + 4, count); ++k)
    __builtin_prefetch(triangles + 3 * (size_t)list[k]);
  for (size_t k = i + AHEAD; k < PN_MIN(i + AHEAD + 4, count); ++k)
    for (int c = 0; c < 3; ++c) __builtin_prefetch(points + triangles[3 * (size_t)list[k] + (size_t)c]);
}

void pn_listFour(const pnView *view, pnStrip strip, const pnPoint *points, const uint32_t *const corners[4], int lanes,
                 pnRowLists *lists) {
  const Four four = fourOf(view, strip, points, corners);
  Ready ready;
  readyFour(view, strip, &four, &ready);
  for (int l = 0; l < lanes; ++l) {
    // seen edge-on it covers no sample
    if (four.width[l] <= 0 || four.height[l] <= 0 || ready.area[l] == 0.0) continue;
    lists->total += (uint32_t)four.height[l];
    if (PN_LIKELY(four.extent[l] <= PLAIN_UNITS)) listRows(&ready, l, strip.pitch, lists);
    else pn_strokeGiant(view, strip, points, corners[l], lists);
  }
}

bool pn_strokeTriangles(const pnView *view, pnStrip strip, const pnPoint *points, const uint32_t *triangles,
                        const uint32_t *list, size_t count, pnRowLists *lists, pnShelves *shelves) {
  lists->total = 0, lists->counts = 0;
  for (size_t i = 0; i < count; i += 4) {
    // behind the last its copies, which are not drawn
    int lanes = (int)PN_MIN(count - i, 4);
    const uint32_t *corners[4];
    for (int l = 0; l < 4; ++l) corners[l] = triangles + 3 * (size_t)list[i + (size_t)PN_MIN(l, lanes - 1)];
    fetchAhead(points, triangles, list, count, i);
    pn_listFour(view, strip, points, corners, lanes, lists);
    if (lists->total > PN_ROW_MANY && !drawRows(lists, view->steps, shelves)) return false;
  }
  return drawRows(lists, view->steps, shelves);
}
