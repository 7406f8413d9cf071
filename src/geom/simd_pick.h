/* simd_pick.h: bytes that name places in short lists, 64 at a time for files compiled for AVX-512, 32 for AVX2. One of the files with
 * intrinsics (simd.h). */
#ifndef PN_GEOM_SIMD_PICK_H
#define PN_GEOM_SIMD_PICK_H

#include "geom/simd_wide.h"

#if PN_SIMD_F16 && defined(__AVX512BW__) && defined(__AVX512VBMI__) && defined(__AVX512VBMI2__)
#define PN_SIMD_PICK 1
#define PN_PICKS 64u

/* The numbers of the bits of a mask, a byte each, in order, and 0 behind them. */
PN_INLINE __m512i pn_bitNumbers(uint64_t mask) {
  const __m512i all = _mm512_set_epi64(0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928, 0x2726252423222120,
                                       0x1f1e1d1c1b1a1918, 0x1716151413121110, 0x0f0e0d0c0b0a0908, 0x0706050403020100);
  return _mm512_maskz_compress_epi8((__mmask64)mask, all);
}
/* The same, and `first` more, into a list: 64 are written. */
PN_INLINE void pn_listBits(uint64_t mask, uint32_t first, uint8_t *out) {
  _mm512_storeu_si512(out, _mm512_add_epi8(pn_bitNumbers(mask), _mm512_set1_epi8((char)first)));
}
/* A byte for each of 64 places: bit h of byte i is bit i of mask h. */
PN_INLINE void pn_bytesOfBits(const uint64_t masks[8], uint8_t out[PN_PICKS]) {
  __m512i bytes = _mm512_setzero_si512();
  for (int h = 0; h < 8; ++h)
    bytes = _mm512_or_si512(bytes, _mm512_maskz_set1_epi8((__mmask64)masks[h], (char)(1u << h)));
  _mm512_storeu_si512(out, bytes);
}
/* Bit i: the bytes at the places that three lists name in i have no bit in common. */
PN_INLINE uint64_t pn_nothingInCommon(const uint8_t bytes[PN_PICKS], const uint8_t *a, const uint8_t *b,
                                      const uint8_t *c) {
  __m512i from = _mm512_loadu_si512(bytes);
  __m512i x = _mm512_permutexvar_epi8(_mm512_loadu_si512(a), from);
  __m512i y = _mm512_permutexvar_epi8(_mm512_loadu_si512(b), from);
  __m512i z = _mm512_permutexvar_epi8(_mm512_loadu_si512(c), from);
  return _mm512_testn_epi8_mask(x, _mm512_and_si512(y, z));
}
/* Those of 64 bytes that a mask names, in order, and 0 behind them: 64 are written. */
PN_INLINE void pn_keepBytes(const uint8_t *from, uint64_t mask, uint8_t *to) {
  _mm512_storeu_si512(to, _mm512_maskz_compress_epi8((__mmask64)mask, _mm512_loadu_si512(from)));
}
/* The numbers at sixteen places. */
PN_INLINE pnF16 pn_f16Pick(const float *from, const uint8_t *places) {
  return _mm512_i32gather_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)places)), from, 4);
}
PN_INLINE void pn_pick16(const uint32_t *from, const uint8_t *places, uint32_t *out) {
  __m512i at = _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)places));
  _mm512_storeu_si512(out, _mm512_i32gather_epi32(at, from, 4));
}
/* Sixteen places, and what is there: the second numbers of pairs; bytes of 128; floats of 64. */
typedef __m512i pnPlaces;
PN_INLINE pnPlaces pn_secondNumbers(const uint32_t *pairs) {
  const __m512i odd = _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
  return _mm512_permutex2var_epi32(_mm512_loadu_si512(pairs), odd, _mm512_loadu_si512(pairs + 16));
}
PN_INLINE pnPlaces pn_bytesAt(const uint8_t from[128], pnPlaces at) {
  __m512i bytes = _mm512_permutex2var_epi8(_mm512_loadu_si512(from), at, _mm512_loadu_si512(from + 64));
  return _mm512_and_si512(bytes, _mm512_set1_epi32(255));
}
PN_INLINE pnF16 pn_f16PickOf64(const float from[64], pnPlaces at) {
  __m512 low = _mm512_permutex2var_ps(_mm512_loadu_ps(from), at, _mm512_loadu_ps(from + 16));
  __m512 high = _mm512_permutex2var_ps(_mm512_loadu_ps(from + 32), at, _mm512_loadu_ps(from + 48));
  return _mm512_mask_mov_ps(low, _mm512_test_epi32_mask(at, _mm512_set1_epi32(32)), high);
}
/* Sixteen points of three numbers each, of which `count` are there; the others are the last one again. */
PN_INLINE void pn_split16(const float *from, uint32_t count, float *x, float *y, float *z) {
  static const uint8_t order[6][16] = {
      /* of the first 32 numbers, and of what comes out and the last 16 */
      {0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 0, 0, 0, 0, 0},  {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 20, 23, 26, 29},
      {1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 0, 0, 0, 0, 0}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 18, 21, 24, 27, 30},
      {2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 0, 0, 0, 0, 0, 0},  {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 19, 22, 25, 28, 31}};
  uint64_t there = UINT64_MAX >> (64 - 3 * (count < 16 ? count : 16));
  __m512 a = _mm512_maskz_loadu_ps((__mmask16)there, from),
         b = _mm512_maskz_loadu_ps((__mmask16)(there >> 16), from + 16),
         c = _mm512_maskz_loadu_ps((__mmask16)(there >> 32), from + 32);
  __mmask16 past = (__mmask16)(count < 16 ? 0xffffu << count : 0);
  const float *last = from + 3 * (count < 16 ? count - 1 : 0);
  float *out[3] = {x, y, z};
  for (int k = 0; k < 3; ++k) {
    __m512i first = _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)order[2 * k]));
    __m512i then = _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)order[2 * k + 1]));
    __m512 v = _mm512_permutex2var_ps(_mm512_permutex2var_ps(a, first, b), then, c);
    _mm512_storeu_ps(out[k], _mm512_mask_mov_ps(v, past, _mm512_set1_ps(last[k])));
  }
}
/* The least and the greatest of sixteen. */
PN_INLINE float pn_f16Lowest(pnF16 a) {
  return _mm512_reduce_min_ps(a);
}
PN_INLINE float pn_f16Highest(pnF16 a) {
  return _mm512_reduce_max_ps(a);
}
/* The lanes of a mask in which a is not above b; numbers only. */
PN_INLINE uint32_t pn_f16NotAbove(uint32_t mask, pnF16 a, pnF16 b) {
  return _mm512_mask_cmp_ps_mask((__mmask16)mask, a, b, _CMP_LE_OQ);
}
/* Pairs of a and those of sixteen numbers that a mask names, in order; returns how many. Eight at a time are written. */
PN_INLINE uint32_t pn_append16(uint32_t *out, uint32_t a, const uint32_t *b, uint32_t mask) {
  uint32_t count = (uint32_t)__builtin_popcount(mask);
  __m512i kept = _mm512_maskz_compress_epi32((__mmask16)mask, _mm512_loadu_si512(b)), with = _mm512_set1_epi64(a);
  __m512i low = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(kept));
  _mm512_storeu_si512(out, _mm512_or_si512(with, _mm512_slli_epi64(low, 32)));
  if (PN_UNLIKELY(count > 8)) {
    __m512i high = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(kept, 1));
    _mm512_storeu_si512(out + 16, _mm512_or_si512(with, _mm512_slli_epi64(high, 32)));
  }
  return count;
}

