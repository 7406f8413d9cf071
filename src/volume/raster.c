/* raster.c: scan conversion into layers. Exact, closed meshes stay closed.
 *
 * Heidelberger, Teschner, Gross 2003, section 2.2, in software. The paper peels layers off with the stencil buffer, one
 * rendering per layer; here all layers of a cell are written in one go:
 *
 *   points   vertices are rounded to the grid of the view
 *   bin      each triangle whose box has a cell centre in it is noted in the bands (8 rows) that its rows lie in
 *   stroke   per band: each triangle's rows become strokes, first and last cell found by exact integer edge functions.
 *            The number of layers of every cell is the running sum of "+1 where a stroke begins, -1 where it ends"
 *   fill     every stroke writes its depths straight to their final place, then each cell is sorted
 *
 * Watertight. The edge function of an edge is the same integer, with opposite sign, in the two triangles beside it.
 * Where it is zero at a sample, the rule below gives the sample to one of them: it is as if the sample had been moved
 * right by a tiny amount and down by a much tinier one, so that no edge passes through it. A line in general position
 * crosses a closed surface an even number of times, hence every cell has an even number of layers, whatever the mesh.
 *
 * Depth at a sample is a mean of the three corners' depths, weighted by edge functions that are exact and not negative:
 * nothing cancels, slivers are as good as any triangle. */
#include "volume/raster.h"

#include "base/memory.h"
#include "base/task.h"
#include "base/thread.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- scratch */

void pn_rasterFree(pnRaster *raster) {
  pn_arrayFree(&raster->points);
  for (size_t c = 0; c < raster->chunks.count; ++c) {
    pn_arrayFree(&raster->chunks.data[c].refs);
    pn_arrayFree(&raster->chunks.data[c].starts);
    pn_arrayFree(&raster->chunks.data[c].blocks);
    pn_arrayFree(&raster->chunks.data[c].blockStarts);
  }
  pn_arrayFree(&raster->chunks);
  for (int w = 0; w < PN_MAX_WORKERS; ++w) {
    pn_arrayFree(&raster->workers[w].strokes);
    pn_arrayFree(&raster->workers[w].fats);
  }
}

size_t pn_rasterBytes(const pnRaster *raster) {
  size_t bytes = raster->points.capacity * sizeof(pnPoint) + raster->chunks.capacity * sizeof(pnChunk);
  for (size_t c = 0; c < raster->chunks.count; ++c) {
    const pnChunk *chunk = raster->chunks.data + c;
    bytes += (chunk->refs.capacity + chunk->starts.capacity + chunk->blockStarts.capacity) * sizeof(uint32_t) +
             chunk->blocks.capacity * sizeof(pnBlock);
  }
  for (int w = 0; w < PN_MAX_WORKERS; ++w)
    bytes += raster->workers[w].strokes.capacity * sizeof(pnStroke) + raster->workers[w].fats.capacity * sizeof(pnFat);
  return bytes;
}

/* ---------------------------------------------------------------- points */

#define POINT_GRAIN 4096

typedef struct PointJob {
  const pnSolid *solid;
  const pnView *view;
  pnPoint *points;
} PointJob;

/* The nearest whole number. Rounding half up is as good as any, and the same on every machine. */
static int32_t roundUnits(double x) {
  return (int32_t)floor(x + 0.5);
}

static void makePoints(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const PointJob *job = context;
  const pnView *view = job->view;
  const float *positions = job->solid->positions;
  pnPoint *restrict points = job->points;
  double su = view->scale[0], sv = view->scale[1], sw = view->scale[2];
  double lu = view->lo[0], lv = view->lo[1], lw = view->lo[2];
  if (view->aligned) {
    uint32_t u = view->pick[0], v = view->pick[1], w = view->pick[2];
    for (uint32_t i = begin; i < end; ++i) {
      const float *p = positions + 3 * (size_t)i;
      points[i].x = roundUnits(((double)p[u] - lu) * su);
      points[i].y = roundUnits(((double)p[v] - lv) * sv);
      points[i].z = roundUnits(((double)p[w] - lw) * sw);
      points[i].unused = 0;
    }
    return;
  }
  for (uint32_t i = begin; i < end; ++i) {
    double q[3];
    pn_viewPoint(view, positions + 3 * (size_t)i, q);
    points[i] = (pnPoint){roundUnits((q[0] - lu) * su), roundUnits((q[1] - lv) * sv), roundUnits((q[2] - lw) * sw), 0};
  }
}

