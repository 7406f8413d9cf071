/* pairs.cl: from boxes to candidates. Supers against supers, clusters against clusters of supers that overlap, triangles
 * against triangles of clusters that overlap. The first two are one kernel, since to start one costs as much as either;
 * the last reads the list of clusters that it writes.
 *
 * Lists have a capacity. What does not fit is counted and dropped, the head says so, and the host grows the list and runs
 * the frame again. */
static bool overlap(float4 al, float4 ah, float4 bl, float4 bh) {
  return al.x <= bh.x && bl.x <= ah.x && al.y <= bh.y && bl.y <= ah.y && al.z <= bh.z && bl.z <= ah.z;
}

/* May these bodies meet? rule: category, mask, self. A super with several bodies is let through. */
static bool mayMeet(__global const uint4 *rules, uint a, uint b) {
  if (a == PN_NONE || b == PN_NONE) return true;
  const uint4 ra = rules[a], rb = rules[b];
  return a == b ? ra.z != 0 : (ra.x & rb.y) != 0 && (rb.x & ra.y) != 0;
}

/* ---------------------------------------------------------------- a queue in local memory, shared by a team */

#define QUEUE 512

/* Writes the queue to a list, by the whole team, and leaves it empty. */
static void spill(__local uint2 *queue, __local uint *length, __local uint *base, __global uint *head, uint place,
                  uint bit, __global uint2 *list, uint capacity) {
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint lane = get_local_id(0), n = *length;
  if (lane == 0 && n > 0) *base = atomic_add(head + place, n);
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint first = *base;
  for (uint k = lane; k < n; k += TEAM) {
    if (first + k < capacity) list[first + k] = queue[k];
    else atomic_or(head + HEAD_OVERFLOW, bit);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane == 0) *length = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
}

/* The smallest power of two that is not below n, n from 1 to 32. */
static uint widthFor(uint n) {
  return n > 16 ? 32 : n > 8 ? 16 : n > 4 ? 8 : n > 2 ? 4 : n;
}

/* How the rows of one side are laid under the lanes that hold the other: the held side has width W, so that TEAM / W rows
 * are tested at once. */
typedef struct Rows {
  uint held, rows, heldCount, rowCount, width;
} Rows;

static Rows layRows(uint na, uint nb) {
  const uint wa = widthFor(na), wb = widthFor(nb);
  /* rounds are rows * width / TEAM: the side that makes fewer is held */
  if (nb * wa < na * wb) return (Rows){0, 32, na, nb, wa};
  return (Rows){32, 0, nb, na, wb};
}

/* After items were pushed: is there room for `more`? Barriers under one condition only: pocl does not follow two. */
#define MAKE_ROOM(more, place, bit)                                                           \
  do {                                                                                        \
    barrier(CLK_LOCAL_MEM_FENCE);                                                             \
    const bool full = queueLength > QUEUE - (more);                                           \
    barrier(CLK_LOCAL_MEM_FENCE);                                                             \
    if (full) spill(queue, &queueLength, &base, head, place, bit, list, capacity);            \
  } while (0)

#define PUSH(v) queue[atomic_inc(&queueLength)] = (v)

/* Two of n supers by the number of their pair, so that numbers from 0 to pairsOf(n) - 1 name each pair once, i <= j: rows r and
 * n - 1 - r of the upper triangle together are n + 1 long, so they are laid behind one another. With an odd n the last row is
 * one for an even one: j may be n, which is no super. */
static uint2 superPair(ulong number, uint n) {
  const uint even = n + (n & 1), r = (uint)(number / (even + 1)), c = (uint)(number % (even + 1));
  return c > r ? (uint2)(r, c - 1) : (uint2)(even - 1 - r, even - 1 - c);
}

static ulong superPairsOf(uint n) {
  return (ulong)((n + 1) / 2) * (n + (n & 1) + 1);
}

/* Do two supers overlap, and may they meet? On the way each is asked once whether its numbers are numbers. */
static bool supersMeet(__global const float4 *low, __global const float4 *high, __global const uint4 *rules, uint2 s, uint n,
                       __global uint *head) {
  if (s.y >= n) return false;
  const float4 ah = high[s.x];
  if (s.x == s.y && ah.w != 0) atomic_min(head + HEAD_BAD, s.x);
  const float4 al = low[s.x], bl = low[s.y];
  return overlap(al, ah, bl, high[s.y]) && mayMeet(rules, as_uint(al.w), as_uint(bl.w));
}

/* A team looks at a few pairs of supers at once, far apart in their order, since those that overlap stand side by side there, and then
 * at the clusters of each that overlaps. */
