/* overlap.c: the space two bodies share, as an object. The paper's three stages are the body of pnOverlap_Measure:
 * volume of interest (view.c), two images (raster.c), Boolean intersection (measure.c). */
#include "volume/overlap.h"

#include "base/fenv.h"
#include "base/memory.h"
#include "base/thread.h"
#include "geom/box.h"
#include "volume/ldi.h"
#include "volume/measure.h"
#include "volume/walk.h"

pnOverlapDef pnDefaultOverlapDef(void) {
  pnOverlapDef def = {.resolution = 128, .rule = PN_INSIDE_WINDING, .bounds = true, .cookie = PN_COOKIE};
  def.window = (pnBox){{1.0f, 1.0f, 1.0f}, {-1.0f, -1.0f, -1.0f}};
  return def;
}

pnResult pnCreateOverlap(const pnOverlapDef *def, pnOverlap **outOverlap) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(def && outOverlap);
  *outOverlap = NULL;
  pnResult result = pn_checkCookie(def->cookie, "pnOverlapDef");
  if (result != PN_OK) return result;
  PN_ASSERT(def->poseA && def->poseB);
  result = pn_checkVolumeSettings(def->resolution, def->rule, &def->window);
  if (result != PN_OK) return result;
  pnOverlap *overlap = pn_allocZero(sizeof *overlap);
  if (!overlap) return pn_failMemory(sizeof *overlap);
  overlap->def = *def;
  result = pn_solidInit(&overlap->solids[0], def->poseA, def->rule);
  if (result == PN_OK) result = pn_solidInit(&overlap->solids[1], def->poseB, def->rule);
  if (result != PN_OK) {
    pnDestroyOverlap(overlap);
    return result;
  }
  *outOverlap = overlap;
  return PN_OK;
}

void pnDestroyOverlap(pnOverlap *overlap) {
  if (!overlap) return;
  for (int i = 0; i < 2; ++i) {
    pn_imageFree(&overlap->images[i]);
    pn_imageFree(&overlap->depthImages[i]);
    pn_solidFree(&overlap->solids[i]);
  }
  pn_rasterFree(&overlap->raster);
  pn_free(overlap, sizeof *overlap);
}

pnResult pn_overlapRefresh(pnOverlap *overlap) {
  bool moved;
  pnResult result = pn_solidRefresh(&overlap->solids[0], &overlap->def.tasks, &moved);
  return result == PN_OK ? pn_solidRefresh(&overlap->solids[1], &overlap->def.tasks, &moved) : result;
}

/* ---------------------------------------------------------------- measure */

/* Where to look. The caller's window stands as it is, whatever moves, so that the image of a body at rest is used
 * again; which body is in front does not matter then, because depths before the window are counted too. */
pnInterest pn_chooseInterest(const pnBox *a, const pnBox *b, const pnBox *window, bool steady) {
  pnInterest interest = pn_findInterest(a, b);
  if (interest.empty) return interest;
  if (pn_hasWindow(window)) {
    interest.lo[0] = window->min.x, interest.lo[1] = window->min.y, interest.lo[2] = window->min.z;
    interest.hi[0] = window->max.x, interest.hi[1] = window->max.y, interest.hi[2] = window->max.z;
    interest.axis = 0;
    for (uint32_t k = 1; k < 3; ++k)
      if (interest.hi[k] - interest.lo[k] < interest.hi[interest.axis] - interest.lo[interest.axis]) interest.axis = k;
    interest.aInFront = true;
  } else if (steady) {
    pn_steadyBox(interest.lo, interest.hi);
  }
  return interest;
}

/* One body can be inside the other only when its box is (and is in sight): then all of it is in the image. */
bool pn_canContain(const pnBox *outer, const pnBox *inner, const pnBox *window) {
  return pn_boxIsWithin(inner, outer) && (!pn_hasWindow(window) || pn_boxIsWithin(inner, window));
}

static void findRelation(const pnTally *tally, bool aFits, bool bFits, bool bounded, pnOverlapResult *result) {
  if (tally->length == 0) {
    result->relation = PN_RELATION_APART;
    result->certain = tally->lengthMax == 0;
  } else if (aFits && tally->onlyA == 0) {
    result->relation = PN_RELATION_A_IN_B;
    result->certain = tally->onlyAMaybe == 0;
  } else if (bFits && tally->onlyB == 0) {
    result->relation = PN_RELATION_B_IN_A;
    result->certain = tally->onlyBMaybe == 0;
  } else {
    result->relation = PN_RELATION_OVERLAP;
    result->certain = tally->lengthMin > 0 && (!aFits || tally->onlyASure > 0) && (!bFits || tally->onlyBSure > 0);
  }
  result->certain = result->certain && bounded;
}

