/* test_collide_hub.c: vertices with very many triangles around (tree/hub.h, collide/hub_sweep.h), against every pair of triangles by
 * exact predicates; and that work and memory grow with the triangles and not with their square. */
#include "support.h"

#include "pinch/collide.h"
#include "tree/hub.h"
#include "tree/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_VERTICES 4096u
#define MOST_TRIANGLES 4096u

static TestRandom dice;

/* A mesh in the making. */
typedef struct Draft {
  uint32_t vertices, triangles;
  float position[3 * MOST_VERTICES];
  uint32_t index[3 * MOST_TRIANGLES];
} Draft;

static uint32_t vertex(Draft *d, double x, double y, double z) {
  float *p = d->position + 3 * d->vertices;
  assert_true(d->vertices < MOST_VERTICES);
  p[0] = (float)x, p[1] = (float)y, p[2] = (float)z;
  return d->vertices++;
}

static void triangle(Draft *d, uint32_t a, uint32_t b, uint32_t c) {
  assert_true(d->triangles < MOST_TRIANGLES);
  memcpy(d->index + 3 * d->triangles++, (uint32_t[3]){a, b, c}, 3 * sizeof(uint32_t));
}

static float uniform(float low, float high) {
  return testFloat(&dice, low, high);
}

/* ---------------------------------------------------------------- shapes */

/* n triangles around `apex`, closed; `turns` around, `rise` high, shaken; on a grid of `step` when that is not 0. Returns the first
 * vertex of the rim. */
static uint32_t cone(Draft *d, uint32_t apex, uint32_t n, double turns, double rise, double shake, double step) {
  uint32_t rim = d->vertices;
  const float *o = d->position + 3 * apex;
  for (uint32_t i = 0; i < n; ++i) {
    double a = 6.283185307179586 * turns * i / n, p[3] = {cos(a), sin(a), rise};
    for (int k = 0; k < 3; ++k) {
      p[k] += (double)o[k] + shake * (double)uniform(-1, 1);
      p[k] = step > 0 ? step * round(p[k] / step) : p[k];
    }
    vertex(d, p[0], p[1], p[2]);
  }
  for (uint32_t i = 0; i < n; ++i) triangle(d, apex, rim + i, rim + (i + 1) % n);
  return rim;
}

/* n triangles around `apex` that have nothing else in common, anywhere, on a grid when `step` is not 0. */
static void hedgehog(Draft *d, uint32_t apex, uint32_t n, double width, double step) {
  for (uint32_t i = 0; i < n; ++i) {
    double p[2][3];
    for (int k = 0; k < 3; ++k) {
      p[0][k] = (double)uniform(-1, 1);
      p[1][k] = p[0][k] + width * (double)uniform(-1, 1);
      for (int e = 0; step > 0 && e < 2; ++e) p[e][k] = step * round(p[e][k] / step);
    }
    uint32_t a = vertex(d, p[0][0], p[0][1], p[0][2]), b = vertex(d, p[1][0], p[1][1], p[1][2]);
    triangle(d, apex, a, b);
  }
}

