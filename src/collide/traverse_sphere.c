/* traverse_sphere.c: spheres of two trees. */
#include "collide/traverse_view.h"

#include "geom/sphere.h"

typedef struct Regs {
  const pnSphereLanes *lanes;
} Regs;

PN_INLINE void loadA(const pnTraversal *t, const View *v, uint32_t node, Regs *r) {
  (void)t;
  r->lanes = pn_lanesOf(v->tree, node);
}
PN_INLINE void loadB(const pnTraversal *t, const View *v, uint32_t node, Regs *r) {
  (void)t;
  r->lanes = pn_lanesOf(v->tree, node);
}

/* Do balls overlap, one against eight? Errs on the side of yes: the squared distance has under 6u relative error, the squared sum of
 * radii under 3u, so 16u on one side covers both; NaN (infinite balls) is a yes. */
PN_INLINE unsigned mask(const pnSphereLanes *lanes, const pnSphereLanes *one, uint32_t j) {
  unsigned m = 0;
  pnF4 cx = pn_f4Set1(one->centre[0][j]), cy = pn_f4Set1(one->centre[1][j]), cz = pn_f4Set1(one->centre[2][j]);
  pnF4 cr = pn_f4Set1(one->radius[j]), grow = pn_f4Set1(PN_SPHERE_GROW), tiny = pn_f4Set1(FLT_MIN);
  for (int h = 0; h < 8; h += 4) {
    pnF4 x = pn_f4Sub(pn_f4Load(lanes->centre[0] + h), cx), y = pn_f4Sub(pn_f4Load(lanes->centre[1] + h), cy);
    pnF4 z = pn_f4Sub(pn_f4Load(lanes->centre[2] + h), cz), r = pn_f4Add(pn_f4Load(lanes->radius + h), cr);
    pnF4 d = pn_f4Add(pn_f4Add(pn_f4Mul(x, x), pn_f4Mul(y, y)), pn_f4Mul(z, z));
    pnF4 apart = pn_f4Greater(d, pn_f4Add(pn_f4Mul(pn_f4Mul(r, r), grow), tiny));
    m |= (~pn_f4Signs(apart) & 15u) << h;
  }
  return m;
}

PN_INLINE unsigned maskA(const pnTraversal *t, const Regs *r, const View *b, uint32_t node, uint32_t lane) {
  (void)t;
  return mask(r->lanes, pn_lanesOf(b->tree, node), lane);
}
PN_INLINE unsigned maskB(const pnTraversal *t, const Regs *r, const View *a, uint32_t node, uint32_t lane) {
  (void)t;
  return mask(r->lanes, pn_lanesOf(a->tree, node), lane);
}

#define STEPS pn_stepsSphere
#include "collide/traverse_plain.h"
