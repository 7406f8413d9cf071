/* test_collide_shape.c: public shapes (pinch/tree.h, pinch/collide.h): trees and bodies from one shape, and shapes saved and loaded.
 * A block that was changed is refused or makes a shape that answers as it must: the mutations here testShapeRepair the checksum, as
 * somebody would who means it. */
#include "support_shape.h"

#include "collide/calm.h"
#include "pinch/pinch.h"
#include "tree/tree.h"

#include <stdlib.h>
#include <string.h>

/* A hash of the self pairs of a tree, or of the tree with a ball. */
static uint64_t answerOf(pnTree *tree) {
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  pnPose *pose = NULL;
  pnTree *other = NULL;
  if (pnTree_GetDef(tree).self) {
    testExpectOk(pnCollideSelf(tree, NULL, list, NULL));
  } else {
    pnShapeDef ball = testShapeDefOf(testShapes.knot, NULL, NULL);
    pose = testShapePose(&ball);
    pnTreeDef def = pnDefaultTreeDef();
    def.pose = pose;
    testExpectOk(pnCreateTree(&def, &other));
    testExpectOk(pnCollideTrees(tree, other, NULL, list, NULL));
  }
  uint64_t hash = pn_hashBytes(0, pnPairList_GetPairs(list), pnPairList_GetCount(list) * sizeof(pnPair));
  pnDestroyTree(other);
  pnDestroyPose(pose);
  pnDestroyPairList(list);
  return hash;
}

static uint64_t truthOf(const pnPose *pose) {
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  testExpectOk(pnCollideBrute(pose, pose, NULL, list));
  uint64_t hash = pn_hashBytes(0, pnPairList_GetPairs(list), pnPairList_GetCount(list) * sizeof(pnPair));
  pnDestroyPairList(list);
  return hash;
}

/* ---------------------------------------------------------------- one shape, many trees */

static void treesOfOneShape(void **state) {
  (void)state;
  for (int i = 0; i < TEST_SHAPES; ++i) {
    pnShapeDef def = testShapeDef(i);
    const pnShape *shape = testShapeOf(&def);
    pnPose *pose[2] = {testShapePose(&def), testShapePose(&def)};
    pnTree *tree[2] = {testShapeTree(shape, pose[0]), testShapeTree(shape, pose[1])};
    assert_ptr_equal(pnTree_GetShape(tree[0]), shape);
    assert_ptr_equal(pnTree_GetShape(tree[1]), shape);
    assert_int_equal(pnShape_GetNodeCount(shape), pnTree_GetNodeCount(tree[0]));
    assert_int_equal(pnShape_GetHeight(shape), pnTree_GetHeight(tree[0]));
    assert_ptr_equal(pnShape_GetMesh(shape), def.mesh);
    assert_ptr_equal(pnShape_GetMorph(shape), def.morph);
    assert_ptr_equal(pnShape_GetSkin(shape), def.skin);
    assert_int_equal(pnShape_GetLab(shape).form, def.tree.lab->form);
    assert_true(pnShape_GetByteCount(shape) < pnTree_GetByteCount(tree[0]));
    pnShape_Release(shape); /* the trees hold it */
    testShapeBend(pose[1], &def);
    for (int k = 0; k < 2; ++k) testExpectOk(pnTree_Validate(tree[k]));
    if (def.tree.self) {
      assert_true(answerOf(tree[0]) == truthOf(pose[0]));
      assert_true(answerOf(tree[1]) == truthOf(pose[1]));
    }
    for (int k = 0; k < 2; ++k) {
      pnDestroyTree(tree[k]);
      pnDestroyPose(pose[k]);
    }
  }
}

