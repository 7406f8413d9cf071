/* image.c: makes an image by the path asked for, and remembers of what. */
#include "volume/image.h"

#include "base/thread.h"

pnResult pn_imageMake(pnImage *image, pnRaster *raster, const pnSolid *solid, const pnView *view, bool fromHigh,
                      const pnImageSettings *settings) {
  // still good?
  const pnLayers *old = &image->layers;
  image->reused = image->frame != 0 && image->frame == solid->frame && image->bounds == settings->bounds &&
                  old->fromHigh == fromHigh && pn_viewSame(&old->view, view);
  image->layerTime = image->boundTime = 0.0;
  if (image->reused) return PN_OK;
  image->frame = 0;

  // layers, on the graphics card when asked
  double start = pn_clock();
  // where a surface ends, nothing can be said about bounds
  bool thick = settings->bounds && solid->watertight;
  pnResult result = pn_layersReset(&image->layers, view, fromHigh, !solid->watertight, thick);
  if (result == PN_OK) result = pn_rasterPoints(raster, solid, view, settings->tasks);
  if (result != PN_OK) return result;
  image->backend = PN_BACKEND_SOFTWARE;
  if (settings->gl) {
    result = settings->gl->render(settings->gl, raster, solid, &image->layers);
    if (result == PN_OK) image->backend = PN_BACKEND_OPENGL;
    else if (result == PN_ERROR_UNSUPPORTED)
      pn_log(PN_LOG_WARNING, "volume: made in software instead: %s", pnGetMessage());
    else return result;
  }
  if (image->backend == PN_BACKEND_SOFTWARE) result = pn_rasterLayers(raster, solid, settings->tasks, &image->layers);
  double middle = pn_clock();
  image->layerTime = middle - start;

  if (result == PN_OK && thick) {
    result = pn_rasterThick(raster, solid, settings->tasks, &image->layers);
    image->boundTime = pn_clock() - middle;
  }
  if (result != PN_OK) return result;
  image->bounds = settings->bounds;
  image->frame = solid->frame;
  return PN_OK;
}

void pn_imageFree(pnImage *image) {
  pn_layersFree(&image->layers);
  *image = (pnImage){0};
}
