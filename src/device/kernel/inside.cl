/* inside.cl: what is asked of an image: which points are inside, how much is. Columns are walked by the volume room's own text
 * (volume/walk_column.h, volume/measure_column.h). */

/* An image, as kernels get it. open: the odd layer of a cell counts for nothing. */
#define IMAGE_ARGUMENTS(name) __global const uint *name##Count, __global const uint *name##Start, __global const uint *name##Keys

static pnColumn columnOf(__global const uint *count, __global const uint *start, __global const uint *keys, bool open,
                         uint cell) {
  pnColumn column;
  column.keyCount = open ? count[cell] & ~1u : count[cell];
  column.keys = keys + (column.keyCount ? start[cell] : 0);
  column.thick = 0;
  column.thickCount = 0;
  return column;
}

/* One point an item (volume/inside.c). answer: how many are inside; the first that is no number. */
__kernel void imagePoints(Grid grid, IMAGE_ARGUMENTS(a), uint open, uint parity, __global const float *points, uint first,
                          uint n, __global uchar *inside, __global uint *answer) {
  __local uint found;
  if (get_local_id(0) == 0) found = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint k = get_global_id(0);
  if (k < n) {
    const float p[3] = {points[first + 3 * k], points[first + 3 * k + 1], points[first + 3 * k + 2]};
    const double units = (double)((ulong)grid.size << grid.shift);
    const double x = ((double)p[grid.pick[0]] - grid.lo[0]) * grid.scale[0];
    const double y = ((double)p[grid.pick[1]] - grid.lo[1]) * grid.scale[1];
    const double z = ((double)p[grid.pick[2]] - grid.lo[2]) * grid.scale[2];
    /* written so that a NaN is outside */
    const bool inWindow = x >= 0 && y >= 0 && z >= 0 && x < units && y < units && z < grid.steps;
    bool in = false;
    if (inWindow) {
      const uint cell = ((uint)y >> grid.shift) * grid.size + ((uint)x >> grid.shift);
      const pnColumn column = columnOf(aCount, aStart, aKeys, open != 0, cell);
      in = pn_isInside(&column, (int)z, parity != 0);
    }
    inside[k] = in;
    if (in) atomic_inc(&found);
    const float wrong = (p[0] - p[0]) + (p[1] - p[1]) + (p[2] - p[2]);
    if (!(wrong == 0)) atomic_min(answer + 1, k);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0 && found > 0) atomic_add(answer, found);
}

#define TALLY_TWO 1u    /* there is a second image */
#define TALLY_ONLY 2u   /* also what one has and the other has not */
#define TALLY_PARITY 4u
#define TALLY_OPEN_A 8u
#define TALLY_OPEN_B 16u
#define TALLY_HIGH_A 32u /* counted from the high end */
#define TALLY_HIGH_B 64u

/* Sums over columns, an item each (volume/measure.c): one part an item. */
__kernel void imageTally(IMAGE_ARGUMENTS(a), IMAGE_ARGUMENTS(b), uint flags, uint size, int steps, __global pnTally *parts) {
  const bool only = (flags & TALLY_ONLY) != 0, two = (flags & TALLY_TWO) != 0, parity = (flags & TALLY_PARITY) != 0;
  pnTally tally = pn_emptyTally();
  for (uint cell = get_global_id(0); cell < size * size; cell += get_global_size(0)) {
    const pnColumn a = columnOf(aCount, aStart, aKeys, (flags & TALLY_OPEN_A) != 0, cell);
    pnColumn b = columnOf(bCount, bStart, bKeys, (flags & TALLY_OPEN_B) != 0, cell);
    if (!two) b.keyCount = 0;
    const bool anyA = a.keyCount != 0, anyB = !two || b.keyCount != 0;
    if (only ? !(anyA || anyB) : !(anyA && anyB)) continue;
    pnWalk walkA = pn_walkColumn(&a, (flags & TALLY_HIGH_A) != 0, parity);
    pnWalk walkB = pn_walkColumn(&b, two && (flags & TALLY_HIGH_B) != 0, parity);
    if (!two) walkB.count = 1;
    pn_measureColumn(&tally, (int)(cell % size), (int)(cell / size), &walkA, &walkB, steps, only);
  }
  parts[get_global_id(0)] = tally;
}

#define SUM_ITEMS 64

/* The sum of all parts, by one group. */
__kernel __attribute__((reqd_work_group_size(SUM_ITEMS, 1, 1))) void imageSum(__global const pnTally *parts, uint n,
                                                                              __global pnTally *sum) {
  __local pnTally mine[SUM_ITEMS];
  const uint item = get_local_id(0);
  pnTally all = pn_emptyTally();
  for (uint i = item; i < n; i += SUM_ITEMS) {
    const pnTally part = parts[i];
    pn_addTally(&all, &part);
  }
  mine[item] = all;
  for (uint step = SUM_ITEMS / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < step) {
      const pnTally other = mine[item + step];
      pn_addTally(&all, &other);
      mine[item] = all;
    }
  }
  if (item == 0) *sum = all;
}
