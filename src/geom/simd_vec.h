/* simd_vec.h: vectors of three coordinates, four of them side by side; on a device (src/device) one. */
#ifndef PN_GEOM_SIMD_VEC_H
#define PN_GEOM_SIMD_VEC_H

#include "geom/simd.h"

/* A bit for each lane. */
#ifdef __OPENCL_VERSION__
#define PN_ALL_LANES 1u
#else
#define PN_ALL_LANES 15u
#endif

typedef struct pnV4 {
  pnF4 x[3];
} pnV4;

PN_INLINE pnV4 pn_v4Add(const pnV4 *p, const pnV4 *q) {
  return (pnV4){{pn_f4Add(p->x[0], q->x[0]), pn_f4Add(p->x[1], q->x[1]), pn_f4Add(p->x[2], q->x[2])}};
}

PN_INLINE pnV4 pn_v4Sub(const pnV4 *p, const pnV4 *q) {
  return (pnV4){{pn_f4Sub(p->x[0], q->x[0]), pn_f4Sub(p->x[1], q->x[1]), pn_f4Sub(p->x[2], q->x[2])}};
}

PN_INLINE pnV4 pn_v4Cross(const pnV4 *p, const pnV4 *q) {
  pnV4 r;
  r.x[0] = pn_f4Sub(pn_f4Mul(p->x[1], q->x[2]), pn_f4Mul(p->x[2], q->x[1]));
  r.x[1] = pn_f4Sub(pn_f4Mul(p->x[2], q->x[0]), pn_f4Mul(p->x[0], q->x[2]));
  r.x[2] = pn_f4Sub(pn_f4Mul(p->x[0], q->x[1]), pn_f4Mul(p->x[1], q->x[0]));
  return r;
}

PN_INLINE pnF4 pn_v4Dot(const pnV4 *p, const pnV4 *q) {
  return pn_f4Add(pn_f4Add(pn_f4Mul(p->x[0], q->x[0]), pn_f4Mul(p->x[1], q->x[1])), pn_f4Mul(p->x[2], q->x[2]));
}

/* The largest of |coordinates| and m. */
PN_INLINE pnF4 pn_v4Reach(const pnV4 *p, pnF4 m) {
  return pn_f4Max(pn_f4Max(m, pn_f4Abs(p->x[0])), pn_f4Max(pn_f4Abs(p->x[1]), pn_f4Abs(p->x[2])));
}

#ifndef __OPENCL_VERSION__
/* Sums and differences of the coordinates of one point: x+y, x+z, y+z, x+y and x-y, x-z, y-z, x-y; one rounding each. */
PN_INLINE void pn_f4EdgeSums(pnF4 p, pnF4 *sums, pnF4 *differences) {
#if PN_SIMD_SSE2
  pnF4 first = _mm_shuffle_ps(p, p, _MM_SHUFFLE(0, 1, 0, 0)), second = _mm_shuffle_ps(p, p, _MM_SHUFFLE(1, 2, 2, 1));
#elif PN_SIMD_NEON
  static const uint8_t xxyx[16] = {0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3};
  static const uint8_t yzzy[16] = {4, 5, 6, 7, 8, 9, 10, 11, 8, 9, 10, 11, 4, 5, 6, 7};
  uint8x16_t bytes = vreinterpretq_u8_f32(p);
  pnF4 first = vreinterpretq_f32_u8(vqtbl1q_u8(bytes, vld1q_u8(xxyx)));
  pnF4 second = vreinterpretq_f32_u8(vqtbl1q_u8(bytes, vld1q_u8(yzzy)));
#else
  float v[4], a[4], b[4];
  pn_f4Store(v, p);
  for (int i = 0; i < 4; ++i) {
    a[i] = v[i == 2];
    b[i] = v[i == 0 || i == 3 ? 1 : 2];
  }
  pnF4 first = pn_f4Load(a), second = pn_f4Load(b);
#endif
  *sums = pn_f4Add(first, second);
  *differences = pn_f4Sub(first, second);
}

/* Four points, four floats each, from anywhere. */
PN_INLINE pnV4 pn_v4Load(const float *a, const float *b, const float *c, const float *d) {
  pnV4 r;
  pn_f4Transpose3(pn_f4Load(a), pn_f4Load(b), pn_f4Load(c), pn_f4Load(d), &r.x[0], &r.x[1], &r.x[2]);
  return r;
}
#endif

#endif
