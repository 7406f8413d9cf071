/* limit.cl: of the sorted pairs only as many as are wanted (pnDeviceFrameDef.maxPairs): the first in the order of contacts, which
 * goes by the first body, then the second, then the triangles; the order here is by the first triangle, so by the first body too. All
 * bodies before the one in which the limit falls keep all theirs; of that one the pairs are counted by their second body, and
 * again all before the one in which the limit falls stay, and of that one the first. What stays is in the order it was.
 *
 * One group of SCAN_ITEMS does it all: it has to look at the pairs of one first body only. */
static uint firstOf(__global const uint2 *sorted, uint n, uint triangle) {
  uint low = 0, high = n;
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (sorted[middle].x < triangle) low = middle + 1;
    else high = middle;
  }
  return low;
}

__kernel __attribute__((reqd_work_group_size(SCAN_ITEMS, 1, 1))) void limit(__global uint *head, __global uint2 *sorted,
                                                                            uint capacity, __global const uint *bodyFirst,
                                                                            uint bodyCount, uint most, __global uint *tally) {
  __local uint sums[SCAN_ITEMS];
  __local uint last, room;
  const uint item = get_local_id(0), n = min(head[HEAD_PAIRS], capacity);
  const bool whole = head[HEAD_OVERFLOW] == 0;
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (item == 0 && whole) {
    head[HEAD_FOUND] = n;
    head[HEAD_PAIRS] = min(n, most);
  }
  /* the whole group; of a single body the first pairs are the first pairs */
  if (!whole || n <= most || bodyCount == 1) return;
  const uint a = bodyOfTriangle(bodyFirst, bodyCount, sorted[most].x);
  const uint begin = firstOf(sorted, n, bodyFirst[a]), end = a + 1 < bodyCount ? firstOf(sorted, n, bodyFirst[a + 1]) : n;
  for (uint b = a + item; b < bodyCount; b += SCAN_ITEMS) tally[b] = 0;
  barrier(CLK_GLOBAL_MEM_FENCE);
  for (uint k = begin + item; k < end; k += SCAN_ITEMS)
    atomic_inc(tally + bodyOfTriangle(bodyFirst, bodyCount, sorted[k].y));
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (item == 0) {
    uint b = a, left = most - begin;
    for (; tally[b] <= left; ++b) left -= tally[b];
    last = b, room = left;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  uint out = begin, seen = 0;
  for (uint k0 = begin; k0 < end && out < most; k0 += SCAN_ITEMS) {
    const uint k = k0 + item;
    const uint2 v = sorted[min(k, end - 1)];
    const uint b = k < end ? bodyOfTriangle(bodyFirst, bodyCount, v.y) : PN_NONE;
    uint lasts, kept;
    const uint rank = seen + scanItems(sums, b == last, &lasts);
    const bool keep = b < last || (b == last && rank < room);
    const uint place = out + scanItems(sums, keep, &kept);
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (keep) sorted[place] = v;
    out += kept, seen += lasts;
  }
}
