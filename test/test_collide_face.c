/* test_collide_face.c: bodies of a few triangles beside large ones (collide/face.h): pairs are those of exact arithmetic, for every form of volume, at every
 * magnitude, wherever the one crosses, touches or misses the other; what stands on a ramp or in a room opens little; and where planes take
 * nothing out they are left alone. */
#include "agree.h"

#include "collide/face.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Body {
  AgreeBody body;
  pnPose *pose;
  pnTree *tree;
} Body;

static Body openBody(pnMesh *mesh, pnForm form, pnUpdate update) {
  Body b = {.body.mesh = mesh};
  b.body.positions = calloc(3 * (size_t)pnMesh_GetVertexCount(mesh) + 1, sizeof(float));
  assert_non_null(b.body.positions);
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = mesh;
  testExpectOk(pnCreatePose(&poseDef, &b.pose));
  pnTreeLab lab = {.form = form};
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = b.pose;
  def.update = update;
  def.lab = &lab;
  testExpectOk(pnCreateTree(&def, &b.tree));
  return b;
}

static void closeBody(Body *b) {
  pnDestroyTree(b->tree);
  pnDestroyPose(b->pose);
  pnDestroyMesh(b->body.mesh);
  free(b->body.positions);
}

/* The rest pose, turned, stretched along its axes first and moved. */
static void place(Body *b, const pnMatrix *turn, const float stretch[3], const float at[3], float scale) {
  const float *rest = pnMesh_GetVertices(b->body.mesh);
  for (uint32_t v = 0; v < pnMesh_GetVertexCount(b->body.mesh); ++v) {
    float p[3], *out = b->body.positions + 3 * (size_t)v;
    for (int k = 0; k < 3; ++k) p[k] = rest[3 * v + (uint32_t)k] * stretch[k] + at[k];
    for (int k = 0; k < 3; ++k) out[k] = scale * (turn->m[k][0] * p[0] + turn->m[k][1] * p[1] + turn->m[k][2] * p[2]);
  }
  testExpectOk(pnPose_SetVertices(b->pose, b->body.positions, pnMesh_GetVertexCount(b->body.mesh)));
  testExpectOk(pnTree_Update(b->tree, NULL));
}

static pnCost collide(Body *a, Body *b, const pnTasks *tasks, pnPairList *list) {
  pnCost cost;
  pnQueryDef def = pnDefaultQueryDef();
  if (tasks) def.tasks = *tasks;
  testExpectOk(pnCollideTrees(a->tree, b->tree, &def, list, &cost));
  return cost;
}

static pnMesh *ball(uint32_t subdivisions) {
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(subdivisions, 1, &mesh));
  return mesh;
}

/* Of a few triangles: one, a square, a box, a tetrahedron of slivers, sixteen from anywhere. */
enum { KINDS = 5 };
static pnMesh *few(uint32_t kind, TestRandom *random) {
  float v[3 * 48] = {-2, -2, 0, 2, -2, 0, 0, 3, 0};
  uint32_t t[48];
  pnMesh *mesh;
  for (uint32_t i = 0; i < 48; ++i) t[i] = i;
  if (kind == 0) return testMakeMesh(v, 3, t, 1);
  if (kind == 1) testExpectOk(pnMakeGrid(3, 3, 1, 1, &mesh));
  else if (kind == 2) testExpectOk(pnMakeBox((pnVec3){1, 1, 1}, 1, &mesh));
  if (kind == 1 || kind == 2) return mesh;
  if (kind == 3) {
    const float corners[12] = {-4, 0, 0, 4, 0.001f, 0, 4, 0, 0.002f, 4, 0.5f, 0.5f};
    const uint32_t faces[12] = {0, 1, 2, 0, 1, 3, 1, 2, 3, 0, 2, 3};
    return testMakeMesh(corners, 4, faces, 4);
  }
  for (uint32_t i = 0; i < 3 * 48; ++i) v[i] = testFloat(random, -1.5f, 1.5f);
  return testMakeMesh(v, 48, t, 16);
}

static pnPool *s_pool;

/* ---------------------------------------------------------------- pairs */

