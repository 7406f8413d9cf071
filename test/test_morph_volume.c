/* test_morph_volume.c: blended volumes contain every float vertex (T7, T8 of tree.h), huge and tiny numbers included;
 * vertices of leaves have the bits of the pose. */
#include "support_morph.h"

#include <float.h>

#include "tree/blend.h"

/* ---------------------------------------------------------------- containment */

/* The invariants by number, T7 and T8 among them, in every node. */
static void volumesContain(void **state) {
  (void)state;
  for (int kind = 0; kind < MORPH_KIND_COUNT; ++kind)
    for (int volume = 0; volume <= PN_FORM_COUNT; ++volume) {
      MorphBody body = morphMake((MorphKind)kind, 2, 1, 41);
      pnTreeDef def = pnDefaultTreeDef();
      pnTreeLab lab = {0};
      def.lab = &lab;
      lab.form = volume < PN_FORM_COUNT ? (pnForm)volume : PN_FORM_BOX;
      def.update = volume < PN_FORM_COUNT ? PN_UPDATE_BLENDED : PN_UPDATE_BLENDED_MODEL;
      lab.extraReferences = (uint32_t)volume;
      pnTree *tree = morphTree(body.pose, &def);
      TestRandom random = testRandom(42);
      for (int round = 0; round < 12; ++round) {
        morphPose(&body, &random);
        pnMatrix turn = testRotation(&random, round % 3 == 2 ? 1000.0f : 1.0f);
        if (round % 2) testExpectOk(pnPose_SetTransform(body.pose, &turn));
        testExpectOk(pnTree_Validate(tree));
      }
      pnDestroyTree(tree);
      morphFree(&body);
    }
}

/* A tetrahedron soup whose numbers are as wild as they may be. */
typedef struct Wild {
  pnMesh *mesh;
  pnMorph *morph;
  pnPose *pose;
  uint32_t n, targets;
  bool deltas;
} Wild;

/* A number of random size: 2^-149 ... 2^100. */
static float wildFloat(TestRandom *random, float most) {
  switch (testBelow(random, 5)) {
    case 0: return 0;
    case 1: return ldexpf(testFloat(random, -1, 1), -(int)testBelow(random, 150));
    case 2: return testFloat(random, -1, 1) * most;
    case 3: return ldexpf(testFloat(random, -1, 1), (int)testBelow(random, 20));
    default: return testFloat(random, -1, 1);
  }
}

static Wild makeWild(TestRandom *random, bool deltas, float most) {
  Wild w = {.n = 48, .targets = 1 + testBelow(random, 8), .deltas = deltas};
  static float vertices[3 * 48], values[8][3 * 48];
  static uint32_t triangles[3 * 40];
  for (uint32_t i = 0; i < 3 * w.n; ++i) vertices[i] = wildFloat(random, most);
  for (uint32_t i = 0; i < 120; ++i) triangles[i] = testBelow(random, w.n);
  pnMeshDef def = {vertices, w.n, triangles, 40, NULL, false, "wild", PN_COOKIE};
  testExpectOk(pnCreateMesh(&def, &w.mesh));
  pnMorphTarget targets[8] = {{0}};
  for (uint32_t i = 0; i < w.targets; ++i) {
    for (uint32_t k = 0; k < 3 * w.n; ++k) values[i][k] = wildFloat(random, most);
    targets[i] = (pnMorphTarget){.count = w.n, .values = values[i]};
  }
  pnMorphDef morphDef = {w.mesh, deltas ? PN_MORPH_DELTAS : PN_MORPH_REFERENCES, targets, w.targets, NULL};
  testExpectOk(pnCreateMorph(&morphDef, &w.morph));
  pnPoseDef poseDef = {w.mesh, w.morph, NULL};
  testExpectOk(pnCreatePose(&poseDef, &w.pose));
  return w;
}

static void setWild(Wild *w, TestRandom *random) {
  float weights[8] = {0};
  double sum = 0;
  for (uint32_t i = 0; i < w->targets; ++i) {
    weights[i] =
        ldexpf(testFloat(random, w->deltas ? -8 : 0, 8), -(int)(testBelow(random, 2) * testBelow(random, 150)));
    if (testBelow(random, 3) == 0) weights[i] = 0;
    sum += (double)weights[i];
  }
  for (uint32_t i = 0; i < w->targets && !w->deltas; ++i)
    weights[i] = sum > 0 ? (float)((double)weights[i] / sum) : i == 0;
  testExpectOk(pnPose_SetWeights(w->pose, weights, w->targets));
}

/* The blended rows before any grid: every float vertex, and the float and the real projection of it in the other directions,
 * lies between. Returns how many were looked at. */
