/* oracle_impact.c: see oracle_impact.h. Polynomials have rational coefficients and are made monic where only their roots
 * matter; everything is written for the eye, nothing for speed. */
#include "oracle_impact.h"

#include <gmp.h>
#include <stdio.h>

#define MAX_DEGREE 8

/* c[0] + c[1] t + ...; the zero polynomial has degree -1. Always initialised, cleared by its owner. */
typedef struct Poly {
  int degree;
  mpq_t c[MAX_DEGREE + 1];
} Poly;

static void polyInit(Poly *p) {
  p->degree = -1;
  for (int i = 0; i <= MAX_DEGREE; ++i) mpq_init(p->c[i]);
}

static void polyClear(Poly *p) {
  for (int i = 0; i <= MAX_DEGREE; ++i) mpq_clear(p->c[i]);
}

static void polyTrim(Poly *p) {
  p->degree = MAX_DEGREE;
  while (p->degree >= 0 && mpq_sgn(p->c[p->degree]) == 0) --p->degree;
}

static void polySet(Poly *r, const Poly *a) {
  r->degree = a->degree;
  for (int i = 0; i <= MAX_DEGREE; ++i) mpq_set(r->c[i], a->c[i]);
}

/* r += sign * a * b */
static void polyAddProduct(Poly *r, int sign, const Poly *a, const Poly *b) {
  mpq_t x;
  mpq_init(x);
  for (int i = 0; i <= a->degree; ++i) {
    for (int j = 0; j <= b->degree; ++j) {
      mpq_mul(x, a->c[i], b->c[j]);
      (sign > 0 ? mpq_add : mpq_sub)(r->c[i + j], r->c[i + j], x);
    }
  }
  mpq_clear(x);
  polyTrim(r);
}

static void polyAdd(Poly *r, int sign, const Poly *a) {
  for (int i = 0; i <= a->degree; ++i) (sign > 0 ? mpq_add : mpq_sub)(r->c[i], r->c[i], a->c[i]);
  polyTrim(r);
}

static int signAt(const Poly *p, const mpq_t t) {
  mpq_t sum;
  mpq_init(sum);
  for (int i = p->degree; i >= 0; --i) {
    mpq_mul(sum, sum, t);
    mpq_add(sum, sum, p->c[i]);
  }
  int sign = mpq_sgn(sum);
  mpq_clear(sum);
  return sign;
}

static void polyDerive(Poly *r, const Poly *a) {
  for (int i = 0; i <= MAX_DEGREE; ++i) {
    mpq_set_si(r->c[i], i < a->degree ? i + 1 : 0, 1);
    if (i < a->degree) mpq_mul(r->c[i], r->c[i], a->c[i + 1]);
  }
  polyTrim(r);
}

/* a becomes its remainder by b; q, if not null, the quotient. */
static void polyDivide(Poly *a, const Poly *b, Poly *q) {
  mpq_t x, y;
  mpq_init(x), mpq_init(y);
  while (a->degree >= b->degree) {
    int shift = a->degree - b->degree;
    mpq_div(x, a->c[a->degree], b->c[b->degree]);
    if (q) mpq_set(q->c[shift], x);
    for (int i = 0; i <= b->degree; ++i) {
      mpq_mul(y, x, b->c[i]);
      mpq_sub(a->c[i + shift], a->c[i + shift], y);
    }
    polyTrim(a);
  }
  if (q) polyTrim(q);
  mpq_clear(x), mpq_clear(y);
}

/* Divided by the magnitude of its leading coefficient: same signs. */
static void polyNormalise(Poly *p) {
  mpq_t x;
  mpq_init(x);
  if (p->degree >= 0) mpq_abs(x, p->c[p->degree]);
  for (int i = 0; i <= p->degree; ++i) mpq_div(p->c[i], p->c[i], x);
  mpq_clear(x);
}

/* r = gcd(a, b) */
static void polyGcd(Poly *r, const Poly *a, const Poly *b) {
  Poly x, y;
  polyInit(&x), polyInit(&y);
  polySet(&x, a), polySet(&y, b);
  while (y.degree >= 0) {
    polyDivide(&x, &y, NULL);
    polyNormalise(&x);
    Poly swap = x;
    x = y, y = swap;
  }
  polyNormalise(&x);
  polySet(r, &x);
  polyClear(&x), polyClear(&y);
}

/* Without multiple roots. */
static void polySquarefree(Poly *r, const Poly *a) {
  Poly d, g, x;
  polyInit(&d), polyInit(&g), polyInit(&x);
  polyDerive(&d, a);
  polyGcd(&g, a, &d);
  polySet(&x, a);
  for (int i = 0; i <= MAX_DEGREE; ++i) mpq_set_si(r->c[i], 0, 1);
  polyDivide(&x, &g, r);
  polyNormalise(r);
  polyClear(&d), polyClear(&g), polyClear(&x);
}

/* ---------------------------------------------------------------- Sturm */

typedef struct Chain {
  int count;
  Poly p[MAX_DEGREE + 2];
} Chain;

