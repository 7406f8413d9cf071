/* lane.cl: registers of one lane, for the filters of collide that are written for several (geom/simd.h). */
typedef float pnF4;
#define pn_f4Set1(a) (a)
#define pn_f4Add(a, b) ((a) + (b))
#define pn_f4Sub(a, b) ((a) - (b))
#define pn_f4Mul(a, b) ((a) * (b))
#define pn_f4Neg(a) (-(a))
#define pn_f4Abs(a) fabs(a)
#define pn_f4Min(a, b) fmin(a, b)
#define pn_f4Max(a, b) fmax(a, b)
#define pn_f4And(a, b) as_float(as_uint(a) & as_uint(b))
#define pn_f4Or(a, b) as_float(as_uint(a) | as_uint(b))
#define pn_f4Xor(a, b) as_float(as_uint(a) ^ as_uint(b))
#define pn_f4AndNot(a, b) as_float(as_uint(a) & ~as_uint(b))
#define pn_f4Greater(a, b) as_float((a) > (b) ? 0xffffffffu : 0u)
#define pn_f4Signs(a) (as_uint(a) >> 31)
/* Only for a direction that is then proved to separate, or not: any rounding will do. */
#define pn_f4Sqrt(a) native_sqrt(a)
#define pn_f4Div(a, b) native_divide(a, b)

#define WIDE 4
#define NARROW_NAME pn_meet1
