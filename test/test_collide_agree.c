/* test_collide_agree.c: one scene, every build x arity x leaf size x volume x update rule x threads, all, first and self,
 * gives one sorted list of pairs, equal to exact arithmetic on every pair of triangles. The same for every motion (motions.h) with
 * every rule that fits it. */
#include "agree.h"
#include "motions.h"
#include "oracle.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t arities[3] = {2, 4, 8}, leafSizes[4] = {1, 3, 5, 8};

typedef struct Setting {
  pnBuild build;
  pnForm form;
  pnUpdate update;
  uint32_t arity, leafSize, cut;
} Setting;

static pnPool *s_pools[5];

/* self false: queries read the vertices in place where they can (tree.h). Null: the rule does not fit the pose or the form; those
 * that go by the vertices fit all. */
static pnTree *treeOf(pnPose *pose, const Setting *s, bool self) {
  pnTreeDef def = pnDefaultTreeDef();
  pnTreeLab lab = {0};
  def.lab = &lab;
  def.pose = pose;
  def.self = self;
  lab.build = s->build;
  lab.form = s->form;
  def.update = s->update;
  lab.arity = s->arity;
  lab.leafSize = s->leafSize;
  lab.cut = s->cut;
  pnTree *tree;
  pnResult result = pnCreateTree(&def, &tree);
  bool byVertices = s->update <= PN_UPDATE_HYBRID;
  if (byVertices || (result != PN_ERROR_KIND && result != PN_ERROR_ARGUMENT)) testExpectOk(result);
  return tree;
}

/* Is what a query for the first pair has found one of them, or nothing when there are none? */
static bool isFirst(const AgreePairs *truth, const pnPairList *list) {
  if (truth->count == 0 || pnPairList_GetCount(list) != 1) return truth->count == pnPairList_GetCount(list);
  for (size_t i = 0; i < truth->count; ++i)
    if (memcmp(&truth->pairs[i], pnPairList_GetPairs(list), sizeof(pnPair)) == 0) return true;
  return false;
}

/* All, first and self on 1 ... 4 threads, or 1 and 4, against the truth. */
static void checkTrees(const char *name, const Setting *s, pnTree *a, pnTree *b, const AgreePairs *truth,
                       const AgreePairs *self, pnPairList *list) {
  for (uint32_t threads = 1; threads <= 4; threads += testIsShort() ? 3 : 1) {
    pnQueryDef def = pnDefaultQueryDef();
    if (threads > 1) def.tasks = pnPool_GetTasks(s_pools[threads]);
    testExpectOk(pnCollideTrees(a, b, &def, list, NULL));
    bool equal = agreeEqual(truth, list);
    testExpectOk(pnCollideSelf(a, &def, list, NULL));
    bool selfEqual = agreeEqual(self, list);
    def.first = true;
    testExpectOk(pnCollideTrees(a, b, &def, list, NULL));
    bool first = isFirst(truth, list);
    testExpectOk(pnCollideSelf(a, &def, list, NULL));
    bool selfFirst = isFirst(self, list);
    if (!equal || !selfEqual || !first || !selfFirst) {
      fail_msg("%s: build %d volume %d update %d arity %u leaf %u cut %u threads %u: all %d self %d first %d %d", name,
               (int)s->build, (int)s->form, (int)s->update, s->arity, s->leafSize, s->cut, threads, equal, selfEqual,
               first, selfFirst);
    }
  }
}

