/* swept.c: what meets between two poses. The traversal of the boxes (sweep.h) hands over pairs of triangles whose boxes overlap;
 * here they become pairs of features, each once, and each is asked exactly (geom/impact.h).
 *
 * The earliest contact is sought in windows: first with boxes around a thousandth of the step, then a thirty-second part, then all of
 * it. Where things are close something meets early, and short boxes overlap few others. A window decides when the first
 * contact in it ends before the window does, by more than a span can be wide.
 */
#include "collide/jobs.h"
#include "collide/sweep.h"

#include "base/fenv.h"
#include "base/sort.h"
#include "geom/impact_lanes.h"
#include "mesh/mesh.h"

#include <math.h>

/* ---------------------------------------------------------------- lists */

typedef PN_ARRAY(pnFeatureImpact) Impacts;

/* What one worker has found. */
typedef struct Found {
  Impacts impacts;
  double soonest; /* the earliest end of a span */
} Found;

struct pnImpactList {
  pnCollider collider;
  Found *found; /* one a worker */
  uint32_t workerCount;
  Impacts all, scratch;
  PN_ARRAY(pnKeyValue) keys;
  pnImpactSpan earliest;
  bool limited;
};

pnResult pnCreateImpactList(pnImpactList **outList) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(outList);
  *outList = pn_allocZero(sizeof(pnImpactList));
  return *outList ? PN_OK : pn_failMemory(sizeof(pnImpactList));
}

void pnDestroyImpactList(pnImpactList *list) {
  if (!list) return;
  pn_colliderFree(&list->collider);
  for (uint32_t i = 0; i < list->workerCount; ++i) pn_arrayFree(&list->found[i].impacts);
  pn_free(list->found, list->workerCount * sizeof *list->found);
  pn_arrayFree(&list->all);
  pn_arrayFree(&list->scratch);
  pn_arrayFree(&list->keys);
  pn_free(list, sizeof *list);
}

const pnFeatureImpact *pnImpactList_GetImpacts(const pnImpactList *list) {
  return list->all.data;
}
size_t pnImpactList_GetCount(const pnImpactList *list) {
  return list->all.count;
}
pnImpactSpan pnImpactList_GetEarliest(const pnImpactList *list) {
  return list->earliest;
}

bool pnImpactList_IsLimited(const pnImpactList *list) {
  return list->limited;
}

pnSweptDef pnDefaultSweptDef(void) {
  return (pnSweptDef){0};
}

/* ---------------------------------------------------------------- features of two triangles */

/* No span is wider than this (pinch/geom.h: 1e-6). */
#define WIDEST_SPAN 0x1p-19

typedef struct Swept {
  pnSink sink; /* first: the traversal knows only this */
  pnSweep *a, *b;
  bool self;
  pnSweptWhat what;
  bool keepsApart;        /* not what meets but how long they stay more than `separation` apart */
  double separation, end; /* the window: boxes are around 0 ... end */
  size_t most;            /* impacts; a worker that has more stops */
  pnImpactList *list;
} Swept;

