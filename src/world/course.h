/* course.h: the course of a body in a step: where it was when the step began, and its sweep (collide/sweep.h).
 *
 * A sweep takes long to fill and much memory, and most bodies have nothing near them on their way. So what is kept of the begin is the pose,
 * and the box around it. With the box of the end that is a box around the whole way, as vertices move on straight lines; the sweep is made, and
 * its ends are set, when something is near that. Soups, and poses over arrays of others, set their sweeps at once. */
#ifndef PN_WORLD_COURSE_H
#define PN_WORLD_COURSE_H

#include "world/world.h"

typedef struct pnCourse {
  bool hasBegun;
  uint64_t begun;     /* the frame of its pose then */
  pnSweep *sweep;     /* null until something was near, or it is not known where the body is */
  uint64_t frames[2]; /* of its pose, at the begin and the end that the sweep has; 0: none */
  /* the begin, if it was known */
  bool isKnown;
  pnBox box;
  pnPose *then; /* as it was; null: it never was */
} pnCourse;

/* The step begins where the body is now. */
pnResult pn_beginCourse(pnBody *body, const pnTasks *tasks);
/* A box around its way to where it is now, wider by half of `margin` on each side; of a body that was made after the step began around
 * where it is, from where it goes on. Empty for an empty body. */
pnResult pn_boxOfCourse(pnBody *body, double margin, const pnTasks *tasks, pnBox *outBox);
/* Its sweep from there to where it is now. After pn_boxOfCourse. */
pnResult pn_sweepOfCourse(pnBody *body, pnSweep **outSweep);
void pn_dropCourse(pnBody *body);

#endif