static void chainMake(Chain *chain, const Poly *a) {
  for (int i = 0; i < MAX_DEGREE + 2; ++i) polyInit(&chain->p[i]);
  polySet(&chain->p[0], a);
  polyDerive(&chain->p[1], a);
  chain->count = 2;
  while (chain->p[chain->count - 1].degree >= 0) {
    Poly *next = &chain->p[chain->count];
    polySet(next, &chain->p[chain->count - 2]);
    polyDivide(next, &chain->p[chain->count - 1], NULL);
    for (int i = 0; i <= MAX_DEGREE; ++i) mpq_neg(next->c[i], next->c[i]);
    polyNormalise(next);
    chain->count++;
  }
  chain->count--;
}

static void chainClear(Chain *chain) {
  for (int i = 0; i < MAX_DEGREE + 2; ++i) polyClear(&chain->p[i]);
}

static int changesAt(const Chain *chain, const mpq_t t) {
  int changes = 0, last = 0;
  for (int i = 0; i < chain->count; ++i) {
    int sign = signAt(&chain->p[i], t);
    changes += sign * last < 0;
    if (sign != 0) last = sign;
  }
  return changes;
}

/* Distinct roots in (lo, hi]. */
static int rootsBetween(const Poly *p, const mpq_t lo, const mpq_t hi) {
  if (p->degree < 1) return 0;
  Poly simple; /* Sturm's count holds at the ends, roots or not, when none is multiple */
  Chain chain;
  polyInit(&simple);
  polySquarefree(&simple, p);
  chainMake(&chain, &simple);
  int count = changesAt(&chain, lo) - changesAt(&chain, hi);
  chainClear(&chain);
  polyClear(&simple);
  return count;
}

/* ---------------------------------------------------------------- a moment */

/* The only root of p (without multiple roots) in (lo, hi]. */
typedef struct Moment {
  Poly p;
  mpq_t lo, hi;
} Moment;

static void halveMoment(Moment *m) {
  mpq_t middle;
  mpq_init(middle);
  mpq_add(middle, m->lo, m->hi);
  mpq_div_2exp(middle, middle, 1);
  mpq_set(rootsBetween(&m->p, m->lo, middle) > 0 ? m->hi : m->lo, middle);
  mpq_clear(middle);
}

/* Sign of g at the moment: 0 when they have the root in common, else narrow down until g has none. */
static int signThen(Moment *m, const Poly *g) {
  if (g->degree < 1) return g->degree < 0 ? 0 : mpq_sgn(g->c[0]);
  Poly common;
  polyInit(&common);
  polyGcd(&common, &m->p, g);
  int zero = rootsBetween(&common, m->lo, m->hi);
  polyClear(&common);
  if (zero > 0) return 0;
  while (rootsBetween(g, m->lo, m->hi) > 0) halveMoment(m);
  return signAt(g, m->hi);
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

/* x = the point's place at time lo + t (hi - lo). */
static void placePoint(Vector x, const double from[3], const double to[3], double lo, double hi) {
  mpq_t a, b, step, t;
  mpq_init(a), mpq_init(b), mpq_init(step), mpq_init(t);
  for (int i = 0; i < 3; ++i) {
    mpq_set_d(a, from[i]), mpq_set_d(b, to[i]);
    mpq_sub(step, b, a);
    mpq_set_d(t, lo), mpq_mul(t, t, step), mpq_add(x[i].c[0], a, t);
    mpq_set_d(t, hi), mpq_mul(t, t, step), mpq_add(b, a, t);
    mpq_sub(x[i].c[1], b, x[i].c[0]);
    polyTrim(&x[i]);
  }
  mpq_clear(a), mpq_clear(b), mpq_clear(step), mpq_clear(t);
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
    for (int i = 0; i < q->insideCount; ++i) {
      if (signThen(m, &q->inside[i]) < 0) return false;
    }
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
  mpq_t at, one;
  polyInit(&m.p), mpq_init(m.lo), mpq_init(m.hi), mpq_init(at), mpq_init(one);
  mpq_set_si(one, 1, 1);
  if (p->degree > 0) polySquarefree(&m.p, p);
  bool meets = false;
  while (!meets && rootsBetween(&m.p, at, one) > 0) {
    /* the first root after `at`, alone */
    mpq_set(m.lo, at), mpq_set(m.hi, one);
    while (rootsBetween(&m.p, m.lo, m.hi) > 1) halveMoment(&m);
    mpq_set(at, m.hi);
    meets = meetThen(q, &m);
  }
  polyClear(&m.p), mpq_clear(m.lo), mpq_clear(m.hi), mpq_clear(at), mpq_clear(one);
  return meets;
}

/* Do they meet at 0? That is the only root of t in (-1, 1]. */
static bool meetAtStart(Question *q) {
  Moment m;
  polyInit(&m.p), mpq_init(m.lo), mpq_init(m.hi);
  mpq_set_si(m.p.c[1], 1, 1);
  polyTrim(&m.p);
  mpq_set_si(m.lo, -1, 1), mpq_set_si(m.hi, 1, 1);
  bool meets = meetThen(q, &m);
  polyClear(&m.p), mpq_clear(m.lo), mpq_clear(m.hi);
  return meets;
}

bool oracleImpact(bool edges, const pnMovingDouble *points, double lo, double hi) {
  Question q;
  Vector x[4];
  questionInit(&q);
  for (int i = 0; i < 4; ++i) {
    vectorInit(x[i]);
    placePoint(x[i], points->from[i], points->to[i], lo, hi);
  }
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
