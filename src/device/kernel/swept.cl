/* swept.cl: what meets between the two ends of a step. Pairs of triangles whose boxes over the step overlap (pairs.cl) become
 * pairs of features, each once, by who owns them (collide/sweep.h); those that the filter of geom cannot prove apart at once are
 * searched for the first time they meet, by the same text as on the processor. What it cannot decide is handed to
 * the processor, with the places of its four points.
 *
 * A pair of features is two slots and a code: 0 to 2 a corner of the first with the second face, 3 to 5 the other way round, 6 + 3 i + j
 * the edge from corner i of the first with that from corner j of the second. It takes two numbers: slots have 30 bits, and
 * the code's two halves stand above them. */
#define SLOT_BITS 30
#define SLOT_MASK ((1u << SLOT_BITS) - 1)

static uint2 packFeatures(uint2 slots, uint code) {
  return (uint2)(slots.x | (code & 3) << SLOT_BITS, slots.y | code >> 2 << SLOT_BITS);
}

static uint codeOf(uint2 f) {
  return f.x >> SLOT_BITS | f.y >> SLOT_BITS << 2;
}

/* ---------------------------------------------------------------- features of two triangles */

/* A corner over the step: where it is at both ends, and its welded vertex. */
typedef struct Corner {
  float4 begin, end;
} Corner;

static Corner cornerAt(__global const float4 *rec0, __global const float4 *rec, uint slot, uint k) {
  return (Corner){rec0[3 * slot + k], rec[3 * slot + k]};
}

/* In one body: one vertex, or two that are welded and at one place at both ends. */
static bool isOneVertex(Corner a, Corner b) {
  return as_uint(a.begin.w) == as_uint(b.begin.w) && a.begin.x == b.begin.x && a.begin.y == b.begin.y &&
         a.begin.z == b.begin.z && a.end.x == b.end.x && a.end.y == b.end.y && a.end.z == b.end.z;
}

static float3 lowOf(Corner c) {
  return fmin(c.begin.xyz, c.end.xyz);
}

static float3 highOf(Corner c) {
  return fmax(c.begin.xyz, c.end.xyz);
}

static bool boxesMeet(float3 al, float3 ah, float3 bl, float3 bh) {
  return al.x <= bh.x && bl.x <= ah.x && al.y <= bh.y && bl.y <= ah.y && al.z <= bh.z && bl.z <= ah.z;
}

/* Which codes are worth a question: owned, boxes that overlap, no vertex in common. owned: bits 0 to 2 corners, 3 to 5 edges. */
static uint codesOf(const Corner a[3], const Corner b[3], uint ownedA, uint ownedB) {
  uint codes = 0;
  /* bit 3 i + j: corners i and j are one vertex; welded vertices have numbers of the world, so only in one body */
  uint same = 0;
  for (uint k = 0; k < 9; ++k) same |= (uint)isOneVertex(a[k / 3], b[k % 3]) << k;
  const float3 faceAl = fmin(lowOf(a[0]), fmin(lowOf(a[1]), lowOf(a[2])));
  const float3 faceAh = fmax(highOf(a[0]), fmax(highOf(a[1]), highOf(a[2])));
  const float3 faceBl = fmin(lowOf(b[0]), fmin(lowOf(b[1]), lowOf(b[2])));
  const float3 faceBh = fmax(highOf(b[0]), fmax(highOf(b[1]), highOf(b[2])));
  for (uint i = 0; i < 3; ++i) {
    if ((ownedA >> i & 1) && (same >> (3 * i) & 7) == 0 && boxesMeet(lowOf(a[i]), highOf(a[i]), faceBl, faceBh))
      codes |= 1u << i;
    if ((ownedB >> i & 1) && (same >> i & 0x49) == 0 && boxesMeet(lowOf(b[i]), highOf(b[i]), faceAl, faceAh))
      codes |= 8u << i;
  }
  for (uint i = 0; i < 3; ++i) {
    if (!(ownedA >> (3 + i) & 1)) continue;
    const uint i1 = i == 2 ? 0 : i + 1;
    const float3 al = fmin(lowOf(a[i]), lowOf(a[i1])), ah = fmax(highOf(a[i]), highOf(a[i1]));
    const uint shared = (same >> (3 * i) | same >> (3 * i1)) & 7;
    for (uint j = 0; j < 3; ++j) {
      const uint j1 = j == 2 ? 0 : j + 1;
      if ((ownedB >> (3 + j) & 1) && !(shared >> j & 1) && !(shared >> j1 & 1) &&
          boxesMeet(al, ah, fmin(lowOf(b[j]), lowOf(b[j1])), fmax(highOf(b[j]), highOf(b[j1]))))
        codes |= 64u << (3 * i + j);
    }
  }
  return codes;
}

/* The four points of two features, as the question wants them: x, y, z of each, begin and end side by side. */
typedef struct Points {
  pnD2 x[4][3];
} Points;