static void oneCone(Draft *d) {
  cone(d, vertex(d, 0, 0, 0), 400, 1, 1, 0, 0);
}
static void cap(Draft *d) {
  cone(d, vertex(d, 1, 2, 3), 400, 1, 0, 0, 0);
}
static void twoCones(Draft *d) {
  uint32_t apex = vertex(d, 0, 0, 0);
  cone(d, apex, 300, 1, 1, 0, 0);
  cone(d, apex, 300, 1, -1, 0, 0);
}
static void woundTwice(Draft *d) {
  cone(d, vertex(d, 0, 0, 0), 300, 2, 0.3, 0, 0);
}
static void crumpled(Draft *d) {
  cone(d, vertex(d, 0, 0, 0), 350, 1, 0.2, 0.3, 0);
}
static void onAGrid(Draft *d) {
  cone(d, vertex(d, 0, 0, 0), 350, 1, 0, 0.3, 0.125);
}
static void thin(Draft *d) {
  hedgehog(d, vertex(d, 0.5, 0.25, 0), 500, 0.02, 0);
}
static void wide(Draft *d) {
  hedgehog(d, vertex(d, 0, 0, 0), 300, 2, 0);
}
/* Many in one plane, without area, over each other, opposite directions, corners at the apex. */
static void coarse(Draft *d) {
  hedgehog(d, vertex(d, 0, 0, 0), 300, 2, 0.5);
}
/* Pages of a book: all share an edge. */
static void book(Draft *d) {
  uint32_t a = vertex(d, 0, 0, 0), b = vertex(d, 0, 0, 1);
  for (uint32_t i = 0; i < 300; ++i) {
    double angle = 6.283185307179586 * (i % 280) / 280;
    triangle(d, a, b, vertex(d, (1 + 0.01 * (i / 280)) * cos(angle), sin(angle), 0.5));
  }
}
/* Corners twice, and triangles that are one point. */
static void degenerate(Draft *d) {
  uint32_t apex = vertex(d, 0, 0, 0), rim = cone(d, apex, 300, 1, 1, 0, 0);
  for (uint32_t i = 0; i < 6; ++i) {
    triangle(d, apex, apex, rim + i);
    triangle(d, apex, rim + i, rim + i);
    triangle(d, apex, apex, apex);
  }
  triangle(d, apex, vertex(d, 0, 0, 0), vertex(d, 0, 0, 0));
}
static void copies(Draft *d) {
  uint32_t a = vertex(d, 0, 0, 0), b = vertex(d, 1, 0, 0), c = vertex(d, 0, 1, 0);
  for (uint32_t i = 0; i < 270; ++i) triangle(d, a, b, c);
}
/* Two hubs on one rim, a third on half of it, a wall below that goes through them, and hubs that share many. */
static void drum(Draft *d) {
  uint32_t n = 300, top = vertex(d, 0, 0, 1), bottom = vertex(d, 0, 0, -0.2), rim = cone(d, top, n, 1, 0, 0.01, 0);
  uint32_t side = vertex(d, 3, 0, 0);
  for (uint32_t i = 0; i < n; ++i) {
    triangle(d, bottom, rim + (i + 1) % n, rim + i);
    if (i < 270) triangle(d, side, rim + i, rim + i + 1);
  }
  for (uint32_t i = 0; i < 12; ++i) {
    uint32_t a = vertex(d, -1.5 + 0.25 * i, -2, 0.9), b = vertex(d, -1.4 + 0.25 * i, 2, 0.95);
    triangle(d, a, b, vertex(d, -1.3 + 0.25 * i, 0, 2));
  }
}
/* Five hubs among many others. */
static void among(Draft *d) {
  for (uint32_t h = 0; h < 5; ++h) cone(d, vertex(d, 0.7 * h, 0, 0), 260 + h, 1, 0.1, 0.01, 0);
  for (uint32_t i = 0; i < 400; ++i) {
    double x = (double)uniform(-1, 4), y = (double)uniform(-1, 1), z = (double)uniform(-1, 1);
    uint32_t a = vertex(d, x, y, z), b = vertex(d, x + 0.1, y, z);
    triangle(d, a, b, vertex(d, x, y + 0.1, z + 0.1));
  }
}
/* Tiny and huge at once, and far away. */
static void extreme(Draft *d) {
  uint32_t apex = vertex(d, 1e6, 1, -1e-6);
  for (uint32_t i = 0; i < 300; ++i) {
    uint32_t a = d->vertices;
    for (int e = 0; e < 2; ++e) {
      double s = ldexp(1, (int)testBelow(&dice, 40) - 20);
      vertex(d, 1e6 + s * (double)uniform(-1, 1), s * (double)uniform(-1, 1), s * (double)uniform(-1, 1));
    }
    triangle(d, apex, a, a + 1);
  }
}

typedef void MakeFcn(Draft *d);
static MakeFcn *const s_make[] = {oneCone, cap,  twoCones,   woundTwice, crumpled, onAGrid, thin,   wide,
                                  coarse,  book, degenerate, copies,     drum,     among,   extreme};
#define SHAPES (sizeof s_make / sizeof *s_make)

/* ---------------------------------------------------------------- against all pairs */

typedef struct Subject {
  pnMesh *mesh;
  pnPose *pose;
  pnPairList *truth, *found;
} Subject;

static Subject begin(const Draft *d) {
  Subject s;
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = d->position;
  def.vertexCount = d->vertices;
  def.triangles = d->index;
  def.triangleCount = d->triangles;
  testExpectOk(pnCreateMesh(&def, &s.mesh));
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = s.mesh;
  testExpectOk(pnCreatePose(&poseDef, &s.pose));
  testExpectOk(pnCreatePairList(&s.truth));
  testExpectOk(pnCreatePairList(&s.found));
  return s;
}

