/* oracle_impact.c: see oracle_impact.h. Coordinates become whole numbers; polynomials are divided by what their
 * coefficients have in common, where only signs and roots matter. Written for the eye. */
#include "oracle_impact.h"

#include <gmp.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

#define MAX_DEGREE 8

/* c[0] + c[1] t + ...; the zero polynomial has degree -1. Always initialised, cleared by its owner. */
typedef struct Poly {
  int degree;
  mpz_t c[MAX_DEGREE + 1];
} Poly;

static void polyInit(Poly *p) {
  p->degree = -1;
  for (int i = 0; i <= MAX_DEGREE; ++i) mpz_init(p->c[i]);
}

static void polyClear(Poly *p) {
  for (int i = 0; i <= MAX_DEGREE; ++i) mpz_clear(p->c[i]);
}

static void polyTrim(Poly *p) {
  p->degree = MAX_DEGREE;
  while (p->degree >= 0 && mpz_sgn(p->c[p->degree]) == 0) --p->degree;
}

static void polySet(Poly *r, const Poly *a) {
  r->degree = a->degree;
  for (int i = 0; i <= MAX_DEGREE; ++i) mpz_set(r->c[i], a->c[i]);
}

/* r += sign * a * b */
static void polyAddProduct(Poly *r, int sign, const Poly *a, const Poly *b) {
  for (int i = 0; i <= a->degree; ++i)
    for (int j = 0; j <= b->degree; ++j) (sign > 0 ? mpz_addmul : mpz_submul)(r->c[i + j], a->c[i], b->c[j]);
  polyTrim(r);
}

static void polyAdd(Poly *r, int sign, const Poly *a) {
  for (int i = 0; i <= a->degree; ++i) (sign > 0 ? mpz_add : mpz_sub)(r->c[i], r->c[i], a->c[i]);
  polyTrim(r);
}

/* A time: n / 2^k. */
typedef struct Time {
  mpz_t n;
  unsigned long k;
} Time;

static void timeSet(Time *t, const Time *a) {
  mpz_set(t->n, a->n);
  t->k = a->k;
}

/* The middle of a and b. */
static void timeMiddle(Time *t, const Time *a, const Time *b) {
  mpz_t x;
  mpz_init(x);
  unsigned long k = a->k > b->k ? a->k : b->k;
  mpz_mul_2exp(x, a->n, k - a->k);
  mpz_mul_2exp(t->n, b->n, k - b->k);
  mpz_add(t->n, t->n, x);
  t->k = k + 1;
  mpz_clear(x);
}

static int signAt(const Poly *p, const Time *t) {
  mpz_t sum, term;
  mpz_init(sum), mpz_init(term);
  for (int i = p->degree; i >= 0; --i) {
    mpz_mul_2exp(term, p->c[i], t->k * (unsigned long)(p->degree - i));
    mpz_mul(sum, sum, t->n);
    mpz_add(sum, sum, term);
  }
  int sign = mpz_sgn(sum);
  mpz_clear(sum), mpz_clear(term);
  return sign;
}

static void polyDerive(Poly *r, const Poly *a) {
  for (int i = 0; i <= MAX_DEGREE; ++i) {
    mpz_set_si(r->c[i], i < a->degree ? i + 1 : 0);
    if (i < a->degree) mpz_mul(r->c[i], r->c[i], a->c[i + 1]);
  }
  polyTrim(r);
}

/* Divided by what all coefficients have in common: same roots, same signs. */
static void polyReduce(Poly *p) {
  mpz_t x;
  mpz_init(x);
  for (int i = 0; i <= p->degree; ++i) mpz_gcd(x, x, p->c[i]);
  for (int i = 0; i <= p->degree; ++i) mpz_divexact(p->c[i], p->c[i], x);
  mpz_clear(x);
}

