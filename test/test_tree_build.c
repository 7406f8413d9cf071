/* test_tree_build.c: how trees are divided: the same on any number of threads, cut where the numbers say, and in pieces that are small
 * even where a curve cannot tell triangles apart. */
#include "support.h"

#include "pinch/pinch.h"
#include "tree/build_block.h"
#include "tree/vertex_lists.h"
#include "tree/gradual.h"
#include "tree/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIANGLES = 40000 }; /* more than one worker's part, several times */

typedef enum Cloud { SPREAD, EQUAL, HUGE_ONES, FAR_ONE, PLANE, STRANDS, CLOUDS } Cloud;
enum { STRAND = 20 }; /* triangles of a strand: two leaves and a half */

/* Ribbons of so many triangles, crooked, their numbers mixed: triangle i is of strand i % (count / length). */
static pnMesh *makeStrands(uint32_t length, uint32_t count) {
  uint32_t strands = count / length, perStrand = length + 2;
  TestRandom random = testRandom(length);
  float *v = malloc(3 * sizeof(float) * perStrand * strands);
  uint32_t *t = malloc(3 * sizeof(uint32_t) * count);
  for (uint32_t s = 0; s < strands; ++s) {
    float at[3], step[3];
    for (int k = 0; k < 3; ++k) {
      at[k] = testFloat(&random, -1, 1);
      step[k] = testFloat(&random, -0.05f, 0.05f);
    }
    for (uint32_t i = 0; i < perStrand; ++i)
      for (uint32_t k = 0; k < 3; ++k)
        v[3 * (s * perStrand + i) + k] = at[k] += step[k] + testFloat(&random, -0.01f, 0.01f);
    for (uint32_t i = 0; i < length; ++i)
      for (uint32_t k = 0; k < 3; ++k) t[3 * (i * strands + s) + k] = s * perStrand + i + k;
  }
  pnMesh *mesh = testMakeMesh(v, perStrand * strands, t, count);
  free(v);
  free(t);
  return mesh;
}

/* Triangles of a size, each with vertices of its own but for one in eight, which hangs on to the one before. */
static pnMesh *makeCloud(Cloud cloud, uint32_t count) {
  if (cloud == STRANDS) return makeStrands(STRAND, count);
  TestRandom random = testRandom(77 + (uint64_t)cloud);
  float *v = malloc(9 * sizeof(float) * count);
  uint32_t *t = malloc(3 * sizeof(uint32_t) * count);
  for (uint32_t i = 0; i < count; ++i) {
    float size = cloud == HUGE_ONES ? 1e38f : cloud == FAR_ONE ? 1e-4f : 1.0f, centre[3];
    for (int k = 0; k < 3; ++k) centre[k] = cloud == EQUAL && i % 3 ? 0.5f : testFloat(&random, -size, size);
    if (cloud == PLANE) centre[2] = 0.25f;
    if (cloud == FAR_ONE && i == 5) centre[0] = centre[1] = centre[2] = 1e4f;
    for (int c = 0; c < 9; ++c)
      v[9 * i + c] = centre[c % 3] + (cloud == EQUAL ? 0 : testFloat(&random, 0, 0.01f * size));
    for (uint32_t k = 0; k < 3; ++k) t[3 * i + k] = 3 * i + k;
    if (i % 8 == 7 && cloud != FAR_ONE) t[3 * i] = 3 * i - 1;
  }
  pnMesh *mesh = testMakeMesh(v, 3 * count, t, count);
  free(v);
  free(t);
  return mesh;
}

static pnTree *build(const pnPose *pose, pnBuild way, bool self, pnTasks tasks) {
  pnTreeLab lab = {.build = way};
  pnTreeDef def = pnDefaultTreeDef();
  pnTree *tree;
  def.pose = pose;
  def.self = self;
  def.lab = &lab;
  def.tasks = tasks;
  testExpectOk(pnCreateTree(&def, &tree));
  return tree;
}

static pnPose *poseOf(const pnMesh *mesh) {
  pnPoseDef def = pnDefaultPoseDef();
  pnPose *pose;
  def.mesh = mesh;
  testExpectOk(pnCreatePose(&def, &pose));
  return pose;
}

