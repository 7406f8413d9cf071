/* traverse_view.h: what the inner loops of the traversal need of a tree, in one place on the stack, so that the compiler
 * knows that nothing they write changes it. */
#ifndef PN_COLLIDE_TRAVERSE_VIEW_H
#define PN_COLLIDE_TRAVERSE_VIEW_H

#include "collide/traverse.h"

typedef struct View {
  pnTree *tree;
  const char *lanes;
  const uint32_t *parent, *first;
  const uint8_t *count;
  const _Atomic uint32_t *stamp;
  uint32_t now, innerCount;
} View;

PN_INLINE View viewOf(pnTree *t) {
  return (View){t,        t->lanes, t->shape->parent,    t->shape->first, t->shape->count,
                t->stamp, t->now,   t->shape->innerCount};
}

PN_INLINE bool isStale(const View *v, uint32_t node) {
  return atomic_load_explicit(&v->stamp[node], memory_order_acquire) != v->now;
}

/* The same without an order, where no other thread fills nodes: loads that acquire wait for each other, and a pass over many
 * nodes is mostly waiting. */
PN_INLINE bool isStaleAlone(const View *v, uint32_t node) {
  return atomic_load_explicit(&v->stamp[node], memory_order_relaxed) != v->now;
}

/* pn_freshen through a view. */
PN_INLINE void freshen(const View *v, uint32_t node, pnFresh *fresh) {
  if (PN_UNLIKELY(isStale(v, node))) pn_freshenSlow(v->tree, node, fresh);
}

PN_INLINE unsigned fullMask(const View *v, uint32_t node) {
  return (1u << v->count[node]) - 1;
}

/* Four masks as bytes of one number, for volumes whose masks are plain integers. */
PN_INLINE uint32_t mask4(unsigned a, unsigned b, unsigned c, unsigned d) {
  return a | b << 8 | c << 16 | d << 24;
}

#endif
