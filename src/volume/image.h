/* image.h: an image of a solid that knows whether it is still good. */
#ifndef PN_VOLUME_IMAGE_H
#define PN_VOLUME_IMAGE_H

#include "volume/raster.h"

typedef struct pnImage {
  pnLayers layers;
  uint64_t frame; /* of the pose it shows; 0: nothing yet */
  bool bounds;    /* it was asked for with bounds */
  pnBackend backend;
  bool reused;                 /* the last pn_imageMake found it still good */
  double layerTime, boundTime; /* seconds of the last one; 0 when reused */
} pnImage;

/* How images are made. */
typedef struct pnImageSettings {
  bool bounds;
  const pnTasks *tasks;
  pnGlRaster *gl; /* null: software */
} pnImageSettings;

/* Makes the image of the (refreshed) solid in this view, unless it is there already. fromHigh: see pnLayers. */
pnResult pn_imageMake(pnImage *image, pnRaster *raster, const pnSolid *solid, const pnView *view, bool fromHigh,
                      const pnImageSettings *settings);
void pn_imageFree(pnImage *image);

/* Do its answers have bounds? Not when nobody asked, and never for an open mesh. */
PN_INLINE bool pn_imageBounded(const pnImage *image) {
  return image->layers.hasThick;
}

#endif
