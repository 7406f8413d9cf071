/* traverse_mixed.c: trees with different forms of volumes. Both are looked at as boxes in world space: every form has
 * one. Slower than like against like, and as exact. */
#include "collide/traverse_view.h"

#include "geom/sphere.h"

#include <math.h>

typedef struct Regs {
  float row[3][2][PN_LANES];
} Regs;

/* Lanes [begin, end) of a node as world boxes. */
static void boxesOf(const pnTree *tree, uint32_t node, float margin, uint32_t begin, uint32_t end,
                    float out[3][2][PN_LANES]) {
  for (uint32_t j = begin; j < end; j++) {
    if (tree->rule->modelSpace) {
      /* the image under the transform, with the margin of t->margin */
      const pnModelLanes *m = pn_lanesOf(tree, node);
      for (int k = 0; k < 3; k++) {
        const float *r = tree->pose->transform.m[k];
        float mid = r[3], ext = margin;
        for (int i = 0; i < 3; i++) {
          mid += r[i] * (0.5f * m->row[i][0][j] + 0.5f * m->row[i][1][j]);
          ext += fabsf(r[i]) * (0.5f * m->row[i][1][j] - 0.5f * m->row[i][0][j]);
        }
        out[k][0][j] = mid - ext;
        out[k][1][j] = mid + ext;
      }
    } else if (tree->slabs) {
      /* from the lower edge of the first cell to the upper edge of the last: the numbers are below 2^24, so that this is
       * exact, or rounds to a float between the edge and what is inside. Where
       * cells are larger than 1 the product that found the first may have underflowed to cell 0, and the one before is it */
      const pnBoxLanes *b = pn_lanesOf(tree, node);
      for (int k = 0; k < 3; k++) {
        double cell = pn_cellSize(&tree->grid, (uint32_t)k);
        out[k][0][j] = (float)((b->row[k][0][j] + tree->grid.offset[k] - (cell > 1)) * cell);
        out[k][1][j] = (float)((b->row[k][1][j] + tree->grid.offset[k] + 1) * cell);
      }
    } else {
      /* a sphere's box; one rounding in each sum, covered by growing the radius by 2u of what is added */
      const pnSphereLanes *s = pn_lanesOf(tree, node);
      for (int k = 0; k < 3; k++) {
        float r = s->radius[j] + 1.2e-7f * (fabsf(s->centre[k][j]) + s->radius[j]);
        out[k][0][j] = s->centre[k][j] - r;
        out[k][1][j] = s->centre[k][j] + r;
      }
    }
  }
}

PN_INLINE void loadA(const pnTraversal *t, const View *v, uint32_t node, Regs *r) {
  boxesOf(v->tree, node, t->margin, 0, PN_LANES, r->row);
}
PN_INLINE void loadB(const pnTraversal *t, const View *v, uint32_t node, Regs *r) {
  boxesOf(v->tree, node, t->margin, 0, PN_LANES, r->row);
}

static unsigned mask(const Regs *r, const pnTree *tree, float margin, uint32_t node, uint32_t lane) {
  float one[3][2][PN_LANES];
  boxesOf(tree, node, margin, lane, lane + 1, one);
  unsigned m = 0;
  for (uint32_t j = 0; j < PN_LANES; j++) {
    bool meet = true;
    for (int k = 0; k < 3; k++) {
      meet &= r->row[k][0][j] <= one[k][1][lane] && one[k][0][lane] <= r->row[k][1][j];
    }
    m |= (unsigned)meet << j;
  }
  return m;
}

PN_INLINE unsigned maskA(const pnTraversal *t, const Regs *r, const View *b, uint32_t node, uint32_t lane) {
  return mask(r, b->tree, t->margin, node, lane);
}
PN_INLINE unsigned maskB(const pnTraversal *t, const Regs *r, const View *a, uint32_t node, uint32_t lane) {
  return mask(r, a->tree, t->margin, node, lane);
}

#define STEPS pn_stepsMixed
#include "collide/traverse_plain.h"
