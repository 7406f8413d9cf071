/* pose.h: where the vertices are now. The only hand-off between motion and collision.
 *
 * A pose is a chain: source -> (morph) -> (skin) -> transform. The world position of vertex v is *defined* as what
 * pn_poseVertex computes, in float, in a fixed order, without contraction. It may be asked any number of times,
 * from any thread, and always gives the same bits. */
#ifndef PN_MESH_POSE_H
#define PN_MESH_POSE_H

#include "mesh/mesh.h"
#include "mesh/morph.h"
#include "mesh/skin.h"

/* A morph target that takes part. */
typedef struct pnActive {
  uint32_t target;
  float weight;
} pnActive;

struct pnPose {
  const pnMesh *mesh;
  const pnMorph *morph;
  const pnSkin *skin;
  const float *source; /* 3 floats a vertex plus one readable float: rest, own copy or shared array */
  float *own;          /* our copy, made at the first SetVertices; 3 * vertexCount + 1 floats */
  float sourceMaxAbs;  /* largest magnitude in source; negative: a shared array nobody has looked through yet; with a
                          morph or skin: the largest that weights and joints allow before the transform */
  float skinMaxAbs;    /* skin: the same before the joints */
  pnMatrix transform;
  bool hasTransform;   /* false: identity, and the source bits are the world bits */
  uint64_t frame;      /* grows with every change of anything; starts at 1 */
  uint64_t shapeFrame; /* the frame of the last change other than the transform */
  float *weights;      /* morph: one a target */
  pnActive *active;    /* morph: the weights that are not 0, targets ascending */
  uint32_t activeCount;
  pnMatrix *joints;       /* skin: as given, one a joint */
  pnJointMove *moves;     /* skin: ready to use */
  pnJointMove *nextMoves; /* skin: room for the next ones, and for products along the skeleton */
  pnAffine *products;
};

#define PN_UNKNOWN_MAX_ABS (-1.0f)

/* Looks through an array of the pose's size; PN_ERROR_NUMBER names the first vertex that is not finite. */
pnResult pn_checkNumbers(const pnPose *pose, const float *vertices, float *outMaxAbs);

/* World positions of a list of vertices, `stride` floats apart (3 or 4) into out. With stride 4 the fourth float is
 * written as 0. The one function everything else calls. */
void pn_poseFetch(const pnPose *pose, const uint32_t *vertices, uint32_t count, float *out, uint32_t stride);

/* The same for the vertices first ... first + count - 1: same bits, faster because nothing is gathered. */
void pn_poseFetchRange(const pnPose *pose, uint32_t first, uint32_t count, float *out, uint32_t stride);

/* For whoever changes a pose: a new frame, of the shape too unless only the transform changed. */
PN_INLINE void pn_poseTouch(pnPose *pose, bool shape) {
  ++pose->frame;
  if (shape) pose->shapeFrame = pose->frame;
}

/* ---------------------------------------------------------------- the stages of the chain, one file each */

/* deform_free.c: the stored vertices, gathered. */
void pn_fetchFree(const float *source, const uint32_t *vertices, uint32_t count, float *out, uint32_t stride);

/* deform_rigid.c: the transform, of stored vertices while gathering them and of fetched ones in place. The bits are
 * the same either way. */
void pn_fetchRigid(const pnMatrix *m, const float *source, const uint32_t *vertices, uint32_t count, float *out,
                   uint32_t stride);
void pn_moveRigid(const pnMatrix *m, uint32_t count, float *inOut, uint32_t stride);

/* deform_morph.c: weights into positions, gathered, and moved by the transform unless `local`. Memory for weights, and
 * those of a new pose. */
void pn_fetchMorph(const pnPose *pose, bool local, const uint32_t *vertices, uint32_t count, float *out,
                   uint32_t stride);
pnResult pn_allocMorph(pnPose *pose);
void pn_freeMorph(pnPose *pose);
void pn_restMorph(pnPose *pose);

/* deform_skin.c: joints, on fetched vertices in place; the joints of a new pose and their memory; and the largest
 * magnitude that joints make of one, PN_ERROR_NUMBER when it leaves the range. */
void pn_moveSkin(const pnPose *pose, const uint32_t *vertices, uint32_t count, float *inOut, uint32_t stride);
pnResult pn_allocJoints(pnPose *pose);
void pn_freeJoints(pnPose *pose);
pnResult pn_restSkin(pnPose *pose);
pnResult pn_skinReach(const pnPose *pose, const pnJointMove *moves, float reach, float *outReach);

/* Rows of unit length at right angles, and not mirrored, within the tolerance of pnPose_SetTransform? */
bool pn_isRigid(const pnMatrix *m);

/* Does every point with coordinates up to maxAbs stay finite under the rigid map m, in every step of the sum? */
bool pn_rigidFits(const pnMatrix *m, float maxAbs);

#endif
