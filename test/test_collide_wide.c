/* test_collide_wide.c: the traversal in every width that this machine has (traverse_rows.h, traverse_square.h). Given two trees all must
 * find the same candidates, in the same order, through as many pairs of nodes and of leaves: on one grid, on two that are apart, on
 * grids of other cells, with lanes that are empty, and for a tree with itself. */
#include "support.h"

#include "collide/traverse.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Tables that answer the same, by what grids have in common; the first is what every machine has. */
static const pnSteps *s_widths[3][3] = {{&pn_stepsBox, &pn_stepsBoxOffset, &pn_stepsBoxLens}};
static uint32_t s_widthCount = 1;
static uint32_t s_met[3]; /* how often each kind of grids was met with something to find */

static void findWidths(void) {
#if defined(__x86_64__) && !defined(PN_SCALAR)
  const pnSteps *const half[3] = {&pn_stepsBoxAvx2, &pn_stepsBoxOffsetAvx2, &pn_stepsBoxLensAvx2};
  if (__builtin_cpu_supports("avx2")) memcpy(s_widths[s_widthCount++], half, sizeof half);
#if defined(PN_AVX512)
  const pnSteps *const wide[3] = {&pn_stepsBoxVbmi, &pn_stepsBoxOffsetVbmi, &pn_stepsBoxLensVbmi};
  if (pn_hasVbmi()) memcpy(s_widths[s_widthCount++], wide, sizeof wide);
#endif
#endif
  print_message("  widths: %u\n", s_widthCount);
}

typedef struct Body {
  pnMesh *mesh;
  pnPose *pose;
  pnTree *tree;
} Body;

/* What bodies are made of: triangles by themselves, or strips whose triangles share vertices; on a lattice they touch. Or triangles of any of so
 * many vertices, so that leaves have many neighbours. */
typedef struct Kind {
  uint32_t count;
  float size, centre[3];
  bool strips, lattice;
  uint32_t vertices; /* 0: as many as it takes */
} Kind;

static void openBody(Body *body, const Kind *kind, TestRandom *dice) {
  uint32_t vertexCount = kind->vertices ? kind->vertices : kind->strips ? kind->count + 2 : 3 * kind->count;
  float *v = malloc(3 * (size_t)vertexCount * sizeof(float)), at[3] = {0, 0, 0};
  uint32_t *t = malloc(3 * (size_t)kind->count * sizeof(uint32_t));
  for (uint32_t i = 0; i < vertexCount; ++i) {
    for (int k = 0; k < 3; ++k) {
      if (kind->strips) at[k] = fminf(fmaxf(at[k] + testFloat(dice, -0.25f, 0.25f), -1), 1);
      else if (i % 3 == 0) at[k] = testFloat(dice, -1, 1);
      float x = at[k] + (kind->strips ? 0 : testFloat(dice, -0.3f, 0.3f));
      v[3 * i + k] = kind->centre[k] + kind->size * (kind->lattice ? roundf(3 * x) : x);
    }
  }
  for (uint32_t i = 0; i < 3 * kind->count; ++i) t[i] = kind->strips ? i / 3 + i % 3 : i;
  for (uint32_t i = 0; kind->vertices && i < 3 * kind->count; i += 3) {
    uint32_t first = testBelow(dice, vertexCount), step = 1 + testBelow(dice, vertexCount / 3);
    for (uint32_t k = 0; k < 3; ++k) t[i + k] = (first + k * step) % vertexCount;
  }
  body->mesh = testMakeMesh(v, vertexCount, t, kind->count);
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = body->mesh;
  testExpectOk(pnCreatePose(&poseDef, &body->pose));
  pnTreeDef treeDef = pnDefaultTreeDef();
  treeDef.pose = body->pose;
  testExpectOk(pnCreateTree(&treeDef, &body->tree));
  testExpectOk(pnTree_Update(body->tree, NULL));
  free(v);
  free(t);
}

static void closeBody(Body *body) {
  pnDestroyTree(body->tree);
  pnDestroyPose(body->pose);
  pnDestroyMesh(body->mesh);
}

