/* impact.c: the first contact of moving points: the public names. The filter first, whole numbers where it is in doubt. */
#include "geom/impact.h"

#include "base/fenv.h"
#include "geom/whole.h"

pnImpactSpan pn_impactExact(pn_Features features, const pnMovingDouble *points) {
  uint64_t room[PN_SLATE_LIMBS];
  uint32_t limbs;
  return pn_impactExactOn(features, points, room, &limbs);
}

pnImpactSpan pn_impactOfPlaces(pn_Features features, const pnD2 *const places[4], double until, bool *outUncertain) {
  pnImpactSpan span = {0};
  *outUncertain = pn_impactFilter(features, places, until, &span) == PN_UNCERTAIN;
  if (PN_LIKELY(!*outUncertain)) return span;
  pnMovingDouble points;
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 3; ++k) {
      points.from[i][k] = places[i][k][0];
      points.to[i][k] = places[i][k][1];
    }
  }
  return pn_impactExact(features, &points);
}

static pnImpactSpan findDouble(pn_Features features, const pnMovingDouble *points) {
  pnD2 x[4][3];
  bool uncertain;
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 3; ++k) x[i][k] = (pnD2){points->from[i][k], points->to[i][k]};
  const pnD2 *const places[4] = {x[0], x[1], x[2], x[3]};
  return pn_impactOfPlaces(features, places, 1.0, &uncertain);
}

static pnImpactSpan find(pn_Features features, const pnMoving *points) {
  pnD2 x[4][3];
  bool uncertain;
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 3; ++k) x[i][k] = (pnD2){points->from[i][k], points->to[i][k]};
  const pnD2 *const places[4] = {x[0], x[1], x[2], x[3]};
  return pn_impactOfPlaces(features, places, 1.0, &uncertain);
}

pnImpactSpan pnImpactVertexFace(const pnMoving *points) {
  PN_FLOAT_SCOPE;
  return find(PN_VERTEX_FACE, points);
}

pnImpactSpan pnImpactEdgeEdge(const pnMoving *points) {
  PN_FLOAT_SCOPE;
  return find(PN_EDGE_EDGE, points);
}

pnImpactSpan pnImpactVertexFaceDouble(const pnMovingDouble *points) {
  PN_FLOAT_SCOPE;
  return findDouble(PN_VERTEX_FACE, points);
}

pnImpactSpan pnImpactEdgeEdgeDouble(const pnMovingDouble *points) {
  PN_FLOAT_SCOPE;
  return findDouble(PN_EDGE_EDGE, points);
}
