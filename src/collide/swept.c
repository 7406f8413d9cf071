/* swept.c: see swept.h. The traversal of the boxes (sweep.h) hands over pairs of triangles whose boxes overlap; here they become pairs of
 * features, each once, and each is asked exactly (geom/impact.h). */
#include "collide/swept.h"

#include "geom/impact_lanes.h"
#include "mesh/mesh.h"

#include <math.h>

/* ---------------------------------------------------------------- features of two triangles */

/* A worker at work. */
typedef struct Finder {
  pnSwept *q;
  pnImpactsFound *found;
  pnCost *cost;
} Finder;

bool pn_isOneVertex(const pnSweep *s, uint32_t v, uint32_t w) {
  if (v == w) return true;
  if (!s->hasWelds || s->mesh->weld[v] != s->mesh->weld[w]) return false;
  const pnPlace *p = &s->places[v], *q = &s->places[w];
  for (int k = 0; k < 6; ++k)
    if (p->x[k / 2][k % 2] != q->x[k / 2][k % 2]) return false;
  return true;
}

static bool shareVertex(const pnSwept *q, const uint32_t *v, int vCount, const uint32_t *w, int wCount) {
  for (int i = 0; q->self && i < vCount; ++i) {
    for (int j = 0; j < wCount; ++j)
      if (pn_isOneVertex(q->a, v[i], w[j])) return true;
  }
  return false;
}

static double soonestOf(const Finder *f) {
  return atomic_load_explicit(&f->q->soonest, memory_order_relaxed);
}

static void bringForward(Finder *f, double time) {
  double seen = soonestOf(f);
  while (time < seen && !atomic_compare_exchange_weak_explicit(&f->q->soonest, &seen, time, memory_order_relaxed,
                                                               memory_order_relaxed)) {}
}

/* Is it worth keeping, and what does it say about the earliest? Of those whose span begins after another has ended none is. */
static bool keep(Finder *f, pnFeatureKind kind, uint32_t a, uint32_t b, pnImpactSpan span) {
  if (f->q->what == PN_SWEPT_EARLIEST) {
    if (span.lo > soonestOf(f)) return true;
    bringForward(f, span.hi);
  }
  return pn_arrayPush(&f->found->impacts, ((pnFeatureImpact){kind, a, b, span.lo, span.hi}));
}

/* Later contacts are not wanted: of those that end after the first that was found none is, and none outside the window. */
PN_INLINE double lastTime(const Finder *f) {
  return f->q->what == PN_SWEPT_EARLIEST ? PN_MIN(soonestOf(f) + PN_WIDEST_SPAN, f->q->end) : 1.0;
}

static pnImpactSpan ask(Finder *f, pn_Features features, const pnD2 *const places[4]) {
  bool uncertain;
  pnImpactSpan span = pn_impactOfPlaces(features, places, lastTime(f), &uncertain);
  ++f->cost->exactTests;
  f->cost->uncertain += uncertain;
  return span;
}

static pnImpactSpan askVertexFace(Finder *f, const pnSweep *s, uint32_t v, const pnSweep *t, const uint32_t *face) {
  const pnD2 *const places[4] = {s->places[v].x, t->places[face[0]].x, t->places[face[1]].x, t->places[face[2]].x};
  return ask(f, PN_VERTEX_FACE, places);
}

static pnImpactSpan askEdgeEdge(Finder *f, const pnSweep *s, const uint32_t *e, const pnSweep *t, const uint32_t *g) {
  const pnD2 *const places[4] = {s->places[e[0]].x, s->places[e[1]].x, t->places[g[0]].x, t->places[g[1]].x};
  return ask(f, PN_EDGE_EDGE, places);
}

/* ---------------------------------------------------------------- candidates */

/* Two features whose boxes overlap: a vertex or edge of s, by its number among the features of s, and an edge of t likewise, or a
 * face by its slot. */
typedef struct Candidate {
  uint32_t first, second;
} Candidate;

/* Candidates of some pairs of triangles are listed without a branch, by kind, and asked when there are enough, several at a time: whether
 * boxes overlap is nothing a processor could predict, and places can be fetched ahead. */
enum { LIST_SIZE = 512, MOST_OF_A_PAIR = 9, AT_A_TIME = 8 };
enum { OUR_VERTICES, THEIR_VERTICES, EDGES, LIST_COUNT };

