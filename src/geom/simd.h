/* simd.h: with its neighbours simd_*.h the only file with intrinsics. Four floats (pnF4), on NEON, SSE2, or in plain C (PN_SCALAR:
 * the twin that must give the same bits). Eight floats (pnF8) for files compiled for AVX2.
 *
 * Only operations that round the same way everywhere are here: no reciprocal estimates, and no fused multiply-add but where it says so.
 * Masks are all-ones or all-zero lanes, kept in the same types. */
#ifndef PN_GEOM_SIMD_H
#define PN_GEOM_SIMD_H

#include "base/core.h"

#include <math.h>
#include <string.h>

#if !defined(PN_SCALAR) && defined(__ARM_NEON) && defined(__aarch64__)
#define PN_SIMD_NEON 1
#define PN_SIMD_NAME "neon"
#include <arm_neon.h>
#elif !defined(PN_SCALAR) && defined(__SSE2__)
#define PN_SIMD_SSE2 1
#define PN_SIMD_NAME "sse2"
#include <emmintrin.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif
#else
#define PN_SIMD_NONE 1
#define PN_SIMD_NAME "scalar"
#endif

/* PN_AVX512: this build has files for it. Has the machine? All that they are compiled for (CMakeLists.txt), or nothing. The first machines
 * with AVX-512 cannot move bytes about (VBMI): they have the filter of sixteen, but not what is made of look-ups. */
