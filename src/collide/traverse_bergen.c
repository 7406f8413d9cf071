/* traverse_bergen.c: boxes in two model spaces, tested under the rotation between them. [Bergen97]
 *
 * SAT-lite: two boxes are apart when they are apart along one of the six face normals (the nine cross products of edges
 * are left out). Along the normals of a's box that is: the axis-aligned box, in a's space, of b's box; along b's normals
 * the same with roles exchanged. So each box is kept in its own space and as the box of its image in the other.
 *
 * The margin t->margin covers the rounding of images here and of world vertices in the pose (traverse.c, setBergen). */
#include "collide/traverse_view.h"

#include <math.h>

/* Eight boxes in their own space and their images in the other. */
typedef struct Regs {
  const pnModelLanes *own;
  float image[3][2][PN_LANES];
} Regs;

PN_INLINE void imageOf(const pnModelLanes *m, const pnMatrix *map, float margin, uint32_t begin, uint32_t end,
                       float out[3][2][PN_LANES]) {
  for (uint32_t j = begin; j < end; ++j) {
    float c[3], e[3];
    for (int k = 0; k < 3; ++k) {
      c[k] = 0.5f * m->row[k][0][j] + 0.5f * m->row[k][1][j];
      e[k] = 0.5f * m->row[k][1][j] - 0.5f * m->row[k][0][j];
    }
    for (int k = 0; k < 3; ++k) {
      const float *r = map->m[k];
      float mid = r[0] * c[0] + r[1] * c[1] + r[2] * c[2] + r[3];
      float ext = fabsf(r[0]) * e[0] + fabsf(r[1]) * e[1] + fabsf(r[2]) * e[2] + margin;
      out[k][0][j] = mid - ext;
      out[k][1][j] = mid + ext;
    }
  }
}

PN_INLINE void loadA(const pnTraversal *t, const View *v, uint32_t node, Regs *r) {
  r->own = pn_lanesOf(v->tree, node);
  imageOf(r->own, &t->aToB, t->margin, 0, PN_LANES, r->image);
}
PN_INLINE void loadB(const pnTraversal *t, const View *v, uint32_t node, Regs *r) {
  r->own = pn_lanesOf(v->tree, node);
  imageOf(r->own, &t->bToA, t->margin, 0, PN_LANES, r->image);
}

/* Loaded boxes against one of the other tree, in both spaces. */
PN_INLINE unsigned mask(const Regs *r, const pnModelLanes *one, const pnMatrix *oneToOwn, float margin, uint32_t lane) {
  float image[3][2][PN_LANES];
  imageOf(one, oneToOwn, margin, lane, lane + 1, image);
  unsigned m = 0;
  for (uint32_t j = 0; j < PN_LANES; ++j) {
    bool meet = true;
    for (int k = 0; k < 3; ++k) {
      meet &= r->own->row[k][0][j] <= image[k][1][lane] && image[k][0][lane] <= r->own->row[k][1][j];
      meet &= r->image[k][0][j] <= one->row[k][1][lane] && one->row[k][0][lane] <= r->image[k][1][j];
    }
    m |= (unsigned)meet << j;
  }
  return m;
}

PN_INLINE unsigned maskA(const pnTraversal *t, const Regs *r, const View *b, uint32_t node, uint32_t lane) {
  return mask(r, pn_lanesOf(b->tree, node), &t->bToA, t->margin, lane);
}
PN_INLINE unsigned maskB(const pnTraversal *t, const Regs *r, const View *a, uint32_t node, uint32_t lane) {
  return mask(r, pn_lanesOf(a->tree, node), &t->aToB, t->margin, lane);
}

#define STEPS pn_stepsBergen
#include "collide/traverse_plain.h"
