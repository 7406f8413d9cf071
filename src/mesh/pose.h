/* pose.h: where the vertices are now. The only hand-off between motion and collision.
 *
 * A pose is a chain: source -> (morph) -> (skin) -> transform. The world position of vertex v is *defined* as what
 * pn_poseVertex computes, in float, in a fixed order, without contraction. It may be asked any number of times,
 * from any thread, and always gives the same bits. */
#ifndef PN_MESH_POSE_H
#define PN_MESH_POSE_H

#include "base/thread.h"
#include "mesh/mesh.h"
#include "mesh/morph.h"
#include "mesh/skin.h"

/* A morph target that takes part. */
typedef struct pnActive {
  uint32_t target;
  float weight;
} pnActive;

/* What moves the vertices of a pose before its transform: one file deform_*.c and one row each, and one table (pose.c). Trees,
 * queries and worlds ask the row, never which motion it is; rules of update and proofs that exploit one say whose they are. */
typedef struct pnMotionRow {
  const char *name;
  const char *movedBy; /* in messages; null: the caller sets its vertices */
  bool isStored; /* the vertices are those of `source`; else they are computed when they are asked for, which is dear */
  bool (*isAsked)(const pnPoseDef *def);   /* does a definition ask for this motion? */
  pnResult (*check)(const pnPoseDef *def); /* and is it in order? Null: there is nothing to check */
  pnResult (*alloc)(pnPose *pose);         /* memory for its inputs; null: there are none */
  void (*release)(pnPose *pose);           /* also after `alloc` has failed */
  pnResult (*rest)(pnPose *pose);          /* inputs at rest, and sourceMaxAbs for them; null: the source is all */
  /* Positions of a list of vertices, `local`: before the transform. Any number of threads may ask. */
  void (*fetch)(const pnPose *pose, bool local, const uint32_t *vertices, uint32_t count, float *out, uint32_t stride);
  /* How far out vertices may be whose coordinates weights have left within `before`; null: as far. */
  pnResult (*reach)(const pnPose *pose, float before, float *outReach);
  /* The numbers that say how it is: vertices, weights. */
  size_t (*countInputs)(const pnPose *pose);
  pnResult (*setInputs)(pnPose *pose, const float *inputs);
  pnResult (*copyInputs)(
      pnPose *pose, const pnPose *from); /* those of a pose of the same mesh and motion, joints too; for pn_copyPose */
} pnMotionRow;

extern const pnMotionRow pn_motionFree, pn_motionMorph, pn_motionSkin;

struct pnPose {
  /* what is asked of every pose of a crowd, side by side */
  const pnMotionRow *motion;
  const pnMesh *mesh;
  const float *source; /* 3 floats a vertex plus one readable float: rest, own copy or shared array */
  uint64_t frame;      /* grows with every change of anything; starts at 1 */
  uint64_t shapeFrame; /* the frame of the last change other than the transform */
  /* Our copies, made when SetVertices needs them or before; 3 * vertexCount + 1 floats. The second is for large meshes and for those
   * that are set with others: they take turns, so that the pose reads the old one until the new one is whole. */
  float *own[2];
  float sourceMaxAbs; /* largest magnitude in source; negative: a shared array nobody has looked through yet; with a
                          morph or skin: the largest that weights and joints allow before the transform */
  bool sourceByMany;  /* several workers have copied it: most of it lies in the caches of others */
  bool hasTransform;  /* false: identity, and the source bits are the world bits */
  pnBox sourceBox;    /* of the vertices in source that are used, or of all, where sourceMaxAbs is known */
  pnMatrix transform;

  const pnMorph *morph;
  const pnSkin *skin;
  float skinMaxAbs; /* skin: as sourceMaxAbs, before the joints */
  float *weights;   /* morph: one a target */
  pnActive *active; /* morph: the weights that are not 0, targets ascending */
  uint32_t activeCount;
  pnMatrix *joints;       /* skin: as given, one a joint */
  pnJointMove *moves;     /* skin: ready to use */
  pnJointMove *nextMoves; /* skin: room for the next ones, and for products along the skeleton */
  pnAffine *products;
  void *state; /* of a motion that is none of these */
};

