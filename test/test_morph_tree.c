/* test_morph_tree.c: trees over morphing bodies. The pairs are those of brute force over eager vertices, whatever the
 * volumes, builders, rules, threads and transforms; a frame without contact computes no vertex. */
#include "support_morph.h"

/* ---------------------------------------------------------------- agreement */

/* Two bodies near each other, and all settings that could matter. */
typedef struct Meeting {
  MorphBody body[2];
  pnPairList *truth, *found;
  pnPool *pools[5]; /* by worker count, from 2 */
} Meeting;

static Meeting makeMeeting(MorphKind a, MorphKind b, uint32_t level) {
  Meeting m = {.body = {morphMake(a, level, 1, 11), morphMake(b, level, 1, 12)}};
  testExpectOk(pnCreatePairList(&m.truth));
  testExpectOk(pnCreatePairList(&m.found));
  for (uint32_t workers = 2; workers <= 4; ++workers) testExpectOk(pnCreatePool(workers, &m.pools[workers]));
  return m;
}

static void freeMeeting(Meeting *m) {
  for (uint32_t workers = 2; workers <= 4; ++workers) pnDestroyPool(m->pools[workers]);
  pnDestroyPairList(m->found);
  pnDestroyPairList(m->truth);
  morphFree(&m->body[0]);
  morphFree(&m->body[1]);
  assert_int_equal(pnGetByteCount(), 0);
}

/* New weights and places; brute force says what meets. */
static void moveMeeting(Meeting *m, TestRandom *random, int round) {
  for (int i = 0; i < 2; ++i) {
    morphPose(&m->body[i], random);
    pnMatrix transform = round % 3 == 0 ? pnMatrix_Identity() : testRotation(random, 0.1f);
    transform.m[0][3] += round % 2 == 0 ? (i ? 0.9f : -0.7f) : (i ? 0.3f : 0);
    testExpectOk(pnPose_SetTransform(m->body[i].pose, &transform));
  }
  testExpectOk(pnCollideBrute(m->body[0].pose, m->body[1].pose, NULL, m->truth));
}

static void checkMeeting(Meeting *m, pnTree *a, pnTree *b) {
  pnQueryDef query = pnDefaultQueryDef();
  for (uint32_t workers = 1; workers <= 4; workers += testIsShort() ? 3 : 1) {
    query.tasks = workers > 1 ? pnPool_GetTasks(m->pools[workers]) : (pnTasks){0};
    testExpectOk(pnCollideTrees(a, b, &query, m->found, NULL));
    morphExpectPairs(m->found, m->truth);
    query.first = true;
    testExpectOk(pnCollideTrees(a, b, &query, m->found, NULL));
    assert_int_equal(pnPairList_GetCount(m->found), pnPairList_GetCount(m->truth) > 0);
    query.first = false;
  }
}

static void everyVolumeAndBuilder(void **state) {
  (void)state;
  for (int kind = 0; kind < MORPH_KIND_COUNT; ++kind) {
    Meeting m = makeMeeting((MorphKind)kind, (MorphKind)((kind + 1) % MORPH_KIND_COUNT), 1);
    pnTree *trees[2][TEST_FORM_COUNT][PN_BUILD_COUNT];
    for (int i = 0; i < 2; ++i)
      for (int volume = 0; volume < TEST_FORM_COUNT; ++volume)
        for (int build = 0; build < PN_BUILD_COUNT; ++build) {
          pnTreeDef def = pnDefaultTreeDef();
          pnTreeLab lab = {0};
          def.lab = &lab;
          lab.form = (pnForm)volume;
          lab.build = (pnBuild)build;
          lab.leafSize = build == 0 ? 2 : 1;
          lab.extraReferences = (uint32_t)build;
          trees[i][volume][build] = morphTree(m.body[i].pose, &def);
        }
    TestRandom random = testRandom((uint64_t)kind + 1);
    size_t pairs = 0;
    for (int round = 0; round < 12; ++round) {
      moveMeeting(&m, &random, round);
      pairs += pnPairList_GetCount(m.truth);
      for (int volume = 0; volume < TEST_FORM_COUNT; ++volume)
        for (int build = 0; build < PN_BUILD_COUNT; ++build)
          checkMeeting(&m, trees[0][volume][build], trees[1][volume][build]);
    }
    assert_true(pairs > 100);
    for (int i = 0; i < 2; ++i)
      for (int volume = 0; volume < TEST_FORM_COUNT; ++volume)
        for (int build = 0; build < PN_BUILD_COUNT; ++build) pnDestroyTree(trees[i][volume][build]);
    freeMeeting(&m);
  }
}

