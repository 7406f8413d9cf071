/* bench_soup.c: soups: the three experiments of [Ganovelli00] beside our own best structures, a million free triangles,
 * primitives that come and go, and an order that wears out.
 *
 *   bench_soup [e8] [e9] [e10] [million] [churn] [wear]  which experiments; all when none is named
 *   bench_soup --frames N                            frames of each figure (default 20); medians are printed
 *   bench_soup --rows FILE                           figures as rows (record.h)
 *
 * Time is what the thread spent on the processor; with two threads, what the clock on the wall says. Answers are compared among the methods: a figure whose number of pairs differs
 * is marked WRONG. E10 is the paper's own question, time for 1000 overlapping pairs of buckets, asked of a textbook octree
 * (octree.h) and of the library's, with three rules for which node to open; the library opens both at once unless told otherwise. */
#include "lab.h"
#include "octree.h"
#include "pinch/collide.h"
#include "pinch/lab.h"
#include "record.h"
#include "scenes.h"
#include "soups.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_FRAMES 200

static uint32_t s_frames = 20;
static pnPool *s_pool; /* two workers, for the rows that say so; null: one thread */

static void check(pnResult result) {
  if (result != PN_OK) {
    fprintf(stderr, "bench_soup: %s\n", pnGetMessage());
    exit(1);
  }
}

