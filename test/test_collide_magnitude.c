/* test_collide_magnitude.c: contacts at the ends of float. Each test is a case that was once missed: products of a grid
 * that underflow, transforms of subnormal numbers, coordinates that cancel along the directions of a k-DOP. */
#include "support.h"

#include <math.h>

#include "pinch/world.h"

/* ---------------------------------------------------------------- bodies */

static pnMesh *oneTriangle(const float vertices[9]) {
  static const uint32_t corners[3] = {0, 1, 2};
  return testMakeMesh(vertices, 3, corners, 1);
}

static size_t pairsOf(pnWorld *world) {
  pnFrame frame = pnWorld_Collide(world, NULL);
  testExpectOk(frame.result);
  return frame.pairCount;
}

static pnWorld *emptyWorld(void) {
  pnWorldDef def = pnDefaultWorldDef();
  pnWorld *world;
  testExpectOk(pnCreateWorld(&def, &world));
  return world;
}

static pnBodyId addBody(pnWorld *world, const pnMesh *mesh, pnBodyKind kind, pnForm form, pnUpdate update) {
  pnBodyDef def = pnDefaultBodyDef();
  pnTreeLab lab = {0};
  def.tree.lab = &lab;
  def.mesh = mesh;
  def.kind = kind;
  lab.form = form;
  def.tree.update = update;
  lab.leafSize = 2;
  pnBodyId body;
  testExpectOk(pnWorld_CreateBody(world, &def, &body));
  return body;
}

/* ---------------------------------------------------------------- tiny beside huge */

/* A segment that ends at x = -2^-tiny, with an extent of 2^big, and one that starts there and has no such extent in x. */
static void expectTouch(int big, int tiny, pnForm a, pnForm b) {
  const float y = -ldexpf(1, big), e = -ldexpf(1.5f, big), x = -ldexpf(1, -tiny);
  const float first[9] = {-1, y, 0, x, e, 0, -1, y, 0}, second[9] = {0, 0, 0, 0, 0, 0, x, e, 0};
  pnMesh *meshes[2] = {oneTriangle(first), oneTriangle(second)};
  pnWorld *world = emptyWorld();
  addBody(world, meshes[0], PN_BODY_FREE, a, PN_UPDATE_DEFAULT);
  addBody(world, meshes[1], PN_BODY_FREE, b, PN_UPDATE_DEFAULT);
  assert_int_equal(pairsOf(world), 1);
  pnDestroyWorld(world);
  pnDestroyMesh(meshes[0]);
  pnDestroyMesh(meshes[1]);
}

static void tinyCoordinatesMeetHugeExtents(void **state) {
  (void)state;
  for (int big = 16; big <= 120; big += 4)
    for (int tiny = 161 - big; tiny <= 165 - big; ++tiny)
      for (int volume = 0; volume < TEST_FORM_COUNT && tiny < 150; ++volume)
        expectTouch(big, tiny, (pnForm)volume, (pnForm)volume);
}

/* A wide body whose lowest x is -tiny, and a small one of another volume that ends there. */
static void tinyCoordinatesMeetOtherVolumes(void **state) {
  (void)state;
  for (int tiny = 20; tiny < 150; tiny += 3)
    for (int pair = 0; pair < TEST_FORM_COUNT * TEST_FORM_COUNT; ++pair) {
      const float x = -ldexpf(1, -tiny), wide = ldexpf(1, 120), small = 2 * x;
      const float first[9] = {x, 0, 0, wide, 0, 0, wide, wide, 0}, second[9] = {x, 0, 0, small, 0, 0, small, x, 0};
      pnMesh *meshes[2] = {oneTriangle(first), oneTriangle(second)};
      pnWorld *world = emptyWorld();
      addBody(world, meshes[0], PN_BODY_FREE, (pnForm)(pair % TEST_FORM_COUNT), PN_UPDATE_DEFAULT);
      addBody(world, meshes[1], PN_BODY_FREE, (pnForm)(pair / TEST_FORM_COUNT), PN_UPDATE_DEFAULT);
      assert_int_equal(pairsOf(world), 1);
      pnDestroyWorld(world);
      pnDestroyMesh(meshes[0]);
      pnDestroyMesh(meshes[1]);
    }
}