/* ---------------------------------------------------------------- rules, other bodies, self */

/* The same morphing pose under every rule, and against trees of other kinds and volumes. */
static void everyRule(void **state) {
  (void)state;
  static const pnUpdate rules[] = {PN_UPDATE_DEFAULT,   PN_UPDATE_BLENDED,  PN_UPDATE_BLENDED_MODEL,
                                   PN_UPDATE_BOTTOM_UP, PN_UPDATE_TOP_DOWN, PN_UPDATE_HYBRID};
  enum { RULES = sizeof rules / sizeof rules[0] };
  for (int kind = 0; kind < MORPH_KIND_COUNT; ++kind) {
    Meeting m = makeMeeting((MorphKind)kind, MORPH_SPARSE, 1);
    pnTree *trees[2][RULES];
    for (int i = 0; i < 2; ++i)
      for (int r = 0; r < RULES; ++r) {
        pnTreeDef def = pnDefaultTreeDef();
        pnTreeLab lab = {0};
        def.lab = &lab;
        def.update = rules[r];
        lab.leafSize = 3;
        lab.noStamps = r == 1;
        trees[i][r] = morphTree(m.body[i].pose, &def);
      }
    TestRandom random = testRandom((uint64_t)kind + 50);
    for (int round = 0; round < 10; ++round) {
      moveMeeting(&m, &random, round);
      for (int a = 0; a < RULES; ++a)
        for (int b = 0; b < RULES; ++b) checkMeeting(&m, trees[0][a], trees[1][b]);
    }
    for (int i = 0; i < 2; ++i)
      for (int r = 0; r < RULES; ++r) pnDestroyTree(trees[i][r]);
    freeMeeting(&m);
  }
}

/* Trees built over a reference, something in between, the average, or after wild weights give one answer. */
static void builtOverAny(void **state) {
  (void)state;
  static const float starts[4][3] = {{0, 1, 0}, {0, 0.25f, 0.75f}, {1 / 3.0f, 1 / 3.0f, 1 / 3.0f}, {1, 0, 0}};
  for (int kind = 0; kind < MORPH_KIND_COUNT; ++kind) {
    Meeting m = makeMeeting((MorphKind)kind, (MorphKind)kind, 1);
    pnTree *trees[2][5];
    TestRandom random = testRandom((uint64_t)kind + 90);
    for (int i = 0; i < 2; ++i)
      for (int k = 0; k < 5; ++k) {
        pnTreeDef def = pnDefaultTreeDef();
        bool three = kind != MORPH_SPARSE && k < 4;
        if (three) testExpectOk(pnPose_SetWeights(m.body[i].pose, starts[k], 3));
        else morphPose(&m.body[i], &random);
        trees[i][k] = morphTree(m.body[i].pose, &def);
      }
    size_t pairs = 0;
    for (int round = 0; round < 8; ++round) {
      moveMeeting(&m, &random, round);
      pairs += pnPairList_GetCount(m.truth);
      for (int k = 0; k < 5; ++k) checkMeeting(&m, trees[0][k], trees[1][4 - k]);
      for (int k = 0; k < 5; ++k) testExpectOk(pnTree_Rebuild(trees[round % 2][k]));
    }
    assert_true(pairs > 50);
    for (int i = 0; i < 2; ++i)
      for (int k = 0; k < 5; ++k) pnDestroyTree(trees[i][k]);
    freeMeeting(&m);
  }
}