#if defined(PN_AVX512)
PN_INLINE bool pn_hasAvx512(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

PN_INLINE bool pn_hasVbmi(void) {
  return pn_hasAvx512() && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
}
#endif

/* ---------------------------------------------------------------- four floats */

#if PN_SIMD_NEON
typedef float32x4_t pnF4;
PN_INLINE pnF4 pn_f4Load(const float *p) {
  return vld1q_f32(p);
}
/* Four floats of which only the upper halves are kept. */
PN_INLINE pnF4 pn_f4FromUpper(const uint16_t *p) {
  return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16));
}
/* Four 16-bit integers as floats. */
PN_INLINE pnF4 pn_f4FromShorts(const int16_t *p) {
  return vcvtq_f32_s32(vmovl_s16(vld1_s16(p)));
}
PN_INLINE void pn_f4Store(float *p, pnF4 a) {
  vst1q_f32(p, a);
}
PN_INLINE pnF4 pn_f4Set1(float x) {
  return vdupq_n_f32(x);
}
PN_INLINE pnF4 pn_f4Add(pnF4 a, pnF4 b) {
  return vaddq_f32(a, b);
}
PN_INLINE pnF4 pn_f4Sub(pnF4 a, pnF4 b) {
  return vsubq_f32(a, b);
}
PN_INLINE pnF4 pn_f4Mul(pnF4 a, pnF4 b) {
  return vmulq_f32(a, b);
}
/* c + a b and c - a b, rounded once: for filters that have a bound and are never wrong, as no other machine has the same bits. */
#define PN_F4_FUSED 1
PN_INLINE pnF4 pn_f4FusedAdd(pnF4 c, pnF4 a, pnF4 b) {
  return vfmaq_f32(c, a, b);
}
PN_INLINE pnF4 pn_f4FusedSub(pnF4 c, pnF4 a, pnF4 b) {
  return vfmsq_f32(c, a, b);
}
PN_INLINE pnF4 pn_f4Div(pnF4 a, pnF4 b) {
  return vdivq_f32(a, b);
}
PN_INLINE pnF4 pn_f4Sqrt(pnF4 a) {
  return vsqrtq_f32(a);
}
PN_INLINE pnF4 pn_f4Min(pnF4 a, pnF4 b) {
  return vminq_f32(a, b);
}
PN_INLINE pnF4 pn_f4Max(pnF4 a, pnF4 b) {
  return vmaxq_f32(a, b);
}
PN_INLINE pnF4 pn_f4Abs(pnF4 a) {
  return vabsq_f32(a);
}
PN_INLINE pnF4 pn_f4Neg(pnF4 a) {
  return vnegq_f32(a);
}
/* Lane i, a constant, four times. */
#define pn_f4Splat(a, i) vdupq_laneq_f32(a, i)
#define PN_BITS(a) vreinterpretq_u32_f32(a)
#define PN_FLOATS(a) vreinterpretq_f32_u32(a)
PN_INLINE pnF4 pn_f4And(pnF4 a, pnF4 b) {
  return PN_FLOATS(vandq_u32(PN_BITS(a), PN_BITS(b)));
}
PN_INLINE pnF4 pn_f4Or(pnF4 a, pnF4 b) {
  return PN_FLOATS(vorrq_u32(PN_BITS(a), PN_BITS(b)));
}
PN_INLINE pnF4 pn_f4Xor(pnF4 a, pnF4 b) {
  return PN_FLOATS(veorq_u32(PN_BITS(a), PN_BITS(b)));
}
/* a and not b */
PN_INLINE pnF4 pn_f4AndNot(pnF4 a, pnF4 b) {
  return PN_FLOATS(vbicq_u32(PN_BITS(a), PN_BITS(b)));
}
PN_INLINE pnF4 pn_f4Greater(pnF4 a, pnF4 b) {
  return PN_FLOATS(vcgtq_f32(a, b));
}
/* The sign bits of the four lanes, lane 0 lowest. */
PN_INLINE unsigned pn_f4Signs(pnF4 a) {
  static const int32_t shift[4] = {0, 1, 2, 3};
  return vaddvq_u32(vshlq_u32(vshrq_n_u32(PN_BITS(a), 31), vld1q_s32(shift)));
}
PN_INLINE bool pn_f4AnySign(pnF4 a) {
  return vmaxvq_u32(PN_BITS(a)) >> 31;
}
#undef PN_BITS
#undef PN_FLOATS
/* Rows a, b, c, d of (x, y, z, -) into columns. */
PN_INLINE void pn_f4Transpose3(pnF4 a, pnF4 b, pnF4 c, pnF4 d, pnF4 *x, pnF4 *y, pnF4 *z) {
  pnF4 t0 = vzip1q_f32(a, c), t1 = vzip2q_f32(a, c), t2 = vzip1q_f32(b, d), t3 = vzip2q_f32(b, d);
  *x = vzip1q_f32(t0, t2);
  *y = vzip2q_f32(t0, t2);
  *z = vzip1q_f32(t1, t3);
}
/* Rows of four into columns. */
PN_INLINE void pn_f4Transpose4(pnF4 a, pnF4 b, pnF4 c, pnF4 d, pnF4 out[4]) {
  pnF4 t0 = vzip1q_f32(a, c), t1 = vzip2q_f32(a, c), t2 = vzip1q_f32(b, d), t3 = vzip2q_f32(b, d);
  out[0] = vzip1q_f32(t0, t2);
  out[1] = vzip2q_f32(t0, t2);
  out[2] = vzip1q_f32(t1, t3);
  out[3] = vzip2q_f32(t1, t3);
}
#elif PN_SIMD_SSE2
typedef __m128 pnF4;
PN_INLINE pnF4 pn_f4Load(const float *p) {
  return _mm_loadu_ps(p);
}
PN_INLINE pnF4 pn_f4FromUpper(const uint16_t *p) {
  return _mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), _mm_loadl_epi64((const __m128i *)(const void *)p)));
}
PN_INLINE pnF4 pn_f4FromShorts(const int16_t *p) {
  __m128i x = _mm_loadl_epi64((const __m128i *)(const void *)p);
  return _mm_cvtepi32_ps(_mm_srai_epi32(_mm_unpacklo_epi16(x, x), 16));
}
PN_INLINE void pn_f4Store(float *p, pnF4 a) {
  _mm_storeu_ps(p, a);
}
PN_INLINE pnF4 pn_f4Set1(float x) {
  return _mm_set1_ps(x);
}
PN_INLINE pnF4 pn_f4Add(pnF4 a, pnF4 b) {
  return _mm_add_ps(a, b);
}
PN_INLINE pnF4 pn_f4Sub(pnF4 a, pnF4 b) {
  return _mm_sub_ps(a, b);
}
PN_INLINE pnF4 pn_f4Mul(pnF4 a, pnF4 b) {
  return _mm_mul_ps(a, b);
}
PN_INLINE pnF4 pn_f4Div(pnF4 a, pnF4 b) {
  return _mm_div_ps(a, b);
}
PN_INLINE pnF4 pn_f4Sqrt(pnF4 a) {
  return _mm_sqrt_ps(a);
}
PN_INLINE pnF4 pn_f4Min(pnF4 a, pnF4 b) {
  return _mm_min_ps(a, b);
}
PN_INLINE pnF4 pn_f4Max(pnF4 a, pnF4 b) {
  return _mm_max_ps(a, b);
}
PN_INLINE pnF4 pn_f4Abs(pnF4 a) {
  return _mm_andnot_ps(_mm_set1_ps(-0.0f), a);
}
PN_INLINE pnF4 pn_f4Neg(pnF4 a) {
  return _mm_xor_ps(_mm_set1_ps(-0.0f), a);
}
#define pn_f4Splat(a, i) _mm_shuffle_ps(a, a, _MM_SHUFFLE(i, i, i, i))
PN_INLINE pnF4 pn_f4And(pnF4 a, pnF4 b) {
  return _mm_and_ps(a, b);
}
PN_INLINE pnF4 pn_f4Or(pnF4 a, pnF4 b) {
  return _mm_or_ps(a, b);
}
PN_INLINE pnF4 pn_f4Xor(pnF4 a, pnF4 b) {
  return _mm_xor_ps(a, b);
}
PN_INLINE pnF4 pn_f4AndNot(pnF4 a, pnF4 b) {
  return _mm_andnot_ps(b, a);
}
PN_INLINE pnF4 pn_f4Greater(pnF4 a, pnF4 b) {
  return _mm_cmpgt_ps(a, b);
}
PN_INLINE unsigned pn_f4Signs(pnF4 a) {
  return (unsigned)_mm_movemask_ps(a);
}
PN_INLINE bool pn_f4AnySign(pnF4 a) {
  return _mm_movemask_ps(a) != 0;
}
PN_INLINE void pn_f4Transpose3(pnF4 a, pnF4 b, pnF4 c, pnF4 d, pnF4 *x, pnF4 *y, pnF4 *z) {
  pnF4 t0 = _mm_unpacklo_ps(a, c), t1 = _mm_unpackhi_ps(a, c);
  pnF4 t2 = _mm_unpacklo_ps(b, d), t3 = _mm_unpackhi_ps(b, d);
  *x = _mm_unpacklo_ps(t0, t2);
  *y = _mm_unpackhi_ps(t0, t2);
  *z = _mm_unpacklo_ps(t1, t3);
}
PN_INLINE void pn_f4Transpose4(pnF4 a, pnF4 b, pnF4 c, pnF4 d, pnF4 out[4]) {
  pnF4 t0 = _mm_unpacklo_ps(a, c), t1 = _mm_unpackhi_ps(a, c);
  pnF4 t2 = _mm_unpacklo_ps(b, d), t3 = _mm_unpackhi_ps(b, d);
  out[0] = _mm_unpacklo_ps(t0, t2);
  out[1] = _mm_unpackhi_ps(t0, t2);
  out[2] = _mm_unpacklo_ps(t1, t3);
  out[3] = _mm_unpackhi_ps(t1, t3);
}
#else
typedef struct pnF4 {
  float f[4];
} pnF4;
#define PN_EACH4(r, expr)                      \
  pnF4 r;                                      \
  for (int i = 0; i < 4; ++i) r.f[i] = (expr); \
  return r
