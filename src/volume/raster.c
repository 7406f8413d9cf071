/* raster.c: scan conversion into layers. Exact, closed meshes stay closed.
 *
 * Heidelberger, Teschner, Gross 2003, section 2.2, in software. The paper peels layers off with the stencil buffer, one
 * rendering per layer; here all layers of a cell are written in one go:
 *
 *   points   vertices are rounded to the grid of the view
 *   bin      each triangle whose box has a cell centre in it is drawn at once when it is small (dots.c), otherwise
 * noted,
 *            by the strips of rows that they lie in (bin.c)
 *   draw     per strip: the dots, and the rows of the large triangles (fours.c, stroke.c), into the shelves of their
 * cells
 *            (shelves.c), all of which stays in the second cache
 *   finish   cell after cell sorted and written to its final place
 *
 * Watertight. The edge function of an edge is the same integer, with opposite sign, in the two triangles beside it.
 * Where it is zero at a sample, the rule of stroke.c gives the sample to one of them: it is as if the sample had been
 * moved right by a tiny amount and down by a much tinier one, so that no edge passes through it. A line in general
 * position crosses a closed surface an even number of times, hence every cell has an even number of layers, whatever
 * the mesh. */
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
    pn_arrayFree(&chunk->refs), pn_arrayFree(&chunk->refStarts);
    pn_arrayFree(&chunk->blocks), pn_arrayFree(&chunk->blockStarts);
  }
  pn_arrayFree(&raster->chunks);
  for (int w = 0; w < PN_MAX_WORKERS; ++w) {
    pn_arrayFree(&raster->workers[w].dots);
    pn_arrayFree(&raster->workers[w].refs);
    pn_free(raster->workers[w].rows, sizeof(pnRowLists));
    pn_shelvesFree(&raster->workers[w].shelves);
    pn_arrayFree(&raster->workers[w].fats);
  }
}

