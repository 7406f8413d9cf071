/* simd_peg.h: pegs and holes (collide/peg.h), records of eight bytes: a peg fits where none of its numbers is above the hole's. One of the files
 * with intrinsics (simd.h). Bit i says it of peg, or hole, i of eight. */
#ifndef PN_GEOM_SIMD_PEG_H
#define PN_GEOM_SIMD_PEG_H

#include "geom/simd_pick.h"

#define PN_PEG 8u /* numbers in a record */

/* ---------------------------------------------------------------- two records */

#if PN_SIMD_NEON
typedef uint8x16_t pnPeg2;
PN_INLINE pnPeg2 pn_peg2Load(const uint8_t *p) {
  return vld1q_u8(p);
}
/* One record twice. */
PN_INLINE pnPeg2 pn_peg2Twice(const uint8_t *p) {
  uint8x8_t one = vld1_u8(p);
  return vcombine_u8(one, one);
}
/* The first. */
PN_INLINE void pn_peg2StoreOne(uint8_t *p, pnPeg2 a) {
  vst1_u8(p, vget_low_u8(a));
}
PN_INLINE pnPeg2 pn_peg2Min(pnPeg2 a, pnPeg2 b) {
  return vminq_u8(a, b);
}
PN_INLINE pnPeg2 pn_peg2Max(pnPeg2 a, pnPeg2 b) {
  return vmaxq_u8(a, b);
}
/* Bit i: no number of record i of eight is above that of its hole; they stand in twos. Bytes that say so become fewer by the least
 * of two neighbours, three times. */
PN_INLINE unsigned pn_peg8Fit(const pnPeg2 peg[4], const pnPeg2 hole[4]) {
  static const uint8_t bit[8] = {1, 2, 4, 8, 16, 32, 64, 128};
  uint8x16_t first = vpminq_u8(vcleq_u8(peg[0], hole[0]), vcleq_u8(peg[1], hole[1]));
  uint8x16_t last = vpminq_u8(vcleq_u8(peg[2], hole[2]), vcleq_u8(peg[3], hole[3]));
  uint8x16_t all = vpminq_u8(first, last);
  return vaddv_u8(vand_u8(vget_low_u8(vpminq_u8(all, all)), vld1_u8(bit)));
}
/* The whole parts of four floats from 0 to 254, and 255 less those of four more: one record. */
PN_INLINE pnPeg2 pn_peg2Of(pnF4 a, pnF4 b) {
  uint16x4_t low = vmovn_u32(vcvtq_u32_f32(a)), high = vmovn_u32(vcvtq_u32_f32(b));
  uint8x8_t one = vmovn_u16(vcombine_u16(low, vsub_u16(vdup_n_u16(255), high)));
  return vcombine_u8(one, one);
}
#elif PN_SIMD_SSE2
typedef __m128i pnPeg2;
PN_INLINE pnPeg2 pn_peg2Load(const uint8_t *p) {
  return _mm_loadu_si128((const __m128i *)(const void *)p);
}
PN_INLINE pnPeg2 pn_peg2Twice(const uint8_t *p) {
  __m128i one = _mm_loadl_epi64((const __m128i *)(const void *)p);
  return _mm_unpacklo_epi64(one, one);
}
PN_INLINE void pn_peg2StoreOne(uint8_t *p, pnPeg2 a) {
  _mm_storel_epi64((__m128i *)(void *)p, a);
}
PN_INLINE pnPeg2 pn_peg2Min(pnPeg2 a, pnPeg2 b) {
  return _mm_min_epu8(a, b);
}
PN_INLINE pnPeg2 pn_peg2Max(pnPeg2 a, pnPeg2 b) {
  return _mm_max_epu8(a, b);
}
/* By how much the numbers of two records are above those of their holes, all together, in the lower half of each 64 bits. */
PN_INLINE __m128 pn_peg2Excess(pnPeg2 peg, pnPeg2 hole) {
  return _mm_castsi128_ps(_mm_sad_epu8(_mm_subs_epu8(peg, hole), _mm_setzero_si128()));
}
PN_INLINE unsigned pn_peg8Fit(const pnPeg2 peg[4], const pnPeg2 hole[4]) {
  __m128 first = _mm_shuffle_ps(pn_peg2Excess(peg[0], hole[0]), pn_peg2Excess(peg[1], hole[1]), 0x88);
  __m128 last = _mm_shuffle_ps(pn_peg2Excess(peg[2], hole[2]), pn_peg2Excess(peg[3], hole[3]), 0x88);
  __m128i all = _mm_packs_epi32(_mm_castps_si128(first), _mm_castps_si128(last)), none = _mm_setzero_si128();
  return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(_mm_cmpeq_epi16(all, none), none));
}
PN_INLINE pnPeg2 pn_peg2Of(pnF4 a, pnF4 b) {
  __m128i one = _mm_packs_epi32(_mm_cvttps_epi32(a), _mm_sub_epi32(_mm_set1_epi32(255), _mm_cvttps_epi32(b)));
  return _mm_packus_epi16(one, one);
}
#else
typedef struct pnPeg2 {
  uint8_t b[16];
} pnPeg2;
#define PN_EACH16(r, expr)                               \
  pnPeg2 r;                                              \
  for (int i = 0; i < 16; ++i) r.b[i] = (uint8_t)(expr); \
  return r
