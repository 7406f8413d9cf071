/* peg_avx2.c: the loops of peg.h four records at a time. Called only on machines that have AVX2 (peg.c); nothing elsewhere. */
#include "collide/peg.h"

#if PN_SIMD_F8
#define FIT pn_fitPegsAvx2
#define FIT_HOLES pn_fitHoles8
#define FIT_PEGS pn_fitPegs8
#include "collide/peg_eight.h"

/* As pn_onBoard, of two points. */
PN_INLINE pnF8 onBoard2(const pnBoard *b, pnF8 points) {
  pnF8 lo = pn_f8Twice(b->lo);
  return pn_f8Mul(pn_f8Sub(pn_f8Min(pn_f8Max(points, lo), pn_f8Twice(b->hi)), lo), pn_f8Twice(b->scale));
}

void pn_drillLeafAvx2(const pnBoard *board, const char *base, const uint32_t *corners, uint8_t (*holes)[PN_PEG]) {
  const pnF8 grain = pn_f8Twice(board->grain);
  for (uint32_t j = 0; j < PN_LANES; j += 2) {
    pnF4 from[6];
    pnF8 p[3];
    for (uint32_t k = 0; k < 6; ++k) from[k] = pn_f4Load((const float *)(const void *)(base + corners[3 * j + k]));
    for (uint32_t k = 0; k < 3; ++k) p[k] = pn_f8AlongGrain(pn_f8Join(from[k], from[k + 3]), grain);
    pnF8 least = pn_f8Min(pn_f8Min(p[0], p[1]), p[2]), most = pn_f8Max(pn_f8Max(p[0], p[1]), p[2]);
    pn_storePegs2(holes[j], onBoard2(board, most), onBoard2(board, least));
  }
}
#endif
