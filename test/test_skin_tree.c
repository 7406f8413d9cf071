/* test_skin_tree.c: trees over skinned bodies. Volumes contain every float vertex (T7, T8 of tree.h) for any joints:
 * large rotations, scale, shear, mirrors, collapse, huge and tiny numbers; the pairs are those of brute force over
 * eager vertices, whatever the volumes, builders, rules, threads and transforms; a frame without contact computes no
 vertex. */
#include "support_skin.h"

/* ---------------------------------------------------------------- containment */

static pnTree *makeTree(const pnPose *pose, const pnTreeDef *settings) {
  pnTreeDef def = *settings;
  def.pose = pose;
  pnTree *tree;
  testExpectOk(pnCreateTree(&def, &tree));
  return tree;
}

/* Every volume over one body, random poses. */
static void containBody(SkinKind kind, int morphs, float scale, int rounds) {
  SkinBody body = skinMake(kind, 2, scale, morphs, 7 + (uint64_t)kind);
  TestRandom random = testRandom(100 + (uint64_t)kind);
  pnTree *trees[TEST_FORM_COUNT];
  for (int volume = 0; volume < TEST_FORM_COUNT; ++volume) {
    pnTreeDef def = pnDefaultTreeDef();
    pnTreeLab lab = {0};
    def.lab = &lab;
    lab.form = (pnForm)volume;
    lab.leafSize = 2;
    lab.arity = volume % 2 ? 4 : 8;
    lab.cut = 40;
    trees[volume] = makeTree(body.pose, &def);
    assert_int_equal(pnTree_GetDef(trees[volume]).update, PN_UPDATE_DEFAULT);
  }
  for (int round = 0; round < rounds; ++round) {
    if (round > 0) skinPose(&body, &random, round % 3, scale * (round % 5 == 4 ? 1000 : 1));
    pnMatrix transform = round % 2 ? testRotation(&random, 3 * scale) : pnMatrix_Identity();
    testExpectOk(pnPose_SetTransform(body.pose, &transform));
    for (int volume = 0; volume < TEST_FORM_COUNT; ++volume) testExpectOk(pnTree_Validate(trees[volume]));
  }
  for (int volume = 0; volume < TEST_FORM_COUNT; ++volume) pnDestroyTree(trees[volume]);
  skinFree(&body);
  assert_int_equal(pnGetByteCount(), 0);
}

static void volumesContainEveryVertex(void **state) {
  (void)state;
  for (int kind = 0; kind < SKIN_KIND_COUNT; ++kind)
    for (int morphs = 0; morphs < 3; ++morphs) containBody((SkinKind)kind, morphs, 1, 24);
}

static void volumesContainAtEveryScale(void **state) {
  (void)state;
  static const float scales[] = {1e-38f, 1e-30f, 1e-3f, 1e6f, 1e24f, 1e28f};
  for (int kind = 0; kind < SKIN_KIND_COUNT; ++kind)
    for (size_t i = 0; i < sizeof scales / sizeof *scales; ++i) containBody((SkinKind)kind, (int)(i % 3), scales[i], 8);
}

/* Lists of nodes within a cluster may be longer than the root's: with one triangle a leaf they name a vertex six times. */
static void listsBelowMayBeLonger(void **state) {
  (void)state;
  for (uint32_t level = 0; level < 3; ++level) {
    pnMesh *mesh;
    testExpectOk(pnMakeIcosphere(level, 1, &mesh));
    const uint32_t n = pnMesh_GetVertexCount(mesh);
    uint16_t *indices = calloc(n, sizeof *indices);
    float *weights = malloc(n * sizeof *weights);
    assert_true(indices && weights);
    for (uint32_t i = 0; i < n; ++i) weights[i] = 1;
    pnSkinDef def = pnDefaultSkinDef();
    def.mesh = mesh;
    def.jointCount = def.influenceCount = 1;
    def.jointIndices = indices;
    def.jointWeights = weights;
    pnSkin *skin;
    pnPose *pose;
    testExpectOk(pnCreateSkin(&def, &skin));
    testExpectOk(pnCreatePose(&(pnPoseDef){mesh, NULL, skin}, &pose));
    pnTreeDef treeDef = pnDefaultTreeDef();
    pnTreeLab treeLab = {0};
    treeDef.lab = &treeLab;
    treeLab.form = PN_FORM_SPHERE;
    treeLab.leafSize = 1;
    pnTree *tree = makeTree(pose, &treeDef);
    testExpectOk(pnTree_Validate(tree));
    pnDestroyTree(tree);
    pnDestroyPose(pose);
    pnDestroySkin(skin);
    pnDestroyMesh(mesh);
    free(indices);
    free(weights);
  }
}

/* ---------------------------------------------------------------- agreement */

