/* root.h: roots of polynomials of degree 3 and less with whole coefficients, and exact signs of others there.
 *
 * A root is known in one of two ways: as a fraction, or as the only root in an open interval with fractions for ends.
 * Multiple roots are always fractions: a cubic with whole coefficients shares them with its derivative, and what a
 * double root leaves over is linear. So an interval holds a simple root, and the polynomial changes sign there.
 *
 * The sign of a quadratic q at a simple root r of f needs no narrowing of the interval and no chain of remainders. Cut
 * the interval at the turning point of q, which is a fraction, and keep the part with r. If q changes sign in it, at s,
 * then the question is on which side of r is s: that is the sign of f(s). Modulo q, f is linear, l(s) = f(s), so
 * the sign depends on which side of s the zero of l is; that zero is a fraction, and the sign of q there tells.
 */
#ifndef PN_GEOM_ROOT_H
#define PN_GEOM_ROOT_H

#include "geom/whole.h"

/* c[0] + c[1] t + ... + c[degree] t^degree with c[degree] not 0; the zero polynomial has degree -1. */
typedef struct pn_Poly {
  int degree;
  pn_Whole c[4];
} pn_Poly;

/* top / bottom, bottom > 0. */
typedef struct pn_Ratio {
  pn_Whole top, bottom;
} pn_Ratio;

/* A root in [0, 1]: `left` itself when isRatio, else the only root in the open interval from left to right. */
typedef struct pn_Root {
  bool isRatio;
  int before; /* the sign of the polynomial between `left` and the root */
  pn_Ratio left, right;
} pn_Root;

/* Sets the degree from the first count (1 to 4) coefficients. */
void pn_trimPoly(pn_Poly *p, int count);

/* The roots in [0, 1], each once, in order: 0 to 3. Not for the zero polynomial. What they are made of stays on the slate. */
int pn_findRoots(pn_Slate *s, const pn_Poly *f, pn_Root roots[3]);

/* Sign of q (of degree 2 at most) at a root of f. */
int pn_signAtRoot(pn_Slate *s, const pn_Poly *f, const pn_Root *root, const pn_Poly *q);

/* Sign of p at a fraction. */
int pn_signAtRatio(pn_Slate *s, const pn_Poly *p, pn_Ratio t);

/* lo <= root <= hi, both in [0, 1]; the width is below 2^-40. */
void pn_spanRoot(pn_Slate *s, const pn_Poly *f, const pn_Root *root, double *lo, double *hi);

#endif