typedef struct CandidateList {
  const pnSweep *s, *t;
  pn_Features features;
  uint32_t count;
  Candidate list[LIST_SIZE + AT_A_TIME];
} CandidateList;

PN_INLINE bool boxesMeet(const pnFeatureBox *a, const pnFeatureBox *b) {
  pnF4 apart =
      pn_f4Or(pn_f4Greater(pn_f4Load(a->lo), pn_f4Load(b->hi)), pn_f4Greater(pn_f4Load(b->lo), pn_f4Load(a->hi)));
  return (pn_f4Signs(apart) & 7) == 0;
}

PN_INLINE void listIf(CandidateList *c, const pnFeatureBox *a, uint32_t first, const pnFeatureBox *b, uint32_t second) {
  c->list[c->count] = (Candidate){first, second};
  c->count += boxesMeet(a, b);
}

/* All candidates of the triangles in slot m of ours and slot n of theirs. */
PN_INLINE void listPair(CandidateList c[LIST_COUNT], const pnSweep *ours, uint32_t m, const pnSweep *theirs,
                        uint32_t n) {
  uint32_t i = ours->featureFirst[m], j = theirs->featureFirst[n], endI = ours->featureFirst[m + 1],
           endJ = theirs->featureFirst[n + 1], edgesI = i + ours->ownedVertices[m],
           edgesJ = j + theirs->ownedVertices[n];
  const pnFeatureBox *a = ours->featureBoxes, *b = theirs->featureBoxes, *faceA = &ours->faceBoxes[m],
                     *faceB = &theirs->faceBoxes[n];
  if (PN_LIKELY((endI - i == PN_PLAIN_FEATURES) & (endJ - j == PN_PLAIN_FEATURES) & (edgesI == i + 1) &
                (edgesJ == j + 1))) {
    listIf(&c[OUR_VERTICES], &a[i], i, faceB, n);
    listIf(&c[THEIR_VERTICES], &b[j], j, faceA, m);
    listIf(&c[EDGES], &a[i + 1], i + 1, &b[j + 1], j + 1);
    listIf(&c[EDGES], &a[i + 1], i + 1, &b[j + 2], j + 2);
    listIf(&c[EDGES], &a[i + 2], i + 2, &b[j + 1], j + 1);
    listIf(&c[EDGES], &a[i + 2], i + 2, &b[j + 2], j + 2);
    return;
  }
  for (uint32_t k = i; k < edgesI; ++k) listIf(&c[OUR_VERTICES], &a[k], k, faceB, n);
  for (uint32_t k = j; k < edgesJ; ++k) listIf(&c[THEIR_VERTICES], &b[k], k, faceA, m);
  for (uint32_t k = edgesI; k < endI; ++k)
    for (uint32_t l = edgesJ; l < endJ; ++l) listIf(&c[EDGES], &a[k], k, &b[l], l);
}

/* The four vertices, as the question wants them; the first `*outCount` of s, the others of t. */
PN_INLINE uint32_t verticesOf(const CandidateList *c, const Candidate *x, uint32_t v[4]) {
  const pnFeatureBox *f = &c->s->featureBoxes[x->first];
  v[0] = f->v0;
  if (c->features == PN_EDGE_EDGE) {
    const pnFeatureBox *g = &c->t->featureBoxes[x->second];
    v[1] = f->v1, v[2] = g->v0, v[3] = g->v1;
    return 2;
  }
  const uint32_t *face = c->t->faceCorners[x->second];
  v[1] = face[0], v[2] = face[1], v[3] = face[2];
  return 1;
}

/* In one body: without what shares a vertex. */
static void dropNeighbours(CandidateList *c) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < c->count; ++i) {
    uint32_t v[4];
    bool edges = verticesOf(c, &c->list[i], v) == 2;
    bool share = (v[0] == v[2]) | (v[0] == v[3]) | (edges ? (v[1] == v[2]) | (v[1] == v[3]) : v[0] == v[1]);
    c->list[kept] = c->list[i];
    kept += !share;
  }
  c->count = kept;
}

PN_INLINE void placesOf(const CandidateList *c, const Candidate *x, const pnD2 *out[4]) {
  uint32_t v[4], ofS = verticesOf(c, x, v);
  for (uint32_t k = 0; k < 4; ++k) out[k] = (k < ofS ? c->s : c->t)->places[v[k]].x;
}