PN_INLINE pnPeg2 pn_peg2Load(const uint8_t *p) {
  PN_EACH16(r, p[i]);
}
PN_INLINE pnPeg2 pn_peg2Twice(const uint8_t *p) {
  PN_EACH16(r, p[i % 8]);
}
PN_INLINE void pn_peg2StoreOne(uint8_t *p, pnPeg2 a) {
  memcpy(p, a.b, PN_PEG);
}
PN_INLINE pnPeg2 pn_peg2Min(pnPeg2 a, pnPeg2 b) {
  PN_EACH16(r, a.b[i] < b.b[i] ? a.b[i] : b.b[i]);
}
PN_INLINE pnPeg2 pn_peg2Max(pnPeg2 a, pnPeg2 b) {
  PN_EACH16(r, a.b[i] > b.b[i] ? a.b[i] : b.b[i]);
}
PN_INLINE unsigned pn_peg8Fit(const pnPeg2 peg[4], const pnPeg2 hole[4]) {
  unsigned fit = 0xff;
  for (int i = 0; i < 64; ++i) fit &= ~((unsigned)(peg[i / 16].b[i % 16] > hole[i / 16].b[i % 16]) << i / 8);
  return fit;
}
PN_INLINE pnPeg2 pn_peg2Of(pnF4 a, pnF4 b) {
  PN_EACH16(r, i % 8 < 4 ? (int32_t)a.f[i % 4] : 255 - (int32_t)b.f[i % 4]);
}
#undef PN_EACH16
#endif

/* ---------------------------------------------------------------- eight records */

PN_INLINE unsigned pn_fitHoles(const uint8_t *peg, const uint8_t *holes) {
  pnPeg2 p = pn_peg2Twice(peg), pegs[4] = {p, p, p, p}, four[4];
  for (uint32_t i = 0; i < 4; ++i) four[i] = pn_peg2Load(holes + 2 * PN_PEG * i);
  return pn_peg8Fit(pegs, four);
}
PN_INLINE unsigned pn_fitPegs(const uint8_t *pegs, const uint8_t *hole) {
  pnPeg2 h = pn_peg2Twice(hole), holes[4] = {h, h, h, h}, four[4];
  for (uint32_t i = 0; i < 4; ++i) four[i] = pn_peg2Load(pegs + 2 * PN_PEG * i);
  return pn_peg8Fit(four, holes);
}

