/* small.c: see small.h. */
#include "collide/small.h"

#include "geom/simd_pick.h"

#include <float.h>
#include <math.h>

/* How far numbers along the fourth direction may be off, two of them together, in parts of s = sum |d| r over the axes, where d is the
 * direction and no vertex is farther than r from the middle. u = 2^-24. A number is the sum of three products (x - middle) * d: 1u for
 * the difference, 1u for the product, 2u for the sums, of s together: 4u. Two of them 8u, and 1u where the margin is added to
 * an end, as no end is beyond s. s itself is rounded by less than 8u of it, and terms of second order are smaller still: 10u are
 * more than enough. What underflow adds is less than 2^-147, far below FLT_MIN. */
#define MARGIN (10.0f / 16777216.0f)

/* Where s is so large that sums might be infinite, there is no fourth direction. */
#define LARGEST (FLT_MAX / 16)

void pn_viewSmall(const pnBox *a, const pnBox *b, pnSmallView *out) {
  const float *lo[2] = {&a->min.x, &b->min.x}, *hi[2] = {&a->max.x, &b->max.x};
  float s = 0;
  for (int k = 0; k < 3; ++k) {
    float from = 0.5f * lo[0][k] + 0.5f * hi[0][k], to = 0.5f * lo[1][k] + 0.5f * hi[1][k];
    float least = PN_MIN(lo[0][k], lo[1][k]), most = PN_MAX(hi[0][k], hi[1][k]);
    out->direction[k] = to - from;
    out->middle[k] = 0.5f * from + 0.5f * to;
    s += fabsf(out->direction[k]) * PN_MAX(most - out->middle[k], out->middle[k] - least);
  }
  out->margin = MARGIN * s + FLT_MIN;
  if (s < LARGEST) return;
  *out = (pnSmallView){.margin = FLT_MIN};
}

#define WIDE 4
#include "geom/simd_words.h"
#define OPEN_SMALL pn_openSmall4
#include "collide/small_kernel.h"

bool pn_openSmall(const pnTree *a, const pnTree *b, pnWorker *w) {
  pnSmallView view;
  pn_viewSmall(&a->box, &b->box, &view);
#if defined(__x86_64__) && !defined(PN_SCALAR)
#if defined(PN_AVX512)
  if (pn_hasVbmi()) return pn_openSmallVbmi(a, b, &view, w);
#endif
  if (__builtin_cpu_supports("avx2")) return pn_openSmallAvx2(a, b, &view, w);
#endif
  return pn_openSmall4(a, b, &view, w);
}
