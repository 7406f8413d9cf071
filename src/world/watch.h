/* watch.h: has a body that was torn come to rest, or does it move as one? Some of its vertices are looked at in every frame in which it moves.
 * Before that no new tree is worth its build. */
#ifndef PN_WORLD_WATCH_H
#define PN_WORLD_WATCH_H

#include "world/body.h"

#define PN_WATCH_SAMPLES 64u

typedef struct pnWatch {
  uint64_t frame;  /* of the pose, when they were looked at */
  uint32_t steady; /* frames since then in which they moved as one */
  float sample[PN_WATCH_SAMPLES][3];
} pnWatch;

/* From this frame on; one that is watched already begins anew. */
pnResult pn_watch(pnBody *body);
/* Looks again, when its pose is another one: true when it has moved as one for a while. */
bool pn_watchOn(pnBody *body);
void pn_dropWatch(pnBody *body);

#endif
