/* avatar.h: a skinned figure by formula that walks on the spot, for rooms and crowds. [Mujika, section 6]: 44 345 vertices.
 *
 * Five closed tubes (trunk with head, arms, legs) around a skeleton of 22 joints; near a joint a vertex follows two or
 * three of them. Metres, y up, facing +z, soles at y = 0, 1.8 high. The same bits on every machine. */
#ifndef PINCH_SCENES_AVATAR_H
#define PINCH_SCENES_AVATAR_H

#include "pinch/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PN_AVATAR_JOINTS 22u

typedef struct pnAvatar {
  pnMesh *mesh;
  pnSkin *skin;         /* linear, PN_AVATAR_JOINTS */
  pnSkin *weightedSkin; /* the same skeleton in the paper's way: one joint a vertex */
} pnAvatar;

/* About so many vertices (within 3 %), 1000 to 200000. Errors: PN_ERROR_ARGUMENT, PN_ERROR_MEMORY. */
pnResult pnCreateAvatar(uint32_t vertexCount, pnAvatar *outAvatar);
void pnDestroyAvatar(pnAvatar *avatar); /* a zeroed one is allowed; poses of it must be gone */

/* The joints at a moment of the walk, one stride a unit of `phase`: for the linear skin (world times inverse bind), or
 * each joint's own motion, for the weighted one. */
void pnAvatar_Walk(double phase, pnMatrix outJoints[PN_AVATAR_JOINTS]);
void pnAvatar_WalkWeighted(double phase, pnMatrix outJoints[PN_AVATAR_JOINTS]);

#ifdef __cplusplus
}
#endif

#endif
