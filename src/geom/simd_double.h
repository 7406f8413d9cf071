/* simd_double.h: doubles side by side (pnDs), as many as the file is compiled for: eight for AVX-512, four for AVX2, otherwise one, which
 * is a plain double. With simd.h one of the files with intrinsics.
 *
 * They are added, subtracted, multiplied and divided by the signs of the language, rounded lane for lane as one double
 * is, and never fused: what is computed here has the bits that a loop over doubles would give. */
#ifndef PN_GEOM_SIMD_DOUBLE_H
#define PN_GEOM_SIMD_DOUBLE_H

#include "geom/simd.h"

#include <math.h>

#if PN_SIMD_SSE2 && defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define PN_DS 8u
typedef __m512d pnDs;
typedef __mmask8 pnDsMask; /* a bit a lane */
/* What is called alike for both widths: an operation of so many doubles, and one of as many floats. */
#define PN_OF_DOUBLES(what) _mm512_##what
#define PN_OF_FLOATS(what) _mm256_##what
PN_INLINE pnDsMask pn_dsLess(pnDs a, pnDs b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
}
PN_INLINE pnDsMask pn_dsAtMost(pnDs a, pnDs b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ);
}
PN_INLINE pnDs pn_dsSelect(pnDsMask mask, pnDs a, pnDs b) {
  return _mm512_mask_blend_pd(mask, b, a);
}
PN_INLINE uint32_t pn_dsBits(pnDsMask mask) {
  return mask;
}
/* Numbers that stand `apart` from each other: those that `at` names. */
PN_INLINE pnDs pn_dsPick(const double *p, size_t apart, const uint32_t *at) {
  __m256i i = _mm256_loadu_si256((const __m256i *)(const void *)at);
  return _mm512_i32gather_pd(_mm256_mullo_epi32(i, _mm256_set1_epi32((int)apart)), p, 8);
}
/* Coordinates of so many points, four floats each. */
PN_INLINE void pn_dsPoints(const float *const p[PN_DS], pnDs out[3]) {
  pnF8 row[4], column[4];
  for (int i = 0; i < 4; ++i) row[i] = pn_f8Join(pn_f4Load(p[i]), pn_f4Load(p[i + 4]));
  pn_f8Transpose4(row[0], row[1], row[2], row[3], column);
  for (int k = 0; k < 3; ++k) out[k] = _mm512_cvtps_pd(column[k]);
}

/* Rows of as many registers into columns. */
PN_INLINE void pn_dsTranspose(pnDs a[PN_DS]) {
  pnDs b[8], c[8];
  for (int i = 0; i < 8; i += 2) {
    b[i] = _mm512_unpacklo_pd(a[i], a[i + 1]);
    b[i + 1] = _mm512_unpackhi_pd(a[i], a[i + 1]);
  }
  for (int i = 0; i < 2; ++i)
    for (int h = 0; h < 8; h += 4) {
      c[h + i] = _mm512_shuffle_f64x2(b[h + i], b[h + i + 2], 0x88);
      c[h + i + 2] = _mm512_shuffle_f64x2(b[h + i], b[h + i + 2], 0xdd);
    }
  for (int i = 0; i < 4; ++i) {
    a[i] = _mm512_shuffle_f64x2(c[i], c[i + 4], 0x88);
    a[i + 4] = _mm512_shuffle_f64x2(c[i], c[i + 4], 0xdd);
  }
}
/* Two floats in the place of a double. */
PN_INLINE pnDs pn_dsPairs(pnDs first, pnDs second) {
  __m512i a = _mm512_cvtepu32_epi64(_mm256_castps_si256(_mm512_cvtpd_ps(first)));
  __m512i b = _mm512_cvtepu32_epi64(_mm256_castps_si256(_mm512_cvtpd_ps(second)));
  return _mm512_castsi512_pd(_mm512_or_si512(a, _mm512_slli_epi64(b, 32)));
}
/* 0 and a whole number below 2^31, of 32 bits each, in the place of a double. */
PN_INLINE pnDs pn_dsWords(pnDs second) {
  return _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_cvtepu32_epi64(_mm512_cvtpd_epi32(second)), 32));
}

#elif PN_SIMD_SSE2 && defined(__AVX2__)
#define PN_DS 4u
typedef __m256d pnDs;
typedef __m256d pnDsMask; /* all bits of a lane */
#define PN_OF_DOUBLES(what) _mm256_##what
#define PN_OF_FLOATS(what) _mm_##what
PN_INLINE pnDsMask pn_dsLess(pnDs a, pnDs b) {
  return _mm256_cmp_pd(a, b, _CMP_LT_OQ);
}
PN_INLINE pnDsMask pn_dsAtMost(pnDs a, pnDs b) {
  return _mm256_cmp_pd(a, b, _CMP_LE_OQ);
}
PN_INLINE pnDs pn_dsSelect(pnDsMask mask, pnDs a, pnDs b) {
  return _mm256_blendv_pd(b, a, mask);
}
PN_INLINE uint32_t pn_dsBits(pnDsMask mask) {
  return (uint32_t)_mm256_movemask_pd(mask);
}
/* One by one: on many machines that is quicker than the instruction that gathers. */
PN_INLINE pnDs pn_dsPick(const double *p, size_t apart, const uint32_t *at) {
  return _mm256_setr_pd(p[apart * at[0]], p[apart * at[1]], p[apart * at[2]], p[apart * at[3]]);
}
PN_INLINE void pn_dsPoints(const float *const p[PN_DS], pnDs out[3]) {
  pnF4 x[3];
  pn_f4Transpose3(pn_f4Load(p[0]), pn_f4Load(p[1]), pn_f4Load(p[2]), pn_f4Load(p[3]), &x[0], &x[1], &x[2]);
  for (int k = 0; k < 3; ++k) out[k] = _mm256_cvtps_pd(x[k]);
}

