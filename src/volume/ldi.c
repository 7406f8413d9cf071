/* ldi.c: the image of one body as an object: create, update, look. More is asked of it in inside.c and in self.c. */
#include "volume/ldi.h"

#include "base/fenv.h"
#include "base/memory.h"
#include "base/thread.h"
#include "volume/measure.h"

#include <math.h>
#include <string.h>

pnLdiDef pnDefaultLdiDef(void) {
  pnLdiDef def = {.resolution = 128, .rule = PN_INSIDE_WINDING, .bounds = true, .cookie = PN_COOKIE};
  def.window = (pnBox){{1.0f, 1.0f, 1.0f}, {-1.0f, -1.0f, -1.0f}};
  return def;
}

pnResult pn_checkVolumeSettings(uint32_t resolution, pnInsideRule rule, const pnBox *window) {
  if (resolution < PN_MIN_RESOLUTION || resolution > PN_MAX_RESOLUTION)
    return pn_fail(PN_ERROR_ARGUMENT, "a resolution of %u: it must be %d to %d", resolution, PN_MIN_RESOLUTION,
                   PN_MAX_RESOLUTION);
  if ((int)rule < 0 || rule >= PN_INSIDE_RULE_COUNT)
    return pn_fail(PN_ERROR_ARGUMENT, "an inside rule of %d: it must be 0 to %d", (int)rule, PN_INSIDE_RULE_COUNT - 1);
  const float numbers[6] = {window->min.x, window->min.y, window->min.z, window->max.x, window->max.y, window->max.z};
  for (int k = 0; k < 6; ++k)
    if (!isfinite(numbers[k])) return pn_fail(PN_ERROR_NUMBER, "the window's %s is not finite", k < 3 ? "min" : "max");
  return PN_OK;
}

bool pn_hasWindow(const pnBox *window) {
  return window->min.x < window->max.x && window->min.y < window->max.y && window->min.z < window->max.z;
}

pnResult pnCreateLdi(const pnLdiDef *def, pnLdi **outLdi) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(def && outLdi);
  *outLdi = NULL;
  pnResult result = pn_checkCookie(def->cookie, "pnLdiDef");
  if (result != PN_OK) return result;
  PN_ASSERT(def->pose);
  result = pn_checkVolumeSettings(def->resolution, def->rule, &def->window);
  if (result != PN_OK) return result;
  pnLdi *ldi = pn_allocZero(sizeof *ldi);
  if (!ldi) return pn_failMemory(sizeof *ldi);
  ldi->def = *def;
  result = pn_solidInit(&ldi->solid, def->pose, def->rule);
  if (result != PN_OK) {
    pn_free(ldi, sizeof *ldi);
    return result;
  }
  *outLdi = ldi;
  return PN_OK;
}

void pnDestroyLdi(pnLdi *ldi) {
  if (!ldi) return;
  pn_imageFree(&ldi->image);
  pn_rasterFree(&ldi->raster);
  pn_solidFree(&ldi->solid);
  pn_free(ldi, sizeof *ldi);
}

/* The window is the body's box or the caller's; we look along its shortest side, where the layers are fewest. A flat
 * side is given some depth, because a window has volume even when the body has none. */
pnView pn_ldiView(const pnBox *body, const pnBox *window, uint32_t resolution) {
  const pnBox *box = pn_hasWindow(window) ? window : body;
  double lo[3] = {box->min.x, box->min.y, box->min.z}, hi[3] = {box->max.x, box->max.y, box->max.z};
  double longest = PN_MAX(PN_MAX(hi[0] - lo[0], hi[1] - lo[1]), hi[2] - lo[2]);
  uint32_t axis = 0;
  for (uint32_t k = 0; k < 3; ++k) {
    if (hi[k] - lo[k] < hi[axis] - lo[axis]) axis = k;
    if (hi[k] > lo[k]) continue;
    double grow = longest > 0.0 ? ldexp(longest, -20) : ldexp(fabs(lo[k]) + 1.0, -20);
    lo[k] -= grow, hi[k] += grow;
  }
  return pn_viewAlong(axis, lo, hi, body, resolution);
}

