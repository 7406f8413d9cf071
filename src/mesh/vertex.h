/* vertex.h: what a vertex *is*. The sums below, in float, every step rounded, in this order and none contracted, are the
 * definition of where a moved vertex stands; poses, leaves of trees and tests all compute them here, and nobody else does.
 *
 *   transform    ((m0 x + m1 y) + m2 z) + m3 for each coordinate
 *   morph        a start, then + w t for each part that has a weight, targets ascending. Deltas start from the rest position,
 *                references from -0: -0 + x is x for every x, also for -0, so that a reference alone at weight 1 has its own
 *                bits. What has a weight of exactly 0 is left out.
 *   skin         linear: from -0, + w (M p) for each influence, M p as the transform; weighted: the part of the joint's rotation
 *                about its pivot and of its slide, and then the joints above
 *
 * The coordinates are computed side by side in the lanes of one register. The fourth lane is nobody's: it begins as anything
 * that is finite, and is 0 after a transform, whose fourth row is zero. */
#ifndef PN_MESH_VERTEX_H
#define PN_MESH_VERTEX_H

#include "geom/simd.h"
#include "mesh/skin.h"

#include <string.h>

/* The three coordinates, without touching what is behind them. */
PN_INLINE void pn_f4StoreThree(float *out, pnF4 p) {
  float place[4];
  pn_f4Store(place, p);
  memcpy(out, place, 3 * sizeof(float));
}

/* ---------------------------------------------------------------- affine sums */

/* A matrix by columns, the fourth row zero. */
typedef struct pnColumns {
  pnF4 c[4];
} pnColumns;

PN_INLINE pnColumns pn_columnsOf(const pnMatrix *m) {
  pnColumns columns;
  for (int k = 0; k < 4; ++k) {
    float column[4] = {m->m[0][k], m->m[1][k], m->m[2][k], 0};
    columns.c[k] = pn_f4Load(column);
  }
  return columns;
}

PN_INLINE pnColumns pn_loadColumns(const float column[4][4]) {
  return (pnColumns){{pn_f4Load(column[0]), pn_f4Load(column[1]), pn_f4Load(column[2]), pn_f4Load(column[3])}};
}

/* x, y and z each in all lanes. */
PN_INLINE pnF4 pn_moveSplat(const pnColumns *m, pnF4 x, pnF4 y, pnF4 z) {
  pnF4 sum = pn_f4Add(pn_f4Mul(m->c[0], x), pn_f4Mul(m->c[1], y));
  return pn_f4Add(pn_f4Add(sum, pn_f4Mul(m->c[2], z)), m->c[3]);
}

PN_INLINE pnF4 pn_movePoint(const pnColumns *m, pnF4 p) {
  return pn_moveSplat(m, pn_f4Splat(p, 0), pn_f4Splat(p, 1), pn_f4Splat(p, 2));
}

/* ---------------------------------------------------------------- morphing */

/* Where sums of references and of influences start. */
PN_INLINE pnF4 pn_sumStart(void) {
  return pn_f4Set1(-0.0f);
}

/* One part more: a target of this weight, or what a joint makes of the vertex. */
PN_INLINE pnF4 pn_addPart(pnF4 sum, pnF4 weight, pnF4 value) {
  return pn_f4Add(sum, pn_f4Mul(weight, value));
}

/* The first three lanes of a register. */
PN_INLINE pnF4 pn_maskOfThree(void) {
  static const uint32_t bits[4] = {~0u, ~0u, ~0u, 0};
  float mask[4];
  memcpy(mask, bits, sizeof bits);
  return pn_f4Load(mask);
}

/* ---------------------------------------------------------------- skinning */

/* Linear blend skinning of a vertex by its influences [at, end). */
PN_INLINE pnF4 pn_moveLinear(const pnJointMove *moves, const pnInfluence *at, const pnInfluence *end, const float *p) {
  const pnF4 x = pn_f4Set1(p[0]), y = pn_f4Set1(p[1]), z = pn_f4Set1(p[2]);
  pnF4 sum = pn_sumStart();
  for (; at < end; ++at) {
    const pnColumns joint = pn_loadColumns(moves[at->joint].column);
    sum = pn_addPart(sum, pn_f4Set1(at->weight), pn_moveSplat(&joint, x, y, z));
  }
  return sum;
}

/* The single-joint weighted transform. */
PN_INLINE pnF4 pn_moveWeighted(const pnSkin *skin, const pnJointMove *moves, const pnInfluence *at, const float *p) {
  const pnJointMove *move = &moves[at->joint];
  const pnVec3 c = skin->pivots[at->joint];
  const float d[3] = {p[0] - c.x, p[1] - c.y, p[2] - c.z}, w = at->weight;
  float q[4];
  pn_partTurn(move->turn, w, q);
  // rotation by a unit quaternion: d + q3 t + q x t with t = 2 q x d
  const float t[3] = {2 * (q[1] * d[2] - q[2] * d[1]), 2 * (q[2] * d[0] - q[0] * d[2]),
                      2 * (q[0] * d[1] - q[1] * d[0])};
  const float x = (((d[0] + q[3] * t[0]) + (q[1] * t[2] - q[2] * t[1])) + c.x) + w * move->slide[0];
  const float y = (((d[1] + q[3] * t[1]) + (q[2] * t[0] - q[0] * t[2])) + c.y) + w * move->slide[1];
  const float z = (((d[2] + q[3] * t[2]) + (q[0] * t[1] - q[1] * t[0])) + c.z) + w * move->slide[2];
  const pnColumns above = pn_loadColumns(move->column);
  return pn_moveSplat(&above, pn_f4Set1(x), pn_f4Set1(y), pn_f4Set1(z));
}

#endif
