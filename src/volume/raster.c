/* raster.c: scan conversion into layers. Exact, closed meshes stay closed.
 *
 * Heidelberger, Teschner, Gross 2003, section 2.2, in software. The paper peels layers off with the stencil buffer, one
 * rendering per layer; here all layers of a cell are written in one go:
 *
 *   points   vertices are rounded to the grid of the view
 *   bin      each triangle whose box has a cell centre in it is drawn at once when it is small (dots.c), otherwise noted;
 *            both by the bands (8 rows) that they lie in
 *   draw     per band: the dots, and the rows of the large triangles (stroke.c), into the slots of their cells (slots.c)
 *   finish   cell after cell sorted and written to its final place
 *
 * Watertight. The edge function of an edge is the same integer, with opposite sign, in the two triangles beside it.
 * Where it is zero at a sample, the rule of stroke.c gives the sample to one of them: it is as if the sample had been
 * moved right by a tiny amount and down by a much tinier one, so that no edge passes through it. A line in general
 * position crosses a closed surface an even number of times, hence every cell has an even number of layers, whatever
 the mesh. */
#include "volume/raster.h"

#include "base/memory.h"
#include "base/task.h"
#include "base/thread.h"
#include "volume/stroke.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- scratch */

void pn_rasterFree(pnRaster *raster) {
  pn_arrayFree(&raster->points);
  for (size_t c = 0; c < raster->chunks.count; ++c) {
    pnChunk *chunk = raster->chunks.data + c;
    pn_arrayFree(&chunk->dots), pn_arrayFree(&chunk->dotStarts);
    pn_arrayFree(&chunk->rows), pn_arrayFree(&chunk->rowStarts);
    pn_arrayFree(&chunk->blocks), pn_arrayFree(&chunk->blockStarts);
    pn_arrayFree(&chunk->refs), pn_arrayFree(&chunk->refStarts);
  }
  pn_arrayFree(&raster->chunks);
  for (int w = 0; w < PN_MAX_WORKERS; ++w) {
    pn_arrayFree(&raster->workers[w].dots);
    pn_arrayFree(&raster->workers[w].rows);
    pn_slotsFree(&raster->workers[w].slots);
    pn_arrayFree(&raster->workers[w].fats);
  }
}

