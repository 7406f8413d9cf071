/* test_tree_shape.c: shapes (tree/shape.h): who holds one together with whom, and that what is worked out of one is made once,
 * also when several threads ask at the same time. */
#include "support.h"

#include "base/task.h"
#include "collide/fan.h"
#include "collide/flat.h"
#include "pinch/pinch.h"
#include "tree/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- twins */

typedef struct Ball {
  pnMesh *mesh;
  pnPose *pose;
  pnTree *tree;
} Ball;

static pnPose *poseOf(const pnMesh *mesh) {
  pnPoseDef def = pnDefaultPoseDef();
  pnPose *pose;
  def.mesh = mesh;
  testExpectOk(pnCreatePose(&def, &pose));
  return pose;
}

static pnTree *treeOf(const pnPose *pose, pnTreeDef def, const pnTree *twin) {
  pnTree *tree;
  def.pose = pose;
  def.twin = twin;
  testExpectOk(pnCreateTree(&def, &tree));
  return tree;
}

static Ball openBall(void) {
  Ball ball;
  testExpectOk(pnMakeIcosphere(3, 1, &ball.mesh));
  ball.pose = poseOf(ball.mesh);
  ball.tree = treeOf(ball.pose, pnDefaultTreeDef(), NULL);
  return ball;
}

static void closeBall(Ball *ball) {
  pnDestroyTree(ball->tree);
  pnDestroyPose(ball->pose);
  pnDestroyMesh(ball->mesh);
}

/* The same settings share; each other setting that a shape depends on does not. */
static void onlyTwinsShare(void **state) {
  (void)state;
  Ball ball = openBall();
  pnTree *twin = treeOf(ball.pose, pnDefaultTreeDef(), ball.tree);
  assert_ptr_equal(twin->shape, ball.tree->shape);
  pnDestroyTree(twin);
  enum { CASES = 7 };
  pnTreeDef defs[CASES];
  for (int i = 0; i < CASES; ++i) defs[i] = pnDefaultTreeDef();
  defs[0].lab = &(pnTreeLab){.build = PN_BUILD_SHAPE_MEAN};
  defs[1].lab = &(pnTreeLab){.form = PN_FORM_DOP14};
  defs[2].update = PN_UPDATE_TOP_DOWN;
  defs[3].lab = &(pnTreeLab){.arity = 4};
  defs[4].lab = &(pnTreeLab){.leafSize = 4};
  defs[5].lab = &(pnTreeLab){.cut = 200};
  defs[6].self = false;
  for (int i = 0; i < CASES; ++i) {
    pnTree *other = treeOf(ball.pose, defs[i], ball.tree);
    assert_ptr_not_equal(other->shape, ball.tree->shape);
    testExpectOk(pnTree_Validate(other));
    pnDestroyTree(other);
  }
  /* another mesh with the same triangles is another one */
  Ball second = openBall();
  pnTree *other = treeOf(second.pose, pnDefaultTreeDef(), ball.tree);
  assert_ptr_not_equal(other->shape, ball.tree->shape);
  pnDestroyTree(other);
  closeBall(&second);
  closeBall(&ball);
  assert_int_equal(pnGetByteCount(), 0);
}

/* A tree built anew leaves its twins alone; a shape lives as long as one of them. */
static void twinsPartInPeace(void **state) {
  (void)state;
  Ball ball = openBall();
  pnPose *pose = poseOf(ball.mesh);
  pnTree *twin = treeOf(pose, pnDefaultTreeDef(), ball.tree);
  const pnShape *shape = twin->shape;
  testExpectOk(pnTree_Rebuild(ball.tree));
  assert_ptr_not_equal(ball.tree->shape, shape);
  assert_ptr_equal(twin->shape, shape);
  testExpectOk(pnTree_Validate(twin));
  testExpectOk(pnTree_Validate(ball.tree));
  closeBall(&(Ball){NULL, ball.pose, ball.tree});
  testExpectOk(pnCollideSelf(twin, NULL, NULL, NULL));
  pnDestroyTree(twin);
  pnDestroyPose(pose);
  pnDestroyMesh(ball.mesh);
  assert_int_equal(pnGetByteCount(), 0);
}

