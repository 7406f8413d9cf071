/* bench_build.c: how long trees take to build, beside Embree's.
 *
 *   bench_build [--threads N] [--passes N] [--rows FILE] [SCENE]...
 *
 * The first body of a scene, as it is in the middle frame: nanoseconds a triangle for a tree that looks at other bodies, one that
 * looks at itself too, a coarse one (PN_BUILD_FAST), and for Embree's user geometries in its qualities. Peers take turns, the least
 * over the passes counts: of processor time on one thread, on the wall with several. "first self" is the first query of the body
 * about itself, which finds what proofs need; in builds of that tree. A query with both trees of two bodies says what a coarse tree
 * costs: leaf pairs that are opened. */
#include "clock.h"
#include "embree_build.h"
#include "lab.h"
#include "record.h"

#include "pinch/collide.h"
#include "pinch/lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OTHERS, SELF, FAST, EMBREE_LOW, EMBREE_MEDIUM, EMBREE_REFIT, KINDS };
static const char *const kindNames[KINDS] = {"pinch",      "pinch:self",    "pinch:fast",
                                             "embree:low", "embree:medium", "embree:refit"};

typedef struct Bench {
  const char *scene;
  uint32_t threads, passes, bodies;
  pnBenchBody body[2];
  float *vertices[2];
  pnMesh *mesh[2];
  pnPose *pose[2];
  pnPool *pool;
  pnTasks tasks;
  double time[KINDS], firstSelf;
} Bench;

static void check(pnResult result) {
  if (result == PN_OK) return;
  fprintf(stderr, "bench_build: %s\n", pnGetMessage());
  exit(1);
}

static double wallTime(void) {
  return pn_clockSeconds(CLOCK_MONOTONIC);
}

/* ---------------------------------------------------------------- a scene */

static bool loadScene(Bench *b) {
  pnScene *scene;
  pnSceneDef def = pnDefaultSceneDef();
  def.name = b->scene;
  if (pnCreateScene(&def, &scene) != PN_OK) {
    fprintf(stderr, "bench_build: %s\n", pnGetMessage());
    return false;
  }
  b->bodies = pnScene_GetBodyCount(scene) > 1 ? 2 : 1;
  for (uint32_t i = 0; i < b->bodies; ++i) {
    pnBenchBody *body = &b->body[i];
    *body = (pnBenchBody){pnScene_GetVertexCount(scene, i), pnScene_GetTriangleCount(scene, i), NULL};
    size_t listBytes = 3 * sizeof(uint32_t) * (size_t)body->triangleCount;
    uint32_t *triangles = malloc(listBytes);
    b->vertices[i] = calloc(3 * (size_t)body->vertexCount + 1, sizeof(float));
    if (!triangles || !b->vertices[i]) exit(1);
    body->triangles = memcpy(triangles, pnScene_GetTriangles(scene, i), listBytes);
    pnScene_Frame(scene, pnScene_GetFrameCount(scene) / 2, i, b->vertices[i]);
    pnMeshDef meshDef = pnDefaultMeshDef();
    meshDef.vertices = b->vertices[i];
    meshDef.vertexCount = body->vertexCount;
    meshDef.triangles = body->triangles;
    meshDef.triangleCount = body->triangleCount;
    meshDef.weld = false;
    check(pnCreateMesh(&meshDef, &b->mesh[i]));
    pnPoseDef poseDef = pnDefaultPoseDef();
    poseDef.mesh = b->mesh[i];
    check(pnCreatePose(&poseDef, &b->pose[i]));
  }
  pnDestroyScene(scene);
  return true;
}

static void freeScene(Bench *b) {
  for (uint32_t i = 0; i < b->bodies; ++i) {
    pnDestroyPose(b->pose[i]);
    pnDestroyMesh(b->mesh[i]);
    free((void *)(uintptr_t)b->body[i].triangles);
    free(b->vertices[i]);
  }
}

/* ---------------------------------------------------------------- builds */

static pnTree *makeTree(const Bench *b, uint32_t body, int kind) {
  pnTreeLab lab = {0};
  pnTreeDef def = pnDefaultTreeDef();
  pnTree *tree;
  def.pose = b->pose[body];
  def.self = kind == SELF;
  lab.build = kind == FAST ? PN_BUILD_FAST : PN_BUILD_DEFAULT;
  def.lab = &lab;
  def.tasks = b->tasks;
  check(pnCreateTree(&def, &tree));
  return tree;
}

