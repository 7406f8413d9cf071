/* bench_impact.c: nanoseconds for one question whether moving features meet, on public scenes, checked against their truth.
 *
 *   bench_impact [--passes N] [cloth-ball | rod-twist | queries | all] [step | candidates | regions]
 *
 * regions: how many candidates a proof that parts of a mesh stay flat could save at most (docs/continuous.md).
 *
 * A scene is asked as a whole, by pnCollideSwept (step), and candidate by candidate (candidates), as a program with its own broad phase
 * would: one at a time and many at once. --rows FILE: figures as rows (record.h).
 *
 * A scene's candidates are all features that share no vertex and whose boxes over the step overlap: each vertex with each
 * face, each edge with each later edge. Every candidate is asked, and the set that meets must be the public list,
 * which was made with exact arithmetic by others. The sample queries are degenerate ones with their truth; those that took more than
 * a microsecond went to the exact stage.
 */
#include "pinch/collide.h"

#include "clock.h"
#include "moving.h"
#include "record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The best of so many counts. */
static int s_passes = 3;

/* ---------------------------------------------------------------- candidates */

/* A vertex, edge or face by its vertices. */
typedef struct Feature {
  int count;
  uint32_t v[3];
  double lo[3], hi[3];
} Feature;

typedef struct Candidate {
  uint32_t a, b;
} Candidate;

typedef struct Candidates {
  size_t count, room;
  Candidate *list;
} Candidates;

static void boxFeature(Feature *f, const pnMovingScene *s) {
  for (int k = 0; k < 3; ++k) {
    f->lo[k] = INFINITY, f->hi[k] = -INFINITY;
    for (int i = 0; i < f->count; ++i) {
      f->lo[k] = fmin(f->lo[k], fmin(s->from[f->v[i]][k], s->to[f->v[i]][k]));
      f->hi[k] = fmax(f->hi[k], fmax(s->from[f->v[i]][k], s->to[f->v[i]][k]));
    }
  }
}

static Feature *makeFeatures(const pnMovingScene *s, int count, uint32_t n) {
  Feature *f = calloc(n, sizeof *f);
  for (uint32_t i = 0; f && i < n; ++i) {
    f[i].count = count;
    for (int k = 0; k < count; ++k) f[i].v[k] = count == 1 ? i : count == 2 ? s->edges[i][k] : s->triangles[i][k];
    boxFeature(&f[i], s);
  }
  return f;
}

static bool canMeet(const Feature *a, const Feature *b) {
  for (int k = 0; k < 3; ++k)
    if (a->lo[k] > b->hi[k] || b->lo[k] > a->hi[k]) return false;
  for (int i = 0; i < a->count; ++i) {
    for (int j = 0; j < b->count; ++j)
      if (a->v[i] == b->v[j]) return false;
  }
  return true;
}

static bool addCandidate(Candidates *c, uint32_t a, uint32_t b) {
  if (c->count == c->room) {
    size_t room = c->room ? 2 * c->room : 1 << 20;
    void *list = realloc(c->list, room * sizeof *c->list);
    if (!list) return false;
    c->list = list, c->room = room;
  }
  c->list[c->count++] = (Candidate){a, b};
  return true;
}

#define CELLS 128 /* a side of the grid */

static uint32_t cellOf(double x, double lo, double size) {
  double c = (x - lo) / size * CELLS;
  return c <= 0 ? 0 : c >= CELLS - 1 ? CELLS - 1 : (uint32_t)c;
}

/* Calls for each cell that a box touches. */
#define FOR_CELLS(f, lo, size)                                                                    \
  for (uint32_t x = cellOf((f)->lo[0], lo[0], size); x <= cellOf((f)->hi[0], lo[0], size); ++x)   \
    for (uint32_t y = cellOf((f)->lo[1], lo[1], size); y <= cellOf((f)->hi[1], lo[1], size); ++y) \
      for (uint32_t z = cellOf((f)->lo[2], lo[2], size); z <= cellOf((f)->hi[2], lo[2], size); ++z)