/* A crowd that looks at itself costs what the first one worked out only once. */
static void proofsAreMadeOnce(void **state) {
  (void)state;
  Ball ball = openBall();
  testExpectOk(pnCollideSelf(ball.tree, NULL, NULL, NULL));
  const pnFans *fans = pn_fansOf(ball.tree);
  assert_non_null(fans);
  assert_non_null(ball.tree->flat);
  size_t before = pnGetByteCount();
  pnPose *pose = poseOf(ball.mesh);
  pnTree *twin = treeOf(pose, pnDefaultTreeDef(), ball.tree);
  testExpectOk(pnCollideSelf(twin, NULL, NULL, NULL));
  assert_ptr_equal(pn_fansOf(twin), fans);
  assert_ptr_equal(twin->flat->flat, ball.tree->flat->flat);
  /* less than half of the first, which had all of it before its fans and regions */
  assert_true(2 * (pnGetByteCount() - before) < pnTree_GetByteCount(ball.tree));
  pnDestroyTree(twin);
  pnDestroyPose(pose);
  closeBall(&ball);
  assert_int_equal(pnGetByteCount(), 0);
}

/* A rigid body that is given other vertices has volumes of its own from then on, and its twins do not notice. */
static void otherVerticesAreOnesOwn(void **state) {
  (void)state;
  Ball ball = openBall();
  pnTreeDef def = pnDefaultTreeDef();
  def.update = PN_UPDATE_RIGID;
  pnPose *pose[2] = {poseOf(ball.mesh), poseOf(ball.mesh)};
  pnTree *tree[2];
  tree[0] = treeOf(pose[0], def, NULL);
  tree[1] = treeOf(pose[1], def, tree[0]);
  assert_ptr_equal(tree[0]->shape, tree[1]->shape);
  uint32_t n = pnMesh_GetVertexCount(ball.mesh);
  float *larger = malloc(3 * sizeof(float) * n);
  assert_non_null(larger);
  for (int round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i < 3 * n; ++i) larger[i] = (2 + (float)round) * pnMesh_GetVertices(ball.mesh)[i];
    testExpectOk(pnPose_SetVertices(pose[1], larger, n));
    testExpectOk(pnTree_Update(tree[1], NULL));
    testExpectOk(pnTree_Validate(tree[1]));
    testExpectOk(pnTree_Validate(tree[0]));
    assert_float_equal(pnTree_GetBox(tree[1]).max.x, 2 + (float)round, 1e-3);
    assert_float_equal(pnTree_GetBox(tree[0]).max.x, 1, 1e-3);
  }
  free(larger);
  for (int i = 0; i < 2; ++i) {
    pnDestroyTree(tree[i]);
    pnDestroyPose(pose[i]);
  }
  closeBall(&ball);
  assert_int_equal(pnGetByteCount(), 0);
}

/* Read in place while there is no transform; with one there are moved vertices. Both answer alike. */
static void movedVerticesComeWithATransform(void **state) {
  (void)state;
  Ball ball = openBall();
  pnTreeDef def = pnDefaultTreeDef();
  def.self = false;
  pnTree *tree = treeOf(ball.pose, def, NULL);
  assert_null(tree->moved);
  size_t before = pnTree_GetByteCount(tree);
  pnMatrix shift = pnMatrix_Identity();
  shift.m[0][3] = 0.5f;
  testExpectOk(pnPose_SetTransform(ball.pose, &shift));
  testExpectOk(pnTree_Update(tree, NULL));
  assert_non_null(tree->moved);
  assert_null(tree->leafPositions);
  assert_true(pnTree_GetByteCount(tree) > before);
  testExpectOk(pnTree_Validate(tree));
  shift.m[0][3] = 0;
  testExpectOk(pnPose_SetTransform(ball.pose, &shift));
  testExpectOk(pnTree_Validate(tree));
  pnDestroyTree(tree);
  closeBall(&ball);
  assert_int_equal(pnGetByteCount(), 0);
}

/* ---------------------------------------------------------------- threads */

enum { ASKERS = 8 };

typedef struct Asked {
  const pnShape *shape;
  _Atomic uint32_t made, failed;
} Asked;

static pnResult makeSlowly(void *context, void **outData, size_t *outBytes) {
  Asked *asked = context;
  uint32_t turn = atomic_fetch_add(&asked->made, 1);
  double until = pn_clock() + 0.02;
  while (pn_clock() < until) pn_pause();
  if (turn == 0) return pn_fail(PN_ERROR_MEMORY, "the first one has bad luck");
  *outBytes = sizeof(uint32_t);
  *outData = pn_alloc(*outBytes);
  *(uint32_t *)*outData = 42;
  return PN_OK;
}

