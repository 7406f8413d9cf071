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
#include "geom/impact.h"
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
  bool keepsApart; /* not what meets but how long they stay more than `separation` apart */
  double separation;
  size_t most; /* impacts; a worker that has more stops */
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

static pnImpactSpan ask(Finder *f, pn_Features features, const pnD2 *const places[4]) {
  bool uncertain;
  if (f->q->keepsApart) {
    f->found->soonest = PN_MIN(f->found->soonest, pn_safeTime(features, places, f->q->separation));
    return (pnImpactSpan){0};
  }
  /* of those that end later than the first that was found, none is wanted */
  double until = f->q->what == PN_SWEPT_EARLIEST ? PN_MIN(f->found->soonest + WIDEST_SPAN, 1.0) : 1.0;
  pnImpactSpan span = pn_impactOfPlaces(features, places, until, &uncertain);
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

/* Two features whose boxes overlap. The first is a vertex or an edge of `side`, the second a face or an edge of the other. */
typedef struct Candidate {
  uint32_t v[4];       /* vertices, as the question wants them */
  uint32_t name[2];    /* of the features */
  uint8_t edges, side; /* edges or vertex and face; 0: the first feature is of our a */
} Candidate;

/* Candidates of some pairs of triangles are listed without a branch, and asked when there are enough: whether boxes overlap is
 * nothing a processor could predict, and places can be fetched ahead. */
enum { LIST_SIZE = 512, MOST_OF_A_PAIR = 15 };

typedef struct Candidates {
  uint32_t count;
  Candidate list[LIST_SIZE + 1];
} Candidates;

PN_INLINE bool boxesMeet(const pnFeatureBox *a, const pnFeatureBox *b) {
  pnF4 apart =
      pn_f4Or(pn_f4Greater(pn_f4Load(a->lo), pn_f4Load(b->hi)), pn_f4Greater(pn_f4Load(b->lo), pn_f4Load(a->hi)));
  return (pn_f4Signs(apart) & 7) == 0;
}

/* Vertices that the triangle in slot m of s owns, with the face in slot n of t. In one body (self) without what shares a vertex. */
PN_INLINE void listVertices(Candidates *c, bool self, uint8_t side, const pnSweep *s, uint32_t m, const pnSweep *t,
                            uint32_t n) {
  const pnFeatureBox *box = &t->faceBoxes[n];
  const uint32_t *face = t->faceCorners[n];
  uint32_t first = s->featureFirst[m], end = first + s->ownedVertices[m];
  for (uint32_t i = first; i < end; ++i) {
    uint32_t v = s->featureBoxes[i].v0;
    c->list[c->count] = (Candidate){{v, face[0], face[1], face[2]}, {v, face[3]}, 0, side};
    bool share = self & ((v == face[0]) | (v == face[1]) | (v == face[2]));
    c->count += boxesMeet(&s->featureBoxes[i], box) & !share;
  }
}

PN_INLINE void listEdges(Candidates *c, bool self, const pnSweep *s, uint32_t m, const pnSweep *t, uint32_t n) {
  uint32_t endI = s->featureFirst[m + 1], firstJ = t->featureFirst[n] + t->ownedVertices[n],
           endJ = t->featureFirst[n + 1];
  for (uint32_t i = s->featureFirst[m] + s->ownedVertices[m]; i < endI; ++i) {
    const pnFeatureBox *e = &s->featureBoxes[i];
    for (uint32_t j = firstJ; j < endJ; ++j) {
      const pnFeatureBox *g = &t->featureBoxes[j];
      c->list[c->count] = (Candidate){{e->v0, e->v1, g->v0, g->v1}, {s->featureNames[i], t->featureNames[j]}, 1, 0};
      bool share = self & ((e->v0 == g->v0) | (e->v0 == g->v1) | (e->v1 == g->v0) | (e->v1 == g->v1));
      c->count += boxesMeet(e, g) & !share;
    }
  }
}

static bool askCandidate(Finder *f, const Candidate *c, const pnSweep *ours, const pnSweep *theirs) {
  const Swept *q = f->q;
  if (c->edges) {
    if (ours->hasWelds && shareVertex(q, c->v, 2, c->v + 2, 2)) return true;
    /* always the earlier edge of one body first: the same question, the same bits, whoever asks */
    bool turn = q->self ? c->name[0] > c->name[1] : ours != q->a;
    pnImpactSpan span =
        turn ? askEdgeEdge(f, theirs, c->v + 2, ours, c->v) : askEdgeEdge(f, ours, c->v, theirs, c->v + 2);
    return !span.meets || keep(f, PN_EDGE_WITH_EDGE, c->name[turn], c->name[!turn], span);
  }
  if (ours->hasWelds && shareVertex(q, c->v, 1, c->v + 1, 3)) return true;
  const pnSweep *s = c->side ? theirs : ours, *t = c->side ? ours : theirs;
  pnImpactSpan span = askVertexFace(f, s, c->v[0], t, c->v + 1);
  bool turned = !q->self && s != q->a;
  return !span.meets ||
         keep(f, turned ? PN_FACE_WITH_VERTEX : PN_VERTEX_WITH_FACE, c->name[turned], c->name[!turned], span);
}

/* How many candidates ahead places are fetched. */
#define AHEAD 8u

static bool askCandidates(Finder *f, Candidates *c, const pnSweep *ours, const pnSweep *theirs) {
  bool ok = true;
  for (uint32_t i = 0; ok && i < c->count; ++i) {
    const Candidate *next = &c->list[PN_MIN(i + AHEAD, c->count - 1)];
    for (int k = 0; k < 4; ++k) {
      bool first = next->edges ? k < 2 : (k == 0) != next->side;
      __builtin_prefetch(&(first ? ours : theirs)->places[next->v[k]]);
    }
    ok = askCandidate(f, &c->list[i], ours, theirs);
  }
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
  Candidates c;
  c.count = 0;
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
    listVertices(&c, q->self, 0, ours, m, theirs, n);
    listVertices(&c, q->self, 1, theirs, n, ours, m);
    listEdges(&c, q->self, ours, m, theirs, n);
    if (c.count > LIST_SIZE - MOST_OF_A_PAIR) ok = askCandidates(&f, &c, ours, theirs);
  }
  return ok && askCandidates(&f, &c, ours, theirs);
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