/* Candidates, before anything else is asked about them. */
typedef struct Candidates {
  pnSink sink;
  pnPairs list;
} Candidates;

static bool take(pnSink *sink, const pnTraversal *t, pnWorker *w, const pnPair *candidates, size_t count) {
  (void)t, (void)w;
  Candidates *c = (Candidates *)(void *)sink;
  if (count > 0 && !pn_arrayReserve(&c->list, c->list.count + count)) return false;
  for (size_t i = 0; i < count; ++i) c->list.data[c->list.count++] = candidates[i];
  return true;
}

static void runWidth(pnTraversal *t, const pnSteps *steps, pnWorker *w, Candidates *out) {
  *w = (pnWorker){.foundMost = SIZE_MAX, .fresh = {.alone = true}};
  *out = (Candidates){.sink = {take}};
  double time = 0;
  t->steps = steps;
  t->sink = &out->sink;
  assert_true(pn_arrayPush(&w->lists[0], ((pnPair){0, 0})));
  pn_runAll(t, w, PN_KERNEL_DEFAULT, &time);
  assert_false(w->outOfMemory);
}

/* b null: self. Returns the candidates of a pair of leaves, the most there were on average. */
static double expectSame(pnTree *a, pnTree *b) {
  pnTraversal t;
  pn_beginTraversal(a, b, PN_OPEN_DEFAULT, &t);
  t.proofs = 0; /* every pair is opened */
  uint32_t grids = 3;
  for (uint32_t i = 0; i < s_widthCount; ++i)
    for (uint32_t k = 0; k < 3; ++k) grids = t.steps == s_widths[i][k] ? k : grids;
  assert_true(grids < 3);
  pnWorker first, w;
  Candidates expected, c;
  runWidth(&t, s_widths[0][grids], &first, &expected);
  for (uint32_t i = 1; i < s_widthCount; ++i) {
    runWidth(&t, s_widths[i][grids], &w, &c);
    assert_int_equal(w.cost.nodePairs, first.cost.nodePairs);
    assert_int_equal(w.cost.leafPairs, first.cost.leafPairs);
    assert_int_equal(c.list.count, expected.list.count);
    if (c.list.count > 0) assert_memory_equal(c.list.data, expected.list.data, c.list.count * sizeof(pnPair));
    pn_workerFree(&w);
    pn_arrayFree(&c.list);
  }
  s_met[grids] += expected.list.count > 0;
  double many = first.cost.leafPairs > 0 ? (double)expected.list.count / (double)first.cost.leafPairs : 0;
  pn_workerFree(&first);
  pn_arrayFree(&expected.list);
  return many;
}

/* A speck at a corner of a large body, where its box begins: the lens may not round it away. Near the origin, where cells of a small
 * body are finest. */
static void specks(void **state) {
  (void)state;
  TestRandom dice = testRandom(3);
  uint32_t before = s_met[2];
  for (uint32_t round = 0; round < 300; ++round) {
    Kind large = {17, 1, {0, 0, 0}, round % 2, false, 0};
    Kind small = {9, ldexpf(1, -10 - (int)testBelow(&dice, 18)), {0, 0, 0}, false, false, 0};
    TestRandom again = dice;
    Body a, b;
    openBody(&a, &large, &again);
    const float *corner = a.mesh->vertices + 3 * (size_t)testBelow(&again, a.mesh->vertexCount);
    for (int k = 0; k < 3; ++k) {
      small.centre[k] = testFloat(&again, -0.1f, 0.1f);
      large.centre[k] = small.centre[k] - corner[k];
    }
    closeBody(&a);
    openBody(&a, &large, &dice); /* the same, with that corner there */
    openBody(&b, &small, &dice);
    expectSame(a.tree, b.tree);
    closeBody(&a);
    closeBody(&b);
  }
  assert_true(s_met[2] > before + 100);
}

static const uint32_t s_counts[] = {1, 3, 8, 9, 17, 63, 70, 400};
enum { COUNTS = sizeof s_counts / sizeof *s_counts };