/* Without what is surely apart. */
static void dropApart(Finder *f, CandidateList *c) {
  const pnD2 *places[2][AT_A_TIME][4];
  uint32_t kept = 0;
  double until = lastTime(f);
  /* fill the last batch up with candidates that exist, and fetch places one batch ahead */
  for (uint32_t i = c->count; i < c->count + AT_A_TIME; ++i) c->list[i] = c->list[c->count - 1];
  for (uint32_t k = 0; k < AT_A_TIME; ++k) placesOf(c, &c->list[k], places[0][k]);
  for (uint32_t i = 0; i < c->count; i += AT_A_TIME) {
    uint32_t now = i / AT_A_TIME & 1, next = i + AT_A_TIME < c->count ? i + AT_A_TIME : i;
    for (uint32_t k = 0; k < AT_A_TIME; ++k) {
      placesOf(c, &c->list[next + k], places[!now][k]);
      for (int p = 0; p < 4; ++p) __builtin_prefetch(places[!now][k][p]);
    }
    uint32_t open = ~pn_impactsApart8(c->features, (pn_EightPlaces)places[now], until);
    for (uint32_t k = 0; k < PN_MIN(AT_A_TIME, c->count - i); ++k) {
      c->list[kept] = c->list[i + k];
      kept += open >> k & 1;
    }
  }
  c->count = kept;
}

/* Asks for one that is open. */
static bool askCandidate(Finder *f, const CandidateList *c, const Candidate *x) {
  const pnSwept *q = f->q;
  bool edges = c->features == PN_EDGE_EDGE, uncertain;
  uint32_t v[4], ofS = verticesOf(c, x, v);
  if (c->s->hasWelds && shareVertex(q, v, (int)ofS, v + ofS, 4 - (int)ofS)) return true;
  uint32_t name[2] = {c->s->featureNames[x->first],
                      edges ? c->t->featureNames[x->second] : c->t->faceCorners[x->second][3]};
  /* always the earlier edge of one body first: the same question, the same bits, whoever asks */
  bool turn = q->self ? edges && name[0] > name[1] : c->s != q->a;
  const pnD2 *places[4], *other[4];
  placesOf(c, x, places);
  for (int k = 0; k < 4; ++k) other[k] = places[k ^ (turn && edges ? 2 : 0)];
  if (q->keepsApart) {
    bringForward(f, pn_safeTime(c->features, (const pnD2 *const *)other, q->separation));
    return true;
  }
  pnImpactSpan span = pn_impactOfOpenPlaces(c->features, (const pnD2 *const *)other, lastTime(f), &uncertain);
  f->cost->uncertain += uncertain;
  pnFeatureKind kind = edges ? PN_EDGE_WITH_EDGE : turn ? PN_FACE_WITH_VERTEX : PN_VERTEX_WITH_FACE;
  return !span.meets || keep(f, kind, name[turn], name[!turn], span);
}

static bool askList(Finder *f, CandidateList *c) {
  bool ok = true;
  if (f->q->self) dropNeighbours(c);
  f->cost->exactTests += f->q->keepsApart ? 0 : c->count;
  if (c->count > 0 && !f->q->keepsApart) dropApart(f, c);
  for (uint32_t i = 0; ok && i < c->count; ++i) ok = askCandidate(f, c, &c->list[i]);
  c->count = 0;
  return ok;
}

/* ---------------------------------------------------------------- pairs of triangles */

/* Does the edge from p to q pass strictly through the face at the begin? */
static bool pierces(const pnSweep *s, uint32_t p, uint32_t q, const pnSweep *t, const uint32_t *face) {
  double x[5][3];
  const pnPlace *places[5] = {&s->places[p], &s->places[q], &t->places[face[0]], &t->places[face[1]],
                              &t->places[face[2]]};
  for (int i = 0; i < 15; ++i) x[i / 3][i % 3] = places[i / 3]->x[i % 3][0];
  int side = pnOrient3Double(x[2], x[3], x[4], x[0]);
  if (side == 0 || pnOrient3Double(x[2], x[3], x[4], x[1]) != -side) return false;
  int turn = pnOrient3Double(x[0], x[1], x[2], x[3]);
  return turn != 0 && pnOrient3Double(x[0], x[1], x[3], x[4]) == turn &&
         pnOrient3Double(x[0], x[1], x[4], x[2]) == turn;
}