/* Everything of a shape is in one block, and numbers only: bit for bit the same. */
static void sameOnAnyNumberOfThreads(void **state) {
  (void)state;
  for (int cloud = 0; cloud < CLOUDS; ++cloud) {
    pnMesh *mesh = makeCloud((Cloud)cloud, TRIANGLES);
    pnPose *pose = poseOf(mesh);
    for (int way = 0; way < 2; ++way) {
      pnTree *one = build(pose, way ? PN_BUILD_FAST : PN_BUILD_DEFAULT, true, (pnTasks){0});
      testExpectOk(pnTree_Validate(one));
      for (uint32_t threads = 2; threads <= 5; threads += 3) {
        pnPool *pool;
        testExpectOk(pnCreatePool(threads, &pool));
        pnTree *many = build(pose, way ? PN_BUILD_FAST : PN_BUILD_DEFAULT, true, pnPool_GetTasks(pool));
        assert_int_equal(many->shape->memoryBytes, one->shape->memoryBytes);
        assert_memory_equal(many->shape->memory, one->shape->memory, one->shape->memoryBytes);
        pnDestroyTree(many);
        pnDestroyPool(pool);
      }
      pnDestroyTree(one);
    }
    pnDestroyPose(pose);
    pnDestroyMesh(mesh);
  }
  assert_int_equal(pnGetByteCount(), 0);
}

/* A little at a time comes out the same. */
static void sameInManySteps(void **state) {
  (void)state;
  for (int cloud = 0; cloud < CLOUDS; ++cloud) {
    pnMesh *mesh = makeCloud((Cloud)cloud, TRIANGLES / 4);
    pnPose *pose = poseOf(mesh);
    pnTree *tree = build(pose, PN_BUILD_DEFAULT, false, (pnTasks){0}), *former;
    pnGradual *gradual = pn_beginGradual(tree, false);
    uint32_t steps = 1;
    assert_non_null(gradual);
    for (int64_t work = 20000; pn_stepGradual(gradual, &work) == PN_PROGRESS_MORE; ++steps) work = 20000;
    /* 2.9 ms: 20 us each, but for cuts of more than a thousand triangles and what else is not divided; no step does more than one of
     * those, and such a one waits for the next when little is left. Strands are parts of 20 triangles */
    assert_true(cloud == STRANDS ? steps > 124 && steps < 140 : steps > 150 && steps < 168);
    testExpectOk(pn_takeGradual(gradual, tree, &former));
    assert_ptr_not_equal(tree->shape, former->shape);
    assert_int_equal(tree->shape->memoryBytes, former->shape->memoryBytes);
    assert_memory_equal(tree->shape->memory, former->shape->memory, former->shape->memoryBytes);
    testExpectOk(pnTree_Validate(tree));
    pn_endGradual(gradual);
    pnDestroyTree(tree);
    pnDestroyTree(former);
    /* one that is given up half way leaves nothing behind */
    tree = build(pose, PN_BUILD_DEFAULT, false, (pnTasks){0});
    for (uint32_t most = 0; most < steps; most += steps / 5) {
      gradual = pn_beginGradual(tree, false);
      for (uint32_t i = 0; i < most; ++i) pn_stepGradual(gradual, &(int64_t){20000});
      pn_endGradual(gradual);
    }
    pnDestroyTree(tree);
    pnDestroyPose(pose);
    pnDestroyMesh(mesh);
  }
  assert_int_equal(pnGetByteCount(), 0);
}

/* ---------------------------------------------------------------- bundles */

/* Leaves with triangles of one strand only, and all leaves. */
static uint32_t countLeaves(uint32_t length, uint32_t count, pnBuild way, uint32_t *outAll) {
  pnMesh *mesh = makeStrands(length, count);
  pnPose *pose = poseOf(mesh);
  pnTree *tree = build(pose, way, false, (pnTasks){0});
  const pnShape *s = tree->shape;
  uint32_t alone = 0, strands = count / length;
  testExpectOk(pnTree_Validate(tree));
  for (uint32_t leaf = 0; leaf < s->leafCount; ++leaf) {
    bool one = true;
    for (uint32_t j = 1; j < s->count[s->innerCount + leaf]; ++j)
      one = one && s->leafTriangles[8 * leaf + j] % strands == s->leafTriangles[8 * leaf] % strands;
    alone += one;
  }
  *outAll = s->leafCount;
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
  return alone;
}

/* Of many strands each leaf has triangles of one, where that leaves at least three quarters of the lanes full; else leaves are full,
 * and have several. */
