/* test_query_near.c: the closest point is what measuring every triangle gives, the same bits, on every tree: builds, forms of
 * volume, update rules, arities, threads, soups; and the measure itself is right by formula and on triangles that are none. */
#include "motions.h"

#include "support_query.h"

/* ---------------------------------------------------------------- trees */

static void freeBodies(void **state) {
  (void)state;
  pnMesh *mesh;
  pnPose *pose;
  testExpectOk(pnMakeKnot(2, 3, 1.0f, 0.3f, 40, 8, &mesh));
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = mesh;
  testExpectOk(pnCreatePose(&poseDef, &pose));
  static const pnUpdate updates[] = {PN_UPDATE_DEFAULT, PN_UPDATE_BOTTOM_UP, PN_UPDATE_TOP_DOWN, PN_UPDATE_BERGEN,
                                     PN_UPDATE_RIGID};
  static const uint32_t arities[] = {2, 4, 8};
  TestRandom random = testRandom(1);
  for (int u = 0; u < 5; ++u)
    for (int volume = 0; volume < TEST_FORM_COUNT; ++volume)
      for (int a = 0; a < 3; ++a) {
        pnTreeDef def = pnDefaultTreeDef();
        pnTreeLab lab = {0};
        def.lab = &lab;
        def.pose = pose;
        def.update = updates[u];
        lab.form = (pnForm)volume;
        lab.arity = arities[a];
        lab.leafSize = 1 + testBelow(&random, 8);
        lab.build = (pnBuild)testBelow(&random, PN_BUILD_COUNT);
        pnTree *tree;
        // Some rules take boxes only.
        if (pnCreateTree(&def, &tree) != PN_OK) continue;
        for (int frame = 0; frame < 2; ++frame) {
          pnMatrix turn = testRotation(&random, 3);
          testExpectOk(pnPose_SetTransform(pose, &turn));
          queryExpectNearest(tree, &random, NULL);
        }
        pnDestroyTree(tree);
      }
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
}

/* Every motion with every rule and form that fits. */
static void everyMotion(void **state) {
  (void)state;
  TestRandom random = testRandom(4);
  for (uint32_t i = 0; i < TEST_MOTION_COUNT; ++i) {
    TestMoving m = {0};
    testMotions[i]->make(&m, 2, 1, i);
    uint32_t fitting = 0;
    for (int u = 0; u < PN_UPDATE_COUNT; ++u)
      for (int form = 0; form < TEST_FORM_COUNT; ++form) {
        pnTreeDef def = pnDefaultTreeDef();
        pnTreeLab lab = {.form = (pnForm)form};
        def.lab = &lab;
        def.pose = m.pose;
        def.update = (pnUpdate)u;
        pnTree *tree;
        if (pnCreateTree(&def, &tree) != PN_OK) continue;
        pnMatrix turn = testRotation(&random, 3);
        testExpectOk(pnPose_SetTransform(m.pose, &turn));
        testMotions[i]->move(&m, &random, 1);
        queryExpectNearest(tree, &random, NULL);
        pnDestroyTree(tree);
        ++fitting;
      }
    assert_true(fitting >= 4 * TEST_FORM_COUNT);
    testMotions[i]->free(&m);
  }
}

static void movingBodies(void **state) {
  (void)state;
  pnPool *pool;
  testExpectOk(pnCreatePool(4, &pool));
  pnTasks tasks = pnPool_GetTasks(pool);
  TestRandom random = testRandom(2);
  pnTreeDef def = pnDefaultTreeDef();
  for (int kind = 0; kind < MORPH_KIND_COUNT; ++kind) {
    MorphBody body = morphMake((MorphKind)kind, 2, 1, 7);
    pnTree *tree = morphTree(body.pose, &def);
    for (int frame = 0; frame < 6; ++frame) {
      morphPose(&body, &random);
      queryExpectNearest(tree, &random, frame % 2 ? &tasks : NULL);
    }
    pnDestroyTree(tree);
    morphFree(&body);
  }
  for (int kind = 0; kind < SKIN_KIND_COUNT; ++kind) {
    SkinBody body = skinMake((SkinKind)kind, 2, 1, 0, 9);
    pnTree *tree = morphTree(body.pose, &def);
    for (int frame = 0; frame < 6; ++frame) {
      skinPose(&body, &random, 0, 1);
      queryExpectNearest(tree, &random, frame % 2 ? &tasks : NULL);
    }
    pnDestroyTree(tree);
    skinFree(&body);
  }
  pnDestroyPool(pool);
}