/* The first time when two triangles meet: at the begin, when an edge of one passes through the other then; else the first
 * of all their features. (Triangles that meet without an edge passing strictly through have a vertex on a face or an
 * edge on an edge.) */
static bool firstOfTriangles(Finder *f, uint32_t m, uint32_t n) {
  const pnSwept *q = f->q;
  const pnSweep *s[2] = {q->a, q->b};
  const uint32_t *corners[2] = {&s[0]->mesh->triangles[3 * (size_t)m], &s[1]->mesh->triangles[3 * (size_t)n]};
  pnImpactSpan first = {.meets = false, .lo = 1, .hi = 1};
  for (int i = 0; i < 6 && !(first.meets && first.hi == 0); ++i) {
    int x = i / 3, y = 1 - x;
    uint32_t v = corners[x][i % 3], w = corners[x][(i + 1) % 3];
    if (pierces(s[x], v, w, s[y], corners[y])) first = (pnImpactSpan){.meets = true};
    if (shareVertex(q, &v, 1, corners[y], 3)) continue;
    pnImpactSpan span = askVertexFace(f, s[x], v, s[y], corners[y]);
    if (span.meets) first = (pnImpactSpan){true, PN_MIN(first.lo, span.lo), PN_MIN(first.hi, span.hi)};
  }
  for (int i = 0; i < 9 && !(first.meets && first.hi == 0); ++i) {
    uint32_t e[2] = {corners[0][i / 3], corners[0][(i / 3 + 1) % 3]},
             g[2] = {corners[1][i % 3], corners[1][(i % 3 + 1) % 3]};
    if (shareVertex(q, e, 2, g, 2)) continue;
    pnImpactSpan span = askEdgeEdge(f, s[0], e, s[1], g);
    if (span.meets) first = (pnImpactSpan){true, PN_MIN(first.lo, span.lo), PN_MIN(first.hi, span.hi)};
  }
  return !first.meets || keep(f, PN_FACE_WITH_FACE, m, n, first);
}

/* ---------------------------------------------------------------- the traversal hands over */

/* A worker takes up a pair of bodies, unless it was at that one. */
static bool beginRun(const pnSwept *q, pnImpactsFound *found) {
  if (found->runs.count > 0 && found->runs.data[found->runs.count - 1].pair == q->number) return true;
  return pn_arrayPush(&found->runs, ((pnImpactRun){q->number, found->impacts.count}));
}

bool pn_takeSwept(pnSink *sink, const pnTraversal *t, pnWorker *w, const pnPair *pairs, size_t count) {
  pnSwept *q = (pnSwept *)(void *)sink;
  uint32_t worker = (uint32_t)(w - q->list->collider.workers);
  Finder f = {q, &q->list->found[worker], &w->cost};
  const pnSweep *ours = t->swapped ? q->b : q->a, *theirs = t->swapped ? q->a : q->b;
  CandidateList c[LIST_COUNT];
  for (int k = 0; k < LIST_COUNT; ++k) {
    c[k].s = k == THEIR_VERTICES ? theirs : ours;
    c[k].t = k == THEIR_VERTICES ? ours : theirs;
    c[k].features = k == EDGES ? PN_EDGE_EDGE : PN_VERTEX_FACE;
    c[k].count = 0;
  }
  bool ok = beginRun(q, f.found);
  for (size_t i = 0; ok && i < count && f.found->impacts.count <= q->most; ++i) {
    uint32_t m = pairs[i].a, n = pairs[i].b;
    if (q->what == PN_SWEPT_TRIANGLES) {
      uint32_t a = ours->faceCorners[m][3], b = theirs->faceCorners[n][3];
      if ((ours->owned[a] | theirs->owned[b]) & PN_NO_PRIMITIVE) continue;
      bool turn = t->self ? a > b : t->swapped;
      ok = firstOfTriangles(&f, turn ? b : a, turn ? a : b);
      continue;
    }
    pn_boxLeaf(ours, m / PN_LANES, w->fresh.alone);
    pn_boxLeaf(theirs, n / PN_LANES, w->fresh.alone);
    listPair(c, ours, m, theirs, n);
    for (int k = 0; ok && k < LIST_COUNT; ++k)
      if (PN_UNLIKELY(c[k].count > LIST_SIZE - MOST_OF_A_PAIR)) ok = askList(&f, &c[k]);
  }
  for (int k = 0; ok && k < LIST_COUNT; ++k) ok = askList(&f, &c[k]);
  return ok;
}
