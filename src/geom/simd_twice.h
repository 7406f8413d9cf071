/* simd_twice.h: floats of twice the length: doubles side by side (pnFTwice), as many as a register of the file has, eight, four or two. The
 * words of simd_words.h for them, with WIDE being Twice. With simd.h one of the files with intrinsics. */
#ifndef PN_GEOM_SIMD_TWICE_H
#define PN_GEOM_SIMD_TWICE_H

#include "geom/simd_double.h"
#include "geom/simd_whole.h"

#if PN_SIMD_SSE2 && defined(__AVX2__)
#define PN_TWICE PN_DS
typedef pnDs pnFTwice;
PN_INLINE pnFTwice pn_fTwiceSet1(double x) {
  return pn_dsSet1(x);
}
PN_INLINE pnFTwice pn_fTwiceMin(pnFTwice a, pnFTwice b) {
  return pn_dsMin(a, b);
}
PN_INLINE pnFTwice pn_fTwiceMax(pnFTwice a, pnFTwice b) {
  return pn_dsMax(a, b);
}
#if defined(__AVX512F__)
PN_INLINE unsigned pn_fTwiceSigns(pnFTwice a) {
  return _mm512_movepi64_mask(_mm512_castpd_si512(a));
}
#else
PN_INLINE unsigned pn_fTwiceSigns(pnFTwice a) {
  return (unsigned)_mm256_movemask_pd(a);
}
#endif
#else
#define PN_TWICE 2u
typedef pnD2 pnFTwice;
PN_INLINE pnFTwice pn_fTwiceSet1(double x) {
  return PN_D2(x, x);
}
PN_INLINE pnFTwice pn_fTwiceMin(pnFTwice a, pnFTwice b) {
  return pn_d2Min(a, b);
}
PN_INLINE pnFTwice pn_fTwiceMax(pnFTwice a, pnFTwice b) {
  return pn_d2Max(a, b);
}
PN_INLINE unsigned pn_fTwiceSigns(pnFTwice a) {
  return (unsigned)(((pnU2)a)[0] >> 63 | ((pnU2)a)[1] >> 63 << 1);
}
#endif

typedef uint64_t pnTwiceBits __attribute__((vector_size(8 * PN_TWICE)));

/* As many floats. */
PN_INLINE pnFTwice pn_fTwiceLoad(const float *p) {
  typedef float Floats __attribute__((vector_size(4 * PN_TWICE)));
  Floats floats;
  memcpy(&floats, p, sizeof floats);
  return __builtin_convertvector(floats, pnFTwice);
}
PN_INLINE pnFTwice pn_fTwiceAdd(pnFTwice a, pnFTwice b) {
  return a + b;
}
PN_INLINE pnFTwice pn_fTwiceSub(pnFTwice a, pnFTwice b) {
  return a - b;
}
PN_INLINE pnFTwice pn_fTwiceMul(pnFTwice a, pnFTwice b) {
  return a * b;
}
PN_INLINE pnFTwice pn_fTwiceAnd(pnFTwice a, pnFTwice b) {
  return (pnFTwice)((pnTwiceBits)a & (pnTwiceBits)b);
}
PN_INLINE pnFTwice pn_fTwiceOr(pnFTwice a, pnFTwice b) {
  return (pnFTwice)((pnTwiceBits)a | (pnTwiceBits)b);
}
PN_INLINE pnFTwice pn_fTwiceXor(pnFTwice a, pnFTwice b) {
  return (pnFTwice)((pnTwiceBits)a ^ (pnTwiceBits)b);
}
/* a and not b */
PN_INLINE pnFTwice pn_fTwiceAndNot(pnFTwice a, pnFTwice b) {
  return (pnFTwice)((pnTwiceBits)a & ~(pnTwiceBits)b);
}
PN_INLINE pnFTwice pn_fTwiceAbs(pnFTwice a) {
  return pn_fTwiceAndNot(a, pn_fTwiceSet1(-0.0));
}
PN_INLINE pnFTwice pn_fTwiceNeg(pnFTwice a) {
  return pn_fTwiceXor(a, pn_fTwiceSet1(-0.0));
}
PN_INLINE pnFTwice pn_fTwiceGreater(pnFTwice a, pnFTwice b) {
  return (pnFTwice)(a > b);
}

#endif