PN_INLINE uint32_t pn_floatBits(float x) {
  uint32_t u;
  memcpy(&u, &x, 4);
  return u;
}
PN_INLINE float pn_bitsFloat(uint32_t u) {
  float x;
  memcpy(&x, &u, 4);
  return x;
}
PN_INLINE pnF4 pn_f4Load(const float *p) {
  PN_EACH4(r, p[i]);
}
PN_INLINE pnF4 pn_f4FromUpper(const uint16_t *p) {
  pnF4 r;
  for (int i = 0; i < 4; ++i) {
    uint32_t bits = (uint32_t)p[i] << 16;
    memcpy(&r.f[i], &bits, sizeof bits);
  }
  return r;
}
PN_INLINE pnF4 pn_f4FromShorts(const int16_t *p) {
  return (pnF4){{(float)p[0], (float)p[1], (float)p[2], (float)p[3]}};
}
PN_INLINE void pn_f4Store(float *p, pnF4 a) {
  memcpy(p, a.f, 16);
}
PN_INLINE pnF4 pn_f4Set1(float x) {
  PN_EACH4(r, x);
}
PN_INLINE pnF4 pn_f4Add(pnF4 a, pnF4 b) {
  PN_EACH4(r, a.f[i] + b.f[i]);
}
PN_INLINE pnF4 pn_f4Sub(pnF4 a, pnF4 b) {
  PN_EACH4(r, a.f[i] - b.f[i]);
}
PN_INLINE pnF4 pn_f4Mul(pnF4 a, pnF4 b) {
  PN_EACH4(r, a.f[i] * b.f[i]);
}
PN_INLINE pnF4 pn_f4Div(pnF4 a, pnF4 b) {
  PN_EACH4(r, a.f[i] / b.f[i]);
}
PN_INLINE pnF4 pn_f4Sqrt(pnF4 a) {
  PN_EACH4(r, sqrtf(a.f[i]));
}
PN_INLINE pnF4 pn_f4Min(pnF4 a, pnF4 b) {
  PN_EACH4(r, a.f[i] < b.f[i] ? a.f[i] : b.f[i]);
}
PN_INLINE pnF4 pn_f4Max(pnF4 a, pnF4 b) {
  PN_EACH4(r, a.f[i] > b.f[i] ? a.f[i] : b.f[i]);
}
PN_INLINE pnF4 pn_f4Abs(pnF4 a) {
  PN_EACH4(r, fabsf(a.f[i]));
}
PN_INLINE pnF4 pn_f4Neg(pnF4 a) {
  PN_EACH4(r, -a.f[i]);
}
#define pn_f4Splat(a, i) pn_f4Set1((a).f[i])
PN_INLINE pnF4 pn_f4And(pnF4 a, pnF4 b) {
  PN_EACH4(r, pn_bitsFloat(pn_floatBits(a.f[i]) & pn_floatBits(b.f[i])));
}
PN_INLINE pnF4 pn_f4Or(pnF4 a, pnF4 b) {
  PN_EACH4(r, pn_bitsFloat(pn_floatBits(a.f[i]) | pn_floatBits(b.f[i])));
}
PN_INLINE pnF4 pn_f4Xor(pnF4 a, pnF4 b) {
  PN_EACH4(r, pn_bitsFloat(pn_floatBits(a.f[i]) ^ pn_floatBits(b.f[i])));
}
PN_INLINE pnF4 pn_f4AndNot(pnF4 a, pnF4 b) {
  PN_EACH4(r, pn_bitsFloat(pn_floatBits(a.f[i]) & ~pn_floatBits(b.f[i])));
}
PN_INLINE pnF4 pn_f4Greater(pnF4 a, pnF4 b) {
  PN_EACH4(r, pn_bitsFloat(a.f[i] > b.f[i] ? ~0u : 0u));
}
PN_INLINE unsigned pn_f4Signs(pnF4 a) {
  unsigned m = 0;
  for (int i = 0; i < 4; ++i) m |= (pn_floatBits(a.f[i]) >> 31) << i;
  return m;
}
PN_INLINE bool pn_f4AnySign(pnF4 a) {
  return pn_f4Signs(a) != 0;
}
PN_INLINE void pn_f4Transpose3(pnF4 a, pnF4 b, pnF4 c, pnF4 d, pnF4 *x, pnF4 *y, pnF4 *z) {
  *x = (pnF4){{a.f[0], b.f[0], c.f[0], d.f[0]}};
  *y = (pnF4){{a.f[1], b.f[1], c.f[1], d.f[1]}};
  *z = (pnF4){{a.f[2], b.f[2], c.f[2], d.f[2]}};
}
PN_INLINE void pn_f4Transpose4(pnF4 a, pnF4 b, pnF4 c, pnF4 d, pnF4 out[4]) {
  for (int i = 0; i < 4; ++i) out[i] = (pnF4){{a.f[i], b.f[i], c.f[i], d.f[i]}};
}
#undef PN_EACH4
#endif