/* A worker at work. */
typedef struct Finder {
  const Swept *q;
  Found *found;
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

static bool shareVertex(const Swept *q, const uint32_t *v, int vCount, const uint32_t *w, int wCount) {
  for (int i = 0; q->self && i < vCount; ++i) {
    for (int j = 0; j < wCount; ++j)
      if (pn_isOneVertex(q->a, v[i], w[j])) return true;
  }
  return false;
}

/* Is it worth keeping, and what does it say about the earliest? Of those whose span begins after another has ended none is. */
static bool keep(Finder *f, pnFeatureKind kind, uint32_t a, uint32_t b, pnImpactSpan span) {
  if (f->q->what == PN_SWEPT_EARLIEST) {
    if (span.lo > f->found->soonest) return true;
    f->found->soonest = PN_MIN(f->found->soonest, span.hi);
  }
  return pn_arrayPush(&f->found->impacts, ((pnFeatureImpact){kind, a, b, span.lo, span.hi}));
}

/* Later contacts are not wanted: of those that end after the first that was found none is, and none outside the window. */
PN_INLINE double lastTime(const Finder *f) {
  return f->q->what == PN_SWEPT_EARLIEST ? PN_MIN(f->found->soonest + WIDEST_SPAN, f->q->end) : 1.0;
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
  const Swept *q = f->q;
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
    f->found->soonest = PN_MIN(f->found->soonest, pn_safeTime(c->features, (const pnD2 *const *)other, q->separation));
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
  const Swept *q = f->q;
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

static bool takePairs(pnSink *sink, const pnTraversal *t, pnWorker *w, const pnPair *pairs, size_t count) {
  Swept *q = (Swept *)(void *)sink;
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
  bool ok = true;
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

static bool ensureLists(pnImpactList *list, uint32_t workers) {
  if (workers > list->workerCount) {
    Found *found = pn_allocZero(workers * sizeof *found);
    if (!found) return false;
    if (list->workerCount > 0) memcpy(found, list->found, list->workerCount * sizeof *found);
    pn_free(list->found, list->workerCount * sizeof *found);
    list->found = found;
    list->workerCount = workers;
  }
  for (uint32_t i = 0; i < list->workerCount; ++i) {
    list->found[i].impacts.count = 0;
    list->found[i].soonest = INFINITY;
  }
  return true;
}

/* One traversal with boxes around 0 ... end. */
static pnResult sweepOnce(Swept *q, double end, const pnTasks *tasks, pnCost *cost) {
  double start = pn_clock();
  q->end = end;
  pnResult result = pn_updateSweep(q->a, end, q->separation, tasks);
  if (result == PN_OK && !q->self) result = pn_updateSweep(q->b, end, q->separation, tasks);
  cost->updateSeconds += pn_clock() - start;
  if (result == PN_OK && !ensureLists(q->list, pn_workerCount(tasks))) result = pn_failMemory(sizeof(Found));
  bool near = q->self || (result == PN_OK && pn_treesOverlap(q->a->tree, q->b->tree));
  if (result == PN_OK && near) {
    pnJob job = {.a = q->a->tree, .b = q->self ? NULL : q->b->tree, .sink = &q->sink};
    pnRunDef run = {.tasks = tasks, .unsorted = true};
    bool limited = false;
    q->list->collider.pairs.count = 0;
    result = pn_runJobs(&q->list->collider, &job, 1, &run, cost, &limited);
  }
  return result;
}

/* ---------------------------------------------------------------- putting together */

/* Of all workers together. */
static size_t countFound(const pnImpactList *list) {
  size_t total = 0;
  for (uint32_t i = 0; i < list->workerCount; ++i) total += list->found[i].impacts.count;
  return total;
}

/* All workers' impacts into one list, sorted by kind, a, b: three stable sorts, the last key first. */
static bool gather(pnImpactList *list) {
  size_t total = countFound(list);
  list->all.count = 0;
  if (!pn_arrayReserve(&list->all, total) || !pn_arrayReserve(&list->scratch, total) ||
      !pn_arrayReserve(&list->keys, 2 * total))
    return false;
  for (uint32_t i = 0; i < list->workerCount; ++i) {
    size_t n = list->found[i].impacts.count;
    if (n > 0) memcpy(list->all.data + list->all.count, list->found[i].impacts.data, n * sizeof *list->all.data);
    list->all.count += n;
  }
  pnFeatureImpact *all = list->all.data;
  for (int pass = 0; pass < 3 && total > 1; ++pass) {
    pnKeyValue *keys = list->keys.data;
    for (size_t i = 0; i < total; ++i)
      keys[i] = (pnKeyValue){pass == 0 ? all[i].b : pass == 1 ? all[i].a : (uint32_t)all[i].kind, (uint32_t)i};
    pn_sortKeyValue(keys, keys + total, total);
    for (size_t i = 0; i < total; ++i) list->scratch.data[i] = all[keys[i].value];
    memcpy(all, list->scratch.data, total * sizeof *all);
  }
  /* before the first span ends, nothing begins earlier than the first that begins */
  list->earliest = (pnImpactSpan){.meets = total > 0, .lo = total > 0, .hi = total > 0};
  for (size_t i = 0; i < total; ++i) {
    list->earliest.lo = PN_MIN(list->earliest.lo, all[i].lo);
    list->earliest.hi = PN_MIN(list->earliest.hi, all[i].hi);
  }
  return true;
}

/* Of a sorted list only the one whose span ends first. */
static void keepEarliest(pnImpactList *list) {
  pnFeatureImpact *all = list->all.data;
  size_t best = 0;
  for (size_t i = 1; i < list->all.count; ++i) best = all[i].hi < all[best].hi ? i : best;
  if (list->all.count > 0) all[0] = all[best];
  list->all.count = PN_MIN(list->all.count, 1);
}

pnResult pnCollideSwept(pnSweep *a, pnSweep *b, const pnSweptDef *def, pnImpactList *outImpacts, pnCost *outCost) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(a && outImpacts);
  static const double windows[] = {0x1p-10, 0x1p-5, 1.0};
  pnSweptDef usual = pnDefaultSweptDef();
  def = def ? def : &usual;
  pnCost cost = {0};
  outImpacts->all.count = 0;
  outImpacts->earliest = (pnImpactSpan){0};
  outImpacts->limited = false;
  if ((unsigned)def->what >= PN_SWEPT_COUNT)
    return pn_fail(PN_ERROR_ARGUMENT, "swept query: %d is nothing to ask for", (int)def->what);
  Swept q = {.sink = {takePairs}, .a = a, .b = b ? b : a, .self = !b || b == a, .what = def->what, .list = outImpacts};
  q.most = def->maxImpacts > 0 && def->what != PN_SWEPT_EARLIEST ? def->maxImpacts : SIZE_MAX;
  pnResult result = PN_OK;
  bool found = a->triangleCount == 0 || q.b->triangleCount == 0;
  for (int i = def->what == PN_SWEPT_EARLIEST ? 0 : 2; i < 3 && !found && result == PN_OK; ++i) {
    result = sweepOnce(&q, windows[i], &def->tasks, &cost);
    outImpacts->limited = result == PN_OK && countFound(outImpacts) > q.most;
    if (outImpacts->limited) break;
    if (result == PN_OK && !gather(outImpacts)) result = pn_failMemory(sizeof(pnFeatureImpact));
    found = outImpacts->earliest.meets && outImpacts->earliest.hi + WIDEST_SPAN <= windows[i];
  }
  if (result == PN_OK && def->what == PN_SWEPT_EARLIEST) keepEarliest(outImpacts);
  if (result != PN_OK) {
    outImpacts->all.count = 0;
    outImpacts->earliest = (pnImpactSpan){0};
  }
  cost.pairs = outImpacts->all.count;
  if (outCost) *outCost = cost;
  return result;
}

pnResult pnFindSafeStep(pnSweep *a, pnSweep *b, double separation, const pnTasks *tasks, double *outSafe) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(a && outSafe);
  *outSafe = 0.0;
  if (!(separation >= 0.0 && separation <= 1e30))
    return pn_fail(PN_ERROR_ARGUMENT, "safe step: a separation of %g", separation);
  pnImpactList *list;
  pnResult result = pnCreateImpactList(&list);
  if (result != PN_OK) return result;
  if (separation == 0.0) {
    /* exactly: up to the first contact */
    pnSweptDef def = {.what = PN_SWEPT_EARLIEST};
    if (tasks) def.tasks = *tasks;
    result = pnCollideSwept(a, b, &def, list, NULL);
    *outSafe = result != PN_OK ? 0.0 : list->earliest.meets ? list->earliest.lo : 1.0;
  } else {
    Swept q = {.sink = {takePairs}, .a = a, .b = b ? b : a, .self = !b || b == a, .keepsApart = true, .list = list};
    q.most = SIZE_MAX;
    q.separation = separation;
    pnCost cost = {0};
    bool empty = a->triangleCount == 0 || q.b->triangleCount == 0;
    if (!empty) result = sweepOnce(&q, 1.0, tasks, &cost);
    double safe = 1.0;
    for (uint32_t i = 0; i < list->workerCount; ++i) safe = PN_MIN(safe, list->found[i].soonest);
    *outSafe = result == PN_OK ? safe : 0.0;
  }
  pnDestroyImpactList(list);
  return result;
}
