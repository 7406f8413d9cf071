/* test_morph_world.c: morphing bodies in a world, beside every other kind; the first contact between two weight
 * vectors; morph targets of glTF files. */
#include "support_morph.h"
#include "support_skin.h"

#include "pinch/io.h"

/* ---------------------------------------------------------------- a world of every kind */

enum { MORPHS = 3, FREE = 3, RIGID, STATIC, SKINNED, BODIES };

typedef struct Crowd {
  pnWorld *world;
  MorphBody morphs[MORPHS]; /* their poses are not used: the world has its own */
  SkinBody arm;             /* on joints, with targets of its own below them */
  pnMesh *torus;
  pnBodyId ids[BODIES];
} Crowd;

static Crowd makeCrowd(pnTasks tasks) {
  Crowd c = {0};
  pnWorldDef worldDef = pnDefaultWorldDef();
  worldDef.tasks = tasks;
  testExpectOk(pnCreateWorld(&worldDef, &c.world));
  testExpectOk(pnMakeTorus(1, 0.35f, 10, 6, &c.torus));
  c.arm = skinMake(SKIN_SMOOTH, 1, 1, 1, 90);
  for (uint32_t i = 0; i < BODIES; ++i) {
    pnBodyDef def = pnDefaultBodyDef();
    char name[16];
    snprintf(name, sizeof name, "body %u", i);
    def.name = name;
    if (i < MORPHS) {
      c.morphs[i] = morphMake((MorphKind)(i == 1   ? MORPH_SPARSE
                                          : i == 2 ? MORPH_DELTAS
                                                   : MORPH_REFERENCES),
                              1, 1, 60 + i);
      def.kind = PN_BODY_MORPH;
      def.mesh = c.morphs[i].mesh;
      def.morph = c.morphs[i].morph;
      def.self = i == 1;
      def.selfFilter.ignoreRest = i == 1;
    } else if (i == SKINNED) {
      def.kind = PN_BODY_SKINNED;
      def.mesh = c.arm.mesh;
      def.skin = c.arm.skin;
      def.morph = c.arm.morph;
    } else {
      def.kind = i == FREE ? PN_BODY_FREE : i == RIGID ? PN_BODY_RIGID : PN_BODY_STATIC;
      def.mesh = c.torus;
    }
    testExpectOk(pnWorld_CreateBody(c.world, &def, &c.ids[i]));
  }
  return c;
}

static void freeCrowd(Crowd *c) {
  pnDestroyWorld(c->world);
  for (int i = 0; i < MORPHS; ++i) morphFree(&c->morphs[i]);
  skinFree(&c->arm);
  pnDestroyMesh(c->torus);
}

static void moveCrowd(Crowd *c, TestRandom *random) {
  static float vertices[3 * 60];
  for (uint32_t i = 0; i < STATIC; ++i) {
    pnMatrix turn = testRotation(random, 0.5f);
    for (int k = 0; k < 2; ++k) turn.m[k][3] += 1.2f * (float)(i >> k & 1);
    testExpectOk(pnBody_SetTransform(c->world, c->ids[i], &turn));
    if (i < MORPHS) {
      morphRandomWeights(&c->morphs[i], random);
      testExpectOk(pnBody_SetWeights(c->world, c->ids[i], c->morphs[i].weights, c->morphs[i].targetCount));
    }
  }
  for (int i = 0; i < 180; ++i) vertices[i] = pnMesh_GetVertices(c->torus)[i] * testFloat(random, 0.8f, 1.2f);
  testExpectOk(pnBody_SetVertices(c->world, c->ids[FREE], vertices, 60));
  skinRandomJoints(&c->arm, random, 0, 1);
  testExpectOk(pnBody_SetJoints(c->world, c->ids[SKINNED], c->arm.joints, c->arm.jointCount));
}

