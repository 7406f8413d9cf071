/* fan.c: the fans of a frame. See fan.h.
 *
 * Signs. u = 2^-24; M bounds all coordinates counted from the middle, each of which is rounded once (1u).
 *  (1) n_i = p_i x p_(i+1): a component is a sum of 2 terms of at most M^2, each off by 3u (inputs, product), and the
 *      difference is rounded: 8u M^2.
 *  (2) d . n_i = det(d, p_i, p_(i+1)), with d whole numbers of at most D = 64: the errors of n, 3 x 8u; of 3 products of at
 *      most 2 D M^2, 6u; of 2 sums of at most 4 and 6 D M^2, 10u. Together 40u D M^2 = 1.526e-4 M^2. 1.6e-4.
 *  (3) g . p_i, the side of p_i, with g = d x c for a fixed c of small whole numbers: exact, below 2^24, and across d. Its
 *      components are at most G = 12 D = 768; on each of 3 terms 1u (input) + 1u (product) + 2u (sums):
 *      12u G M = 5.49e-4 M. 5.8e-4.
 * The bounds leave 4 % for terms of second order and their own rounding. With 1e-8 < M < 1e9 nothing overflows, and what
 * underflow adds, some 2^-140, is far below them (1.6e-20 at least). What is not a number is greater than nothing, and so
 * proves nothing. */
#include "collide/fan.h"

#include "geom/triangle.h"

/* The direction to look along: whole numbers of at most 64. A sum of zero gives something that is not a number. */
PN_INLINE pnV4 wholeDirection4(const pnV4 *sum) {
  /* adding and taking away 1.5 * 2^23 rounds to a whole number */
  const pnF4 round = pn_f4Set1(12582912.0f);
  pnF4 scale = pn_f4Div(pn_f4Set1(64), pn_v4Reach(sum, pn_f4Set1(0)));
  pnV4 d;
  for (int i = 0; i < 3; i++) {
    d.x[i] = pn_f4Sub(pn_f4Add(pn_f4Mul(sum->x[i], scale), round), round);
  }
  return d;
}

/* Four vertices by their places. */
PN_INLINE pnV4 gather4(const float *positions, const uint32_t *place) {
  return pn_v4Load(positions + 4 * (size_t)place[0], positions + 4 * (size_t)place[1], positions + 4 * (size_t)place[2],
                   positions + 4 * (size_t)place[3]);
}

/* The vertices of four fans, counted from their middles, and M. A closed fan has its first again at the end. */
PN_INLINE pnF4 loadFans(const float *positions, const uint32_t *place, uint32_t around, pnV4 *out) {
  pnV4 middle = gather4(positions, place);
  pnF4 m = pn_f4Set1(0);
  for (uint32_t i = 0; i < around; i++) {
    pnV4 p = gather4(positions, place + 4 * (i + 1));
    out[i] = pn_v4Sub(&p, &middle);
    m = pn_v4Reach(&out[i], m);
  }
  out[around] = out[0];
  return m;
}

/* Four fans of `steps` triangles, whose sides may change less than `changes` times. Mask: proved. */
PN_INLINE pnF4 provedFans(const pnV4 *p, uint32_t steps, pnF4 m, float changes) {
  pnV4 normal[PN_FAN_MOST], sum = pn_v4Cross(&p[0], &p[1]);
  normal[0] = sum;
  for (uint32_t i = 1; i < steps; i++) {
    normal[i] = pn_v4Cross(&p[i], &p[i + 1]);
    sum = pn_v4Add(&sum, &normal[i]);
  }
  static const float c[3] = {3, -5, 7};
  pnV4 d = wholeDirection4(&sum);
  pnV4 across = {{pn_f4Set1(c[0]), pn_f4Set1(c[1]), pn_f4Set1(c[2])}}, g = pn_v4Cross(&d, &across);
  pnF4 zero = pn_f4Set1(0), one = pn_f4Set1(1), changed = zero;
  pnF4 sideError = pn_f4Mul(m, pn_f4Set1(5.8e-4f)), seenError = pn_f4Mul(pn_f4Mul(m, m), pn_f4Set1(1.6e-4f));
  pnF4 side = pn_v4Dot(&g, &p[0]), above = pn_f4Greater(side, zero);
  pnF4 proved = pn_f4Greater(pn_f4Abs(side), sideError);
  for (uint32_t i = 0; i < steps; i++) {
    side = pn_v4Dot(&g, &p[i + 1]);
    pnF4 next = pn_f4Greater(side, zero);
    changed = pn_f4Add(changed, pn_f4And(pn_f4Xor(above, next), one));
    above = next;
    proved = pn_f4And(proved, pn_f4Greater(pn_f4Abs(side), sideError));
    proved = pn_f4And(proved, pn_f4Greater(pn_v4Dot(&d, &normal[i]), seenError));
  }
  return pn_f4And(proved, pn_f4Greater(pn_f4Set1(changes), changed));
}

unsigned pn_unsureFans(const pnTree *tree, const pnFans *fans, const pnFanGroup *group) {
  unsigned all = (1u << group->lanes) - 1;
  if (group->around == 0) {
    return all;
  }
  pnV4 p[PN_FAN_MOST + 1];
  pnF4 m = loadFans(tree->leafPositions, fans->places + group->placeFirst, group->around, p);
  uint32_t steps = group->around - !group->closed;
  pnF4 proved = provedFans(p, steps, m, group->closed ? 2.5f : 1.5f);
  unsigned unsure = all & ~pn_f4Signs(pn_f4And(proved, pn_neighbourRange(m)));

  /* what is one vertex in the fan must be one point now */
  for (const pnFanSeam *s = fans->seams + group->seamFirst; s < fans->seams + group[1].seamFirst; s++) {
    bool same =
        pn_samePoint(tree->leafPositions + 4 * (size_t)s->place[0], tree->leafPositions + 4 * (size_t)s->place[1]);
    unsure |= (unsigned)!same << s->lane;
  }
  return unsure;
}

/* The smallest welded vertex two triangles share. */
static uint32_t smallestShared(const pnMesh *mesh, uint32_t s, uint32_t t) {
  uint32_t a[3], b[3], least = PN_NONE;
  pn_weldedCorners(mesh, s, a);
  pn_weldedCorners(mesh, t, b);
  for (int k = 0; k < 9; k++) {
    least = a[k / 3] == b[k % 3] ? PN_MIN(least, a[k / 3]) : least;
  }
  return least;
}

bool pn_listFan(const pnTree *tree, const pnFans *fans, uint32_t v, pnPairs *candidates) {
  const pnMesh *mesh = tree->mesh;
  uint32_t end = mesh->ringOffsets[v + 1];
  for (uint32_t i = mesh->ringOffsets[v]; i < end; i++) {
    if (!pn_arrayReserve(candidates, candidates->count + (end - i))) {
      return false;
    }
    for (uint32_t j = i + 1; j < end; j++) {
      uint32_t s = mesh->rings[i], t = mesh->rings[j];
      if (smallestShared(mesh, s, t) == v) {
        candidates->data[candidates->count++] = (pnPair){fans->slotOf[s], fans->slotOf[t]};
      }
    }
  }
  return true;
}