static void expectPairs(const pnPairList *found, const pnPairList *truth) {
  assert_int_equal(pnPairList_GetCount(found), pnPairList_GetCount(truth));
  if (pnPairList_GetCount(truth) > 0)
    assert_memory_equal(pnPairList_GetPairs(found), pnPairList_GetPairs(truth),
                        pnPairList_GetCount(truth) * sizeof(pnPair));
}

/* A free pose of the same vertices: eager. */
static pnPose *eagerOf(const SkinBody *body) {
  pnPoseDef def = {body->mesh, NULL, NULL};
  pnPose *pose;
  testExpectOk(pnCreatePose(&def, &pose));
  size_t n = pnMesh_GetVertexCount(body->mesh);
  float *vertices = malloc(3 * n * sizeof(float));
  assert_non_null(vertices);
  pnPose_GetVertices(body->pose, vertices);
  testExpectOk(pnPose_SetVertices(pose, vertices, (uint32_t)n));
  free(vertices);
  return pose;
}

/* Two bodies near each other, one frame, all trees. */
static size_t agreeFrame(SkinBody *bodies, pnTree *trees[2][TEST_FORM_COUNT], pnPool *const *pools,
                         pnPairList *lists[2]) {
  pnPose *eager[2] = {eagerOf(&bodies[0]), eagerOf(&bodies[1])};
  testExpectOk(pnCollideBrute(eager[0], eager[1], NULL, lists[0]));
  for (int volume = 0; volume < TEST_FORM_COUNT; ++volume)
    for (uint32_t workers = 1; workers <= 4; workers += testIsShort() ? 3 : 1) {
      pnQueryDef query = pnDefaultQueryDef();
      if (workers > 1) query.tasks = pnPool_GetTasks(pools[workers]);
      testExpectOk(pnCollideTrees(trees[0][volume], trees[1][(volume + (int)workers) % TEST_FORM_COUNT], &query,
                                  lists[1], NULL));
      expectPairs(lists[1], lists[0]);
    }
  size_t pairs = pnPairList_GetCount(lists[0]);
  /* and with itself, by the rule and eagerly */
  pnTreeDef def = pnDefaultTreeDef();
  pnTree *plain = makeTree(eager[0], &def);
  testExpectOk(pnCollideSelf(plain, NULL, lists[0], NULL));
  for (int volume = 0; volume < TEST_FORM_COUNT; ++volume) {
    testExpectOk(pnCollideSelf(trees[0][volume], NULL, lists[1], NULL));
    expectPairs(lists[1], lists[0]);
  }
  pnDestroyTree(plain);
  pnDestroyPose(eager[0]);
  pnDestroyPose(eager[1]);
  return pairs;
}

static void pairsAreThoseOfEagerVertices(void **state) {
  (void)state;
  pnPool *pools[5] = {NULL};
  pnPairList *lists[2];
  for (uint32_t workers = 2; workers <= 4; ++workers) testExpectOk(pnCreatePool(workers, &pools[workers]));
  for (int i = 0; i < 2; ++i) testExpectOk(pnCreatePairList(&lists[i]));
  for (int kind = 0; kind < SKIN_KIND_COUNT; ++kind) {
    SkinBody bodies[2] = {skinMake((SkinKind)kind, 1, 1, kind % 3, 1),
                          skinMake((SkinKind)((kind + 1) % SKIN_KIND_COUNT), 2, 1, 0, 2)};
    TestRandom random = testRandom(50 + (uint64_t)kind);
    pnTree *trees[2][TEST_FORM_COUNT];
    for (int i = 0; i < 2; ++i)
      for (int volume = 0; volume < TEST_FORM_COUNT; ++volume) {
        static const pnUpdate rules[] = {PN_UPDATE_CARRIED, PN_UPDATE_DEFAULT, PN_UPDATE_HYBRID, PN_UPDATE_CARRIED,
                                         PN_UPDATE_CARRIED};
        const uint32_t ruleCount = sizeof rules / sizeof rules[0];
        pnTreeDef def = pnDefaultTreeDef();
        pnTreeLab lab = {0};
        def.lab = &lab;
        lab.form = (pnForm)volume;
        lab.build = (pnBuild)(volume % PN_BUILD_COUNT);
        def.update = (uint32_t)volume < ruleCount ? rules[volume] : PN_UPDATE_DEFAULT;
        lab.leafSize = volume % 2 ? 1 : 4;
        trees[i][volume] = makeTree(bodies[i].pose, &def);
      }
    size_t pairs = 0;
    for (int round = 0; round < 9; ++round) {
      for (int i = 0; i < 2; ++i) {
        skinPose(&bodies[i], &random, round % 3, 0.5f);
        pnMatrix transform = round % 2 ? testRotation(&random, 0.3f) : pnMatrix_Identity();
        testExpectOk(pnPose_SetTransform(bodies[i].pose, &transform));
      }
      pairs += agreeFrame(bodies, trees, pools, lists);
    }
    assert_true(pairs > 100);
    for (int i = 0; i < 2; ++i) {
      for (int volume = 0; volume < TEST_FORM_COUNT; ++volume) pnDestroyTree(trees[i][volume]);
      skinFree(&bodies[i]);
    }
  }
  for (int i = 0; i < 2; ++i) pnDestroyPairList(lists[i]);
  for (uint32_t workers = 2; workers <= 4; ++workers) pnDestroyPool(pools[workers]);
  assert_int_equal(pnGetByteCount(), 0);
}