static void end(Subject *s) {
  pnDestroyPairList(s->truth);
  pnDestroyPairList(s->found);
  pnDestroyPose(s->pose);
  pnDestroyMesh(s->mesh);
}

static void expectTruth(const Subject *s) {
  assert_int_equal(pnPairList_GetCount(s->found), pnPairList_GetCount(s->truth));
  if (pnPairList_GetCount(s->truth) > 0) {
    assert_memory_equal(pnPairList_GetPairs(s->found), pnPairList_GetPairs(s->truth),
                        pnPairList_GetCount(s->truth) * sizeof(pnPair));
  }
}

/* All, and a first one, by one tree. */
static void ask(Subject *s, const pnTreeDef *treeDef, const pnTasks *tasks) {
  pnTreeDef def = *treeDef;
  pnTree *tree;
  def.pose = s->pose;
  def.self = true;
  testExpectOk(pnCreateTree(&def, &tree));
  assert_true(tree->shape->hubCount > 0);
  testExpectOk(pnTree_Validate(tree));
  pnQueryDef query = pnDefaultQueryDef();
  query.tasks = *tasks;
  testExpectOk(pnCollideSelf(tree, &query, s->found, NULL));
  expectTruth(s);
  query.first = true;
  testExpectOk(pnCollideSelf(tree, &query, s->found, NULL));
  assert_int_equal(pnPairList_GetCount(s->found), pnPairList_GetCount(s->truth) > 0);
  if (pnPairList_GetCount(s->found) > 0) {
    pnPair pair = *pnPairList_GetPairs(s->found);
    bool known = false;
    for (size_t i = 0; i < pnPairList_GetCount(s->truth); ++i) {
      const pnPair *p = &pnPairList_GetPairs(s->truth)[i];
      known = known || (p->a == pair.a && p->b == pair.b);
    }
    assert_true(known);
  }
  pnDestroyTree(tree);
}

static void askAll(Subject *s, uint32_t seed, const pnTasks *tasks) {
  testExpectOk(pnCollideBrute(s->pose, s->pose, NULL, s->truth));
  for (uint32_t k = 0; k < 4; ++k) {
    pnTreeDef def = pnDefaultTreeDef();
    pnTreeLab lab = {0};
    def.lab = &lab;
    if (k > 0) {
      lab.build = (pnBuild)((seed + k) % PN_BUILD_COUNT);
      lab.form = (pnForm)((seed + 2 * k) % TEST_FORM_COUNT);
      lab.arity = k == 1 ? 2 : k == 2 ? 4 : 8;
      lab.leafSize = k == 1 ? 1 : 8;
    }
    ask(s, &def, k % 2 ? tasks : &(pnTasks){0});
  }
}

static void agreesWithAllPairs(void **state) {
  (void)state;
  static Draft d;
  pnPool *pool;
  testExpectOk(pnCreatePool(3, &pool));
  pnTasks tasks = pnPool_GetTasks(pool);
  size_t pairs = 0;
  for (uint32_t i = 0; i < SHAPES; ++i) {
    d.vertices = d.triangles = 0;
    dice = testRandom(i);
    s_make[i](&d);
    Subject s = begin(&d);
    askAll(&s, i, &tasks);
    pairs += pnPairList_GetCount(s.truth);
    end(&s);
  }
  print_message("  %zu pairs\n", pairs);
  assert_true(pairs > 10000);
  pnDestroyPool(pool);
}

/* Every triangle has corners of its own, which are welded at the apex: some come away, and meet others elsewhere. */
static void seamsOpen(void **state) {
  (void)state;
  enum { N = 300 };
  float moved[9 * N];
  static Draft d;
  d.vertices = d.triangles = 0;
  dice = testRandom(77);
  for (uint32_t i = 0; i < N; ++i) {
    double a = 6.283185307179586 * i / N, b = 6.283185307179586 * (i + 1) / N;
    uint32_t apex = vertex(&d, 0, 0, 0), p = vertex(&d, cos(a), sin(a), 0.5);
    triangle(&d, apex, p, vertex(&d, cos(b), sin(b), 0.5));
  }
  Subject s = begin(&d);
  for (uint32_t round = 0; round < 4; ++round) {
    memcpy(moved, d.position, sizeof moved);
    for (uint32_t i = 0; i < (round == 3 ? N : 20 * round); ++i)
      for (int k = 0; k < 3; ++k) moved[9 * testBelow(&dice, N) + (uint32_t)k] += uniform(-0.5f, 0.5f);
    testExpectOk(pnPose_SetVertices(s.pose, moved, 3 * N));
    askAll(&s, round, &(pnTasks){0});
    assert_true(round == 0 || pnPairList_GetCount(s.truth) > 0);
  }
  end(&s);
}

