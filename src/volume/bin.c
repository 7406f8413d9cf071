/* bin.c: which triangles may cover a sample, how large are they, and in which strips do they lie?
 *
 * At low resolutions most triangles lie between the samples, and this is all that happens to them; so it is done for
 * four at a time. Small ones are drawn at
 * once (dots.c), while their corners are at hand: what is left of them are dots. Of large ones the number is noted, in
 * every strip that they reach into. */
#include "volume/stroke.h"

#include "base/task.h"

#include <string.h>

typedef struct BinJob {
  pnRaster *raster;
  const pnSolid *solid;
  const pnLayers *layers;
  uint32_t stripShift, stripCount;
  _Atomic bool outOfMemory;
} BinJob;

/* The triangles of a chunk that may cover a sample, by size: up to 2 x 2 cells, up to 4 x 4, and large. */
typedef struct Hits {
  uint32_t count2, count4, largeCount;
  uint32_t dots2[PN_CHUNK], dots4[PN_CHUNK], large[PN_CHUNK];
} Hits;
_Static_assert(PN_CHUNK % 4 == 0, "triangles of a chunk are sorted by fours");

/* What four triangles are: 1, 2 or 4 for a dot of 2 x 2, of 4 x 4, or large; 0 when they cover no sample. */
PN_INLINE pnI4 sortFour(const BinJob *job, const uint32_t *const corners[4]) {
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

static void listHits(const BinJob *job, uint32_t begin, uint32_t end, Hits *hits) {
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
      hits->dots2[count2] = hits->dots4[count4] = hits->large[largeCount] = t + l;
      count2 += kind & 1, count4 += kind >> 1 & 1, largeCount += kind >> 2;
    }
  }
  // numbers ascend: those of the copies are the last
  while (count2 && hits->dots2[count2 - 1] >= end) --count2;
  while (count4 && hits->dots4[count4 - 1] >= end) --count4;
  while (largeCount && hits->large[largeCount - 1] >= end) --largeCount;
  hits->count2 = count2, hits->count4 = count4, hits->largeCount = largeCount;
}

/* Small triangles: dots, sorted by strip. False when out of memory. */
static bool binDots(BinJob *job, pnChunk *chunk, const Hits *hits, uint32_t worker) {
  const pnView *view = &job->layers->view;
  const pnPoint *points = job->raster->points.data;
  const uint32_t *triangles = job->solid->triangles;
  uint32_t *starts = chunk->dotStarts.data;
  size_t room = 4 * (size_t)hits->count2 + PN_DOT_SIDE * PN_DOT_SIDE * (size_t)hits->count4;
  if (!pn_arrayReserve(&job->raster->workers[worker].dots, room)) return false;
  pnDot *dots = job->raster->workers[worker].dots.data;
  pnDot *end = pn_dotTriangles(view, job->stripShift, points, triangles, hits->dots2, hits->count2, 2, dots);
  end = pn_dotTriangles(view, job->stripShift, points, triangles, hits->dots4, hits->count4, PN_DOT_SIDE, end);

  memset(starts, 0, (job->stripCount + 1) * sizeof *starts);
  for (const pnDot *dot = dots; dot < end; ++dot) ++starts[(dot->cell >> PN_STRIP_BITS) + 1];
  pn_placeBands(starts, job->stripCount);
  if (!pn_arrayReserve(&chunk->dots, (size_t)(end - dots))) return false;
  for (const pnDot *dot = dots; dot < end; ++dot)
    chunk->dots.data[starts[(dot->cell >> PN_STRIP_BITS) + 1]++] = (pnDot){dot->cell & PN_STRIP_MASK, dot->key};
  return true;
}

/* The strips that have samples of a triangle's box. */
typedef struct Span {
  uint32_t first, last;
} Span;

static Span findStrips(const BinJob *job, uint32_t triangle) {
  const pnView *view = &job->layers->view;
  const pnPoint *points = job->raster->points.data;
  const uint32_t *c = job->solid->triangles + 3 * (size_t)triangle;
  const int32_t half = 1 << (view->cellShift - 1), a = points[c[0]].y, b = points[c[1]].y, d = points[c[2]].y;
  int32_t lo = (PN_MIN(PN_MIN(a, b), d) + half - 1) >> view->cellShift;
  int32_t hi = (PN_MAX(PN_MAX(a, b), d) - half) >> view->cellShift;
  return (Span){(uint32_t)PN_MAX(lo, 0) >> job->stripShift,
                (uint32_t)PN_MIN(hi, (int32_t)view->size - 1) >> job->stripShift};
}

/* Large triangles: numbers by strip. */
static bool binLarge(const BinJob *job, pnChunk *chunk, const Hits *hits) {
  uint32_t *starts = chunk->refStarts.data;
  Span spans[PN_CHUNK];
  memset(starts, 0, (job->stripCount + 1) * sizeof *starts);
  for (uint32_t i = 0; i < hits->largeCount; ++i) {
    spans[i] = findStrips(job, hits->large[i]);
    for (uint32_t s = spans[i].first; s <= spans[i].last; ++s) ++starts[s + 1];
  }
  uint32_t total = pn_placeBands(starts, job->stripCount);
  if (!pn_arrayReserve(&chunk->refs, total)) return false;
  for (uint32_t i = 0; i < hits->largeCount; ++i)
    for (uint32_t s = spans[i].first; s <= spans[i].last; ++s) chunk->refs.data[starts[s + 1]++] = hits->large[i];
  return true;
}

static void binChunks(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  BinJob *job = context;
  Hits hits;
  for (uint32_t c = begin; c < end; ++c) {
    pnChunk *chunk = job->raster->chunks.data + c;
    listHits(job, pn_chunkFirst(c), pn_chunkLast(c, job->solid->triangleCount), &hits);
    if (!pn_arrayReserve(&chunk->dotStarts, job->stripCount + 1) ||
        !pn_arrayReserve(&chunk->refStarts, job->stripCount + 1) || !binDots(job, chunk, &hits, worker) ||
        !binLarge(job, chunk, &hits)) {
      job->outOfMemory = true;
      return;
    }
  }
}

bool pn_binTriangles(pnRaster *raster, const pnSolid *solid, const pnTasks *tasks, const pnLayers *layers,
                     uint32_t stripShift) {
  const pnView *view = &layers->view;
  BinJob job = {.raster = raster, .solid = solid, .layers = layers, .stripShift = stripShift};
  job.stripCount = ((view->size - 1) >> stripShift) + 1;
  pn_parallelFor(tasks, binChunks, &job, raster->chunkCount, 1);
  return !job.outOfMemory;
}
