/* impact_lanes.h: which of eight pairs of moving features are surely apart? It stands in front of the filter (impact_filter.c) where
 * there are many candidates: nine of ten are decided here, in floats, several side by side.
 *
 * Only the first part of that filter is asked: along a fixed direction one feature is behind the other at both ends of the step, and
 * so at all times between. What is not decided here is asked there, so the answers are the same with it and without. */
#ifndef PN_GEOM_IMPACT_LANES_H
#define PN_GEOM_IMPACT_LANES_H

#include "geom/impact.h"

/* Where the four points of eight candidates are (see pn_impactOfPlaces). */
typedef const pnD2 *const (*pn_EightPlaces)[4];

/* A bit for each candidate that is surely apart from t = 0 to `until`. */
uint32_t pn_impactsApart8(pn_Features features, pn_EightPlaces places, double until);

/* The two that it chooses from: for tests. The second is for machines that have AVX2, and only where pn_hasImpactLanes8. */
uint32_t pn_impactsApart8By4(pn_Features features, pn_EightPlaces places, float until);
uint32_t pn_impactsApart8Avx2(pn_Features features, pn_EightPlaces places, float until);
bool pn_hasImpactLanes8(void);

#endif
