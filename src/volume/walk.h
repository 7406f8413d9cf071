/* walk.h: going up one column of an image: where is it inside, where is it not sure? */
#ifndef PN_VOLUME_WALK_H
#define PN_VOLUME_WALK_H

#include "volume/layers.h"

/* At depth z (pn_walkTo) the cell's centre has winding number `count`, and the cell is touched or not. Both stay as
 * they are until depth `next`. */
typedef struct pnWalk {
  const uint32_t *key, *keyEnd;
  const pnInterval *thick, *thickEnd;
  bool parityOnly; /* rule PARITY: every layer counts as one */
  int32_t count;
  bool inside, touched;
  int32_t next;
} pnWalk;

#define PN_DEPTH_END INT32_MAX

/* Goes on to depth z; layers at z itself are behind it. */
PN_INLINE void pn_walkTo(pnWalk *walk, int32_t z) {
  while (walk->key < walk->keyEnd && (int32_t)(*walk->key >> 1) <= z) {
    walk->count += walk->parityOnly ? 1 : 1 - 2 * (int32_t)(*walk->key & 1);
    ++walk->key;
  }
  while (walk->thick < walk->thickEnd && walk->thick->hi <= z) ++walk->thick;
  walk->inside = walk->parityOnly ? walk->count & 1 : walk->count != 0;
  walk->touched = walk->thick < walk->thickEnd && walk->thick->lo <= z;
  int32_t nextKey = walk->key < walk->keyEnd ? (int32_t)(*walk->key >> 1) : PN_DEPTH_END;
  int32_t nextThick = walk->thick == walk->thickEnd ? PN_DEPTH_END : walk->touched ? walk->thick->hi : walk->thick->lo;
  walk->next = PN_MIN(nextKey, nextThick);
}

/* Stands below depth 0. Seen from the high end, the count there is what makes it zero at the top. */
PN_INLINE pnWalk pn_walkColumn(const pnColumn *column, bool fromHigh, pnInsideRule rule) {
  pnWalk walk = {.key = column->keys, .keyEnd = column->keys, .thick = column->thick, .thickEnd = column->thick};
  // a column of nothing has null for its lists
  if (column->keyCount) walk.keyEnd += column->keyCount;
  if (column->thickCount) walk.thickEnd += column->thickCount;
  walk.parityOnly = rule == PN_INSIDE_PARITY;
  if (fromHigh)
    for (uint32_t i = 0; i < column->keyCount; ++i)
      walk.count -= walk.parityOnly ? 1 : 1 - 2 * (int32_t)(column->keys[i] & 1);
  return walk;
}

/* Going up a column of two bodies, from one shared span to the next. */
typedef struct pnSharedWalk {
  pnWalk a, b;
  int32_t z, steps;
} pnSharedWalk;

PN_INLINE pnSharedWalk pn_walkShared(const pnLayers *a, const pnLayers *b, uint32_t x, uint32_t y, pnInsideRule rule) {
  pnColumn columnA = pn_layersColumn(a, x, y), columnB = pn_layersColumn(b, x, y);
  // only layers matter here
  columnA.thickCount = columnB.thickCount = 0;
  return (pnSharedWalk){pn_walkColumn(&columnA, a->fromHigh, rule), pn_walkColumn(&columnB, b->fromHigh, rule), 0,
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
