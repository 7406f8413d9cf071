/* impact.c: the first contact of moving points: the public names. */
#include "geom/impact.h"

#include "base/fenv.h"

static pnMovingDouble widen(const pnMoving *points) {
  pnMovingDouble wide;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 3; ++j) {
      wide.from[i][j] = points->from[i][j];
      wide.to[i][j] = points->to[i][j];
    }
  }
  return wide;
}

pnImpactSpan pnImpactVertexFace(const pnMoving *points) {
  PN_FLOAT_SCOPE;
  pnMovingDouble wide = widen(points);
  return pnImpactVertexFaceDouble(&wide);
}

pnImpactSpan pnImpactEdgeEdge(const pnMoving *points) {
  PN_FLOAT_SCOPE;
  pnMovingDouble wide = widen(points);
  return pnImpactEdgeEdgeDouble(&wide);
}

static pnImpactSpan find(pn_Features features, const pnMovingDouble *points) {
  pnImpactSpan span = {0};
  pn_Verdict verdict = pn_impactFilter(features, points, &span);
  return verdict == PN_UNCERTAIN ? pn_impactExact(features, points) : span;
}

pnImpactSpan pnImpactVertexFaceDouble(const pnMovingDouble *points) {
  PN_FLOAT_SCOPE;
  return find(PN_VERTEX_FACE, points);
}

pnImpactSpan pnImpactEdgeEdgeDouble(const pnMovingDouble *points) {
  PN_FLOAT_SCOPE;
  return find(PN_EDGE_EDGE, points);
}