/* Remembers NaN among points that go through pn_f4Min and pn_f4Max: a sign bit in the answer says there was one. Where
 * min and max hand NaN on by themselves there is nothing to do: look at the result. */
#if PN_SIMD_NEON
PN_INLINE pnF4 pn_f4TrackNan(pnF4 track, pnF4 p) {
  (void)p;
  return track;
}
#elif PN_SIMD_SSE2
PN_INLINE pnF4 pn_f4TrackNan(pnF4 track, pnF4 p) {
  return _mm_or_ps(track, _mm_cmpunord_ps(p, p));
}
#else
PN_INLINE pnF4 pn_f4TrackNan(pnF4 track, pnF4 p) {
  for (int i = 0; i < 4; ++i) track.f[i] = p.f[i] != p.f[i] ? pn_bitsFloat(~0u) : track.f[i];
  return track;
}
#endif

/* ---------------------------------------------------------------- eight floats, in files compiled for AVX2 */

#if PN_SIMD_SSE2 && defined(__AVX2__)
#define PN_SIMD_F8 1
typedef __m256 pnF8;
/* Four lanes and four more. */
PN_INLINE pnF8 pn_f8Join(pnF4 low, pnF4 high) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
}
/* As pn_f4Transpose4, in each half. */
PN_INLINE void pn_f8Transpose4(pnF8 a, pnF8 b, pnF8 c, pnF8 d, pnF8 out[4]) {
  pnF8 t0 = _mm256_unpacklo_ps(a, c), t1 = _mm256_unpackhi_ps(a, c);
  pnF8 t2 = _mm256_unpacklo_ps(b, d), t3 = _mm256_unpackhi_ps(b, d);
  out[0] = _mm256_unpacklo_ps(t0, t2);
  out[1] = _mm256_unpackhi_ps(t0, t2);
  out[2] = _mm256_unpacklo_ps(t1, t3);
  out[3] = _mm256_unpackhi_ps(t1, t3);
}
PN_INLINE pnF8 pn_f8Load(const float *p) {
  return _mm256_loadu_ps(p);
}
PN_INLINE void pn_f8Store(float *p, pnF8 a) {
  _mm256_storeu_ps(p, a);
}
PN_INLINE pnF8 pn_f8FromShorts(const int16_t *p) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p)));
}
PN_INLINE pnF8 pn_f8Set1(float x) {
  return _mm256_set1_ps(x);
}
PN_INLINE pnF8 pn_f8Add(pnF8 a, pnF8 b) {
  return _mm256_add_ps(a, b);
}
PN_INLINE pnF8 pn_f8Sub(pnF8 a, pnF8 b) {
  return _mm256_sub_ps(a, b);
}
PN_INLINE pnF8 pn_f8Mul(pnF8 a, pnF8 b) {
  return _mm256_mul_ps(a, b);
}
PN_INLINE pnF8 pn_f8Min(pnF8 a, pnF8 b) {
  return _mm256_min_ps(a, b);
}
PN_INLINE pnF8 pn_f8Max(pnF8 a, pnF8 b) {
  return _mm256_max_ps(a, b);
}
PN_INLINE pnF8 pn_f8Abs(pnF8 a) {
  return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}
