/* impact.h: the first contact of moving points, as the files of this room share it. See pinch/geom.h for the question.
 *
 *   impact.c        the public names
 *   impact_many.c   many questions at once, and what is left open by
 *   impact_lanes.c  in front of the filter, several candidates at a time
 *   impact_filter.c the fast filter in front
 *   impact_exact.c  the last word, in whole numbers
 *   impact_safe.c   how long a distance is kept, conservatively
 */
#ifndef PN_GEOM_IMPACT_H
#define PN_GEOM_IMPACT_H

#include "pinch/geom.h"
#include "geom/simd_whole.h"
#include "geom/triangle.h"

/* Which features four points are: a vertex and the three corners of a face, or two ends of an edge and two of another. */
typedef enum pn_Features { PN_VERTEX_FACE, PN_EDGE_EDGE } pn_Features;

/* The question for four points by where they are: each place is x, y and z, and of each the begin and the end of the step side
 * by side. This is what pinch/geom.h's functions and swept queries call. A contact after `until` (1: none is) may be left out. */
pnImpactSpan pn_impactOfPlaces(pn_Features features, const pnD2 *const places[4], double until, bool *outUncertain);

/* The same for what impact_lanes.h has left open. */
pnImpactSpan pn_impactOfOpenPlaces(pn_Features features, const pnD2 *const places[4], double until, bool *outUncertain);

/* What the filter is certain of; `span` is set when it is PN_MEETING. PN_APART: up to `until`. */
pn_Verdict pn_impactFilter(pn_Features features, const pnD2 *const places[4], double until, pnImpactSpan *span);

/* The same where directions have hardly a chance: they are tried last. */
pn_Verdict pn_impactFilterOpen(pn_Features features, const pnD2 *const places[4], double until, pnImpactSpan *span);

/* A time up to which the features are more than `separation` apart, for certain, from t = 0 on: 1 for the whole step, 0 when that is not
 * so at the start. It is not the largest there is: about a millionth of the step is given away. */
double pn_safeTime(pn_Features features, const pnD2 *const places[4], double separation);

/* The answer in whole numbers, without a filter in front. */
pnImpactSpan pn_impactExact(pn_Features features, const pnMovingDouble *points);

/* The same on room for PN_SLATE_LIMBS limbs (whole.h), and how many of them were used: for the test of the size. */
pnImpactSpan pn_impactExactOn(pn_Features features, const pnMovingDouble *points, PN_GLOBAL uint64_t *room,
                              uint32_t *outLimbs);

#endif
