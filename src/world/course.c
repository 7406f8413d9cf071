/* course.c: see course.h. */
#include "world/course.h"

#include "collide/sweep.h"
#include "geom/box.h"
#include "tree/tree.h"

/* The pose that a body follows. */
static const pnPose *poseOf(const pnBody *body) {
  return body->soup ? pnSoup_GetPose(body->soup) : body->pose ? body->pose : pnTree_GetPose(body->tree);
}

static pnResult ensureSweep(const pnBody *body, pnCourse *course) {
  if (course->sweep) return PN_OK;
  return body->soup ? pnCreateSoupSweep(body->soup, &course->sweep)
                    : pnCreateSweep(pnPose_GetMesh(poseOf(body)), &course->sweep);
}

/* Is it known where the body is? Where its pose does not say it, its tree does, which follows. Of a soup, which changes without telling, and of
 * an array of others it is not. */
static bool isKnown(const pnBody *body) {
  const pnPose *pose = poseOf(body);
  return !body->soup && (pn_isBoxKnown(pose) || !pose->motion->isStored);
}

/* A box around where it is. */
static pnResult findBox(const pnBody *body, const pnTasks *tasks, pnBox *outBox) {
  const pnPose *pose = poseOf(body);
  bool follows = !pn_isBoxKnown(pose);
  pnResult result = follows ? pn_followPose(body->tree, tasks) : PN_OK;
  *outBox = result != PN_OK ? pn_emptyBox() : follows ? pnTree_GetBox(body->tree) : pn_boxOfPose(pose);
  return result;
}

/* The pose of the begin. */
static pnResult keepPose(const pnBody *body, pnCourse *course) {
  const pnPose *pose = poseOf(body);
  pnResult result = course->then ? PN_OK : pn_createRestPose(pose, &course->then);
  return result == PN_OK ? pn_copyPose(course->then, pose) : result;
}

/* One end of the sweep, as this pose has it. */
static pnResult setEnd(const pnBody *body, pnCourse *course, const pnPose *pose, int end) {
  pnResult result = ensureSweep(body, course);
  if (result != PN_OK) return result;
  result = end ? pnSweep_SetEnd(course->sweep, pose) : pnSweep_SetBegin(course->sweep, pose);
  course->frames[end] = result == PN_OK ? pose->frame : 0;
  return result;
}

/* The begin of its sweep. Who was near something in the step before begins where that one ended. */
static pnResult setBegin(const pnBody *body, pnCourse *course) {
  if (!course->isKnown || course->frames[0] == course->begun) return PN_OK;
  if (course->frames[1] != course->begun) return setEnd(body, course, course->then, 0);
  pnSweep_Advance(course->sweep);
  course->frames[0] = course->begun;
  return PN_OK;
}

pnResult pn_beginCourse(pnBody *body, const pnTasks *tasks) {
  const pnPose *pose = poseOf(body);
  if (!body->course) body->course = pn_allocZero(sizeof(pnCourse));
  pnCourse *course = body->course;
  if (!course) return pn_failMemory(sizeof(pnCourse));
  bool stands = course->hasBegun && course->begun == pose->frame && !body->soup; /* since the step before began */
  if (stands) return PN_OK;
  course->hasBegun = false;
  course->isKnown = isKnown(body);
  pnResult result = course->isKnown ? keepPose(body, course) : setEnd(body, course, pose, 0);
  if (result == PN_OK && course->isKnown) result = findBox(body, tasks, &course->box);
  if (result != PN_OK) return result;
  course->begun = pose->frame;
  course->hasBegun = true;
  return PN_OK;
}

pnResult pn_sweepOfCourse(pnBody *body, pnSweep **outSweep) {
  pnCourse *course = body->course;
  const pnPose *pose = poseOf(body);
  pnResult result = setBegin(body, course);
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
  pnResult result = body->course && body->course->hasBegun ? PN_OK : pn_beginCourse(body, tasks);
  if (result != PN_OK) return result;
  pnCourse *course = body->course;
  if (course->isKnown && isKnown(body)) {
    pnBox now;
    result = findBox(body, tasks, &now);
    if (result == PN_OK) *outBox = widen(pn_unionBox(&course->box, &now), margin);
    return result;
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
  pnDestroyPose(body->course->then);
  pn_free(body->course, sizeof(pnCourse));
  body->course = NULL;
}
