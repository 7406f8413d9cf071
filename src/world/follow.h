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
/* Have they all followed, and nothing was touched since? */
PN_INLINE bool pn_isOpen(const pnWorld *world) {
  return world->isOpen && world->touched.count == 0;
}
/* For questions that reach few bodies: nobody is named; whoever is asked for is, as often as one likes; the trees of those follow. Where
 * boxes say who that is, those of all follow first. Nothing else may happen to the world in between. */
pnResult pn_followBoxes(pnWorld *world);
void pn_beginAsking(pnWorld *world);
void pn_askFor(pnWorld *world, uint32_t place);
pnResult pn_followReached(pnWorld *world);
/* For steps: the trees of those that were touched and whose poses do not say where they are (morph targets, skins), so that their boxes do. */
pnResult pn_followHidden(pnWorld *world);
/* Everything has been done for those that were touched. */
void pn_forgetTouched(pnWorld *world, pnCost *cost);

#endif
