/* test_tree_moved.c: bodies whose vertices are all computed at once in some frames and leaf by leaf in others (tree/moved.h). Whichever it
 * is, pairs are those of the exact test on every pair of triangles, volumes are around what they must be, and vertices have the bits of
 * the pose. test_collide_rigid does the same for rigid bodies. */
#include "support.h"
#include "support_morph.h"
#include "support_skin.h"

#include "pinch/collide.h"
#include "tree/update.h"

static TestRandom dice;

/* ---------------------------------------------------------------- a body that any motion moves */

typedef enum Motion { FREE, MORPH, SKIN, MOTION_COUNT } Motion;

typedef struct Mover {
  Motion motion;
  float scale, aside; /* how large, and how far from the middle of all */
  MorphBody morph;
  SkinBody skin;
  pnMesh *mesh; /* free */
  pnPose *pose;
  pnTree *tree;
} Mover;

static Mover makeMover(Motion motion, uint32_t kind, uint32_t level, float scale, bool self) {
  Mover m = {.motion = motion, .scale = scale};
  if (motion == MORPH) {
    m.morph = morphMake(kind % MORPH_KIND_COUNT, level, scale, kind);
    m.pose = m.morph.pose;
  } else if (motion == SKIN) {
    m.skin = skinMake(kind % SKIN_KIND_COUNT, level, scale, (int)(kind / SKIN_KIND_COUNT % 3), kind);
    m.pose = m.skin.pose;
  } else {
    testExpectOk(pnMakeIcosphere(level, scale, &m.mesh));
    pnPoseDef def = {.mesh = m.mesh};
    testExpectOk(pnCreatePose(&def, &m.pose));
  }
  pnTreeDef def = pnDefaultTreeDef();
  def.self = self;
  m.tree = morphTree(m.pose, &def);
  return m;
}

static void freeMover(Mover *m) {
  pnDestroyTree(m->tree);
  if (m->motion == MORPH) {
    morphFree(&m->morph);
  } else if (m->motion == SKIN) {
    skinFree(&m->skin);
  } else {
    pnDestroyPose(m->pose);
    pnDestroyMesh(m->mesh);
  }
}

static void giveVertices(Mover *m) {
  uint32_t n = pnMesh_GetVertexCount(m->mesh);
  float *at = malloc((3 * n + 1) * sizeof(float));
  assert_non_null(at);
  for (uint32_t i = 0; i < 3 * n; ++i)
    at[i] = pnMesh_GetVertices(m->mesh)[i] * testFloat(&dice, 0.7f, 1.1f) + 0.1f * m->scale;
  testExpectOk(pnPose_SetVertices(m->pose, at, n));
  free(at);
}

/* Another shape, and a place up to `reach` sizes away; in some frames no transform, with which a free body is not moved. */
static void stir(Mover *m, float reach) {
  if (m->motion == MORPH) morphPose(&m->morph, &dice);
  else if (m->motion == SKIN) skinPose(&m->skin, &dice, (int)testBelow(&dice, 2), 0.2f * m->scale);
  else giveVertices(m);
  pnMatrix move = testRotation(&dice, reach * m->scale);
  if (testBelow(&dice, 6) == 0) move = pnMatrix_Identity();
  move.m[0][3] += m->aside;
  testExpectOk(pnPose_SetTransform(m->pose, &move));
}

/* ---------------------------------------------------------------- pairs */

/* Vertices that lie ready are those of the pose, bit by bit. */
static void expectReady(const pnTree *tree) {
  const float *ready = pn_readyVertices(tree);
  size_t count = 3 * (size_t)pnMesh_GetVertexCount(tree->mesh);
  float *at = malloc(count * sizeof(float));
  assert_non_null(at);
  pnPose_GetVertices(tree->pose, at);
  if (ready) assert_memory_equal(ready, at, count * sizeof(float));
  free(at);
}

typedef struct Seen {
  uint32_t moved, pairs;
} Seen;

