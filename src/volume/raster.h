/* raster.h: from triangles to layers. The scratch memory of it, kept from image to image, and its three steps. */
#ifndef PN_VOLUME_RASTER_H
#define PN_VOLUME_RASTER_H

#include "base/array.h"
#include "volume/layers.h"
#include "volume/shelves.h"
#include "volume/solid.h"

/* Triangles are sorted into bands, or strips, in chunks of this many; the order of chunks is the order of the mesh,
 * whoever works on them. */
#define PN_CHUNK 2048

/* Rows of the image that are drawn together: some bands, as many as leave their shelves in the second cache (for an image
 * 4096 wide that is one) and every worker some: whoever is done takes the next. More rows are better, since a triangle
 * is set up again in every strip that it reaches into. */
#define PN_STRIP_CELLS 32768
#define PN_STRIP_MOST_ROWS 32
#define PN_STRIP_SHARES 4
typedef struct pnStrip {
  int32_t first, last; /* rows of the image */
  uint32_t pitch;      /* from row to row in the shelves, see pn_shelvesPitch */
} pnStrip;

/* A cell while those of many strips are together: the number of the strip above, the cell in the shelves below. */
#define PN_STRIP_BITS 16
#define PN_STRIP_MASK ((1u << PN_STRIP_BITS) - 1)
_Static_assert(PN_STRIP_CELLS + 32 * PN_STRIP_MOST_ROWS <= 1 << PN_STRIP_BITS,
               "a strip has more cells than can be named");

/* A block of cells x0 ... x1, y0 ... y1 that may be touched at the depths lo ... hi. */
typedef struct pnBlock {
  uint16_t x0, x1, y0, y1;
  pnInterval depth;
} pnBlock;

/* What the triangles of one chunk become. For the layers: dots, which are all that small triangles leave, and the
 * numbers of large ones, by strip: strip s has the dots dots[dotStarts[s]] ... dots[dotStarts[s+1]-1], and so on. For
 * the touched depths: blocks, and the numbers of large triangles, by band. */
typedef struct pnChunk {
  PN_ARRAY(pnDot) dots;
  PN_ARRAY(uint32_t) dotStarts;
  PN_ARRAY(uint32_t) refs;
  PN_ARRAY(uint32_t) refStarts;
  PN_ARRAY(pnBlock) blocks;
  PN_ARRAY(uint32_t) blockStarts;
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
    PN_ARRAY(pnDot) dots;    /* of a chunk, in the order found */
    PN_ARRAY(uint32_t) refs; /* of a strip, from all chunks */
    struct pnRowLists *rows;
    pnShelves shelves;
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

/* From numbers per band at starts[b + 1] to places; returns the total. What is placed then moves each place on, until
 * it is the start of band b + 1. */
uint32_t pn_placeBands(uint32_t *starts, uint32_t bandCount);

/* Draws small triangles and sorts all into strips of 1 << stripShift rows; false when out of memory. */
bool pn_binTriangles(pnRaster *raster, const pnSolid *solid, const pnTasks *tasks, const pnLayers *layers,
                     uint32_t stripShift);

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
