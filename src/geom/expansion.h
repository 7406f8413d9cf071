/* expansion.h: exact sums and products of doubles.
 *
 * An expansion is a list of doubles, smallest magnitude first, whose bits do not overlap: it *is* their exact sum, and
 * the sign of the sum is the sign of the last one. Two facts carry everything (Dekker 1971, Knuth 1969): the rounding
 * error of a sum of two doubles is itself a double, and so is that of a product; a few operations find it. Sums and
 * multiples of expansions are then chains of such steps (Shewchuk 1997, "Adaptive precision floating-point arithmetic
 * and fast robust geometric predicates", sections 2.4 and 2.5). The code here is our own.
 *
 * What it needs from the machine: IEEE doubles rounded to nearest even, operations rounded to double and not to
 * something wider, in the order written, none fused. The checks below refuse a compiler that was told otherwise.
 * Nothing may overflow, and no product may reach below 2^-1074: predicate.h says which coordinates promise that.
 *
 * This file, predicate.h and .c, triangle.h, triangle_exact.c, _flat.c and _beyond.c are OpenCL C 1.2 as well: the device
 * room compiles the same text for GPUs. The few lines that differ ask for __OPENCL_VERSION__.
 */
#ifndef PN_GEOM_EXPANSION_H
#define PN_GEOM_EXPANSION_H

#include "base/core.h"

#include <float.h>
#include <math.h>

#ifdef __OPENCL_VERSION__
/* On a device the standard promises the rounding of doubles, and of their fused multiply-add. */
#define PN_FUSED(a, b, c) fma(a, b, c)
#else
#ifdef __FAST_MATH__
#error "pinch is exact: compile it without -ffast-math"
#endif
/* 0: every operation is rounded to its own type. 16 says the same and speaks of half floats besides. */
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error "pinch needs float operations without extended precision (on 32-bit x86: -msse2 -mfpmath=sse)"
#endif
#if defined(__FP_FAST_FMA) && !defined(PN_SCALAR)
#define PN_FUSED(a, b, c) __builtin_fma(a, b, c)
#endif
#endif

/* Half a unit in the last place of 1: the largest relative error of one rounded double operation. */
#define PN_ROUND 0x1p-53

/* a + b = *sum + *error, exactly. */
PN_INLINE void pn_twoSum(double a, double b, double *sum, double *error) {
  double s = a + b;
  double bPart = s - a;
  double aPart = s - bPart;
  *error = (a - aPart) + (b - bPart);
  *sum = s;
}

/* The same in three operations when |a| >= |b| or a = 0. */
PN_INLINE void pn_quickTwoSum(double a, double b, double *sum, double *error) {
  double s = a + b;
  *error = b - (s - a);
  *sum = s;
}

/* a - b = *difference + *error, exactly. */
PN_INLINE void pn_twoDifference(double a, double b, double *difference, double *error) {
  pn_twoSum(a, -b, difference, error);
}

/* Cut a 53-bit double into two of 26 bits at most (the sign of `low` is the 53rd): products of halves are exact. */
PN_INLINE void pn_split(double a, double *high, double *low) {
  double c = 0x1.0000002p27 * a; /* 2^27 + 1 */
  double h = c - (c - a);
  *high = h;
  *low = a - h;
}

/* a * b = *product + *error, exactly. A fused multiply-add gives the error in one operation where the machine has it;
 * the error is a double that both ways find exactly, so the bits are the same. */
PN_INLINE void pn_twoProduct(double a, double b, double *product, double *error) {
  double p = a * b;
#ifdef PN_FUSED
  *error = PN_FUSED(a, b, -p);
#else
  double aHigh, aLow, bHigh, bLow;
  pn_split(a, &aHigh, &aLow);
  pn_split(b, &bHigh, &bLow);
  *error = aLow * bLow - (((p - aHigh * bHigh) - aLow * bHigh) - aHigh * bLow);
#endif
  *product = p;
}

/* h = e + f, zeros left out; returns the length, at least 1. h has room for eCount + fCount and overlaps neither.
 * Merge both lists by magnitude and carry a running sum upwards, leaving behind what was rounded off. */
PN_PART int pn_expansionSum(int eCount, const double *e, int fCount, const double *f, double *h) {
  int i = 0, j = 0, count = 0;
  double sum = 0.0;
  while (i < eCount || j < fCount) {
    bool takeE = j == fCount || (i < eCount && fabs(e[i]) < fabs(f[j]));
    double next = takeE ? e[i++] : f[j++];
    double error;
    pn_twoSum(sum, next, &sum, &error);
    if (error != 0.0) h[count++] = error;
  }
  if (sum != 0.0 || count == 0) h[count++] = sum;
  return count;
}

/* h = e * factor, zeros left out; returns the length, at least 1. h has room for 2 * eCount and is not e. */
PN_PART int pn_expansionScale(int eCount, const double *e, double factor, double *h) {
  int count = 0;
  double sum, error;
  pn_twoProduct(e[0], factor, &sum, &error);
  if (error != 0.0) h[count++] = error;
  for (int i = 1; i < eCount; ++i) {
    double high, low;
    pn_twoProduct(e[i], factor, &high, &low);
    pn_twoSum(sum, low, &sum, &error);
    if (error != 0.0) h[count++] = error;
    pn_quickTwoSum(high, sum, &sum, &error);
    if (error != 0.0) h[count++] = error;
  }
  if (sum != 0.0 || count == 0) h[count++] = sum;
  return count;
}

/* h = a * b - c * d, zeros left out; returns the length, at least 1 and at most 4. */
PN_PART int pn_expansionMinor(double a, double b, double c, double d, double h[4]) {
  double plus[2], minus[2];
  pn_twoProduct(a, b, &plus[1], &plus[0]);
  pn_twoProduct(-c, d, &minus[1], &minus[0]);
  if (plus[0] != 0.0 || minus[0] != 0.0) return pn_expansionSum(2, plus, 2, minus, h);
  /* Products of floats are doubles: one sum, two parts at most. */
  double sum, error;
  pn_twoSum(plus[1], minus[1], &sum, &error);
  h[0] = error != 0.0 ? error : sum;
  h[1] = sum;
  return error != 0.0 ? 2 : 1;
}

/* The sign of an expansion without zeros: its largest part outweighs all the others. */
static inline int pn_expansionSign(int count, const double *e) {
  double top = e[count - 1];
  return (top > 0.0) - (top < 0.0);
}

/* Its value as one double. Summed from the smallest part, the parts not overlapping, the error is below 2^-51. */
static inline double pn_expansionValue(int count, const double *e) {
  double sum = 0.0;
  for (int i = 0; i < count; ++i) sum += e[i];
  return sum;
}

#endif