static void pairsAreExact(void **state) {
  (void)state;
  TestRandom random = testRandom(71);
  pnTasks tasks = pnPool_GetTasks(s_pool);
  pnPairList *list;
  uint64_t pairs = 0, asked = 0, empty = 0;
  testExpectOk(pnCreatePairList(&list));
  for (uint32_t form = 0; form < TEST_FORM_COUNT; ++form) {
    for (uint32_t kind = 0; kind < KINDS; ++kind) {
      Body a = openBody(ball(3), (pnForm)form, PN_UPDATE_DEFAULT),
           b = openBody(few(kind, &random), (pnForm)form, PN_UPDATE_DEFAULT);
      assert_true(pn_areFewAndMany(b.tree, a.tree));
      for (uint32_t round = 0; round < testRounds(12); ++round) {
        pnMatrix turn = testRotation(&random, 0), other = testRotation(&random, 0);
        float scale = ldexpf(1, 50 * ((int)testBelow(&random, 3) - 1)), size = round % 3 ? 1 : 30;
        float all[3] = {size, size, round % 4 ? size : 0.01f}, nowhere[3] = {0, 0, 0};
        float at[3] = {0, 0, testFloat(&random, -1.2f, 1.2f)}, round3[3] = {1, 1, 1};
        place(&a, &other, round3, nowhere, scale);
        place(&b, &turn, all, at, scale);
        AgreePairs truth = agreeTruth(&a.body, &b.body);
        pnCost cost = collide(&a, &b, round % 2 ? &tasks : NULL, list);
        assert_true(agreeEqual(&truth, list));
        asked += cost.planeTests;
        pairs += truth.count;
        empty += truth.count == 0;
        collide(&b, &a, NULL, list);
        assert_int_equal(pnPairList_GetCount(list), truth.count);
        free(truth.pairs);
      }
      closeBody(&a);
      closeBody(&b);
    }
  }
  assert_true(pairs > 1000 && asked > 1000 && empty > testRounds(20));
  pnDestroyPairList(list);
}

/* A ball that touches a floor from above in one vertex, and by as little as floats can tell not. */
static void touchingCounts(void **state) {
  (void)state;
  static const pnMatrix as = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
  Body a = openBody(ball(3), PN_FORM_BOX, PN_UPDATE_DEFAULT),
       b = openBody(few(1, NULL), PN_FORM_BOX, PN_UPDATE_DEFAULT);
  const float one[3] = {1, 1, 1}, wide[3] = {40, 40, 1}, nowhere[3] = {0, 0, 0};
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  place(&a, &as, one, nowhere, 1);
  float lowest = 0;
  for (uint32_t v = 0; v < pnMesh_GetVertexCount(a.body.mesh); ++v) lowest = fminf(lowest, a.body.positions[3 * v + 2]);
  /* a floor at the height of the lowest vertex, and at the next float below */
  for (int miss = 0; miss < 2; ++miss) {
    place(&b, &as, wide, nowhere, 1);
    for (uint32_t v = 0; v < pnMesh_GetVertexCount(b.body.mesh); ++v)
      b.body.positions[3 * v + 2] = miss ? nextafterf(lowest, -2) : lowest;
    testExpectOk(pnPose_SetVertices(b.pose, b.body.positions, pnMesh_GetVertexCount(b.body.mesh)));
    testExpectOk(pnTree_Update(b.tree, NULL));
    AgreePairs truth = agreeTruth(&a.body, &b.body);
    collide(&a, &b, NULL, list);
    assert_true(agreeEqual(&truth, list) && (truth.count > 0) == !miss);
    free(truth.pairs);
  }
  pnDestroyPairList(list);
  closeBody(&a);
  closeBody(&b);
}

/* ---------------------------------------------------------------- work */

static void rampsAndRoomsOpenLittle(void **state) {
  (void)state;
  TestRandom random = testRandom(72);
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  for (int room = 0; room < 2; ++room) {
    Body a = openBody(ball(5), PN_FORM_BOX, PN_UPDATE_DEFAULT),
         b = openBody(few(2, NULL), PN_FORM_BOX, PN_UPDATE_DEFAULT);
    uint32_t leaves = a.tree->shape->leafCount;
    for (uint32_t i = 0; i < 10; ++i) {
      pnMatrix turn = testRotation(&random, 0);
      const float one[3] = {1, 1, 1}, nowhere[3] = {0, 0, 0};
      const float size[3] = {room ? 5.0f : 60, room ? 5.0f : 60, room ? 5.0f : 1},
                  under[3] = {0, 0, room ? 1.505f : -1.495f};
      float at[3];
      for (int k = 0; k < 3; ++k)
        at[k] = room ? 1.1f : under[k]; /* in a corner of the room; sunk into the ramp a little */
      if (!room) at[0] = at[1] = 0;
      place(&a, &turn, one, nowhere, 1);
      place(&b, &turn, size, at, 1);
      pnCost cost = collide(&a, &b, NULL, list);
      assert_true(cost.leafPairs + cost.nodePairs < leaves / 2 && cost.planeTests > 0);
    }
    closeBody(&a);
    closeBody(&b);
  }
  pnDestroyPairList(list);
}