static void leavesStayWithinIslands(void **state) {
  (void)state;
  static const struct {
    uint32_t length, strands;
    pnBuild way;
    bool within;
  } cases[] = {
      {20, 100, PN_BUILD_DEFAULT, true},   /* 20 of 24 lanes */
      {6, 100, PN_BUILD_DEFAULT, true},    /* 6 of 8: just enough */
      {8, 64, PN_BUILD_BALANCED, true},    /* just as many islands as it takes */
      {1024, 64, PN_BUILD_DEFAULT, true},  /* just not large */
      {17, 100, PN_BUILD_DEFAULT, false},  /* 17 of 24 */
      {5, 200, PN_BUILD_DEFAULT, false},   /* 5 of 8 */
      {20, 63, PN_BUILD_DEFAULT, false},   /* one too few */
      {1025, 64, PN_BUILD_DEFAULT, false}, /* large, as the first one shows */
      {20, 100, PN_BUILD_FAST, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    uint32_t n = cases[i].length * cases[i].strands, all;
    uint32_t alone = countLeaves(cases[i].length, n, cases[i].way, &all);
    if (cases[i].within) {
      assert_int_equal(alone, all);
      assert_int_equal(all, (cases[i].length + 7) / 8 * cases[i].strands);
    } else {
      assert_true(alone < all);
      assert_int_equal(all, (n + 7) / 8);
    }
  }
  assert_int_equal(pnGetByteCount(), 0);
}

/* ---------------------------------------------------------------- one cut */

typedef struct Seat {
  float at;
  uint32_t triangle;
} Seat;

static int compareSeats(const void *a, const void *b) {
  const Seat *x = a, *y = b;
  return x->at != y->at ? (x->at < y->at ? -1 : 1) : x->triangle < y->triangle ? -1 : x->triangle > y->triangle;
}

/* Triangles along one axis: those before the cut are the first by place and, of equals, by number; whatever order they came in. */
static void cutsAreByPlaceAndNumber(void **state) {
  (void)state;
  enum { MOST = 3000 };
  TestRandom random = testRandom(3);
  for (int round = 0; round < 60; ++round) {
    uint32_t count = 9 + testBelow(&random, round % 2 ? 60 : MOST - 9), left = 1 + testBelow(&random, count - 1);
    uint32_t kinds = round % 3 == 0 ? 2 : round % 3 == 1 ? 7 : 1u << 20; /* numbers there are: few make many equals */
    float *centres = calloc(3 * (size_t)count + 1, sizeof(float)), *boxes = calloc(8 * (size_t)count, sizeof(float));
    uint32_t *order = malloc(count * sizeof(uint32_t)), *scratch = malloc(count * sizeof(uint32_t));
    uint64_t *keys = malloc(2 * count * sizeof(uint64_t));
    Seat *seats = malloc(count * sizeof(Seat));
    bool *before = calloc(count, sizeof(bool));
    for (uint32_t i = 0; i < count; ++i) {
      centres[3 * i] = (float)testBelow(&random, kinds) - 0.5f * (float)kinds;
      boxes[8 * i] = boxes[8 * i + 4] = centres[3 * i];
      seats[i] = (Seat){centres[3 * i], i};
      order[i] = i;
    }
    for (uint32_t i = count; i-- > 1;) {
      uint32_t k = testBelow(&random, i + 1), swap = order[i];
      order[i] = order[k];
      order[k] = swap;
    }
    qsort(seats, count, sizeof(Seat), compareSeats);
    pnBuilder b = {
        .quick = round % 4 == 0, .order = order, .centres = centres, .boxes = boxes, .keys = keys, .scratch = scratch};
    pn_cutBest(&b, 0, count, left);
    for (uint32_t i = 0; i < left; ++i) before[seats[i].triangle] = true;
    for (uint32_t i = 0; i < count; ++i) assert_int_equal(before[order[i]], i < left);
    free(centres), free(boxes), free(order), free(scratch), free(keys), free(seats), free(before);
  }
}

/* ---------------------------------------------------------------- the fast one */

enum { PLAIN_MOST = 3000 };

/* Ranges as they are to be cut, with nothing clever: across the longest axis, of those as far as the cut the ones that stand first. */
static void cutPlainly(const pnBuilder *b, uint32_t *order, uint32_t count, uint32_t unit) {
  if (count <= b->leafSize) return;
  if (count <= unit) unit = pn_unitOf(b, count);
  uint32_t left = pn_leftOf(count, unit), axis = 0, at[2] = {0, left}, sorted[PLAIN_MOST];
  double most = -1;
  for (uint32_t k = 0; k < 3; ++k) {
    double lo = INFINITY, hi = -INFINITY;
    for (uint32_t i = 0; i < count; ++i) {
      double centre = b->centres[3 * order[i] + k];
      lo = PN_MIN(lo, centre);
      hi = PN_MAX(hi, centre);
    }
    axis = hi - lo > most ? k : axis;
    most = PN_MAX(most, hi - lo);
  }
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t before = 0;
    float far = b->centres[3 * order[i] + axis];
    for (uint32_t k = 0; k < count; ++k) {
      float other = b->centres[3 * order[k] + axis];
      before += other < far || (other == far && k < i);
    }
    sorted[at[before >= left]++] = order[i];
  }
  memcpy(order, sorted, count * sizeof *order);
  cutPlainly(b, order, left, unit);
  cutPlainly(b, order + left, count - left, unit);
}