/* a becomes a positive multiple of its remainder by b; q, if not null and 0 before, the same multiple of the quotient. */
static void polyDivide(Poly *a, const Poly *b, Poly *q) {
  mpz_t lead, top;
  mpz_init(lead), mpz_init(top);
  mpz_abs(lead, b->c[b->degree]);
  while (a->degree >= b->degree) {
    int shift = a->degree - b->degree;
    mpz_mul_si(top, a->c[a->degree], mpz_sgn(b->c[b->degree]));
    for (int i = 0; i <= MAX_DEGREE; ++i) mpz_mul(a->c[i], a->c[i], lead);
    for (int i = 0; q && i <= MAX_DEGREE; ++i) mpz_mul(q->c[i], q->c[i], lead);
    if (q) mpz_add(q->c[shift], q->c[shift], top);
    for (int i = 0; i <= b->degree; ++i) mpz_submul(a->c[i + shift], top, b->c[i]);
    polyTrim(a);
  }
  if (q) polyTrim(q);
  mpz_clear(lead), mpz_clear(top);
}

#define PRIME 4294967291ul /* 2^32 - 5 */

static int degreeModulo(const unsigned long *a, int degree) {
  while (degree >= 0 && a[degree] == 0) --degree;
  return degree;
}

/* The degree of what two polynomials have in common modulo PRIME; they are changed. */
static int commonDegree(unsigned long *a, int m, unsigned long *b, int n) {
  m = degreeModulo(a, m), n = degreeModulo(b, n);
  if (n < 0) return m;
  while (m >= n) {
    unsigned long top = a[m], lead = b[n];
    for (int i = 0; i <= m; ++i)
      a[i] = (a[i] * lead + (i >= m - n ? (PRIME - top) * b[i - (m - n)] % PRIME : 0)) % PRIME;
    m = degreeModulo(a, m);
  }
  return commonDegree(b, n, a, m);
}

/* Have they surely no root in common? Modulo a prime that does not divide the first coefficient of a, what they have in common has at
 * least the degree that it has over the whole numbers; when it is a number there, it is one here. */
static bool areCoprime(const Poly *a, const Poly *b) {
  unsigned long x[MAX_DEGREE + 1], y[MAX_DEGREE + 1];
  if (a->degree < 0 || b->degree < 0 || mpz_divisible_ui_p(a->c[a->degree], PRIME)) return false;
  for (int i = 0; i <= MAX_DEGREE; ++i) x[i] = mpz_fdiv_ui(a->c[i], PRIME), y[i] = mpz_fdiv_ui(b->c[i], PRIME);
  return commonDegree(x, a->degree, y, b->degree) == 0;
}

/* r = gcd(a, b) */
static void polyGcd(Poly *r, const Poly *a, const Poly *b) {
  Poly x, y;
  if (areCoprime(a, b)) {
    for (int i = 0; i <= MAX_DEGREE; ++i) mpz_set_ui(r->c[i], i == 0);
    r->degree = 0;
    return;
  }
  polyInit(&x), polyInit(&y);
  polySet(&x, a), polySet(&y, b);
  while (y.degree >= 0) {
    polyDivide(&x, &y, NULL);
    polyReduce(&x);
    Poly swap = x;
    x = y, y = swap;
  }
  polyReduce(&x);
  polySet(r, &x);
  polyClear(&x), polyClear(&y);
}

/* Without multiple roots: a positive or negative multiple, for roots only. r is 0 before. */
static void polySquarefree(Poly *r, const Poly *a) {
  Poly d, g, x;
  polyInit(&d), polyInit(&g), polyInit(&x);
  polyDerive(&d, a);
  polyGcd(&g, a, &d);
  polySet(&x, a);
  polyDivide(&x, &g, r);
  polyReduce(r);
  polyClear(&d), polyClear(&g), polyClear(&x);
}

/* ---------------------------------------------------------------- Sturm */

/* The chain of a polynomial without multiple roots: its count holds with roots at the ends too. */
typedef struct Chain {
  int count;
  Poly p[MAX_DEGREE + 2];
} Chain;

/* Of the polynomial without its multiple roots. */
static void chainMake(Chain *chain, const Poly *a) {
  for (int i = 0; i < MAX_DEGREE + 2; ++i) polyInit(&chain->p[i]);
  chain->count = 0;
  if (a->degree < 1) return;
  polySquarefree(&chain->p[0], a);
  polyDerive(&chain->p[1], &chain->p[0]);
  chain->count = 2;
  while (chain->p[chain->count - 1].degree >= 0) {
    Poly *next = &chain->p[chain->count];
    polySet(next, &chain->p[chain->count - 2]);
    polyDivide(next, &chain->p[chain->count - 1], NULL);
    for (int i = 0; i <= MAX_DEGREE; ++i) mpz_neg(next->c[i], next->c[i]);
    polyReduce(next);
    ++chain->count;
  }
  --chain->count;
}