/* One setting on one case: trees built over the rest pose, then moved to the case's positions. False: the rule does not fit. */
static bool checkSetting(const AgreeCase *c, const Setting *s, const AgreePairs *truth, const AgreePairs *self,
                         pnPairList *list) {
  pnPose *pose[2];
  pnTree *tree[2];
  for (int i = 0; i < 2; ++i) {
    pnPoseDef def = pnDefaultPoseDef();
    def.mesh = c->body[i].mesh;
    testExpectOk(pnCreatePose(&def, &pose[i]));
    tree[i] = treeOf(pose[i], s, i == 0);
    testExpectOk(pnPose_SetVertices(pose[i], c->body[i].positions, pnMesh_GetVertexCount(c->body[i].mesh)));
    if (tree[i]) testExpectOk(pnTree_Validate(tree[i]));
  }
  bool fits = tree[0] && tree[1];
  if (fits) checkTrees(c->name, s, tree[0], tree[1], truth, self, list);
  for (int i = 0; i < 2; ++i) {
    pnDestroyTree(tree[i]);
    pnDestroyPose(pose[i]);
  }
  return fits;
}

/* Every build, volume and rule; arity, leaf size and cut take turns so that every value meets every other choice. */
static void testCase(uint32_t index) {
  AgreeCase c = agreeMake(index);
  AgreePairs truth = agreeTruth(&c.body[0], &c.body[1]), self = agreeTruth(&c.body[0], NULL);
  print_message("  %s: %zu pairs, %zu self\n", c.name, truth.count, self.count);
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  uint32_t turn = index, last = turn;
  for (int build = 0; build < PN_BUILD_COUNT; ++build) {
    for (int volume = 0; volume < TEST_FORM_COUNT; ++volume) {
      for (int update = PN_UPDATE_BOTTOM_UP; update < PN_UPDATE_COUNT; ++update) {
        Setting s = {
            build, volume, update, arities[turn % 3], leafSizes[turn / 3 % 4], turn % 5 ? 1u << (turn % 5 * 2) : 1};
        turn += checkSetting(&c, &s, &truth, &self, list);
      }
      /* by the vertices, carried by the transform, and boxes in model space */
      assert_int_equal(turn - last, volume == PN_FORM_BOX ? 5 : 4);
      last = turn;
    }
  }
  pnDestroyPairList(list);
  free(truth.pairs);
  free(self.pairs);
  agreeFree(&c);
}

static void agreeOnEverything(void **state) {
  (void)state;
  for (uint32_t i = 0; i < AGREE_CASES; ++i) testCase(i);
}

/* Two trees with different volumes, rules and settings: every form of volume meets every other. */
static void agreeMixed(void **state) {
  (void)state;
  AgreeCase c = agreeMake(0);
  AgreePairs truth = agreeTruth(&c.body[0], &c.body[1]);
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  static const Setting kinds[] = {{PN_BUILD_BALANCED, PN_FORM_BOX, PN_UPDATE_HYBRID, 8, 8, 64},
                                  {PN_BUILD_LINK, PN_FORM_DOP14, PN_UPDATE_TOP_DOWN, 4, 3, 8},
                                  {PN_BUILD_SHAPE_MEAN, PN_FORM_DOP18, PN_UPDATE_HYBRID, 8, 1, 16},
                                  {PN_BUILD_BALANCED, PN_FORM_DOP26, PN_UPDATE_BOTTOM_UP, 2, 2, 64},
                                  {PN_BUILD_SHAPE_CENTRE, PN_FORM_SPHERE, PN_UPDATE_HYBRID, 8, 8, 64},
                                  {PN_BUILD_BALANCED, PN_FORM_BOX, PN_UPDATE_BERGEN, 2, 1, 64},
                                  {PN_BUILD_BALANCED, PN_FORM_DOP18, PN_UPDATE_RIGID, 8, 8, 64}};
  size_t n = sizeof kinds / sizeof *kinds;
  for (size_t i = 0; i < n * n; ++i) {
    pnPose *pose[2];
    pnTree *tree[2];
    for (int k = 0; k < 2; ++k) {
      pnPoseDef def = pnDefaultPoseDef();
      def.mesh = c.body[k].mesh;
      testExpectOk(pnCreatePose(&def, &pose[k]));
      testExpectOk(pnPose_SetVertices(pose[k], c.body[k].positions, pnMesh_GetVertexCount(c.body[k].mesh)));
      tree[k] = treeOf(pose[k], &kinds[k ? i % n : i / n], (i + k) % 3 == 0);
    }
    testExpectOk(pnCollideTrees(tree[0], tree[1], NULL, list, NULL));
    if (!agreeEqual(&truth, list))
      fail_msg("kinds %zu and %zu: %zu pairs, not %zu", i / n, i % n, pnPairList_GetCount(list), truth.count);
    for (int k = 0; k < 2; ++k) {
      pnDestroyTree(tree[k]);
      pnDestroyPose(pose[k]);
    }
  }
  pnDestroyPairList(list);
  free(truth.pairs);
  agreeFree(&c);
}

