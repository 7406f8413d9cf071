/* walk.h: going up one column of two images: where are both inside? */
#ifndef PN_VOLUME_WALK_H
#define PN_VOLUME_WALK_H

#include "volume/layers.h"
#include "volume/walk_column.h"

/* Going up a column of two bodies, from one shared span to the next. */
typedef struct pnSharedWalk {
  pnWalk a, b;
  int32_t z, steps;
} pnSharedWalk;

PN_INLINE pnSharedWalk pn_walkShared(const pnLayers *a, const pnLayers *b, uint32_t x, uint32_t y, pnInsideRule rule) {
  pnColumn columnA = pn_layersColumn(a, x, y), columnB = pn_layersColumn(b, x, y);
  // only layers matter here
  columnA.thickCount = columnB.thickCount = 0;
  const bool parity = rule == PN_INSIDE_PARITY;
  return (pnSharedWalk){pn_walkColumn(&columnA, a->fromHigh, parity), pn_walkColumn(&columnB, b->fromHigh, parity), 0,
                        a->view.steps};
}

/* The next span; false when there is none left. */
PN_INLINE bool pn_nextShared(pnSharedWalk *walk, pnInterval *outSpan) {
  int32_t begin = -1;
  while (walk->z < walk->steps) {
    pn_walkTo(&walk->a, walk->z);
    pn_walkTo(&walk->b, walk->z);
    bool shared = walk->a.inside && walk->b.inside;
    if (!shared && begin >= 0) break;
    if (shared && begin < 0) begin = walk->z;
    walk->z = PN_MIN(PN_MIN(walk->a.next, walk->b.next), walk->steps);
  }
  *outSpan = (pnInterval){begin, walk->z};
  return begin >= 0;
}

#endif
