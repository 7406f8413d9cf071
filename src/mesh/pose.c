/* pose.c: where the vertices are now. Life of a pose, and the chain that answers for a vertex.
 *
 *   source (stored vertices) -> morph -> skin -> transform
 *
 * Each motion is a file of its own (deform_*.c) that sets its inputs and does its stage, and a row of a table. The chain is evaluated when
 * somebody asks, for the vertices asked for, into the asker's memory: nothing is cached, so nothing goes stale and any
 * number of threads may ask. */
#include "mesh/pose.h"

#include "base/fenv.h"
#include "base/memory.h"

#include <string.h>

/* ---------------------------------------------------------------- the chain */

/* Vertex numbers made at a time for a range: enough to hide the call, few enough for the stack and first cache. */
#define RANGE_BATCH 128

void pn_poseFetchRange(const pnPose *pose, uint32_t first, uint32_t count, float *out, uint32_t stride) {
  // stored vertices as they are: one copy
  if (pn_isPlain(pose) && stride == 3) {
    if (count) memcpy(out, pose->source + 3 * (size_t)first, 3 * (size_t)count * sizeof(float));
    return;
  }
  if (pose->motion->isStored && stride == 3) {
    pn_moveRange(&pose->transform, pose->source + 3 * (size_t)first, count, out);
    return;
  }

  uint32_t vertices[RANGE_BATCH];
  while (count > 0) {
    uint32_t batch = PN_MIN(count, RANGE_BATCH);
    for (uint32_t i = 0; i < batch; ++i) vertices[i] = first + i;
    pn_poseFetch(pose, vertices, batch, out, stride);
    first += batch;
    count -= batch;
    out += (size_t)batch * stride;
  }
}

/* ---------------------------------------------------------------- life of a pose */

pnPoseDef pnDefaultPoseDef(void) {
  return (pnPoseDef){0};
}

/* Rest vertices, weights and joints and no transform; does not count as a change. Fails only when rest weights and a skin
 * together leave the range of float, which the pose's creation finds out. */
static pnResult setToRest(pnPose *pose) {
  pose->source = pose->mesh->vertices;
  pose->sourceMaxAbs = pose->mesh->maxAbs;
  pose->sourceBox = pose->mesh->box;
  pose->transform = pnMatrix_Identity();
  pose->hasTransform = false;
  return pose->motion->rest ? pose->motion->rest(pose) : PN_OK;
}

/* The first that a definition asks for; the last is always asked for. */
static const pnMotionRow *const s_motions[] = {&pn_motionSkin, &pn_motionMorph, &pn_motionFree};

pnResult pnCreatePose(const pnPoseDef *def, pnPose **outPose) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(def && outPose);
  *outPose = NULL;
  if (!def->mesh) return pn_fail(PN_ERROR_ARGUMENT, "pose: the definition has no mesh");
  const pnMotionRow *const *motion = s_motions;
  while (!(*motion)->isAsked(def)) ++motion;
  pnResult result = (*motion)->check ? (*motion)->check(def) : PN_OK;
  return result == PN_OK ? pn_createPose(def, *motion, outPose) : result;
}

pnResult pn_createPose(const pnPoseDef *def, const pnMotionRow *motion, pnPose **outPose) {
  *outPose = NULL;
  pnPose *pose = pn_allocZero(sizeof *pose);
  if (!pose) return pn_failMemory(sizeof *pose);
  pose->motion = motion;
  pose->mesh = def->mesh;
  pose->morph = def->morph;
  pose->skin = def->skin;
  pose->frame = pose->shapeFrame = 1;
  pnResult result = motion->alloc ? motion->alloc(pose) : PN_OK;
  if (result == PN_OK) result = setToRest(pose);
  if (result != PN_OK) {
    pnDestroyPose(pose);
    return result;
  }
  *outPose = pose;
  return PN_OK;
}

pnResult pn_createRestPose(const pnPose *like, pnPose **outPose) {
  const pnPoseDef def = {.mesh = like->mesh, .morph = like->morph, .skin = like->skin};
  return pn_createPose(&def, like->motion, outPose);
}

pnResult pn_copyPose(pnPose *pose, const pnPose *from) {
  bool differs = pose->shapeFrame != from->shapeFrame; /* both were at rest in their first frames */
  pnResult result = differs ? pose->motion->copyInputs(pose, from) : PN_OK;
  if (result != PN_OK) return result;
  pose->sourceMaxAbs = from->sourceMaxAbs;
  pose->sourceBox = from->sourceBox;
  pose->skinMaxAbs = from->skinMaxAbs;
  pose->transform = from->transform;
  pose->hasTransform = from->hasTransform;
  pose->frame = from->frame;
  pose->shapeFrame = from->shapeFrame;
  return PN_OK;
}

void pnDestroyPose(pnPose *pose) {
  if (!pose) return;
  if (pose->motion->release) pose->motion->release(pose);
  for (int i = 0; i < 2; ++i) pn_free(pose->own[i], pn_bytes(3 * (size_t)pose->mesh->vertexCount + 1, sizeof(float)));
  pn_free(pose, sizeof *pose);
}

void pnPose_Reset(pnPose *pose) {
  PN_FLOAT_SCOPE;
  (void)setToRest(pose);
  pn_poseTouch(pose, true);
}

/* ---------------------------------------------------------------- getters */

const pnMesh *pnPose_GetMesh(const pnPose *pose) {
  return pose->mesh;
}

uint64_t pnPose_GetFrame(const pnPose *pose) {
  return pose->frame;
}

pnVec3 pnPose_GetVertex(const pnPose *pose, uint32_t v) {
  PN_FLOAT_SCOPE;
  bool inRange = v < pose->mesh->vertexCount;
  PN_ASSERT(inRange);
  float p[3] = {0, 0, 0};
  if (inRange) pn_poseFetch(pose, &v, 1, p, 3);
  return (pnVec3){p[0], p[1], p[2]};
}

void pnPose_GetVertices(const pnPose *pose, float *outVertices) {
  PN_FLOAT_SCOPE;
  pn_poseFetchRange(pose, 0, pose->mesh->vertexCount, outVertices, 3);
}