pnResult pn_rasterPoints(pnRaster *raster, const pnSolid *solid, const pnView *view, const pnTasks *tasks) {
  if (!pn_arrayReserve(&raster->points, solid->cornerCount))
    return pn_failMemory(pn_bytes(solid->cornerCount, sizeof(pnPoint)));
  raster->points.count = solid->cornerCount;

  // chunks that are already there keep their memory
  size_t count = (solid->triangleCount + (size_t)PN_CHUNK - 1) / PN_CHUNK;
  if (!pn_arrayReserve(&raster->chunks, count)) return pn_failMemory(pn_bytes(count, sizeof(pnChunk)));
  if (count > raster->chunks.count) {
    memset(raster->chunks.data + raster->chunks.count, 0, (count - raster->chunks.count) * sizeof(pnChunk));
    raster->chunks.count = count;
  }
  raster->chunkCount = (uint32_t)count;

  PointJob job = {solid, view, raster->points.data};
  pn_parallelFor(tasks, makePoints, &job, solid->cornerCount, POINT_GRAIN);
  return PN_OK;
}

/* ---------------------------------------------------------------- bin */

typedef struct LayerJob {
  pnRaster *raster;
  const pnSolid *solid;
  pnLayers *layers;
  _Atomic bool outOfMemory, tooMany;
} LayerJob;

/* The bands of the triangles of a chunk; those without a sample in their box are left out. */
typedef struct BinList {
  uint32_t count;
  uint32_t triangles[PN_CHUNK];
  uint16_t first[PN_CHUNK], last[PN_CHUNK];
} BinList;

/* Four numbers side by side: a point, or four cells. Compilers that know no vectors make loops of it, with the same
 * result. */
typedef int32_t Lanes __attribute__((vector_size(16)));
PN_INLINE Lanes loadPoint(const pnPoint *point) {
  Lanes lanes;
  memcpy(&lanes, point, sizeof lanes);
  return lanes;
}
PN_INLINE Lanes leastLanes(Lanes a, Lanes b) {
  Lanes less = a < b;
  return (a & less) | (b & ~less);
}
PN_INLINE Lanes mostLanes(Lanes a, Lanes b) {
  Lanes more = a > b;
  return (a & more) | (b & ~more);
}

/* All bits of all four. */
PN_INLINE uint32_t foldLanes(Lanes lanes) {
  uint64_t halves[2];
  memcpy(halves, &lanes, sizeof halves);
  uint64_t both = halves[0] | halves[1];
  return (uint32_t)(both | both >> 32);
}

/* First and last cell whose centre is between two coordinates, within the image. The centre of cell i is i*S + S/2. */
PN_INLINE int32_t firstSample(int32_t lo, int32_t half, uint32_t shift) {
  int32_t i = (lo + half - 1) >> shift;
  return i > 0 ? i : 0;
}
PN_INLINE int32_t lastSample(int32_t hi, int32_t half, uint32_t shift, int32_t size) {
  int32_t i = (hi - half) >> shift;
  return i < size ? i : size - 1;
}