/* What the world found between two bodies, against brute force. */
static size_t checkPair(Crowd *c, uint32_t a, uint32_t b, const pnFrame *frame, pnPairList *truth) {
  testExpectOk(pnCollideBrute(pnBody_GetPose(c->world, c->ids[a]), pnBody_GetPose(c->world, c->ids[b]), NULL, truth));
  const pnContact *contacts = pnWorld_GetContacts(c->world);
  for (uint32_t i = 0; i < frame->contactCount; ++i) {
    if (contacts[i].a.index1 == c->ids[a].index1 && contacts[i].b.index1 == c->ids[b].index1) {
      assert_int_equal(contacts[i].pairCount, pnPairList_GetCount(truth));
      assert_memory_equal(pnWorld_GetPairs(c->world) + contacts[i].firstPair, pnPairList_GetPairs(truth),
                          contacts[i].pairCount * sizeof(pnPair));
      return pnPairList_GetCount(truth);
    }
  }
  assert_int_equal(pnPairList_GetCount(truth), 0);
  return 0;
}

static void everyKindTogether(void **state) {
  (void)state;
  pnPool *pool;
  testExpectOk(pnCreatePool(3, &pool));
  pnPairList *truth;
  testExpectOk(pnCreatePairList(&truth));
  for (int threads = 0; threads < 2; ++threads) {
    Crowd c = makeCrowd(threads ? pnPool_GetTasks(pool) : (pnTasks){0});
    TestRandom random = testRandom(70);
    size_t pairs = 0;
    for (int round = 0; round < 15; ++round) {
      moveCrowd(&c, &random);
      pnFrame frame = pnWorld_Collide(c.world, NULL);
      testExpectOk(frame.result);
      for (uint32_t a = 0; a < BODIES; ++a)
        for (uint32_t b = a + 1; b < BODIES; ++b) pairs += checkPair(&c, a, b, &frame, truth);
      pairs += checkPair(&c, 1, 1, &frame, truth);
    }
    assert_true(pairs > 500);
    freeCrowd(&c);
  }
  pnDestroyPairList(truth);
  pnDestroyPool(pool);
  assert_int_equal(pnGetByteCount(), 0);
}

/* A soup in the world, beside a morphing body: the pairs are those with a mesh of the same triangles. */
static void besideSoup(void **state) {
  (void)state;
  MorphBody body = morphMake(MORPH_SPARSE, 1, 1, 95);
  pnMesh *torus;
  testExpectOk(pnMakeTorus(1, 0.35f, 10, 6, &torus));
  uint32_t count = pnMesh_GetTriangleCount(torus);
  float *corners = malloc(9 * count * sizeof(float));
  for (uint32_t i = 0; i < 3 * count; ++i)
    memcpy(corners + 3 * i, pnMesh_GetVertices(torus) + 3 * (size_t)pnMesh_GetTriangles(torus)[i], 3 * sizeof(float));
  pnSoup *soup;
  testExpectOk(pnCreateSoup(NULL, &soup));
  testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, corners, count, NULL));
  pnBucketDef bucketDef = pnDefaultBucketDef();
  bucketDef.soup = soup;
  pnTree *tree;
  testExpectOk(pnCreateBucketTree(&bucketDef, &tree));
  pnPoseDef poseDef = {torus, NULL, NULL};
  pnPose *pose;
  testExpectOk(pnCreatePose(&poseDef, &pose));
  pnWorld *world;
  testExpectOk(pnCreateWorld(NULL, &world));
  pnBodyId ids[2];
  pnBodyDef def = pnDefaultBodyDef();
  def.kind = PN_BODY_MORPH;
  def.mesh = body.mesh;
  def.morph = body.morph;
  testExpectOk(pnWorld_CreateBody(world, &def, &ids[0]));
  def = pnDefaultBodyDef();
  def.kind = PN_BODY_STATIC;
  def.staticTree = tree;
  testExpectOk(pnWorld_CreateBody(world, &def, &ids[1]));
  pnPairList *truth;
  testExpectOk(pnCreatePairList(&truth));
  TestRandom random = testRandom(96);
  size_t pairs = 0;
  for (int round = 0; round < 12; ++round) {
    pnMatrix turn = testRotation(&random, 0.5f);
    morphRandomWeights(&body, &random);
    testExpectOk(pnBody_SetWeights(world, ids[0], body.weights, body.targetCount));
    testExpectOk(pnBody_SetTransform(world, ids[0], &turn));
    pnFrame frame = pnWorld_Collide(world, NULL);
    testExpectOk(frame.result);
    testExpectOk(pnCollideBrute(pnBody_GetPose(world, ids[0]), pose, NULL, truth));
    assert_int_equal(frame.pairCount, pnPairList_GetCount(truth));
    if (frame.pairCount > 0)
      assert_memory_equal(pnWorld_GetPairs(world), pnPairList_GetPairs(truth), frame.pairCount * sizeof(pnPair));
    pairs += frame.pairCount;
  }
  assert_true(pairs > 100);
  pnDestroyPairList(truth);
  pnDestroyWorld(world);
  pnDestroyTree(tree);
  pnDestroySoup(soup);
  pnDestroyPose(pose);
  pnDestroyMesh(torus);
  free(corners);
  morphFree(&body);
  assert_int_equal(pnGetByteCount(), 0);
}