/* ---------------------------------------------------------------- directions at the edge of their boxes */

typedef struct Ray {
  double x[3];
} Ray;

/* Two triangles around vertex 0: one between p and q, one that begins at r and goes on outward from there. Axes and signs at
 * random, so that each comes to be first. */
static void touch(Draft *d, Ray p, Ray q, Ray r, Ray outward) {
  uint32_t turn = testBelow(&dice, 3), first = d->vertices;
  const Ray *rays[4] = {&p, &q, &r, &outward};
  double sign[3];
  for (int k = 0; k < 3; ++k) sign[k] = testBelow(&dice, 2) ? 1 : -1;
  for (int i = 0; i < 4; ++i) {
    const double *x = rays[i]->x;
    vertex(d, sign[0] * x[turn], sign[1] * x[(turn + 1) % 3], sign[2] * x[(turn + 2) % 3]);
  }
  triangle(d, 0, first, first + 1);
  triangle(d, 0, first + 2, first + 3);
}

static double whole(uint32_t below) {
  return testBelow(&dice, below);
}

/* p and q nearly opposite, so that they bend at a point r that is exactly between them: with q = e - p, and k the coordinate that
 * is 0 there, r = e p_k - p e_k. The other begins at r and leads away in a coordinate that is largest at the bend. */
static bool bendOnce(Draft *d) {
  Ray p, q, r, out;
  for (int k = 0; k < 3; ++k) p.x[k] = (whole(1u << 22) + 8) * (testBelow(&dice, 2) ? 1 : -1);
  double e[3] = {p.x[0] > 0 ? 1 : -1, whole(3) - 1, whole(3) - 1};
  double sp = 0, sq = 0, sr = 0;
  for (int k = 0; k < 3; ++k) {
    q.x[k] = e[k] - p.x[k];
    r.x[k] = e[k] * p.x[0] - p.x[k] * e[0];
    r.x[k] *= p.x[0] > 0 ? 1 : -1; /* p |q_0| + q |p_0| */
    sp += fabs(p.x[k]), sq += fabs(q.x[k]), sr += fabs(r.x[k]);
  }
  for (int k = 1; k < 3 && sr > 0; ++k) {
    double most = fmax(fabs(p.x[k]) / sp, fabs(q.x[k]) / sq);
    if (fabs(r.x[k]) / sr > most && fabs(r.x[k]) < sr) {
      out = r;
      out.x[k] *= 2;
      touch(d, p, q, r, out);
      return true;
    }
  }
  return false;
}

/* Fractions a/b and c/e beside each other, c b - a e = 1: p = (c, c + e, e) and q = -(a, a + b, b) are opposite but for an angle
 * of one in some 2^46, and between them, where the first coordinate is 0, is exactly a p + c q = (0, -1, -1). */
static bool flatOnce(Draft *d) {
  int64_t a = 0, b = 1, c = 1, e = 0; /* walk down the tree of fractions */
  while (a + c < 1 << 23 && b + e < 1 << 23) {
    int64_t na = a + c, nb = b + e;
    if (testBelow(&dice, 2)) a = na, b = nb;
    else c = na, e = nb;
  }
  Ray p = {{(double)c, (double)(c + e), (double)e}}, q = {{-(double)a, -(double)(a + b), -(double)b}};
  Ray r = {{0, -1, -1}}, out = {{0, -1, -2}};
  if (a == 0 || e == 0) return false;
  touch(d, p, q, r, out);
  return true;
}