/* Every a with every b (every later one, when they are the same list) by a plain grid. */
static bool findCandidates(const Feature *a, uint32_t aCount, const Feature *b, uint32_t bCount, Candidates *out) {
  double lo[3] = {INFINITY, INFINITY, INFINITY}, size = 0;
  for (uint32_t i = 0; i < bCount; ++i)
    for (int k = 0; k < 3; ++k) lo[k] = fmin(lo[k], b[i].lo[k]);
  for (uint32_t i = 0; i < bCount; ++i)
    for (int k = 0; k < 3; ++k) size = fmax(size, b[i].hi[k] - lo[k]);
  /* lists of the features in each cell, by counting */
  uint32_t *start = calloc((size_t)CELLS * CELLS * CELLS + 1, sizeof *start), *stamp = calloc(bCount, sizeof *stamp);
  uint32_t *list = NULL;
  bool ok = start && stamp;
  for (uint32_t i = 0; ok && i < bCount; ++i) FOR_CELLS(&b[i], lo, size)++ start[(x * CELLS + y) * CELLS + z];
  size_t cells = (size_t)CELLS * CELLS * CELLS;
  for (size_t i = 0; ok && i < cells; ++i) start[i + 1] += i + 1 < cells ? start[i] : 0;
  if (ok) {
    start[cells] = start[cells - 1];
    list = calloc(start[cells] + 1, sizeof *list);
    ok = list != NULL;
  }
  for (uint32_t i = 0; ok && i < bCount; ++i) FOR_CELLS(&b[i], lo, size) list[--start[(x * CELLS + y) * CELLS + z]] = i;
  for (uint32_t i = 0; ok && i < aCount; ++i) {
    FOR_CELLS(&a[i], lo, size) {
      size_t cell = (x * CELLS + y) * CELLS + z;
      for (uint32_t k = start[cell]; ok && k < start[cell + 1]; ++k) {
        uint32_t j = list[k];
        if (stamp[j] == i + 1 || (a == b && j <= i)) continue;
        stamp[j] = i + 1;
        if (canMeet(&a[i], &b[j])) ok = addCandidate(out, i, j);
      }
    }
  }
  free(start), free(stamp), free(list);
  return ok;
}

/* ---------------------------------------------------------------- a scene */

static pnMovingDouble motionOf(const pnMovingScene *s, const Feature *a, const Feature *b) {
  pnMovingDouble m;
  int n = 0;
  for (int k = 0; k < 2; ++k) {
    const Feature *f = k ? b : a;
    for (int i = 0; i < f->count; ++i, ++n) {
      memcpy(m.from[n], s->from[f->v[i]], sizeof m.from[n]);
      memcpy(m.to[n], s->to[f->v[i]], sizeof m.to[n]);
    }
  }
  return m;
}

static int comparePairs(const void *a, const void *b) {
  const uint32_t *x = a, *y = b;
  if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
  return x[1] < y[1] ? -1 : x[1] > y[1];
}

#define BLOCK 512 /* motions gathered at a time: gathering is not timed */

static bool isSame(pnImpactSpan a, pnImpactSpan b) {
  return a.meets == b.meets && a.lo == b.lo && a.hi == b.hi;
}