__kernel __attribute__((reqd_work_group_size(TEAM, 1, 1))) void clusterPairs(
    __global const float4 *low, __global const float4 *high, __global const float4 *superLow,
    __global const float4 *superHigh, __global const uint4 *rules, uint superCount, __global uint *head,
    __global uint2 *list, uint capacity) {
  __local float4 boxLow[64], boxHigh[64];
  __local uint2 queue[QUEUE], supers[TEAM];
  __local uint queueLength, base, na, nb, superLength;
  const uint lane = get_local_id(0), groups = get_num_groups(0);
  const ulong pairs = superPairsOf(superCount);
  const uint lanes = (uint)min((pairs + groups - 1) / groups, (ulong)TEAM);
  const ulong stride = (pairs + lanes - 1) / lanes;
  if (lane == 0) queueLength = base = 0;
  for (ulong k0 = get_group_id(0); k0 < stride; k0 += groups) {
    const ulong number = k0 + lane * stride;
    const uint2 looked = lane < lanes && number < pairs ? superPair(number, superCount) : (uint2)(0, superCount);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) superLength = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (supersMeet(superLow, superHigh, rules, looked, superCount, head)) supers[atomic_inc(&superLength)] = looked;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint n = superLength;
    if (lane == 0 && n > 0) atomic_add(head + HEAD_SUPERS, n);
    for (uint k = 0; k < n; ++k) {
      const uint2 s = supers[k];
      const uint ca = s.x * 32 + lane, cb = s.y * 32 + lane;
      const float4 al = low[ca], bl = low[cb];
      float4 ah = high[ca], bh = high[cb];
      ah.w = as_float(ca), bh.w = as_float(cb);
      barrier(CLK_LOCAL_MEM_FENCE);
      if (lane == 0) na = nb = 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      const float4 superA = superLow[s.x], superB = superLow[s.y];
      /* of two bodies it is known that they may meet */
      const bool mixed = as_uint(superA.w) == PN_NONE || as_uint(superB.w) == PN_NONE;
      if (overlap(al, ah, superB, superHigh[s.y])) {
        const uint at = atomic_inc(&na);
        boxLow[at] = al, boxHigh[at] = ah;
      }
      if (overlap(bl, bh, superA, superHigh[s.x])) {
        const uint at = 32 + atomic_inc(&nb);
        boxLow[at] = bl, boxHigh[at] = bh;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      if (na == 0 || nb == 0) continue;
      const Rows rows = layRows(na, nb);
      const uint j = lane & (rows.width - 1), step = TEAM / rows.width;
      const float4 xl = boxLow[rows.held + min(j, rows.heldCount - 1)],
                   xh = boxHigh[rows.held + min(j, rows.heldCount - 1)];
      const uint mine = as_uint(xh.w);
      for (uint i0 = 0; i0 < rows.rowCount; i0 += 8 * step) {
        for (uint i = i0 + lane / rows.width; i < min(rows.rowCount, i0 + 8 * step); i += step) {
          const float4 yl = boxLow[rows.rows + i], yh = boxHigh[rows.rows + i];
          const uint other = as_uint(yh.w), first = rows.held ? other : mine, second = rows.held ? mine : other;
          /* of a super with itself each pair comes twice */
          if (j < rows.heldCount && first <= second && overlap(xl, xh, yl, yh) &&
              (!mixed || mayMeet(rules, as_uint(xl.w), as_uint(yl.w))))
            PUSH((uint2)(first, second));
        }
        MAKE_ROOM(8 * TEAM, HEAD_CLUSTERS, LIST_CLUSTERS);
      }
    }
  }
  spill(queue, &queueLength, &base, head, HEAD_CLUSTERS, LIST_CLUSTERS, list, capacity);
}

/* Do two triangles, by their welded vertices, share one? */
static bool areNeighbours(uint x, uint2 xs, uint y, uint2 ys) {
  return x == y || x == ys.x || x == ys.y || xs.x == y || xs.x == ys.x || xs.x == ys.y || xs.y == y || xs.y == ys.x ||
         xs.y == ys.y;
}

#ifdef SWEPT
/* Pairs that have nothing to ask are left out: who owns no vertex and no edge (bits 0 to 2 and 3 to 5) has only its face to
 * offer. Neighbours may meet on their way with what they do not share. */
#define IS_CANDIDATE(x, xs, y, ys) ((((x) | (y)) & 7) != 0 || (((x) >> 3) != 0 && ((y) >> 3) != 0))

static void sweptBox(__global const float4 *rec0, uint slot, float4 a, float4 b, float4 c, float until, float4 *low,
                     float4 *high) {
  const float3 a0 = rec0[3 * slot].xyz, b0 = rec0[3 * slot + 1].xyz, c0 = rec0[3 * slot + 2].xyz;
  low->xyz = fmin(lowUntil(a0, a.xyz, until), fmin(lowUntil(b0, b.xyz, until), lowUntil(c0, c.xyz, until)));
  high->xyz = fmax(highUntil(a0, a.xyz, until), fmax(highUntil(b0, b.xyz, until), highUntil(c0, c.xyz, until)));
}
#else
/* Neighbours may have a list of their own. */
#define IS_CANDIDATE(x, xs, y, ys) (!(nearOnList && areNeighbours(x, xs, y, ys)))
#endif

