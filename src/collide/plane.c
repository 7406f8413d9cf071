/* plane.c: planes of big triangles against volumes. [Mujika, section 5, Algorithm 1]
 *
 * A pair of a node with nothing but pieces of a few big triangles below it and another that lies on one side of the plane of
 * each is taken out: exact, for what is beside the plane does not meet the triangle. The same for candidates with a piece of a
 * big triangle on one side, by the ball of the other triangle.
 *
 * The paper tests spheres against planes at the leaves of a big triangle's tree instead of triangles. Here the same
 * test, also for boxes, takes out whole subtrees before anything else is done with them, and errs on the side of
 * keeping. */
#include "collide/beside.h"
#include "collide/proof.h"

/* ---------------------------------------------------------------- pruning */

/* Does the other node's volume reach the plane of any of the big triangles below this one? */
PN_INLINE bool reachesPlane(const pnTree *tree, uint32_t node, const pnTree *other, uint32_t otherNode, pnWorker *w) {
  const uint32_t *bigs = tree->shape->nodeBigs + (size_t)node * PN_NODE_BIGS;
  pnVolume volume;
  if (bigs[0] == PN_NONE || !pn_volumeOf(other, otherNode, &volume)) return true;
  for (uint32_t k = 0; k < PN_NODE_BIGS && bigs[k] != PN_NONE; ++k) {
    ++w->cost.planeTests;
    if (!pn_isBeside(&volume, &tree->bigPlanes[bigs[k]])) return true;
  }
  return false;
}

static void prunePlanes(const pnTraversal *t, pnWorker *w, pnPairs *list, size_t from) {
  if (t->noPlanes) return;
  size_t kept = from;
  for (size_t i = from; i < list->count; ++i) {
    pnPair p = list->data[i];
    bool keep = (!t->a->shape->slotPieces || reachesPlane(t->a, p.a, t->b, p.b, w)) &&
                (!t->b->shape->slotPieces || reachesPlane(t->b, p.b, t->a, p.a, w));
    list->data[kept] = p;
    kept += keep;
  }
  list->count = kept;
}

/* ---------------------------------------------------------------- candidates */

/* The ball about the middle of a triangle's box. */
static pnVolume ballOf(const float *const p[3]) {
  pnVolume ball = {{0}, {0}, 0};
  for (int k = 0; k < 3; ++k) {
    double lo = fmin(p[0][k], fmin(p[1][k], p[2][k])), hi = fmax(p[0][k], fmax(p[1][k], p[2][k]));
    ball.centre[k] = 0.5 * (lo + hi);
  }
  for (int c = 0; c < 3; ++c) {
    double square = 0;
    for (int k = 0; k < 3; ++k) square += (p[c][k] - ball.centre[k]) * (p[c][k] - ball.centre[k]);
    ball.radius = fmax(ball.radius, sqrt(square));
  }
  return ball;
}

static size_t siftPlanes(const pnTraversal *t, pnWorker *w) {
  pnPair *c = w->candidates.data;
  size_t others = 0, n = w->candidates.count, kept;
  if (t->noPlanes) return n;
  for (size_t i = 0; i < n; ++i) {
    bool bigA = t->a->shape->slotPieces && t->a->shape->slotPieces[c[i].a].level > 0;
    bool bigB = t->b->shape->slotPieces && t->b->shape->slotPieces[c[i].b].level > 0;
    if (bigA == bigB) {
      pnPair swap = c[i];
      c[i] = c[others];
      c[others++] = swap;
    }
  }
  kept = others;
  for (size_t i = others; i < n; ++i) {
    const float *p[3], *q[3];
    pn_slotCorners(t->a, c[i].a, p);
    pn_slotCorners(t->b, c[i].b, q);
    bool bigA = t->a->shape->slotPieces && t->a->shape->slotPieces[c[i].a].level > 0;
    pnVolume ball = ballOf(bigA ? q : p);
    pnBigPlane plane = pn_planeOf(bigA ? p : q);
    c[kept] = c[i];
    kept += !pn_isBeside(&ball, &plane);
  }
  w->cost.planeTests += n - others;
  w->candidates.count = kept;
  return others;
}

const pnProof pn_proofPlanes = {.name = "planes of big triangles",
                                .prune = prunePlanes,
                                .lists = PN_PRUNE_NODES | PN_PRUNE_LEAVES,
                                .sift = siftPlanes};