static void listBands(const LayerJob *job, uint32_t begin, uint32_t end, BinList *list) {
  const pnView *view = &job->layers->view;
  const pnPoint *points = job->raster->points.data;
  const uint32_t *triangles = job->solid->triangles;
  const int32_t shift = (int32_t)view->cellShift, half = 1 << (shift - 1), last = (int32_t)view->size - 1;
  // x and y: from coordinates to samples, as firstSample and lastSample do, within the image. z: beyond the far end
  // (the near one, counted from the high end) nobody looks
  const bool open = job->layers->open, fromHigh = job->layers->fromHigh;
  const int32_t zTop = fromHigh || open ? INT32_MAX : view->steps, zBottom = fromHigh && !open ? 0 : INT32_MIN;
  const Lanes addLo = {half - 1, half - 1, 0, 0}, addHi = {-half, -half, 0, 0}, shifts = {shift, shift, 0, 0};
  const Lanes from = {0, 0, zBottom, 0}, to = {last, last, zTop, 0};
  uint32_t count = 0;
  for (uint32_t t = begin; t < end; ++t) {
    const uint32_t *c = triangles + 3 * (size_t)t;
    Lanes p = loadPoint(points + c[0]), q = loadPoint(points + c[1]), r = loadPoint(points + c[2]);
    Lanes lo = leastLanes(leastLanes(p, q), r), hi = mostLanes(mostLanes(p, q), r);
    lo = mostLanes((lo + addLo) >> shifts, from);
    hi = leastLanes((hi + addHi) >> shifts, to);
    Lanes empty = lo > hi;
    // written always, kept when seen: no branch to mispredict
    list->triangles[count] = t;
    list->first[count] = (uint16_t)((uint32_t)lo[1] / PN_BAND_ROWS);
    list->last[count] = (uint16_t)((uint32_t)hi[1] / PN_BAND_ROWS);
    count += !(empty[0] | empty[1] | empty[2]);
  }
  list->count = count;
}

static void binChunks(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  LayerJob *job = context;
  uint32_t bandCount = job->layers->bandCount;
  for (uint32_t c = begin; c < end; ++c) {
    pnChunk *chunk = job->raster->chunks.data + c;
    BinList list;
    listBands(job, pn_chunkFirst(c), pn_chunkLast(c, job->solid->triangleCount), &list);

    // how many each band gets, where they start, and then who they are
    if (!pn_arrayReserve(&chunk->starts, bandCount + 1)) {
      job->outOfMemory = true;
      return;
    }
    uint32_t *starts = chunk->starts.data, total = 0;
    memset(starts, 0, (bandCount + 1) * sizeof *starts);
    for (uint32_t i = 0; i < list.count; ++i)
      for (uint32_t b = list.first[i]; b <= list.last[i]; ++b) ++starts[b + 1];
    // start of band b at b + 1, to be moved on by the placing below until it is the start of band b + 1
    for (uint32_t b = 0; b < bandCount; ++b) {
      uint32_t n = starts[b + 1];
      starts[b + 1] = total;
      total += n;
    }
    if (!pn_arrayReserve(&chunk->refs, total)) {
      job->outOfMemory = true;
      return;
    }
    for (uint32_t i = 0; i < list.count; ++i)
      for (uint32_t b = list.first[i]; b <= list.last[i]; ++b) chunk->refs.data[starts[b + 1]++] = list.triangles[i];
  }
}

/* ---------------------------------------------------------------- strokes */

/* A triangle ready for scanning: counter-clockwise edge functions e[k] + sx[k]*i + sy[k]*j over cells (i, j) relative
 * to (x0, y0), biased so that "inside" is >= 0. */
typedef struct Scan {
  const pnPoint *corners[3]; /* counter-clockwise */
  int32_t x0, x1, y0, y1;    /* cells whose centres are in the box */
  int64_t e[3], sx[3], sy[3];
  int64_t bias[3];           /* e = exact - bias */
  double perStep[3];         /* 1 / sx, when rows are long */
  int64_t area;              /* twice the area */
  double perArea1, perArea2; /* depth differences to corners 1 and 2 over twice the area, times 2^32 */
  int64_t z, dz;             /* depth of corner 0 with the half that rounds, and the step along a row, times 2^32 */
  bool exit, clamp;
  bool fitsLanes; /* small enough for edge functions of 32 bits */
} Scan;

