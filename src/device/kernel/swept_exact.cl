/* swept_exact.cl: features on which the filter of steps could not decide, in whole numbers. A program of its own: it takes a compiler
 * long, and is needed only where there are steps. Every item has a slate to write its numbers on (geom/whole.h). */

/* The places of four points, x, y, z of each, begin and end side by side: 24 floats. */
static pnImpactSpan decide(uint kind, __global const float *points, __global uint64_t *room) {
  pnMovingDouble moving;
  uint32_t limbs;
  for (int i = 0; i < 12; ++i) {
    moving.from[i / 3][i % 3] = (double)points[2 * i];
    moving.to[i / 3][i % 3] = (double)points[2 * i + 1];
  }
  return pn_impactExactOn(kind == 2 ? PN_EDGE_EDGE : PN_VERTEX_FACE, &moving, room, &limbs);
}

__kernel void sweptExact(IMPACT_ARGUMENTS, __global const uint4 *unsureNames, __global const float *unsurePoints,
                         uint unsureCapacity, __global uint64_t *slates) {
  const Impacts out = IMPACTS_FROM_ARGUMENTS;
  /* what is no number has no unit; the step has failed anyway */
  const uint n = head[HEAD_BAD] == PN_NONE ? min(head[HEAD_UNSURE], unsureCapacity) : 0;
  __global uint64_t *room = slates + get_global_id(0) * PN_SLATE_LIMBS;
  for (uint k = get_global_id(0); k < n; k += get_global_size(0)) {
    const uint4 who = unsureNames[k];
    const pnImpactSpan span = decide(who.y, unsurePoints + 24 * (size_t)k, room);
    if (span.meets) putImpact(&out, who, span.lo, span.hi);
  }
}

/* For the test before the first step: every other case two edges. An answer: 1 and the span, or 0. */
__kernel void sweptExactTest(__global const float *points, __global uint64_t *slates, __global double *answers, uint n) {
  __global uint64_t *room = slates + get_global_id(0) * PN_SLATE_LIMBS;
  for (uint k = get_global_id(0); k < n; k += get_global_size(0)) {
    const pnImpactSpan span = decide(k % 2 ? 2 : 0, points + 24 * (size_t)k, room);
    answers[3 * k] = span.meets ? 1 : 0;
    answers[3 * k + 1] = span.lo, answers[3 * k + 2] = span.hi;
  }
}