static void ask(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  Asked *asked = context;
  for (uint32_t i = begin; i < end; ++i) {
    pnResult result = pn_makePart(asked->shape, PN_PART_REST, makeSlowly, asked);
    const uint32_t *data = pn_partOf(asked->shape, PN_PART_REST);
    bool right = result == PN_OK ? data && *data == 42 : result == PN_ERROR_MEMORY;
    atomic_fetch_add(&asked->failed, result != PN_OK);
    if (!right) abort();
  }
}

/* One makes it, the others wait and see it; one who fails leaves it to the next. */
static void partsAreMadeByOne(void **state) {
  (void)state;
  pnShape *shape = pn_allocShape();
  assert_non_null(shape);
  pnPool *pool;
  testExpectOk(pnCreatePool(4, &pool));
  pnTasks tasks = pnPool_GetTasks(pool);
  Asked asked = {.shape = shape};
  assert_null(pn_partOf(shape, PN_PART_REST));
  pn_parallelFor(&tasks, ask, &asked, ASKERS, 1);
  assert_int_equal(asked.made, 2);
  assert_int_equal(asked.failed, 1);
  pnDestroyPool(pool);
  pn_releaseShape(shape);
  assert_int_equal(pnGetByteCount(), 0);
}

/* Twins on several threads, each the first to ask: the same fans, the same answer. */
typedef struct Crowd {
  Ball *ball;
  pnTree *tree[ASKERS];
  size_t pairs[ASKERS];
} Crowd;

static void askCrowd(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  Crowd *crowd = context;
  for (uint32_t i = begin; i < end; ++i) {
    pnCost cost;
    if (pnCollideSelf(crowd->tree[i], NULL, NULL, &cost) != PN_OK) abort();
    crowd->pairs[i] = cost.pairs;
  }
}

static void crowdsAskTogether(void **state) {
  (void)state;
  Ball ball = openBall();
  Crowd crowd = {.ball = &ball};
  pnPool *pool;
  testExpectOk(pnCreatePool(4, &pool));
  pnTasks tasks = pnPool_GetTasks(pool);
  for (uint32_t i = 0; i < ASKERS; ++i) crowd.tree[i] = treeOf(ball.pose, pnDefaultTreeDef(), ball.tree);
  pn_parallelFor(&tasks, askCrowd, &crowd, ASKERS, 1);
  for (uint32_t i = 0; i < ASKERS; ++i) {
    assert_ptr_equal(pn_fansOf(crowd.tree[i]), pn_fansOf(crowd.tree[0]));
    assert_int_equal(crowd.pairs[i], 0);
  }
  for (uint32_t i = 0; i < ASKERS; ++i) pnDestroyTree(crowd.tree[i]);
  pnDestroyPool(pool);
  closeBall(&ball);
  assert_int_equal(pnGetByteCount(), 0);
}

/* ---------------------------------------------------------------- crowds in a world */

enum { CROWD = 5 };

static pnResult moveTo(pnWorld *world, pnBodyId id, float x) {
  pnMatrix m = pnMatrix_Identity();
  m.m[0][3] = x;
  return pnBody_SetTransform(world, id, &m);
}

/* A crowd of one mesh, ten apart. */
static pnResult openCrowd(pnBodyKind kind, const pnMesh *mesh, pnWorld **outWorld, pnBodyId *outIds) {
  pnBodyDef def = pnDefaultBodyDef();
  def.kind = kind;
  def.mesh = mesh;
  pnResult result = pnCreateWorld(NULL, outWorld);
  for (int i = 0; i < CROWD && result == PN_OK; ++i) result = pnWorld_CreateBody(*outWorld, &def, &outIds[i]);
  return result;
}