/* Primitives that are triangles, segments and points, and come and go. */
static void soups(void **state) {
  (void)state;
  TestRandom random = testRandom(3);
  for (int method = 0; method < PN_BUCKET_COUNT; ++method) {
    pnSoup *soup;
    testExpectOk(pnCreateSoup(NULL, &soup));
    pnBucketDef def = pnDefaultBucketDef();
    pnTreeLab lab = {0};
    def.lab = &lab;
    def.soup = soup;
    lab.method = (pnBucketMethod)method;
    pnTree *tree;
    testExpectOk(pnCreateBucketTree(&def, &tree));
    float nowhere[3] = {0};
    pnClosest none;
    testExpectOk(pnFindClosest(tree, nowhere, 1, NULL, &none));
    assert_int_equal(none.triangle, PN_NONE);
    for (int i = 0; i < 120; ++i) {
      float corners[9];
      for (int k = 0; k < 9; ++k) corners[k] = testFloat(&random, -1, 1);
      testExpectOk(pnSoup_Add(soup, (pnPrimitiveKind)(1 + i % 3), corners, 1, NULL));
    }
    queryExpectNearest(tree, &random, NULL);
    pnDestroyTree(tree);
    pnDestroySoup(soup);
  }
}

/* ---------------------------------------------------------------- the measure */

/* The least distance over a fine raster of the triangle is not less, and not much more. */
static void againstRaster(void **state) {
  (void)state;
  TestRandom random = testRandom(4);
  for (int i = 0; i < 300; ++i) {
    double c[3][3], p[3], x[3];
    for (int k = 0; k < 3; ++k) {
      p[k] = testFloat(&random, -2, 2);
      for (int j = 0; j < 3; ++j) c[j][k] = testFloat(&random, -1, 1);
    }
    // Every third is a segment, every seventh a point.
    if (i % 3 == 0) memcpy(c[2], c[1], sizeof c[2]);
    if (i % 7 == 0) memcpy(c[1], c[0], sizeof c[1]), memcpy(c[2], c[0], sizeof c[2]);
    pn_closestOnTriangle(p, c[0], c[1], c[2], x);
    double found = sqrt(pn_distance2(p, x)), least = INFINITY;
    const int steps = 60;
    for (int s = 0; s <= steps; ++s)
      for (int t = 0; s + t <= steps; ++t) {
        double y[3];
        for (int k = 0; k < 3; ++k) y[k] = c[0][k] + (s * (c[1][k] - c[0][k]) + t * (c[2][k] - c[0][k])) / steps;
        least = fmin(least, sqrt(pn_distance2(p, y)));
      }
    // A raster point is within a cell's diagonal (sides up to 2 sqrt(3)) of every point; at distance d that costs less.
    assert_true(found <= least + 1e-12 && least <= found + 0.06);
  }
}

/* ---------------------------------------------------------------- windings */

/* Around boxes of whole numbers, at points in line with their corners, edges and faces, seen through every form of volume. Two boxes are
 * one mesh of two parts, the second turned inside out. */
