/* walk_column.h: going up one column of an image: where is it inside, where is it not sure? Also the text of a program of the
 * device room: in the part that C17 and OpenCL C have in common. */
#ifndef PN_VOLUME_WALK_COLUMN_H
#define PN_VOLUME_WALK_COLUMN_H

#include "base/core.h"

typedef struct pnInterval {
  int32_t lo, hi;
} pnInterval;

/* The layers and the touched depths of one cell, ready to be walked upward. */
typedef struct pnColumn {
  PN_GLOBAL const uint32_t *keys;
  uint32_t keyCount;
  PN_GLOBAL const pnInterval *thick;
  uint32_t thickCount;
} pnColumn;

/* Is the cell's centre inside at depth z? By the winding number, or the number, of the layers below it. */
PN_INLINE bool pn_isInside(const pnColumn *column, int32_t z, bool parityOnly) {
  uint32_t limit = ((uint32_t)z << 1) | 1, i = 0;
  int32_t count = 0;
  for (; i < column->keyCount && column->keys[i] <= limit; ++i) count += 1 - 2 * (int32_t)(column->keys[i] & 1);
  return parityOnly ? i & 1 : count != 0;
}

/* At depth z (pn_walkTo) the cell's centre has winding number `count`, and the cell is touched or not. Both stay as
 * they are until depth `next`. */
typedef struct pnWalk {
  PN_GLOBAL const uint32_t *key, *keyEnd;
  PN_GLOBAL const pnInterval *thick, *thickEnd;
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
PN_INLINE pnWalk pn_walkColumn(const pnColumn *column, bool fromHigh, bool parityOnly) {
  pnWalk walk = {.key = column->keys, .keyEnd = column->keys, .thick = column->thick, .thickEnd = column->thick};
  // a column of nothing has null for its lists
  if (column->keyCount) walk.keyEnd += column->keyCount;
  if (column->thickCount) walk.thickEnd += column->thickCount;
  walk.parityOnly = parityOnly;
  if (fromHigh)
    for (uint32_t i = 0; i < column->keyCount; ++i)
      walk.count -= walk.parityOnly ? 1 : 1 - 2 * (int32_t)(column->keys[i] & 1);
  return walk;
}

#endif
