/* bench_query.c: nanoseconds for a question: rays and closest points beside Embree, distances beside FCL.
 *
 *   bench_query [--passes N] [--questions N] [--triangles N] [--rows FILE]
 *
 * One thread each. The programs take turns: in every pass each answers the same questions once, and of its passes the median
 * counts, as time the thread spent on the processor. The ratio is the median over the passes of the rival's time by ours in the
 * same pass. Answers are compared, with what the rival's floats allow.
 *
 * Trees are built before: Embree in its best quality, as it is and with its flag for rays that must not slip between triangles
 * (robust), which is what ours always promise and more; FCL with OBBRSS, its choice for distances. */
#include "clock.h"
#include "query_rivals.h"

#include "record.h"

#include "pinch/pinch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PASSES 64

static void check(pnResult result) {
  if (result == PN_OK) return;
  fprintf(stderr, "bench_query: %s\n", pnGetMessage());
  exit(1);
}

static uint64_t randomState = 1;

static float between(double a, double b) {
  uint64_t z = (randomState += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return (float)(a + (b - a) * ((double)((z ^ (z >> 31)) >> 11) * 0x1p-53));
}

/* ---------------------------------------------------------------- a column */

/* Times of a program, and those of ours in the same passes. */
typedef struct Column {
  const char *name;
  double time[MOST_PASSES];
} Column;

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(const double *values, int count) {
  double copy[MOST_PASSES];
  memcpy(copy, values, (size_t)count * sizeof *copy);
  qsort(copy, (size_t)count, sizeof *copy, ascending);
  return copy[count / 2];
}

typedef struct Setup {
  int passes;
  uint32_t questions, triangles;
} Setup;

static void printRow(const char *scene, const char *question, const Column *ours, const Column *rival, const Setup *s,
                     uint32_t questions) {
  double ratio[MOST_PASSES];
  for (int i = 0; i < s->passes; ++i) ratio[i] = rival->time[i] / ours->time[i];
  double own = 1e9 * median(ours->time, s->passes) / questions,
         other = 1e9 * median(rival->time, s->passes) / questions;
  printf("%-10s %-9s %9.0f   %-14s %9.0f   %6.2f\n", scene, question, own, rival->name, other,
         median(ratio, s->passes));
  char name[64], by[64];
  snprintf(name, sizeof name, "%s: %s", question, scene);
  snprintf(by, sizeof by, "%s / pinch", rival->name);
  pn_recordScene("query", name);
  // Ours stands beside each rival, and is recorded once.
  if (strcmp(rival->name, "Embree robust") != 0) pn_record("pinch", "ns", own);
  pn_record(rival->name, "ns", other);
  pn_record(by, "ratio", median(ratio, s->passes));
}

/* ---------------------------------------------------------------- scenes */

typedef struct Scene {
  const char *name;
  pnMesh *mesh;
  pnPose *pose;
  pnTree *tree;
  pnRivalMesh arrays;
} Scene;

static Scene openScene(const char *name, uint32_t triangles) {
  Scene s = {.name = name};
  uint32_t side = (uint32_t)sqrt(triangles / 2.0);
  if (strcmp(name, "sphere") == 0) {
    uint32_t level = 0;
    while (20u << 2 * (level + 1) <= triangles + 1000) ++level;
    check(pnMakeIcosphere(level, 1.0f, &s.mesh));
  } else if (strcmp(name, "knot") == 0) {
    check(pnMakeKnot(2, 3, 1.0f, 0.25f, 4 * side, side / 4, &s.mesh));
  } else {
    check(pnMakeGrid(2.0f, 2.0f, side, side, &s.mesh));
  }
  pnPoseDef pose = {.mesh = s.mesh};
  check(pnCreatePose(&pose, &s.pose));
  uint32_t n = pnMesh_GetVertexCount(s.mesh);
  if (strcmp(name, "terrain") == 0) {
    float *v = malloc(3 * n * sizeof *v);
    memcpy(v, pnMesh_GetVertices(s.mesh), 3 * n * sizeof *v);
    for (uint32_t i = 0; i < n; ++i) {
      float *p = v + 3 * i;
      uint32_t up = p[1] == 0 ? 1 : 2, other = up == 1 ? 2 : 1;
      p[up] = 0.2f * sinf(9 * p[0]) * cosf(7 * p[other]) + between(-0.01, 0.01);
    }
    check(pnPose_SetVertices(s.pose, v, n));
    free(v);
  }
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = s.pose;
  def.self = false;
  check(pnCreateTree(&def, &s.tree));
  float *v = malloc(3 * n * sizeof *v);
  pnPose_GetVertices(s.pose, v);
  s.arrays = (pnRivalMesh){v, pnMesh_GetTriangles(s.mesh), n, pnMesh_GetTriangleCount(s.mesh)};
  return s;
}

static void closeScene(Scene *s) {
  pnDestroyTree(s->tree);
  pnDestroyPose(s->pose);
  pnDestroyMesh(s->mesh);
  free((void *)s->arrays.vertices);
}

/* ---------------------------------------------------------------- rays and points */

typedef struct Answers {
  pnHit *hits;
  bool *blocked, *blockedToo;
  pnClosest *closest;
  uint32_t *triangles;
  float *numbers;
} Answers;

static void makeQuestions(uint32_t count, pnRay *rays, float *points) {
  for (uint32_t i = 0; i < count; ++i) {
    // From a ball of twice the size to somewhere in the middle, and some past it.
    float o[3], to[3], length = 0;
    for (int k = 0; k < 3; ++k) o[k] = between(-1, 1), to[k] = between(-1.2, 1.2), length += o[k] * o[k];
    length = 3 / sqrtf(length);
    rays[i] = pnDefaultRay();
    rays[i].origin = (pnVec3){o[0] * length, o[1] * length, o[2] * length};
    rays[i].direction = (pnVec3){to[0] - o[0] * length, to[1] - o[1] * length, to[2] - o[2] * length};
    for (int k = 0; k < 3; ++k) points[3 * i + (uint32_t)k] = between(-1.5, 1.5);
  }
}

#ifdef PN_HAVE_EMBREE_QUERY
static void beside(Scene *s, const Setup *setup) {
  uint32_t n = setup->questions;
  pnRay *rays = malloc(n * sizeof *rays);
  float *points = malloc(3 * n * sizeof *points);
  Answers a = {malloc(n * sizeof *a.hits),
               malloc(n),
               malloc(n),
               malloc(n * sizeof *a.closest),
               malloc(n * sizeof *a.triangles),
               malloc(n * sizeof *a.numbers)};
  makeQuestions(n, rays, points);
  pnEmbreeQuery *rival[2] = {pn_embreeOpen(&s->arrays, false), pn_embreeOpen(&s->arrays, true)};
  Column ours[3] = {{"pinch", {0}}, {"pinch", {0}}, {"pinch", {0}}};
  Column theirs[2][3] = {{{"Embree", {0}}, {"Embree", {0}}, {"Embree", {0}}},
                         {{"Embree robust", {0}}, {"Embree robust", {0}}, {"Embree robust", {0}}}};
  uint32_t hits = 0, others = 0, otherBlocked = 0;
  double worst = 0;
  for (int pass = -1; pass < setup->passes; ++pass) {
    int at = pass < 0 ? 0 : pass;
    double t0 = pn_threadTime();
    check(pnFindFirstHits(s->tree, rays, n, NULL, a.hits));
    double t1 = pn_threadTime();
    check(pnFindBlocked(s->tree, rays, n, NULL, a.blocked));
    double t2 = pn_threadTime();
    check(pnFindClosest(s->tree, points, n, NULL, a.closest));
    double t3 = pn_threadTime();
    ours[0].time[at] = t1 - t0, ours[1].time[at] = t2 - t1, ours[2].time[at] = t3 - t2;
    for (int r = 0; r < 2; ++r) {
      t0 = pn_threadTime();
      pn_embreeFirst(rival[r], rays, n, a.triangles, a.numbers);
      t1 = pn_threadTime();
      for (uint32_t i = 0; pass < 0 && r == 1 && i < n; ++i) {
        hits += a.hits[i].triangle != PN_NONE;
        others += (a.hits[i].triangle != PN_NONE) != (a.triangles[i] != PN_NONE);
      }
      t2 = pn_threadTime();
      pn_embreeBlocked(rival[r], rays, n, a.blockedToo);
      t3 = pn_threadTime();
      for (uint32_t i = 0; pass < 0 && r == 1 && i < n; ++i) otherBlocked += a.blocked[i] != a.blockedToo[i];
      double t4 = pn_threadTime();
      pn_embreeClosest(rival[r], points, n, a.numbers);
      double t5 = pn_threadTime();
      for (uint32_t i = 0; pass < 0 && i < n; ++i) {
        double apart = fabs(a.numbers[i] - a.closest[i].distance);
        worst = apart > worst ? apart : worst;
      }
      theirs[r][0].time[at] = t1 - t0, theirs[r][1].time[at] = t3 - t2, theirs[r][2].time[at] = t5 - t4;
    }
  }
  static const char *const questions[3] = {"first hit", "blocked", "closest"};
  for (int q = 0; q < 3; ++q)
    for (int r = 0; r < 2; ++r)
      if (q < 2 || r == 0) printRow(s->name, questions[q], &ours[q], &theirs[r][q], setup, n);
  printf("%-10s %u of %u rays hit; %u and %u others hit or miss in Embree robust; distances differ by %.1e\n", s->name,
         hits, n, others, otherBlocked, worst);
  for (int r = 0; r < 2; ++r) pn_embreeClose(rival[r]);
  free(rays), free(points), free(a.hits), free(a.blocked), free(a.blockedToo), free(a.closest), free(a.triangles),
      free(a.numbers);
}
#endif

/* ---------------------------------------------------------------- distances */

#ifdef PN_HAVE_FCL_QUERY
/* The second body stands around the first, turned by 3, 4, 5; what ours need to follow it is in their time. */
static void distances(Scene *a, Scene *b, const Setup *setup) {
  enum { PLACES = 100 };
  pnFclQuery *rival[2] = {pn_fclOpen(&a->arrays), pn_fclOpen(&b->arrays)};
  pnMatrix places[PLACES];
  double found[PLACES] = {0}, worst = 0;
  Column ours = {"pinch", {0}}, theirs = {"FCL", {0}};
  for (int i = 0; i < PLACES; ++i) {
    float away[3], length = 0;
    for (int k = 0; k < 3; ++k) away[k] = between(-1, 1), length += away[k] * away[k];
    length = between(2.2, 3.5) / sqrtf(length);
    places[i] = pnMatrix_Identity();
    places[i].m[0][0] = places[i].m[1][1] = 0.6f, places[i].m[0][1] = -0.8f, places[i].m[1][0] = 0.8f;
    for (int k = 0; k < 3; ++k) places[i].m[k][3] = away[k] * length;
  }
  pnTreePair pair = {a->tree, b->tree};
  for (int pass = -1; pass < setup->passes; ++pass) {
    int at = pass < 0 ? 0 : pass;
    double t0 = pn_threadTime();
    for (int i = 0; i < PLACES; ++i) {
      pnDistance one;
      check(pnPose_SetTransform(b->pose, &places[i]));
      check(pnFindDistances(&pair, 1, NULL, &one));
      found[i] = one.distance;
    }
    double t1 = pn_threadTime();
    for (int i = 0; i < PLACES; ++i) {
      pnVec3 onA, onB;
      double d = pn_fclDistance(rival[0], rival[1], &places[i], &onA, &onB);
      worst = fmax(worst, fabs(fmax(d, 0) - found[i]));
    }
    double t2 = pn_threadTime();
    ours.time[at] = t1 - t0, theirs.time[at] = t2 - t1;
  }
  printRow(a->name, "distance", &ours, &theirs, setup, PLACES);
  printf("%-10s distances differ by %.1e\n", a->name, worst);
  for (int i = 0; i < 2; ++i) pn_fclClose(rival[i]);
}
#endif

/* ---------------------------------------------------------------- */

int main(int argc, char **argv) {
  pn_recordArguments(&argc, argv);
  Setup setup = {.passes = 9, .questions = 20000, .triangles = 20480};
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--passes") == 0) setup.passes = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--questions") == 0) setup.questions = (uint32_t)atoi(argv[i + 1]);
    if (strcmp(argv[i], "--triangles") == 0) setup.triangles = (uint32_t)atoi(argv[i + 1]);
  }
  setup.passes = setup.passes < 1 ? 1 : setup.passes > MOST_PASSES ? MOST_PASSES : setup.passes;
  printf("%-10s %-9s %9s   %-14s %9s   %6s\n", "scene", "question", "pinch ns", "rival", "ns", "ratio");
  static const char *const names[] = {"sphere", "knot", "terrain"};
  for (int i = 0; i < 3; ++i) {
    Scene s = openScene(names[i], setup.triangles);
#ifdef PN_HAVE_EMBREE_QUERY
    beside(&s, &setup);
#endif
#ifdef PN_HAVE_FCL_QUERY
    Scene other = openScene(names[i], setup.triangles);
    distances(&s, &other, &setup);
    closeScene(&other);
#endif
    closeScene(&s);
  }
  return 0;
}
