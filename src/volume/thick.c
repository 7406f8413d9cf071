/* thick.c: which cells does a surface touch, and at which depths? From this come all error bounds.
 *
 * The idea. Let p be a point of a cell and c the point of the cell's centre line at the same depth. If p is inside
 * the body and c is not, or the other way round, then the level segment from c to p crosses the surface: the surface
 * touches the cell at that very depth. So at every depth where no surface touches the cell, the whole cell is what
 * its centre is. The rest, the *touched depths*, is where sampling can err, and nowhere else.
 *
 * Rounding to the grid is in it. The true surface is nowhere farther than PN_SNAP_UNITS from the rounded one, in each
 * coordinate. We take cells grown by that much and depths grown by that much: then neither the true surface, nor
 * the rounded one, nor any in between touches the cell at the remaining depths, and moving the surface from one to the
 * other does not change the winding number there.
 *
 * How. A triangle that covers a few cells gives its whole range of depths to each of them. Of a larger one the plane
 * gives the depths within a cell. A cell keeps at most PN_FAT_MAX intervals; when a further one would be needed, it
 * is joined to its nearest: too much is never wrong. */
#include "volume/raster.h"

#include "base/memory.h"
#include "base/task.h"
#include "base/thread.h"

#include <math.h>
#include <string.h>

/* Rounding to the nearest unit moves a coordinate by half a unit; the other half covers the rounding of the doubles
 * that lead there (below 2^-20 units, see pnView) and of the clipping here. */
#define PN_SNAP_UNITS 1

/* A triangle over at most so many cells gives its whole depth to each; over at most so many, each cell is tried; a
 * larger one is cut into rows. */
#define FEW_CELLS 4
#define SOME_CELLS 64

typedef struct ThickJob {
  pnRaster *raster;
  const pnSolid *solid;
  pnLayers *layers;
  _Atomic bool outOfMemory;
} ThickJob;

/* ---------------------------------------------------------------- bin */

/* Cells that the triangle's grown box touches, with its range of depths; false when it is out of the window. */
static bool findBlock(const pnView *view, const pnPoint *p, const pnPoint *q, const pnPoint *r, pnBlock *out) {
  const uint32_t shift = view->cellShift;
  const int32_t last = (int32_t)view->size - 1;
  int32_t x0 = (PN_MIN(PN_MIN(p->x, q->x), r->x) - PN_SNAP_UNITS) >> shift;
  int32_t x1 = (PN_MAX(PN_MAX(p->x, q->x), r->x) + PN_SNAP_UNITS) >> shift;
  int32_t y0 = (PN_MIN(PN_MIN(p->y, q->y), r->y) - PN_SNAP_UNITS) >> shift;
  int32_t y1 = (PN_MAX(PN_MAX(p->y, q->y), r->y) + PN_SNAP_UNITS) >> shift;
  int32_t z0 = PN_MIN(PN_MIN(p->z, q->z), r->z) - PN_SNAP_UNITS;
  int32_t z1 = PN_MAX(PN_MAX(p->z, q->z), r->z) + PN_SNAP_UNITS;
  if (x1 < 0 || y1 < 0 || z1 < 0 || x0 > last || y0 > last || z0 > view->steps) return false;
  out->x0 = (uint16_t)PN_MAX(x0, 0);
  out->x1 = (uint16_t)PN_MIN(x1, last);
  out->y0 = (uint16_t)PN_MAX(y0, 0);
  out->y1 = (uint16_t)PN_MIN(y1, last);
  out->depth = (pnInterval){PN_MAX(z0, 0), PN_MIN(z1, view->steps)};
  return true;
}

static bool isFew(const pnBlock *block) {
  return (block->x1 - block->x0 + 1) * (block->y1 - block->y0 + 1) <= FEW_CELLS;
}

/* Over some cells, and not seen edge-on. */
static bool isSome(const pnBlock *block, const pnPoint *p, const pnPoint *q, const pnPoint *r) {
  return (block->x1 - block->x0 + 1) * (block->y1 - block->y0 + 1) <= SOME_CELLS &&
         (int64_t)(q->x - p->x) * (r->y - p->y) != (int64_t)(r->x - p->x) * (q->y - p->y);
}

