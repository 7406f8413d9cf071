/* swept_lane.cl: stands before the text of geom's filter for moving features (impact_filter.c), in the program of steps: what that
 * text expects of its surroundings. SWEPT also makes refit and trianglePairs look at both ends of a step. */
#define SWEPT

/* What is done with both ends of a step side by side. */
#define PN_D2(a, b) ((double2)(a, b))
#define PN_LANE(v, k) ((k) ? (v).s1 : (v).s0)
#define pn_d2Max(a, b) fmax(a, b)
#define pn_d2Min(a, b) fmin(a, b)

/* Names that OpenCL has given away. */
#define cross crossOf
#define dot dotOf
#define mix mixOf

/* Where a point is lowest and highest from the begin to `until`. At 1 that is one of its ends. Before, its place then is computed with
 * three roundings of numbers below |begin| + |end|: 4u of them are added on both sides (collide/sweep.c). */
static float3 lowUntil(float3 begin, float3 end, float until) {
  if (until == 1.0f) return fmin(begin, end);
  const double3 a = convert_double3(begin), b = convert_double3(end), at = a + (double)until * (b - a);
  return convert_float3_rtn(fmin(a, at) - 0x1p-51 * (fabs(a) + fabs(b)));
}

static float3 highUntil(float3 begin, float3 end, float until) {
  if (until == 1.0f) return fmax(begin, end);
  const double3 a = convert_double3(begin), b = convert_double3(end), at = a + (double)until * (b - a);
  return convert_float3_rtp(fmax(a, at) + 0x1p-51 * (fabs(a) + fabs(b)));
}
