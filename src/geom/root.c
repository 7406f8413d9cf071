/* root.c: see root.h. Isolation is Descartes' rule on Bernstein coefficients with halving (Vincent 1836; Collins and
 * Akritas 1976): no change of sign, no root inside; one change, one root. With distinct roots the halving ends: by
 * Mahler (1964) two roots of a cubic with coefficients below 2^h are more than 2^-(2h + 6) apart, and an interval with
 * two changes is not narrower than half of that. */
#include "geom/root.h"

#include <math.h>

/* Halvings that are ever needed: 2h + 8 for coefficients of h = 1931 bits (impact_exact.c), and limbs for a place. */
#define MAX_HALVINGS 3904
#define PLACE_LIMBS (MAX_HALVINGS / 64 + 1)

void pn_trimPoly(pn_Poly *p, int count) {
  p->degree = count - 1;
  while (p->degree >= 0 && p->c[p->degree].sign == 0) --p->degree;
}

PN_CALLED int pn_signAtRatio(pn_Slate *s, const pn_Poly *p, pn_Ratio t) {
  if (p->degree < 0) return 0;
  uint32_t mark = s->used;
  pn_Whole sum = p->c[p->degree], power = t.bottom;
  for (int i = p->degree - 1; i >= 0; --i) {
    sum = pn_addWhole(s, pn_multiplyWhole(s, sum, t.top), pn_multiplyWhole(s, p->c[i], power));
    if (i > 0) power = pn_multiplyWhole(s, power, t.bottom);
  }
  s->used = mark;
  return sum.sign;
}

/* ---------------------------------------------------------------- isolation */

/* Signs of the Bernstein coefficients of f over [n / 2^k, (n + 1) / 2^k]. */
PN_CALLED static void bernsteinSigns(pn_Slate *s, const pn_Poly *f, pn_Whole n, uint32_t k, int signs[4]) {
  uint32_t mark = s->used;
  int d = f->degree;
  /* f((n + x) / 2^k) 2^(dk) as a polynomial g in x: scale, then shift by n. */
  pn_Whole g[4] = {{0}};
  for (int i = 0; i <= d; ++i) g[i] = pn_shiftWhole(s, f->c[i], k * (uint32_t)(d - i));
  for (int i = 0; i < d; ++i)
    for (int j = d - 1; j >= i; --j) g[j] = pn_addWhole(s, g[j], pn_multiplyWhole(s, n, g[j + 1]));
  /* Coefficient i is the sum of binomial(i, j) / binomial(d, j) g[j]; times 3 or 2 these are whole. */
  pn_Whole all = g[0];
  for (int i = 1; i <= d; ++i) all = pn_addWhole(s, all, g[i]);
  signs[0] = g[0].sign;
  signs[d] = all.sign;
  if (d >= 2) {
    pn_Whole first = pn_addWhole(s, pn_scaleWhole(s, g[0], d), g[1]);
    signs[1] = first.sign;
    if (d == 3) signs[2] = pn_addWhole(s, pn_addWhole(s, first, g[1]), g[2]).sign;
  }
  s->used = mark;
}

static int countChanges(const int *signs, int count) {
  int changes = 0, last = 0;
  for (int i = 0; i < count; ++i) {
    changes += signs[i] * last < 0;
    last = signs[i] != 0 ? signs[i] : last;
  }
  return changes;
}

static pn_Ratio makeRatio(pn_Whole top, pn_Whole bottom) {
  return bottom.sign > 0 ? (pn_Ratio){top, bottom} : (pn_Ratio){pn_negateWhole(top), pn_negateWhole(bottom)};
}

static void addRatio(pn_Root *roots, int *count, pn_Ratio at) {
  if (at.top.sign < 0 || pn_compareWhole(at.top, at.bottom) > 0) return;
  roots[(*count)++] = (pn_Root){.isRatio = true, .left = at, .right = at};
}

/* If f (of degree 2 or 3) has a multiple root, all its roots are fractions. With a, b, c, d from the highest coefficient
 * down, P = b^2 - 3ac, Q = bc - 9ad, R = c^2 - 3bd: Q^2 - 4PR is -3 times the discriminant (P x^2 + Q x + R is
 * the Hessian), the double root is -Q / 2P and the other one -b/a less twice that; a triple one is -b / 3a. */
