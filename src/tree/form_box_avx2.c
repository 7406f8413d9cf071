/* form_box_avx2.c: the loops of form_box.h with two points in a register. Called only on machines that have AVX2 (form_box.c); nothing
 * elsewhere. */
#include "tree/form_box.h"

#include "geom/simd_short.h"

#if PN_SIMD_F8
/* Two points, one in each half. */
PN_INLINE pnF8 joinPoints(const float *p, const float *q) {
  return pn_f8Join(pn_f4Load(p), pn_f4Load(q));
}

/* ---------------------------------------------------------------- lists */

static void boxOfList8(const float *source, const uint32_t *v, const uint32_t *end, uint32_t ahead, float out[8]) {
  pnF8 lo = joinPoints(source + v[0], source + v[0]), hi = lo, lo1 = lo, hi1 = lo, nan = pn_f8Set1(0);
  for (; end - v >= 8; v += 8) {
    for (uint32_t i = 0; ahead && i < 8; ++i) __builtin_prefetch(source + v[ahead + i]);
    pnF8 p = joinPoints(source + v[0], source + v[1]), q = joinPoints(source + v[2], source + v[3]);
    pnF8 r = joinPoints(source + v[4], source + v[5]), s = joinPoints(source + v[6], source + v[7]);
    nan = pn_f8Or(nan, pn_f8Or(pn_f8Unordered(p, q), pn_f8Unordered(r, s)));
    lo = pn_f8Min(lo, pn_f8Min(p, q));
    hi = pn_f8Max(hi, pn_f8Max(p, q));
    lo1 = pn_f8Min(lo1, pn_f8Min(r, s));
    hi1 = pn_f8Max(hi1, pn_f8Max(r, s));
  }
  for (; v < end; v += 2) {
    pnF8 p = joinPoints(source + v[0], source + v[v + 1 < end]);
    nan = pn_f8Or(nan, pn_f8Unordered(p, p));
    lo = pn_f8Min(lo, p);
    hi = pn_f8Max(hi, p);
  }
  lo = pn_f8Or(pn_f8Min(lo, lo1), nan); /* all ones is NaN, and stays whatever the minimum makes of it: */
  hi = pn_f8Max(hi, hi1);
  pnF4 either = pn_f4Or(pn_f8Low(nan), pn_f8High(nan));
  pn_f4Store(out, pn_f4Or(pn_f4Min(pn_f8Low(lo), pn_f8High(lo)), either));
  pn_f4Store(out + 4, pn_f4Max(pn_f8Low(hi), pn_f8High(hi)));
}

/* A short list, of numbers that have been looked at before. */
PN_INLINE void boxOfFew(const float *source, const uint32_t *v, const uint32_t *end, pnF4 *outLo, pnF4 *outHi) {
  pnF8 lo = joinPoints(source + v[0], source + v[v + 1 < end]), hi = lo;
  for (v += 2; v < end; v += 2) {
    pnF8 p = joinPoints(source + v[0], source + v[v + 1 < end]);
    lo = pn_f8Min(lo, p);
    hi = pn_f8Max(hi, p);
  }
  *outLo = pn_f4Min(pn_f8Low(lo), pn_f8High(lo));
  *outHi = pn_f4Max(pn_f8Low(hi), pn_f8High(hi));
}

/* ---------------------------------------------------------------- onto the grid */

/* Boxes j and j + 4 in the halves of lo[j] and hi[j]: transposed in each half, rows come out in order. */
PN_INLINE void putPairs(const pnF8 lo[4], const pnF8 hi[4], const pnGrid *grid, pnBoxLanes *out) {
  pnF8 low[4], high[4];
  pn_f8Transpose4(lo[0], lo[1], lo[2], lo[3], low);
  pn_f8Transpose4(hi[0], hi[1], hi[2], hi[3], high);
  for (uint32_t d = 0; d < 3; ++d) pn_f8Quantise(low[d], high[d], grid->scale[d], grid->offset[d], out->row[d][0]);
}

static void putLists8(const float *source, const uint32_t *lists, const uint32_t *at, uint32_t count,
                      const pnGrid *grid, pnBoxLanes *out) {
  pnF4 lo[PN_LANES], hi[PN_LANES];
  for (uint32_t j = 0; j < count; ++j) boxOfFew(source, lists + at[j], lists + at[j + 1], &lo[j], &hi[j]);
  for (uint32_t j = count; j < PN_LANES; ++j) {
    lo[j] = lo[count - 1];
    hi[j] = hi[count - 1];
  }
  pnF8 low[4], high[4];
  for (uint32_t j = 0; j < 4; ++j) {
    low[j] = pn_f8Join(lo[j], lo[j + 4]);
    high[j] = pn_f8Join(hi[j], hi[j + 4]);
  }
  putPairs(low, high, grid, out);
}

static void putCorners8(const char *base, const uint32_t *corners, const pnGrid *grid, pnBoxLanes *out) {
  pnF8 lo[4], hi[4];
  for (uint32_t j = 0; j < 4; ++j) {
    pnF8 p[3];
    for (uint32_t k = 0; k < 3; ++k) {
      p[k] = joinPoints((const float *)(const void *)(base + corners[3 * j + k]),
                        (const float *)(const void *)(base + corners[3 * (j + 4) + k]));
    }
    lo[j] = pn_f8Min(p[0], pn_f8Min(p[1], p[2]));
    hi[j] = pn_f8Max(p[0], pn_f8Max(p[1], p[2]));
  }
  putPairs(lo, hi, grid, out);
}

static void putBoxes8(const float *boxes, const pnGrid *grid, pnBoxLanes *out) {
  pnF8 lo[4], hi[4];
  for (uint32_t j = 0; j < 4; ++j) {
    lo[j] = joinPoints(boxes + 8 * j, boxes + 8 * (j + 4));
    hi[j] = joinPoints(boxes + 8 * j + 4, boxes + 8 * (j + 4) + 4);
  }
  putPairs(lo, hi, grid, out);
}

const pnBoxLoops pn_boxLoopsAvx2 = {boxOfList8, putLists8, putCorners8, putBoxes8};
#endif
