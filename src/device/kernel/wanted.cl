/* wanted.cl: which self pairs a caller does not want to see; as collide/filter.c decides. Runs over the pairs found, which are
 * few, and hands on the others. */

/* The filter of a body. The host has the same struct (device/world.h). Offsets are into one array of whole numbers. */
typedef struct Wish {
  uint ring;        /* 0: none */
  uint restCount;   /* pairs that meet at rest, two numbers each, sorted */
  uint rest;
  uint groups;      /* one per triangle; PN_NONE: none */
  uint triangles;   /* three vertices a triangle */
  uint welds;       /* the welded vertex of each */
  uint welded;      /* not 0: some are another one */
  uint ringFirst;   /* of each welded vertex: its triangles are ringFirst[v] ... ringFirst[v + 1] - 1 of rings */
  uint rings;
  uint vertexFirst; /* the body's first in the world */
  uint spare[2];
} Wish;

/* Do two triangles share a vertex, by number, or by welding and place as they are now? */
static bool touchByVertex(__global const Wish *w, __global const uint *numbers, __global const float *vert, uint s,
                          uint t) {
  for (uint k = 0; k < 9; ++k) {
    const uint a = numbers[w->triangles + 3 * s + k / 3], b = numbers[w->triangles + 3 * t + k % 3];
    if (a == b) return true;
    if (w->welded && numbers[w->welds + a] == numbers[w->welds + b]) {
      const float3 p = vload3(w->vertexFirst + a, vert), q = vload3(w->vertexFirst + b, vert);
      if (p.x == q.x && p.y == q.y && p.z == q.z) return true;
    }
  }
  return false;
}

/* Is t within `ring` steps from s to a neighbour? Depth first, with the path in an array: OpenCL does not recurse. */
static bool isWithin(__global const Wish *w, __global const uint *numbers, __global const float *vert, uint s, uint t) {
  uint triangle[4], corner[4], at[4], depth = 0;
  if (touchByVertex(w, numbers, vert, s, t)) return true;
  triangle[0] = s, corner[0] = 0, at[0] = PN_NONE;
  while (w->ring > 1) {
    if (corner[depth] == 3) {
      if (depth == 0) return false;
      --depth;
      continue;
    }
    const uint v = numbers[w->welds + numbers[w->triangles + 3 * triangle[depth] + corner[depth]]];
    if (at[depth] == PN_NONE) at[depth] = numbers[w->ringFirst + v];
    if (at[depth] == numbers[w->ringFirst + v + 1]) {
      ++corner[depth];
      at[depth] = PN_NONE;
      continue;
    }
    const uint next = numbers[w->rings + at[depth]++];
    if (w->welded && !touchByVertex(w, numbers, vert, triangle[depth], next)) continue;
    if (touchByVertex(w, numbers, vert, next, t)) return true;
    /* one step more from `next`, when a step is left */
    if (depth + 2 < w->ring) {
      ++depth;
      triangle[depth] = next, corner[depth] = 0, at[depth] = PN_NONE;
    }
  }
  return false;
}

static bool metAtRest(__global const Wish *w, __global const uint *numbers, uint s, uint t) {
  uint low = 0, high = w->restCount;
  while (low < high) {
    const uint middle = (low + high) / 2;
    const uint2 p = vload2(middle, numbers + w->rest);
    if (p.x == s && p.y == t) return true;
    if (p.x < s || (p.x == s && p.y < t)) low = middle + 1;
    else high = middle;
  }
  return false;
}

__kernel void wanted(EMIT_ARGUMENTS, __global const uint2 *raw, uint rawCapacity, __global const Wish *wishes,
                     __global const uint *numbers, __global const float *vert) {
  const Emit emit = EMIT_FROM_ARGUMENTS;
  const uint n = min(head[HEAD_RAW], rawCapacity);
  for (uint k = get_global_id(0); k < n; k += get_global_size(0)) {
    const uint2 v = raw[k];
    const uint a = bodyOfTriangle(bodyFirst, how.bodyCount, v.x), b = bodyOfTriangle(bodyFirst, how.bodyCount, v.y);
    bool keep = true;
    if (a == b) {
      __global const Wish *w = wishes + a;
      const uint s = v.x - bodyFirst[a], t = v.y - bodyFirst[a];
      keep = !(w->groups != PN_NONE && numbers[w->groups + s] == numbers[w->groups + t]);
      keep = keep && !(w->restCount > 0 && metAtRest(w, numbers, s, t));
      keep = keep && !(w->ring > 0 && isWithin(w, numbers, vert, s, t));
    }
    if (keep) emitPair(&emit, v);
  }
}
