/* narrow_lattice.h: the third look, at pairs that touch or lie in one plane: where coordinates are of few bits, doubles compute all determinants of
 * narrow_kernel.h without any error, so that zero is zero. Included by narrow_twice.h, with its words.
 *
 * Boxes that stand on a floor, tiles, lattices and what was modelled with a snap have corners that are whole multiples of some power of two along each
 * axis, and two triangles that are near each other differ by a few thousand of these at most. So do any triangles in a plane at right
 * angles to an axis: along that they do not differ, and along the others by what floats have. Where that is too much, as about 0, where
 * floats have ever smaller units, a bound of the error decides nearly all of these.
 *
 * WITHOUT ERROR. Let all six coordinates along an axis be multiples of a unit, a power of two, and differences of them at most D. Those of
 * the translated points are then whole numbers, of units, and at most d = D / unit. All that is added up to a determinant are products
 * of one such number for each axis: it is a whole number, of the product of units, and what is between is at most 24 dx dy dz, the sum of four
 * determinants (v[k][0] and sB). As long as that is at most 2^53 it is a double, whatever it is rounded to on the way: 24 2^48 < 2^53. Numbers of
 * a plane are products of two, at most 6 du dv. An axis along which all are equal has differences of 0, and counts as 1.
 *
 * UNITS. A number below 2^(e+1) plus 12 * 2^e lies between 8 * 2^e and 16 * 2^e, where the last bit of a double is 2^(e-49). One that is still
 * the same when that is taken away again was a multiple of it, and the lowest bit that any of the six has set in between is the
 * unit. Two such numbers differ by less than 2^(e+2), 2^51 of these bits, so the translation has not rounded either.
 *
 * WHO MEETS, two triangles with area that are not in one plane: closed triangles meet exactly when an edge of one has a point in common with
 * the other. An edge whose ends are not both in the other's plane has one exactly when they are not on one side of it, and its line
 * not on different sides of two of the other's edges. One with both ends in that plane need not be asked: if it has points in common
 * with the other triangle, either one is its end, and then the next edge, which leaves the plane there, has it too; or an
 * edge of the other crosses it there, which is asked; or it lies in line with that edge, and then an end of one is on the
 * other, and the edge that leaves that end is asked.
 * In one plane, seen along an axis: triangles are apart exactly when some edge of one has all of the other strictly outside (triangle_flat.c).
 * In a plane at right angles to an axis that may be asked with errors. Differences along the other two are at most Du and Dv, and right to u =
 * 2^-53 of these. A product of two is right to 3u Du Dv, a difference of two products to 8u Du Dv; the sums of three of these that
 * are asked for, each of which is at most 2 Du Dv, to (24 + 4 + 6)u Du Dv. 64u are taken, 2^-47. Nothing underflows: a product is at least 2^-298.
 * A triangle without area has no plane: all of sA are zero if it is b, all of sB if it is a, and its area as seen along any axis is zero, too. Such
 * pairs are left to the exact test. */

/* Lane by lane a, or else b. */
PN_INLINE F pick(F which, F a, F b) {
  return OR(AND(which, a), ANDNOT(b, which));
}

/* Lanes with a number that is not zero. */
PN_INLINE F isAny(const F *three) {
  return GREATER(MAX(MAX(ABS(three[0]), ABS(three[1])), ABS(three[2])), SET1(0));
}

/* ---------------------------------------------------------------- without error? */

/* Of six coordinates along an axis the power of two that all are multiples of. Where it is below the last bit that can be told, *outErrors has bits
 * that are set. */
PN_INLINE F unitAlong(F p[6][3], int x, pnTwiceBits *outErrors) {
  F far = ABS(p[0][x]);
  for (int i = 1; i < 6; ++i) far = MAX(far, ABS(p[i][x]));
  F lift = MUL(AND(far, SET1(INFINITY)), SET1(12)); /* of the largest its power of two */
  pnTwiceBits set = {0};
  for (int i = 0; i < 6; ++i) {
    F lifted = ADD(p[i][x], lift);
    *outErrors |= (pnTwiceBits)SUB(lifted, lift) ^ (pnTwiceBits)p[i][x];
    set |= (pnTwiceBits)lifted;
  }
  return SUB((F)((pnTwiceBits)lift + (set & -set)), lift);
}

/* Pairs of which not all determinants are computed without error; `most`: the largest difference along each axis. *outSize: the product of those that
 * are not 0. */
PN_INLINE F haveErrors(F p[6][3], const F *most, F *outSize) {
  pnTwiceBits errors = {0};
  F size = SET1(1), room = SET1(0x1p48);
  for (int x = 0; x < 3; ++x) {
    F unit = unitAlong(p, x, &errors), differ = GREATER(most[x], SET1(0));
    size = MUL(size, pick(differ, most[x], SET1(1)));
    room = MUL(room, pick(differ, unit, SET1(1)));
  }
  *outSize = size;
  /* the sign of a zero is none */
  return OR(GREATER(size, room), (F)(errors << 1 != 0));
}

/* Pairs in a plane at right angles to an axis. Floats that differ have differences. */
PN_INLINE F areLevel(const F *most) {
  return ANDNOT(SET1(-0.0), GREATER(MIN(MIN(most[0], most[1]), most[2]), SET1(0)));
}

/* ---------------------------------------------------------------- not in one plane */

