/* simd_square.h: eight boxes against eight, all 64 pairs at once, for files compiled for AVX2 or AVX-512. One of the files with intrinsics
 * (simd.h).
 *
 * Boxes are six rows of eight 16-bit numbers: lo and hi along x, along y, along z. Bit 8 i + j of a *square* says whether box i
 * of a and box j of b overlap: lo of the one <= hi of the other along every axis, both ways. hi - lo, saturated, has the
 * sign of the difference, so that is where none of six differences is negative: subtract, collect the signs. The boxes of a are spread,
 * each over eight lanes, and those of b repeated. */
#ifndef PN_GEOM_SIMD_SQUARE_H
#define PN_GEOM_SIMD_SQUARE_H

#include "geom/simd_pick.h"

/* Numbers of one grid as another has them: (q >> shift) + sum[0] + sum[1], saturated. Of `sums` = 0 nothing is done, of 1 there is
 * sum[0] alone, of 2 all. */
typedef struct pnGlass {
  int shift;
  int16_t sum[2][6][8];
} pnGlass;

#ifdef PN_SIMD_PICK
#define PN_SIMD_SQUARE 512

/* Rows 4 and 5 in the lower half. */
PN_INLINE __m512i pn_lastRows(const int16_t *rows) {
  return _mm512_castsi256_si512(_mm256_loadu_si256((const void *)rows));
}

/* Rows through the glass, four at a time; sum: those of the same rows. */
PN_INLINE __m512i pn_throughGlass(__m512i v, int shift, uint32_t sums, __m512i sum0, __m512i sum1) {
  if (sums == 2) v = _mm512_sra_epi16(v, _mm_cvtsi32_si128(shift));
  v = _mm512_adds_epi16(v, sum0);
  return sums == 2 ? _mm512_adds_epi16(v, sum1) : v;
}

/* The rows of b as a sees them, each in all quarters of a register. */
PN_INLINE void pn_repeatRows(const int16_t *b, const pnGlass *glass, uint32_t sums, __m512i out[6]) {
  if (sums == 0) {
    for (int r = 0; r < 6; ++r) out[r] = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)(b + 8 * r)));
    return;
  }
  const int16_t *s0 = glass->sum[0][0], *s1 = glass->sum[1][0];
  __m512i xy =
      pn_throughGlass(_mm512_loadu_si512(b), glass->shift, sums, _mm512_loadu_si512(s0), _mm512_loadu_si512(s1));
  __m512i z = pn_throughGlass(pn_lastRows(b + 32), glass->shift, sums, pn_lastRows(s0 + 32), pn_lastRows(s1 + 32));
  out[0] = _mm512_shuffle_i64x2(xy, xy, 0x00);
  out[1] = _mm512_shuffle_i64x2(xy, xy, 0x55);
  out[2] = _mm512_shuffle_i64x2(xy, xy, 0xaa);
  out[3] = _mm512_shuffle_i64x2(xy, xy, 0xff);
  out[4] = _mm512_shuffle_i64x2(z, z, 0x00);
  out[5] = _mm512_shuffle_i64x2(z, z, 0x55);
}

/* Four boxes of a row, from `first` on, each over eight lanes. */
PN_INLINE __m512i pn_spreadRow(__m512i rows, uint32_t row, uint32_t first) {
  const __m512i lane = _mm512_set_epi64(0x0003000300030003, 0x0003000300030003, 0x0002000200020002, 0x0002000200020002,
                                        0x0001000100010001, 0x0001000100010001, 0, 0);
  return _mm512_permutexvar_epi16(_mm512_add_epi16(lane, _mm512_set1_epi16((int16_t)(8 * row + first))), rows);
}