/* Sorts a chunk's blocks into bands: small ones as they are, large ones as the number of their triangle. */
static bool binChunk(ThickJob *job, uint32_t c) {
  const pnView *view = &job->layers->view;
  const pnPoint *points = job->raster->points.data;
  uint32_t bandCount = job->layers->bandCount, count = 0;
  pnChunk *chunk = job->raster->chunks.data + c;
  pnBlock blocks[PN_CHUNK];
  uint32_t numbers[PN_CHUNK];
  for (uint32_t t = pn_chunkFirst(c), end = pn_chunkLast(c, job->solid->triangleCount); t < end; ++t) {
    const uint32_t *corners = job->solid->triangles + 3 * (size_t)t;
    numbers[count] = t;
    count += findBlock(view, points + corners[0], points + corners[1], points + corners[2], blocks + count);
  }

  // count, make room, place: one list for the small ones, one for the large
  if (!pn_arrayReserve(&chunk->refStarts, bandCount + 1) || !pn_arrayReserve(&chunk->blockStarts, bandCount + 1))
    return false;
  uint32_t *starts = chunk->refStarts.data, *blockStarts = chunk->blockStarts.data;
  memset(starts, 0, (bandCount + 1) * sizeof *starts);
  memset(blockStarts, 0, (bandCount + 1) * sizeof *blockStarts);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t *counts = isFew(blocks + i) ? blockStarts : starts;
    for (uint32_t b = blocks[i].y0 / PN_BAND_ROWS; b <= blocks[i].y1 / PN_BAND_ROWS; ++b) ++counts[b + 1];
  }
  uint32_t total = pn_placeBands(starts, bandCount), blockTotal = pn_placeBands(blockStarts, bandCount);
  if (!pn_arrayReserve(&chunk->refs, total) || !pn_arrayReserve(&chunk->blocks, blockTotal)) return false;
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t b = blocks[i].y0 / PN_BAND_ROWS; b <= blocks[i].y1 / PN_BAND_ROWS; ++b)
      if (isFew(blocks + i)) chunk->blocks.data[blockStarts[b + 1]++] = blocks[i];
      else chunk->refs.data[starts[b + 1]++] = numbers[i];
  return true;
}

static void binChunks(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  ThickJob *job = context;
  for (uint32_t c = begin; c < end; ++c)
    if (!binChunk(job, c)) job->outOfMemory = true;
}

/* ---------------------------------------------------------------- a cell */

/* Adds depths to a cell. Intervals in the list may come to overlap; they are joined at the end. */
static void addDepths(pnFat *fat, pnInterval depth) {
  // most often it continues what the last triangle touched
  if (fat->count) {
    pnInterval *last = fat->list + fat->last;
    if (depth.lo <= last->hi && depth.hi >= last->lo) {
      last->lo = PN_MIN(last->lo, depth.lo);
      last->hi = PN_MAX(last->hi, depth.hi);
      return;
    }
  }

  // otherwise it belongs to the nearest, when that is near enough or there is no room
  uint32_t nearest = 0;
  int32_t least = INT32_MAX;
  for (uint32_t i = 0; i < fat->count; ++i) {
    int32_t gap = PN_MAX(depth.lo - fat->list[i].hi, fat->list[i].lo - depth.hi);
    if (gap < least) least = gap, nearest = i;
  }
  if (least > 0 && fat->count < PN_FAT_MAX) {
    fat->last = fat->count;
    fat->list[fat->count++] = depth;
    return;
  }
  pnInterval *near = fat->list + nearest;
  near->lo = PN_MIN(near->lo, depth.lo);
  near->hi = PN_MAX(near->hi, depth.hi);
  fat->last = nearest;
}

