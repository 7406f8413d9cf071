/* skin.h: joints and weights of a mesh, as poses and trees see them.
 *
 * Influences are kept by vertex and only those that count: most vertices of a character follow one or two joints. */
#ifndef PN_MESH_SKIN_H
#define PN_MESH_SKIN_H

#include "mesh/mesh.h"

#include <math.h>

#define PN_MAX_JOINTS 65536u
#define PN_MAX_INFLUENCES 8u

/* How far from 1 the weights kept for a vertex may sum: those of a definition this close are taken as they are, others
 * are divided by their sum and rounded, which leaves less than 8 half units of 2^-24. Bounds of trees count on it. */
#define PN_WEIGHT_SLACK 0x1p-21

typedef struct pnInfluence {
  float weight; /* above 0; weighted mode: 0 too */
  uint32_t joint;
} pnInfluence;

struct pnSkin {
  const pnMesh *mesh;
  pnSkinMode mode;
  uint32_t jointCount;
  uint32_t
      *influenceFirst; /* vertexCount + 1: the influences of vertex v are [influenceFirst[v], influenceFirst[v + 1]) */
  pnInfluence *influences; /* of one vertex: in the order of the definition */
  uint32_t *parents;       /* weighted */
  pnVec3 *pivots;          /* weighted */
  double weightError;
  uint32_t weightErrorVertex;
};

/* An affine map in double, while it is being worked out. */
typedef struct pnAffine {
  double m[3][4];
} pnAffine;

/* A joint of a pose, ready to move vertices. */
typedef struct pnJointMove {
  float column[4][4]; /* linear: the matrix; weighted: the product of the joints above; the fourth row is zero */
  float turn[4];      /* weighted: the unit quaternion x, y, z, w >= 0 of the joint's own rotation */
  float slide[4];     /* weighted: what it adds to the rotation about the pivot */
} pnJointMove;

/* The part of a rotation that a vertex of this weight follows. The length is at least 0.7: turn[3] is not negative. */
PN_INLINE void pn_partTurn(const float turn[4], float weight, float out[4]) {
  float x = weight * turn[0], y = weight * turn[1], z = weight * turn[2], w = (1 - weight) + weight * turn[3];
  float length = sqrtf(((x * x + y * y) + z * z) + w * w);
  out[0] = x / length;
  out[1] = y / length;
  out[2] = z / length;
  out[3] = w / length;
}

/* Largest magnitude of each coordinate of a vertex that this joint alone has moved, in any step of its sum, when the
 * coordinates before were up to `reach`. In double, good to 1e-15. */
void pn_jointReach(const pnSkin *skin, const pnJointMove *move, uint32_t joint, double reach, double out[3]);

#endif