size_t pn_rasterBytes(const pnRaster *raster) {
  size_t bytes = raster->points.capacity * sizeof(pnPoint) + raster->chunks.capacity * sizeof(pnChunk);
  for (size_t c = 0; c < raster->chunks.count; ++c) {
    const pnChunk *chunk = raster->chunks.data + c;
    bytes += chunk->dots.capacity * sizeof(pnDot) + chunk->rows.capacity * sizeof(pnRow) +
             chunk->blocks.capacity * sizeof(pnBlock) +
             (chunk->refs.capacity + chunk->dotStarts.capacity + chunk->rowStarts.capacity +
              chunk->blockStarts.capacity + chunk->refStarts.capacity) *
                 sizeof(uint32_t);
  }
  for (int w = 0; w < PN_MAX_WORKERS; ++w)
    bytes += pn_slotsBytes(&raster->workers[w].slots) + raster->workers[w].dots.capacity * sizeof(pnDot) +
             raster->workers[w].rows.capacity * sizeof(pnRow) + raster->workers[w].fats.capacity * sizeof(pnFat);
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

/* The triangles of a chunk that may cover a sample, by size: dots of 2 x 2 and of 4 x 4 cells, and large ones. */
typedef struct Sizes {
  uint32_t count2, count4, largeCount;
  uint32_t dots2[PN_CHUNK], dots4[PN_CHUNK], large[PN_CHUNK];
} Sizes;
_Static_assert(PN_CHUNK % 4 == 0, "triangles of a chunk are sorted by fours");

/* What four triangles are: 1, 2 or 4 for a dot of 2 x 2, of 4 x 4, or large; 0 when they cover no sample. */
PN_INLINE pnI4 sortFour(const LayerJob *job, const uint32_t *const corners[4]) {
  const pnView *view = &job->layers->view;
  const int32_t shift = (int32_t)view->cellShift, half = 1 << (shift - 1);
  const pnI4 zero = {0, 0, 0, 0}, end = zero + ((int32_t)view->size - 1);
  pnI4 x[3], y[3], z[3];
  for (int k = 0; k < 3; ++k) pn_lanesCorners(job->raster->points.data, corners, k, &x[k], &y[k], &z[k]);
  pnI4 loX = pn_i4Min(pn_i4Min(x[0], x[1]), x[2]), hiX = pn_i4Max(pn_i4Max(x[0], x[1]), x[2]);
  pnI4 loY = pn_i4Min(pn_i4Min(y[0], y[1]), y[2]), hiY = pn_i4Max(pn_i4Max(y[0], y[1]), y[2]);
  pnI4 loZ = pn_i4Min(pn_i4Min(z[0], z[1]), z[2]), hiZ = pn_i4Max(pn_i4Max(z[0], z[1]), z[2]);

  // samples in the box, less one; the sign bit says that there are none
  pnI4 width = pn_i4Min((hiX - half) >> shift, end) - pn_i4Max((loX + (half - 1)) >> shift, zero);
  pnI4 height = pn_i4Min((hiY - half) >> shift, end) - pn_i4Max((loY + (half - 1)) >> shift, zero);
  pnI4 both = width | height, large = (hiX - loX > PN_DOT_UNITS) | (hiY - loY > PN_DOT_UNITS) | (both >= PN_DOT_SIDE);
  // beyond the far end (the near one, counted from the high end) nobody looks
  const bool open = job->layers->open, fromHigh = job->layers->fromHigh;
  const int32_t zTop = fromHigh || open ? INT32_MAX : view->steps, zBottom = fromHigh && !open ? 0 : INT32_MIN;
  pnI4 seen = ~((both >> 31) | (loZ > zTop) | (hiZ < zBottom));
  // comparing gives -1 for true
  return seen & ((large & 4) | (~large & (1 - (both >= 2))));
}

static void listSizes(const LayerJob *job, uint32_t begin, uint32_t end, Sizes *sizes) {
  const uint32_t *triangles = job->solid->triangles;
  uint32_t count2 = 0, count4 = 0, largeCount = 0;
  for (uint32_t t = begin; t < end; t += 4) {
    // behind the last its copies
    uint32_t most = PN_MIN(end - 1 - t, 3);
    const uint32_t *first = triangles + 3 * (size_t)t;
    const uint32_t *corners[4] = {first, first + 3 * PN_MIN(most, 1), first + 3 * PN_MIN(most, 2), first + 3 * most};
    pnI4 kinds = sortFour(job, corners);
    for (uint32_t l = 0; l < 4; ++l) {
      // written always, kept when wanted: no branch to mispredict
      uint32_t kind = (uint32_t)kinds[l];
      sizes->dots2[count2] = sizes->dots4[count4] = sizes->large[largeCount] = t + l;
      count2 += kind & 1, count4 += kind >> 1 & 1, largeCount += kind >> 2;
    }
  }
  // numbers ascend: those of the copies are the last
  while (count2 && sizes->dots2[count2 - 1] >= end) --count2;
  while (count4 && sizes->dots4[count4 - 1] >= end) --count4;
  while (largeCount && sizes->large[largeCount - 1] >= end) --largeCount;
  sizes->count2 = count2, sizes->count4 = count4, sizes->largeCount = largeCount;
}

uint32_t pn_placeBands(uint32_t *starts, uint32_t bandCount) {
  uint32_t total = 0;
  for (uint32_t b = 0; b < bandCount; ++b) {
    uint32_t n = starts[b + 1];
    starts[b + 1] = total;
    total += n;
  }
  return total;
}

/* Small triangles: dots, sorted by band. False when out of memory. */
static bool binDots(LayerJob *job, pnChunk *chunk, const Sizes *sizes, uint32_t worker) {
  const pnView *view = &job->layers->view;
  const pnPoint *points = job->raster->points.data;
  uint32_t bandCount = job->layers->bandCount, *starts = chunk->dotStarts.data;
  size_t room = 4 * (size_t)sizes->count2 + PN_DOT_SIDE * PN_DOT_SIDE * (size_t)sizes->count4;
  if (!pn_arrayReserve(&job->raster->workers[worker].dots, room)) return false;
  pnDot *dots = job->raster->workers[worker].dots.data;
  pnDot *end = pn_dotTriangles(view, points, job->solid->triangles, sizes->dots2, sizes->count2, 2, dots);
  end = pn_dotTriangles(view, points, job->solid->triangles, sizes->dots4, sizes->count4, PN_DOT_SIDE, end);

  memset(starts, 0, (bandCount + 1) * sizeof *starts);
  for (const pnDot *dot = dots; dot < end; ++dot) ++starts[(dot->cell >> PN_BAND_SHIFT) + 1];
  pn_placeBands(starts, bandCount);
  if (!pn_arrayReserve(&chunk->dots, (size_t)(end - dots))) return false;
  for (const pnDot *dot = dots; dot < end; ++dot)
    chunk->dots.data[starts[(dot->cell >> PN_BAND_SHIFT) + 1]++] = (pnDot){dot->cell & PN_BAND_MASK, dot->key};
  return true;
}

/* Large triangles: rows, sorted by band and class. */
PN_INLINE uint32_t sortKey(const pnRow *row) {
  return (row->cell >> PN_BAND_SHIFT) * PN_ROW_CLASSES + pn_rowClass(row->length);
}
static bool binRows(LayerJob *job, pnChunk *chunk, const Sizes *sizes, uint32_t worker) {
  const pnView *view = &job->layers->view;
  const pnPoint *points = job->raster->points.data;
  size_t count = 0;
  for (uint32_t i = 0; i < sizes->largeCount; ++i) {
    // no triangle has more rows than the image
    if (!pn_arrayReserve(&job->raster->workers[worker].rows, count + view->size)) return false;
    const uint32_t *c = job->solid->triangles + 3 * (size_t)sizes->large[i];
    const pnPoint *corners[3] = {points + c[0], points + c[1], points + c[2]};
    count += pn_strokeTriangle(view, corners, job->raster->workers[worker].rows.data + count);
    job->raster->workers[worker].rows.count = count;
  }

  const pnRow *rows = job->raster->workers[worker].rows.data, *end = rows + count;
  uint32_t listCount = PN_ROW_CLASSES * job->layers->bandCount, *starts = chunk->rowStarts.data;
  memset(starts, 0, (listCount + 1) * sizeof *starts);
  for (const pnRow *row = rows; row < end; ++row) ++starts[sortKey(row) + 1];
  pn_placeBands(starts, listCount);
  if (!pn_arrayReserve(&chunk->rows, count)) return false;
  for (const pnRow *row = rows; row < end; ++row) {
    pnRow *out = chunk->rows.data + starts[sortKey(row) + 1]++;
    *out = *row;
    out->cell &= PN_BAND_MASK;
  }
  return true;
}

/* Most chunks lie in a few bands: the others need not look. */
static void findBands(pnChunk *chunk, uint32_t bandCount) {
  const uint32_t *dots = chunk->dotStarts.data, *rows = chunk->rowStarts.data;
  uint32_t first = 0, last = bandCount - 1;
  while (first < last && !dots[first + 1] && !rows[PN_ROW_CLASSES * (first + 1)]) ++first;
  while (last > first && dots[last] == dots[bandCount] &&
         rows[PN_ROW_CLASSES * last] == rows[PN_ROW_CLASSES * bandCount])
    --last;
  chunk->firstBand = first, chunk->lastBand = last;
}

static void binChunks(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  LayerJob *job = context;
  uint32_t bandCount = job->layers->bandCount;
  for (uint32_t c = begin; c < end; ++c) {
    pnChunk *chunk = job->raster->chunks.data + c;
    Sizes sizes;
    listSizes(job, pn_chunkFirst(c), pn_chunkLast(c, job->solid->triangleCount), &sizes);
    if (!pn_arrayReserve(&chunk->dotStarts, bandCount + 1) ||
        !pn_arrayReserve(&chunk->rowStarts, PN_ROW_CLASSES * bandCount + 1) || !binDots(job, chunk, &sizes, worker) ||
        !binRows(job, chunk, &sizes, worker)) {
      job->outOfMemory = true;
      return;
    }
    findBands(chunk, bandCount);
  }
}

/* ---------------------------------------------------------------- bands */

/* Draws rows of one class into the slots; false when out of memory. */
PN_INLINE bool drawRows(const pnChunk *chunk, uint32_t list, uint32_t class, int32_t steps, pnSlots *slots,
                        pnSlotPen *pen) {
  const pnRow *row = chunk->rows.data + chunk->rowStarts.data[list];
  const pnRow *end = chunk->rows.data + chunk->rowStarts.data[list + 1];
  const bool longest = class == PN_ROW_CLASSES - 1;
  if (!longest && !pn_slotsReserve(slots, pen, (size_t)(end - row) * 4 * (class + 1))) return false;
  uint64_t total = 0;
  for (; row < end; ++row) {
    uint32_t length = row->length, fours = longest ? (length + 3) / 4 : class + 1;
    if (longest && !pn_slotsReserve(slots, pen, length)) return false;
    total += length;
    pnRun run = {(uint64_t)row->z, (uint64_t)row->dz, row->exit, false, steps};
    if (!row->clamp) {
      pn_slotsAddRow(pen, row->cell, length, fours, run);
    } else {
      run.clamp = true;
      pn_slotsAddRow(pen, row->cell, length, fours, run);
    }
  }
  slots->total += total;
  return true;
}

/* Draws what a chunk has of a band; false when out of memory. */
static bool drawChunk(const pnChunk *chunk, uint32_t band, int32_t steps, pnSlots *slots) {
  pnSlotPen pen = pn_slotsOpen(slots);
  const pnDot *dot = chunk->dots.data + chunk->dotStarts.data[band];
  const pnDot *dotEnd = chunk->dots.data + chunk->dotStarts.data[band + 1];
  if (!pn_slotsReserve(slots, &pen, (size_t)(dotEnd - dot))) return false;
  slots->total += (uint64_t)(dotEnd - dot);
  for (; dot < dotEnd; ++dot) pn_slotsAdd(&pen, dot->cell, dot->key);

  // a loop for each class, unrolled
  uint32_t list = PN_ROW_CLASSES * band;
  if (!drawRows(chunk, list, 0, steps, slots, &pen) || !drawRows(chunk, list + 1, 1, steps, slots, &pen) ||
      !drawRows(chunk, list + 2, 2, steps, slots, &pen) || !drawRows(chunk, list + 3, 3, steps, slots, &pen))
    return false;
  pn_slotsClose(slots, &pen);
  return true;
}

static void fillBands(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  LayerJob *job = context;
  uint32_t cellCount = PN_BAND_ROWS * job->layers->view.size;
  pnSlots *slots = &job->raster->workers[worker].slots;
  for (uint32_t b = begin; b < end; ++b) {
    pnBand *band = job->layers->bands + b;
    if (!pn_slotsStart(slots, cellCount)) {
      job->outOfMemory = true;
      return;
    }
    for (uint32_t c = 0; c < job->raster->chunkCount; ++c) {
      const pnChunk *chunk = job->raster->chunks.data + c;
      if (b < chunk->firstBand || b > chunk->lastBand) continue;
      if (!drawChunk(chunk, b, job->layers->view.steps, slots)) job->outOfMemory = true;
      if (slots->total > UINT32_MAX) job->tooMany = true;
      if (job->outOfMemory || job->tooMany) return;
    }
    if (!pn_slotsFinish(slots, band, cellCount)) {
      job->outOfMemory = true;
      return;
    }
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