/* A further body of a crowd has no volumes until a frame, no positions until something is near, and answers as one that has. */
static void crowdsHaveWhatTheyNeed(void **state) {
  (void)state;
  static const pnBodyKind kinds[] = {PN_BODY_FREE, PN_BODY_RIGID};
  for (int k = 0; k < 2; ++k) {
    Ball ball = openBall();
    pnWorld *world;
    pnBodyId id[CROWD];
    pnTree *tree[CROWD];
    testExpectOk(openCrowd(kinds[k], ball.mesh, &world, id));
    for (int i = 0; i < CROWD; ++i) tree[i] = pnBody_GetTree(world, id[i]);
    size_t before = pnGetByteCount();
    assert_non_null(tree[0]->memory);
    for (int i = 1; i < CROWD; ++i) {
      assert_null(tree[i]->memory);
      pnBox a = pnTree_GetBox(tree[0]), b = pnTree_GetBox(tree[i]);
      assert_memory_equal(&a, &b, sizeof a);
      assert_true(pnTree_GetQuality(tree[i]) == 1);
    }
    /* somebody looks: it gets a frame; the levels of its tree are those of the first one */
    pnBox boxes[2][64];
    assert_int_equal(pnTree_GetLevelBoxes(tree[0], 1, boxes[0], 64), pnTree_GetLevelBoxes(tree[1], 1, boxes[1], 64));
    assert_memory_equal(boxes[0], boxes[1], tree[0]->shape->count[0] * sizeof(pnBox));
    assert_non_null(tree[1]->memory);
    assert_true(pnTree_GetQuality(tree[1]) == 1);
    /* apart: volumes */
    for (int i = 0; i < CROWD; ++i) testExpectOk(moveTo(world, id[i], 10 * (float)i));
    pnFrame frame = pnWorld_Collide(world, NULL);
    testExpectOk(frame.result);
    assert_int_equal(frame.contactCount, 0);
    assert_true(pnGetByteCount() > before);
    for (int i = 2; i < CROWD; ++i) {
      assert_non_null(tree[i]->memory);
      assert_null(tree[i]->leafPositions);
      assert_true(fabsf(pnTree_GetQuality(tree[i]) - 1) < 0.1f);
    }
    /* two of them close: positions, of these */
    testExpectOk(moveTo(world, id[3], 21));
    frame = pnWorld_Collide(world, NULL);
    testExpectOk(frame.result);
    assert_int_equal(frame.contactCount, 1);
    assert_true(pn_areLeavesOpen(tree[2]) && pn_areLeavesOpen(tree[3]) && !tree[4]->leafPositions);
    pnTree *fresh[2] = {treeOf(tree[2]->pose, pnDefaultTreeDef(), NULL),
                        treeOf(tree[3]->pose, pnDefaultTreeDef(), NULL)};
    pnCost cost;
    testExpectOk(pnCollideTrees(fresh[0], fresh[1], NULL, NULL, &cost));
    assert_true(cost.pairs > 20);
    assert_int_equal(frame.pairCount, cost.pairs);
    for (int i = 0; i < 2; ++i) pnDestroyTree(fresh[i]);
    /* a question goes to all of them, and to one that comes later */
    pnClosest closest;
    testExpectOk(pnWorld_FindClosest(world, (float[]){44, 0, 0}, 1, 100, UINT32_MAX, &closest));
    assert_int_equal(closest.body.index1, id[4].index1);
    assert_true(pn_areLeavesOpen(tree[4]));
    testExpectOk(pnWorld_DestroyBody(world, id[4]));
    pnBodyDef def = pnDefaultBodyDef();
    def.kind = kinds[k];
    def.mesh = ball.mesh;
    testExpectOk(pnWorld_CreateBody(world, &def, &id[4]));
    testExpectOk(moveTo(world, id[4], 50));
    testExpectOk(pnWorld_FindClosest(world, (float[]){54, 0, 0}, 1, 100, UINT32_MAX, &closest));
    assert_int_equal(closest.body.index1, id[4].index1);
    testExpectOk(pnTree_Validate(pnBody_GetTree(world, id[4])));
    pnDestroyWorld(world);
    closeBall(&ball);
    assert_int_equal(pnGetByteCount(), 0);
  }
}

/* ---------------------------------------------------------------- no memory */

/* The frames of a crowd, made when they are needed, in the second frame positions too. */
static pnResult runCrowd(const pnMesh *mesh) {
  pnWorld *world = NULL;
  pnBodyId id[CROWD];
  pnResult result = openCrowd(PN_BODY_RIGID, mesh, &world, id);
  for (int frame = 0; frame < 2 && result == PN_OK; ++frame) {
    for (int i = 0; i < CROWD && result == PN_OK; ++i) result = moveTo(world, id[i], (frame ? 1 : 10) * (float)i);
    if (result == PN_OK) result = pnWorld_Collide(world, NULL).result;
  }
  pnClosest closest;
  if (result == PN_OK) result = pnWorld_FindClosest(world, (float[]){9, 0, 0}, 1, 100, UINT32_MAX, &closest);
  if (world) pnDestroyWorld(world);
  return result;
}