/* Sorts and joins a cell's intervals in place; returns how many are left. */
static uint32_t joinDepths(pnFat *fat) {
  pnInterval *list = fat->list;
  for (uint32_t i = 1; i < fat->count; ++i) {
    pnInterval depth = list[i];
    uint32_t j = i;
    for (; j > 0 && list[j - 1].lo > depth.lo; --j) list[j] = list[j - 1];
    list[j] = depth;
  }
  uint32_t count = 0;
  for (uint32_t i = 0; i < fat->count; ++i)
    if (count && list[i].lo <= list[count - 1].hi) list[count - 1].hi = PN_MAX(list[count - 1].hi, list[i].hi);
    else list[count++] = list[i];
  return count;
}

/* ---------------------------------------------------------------- triangles over some cells */

/* A cell is touched when its grown square is not wholly on the outer side of one edge: the edge function at the
 * centre, plus the most it can grow by within the square, is not negative. The plane gives the depths: that of the
 * centre, give or take what it changes by within the square, and never out of the triangle's own range. */
static void addSome(const pnView *view, const pnPoint *a, const pnPoint *b, const pnPoint *c, const pnBlock *block,
                    int32_t top, int32_t y0, int32_t y1, pnFat *fats) {
  const int64_t cell = INT64_C(1) << view->cellShift, reach = cell / 2 + PN_SNAP_UNITS;
  const int64_t px = block->x0 * cell + cell / 2, py = y0 * cell + cell / 2;
  const pnPoint *v[3] = {a, b, c};
  int64_t bx = b->x - a->x, by = b->y - a->y, bz = b->z - a->z, cx = c->x - a->x, cy = c->y - a->y, cz = c->z - a->z;
  int64_t area = bx * cy - cx * by, sign = area < 0 ? -1 : 1, e[3], sx[3], sy[3];
  for (int k = 0; k < 3; ++k) {
    const pnPoint *p = v[k], *q = v[k == 2 ? 0 : k + 1];
    int64_t dx = sign * (q->x - p->x), dy = sign * (q->y - p->y);
    e[k] = dx * (py - p->y) - dy * (px - p->x) + reach * ((dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy));
    sx[k] = -dy * cell, sy[k] = dx * cell;
  }

  // the terms of the plane may cancel: their rounding (2^-53 each, a few of them) is added too, for the farthest cell
  double gx = (double)(bz * cy - cz * by) / (double)area, gy = (double)(bx * cz - cx * bz) / (double)area;
  double far = fabs(gx) * (double)(block->x1 - block->x0 + 1) + fabs(gy) * (double)(block->y1 - block->y0 + 1);
  double around = (fabs(gx) + fabs(gy)) * (double)reach + far * (double)cell * 0x1p-49 + PN_SNAP_UNITS + 1.0;
  for (int32_t y = y0; y <= y1; ++y) {
    pnFat *row = fats + (size_t)(y - top) * view->size;
    int64_t f[3];
    for (int k = 0; k < 3; ++k) f[k] = e[k] + sy[k] * (y - y0);
    double z = a->z + gx * (double)(px - a->x) + gy * (double)(y * cell + cell / 2 - a->y), dz = gx * (double)cell;
    for (int32_t x = block->x0; x <= block->x1; ++x, z += dz) {
      // no edge function has its sign bit set
      bool touched = (f[0] | f[1] | f[2]) >= 0;
      for (int k = 0; k < 3; ++k) f[k] += sx[k];
      if (!touched) continue;
      double lo = PN_MAX(z - around, block->depth.lo), hi = PN_MIN(z + around, block->depth.hi);
      if (lo <= hi) addDepths(row + x, (pnInterval){(int32_t)lo, (int32_t)ceil(hi)});
    }
  }
}

/* ---------------------------------------------------------------- large triangles */

/* A triangle over many cells: its corners in grid units, and its plane: depth = p[0].z + gx (x - p[0].x) + gy (y -
 * p[0].y). */
typedef struct Large {
  double p[3][3];
  bool hasPlane;
  double gx, gy;
} Large;

static Large setUpLarge(const pnPoint *a, const pnPoint *b, const pnPoint *c) {
  Large large = {.p = {{a->x, a->y, a->z}, {b->x, b->y, b->z}, {c->x, c->y, c->z}}};
  int64_t bx = b->x - a->x, by = b->y - a->y, bz = b->z - a->z, cx = c->x - a->x, cy = c->y - a->y, cz = c->z - a->z;
  int64_t area = bx * cy - cx * by;
  large.hasPlane = area != 0;
  if (large.hasPlane) {
    large.gx = (double)(bz * cy - cz * by) / (double)area;
    large.gy = (double)(bx * cz - cx * bz) / (double)area;
  }
  return large;
}

