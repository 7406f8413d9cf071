/* simd_peg.h: pegs and holes (collide/peg.h), records of eight 16-bit numbers: a peg fits where none of its numbers is above the hole's. One
 * of the files with intrinsics (simd.h). Bit i says it of peg, or hole, i of eight. */
#ifndef PN_GEOM_SIMD_PEG_H
#define PN_GEOM_SIMD_PEG_H

#include "geom/simd_pick.h"
#include "geom/simd_short.h"

#define PN_PEG 8u /* numbers in a record */

PN_INLINE unsigned pn_fitHoles(const int16_t *peg, const int16_t *holes) {
  unsigned mask = 0;
  pnH8 p = pn_h8Load(peg);
  for (uint32_t i = 0; i < 8; ++i)
    mask |= (unsigned)(pn_h8Mask(pn_h8LessEqual(p, pn_h8Load(holes + PN_PEG * i))) == 0xff) << i;
  return mask;
}
PN_INLINE unsigned pn_fitPegs(const int16_t *pegs, const int16_t *hole) {
  unsigned mask = 0;
  pnH8 h = pn_h8Load(hole);
  for (uint32_t i = 0; i < 8; ++i)
    mask |= (unsigned)(pn_h8Mask(pn_h8LessEqual(pn_h8Load(pegs + PN_PEG * i), h)) == 0xff) << i;
  return mask;
}

#if PN_SIMD_F8
/* Of four records, two a register, in which some number is above: the four in which none is. */
PN_INLINE unsigned pn_noneOfFour(__m256i above01, __m256i above23) {
  /* a record becomes eight bytes; halves are packed apart, so they come as 0, 2, 1, 3 */
  __m256i none = _mm256_cmpeq_epi64(_mm256_packs_epi16(above01, above23), _mm256_setzero_si256());
  return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_permute4x64_epi64(none, 0xd8)));
}
PN_INLINE __m256i pn_loadTwo(const int16_t *records) {
  return _mm256_loadu_si256((const __m256i *)(const void *)records);
}
PN_INLINE __m256i pn_loadTwice(const int16_t *record) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)record));
}
PN_INLINE unsigned pn_fitHoles8(const int16_t *peg, const int16_t *holes) {
  __m256i p = pn_loadTwice(peg);
  unsigned low = pn_noneOfFour(_mm256_cmpgt_epi16(p, pn_loadTwo(holes)), _mm256_cmpgt_epi16(p, pn_loadTwo(holes + 16)));
  return low |
         pn_noneOfFour(_mm256_cmpgt_epi16(p, pn_loadTwo(holes + 32)), _mm256_cmpgt_epi16(p, pn_loadTwo(holes + 48)))
             << 4;
}
PN_INLINE unsigned pn_fitPegs8(const int16_t *pegs, const int16_t *hole) {
  __m256i h = pn_loadTwice(hole);
  unsigned low = pn_noneOfFour(_mm256_cmpgt_epi16(pn_loadTwo(pegs), h), _mm256_cmpgt_epi16(pn_loadTwo(pegs + 16), h));
  return low | pn_noneOfFour(_mm256_cmpgt_epi16(pn_loadTwo(pegs + 32), h), _mm256_cmpgt_epi16(pn_loadTwo(pegs + 48), h))
                   << 4;
}
#endif

#ifdef PN_SIMD_PICK
#define PN_SIMD_PEG 512
PN_INLINE __m512i pn_loadFourTimes(const int16_t *record) {
  return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)record));
}
/* A byte for each of eight pegs: bits of numbers that are above those of the hole. */
PN_INLINE uint64_t pn_abovePegs(const int16_t *pegs, const int16_t *hole) {
  __m512i h = pn_loadFourTimes(hole);
  return (uint64_t)_mm512_cmpgt_epi16_mask(_mm512_loadu_si512(pegs + 32), h) << 32 |
         _mm512_cmpgt_epi16_mask(_mm512_loadu_si512(pegs), h);
}
/* And for each of eight holes. */
PN_INLINE uint64_t pn_aboveHoles(const int16_t *peg, const int16_t *holes) {
  __m512i p = pn_loadFourTimes(peg);
  return (uint64_t)_mm512_cmpgt_epi16_mask(p, _mm512_loadu_si512(holes + 32)) << 32 |
         _mm512_cmpgt_epi16_mask(p, _mm512_loadu_si512(holes));
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