static pnResult makeTwins(void *context) {
  const pnMesh *mesh = context;
  pnPoseDef poseDef = pnDefaultPoseDef();
  pnTreeDef def = pnDefaultTreeDef();
  pnPose *pose = NULL;
  pnTree *tree[2] = {0};
  poseDef.mesh = mesh;
  pnResult result = pnCreatePose(&poseDef, &pose);
  for (int i = 0; i < 2 && result == PN_OK; ++i) {
    def.pose = pose;
    def.twin = tree[0];
    result = pnCreateTree(&def, &tree[i]);
  }
  pnQueryDef query = pnDefaultQueryDef();
  query.filter.ignoreRest = true;
  for (int i = 0; i < 2 && result == PN_OK; ++i) result = pnCollideSelf(tree[i], &query, NULL, NULL);
  for (int i = 0; i < 2; ++i) pnDestroyTree(tree[i]);
  pnDestroyPose(pose);
  return result;
}

static pnResult makeAll(void *context) {
  (void)context;
  pnMesh *mesh = NULL;
  pnResult result = pnMakeIcosphere(1, 1, &mesh);
  if (result == PN_OK) result = makeTwins(mesh);
  if (result == PN_OK) result = runCrowd(mesh);
  pnDestroyMesh(mesh);
  return result;
}

static void everyAllocationMayFail(void **state) {
  (void)state;
  assert_true(testEveryAllocationFailure(makeAll, NULL, false, true) > 20);
  assert_true(testEveryAllocationFailure(makeAll, NULL, true, false) > 20);
}

/* ---------------------------------------------------------------- height */

/* No leaf is deeper than the height, and one is as deep, also where the first path down is short: calm patches have room for
 * that many levels. Random triangles in a row that grows denser make trees that lean. */
static void heightIsThatOfTheDeepestLeaf(void **state) {
  (void)state;
  enum { COUNT = 200 };
  uint32_t leaning = 0;
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    TestRandom random = testRandom(seed);
    float vertices[9 * COUNT];
    uint32_t triangles[3 * COUNT];
    for (uint32_t i = 0; i < 9 * COUNT; ++i)
      vertices[i] = testFloat(&random, 0, 1) + (i % 3 ? 0 : ldexpf(1, (int)(i / 60)));
    for (uint32_t i = 0; i < 3 * COUNT; ++i) triangles[i] = i;
    pnMeshDef def = pnDefaultMeshDef();
    def.vertices = vertices, def.vertexCount = 3 * COUNT, def.triangles = triangles, def.triangleCount = COUNT;
    pnMesh *mesh;
    testExpectOk(pnCreateMesh(&def, &mesh));
    pnPose *pose = poseOf(mesh);
    pnTreeDef treeDef = pnDefaultTreeDef();
    pnTreeLab lab = {0};
    lab.build = (pnBuild)(1 + seed % 4);
    lab.arity = 2u << seed % 3;
    lab.leafSize = 1 + (uint32_t)(seed % 8);
    treeDef.lab = &lab;
    pnTree *tree = treeOf(pose, treeDef, NULL);
    const pnShape *s = tree->shape;
    uint32_t deepest = 0, shallowest = UINT32_MAX;
    for (uint32_t node = s->innerCount; node < s->nodeCount; ++node) {
      uint32_t levels = 1;
      for (uint32_t up = node; up > 0; up = s->parent[up] / PN_LANES) ++levels;
      deepest = PN_MAX(deepest, levels), shallowest = PN_MIN(shallowest, levels);
    }
    assert_int_equal(pnTree_GetHeight(tree), deepest);
    leaning += shallowest < deepest;
    pnDestroyTree(tree);
    pnDestroyPose(pose);
    pnDestroyMesh(mesh);
  }
  assert_true(leaning > 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(onlyTwinsShare),
      cmocka_unit_test(twinsPartInPeace),
      cmocka_unit_test(proofsAreMadeOnce),
      cmocka_unit_test(otherVerticesAreOnesOwn),
      cmocka_unit_test(partsAreMadeByOne),
      cmocka_unit_test(crowdsAskTogether),
      cmocka_unit_test(crowdsHaveWhatTheyNeed),
      cmocka_unit_test(everyAllocationMayFail),
      cmocka_unit_test(movedVerticesComeWithATransform),
      cmocka_unit_test(heightIsThatOfTheDeepestLeaf),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
