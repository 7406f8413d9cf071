/* test_bench.c: the laboratory runs what it says it runs: each word of its options names the tree that is built. */
#include "support.h"

#include "../bench/settings.h"
#include "pinch/tree.h"

#include <string.h>

static int valueOf(const pnSetting *table, size_t count, const char *name) {
  for (size_t i = 0; i < count; ++i)
    if (strcmp(table[i].name, name) == 0) return table[i].value;
  fail_msg("there is no setting '%s'", name);
  return -1;
}

#define VALUE(table, name) valueOf(table, PN_SETTING_COUNT(table), name)

/* Words against the enumeration, one for one. */
static void namesAreWhatTheySay(void **state) {
  (void)state;
  assert_int_equal(VALUE(pn_buildSettings, "balanced"), PN_BUILD_BALANCED);
  assert_int_equal(VALUE(pn_buildSettings, "centre"), PN_BUILD_SHAPE_CENTRE);
  assert_int_equal(VALUE(pn_buildSettings, "mean"), PN_BUILD_SHAPE_MEAN);
  assert_int_equal(VALUE(pn_buildSettings, "link"), PN_BUILD_LINK);
  assert_int_equal(VALUE(pn_buildSettings, "fast"), PN_BUILD_FAST);
  assert_int_equal(VALUE(pn_updateSettings, "bergen"), PN_UPDATE_BERGEN);
  assert_int_equal(VALUE(pn_updateSettings, "hybrid"), PN_UPDATE_HYBRID);
  assert_int_equal(VALUE(pn_volumeSettings, "sphere"), PN_FORM_SPHERE);
  assert_int_equal(VALUE(pn_kernelSettings, "exact"), PN_KERNEL_EXACT);
}

/* And trees that differ: halved at the centre of the box, at the mean, by the count, along the mesh. */
static void buildsDiffer(void **state) {
  (void)state;
  pnMesh *mesh;
  pnPose *pose;
  testExpectOk(pnMakeGrid(3.0f, 1.0f, 24, 8, &mesh));
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = mesh;
  testExpectOk(pnCreatePose(&poseDef, &pose));
  /* dense at one end, and bent, so that middle, mean and median are different places */
  float vertices[3 * 25 * 9];
  memcpy(vertices, pnMesh_GetVertices(mesh), sizeof vertices);
  for (int i = 0; i < 25 * 9; ++i) {
    float x = vertices[3 * i] + 1.5f;
    vertices[3 * i] = x * x * x;
    vertices[3 * i + 2] = 0.1f * x * vertices[3 * i + 1];
  }
  testExpectOk(pnPose_SetVertices(pose, vertices, 25 * 9));
  pnBox boxes[PN_BUILD_COUNT][2] = {0};
  for (size_t i = 0; i < PN_SETTING_COUNT(pn_buildSettings); ++i) {
    pnTree *tree;
    pnTreeDef def = pnDefaultTreeDef();
    pnTreeLab lab = {0};
    def.lab = &lab;
    def.pose = pose;
    lab.build = (pnBuild)pn_buildSettings[i].value;
    lab.arity = 2;
    lab.leafSize = 1;
    testExpectOk(pnCreateTree(&def, &tree));
    assert_int_equal(pnTree_GetLab(tree).build, lab.build);
    assert_int_equal(pnTree_GetLevelBoxes(tree, 1, boxes[lab.build], 2), 2);
    pnDestroyTree(tree);
  }
  for (size_t i = 0; i < PN_SETTING_COUNT(pn_buildSettings); ++i)
    for (size_t k = 0; k < i && pn_buildSettings[i].value != PN_BUILD_FAST;
         ++k) /* which cuts what is so small as a whole */
      assert_true(memcmp(boxes[pn_buildSettings[i].value], boxes[pn_buildSettings[k].value], sizeof boxes[0]) != 0);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(namesAreWhatTheySay), cmocka_unit_test(buildsDiffer)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