#define PN_UNKNOWN_MAX_ABS (-1.0f)

/* Looks through an array of the pose's size; PN_ERROR_NUMBER names the first vertex that is not finite. */
pnResult pn_checkNumbers(const pnPose *pose, const float *vertices, pnBox *outBox);
/* New vertices of a pose. The caller says whose and which, the rest is pn_setVertices's. */
typedef struct pnVertexSet {
  pnPose *pose;
  const float *from;
  uint32_t count;
  /* The box of those that were looked through, by how far it goes along x, y, z and against them; what is not finite stays. */
  _Atomic float reach[6];
  float most;    /* the largest magnitude in it, when all were */
  float *to;     /* null: they are looked through, and copied later */
  size_t before; /* numbers of the sets before it */
} pnVertexSet;

/* pnPose_SetVertices of many poses, each once, by all workers where there is enough to do: all of them, or none and *outFailed is the
 * set that is named. */
pnResult pn_setVertices(pnVertexSet *sets, uint32_t count, const pnTasks *tasks, uint32_t *outFailed);

/* For a pose whose vertices will be set: the copies are made, and their memory mapped, before the first frame that needs them. */
void pn_openCopies(pnPose *pose);

/* World positions of a list of vertices, `stride` floats apart (3 or 4) into out. With stride 4 the fourth float is
 * written as 0. The one function everything else calls. */
PN_INLINE void pn_poseFetch(const pnPose *pose, const uint32_t *vertices, uint32_t count, float *out, uint32_t stride) {
  PN_ASSERT(stride == 3 || stride == 4);
  pose->motion->fetch(pose, false, vertices, count, out, stride);
}

/* The same for the vertices first ... first + count - 1: same bits, faster because nothing is gathered. */
void pn_poseFetchRange(const pnPose *pose, uint32_t first, uint32_t count, float *out, uint32_t stride);

/* deform_rigid.c: a box around where the transform of a pose brings the points of a box. */
pnBox pn_moveBox(const pnMatrix *m, const pnBox *box);

/* Are the vertices those of the source? */
PN_INLINE bool pn_isPlain(const pnPose *pose) {
  return pose->motion->isStored && !pose->hasTransform;
}

/* Is it known where all vertices are that are used, without looking at them? Then the box around them; with a transform that of the turned
 * box, which is larger than theirs. */
PN_INLINE bool pn_isBoxKnown(const pnPose *pose) {
  return pose->motion->isStored && pose->sourceMaxAbs >= 0;
}
PN_INLINE pnBox pn_boxOfPose(const pnPose *pose) {
  return pose->hasTransform ? pn_moveBox(&pose->transform, &pose->sourceBox) : pose->sourceBox;
}

/* A pose of a motion that need not be in the table; pnCreatePose finds the one that is asked for. */
pnResult pn_createPose(const pnPoseDef *def, const pnMotionRow *motion, pnPose **outPose);
/* A pose of the same mesh and motion, at rest. */
pnResult pn_createRestPose(const pnPose *like, pnPose **outPose);
/* A pose that follows `from`, and was made at rest like it, becomes as that is, down to the number of its frame. Vertices are copied if they
 * can change and have changed. When it fails, for memory, nothing has changed. */
pnResult pn_copyPose(pnPose *pose, const pnPose *from);

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
/* The same of `count` vertices that stand one after the other, here and there. */
void pn_moveRange(const pnMatrix *m, const float *source, uint32_t count, float *out);
void pn_moveRigid(const pnMatrix *m, uint32_t count, float *inOut, uint32_t stride);

/* Rows of unit length at right angles, and not mirrored, within the tolerance of pnPose_SetTransform? */
bool pn_isRigid(const pnMatrix *m);

/* Does every point with coordinates up to maxAbs stay finite under the rigid map m, in every step of the sum? */
bool pn_rigidFits(const pnMatrix *m, float maxAbs);

#endif