/* ---------------------------------------------------------------- every motion */

/* The vertices of a body as they are now. */
static AgreeBody bodyNow(const TestMoving *m) {
  AgreeBody body = {(pnMesh *)(uintptr_t)m->mesh,
                    calloc(3 * (size_t)pnMesh_GetVertexCount(m->mesh) + 1, sizeof(float))};
  assert_non_null(body.positions);
  pnPose_GetVertices(m->pose, body.positions);
  return body;
}

/* Trees of every rule and form over two poses. */
typedef struct Grove {
  pnTree *tree[2][PN_UPDATE_COUNT][TEST_FORM_COUNT];
} Grove;

static uint32_t plantGrove(Grove *g, pnPose *const pose[2]) {
  uint32_t fitting = 0, turn = 0;
  for (int update = 0; update < PN_UPDATE_COUNT; ++update) {
    for (int form = 0; form < TEST_FORM_COUNT; ++form, ++turn) {
      Setting s = {PN_BUILD_BALANCED, form, update, arities[turn % 3], leafSizes[turn % 4], 1u << (turn % 5 * 2)};
      for (int k = 0; k < 2; ++k) g->tree[k][update][form] = treeOf(pose[k], &s, k == 0);
      fitting += g->tree[0][update][form] != NULL;
    }
  }
  return fitting;
}

static void checkGrove(const char *name, Grove *g, const AgreePairs *truth, const AgreePairs *self, pnPairList *list) {
  for (int i = 0; i < PN_UPDATE_COUNT * TEST_FORM_COUNT; ++i) {
    int update = i / TEST_FORM_COUNT, form = i % TEST_FORM_COUNT;
    pnTree *a = g->tree[0][update][form], *b = g->tree[1][update][form];
    if (!a || !b) continue;
    Setting s = {PN_BUILD_BALANCED, form, update, 0, 0, 0};
    testExpectOk(pnTree_Validate(a));
    testExpectOk(pnTree_Validate(b));
    checkTrees(name, &s, a, b, truth, self, list);
    /* another rule's tree over the same pose */
    pnTree *other = g->tree[1][PN_UPDATE_HYBRID][(form + 1) % TEST_FORM_COUNT];
    testExpectOk(pnCollideTrees(a, other, NULL, list, NULL));
    assert_true(agreeEqual(truth, list));
  }
}

static void checkMotion(const TestMotion *motion, uint64_t seed, pnPairList *list) {
  TestRandom r = testRandom(seed);
  TestMoving body[2] = {{0}, {0}};
  for (int k = 0; k < 2; ++k) motion->make(&body[k], 1, 1, seed + (uint64_t)k);
  Grove grove;
  uint32_t fitting = plantGrove(&grove, (pnPose *const[2]){body[0].pose, body[1].pose});
  size_t pairs = 0, selves = 0;
  for (int round = 0; round < 3; ++round) {
    AgreeBody now[2];
    for (int k = 0; k < 2; ++k) {
      pnMatrix m = testRotation(&r, 0.5f);
      testExpectOk(pnPose_SetTransform(body[k].pose, &m));
      motion->move(&body[k], &r, 1);
      now[k] = bodyNow(&body[k]);
    }
    AgreePairs truth = agreeTruth(&now[0], &now[1]), self = agreeTruth(&now[0], NULL);
    checkGrove(motion->name, &grove, &truth, &self, list);
    pairs += truth.count;
    selves += self.count;
    free(truth.pairs);
    free(self.pairs);
    free(now[0].positions);
    free(now[1].positions);
  }
  print_message("  %s: %u rules and forms, %zu pairs, %zu self\n", motion->name, fitting, pairs, selves);
  assert_true(pairs > 20);
  for (int i = 0; i < 2 * PN_UPDATE_COUNT * TEST_FORM_COUNT; ++i) pnDestroyTree((&grove.tree[0][0][0])[i]);
  for (int k = 0; k < 2; ++k) motion->free(&body[k]);
}

