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

static void listBands(const LayerJob *job, uint32_t begin, uint32_t end, BinList *list) {
  const pnView *view = &job->layers->view;
  const pnPoint *points = job->raster->points.data;
  const uint32_t *triangles = job->solid->triangles;
  const pnSampler sampler = pn_samplerOf(view);
  // beyond the far end (the near one, counted from the high end) nobody looks
  const bool open = job->layers->open, fromHigh = job->layers->fromHigh;
  const int32_t zTop = fromHigh || open ? INT32_MAX : view->steps, zBottom = fromHigh && !open ? 0 : INT32_MIN;
  uint32_t count = 0;
  for (uint32_t t = begin; t < end; ++t) {
    const uint32_t *c = triangles + 3 * (size_t)t;
    pnLanes p = pn_lanesOf(points + c[0]), q = pn_lanesOf(points + c[1]), r = pn_lanesOf(points + c[2]);
    pnLanes lo = pn_lanesMin(pn_lanesMin(p, q), r), hi = pn_lanesMax(pn_lanesMax(p, q), r);
    pnLanes first = pn_firstCells(&sampler, lo), last = pn_lastCells(&sampler, hi), empty = first > last;
    // written always, kept when seen: no branch to mispredict
    list->triangles[count] = t;
    list->first[count] = (uint16_t)((uint32_t)first[1] / PN_BAND_ROWS);
    list->last[count] = (uint16_t)((uint32_t)last[1] / PN_BAND_ROWS);
    count += !(empty[0] | empty[1] | (lo[2] > zTop) | (hi[2] < zBottom));
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

/* All strokes of a band; false when out of memory. */
static bool makeStrokes(LayerJob *job, uint32_t band, uint32_t worker) {
  const pnPoint *points = job->raster->points.data;
  const uint32_t *triangles = job->solid->triangles;
  int32_t top = (int32_t)(band * PN_BAND_ROWS);
  pnPen pen = {.view = &job->layers->view, .top = top, .bottom = top + PN_BAND_ROWS - 1};
  pen.sampler = pn_samplerOf(pen.view);
  pen.steps = job->layers->bands[band].offsets;
  job->raster->workers[worker].strokes.count = 0;
  for (uint32_t c = 0; c < job->raster->chunkCount; ++c) {
    const pnChunk *chunk = job->raster->chunks.data + c;
    uint32_t begin = chunk->starts.data[band], end = chunk->starts.data[band + 1];
    // room for all that these triangles can make, so that nothing is checked below
    size_t count = job->raster->workers[worker].strokes.count;
    if (!pn_arrayReserve(&job->raster->workers[worker].strokes, count + (size_t)(end - begin) * PN_STROKES_A_BAND))
      return false;
    pnStroke *strokes = job->raster->workers[worker].strokes.data;
    pen.next = strokes + count;
    for (uint32_t i = begin; i < end; ++i) {
      const uint32_t *corners = triangles + 3 * (size_t)chunk->refs.data[i];
      pn_strokeTriangle(&pen, points + corners[0], points + corners[1], points + corners[2]);
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
