/* refit.cl: where the triangles are now. A slot is a triangle's place in the order fixed when the world was laid out; 32
 * slots are a cluster, 32 clusters a super. With SWEPT (swept_lane.cl) boxes are around both ends of a step. Each slot gets a record (three corners, each with its welded vertex), each
 * cluster and each super a box. One work-group is one super. The frame's counters begin at zero here.
 *
 * Boxes have their body in the fourth number of the lower corner; that of a super is PN_NONE when it holds several. */
#define REFIT_ITEMS 256
#define SUPER 1024

/* The box of slot i in local memory: coordinate k of all slots, lower corners and then upper ones. */
#define BOX(k, i) box[(k) * SUPER + (i)]

__kernel __attribute__((reqd_work_group_size(REFIT_ITEMS, 1, 1))) void refit(
    __global const uint4 *tri, __global const uint4 *weld, __global const float *vert, __global const uint *clusterBody,
    __global const uint *superBody, __global float4 *rec, __global float4 *clusterLow, __global float4 *clusterHigh,
    __global float4 *superLow, __global float4 *superHigh, __global uint *head,
#ifdef SWEPT
    __global const float *vert0, __global float4 *rec0, float until,
#endif
    __global uint *count, uint countLength) {
  __local float box[6 * SUPER];
  __local float clusterBox[6 * 32];
  __local uint bad;
  const uint item = get_local_id(0), super = get_group_id(0);
  if (item == 0) bad = 0;
  if (super == 0 && item < HEAD_PLACES) head[item] = item == HEAD_BAD ? PN_NONE : 0;
#ifdef SWEPT
  if (super == 0 && item == HEAD_SOONEST) head[item] = as_uint(INFINITY);
#endif
  barrier(CLK_LOCAL_MEM_FENCE);

  for (uint i = item; i < SUPER; i += REFIT_ITEMS) {
    const uint slot = super * SUPER + i;
    const uint4 t = tri[slot];
    float3 low = (float3)(INFINITY, INFINITY, INFINITY), high = -low;
    if (t.w != PN_NONE) {
      const uint4 w = weld[slot];
      const float3 a = vload3(t.x, vert), b = vload3(t.y, vert), c = vload3(t.z, vert);
      rec[3 * slot] = (float4)(a, as_float(w.x));
      rec[3 * slot + 1] = (float4)(b, as_float(w.y));
      rec[3 * slot + 2] = (float4)(c, as_float(w.z));
      low = fmin(a, fmin(b, c));
      high = fmax(a, fmax(b, c));
      const float3 far = fmax(fabs(a), fmax(fabs(b), fabs(c))), sum = (a + b) + c;
      /* a maximum forgets NaN, a sum does not (and may overflow: then the maximum is asked) */
      const bool finite = far.x <= FLT_MAX && far.y <= FLT_MAX && far.z <= FLT_MAX;
      const bool number = !(isnan(sum.x) || isnan(sum.y) || isnan(sum.z));
      if (!finite || !number) bad = 1;
#ifdef SWEPT
      const float3 a0 = vload3(t.x, vert0), b0 = vload3(t.y, vert0), c0 = vload3(t.z, vert0);
      rec0[3 * slot] = (float4)(a0, as_float(w.x));
      rec0[3 * slot + 1] = (float4)(b0, as_float(w.y));
      rec0[3 * slot + 2] = (float4)(c0, as_float(w.z));
      low = fmin(lowUntil(a0, a, until), fmin(lowUntil(b0, b, until), lowUntil(c0, c, until)));
      high = fmax(highUntil(a0, a, until), fmax(highUntil(b0, b, until), highUntil(c0, c, until)));
      const float3 wrong = (a0 - a0) + (b0 - b0) + (c0 - c0); /* 0, or NaN */
      if (!(wrong.x == 0 && wrong.y == 0 && wrong.z == 0)) bad = 1;
#endif
    }
    /* each slot clears a count, of whichever triangle; of features there are more than slots */
    for (uint k = slot; k < countLength; k += get_num_groups(0) * SUPER) count[k] = 0;
    BOX(0, i) = low.x, BOX(1, i) = low.y, BOX(2, i) = low.z;
    BOX(3, i) = high.x, BOX(4, i) = high.y, BOX(5, i) = high.z;
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  /* an item is one coordinate of one cluster; starting at different places they do not wait for one another's bank */
  if (item < 6 * 32) {
    const uint k = item / 32, cluster = item % 32;
    float best = BOX(k, 32 * cluster + cluster);
    for (uint i = 1; i < 32; ++i) {
      const float other = BOX(k, 32 * cluster + ((i + cluster) & 31));
      best = k < 3 ? fmin(best, other) : fmax(best, other);
    }
    clusterBox[item] = best;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < 32) {
    const uint cluster = super * 32 + item;
    clusterLow[cluster] =
        (float4)(clusterBox[item], clusterBox[32 + item], clusterBox[64 + item], as_float(clusterBody[cluster]));
    clusterHigh[cluster] = (float4)(clusterBox[96 + item], clusterBox[128 + item], clusterBox[160 + item], 0);
  }
  if (item >= 32 && item < 38) {
    const uint k = item - 32;
    float best = clusterBox[32 * k];
    for (uint i = 1; i < 32; ++i) best = k < 3 ? fmin(best, clusterBox[32 * k + i]) : fmax(best, clusterBox[32 * k + i]);
    box[k] = best;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0) {
    superLow[super] = (float4)(box[0], box[1], box[2], as_float(superBody[super]));
    superHigh[super] = (float4)(box[3], box[4], box[5], bad != 0 ? 1.0f : 0.0f);
  }
}