/* ---------------------------------------------------------------- transforms */

/* Does a point at each vertex of a turned triangle meet it? */
static void expectCorners(pnWorld *world, pnBodyId body, pnForm form, pnUpdate update) {
  for (uint32_t k = 0; k < 3; ++k) {
    pnVec3 p = pnPose_GetVertex(pnBody_GetPose(world, body), k);
    const float at[9] = {p.x, p.y, p.z, p.x, p.y, p.z, p.x, p.y, p.z};
    pnMesh *mesh = oneTriangle(at);
    pnBodyKind kind = update == PN_UPDATE_BERGEN ? PN_BODY_RIGID : PN_BODY_FREE;
    pnBodyId point = addBody(world, mesh, kind, form, update);
    assert_int_equal(pairsOf(world), 1);
    testExpectOk(pnTree_Validate(pnBody_GetTree(world, body)));
    testExpectOk(pnWorld_DestroyBody(world, point));
    pnDestroyMesh(mesh);
  }
}

static void turnTriangles(TestRandom *random, pnForm form, pnUpdate update, int exponent) {
  for (int round = 0; round < 40; ++round) {
    const float scale = ldexpf(1, exponent);
    float at[9];
    for (int i = 0; i < 9; ++i) at[i] = testFloat(random, -1, 1) * scale;
    pnMesh *mesh = oneTriangle(at);
    pnWorld *world = emptyWorld();
    pnBodyId body = addBody(world, mesh, PN_BODY_RIGID, form, update);
    pnMatrix turn = testRotation(random, round % 2 ? scale : 0);
    testExpectOk(pnBody_SetTransform(world, body, &turn));
    expectCorners(world, body, form, update);
    if (update == PN_UPDATE_BERGEN) expectCorners(world, body, form, PN_UPDATE_DEFAULT);
    pnDestroyWorld(world);
    pnDestroyMesh(mesh);
  }
}

static void turnedBodiesMeetAtEveryScale(void **state) {
  (void)state;
  TestRandom random = testRandom(1);
  static const int exponents[] = {-148, -142, -136, -130, -124, -60, 0, 60, 120, 125};
  for (size_t i = 0; i < sizeof exponents / sizeof *exponents; ++i) {
    for (int volume = 0; volume < TEST_FORM_COUNT; ++volume)
      turnTriangles(&random, (pnForm)volume, PN_UPDATE_DEFAULT, exponents[i]);
    turnTriangles(&random, PN_FORM_BOX, PN_UPDATE_BERGEN, exponents[i]);
  }
}

/* A small ball far from its origin, turned about that: x + y is small where x and y, and what is rounded off them, are not. */
static void bodiesFarFromTheirOriginStayInTheirVolumes(void **state) {
  (void)state;
  pnMesh *ball;
  testExpectOk(pnMakeIcosphere(1, 0.01f, &ball));
  const uint32_t n = pnMesh_GetVertexCount(ball);
  float vertices[3 * 42];
  assert_int_equal(n, 42);
  TestRandom random = testRandom(2);
  for (int round = 0; round < 27 * 12; ++round) {
    const int place = round % 27;
    const float far[3] = {(float)(place % 3 - 1) * 1e6f, (float)(place / 3 % 3 - 1) * 1e6f,
                          (float)(place / 9 - 1) * 1e6f};
    for (uint32_t i = 0; i < 3 * n; ++i) vertices[i] = pnMesh_GetVertices(ball)[i] + far[i % 3];
    pnMesh *mesh = testMakeMesh(vertices, n, pnMesh_GetTriangles(ball), pnMesh_GetTriangleCount(ball));
    const float s = sqrtf(0.5f);
    pnMatrix turns[4] = {{{{s, -s, 0, 0}, {s, s, 0, 0}, {0, 0, 1, 0}}},
                         {{{1, 0, 0, 0}, {0, s, s, 0}, {0, -s, s, 0}}},
                         {{{s, 0, s, 0}, {0, 1, 0, 0}, {-s, 0, s, 0}}},
                         testRotation(&random, 0)};
    for (int volume = 0; volume < TEST_FORM_COUNT; ++volume) {
      pnWorld *world = emptyWorld();
      pnBodyId body = addBody(world, mesh, PN_BODY_RIGID, (pnForm)volume, PN_UPDATE_DEFAULT);
      testExpectOk(pnBody_SetTransform(world, body, &turns[round / 27 % 4]));
      testExpectOk(pnTree_Validate(pnBody_GetTree(world, body)));
      pnDestroyWorld(world);
    }
    pnDestroyMesh(mesh);
  }
  pnDestroyMesh(ball);
}

