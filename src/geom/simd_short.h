/* simd_short.h: eight 16-bit integers (pnH8), on NEON, SSE2, or in plain C, as in simd.h: the same bits everywhere. Numbers of a grid,
 * and how floats become such. */
#ifndef PN_GEOM_SIMD_SHORT_H
#define PN_GEOM_SIMD_SHORT_H

#include "geom/simd.h"

#if PN_SIMD_NEON
typedef int16x8_t pnH8;
PN_INLINE pnH8 pn_h8Load(const int16_t *p) {
  return vld1q_s16(p);
}
PN_INLINE void pn_h8Store(int16_t *p, pnH8 a) {
  vst1q_s16(p, a);
}
PN_INLINE pnH8 pn_h8Set1(int16_t x) {
  return vdupq_n_s16(x);
}
/* Lane j of the eight numbers at p, eight times. */
PN_INLINE pnH8 pn_h8Lane(const int16_t *p, uint32_t j) {
  return vreinterpretq_s16_u8(vqtbl1q_u8(vreinterpretq_u8_s16(vld1q_s16(p)),
                                         vreinterpretq_u8_u16(vdupq_n_u16((uint16_t)(0x0100u + 0x0202u * j)))));
}
PN_INLINE pnH8 pn_h8AddSat(pnH8 a, pnH8 b) {
  return vqaddq_s16(a, b);
}
PN_INLINE pnH8 pn_h8ShiftRight(pnH8 a, int s) {
  return vshlq_s16(a, vdupq_n_s16((int16_t)-s));
}
PN_INLINE pnH8 pn_h8And(pnH8 a, pnH8 b) {
  return vandq_s16(a, b);
}
/* a <= b */
PN_INLINE pnH8 pn_h8LessEqual(pnH8 a, pnH8 b) {
  return vreinterpretq_s16_u16(vcleq_s16(a, b));
}
/* Bit j of the answer is lane j of a mask. */
PN_INLINE unsigned pn_h8Mask(pnH8 a) {
  static const uint16_t bit[8] = {1, 2, 4, 8, 16, 32, 64, 128};
  return vaddvq_u16(vandq_u16(vreinterpretq_u16_s16(a), vld1q_u16(bit)));
}
/* The masks of four at once, one a byte, the first lowest: one trip from vector to integer registers instead of four.
 * */
PN_INLINE uint32_t pn_h8Mask4(pnH8 a, pnH8 b, pnH8 c, pnH8 d) {
  static const uint8_t bit[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  uint8x16_t bits = vld1q_u8(bit);
  uint8x16_t ab = vandq_u8(vuzp1q_u8(vreinterpretq_u8_s16(a), vreinterpretq_u8_s16(b)), bits);
  uint8x16_t cd = vandq_u8(vuzp1q_u8(vreinterpretq_u8_s16(c), vreinterpretq_u8_s16(d)), bits);
  uint8x16_t s = vpaddq_u8(ab, cd);
  s = vpaddq_u8(s, s);
  s = vpaddq_u8(s, s);
  return vgetq_lane_u32(vreinterpretq_u32_u8(s), 0);
}
/* floor(a * scale) - offset, saturated, of the eight floats a, b. scale is a power of two: the product is exact. */
PN_INLINE pnH8 pn_h8Quantise(pnF4 a, pnF4 b, float scale, int32_t offset) {
  int32x4_t o = vdupq_n_s32(offset);
  int32x4_t lo = vqsubq_s32(vcvtmq_s32_f32(vmulq_n_f32(a, scale)), o);
  int32x4_t hi = vqsubq_s32(vcvtmq_s32_f32(vmulq_n_f32(b, scale)), o);
  return vcombine_s16(vqmovn_s32(lo), vqmovn_s32(hi));
}
#elif PN_SIMD_SSE2
typedef __m128i pnH8;
PN_INLINE pnH8 pn_h8Load(const int16_t *p) {
  return _mm_loadu_si128((const __m128i *)p);
}
PN_INLINE void pn_h8Store(int16_t *p, pnH8 a) {
  _mm_storeu_si128((__m128i *)p, a);
}
PN_INLINE pnH8 pn_h8Set1(int16_t x) {
  return _mm_set1_epi16(x);
}
PN_INLINE pnH8 pn_h8Lane(const int16_t *p, uint32_t j) {
  return _mm_set1_epi16(p[j]);
}
PN_INLINE pnH8 pn_h8AddSat(pnH8 a, pnH8 b) {
  return _mm_adds_epi16(a, b);
}
PN_INLINE pnH8 pn_h8ShiftRight(pnH8 a, int s) {
  return _mm_sra_epi16(a, _mm_cvtsi32_si128(s));
}
PN_INLINE pnH8 pn_h8And(pnH8 a, pnH8 b) {
  return _mm_and_si128(a, b);
}
PN_INLINE pnH8 pn_h8LessEqual(pnH8 a, pnH8 b) {
  return _mm_xor_si128(_mm_cmpgt_epi16(a, b), _mm_set1_epi16(-1));
}
PN_INLINE unsigned pn_h8Mask(pnH8 a) {
  return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(a, _mm_setzero_si128()));
}
PN_INLINE uint32_t pn_h8Mask4(pnH8 a, pnH8 b, pnH8 c, pnH8 d) {
  uint32_t ab = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(a, b));
  uint32_t cd = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(c, d));
  return ab | cd << 16;
}
PN_INLINE __m128i pn_floorI4(__m128 x) {
  /* SSE2 truncates; one less where that went up. */
  __m128i t = _mm_cvttps_epi32(x);
  return _mm_add_epi32(t, _mm_castps_si128(_mm_cmpgt_ps(_mm_cvtepi32_ps(t), x)));
}
PN_INLINE pnH8 pn_h8Quantise(pnF4 a, pnF4 b, float scale, int32_t offset) {
  __m128i o = _mm_set1_epi32(offset);
  __m128i lo = _mm_sub_epi32(pn_floorI4(_mm_mul_ps(a, _mm_set1_ps(scale))), o);
  __m128i hi = _mm_sub_epi32(pn_floorI4(_mm_mul_ps(b, _mm_set1_ps(scale))), o);
  return _mm_packs_epi32(lo, hi);
}
#else
typedef struct pnH8 {
  int16_t h[8];
} pnH8;
#define PN_EACH8(r, expr)                               \
  pnH8 r;                                               \
  for (int i = 0; i < 8; ++i) r.h[i] = (int16_t)(expr); \
  return r