/* ---------------------------------------------------------------- costs */

static void farApartNoVertexIsTouched(void **state) {
  (void)state;
  for (int kind = 0; kind < SKIN_KIND_COUNT; ++kind) {
    SkinBody a = skinMake((SkinKind)kind, 3, 1, 0, 1), b = skinMake((SkinKind)kind, 3, 1, 0, 2);
    TestRandom random = testRandom(3);
    pnTreeDef def = pnDefaultTreeDef();
    pnTree *ta = makeTree(a.pose, &def), *tb = makeTree(b.pose, &def);
    for (int round = 0; round < 3; ++round) {
      pnMatrix away = pnMatrix_Identity();
      away.m[0][3] = 1000;
      skinPose(&a, &random, 1, 0.5f);
      skinPose(&b, &random, 1, 0.5f);
      testExpectOk(pnPose_SetTransform(b.pose, &away));
      pnCost cost;
      testExpectOk(pnCollideTrees(ta, tb, NULL, NULL, &cost));
      assert_int_equal(cost.pairs, 0);
      assert_int_equal(cost.verticesFetched, 0);
    }
    pnDestroyTree(ta);
    pnDestroyTree(tb);
    skinFree(&a);
    skinFree(&b);
  }
}

static void rulesFitTheirPoses(void **state) {
  (void)state;
  SkinBody body = skinMake(SKIN_SMOOTH, 1, 1, 1, 1);
  pnTreeDef def = pnDefaultTreeDef();
  pnTree *tree;
  def.pose = body.pose;
  static const pnUpdate wrong[] = {PN_UPDATE_BERGEN, PN_UPDATE_RIGID, PN_UPDATE_BLENDED, PN_UPDATE_BLENDED_MODEL};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    def.update = wrong[i];
    testExpectFailure(pnCreateTree(&def, &tree), PN_ERROR_KIND, "does not fit");
  }
  pnPoseDef poseDef = {body.mesh, NULL, NULL};
  pnPose *plain;
  testExpectOk(pnCreatePose(&poseDef, &plain));
  def.pose = plain;
  def.update = PN_UPDATE_CARRIED;
  testExpectFailure(pnCreateTree(&def, &tree), PN_ERROR_KIND, "does not fit");
  pnDestroyPose(plain);
  skinFree(&body);
}

/* A tree as the allocation test makes and frees it. */
static pnResult treeOnce(void *context) {
  const SkinBody *body = context;
  pnTreeDef def = pnDefaultTreeDef();
  pnTreeLab lab = {0};
  def.lab = &lab;
  def.pose = body->pose;
  lab.form = PN_FORM_SPHERE;
  pnTree *tree = NULL;
  pnResult result = pnCreateTree(&def, &tree);
  pnDestroyTree(tree);
  return result;
}

static pnResult bodyOnce(void *context) {
  (void)context;
  pnMesh *mesh = NULL;
  pnSkin *skin = NULL;
  pnPose *pose = NULL;
  pnSkinDef def = pnDefaultSkinDef();
  static uint16_t indices[4 * 12];
  static float weights[4 * 12];
  for (int v = 0; v < 12; ++v) weights[4 * v] = 1;
  pnResult result = pnMakeIcosphere(0, 1, &mesh);
  def.mesh = mesh;
  def.jointCount = 2;
  def.jointIndices = indices;
  def.jointWeights = weights;
  if (result == PN_OK) result = pnCreateSkin(&def, &skin);
  pnPoseDef poseDef = {mesh, NULL, skin};
  if (result == PN_OK) result = pnCreatePose(&poseDef, &pose);
  SkinBody body = {.pose = pose};
  if (result == PN_OK) result = treeOnce(&body);
  pnDestroyPose(pose);
  pnDestroySkin(skin);
  pnDestroyMesh(mesh);
  return result;
}

static void everyAllocationMayFail(void **state) {
  (void)state;
  assert_true(testEveryAllocationFailure(bodyOnce, NULL, false, true) > 10);
  assert_true(testEveryAllocationFailure(bodyOnce, NULL, true, false) > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(volumesContainEveryVertex),    cmocka_unit_test(volumesContainAtEveryScale),
      cmocka_unit_test(pairsAreThoseOfEagerVertices), cmocka_unit_test(farApartNoVertexIsTouched),
      cmocka_unit_test(rulesFitTheirPoses),           cmocka_unit_test(everyAllocationMayFail),
      cmocka_unit_test(listsBelowMayBeLonger),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
