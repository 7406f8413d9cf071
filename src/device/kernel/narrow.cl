/* narrow.cl: do candidates meet? The filters of collide (narrow_kernel.h, narrow_beyond.h), in float and with their bounds, one
 * pair an item; what they cannot decide goes to the list of the exact program. */
static void putUnsure(__global uint *head, __global uint2 *unsure, uint capacity, uint2 c) {
  const uint at = atomic_inc(head + HEAD_UNSURE);
  if (at < capacity) unsure[at] = c;
  else atomic_or(head + HEAD_OVERFLOW, LIST_UNSURE);
}

/* ---------------------------------------------------------------- one pair */

static pnV4 pointOf(float4 p) {
  return (pnV4){{p.x, p.y, p.z}};
}

static float4 cornerOf(float4 p, float4 q, float4 r, uint i) {
  return i == 0 ? p : i == 1 ? q : r;
}

static bool samePlace(float4 p, float4 q) {
  return p.x == q.x && p.y == q.y && p.z == q.z;
}

/* Two triangles that share welded vertices, by corner: what the filter says. Anything out of the ordinary (three corners
 * shared, a vertex twice in a triangle, welded vertices that have moved apart) is unsure. */
static pnVerdicts beyond(const float4 a[3], const float4 b[3]) {
  uint equal = 0;
  for (uint k = 0; k < 9; ++k) equal |= (uint)(as_uint(a[k / 3].w) == as_uint(b[k % 3].w)) << k;
  const uint more = equal & (equal - 1);
  if (equal == 0 || (more & (more - 1)) != 0) return (pnVerdicts){0, 1};
  const uint k = 31 - clz(equal ^ more), i = k / 3, j = k % 3;
  const float4 v = cornerOf(a[0], a[1], a[2], i);
  pnV4 p[5];
  p[0] = pointOf(v);
  bool same = samePlace(v, cornerOf(b[0], b[1], b[2], j));
  if (more == 0) {
    p[1] = pointOf(cornerOf(a[1], a[2], a[0], i)), p[2] = pointOf(cornerOf(a[2], a[0], a[1], i));
    p[3] = pointOf(cornerOf(b[1], b[2], b[0], j)), p[4] = pointOf(cornerOf(b[2], b[0], b[1], j));
    if (!same) return (pnVerdicts){0, 1};
    return pn_beyondCorner(p);
  }
  const uint l = 31 - clz(more), i2 = l / 3, j2 = l % 3;
  const float4 u = cornerOf(a[0], a[1], a[2], i2);
  same = same && i != i2 && j != j2 && samePlace(u, cornerOf(b[0], b[1], b[2], j2));
  if (!same) return (pnVerdicts){0, 1};
  p[1] = pointOf(u);
  p[2] = pointOf(cornerOf(a[0], a[1], a[2], 3 - i - i2)), p[3] = pointOf(cornerOf(b[0], b[1], b[2], 3 - j - j2));
  return pn_beyondEdge(p);
}

static bool shareCorner(const float4 a[3], const float4 b[3]) {
  return areNeighbours(as_uint(a[0].w), (uint2)(as_uint(a[1].w), as_uint(a[2].w)), as_uint(b[0].w),
                       (uint2)(as_uint(b[1].w), as_uint(b[2].w)));
}

/* Two triangles that share nothing. */
static pnVerdicts meeting(const float4 a[3], const float4 b[3]) {
  float p[6][3];
  for (int i = 0; i < 3; ++i) {
    p[i][0] = a[i].x, p[i][1] = a[i].y, p[i][2] = a[i].z;
    p[3 + i][0] = b[i].x, p[3 + i][1] = b[i].y, p[3 + i][2] = b[i].z;
  }
  pnVerdicts v;
  pn_meet1(p, &v.meet, &v.unsure);
  return v;
}

/* ---------------------------------------------------------------- candidates */

/* Items take every TEAM-th of a run of candidates, so many at most and fewer where there are few. Those that meet wait in local
 * memory until the run is done, so that a team takes its places in the list at once. */
#define RUN (8 * TEAM)

static void emitAll(const Emit *e, __local uint2 *wait, __local uint *length, __local uint *base) {
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint lane = get_local_id(0), n = *length;
  if (lane == 0 && n > 0) *base = atomic_add(e->head + e->how.place, n);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = lane; k < n; k += TEAM) putPair(e, *base + k, wait[k]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane == 0) *length = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(TEAM, 1, 1))) void narrow(
    EMIT_ARGUMENTS, __global const float4 *rec, __global const uint4 *tri, __global const uint2 *in, uint inCapacity,
    __global uint2 *unsure, uint unsureCapacity) {
  __local uint2 wait[RUN];
  __local uint waitLength, base;
  const Emit emit = EMIT_FROM_ARGUMENTS;
  const uint lane = get_local_id(0), n = min(head[HEAD_CANDIDATES], inCapacity);
  if (lane == 0) waitLength = base = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint run = min(n / (uint)get_global_size(0) + 1, (uint)(RUN / TEAM)) * TEAM;
  for (uint k0 = get_group_id(0) * run; k0 < n; k0 += get_num_groups(0) * run) {
    for (uint k = k0 + lane; k < min(n, k0 + run); k += TEAM) {
      const uint2 c = in[k];
      const float4 a[3] = {rec[3 * c.x], rec[3 * c.x + 1], rec[3 * c.x + 2]};
      const float4 b[3] = {rec[3 * c.y], rec[3 * c.y + 1], rec[3 * c.y + 2]};
      const pnVerdicts verdict = shareCorner(a, b) ? beyond(a, b) : meeting(a, b);
      if (verdict.meet) {
        const uint2 v = sortedPair(tri[c.x].w, tri[c.y].w);
        if (!(how.mode & EMIT_FIRST) || claims(&emit, v)) wait[atomic_inc(&waitLength)] = v;
      } else if (verdict.unsure) {
        putUnsure(head, unsure, unsureCapacity, c);
      }
    }
    emitAll(&emit, wait, &waitLength, &base);
  }
}