/* Some frames: deep in each other, touching, far away, and back. */
static void play(Mover *a, Mover *b, bool self, Seen *seen) {
  static const float reach[8] = {0.05f, 0.1f, 0.05f, 1.5f, 40, 40, 0.1f, 0.2f};
  pnPairList *found, *truth;
  testExpectOk(pnCreatePairList(&found));
  testExpectOk(pnCreatePairList(&truth));
  for (uint32_t frame = 0; frame < 8; ++frame) {
    stir(a, reach[frame]);
    if (frame % 3 != 1) stir(b, reach[frame] * a->scale / b->scale);
    testExpectOk(pnCollideTrees(a->tree, b->tree, NULL, found, NULL));
    testExpectOk(pnCollideBrute(a->pose, b->pose, NULL, truth));
    morphExpectPairs(found, truth);
    seen->pairs += (uint32_t)pnPairList_GetCount(truth);
    if (self) {
      testExpectOk(pnCollideSelf(a->tree, NULL, found, NULL));
      testExpectOk(pnCollideBrute(a->pose, a->pose, NULL, truth));
      morphExpectPairs(found, truth);
    }
    expectReady(a->tree);
    seen->moved += pn_isMoved(a->tree);
    if (frame == 3) testExpectOk(pnTree_Validate(a->tree));
  }
  pnDestroyPairList(found);
  pnDestroyPairList(truth);
}

/* Every motion against a free body that has a transform, as large or ten times as large, of sizes from the smallest numbers to large
 * ones. */
static void everyMotion(void **state) {
  (void)state;
  static const float scales[4] = {1, 1e-3f, 1e-36f, 1e30f};
  uint32_t pairs[2] = {0, 0};
  for (uint32_t round = 0; round < testRounds(36); ++round) {
    Motion motion = round % MOTION_COUNT;
    uint32_t kind = round / MOTION_COUNT;
    bool self = kind % 2 == 1, small = kind % 5 == 0;
    float scale = scales[kind / 2 % 4];
    bool beside = kind % 3 == 2;
    Mover a = makeMover(motion, kind, small ? 1 : 2, scale, self);
    Mover b = makeMover(FREE, 0, 2, beside ? 10 * scale : scale, false);
    b.aside = beside ? 10 * scale : 0;
    Seen seen = {0};
    play(&a, &b, self, &seen);
    pairs[beside] += seen.pairs;
    assert_true(beside || seen.pairs > 0);
    if (motion == MORPH) assert_int_equal(seen.moved, a.tree->shape->small ? 8 : 0);
    else assert_true(beside || seen.moved > 0);
    freeMover(&a);
    freeMover(&b);
  }
  assert_true(pairs[1] > testRounds(300));
}

/* A skin is moved while queries come to many of its leaves, and no longer. */
static void whileItIsOpened(void **state) {
  (void)state;
  for (int self = 0; self < 2; ++self) {
    Mover a = makeMover(SKIN, SKIN_SMOOTH, 3, 1, self);
    Mover b = makeMover(FREE, 0, 3, 1, false);
    for (uint32_t frame = 0; frame < 12; ++frame) {
      bool near = frame / 4 != 1;
      skinPose(&a.skin, &dice, 0, 0.05f);
      pnMatrix aside = pnMatrix_Identity();
      aside.m[0][3] = near ? 0.01f * (float)frame : 3;
      testExpectOk(pnPose_SetTransform(b.pose, &aside));
      testExpectOk(pnCollideTrees(a.tree, b.tree, NULL, NULL, NULL));
      /* what a frame does depends on what was asked in the one before */
      bool before = frame > 0 && (frame - 1) / 4 != 1;
      assert_int_equal(pn_isMoved(a.tree), before);
      assert_int_equal(pn_isInPlace(a.tree), before && !self);
    }
    freeMover(&a);
    freeMover(&b);
  }
}