/* After warm-up a frame allocates nothing. */
static void steadyFrames(void **state) {
  (void)state;
  testInstallAllocator(UINT64_MAX, false);
  Crowd c = makeCrowd((pnTasks){0});
  uint64_t count = 0;
  for (int round = 0; round < 6; ++round) {
    TestRandom random = testRandom(70); /* the same frames again */
    count = testAllocationCount();
    for (int frame = 0; frame < 5; ++frame) {
      moveCrowd(&c, &random);
      testExpectOk(pnWorld_Collide(c.world, NULL).result);
    }
  }
  assert_int_equal(testAllocationCount(), count);
  freeCrowd(&c);
  testRestoreAllocator();
}

/* Wrong weights name body and target and change nothing: the same contacts come out. */
static void wrongWeights(void **state) {
  (void)state;
  Crowd c = makeCrowd((pnTasks){0});
  TestRandom random = testRandom(71);
  moveCrowd(&c, &random);
  pnFrame before = pnWorld_Collide(c.world, NULL);
  float w[3] = {0.5f, 0.6f, 0}, many[20] = {0};
  many[7] = NAN;
  testExpectFailure(pnBody_SetWeights(c.world, c.ids[0], w, 3), PN_ERROR_ARGUMENT, "body 0|icosphere|sum to 1.1");
  w[1] = -0.5f;
  testExpectFailure(pnBody_SetWeights(c.world, c.ids[0], w, 3), PN_ERROR_ARGUMENT, "body 0|target 1|negative");
  testExpectFailure(pnBody_SetWeights(c.world, c.ids[0], w, 2), PN_ERROR_COUNT, "body 0|2 weights|3 targets");
  testExpectFailure(pnBody_SetWeights(c.world, c.ids[1], many, 20), PN_ERROR_NUMBER, "body 1|target 7");
  many[7] = 3e38f;
  testExpectFailure(pnBody_SetWeights(c.world, c.ids[1], many, 20), PN_ERROR_NUMBER, "body 1|target 7|range");
  testExpectFailure(pnBody_SetWeights(c.world, c.ids[3], w, 3), PN_ERROR_KIND, "body 3|weights");
  testExpectFailure(pnBody_SetWeights(c.world, (pnBodyId){0}, w, 3), PN_ERROR_ID, "");
  testExpectFailure(pnBody_SetVertices(c.world, c.ids[0], many, 4), PN_ERROR_KIND, "body 0|weights");
  pnFrame after = pnWorld_Collide(c.world, NULL);
  assert_int_equal(after.pairCount, before.pairCount);
  assert_int_equal(after.contactCount, before.contactCount);
  assert_true(before.pairCount > 0);

  /* a morphing body without targets, or with those of another mesh */
  pnBodyDef def = pnDefaultBodyDef();
  pnBodyId id;
  def.kind = PN_BODY_MORPH;
  def.mesh = c.torus;
  testExpectFailure(pnWorld_CreateBody(c.world, &def, &id), PN_ERROR_ARGUMENT, "morph targets");
  def.morph = c.morphs[0].morph;
  testExpectFailure(pnWorld_CreateBody(c.world, &def, &id), PN_ERROR_ARGUMENT, "morph belongs");
  freeCrowd(&c);
}

