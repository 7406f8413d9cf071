/* impacts_sort.cl: impacts by kind, then by the number of the first feature in the world, then by the second: its body, and its number
 * there. The counting sort of sort.cl, of numbers of impacts; they themselves move once, in the end. */
__kernel __attribute__((reqd_work_group_size(SCAN_ITEMS, 1, 1))) void impactScatter(
    __global const uint *head, __global const uint4 *names, __global const uint *rank, uint capacity,
    __global const Firsts *firsts, uint vertexCount, uint triangleCount, __global const uint *offset,
    __global const uint *runs, uint runCount, uint runLength, __global uint *begins, __global uint *placed) {
  __local uint sums[SCAN_ITEMS];
  __local uint before[SCAN_RUNS];
  const uint n = head[HEAD_OVERFLOW] == 0 ? min(head[HEAD_PAIRS], capacity) : 0;
  if (get_group_id(0) * SCAN_ITEMS >= n) return; /* the whole group */
  sumRuns(sums, before, runs, runCount);
  for (uint k = get_global_id(0); k < n; k += get_global_size(0)) {
    const uint feature = featureOf(firsts, vertexCount, triangleCount, names[k]);
    const uint begin = offset[feature] + before[feature / runLength];
    begins[k] = begin;
    placed[begin + rank[k]] = k;
  }
}

static bool isBefore(uint4 a, uint4 b) {
  const uint bodyA = a.x & 0xffff, bodyB = b.x & 0xffff;
  return bodyA != bodyB ? bodyA < bodyB : a.w < b.w;
}

__kernel void impactOrder(__global const uint *head, __global const uint4 *names, __global const double2 *spans,
                          uint capacity, __global const Firsts *firsts, uint vertexCount, uint triangleCount,
                          __global const uint *count, __global const uint *begins, __global const uint *placed,
                          __global uint4 *sortedNames, __global double2 *sortedSpans) {
  const uint n = head[HEAD_OVERFLOW] == 0 ? min(head[HEAD_PAIRS], capacity) : 0;
  for (uint k = get_global_id(0); k < n; k += get_global_size(0)) {
    const uint4 who = names[k];
    const uint begin = begins[k], end = begin + count[featureOf(firsts, vertexCount, triangleCount, who)];
    uint place = begin;
    for (uint i = begin; i < end; ++i) place += isBefore(names[placed[i]], who);
    sortedNames[place] = who;
    sortedSpans[place] = spans[k];
  }
}
