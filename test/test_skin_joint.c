/* test_skin_joint.c: trees by joints, trees that share what never changes, and nodes that need not be filled.
 *
 * A tree by joints is an ordinary tree (T1 to T8 of tree.h), its nodes are divided along joints before anything else,
 * and its pairs are those of brute force. */
#include "support_skin.h"

#include "tree/tree.h"
#include "world/world.h"

/* ---------------------------------------------------------------- by joints */

/* The joint with the largest weight in a triangle's corners, found in another way than the builder does. */
static uint32_t mainJoint(const SkinBody *body, uint32_t triangle) {
  double weights[16];
  for (int j = 0; j < 16; ++j) weights[j] = -1; /* not there: a weighted skin may have weights of 0 */
  const pnSkin *skin = body->skin;
  for (int k = 0; k < 3; ++k) {
    uint32_t v = pnMesh_GetTriangles(body->mesh)[3 * (size_t)triangle + (size_t)k];
    for (uint32_t e = skin->influenceFirst[v]; e < skin->influenceFirst[v + 1]; ++e)
      weights[skin->influences[e].joint] = fmax(weights[skin->influences[e].joint], 0) + skin->influences[e].weight;
  }
  uint32_t best = 0;
  for (uint32_t j = 1; j < body->jointCount; ++j)
    if (weights[j] > weights[best]) best = j;
  return best;
}

/* The joints below a node, as bits. */
static uint32_t jointsBelow(const SkinBody *body, const pnTree *tree, uint32_t node) {
  uint32_t bits = 0, first = node - tree->shape->innerCount, end = first + 1;
  if (!pn_isLeaf(tree, node)) {
    first = tree->shape->leafFirst[node];
    end = tree->shape->leafEnd[node];
  }
  for (uint32_t slot = first * PN_LANES; slot < end * PN_LANES; ++slot)
    if (tree->shape->leafTriangles[slot] != PN_NONE) bits |= 1u << mainJoint(body, tree->shape->leafTriangles[slot]);
  return bits;
}

static uint32_t countBits(uint32_t bits) {
  uint32_t count = 0;
  for (; bits; bits &= bits - 1) ++count;
  return count;
}

static void nodesAreDividedAlongJoints(void **state) {
  (void)state;
  static const uint32_t arities[] = {2, 4, 8};
  for (int kind = 0; kind < SKIN_KIND_COUNT; ++kind)
    for (int round = 0; round < 6; ++round) {
      SkinBody body = skinMake((SkinKind)kind, 2, 1, round % 3, 20 + (uint64_t)round);
      pnTreeDef def = pnDefaultTreeDef();
      pnTreeLab lab = {0};
      def.lab = &lab;
      def.pose = body.pose;
      lab.build = PN_BUILD_JOINT;
      lab.form = (pnForm)(round % TEST_FORM_COUNT);
      lab.arity = arities[round % 3];
      lab.leafSize = round % 2 ? 8 : 1;
      pnTree *tree;
      testExpectOk(pnCreateTree(&def, &tree));
      testExpectOk(pnTree_Validate(tree));
      for (uint32_t node = 0; node < tree->shape->innerCount; ++node) {
        uint32_t own = jointsBelow(&body, tree, node);
        if (countBits(own) < 2 || tree->shape->count[node] < 2)
          continue; /* one child: only there to keep leaves on a level */
        for (uint32_t j = 0; j < tree->shape->count[node]; ++j) {
          uint32_t below = jointsBelow(&body, tree, tree->shape->first[node] + j);
          assert_true((below & ~own) == 0 && countBits(below) < countBits(own));
        }
      }
      pnDestroyTree(tree);
      skinFree(&body);
    }
  assert_int_equal(pnGetByteCount(), 0);
}

/* A free pose of the same vertices. */
static pnPose *eagerOf(const SkinBody *body) {
  pnPoseDef def = {body->mesh, NULL, NULL};
  pnPose *pose;
  size_t n = pnMesh_GetVertexCount(body->mesh);
  float *vertices = malloc(3 * n * sizeof(float));
  assert_non_null(vertices);
  testExpectOk(pnCreatePose(&def, &pose));
  pnPose_GetVertices(body->pose, vertices);
  testExpectOk(pnPose_SetVertices(pose, vertices, (uint32_t)n));
  free(vertices);
  return pose;
}