static void putPoint(Points *p, int i, Corner c) {
  p->x[i][0] = (double2)(c.begin.x, c.end.x);
  p->x[i][1] = (double2)(c.begin.y, c.end.y);
  p->x[i][2] = (double2)(c.begin.z, c.end.z);
}

/* A corner with a face. */
static void putVertexFace(Points *p, __global const float4 *rec0, __global const float4 *rec, uint slot, uint corner,
                          uint face) {
  putPoint(p, 0, cornerAt(rec0, rec, slot, corner));
  for (uint k = 0; k < 3; ++k) putPoint(p, 1 + (int)k, cornerAt(rec0, rec, face, k));
}

/* An edge, from its vertex of the smaller number. */
static void putEdge(Points *p, int at, __global const float4 *rec0, __global const float4 *rec, __global const uint4 *tri,
                    uint slot, uint i) {
  const uint4 t = tri[slot];
  const uint i1 = i == 2 ? 0 : i + 1, v = i == 0 ? t.x : i == 1 ? t.y : t.z, w = i1 == 0 ? t.x : i1 == 1 ? t.y : t.z;
  putPoint(p, at, cornerAt(rec0, rec, slot, v < w ? i : i1));
  putPoint(p, at + 1, cornerAt(rec0, rec, slot, v < w ? i1 : i));
}

static uint edgeOf(__global const uint4 *edges, uint slot, uint i) {
  const uint4 e = edges[slot];
  return i == 0 ? e.x : i == 1 ? e.y : e.z;
}

/* The whole question, and which of two edges comes first: of one body that of the smaller number, else that of the first. */
static pn_Features pointsOf(Points *p, __global const float4 *rec0, __global const float4 *rec, __global const uint4 *tri,
                            __global const uint4 *edges, bool self, uint a, uint b, uint code, bool *outTurned) {
  *outTurned = false;
  if (code < 3) putVertexFace(p, rec0, rec, a, code, b);
  else if (code < 6) putVertexFace(p, rec0, rec, b, code - 3, a);
  if (code < 6) return PN_VERTEX_FACE;
  const uint i = (code - 6) / 3, j = (code - 6) % 3;
  const bool turned = self && edgeOf(edges, a, i) > edgeOf(edges, b, j);
  putEdge(p, turned ? 2 : 0, rec0, rec, tri, a, i);
  putEdge(p, turned ? 0 : 2, rec0, rec, tri, b, j);
  *outTurned = turned;
  return PN_EDGE_EDGE;
}

/* Is it proved at once that they stay apart? The filter's first two steps, the cheaper first. */
static bool stayApart(pn_Features features, const Points *p) {
  const pnD2 *const places[4] = {p->x[0], p->x[1], p->x[2], p->x[3]};
  Motion q;
  if (!prepare(&q, features, places)) return false;
  makeCubic(&q);
  return neverFlat(&q, 1.0) || apart(&q);
}

/* ---------------------------------------------------------------- from triangles to features */

/* A team takes TEAM pairs of triangles, one a lane; their features wait in local memory, so that all lanes have one to ask. */
__kernel __attribute__((reqd_work_group_size(TEAM, 1, 1))) void sweptFeatures(
    __global const float4 *rec0, __global const float4 *rec, __global const uint4 *tri, __global const uint4 *edges,
    __global uint *head, __global const uint2 *in, uint inCapacity, __global uint2 *list, uint capacity) {
  __local uint2 pairs[TEAM];
  __local uint waiting[15 * TEAM]; /* lane and code */
  __local uint2 queue[QUEUE];
  __local uint waitingLength, queueLength, base;
  const uint lane = get_local_id(0), n = min(head[HEAD_CANDIDATES], inCapacity);
  uint asked = 0;
  if (lane == 0) queueLength = base = 0;
  for (uint k0 = get_group_id(0) * TEAM; k0 < n; k0 += get_num_groups(0) * TEAM) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) waitingLength = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k0 + lane < n) {
      const uint2 c = in[k0 + lane];
      pairs[lane] = c;
      const uint ownedA = edges[c.x].w, ownedB = edges[c.y].w;
      const Corner a[3] = {cornerAt(rec0, rec, c.x, 0), cornerAt(rec0, rec, c.x, 1), cornerAt(rec0, rec, c.x, 2)};
      const Corner b[3] = {cornerAt(rec0, rec, c.y, 0), cornerAt(rec0, rec, c.y, 1), cornerAt(rec0, rec, c.y, 2)};
      uint codes = codesOf(a, b, ownedA, ownedB), at = 0;
      if (codes) at = atomic_add(&waitingLength, popcount(codes));
      for (; codes; codes &= codes - 1) waiting[at++] = lane << 4 | (31 - clz(codes & -codes));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint length = waitingLength;
    for (uint w0 = 0; w0 < length; w0 += TEAM) {
      if (w0 + lane < length) {
        const uint code = waiting[w0 + lane] & 15;
        const uint2 c = pairs[waiting[w0 + lane] >> 4];
        Points p;
        bool turned;
        /* which edge comes first does not matter here: boundaries of the proof are the same for both */
        const pn_Features features = pointsOf(&p, rec0, rec, tri, edges, false, c.x, c.y, code, &turned);
        ++asked;
        if (!stayApart(features, &p)) PUSH(packFeatures(c, code));
      }
      MAKE_ROOM(TEAM, HEAD_SEARCH, LIST_SEARCH);
    }
  }
  spill(queue, &queueLength, &base, head, HEAD_SEARCH, LIST_SEARCH, list, capacity);
  if (asked > 0) atomic_add(head + HEAD_ASKED, asked);
}