__kernel __attribute__((reqd_work_group_size(TEAM, 1, 1))) void trianglePairs(
    __global const float4 *rec, __global const float4 *low, __global const float4 *high, __global uint *head,
    __global const uint2 *in, uint inCapacity,
#ifdef SWEPT
    __global const float4 *rec0, __global const uint4 *edges, float until,
#else
    __global const uint *met, uint bodyCount, uint mode, uint nearOnList,
#endif
    __global uint2 *list, uint capacity) {

  __local float4 boxLow[64], boxHigh[64]; /* in the fourth: the slot, the first welded vertex */
  __local uint2 weld[64];                 /* the other two */
  __local uint2 queue[QUEUE];
  __local uint queueLength, base, na, nb, done;
  const uint lane = get_local_id(0), n = min(head[HEAD_CLUSTERS], inCapacity);
  if (lane == 0) queueLength = base = 0;
  uint2 next = in[min(get_group_id(0), (size_t)inCapacity - 1)]; /* read one ahead */
  for (uint k = get_group_id(0); k < n; k += get_num_groups(0)) {
    const uint2 s = next;
    if (k + get_num_groups(0) < n) next = in[k + get_num_groups(0)];
    const float4 clusterA = low[s.x], clusterB = low[s.y], highA = high[s.x], highB = high[s.y];
    const uint sa = s.x * 32 + lane, sb = s.y * 32 + lane;
    const float4 a0 = rec[3 * sa], a1 = rec[3 * sa + 1], a2 = rec[3 * sa + 2];
    const float4 b0 = rec[3 * sb], b1 = rec[3 * sb + 1], b2 = rec[3 * sb + 2];
    float4 al = fmin(a0, fmin(a1, a2)), ah = fmax(a0, fmax(a1, a2));
    float4 bl = fmin(b0, fmin(b1, b2)), bh = fmax(b0, fmax(b1, b2));
#ifdef SWEPT
    sweptBox(rec0, sa, a0, a1, a2, until, &al, &ah);
    sweptBox(rec0, sb, b0, b1, b2, until, &bl, &bh);
#endif
    al.w = as_float(sa), ah.w = a0.w, bl.w = as_float(sb), bh.w = b0.w;
#ifdef SWEPT
    ah.w = as_float(edges[sa].w), bh.w = as_float(edges[sb].w);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) {
      na = nb = 0;
#ifdef SWEPT
      done = 0;
#else
      /* bodies that are known to meet: one lane asks, so that all go the same way */
      done = mode & EMIT_FIRST ? met[as_uint(clusterA.w) * bodyCount + as_uint(clusterB.w)] : 0;
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (done) continue;
    /* empty slots are NaN and overlap nothing */
    if (overlap(al, ah, clusterB, highB)) {
      const uint at = atomic_inc(&na);
      boxLow[at] = al, boxHigh[at] = ah, weld[at] = (uint2)(as_uint(a1.w), as_uint(a2.w));
    }
    if (overlap(bl, bh, clusterA, highA)) {
      const uint at = 32 + atomic_inc(&nb);
      boxLow[at] = bl, boxHigh[at] = bh, weld[at] = (uint2)(as_uint(b1.w), as_uint(b2.w));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (na == 0 || nb == 0) continue;
    const Rows rows = layRows(na, nb);
    const uint j = lane & (rows.width - 1), step = TEAM / rows.width, at = rows.held + min(j, rows.heldCount - 1);
    const float4 xl = boxLow[at], xh = boxHigh[at];
    const uint2 xw = weld[at];
    const uint mine = as_uint(xl.w);
    for (uint i0 = 0; i0 < rows.rowCount; i0 += 8 * step) {
      for (uint i = i0 + lane / rows.width; i < min(rows.rowCount, i0 + 8 * step); i += step) {
        const float4 yl = boxLow[rows.rows + i], yh = boxHigh[rows.rows + i];
        const uint other = as_uint(yl.w), first = rows.held ? other : mine, second = rows.held ? mine : other;
        if (j < rows.heldCount && first < second && overlap(xl, xh, yl, yh) &&
            IS_CANDIDATE(as_uint(xh.w), xw, as_uint(yh.w), weld[rows.rows + i]))
          PUSH((uint2)(first, second));
      }
      MAKE_ROOM(8 * TEAM, HEAD_CANDIDATES, LIST_CANDIDATES);
    }
  }
  spill(queue, &queueLength, &base, head, HEAD_CANDIDATES, LIST_CANDIDATES, list, capacity);
}