/* Two trees against brute force over all vertices; returns the number of pairs. */
static size_t expectBrute(const SkinBody *a, pnTree *ta, const SkinBody *b, pnTree *tb) {
  pnPairList *found, *truth;
  pnPose *pa = eagerOf(a), *pb = eagerOf(b);
  testExpectOk(pnCreatePairList(&found));
  testExpectOk(pnCreatePairList(&truth));
  testExpectOk(pnCollideBrute(pa, pb, NULL, truth));
  testExpectOk(pnCollideTrees(ta, tb, NULL, found, NULL));
  size_t pairs = pnPairList_GetCount(truth);
  assert_int_equal(pnPairList_GetCount(found), pairs);
  if (pairs > 0) assert_memory_equal(pnPairList_GetPairs(found), pnPairList_GetPairs(truth), pairs * sizeof(pnPair));
  pnDestroyPairList(found);
  pnDestroyPairList(truth);
  pnDestroyPose(pa);
  pnDestroyPose(pb);
  return pairs;
}

static void pairsByJointsAreThoseOfBruteForce(void **state) {
  (void)state;
  size_t pairs = 0;
  for (int kind = 0; kind < SKIN_KIND_COUNT; ++kind)
    for (int volume = 0; volume < TEST_FORM_COUNT; ++volume) {
      SkinBody a = skinMake((SkinKind)kind, 2, 1, volume % 3, 1), b = skinMake((SkinKind)kind, 1, 1, 0, 2);
      TestRandom random = testRandom(7 + (uint64_t)(kind * 10 + volume));
      pnTreeDef def = pnDefaultTreeDef();
      pnTreeLab lab = {0};
      def.lab = &lab;
      lab.build = PN_BUILD_JOINT;
      lab.form = (pnForm)volume;
      lab.leafSize = 3;
      pnTree *ta, *tb;
      def.pose = a.pose;
      testExpectOk(pnCreateTree(&def, &ta));
      def.pose = b.pose;
      testExpectOk(pnCreateTree(&def, &tb));
      for (int round = 0; round < 4; ++round) {
        skinPose(&a, &random, round % 3, 0.5f);
        skinPose(&b, &random, round % 3, 0.5f);
        pnMatrix transform = testRotation(&random, 0.3f);
        testExpectOk(pnPose_SetTransform(b.pose, &transform));
        pairs += expectBrute(&a, ta, &b, tb);
      }
      pnDestroyTree(ta);
      pnDestroyTree(tb);
      skinFree(&a);
      skinFree(&b);
    }
  assert_true(pairs > 1000);
  assert_int_equal(pnGetByteCount(), 0);
}

/* ---------------------------------------------------------------- twins */

static void twinsShareAndPartInPeace(void **state) {
  (void)state;
  for (int kind = 0; kind < SKIN_KIND_COUNT; ++kind)
    for (int volume = 0; volume < TEST_FORM_COUNT; volume += PN_FORM_SPHERE) {
      SkinBody a = skinMake((SkinKind)kind, 2, 1, kind % 3, 1);
      TestRandom random = testRandom(31);
      SkinBody b = a; /* another pose of the same mesh, morph and skin */
      pnPoseDef poseDef = {a.mesh, a.morph, a.skin};
      testExpectOk(pnCreatePose(&poseDef, &b.pose));
      pnTreeDef def = pnDefaultTreeDef();
      pnTreeLab lab = {0};
      def.lab = &lab;
      lab.form = (pnForm)volume;
      def.pose = a.pose;
      pnTree *first, *twin, *third, *other;
      testExpectOk(pnCreateTree(&def, &first));
      def.pose = b.pose;
      def.twin = first;
      testExpectOk(pnCreateTree(&def, &twin));
      def.twin = twin;
      testExpectOk(pnCreateTree(&def, &third));
      assert_true(twin->shape == first->shape && third->shape == first->shape && twin->lanes != first->lanes);
      assert_null(pnTree_GetDef(twin).twin);
      /* not with other settings */
      lab.arity = 4;
      testExpectOk(pnCreateTree(&def, &other));
      assert_true(other->shape != first->shape);
      testExpectOk(pnTree_Validate(other));
      for (int round = 0; round < 3; ++round) {
        skinPose(&a, &random, round, 0.5f);
        skinPose(&b, &random, round, 0.5f);
        testExpectOk(pnTree_Validate(first));
        testExpectOk(pnTree_Validate(twin));
        expectBrute(&a, first, &b, twin);
      }
      /* the first goes, what it shared stays; a tree that is built again leaves the others alone */
      pnDestroyTree(first);
      testExpectOk(pnTree_Rebuild(third));
      assert_true(third->shape != twin->shape);
      skinPose(&b, &random, 2, 0.5f);
      testExpectOk(pnTree_Validate(twin));
      testExpectOk(pnTree_Validate(third));
      expectBrute(&b, twin, &b, other);
      pnDestroyTree(other);
      pnDestroyTree(third);
      pnDestroyTree(twin);
      pnDestroyPose(b.pose);
      skinFree(&a);
    }
  assert_int_equal(pnGetByteCount(), 0);
}

