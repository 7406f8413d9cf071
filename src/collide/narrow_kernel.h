/* narrow_kernel.h: do W pairs of triangles meet? Included once for each SIMD width, with F (a register of W floats) and
 * its operations defined, and NARROW_NAME. The text is OpenCL C as well: the device room includes it with a width of one.
 *
 * Triangles a0 a1 a2 and b0 b1 b2 in general position meet exactly when an edge of one passes through the other. With
 * everything translated so that b2 is the origin, all signs needed are 15 determinants, from 4 cross and 10 dot products:
 *
 *   sA[k]   = det(a_k, b0, b1)                side of a_k in the plane of b
 *   v[k][j] = side of edge a_k a_k+1 to edge b_j b_j+1, for j = 1 the other way round
 *             v[k][1] = det(a_k, a_k+1, b1), v[k][2] = det(a_k, a_k+1, b0),
 *             v[k][0] = sA[k+1] - sA[k] + v[k][1] - v[k][2]
 *   sB[j]   = side of b_j in the plane of a: sums of the same, and det(a0, a1, a2)
 *
 * Edge a_k a_k+1 passes through b when sA[k], sA[k+1] differ and v[k][0..2] agree (as sides: v[k][1] differs from the others);
 * likewise for edges of b with columns of v. Signs are certain when no determinant is within E of zero (or when one triangle is clear of the other's
 * plane by more than E): then general position is certain too. Else edges are asked one by one (askEdges). What is left is answered
 * "unsure".
 *
 * The bound E. u = 2^-24; M bounds all coordinates of the translated points. Rounding of the translation: 1u on each
 * coordinate. A component of a cross product is a difference of two products: 2u (inputs) + 1u (product) + 1u
 * (difference) = 4u on each of its two terms. A dot product with it: + 1u (input) + 1u (product) + 2u (sums) = 8u on each
 * of the 6 terms of a determinant, each at most M^3:  |error| <= 48 u M^3.
 * v[k][0] adds four such numbers, each at most 6 M^3: 4 * 48 u + (12 + 12 + 24) u = 240 u. sB[0], sB[1] add four,
 * one after the other: 4 * 48 u + (12 + 18 + 24) u = 246 u. So every error is below 246 u M^3 (1 + O(u)) =
 * 1.4663e-5 M^3; 1.5e-5 leaves 2 % for the second-order terms (< 300 u) and the rounding of E itself (4 u).
 * Underflow: with M >= 1e-10, E >= 1.5e-35, far above what rounding in the subnormal range can add (under 20 * 2^-149 *
 * max(1, M)). Overflow: with M <= 1e12, M^3 * 24 < 1e38. Outside that range of M: unsure.
 *
 * In doubles (narrow_twice.h) u = 2^-53 and the same sum is 2.7312e-14 M^3; 2.8e-14. Points are floats: 2^-149 <= M < 2^129 or M is 0, and
 * between these nothing overflows (24 M^3 < 2^392) nor comes near to underflow (E > 2^-493). */
#ifndef NARROW_BOUND
#define NARROW_BOUND 1.5e-5f
#define NARROW_LEAST 1e-10f
#define NARROW_MOST 1e12f
#endif

/* The larger of a magnitude and that of p, and the smaller of two magnitudes. Where a machine does either at once, the file that includes
 * this says so. */
#ifndef FARTHER
#define FARTHER(m, p) MAX(m, ABS(p))
#define NEARER(p, q) MIN(ABS(p), ABS(q))
#endif

/* a b - c d, and a b more than c. A machine that rounds these once less may: the bound is about more roundings. */
#ifndef DIFFERENCE
#define DIFFERENCE(a, b, c, d) SUB(MUL(a, b), MUL(c, d))
#define MORE(a, b, c) ADD(c, MUL(a, b))
#endif

PN_INLINE void crossW(const F *p, const F *q, F *r) {
  r[0] = DIFFERENCE(p[1], q[2], p[2], q[1]);
  r[1] = DIFFERENCE(p[2], q[0], p[0], q[2]);
  r[2] = DIFFERENCE(p[0], q[1], p[1], q[0]);
}

PN_INLINE F dotW(const F *p, const F *q) {
  return MORE(p[2], q[2], MORE(p[1], q[1], MUL(p[0], q[0])));
}

/* All three above e, or all three below -e. */
PN_INLINE F clearOf(const F *s, F e) {
  F lo = MIN(MIN(s[0], s[1]), s[2]), hi = MAX(MAX(s[0], s[1]), s[2]);
  return OR(GREATER(lo, e), GREATER(NEG(e), hi));
}

/* One edge and the other triangle: s, t the sides of its ends, x, y, z those of its line to the edges. It certainly passes through when
 * its ends are on different sides and its line on one side of all edges, and certainly does not touch when its ends are on
 * one side of the plane, or its line on different sides of two edges. */
PN_INLINE void askEdge(F s, F t, F x, F y, F z, F e, F *outPasses, F *outMisses) {
  F n = NEG(e);
  F above = MIN(s, t), below = MAX(s, t), least = MIN(MIN(x, y), z), most = MAX(MAX(x, y), z);
  F oneSide = OR(GREATER(above, e), GREATER(n, below)), within = OR(GREATER(least, e), GREATER(n, most));
  *outPasses = AND(AND(GREATER(n, above), GREATER(below, e)), within);
  *outMisses = OR(oneSide, AND(GREATER(n, least), GREATER(most, e)));
}