static bool askAll(const pnMovingScene *s, int edges) {
  uint32_t aCount = edges ? s->edgeCount : s->vertexCount, bCount = edges ? s->edgeCount : s->triangleCount;
  Feature *a = makeFeatures(s, edges ? 2 : 1, aCount), *b = edges ? a : makeFeatures(s, 3, bCount);
  Candidates c = {0}, met = {0};
  bool ok = a && b && findCandidates(a, aCount, b, bCount, &c);
  double best = INFINITY, bestSingle = INFINITY, widest = 0, first = 1;
  size_t different = 0;
  pnMovingDouble *block = malloc(BLOCK * sizeof *block);
  pnImpactSpan *spans = malloc(BLOCK * sizeof *spans), *single = malloc(BLOCK * sizeof *single);
  ok = ok && block && spans && single;
  for (int pass = 0; ok && pass < s_passes; ++pass) {
    double seconds = 0, singleSeconds = 0;
    met.count = 0;
    for (size_t i = 0; ok && i < c.count; i += BLOCK) {
      size_t n = c.count - i < BLOCK ? c.count - i : BLOCK;
      for (size_t k = 0; k < n; ++k) block[k] = motionOf(s, &a[c.list[i + k].a], &b[c.list[i + k].b]);
      double begin = pn_threadTime();
      (edges ? pnImpactsEdgeEdge : pnImpactsVertexFace)(block, n, spans);
      double middle = pn_threadTime();
      for (size_t k = 0; k < n; ++k)
        single[k] = edges ? pnImpactEdgeEdgeDouble(&block[k]) : pnImpactVertexFaceDouble(&block[k]);
      seconds += middle - begin, singleSeconds += pn_threadTime() - middle;
      for (size_t k = 0; ok && k < n; ++k) {
        different += !isSame(spans[k], single[k]);
        if (!spans[k].meets) continue;
        ok = addCandidate(&met, c.list[i + k].a, c.list[i + k].b);
        widest = fmax(widest, spans[k].hi - spans[k].lo), first = fmin(first, spans[k].lo);
      }
    }
    best = fmin(best, seconds), bestSingle = fmin(bestSingle, singleSeconds);
  }
  free(block), free(spans), free(single);
  size_t wrong = different;
  if (ok) {
    qsort(met.list, met.count, sizeof *met.list, comparePairs);
    size_t i = 0, j = 0;
    while (i < met.count || j < s->truthCount[edges]) {
      int order = i == met.count ? 1 : j == s->truthCount[edges] ? -1 : comparePairs(&met.list[i], s->truth[edges][j]);
      wrong += order != 0;
      i += order <= 0, j += order >= 0;
    }
    printf(
        "  %s  %9zu candidates  %6zu meet (%zu in the public list)  %zu wrong  %6.1f ns each, one at a time %.1f  "
        "first "
        "%.9f  widest span %.2g\n",
        edges ? "edge-edge  " : "vertex-face", c.count, met.count, s->truthCount[edges], wrong,
        1e9 * best / (double)c.count, 1e9 * bestSingle / (double)c.count, first, widest);
    fflush(stdout);
    const char *kind = edges ? "edge-edge" : "vertex-face";
    pn_record(kind, "candidates", (double)c.count);
    pn_record(kind, "meet", (double)met.count);
    pn_record(kind, "wrong", (double)wrong);
    pn_record(kind, "ns", 1e9 * best / (double)c.count);
    pn_record(kind, "ns one at a time", 1e9 * bestSingle / (double)c.count);
  }
  free(c.list), free(met.list), free(a);
  if (!edges) free(b);
  return ok && wrong == 0;
}

