/* hits_take.h: what becomes of a hit. */
#ifndef PN_QUERY_HITS_TAKE_H
#define PN_QUERY_HITS_TAKE_H

#include "query/sight.h"

PN_INLINE void takeHit(const pn_LineHit *hit, uint32_t triangle, pnRayMode mode, pnRayQuest *quest) {
  if (!(hit->t <= quest->last)) return;
  // Of those at one t the first body, and of its triangles the smallest number.
  const pnHit *best = &quest->best;
  if (mode == PN_RAY_FIRST && hit->t == quest->last && best->triangle != PN_NONE &&
      (best->body.index1 != quest->body.index1 ? best->body.index1 < quest->body.index1 : best->triangle < triangle))
    return;
  pnHit found = {quest->body, triangle, hit->side, hit->t, (float)hit->u, (float)hit->v};
  if (mode == PN_RAY_ALL) {
    quest->failed = quest->failed || !pn_arrayPush(quest->all, found);
    return;
  }
  quest->best = found;
  quest->last = mode == PN_RAY_FIRST ? hit->t : quest->last;
}

#endif
