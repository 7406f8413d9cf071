/* impact_many.c: many questions whether moving points meet, eight at a time: lanes of floats first (impact_lanes.h), then the filter and
 * whole numbers for what they leave open. */
#include "geom/impact_lanes.h"

#include "base/fenv.h"

pnImpactSpan pn_impactOfOpenPlaces(pn_Features features, const pnD2 *const places[4], double until,
                                   bool *outUncertain) {
  pnImpactSpan span = {0};
  *outUncertain = false;
  if (PN_LIKELY(pn_impactFilterOpen(features, places, until, &span) != PN_UNCERTAIN)) return span;
  return pn_impactOfPlaces(features, places, until, outUncertain);
}

static void findMany(pn_Features features, const pnMovingDouble *points, size_t count, pnImpactSpan *outSpans) {
  pnD2 x[8][4][3];
  const pnD2 *places[8][4];
  for (int n = 0; n < 32; ++n) places[n / 4][n % 4] = x[n / 4][n % 4];
  for (size_t first = 0; first < count; first += 8) {
    uint32_t here = (uint32_t)PN_MIN(count - first, 8);
    for (uint32_t n = 0; n < 8; ++n) {
      /* the last one again where there are no more */
      const pnMovingDouble *p = &points[first + PN_MIN(n, here - 1)];
      for (int i = 0; i < 12; ++i) x[n][i / 3][i % 3] = (pnD2){p->from[i / 3][i % 3], p->to[i / 3][i % 3]};
    }
    uint32_t apart = pn_impactsApart8(features, (pn_EightPlaces)places, 1.0);
    for (uint32_t n = 0; n < here; ++n) {
      bool uncertain;
      outSpans[first + n] = (pnImpactSpan){0};
      if (apart >> n & 1) continue;
      outSpans[first + n] = pn_impactOfOpenPlaces(features, (const pnD2 *const *)places[n], 1.0, &uncertain);
    }
  }
}

void pnImpactsVertexFace(const pnMovingDouble *points, size_t count, pnImpactSpan *outSpans) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(count == 0 || (points && outSpans));
  findMany(PN_VERTEX_FACE, points, count, outSpans);
}

void pnImpactsEdgeEdge(const pnMovingDouble *points, size_t count, pnImpactSpan *outSpans) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(count == 0 || (points && outSpans));
  findMany(PN_EDGE_EDGE, points, count, outSpans);
}
