/* query_rivals.h: rays and closest points by Embree, distances by FCL, for comparison; there when PN_HAVE_EMBREE_QUERY and
 * PN_HAVE_FCL_QUERY are. One thread. */
#ifndef PN_BENCH_QUERY_RIVALS_H
#define PN_BENCH_QUERY_RIVALS_H

#include "pinch/query.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A body, as arrays. */
typedef struct pnRivalMesh {
  const float *vertices;
  const uint32_t *triangles;
  uint32_t vertexCount, triangleCount;
} pnRivalMesh;

typedef struct pnEmbreeQuery pnEmbreeQuery;
/* robust: the flag with which Embree promises that no ray slips between two triangles. Its best build quality. */
pnEmbreeQuery *pn_embreeOpen(const pnRivalMesh *mesh, bool robust);
void pn_embreeClose(pnEmbreeQuery *rival);
void pn_embreeFirst(pnEmbreeQuery *rival, const pnRay *rays, uint32_t count, uint32_t *outTriangles, float *outT);
void pn_embreeBlocked(pnEmbreeQuery *rival, const pnRay *rays, uint32_t count, bool *outBlocked);
/* rtcPointQuery, the distance to a triangle measured by a callback in float. */
void pn_embreeClosest(pnEmbreeQuery *rival, const float *points, uint32_t count, float *outDistances);

typedef struct pnFclQuery pnFclQuery;
/* OBBRSS, FCL's choice for distances. */
pnFclQuery *pn_fclOpen(const pnRivalMesh *mesh);
void pn_fclClose(pnFclQuery *rival);
/* b stands moved by the columns of m. */
double pn_fclDistance(pnFclQuery *a, pnFclQuery *b, const pnMatrix *m, pnVec3 *outOnA, pnVec3 *outOnB);

#ifdef __cplusplus
}
#endif

#endif
