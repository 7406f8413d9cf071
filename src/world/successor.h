/* successor.h: a worn tree gets a successor, which is built a little in every frame and then tried: the one that opens fewer pairs of nodes
 * stays. Answers do not depend on it, nor the frames in which this happens on any clock. */
#ifndef PN_WORLD_SUCCESSOR_H
#define PN_WORLD_SUCCESSOR_H

#include "world/world.h"

/* What became of it in this frame. */
typedef enum pnVerdict { PN_VERDICT_OPEN, PN_VERDICT_KEPT, PN_VERDICT_REFUSED } pnVerdict;

/* What a frame may do on successors, all together: about so many nanoseconds, as work is counted. */
typedef struct pnAllowance {
  int64_t whole, left;
  bool
      isBuilding; /* one is begun and not built; until it is, no other begins: one after the other is done, and not all of them late */
} pnAllowance;

/* After a frame that opened so many pairs of nodes and followed so many triangles; more where a tree is felt to be worn (tend.c). */
pnAllowance pn_allowFor(uint64_t opened, uint64_t triangles, bool felt);
bool pn_mayBegin(const pnAllowance *allowance, const pnBody *body);
/* Quick: one that is soon there, for a tree that opens next to all in vain. False: not this tree; it is built at once, if at all. */
bool pn_beginSuccessor(pnBody *body, bool quick, pnAllowance *allowance);
/* Is it begun and not built? */
bool pn_isBuilding(const pnBody *body);
/* The next step, out of what is left: the first takes what it can use. After the body was brought to its frame. A failure ends it, and
 * the tree that is there stays. */
pnVerdict pn_stepSuccessor(pnBody *body, pnAllowance *allowance, const pnTasks *tasks);
void pn_dropSuccessor(pnBody *body);

#endif
