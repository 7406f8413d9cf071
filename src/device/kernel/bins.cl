/* bins.cl: the sort for frames of up to some ten thousand pairs, in which to start a kernel costs more than what it does. Pairs were put
 * into bins when they were found, each for as many triangles as there are numbers between them (emit.cl). One kernel: every
 * group adds up the sizes of all bins for itself, and in its bin each pair counts those smaller than itself. A bin that was too
 * small is known by the head: then, and for more pairs, the sort is that of sort.cl. */
#define BINS_EACH (BINS / SCAN_ITEMS)

/* Bin b has the pairs of triangles t with t >> shift == b. */
__kernel __attribute__((reqd_work_group_size(SCAN_ITEMS, 1, 1))) void orderBins(__global const uint2 *bins,
                                                                                __global const uint *count, uint binCount,
                                                                                __global uint2 *sorted, uint capacity) {
  __local uint sums[SCAN_ITEMS];
  __local uint before[BINS];
  const uint item = get_local_id(0);
  uint mine[BINS_EACH], sum = 0, total;
  for (uint i = 0; i < BINS_EACH; ++i) {
    const uint bin = item * BINS_EACH + i;
    mine[i] = bin < binCount ? min(count[bin], (uint)BIN_ROOM) : 0;
    sum += mine[i];
  }
  uint at = scanItems(sums, sum, &total);
  for (uint i = 0; i < BINS_EACH; ++i) {
    before[item * BINS_EACH + i] = at;
    at += mine[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  /* TEAM items take a bin */
  const uint teams = get_num_groups(0) * (SCAN_ITEMS / TEAM), lane = item % TEAM;
  for (uint bin = get_group_id(0) * (SCAN_ITEMS / TEAM) + item / TEAM; bin < binCount; bin += teams) {
    const uint first = before[bin], n = (bin + 1 < BINS ? before[bin + 1] : total) - first;
    __global const uint2 *in = bins + bin * BIN_ROOM;
    for (uint k = lane; k < n; k += TEAM) {
      const uint2 v = in[k];
      uint place = first;
      for (uint i = 0; i < n; ++i) {
        const uint2 w = in[i];
        place += w.x < v.x || (w.x == v.x && w.y < v.y);
      }
      if (place < capacity) sorted[place] = v;
    }
  }
}