/* A morphing body against a free one and a rigid one with other volumes. */
static void otherKinds(void **state) {
  (void)state;
  MorphBody body = morphMake(MORPH_DELTAS, 1, 1, 5);
  pnMesh *mesh;
  testExpectOk(pnMakeTorus(1.0f, 0.4f, 12, 6, &mesh));
  pnPoseDef poseDef = {mesh, NULL, NULL};
  pnPose *pose;
  testExpectOk(pnCreatePose(&poseDef, &pose));
  pnPairList *truth, *found;
  testExpectOk(pnCreatePairList(&truth));
  testExpectOk(pnCreatePairList(&found));
  TestRandom random = testRandom(6);
  size_t pairs = 0;
  for (int volume = 0; volume < TEST_FORM_COUNT; ++volume)
    for (int other = 0; other < TEST_FORM_COUNT; ++other)
      for (int rigid = 0; rigid < 2; ++rigid) {
        pnTreeDef def = pnDefaultTreeDef();
        pnTreeLab lab = {0};
        def.lab = &lab;
        lab.form = (pnForm)volume;
        pnTree *a = morphTree(body.pose, &def);
        lab.form = (pnForm)other;
        def.update = rigid ? PN_UPDATE_RIGID : PN_UPDATE_HYBRID;
        pnTree *b = morphTree(pose, &def);
        for (int round = 0; round < 3; ++round) {
          morphPose(&body, &random);
          pnMatrix turn = testRotation(&random, 0.3f);
          testExpectOk(pnPose_SetTransform(body.pose, &turn));
          turn = testRotation(&random, 0.3f);
          testExpectOk(pnPose_SetTransform(pose, &turn));
          testExpectOk(pnCollideBrute(body.pose, pose, NULL, truth));
          testExpectOk(pnCollideTrees(a, b, NULL, found, NULL));
          morphExpectPairs(found, truth);
          testExpectOk(pnCollideBrute(pose, body.pose, NULL, truth));
          testExpectOk(pnCollideTrees(b, a, NULL, found, NULL));
          morphExpectPairs(found, truth);
          pairs += pnPairList_GetCount(truth);
        }
        pnDestroyTree(a);
        pnDestroyTree(b);
      }
  assert_true(pairs > 1000);
  pnDestroyPairList(truth);
  pnDestroyPairList(found);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
  morphFree(&body);
  assert_int_equal(pnGetByteCount(), 0);
}