static uint64_t checkRows(const pnTree *tree) {
  const pnBlend *blend = tree->ruleData;
  float rows[PN_LANES * PN_MAX_ROWS];
  uint64_t looked = 0;
  for (uint32_t place = 0; place <= tree->shape->innerCount; ++place) {
    pn_blendRows(blend, place, rows);
    uint32_t count = place < tree->shape->innerCount ? tree->shape->count[place] : 1;
    for (uint32_t j = 0; j < count; ++j) {
      uint32_t n;
      const uint32_t *list =
          pn_verticesBelow(tree, place < tree->shape->innerCount ? tree->shape->first[place] + j : 0, &n);
      for (uint32_t i = 0; i < n; ++i, ++looked) {
        uint32_t v = list[i] / 3;
        float p[4];
        tree->pose->motion->fetch(tree->pose, !tree->slabs || tree->rule->modelSpace, &v, 1, p, 4);
        if (!tree->slabs) {
          double d = 0;
          for (int k = 0; k < 3; ++k) d = hypot(d, (double)p[k] - (double)rows[k * 8 + (int)j]);
          assert_true(d <= (double)rows[3 * 8 + j] * (1 + 1e-15));
          continue;
        }
        for (uint32_t u = 0; u < tree->slabs->count; ++u) {
          const int8_t *dir = tree->slabs->dir[u];
          long double real = 0;
          float rounded = 0;
          for (int k = 0; k < 3; ++k) {
            real += (long double)dir[k] * (long double)p[k];
            if (dir[k]) rounded = rounded + (float)dir[k] * p[k];
          }
          assert_true(rows[16 * u + j] <= real && real <= rows[16 * u + 8 + j]);
          assert_true(rows[16 * u + j] <= rounded && rounded <= rows[16 * u + 8 + j]);
        }
      }
    }
  }
  return looked;
}

static void millionsOfVertices(void **state) {
  (void)state;
  TestRandom random = testRandom(77);
  uint64_t looked = 0;
  for (int round = 0; round < 60; ++round) {
    bool deltas = round % 2;
    Wild w = makeWild(&random, deltas, round % 3 == 0 ? 1e36f : round % 3 == 1 ? 1e3f : 1e-38f);
    for (int volume = 0; volume < PN_FORM_COUNT; ++volume) {
      pnTreeDef def = pnDefaultTreeDef();
      pnTreeLab lab = {0};
      def.lab = &lab;
      lab.form = (pnForm)volume;
      lab.leafSize = 1 + testBelow(&random, 4);
      lab.extraReferences = deltas ? 0 : testBelow(&random, 4);
      pnPose_Reset(w.pose);
      def.update = volume == PN_FORM_BOX && round % 4 == 0 ? PN_UPDATE_BLENDED_MODEL : PN_UPDATE_BLENDED;
      pnTree *tree = morphTree(w.pose, &def);
      for (int k = 0; k < 40; ++k) {
        setWild(&w, &random);
        /* none, a shift, a turn about an axis, any */
        pnMatrix turn = k % 4 == 3 ? testRotation(&random, 1) : pnMatrix_Identity();
        if (k % 4 == 2) turn.m[0][0] = turn.m[1][1] = 0.6f, turn.m[1][0] = 0.8f, turn.m[0][1] = -0.8f;
        for (int i = 0; i < 3 && k % 4 > 0; ++i) turn.m[i][3] = wildFloat(&random, round % 3 == 0 ? 1e36f : 1e3f);
        testExpectOk(pnPose_SetTransform(w.pose, &turn));
        testExpectOk(pnTree_Update(tree, NULL));
        looked += checkRows(tree);
      }
      pnDestroyTree(tree);
    }
    pnDestroyPose(w.pose);
    pnDestroyMorph(w.morph);
    pnDestroyMesh(w.mesh);
  }
  print_message("%llu vertices inside their blended volumes\n", (unsigned long long)looked);
  assert_true(looked > 2000000);
  assert_int_equal(pnGetByteCount(), 0);
}

