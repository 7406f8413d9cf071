/* simd_whole.h: four whole numbers of 32 bits (pnI4) and two doubles or whole numbers of 64 (pnD2, pnU2, pnL2), on
 * NEON, SSE2, or in plain C, as in simd.h: the same bits everywhere. */
#ifndef PN_GEOM_SIMD_WHOLE_H
#define PN_GEOM_SIMD_WHOLE_H

#include "geom/simd.h"

/* ---------------------------------------------------------------- four 32-bit integers */

/* Sums, products, shifts and comparisons are written as for plain numbers; compilers that know no vectors make loops of
 * them, with the same result. What has no operator is here. */
typedef int32_t pnI4 __attribute__((vector_size(16)));
typedef uint32_t pnU4 __attribute__((vector_size(16)));
PN_INLINE pnI4 pn_i4Load(const void *p) {
  pnI4 a;
  memcpy(&a, p, sizeof a);
  return a;
}
PN_INLINE void pn_i4Store(void *p, pnI4 a) {
  memcpy(p, &a, sizeof a);
}
#if PN_SIMD_NEON
PN_INLINE pnI4 pn_i4Min(pnI4 a, pnI4 b) {
  return (pnI4)vminq_s32((int32x4_t)a, (int32x4_t)b);
}
PN_INLINE pnI4 pn_i4Max(pnI4 a, pnI4 b) {
  return (pnI4)vmaxq_s32((int32x4_t)a, (int32x4_t)b);
}
/* Lanes 0 and 2 of a and of b; lanes 1 and 3. */
PN_INLINE pnI4 pn_i4Even(pnI4 a, pnI4 b) {
  return (pnI4)vuzp1q_s32((int32x4_t)a, (int32x4_t)b);
}
PN_INLINE pnI4 pn_i4Odd(pnI4 a, pnI4 b) {
  return (pnI4)vuzp2q_s32((int32x4_t)a, (int32x4_t)b);
}
#else
PN_INLINE pnI4 pn_i4Min(pnI4 a, pnI4 b) {
  pnI4 less = a < b;
  return (a & less) | (b & ~less);
}
PN_INLINE pnI4 pn_i4Max(pnI4 a, pnI4 b) {
  pnI4 more = a > b;
  return (a & more) | (b & ~more);
}
PN_INLINE pnI4 pn_i4Even(pnI4 a, pnI4 b) {
  return (pnI4){a[0], a[2], b[0], b[2]};
}
PN_INLINE pnI4 pn_i4Odd(pnI4 a, pnI4 b) {
  return (pnI4){a[1], a[3], b[1], b[3]};
}
#endif

/* Is any lane other than zero? */
PN_INLINE bool pn_i4Any(pnI4 a) {
  uint64_t halves[2];
  memcpy(halves, &a, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

/* ---------------------------------------------------------------- two of 64 bits */

/* Written like pnI4. */
typedef double pnD2 __attribute__((vector_size(16)));
typedef uint64_t pnU2 __attribute__((vector_size(16)));
typedef int64_t pnL2 __attribute__((vector_size(16)));
/* Two doubles, and one of the lanes: in words that a device's compiler knows in its own way (src/device). */
#define PN_D2(a, b) ((pnD2){a, b})
#define PN_LANE(v, k) ((v)[k])
/* The larger and the smaller; neither may be NaN, and which of two zeros comes out is not said. */
#if PN_SIMD_NEON
PN_INLINE pnD2 pn_d2Max(pnD2 a, pnD2 b) {
  return (pnD2)vmaxq_f64((float64x2_t)a, (float64x2_t)b);
}
PN_INLINE pnD2 pn_d2Min(pnD2 a, pnD2 b) {
  return (pnD2)vminq_f64((float64x2_t)a, (float64x2_t)b);
}
#elif PN_SIMD_SSE2
PN_INLINE pnD2 pn_d2Max(pnD2 a, pnD2 b) {
  return (pnD2)_mm_max_pd((__m128d)a, (__m128d)b);
}
PN_INLINE pnD2 pn_d2Min(pnD2 a, pnD2 b) {
  return (pnD2)_mm_min_pd((__m128d)a, (__m128d)b);
}
#else
PN_INLINE pnD2 pn_d2Max(pnD2 a, pnD2 b) {
  return (pnD2){a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]};
}
PN_INLINE pnD2 pn_d2Min(pnD2 a, pnD2 b) {
  return (pnD2){a[0] < b[0] ? a[0] : b[0], a[1] < b[1] ? a[1] : b[1]};
}
#endif
/* Four doubles as the nearest floats. */
PN_INLINE pnF4 pn_f4OfDoubles(pnD2 a, pnD2 b) {
#if PN_SIMD_NEON
  return vcvt_high_f32_f64(vcvt_f32_f64((float64x2_t)a), (float64x2_t)b);
#elif PN_SIMD_SSE2
  return _mm_movelh_ps(_mm_cvtpd_ps((__m128d)a), _mm_cvtpd_ps((__m128d)b));
#else
  return (pnF4){{(float)a[0], (float)a[1], (float)b[0], (float)b[1]}};
#endif
}
/* p[0] - q[0] and p[1] - q[1] as the nearest floats. */
PN_INLINE pnF4 pn_f4OfDifferences(const pnD2 *p, const pnD2 *q) {
#if PN_SIMD_SSE2 && defined(__AVX2__)
  return _mm256_cvtpd_ps(_mm256_sub_pd(_mm256_loadu_pd((const double *)p), _mm256_loadu_pd((const double *)q)));
#else
  return pn_f4OfDoubles(p[0] - q[0], p[1] - q[1]);
#endif
}
/* Lanes 0 and 1, and 2 and 3. */
PN_INLINE pnD2 pn_d2OfLow(pnI4 a) {
#if PN_SIMD_NEON
  return (pnD2)vcvtq_f64_s64(vmovl_s32(vget_low_s32((int32x4_t)a)));
#else
  return (pnD2){(double)a[0], (double)a[1]};
#endif
}
PN_INLINE pnD2 pn_d2OfHigh(pnI4 a) {
#if PN_SIMD_NEON
  return (pnD2)vcvtq_f64_s64(vmovl_high_s32((int32x4_t)a));
#else
  return (pnD2){(double)a[2], (double)a[3]};
#endif
}
/* Towards zero, and down; they must fit. */
PN_INLINE pnL2 pn_l2Of(pnD2 a) {
  return __builtin_convertvector(a, pnL2);
}
PN_INLINE pnL2 pn_l2Floor(pnD2 a) {
#if PN_SIMD_NEON
  return (pnL2)vcvtmq_s64_f64((float64x2_t)a);
#else
  return (pnL2){(int64_t)floor(a[0]), (int64_t)floor(a[1])};
#endif
}
/* a where the mask is set, b elsewhere. */
PN_INLINE pnD2 pn_d2Select(pnU2 mask, pnD2 a, pnD2 b) {
  return (pnD2)((mask & (pnU2)a) | (~mask & (pnU2)b));
}
/* The upper halves of four. */
PN_INLINE pnI4 pn_i4Upper(pnU2 a, pnU2 b) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return pn_i4Even((pnI4)a, (pnI4)b);
#else
  return pn_i4Odd((pnI4)a, (pnI4)b);
#endif
}

#endif