/* Wild weights fold a body into itself; mild ones leave it whole. */
static void self(void **state) {
  (void)state;
  pnPairList *truth, *found;
  testExpectOk(pnCreatePairList(&truth));
  testExpectOk(pnCreatePairList(&found));
  pnPool *pool;
  testExpectOk(pnCreatePool(3, &pool));
  size_t pairs = 0;
  int empty = 0;
  for (int kind = 0; kind < MORPH_KIND_COUNT; ++kind) {
    MorphBody body = morphMake((MorphKind)kind, 1, 1, 21);
    pnTree *trees[TEST_FORM_COUNT];
    for (int volume = 0; volume < TEST_FORM_COUNT; ++volume) {
      pnTreeDef def = pnDefaultTreeDef();
      pnTreeLab lab = {0};
      def.lab = &lab;
      lab.form = (pnForm)volume;
      lab.build = (pnBuild)(volume % PN_BUILD_COUNT);
      lab.leafSize = 1 + (uint32_t)volume % 3;
      def.calm = volume > 0;
      trees[volume] = morphTree(body.pose, &def);
    }
    TestRandom random = testRandom(31);
    for (int round = 0; round < 24; ++round) {
      morphRandomWeights(&body, &random);
      float size = kind >= MORPH_DELTAS ? (round % 3 == 0 ? 0.1f : round % 3 == 1 ? 2.0f : 8.0f) : 1;
      for (uint32_t i = 0; i < body.targetCount; ++i) body.weights[i] *= size;
      testExpectOk(pnPose_SetWeights(body.pose, body.weights, body.targetCount));
      pnMatrix turn = testRotation(&random, 1);
      testExpectOk(pnPose_SetTransform(body.pose, &turn));
      testExpectOk(pnCollideBrute(body.pose, body.pose, NULL, truth));
      pairs += pnPairList_GetCount(truth);
      empty += pnPairList_GetCount(truth) == 0;
      for (int volume = 0; volume < TEST_FORM_COUNT; ++volume) {
        pnQueryDef query = pnDefaultQueryDef();
        query.tasks = volume % 2 ? pnPool_GetTasks(pool) : (pnTasks){0};
        testExpectOk(pnCollideSelf(trees[volume], &query, found, NULL));
        morphExpectPairs(found, truth);
        query.first = true;
        testExpectOk(pnCollideSelf(trees[volume], &query, found, NULL));
        assert_int_equal(pnPairList_GetCount(found), pnPairList_GetCount(truth) > 0);
      }
    }
    for (int volume = 0; volume < TEST_FORM_COUNT; ++volume) pnDestroyTree(trees[volume]);
    morphFree(&body);
  }
  assert_true(pairs > 150 && empty > 20);
  pnDestroyPool(pool);
  pnDestroyPairList(truth);
  pnDestroyPairList(found);
  assert_int_equal(pnGetByteCount(), 0);
}

/* ---------------------------------------------------------------- cost */

/* Bodies apart: no vertex, no node, and the same counters whatever the size. */
static void nothingTouched(void **state) {
  (void)state;
  pnCost costs[2];
  for (uint32_t size = 0; size < 2; ++size) {
    MorphBody a = morphMake(MORPH_REFERENCES, 1 + 3 * size, 1, 1), b = morphMake(MORPH_SPARSE, 1 + 3 * size, 1, 2);
    pnTreeDef def = pnDefaultTreeDef();
    pnTree *treeA = morphTree(a.pose, &def), *treeB = morphTree(b.pose, &def);
    TestRandom random = testRandom(3);
    for (int round = 0; round < 20; ++round) {
      morphPose(&a, &random);
      morphPose(&b, &random);
      pnMatrix turn = testRotation(&random, 0);
      turn.m[0][3] = 40;
      testExpectOk(pnPose_SetTransform(b.pose, &turn));
      pnCost cost;
      testExpectOk(pnCollideTrees(treeA, treeB, NULL, NULL, &cost));
      assert_int_equal(cost.verticesFetched, 0);
      assert_int_equal(cost.nodesUpdated, 0);
      assert_int_equal(cost.nodePairs + cost.leafPairs + cost.exactTests + cost.pairs, 0);
      costs[size] = cost;
    }
    pnDestroyTree(treeA);
    pnDestroyTree(treeB);
    morphFree(&a);
    morphFree(&b);
  }
  costs[0].updateSeconds = costs[1].updateSeconds = 0;
  costs[0].traverseSeconds = costs[1].traverseSeconds = 0;
  costs[0].exactSeconds = costs[1].exactSeconds = 0;
  assert_memory_equal(&costs[0], &costs[1], sizeof(pnCost));
}