/* The first query about itself; the tree is new. */
static double firstSelf(const Bench *b, pnTree *tree, double (*clock)(void)) {
  pnPairList *list;
  pnQueryDef query = pnDefaultQueryDef();
  query.tasks = b->tasks;
  check(pnCreatePairList(&list));
  double start = clock();
  check(pnCollideSelf(tree, &query, list, NULL));
  double time = clock() - start;
  pnDestroyPairList(list);
  return time;
}

static void measure(Bench *b) {
  double (*clock)(void) = b->threads > 1 ? wallTime : pn_threadTime;
  for (int i = 0; i < KINDS; ++i) b->time[i] = INFINITY;
  b->firstSelf = INFINITY;
  for (uint32_t pass = 0; pass < b->passes; ++pass) {
    for (int kind = 0; kind < KINDS; ++kind) {
      double time = INFINITY;
      if (kind < EMBREE_LOW) {
        double start = clock();
        pnTree *tree = makeTree(b, 0, kind);
        time = clock() - start;
        if (kind == SELF) b->firstSelf = fmin(b->firstSelf, firstSelf(b, tree, clock));
        pnDestroyTree(tree);
      } else {
#ifdef PN_HAVE_EMBREE_BUILD
        time = pn_embreeBuild(&b->body[0], b->vertices[0], kind - EMBREE_LOW, b->threads, clock);
#endif
      }
      b->time[kind] = fmin(b->time[kind], time);
    }
  }
}

/* Pairs of leaves that a query of two bodies opens, with trees of one kind. */
static double leafPairs(const Bench *b, int kind) {
  if (b->bodies < 2) return NAN;
  pnTree *x = makeTree(b, 0, kind), *y = makeTree(b, 1, kind);
  pnPairList *list;
  pnQueryDef query = pnDefaultQueryDef();
  check(pnCreatePairList(&list));
  pnCost cost = {0};
  check(pnCollideTrees(x, y, &query, list, &cost));
  pnDestroyPairList(list);
  pnDestroyTree(x);
  pnDestroyTree(y);
  return (double)cost.leafPairs;
}

static void print(const Bench *b) {
  double n = b->body[0].triangleCount;
  printf("\n%s: %u triangles, %u threads\n%-16s %12s %12s %12s\n", b->scene, b->body[0].triangleCount, b->threads,
         "build", "ns/triangle", "first self", "leaf pairs");
  pn_recordScene("build", b->scene);
  for (int kind = 0; kind < KINDS; ++kind) {
    double ns = 1e9 * b->time[kind] / n, pairs = kind < EMBREE_LOW ? leafPairs(b, kind) : NAN;
    if (!isfinite(ns)) continue;
    printf("%-16s %12.0f", kindNames[kind], ns);
    pn_record(kindNames[kind], "ns a triangle", ns);
    if (kind == SELF) {
      printf(" %11.2fx", b->firstSelf / b->time[SELF]);
      pn_record(kindNames[kind], "first self query, builds", b->firstSelf / b->time[SELF]);
    } else {
      printf(" %12s", "");
    }
    if (isfinite(pairs)) printf(" %12.0f", pairs);
    pn_record(kindNames[kind], "leaf pairs", pairs);
    printf("\n");
  }
}

int main(int count, char **words) {
  static const char *const usual[] = {"s1-20480", "s1-327680", "s4", "shuffle", "cloth-ball"};
  const char *scenes[32];
  Bench b = {.threads = 1, .passes = 5};
  uint32_t sceneCount = 0;
  pn_recordArguments(&count, words);
  for (int i = 1; i < count; ++i)
    if (strcmp(words[i], "--threads") == 0 && i + 1 < count) b.threads = (uint32_t)atoi(words[++i]);
    else if (strcmp(words[i], "--passes") == 0 && i + 1 < count) b.passes = (uint32_t)atoi(words[++i]);
    else if (words[i][0] != '-' && sceneCount < 32) scenes[sceneCount++] = words[i];
    else return fprintf(stderr, "bench_build [--threads N] [--passes N] [--rows FILE] [SCENE]...\n"), 2;
  for (size_t i = 0; sceneCount == i && i < sizeof usual / sizeof *usual; ++i) scenes[sceneCount++] = usual[i];
  if (b.threads > 1) {
    check(pnCreatePool(b.threads, &b.pool));
    b.tasks = pnPool_GetTasks(b.pool);
  }
  for (uint32_t i = 0; i < sceneCount; ++i) {
    b.scene = scenes[i];
    if (!loadScene(&b)) continue;
    measure(&b);
    print(&b);
    freeScene(&b);
  }
  if (b.pool) pnDestroyPool(b.pool);
  return 0;
}