/* The whole step by pnCollideSwept: boxes, tree, candidates, all features with times, sorted; then only the earliest. */
static bool askWhole(const pnMovingScene *s) {
  float *rest = calloc(3 * (size_t)s->vertexCount, sizeof *rest);
  pnMeshDef def = pnDefaultMeshDef();
  pnMesh *mesh = NULL;
  pnSweep *sweep = NULL;
  pnImpactList *list = NULL;
  bool ok = rest != NULL;
  for (size_t i = 0; ok && i < 3 * (size_t)s->vertexCount; ++i) rest[i] = (float)s->from[i / 3][i % 3];
  def.vertices = rest, def.vertexCount = s->vertexCount, def.weld = false;
  def.triangles = s->triangles[0], def.triangleCount = s->triangleCount;
  ok = ok && !pnCreateMesh(&def, &mesh) && !pnCreateSweep(mesh, &sweep) && !pnCreateImpactList(&list);
  for (int what = 0; ok && what < PN_SWEPT_COUNT; ++what) {
    pnSweptDef query = pnDefaultSweptDef();
    pnCost cost;
    query.what = (pnSweptWhat)what;
    double best = INFINITY;
    for (int pass = 0; ok && pass < s_passes + 1; ++pass) {
      double begin = pn_threadTime();
      ok = !pnSweep_SetStep(sweep, s->from[0], s->to[0], s->vertexCount) &&
           !pnCollideSwept(sweep, NULL, &query, list, &cost);
      best = fmin(best, pn_threadTime() - begin);
    }
    size_t wrong = 0, counts[4] = {0};
    for (size_t i = 0; ok && i < pnImpactList_GetCount(list); ++i) {
      const pnFeatureImpact *f = &pnImpactList_GetImpacts(list)[i];
      int edges = f->kind == PN_EDGE_WITH_EDGE;
      size_t n = counts[f->kind]++;
      if (what == PN_SWEPT_ALL)
        wrong += n >= s->truthCount[edges] || s->truth[edges][n][0] != f->a || s->truth[edges][n][1] != f->b;
    }
    if (what == PN_SWEPT_ALL)
      wrong += (counts[0] != s->truthCount[0]) + (counts[PN_EDGE_WITH_EDGE] != s->truthCount[1]);
    pnImpactSpan first = pnImpactList_GetEarliest(list);
    printf(
        "  whole step, %-9s  %7zu impacts  %zu wrong  %.1f ms  (update %.1f, %llu features asked, %llu uncertain)  "
        "first %.9f\n",
        what == 0   ? "all"
        : what == 1 ? "earliest"
                    : "triangles",
        pnImpactList_GetCount(list), wrong, 1e3 * best, 1e3 * cost.updateSeconds, (unsigned long long)cost.exactTests,
        (unsigned long long)cost.uncertain, first.lo);
    static const char *const methods[] = {"step", "earliest", "triangles"};
    pn_record(methods[what], "ms", 1e3 * best);
    pn_record(methods[what], "impacts", (double)pnImpactList_GetCount(list));
    pn_record(methods[what], "asked", (double)cost.exactTests);
    pn_record(methods[what], "uncertain", (double)cost.uncertain);
    pn_record(methods[what], "wrong", (double)wrong);
    ok = ok && wrong == 0;
  }
  if (!ok) printf("  %s\n", pnGetMessage());
  pnDestroyImpactList(list), pnDestroySweep(sweep), pnDestroyMesh(mesh), free(rest);
  return ok;
}

/* ---------------------------------------------------------------- what stays flat */

/* Triangles around each vertex: those of v are of[first[v]] ... */
typedef struct Around {
  uint32_t *first, *of;
} Around;

static Around makeAround(const pnMovingScene *s) {
  Around a = {calloc((size_t)s->vertexCount + 2, sizeof *a.first), calloc(3 * (size_t)s->triangleCount, sizeof *a.of)};
  for (uint32_t i = 0; a.first && a.of && i < 3 * s->triangleCount; ++i) ++a.first[s->triangles[i / 3][i % 3] + 2];
  for (uint32_t v = 1; a.first && a.of && v <= s->vertexCount; ++v) a.first[v + 1] += a.first[v];
  for (uint32_t i = 0; a.first && a.of && i < 3 * s->triangleCount; ++i)
    a.of[a.first[s->triangles[i / 3][i % 3] + 1]++] = i / 3;
  return a;
}

/* Two sides of a triangle at both ends of the step. */
static void sidesOf(const pnMovingScene *s, uint32_t t, double e[2][2][3]) {
  const uint32_t *v = s->triangles[t];
  for (int k = 0; k < 6; ++k) {
    e[0][k / 3][k % 3] = s->from[v[1 + k / 3]][k % 3] - s->from[v[0]][k % 3];
    e[1][k / 3][k % 3] = s->to[v[1 + k / 3]][k % 3] - s->to[v[0]][k % 3];
  }
}

static double det(const double *d, const double *a, const double *b) {
  return d[0] * (a[1] * b[2] - a[2] * b[1]) + d[1] * (a[2] * b[0] - a[0] * b[2]) + d[2] * (a[0] * b[1] - a[1] * b[0]);
}

/* Is it seen from one side of d at all times? */
static bool staysSeen(const pnMovingScene *s, uint32_t t, const double *d) {
  double e[2][2][3];
  sidesOf(s, t, e);
  return det(d, e[0][0], e[0][1]) > 0 && det(d, e[0][0], e[1][1]) + det(d, e[1][0], e[0][1]) > 0 &&
         det(d, e[1][0], e[1][1]) > 0;
}

/* Regions of up to `most` triangles, grown over the mesh from one triangle while all are seen from one side of its normal. That is
 * more than a proof could use: it would look at the rim, too. */
