/* simd_eight.h: triangles and pairs eight at a time, for files compiled for AVX2; with simd.h the files with intrinsics. */
#ifndef PN_GEOM_SIMD_EIGHT_H
#define PN_GEOM_SIMD_EIGHT_H

#include "geom/simd.h"

#if PN_SIMD_F8
/* Four floats, and four more from elsewhere. */
PN_INLINE pnF8 pn_f8Load2(const float *low, const float *high) {
  return pn_f8Join(_mm_loadu_ps(low), _mm_loadu_ps(high));
}
/* As pn_f4Transpose3, in each half. */
PN_INLINE void pn_f8Transpose3(pnF8 a, pnF8 b, pnF8 c, pnF8 d, pnF8 *x, pnF8 *y, pnF8 *z) {
  pnF8 t0 = _mm256_unpacklo_ps(a, c), t1 = _mm256_unpackhi_ps(a, c);
  pnF8 t2 = _mm256_unpacklo_ps(b, d), t3 = _mm256_unpackhi_ps(b, d);
  *x = _mm256_unpacklo_ps(t0, t2);
  *y = _mm256_unpackhi_ps(t0, t2);
  *z = _mm256_unpacklo_ps(t1, t3);
}
/* Of eight pairs of numbers those of the mask, in order; returns how many. `to` takes eight, and may be `from` or before it: all are
 * read before one is written. */
PN_INLINE uint32_t pn_keepEightPairs(const uint32_t *from, uint32_t mask, uint32_t *to) {
  /* of four pairs */
  static const uint64_t order[16] = {
      0,          0x0100,         0x0302,         0x03020100,         /* none, 0, 1, 0 1 */
      0x0504,     0x05040100,     0x05040302,     0x050403020100,     /* 2 with these */
      0x0706,     0x07060100,     0x07060302,     0x070603020100,     /* 3 */
      0x07060504, 0x070605040100, 0x070605040302, 0x0706050403020100, /* 2 3 */
  };
  pnF8 low = _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(const void *)from));
  pnF8 high = _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(const void *)(from + 8)));
  uint32_t n = pn_laneCount(mask & 15);
  _mm256_storeu_si256((__m256i *)(void *)to, _mm256_castps_si256(pn_f8Permute(low, order[mask & 15])));
  _mm256_storeu_si256((__m256i *)(void *)(to + 2 * n), _mm256_castps_si256(pn_f8Permute(high, order[mask >> 4])));
  return pn_laneCount(mask);
}
#endif

#endif