/* ---------------------------------------------------------------- the price */

/* Exact tests of two balls through each other. */
static uint64_t testsAt(float scale, pnBodyKind kind, pnBig big) {
  pnMesh *ball, *meshes[2];
  testExpectOk(pnMakeIcosphere(2, 1, &ball));
  const uint32_t n = pnMesh_GetVertexCount(ball);
  float vertices[3 * 162];
  assert_int_equal(n, 162);
  pnWorld *world = emptyWorld();
  for (int i = 0; i < 2; ++i) {
    for (uint32_t k = 0; k < 3 * n; ++k)
      vertices[k] = (pnMesh_GetVertices(ball)[k] + (k % 3 == 0 ? 0.7f * (float)i : 0)) * scale;
    meshes[i] = testMakeMesh(vertices, n, pnMesh_GetTriangles(ball), pnMesh_GetTriangleCount(ball));
    pnBodyDef def = pnDefaultBodyDef();
    def.mesh = meshes[i];
    def.kind = kind;
    def.tree.big = big;
    def.tree.self = big == PN_BIG_WHOLE;
    pnBodyId body;
    testExpectOk(pnWorld_CreateBody(world, &def, &body));
  }
  pnFrame frame = pnWorld_Collide(world, NULL);
  testExpectOk(frame.result);
  assert_true(frame.pairCount > 100);
  pnDestroyWorld(world);
  for (int i = 0; i < 2; ++i) pnDestroyMesh(meshes[i]);
  pnDestroyMesh(ball);
  return frame.cost.exactTests;
}

/* Grids are as fine for small bodies as for others, and pieces of big triangles end where floats do. */
static void smallBodiesCostWhatOthersDo(void **state) {
  (void)state;
  static const float scales[] = {1e-10f, 1e-30f, 1e-36f, 1e-37f, 1e-38f, 1e-39f, 1e-40f};
  for (size_t i = 0; i < sizeof scales / sizeof *scales; ++i) {
    assert_true(testsAt(scales[i], PN_BODY_FREE, PN_BIG_WHOLE) < 2 * testsAt(1, PN_BODY_FREE, PN_BIG_WHOLE));
    for (int big = 0; big < PN_BIG_COUNT; ++big)
      assert_true(testsAt(scales[i], PN_BODY_STATIC, (pnBig)big) < 2 * testsAt(1, PN_BODY_STATIC, (pnBig)big));
  }
}

/* A triangle far from the origin is not divided into pieces that are smaller than its rounding. */
static void piecesEndWhereFloatsDo(void **state) {
  (void)state;
  const float far[9] = {1e7f, 0, 0, 1e7f + 8, 0, 0, 1e7f, 8, 0};
  pnMesh *mesh = oneTriangle(far);
  pnPose *pose;
  testExpectOk(pnCreatePose(&(pnPoseDef){mesh, NULL, NULL}, &pose));
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = pose;
  def.big = PN_BIG_DIVIDED;
  def.self = false;
  pnTree *tree;
  testExpectOk(pnCreateTree(&def, &tree));
  assert_true(pnTree_GetNodeCount(tree) < 10);
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tinyCoordinatesMeetHugeExtents), cmocka_unit_test(tinyCoordinatesMeetOtherVolumes),
      cmocka_unit_test(turnedBodiesMeetAtEveryScale),   cmocka_unit_test(bodiesFarFromTheirOriginStayInTheirVolumes),
      cmocka_unit_test(smallBodiesCostWhatOthersDo),    cmocka_unit_test(piecesEndWhereFloatsDo),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
