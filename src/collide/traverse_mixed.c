/* traverse_mixed.c: trees with different forms of volumes, or of a form that has no traversal of its own. Both are looked at as
 * boxes in world space: every form has one. A form that says itself when two of its volumes overlap (pnFormRow.meet) is asked instead.
 * Slower than slabs against slabs, and as exact. */
#include "collide/traverse_view.h"

typedef struct Regs {
  const pnTree *asked; /* its form knows; null: boxes */
  uint32_t node;
  pnLaneBoxes boxes;
} Regs;

PN_INLINE void loadA(const pnTraversal *t, const View *v, uint32_t node, Regs *r) {
  r->asked = t->a->form == t->b->form && v->tree->form->meet ? v->tree : NULL;
  r->node = node;
  if (!r->asked) pn_laneBoxes(v->tree, node, 0, PN_LANES, &r->boxes);
}
PN_INLINE void loadB(const pnTraversal *t, const View *v, uint32_t node, Regs *r) {
  loadA(t, v, node, r);
}

static unsigned mask(const Regs *r, const pnTree *tree, uint32_t node, uint32_t lane) {
  if (r->asked) return r->asked->form->meet(r->asked, r->node, tree, node, lane);
  const pnLaneBoxes *own = &r->boxes;
  pnLaneBoxes one;
  pn_laneBoxes(tree, node, lane, lane + 1, &one);
  unsigned m = 0;
  for (uint32_t j = 0; j < PN_LANES; ++j) {
    bool meet = true;
    for (int k = 0; k < 3; ++k) meet &= own->lo[k][j] <= one.hi[k][lane] && one.lo[k][lane] <= own->hi[k][j];
    m |= (unsigned)meet << j;
  }
  return m;
}

PN_INLINE unsigned maskA(const pnTraversal *t, const Regs *r, const View *b, uint32_t node, uint32_t lane) {
  (void)t;
  return mask(r, b->tree, node, lane);
}
PN_INLINE unsigned maskB(const pnTraversal *t, const Regs *r, const View *a, uint32_t node, uint32_t lane) {
  (void)t;
  return mask(r, a->tree, node, lane);
}

#define STEPS pn_stepsMixed
#include "collide/traverse_plain.h"