/* Many equal ones, and most of them in one bin; so far apart, and so near, that bins cannot be; any size of block, leaf and node. */
static void blocksAreCutAsTheyShould(void **state) {
  (void)state;
  enum { MOST = PN_BLOCK_TRIANGLES };
  static float centres[3 * (MOST + 64) + 1];
  TestRandom random = testRandom(12);
  pnCutBlockFcn *const ways[2] = {pn_cutBlock4, pn_cutBlock()};
  for (int round = 0; round < 160; ++round) {
    uint32_t count = round % 4 == 0 ? MOST : 1 + testBelow(&random, MOST), first = testBelow(&random, 64);
    uint32_t order[MOST + 64], plain[MOST + 64];
    float scale = round % 10 == 3 ? 0x1p127f : round % 10 == 6 ? 0x1p-140f : 1;
    for (uint32_t i = 0; i < 3 * (MOST + 64); ++i) {
      float x = testFloat(&random, -1, 1);
      centres[i] = scale * (round % 5 == 1   ? (float)testBelow(&random, 1 + (uint32_t)round / 8)
                            : round % 5 == 2 ? x * x * x * x * x * x * x * x * x
                                             : x);
    }
    for (uint32_t i = 0; i < MOST + 64; ++i) order[i] = (i * 37 + 11) % (MOST + 64);
    pnBuilder b = {
        .arity = 2u << round % 3, .leafSize = round % 7 == 0 ? 1 + testBelow(&random, 8) : 8, .order = order};
    b.centres = centres;
    uint32_t was[MOST + 64];
    memcpy(was, order, sizeof order);
    memcpy(plain, order, sizeof order);
    cutPlainly(&b, plain + first, count, count);
    for (int way = 0; way < 2; ++way) {
      memcpy(order, was, sizeof order);
      ways[way](&b, first, count);
      assert_memory_equal(order, plain, sizeof order);
    }
  }
}

/* Quick and in steps: cut plainly, whatever a step may do and wherever it ends, and in fewer of them than with care. */
static void quickStepsCutPlainly(void **state) {
  (void)state;
  static float centres[3 * PLAIN_MOST + 1];
  static const uint32_t sizes[4] = {1, 500, 2049, PLAIN_MOST};
  for (uint32_t round = 0; round < 12; ++round) {
    uint32_t count = sizes[round % 4], plain[PLAIN_MOST], steps[2] = {0};
    pnMesh *mesh = makeCloud(SPREAD, count);
    pnPose *pose = poseOf(mesh);
    pnTree *tree = build(pose, PN_BUILD_DEFAULT, false, (pnTasks){0});
    pnTreePlan plan = tree->def;
    plan.pose = pose;
    plan.arity = 2u << round % 3;
    plan.leafSize = round < 4 ? 8 : 1 + round % 8;
    for (uint32_t i = 0; i < 3 * count; ++i) {
      const uint32_t *t = mesh->triangles + 3 * (i / 3);
      float p[3];
      for (int c = 0; c < 3; ++c) p[c] = 0.25f * mesh->vertices[3 * t[c] + i % 3];
      centres[i] = (p[0] + p[1]) + p[2];
    }
    for (uint32_t i = 0; i < count; ++i) plain[i] = i;
    pnBuilder b = {.arity = plan.arity, .leafSize = plan.leafSize, .centres = centres};
    cutPlainly(&b, plain, count, count);
    for (int quick = 0; quick < 2; ++quick) {
      pnDivision *division = pn_beginDivision(&plan, quick);
      pnBuildResult result;
      assert_non_null(division);
      for (int64_t work = 1; pn_stepDivision(division, &work) == PN_PROGRESS_MORE; ++steps[quick])
        work = quick && round % 3 == 0 ? 1 : quick && round % 3 == 1 ? 1000000 : 50000;
      pn_endDivision(division, &result);
      assert_int_equal(result.triangleCount, count);
      if (quick) assert_memory_equal(result.order, plain, count * sizeof *plain);
      pn_buildFree(&result);
    }
    if (round % 3 == 2 && count > 500) assert_true(2 * steps[1] < steps[0]);
    pnDestroyTree(tree);
    pnDestroyPose(pose);
    pnDestroyMesh(mesh);
  }
  assert_int_equal(pnGetByteCount(), 0);
}