/* Another mesh or motion than the pose's is refused. */
static void strangersAreRefused(void **state) {
  (void)state;
  pnShapeDef ball = testShapeDef(0), knot = testShapeDefOf(testShapes.knot, NULL, NULL),
             plainMask = testShapeDefOf(testShapes.mask, NULL, NULL);
  pnShapeDef face = testShapeDef(9);
  const pnShape *shape[2] = {testShapeOf(&ball), testShapeOf(&face)};
  pnPose *pose[2] = {testShapePose(&knot), testShapePose(&plainMask)};
  for (int i = 0; i < 2; ++i) {
    pnTreeDef def = pnDefaultTreeDef();
    pnTree *tree;
    def.pose = pose[i];
    def.shape = shape[i];
    testExpectFailure(pnCreateTree(&def, &tree), PN_ERROR_KIND, "shape|mesh");
    assert_null(tree);
    pnDestroyPose(pose[i]);
    pnShape_Release(shape[i]);
  }
  pnShapeDef bad = ball;
  bad.tree.lab = &(pnTreeLab){.arity = 3};
  const pnShape *none;
  testExpectFailure(pnCreateShape(&bad, &none), PN_ERROR_ARGUMENT, "arity");
  assert_null(none);
}

/* Bodies: mesh, targets and joints are the shape's, and all of them hold it. */
static void bodiesOfOneShape(void **state) {
  (void)state;
  static const struct {
    int def;
    pnBodyKind kind;
  } cases[] = {{0, PN_BODY_FREE}, {0, PN_BODY_STATIC}, {3, PN_BODY_RIGID}, {10, PN_BODY_MORPH}, {11, PN_BODY_SKINNED}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    pnShapeDef def = testShapeDef(cases[i].def);
    const pnShape *shape = testShapeOf(&def);
    testExpectOk(pnShape_PrepareSelf(shape));
    pnWorld *world;
    testExpectOk(pnCreateWorld(NULL, &world));
    pnBodyDef bodyDef = pnDefaultBodyDef();
    bodyDef.kind = cases[i].kind;
    bodyDef.shape = shape;
    bodyDef.self = true;
    pnBodyId id[3];
    for (int k = 0; k < 3; ++k) {
      testExpectOk(pnWorld_CreateBody(world, &bodyDef, &id[k]));
      assert_ptr_equal(pnTree_GetShape(pnBody_GetTree(world, id[k])), shape);
    }
    testExpectOk(pnWorld_Collide(world, NULL).result);
    /* kinds and settings that do not fit */
    bodyDef.kind = cases[i].kind == PN_BODY_SKINNED ? PN_BODY_FREE : PN_BODY_SKINNED;
    testExpectFailure(pnWorld_CreateBody(world, &bodyDef, &id[0]), PN_ERROR_KIND, "shape");
    bodyDef.kind = PN_BODY_SOUP;
    testExpectFailure(pnWorld_CreateBody(world, &bodyDef, &id[0]), PN_ERROR_KIND, "soup|shape");
    bodyDef.kind = cases[i].kind;
    bodyDef.mesh = testShapes.cone;
    testExpectFailure(pnWorld_CreateBody(world, &bodyDef, &id[0]), PN_ERROR_KIND, "another mesh");
    pnDestroyWorld(world);
    pnShape_Release(shape);
  }
  pnShapeDef def = testShapeDef(1);
  const pnShape *shape = testShapeOf(&def);
  pnWorld *world;
  pnBodyId id;
  testExpectOk(pnCreateWorld(NULL, &world));
  pnBodyDef bodyDef = pnDefaultBodyDef();
  bodyDef.shape = shape;
  testExpectOk(pnWorld_CreateBody(world, &bodyDef, &id));
  bodyDef.self = true;
  testExpectFailure(pnWorld_CreateBody(world, &bodyDef, &id), PN_ERROR_KIND, "self");
  pnDestroyWorld(world);
  pnShape_Release(shape);
}

/* ---------------------------------------------------------------- saved and loaded */

#define SAME(a, b, field, count) assert_memory_equal((a)->field, (b)->field, (count) * sizeof(*(a)->field))

