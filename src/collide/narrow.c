/* narrow.c: candidates in, meeting triangles out. The SIMD filter (narrow_kernel.h) decides nearly all; the rest goes to
 * the exact test of geom. See narrow.h. */
#include "collide/narrow.h"

#include "geom/triangle.h"

/* ---------------------------------------------------------------- four at a time */

#define WIDE 4
#include "geom/simd_words.h"
#define NARROW_NAME meet4
#ifdef PN_F4_FUSED
#define DIFFERENCE(a, b, c, d) pn_f4FusedSub(MUL(a, b), c, d)
#define MORE(a, b, c) pn_f4FusedAdd(c, a, b)
#endif
#include "collide/narrow_kernel.h"

PN_INLINE void narrow4(const pnTree *a, const pnTree *b, const pnPair *candidates, uint32_t *outHit,
                       uint32_t *outUnsure) {
  pnF4 p[6][3];
  pn_loadCorners4(a, b, candidates, p);
  meet4(p, outHit, outUnsure);
}

void pn_narrow4(const pnTree *a, const pnTree *b, const pnPair *candidates, uint32_t *outHit, uint32_t *outUnsure) {
  narrow4(a, b, candidates, outHit, outUnsure);
}

/* ---------------------------------------------------------------- a batch */

/* Is a corner of one triangle a corner of the other? Of lattices that touch nine uncertain pairs of ten have one in common: they meet
 * there, and no sign is needed, which would be zero and cost most. */
static bool shareCorner(const float *p[3], const float *q[3]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      if (pn_samePoint(p[i], q[j])) return true;
  }
  return false;
}

bool pn_meetExactly(const pnTree *a, const pnTree *b, pnPair c, bool apart) {
  const float *p[3], *q[3];
  pn_slotCorners(a, c.a, p);
  pn_slotCorners(b, c.b, q);
  if (!apart && shareCorner(p, q)) return true;
  return pn_trianglesMeetExact(p[0], p[1], p[2], q[0], q[1], q[2]);
}

/* One at a time by a chosen kernel, for comparison. */
static size_t narrowBy(const pnTree *a, const pnTree *b, pnPair *candidates, size_t count, pnKernel kernel) {
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    pnTriangle s, t;
    const float *p[3], *q[3];
    pn_slotCorners(a, candidates[i].a, p);
    pn_slotCorners(b, candidates[i].b, q);
    for (int k = 0; k < 3; ++k) {
      memcpy(s.v[k], p[k], 3 * sizeof(float));
      memcpy(t.v[k], q[k], 3 * sizeof(float));
    }
    if (pnTrianglesMeetBy(kernel, &s, &t)) candidates[kept++] = candidates[i];
  }
  return kept;
}

#define WIDTH 4u
#define MEET meet4
#define TWICE pn_narrowTwice2
#define LATTICE pn_narrowLattice2
#define CORNERS pn_loadCorners4
#define BATCHES pn_narrowBatches4
#include "collide/narrow_batch.h"

size_t pn_narrow(const pnTree *a, const pnTree *b, pnPair *candidates, size_t count, pnKernel kernel,
                 pnDoubts *doubts) {
  if (kernel != PN_KERNEL_DEFAULT) return narrowBy(a, b, candidates, count, kernel);
#if defined(__x86_64__) && !defined(PN_SCALAR)
#if defined(PN_AVX512)
  if (pn_hasAvx512()) return pn_narrowBatchesAvx512(a, b, candidates, count, doubts);
#endif
  if (__builtin_cpu_supports("avx2")) return pn_narrowBatchesAvx2(a, b, candidates, count, doubts);
#endif
  return pn_narrowBatches4(a, b, candidates, count, doubts);
}

pnNarrowBatchesFcn *pn_narrowSmall(pnKernel kernel) {
#if defined(__x86_64__) && !defined(PN_SCALAR) && defined(PN_AVX512)
  if (kernel == PN_KERNEL_DEFAULT && pn_hasVbmi()) return pn_narrowSmallVbmi;
#endif
  (void)kernel;
  return NULL;
}
