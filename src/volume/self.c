/* self.c: where does a body overlap itself? By the wrong order of front and back faces.
 *
 * Heidelberger, Teschner, Gross 2003 leave this as future work (section 5.2). Going up a column of a simple body,
 * entries and exits alternate: the winding number is 0, 1, 0, 1, ... Two entries in a row mean that one part of the
 * body lies in another (2), an exit first means that the surface is turned inside out (-1).
 *
 * The bounds are those of measure.c: at depths where no surface touches the cell, the number is that of the whole
 * cell. */
#include "volume/ldi.h"

#include "base/fenv.h"
#include "base/thread.h"
#include "volume/measure.h"
#include "volume/walk.h"

#include <math.h>

typedef struct SelfTally {
  int64_t signedLength;                              /* length times winding number: tells which way the mesh faces */
  int64_t doubled[2], inverted[2], sure[2], touched; /* [0]: mesh faces outward, [1]: inward */
  int32_t minWinding, maxWinding;
  int32_t lo[2][3], hi[2][3];
} SelfTally;

static void growBox(SelfTally *tally, int facing, uint32_t x, uint32_t y, int32_t z0, int32_t z1) {
  int32_t lo[3] = {(int32_t)x, (int32_t)y, z0}, hi[3] = {(int32_t)x + 1, (int32_t)y + 1, z1};
  for (int k = 0; k < 3; ++k) {
    tally->lo[facing][k] = PN_MIN(tally->lo[facing][k], lo[k]);
    tally->hi[facing][k] = PN_MAX(tally->hi[facing][k], hi[k]);
  }
}

static void tallyColumn(SelfTally *tally, const pnLayers *layers, uint32_t x, uint32_t y) {
  pnColumn column = pn_layersColumn(layers, x, y);
  pnWalk walk = pn_walkColumn(&column, layers->fromHigh, false);
  int32_t steps = layers->view.steps;
  for (int32_t z = 0; z < steps;) {
    pn_walkTo(&walk, z);
    int32_t next = PN_MIN(walk.next, steps), length = next - z;
    tally->signedLength += (int64_t)length * walk.count;
    tally->minWinding = PN_MIN(tally->minWinding, walk.count);
    tally->maxWinding = PN_MAX(tally->maxWinding, walk.count);
    if (walk.touched) tally->touched += length;
    // judged both ways, because which way the mesh faces is known only at the end
    for (int facing = 0; facing < 2; ++facing) {
      int32_t winding = facing == 0 ? walk.count : -walk.count;
      if (winding == 0 || winding == 1) continue;
      if (winding > 1) tally->doubled[facing] += length;
      else tally->inverted[facing] += length;
      if (!walk.touched) tally->sure[facing] += length;
      growBox(tally, facing, x, y, z, next);
    }
    z = next;
  }
}

pnResult pnLdi_FindSelfOverlap(const pnLdi *ldi, pnSelfOverlapResult *outResult) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(ldi && outResult);
  double start = pn_clock();
  *outResult = (pnSelfOverlapResult){.box = {{1.0f, 1.0f, 1.0f}, {-1.0f, -1.0f, -1.0f}}};
  pnResult result = pn_ldiReady(ldi);
  if (result != PN_OK || ldi->empty) return result;
  if (ldi->def.rule != PN_INSIDE_WINDING)
    return pn_fail(PN_ERROR_KIND, "self-overlap needs the order of front and back faces: use PN_INSIDE_WINDING");

  const pnLayers *layers = &ldi->image.layers;
  const pnView *view = &layers->view;
  SelfTally tally = {.lo = {{INT32_MAX, INT32_MAX, INT32_MAX}, {INT32_MAX, INT32_MAX, INT32_MAX}}};
  for (uint32_t y = 0; y < view->size; ++y)
    for (uint32_t x = 0; x < view->size; ++x) tallyColumn(&tally, layers, x, y);

  int facing = tally.signedLength < 0;
  double cell = (double)(1 << view->cellShift), piece = view->unit[0] * cell * (view->unit[1] * cell) * view->unit[2];
  bool bounded = pn_imageBounded(&ldi->image);
  outResult->facesInward = facing == 1;
  outResult->minWinding = tally.minWinding;
  outResult->maxWinding = tally.maxWinding;
  outResult->doubledVolume = piece * (double)tally.doubled[facing];
  outResult->invertedVolume = piece * (double)tally.inverted[facing];
  outResult->volume = piece * (double)(tally.doubled[facing] + tally.inverted[facing]);
  // wrong for sure where nothing touches; perhaps wrong wherever something does. A part in 10^12 for the rounding here
  outResult->volumeMin = bounded ? piece * (double)tally.sure[facing] * (1.0 - 1e-12) : 0.0;
  outResult->volumeMax = bounded ? piece * (double)(tally.sure[facing] + tally.touched) * (1.0 + 1e-12) : INFINITY;
  outResult->error = PN_MAX(outResult->volumeMax - outResult->volume, outResult->volume - outResult->volumeMin);
  if (tally.lo[facing][0] < tally.hi[facing][0]) outResult->box = pn_cellBox(view, tally.lo[facing], tally.hi[facing]);
  outResult->time = pn_clock() - start;
  return PN_OK;
}