PN_CALLED static bool findMultiple(pn_Slate *s, const pn_Poly *f, pn_Root roots[3], int *count) {
  pn_Whole a = f->c[f->degree], b = f->c[f->degree - 1], c = f->c[f->degree - 2];
  uint32_t mark = s->used;
  if (f->degree == 2) {
    pn_Whole four = pn_scaleWhole(s, pn_multiplyWhole(s, a, c), 4);
    if (pn_compareWhole(pn_multiplyWhole(s, b, b), four) != 0) return s->used = mark, false;
    addRatio(roots, count, makeRatio(pn_negateWhole(b), pn_scaleWhole(s, a, 2)));
    return true;
  }
  pn_Whole d = f->c[0];
  pn_Whole p = pn_addWhole(s, pn_multiplyWhole(s, b, b), pn_scaleWhole(s, pn_multiplyWhole(s, a, c), -3));
  pn_Whole q = pn_addWhole(s, pn_multiplyWhole(s, b, c), pn_scaleWhole(s, pn_multiplyWhole(s, a, d), -9));
  pn_Whole r = pn_addWhole(s, pn_multiplyWhole(s, c, c), pn_scaleWhole(s, pn_multiplyWhole(s, b, d), -3));
  pn_Whole four = pn_scaleWhole(s, pn_multiplyWhole(s, p, r), 4);
  if (pn_compareWhole(pn_multiplyWhole(s, q, q), four) != 0) return s->used = mark, false;
  if (p.sign == 0) {
    addRatio(roots, count, makeRatio(pn_negateWhole(b), pn_scaleWhole(s, a, 3)));
    return true;
  }
  pn_Ratio twice = makeRatio(pn_negateWhole(q), pn_scaleWhole(s, p, 2));
  pn_Whole top = pn_subtractWhole(s, pn_multiplyWhole(s, a, q), pn_multiplyWhole(s, b, p));
  pn_Ratio once = makeRatio(top, pn_multiplyWhole(s, a, p));
  bool onceFirst =
      pn_compareWhole(pn_multiplyWhole(s, once.top, twice.bottom), pn_multiplyWhole(s, twice.top, once.bottom)) < 0;
  addRatio(roots, count, onceFirst ? once : twice);
  addRatio(roots, count, onceFirst ? twice : once);
  return true;
}

/* A place in the walk over [0, 1]: the interval [n / 2^k, (n + 1) / 2^k]. */
typedef struct Place {
  uint32_t k, count;
  PN_GLOBAL uint64_t *limb; /* PLACE_LIMBS of them, on the slate */
} Place;

static pn_Whole placeNumber(const Place *p) {
  return (pn_Whole){p->count > 0, p->count, p->limb};
}

/* To the left half. */
static void goDown(Place *p) {
  PN_ASSERT(p->k < MAX_HALVINGS);
  uint64_t over = 0;
  for (uint32_t i = 0; i < p->count; ++i) {
    uint64_t x = p->limb[i];
    p->limb[i] = x << 1 | over;
    over = x >> 63;
  }
  if (over) p->limb[p->count++] = 1;
  ++p->k;
}

/* To the next interval: the widest one of the walk that begins where this one ends. */
static void goOn(Place *p) {
  uint32_t i = 0;
  while (i < p->count && ++p->limb[i] == 0) ++i;
  if (i == p->count) p->limb[p->count++] = 1;
  while (p->k > 0 && !(p->limb[0] & 1)) {
    for (uint32_t j = 0; j < p->count; ++j)
      p->limb[j] = p->limb[j] >> 1 | (j + 1 < p->count ? p->limb[j + 1] << 63 : 0);
    p->count -= p->limb[p->count - 1] == 0;
    --p->k;
  }
}

PN_CALLED int pn_findRoots(pn_Slate *s, const pn_Poly *f, pn_Root roots[3]) {
  Place place = {0, 0, pn_takeLimbs(s, PLACE_LIMBS)};
  int count = 0, d = f->degree, signs[4] = {0};
  if (d < 1) return 0;
  do {
    bernsteinSigns(s, f, placeNumber(&place), place.k, signs);
    int changes = countChanges(signs, d + 1);
    if (changes > 1) {
      if (place.k == 0 && findMultiple(s, f, roots, &count)) return count;
      goDown(&place);
      continue;
    }
    /* the left end, then what is inside */
    if (signs[0] == 0 || changes == 1) {
      pn_Whole n = placeNumber(&place), one = pn_makeWhole(s, 1, 0), size = pn_makeWhole(s, 1, place.k);
      n = pn_scaleWhole(s, n, 1); /* a copy that stays */
      pn_Ratio left = {n, size}, right = {pn_addWhole(s, n, one), size};
      if (signs[0] == 0) addRatio(roots, &count, left);
      if (changes == 1) {
        int first = signs[0] != 0 ? signs[0] : signs[1] != 0 ? signs[1] : signs[2];
        roots[count++] = (pn_Root){false, first, left, right};
      }
    }
    goOn(&place);
  } while (place.k > 0 || place.count == 0);
  /* the walk ended at 1; the last interval's last coefficient is the value there */
  if (signs[d] == 0) {
    pn_Whole one = pn_makeWhole(s, 1, 0);
    addRatio(roots, &count, (pn_Ratio){one, one});
  }
  return count;
}