/* Ranges of the two other coordinates in the part of the triangle where lo <= p[axis] <= hi. That part is convex, and
 * its corners lie on the triangle's edges: the ends of the edges after cutting. Empty (lo > hi) when no edge is
 * there. */
typedef struct ThickPart {
  double lo[3], hi[3];
} ThickPart;

static ThickPart cutSlab(const Large *large, int axis, double lo, double hi) {
  ThickPart part = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (int e = 0; e < 3; ++e) {
    const double *a = large->p[e], *b = large->p[e == 2 ? 0 : e + 1];
    if (a[axis] > b[axis]) {
      const double *swap = a;
      a = b, b = swap;
    }
    if (b[axis] < lo || a[axis] > hi) continue;
    // where along the edge it enters and leaves the slab
    double length = b[axis] - a[axis];
    double enter = a[axis] < lo ? (lo - a[axis]) / length : 0.0, leave = b[axis] > hi ? (hi - a[axis]) / length : 1.0;
    for (int k = 0; k < 3; ++k) {
      double from = a[k] + enter * (b[k] - a[k]), to = a[k] + leave * (b[k] - a[k]);
      part.lo[k] = PN_MIN(part.lo[k], PN_MIN(from, to));
      part.hi[k] = PN_MAX(part.hi[k], PN_MAX(from, to));
    }
  }
  return part;
}

/* Depths lo ... hi, grown and rounded outward, added to a cell if they are in the window. */
static void addRange(pnFat *fat, double lo, double hi, int32_t steps) {
  lo = floor(lo) - PN_SNAP_UNITS, hi = ceil(hi) + PN_SNAP_UNITS;
  if (hi < 0.0 || lo > steps) return;
  addDepths(fat, (pnInterval){lo < 0.0 ? 0 : (int32_t)lo, hi > steps ? steps : (int32_t)hi});
}

static void addLargeRow(const pnView *view, const Large *large, int32_t y, pnFat *row) {
  // what of the triangle is in the row, grown by the snap
  double cell = (double)(1 << view->cellShift), grow = PN_SNAP_UNITS;
  ThickPart part = cutSlab(large, 1, y * cell - grow, (y + 1) * cell + grow);
  double zLo = part.lo[2], zHi = part.hi[2];
  if (zLo > zHi) return;
  int32_t x0 = (int32_t)PN_MAX(floor((part.lo[0] - grow) / cell), 0.0);
  int32_t x1 = (int32_t)PN_MIN(floor((part.hi[0] + grow) / cell), view->size - 1.0);

  // within a cell the plane's depth is that of the centre, give or take this. Where that says no more than the range of
  // the row, the triangle is steep, and the range of the column may say more
  double around = (fabs(large->gx) + fabs(large->gy)) * (0.5 * cell + grow);
  bool gentle = large->hasPlane && around <= 0.5 * (zHi - zLo) + 1.0;
  const double *p = large->p[0];
  double dy = (y + 0.5) * cell - p[1], ey = large->gy * dy;
  for (int32_t x = x0; x <= x1; ++x) {
    double lo, hi;
    if (gentle) {
      // the terms may cancel: their rounding (2^-53 each, a few of them) is added too
      double dx = (x + 0.5) * cell - p[0], ex = large->gx * dx, slack = around + (fabs(ex) + fabs(ey)) * 0x1p-49;
      lo = p[2] + (ex + ey) - slack, hi = p[2] + (ex + ey) + slack;
    } else {
      ThickPart column = cutSlab(large, 0, x * cell - grow, (x + 1) * cell + grow);
      lo = column.lo[2], hi = column.hi[2];
    }
    lo = PN_MAX(lo, zLo), hi = PN_MIN(hi, zHi);
    if (lo <= hi) addRange(row + x, lo, hi, view->steps);
  }
}

/* ---------------------------------------------------------------- a band */