static void agreeMoving(void **state) {
  (void)state;
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  for (uint32_t i = 0; i < TEST_MOTION_COUNT; ++i) checkMotion(testMotions[i], 100 + i, list);
  pnDestroyPairList(list);
}

/* ---------------------------------------------------------------- transforms, and vertices in place */

/* First `by`, then `m`. */
static pnMatrix after(const pnMatrix *m, const pnMatrix *by) {
  pnMatrix out;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      float sum = j == 3 ? m->m[i][3] : 0;
      for (int k = 0; k < 3; ++k) sum += m->m[i][k] * by->m[k][j];
      out.m[i][j] = sum;
    }
  }
  return out;
}

/* Rigid transforms: the truth is taken of the vertices as the pose computes them. */
static void agreeUnderTransforms(void **state) {
  (void)state;
  TestRandom r = testRandom(7);
  AgreeCase c = agreeMake(0);
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  uint32_t meetFar = 0;
  for (int round = 0; round < 30; ++round) {
    pnPose *pose[2];
    pnTree *tree[2];
    pnMatrix place = pnMatrix_Identity();
    AgreeBody moved[2];
    for (int k = 0; k < 2; ++k) {
      static const pnUpdate rules[4] = {PN_UPDATE_HYBRID, PN_UPDATE_RIGID, PN_UPDATE_BERGEN, PN_UPDATE_TOP_DOWN};
      Setting s = {PN_BUILD_BALANCED, PN_FORM_BOX, rules[(round + 2 * k) % 4], 8, 8, 64};
      if (s.update == PN_UPDATE_RIGID || s.update == PN_UPDATE_HYBRID) s.form = (pnForm)(round % TEST_FORM_COUNT);
      pnPoseDef def = pnDefaultPoseDef();
      def.mesh = c.body[k].mesh;
      uint32_t n = pnMesh_GetVertexCount(def.mesh);
      pnMatrix m = testRotation(&r, round % 3 == 0 && k == 0 ? 100.0f : 0.4f);
      if (round % 3 == 0) {
        /* far from the origin together: rounding matters */
        m = place = after(&place, &m);
      }
      testExpectOk(pnCreatePose(&def, &pose[k]));
      testExpectOk(pnPose_SetVertices(pose[k], c.body[k].positions, n));
      tree[k] = treeOf(pose[k], &s, round % 2 == 0);
      testExpectOk(pnPose_SetTransform(pose[k], &m));
      testExpectOk(pnTree_Validate(tree[k]));
      moved[k] = (AgreeBody){c.body[k].mesh, calloc(3 * (size_t)n + 1, sizeof(float))};
      pnPose_GetVertices(pose[k], moved[k].positions);
    }
    AgreePairs truth = agreeTruth(&moved[0], &moved[1]);
    testExpectOk(pnCollideTrees(tree[0], tree[1], NULL, list, NULL));
    assert_true(agreeEqual(&truth, list));
    meetFar += round % 3 == 0 && truth.count > 0;
    free(truth.pairs);
    for (int k = 0; k < 2; ++k) {
      free(moved[k].positions);
      pnDestroyTree(tree[k]);
      pnDestroyPose(pose[k]);
    }
  }
  assert_true(meetFar >= 5);
  pnDestroyPairList(list);
  agreeFree(&c);
}

