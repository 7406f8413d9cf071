/* overlap.c: the space two bodies of a world share, on the device: the three stages of volume/overlap.c, of which only the choice
 * of the view is the processor's. */
#include "device/image.h"

#include "base/fenv.h"
#include "base/memory.h"
#include "base/thread.h"
#include "geom/box.h"
#include "volume/ldi.h"
#include "volume/overlap.h"

struct pnDeviceOverlap {
  pnDeviceOverlapDef def;
  pnBodyImage images[2];
};

pnDeviceOverlapDef pnDefaultDeviceOverlapDef(void) {
  pnDeviceOverlapDef def = {.resolution = 128, .rule = PN_INSIDE_WINDING, .cookie = PN_COOKIE};
  def.window = (pnBox){{1.0f, 1.0f, 1.0f}, {-1.0f, -1.0f, -1.0f}};
  return def;
}

pnResult pnCreateDeviceOverlap(const pnDeviceOverlapDef *def, pnDeviceOverlap **outOverlap) {
  PN_ASSERT(def && def->world && outOverlap);
  *outOverlap = NULL;
  pnResult result = pn_checkCookie(def->cookie, "pnDeviceOverlapDef");
  if (result == PN_OK) result = pn_checkVolumeSettings(def->resolution, def->rule, &def->window);
  if (result != PN_OK) return result;
  pnDeviceOverlap *overlap = pn_allocZero(sizeof *overlap);
  if (!overlap) return pn_failMemory(sizeof *overlap);
  overlap->def = *def;
  result = pn_bodyImageInit(&overlap->images[0], def->world, def->bodyA, def->rule);
  if (result == PN_OK) result = pn_bodyImageInit(&overlap->images[1], def->world, def->bodyB, def->rule);
  if (result == PN_OK) *outOverlap = overlap;
  else pnDestroyDeviceOverlap(overlap);
  return result;
}

void pnDestroyDeviceOverlap(pnDeviceOverlap *overlap) {
  if (!overlap) return;
  for (int i = 0; i < 2; ++i) pn_bodyImageFree(&overlap->images[i]);
  pn_free(overlap, sizeof *overlap);
}

/* Both images, and what they are like. */
static pnResult makeImages(pnDeviceOverlap *overlap, const pnInterest *interest, pnOverlapResult *result) {
  pnBodyImage *images = overlap->images;
  const pnBox around = pn_unionBox(&images[0].box, &images[1].box);
  const pnView view = pn_viewAlong(interest->axis, interest->lo, interest->hi, &around, overlap->def.resolution);
  for (int i = 0; i < 2; ++i) {
    // the body in front is counted from the low end, the other from the high end
    pnResult made = pn_bodyImageMake(&images[i], &view, (i == 0) != interest->aInFront);
    if (made != PN_OK) return made;
    result->layerTime += images[i].layerTime;
    result->reused[i] = images[i].reused;
    result->layerCount[i] = images[i].head[PN_IMAGE_LAYERS];
    result->maxLayers[i] = images[i].head[PN_IMAGE_MOST];
  }
  result->resolution = view.size;
  return PN_OK;
}

static pnResult measureOverlap(pnDeviceOverlap *overlap, pnOverlapResult *outResult) {
  const double start = pn_clock();
  const pnDeviceOverlapDef *def = &overlap->def;
  pnBodyImage *images = overlap->images;
  *outResult = (pnOverlapResult){.relation = PN_RELATION_APART,
                                 .certain = true,
                                 .backend = PN_BACKEND_OPENCL,
                                 .resolution = def->resolution,
                                 .box = {{1.0f, 1.0f, 1.0f}, {-1.0f, -1.0f, -1.0f}}};
  pnResult result = pn_bringVertices(def->world);
  if (pn_bodyImageEmpty(&images[0]) || pn_bodyImageEmpty(&images[1])) return result;
  for (int i = 0; i < 2 && result == PN_OK; ++i) result = pn_bodyImageBox(&images[i]);
  if (result != PN_OK) return result;
  const pnBox *a = &images[0].box, *b = &images[1].box;
  const pnInterest interest = pn_chooseInterest(a, b, &def->window, def->steady);
  outResult->axis = interest.axis;
  outResult->aInFront = interest.aInFront;
  outResult->prepareTime = pn_clock() - start;
  if (interest.empty) return PN_OK;
  result = makeImages(overlap, &interest, outResult);
  if (result != PN_OK) return result;

  const double middle = pn_clock();
  const bool aFits = pn_canContain(b, a, &def->window), bFits = pn_canContain(a, b, &def->window);
  pnTally tally;
  result = pn_bodyImageTally(&images[0], &images[1], aFits || bFits, def->rule, &tally);
  if (result != PN_OK) return result;
  pn_tallyOverlap(&tally, &images[0].view, aFits, bFits, false, outResult);
  outResult->measureTime = pn_clock() - middle;
  return PN_OK;
}

pnResult pnDeviceOverlap_Measure(pnDeviceOverlap *overlap, pnOverlapResult *outResult) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(overlap && outResult);
  pnResult result = measureOverlap(overlap, outResult);
  pn_settle(overlap->def.world);
  return result;
}