static void touchBand(const ThickJob *job, uint32_t band, pnFat *fats) {
  const pnView *view = &job->layers->view;
  const pnPoint *points = job->raster->points.data;
  int32_t top = (int32_t)(band * PN_BAND_ROWS), bottom = PN_MIN(top + PN_BAND_ROWS, (int32_t)view->size) - 1;
  for (uint32_t c = 0; c < job->raster->chunkCount; ++c) {
    const pnChunk *chunk = job->raster->chunks.data + c;
    for (uint32_t i = chunk->blockStarts.data[band]; i < chunk->blockStarts.data[band + 1]; ++i) {
      const pnBlock *block = chunk->blocks.data + i;
      for (int32_t y = PN_MAX(block->y0, top); y <= PN_MIN(block->y1, bottom); ++y)
        for (uint32_t x = block->x0; x <= block->x1; ++x)
          addDepths(fats + (size_t)(y - top) * view->size + x, block->depth);
    }
    for (uint32_t i = chunk->refStarts.data[band]; i < chunk->refStarts.data[band + 1]; ++i) {
      const uint32_t *corners = job->solid->triangles + 3 * (size_t)chunk->refs.data[i];
      pnBlock block;
      const pnPoint *p = points + corners[0], *q = points + corners[1], *r = points + corners[2];
      findBlock(view, p, q, r, &block);
      int32_t y0 = PN_MAX(block.y0, top), y1 = PN_MIN(block.y1, bottom);
      if (isSome(&block, p, q, r)) {
        addSome(view, p, q, r, &block, top, y0, y1, fats);
        continue;
      }
      Large large = setUpLarge(p, q, r);
      for (int32_t y = y0; y <= y1; ++y) addLargeRow(view, &large, y, fats + (size_t)(y - top) * view->size);
    }
  }
}

/* Joined intervals of all cells, one after the other. */
static bool storeBand(pnBand *band, pnFat *fats, uint32_t cellCount) {
  uint32_t total = 0;
  for (uint32_t c = 0; c < cellCount; ++c) {
    band->thickOffsets[c] = total;
    if (fats[c].count) total += fats[c].count = joinDepths(fats + c);
  }
  band->thickOffsets[cellCount] = total;
  if (!band->thick || total > band->thickCapacity) {
    size_t capacity = total + total / 8 + 64;
    pnInterval *thick = pn_alloc(pn_bytes(capacity, sizeof(pnInterval)));
    if (!thick) return false;
    pn_free(band->thick, band->thickCapacity * sizeof(pnInterval));
    band->thick = thick;
    band->thickCapacity = capacity;
  }
  for (uint32_t c = 0; c < cellCount; ++c)
    for (uint32_t i = 0; i < fats[c].count; ++i) band->thick[band->thickOffsets[c] + i] = fats[c].list[i];
  return true;
}

static void thickBands(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  ThickJob *job = context;
  uint32_t cellCount = PN_BAND_ROWS * job->layers->view.size;
  for (uint32_t b = begin; b < end; ++b) {
    if (!pn_arrayReserve(&job->raster->workers[worker].fats, cellCount)) {
      job->outOfMemory = true;
      return;
    }
    pnFat *fats = job->raster->workers[worker].fats.data;
    for (uint32_t c = 0; c < cellCount; ++c) fats[c].count = 0;
    touchBand(job, b, fats);
    if (!storeBand(job->layers->bands + b, fats, cellCount)) job->outOfMemory = true;
  }
}

pnResult pn_rasterThick(pnRaster *raster, const pnSolid *solid, const pnTasks *tasks, pnLayers *layers) {
  ThickJob job = {.raster = raster, .solid = solid, .layers = layers};
  pn_parallelFor(tasks, binChunks, &job, raster->chunkCount, 1);
  if (!job.outOfMemory) pn_parallelFor(tasks, thickBands, &job, layers->bandCount, 1);
  if (job.outOfMemory)
    return pn_fail(PN_ERROR_MEMORY, "out of memory while making the bounds of '%s'", solid->pose->mesh->name);
  layers->hasThick = true;
  return PN_OK;
}