/* A square in whose plane all of a flattened ball is: planes are asked for a trial, and then hardly any more. */
static void whatDoesNotPayRests(void **state) {
  (void)state;
  TestRandom random = testRandom(73);
  Body a = openBody(ball(5), PN_FORM_BOX, PN_UPDATE_DEFAULT),
       b = openBody(few(1, NULL), PN_FORM_BOX, PN_UPDATE_DEFAULT);
  pnMatrix turn = testRotation(&random, 0);
  const float one[3] = {1, 1, 1}, nowhere[3] = {0, 0, 0}, flat[3] = {1, 1, 1e-4f};
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  place(&a, &turn, flat, nowhere, 1);
  place(&b, &turn, one, nowhere, 1);
  pnCost cost = collide(&a, &b, NULL, list);
  AgreePairs truth = agreeTruth(&a.body, &b.body);
  assert_true(agreeEqual(&truth, list) && truth.count > 100);
  assert_true(cost.planeTests > 0 && 3 * cost.planeTests < cost.leafPairs + cost.nodePairs);
  free(truth.pairs);
  pnDestroyPairList(list);
  closeBody(&a);
  closeBody(&b);
}

/* Of a node of the smaller body that is no leaf all triangles are asked: every leaf of a ball with the root of a box in it. */
static void rootsAreAskedWhole(void **state) {
  (void)state;
  TestRandom random = testRandom(75);
  Body a = openBody(ball(4), PN_FORM_BOX, PN_UPDATE_DEFAULT),
       b = openBody(few(2, NULL), PN_FORM_BOX, PN_UPDATE_DEFAULT);
  const float one[3] = {1, 1, 1}, nowhere[3] = {0, 0, 0}, size[3] = {0.9f, 0.9f, 0.9f};
  pnMatrix turn = testRotation(&random, 0), other = testRotation(&random, 0);
  place(&a, &turn, one, nowhere, 1);
  place(&b, &other, size, (const float[3]){0.6f, 0.3f, 0.2f}, 1);
  assert_true(b.tree->shape->leafCount > 1 && b.tree->shape->leafCount <= PN_FACE_LEAVES);
  const pnShape *shape = a.tree->shape;
  pnFresh fresh = {.alone = true};
  for (uint32_t node = 0; node < shape->innerCount; ++node) pn_freshen(a.tree, node, &fresh);
  pnPair *pairs = malloc(shape->leafCount * sizeof(pnPair));
  uint32_t *slotOf = malloc(pnMesh_GetTriangleCount(a.body.mesh) * sizeof(uint32_t));
  assert_true(pairs && slotOf);
  for (uint32_t i = 0; i < shape->leafCount; ++i) pairs[i] = (pnPair){shape->innerCount + i, 0};
  pnTraversal t;
  pnWorker w = {0};
  pn_beginTraversal(a.tree, b.tree, PN_OPEN_DEFAULT, &t);
  if (t.swapped)
    for (uint32_t i = 0; i < shape->leafCount; ++i) pairs[i] = (pnPair){0, pairs[i].a};
  size_t kept = pn_pruneFaces(&t, &w, pairs, shape->leafCount);
  AgreePairs truth = agreeTruth(&a.body, &b.body);
  pn_findSlots(shape, slotOf);
  assert_true(truth.count > 50 && kept > 10 && kept < shape->leafCount / 2);
  for (size_t i = 0; i < truth.count; ++i) {
    uint32_t leaf = shape->innerCount + slotOf[truth.pairs[i].a] / PN_LANES;
    size_t k = 0;
    while (k < kept && (t.swapped ? pairs[k].b : pairs[k].a) != leaf) ++k;
    assert_true(k < kept);
  }
  free(truth.pairs);
  free(pairs);
  free(slotOf);
  closeBody(&a);
  closeBody(&b);
}

/* ---------------------------------------------------------------- who has none */

