/* swept_lane.cl: stands before the text of geom's filter for moving features (impact_filter.c), in the program of steps: what that
 * text expects of its surroundings. SWEPT also makes refit and trianglePairs look at both ends of a step. */
#define SWEPT

/* The head has more places, and one list is another. */
#undef HEAD_PLACES
#define HEAD_SEARCH 7  /* features that are not proved apart at once */
#define HEAD_SOONEST 8 /* the earliest end of a span that was found, as the bits of a float */
#define HEAD_ASKED 9   /* features asked */
#define HEAD_PLACES 10
#define LIST_SEARCH LIST_RAW

/* Both ends of a step side by side. */
typedef double2 pnD2;
#define PN_D2(a, b) ((double2)(a, b))
#define PN_LANE(v, k) ((k) ? (v).s1 : (v).s0)
#define pn_d2Max(a, b) fmax(a, b)
#define pn_d2Min(a, b) fmin(a, b)

/* Names that OpenCL has given away. */
#define cross crossOf
#define dot dotOf
#define mix mixOf

/* As in pinch/geom.h. */
typedef struct pnImpactSpan {
  bool meets;
  double lo, hi;
} pnImpactSpan;
typedef struct pnMovingDouble {
  double from[4][3], to[4][3];
} pnMovingDouble;
/* As in geom/triangle.h. */
typedef enum pn_Verdict { PN_APART, PN_MEETING, PN_UNCERTAIN } pn_Verdict;

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