#if PN_SIMD_F8
/* Four floats, twice. */
PN_INLINE pnF8 pn_f8Twice(const float *p) {
  return _mm256_broadcast_ps((const __m128 *)(const void *)p);
}
/* Two points, and in the fourth lane of each the sum of its coordinates times those of the grain. */
PN_INLINE pnF8 pn_f8AlongGrain(pnF8 p, pnF8 grain) {
  pnF8 terms = _mm256_mul_ps(p, grain);
  pnF8 sum = _mm256_add_ps(_mm256_add_ps(_mm256_permute_ps(terms, 0), _mm256_permute_ps(terms, 0x55)),
                           _mm256_permute_ps(terms, 0xaa));
  return _mm256_blend_ps(p, sum, 0x88);
}
/* As pn_peg2Of, of both halves, two records. */
PN_INLINE void pn_storePegs2(uint8_t *out, pnF8 a, pnF8 b) {
  __m256i rest = _mm256_sub_epi32(_mm256_set1_epi32(255), _mm256_cvttps_epi32(b));
  __m256i both = _mm256_packs_epi32(_mm256_cvttps_epi32(a), rest);
  _mm_storeu_si128((__m128i *)(void *)out,
                   _mm_packus_epi16(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1)));
}
/* Four records at a time. */
PN_INLINE unsigned pn_fitFour(__m256i pegs, __m256i holes) {
  __m256i fits = _mm256_cmpeq_epi8(_mm256_max_epu8(pegs, holes), holes);
  return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(fits, _mm256_set1_epi8(-1))));
}
PN_INLINE __m256i pn_loadFour(const uint8_t *records) {
  return _mm256_loadu_si256((const __m256i *)(const void *)records);
}
PN_INLINE __m256i pn_loadFourTimes(const uint8_t *record) {
  long long one;
  memcpy(&one, record, sizeof one);
  return _mm256_set1_epi64x(one);
}
PN_INLINE unsigned pn_fitHoles8(const uint8_t *peg, const uint8_t *holes) {
  __m256i p = pn_loadFourTimes(peg);
  return pn_fitFour(p, pn_loadFour(holes)) | pn_fitFour(p, pn_loadFour(holes + 32)) << 4;
}
PN_INLINE unsigned pn_fitPegs8(const uint8_t *pegs, const uint8_t *hole) {
  __m256i h = pn_loadFourTimes(hole);
  return pn_fitFour(pn_loadFour(pegs), h) | pn_fitFour(pn_loadFour(pegs + 32), h) << 4;
}
#endif

#ifdef PN_SIMD_PICK
#define PN_SIMD_PEG 512
PN_INLINE __m512i pn_loadEightTimes(const uint8_t *record) {
  long long one;
  memcpy(&one, record, sizeof one);
  return _mm512_set1_epi64(one);
}
/* A byte for each of eight pegs: bits of numbers that are above those of the hole. */
PN_INLINE uint64_t pn_abovePegs(const uint8_t *pegs, const uint8_t *hole) {
  return _mm512_cmpgt_epu8_mask(_mm512_loadu_si512(pegs), pn_loadEightTimes(hole));
}
/* And for each of eight holes. */
PN_INLINE uint64_t pn_aboveHoles(const uint8_t *peg, const uint8_t *holes) {
  return _mm512_cmpgt_epu8_mask(pn_loadEightTimes(peg), _mm512_loadu_si512(holes));
}
/* Which of 64 bytes are zero? */
PN_INLINE uint64_t pn_zeroBytes(const void *bytes) {
  __m512i v = _mm512_loadu_si512(bytes);
  return _mm512_testn_epi8_mask(v, v);
}
/* Writes base[i] + j, pairs as 64-bit numbers, for the bits 8 i + j of a square, in order; returns how many. Eight at a time. */
PN_INLINE uint32_t pn_appendRows(uint32_t *out, const uint64_t base[8], uint64_t square) {
  const __m512i rows = _mm512_loadu_si512(base);
  uint32_t count = (uint32_t)__builtin_popcountll(square);
  __m512i list = pn_bitNumbers(square);
  for (uint32_t done = 0; done < count; done += 8) {
    __m512i bit = _mm512_cvtepu8_epi64(_mm512_castsi512_si128(list));
    __m512i row = _mm512_permutexvar_epi64(_mm512_srli_epi64(bit, 3), rows);
    _mm512_storeu_si512(out + 2 * done, _mm512_add_epi64(row, _mm512_and_si512(bit, _mm512_set1_epi64(7))));
    list = _mm512_alignr_epi64(list, list, 1);
  }
  return count;
}
#endif

#endif