/* A free body gets a transform and loses it, with vertices that were copied and with vertices that are shared. */
static void transformsComeAndGo(void **state) {
  (void)state;
  Mover a = makeMover(FREE, 0, 2, 1, false), b = makeMover(FREE, 0, 2, 1, false);
  uint32_t n = pnMesh_GetVertexCount(a.mesh);
  float *shared = malloc((3 * n + 1) * sizeof(float));
  assert_non_null(shared);
  pnPairList *found, *truth;
  testExpectOk(pnCreatePairList(&found));
  testExpectOk(pnCreatePairList(&truth));
  for (uint32_t frame = 0; frame < testRounds(60); ++frame) {
    pnMatrix move = testRotation(&dice, 0.3f);
    uint32_t what = testBelow(&dice, 4);
    for (uint32_t i = 0; i < 3 * n; ++i) shared[i] = pnMesh_GetVertices(a.mesh)[i] * testFloat(&dice, 0.8f, 1.1f);
    if (what == 0) move = pnMatrix_Identity();
    testExpectOk(pnPose_SetTransform(a.pose, &move));
    if (what == 1) testExpectOk(pnPose_SetVertices(a.pose, shared, n));
    else testExpectOk(pnPose_ShareVertices(a.pose, shared, n));
    testExpectOk(pnCollideTrees(a.tree, b.tree, NULL, found, NULL));
    testExpectOk(pnCollideBrute(a.pose, b.pose, NULL, truth));
    morphExpectPairs(found, truth);
    assert_true(pn_isMoved(a.tree) == (what != 0) && pn_isInPlace(a.tree));
    assert_ptr_equal(a.tree->cornerBase, what == 0 ? (const char *)a.pose->source : (const char *)a.tree->moved);
  }
  pnDestroyPairList(found);
  pnDestroyPairList(truth);
  free(shared);
  freeMover(&a);
  freeMover(&b);
}

/* ---------------------------------------------------------------- many threads, little memory */

/* Vertices that several workers compute are those that one does. */
static void onThreads(void **state) {
  (void)state;
  pnPool *pool;
  testExpectOk(pnCreatePool(3, &pool));
  pnTasks tasks = pnPool_GetTasks(pool);
  Mover a = makeMover(SKIN, SKIN_WILD, 5, 1, true);
  for (uint32_t frame = 0; frame < 6; ++frame) {
    skinPose(&a.skin, &dice, 1, 0.5f);
    testExpectOk(pnTree_Update(a.tree, &tasks));
    assert_int_equal(pn_isMoved(a.tree), frame > 0);
    expectReady(a.tree);
    testExpectOk(pnTree_Validate(a.tree)); /* comes to all leaves */
  }
  freeMover(&a);
  pnDestroyPool(pool);
}

/* A tree that could not get its memory is whole again with the next update. */
static pnResult withLittle(void *context) {
  (void)context;
  pnPairList *found = NULL;
  pnMesh *mesh = NULL;
  pnPose *pose[2] = {NULL, NULL};
  pnTree *tree[2] = {NULL, NULL};
  pnResult result = pnMakeIcosphere(2, 1, &mesh);
  pnPoseDef poseDef = {.mesh = mesh};
  for (int i = 0; i < 2 && result == PN_OK; ++i) {
    result = pnCreatePose(&poseDef, &pose[i]);
    pnTreeDef def = pnDefaultTreeDef();
    def.pose = pose[i];
    def.self = i;
    if (result == PN_OK) result = pnCreateTree(&def, &tree[i]);
  }
  if (result == PN_OK) result = pnCreatePairList(&found);
  pnMatrix turn = {.m = {{0, -1, 0, 0.5f}, {1, 0, 0, 0}, {0, 0, 1, 0}}};
  for (int i = 0; i < 2 && result == PN_OK; ++i) result = pnPose_SetTransform(pose[i], &turn);
  if (result == PN_OK) result = pnCollideTrees(tree[0], tree[1], NULL, found, NULL);
  if (result == PN_ERROR_MEMORY && tree[1] && found && pose[1]->hasTransform) {
    /* whichever it was that failed, the next query is right, or has no memory either */
    pnResult again = pnCollideTrees(tree[0], tree[1], NULL, found, NULL);
    if (again == PN_OK) assert_true(pnPairList_GetCount(found) > 0);
  }
  for (int i = 0; i < 2; ++i) {
    pnDestroyTree(tree[i]);
    pnDestroyPose(pose[i]);
  }
  pnDestroyPairList(found);
  pnDestroyMesh(mesh);
  return result;
}

static void littleMemory(void **state) {
  (void)state;
  assert_true(testEveryAllocationFailure(withLittle, NULL, false, true) > 10);
  assert_true(testEveryAllocationFailure(withLittle, NULL, true, true) > 10);
}

int main(void) {
  dice = testRandom(21);
  const struct CMUnitTest tests[] = {cmocka_unit_test(littleMemory), cmocka_unit_test(everyMotion),
                                     cmocka_unit_test(whileItIsOpened), cmocka_unit_test(transformsComeAndGo),
                                     cmocka_unit_test(onThreads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