static void chainClear(Chain *chain) {
  for (int i = 0; i < MAX_DEGREE + 2; ++i) polyClear(&chain->p[i]);
}

static int changesAt(const Chain *chain, const Time *t) {
  int changes = 0, last = 0;
  for (int i = 0; i < chain->count; ++i) {
    int sign = signAt(&chain->p[i], t);
    changes += sign * last < 0;
    if (sign != 0) last = sign;
  }
  return changes;
}

/* Distinct roots in (lo, hi]. */
static int rootsBetween(const Chain *chain, const Time *lo, const Time *hi) {
  return changesAt(chain, lo) - changesAt(chain, hi);
}

/* ---------------------------------------------------------------- a moment */

/* The only root of the chain's polynomial in (lo, hi]; or 0. */
typedef struct Moment {
  bool atStart;
  Chain chain;
  Time lo, hi;
} Moment;

static void momentInit(Moment *m, const Poly *p) {
  m->atStart = false;
  chainMake(&m->chain, p);
  mpz_init_set_si(m->lo.n, 0), mpz_init_set_si(m->hi.n, 1);
  m->lo.k = m->hi.k = 0;
}

static void momentClear(Moment *m) {
  chainClear(&m->chain);
  mpz_clear(m->lo.n), mpz_clear(m->hi.n);
}

/* To the left half if there is a root in it. */
static void halveMoment(Moment *m) {
  Time middle;
  mpz_init(middle.n);
  timeMiddle(&middle, &m->lo, &m->hi);
  timeSet(rootsBetween(&m->chain, &m->lo, &middle) > 0 ? &m->hi : &m->lo, &middle);
  mpz_clear(middle.n);
}

/* The same when there is only one in (lo, hi]: it is in the left half when the sign changes there. */
static void halveAroundOne(Moment *m) {
  Time middle;
  int first = signAt(&m->chain.p[0], &m->lo);
  if (first == 0) {
    halveMoment(m);
    return;
  }
  mpz_init(middle.n);
  timeMiddle(&middle, &m->lo, &m->hi);
  timeSet(signAt(&m->chain.p[0], &middle) != first ? &m->hi : &m->lo, &middle);
  mpz_clear(middle.n);
}

/* Has p surely no root in (lo, hi]? By Descartes' rule: the coefficients of (1 + x)^n p(lo + (hi - lo) / (1 + x)) have one sign; positive
 * x are the times between lo and hi. */
static bool hasNoRoot(const Poly *p, const Time *lo, const Time *hi) {
  int n = p->degree, positive = 0, negative = 0;
  unsigned long k = lo->k > hi->k ? lo->k : hi->k;
  mpz_t c[MAX_DEGREE + 1], a, b, term;
  mpz_init(a), mpz_init(b), mpz_init(term);
  mpz_mul_2exp(a, lo->n, k - lo->k), mpz_mul_2exp(b, hi->n, k - hi->k);
  mpz_sub(b, b, a);
  /* t = (a + b x) / 2^k, by Horner: each step times that, and the next coefficient with its powers of 2^k */
  for (int i = 0; i <= n; ++i) mpz_init(c[i]);
  for (int i = n; i >= 0; --i) {
    for (int j = n - i; j >= 0; --j) {
      mpz_mul(c[j], c[j], a);
      if (j > 0) mpz_addmul(c[j], c[j - 1], b);
    }
    mpz_mul_2exp(term, p->c[i], k * (unsigned long)(n - i));
    mpz_add(c[0], c[0], term);
  }
  /* x -> 1 / (1 + x): the coefficients the other way round, and a shift by 1 */
  for (int i = 0; i < n - i; ++i) mpz_swap(c[i], c[n - i]);
  for (int i = 0; i < n; ++i)
    for (int j = n - 1; j >= i; --j) mpz_add(c[j], c[j], c[j + 1]);
  for (int i = 0; i <= n; ++i) positive += mpz_sgn(c[i]) > 0, negative += mpz_sgn(c[i]) < 0, mpz_clear(c[i]);
  mpz_clear(a), mpz_clear(b), mpz_clear(term);
  return (positive == 0 || negative == 0) && signAt(p, hi) != 0;
}