/* Weights next to nothing and targets as large as they come: products of weights with parts of directions round coarsely. */
static void tinyWeights(void **state) {
  (void)state;
  TestRandom random = testRandom(79);
  uint64_t looked = 0;
  for (int round = 0; round < 60; ++round) {
    static float zero[3 * 30], values[3][3 * 30];
    uint32_t triangles[3 * 20];
    for (uint32_t i = 0; i < 60; ++i) triangles[i] = testBelow(&random, 30);
    pnMeshDef meshDef = {zero, 30, triangles, 20, NULL, false, "tiny", PN_COOKIE};
    pnMesh *mesh;
    pnMorph *morph;
    pnPose *pose;
    testExpectOk(pnCreateMesh(&meshDef, &mesh));
    pnMorphTarget targets[3] = {{0}};
    for (uint32_t t = 0; t < 3; ++t) {
      for (uint32_t i = 0; i < 90; ++i) values[t][i] = testFloat(&random, -1e37f, 1e37f);
      targets[t] = (pnMorphTarget){.count = 30, .values = values[t]};
    }
    pnMorphDef def = {mesh, PN_MORPH_DELTAS, targets, 3, NULL};
    testExpectOk(pnCreateMorph(&def, &morph));
    pnPoseDef poseDef = {mesh, morph, NULL};
    testExpectOk(pnCreatePose(&poseDef, &pose));
    for (int volume = 0; volume < PN_FORM_COUNT; ++volume) {
      pnTreeDef treeDef = pnDefaultTreeDef();
      pnTreeLab treeLab = {0};
      treeDef.lab = &treeLab;
      treeLab.form = (pnForm)volume;
      treeLab.leafSize = 1;
      pnTree *tree = morphTree(pose, &treeDef);
      for (int k = 0; k < 10; ++k) {
        float weights[3];
        for (int t = 0; t < 3; ++t) weights[t] = ldexpf(testFloat(&random, -8, 8), -149);
        testExpectOk(pnPose_SetWeights(pose, weights, 3));
        pnMatrix turn = testRotation(&random, 0);
        turn.m[0][3] = turn.m[1][3] = turn.m[2][3] = 0;
        testExpectOk(pnPose_SetTransform(pose, &turn));
        testExpectOk(pnTree_Update(tree, NULL));
        looked += checkRows(tree);
      }
      pnDestroyTree(tree);
    }
    pnDestroyPose(pose);
    pnDestroyMorph(morph);
    pnDestroyMesh(mesh);
  }
  assert_true(looked > 100000);
  assert_int_equal(pnGetByteCount(), 0);
}

/* The blocks of all leaves have the bits of the pose. Returns how many vertices of leaves that are left to the pose. */
static uint32_t checkBlocks(pnTree *tree) {
  const pnBlend *blend = tree->ruleData;
  uint32_t left = 0;
  for (uint32_t leaf = 0; leaf < tree->shape->leafCount; ++leaf) {
    uint32_t first = tree->shape->leafVertexFirst[leaf], n = tree->shape->leafVertexFirst[leaf + 1] - first, list[24];
    float expected[4 * 24];
    for (uint32_t i = 0; i < n; ++i) list[i] = tree->shape->leafVertices[first + i] / 3;
    pn_poseFetch(tree->pose, list, n, expected, 4);
    memset(tree->leafPositions + 4 * (size_t)first, 0x55, 4 * n * sizeof(float));
    pn_blendLeaf(tree, blend, leaf);
    assert_memory_equal(tree->leafPositions + 4 * (size_t)first, expected, 4 * n * sizeof(float));
    left += blend->leafRowFirst[leaf] == SIZE_MAX ? n : 0;
  }
  return left;
}

/* Bits of leaves: references and deltas, up to 90 targets of which each lists some vertices, rest coordinates of -0, with
 * and without a transform, negative weights, weights of 0 and of next to nothing. */