/* ---------------------------------------------------------------- signs at roots */

/* f modulo q times a positive number: of degree 1 at most. q of degree 2. */
PN_CALLED static pn_Poly reduce(pn_Slate *s, const pn_Poly *f, const pn_Poly *q) {
  pn_Poly r = *f;
  bool turn = q->c[2].sign < 0;
  pn_Whole lead = turn ? pn_negateWhole(q->c[2]) : q->c[2];
  for (int d = f->degree; d >= 2; --d) {
    /* lead * r - r[d] t^(d-2) q, with q turned so that its lead is positive */
    pn_Whole top = turn ? pn_negateWhole(r.c[d]) : r.c[d];
    for (int i = 0; i < d; ++i) {
      r.c[i] = pn_multiplyWhole(s, lead, r.c[i]);
      if (i >= d - 2) r.c[i] = pn_subtractWhole(s, r.c[i], pn_multiplyWhole(s, top, q->c[i - d + 2]));
    }
  }
  pn_trimPoly(&r, PN_MIN(f->degree + 1, 2));
  return r;
}

/* Sign of f at s, the only root of q (of degree 2) between a and b, where q has the sign qa before s. */
PN_CALLED static int signAtOther(pn_Slate *s, const pn_Poly *f, const pn_Poly *q, pn_Ratio a, pn_Ratio b, int qa) {
  pn_Poly l = reduce(s, f, q);
  if (l.degree < 1) return l.degree < 0 ? 0 : l.c[0].sign;
  int la = pn_signAtRatio(s, &l, a), lb = pn_signAtRatio(s, &l, b);
  if (la * lb >= 0) return la != 0 ? la : lb;
  /* l vanishes between a and b too; on which side of s? */
  int there = pn_signAtRatio(s, q, makeRatio(pn_negateWhole(l.c[0]), l.c[1]));
  return there == 0 ? 0 : there == qa ? lb : la;
}

/* q of degree 1 or 2 at a root that is only known to be between its ends. */
PN_CALLED static int signInside(pn_Slate *s, const pn_Poly *f, const pn_Root *root, const pn_Poly *q) {
  pn_Ratio a = root->left, b = root->right;
  int qa = pn_signAtRatio(s, q, a), qb = pn_signAtRatio(s, q, b);
  if (q->degree == 1) {
    if (qa * qb >= 0) return qa != 0 ? qa : qb;
    int there = pn_signAtRatio(s, f, makeRatio(pn_negateWhole(q->c[0]), q->c[1]));
    return there == 0 ? 0 : there == root->before ? qb : qa;
  }
  /* Where q turns, if that is between the ends: keep the part with the root. */
  pn_Poly slope = {1, {q->c[1], pn_scaleWhole(s, q->c[2], 2)}};
  if (pn_signAtRatio(s, &slope, a) * pn_signAtRatio(s, &slope, b) < 0) {
    pn_Ratio turn = makeRatio(pn_negateWhole(q->c[1]), pn_scaleWhole(s, q->c[2], 2));
    int there = pn_signAtRatio(s, q, turn);
    if (there != 0 && there * qa >= 0 && there * qb >= 0) return there; /* the least or the largest value of q */
    int side = pn_signAtRatio(s, f, turn);
    if (side == 0) return there;
    *(side == root->before ? &a : &b) = turn;
    *(side == root->before ? &qa : &qb) = there;
  }
  /* q is monotone from a to b */
  if (qa * qb >= 0) return qa != 0 ? qa : qb;
  int there = signAtOther(s, f, q, a, b, qa);
  return there == 0 ? 0 : there == root->before ? qb : qa;
}