size_t pn_rasterBytes(const pnRaster *raster) {
  size_t bytes = raster->points.capacity * sizeof(pnPoint) + raster->chunks.capacity * sizeof(pnChunk);
  for (size_t c = 0; c < raster->chunks.count; ++c) {
    const pnChunk *chunk = raster->chunks.data + c;
    bytes +=
        chunk->blocks.capacity * sizeof(pnBlock) + chunk->dots.capacity * sizeof(pnDot) +
        (chunk->refs.capacity + chunk->refStarts.capacity + chunk->dotStarts.capacity + chunk->blockStarts.capacity) *
            sizeof(uint32_t);
  }
  for (int w = 0; w < PN_MAX_WORKERS; ++w)
    bytes += pn_shelvesBytes(&raster->workers[w].shelves) + raster->workers[w].refs.capacity * sizeof(uint32_t) +
             raster->workers[w].dots.capacity * sizeof(pnDot) + (raster->workers[w].rows ? sizeof(pnRowLists) : 0) +
             raster->workers[w].fats.capacity * sizeof(pnFat);
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

uint32_t pn_placeBands(uint32_t *starts, uint32_t bandCount) {
  uint32_t total = 0;
  for (uint32_t b = 0; b < bandCount; ++b) {
    uint32_t n = starts[b + 1];
    starts[b + 1] = total;
    total += n;
  }
  return total;
}

/* ---------------------------------------------------------------- strips */

typedef struct LayerJob {
  pnRaster *raster;
  const pnSolid *solid;
  pnLayers *layers;
  uint32_t stripShift;
  _Atomic bool outOfMemory, tooMany;
} LayerJob;

/* As many rows as are asked for in raster.h. */
static uint32_t chooseStrips(uint32_t size, uint32_t workers) {
  uint32_t shift = 3;
  _Static_assert(PN_BAND_ROWS == 1 << 3, "a strip is made of bands");
  while ((2u << shift) <= PN_STRIP_MOST_ROWS && size << (shift + 1) <= PN_STRIP_CELLS &&
         size >> (shift + 1) >= PN_STRIP_SHARES * workers)
    ++shift;
  return shift;
}

/* All large triangles that a strip has, from every chunk; false when out of memory. */
static bool gatherRefs(LayerJob *job, uint32_t strip, uint32_t worker) {
  size_t count = 0;
  for (uint32_t c = 0; c < job->raster->chunkCount; ++c) {
    const pnChunk *chunk = job->raster->chunks.data + c;
    uint32_t first = chunk->refStarts.data[strip], n = chunk->refStarts.data[strip + 1] - first;
    if (!n) continue;
    job->raster->workers[worker].refs.count = count;
    if (!pn_arrayReserve(&job->raster->workers[worker].refs, count + n)) return false;
    memcpy(job->raster->workers[worker].refs.data + count, chunk->refs.data + first, n * sizeof(uint32_t));
    count += n;
  }
  job->raster->workers[worker].refs.count = count;
  return true;
}

/* All dots that a strip has; false when out of memory. */
static bool drawDots(const pnRaster *raster, uint32_t strip, pnShelves *shelves) {
  pnShelfPen pen = pn_shelvesOpen(shelves);
  for (uint32_t c = 0; c < raster->chunkCount; ++c) {
    const pnChunk *chunk = raster->chunks.data + c;
    uint32_t first = chunk->dotStarts.data[strip], n = chunk->dotStarts.data[strip + 1] - first;
    if (n == 0) continue; /* a chunk without dots may have no list */
    if (!pn_shelvesReserve(shelves, &pen, n)) return false;
    shelves->total += n;
    const pnDot *dots = chunk->dots.data + first;
    for (uint32_t i = 0; i < n; ++i) pn_shelvesAdd(&pen, dots[i].cell, dots[i].key);
  }
  pn_shelvesClose(shelves, &pen);
  return true;
}

/* Draws a strip and writes its bands; false when out of memory. */
static bool fillStrip(LayerJob *job, uint32_t s, uint32_t worker) {
  pnLayers *layers = job->layers;
  const pnView *view = &layers->view;
  pnShelves *shelves = &job->raster->workers[worker].shelves;
  pnStrip strip = {(int32_t)(s << job->stripShift), (int32_t)PN_MIN((s + 1) << job->stripShift, view->size) - 1,
                   pn_shelvesPitch(view->size)};
  uint32_t firstBand = (uint32_t)strip.first / PN_BAND_ROWS, bandCount = (uint32_t)strip.last / PN_BAND_ROWS + 1;
  bandCount -= firstBand;
  if (!pn_shelvesStart(shelves, view->size, bandCount * PN_BAND_ROWS)) return false;
  if (!drawDots(job->raster, s, shelves) || !gatherRefs(job, s, worker) ||
      !pn_strokeTriangles(view, strip, job->raster->points.data, job->solid->triangles,
                          job->raster->workers[worker].refs.data, job->raster->workers[worker].refs.count,
                          job->raster->workers[worker].rows, shelves))
    return false;
  if (shelves->total > UINT32_MAX) {
    job->tooMany = true;
    return true;
  }
  return pn_shelvesFinish(shelves, layers->bands + firstBand, bandCount);
}

static void fillStrips(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  LayerJob *job = context;
  pnRowLists **rows = &job->raster->workers[worker].rows;
  if (!*rows && !(*rows = pn_allocZero(sizeof **rows))) job->outOfMemory = true;
  for (uint32_t s = begin; s < end && !job->outOfMemory && !job->tooMany; ++s)
    if (!fillStrip(job, s, worker)) job->outOfMemory = true;
}

pnResult pn_rasterLayers(pnRaster *raster, const pnSolid *solid, const pnTasks *tasks, pnLayers *layers) {
  LayerJob job = {.raster = raster,
                  .solid = solid,
                  .layers = layers,
                  .stripShift = chooseStrips(layers->view.size, pn_workerCount(tasks))};
  uint32_t stripCount = ((layers->view.size - 1) >> job.stripShift) + 1;
  job.outOfMemory = !pn_binTriangles(raster, solid, tasks, layers, job.stripShift);
  if (!job.outOfMemory) pn_parallelFor(tasks, fillStrips, &job, stripCount, 1);
  if (job.outOfMemory)
    return pn_fail(PN_ERROR_MEMORY, "out of memory while making the layers of '%s'", solid->pose->mesh->name);
  if (job.tooMany)
    return pn_fail(PN_ERROR_COUNT,
                   "mesh '%s' has more than 4294967295 layers in %d rows of the image; lower the resolution",
                   solid->pose->mesh->name, 1 << job.stripShift);
  return PN_OK;
}
