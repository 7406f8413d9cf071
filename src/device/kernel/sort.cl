/* sort.cl: pairs by their first triangle, then their second. A counting sort: how many pairs each triangle is the first of was
 * counted while they were found, sums of these counts are the places, and within the few pairs of one triangle each counts
 * those smaller than itself. Layers of an image (image.cl) and impacts (impacts.cl) go the same way; pairs that are few go by
 * bins (bins.cl). */
#define SCAN_ITEMS 256
/* Runs of the scan, at most: their sums fit into local memory. */
#define SCAN_RUNS 1024

/* The exclusive sums of SCAN_ITEMS numbers, one an item, in local memory; *total is the sum of all. */
static uint scanItems(__local uint *sums, uint mine, uint *total) {
  const uint item = get_local_id(0);
  sums[item] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 1; step < SCAN_ITEMS; step *= 2) {
    const uint before = item >= step ? sums[item - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[item] += before;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const uint end = sums[item];
  *total = sums[SCAN_ITEMS - 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  return end - mine;
}

/* Within a run of SCAN_ITEMS * each triangles: offset[t] is the sum of the counts before t; runs[r] the sum of run r. */
__kernel __attribute__((reqd_work_group_size(SCAN_ITEMS, 1, 1))) void scan(__global const uint *count,
                                                                           __global uint *offset, __global uint *runs,
                                                                           uint n, uint each) {
  __local uint sums[SCAN_ITEMS];
  const uint first = (get_group_id(0) * SCAN_ITEMS + get_local_id(0)) * each, last = min(first + each, n);
  uint sum = 0, total;
  for (uint t = first; t < last; ++t) sum += count[t];
  uint at = scanItems(sums, sum, &total);
  for (uint t = first; t < last; ++t) {
    offset[t] = at;
    at += count[t];
  }
  if (get_local_id(0) == 0) runs[get_group_id(0)] = total;
}

/* before[r] is the sum of runs 0 to r - 1: every group adds them up for itself. */
static void sumRuns(__local uint *sums, __local uint *before, __global const uint *runs, uint runCount) {
  const uint item = get_local_id(0);
  uint mine[SCAN_RUNS / SCAN_ITEMS], sum = 0, total;
  for (uint i = 0; i < SCAN_RUNS / SCAN_ITEMS; ++i) {
    const uint run = item * (SCAN_RUNS / SCAN_ITEMS) + i;
    mine[i] = run < runCount ? runs[run] : 0;
    sum += mine[i];
  }
  uint at = scanItems(sums, sum, &total);
  for (uint i = 0; i < SCAN_RUNS / SCAN_ITEMS; ++i) {
    before[item * (SCAN_RUNS / SCAN_ITEMS) + i] = at;
    at += mine[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

/* Every pair to the pairs of its first triangle; the first of them notes where they begin. */
__kernel __attribute__((reqd_work_group_size(SCAN_ITEMS, 1, 1))) void scatter(
    __global const uint *head, __global const uint2 *pairs, __global const uint *rank, uint capacity,
    __global const uint *offset, __global const uint *runs, uint runCount, uint runLength, __global uint *start,
    __global uint2 *placed) {
  __local uint sums[SCAN_ITEMS];
  __local uint before[SCAN_RUNS];
  const uint n = min(head[HEAD_PAIRS], capacity);
  if (get_group_id(0) * SCAN_ITEMS >= n) return; /* the whole group */
  sumRuns(sums, before, runs, runCount);
  for (uint k = get_global_id(0); k < n; k += get_global_size(0)) {
    const uint2 v = pairs[k];
    const uint begin = offset[v.x] + before[v.x / runLength], r = rank[k];
    placed[begin + r] = v;
    if (r == 0) start[v.x] = begin;
  }
}

__kernel void order(__global const uint *head, __global const uint2 *placed, uint capacity, __global const uint *start,
                    __global const uint *count, __global uint2 *sorted) {
  const uint n = min(head[HEAD_PAIRS], capacity);
  for (uint k = get_global_id(0); k < n; k += get_global_size(0)) {
    const uint2 v = placed[k];
    const uint begin = start[v.x], end = begin + count[v.x];
    uint place = begin;
    for (uint i = begin; i < end; ++i) place += placed[i].y < v.y;
    sorted[place] = v;
  }
}