pnResult pnLdi_Update(pnLdi *ldi) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(ldi);
  double start = pn_clock();
  bool moved;
  pnResult result = pn_solidRefresh(&ldi->solid, &ldi->def.tasks, &moved);
  if (result != PN_OK) {
    ldi->image.frame = 0;
    return result;
  }
  // an empty mesh has an empty image
  ldi->empty = ldi->solid.triangleCount == 0;
  pnView view = {0};
  if (!ldi->empty) view = pn_ldiView(&ldi->solid.box, &ldi->def.window, ldi->def.resolution);
  ldi->prepareTime = moved ? pn_clock() - start : 0.0;
  if (ldi->empty) {
    ldi->image.reused = !moved;
    ldi->image.frame = ldi->solid.frame;
    return PN_OK;
  }
  pnImageSettings settings = {ldi->def.bounds, &ldi->def.tasks, ldi->def.gl};
  return pn_imageMake(&ldi->image, &ldi->raster, &ldi->solid, &view, false, &settings);
}

void pn_viewInfo(const pnView *view, pnLdiInfo *info) {
  int32_t lo[3] = {0, 0, 0}, hi[3] = {(int32_t)view->size, (int32_t)view->size, view->steps};
  info->resolution = view->size;
  info->axis = view->pick[2];
  info->window = pn_cellBox(view, lo, hi);
  for (int k = 0; k < 2; ++k) info->pixel[k] = view->unit[k] * (double)(1 << view->cellShift);
  info->depthStep = view->unit[2];
  info->snap = pn_viewSnap(view);
}

pnLdiInfo pnLdi_GetInfo(const pnLdi *ldi) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(ldi);
  const pnImage *image = &ldi->image;
  const pnView *view = &image->layers.view;
  pnLdiInfo info = {.backend = image->backend,
                    .reused = image->reused,
                    .prepareTime = ldi->prepareTime,
                    .layerTime = image->layerTime,
                    .boundTime = image->boundTime};
  info.byteCount =
      sizeof *ldi + pn_solidBytes(&ldi->solid) + pn_rasterBytes(&ldi->raster) + pn_layersBytes(&image->layers);
  info.window = (pnBox){{1.0f, 1.0f, 1.0f}, {-1.0f, -1.0f, -1.0f}};
  if (ldi->empty || image->frame == 0) return info;
  pn_viewInfo(view, &info);
  info.layerCount = pn_layersCount(&image->layers);
  info.maxLayers = pn_layersMax(&image->layers);
  info.oddPixelCount = pn_layersOdd(&image->layers);
  return info;
}

uint32_t pnLdi_GetLayers(const pnLdi *ldi, uint32_t x, uint32_t y, pnLayer *outLayers, uint32_t capacity) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(ldi && (outLayers || capacity == 0));
  const pnView *view = &ldi->image.layers.view;
  if (ldi->empty || ldi->image.frame == 0 || x >= view->size || y >= view->size) return 0;
  pnColumn column = pn_layersColumn(&ldi->image.layers, x, y);
  for (uint32_t i = 0; i < PN_MIN(column.keyCount, capacity); ++i) {
    outLayers[i].depth = view->lo[2] + view->unit[2] * (double)(column.keys[i] >> 1);
    outLayers[i].entry = !(column.keys[i] & 1);
  }
  return column.keyCount;
}

pnResult pn_ldiReady(const pnLdi *ldi) {
  if (ldi->image.frame == 0)
    return pn_fail(PN_ERROR_ARGUMENT, "the image of '%s' has not been made: call pnLdi_Update first",
                   ldi->solid.pose->mesh->name);
  return PN_OK;
}

pnResult pnLdi_Measure(const pnLdi *ldi, pnVolumeResult *outResult) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(ldi && outResult);
  double start = pn_clock();
  *outResult = (pnVolumeResult){.box = {{1.0f, 1.0f, 1.0f}, {-1.0f, -1.0f, -1.0f}}};
  pnResult result = pn_ldiReady(ldi);
  if (result != PN_OK || ldi->empty) return result;
  pnTally tally = pn_measureLayers(&ldi->image.layers, NULL, false, ldi->def.rule, &ldi->def.tasks);
  *outResult = pn_tallyVolume(&tally, &ldi->image.layers.view, pn_imageBounded(&ldi->image));
  outResult->time = pn_clock() - start;
  return PN_OK;
}