PN_INLINE pnF8 pn_f8Neg(pnF8 a) {
  return _mm256_xor_ps(_mm256_set1_ps(-0.0f), a);
}
PN_INLINE pnF8 pn_f8And(pnF8 a, pnF8 b) {
  return _mm256_and_ps(a, b);
}
PN_INLINE pnF8 pn_f8Or(pnF8 a, pnF8 b) {
  return _mm256_or_ps(a, b);
}
PN_INLINE pnF8 pn_f8Xor(pnF8 a, pnF8 b) {
  return _mm256_xor_ps(a, b);
}
PN_INLINE pnF8 pn_f8AndNot(pnF8 a, pnF8 b) {
  return _mm256_andnot_ps(b, a);
} /* a and not b */
PN_INLINE pnF8 pn_f8Greater(pnF8 a, pnF8 b) {
  return _mm256_cmp_ps(a, b, _CMP_GT_OQ);
}
PN_INLINE unsigned pn_f8Signs(pnF8 a) {
  return (unsigned)_mm256_movemask_ps(a);
}
PN_INLINE pnF4 pn_f8Low(pnF8 a) {
  return _mm256_castps256_ps128(a);
}
PN_INLINE pnF4 pn_f8High(pnF8 a) {
  return _mm256_extractf128_ps(a, 1);
}
/* Is one of the two not a number? */
PN_INLINE pnF8 pn_f8Unordered(pnF8 a, pnF8 b) {
  return _mm256_cmp_ps(a, b, _CMP_UNORD_Q);
}
/* The lanes named by the bytes of `order`, lane 0 by the lowest. */
PN_INLINE pnF8 pn_f8Permute(pnF8 a, uint64_t order) {
  return _mm256_permutevar8x32_ps(a, _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)order)));
}
/* The least of the lanes of a mask, by bits, of numbers that are not negative; no lane: anything. */
PN_INLINE float pn_f8Least(pnF8 a, uint32_t mask) {
#if defined(__AVX512VL__)
  __m256i x = _mm256_mask_mov_epi32(_mm256_set1_epi32(-1), (__mmask8)mask, _mm256_castps_si256(a));
#else
  const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  __m256i none = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)mask), bits), _mm256_setzero_si256());
  __m256i x = _mm256_or_si256(_mm256_castps_si256(a), none);