#endif

/* The first three lanes, and a fourth. */
PN_INLINE pnF4 pn_f4WithLast(pnF4 a, float last) {
#if PN_SIMD_NEON
  return vsetq_lane_f32(last, a, 3);
#elif PN_SIMD_SSE2 && defined(__SSE4_1__)
  return _mm_blend_ps(a, _mm_set1_ps(last), 8);
#elif PN_SIMD_SSE2
  return _mm_shuffle_ps(a, _mm_unpackhi_ps(a, _mm_set1_ps(last)), 0x44);
#else
  a.f[3] = last;
  return a;
#endif
}

#if PN_SIMD_F8
#define PN_LOOKS 32u

/* Lanes that are whole numbers below 256 as bytes. */
PN_INLINE void pn_f8Bytes(pnF8 a, uint8_t out[8]) {
  __m256i x = _mm256_castps_si256(a);
  __m128i y = _mm_packus_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  _mm_storel_epi64((__m128i *)(void *)out, _mm_packus_epi16(y, y));
}
/* The bytes at 32 places below 16 * parts. A place in part p, less 16 p, is below 16, and no other is; 0x70 more, and its highest bit says
 * so. */
PN_INLINE __m256i pn_pickBytes(const uint8_t *from, uint32_t parts, const uint8_t *places) {
  __m256i at = _mm256_loadu_si256((const __m256i *)(const void *)places), high = _mm256_set1_epi8(0x70);
  __m256i out = _mm256_setzero_si256();
  for (uint32_t p = 0; p < parts; ++p) {
    __m256i part = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)(from + 16 * p)));
    __m256i in = _mm256_adds_epu8(_mm256_xor_si256(at, _mm256_set1_epi8((char)(16 * p))), high);
    out = _mm256_or_si256(out, _mm256_shuffle_epi8(part, in));
  }
  return out;
}
/* As pn_nothingInCommon, of so many. */
PN_INLINE uint32_t pn_nothingShared(const uint8_t *bytes, uint32_t parts, const uint8_t *a, const uint8_t *b,
                                    const uint8_t *c) {
  __m256i x = pn_pickBytes(bytes, parts, a), y = pn_pickBytes(bytes, parts, b), z = pn_pickBytes(bytes, parts, c);
  __m256i common = _mm256_and_si256(_mm256_and_si256(x, y), z);
  return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(common, _mm256_setzero_si256()));
}
/* As pn_append16, of eight. */
PN_INLINE uint32_t pn_append8(uint32_t *out, uint32_t a, const uint32_t *b, uint32_t mask) {
  __m256i order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)pn_laneList[mask]));
  __m256i kept = _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)(const void *)b), order);
  __m256i with = _mm256_set1_epi32((int)a);
  __m256i low = _mm256_unpacklo_epi32(with, kept), high = _mm256_unpackhi_epi32(with, kept);
  _mm256_storeu_si256((__m256i *)(void *)out, _mm256_permute2x128_si256(low, high, 0x20));
  _mm256_storeu_si256((__m256i *)(void *)(out + 8), _mm256_permute2x128_si256(low, high, 0x31));
  return (uint32_t)__builtin_popcount(mask);
}