/* Vertices are computed once for each leaf that is reached; without stamps at every visit. */
static void stamps(void **state) {
  (void)state;
  MorphBody a = morphMake(MORPH_REFERENCES, 3, 1, 1), b = morphMake(MORPH_REFERENCES, 3, 1, 2);
  pnMatrix near = pnMatrix_Identity();
  near.m[0][3] = 0.8f;
  testExpectOk(pnPose_SetTransform(b.pose, &near));
  pnCost cost[2], again;
  pnPairList *list[2];
  for (int i = 0; i < 2; ++i) {
    pnTreeDef def = pnDefaultTreeDef();
    pnTreeLab lab = {0};
    def.lab = &lab;
    lab.noStamps = i == 1;
    pnTree *treeA = morphTree(a.pose, &def), *treeB = morphTree(b.pose, &def);
    testExpectOk(pnCreatePairList(&list[i]));
    testExpectOk(pnCollideTrees(treeA, treeB, NULL, list[i], &cost[i]));
    testExpectOk(pnCollideTrees(treeA, treeB, NULL, NULL, &again));
    assert_int_equal(again.verticesFetched > 0, i == 1);
    pnDestroyTree(treeA);
    pnDestroyTree(treeB);
  }
  morphExpectPairs(list[1], list[0]);
  assert_true(cost[0].pairs > 20);
  assert_true(cost[1].nodesUpdated > 2 * cost[0].nodesUpdated);
  assert_true(cost[0].verticesFetched < 3 * (size_t)pnMesh_GetVertexCount(a.mesh));
  for (int i = 0; i < 2; ++i) pnDestroyPairList(list[i]);
  morphFree(&a);
  morphFree(&b);
}

/* Sides of a box, added up. */
static float sizeOf(pnBox b) {
  return (b.max.x - b.min.x) + (b.max.y - b.min.y) + (b.max.z - b.min.z);
}

/* Extra references cost memory, and volumes are tighter while two references have a weight. */
static void extraReferences(void **state) {
  (void)state;
  MorphBody body = morphMake(MORPH_TWO, 2, 1, 9);
  pnTree *trees[3];
  size_t bytes[3];
  const uint32_t extra[3] = {0, 1, 5};
  for (int i = 0; i < 3; ++i) {
    pnTreeDef def = pnDefaultTreeDef();
    pnTreeLab lab = {0};
    def.lab = &lab;
    lab.extraReferences = extra[i];
    trees[i] = morphTree(body.pose, &def);
    bytes[i] = pnTree_GetByteCount(trees[i]);
  }
  /* three volumes a node, and so many more between each two of them */
  assert_true(bytes[1] > bytes[0] + 1000);
  assert_true(fabs((double)(bytes[2] - bytes[0]) / (double)(bytes[1] - bytes[0]) - 5) < 0.05);
  TestRandom random = testRandom(10);
  double sum[3] = {0};
  for (int round = 0; round < 200; ++round) {
    morphPose(&body, &random);
    for (int i = 0; i < 3; ++i) {
      pnBox boxes[64];
      testExpectOk(pnTree_Update(trees[i], NULL));
      uint32_t n = pnTree_GetLevelBoxes(trees[i], 2, boxes, 64);
      for (uint32_t k = 0; k < n && k < 64; ++k) sum[i] += (double)sizeOf(boxes[k]);
    }
  }
  assert_true(sum[1] < 0.999 * sum[0] && sum[2] < sum[1]);
  for (int i = 0; i < 3; ++i) pnDestroyTree(trees[i]);
  morphFree(&body);
}

