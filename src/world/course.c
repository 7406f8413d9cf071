/* course.c: see course.h. */
#include "world/course.h"

#include "collide/sweep.h"
#include "geom/box.h"
#include "tree/tree.h"

#include <string.h>

/* The pose that a body follows. */
static const pnPose *poseOf(const pnBody *body) {
  return body->soup ? pnSoup_GetPose(body->soup) : body->pose ? body->pose : pnTree_GetPose(body->tree);
}

static pnResult ensureSweep(const pnBody *body, pnCourse *course) {
  if (course->sweep) return PN_OK;
  return body->soup ? pnCreateSoupSweep(body->soup, &course->sweep)
                    : pnCreateSweep(pnPose_GetMesh(poseOf(body)), &course->sweep);
}

static size_t copyBytes(const pnBody *body) {
  return pn_bytes(3 * (size_t)poseOf(body)->mesh->vertexCount + 1, sizeof(float)); /* one that may be read */
}

/* Vertices of a mesh never change, others are copied when they have. */
static pnResult keepSource(const pnBody *body, pnCourse *course) {
  const pnPose *pose = poseOf(body);
  bool isMesh = pose->source == pose->mesh->vertices;
  if (course->shapeFrame == pose->shapeFrame) return PN_OK;
  if (!isMesh && !course->copy) {
    course->copy = pn_allocZero(copyBytes(body));
    if (!course->copy) return pn_failMemory(copyBytes(body));
  }
  if (!isMesh) memcpy(course->copy, pose->source, copyBytes(body) - sizeof(float));
  course->source = isMesh ? pose->source : course->copy;
  course->shapeFrame = pose->shapeFrame;
  return PN_OK;
}

/* One end of the sweep, as this pose has it. */
static pnResult setEnd(const pnBody *body, pnCourse *course, const pnPose *pose, int end) {
  pnResult result = ensureSweep(body, course);
  if (result != PN_OK) return result;
  result = end ? pnSweep_SetEnd(course->sweep, pose) : pnSweep_SetBegin(course->sweep, pose);
  course->frames[end] = result == PN_OK ? pose->frame : 0;
  return result;
}

pnResult pn_beginCourse(pnBody *body) {
  const pnPose *pose = poseOf(body);
  if (!body->course) body->course = pn_allocZero(sizeof(pnCourse));
  pnCourse *course = body->course;
  if (!course) return pn_failMemory(sizeof(pnCourse));
  bool stands = course->hasBegun && course->begun == pose->frame && !body->soup; /* since the step before began */
  if (stands) return PN_OK;
  course->hasBegun = false;
  course->isKnown = !body->soup && pn_isBoxKnown(pose);
  pnResult result = course->isKnown ? keepSource(body, course) : setEnd(body, course, pose, 0);
  if (result != PN_OK) return result;
  course->transform = pose->transform;
  course->hasTransform = pose->hasTransform;
  if (course->isKnown) course->box = pn_boxOfPose(pose);
  course->begun = pose->frame;
  course->hasBegun = true;
  return PN_OK;
}

pnResult pn_sweepOfCourse(pnBody *body, pnSweep **outSweep) {
  pnCourse *course = body->course;
  const pnPose *pose = poseOf(body);
  pnResult result = PN_OK;
  if (course->isKnown && course->frames[0] != course->begun) {
    pnPose then = *pose; /* as it was: a pose whose vertices are stored is asked for nothing else */
    then.source = course->source;
    then.transform = course->transform;
    then.hasTransform = course->hasTransform;
    then.frame = course->begun;
    result = setEnd(body, course, &then, 0);
  }
  /* a soup changes without telling: its end was set when its box was asked for */
  if (result == PN_OK && !body->soup && course->frames[1] != pose->frame) result = setEnd(body, course, pose, 1);
  *outSweep = course->sweep;
  return result;
}

/* Wider by half the margin and the rounding of that, which is relative to where it is. */
static pnBox widen(pnBox box, double margin) {
  float *lo = &box.min.x, *hi = &box.max.x;
  for (int k = 0; margin > 0 && k < 3; ++k) {
    lo[k] = (float)PN_MAX(lo[k] - 0.5 * margin - 0x1p-22 * (fabs((double)lo[k]) + margin), -(double)FLT_MAX);
    hi[k] = (float)PN_MIN(hi[k] + 0.5 * margin + 0x1p-22 * (fabs((double)hi[k]) + margin), (double)FLT_MAX);
  }
  return box;
}

pnResult pn_boxOfCourse(pnBody *body, double margin, const pnTasks *tasks, pnBox *outBox) {
  const pnPose *pose = poseOf(body);
  *outBox = pn_emptyBox();
  pnResult result = body->course && body->course->hasBegun ? PN_OK : pn_beginCourse(body);
  if (result != PN_OK) return result;
  pnCourse *course = body->course;
  if (course->isKnown && pn_isBoxKnown(pose)) {
    pnBox now = pn_boxOfPose(pose);
    *outBox = widen(pn_unionBox(&course->box, &now), margin);
    return PN_OK;
  }
  pnSweep *sweep;
  result = body->soup ? setEnd(body, course, pose, 1) : PN_OK;
  if (result == PN_OK) result = pn_sweepOfCourse(body, &sweep);
  if (result != PN_OK || sweep->triangleCount == 0) return result; /* a soup may be empty */
  result = pn_updateSweep(sweep, 1.0, margin, tasks);
  if (result == PN_OK) *outBox = pnTree_GetBox(sweep->tree);
  return result;
}

void pn_dropCourse(pnBody *body) {
  if (!body->course) return;
  pnDestroySweep(body->course->sweep);
  if (body->course->copy) pn_free(body->course->copy, copyBytes(body));
  pn_free(body->course, sizeof(pnCourse));
  body->course = NULL;
}