/* The pairs of two trees against those of their poses. */
static void checkPoses(pnTree *a, const pnPose *p, pnTree *b, const pnPose *q, uint32_t threads, pnPairList *list,
                       pnPairList *truth) {
  pnQueryDef def = pnDefaultQueryDef();
  if (threads > 1) def.tasks = pnPool_GetTasks(s_pools[threads]);
  testExpectOk(pnCollideTrees(a, b, &def, list, NULL));
  testExpectOk(pnCollideBrute(p, q, NULL, truth));
  assert_true(pnPairList_GetCount(truth) > 0);
  assert_int_equal(pnPairList_GetCount(list), pnPairList_GetCount(truth));
  assert_memory_equal(pnPairList_GetPairs(list), pnPairList_GetPairs(truth),
                      pnPairList_GetCount(truth) * sizeof(pnPair));
  testExpectOk(pnTree_Validate(a));
  testExpectOk(pnTree_Validate(b));
}

/* Vertices are read in place while they lie ready, and from blocks when a transform moves them: one body goes back and forth,
 * also to another array, beside a twin that shares its shape and does the opposite. */
static void agreeInPlace(void **state) {
  (void)state;
  TestRandom r = testRandom(21);
  AgreeCase c = agreeMake(0);
  const pnMesh *mesh = c.body[0].mesh;
  uint32_t n = pnMesh_GetVertexCount(mesh);
  pnPose *pose[2];
  pnTree *tree[2] = {NULL, NULL};
  float *array[2];
  pnPairList *list, *truth;
  testExpectOk(pnCreatePairList(&list));
  testExpectOk(pnCreatePairList(&truth));
  for (int k = 0; k < 2; ++k) {
    pnPoseDef poseDef = pnDefaultPoseDef();
    poseDef.mesh = mesh;
    testExpectOk(pnCreatePose(&poseDef, &pose[k]));
    pnTreeDef def = pnDefaultTreeDef();
    def.pose = pose[k];
    def.self = false;
    def.twin = tree[0];
    testExpectOk(pnCreateTree(&def, &tree[k]));
    array[k] = calloc(3 * (size_t)n + 1, sizeof(float));
  }
  for (uint32_t step = 0; step < 24; ++step) {
    for (uint32_t k = 0; k < 2; ++k) {
      float *v = array[step / 2 % 2]; /* now and then both bodies have one array */
      for (uint32_t i = 0; i < 3 * n; ++i) v[i] = c.body[0].positions[i] + testFloat(&r, -0.02f, 0.02f);
      pnMatrix m = testRotation(&r, 0.2f);
      static const pnMatrix one = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
      testExpectOk(pnPose_SetTransform(pose[k], (step + k) % 2 ? &m : &one));
      testExpectOk(step % 3 == 0 ? pnPose_SetVertices(pose[k], v, n) : pnPose_ShareVertices(pose[k], v, n));
    }
    checkPoses(tree[0], pose[0], tree[1], pose[1], 1 + step % 4, list, truth);
  }
  for (int k = 0; k < 2; ++k) {
    pnDestroyTree(tree[k]);
    pnDestroyPose(pose[k]);
    free(array[k]);
  }
  pnDestroyPairList(list);
  pnDestroyPairList(truth);
  agreeFree(&c);
}

static int setup(void **state) {
  (void)state;
  oracleOpen();
  for (uint32_t i = 2; i <= 4; ++i)
    if (pnCreatePool(i, &s_pools[i]) != PN_OK) return -1;
  return 0;
}

static int teardown(void **state) {
  (void)state;
  for (uint32_t i = 2; i <= 4; ++i) pnDestroyPool(s_pools[i]);
  oracleClose();
  return pnGetByteCount() == 0 ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(agreeOnEverything), cmocka_unit_test(agreeMixed),
                                     cmocka_unit_test(agreeMoving), cmocka_unit_test(agreeUnderTransforms),
                                     cmocka_unit_test(agreeInPlace)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