static void bitsOfLeaves(void **state) {
  (void)state;
  enum { N = 60, MOST = 90 };
  TestRandom random = testRandom(80);
  static float vertices[3 * N], values[MOST][3 * N], weights[MOST];
  static uint32_t triangles[3 * 80], lists[MOST][N];
  uint32_t left = 0;
  for (int round = 0; round < 120; ++round) {
    bool deltas = round % 3 > 0;
    uint32_t targetCount = 1 + testBelow(&random, MOST);
    for (uint32_t i = 0; i < 3 * N; ++i) vertices[i] = wildFloat(&random, 10);
    for (uint32_t i = 0; i < 3 * N && round % 2; ++i)
      if (testBelow(&random, 20) == 0) vertices[i] = -0.0f;
    for (uint32_t i = 0; i < 240; ++i) triangles[i] = testBelow(&random, N);
    pnMeshDef def = {vertices, N, triangles, 80, NULL, false, "leaves", PN_COOKIE};
    pnMesh *mesh;
    testExpectOk(pnCreateMesh(&def, &mesh));
    pnMorphTarget targets[MOST] = {{0}};
    for (uint32_t t = 0; t < targetCount; ++t) {
      uint32_t count = 0;
      for (uint32_t v = 0; v < N; ++v)
        if (!deltas || testBelow(&random, 4) == 0) lists[t][count++] = v;
      for (uint32_t i = 0; i < 3 * count; ++i)
        values[t][i] = testBelow(&random, 6) == 0 ? -0.0f : wildFloat(&random, 10);
      targets[t] = (pnMorphTarget){.count = count, .vertices = deltas ? lists[t] : NULL, .values = values[t]};
    }
    pnMorphDef morphDef = {mesh, deltas ? PN_MORPH_DELTAS : PN_MORPH_REFERENCES, targets, targetCount, NULL};
    pnMorph *morph;
    pnPose *pose;
    testExpectOk(pnCreateMorph(&morphDef, &morph));
    pnPoseDef poseDef = {mesh, morph, NULL};
    testExpectOk(pnCreatePose(&poseDef, &pose));
    pnTreeDef treeDef = pnDefaultTreeDef();
    pnTreeLab treeLab = {0};
    treeDef.lab = &treeLab;
    treeLab.leafSize = 1 + testBelow(&random, 8);
    pnTree *tree = morphTree(pose, &treeDef);
    for (int k = 0; k < 12; ++k) {
      double sum = 0;
      for (uint32_t t = 0; t < targetCount; ++t) {
        weights[t] = testBelow(&random, 3) == 0 ? 0 : testFloat(&random, deltas ? -2 : 0, 2);
        if (testBelow(&random, 9) == 0) weights[t] = ldexpf(weights[t], -140);
        sum += (double)weights[t];
      }
      for (uint32_t t = 0; t < targetCount && !deltas; ++t)
        weights[t] = sum > 0 ? (float)((double)weights[t] / sum) : t == 0;
      testExpectOk(pnPose_SetWeights(pose, weights, targetCount));
      pnMatrix turn = k % 3 == 0 ? testRotation(&random, 1) : pnMatrix_Identity();
      static const float shifts[4] = {0.0f, -0.0f, 0.7f, -3.0f};
      for (int i = 0; i < 3 && k % 3 == 1; ++i) turn.m[i][3] = shifts[testBelow(&random, 4)];
      testExpectOk(pnPose_SetTransform(pose, &turn));
      testExpectOk(pnTree_Update(tree, NULL));
      left += checkBlocks(tree);
    }
    pnDestroyTree(tree);
    pnDestroyPose(pose);
    pnDestroyMorph(morph);
    pnDestroyMesh(mesh);
  }
  assert_true(left > 100);
  assert_int_equal(pnGetByteCount(), 0);
}

/* Wild numbers through the whole tree, transform and grid too, against brute force. */
static void wildPairs(void **state) {
  (void)state;
  TestRandom random = testRandom(78);
  pnPairList *truth, *found;
  testExpectOk(pnCreatePairList(&truth));
  testExpectOk(pnCreatePairList(&found));
  size_t pairs = 0;
  for (int round = 0; round < 40; ++round) {
    Wild a = makeWild(&random, round % 2, round % 3 == 0 ? 1e30f : 1), b = makeWild(&random, round % 4 < 2, 1);
    for (int volume = 0; volume < PN_FORM_COUNT; ++volume) {
      pnTreeDef def = pnDefaultTreeDef();
      pnTreeLab lab = {0};
      def.lab = &lab;
      lab.form = (pnForm)volume;
      lab.leafSize = 2;
      pnTree *treeA = morphTree(a.pose, &def), *treeB = morphTree(b.pose, &def);
      setWild(&a, &random);
      setWild(&b, &random);
      pnMatrix turn = testRotation(&random, 1);
      testExpectOk(pnPose_SetTransform(a.pose, &turn));
      testExpectOk(pnTree_Validate(treeA));
      testExpectOk(pnCollideBrute(a.pose, b.pose, NULL, truth));
      testExpectOk(pnCollideTrees(treeA, treeB, NULL, found, NULL));
      morphExpectPairs(found, truth);
      pairs += pnPairList_GetCount(truth);
      pnDestroyTree(treeA);
      pnDestroyTree(treeB);
    }
    Wild *both[2] = {&a, &b};
    for (int i = 0; i < 2; ++i) {
      pnDestroyPose(both[i]->pose);
      pnDestroyMorph(both[i]->morph);
      pnDestroyMesh(both[i]->mesh);
    }
  }
  assert_true(pairs > 1000);
  pnDestroyPairList(truth);
  pnDestroyPairList(found);
  assert_int_equal(pnGetByteCount(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(volumesContain), cmocka_unit_test(millionsOfVertices), cmocka_unit_test(tinyWeights),
      cmocka_unit_test(bitsOfLeaves),   cmocka_unit_test(wildPairs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
