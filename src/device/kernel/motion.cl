/* motion.cl: vertices from what moves them. The bits are those of src/mesh (deform_*.c), where the order of every sum is
 * defined; only weights, joints and transforms come from the host. Divisions and roots are taken in double, where the
 * standard promises their rounding, and then rounded to float: that is the rounded float result, as 53 >= 2 * 24 + 2. (A
 * compiler that knows this takes the float ones; program.c asks it to round these.) */

/* One body: where its numbers begin in the pools. The host has the same struct (device/world.h). */
typedef struct Motion {
  uint flags;         /* MOTION_... */
  uint vertexCount;
  uint out;           /* first vertex of the world */
  uint source;        /* vertex of the sources: rest or own */
  uint targetCount;
  uint weights;       /* in the inputs */
  uint entryFirst;    /* deltas: in the whole numbers; references: positions, a float of the constants */
  uint entries;       /* deltas: four floats each, the fourth its target, in the constants */
  uint influenceFirst; /* in the whole numbers */
  uint influences;    /* in the whole numbers, two each: weight as bits, joint */
  uint pivots;        /* weighted: a float of the constants */
  uint moves;         /* in the inputs: rows of 4; linear 3, weighted 5 a joint */
  uint transform;     /* in the inputs: 3 rows of 4 */
  uint spare[3];
} Motion;

#define MOTION_MOVED 1u
#define MOTION_DELTAS 2u
#define MOTION_REFERENCES 4u
#define MOTION_LINEAR 8u
#define MOTION_WEIGHTED 16u
#define MOTION_TRANSFORM 32u

#define MOTION_ITEMS 64

static float3 moveByRows(__global const float *m, float3 p) {
  const float4 r0 = vload4(0, m), r1 = vload4(1, m), r2 = vload4(2, m);
  return (float3)(((r0.x * p.x + r0.y * p.y) + r0.z * p.z) + r0.w, ((r1.x * p.x + r1.y * p.y) + r1.z * p.z) + r1.w,
                  ((r2.x * p.x + r2.y * p.y) + r2.z * p.z) + r2.w);
}

static float3 sumDeltas(__global const Motion *m, float3 p, uint v, __global const float *inputs,
                        __global const float *constants, __global const uint *whole) {
  const uint end = whole[m->entryFirst + v + 1];
  for (uint e = whole[m->entryFirst + v]; e < end; ++e) {
    const float4 entry = vload4(e, constants + m->entries);
    const float w = inputs[m->weights + as_uint(entry.w)];
    if (w != 0) p = p + w * entry.xyz;
  }
  return p;
}

static float3 sumReferences(__global const Motion *m, uint v, __global const float *inputs,
                            __global const float *constants) {
  float3 p = (float3)(-0.0f, -0.0f, -0.0f);
  __global const float *positions = constants + m->entryFirst + 3 * (size_t)v * m->targetCount;
  for (uint t = 0; t < m->targetCount; ++t) {
    const float w = inputs[m->weights + t];
    if (w != 0) p = p + w * vload3(t, positions);
  }
  return p;
}

static float3 moveLinear(__global const Motion *m, float3 p, uint v, __global const float *inputs,
                         __global const uint *whole) {
  float3 sum = (float3)(-0.0f, -0.0f, -0.0f);
  const uint end = whole[m->influenceFirst + v + 1];
  for (uint i = whole[m->influenceFirst + v]; i < end; ++i) {
    const uint2 influence = vload2(i, whole + m->influences);
    sum = sum + as_float(influence.x) * moveByRows(inputs + m->moves + 12 * influence.y, p);
  }
  return sum;
}

static float quotient(float a, float b) {
  return (float)((double)a / (double)b);
}

static float3 moveWeighted(__global const Motion *m, float3 p, uint v, __global const float *inputs,
                           __global const float *constants, __global const uint *whole) {
  const uint2 influence = vload2(whole[m->influenceFirst + v], whole + m->influences);
  __global const float *move = inputs + m->moves + 20 * influence.y;
  const float4 turn = vload4(3, move), slide = vload4(4, move);
  const float3 c = vload3(influence.y, constants + m->pivots), d = p - c;
  const float w = as_float(influence.x);
  /* pn_partTurn of mesh/skin.h */
  const float x = w * turn.x, y = w * turn.y, z = w * turn.z, s = (1 - w) + w * turn.w;
  const float length = (float)sqrt((double)(((x * x + y * y) + z * z) + s * s));
  const float4 q = (float4)(quotient(x, length), quotient(y, length), quotient(z, length), quotient(s, length));
  /* moveWeighted of mesh/deform_skin.c */
  const float3 t = (float3)(2 * (q.y * d.z - q.z * d.y), 2 * (q.z * d.x - q.x * d.z), 2 * (q.x * d.y - q.y * d.x));
  const float3 turned = (float3)((((d.x + q.w * t.x) + (q.y * t.z - q.z * t.y)) + c.x) + w * slide.x,
                                 (((d.y + q.w * t.y) + (q.z * t.x - q.x * t.z)) + c.y) + w * slide.y,
                                 (((d.z + q.w * t.z) + (q.x * t.y - q.y * t.x)) + c.z) + w * slide.z);
  return moveByRows(move, turned);
}

/* A group takes MOTION_ITEMS vertices of one body: chunks[g] is the body and the first of them. */
__kernel __attribute__((reqd_work_group_size(MOTION_ITEMS, 1, 1))) void evaluate(
    __global const uint2 *chunks, __global const Motion *motions, __global const float *sources,
    __global const float *inputs, __global const float *constants, __global const uint *whole, __global float *vert) {
  const uint2 chunk = chunks[get_group_id(0)];
  __global const Motion *m = motions + chunk.x;
  const uint v = chunk.y + get_local_id(0), flags = m->flags;
  if (!(flags & MOTION_MOVED) || v >= m->vertexCount) return;
  float3 p = (float3)(0, 0, 0);
  if (flags & MOTION_REFERENCES) p = sumReferences(m, v, inputs, constants);
  else p = vload3(m->source + v, sources);
  if (flags & MOTION_DELTAS) p = sumDeltas(m, p, v, inputs, constants, whole);
  if (flags & MOTION_LINEAR) p = moveLinear(m, p, v, inputs, whole);
  if (flags & MOTION_WEIGHTED) p = moveWeighted(m, p, v, inputs, constants, whole);
  if (flags & MOTION_TRANSFORM) p = moveByRows(inputs + m->transform, p);
  vstore3(p, m->out + v, vert);
}

/* For the test at the start: sums and products whose last bits tell a fused operation, a flushed number and a wider one. */
__kernel void motionTest(__global const float *in, __global float *out, uint n) {
  const uint k = get_global_id(0);
  if (k >= n) return;
  const float a = in[4 * k], b = in[4 * k + 1], c = in[4 * k + 2], d = in[4 * k + 3];
  out[4 * k] = (a * b + c * d) + a;
  out[4 * k + 1] = a * b - c * d;
  out[4 * k + 2] = quotient(a, b);
  out[4 * k + 3] = (float)sqrt((double)((a * a + b * b) + c * c));
}