/* A triangle makes at most this many strokes in a band: one a row, or one a cell of 4 x 4. */
#define STROKES_A_BAND 16

/* A triangle no larger than this has edge functions below 2^30 wherever they are asked for: at most 8 cells out of
 * its box, 2 * 2^14 * (2^14 + 2^11). */
#define LANE_UNITS (1 << 14)

/* False when the triangle is seen edge-on: it covers no sample. */
PN_INLINE bool setUpScan(const pnView *view, const pnPoint *a, const pnPoint *b, const pnPoint *c, Scan *scan) {
  const uint32_t shift = view->cellShift;
  const int32_t half = 1 << (shift - 1), size = (int32_t)view->size;
  int64_t area = (int64_t)(b->x - a->x) * (c->y - a->y) - (int64_t)(c->x - a->x) * (b->y - a->y);
  if (area == 0) return false;

  // counter-clockwise means that the outward side is the far side: the line leaves the body here
  scan->exit = area > 0;
  if (area < 0) {
    const pnPoint *swap = b;
    b = c, c = swap, area = -area;
  }
  scan->corners[0] = a, scan->corners[1] = b, scan->corners[2] = c;
  scan->area = area;
  int32_t xLo = PN_MIN(PN_MIN(a->x, b->x), c->x), xHi = PN_MAX(PN_MAX(a->x, b->x), c->x);
  int32_t yLo = PN_MIN(PN_MIN(a->y, b->y), c->y), yHi = PN_MAX(PN_MAX(a->y, b->y), c->y);
  scan->x0 = firstSample(xLo, half, shift);
  scan->x1 = lastSample(xHi, half, shift, size);
  scan->y0 = firstSample(yLo, half, shift);
  scan->y1 = lastSample(yHi, half, shift, size);
  scan->fitsLanes = PN_MAX(xHi - xLo, yHi - yLo) <= LANE_UNITS;

  // edge k lies opposite to corner k; its function is positive on the corner's side
  const pnPoint *from[3] = {b, c, a}, *to[3] = {c, a, b};
  int32_t px = scan->x0 * (1 << shift) + half, py = scan->y0 * (1 << shift) + half;
  for (int k = 0; k < 3; ++k) {
    int64_t dx = to[k]->x - from[k]->x, dy = to[k]->y - from[k]->y;
    // a sample on the edge belongs here when moving it right, or else down, goes inside
    scan->bias[k] = !(dy < 0 || (dy == 0 && dx < 0));
    scan->e[k] = dx * (py - from[k]->y) - dy * (px - from[k]->x) - scan->bias[k];
    scan->sx[k] = -dy * (1 << shift);
    scan->sy[k] = dx * (1 << shift);
  }
  return true;
}

/* 2^32 units per unit of depth, and the half that rounds. */
#define DEPTH_ONE 4294967296.0
#define DEPTH_HALF (INT64_C(1) << 31)

/* Depths are needed only once some row is hit: of small triangles most are not. */
PN_INLINE void setUpDepth(Scan *scan, int32_t steps) {
  const pnPoint *a = scan->corners[0], *b = scan->corners[1], *c = scan->corners[2];
  double perArea = DEPTH_ONE / (double)scan->area;
  scan->perArea1 = (double)(b->z - a->z) * perArea;
  scan->perArea2 = (double)(c->z - a->z) * perArea;
  scan->z = (int64_t)a->z * (INT64_C(1) << 32) + DEPTH_HALF;
  // a step longer than all depths there are: no row has two cells, and the step is not used
  double dz = (double)scan->sx[1] * scan->perArea1 + (double)scan->sx[2] * scan->perArea2;
  scan->dz = fabs(dz) < 2.0 * PN_MAX_UNITS * DEPTH_ONE ? (int64_t)floor(dz) : 0;
  int32_t zLo = PN_MIN(PN_MIN(a->z, b->z), c->z), zHi = PN_MAX(PN_MAX(a->z, b->z), c->z);
  scan->clamp = zLo < 0 || zHi > steps;
}

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