PN_INLINE uint64_t pn_boxSquare(const int16_t *a, const int16_t *b, const pnGlass *glass, uint32_t sums) {
  __m512i xy = _mm512_loadu_si512(a), z = pn_lastRows(a + 32), other[6];
  pn_repeatRows(b, glass, sums, other);
  uint64_t apart = 0;
  for (uint32_t half = 0; half < 2; ++half) {
    __m512i gap[6];
    for (uint32_t d = 0; d < 3; ++d) {
      __m512i rows = d < 2 ? xy : z;
      gap[2 * d] = _mm512_subs_epi16(other[2 * d + 1], pn_spreadRow(rows, d % 2 * 2, 4 * half));
      gap[2 * d + 1] = _mm512_subs_epi16(pn_spreadRow(rows, d % 2 * 2 + 1, 4 * half), other[2 * d]);
    }
    __m512i any = _mm512_ternarylogic_epi32(gap[0], gap[1], gap[2], 0xfe); /* or of three */
    any = _mm512_or_si512(_mm512_ternarylogic_epi32(any, gap[3], gap[4], 0xfe), gap[5]);
    apart |= (uint64_t)_mm512_movepi16_mask(any) << (32 * half);
  }
  return ~apart;
}

/* Writes the pairs (a + i, b + j) of a square's bits, in order; returns how many. Eight at a time, which are nearly always all:
 * there must be room for eight more. */
PN_INLINE uint32_t pn_appendSquare(uint32_t *out, uint32_t a, uint32_t b, uint64_t square) {
  const __m512i base = _mm512_set1_epi64((int64_t)((uint64_t)b << 32 | a));
  uint32_t count = (uint32_t)__builtin_popcountll(square), done = 0;
  __m512i list = pn_bitNumbers(square);
  do {
    __m512i bit = _mm512_cvtepu8_epi64(_mm512_castsi512_si128(list));
    __m512i j = _mm512_slli_epi64(_mm512_and_si512(bit, _mm512_set1_epi64(7)), 32);
    _mm512_storeu_si512(out + 2 * done, _mm512_add_epi32(base, _mm512_or_si512(_mm512_srli_epi64(bit, 3), j)));
    list = _mm512_alignr_epi64(list, list, 1);
    done += 8;
  } while (PN_UNLIKELY(done < count));
  return count;
}