/* One edge and the other triangle, as askEdge has them. */
PN_INLINE F touches(F s, F t, F x, F y, F z) {
  const F zero = SET1(0);
  F above = MIN(s, t), below = MAX(s, t), least = MIN(MIN(x, y), z), most = MAX(MAX(x, y), z);
  F oneSide = OR(GREATER(above, zero), GREATER(zero, below)), misses = AND(GREATER(zero, least), GREATER(most, zero));
  return ANDNOT(ANDNOT(GREATER(below, above), oneSide), misses); /* both in the plane: neither is greater */
}

PN_INLINE F meetBySides(const F *sA, const F *sB, F v[3][3]) {
  F any = SET1(0);
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3;
    any = OR(any, touches(sA[i], sA[j], v[i][0], NEG(v[i][1]), v[i][2]));
    any = OR(any, touches(sB[i], sB[j], v[0][i], v[1][i], v[2][i]));
  }
  return any;
}

/* ---------------------------------------------------------------- in one plane */

/* Of the errors of turns, for pairs in a plane at right angles to an axis. */
#define LEVEL_BOUND 0x1p-47

/* One edge, and the turns of three corners about it: it has all of them outside for certain, or perhaps. `area` has the sign of those inside, e is
 * what turns may be off by. */
PN_INLINE void askSide(F x, F y, F z, F area, F e, F *apart, F *perhaps) {
  F sign = AND(area, SET1(-0.0)), most = MAX(MAX(XOR(x, sign), XOR(y, sign)), XOR(z, sign));
  *apart = OR(*apart, GREATER(NEG(e), most));
  *perhaps = OR(*perhaps, GREATER(e, most));
}

/* Do they meet, seen along the axis along which b looks largest? p is translated, so that b2 is 0; turns are off by e at most. *outCertain: that
 * is certain, as it is without errors, and both have area. */
PN_INLINE F meetInPlane(F p[6][3], F e, F *outCertain) {
  F n[3], q[5][2];
  crossW(p[3], p[4], n);
  F alongX = AND(GREATER(ABS(n[0]), ABS(n[1])), GREATER(ABS(n[0]), ABS(n[2])));
  F alongY = ANDNOT(GREATER(ABS(n[1]), ABS(n[2])), alongX);
  for (int i = 0; i < 5; ++i) {
    q[i][0] = pick(alongX, p[i][1], pick(alongY, p[i][2], p[i][0]));
    q[i][1] = pick(alongX, p[i][2], pick(alongY, p[i][0], p[i][1]));
  }
#define TURN(i, j) DIFFERENCE(q[i][0], q[j][1], q[i][1], q[j][0])
  /* turns of corners as seen from b2: T(p, q, r) = pq + qr + rp, and what has b2 in it is 0 */
  F ofA[3] = {TURN(0, 1), TURN(1, 2), TURN(2, 0)}, ofB[3] = {TURN(3, 4), SET1(0), SET1(0)}, both[3][3];
  for (int i = 0; i < 3; ++i) {
    both[i][0] = TURN(i, 3);
    both[i][1] = TURN(i, 4);
    both[i][2] = SET1(0);
  }
#undef TURN
  F areaA = ADD(ADD(ofA[0], ofA[1]), ofA[2]), apart = SET1(0), perhaps = SET1(0);
  for (int i = 0; i < 3; ++i) {
    int k = (i + 1) % 3;
    F outsideA[3], outsideB[3];
    for (int j = 0; j < 3; ++j) {
      outsideA[j] = ADD(ofA[i], SUB(both[k][j], both[i][j]));
      outsideB[j] = ADD(ofB[i], SUB(both[j][i], both[j][k]));
    }
    askSide(outsideA[0], outsideA[1], outsideA[2], areaA, e, &apart, &perhaps);
    askSide(outsideB[0], outsideB[1], outsideB[2], ofB[0], e, &apart, &perhaps);
  }
  F haveArea = AND(GREATER(ABS(areaA), e), GREATER(ABS(ofB[0]), e));
  *outCertain = AND(haveArea, OR(apart, ANDNOT(SET1(-0.0), perhaps)));
  return ANDNOT(SET1(-0.0), apart);
}

/* ---------------------------------------------------------------- the look */

/* As many pairs as there are lanes: of the wanted those that are decided; *outHit: those that meet. */
PN_INLINE uint32_t meetOnLattice(F given[6][3], uint32_t wanted, uint32_t *outHit) {
  F p[6][3], most[3], sA[3], sB[3], v[3][3], size;
  memcpy(p, given, sizeof p);
  findSides(p, most, sA, sB, v);
  F errors = haveErrors(given, most, &size);
  uint32_t exact = wanted & ~(uint32_t)SIGNS(errors), level = wanted & (uint32_t)SIGNS(areLevel(most));
  uint32_t anyA = (uint32_t)SIGNS(isAny(sA)), skew = exact & anyA & (uint32_t)SIGNS(isAny(sB));
  uint32_t flat = (exact | level) & ~anyA;
  *outHit = 0;
  if (skew != 0) *outHit = skew & (uint32_t)SIGNS(meetBySides(sA, sB, v));
  if (flat != 0) {
    F isCertain, meets = meetInPlane(p, AND(errors, MUL(size, SET1(LEVEL_BOUND))), &isCertain);
    flat &= (uint32_t)SIGNS(isCertain);
    *outHit |= flat & (uint32_t)SIGNS(meets);
  }
  return skew | flat;
}