/* Trees over one morph share the volumes of its targets and blend them each by weights of its own. */
static void twins(void **state) {
  (void)state;
  for (int kind = 0; kind < MORPH_KIND_COUNT; ++kind)
    for (int update = 0; update < 2; ++update)
      for (int volume = 0; volume < TEST_FORM_COUNT; volume += update ? TEST_FORM_COUNT : PN_FORM_SPHERE) {
        MorphBody a = morphMake((MorphKind)kind, 2, 1, 3), b = a;
        pnPoseDef poseDef = {a.mesh, a.morph, NULL};
        testExpectOk(pnCreatePose(&poseDef, &b.pose));
        pnTreeDef def = pnDefaultTreeDef();
        pnTreeLab lab = {0};
        def.lab = &lab;
        lab.form = (pnForm)volume;
        def.update = update ? PN_UPDATE_BLENDED_MODEL : PN_UPDATE_BLENDED;
        size_t bytes[3] = {pnGetByteCount()};
        pnTree *first = morphTree(a.pose, &def);
        bytes[1] = pnGetByteCount();
        def.twin = first;
        pnTree *twin = morphTree(b.pose, &def);
        bytes[2] = pnGetByteCount();
        assert_true(4 * (bytes[2] - bytes[1]) < 3 * (bytes[1] - bytes[0]));
        assert_int_equal(pnTree_GetByteCount(twin), pnTree_GetByteCount(first));
        /* other targets' volumes are needed for extra references */
        lab.extraReferences = kind == MORPH_REFERENCES || kind == MORPH_TWO ? 2 : 0;
        pnTree *other = morphTree(b.pose, &def);
        pnPairList *truth, *found;
        testExpectOk(pnCreatePairList(&truth));
        testExpectOk(pnCreatePairList(&found));
        TestRandom random = testRandom(4);
        for (int round = 0; round < 4; ++round) {
          if (round == 2) { /* what is shared stays */
            pnDestroyTree(first);
            first = morphTree(a.pose, &def);
          }
          morphPose(&a, &random);
          morphPose(&b, &random);
          testExpectOk(pnTree_Validate(first));
          testExpectOk(pnTree_Validate(twin));
          testExpectOk(pnTree_Validate(other));
          testExpectOk(pnCollideBrute(a.pose, b.pose, NULL, truth));
          testExpectOk(pnCollideTrees(first, twin, NULL, found, NULL));
          morphExpectPairs(found, truth);
          testExpectOk(pnCollideTrees(first, other, NULL, found, NULL));
          morphExpectPairs(found, truth);
          def.twin = other;
        }
        pnDestroyTree(first);
        pnDestroyTree(other);
        pnDestroyTree(twin);
        pnDestroyPairList(truth);
        pnDestroyPairList(found);
        pnDestroyPose(b.pose);
        morphFree(&a);
      }
  assert_int_equal(pnGetByteCount(), 0);
}

/* ---------------------------------------------------------------- wrong settings, memory */

static void wrongSettings(void **state) {
  (void)state;
  MorphBody body = morphMake(MORPH_REFERENCES, 0, 1, 1);
  pnPoseDef poseDef = {body.mesh, NULL, NULL};
  pnPose *plain;
  testExpectOk(pnCreatePose(&poseDef, &plain));
  pnTree *tree = (pnTree *)&body;
  pnTreeDef def = pnDefaultTreeDef();
  pnTreeLab lab = {0};
  def.lab = &lab;
  def.pose = body.pose;
  def.update = PN_UPDATE_RIGID;
  testExpectFailure(pnCreateTree(&def, &tree), PN_ERROR_KIND, "does not fit");
  def.update = PN_UPDATE_BERGEN;
  testExpectFailure(pnCreateTree(&def, &tree), PN_ERROR_KIND, "does not fit");
  def.update = PN_UPDATE_BLENDED_MODEL;
  lab.form = PN_FORM_SPHERE;
  testExpectFailure(pnCreateTree(&def, &tree), PN_ERROR_ARGUMENT, "boxes only");
  lab.form = PN_FORM_BOX;
  lab.extraReferences = 16;
  testExpectFailure(pnCreateTree(&def, &tree), PN_ERROR_ARGUMENT, "extraReferences is 16");
  lab.extraReferences = 0;
  def.pose = plain;
  testExpectFailure(pnCreateTree(&def, &tree), PN_ERROR_KIND, "does not fit");
  def.update = PN_UPDATE_BLENDED;
  testExpectFailure(pnCreateTree(&def, &tree), PN_ERROR_KIND, "does not fit");
  assert_null(tree);
  pnDestroyPose(plain);
  morphFree(&body);
}