static void windingsAreExact(void **state) {
  (void)state;
  pnMesh *box, *mesh;
  testExpectOk(pnMakeBox((pnVec3){2, 2, 2}, 4, &box));
  uint32_t n = pnMesh_GetVertexCount(box), t = pnMesh_GetTriangleCount(box);
  float *v = malloc(6 * n * sizeof(float));
  uint32_t *c = malloc(6 * t * sizeof(uint32_t)), *partOf = malloc(2 * t * sizeof(uint32_t));
  assert_true(v && c && partOf);
  for (uint32_t i = 0; i < 6 * n; ++i) v[i] = pnMesh_GetVertices(box)[i % (3 * n)] + (i >= 3 * n ? 1.0f : 0.0f);
  for (uint32_t i = 0; i < 2 * t; ++i) {
    bool second = i >= t;
    const uint32_t *from = pnMesh_GetTriangles(box) + 3 * (size_t)(i % t);
    for (uint32_t k = 0; k < 3; ++k) c[3 * i + k] = from[second ? 2 - k : k] + (second ? n : 0);
    partOf[i] = second;
  }
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = v, def.vertexCount = 2 * n, def.triangles = c, def.triangleCount = 2 * t;
  testExpectOk(pnCreateMesh(&def, &mesh));
  pnPose *pose;
  pnPoseDef poseDef = {.mesh = mesh};
  testExpectOk(pnCreatePose(&poseDef, &pose));
  for (int volume = 0; volume < TEST_FORM_COUNT + 1; ++volume) {
    pnTreeDef treeDef = pnDefaultTreeDef();
    pnTreeLab treeLab = {0};
    treeDef.lab = &treeLab;
    treeDef.pose = pose;
    treeLab.form = volume < TEST_FORM_COUNT ? (pnForm)volume : PN_FORM_BOX;
    treeDef.update = volume < TEST_FORM_COUNT ? PN_UPDATE_DEFAULT : PN_UPDATE_BERGEN;
    pnTree *tree;
    testExpectOk(pnCreateTree(&treeDef, &tree));
    testExpectOk(pnTree_Update(tree, NULL));
    pnFresh fresh = {.alone = true};
    for (int i = 0; i < 9 * 9 * 9; ++i) {
      const float p[3] = {(float)(i % 9) - 3.5f, (float)(i / 9 % 9) - 4, (float)(i / 81) - 4};
      int32_t counts[2] = {0, 0};
      uint32_t parts[2];
      pnWindings windings = {.counts = counts, .parts = parts};
      pn_findWindings(tree, p, partOf, &fresh, &windings);
      // listed are those that were met, each once
      assert_int_equal(windings.partCount, (counts[0] & 1) + (counts[1] & 1));
      for (uint32_t j = 0; j < windings.partCount; ++j) assert_int_equal(counts[parts[j]] & 1, 1);
      assert_true(windings.partCount < 2 || parts[0] != parts[1]);
      for (int part = 0; part < 2; ++part) {
        // On which side of each pair of walls; on a wall there is no answer.
        bool inside = true, onWall = false;
        for (int k = 0; k < 3; ++k) {
          float x = fabsf(p[k] - (float)part);
          inside = inside && x < 2;
          onWall = onWall || x == 2;
        }
        if (!onWall) assert_int_equal(pn_windingOf(&windings, (uint32_t)part), inside ? (part ? -1 : 1) : 0);
      }
    }
    pnDestroyTree(tree);
  }
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
  pnDestroyMesh(box);
  free(v);
  free(c);
  free(partOf);
}

/* Some triangles of a grid, in any order: two that make a parallelogram, slim ones, points, and some of any shape. */
static uint32_t makeFew(TestRandom *random, int round, pnNearFace few[8]) {
  float o[3], a[3], b[3], size = ldexpf(1, (int)testBelow(random, 20) - 10);
  uint32_t count = 2 + testBelow(random, 7);
  for (int k = 0; k < 3; ++k) {
    o[k] = size * ((float)testBelow(random, 9) - 4);
    a[k] = size * ((float)testBelow(random, 17) - 8);
    b[k] = size * ((float)testBelow(random, 17) - 8);
  }
  for (uint32_t i = 0; i < count; ++i) {
    few[i] = (pnNearFace){.triangle = 7 * (count - i) % 11};
    for (int k = 0; k < 3; ++k) {
      float c[3] = {o[k], o[k] + a[k], o[k] + b[k]};
      if (i == 1) c[0] = o[k] + a[k] + b[k];
      for (int j = 0; i > 1 && j < 3; ++j)
        c[j] = round % 3 == 0   ? testFloat(random, -size, size)
               : round % 3 == 1 ? c[j] + size * ((float)testBelow(random, 5) - 2)
                                : (float)j * a[k] + testFloat(random, 0, 1e-6f) * b[k];
      for (int j = 0; j < 3; ++j) few[i].corner[j][k] = c[j];
    }
    pn_findNormal(&few[i]);
  }
  return count;
}