static void growRegions(const pnMovingScene *s, const Around *around, uint32_t most, uint32_t *region,
                        uint32_t *queue) {
  for (uint32_t t = 0; t < s->triangleCount; ++t) region[t] = UINT32_MAX;
  for (uint32_t seed = 0; seed < s->triangleCount; ++seed) {
    if (region[seed] != UINT32_MAX) continue;
    double e[2][2][3], d[3] = {0};
    sidesOf(s, seed, e);
    for (int end = 0; end < 2; ++end)
      for (int k = 0; k < 3; ++k) d[k] += det((double[3]){k == 0, k == 1, k == 2}, e[end][0], e[end][1]);
    uint32_t count = 0;
    queue[count++] = seed, region[seed] = seed;
    for (uint32_t at = 0; at < count && count < most; ++at) {
      for (int k = 0; k < 3; ++k) {
        uint32_t v = s->triangles[queue[at]][k];
        for (uint32_t i = around->first[v]; i < around->first[v + 1] && count < most; ++i) {
          uint32_t t = around->of[i];
          if (region[t] == UINT32_MAX && staysSeen(s, t, d)) queue[count++] = t, region[t] = seed;
        }
      }
    }
  }
}

static bool hasVertices(const pnMovingScene *s, uint32_t t, const Feature *f) {
  int found = 0;
  for (int i = 0; i < f->count; ++i)
    for (int k = 0; k < 3; ++k) found += s->triangles[t][k] == f->v[i];
  return found == f->count;
}

/* Is there a triangle of each in one region? */
static bool areInOne(const pnMovingScene *s, const Around *around, const uint32_t *region, const Feature *a,
                     const Feature *b) {
  for (uint32_t i = around->first[a->v[0]]; i < around->first[a->v[0] + 1]; ++i) {
    if (!hasVertices(s, around->of[i], a)) continue;
    for (uint32_t j = around->first[b->v[0]]; j < around->first[b->v[0] + 1]; ++j)
      if (region[around->of[j]] == region[around->of[i]] && hasVertices(s, around->of[j], b)) return true;
  }
  return false;
}

static bool askRegions(const pnMovingScene *s) {
  static const uint32_t sizes[] = {64, UINT32_MAX};
  Around around = makeAround(s);
  uint32_t *region = calloc(s->triangleCount, sizeof *region), *queue = calloc(s->triangleCount, sizeof *queue);
  bool ok = around.first && around.of && region && queue;
  for (int edges = 0; edges < 2 && ok; ++edges) {
    uint32_t aCount = edges ? s->edgeCount : s->vertexCount, bCount = edges ? s->edgeCount : s->triangleCount;
    Feature *a = makeFeatures(s, edges ? 2 : 1, aCount), *b = edges ? a : makeFeatures(s, 3, bCount);
    Candidates c = {0};
    ok = a && b && findCandidates(a, aCount, b, bCount, &c);
    for (int size = 0; size < 2 && ok; ++size) {
      growRegions(s, &around, sizes[size], region, queue);
      size_t within = 0;
      for (size_t i = 0; i < c.count; ++i) within += areInOne(s, &around, region, &a[c.list[i].a], &b[c.list[i].b]);
      double share = 100 * (double)within / (double)c.count;
      printf("  %s  %4.1f %% of the candidates are within a region that stays flat, of %s triangles\n",
             edges ? "edge-edge  " : "vertex-face", share, size ? "any number of" : "up to 64");
      pn_record(edges ? "edge-edge" : "vertex-face", size ? "% in any region" : "% in regions of 64", share);
    }
    free(c.list), free(a);
    if (!edges) free(b);
  }
  free(around.first), free(around.of), free(region), free(queue);
  return ok;
}

/* ---------------------------------------------------------------- a scene, all of it */

static bool askScene(const char *folder, const char *name, const char *part) {
  pnMovingScene scene;
  bool ok = pnReadMovingScene(folder, name, &scene);
  if (!ok) printf("%s: not in the data folder (set PINCH_DATA)\n", name);
  else
    printf("%s: %u vertices, %u edges, %u triangles\n", name, scene.vertexCount, scene.edgeCount, scene.triangleCount);
  bool right = true;
  pn_recordScene("impact", name);
  bool all = part[0] == '\0';
  if (ok && (all || strcmp(part, "step") == 0)) right &= askWhole(&scene);
  if (ok && (all || strcmp(part, "candidates") == 0)) right &= askAll(&scene, 0) & askAll(&scene, 1);
  if (ok && (all || strcmp(part, "regions") == 0)) right &= askRegions(&scene);
  pnFreeMovingScene(&scene);
  return right;
}

