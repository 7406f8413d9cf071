/* fans.cl: triangles that share a vertex. There are six for each triangle, and nearly all lie side by side; so before they are
 * looked at pair by pair, a proof is tried for all around a vertex at once: that of collide/fan.h, along the three axes.
 *
 * Triangles around a vertex that close (each edge at it has two) are a fan: its ring is their other corners, in order. Look
 * along an axis. When all triangles of the fan turn the same way as seen from there, the ring goes
 * around the vertex always forward; when it comes around once, the triangles cover sectors that have only borders in common, and
 * two that share a border share the edge on it. So no two meet anywhere but where they must: in their common vertices.
 *
 * Which way a triangle turns is the sign of a * d - b * c, where a, b, c, d are differences of coordinates. In floats, with
 * u = 2^-24: differences are wrong by a factor 1 + u at most, products of them by (1 + u)^3, so that their difference, before
 * it is rounded, is off by less than (3u + 12u^2) S, with S the sum of their magnitudes. Rounding that difference, S, and the
 * bound itself costs three more factors: 4u S is enough, as 4u (1 - u)^3 > 3u + 12u^2. Products below 2^-126 may be wrong by
 * 2^-150 each: FAN_TINY. Which side of an axis a corner is on is exact, since a difference of floats has the right sign. */
#define FAN_BOUND 0x1p-22f
#define FAN_TINY 0x1p-126f

/* ring: n corners from `first` on. */
static bool isFlatFan(__global const float *vert, __global const uint *ring, uint first, uint n, uint vertex) {
  if (n < 3) return false;
  const float3 o = vload3(vertex, vert);
  int3 forward = (int3)(-1, -1, -1), backward = forward, turns = (int3)(0, 0, 0);
  float3 a = vload3(ring[first + n - 1], vert) - o;
  for (uint i = first; i < first + n; ++i) {
    const float3 b = vload3(ring[i], vert) - o, p = a.yzx * b.zxy, q = a.zxy * b.yzx, turn = p - q;
    const float3 bound = FAN_BOUND * (fabs(p) + fabs(q)) + FAN_TINY;
    /* comparing gives -1 for true; what is no number is false */
    forward &= turn > bound;
    backward &= -turn > bound;
    turns -= (a.zxy < 0.0f) & (b.zxy >= 0.0f);
    a = b;
  }
  return any((forward | backward) & (turns == 1));
}

#define FAN_ITEMS 64

/* fans: one a vertex of bodies that look at themselves: vertex, where its ring begins, where its pairs begin; and one more, where
 * the last ends. Each pair of neighbours stands at one vertex. These arrays never change. Where the proof fails the pairs
 * become candidates. */
__kernel __attribute__((reqd_work_group_size(FAN_ITEMS, 1, 1))) void neighbours(
    __global const uint2 *near, __global const uint4 *fans, __global const uint *rings, __global const float *vert, uint n,
    __global uint *head, __global uint2 *list, uint capacity) {
  __local uint length, base;
  const uint item = get_local_id(0);
  for (uint k0 = get_group_id(0) * FAN_ITEMS; k0 < n; k0 += get_num_groups(0) * FAN_ITEMS) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) length = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint first = 0, count = 0, at = 0;
    if (k0 + item < n) {
      const uint4 fan = fans[k0 + item], end = fans[k0 + item + 1];
      first = fan.z;
      count = isFlatFan(vert, rings, fan.y, end.y - fan.y, fan.x) ? 0 : end.z - fan.z;
    }
    if (count > 0) at = atomic_add(&length, count);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0 && length > 0) base = atomic_add(head + HEAD_CANDIDATES, length);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < count; ++i) {
      if (base + at + i < capacity) list[base + at + i] = near[first + i];
      else atomic_or(head + HEAD_OVERFLOW, LIST_CANDIDATES);
    }
  }
}
