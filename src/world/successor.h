/* successor.h: a worn tree gets a successor, which is built a little in every frame and then tried: the one that opens fewer pairs of nodes
 * stays. Answers do not depend on it, nor the frames in which this happens on any clock. */
#ifndef PN_WORLD_SUCCESSOR_H
#define PN_WORLD_SUCCESSOR_H

#include "world/world.h"

/* What became of it in this frame. */
typedef enum pnVerdict { PN_VERDICT_OPEN, PN_VERDICT_KEPT, PN_VERDICT_REFUSED } pnVerdict;

/* Quick: one that is soon there, for a tree that opens next to all in vain. False: not this tree; it is built at once, if at all. */
bool pn_beginSuccessor(pnBody *body, bool quick);
/* The work that a frame may do on successors, after one that opened so many pairs of nodes and followed so many triangles; more where a tree is
 * felt to be worn (tend.c). */
int64_t pn_workForSuccessors(uint64_t opened, uint64_t triangles, bool felt);
/* The next step, out of *work, which is all successors' together: the first takes what it can use, so that one after the other is done,
 * and not all of them late. After the body was brought to its frame. A failure ends it, and the tree that is there stays. */
pnVerdict pn_stepSuccessor(pnBody *body, int64_t *work, const pnTasks *tasks);
void pn_dropSuccessor(pnBody *body);

#endif
