/* triangle_exact.c: two triangles by signs of orientation.
 *
 * The idea (Devillers and Guigue 2002, "Faster triangle-triangle intersection tests"; the derivation here is ours).
 * If the corners of a lie strictly on one side of b's plane, or the other way round, the triangles are apart.
 * Otherwise both planes share a line L, and each triangle cuts a closed interval out of it. One corner p of a is
 * alone on its side of b's plane, so the interval's ends lie on the edges pq and pr:
 *
 *               p                        looking at a's plane; L is where b's plane cuts it.
 *              / \                       p is on the closed side +, q and r on the closed side -,
 *      -------i---j------- L   --> E     and neither pq nor pr lies in b's plane.
 *            /     \
 *           q-------r
 *
 * The same for b with ends k on its edge PQ and l on PR. Swap q and r, or Q and R, until p is above b's plane and P
 * above a's. Then along the direction E = Nb x Na the order is i <= j in a, and l <= k in b, and the intervals have a
 * point in common exactly when i <= k and l <= j. Which of i and k comes first is itself an orientation: take a's
 * plane as z = 0, b's as y = 0, p = (i, s, 0), q = (i, -t, 0), P = (k, 0, S), Q = (k, 0, -T) up to a shear that
 * changes no sign; then
 *
 *     | q-p  P-p  Q-p |  =  -(s + t)(S + T)(k - i)
 *
 * so i <= k is "orientation of p, q, P, Q is not positive", and likewise l <= j is "that of p, r, P, R is not
 * negative". Zero signs are no exception: s, t, S, T may be zero, only s + t and S + T may not, and the choice of p
 * and P sees to it.
 *
 * If all three signs are zero, the triangles lie in one plane or the one that should span the plane has no area:
 * triangle_flat.c.
 */
#include "geom/triangle.h"

/* Sides of t's corners (-1, 0, 1) against the plane of p, whose corners run counter-clockwise seen from side 1. All are
 * zero when p has no area. */
static inline void pn_sidesOfPlane(const float *p[3], const float *t[3], int sides[3]) {
  pn_Plane plane = pn_makePlane(p[0], p[1], p[2]);
  bool certain = true;
  for (int i = 0; i < 3; ++i) {
    pn_Estimate e = pn_estimateSide(&plane, t[i]);
    sides[i] = (e.value > 0.0) - (e.value < 0.0);
    certain = certain && (fabs(e.value) > e.error || e.error == 0.0);
  }
  if (PN_LIKELY(certain)) return;
  /* a segment has no plane: known at once, where the exact test would have to find three zeros */
  if (pn_repeatsCorner(p)) sides[0] = sides[1] = sides[2] = 0;
  else pn_sidesExact(p, t, sides);
}

/* Which corner is alone on its side, and on which side the plane must be flipped to have it above. Indexed by 9
 * (s0 + 1) + 3 (s1 + 1) + (s2 + 1). The rules: a single +, else a single -, else (two equal signs and a zero) the
 * zero, which is then on the closed side opposite to the two. A corner is coded 0, 1, 2; + 4 when it is below; the
 * cases without an answer here (all strictly on one side, all zero) have their own codes. */
enum { BELOW = 4, APART = 8, FLAT = 16 };
PN_TABLE unsigned char pn_lonelyCorner[27] = {
    APART,     2,         2,         /* - - -   - - 0   - - + */
    1,         0 + BELOW, 2,         /* - 0 -   - 0 0   - 0 + */
    1,         1,         0 + BELOW, /* - + -   - + 0   - + + */
    0,         1 + BELOW, 2,         /* 0 - -   0 - 0   0 - + */
    2 + BELOW, FLAT,      2,         /* 0 0 -   0 0 0   0 0 + */
    1,         1,         0 + BELOW, /* 0 + -   0 + 0   0 + + */
    0,         0,         1 + BELOW, /* + - -   + - 0   + - + */
    0,         0,         1 + BELOW, /* + 0 -   + 0 0   + 0 + */
    2 + BELOW, 2 + BELOW, APART,     /* + + -   + + 0   + + + */
};

static inline int pn_lonely(const int s[3]) {
  return pn_lonelyCorner[9 * (s[0] + 1) + 3 * (s[1] + 1) + (s[2] + 1)];
}

PN_CALLED bool pn_trianglesMeetExact(const float *a0, const float *a1, const float *a2, const float *b0,
                                     const float *b1, const float *b2) {
  const float *a[3] = {a0, a1, a2}, *b[3] = {b0, b1, b2};

  /* Each triangle against the plane of the other. */
  int sides[3];
  pn_sidesOfPlane(b, a, sides);
  int aCode = pn_lonely(sides);
  if (aCode == APART) return false;
  if (aCode == FLAT) return pn_trianglesMeetFlat(a, b);
  pn_sidesOfPlane(a, b, sides);
  int bCode = pn_lonely(sides);
  if (bCode == APART) return false;
  if (bCode == FLAT) return pn_trianglesMeetFlat(a, b);

  /* The lone corners first, the others in their order around the triangle. */
  int pa = aCode & 3, qa = pn_nextCorner(pa), pb = bCode & 3, qb = pn_nextCorner(pb);
  const float *p = a[pa], *q = a[qa], *r = a[pn_nextCorner(qa)];
  const float *P = b[pb], *Q = b[qb], *R = b[pn_nextCorner(qb)];

  /* p is below b's plane: turn b over; P below a's: turn a over. */
  if (aCode & BELOW) {
    const float *t = Q;
    Q = R, R = t;
  }
  if (bCode & BELOW) {
    const float *t = q;
    q = r, r = t;
  }

  /* i <= k and l <= j. */
  return pn_orient3(p, q, P, Q) <= 0 && pn_orient3(p, r, P, R) >= 0;
}