/* ---------------------------------------------------------------- first contact between two weight vectors */

/* Two spheres apart; a target of one grows a bump towards the other. When do they touch? */
static void firstContact(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(2, 1, &mesh));
  const float *rest = pnMesh_GetVertices(mesh);
  uint32_t n = pnMesh_GetVertexCount(mesh);
  /* at weight 1 everything right of x = 0.5 is drawn out along x to twice its distance */
  float *deltas = calloc(3 * n, sizeof(float));
  for (uint32_t v = 0; v < n; ++v) deltas[3 * v] = rest[3 * v] > 0.5f ? 2 * (rest[3 * v] - 0.5f) : 0;
  pnMorphTarget target = {.name = "bump", .count = n, .values = deltas};
  pnMorphDef morphDef = {mesh, PN_MORPH_DELTAS, &target, 1, NULL};
  pnMorph *morph;
  testExpectOk(pnCreateMorph(&morphDef, &morph));
  pnPose *poses[2];
  pnTree *trees[2];
  for (int i = 0; i < 2; ++i) {
    pnPoseDef poseDef = {mesh, i == 0 ? morph : NULL, NULL};
    testExpectOk(pnCreatePose(&poseDef, &poses[i]));
    pnTreeDef def = pnDefaultTreeDef();
    def.pose = poses[i];
    testExpectOk(pnCreateTree(&def, &trees[i]));
  }
  /* the other is 0.6 away from the tip: it must come at weight 0.6, as the tip moves by 1 */
  pnMatrix away = pnMatrix_Identity();
  away.m[0][3] = 2.6f;
  testExpectOk(pnPose_SetTransform(poses[1], &away));
  const float start = 0, end = 1;
  pnLinearMotion motion = {poses[0], poses[1], &start, &end, NULL, NULL};
  pnImpact impact;
  testExpectOk(pnFindLinearImpact(trees[0], trees[1], &motion, 4, 1e-5f, &impact));
  assert_true(impact.contact && !impact.atStart);
  /* the tip of the icosphere is not quite at x = 1 */
  float tip = 0, facing = 0;
  for (uint32_t v = 0; v < n; ++v) {
    tip = fmaxf(tip, rest[3 * v]);
    facing = fmaxf(facing, -rest[3 * v]);
  }
  float expected = (2.6f - facing - tip) / (2 * (tip - 0.5f));
  assert_true(impact.before <= expected + 1e-4f && impact.after >= expected - 1e-4f &&
              impact.after - impact.before <= 1e-5f);
  assert_true(pnPose_GetWeights(poses[0])[0] == impact.after);

  /* none when it shrinks, at once when they meet from the beginning; bad weights are the caller's to hear about */
  const float less = -0.5f, bad = NAN;
  motion.endA = &less;
  testExpectOk(pnFindLinearImpact(trees[0], trees[1], &motion, 4, 1e-5f, &impact));
  assert_false(impact.contact);
  motion.startA = &end;
  motion.endA = NULL;
  testExpectOk(pnFindLinearImpact(trees[0], trees[1], &motion, 4, 1e-5f, &impact));
  assert_true(impact.contact && impact.atStart);
  motion.endA = &bad;
  testExpectFailure(pnFindLinearImpact(trees[0], trees[1], &motion, 4, 1e-5f, &impact), PN_ERROR_NUMBER, "bump");
  for (int i = 0; i < 2; ++i) {
    pnDestroyTree(trees[i]);
    pnDestroyPose(poses[i]);
  }
  pnDestroyMorph(morph);
  pnDestroyMesh(mesh);
  free(deltas);
  assert_int_equal(pnGetByteCount(), 0);
}

