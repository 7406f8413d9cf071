/* simd_wide.h: sixteen floats (pnF16), for files compiled for AVX-512; with simd.h the files with intrinsics. Operations are
 * those of four and eight floats, lane for lane, and round the same way: none is fused. */
#ifndef PN_GEOM_SIMD_WIDE_H
#define PN_GEOM_SIMD_WIDE_H

#include "geom/simd.h"

#if PN_SIMD_SSE2 && defined(__AVX512F__) && defined(__AVX512DQ__)
#define PN_SIMD_F16 1
typedef __m512 pnF16;
PN_INLINE pnF16 pn_f16Set1(float x) {
  return _mm512_set1_ps(x);
}
PN_INLINE pnF16 pn_f16Load(const float *p) {
  return _mm512_loadu_ps(p);
}
PN_INLINE void pn_f16Store(float *p, pnF16 a) {
  _mm512_storeu_ps(p, a);
}
/* Four floats from each of four places. */
PN_INLINE pnF16 pn_f16Load4(const float *p, const float *q, const float *r, const float *s) {
  pnF16 v = _mm512_castps128_ps512(_mm_loadu_ps(p));
  v = _mm512_insertf32x4(v, _mm_loadu_ps(q), 1);
  v = _mm512_insertf32x4(v, _mm_loadu_ps(r), 2);
  return _mm512_insertf32x4(v, _mm_loadu_ps(s), 3);
}
PN_INLINE pnF16 pn_f16Add(pnF16 a, pnF16 b) {
  return _mm512_add_ps(a, b);
}
PN_INLINE pnF16 pn_f16Sub(pnF16 a, pnF16 b) {
  return _mm512_sub_ps(a, b);
}
PN_INLINE pnF16 pn_f16Mul(pnF16 a, pnF16 b) {
  return _mm512_mul_ps(a, b);
}
PN_INLINE pnF16 pn_f16Min(pnF16 a, pnF16 b) {
  return _mm512_min_ps(a, b);
}
PN_INLINE pnF16 pn_f16Max(pnF16 a, pnF16 b) {
  return _mm512_max_ps(a, b);
}
PN_INLINE pnF16 pn_f16Abs(pnF16 a) {
  return _mm512_abs_ps(a);
}
/* The larger and the smaller of two magnitudes. */
PN_INLINE pnF16 pn_f16MaxAbs(pnF16 a, pnF16 b) {
  return _mm512_range_ps(a, b, 0x0b);
}
PN_INLINE pnF16 pn_f16MinAbs(pnF16 a, pnF16 b) {
  return _mm512_range_ps(a, b, 0x0a);
}
PN_INLINE pnF16 pn_f16Neg(pnF16 a) {
  return _mm512_xor_ps(_mm512_set1_ps(-0.0f), a);
}
PN_INLINE pnF16 pn_f16And(pnF16 a, pnF16 b) {
  return _mm512_and_ps(a, b);
}
PN_INLINE pnF16 pn_f16Or(pnF16 a, pnF16 b) {
  return _mm512_or_ps(a, b);
}
PN_INLINE pnF16 pn_f16Xor(pnF16 a, pnF16 b) {
  return _mm512_xor_ps(a, b);
}
PN_INLINE pnF16 pn_f16AndNot(pnF16 a, pnF16 b) {
  return _mm512_andnot_ps(b, a);
} /* a and not b */
PN_INLINE pnF16 pn_f16Greater(pnF16 a, pnF16 b) {
  return _mm512_castsi512_ps(_mm512_movm_epi32(_mm512_cmp_ps_mask(a, b, _CMP_GT_OQ)));
}
PN_INLINE unsigned pn_f16Signs(pnF16 a) {
  return _mm512_movepi32_mask(_mm512_castps_si512(a));
}
/* pn_f4Transpose3 in each of the four quarters: x of quarter q has the first numbers of the quarters q of a, b, c, d. */
PN_INLINE void pn_f16Transpose3(pnF16 a, pnF16 b, pnF16 c, pnF16 d, pnF16 *x, pnF16 *y, pnF16 *z) {
  __m512d ab = _mm512_castps_pd(_mm512_unpacklo_ps(a, b)), cd = _mm512_castps_pd(_mm512_unpacklo_ps(c, d));
  __m512d ab1 = _mm512_castps_pd(_mm512_unpackhi_ps(a, b)), cd1 = _mm512_castps_pd(_mm512_unpackhi_ps(c, d));
  *x = _mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd));
  *y = _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd));
  *z = _mm512_castpd_ps(_mm512_unpacklo_pd(ab1, cd1));
}
/* a * b + c, rounded once: not for what must have the same bits everywhere. */
PN_INLINE pnF16 pn_f16Fused(pnF16 a, pnF16 b, pnF16 c) {
  return _mm512_fmadd_ps(a, b, c);
}
/* Two numbers by turns. */
PN_INLINE pnF16 pn_f16Pairs(const float p[2]) {
  double both;
  memcpy(&both, p, sizeof both);
  return _mm512_castpd_ps(_mm512_set1_pd(both));
}
/* 32 integers of 16 bits, or 16, and 2^16 times those that every other number of `order` names. */
typedef __m512i pnH32;
PN_INLINE pnH32 pn_h32Load(const int16_t *p) {
  return _mm512_loadu_si512(p);
}
PN_INLINE pnH32 pn_h32LoadHalf(const int16_t *p) {
  return _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)p));
}
PN_INLINE pnF16 pn_f16Cells(pnH32 a, const uint16_t order[32]) {
  return _mm512_cvtepi32_ps(_mm512_maskz_permutexvar_epi16(0xaaaaaaaa, _mm512_loadu_si512(order), a));
}
/* Of eight pairs the bits 2 j of those with a sum that is not above 0, and others beside them. */
PN_INLINE uint32_t pn_f16SumsNotAbove0(pnF16 a) {
  return _mm512_cmp_ps_mask(_mm512_add_ps(a, _mm512_permute_ps(a, 0xb1)), _mm512_setzero_ps(), _CMP_NGT_UQ);
}
/* The lanes of a mask, at most eight, in order, and 0 behind them. */
PN_INLINE pnF8 pn_f16Compress(pnF16 a, uint32_t mask) {
  return _mm512_castps512_ps256(_mm512_maskz_compress_ps((__mmask16)mask, a));
}
/* The least of the lanes of a mask, of which every other is none, by bits; no lane: anything. */
PN_INLINE float pn_f16Least(pnF16 a, uint32_t mask) {
  __m512i x = _mm512_mask_mov_epi32(_mm512_set1_epi32(-1), (__mmask16)mask, _mm512_castps_si512(a));
  __m256i y = _mm256_min_epu32(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));
  __m128i z = _mm_min_epu32(_mm256_castsi256_si128(y), _mm256_extracti128_si256(y, 1));
  return _mm_cvtss_f32(_mm_castsi128_ps(_mm_min_epu32(z, _mm_shuffle_epi32(z, 0x4e))));
}
/* How many of `count` keys are below each of 16. */
PN_INLINE void pn_countBelow16(const int32_t *keys, size_t count, const int32_t of[16], uint32_t out[16]) {
  __m512i each = _mm512_loadu_si512(of), below = _mm512_setzero_si512(), one = _mm512_set1_epi32(1);
  for (size_t i = 0; i < count; ++i)
    below = _mm512_mask_add_epi32(below, _mm512_cmplt_epi32_mask(_mm512_set1_epi32(keys[i]), each), below, one);
  _mm512_storeu_si512(out, below);
}
/* Which of eight numbers are not below a bound; and those of a mask, in order, eight written. */
PN_INLINE uint32_t pn_notBelow(const uint64_t *p, uint64_t bound) {
  return _mm512_cmpge_epu64_mask(_mm512_loadu_si512(p), _mm512_set1_epi64((long long)bound));
}
PN_INLINE void pn_keepEight(const uint64_t *from, uint32_t mask, uint64_t *to) {
  _mm512_storeu_si512(to, _mm512_maskz_compress_epi64((__mmask8)mask, _mm512_loadu_si512(from)));
}
/* Of sixteen pairs of numbers those of the mask, in order; returns how many. `to` takes sixteen, and may be `from` or before it: all
 * are read before one is written. */
PN_INLINE uint32_t pn_keepSixteen(const uint32_t *from, uint32_t mask, uint32_t *to) {
  __m512i low = _mm512_loadu_si512(from), high = _mm512_loadu_si512(from + 16);
  uint32_t n = (uint32_t)__builtin_popcount(mask & 0xff);
  _mm512_storeu_si512(to, _mm512_maskz_compress_epi64((__mmask8)mask, low));
  _mm512_storeu_si512(to + 2 * n, _mm512_maskz_compress_epi64((__mmask8)(mask >> 8), high));
  return n + (uint32_t)__builtin_popcount(mask >> 8);
}
#endif

#endif
