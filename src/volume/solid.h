/* solid.h: a body seen as something with an inside. Its triangles by welded vertex, and where those vertices are. */
#ifndef PN_VOLUME_SOLID_H
#define PN_VOLUME_SOLID_H

#include "pinch/volume.h"
#include "mesh/pose.h"

/* Only vertices that triangles use count, each under one number ("corner"): a vertex welded onto another is the other.
 * That is what keeps a closed mesh closed when a seam's two copies are told to move apart. */
typedef struct pnSolid {
  const pnPose *pose;
  const uint32_t *triangles; /* 3 corners a triangle: ownTriangles, or the mesh's when corners are its vertices */
  uint32_t *ownTriangles;
  uint32_t *sources; /* vertex of each corner; null when corners are the mesh's vertices */
  uint32_t triangleCount, vertexCount, cornerCount;
  bool watertight; /* the mesh passed the check of its rule; false only for PN_INSIDE_PARITY on an open mesh */

  const float *positions; /* 3 floats a corner: the pose's own array when that is the world, or ownPositions */
  float *ownPositions;
  uint64_t frame; /* of the positions; 0: none yet */
  pnBox box;      /* of the positions; empty (min > max) without triangles */
} pnSolid;

/* Checks the mesh by `rule` (see pnInsideRule) and numbers the corners. On failure nothing is held. */
pnResult pn_solidInit(pnSolid *solid, const pnPose *pose, pnInsideRule rule);
void pn_solidFree(pnSolid *solid);

/* Brings positions and box up to date; *outMoved says whether the pose had changed. */
pnResult pn_solidRefresh(pnSolid *solid, const pnTasks *tasks, bool *outMoved);

size_t pn_solidBytes(const pnSolid *solid);

#endif