/* Of a step nothing is left out that is beside the planes of one of its moments: a square that goes through a ball. */
static void stepsAreWhole(void **state) {
  (void)state;
  static const pnMatrix as = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
  Body a = openBody(ball(5), PN_FORM_BOX, PN_UPDATE_DEFAULT),
       b = openBody(few(1, NULL), PN_FORM_BOX, PN_UPDATE_DEFAULT);
  const float one[3] = {1, 1, 1}, nowhere[3] = {0, 0, 0}, above[3] = {0, 0, 3}, below[3] = {0, 0, -3};
  pnSweep *sweeps[2];
  pnImpactList *list;
  testExpectOk(pnCreateImpactList(&list));
  testExpectOk(pnCreateSweep(a.body.mesh, &sweeps[0]));
  testExpectOk(pnCreateSweep(b.body.mesh, &sweeps[1]));
  place(&a, &as, one, nowhere, 1);
  place(&b, &as, one, above, 1);
  testExpectOk(pnSweep_SetBegin(sweeps[0], a.pose));
  testExpectOk(pnSweep_SetBegin(sweeps[1], b.pose));
  place(&b, &as, one, below, 1);
  testExpectOk(pnSweep_SetEnd(sweeps[0], a.pose));
  testExpectOk(pnSweep_SetEnd(sweeps[1], b.pose));
  testExpectOk(pnCollideSwept(sweeps[0], sweeps[1], NULL, list, NULL));
  /* every vertex of the ball that is over the square meets one of its faces */
  uint32_t over = 0;
  for (uint32_t v = 0; v < pnMesh_GetVertexCount(a.body.mesh); ++v) {
    const float *p = a.body.positions + 3 * (size_t)v;
    over += fabsf(p[0]) < 1.5f && fabsf(p[1]) < 1.5f;
  }
  assert_true(over > 5000 && pnImpactList_GetCount(list) >= over);
  pnDestroySweep(sweeps[0]);
  pnDestroySweep(sweeps[1]);
  pnDestroyImpactList(list);
  closeBody(&a);
  closeBody(&b);
}

/* Soups of a few triangles that are other ones in every frame, in every order that they may be kept in. */
static void soupsAreAskedAsTheyAre(void **state) {
  (void)state;
  enum { COUNT = 12 };
  TestRandom random = testRandom(74);
  const float one[3] = {1, 1, 1}, nowhere[3] = {0, 0, 0};
  pnMatrix turn = testRotation(&random, 0);
  Body a = openBody(ball(4), PN_FORM_BOX, PN_UPDATE_DEFAULT);
  float v[9 * COUNT + 1] = {0};
  uint32_t index[3 * COUNT];
  pnPairList *list;
  size_t pairs = 0;
  place(&a, &turn, one, nowhere, 1);
  testExpectOk(pnCreatePairList(&list));
  for (uint32_t i = 0; i < 3 * COUNT; ++i) index[i] = i;
  for (int method = PN_BUCKET_DEFAULT; method < PN_BUCKET_COUNT; ++method) {
    pnSoup *soup;
    pnTree *tree = NULL;
    testExpectOk(pnCreateSoup(NULL, &soup));
    for (int frame = 0; frame < 12; ++frame) {
      for (uint32_t i = 0; i < 9 * COUNT; ++i) v[i] = testFloat(&random, -1.5f, 1.5f);
      if (frame == 0) testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, v, COUNT, NULL));
      else testExpectOk(pnSoup_SetAll(soup, v, COUNT));
      pnTreeLab lab = {.method = (pnBucketMethod)method};
      pnBucketDef def = pnDefaultBucketDef();
      def.soup = soup;
      def.lab = &lab;
      if (!tree) testExpectOk(pnCreateBucketTree(&def, &tree));
      testExpectOk(pnTree_Update(tree, NULL));
      AgreeBody body = {testMakeMesh(v, 3 * COUNT, index, COUNT), v};
      AgreePairs truth = agreeTruth(&a.body, &body);
      testExpectOk(pnCollideTrees(a.tree, tree, NULL, list, NULL));
      assert_true(agreeEqual(&truth, list));
      pairs += truth.count;
      free(truth.pairs);
      pnDestroyMesh(body.mesh);
    }
    pnDestroyTree(tree);
    pnDestroySoup(soup);
  }
  assert_true(pairs > 1000);
  pnDestroyPairList(list);
  closeBody(&a);
}

static int setUp(void **state) {
  (void)state;
  return pnCreatePool(3, &s_pool) == PN_OK ? 0 : -1;
}
static int tearDown(void **state) {
  (void)state;
  pnDestroyPool(s_pool);
  return pnGetByteCount() == 0 ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pairsAreExact),           cmocka_unit_test(touchingCounts),
      cmocka_unit_test(rampsAndRoomsOpenLittle), cmocka_unit_test(whatDoesNotPayRests),
      cmocka_unit_test(rootsAreAskedWhole),      cmocka_unit_test(stepsAreWhole),
      cmocka_unit_test(soupsAreAskedAsTheyAre),
  };
  return cmocka_run_group_tests(tests, setUp, tearDown);
}