static double now(void) {
  struct timespec t;
  clock_gettime(s_pool ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------- the structures */

typedef enum Structure { DIRECT, SORTED, SORTED_BOUND, MORTON, KEPT, REBUILT, REFITTED, STRUCTURES } Structure;
static const char *const s_names[STRUCTURES] = {"alg. 1", "alg. 2",       "alg. 2, bound", "morton",
                                                "kept",   "tree rebuilt", "tree refitted"};
static const pnBucketMethod s_methods[STRUCTURES] = {PN_BUCKET_DIRECT, PN_BUCKET_SORTED, PN_BUCKET_SORTED,
                                                     PN_BUCKET_MORTON, PN_BUCKET_KEPT};

/* One structure over a number of triangles: a tree over a soup, or over a mesh in which no two triangles share a vertex. */
typedef struct Index {
  Structure structure;
  pnSoup *soup;
  pnPrimitiveId *ids;
  pnMesh *mesh;
  pnPose *pose;
  pnTree *tree;
} Index;

static bool isSoup(Structure s) {
  return s < REBUILT;
}

static Index makeIndex(Structure structure, const float *positions, uint32_t count, uint32_t levels) {
  Index x = {.structure = structure};
  if (isSoup(structure)) {
    pnSoupDef sd = pnDefaultSoupDef();
    sd.capacity = count;
    check(pnCreateSoup(&sd, &x.soup));
    x.ids = malloc(sizeof(pnPrimitiveId) * count);
    check(pnSoup_Add(x.soup, PN_PRIMITIVE_TRIANGLE, positions, count, x.ids));
    pnBucketDef bd = pnDefaultBucketDef();
    pnTreeLab bdLab = {0};
    bd.lab = &bdLab;
    bd.soup = x.soup;
    bdLab.method = s_methods[structure];
    bdLab.levels = levels;
    bdLab.mostMoves = structure == SORTED ? UINT32_MAX : bdLab.mostMoves;
    check(pnCreateBucketTree(&bd, &x.tree));
    return x;
  }
  uint32_t *triangles = malloc(sizeof(uint32_t) * 3 * count);
  for (uint32_t i = 0; i < 3 * count; ++i) triangles[i] = i;
  pnMeshDef md = pnDefaultMeshDef();
  md.vertices = positions;
  md.vertexCount = 3 * count;
  md.triangles = triangles;
  md.triangleCount = count;
  md.weld = false;
  check(pnCreateMesh(&md, &x.mesh));
  free(triangles);
  pnPoseDef pd = pnDefaultPoseDef();
  pd.mesh = x.mesh;
  check(pnCreatePose(&pd, &x.pose));
  pnTreeDef td = pnDefaultTreeDef();
  td.pose = x.pose;
  td.self = true;
  check(pnCreateTree(&td, &x.tree));
  return x;
}

static void freeIndex(Index *x) {
  pnDestroyTree(x->tree);
  pnDestroySoup(x->soup);
  pnDestroyPose(x->pose);
  pnDestroyMesh(x->mesh);
  free(x->ids);
}

/* New positions; not timed: every structure copies them. */
static void moveIndex(Index *x, const float *positions, uint32_t count) {
  if (x->soup) check(pnSoup_SetAll(x->soup, positions, count));
  else check(pnPose_SetVertices(x->pose, positions, 3 * count));
}

static double timeUpdate(Index *x) {
  pnTasks tasks = s_pool ? pnPool_GetTasks(s_pool) : (pnTasks){0};
  double start = now();
  check(x->structure == REBUILT ? pnTree_Rebuild(x->tree) : pnTree_Update(x->tree, &tasks));
  return now() - start;
}

/* ---------------------------------------------------------------- E8, E9: updates */

/* What a run of updates cost: medians. */
typedef struct Updates {
  double update, place; /* ms; of these, finding the buckets */
  double moves;         /* of insertion sort, a primitive */
} Updates;

static Updates updatesOf(Structure structure, uint32_t count, float angle, uint32_t levels) {
  pnSoupScene *scene = pnCreateSoupScene(count, 0.02f, angle, 0.01f, 1);
  Index x = makeIndex(structure, scene->positions, count, levels);
  double times[MOST_FRAMES], places[MOST_FRAMES], moves = 0;
  for (uint32_t f = 0; f < s_frames; ++f) {
    pnSoupScene_Step(scene);
    moveIndex(&x, scene->positions, count);
    times[f] = timeUpdate(&x);
    pnBucketInfo info = pnTree_GetBucketInfo(x.tree);
    places[f] = 1e3 * info.placeSeconds;
    moves += (double)info.moves / count / s_frames;
  }
  freeIndex(&x);
  pnDestroySoupScene(scene);
  return (Updates){pn_labMedian(times, s_frames), pn_labMedian(places, s_frames), moves};
}

static void runE8(void) {
  static const uint32_t counts[] = {1000, 5000, 15000, 50000};
  static const float angles[] = {0, 10, 45, 180};
  static Updates kept[STRUCTURES][4][4];
  printf("\nE8  update, ms, 4 levels; angle 0 is rigid motion, 180 no coherence\n%-14s", "");
  for (int c = 0; c < 4; ++c) printf("   | %5u:   0     10     45    180", counts[c]);
  printf("\n");
  for (int s = 0; s < STRUCTURES; ++s) {
    printf("%-14s", s_names[s]);
    for (int c = 0; c < 4; ++c) {
      printf("   | ");
      char scene[32];
      snprintf(scene, sizeof scene, "soup-%u", counts[c]);
      pn_recordScene("e8", scene);
      for (int a = 0; a < 4; ++a) {
        Updates u = kept[s][c][a] = updatesOf((Structure)s, counts[c], angles[a], 4);
        printf(" %6.3f", u.update);
        fflush(stdout);
        pn_recordStep(s_names[s], "update ms by angle", angles[a], u.update);
        if (s <= SORTED) {
          pn_recordStep(s_names[s], "place ns by angle", angles[a], 1e6 * u.place / counts[c]);
          pn_recordStep(s_names[s], "moves by angle", angles[a], u.moves);
        }
      }
    }
    printf("\n");
  }
  printf("finding the buckets alone, ns a primitive (moves of insertion sort a primitive, over three axes)\n");
  for (int s = DIRECT; s <= SORTED; ++s) {
    printf("%-14s", s_names[s]);
    for (int c = 0; c < 4; ++c) {
      printf("   |");
      for (int a = 0; a < 4; ++a) printf(" %5.1f (%4.1f)", 1e6 * kept[s][c][a].place / counts[c], kept[s][c][a].moves);
    }
    printf("\n");
  }
}

static void runE9(void) {
  printf(
      "\nE9  update, ms, 15000 primitives, angle 10, by levels\n%-14s      1      2      3      4      5      6      "
      "7\n",
      "");
  pn_recordScene("e9", "soup-15000");
  for (int s = DIRECT; s <= SORTED; ++s) {
    printf("%-14s", s_names[s]);
    for (uint32_t levels = 1; levels <= 7; ++levels) {
      double update = updatesOf((Structure)s, 15000, 10, levels).update;
      printf(" %6.3f", update);
      fflush(stdout);
      pn_recordStep(s_names[s], "update ms by levels", levels, update);
    }
    printf("\n");
  }
}

/* ---------------------------------------------------------------- E10: which of two nodes to open */

/* The same rules in the library's octree of buckets: boxes tested, eight at a time, for each pair of buckets that overlap. */
static void runE10Library(const pnSoupScene *a, const pnSoupScene *b) {
  static const struct {
    const char *name;
    pnOpen open;
  } rules[] = {{"library, the smaller (paper)", PN_OPEN_SMALLER},
               {"library, the larger", PN_OPEN_LARGER},
               {"library, both", PN_OPEN_DEFAULT}};
  printf("the library's octree, alg. 1: microseconds for a pair of buckets that overlap (box tests a pair)\n");
  for (int r = 0; r < 3; ++r) {
    printf("%-26s", rules[r].name);
    for (uint32_t levels = 3; levels <= 5; ++levels) {
      Index x = makeIndex(DIRECT, a->positions, a->count, levels),
            y = makeIndex(DIRECT, b->positions, b->count, levels);
      pnQueryDef query = pnDefaultQueryDef();
      query.lab = &(pnQueryLab){.open = rules[r].open};
      double times[MOST_FRAMES];
      pnCost cost;
      for (uint32_t f = 0; f < s_frames; ++f) {
        double start = now();
        check(pnCollideTrees(x.tree, y.tree, &query, NULL, &cost));
        times[f] = now() - start;
      }
      double time = pn_labMedian(times, s_frames), each = (double)cost.volumeTests / (double)cost.leafPairs;
      printf("    %7.4f (%5.1f)", 1000 * time / (double)cost.leafPairs, each);
      pn_recordStep(rules[r].name, "all ms by levels and rule", levels, time);
      pn_recordStep(rules[r].name, "overlapping buckets by levels", levels, (double)cost.leafPairs);
      pn_recordStep(rules[r].name, "box tests a pair by levels", levels, each);
      freeIndex(&x);
      freeIndex(&y);
    }
    printf("\n");
  }
}

static void runE10(void) {
  static const char *const rules[] = {"open the smaller (paper)", "open the larger", "open both"};
  printf(
      "\nE10  two soups of 15000, one moved by half its side: time for 1000 overlapping pairs of buckets, ms (box "
      "tests a pair)\n");
  printf("%-26s %18s %18s %18s\n", "levels", "3", "4", "5");
  pnSoupScene *a = pnCreateSoupScene(15000, 0.02f, 0, 0, 1), *b = pnCreateSoupScene(15000, 0.02f, 0, 0, 2);
  for (uint32_t i = 0; i < 9 * b->count; ++i) b->positions[i] += i % 3 == 0 ? 1.0f : 0.1f;
  pn_recordScene("e10", "soup-15000");
  for (uint32_t levels = 3; levels <= 5; ++levels) {
    /* Table 1 of the paper: milliseconds on its machine */
    static const double paper[] = {95, 325, 684};
    pn_recordStep("the paper", "ms by levels", levels, paper[levels - 3]);
  }
  for (int r = 0; r < 3; ++r) {
    printf("%-26s", rules[r]);
    for (uint32_t levels = 3; levels <= 5; ++levels) {
      pnLabOctree p = pn_labMakeOctree(a->positions, a->count, levels),
                  q = pn_labMakeOctree(b->positions, b->count, levels);
      double times[MOST_FRAMES];
      for (uint32_t f = 0; f < s_frames; ++f) {
        double start = now();
        pn_labVisitOctrees(&p, &q, (pnLabOctreeRule)r);
        times[f] = now() - start;
      }
      double time = pn_labMedian(times, s_frames), each = (double)p.tests / (double)p.hits;
      printf("    %7.4f (%5.1f)", 1000 * time / (double)p.hits, each);
      pn_recordStep(rules[r], "ms by levels", levels, time);
      pn_recordStep(rules[r], "overlapping buckets by levels", levels, (double)p.hits);
      pn_recordStep(rules[r], "box tests a pair by levels", levels, each);
      pn_labFreeOctree(&p);
      pn_labFreeOctree(&q);
    }
    printf("\n");
  }
  runE10Library(a, b);
  /* the whole question by the library: exact pairs of triangles */
  printf("all pairs of triangles, ms, update not included:\n");
  size_t truth = 0;
  for (int s = 0; s < STRUCTURES; ++s) {
    printf("%-26s", s_names[s]);
    for (uint32_t levels = 3; levels <= (s <= SORTED_BOUND ? 5u : 3u); ++levels) {
      Index x = makeIndex((Structure)s, a->positions, a->count, levels),
            y = makeIndex((Structure)s, b->positions, b->count, levels);
      double times[MOST_FRAMES];
      pnCost cost;
      for (uint32_t f = 0; f < s_frames; ++f) {
        double start = now();
        check(pnCollideTrees(x.tree, y.tree, NULL, NULL, &cost));
        times[f] = now() - start;
      }
      truth = truth ? truth : cost.pairs;
      double time = pn_labMedian(times, s_frames);
      printf("    %7.4f %-6s ", time, truth == cost.pairs ? "" : "WRONG");
      pn_recordStep(s_names[s], "all ms by levels", levels, time);
      pn_recordStep(s_names[s], "volume tests by levels", levels, (double)cost.volumeTests);
      pn_recordStep(s_names[s], "wrong frames", levels, truth == cost.pairs ? 0 : 1);
      freeIndex(&x);
      freeIndex(&y);
    }
    printf("\n");
  }
  pnDestroySoupScene(a);
  pnDestroySoupScene(b);
}

/* ---------------------------------------------------------------- a million */

/* The triangles of one body of a scene in one frame, corner by corner. */
static void unfold(pnScene *scene, uint32_t body, uint32_t frame, float *vertices, float *out) {
  check(pnScene_Frame(scene, frame, body, vertices));
  const uint32_t *t = pnScene_GetTriangles(scene, body);
  for (size_t i = 0; i < 3 * (size_t)pnScene_GetTriangleCount(scene, body); ++i)
    memcpy(out + 3 * i, vertices + 3 * (size_t)t[i], 3 * sizeof(float));
}

typedef struct Figure {
  double set[MOST_FRAMES], update[MOST_FRAMES], all[MOST_FRAMES];
  size_t pairs, bytes;
} Figure;

static void printFigure(const char *name, Figure *f, uint32_t frames, double triangles) {
  double update = pn_labMedian(f->update, frames), all = pn_labMedian(f->all, frames);
  pn_record(name, "update ms", update);
  pn_record(name, "all ms", all);
  pn_record(name, "ns a triangle", 1e6 * (update + all) / triangles);
  pn_record(name, "bytes a triangle", (double)f->bytes / triangles);
  printf("%-24s %9.2f %9.2f %9.2f %9.2f %10.1f %10zu %8.1f\n", name, pn_labMedian(f->set, frames), update, all,
         update + all, 1e6 * (update + all) / triangles, f->pairs, (double)f->bytes / triangles);
}

/* S1 of 2 * 524288 triangles, frame by frame. */
typedef struct Million {
  pnScene *scene;
  uint32_t triangles, vertexCount, first, frames;
  float *vertices[2], *corners[2];
} Million;

/* The triangles of both bodies in frame f. */
static void loadFrame(Million *m, uint32_t f) {
  for (int b = 0; b < 2; ++b) unfold(m->scene, (uint32_t)b, m->first + f, m->vertices[b], m->corners[b]);
}

/* Body b as the mesh that it is: the yardstick. */
static Index makeMeshIndex(const Million *m, uint32_t b) {
  Index x = {.structure = REFITTED};
  pnMeshDef md = pnDefaultMeshDef();
  md.vertices = m->vertices[b];
  md.vertexCount = m->vertexCount;
  md.triangles = pnScene_GetTriangles(m->scene, b);
  md.triangleCount = m->triangles;
  check(pnCreateMesh(&md, &x.mesh));
  pnPoseDef pd = pnDefaultPoseDef();
  pd.mesh = x.mesh;
  check(pnCreatePose(&pd, &x.pose));
  pnTreeDef td = pnDefaultTreeDef();
  td.pose = x.pose;
  td.self = false;
  check(pnCreateTree(&td, &x.tree));
  return x;
}

/* One row: both bodies by one structure, -1 the meshes. */
static void runMillionRow(Million *m, int s, const char *name) {
  static Figure figure;
  Index x[2];
  loadFrame(m, 0);
  for (uint32_t b = 0; b < 2; ++b)
    x[b] = s < 0 ? makeMeshIndex(m, b) : makeIndex((Structure)s, m->corners[b], m->triangles, 0);
  pnQueryDef query = pnDefaultQueryDef();
  query.tasks = s_pool ? pnPool_GetTasks(s_pool) : query.tasks;
  figure.pairs = figure.bytes = 0;
  for (uint32_t f = 0; f < m->frames; ++f) {
    loadFrame(m, f);
    double start = now();
    for (int b = 0; b < 2; ++b)
      if (s < 0) check(pnPose_SetVertices(x[b].pose, m->vertices[b], m->vertexCount));
      else moveIndex(&x[b], m->corners[b], m->triangles);
    figure.set[f] = now() - start;
    figure.update[f] = timeUpdate(&x[0]) + timeUpdate(&x[1]);
    pnCost cost;
    start = now();
    check(pnCollideTrees(x[0].tree, x[1].tree, &query, NULL, &cost));
    figure.all[f] = now() - start;
    figure.pairs += cost.pairs;
  }
  for (int b = 0; b < 2; ++b) {
    figure.bytes += pnTree_GetByteCount(x[b].tree) + (s >= 0 ? pnSoup_GetByteCount(x[b].soup) : 12 * m->vertexCount);
    freeIndex(&x[b]);
  }
  printFigure(name, &figure, m->frames, 2.0 * m->triangles);
}

static void runMillion(void) {
  Million m;
  pnSceneDef sd = pnDefaultSceneDef();
  sd.name = "s1-524288";
  check(pnCreateScene(&sd, &m.scene));
  uint32_t frames = pnScene_GetFrameCount(m.scene);
  m.triangles = pnScene_GetTriangleCount(m.scene, 0);
  m.vertexCount = pnScene_GetVertexCount(m.scene, 0);
  m.frames = frames > s_frames ? s_frames : frames;
  m.first = frames - m.frames;
  for (int b = 0; b < 2; ++b) {
    m.vertices[b] = malloc(sizeof(float) * (3 * (size_t)m.vertexCount + 1));
    m.corners[b] = malloc(sizeof(float) * 9 * m.triangles);
  }
  printf(
      "\nMillion  s1-%u: %u triangles, the last %u frames; ms; ns and bytes a triangle (soup and index, or pose and "
      "tree); both: update and all\n",
      m.triangles, 2 * m.triangles, m.frames);
  printf("%-24s %9s %9s %9s %9s %10s %10s %8s\n", "", "set", "update", "all", "both", "ns/tri", "pairs", "bytes");
  pn_recordScene("million", "s1-524288");
  runMillionRow(&m, -1, "meshes (hybrid)");
  runMillionRow(&m, KEPT, s_names[KEPT]);
  runMillionRow(&m, MORTON, s_names[MORTON]);
  runMillionRow(&m, DIRECT, s_names[DIRECT]);
  check(pnCreatePool(2, &s_pool));
  runMillionRow(&m, -1, "meshes, two threads");
  runMillionRow(&m, KEPT, "kept, two threads");
  pnDestroyPool(s_pool);
  s_pool = NULL;
  for (int b = 0; b < 2; ++b) {
    free(m.vertices[b]);
    free(m.corners[b]);
  }
  pnDestroyScene(m.scene);
}

/* ---------------------------------------------------------------- coming and going */

/* A soup against itself, all moving, a part of it replaced in every frame: removed and added, or given new corners. */
static void runChurn(void) {
  static const uint32_t percents[] = {0, 1, 10, 50};
  printf(
      "\nChurn  soup against itself, all drift (angle 10), part of it removed and added anew in each frame; ms for "
      "update and all pairs\n%-24s",
      "");
  for (int i = 0; i < 4; ++i) printf("   %3u %%: up.    all   both", percents[i]);
  printf("   worst\n");
  for (int k = 0; k < 2; ++k) {
    uint32_t n = k ? 1000000 : 100000;
    float size = k ? 0.012f : 0.026f;
    for (int s = 0; s < REBUILT; ++s) {
      if (s == SORTED || (k == 1 && s == SORTED_BOUND)) continue;
      printf("%7u  %-15s", n, s_names[s]);
      for (int i = 0; i < 4; ++i) {
        pnSoupScene *scene = pnCreateSoupScene(n, size, 10, 0.002f, 3);
        Index x = makeIndex((Structure)s, scene->positions, n, 0);
        double update[MOST_FRAMES], all[MOST_FRAMES], worst = 0;
        uint32_t part = (uint32_t)((uint64_t)n * percents[i] / 100);
        for (uint32_t f = 0; f < s_frames; ++f) {
          pnSoupScene_Step(scene);
          check(pnSoup_SetAll(x.soup, scene->positions, n));
          uint32_t begin = part ? (uint32_t)((uint64_t)f * part % (n - part + 1)) : 0;
          check(pnSoup_Remove(x.soup, x.ids + begin, part));
          for (uint32_t j = 0; j < part; ++j) {
            /* the last place given up is the first taken */
            uint32_t place = begin + part - 1 - j;
            pnSoupScene_Renew(scene, place, size);
            check(pnSoup_Add(x.soup, PN_PRIMITIVE_TRIANGLE, scene->positions + 9 * (size_t)place, 1, &x.ids[place]));
          }
          update[f] = timeUpdate(&x);
          double start = now();
          check(pnCollideSelf(x.tree, NULL, NULL, NULL));
          all[f] = now() - start;
          worst = fmax(worst, update[f] + all[f]);
        }
        double u = pn_labMedian(update, s_frames), a = pn_labMedian(all, s_frames);
        pn_recordScene("churn", k ? "soup-1000000" : "soup-100000");
        pn_recordStep(s_names[s], "ms by percent", percents[i], u + a);
        pn_recordStep(s_names[s], "worst ms by percent", percents[i], worst);
        printf("    %8.2f %6.2f %6.2f", u, a, u + a);
        if (i == 3) printf(" %7.2f", worst);
        fflush(stdout);
        freeIndex(&x);
        pnDestroySoupScene(scene);
      }
      printf("\n");
    }
  }
}

/* ---------------------------------------------------------------- wear */

#define WEAR_FRAMES 150

/* Everything wanders about, nothing comes or goes: the order wears out and is renewed while it is in use. The dearest frame
 * against the usual one, and the most that one update spent on the order, in passes over a primitive. */
static void runWear(void) {
  printf(
      "\nWear  a soup in which everything wanders (angle 180), %u frames; ms; both: update and all pairs with itself\n"
      "%-24s %9s %9s %9s %9s %9s %9s %9s %9s\n",
      WEAR_FRAMES, "", "up. med.", "worst", "ratio", "both med.", "worst", "ratio", "passes", "tests x");
  for (int k = 0; k < 3; ++k) {
    uint32_t n = k == 0 ? 10000 : k == 1 ? 100000 : 1000000;
    float size = k == 0 ? 0.056f : k == 1 ? 0.026f : 0.012f;
    pnSoupScene *scene = pnCreateSoupScene(n, size, 180, size / 2, 5);
    Index x = makeIndex(KEPT, scene->positions, n, 0);
    double update[WEAR_FRAMES], both[WEAR_FRAMES], worst[2] = {0, 0}, passes = 0, tests[2] = {0, 0};
    for (uint32_t f = 0; f < WEAR_FRAMES; ++f) {
      pnSoupScene_Step(scene);
      moveIndex(&x, scene->positions, n);
      update[f] = timeUpdate(&x);
      pnCost cost;
      double start = now();
      check(pnCollideSelf(x.tree, NULL, NULL, &cost));
      both[f] = update[f] + now() - start;
      worst[0] = fmax(worst[0], update[f]);
      worst[1] = fmax(worst[1], both[f]);
      passes = fmax(passes, (double)pnTree_GetBucketInfo(x.tree).ordered / n);
      tests[f > 0] = fmax(tests[f > 0], (double)cost.volumeTests);
    }
    double u = pn_labMedian(update, WEAR_FRAMES), b = pn_labMedian(both, WEAR_FRAMES);
    pn_recordScene("wear", "soup");
    pn_recordStep(s_names[KEPT], "median ms by size", n, b);
    pn_recordStep(s_names[KEPT], "worst ms by size", n, worst[1]);
    printf("%7u  %-15s %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f\n", n, s_names[KEPT], u, worst[0], worst[0] / u,
           b, worst[1], worst[1] / b, passes, tests[1] / tests[0]);
    fflush(stdout);
    freeIndex(&x);
    pnDestroySoupScene(scene);
  }
}

int main(int argc, char **argv) {
  pn_recordArguments(&argc, argv);
  static const struct {
    const char *name;
    void (*run)(void);
  } experiments[] = {{"e8", runE8},           {"e9", runE9},       {"e10", runE10},
                     {"million", runMillion}, {"churn", runChurn}, {"wear", runWear}};
  bool named = false;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--frames") == 0 && i + 1 < argc) {
      int frames = atoi(argv[++i]);
      s_frames = frames < 1 ? 1 : frames > MOST_FRAMES ? MOST_FRAMES : (uint32_t)frames;
    } else {
      named = true;
    }
  }
  char machine[256];
  pn_labMachine(machine, sizeof machine);
  printf("%s\n", machine);
  for (int e = 0; e < 6; ++e) {
    bool wanted = !named;
    for (int i = 1; i < argc; ++i) wanted = wanted || strcmp(argv[i], experiments[e].name) == 0;
    if (wanted) experiments[e].run();
  }
  return 0;
}
