/* overlap.h: two bodies and the space they share, as the files of this room see it. */
#ifndef PN_VOLUME_OVERLAP_H
#define PN_VOLUME_OVERLAP_H

#include "volume/image.h"
#include "volume/measure.h"

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

/* Where to look, by the boxes of two bodies and the caller's window. */
pnInterest pn_chooseInterest(const pnBox *a, const pnBox *b, const pnBox *window, bool steady);
/* Can a body be inside another, by their boxes? */
bool pn_canContain(const pnBox *outer, const pnBox *inner, const pnBox *window);
/* Sums as an answer. aFits: A can be inside B; bFits: B inside A. */
void pn_tallyOverlap(const pnTally *tally, const pnView *view, bool aFits, bool bFits, bool bounded,
                     pnOverlapResult *outResult);

/* Brings both solids up to date. */
pnResult pn_overlapRefresh(pnOverlap *overlap);

#endif