/* Of records of three numbers, sixteen at most, bits: the first number of which is this one, which is not UINT32_MAX? */
#define PN_SEEK_MOST 16u
#define PN_SEEK_STEP 1u
PN_INLINE uint64_t pn_seekThirds(const void *records, uint32_t count, uint32_t wanted) {
  const __m512i low = _mm512_set_epi32(0, 0, 0, 0, 0, 30, 27, 24, 21, 18, 15, 12, 9, 6, 3, 0);
  const __m512i high = _mm512_set_epi32(13, 10, 7, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m512i none = _mm512_set1_epi32(-1);
  uint64_t in = ((uint64_t)1 << 3 * count) - 1;
  const char *p = records;
  __m512i a = _mm512_mask_loadu_epi32(none, (__mmask16)in, p);
  __m512i b = _mm512_mask_loadu_epi32(none, (__mmask16)(in >> 16), p + 64);
  __m512i c = _mm512_mask_loadu_epi32(none, (__mmask16)(in >> 32), p + 128);
  __m512i first = _mm512_mask_permutexvar_epi32(_mm512_permutex2var_epi32(a, low, b), 0xf800, high, c);
  return _mm512_cmpeq_epi32_mask(first, _mm512_set1_epi32((int32_t)wanted));
}

#elif PN_SIMD_SSE2 && defined(__AVX2__)
#define PN_SIMD_SQUARE 256

/* A row of b as a sees it, twice. */
PN_INLINE __m256i pn_repeatRow(const int16_t *b, const pnGlass *glass, uint32_t sums, uint32_t row) {
  __m128i v = _mm_loadu_si128((const void *)(b + 8 * row));
  if (sums == 2) v = _mm_sra_epi16(v, _mm_cvtsi32_si128(glass->shift));
  for (uint32_t k = 0; k < sums; ++k) v = _mm_adds_epi16(v, _mm_loadu_si128((const void *)glass->sum[k][row]));
  return _mm256_broadcastsi128_si256(v);
}

/* Box p of a row over the lower eight lanes, and box p + 2 over the upper. */
PN_INLINE __m256i pn_spreadBoxes(__m256i row, uint32_t p) {
  int16_t low = (int16_t)(0x0100 + 0x0202 * p), high = (int16_t)(0x0504 + 0x0202 * p);
  return _mm256_shuffle_epi8(row, _mm256_set_m128i(_mm_set1_epi16(high), _mm_set1_epi16(low)));
}

PN_INLINE uint64_t pn_boxSquare(const int16_t *a, const int16_t *b, const pnGlass *glass, uint32_t sums) {
  __m256i gap[4];
  for (uint32_t d = 0; d < 3; ++d) {
    __m256i lo = pn_repeatRow(b, glass, sums, 2 * d), hi = pn_repeatRow(b, glass, sums, 2 * d + 1);
    __m256i aLo = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)(a + 16 * d)));
    __m256i aHi = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)(a + 16 * d + 8)));
    for (uint32_t g = 0; g < 4; ++g) {
      uint32_t p = g % 2 + g / 2 * 4; /* boxes 0 and 2, 1 and 3, 4 and 6, 5 and 7: packing brings them in order */
      __m256i here =
          _mm256_or_si256(_mm256_subs_epi16(hi, pn_spreadBoxes(aLo, p)), _mm256_subs_epi16(pn_spreadBoxes(aHi, p), lo));
      gap[g] = d ? _mm256_or_si256(gap[g], here) : here;
    }
  }
  uint32_t low = (uint32_t)_mm256_movemask_epi8(_mm256_packs_epi16(gap[0], gap[1]));
  uint32_t high = (uint32_t)_mm256_movemask_epi8(_mm256_packs_epi16(gap[2], gap[3]));
  return ~((uint64_t)high << 32 | low);
}

/* As above, row by row and without a branch: eight are written for every row. */
PN_INLINE uint32_t pn_appendSquare(uint32_t *out, uint32_t a, uint32_t b, uint64_t square) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    uint32_t row = (uint32_t)(square >> 8 * i) & 255;
    const __m256i base = _mm256_set1_epi64x((long long)((uint64_t)b << 32 | (a + i)));
    __m128i lanes = _mm_loadl_epi64((const __m128i *)(const void *)&pn_laneList[row]);
    __m256i low = _mm256_slli_epi64(_mm256_cvtepu8_epi64(lanes), 32);
    __m256i high = _mm256_slli_epi64(_mm256_cvtepu8_epi64(_mm_srli_si128(lanes, 4)), 32);
    _mm256_storeu_si256((__m256i *)(void *)(out + 2 * count), _mm256_add_epi32(base, low));
    _mm256_storeu_si256((__m256i *)(void *)(out + 2 * count + 8), _mm256_add_epi32(base, high));
    count += pn_laneCount(row);
  }
  return count;
}

/* As above; bit 3 i says it of record i: all numbers are compared where they stand. */
#define PN_SEEK_MOST 16u
#define PN_SEEK_STEP 3u
PN_INLINE uint64_t pn_seekThirds(const void *records, uint32_t count, uint32_t wanted) {
  const __m256i each = _mm256_set1_epi32((int32_t)wanted);
  const int *p = records;
  uint64_t equal = 0;
  for (int32_t i = 0; i < 3 * (int32_t)PN_SEEK_MOST; i += 8) {
    __m256i place = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(i));
    __m256i in = _mm256_cmpgt_epi32(_mm256_set1_epi32(3 * (int32_t)count), place);
    __m256i here = _mm256_and_si256(in, _mm256_cmpeq_epi32(_mm256_maskload_epi32(p + i, in), each));
    equal |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(here)) << i;
  }
  return equal & UINT64_C(0x249249249249);
}
#endif

#endif