/* ---------------------------------------------------------------- sample queries */

typedef struct Queries {
  size_t asked, wrong, slow;
  double slowSeconds;
} Queries;

/* Eight lines a query: three fractions, whose lower parts are powers of two, and the truth. */
static void askFile(const char *path, bool edges, Queries *sum) {
  FILE *file = fopen(path, "r");
  char line[1024];
  pnMovingDouble m;
  int row = 0;
  while (file && fgets(line, sizeof line, file)) {
    char *at = line;
    for (int k = 0; k < 3; ++k) {
      double top = strtod(at, &at), bottom = strtod(at + 1, &at);
      (row < 4 ? m.from[row] : m.to[row - 4])[k] = top / bottom;
      at += *at == ',';
    }
    if (++row < 8) continue;
    row = 0;
    double best = INFINITY;
    pnImpactSpan span = {0};
    for (int pass = 0; pass < 5; ++pass) {
      double begin = pn_threadTime();
      span = edges ? pnImpactEdgeEdgeDouble(&m) : pnImpactVertexFaceDouble(&m);
      best = fmin(best, pn_threadTime() - begin);
    }
    ++sum->asked;
    sum->wrong += span.meets != (*at == '1');
    if (best > 1e-6) sum->slow++, sum->slowSeconds += best;
  }
  if (file) fclose(file);
}

static bool askQueries(const char *folder) {
  const char *scenes[] = {"cube-cliff-edges", "cube-internal-edges", "sliding-spike", "sliding-wedge", "spike-crack"};
  const char *kinds[2] = {"vertex-face", "edge-edge"};
  size_t wrong = 0;
  printf("sample queries\n");
  pn_recordScene("impact", "queries");
  for (int edges = 0; edges < 2; ++edges) {
    Queries sum = {0};
    for (int i = 0; i < 10; ++i) {
      char path[1024];
      snprintf(path, sizeof path, "%s/ccd-sample-queries/erleben-%s/%s/data_0_%d.csv", folder, scenes[i / 2],
               kinds[edges], i % 2);
      askFile(path, edges, &sum);
    }
    printf("  %s  %9zu queries  %zu wrong  %zu to the exact stage, %.1f us each\n",
           edges ? "edge-edge  " : "vertex-face", sum.asked, sum.wrong, sum.slow,
           sum.slow ? 1e6 * sum.slowSeconds / (double)sum.slow : 0.0);
    wrong += sum.wrong;
    pn_record(kinds[edges], "asked", (double)sum.asked);
    pn_record(kinds[edges], "wrong", (double)sum.wrong);
    pn_record(kinds[edges], "exact", (double)sum.slow);
    if (sum.slow > 0) pn_record(kinds[edges], "us", 1e6 * sum.slowSeconds / (double)sum.slow);
  }
  return wrong == 0;
}

int main(int argc, char **argv) {
  pn_recordArguments(&argc, argv);
  const char *folder = getenv("PINCH_DATA"), *words[2] = {"all", ""};
  for (int i = 1, n = 0; i < argc; ++i)
    if (strcmp(argv[i], "--passes") == 0 && i + 1 < argc) s_passes = atoi(argv[++i]);
    else if (n < 2) words[n++] = argv[i];
  s_passes = s_passes < 1 ? 1 : s_passes;
  folder = folder ? folder : PINCH_SOURCE_DIR "/../shared/data";
  bool all = strcmp(words[0], "all") == 0, right = true;
  if (all || strcmp(words[0], "cloth-ball") == 0) right &= askScene(folder, "cloth-ball", words[1]);
  if (all || strcmp(words[0], "rod-twist") == 0) right &= askScene(folder, "rod-twist", words[1]);
  if (all || strcmp(words[0], "queries") == 0) right &= askQueries(folder);
  return right ? 0 : 1;
}
