/* overlap.h: two bodies and the space they share, as the files of this room see it. */
#ifndef PN_VOLUME_OVERLAP_H
#define PN_VOLUME_OVERLAP_H

#include "volume/image.h"

struct pnOverlap {
  pnOverlapDef def;
  pnSolid solids[2];
  pnRaster raster;
  pnImage images[2]; /* kept for reuse, and for the spans and the mesh */
  bool measured;     /* the images are those of the last measure, and there is something in them to look at */

  /* penetration depth, see depth.c: images of its own, and the answer while nothing moves */
  pnImage depthImages[2];
  uint64_t depthFrames[2];
  pnDepthResult depth;
};

/* Brings both solids up to date. */
pnResult pn_overlapRefresh(pnOverlap *overlap);

#endif