PN_INLINE void pn_dsTranspose(pnDs a[PN_DS]) {
  pnDs b0 = _mm256_unpacklo_pd(a[0], a[1]), b1 = _mm256_unpackhi_pd(a[0], a[1]);
  pnDs b2 = _mm256_unpacklo_pd(a[2], a[3]), b3 = _mm256_unpackhi_pd(a[2], a[3]);
  a[0] = _mm256_permute2f128_pd(b0, b2, 0x20);
  a[1] = _mm256_permute2f128_pd(b1, b3, 0x20);
  a[2] = _mm256_permute2f128_pd(b0, b2, 0x31);
  a[3] = _mm256_permute2f128_pd(b1, b3, 0x31);
}
PN_INLINE pnDs pn_dsPairs(pnDs first, pnDs second) {
  __m128 a = _mm256_cvtpd_ps(first), b = _mm256_cvtpd_ps(second);
  return _mm256_castps_pd(pn_f8Join(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b)));
}
PN_INLINE pnDs pn_dsWords(pnDs second) {
  return _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_cvtepu32_epi64(_mm256_cvtpd_epi32(second)), 32));
}

#else
#define PN_DS 1u
typedef double pnDs;
typedef uint32_t pnDsMask;
PN_INLINE pnDs pn_dsSet1(double x) {
  return x;
}
PN_INLINE pnDs pn_dsLoad(const double *p) {
  return *p;
}
PN_INLINE void pn_dsStore(double *p, pnDs a) {
  *p = a;
}
PN_INLINE pnDs pn_dsMin(pnDs a, pnDs b) {
  return a < b ? a : b;
}
PN_INLINE pnDs pn_dsMax(pnDs a, pnDs b) {
  return a > b ? a : b;
}
PN_INLINE pnDs pn_dsAbs(pnDs a) {
  return fabs(a);
}
PN_INLINE pnDsMask pn_dsLess(pnDs a, pnDs b) {
  return a < b;
}
PN_INLINE pnDsMask pn_dsAtMost(pnDs a, pnDs b) {
  return a <= b;
}
PN_INLINE pnDs pn_dsSelect(pnDsMask mask, pnDs a, pnDs b) {
  return mask ? a : b;
}
PN_INLINE uint32_t pn_dsBits(pnDsMask mask) {
  return mask;
}
PN_INLINE pnDs pn_dsPick(const double *p, size_t apart, const uint32_t *at) {
  return p[apart * at[0]];
}
PN_INLINE void pn_dsPoints(const float *const p[PN_DS], pnDs out[3]) {
  for (int k = 0; k < 3; ++k) out[k] = p[0][k];
}
PN_INLINE void pn_dsTranspose(pnDs a[PN_DS]) {
  (void)a;
}
PN_INLINE pnDs pn_dsPairs(pnDs first, pnDs second) {
  float both[2] = {(float)first, (float)second};
  pnDs pair;
  memcpy(&pair, both, sizeof pair);
  return pair;
}
PN_INLINE pnDs pn_dsWords(pnDs second) {
  uint32_t both[2] = {0, (uint32_t)second};
  pnDs pair;
  memcpy(&pair, both, sizeof pair);
  return pair;
}
#endif

#if defined(PN_OF_DOUBLES)
PN_INLINE pnDs pn_dsSet1(double x) {
  return PN_OF_DOUBLES(set1_pd)(x);
}
PN_INLINE pnDs pn_dsLoad(const double *p) {
  return PN_OF_DOUBLES(loadu_pd)(p);
}
PN_INLINE void pn_dsStore(double *p, pnDs a) {
  PN_OF_DOUBLES(storeu_pd)(p, a);
}
/* a < b ? a : b and a > b ? a : b, also for zeros and what is no number. */
PN_INLINE pnDs pn_dsMin(pnDs a, pnDs b) {
  return PN_OF_DOUBLES(min_pd)(a, b);
}
PN_INLINE pnDs pn_dsMax(pnDs a, pnDs b) {
  return PN_OF_DOUBLES(max_pd)(a, b);
}
PN_INLINE pnDs pn_dsAbs(pnDs a) {
  return PN_OF_DOUBLES(andnot_pd)(PN_OF_DOUBLES(set1_pd)(-0.0), a);
}
#undef PN_OF_DOUBLES
#undef PN_OF_FLOATS
#endif

#endif