/* What draws: one band, the strokes made so far, and +1 at the first cell of each, -1 behind its last. */
typedef struct Pen {
  const pnView *view;
  int32_t top, bottom; /* rows of the band */
  pnStroke *next;
  uint32_t *steps;
} Pen;

/* Row j of the triangle's box, its cells first ... last. */
PN_INLINE void makeStroke(Pen *pen, const Scan *scan, int32_t j, int32_t first, int32_t last) {
  uint32_t cell = (uint32_t)(scan->y0 + j - pen->top) * pen->view->size + (uint32_t)(scan->x0 + first);
  uint32_t length = (uint32_t)(last - first + 1);
  ++pen->steps[cell];
  --pen->steps[cell + length];
  // weights of corners 1 and 2 at the first sample, exact
  double w1 = (double)(scan->e[1] + scan->bias[1] + scan->sy[1] * j + scan->sx[1] * first);
  double w2 = (double)(scan->e[2] + scan->bias[2] + scan->sy[2] * j + scan->sx[2] * first);
  pnStroke *stroke = pen->next++;
  stroke->cell = cell;
  stroke->length = (uint16_t)length;
  stroke->exit = scan->exit;
  stroke->clamp = scan->clamp;
  stroke->z = scan->z + (int64_t)floor(w1 * scan->perArea1 + w2 * scan->perArea2);
  stroke->dz = scan->dz;
}

/* Of a triangle in 4 x 4 cells, which are inside: bit 4j + i. All sixteen are tried at once and without a branch. */
#define SMALL 4
PN_INLINE uint32_t scanSmall(const Scan *scan) {
  const Lanes i = {0, 1, 2, 3}, bits = {1, 2, 4, 8};
  Lanes e[3], sy[3], hits = {0, 0, 0, 0};
  for (int k = 0; k < 3; ++k) {
    int32_t at = (int32_t)scan->e[k], x = (int32_t)scan->sx[k], y = (int32_t)scan->sy[k];
    e[k] = at + i * x;
    sy[k] = (Lanes){y, y, y, y};
  }
  for (int j = 0; j < SMALL; ++j) {
    // the sign bit is set where one of the three is negative
    Lanes outside = (e[0] | e[1] | e[2]) >> 31;
    hits |= ~outside & (bits << (4 * j));
    for (int k = 0; k < 3; ++k) e[k] += sy[k];
  }
  return foldLanes(hits);
}

/* Which cells of row j of a triangle up to 8 cells wide are inside, as bits; no branch either. */
#define NARROW 8
PN_INLINE uint32_t scanNarrow(const Scan *scan, int32_t j) {
  const Lanes i = {0, 1, 2, 3}, bits = {1, 2, 4, 8};
  Lanes left = {0, 0, 0, 0}, right = {0, 0, 0, 0};
  for (int k = 0; k < 3; ++k) {
    int32_t x = (int32_t)scan->sx[k], e = (int32_t)scan->e[k] + (int32_t)scan->sy[k] * j;
    Lanes here = e + i * x;
    left |= here;
    right |= here + 4 * x;
  }
  return foldLanes((~(left >> 31) & bits) | (~(right >> 31) & (bits << 4)));
}

/* The strokes of a small triangle: one for each cell. */
PN_INLINE void strokeSmall(Pen *pen, Scan *scan) {
  // cells of the image and of this band
  int32_t j0 = PN_MAX(pen->top - scan->y0, 0), j1 = PN_MIN(pen->bottom, scan->y1) - scan->y0;
  uint32_t columns = ((1u << (scan->x1 - scan->x0 + 1)) - 1) * 0x1111u;
  uint32_t mask = scanSmall(scan) & columns & ((1u << (4 * (j1 + 1))) - 1) & ~((1u << (4 * j0)) - 1);
  if (mask) setUpDepth(scan, pen->view->steps);
  for (; mask; mask &= mask - 1) {
    int32_t n = __builtin_ctz(mask);
    makeStroke(pen, scan, n >> 2, n & 3, n & 3);
  }
}

