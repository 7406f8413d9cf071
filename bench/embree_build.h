/* embree_build.h: Embree's build of one body, for comparison; there when PN_HAVE_EMBREE_BUILD is. */
#ifndef PN_BENCH_EMBREE_BUILD_H
#define PN_BENCH_EMBREE_BUILD_H

#include "peer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A scene of one user geometry is made anew and committed on so many threads; the device and the geometry are there. Returns
 * seconds. Qualities: 0 low, which Embree offers for bodies that change in every frame, 1 medium, 2 refit (the first build). */
double pn_embreeBuild(const pnBenchBody *body, const float *vertices, int quality, uint32_t threads,
                      double (*clock)(void));

#ifdef __cplusplus
}
#endif

#endif