/* Of the boxes around the triangles of each leaf, without the one that reaches far; not as the tree has them, which is as fine as the whole
 * allows. */
static double volumeOfLeaves(const pnTree *tree) {
  const pnShape *s = tree->shape;
  double sum = 0;
  for (uint32_t leaf = 0; leaf < s->leafCount; ++leaf) {
    double volume = 1;
    for (int k = 0; k < 3; ++k) {
      float lo = INFINITY, hi = -INFINITY;
      for (uint32_t i = 0; i < 24 && s->leafTriangles[8 * leaf + i / 3] != PN_NONE; ++i) {
        uint32_t vertex = s->mesh->triangles[3 * s->leafTriangles[8 * leaf + i / 3] + i % 3];
        lo = fminf(lo, s->mesh->vertices[3 * vertex + (uint32_t)k]);
        hi = fmaxf(hi, s->mesh->vertices[3 * vertex + (uint32_t)k]);
      }
      volume *= hi - lo > 1 ? 0 : hi - lo;
    }
    sum += volume;
  }
  return sum;
}

/* One triangle far away makes the cells of the curve so large that all others are in one. Leaves of those stay small: within a few
 * times what careful cuts leave. Taken as they come in subtrees of 512, they would be 64 times as large. */
static void aFarTriangleDoesNotSpoilTheRest(void **state) {
  (void)state;
  pnMesh *mesh = makeCloud(FAR_ONE, 4096 * 8);
  pnPose *pose = poseOf(mesh);
  pnTree *fast = build(pose, PN_BUILD_FAST, false, (pnTasks){0}),
         *slow = build(pose, PN_BUILD_BALANCED, false, (pnTasks){0});
  testExpectOk(pnTree_Validate(fast));
  assert_true(volumeOfLeaves(slow) > 0);
  assert_true(volumeOfLeaves(fast) < 4 * volumeOfLeaves(slow));
  pnDestroyTree(fast);
  pnDestroyTree(slow);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
}

/* The vertices of some corners: each once, ascending, and every corner is found where it is said to be. */
static void cornersAreListedOnce(void **state) {
  (void)state;
  TestRandom random = testRandom(14);
  pnListCornersFcn *const ways[2] = {pn_listCorners, pn_chooseListing()};
  for (int round = 0; round < 400; ++round) {
    uint32_t corners[PN_LEAF_CORNERS], count = 3 * (1 + testBelow(&random, 8));
    /* a few vertices, nearly as many as corners, and the largest numbers there are */
    uint32_t different = round % 3 == 0 ? 3 : round % 3 == 1 ? 12 : 1000, from = round % 2 ? 0 : INT32_MAX - different;
    for (uint32_t i = 0; i < count; ++i) corners[i] = from + testBelow(&random, different);
    for (int way = 0; way < 2; ++way) {
      uint32_t list[PN_LEAF_CORNERS];
      uint8_t places[PN_LEAF_CORNERS];
      bool used[PN_LEAF_CORNERS] = {false};
      uint32_t n = ways[way](corners, count, list, places);
      for (uint32_t i = 1; i < n; ++i) assert_true(list[i - 1] < list[i]);
      for (uint32_t i = 0; i < count; ++i) {
        assert_true(places[i] < n);
        assert_int_equal(list[places[i]], corners[i]);
        used[places[i]] = true;
      }
      for (uint32_t i = 0; i < n; ++i) assert_true(used[i]);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sameOnAnyNumberOfThreads), cmocka_unit_test(sameInManySteps),
      cmocka_unit_test(leavesStayWithinIslands),  cmocka_unit_test(cutsAreByPlaceAndNumber),
      cmocka_unit_test(blocksAreCutAsTheyShould), cmocka_unit_test(aFarTriangleDoesNotSpoilTheRest),
      cmocka_unit_test(quickStepsCutPlainly),     cmocka_unit_test(cornersAreListedOnce),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