/* The strokes of a narrow triangle. */
PN_INLINE void strokeNarrow(Pen *pen, Scan *scan) {
  uint32_t columns = (1u << (scan->x1 - scan->x0 + 1)) - 1;
  int32_t last = PN_MIN(scan->y1, pen->bottom) - scan->y0;
  setUpDepth(scan, pen->view->steps);
  for (int32_t j = PN_MAX(pen->top - scan->y0, 0); j <= last; ++j) {
    uint32_t mask = scanNarrow(scan, j) & columns;
    if (mask) makeStroke(pen, scan, j, __builtin_ctz(mask), 31 - __builtin_clz(mask));
  }
}

/* The strokes of a wide triangle: its edges are followed from row to row. */
static void strokeWide(Pen *pen, Scan *scan) {
  int32_t j = PN_MAX(pen->top - scan->y0, 0), lastRow = PN_MIN(scan->y1, pen->bottom) - scan->y0;
  const int64_t width = scan->x1 - scan->x0;
  Crossing crossings[3];
  for (int k = 0; k < 3; ++k) {
    // a level edge has no crossing: all of a row is on one side, which its sign says
    int64_t s = scan->sx[k];
    crossings[k] = startCrossing(scan->e[k] + scan->sy[k] * j, scan->sy[k], s > 0 ? s : s < 0 ? -s : 1);
  }
  setUpDepth(scan, pen->view->steps);
  for (; j <= lastRow; ++j) {
    int64_t first = 0, last = width;
    for (int k = 0; k < 3; ++k) {
      int64_t at = crossings[k].quotient;
      if (scan->sx[k] > 0) first = PN_MAX(first, -at);
      else if (scan->sx[k] < 0) last = PN_MIN(last, at);
      else last = at < 0 ? -1 : last;
      nextRow(&crossings[k]);
    }
    if (first <= last) makeStroke(pen, scan, j, (int32_t)first, (int32_t)last);
  }
}

/* The strokes of one triangle: at most STROKES_A_BAND. */
PN_INLINE void strokeTriangle(Pen *pen, const pnPoint *a, const pnPoint *b, const pnPoint *c) {
  Scan scan;
  if (!setUpScan(pen->view, a, b, c, &scan)) return;
  bool narrow = scan.fitsLanes && scan.x1 - scan.x0 < NARROW;
  if (narrow && scan.x1 - scan.x0 < SMALL && scan.y1 - scan.y0 < SMALL) strokeSmall(pen, &scan);
  else if (narrow) strokeNarrow(pen, &scan);
  else strokeWide(pen, &scan);
}

/* All strokes of a band; false when out of memory. */
static bool makeStrokes(LayerJob *job, uint32_t band, uint32_t worker) {
  const pnPoint *points = job->raster->points.data;
  const uint32_t *triangles = job->solid->triangles;
  int32_t top = (int32_t)(band * PN_BAND_ROWS);
  Pen pen = {&job->layers->view, top, top + PN_BAND_ROWS - 1, NULL, job->layers->bands[band].offsets};
  job->raster->workers[worker].strokes.count = 0;
  for (uint32_t c = 0; c < job->raster->chunkCount; ++c) {
    const pnChunk *chunk = job->raster->chunks.data + c;
    uint32_t begin = chunk->starts.data[band], end = chunk->starts.data[band + 1];
    // room for all that these triangles can make, so that nothing is checked below
    size_t count = job->raster->workers[worker].strokes.count;
    if (!pn_arrayReserve(&job->raster->workers[worker].strokes, count + (size_t)(end - begin) * STROKES_A_BAND))
      return false;
    pnStroke *strokes = job->raster->workers[worker].strokes.data;
    pen.next = strokes + count;
    for (uint32_t i = begin; i < end; ++i) {
      const uint32_t *corners = triangles + 3 * (size_t)chunk->refs.data[i];
      strokeTriangle(&pen, points + corners[0], points + corners[1], points + corners[2]);
    }
    job->raster->workers[worker].strokes.count = (size_t)(pen.next - strokes);
  }
  return true;
}