PN_INLINE int16_t pn_saturate16(int32_t x) {
  return (int16_t)(x < -32768 ? -32768 : x > 32767 ? 32767 : x);
}
PN_INLINE pnH8 pn_h8Load(const int16_t *p) {
  PN_EACH8(r, p[i]);
}
PN_INLINE void pn_h8Store(int16_t *p, pnH8 a) {
  memcpy(p, a.h, 16);
}
PN_INLINE pnH8 pn_h8Set1(int16_t x) {
  PN_EACH8(r, x);
}
PN_INLINE pnH8 pn_h8Lane(const int16_t *p, uint32_t j) {
  PN_EACH8(r, p[j]);
}
PN_INLINE pnH8 pn_h8AddSat(pnH8 a, pnH8 b) {
  PN_EACH8(r, pn_saturate16(a.h[i] + b.h[i]));
}
PN_INLINE pnH8 pn_h8ShiftRight(pnH8 a, int s) {
  PN_EACH8(r, a.h[i] >> (s > 15 ? 15 : s));
}
PN_INLINE pnH8 pn_h8And(pnH8 a, pnH8 b) {
  PN_EACH8(r, a.h[i] & b.h[i]);
}
PN_INLINE pnH8 pn_h8LessEqual(pnH8 a, pnH8 b) {
  PN_EACH8(r, a.h[i] <= b.h[i] ? -1 : 0);
}
PN_INLINE unsigned pn_h8Mask(pnH8 a) {
  unsigned m = 0;
  for (int i = 0; i < 8; ++i) m |= (unsigned)(a.h[i] & 1) << i;
  return m;
}
PN_INLINE uint32_t pn_h8Mask4(pnH8 a, pnH8 b, pnH8 c, pnH8 d) {
  return pn_h8Mask(a) | pn_h8Mask(b) << 8 | pn_h8Mask(c) << 16 | pn_h8Mask(d) << 24;
}
PN_INLINE int32_t pn_floorOf(float x) {
  x = floorf(x);
  /* far beyond all offsets a cell is the last one, whatever it is; so is what is not a number */
  return (int32_t)(x < 0x1p30f ? (x > -0x1p30f ? x : -0x1p30f) : 0x1p30f);
}
PN_INLINE pnH8 pn_h8Quantise(pnF4 a, pnF4 b, float scale, int32_t offset) {
  PN_EACH8(r, pn_saturate16(pn_floorOf((i < 4 ? a.f[i] : b.f[i - 4]) * scale) - offset));
}
#undef PN_EACH8
#endif

#if PN_SIMD_F8
PN_INLINE __m256i pn_f8Cells(pnF8 a, float scale, int32_t offset) {
  __m256i cells = _mm256_cvtps_epi32(_mm256_floor_ps(_mm256_mul_ps(a, _mm256_set1_ps(scale))));
  return _mm256_sub_epi32(cells, _mm256_set1_epi32(offset));
}
/* As pn_h8Quantise, of eight numbers and eight more, into sixteen. */
PN_INLINE void pn_f8Quantise(pnF8 a, pnF8 b, float scale, int32_t offset, int16_t *out) {
  __m256i both = _mm256_packs_epi32(pn_f8Cells(a, scale, offset), pn_f8Cells(b, scale, offset));
  _mm256_storeu_si256((__m256i *)(void *)out, _mm256_permute4x64_epi64(both, 0xd8)); /* halves had been packed apart */
}
#endif

#endif