static void expectSame(const pnShape *a, const pnShape *b) {
  assert_int_equal(a->innerCount, b->innerCount);
  assert_int_equal(a->leafCount, b->leafCount);
  assert_int_equal(a->height, b->height);
  assert_int_equal(a->clusterCount, b->clusterCount);
  assert_int_equal(a->eagerCount, b->eagerCount);
  assert_int_equal(a->hubCount, b->hubCount);
  assert_int_equal(a->memoryBytes, b->memoryBytes);
  SAME(a, b, memory, a->memoryBytes);
}

/* A shape that was loaded has all parts that the other one has, and prepares nothing again. Returns how many these are. */
static uint32_t expectPrepared(const pnShape *shape, const pnShape *loaded) {
  const void *before[PN_PART_COUNT];
  uint32_t made = 0;
  for (int p = 0; p < PN_PART_COUNT; ++p) {
    before[p] = pn_partOf(loaded, (pnShapePart)p);
    assert_int_equal(pn_isPartMade(loaded, (pnShapePart)p), pn_isPartMade(shape, (pnShapePart)p));
    assert_int_equal(before[p] != NULL, pn_partOf(shape, (pnShapePart)p) != NULL);
    made += before[p] != NULL;
  }
  assert_int_equal(pnShape_GetByteCount(loaded), pnShape_GetByteCount(shape));
  testExpectOk(pnShape_PrepareSelf(loaded));
  for (int p = 0; p < PN_PART_COUNT; ++p) assert_ptr_equal(pn_partOf(loaded, (pnShapePart)p), before[p]);
  assert_int_equal(pnShape_GetByteCount(loaded), pnShape_GetByteCount(shape));
  return made;
}

static void whatIsLoadedIsTheSame(void **state) {
  (void)state;
  uint32_t made = 0;
  for (int i = 0; i < TEST_SHAPES; ++i) {
    pnShapeDef def = testShapeDef(i);
    const pnShape *shape = testShapeOf(&def), *loaded;
    testExpectOk(pnShape_PrepareSelf(shape));
    TestBlock block = testShapeSave(shape), again;
    testExpectOk(pnLoadShape(&def, block.data, block.bytes, &loaded));
    expectSame(shape, loaded);
    assert_int_equal(pnShape_GetLab(loaded).cut, pnShape_GetLab(shape).cut);
    assert_int_equal(pn_partOf(loaded, PN_PART_CALM) != NULL, i == 10);
    made += expectPrepared(shape, loaded);
    again = testShapeSave(loaded);
    assert_int_equal(again.bytes, block.bytes);
    assert_memory_equal(again.data, block.data, block.bytes);
    pnPose *pose = testShapePose(&def);
    pnTree *tree[2] = {testShapeTree(shape, pose), testShapeTree(loaded, pose)};
    testShapeBend(pose, &def);
    testExpectOk(pnTree_Validate(tree[1]));
    assert_true(answerOf(tree[0]) == answerOf(tree[1]));
    for (int k = 0; k < 2; ++k) pnDestroyTree(tree[k]);
    pnDestroyPose(pose);
    pnShape_Release(loaded);
    pnShape_Release(shape);
    free(block.data);
    free(again.data);
  }
  assert_true(made > 40);
}

static void emptyMeshesToo(void **state) {
  (void)state;
  pnMeshDef meshDef = pnDefaultMeshDef();
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&meshDef, &mesh));
  pnShapeDef def = testShapeDefOf(mesh, NULL, NULL);
  const pnShape *shape = testShapeOf(&def), *loaded;
  TestBlock block = testShapeSave(shape);
  testExpectOk(pnLoadShape(&def, block.data, block.bytes, &loaded));
  assert_int_equal(pnShape_GetNodeCount(loaded), 0);
  free(block.data);
  pnShape_Release(loaded);
  pnShape_Release(shape);
  pnDestroyMesh(mesh);
}

static void piecesAreNotSaved(void **state) {
  (void)state;
  pnShapeDef def = testShapeDef(1);
  def.tree.big = PN_BIG_CORNERS;
  const pnShape *shape = testShapeOf(&def);
  void *data;
  size_t bytes;
  testExpectFailure(pnShape_Save(shape, &data, &bytes), PN_ERROR_KIND, "pieces");
  assert_null(data);
  pnShape_Release(shape);
}