/* Sign of g at the moment: 0 when they have the root in common, else narrow down until g has none. */
static int signThen(Moment *m, const Poly *g) {
  if (g->degree < 1 || m->atStart) return g->degree < 0 ? 0 : mpz_sgn(g->c[0]);
  if (!areCoprime(&m->chain.p[0], g)) {
    Poly common;
    Chain chain;
    polyInit(&common);
    polyGcd(&common, &m->chain.p[0], g);
    chainMake(&chain, &common);
    bool zero = rootsBetween(&chain, &m->lo, &m->hi) > 0;
    chainClear(&chain);
    polyClear(&common);
    if (zero) return 0;
  }
  while (!hasNoRoot(g, &m->lo, &m->hi)) halveAroundOne(m);
  return signAt(g, &m->hi);
}

/* ---------------------------------------------------------------- the features */

enum { CONDITION_COUNT = 4, SEGMENT_COUNT = 4 };

/* What the answer depends on. */
typedef struct Question {
  bool edges;
  Poly volume, area, inside[CONDITION_COUNT];
  struct {
    Poly cross, along, rest, length, gap; /* |e x d|^2, e.d, e.e - e.d, e.e, d.d */
  } on[SEGMENT_COUNT];
  int insideCount, segmentCount;
} Question;

typedef Poly Vector[3];

static void vectorInit(Vector v) {
  for (int i = 0; i < 3; ++i) polyInit(&v[i]);
}

static void vectorClear(Vector v) {
  for (int i = 0; i < 3; ++i) polyClear(&v[i]);
}

static void cross(Vector r, Vector a, Vector b) {
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    polyAddProduct(&r[i], 1, &a[j], &b[k]);
    polyAddProduct(&r[i], -1, &a[k], &b[j]);
  }
}

static void addDot(Poly *r, int sign, Vector a, Vector b) {
  for (int i = 0; i < 3; ++i) polyAddProduct(r, sign, &a[i], &b[i]);
}

/* Polynomials of the point x and the segment ab. */
static void askSegment(Question *q, Vector x, Vector a, Vector b) {
  Vector e, d, c;
  vectorInit(e), vectorInit(d), vectorInit(c);
  for (int i = 0; i < 3; ++i) {
    polyAdd(&e[i], 1, &b[i]), polyAdd(&e[i], -1, &a[i]);
    polyAdd(&d[i], 1, &x[i]), polyAdd(&d[i], -1, &a[i]);
  }
  cross(c, e, d);
  int k = q->segmentCount++;
  addDot(&q->on[k].cross, 1, c, c);
  addDot(&q->on[k].along, 1, e, d);
  addDot(&q->on[k].length, 1, e, e);
  addDot(&q->on[k].gap, 1, d, d);
  polyAdd(&q->on[k].rest, 1, &q->on[k].length), polyAdd(&q->on[k].rest, -1, &q->on[k].along);
  vectorClear(e), vectorClear(d), vectorClear(c);
}

static void questionInit(Question *q) {
  polyInit(&q->volume), polyInit(&q->area);
  for (int i = 0; i < CONDITION_COUNT; ++i) polyInit(&q->inside[i]);
  for (int i = 0; i < SEGMENT_COUNT; ++i) {
    polyInit(&q->on[i].cross), polyInit(&q->on[i].along), polyInit(&q->on[i].rest);
    polyInit(&q->on[i].length), polyInit(&q->on[i].gap);
  }
  q->insideCount = q->segmentCount = 0;
}

static void questionClear(Question *q) {
  polyClear(&q->volume), polyClear(&q->area);
  for (int i = 0; i < CONDITION_COUNT; ++i) polyClear(&q->inside[i]);
  for (int i = 0; i < SEGMENT_COUNT; ++i) {
    polyClear(&q->on[i].cross), polyClear(&q->on[i].along), polyClear(&q->on[i].rest);
    polyClear(&q->on[i].length), polyClear(&q->on[i].gap);
  }
}

