/* near.h: the triangle of a tree that is closest to a point, as the rooms to the right ask for it: of chosen triangles only, within
 * a distance that is known already, one point at a time from any thread. */
#ifndef PN_QUERY_NEAR_H
#define PN_QUERY_NEAR_H

#include "geom/distance.h"
#include "pinch/query.h"
#include "query/lanes.h"

/* A triangle where it is now. */
typedef struct pnNearFace {
  uint32_t triangle;
  float corner[3][4];
  double normal[3]; /* of length 1, or 0 (pn_findNormal); of one of a few */
} pnNearFace;

/* Which triangles count; zeroed: all. */
typedef struct pnNearFilter {
  const uint32_t *wanted; /* those with this number; null: all */
  uint32_t number;
  const pnNearFace
      *few; /* all of those, where they are so few that none need be looked for; null: they are looked for */
  uint32_t fewCount;
  const uint32_t *marks; /* not those with this mark or a larger one; null: none are left out */
  uint32_t mark;
} pnNearFilter;

/* What is known. Before a search: nothing farther than distance2 is of interest (INFINITY: anything is). */
typedef struct pnNear {
  double distance2;  /* squared */
  double point[3];   /* of the triangle */
  uint32_t triangle; /* PN_NONE: none within the distance. Of several at one distance the smallest number */
  pnFeature feature; /* where on it */
} pnNear;

/* A triangle by number, without its normal; that; and trying one. */
void pn_fetchFace(const pnPose *pose, uint32_t triangle, pnNearFace *out);
void pn_findNormal(pnNearFace *face);
void pn_tryFace(const pnNearFace *face, const double p[3], pnNear *near);
/* A bound for a point by the answer for another one, `before`, which was at q: how far it is from the same triangle, squared; nothing farther is of
 * interest. Who asks for many points mostly asks for neighbours one after the other. INFINITY where it would not help. */
double pn_boundNear(const pnPose *pose, const double q[3], const pnNear *before, const double p[3]);

/* The closest triangle of an updated tree. What it answers is what pn_tryFace on every wanted triangle would: the same bits. */
void pn_findNear(pnTree *tree, const pnLattice *lattice, const double p[3], const pnNearFilter *filter, pnFresh *fresh,
                 pnNear *near);

/* As the door gives it. */
pnClosest pn_publishNear(const pnNear *near, pnBodyId body);
/* PN_ERROR_NUMBER for a point that is not finite, PN_ERROR_ARGUMENT for a distance that is none. */
pnResult pn_checkPoints(const float *points, uint32_t count, double farthest);

/* How often the surfaces of parts wind around a point. */
typedef struct pnWindings {
  int32_t *counts;    /* one a part: 0 until its surface is met, then twice the winding and 1 more */
  uint32_t *parts;    /* those whose surface is met, each once, in no order; room for all */
  uint32_t partCount; /* of these */
} pnWindings;

PN_INLINE int32_t pn_windingOf(const pnWindings *windings, uint32_t part) {
  return (windings->counts[part] - (windings->counts[part] & 1)) / 2;
}

/* The parts of a mesh around a point: how often the surface of each winds around it, exactly. A line from p towards larger x is
 * followed through the updated tree, and every triangle of the mesh that it passes is counted for its part: +1 where it goes out,
 * -1 where it goes in. Counts and their number are set to 0 by the caller. Meant for points that are on no triangle. */
void pn_findWindings(pnTree *tree, const float p[3], const uint32_t *partOf, pnFresh *fresh, pnWindings *windings);

#endif