typedef struct Ball {
  pnMesh *mesh;
  pnPose *pose;
  pnTree *tree;
} Ball;

static Ball openBall(void) {
  Ball ball;
  testExpectOk(pnMakeIcosphere(1, 1.0f, &ball.mesh));
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = ball.mesh;
  testExpectOk(pnCreatePose(&poseDef, &ball.pose));
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = ball.pose;
  testExpectOk(pnCreateTree(&def, &ball.tree));
  return ball;
}

static void closeBall(Ball *ball) {
  pnDestroyTree(ball->tree);
  pnDestroyPose(ball->pose);
  pnDestroyMesh(ball->mesh);
}

/* Of a few triangles that are tried one after the other, those whose planes are too far are left out; the answer is that of all of them. Points
 * above the edge that two have in common, in a plane, above corners, and anywhere. */
static void aFewAreTried(void **state) {
  (void)state;
  TestRandom random = testRandom(15);
  Ball ball = openBall();
  pnLattice lattice = pn_latticeOf(ball.tree);
  pnFresh fresh = {.alone = true};
  for (uint32_t round = 0; round < testRounds(20000); ++round) {
    pnNearFace few[8];
    pnNearFilter filter = {.few = few, .fewCount = makeFew(&random, (int)round, few)};
    const pnNearFace *face = &few[testBelow(&random, filter.fewCount)];
    double along = testBelow(&random, 9) / 8.0, up = testFloat(&random, -4, 4), p[3];
    for (int k = 0; k < 3; ++k)
      p[k] = face->corner[1][k] * along + face->corner[2][k] * (1 - along) + face->normal[k] * up;
    if (round % 5 == 0)
      for (int k = 0; k < 3; ++k) p[k] += (double)testFloat(&random, -4, 4);
    pnNear truth = {.distance2 = INFINITY, .triangle = PN_NONE}, near = truth;
    for (uint32_t i = 0; i < filter.fewCount; ++i) pn_tryFace(&few[i], p, &truth);
    pn_findNear(ball.tree, &lattice, p, &filter, &fresh, &near);
    assert_int_equal(near.triangle, truth.triangle);
    assert_true(near.distance2 == truth.distance2);
    assert_memory_equal(near.point, truth.point, sizeof near.point);
  }
  closeBall(&ball);
}

static void errors(void **state) {
  (void)state;
  Ball ball = openBall();
  const float bad[6] = {0, 0, 0, 0, NAN, 0};
  pnClosest out[2];
  testExpectFailure(pnFindClosest(ball.tree, bad, 2, NULL, out), PN_ERROR_NUMBER, "point 1");
  pnClosestDef closest = pnDefaultClosestDef();
  closest.farthest = -1;
  testExpectFailure(pnFindClosest(ball.tree, bad, 1, &closest, out), PN_ERROR_ARGUMENT, "farthest");
  closeBall(&ball);
  assert_int_equal(pnGetByteCount(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(freeBodies),   cmocka_unit_test(everyMotion),   cmocka_unit_test(movingBodies),
      cmocka_unit_test(soups),        cmocka_unit_test(againstRaster), cmocka_unit_test(windingsAreExact),
      cmocka_unit_test(aFewAreTried), cmocka_unit_test(errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