/* A double times 2^BITS, which is whole. */
enum { BITS = 1200 };
static void wholeOf(mpz_t z, double x) {
  int exponent;
  mpz_set_d(z, ldexp(frexp(x, &exponent), 53));
  if (exponent - 53 + BITS >= 0) mpz_mul_2exp(z, z, (unsigned long)(exponent - 53 + BITS));
  else mpz_tdiv_q_2exp(z, z, (unsigned long)(53 - BITS - exponent));
}

/* x = the point's place at time lo + t (hi - lo), times 2^(2 BITS). */
static void placePoint(Vector x, const double from[3], const double to[3], double lo, double hi) {
  mpz_t a, b, t;
  mpz_init(a), mpz_init(b), mpz_init(t);
  for (int i = 0; i < 3; ++i) {
    wholeOf(a, from[i]), wholeOf(b, to[i]);
    mpz_sub(b, b, a);
    mpz_mul_2exp(x[i].c[0], a, BITS);
    wholeOf(t, lo), mpz_addmul(x[i].c[0], t, b), mpz_submul(x[i].c[1], t, b);
    wholeOf(t, hi), mpz_addmul(x[i].c[1], t, b);
    polyTrim(&x[i]);
  }
  mpz_clear(a), mpz_clear(b), mpz_clear(t);
}

static void ask(Question *q, bool edges, Vector x[4]) {
  Vector e1, e2, d, n, s, t;
  vectorInit(e1), vectorInit(e2), vectorInit(d), vectorInit(n), vectorInit(s), vectorInit(t);
  Poly along1, along2;
  polyInit(&along1), polyInit(&along2);
  q->edges = edges;
  const int name[2][6] = {{2, 1, 3, 1, 0, 1}, {1, 0, 3, 2, 2, 0}}, *v = name[edges];
  for (int i = 0; i < 3; ++i) {
    polyAdd(&e1[i], 1, &x[v[0]][i]), polyAdd(&e1[i], -1, &x[v[1]][i]);
    polyAdd(&e2[i], 1, &x[v[2]][i]), polyAdd(&e2[i], -1, &x[v[3]][i]);
    polyAdd(&d[i], 1, &x[v[4]][i]), polyAdd(&d[i], -1, &x[v[5]][i]);
  }
  cross(n, e1, e2), cross(s, d, e2), cross(t, e1, d);
  addDot(&q->volume, 1, n, d);
  addDot(&q->area, 1, n, n);
  /* Where the volume is 0, d = (S e1 + T e2) / area. */
  addDot(&along1, 1, s, n), addDot(&along2, edges ? -1 : 1, t, n);
  polyAdd(&q->inside[0], 1, &along1);
  polyAdd(&q->inside[1], 1, &along2);
  polyAdd(&q->inside[2], 1, &q->area), polyAdd(&q->inside[2], -1, &along1);
  if (edges) polyAdd(&q->inside[3], 1, &q->area), polyAdd(&q->inside[3], -1, &along2);
  else polyAdd(&q->inside[2], -1, &along2);
  q->insideCount = edges ? 4 : 3;
  if (edges) {
    askSegment(q, x[0], x[2], x[3]), askSegment(q, x[1], x[2], x[3]);
    askSegment(q, x[2], x[0], x[1]), askSegment(q, x[3], x[0], x[1]);
  } else {
    askSegment(q, x[0], x[1], x[2]), askSegment(q, x[0], x[2], x[3]), askSegment(q, x[0], x[3], x[1]);
  }
  polyClear(&along1), polyClear(&along2);
  vectorClear(e1), vectorClear(e2), vectorClear(d), vectorClear(n), vectorClear(s), vectorClear(t);
}

static bool meetThen(Question *q, Moment *m) {
  if (signThen(m, &q->volume) != 0) return false;
  if (signThen(m, &q->area) > 0) {
    for (int i = 0; i < q->insideCount; ++i)
      if (signThen(m, &q->inside[i]) < 0) return false;
    return true;
  }
  for (int i = 0; i < q->segmentCount; ++i) {
    if (signThen(m, &q->on[i].cross) != 0) continue;
    if (signThen(m, &q->on[i].length) == 0) {
      if (signThen(m, &q->on[i].gap) == 0) return true;
    } else if (signThen(m, &q->on[i].along) >= 0 && signThen(m, &q->on[i].rest) >= 0) {
      return true;
    }
  }
  return false;
}