/* ---------------------------------------------------------------- refused */

static void expectRefused(const pnShapeDef *def, const TestBlock *block, pnResult expected, const char *words) {
  const pnShape *loaded;
  testExpectFailure(pnLoadShape(def, block->data, block->bytes, &loaded), expected, words);
  assert_null(loaded);
}

static void headsAreChecked(void **state) {
  (void)state;
  pnShapeDef def = testShapeDef(0), knot = testShapeDefOf(testShapes.knot, NULL, NULL);
  const pnShape *shape = testShapeOf(&def);
  TestBlock block = testShapeSave(shape);
  expectRefused(&knot, &block, PN_ERROR_KIND, "another mesh");
  block.data[0] ^= 1;
  expectRefused(&def, &block, PN_ERROR_FORMAT, "not a saved shape");
  block.data[0] ^= 1;
  char order[4] = {1, 2, 3, 4};
  if (block.data[8] == 1) memcpy(order, (char[4]){4, 3, 2, 1}, 4);
  char mine[4];
  memcpy(mine, block.data + 8, 4);
  memcpy(block.data + 8, order, 4);
  expectRefused(&def, &block, PN_ERROR_UNSUPPORTED, "order of bytes");
  memcpy(block.data + 8, mine, 4);
  block.data[12] ^= 1;
  expectRefused(&def, &block, PN_ERROR_UNSUPPORTED, "version");
  block.data[12] ^= 1;
  /* every single bit behind the head is in the checksum */
  TestRandom r = testRandom(7);
  for (int i = 0; i < 200; ++i) {
    size_t at = TEST_SUM_AT + testBelow(&r, (uint32_t)(block.bytes - TEST_SUM_AT));
    char bit = (char)(1u << testBelow(&r, 8));
    block.data[at] ^= bit;
    expectRefused(&def, &block, PN_ERROR_FORMAT, "checksum");
    block.data[at] ^= bit;
  }
  /* too short, everywhere; with a right checksum too */
  for (size_t n = 0; n < block.bytes; n += 1 + n / 64) {
    TestBlock part = {malloc(n + 1), n};
    memcpy(part.data, block.data, n);
    expectRefused(&def, &part, PN_ERROR_FORMAT, "shape");
    testShapeRepair(&part);
    expectRefused(&def, &part, PN_ERROR_FORMAT, "shape");
    free(part.data);
  }
  TestBlock longer = {malloc(block.bytes + 4), block.bytes + 4};
  memcpy(longer.data, block.data, block.bytes);
  memset(longer.data + block.bytes, 0, 4);
  testShapeRepair(&longer);
  expectRefused(&def, &longer, PN_ERROR_FORMAT, "left over");
  free(longer.data);
  const pnShape *loaded;
  testExpectOk(pnLoadShape(&def, block.data, block.bytes, &loaded));
  pnShape_Release(loaded);
  free(block.data);
  pnShape_Release(shape);
}

/* Without parts, what is accepted is whole and answers as the truth does. */
static void changedBlocksAnswerRight(void **state) {
  (void)state;
  TestRandom r = testRandom(11);
  uint32_t accepted = 0, refused = 0;
  static const int defs[] = {0, 4, 8, 9, 11};
  for (size_t d = 0; d < sizeof defs / sizeof defs[0]; ++d) {
    pnShapeDef def = testShapeDef(defs[d]);
    const pnShape *shape = testShapeOf(&def);
    TestBlock whole = testShapeSave(shape);
    pnPose *pose = testShapePose(&def);
    testShapeBend(pose, &def);
    uint64_t truth = truthOf(pose);
    TestBlock block = {malloc(whole.bytes), whole.bytes};
    for (int i = 0; i < 250; ++i) {
      memcpy(block.data, whole.data, whole.bytes);
      testShapeMutate(&r, &block, TEST_HEAD + 24);
      const pnShape *loaded;
      pnResult result = pnLoadShape(&def, block.data, block.bytes, &loaded);
      if (result != PN_OK) {
        assert_true(result == PN_ERROR_FORMAT);
        assert_null(loaded);
        ++refused;
        continue;
      }
      ++accepted;
      pnTree *tree = testShapeTree(loaded, pose);
      testExpectOk(pnTree_Validate(tree));
      if (pnTree_GetDef(tree).self) assert_true(answerOf(tree) == truth);
      pnDestroyTree(tree);
      pnShape_Release(loaded);
    }
    free(block.data);
    free(whole.data);
    pnDestroyPose(pose);
    pnShape_Release(shape);
  }
  assert_true(refused > 300);
  assert_true(accepted > 60);
}