/* ---------------------------------------------------------------- targets of files */

/* The bodies of glTF files as morphs, at times of their clips: every volume holds its vertices. */
static void checkFile(const char *path) {
  pnAnimFile *file;
  testExpectOk(pnLoadAnimFile(path, &file));
  pnAnimState *animation;
  testExpectOk(pnCreateAnimState(file, &animation));
  for (uint32_t b = 0; b < file->bodyCount; ++b) {
    const pnAnimBody *body = &file->bodies[b];
    if (body->targetCount == 0) continue;
    pnMeshDef meshDef = pnDefaultMeshDef();
    meshDef.vertices = body->vertices;
    meshDef.vertexCount = body->vertexCount;
    meshDef.triangles = body->triangles;
    meshDef.triangleCount = body->triangleCount;
    meshDef.vertexWeld = body->vertexWeld;
    pnMesh *mesh;
    testExpectOk(pnCreateMesh(&meshDef, &mesh));
    pnMorphTarget *targets = calloc(body->targetCount, sizeof(pnMorphTarget));
    for (uint32_t i = 0; i < body->targetCount; ++i)
      targets[i] = (pnMorphTarget){body->targets[i].name, body->targets[i].count, body->targets[i].vertices,
                                   body->targets[i].deltas};
    pnMorphDef def = {mesh, PN_MORPH_DELTAS, targets, body->targetCount, body->restWeights};
    pnMorph *morph;
    testExpectOk(pnCreateMorph(&def, &morph));
    pnPoseDef poseDef = {mesh, morph, NULL};
    pnPose *pose;
    testExpectOk(pnCreatePose(&poseDef, &pose));
    pnTreeDef treeDef = pnDefaultTreeDef();
    treeDef.pose = pose;
    pnTree *tree;
    testExpectOk(pnCreateTree(&treeDef, &tree));
    for (uint32_t frame = 0; frame < 10; ++frame) {
      testExpectOk(
          pnAnimState_Evaluate(animation, file->clipCount > 0 ? frame % file->clipCount : PN_NONE, 0.3 * frame));
      testExpectOk(pnPose_SetWeights(pose, pnAnimState_GetWeights(animation, b), body->targetCount));
      testExpectOk(pnTree_Validate(tree));
    }
    pnDestroyTree(tree);
    pnDestroyPose(pose);
    pnDestroyMorph(morph);
    pnDestroyMesh(mesh);
    free(targets);
  }
  pnDestroyAnimState(animation);
  pnFreeAnimFile(file);
}

static void targetsOfFiles(void **state) {
  (void)state;
  static const char *const files[] = {"khronos-gltf-old/AnimatedMorphSphere/glTF-Binary/AnimatedMorphSphere.glb",
                                      "khronos-gltf/MorphPrimitivesTest/glTF-Binary/MorphPrimitivesTest.glb",
                                      "khronos-gltf/SimpleMorph/glTF/SimpleMorph.gltf",
                                      "khronos-gltf/AnimatedMorphCube/glTF-Quantized/AnimatedMorphCube.gltf"};
  for (int i = 0; i < 4; ++i) {
    const char *path = testDataPath(files[i]);
    if (path) checkFile(path);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everyKindTogether), cmocka_unit_test(besideSoup),   cmocka_unit_test(steadyFrames),
      cmocka_unit_test(wrongWeights),      cmocka_unit_test(firstContact), cmocka_unit_test(targetsOfFiles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