/* An empty mesh, one triangle, one leaf. */
static void smallMeshes(void **state) {
  (void)state;
  const float vertices[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  const uint32_t triangles[12] = {0, 1, 2, 0, 1, 3, 0, 2, 3, 1, 2, 3};
  for (uint32_t count = 0; count <= 4; ++count) {
    pnMesh *mesh;
    pnMorph *morph;
    pnPose *pose;
    pnMeshDef meshDef = {vertices, 4, triangles, count, NULL, true, "small", PN_COOKIE};
    testExpectOk(pnCreateMesh(&meshDef, &mesh));
    pnMorphTarget target = {.count = 4, .values = vertices};
    pnMorphDef def = {mesh, PN_MORPH_DELTAS, &target, 1, NULL};
    testExpectOk(pnCreateMorph(&def, &morph));
    pnPoseDef poseDef = {mesh, morph, NULL};
    testExpectOk(pnCreatePose(&poseDef, &pose));
    for (int volume = 0; volume < TEST_FORM_COUNT; ++volume) {
      pnTreeDef treeDef = pnDefaultTreeDef();
      pnTreeLab treeLab = {0};
      treeDef.lab = &treeLab;
      treeLab.form = (pnForm)volume;
      pnTree *tree = morphTree(pose, &treeDef);
      const float weight = -0.25f;
      testExpectOk(pnPose_SetWeights(pose, &weight, 1));
      testExpectOk(pnTree_Validate(tree));
      testExpectOk(pnCollideSelf(tree, NULL, NULL, NULL));
      testExpectOk(pnTree_Rebuild(tree));
      testExpectOk(pnTree_Validate(tree));
      pnDestroyTree(tree);
    }
    pnDestroyPose(pose);
    pnDestroyMorph(morph);
    pnDestroyMesh(mesh);
  }
  assert_int_equal(pnGetByteCount(), 0);
}

static pnResult createTrees(void *context) {
  MorphBody *body = context;
  pnResult result = PN_OK;
  for (int volume = 0; volume < TEST_FORM_COUNT && result == PN_OK; ++volume) {
    pnTreeDef def = pnDefaultTreeDef();
    pnTreeLab lab = {0};
    def.lab = &lab;
    def.pose = body->pose;
    lab.form = (pnForm)volume;
    lab.extraReferences = 1;
    pnTree *tree;
    result = pnCreateTree(&def, &tree);
    if (result == PN_OK) pnDestroyTree(tree);
  }
  return result;
}

static pnResult createBodyAndTrees(void *context) {
  (void)context;
  pnMesh *mesh = NULL;
  pnMorph *morph = NULL;
  MorphBody body = {0};
  pnResult result = pnMakeIcosphere(0, 1, &mesh);
  if (result == PN_OK) {
    pnMorphTarget targets[2] = {{NULL, 12, NULL, pnMesh_GetVertices(mesh)}, {NULL, 12, NULL, pnMesh_GetVertices(mesh)}};
    pnMorphDef def = {mesh, PN_MORPH_REFERENCES, targets, 2, NULL};
    result = pnCreateMorph(&def, &morph);
  }
  if (result == PN_OK) {
    pnPoseDef def = {mesh, morph, NULL};
    result = pnCreatePose(&def, &body.pose);
  }
  if (result == PN_OK) result = createTrees(&body);
  pnDestroyPose(body.pose);
  pnDestroyMorph(morph);
  pnDestroyMesh(mesh);
  return result;
}

static void allocationFailure(void **state) {
  (void)state;
  assert_true(testEveryAllocationFailure(createBodyAndTrees, NULL, false, true) > 50);
  assert_true(testEveryAllocationFailure(createBodyAndTrees, NULL, true, false) > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everyVolumeAndBuilder),
      cmocka_unit_test(everyRule),
      cmocka_unit_test(builtOverAny),
      cmocka_unit_test(otherKinds),
      cmocka_unit_test(self),
      cmocka_unit_test(nothingTouched),
      cmocka_unit_test(stamps),
      cmocka_unit_test(extraReferences),
      cmocka_unit_test(twins),
      cmocka_unit_test(wrongSettings),
      cmocka_unit_test(smallMeshes),
      cmocka_unit_test(allocationFailure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