/* A chain of single children as long as the block allows is refused, before anything walks down it. */
static void deepDivisionsAreRefused(void **state) {
  (void)state;
  pnShapeDef def = testShapeDef(0);
  const pnShape *shape = testShapeOf(&def);
  TestBlock block = testShapeSave(shape);
  /* settings, parts, then inner and leaf counts */
  size_t at = TEST_HEAD + 24 + 36 + 8;
  uint32_t inner, leaves, chain = 100000;
  memcpy(&inner, block.data + at, 4);
  memcpy(&leaves, block.data + at + 4, 4);
  TestBlock deep = {malloc(block.bytes + chain), block.bytes + chain};
  memcpy(deep.data, block.data, at + 8);
  memset(deep.data + at + 8, 1, chain);
  memcpy(deep.data + at + 8 + chain, block.data + at + 8, block.bytes - at - 8);
  inner += chain;
  memcpy(deep.data + at, &inner, 4);
  testShapeRepair(&deep);
  expectRefused(&def, &deep, PN_ERROR_FORMAT, "inner node 1024");
  free(deep.data);
  free(block.data);
  pnShape_Release(shape);
}

/* ---------------------------------------------------------------- no memory */

static TestBlock s_block;

static pnResult loadAndPrepare(void *context) {
  const pnShapeDef *def = context;
  const pnShape *shape = NULL;
  void *data = NULL;
  size_t bytes = 0;
  pnResult result = pnLoadShape(def, s_block.data, s_block.bytes, &shape);
  if (result == PN_OK) result = pnShape_PrepareSelf(shape);
  if (result == PN_OK) result = pnShape_Save(shape, &data, &bytes);
  pnFree(data, bytes);
  pnShape_Release(shape);
  return result;
}

static pnResult loadBall(void *context) {
  (void)context;
  pnMesh *mesh = NULL;
  pnResult result = pnMakeIcosphere(1, 1, &mesh);
  if (result == PN_OK) {
    pnShapeDef def = testShapeDefOf(mesh, NULL, NULL);
    result = loadAndPrepare(&def);
  }
  pnDestroyMesh(mesh);
  return result;
}

static void everyAllocationMayFail(void **state) {
  testCloseShapes(state);
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(1, 1, &mesh));
  pnShapeDef def = testShapeDefOf(mesh, NULL, NULL);
  const pnShape *shape = testShapeOf(&def);
  s_block = testShapeSave(shape);
  pnShape_Release(shape);
  pnDestroyMesh(mesh);
  assert_true(testEveryAllocationFailure(loadBall, NULL, false, true) > 20);
  assert_true(testEveryAllocationFailure(loadBall, NULL, true, false) > 20);
  free(s_block.data);
  testOpenShapes(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(treesOfOneShape),         cmocka_unit_test(strangersAreRefused),
      cmocka_unit_test(bodiesOfOneShape),        cmocka_unit_test(whatIsLoadedIsTheSame),
      cmocka_unit_test(emptyMeshesToo),          cmocka_unit_test(piecesAreNotSaved),
      cmocka_unit_test(headsAreChecked),         cmocka_unit_test(changedBlocksAnswerRight),
      cmocka_unit_test(deepDivisionsAreRefused), cmocka_unit_test(everyAllocationMayFail),
  };
  return cmocka_run_group_tests(tests, testOpenShapes, testCloseShapes);
}