/* Every second triangle meets the one before it, in one direction and no more. */
static void directionsAtTheirEdges(void **state) {
  (void)state;
  static Draft d;
  dice = testRandom(99);
  for (uint32_t round = 0; round < 60; ++round) {
    d.vertices = d.triangles = 0;
    vertex(&d, 0, 0, 0);
    while (d.triangles < 300) (void)(round % 2 ? flatOnce(&d) : bendOnce(&d));
    Subject s = begin(&d);
    pnTreeDef def = pnDefaultTreeDef();
    pnTree *tree;
    def.pose = s.pose;
    def.self = true;
    testExpectOk(pnCreateTree(&def, &tree));
    testExpectOk(pnCollideSelf(tree, NULL, s.found, NULL));
    uint32_t met = 0;
    for (size_t i = 0; i < pnPairList_GetCount(s.found); ++i) {
      pnPair pair = pnPairList_GetPairs(s.found)[i];
      met += pair.a % 2 == 0 && pair.b == pair.a + 1;
    }
    assert_int_equal(met, d.triangles / 2);
    pnDestroyTree(tree);
    end(&s);
  }
}

/* ---------------------------------------------------------------- the cost */

/* A book of so many pages. */
static void pages(Draft *d, uint32_t count) {
  uint32_t a = vertex(d, 0, 0, 0), b = vertex(d, 0.1, 0.2, 1);
  for (uint32_t i = 0; i < count; ++i) {
    double angle = 6.283185307179586 * i / count;
    triangle(d, a, b, vertex(d, cos(angle), sin(angle), 0.5));
  }
}

/* Cones and books of 1000 and of 4000 triangles: four times the work and the memory, and a little. */
static void costOf(bool book) {
  static Draft d;
  uint64_t work[2];
  size_t bytes[2];
  for (uint32_t i = 0; i < 2; ++i) {
    d.vertices = d.triangles = 0;
    if (book) pages(&d, i ? 4000 : 1000);
    else cone(&d, vertex(&d, 0, 0, 0), i ? 4000 : 1000, 1, 1, 0, 0);
    Subject s = begin(&d);
    pnTreeDef def = pnDefaultTreeDef();
    pnTree *tree;
    pnCost cost;
    def.pose = s.pose;
    def.self = true;
    testExpectOk(pnCreateTree(&def, &tree));
    testExpectOk(pnCollideSelf(tree, NULL, s.found, &cost));
    assert_int_equal(cost.pairs, 0);
    work[i] = cost.exactTests + cost.nodePairs + cost.leafPairs;
    bytes[i] = pnTree_GetByteCount(tree);
    pnDestroyTree(tree);
    end(&s);
  }
  print_message("  tests %llu and %llu, bytes %zu and %zu\n", (unsigned long long)work[0], (unsigned long long)work[1],
                bytes[0], bytes[1]);
  assert_true(work[1] <= 5 * work[0] && work[1] < 10 * 4000);
  assert_true(bytes[1] < 5 * bytes[0]);
}

static void costGrowsWithTheTriangles(void **state) {
  (void)state;
  costOf(false);
  costOf(true);
}

/* Which triangles belong to a hub, and the tops of their subtrees. */
static void hubsHaveSubtrees(void **state) {
  (void)state;
  static Draft d;
  d.vertices = d.triangles = 0;
  dice = testRandom(5);
  among(&d);
  Subject s = begin(&d);
  pnHubs hubs;
  assert_true(pn_findHubs(s.mesh, &hubs));
  assert_int_equal(hubs.count, 5);
  pnTreeDef def = pnDefaultTreeDef();
  pnTree *tree;
  def.pose = s.pose;
  def.self = true;
  testExpectOk(pnCreateTree(&def, &tree));
  const pnShape *shape = tree->shape;
  uint32_t tops = 0;
  for (uint32_t node = 0; node < shape->innerCount; ++node) {
    uint32_t first, last, hub = PN_NONE, count = 0;
    bool pure = true;
    pn_shapeLeafRange(shape, node, &first, &last);
    for (uint32_t slot = first * PN_LANES; slot < last * PN_LANES; ++slot) {
      uint32_t t = shape->leafTriangles[slot];
      if (t != PN_NONE) {
        pure = pure && (count == 0 || hubs.of[t] == hub);
        hub = hubs.of[t];
        ++count;
      }
    }
    bool top = pure && hub != PN_NONE && count == hubs.size[hub];
    tops += top;
    assert_int_equal(pn_isHubRoot(shape, node), top);
  }
  assert_int_equal(tops, 5);
  pnDestroyTree(tree);
  pn_freeHubs(&hubs);
  end(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agreesWithAllPairs),     cmocka_unit_test(seamsOpen),
      cmocka_unit_test(directionsAtTheirEdges), cmocka_unit_test(costGrowsWithTheTriangles),
      cmocka_unit_test(hubsHaveSubtrees),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
