/* raster.h: from triangles to layers. The scratch memory of it, kept from image to image, and its three steps. */
#ifndef PN_VOLUME_RASTER_H
#define PN_VOLUME_RASTER_H

#include "base/array.h"
#include "volume/layers.h"
#include "volume/slots.h"
#include "volume/solid.h"

/* A vertex on the grid of a view; 16 bytes, so that one is one load. */
typedef struct pnPoint {
  int32_t x, y, z, unused;
} pnPoint;

/* Triangles are sorted into bands in chunks of this many; the order of chunks is the order of the mesh, whoever works
 * on them. */
#define PN_CHUNK 2048

/* A block of cells x0 ... x1, y0 ... y1 that may be touched at the depths lo ... hi. */
typedef struct pnBlock {
  uint16_t x0, x1, y0, y1;
  pnInterval depth;
} pnBlock;

/* One row of one triangle: `length` cells from `cell` on; the depth at the first and its step from cell to cell, in 2^-32
 * units, rounded by adding a half. */
typedef struct pnRow {
  uint32_t cell;
  uint16_t length;
  bool exit, clamp; /* the line leaves the body there; the depth may leave the window */
  int64_t z, dz;
} pnRow;

/* How long a row is nobody can foresee, the processor neither, and each wrong guess costs as much as drawing four cells. So
 * rows are sorted by length too: up to 4 cells, 8, 12, and longer. */
#define PN_ROW_CLASSES 4
PN_INLINE uint32_t pn_rowClass(uint32_t length) {
  return PN_MIN((length - 1) / 4, PN_ROW_CLASSES - 1);
}

/* What the triangles of one chunk become, band by band. For the layers: dots and rows; band b has the dots
 * dots[dotStarts[b]] ... dots[dotStarts[b+1]-1], and so on; rows by band and class. For the touched depths: blocks, and the numbers of large
 * triangles. */
typedef struct pnChunk {
  uint32_t firstBand, lastBand; /* no dot and no row out of them */
  PN_ARRAY(pnDot) dots;
  PN_ARRAY(pnRow) rows;
  PN_ARRAY(uint32_t) dotStarts;
  PN_ARRAY(uint32_t) rowStarts;
  PN_ARRAY(pnBlock) blocks;
  PN_ARRAY(uint32_t) refs;
  PN_ARRAY(uint32_t) blockStarts;
  PN_ARRAY(uint32_t) refStarts;
} pnChunk;

/* Touched depths of a cell while they are being found. */
#define PN_FAT_MAX 15
typedef struct pnFat {
  uint32_t count, last;
  pnInterval list[PN_FAT_MAX];
} pnFat;

typedef struct pnRaster {
  PN_ARRAY(pnPoint) points;
  PN_ARRAY(pnChunk) chunks; /* as many as were ever needed */
  uint32_t chunkCount;      /* of the solid at work */
  struct {
    PN_ARRAY(pnDot) dots; /* of a chunk, in the order found */
    PN_ARRAY(pnRow) rows; /* likewise */
    pnSlots slots;
    PN_ARRAY(pnFat) fats;
  } workers[PN_MAX_WORKERS];
} pnRaster;

/* The triangles of a chunk: first ... last - 1. */
PN_INLINE uint32_t pn_chunkFirst(uint32_t chunk) {
  return chunk * PN_CHUNK;
}
PN_INLINE uint32_t pn_chunkLast(uint32_t chunk, uint32_t triangleCount) {
  return PN_MIN(triangleCount - chunk * PN_CHUNK, PN_CHUNK) + chunk * PN_CHUNK;
}

void pn_rasterFree(pnRaster *raster);
size_t pn_rasterBytes(const pnRaster *raster);

/* Rounds the solid's corners to the grid and makes room for its chunks. */
pnResult pn_rasterPoints(pnRaster *raster, const pnSolid *solid, const pnView *view, const pnTasks *tasks);

/* From numbers per band at starts[b + 1] to places; returns the total. What is placed then moves each place on, until it
 * is the start of band b + 1. */
uint32_t pn_placeBands(uint32_t *starts, uint32_t bandCount);

/* Fills the (reset) layers; after pn_rasterPoints. */
pnResult pn_rasterLayers(pnRaster *raster, const pnSolid *solid, const pnTasks *tasks, pnLayers *layers);

/* Fills the touched depths; after pn_rasterPoints. */
pnResult pn_rasterThick(pnRaster *raster, const pnSolid *solid, const pnTasks *tasks, pnLayers *layers);

/* What raster_gl.c puts behind the public pnGlRaster: makes the layers (sorted) another way, from the same points.
 * PN_ERROR_UNSUPPORTED sends the caller back to the software path. */
struct pnGlRaster {
  pnResult (*render)(pnGlRaster *gl, const pnRaster *raster, const pnSolid *solid, pnLayers *layers);
};

#endif
