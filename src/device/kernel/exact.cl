/* exact.cl: what the filters could not decide, by the exact tests of geom. A program of its own: it takes a compiler longer
 * than all others together. */
__kernel void exact(EMIT_ARGUMENTS, __global const float4 *rec, __global const uint4 *tri, __global const uint2 *unsure,
                    uint unsureCapacity) {
  const Emit emit = EMIT_FROM_ARGUMENTS;
  /* expansions of what is no number have no end; the frame has failed anyway */
  const uint n = head[HEAD_BAD] == PN_NONE ? min(head[HEAD_UNSURE], unsureCapacity) : 0;
  for (uint k = get_global_id(0); k < n; k += get_global_size(0)) {
    const uint2 c = unsure[k];
    float p[6][3];
    uint32_t weld[6];
    for (int i = 0; i < 3; ++i) {
      const float4 a = rec[3 * c.x + i], b = rec[3 * c.y + i];
      p[i][0] = a.x, p[i][1] = a.y, p[i][2] = a.z, weld[i] = as_uint(a.w);
      p[3 + i][0] = b.x, p[3 + i][1] = b.y, p[3 + i][2] = b.z, weld[3 + i] = as_uint(b.w);
    }
    /* welded vertices have numbers of the world: triangles of two bodies share none */
    const float *a[3] = {p[0], p[1], p[2]}, *b[3] = {p[3], p[4], p[5]};
    if (pn_trianglesMeetBeyondPtr(a, b, pn_sharedOfCorners(weld, weld + 3, a, b)))
      emitPair(&emit, sortedPair(tri[c.x].w, tri[c.y].w));
  }
}

/* For the test at the start: 18 coordinates and 6 welded vertices a case. */
__kernel void exactTest(__global const float *points, __global const uint *welds, __global uint *answers, uint n) {
  const uint k = get_global_id(0);
  if (k >= n) return;
  float p[6][3];
  uint32_t weld[6];
  for (int i = 0; i < 6; ++i) {
    for (int x = 0; x < 3; ++x) p[i][x] = points[18 * k + 3 * i + x];
    weld[i] = welds[6 * k + i];
  }
  const float *a[3] = {p[0], p[1], p[2]}, *b[3] = {p[3], p[4], p[5]};
  answers[k] = pn_trianglesMeetBeyondPtr(a, b, pn_sharedOfCorners(weld, weld + 3, a, b)) ? 1 : 0;
}