PN_CALLED int pn_signAtRoot(pn_Slate *s, const pn_Poly *f, const pn_Root *root, const pn_Poly *q) {
  uint32_t mark = s->used;
  int sign = q->degree < 0    ? 0
             : q->degree == 0 ? q->c[0].sign
             : root->isRatio  ? pn_signAtRatio(s, q, root->left)
                              : signInside(s, f, root, q);
  s->used = mark;
  return sign;
}

/* ---------------------------------------------------------------- roots as times */

#define GRID 50 /* times are sought on multiples of 2^-50 */

/* Sign of f at m / 2^GRID. */
PN_CALLED static int signAtTime(pn_Slate *s, const pn_Poly *f, int64_t m) {
  uint32_t mark = s->used;
  pn_Whole sum = f->c[f->degree];
  for (int i = f->degree - 1; i >= 0; --i)
    sum = pn_addWhole(s, pn_scaleWhole(s, sum, m), pn_shiftWhole(s, f->c[i], GRID * (uint32_t)(f->degree - i)));
  s->used = mark;
  return sum.sign;
}

/* About where the root is, by halving in doubles. */
PN_CALLED static int64_t guess(const pn_Poly *f, int before, int64_t low, int64_t high) {
  int bits = 0;
  double c[4] = {0};
  for (int i = 0; i <= f->degree; ++i) bits = PN_MAX(bits, (int)pn_wholeBits(f->c[i]));
  for (int i = 0; i <= f->degree; ++i) {
    /* what is 2^-200 of the largest is nothing */
    c[i] = (int)pn_wholeBits(f->c[i]) > bits - 200 ? pn_wholeToDouble(f->c[i], bits) : 0.0;
  }
  double a = ldexp((double)low, -GRID), b = ldexp((double)high, -GRID);
  for (int i = 0; i < GRID; ++i) {
    double t = 0.5 * (a + b), value = ((c[3] * t + c[2]) * t + c[1]) * t + c[0];
    *(before * value > 0.0 ? &a : &b) = t;
  }
  return (int64_t)ldexp(a, GRID);
}

PN_CALLED void pn_spanRoot(pn_Slate *s, const pn_Poly *f, const pn_Root *root, double *lo, double *hi) {
  if (root->isRatio) {
    /* Two cuts of less than 2^-51 and the division: well below 2^-48 of the value. The ends of the step are exact. */
    int bits = (int)pn_wholeBits(root->left.bottom);
    bool isOne = pn_compareWhole(root->left.top, root->left.bottom) == 0;
    bool tiny = (int)pn_wholeBits(root->left.top) < bits - 200;
    double t = tiny ? 0.0 : pn_wholeToDouble(root->left.top, bits) / pn_wholeToDouble(root->left.bottom, bits);
    *lo = isOne ? 1.0 : t * (1.0 - 0x1p-48);
    *hi = isOne ? 1.0 : fmin(1.0, t * (1.0 + 0x1p-48) + (tiny && root->left.top.sign ? 0x1p-190 : 0.0));
    return;
  }
  int k = (int)pn_wholeBits(root->left.bottom) - 1;
  if (k >= GRID) {
    /* narrow already: cut the left end down to the grid */
    int over = k - GRID;
    double n = (int)pn_wholeBits(root->left.top) > over ? floor(pn_wholeToDouble(root->left.top, over)) : 0.0;
    *lo = ldexp(n, -GRID);
    *hi = fmin(1.0, ldexp(n + 2.0, -GRID));
    return;
  }
  int64_t low = (int64_t)pn_wholeToDouble(root->left.top, 0) << (GRID - k), high = low + ((int64_t)1 << (GRID - k));
  int64_t about = guess(f, root->before, low, high);
  /* Exact signs to both sides of the guess, farther away while they do not enclose the root; then halve. A grid point
   * that is the root itself counts as behind it for `low` and as before it for `high`: neither moves past it. */
  for (int64_t step = 4; step <= ((int64_t)1 << GRID) && high - low > 8; step *= 64) {
    int64_t l = PN_MAX(low, about - step), h = PN_MIN(high, about + step);
    if (l > low && signAtTime(s, f, l) == root->before) low = l;
    if (h < high && h > low && signAtTime(s, f, h) == -root->before) high = h;
    if (high - low <= 2 * step) break;
  }
  while (high - low > 512) {
    int64_t middle = low + (high - low) / 2;
    int sign = signAtTime(s, f, middle);
    if (sign == 0) low = high = middle;
    else *(sign == root->before ? &low : &high) = middle;
  }
  *lo = ldexp((double)low, -GRID);
  *hi = ldexp((double)high, -GRID);
}
