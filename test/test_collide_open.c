/* test_collide_open.c: which of two nodes is opened (pnQueryLab.open) changes how much is looked at and never what is found: meshes and
 * soups, every form of volume, bodies of one size and of very different ones, against brute force. And it does change it. */
#include "support.h"

#include "pinch/collide.h"
#include "pinch/lab.h"
#include "pinch/tree.h"

#include <string.h>

static void expectSame(const pnPairList *truth, const pnPairList *found, const char *what) {
  size_t count = pnPairList_GetCount(truth);
  if (count != pnPairList_GetCount(found) ||
      memcmp(pnPairList_GetPairs(truth), pnPairList_GetPairs(found), count * sizeof(pnPair)) != 0)
    fail_msg("%s: %zu pairs found, %zu are true", what, pnPairList_GetCount(found), count);
}

static pnPose *makeBall(float radius, float x) {
  pnMesh *mesh;
  pnPose *pose;
  testExpectOk(pnMakeIcosphere(3, radius, &mesh));
  testExpectOk(pnCreatePose(&(pnPoseDef){mesh, NULL, NULL}, &pose));
  pnMatrix at = pnMatrix_Identity();
  at.m[0][3] = x;
  at.m[1][3] = 0.03f;
  testExpectOk(pnPose_SetTransform(pose, &at));
  return pose;
}

static void freeBall(pnPose *pose) {
  const pnMesh *mesh = pnPose_GetMesh(pose);
  pnDestroyPose(pose);
  pnDestroyMesh((pnMesh *)(uintptr_t)mesh);
}

static pnTree *makeTree(pnPose *pose, pnForm form) {
  pnTree *tree;
  pnTreeLab lab = {.form = form};
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = pose;
  def.self = false;
  def.lab = &lab;
  testExpectOk(pnCreateTree(&def, &tree));
  return tree;
}

/* Box tests by each rule; all must find the truth. */
static void askAll(pnTree *a, pnTree *b, const pnPairList *truth, const char *what, uint64_t outTests[PN_OPEN_COUNT]) {
  pnPairList *found;
  testExpectOk(pnCreatePairList(&found));
  for (int open = 0; open < PN_OPEN_COUNT; ++open) {
    pnCost cost;
    pnQueryLab lab = {.open = (pnOpen)open};
    pnQueryDef query = pnDefaultQueryDef();
    query.lab = &lab;
    testExpectOk(pnCollideTrees(a, b, &query, found, &cost));
    expectSame(truth, found, what);
    outTests[open] = cost.volumeTests;
  }
  pnDestroyPairList(found);
}

static void meshesMeetTheSame(void **state) {
  (void)state;
  for (int form = 0; form < PN_FORM_COUNT; ++form) {
    for (int uneven = 0; uneven < 2; ++uneven) {
      pnPose *x = makeBall(1, 0), *y = makeBall(uneven ? 0.1f : 1, uneven ? 1 : 0.7f);
      pnTree *a = makeTree(x, (pnForm)form), *b = makeTree(y, (pnForm)form);
      pnPairList *truth;
      uint64_t tests[PN_OPEN_COUNT];
      testExpectOk(pnCreatePairList(&truth));
      testExpectOk(pnCollideBrute(x, y, NULL, truth));
      assert_true(pnPairList_GetCount(truth) > 0);
      askAll(a, b, truth, uneven ? "uneven balls" : "balls", tests);
      pnDestroyPairList(truth);
      pnDestroyTree(a);
      pnDestroyTree(b);
      freeBall(x);
      freeBall(y);
    }
  }
  assert_int_equal(pnGetByteCount(), 0);
}

/* Two clouds of small triangles in octrees of buckets, as the paper has them. */
static void bucketsMeetTheSame(void **state) {
  (void)state;
  TestRandom random = testRandom(4);
  pnSoup *soups[2];
  pnTree *trees[2];
  for (int i = 0; i < 2; ++i) {
    testExpectOk(pnCreateSoup(NULL, &soups[i]));
    for (int k = 0; k < 1500; ++k) {
      float corners[9];
      for (int c = 0; c < 3; ++c) corners[c] = testFloat(&random, -1, 1) + (c == 0 ? 0.8f * (float)i : 0);
      for (int c = 3; c < 9; ++c) corners[c] = corners[c % 3] + testFloat(&random, -0.06f, 0.06f);
      testExpectOk(pnSoup_Add(soups[i], PN_PRIMITIVE_TRIANGLE, corners, 1, NULL));
    }
    pnTreeLab lab = {.method = PN_BUCKET_DIRECT, .levels = 4};
    pnBucketDef def = pnDefaultBucketDef();
    def.soup = soups[i];
    def.lab = &lab;
    testExpectOk(pnCreateBucketTree(&def, &trees[i]));
  }
  pnPairList *truth;
  uint64_t tests[PN_OPEN_COUNT];
  testExpectOk(pnCreatePairList(&truth));
  testExpectOk(pnCollideBrute(pnTree_GetPose(trees[0]), pnTree_GetPose(trees[1]), NULL, truth));
  assert_true(pnPairList_GetCount(truth) > 20);
  askAll(trees[0], trees[1], truth, "buckets", tests);
  // Not what the paper says: the larger is the better one.
  assert_true(tests[PN_OPEN_LARGER] < tests[PN_OPEN_SMALLER]);
  assert_true(tests[PN_OPEN_DEFAULT] != tests[PN_OPEN_SMALLER]);
  pnDestroyPairList(truth);
  for (int i = 0; i < 2; ++i) {
    pnDestroyTree(trees[i]);
    pnDestroySoup(soups[i]);
  }
  assert_int_equal(pnGetByteCount(), 0);
}

/* A small ball on a large floor: nodes above leaves wait for each other, so that pairs of these are opened on both sides, and few leaves
 * of the floor are held against inner nodes of the ball one by one. */
static void leavesAreReachedTogether(void **state) {
  (void)state;
  pnMesh *meshes[2];
  pnPose *poses[2];
  pnTree *trees[2];
  testExpectOk(pnMakeGrid(30, 30, 60, 60, &meshes[0]));
  testExpectOk(pnMakeIcosphere(1, 1, &meshes[1]));
  for (int i = 0; i < 2; ++i) {
    testExpectOk(pnCreatePose(&(pnPoseDef){meshes[i], NULL, NULL}, &poses[i]));
    trees[i] = makeTree(poses[i], PN_FORM_BOX);
  }
  pnPairList *truth;
  uint64_t tests[PN_OPEN_COUNT];
  pnCost cost;
  testExpectOk(pnCreatePairList(&truth));
  testExpectOk(pnCollideBrute(poses[0], poses[1], NULL, truth));
  assert_true(pnPairList_GetCount(truth) > 30);
  askAll(trees[0], trees[1], truth, "a ball on a floor", tests);
  testExpectOk(pnCollideTrees(trees[0], trees[1], NULL, truth, &cost));
  /* 13, or 30 when nobody waits */
  assert_true(cost.nodePairs < 20 && cost.leafPairs > 60);
  pnDestroyPairList(truth);
  for (int i = 0; i < 2; ++i) {
    pnDestroyTree(trees[i]);
    freeBall(poses[i]);
  }
  assert_int_equal(pnGetByteCount(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(meshesMeetTheSame), cmocka_unit_test(bucketsMeetTheSame),
                                     cmocka_unit_test(leavesAreReachedTogether)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