/* ---------------------------------------------------------------- times */

/* No span is wider than this (pinch/geom.h: 1e-6). */
#define WIDEST_SPAN 0x1p-19

/* Who meets: two bodies (the first above, 16 bits each), the kind (pinch/collide.h) and the numbers of the features in their meshes. */
static uint4 namesOf(__global const uint4 *tri, __global const uint4 *weld, __global const uint4 *edges,
                     __global const uint2 *firsts, uint a, uint b, uint code, bool turned) {
  const uint bodyA = weld[a].w, bodyB = weld[b].w, bodies = bodyA << 16 | bodyB;
  const uint4 ta = tri[a], tb = tri[b];
  if (code < 3) {
    const uint v = code == 0 ? ta.x : code == 1 ? ta.y : ta.z;
    return (uint4)(bodies, 0, v - firsts[bodyA].x, tb.w - firsts[bodyB].y);
  }
  if (code < 6) {
    const uint v = (code == 3 ? tb.x : code == 4 ? tb.y : tb.z) - firsts[bodyB].x, face = ta.w - firsts[bodyA].y;
    /* of one body all are a vertex with a face */
    return bodyA == bodyB ? (uint4)(bodies, 0, v, face) : (uint4)(bodies, 1, face, v);
  }
  const uint e = edgeOf(edges, a, (code - 6) / 3), g = edgeOf(edges, b, (code - 6) % 3);
  return turned ? (uint4)(bodies, 2, g, e) : (uint4)(bodies, 2, e, g);
}

/* One pair of features an item. firsts: first vertex and first triangle of each body. earliest: of those that begin after another
 * has ended none is wanted; that time waits in the head, as a float that is not below it. */
__kernel void sweptSearch(__global const float4 *rec0, __global const float4 *rec, __global const uint4 *tri,
                          __global const uint4 *weld, __global const uint4 *edges, __global const uint2 *firsts,
                          __global uint *head, __global const uint2 *in, uint inCapacity, __global uint4 *names,
                          __global double2 *spans, uint capacity, __global uint4 *unsureNames, __global float *unsurePoints,
                          uint unsureCapacity, uint earliest) {
  const uint n = min(head[HEAD_SEARCH], inCapacity);
  for (uint k = get_global_id(0); k < n; k += get_global_size(0)) {
    const uint2 f = in[k];
    const uint a = f.x & SLOT_MASK, b = f.y & SLOT_MASK, code = codeOf(f);
    Points p;
    bool turned;
    const pn_Features features = pointsOf(&p, rec0, rec, tri, edges, weld[a].w == weld[b].w, a, b, code, &turned);
    const pnD2 *const places[4] = {p.x[0], p.x[1], p.x[2], p.x[3]};
    const double soonest = earliest ? (double)as_float(*(volatile __global uint *)(head + HEAD_SOONEST)) : INFINITY;
    pnImpactSpan span;
    span.meets = false, span.lo = span.hi = 0;
    const pn_Verdict verdict = pn_impactFilter(features, places, earliest ? fmin(soonest + WIDEST_SPAN, 1.0) : 1.0, &span);
    if (verdict == PN_APART || (verdict == PN_MEETING && span.lo > soonest)) continue;
    const uint4 who = namesOf(tri, weld, edges, firsts, a, b, code, turned);
    if (verdict == PN_MEETING) {
      const uint at = atomic_inc(head + HEAD_PAIRS);
      if (at < capacity) names[at] = who, spans[at] = (double2)(span.lo, span.hi);
      else atomic_or(head + HEAD_OVERFLOW, LIST_PAIRS);
      if (earliest) {
        float up = (float)span.hi;
        if ((double)up < span.hi) up = nextafter(up, INFINITY);
        atomic_min(head + HEAD_SOONEST, as_uint(up));
      }
      continue;
    }
    const uint at = atomic_inc(head + HEAD_UNSURE);
    if (at >= unsureCapacity) {
      atomic_or(head + HEAD_OVERFLOW, LIST_UNSURE);
      continue;
    }
    unsureNames[at] = who;
    for (int i = 0; i < 12; ++i) {
      unsurePoints[24 * at + 2 * i] = (float)p.x[i / 3][i % 3].x;
      unsurePoints[24 * at + 2 * i + 1] = (float)p.x[i / 3][i % 3].y;
    }
  }
}