/* Do they meet at a root of p in (0, 1]? */
static bool meetAtRoots(Question *q, const Poly *p) {
  Moment m;
  Time at, one;
  mpz_init(at.n), mpz_init_set_si(one.n, 1);
  at.k = one.k = 0;
  momentInit(&m, p);
  bool meets = false;
  while (!meets && rootsBetween(&m.chain, &at, &one) > 0) {
    /* the first root after `at`, alone */
    timeSet(&m.lo, &at), timeSet(&m.hi, &one);
    while (rootsBetween(&m.chain, &m.lo, &m.hi) > 1) halveMoment(&m);
    timeSet(&at, &m.hi);
    meets = meetThen(q, &m);
  }
  momentClear(&m);
  mpz_clear(at.n), mpz_clear(one.n);
  return meets;
}

/* Do they meet at 0? */
static bool meetAtStart(Question *q) {
  Moment m = {.atStart = true};
  return meetThen(q, &m);
}

/* All coordinates without the powers of two that they have in common. */
static void shrink(Vector x[4]) {
  unsigned long bits = ULONG_MAX;
  for (int i = 0; i < 24; ++i) {
    mpz_t *z = &x[i / 6][i / 2 % 3].c[i % 2];
    if (mpz_sgn(*z) != 0 && mpz_scan1(*z, 0) < bits) bits = mpz_scan1(*z, 0);
  }
  for (int i = 0; i < 24; ++i) {
    mpz_t *z = &x[i / 6][i / 2 % 3].c[i % 2];
    if (mpz_sgn(*z) != 0) mpz_tdiv_q_2exp(*z, *z, bits);
  }
}

bool oracleImpact(bool edges, const pnMovingDouble *points, double lo, double hi) {
  Question q;
  Vector x[4];
  questionInit(&q);
  for (int i = 0; i < 4; ++i) {
    vectorInit(x[i]);
    placePoint(x[i], points->from[i], points->to[i], lo, hi);
  }
  shrink(x);
  ask(&q, edges, x);
  bool meets = meetAtStart(&q);
  if (q.volume.degree >= 0) {
    meets = meets || meetAtRoots(&q, &q.volume);
  } else {
    meets = meets || meetAtRoots(&q, &q.area);
    for (int i = 0; i < q.insideCount; ++i) meets = meets || meetAtRoots(&q, &q.inside[i]);
    for (int i = 0; i < q.segmentCount; ++i) {
      meets = meets || meetAtRoots(&q, &q.on[i].cross) || meetAtRoots(&q, &q.on[i].along) ||
              meetAtRoots(&q, &q.on[i].rest) || meetAtRoots(&q, &q.on[i].length) || meetAtRoots(&q, &q.on[i].gap);
    }
  }
  for (int i = 0; i < 4; ++i) vectorClear(x[i]);
  questionClear(&q);
  return meets;
}

bool oracleSpan(bool edges, const pnMovingDouble *points, pnImpactSpan span) {
  if (span.meets != oracleImpact(edges, points, 0.0, 1.0)) return false;
  if (!span.meets) return span.lo == 0.0 && span.hi == 0.0;
  if (!(span.lo >= 0.0 && span.lo <= span.hi && span.hi <= 1.0 && span.hi - span.lo < 1e-6)) return false;
  /* in it, and not before it: up to the double before lo, which is all there is between */
  double before = span.lo - span.lo * 0x1p-52;
  return oracleImpact(edges, points, span.lo, span.hi) && (span.lo == 0.0 || !oracleImpact(edges, points, 0.0, before));
}

void printMoving(const pnMovingDouble *points) {
  for (int k = 0; k < 2; ++k) {
    printf("%s{", k ? ", " : "{");
    for (int i = 0; i < 4; ++i) {
      const double *x = k ? points->to[i] : points->from[i];
      printf("%s{%a, %a, %a}", i ? ", " : "", x[0], x[1], x[2]);
    }
    printf("}");
  }
  printf("}\n");
}