static void twoBodies(void **state) {
  (void)state;
  TestRandom dice = testRandom(1);
  static const float sizes[] = {1, 1, 1, 0.4f, 3, 30, 1e-3f, 1e-6f};
  static const float shifts[] = {0, 0.3f, 1.1f};
  double most = 0;
  for (uint32_t round = 0; round < 600; ++round) {
    float unit = round % 5 == 3 ? 1e36f : round % 5 == 4 ? 1e-36f : 1, size = sizes[round % 8];
    bool lattice = round % 3 == 0;
    Kind kinds[2] = {{s_counts[testBelow(&dice, COUNTS)], unit, {0, 0, 0}, round % 2, lattice, 0},
                     {s_counts[testBelow(&dice, COUNTS)], unit * size, {0, 0, 0}, round % 4 > 1, lattice, 0}};
    if (round % 8 < 3) kinds[1].count = kinds[0].count; /* and size: cells alike, and grids apart by where they are */
    for (int k = 0; k < 3; ++k) {
      kinds[0].centre[k] = round % 2 ? unit * testFloat(&dice, 0, 6) : 0; /* a grid begins at every so many cells */
      kinds[1].centre[k] = kinds[0].centre[k] + unit * fmaxf(size, 1) * shifts[testBelow(&dice, 3)];
    }
    if (round % 7 == 0)
      for (int k = 0; k < 6; ++k) kinds[k / 3].centre[k % 3] += 100 * unit; /* far from the origin: few cells */
    Body a, b;
    openBody(&a, &kinds[0], &dice);
    openBody(&b, &kinds[1], &dice);
    most = fmax(most, expectSame(a.tree, b.tree));
    most = fmax(most, expectSame(b.tree, a.tree));
    closeBody(&a);
    closeBody(&b);
  }
  print_message("  one grid %u, offsets %u, lenses %u; up to %.1f candidates a pair of leaves\n", s_met[0], s_met[1],
                s_met[2], most);
  assert_true(s_met[2] > 100);
  assert_true(most > 8); /* more than are written at once */
}

/* How many leaves have few links, about as many as are looked at at once, and more. */
static void countLinks(const pnShape *shape, uint32_t met[3]) {
  for (uint32_t leaf = 0; leaf < shape->leafCount; ++leaf) {
    uint32_t count = shape->linkFirst[leaf + 1] - shape->linkFirst[leaf];
    ++met[count > 16 ? 2 : count > 11];
  }
}

/* A body has one grid with itself, and with a copy of itself, unless that is where another begins: at every so many cells. */
static void itself(void **state) {
  (void)state;
  TestRandom dice = testRandom(2);
  uint32_t before[2] = {s_met[0], s_met[1]}, links[3] = {0};
  for (uint32_t round = 0; round < 200; ++round) {
    Kind kind = {s_counts[round % COUNTS], 1, {0, 0, 0}, round % 2, round % 3 == 0, 0};
    if (round % 8 == 7) kind.vertices = 100 << round % 3;
    for (int k = 0; k < 3; ++k) kind.centre[k] = testFloat(&dice, -6, 6);
    TestRandom again = dice;
    Body body, copy;
    openBody(&body, &kind, &dice);
    for (int k = 0; k < 3 && round % 4; ++k) kind.centre[k] += testFloat(&dice, -1, 1);
    openBody(&copy, &kind, &again);
    expectSame(body.tree, NULL);
    countLinks(body.tree->shape, links);
    expectSame(body.tree, copy.tree);
    closeBody(&body);
    closeBody(&copy);
  }
  print_message("  one grid %u, offsets %u; leaves with few links %u, with a dozen %u, with many %u\n",
                s_met[0] - before[0], s_met[1] - before[1], links[0], links[1], links[2]);
  assert_true(s_met[0] > before[0] + 100 && s_met[1] > before[1] + 20);
  assert_true(links[0] > 100 && links[1] > 100 && links[2] > 100);
}

int main(void) {
  findWidths();
  const struct CMUnitTest tests[] = {cmocka_unit_test(twoBodies), cmocka_unit_test(specks), cmocka_unit_test(itself)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