#endif
  __m128i y = _mm_min_epu32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  y = _mm_min_epu32(y, _mm_shuffle_epi32(y, 0x4e));
  y = _mm_min_epu32(y, _mm_shuffle_epi32(y, 0xb1));
  return _mm_cvtss_f32(_mm_castsi128_ps(y));
}
/* A number added to lanes that are whole numbers. */
PN_INLINE void pn_f8AddNumbers(pnF8 a, uint32_t b, uint32_t out[8]) {
  __m256i sum = _mm256_add_epi32(_mm256_castps_si256(a), _mm256_set1_epi32((int)b));
  _mm256_storeu_si256((__m256i *)(void *)out, sum);
}
#if defined(__AVX512VL__)
/* The lanes of a mask, in order, and 0 behind them. */
PN_INLINE pnF8 pn_f8Compress(pnF8 a, uint32_t mask) {
  return _mm256_maskz_compress_ps((__mmask8)mask, a);
}
/* a * b + c, rounded once: not for what must have the same bits everywhere. */
PN_INLINE pnF8 pn_f8Fused(pnF8 a, pnF8 b, pnF8 c) {
  return _mm256_maskz_fmadd_ps((__mmask8)-1, a, b, c);
}
#endif
#endif

/* ---------------------------------------------------------------- lane lists */

/* For a mask of 8 lanes: the numbers of its set lanes, packed to the front, one a byte; and how many there are. */
extern const uint64_t pn_laneList[256];
extern const uint8_t pn_laneCounts[256]; /* a table beats counting bits where that goes through a vector register */
PN_INLINE uint32_t pn_laneCount(unsigned mask) {
  return pn_laneCounts[mask];
}
PN_INLINE uint32_t pn_firstLane(unsigned mask) {
  return (uint32_t)__builtin_ctz(mask);
}

