/* test_tree_validate.c: pnTree_Validate sounds an alarm when a query could miss something, and only then. Numbers of every
 * magnitude, mixed within one body, are no reason; a volume that is one cell too small on any side is. */
#include "support.h"

#include <string.h>

#include "pinch/tree.h"
#include "tree/update.h"

#define TRIANGLES 40u

/* Null: the rule does not fit the pose or the form. */
static pnTree *makeTree(const pnPose *pose, pnForm form, pnUpdate update) {
  pnTreeDef def = pnDefaultTreeDef();
  pnTreeLab lab = {0};
  def.lab = &lab;
  def.pose = pose;
  lab.form = form;
  def.update = update;
  lab.leafSize = 2;
  lab.arity = 4;
  lab.cut = 8;
  pnTree *tree;
  pnResult result = pnCreateTree(&def, &tree);
  if (result != PN_ERROR_KIND && result != PN_ERROR_ARGUMENT) testExpectOk(result);
  return tree;
}

static pnPose *makePose(TestRandom *random, bool anyFloat, pnMesh **outMesh) {
  float vertices[9 * TRIANGLES];
  uint32_t triangles[3 * TRIANGLES];
  for (uint32_t i = 0; i < 9 * TRIANGLES; ++i) vertices[i] = anyFloat ? testAnyFloat(random) : testFloat(random, -1, 1);
  for (uint32_t i = 0; i < 3 * TRIANGLES; ++i) triangles[i] = i;
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices;
  def.vertexCount = 3 * TRIANGLES;
  def.triangles = triangles;
  def.triangleCount = TRIANGLES;
  testExpectOk(pnCreateMesh(&def, outMesh));
  pnPose *pose;
  testExpectOk(pnCreatePose(&(pnPoseDef){*outMesh, NULL, NULL}, &pose));
  return pose;
}

static void noAlarmAtAnyMagnitude(void **state) {
  (void)state;
  TestRandom random = testRandom(1);
  uint32_t fitting = 0;
  for (int round = 0; round < 20 * PN_UPDATE_COUNT; ++round) {
    pnMesh *mesh;
    pnPose *pose = makePose(&random, true, &mesh);
    for (int volume = 0; volume < TEST_FORM_COUNT; ++volume) {
      pnTree *tree = makeTree(pose, (pnForm)volume, (pnUpdate)(round % PN_UPDATE_COUNT));
      fitting += tree != NULL;
      if (tree) testExpectOk(pnTree_Validate(tree));
      pnDestroyTree(tree);
    }
    pnDestroyPose(pose);
    pnDestroyMesh(mesh);
  }
  assert_true(fitting >= 20 * 5 * TEST_FORM_COUNT); /* the default, three by vertices, and the transform */
}

/* One bound of one lane, moved inward by a cell (or the radius of a ball by a hundredth): true where vertices are out. */
static void shrink(pnTree *tree, uint32_t node, uint32_t lane, uint32_t d, int side) {
  if (tree->slabs) {
    int16_t *bound = &((pnSlabLanes *)pn_lanesOf(tree, node))->row[d][side][lane];
    *bound = (int16_t)(*bound + (side ? -1 : 1));
  } else {
    ((pnSphereLanes *)pn_lanesOf(tree, node))->radius[lane] *= 0.98f;
  }
}

/* Bounds of a tree that is made from vertices are tight on the axes and along edges: each one moved is an alarm. Along
 * diagonals they have a margin, which may be a cell's. Of forms whose lanes this test knows. */
static void aCellTooSmallIsAnAlarm(void **state) {
  (void)state;
  TestRandom random = testRandom(2);
  pnMesh *mesh;
  pnPose *pose = makePose(&random, false, &mesh);
  for (int volume = 0; volume < PN_FORM_COUNT; ++volume) {
    pnTree *tree = makeTree(pose, (pnForm)volume, PN_UPDATE_BOTTOM_UP);
    testExpectOk(pnTree_Validate(tree));
    uint32_t tried = 0;
    for (uint32_t node = 0; node < tree->shape->nodeCount; ++node)
      for (uint32_t lane = 0; lane < tree->shape->count[node]; ++lane)
        for (uint32_t d = 0; d < (tree->slabs ? tree->slabs->count : 1); ++d)
          for (int side = 0; side < (tree->slabs ? 2 : 1); ++side) {
            if (tree->slabs && d >= tree->slabs->diagonalFirst && d < tree->slabs->diagonalEnd) continue;
            char before[sizeof(pnBoxLanes) * 8], *lanes = pn_lanesOf(tree, node);
            assert_true(tree->laneBytes <= sizeof before);
            memcpy(before, lanes, tree->laneBytes);
            shrink(tree, node, lane, d, side);
            bool wide = tree->slabs || pn_isLeaf(tree, node); /* balls of inner nodes may be larger than they must */
            pnResult result = pnTree_Validate(tree);
            if (wide) testExpectFailure(result, PN_ERROR_ARGUMENT, "T7");
            tried += wide;
            memcpy(lanes, before, tree->laneBytes);
          }
    testExpectOk(pnTree_Validate(tree));
    assert_true(tried > 20);
    pnDestroyTree(tree);
  }
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(noAlarmAtAnyMagnitude),
      cmocka_unit_test(aCellTooSmallIsAnAlarm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