/* Stage 2 of the paper. */
static pnResult makeImages(pnOverlap *overlap, const pnInterest *interest, pnOverlapResult *result) {
  pnBox around = pn_unionBox(&overlap->solids[0].box, &overlap->solids[1].box);
  pnView view = pn_viewAlong(interest->axis, interest->lo, interest->hi, &around, overlap->def.resolution);
  pnImageSettings settings = {overlap->def.bounds, &overlap->def.tasks, overlap->def.gl};
  for (int i = 0; i < 2; ++i) {
    // the body in front is counted from the low end, the other from the high end
    bool fromHigh = (i == 0) != interest->aInFront;
    pnImage *image = &overlap->images[i];
    pnResult made = pn_imageMake(image, &overlap->raster, &overlap->solids[i], &view, fromHigh, &settings);
    if (made != PN_OK) return made;
    result->layerTime += image->layerTime;
    result->boundTime += image->boundTime;
    result->reused[i] = image->reused;
    result->layerCount[i] = pn_layersCount(&image->layers);
    result->maxLayers[i] = pn_layersMax(&image->layers);
  }
  bool software =
      overlap->images[0].backend == PN_BACKEND_SOFTWARE || overlap->images[1].backend == PN_BACKEND_SOFTWARE;
  result->backend = software ? PN_BACKEND_SOFTWARE : PN_BACKEND_OPENGL;
  result->resolution = view.size;
  return PN_OK;
}

void pn_tallyOverlap(const pnTally *tally, const pnView *view, bool aFits, bool bFits, bool bounded,
                     pnOverlapResult *outResult) {
  pnVolumeResult volume = pn_tallyVolume(tally, view, bounded);
  outResult->volume = volume.volume;
  outResult->volumeMin = volume.volumeMin;
  outResult->volumeMax = volume.volumeMax;
  outResult->error = volume.error;
  for (int k = 0; k < 3; ++k) outResult->centroid[k] = volume.centroid[k];
  outResult->centroidError = volume.centroidError;
  outResult->box = volume.box;
  outResult->spanCount = volume.spanCount;
  findRelation(tally, aFits, bFits, bounded, outResult);
}

pnResult pnOverlap_Measure(pnOverlap *overlap, pnOverlapResult *outResult) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(overlap && outResult);
  double start = pn_clock();
  *outResult = (pnOverlapResult){.relation = PN_RELATION_APART,
                                 .certain = true,
                                 .resolution = overlap->def.resolution,
                                 .box = {{1.0f, 1.0f, 1.0f}, {-1.0f, -1.0f, -1.0f}}};
  overlap->measured = false;

  // stage 1: positions, boxes, volume of interest
  pnResult result = pn_overlapRefresh(overlap);
  if (result != PN_OK) return result;
  pnInterest interest =
      pn_chooseInterest(&overlap->solids[0].box, &overlap->solids[1].box, &overlap->def.window, overlap->def.steady);
  outResult->axis = interest.axis;
  outResult->aInFront = interest.aInFront;
  outResult->prepareTime = pn_clock() - start;
  if (interest.empty) return PN_OK;

  // stage 2: the images
  result = makeImages(overlap, &interest, outResult);
  if (result != PN_OK) return result;

  // stage 3: the intersection
  start = pn_clock();
  const pnLayers *a = &overlap->images[0].layers, *b = &overlap->images[1].layers;
  bool bounded = pn_imageBounded(&overlap->images[0]) && pn_imageBounded(&overlap->images[1]);
  const pnBox *boxA = &overlap->solids[0].box, *boxB = &overlap->solids[1].box, *window = &overlap->def.window;
  bool aFits = pn_canContain(boxB, boxA, window), bFits = pn_canContain(boxA, boxB, window);
  pnTally tally = pn_measureLayers(a, b, aFits || bFits, overlap->def.rule, &overlap->def.tasks);
  pn_tallyOverlap(&tally, &a->view, aFits, bFits, bounded, outResult);
  overlap->measured = true;
  outResult->measureTime = pn_clock() - start;
  return PN_OK;
}

/* ---------------------------------------------------------------- spans */

/* The world point of cell (x, y) at depth z. */
static pnVec3 cellPoint(const pnView *view, uint32_t x, uint32_t y, int32_t z) {
  double cell = (double)(1 << view->cellShift), p[3];
  double q[3] = {view->lo[0] + view->unit[0] * cell * (x + 0.5), view->lo[1] + view->unit[1] * cell * (y + 0.5),
                 view->lo[2] + view->unit[2] * z};
  pn_viewToWorld(view, q, p);
  return (pnVec3){(float)p[0], (float)p[1], (float)p[2]};
}

uint64_t pnOverlap_GetSpans(const pnOverlap *overlap, pnSpan *outSpans, uint64_t capacity) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(overlap && (outSpans || capacity == 0));
  if (!overlap->measured) return 0;
  const pnLayers *a = &overlap->images[0].layers, *b = &overlap->images[1].layers;
  uint64_t count = 0;
  for (uint32_t y = 0; y < a->view.size; ++y)
    for (uint32_t x = 0; x < a->view.size; ++x) {
      pnSharedWalk walk = pn_walkShared(a, b, x, y, overlap->def.rule);
      for (pnInterval span; pn_nextShared(&walk, &span); ++count)
        if (count < capacity)
          outSpans[count] = (pnSpan){cellPoint(&a->view, x, y, span.lo), cellPoint(&a->view, x, y, span.hi)};
    }
  return count;
}