/* Bodies of one mesh and motion share in a world; bytes fall back to what they were. */
static void worldsFindTwins(void **state) {
  (void)state;
  SkinBody body = skinMake(SKIN_SMOOTH, 3, 1, 0, 1);
  pnWorldDef worldDef = pnDefaultWorldDef();
  pnWorld *world;
  testExpectOk(pnCreateWorld(&worldDef, &world));
  pnBodyId ids[4];
  size_t bytes[5] = {pnGetByteCount()};
  for (int i = 0; i < 4; ++i) {
    pnBodyDef def = pnDefaultBodyDef();
    def.kind = i == 3 ? PN_BODY_FREE : PN_BODY_SKINNED;
    def.mesh = body.mesh;
    def.skin = i == 3 ? NULL : body.skin;
    testExpectOk(pnWorld_CreateBody(world, &def, &ids[i]));
    bytes[i + 1] = pnGetByteCount();
  }
  const pnBody *bodies = world->bodies.data;
  assert_true(bodies[0].tree->shape == bodies[1].tree->shape && bodies[1].tree->shape == bodies[2].tree->shape);
  assert_true(bodies[3].tree->shape != bodies[0].tree->shape);
  assert_true(2 * (bytes[2] - bytes[1]) < bytes[1] - bytes[0]);
  pnWorld_DestroyBody(world, ids[0]);
  TestRandom random = testRandom(2);
  for (int round = 0; round < 3; ++round) {
    for (int i = 1; i < 3; ++i) {
      skinRandomJoints(&body, &random, round, 0.5f);
      testExpectOk(pnBody_SetJoints(world, ids[i], body.joints, body.jointCount));
    }
    pnFrame frame = pnWorld_Collide(world, NULL);
    testExpectOk(frame.result);
    testExpectOk(pnTree_Validate(bodies[1].tree));
    testExpectOk(pnTree_Validate(bodies[2].tree));
  }
  pnDestroyWorld(world);
  skinFree(&body);
  assert_int_equal(pnGetByteCount(), 0);
}

/* ---------------------------------------------------------------- what is not filled */

/* Two far triangles in one leaf, whose volume holds the body in between: none of the body's vertices is computed. Of a body of more leaves
 * none would be opened at all (collide/face.h). */
static void leavesBesideNothingAreNotFilled(void **state) {
  (void)state;
  SkinBody body = skinMake(SKIN_SMOOTH, 2, 1, 0, 1);
  const float vertices[18] = {-20, -20, -20, -20, -19, -20, -19, -20, -20, 20, 20, 20, 20, 19, 20, 19, 20, 20};
  const uint32_t triangles[6] = {0, 1, 2, 3, 4, 5};
  pnMeshDef meshDef = pnDefaultMeshDef();
  meshDef.vertices = vertices;
  meshDef.vertexCount = 6;
  meshDef.triangles = triangles;
  meshDef.triangleCount = 2;
  pnMesh *mesh;
  pnPose *pose;
  testExpectOk(pnCreateMesh(&meshDef, &mesh));
  pnPoseDef poseDef = {mesh, NULL, NULL};
  testExpectOk(pnCreatePose(&poseDef, &pose));
  pnTreeDef def = pnDefaultTreeDef();
  pnTree *far, *near;
  def.pose = pose;
  testExpectOk(pnCreateTree(&def, &far));
  def.pose = body.pose;
  testExpectOk(pnCreateTree(&def, &near));
  TestRandom random = testRandom(5);
  for (int round = 0; round < 3; ++round) {
    skinPose(&body, &random, 0, 0.1f);
    pnCost cost;
    testExpectOk(pnCollideTrees(round == 1 ? far : near, round == 1 ? near : far, NULL, NULL, &cost));
    assert_int_equal(cost.pairs, 0);
    assert_true(cost.leafPairs > 0);
    /* in the first frame the two triangles are fetched, later nothing is; nor more than one leaf of the body */
    assert_true(cost.verticesFetched <= (round == 0 ? 30u : 0u));
  }
  pnDestroyTree(far);
  pnDestroyTree(near);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
  skinFree(&body);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nodesAreDividedAlongJoints),      cmocka_unit_test(pairsByJointsAreThoseOfBruteForce),
      cmocka_unit_test(twinsShareAndPartInPeace),        cmocka_unit_test(worldsFindTwins),
      cmocka_unit_test(leavesBesideNothingAreNotFilled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