#elif PN_SIMD_NEON
#define PN_LOOKS 16u

/* As pn_nothingInCommon, of so many: a table of 64 bytes is looked up at once, whatever is in the parts that nobody asks for. */
PN_INLINE uint32_t pn_nothingShared(const uint8_t *bytes, uint32_t parts, const uint8_t *a, const uint8_t *b,
                                    const uint8_t *c) {
  (void)parts;
  static const uint8_t bit[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const uint8x16x4_t table = vld1q_u8_x4(bytes);
  uint8x16_t common = vandq_u8(vqtbl4q_u8(table, vld1q_u8(a)), vqtbl4q_u8(table, vld1q_u8(b)));
  common = vandq_u8(common, vqtbl4q_u8(table, vld1q_u8(c)));
  uint8x16_t sum = vandq_u8(vceqzq_u8(common), vld1q_u8(bit));
  for (int i = 0; i < 3; ++i) sum = vpaddq_u8(sum, sum);
  return vgetq_lane_u16(vreinterpretq_u16_u8(sum), 0);
}
#endif

#ifdef PN_LOOKS
/* As pn_listLanes, of a mask of so many bits. */
PN_INLINE uint32_t pn_listLooks(uint32_t mask, uint32_t first, uint8_t *out) {
  uint32_t count = 0;
  for (uint32_t at = 0; at < PN_LOOKS; at += 8) count += pn_listLanes(mask >> at & 0xff, first + at, out + count);
  return count;
}
#endif

/* As pn_append16, of four. */
PN_INLINE uint32_t pn_append4(uint32_t *out, uint32_t a, const uint32_t *b, uint32_t mask) {
  uint64_t list = pn_laneList[mask];
#if PN_SIMD_NEON
  /* of each number four bytes: its lane times four, and which of the four */
  static const uint8_t spread[16] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
  static const uint8_t within[16] = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
  uint8x16_t lane = vqtbl1q_u8(vcombine_u8(vcreate_u8(list), vcreate_u8(0)), vld1q_u8(spread));
  uint8x16_t at = vsliq_n_u8(vld1q_u8(within), lane, 2);
  uint32x4_t kept = vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(vld1q_u32(b)), at)), with = vdupq_n_u32(a);
  vst1q_u32(out, vzip1q_u32(with, kept));
  vst1q_u32(out + 4, vzip2q_u32(with, kept));
#else
  for (uint32_t i = 0; i < 4; ++i) {
    out[2 * i] = a;
    out[2 * i + 1] = b[list >> 8 * i & 255];
  }
#endif
  return pn_laneCount(mask);
}

#endif