/* Where some determinants are in doubt, others may decide: closed triangles meet exactly when an edge of one touches the other. So
 * one edge that passes through is enough, and so are six that miss. Hair, whose segments end in common planes, has many such. */
PN_INLINE void askEdges(const F *sA, const F *sB, F v[3][3], F e, F *outMeets, F *outApart) {
  F passes[3], misses[3];
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3;
    F passesB, missesB;
    askEdge(sA[i], sA[j], v[i][0], NEG(v[i][1]), v[i][2], e, &passes[i], &misses[i]);
    askEdge(sB[i], sB[j], v[0][i], v[1][i], v[2][i], e, &passesB, &missesB);
    passes[i] = OR(passes[i], passesB);
    misses[i] = AND(misses[i], missesB);
  }
  *outMeets = OR(OR(passes[0], passes[1]), passes[2]);
  *outApart = AND(AND(misses[0], misses[1]), misses[2]);
}

/* The determinants of corners p[0..2] of a and p[3..5] of b, as columns; these are translated. most: the largest coordinate along each axis,
 * three chains, as a maximum takes time. */
PN_INLINE void findSides(F p[6][3], F *most, F *sA, F *sB, F v[3][3]) {
  for (int x = 0; x < 3; ++x) {
    for (int i = 0; i < 5; ++i) {
      p[i][x] = SUB(p[i][x], p[5][x]);
      most[x] = i == 0 ? ABS(p[i][x]) : FARTHER(most[x], p[i][x]);
    }
  }
  const F *pb0 = p[3], *pb1 = p[4];
  F n[3], c[3][3];
  crossW(pb0, pb1, n);
  for (int k = 0; k < 3; ++k) {
    sA[k] = dotW(p[k], n);
    crossW(p[k], p[(k + 1) % 3], c[k]);
  }
  for (int k = 0; k < 3; ++k) {
    v[k][1] = dotW(pb1, c[k]);
    v[k][2] = dotW(pb0, c[k]);
    v[k][0] = ADD(SUB(sA[(k + 1) % 3], sA[k]), SUB(v[k][1], v[k][2]));
  }
  F det = dotW(p[0], c[1]);
  sB[0] = SUB(ADD(ADD(v[0][2], v[1][2]), v[2][2]), det);
  sB[1] = SUB(ADD(ADD(v[0][1], v[1][1]), v[2][1]), det);
  sB[2] = NEG(det);
}

/* What they say. */
PN_INLINE void decideBySides(const F *most, const F *sA, const F *sB, F v[3][3], uint32_t *outHit,
                             uint32_t *outUnsure) {
  /* certain of all signs? */
  F m = MAX(MAX(most[0], most[1]), most[2]);
  F e = MUL(MUL(MUL(m, m), m), SET1(NARROW_BOUND));
  F near[3];
  for (int i = 0; i < 3; ++i) near[i] = MIN(NEARER(sA[i], v[i][0]), NEARER(v[i][1], v[i][2]));
  F least = MIN(MIN(near[0], near[1]), near[2]);
  least = MIN(MIN(least, ABS(sB[2])), NEARER(sB[0], sB[1])); /* known last */
  F inRange = AND(GREATER(m, SET1(NARROW_LEAST)), GREATER(SET1(NARROW_MOST), m));
  F certain = AND(GREATER(least, e), inRange);

  /* an edge of one through the other: only sign bits matter */
  F ofA[3], ofB[3];
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3;
    F inside = AND(XOR(v[i][0], v[i][1]), XOR(v[i][1], v[i][2]));
    ofA[i] = AND(XOR(sA[i], sA[j]), inside);
    F outside = OR(XOR(v[0][i], v[1][i]), XOR(v[1][i], v[2][i]));
    ofB[i] = ANDNOT(XOR(sB[i], sB[j]), outside);
  }
  F through = OR(OR(OR(ofA[0], ofA[1]), ofA[2]), OR(OR(ofB[0], ofB[1]), ofB[2]));
  *outHit = SIGNS(AND(through, certain));
  *outUnsure = SIGNS(ANDNOT(SET1(-0.0f), certain));

  /* of the few that are not, most are clear of a plane, and of the others edges decide */
  if (PN_UNLIKELY(*outUnsure != 0)) {
    F apart = AND(OR(clearOf(sA, e), clearOf(sB, e)), inRange);
    *outUnsure &= ~(unsigned)SIGNS(apart);
    if (*outUnsure != 0) {
      F meets;
      askEdges(sA, sB, v, e, &meets, &apart);
      *outHit |= *outUnsure & (unsigned)SIGNS(AND(meets, inRange));
      *outUnsure &= ~(unsigned)SIGNS(AND(OR(meets, apart), inRange));
    }
  }
}

/* The filter. p is changed. */
PN_INLINE void NARROW_NAME(F p[6][3], uint32_t *outHit, uint32_t *outUnsure) {
  F most[3], sA[3], sB[3], v[3][3];
  findSides(p, most, sA, sB, v);
  decideBySides(most, sA, sB, v, outHit, outUnsure);
}
