/* ldi.h: the image of one body, as the files of this room see it. */
#ifndef PN_VOLUME_LDI_H
#define PN_VOLUME_LDI_H

#include "volume/image.h"

struct pnLdi {
  pnLdiDef def;
  pnSolid solid;
  pnRaster raster;
  pnImage image;
  bool empty; /* no triangles: nothing is inside */
  double prepareTime;
};

/* The view of a body in this box, through the caller's window or its own. */
pnView pn_ldiView(const pnBox *body, const pnBox *window, uint32_t resolution);
/* What the view says about itself. */
void pn_viewInfo(const pnView *view, pnLdiInfo *info);
/* Points farther from the surface than this are answered rightly. */
double pn_insideError(const pnView *view);

/* PN_OK when an image has been made, otherwise what to do. */
pnResult pn_ldiReady(const pnLdi *ldi);

/* Is the caller's window a box with volume? An empty one means: choose. */
bool pn_hasWindow(const pnBox *window);

/* What both definitions have in common. */
pnResult pn_checkVolumeSettings(uint32_t resolution, pnInsideRule rule, const pnBox *window);

#endif
