/* swept.cl: what meets between the two ends of a step. Pairs of triangles whose boxes over the step overlap (pairs.cl) become
 * pairs of features, each once, by who owns them (collide/sweep.h); those that the filter of geom cannot prove apart at once are
 * searched for the first time they meet, by the same text as on the processor. What it cannot decide is handed to
 * the exact program (swept_exact.cl), with the places of its four points.
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

/* Its box up to a time. */
typedef struct Reach {
  float3 low, high;
} Reach;

static Reach reachOf(Corner c, float until) {
  return (Reach){lowUntil(c.begin.xyz, c.end.xyz, until), highUntil(c.begin.xyz, c.end.xyz, until)};
}

static Reach around(Reach a, Reach b) {
  return (Reach){fmin(a.low, b.low), fmax(a.high, b.high)};
}

static bool boxesMeet(Reach a, Reach b) {
  return a.low.x <= b.high.x && b.low.x <= a.high.x && a.low.y <= b.high.y && b.low.y <= a.high.y &&
         a.low.z <= b.high.z && b.low.z <= a.high.z;
}

/* Which codes are worth a question: owned, boxes that overlap, no vertex in common. owned: bits 0 to 2 corners, 3 to 5 edges. */
static uint codesOf(const Corner a[3], const Corner b[3], uint ownedA, uint ownedB, float until) {
  uint codes = 0;
  /* bit 3 i + j: corners i and j are one vertex; welded vertices have numbers of the world, so only in one body */
  uint same = 0;
  for (uint k = 0; k < 9; ++k) same |= (uint)isOneVertex(a[k / 3], b[k % 3]) << k;
  const Reach ra[3] = {reachOf(a[0], until), reachOf(a[1], until), reachOf(a[2], until)};
  const Reach rb[3] = {reachOf(b[0], until), reachOf(b[1], until), reachOf(b[2], until)};
  const Reach faceA = around(ra[0], around(ra[1], ra[2])), faceB = around(rb[0], around(rb[1], rb[2]));
  for (uint i = 0; i < 3; ++i) {
    if ((ownedA >> i & 1) && (same >> (3 * i) & 7) == 0 && boxesMeet(ra[i], faceB)) codes |= 1u << i;
    if ((ownedB >> i & 1) && (same >> i & 0x49) == 0 && boxesMeet(rb[i], faceA)) codes |= 8u << i;
  }
  for (uint i = 0; i < 3; ++i) {
    const uint i1 = i == 2 ? 0 : i + 1, shared = (same >> (3 * i) | same >> (3 * i1)) & 7;
    const Reach edge = around(ra[i], ra[i1]);
    for (uint j = 0; j < 3; ++j) {
      const uint j1 = j == 2 ? 0 : j + 1;
      if ((ownedA >> (3 + i) & 1) && (ownedB >> (3 + j) & 1) && !(shared >> j & 1) && !(shared >> j1 & 1) &&
          boxesMeet(edge, around(rb[j], rb[j1])))
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

/* Is it proved at once that they stay apart up to a time? The filter's first two steps, the cheaper first. */
static bool stayApart(pn_Features features, const Points *p, float until) {
  const pnD2 *const places[4] = {p->x[0], p->x[1], p->x[2], p->x[3]};
  Motion q;
  if (!prepare(&q, features, places)) return false;
  makeCubic(&q);
  /* over the whole step its coefficients are those that there are */
  if (until == 1.0f) {
    const double low = least(least(q.c[0], q.c[1]), least(q.c[2], q.c[3]));
    const double high = most(most(q.c[0], q.c[1]), most(q.c[2], q.c[3]));
    return low > q.bound || high < -q.bound || apart(&q);
  }
  return neverFlat(&q, (double)until) || apart(&q);
}

/* The same without the first look, which they have behind them: as the filter goes on. */
static pn_Verdict searchFeatures(pn_Features features, const Points *p, double until, pnImpactSpan *span) {
  const pnD2 *const places[4] = {p->x[0], p->x[1], p->x[2], p->x[3]};
  Motion q;
  if (!prepare(&q, features, places)) return PN_UNCERTAIN;
  makeCubic(&q);
  return until < 1.0 && neverFlat(&q, until) ? PN_APART : search(&q, span);
}

/* ---------------------------------------------------------------- from triangles to features */

/* Is a corner with a face worth a search? And an edge with an edge? */
static bool cornerMayMeet(__global const float4 *rec0, __global const float4 *rec, uint2 f, float until) {
  const uint a = f.x & SLOT_MASK, b = f.y & SLOT_MASK, code = codeOf(f);
  const bool turned = code >= 3;
  Points p;
  putVertexFace(&p, rec0, rec, turned ? b : a, turned ? code - 3 : code, turned ? a : b);
  return !stayApart(PN_VERTEX_FACE, &p, until);
}

static bool sidesMayMeet(__global const float4 *rec0, __global const float4 *rec, uint2 f, float until) {
  const uint a = f.x & SLOT_MASK, b = f.y & SLOT_MASK, code = codeOf(f), i = (code - 6) / 3, j = (code - 6) % 3;
  Points p;
  /* which way an edge goes and which comes first does not matter for this proof */
  putPoint(&p, 0, cornerAt(rec0, rec, a, i)), putPoint(&p, 1, cornerAt(rec0, rec, a, i == 2 ? 0 : i + 1));
  putPoint(&p, 2, cornerAt(rec0, rec, b, j)), putPoint(&p, 3, cornerAt(rec0, rec, b, j == 2 ? 0 : j + 1));
  return !stayApart(PN_EDGE_EDGE, &p, until);
}

/* Puts features that wait, from the last on, and as long as there are `least`, to the question: TEAM at a time. */
#define ASK_WAITING(mayMeetThen, wait, waitLength, least)                                                 \
  do {                                                                                                    \
    uint left = waitLength;                                                                               \
    for (; left >= (least); left -= min(left, (uint)TEAM)) {                                              \
      const uint from = left - min(left, (uint)TEAM);                                                     \
      if (from + lane < left && mayMeetThen(rec0, rec, wait[from + lane], until)) PUSH(wait[from + lane]); \
      MAKE_ROOM(TEAM, HEAD_SEARCH, LIST_SEARCH);                                                          \
    }                                                                                                     \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                         \
    if (lane == 0) waitLength = left;                                                                     \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                         \
  } while (0)

/* A team takes TEAM pairs of triangles, one a lane; their features wait in local memory, corners with faces and edges with edges
 * apart, until there are TEAM of a kind: so all lanes have one to ask and it is the same question. The last round asks the rest. */
__kernel __attribute__((reqd_work_group_size(TEAM, 1, 1))) void sweptFeatures(
    __global const float4 *rec0, __global const float4 *rec, __global const uint4 *edges, __global uint *head,
    __global const uint2 *in, uint inCapacity, float until, __global uint2 *list, uint capacity) {
  __local uint2 corners[7 * TEAM], sides[10 * TEAM]; /* fewer than TEAM that wait, and those of TEAM pairs */
  __local uint2 queue[QUEUE];
  __local uint cornerLength, sideLength, queueLength, base, asked;
  const uint lane = get_local_id(0), n = min(head[HEAD_CANDIDATES], inCapacity), stride = get_num_groups(0) * TEAM;
  if (lane == 0) queueLength = base = cornerLength = sideLength = asked = 0;
  const uint begin = get_group_id(0) * TEAM, rounds = n > begin ? (n - begin + stride - 1) / stride : 0;
  for (uint round = 0; round < rounds; ++round) {
    const uint k = begin + round * stride + lane;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k < n) {
      const uint2 c = in[k];
      const uint ownedA = edges[c.x].w, ownedB = edges[c.y].w;
      const Corner a[3] = {cornerAt(rec0, rec, c.x, 0), cornerAt(rec0, rec, c.x, 1), cornerAt(rec0, rec, c.x, 2)};
      const Corner b[3] = {cornerAt(rec0, rec, c.y, 0), cornerAt(rec0, rec, c.y, 1), cornerAt(rec0, rec, c.y, 2)};
      const uint codes = codesOf(a, b, ownedA, ownedB, until);
      uint some = codes & 63, at = some ? atomic_add(&cornerLength, popcount(some)) : 0;
      for (; some; some &= some - 1) corners[at++] = packFeatures(c, 31 - clz(some & -some));
      some = codes & ~63u, at = some ? atomic_add(&sideLength, popcount(some)) : 0;
      for (; some; some &= some - 1) sides[at++] = packFeatures(c, 31 - clz(some & -some));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) asked += cornerLength + sideLength;
    const uint least = round + 1 < rounds ? TEAM : 1;
    ASK_WAITING(cornerMayMeet, corners, cornerLength, least);
    ASK_WAITING(sidesMayMeet, sides, sideLength, least);
    /* what still waits will be counted again */
    if (lane == 0) asked -= cornerLength + sideLength;
  }
  spill(queue, &queueLength, &base, head, HEAD_SEARCH, LIST_SEARCH, list, capacity);
  if (lane == 0 && asked > 0) atomic_add(head + HEAD_ASKED, asked);
}

/* ---------------------------------------------------------------- times */

/* No span is wider than this (pinch/geom.h: 1e-6). */
#define WIDEST_SPAN 0x1p-19

/* Who meets: two bodies (the first above, 16 bits each), the kind (pinch/collide.h) and the numbers of the features in their meshes. */
static uint4 namesOf(__global const uint4 *tri, __global const uint4 *weld, __global const uint4 *edges,
                     __global const Firsts *firsts, uint a, uint b, uint code, bool turned) {
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

/* One pair of features an item. Contacts after `until` may be left out. earliest: of those that begin after another has ended none
 * is wanted. */
__kernel void sweptSearch(IMPACT_ARGUMENTS, __global const float4 *rec0, __global const float4 *rec,
                          __global const uint4 *tri, __global const uint4 *weld, __global const uint4 *edges,
                          __global const uint2 *in, uint inCapacity, __global uint4 *unsureNames,
                          __global float *unsurePoints, uint unsureCapacity, float until) {
  const Impacts out = IMPACTS_FROM_ARGUMENTS;
  const uint n = min(head[HEAD_SEARCH], inCapacity);
  for (uint k = get_global_id(0); k < n; k += get_global_size(0)) {
    const uint2 f = in[k];
    const uint a = f.x & SLOT_MASK, b = f.y & SLOT_MASK, code = codeOf(f);
    Points p;
    bool turned;
    const pn_Features features = pointsOf(&p, rec0, rec, tri, edges, weld[a].w == weld[b].w, a, b, code, &turned);
    const double soonest = earliest ? (double)as_float(*(volatile __global uint *)(head + HEAD_SOONEST)) : INFINITY;
    pnImpactSpan span;
    span.meets = false, span.lo = span.hi = 0;
    const pn_Verdict verdict = searchFeatures(features, &p, fmin(soonest + WIDEST_SPAN, (double)until), &span);
    if (verdict == PN_APART || (verdict == PN_MEETING && span.lo > soonest)) continue;
    const uint4 who = namesOf(tri, weld, edges, firsts, a, b, code, turned);
    if (verdict == PN_MEETING) {
      putImpact(&out, who, span.lo, span.hi);
      continue;
    }
    const uint at = atomic_inc(head + HEAD_UNSURE);
    if (at >= unsureCapacity) {
      atomic_or(head + HEAD_OVERFLOW, LIST_UNSURE);
      continue;
    }
    unsureNames[at] = who;
    for (int i = 0; i < 12; ++i) {
      unsurePoints[24 * (size_t)at + 2 * i] = (float)p.x[i / 3][i % 3].x;
      unsurePoints[24 * (size_t)at + 2 * i + 1] = (float)p.x[i / 3][i % 3].y;
    }
  }
}

/* For the test before the first step: what the filter says, and its span. As sweptExactTest. */
__kernel void sweptTest(__global const float *points, __global double *answers, uint n) {
  for (uint k = get_global_id(0); k < n; k += get_global_size(0)) {
    Points p;
    for (int i = 0; i < 12; ++i)
      p.x[i / 3][i % 3] = (double2)(points[24 * (size_t)k + 2 * i], points[24 * (size_t)k + 2 * i + 1]);
    const pnD2 *const places[4] = {p.x[0], p.x[1], p.x[2], p.x[3]};
    pnImpactSpan span;
    span.meets = false, span.lo = span.hi = 0;
    answers[3 * k] = (double)pn_impactFilter(k % 2 ? PN_EDGE_EDGE : PN_VERTEX_FACE, places, 1.0, &span);
    answers[3 * k + 1] = span.lo, answers[3 * k + 2] = span.hi;
  }
}
