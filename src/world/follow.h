/* follow.h: trees follow their poses, and the broad phase follows the trees. Only of bodies that were touched. */
#ifndef PN_WORLD_FOLLOW_H
#define PN_WORLD_FOLLOW_H

#include "world/world.h"

/* A body has moved, or is new, or may meet others than before. */
void pn_touchBody(pnWorld *world, pnBody *body);
/* A new body enters the lists; there must be room (pn_reserveLists). One that goes leaves them. */
bool pn_reserveLists(pnWorld *world, size_t placeCount);
void pn_enterLists(pnWorld *world, pnBody *body);
void pn_leaveLists(pnWorld *world, pnBody *body);
void pn_freeLists(pnWorld *world);

/* Brings what was touched up to date, and finds which bodies are close (world->broad.pairs). Trees wait that may and had nothing near them in
 * the last frame; `hints`: also those that had, as most jobs will not ask for them. A failure leaves what was touched to the next frame. */
pnResult pn_followPoses(pnWorld *world, bool hints, pnFrame *frame);
/* The trees that have waited and are asked for by jobs that have no answer. */
pnResult pn_followAsked(pnWorld *world, pnFrame *frame);
/* For questions: the trees of all bodies, late ones among them, and the boxes of the broad phase. What was touched stays so for the
 * next frame. */
pnResult pn_followAll(pnWorld *world);
/* Everything has been done for those that were touched. */
void pn_forgetTouched(pnWorld *world, pnCost *cost);

#endif