/* ---------------------------------------------------------------- fill */

/* Turns +1/-1 into places: offsets[c + 1] becomes where cell c begins. Returns how many layers there are in all. */
static uint64_t placeCells(uint32_t *offsets, uint32_t cellCount) {
  uint32_t layers = 0, step = offsets[0];
  uint64_t place = 0;
  for (uint32_t c = 0; c < cellCount; ++c) {
    layers += step;
    step = offsets[c + 1];
    offsets[c + 1] = (uint32_t)place;
    place += layers;
  }
  offsets[0] = 0;
  return place;
}

/* Writes all depths; offsets[c + 1] moves on to where cell c ends, which is where c + 1 begins. */
static void fillStrokes(const pnStroke *strokes, size_t count, int32_t steps, uint32_t *restrict offsets,
                        uint32_t *restrict keys) {
  for (size_t i = 0; i < count; ++i) {
    const pnStroke *stroke = strokes + i;
    uint32_t *restrict place = offsets + stroke->cell + 1, exit = stroke->exit, length = stroke->length;
    int64_t z = stroke->z, dz = stroke->dz;
    if (!stroke->clamp) {
      for (uint32_t k = 0; k < length; ++k, z += dz) keys[place[k]++] = (uint32_t)(z >> 32) << 1 | exit;
    } else {
      for (uint32_t k = 0; k < length; ++k, z += dz) {
        int32_t depth = (int32_t)(z >> 32);
        depth = depth < 0 ? 0 : depth > steps ? steps : depth;
        keys[place[k]++] = (uint32_t)depth << 1 | exit;
      }
    }
  }
}

static void fillBands(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  LayerJob *job = context;
  uint32_t cellCount = PN_BAND_ROWS * job->layers->view.size;
  for (uint32_t b = begin; b < end; ++b) {
    pnBand *band = job->layers->bands + b;
    memset(band->offsets, 0, (cellCount + 1) * sizeof *band->offsets);
    if (!makeStrokes(job, b, worker)) {
      job->outOfMemory = true;
      return;
    }
    uint64_t layerCount = placeCells(band->offsets, cellCount);
    if (layerCount > UINT32_MAX) {
      job->tooMany = true;
      return;
    }
    if (!pn_bandReserve(band, layerCount)) {
      job->outOfMemory = true;
      return;
    }
    fillStrokes(job->raster->workers[worker].strokes.data, job->raster->workers[worker].strokes.count,
                job->layers->view.steps, band->offsets, band->keys);
    pn_bandSort(band, cellCount);
  }
}

pnResult pn_rasterLayers(pnRaster *raster, const pnSolid *solid, const pnTasks *tasks, pnLayers *layers) {
  LayerJob job = {.raster = raster, .solid = solid, .layers = layers};
  pn_parallelFor(tasks, binChunks, &job, raster->chunkCount, 1);
  if (!job.outOfMemory) pn_parallelFor(tasks, fillBands, &job, layers->bandCount, 1);
  if (job.outOfMemory)
    return pn_fail(PN_ERROR_MEMORY, "out of memory while making the layers of '%s'", solid->pose->mesh->name);
  if (job.tooMany)
    return pn_fail(PN_ERROR_COUNT,
                   "mesh '%s' has more than 4294967295 layers in eight rows of the image; lower the resolution",
                   solid->pose->mesh->name);
  return PN_OK;
}