/* Lists the lanes of the mask, and `first` more, as bytes; returns how many. Eight are written. */
PN_INLINE uint32_t pn_listLanes(unsigned mask, uint32_t first, uint8_t *out) {
  uint64_t numbers = pn_laneList[mask] + UINT64_C(0x0101010101010101) * first;
  memcpy(out, &numbers, sizeof numbers);
  return pn_laneCount(mask);
}

/* Writes the pairs (a + lane, b) for every lane of the mask, as pn_appendLanes does. */
PN_INLINE void pn_appendLanesFirst(uint32_t *out, uint32_t a, uint32_t b, unsigned mask) {
  uint64_t list = pn_laneList[mask];
#if PN_SIMD_NEON
  uint16x8_t lanes = vmovl_u8(vcreate_u8(list));
  uint32x4x2_t v;
  v.val[1] = vdupq_n_u32(b);
  v.val[0] = vaddw_u16(vdupq_n_u32(a), vget_low_u16(lanes));
  vst2q_u32(out, v);
  v.val[0] = vaddw_u16(vdupq_n_u32(a), vget_high_u16(lanes));
  vst2q_u32(out + 8, v);
#elif PN_SIMD_SSE2
  const __m128i none = _mm_setzero_si128(), with = _mm_set1_epi32((int)b), from = _mm_set1_epi32((int)a);
  __m128i lanes = _mm_unpacklo_epi8(_mm_cvtsi64_si128((long long)list), none), *to = (__m128i *)(void *)out;
  __m128i low = _mm_add_epi32(from, _mm_unpacklo_epi16(lanes, none));
  __m128i high = _mm_add_epi32(from, _mm_unpackhi_epi16(lanes, none));
  _mm_storeu_si128(to, _mm_unpacklo_epi32(low, with));
  _mm_storeu_si128(to + 1, _mm_unpackhi_epi32(low, with));
  _mm_storeu_si128(to + 2, _mm_unpacklo_epi32(high, with));
  _mm_storeu_si128(to + 3, _mm_unpackhi_epi32(high, with));
#else
  for (int i = 0; i < 8; ++i) {
    out[2 * i] = a + (uint32_t)(list >> (8 * i) & 255);
    out[2 * i + 1] = b;
  }
#endif
}

/* Writes the pairs (a, b + lane) for every lane of the mask without a branch. Always writes eight pairs, of which the
 * first pn_laneCount(mask) count: out needs room for eight. */
PN_INLINE void pn_appendLanes(uint32_t *out, uint32_t a, uint32_t b, unsigned mask) {
  uint64_t list = pn_laneList[mask];
#if PN_SIMD_NEON
  uint16x8_t lanes = vmovl_u8(vcreate_u8(list));
  uint32x4x2_t v;
  v.val[0] = vdupq_n_u32(a);
  v.val[1] = vaddw_u16(vdupq_n_u32(b), vget_low_u16(lanes));
  vst2q_u32(out, v);
  v.val[1] = vaddw_u16(vdupq_n_u32(b), vget_high_u16(lanes));
  vst2q_u32(out + 8, v);
#elif PN_SIMD_SSE2
  __m128i zero = _mm_setzero_si128();
  __m128i lanes = _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)&list), zero);
  __m128i va = _mm_set1_epi32((int)a), vb = _mm_set1_epi32((int)b);
  __m128i lo = _mm_add_epi32(vb, _mm_unpacklo_epi16(lanes, zero));
  __m128i hi = _mm_add_epi32(vb, _mm_unpackhi_epi16(lanes, zero));
  _mm_storeu_si128((__m128i *)out, _mm_unpacklo_epi32(va, lo));
  _mm_storeu_si128((__m128i *)(out + 4), _mm_unpackhi_epi32(va, lo));
  _mm_storeu_si128((__m128i *)(out + 8), _mm_unpacklo_epi32(va, hi));
  _mm_storeu_si128((__m128i *)(out + 12), _mm_unpackhi_epi32(va, hi));
#else
  for (int i = 0; i < 8; ++i) {
    out[2 * i] = a;
    out[2 * i + 1] = b + (uint32_t)(list >> (8 * i) & 255);
  }
#endif
}

#endif
