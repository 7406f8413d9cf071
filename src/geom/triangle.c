/* triangle.c: the public questions about two triangles, and which kernel stands in front of the exact test.
 *
 * Every kernel says "apart" or "meeting" only when its error bounds prove it; what is left goes to the exact test. So
 * all of them give the same answer.
 */
#include "geom/triangle.h"

#include "base/fenv.h"
#include "pinch/lab.h"

bool pnTrianglesMeetBy(pnKernel kernel, const pnTriangle *a, const pnTriangle *b) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(a != NULL && b != NULL && (unsigned)kernel < PN_KERNEL_COUNT);
  const float *pa[3] = {a->v[0], a->v[1], a->v[2]}, *pb[3] = {b->v[0], b->v[1], b->v[2]};
  pn_Verdict verdict = PN_UNCERTAIN;
  if (kernel == PN_KERNEL_MOLLER) verdict = pn_trianglesMeetMoller(pa, pb);
  else if (kernel == PN_KERNEL_TROPP) verdict = pn_trianglesMeetTropp(pa, pb);
  return verdict == PN_UNCERTAIN ? pn_trianglesMeetExact(pa[0], pa[1], pa[2], pb[0], pb[1], pb[2])
                                 : verdict == PN_MEETING;
}

bool pnTrianglesMeet(const pnTriangle *a, const pnTriangle *b) {
  PN_FLOAT_SCOPE;
  return pnTrianglesMeetBy(PN_KERNEL_DEFAULT, a, b);
}

/* Are the shared corners what geom.h asks for: numbered 0 to 2, each once, with equal coordinates? */
static bool pn_sharedIsValid(const pnTriangle *a, const pnTriangle *b, const pnSharedCorners *shared) {
  if (shared->count > 3) return false;
  unsigned usedA = 0, usedB = 0;
  for (int i = 0; i < shared->count; ++i) {
    unsigned ia = shared->a[i], ib = shared->b[i];
    if (ia > 2 || ib > 2 || !pn_samePoint(a->v[ia], b->v[ib])) return false;
    usedA |= 1u << ia;
    usedB |= 1u << ib;
  }
  /* As many bits as corners: n of the three bits for count n. */
  static const unsigned char bitCount[8] = {0, 1, 1, 2, 1, 2, 2, 3};
  return bitCount[usedA] == shared->count && bitCount[usedB] == shared->count;
}

bool pnTrianglesMeetBeyond(const pnTriangle *a, const pnTriangle *b, pnSharedCorners shared) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(a != NULL && b != NULL);
  bool sharedIsValid = pn_sharedIsValid(a, b, &shared);
  PN_ASSERT(sharedIsValid);
  if (!sharedIsValid) shared.count = 0; /* the hook may let us go on: then no corner is shared */
  const float *pa[3] = {a->v[0], a->v[1], a->v[2]}, *pb[3] = {b->v[0], b->v[1], b->v[2]};
  return pn_trianglesMeetBeyondPtr(pa, pb, shared);
}
